"""Cohere's chat API, version 2.

Contents and tool calls have separate numbers: the block of a content is its index, and the index of a call counts
calls. The `tool_plan`, which the model writes before it calls tools, is a reasoning of its own in the block
`("tool_plan",)`. A tool without parameters gets empty arguments.

A `citation-start` carries a whole citation of one content. Citations of the plan or of the thinking have no text part:
they become opaque parts. A response that was not streamed has its message in one piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from .._deltas import (
    BlockEnd,
    Ignored,
    MessageStart,
    PartData,
    PartStart,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from .._parts import Citation, OpaquePart
from .chat_dialects import native_block, native_fields
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
    leftovers,
    number,
    says,
    string,
    usage,
)

if TYPE_CHECKING:
    from .._deltas import Block, Delta, FinishReason, Index

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "complete": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_call": "tool_calls",
    "error": "error",
    "error_toxic": "content_filter",
    "error_limit": "length",
    "user_cancel": "cancelled",
    "timeout": "error",
}
TOOL_PLAN: Final[Block] = ("tool_plan",)
TEXT_CONTENT: Final = "TEXT_CONTENT"
CONTENT_KINDS: Final = frozenset({"text", "thinking"})

# The fields of an event, its delta, its message, a content, a call and a function.
READ: Final = frozenset({"type", "id", "index", "delta", "error"})
READ_IN_DELTA: Final = frozenset({"message", "finish_reason", "usage", "error"})
READ_IN_MESSAGE: Final = frozenset({"role", "content", "tool_plan", "tool_calls", "citations"})
READ_IN_CONTENT: Final = frozenset({"type", "text", "thinking"})
READ_IN_CALL: Final = frozenset({"id", "type", "function"})
READ_IN_FUNCTION: Final = frozenset({"name", "arguments"})
READ_IN_BODY: Final = frozenset({"id", "finish_reason", "message", "usage", "error"})
LEFT_OUT_FIELDS: Final = frozenset({"logprobs"})

SILENT: Final = frozenset({"citation-end"})
LEFT_OUT: Final = frozenset({"debug"})
EVENTS: Final = frozenset({
    "message-start",
    "content-start",
    "content-delta",
    "content-end",
    "tool-plan-delta",
    "tool-call-start",
    "tool-call-delta",
    "tool-call-end",
    "citation-start",
    "citation-end",
    "message-end",
})  # fmt: skip


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    return string(chunk, "type") in EVENTS or _is_body(chunk)


def _is_body(chunk: object) -> bool:
    """Tell whether this is a response that was not streamed."""
    return (
        is_record(get(chunk, "message"))
        and bool(string(chunk, "finish_reason"))
        and not says(get(chunk, "type"))
        and not says(get(chunk, "choices"))
    )


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    kind = string(chunk, "type") or "chunk"
    if kind not in EVENTS:
        if _is_body(chunk):
            return _body(chunk)
        return failure(get(chunk, "error")) or [Ignored(kind, kind in LEFT_OUT)]
    delta = get(chunk, "delta")
    message = get(delta, "message")
    found = _event(chunk, kind, delta, message)
    found += leftovers(chunk, READ, LEFT_OUT_FIELDS)
    found += leftovers(delta, READ_IN_DELTA, ())
    return found + leftovers(message, READ_IN_MESSAGE, ())


def _event(chunk: object, kind: str, delta: object, message: object) -> list[Delta]:
    if kind in {"content-start", "content-delta"}:
        return _content(get(message, "content"), block(chunk, "index"))
    if kind == "tool-plan-delta":
        return block_text(ReasoningDelta, message, "tool_plan", TOOL_PLAN)
    if kind in {"tool-call-start", "tool-call-delta"}:
        return _call(get(message, "tool_calls"), index(chunk, "index"))
    if kind == "tool-call-end":
        return [ToolCallDelta(index(chunk, "index"), kind="function", is_done=True)]
    if kind == "content-end":
        place = block(chunk, "index")
        return [BlockEnd(block=place)] if place else []
    if kind == "citation-start":
        return _citations(message, number(chunk, "index"))
    if kind == "message-start":
        return [MessageStart(string(message, "role"), string(chunk, "id") or None), *_message(message)]
    if kind == "message-end":
        return finish(delta, "finish_reason", REASONS) + _usage(get(delta, "usage")) + failure(get(delta, "error"))
    return []


def _body(chunk: object) -> list[Delta]:
    """Read a response that was not streamed."""
    message = get(chunk, "message")
    found: list[Delta] = [MessageStart(string(message, "role"), string(chunk, "id") or None)]
    found += _message(message)
    found += leftovers(message, READ_IN_MESSAGE, ())
    found += finish(chunk, "finish_reason", REASONS) + _usage(get(chunk, "usage")) + failure(get(chunk, "error"))
    return found + leftovers(chunk, READ_IN_BODY, LEFT_OUT_FIELDS)


def _message(message: object) -> list[Delta]:
    """Read a message that comes in one piece."""
    found = block_text(ReasoningDelta, message, "tool_plan", TOOL_PLAN)
    content = get(message, "content")
    if isinstance(content, str):
        found += block_text(TextDelta, message, "content", (0,))
    else:
        for place, element in enumerate(items(message, "content")):
            found += _content(element, (place,))
            found.append(BlockEnd(block=(place,)))
    found += _citations(message, None)
    for place, tool_call in enumerate(items(message, "tool_calls")):
        found += _call(tool_call, place)
        if is_record(tool_call):
            found.append(ToolCallDelta(place, kind="function", is_done=True))
    return found


def _content(content: object, place: Block) -> list[Delta]:
    if not is_record(content):
        return [Ignored("content")]
    kind = string(content, "type")
    found: list[Delta] = []
    if kind and kind not in CONTENT_KINDS:
        native = native_block(found, content)
        return [*found, PartStart(OpaquePart(kind, None, False, native, place))]
    found += block_text(ReasoningDelta, content, "thinking", place)
    found += block_text(TextDelta, content, "text", place)
    return found + leftovers(content, READ_IN_CONTENT, ())


def _citations(message: object, at: int | None) -> list[Delta]:
    found: list[Delta] = []
    for place, citation in enumerate(items(message, "citations")):
        if not is_record(citation):
            found.append(Ignored("citations"))
            continue
        native = native_block(found, citation)
        if string(citation, "type") in {None, "", TEXT_CONTENT}:
            source = _first(items(citation, "sources"))
            document = get(source, "document")
            made = Citation(
                string(document, "url") or None,
                string(document, "title") or None,
                string(citation, "text") or None,
                number(citation, "start"),
                number(citation, "end"),
                string(source, "id") or None,
                native,
            )
            found.append(PartData("citation", made, block(citation, "content_index")))
        else:
            number_of = place if at is None else at
            found.append(PartStart(OpaquePart("citation", None, True, native, ("citations", number_of))))
    return found


def _first(sources: list[object]) -> object:
    return sources[0] if sources else None


def _call(tool_call: object, place: Index) -> list[Delta]:
    if not is_record(tool_call):
        return [Ignored("tool_calls")]
    function = get(tool_call, "function")
    tool = string(function, "name")
    made = call(function, "arguments", index=place, id=string(tool_call, "id"), tool=tool, kind="function")
    found: list[Delta] = []
    native = native_fields(found, tool_call, READ_IN_CALL)
    inner = native_fields(found, function, READ_IN_FUNCTION)
    if inner:
        native["function"] = inner
    if native:
        first = cast("ToolCallDelta", made[0])
        made[0] = ToolCallDelta(first.index, first.id, first.name, first.arguments, first.kind, native=native)
    return found + made


def _usage(source: object) -> list[Delta]:
    tokens = get(source, "tokens")
    if not is_record(tokens):
        tokens = get(source, "billed_units")
    return usage(source, number(tokens, "input_tokens"), number(tokens, "output_tokens"))
