"""The laws of what stands between a provider and a message, numbered as in docs/laws.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.llm.test_sse import Seen, see
from tests.support.messages import ANY, CITY, after, seen, seen_call
from tests.support.strategies import (
    BAD_BYTES,
    broken_documents,
    byte_cuttings,
    cut_at,
    documents,
    every_single_cut,
    one_by_one,
)
from tests.support.strategies import cuttings as text_cuttings
from unspool.llm import Config, MessageState, NDJSONDecoder, SSEEvent, ToolCall, encode_sse, finish, reduce
from unspool.llm._deltas import (
    BlockEnd,
    Finish,
    Ignored,
    MessageStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from unspool.llm._deltas import Delta

many = settings(max_examples=max(300, settings().max_examples))

NO_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0\ufeff \t\x7fa:1é€😀\U0010ffff"
"""What other readers take for the end of a line, or strip, or what is cut in the middle."""


def texts(hard: str) -> SearchStrategy[str]:
    """All of Unicode, with a liking for some of it."""
    return st.text(st.one_of(st.sampled_from(hard), st.characters(exclude_categories=["Cs"])), max_size=12)


lines = texts(NO_LINE_ENDS).map(lambda text: text.replace("\r", "").replace("\n", ""))
sent_events = st.builds(
    SSEEvent,
    texts(NO_LINE_ENDS + "\r\n\n"),
    st.one_of(st.just(""), lines),
    st.one_of(st.none(), lines.map(lambda text: text.replace("\0", ""))),
    st.one_of(st.none(), st.integers(0, 10**15 - 1)),
)


def as_received(sent: list[SSEEvent]) -> list[SSEEvent]:
    """An event without an id has the one before it."""
    received: list[SSEEvent] = []
    last: str | None = None
    for event in sent:
        last = last if event.id is None else event.id
        received.append(SSEEvent(event.data, event.event, last, event.retry))
    return received


def respell(data: bytes, ends: list[bytes]) -> bytes:
    """The same stream with other line ends, taken in turn. A LF after a CR would belong to it: it gets its own."""
    parts = data.split(b"\n")
    spelled = [parts[0]]
    for number, part in enumerate(parts[1:]):
        end = ends[number % len(ends)]
        if end == b"\n" and not spelled[-1] and spelled[-2:-1] == [b"\r"]:
            end = b"\r\n"
        spelled += [end, part]
    return b"".join(spelled)


line_ends = st.lists(st.sampled_from([b"\n", b"\r", b"\r\n"]), min_size=1, max_size=4)


@st.composite
def cuttings(draw: DrawFn, data: bytes) -> list[bytes]:
    """Ways to cut: as byte_cuttings, or behind each CR."""
    if draw(st.booleans()):
        return draw(byte_cuttings(data))
    return cut_at(data, [place for place in range(1, len(data)) if data[place - 1] == 0x0D])


@many
@given(st.data(), st.lists(sent_events, max_size=4), line_ends, st.booleans())
@example(None, [SSEEvent("\u2028\x85\r\n\x0b\0", "\x85", "\u2028", 0), SSEEvent("\ufeff")], [b"\r"], True)
def test_law_21_sse_round_trip(
    data: st.DataObject | None, sent: list[SSEEvent], ends: list[bytes], has_mark: bool
) -> None:
    """Events that are sent are received, whatever ends the lines, however the bytes or the text are cut."""
    stream = b"\xef\xbb\xbf" * has_mark + respell(b"".join(map(encode_sse, sent)), ends)
    received = as_received(sent)
    last = received[-1].id if received else None
    times = [event.retry for event in sent if event.retry is not None]
    expected = Seen(received, [], None, last, times[-1] if times else None)
    cut = [one_by_one(stream)] if data is None else [one_by_one(stream), data.draw(cuttings(stream))]
    for fragments in [[stream], *cut]:
        assert see(fragments) == expected
    assert see(one_by_one(stream.decode())) == expected


@many
@given(sent_events)
def test_law_21_one_event_comes_back_as_it_was(event: SSEEvent) -> None:
    """Alone in its stream, an event is received as the very event that was sent, cut at any one place."""
    data = encode_sse(event)
    for fragments in every_single_cut(data):
        assert see(fragments).events == [event]


# Streams as they may come

PIECES = [
    *(b"\n", b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"data", b"data:", b"data: x", b"data: 12345", b"event: a"),
    *(b"id: 1", b"id: \x00", b"id", b"retry: 5", b"retry: x", b": c", b":", b" ", b"x", b"\xef\xbb\xbf", b"\x00"),
    *("é\u2028\x85😀".encode(), b"\x0b\x0c", *BAD_BYTES),
]
streams = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
limits = st.fixed_dictionaries(
    {}, optional={"max_line": st.integers(0, 14), "max_event": st.integers(0, 8), "keep_unfinished": st.booleans()}
)


def plain_reading(data: bytes) -> Seen:
    """What the standard says about a whole stream, and what this library says about its end."""
    text = data.decode(errors="replace").removeprefix("\ufeff")
    *whole, rest = re.split("\r\n|\r|\n", text)
    events: list[SSEEvent] = []
    last = latest = retry = None
    values: dict[str, Any] = {}

    def take(line: str) -> None:
        nonlocal latest, retry
        name, value = re.fullmatch("([^:]*)(?:: ?(.*))?", line, re.DOTALL).groups("")  # type: ignore[union-attr]
        if name == "data":
            values.setdefault("data", []).append(value)
        elif name == "event":
            values["event"] = value
        elif name == "id" and "\0" not in value:
            latest = value
        elif name == "retry" and re.fullmatch("[0-9]{1,15}", value):
            values["retry"] = retry = int(value)

    def made() -> list[SSEEvent]:
        if "data" not in values:
            return []
        return [SSEEvent("\n".join(values["data"]), values.get("event", ""), latest, values.get("retry"))]

    for line in whole:
        if line == "":
            events += made()
            values.clear()
            last = latest
        else:
            take(line)
    if rest.startswith("data:"):
        take(rest)
    return Seen(events, [event for event in made() if event.data], None, last, retry)


@many
@given(st.data(), streams)
def test_law_21_any_stream_is_read_as_the_standard_says(data: st.DataObject, stream: bytes) -> None:
    """Whatever the bytes, and however they are cut, they are read as a plain reading of the whole stream has it."""
    expected = plain_reading(stream)
    assert see([stream]) == see(one_by_one(stream)) == see(data.draw(cuttings(stream))) == expected
    assert see([stream], keep_unfinished=False) == expected._replace(unfinished=[])


@many
@given(st.data(), streams, limits)
def test_law_21_limits_are_met_in_one_line(data: st.DataObject, stream: bytes, limits: dict[str, Any]) -> None:
    """A limit is met in the same line under every cutting, after the same events; without one nothing is different."""
    seen = see([stream], **limits)
    text = stream.decode(errors="replace")
    assert see(one_by_one(stream), **limits) == see(data.draw(cuttings(stream)), **limits) == seen
    assert see(one_by_one(text), **limits) == see([text], **limits) == seen
    unlimited = see([stream], keep_unfinished=limits.get("keep_unfinished", True))
    if seen.error is None:
        assert seen == unlimited
    else:
        assert seen.events == unlimited.events[: len(seen.events)]


def received_lines(fragments: list[bytes]) -> list[str]:
    decoder = NDJSONDecoder()
    return [line for fragment in fragments for line in decoder.feed(fragment)] + decoder.close()


@many
@given(st.data(), st.lists(lines), st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=1, max_size=4), st.booleans())
def test_law_21_lines_round_trip(data: st.DataObject, sent: list[str], ends: list[bytes], is_ended: bool) -> None:
    """Lines that are sent are received, however they are cut, but for the blank ones; the last one needs no end."""
    stream = b"\xef\xbb\xbf" + b"".join(line.encode() + ends[i % len(ends)] for i, line in enumerate(sent))
    if not is_ended:
        stream = stream.removesuffix(b"\n").removesuffix(b"\r")
    expected = [line for line in sent if line.strip(" \t")]
    assert received_lines([stream]) == received_lines(one_by_one(stream)) == expected
    assert received_lines(data.draw(cuttings(stream))) == expected


# Law 19: the reducer

UNITS: list[Delta] = [
    *(TextDelta(""), TextDelta("", (), True), ReasoningDelta(""), RefusalDelta(""), ToolCallDelta(), ToolCallDelta(0)),
    *(ToolCallDelta(1, arguments="", kind="function"), ToolCallDelta("2", arguments=()), ToolCallDelta(None)),
    *(BlockEnd(), BlockEnd(9), Usage(), MessageStart(), Ignored("known", True), Finish("stop", choice=1)),
    *(TextDelta("other", choice=1), ToolCallDelta(0, "z", "z", "z", choice=1)),
]
"""Deltas that say nothing, or nothing about this message."""

CONFIGS = [
    Config(),
    Config(ANY, tools={"any": ANY, "city": CITY, "plain": None}),
    Config(CITY, emulate_structured_output=True, tools={"any": ANY, "city": CITY, "plain": None}),
]
NAMES = ["any", "city", "plain", "unknown", "output"]
CITIES = [
    *('{"city": "Suva"}', '{"city": "S\\u0075va \\ud83d\\ude00"}', '{"city": 5}', '{"city": "S', "{}", "", " "),
    *('{"city": "x"} and more', '{"city": "x"}{"city": "x"}'),
]

texts_of_calls = st.one_of(st.sampled_from(CITIES), documents(small=True), broken_documents(small=True))
called = st.tuples(st.sampled_from(NAMES), texts_of_calls)
reasons = st.sampled_from(["tool_calls", "stop", "length", "content_filter"])


def first_delta(index: int, name: str, text: str) -> ToolCallDelta:
    return ToolCallDelta(index, f"id_{index}", name, text, "function")


def plain_deltas(content: str, calls: list[tuple[str, str]], reason: Any) -> list[Delta]:
    """The content, and each call as a whole, one after the other."""
    whole = [first_delta(index, name, text) for index, (name, text) in enumerate(calls)]
    return [TextDelta(content), *whole, Finish(reason)]


@st.composite
def other_ways(draw: DrawFn, content: str, calls: list[tuple[str, str]], reason: Any) -> list[Delta]:
    """The same in pieces, all at once, with units in between; only that calls begin in their order."""
    sequences: list[list[Delta]] = [[TextDelta(piece) for piece in draw(text_cuttings(content))]]
    for index, (name, text) in enumerate(calls):
        first, *rest = draw(text_cuttings(text)) or [""]
        sequences.append([first_delta(index, name, first)])
        sequences[-1] += [ToolCallDelta(index, None, None, piece, "function") for piece in rest]
    found: list[Delta] = []
    begun = 0
    while possible := [at for at, sequence in enumerate(sequences) if sequence and at <= begun + 1]:
        at = draw(st.sampled_from(possible))
        begun = max(begun, at)
        found.append(sequences[at].pop(0))
        if draw(st.integers(0, 3)) == 0:
            found.append(draw(st.sampled_from(UNITS)))
    return [*found, Finish(reason)]


messages = st.tuples(st.one_of(st.just(""), texts_of_calls), st.lists(called, max_size=3), reasons)


def all_calls(state: MessageState) -> list[ToolCall]:
    """The calls, hidden ones included."""
    return [part for part in state.parts if isinstance(part, ToolCall)]


@many
@given(st.data(), st.sampled_from(CONFIGS), messages)
def test_law_19_cutting_and_interleaving_change_nothing(
    data: st.DataObject, config: Config, message: tuple[str, list[tuple[str, str]], Any]
) -> None:
    """Splitting or joining deltas of one call, interleaving calls, and units in between, lead to the same message."""
    whole = finish(after(plain_deltas(*message), config))
    state = after([], config)
    for delta in data.draw(other_ways(*message)):
        state = reduce(state, delta)
        if data.draw(st.integers(0, 9)) == 0:
            state = MessageState.load(state.dump(), config)
    assert seen(finish(state)) == seen(whole)


@many
@given(st.sampled_from(CONFIGS), messages)
def test_law_19_null_and_empty_deltas_are_units(
    config: Config, message: tuple[str, list[tuple[str, str]], Any]
) -> None:
    """They leave the very same state."""
    state = after([], config)
    for delta in plain_deltas(*message):
        state = reduce(state, delta)
        for unit in UNITS:
            assert reduce(state, unit) is state, unit


@many
@given(st.data(), st.sampled_from(CONFIGS), st.lists(called, min_size=2, max_size=4), reasons)
def test_law_19_an_error_in_one_call_leaves_the_others_untouched(
    data: st.DataObject, config: Config, calls: list[tuple[str, str]], reason: Any
) -> None:
    """Whatever becomes of one call, the others are what they are without it."""
    at = data.draw(st.integers(0, len(calls) - 1))
    broken = [*calls[:at], (calls[at][0], data.draw(broken_documents(small=True))), *calls[at + 1 :]]
    one = finish(after(plain_deltas("", calls, reason), config))
    other = finish(after(plain_deltas("", broken, reason), config))
    for left, right in zip(all_calls(one), all_calls(other), strict=True):
        assert left.id == f"id_{at}" or seen_call(left) == seen_call(right)


@many
@given(st.data(), messages)
def test_law_19_output_never_surfaces(data: st.DataObject, message: tuple[str, list[tuple[str, str]], Any]) -> None:
    """In no state is there a call of the reserved tool, nor in the message that is sent back; the others all are."""
    config = CONFIGS[2]
    state = after([], config)
    for delta in data.draw(other_ways(*message)):
        state = reduce(state, delta)
        assert "output" not in {call.name for call in (*state.tool_calls, *finish(state).tool_calls)}
        assert '"output"' not in repr(state.as_message().get("tool_calls"))
    content, calls, _ = message
    assert [call.name for call in state.tool_calls] == [name for name, _ in calls if name != "output"]
    assert state.content == content


@many
@given(st.data(), st.sampled_from(CONFIGS), messages)
def test_law_19_length_is_never_complete(
    data: st.DataObject, config: Config, message: tuple[str, list[tuple[str, str]], Any]
) -> None:
    """Nothing that was cut off counts as complete, and everything that is JSON says that it was."""
    content, calls, _ = message
    state = after([], config)
    for delta in data.draw(other_ways(content, calls, "length")):
        state = reduce(state, delta)
    state = finish(state)
    assert not state.is_complete
    assert not state.is_content_complete
    assert all(not call.is_complete and call.error is not None for call in all_calls(state))
