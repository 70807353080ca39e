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
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeGuard, cast, final

from .._errors import shown_path
from .._events import Event, Kind
from .._grammar.writer import Writer
from .._native import mypyc_attr
from .._path import ROOT, Path
from .._quoting import printable
from .._tree.nodes import ContainerNode, NumberNode, ObjectNode, StringNode

if TYPE_CHECKING:
    from .._tree.nodes import Node

__all__ = [
    "ALL_KINDS",
    "ARRAY",
    "IGNORED",
    "MARKS",
    "NO_ITEMS",
    "UNWRITTEN",
    "AnyShape",
    "ArrayShape",
    "Atomic",
    "Attribute",
    "DeferredShape",
    "EmptyContainers",
    "Field",
    "Held",
    "IgnoredShape",
    "KeySearch",
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
    "UnwritableError",
    "Waiting",
    "WholeItems",
    "Writing",
    "chosen",
    "followed",
    "is_array",
    "is_exactly",
    "is_object",
    "json_text",
    "kinds_of",
    "message_of",
    "plain_copy",
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
    """One problem: its path, a short code, and the expected value, in words that never quote the text.

    As a string, it is the path, and the message of a validator or the expected value.
    """

    path: Path
    code: str
    expected: str
    message: str = ""
    """The message of the library or of a validator, as it is: it may quote the text. Empty if there was none."""
    loc: tuple[str | int, ...] = ()
    """The place as Pydantic names it, which may include the branch of a union. Empty without a message of Pydantic."""
    is_by_validator: bool = False
    """The message was written by a validator of the type, and not by the library."""

    def __str__(self) -> str:
        is_message = self.is_by_validator and self.message
        to_have = "to " if self.expected.startswith("have ") else ""
        words = printable(self.message) if is_message else f"expected {to_have}{self.expected}"
        return f"{shown_path(self.path)}: {words}"


class ShapeError(Exception):
    """A value does not fit its shape. The paths of the problems start at the value.

    `causes` are the exceptions that validators raised, by the number of the problem. `explain` finds the reasons behind
    `problems`, which takes time: it gets the number of problems that the text has before this value.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        causes: Mapping[int, BaseException] | None = None,
        explain: Callable[[int], Sequence[Problem]] | None = None,
    ) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)
        self.causes: Mapping[int, BaseException] = {} if causes is None else causes
        self.explain = explain

    @classmethod
    def of(cls, code: str, expected: str, path: Path = ROOT) -> ShapeError:
        """Return an error with one problem."""
        return cls([Problem(path, code, expected)])


def message_of(error: BaseException) -> str:
    """Return the message of an exception of the user's. It is empty if the exception cannot tell."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001
        return ""


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
        self.may_hide = False  # what makes the value of an open container may return HIDDEN
        # For the shape of a whole type: returns all problems of a closed node, as the library lists them.
        self.review: Callable[[Node], ShapeError | None] | None = None
        # For the shape of a whole type: whether it may leave out a value, which is for the items of an array only.
        self.may_omit = False
        # For the shape of a whole type: how its values are written as JSON. None: they are plain values.
        self.writing: Writing | None = None


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
    its end. `max_length` makes longer strings invalid before they end. With `is_listed`, only a few values fit, and
    `make` runs no code of the user's: such a member can tell the branches of a union apart.
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
        is_listed: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(kinds, expected, False, is_lenient)
        self.make = make
        self.is_listed = is_listed
        self.streams = streams
        self.literals = literals  # each string with its value
        self._sorted = sorted(literals or ())
        self.early = early
        self.max_length = max_length

    def accepts(self, node: Node) -> bool:
        """Return whether a closed value fits."""
        if node.kind not in self.kinds:
            return False
        if isinstance(node, StringNode) and self.literals is not None:
            return node.text in self.literals
        if self.make is not None:
            try:
                self.make(node)
            except ShapeError:
                return False
        return True

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


@final
class Held:
    """A closed value that is not final yet: its node, its value if it is valid, and the value that is shown."""

    __slots__ = ("is_valid", "node", "shown", "value")

    def __init__(self, node: Node, value: object, shown: object, is_valid: bool) -> None:
        self.node = node
        self.value = value
        self.shown = shown
        self.is_valid = is_valid


class Waiting(NamedTuple):
    """Why the value under a key is not final when it closes. Such a value is in a `Held` until it is judged.

    One of `winners` may still come: these keys win over this one. Or a validator asks for the fields before this one:
    `judge` gets the held value and all values, once there is a value under a key of each group of `needs`. Without
    `needs`, the value waits for the end of the object.
    """

    winners: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] | None = None
    judge: Callable[[Held, dict[str, object]], object] | None = None


