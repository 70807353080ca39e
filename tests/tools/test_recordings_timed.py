"""Recordings with times, the pieces that a file is played in, and the wire that they are put on."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import eventstream
from tests.support.scripts import Call, Script
from unspool.llm import MessageError, MessageStream, SSEDecoder, iter_lines, iter_sse
from unspool.testing import every_cut, random_cuts
from unspool.tools.viewer.escaping import visible
from unspool.tools.viewer.playback import pieces_of, wire_of
from unspool.tools.viewer.recordings import HEADER, Arrival, RecordingError, RecordingReader, RecordingWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

SCRIPT = Script(("Let me ", "see é 😀."), (Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va"}')),))
NAMED = {"openai-responses": "type", "anthropic": "type", "cohere": "type", "gemini-interactions": "event_type"}
SSE_FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini", "gemini-interactions", "cohere"]

cut_anywhere = st.lists(st.binary(max_size=6) | st.text(max_size=4).map(str.encode), max_size=12)


def recorded(pieces: Iterable[bytes], *, ascii_only: bool = False) -> str:
    """The recording of pieces that came a tenth of a second apart."""
    recorder = RecordingWriter(ascii_only=ascii_only)
    lines = [recorder.line(step / 10, piece) for step, piece in enumerate(pieces)]
    return HEADER + "".join(lines) + recorder.close(1000.0)


def read(recording: str | bytes, *, cuts: Iterable[bytes] | None = None) -> list[Arrival]:
    """The arrivals of a recording, in this cutting."""
    reader = RecordingReader()
    data = recording.encode() if isinstance(recording, str) else recording
    arrivals = [arrival for piece in (cuts or [data]) for arrival in reader.feed(piece)]
    return arrivals + reader.close()


def joined(arrivals: Iterable[Arrival]) -> bytes:
    return b"".join([data for _, data in arrivals])


def lines_of(values: Iterable[Any]) -> bytes:
    return b"".join([json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values])


# What came, and when.


@given(cut_anywhere, st.booleans())
def test_a_recording_gives_back_the_bytes(pieces: list[bytes], ascii_only: bool) -> None:
    """Reading a recording gives back exactly its bytes, in order of time, for all bytes and cuts."""
    arrivals = read(recorded(pieces, ascii_only=ascii_only))
    assert joined(arrivals) == b"".join(pieces)
    times = [time for time, _ in arrivals]
    assert times == sorted(times)


@given(st.lists(st.text(min_size=1, max_size=5), max_size=6))
def test_whole_characters_keep_their_cutting(pieces: list[str]) -> None:
    """Text that is cut between characters comes in the pieces, and at the times, that it came in."""
    data = [piece.encode() for piece in pieces]
    assert read(recorded(data)) == [Arrival(step / 10, piece) for step, piece in enumerate(data)]


def test_half_a_character_goes_with_its_other_half() -> None:
    """The first bytes of a character wait for the rest, which has the time; what never becomes one is kept."""
    assert read(recorded([b"caf\xc3", b"\xa9", b"\xff\xc3", b"\xc3"])) == [
        Arrival(0.0, b"caf"),
        Arrival(0.1, b"\xc3\xa9"),
        Arrival(0.2, b"\xff\xc3"),
        Arrival(1000.0, b"\xc3"),
    ]


@given(cut_anywhere, st.booleans())
def test_a_recording_can_be_looked_at(pieces: list[bytes], ascii_only: bool) -> None:
    """No line contains terminal commands or invisible characters."""
    for line in recorded(pieces, ascii_only=ascii_only).splitlines():
        assert visible(line, ascii_only=ascii_only) == line


def test_the_format_is_fixed() -> None:
    """The very lines, as they have been written from the first version on."""
    assert recorded([b'{"caf\xc3\xa9', b"\n\x1b\x7f", b"\xff"]) == (
        '{"unspool_recording": 1}\n'
        '{"t": 0.0, "text": "{\\"café"}\n'
        '{"t": 0.1, "text": "\\n\\u001b\\u007f"}\n'
        '{"t": 0.2, "base64": "/w=="}\n'
    )


# Reading.


@given(cut_anywhere, st.integers(0, 1000))
def test_the_file_is_cut_anywhere(pieces: list[bytes], seed: int) -> None:
    """Reading a recording does not depend on how the file itself is cut."""
    recording = recorded(pieces)
    assert read(recording, cuts=random_cuts(recording.encode(), seed)) == read(recording)


def test_what_is_left_of_a_crash_can_be_read() -> None:
    """Every beginning of a recording gives a beginning of what came; where a line is cut, the fault comes last."""
    whole = read(recorded([b"a", "é".encode(), b"\xff"]))
    for head, _ in every_cut(recorded([b"a", "é".encode(), b"\xff"]).encode()):
        reader = RecordingReader()
        arrivals = reader.feed(head)
        is_cut = not head.endswith((b"}", b"\n")) and head
        with pytest.raises(RecordingError, match="it ends here, in the middle") if is_cut else nullcontext():
            arrivals += reader.close()
        assert arrivals == whole[: len(arrivals)]


BROKEN = {
    "not JSON": ('{"t": 1', "line 4 of the recording: not JSON"),
    "too deep": ("[" * 100_000, "line 4 of the recording: not JSON"),
    "not an object": ("[]", "line 4 of the recording: its time is missing, or earlier than the one before"),
    "no time": ('{"text": "b"}', "its time is missing"),
    "a time that is not a number": ('{"t": true, "text": "b"}', "its time is missing"),
    "not a number": ('{"t": NaN, "text": "b"}', "its time is missing"),
    "never": ('{"t": Infinity, "text": "b"}', "its time is missing"),
    "later than that": ('{"t": 1' + "0" * 400 + ', "text": "b"}', "its time is missing"),
    "earlier": ('{"t": 0.5, "text": "b"}', "earlier than the one before"),
    "nothing": ('{"t": 2}', "line 4 of the recording: neither text nor base64"),
    "no text": ('{"t": 2, "text": 1}', "neither text nor base64"),
    "half a pair": ('{"t": 2, "text": "\\ud800"}', "neither text nor base64"),
    "no base64": ('{"t": 2, "base64": "?"}', "neither text nor base64"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_told_by_its_number(name: str) -> None:
    """Arrivals before an error are delivered; then every call raises it. Blank lines count."""
    line, message = BROKEN[name]
    reader = RecordingReader()
    assert reader.feed(f'{HEADER}\n{{"t": 1, "text": "a"}}\n{line}\n{{"t": 3, "text": "c"}}\n') == [Arrival(1.0, b"a")]
    for again in (partial(reader.feed, b""), reader.close):
        with pytest.raises(RecordingError) as caught:
            again()
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ('{"t": 0, "text": "a"}', "line 1 of the recording: a recording begins with its header"),
        ('{"unspool_recording": 2}', "line 1 of the recording: version 1 is the one that can be read"),
    ],
)
def test_the_first_line_is_the_header(first: str, message: str) -> None:
    """It says that this is a recording, and how it is to be read."""
    with pytest.raises(RecordingError) as caught:
        RecordingReader().feed(first + "\n")
    assert str(caught.value) == message


def test_no_line_is_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines have a limit, so that another kind of file is not read into memory."""
    monkeypatch.setattr("unspool.tools.viewer.recordings.MAX_LINE", 100)
    reader = RecordingReader()
    with pytest.raises(RecordingError, match="line 2 of the recording: too long"):
        reader.feed(HEADER + "x" * 101)


