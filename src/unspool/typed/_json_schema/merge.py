"""Several JSON Schemas for one value, read as structure. Nothing is judged here.

All keywords of a schema hold at once, and so do the keywords of every schema that `$ref` and `allOf` lead to. So a
`Conjunction`, a set of schemas, describes a value, and sets again describe its members: each schema contributes its own
schema for that key or index.

The `parts` of a conjunction hold. Its `hints` may or may not hold: they are the branches of a choice that is decided
only when the value closes. Hints show which values are better hidden until they are complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from .._shape import ALL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .document import SchemaDocument, Subschema

__all__ = ["UNIONS", "Conjunction", "Merger", "SchemaPart", "constrains_text", "types_of"]

UNIONS: Final = ("anyOf", "oneOf")
NONE: Final[frozenset[str]] = frozenset()
MAX_QUESTION_DEPTH: Final = 32  # of choices inside choices

# These keywords do not judge a value by themselves.
SILENT: Final = frozenset(
    {"$ref", "$dynamicRef", "$id", "$schema", "$anchor", "$dynamicAnchor", "$defs", "definitions", "allOf"}
)
OF_ALL_KEYS: Final = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
# These schemas may or may not hold for a value.
OPTIONAL: Final = ("then", "else")
LISTING: Final = frozenset({"type", "enum", "const"})
# These keywords depend on the schemas that a value fits, so the evaluated members are not known beforehand.
UNSURE: Final = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "contains"})
ATOMIC_FORMATS: Final = frozenset(
    {
        *("date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"),
        *("uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "regex"),
        *("json-pointer", "relative-json-pointer"),
    }
)
TEXT_KEYWORDS: Final = frozenset(
    {"enum", "const", "minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"}
)
MAX_TAG: Final = 2**53

Tag: TypeAlias = "tuple[str, object]"
"""A kind and a value: True is not 1."""


class SchemaPart(NamedTuple):
    """A schema that holds, `without` the keywords that are covered elsewhere."""

    place: Subschema
    without: frozenset[str] = NONE

    def has(self, keyword: str) -> bool:
        return keyword in self.place.keywords and keyword not in self.without


@final
class Members:
    """The schemas for keys: those that name a few keys, and those that cover all keys.

    The two are apart, because there may be many schemas and many names, and most schemas do not mention most names.
    """

    __slots__ = ("by_name", "of_all")

    def __init__(self, places: Iterable[Subschema]) -> None:
        self.by_name: dict[str, list[Subschema]] = {}
        self.of_all: list[Subschema] = []
        for place in places:
            if place.keywords.keys().isdisjoint(OF_ALL_KEYS):
                for name, inner in place.named.get("properties", {}).items():
                    self.by_name.setdefault(name, []).append(inner)
            else:
                self.of_all.append(place)

    def under(self, key: str | None, matched: frozenset[str]) -> list[Subschema]:
        """Return the schemas for a key that matches these patterns, without the unevaluated... keywords."""
        inner = list(self.by_name.get(key, ())) if key is not None else []
        for place in self.of_all:
            own = _own_members(place, key, matched)
            rest = place.one.get("additionalProperties")
            inner += own if own or rest is None else [rest]
        return inner


@final
class Conjunction:
    """Schemas that hold together. `sources` are the schemas before references and allOf were followed."""

    __slots__ = ("_members", "hints", "is_never", "key", "parts", "sources")

    def __init__(
        self,
        sources: tuple[SchemaPart, ...],
        parts: tuple[SchemaPart, ...],
        hints: tuple[Subschema, ...],
        is_never: bool,
    ) -> None:
        self.sources = sources
        self.parts = parts
        self.hints = hints
        self.is_never = is_never
        self.key = (frozenset(parts), frozenset(hints), is_never)
        self._members: tuple[Members, Members] | None = None

    @property
    def is_any(self) -> bool:
        """Whether everything fits, and is shown as it is."""
        return not (self.parts or self.hints or self.is_never)

    @property
    def places(self) -> list[Subschema]:
        """The places of the parts."""
        return [part.place for part in self.parts]

    @property
    def members(self) -> tuple[Members, Members]:
        """The schemas of the parts, and those of the hints, for keys."""
        if self._members is None:
            self._members = (Members(self.places), Members(self.hints))
        return self._members

    def unions(self) -> list[tuple[SchemaPart, str]]:
        """Return the choices, each a part and a keyword."""
        return [(part, keyword) for part in self.parts for keyword in UNIONS if part.has(keyword)]


def _kind_of(value: object) -> str:
    """Return the kind of a plain value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "null" if value is None else "array" if isinstance(value, list) else "object"


def _listed_values(place: Subschema) -> list[list[Any]]:
    """Return the lists of values that enum and const allow."""
    keywords = place.keywords
    lists: list[list[Any]] = [keywords["enum"]] if "enum" in keywords else []
    return [*lists, [keywords["const"]]] if "const" in keywords else lists


def constrains_text(place: Subschema) -> bool:
    """Return whether a string is hidden until it is known to fit this schema."""
    keywords = place.keywords
    return not keywords.keys().isdisjoint(TEXT_KEYWORDS) or keywords.get("format") in ATOMIC_FORMATS


