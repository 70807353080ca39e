"""OpenAI's Responses API, as events.

    response.created  response.in_progress
    (response.output_item.added  ...  response.output_item.done)*
    response.completed | response.incomplete | response.failed

Each part is an item of its own, and one item is open at a time. All events are numbered from 0. The end of an item
repeats its text, and the last event repeats all items. Every reasoning becomes a summary. Items of OpenAI's own that
are not written piece by piece come as they came from the provider.
"""

# Compiled with mypyc.
from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, final

from .._calls import ToolCall
from .._parts import ReasoningPart, RefusalPart, TextPart, WrittenPart, native_in
from .._requests.openai_responses import RUNNING, write_turn
from .._requests.turn import Turn, plain_copy, string_in
from .carry import secrets_of
from .fields import is_responses, is_whole, lose_part, native_type, reason_of, text_of, tokens_of
from .machine import CALL, REASONING, REFUSAL, TEXT, Target

if TYPE_CHECKING:
    from .._deltas import FinishReason
    from .._message import MessageState
    from .._parts import Citation, Part
    from .machine import Chunk, Slot, Step

__all__ = ["TARGET"]

INCOMPLETE: Final[dict[FinishReason, str]] = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "paused": "max_output_tokens",  # an answer that was cut off never has a good end
    "cancelled": "max_output_tokens",
    "other": "max_output_tokens",
}
SAME: Final = ("stop", "tool_calls", "length", "content_filter")
MAX_ID: Final = 64
TOO_MANY: Final = 429
APPROVAL: Final = "mcp_approval_request"
ANNOTATIONS: Final = frozenset({"url_citation", "file_citation", "container_file_citation", "file_path"})


def _add(step: Step, type: str, fields: Chunk) -> None:
    step.chunks.append({"type": type, "sequence_number": step.sequence(), **fields})


