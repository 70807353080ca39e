"""OpenAI's chat completions, and the many providers with the same format.

The index of a tool call numbers the calls, if it is present; the fields of its deltas are passed on as they came.
Dialects of other providers:

- reasoning under `reasoning_content` or `reasoning`
- content as a list of parts (Mistral)
- usage in every chunk (Perplexity), in a choice (Moonshot) or under `x_groq`
- an empty finish reason, and errors in the middle of the stream
- chunks about content filters without choices, or with choices without a delta (Azure): they carry no content

The `stream()` helper of OpenAI's library wraps each chunk in an event, and repeats it in events of its own.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..._missing import MISSING
from .._deltas import Ignored, MessageStart, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
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
    from .._deltas import Delta, FinishReason, Index

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
ANY: Final = cast("dict[object, object]", dict.fromkeys((*READ, "")))
READ_BESIDE: Final = frozenset({"index", "finish_reason", "usage", "error"})
LEFT_OUT_BESIDE: Final = frozenset({"content_filter_offsets", "content_filter_results", "logprobs"})
LEFT_OUT: Final = frozenset({"annotations", "audio", "images", "reasoning_details", "reasoning_signature"})
REPEATED: Final = ("content.", "refusal.", "tool_calls.", "logprobs.")


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format. A bare error counts too: this format is the most common."""
    if isinstance(get(chunk, "choices"), (list, tuple)) or is_record(get(chunk, "error")):
        return True
    kind = string(chunk, "type") or ""
    return (string(chunk, "object") or "").startswith("chat.completion") or kind == "chunk" or kind.startswith(REPEATED)


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "type")
    if kind is not None:
        if kind.startswith(REPEATED):
            return []
        if kind == "chunk":
            chunk = get(chunk, "chunk")
    found: list[Delta] = []
    for choice in items(chunk, "choices"):
        _add_choice(found, chunk, choice)
    counted = get(chunk, "usage")
    if not says(counted) and (around := get(chunk, "x_groq")) is not MISSING:
        counted = get(around, "usage")
    if counted is not None and counted is not MISSING:
        found += _usage(counted)
    error = chunk if string(chunk, "object") == "error" else get(chunk, "error")
    if error is not None and error is not MISSING:
        found += failure(error)
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _add_choice(found: list[Delta], chunk: object, choice: object) -> None:
    if not is_record(choice):
        found.append(Ignored("choices"))
        return
    at = number(choice, "index") or 0
    delta = get(choice, "delta")
    if is_record(delta):
        _add_delta(found, chunk, delta, at)
    else:
        found += leftovers(choice, READ_BESIDE, LEFT_OUT_BESIDE)
    if get(choice, "finish_reason") is not None:
        found += finish(choice, "finish_reason", REASONS, at)
    counted, error = get(choice, "usage"), get(choice, "error")
    if counted is not None and counted is not MISSING:
        found += _usage(counted)
    if error is not None and error is not MISSING:
        found += failure(error)


def _add_delta(found: list[Delta], chunk: object, delta: object, at: int) -> None:
    came = _fields(delta)  # mostly one field; there is one delta for every few characters
    if "role" in came:
        role = string(delta, "role")
        if role:
            found.append(MessageStart(role, string(chunk, "id") or None, string(chunk, "model") or None, at))
    if "reasoning_content" in came or "reasoning" in came:
        reasoning = "reasoning_content" if says(get(delta, "reasoning_content")) else "reasoning"
        found += block_text(ReasoningDelta, delta, reasoning, choice=at)
    if "content" in came:
        found += _content(delta, at)
    if "refusal" in came:
        found += block_text(RefusalDelta, delta, "refusal", choice=at)
    if "tool_calls" in came:
        for tool_call in items(delta, "tool_calls"):
            found += _tool_call(tool_call, at)
    if "function_call" in came:
        found += _function(get(delta, "function_call"), "function_call", at)
    for name in came:
        if name not in READ:
            found += leftovers(delta, READ, LEFT_OUT)
            break


def _fields(delta: object) -> dict[object, object]:
    """Return the fields of a dict. Any field may be present in an object: all known names, and an unknown one."""
    return cast("dict[object, object]", delta) if type(delta) is dict else ANY


def _content(delta: object, at: int) -> list[Delta]:
    if not isinstance(get(delta, "content"), (list, tuple)):
        return block_text(TextDelta, delta, "content", choice=at)
    found: list[Delta] = []
    for part in items(delta, "content"):
        kind = string(part, "type")
        if kind == "text":
            found += block_text(TextDelta, part, "text", choice=at)
        elif kind == "thinking":
            for thought in items(part, "thinking"):
                holder, name = (thought, "text") if is_record(thought) else ({"thinking": thought}, "thinking")
                found += block_text(ReasoningDelta, holder, name, choice=at)
        else:
            found.append(Ignored(kind or "content", kind in {"reference", "image_url"}))
    return found


def _tool_call(tool_call: object, at: int) -> list[Delta]:
    if not is_record(tool_call):
        return [Ignored("tool_calls")]
    number, named = index(tool_call, "index"), string(tool_call, "id")
    custom = get(tool_call, "custom")
    if custom is not MISSING and is_record(custom):
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
