"""Messages as plain JSON: a state as a whole, and what changed from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...._missing import MISSING
from ....llm._changes import (
    ContentAdded,
    ContentValueChanged,
    MessageFinished,
    MessageStarted,
    Noticed,
    ReasoningAdded,
    RefusalAdded,
    ToolArgumentsAdded,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
    UsageCounted,
)
from ...viewer.tracks import CONTENT, call_track

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....llm._calls import ToolCall
    from ....llm._changes import MessageEvent
    from ....llm._deltas import Usage
    from ....llm._faults import MessageError
    from ....llm._quirks import Diagnostic
    from ....llm._state import MessageState
    from .stages import Line

    ValueOf = Callable[[str], object]
    """The value of a text as it stands, by the name of its track; MISSING where there is none."""

__all__ = ["change_line", "state_line"]


def state_line(state: MessageState, value_of: ValueOf) -> Line:
    """All that is known of a message."""
    return {
        "role": state.role,
        "id": state.id,
        "model": state.model,
        "content": state.content,
        "content_value": _or_null(value_of(CONTENT)),
        "reasoning": state.reasoning,
        "refusal": state.refusal,
        "tool_calls": [_call(call, value_of) for call in state.tool_calls],
        "finish_reason": state.finish_reason,
        "usage": None if state.usage is None else _usage(state.usage),
        "errors": [_error(error) for error in state.errors],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in state.diagnostics],
        "is_finished": state.is_finished,
        "is_complete": state.is_complete,
    }


def _call(call: ToolCall, value_of: ValueOf) -> Line:
    return {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        "kind": call.kind,
        "arguments": call.arguments,
        "value": _or_null(value_of(call_track(call.index))),
        "status": _status(call),
    }


def _status(call: ToolCall) -> str:
    return "complete" if call.is_complete else "failed" if call.error is not None else "open"


def _or_null(value: object) -> object:
    return None if value is MISSING else value


def _usage(usage: Usage) -> Line:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }


def _diagnostic(diagnostic: Diagnostic) -> Line:
    return {
        "code": diagnostic.code.value,
        "call": diagnostic.call,
        "detail": diagnostic.detail,
        "count": diagnostic.count,
    }


def _error(error: MessageError) -> Line:
    return {
        "fault": error.fault.value,
        "call": error.call,
        "open": [str(path) for path in error.paths],
        "message": str(error),
    }


def change_line(change: MessageEvent, value_of: ValueOf) -> Line:
    """What changed, as plain JSON; `kind` names it, and tells what else there is."""
    return {"kind": change.kind, **_fields(change, value_of)}


def _fields(change: MessageEvent, value_of: ValueOf) -> dict[str, Any]:
    match change:
        case MessageStarted(role, id, model):
            return {"role": role, "id": id, "model": model}
        case ContentAdded(text, whole) | ReasoningAdded(text, whole) | RefusalAdded(text, whole):
            return {"text": text, "is_whole": whole}
        case ContentValueChanged():
            return {"value": _or_null(value_of(CONTENT))}
        case ToolCallStarted(call):
            return {"call": call.index, "id": call.id, "name": call.name}
        case ToolArgumentsAdded(call, text, whole):
            return {"call": call.index, "text": text, "is_whole": whole}
        case ToolCallCompleted(call):
            return {
                "call": call.index,
                "id": call.id,
                "name": call.name,
                "value": _or_null(value_of(call_track(call.index))),
            }
        case ToolCallFailed(call):
            error = None if call.error is None else _error(call.error)
            return {"call": call.index, "id": call.id, "name": call.name, "error": error}
        case UsageCounted(usage):
            return _usage(usage)
        case Noticed(diagnostic):
            return _diagnostic(diagnostic)
        case MessageFinished(state):
            errors = [_error(error) for error in state.errors]
            return {"finish_reason": state.finish_reason, "is_complete": state.is_complete, "errors": errors}
        case _:
            return {}
