"""Tracks: the texts that grow inside an input, every state of each, and the timing of its fields.

An input that is one document has one track. A message has a track for the answer, for the reasoning, for the refusal,
and for the arguments of each tool call. `Item` describes what one step adds to them; step 0 is the empty start.

The name of a track says what its text is, or else the start of the text does:

>>> [told_by(head) for head in ('{"a', "[1, 2", "[1] See there", "[Note] This", "Well", "```js")]
[<Nature.JSON: 'json'>, <Nature.JSON: 'json'>, <Nature.PROSE: 'prose'>, <Nature.PROSE: 'prose'>, \
<Nature.PROSE: 'prose'>, <Nature.WRAPPED: 'wrapped'>]
"""

from __future__ import annotations

import codecs
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, final

from ... import JSONSyntaxError, Kind, Options, create_state, finalize, parse_chunk
from ...select import compile as compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ... import Event, ParserState, Path, UnspoolError
    from ...llm import MessageState, ToolCall
    from ...select import Pattern

__all__ = [
    "BEGINNINGS",
    "CLOSINGS",
    "COMPLETIONS",
    "CONTENT",
    "DOCUMENT",
    "STARTS",
    "FieldTiming",
    "Fields",
    "Item",
    "Nature",
    "Selection",
    "Track",
    "TrackPiece",
    "call_of",
    "call_track",
    "in_words",
    "nature_of",
    "told_by",
]

DOCUMENT: Final = "json"
"""The track of an input that is one text."""
CONTENT: Final = "content"
"""The track of a model's answer."""
ANSWERS: Final = (DOCUMENT, CONTENT)
FENCE: Final = "```"
HEAD: Final = 256  # characters after a bracket that suffice to tell JSON from prose
MAX_KEPT: Final = 4096  # states; beyond that, a track drops every second one
MAX_AT_HAND: Final = 8  # states that were looked at last
LONG: Final = 64 * 1024  # characters or bytes: a piece of this length is not parsed again
MAX_FIELDS: Final = 20_000  # beyond that, fields inside arrays are only counted
MAX_MEMBERS: Final = 40_000  # beyond that, every field is only counted


# Steps and the pieces they add.


def call_track(number: int | str) -> str:
    """Return the name of the track with the arguments of a call."""
    return f"call {number}"


CALL: Final = call_track("")


class TrackPiece(NamedTuple):
    """More text of one track. With `restarts`, the piece replaces the text before it."""

    track: str
    fragment: str | bytes
    restarts: bool = False


class Item(NamedTuple):
    """One step: its pieces, its chunk or snapshot as received, and the message after it."""

    pieces: tuple[TrackPiece, ...] = ()
    raw: str = ""
    message: MessageState | None = None
    open: tuple[str | int, ...] | None = None
    """For snapshots: the path of the innermost written value that may still grow."""
    waiting: tuple[str, ...] = ()
    """For snapshots: the keys inside it that the chunker holds back."""
    problem: str = ""
    """A message for the user if this part of the input is invalid."""
    line: int | None = None
    """For a chunk with a problem: the line on which it begins, counted from 1."""


# JSON or prose?


class Nature(StrEnum):
    """The nature of a text: JSON, JSON inside other text, or prose."""

    JSON = "json"
    WRAPPED = "wrapped"
    PROSE = "prose"


def nature_of(track: str, message: MessageState | None, *, extract: bool) -> Nature | None:
    """Return the nature that the name of a track implies; None if only its text can tell.

    With `extract`, the answer is JSON inside other text.
    """
    if track in ANSWERS:
        return Nature.WRAPPED if extract else Nature.JSON if track == DOCUMENT else None
    call = call_of(track, message)
    if call is not None:
        return Nature.PROSE if call.kind == "custom" else Nature.JSON  # custom tools take free text
    return Nature.JSON if track.startswith(CALL) else Nature.PROSE


def call_of(track: str, message: MessageState | None) -> ToolCall | None:
    """Return the tool call whose arguments a track holds, if the message has it."""
    number = track.removeprefix(CALL)
    if message is None or number == track or not number.isdecimal() or int(number) >= len(message.tool_calls):
        return None
    return message.tool_calls[int(number)]


def told_by(head: str, *, is_all: bool = False) -> Nature | None:
    """Return the nature of a text that begins like this; None while more text may change the answer.

    Brackets begin JSON or prose; the parser decides, with the rules of `extract=True`.
    """
    head = head.lstrip()
    if head.startswith("{"):
        return Nature.JSON
    if head.startswith(FENCE):
        return Nature.WRAPPED
    if head.startswith("["):
        state = parse_chunk(create_state(extract=True), head[:HEAD])
        state = finalize(state) if is_all else state
        if state.skipped and not state.skipped[0].offset:
            return Nature.PROSE
        return None if state.root is None else Nature.JSON
    return None if FENCE.startswith(head) and not is_all else Nature.PROSE


