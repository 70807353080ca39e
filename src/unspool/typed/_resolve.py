"""A shape and the tree of a text so far, to a typed value: each part made once, unchanged parts the same objects.

Resolving goes down the tree and comes back up with values. A container that is still open leaves a `Frame` behind: the
values of its closed children, and the frame of the one that is open. The next state starts from there, so the work for
a fragment is that of the open containers and of what is new.

Frames never change once they are made; the lists in them grow, but each frame sees its own part (`sharing`). So an
older cache stays valid: two futures of one past can both be resolved from it. A frame is used again only where its
last closed child is the very node that stands there now.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, cast, final

from ._builder import begin
from ._frames import HIDDEN, Outcome, frame_of
from ._outcome import Complete, Invalid, Missing, Partial, Resolution

if TYPE_CHECKING:
    from .._state import ParserState
    from .._tree.nodes import ContainerNode, Node
    from ._builder import Builder
    from ._frames import Frame
    from ._shape import Shape

__all__ = ["Cache", "resolve", "resolve_tree"]


@final
class Cache:
    """What `resolve` hands back for the next time."""

    __slots__ = ("_is_complete", "_outcome", "_resolution")

    def __init__(self, is_complete: bool, outcome: Outcome, resolution: Resolution[object]) -> None:
        self._is_complete = is_complete
        self._outcome = outcome
        self._resolution = resolution


def resolve(shape: Shape, state: ParserState, cache: Cache | None = None) -> tuple[Resolution[object], Cache]:
    """What `state` is worth for a type, and the cache to pass on with a later state. Pure: it may be asked again."""
    return resolve_tree(shape, state.root, state.is_complete, cache)


def resolve_tree(
    shape: Shape, root: Node | None, is_complete: bool, cache: Cache | None
) -> tuple[Resolution[object], Cache]:
    """As `resolve`, for the tree of a state."""
    if cache is not None and cache._resolution._shape is not shape:
        cache = None
    if cache is not None and root is cache._resolution._root:
        if is_complete is cache._is_complete:
            return cache._resolution, cache
        outcome = cache._outcome  # the same tree, but what follows it is wrong
    elif root is None:
        outcome = Outcome(HIDDEN)
    else:
        outcome = _resolve(shape, root, None if cache is None else frame_of(cache._outcome))
    value = None if outcome.value is HIDDEN else outcome.value
    resolution: Resolution[object]
    if outcome.is_wrong:
        resolution = Invalid(value, outcome, shape, root)
    elif is_complete:
        resolution = Complete(value, None, shape, root)
    elif outcome.value is HIDDEN:
        resolution = Missing(None, None, shape, root)
    else:
        resolution = Partial(value, None, shape, root)
    return resolution, Cache(is_complete, outcome, resolution)


def _resolve(shape: Shape, node: Node, frame: Frame | None) -> Outcome:
    """First down to where something else has changed than the open child; there by the rules; then up again."""
    around: list[Frame] = []
    while frame is not None and frame.known.fits_around(node):
        around.append(frame)
        shape = cast("Shape", frame.known.child_shape)
        frame = frame_of(frame.child)
        node = cast("ContainerNode", node)._open[0]
    outcome = _resolve_by_the_rules(shape, node, frame)
    for outer in reversed(around):
        outcome = outer.renewed(outcome)
    return outcome


def _resolve_by_the_rules(shape: Shape, node: Node, frame: Frame | None) -> Outcome:
    stack: list[Builder] = []
    outcome = begin(shape, node, frame, stack)
    while stack:
        builder = stack[-1]
        if outcome is not None:
            builder.take(outcome)
        child = builder.next_child()
        if child is None:
            stack.pop()
            outcome = builder.finish()
        else:
            outcome = builder.begin_child(child, stack)
    assert outcome is not None
    return outcome
