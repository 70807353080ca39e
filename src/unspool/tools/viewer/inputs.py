"""From bytes to timed items: detect the kind of an input, unwrap recordings, and split the input into steps.

    json, ndjson    text of one or many documents          each fragment as it arrives
    sse             server-sent events                     the data of each event: a chunk, or text
    chunks          a provider's chunks, one per line      text, reasoning, and the arguments of each tool call
    snapshots       complete values, one per line          the text that the chunker writes for each

This module uses neither files nor a clock; the caller passes bytes and times. A live input has the times of its
arrival, a recording those that it notes down. The steps of a plain file follow at a steady rate.
"""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, final

from ... import Options, SnapshotChunker, SnapshotError, UnspoolError
from ...llm import NDJSONDecoder, SSEDecoder, changes, deltas_for, detect, finish, reduce_chunk, start
from ...llm._changes import ContentAdded, ReasoningAdded, RefusalAdded, ToolArgumentsAdded
from ...llm._sources import BLANK, UNREADABLE, PayloadDecoder, is_event_stream, read_chunk
from ...llm._wire import DONE
from .recordings import MAX_LINE, Arrival, RecordingError, RecordingReader, is_header, may_be_header
from .timeline import Timeline
from .tracks import DOCUMENT, Item, TrackPiece, call_track

if TYPE_CHECKING:
    from ...llm import Config, MessageState, SSEEvent
    from ...llm._sources import Payload

__all__ = [
    "CUT",
    "ENOUGH",
    "STEADY_RATE",
    "EncodingError",
    "Guess",
    "InputDecoder",
    "InputKind",
    "TimedItem",
    "Unpacker",
    "guess",
    "unpacker_for",
]

STEADY_RATE: Final = 50.0  # steps per second of an input without times
CUT: Final = 12  # bytes of a fragment, about what a model sends
ENOUGH: Final = 64 * 1024  # bytes: an input that has not shown its kind by then is JSON
FEW: Final = 64  # bytes: an event stream shows its kind by then
TELLING: Final = 3  # lines that grow one out of the other are snapshots
ZEROS: Final = {"x0x0": "UTF-16", "0x0x": "UTF-16", "x0": "UTF-16", "0x": "UTF-16", "x000": "UTF-32", "000x": "UTF-32"}


# Kinds.


class InputKind(StrEnum):
    """The kinds of input."""

    JSON = "json"
    NDJSON = "ndjson"
    SSE = "sse"
    CHUNKS = "chunks"
    SNAPSHOTS = "snapshots"
    RECORDING = "recording"


class Guess(NamedTuple):
    """The kind of an input, the format of the provider if there is one, and what the user wants."""

    kind: InputKind
    format: str | None = None
    repair: Literal["none", "spelling", "guess"] = "none"
    extract: bool = False

    @property
    def is_message(self) -> bool:
        """Whether the input is a stream of a provider: several texts in one message."""
        return self.kind is InputKind.CHUNKS or (self.kind is InputKind.SSE and self.format is not None)

    @property
    def options(self) -> Options:
        """The options for parsing the text. The length has no limit: the caller holds the text already."""
        multiple: bool | Literal["lines"] = self.kind is InputKind.NDJSON
        if multiple and not self.extract:  # in other text, a line end says nothing
            multiple = "lines"
        return Options(multiple=multiple, max_chars=None, repair=self.repair)

    def of_format(self, format: str) -> Guess:
        """Return the guess for a stream in the format that the user named."""
        return Guess(self.kind if self.kind is InputKind.SSE else InputKind.CHUNKS, format)


def guess(head: bytes, *, is_all: bool) -> Guess | None:
    """Return the kind of an input that begins with these bytes; None while more bytes may change the answer."""
    head = head.lstrip(BLANK.encode())
    if not head:
        return Guess(InputKind.JSON) if is_all else None
    is_events = is_event_stream(head[:FEW].decode("latin-1"))
    if is_events:
        return _guess_sse(head, is_all)
    if is_events is None and not is_all:
        return None
    return _guess_lines(head, is_all) if head.startswith(b"{") else Guess(InputKind.JSON)


def _guess_sse(head: bytes, is_all: bool) -> Guess | None:
    decoder = PayloadDecoder(is_sse=True)
    try:
        payloads = decoder.feed(head) + (decoder.close() if is_all else [])
    except UnspoolError:
        return Guess(InputKind.SSE)
    if payloads:
        return Guess(InputKind.SSE, detect(read_chunk(payloads[0].text)))
    return Guess(InputKind.SSE) if is_all else None


