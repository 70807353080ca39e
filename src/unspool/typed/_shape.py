"""Shapes: the library's own small description of a type, and all that resolving knows of one.

A shape says which kinds of JSON value fit, what is shown of a value that is still being written, and what becomes of a
closed one. The adapters (`from_pydantic`, `from_msgspec`, `from_json_schema`) make shapes; `resolve` reads them without
knowing where they came from.

Values flow upwards. A leaf is *made* from its text. A container is made from the values of its children, each of which
was made once, before. So nothing is validated twice: the `make` of a container checks the container itself. It raises
`ShapeError` if something is wrong.

The markers at the top say in an annotation how a field is shown: ``Annotated[str, Atomic]``. Unions come last, with the
questions that only a walk through references and unions can answer.
"""

# Compiled with mypyc.
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .._events import Event, Kind
from .._grammar.writer import Writer
from .._native import mypyc_attr
from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, NumberNode, ObjectNode, StringNode

if TYPE_CHECKING:
    from .._tree.nodes import Node

__all__ = [
    "ALL_KINDS",
    "IGNORED",
    "MARKS",
    "AnyShape",
    "ArrayShape",
    "Atomic",
    "DeferredShape",
    "Field",
    "IgnoredShape",
    "LeafShape",
    "MapShape",
    "NotNull",
    "ObjectShape",
    "Problem",
    "RefShape",
    "Shape",
    "ShapeError",
    "TupleShape",
    "UnionShape",
    "WholeItems",
    "asks_for_values",
    "chosen",
    "followed",
    "json_text",
    "kinds_of",
]

OBJECT: Final = "object"
ARRAY: Final = "array"
STRING: Final = "string"
NUMBER: Final = "number"
BOOLEAN: Final = "boolean"
NULL: Final = "null"
ALL_KINDS: Final = frozenset({OBJECT, ARRAY, STRING, NUMBER, BOOLEAN, NULL})
LEAF_KINDS: Final = frozenset({STRING, NUMBER, BOOLEAN, NULL})


class Problem(NamedTuple):
    """One problem: its path, a short code, and the expected value, in words that never quote the text."""

    path: Path
    code: str
    expected: str


