"""Anthropic's Messages API, as events.

    message_start  (content_block_start  content_block_delta*  content_block_stop)*  message_delta  message_stop

One block is open at a time, and the blocks are numbered from 0. Blocks of Anthropic's own come as they came from the
provider: signed and redacted thinking, citations, the tools that the provider runs and their results. Those of other
providers become text, thinking without a signature, and tool use.
"""

# Compiled with mypyc.
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, final

from .._calls import ToolCall
from .._parts import ReasoningPart, TextPart, ToolResultPart, native_in
from .._requests.turn import plain_copy
from .carry import secrets_of
from .fields import error_type, is_anthropic, lose_part, native_type, reason_of, text_of, tokens_of
from .machine import CALL, REASONING, REFUSAL, Target

if TYPE_CHECKING:
    from .._deltas import FinishReason
    from .._message import MessageState
    from .._parts import Citation, Part
    from .machine import Chunk, Slot, Step

__all__ = ["TARGET"]

REASONS: Final[dict[FinishReason, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "refusal": "refusal",
    "content_filter": "refusal",
    "paused": "pause_turn",
    "cancelled": "max_tokens",  # an answer that was cut off never has a good end
    "other": "max_tokens",
}
SAME: Final = ("stop", "length", "tool_calls", "refusal", "paused")
ID_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
CITED: Final = "_location"


def _delta(step: Step, slot: Slot, delta: Chunk) -> None:
    step.chunks.append({"type": "content_block_delta", "index": slot.index, "delta": delta})


def _start(step: Step, block: Chunk) -> int:
    at = step.number()
    step.chunks.append({"type": "content_block_start", "index": at, "content_block": block})
    return at


def _stop(step: Step, at: int) -> None:
    step.chunks.append({"type": "content_block_stop", "index": at})


def _sign(step: Step, at: int, signature: str, *, is_last: bool = False) -> None:
    delta: Chunk = {"type": "signature_delta", "signature": signature}
    step.chunks.append({"type": "content_block_delta", "index": at, "delta": delta})
    if is_last:
        _stop(step, at)


def _quoted(text: str) -> str:
    """Return text as it stands inside of a JSON string."""
    return json.dumps(text)[1:-1]


@final
class Anthropic(Target):
    """Events of the Messages API."""

    __slots__ = ()

    def head(self, step: Step) -> None:
        """Begin the message. Its tokens are counted at the end."""
        state = step.state
        message: Chunk = {
            "id": state.id,
            "type": "message",
            "role": "assistant",
            "model": state.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        step.chunks.append({"type": "message_start", "message": message})

    def opens_call(self, call: ToolCall) -> bool:
        """The tools that Anthropic runs have blocks of their own."""
        return call.kind != "server" or (is_anthropic(call) and native_type(call) != "tool_use")

    def clean_id(self, id: str) -> str:
        """Ids are letters, digits, underscores and hyphens."""
        if id and ID_CHARACTERS.issuperset(id):
            return id
        return "".join([character if character in ID_CHARACTERS else "_" for character in id]) or "call"

    def open(self, step: Step, number: int, slot: Slot, part: Part | None) -> None:
        """Begin a block."""
        block: Chunk
        if isinstance(part, ToolCall):
            block = {"type": "tool_use"}
            if is_anthropic(part):
                block = plain_copy(native_in(part) or {})
                block.pop("input", None)
            elif slot.name == "builtin":
                step.lose(number, "opaque", "a tool that its provider defines becomes a function")
            block |= {"id": slot.id, "name": part.name, "input": {}}
            for secret in secrets_of(step, number, part):
                _sign(step, _start(step, {"type": "thinking", "thinking": "", "signature": ""}), secret, is_last=True)
        elif slot.type == REASONING:
            block = {"type": "thinking", "thinking": "", "signature": ""}
        else:
            block = {"type": "text", "text": ""}
        slot.index = _start(step, block)
        if slot.type == REFUSAL:
            step.lose(number, "refusal_as_text", "the target has no refusals")
        elif slot.name == "custom":
            step.lose(number, "custom_input", "the input of a tool is an object here")
            _delta(step, slot, {"type": "input_json_delta", "partial_json": '{"input": "'})

    def piece(self, step: Step, number: int, slot: Slot, text: str) -> None:
        """Write text or arguments."""
        if slot.type == CALL:
            piece = _quoted(text) if slot.name == "custom" else text
            _delta(step, slot, {"type": "input_json_delta", "partial_json": piece})
        elif slot.type == REASONING:
            _delta(step, slot, {"type": "thinking_delta", "thinking": text})
        else:
            _delta(step, slot, {"type": "text_delta", "text": text})

    def close(self, step: Step, number: int, slot: Slot, part: Part) -> None:
        """End a block, after its citations or its signature."""
        if slot.name == "custom":
            _delta(step, slot, {"type": "input_json_delta", "partial_json": '"}'})
        elif isinstance(part, ReasoningPart):
            self._sign(step, number, slot.index, part)
            if not step.has(number, "signature"):
                for secret in secrets_of(step, number, part, 1):
                    _sign(step, slot.index, secret)
        elif isinstance(part, TextPart):
            self._cite(step, number, slot.index, part)
        _stop(step, slot.index)

    def _sign(self, step: Step, number: int, at: int, part: ReasoningPart) -> None:
        signature = part.signature
        if signature and native_type(part) == "thinking":
            _sign(step, at, signature)
            step.mark(number, "signature")

    def _cite(self, step: Step, number: int, at: int, part: TextPart) -> None:
        for _, citation in step.new_citations(number, part):
            if _is_own(citation):
                delta: Chunk = {"type": "citations_delta", "citation": plain_copy(citation.native or {})}
                step.chunks.append({"type": "content_block_delta", "index": at, "delta": delta})

    def whole(self, step: Step, number: int, part: Part) -> None:
        """Write a block that comes whole, if it is one of Anthropic's."""
        if isinstance(part, ReasoningPart):
            kind = native_type(part)
            if part.encrypted is not None and kind == "redacted_thinking":
                data = text_of(part.encrypted)
                _stop(step, _start(step, {"type": "redacted_thinking", "data": data}))
                step.mark(number, "encrypted")
            elif not part.signature or kind != "thinking":
                for secret in secrets_of(step, number, part):
                    _stop(step, _start(step, {"type": "redacted_thinking", "data": secret}))
            else:
                at = _start(step, {"type": "thinking", "thinking": "", "signature": ""})
                self._sign(step, number, at, part)
                _stop(step, at)
            return
        if isinstance(part, ToolCall) or not is_anthropic(part):
            return
        block: dict[str, Any] = plain_copy(native_in(part) or {})
        if isinstance(part, ToolResultPart):
            block |= {"tool_use_id": part.call_id, **plain_copy({"content": part.output})}
        _stop(step, _start(step, block))
        step.mark(number, "whole")

    def account(self, step: Step, number: int, part: Part) -> None:
        """Report what has no place."""
        if isinstance(part, ToolCall):
            if not self.opens_call(part):
                lose_part(step, number, part)
            elif part.signature is not None and not step.has(number, ("signature", part.signature)):
                step.lose(number, "signature", "a signature is valid in its own protocol only")
        elif isinstance(part, ReasoningPart):
            if not step.has(number, "signature") and not step.has(number, "encrypted"):
                lose_part(step, number, part)
            elif part.encrypted is not None and not step.has(number, "encrypted"):
                step.lose(number, "encrypted", "only its own provider can read encrypted reasoning")
        elif isinstance(part, TextPart):
            written = step.has_citations(number, part)
            if part.citations and not (written and all(_is_own(citation) for citation in part.citations)):
                step.lose(number, "citation", "citations are those of Anthropic's own tools and documents")
        elif not step.has(number, "whole"):
            lose_part(step, number, part)

    def end(self, step: Step, state: MessageState) -> None:
        """End with the stop reason and the tokens."""
        reason = reason_of(step, state)
        if reason not in SAME:
            step.lose(None, "finish_reason", f"the target has no word for {reason!r}")
        tokens = tokens_of(step)
        if tokens.total != tokens.input + tokens.output:
            step.lose(None, "usage", "the target has no total of its own")
        usage: Chunk = {
            "input_tokens": tokens.input - tokens.cached - tokens.cache_written,
            "cache_creation_input_tokens": tokens.cache_written,
            "cache_read_input_tokens": tokens.cached,
            "output_tokens": tokens.output,
        }
        delta: Chunk = {"stop_reason": REASONS.get(reason, "max_tokens"), "stop_sequence": None}
        step.chunks.append({"type": "message_delta", "delta": delta, "usage": usage})
        step.chunks.append({"type": "message_stop"})

    def failure(
        self, step: Step, message: str, code: str | None, status: int | None, state: MessageState | None
    ) -> None:
        """End with an error."""
        step.chunks.append({"type": "error", "error": {"type": error_type(status), "message": message}})


def _is_own(citation: Citation) -> bool:
    native = citation.native
    kind = None if native is None else native.get("type")
    return isinstance(kind, str) and kind.endswith(CITED)


TARGET: Final = Anthropic()
