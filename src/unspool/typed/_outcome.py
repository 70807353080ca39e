"""The four outcomes of resolving a text for a type: `Missing`, `Partial`, `Complete` and `Invalid`."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Generic, Literal, NoReturn, TypeAlias, TypeVar, cast

from .._errors import UnspoolError
from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, ObjectNode
from ._shape import (
    AnyShape,
    ArrayShape,
    DeferredShape,
    MapShape,
    ObjectShape,
    RefShape,
    ShapeError,
    UnionShape,
    chosen,
    followed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._path import Step
    from .._repairs import Repair
    from .._tree.nodes import Node
    from ._resolve import NodeResult
    from ._shape import Problem, Shape

__all__ = ["UNMADE", "Complete", "Invalid", "InvalidError", "Missing", "Partial", "Resolution"]

T = TypeVar("T")
R = TypeVar("R")
FieldState: TypeAlias = Literal["pending", "growing", "complete"]
UNMADE: Final = object()
"""Stands for a value that no caller has read."""
JudgedPlace: TypeAlias = "tuple[tuple[Step, ...], bool]"
"""The steps to a node that is wrong, and whether nothing inside it was judged."""


class InvalidError(UnspoolError, ValueError):
    """No continuation of the text can become a value of the type. `invalid` holds the problems and the value so far.

    If a validator raised an exception, the message is part of the text, and the exception is the ``__cause__``.
    """

    def __init__(self, invalid: Invalid[object]) -> None:
        super().__init__(invalid)
        self.invalid = invalid
        self.__cause__ = invalid.cause

    @property
    def path(self) -> Path:
        """The path of the first problem."""
        return self.invalid.path

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All known problems."""
        return self.invalid.problems

    def __reduce__(self) -> tuple[object, ...]:
        # Without the value: the classes of half-filled values are made at run time, and cannot be pickled.
        return _restored, (self.problems,)

    def _message(self) -> str:
        first, *others = self.problems
        more = f" (and {len(others)} more)" if others else ""
        return f"{first.code}: {first}{more}"


def _restored(problems: tuple[Problem, ...]) -> InvalidError:
    """Restore a pickled error: pickle needs a function of the module."""
    invalid: Invalid[object] = Invalid(None, None, AnyShape(), None)
    invalid._problems = problems
    return InvalidError(invalid)