def _guess_lines(head: bytes, is_all: bool) -> Guess | None:
    """Guess by the completed lines: those never change, so the answer never has to change either."""
    decoder = PayloadDecoder(is_sse=False, max_length=None)
    lines = [payload.text for payload in decoder.feed(head) + (decoder.close() if is_all else [])]
    if not lines:  # half a line may be half a chunk; callers that cannot wait pass `is_all`
        return None
    first = read_chunk(lines[0])
    if first is UNREADABLE:
        return Guess(InputKind.JSON)
    if is_header(first):
        return Guess(InputKind.RECORDING)
    provider = detect(first)
    if provider is not None:
        return Guess(InputKind.CHUNKS, provider)
    if len(lines) == 1:
        return Guess(InputKind.JSON) if is_all else None
    values = [read_chunk(line) for line in lines[:TELLING]]
    is_broken = values[1] is UNREADABLE  # still a second document: it follows a complete value
    values = [value for value in values if value is not UNREADABLE]
    if is_broken or not _can_follow(values):
        return Guess(InputKind.NDJSON)
    if len(lines) < TELLING and not is_all:
        return None
    return Guess(InputKind.SNAPSHOTS if values[0] != values[-1] else InputKind.NDJSON)


def _can_follow(values: list[object]) -> bool:
    """Whether the values may be snapshots of one growing object: each extends the one before."""
    chunker = SnapshotChunker()
    try:
        for value in values:
            chunker.process(value)
    except SnapshotError:
        return False
    return True


# Steps.


class Unpacker(Protocol):
    """A decoder for one kind of input: bytes in, cut anywhere; items out."""

    def feed(self, data: bytes, /) -> list[Item]:
        """Return the items that end in these bytes."""
        ...

    def close(self) -> list[Item]:
        """Return the items that the end of the input completes."""
        ...


def unpacker_for(found: Guess, config: Config | None = None) -> Unpacker:
    """Return an unpacker for this kind of input. `RecordingReader` unwraps recordings first."""
    match found.kind:
        case InputKind.CHUNKS:
            return ChunkUnpacker(found.format, config, is_sse=False)
        case InputKind.SSE:
            return ChunkUnpacker(found.format, config, is_sse=True) if found.format else EventUnpacker()
        case InputKind.SNAPSHOTS:
            return SnapshotUnpacker()
        case InputKind.NDJSON:
            return LineUnpacker()
        case _:
            return TextUnpacker()


@final
class TextUnpacker:
    """JSON text, passed on as it arrives."""

    def feed(self, data: bytes) -> list[Item]:
        return [Item((TrackPiece(DOCUMENT, data),))] if data else []

    def close(self) -> list[Item]:
        return []


@final
class LineUnpacker:
    """Documents, one per line, passed on as they arrive: one item per line."""

    def feed(self, data: bytes) -> list[Item]:
        return [Item((TrackPiece(DOCUMENT, line),)) for line in data.splitlines(keepends=True)]

    def close(self) -> list[Item]:
        return []


@final
class EventUnpacker:
    """Server-sent events with text as data: one piece per event."""

    def __init__(self) -> None:
        self._decoder = SSEDecoder(max_line=MAX_LINE, max_event=MAX_LINE)

    def feed(self, data: bytes) -> list[Item]:
        return self._items(self._decoder.feed(data))

    def close(self) -> list[Item]:
        return self._items(self._decoder.close())

    def _items(self, events: list[SSEEvent]) -> list[Item]:
        return [Item((TrackPiece(DOCUMENT, event.data),), event.data) for event in events if not event.is_done]


@final
class ChunkUnpacker:
    """Chunks of a provider, one per line or one per event."""

    def __init__(self, format: str | None, config: Config | None, *, is_sse: bool) -> None:
        self._deltas = None if format is None else deltas_for(format)
        self._payloads = PayloadDecoder(is_sse=is_sse, max_length=MAX_LINE)
        self._state = start(config)

    def feed(self, data: bytes) -> list[Item]:
        return [self._item(payload) for payload in self._payloads.feed(data)]

    def close(self) -> list[Item]:
        items = [self._item(payload) for payload in self._payloads.close()]
        return [*items, self._next(finish(self._state), "")]

    def _item(self, payload: Payload) -> Item:
        text = payload.text
        chunk = read_chunk(text)
        if chunk is DONE:
            return Item((), text, self._state)
        if chunk is UNREADABLE:
            return self._refused(payload, "that is not JSON")
        if self._deltas is None:
            provider = detect(chunk)
            if provider is None:
                return self._refused(payload, "of no known format")
            self._deltas = deltas_for(provider)
        return self._next(reduce_chunk(self._state, self._deltas(chunk)), text)

    def _refused(self, payload: Payload, what: str) -> Item:
        line, text = payload
        return Item((), text, self._state, problem=f"a chunk {what}: line {line}", line=line)

    def _next(self, state: MessageState, raw: str) -> Item:
        before, self._state = self._state, state
        pieces: dict[str, list[TrackPiece]] = {}
        for change in changes(before, state):
            match change:
                case ContentAdded() | ReasoningAdded() | RefusalAdded():
                    name = change.kind
                    if change.is_whole or _is_inside(change, before):
                        pieces[name] = [TrackPiece(name, getattr(state, name), True)]
                    elif not any(piece.restarts for piece in pieces.get(name, [])):
                        pieces.setdefault(name, []).append(TrackPiece(name, change.text))
                case ToolArgumentsAdded(call, text, whole):
                    name = call_track(call.index)
                    pieces.setdefault(name, []).append(TrackPiece(name, text, whole))
                case _:
                    pass
        return Item(tuple([piece for track in pieces.values() for piece in track]), raw, state)


