"""Gemini's generateContent, from AI Studio and from Vertex. Whole responses have the shape of chunks.

Calls have no index and mostly no id: a part with a name starts a call, a part without one continues the last call.
Arguments come whole or, if Vertex streams them, as leaves by JSONPath. A call is whole unless it announces that it will
continue.

Parts have no index either. Neighbouring texts are one part, but a text with a signature or with another field of its
own is a part by itself: it must go back alone. The same holds for code, results, files and tools that Google runs.

Fields are camelCase on the wire and snake_case in Google's library, which also decodes base64. Native fields are
always as on the wire: camelCase, with base64 as text.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast
from zlib import crc32

from ..._missing import MISSING
from .._deltas import (
    Finish,
    Ignored,
    Leaf,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Whole,
)
from .._parts import Citation, FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart
from .chunks import (
    MAX_DEPTH,
    block_text,
    call,
    failure,
    finish,
    get,
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
    from .._deltas import Delta, FinishReason
    from .._parts import Part

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "max_tokens": "length",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "model_armor": "content_filter",
    "image_safety": "content_filter",
    "image_prohibited_content": "content_filter",
    "image_recitation": "content_filter",
    "jailbreak": "content_filter",
    "continuation": "paused",
    "malformed_function_call": "error",
    "malformed_response": "error",
    "unexpected_tool_call": "error",
    "too_many_tool_calls": "error",
    "missing_thought_signature": "error",
}

# Names on the wire, by the names in Google's library.
WIRE_NAMES: Final = {
    name: "".join([word if at == 0 else word.capitalize() for at, word in enumerate(name.split("_"))])
    for name in (
        *("audio_transcription", "code_execution_result", "executable_code", "file_data", "function_call"),
        *("function_response", "inline_data", "media_processing", "media_resolution", "part_metadata"),
        *("speech_metadata", "thought_signature", "tool_call", "tool_response", "video_metadata"),
        *("display_name", "end_offset", "file_uri", "mime_type", "num_tokens", "partial_args", "start_offset"),
        *("tool_type", "will_continue"),
        *("avg_logprobs", "citation_metadata", "continuation_token", "finish_message", "finish_reason"),
        *("grounding_metadata", "logprobs_result", "safety_ratings", "token_count", "url_context_metadata"),
        *("block_reason", "block_reason_message", "create_time", "model_status", "model_version", "prompt_feedback"),
        *("response_id", "usage_metadata"),
        *("confidence_scores", "custom_metadata", "document_name", "end_index", "file_search_store"),
        *("google_maps_widget_context_token", "grounding_chunk_indices", "grounding_chunks", "grounding_supports"),
        *("image_search_queries", "image_uri", "media_id", "page_number", "part_index", "place_answer_sources"),
        *("place_id", "publication_date", "rag_chunk", "rendered_content", "rendered_parts", "retrieval_metadata"),
        *("retrieval_queries", "retrieved_context", "retrieved_url", "sdk_blob", "search_entry_point"),
        *("source_flagging_uris", "source_uri", "start_index", "string_value", "url_metadata"),
        *("url_retrieval_status", "web_search_queries"),
    )
}
ARBITRARY: Final = frozenset({"args", "partMetadata", "response"})
"""Fields with data of the application or of a tool: the names inside them are not Google's."""

