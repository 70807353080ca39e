"""llm/_wire.py: server-sent events, each rule of the HTML standard, and the one exception to it."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.steps import steps
from tests.support.strategies import every_cutting, every_single_cut, one_by_one
from unspool import COMPILED, OptionsError, StateError, UnspoolError
from unspool.llm import SSEDecoder, SSEEvent, StreamError, aiter_sse, encode_sse, iter_sse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable
    from pathlib import Path

    from unspool import Fragment


class Seen(NamedTuple):
    """All that can be seen of a stream: what feed gave, what close gave, and what the decoder knows then."""

    events: list[SSEEvent]
    unfinished: list[SSEEvent]
    error: tuple[str, int | None] | None
    last_event_id: str | None
    retry: int | None


def see(fragments: Iterable[Fragment], **options: Any) -> Seen:
    decoder = SSEDecoder(**options)
    events: list[SSEEvent] = []
    unfinished: list[SSEEvent] = []
    error = None
    try:
        for fragment in fragments:
            events += decoder.feed(fragment)
        unfinished = decoder.close()
    except StreamError as raised:
        error = (raised.reason, raised.line)
    return Seen(events, unfinished, error, decoder.last_event_id, decoder.retry)


def read(text: str, **options: Any) -> Seen:
    """What is seen of a stream, shown to be the same for text and bytes, cut nowhere, once, and everywhere."""
    whole = see([text], **options)
    data = text.encode()
    cuttings: list[list[str] | list[bytes]] = [one_by_one(text), [data], one_by_one(data)]
    for fragments in [*cuttings, *every_single_cut(text), *every_single_cut(data)]:
        assert see(fragments, **options) == whole
    return whole


def events(text: str) -> list[SSEEvent]:
    """The events that end."""
    return read(text).events


# The examples of the standard, in other words


def test_events_of_several_lines() -> None:
    """Lines of data are put together with LF between them; a blank line ends the event."""
    assert events("data: NASDAQ\ndata: +2\ndata: 10\n\n") == [SSEEvent("NASDAQ\n+2\n10")]


def test_four_blocks() -> None:
    """A comment says nothing; an id stays until another one comes; an empty one takes it away; one space is dropped."""
    seen = read(": first things first\n\ndata: one\nid: 1\n\ndata:two\nid\n\ndata:  three\n\n")
    assert seen.events == [SSEEvent("one", id="1"), SSEEvent("two", id=""), SSEEvent(" three", id="")]
    assert seen.last_event_id == ""


def test_data_that_is_empty() -> None:
    """An empty data line is a line: one makes an empty event, two make a LF, one that has not ended makes none."""
    seen = read("data\n\ndata\ndata\n\ndata:")
    assert seen.events == [SSEEvent(""), SSEEvent("\n")]
    assert seen.unfinished == []


def test_one_space_after_the_colon_is_no_part_of_the_value() -> None:
    """With it or without it, the value is the same."""
    assert events("data:test\n\ndata: test\n\n") == [SSEEvent("test")] * 2


def test_named_events() -> None:
    """Each event has the name that it is given, or is a message."""
    assert events("event: add\ndata: 1\n\nevent: remove\ndata: 2\n\ndata: 3\n\n") == [
        SSEEvent("1", event="add"),
        SSEEvent("2", event="remove"),
        SSEEvent("3", event="message"),
    ]


# Lines


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"], ids=ascii)
def test_what_ends_a_line(end: str) -> None:
    """LF, CR, and the two together, which are one."""
    text = "event: x\ndata: 1\ndata: 2\n\ndata: 3\n\n: \n\n".replace("\n", end)
    assert events(text) == [SSEEvent("1\n2", event="x"), SSEEvent("3")]


def test_line_ends_may_be_mixed() -> None:
    """However they are mixed; a LF that follows a CR belongs to it."""
    assert events("data: 1\rdata: 2\r\n\rdata: 3\n\r\ndata: 4\r\rdata: 5\n\n") == [
        SSEEvent("1\n2"),
        SSEEvent("3"),
        SSEEvent("4"),
        SSEEvent("5"),
    ]
    assert events("data: 1\r\ndata: 2\r\n\n") == [SSEEvent("1\n2")]


@pytest.mark.parametrize("char", "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0\x1f\xa0\ufeff", ids=ascii)
def test_what_does_not_end_a_line(char: str) -> None:
    """Nothing else does, whatever `str.splitlines` thinks of it, and nothing else is stripped."""
    assert events(f"data: {char}a{char}data: b{char}\n\n") == [SSEEvent(f"{char}a{char}data: b{char}")]
    assert events(f"data: 1\n{char}data: 2\ndata{char}: 3\n\n") == [SSEEvent("1")]


def test_a_cr_ends_its_line_at_once() -> None:
    """The decoder does not wait for a LF; one that follows, in any fragment, does not end another line."""
    decoder = SSEDecoder()
    assert decoder.feed("data: 1\r") == []
    assert decoder.feed("") == []
    assert decoder.feed("\n") == []
    assert decoder.feed("\r") == [SSEEvent("1")]
    assert decoder.feed(b"\ndata: 2\n") == []
    assert decoder.feed("\n") == [SSEEvent("2")]


def test_every_cutting_of_a_small_stream() -> None:
    """In all 4,096 ways of cutting its thirteen bytes."""
    data = "data:é\r\n\r\n\r\n".encode()
    for fragments in every_cutting(data):
        assert see(fragments) == Seen([SSEEvent("é")], [], None, None, None)


# Text


def test_a_byte_order_mark_at_the_start_is_skipped() -> None:
    """One, and nowhere else."""
    assert events("\ufeffdata: 1\n\n") == [SSEEvent("1")]
    assert events("\ufeff\ufeffdata: 1\n\ndata: 2\n\n") == [SSEEvent("2")]
    assert events("data: 1\n\n\ufeffdata: 2\n\ndata: \ufeff3\n\n") == [SSEEvent("1"), SSEEvent("\ufeff3")]
    assert read("\ufeff") == read("") == Seen([], [], None, None, None)


@pytest.mark.parametrize(
    "data",
    [b"\xff", b"\x80\xbf", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80"],
)
def test_what_is_not_utf_8_is_replaced(data: bytes) -> None:
    """By U+FFFD, as often as Python's codec and the Encoding standard do it; the rest of the stream is as it was."""
    stream = b"data: a" + data + b"z\n\ndata: \xc3\xa9\n\n"
    for fragments in [[stream], one_by_one(stream), *every_single_cut(stream)]:
        assert see(fragments).events == [SSEEvent(f"a{data.decode(errors='replace')}z"), SSEEvent("é")]


