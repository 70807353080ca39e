r"""Pieces as the server of a provider would put them on the wire.

    chunks        one event each, named where the provider names them; a line each for Ollama; binary for Bedrock
    events        as they are
    everything else: snapshots and other lines one event each, JSON text one event for each piece of it

>>> wire_of([Arrival(0.0, b'{"type":"message_start","message":{}}\n')]).frames[0].data
b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
"""

from __future__ import annotations

import json
import struct
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from zlib import crc32

from ...llm._wire import LineSplitter, SSEEvent, encode_sse
from .inputs import Guess, InputKind, guess
from .recordings import Arrival, RecordingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Wire", "wire_of"]

EVENTS: Final = "text/event-stream; charset=utf-8"
LINES: Final = "application/x-ndjson"
AMAZON_EVENTS: Final = "application/vnd.amazon.eventstream"
DONE: Final = "[DONE]"
NAMES: Final = {"openai-responses": "type", "anthropic": "type", "cohere": "type", "gemini-interactions": "event_type"}
"""The formats whose events have names, and the member of a chunk that says it."""


class Wire(NamedTuple):
    """What to send, when, and as what; `format` is that of the provider, where there is one."""

    content_type: str
    frames: tuple[Arrival, ...]
    format: str | None = None


def wire_of(pieces: Sequence[Arrival], format: str | None = None) -> Wire:
    """The pieces of an input as they are sent. `format` is found out unless it is given.

    Raises `RecordingError`, with the number of the line, for a chunk that is not JSON.
    """
    found = guess(b"".join([piece.data for piece in pieces]), is_all=True)
    assert found is not None
    if format is not None:
        found = Guess(found.kind if found.kind is InputKind.SSE else InputKind.CHUNKS, format)
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
    decoder = getincrementaldecoder("utf-8")("replace")  # an event is text, and no character is in two of them
    texts = [(time, decoder.decode(data)) for time, data in pieces]
    if pieces:
        texts.append((pieces[-1].time, decoder.decode(b"", final=True)))
    for time, text in texts:
        if text:
            yield Arrival(time, encode_sse(SSEEvent(text)))


def _lines(pieces: Sequence[Arrival]) -> Iterator[tuple[float, str, int]]:
    """The lines that are not blank, each with the time of its end, and its number."""
    splitter = LineSplitter(None, lone_cr=False)
    for time, data in pieces:
        lines = splitter.feed(data)
        for number, line in enumerate(lines, splitter.count - len(lines) + 1):
            if line.strip():
                yield time, line, number
    last = splitter.close()
    if last.strip():
        yield pieces[-1].time, last, splitter.count + 1


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
        if line.strip() == DONE:
            ends_with_done = True
            continue
        try:
            chunk: object = json.loads(line)
        except (ValueError, RecursionError):
            raise RecordingError(f"line {number}: not JSON") from None
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
    """A message of Amazon's event stream for an object with one member, whose name says what it is.

    Two lengths and their checksum, the headers, the payload, and the checksum of all that; numbers are big-endian.
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