# The pieces that a file is played in.

CHAT = SCRIPT.write("openai-chat")
FILES = {
    "chunks": (lines_of(CHAT), len(CHAT)),
    "chunks, the last without an end": (lines_of(CHAT)[:-1], len(CHAT)),
    "snapshots": (b'{"a": "b"}\r\n{"a": "bc"}\r\n', 2),
    "events": (b": hello\n\ndata: {}\ndata: 1\n\r\nevent: a\ndata: 2\n\n", 3),
    "a line that is not blank, and nearly so": (b"data: 1\n \ndata: 2\n\n", 1),
    "an event that does not end": (b"data: 1\n\ndata: 2\n", 2),
    "JSON": (b'{\n  "a": [1, 2, 3]\n}\n', 2),
    "nothing": (b"", 0),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_comes_in_its_natural_pieces(name: str) -> None:
    """A line, an event, a few bytes; at a steady rate, and the same however the file is read."""
    data, count = FILES[name]
    pieces = list(pieces_of([data]))
    assert joined(pieces) == data
    assert [time for time, _ in pieces] == pytest.approx([step / 50 for step in range(1, count + 1)])
    if name != "JSON":
        assert all(list(pieces_of(filter(None, cut))) == pieces for cut in every_cut(data))


@given(st.binary(max_size=40) | st.text('{}"\n\r: data,1[]', max_size=40).map(str.encode), st.integers(1, 7))
def test_pieces_are_the_file_again(data: bytes, size: int) -> None:
    """Replaying any file gives its bytes."""
    assert joined(pieces_of([data], cut=size)) == data
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert joined(pieces_of(blocks, cut=size)) == data


def test_a_recording_has_its_own_pieces() -> None:
    """The content of a recording is replayed as it arrived, for every kind."""
    pieces = [b'{"t', b'itle": ', "é".encode(), b"\xff"]
    assert list(pieces_of([recorded(pieces).encode()])) == read(recorded(pieces))


# The wire.


def wired(format: str) -> tuple[str, bytes]:
    wire = wire_of(list(pieces_of([lines_of(SCRIPT.write(format))])))
    assert wire.format == format
    return wire.content_type, joined(wire.frames)


@pytest.mark.parametrize("format", SSE_FORMATS)
def test_chunks_are_events(format: str) -> None:
    """One each, with the name that the provider gives it; what ends them is that of OpenAI's alone."""
    content_type, body = wired(format)
    assert content_type == "text/event-stream; charset=utf-8"
    payloads = SCRIPT.write(format)
    events = list(iter_sse([body]))
    if format == "openai-chat":
        assert events.pop().is_done
    assert [json.loads(event.data) for event in events] == payloads
    member = NAMED.get(format)
    assert [event.event for event in events] == [payload[member] if member else "message" for payload in payloads]


@pytest.mark.parametrize("format", SSE_FORMATS)
def test_events_are_sent_as_they_are(format: str) -> None:
    """A recording of the wire is the wire."""
    _, body = wired(format)
    arrivals = read(recorded(random_cuts(body, 1)))
    wire = wire_of(arrivals)
    assert (wire.frames, wire.format) == (tuple(arrivals), format)


def test_chunks_of_ollama_are_lines() -> None:
    """They have no events."""
    content_type, body = wired("ollama")
    assert content_type == "application/x-ndjson"
    assert list(map(json.loads, iter_lines([body]))) == SCRIPT.write("ollama")


def test_chunks_of_bedrock_are_binary() -> None:
    """Amazon's library reads them, and so does an independent reader."""
    library = pytest.importorskip("botocore.eventstream")
    content_type, body = wired("bedrock-converse")
    assert content_type == eventstream.CONTENT_TYPE
    buffer = library.EventStreamBuffer()
    buffer.add_data(body)
    found = [(message.headers[":event-type"], json.loads(message.payload)) for message in buffer]
    assert [{name: payload} for name, payload in found] == SCRIPT.write("bedrock-converse")
    failure = {"throttlingException": {"message": "slow"}}
    (frame,) = wire_of([Arrival(0.0, lines_of([failure]))]).frames
    assert frame.data == eventstream.event(failure)


def test_a_line_has_the_time_of_its_end() -> None:
    """Chunks that were recorded on their way are sent when they were whole."""
    one, two = lines_of(CHAT[:1]), lines_of(CHAT[1:2])
    pieces = [Arrival(0.0, one[:5]), Arrival(1.0, one[5:] + two[:5]), Arrival(2.5, two[5:])]
    assert [time for time, _ in wire_of(pieces).frames] == [1.0, 2.5, 2.5]


def test_done_is_said_once() -> None:
    """Lines that end with [DONE] already do."""
    body = joined(wire_of([Arrival(0.0, lines_of(CHAT) + b"[DONE]\n")]).frames)
    assert body.count(b"[DONE]") == 1


def test_text_is_sent_in_the_data_of_events() -> None:
    """JSON text comes in pieces that joined are the text; no character is in two of them."""
    text = '{"a": "é😀",\n\n "b": [1, 2]}\n'
    for size in range(1, 9):
        decoder = SSEDecoder()
        events = decoder.feed(joined(wire_of(list(pieces_of([text.encode()], cut=size))).frames))
        assert "".join([event.data for event in events]) == text
        assert decoder.close() == []


def test_half_a_character_of_text_waits_for_the_other_half() -> None:
    """Also where nothing comes in between; if none comes at all, that is to be seen."""
    pieces = [Arrival(0.0, b'"\xc3'), Arrival(1.0, b""), Arrival(2.0, b"\xa9\xc3")]
    sent = [(time, event.data) for time, data in wire_of(pieces).frames for event in iter_sse([data])]
    assert sent == [(0.0, '"'), (2.0, "é"), (2.0, "\ufffd")]


def test_snapshots_are_sent_one_an_event() -> None:
    """Each is a value on its own, and so are other lines."""
    for lines in (b'{"a": "b"}\n{"a": "bc"}\n\n', b'{"a": 1}\n{"b": 2}'):
        events = list(iter_sse([joined(wire_of(list(pieces_of([lines]))).frames)]))
        assert [event.data for event in events] == lines.decode().split("\n")[:2]


def test_a_chunk_that_is_no_json_is_told_by_its_line() -> None:
    """The error names the line, because no client could read the event."""
    with pytest.raises(RecordingError, match="line 3: not JSON"):
        wire_of([Arrival(0.0, lines_of(CHAT[:1]) + b"\n{oops\n")])


def test_a_format_that_is_given_is_the_one() -> None:
    """Who knows better than the first chunk says so."""
    wire = wire_of([Arrival(0.0, b'{"type": "odd"}\n')], "anthropic")
    assert (wire.format, wire.frames[0].data) == ("anthropic", b'event: odd\ndata: {"type": "odd"}\n\n')
    assert wire_of([Arrival(0.0, b"data: 1\n\n")], "anthropic").frames[0].data == b"data: 1\n\n"


def test_the_wire_of_each_recording_is_read_as_its_lines_are(shared_data: Any) -> None:
    """Recorded streams, put on the wire: the message is the one that their payloads make."""
    files = sorted((shared_data / "recordings").rglob("*.jsonl"))
    assert files
    for file in files:
        wire = wire_of(list(pieces_of([file.read_bytes()])))
        assert wire.format == file.parent.name
        if wire.format == "bedrock-converse" or file.stat().st_size > 40_000:
            continue
        payloads = map(json.loads, file.read_text().splitlines())
        assert last([data for _, data in wire.frames], wire.format) == last(payloads, wire.format), file


def last(source: object, format: str | None) -> Any:
    """The last state, whether or not the message came to a good end."""
    stream = MessageStream(source, format=format)
    with suppress(MessageError):
        stream.final()
    return stream.state.dump()
