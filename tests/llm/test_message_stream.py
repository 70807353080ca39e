"""MessageStream: whatever has chunks, read to states, events and a last word."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.messages import CITY, TRIP, after, call, piece, seen
from tests.support.standins import as_model, as_object
from unspool import MISSING, Options, OptionsError, UnspoolError
from unspool.llm import (
    Config,
    Fault,
    GateStatus,
    MessageError,
    MessageStream,
    Quirk,
    SSEEvent,
    changes,
    encode_sse,
    reduce,
)
from unspool.llm._changes import (
    ContentAdded,
    ContentValueChanged,
    MessageFinished,
    MessageStarted,
    Noticed,
    PartEnded,
    PartStarted,
    ReasoningAdded,
    RefusalAdded,
    ToolArgumentsAdded,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
    UsageCounted,
)
from unspool.llm._deltas import Finish, Ignored, MessageStart, ReasoningDelta, RefusalDelta, TextDelta, Usage, Whole
from unspool.llm._parts import ReasoningPart, RefusalPart, TextPart
from unspool.llm._sources import ChunkDecoder, items_of
from unspool.testing import every_cut

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from unspool.llm import Gate, MessageEvent, MessageState, ToolCall
    from unspool.llm._deltas import Delta


def chunk(delta: Any = None, **choice: Any) -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta or {}, **choice}]}


def tool(arguments: str, **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": more.pop("name")} if "name" in more else {})}
    return chunk({"tool_calls": [{"index": 0, **more, "function": function}]})


CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Let me "}),
    chunk({"content": "see 😀."}),
    chunk(),
    tool("", id="a", name="weather"),
    tool('{"city": "Su'),
    tool('va"}'),
    chunk(finish_reason="tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
]
FINAL = {
    "role": "assistant",
    "content": "Let me see 😀.",
    "value": {"city": "Suva"},
    "reason": "tool_calls",
    "tokens": 3,
}
SSE = b": hello\n\n" + b"".join(encode_sse(SSEEvent(json.dumps(item))) for item in CHUNKS) + b"data: [DONE]\n\n"
LINES = "".join(json.dumps(item) + "\n" for item in CHUNKS).encode()
ARRAY = json.dumps(CHUNKS, indent=1).encode()


def summary(state: MessageState) -> dict[str, Any]:
    assert state.is_complete, state.error
    return {
        "role": state.role,
        "content": state.content,
        "value": state.tool_calls[0].value,
        "reason": state.finish_reason,
        "tokens": None if state.usage is None else state.usage.total_tokens,
    }


async def later(items: Any) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item


def run(make: Callable[[], Any]) -> Any:
    return asyncio.run(make())


async def all_of(stream: Any) -> list[Any]:
    return [item async for item in stream]


# States


def test_a_state_for_each_chunk_that_changed_something() -> None:
    """Chunks that say nothing new give none; the last state is the finished one."""
    states = list(MessageStream(CHUNKS))
    assert [state.content for state in states] == ["", "Let me ", "Let me see 😀."] + ["Let me see 😀."] * 6
    assert len(states) == len(CHUNKS)  # one chunk is silent, and one state is the end
    assert [state.is_finished for state in states] == [False] * 8 + [True]
    assert summary(states[-1]) == FINAL


def test_both_ways_give_the_same() -> None:
    """Iterated over or awaited: states, events, and the end."""

    async def awaited() -> tuple[list[Any], list[MessageEvent], Any]:
        states = await all_of(MessageStream(later(CHUNKS), tools={"weather": CITY}))
        events = await all_of(MessageStream(later(CHUNKS), tools={"weather": CITY}).events())
        final = await MessageStream(later(CHUNKS), tools={"weather": CITY}).afinal()
        return [seen(state) for state in states], events, seen(final)

    states, events, final = run(awaited)
    assert states == [seen(state) for state in MessageStream(CHUNKS, tools={"weather": CITY})]
    assert final == seen(MessageStream(CHUNKS, tools={"weather": CITY}).final()) == states[-1]
    kinds = [event.kind for event in MessageStream(CHUNKS, tools={"weather": CITY}).events()]
    assert [event.kind for event in events] == kinds
    assert kinds == [
        *("started", "part_started", "content", "content", "part_ended"),
        *("part_started", "tool_call_started", "tool_arguments", "tool_arguments"),
        *("tool_call_completed", "part_ended", "usage", "finished"),
    ]


def test_structured_output() -> None:
    """`async for state in MessageStream(chunks, response_schema=...)`."""
    text = '{"title": "Fiji", "days": []}'
    chunks = [chunk({"content": character}) for character in text] + [chunk(finish_reason="stop")]
    values = [state.content_value for state in MessageStream(chunks, response_schema=TRIP)]
    assert values[-1] == {"title": "Fiji", "days": []}
    assert {"title": "Fi"} in values
    output = [tool(text, id="a", name="output"), chunk(finish_reason="tool_calls")]
    state = MessageStream(output, response_schema=TRIP, emulate_structured_output=True).final()
    assert (state.content_value, state.tool_calls) == ({"title": "Fiji", "days": []}, ())


def test_settings() -> None:
    """Those of a config, or a config; a format by its name, or by the first chunk that has one."""
    config = Config(tools={"weather": CITY})
    assert summary(MessageStream(CHUNKS, config=config).final()) == FINAL
    settings: list[dict[str, Any]] = [{"tools": {}}, {"response_schema": CITY}, {"options": Options()}]
    for both in settings:
        with pytest.raises(OptionsError):
            MessageStream(CHUNKS, config=config, **both)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"tools": 5}, "tools must be a mapping"),
        ({"options": 5}, "options must be Options or None, not int"),
        ({"config": 5}, "config must be a Config or None, not int"),
    ]
    for setting, reason in wrong:
        with pytest.raises(OptionsError, match=reason):
            MessageStream(CHUNKS, **setting)
    with pytest.raises(OptionsError):
        MessageStream(CHUNKS, format="new")
    assert summary(MessageStream(CHUNKS, format="openai-chat").final()) == FINAL
    odd = MessageStream([{"hello": 1}, 5, *CHUNKS]).final()
    assert summary(odd) == FINAL
    assert [(found.code, found.detail, found.count) for found in odd.diagnostics] == [(Quirk.UNKNOWN_EVENT, "chunk", 2)]
    second = [chunk({"content": "b"}, index=1), chunk(finish_reason="stop", index=1)]
    assert MessageStream(second, choice=1).final().content == "b"
    assert MessageStream([chunk({"content": "a"})], requires_finish=False).final().content == "a"


def test_deltas_are_chunks_too() -> None:
    """Whoever has them need not have chunks."""
    assert MessageStream([TextDelta("a"), Finish("stop")]).final().content == "a"


# Sources


class Stream:
    """Like a stream of a provider's library."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.is_closed = False

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def close(self) -> None:
        self.is_closed = True