def test_a_character_that_is_cut_off_by_the_end_is_replaced() -> None:
    """The stream ends in the middle of one."""
    for fragments in [[b"data: a\xe2\x82"], one_by_one(b"data: a\xe2\x82")]:
        assert see(fragments).unfinished == [SSEEvent("a\ufffd")]


def test_text_and_bytes_may_be_mixed() -> None:
    """A character whose bytes were cut stays cut when text follows; nothing at all does not follow."""
    assert see([b"data: ", "é", b"\xc3", "", b"", b"\xa9", bytearray(b"!"), memoryview(b"\n\n")]).events == [
        SSEEvent("éé!")
    ]
    assert see([b"data: \xc3", "x\n\n"]).events == [SSEEvent("\ufffdx")]


@pytest.mark.parametrize("fragment", [None, 1, ["data: 1\n\n"]])
def test_other_types_are_refused(fragment: Any) -> None:
    """A fragment is text or bytes."""
    with pytest.raises(TypeError, match="str or bytes"):
        SSEDecoder().feed(fragment)


# Fields


def test_fields_that_are_unknown_are_ignored() -> None:
    """Names are exact: no other letter case, no space."""
    assert events("Data: 1\n data: 2\ndata : 3\nfoo: 4\nfoo\n:data: 5\nda: 6\ndatas: 7\n\n") == []
    assert events("data: 1\nDATA: 2\nfoo\n\n") == [SSEEvent("1")]


