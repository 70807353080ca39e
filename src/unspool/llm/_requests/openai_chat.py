"""The next request in OpenAI's chat format: one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._calls import ToolCall
from .._parts import RefusalPart, TextPart
from .turn import result_text

if TYPE_CHECKING:
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]

OUTPUT = ("output",)


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the assistant's message."""
    parts = [part for _, part in turn.parts]
    texts = [part for part in parts if isinstance(part, TextPart)]
    said = [
        "".join([part.text for part in texts if (part.block == OUTPUT) is is_output]) for is_output in (False, True)
    ]
    said = [text for text in said if text]
    refusal = "".join([part.text for part in parts if isinstance(part, RefusalPart)])
    calls = [_call(turn, part) for part in parts if isinstance(part, ToolCall) and part.kind != "server" and part.name]
    content: object = "".join(said) if said or not (calls or refusal) else None
    if len(said) > 1:
        content = [{"type": "text", "text": text} for text in said]
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if refusal:
        message["refusal"] = refusal
    if calls:
        message["tool_calls"] = calls
    return [message]


def _call(turn: Turn, call: ToolCall) -> dict[str, Any]:
    if call.kind == "custom":
        return {"id": turn.id_of(call), "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    arguments = call.arguments if call.arguments.strip() else "{}"
    return {"id": turn.id_of(call), "type": "function", "function": {"name": call.name, "arguments": arguments}}


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return a message for each result."""
    return [
        {"role": "tool", "tool_call_id": turn.id_of(result.call), "content": result_text(result.output)}
        for result in results
    ]
