"""A JSON Schema as it is written: every schema in it, checked, and the targets of its references.

A schema is copied and walked once, before any shape is made. `SchemaDocument` rejects a schema that is malformed, too
deep, of another draft or in another document, with its place. The other modules rely on sound schemas.

The tables at the top hold the keywords of each draft: how each has to look, and which ones contain schemas.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final
from urllib.parse import quote, unquote, urldefrag, urljoin

from ..._errors import MAX_PATH_SHOWN, OptionsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["DRAFT_7", "SchemaDocument", "Subschema", "shown"]

MAX_NESTED: Final = 128
DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
DRAFT_2020: Final = "https://json-schema.org/draft/2020-12/schema"
DRAFTS: Final = {
    f"{scheme}://json-schema.org/{name}": draft
    for scheme in ("http", "https")
    for name, draft in (("draft-07/schema", DRAFT_7), ("draft/2020-12/schema", DRAFT_2020))
}

Steps: TypeAlias = "tuple[str | int, ...]"
Check: TypeAlias = "tuple[Callable[[object], bool], str]"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_positive(value: object) -> bool:
    return _is_number(value) and cast("float", value) > 0


def _is_size(value: object) -> bool:
    return _is_number(value) and cast("float", value) >= 0 and value == int(cast("float", value))


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def is_texts(value: object) -> bool:
    """Return whether this is an array of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value))


def _is_texts_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_texts, cast("dict[str, object]", value).values()))


TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def _is_type(value: object) -> bool:
    names = cast("list[object]", value if isinstance(value, list) else [value])
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_anything(value: object) -> bool:
    return True


TEXT: Final[Check] = (_is_text, "a string")
NUMBER: Final[Check] = (_is_number, "a number")
SIZE: Final[Check] = (_is_size, "a whole number, not negative")

_CHECKS: Final[dict[str, Check]] = {
    "$ref": TEXT,
    "$id": TEXT,
    "$schema": TEXT,
    "type": (_is_type, "a name of a type, or several"),
    "enum": (_is_list, "an array"),
    "const": (_is_anything, "a value"),
    "required": (is_texts, "an array of strings"),
    "pattern": TEXT,
    "format": TEXT,
    "uniqueItems": (_is_flag, "a boolean"),
    "minimum": NUMBER,
    "maximum": NUMBER,
    "exclusiveMinimum": NUMBER,
    "exclusiveMaximum": NUMBER,
    "multipleOf": (_is_positive, "a number above zero"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), SIZE),
}
CHECKS: Final[dict[str, dict[str, Check]]] = {
    DRAFT_7: {**_CHECKS, "contentEncoding": TEXT, "contentMediaType": TEXT},
    DRAFT_2020: {
        **_CHECKS,
        "$anchor": TEXT,
        "$dynamicAnchor": TEXT,
        "$dynamicRef": TEXT,
        "minContains": SIZE,
        "maxContains": SIZE,
        "dependentRequired": (_is_texts_by_name, "an object of arrays of strings"),
    },
}
"""By draft and keyword: a check, and the words for it. Keywords that are in none of these tables are ignored."""

_ONE: Final = frozenset({"additionalProperties", "propertyNames", "contains", "not", "if", "then", "else", "items"})
_LISTED: Final = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED: Final = frozenset({"properties", "patternProperties", "definitions", "dependencies"})

ONE: Final = {DRAFT_7: _ONE | {"additionalItems"}, DRAFT_2020: _ONE | {"unevaluatedItems", "unevaluatedProperties"}}
"""Keywords with one schema."""
LISTED: Final = {DRAFT_7: _LISTED, DRAFT_2020: _LISTED | {"prefixItems"}}
"""Keywords with an array of schemas; in Draft 7, `items` may be one, too."""
NAMED: Final = {DRAFT_7: _NAMED, DRAFT_2020: _NAMED | {"$defs", "dependentSchemas"}}
"""Keywords with schemas under names; `dependencies` may have arrays of names there, too."""