def test_a_value_may_hold_colons() -> None:
    """The first one ends the name."""
    assert events("data:a:b: c\nevent: x:y\n\n") == [SSEEvent("a:b: c", event="x:y")]


def test_an_event_without_data_is_none() -> None:
    """It is not delivered, and its name is not kept for the next one; its id is."""
    seen = read("event: ping\nid: 1\nretry: 5\n\ndata: x\n\n")
    assert seen.events == [SSEEvent("x", id="1")]
    assert seen.retry == 5


def test_the_last_name_counts() -> None:
    """A second name replaces the first; an empty name resets it."""
    assert events("event: a\nevent: b\ndata: 1\n\nevent: a\nevent\ndata: 2\n\n") == [SSEEvent("1", "b"), SSEEvent("2")]


def test_ids_stay() -> None:
    """An event has the last id of the stream; the decoder takes it over with the blank line."""
    decoder = SSEDecoder()
    assert decoder.last_event_id is None
    assert decoder.feed("data: 0\n\nid: 1\ndata: 1\n") == [SSEEvent("0")]
    assert decoder.last_event_id is None
    assert decoder.feed("\ndata: 2\n\nid: 3\n") == [SSEEvent("1", id="1"), SSEEvent("2", id="1")]
    assert decoder.last_event_id == "1"
    assert decoder.feed("\n") == []
    assert decoder.last_event_id == "3"


def test_an_id_with_nul_is_ignored() -> None:
    """The one before stays."""
    assert read("id: 1\ndata: 1\n\nid: 2\0\ndata: 2\n\n").last_event_id == "1"


@pytest.mark.parametrize(
    ("value", "retry"),
    [
        ("0", 0),
        ("3000", 3000),
        ("007", 7),
        ("9" * 15, 10**15 - 1),
        *((value, 1) for value in ["", "-5", "+5", "5 ", " 5", "1e3", "1_0", "0x1", "٣", "²", "9" * 16, "9" * 5000]),
    ],
)
def test_retry_is_digits(value: str, retry: int) -> None:
    """ASCII digits and nothing else, and no more of them than a time can have; anything else is ignored."""
    assert see([f"retry: 1\nretry: {value}\ndata\n\n"]) == Seen([SSEEvent("", retry=retry)], [], None, None, retry)


def test_retry_is_told_at_once_and_belongs_to_one_event() -> None:
    """The decoder knows the last one; of the events, that one has it that it came with."""
    decoder = SSEDecoder()
    assert decoder.retry is None
    assert decoder.feed("retry: 10\n") == []
    assert decoder.retry == 10
    assert decoder.feed("data: 1\n\ndata: 2\n\n") == [SSEEvent("1", retry=10), SSEEvent("2")]
    assert decoder.retry == 10


# The end


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ("data: [DONE]\n", [SSEEvent("[DONE]", id="6")]),
        ("data: [DONE]\r", [SSEEvent("[DONE]", id="6")]),
        ("data: [DONE]", [SSEEvent("[DONE]", id="6")]),
        ("event: a\ndata: 1\ndata: 2", [SSEEvent("1\n2", "a", "6")]),
        ("data: 1\ndata: 2\nevent: a\nid: 7\nretry: 5\n", [SSEEvent("1\n2", "a", "7", 5)]),
        ("data: 1\nevent: a", [SSEEvent("1", id="6")]),
        ("data: 1\nid: 7", [SSEEvent("1", id="6")]),
        ("data: 1\nretry: 5", [SSEEvent("1", id="6")]),
        ("data: 1\ndata", [SSEEvent("1", id="6")]),
        ("data: 1\ndata:", [SSEEvent("1\n", id="6")]),
        ("data: 1\n: comm", [SSEEvent("1", id="6")]),
        *((text, []) for text in ["", "data", "data:", "data: ", "data:\n", "event: a\n", "id: 1", ": x", "datax: 1"]),
    ],
    ids=ascii,
)
def test_a_stream_that_ends_in_an_event(text: str, unfinished: list[SSEEvent]) -> None:
    """close gives what has data: of a line that has not ended only data counts. The last id stays what it was."""
    seen = read("id: 6\n\n" + text)
    assert (seen.events, seen.unfinished, seen.last_event_id) == ([], unfinished, "6")
    assert read("id: 6\n\n" + text, keep_unfinished=False) == seen._replace(unfinished=[])