CHUNK_READ: Final = frozenset({
    "candidates", "error", "modelVersion", "promptFeedback", "responseId", "usageMetadata",
})  # fmt: skip
CHUNK_DATA: Final = frozenset({"createTime", "modelStatus"})
OF_THE_LIBRARY: Final = frozenset({"sdk_http_response", "automatic_function_calling_history", "parsed"})
CANDIDATE_READ: Final = frozenset({"content", "finishReason", "index"})
CANDIDATE_DATA: Final = frozenset({
    "avgLogprobs", "citationMetadata", "continuationToken", "finishMessage", "groundingMetadata", "logprobsResult",
    "safetyRatings", "tokenCount", "urlContextMetadata",
})  # fmt: skip
CONTENT_READ: Final = frozenset({"parts", "role"})
CALL_READ: Final = frozenset({"args", "id", "name", "partialArgs", "willContinue"})
KINDS: Final = (
    *("functionCall", "executableCode", "codeExecutionResult", "toolCall", "toolResponse", "inlineData", "fileData"),
)
"""The fields that make a part something else than text."""
CODE_EXECUTION: Final = "code_execution"


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    if isinstance(get(chunk, "candidates"), (list, tuple)):
        return True
    if is_record(get(chunk, "usageMetadata", "usage_metadata")) or _blocked(chunk):
        return True
    return string(get(chunk, "error"), "status") is not None


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found: list[Delta] = []
    candidates = items(chunk, "candidates")
    named = string(chunk, "responseId", "response_id") or None
    model = string(chunk, "modelVersion", "model_version") or None
    if not candidates and (named or model):
        found.append(MessageStart(None, named, model))
    for candidate in candidates:
        found += _candidate(candidate, named, model)
    found += _feedback(chunk) + _usage(get(chunk, "usageMetadata", "usage_metadata")) + failure(get(chunk, "error"))
    if not found and not is_chunk(chunk):
        return [Ignored("chunk")]
    return found + _others(chunk, CHUNK_READ, CHUNK_DATA)


def _blocked(chunk: object) -> str | None:
    """Return why the prompt was refused. There is no candidate then."""
    return string(get(chunk, "promptFeedback", "prompt_feedback"), "blockReason", "block_reason")


def _feedback(chunk: object) -> list[Delta]:
    feedback = get(chunk, "promptFeedback", "prompt_feedback")
    if not says(feedback):
        return []
    if not is_record(feedback):
        return [Ignored("promptFeedback")]
    blocked = _blocked(chunk)
    found: list[Delta] = [Finish("content_filter", blocked)] if blocked else []
    return [*found, *_data("promptFeedback", feedback, 0)]


def _others(source: object, read: frozenset[str], data: frozenset[str], at: int = 0) -> list[Delta]:
    """Return the other fields of a chunk, a candidate or a content: data of the message, or unknown ones."""
    found: list[Delta] = []
    for name in names(source):
        wire = WIRE_NAMES.get(name, name)
        if wire in read:
            continue
        value = get(source, name)
        if not says(value):
            continue
        found += _data(wire, value, at) if wire in data else [Ignored(wire, name in OF_THE_LIBRARY)]
    return found


def _data(name: str, value: object, at: int) -> list[Delta]:
    copy = _wire(value)
    return [Ignored(name)] if copy is MISSING else [MessageData(name, copy, at)]


# ---- candidates --------------------------------------------------------------------------------------


def _candidate(candidate: object, named: str | None, model: str | None) -> list[Delta]:
    if not is_record(candidate):
        return [Ignored("candidates")]
    at = number(candidate, "index") or 0
    content = get(candidate, "content")
    found: list[Delta] = []
    role = string(content, "role")
    if role or named or model:
        found.append(MessageStart("assistant" if role == "model" else role or None, named, model, at))
    for part in items(content, "parts"):
        found += _part(part, at)
    if is_record(content):
        found += _others(content, CONTENT_READ, frozenset(), at)
    elif says(content):
        found.append(Ignored("content"))
    if names(candidate) != ["content"]:
        grounding = get(candidate, "groundingMetadata", "grounding_metadata")
        if says(grounding):
            found += _grounding(grounding, at, bool(found) and _is_text(found[-1]))
        found += _cited(get(candidate, "citationMetadata", "citation_metadata"), at)
        found += _visited(get(candidate, "urlContextMetadata", "url_context_metadata"), at)
        found += finish(candidate, "finishReason", REASONS, at, "finish_reason")
        found += _others(candidate, CANDIDATE_READ, CANDIDATE_DATA, at)
    return found


def _is_text(delta: Delta) -> bool:
    """Tell whether the delta writes text, so that the last part of the message is this text."""
    return isinstance(delta, TextDelta) or (isinstance(delta, PartStart) and isinstance(delta.part, TextPart))


# ---- parts -------------------------------------------------------------------------------------------