def shown(steps: Iterable[str | int]) -> str:
    """Return a place in a schema as messages show it: a JSON pointer."""
    text = "#" + "".join(["/" + escaped(step) for step in steps])
    return text if len(text) <= MAX_PATH_SHOWN else text[: MAX_PATH_SHOWN - 3] + "..."


def escaped(step: str | int) -> str:
    """Return a step of a JSON pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


def copied(schema: object) -> Any:
    """Return a private copy of a schema. Raises `OptionsError` for values that are not JSON, or too deep."""
    root: list[object] = [None]
    to_copy: list[tuple[object, Any, str | int, Steps]] = [(schema, root, 0, ())]
    while to_copy:
        value, into, step, steps = to_copy.pop()
        # A schema inside a schema is under a keyword, and at most one name or index below it.
        if len(steps) > 2 * MAX_NESTED:
            raise OptionsError(f"{shown(steps)}: nested deeper than {MAX_NESTED} schemas can be")
        made = value
        if isinstance(value, dict):
            members = cast("dict[object, object]", value)
            made = dict.fromkeys(members)
            for name, member in members.items():
                if not isinstance(name, str):
                    raise OptionsError(f"{shown(steps)}: expected strings as keys")
                to_copy.append((member, made, name, (*steps, name)))
        elif isinstance(value, list):
            items = cast("list[object]", value)
            made = [None] * len(items)
            to_copy.extend([(item, made, at, (*steps, at)) for at, item in enumerate(items)])
        elif not _is_atom(value):
            raise OptionsError(f"{shown(steps)}: expected a JSON value")
        into[step] = made
    return root[0]


def _is_atom(value: object) -> bool:
    return value is None or isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


# The document

META: Final = ("http://json-schema.org/draft-07/schema", DRAFT_2020, "https://json-schema.org/draft/2020-12/meta/")
NAMELESS: Final = "https://unspool.invalid/schema"  # of a schema without an $id; nothing is ever fetched
IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
NAMES: Final = frozenset({"$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"})


@final
class Subschema:
    """A schema inside a schema, or the schema itself: the keywords that its draft knows, and the schemas inside."""

    __slots__ = ("base", "is_alone", "keywords", "listed", "named", "one", "schema", "steps", "targets")

    def __init__(self, schema: Any, steps: Steps, base: str) -> None:
        self.schema = schema
        self.steps = steps
        self.base = base
        self.keywords: dict[str, Any] = {}
        self.one: dict[str, Subschema] = {}
        self.listed: dict[str, list[Subschema]] = {}
        self.named: dict[str, dict[str, Subschema]] = {}
        # By $ref and $dynamicRef; None for a meta-schema.
        self.targets: dict[str, Subschema | None] = {}
        self.is_alone = True  # it means the same everywhere: it contains no reference and no name

    @property
    def members(self) -> dict[str, Any]:
        """All members of the schema, known keywords or not."""
        return cast("dict[str, Any]", self.schema) if isinstance(self.schema, dict) else {}

    def inner(self) -> Iterator[Subschema]:
        """Yield the schemas directly inside."""
        yield from self.one.values()
        for listed in self.listed.values():
            yield from listed
        for named in self.named.values():
            yield from named.values()


@final
class SchemaDocument:
    """A whole schema: its `root` and all `places`. `is_dynamic`: the target of a $dynamicRef depends on the way."""

    def __init__(self, schema: object) -> None:
        if not isinstance(schema, (dict, bool)):
            raise OptionsError("a JSON Schema is a dict or a boolean")
        self.schema = copied(cast("object", schema))
        self.root = Subschema(self.schema, (), NAMELESS)
        self.draft = self._draft(self.root)
        self.places: dict[Steps, Subschema] = {}
        self.is_dynamic = False
        self._resources: dict[str, Subschema] = {}
        self._anchors: dict[tuple[str, str], Subschema] = {}
        self._dynamic_anchors: dict[str, list[Subschema]] = {}
        self._to_resolve: list[Subschema] = []
        self._read(self.root)
        self.uri = self.root.base
        self._resources.setdefault(self.uri, self.root)
        while self._to_resolve:
            place = self._to_resolve.pop()
            for keyword in ("$ref", "$dynamicRef"):
                if keyword in place.keywords:
                    self._resolve(place, keyword)
        self._refuse_circles()
        for place in reversed(self.places.values()):  # inner schemas come after outer ones
            place.is_alone = place.keywords.keys().isdisjoint(NAMES) and all(one.is_alone for one in place.inner())

    def target(self, place: Subschema, keyword: str) -> Subschema | None:
        """Return the target of a reference; None for a meta-schema."""
        if keyword not in place.targets:
            raise OptionsError(f"{shown((*place.steps, keyword))}: the reference has no target")
        return place.targets[keyword]

    def uri_of(self, place: Subschema) -> str:
        """Return an absolute reference to a place."""
        return self.uri + "#" + "".join(["/" + quote(escaped(step), safe="~") for step in place.steps])

    # Reading

    def _draft(self, place: Subschema) -> str:
        name = place.members.get("$schema", DRAFT_2020)
        draft = DRAFTS.get(name.removesuffix("#")) if isinstance(name, str) else None
        if draft is None:
            raise OptionsError(f"{shown((*place.steps, '$schema'))}: expected Draft 2020-12 or Draft 7")
        return draft

    def _read(self, root: Subschema) -> Subschema:
        """Add a place and all places inside it to the document."""
        to_read = [(root, 1)]
        while to_read:
            place, depth = to_read.pop()
            if depth > MAX_NESTED:
                raise OptionsError(f"{shown(place.steps)}: schemas nested deeper than {MAX_NESTED}")
            if not isinstance(place.schema, (dict, bool)):
                raise OptionsError(f"{shown(place.steps)}: expected a schema: an object or a boolean")
            self.places.pop(place.steps, None)  # so that inner schemas come after outer ones
            self.places[place.steps] = place
            self._check(place)
            self._place_inner(place)
            to_read.extend([(inner, depth + 1) for inner in place.inner()])
            if not place.keywords.keys().isdisjoint({"$ref", "$dynamicRef"}):
                self._to_resolve.append(place)
                if self.draft == DRAFT_7:  # keywords next to a reference are ignored
                    place.keywords = {"$ref": place.keywords["$ref"]}
                    place.one, place.listed, place.named = {}, {}, {}
        return root

    def _check(self, place: Subschema) -> None:
        checks = CHECKS[self.draft]
        for keyword, value in place.members.items():
            check = checks.get(keyword)
            if check is not None:
                if not check[0](value):
                    raise OptionsError(f"{shown((*place.steps, keyword))}: expected {check[1]}")
                place.keywords[keyword] = value
        if not (self.draft == DRAFT_7 and "$ref" in place.keywords):
            self._name(place)

    def _name(self, place: Subschema) -> None:
        """Register the names of a place, which references can use."""
        keywords = place.keywords
        if "$id" in keywords:
            if "$schema" in keywords and self._draft(place) != self.draft:
                raise OptionsError(f"{shown((*place.steps, '$schema'))}: another draft than that of the whole schema")
            uri, fragment = _split(keywords["$id"])
            if uri:
                place.base = _split(urljoin(place.base, uri))[0]
            if fragment:
                self._anchors[place.base, fragment] = place
            else:
                self._resources[place.base] = place
        for keyword in ("$anchor", "$dynamicAnchor"):
            if keyword in keywords:
                self._anchors[place.base, keywords[keyword]] = place
        if "$dynamicAnchor" in keywords:
            self._dynamic_anchors.setdefault(keywords["$dynamicAnchor"], []).append(place)

    def _place_inner(self, place: Subschema) -> None:
        draft = self.draft
        for keyword, value in place.members.items():
            steps = (*place.steps, keyword)
            if keyword in LISTED[draft] or (keyword == "items" and draft == DRAFT_7 and isinstance(value, list)):
                if not (isinstance(value, list) and value):
                    raise OptionsError(f"{shown(steps)}: expected an array of schemas, not empty")
                items = cast("list[object]", value)
                place.listed[keyword] = [Subschema(item, (*steps, at), place.base) for at, item in enumerate(items)]
            elif keyword in ONE[draft]:
                place.one[keyword] = Subschema(value, steps, place.base)
            elif keyword in NAMED[draft]:
                if not isinstance(value, dict):
                    raise OptionsError(f"{shown(steps)}: expected an object of schemas")
                place.named[keyword] = {
                    name: Subschema(item, (*steps, name), place.base)
                    for name, item in cast("dict[str, object]", value).items()
                    if not (keyword == "dependencies" and is_texts(item))
                }
            else:
                continue
            place.keywords[keyword] = value

    # References

    def _resolve(self, place: Subschema, keyword: str) -> None:
        uri, fragment = _split(place.keywords[keyword])
        uri = _split(urljoin(place.base, uri))[0] if uri else place.base
        fragment = unquote(fragment)
        resource = self._resources.get(uri)
        if resource is not None:
            target = self._at(resource, fragment)
            if target is not None:
                place.targets[keyword] = target
                if keyword == "$dynamicRef" and target.keywords.get("$dynamicAnchor") == fragment:
                    self.is_dynamic |= len(self._dynamic_anchors[fragment]) > 1
        elif uri in META or uri.startswith(META[-1]):
            place.targets[keyword] = None
        else:
            where = shown((*place.steps, keyword))
            raise OptionsError(f"{where}: a reference to another document; put it into this one, under $defs")

    def _refuse_circles(self) -> None:
        """Refuse references that lead back to themselves at the same place of a value: they would mean nothing."""
        done: set[Subschema] = set()
        for start in self.places.values():
            around: dict[Subschema, Iterator[Subschema]] = {}
            place: Subschema | None = start
            while place is not None:
                if place in around:
                    circle = [one for one in list(around)[list(around).index(place) :] if one.targets]
                    where = shown((*circle[0].steps, next(iter(circle[0].targets))))
                    raise OptionsError(f"{where}: the reference leads back to itself and describes no value")
                if place not in done:
                    around[place] = iter(_same_value(place))
                place = None
                while around and place is None:
                    inner = next(reversed(around))
                    place = next(around[inner], None)
                    if place is None:
                        done.add(inner)
                        del around[inner]

    def _at(self, resource: Subschema, fragment: str) -> Subschema | None:
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((resource.base, fragment))
        steps, base = resource.steps, resource.base
        schema: object = resource.schema
        for text in fragment.split("/")[1:]:
            step: str | int = text.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list):
                items = cast("list[object]", schema)
                step = int(text) if text.isdecimal() and text.isascii() else len(items)
                if step >= len(items):
                    return None
                schema = items[step]
            else:
                members = cast("dict[str | int, object]", schema if isinstance(schema, dict) else {})
                if step not in members:
                    return None
                schema = members[step]
            steps = (*steps, step)
            if steps in self.places:
                base = self.places[steps].base
        # An unknown place is one that no keyword leads to.
        return self.places[steps] if steps in self.places else self._read(Subschema(schema, steps, base))


def _same_value(place: Subschema) -> list[Subschema]:
    """Return the schemas that may judge the same value if this one does."""
    inner = [target for target in place.targets.values() if target is not None]
    for keyword in IN_PLACE:
        inner += [*place.listed.get(keyword, ()), *place.named.get(keyword, {}).values()]
        if keyword in place.one:
            inner.append(place.one[keyword])
    return inner


def _split(reference: str) -> tuple[str, str]:
    uri, fragment = urldefrag(reference)
    return uri, fragment
