"""Fields that providers have added to chat completions, beyond plain text, plain reasoning and calls.

- `reasoning_details` (OpenRouter): one reasoning part per index and type; the signature may come alone, after the text
- `thinking_blocks` (litellm): Anthropic's own blocks; a signature ends its block
- lists of elements as content (Mistral): text, thinking, references, images
- `audio`, `images`, `annotations`, `executed_tools` (Groq), `context` (Azure), and top-level sources (Perplexity)

The functions add deltas to a list. None of them raises, whatever the fields hold.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._missing import MISSING
from .._deltas import (
    BlockEnd,
    Ignored,
    MessageData,
    PartData,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Whole,
)
from .._parts import Citation, FilePart, OpaquePart, ReasoningPart, SourcePart, ToolResultPart
from .chunks import block_text, get, is_record, items, names, number, plain, says, string

if TYPE_CHECKING:
    from collections.abc import Collection

    from .._deltas import Block, Delta

__all__ = [
    "DIALECT_FIELDS",
    "THINKING",
    "add_content",
    "add_dialects",
    "add_reasoning",
    "add_sources",
    "data_url",
    "native_block",
    "native_fields",
]

DIALECT_FIELDS: Final = frozenset({
    *("annotations", "audio", "context", "executed_tools", "extra_content", "images", "provider_specific_fields"),
    *("reasoning_details", "reasoning_opaque", "reasoning_signature", "thinking_blocks"),
})  # fmt: skip
"""The fields of a delta that this module reads."""

THINKING: Final[Block] = ("thinking",)
THINKING_BLOCKS: Final[Block] = ("thinking_blocks",)
AUDIO: Final[Block] = ("audio", 0)
TEXT_FIELDS: Final[dict[str, str]] = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""The fields of `reasoning_details` that grow, by type."""
NOTHING: Final[frozenset[str]] = frozenset()


def native_fields(found: list[Delta], source: object, without: Collection[str] = NOTHING) -> dict[str, object]:
    """Return a plain copy of the fields that carry information. Fields that are nested too deeply are reported."""
    native: dict[str, object] = {}
    for name in names(source):
        value = get(source, name)
        if name in without or not says(value):
            continue
        copy = plain(value)
        if copy is MISSING:
            found.append(Ignored(name))
        else:
            native[name] = copy
    return native


def native_block(found: list[Delta], source: object) -> dict[str, object]:
    """Return a plain copy of all fields, for a block that goes back exactly as it came."""
    native: dict[str, object] = {}
    for name in names(source):
        copy = plain(get(source, name))
        if copy is MISSING:
            found.append(Ignored(name))
        else:
            native[name] = copy
    return native


# ---- reasoning ---------------------------------------------------------------------------------------


def add_reasoning(found: list[Delta], delta: object, at: int) -> str:
    """Add the reasoning that comes in blocks, and return its text: other fields of the same delta repeat it."""
    texts = [_detail(found, detail, at) for detail in items(delta, "reasoning_details")]
    texts += [_thinking_block(found, block, at) for block in items(delta, "thinking_blocks")]
    return "".join(texts)


def _detail(found: list[Delta], detail: object, at: int) -> str:
    if not is_record(detail):
        found.append(Ignored("reasoning_details"))
        return ""
    kind = string(detail, "type") or "reasoning"
    grown = TEXT_FIELDS.get(kind)
    signature, named = string(detail, "signature") or None, string(detail, "id") or None
    if grown is None:  # encrypted reasoning comes whole
        native = native_block(found, detail)
        part = ReasoningPart("", signature, string(detail, "data") or None, False, named, True, native)
        found.append(PartStart(part, at))
        return ""
    native = native_fields(found, detail, (grown,))
    place: Block = (kind, number(detail, "index") or 0)
    text = string(detail, grown) or ""
    if text:
        found.append(ReasoningDelta(text, place, False, at))
        found.append(PartData("signature" if signature else "", signature, place, native, at))
        if grown == "summary":
            found.append(PartData("is_summary", True, place, None, at))
        if named is not None:
            found.append(PartData("id", named, place, None, at))
    elif signature is not None or named is not None:
        part = ReasoningPart("", signature, None, grown == "summary", named, False, native, place)
        found.append(PartStart(part, at))
    return text


