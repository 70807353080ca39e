"""The studio and what is large: a view is a window, and no more is read or made for it than is in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.inputs import TRIP, recorded, sse
from unspool import FragmentParser, parse_chunk
from unspool.tools.studio import sessions as sessions_module
from unspool.tools.studio import views as views_module
from unspool.tools.studio.document import spelled_out
from unspool.tools.studio.requests import Query, SessionOptions
from unspool.tools.studio.sessions import Session
from unspool.tools.viewer.inputs import InputDecoder, InputKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool import Event

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


def loaded(data: bytes, **options: Any) -> Session:
    session = Session("id", "title", SessionOptions(**options), is_live=False)
    session.load(data)
    return session


def told(events: list[Event]) -> list[tuple[str, str, str]]:
    spelled = views_module._event_value
    return [(str(event.kind), str(event.path), spelled(event)) for event in events]


# Events.


@given(VALUES, st.booleans(), st.integers(1, 7), st.integers(1, 9), st.integers(0, 20))
def test_events_do_not_show_in_which_portions_they_were_read(
    value: Any, is_broken: bool, cut: int, portion: int, most: int
) -> None:
    """The first ones are those that the step told, one for each piece of a string; and all are counted."""
    data = (json.dumps(value, ensure_ascii=False) + ("}" if is_broken else "")).encode()
    cut *= 10
    session = loaded(data, kind=InputKind.JSON, cut=cut)
    parser = FragmentParser()
    with mock.patch.multiple(views_module, PORTION=portion, MAX_EVENTS=most):
        for step, start in enumerate(range(0, len(data), cut), 1):
            expected = told(parser.feed(data[start : start + cut]))
            shown = session.view(Query(step=step))["events"]
            assert shown["total"] == len(expected)
            assert [tuple(row.values()) for row in shown["rows"]] == expected[:most]


@pytest.mark.parametrize("text", [json.dumps([{"n": number} for number in range(20_000)]), "[1] " * 3, "[", "[1"])
def test_content_that_turns_out_to_be_json_late_is_counted_too(text: str) -> None:
    """Text that came before its nature was known is parsed again to count its events."""
    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}}]}
              for piece in ("", " ", text[:1], text[1:])]  # fmt: skip
    session = loaded(sse([json.dumps(one) for one in chunks]))
    parser = FragmentParser()
    expected = [0, 0, 0, len(parser.feed(text[:1])), len(parser.feed(text[1:]))]
    is_json = session.timeline.tracks["content"].is_json
    shown = [session.view(Query(step=step))["events"]["total"] for step in range(5)]
    assert shown == (expected if is_json else [0] * 5)


def test_of_a_long_step_only_the_shown_events_are_read() -> None:
    """However much comes at once."""
    text = json.dumps([{"n": number} for number in range(20_000)])
    session = loaded(sse([text, "[]"]), kind=InputKind.SSE)
    read: list[int] = []

    def counting(state: Any, fragment: Any) -> Any:
        read.append(len(fragment))
        return parse_chunk(state, fragment)

    with mock.patch.object(views_module, "parse_chunk", counting):
        shown = session.view(Query(step=1))["events"]
    assert shown["total"] == 2 + 3 * 20_000
    assert len(shown["rows"]) == views_module.MAX_EVENTS
    assert sum(read) <= 2 * views_module.PORTION < len(text)


# What is spelled out.


def test_no_more_of_a_value_is_spelled_out_than_is_shown() -> None:
    """It may be as large as a text."""
    made: list[int] = []

    class Counted:
        def __str__(self) -> str:
            made.append(1)
            return "x"

    assert spelled_out([Counted()] * 10_000, 50) == ("[\n" + '  "x",\n' * 10)[:50] + "…"
    assert len(made) < 50
    assert spelled_out({"a": [1]}, 50) == json.dumps({"a": [1]}, indent=2)


def test_many_diagnostics_are_not_shown_all() -> None:
    """A message with thousands of calls may have as many errors."""
    calls = [{"index": index, "id": f"c{index}", "function": {"name": "a", "arguments": "{]"}} for index in range(300)]
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": calls}}]}
    assert len(loaded(sse([json.dumps(chunk)])).view(Query())["diagnostics"]) <= 2 * 200


# Loading.


@given(st.binary(max_size=300) | st.text("\n: ax", max_size=300).map(str.encode), st.integers(1, 20))
def test_blocks_are_the_input(data: bytes, cut: int) -> None:
    """Joined they are all of it; each but the last has whole fragments only, and the first has the lines that tell."""
    with mock.patch.multiple(sessions_module, HEAD=10, BLOCK=7):
        blocks = list(sessions_module._blocks(data, cut))
    assert b"".join(blocks) == data
    assert [len(block) % cut for block in blocks[:-1]] == [0] * (len(blocks) - 1)
    first = [line for line in blocks[0].split(b"\n") if line.strip() and not line.startswith(b":")]
    whole = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b":")]
    assert first[:4] == whole[:4]


def inputs() -> Iterator[tuple[str, bytes]]:
    long = "x" * 300_000
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": long}}]}
    yield "chunks", json.dumps(chunk).encode() + b"\n" + json.dumps(chunk).encode()
    yield "sse", b": ping\n\n" * 50_000 + sse([json.dumps(chunk)] * 2)
    snapshots = b"".join([json.dumps({"a": long + "y" * size}).encode() + b"\n" for size in range(4)])
    yield "snapshots", snapshots
    yield "ndjson", b"".join([json.dumps({"a": long, "n": size}).encode() + b"\n" for size in range(4)])
    yield "json", json.dumps({"a": long * 2}).encode()
    yield "recording", recorded(snapshots, 10_000)
    yield "marked recording", b"\xef\xbb\xbf" + recorded(snapshots, 10_000)


@pytest.mark.parametrize(("name", "data"), [pytest.param(*one, id=one[0]) for one in inputs()])
def test_a_long_beginning_is_looked_at_as_a_whole(name: str, data: bytes) -> None:
    """The kind of an input does not depend on the blocks in which it is read."""
    at_once = InputDecoder(cut=50_000)
    items = [*at_once.feed(0.0, data), *at_once.close(0.0)]
    session = loaded(data, cut=50_000)
    assert session.timeline.found == at_once.found
    assert session.timeline.last == len(items) + 1
    assert [session.timeline.item(step).pieces for step in range(1, len(items) + 1)] == [
        timed.item.pieces for timed in items
    ]


def test_small_inputs_are_read_as_ever() -> None:
    """With a mark at the beginning, and with nothing in it."""
    assert loaded(b"").timeline.last == 1
    text = json.dumps(TRIP)
    assert loaded(b"\xef\xbb\xbf" + text.encode()).timeline.tracks["json"].text() == text
