"""What an input is, told by how it begins; and what each part of it brings, as pieces of text for one track or another.

    json, ndjson    text of one or of many documents           each piece as it came
    sse             server-sent events                         the data of each: chunks, or pieces of a text
    chunks          what a provider streams, one a line        text, reasoning, and the arguments of each tool call
    snapshots       whole values, one a line                   the text that the chunker writes for each

Bytes in, `Item`s out: no file, no clock. A recording with times holds one of these; see `recordings`.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast, final

from ..._chunker.snapshots import SnapshotChunker
from ..._errors import SnapshotError, UnspoolError
from ..._options import Options
from ..._parser import FragmentParser
from ...llm._changes import ContentAdded, ReasoningAdded, RefusalAdded, ToolArgumentsAdded, changes
from ...llm._formats.registry import deltas_for, detect
from ...llm._message import finish, reduce_chunk, start
from ...llm._wire import NDJSONDecoder, SSEDecoder
from .payloads import LONGEST_LINE, Payloads
from .recordings import is_header

if TYPE_CHECKING:
    from ...llm._config import Config
    from ...llm._state import MessageState
    from .payloads import Payload

__all__ = [
    "CONTENT",
    "DOCUMENT",
    "Guess",
    "InputKind",
    "Item",
    "Piece",
    "Unpacker",
    "call_track",
    "guess",
    "unpacker_for",
]

BLANK: Final = b"\xef\xbb\xbf \t\r\n"
SSE_STARTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
TELLING: Final = 3  # lines that grow one out of the other are snapshots
NO_JSON: Final = object()
BROKEN_OFF: Final = "\N{SYMBOL FOR NEWLINE}".encode()

DOCUMENT: Final = "json"
"""The track of an input that is one text."""
CONTENT: Final = "content"
"""The track of what a model answers. Its reasoning and its refusal have tracks of their own, and so has each call."""


def call_track(number: int | str) -> str:
    """The track of the arguments of a call."""
    return f"call {number}"


class InputKind(StrEnum):
    """The kinds of input."""

    JSON = "json"
    NDJSON = "ndjson"
    SSE = "sse"
    CHUNKS = "chunks"
    SNAPSHOTS = "snapshots"
    RECORDING = "recording"


class Guess(NamedTuple):
    """What an input is; `format` is that of the provider, where there is one."""

    kind: InputKind
    format: str | None = None

    @property
    def is_message(self) -> bool:
        """Whether this is what a provider streams: several texts in one message."""
        return self.kind is InputKind.CHUNKS or (self.kind is InputKind.SSE and self.format is not None)

    @property
    def options(self) -> Options:
        """How the text is read. It is as long as it is: whoever gives it has it already."""
        return Options(multiple=self.kind is InputKind.NDJSON, max_chars=None)


class Piece(NamedTuple):
    """More text of one track. With `restarts` it is all of it, and takes the place of what there was."""

    track: str
    fragment: str | bytes
    restarts: bool = False


class Item(NamedTuple):
    """What one step brings: pieces, the chunk or snapshot as it came, and what is known of the whole after it."""

    pieces: tuple[Piece, ...] = ()
    raw: str = ""
    message: MessageState | None = None
    open: tuple[str | int, ...] | None = None
    """Of snapshots: the steps of the innermost value that is written and may still grow."""
    waiting: tuple[str, ...] = ()
    """Of snapshots: the keys in it that wait."""
    problem: str = ""
    """What is wrong with this part of the input, in words."""
    line: int | None = None
    """Of a chunk with a problem: on which line it begins, from 1."""


class Unpacker(Protocol):
    """Bytes in, cut anywhere; items out."""

    def feed(self, data: bytes, /) -> list[Item]:
        """What these bytes bring."""
        ...

    def close(self) -> list[Item]:
        """What the end brings."""
        ...


# What an input is.


def guess(head: bytes, *, is_all: bool) -> Guess | None:
    """What an input is that begins with these bytes; None while they do not tell."""
    head = head.lstrip(BLANK)
    if not head:
        return Guess(InputKind.JSON) if is_all else None
    if head.startswith(SSE_STARTS):
        return _guess_sse(head, is_all)
    if not is_all and len(head) < max(map(len, SSE_STARTS)) and any(sign.startswith(head) for sign in SSE_STARTS):
        return None
    if not head.startswith(b"{"):
        return Guess(InputKind.JSON)
    return _guess_lines(head, is_all)


def _guess_sse(head: bytes, is_all: bool) -> Guess | None:
    decoder = SSEDecoder()
    try:
        events = decoder.feed(head) + (decoder.close() if is_all else [])
    except UnspoolError:
        return Guess(InputKind.SSE)
    for event in events:
        if event.data.strip():
            return Guess(InputKind.SSE, detect(_value(event.data)))
    return Guess(InputKind.SSE) if is_all else None


def _guess_lines(head: bytes, is_all: bool) -> Guess | None:
    """By the lines that have ended: those never change, so nothing that was told has to be taken back."""
    ended = head.split(b"\n") if is_all else head.split(b"\n")[:-1]
    lines = [line for line in ended if line.strip(BLANK)]
    if not lines:  # half of a line may be half of a chunk; who cannot wait says that this is all
        return None
    first = _value(lines[0])
    if first is NO_JSON:
        return Guess(InputKind.JSON)
    if is_header(first):
        return Guess(InputKind.RECORDING)
    provider = detect(first)
    if provider is not None:
        return Guess(InputKind.CHUNKS, provider)
    if len(lines) == 1:
        return Guess(InputKind.JSON) if is_all else None
    if _value(lines[1]) is NO_JSON:  # broken, but what stands behind a whole value can only be another one
        return Guess(InputKind.NDJSON)
    values = [value for value in map(_value, lines[:TELLING]) if value is not NO_JSON]
    if not _can_follow(values):
        return Guess(InputKind.NDJSON)
    if len(lines) < TELLING and not is_all:
        return None
    return Guess(InputKind.SNAPSHOTS if values[0] != values[-1] else InputKind.NDJSON)


def _can_follow(values: list[object]) -> bool:
    """Whether the values may be snapshots of one growing object: each has what was in the one before."""
    chunker = SnapshotChunker()
    try:
        for value in values:
            chunker.process(value)
    except SnapshotError:
        return False
    return True


def _value(text: str | bytes) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return NO_JSON


# What it brings.


def unpacker_for(found: Guess, config: Config | None = None) -> Unpacker:
    """What unpacks this kind of input. A recording is read by `RecordingReader` first."""
    match found.kind:
        case InputKind.CHUNKS:
            return Chunks(found.format, config, is_sse=False)
        case InputKind.SSE:
            return Chunks(found.format, config, is_sse=True) if found.format else EventText()
        case InputKind.SNAPSHOTS:
            return Snapshots()
        case InputKind.NDJSON:
            return Lines()
        case _:
            return Text()


@final
class Text:
    """The text itself, as it comes."""

    def feed(self, data: bytes) -> list[Item]:
        return [Item((Piece(DOCUMENT, data),))] if data else []

    def close(self) -> list[Item]:
        return []


@final
class Lines:
    """Documents, one a line, as they come. To JSON the end of a line is space like any other; here a document ends with
    it, and one that is open then must not take in the next. So it is handed on as a sign that no JSON can hold.
    """

    def __init__(self) -> None:
        self._parser = FragmentParser(Options(multiple=True, max_chars=None))
        self._has_begun = False

    def feed(self, data: bytes) -> list[Item]:
        *ended, rest = data.split(b"\n")
        items = [Item((Piece(DOCUMENT, line + self._end_of(line)),)) for line in ended]
        if rest:
            self._read(rest)
            items.append(Item((Piece(DOCUMENT, rest),)))
        return items

    def close(self) -> list[Item]:
        return []

    def _read(self, data: bytes) -> None:
        self._has_begun = bool(self._parser.feed(data)) or self._has_begun

    def _end_of(self, line: bytes) -> bytes:
        self._read(line + b"\n")
        is_open = self._has_begun and not self._parser.is_complete and not self._parser.is_stopped
        return BROKEN_OFF if is_open else b"\n"


@final
class EventText:
    """Server-sent events whose data is text: a piece each."""

    def __init__(self) -> None:
        self._decoder = SSEDecoder(max_line=LONGEST_LINE, max_event=LONGEST_LINE)

    def feed(self, data: bytes) -> list[Item]:
        events = self._decoder.feed(data)
        return [Item((Piece(DOCUMENT, event.data),), event.data) for event in events if not event.is_done]

    def close(self) -> list[Item]:
        events = self._decoder.close()
        return [Item((Piece(DOCUMENT, event.data),), event.data) for event in events if not event.is_done]


@final
class Chunks:
    """What a provider streams, one chunk a line, or one in each event."""

    def __init__(self, format: str | None, config: Config | None, *, is_sse: bool) -> None:
        self._deltas = None if format is None else deltas_for(format)
        self._payloads = Payloads(is_sse=is_sse)
        self._state = start(config)

    def feed(self, data: bytes) -> list[Item]:
        return [self._item(payload) for payload in self._payloads.feed(data)]

    def close(self) -> list[Item]:
        items = [self._item(payload) for payload in self._payloads.close()]
        return [*items, self._next(finish(self._state), "")]

    def _item(self, payload: Payload) -> Item:
        text = payload.text
        chunk = _value(text)
        if chunk is NO_JSON:
            is_end = text.strip() == "[DONE]"
            return Item((), text, self._state) if is_end else self._refused(payload, "that is not JSON")
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
        pieces: list[Piece] = []
        for change in changes(before, state):
            match change:
                case ContentAdded(text, whole):
                    pieces.append(Piece(CONTENT, text, whole))
                case ReasoningAdded(text, whole):
                    pieces.append(Piece("reasoning", text, whole))
                case RefusalAdded(text, whole):
                    pieces.append(Piece("refusal", text, whole))
                case ToolArgumentsAdded(call, text, whole):
                    pieces.append(Piece(call_track(call.index), text, whole))
                case _:
                    pass
        return Item(tuple(pieces), raw, state)


@final
class Snapshots:
    """Whole values, one a line: the text that the chunker writes for each."""

    def __init__(self) -> None:
        self._lines = NDJSONDecoder(max_line=LONGEST_LINE)
        self._chunker = SnapshotChunker(on_conflict="keep")
        self._conflicts = 0

    def feed(self, data: bytes) -> list[Item]:
        return [self._item(line) for line in self._lines.feed(data)]

    def close(self) -> list[Item]:
        items = [self._item(line) for line in self._lines.close()]
        rest = self._chunker.flush()
        return [*items, Item((Piece(DOCUMENT, rest),))] if rest else items

    def _item(self, line: str) -> Item:
        try:
            fragment = self._chunker.process(line)
        except SnapshotError as error:
            return Item((), line, problem=str(error))
        open_path = self._chunker.open_path
        conflicts, self._conflicts = self._chunker.conflicts[self._conflicts :], len(self._chunker.conflicts)
        return Item(
            (Piece(DOCUMENT, fragment),) if fragment else (),
            line,
            open=None if open_path is None else open_path.steps,
            waiting=self._chunker.waiting,
            problem="; ".join(map(str, conflicts)),
        )
