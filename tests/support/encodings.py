"""What an encoded message says, and how it differs from the message that was encoded."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.support.message_deltas import events_of
from tests.support.page_readers import ReadMessage, read_ag_ui, read_vercel
from unspool.llm import Encoder, Loss, deltas_for, finish, reduce_chunk, start
from unspool.llm._calls import HIDDEN, ToolCall
from unspool.llm._config import OUTPUT
from unspool.llm._encoders.fields import data_url, result_text, text_of
from unspool.llm._message import with_format
from unspool.llm._parts import (
    FilePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolResultPart,
    native_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool.llm import MessageEvent, MessageState
    from unspool.llm._parts import Part

Chunk = dict[str, Any]
READABLE: Final = ("openai-chat", "openai-responses", "anthropic")
"""The targets that the library reads itself."""
PAGES: Final = {"vercel-ui": read_vercel, "ag-ui": read_ag_ui}
"""The targets that pages read, and our readers of them."""
FAILURES: Final = {"unfinished", "generation", "interrupted", "provider", "transport", "closed", "too_many_parts"}
ANY: Final = "(anything)"


def encoded(events: Iterable[MessageEvent], encoder: Encoder) -> list[Chunk]:
    """The chunks of these events."""
    return [chunk for event in events for chunk in encoder.feed(event)]


def all_events(states: list[MessageState]) -> list[MessageEvent]:
    """All events between these states."""
    return [event for events in events_of(states) for event in events]


def decoded_states(target: str, chunks: list[Chunk]) -> list[MessageState]:
    """All states of the message that a client reads, with the library's own reader."""
    states, read = [with_format(start(), target)], deltas_for(target)
    for chunk in json.loads(json.dumps(chunks, default=bytes.hex)):
        states.append(reduce_chunk(states[-1], read(chunk)))
    return [*states, finish(states[-1])]


def decoded(target: str, chunks: list[Chunk]) -> MessageState:
    """The message that a client reads."""
    return decoded_states(target, chunks)[-1]


def has_failed(state: MessageState) -> bool:
    """Whether the message itself has failed, and not just its text."""
    return state.error is not None and state.error.fault in FAILURES


# ---- neutral fields ----------------------------------------------------------------------------------


def written_arguments(call: ToolCall) -> str:
    """The arguments of a call: none are an empty object."""
    return call.arguments if call.arguments.strip() or call.kind == "custom" else "{}"


def neutral(part: Part) -> dict[str, Any] | None:
    """The neutral fields of a part; None for a part without any content."""
    match part:
        case TextPart():
            cited = [(each.url, each.start, each.end) for each in part.citations]
            return {"type": "text", "text": part.text, "citations": cited} if part.text or cited else None
        case ReasoningPart():
            secret = part.encrypted.hex() if isinstance(part.encrypted, bytes) else part.encrypted
            shown = {"type": "reasoning", "text": part.text, "signature": part.signature or None, "encrypted": secret}
            return shown if part.text or part.signature or secret else None
        case RefusalPart():
            return {"type": "refusal", "text": part.text} if part.text else None
        case ToolCall() if part.index == HIDDEN:
            return {"type": "text", "text": part.arguments, "citations": []} if part.name == OUTPUT else None
        case ToolCall():
            arguments = written_arguments(part)
            kind = part.kind or "function"
            return {
                "type": "call",
                "id": part.id,
                "name": part.name,
                "kind": kind,
                "text": arguments,
                "signature": part.signature or None,
            }
        case ToolResultPart():
            shown = {"type": "result", "call_id": part.call_id, "output": part.output}
            return {**shown, "is_error": part.is_error}
        case FilePart():
            return {"type": "file", "file": part.file_id or part.url or part.data}
        case SourcePart():
            return {"type": "source", "url": part.url, "title": part.title}
        case OpaquePart():
            return {"type": "opaque", "kind": part.kind}
        case _:
            raise AssertionError(part)


