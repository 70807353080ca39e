"""MessageStream: whatever has chunks, read to states, events and a last word."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
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


async def many_turns() -> None:
    """Let all tasks go on until each of them waits for something that does not come: no clock decides when that is."""
    for _ in range(1000):
        await asyncio.sleep(0)


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


BUSY = {"error": {"message": "Busy", "code": 503}}
LONG = b"data: " + b"x" * (16 * 1024 * 1024 + 1)
ENDINGS: list[tuple[str, Callable[[], Any], Callable[[], Any], Fault]] = [
    (
        "drops",
        lambda: dropping(3, ConnectionResetError()),
        lambda: adropping(3, ConnectionResetError()),
        Fault.TRANSPORT,
    ),
    ("says an error", lambda: [*CHUNKS[:3], BUSY], lambda: later([*CHUNKS[:3], BUSY]), Fault.PROVIDER),
    ("raises an error", lambda: dropping(3, busy()), lambda: adropping(3, busy()), Fault.PROVIDER),
    ("just ends", lambda: CHUNKS[:3], lambda: later(CHUNKS[:3]), Fault.UNFINISHED),
    ("is empty", list, lambda: later([]), Fault.UNFINISHED),
    ("ends in an event", lambda: [SSE[:300]], lambda: later([SSE[:300]]), Fault.UNFINISHED),
    ("is too long", lambda: [SSE[:300], LONG], lambda: later([SSE[:300], LONG]), Fault.TRANSPORT),
    ("is an HTTP error", lambda: Response(b"no", 7, 503), lambda: Response(b"no", 7, 503), Fault.PROVIDER),
]


def busy() -> Exception:
    error = RuntimeError("oh")
    vars(error).update(body={"error": {"message": "Busy"}}, status_code=503)
    return error


async def adropping(count: int, error: BaseException) -> AsyncIterator[Any]:
    for item in CHUNKS[:count]:
        yield item
    raise error


@pytest.mark.parametrize(("how", "source", "asource", "fault"), ENDINGS, ids=[ending[0] for ending in ENDINGS])
def test_all_ways_of_reading_raise_the_same(
    how: str, source: Callable[[], Any], asource: Callable[[], Any], fault: Fault
) -> None:
    """A message that ends too early is an exception after the last state, in a loop over states or events too."""

    def read(stream: MessageStream, way: str) -> list[Any]:
        found: list[Any] = []
        with pytest.raises(MessageError) as caught:
            found.extend(stream.events() if way == "events" else stream if way == "states" else [stream.final()])
        assert caught.value.fault is fault
        assert caught.value.state is stream.state
        with pytest.raises(MessageError):  # as often as the stream is read
            list(stream)
        return found

    async def aread(stream: MessageStream, way: str) -> list[Any]:
        found: list[Any] = []

        async def loop() -> None:
            async for item in stream.events() if way == "events" else stream:
                found.append(item)  # noqa: PERF401 - a list that is made at the end would be lost

        with pytest.raises(MessageError) as caught:
            await (stream.afinal() if way == "final" else loop())
        assert caught.value.fault is fault
        assert caught.value.state is stream.state
        return found

    for way in ("states", "events", "final"):
        stream, astream = MessageStream(source()), MessageStream(asource())
        found = read(stream, way)
        afound = asyncio.run(aread(astream, way))
        assert stream.state.is_finished
        assert stream.state.error is not None
        assert seen(stream.state) == seen(astream.state)
        assert len(found) == len(afound)
        if way == "states":
            assert found[-1] is stream.state
        if way == "events":
            assert [event.kind for event in found] == [event.kind for event in afound]
            assert found[-1].state is stream.state


def test_an_end_without_a_reason_that_is_expected() -> None:
    """Providers that never give one, and servers that announce the end otherwise, do not fail."""
    assert [event.kind for event in MessageStream(CHUNKS[:2], requires_finish=False).events()][-1] == "finished"
    assert list(MessageStream([SSE[:300].rpartition(b"\n\n")[0] + b"\n\n", b"data: [DONE]\n\n"]))[-1].is_complete


@pytest.mark.parametrize(
    ("own", "status"),
    [
        ({"status_code": 429, "body": {"error": {"message": "Slow down", "type": "rate_limit"}}}, 429),
        ({"status_code": 503}, 503),
        ({"status": 502}, 502),
        ({"code": 500, "status": "INTERNAL", "details": {"error": {"message": "Oh", "status": "INTERNAL"}}}, 500),
        ({"body": {"code": 529, "message": "Overloaded"}}, 529),
        ({"response": {"Error": {"Code": "Slow"}, "ResponseMetadata": {"HTTPStatusCode": 429}}}, 429),
        ({"response": {"Error": {"Code": "Slow"}, "ResponseMetadata": 5}}, None),
        ({"response": SimpleNamespace(status_code=404)}, 404),
        ({"body": {"error": {"message": "Oh", "type": "overloaded_error"}}}, None),
        ({"status_code": -1, "error": "Busy"}, None),
        ({"status_code": "429", "code": True, "status": None}, None),
        ({"code": 1006}, None),
        ({}, None),
    ],
)
def test_the_status_in_an_exception(own: dict[str, Any], status: int | None) -> None:
    """Each library has another place for it; `code` stays the provider's word."""
    cause = RuntimeError("oh")
    vars(cause).update(own)
    with pytest.raises(MessageError) as caught:
        list(MessageStream(dropping(2, cause)))
    error = caught.value
    assert error.status == status
    assert error.__cause__ is cause
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error)), error.about(1)):
        assert (again.status, again.code, again.detail) == (status, error.code, error.detail)