def test_what_is_whole_does_not_come_from_close() -> None:
    """A stream that ends as it should leaves nothing, whatever ends its lines."""
    for end in ("\n", "\r", "\r\n"):
        assert read("data: 1\n\n".replace("\n", end)) == Seen([SSEEvent("1")], [], None, None, None)


def test_a_closed_decoder() -> None:
    """close gives what there is once; feeding a closed decoder is a mistake."""
    decoder = SSEDecoder()
    decoder.feed("data: 1")
    assert decoder.close() == [SSEEvent("1")]
    assert decoder.close() == []
    with pytest.raises(StateError):
        decoder.feed("")


# Limits


LINE, EVENT = "a line longer than max_line", "an event longer than max_event"


@pytest.mark.parametrize(
    ("text", "limits", "count", "error"),
    [
        ("data: 123\n\ndata: 1234\n\n", {"max_line": 9}, 1, (LINE, 3)),
        ("data: 123\r\n\r\ndata: 1234", {"max_line": 9}, 1, (LINE, 3)),
        ("data: 123\r\rdata: 1234\r", {"max_line": 9}, 1, (LINE, 3)),
        (":3456789\n:345678901\n", {"max_line": 9}, 0, (LINE, 2)),
        ("x", {"max_line": 0}, 0, (LINE, 1)),
        ("\ufeffdata: é€😀\n\ndata: é€😀é\n\n", {"max_line": 9}, 1, (LINE, 3)),
        ("data: 123\n\ndata: 1234\n\n", {"max_event": 3}, 1, (EVENT, 3)),
        ("data: 1\ndata: 2\n\ndata: 1\ndata: 23\ndata\n\n", {"max_event": 3}, 1, (EVENT, 5)),
        ("data: 1\ndata: 2\n\ndata: 1\ndata: 23", {"max_event": 3}, 1, (EVENT, 5)),
        ("data\ndata\n\ndata\ndata\ndata\n\n", {"max_event": 1}, 1, (EVENT, 6)),
        ("data: 123\n\ndata: 1234\n: 6789012\n", {"max_event": 3, "max_line": 10}, 1, (EVENT, 3)),
        ("data: 123\n\n: 6789012\ndata: 1234\n", {"max_event": 3, "max_line": 8}, 0, (LINE, 1)),
        ("data: 1234\n", {"max_event": 3, "max_line": 9}, 0, (LINE, 1)),
    ],
)
def test_limits(text: str, limits: dict[str, int], count: int, error: tuple[str, int]) -> None:
    """A limit is met in the same line under every cutting, and the events before it are delivered."""
    seen = read(text, **limits)
    assert (len(seen.events), seen.unfinished, seen.error) == (count, [], error)
    larger = {name: limit + 1 for name, limit in limits.items() if name[4:] in error[0]}
    assert read(text, **{**limits, **larger}).error != error


def test_no_limits() -> None:
    """None takes a limit away; the preset ones are far off."""
    text = "x" * 100_000
    assert see([f"data: {text}\n\n"]) == see([f"data: {text}\n\n"], max_line=None, max_event=None)
    for name in ("max_line", "max_event"):
        for bad in (-1, 1.0, "1", True):
            with pytest.raises(OptionsError, match=name):
                see([], **{name: bad})


