"""What was odd up to a step, and what is known at it as flat facts: the tabs *Diagnostics* and *State*."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from .document import clipped

if TYPE_CHECKING:
    from ..._state import ParserState
    from ...llm._state import MessageState
    from ..viewer.timeline import Timeline

__all__ = ["diagnostics", "facts"]

MOST_NOTES: Final = 200
MOST_SKIPPED: Final = 100
MOST_CALLS: Final = 100
LONGEST: Final = 1_000
WHY: Final = {"bom": "a byte order mark", "prose": "prose", "fence": "a Markdown fence"}


def diagnostics(timeline: Timeline, step: int, state: ParserState | None) -> list[dict[str, Any]]:
    """What was odd up to this step: of the input, of the message, and of the text around the JSON."""
    count = bisect_right(timeline.notes, step, key=lambda note: note.step)
    notes = timeline.notes[max(count - MOST_NOTES, 0) : count]
    found: list[dict[str, Any]] = [{"step": note.step, "text": clipped(note.text, LONGEST)} for note in notes]
    message = timeline.message(step)
    if message is not None:
        found += [{"text": clipped(str(one), LONGEST)} for one in message.diagnostics[:MOST_NOTES]]
        found += [{"text": clipped(str(one), LONGEST)} for one in message.errors[:MOST_NOTES]]
    if state is not None:
        found += [
            {"text": f"skipped at offset {one.offset}: {WHY.get(one.why, one.why)}, {one.length:,} characters"}
            for one in state.skipped[:MOST_SKIPPED]
        ]
    return found


def facts(timeline: Timeline, step: int, state: ParserState | None) -> dict[str, Any]:
    """Flat facts: of the text that is shown, and of the message that it is part of."""
    known: dict[str, Any] = {}
    if state is not None:
        known |= {
            "offset": state.index,
            "line": state.line,
            "column": state.column,
            "expecting": state.expecting,
            "is_complete": state.is_complete,
        }
    message = timeline.message(step)
    return known if message is None else known | _message(message)


def _message(message: MessageState) -> dict[str, Any]:
    usage = message.usage
    known: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "model": message.model,
        "finish_reason": message.finish_reason,
        "raw_finish_reason": message.raw_finish_reason,
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "message_is_complete": message.is_complete,
    }
    for call in message.tool_calls[:MOST_CALLS]:
        status = "failed" if call.error is not None else "complete" if call.is_complete else "open"
        known[f"call {call.index}"] = f"{call.name or '(no name yet)'}: {status}"
    return {
        name: clipped(value, LONGEST) if isinstance(value, str) else value
        for name, value in known.items()
        if value is not None
    }
