"""OpenAI chat completions, and the many that speak like it.

The index of a tool call numbers the calls, when it is there at all; whatever its deltas hold passes as it came. Beyond
OpenAI's own: reasoning under `reasoning_content` or `reasoning`; content as a list of parts (Mistral); usage on every
chunk (Perplexity), in a choice (Moonshot) or under `x_groq`; an empty finish reason; errors in the middle. Azure's
chunks about content filters have no choices, or choices without a delta, and say nothing.

The `stream()` helper of OpenAI's library hands out each chunk in an event, and the same again in events of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...missing import MISSING
from ..deltas import Ignored, MessageStart, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from .building import call, failure, finish, index, leftovers, usage, words
from .fields import candidates, get, is_record, items, number, says, string

if TYPE_CHECKING:
    from ..deltas import Delta, FinishReason, Index

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "refusal",
    "error": "error",
    "insufficient_system_resource": "error",
}
READ: Final = frozenset({"role", "content", "refusal", "reasoning_content", "reasoning", "tool_calls", "function_call"})
READ_AROUND: Final = frozenset({"type", "usage", "x_groq"})
READ_BESIDE: Final = frozenset({"index", "finish_reason", "usage", "error"})
LEFT_OUT_BESIDE: Final = frozenset({"content_filter_offsets", "content_filter_results", "logprobs"})
LEFT_OUT: Final = frozenset({"annotations", "audio", "images", "reasoning_details", "reasoning_signature"})
REPEATED: Final = ("content.", "refusal.", "tool_calls.", "logprobs.")


def is_chunk(chunk: object) -> bool:
    """Whether this is a chunk of this format. A bare error could be anybody's; this is the most common one."""
    if isinstance(get(chunk, "choices"), (list, tuple)) or is_record(get(chunk, "error")):
        return True
    kind = string(chunk, "type") or ""
    return (string(chunk, "object") or "").startswith("chat.completion") or kind == "chunk" or kind.startswith(REPEATED)


def deltas(chunk: object) -> list[Delta]:
    """What the chunk says."""
    came = candidates(chunk, READ_AROUND)
    if "type" in came:
        kind = string(chunk, "type") or ""
        if kind.startswith(REPEATED):
            return []
        if kind == "chunk":
            chunk = get(chunk, "chunk")
            came = candidates(chunk, READ_AROUND)
    found: list[Delta] = []
    for choice in items(chunk, "choices"):
        found += _choice(chunk, choice)
    if "usage" in came or "x_groq" in came:
        counted = get(chunk, "usage")
        found += _usage(counted if says(counted) else get(get(chunk, "x_groq"), "usage"))
    found += failure(chunk if string(chunk, "object") == "error" else get(chunk, "error"))
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _choice(chunk: object, choice: object) -> list[Delta]:
    if not is_record(choice):
        return [Ignored("choices")]
    at = number(choice, "index") or 0
    delta = get(choice, "delta")
    found: list[Delta] = []
    if is_record(delta):
        came = candidates(delta, READ)  # most have one field, and there is one for every few characters
        role = string(delta, "role") if "role" in came else None
        if role:
            found.append(MessageStart(role, string(chunk, "id") or None, string(chunk, "model") or None, at))
        if "reasoning_content" in came or "reasoning" in came:
            reasoning = "reasoning_content" if says(get(delta, "reasoning_content")) else "reasoning"
            found += words(ReasoningDelta, delta, reasoning, choice=at)
        if "content" in came:
            found += _content(delta, at)
        if "refusal" in came:
            found += words(RefusalDelta, delta, "refusal", choice=at)
        if "tool_calls" in came:
            for tool_call in items(delta, "tool_calls"):
                found += _tool_call(tool_call, at)
        if "function_call" in came:
            found += _function(get(delta, "function_call"), "function_call", at)
        if came is READ or not READ.issuperset(came):
            found += leftovers(delta, READ, LEFT_OUT)
    else:
        found += leftovers(choice, READ_BESIDE, LEFT_OUT_BESIDE)
    found += finish(choice, "finish_reason", REASONS, at)
    beside = candidates(choice, READ_BESIDE)
    if "usage" in beside:
        found += _usage(get(choice, "usage"))
    if "error" in beside:
        found += failure(get(choice, "error"))
    return found


def _content(delta: object, at: int) -> list[Delta]:
    if not isinstance(get(delta, "content"), (list, tuple)):
        return words(TextDelta, delta, "content", choice=at)
    found: list[Delta] = []
    for part in items(delta, "content"):
        kind = string(part, "type")
        if kind == "text":
            found += words(TextDelta, part, "text", choice=at)
        elif kind == "thinking":
            for thought in items(part, "thinking"):
                holder, name = (thought, "text") if is_record(thought) else ({"thinking": thought}, "thinking")
                found += words(ReasoningDelta, holder, name, choice=at)
        else:
            found.append(Ignored(kind or "content", kind in {"reference", "image_url"}))
    return found


def _tool_call(tool_call: object, at: int) -> list[Delta]:
    if not is_record(tool_call):
        return [Ignored("tool_calls")]
    number, named = index(tool_call, "index"), string(tool_call, "id")
    custom = get(tool_call, "custom")
    if is_record(custom):
        return call(custom, "input", index=number, id=named, tool=string(custom, "name"), kind="custom", choice=at)
    function = get(tool_call, "function")
    found = _function(function, "function", at, number, named)
    return found if is_record(function) else [ToolCallDelta(number, named, choice=at), *found]


def _function(function: object, name: str, at: int, number: Index = MISSING, id: str | None = None) -> list[Delta]:
    if is_record(function):
        tool = string(function, "name")
        return call(function, "arguments", index=number, id=id, tool=tool, kind="function", choice=at)
    return [Ignored(name)] if says(function) else []


def _usage(source: object) -> list[Delta]:
    if source is None or source is MISSING:
        return []
    read, written = number(source, "prompt_tokens"), number(source, "completion_tokens")
    return usage(source, read, written, number(source, "total_tokens"))