def test_a_character_that_is_cut_off_counts() -> None:
    """A limit may be met by the character that stands for one that the end cut off."""
    for keep in (True, False):
        for fragments in ([b"data: 1\xc3"], one_by_one(b"data: 1\xc3")):
            assert see(fragments, max_line=7, keep_unfinished=keep).error == (LINE, 1)
            assert see(fragments, max_line=8, keep_unfinished=keep).error is None
            assert see(fragments, max_event=1, keep_unfinished=keep).error == ((EVENT, 1) if keep else None)


def test_what_came_before_an_error_is_given_first() -> None:
    """An error is raised by the call that has nothing to give, and by every call after it, as the same object."""
    decoder = SSEDecoder(max_line=7)
    assert decoder.error is None
    assert decoder.feed("data: 1\n\ndata: 23\n\ndata: 4\n\n") == [SSEEvent("1")]
    error = decoder.error
    assert isinstance(error, StreamError)
    for call in (decoder.raise_fault, decoder.close, lambda: decoder.feed("data: 5\n\n"), decoder.close):
        with pytest.raises(StreamError) as raised:
            call()
        assert raised.value is error
        assert len(raised.traceback) < 5  # not longer each time
    with pytest.raises(StreamError):
        SSEDecoder(max_line=7).feed("data: 23")


def test_the_error() -> None:
    """It is one of the family, says where, and never what; it can be copied and sent."""
    error = StreamError("a line longer than max_line", 7)
    assert isinstance(error, UnspoolError)
    assert isinstance(error, ValueError)
    assert str(error) == "a line longer than max_line: line 7"
    assert str(StreamError("no")) == "no"
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (other.reason, other.line) == (error.reason, error.line)


# Events


def test_an_event_is_immutable() -> None:
    """Nothing can be set, changed or deleted; it can be a key, copied and sent."""
    event = SSEEvent("1", "a", "7", 5)
    for name in ("data", "event", "id", "retry", "other"):
        with pytest.raises(AttributeError):
            setattr(event, name, "2")
        with pytest.raises(AttributeError):
            delattr(event, name)
    same = SSEEvent("1", event="a", id="7", retry=5)
    assert {event: 1}[same] == 1
    assert event == same == copy.deepcopy(event) == pickle.loads(pickle.dumps(event))
    for other in (SSEEvent("2", "a", "7", 5), SSEEvent("1"), SSEEvent("1", "a", "7"), ("1", "a", "7", 5)):
        assert event != other


def test_an_event_can_be_matched_and_shown() -> None:
    """By its fields in their order; the repr is what makes it."""
    match SSEEvent("1", "a"):
        case SSEEvent(data, "a", None):
            assert data == "1"
        case _:
            raise AssertionError
    assert repr(SSEEvent("1")) == "SSEEvent('1')"
    assert repr(SSEEvent("1", "a", "", 0)) == "SSEEvent('1', event='a', id='', retry=0)"


def test_is_done() -> None:
    """The word that ends many streams, whatever white space is around it."""
    assert [SSEEvent(data).is_done for data in ("[DONE]", " [DONE] ", "[done]", "", '"[DONE]"', "[DONE]x")] == [
        *[True, True],
        *[False] * 4,
    ]


def test_data_is_lines() -> None:
    """CR and CR LF in data are LF; a name that is empty is that of a message."""
    assert SSEEvent("a\rb\r\nc\n\rd\r").data == "a\nb\nc\n\nd\n"
    assert SSEEvent("", event="") == SSEEvent("")


@pytest.mark.parametrize(
    "fields",
    [
        *({"event": f"a{char}b"} for char in "\r\n"),
        *({"id": f"a{char}b"} for char in "\r\n\0"),
        *({"retry": retry} for retry in (-1, 10**15, 1.0, "1", True)),
    ],
    ids=ascii,
)
def test_what_no_stream_can_hold_is_no_event(fields: dict[str, Any]) -> None:
    """The constructor rejects names and ids of several lines, ids with NUL, and invalid times."""
    with pytest.raises(StreamError) as raised:
        SSEEvent("", **fields)
    assert raised.value.line is None


