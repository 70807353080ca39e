"""Cohere's chat API, version 2.

Contents and tool calls have separate numbers: the index of a call counts calls. The `tool_plan`, which the model writes
before it calls tools, counts as reasoning. A tool without parameters gets empty arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import Ignored, MessageStart, ReasoningDelta, TextDelta, ToolCallDelta
from .chunks import block, block_text, call, failure, finish, get, index, is_record, leftovers, number, string, usage

if TYPE_CHECKING:
    from .._deltas import Block, Delta, FinishReason

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "complete": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_call": "tool_calls",
    "error": "error",
    "error_toxic": "content_filter",
    "error_limit": "length",
    "timeout": "error",
}
READ: Final = frozenset({"type", "text", "thinking"})
SILENT: Final = frozenset({"content-end"})
LEFT_OUT: Final = frozenset({"citation-start", "citation-end", "debug"})
EVENTS: Final = frozenset({
    "message-start",
    "content-start",
    "content-delta",
    "tool-plan-delta",
    "tool-call-start",
    "tool-call-delta",
    "tool-call-end",
    "message-end",
})  # fmt: skip


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    kind = string(chunk, "type")
    return kind in EVENTS or kind in SILENT or (kind in LEFT_OUT and kind != "debug")


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "type") or "chunk"
    delta = get(chunk, "delta")
    message = get(delta, "message")
    if kind in {"content-start", "content-delta"}:
        return _content(get(message, "content"), block(chunk, "index"))
    if kind == "tool-plan-delta":
        return block_text(ReasoningDelta, message, "tool_plan")
    if kind in {"tool-call-start", "tool-call-delta"}:
        return _call(chunk, get(message, "tool_calls"))
    if kind == "tool-call-end":
        return [ToolCallDelta(index(chunk, "index"), kind="function", is_done=True)]
    if kind == "message-start":
        return [MessageStart(string(message, "role"), string(chunk, "id") or None)]
    if kind == "message-end":
        return finish(delta, "finish_reason", REASONS) + _usage(get(delta, "usage")) + failure(get(delta, "error"))
    if kind in SILENT:
        return []
    return failure(get(chunk, "error")) or [Ignored(kind, kind in LEFT_OUT)]


def _content(content: object, place: Block) -> list[Delta]:
    if not is_record(content):
        return [Ignored("content")]
    found = block_text(ReasoningDelta, content, "thinking", place) + block_text(TextDelta, content, "text", place)
    return found + leftovers(content, READ, ())


def _call(chunk: object, tool_call: object) -> list[Delta]:
    if not is_record(tool_call):
        return [Ignored("tool_calls")]
    function = get(tool_call, "function")
    return call(
        function,
        "arguments",
        index=index(chunk, "index"),
        id=string(tool_call, "id"),
        tool=string(function, "name"),
        kind="function",
    )


def _usage(source: object) -> list[Delta]:
    tokens = get(source, "tokens")
    if not is_record(tokens):
        tokens = get(source, "billed_units")
    return usage(source, number(tokens, "input_tokens"), number(tokens, "output_tokens"))