def _part(part: object, at: int) -> list[Delta]:
    if not is_record(part):
        return [Ignored("parts")]
    fields = names(part)
    if fields == ["text"]:
        return block_text(TextDelta, part, "text", choice=at)  # nearly always
    kind, more = _fields(part, fields)
    is_thought = get(part, "thought") is True
    if kind:
        found: list[Delta] = block_text(ReasoningDelta if is_thought else TextDelta, part, "text", choice=at)
        native = _native(more, is_thought)
        found += [Ignored(name) for name in more if name not in native]  # nested too deeply
        return found + _other_part(kind, get(part, kind, _library_name(kind)), native, at)
    wrong: list[Delta] = [Ignored(name) for name in KINDS if name in more]
    more = {name: value for name, value in more.items() if name not in KINDS}
    if not more:
        return wrong + block_text(ReasoningDelta if is_thought else TextDelta, part, "text", choice=at)
    text = string(part, "text")
    if text is None and says(get(part, "text")):
        wrong.append(Ignored("text"))
    native = _native(more, is_thought)
    wrong += [Ignored(name) for name in more if name not in native]  # nested too deeply
    if text is None and not is_thought and list(more) != ["thoughtSignature"]:
        unknown = next(name for name in more if name != "thoughtSignature")
        return [*wrong, PartStart(OpaquePart(unknown, None, True, native), at)]
    written: Part
    if is_thought:
        written = ReasoningPart(text or "", _signature(native), is_complete=True, native=native)
    else:
        written = TextPart(text or "", is_complete=True, native=native)
    return [*wrong, PartStart(written, at)]


def _library_name(wire: str) -> str:
    return "".join(["_" + letter.lower() if letter.isupper() else letter for letter in wire])


def _fields(part: object, fields: list[str]) -> tuple[str, dict[str, object]]:
    """Return the kind of a part, if it is not text, and its other fields that carry information, without its text."""
    kind, more = "", dict[str, object]()
    for name in fields:
        wire = WIRE_NAMES.get(name, name)
        if wire in {"text", "thought"}:
            continue
        value = get(part, name)
        if wire in KINDS and is_record(value) and not kind:
            kind = wire
        elif says(value):
            more[wire] = value
    return kind, more


def _native(more: dict[str, object], is_thought: bool = False) -> dict[str, object]:
    """Return the fields of a part as on the wire."""
    native: dict[str, object] = {"thought": True} if is_thought else {}
    for name, value in more.items():
        copy = plain(value) if name in ARBITRARY else _wire(value)
        if copy is not MISSING:
            native[name] = copy
    return native


def _signature(native: dict[str, object]) -> str | None:
    signature = native.get("thoughtSignature")
    return signature if isinstance(signature, str) else None


def _other_part(kind: str, inner: object, native: dict[str, object], at: int) -> list[Delta]:
    if kind == "functionCall":
        return _function_call(inner, native, at)
    if kind == "executableCode":
        return _server_call(kind, CODE_EXECUTION, inner, native, at)
    if kind == "toolCall":
        return _server_call(kind, _tool_name(inner), inner, native, at)
    part: Part
    if kind == "codeExecutionResult":
        is_error = string(inner, "outcome") not in {None, "", "OUTCOME_OK", "OUTCOME_UNSPECIFIED"}
        part = _result(kind, CODE_EXECUTION, "output", inner, native, is_error)
    elif kind == "toolResponse":
        part = _result(kind, _tool_name(inner), "response", inner, native, False)
    else:
        part = _file(kind, inner, native)
    return [PartStart(part, at)]


def _result(
    kind: str, name: str, field: str, inner: object, native: dict[str, object], is_error: bool
) -> ToolResultPart:
    """Return the result of a tool that Google ran. The field holds its output."""
    output = plain(get(inner, field)) if field in names(inner) else None
    native[kind] = _inner(inner, ("id", field))
    shown = None if output is MISSING else output
    return ToolResultPart(string(inner, "id"), name, shown, is_error, None, True, native)


def _tool_name(tool: object) -> str:
    """Return the name of a tool that Google runs, in the spelling of its other tools."""
    return (string(tool, "toolType", "tool_type") or "tool").lower()


def _file(kind: str, inner: object, native: dict[str, object]) -> FilePart:
    data = get(inner, "data") if kind == "inlineData" else None
    url = string(inner, "fileUri", "file_uri") if kind == "fileData" else None
    content = data if isinstance(data, (str, bytes)) else None
    rest = _inner(inner, ("data", "mimeType", "displayName", "fileUri"))
    media_type, named = string(inner, "mimeType", "mime_type"), string(inner, "displayName", "display_name")
    return FilePart(media_type, content, url, None, named, is_complete=True, native={**native, kind: rest})


