"""Rules that the writers of flat messages share: chat completions, Cohere and Ollama.

A flat message has one text, one list of calls, and little else. Parts that have no place in it are reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._parts import FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart
from .turn import result_text

if TYPE_CHECKING:
    from .._calls import ToolCall
    from .._parts import Part
    from .turn import CallResult, Turn

__all__ = [
    "is_sent",
    "lose_order",
    "lose_part",
    "lose_reasoning",
    "lose_signature",
    "sent_results",
]


def is_sent(turn: Turn, number: int, call: ToolCall) -> bool:
    """Tell whether a call goes back, and report a call that does not."""
    if call.kind == "server":
        turn.lose(number, "server_call", "the format has no place for tools that the provider runs")
        return False
    if not call.is_complete or not call.name:
        turn.lose(number, "incomplete_call", "the call is cut off or invalid")
        return False
    return True


def lose_signature(turn: Turn, number: int, part: ToolCall | ReasoningPart) -> None:
    """Report a signature that stays behind while its part is sent."""
    if part.signature is not None and not turn.is_own:
        turn.lose(number, "signature", "a signature is valid in its own format only")


def lose_reasoning(turn: Turn, number: int, part: ReasoningPart) -> None:
    """Report reasoning that is left out."""
    if part.encrypted is not None:
        turn.lose(number, "encrypted", "only its own provider can read encrypted reasoning")
    if part.text or part.encrypted is None:
        turn.lose(number, "reasoning", "the format does not take the reasoning of other providers")


def lose_order(turn: Turn, number: int, calls: list[Any]) -> None:
    """Report a text that moves before the calls."""
    if calls and not turn.is_own:
        turn.lose(number, "order", "all text goes before the calls")


def lose_part(turn: Turn, number: int, part: Part) -> None:
    """Report a part that is left out."""
    if isinstance(part, ReasoningPart):
        lose_reasoning(turn, number, part)
    elif isinstance(part, ToolResultPart):
        turn.lose(number, "server_result", "the format has no place for results of the provider's tools")
    elif isinstance(part, FilePart):
        turn.lose(number, "file", "the assistant's message has no place for this file")
    elif isinstance(part, SourcePart):
        turn.lose(number, "source", "the format has no place for sources")
    elif isinstance(part, OpaquePart):
        turn.lose(number, "opaque", "the block has no meaning in another format")
    elif isinstance(part, TextPart) and part.citations:
        turn.lose(number, "citation", "the assistant's message has no place for citations")


def sent_results(turn: Turn, results: list[CallResult]) -> list[tuple[CallResult, str]]:
    """Return the results of calls that are sent, with their output as text."""
    sent: list[tuple[CallResult, str]] = []
    for result in results:
        if result.call.is_complete and result.call.kind != "server":
            sent.append((result, result_text(result.output)))
        else:
            turn.lose(None, "incomplete_call", "the call of this result is not sent")
    return sent