def _response(step: Step, status: str, output: list[Any], error: Chunk | None = None) -> Chunk:
    state = step.state
    return {
        "id": state.id,
        "object": "response",
        "created_at": state.settings.created,
        "status": status,
        "error": error,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": state.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def _place(slot: Slot) -> Chunk:
    return {"item_id": slot.id if slot.type != CALL else f"fc_{slot.id}", "output_index": slot.index}


def _content(slot: Slot) -> Chunk:
    return {"item_id": slot.id, "output_index": slot.index, "content_index": 0}


def _summary(slot: Slot) -> Chunk:
    return {"item_id": slot.id, "output_index": slot.index, "summary_index": 0}


@final
class OpenAIResponses(Target):
    """Events of the Responses API."""

    __slots__ = ()

    def repeats_text(self) -> bool:
        """The end of an item repeats its text."""
        return True

    def head(self, step: Step) -> None:
        """Begin the response."""
        _add(step, "response.created", {"response": _response(step, "in_progress", [])})
        _add(step, "response.in_progress", {"response": _response(step, "in_progress", [])})

    def clean_id(self, id: str) -> str:
        """Ids have at most 64 characters."""
        if 0 < len(id) <= MAX_ID:
            return id
        return f"call_{hashlib.sha256(id.encode(errors='replace')).hexdigest()[:32]}"

    def is_final(self, part: Part) -> bool:
        """The item of a call that the provider runs may say that it has ended long after its input has."""
        if not (isinstance(part, ToolCall) and part.kind == "server" and is_responses(part)):
            return True
        return string_in(native_in(part), "status") not in RUNNING

    # Texts.

    def open(self, step: Step, number: int, slot: Slot, part: Part | None) -> None:
        """Begin an item."""
        item: Chunk
        if isinstance(part, ToolCall):
            for secret in secrets_of(step, number, part):
                self._secret(step, secret)
        slot.index = step.number()
        if isinstance(part, ToolCall):
            if slot.name == "builtin":
                step.lose(number, "opaque", "a tool that its provider defines becomes a function")
            item = _call_item(slot, part, "", "in_progress")
        elif slot.type == REASONING:
            slot.id = f"rs_{step.state.id}_{slot.index}"
            item = {"id": slot.id, "type": "reasoning", "summary": [], "status": "in_progress"}
        else:
            slot.id = f"msg_{step.state.id}_{slot.index}"
            item = _message(slot, [], "in_progress")
        _add(step, "response.output_item.added", {"output_index": slot.index, "item": item})
        if slot.type == REASONING:
            section = {"type": "summary_text", "text": ""}
            _add(step, "response.reasoning_summary_part.added", {**_summary(slot), "part": section})
        elif slot.type != CALL:
            _add(step, "response.content_part.added", {**_content(slot), "part": _part(slot.type, "", [])})

    def piece(self, step: Step, number: int, slot: Slot, text: str) -> None:
        """Write text or arguments."""
        written = slot.type
        if written == TEXT:
            fields = _content(slot)
            fields["delta"], fields["logprobs"] = text, []
            _add(step, "response.output_text.delta", fields)
        elif written == CALL:
            kind = "custom_tool_call_input" if slot.name == "custom" else "function_call_arguments"
            _add(step, f"response.{kind}.delta", {**_place(slot), "delta": text})
        elif written == REASONING:
            _add(step, "response.reasoning_summary_text.delta", {**_summary(slot), "delta": text})
        else:
            _add(step, "response.refusal.delta", {**_content(slot), "delta": text})

    def close(self, step: Step, number: int, slot: Slot, part: Part) -> None:
        """End an item, and repeat it."""
        if isinstance(part, ToolCall):
            item = self._end_call(step, slot, part)
        elif slot.type == REASONING:
            item = self._end_reasoning(step, number, slot, part)
        else:
            item = self._end_message(step, number, slot, part)
        self._done(step, slot.index, item)

    def _done(self, step: Step, at: int, item: Chunk) -> None:
        _add(step, "response.output_item.done", {"output_index": at, "item": item})
        step.keep(item)

    def _end_message(self, step: Step, number: int, slot: Slot, part: Part) -> Chunk:
        text = _text(slot, part)
        annotations: list[Chunk] = []
        if isinstance(part, TextPart):
            for _, citation in step.new_citations(number, part):
                annotation = _annotation(citation)
                if annotation is not None:
                    fields: Chunk = {**_content(slot), "annotation_index": len(annotations), "annotation": annotation}
                    _add(step, "response.output_text.annotation.added", fields)
                    annotations.append(annotation)
        content = _part(slot.type, text, annotations)
        if slot.type == REFUSAL:
            _add(step, "response.refusal.done", {**_content(slot), "refusal": text})
        else:
            _add(step, "response.output_text.done", {**_content(slot), "text": text, "logprobs": []})
        _add(step, "response.content_part.done", {**_content(slot), "part": content})
        return _message(slot, [content], "completed" if part.is_complete else "incomplete")

    def _end_reasoning(self, step: Step, number: int, slot: Slot, part: Part) -> Chunk:
        section: Chunk = {"type": "summary_text", "text": _text(slot, part)}
        _add(step, "response.reasoning_summary_text.done", {**_summary(slot), "text": section["text"]})
        _add(step, "response.reasoning_summary_part.done", {**_summary(slot), "part": section})
        status = "completed" if part.is_complete else "incomplete"
        item: Chunk = {"id": slot.id, "type": "reasoning", "summary": [section], "status": status}
        if isinstance(part, ReasoningPart) and native_type(part) != "reasoning":
            for secret in secrets_of(step, number, part, 1):
                item["encrypted_content"] = secret
        return _encrypted(step, number, part, item)

    def _end_call(self, step: Step, slot: Slot, call: ToolCall) -> Chunk:
        arguments = call.arguments
        if slot.name == "custom":
            _add(step, "response.custom_tool_call_input.done", {**_place(slot), "input": arguments})
        else:
            if not arguments.strip() and is_whole(slot, call):
                arguments = "{}"
            fields: Chunk = {**_place(slot), "name": call.name, "arguments": arguments}
            _add(step, "response.function_call_arguments.done", fields)
        return _call_item(slot, call, arguments, "completed" if is_whole(slot, call) else "incomplete")

    # Other items.

    def whole(self, step: Step, number: int, part: Part) -> None:
        """Write an item that comes whole, if it is one of OpenAI's."""
        item: Chunk | None = None
        if isinstance(part, ReasoningPart):
            if part.encrypted is None or native_type(part) != "reasoning":
                for secret in secrets_of(step, number, part):
                    self._secret(step, secret)
                return
            item = {"id": f"rs_{step.state.id}_{step.state.count}", "type": "reasoning", "summary": []}
            item = _encrypted(step, number, part, item)
        elif is_responses(part):
            written = write_turn(Turn([(number, part)], "openai-responses", is_own=True, native={}, ids={}))
            if not written:
                return
            item = written[0]
            item.setdefault("id", f"item_{step.state.id}_{step.state.count}")
            step.mark(number, "whole")
            if native_type(part) == APPROVAL:
                step.changed().app_calls += 1  # the client must answer it
        if item is not None:
            at = step.number()
            _add(step, "response.output_item.added", {"output_index": at, "item": item})
            self._done(step, at, item)

    def _secret(self, step: Step, secret: str) -> None:
        """Write a secret of another provider as a reasoning of its own."""
        at = step.number()
        item: Chunk = {
            "id": f"rs_{step.state.id}_{at}",
            "type": "reasoning",
            "summary": [],
            "encrypted_content": secret,
        }
        _add(step, "response.output_item.added", {"output_index": at, "item": item})
        self._done(step, at, item)

    def account(self, step: Step, number: int, part: Part) -> None:
        """Report what has no place."""
        if isinstance(part, ToolCall):
            if part.kind == "server":
                if not step.has(number, "whole"):
                    lose_part(step, number, part)
            elif part.signature is not None and not step.has(number, ("signature", part.signature)):
                step.lose(number, "signature", "a signature is valid in its own protocol only")
        elif isinstance(part, ReasoningPart):
            if part.signature is not None and not step.has(number, ("signature", part.signature)):
                step.lose(number, "signature", "a signature is valid in its own protocol only")
            is_known = part.encrypted is None or step.has(number, ("encrypted", part.encrypted))
            if not is_known and not _encrypted_anew(step, number, part):
                step.lose(number, "encrypted", "only its own provider can read encrypted reasoning")
        elif isinstance(part, TextPart):
            written = step.has_citations(number, part)
            if part.citations and not (written and all(_annotation(each) is not None for each in part.citations)):
                step.lose(number, "citation", "a citation needs an address, and a place in the text")
        elif not isinstance(part, RefusalPart) and not step.has(number, "whole"):
            lose_part(step, number, part)

    # The end.

    def end(self, step: Step, state: MessageState) -> None:
        """End with all items once more, and with the tokens."""
        reason = reason_of(step, state)
        if reason not in SAME:
            step.lose(None, "finish_reason", f"the target has no word for {reason!r}")
        status = "incomplete" if reason in INCOMPLETE else "completed"
        response = _response(step, status, step.state.items[: step.state.items_size])
        if status == "incomplete":
            response["incomplete_details"] = {"reason": INCOMPLETE[reason]}
        response["usage"] = _usage(step)
        _add(step, f"response.{status}", {"response": response})

    def failure(
        self, step: Step, message: str, code: str | None, status: int | None, state: MessageState | None
    ) -> None:
        """End with an error."""
        is_limit = status == TOO_MANY or (code is not None and "rate_limit" in code)
        error: Chunk = {"code": "rate_limit_exceeded" if is_limit else "server_error", "message": message}
        response = _response(step, "failed", step.state.items[: step.state.items_size], error)
        response["usage"] = _usage(step)
        _add(step, "response.failed", {"response": response})


def _usage(step: Step) -> Chunk | None:
    tokens = tokens_of(step)
    if not tokens.is_told:
        return None
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": tokens.cache_written},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.total,
    }