def _inner(inner: object, without: tuple[str, ...]) -> dict[str, object]:
    """Return the fields inside a part as on the wire, without those that the part holds itself."""
    fields = {WIRE_NAMES.get(name, name): get(inner, name) for name in names(inner)}
    return _native({name: value for name, value in fields.items() if name not in without and value is not None})


# ---- calls -------------------------------------------------------------------------------------------


def _function_call(function: object, native: dict[str, object], at: int) -> list[Delta]:
    name, named = string(function, "name"), string(function, "id")
    is_done = get(function, "willContinue", "will_continue") is not True
    args = get(function, "args")
    others = [each for each in names(function) if WIRE_NAMES.get(each, each) not in CALL_READ]
    rest = _inner(function, tuple(CALL_READ)) if others else {}
    partial = items(function, "partialArgs", "partial_args")
    has_none = bool(name) and is_done and not partial and (args is None or args is MISSING)
    if rest and _is_empty(args):
        rest["args"] = {}
    if rest or has_none:
        native["functionCall"] = rest  # without "args", none came
    if has_none:
        found = ToolCallDelta(id=named, name=name, arguments=Whole({}), kind="function", is_done=True, choice=at)
        return [_with_native(found, native)]
    if not partial:
        read = call(function, "args", id=named, tool=name, kind="function", is_done=is_done, choice=at)
        return [_with_native(delta, native) for delta in read] if native else read
    leaves = [_leaf(leaf) for leaf in partial]
    known = tuple([leaf for leaf in leaves if leaf is not None])
    ignored: list[Delta] = [Ignored("partialArgs") for leaf in leaves if leaf is None]
    found = ToolCallDelta(id=named, name=name, arguments=known, kind="function", is_done=is_done, choice=at)
    return [_with_native(found, native) if native else found, *ignored]


def _is_empty(args: object) -> bool:
    """Tell whether empty arguments came. They go back, and a call that came without any goes back without any."""
    return is_record(args) and not names(args)


def _with_native(delta: Delta, native: dict[str, object]) -> Delta:
    if not isinstance(delta, ToolCallDelta):
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
        _signature(native),
        native,
    )


def _server_call(kind: str, name: str, inner: object, native: dict[str, object], at: int) -> list[Delta]:
    """Return a call of a tool that Google runs: code that it executes, or a search."""
    if kind == "executableCode":
        given = _inner(inner, ("id",))
        arguments: Whole | None = Whole({each: given.pop(each) for each in ("language", "code") if each in given})
    else:
        given = _inner(inner, ("args", "id"))
        args = get(inner, "args")
        if _is_empty(args):
            given["args"] = {}
        copy: object = dict[str, object]() if args is None or args is MISSING else plain(args)
        arguments = Whole(cast("object", copy)) if isinstance(copy, dict) else None
    native[kind] = given
    named = string(inner, "id")
    found = ToolCallDelta(
        id=named, name=name, arguments=arguments, kind="server", is_done=True, choice=at,
        signature=_signature(native), native=native,
    )  # fmt: skip
    is_lost = not arguments and says(get(inner, "args"))
    return [found, Ignored("args")] if is_lost else [found]


def _leaf(leaf: object) -> Leaf | None:
    path = string(leaf, "jsonPath", "json_path")
    if path is None:
        return None
    value: object = string(leaf, "stringValue", "string_value")
    if value is None:
        for name, other, kinds in (("numberValue", "number_value", (int, float)), ("boolValue", "bool_value", bool)):
            found = get(leaf, name, other)
            if isinstance(found, kinds):
                value = found
        null = get(leaf, "nullValue", "null_value")
        if value is None and (null is None or null is MISSING):
            value = MISSING
    return Leaf(path, value, get(leaf, "willContinue", "will_continue") is True)


# ---- sources -----------------------------------------------------------------------------------------
#
# The block of a source is made of the source itself: a source that comes again is the same part.