def _thinking_block(found: list[Delta], block: object, at: int) -> str:
    if not is_record(block):
        found.append(Ignored("thinking_blocks"))
        return ""
    if string(block, "type") != "thinking":  # redacted thinking comes whole
        native = native_block(found, block)
        part = ReasoningPart("", None, string(block, "data") or None, False, None, True, native)
        found.append(PartStart(part, at))
        return ""
    native = native_fields(found, block, ("thinking",))
    text, signature = string(block, "thinking") or "", string(block, "signature") or None
    if text:
        found.append(ReasoningDelta(text, THINKING_BLOCKS, False, at))
    elif signature is not None:  # it may come alone
        found.append(PartStart(ReasoningPart(block=THINKING_BLOCKS), at))
    if text or signature is not None:
        found.append(PartData("signature" if signature else "", signature, THINKING_BLOCKS, native, at))
    if signature is not None:
        found.append(BlockEnd(MISSING, at, THINKING_BLOCKS))
    return text


# ---- content in elements -----------------------------------------------------------------------------


def add_content(found: list[Delta], content: list[object], at: int) -> None:
    """Add the elements of a content that is a list."""
    for element in content:
        kind = string(element, "type")
        if kind == "text":
            found += block_text(TextDelta, element, "text", choice=at)
        elif kind == "thinking":
            _add_thinking(found, element, at)
        elif kind == "refusal":
            found += block_text(RefusalDelta, element, "refusal", choice=at)
        elif kind == "image_url":
            _add_image(found, element, (), at)
        elif kind:
            native = native_block(found, element)
            found.append(PartStart(OpaquePart(kind, None, True, native), at))
        else:
            found.append(Ignored("content"))


def _add_thinking(found: list[Delta], element: object, at: int) -> None:
    more = native_fields(found, element, ("type", "thinking"))
    is_new = False
    for thought in items(element, "thinking"):
        before = len(found)
        if is_record(thought):
            found += block_text(ReasoningDelta, thought, "text", THINKING, False, at)
            if string(thought, "type") not in {"text", None}:
                found.append(Ignored(string(thought, "type") or "thinking"))
        else:
            found += block_text(ReasoningDelta, {"thinking": thought}, "thinking", THINKING, False, at)
        is_new = is_new or len(found) > before
    if more and is_new:
        found.append(PartData("", None, THINKING, more, at))


# ---- files, citations, tools of the provider ---------------------------------------------------------


def add_dialects(found: list[Delta], delta: object, at: int) -> None:
    """Add the fields that follow the text and the calls of a delta."""
    for annotation in items(delta, "annotations"):
        _add_annotation(found, annotation, at)
    audio = get(delta, "audio")
    if says(audio):
        _add_audio(found, audio, at)
    for image in items(delta, "images"):
        index = number(image, "index")
        _add_image(found, image, ("images", index) if index is not None else ("images",), at)
    for tool in items(delta, "executed_tools"):
        _add_executed_tool(found, tool, at)
    signature = string(delta, "reasoning_signature")
    if signature:
        found.append(PartData("signature", signature, (), {"reasoning_signature": signature}, at))
    opaque = string(delta, "reasoning_opaque")
    if opaque:
        native: dict[str, object] = {"reasoning_opaque": opaque}
        found.append(PartStart(ReasoningPart("", None, opaque, False, None, True, native, ("reasoning_opaque",)), at))
    _add_specific_fields(found, get(delta, "provider_specific_fields"), at)
    extra = get(delta, "extra_content")
    if says(extra):
        copy = plain(extra)
        found.append(Ignored("extra_content") if copy is MISSING else MessageData("extra_content", copy, at))
    context = get(delta, "context")
    if says(context):
        for place, source in enumerate(items(context, "citations")):
            _add_source(found, source, place, "context", at)
        rest = native_fields(found, context, ("citations",))
        if rest:
            found.append(MessageData("context", rest, at))


def _add_specific_fields(found: list[Delta], fields: object, at: int) -> None:
    if not says(fields):
        return
    if not is_record(fields):
        found.append(Ignored("provider_specific_fields"))
        return
    for citation in items(fields, "citation"):
        if is_record(citation):
            native = native_block(found, citation)
            made = Citation(
                string(citation, "url") or None,
                string(citation, "title", "document_title") or None,
                string(citation, "cited_text") or None,
                native=native,
            )
            found.append(PartData("citation", made, (), None, at))
    rest = native_fields(found, fields, ("citation", "thinking_blocks", "reasoning_content"))
    if rest:
        found.append(MessageData("provider_specific_fields", rest, at))


