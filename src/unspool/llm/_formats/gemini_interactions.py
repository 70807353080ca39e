"""Gemini's Interactions API.

The index numbers the steps of the interaction: thoughts, texts and calls. The end of a step does not name its type, so
it becomes a `BlockEnd`. Arguments are pieces of text; the start of a call has an empty object in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import BlockEnd, Ignored, MessageStart, ReasoningDelta, TextDelta
from .chunks import block, block_text, call, failure, finish, get, index, is_record, number, says, string, usage

if TYPE_CHECKING:
    from .._deltas import Delta, FinishReason

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "failed": "error",
}
LEFT_OUT: Final = frozenset({"audio", "document", "image", "text_annotation", "thought_signature", "video"})


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    return string(chunk, "event_type") is not None


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "event_type") or "chunk"
    if kind == "step.delta":
        return _delta(chunk)
    if kind == "step.start":
        return _start(chunk)
    if kind == "step.stop":
        return [BlockEnd(index(chunk, "index"))]
    if kind == "interaction.status_update":
        return []  # the completed interaction repeats the last status
    interaction = get(chunk, "interaction")
    if kind == "interaction.created":
        return [MessageStart("assistant", string(interaction, "id") or None, string(interaction, "model") or None)]
    if kind == "interaction.completed":
        found = finish(interaction, "status", REASONS) + _usage(get(interaction, "usage"))
        return found + failure(get(interaction, "error"))
    return failure(get(chunk, "error")) or [Ignored(kind)]


def _start(chunk: object) -> list[Delta]:
    step = get(chunk, "step")
    kind = string(step, "type") or "step"
    if kind in {"thought", "model_output"}:
        return []
    if kind != "function_call":
        return [Ignored(kind, _is_run_there(kind))]
    return call(
        step if says(get(step, "arguments")) else None,
        "arguments",
        index=index(chunk, "index"),
        id=string(step, "id"),
        tool=string(step, "name"),
        kind="function",
        counts_blocks=True,
    )


def _delta(chunk: object) -> list[Delta]:
    delta = get(chunk, "delta")
    kind = string(delta, "type") or "delta"
    if kind == "text":
        return block_text(TextDelta, delta, "text", block(chunk, "index"))
    if kind == "thought_summary":
        content = get(delta, "content")
        if is_record(content):
            return block_text(ReasoningDelta, content, "text", block(chunk, "index"))
        return block_text(ReasoningDelta, delta, "content", block(chunk, "index"))
    if kind == "arguments_delta":
        return call(delta, "arguments", index=index(chunk, "index"), counts_blocks=True)
    return [Ignored(kind, kind in LEFT_OUT or _is_run_there(kind))]


def _is_run_there(kind: str) -> bool:
    """Tell whether this belongs to a tool that the provider runs itself."""
    return kind.endswith(("_call", "_result"))


def _usage(source: object) -> list[Delta]:
    read = number(source, "total_input_tokens")
    if read is not None:
        read += number(source, "total_tool_use_tokens") or 0
    written = number(source, "total_output_tokens")
    if written is not None:
        written += number(source, "total_thought_tokens") or 0
    return usage(source, read, written, number(source, "total_tokens"))