def _message(slot: Slot, content: list[Chunk], status: str) -> Chunk:
    return {"id": slot.id, "type": "message", "role": "assistant", "content": content, "status": status}


def _part(type: int, text: str, annotations: list[Chunk]) -> Chunk:
    if type == REFUSAL:
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _text(slot: Slot, part: Part) -> str:
    """Return the text of a part in this item. Earlier items of the part have the text before."""
    if not isinstance(part, WrittenPart):
        return ""
    return part.text[slot.since :] if slot.since > 0 else part.text


def _call_item(slot: Slot, call: ToolCall, arguments: str, status: str) -> Chunk:
    item: Chunk = {"id": f"fc_{slot.id}", "type": "function_call", "call_id": slot.id, "name": call.name}
    if slot.name == "custom":
        item |= {"type": "custom_tool_call", "input": arguments}
    else:
        item["arguments"] = arguments
    item["status"] = status
    return item


def _encrypted(step: Step, number: int, part: Part, item: Chunk) -> Chunk:
    if isinstance(part, ReasoningPart) and part.encrypted is not None and native_type(part) == "reasoning":
        step.mark(number, ("encrypted", part.encrypted))
        item["encrypted_content"] = text_of(part.encrypted)
        state = step.changed()
        state.ids = state.ids.put(("item", number), state.items_size)
    return item


def _encrypted_anew(step: Step, number: int, part: ReasoningPart) -> bool:
    """Give a finished item the form that its provider has encrypted again: the end of the response repeats the item."""
    at = step.state.ids.get(("item", number))
    if not isinstance(at, int):
        return False
    state = step.changed()
    items = state.items[: state.items_size]
    items[at] = _encrypted(step, number, part, {**items[at]})
    state.items = items
    state.ids = state.ids.put(("item", number), at)
    return True


def _annotation(citation: Citation) -> Chunk | None:
    """Return a citation as an annotation; None if it lacks something."""
    native = citation.native
    kind = None if native is None else native.get("type")
    if native is not None and isinstance(kind, str) and kind in ANNOTATIONS and "url_citation" not in native:
        return plain_copy(native)
    if citation.url is None or citation.start is None or citation.end is None:
        return None
    return {
        "type": "url_citation",
        "url": citation.url,
        "title": citation.title or "",
        "start_index": citation.start,
        "end_index": citation.end,
    }


TARGET: Final = OpenAIResponses()