@mypyc_attr(allow_interpreted_subclasses=True)
class ObjectShape(Shape):
    """An object with fields. `show` makes a half-filled value of the known fields, `make` the whole one.

    Both get a dict of the values that are there, by field name. `extra` is the shape of all other keys: `AnyShape` for
    any value, `IGNORED` to leave them out, None to make them invalid. An extra key is its own field name.

    `attributes` are the names of fields in the class, for the keys that differ. With `has_defaults`, absent fields have
    a value in a complete object. `required` adds fields to those that are marked as required: the keys of each, one of
    which has to come. `waiting` holds the keys whose values are not final when they close, in the order of the fields;
    there, each key is its own field name.
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
        required: Sequence[Sequence[str]] = (),
        waiting: Mapping[str, Waiting] | None = None,
        attributes: Mapping[str, str] | None = None,
        has_defaults: bool = False,
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(frozenset({OBJECT}), expected, is_atomic, is_lenient)
        self.fields = fields  # by key; several keys may lead to one field name
        self.attributes: Mapping[str, str] = attributes or {}
        self.has_defaults = has_defaults
        self.show = show
        self.make = make
        self.extra = extra
        self.max_keys = max_keys
        # If several keys lead to one field, the first one names it in problems.
        first_keys: dict[str, str] = {}
        for key, field in fields.items():
            if field.is_required:
                first_keys.setdefault(field.name, key)
        names: dict[str, tuple[str, ...]] = {key: (name,) for name, key in first_keys.items()}
        names |= {keys[0]: tuple(keys) for keys in required}
        order = {key: index for index, key in enumerate(fields)}
        self.required = tuple([(key, names[key]) for key in sorted(names, key=lambda key: order.get(key, 0))])
        self.waiting = dict(waiting or {})
        self.holding = frozenset([field.name for field in fields.values() if field.holds_back])

    def field(self, key: str) -> Field | None:
        """Return the field for a key; None for a forbidden key."""
        field = self.fields.get(key)
        if field is None and self.extra is not None:
            return Field(key, self.extra)
        return field

    def attribute(self, key: str) -> Attribute:
        """Return the name of the value in the object: that of a field, or an extra key in a tuple."""
        field = self.fields.get(key)
        return (key,) if field is None else self.attributes.get(key, field.name)


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
    """An array with one shape for all items. Without `show` and `make`, the value is the list itself.

    With `is_set`, the complete value has another order.
    """

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
        self.is_set = False

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


NO_ITEMS: Final = "WholeItems is for arrays; mark the values of an object with Atomic instead"


@mypyc_attr(native_class=False)
class WholeItems(Marker):
    """Show only complete items of an array: ``Annotated[list[Day], WholeItems]``."""

    __slots__ = ()


# Unions


@mypyc_attr(allow_interpreted_subclasses=True)
class UnionShape(Shape):
    """One of several shapes. Nothing is shown until the branch is decided.

    The kind of the value decides if only one branch accepts it. If not, for objects, the value of the `discriminator`
    key decides as soon as it closes. With `by_literals`, a closed member that a branch does not list rules the branch
    out, and the last branch that is left is decided. If not, `make` gets the closed node and judges it as a whole.
    """

    def __init__(
        self,
        branches: Sequence[Shape],
        make: Callable[[Node], object],
        *,
        discriminator: str | None = None,
        tags: Mapping[tuple[str, object], Shape] | None = None,
        by_literals: bool = False,
        expected: str = "one of several",
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(ALL_KINDS, expected, is_atomic, is_lenient)  # `kinds_of` asks the branches
        self.branches = branches
        self.make = make
        self.discriminator = discriminator
        self.tags: Mapping[tuple[str, object], Shape] = tags or {}  # by kind and value: True is not 1
        self.by_literals = by_literals
        self._search = None if discriminator is None else KeySearch(discriminator)
        self._by_kind: dict[str, list[Shape]] = {}
        self._listed: ListedMembers | None = None

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
        if self.by_literals and node.kind == OBJECT:
            return self._last_left(node, branches)
        if self.discriminator is None or node.kind != OBJECT:
            return None
        search = cast("KeySearch", self._search)
        tag = search.child(node)
        if tag is None or not (tag.closed or isinstance(tag, ContainerNode)):
            return None
        search.forget()
        branch = None if isinstance(tag, ContainerNode) else self.tags.get((tag.kind, tag.value))
        if branch is None:
            raise ShapeError.of("unknown_tag", "a known " + repr(self.discriminator), Path(ROOT, self.discriminator))
        return branch

    def _last_left(self, node: Node, branches: list[Shape]) -> Shape | None:
        """Return the only branch that the members of an object leave; None if there are several.

        The members count in their order, so a later one never changes a decision that was made.
        """
        known = self._listed
        if known is None:
            known = self._listed = ListedMembers(branches)
        left = known.owners
        for key, child in known.children(node):
            ruled_out = {number for number, leaf in known.by_key[key] if not leaf.accepts(child)}
            left = {number: owner for number, owner in left.items() if number not in ruled_out}
            owners = set(left.values())
            if not owners:
                raise ShapeError.of("unknown_tag", f"a known {key!r}", Path(ROOT, key))
            if len(owners) == 1:
                known.forget()
                return branches[owners.pop()]
        return None


@final
class ListedMembers:
    """The members of the branches of a union that have a few values only.

    Branches of unions inside are branches, too: `owners` has the number of the outer branch for each of them.
    """

    def __init__(self, branches: list[Shape]) -> None:
        self.by_key: dict[str, list[tuple[int, LeafShape]]] = {}
        self.owners: dict[int, int] = {}
        seen: set[int] = set()
        to_add = [(owner, branch) for owner, branch in enumerate(branches)]
        while to_add:
            owner, branch = to_add.pop()
            shape = followed(branch)
            if isinstance(shape, UnionShape) and id(shape) not in seen:
                seen.add(id(shape))
                to_add.extend([(owner, inner) for inner in shape.branches_for(OBJECT)])
                continue
            number = len(self.owners)
            self.owners[number] = owner
            if isinstance(shape, ObjectShape) and not shape.is_lenient:
                for key, field in shape.fields.items():
                    leaf = followed(field.shape)
                    if isinstance(leaf, LeafShape) and leaf.is_listed and key not in shape.waiting:
                        self.by_key.setdefault(key, []).append((number, leaf))
        self._searches = [KeySearch(key) for key in self.by_key]

    def forget(self) -> None:
        """Forget the last text, once a decision is made."""
        for search in self._searches:
            search.forget()

    def children(self, node: Node) -> list[tuple[str, Node]]:
        """Return the first child under each of these keys, in the order of the text: closed ones, and containers."""
        assert isinstance(node, ObjectNode)
        places: list[tuple[int, str, Node]] = []
        for search in self._searches:
            place = search.place(node)
            if place >= 0:
                places.append((place, search.key, node._items[place]))
            elif node._open_key == search.key and isinstance(node._open[0], ContainerNode):
                places.append((node._size, search.key, node._open[0]))
        places.sort(key=_place)
        return [(key, child) for _, key, child in places]


def _place(found: tuple[int, str, Node]) -> int:
    return found[0]


MAX_SEARCHES: Final = 64
"""The number of objects that a search remembers: a type may be read from many texts in turns."""


@final
class KeySearch:
    """Finds the first child under a key: a second one must not change a decision that was made.

    The states of one text share the list of their keys, which only grows. So a search goes on where the last one ended,
    and the key may come after very many others.
    """

    __slots__ = ("_known", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        # For some objects, by the id of their keys: the keys, and how many of them are others.
        self._known: dict[int, tuple[list[str], int]] = {}

    def place(self, node: Node) -> int:
        """Return the number of the child; -1 if there is none, or only an open one."""
        assert isinstance(node, ObjectNode)
        keys, size = node._keys, node._size
        known = self._known.get(id(keys))
        start = known[1] if known is not None and known[0] is keys else 0
        if start < size:
            place = -1
            try:
                place = keys.index(self.key, start, size)
            except ValueError:
                start = size
            else:
                start = place
            if len(self._known) >= MAX_SEARCHES:
                self.forget()
            self._known[id(keys)] = (keys, start)
            return place
        return -1

    def forget(self) -> None:
        """Forget the texts, once a decision is made."""
        self._known = {}

    def child(self, node: Node) -> Node | None:
        """Return the child, closed or open."""
        assert isinstance(node, ObjectNode)
        place = self.place(node)
        if place >= 0:
            return node._items[place]
        return node._open[0] if node._open_key == self.key else None


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


# JSON

Attribute: TypeAlias = "str | tuple[str]"
"""The name of a field, or the key of an extra value in a tuple."""
UNWRITTEN: Final = object()


class UnwritableError(Exception):
    """A value has no JSON form: its library cannot write it, or a serializer failed."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Writing:
    """How the values of a type are written as JSON, part by part. This one is for plain values."""

    is_whole: bool = False
    """Only the complete value can be written: a serializer of the user's may make anything of it."""

    def whole(self, value: Any) -> Any:
        """Return the JSON of a value. Absent fields are left out. Raises `UnwritableError`."""
        return plain_copy(value)

    def unwrapped(self, value: Any) -> Any:
        """Return the value that is written in place of this one."""
        return value

    def is_written_whole(self, value: object) -> bool:
        """Return whether a container can be written only when it is complete."""
        return False

    def open_key(self, holder: object, attribute: Attribute) -> str | None:
        """Return the key of a value in an object. None if it is written when it is complete, or not at all."""
        return attribute if isinstance(attribute, str) else attribute[0]

    def member(self, holder: object, attribute: Attribute, value: object) -> tuple[str, Any] | None:
        """Return the key and the JSON of a closed value in an object. None if it is not written.

        Instead of the JSON there is UNWRITTEN if it is that of the value itself.
        """
        return attribute if isinstance(attribute, str) else attribute[0], UNWRITTEN

    def members(self, value: object) -> dict[Attribute, Any] | None:
        """Return the values that are there in an object. None for anything else."""
        return cast("dict[Attribute, Any]", value) if isinstance(value, dict) else None

    def map_key(self, name: object) -> str:
        """Return the JSON of a key of a dict."""
        return str(name)


