"""The UI message stream of Vercel's AI SDK, versions 5 to 7, which React chats read.

    start  start-step
    (text | reasoning | tool | source | file | data)*
    finish-step  finish  [DONE]        or  error

Parts are named by ids, so that they can grow side by side. All tools are dynamic: a gateway does not know the tools of
the page. Signatures go along under the names that the SDK itself reads back.
"""

# Compiled with mypyc.
from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, final

from ..._errors import OptionsError
from ..._missing import MISSING
from .._calls import ToolCall, plain_arguments
from .._parts import FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart, native_in
from .carry import secrets_of
from .fields import (
    ENCRYPTED_AGAIN,
    data_url,
    is_whole,
    lose_part,
    native_type,
    reason_of,
    result_text,
    text_of,
    tokens_of,
)
from .machine import CALL, REASONING, REFUSAL, Target

if TYPE_CHECKING:
    from .._deltas import FinishReason
    from .._message import MessageState
    from .._parts import Citation, Part
    from .machine import Chunk, EncoderSettings, Slot, Step

__all__ = ["TARGET"]

REASONS: Final[dict[FinishReason, str]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool-calls",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "paused": "other",
    "cancelled": "other",
    "other": "other",
}
SAME: Final = ("stop", "length", "tool_calls", "content_filter", "other")
CITING: Final = 7
"""The first version of the SDK that has citations at the end of a text."""
RESETTING: Final = 7
"""The first version of the SDK that can empty a step."""