def _is_inside(change: ContentAdded | ReasoningAdded | RefusalAdded, before: MessageState) -> bool:
    """Tell whether a part has grown that was not the last one of its type."""
    after = before.parts[change.part + 1 :]
    return bool(after) and any(part.type == before.parts[change.part].type for part in after)


@final
class SnapshotUnpacker:
    """Complete values, one per line: the pieces are the text that the chunker writes for each."""

    def __init__(self) -> None:
        self._lines = NDJSONDecoder(max_line=MAX_LINE)
        self._chunker = SnapshotChunker(on_conflict="keep")
        self._conflicts = 0

    def feed(self, data: bytes) -> list[Item]:
        return [self._item(line) for line in self._lines.feed(data)]

    def close(self) -> list[Item]:
        items = [self._item(line) for line in self._lines.close()]
        rest = self._chunker.flush()
        return [*items, Item((TrackPiece(DOCUMENT, rest),))] if rest else items

    def _item(self, line: str) -> Item:
        try:
            fragment = self._chunker.process(line)
        except SnapshotError as error:
            return Item((), line, problem=str(error))
        open_path = self._chunker.open_path
        conflicts, self._conflicts = self._chunker.conflicts[self._conflicts :], len(self._chunker.conflicts)
        return Item(
            (TrackPiece(DOCUMENT, fragment),) if fragment else (),
            line,
            open=None if open_path is None else open_path.steps,
            waiting=self._chunker.waiting,
            problem="; ".join(map(str, conflicts)),
        )


# Times.


class EncodingError(UnspoolError, ValueError):
    """An input in an encoding other than UTF-8; raised before any item is returned."""

    def __init__(self, encoding: str) -> None:
        super().__init__(encoding)
        self.encoding = encoding

    def _message(self) -> str:
        return f"this looks like {self.encoding}; unspool reads UTF-8"


class TimedItem(NamedTuple):
    """An item, and the time of its arrival in seconds."""

    time: float
    item: Item