def test_the_status_in_a_stream_and_of_a_response() -> None:
    """A number in the error of a provider is one; that of the response comes before it."""
    for body, status, code in (
        ({"error": {"code": 429, "message": "Slow down", "status": "RESOURCE_EXHAUSTED"}}, 429, "429"),
        ({"error": {"code": "429", "message": "Slow down"}}, 429, "429"),
        ({"error": {"code": 7, "message": "Slow down"}}, None, "7"),
        ({"error": {"code": "slow", "message": "Slow down"}}, None, "slow"),
    ):
        with pytest.raises(MessageError) as caught:
            list(MessageStream([*CHUNKS[:2], body]))
        assert (caught.value.status, caught.value.code) == (status, code)
        assert caught.value.state is not None
        assert caught.value.state.error is not None
        assert caught.value.state.error.status == status
        with pytest.raises(MessageError) as caught:
            list(MessageStream(Response(json.dumps(body).encode(), 7, 418)))
        assert (caught.value.status, caught.value.code) == (418, code)
    error = MessageError(Fault.PROVIDER, code="slow", detail="Slow down", status=418)
    assert str(error) == "the provider reported an error: HTTP 418: slow: Slow down"
    assert str(MessageError(Fault.PROVIDER, code="418", status=418)) == "the provider reported an error: 418"
    assert MessageError(Fault.SYNTAX, code="429").status is None


class RefusedError(Exception):
    """An exception of a library with its status on the class, and a property that raises."""

    status_code = 403

    @property
    def response(self) -> Any:
        raise RuntimeError


def test_the_status_of_a_class() -> None:
    """Properties are left alone."""
    with pytest.raises(MessageError) as caught:
        list(MessageStream(dropping(2, RefusedError())))
    assert caught.value.status == 403


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
        await many_turns()
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


@pytest.mark.parametrize("what", ["states", "events"])
def test_leaving_a_block_closes_the_source(what: str) -> None:
    """Before the code after it runs, however the loop was left."""

    async def leave(how: str) -> None:
        source = Silent()
        async with MessageStream(source) as stream:
            async for _ in stream if what == "states" else stream.events():
                if how == "raise":
                    raise KeyError
                break
            assert not source.is_closed
        assert source.is_closed
        assert stream.state.content == "Let me "
        with pytest.raises(MessageError, match="closed before its end"):
            await stream.afinal()

    run(lambda: leave("break"))
    with pytest.raises(KeyError):
        run(lambda: leave("raise"))


