"""The four outcomes of resolving a text for a type: `Missing`, `Partial`, `Complete` and `Invalid`."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from .._errors import UnspoolError, shown_path
from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, ObjectNode
from ._shape import ArrayShape, DeferredShape, MapShape, ObjectShape, ShapeError, chosen, followed

if TYPE_CHECKING:
    from .._path import Step
    from .._tree.nodes import Node
    from ._resolve import NodeResult
    from ._shape import Problem, Shape

__all__ = ["Complete", "Invalid", "InvalidError", "Missing", "Partial", "Resolution"]

T = TypeVar("T")


class InvalidError(UnspoolError, ValueError):
    """No continuation of the text can become a value of the type. `invalid` holds the problems and the value so far."""

    def __init__(self, invalid: Invalid[object]) -> None:
        super().__init__(invalid)
        self.invalid = invalid

    @property
    def path(self) -> Path:
        """The path of the first problem."""
        return self.invalid.path

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All known problems."""
        return self.invalid.problems

    def __str__(self) -> str:
        first, *others = self.problems
        more = f" (and {len(others)} more)" if others else ""
        return f"{first.code}: {shown_path(first.path)}: expected {first.expected}{more}"


class Resolution(Generic[T]):
    """The base class of the four outcomes."""

    __slots__ = ("_problems", "_result", "_root", "_shape", "value")

    is_complete: ClassVar[bool] = False
    """The text is complete and the value is one of the type, fully validated."""

    def __init__(self, value: object, result: NodeResult | None, shape: Shape, root: Node | None) -> None:
        self.value = cast("T", value)
        """The value so far: half filled, or the real one once it is complete; None if there is nothing to show yet."""
        self._result = result  # None: nothing is wrong
        self._problems: tuple[Problem, ...] | None = None
        self._shape = shape
        self._root = root

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
        """Return whether the value at this path is complete and valid."""
        steps = Path.parse(path).steps if isinstance(path, str) else tuple(path)
        node = None if self._root is None else self._root.at(steps)
        if node is None or not node.closed:
            return False
        return not any(_overlap(problem.path.steps, steps) for problem in self.problems)

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

    def __repr__(self) -> str:
        return f"Invalid({self.path}, {[problem.code for problem in self.problems]})"


def _overlap(one: tuple[Step, ...], other: tuple[Step, ...]) -> bool:
    length = min(len(one), len(other))
    return one[:length] == other[:length]


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
    return [Path(path, key) for key in shape.required if shape.fields[key].name not in there]
