"""The timeline: every step of an input, with its time. All views are functions of a timeline and a step number.

A step is one fragment, one chunk of a provider, or one snapshot. Step 0 is the empty start.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple, final

from ... import FragmentParser
from ...llm import deltas_for, reduce_chunk
from ...llm._sources import UNREADABLE, read_chunk
from ...llm._wire import DONE
from ...patch import Patcher
from .tracks import DOCUMENT, Fields, Item, Track, call_of, in_words, nature_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ... import Event
    from ...llm import MessageState
    from .inputs import Guess
    from .tracks import TrackPiece

__all__ = ["EMPTY", "MAX_OPERATIONS", "Change", "MessageSteps", "Note", "PatchSummary", "Timeline"]

EMPTY: Final = "the input is empty"
MAX_CALLS: Final = 100_000  # in all kept states together; beyond that, every second state goes
MIN_KEPT: Final = 16  # states, however many calls each of them has
MAX_OPERATIONS: Final = 100  # of a patch that are kept in words
MAX_OPERATION: Final = 2_000  # characters of each of them
PATCH_ROOM: Final = 32  # characters of patches that are kept for each character of text
FIRST_ROOM: Final = 64 * 1024  # and for a short text
# What a timeline keeps, in bytes, as measured: the estimate of `Timeline.kept` is made of these.
STEP_COST: Final = 1_000
VALUE_COST: Final = 300
CHARACTER_COST: Final = 8


@final
class MessageSteps:
    """The states of one message, one after each step.

    A state holds all tool calls, so keeping every state would take the square of their number. As in a track, some
    states are kept, and the states between are computed again from the chunks in `items`.
    """

    __slots__ = ("_at_hand", "_calls", "_format", "_items", "_kept", "_steps", "_stride", "last")

    def __init__(self, format: str | None, items: Sequence[Item]) -> None:
        self.last: MessageState | None = None
        """The state after the last step."""
        self._format = format
        self._items = items
        self._steps: list[int] = []
        self._kept: list[MessageState] = []  # one for each of these steps
        self._calls = 0  # in all kept states together
        self._stride = 1
        self._at_hand: tuple[int, MessageState] | None = None  # the step and state of the last look

    def add(self, step: int, message: MessageState) -> None:
        """Add the state after one more step."""
        self.last = message
        if not self._is_kept(step):
            return
        self._steps.append(step)
        self._kept.append(message)
        count = len(message.tool_calls)
        self._calls += count
        if self._format is not None and self._calls > max(MAX_CALLS, MIN_KEPT * count):
            self._thin()

    def _is_kept(self, step: int) -> bool:
        """Whether a step keeps its state. Steps without a chunk always do, because it cannot be computed again."""
        return step % self._stride == 0 or not self._items[step].raw or step <= self._steps[0]

    def _thin(self) -> None:
        self._stride *= 2
        kept = [(step, state) for step, state in zip(self._steps, self._kept, strict=True) if self._is_kept(step)]
        self._steps = [step for step, _ in kept]
        self._kept = [state for _, state in kept]
        self._calls = sum([len(state.tool_calls) for state in self._kept])

    def at(self, step: int) -> MessageState | None:
        """Return the state after this step; None before the message begins."""
        index = bisect_right(self._steps, step) - 1
        if index < 0:
            return None
        begin, state = self._steps[index], self._kept[index]
        if self._at_hand is not None and begin < self._at_hand[0] <= step:
            begin, state = self._at_hand
        for between in range(begin + 1, step + 1):
            state = self._after(state, self._items[between].raw)
        self._at_hand = step, state
        return state

    def _after(self, state: MessageState, chunk: str) -> MessageState:
        if self._format is None or not chunk:
            return state
        value = read_chunk(chunk)
        if value is DONE or value is UNREADABLE:
            return state
        return reduce_chunk(state, deltas_for(self._format)(value))


class Note(NamedTuple):
    """A remark for the user, and the step to which it belongs; with the track whose text is invalid, if that is it."""

    step: int
    text: str
    track: str | None = None


class PatchSummary(NamedTuple):
    """A JSON Patch in short: the number of its operations, its size in bytes, and its first operations in words.

    Each operation repeats a whole path, so the patches of a small text can be thousands of times as large as the text.
    """

    operations: int = 0
    size: int = 0
    rows: str = ""
    """One operation a line."""


NO_PATCH: Final = PatchSummary()


class Change(NamedTuple):
    """The text that a step added to a track, and its JSON Patch if the timeline keeps patches."""

    track: str
    text: str
    patch: PatchSummary = NO_PATCH
    events: int | None = None
    """The number of events; None if the text was not known to be JSON before this step."""


@final
class Timeline:
    """The steps in order, their tracks, and the timing of every field.

    `is_timed` says whether the times were measured; other timelines have invented times so that they can be played.
    With `patches`, the timeline keeps the JSON Patch of each step in short. `kept` estimates the memory of all of it.
    """

    def __init__(self, found: Guess, *, is_timed: bool = True, extract: bool = False, patches: bool = False) -> None:
        self.found = found._replace(extract=extract)
        self.is_timed = is_timed
        self.extract = extract
        self.tracks: dict[str, Track] = {}
        self.fields: dict[str, Fields] = {}
        self.notes: list[Note] = []
        self.news: dict[str, list[Event]] = {}
        """The events of the last step, by track."""
        self._broken: set[str] = set()  # the tracks whose error is noted
        self.is_finished = False
        self.times: list[float] = [0.0]
        self.sizes: list[int] = [0]
        """The number of characters of all tracks together, after each step."""
        self._items: list[Item] = [Item()]
        self._messages = MessageSteps(found.format, self._items)
        self._changes: list[tuple[Change, ...]] = [()]
        self._parsers: dict[str, FragmentParser] = {}
        self._patchers: dict[str, Patcher] | None = {} if patches else None
        self._patch_room = FIRST_ROOM
        self._patch_size = 0
        self._values = 0

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.times) - 1

    @property
    def kept(self) -> int:
        """An estimate of the memory that the timeline takes, in bytes: text, steps, states, values and patches."""
        texts = CHARACTER_COST * self.sizes[-1]
        return texts + STEP_COST * self.last + VALUE_COST * self._values + self._patch_size

    @property
    def duration(self) -> float:
        """The time of the last step, in seconds."""
        return self.times[-1]

    def add(self, time: float, item: Item) -> int:
        """Add one step and return its number."""
        step = self.last + 1
        self._items.append(item._replace(message=None))
        if item.message is not None:
            self._messages.add(step, item.message)
        self.news = {}
        self.times.append(max(time, self.times[-1]))
        changes = tuple([self._take(step, piece, item.message) for piece in item.pieces])
        self._changes.append(changes)
        self.sizes.append(self.sizes[-1] + sum([len(change.text) for change in changes]))
        if item.problem:
            self.notes.append(Note(step, item.problem))
        return step

    def finish(self, time: float, problem: str = "") -> int:
        """End the stream, with a problem if there is one, and return the number of this last step."""
        step = self.add(time, Item(message=self._messages.last, problem=problem))
        for track in self.tracks.values():
            was_json = track.is_json
            track.end(step)
            if track.is_json:
                events = [] if was_json else self._read_late(step, track)
                ending = self._parsers[track.name].close()
                self.fields[track.name].take(step, "", ending)
                self.news[track.name] = events + ending
                self._note_error(step, track)
        self.is_finished = True
        return step

    def _note_error(self, step: int, track: Track) -> None:
        """Note the error of a text at the step that shows it."""
        if track.state.error is not None and track.name not in self._broken:
            self._broken.add(track.name)
            self.notes.append(Note(step, f"{track.name}: {in_words(track.state.error)}", track.name))

    def _take(self, step: int, piece: TrackPiece, message: MessageState | None) -> Change:
        name = piece.track
        track = self.tracks.get(name)
        if track is None:
            nature = nature_of(name, message, extract=self.extract)
            track = self.tracks[name] = Track(name, nature, self.found.options)
            self.fields[name] = Fields()
        was_json, before = track.is_json, track.length
        text = track.add(step, piece)
        if not track.is_json:
            return Change(name, text)
        if piece.restarts and before:
            self._parsers.pop(name, None)
            self.fields[name] = Fields()
            self._broken.discard(name)
        # A text that turns out to be JSON only now is parsed from its start.
        is_late = before and not was_json
        events = self._read_late(step, track) if is_late else self._read(step, track, piece.fragment, text)
        self.news.setdefault(name, []).extend(events)
        self._note_error(step, track)
        count = None if is_late else len(events)
        if self._patchers is None:
            return Change(name, text, events=count)
        return Change(name, text, self._summary(self._patchers[name], events, len(text)), count)

    def _summary(self, patcher: Patcher, events: list[Event], length: int) -> PatchSummary:
        """Return the patch of a step in short. The rows of all steps together are bounded by the length of the text."""
        self._patch_room += PATCH_ROOM * length
        count = size = 0
        rows: list[str] = []
        for operation in patcher._each(events):
            row = json.dumps(operation, ensure_ascii=False)
            count += 1
            size += len(row.encode(errors="surrogatepass")) + 2  # with a bracket or a comma, as in a list
            if len(rows) < MAX_OPERATIONS:
                row = row if len(row) <= MAX_OPERATION else row[: MAX_OPERATION - 1] + "…"
                if len(row) <= self._patch_room:
                    self._patch_room -= len(row)
                    self._patch_size += len(row)
                    rows.append(row)
        return PatchSummary(count, size, "\n".join(rows)) if count else NO_PATCH

    def _read_late(self, step: int, track: Track) -> list[Event]:
        text = track.text(track.start_at(step))
        return self._read(step, track, text, text)

    def _read(self, step: int, track: Track, fragment: str | bytes, text: str) -> list[Event]:
        name = track.name
        parser = self._parsers.get(name)
        if parser is None:
            parser = self._parsers[name] = FragmentParser(self.found.options, extract=track.extract)
            if self._patchers is not None:
                self._patchers[name] = Patcher(append=True)
        events = parser.feed(fragment)
        self._values += len(events)
        self.fields[name].take(step, text, events)
        return events

    # Looking.

    def item(self, step: int) -> Item:
        """Return the item of a step, without its message; see `message`."""
        return self._items[step]

    def changes(self, step: int) -> tuple[Change, ...]:
        """Return the changes of each track at this step."""
        return self._changes[step]

    def message(self, step: int) -> MessageState | None:
        """Return the message after this step, if there is one."""
        return self._messages.at(step)

    def step_at(self, time: float) -> int:
        """Return the last step up to this time."""
        return bisect_right(self.times, time) - 1

    def label(self, name: str) -> str:
        """Return the display name of a track; a tool call shows the name of its tool."""
        call = call_of(name, self._messages.last)
        return f"{call.name} ({name})" if call is not None and call.name else name

    def has_title(self, name: str) -> bool:
        """Whether a track needs a title: the only document of an input does not."""
        return len(self.tracks) > 1 or name != DOCUMENT

    def problems(self) -> list[str]:
        """Return the problems of the input: the notes, or else the errors that the provider reports."""
        found = [note.text for note in self.notes]
        message = self._messages.last
        if not found and message is not None:
            found = [str(error) for error in message.errors]
        if not found and not self.sizes[-1] and message is None:
            found = [EMPTY]
        return found

    def completions(self) -> list[int]:
        """Return the steps that completed a value, in order."""
        steps: set[int] = set()
        for fields in self.fields.values():
            steps.update(fields.leaves, [field.complete for field in fields.listed if field.complete is not None])
        return sorted(steps)