class AsyncStream(Stream):
    """The same, to be awaited."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return later(self.items)

    async def close(self) -> None:  # type: ignore[override]
        self.is_closed = True


class Response:
    """Like a response of httpx, which does both."""

    def __init__(self, body: bytes, size: int = 7, status_code: int = 200) -> None:
        self.pieces = [body[at : at + size] for at in range(0, len(body), size)]
        self.status_code = status_code
        self.is_closed = False

    def iter_bytes(self) -> Iterator[bytes]:
        yield from self.pieces

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        async for part in later(self.pieces):
            yield part

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


class OtherResponse:
    """Like a response of requests."""

    def iter_content(self, chunk_size: int | None) -> Iterator[bytes]:
        yield SSE


@pytest.mark.parametrize(
    "body", [SSE, LINES, ARRAY, SSE.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + SSE, b"\n \n" + LINES, b" \n" + ARRAY]
)
def test_bodies(body: bytes) -> None:
    """Server-sent events, a value a line, or an array: as bytes and as text, in any pieces, or as a response."""
    for size in (1, 7, len(body)):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert summary(MessageStream(pieces).final()) == FINAL
        assert summary(MessageStream([memoryview(piece) for piece in pieces]).final()) == FINAL
        text = body.decode()
        assert summary(MessageStream([text[at : at + size] for at in range(0, len(text), size)]).final()) == FINAL
    assert summary(MessageStream(body).final()) == FINAL
    assert summary(MessageStream(body.decode()).final()) == FINAL


def test_text_cut_anywhere() -> None:
    """A piece of text that could be a line is not taken for one."""
    for text in (SSE.decode()[8:], LINES.decode()):
        for left, right in every_cut(text[:400]):
            if left and right:
                assert summary(MessageStream([left, right + text[400:]]).final()) == FINAL


def test_lines() -> None:
    """Lines without their ends, as HTTP libraries give them; also the data of events alone."""
    for body in (SSE, LINES, SSE[8:], b"\n" + SSE[8:]):
        assert summary(MessageStream(body.decode().split("\n")).final()) == FINAL
    data = [json.dumps(item) for item in CHUNKS]
    assert summary(MessageStream([*data, "[DONE]"]).final()) == FINAL
    only = json.dumps({"message": {"content": "a"}, "done": True})
    assert MessageStream([only]).final().content == "a"
    assert MessageStream(["data: " + only]).final().content == "a"


def test_streams_of_libraries() -> None:
    """Objects in an iterable, and whatever they have for attributes."""
    for make in (as_object, as_model):
        stream = Stream([make(item) for item in CHUNKS])
        assert summary(MessageStream(stream).final()) == FINAL
        assert stream.is_closed
        awaited = AsyncStream([make(item) for item in CHUNKS])
        assert summary(run(MessageStream(awaited).afinal)) == FINAL
        assert awaited.is_closed


def test_responses() -> None:
    """Of httpx, both ways, and of requests."""
    response = Response(SSE)
    assert summary(MessageStream(response).final()) == FINAL
    assert response.is_closed
    awaited = Response(LINES)
    assert summary(run(MessageStream(awaited).afinal)) == FINAL
    assert awaited.is_closed
    assert summary(MessageStream(OtherResponse()).final()) == FINAL


def test_events_of_sse_libraries() -> None:
    """Their data is the chunk."""
    events: list[Any] = [SimpleNamespace(data=json.dumps(item), event="message") for item in CHUNKS]
    extra = [SimpleNamespace(data="", event="ping"), SSEEvent("[DONE]")]
    assert summary(MessageStream([*events, *extra]).final()) == FINAL
    assert ChunkDecoder().feed({"data": "x", "event": "y"}) == [{"data": "x", "event": "y"}]


def test_sources_that_are_none() -> None:
    """They say so, before anything is read."""
    with pytest.raises(TypeError, match="async for"):
        MessageStream(later(CHUNKS)).final()
    with pytest.raises(TypeError, match="with `for`"):
        run(MessageStream(CHUNKS).afinal)
    assert list(items_of([1, 2], is_async=False)) == [1, 2]


def test_data_that_is_not_json_is_left_out() -> None:
    """In the middle of a stream, it is counted; at its end, something is lost."""
    body = SSE.replace(b"data: [DONE]", b"data: oh no\n\ndata: {\n\ndata: [DONE]")
    state = MessageStream([body]).final()
    assert summary(state) == FINAL
    assert [found.count for found in state.diagnostics] == [2]
    with pytest.raises(MessageError) as caught:
        MessageStream([SSE[:300]]).final()
    assert caught.value.fault is Fault.UNFINISHED
    deep = b'data: {"a":' + b"[" * 100_000 + b"\n\n"
    assert summary(MessageStream([deep + SSE]).final()) == FINAL
    lines = LINES.split(b"\n")
    assert summary(MessageStream([b"\n".join([*lines[:2], b"{oh no", *lines[2:]])]).final()) == FINAL
    array = MessageStream([ARRAY[:300] + b"\0", b"more", b"more"])
    with pytest.raises(MessageError):
        array.final()
    assert [found.count for found in array.state.diagnostics] == [1]
    with pytest.raises(MessageError):
        MessageStream([b"[", b" "]).final()
    with pytest.raises(MessageError):
        MessageStream([b"{oh", b" no"]).final()
    with pytest.raises(MessageError):
        MessageStream([b" \n"]).final()


def test_done_is_a_reason_to_finish() -> None:
    """Some servers give no other; a stream that is just over has none."""
    body = b"data: " + json.dumps(chunk({"content": "a"})).encode() + b"\n\n"
    state = MessageStream([body, b"data: [DONE]\n\n"]).final()
    assert (state.finish_reason, state.raw_finish_reason, state.is_complete) == ("stop", "[DONE]", True)
    with pytest.raises(MessageError, match="did not say why"):
        MessageStream([body]).final()


def test_responses_that_say_no() -> None:
    """A status code that is an error has an error in its body, or none."""
    for body, code, detail in (
        (json.dumps({"error": {"message": "Bad key", "type": "auth"}}, indent=2).encode(), "auth", "Bad key"),
        (b'{"error": {"message": "Bad key"}}', "401", "Bad key"),
        (b'{"message": "Bad key"}', "401", "Bad key"),
        (b"<html>", "401", ""),
        (b"[" * 100_000, "401", ""),
        (b"5", "401", ""),
        (b"", "401", ""),
    ):
        stream = MessageStream(Response(body, 1000, 401))
        with pytest.raises(MessageError) as caught:
            stream.final()
        error = caught.value
        assert (error.fault, error.code, error.detail) == (Fault.PROVIDER, code, detail)
        with pytest.raises(MessageError):
            run(MessageStream(Response(body, 1000, 401)).afinal)
    text = SimpleNamespace(iter_bytes=lambda: iter(["no"]), status_code=500)
    with pytest.raises(MessageError, match="500"):
        MessageStream(text).final()


# Faults


def dropping(count: int, error: BaseException) -> Iterator[Any]:
    yield from CHUNKS[:count]
    raise error


def test_a_connection_that_drops() -> None:
    """What came before is delivered; then the error, with the last state and the cause."""
    cause = ConnectionResetError("peer")
    stream = MessageStream(dropping(6, cause))
    states: list[MessageState] = []
    with pytest.raises(MessageError, match="source of the stream failed: ConnectionResetError") as caught:
        states.extend(stream)
    assert caught.value.fault is Fault.TRANSPORT
    assert caught.value.__cause__ is cause
    assert isinstance(caught.value, UnspoolError)
    assert caught.value.state is stream.state is states[-1]
    assert states[-1].content == "Let me see 😀."
    assert states[-1].is_finished
    assert states[-1].tool_calls[0].error is not None
    assert [str(path) for path in states[-1].tool_calls[0].error.paths] == ["$", "$.city"]
    for again in (stream.final, lambda: list(stream)):
        with pytest.raises(MessageError) as caught:
            again()
        assert caught.value.state is states[-1]


def test_a_connection_that_drops_while_it_is_awaited() -> None:
    """As above."""

    async def drop() -> AsyncIterator[Any]:
        for item in CHUNKS[:6]:
            yield item
        raise TimeoutError

    async def read() -> list[str]:
        kinds: list[str] = []

        async def note() -> None:
            async for event in MessageStream(drop()).events():
                kinds.append(event.kind)  # noqa: PERF401 - a list that is made at the end would be lost

        with pytest.raises(MessageError) as caught:
            await note()
        assert isinstance(caught.value.__cause__, TimeoutError)
        return kinds

    assert run(read)[-3:] == ["tool_call_failed", "part_ended", "finished"]


def test_errors_of_the_provider_are_raised_at_once() -> None:
    """After the state that has them; nothing more is read."""
    source = Stream([*CHUNKS[:3], {"error": {"message": "Overloaded", "code": 529}}, *CHUNKS[3:]])
    states: list[MessageState] = []
    with pytest.raises(MessageError, match="529: Overloaded") as caught:
        states.extend(MessageStream(source))
    assert caught.value.state is states[-1]
    assert states[-1].is_finished
    assert source.is_closed
    lines = LINES.split(b"\n")
    body = MessageStream([b"\n".join([*lines[:2], b'{"error": "no"}', *lines[2:]])])
    with pytest.raises(MessageError):
        body.final()
    assert body.state.content == "Let me "


def test_errors_of_the_provider_that_a_library_raises() -> None:
    """What the provider said is in the exception; one that says nothing is just a source that failed."""
    for body, fault, code in (
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, Fault.PROVIDER, "overloaded_error"),
        ({"message": "Overloaded", "code": "busy"}, Fault.PROVIDER, "busy"),
        ({}, Fault.TRANSPORT, None),
        (5, Fault.TRANSPORT, None),
        (None, Fault.TRANSPORT, None),
    ):
        cause = RuntimeError("oh")
        cause.body = body  # type: ignore[attr-defined]
        with pytest.raises(MessageError) as caught:
            MessageStream(dropping(3, cause)).final()
        assert caught.value.__cause__ is cause
        assert (caught.value.fault, caught.value.code) == (fault, code)


def test_errors_of_the_model_are_raised_by_final_alone() -> None:
    """They are in the states before."""
    chunks = [tool('{"city": 5, "x', id="a", name="weather"), tool('": 1}'), chunk(finish_reason="tool_calls")]
    stream = MessageStream(chunks, tools={"weather": CITY})
    states = list(stream)
    assert states[0].error is not None
    with pytest.raises(MessageError) as caught:
        stream.final()
    assert caught.value.state is states[-1]
    assert caught.value.fault is Fault.INVALID


def test_streams_that_go_over_a_limit() -> None:
    """A body that no decoder takes is a source that failed."""
    stream = MessageStream(iter([b"data: x\n\n", b"data: " + b"x" * (16 * 1024 * 1024 + 1)]))
    with pytest.raises(MessageError, match="max_line") as caught:
        stream.final()
    assert caught.value.fault is Fault.TRANSPORT
    event = encode_sse(SSEEvent(json.dumps(chunk({"content": "a"}))))
    at_the_end = MessageStream([event + b"data: " + b"x" * (16 * 1024 * 1024 + 1)])
    with pytest.raises(MessageError, match="max_line") as caught:
        at_the_end.final()
    assert at_the_end.state.content == "a"


# Closing


def closable(closed: list[str], items: Any = CHUNKS) -> Iterator[Any]:
    try:
        yield from items
    finally:
        closed.append("closed")


async def aclosable(closed: list[str], items: Any = CHUNKS) -> AsyncIterator[Any]:
    try:
        async for item in later(items):
            yield item
    finally:
        closed.append("closed")


def test_leaving_a_loop_closes_the_source() -> None:
    """And what was not read is lost."""
    closed: list[str] = []
    stream = MessageStream(closable(closed))
    for state in stream:
        if state.content:
            break
    assert closed == ["closed"]
    assert stream.state.content == "Let me "
    with pytest.raises(MessageError, match="closed before its end") as caught:
        stream.final()
    assert caught.value.fault is Fault.CLOSED
    assert list(stream) == []
    events = iter(MessageStream(closable(closed)).events())
    next(events)
    events.close()
    assert closed == ["closed"] * 2


def test_closing_by_hand() -> None:
    """With `close` or a `with` block, as often as one likes."""
    closed: list[str] = []
    with MessageStream(closable(closed)) as stream:
        next(iter(stream))
        stream.close()
    assert closed == ["closed"]
    with MessageStream(Stream(CHUNKS)) as stream:
        assert summary(stream.final()) == FINAL
    assert summary(stream.final()) == FINAL


def test_the_end_can_be_asked_for_inside_a_loop() -> None:
    """It reads on from there, and the loop has nothing left to do."""
    stream = MessageStream(CHUNKS)
    count = 0
    for _ in stream:
        count += 1
        assert summary(stream.final()) == FINAL
    assert count == 1


class Silent:
    """A source that says one thing and then nothing more, and does not end by itself when its reader does."""

    def __init__(self) -> None:
        self.is_closed = False
        self._chunks = [CHUNKS[1]]

    def __aiter__(self) -> Silent:
        return self

    async def __anext__(self) -> Any:
        if self._chunks:
            return self._chunks.pop()
        return await asyncio.Event().wait()

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("how", ["final", "loop", "events"])
def test_cancelling_closes_the_source(how: str) -> None:
    """At once, wherever it waits."""

    async def cancel() -> None:
        source = Silent()
        stream = MessageStream(source)
        whole = stream.afinal() if how == "final" else all_of(stream if how == "loop" else stream.events())
        task = asyncio.create_task(whole)
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert source.is_closed

    run(cancel)


def test_closing_closes_the_source() -> None:
    """When the stream, or the iterator over its events, is closed."""
    closed: list[str] = []

    async def leave() -> None:
        async with MessageStream(aclosable(closed)) as stream:
            async for state in stream:
                if state.content:
                    break
        assert closed == ["closed"]
        events = MessageStream(aclosable(closed)).events().__aiter__()
        await anext(events)
        await events.aclose()
        assert closed == ["closed"] * 2
        await stream.aclose()

    run(leave)
    assert closed == ["closed"] * 2


def test_an_exception_in_the_loop_closes_the_source() -> None:
    """The application may fail as well."""
    closed: list[str] = []

    def read() -> None:
        for _ in MessageStream(closable(closed)):
            raise KeyError

    with pytest.raises(KeyError):
        read()
    assert closed == ["closed"]

    def interrupted() -> Iterator[Any]:
        yield CHUNKS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MessageStream(interrupted()).final()


# Gates


def test_callbacks_when_an_argument_is_ready() -> None:
    """Once for each call, before the state is delivered; also when it will never be."""
    chunks = [
        tool("", id="a", name="weather"),
        tool('{"city": "Su'),
        tool('va", "days'),
        tool('": 3}'),
        tool('{"days": 1}', id="b", name="weather"),
        tool("{}", id="c", name="other"),
        tool('{"city": "Nadi"}', id="d", name="weather"),
        tool("{", id="e", name="weather"),
        chunk(finish_reason="tool_calls"),
    ]
    told: list[Any] = []

    def tell(call: ToolCall, gate: Gate) -> None:
        told.append((call.id, gate.status.value, gate.value, stream.state is None))

    stream = MessageStream(chunks)
    stream.on_ready("weather", "city", tell)
    at = [(told[-1][0] if told else None) for _ in stream]
    assert [entry[:3] for entry in told] == [
        ("a", "ready", "Suva"),
        ("b", "absent", MISSING),
        ("d", "ready", "Nadi"),
        ("e", "failed", MISSING),
    ]
    assert at[:4] == [None, None, "a", "a"]


def test_a_call_that_fails_after_its_argument_was_ready() -> None:
    """Whoever has begun to work is told to stop."""
    told: list[GateStatus] = []
    chunks = [tool('{"city": "Suva", ', id="a", name="weather"), chunk(finish_reason="length")]
    stream = MessageStream(chunks)
    stream.on_ready("weather", "$.city", lambda call, gate: told.append(gate.status))
    with pytest.raises(MessageError):
        stream.final()
    assert told == [GateStatus.READY, GateStatus.FAILED]


def test_callbacks_that_are_awaited() -> None:
    """Where the source is."""
    told: list[str] = []

    async def read() -> None:
        stream = MessageStream(later(CHUNKS))

        async def tell(call: ToolCall, gate: Gate) -> None:
            await asyncio.sleep(0)
            told.append(f"awaited {gate.value}")

        stream.on_ready("weather", "city", tell)
        stream.on_ready("weather", "city", lambda call, gate: told.append(f"called {gate.value}"))
        await stream.afinal()

    run(read)
    assert told == ["awaited Suva", "called Suva"]


# Events


def told(deltas: list[Delta], **settings: Any) -> list[MessageEvent]:
    """What each delta changed."""
    events: list[MessageEvent] = []
    state = after([], **settings)
    for delta in deltas:
        before, state = state, reduce(state, delta)
        events += changes(before, state)
    return events


def test_each_kind_of_event() -> None:
    """What is new, and no more."""
    events = told(
        [
            MessageStart("assistant", "m", "model"),
            ReasoningDelta("Hm"),
            TextDelta("Hel"),
            TextDelta("lo"),
            RefusalDelta("No"),
            Usage(1),
            Ignored("new"),
        ]
    )
    assert events == [
        MessageStarted("assistant", "m", "model"),
        PartStarted(0, ReasoningPart("Hm")),
        ReasoningAdded("Hm"),
        PartEnded(0, ReasoningPart("Hm", is_complete=True)),
        PartStarted(1, TextPart("Hel")),
        ContentAdded("Hel", part=1),
        ContentAdded("lo", part=1),
        PartEnded(1, TextPart("Hello", is_complete=True)),
        PartStarted(2, RefusalPart("No")),
        RefusalAdded("No", part=2),
        UsageCounted(Usage(1)),
        Noticed(after([Ignored("new")]).diagnostics[0]),
    ]
    assert repr(ContentAdded("a")) == "ContentAdded(text='a')"


def test_events_of_calls() -> None:
    """From the start to the end, good or bad."""
    events = told([call("f", '{"x":'), piece("1}"), call("g", "{}", 1), call("h", "]", 2), Finish("tool_calls")])
    assert [(event.kind, event.index) for event in events if isinstance(event, PartStarted | PartEnded)] == [
        *(("part_started", 0), ("part_started", 1), ("part_started", 2)),
        *(("part_ended", 2), ("part_ended", 0), ("part_ended", 1)),
    ]
    events = [event for event in events if not isinstance(event, PartStarted | PartEnded)]
    assert [(event.kind, event.call.index) for event in events if hasattr(event, "call")] == [
        ("tool_call_started", 0),
        ("tool_arguments", 0),
        ("tool_arguments", 0),
        ("tool_call_started", 1),
        ("tool_arguments", 1),
        ("tool_call_started", 2),
        ("tool_arguments", 2),
        ("tool_call_failed", 2),
        ("tool_call_completed", 0),
        ("tool_call_completed", 1),
    ]
    assert isinstance(events[0], ToolCallStarted)
    assert isinstance(events[2], ToolArgumentsAdded)
    assert (events[1], events[2].text) == (ToolArgumentsAdded(events[0].call, '{"x":'), "1}")
    assert isinstance(events[-1], ToolCallCompleted)
    assert isinstance(events[-3], ToolCallFailed)


def test_text_that_is_not_at_the_end() -> None:
    """Each event names its part; a text that replaces the text before is the whole text of its part."""
    events = told([TextDelta("a", (0,)), TextDelta("x", (1,)), TextDelta("b", (0,)), TextDelta("c", (1,), True)])
    assert [event for event in events if isinstance(event, ContentAdded)] == [
        ContentAdded("a"),
        ContentAdded("x", part=1),
        ContentAdded("b"),
        ContentAdded("c", True, 1),
    ]
    replaced = told([call("f", '{"x":1'), piece(Whole({"x": 2}))])
    assert [event for event in replaced if isinstance(event, ToolArgumentsAdded)][-1].is_whole
    before, state = after([TextDelta("a", (0,))]), after([TextDelta("a", (0,))])
    state = reduce(reduce(before, TextDelta("b", (0,))), TextDelta("c", (1,)))
    assert changes(before, state) == [
        ContentAdded("b"),
        PartStarted(1, TextPart("c", block=(1,))),
        ContentAdded("c", part=1),
    ]


def test_events_of_structured_output() -> None:
    """The value as it stands, whenever it has grown."""
    events = told([TextDelta('{"ci'), TextDelta('ty": "S'), TextDelta("u")], response_schema=CITY)
    assert [event.value for event in events if isinstance(event, ContentValueChanged)] == [
        {},
        {"city": "S"},
        {"city": "Su"},
    ]


def test_the_last_event() -> None:
    """It has the last state; all texts together are the text of the message."""
    events = list(MessageStream(CHUNKS).events())
    last = events[-1]
    assert isinstance(last, MessageFinished)
    assert summary(last.state) == FINAL
    assert "".join([event.text for event in events if isinstance(event, ContentAdded)]) == FINAL["content"]
