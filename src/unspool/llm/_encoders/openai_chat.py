"""OpenAI's chat completions, as chunks.

    head  (text | reasoning | refusal | call | arguments)*  end  usage?  [DONE]

A message is flat there: one text, one reasoning, one refusal, and the calls that the client must run, numbered from 0.
Texts wait for each other; calls do not. Signatures, encrypted reasoning, citations, files, and the tools that a
provider runs itself have no place.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from .._calls import ToolCall
from .._parts import ReasoningPart
from .carry import secrets_of
from .fields import error_type, is_whole, lose_part, reason_of, tokens_of
from .machine import CALL, REASONING, TEXT, Target

if TYPE_CHECKING:
    from .._deltas import FinishReason
    from .._message import MessageState
    from .._parts import Part
    from .machine import Chunk, Slot, Step

__all__ = ["TARGET"]

REASONS: Final[dict[FinishReason, str]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "paused": "length",  # an answer that was cut off never has a good end
    "cancelled": "length",
    "other": "length",
}
SAME: Final = ("stop", "length", "tool_calls", "content_filter")
# The order of the fields in a flat message: reasoning, text, refusal, calls.
RANKS: Final = (1, 0, 2, 3, 4)


def _chunk(step: Step, choices: list[Any]) -> Chunk:
    state = step.state
    return {
        "id": state.id,
        "object": "chat.completion.chunk",
        "created": state.settings.created,
        "model": state.model,
        "choices": choices,
    }


def _add(step: Step, delta: Chunk, finish_reason: str | None = None) -> None:
    step.chunks.append(_chunk(step, [{"index": 0, "delta": delta, "finish_reason": finish_reason}]))


def _detail(step: Step, secret: str) -> Chunk:
    """Return a secret with a number of its own: clients join the details that have the same one."""
    return {"type": "reasoning.encrypted", "data": secret, "format": "unspool", "index": step.number()}


@final
class OpenAIChat(Target):
    """Chunks of chat completions."""

    __slots__ = ()

    def shares_floor(self, type: int) -> bool:
        """Texts wait for each other."""
        return type < CALL

    def head(self, step: Step) -> None:
        """Begin with the role."""
        _add(step, {"role": "assistant", "content": ""})

    def open(self, step: Step, number: int, slot: Slot, part: Part | None) -> None:
        """Begin a call; texts have no beginning."""
        state = step.changed()
        rank = RANKS[slot.type]
        if rank < state.rank or (rank == state.rank and slot.type != CALL):
            step.lose(number, "order", "a chat message has one text, and calls after it")
        state.rank = max(state.rank, rank)
        if isinstance(part, ToolCall):
            slot.index = state.app_calls - 1
            if slot.name == "builtin":
                step.lose(number, "opaque", "a tool that its provider defines becomes a function")
            call: Chunk = {"index": slot.index, "id": slot.id}
            if slot.name == "custom":
                call |= {"type": "custom", "custom": {"name": part.name, "input": ""}}
            else:
                call |= {"type": "function", "function": {"name": part.name, "arguments": ""}}
            for secret in secrets_of(step, number, part):
                call["extra_content"] = {"unspool": {"signature": secret}}
            _add(step, {"tool_calls": [call]})

    def piece(self, step: Step, number: int, slot: Slot, text: str) -> None:
        """Write text or arguments."""
        written = slot.type
        if written == TEXT:
            _add(step, {"content": text})
        elif written == CALL:
            self._arguments(step, slot, text)
        elif written == REASONING:
            field = step.state.settings.reasoning_field
            if field is None:
                step.lose(number, "reasoning", "the encoder leaves reasoning out")
            else:
                _add(step, {field: text})
        else:
            _add(step, {"refusal": text})

    def _arguments(self, step: Step, slot: Slot, text: str) -> None:
        if slot.name == "custom":
            _add(step, {"tool_calls": [{"index": slot.index, "custom": {"input": text}}]})
        else:
            _add(step, {"tool_calls": [{"index": slot.index, "function": {"arguments": text}}]})

    def close(self, step: Step, number: int, slot: Slot, part: Part) -> None:
        """Write the arguments of a call that has none."""
        if isinstance(part, ReasoningPart):
            self.whole(step, number, part)
        elif isinstance(part, ToolCall) and not slot.is_written and is_whole(slot, part) and slot.name != "custom":
            self._arguments(step, slot, "{}")

    def whole(self, step: Step, number: int, part: Part) -> None:
        """Carry the secrets of a reasoning, and leave out everything else."""
        if isinstance(part, ReasoningPart):
            secrets = secrets_of(step, number, part)
            if secrets:
                _add(step, {"reasoning_details": [_detail(step, each) for each in secrets]})

    def account(self, step: Step, number: int, part: Part) -> None:
        """Report what has no place."""
        if not isinstance(part, ToolCall) or part.kind == "server":
            lose_part(step, number, part)
        elif part.signature is not None and not step.has(number, ("signature", part.signature)):
            step.lose(number, "signature", "a signature is valid in its own protocol only")

    def end(self, step: Step, state: MessageState) -> None:
        """End with the finish reason, and with the usage if the client wants it."""
        reason = reason_of(step, state)
        if reason not in SAME:
            step.lose(None, "finish_reason", f"the target has no word for {reason!r}")
        _add(step, {}, REASONS.get(reason, "length"))
        tokens = tokens_of(step)
        if not tokens.is_told:
            return
        if not step.state.settings.include_usage:
            if tokens.total + tokens.input + tokens.output > 0:
                step.lose(None, "usage", "the client has not asked for it")
            return
        chunk = _chunk(step, [])
        chunk["usage"] = {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.total,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
            "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
        }
        step.chunks.append(chunk)

    def failure(
        self, step: Step, message: str, code: str | None, status: int | None, state: MessageState | None
    ) -> None:
        """End with an error, and without ``[DONE]``."""
        error: Chunk = {"message": message, "type": error_type(status), "param": None, "code": code}
        step.chunks.append({"error": error})


TARGET: Final = OpenAIChat()
