"""What resolving remembers of an open container, and what is shown of one."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, final

from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, ObjectNode
from ._shape import ArrayShape, MapShape, ObjectShape, Problem, Shape

if TYPE_CHECKING:
    from .._path import Step
    from .._tree.nodes import Node
    from ._shape import ShapeError

__all__ = [
    "HIDDEN",
    "NOTHING_FOUND",
    "Found",
    "Frame",
    "Known",
    "Outcome",
    "found",
    "frame_of",
    "is_same",
    "is_same_content",
    "shown_child",
    "shown_of",
]

HIDDEN: Final = object()  # there is nothing to show
NOTHING_FOUND: Final[tuple[Found, ...]] = ()


@final
class Found:
    """A problem on its way up: each container adds its step, and the path is made when somebody asks for it."""

    __slots__ = ("inner", "problem", "step")

    def __init__(self, problem: Problem, step: Step | None, inner: Found | None) -> None:
        self.problem = problem
        self.step = step
        self.inner = inner

    def told(self, steps: list[Step]) -> Problem:
        """The problem with its whole path, which begins with these steps."""
        steps = list(steps)
        one: Found | None = self
        while one is not None:
            if one.step is not None:
                steps.append(one.step)
            one = one.inner
        problem = self.problem
        return Problem(Path.of(*steps, *problem.path.steps), problem.code, problem.expected)


class Outcome:
    """What became of one node: the value, or what is shown of it, or HIDDEN; and what was found wrong in it, which an
    open container keeps elsewhere (`Frame`). What is broken will never be valid; what is shown of it goes without what
    is wrong.
    """

    __slots__ = ("found", "is_broken", "value")

    def __init__(self, value: object, found: tuple[Found, ...] = NOTHING_FOUND, is_broken: bool = False) -> None:
        self.value = value
        self.found = found
        self.is_broken = is_broken

    @property
    def is_wrong(self) -> bool:
        """There is a problem somewhere in it."""
        return self.is_broken or len(self.found) > 0

    def problems(self) -> list[Problem]:
        """Everything that is wrong, from the root of the open containers inwards."""
        problems: list[Problem] = []
        steps: list[Step] = []
        inner: Outcome | None = self
        while isinstance(inner, Frame):
            known = inner.known
            problems += [one.told(steps) for one in known.found[: known.found_size]]
            if known.step is not None:
                steps.append(known.step)
            inner = inner.child
        return problems if inner is None else problems + [one.told(steps) for one in inner.found]


@final
class Known:
    """What is known of an open container as long as none of its children closes: `count` of them are closed, `values`
    has what became of those, and how the open one is to be resolved.
    """

    __slots__ = (
        "child_shape",
        "count",
        "found",
        "found_size",
        "hides",
        "is_broken",
        "is_draft",
        "last",
        "name",
        "shape",
        "size",
        "step",
        "values",
    )

    def __init__(
        self,
        shape: Shape,
        hides: bool,
        count: int,
        last: Node | None,
        values: list[object] | dict[object, object],
        size: int,
        is_broken: bool,
        found: list[Found],
        found_size: int,
        step: Step | None,
        name: object,
        child_shape: Shape | None,
        is_draft: bool,
    ) -> None:
        self.shape = shape
        self.hides = hides  # it is shown only when it is complete
        self.count = count
        self.last = last  # the last closed child
        self.values = values
        self.size = size  # of a list that others may have made longer
        self.is_broken = is_broken  # one of the closed children is invalid
        self.found = found  # what is wrong in the closed children
        self.found_size = found_size
        self.step = step  # to the open child
        self.name = name  # under which its value goes; a ShapeError where the key may not be there
        self.child_shape = child_shape  # None: no child is open, or it cannot be
        self.is_draft = is_draft  # the shape is for as long as it is open: it is judged by another one when it closes

    def fits(self, node: ContainerNode) -> bool:
        """The closed children that are known are those of the node."""
        count = self.count
        return count == 0 or (count <= node._size and node._items[count - 1] is self.last)

    def fits_around(self, node: Node) -> bool:
        """Nothing but the open child of the node can have changed; it stands where the known one stood."""
        if self.child_shape is None or node.closed or not isinstance(node, ContainerNode) or not node._open:
            return False
        if node._size != self.count or not self.fits(node):
            return False
        return self.step == node._open_key if isinstance(node, ObjectNode) else isinstance(self.values, list)


@final
class Frame(Outcome):
    """What became of an open container: what is known of it, and what became of its open child."""

    __slots__ = ("child", "known", "shown_child")

    def __init__(
        self, value: object, is_broken: bool, known: Known, child: Outcome | None, shown_child: object
    ) -> None:
        self.value = value
        self.found = NOTHING_FOUND  # what is wrong in it stands in `known` and in `child`
        self.is_broken = is_broken
        self.known = known
        self.child = child
        self.shown_child = shown_child

    def renewed(self, child: Outcome) -> Frame:
        """What becomes of the container when nothing but its open child has changed."""
        known = self.known
        shown = shown_child(known.shape, child)
        value = self.value
        if not known.hides and not is_same(self.shown_child, shown):
            value = shown_of(known.shape, known.values, known.size, known.name, shown)
        return Frame(value, known.is_broken or child.is_wrong, known, child, shown)


def frame_of(outcome: Outcome | None) -> Frame | None:
    """The frame that is to be gone on from: only an open container has one."""
    return outcome if isinstance(outcome, Frame) else None


def shown_of(
    shape: Shape, values: list[object] | dict[object, object], size: int, name: object, child: object
) -> object:
    """What is shown of an open container: the values of its closed children, and what is shown of the open one."""
    if isinstance(values, list):
        array = cast("ArrayShape", shape)
        items = values[:size]
        if child is not HIDDEN:
            items.append(child)
        return items if array.show is None else array.show(items)
    members = dict(values)
    if child is not HIDDEN:
        members[name] = child
    if isinstance(shape, ObjectShape):
        if shape.holding and not shape.holding <= members.keys():
            return HIDDEN
        return shape.show(cast("dict[str, object]", members))
    show_map = cast("MapShape", shape).show
    return members if show_map is None else show_map(members)


def shown_child(shape: Shape, outcome: Outcome) -> object:
    """What a container shows of a child that is open, or broken."""
    return HIDDEN if isinstance(shape, ArrayShape) and shape.whole_items else outcome.value


def found(error: ShapeError, shape: Shape) -> tuple[Found, ...]:
    """What an error says is wrong; one that does not say what is an error all the same."""
    problems = error.problems or (Problem(ROOT, "invalid", shape.expected),)
    return tuple([Found(problem, None, None) for problem in problems])


def is_same(one: object, other: object) -> bool:
    """The same thing is shown: strings are made anew each time."""
    return one is other or (type(one) is str and type(other) is str and one == other)


def is_same_content(one: object, other: object) -> bool:
    """Two plain lists, or two plain dicts, with the same things in them."""
    if one.__class__ is list and other.__class__ is list:
        items, others = cast("list[object]", one), cast("list[object]", other)
        return len(items) == len(others) and all(map(is_same, items, others))
    if one.__class__ is dict and other.__class__ is dict:
        members, more = cast("dict[object, object]", one), cast("dict[object, object]", other)
        return list(members) == list(more) and all(map(is_same, members.values(), more.values()))
    return False
