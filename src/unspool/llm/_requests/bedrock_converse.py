"""The next request in Bedrock's Converse: one message of the assistant, and one of the user with all results.

A turn that came from Converse goes back block by block. Binary data goes back as it came: as bytes to boto3, as base64
text into JSON. The writer leaves out what the provider refuses:

- blank text
- reasoning that was cut off before its signature; models that sign nothing get their reasoning back
- calls that were cut off
- calls of the provider's own tools without a result, unless a tool of the application was called, too
- images that the provider could not make

A turn from another format becomes text, calls and images; images have their data as bytes. Citations with an address
become citations of the web.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

from .._calls import ToolCall
from .._parts import FilePart, ReasoningPart, RefusalPart, SourcePart, TextPart, ToolResultPart
from .calls import broken_calls, clean_ids, goes_back, object_input, unfinished_calls
from .turn import plain_copy, result_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._parts import Citation, Part
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]

UNWANTED: Final = re.compile("[^a-zA-Z0-9_.:-]")
MAX_ID: Final = 64
FILES: Final = frozenset({"image", "audio", "video"})
IMAGES: Final = {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/jpg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
}


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the assistant's message, or nothing if no block is left."""
    ids, unfinished, broken = clean_ids(turn, UNWANTED, MAX_ID), unfinished_calls(turn), broken_calls(turn)
    content: list[dict[str, Any]] = []
    for number, part in turn.parts:
        if isinstance(part, ToolCall):
            if number in unfinished and part.is_complete and turn.is_own:
                turn.lose(number, "server_call", "the provider has not run this call, and refuses it without a result")
                continue
            content += _call(turn, number, part, ids)
        elif isinstance(part, (TextPart, RefusalPart)):
            content += _text(turn, number, part)
        elif isinstance(part, ToolResultPart) and turn.is_own and part.call_id in broken:
            turn.lose(number, "server_result", "the call of this result was cut off or is invalid")
        else:
            content += _own(turn, number, part) if turn.is_own else _foreign(turn, number, part)
    return [{"role": "assistant", "content": content}] if content else []


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return the user's message with the results. Calls that do not go back have no result there."""
    ids = clean_ids(turn, UNWANTED, MAX_ID)
    content: list[dict[str, Any]] = []
    for result in results:
        call = result.call
        if not goes_back(call):
            continue
        block: dict[str, Any] = {
            "toolUseId": ids.get(call.index) or turn.id_of(call),
            "content": [_output(result.output)],
        }
        if result.is_error:
            block["status"] = "error"
        content.append({"toolResult": block})
    return [{"role": "user", "content": content}] if content else []


def _output(output: object) -> dict[str, Any]:
    """Return the output of a tool: an object as JSON, other values as text. Converse takes blank text only in JSON."""
    text = result_text(output)
    if isinstance(output, dict):
        return {"json": json.loads(text)}
    return {"text": text} if text.strip() else {"json": {"output": text}}


def _call(turn: Turn, number: int, call: ToolCall, ids: dict[int, str]) -> list[dict[str, Any]]:
    if not call.is_complete or call.name is None:
        turn.lose(number, "incomplete_call", "the call was cut off or is invalid")
        return []
    if call.kind == "server" and not turn.is_own:
        turn.lose(number, "server_call", "only the provider that ran this call knows its tool")
        return []
    block, sent = turn.block(call), ids[call.index]
    if block is None:
        block = {"toolUseId": sent, "name": call.name}
        if call.kind == "server":
            block["type"] = "server_tool_use"
        if call.id is not None and sent != call.id:
            turn.lose(number, "id_changed", f"{call.id!r} is not a valid id here")
        if call.signature is not None:
            turn.lose(number, "signature", "another provider made this signature")
    elif call.id is None:
        block["toolUseId"] = sent
    block["input"] = object_input(turn, number, call)
    return [{"toolUse": block}]


