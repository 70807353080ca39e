"""Bedrock's ConverseStream: objects with one member, named after the event.

The index numbers the content blocks, text included, and a text or a reasoning has no start: its first delta makes the
part. The end of a block does not name its type, so it becomes a `BlockEnd`. An exception is a member like the others.
A response of Converse, which was not streamed, is read as a whole.

A block is an object with one member, named after its type. The native form of a part is the value of that member; an
`OpaquePart` has the whole block. Binary data stays as it comes: bytes from boto3, base64 text from JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._deltas import BlockEnd, Ignored, MessageStart, PartData, PartStart, ReasoningDelta, TextDelta
from .._parts import Citation, FilePart, OpaquePart, ReasoningPart, TextPart, ToolResultPart
from .chunks import (
    block,
    block_text,
    call,
    failure,
    finish,
    get,
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
FILES: Final = frozenset({"image", "audio", "video"})

# The fields that are read. "p" is padding, which hides the length of an event.
OF_TEXT: Final = frozenset({"text"})
OF_DELTA: Final = frozenset({"contentBlockIndex", "delta", "p"})
OF_START: Final = frozenset({"contentBlockIndex", "start", "p"})
OF_STOP: Final = frozenset({"contentBlockIndex", "p"})
OF_BODY: Final = frozenset({"output", "stopReason", "usage", "ResponseMetadata"})
PIECES: Final = frozenset({"text", "toolUse", "reasoningContent", "toolResult", "citation", "image"})


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    found = names(chunk)
    if "output" in found:
        return _is_body(chunk)
    return len(found) == 1 and (found[0] in EVENTS or found[0].endswith(EXCEPTION))


def _is_body(chunk: object) -> bool:
    message = get(get(chunk, "output"), "message")
    return isinstance(get(message, "content"), (list, tuple)) and "stopReason" in names(chunk)


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found: list[Delta] = []
    if _is_body(chunk):
        return _body(chunk)
    for name in names(chunk):
        found += _event(name, get(chunk, name))
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _event(name: str, event: object) -> list[Delta]:
    if not is_record(event):
        return [Ignored(name)]
    if name == "contentBlockDelta":
        return _delta(event)
    if name == "contentBlockStart":
        return _start(event) + leftovers(event, OF_START, ())
    if name == "contentBlockStop":
        return [BlockEnd(index(event, "contentBlockIndex")), *leftovers(event, OF_STOP, ())]
    if name == "messageStart":
        return [MessageStart(string(event, "role")), *message_data(event, {"role", "p"})]
    if name == "messageStop":
        return finish(event, "stopReason", REASONS) + message_data(event, {"stopReason", "p"})
    if name == "metadata":
        return _usage(get(event, "usage")) + message_data(event, {"usage", "p"})
    return failure(event, name) if name.endswith(EXCEPTION) else [Ignored(name)]


def _body(body: object) -> list[Delta]:
    """Return the deltas of a response that was not streamed."""
    output = get(body, "output")
    message = get(output, "message")
    found: list[Delta] = [MessageStart(string(message, "role"))]
    for at, content in enumerate(items(message, "content")):
        for kind in names(content) if is_record(content) else ["content"]:
            found += _block(kind, get(content, kind), at, (at,))
        found.append(BlockEnd(at))
    found += message_data(message, {"role", "content"}) + leftovers(output, {"message"}, ())
    found += finish(body, "stopReason", REASONS) + message_data(body, OF_BODY)
    return found + _usage(get(body, "usage"))


# ---- blocks ------------------------------------------------------------------------------------------


def _block(kind: str, content: object, at: Index, place: Block) -> list[Delta]:
    """Return the deltas of a whole block."""
    if kind == "text":
        text = string({kind: content}, kind)
        return [Ignored(kind) if text is None else PartStart(TextPart(text, block=place))]
    if not is_record(content):
        return [Ignored(kind)]
    if kind == "toolUse":
        return _tool_use(content, at)
    if kind == "toolResult":
        return [PartStart(_result(content, place))]
    if kind == "reasoningContent":
        return _reasoning(content, place)
    if kind == "citationsContent":
        return _cited(content, place)
    if kind in FILES:
        return [PartStart(_file(kind, content, place))]
    return [PartStart(OpaquePart(kind, native={kind: plain(content)}, block=place)), Ignored(kind)]


def _tool_use(tool_use: object, at: Index) -> list[Delta]:
    return call(
        tool_use,
        "input",
        index=at,
        id=string(tool_use, "toolUseId"),
        tool=string(tool_use, "name"),
        kind="server" if string(tool_use, "type") == "server_tool_use" else "function",
        counts_blocks=True,
        native=native(tool_use, {"input"}),
    )


def _result(content: object, place: Block) -> ToolResultPart:
    fields = native(content)
    output: object = fields.pop("content") if fields.get("content") is not None else list[object]()
    failed = fields.get("status") == "error"
    return ToolResultPart(string(content, "toolUseId"), None, output, failed, native=fields, block=place)


def _reasoning(content: object, place: Block) -> list[Delta]:
    said = get(content, "reasoningText")
    signature = string(said, "signature") or None
    part = ReasoningPart(string(said, "text") or "", signature, _binary(content, "redactedContent"), block=place)
    read = {"reasoningText", "redactedContent"}
    return [PartStart(part), *leftovers(content, read, ()), *leftovers(said, {"text", "signature"}, ())]


def _cited(content: object, place: Block) -> list[Delta]:
    """Return the part of a text with citations. Its native form has the pieces of the text, if there are several."""
    found: list[Delta] = []
    pieces: list[object] = []
    text = ""
    for item in items(content, "content"):
        piece = string(item, "text")
        if piece is None:
            found.append(Ignored("content"))
        else:
            text += piece
            pieces.append(native(item))
    citations: list[Citation] = []
    for item in items(content, "citations"):
        if is_record(item):
            citations.append(_citation(item))
        else:
            found.append(Ignored("citations"))
    fields: dict[str, object] | None = {"content": pieces} if len(pieces) > 1 else None
    part = TextPart(text, tuple(citations), native=fields, block=place)
    return [PartStart(part), *found, *leftovers(content, {"content", "citations"}, ())]


def _citation(source: object) -> Citation:
    passages = [string(item, "text") or "" for item in items(source, "sourceContent")]
    place = string(source, "source")
    location = get(source, "location")
    for kind in names(location) if place is None else []:
        document = number(get(location, kind), "documentIndex")
        place = place if document is None else str(document)
    return Citation(
        string(get(location, "web"), "url"),
        string(source, "title"),
        "".join(passages) or None,
        source_id=place,
        native=native(source),
    )


def _file(kind: str, content: object, place: Block) -> FilePart:
    """Return the part of a file. Its media type begins with the kind of the block."""
    form, source = string(content, "format"), get(content, "source")
    fields = native(content, {"source"})
    if "bytes" not in names(source) and says(source):
        fields["source"] = plain(source)
    url = string(get(source, "s3Location"), "uri")
    media_type = f"{kind}/{form}" if form else kind
    return FilePart(media_type, _binary(source, "bytes"), url, native=fields, block=place)


def _binary(source: object, name: str) -> str | bytes | None:
    value = get(source, name)
    return bytes(value) if isinstance(value, (bytes, bytearray)) else string(source, name)


# ---- pieces of blocks --------------------------------------------------------------------------------


def _start(event: object) -> list[Delta]:
    start, place = get(event, "start"), block(event, "contentBlockIndex")
    if not is_record(start):
        return [Ignored("start")]
    found: list[Delta] = []
    for kind in names(start):
        content = get(start, kind)
        if says(content):
            found += _block(kind, content, index(event, "contentBlockIndex"), place)
    return found


def _delta(event: object) -> list[Delta]:
    delta = get(event, "delta")
    place = block(event, "contentBlockIndex")
    found = block_text(TextDelta, delta, "text", place)
    if not found or has_more(delta, OF_TEXT):  # a text has nothing else
        found += _other_delta(event, delta, place)
    if has_more(event, OF_DELTA):
        found += leftovers(event, OF_DELTA, ())
    return found


def _other_delta(event: object, delta: object, place: Block) -> list[Delta]:
    found: list[Delta] = []
    reasoning, tool_use = get(delta, "reasoningContent"), get(delta, "toolUse")
    if is_record(reasoning):
        found += _reasoning_delta(reasoning, place)
    elif says(reasoning):
        found.append(Ignored("reasoningContent"))
    if is_record(tool_use):
        found += call(tool_use, "input", index=index(event, "contentBlockIndex"), counts_blocks=True)
        found += leftovers(tool_use, {"input"}, ())
    elif says(tool_use):
        found.append(Ignored("toolUse"))
    if says(get(delta, "toolResult")):
        found.append(PartData("more_output", plain(items(delta, "toolResult")), place))
    citation, image = get(delta, "citation"), get(delta, "image")
    if is_record(citation):  # it may come before the text
        found += [PartStart(TextPart(block=place)), PartData("citation", _citation(citation), place)]
    elif says(citation):
        found.append(Ignored("citation"))
    if is_record(image):
        found += _image_delta(image, place)
    elif says(image):
        found.append(Ignored("image"))
    if not is_record(delta):
        return [Ignored("delta")]
    return found + leftovers(delta, PIECES, ())


def _reasoning_delta(reasoning: object, place: Block) -> list[Delta]:
    found = block_text(ReasoningDelta, reasoning, "text", place)
    signature, redacted = get(reasoning, "signature"), get(reasoning, "redactedContent")
    if says(signature) or says(redacted):
        found.append(PartStart(ReasoningPart(block=place)))  # such a block may have no text
    for name, field in (("more_signature", "signature"), ("more_encrypted", "redactedContent")):
        data = _binary(reasoning, field)
        if isinstance(data, str if field == "signature" else (str, bytes)) and data:
            found.append(PartData(name, data, place))
        elif says(get(reasoning, field)):
            found.append(Ignored(field))
    return found + leftovers(reasoning, {"text", "signature", "redactedContent"}, ())


def _image_delta(image: object, place: Block) -> list[Delta]:
    found: list[Delta] = []
    source = get(image, "source")
    data = _binary(source, "bytes")
    if data:
        found.append(PartData("data", data, place))
    elif says(source):
        found.append(PartData("url", string(get(source, "s3Location"), "uri"), place, {"source": plain(source)}))
    more = native(image, {"source"})
    return [*found, PartData("", None, place, more)] if more else found


def _usage(source: object) -> list[Delta]:
    read = number(source, "inputTokens")
    if read is not None:  # the provider counts cached tokens separately
        read += (number(source, "cacheReadInputTokens") or 0) + (number(source, "cacheWriteInputTokens") or 0)
    return usage(source, read, number(source, "outputTokens"), number(source, "totalTokens"))
