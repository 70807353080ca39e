r"""Replay: a file as timed pieces, and the pieces as the server of a provider would send them.

`pieces_of` cuts a file; the pieces joined are the file again. A recording has its own pieces and times. Other inputs
arrive at a steady rate: chunks and snapshots line by line, server-sent events one by one, JSON text a few bytes at a
time.

`wire_of` puts the pieces on the wire:

    chunks        one event each, named if the provider names them; one line each for Ollama; binary for Bedrock
    events        unchanged
    other input   one event per snapshot or line, one event per piece of JSON text

>>> wire_of([Arrival(0.0, b'{"type":"message_start","message":{}}\n')]).frames[0].data
b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
"""

from __future__ import annotations

import json
import struct
from codecs import getincrementaldecoder
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final
from zlib import crc32

from ...llm import SSEEvent, encode_sse
from ...llm._sources import UNREADABLE, PayloadDecoder, read_chunk
from ...llm._wire import DONE
from .inputs import CUT, ENOUGH, STEADY_RATE, InputKind, guess
from .recordings import Arrival, RecordingError, RecordingReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Wire", "pieces_of", "wire_of"]

EVENTS: Final = "text/event-stream; charset=utf-8"
LINES: Final = "application/x-ndjson"
AMAZON_EVENTS: Final = "application/vnd.amazon.eventstream"
NAMES: Final = {"openai-responses": "type", "anthropic": "type", "cohere": "type", "gemini-interactions": "event_type"}
"""The formats whose events have names, and the member of a chunk that holds the name."""


# Pieces.


def pieces_of(blocks: Iterable[bytes], *, cut: int | None = None) -> Iterator[Arrival]:
    """Yield the pieces of a file that is read in blocks. Raises `RecordingError` after the pieces before the fault."""
    unread = iter(blocks)
    head, found = b"", None
    while found is None:
        block = next(unread, b"")
        head += block
        found = guess(head, is_all=not block or len(head) >= ENOUGH)
    read = chain([head], unread)
    if found.kind is InputKind.RECORDING:
        return _recorded(read)
    if found.kind is InputKind.JSON:
        return _steady(_in_bytes(read, cut or CUT))
    return _steady(_in_lines(read, up_to_blank=found.kind is InputKind.SSE))


def _recorded(blocks: Iterable[bytes]) -> Iterator[Arrival]:
    reader = RecordingReader()
    for block in blocks:
        yield from reader.feed(block)
    yield from reader.close()


def _steady(pieces: Iterable[bytes]) -> Iterator[Arrival]:
    for step, piece in enumerate(pieces, 1):
        yield Arrival(step / STEADY_RATE, piece)