REPLACED: Final[dict[str, tuple[str, ...]]] = {
    "text": ("text",),
    "reasoning": ("text", "signature", "encrypted"),
    "refusal": ("text",),
    "call": ("text",),
    "result": ("call_id", "output", "is_error"),
    "file": ("file", "url", "file_id", "media_type"),
    "source": ("url", "title"),
    "opaque": ("kind", "native"),
}
"""The fields that may be older ones after a part was replaced."""
GONE: Final = {"server_call", "server_result", "file", "source", "incomplete_call", "reasoning"}


def seen_on_page(target: str, part: Part, shown: dict[str, Any]) -> dict[str, Any]:
    """The neutral fields of a part as a page knows them."""
    if isinstance(part, FilePart):
        address = part.url or (data_url(part) if part.data else None)
        if target == "vercel-ui":
            return {"type": "file", "url": address, "media_type": part.media_type or "application/octet-stream"}
        return {"type": "file", "url": address, "file_id": part.file_id}
    if isinstance(part, ToolResultPart):
        if target == "ag-ui" or part.is_error:
            shown["output"] = result_text(part.output)
        if target == "vercel-ui" or not part.call_id:
            shown["call_id"] = ANY  # the page refuses an id that no call has
    elif isinstance(part, ReasoningPart):
        secret = text_of(part.encrypted) or None
        shown["encrypted"] = secret
        if target == "ag-ui":
            shown |= {"signature": shown["signature"] or secret, "encrypted": None}
    elif isinstance(part, TextPart):
        shown["citations"] = [(url or None, *place) for url, *place in shown["citations"]]
    elif isinstance(part, OpaquePart):
        shown["native"] = json.loads(json.dumps(dict(native_in(part) or {}), default=bytes.hex))
    elif isinstance(part, SourcePart):
        shown |= {"url": shown["url"] or None, "title": shown["title"] or None}
    return shown


def is_orphan(part: Part, after: Part | None) -> bool:
    """Whether a page cannot tell a call from the empty one that begins for a result without a call."""
    if not (isinstance(part, ToolCall) and part.kind == "server" and written_arguments(part) == "{}"):
        return False
    return part.signature is None and isinstance(after, ToolResultPart) and after.call_id == part.id


def expected(target: str, state: MessageState, losses: Iterable[Loss]) -> list[dict[str, Any]]:
    """The neutral parts of a message without what is lost."""
    lost: dict[int | None, set[str]] = {}
    for loss in losses:
        lost.setdefault(loss.part, set()).add(loss.what)
    found: list[dict[str, Any]] = []
    for number, part in enumerate(state.parts):
        shown, gone = neutral(part), lost.get(number, set())
        if shown is None or gone & GONE:
            continue
        if target in PAGES:
            shown = seen_on_page(target, part, shown)
        following = state.parts[number + 1] if number + 1 < len(state.parts) else None
        if target == "vercel-ui" and is_orphan(part, following):
            continue
        if "opaque" in gone and shown["type"] == "call":
            shown["kind"] = "function"
        elif "opaque" in gone:
            continue
        if "citation" in gone and shown["type"] == "text":
            if not shown["text"]:
                continue
            keeps_some = target in PAGES or target == "openai-responses"
            shown["citations"] = ANY if keeps_some else []
        if "signature" in gone:
            shown["signature"] = None
        if "encrypted" in gone:
            shown["encrypted"] = None
        if "refusal_as_text" in gone:
            shown = {"type": "text", "text": shown["text"], "citations": []}
        if "custom_input" in gone:
            shown |= {"kind": "function", "text": json.dumps({"input": shown["text"]})}
        if "id_changed" in gone or (shown["type"] == "call" and shown["id"] is None):
            shown["id"] = ANY
        if "replaced" in gone:
            shown |= {name: ANY for name in REPLACED[shown["type"]] if name in shown}
        if shown["type"] == "reasoning" and not (shown["text"] or shown["signature"] or shown["encrypted"]):
            continue
        found.append(shown)
    return found