def _grounding(grounding: object, at: int, has_text: bool) -> list[Delta]:
    """Return the citations of the text that the chunk ends with, and the sources.

    Google counts places in bytes of the whole text, which no single chunk knows. A citation has its passage instead.
    """
    sources = [_grounding_chunk(chunk) for chunk in items(grounding, "groundingChunks", "grounding_chunks")]
    found: list[Delta] = []
    if has_text:
        citations: list[Citation] = []
        for support in items(grounding, "groundingSupports", "grounding_supports"):
            citations += _citations(support, sources)
        if citations:
            found.append(PartData("citations", tuple(citations), choice=at))
    return found + [PartStart(source, at) for source in sources if source is not None]


def _grounding_chunk(chunk: object) -> SourcePart | None:
    for kind in names(chunk):
        inner = get(chunk, kind)
        if is_record(inner):
            url = string(inner, "uri") or string(inner, "sourceUri", "source_uri")
            title, text = string(inner, "title"), string(inner, "text")
            native: dict[str, object] = {WIRE_NAMES.get(kind, kind): _inner(inner, ("uri", "title", "text"))}
            return _source(url, title, text, native)
    return None


def _source(url: str | None, title: str | None, text: str | None, native: dict[str, object]) -> SourcePart:
    block = ("source", url or title or "", crc32((text or "").encode("utf-8", "replace")))
    return SourcePart(url or None, title or None, None, text or None, native=native, block=block)


def _citations(support: object, sources: list[SourcePart | None]) -> list[Citation]:
    native = _wire(support)
    if not isinstance(native, dict):
        return []
    passage = string(get(support, "segment"), "text")
    found: list[Citation] = []
    for index in items(support, "groundingChunkIndices", "grounding_chunk_indices"):
        source = sources[index] if isinstance(index, int) and 0 <= index < len(sources) else None
        if source is not None:
            found.append(Citation(source.url, source.title, passage, native=cast("dict[str, object]", native)))
    return found


def _cited(metadata: object, at: int) -> list[Delta]:
    """Return the sources that the text repeats."""
    found: list[Delta] = []
    for each in items(metadata, "citationSources") + items(metadata, "citations"):
        url, title = string(each, "uri"), string(each, "title")
        if url or title:
            native: dict[str, object] = {"citationMetadata": _inner(each, ("uri", "title"))}
            found.append(PartStart(_source(url, title, None, native), at))
    return found


def _visited(metadata: object, at: int) -> list[Delta]:
    """Return the pages that Google has read for the model."""
    found: list[Delta] = []
    for each in items(metadata, "urlMetadata", "url_metadata"):
        url = string(each, "retrievedUrl", "retrieved_url")
        if url:
            native: dict[str, object] = {"urlMetadata": _inner(each, ("retrievedUrl",))}
            found.append(PartStart(_source(url, None, None, native), at))
    return found


# ---- data as on the wire -----------------------------------------------------------------------------


class _TooDeepError(Exception):
    """The value is nested too deeply, or contains itself."""


def _wire(value: object) -> object:
    """Return a copy of a value as it is on the wire; `MISSING` if it is nested too deeply."""
    try:
        return _copied(value, 0)
    except _TooDeepError:
        return MISSING


def _copied(value: object, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise _TooDeepError
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_copied(item, depth + 1) for item in cast("list[object]", value)]
    if not is_record(value):
        return plain(value)
    copy: dict[str, object] = {}
    for name in names(value):
        inner = get(value, name)
        wire = WIRE_NAMES.get(name, name)
        if wire in ARBITRARY:
            inner = plain(inner)
            if inner is MISSING:
                raise _TooDeepError
            copy[wire] = inner
        elif inner is not None:
            copy[wire] = _copied(inner, depth + 1)
    return copy


def _usage(source: object) -> list[Delta]:
    read = number(source, "promptTokenCount", "prompt_token_count")
    if read is not None:
        read += number(source, "toolUsePromptTokenCount", "tool_use_prompt_token_count") or 0
    written = number(source, "candidatesTokenCount", "candidates_token_count")
    thought = number(source, "thoughtsTokenCount", "thoughts_token_count")
    if written is not None or thought is not None:
        written = (written or 0) + (thought or 0)
    return usage(source, read, written, number(source, "totalTokenCount", "total_token_count"))