def _in_bytes(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        for start in range(0, len(block), size):
            yield block[start : start + size]


def _in_lines(blocks: Iterable[bytes], *, up_to_blank: bool) -> Iterator[bytes]:
    held = _Held()
    for block in blocks:
        *ended, rest = block.split(b"\n")
        for line in ended:
            whole = held.end_line(line + b"\n")
            if not up_to_blank or not whole.strip(b"\r\n"):
                yield held.take()
        held.open.append(rest)
    held.end_line(b"")
    if last := held.take():
        yield last


@final
class _Held:
    """The lines of an unfinished event, and the parts of an unfinished line."""

    __slots__ = ("lines", "open")

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.open: list[bytes] = []  # joined once, however many blocks the line spans

    def end_line(self, rest: bytes) -> bytes:
        whole = b"".join([*self.open, rest])
        self.lines.append(whole)
        self.open = []
        return whole

    def take(self) -> bytes:
        held, self.lines = self.lines, []
        return b"".join(held)


# The wire.


class Wire(NamedTuple):
    """Timed frames with their content type, and the format of the provider if there is one."""

    content_type: str
    frames: tuple[Arrival, ...]
    format: str | None = None


def wire_of(pieces: Sequence[Arrival], format: str | None = None) -> Wire:
    """Return the pieces of an input as a server sends them. The format is auto-detected by default.

    Raises `RecordingError`, with the number of the line, for a chunk that is not JSON.
    """
    found = guess(b"".join([piece.data for piece in pieces]), is_all=True)
    assert found is not None
    if format is not None:
        found = found.of_format(format)
    match found.kind:
        case InputKind.SSE:
            return Wire(EVENTS, tuple(pieces), found.format)
        case InputKind.CHUNKS:
            return _chunks(pieces, found.format)
        case InputKind.NDJSON | InputKind.SNAPSHOTS:
            lines = [Arrival(time, encode_sse(SSEEvent(line))) for time, line, _ in _lines(pieces)]
            return Wire(EVENTS, tuple(lines))
        case _:
            return Wire(EVENTS, tuple(_texts(pieces)))


def _texts(pieces: Sequence[Arrival]) -> Iterator[Arrival]:
    decoder = getincrementaldecoder("utf-8")("replace")  # events hold whole characters
    texts = [(time, decoder.decode(data)) for time, data in pieces]
    if pieces:
        texts.append((pieces[-1].time, decoder.decode(b"", final=True)))
    for time, text in texts:
        if text:
            yield Arrival(time, encode_sse(SSEEvent(text)))


def _lines(pieces: Sequence[Arrival]) -> Iterator[tuple[float, str, int]]:
    """Yield the lines that are not blank, each with the time of its end and its number."""
    decoder = PayloadDecoder(is_sse=False, max_length=None)
    for time, data in pieces:
        for number, line in decoder.feed(data):
            yield time, line, number
    for number, line in decoder.close():
        yield pieces[-1].time, line, number


def _chunks(pieces: Sequence[Arrival], format: str | None) -> Wire:
    frame: Callable[[str, Any], bytes] = _event(NAMES.get(format or ""))
    content_type = EVENTS
    if format == "ollama":
        content_type, frame = LINES, _line
    elif format == "bedrock-converse":
        content_type, frame = AMAZON_EVENTS, _amazon_event
    ends_with_done = format == "openai-chat"
    frames: list[Arrival] = []
    for time, line, number in _lines(pieces):
        chunk = read_chunk(line)
        if chunk is DONE:
            ends_with_done = True
            continue
        if chunk is UNREADABLE:
            raise RecordingError(f"line {number}: not JSON")
        frames.append(Arrival(time, frame(line, chunk)))
    if ends_with_done and content_type == EVENTS and frames:
        frames.append(Arrival(pieces[-1].time, encode_sse(SSEEvent(DONE))))
    return Wire(content_type, tuple(frames), format)


def _line(line: str, chunk: object) -> bytes:
    return line.encode() + b"\n"


def _event(member: str | None) -> Callable[[str, Any], bytes]:
    def frame(line: str, chunk: object) -> bytes:
        name = cast("dict[str, Any]", chunk).get(member) if member is not None and isinstance(chunk, dict) else None
        return encode_sse(SSEEvent(line, name if isinstance(name, str) and name.isprintable() else ""))

    return frame


def _amazon_event(line: str, chunk: object) -> bytes:
    """Encode an object with one member, named after its event, as a message of Amazon's event stream.

    The message is two lengths and their checksum, the headers, the payload, and a checksum of everything before it.
    Numbers are big-endian.
    """
    members = cast("dict[str, Any]", chunk if isinstance(chunk, dict) else {})
    name = next(iter(members), "")
    kind = "exception" if name.endswith("Exception") else "event"
    headers = b"".join([
        _amazon_header(f":{kind}-type", name),
        _amazon_header(":content-type", "application/json"),
        _amazon_header(":message-type", kind),
    ])  # fmt: skip
    payload = json.dumps(members.get(name)).encode()
    lengths = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    message = lengths + struct.pack(">I", crc32(lengths)) + headers + payload
    return message + struct.pack(">I", crc32(message))


def _amazon_header(name: str, value: str) -> bytes:
    text, number_of_strings = value.encode()[:65_535], 7
    return bytes([len(name)]) + name.encode() + struct.pack(">BH", number_of_strings, len(text)) + text