class ShapeError(Exception):
    """A value does not fit its shape. The paths of the problems start at the value."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    @classmethod
    def of(cls, code: str, expected: str, path: Path = ROOT) -> ShapeError:
        """Return an error with one problem."""
        return cls([Problem(path, code, expected)])


@mypyc_attr(allow_interpreted_subclasses=True)
class Shape:
    """The base class of all shapes.

    `kinds` are the kinds of JSON value (`Node.kind`) that may fit: any other is invalid as soon as it begins. With
    `is_atomic`, a value is shown only when it is complete. With `is_lenient`, nothing is judged, and a value that does
    not fit is simply not shown: such shapes are for the inside of a value that is judged as a whole later. `expected`
    describes the values that fit, in words.
    """

    def __init__(self, kinds: frozenset[str], expected: str, is_atomic: bool = False, is_lenient: bool = False) -> None:
        self.kinds = kinds
        self.expected = expected
        self.is_atomic = is_atomic
        self.is_lenient = is_lenient


class RefShape(Shape):
    """A reference to another shape, for a type that contains itself. `target` is set once that shape is made."""

    def __init__(self) -> None:
        super().__init__(ALL_KINDS, "a value")
        self.target: Shape = self


def followed(shape: Shape) -> Shape:
    """Return the shape that a reference leads to; any other shape as it is."""
    while isinstance(shape, RefShape):
        shape = shape.target
    return shape


class AnyShape(Shape):
    """Any value, shown as the plain value that it is."""

    def __init__(self, *, is_atomic: bool = False) -> None:
        super().__init__(ALL_KINDS, "any value", is_atomic)


class LeafShape(Shape):
    """A string, a number, a boolean or null. Only strings are ever open.

    `make` gets the closed node and returns the value; without it, the value is the plain value of the node. With
    `streams`, an open string is shown as its text so far. `literals` are all the strings that may come, if they are
    known: a text that begins none of them is invalid at once, and with `early` the last possible one is shown before
    its end. `max_length` makes longer strings invalid before they end.
    """

    def __init__(
        self,
        kinds: frozenset[str],
        expected: str,
        *,
        make: Callable[[Node], object] | None = None,
        streams: bool = False,
        literals: Mapping[str, object] | None = None,
        early: bool = False,
        max_length: int | None = None,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(kinds, expected, False, is_lenient)
        self.make = make
        self.streams = streams
        self.literals = literals  # each string with its value
        self._sorted = sorted(literals or ())
        self.early = early
        self.max_length = max_length

    def literals_from(self, prefix: str) -> list[str]:
        """Return the first two literals with this prefix: more are never needed."""
        start = bisect_left(self._sorted, prefix)
        return [literal for literal in self._sorted[start : start + 2] if literal.startswith(prefix)]


class Field(NamedTuple):
    """A key of an object: the name of its value in the dict for `make` and `show`, and its shape."""

    name: str
    shape: Shape
    is_required: bool = False
    holds_back: bool = False
    """The object is not shown before this field is."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ObjectShape(Shape):
    """An object with fields. `show` makes a half-filled value of the known fields, `make` the whole one.

    Both get a dict of the values that are there, by field name. `extra` is the shape of all other keys: `AnyShape` for
    any value, `IGNORED` to leave them out, None to make them invalid. An extra key is its own field name.
    """

    def __init__(
        self,
        fields: Mapping[str, Field],
        show: Callable[[dict[str, object]], object],
        make: Callable[[dict[str, object]], object],
        *,
        extra: Shape | None,
        expected: str = "an object",
        max_keys: int | None = None,
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(frozenset({OBJECT}), expected, is_atomic, is_lenient)
        self.fields = fields  # by key; several keys may lead to one field name
        self.show = show
        self.make = make
        self.extra = extra
        self.max_keys = max_keys
        # If several keys lead to one field, the first one names it in problems.
        first_keys: dict[str, str] = {}
        for key, field in fields.items():
            if field.is_required:
                first_keys.setdefault(field.name, key)
        self.required = tuple(first_keys.values())
        self.holding = frozenset([field.name for field in fields.values() if field.holds_back])

    def field(self, key: str) -> Field | None:
        """Return the field for a key; None for a forbidden key."""
        field = self.fields.get(key)
        if field is None and self.extra is not None:
            return Field(key, self.extra)
        return field


class IgnoredShape(Shape):
    """Any value, left out."""

    def __init__(self) -> None:
        super().__init__(ALL_KINDS, "any value")


IGNORED: Final = IgnoredShape()


class MapShape(Shape):
    """An object with any keys and one shape for all values.

    `check_key` returns the key for the result, or raises `ShapeError`.
    """

    def __init__(
        self,
        item: Shape,
        *,
        check_key: Callable[[str], object] | None = None,
        show: Callable[[dict[object, object]], object] | None = None,
        make: Callable[[dict[object, object]], object] | None = None,
        expected: str = "an object",
        max_keys: int | None = None,
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(frozenset({OBJECT}), expected, is_atomic, is_lenient)
        self.item = item
        self.check_key = check_key
        self.show = show
        self.make = make
        self.max_keys = max_keys


class ArrayShape(Shape):
    """An array with one shape for all items. Without `show` and `make`, the value is the list itself."""

    def __init__(
        self,
        item: Shape,
        *,
        show: Callable[[list[object]], object] | None = None,
        make: Callable[[list[object]], object] | None = None,
        expected: str = "an array",
        max_items: int | None = None,
        whole_items: bool = False,
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(frozenset({ARRAY}), expected, is_atomic, is_lenient)
        self.item = item
        self.show = show
        self.make = make
        self.max_items = max_items
        self.whole_items = whole_items

    def item_at(self, index: int) -> Shape:
        """Return the shape of the item at this index."""
        return self.item


class TupleShape(ArrayShape):
    """An array with a shape for each of its first items; `rest` is for the items after those (None: there are none)."""

    def __init__(
        self,
        places: Sequence[Shape],
        rest: Shape | None,
        *,
        show: Callable[[list[object]], object] | None = None,
        make: Callable[[list[object]], object] | None = None,
        expected: str = "an array",
        max_items: int | None = None,
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(
            IGNORED if rest is None else rest,
            show=show,
            make=make,
            expected=expected,
            max_items=len(places) if rest is None and max_items is None else max_items,
            is_atomic=is_atomic,
            is_lenient=is_lenient,
        )
        self.places = places

    def item_at(self, index: int) -> Shape:
        return self.places[index] if index < len(self.places) else self.item


class DeferredShape(Shape):
    """A value that is judged as a whole when it closes, because its validator has to see the value as it was written.

    `make` gets the closed node. Until then the value is shown through `shown`, a lenient shape, if there is one.
    """

    def __init__(
        self,
        make: Callable[[Node], object],
        kinds: frozenset[str] = ALL_KINDS,
        *,
        shown: Shape | None = None,
        expected: str = "a value",
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(kinds, expected, is_atomic, is_lenient)
        self.make = make
        self.shown = shown


# Markers

MARKS: Final = "unspool"
"""The key in the metadata of a Pydantic core schema that holds the names of its markers."""


@mypyc_attr(native_class=False)  # users may copy and pickle types with markers in them
class Marker:
    """The base class of the markers: the class itself and its instances mean the same.

    Pydantic finds markers everywhere, also on the items of a list or the branches of a union. A marker adds its name to
    the metadata of the core schema, and changes nothing in the validation.
    """

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Callable[[Any], Any]) -> Any:
        schema: dict[str, Any] = handler(source)
        metadata: dict[str, Any] = schema.get("metadata") or {}
        # A copy, because the schema may belong to a class, and the marker is for this field only.
        return {**schema, "metadata": {**metadata, MARKS: (*metadata.get(MARKS, ()), cls.__name__)}}


@mypyc_attr(native_class=False)
class Atomic(Marker):
    """Show a value only when it is complete: ``Annotated[Address, Atomic]``."""

    __slots__ = ()


@mypyc_attr(native_class=False)
class NotNull(Marker):
    """Hide an object until this field of it is shown: ``Annotated[str, NotNull]``."""

    __slots__ = ()


@mypyc_attr(native_class=False)
class WholeItems(Marker):
    """Show only complete items of an array: ``Annotated[list[Day], WholeItems]``."""

    __slots__ = ()


# Unions


@mypyc_attr(allow_interpreted_subclasses=True)
class UnionShape(Shape):
    """One of several shapes. Nothing is shown until the branch is decided.

    The kind of the value decides if only one branch accepts it. If not, for objects, the value of the `discriminator`
    key decides as soon as it closes. If not, `make` gets the closed node and judges it as a whole.
    """

    def __init__(
        self,
        branches: Sequence[Shape],
        make: Callable[[Node], object],
        *,
        discriminator: str | None = None,
        tags: Mapping[tuple[str, object], Shape] | None = None,
        expected: str = "one of several",
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(ALL_KINDS, expected, is_atomic, is_lenient)  # `kinds_of` asks the branches
        self.branches = branches
        self.make = make
        self.discriminator = discriminator
        self.tags: Mapping[tuple[str, object], Shape] = tags or {}  # by kind and value: True is not 1
        self._by_kind: dict[str, list[Shape]] = {}

    def branches_for(self, kind: str) -> list[Shape]:
        """Return the branches that may accept a value of this kind."""
        branches = self._by_kind.get(kind)
        if branches is None:
            branches = self._by_kind[kind] = [branch for branch in self.branches if kind in kinds_of(branch)]
        return branches

    def branch_for(self, node: Node) -> Shape | None:
        """Return the branch for this node; None until it is decided. Raises `ShapeError` if no branch fits."""
        branches = self.branches_for(node.kind)
        if len(branches) == 1:
            return branches[0]
        if not branches:
            raise ShapeError.of("wrong_kind", self.expected)
        if self.discriminator is None or node.kind != OBJECT:
            return None
        tag = first_child(node, self.discriminator)
        if tag is None or not (tag.closed or isinstance(tag, ContainerNode)):
            return None
        branch = None if isinstance(tag, ContainerNode) else self.tags.get((tag.kind, tag.value))
        if branch is None:
            raise ShapeError.of("unknown_tag", "a known " + repr(self.discriminator), Path(ROOT, self.discriminator))
        return branch


def first_child(node: Node, key: str) -> Node | None:
    """Return the first child under a key: a second one must not change a decision that was made."""
    assert isinstance(node, ObjectNode)
    try:
        return node._items[node._keys.index(key, 0, node._size)]
    except ValueError:
        return node._open[0] if node._open_key == key else None


def kinds_of(shape: Shape) -> frozenset[str]:
    """Return the kinds that may fit, through references and unions, even if these contain themselves."""
    kinds: set[str] = set()
    seen: set[int] = set()
    to_ask = [shape]
    while to_ask:
        one = to_ask.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, RefShape):
            to_ask.append(one.target)
        elif isinstance(one, UnionShape):
            to_ask.extend(one.branches)
        else:
            kinds |= one.kinds
    return frozenset(kinds)


def chosen(shape: Shape, node: Node) -> tuple[Shape, bool]:
    """Return the shape for this node, through references and unions, and whether it is shown only when complete.

    An undecided union is returned as it is. Raises `ShapeError` if no branch of a union fits.
    """
    is_atomic = shape.is_atomic
    while True:
        if isinstance(shape, RefShape):
            shape = shape.target
        elif isinstance(shape, UnionShape):
            branch = shape.branch_for(node)
            if branch is None:
                return shape, is_atomic
            shape = branch
        else:
            return shape, is_atomic
        is_atomic = is_atomic or shape.is_atomic


def asks_for_values(shape: Shape) -> bool:
    """Return whether the shape, or one inside it, shows open objects or arrays as plain values."""
    seen: set[int] = set()
    to_ask: list[Shape | None] = [shape]
    while to_ask:
        one = to_ask.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, AnyShape):
            return True
        if isinstance(one, RefShape):
            to_ask.append(one.target)
        elif isinstance(one, UnionShape):
            to_ask.extend(one.branches)
            to_ask.extend(one.tags.values())
        elif isinstance(one, DeferredShape):
            to_ask.append(one.shown)
        elif isinstance(one, ObjectShape):
            to_ask.extend([field.shape for field in one.fields.values()])
            to_ask.append(one.extra)
        elif isinstance(one, (ArrayShape, MapShape)):
            to_ask.append(one.item)
            if isinstance(one, TupleShape):
                to_ask.extend(one.places)
    return False


# Text


def json_text(node: Node) -> str:
    """Return a closed node as JSON text, for adapters that judge a value as it was written.

    Numbers keep their spelling, and a key that comes twice is written twice.
    """
    return Writer().write(_events(node))


def _events(root: Node) -> list[Event]:
    events: list[Event] = []
    stack: list[tuple[Node, Path, bool]] = [(root, ROOT, False)]  # True: only the end of the container is left
    while stack:
        node, path, is_end = stack.pop()
        if isinstance(node, ObjectNode):
            events.append(Event(Kind.END_OBJECT if is_end else Kind.START_OBJECT, path))
            if not is_end:
                stack.append((node, path, True))
                members = list(zip(node.keys, node.children, strict=True))
                stack.extend([(child, Path(path, key), False) for key, child in reversed(members)])
        elif isinstance(node, ContainerNode):
            events.append(Event(Kind.END_ARRAY if is_end else Kind.START_ARRAY, path))
            if not is_end:
                stack.append((node, path, True))
                children = node.children
                stack.extend([(children[at], Path(path, at), False) for at in range(len(children) - 1, -1, -1)])
        elif isinstance(node, NumberNode):
            events.append(Event(Kind.COMPLETE_NUMBER, path, node.number, raw=node.raw))
        elif isinstance(node, StringNode):
            events.append(Event(Kind.COMPLETE_STRING, path, node.text))
        else:
            events.append(Event(Kind.COMPLETE_NULL if node.value is None else Kind.COMPLETE_BOOLEAN, path, node.value))
    return events
