"""llm/_wire.py and llm/_sources.py: NDJSON, line splitting, and payloads, for streams that are cut anywhere."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.steps import steps
from tests.support.strategies import every_cutting, every_single_cut, one_by_one
from unspool import COMPILED, OptionsError, StateError
from unspool.llm import NDJSONDecoder, SSEDecoder, StreamError, aiter_lines, iter_lines
from unspool.llm._sources import UNREADABLE, PayloadDecoder, is_event_stream, read_chunk
from unspool.llm._wire import DONE, LineSplitter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable
    from pathlib import Path

    from unspool import Fragment


def see(fragments: Iterable[Fragment], **options: Any) -> tuple[list[str], list[str], int | None]:
    """The lines that ended, the one that did not, and the line of the error."""
    decoder = NDJSONDecoder(**options)
    lines: list[str] = []
    try:
        for fragment in fragments:
            lines += decoder.feed(fragment)
        return lines, decoder.close(), None
    except StreamError as error:
        return lines, [], error.line


def read(text: str, **options: Any) -> tuple[list[str], list[str], int | None]:
    """What is seen, shown to be the same for text and bytes, cut nowhere, once, and everywhere."""
    whole = see([text], **options)
    data = text.encode()
    cuttings: list[list[str] | list[bytes]] = [one_by_one(text), [data], one_by_one(data)]
    for fragments in [*cuttings, *every_single_cut(text), *every_single_cut(data)]:
        assert see(fragments, **options) == whole
    return whole


@pytest.mark.parametrize(
    ("text", "lines", "last"),
    [
        ("", [], []),
        ("\n", [], []),
        ("{}\n", ["{}"], []),
        ("{}", [], ["{}"]),
        ('{"a": 1}\n[2]\r\n3\n4', ['{"a": 1}', "[2]", "3"], ["4"]),
        ("1\r\n\r\n\n \t\n2\r\n \r\n", ["1", "2"], []),
        ("1\n \t", ["1"], []),
        ("1\r", [], ["1"]),
        ("1\n\r", ["1"], []),
        ("1\r2\n\r3\r\r\n", ["1\r2", "\r3\r"], []),
        (" 1 \n", [" 1 "], []),
        ("\x0b\n\x85\n\u2028", ["\x0b", "\x85"], ["\u2028"]),
        ("\ufeff1\n\ufeff2\n", ["1", "\ufeff2"], []),
        (
            '"é😀"\n"\u2028\x85\x0b\x0c\x1c\x1d\x1e\u2029\0"\n',
            ['"é😀"', '"\u2028\x85\x0b\x0c\x1c\x1d\x1e\u2029\0"'],
            [],
        ),
    ],
    ids=ascii,
)
def test_lines(text: str, lines: list[str], last: list[str]) -> None:
    """Only LF ends a line, with the CR before it; blank ones are skipped; the last one counts without an end."""
    assert read(text) == (lines, last, None)


def test_every_cutting_of_a_small_stream() -> None:
    """In all 1,024 ways of cutting its eleven bytes."""
    for fragments in every_cutting('\ufeff"é"\r\n\n1'.encode()):
        assert see(fragments) == (['"é"'], ["1"], None)


def test_what_is_not_utf_8_is_replaced() -> None:
    """As in server-sent events, at the end of the stream too."""
    for fragments in [[b'"\xff"\n\xc3'], one_by_one(b'"\xff"\n\xc3')]:
        assert see(fragments) == (['"\ufffd"'], ["\ufffd"], None)
    assert see([b'"\xc3', '"\n', bytearray(b"1"), memoryview(b"\n")]) == (['"\ufffd"', "1"], [], None)


@pytest.mark.parametrize(
    ("text", "lines", "last", "line"),
    [
        ("123\n1234\n", ["123"], [], 2),
        ("123\r\n1234", ["123"], [], 2),
        ("123\r\n\r\n123\r", ["123"], ["123"], None),
        ("123\r\n123\r4\n", ["123"], [], 2),
        ("123\r\r\n", [], [], 1),
        ("\ufeff😀😀😀\n\n\n    \n", ["😀😀😀"], [], 4),
    ],
    ids=ascii,
)
def test_limit(text: str, lines: list[str], last: list[str], line: int | None) -> None:
    """A line that is too long is met as the same line under every cutting; the CR before a LF does not count."""
    assert read(text, max_line=3) == (lines, last, line)
    assert read(text, max_line=None)[2] is None


def test_a_character_that_is_cut_off_counts() -> None:
    """A limit may be met by the character that stands for one that the end cut off."""
    assert see([b"1\n123\xc3"], max_line=3) == (["1"], [], 2)
    assert see([b"1\n123\xc3"], max_line=4) == (["1"], ["123\ufffd"], None)


def test_errors_and_the_end() -> None:
    """Lines before an error are returned first; then every call raises it. A closed decoder rejects input."""
    decoder = NDJSONDecoder(max_line=1)
    assert decoder.feed("1\n22\n3\n") == ["1"]
    assert decoder.error is not None
    for call in (lambda: decoder.feed("4\n"), decoder.close, decoder.raise_fault):
        with pytest.raises(StreamError, match="max_line: line 2"):
            call()
    decoder = NDJSONDecoder()
    assert decoder.feed("1") == []
    assert decoder.close() == ["1"]
    assert decoder.close() == []
    assert decoder.error is None
    with pytest.raises(StateError):
        decoder.feed("2")
    with pytest.raises(OptionsError):
        NDJSONDecoder(max_line=-1)


@pytest.mark.parametrize("lone_cr", [True, False])
def test_a_splitter_reads_no_more_after_its_error(lone_cr: bool) -> None:
    """Nor does it keep anything of the line that was too long."""
    splitter = LineSplitter(3, lone_cr=lone_cr)
    assert splitter.feed("1\n1234") == ["1"]
    assert splitter.count == 1
    error = splitter.error
    assert error is not None
    assert splitter.feed("\n5\n") == splitter.feed(b"6\n\xc3") == []
    assert splitter.close() == ""
    assert splitter.error is error


def deliver(chunks: Iterable[Fragment], decoder: NDJSONDecoder | None = None) -> list[str]:
    return list(iter_lines(chunks, decoder))


def deliver_async(chunks: Iterable[Fragment], decoder: NDJSONDecoder | None = None) -> list[str]:
    async def source() -> AsyncGenerator[Fragment, None]:
        for chunk in chunks:
            await asyncio.sleep(0)
            yield chunk

    async def run() -> list[str]:
        return [line async for line in aiter_lines(source(), decoder)]

    return asyncio.run(run())


@pytest.mark.parametrize("delivered", [deliver, deliver_async], ids=["iter", "aiter"])
def test_iterators(delivered: Callable[..., list[str]]) -> None:
    """They deliver the lines, the last one too; a decoder that is given sets the limit."""
    assert delivered([b'"\xc3', b'\xa9"\r', "\n\n1", b"2"]) == ['"é"', "12"]
    assert delivered([]) == []
    with pytest.raises(StreamError):
        delivered(["12"], NDJSONDecoder(max_line=1))


def test_leaving_half_way_closes_the_source() -> None:
    """A generator that is the source is closed together with the iterator."""
    closed: list[str] = []

    def source() -> Generator[str, None, None]:
        try:
            yield "1\n2\n"
        finally:
            closed.append("source")

    lines = iter_lines(source())
    assert next(lines) == "1"
    lines.close()
    assert closed == ["source"]


SHAPES: dict[str, Callable[[int], str]] = {
    "one long line": lambda n: '"' + "x" * n + '"\n',
    "a line without an end": lambda n: "é" * n,
    "many lines": lambda n: "1\r\n" * (n // 3),
    "blank lines": lambda n: "\n" * n,
    "nothing but CR": lambda n: "\r" * n,
}


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("size", [1, 4, 64, 4096])
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_stream_is_twice_the_work(shape: str, size: int) -> None:
    """However long lines get, and however small the pieces are that they come in."""

    def count(n: int) -> int:
        data = SHAPES[shape](n).encode()
        return steps(lambda: see([data[i : i + size] for i in range(0, len(data), size)]))

    assert count(2 * 400) <= 2.3 * count(400) + 100


def test_recorded_payloads(shared_data: Path) -> None:
    """Files of one payload a line are read as such, cut anywhere."""
    for recording in sorted((shared_data / "recordings").glob("*/*.jsonl")):
        stream = recording.read_bytes()
        lines = [line for line in stream.decode().split("\n") if line]
        for size in (97, 4096):
            assert list(iter_lines(stream[at : at + size] for at in range(0, len(stream), size))) == lines


# Payloads.


def test_items_know_their_lines() -> None:
    """`starts` has the line on which each item of the last call begins, however the stream is cut."""
    lines = "1\r\n\n2\n \n\n3"
    events = ": hello\n\nevent: a\ndata: 1\ndata: 2\n\ndata: 3\r\n\r\nid: 7\n\ndata: 4"
    for make, text, expected in ((NDJSONDecoder, lines, [1, 3, 6]), (SSEDecoder, events, [4, 7, 11])):
        for fragments in [[text], one_by_one(text), *every_single_cut(text)]:
            decoder: Any = make()
            found: list[int] = []
            for fragment in fragments:
                assert len(decoder.feed(fragment)) == len(decoder.starts)
                found += decoder.starts
            assert len(decoder.close()) == len(decoder.starts)
            assert found + decoder.starts == expected


@pytest.mark.parametrize(
    ("text", "is_sse", "payloads"),
    [
        ('{"a": 1}\n\n[DONE]\n{"b"', False, [(1, '{"a": 1}'), (3, "[DONE]"), (4, '{"b"')]),
        ("data: {}\n\ndata:\n\ndata:  \n\ndata: [DONE]", True, [(1, "{}"), (7, "[DONE]")]),
        ("data: [\ndata: 1]\n\n:\n\ndata:", True, [(1, "[\n1]")]),
    ],
)
def test_payloads(text: str, is_sse: bool, payloads: list[tuple[int, str]]) -> None:
    """Lines and events become payloads with their lines; events without data are skipped."""
    for fragments in [[text], one_by_one(text), *every_single_cut(text)]:
        decoder = PayloadDecoder(is_sse=is_sse)
        found = [payload for fragment in fragments for payload in decoder.feed(fragment)]
        assert found + decoder.close() == payloads


@pytest.mark.parametrize(
    ("text", "chunk"),
    [
        ('{"a": 1}', {"a": 1}),
        (" [DONE] ", DONE),
        ('"[DONE]"', "[DONE]"),
        ("{", UNREADABLE),
        ("[" * 100_000, UNREADABLE),
        ("", UNREADABLE),
    ],
)
def test_chunks(text: str, chunk: object) -> None:
    """A payload is JSON, or the end of the stream, or unreadable."""
    assert read_chunk(text) == chunk


@pytest.mark.parametrize(
    ("head", "is_events"),
    [
        ("", None),
        ("\ufeff\r\n", None),
        ("da", None),
        ("data", None),
        ("data:", True),
        (" \n: hello", True),
        ("retry: 1", True),
        ("datum", False),
        ("{", False),
        ("[", False),
    ],
)
def test_event_streams_show_themselves(head: str, is_events: bool | None) -> None:
    """By the first field of the first event."""
    assert is_event_stream(head) is is_events
