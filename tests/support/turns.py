"""Turns made by hand: parts, and the turn that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unspool.llm._calls import CallArguments, ToolCall
from unspool.llm._parts import Part
from unspool.llm._requests.turn import Turn
from unspool.llm._texts import NO_TEXT

if TYPE_CHECKING:
    from unspool.llm._deltas import CallKind


def a_call(
    name: str = "f", arguments: str = "{}", index: int = 0, kind: CallKind = "function", **more: Any
) -> ToolCall:
    """A call that is whole."""
    named = more.pop("id", f"call_{index}")
    is_complete = more.pop("is_complete", True)
    text = CallArguments(NO_TEXT.add(arguments), None)
    return ToolCall(index, named, name, kind, text, is_complete=is_complete, **more)


def a_turn(format: str | None, *parts: Part, is_own: bool = True, **native: Any) -> Turn:
    """The turn with these parts, on its way back to the same format or to another one."""
    ids = {part.index: f"made_{part.index}" for part in parts if isinstance(part, ToolCall)}
    return Turn(list(enumerate(parts)), format, is_own=is_own, native=native, ids=ids)


def lost(turn: Turn) -> list[tuple[int | None, str]]:
    """The numbers of the parts with a loss, and what is lost of each."""
    return [(loss.part, loss.what) for loss in turn.losses]