def test_a_loop_that_was_left_can_go_on() -> None:
    """An async loop that is left changes nothing, whatever becomes of its iterator: the stream can be read further."""

    async def read() -> None:
        closed: list[str] = []
        stream = MessageStream(aclosable(closed))
        states = aiter(stream)
        async for state in states:
            if state.content:
                break
        del states
        for _ in range(10):
            gc.collect()
            await asyncio.sleep(0)
        assert closed == []
        kinds = [event.kind async for event in stream.events()]
        assert kinds[:4] == ["content", "part_ended", "part_started", "tool_call_started"]
        assert summary(await stream.afinal()) == FINAL
        assert closed == ["closed"]

    run(read)


def test_a_stream_that_nobody_has_closes_its_source() -> None:
    """The event loop does, when it gets to it."""

    async def read() -> None:
        source = Silent()
        async for _ in MessageStream(source):
            break
        for _ in range(10):
            gc.collect()
            await asyncio.sleep(0)
        assert source.is_closed

    run(read)


def test_closing_an_awaited_source_without_awaiting() -> None:
    """`close` ends the message; the loop closes the source at its end."""

    async def read() -> None:
        source = Silent()
        stream = MessageStream(source)
        async for _ in stream:
            stream.close()
        assert source.is_closed
        assert stream.state.error is not None
        assert stream.state.error.fault is Fault.CLOSED

    run(read)


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
    """Where the source is: a callback that must be awaited runs beside the stream, and the stream waits for it."""
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
    assert told == ["called Suva", "awaited Suva"]


class Loop:
    """Runs a coroutine. Everything that asyncio complains of is a complaint."""

    def __init__(self) -> None:
        self.complaints: list[dict[str, Any]] = []
        self.left: list[str] = []

    def run(self, make: Callable[[], Any]) -> Any:
        async def watched() -> Any:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: self.complaints.append(context))
            try:
                return await make()
            finally:
                others = asyncio.all_tasks() - {asyncio.current_task()}
                self.left = [task.get_name() for task in others]
                gc.collect()
                await asyncio.sleep(0)

        result = asyncio.run(watched())
        gc.collect()
        return result


def ready_stream(source: Any, callback: Callable[[ToolCall, Gate], Any]) -> MessageStream:
    stream = MessageStream(source)
    stream.on_ready("weather", "city", callback)
    return stream


def test_a_slow_callback_does_not_hold_up_the_stream() -> None:
    """All states come while it waits; the loop ends when it has ended."""
    log: list[str] = []

    async def read() -> None:
        last_seen = asyncio.Event()

        async def slow(call: ToolCall, gate: Gate) -> None:
            log.append(f"begin {gate.value}")
            await last_seen.wait()
            log.append("end")

        async for state in ready_stream(later(CHUNKS), slow):
            log.append("finished" if state.is_finished else "state")
            if state.is_finished:
                last_seen.set()
        log.append("left")

    loop = Loop()
    loop.run(read)
    assert log[5:] == ["state", "begin Suva", "state", "state", "finished", "end", "left"]
    assert (loop.complaints, loop.left) == ([], [])


@pytest.mark.parametrize("way", ["states", "events", "final"])
def test_a_callback_that_fails(way: str) -> None:
    """Its exception is that of the loop, which ends at the next state; the source is closed, and others are stopped."""
    closed: list[str] = []
    stopped: list[str] = []

    async def bad(call: ToolCall, gate: Gate) -> None:
        raise LookupError(gate.value)

    async def endless(call: ToolCall, gate: Gate) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("stopped")

    async def read() -> None:
        stream = ready_stream(aclosable(closed, [*CHUNKS[:7], *[chunk({"content": "."})] * 20, *CHUNKS[7:]]), bad)
        stream.on_ready("weather", "city", endless)
        with pytest.raises(LookupError, match="Suva"):
            await (stream.afinal() if way == "final" else all_of(stream if way == "states" else stream.events()))
        assert stream.state.content.count(".") < 10

    loop = Loop()
    loop.run(read)
    assert (closed, stopped, loop.complaints, loop.left) == (["closed"], ["stopped"], [], [])