def plain_copy(value: Any) -> Any:
    """Return a copy of plain data, as JSON."""
    if is_object(value):
        return {key: plain_copy(item) for key, item in value.items()}
    return [plain_copy(item) for item in value] if is_array(value) else value


def is_exactly(value: object, *classes: type) -> bool:
    """Return whether the class of a value is one of these, and not a subclass."""
    return type(value) in classes


def is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    """Return whether a value is a dict, in a form that type checkers accept."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is a list, or a tuple that is read like one."""
    return isinstance(value, (list, tuple))


# Containers that have not begun


@final
class EmptyContainers:
    """Shows the fields of an object that have not begun as empty, if they are arrays or objects with any keys.

    A field that may also be null, or of another kind, is left out: its kind is not known yet. Each value gets
    containers of its own.
    """

    __slots__ = ("_makers", "_shapes")

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes  # by field name
        self._makers: dict[str, Callable[[], object]] | None = None  # references have no target at first

    def added_to(self, there: dict[str, object]) -> dict[str, object]:
        """Return the fields that are there, and empty containers for others."""
        makers = self._makers
        if makers is None:
            makers = self._makers = {}
            for name, shape in self._shapes.items():
                maker = _empty_maker(shape)
                if maker is not None:
                    makers[name] = maker
        filled = dict(there)
        for name, maker in makers.items():
            if name not in filled:
                filled[name] = maker()
        return filled


def _empty_maker(shape: Shape) -> Callable[[], object] | None:
    current: Shape | None = followed(shape)
    while isinstance(current, DeferredShape):
        current = None if current.shown is None else followed(current.shown)
    if isinstance(current, ArrayShape):
        show_list = current.show
        return list if show_list is None else _EmptyShown(show_list, list)
    if isinstance(current, MapShape):
        show_map = current.show
        return dict if show_map is None else _EmptyShown(show_map, dict)
    return None


@final
class _EmptyShown:
    """Shows an empty list or dict as the type does."""

    __slots__ = ("_make", "_show")

    def __init__(self, show: Callable[[Any], object], make: Callable[[], object]) -> None:
        self._show = show
        self._make = make

    def __call__(self) -> object:
        return self._show(self._make())


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