@final
class VercelUI(Target):
    """Chunks of a UI message stream."""

    __slots__ = ()

    def shares_floor(self, type: int) -> bool:
        """Nothing waits: parts have ids."""
        return False

    def opens_call(self, call: ToolCall) -> bool:
        """The page shows the tools that the provider runs, too."""
        return True

    def head(self, step: Step) -> None:
        """Begin the message and its only step."""
        start: Chunk = {"type": "start", "messageId": step.state.id}
        if step.state.model:
            start["messageMetadata"] = {"model": step.state.model}
        step.chunks.append(start)
        step.chunks.append({"type": "start-step"})

    def open(self, step: Step, number: int, slot: Slot, part: Part | None) -> None:
        """Begin a part."""
        if isinstance(part, ToolCall):
            start: Chunk = {"type": "tool-input-start", **_tool(slot, part)}
            if slot.name == "custom":
                start["inputEncoding"] = "text"
            step.chunks.append(start)
            if slot.name == "builtin":
                step.lose(number, "opaque", "a tool that its provider defines becomes a function")
            return
        slot.id = f"{number}" if slot.since == 0 else f"{number}-{step.number()}"
        step.chunks.append({"type": f"{_kind(slot)}-start", "id": slot.id})
        if slot.type == REFUSAL:
            step.lose(number, "refusal_as_text", "the target has no refusals")

    def piece(self, step: Step, number: int, slot: Slot, text: str) -> None:
        """Write text or arguments."""
        if slot.type == CALL:
            step.chunks.append({"type": "tool-input-delta", "toolCallId": slot.id, "inputTextDelta": text})
        else:
            step.chunks.append({"type": f"{_kind(slot)}-delta", "id": slot.id, "delta": text})

    def close(self, step: Step, number: int, slot: Slot, part: Part) -> None:
        """End a part."""
        if isinstance(part, ToolCall):
            self._end_call(step, number, slot, part)
            return
        end: Chunk = {"type": f"{_kind(slot)}-end", "id": slot.id}
        if isinstance(part, ReasoningPart):
            metadata = _metadata(step, number, part)
            if metadata:
                end["providerMetadata"] = metadata
        step.chunks.append(end)
        if isinstance(part, TextPart) and part.citations:
            self._cite(step, number, slot, part, end)

    def _cite(self, step: Step, number: int, slot: Slot, part: TextPart, end: Chunk) -> None:
        """Write citations as sources. Only version 7 has a place for the passages of the text, at its end."""
        cited: list[Chunk] = []
        for at, citation in step.new_citations(number, part):
            source = _source(f"{slot.id}-{at}", citation.url, citation.title, None)
            step.chunks.append(source)
            if step.state.settings.version >= CITING:
                cited.append(_citation(citation, source))
            if citation.start is not None or citation.end is not None:
                if step.state.settings.version < CITING:
                    step.lose(number, "citation", "a source has no place in the text")
                elif (citation.start or 0) < 0 or (citation.end or 0) < 0:
                    step.lose(number, "citation", "a place cannot be negative")
        if cited:
            end["citations"] = cited

    def _end_call(self, step: Step, number: int, slot: Slot, call: ToolCall) -> None:
        fields = _tool(slot, call)
        metadata = _call_metadata(step, number, call)
        if metadata:
            fields["providerMetadata"] = metadata
        if call.kind == "custom" and call.is_complete:
            step.chunks.append({"type": "tool-input-available", **fields, "input": call.arguments})
            return
        value = _input(call) if is_whole(slot, call) else MISSING
        if value is MISSING:
            error = "the call was cut off, or its arguments are invalid" if call.error is None else str(call.error)
            step.chunks.append({"type": "tool-input-error", **fields, "input": call.arguments, "errorText": error})
        else:
            step.chunks.append({"type": "tool-input-available", **fields, "input": value})

    def whole(self, step: Step, number: int, part: Part) -> None:
        """Write a part without text."""
        if isinstance(part, ToolResultPart):
            self._result(step, number, part)
        elif isinstance(part, SourcePart):
            step.chunks.append(_source(f"{number}", part.url, part.title, part.media_type))
        elif isinstance(part, FilePart):
            url = data_url(part)
            if url is None:
                lose_part(step, number, part)
            else:
                media_type = part.media_type or "application/octet-stream"
                step.chunks.append({"type": "file", "url": url, "mediaType": media_type})
        elif isinstance(part, OpaquePart):
            self._data(step, number, part, "data-opaque", {"kind": part.kind, "native": dict(native_in(part) or {})})
        elif isinstance(part, ReasoningPart):
            metadata = _metadata(step, number, part)
            if metadata:
                step.chunks.append({"type": "reasoning-start", "id": f"{number}"})
                step.chunks.append({"type": "reasoning-end", "id": f"{number}", "providerMetadata": metadata})

    def _data(self, step: Step, number: int, part: Part, type: str, data: Any) -> None:
        """Write a part that a page shows only if it knows what it is. Bytes cannot be shown."""
        try:
            json.dumps(data)
        except (TypeError, ValueError, RecursionError):
            lose_part(step, number, part)
            return
        step.chunks.append({"type": type, "id": f"{number}", "data": data})

    def _result(self, step: Step, number: int, part: ToolResultPart) -> None:
        known = None if part.call_id is None else step.state.ids.get(("from", part.call_id))
        if not isinstance(known, str):  # the call was in an earlier message
            if step.state.settings.orphans == "data":
                data = {"toolCallId": part.call_id, "name": part.name, "output": part.output}
                data["isError"] = part.is_error
                self._data(step, number, part, "data-tool-result", data)
                return
            known = self._orphan(step, number, part)
        fields: Chunk = {"toolCallId": known, "providerExecuted": True, "dynamic": True}
        if part.is_error:
            step.chunks.append({"type": "tool-output-error", **fields, "errorText": result_text(part.output)})
        else:
            step.chunks.append({"type": "tool-output-available", **fields, "output": part.output})

    def _orphan(self, step: Step, number: int, part: ToolResultPart) -> str:
        """Begin the call of a result whose call is not in the message: the page refuses a result without one."""
        found = step.free_id(self, part.call_id or f"result_{number}")
        if part.call_id is not None:
            state = step.changed()
            state.ids = state.ids.put(("from", part.call_id), found)
        fields: Chunk = {
            "toolCallId": found,
            "toolName": part.name or "tool",
            "dynamic": True,
            "providerExecuted": True,
        }
        step.chunks.append({"type": "tool-input-start", **fields})
        step.chunks.append({"type": "tool-input-available", **fields, "input": {}})
        return found

    def account(self, step: Step, number: int, part: Part) -> None:
        """Report what has no place."""
        if isinstance(part, ToolCall):
            if part.signature and not step.has(number, ("signature", part.signature)):
                step.lose(number, "signature", "a signature is valid in its own protocol only")
        elif isinstance(part, ReasoningPart):
            if part.signature and not step.has(number, ("signature", part.signature)):
                step.lose(number, "signature", "the SDK has no name for this signature")
            if part.encrypted and not step.has(number, ("encrypted", part.encrypted)):
                if step.has(number, "encrypted"):
                    step.lose(number, "replaced", ENCRYPTED_AGAIN)
                else:
                    step.lose(number, "encrypted", "the SDK has no name for this encrypted reasoning")
        elif isinstance(part, TextPart) and not step.has_citations(number, part):
            step.lose(number, "citation", "the citation came after the end of its text")

    def end(self, step: Step, state: MessageState) -> None:
        """End the step and the message, with the tokens as metadata."""
        reason = reason_of(step, state)
        if reason not in SAME:
            step.lose(None, "finish_reason", f"the target has no word for {reason!r}")
        step.chunks.append({"type": "finish-step"})
        finish: Chunk = {"type": "finish", "finishReason": REASONS.get(reason, "other")}
        tokens = tokens_of(step)
        if tokens.is_told:
            usage = {
                "inputTokens": tokens.input,
                "outputTokens": tokens.output,
                "totalTokens": tokens.total,
                "reasoningTokens": tokens.reasoning,
                "cachedInputTokens": tokens.cached,
            }
            finish["messageMetadata"] = {"usage": usage}
        step.chunks.append(finish)

    def failure(
        self, step: Step, message: str, code: str | None, status: int | None, state: MessageState | None
    ) -> None:
        """End with an error."""
        step.chunks.append({"type": "error", "errorText": message})

    def replacing(self, prelude: list[Chunk], settings: EncoderSettings, history: list[Any]) -> list[Chunk]:
        """Empty the step that the page has, instead of beginning another one."""
        if settings.version < RESETTING:
            raise OptionsError(f"the AI SDK can replace a part of a message since version {RESETTING}: set version=7")
        return [{"type": "reset-step"} if chunk["type"] == "start-step" else chunk for chunk in prelude]


