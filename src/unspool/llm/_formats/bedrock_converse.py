"""Bedrock's ConverseStream: objects with one member, named after the event.

The index numbers the content blocks, text included, and a text has no start. The end of a block does not name its type,
so it becomes a `BlockEnd`. An exception is a member like the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import BlockEnd, Ignored, MessageStart, ReasoningDelta, TextDelta
from .chunks import (
    block,
    block_text,
    call,
    failure,
    finish,
    get,
    index,
    is_record,
    leftovers,
    names,
    number,
    says,
    string,
    usage,
)

if TYPE_CHECKING:
    from .._deltas import Delta, FinishReason

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
EVENTS: Final = frozenset({
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
})  # fmt: skip
EXCEPTION: Final = "Exception"
READ: Final = frozenset({"text", "toolUse", "reasoningContent"})
LEFT_OUT: Final = frozenset({"citation", "image", "redactedContent", "signature", "toolResult"})


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    found = names(chunk)
    return len(found) == 1 and (found[0] in EVENTS or found[0].endswith(EXCEPTION))


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found: list[Delta] = []
    for name in names(chunk):
        found += _event(name, get(chunk, name))
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _event(name: str, event: object) -> list[Delta]:
    if not is_record(event):
        return [Ignored(name)]
    if name == "contentBlockDelta":
        return _delta(event)
    if name == "contentBlockStart":
        return _start(event)
    if name == "contentBlockStop":
        return [BlockEnd(index(event, "contentBlockIndex"))]
    if name == "messageStart":
        return [MessageStart(string(event, "role"))]
    if name == "messageStop":
        return finish(event, "stopReason", REASONS)
    if name == "metadata":
        return _usage(get(event, "usage"))
    return failure(event, name) if name.endswith(EXCEPTION) else [Ignored(name)]


def _start(event: object) -> list[Delta]:
    start = get(event, "start")
    tool_use = get(start, "toolUse")
    if not is_record(tool_use):
        return leftovers(start, (), LEFT_OUT) if is_record(start) else [Ignored("start")]
    return call(
        tool_use,
        "input",
        index=index(event, "contentBlockIndex"),
        id=string(tool_use, "toolUseId"),
        tool=string(tool_use, "name"),
        kind="server" if string(tool_use, "type") == "server_tool_use" else "function",
        counts_blocks=True,
    )


def _delta(event: object) -> list[Delta]:
    delta = get(event, "delta")
    place = block(event, "contentBlockIndex")
    found = block_text(TextDelta, delta, "text", place)
    reasoning, tool_use = get(delta, "reasoningContent"), get(delta, "toolUse")
    if is_record(reasoning):
        found += block_text(ReasoningDelta, reasoning, "text", place) + leftovers(reasoning, READ, LEFT_OUT)
    elif says(reasoning):
        found.append(Ignored("reasoningContent"))
    if is_record(tool_use):
        found += call(tool_use, "input", index=index(event, "contentBlockIndex"), counts_blocks=True)
    elif says(tool_use):
        found.append(Ignored("toolUse"))
    return found + leftovers(delta, READ, LEFT_OUT)


def _usage(source: object) -> list[Delta]:
    read = number(source, "inputTokens")
    if read is not None:  # the provider counts cached tokens separately
        read += (number(source, "cacheReadInputTokens") or 0) + (number(source, "cacheWriteInputTokens") or 0)
    return usage(source, read, number(source, "outputTokens"), number(source, "totalTokens"))
