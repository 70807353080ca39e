"""Is a text JSON, JSON inside of other text, or prose? The name of its track tells, or else how the text begins.

Whether brackets are JSON or prose is for the library to say, which has to know it for text around JSON anyway:

>>> [told_by(head) for head in ('{"a', "[1, 2", "[1] See there", "[Note] This", "Well", "```js")]
[<Nature.JSON: 'json'>, <Nature.JSON: 'json'>, <Nature.PROSE: 'prose'>, <Nature.PROSE: 'prose'>, \
<Nature.PROSE: 'prose'>, <Nature.WRAPPED: 'wrapped'>]
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ..._state import create_state, finalize, parse_chunk
from .inputs import CONTENT, DOCUMENT, call_track

if TYPE_CHECKING:
    from ...llm._calls import ToolCall
    from ...llm._state import MessageState

__all__ = ["Nature", "call_of", "nature_of", "told_by"]

FENCE: Final = "```"
ENOUGH: Final = 256  # characters behind a bracket: they tell in any case
CALL: Final = call_track("")
ANSWERS: Final = (DOCUMENT, CONTENT)


class Nature(StrEnum):
    """What a text is. Of what is wrapped, the JSON has to be found first."""

    JSON = "json"
    WRAPPED = "wrapped"
    PROSE = "prose"


def nature_of(track: str, message: MessageState | None, *, extract: bool) -> Nature | None:
    """What the text of a track is; None if it is for the text itself to tell. `extract` is about the answer."""
    if track in ANSWERS:
        return Nature.WRAPPED if extract else Nature.JSON if track == DOCUMENT else None
    call = call_of(track, message)
    if call is not None:
        return Nature.PROSE if call.kind == "custom" else Nature.JSON  # free text, by agreement
    return Nature.JSON if track.startswith(CALL) else Nature.PROSE


def call_of(track: str, message: MessageState | None) -> ToolCall | None:
    """The call whose arguments a track has, as the message knows it: its index is its place among the calls."""
    number = track.removeprefix(CALL)
    if message is None or number == track or not number.isdecimal() or int(number) >= len(message.tool_calls):
        return None
    return message.tool_calls[int(number)]


def told_by(head: str, *, is_all: bool = False) -> Nature | None:
    """What a text is that begins like this; None while that cannot be told."""
    head = head.lstrip()
    if head.startswith("{"):
        return Nature.JSON
    if head.startswith(FENCE):
        return Nature.WRAPPED
    if head.startswith("["):
        state = parse_chunk(create_state(extract=True), head[:ENOUGH])
        state = finalize(state) if is_all else state
        if state.skipped and not state.skipped[0].offset:
            return Nature.PROSE
        return None if state.root is None else Nature.JSON
    return None if FENCE.startswith(head) and not is_all else Nature.PROSE