# Encoding


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (SSEEvent("1"), "data: 1\n\n"),
        (SSEEvent(""), "data: \n\n"),
        (SSEEvent(" é\n\n"), "data:  é\ndata: \ndata: \n\n"),
        (SSEEvent("1\r\n2\r3"), "data: 1\ndata: 2\ndata: 3\n\n"),
        (SSEEvent("1\u2028\x85\ufeff"), "data: 1\u2028\x85\ufeff\n\n"),
        (SSEEvent("1\nevent: b\n\ndata: c", "a"), "event: a\ndata: 1\ndata: event: b\ndata: \ndata: data: c\n\n"),
        (SSEEvent("1", "a:b", "7", 0), "event: a:b\nid: 7\nretry: 0\ndata: 1\n\n"),
        (SSEEvent("1", id=""), "id: \ndata: 1\n\n"),
    ],
)
def test_encode(event: SSEEvent, data: str) -> None:
    """Each field that has something to say is a line, and so is each line of data; nothing in the data is a field."""
    assert encode_sse(event) == data.encode()
    assert events(data) == [event]


def test_half_a_pair_cannot_be_sent() -> None:
    """Streams are UTF-8. Text that was fed may have it, and then the event has it too."""
    (event,) = SSEDecoder().feed("data: \ud83d\n\n")
    assert event.data == "\ud83d"
    with pytest.raises(StreamError) as raised:
        encode_sse(event)
    assert "\ud83d" not in str(raised.value)


# Iterators


def deliver(chunks: Iterable[Fragment], decoder: SSEDecoder | None = None) -> tuple[list[SSEEvent], Exception | None]:
    found: list[SSEEvent] = []
    try:
        found.extend(iter_sse(chunks, decoder))
    except (StreamError, ConnectionError) as error:
        return found, error
    return found, None


def deliver_async(
    chunks: Iterable[Fragment], decoder: SSEDecoder | None = None
) -> tuple[list[SSEEvent], Exception | None]:
    found: list[SSEEvent] = []

    async def source() -> AsyncGenerator[Fragment, None]:
        for chunk in chunks:
            await asyncio.sleep(0)
            yield chunk

    async def run() -> Exception | None:
        try:
            async for event in aiter_sse(source(), decoder):
                found.append(event)  # noqa: PERF401 - one by one: what comes before an error counts
        except (StreamError, ConnectionError) as error:
            return error
        return None

    return found, asyncio.run(run())


both = pytest.mark.parametrize("delivered", [deliver, deliver_async], ids=["iter", "aiter"])


@both
def test_iterators(delivered: Callable[..., tuple[list[SSEEvent], Exception | None]]) -> None:
    """They deliver the events, the last one as close gives it; a decoder that is given knows where they ended."""
    decoder = SSEDecoder()
    chunks: list[Fragment] = [b"id: 1\ndata: \xc3", b"\xa9\r", "\n\r\ndata: [DO", b"NE]"]
    assert delivered(chunks, decoder) == ([SSEEvent("é", id="1"), SSEEvent("[DONE]", id="1")], None)
    assert decoder.last_event_id == "1"
    assert delivered(chunks, SSEDecoder(keep_unfinished=False)) == ([SSEEvent("é", id="1")], None)
    assert delivered([]) == ([], None)


@both
def test_iterators_deliver_then_raise(delivered: Callable[..., tuple[list[SSEEvent], Exception | None]]) -> None:
    """The error comes at once after the events before it, and no other chunk is asked for."""
    asked = 0

    def source() -> Generator[str, None, None]:
        nonlocal asked
        for chunk in ("data: 1\n\ndata: 22\n\n", "data: 3\n\n"):
            asked += 1
            yield chunk

    found, error = delivered(source(), SSEDecoder(max_line=7))
    assert found == [SSEEvent("1")]
    assert isinstance(error, StreamError)
    assert asked == 1
    assert isinstance(delivered(["data: 1\n\nda", "ta: 1", "2"], SSEDecoder(max_event=1))[1], StreamError)


