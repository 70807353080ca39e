"""Lanes: the texts of an input, each read on its own by a stage that makes lines of it.

Most inputs have one text. What a provider streams has several: the answer, the reasoning, the arguments of each call.
Those that are prose are not read at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from ..core.options import Options
from ..viewer.inputs import DOCUMENT, InputKind
from ..viewer.tracks import nature

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..errors import UnspoolError
    from ..llm.state import MessageState
    from ..viewer.inputs import Guess, Piece
    from .stages import Line, Stage

__all__ = ["CONTENT", "Lane", "Lanes", "options_for"]

CONTENT: Final = "content"
PROSE: Final = ("reasoning", "refusal")


def options_for(found: Guess) -> Options:
    """How the text of an input is read. It is as long as it is: whoever gives it has it already."""
    return Options(multiple=found.kind is InputKind.NDJSON, max_chars=None)


@final
class Lane:
    """One text. `is_json` is None as long as it cannot be told."""

    def __init__(self, name: str, extract: bool) -> None:
        self.name = name
        self.extract = extract
        self._is_open = name == CONTENT and not extract  # for its text to tell
        self.is_json: bool | None = None if self._is_open else name not in PROSE
        self.stage: Stage | None = None
        self._head = ""

    def opened_by(self, piece: Piece) -> str | bytes:
        """What there is to read, now that this piece has come: nothing, if that is prose, or may be."""
        if self.is_json is None:
            assert isinstance(piece.fragment, str)
            self._head += piece.fragment
            found = nature(self._head)
            if found is None:
                return ""
            self.is_json, self.extract = found != "prose", found == "fenced"
            head, self._head = self._head, ""
            return head if self.is_json else ""
        return piece.fragment if self.is_json else ""

    def forget(self) -> None:
        """The text begins anew."""
        self.stage = None
        self._head = ""
        if self._is_open:
            self.is_json = None


@final
class Lanes:
    """All texts of an input, by name. `make` makes the stage for one of them; with `only`, the others are not read."""

    def __init__(self, make: Callable[[Lane], Stage], *, extract: bool = False, only: str | None = None) -> None:
        self._make = make
        self._extract = extract
        self._only = only
        self.lanes: dict[str, Lane] = {}

    def take(self, piece: Piece, message: MessageState | None = None) -> list[Line]:
        """The lines that a piece brings."""
        name = piece.track
        if self._only is not None and name != self._only:
            return []
        lane = self.lanes.get(name)
        if lane is None:
            lane = self.lanes[name] = Lane(name, self._extract and name in (DOCUMENT, CONTENT))
            if message is not None and any(
                call.kind == "custom" and name == f"call {call.index}" for call in message.tool_calls
            ):
                lane.is_json = False  # free text, by agreement
        lines: list[Line] = []
        if piece.restarts:
            lines += () if lane.stage is None else lane.stage.AGAIN
            lane.forget()
        fragment = lane.opened_by(piece)
        if not fragment:
            return lines
        if lane.stage is None:
            lane.stage = self._make(lane)
        return lines + lane.stage.feed(fragment)

    def begin(self, name: str) -> None:
        """A text of which nothing has come."""
        lane = self.lanes[name] = Lane(name, self._extract)
        lane.stage = self._make(lane)

    def close(self) -> list[tuple[str, list[Line]]]:
        """The lines that the end brings, by the name of the text."""
        return [(lane.name, lane.stage.close()) for lane in self.lanes.values() if lane.stage is not None]

    @property
    def faults(self) -> list[tuple[str, UnspoolError]]:
        """What is wrong, by the name of the text."""
        stages = [(lane.name, lane.stage) for lane in self.lanes.values() if lane.stage is not None]
        return [(name, stage.fault) for name, stage in stages if stage.fault is not None]

    @property
    def has_json(self) -> bool:
        """Whether there was anything to read."""
        return any(lane.stage is not None for lane in self.lanes.values())