def test_a_callback_that_fails_at_the_end() -> None:
    """The loop waits for it, and raises its exception instead of that of the message; a second one is reported."""

    async def bad(call: ToolCall, gate: Gate) -> None:
        await asyncio.sleep(0.01)
        raise LookupError(gate.status)

    async def read() -> None:
        stream = ready_stream(later(CHUNKS[:7]), bad)  # the argument is ready; then the message breaks off
        with pytest.raises(LookupError, match="ready"):
            await all_of(stream)
        assert stream.state.error is not None
        assert stream.state.error.fault is Fault.UNFINISHED

    loop = Loop()
    loop.run(read)
    assert [str(found["exception"]) for found in loop.complaints] == ["failed"]
    assert loop.left == []


@pytest.mark.parametrize("how", ["break", "raise", "cancel"])
def test_leaving_early_cancels_callbacks(how: str) -> None:
    """And waits until they have stopped. The exception of the block stays what it is."""
    log: list[str] = []

    async def endless(call: ToolCall, gate: Gate) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            log.append("stopped")
            if how != "break":
                raise LookupError

    async def read() -> None:
        async with ready_stream(later([*CHUNKS[:7], *[chunk({"content": "."})] * 20]), endless) as stream:
            async for state in stream:
                if state.content.endswith("...") and how == "raise":
                    raise KeyError
                if state.content.endswith("...") and how == "cancel":
                    await asyncio.Event().wait()
                if state.content.endswith("..."):
                    break
            assert log == []
        assert log == ["stopped"]

    async def cancelled() -> None:
        task = asyncio.create_task(read())
        await many_turns()
        task.cancel()
        await task

    loop = Loop()
    if how == "break":
        loop.run(read)
    else:
        with pytest.raises(KeyError if how == "raise" else asyncio.CancelledError):
            loop.run(read if how == "raise" else cancelled)
    assert log == ["stopped"]
    assert [type(found["exception"]) for found in loop.complaints] == ([] if how == "break" else [LookupError])
    assert loop.left == []


def test_cancelling_while_callbacks_are_waited_for() -> None:
    """They are cancelled too, at the end of a loop and in `aclose`; exceptions on the way are reported."""
    log: list[str] = []

    async def endless(call: ToolCall, gate: Gate) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            log.append("stopped")
            raise LookupError

    async def leave_at_the_end() -> None:
        async with ready_stream(later(CHUNKS), endless) as stream:
            async for state in stream:
                if state.is_finished:
                    break

    async def cancel(reading: Any) -> None:
        task = asyncio.create_task(reading)
        await many_turns()
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for make in (lambda: ready_stream(later(CHUNKS), endless).afinal(), leave_at_the_end):
        loop = Loop()
        loop.run(lambda make=make: cancel(make()))  # type: ignore[misc]
        assert [type(found["exception"]) for found in loop.complaints] == [LookupError]
        assert loop.left == []
    assert log == ["stopped"] * 2


def test_leaving_at_the_last_state_waits_for_callbacks() -> None:
    """The message has ended well, so its callbacks may end too."""
    log: list[str] = []

    async def slow(call: ToolCall, gate: Gate) -> None:
        await asyncio.sleep(0.01)
        log.append("end")

    async def read() -> None:
        async with ready_stream(later(CHUNKS), slow) as stream:
            async for state in stream:
                if state.is_finished:
                    break
        assert log == ["end"]

    loop = Loop()
    loop.run(read)
    assert (loop.complaints, loop.left) == ([], [])


def test_a_callback_may_close_its_stream() -> None:
    """It does not wait for itself, and comes again because the call has failed then."""
    log: list[str] = []

    async def read() -> None:
        stream: MessageStream

        async def enough(call: ToolCall, gate: Gate) -> None:
            await stream.aclose()
            log.append(gate.status)

        stream = ready_stream(later([*CHUNKS[:7], *[chunk({"content": "."})] * 20]), enough)
        states = await all_of(stream)
        assert states[-1].error is not None
        assert states[-1].error.fault is Fault.CLOSED

    loop = Loop()
    loop.run(read)
    assert (log, loop.complaints, loop.left) == (["ready", "failed"], [], [])


