"""viewer/timeline.py: the message after each step, although only some states are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, cast
from unittest import mock

import pytest

from tests.support.inputs import timeline_of
from unspool.llm import MessageStream
from unspool.tools.viewer import timeline as timeline_module
from unspool.tools.viewer.inputs import Guess, InputKind, unpacker_for
from unspool.tools.viewer.timeline import Timeline
from unspool.tools.viewer.tracks import Item, Nature, call_of, nature_of

if TYPE_CHECKING:
    from unspool.llm._message import MessageState


def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def calls(count: int) -> list[dict[str, Any]]:
    """A message with `count` calls, each in two chunks, with an invalid chunk between them."""
    chunks: list[dict[str, Any]] = [chunk(role="assistant", content="Well.")]
    for index in range(count):
        call = {"index": index, "id": f"call_{index}", "function": {"name": f"tool {index}", "arguments": '{"n": '}}
        chunks += [
            chunk(tool_calls=[call]),
            chunk(tool_calls=[{"index": index, "function": {"arguments": f"{index}}}"}}]),
        ]
    return [*chunks, chunk(reason="tool_calls")]


def lines(chunks: list[dict[str, Any]]) -> bytes:
    return b"nonsense\n".join([json.dumps(one).encode() + b"\n" for one in chunks])


def walked(count: int, most: int, fewest: int) -> tuple[Timeline, list[MessageState | None]]:
    """A timeline with small limits, and the states that were handed to it."""
    unpacker = unpacker_for(Guess(InputKind.CHUNKS, "openai-chat"))
    items = [*unpacker.feed(lines(calls(count))), *unpacker.close()]
    limits = {"MAX_CALLS": most, "MIN_KEPT": fewest}
    with mock.patch.multiple(timeline_module, **cast("Any", limits)):
        timeline = Timeline(Guess(InputKind.CHUNKS, "openai-chat"))
        for number, item in enumerate(items, 1):
            timeline.add(float(number), item)
        timeline.finish(100.0)
    return timeline, [None, *[item.message for item in items], items[-1].message]


def dumped(message: MessageState | None) -> object:
    return None if message is None else (message.dump(), message.errors, message.diagnostics, message.is_finished)


@pytest.mark.parametrize(("most", "fewest"), [(1_000_000, 1), (40, 1), (1, 1), (1, 4)])
def test_every_step_has_its_message(most: int, fewest: int) -> None:
    """It is the one that came with the step, whether it was kept or is made again, in whatever order one looks."""
    timeline, expected = walked(12, most, fewest)
    steps = range(len(expected))
    for step in (*steps, *reversed(steps), *steps[::5]):
        assert dumped(timeline.message(step)) == dumped(expected[step])


def test_what_is_kept_does_not_grow_with_the_square_of_the_calls() -> None:
    """All states together know of a bounded number of calls, or there are only a few of them."""
    timeline, _ = walked(60, 100, 4)
    kept = timeline._messages._kept
    assert sum([len(message.tool_calls) for message in kept]) <= 4 * 60 + 2 * 60  # the end is always kept
    assert [item.message for item in timeline._items if item.message is not None] == []


def test_a_message_that_breaks_off_is_not_finished_by_looking_at_it() -> None:
    """The last step of a timeline brings no chunk, and says nothing about the message either."""
    unpacker = unpacker_for(Guess(InputKind.CHUNKS, "openai-chat"))
    with mock.patch.multiple(timeline_module, MAX_CALLS=1, MIN_KEPT=1):
        timeline = Timeline(Guess(InputKind.CHUNKS, "openai-chat"))
        for item in unpacker.feed(lines(calls(5)[:6])):
            timeline.add(1.0, item)
        timeline.finish(1.0, "the connection broke")
    message = timeline.message(timeline.last)
    assert message is not None
    assert not message.is_finished


class Calls(tuple[Any, ...]):
    """Calls that may be asked for one by one, and not all of them."""

    __slots__ = ()

    def __iter__(self) -> NoReturn:
        raise AssertionError("all calls are looked at for one of them")


def test_the_call_of_a_track_is_found_without_a_look_at_the_others() -> None:
    """Each of some thousand tracks has a name and a nature, and asking for them must not take the square of that."""
    known = MessageStream(calls(3)).final()
    message: Any = mock.Mock(tool_calls=Calls(known.tool_calls))
    timeline = Timeline(Guess(InputKind.CHUNKS, "openai-chat"))
    timeline.add(0.0, Item(message=message))
    assert timeline.label("call 2") == "tool 2 (call 2)"
    assert nature_of("call 1", message, extract=False) is Nature.JSON


@pytest.mark.parametrize(
    "track", ["content", "call", "call 3", "call -1", "call x", "call \N{SUPERSCRIPT TWO}", "json"]
)
def test_not_every_track_has_a_call(track: str) -> None:
    """A number that no call has is not one, nor is what only looks like a number."""
    assert call_of(track, MessageStream(calls(3)).final()) is None
    assert call_of(track, None) is None


def test_a_call_without_a_name_is_called_by_its_number() -> None:
    """The track has no better name."""
    data = lines([chunk(tool_calls=[{"index": 0, "id": "c", "function": {"arguments": "{}"}}])])
    assert timeline_of(data).label("call 0") == "call 0"
