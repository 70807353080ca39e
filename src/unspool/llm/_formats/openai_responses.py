"""OpenAI's Responses API, also in the dialects of Azure, xAI, LM Studio and Copilot.

`output_index` identifies calls and texts: it numbers the items of the response, whatever their type. Item ids are not
read, because Copilot changes them from event to event; the id of a call is its `call_id`. A "done" event repeats each
streamed text as a whole. It may be the only event: LM Studio sends arguments without any delta before.

Tools that the provider runs itself (searches, code, images) are left out, except calls of MCP tools, which have the
form of ordinary calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import Finish, Ignored, MessageStart, ReasoningDelta, RefusalDelta, TextDelta
from .chunks import block, block_text, call, failure, get, index, is_record, items, number, string, usage

if TYPE_CHECKING:
    from .._deltas import CallKind, Delta, FinishReason

__all__ = ["deltas", "is_chunk"]

# Each text comes as <name>.delta and <name>.done: the field of the second, and the number of the part in its item.
TEXTS: Final[dict[str, tuple[type[TextDelta | ReasoningDelta | RefusalDelta], str, str]]] = {
    "response.output_text": (TextDelta, "text", "content_index"),
    "response.refusal": (RefusalDelta, "refusal", "content_index"),
    "response.reasoning_text": (ReasoningDelta, "text", "content_index"),
    "response.reasoning_summary_text": (ReasoningDelta, "text", "summary_index"),
}
CALLS: Final[dict[str, tuple[CallKind, str]]] = {
    "response.function_call_arguments": ("function", "arguments"),
    "response.custom_tool_call_input": ("custom", "input"),
    "response.mcp_call_arguments": ("server", "arguments"),
}
ITEMS: Final[dict[str, tuple[CallKind, str]]] = {
    "function_call": ("function", "arguments"),
    "custom_tool_call": ("custom", "input"),
    "mcp_call": ("server", "arguments"),
}
REASONS: Final[dict[str, FinishReason]] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}
SILENT: Final = frozenset({
    "keepalive",
    "response.queued",
    "response.in_progress",
    "response.content_part.added",
    "response.content_part.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
})  # fmt: skip
ENDS: Final = frozenset({"completed", "incomplete", "failed", "cancelled"})
LEFT_OUT: Final = (
    "response.apply_patch_call",
    "response.audio.",
    "response.code_interpreter_call",
    "response.file_search_call.",
    "response.image_generation_call.",
    "response.mcp_call.",
    "response.mcp_list_tools.",
    "response.output_text.annotation.",
    "response.shell_call",
    "response.web_search_call.",
)


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    kind = string(chunk, "type") or ""
    if kind == "error":
        return number(chunk, "sequence_number") is not None or string(chunk, "message") is not None
    return kind.startswith("response.") or kind == "keepalive"


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "type") or "chunk"
    stem, _, what = kind.rpartition(".")
    if kind in SILENT:
        return []
    if stem in TEXTS and what in {"delta", "done"}:
        return _text(chunk, stem, what == "done")
    if stem in CALLS and what in {"delta", "done"}:
        return _arguments(chunk, stem, what == "done")
    if stem == "response.output_item" and what in {"added", "done"}:
        return _item(chunk, what == "done")
    if kind == "response.created":
        response = get(chunk, "response")
        return [MessageStart("assistant", string(response, "id") or None, string(response, "model") or None)]
    if stem == "response" and what in ENDS:
        return _end(get(chunk, "response"), what)
    if kind == "error":
        error = get(chunk, "error")
        return failure(error if is_record(error) else chunk, None if is_record(error) else string(chunk, "code"))
    return [Ignored(kind, kind.startswith(LEFT_OUT))]


def _text(chunk: object, stem: str, is_whole: bool) -> list[Delta]:
    delta, whole, part = TEXTS[stem]
    place = block(chunk, "output_index")
    place += ("summary",) if part == "summary_index" else ()  # the parts of summaries are numbered separately
    return block_text(delta, chunk, whole if is_whole else "delta", place + block(chunk, part), is_whole)


def _arguments(chunk: object, stem: str, is_whole: bool) -> list[Delta]:
    kind, whole = CALLS[stem]
    return call(
        chunk,
        whole if is_whole else "delta",
        index=index(chunk, "output_index"),
        tool=string(chunk, "name"),
        kind=kind,
        is_whole=is_whole,
        is_done=is_whole,
        counts_blocks=True,
    )


def _item(chunk: object, is_done: bool) -> list[Delta]:
    item = get(chunk, "item")
    kind = string(item, "type") or "item"
    if kind in {"message", "reasoning"}:
        return []  # separate events bring its texts
    if kind not in ITEMS:
        return [Ignored(kind, kind.endswith(("_call", "_call_output", "_list_tools", "_approval_request")))]
    call_kind, whole = ITEMS[kind]
    return call(
        item if is_done else None,  # the first event has no arguments, or the next ones repeat them
        whole,
        index=index(chunk, "output_index"),
        id=string(item, "call_id") or string(item, "id"),
        tool=string(item, "name"),
        kind=call_kind,
        is_whole=True,
        is_done=is_done and string(item, "status") != "incomplete",
        counts_blocks=True,
    )


def _end(response: object, status: str) -> list[Delta]:
    reason: FinishReason = "other"
    raw = status
    if status == "completed":
        kinds = [string(item, "type") for item in items(response, "output")]
        reason = "tool_calls" if "function_call" in kinds or "custom_tool_call" in kinds else "stop"
    elif status == "incomplete":
        raw = string(get(response, "incomplete_details"), "reason") or status
        reason = REASONS.get(raw, "other")
    elif status == "failed":
        reason = "error"
    counted = get(response, "usage")
    read, written = number(counted, "input_tokens"), number(counted, "output_tokens")
    found = usage(counted, read, written, number(counted, "total_tokens"))
    return [Finish(reason, raw), *found, *failure(get(response, "error"))]