class Resolution(Generic[T]):
    """The base class of the four outcomes."""

    __slots__ = ("_judged", "_problems", "_result", "_root", "_shape", "_value", "repairs")

    is_complete: ClassVar[bool] = False
    """The text is complete and the value is one of the type, fully validated."""

    def __init__(self, value: object, result: NodeResult | None, shape: Shape, root: Node | None) -> None:
        self._value = value  # UNMADE: the result makes it
        self._result = result  # None: nothing is wrong
        self._judged = result  # the problems where they were found, for `is_complete_at`
        self._problems: tuple[Problem, ...] | None = None
        self._shape = shape
        self._root = root
        self.repairs: tuple[Repair, ...] = ()
        """From `iter_partial` with `repair`: the changes that made the text readable. A `ParserState` has its own."""

    @property
    def value(self) -> T:
        """The value so far: half filled, or the real one once it is complete; None if there is nothing to show yet.

        An open value is a copy of what it holds, so it is made when you ask for it, and kept.
        """
        if self._value is UNMADE:
            self._value = None if self._result is None else self._result.value_or_none()
        return cast("T", self._value)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All known problems."""
        problems = self._problems
        if problems is None:
            problems = self._problems = () if self._result is None else tuple(self._result.problems())
        return problems

    @property
    def invalid(self) -> Invalid[T] | None:
        """The resolution itself if it is invalid, otherwise None."""
        return None

    @property
    def missing(self) -> tuple[Path, ...]:
        """The paths of the required fields that have not begun, in all objects that have."""
        return tuple(_missing(self._shape, self._root))

    def is_complete_at(self, path: str | Path | tuple[Step, ...]) -> bool:
        """Return whether the value at this path is complete, was judged, and is valid.

        Once True, the answer stays True: no continuation of the text changes the value or makes it invalid. A validator
        of an object or array around it may still refuse that one, or make another one of it. If the text leaves out a
        field that has a default, the field is complete with its object.
        """
        steps = Path.parse(path).steps if isinstance(path, str) else tuple(path)
        found = [] if self._judged is None else self._judged.all_found()
        places = [(tuple(one.place(around)), one.covers) for around, one in found]
        return self._root is not None and _is_judged(self._shape, self._root, steps, places)

    def state_at(self, path: str | Path | tuple[Step, ...]) -> FieldState:
        """Return the state of the value at this path: ``"pending"``, ``"growing"`` or ``"complete"``.

        It is pending until its text begins, and complete when `is_complete_at` says so.
        """
        if self.is_complete_at(path):
            return "complete"
        return "pending" if self._root is None or self._root.at(path) is None else "growing"

    def get(self, read: Callable[[T], R]) -> R | None:
        """Return what `read` finds in the value, and None if a part on its way is missing.

        Type checkers know the result: ``partial.get(lambda trip: trip.stops[-1].name)`` is a ``str | None``.
        """
        try:
            return read(self.value)
        except (AttributeError, IndexError, KeyError, TypeError):
            return None

    def copied(self) -> Resolution[T]:
        """Return the same outcome as another object."""
        return type(self)(self._value, self._result, self._shape, self._root)

    def __copy__(self) -> Resolution[T]:
        return self  # it never changes

    def __deepcopy__(self, memo: object) -> Resolution[T]:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("an outcome cannot be pickled; a ParserState, or a complete value, can")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class Missing(Resolution[T]):
    """There is nothing to show yet."""

    __slots__ = ()


class Partial(Resolution[T]):
    """The value is still being written."""

    __slots__ = ()


class Complete(Partial[T]):
    """The value is the real one."""

    __slots__ = ()

    is_complete: ClassVar[bool] = True


class Invalid(Partial[T]):
    """No continuation of the text can be valid. `value` leaves the invalid parts out."""

    __slots__ = ()

    @property
    def invalid(self) -> Invalid[T] | None:
        return self

    @property
    def path(self) -> Path:
        """The path of the first problem."""
        return self.problems[0].path

    @property
    def cause(self) -> BaseException | None:
        """The exception behind the first problem, if a validator raised one."""
        return None if self._result is None else self._result.cause()

    def __repr__(self) -> str:
        return f"Invalid({self.path}, {[problem.code for problem in self.problems]})"


def _is_judged(shape: Shape, node: Node, steps: tuple[Step, ...], places: list[JudgedPlace]) -> bool:
    """Return whether the value at these steps was judged, and is valid."""
    for place, covers in places:
        if place[: len(steps)] == steps or (covers and steps[: len(place)] == place):
            return False
    current: Shape | None = shape
    for index, step in enumerate(steps):
        around = None
        if current is not None:
            around = current = _judging(current, node)
            if current is None:
                return False  # everything in the node is judged when it closes
            is_waiting = isinstance(current, ObjectShape) and step in current.waiting
            if is_waiting and not _is_settled(cast("ObjectShape", current), node, steps[: index + 1], places):
                return False
            current = _below(current, step)
        child = node.child_at(step)
        if child is None:
            return _is_default(around, node, steps[:index], steps[index:], places)
        node = child
    return node.closed


def _is_default(
    shape: Shape | None, node: Node, around: tuple[Step, ...], steps: tuple[Step, ...], places: list[JudgedPlace]
) -> bool:
    """Return whether the text left out a field of a valid object. These are the steps to the object, and inside it."""
    if not node.closed or any(place[: len(around)] == around for place, _ in places):
        return False
    owner = shape
    for step in steps:
        while isinstance(owner, (DeferredShape, RefShape)):
            owner = owner.target if isinstance(owner, RefShape) else owner.shown
        if not (isinstance(owner, ObjectShape) and owner.has_defaults and step in owner.fields):
            return False
        owner = owner.fields[str(step)].shape
    return True


def _judging(shape: Shape, node: Node) -> Shape | None:
    """Return the shape that judges the parts of a node. Without one, the parts are judged when the node closes."""
    try:
        current, _ = chosen(shape, node)
    except ShapeError:
        return None
    return None if isinstance(current, (DeferredShape, UnionShape)) and not node.closed else current


def _is_settled(shape: ObjectShape, node: Node, steps: tuple[Step, ...], places: list[JudgedPlace]) -> bool:
    """Return whether the value under a key that waits was judged, with the object or before."""
    around = steps[:-1]
    if node.closed and not any(place[: len(around)] == around for place, _ in places):
        return True
    assert isinstance(node, ObjectNode)
    waiting = shape.waiting[str(steps[-1])]
    if waiting.winners or waiting.needs is None:
        return False
    wrong = {place[len(around)] for place, _ in places if len(place) > len(around) and place[: len(around)] == around}
    final = set(node._keys[: node._size]) - wrong
    final -= {key for key, other in shape.waiting.items() if other.winners}
    return all(not final.isdisjoint(group) for group in waiting.needs)


def _missing(shape: Shape, root: Node | None) -> list[Path]:
    """Walk along the open containers: everything else is complete, or has not begun."""
    if root is None:
        shape = followed(shape)
        return _absent(shape, ROOT, ()) if isinstance(shape, ObjectShape) else []
    paths: list[Path] = []
    path, node = ROOT, root
    while isinstance(node, ContainerNode) and not node.closed:
        current = _structure(shape, node)
        if isinstance(node, ObjectNode):
            keys = node.keys
            if isinstance(current, ObjectShape):
                paths += _absent(current, path, keys)
            step: Step = keys[-1] if keys else ""
        else:
            step = len(node) - 1
        inner = node.child(len(node) - 1) if len(node) else None
        below = None if inner is None else _below(current, step)
        if inner is None or below is None:
            break
        shape, path, node = below, Path(path, step), inner
    return paths


def _structure(shape: Shape, node: Node) -> Shape | None:
    current: Shape | None = shape
    try:
        while current is not None:
            current, _ = chosen(current, node)
            if not isinstance(current, DeferredShape):
                break
            current = current.shown
    except ShapeError:
        return None
    return current


def _below(shape: Shape | None, step: Step) -> Shape | None:
    if isinstance(shape, ObjectShape) and isinstance(step, str):
        field = shape.field(step)
        return None if field is None else field.shape
    if isinstance(shape, MapShape):
        return shape.item
    return shape.item_at(step) if isinstance(shape, ArrayShape) and isinstance(step, int) else None


def _absent(shape: ObjectShape, path: Path, keys: tuple[str, ...]) -> list[Path]:
    there = {shape.fields[key].name for key in keys if key in shape.fields}
    return [Path(path, key) for key, names in shape.required if there.isdisjoint(names)]
