"""ChoiceStream: all choices of one source, which is read once."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.messages import CITY, seen
from unspool import Options, OptionsError
from unspool.llm import (
    ChoiceStream,
    Config,
    ContentAdded,
    Fault,
    MessageError,
    MessageStream,
    Quirk,
    SSEEvent,
    encode_sse,
)
from unspool.llm._deltas import Finish, Ignored, MessageStart, ProviderError, TextDelta, ToolCallDelta, Usage
from unspool.llm._stream import MAX_CHOICES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from unspool.llm import Delta, Gate, MessageEvent, MessageState, ToolCall


def chunk(*choices: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "object": "chat.completion.chunk", "choices": list(choices), **more}


def choice(index: int, delta: Any = None, **more: Any) -> dict[str, Any]:
    return {"index": index, "delta": delta or {}, **more}


def tool(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    call = {"index": 0, "id": f"call_{index}", "function": {"arguments": arguments, **more}}
    return choice(index, {"tool_calls": [call]})


CHUNKS = [
    chunk(choice(1, {"role": "assistant", "content": ""})),
    chunk(choice(0, {"role": "assistant", "content": "He"})),
    chunk(choice(1, {"content": "Sa"}), choice(0, {"content": "llo"})),
    chunk(choice(2, {"content": "Bula"}), usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
    chunk(choice(0, finish_reason="stop")),
    chunk(choice(1, {"content": "lut"}), choice(2, finish_reason="length")),
    chunk(choice(1, finish_reason="stop")),
    chunk(usage={"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 6}),
]
TEXTS = ["Hello", "Salut", "Bula"]


async def later(items: Any) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item


async def all_of(stream: Any) -> list[Any]:
    return [item async for item in stream]


def once(items: Any, reads: list[int] | None = None) -> Iterator[Any]:
    """A source that can only be read once."""
    for at, item in enumerate(items):
        if reads is not None:
            reads.append(at)
        yield item


# States, events and the end


def test_a_state_for_each_choice_that_changed() -> None:
    """In the order of the choices in a chunk; each state tells its choice."""
    states = list(ChoiceStream(once(CHUNKS)))
    assert [(state.choice, state.content) for state in states if not state.is_finished] == [
        (1, ""),
        (0, "He"),
        *((1, "Sa"), (0, "Hello")),
        *((2, "Bula"), (1, "Sa"), (0, "Hello")),  # the usage belongs to all
        (0, "Hello"),
        *((1, "Salut"), (2, "Bula")),
        (1, "Salut"),
        *((1, "Salut"), (0, "Hello"), (2, "Bula")),
    ]
    assert [state.choice for state in states if state.is_finished] == [1, 0, 2]
    assert [state.config.choice for state in states] == [state.choice for state in states]


def test_the_source_is_read_once() -> None:
    """By whatever means, and lazily."""
    reads: list[int] = []
    stream = ChoiceStream(once(CHUNKS, reads))
    assert (stream.states, reads) == ({}, [])
    assert next(iter(stream)).choice == 1
    assert reads == [0]
    reads.clear()
    final = ChoiceStream(once(CHUNKS, reads)).final()
    assert [state.content for state in final] == TEXTS
    assert reads == list(range(len(CHUNKS)))


def test_each_choice_is_the_message_of_a_stream_of_its_own() -> None:
    """The same text, calls, usage, diagnostics and errors as with `MessageStream(choice=...)`."""
    odd = [{"hello": 1}, *CHUNKS[:4], {"hello": 2}, *CHUNKS[4:]]
    for chunks, count in ((CHUNKS, []), (odd, [2])):
        final = ChoiceStream(once(chunks)).final()
        assert [state.choice for state in final] == [0, 1, 2]
        for state in final:
            assert seen(state) == seen(MessageStream(chunks, choice=state.choice).final())
        assert [state.is_complete for state in final] == [True, True, False]
        assert [state.usage.total_tokens for state in final if state.usage] == [6, 6, 6]
        assert [found.count for found in final[2].diagnostics if found.code is Quirk.UNKNOWN_EVENT] == count


def test_both_ways_give_the_same() -> None:
    """Iterated over or awaited."""

    async def awaited() -> Any:
        states = await all_of(ChoiceStream(later(CHUNKS)))
        events = await all_of(ChoiceStream(later(CHUNKS)).events())
        return states, events, await ChoiceStream(later(CHUNKS)).afinal()

    states, events, final = asyncio.run(awaited())
    assert [seen(state) for state in states] == [seen(state) for state in ChoiceStream(CHUNKS)]
    kinds = [(number, event.kind) for number, event in ChoiceStream(CHUNKS).events()]
    assert [(number, event.kind) for number, event in events] == kinds
    assert [seen(state) for state in final] == [seen(state) for state in ChoiceStream(CHUNKS).final()]


def test_events_of_a_choice_are_those_of_a_stream_of_its_own() -> None:
    """Each with the number of its choice; their order is that of the chunks."""
    by_choice: dict[int, list[MessageEvent]] = {}
    for number, event in ChoiceStream(once(CHUNKS)).events():
        by_choice.setdefault(number, []).append(event)
    assert list(by_choice) == [1, 0, 2]
    for number, events in by_choice.items():
        alone = list(MessageStream(CHUNKS, choice=number).events())
        assert [event.kind for event in events] == [event.kind for event in alone]
        assert [getattr(event, "text", None) for event in events] == [getattr(event, "text", None) for event in alone]


def test_events_after_states() -> None:
    """Events do not repeat the states before them."""
    stream = ChoiceStream(once(CHUNKS))
    states = iter(stream)  # held, so that leaving the loop does not close the source
    for state in states:
        if state.content == "Hello":
            break
    texts = [(number, event.text) for number, event in stream.events() if isinstance(event, ContentAdded)]
    assert texts == [(2, "Bula"), (1, "lut")]


def test_the_latest_states() -> None:
    """By choice, as they were delivered."""
    stream = ChoiceStream(once(CHUNKS))
    for state in stream:
        assert stream.states[state.choice] is state
        assert list(stream.states) == sorted(stream.states)
    stream.states.clear()
    assert tuple(stream.states.values()) == stream.final()


def test_settings() -> None:
    """Those of a message, or a config, whose choice means nothing."""
    text = '{"city": "Suva"}'
    chunks = [chunk(choice(0, {"content": text}), choice(1, {"content": text})), chunk(choice(0, finish_reason="stop"))]
    chunks.append(chunk(choice(1, finish_reason="stop")))
    for final in (
        ChoiceStream(chunks, response_schema=CITY).final(),
        ChoiceStream(chunks, config=Config(CITY, choice=7)).final(),
        ChoiceStream(chunks, response_schema=True, format="openai-chat", options=Options()).final(),
    ):
        assert [state.content_value for state in final] == [{"city": "Suva"}] * 2
        assert [state.config.choice for state in final] == [0, 1]
        assert final[0].config.answer is final[1].config.answer
    with pytest.raises(OptionsError, match="not both"):
        ChoiceStream(chunks, config=Config(), tools={})
    wrong: Any = 5
    with pytest.raises(OptionsError, match="config must be a Config"):
        ChoiceStream(chunks, config=wrong)
    with pytest.raises(OptionsError):
        ChoiceStream(chunks, format="new")


def test_one_choice() -> None:
    """Formats without choices have the choice 0; bodies and deltas are sources as well."""
    lines = [{"message": {"content": "Hel"}, "done": False}, {"message": {"content": "lo"}, "done": True}]
    assert [state.content for state in ChoiceStream(lines).final()] == ["Hello"]
    body = b"".join(encode_sse(SSEEvent(json.dumps(item))) for item in CHUNKS) + b"data: [DONE]\n\n"
    assert [state.content for state in ChoiceStream(body).final()] == TEXTS
    deltas: list[Delta] = [TextDelta("b", choice=1), TextDelta("a"), Finish("stop"), Finish("stop", choice=1)]
    assert [state.content for state in ChoiceStream(deltas).final()] == ["a", "b"]


def test_done_is_a_reason_to_finish_for_all() -> None:
    """Also here."""
    events = [encode_sse(SSEEvent(json.dumps(item))) for item in CHUNKS[:3]]
    final = ChoiceStream([*events, b"data: [DONE]\n\n"]).final()
    assert [(state.content, state.finish_reason) for state in final] == [("Hello", "stop"), ("Sa", "stop")]


# Faults


def dropping(count: int) -> Iterator[Any]:
    yield from CHUNKS[:count]
    raise ConnectionResetError


@pytest.mark.parametrize(
    ("make", "fault", "failed"),
    [
        (lambda: dropping(5), Fault.TRANSPORT, [0, 1, 2]),
        (lambda: [*CHUNKS[:3], {"error": {"message": "Busy", "code": 503}}], Fault.PROVIDER, [0, 1]),
        (lambda: CHUNKS[:5], Fault.UNFINISHED, [1, 2]),
        (lambda: CHUNKS[:2], Fault.UNFINISHED, [0, 1]),
        (list, Fault.UNFINISHED, [0]),
        (lambda: [{"error": {"message": "Busy", "code": 503}}], Fault.PROVIDER, [0]),
        (lambda: dropping(0), Fault.TRANSPORT, [0]),
    ],
)
def test_failures_are_raised_after_the_last_states(make: Any, fault: Fault, failed: list[int]) -> None:
    """Of every choice that had not ended well; the error is that of the first."""
    for way in ("states", "events", "final"):
        stream = ChoiceStream(make())
        with pytest.raises(MessageError) as caught:
            list(stream) if way == "states" else list(stream.events()) if way == "events" else stream.final()
        assert caught.value.fault is fault
        assert caught.value.state is stream.states[failed[0]]
        assert [number for number, state in stream.states.items() if state.error is not None] == failed
        assert all(state.is_finished for state in stream.states.values())
        with pytest.raises(MessageError):
            list(stream)


def test_errors_of_the_model_are_raised_by_final_alone() -> None:
    """The other choices are in `states`."""
    chunks = [chunk(choice(0, {"content": "5"}), choice(1, {"content": "]"}))]
    chunks += [chunk(choice(0, finish_reason="stop"), choice(1, finish_reason="stop"))]
    stream = ChoiceStream(chunks, response_schema=True)
    assert [state.choice for state in stream if state.is_finished] == [0, 1]
    with pytest.raises(MessageError) as caught:
        stream.final()
    assert caught.value.fault is Fault.SYNTAX
    assert caught.value.state is stream.states[1]
    assert stream.states[0].content_value == 5


def test_a_choice_that_breaks_off_does_not_stop_the_others() -> None:
    """Its error is raised when all have ended."""
    deltas: list[Delta] = [
        MessageStart("assistant", "a"),
        TextDelta("x", (0,)),
        TextDelta("y", (0,), choice=1),
        MessageStart("assistant", "b"),  # another message in the middle of the first
        TextDelta("z", (0,), choice=1),
        Finish("stop", choice=1),
    ]
    stream = ChoiceStream(deltas)
    with pytest.raises(MessageError) as caught:
        list(stream)
    assert caught.value.fault is Fault.INTERRUPTED
    assert stream.states[1].content == "yz"
    assert stream.states[1].is_complete


def test_numbers_that_make_no_sense() -> None:
    """They are counted, and so are choices beyond the limit."""
    wrong: list[Any] = [TextDelta("x", choice=-1), TextDelta("x", choice=-2), TextDelta("x", choice=-3)]
    final = ChoiceStream([TextDelta("a"), *wrong, Finish("stop")]).final()
    assert [state.content for state in final] == ["a"]
    assert [(found.detail, found.count) for found in final[0].diagnostics] == [("choice", 3)]
    many: list[Delta] = [TextDelta("x", choice=number) for number in range(MAX_CHOICES + 5)]
    many += [Finish("stop", choice=number) for number in range(MAX_CHOICES)]
    final = ChoiceStream(many).final()
    assert len(final) == MAX_CHOICES
    assert {(found.detail, found.count) for state in final for found in state.diagnostics} == {("choice", 5)}


DELTAS = st.one_of(
    st.builds(TextDelta, st.sampled_from(["a", "{", "1"]), choice=st.integers(0, 3)),
    st.builds(MessageStart, st.just("assistant"), st.sampled_from(["a", "b"]), choice=st.integers(0, 3)),
    st.builds(
        ToolCallDelta,
        index=st.integers(0, 1),
        name=st.sampled_from(["f", None]),
        arguments=st.sampled_from(["{", "}", ""]),
        choice=st.integers(0, 3),
    ),
    st.builds(Finish, st.sampled_from(["stop", "length"]), choice=st.integers(0, 3)),
    st.builds(Usage, st.integers(0, 9)),
    st.builds(Ignored, st.sampled_from(["x", "y"]), st.booleans()),
    st.builds(ProviderError, st.just("no")),
)


def error_of(stream: ChoiceStream | MessageStream) -> MessageError | None:
    try:
        list(stream)
    except MessageError as error:
        return error
    return None


FOLLOWED: list[Delta] = [  # a choice after whose message another one follows ignores the error; a new choice does not
    Finish("stop", choice=3),
    Usage(7),
    MessageStart("assistant", "a", choice=3),
    MessageStart("assistant", "b", choice=3),
    ProviderError("no"),
    Usage(9),
    TextDelta("a"),
]


@given(st.lists(DELTAS, max_size=20), st.booleans())
@example(FOLLOWED, True)
def test_any_deltas(deltas: list[Delta], requires_finish: bool) -> None:
    """All choices together are as each of them alone."""
    stream = ChoiceStream(deltas, requires_finish=requires_finish)
    raised = error_of(stream)
    assert stream.states
    alone = {number: MessageStream(deltas, choice=number, requires_finish=requires_finish) for number in stream.states}
    errors = [error for other in alone.values() if (error := error_of(other)) is not None]
    assert (raised is None) == (not errors)
    if raised is not None:
        assert raised.fault is errors[0].fault
        assert raised.state in stream.states.values()
    assert [seen(state) for state in stream.states.values()] == [seen(other.state) for other in alone.values()]


# Callbacks and closing


def test_callbacks_get_the_choice() -> None:
    """Once for each call of each choice."""
    told: list[Any] = []
    chunks = [
        chunk(tool(1, '{"city": "Suva"', name="weather"), tool(0, '{"city": "Na', name="weather")),
        chunk(tool(0, 'di"}'), tool(1, "}")),
        chunk(choice(0, finish_reason="tool_calls"), choice(1, finish_reason="tool_calls")),
    ]

    def tell(number: int, call: ToolCall, gate: Gate) -> None:
        told.append((number, call.id, gate.value))

    stream = ChoiceStream(chunks)
    stream.on_ready("weather", "city", tell)
    stream.final()
    expected = [(1, "call_1", "Suva"), (0, "call_0", "Nadi")]
    assert told == expected
    told.clear()

    async def tell_later(number: int, call: ToolCall, gate: Gate) -> None:
        await asyncio.sleep(0)
        tell(number, call, gate)

    async def read() -> None:
        stream = ChoiceStream(later(chunks))
        stream.on_ready("weather", "city", tell_later)
        await stream.afinal()

    asyncio.run(read())
    assert told == expected


def test_closing() -> None:
    """As for a message: a loop or block that is left closes the source."""
    closed: list[str] = []

    def closable() -> Iterator[Any]:
        try:
            yield from CHUNKS
        finally:
            closed.append("closed")

    async def aclosable() -> AsyncIterator[Any]:
        try:
            async for item in later(CHUNKS):
                yield item
        finally:
            closed.append("closed")

    stream = ChoiceStream(closable())
    for _ in stream:
        break
    assert closed == ["closed"]
    with pytest.raises(MessageError) as caught:
        stream.final()
    assert caught.value.fault is Fault.CLOSED

    async def leave() -> MessageState:
        async with ChoiceStream(aclosable()) as stream:
            async for number, event in stream.events():
                if number == 0 and event.kind == "content":
                    break
        assert closed == ["closed"] * 2
        return stream.states[0]

    assert asyncio.run(leave()).content == "He"
    with ChoiceStream(closable()) as stream:
        pass
    assert [state.choice for state in stream] == [0]
    assert stream.states[0].is_finished
