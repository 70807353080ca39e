"""Anthropic's Messages API.

The index numbers the content blocks, text included. Only the start of a block names its type: later pieces of input may
belong to a tool that the provider runs itself, and the end of a block may be the end of a text. So the start of a call
sets its kind, and an end becomes a `BlockEnd`. If code calls a tool, the start of a message may hold the whole message,
and the start of a block its whole input.

The `stream()` helper of Anthropic's library adds events of its own, which repeat the others.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import BlockEnd, Ignored, MessageStart, ReasoningDelta, TextDelta
from .chunks import block, block_text, call, failure, finish, get, index, is_record, items, number, says, string, usage

if TYPE_CHECKING:
    from .._deltas import Block, Delta, FinishReason, Index

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}
EVENTS: Final = frozenset({
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
})  # fmt: skip
REPEATED: Final = frozenset({"text", "thinking", "signature", "citation", "input_json"})
LEFT_OUT: Final = frozenset({
    "citations_delta",
    "compaction",
    "compaction_delta",
    "redacted_thinking",
    "signature_delta",
})  # fmt: skip


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    kind = string(chunk, "type")
    return kind in EVENTS or (kind == "error" and is_record(get(chunk, "error")))


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "type") or "chunk"
    if kind == "content_block_delta":
        return _delta(chunk)
    if kind == "content_block_start":
        return _start(get(chunk, "content_block"), index(chunk, "index"), block(chunk, "index"))
    if kind == "content_block_stop":
        return [BlockEnd(index(chunk, "index"))]
    if kind == "message_start":
        return _message(get(chunk, "message"))
    if kind == "message_delta":
        return finish(get(chunk, "delta"), "stop_reason", REASONS) + _usage(get(chunk, "usage"))
    if kind in {"message_stop", "ping"} or kind in REPEATED:
        return []
    return failure(get(chunk, "error")) or [Ignored(kind)]


def _message(message: object) -> list[Delta]:
    if not is_record(message):
        return [Ignored("message")]
    named = string(message, "id") or None
    found: list[Delta] = [MessageStart(string(message, "role"), named, string(message, "model") or None)]
    for at, content in enumerate(items(message, "content")):
        found += [*_start(content, at, (at,)), BlockEnd(at)]
    return found + finish(message, "stop_reason", REASONS) + _usage(get(message, "usage"))


def _start(content: object, at: Index, place: Block) -> list[Delta]:
    kind = string(content, "type") or "content_block"
    if kind == "text":
        return block_text(TextDelta, content, "text", place)
    if kind == "thinking":
        return block_text(ReasoningDelta, content, "thinking", place)
    if kind.endswith("tool_use"):
        return call(
            content if says(get(content, "input")) else None,  # {} means that pieces follow, or no input at all
            "input",
            index=at,
            id=string(content, "id"),
            tool=string(content, "name"),
            kind="function" if kind == "tool_use" else "server",
            counts_blocks=True,
        )
    return [Ignored(kind, kind in LEFT_OUT or kind.endswith("_tool_result"))]


def _delta(chunk: object) -> list[Delta]:
    delta = get(chunk, "delta")
    kind = string(delta, "type") or "delta"
    if kind == "text_delta":
        return block_text(TextDelta, delta, "text", block(chunk, "index"))
    if kind == "thinking_delta":
        return block_text(ReasoningDelta, delta, "thinking", block(chunk, "index"))
    if kind == "input_json_delta":
        return call(delta, "partial_json", index=index(chunk, "index"), counts_blocks=True)
    return [Ignored(kind, kind in LEFT_OUT)]


def _usage(source: object) -> list[Delta]:
    read = number(source, "input_tokens")
    if read is not None:  # the provider counts cached tokens separately
        read += number(source, "cache_creation_input_tokens") or 0
        read += number(source, "cache_read_input_tokens") or 0
    return usage(source, read, number(source, "output_tokens"))
