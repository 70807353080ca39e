"""Gates: whether one argument of a call is there for good, before the whole call is, so that work can start early."""

# Compiled with mypyc.
from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, cast, final

from .._missing import MISSING
from .._path import Path
from ..typed._shape import ArrayShape, DeferredShape, MapShape, ObjectShape, ShapeError, UnionShape, chosen
from ._parts import Record

if TYPE_CHECKING:
    from .._path import Step
    from .._tree.nodes import Node
    from ..typed._shape import Shape
    from ._calls import ToolCall
    from ._document import Document
    from ._faults import MessageError

__all__ = ["Gate", "GateStatus"]


class GateStatus(StrEnum):
    """What a gate says."""

    WAITING = "waiting"
    """The argument is not there, or not complete: it may come."""
    READY = "ready"
    """The argument is complete and valid."""
    ABSENT = "absent"
    """The argument is not there, and cannot come any more."""
    FAILED = "failed"
    """The call has failed, whatever the argument is: it was broken, invalid or cut off."""


@final
class Gate(Record):
    """What is known of one argument: its `value` if it is ready, and the `error` of the call if that has failed.

    The value is the plain one, as it was written, also where the tool has a type: it has been found valid.
    """

    __slots__ = ("error", "status", "value")
    __match_args__ = ("status", "value", "error")

    def __init__(
        self, status: GateStatus = GateStatus.WAITING, value: Any = MISSING, error: MessageError | None = None
    ) -> None:
        self.status: Final = status
        self.value: Final = value
        self.error: Final = error

    @property
    def is_ready(self) -> bool:
        """The argument is complete and valid, and the call has not failed."""
        return self.status is GateStatus.READY

    @property
    def is_settled(self) -> bool:
        """Nothing more is to be waited for, but that a call that is not complete may still fail."""
        return self.status is not GateStatus.WAITING


WAITING: Final = Gate()
ABSENT: Final = Gate(GateStatus.ABSENT)


def gate_at(call: ToolCall, document: Document | None, path: str | Path | tuple[Step, ...]) -> Gate:
    """The gate of a call at a path."""
    if isinstance(path, str):
        path = Path.parse(path) if path.startswith("$") else (path,)
    steps = tuple(path)
    if call.error is not None:
        return Gate(GateStatus.FAILED, error=call.error)
    if call.name is None and not call.is_complete:  # which tool it is for decides what is valid
        return WAITING
    if document is None:  # free text, which has no parts
        return Gate(GateStatus.READY, call.value) if call.is_complete and not steps else _not_there(call.is_complete)
    root = document.parser.root
    if root is None:
        return WAITING
    resolver = document.resolver
    return _gate(root, None if resolver is None else resolver.shape, steps)


def _not_there(is_final: bool) -> Gate:
    return ABSENT if is_final else WAITING


def _gate(node: Node, shape: Shape | None, steps: tuple[Step, ...]) -> Gate:
    """Down the tree, and its type as far as there is one."""
    for step in steps:
        if shape is not None:
            try:
                shape, _ = chosen(shape, node)
            except ShapeError:
                return WAITING
            if isinstance(shape, (UnionShape, DeferredShape)) and not node.closed:
                return WAITING  # it is judged as a whole, and so is what is inside
        child = node.child_at(step)
        if child is None:
            return _not_there(node.closed)
        node, shape = child, _below(shape, step)
    return Gate(GateStatus.READY, node.value) if node.closed else WAITING


def _below(shape: Shape | None, step: Step) -> Shape | None:
    """The type of what stands at a step; None if it has none of its own."""
    if isinstance(shape, ArrayShape):
        return shape.item_at(cast("int", step))
    if isinstance(shape, MapShape):
        return shape.item
    if not isinstance(shape, ObjectShape):
        return None
    field = shape.field(cast("str", step))
    return None if field is None else field.shape