def test_an_async_callback_needs_an_async_loop() -> None:
    """It would never run otherwise; other results are of no interest."""

    async def tell(call: ToolCall, gate: Gate) -> None:
        raise AssertionError

    with pytest.raises(TypeError, match="async for"):
        ready_stream(CHUNKS, tell).final()
    assert summary(ready_stream(CHUNKS, lambda call, gate: 5).final()) == FINAL


def test_callbacks_without_asyncio() -> None:
    """Under another event loop there are no tasks: the stream awaits the callback."""
    log: list[str] = []

    async def tell(call: ToolCall, gate: Gate) -> None:
        log.append(gate.value)

    async def items() -> AsyncIterator[Any]:
        for item in CHUNKS:
            yield item

    reading = ready_stream(items(), tell).afinal()
    with pytest.raises(StopIteration) as ended:
        reading.send(None)
    assert summary(ended.value.value) == FINAL
    assert log == ["Suva"]


# JSON of any shape


def test_structured_output_of_any_shape() -> None:
    """`response_schema=True`: plain values that grow, from the content or from a tool."""
    text = '{"a": [1, "xy"], "b": true}'
    chunks = [chunk({"content": character}) for character in text] + [chunk(finish_reason="stop")]
    values = [state.content_value for state in MessageStream(chunks, response_schema=True)]
    assert values[0] == {}
    assert {"a": [1, "x"]} in values
    assert values[-1] == {"a": [1, "xy"], "b": True}
    final = MessageStream(chunks, response_schema=True).final()
    assert final.is_content_complete
    assert final.content_value["a"][1] == "xy"
    output = [tool(text, id="a", name="output"), chunk(finish_reason="tool_calls")]
    by_tool = MessageStream(output, response_schema=True, emulate_structured_output=True).final()
    assert by_tool.content_value == final.content_value
    for scalar, value in (("5", 5), ('"a"', "a"), ("null", None), ("[]", [])):
        scalars = [chunk({"content": scalar}), chunk(finish_reason="stop")]
        assert MessageStream(scalars, response_schema=True).final().content_value == value
    prose = [chunk({"content": "No."}), chunk(finish_reason="stop")]
    with pytest.raises(MessageError) as caught:
        MessageStream(prose, response_schema=True).final()
    assert caught.value.fault is Fault.SYNTAX
    with pytest.raises(OptionsError, match="response_schema=False"):
        MessageStream(prose, response_schema=False)


def test_a_value_that_was_not_asked_for() -> None:
    """Without a schema there is none, and the error says what to do."""
    state = MessageStream([chunk({"content": '{"a": 1}'}), chunk(finish_reason="stop")]).final()
    value: Any = state.content_value
    with pytest.raises(TypeError, match="pass response_schema=True"):
        value["a"]
    assert value is MISSING


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
        *(("part_ended", 0), ("part_ended", 1)),  # more arguments may follow in the failed call until the message ends
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


@pytest.mark.parametrize(
    ("format", "chunks"),
    [
        (
            "gemini",
            [
                {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}}]},
                {"candidates": [{"content": {"parts": [{"functionCall": {"name": "g", "args": {"a": 1}}}]}}]},
                {"candidates": [{"finishReason": "STOP"}]},
            ],
        ),
        (
            "ollama",
            [
                {"message": {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, "done": False},
                {"message": {"tool_calls": [{"function": {"name": "g", "arguments": {"a": 1}}}]}, "done": False},
                {"message": {"content": ""}, "done": True, "done_reason": "stop"},
            ],
        ),
    ],
    ids=["gemini", "ollama"],
)
def test_events_of_calls_that_come_whole(format: str, chunks: list[Any]) -> None:
    """A call without arguments is complete at once, before the next call starts."""
    events = [event for event in MessageStream(chunks, format=format).events() if "tool_call" in event.kind]
    started = ["tool_call_started", "tool_call_completed"]
    assert [event.kind for event in events] == [*started, *started]
    state = MessageStream(chunks, format=format).final()
    assert [(call.name, call.arguments, call.value) for call in state.tool_calls] == [
        ("f", "{}", {}),
        ("g", '{"a":1}', {"a": 1}),
    ]


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
