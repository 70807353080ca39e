"""`Event`: one small immutable object per thing that became known about the document."""

# Compiled with mypyc.
from __future__ import annotations

from enum import StrEnum

from ._native import TYPE_CHECKING, final, mypyc_attr

if TYPE_CHECKING:
    from typing import Any, ClassVar

    from ._path import Path

__all__ = ["ErrorEvent", "Event", "Kind"]


class Kind(StrEnum):
    """The kinds of events. A member equals its own name in lower case: ``event.kind == "start_object"``."""

    START_OBJECT = "start_object"
    START_ARRAY = "start_array"
    START_STRING = "start_string"
    PARTIAL_STRING = "partial_string"
    COMPLETE_STRING = "complete_string"
    COMPLETE_NUMBER = "complete_number"
    COMPLETE_BOOLEAN = "complete_boolean"
    COMPLETE_NULL = "complete_null"
    END_OBJECT = "end_object"
    END_ARRAY = "end_array"
    ERROR = "error"


@mypyc_attr(acyclic=True, free_list_len=1)
class Event:
    """News about the node `node_id` at `path`, immutable.

    `value` is the new text for ``partial_string``, the whole value for the ``complete_`` kinds, the `JSONSyntaxError`
    for ``error``, and None otherwise. `raw` is a number as it is spelled in the text. `offset` is the position in the
    text: of the bracket, the quote, the character that ends a number or a literal, or the first character of new string
    text.
    """

    __slots__ = ("_kind", "_node_id", "_offset", "_path", "_raw", "_value")
    __match_args__: ClassVar[tuple[str, ...]] = ("kind", "path", "value")

    def __init__(
        self, kind: Kind, path: Path, value: Any = None, node_id: int = -1, offset: int = -1, raw: str | None = None
    ) -> None:
        self._kind = kind
        self._path = path
        self._value = value
        self._node_id = node_id
        self._offset = offset
        self._raw = raw

    @property
    def kind(self) -> Kind:
        """What happened."""
        return self._kind

    @property
    def path(self) -> Path:
        """The place of the node."""
        return self._path

    @property
    def value(self) -> Any:
        """The new text, the whole value or the error."""
        return self._value

    @property
    def node_id(self) -> int:
        """The id of the node."""
        return self._node_id

    @property
    def offset(self) -> int:
        """The position in the text."""
        return self._offset

    @property
    def raw(self) -> str | None:
        """A number as it is spelled in the text."""
        return self._raw

    def __repr__(self) -> str:
        value = "" if self.value is None else f", {self.value!r}"
        return f"Event({self.kind.value}, {self.path}{value}, node_id={self.node_id}, offset={self.offset})"

    def _fields(self) -> tuple[object, ...]:
        return (self._kind, self._path, self._value, self._node_id, self._offset, self._raw)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return self._fields() == other._fields() and type(self._value) is type(other._value)

    def __hash__(self) -> int:
        return hash((self._kind, self._node_id, self._offset))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._fields()


@final
class ErrorEvent(Event):
    """An event of kind ``error``. Only this kind can be part of a reference cycle, once its error is raised."""

    __slots__ = ()
