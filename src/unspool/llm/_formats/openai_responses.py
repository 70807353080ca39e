"""OpenAI's Responses API, also in the dialects of Azure, xAI, LM Studio and Copilot.

A response is a list of items. `output_index` numbers them, whatever their type; item ids are not read, because Copilot
changes them from event to event. The id of a call is its `call_id`. The blocks of the parts:

    (item,)                 a reasoning, a call, a result, a file, an item that has no other place
    (item, content)         a text or a refusal of a message
    (item, "summary", n)    a section of a reasoning: of its summary, or with "content" of the reasoning itself
    ("audio", 0)            the audio of the answer

The stream says everything up to three times: in deltas, when a text or an item is done, and in the response at the end.
Later versions replace earlier ones. Each of them may be the only one: LM Studio sends arguments without any delta. The
items of the response at the end are numbered by their places, and a `Recount` says so.

The native block of a text has the fields of its message; "content" is a list of the text's own fields. All parts of one
item have the same fields, so that a writer can put the item together again.

Items by type:

    message, reasoning                            texts, refusals and a reasoning
    function_call, custom_tool_call               calls
    apply_patch_call, computer_call, ...          calls of kind "builtin": the application runs them
    web_search_call, mcp_call, program, ...       calls of kind "server": the provider has run them
    shell_call, tool_search_call                  either, by their environment or execution
    image_generation_call                         a file
    shell_call_output, tool_search_output, ...    results
    mcp_approval_request, compaction, ...         opaque

xAI runs some custom tools itself: their call ids begin with "xs_call".

A whole response that was not streamed is read like the response at the end of a stream. Its own fields are the field
"response" of the message, without the items, the usage, and the tools and instructions of the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..._missing import MISSING
from .._deltas import (
    BlockEnd,
    BlockStart,
    Finish,
    Ignored,
    Leaf,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ReasoningDelta,
    Recount,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Whole,
)
from .._parts import Citation, FilePart, OpaquePart, ReasoningPart, RefusalPart, TextPart, ToolResultPart
from .chunks import (
    block,
    block_text,
    call,
    failure,
    get,
    index,
    is_record,
    items,
    leftovers,
    names,
    number,
    plain,
    says,
    string,
    usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._deltas import Block, CallKind, Delta, FinishReason, Index

__all__ = ["deltas", "is_chunk"]

# Each text comes as <name>.delta and <name>.done: the field of the second, and the number of the part in its item.
TEXTS: Final[dict[str, tuple[type[TextDelta | ReasoningDelta | RefusalDelta], str, str]]] = {
    "response.output_text": (TextDelta, "text", "content_index"),
    "response.refusal": (RefusalDelta, "refusal", "content_index"),
    "response.reasoning_text": (ReasoningDelta, "text", "content_index"),
    "response.reasoning_summary_text": (ReasoningDelta, "text", "summary_index"),
}
SECTIONS: Final = {"response.reasoning_text": "content", "response.reasoning_summary_text": "summary"}
CALLS: Final[dict[str, tuple[CallKind, str]]] = {
    "response.function_call_arguments": ("function", "arguments"),
    "response.custom_tool_call_input": ("custom", "input"),
    "response.mcp_call_arguments": ("server", "arguments"),
}

# Calls whose arguments are text: their kind, and the field of the text.
WRITTEN_CALLS: Final[dict[str, tuple[CallKind, str]]] = {
    "function_call": ("function", "arguments"),
    "custom_tool_call": ("custom", "input"),
    "mcp_call": ("server", "arguments"),
}
# Other calls, and the fields that may hold their arguments.
BUILTIN_CALLS: Final[dict[str, tuple[str, ...]]] = {
    "apply_patch_call": ("operation",),
    "computer_call": ("actions", "action"),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "tool_search_call": ("arguments",),
}
SERVER_CALLS: Final[dict[str, tuple[str, ...]]] = {
    "code_execution_call": ("arguments", "code"),
    "code_interpreter_call": ("arguments", "code"),
    "collections_search_call": ("arguments", "queries"),
    "file_search_call": ("arguments", "queries"),
    "program": ("code",),
    "view_image_call": ("arguments",),
    "view_x_video_call": ("arguments",),
    "web_search_call": ("arguments", "action"),
    "x_search_call": ("arguments", "action"),
}
WHOLE_ARGUMENTS: Final = frozenset({"action", "actions", "arguments", "operation"})  # others are one argument of many
RESULTS: Final = frozenset({
    "apply_patch_call_output",
    "computer_call_output",
    "custom_tool_call_output",
    "function_call_output",
    "local_shell_call_output",
    "program_output",
    "shell_call_output",
    "tool_search_output",
})  # fmt: skip
OUTPUTS: Final = ("output", "result", "tools")
OPAQUE: Final = frozenset({
    "additional_tools",
    "compaction",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_list_tools",
})  # fmt: skip
AUDIO: Final[Block] = ("audio", 0)
IMAGES: Final = {"jpg": "image/jpeg", "svg": "image/svg+xml"}

REASONS: Final[dict[str, FinishReason]] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}
ENDS: Final[dict[str, FinishReason]] = {
    "completed": "stop",
    "incomplete": "other",
    "failed": "error",
    "cancelled": "cancelled",
}
STILL_RUNNING: Final = frozenset({"queued", "in_progress"})
LAST: Final = frozenset({f"response.{status}" for status in ENDS})
SILENT: Final = frozenset({"keepalive", "response.reasoning_summary_part.done"})
# News about items that other events bring whole.
PROGRESS: Final = (
    "response.apply_patch_call",
    "response.code_interpreter_call.",
    "response.compaction.",
    "response.file_search_call.",
    "response.image_generation_call.",
    "response.mcp_call.",
    "response.mcp_list_tools.",
    "response.shell_call",
    "response.web_search_call.",
    "response.x_search_call.",
)
FIELDS: Final = frozenset({
    *("type", "sequence_number", "stream_id", "event_id", "item_id", "obfuscation", "logprobs", "snapshot", "parsed"),
    *("output_index", "content_index", "summary_index", "annotation_index", "command_index", "partial_image_index"),
    *("response", "item", "part", "annotation", "delta", "text", "refusal", "arguments", "input", "name", "code"),
    *("command", "diff", "output", "partial_image_b64", "background", "output_format", "quality", "size"),
    *("error", "message", "param"),
})  # fmt: skip
SDK_FIELDS: Final = ("parsed", "parsed_arguments")
"""Fields that OpenAI's library adds to items. The provider refuses them."""
NOT_KEPT: Final = ("output", "usage", "tools", "instructions")


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format, or a whole response."""
    kind = string(chunk, "type") or ""
    if kind == "error":
        return number(chunk, "sequence_number") is not None or string(chunk, "message") is not None
    return kind.startswith("response.") or kind == "keepalive" or _is_response(chunk)


def _is_response(chunk: object) -> bool:
    return string(chunk, "object") == "response" and get(chunk, "output") is not MISSING


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    usual = _usual(chunk)
    if usual is not None:
        return [usual]
    kind = string(chunk, "type") or "chunk"
    found = _read(chunk, kind)
    if FIELDS.issuperset(_sent(chunk)) or kind in {"chunk", "error"}:
        return found
    if kind not in LAST:
        return [*found, *leftovers(chunk, FIELDS, ())]
    return [*found, *[MessageData(name, plain(get(chunk, name))) for name in names(chunk) if name not in FIELDS]]


def _usual(chunk: object) -> Delta | None:
    """Return the delta of a chunk with a piece of text or arguments, and with known fields only: of most chunks."""
    if type(chunk) is not dict:
        return None
    fields = cast("dict[str, object]", chunk)
    piece, at = fields.get("delta"), fields.get("output_index")
    if type(piece) is str and piece and type(at) is int and FIELDS.issuperset(fields):
        kind, content = fields.get("type"), fields.get("content_index")
        if kind == "response.output_text.delta" and type(content) is int:
            return TextDelta(piece, (at, content))
        if kind == "response.function_call_arguments.delta" and "name" not in fields:
            return ToolCallDelta(at, None, None, piece, "function", False, True)
    return None


def _sent(chunk: object) -> Iterable[object]:
    """Return the names of the fields that may be unknown. The fields of a model are known, except extra ones."""
    if type(chunk) is dict:
        return cast("dict[object, object]", chunk)
    extra = getattr(chunk, "__pydantic_extra__", MISSING)
    if extra is None:
        return ()
    return cast("dict[object, object]", extra) if isinstance(extra, dict) else names(chunk)


def _read(chunk: object, kind: str) -> list[Delta]:
    stem, _, what = kind.rpartition(".")
    if what == "delta" or what == "done":
        if stem in TEXTS:
            return _text(chunk, stem, what == "done")
        if stem in CALLS:
            return _arguments(chunk, stem, what == "done")
        if stem == "response.code_interpreter_call_code":
            return _code(chunk, what == "done")
    if stem == "response.output_item" and what in {"added", "done"}:
        at, place = index(chunk, "output_index"), block(chunk, "output_index")
        return _item(get(chunk, "item"), at, place, what == "done")
    if kind in SILENT:
        return []
    if kind in {"response.content_part.added", "response.content_part.done"}:
        return _content_part(chunk) if what == "done" else []
    if stem == "response":
        if what in {"created", "in_progress", "queued"}:
            return _start(get(chunk, "response"), what == "created")
        if what in ENDS:
            return _end(get(chunk, "response"), what)
    if kind == "error":
        error = get(chunk, "error")
        return failure(error if is_record(error) else chunk, None if is_record(error) else string(chunk, "code"))
    if kind == "chunk" and _is_response(chunk):
        return [*_start(chunk, is_new=False), *_whole(chunk)]
    return _beside(chunk, kind)


def _start(response: object, is_new: bool) -> list[Delta]:
    start = MessageStart("assistant", string(response, "id") or None, string(response, "model") or None)
    return [start, *_fields(response)] if is_new else [start]


def _fields(response: object) -> list[Delta]:
    kept = _native(response, *NOT_KEPT)
    return [MessageData("response", kept)] if kept else []


# ---- texts and arguments -----------------------------------------------------------------------------


def _text(chunk: object, stem: str, is_whole: bool) -> list[Delta]:
    delta, whole, part = TEXTS[stem]
    place = block(chunk, "output_index")
    if delta is ReasoningDelta:
        place += (SECTIONS[stem],)
    return block_text(delta, chunk, whole if is_whole else "delta", place + block(chunk, part), is_whole)


def _arguments(chunk: object, stem: str, is_whole: bool) -> list[Delta]:
    kind, whole = CALLS[stem]
    if kind == "custom" and "_xs_call" in (string(chunk, "item_id") or ""):
        kind = "server"
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


def _code(chunk: object, is_whole: bool) -> list[Delta]:
    """Return a piece of a program as a piece of the argument "code". The last event closes the argument."""
    piece = "" if is_whole else string(chunk, "delta")
    if piece is None:
        return [Ignored("delta")] if says(get(chunk, "delta")) else []
    leaf = Leaf("$.code", piece, not is_whole)
    at = index(chunk, "output_index")
    return [ToolCallDelta(at, None, None, (leaf,), "server", is_done=is_whole, counts_blocks=True)]


def _content_part(chunk: object) -> list[Delta]:
    """Return the whole text of a content part, and its native fields."""
    part, place = get(chunk, "part"), block(chunk, "output_index")
    kind, at = string(part, "type"), block(chunk, "content_index")
    if kind == "reasoning_text":
        return block_text(ReasoningDelta, part, "text", (*place, "content", *at), is_whole=True)
    if kind == "refusal":
        return block_text(RefusalDelta, part, "refusal", place + at, is_whole=True)
    if kind != "output_text":
        return []  # the item brings it
    found = block_text(TextDelta, part, "text", place + at, is_whole=True)
    if string(part, "text"):
        own = _native(part, "text")
        found.append(PartData("citations", _citations(own), place + at, {"content": [own]}))
    return found


def _beside(chunk: object, kind: str) -> list[Delta]:
    """Return the deltas of events that bring something else than text and arguments."""
    place = block(chunk, "output_index")
    if kind == "response.output_text.annotation.added":
        annotation = plain(get(chunk, "annotation"))
        if not isinstance(annotation, dict):
            return [Ignored("annotation")]
        cited = _citation(cast("dict[str, object]", annotation))
        return [PartData("citation", cited, place + block(chunk, "content_index"))]
    if kind == "response.reasoning_summary_part.added":
        return [PartData("is_summary", True, place)] if place else []
    if kind == "response.image_generation_call.partial_image":
        image = string(chunk, "partial_image_b64")
        return [PartData("whole_data", image, place)] if image and place else [Ignored("partial_image_b64")]
    if kind in {"response.audio.delta", "response.audio.transcript.delta"}:
        name = "data" if kind == "response.audio.delta" else "transcript"
        piece = string(chunk, "delta")
        audio = PartStart(FilePart(block=AUDIO))  # no item announces it
        return [Ignored("delta")] if not piece else [audio, PartData(name, piece, AUDIO)]
    if kind == "response.audio.done":
        return [BlockEnd(block=AUDIO)]
    return [Ignored(kind, kind.startswith(PROGRESS) or kind == "response.audio.transcript.done")]


# ---- items -------------------------------------------------------------------------------------------


def _item(item: object, at: Index, place: Block, is_done: bool) -> list[Delta]:
    """Return the deltas of an item. An item that is not done has no content yet, or later events repeat it."""
    kind = string(item, "type") or "item"
    if kind == "message":
        return _message(item, place, is_done)
    if kind == "reasoning":
        return _reasoning(item, place, is_done)
    if kind in WRITTEN_CALLS or kind in BUILTIN_CALLS or kind in SERVER_CALLS:
        return _call(item, kind, at, is_done)
    if not is_record(item):
        return [Ignored("item")]
    if not place and not is_done:
        return []  # such a part has no name by which the next event could find it
    is_whole = is_done and string(item, "status") != "incomplete"
    named, native = string(item, "id"), _native(item)
    if kind == "image_generation_call":
        return [PartStart(_image(item, place, is_whole, is_done))]
    if kind in RESULTS:
        output = next((native[name] for name in OUTPUTS if native.get(name) is not None), None)
        tool = kind.removesuffix("_output").removesuffix("_call")
        is_error = string(item, "status") == "failed"
        called = string(item, "call_id")
        return [PartStart(ToolResultPart(called, tool, output, is_error, named, is_whole, native, place))]
    found: list[Delta] = [PartStart(OpaquePart(kind, named, is_whole, native, place))]
    return found if kind in OPAQUE else [*found, Ignored(kind)]


def _message(item: object, place: Block, is_done: bool) -> list[Delta]:
    common = _native(item, "content")
    if not is_done:
        return [BlockStart(place, common)] if place else []
    is_whole, named = string(item, "status") != "incomplete", string(item, "id")
    contents = items(item, "content")
    if not contents and place:
        return [PartStart(OpaquePart("message", named, is_whole, _native(item), place))]
    found: list[Delta] = []
    for at, content in enumerate(contents):
        kind = string(content, "type") or "content"
        field = "refusal" if kind == "refusal" else "text"
        text = string(content, field)
        own = _native(content) if text is None else _native(content, field)
        native: dict[str, object] = {**common, "content": [own if is_record(content) else plain(content)]}
        where = (*place, at) if place else ()
        if kind == "refusal":
            found.append(PartStart(RefusalPart(text or "", named, is_whole, native, where)))
        elif kind == "output_text":
            found.append(PartStart(TextPart(text or "", _citations(own), named, is_whole, native, where)))
        else:
            native["content"] = [plain(content)]
            found += [PartStart(OpaquePart(kind, named, is_whole, native, where)), Ignored(kind)]
            continue
        if text is None and says(get(content, field)):
            found.append(Ignored(field))
    return found


def _reasoning(item: object, place: Block, is_done: bool) -> list[Delta]:
    native = _native(item)
    texts: list[Delta] = []
    for name in ("summary", "content"):
        sections = native.get(name)
        if not isinstance(sections, list) or not place:
            continue
        for at, section in enumerate(cast("list[object]", sections)):
            text = string(section, "text")
            if isinstance(section, dict) and text is not None:
                del section["text"]
                if text and is_done:
                    texts.append(ReasoningDelta(text, (*place, name, at), is_whole=True))
    encrypted, is_summary = string(item, "encrypted_content"), says(native.get("summary"))
    part = ReasoningPart("", None, encrypted, is_summary, string(item, "id"), False, native, place)
    if not place:
        return []
    is_whole = is_done and string(item, "status") != "incomplete"
    return [PartStart(part), *texts, BlockEnd(block=place)] if is_whole else [PartStart(part), *texts]


def _call(item: object, kind: str, at: Index, is_done: bool) -> list[Delta]:
    named = string(item, "call_id") or string(item, "id")
    if kind == "tool_search_call" and not is_done:
        named = None  # the last event has another id
    tool = string(item, "name") or (None if kind in WRITTEN_CALLS else kind.removesuffix("_call"))
    is_whole = is_done and string(item, "status") != "incomplete"
    run_by = _call_kind(item, kind)
    if kind in WRITTEN_CALLS:
        field = WRITTEN_CALLS[kind][1]
        # The first event has no arguments, or the next ones repeat them.
        arguments, odd = _written(item, field) if is_done else (None, [])
        native = _native(item, field) if isinstance(get(item, field), str) else _native(item)
    else:
        native = _native(item)
        arguments, odd = _structured(native, kind) if is_done else (None, [])
    return [ToolCallDelta(at, named, tool, arguments, run_by, is_whole, True, native=native), *odd]


def _call_kind(item: object, kind: str) -> CallKind:
    """Tell who runs the call."""
    if kind == "custom_tool_call":
        return "server" if (string(item, "call_id") or "").startswith("xs_call") else "custom"
    if kind in WRITTEN_CALLS:
        return WRITTEN_CALLS[kind][0]
    if kind == "shell_call":
        place = string(get(item, "environment"), "type")
        return "builtin" if place in {None, "local"} else "server"
    if kind == "tool_search_call":
        execution = string(item, "execution") or ("client" if string(item, "call_id") else "server")
        return "builtin" if execution == "client" else "server"
    return "builtin" if kind in BUILTIN_CALLS else "server"


def _written(item: object, field: str) -> tuple[Whole | None, list[Delta]]:
    text = string(item, field)
    if text is not None:
        return Whole(text), []
    value = get(item, field)
    copy = plain(value)
    if isinstance(copy, (dict, list)):
        return Whole(cast("object", copy)), []
    return None, [Ignored(field)] if says(value) else []


def _structured(native: dict[str, object], kind: str) -> tuple[Whole | None, list[Delta]]:
    """Return the arguments of a call that has no text of arguments."""
    for name in BUILTIN_CALLS.get(kind) or SERVER_CALLS[kind]:
        value = native.get(name)
        if says(value):
            if name not in WHOLE_ARGUMENTS:
                return Whole({name: value}), []
            if isinstance(value, (str, dict, list)):
                return Whole(cast("object", value)), []
            return None, [Ignored(name)]
    return Whole({}), []


def _image(item: object, place: Block, is_whole: bool, is_done: bool) -> FilePart:
    data = string(item, "result") or None
    made = string(item, "output_format")
    media_type = None if not made else IMAGES.get(made, f"image/{made}")
    native = _native(item) if is_done and data is None else _native(item, "result")
    return FilePart(
        media_type, data, id=string(item, "id"), is_complete=is_whole and data is not None, native=native, block=place
    )


def _native(source: object, *without: str) -> dict[str, object]:
    """Return the fields of an item in plain data. OpenAI's library adds some; they are not the provider's."""
    found: dict[str, object] = {}
    for name in names(source):
        if name not in without and name not in SDK_FIELDS:
            value = plain(get(source, name))
            if value is not MISSING:
                found[name] = value
    contents = found.get("content")
    if isinstance(contents, list):
        for content in cast("list[object]", contents):
            if isinstance(content, dict) and "parsed" in content:
                del content["parsed"]
    return found


def _citations(own: dict[str, object]) -> tuple[Citation, ...]:
    """Return the citations of a text. They share the annotations with its native fields."""
    annotations = own.get("annotations")
    if not isinstance(annotations, list):
        return ()
    found = cast("list[object]", annotations)
    return tuple([_citation(cast("dict[str, object]", each)) for each in found if isinstance(each, dict)])


def _citation(annotation: dict[str, object]) -> Citation:
    return Citation(
        string(annotation, "url"),
        string(annotation, "title") or string(annotation, "filename"),
        None,
        number(annotation, "start_index"),
        number(annotation, "end_index"),
        string(annotation, "file_id"),
        annotation,
    )


# ---- the end -----------------------------------------------------------------------------------------


def _end(response: object, status: str) -> list[Delta]:
    """Return the deltas of the response at the end of the stream."""
    own = string(response, "status")
    raw = status
    if status == "completed" and own is not None and own != status:
        status, raw = own if own in ENDS else "incomplete", own  # an event that contradicts its response
    found: list[Delta] = []
    ids = tuple([string(item, "id") for item in items(response, "output")])
    if ids:
        found.append(Recount(ids))
    found += _items(response, is_done=True)
    return [*found, *_finish(response, status, raw), *_fields(response)]


def _whole(response: object) -> list[Delta]:
    """Return the deltas of a response that was not streamed. One that still runs has no end."""
    status = string(response, "status") or "completed"
    if status in STILL_RUNNING:
        return [*_items(response, is_done=False), *_fields(response)]
    known = status if status in ENDS else "incomplete"
    return [*_items(response, is_done=True), *_finish(response, known, status), *_fields(response)]


def _items(response: object, is_done: bool) -> list[Delta]:
    found: list[Delta] = []
    for at, item in enumerate(items(response, "output")):
        found += _item(item, at, (at,), is_done)
    return found


def _finish(response: object, status: str, raw: str) -> list[Delta]:
    reason = ENDS[status]
    if status == "completed":
        if any(map(_is_for_application, items(response, "output"))):
            reason = "tool_calls"
    elif status == "incomplete":
        raw = string(get(response, "incomplete_details"), "reason") or raw
        reason = REASONS.get(raw, "other")
    counted = get(response, "usage")
    read, written = number(counted, "input_tokens"), number(counted, "output_tokens")
    found = usage(counted, read, written, number(counted, "total_tokens"))
    return [Finish(reason, raw), *found, *failure(get(response, "error"))]


def _is_for_application(item: object) -> bool:
    """Tell whether the application must answer this item."""
    kind = string(item, "type") or "item"
    if kind in WRITTEN_CALLS or kind in BUILTIN_CALLS:
        return _call_kind(item, kind) != "server"
    return kind == "mcp_approval_request"