def _prefix_of(place: Subschema) -> Sequence[Subschema]:
    """Return the schemas for the first items."""
    return place.listed.get("prefixItems") or place.listed.get("items") or ()


def _rest_of(place: Subschema) -> Subschema | None:
    """Return the schema for the items after those."""
    if "items" in place.listed:
        return place.one.get("additionalItems")
    return place.one.get("items")


@final
class Merger:
    """Answers questions about conjunctions of one document."""

    def __init__(self, document: SchemaDocument, matches: Callable[[str, str], bool]) -> None:
        self._document = document
        self._matches = matches  # a pattern and a key
        self._kinds: dict[Subschema, frozenset[str]] = {}
        self._texts: dict[Subschema, frozenset[str] | None] = {}
        self._asked: set[Subschema] = set()  # the outer questions of `kinds_of_branch`
        self._depth = 0
        self._cones: dict[Subschema, tuple[Subschema, ...] | None] = {}

    def conjunction(self, sources: Iterable[SchemaPart], hints: Iterable[Subschema] = ()) -> Conjunction:
        """Return the conjunction of schemas and of everything that their references and allOf add."""
        sources = tuple(dict.fromkeys(sources))
        found: dict[Subschema, frozenset[str]] = {}
        is_never = False
        to_follow = list(reversed(sources))
        while to_follow:
            place, without = to_follow.pop()
            if place.schema is False:
                is_never = True
            elif place in found:
                found[place] &= without
            else:
                found[place] = without
                to_follow.extend([SchemaPart(inner) for inner in reversed(self._inherited(place))])
        parts = tuple([SchemaPart(*item) for item in found.items() if _judges(*item)])
        return Conjunction(sources, parts, self._hints(hints, found), is_never)

    def _inherited(self, place: Subschema) -> list[Subschema]:
        """Return the schemas that hold, too, if this one does."""
        targets = [self._document.target(place, keyword) for keyword in _references(place)]
        return [*[target for target in targets if target is not None], *place.listed.get("allOf", ())]

    def _hints(self, hints: Iterable[Subschema], known: dict[Subschema, frozenset[str]]) -> tuple[Subschema, ...]:
        found: dict[Subschema, None] = {}
        to_follow = list(hints)
        while to_follow:
            place = to_follow.pop()
            if place in found or place in known or isinstance(place.schema, bool):
                continue
            found[place] = None
            to_follow.extend(self._inherited(place))
            for keyword in UNIONS:
                to_follow.extend(place.listed.get(keyword, ()))
            to_follow.extend([place.one[keyword] for keyword in OPTIONAL if keyword in place.one])
            for keyword in ("dependentSchemas", "dependencies"):
                to_follow.extend(place.named.get(keyword, {}).values())
        return tuple([place for place in found if _judges(place, NONE)])

    # Kinds and values

    def kinds(self, conjunction: Conjunction) -> frozenset[str]:
        """Return the kinds of value that may fit; maybe more than really do."""
        kinds = frozenset[str]() if conjunction.is_never else ALL_KINDS
        for part in conjunction.parts:
            place = part.place
            if "type" in place.keywords:
                kinds &= {("number" if name == "integer" else name) for name in types_of(place)}
            for values in _listed_values(place):
                kinds &= set(map(_kind_of, values))
            for keyword in UNIONS:
                if part.has(keyword) and kinds:
                    kinds &= frozenset[str]().union(*map(self.kinds_of_branch, place.listed[keyword]))
        return kinds

    def kinds_of_branch(self, place: Subschema) -> frozenset[str]:
        """Return the kinds of value that may fit one schema."""
        kinds = self._kinds.get(place)
        if kinds is None:
            if place in self._asked or len(self._asked) == MAX_QUESTION_DEPTH:
                return ALL_KINDS
            self._asked.add(place)
            kinds = self._kinds[place] = self.kinds(self.conjunction([SchemaPart(place)]))
            self._asked.remove(place)
        return kinds

    def texts(self, conjunction: Conjunction) -> frozenset[str] | None:
        """Return the only strings that may fit, maybe more than really do; None if the strings are not listed."""
        texts: frozenset[str] | None = None
        for part in conjunction.parts:
            sets = [frozenset([one for one in values if isinstance(one, str)]) for values in _listed_values(part.place)]
            for keyword in UNIONS:
                if part.has(keyword):
                    takers = [one for one in part.place.listed[keyword] if "string" in self.kinds_of_branch(one)]
                    each = [self._texts_of_branch(taker) for taker in takers]
                    some = [one for one in each if one is not None]
                    if len(some) == len(each):
                        sets.append(frozenset[str]().union(*some))
            for one in sets:
                texts = one if texts is None else texts & one
        return texts

    def lists_texts(self, part: SchemaPart, keyword: str) -> bool:
        """Return whether a choice only lists strings: `texts` is exact then."""
        texts: set[str] = set()
        count = 0
        for taker in part.place.listed[keyword]:
            if "string" not in self.kinds_of_branch(taker):
                continue
            branch = self.conjunction([SchemaPart(taker)])
            listed = self._texts_of_branch(taker)
            if listed is None or any(place.keywords.keys() - SILENT - LISTING for place in branch.places):
                return False
            texts |= listed
            count += len(listed)
        return keyword == "anyOf" or count == len(texts)

    def _texts_of_branch(self, place: Subschema) -> frozenset[str] | None:
        if place not in self._texts:
            if self._depth == MAX_QUESTION_DEPTH:
                return None
            self._texts[place] = None  # for now, because a choice may lead back to itself
            self._depth += 1
            self._texts[place] = self.texts(self.conjunction([SchemaPart(place)]))
            self._depth -= 1
        return self._texts[place]

    def tags(self, conjunction: Conjunction) -> frozenset[Tag] | None:
        """Return the only values that may fit, if each has one spelling, so that they can decide a branch."""
        tags: frozenset[Tag] | None = None
        for part in conjunction.parts:
            for values in _listed_values(part.place):
                if not all(_is_tag(value) for value in values):
                    return None
                listed = frozenset([(_kind_of(value), value) for value in values])
                tags = listed if tags is None else tags & listed
        return tags

    # Members and items

    def names(self, conjunction: Conjunction) -> dict[str, bool]:
        """Return the keys that the schemas name, and whether each is required."""
        places = [*conjunction.places, *conjunction.hints]
        names = dict.fromkeys([name for place in places for name in place.named.get("properties", ())], False)
        required = [name for part in conjunction.parts for name in part.place.keywords.get("required", ())]
        return names | dict.fromkeys(required, True)

    def patterns(self, conjunction: Conjunction) -> list[str]:
        """Return the patterns that keys may match."""
        parts, _ = conjunction.members
        return list(dict.fromkeys([one for place in parts.of_all for one in place.named.get("patternProperties", ())]))

    def under_key(
        self, conjunction: Conjunction, key: str | None, matched: frozenset[str] | None = None
    ) -> Conjunction:
        """Return the conjunction for the value under a key; None is any unnamed key that matches just `matched`."""
        if matched is None:
            patterns = self.patterns(conjunction) if key is not None else ()
            matched = frozenset([one for one in patterns if key is not None and self._matches(one, key)])
        parts, hints = conjunction.members
        inner = parts.under(key, matched)
        for place in parts.of_all:
            cone = self.cone(place, "unevaluatedProperties")
            if cone is not None and not any(
                _own_members(one, key, matched) or "additionalProperties" in one.one for one in cone
            ):
                inner.append(place.one["unevaluatedProperties"])
        return self.conjunction([SchemaPart(place) for place in inner], hints.under(key, frozenset()))

    def longest_prefix(self, conjunction: Conjunction) -> int:
        """Return the number of items with schemas of their own."""
        places = [*conjunction.places, *conjunction.hints]
        return max([len(_prefix_of(place)) for place in places], default=0)

    def at_index(self, conjunction: Conjunction, index: int) -> Conjunction:
        """Return the conjunction for the item at an index."""
        inner = [_own_item(part.place, index) for part in conjunction.parts]
        for part in conjunction.parts:
            cone = self.cone(part.place, "unevaluatedItems")
            if cone is not None and not any(_own_item(place, index) for place in cone):
                inner.append(part.place.one["unevaluatedItems"])
        hints = [_own_item(place, index) for place in conjunction.hints]
        return self.conjunction(
            [SchemaPart(place) for place in inner if place is not None], [place for place in hints if place is not None]
        )

    def cone(self, place: Subschema, keyword: str) -> tuple[Subschema, ...] | None:
        """Return the schemas whose members an unevaluated... keyword skips; None if they are unknown, or without it."""
        if keyword not in place.one:
            return None
        if place not in self._cones:
            inner = self.conjunction([SchemaPart(place)])
            places = tuple([part.place for part in inner.parts])
            unclear = any(
                not UNSURE.isdisjoint(one.keywords)
                or (one is not place and keyword in one.one)
                or None in one.targets.values()
                for one in places
            )
            self._cones[place] = None if unclear or inner.is_never else places
        return self._cones[place]


def types_of(place: Subschema) -> list[str]:
    """Return the names in `type`."""
    names: str | list[str] = place.keywords.get("type", [])
    return names if isinstance(names, list) else [names]


def _references(place: Subschema) -> list[str]:
    return [keyword for keyword in ("$ref", "$dynamicRef") if keyword in place.keywords]


def _judges(place: Subschema, without: frozenset[str]) -> bool:
    return bool(place.keywords.keys() - SILENT - without) or None in place.targets.values()


def _is_tag(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= MAX_TAG
    return value is None or isinstance(value, str)


def _own_members(place: Subschema, key: str | None, matched: frozenset[str]) -> list[Subschema]:
    own = [one for pattern, one in place.named.get("patternProperties", {}).items() if pattern in matched]
    properties = place.named.get("properties", {})
    return [properties[key], *own] if key is not None and key in properties else own


def _own_item(place: Subschema, index: int) -> Subschema | None:
    prefix = _prefix_of(place)
    return prefix[index] if index < len(prefix) else _rest_of(place)