@final
class InputDecoder:
    """Bytes in, cut anywhere; timed items out.

    `kind` and `format` are auto-detected by default; `found` holds them as soon as they are known. With `cut`, JSON
    text is passed on in fragments of `cut` bytes. Without `snapshots`, lines are NDJSON and passed on unchanged.
    """

    def __init__(
        self,
        kind: InputKind | None = None,
        *,
        format: str | None = None,
        cut: int | None = None,
        is_live: bool = False,
        config: Config | None = None,
        snapshots: bool = True,
        repair: Literal["none", "spelling", "guess"] = "none",
    ) -> None:
        self.found: Guess | None = None
        self._repair: Literal["none", "spelling", "guess"] = repair
        self._is_wrapped = kind is InputKind.RECORDING
        self._kind = None if self._is_wrapped else kind
        self._format = format
        self._cut = cut
        self._is_live = is_live
        self._config = config
        self._snapshots = snapshots
        self._head: list[Arrival] = []  # the arrivals while the kind is unknown
        self._held = 0  # the number of bytes in them
        self._recording: RecordingReader | None = None
        self._unpacker: Unpacker | None = None
        self._clock = 0.0
        self.is_blank = True
        """Whether the text so far is nothing but white space: for a recording, the text that was recorded."""

    @property
    def is_timed(self) -> bool:
        """Whether the times were measured."""
        return self._is_live or self._recording is not None

    @property
    def is_recording(self) -> bool:
        """Whether the input is a recording, which has its own times."""
        return self._recording is not None

    def feed(self, time: float, data: bytes) -> list[TimedItem]:
        """Return the items that end in these bytes. The time matters only for live input."""
        return self._arrive([Arrival(time, data)])

    def settle(self) -> list[TimedItem]:
        """Decide the kind by the bytes so far, because the caller cannot wait any longer, and return their items."""
        is_blank = not any(arrival.data.strip() for arrival in self._head)  # blank input leaves nothing to decide
        return [] if is_blank else self._decide(is_all=True)

    def close(self, time: float) -> list[TimedItem]:
        """End the input and return the remaining items."""
        items: list[TimedItem] = []
        if self._recording is None and self._unpacker is None:
            items += self._decide(is_all=True)  # this may reveal a recording
        if self._recording is not None:
            items += self._unwrapped(self._recording.close())
        if self._unpacker is None:
            items += self._decide(is_all=True)
        assert self._unpacker is not None
        end = time if self._is_live and self._recording is None else self._clock
        return items + [TimedItem(end, item) for item in self._unpacker.close()]

    def timeline(self, *, extract: bool = False, patches: bool = False) -> Timeline:
        """Return an empty timeline for the detected kind; for JSON if the input is empty."""
        found = self.found or Guess(InputKind.JSON, repair=self._repair)
        return Timeline(found, is_timed=self.is_timed, extract=extract, patches=patches)

    def _arrive(self, arrivals: list[Arrival]) -> list[TimedItem]:
        if self._recording is None:
            return self._unwrapped(arrivals)
        try:
            items = self._unwrapped(self._recording.feed(b"".join([arrival.data for arrival in arrivals])))
        except RecordingError:
            if not self._head:
                raise
            items = []
        # Items before a fault are delivered first; the next call raises the fault.
        return items if self._recording.fault is None else items + self.settle()

    def _unwrapped(self, arrivals: list[Arrival]) -> list[TimedItem]:
        self.is_blank = self.is_blank and not any(arrival.data.strip() for arrival in arrivals)
        if self._unpacker is not None:
            return self._unpack(arrivals)
        self._head += arrivals
        size = self._held = self._held + sum([len(arrival.data) for arrival in arrivals])
        if size >= ENOUGH:
            return self._decide(is_all=True)
        # After the first few bytes only a line end adds information.
        is_news = size <= FEW or any(b"\n" in arrival.data or b"\r" in arrival.data for arrival in arrivals)
        return self._decide(is_all=False) if size and is_news else []

    def _decide(self, *, is_all: bool) -> list[TimedItem]:
        head = b"".join([arrival.data for arrival in self._head])
        found = guess(head, is_all=is_all)
        if found is None and self._kind is not None and self._kind is not InputKind.SSE and not may_be_header(head):
            found = Guess(self._kind, self._format)  # the caller named the kind
        if found is None:
            return []
        encoding = _other_encoding(head)
        if encoding is not None:
            self.found = found
            raise EncodingError(encoding)
        held, self._head, self._held = self._head, [], 0
        if self._recording is None and (found.kind is InputKind.RECORDING or self._is_wrapped):
            self._recording = RecordingReader()
            self.is_blank = True
            return self._arrive(held)
        if self._kind is not None:
            found = Guess(self._kind, found.format)
        if found.kind is InputKind.SNAPSHOTS and not self._snapshots:
            found = Guess(InputKind.NDJSON)
        if self._format is not None:
            found = found.of_format(self._format)
        found = self.found = found._replace(repair=self._repair)
        leaves_lines = found.kind is InputKind.NDJSON and not self._snapshots
        self._unpacker = unpacker_for(Guess(InputKind.JSON) if leaves_lines else found, self._config)
        if held and held[0].data.startswith(BOM_UTF8):  # RFC 8259, section 8.1: parsers may ignore it
            held[0] = held[0]._replace(data=held[0].data.removeprefix(BOM_UTF8))
        return self._unpack(held)

    def _unpack(self, arrivals: list[Arrival]) -> list[TimedItem]:
        assert self._unpacker is not None
        assert self.found is not None
        items: list[TimedItem] = []
        is_text = self.found.kind in (InputKind.JSON, InputKind.NDJSON)
        for arrival in arrivals:
            pieces = _cut(arrival.data, self._cut) if self._cut and is_text else [arrival.data]
            for item in [item for piece in pieces for item in self._unpacker.feed(piece)]:
                self._clock = arrival.time if self.is_timed else self._clock + 1 / STEADY_RATE
                items.append(TimedItem(self._clock, item))
        return items


def _other_encoding(head: bytes) -> str | None:
    """Return the encoding of an input that begins with these bytes if it is not UTF-8.

    The byte order mark shows it, or the zeros around the first characters: those are ASCII in every kind of input (RFC
    4627, section 3), and no input in UTF-8 begins like this.
    """
    if head.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return "UTF-32"
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "UTF-16"
    return ZEROS.get("".join(["x" if byte else "0" for byte in head[:4]]))


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
