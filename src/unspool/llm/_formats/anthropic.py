"""Anthropic's Messages API.

The index numbers the content blocks, text included. The start of a block names its type and has all fields but those
that grow: it becomes a part, or the first delta of a call, with the block as its native form. Only the start names the
type: later pieces of input may belong to a tool that the provider runs itself, and the end of a block may be the end of
a text. So the start of a call sets its kind, and an end becomes a `BlockEnd`. A block of an unknown type becomes an
`OpaquePart`. If code calls a tool, the start of a message may hold the whole message, and the start of a block its
whole input. A response that was not streamed is such a message, too.

The `stream()` helper of Anthropic's library adds events of its own, which repeat the others.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from .._deltas import BlockEnd, Ignored, MessageStart, PartData, PartStart, ReasoningDelta, TextDelta
from .._parts import Citation, FilePart, OpaquePart, ReasoningPart, TextPart, ToolResultPart
from .chunks import (
    block,
    block_text,
    call,
    failure,
    finish,
    get,
    has_just,
    has_more,
    index,
    is_record,
    items,
    leftovers,
    message_data,
    names,
    native,
    number,
    plain,
    says,
    string,
    usage,
)

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
    "pause_turn": "paused",
    "compaction": "paused",  # the model has compacted the conversation and goes on with the next request
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
REPEATED: Final = frozenset({"text", "thinking", "signature", "citation", "input_json", "compaction"})
RESULT: Final = "_tool_result"
OPAQUE: Final = frozenset({"compaction", "fallback", "mcp_tool_listing"})
INPUT_COUNTS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

# The fields that are read, or that the library adds to the events of its `stream()` helper.
OF_START: Final = frozenset({"type", "index", "content_block"})
OF_DELTA: Final = frozenset({"type", "index", "delta"})
OF_STOP: Final = frozenset({"type", "index", "content_block"})
OF_MESSAGE_STOP: Final = frozenset({"type", "message"})
OF_MESSAGE_DELTA: Final = frozenset({"type", "delta", "usage"})
OF_MESSAGE: Final = frozenset({"type", "id", "role", "model", "content", "stop_reason", "usage"})
OF_TEXT: Final = frozenset({"text", "citations", "parsed_output"})
PIECES: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
    "signature_delta": "signature",
    "citations_delta": "citation",
}
OF_PIECES: Final[dict[str, frozenset[str]]] = {
    "text_delta": frozenset({"type", "text"}),
    "thinking_delta": frozenset({"type", "thinking", "estimated_tokens"}),  # the estimate is for progress bars
    "input_json_delta": frozenset({"type", "partial_json"}),
    "signature_delta": frozenset({"type", "signature"}),
    "citations_delta": frozenset({"type", "citation"}),
}


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    kind = string(chunk, "type")
    if kind == "message":  # a response that was not streamed; an item of OpenAI's Responses has no reason to stop
        return isinstance(get(chunk, "content"), (list, tuple)) and "stop_reason" in names(chunk)
    return kind in EVENTS or (kind == "error" and is_record(get(chunk, "error")))


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "type") or "chunk"
    if kind == "content_block_delta":
        found = _delta(chunk)
        if has_just(chunk, 3, "index", "delta"):  # and its type
            return found
        return found + leftovers(chunk, OF_DELTA, ()) if has_more(chunk, OF_DELTA) else found
    if kind == "content_block_start":
        place = block(chunk, "index")
        return _start(get(chunk, "content_block"), index(chunk, "index"), place) + leftovers(chunk, OF_START, ())
    if kind == "content_block_stop":
        return [BlockEnd(index(chunk, "index")), *leftovers(chunk, OF_STOP, ())]
    if kind == "message_start":
        return _message(get(chunk, "message")) + leftovers(chunk, {"type", "message"}, ())
    if kind == "message":
        return _message(chunk)
    if kind == "message_delta":
        return _message_delta(chunk)
    if kind == "message_stop":
        return message_data(chunk, OF_MESSAGE_STOP)
    if kind in REPEATED:
        return []
    if kind == "ping":
        return leftovers(chunk, {"type"}, ())
    error = failure(get(chunk, "error"))
    return error + message_data(chunk, {"type", "error"}) if error else [Ignored(kind)]


def _message(message: object) -> list[Delta]:
    if not is_record(message):
        return [Ignored("message")]
    named = string(message, "id") or None
    found: list[Delta] = [MessageStart(string(message, "role"), named, string(message, "model") or None)]
    for at, content in enumerate(items(message, "content")):
        found += [*_start(content, at, (at,), is_whole=True), BlockEnd(at)]
    found += message_data(message, OF_MESSAGE)
    return found + finish(message, "stop_reason", REASONS) + _usage(get(message, "usage"))


def _message_delta(chunk: object) -> list[Delta]:
    delta = get(chunk, "delta")
    found = finish(delta, "stop_reason", REASONS) + message_data(delta, {"type", "stop_reason"})
    if says(delta) and not is_record(delta):
        found.append(Ignored("delta"))
    found += message_data(chunk, OF_MESSAGE_DELTA)
    return found + _usage(get(chunk, "usage"), is_later=True)


# ---- blocks ------------------------------------------------------------------------------------------


def _start(content: object, at: Index, place: Block, is_whole: bool = False) -> list[Delta]:
    """Return the deltas of a block as it starts, or with `is_whole` of a block to which nothing is added later."""
    kind = string(content, "type")
    if not kind:
        return [Ignored("content_block")]
    if kind == "text":
        return _text(content, place)
    if kind == "thinking":
        text, found = _string(content, "thinking")
        signed = ReasoningPart(
            text, string(content, "signature") or None, native=native(content, {"thinking"}), block=place
        )
        return [PartStart(signed), *found]
    if kind == "redacted_thinking":
        return [PartStart(ReasoningPart(encrypted=string(content, "data"), native=native(content), block=place))]
    if kind.endswith("tool_use"):
        return call(
            # In a start, {} means that pieces follow, or no input at all.
            content if is_whole or says(get(content, "input")) else None,
            "input",
            index=at,
            id=string(content, "id"),
            tool=string(content, "name"),
            kind="function" if kind == "tool_use" else "server",
            counts_blocks=True,
            native=native(content, {"input"}),
        )
    if kind.endswith(RESULT):
        return [PartStart(_result(content, kind, place))]
    if kind == "container_upload":
        return [PartStart(FilePart(file_id=string(content, "file_id"), native=native(content), block=place))]
    opaque = PartStart(OpaquePart(kind, string(content, "id"), native=native(content), block=place))
    return [opaque] if kind in OPAQUE else [opaque, Ignored(kind)]


def _text(content: object, place: Block) -> list[Delta]:
    text, found = _string(content, "text")
    fields = native(content, OF_TEXT)
    given = get(content, "citations")
    citations: list[Citation] = []
    if says(given):
        for item in items(content, "citations"):
            if is_record(item):
                citations.append(_citation(item))
            else:
                found.append(Ignored("citations"))
    elif "citations" in names(content):
        fields["citations"] = plain(given)  # null or an empty list: it goes back as it came
    return [PartStart(TextPart(text, tuple(citations), native=fields, block=place)), *found]


def _string(content: object, name: str) -> tuple[str, list[Delta]]:
    """Return the text of a field; and if the field holds something else, an `Ignored`."""
    text = string(content, name)
    return text or "", [Ignored(name)] if text is None and says(get(content, name)) else []


def _result(content: object, kind: str, place: Block) -> ToolResultPart:
    fields = native(content)
    output = fields.pop("content") if fields.get("content") is not None else None
    failed = fields.get("is_error") is True
    if isinstance(output, dict):
        named = cast("dict[str, object]", output).get("type")
        failed = failed or (isinstance(named, str) and named.endswith("_error"))
    tool = None if kind == "mcp_tool_result" else kind.removesuffix(RESULT)
    return ToolResultPart(string(content, "tool_use_id"), tool, output, failed, native=fields, block=place)


def _citation(source: object) -> Citation:
    document = number(source, "document_index")
    place = string(source, "file_id") or string(source, "source")
    return Citation(
        string(source, "url"),
        string(source, "title") or string(source, "document_title"),
        string(source, "cited_text"),
        source_id=str(document) if place is None and document is not None else place,
        native=native(source),
    )


def _delta(chunk: object) -> list[Delta]:
    delta = get(chunk, "delta")
    kind = string(delta, "type") or "delta"
    place = block(chunk, "index")
    found: list[Delta]
    if kind == "text_delta":
        found = block_text(TextDelta, delta, "text", place)
    elif kind == "thinking_delta":
        found = block_text(ReasoningDelta, delta, "thinking", place)
    elif kind == "input_json_delta":
        found = call(delta, "partial_json", index=index(chunk, "index"), counts_blocks=True)
    elif kind == "signature_delta":
        signature, found = _string(delta, "signature")  # whole: it replaces an earlier one
        if not found:
            found = [PartData("signature", signature, place, {"signature": signature})]
    elif kind == "citations_delta":
        citation = get(delta, "citation")
        found = [PartData("citation", _citation(citation), place) if is_record(citation) else Ignored("citation")]
    elif kind == "compaction_delta":
        return [PartData("", None, place, native(delta, {"type"}))]
    else:
        return [Ignored(kind)]
    if has_just(delta, 2, "type", PIECES[kind]):
        return found
    return found + leftovers(delta, OF_PIECES[kind], ()) if has_more(delta, OF_PIECES[kind]) else found


def _usage(source: object, is_later: bool = False) -> list[Delta]:
    """Make the usage. The provider counts cached tokens separately, and a later chunk may have only some counts."""
    counts = [count for name in INPUT_COUNTS if (count := number(source, name)) is not None]
    read = sum(counts) if counts else None
    return usage(source, read, number(source, "output_tokens"), None, INPUT_COUNTS if counts and is_later else ())
