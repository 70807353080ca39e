"""`Shape`: our own small description of a type, and all that resolving knows of one.

A shape says which kinds of JSON value fit, what is shown of a value that is still being written, and what becomes of
one that is closed. Whoever describes a foreign kind of type (`from_pydantic`, `from_msgspec`, `from_json_schema`) makes
shapes; `resolve` reads them and knows nothing of where they came from.

Values flow upwards. A leaf is *made* from what the text has; a container is made from the values of its children, each
of which has been made before, once. So nothing is validated twice: what a container's ``make`` checks is the container
itself. It raises `ShapeError` for what is wrong.
"""

# Compiled with mypyc.
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from .._native import mypyc_attr
from .._path import ROOT, Path

if TYPE_CHECKING:
    from .._tree.nodes import Node

__all__ = [
    "ALL_KINDS",
    "IGNORED",
    "AnyShape",
    "ArrayShape",
    "DeferredShape",
    "Field",
    "IgnoredShape",
    "LeafShape",
    "MapShape",
    "ObjectShape",
    "Problem",
    "RefShape",
    "Shape",
    "ShapeError",
    "TupleShape",
    "followed",
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
    """One thing that is wrong: where, a short code, and what was expected, in words that never quote the text."""

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
        """One problem."""
        return cls([Problem(path, code, expected)])


@mypyc_attr(allow_interpreted_subclasses=True)
class Shape:
    """What all shapes have.

    `kinds` are the kinds of JSON value (`Node.kind`) that may fit: any other is invalid as soon as it begins. What
    `is_atomic` is shown only when complete, whatever it is. Where `is_lenient` nothing is judged, and what does not
    fit is simply not shown: inside of what is judged as a whole later. `expected` says what fits, in words.
    """

    def __init__(self, kinds: frozenset[str], expected: str, is_atomic: bool = False, is_lenient: bool = False) -> None:
        self.kinds = kinds
        self.expected = expected
        self.is_atomic = is_atomic
        self.is_lenient = is_lenient


class RefShape(Shape):
    """Stands for a shape that is not made yet: a type that contains itself. `target` is set once it is."""

    def __init__(self) -> None:
        super().__init__(ALL_KINDS, "a value")
        self.target: Shape = self


def followed(shape: Shape) -> Shape:
    """The shape itself, where a reference stands for it."""
    while isinstance(shape, RefShape):
        shape = shape.target
    return shape


class AnyShape(Shape):
    """Everything fits, and is shown as the plain value that it is."""

    def __init__(self, *, is_atomic: bool = False) -> None:
        super().__init__(ALL_KINDS, "any value", is_atomic)


class LeafShape(Shape):
    """A string, a number, a boolean or null. Only strings are ever open.

    `make` gets the closed node and gives the value; None stands for the plain value of the node. With `streams`, an
    open string is shown as its text so far. `literals` are all the strings that may come, if that is known: then a
    text that none of them begins with is invalid at once, and with `early` the only one that is left is shown before
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
        self.literals = literals  # with the value that each stands for
        self._sorted = sorted(literals or ())
        self.early = early
        self.max_length = max_length

    def literals_from(self, prefix: str) -> list[str]:
        """The first two literals that begin like this: nobody needs to know more."""
        start = bisect_left(self._sorted, prefix)
        return [literal for literal in self._sorted[start : start + 2] if literal.startswith(prefix)]


class Field(NamedTuple):
    """A key of an object: under which name its value is handed to `make` and `show`, and what it has to be."""

    name: str
    shape: Shape
    is_required: bool = False
    holds_back: bool = False
    """The object is not shown before this field is."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ObjectShape(Shape):
    """An object with fields. `show` makes a half-filled value of what is known, `make` the whole one.

    Both get the values by field name: only those that are there. A key that is no field is invalid with
    ``extra=None``; otherwise it goes by its own name with that shape (`AnyShape` for any value, `IGNORED` to leave it
    out).
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
        # By its first key, where several lead to one field.
        first_keys: dict[str, str] = {}
        for key, field in fields.items():
            if field.is_required:
                first_keys.setdefault(field.name, key)
        self.required = tuple(first_keys.values())
        self.holding = frozenset([field.name for field in fields.values() if field.holds_back])

    def field(self, key: str) -> Field | None:
        """What the value under this key is; None for a key that may not be there."""
        field = self.fields.get(key)
        if field is None and self.extra is not None:
            return Field(key, self.extra)
        return field


class IgnoredShape(Shape):
    """Whatever it is, it is left out."""

    def __init__(self) -> None:
        super().__init__(ALL_KINDS, "any value")


IGNORED: Final = IgnoredShape()


class MapShape(Shape):
    """An object with any keys, all of one shape. `check_key` raises `ShapeError`, or gives the key to show it under."""

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
    """An array of items of one shape. None for `show` and `make`: the list itself."""

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
        """What the item at this place is."""
        return self.item


class TupleShape(ArrayShape):
    """An array with a shape for each place; `item` is for all places behind those (None: there are none)."""

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
    """Judged as a whole when it closes, because whoever judges wants to see what was written, not what became of it.

    `make` gets the closed node. Until then it is shown through `shown`, a lenient shape, if there is one.
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
