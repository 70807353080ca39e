"""The next request for Ollama: one assistant message, and one message per result.

Arguments are objects, and images are base64 text. An id goes back only if the call came with one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._calls import ToolCall
from .._parts import FilePart, ReasoningPart, RefusalPart, TextPart
from .calls import object_input
from .flat import is_sent, lose_order, lose_part, lose_reasoning, lose_signature, sent_results
from .turn import base64_of, taken_record

if TYPE_CHECKING:
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the assistant's turn: one message."""
    texts: list[str] = []
    thoughts: list[str] = []
    images: list[str] = []
    calls: list[dict[str, Any]] = []
    for number, part in turn.parts:
        if isinstance(part, ToolCall):
            if is_sent(turn, number, part):
                lose_signature(turn, number, part)
                calls.append(_call(turn, number, part))
        elif isinstance(part, ReasoningPart):
            if part.text:
                lose_signature(turn, number, part)
                thoughts.append(part.text)
                if part.encrypted is not None:
                    turn.lose(number, "encrypted", "only its own provider can read encrypted reasoning")
            else:
                lose_reasoning(turn, number, part)
        elif isinstance(part, (TextPart, RefusalPart)):
            if isinstance(part, RefusalPart):
                turn.lose(number, "refusal_as_text", "the format has no place for a refusal")
            else:
                lose_part(turn, number, part)
            if part.text:
                lose_order(turn, number, calls)
                texts.append(part.text)
        elif isinstance(part, FilePart) and _is_image(turn, part):
            images.append(base64_of(part) or "")
        else:
            lose_part(turn, number, part)
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts)}
    if thoughts:
        message["thinking"] = "".join(thoughts) if turn.is_own else "\n\n".join(thoughts)
    if images:
        message["images"] = images
    if calls:
        message["tool_calls"] = calls
    return [message]


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return one message per result, with the name of its tool."""
    messages: list[dict[str, Any]] = []
    for result, text in sent_results(turn, results):
        message = {"role": "tool", "tool_name": result.call.name, "content": text}
        if result.call.id:
            message["tool_call_id"] = result.call.id
        messages.append(message)
    return messages


def _call(turn: Turn, number: int, call: ToolCall) -> dict[str, Any]:
    native = turn.block(call) or {}
    body = {**taken_record(native, "function"), "name": call.name, "arguments": object_input(turn, number, call)}
    return {**({"id": call.id} if call.id else {}), "function": body, **native}


def _is_image(turn: Turn, part: FilePart) -> bool:
    if not part.data:
        return False
    return turn.is_own or (part.media_type or "").startswith("image/")
