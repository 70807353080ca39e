"""Lanes: the texts of an input, each read on its own by a stage that makes lines of it.

Most inputs have one text. What a provider streams has several: the answer, the reasoning, the arguments of each call.
Those that are prose are not read at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ...viewer.tracks import Nature, nature_of, told_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...._errors import UnspoolError
    from ....llm._state import MessageState
    from ...viewer.tracks import TrackPiece
    from .stages import Line, Stage

__all__ = ["Lane", "Lanes"]


@final
class Lane:
    """One text. What it is is found out where its name does not tell, as often as it begins anew."""

    def __init__(self, name: str, nature: Nature | None) -> None:
        self.name = name
        self.stage: Stage | None = None
        self._known = nature
        self._nature = nature
        self._held: list[str] = []  # what came, as long as it does not tell
        self._first = ""  # the same without blanks before it

    @property
    def extract(self) -> bool:
        """Whether the JSON stands in other text."""
        return self._nature is Nature.WRAPPED

    def opened_by(self, fragment: str | bytes) -> str | bytes:
        """What there is to read, now that this has come: nothing, if that is prose, or may be."""
        if self._nature is not None:
            return "" if self._nature is Nature.PROSE else fragment
        assert isinstance(fragment, str)  # only what stands in a message can be either
        self._held.append(fragment)
        self._first = (self._first + fragment).lstrip()
        return self._told(told_by(self._first))

    def opened_by_the_end(self) -> str:
        """What there is to read, now that nothing more will come."""
        return "" if self._nature is not None else self._told(told_by(self._first, is_all=True))

    def _told(self, nature: Nature | None) -> str:
        self._nature = nature
        if nature is None:
            return ""
        held, self._held, self._first = self._held, [], ""
        return "" if nature is Nature.PROSE else "".join(held)

    def forget(self) -> None:
        """The text begins anew."""
        self.stage = None
        self._nature = self._known
        self._held, self._first = [], ""


@final
class Lanes:
    """All texts of an input, by name. `make` makes the stage for one of them; with `only`, the others are not read."""

    def __init__(self, make: Callable[[Lane], Stage], *, extract: bool = False, only: str | None = None) -> None:
        self._make = make
        self._extract = extract
        self._only = only
        self.lanes: dict[str, Lane] = {}

    def take(self, piece: TrackPiece, message: MessageState | None = None) -> list[Line]:
        """The lines that a piece brings."""
        name = piece.track
        if self._only is not None and name != self._only:
            return []
        lane = self.lanes.get(name)
        if lane is None:
            lane = self.lanes[name] = Lane(name, nature_of(name, message, extract=self._extract))
        lines: list[Line] = []
        if piece.restarts:
            lines += () if lane.stage is None else lane.stage.AGAIN
            lane.forget()
        return lines + self._read(lane, lane.opened_by(piece.fragment))

    def _read(self, lane: Lane, fragment: str | bytes) -> list[Line]:
        if not fragment:
            return []
        if lane.stage is None:
            lane.stage = self._make(lane)
        return lane.stage.feed(fragment)

    def begin(self, name: str) -> None:
        """A text of which nothing has come."""
        lane = self.lanes[name] = Lane(name, nature_of(name, None, extract=self._extract))
        lane.stage = self._make(lane)

    def settle(self) -> list[tuple[str, list[Line]]]:
        """No more text comes: the lines of those that could not tell what they are, by the name of the text."""
        return [(lane.name, self._read(lane, lane.opened_by_the_end())) for lane in self.lanes.values()]

    def close(self) -> list[tuple[str, list[Line]]]:
        """The lines that the end brings, by the name of the text."""
        settled = self.settle()
        closed = [(lane.name, lane.stage.close()) for lane in self.lanes.values() if lane.stage is not None]
        return settled + closed

    @property
    def faults(self) -> list[tuple[str, UnspoolError]]:
        """What is wrong, by the name of the text."""
        stages = [(lane.name, lane.stage) for lane in self.lanes.values() if lane.stage is not None]
        return [(name, stage.fault) for name, stage in stages if stage.fault is not None]

    @property
    def has_json(self) -> bool:
        """Whether there was anything to read."""
        return any(lane.stage is not None for lane in self.lanes.values())