def _add_annotation(found: list[Delta], annotation: object, at: int) -> None:
    kind = string(annotation, "type")
    cited = get(annotation, "url_citation")
    if kind == "url_citation" and is_record(cited):
        citation = Citation(
            string(cited, "url") or None,
            string(cited, "title") or None,
            string(cited, "content") or None,
            number(cited, "start_index"),
            number(cited, "end_index"),
            None,
            native_block(found, annotation),
        )
        found.append(PartData("citation", citation, (), None, at))
    elif kind:  # OpenRouter reads a document once, and wants its annotation back
        native = native_block(found, annotation)
        found.append(PartStart(OpaquePart(kind, None, True, native, ("annotations",)), at))
    else:
        found.append(Ignored("annotations"))


def _add_audio(found: list[Delta], audio: object, at: int) -> None:
    if not is_record(audio):
        found.append(Ignored("audio"))
        return
    native = native_fields(found, audio, ("data", "transcript"))
    named = string(audio, "id") or None
    found.append(PartStart(FilePart(id=named, native=native or None, block=AUDIO), at))
    for name in ("data", "transcript"):
        piece = string(audio, name)
        if piece:  # each piece of data is base64 of its own
            found.append(PartData(name, piece, AUDIO, None, at))
        elif piece is None and says(get(audio, name)):
            found.append(Ignored(name))


def _add_image(found: list[Delta], image: object, block: Block, at: int) -> None:
    holder = get(image, "image_url")
    url = string(holder, "url") if is_record(holder) else string(image, "image_url")
    if not url:
        found.append(Ignored("images" if block else "image_url"))
        return
    native = native_fields(found, image, ("image_url", "index"))
    if is_record(holder):
        native["image_url"] = native_fields(found, holder, ("url",))
    media_type, data = data_url(url)
    part = FilePart(media_type, data, None if data is not None else url, native=native, block=block, is_complete=True)
    found.append(PartStart(part, at))


def data_url(url: str) -> tuple[str | None, str | None]:
    """Return the media type and the base64 text of a data URL; nothing for another URL."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None, None
    return head[len("data:") : -len(";base64")], data


def _add_executed_tool(found: list[Delta], tool: object, at: int) -> None:
    """Add a call that the provider has run. Groq sends it twice: without and with its output."""
    if not is_record(tool):
        found.append(Ignored("executed_tools"))
        return
    index = number(tool, "index") or 0
    named = string(tool, "id") or f"executed_tools_{index}"
    kind = string(tool, "name") or string(tool, "type") or None
    text = string(tool, "arguments")
    whole = None if text is None else Whole(text)
    native = native_fields(found, tool, ("index", "arguments", "output"))
    found.append(ToolCallDelta(MISSING, named, kind, whole, "server", True, False, at, None, {"type": kind}))
    output = get(tool, "output")
    if says(output) or any(name.endswith("_results") for name in native):
        copy = plain(output) if says(output) else None
        if copy is MISSING:
            found.append(Ignored("output"))
            copy = None
        part = ToolResultPart(named, kind, copy, False, None, True, native, ("executed_tools", index))
        found.append(PartStart(part, at))


# ---- sources -----------------------------------------------------------------------------------------


def add_sources(found: list[Delta], chunk: object) -> None:
    """Add the sources of an answer. Some providers repeat them in every chunk. Their places identify them."""
    sources = items(chunk, "search_results")
    name = "search_results" if sources else "citations"
    for place, source in enumerate(sources or items(chunk, "citations")):
        _add_source(found, source, place, name, 0)


def _add_source(found: list[Delta], source: object, place: int, name: str, at: int) -> None:
    block: Block = ("sources", place)
    if isinstance(source, str) and source:
        found.append(PartStart(SourcePart(source, block=block), at))
    elif is_record(source):
        url, title = string(source, "url") or None, string(source, "title") or None
        text = string(source, "content", "snippet") or None
        native = native_fields(found, source)
        found.append(
            PartStart(SourcePart(url, title, None, text, string(source, "id"), native=native, block=block), at)
        )
    elif says(source):
        found.append(Ignored(name))