def _kind(slot: Slot) -> str:
    return "reasoning" if slot.type == REASONING else "text"


def _tool(slot: Slot, call: ToolCall) -> Chunk:
    fields: Chunk = {"toolCallId": slot.id, "toolName": call.name, "dynamic": True}
    if slot.name == "server":
        fields["providerExecuted"] = True
    return fields


def _source(id: str, url: str | None, title: str | None, media_type: str | None) -> Chunk:
    if not url:
        named: Chunk = {"mediaType": media_type or "text/plain", "title": title or "document"}
        return {"type": "source-document", "sourceId": id, **named}
    source: Chunk = {"type": "source-url", "sourceId": id, "url": url}
    if title:
        source["title"] = title
    return source


def _citation(citation: Citation, source: Chunk) -> Chunk:
    """Return a citation as the end of a text has it."""
    kind = "url" if citation.url else "document"
    named: Chunk = {"type": "source", "sourceType": kind, "id": source["sourceId"]}
    named |= {name: value for name, value in source.items() if name not in {"type", "sourceId"}}
    found: Chunk = {"source": named}
    if citation.start is not None and citation.start >= 0:
        found["startIndex"] = citation.start
    if citation.end is not None and citation.end >= 0:
        found["endIndex"] = citation.end
    if citation.cited_text is not None:
        found["citedText"] = citation.cited_text
    return found


def _call_metadata(step: Step, number: int, call: ToolCall) -> Chunk:
    """Return the signature of a call under the name that the SDK reads back."""
    if call.signature and "thoughtSignature" in (native_in(call) or {}):
        step.mark(number, ("signature", call.signature))
        return {"google": {"thoughtSignature": call.signature}}
    secrets = secrets_of(step, number, call)
    return {"unspool": {"secrets": secrets}} if secrets else {}


def _input(call: ToolCall) -> Any:
    """Return the arguments of a call as a value; `MISSING` if they are invalid, or have a number that is not finite."""
    if not call.arguments.strip():
        return {}
    try:
        return json.loads(call.arguments, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):  # the options of the message may allow more than JSON
        value = plain_arguments(call)
    try:
        return MISSING if value is MISSING else json.loads(json.dumps(value, default=_finite, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return MISSING


def _finite(number: Any) -> float:
    """Return a number, which may be a text or a decimal, as JavaScript has it. Raise `ValueError` if it has none."""
    found = float(number)
    if not math.isfinite(found):
        raise ValueError("not finite")
    return found


def _metadata(step: Step, number: int, part: ReasoningPart) -> Chunk:
    """Return the signature of a reasoning under the name that the SDK reads back."""
    kind, signature, secret = native_type(part), part.signature, text_of(part.encrypted)
    if step.has(number, ("signature", signature)) or step.has(number, ("encrypted", part.encrypted)):
        return {}  # in an earlier block of the part
    if signature and (kind == "thinking" or "thoughtSignature" in (native_in(part) or {})):
        step.mark(number, ("signature", signature))
        if kind == "thinking":
            return {"anthropic": {"signature": signature}}
        return {"google": {"thoughtSignature": signature}}
    if secret and kind in {"redacted_thinking", "reasoning"}:
        step.mark(number, ("encrypted", part.encrypted))
        step.mark(number, "encrypted")
        if kind == "reasoning":
            return {"openai": {"itemId": part.id or "", "reasoningEncryptedContent": secret}}
        return {"anthropic": {"redactedData": secret}}
    secrets = secrets_of(step, number, part)
    return {"unspool": {"secrets": secrets}} if secrets else {}


TARGET: Final = VercelUI()
