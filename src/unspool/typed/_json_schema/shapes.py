"""JSON Schema to shapes: Draft 2020-12 and Draft 7.

The structure of a schema becomes shapes, which judge a value while it is being written: types, properties, items,
references, and choices that a kind or a constant decides. `jsonschema_rs` judges everything else when the value closes:
only the keywords that are left, and each value once. docs/json-schema.md lists the moment of each keyword.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, cast, final

from ..._path import ROOT, Path
from ..._quoting import quote
from .._shape import (
    AnyShape,
    ArrayShape,
    DeferredShape,
    Field,
    LeafShape,
    MapShape,
    ObjectShape,
    RefShape,
    Shape,
    ShapeError,
    TupleShape,
    UnionShape,
    followed,
)
from .document import SchemaDocument
from .judge import LeftOver, wants_integer
from .merge import Merger, SchemaPart, constrains_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..._tree.nodes import Node
    from .document import Subschema
    from .judge import SchemaJudge
    from .merge import Conjunction

__all__ = ["shape_of"]

KINDS: Final = ("object", "array", "string", "number", "boolean", "null")
WORDS: Final = ("an object", "an array", "a string", "a number", "a boolean", "null")
MAX_CHOICE_DEPTH: Final = 32
MAX_LISTED: Final = 8

OBJECT: Final = frozenset({"object"})
ARRAY: Final = frozenset({"array"})
STRING: Final = frozenset({"string"})
ANY: Final = AnyShape()
NEVER: Final = LeafShape(frozenset(), "nothing")


def shape_of(schema: object, early: bool) -> Shape:
    """Return the shape of a schema; see `unspool.typed.from_json_schema`."""
    return SchemaDescriber(SchemaDocument(schema), early).root()


@final
class PatternedShape(ObjectShape):
    """An object with a shape that depends on the spelling of each key; None forbids the key."""

    def __init__(
        self,
        fields: dict[str, Field],
        make: Callable[[dict[str, object]], object],
        by_spelling: Callable[[str], Shape | None],
        max_keys: int | None,
        is_atomic: bool,
    ) -> None:
        super().__init__(fields, _as_it_is, make, extra=ANY, max_keys=max_keys, is_atomic=is_atomic)
        self._by_spelling = by_spelling
        self._latest: tuple[str, Field | None] | None = None  # each fragment asks for the open member again

    def field(self, key: str) -> Field | None:
        field = self.fields.get(key)
        if field is None:
            latest = self._latest
            if latest is not None and latest[0] == key:
                return latest[1]
            shape = self._by_spelling(key)
            field = None if shape is None else Field(key, shape)
            self._latest = (key, field)
        return field


@final
class SchemaDescriber:
    """Makes the shapes of one document: one for each set of schemas that holds for some value."""

    def __init__(self, document: SchemaDocument, early: bool) -> None:
        self._document = document
        self._early = early
        self._left_over = LeftOver(document)
        self._merger = Merger(document, lambda pattern, key: self._left_over.pattern(pattern).accepts(key))
        self._shapes: dict[object, Shape] = {}
        self._of_kind: dict[object, Shape | None] = {}
        self._to_build: list[tuple[Conjunction, RefShape]] = []
        # There may be far more sets of schemas than schemas. Sets beyond this number are judged as a whole.
        self._most = 1000 + 8 * len(document.places)

    def root(self) -> Shape:
        """Return the shape of the whole document."""
        merger, root = self._merger, self._document.root
        if self._document.is_dynamic:
            judge = self._left_over.whole()
            shown = self._shape(merger.conjunction((), [root]))
            shape: Shape = DeferredShape(judge.checked_node, shown=shown, expected="a value that fits the schema")
        else:
            shape = self._shape(merger.conjunction([SchemaPart(root)]))
        while self._to_build:
            conjunction, reference = self._to_build.pop()
            reference.target = self._built(conjunction)
        return followed(shape)

    def _shape(self, conjunction: Conjunction) -> Shape:
        """Return the shape for a set of schemas, or a reference to it, because schemas may contain themselves."""
        if conjunction.is_never:
            return NEVER
        if conjunction.is_any:
            return ANY
        shape = self._shapes.get(conjunction.key)
        if shape is None:
            if len(self._shapes) + len(self._of_kind) > self._most:
                return self._whole(conjunction)
            reference = RefShape()
            shape = self._shapes[conjunction.key] = reference
            self._to_build.append((conjunction, reference))
        return shape

    def _whole(self, conjunction: Conjunction) -> Shape:
        """Return a shape that judges all keywords when the value closes."""
        judge = self._left_over.judge_of([part.place for part in conjunction.sources])
        return ANY if judge is None else DeferredShape(judge.checked_node, self._merger.kinds(conjunction), shown=ANY)

    def _built(self, conjunction: Conjunction) -> Shape:
        shapes: list[Shape] = []
        plain: list[str] = []  # the kinds with no limits at all
        accepted = self._merger.kinds(conjunction)
        for kind in KINDS:
            if kind in accepted:
                shape = self._shape_of_kind(conjunction, kind, frozenset())
                if shape is None:
                    plain.append(kind)
                elif shape is not NEVER:
                    shapes.append(shape)
        if len(plain) == len(KINDS):
            return ANY
        if plain:
            shapes.append(_plain(plain))
        if len(shapes) > 1:
            return UnionShape(shapes, _undecided, expected=_words(kind for kind in KINDS if kind in accepted))
        return shapes[0] if shapes else NEVER

    # Choices

    def _shape_of_kind(self, conjunction: Conjunction, kind: str, around: frozenset[object]) -> Shape | None:
        """Return the shape for values of one kind; None if all of them fit, as they are."""
        key = (conjunction.key, kind)
        if key in self._of_kind:
            return self._of_kind[key]
        is_blocked = key in around or len(around) == MAX_CHOICE_DEPTH or len(self._of_kind) > self._most
        shape = self._decided(conjunction, kind, around, is_blocked)
        if not is_blocked:
            self._of_kind[key] = shape
        return shape

    def _decided(
        self, conjunction: Conjunction, kind: str, around: frozenset[object], is_blocked: bool
    ) -> Shape | None:
        """Return the shape after the first choice that can be decided early. Branches of other choices become hints."""
        merger = self._merger
        around |= {(conjunction.key, kind)}
        hints: list[Subschema] = list(conjunction.hints)
        for part, keyword in conjunction.unions():
            takers = [one for one in part.place.listed[keyword] if kind in merger.kinds_of_branch(one)]
            if not takers:
                return NEVER
            hints += takers
            if is_blocked:
                continue
            rest = [one for one in conjunction.parts if one != part]
            rest.append(SchemaPart(part.place, part.without | {keyword}))
            branches = [merger.conjunction([*rest, SchemaPart(taker)], conjunction.hints) for taker in takers]
            if len(branches) == 1:
                return self._shape_of_kind(branches[0], kind, around)
            if kind == "object":
                shape = self._discriminated(conjunction, branches, around)
                if shape is not None:
                    return shape
        if len(hints) > len(conjunction.hints):
            conjunction = merger.conjunction(conjunction.parts, hints)
        if kind == "object":
            return self._object(conjunction)
        if kind == "array":
            return self._array(conjunction)
        return self._string(conjunction) if kind == "string" else self._scalar(conjunction, kind)

    def _discriminated(
        self, conjunction: Conjunction, branches: list[Conjunction], around: frozenset[object]
    ) -> Shape | None:
        """Return the shape of a choice that the value of one key decides, because each branch lists its own values."""
        merger = self._merger
        for name in merger.names(branches[0]):
            tags: dict[tuple[str, object], int] = {}
            for index, branch in enumerate(branches):
                listed = merger.tags(merger.under_key(branch, name))
                if listed is None or not listed.isdisjoint(tags):
                    break
                tags.update(dict.fromkeys(listed, index))
            else:
                shapes = [self._shape_of_kind(branch, "object", around) or _plain(["object"]) for branch in branches]
                make = _missing_tag(name)
                if not all(merger.names(branch).get(name) for branch in branches):
                    judge = self._left_over.judge_of([part.place for part in conjunction.sources])
                    make = make if judge is None else judge.checked_node
                by_tag = {tag: shapes[index] for tag, index in tags.items()}
                return UnionShape(shapes, make, discriminator=name, tags=by_tag, expected="an object")
        return None

    # One kind

    def _object(self, conjunction: Conjunction) -> Shape | None:
        merger = self._merger
        judge = self._left_over.judge(conjunction, "object", self._merger)
        make = _as_it_is if judge is None else judge.checked
        max_keys = _least(conjunction, "maxProperties")
        checks = [place.one["propertyNames"] for place in conjunction.places if "propertyNames" in place.one]
        names_judge = self._left_over.judge_of(checks)
        names = merger.names(conjunction)
        patterns = merger.patterns(conjunction)
        extra = self._shape(merger.under_key(conjunction, None))
        is_listed = _is_listed(conjunction)
        if not (names or patterns or names_judge) and extra is not NEVER:
            if extra is ANY and max_keys is None:
                return _judged(judge, OBJECT, is_listed)
            make_map = cast("Callable[[dict[object, object]], object] | None", None if judge is None else judge.checked)
            return MapShape(extra, make=make_map, max_keys=max_keys, is_atomic=is_listed)
        fields: dict[str, Field] = {}
        for name, is_required in names.items():
            is_allowed = names_judge is None or names_judge.accepts(name)
            shape = self._shape(merger.under_key(conjunction, name)) if is_allowed else NEVER
            if shape is not NEVER or is_required or extra is not NEVER:
                fields[name] = Field(name, shape, is_required)
        if not (patterns or names_judge):
            rest = None if extra is NEVER else extra
            return ObjectShape(fields, _as_it_is, make, extra=rest, max_keys=max_keys, is_atomic=is_listed)
        by_match = {
            frozenset(match): self._shape(merger.under_key(conjunction, None, frozenset(match)))
            for match in ((), *[(pattern,) for pattern in patterns])
        }

        matchers = [(pattern, self._left_over.pattern(pattern)) for pattern in patterns]

        def by_spelling(key: str) -> Shape | None:
            if names_judge is not None and not names_judge.accepts(key):
                return None
            matched = frozenset([pattern for pattern, judge in matchers if judge.accepts(key)])
            shape = by_match.get(matched)
            if shape is None:  # several patterns at once: rare, with too many combinations to prepare
                shape = by_match[matched] = self._whole(merger.under_key(conjunction, None, matched))
            return None if followed(shape) is NEVER else shape

        return PatternedShape(fields, make, by_spelling, max_keys, is_listed)

    def _array(self, conjunction: Conjunction) -> Shape | None:
        merger = self._merger
        judge = self._left_over.judge(conjunction, "array", self._merger)
        make = None if judge is None else judge.checked
        max_items = _least(conjunction, "maxItems")
        length = merger.longest_prefix(conjunction)
        places = [self._shape(merger.at_index(conjunction, index)) for index in range(length)]
        rest = self._shape(merger.at_index(conjunction, length))
        if rest is NEVER:
            max_items = length if max_items is None else min(length, max_items)
        is_listed = _is_listed(conjunction)
        if places:
            return TupleShape(places, rest, make=make, max_items=max_items, is_atomic=is_listed)
        if rest is ANY and max_items is None:
            return _judged(judge, ARRAY, is_listed)
        return ArrayShape(rest, make=make, max_items=max_items, is_atomic=is_listed)

    def _string(self, conjunction: Conjunction) -> Shape | None:
        judge = self._left_over.judge(conjunction, "string", self._merger)
        texts = self._merger.texts(conjunction)
        if texts is not None:
            possible = [text for text in sorted(texts) if judge is None or judge.accepts(text)]
            if not possible:
                return NEVER
            literals = dict(zip(possible, possible, strict=True))
            return LeafShape(STRING, _listed(possible), literals=literals, early=self._early)
        if judge is not None:
            most = _least(conjunction, "maxLength")
            return LeafShape(STRING, "a string that fits the schema", make=judge.checked_node, max_length=most)
        places = [*conjunction.places, *conjunction.hints]
        return LeafShape(STRING, "a string") if any(map(constrains_text, places)) else None

    def _scalar(self, conjunction: Conjunction, kind: str) -> Shape | None:
        judge = self._left_over.judge(conjunction, kind, self._merger)
        if kind == "number" and any(map(wants_integer, conjunction.places)):
            return LeafShape(frozenset({kind}), "an integer", make=_integer if judge is None else judge.checked_node)
        return None if judge is None else LeafShape(frozenset({kind}), _words([kind]), make=judge.checked_node)


def _plain(kinds: list[str], is_atomic: bool = False) -> Shape:
    """Return the shape of all values of these kinds, as they are."""
    shape = AnyShape(is_atomic=is_atomic)
    shape.kinds = frozenset(kinds)
    shape.expected = _words(kinds)
    return shape


def _words(kinds: Iterable[str]) -> str:
    *words, last = [WORDS[KINDS.index(kind)] for kind in kinds]
    return f"{', '.join(words)} or {last}" if words else last


def _as_it_is(members: dict[str, object]) -> object:
    return members


def _undecided(node: Node) -> object:
    raise AssertionError("each kind has one branch")


def _missing_tag(name: str) -> Callable[[Node], object]:
    def make(node: Node) -> object:
        raise ShapeError.of("missing", "a required key", Path(ROOT, name))

    return make


def _listed(texts: list[str]) -> str:
    """Return the strings of an enum in words."""
    return f"one of {len(texts)} strings" if len(texts) > MAX_LISTED else " or ".join(map(quote, texts))


def _is_listed(conjunction: Conjunction) -> bool:
    """Return whether the values may be listed: such a value is not shown half."""
    places = [*conjunction.places, *conjunction.hints]
    return any("enum" in place.keywords or "const" in place.keywords for place in places)


def _judged(judge: SchemaJudge | None, kinds: frozenset[str], is_atomic: bool) -> Shape | None:
    """Return the shape of a container that only a judge limits; None if nothing does."""
    if judge is not None:
        return DeferredShape(judge.checked_node, kinds, shown=ANY, is_atomic=is_atomic)
    return _plain(list(kinds), is_atomic=True) if is_atomic else None


def _least(conjunction: Conjunction, keyword: str) -> int | None:
    limits = [place.keywords[keyword] for place in conjunction.places if keyword in place.keywords]
    return int(min(limits)) if limits else None


def _integer(node: Node) -> object:
    value = node.value
    if (isinstance(value, float) and not value.is_integer()) or (
        isinstance(value, Decimal) and value != value.to_integral_value()
    ):
        raise ShapeError.of("wrong_kind", "an integer")
    return value
