"""Calls on their way into the next request: which ones go back, under which id, and with which input.

Providers refuse a call without its result, so a writer leaves out calls that cannot have one: calls that were cut off,
and calls of the provider's own tools that it will not finish any more.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from .._calls import ToolCall
from .._parts import ToolResultPart

if TYPE_CHECKING:
    import re

    from .turn import Turn

__all__ = ["broken_calls", "clean_ids", "goes_back", "object_input", "unfinished_calls"]


def goes_back(call: ToolCall) -> bool:
    """Tell whether the application answers this call in the next request: it is whole and not the provider's own."""
    return call.is_complete and call.name is not None and call.kind != "server"


def clean_ids(turn: Turn, unwanted: re.Pattern[str], limit: int = sys.maxsize) -> dict[int, str]:
    """Return the id of each call by its index: other characters for unwanted ones, not too long, each id only once.

    The provider's own ids stay as they are. A valid id is never changed in favour of another one.
    """
    calls = [part for _, part in turn.parts if isinstance(part, ToolCall)]
    if turn.is_own:
        return {call.index: turn.id_of(call) for call in calls}
    found: dict[int, str] = {}
    rest: list[ToolCall] = []
    taken: dict[str, int] = {}  # with the number of ids that would be the same
    for call in calls:
        known = turn.id_of(call)
        if known in taken or not known or len(known) > limit or unwanted.search(known):
            rest.append(call)
        else:
            taken[known] = 1
            found[call.index] = known
    for call in rest:
        clean = fresh = unwanted.sub("_", turn.id_of(call))[:limit] or "call"
        while fresh in taken:
            taken[clean] += 1
            fresh = f"{clean[: limit - len(str(taken[clean])) - 1]}_{taken[clean]}"
        taken[fresh] = 1
        found[call.index] = fresh
    return found


def object_input(turn: Turn, number: int, call: ToolCall) -> Any:
    """Return the input of a call as an object. Another value becomes its field "input".

    The function reports that, and a tool of another provider's that becomes a function.
    """
    if call.kind == "builtin" and not turn.is_own:
        turn.lose(number, "opaque", "a tool that its provider defines becomes a function")
    value: Any = call.arguments if call.kind == "custom" else turn.arguments_of(call)
    if turn.is_own or isinstance(value, dict):
        return cast("Any", value)
    turn.lose(number, "custom_input", "the input of a tool must be an object here")
    return {"input": value}


def unfinished_calls(turn: Turn) -> set[int]:
    """Return the numbers of the provider's own calls whose result will not come any more.

    The result may come in the next message if the turn goes on there: if it paused, or waits for the application.
    """
    calls = [(number, part) for number, part in turn.parts if isinstance(part, ToolCall)]
    if turn.finish_reason == "paused" or any(goes_back(call) for _, call in calls):
        return set()
    answered = {part.call_id for _, part in turn.parts if isinstance(part, ToolResultPart)}
    return {number for number, call in calls if call.kind == "server" and call.id not in answered}


def broken_calls(turn: Turn) -> set[str]:
    """Return the ids of the provider's own calls that do not go back because they are invalid or cut off."""
    calls = [part for _, part in turn.parts if isinstance(part, ToolCall) and part.kind == "server"]
    return {call.id for call in calls if call.id is not None and not (call.is_complete and call.name is not None)}
