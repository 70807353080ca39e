"""A timeline: everything that came, step by step, with the time of each step. Whatever is shown is a function of it and
of the number of a step; nothing else keeps a truth of its own.

A step is what came at once: a fragment, a chunk of a provider, a snapshot. Step 0 is before anything came.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, final

from ..core.options import Options
from ..handles import FragmentParser
from ..patch import Patcher
from .fields import Fields
from .inputs import DOCUMENT, InputKind, Item
from .tracks import Track

if TYPE_CHECKING:
    from ..events import Event
    from ..llm.state import MessageState
    from .inputs import Guess, Piece

__all__ = ["Change", "Note", "Timeline"]


class Note(NamedTuple):
    """Something that is worth knowing, and the step at which it became known."""

    step: int
    text: str


class Change(NamedTuple):
    """What a step brought to a track: the text, and the patch as JSON (only where patches are kept)."""

    track: str
    text: str
    patch: str


@final
class Timeline:
    """Steps, in order; the tracks that they wrote to; when each field became known.

    `is_timed` says whether the times were measured; otherwise they are made up, so that it can be played.
    With `patches`, the JSON Patch of each step is kept as well.
    """

    def __init__(self, found: Guess, *, is_timed: bool = True, extract: bool = False, patches: bool = False) -> None:
        self.found = found
        self.is_timed = is_timed
        self.extract = extract
        self.tracks: dict[str, Track] = {}
        self.fields: dict[str, Fields] = {}
        self.notes: list[Note] = []
        self.news: dict[str, list[Event]] = {}
        """The events of the last step, by track."""
        self.is_finished = False
        self.times: list[float] = [0.0]
        self.sizes: list[int] = [0]
        """How many characters had come with each step, of all tracks together."""
        self._items: list[Item] = [Item()]
        self._changes: list[tuple[Change, ...]] = [()]
        self._parsers: dict[str, FragmentParser] = {}
        self._patchers: dict[str, Patcher] | None = {} if patches else None
        self._options = Options(multiple=found.kind is InputKind.NDJSON)

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.times) - 1

    @property
    def duration(self) -> float:
        """The time of the last step, in seconds."""
        return self.times[-1]

    def add(self, time: float, item: Item) -> int:
        """Take one more step; its number."""
        step = self.last + 1
        self._items.append(item)
        self.news = {}
        self.times.append(max(time, self.times[-1]))
        changes = tuple([self._take(step, piece) for piece in item.pieces])
        self._changes.append(changes)
        self.sizes.append(self.sizes[-1] + sum([len(change.text) for change in changes]))
        if item.problem:
            self.notes.append(Note(step, item.problem))
        return step

    def finish(self, time: float, problem: str = "") -> int:
        """The stream has ended, well or with a problem: the last step, which brings nothing but that."""
        step = self.add(time, Item(message=self._items[-1].message, problem=problem))
        for track in self.tracks.values():
            track.end(step)
            if track.is_json:
                events = self.news[track.name] = self._parsers[track.name].close()
                self.fields[track.name].take(step, "", events)
                if track.state.error is not None:
                    self.notes.append(Note(step, f"{track.name}: {track.state.error}"))
        self.is_finished = True
        return step

    def _take(self, step: int, piece: Piece) -> Change:
        name = piece.track
        track = self.tracks.get(name)
        if track is None:
            is_json = None if name == "content" else name == DOCUMENT or name.startswith("call ")
            extract = self.extract and name in (DOCUMENT, "content")
            track = self.tracks[name] = Track(name, is_json=is_json, extract=extract, options=self._options)
            self.fields[name] = Fields()
        was_json, before = track.is_json, track.length
        text = track.add(step, piece)
        if not track.is_json:
            return Change(name, text, "")
        if piece.restarts and before:
            self._parsers.pop(name, None)
            self.fields[name] = Fields()
        parser = self._parsers.get(name)
        if parser is None:
            parser = self._parsers[name] = FragmentParser(self._options, extract=track.extract)
            if self._patchers is not None:
                self._patchers[name] = Patcher(append=True)
        if was_json or not before:
            events = parser.feed(piece.fragment)
            self.fields[name].take(step, text, events)
        else:  # what turns out to be JSON only now is read from its start
            events = parser.feed(track.text(track.start_at(step)))
            self.fields[name].take(step, track.text(track.start_at(step)), events)
        self.news.setdefault(name, []).extend(events)
        if self._patchers is None:
            return Change(name, text, "")
        return Change(name, text, json.dumps(self._patchers[name].ops(events), ensure_ascii=False))

    # Looking.

    def item(self, step: int) -> Item:
        """What came with this step."""
        return self._items[step]

    def changes(self, step: int) -> tuple[Change, ...]:
        """What this step brought to each track."""
        return self._changes[step]

    def message(self, step: int) -> MessageState | None:
        """The state of the message after this step, where there is one."""
        return self._items[step].message

    def step_at(self, time: float) -> int:
        """The last step that had come at this time."""
        return bisect_right(self.times, time) - 1

    def label(self, name: str) -> str:
        """The name of a track for people: a call is called by the name of its tool."""
        message = self._items[-1].message
        if name.startswith("call ") and message is not None:
            for call in message.tool_calls:
                if name == f"call {call.index}" and call.name:
                    return f"{call.name} ({name})"
        return name

    def completions(self) -> list[int]:
        """The steps at which something became complete, in order."""
        steps = {
            field.complete for fields in self.fields.values() for field in fields.listed if field.complete is not None
        }
        return sorted(steps)