@both
def test_errors_of_the_source_pass_through(delivered: Callable[..., tuple[list[SSEEvent], Exception | None]]) -> None:
    """A broken connection does not end the stream: an unfinished event is not delivered."""
    failure = ConnectionError("gone")

    def source() -> Generator[str, None, None]:
        yield "data: 1\n\ndata: {"
        raise failure

    assert delivered(source()) == ([SSEEvent("1")], failure)


def test_leaving_half_way_closes_the_source() -> None:
    """A generator that is the source is closed together with the iterator."""
    closed: list[str] = []

    def source() -> Generator[str, None, None]:
        try:
            yield "data: 1\n\ndata: 2\n\n"
        finally:
            closed.append("source")

    stream = iter_sse(source())
    assert next(stream) == SSEEvent("1")
    stream.close()
    assert closed == ["source"]


async def stalls(closed: list[str]) -> AsyncGenerator[bytes, None]:
    """One event, then nothing for ever; closing takes its time."""
    try:
        yield b"data: 1\n\ndata: 2"
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        closed.append("source")


def test_leaving_an_async_iterator_half_way_closes_the_source() -> None:
    """The same for a source that is awaited."""

    async def run() -> None:
        closed: list[str] = []
        async with aclosing(aiter_sse(stalls(closed))) as stream:
            assert await anext(stream) == SSEEvent("1")
        assert closed == ["source"]

    asyncio.run(run())


def test_cancellation_closes_the_source() -> None:
    """A task that is cancelled while it waits ends there, closes the source, and delivers nothing unfinished."""

    async def run() -> None:
        closed: list[str] = []
        found: list[SSEEvent] = []

        async def collect() -> None:
            async for event in aiter_sse(stalls(closed)):
                found.append(event)  # noqa: PERF401 - one by one

        task = asyncio.create_task(collect())
        while not found:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert closed == ["source"]
        assert found == [SSEEvent("1")]

    asyncio.run(run())


# Work


SHAPES: dict[str, Callable[[int], str]] = {
    "one long line": lambda n: "data: " + "x" * n + "\n\n",
    "a line without an end": lambda n: "data: " + "é" * n,
    "many events": lambda n: "data: 1\n\n" * (n // 9),
    "many lines of one event": lambda n: "data: 1\r\n" * (n // 9) + "\r\n",
    "many blank lines": lambda n: "\r" * n,
    "comments and no event": lambda n: ":\n" * (n // 2),
    "ids and times": lambda n: "id: 1\nretry: 1\nevent: a\n" * (n // 25),
}


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("size", [1, 4, 64, 4096])
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_stream_is_twice_the_work(shape: str, size: int) -> None:
    """However long lines and events get, and however small the pieces are that they come in."""

    def count(n: int) -> int:
        data = SHAPES[shape](n).encode()
        return steps(lambda: see([data[i : i + size] for i in range(0, len(data), size)]))

    assert count(2 * 400) <= 2.3 * count(400) + 100


# Recordings


def test_recorded_payloads(shared_data: Path) -> None:
    """Recorded payloads of providers survive encoding and decoding, cut anywhere."""
    for recording in sorted((shared_data / "recordings").glob("*/*.jsonl")):
        payloads = recording.read_bytes().decode().split("\n")[:40]
        sent = [SSEEvent(payload, json.loads(payload).get("type", "")) for payload in payloads if payload]
        stream = b"".join(encode_sse(event) for event in sent)
        for size in (1, 7, 1000):
            fragments = [stream[at : at + size] for at in range(0, min(len(stream), size * 2000), size)]
            complete = see(fragments).events
            assert complete == sent[: len(complete)]
        assert see([stream, encode_sse(SSEEvent("[DONE]"))]).events[-1].is_done
