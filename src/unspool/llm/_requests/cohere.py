"""The next request for Cohere: one assistant message, and one message per result.

The plan goes back as `tool_plan`, and the citations go back with the text that they belong to. The reasoning of other
formats goes back as a thinking content, without its signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .._calls import ToolCall
from .._parts import OpaquePart, ReasoningPart, RefusalPart, TextPart
from .calls import object_input
from .flat import is_sent, lose_order, lose_part, lose_reasoning, lose_signature, sent_results
from .turn import plain_copy, result_text, taken_record

if TYPE_CHECKING:
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the assistant's turn: one message."""
    plan = ""
    content: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    for number, part in turn.parts:
        if isinstance(part, ToolCall):
            if is_sent(turn, number, part):
                lose_signature(turn, number, part)
                calls.append(_call(turn, number, part))
        elif isinstance(part, ReasoningPart):
            if turn.is_own and part.block == ("tool_plan",):
                plan += part.text
            elif part.text:
                _lose_hidden(turn, number, part)
                lose_order(turn, number, calls)
                content.append({"type": "thinking", "thinking": part.text})
            else:
                lose_reasoning(turn, number, part)
        elif isinstance(part, (TextPart, RefusalPart)):
            if isinstance(part, RefusalPart):
                turn.lose(number, "refusal_as_text", "the format has no place for a refusal")
            elif turn.is_own:
                citations += _citations(part, len(content))
            else:
                lose_part(turn, number, part)
            if part.text:
                lose_order(turn, number, calls)
                content.append({"type": "text", "text": part.text})
        elif turn.is_own and isinstance(part, OpaquePart):
            (citations if part.kind == "citation" else content).append(turn.block(part) or {})
        else:
            lose_part(turn, number, part)
    message: dict[str, Any] = {"role": "assistant"}
    if plan:
        message["tool_plan"] = plan
    if content or not calls:
        message["content"] = content or ""
    if calls:
        message["tool_calls"] = calls
    if citations:
        message["citations"] = citations
    return [message]


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return one message per result. Objects become documents, which the model can cite."""
    return [
        {"role": "tool", "tool_call_id": turn.id_of(result.call), "content": _result(result, text)}
        for result, text in sent_results(turn, results)
    ]


def _result(result: CallResult, text: str) -> object:
    output: object = result.output
    found = cast("list[object]", output if isinstance(output, list) else [output])
    if not found or not all(isinstance(each, dict) for each in found):
        return text
    return [{"type": "document", "document": {"data": plain_copy(cast("dict[str, object]", each))}} for each in found]


def _call(turn: Turn, number: int, call: ToolCall) -> dict[str, Any]:
    native = turn.block(call) or {}
    arguments = turn.text_of(number, call)
    if call.kind == "builtin":
        turn.lose(number, "opaque", "a tool that its provider defines becomes a function")
    elif call.kind == "custom":
        arguments = result_text(object_input(turn, number, call))
    body = {**taken_record(native, "function"), "name": call.name, "arguments": arguments}
    return {"id": turn.id_of(call), "type": "function", "function": body, **native}


def _lose_hidden(turn: Turn, number: int, part: ReasoningPart) -> None:
    """Report the hidden data of a reasoning whose text is sent."""
    lose_signature(turn, number, part)
    if part.encrypted is not None:
        turn.lose(number, "encrypted", "only its own provider can read encrypted reasoning")


def _citations(part: TextPart, place: int) -> list[dict[str, Any]]:
    """Return the citations of a text, which is the content with this number."""
    found = [plain_copy(citation.native) for citation in part.citations if citation.native is not None]
    for citation in found:
        if "content_index" in citation:
            citation["content_index"] = place
    return found