def same(wanted: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether two parts are equal, apart from what may be anything."""
    return wanted.keys() == found.keys() and all(value == ANY or found[name] == value for name, value in wanted.items())


def tokens(state: MessageState) -> Any:
    """The tokens of a message: a count that is not known is none."""
    usage = state.usage
    if usage is None or (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (None, None, None):
        return (0, 0, 0)
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return read, written, read + written if usage.total_tokens is None else usage.total_tokens


def told_by(state: MessageState) -> ReadMessage:
    """What a message says that the library has read."""
    parts = [shown for part in state.parts if (shown := neutral(part)) is not None]
    return ReadMessage(parts, state.id, state.model, state.finish_reason, tokens(state), has_failed(state))


def read_back(target: str, chunks: list[Chunk]) -> ReadMessage:
    """What a client knows after these chunks."""
    if target in READABLE:
        return told_by(decoded(target, chunks))
    frame = Encoder(target).frame
    return PAGES[target]([json.loads(frame(chunk).decode().partition("data: ")[2]) for chunk in chunks])


def differences(target: str, source: MessageState, read: ReadMessage, losses: Iterable[Loss]) -> list[str]:
    """How a message that was read differs from its source, apart from the losses."""
    losses = list(losses)
    whats = {loss.what for loss in losses}
    beside = {loss.what for loss in losses if loss.part is None}
    found: list[str] = []
    if "id_changed" not in beside:
        found += [name for name in ("id", "model") if getattr(source, name) not in {None, "", getattr(read, name)}]
    if has_failed(source) != read.has_failed:
        found.append(f"failure: {source.error!r} {read.has_failed}")
    elif not has_failed(source):
        if "finish_reason" not in beside and (source.finish_reason or read.finish_reason) != read.finish_reason:
            found.append(f"finish_reason: {source.finish_reason} {read.finish_reason}")
        if "usage" not in beside and tokens(source) != read.tokens:
            found.append(f"usage: {tokens(source)} {read.tokens}")
    wanted, got = expected(target, source, losses), read.parts
    if "order" not in whats:
        if len(wanted) != len(got):
            found.append(f"parts: {[each['type'] for each in wanted]} {[each['type'] for each in got]}")
        found += [f"{one} {other}" for one, other in zip(wanted, got, strict=False) if not same(one, other)]
        return found
    moved = {loss.part for loss in losses if loss.what == "order" and "later" in loss.why}
    for kind in ("text", "reasoning", "refusal"):
        texts = [[each["text"] for each in parts if each["type"] == kind] for parts in (wanted, got)]
        if ANY in texts[0]:
            continue
        one, other = map("".join, texts)
        if (Counter(one) != Counter(other)) if moved else (one != other):
            found.append(f"{kind}: {one!r} {other!r}")
    for field in ("citations", "signature", "encrypted"):
        told = [
            [each[field] for each in parts if each["type"] != "call" and each.get(field)] for parts in (wanted, got)
        ]
        if ANY in told[0] or "replaced" in whats:
            continue
        if field == "citations":
            told = [[cited for each in cites for cited in each] for cites in told]
        if Counter(map(repr, told[0])) != Counter(map(repr, told[1])):
            found.append(f"{field}: {told}")
    for kind in ("call", "result", "file", "source", "opaque"):
        mine, others = [[each for each in parts if each["type"] == kind] for parts in (wanted, got)]
        if not (matched(mine, others) if moved else len(mine) == len(others) and all(map(same, mine, others))):
            found.append(f"{kind}: {mine} {others}")
    return found


def matched(mine: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    """Whether each part has one that is the same, whatever the order. Those that may be anything choose last."""
    left = list(others)
    for wanted in sorted(mine, key=lambda each: [*each.values()].count(ANY)):
        found = next((each for each in left if same(wanted, each)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def needless(target: str, source: MessageState, read: ReadMessage, losses: tuple[Loss, ...]) -> list[Loss]:
    """The losses without which the messages would not differ either: all of one kind for the order."""
    found: list[Loss] = []
    for loss in losses:
        others = [each for each in losses if each is not loss and (loss.what != "order" or each.what != "order")]
        if not differences(target, source, read, others):
            found.append(loss)
    return found
