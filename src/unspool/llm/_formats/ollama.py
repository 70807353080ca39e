"""Ollama's /api/chat: one object per line.

Calls come whole, with their arguments as an object. The function may have an index; two calls may share one. Only newer
versions send ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import Finish, Ignored, MessageStart, ReasoningDelta, TextDelta
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

REASONS: Final[dict[str, FinishReason]] = {"stop": "stop", "length": "length"}
READ: Final = frozenset({"role", "content", "thinking", "tool_calls"})
LEFT_OUT: Final = frozenset({"images", "tool_name"})
COUNTS: Final = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    if string(chunk, "error") is not None:
        return True
    return isinstance(get(chunk, "done"), bool) and is_record(get(chunk, "message"))


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found = _message(chunk, get(chunk, "message"))
    if get(chunk, "done") is True:
        found += finish(chunk, "done_reason", REASONS) or [Finish("stop")]
        found += usage(_counts(chunk), number(chunk, "prompt_eval_count"), number(chunk, "eval_count"))
    found += failure(get(chunk, "error"))
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _message(chunk: object, message: object) -> list[Delta]:
    if not is_record(message):
        return [Ignored("message")] if says(message) else []
    found: list[Delta] = []
    role = string(message, "role")
    if role:
        found.append(MessageStart(role, None, string(chunk, "model") or None))
    found += block_text(ReasoningDelta, message, "thinking") + block_text(TextDelta, message, "content")
    for tool_call in items(message, "tool_calls"):
        found += _tool_call(tool_call)
    return found + leftovers(message, READ, LEFT_OUT)


def _tool_call(tool_call: object) -> list[Delta]:
    function = get(tool_call, "function")
    if not is_record(function):
        return [Ignored("tool_calls")]
    return call(
        function,
        "arguments",
        index=index(function, "index"),
        id=string(tool_call, "id"),
        tool=string(function, "name"),
        kind="function",
        is_done=True,
    )


def _counts(chunk: object) -> dict[str, int]:
    """Return the numbers of the last line: tokens, and times in nanoseconds."""
    counts = {name: number(chunk, name) for name in COUNTS}
    return {name: count for name, count in counts.items() if count is not None}
