"""Ollama's /api/chat and /api/generate: one object per line.

Calls come whole, with their arguments as an object. The function may have an index; two calls may share one. Only newer
versions send ids. A response that was not streamed is the only line. /api/generate has a `response` in place of the
message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..._missing import MISSING
from .._deltas import Finish, Ignored, MessageStart, PartStart, ReasoningDelta, TextDelta, ToolCallDelta
from .._parts import FilePart
from .chat_dialects import native_fields
from .chunks import (
    block_text,
    call,
    failure,
    finish,
    get,
    index,
    is_record,
    items,
    leftovers,
    number,
    says,
    string,
    usage,
)

if TYPE_CHECKING:
    from .._deltas import Delta, FinishReason

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "cancelled": "cancelled",
    "error": "error",
    "load": "other",  # the server has loaded or unloaded a model, and no model has answered
    "unload": "other",
}
COUNTS: Final = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
READ: Final = frozenset({
    *("model", "created_at", "message", "response", "thinking", "done", "done_reason", "error"),
    *COUNTS,
})  # fmt: skip
LEFT_OUT: Final = frozenset({"context", "logprobs", "remote_model", "remote_host"})
READ_IN_MESSAGE: Final = frozenset({"role", "content", "thinking", "images", "tool_calls"})
LEFT_OUT_IN_MESSAGE: Final = frozenset({"tool_name", "tool_call_id"})
READ_IN_CALL: Final = frozenset({"id", "type", "function"})
READ_IN_FUNCTION: Final = frozenset({"name", "arguments", "index"})


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    if string(chunk, "error") is not None:
        return True
    is_told = is_record(get(chunk, "message")) or string(chunk, "response") is not None
    return is_told and isinstance(get(chunk, "done"), bool)


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found = _message(chunk, get(chunk, "message"))
    found += block_text(ReasoningDelta, chunk, "thinking") + block_text(TextDelta, chunk, "response")
    if get(chunk, "done") is True:
        found += finish(chunk, "done_reason", REASONS) or [Finish("stop")]
        found += usage(_counts(chunk), number(chunk, "prompt_eval_count"), number(chunk, "eval_count"))
    found += failure(get(chunk, "error"))
    if not found and not is_chunk(chunk):
        return [Ignored("chunk")]
    return found + leftovers(chunk, READ, LEFT_OUT)


def _message(chunk: object, message: object) -> list[Delta]:
    if not is_record(message):
        return [Ignored("message")] if says(message) else []
    found: list[Delta] = []
    role = string(message, "role")
    if role:
        found.append(MessageStart(role, None, string(chunk, "model") or None))
    found += block_text(ReasoningDelta, message, "thinking") + block_text(TextDelta, message, "content")
    for image in items(message, "images"):
        if isinstance(image, (str, bytes)) and image:
            found.append(PartStart(FilePart(data=image, is_complete=True)))
        else:
            found.append(Ignored("images"))
    for tool_call in items(message, "tool_calls"):
        found += _tool_call(tool_call)
    return found + leftovers(message, READ_IN_MESSAGE, LEFT_OUT_IN_MESSAGE)


def _tool_call(tool_call: object) -> list[Delta]:
    function = get(tool_call, "function")
    if not is_record(function):
        return [Ignored("tool_calls")]
    given = get(function, "arguments")
    is_empty = given is None or given is MISSING
    made = call(
        {"arguments": {}} if is_empty else function,  # a call comes whole
        "arguments",
        index=index(function, "index"),
        id=string(tool_call, "id"),
        tool=string(function, "name"),
        kind="function",
        is_done=True,
    )
    found: list[Delta] = []
    native = native_fields(found, tool_call, READ_IN_CALL)
    inner = native_fields(found, function, READ_IN_FUNCTION)
    place = number(function, "index")
    if place is not None:
        inner["index"] = place
    if inner:
        native["function"] = inner
    if native:
        first = cast("ToolCallDelta", made[0])
        made[0] = ToolCallDelta(first.index, first.id, first.name, first.arguments, first.kind, True, native=native)
    return found + made


def _counts(chunk: object) -> dict[str, int]:
    """Return the numbers of the last line: tokens, and times in nanoseconds."""
    counts = {name: number(chunk, name) for name in COUNTS}
    return {name: count for name, count in counts.items() if count is not None}
