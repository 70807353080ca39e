"""Gemini's Interactions API, streamed or whole.

The index numbers the steps of the interaction. A thought, a call and a result are one part each. A "model_output" has
texts and files, which its deltas do not number: text goes on until a file comes. The end of a step does not name its
type, so it becomes a `BlockEnd` for both.

Arguments of functions are pieces of text; the start of a call has an empty object in their place. A tool that Google
runs is a pair of steps, "<tool>_call" and "<tool>_result". Deltas of these steps repeat the type and hold whole fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast
from zlib import crc32

from ..._missing import MISSING
from .._deltas import (
    BlockEnd,
    Finish,
    Ignored,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from .._parts import Citation, FilePart, OpaquePart, ReasoningPart, TextPart, ToolResultPart
from .chunks import (
    block,
    block_text,
    call,
    failure,
    finish,
    get,
    index,
    is_record,
    items,
    names,
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
    "completed": "stop",
    "requires_action": "tool_calls",
    "requires_continuation": "paused",
    "cancelled": "cancelled",
    "incomplete": "length",
    "budget_exceeded": "length",
    "failed": "error",
}
RUNNING: Final = frozenset({"in_progress", "queued"})
GOOD: Final = frozenset({"completed", "requires_action"})

FILES: Final = frozenset({"audio", "document", "image", "video"})
CALL: Final = "_call"
RESULT: Final = "_result"
MCP: Final = "mcp_server_tool"

EVENT_READ: Final = frozenset({"event_id", "event_type", "index", "delta", "step", "interaction", "metadata"})
STOP_READ: Final = frozenset({*EVENT_READ, "usage"})
UPDATE_READ: Final = frozenset({*EVENT_READ, "interaction_id", "status", "usage", "continuation_token"})
ERROR_READ: Final = frozenset({*EVENT_READ, "error"})
INTERACTION_READ: Final = frozenset({"id", "model", "object", "status", "steps", "usage", "error", "errors"})
INTERACTION_DATA: Final = frozenset({
    "agent", "continuation_ids", "continuation_token", "created", "environment_id", "labels", "previous_interaction_id",
    "service_tier", "updated",
})  # fmt: skip
# Fields of the request that come back with a whole interaction, and shortcuts to its steps.
REPEATED: Final = frozenset({
    "agent_config", "cached_content", "environment", "generation_config", "input", "output_audio", "output_image",
    "output_text", "output_video", "response_format", "response_mime_type", "response_modalities", "safety_settings",
    "system_instruction", "tools", "webhook_config",
})  # fmt: skip


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    return string(chunk, "event_type") is not None or _is_interaction(chunk)


def _is_interaction(chunk: object) -> bool:
    """Tell whether this is a whole interaction."""
    if string(chunk, "object") == "interaction":
        return True
    return isinstance(get(chunk, "steps"), (list, tuple)) and string(chunk, "status") is not None


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "event_type") or "chunk"
    if kind == "step.delta":
        return _delta(chunk) + _total(chunk) if len(names(chunk)) > 3 else _delta(chunk)
    if kind == "step.start":
        return _step(get(chunk, "step"), index(chunk, "index"), block(chunk, "index"), False) + _others(chunk)
    if kind == "step.stop":
        found: list[Delta] = [BlockEnd(index(chunk, "index")), BlockEnd(block=_output(block(chunk, "index")))]
        return found + _usage(get(chunk, "usage")) + _others(chunk, STOP_READ, known=frozenset({"step_usage"}))
    if kind == "interaction.status_update":
        return _update(chunk)
    interaction = get(chunk, "interaction")
    if kind == "interaction.created":
        found = [MessageStart("assistant", string(interaction, "id") or None, string(interaction, "model") or None)]
        return found + _others(interaction, INTERACTION_READ, INTERACTION_DATA, REPEATED) + _others(chunk)
    if kind == "interaction.completed":
        return _completed(interaction) + _others(chunk)
    if kind == "chunk" and _is_interaction(chunk):
        return _interaction(chunk)
    failed = failure(get(chunk, "error"))
    return failed + _others(chunk, ERROR_READ) if failed else [Ignored(kind)]


def _others(
    source: object,
    read: frozenset[str] = EVENT_READ,
    data: frozenset[str] = frozenset(),
    known: frozenset[str] = frozenset(),
) -> list[Delta]:
    """Return the other fields of an event or of an interaction: data of the message, or unknown ones."""
    found: list[Delta] = []
    for name in names(source):
        if name in read or not says(get(source, name)):
            continue
        copy = plain(get(source, name)) if name in data else MISSING
        found.append(Ignored(name, name in known) if copy is MISSING else MessageData(name, copy))
    return found


def _total(chunk: object) -> list[Delta]:
    """Return the count of tokens that comes with a delta, and unknown fields."""
    return _usage(get(get(chunk, "metadata"), "total_usage")) + _others(chunk)


# ---- the interaction ---------------------------------------------------------------------------------


def _update(chunk: object) -> list[Delta]:
    """Return the end of an interaction that went wrong. Only a completed interaction ends well."""
    found = _usage(get(chunk, "usage")) + _others(chunk, UPDATE_READ)
    token = string(chunk, "continuation_token")
    if token:
        found.append(MessageData("continuation_token", token))
    status = string(chunk, "status") or ""
    if status in REASONS and status not in GOOD:
        found.append(Finish(REASONS[status], status))
    elif status and status not in RUNNING and status not in GOOD:
        found.append(Ignored("status"))
    return found


def _interaction(interaction: object) -> list[Delta]:
    """Return a whole interaction."""
    named, model = string(interaction, "id") or None, string(interaction, "model") or None
    found: list[Delta] = [MessageStart("assistant", named, model)]
    steps = [step for step in items(interaction, "steps") if string(step, "type") != "user_input"]
    for at, step in enumerate(steps):
        found += _step(step, at, (at,), True)
        found.append(BlockEnd(at))
    return found + _end(interaction, INTERACTION_READ)


def _completed(interaction: object) -> list[Delta]:
    """Return the end of a streamed interaction. Its steps came before."""
    named, model = string(interaction, "id") or None, string(interaction, "model") or None
    found: list[Delta] = [MessageStart("assistant", named, model)] if named or model else []
    return found + _end(interaction, INTERACTION_READ - {"steps"})


def _end(interaction: object, read: frozenset[str]) -> list[Delta]:
    found = finish(interaction, "status", REASONS) + _usage(get(interaction, "usage"))
    found += failure(get(interaction, "error"))
    for error in items(interaction, "errors"):
        found += failure(error)
    return found + _others(interaction, read, INTERACTION_DATA, REPEATED)


# ---- steps -------------------------------------------------------------------------------------------


def _step(step: object, at: Index, place: Block, is_whole: bool) -> list[Delta]:
    """Return the deltas of a step: its start, or the whole step."""
    if get(step, "is_unknown") is True and is_record(get(step, "raw")):
        step = get(step, "raw")  # Google's library wraps a step that it does not know
    kind = string(step, "type") or ""
    if not kind:
        return [Ignored("step")]
    if kind == "model_output":
        return _model_output(step, place, is_whole)
    if kind == "thought":
        return _thought(step, place)
    if kind == "user_input":
        return [Ignored(kind, True)]  # the application's own
    if kind.endswith(CALL):
        return _call(step, kind, at, is_whole)
    if kind.endswith(RESULT):
        return _result(step, kind, place)
    return [PartStart(OpaquePart(kind, string(step, "id"), False, _rest(step), place))]


def _output(place: Block) -> Block:
    """Return the block of the text in a "model_output": the name of the step, because no delta numbers its texts."""
    return (f"step {place[0]}",) if place else ()


def _rest(source: object, *without: str) -> dict[str, object]:
    """Return the fields of a step or of a content, without those that its part holds itself."""
    found: dict[str, object] = {}
    for name in names(source):
        if name not in without:
            copy = plain(get(source, name))
            if copy is not None and copy is not MISSING:
                found[name] = copy
    return found


def _thought(step: object, place: Block) -> list[Delta]:
    summary = items(step, "summary")
    texts = [string(content, "text") for content in summary]
    is_plain = all(
        text is not None and set(names(content)) <= {"type", "text"} and string(content, "type") in {None, "text"}
        for text, content in zip(texts, summary, strict=True)
    )
    signature = string(step, "signature")
    native = _rest(step, "type", "signature", "summary") if is_plain else _rest(step, "type", "signature")
    if signature == "":
        native["signature"] = ""
    found: list[Delta] = [
        PartStart(ReasoningPart("", signature or None, is_summary=True, native=native or None, block=place))
    ]
    said = [text for text in texts if text]
    if len(said) == 1:
        found.append(ReasoningDelta(said[0], place, is_whole=True))
    elif place:
        found += [ReasoningDelta(text, (place[0], "summary", n), True) for n, text in enumerate(said)]
    return found


def _model_output(step: object, place: Block, is_whole: bool) -> list[Delta]:
    found: list[Delta] = []
    contents = items(step, "content")
    place = _output(place)
    for n, content in enumerate(contents):
        kind = string(content, "type") or ""
        if kind == "text":
            text = string(content, "text") or ""
            citations = tuple([_citation(each, text) for each in items(content, "annotations")])
            native = _rest(content, "type", "text", "annotations") or None
            found.append(
                PartStart(TextPart(text, citations, None, is_whole, native, (*place, n) if is_whole else place))
            )
        elif kind in FILES:
            found.append(PartStart(_file(content, kind, (*place, n))))
        elif kind:
            found.append(PartStart(OpaquePart(kind, None, True, _rest(content), (*place, n))))
        elif says(content):
            found.append(Ignored("content"))
    found += failure(get(step, "error"))
    read = {"content", "error", "type"}
    return found + [Ignored(name) for name in names(step) if name not in read and says(get(step, name))]


def _file(content: object, kind: str, place: Block) -> FilePart:
    data = get(content, "data")
    native = {**_rest(content, "data", "mime_type", "uri"), "type": kind}
    return FilePart(
        string(content, "mime_type"),
        data if isinstance(data, (str, bytes)) and data else None,
        string(content, "uri"),
        is_complete=True,
        native=native,
        block=place,
    )


def _audio(delta: object, place: Block) -> list[Delta]:
    """Return a piece of audio. The pieces of a step follow each other in one file."""
    native = {**_rest(delta, "data", "mime_type", "uri"), "type": "audio"}
    start = FilePart(string(delta, "mime_type"), None, string(delta, "uri"), native=native, block=place)
    data = get(delta, "data")
    piece = [PartData("data", data, place)] if isinstance(data, (str, bytes)) and data else []
    return [PartStart(start), *piece]


def _call(step: object, kind: str, at: Index, is_whole: bool) -> list[Delta]:
    name = string(step, "name")
    is_function = kind == "function_call"
    if is_function:
        native = _rest(step, "type", "id", "name", "arguments")
    else:
        tool = kind.removesuffix(CALL)
        name = name if tool == MCP and name else tool
        native = {**_rest(step, "id", "name", "arguments"), "type": kind}
    has_arguments = says(get(step, "arguments")) or is_whole
    found = call(
        step if has_arguments else None,
        "arguments",
        index=at,
        id=string(step, "id"),
        tool=name,
        kind="function" if is_function else "server",
        is_done=is_whole or (has_arguments and not is_function),
        counts_blocks=True,
    )
    return [_with_native(delta, string(step, "signature"), native) for delta in found]


def _with_native(delta: Delta, signature: str | None, native: dict[str, object]) -> Delta:
    if not isinstance(delta, ToolCallDelta) or not (signature or native):
        return delta
    return ToolCallDelta(
        delta.index,
        delta.id,
        delta.name,
        delta.arguments,
        delta.kind,
        delta.is_done,
        delta.counts_blocks,
        delta.choice,
        signature or None,
        native or None,
    )


def _result(step: object, kind: str, place: Block) -> list[Delta]:
    tool = kind.removesuffix(RESULT)
    name = string(step, "name")
    output = plain(get(step, "result")) if "result" in names(step) else None
    native = {**_rest(step, "call_id", "result"), "type": kind}
    part = ToolResultPart(
        string(step, "call_id"),
        name if name and tool in {MCP, "function"} else tool,
        None if output is MISSING else output,
        get(step, "is_error") is True,
        native=native,
        block=place,
    )
    return [PartStart(part)]


# ---- deltas ------------------------------------------------------------------------------------------


def _delta(chunk: object) -> list[Delta]:
    delta = get(chunk, "delta")
    kind = string(delta, "type") or "delta"
    place = block(chunk, "index")
    if kind == "text":
        return block_text(TextDelta, delta, "text", _output(place)) + _unread(delta, "text")
    if kind == "arguments_delta":
        found = call(delta, "arguments", index=index(chunk, "index"), counts_blocks=True)
        return found + _unread(delta, "arguments")
    if kind == "thought_summary":
        return _summary(delta, place)
    if kind == "thought_signature":
        signature = string(delta, "signature")
        found = [PartData("signature", signature, place)] if signature else []
        return found + _unread(delta, "signature")
    if kind == "text_annotation_delta":
        found = [PartData("citation", _citation(each), _output(place)) for each in items(delta, "annotations")]
        return found + _unread(delta, "annotations")
    if kind in FILES:
        if kind == "audio":
            return _audio(delta, (*_output(place), kind))
        content = get(delta, "data") if says(get(delta, "data")) else get(delta, "uri")
        return [PartStart(_file(delta, kind, (*_output(place), kind, _fingerprint(content))))]
    if kind.endswith(CALL):
        return _call_delta(delta, index(chunk, "index"))
    if kind.endswith(RESULT):
        return _result_delta(delta, place)
    return [Ignored(kind)]


def _unread(delta: object, name: str) -> list[Delta]:
    """Return the unknown fields of a delta, which nearly always has its type and one more."""
    if get(delta, name) is not MISSING and len(names(delta)) <= 2:
        return []
    return [Ignored(each) for each in names(delta) if each not in {"type", name} and says(get(delta, each))]


def _summary(delta: object, place: Block) -> list[Delta]:
    content = get(delta, "content")
    if not is_record(content):
        return block_text(ReasoningDelta, delta, "content", place)
    if string(content, "type") not in {None, "text"}:  # an image
        native = _rest(content)
        content = native.get("data", native.get("uri"))
        place = (*place, "summary", _fingerprint(content))
        return [PartStart(OpaquePart("thought_summary", None, True, native, place))]
    return block_text(ReasoningDelta, content, "text", place) + _unread(content, "text")


def _fingerprint(content: object) -> int:
    """Return a number for the content of a file. The deltas of a step do not number its files."""
    if isinstance(content, bytes):
        return crc32(content)
    return crc32(content.encode("utf-8", "replace")) if isinstance(content, str) else 0


def _call_delta(delta: object, at: Index) -> list[Delta]:
    native = _rest(delta, "type", "arguments")
    has_arguments = says(get(delta, "arguments"))
    source = delta if has_arguments else None
    found = call(source, "arguments", index=at, is_done=has_arguments, counts_blocks=True)
    return [_with_native(each, string(delta, "signature"), native) for each in found]


def _result_delta(delta: object, place: Block) -> list[Delta]:
    native = _rest(delta, "type", "result")
    found: list[Delta] = []
    if "result" in names(delta):
        output = plain(get(delta, "result"))
        found.append(Ignored("result") if output is MISSING else PartData("output", output, place))
    is_error = get(delta, "is_error")
    if isinstance(is_error, bool):
        found.append(PartData("is_error", is_error, place))
    return [*found, PartData("", None, place, native)] if native else found


def _citation(annotation: object, text: str | None = None) -> Citation:
    """Return a citation. Google counts its place in bytes, which become characters where the whole text is known."""
    native = plain(annotation)
    start, end = number(annotation, "start_index"), number(annotation, "end_index")
    if text is None:
        start = end = None
    elif not text.isascii():
        encoded = text.encode("utf-8", "replace")
        start = None if start is None else _characters(encoded, start)
        end = None if end is None else _characters(encoded, end)
    title = string(annotation, "title") or string(annotation, "file_name") or string(annotation, "name")
    return Citation(
        string(annotation, "url") or string(annotation, "document_uri"),
        title,
        string(annotation, "source"),
        start,
        end,
        string(annotation, "place_id") or string(annotation, "media_id"),
        cast("dict[str, object]", native) if isinstance(native, dict) else None,
    )


def _characters(encoded: bytes, count: int) -> int:
    return len(encoded[: max(count, 0)].decode("utf-8", "ignore"))


def _usage(source: object) -> list[Delta]:
    read = number(source, "total_input_tokens")
    if read is not None:
        read += number(source, "total_tool_use_tokens") or 0
    written = number(source, "total_output_tokens")
    if written is not None:
        written += number(source, "total_thought_tokens") or 0
    return usage(source, read, written, number(source, "total_tokens"))