# The text of a track.


def in_words(error: UnspoolError) -> str:
    """Return the message of an error without the options of Python that it suggests.

    The command has options of its own, and so has the page: both make their own suggestions.

    >>> error = parse_chunk(create_state(), "x").error
    >>> str(error)
    'unexpected character: line 1, column 1 (offset 0), in $; expected a value; extract=True finds JSON in other text'
    >>> in_words(error)
    'unexpected character: line 1, column 1 (offset 0), in $; expected a value'
    """
    words = str(error)
    hint = error.hint if isinstance(error, JSONSyntaxError) else ""
    return words.removesuffix(f"; {hint}") if hint else words


@final
class Track:
    """One text that grows piece by piece, with the parser state after every step.

    States never change, so an earlier step is an older state. A track keeps a bounded number of them, evenly spaced,
    and computes the states between from the nearest kept one. The start of the text decides whether it is JSON or
    prose, unless `nature` is given. Steps count from 1.
    """

    def __init__(self, name: str, nature: Nature | None = None, options: Options | None = None) -> None:
        self.name = name
        self.ended_at: int | None = None
        """The step at which the stream ended."""
        self.size = 0
        """The number of bytes so far."""
        self._nature = nature
        self._options = options or Options()
        self._fragments: list[str | bytes] = []
        self._texts: list[str] = []
        self._ends: list[int] = []  # the length of the text after each piece
        self._steps: list[int] = []  # the step of each piece
        self._restarts: list[int] = []  # the indexes of pieces that replaced the text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._first = ""  # the start of the text while its nature is unknown
        self._stride = 1
        self.state = create_state(self._options, extract=self.extract)
        """The last state; for prose, the empty one."""
        self._kept = [self.state]  # after 0, stride, 2 * stride... pieces
        self._at_hand: OrderedDict[int, ParserState] = OrderedDict()

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON. Prose has no states."""
        return self._nature in (Nature.JSON, Nature.WRAPPED)

    @property
    def extract(self) -> bool:
        """Whether the JSON is inside other text."""
        return self._nature is Nature.WRAPPED

    @property
    def length(self) -> int:
        """The number of characters so far."""
        return self._ends[-1] if self._ends else 0

    @property
    def first_step(self) -> int:
        """The step of the first piece."""
        return self._steps[0] if self._steps else 0

    @property
    def last_step(self) -> int:
        """The step of the last piece."""
        return self._steps[-1] if self._steps else 0

    def add(self, step: int, piece: TrackPiece) -> str:
        """Add one piece and return its text."""
        fragment = piece.fragment
        text = fragment if isinstance(fragment, str) else self._decoder.decode(fragment)
        if piece.restarts and self._fragments:
            self._restarts.append(len(self._fragments))
        self._fragments.append(fragment)
        self._texts.append(text)
        self._ends.append(self.length + len(text))
        self.size += len(fragment.encode(errors="surrogatepass") if isinstance(fragment, str) else fragment)
        self._steps.append(step)
        if self._nature is None:
            self._first = (self._first + text).lstrip()
            self._decide(told_by(self._first))
        elif self.is_json:
            self._keep(self._after(self.state, len(self._fragments) - 1), len(self._fragments))
        return text

    def _decide(self, nature: Nature | None) -> None:
        self._nature = nature
        if self.extract:
            self.state = create_state(self._options, extract=True)
            self._kept = [self.state]
        if self.is_json:
            for count in range(len(self._fragments)):
                self._keep(self._after(self.state, count), count + 1)

    def _after(self, state: ParserState, index: int) -> ParserState:
        """Return the state after the piece with this index, computed from the state before it."""
        # Bisect, because every piece may be a restart. Without an earlier one the index wraps to the last, which is
        # later than this piece and so does not match.
        if self._restarts and self._restarts[bisect_right(self._restarts, index) - 1] == index:
            state = create_state(self._options, extract=self.extract)
        return parse_chunk(state, self._fragments[index])

    def _keep(self, state: ParserState, count: int) -> None:
        self.state = state
        if count % self._stride == 0:
            self._kept.append(state)
        if len(self._kept) > MAX_KEPT:
            del self._kept[1::2]
            self._stride *= 2

    def end(self, step: int) -> None:
        """End the stream at this step."""
        self.ended_at = step
        if self._nature is None:
            self._decide(told_by(self._first, is_all=True))
        if self.is_json:
            self.state = finalize(self.state)

    # Looking back.

    def steps_after(self, step: int) -> list[int]:
        """Return the steps after this one that added text, and the one that ended the stream."""
        steps = sorted(set(self._steps[bisect_right(self._steps, step) :]))
        if self.ended_at is not None and self.ended_at > max(step, steps[-1] if steps else 0):
            steps.append(self.ended_at)
        return steps

    def count_at(self, step: int) -> int:
        """Return the number of pieces up to this step."""
        return bisect_right(self._steps, step)

    def length_at(self, step: int) -> int:
        """Return the number of characters up to this step."""
        count = self.count_at(step)
        return self._ends[count - 1] if count else 0

    def start_at(self, step: int) -> int:
        """Return the offset at which the current text begins: after every text that a restart replaced."""
        count = self.count_at(step)
        begun = bisect_right(self._restarts, count - 1)
        return self._ends[self._restarts[begun - 1] - 1] if begun else 0

    def text(self, start: int = 0, stop: int | None = None) -> str:
        """Return the characters from `start` up to `stop`."""
        stop = self.length if stop is None else min(stop, self.length)
        if start >= stop:
            return ""
        first, last = bisect_right(self._ends, start), bisect_right(self._ends, stop - 1)
        begin = self._ends[first - 1] if first else 0
        return "".join(self._texts[first : last + 1])[start - begin : stop - begin]

    def state_at(self, step: int) -> ParserState:
        """Return the state after this step; for prose, and before the first piece, the empty one."""
        if not self.is_json:
            return self._kept[0]
        if self.ended_at is not None and step >= self.ended_at:
            return self.state
        count = self.count_at(step)
        state = self._at_hand.get(count)
        if state is None:
            state = self._make(count)
        self._at_hand[count] = state
        self._at_hand.move_to_end(count)
        while len(self._at_hand) > MAX_AT_HAND:
            self._at_hand.popitem(last=False)
        return state

    def _make(self, count: int) -> ParserState:
        """Compute a state again, and the one before it, since views compare the two.

        A state remembers every value it has shown. So kept states are not handed out, or memory would grow with each
        view; only a state after a long piece is, because parsing that piece again would take too long.
        """
        stride = self._stride
        begin = max(count - 2, 0) // stride * stride
        long = [at for at in range(begin, count // stride * stride) if len(self._fragments[at]) > LONG]
        if long:
            begin = (long[-1] // stride + 1) * stride
        state = self._kept[begin // stride]
        nearest = max([near for near in self._at_hand if begin < near <= count], default=None)
        if nearest is not None:
            begin, state = nearest, self._at_hand[nearest]
        before = state
        for index in range(begin, count):
            before, state = state, self._after(state, index)
        if begin < count:
            self._at_hand[count - 1] = before
        return state


# The fields in it.

LITERALS: Final = {True: 4, False: 5, None: 4}
KINDS: Final = {
    Kind.START_OBJECT: "object",
    Kind.START_ARRAY: "array",
    Kind.START_STRING: "string",
    Kind.COMPLETE_NUMBER: "number",
    Kind.COMPLETE_BOOLEAN: "boolean",
    Kind.COMPLETE_NULL: "null",
}
BEGINNINGS: Final = frozenset(KINDS)
"""The events that begin a value."""
STARTS: Final = frozenset({Kind.START_OBJECT, Kind.START_ARRAY, Kind.START_STRING})
"""The events that begin a value and leave it open."""
CLOSINGS: Final = frozenset({Kind.END_OBJECT, Kind.END_ARRAY})
"""The events that end a container."""
COMPLETIONS: Final = frozenset({Kind.COMPLETE_STRING, Kind.COMPLETE_NUMBER, Kind.COMPLETE_BOOLEAN, Kind.COMPLETE_NULL})
"""The events that complete any other value."""
ENDS: Final = CLOSINGS | {Kind.COMPLETE_STRING}


@final
class FieldTiming:
    """The timing of one value.

    `first` is the step that showed it and `complete` the step that completed it, None for an open value. `size` is in
    bytes. `at` and `stop` are the offsets of its first character and of the one after its last, `stop` None for an open
    value.
    """

    __slots__ = ("at", "begin", "children", "complete", "first", "id", "kind", "path", "size", "stop")

    def __init__(self, id: int, path: Path, kind: str, first: int, begin: int, at: int) -> None:
        self.id = id
        self.path = path
        self.kind = kind
        self.first = first
        self.begin = begin  # the offset of its first byte
        self.at = at
        self.stop: int | None = None
        self.complete: int | None = None
        self.size = 0
        self.children = 0


@final
class Fields:
    """The timing of the fields of one track, in document order: a fold over its events.

    The number of fields is limited. Items of arrays, with everything inside them, are left out first, because they are
    many of a kind. Fields that are left out are counted, and so are all leaves.
    """

    __slots__ = ("_arrays", "_by_id", "_bytes", "_chars", "_open", "leaves", "left_out", "listed", "roots")

    def __init__(self) -> None:
        self.listed: list[FieldTiming] = []
        self.roots: list[FieldTiming] = []
        """The listed values that are documents of their own."""
        self.left_out = 0
        """The number of fields beyond the limit."""
        self.leaves: dict[int, int] = {}
        """The number of leaves that each step completed, in order; leaves beyond the limit count, too."""
        self._arrays = 0  # open arrays, with those beyond the limit
        self._open: list[FieldTiming] = []
        self._by_id: dict[int, FieldTiming] = {}  # the open fields
        self._chars = 0
        self._bytes = 0

    @property
    def size(self) -> int:
        """The number of bytes so far."""
        return self._bytes

    def take(self, step: int, text: str, events: Iterable[Event]) -> None:
        """Add the events of one fragment."""
        at, size = 0, 0  # the bytes of the fragment are counted up to here; events follow the order of the text
        leaves = 0

        def byte_at(offset: int) -> int:
            nonlocal at, size
            place = min(max(offset - self._chars, 0), len(text))
            size += len(text[at:place].encode(errors="surrogatepass"))
            at = place
            return self._bytes + size

        for event in events:
            kind = event.kind
            if kind in COMPLETIONS:
                leaves += 1
            if kind in STARTS:
                self._start(event, step, byte_at(event.offset), event.offset)
                self._arrays += kind is Kind.START_ARRAY
            elif kind in ENDS:
                self._arrays -= kind is Kind.END_ARRAY
                bracket = event.offset < self._chars + len(text)  # a repair may have put it in behind the text
                self._end(event.node_id, step, byte_at(event.offset) + bracket, event.offset + bracket)
            elif kind in KINDS:
                length = len(event.raw) if event.raw is not None else LITERALS[event.value]
                end = byte_at(event.offset)
                self._start(event, step, max(end - length, 0), max(event.offset - length, 0))
                self._end(event.node_id, step, end, event.offset)
        self._bytes += size + len(text[at:].encode(errors="surrogatepass"))
        self._chars += len(text)
        if leaves:
            self.leaves[step] = self.leaves.get(step, 0) + leaves
        for field in self._open:
            field.size = self._bytes - field.begin

    def find(self, id: int) -> FieldTiming | None:
        """Return the timing of the node with this id; None if it is not in the list."""
        index = bisect_left(self.listed, id, key=lambda field: field.id)
        return self.listed[index] if index < len(self.listed) and self.listed[index].id == id else None

    def _start(self, event: Event, step: int, begin: int, at: int) -> None:
        if self._open and event.path.parent is self._open[-1].path:  # events share the paths of their parents
            self._open[-1].children += 1
        if len(self.listed) >= (MAX_FIELDS if self._arrays else MAX_MEMBERS):
            self.left_out += 1
            return
        field = FieldTiming(event.node_id, event.path, KINDS[event.kind], step, begin, at)
        self.listed.append(field)
        if not len(field.path):
            self.roots.append(field)
        self._open.append(field)
        self._by_id[field.id] = field

    def _end(self, id: int, step: int, end: int, stop: int) -> None:
        field = self._by_id.pop(id, None)
        if field is not None:
            field.complete = step
            field.stop = stop
            field.size = end - field.begin
            self._open.pop()  # the innermost field closes first


@final
class Selection:
    """The fields that a pattern selects: those that match, with everything inside them.

    Pass the paths of a document one after the other, in the order in which their values begin.
    """

    __slots__ = ("_pattern", "_top")

    def __init__(self, pattern: str | Pattern) -> None:
        self._pattern = compile_pattern(pattern) if isinstance(pattern, str) else pattern
        self._top: int | None = None  # the length of the path of the selected value around the next path

    def depth(self, path: Path) -> int | None:
        """Return the depth of a value inside the selected one: 0 if it matches itself, None if it is not selected."""
        if self._top is None or len(path) <= self._top:
            self._top = len(path) if self._pattern.matches(path) else None
        return None if self._top is None else len(path) - self._top