def _text(turn: Turn, number: int, part: TextPart | RefusalPart) -> list[dict[str, Any]]:
    """Return the block of a text: it has another type if the text has citations."""
    text, citations = part.text, part.citations if isinstance(part, TextPart) else ()
    if not text.strip():
        if text:
            turn.lose(number, "empty_text", "the text is only white space")
        if citations:
            turn.lose(number, "citation", "the cited text is empty")
        return []
    if isinstance(part, RefusalPart):
        turn.lose(number, "refusal_as_text", "the format has no refusals")
    found = [_citation(turn, citation) for citation in citations]
    known = [citation for citation in found if citation is not None]
    if len(known) < len(found):
        turn.lose(number, "citation", "the citation has no place that this format knows")
    if not known:
        return [{"text": text}]
    return [{"citationsContent": {"content": _pieces(turn.block(part), text), "citations": known}}]


def _pieces(block: dict[str, Any] | None, text: str) -> Sequence[object]:
    """Return the pieces of a cited text: those that came, if they are still the whole text."""
    pieces: object = None if block is None else block.get("content")
    if isinstance(pieces, list):
        known = cast("list[object]", pieces)
        fields = [cast("dict[str, object]", piece) for piece in known if isinstance(piece, dict)]
        if "".join([str(piece.get("text", "")) for piece in fields]) == text:
            return known
    return [{"text": text}]


def _citation(turn: Turn, citation: Citation) -> dict[str, Any] | None:
    if turn.is_own:
        return None if citation.native is None else plain_copy(citation.native)
    if citation.url is None:
        return None
    block: dict[str, Any] = {"location": {"web": {"url": citation.url}}}
    if citation.title:
        block["title"] = citation.title
    if citation.cited_text:
        block["sourceContent"] = [{"text": citation.cited_text}]
    return block


# ---- a turn that came from Converse ------------------------------------------------------------------


def _own(turn: Turn, number: int, part: Part) -> list[dict[str, Any]]:
    block = turn.block(part) or {}
    if isinstance(part, ReasoningPart):
        return _reasoning(turn, number, part)
    if isinstance(part, ToolResultPart):
        block.setdefault("toolUseId", part.call_id)
        return [{"toolResult": {**block, "content": plain_copy({"": part.output})[""]}}]
    if isinstance(part, FilePart):
        kind, data = (part.media_type or "").partition("/")[0], part.data
        if data:
            block["source"] = {"bytes": data}
        if kind in FILES and "source" in block:
            return [{kind: block}]
        turn.lose(number, "file", "the provider did not send the file")
        return []
    if part.type == "opaque" and block:
        if part.is_complete:
            return [block]
        turn.lose(number, "incomplete_part", "the block was cut off")
        return []
    return _foreign(turn, number, part)


def _reasoning(turn: Turn, number: int, part: ReasoningPart) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if part.encrypted is not None:
        found.append({"reasoningContent": {"redactedContent": part.encrypted}})
    if part.signature:
        found.insert(0, {"reasoningContent": {"reasoningText": {"text": part.text, "signature": part.signature}}})
    elif part.text and number == turn.parts[-1][0]:
        turn.lose(number, "unsigned_reasoning", "the reasoning was cut off before its signature")
    elif part.text:
        found.insert(0, {"reasoningContent": {"reasoningText": {"text": part.text}}})
    return found


# ---- a turn from another format ----------------------------------------------------------------------


def _foreign(turn: Turn, number: int, part: Part) -> list[dict[str, Any]]:
    if isinstance(part, FilePart):
        form, data = IMAGES.get(part.media_type or ""), _bytes_of(part)
        if form is not None and data:
            return [{"image": {"format": form, "source": {"bytes": data}}}]
        turn.lose(number, "file", "the assistant's messages can hold images with their data, but no other files")
    elif isinstance(part, ReasoningPart):
        if part.text or part.encrypted is None:
            turn.lose(number, "reasoning", "models take back only their own reasoning")
        else:
            turn.lose(number, "encrypted", "another provider has encrypted this reasoning")
    elif isinstance(part, ToolResultPart):
        turn.lose(number, "server_result", "only the provider that ran the tool knows its result")
    elif isinstance(part, SourcePart):
        turn.lose(number, "source", "the format has no sources outside of citations")
    else:
        turn.lose(number, "opaque", "only the provider that made this block knows it")
    return []


def _bytes_of(part: FilePart) -> bytes | None:
    data = part.data
    if not isinstance(data, str):
        return data
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
