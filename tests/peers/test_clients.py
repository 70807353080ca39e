"""The libraries that people use, as they are: their streams, of a server on this machine, handed to MessageStream."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from tests.support import readings, shared
from tests.support.messages import ANY, seen
from tests.support.replay import PATIENCE, WRITERS, Answer, Call, Ending, Payload, Replay, Script, answer, refusal
from unspool import MISSING
from unspool.llm import Config, Fault, MessageError, MessageState, MessageStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from pathlib import Path as FilePath

    from unspool.llm import Gate, ToolCall


class Day(BaseModel):
    """A day of a trip."""

    name: str
    hours: int


class Trip(BaseModel):
    """The structured output."""

    title: str
    days: list[Day]


class Weather(BaseModel):
    """The arguments of a tool."""

    city: str
    days: int


class Time(BaseModel):
    """The arguments of another."""

    zone: str


CONFIG = Config(Trip, tools={"weather": Weather, "time": Time})
TRIP = Trip(title="Fiji 😀", days=[Day(name="Suva", hours=2), Day(name="Nadi", hours=3)])
STRUCTURED = Script(
    ('{"title": "Fi', 'ji 😀", "days": [{"na', 'me": "Suva", "hours": 2}', ', {"name": "Nadi", "hours": 3}', "]}")
)
CALLING = Script(
    ("Let me ", "see 😀."),
    (
        Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va", "da', 'ys": 3}')),
        Call("call_2", "time", ('{"zone": "Pac', 'ific/Fiji"}')),
    ),
)

# The clients. Each is opened for one request: what it gives for it is the source.

ASKED: list[Any] = [{"role": "user", "content": "Where?"}]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine are not for this machine; not every library can be told so."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


def client_of(library: Any, name: str, url: str) -> Any:
    """No key that is worth anything, one try, little patience, no certificates."""
    is_async = name.startswith("Async")
    make = library.DefaultAsyncHttpxClient if is_async else library.DefaultHttpxClient
    http_client = make(trust_env=False, verify=False, timeout=PATIENCE)
    return getattr(library, name)(
        api_key="test", base_url=url, max_retries=0, timeout=PATIENCE, http_client=http_client
    )


@dataclass(frozen=True)
class Client:
    """A way to ask, and the wire format of what comes; `opens` and `opens_async` give the source."""

    wire: str
    opens: Callable[[str], AbstractContextManager[Any]]
    opens_async: Callable[[str], AbstractAsyncContextManager[Any]]
    path: str = "/"


def created(wire: str, path: str, name: str, ask: Callable[[Any], Any]) -> Client:
    """A library that gives a stream for a request."""
    module = name.lower()

    @contextmanager
    def opens(url: str) -> Iterator[Any]:
        with client_of(pytest.importorskip(module), name, url) as client:
            yield ask(client)

    @asynccontextmanager
    async def opens_async(url: str) -> AsyncIterator[Any]:
        async with client_of(pytest.importorskip(module), f"Async{name}", url) as client:
            yield await ask(client)

    return Client(wire, opens, opens_async, path)


def entered(wire: str, path: str, name: str, ask: Callable[[Any], Any]) -> Client:
    """A library that gives a stream to those who enter it."""
    module = name.lower()

    @contextmanager
    def opens(url: str) -> Iterator[Any]:
        with client_of(pytest.importorskip(module), name, url) as client, ask(client) as stream:
            yield stream

    @asynccontextmanager
    async def opens_async(url: str) -> AsyncIterator[Any]:
        async with client_of(pytest.importorskip(module), f"Async{name}", url) as client, ask(client) as stream:
            yield stream

    return Client(wire, opens, opens_async, path)


@contextmanager
def response(url: str) -> Iterator[Any]:
    httpx = pytest.importorskip("httpx")
    with (
        httpx.Client(trust_env=False, verify=False, timeout=PATIENCE) as client,
        client.stream("POST", url, json={}) as response,
    ):
        yield response


@asynccontextmanager
async def response_async(url: str) -> AsyncIterator[Any]:
    httpx = pytest.importorskip("httpx")
    async with (
        httpx.AsyncClient(trust_env=False, verify=False, timeout=PATIENCE) as client,
        client.stream("POST", url, json={}) as response,
    ):
        yield response


@contextmanager
def lines(url: str) -> Iterator[Any]:
    with response(url) as whole:
        yield whole.iter_lines()


@asynccontextmanager
async def lines_async(url: str) -> AsyncIterator[Any]:
    async with response_async(url) as whole:
        yield whole.aiter_lines()


CHAT: dict[str, Any] = {"model": "m", "messages": ASKED}
ANTHROPIC: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": ASKED}
LIBRARIES = {
    "openai chat create": created(
        *("openai-chat", "/chat/completions", "OpenAI"),
        lambda client: client.chat.completions.create(**CHAT, stream=True),
    ),
    "openai chat stream": entered(
        *("openai-chat", "/chat/completions", "OpenAI"),
        lambda client: client.chat.completions.stream(**CHAT),
    ),
    "openai responses create": created(
        *("openai-responses", "/responses", "OpenAI"),
        lambda client: client.responses.create(model="m", input="Where?", stream=True),
    ),
    "openai responses stream": entered(
        *("openai-responses", "/responses", "OpenAI"),
        lambda client: client.responses.stream(model="m", input="Where?"),
    ),
    "anthropic create": created(
        *("anthropic", "/v1/messages", "Anthropic"),
        lambda client: client.messages.create(**ANTHROPIC, stream=True),
    ),
    "anthropic stream": entered(
        *("anthropic", "/v1/messages", "Anthropic"),
        lambda client: client.messages.stream(**ANTHROPIC),
    ),
}
PLAIN = {f"httpx {wire}": Client(wire, response, response_async) for wire in WRITERS}
LINES = {f"httpx lines {wire}": Client(wire, lines, lines_async) for wire in ("openai-chat", "ollama")}
ALL = {**LIBRARIES, **PLAIN, **LINES}

both_ways = pytest.mark.parametrize("is_async", [False, True], ids=["iterated", "awaited"])
every_client = pytest.mark.parametrize("client", ALL)
every_stream = pytest.mark.parametrize("client", [*LIBRARIES, *PLAIN])  # these can be closed; lines are a generator


def states_of(
    client: str, served: Answer, config: Config, *, is_async: bool
) -> tuple[list[MessageState], MessageError | None]:
    """All states of this answer as read by this client, and what was raised behind them."""
    opening, async_opening = ALL[client].opens, ALL[client].opens_async
    states: list[MessageState] = []

    async def awaited(url: str) -> None:
        async with async_opening(url) as source:
            async for state in MessageStream(source, config=config):
                states.append(state)  # noqa: PERF401 - those before an error are wanted

    raised: MessageError | None = None
    with Replay(served) as server:
        try:
            if is_async:
                asyncio.run(awaited(server.url))
            else:
                with opening(server.url) as source:
                    states.extend(MessageStream(source, config=config))
        except MessageError as error:
            raised = error
    assert server.paths == [ALL[client].path]
    return states, raised


# What arrives


@every_client
@both_ways
def test_structured_output(client: str, is_async: bool) -> None:
    """It grows, and is of its type at the end."""
    wire = ALL[client].wire
    served = answer(wire, STRUCTURED.write(wire))
    states, raised = states_of(client, served, CONFIG, is_async=is_async)
    assert raised is None
    values = [state.content_value for state in states if state.content_value is not MISSING]
    titles = [value.title for value in values if isinstance(value, Trip)]
    assert (titles[0], titles[-1]) == ("Fi", "Fiji 😀")
    assert {len(value.days or []) for value in values if isinstance(value, Trip)} == {0, 1, 2}
    last = states[-1]
    assert last.is_complete
    assert last.is_content_complete
    assert last.content_value == TRIP
    assert last.content == STRUCTURED.text
    assert (last.finish_reason, last.diagnostics, last.tool_calls) == ("stop", (), ())
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (11, 5)


@every_client
@both_ways
def test_tool_calls(client: str, is_async: bool) -> None:
    """Each with its typed arguments, which grow where the provider sends them in pieces."""
    wire = ALL[client].wire
    served = answer(wire, CALLING.write(wire))
    states, raised = states_of(client, served, CONFIG, is_async=is_async)
    assert raised is None
    last = states[-1]
    assert last.is_complete
    assert last.content == "Let me see 😀."
    assert [(call.id, call.name) for call in last.tool_calls] == [("call_1", "weather"), ("call_2", "time")]
    assert [call.value for call in last.tool_calls] == [Weather(city="Suva", days=3), Time(zone="Pacific/Fiji")]
    assert all(call.is_complete for call in last.tool_calls)
    assert last.diagnostics == ()
    if wire != "ollama":
        cities = [call.value.city for state in states for call in state.tool_calls if isinstance(call.value, Weather)]
        assert "Su" in cities
        # The first can be run while the second is being written, but where nothing says that it has ended.
        early = [[call.is_complete for call in state.tool_calls] for state in states if not state.is_finished]
        assert ([True, False] in early) == (wire != "openai-chat")


@pytest.mark.parametrize("client", LIBRARIES)
@both_ways
def test_a_state_does_not_depend_on_the_library(client: str, is_async: bool) -> None:
    """Chunks as objects of a library or as dicts: every state is the same."""
    wire = ALL[client].wire
    for script in (STRUCTURED, CALLING):
        payloads = script.write(wire)
        states, _ = states_of(client, answer(wire, payloads), CONFIG, is_async=is_async)
        assert [seen(state) for state in states] == [seen(state) for state in MessageStream(payloads, config=CONFIG)]


@pytest.mark.parametrize("client", LIBRARIES)
def test_arguments_that_are_ready(client: str) -> None:
    """The callback runs while the connection is open and the call is not whole: nothing has been read ahead."""
    wire, opening = ALL[client].wire, ALL[client].opens
    payloads = CALLING.write(wire)
    whole = 1 + place(payloads, CALLING.calls[0].pieces[2])
    ready: list[object] = []

    def note(call: ToolCall, gate: Gate) -> None:
        ready.append((call.name, gate.value, call.is_complete))

    with Replay(answer(wire, payloads).hold(whole)) as server:
        with opening(server.url) as source, MessageStream(source, config=CONFIG) as stream:
            stream.on_ready("weather", "city", note)
            for _ in stream:
                if ready:
                    break
        assert server.left.wait(PATIENCE)
    assert ready == [("weather", "Suva", False)]


# What goes wrong


def half(script: Script, wire: str) -> tuple[Answer, int]:
    """An answer, and how many of its frames there are up to the second piece of its text."""
    payloads = script.write(wire)
    return answer(wire, payloads), 1 + place(payloads, script.pieces[1])


def place(payloads: list[Payload], text: str) -> int:
    """The first payload with exactly this string in it."""
    return next(at for at, payload in enumerate(payloads) if text in strings(payload))


def strings(value: object) -> list[str]:
    """All strings in a payload."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings(inner)]
    return [value] if isinstance(value, str) else []


def causes_of(error: BaseException) -> list[BaseException]:
    """What an error was raised from, down to the first."""
    cause = error.__cause__
    return [] if cause is None else [cause, *causes_of(cause)]


@every_client
@both_ways
def test_a_connection_that_drops(client: str, is_async: bool) -> None:
    """In the middle of an event: all that came before it, then a clear error with the last state and the cause."""
    served, whole = half(STRUCTURED, ALL[client].wire)
    states, raised = states_of(client, served.cut(whole, Ending.DROPPED), CONFIG, is_async=is_async)
    assert raised is not None
    assert raised.fault is Fault.TRANSPORT
    causes = causes_of(raised)
    assert str(raised) == f"the source of the stream failed: {type(causes[0]).__name__}"
    assert "incomplete chunked read" in str(causes[-1])
    last = states[-1]
    assert raised.state is last
    assert last.is_finished
    assert not last.is_complete
    assert last.content == '{"title": "Fiji 😀", "days": [{"na'
    assert isinstance(last.content_value, Trip)
    assert last.content_value.title == "Fiji 😀"


@every_client
@both_ways
def test_a_connection_that_is_reset(client: str, is_async: bool) -> None:
    """How much was read before it is up to the network; the error is not."""
    served, whole = half(STRUCTURED, ALL[client].wire)
    states, raised = states_of(client, served.cut(whole, Ending.RESET), CONFIG, is_async=is_async)
    assert raised is not None
    assert raised.fault is Fault.TRANSPORT
    assert raised.__cause__ is not None
    assert raised.state is states[-1]
    assert STRUCTURED.text.startswith(states[-1].content)


@every_client
@both_ways
def test_a_stream_that_just_ends(client: str, is_async: bool) -> None:
    """In the middle of an event. HTTP is satisfied, the message is not: no reason to finish was given."""
    served, whole = half(STRUCTURED, ALL[client].wire)
    states, raised = states_of(client, served.cut(whole, Ending.WHOLE), CONFIG, is_async=is_async)
    assert raised is not None
    assert raised.fault is Fault.UNFINISHED
    last = states[-1]
    assert raised.state is last
    assert last.error is not None
    assert last.error.fault is Fault.UNFINISHED
    assert last.content == '{"title": "Fiji 😀", "days": [{"na'
    assert not last.is_complete


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded", "code": "overloaded_error"}
ERRORS: dict[str, dict[str, Any]] = {
    "openai-chat": {"error": OVERLOADED},
    "openai-responses": {**OVERLOADED, "type": "error", "sequence_number": 9, "param": None},
    "anthropic": {"type": "error", "error": OVERLOADED},
    "ollama": {"error": "Overloaded"},
}


@every_client
@both_ways
def test_errors_of_the_provider(client: str, is_async: bool) -> None:
    """In the middle of a stream: libraries raise them, plain responses hold them, and it is all the same."""
    wire = ALL[client].wire
    served, whole = half(STRUCTURED, wire)
    error = answer(wire, [ERRORS[wire]]).frames[0]
    broken = Answer((*served.frames[:whole], error, *served.frames[whole:]), content_type=served.content_type)
    states, raised = states_of(client, broken, CONFIG, is_async=is_async)
    assert raised is not None
    assert raised.fault is Fault.PROVIDER
    assert raised.detail == "Overloaded"
    assert raised.code == (None if wire == "ollama" else "overloaded_error")
    assert raised.state is states[-1]
    assert states[-1].content == '{"title": "Fiji 😀", "days": [{"na'


@both_ways
def test_responses_that_say_no(is_async: bool) -> None:
    """Libraries raise before there is a stream; a plain response is read for what it says."""
    told = b'{"error": {"message": "Bad key", "type": "auth"}}'
    for body, code, detail in ((told, "auth", "Bad key"), (b"data: no", "401", "")):
        _, raised = states_of("httpx openai-chat", refusal(401, body), CONFIG, is_async=is_async)
        assert raised is not None
        assert (raised.fault, raised.code, raised.detail) == (Fault.PROVIDER, code, detail)
        assert raised.status == 401


# Closing


def response_of(source: Any) -> Any:
    """The response that is behind the stream of a library."""
    return getattr(source, "response", None) or getattr(source, "_response", source)


@every_stream
def test_leaving_the_loop_closes_the_response(client: str) -> None:
    """At once, and without reading the rest: the server, which waits in the middle of the message, sees it leave."""
    wire, opening = ALL[client].wire, ALL[client].opens
    served, whole = half(STRUCTURED, wire)
    with Replay(served.hold(whole)) as server, opening(server.url) as source:
        assert not response_of(source).is_closed
        stream = MessageStream(source, config=CONFIG)
        for state in stream:
            if state.content:
                break
        assert response_of(source).is_closed
        assert server.left.wait(PATIENCE)
        assert stream.state.error is None  # as it was delivered
        assert stream.state.content.startswith('{"title": "Fi')


@every_stream
def test_leaving_the_loop_closes_the_response_that_is_awaited(client: str) -> None:
    """At once with ``async with``; without it, when the event loop gets to it."""
    wire, opening = ALL[client].wire, ALL[client].opens_async
    served, whole = half(STRUCTURED, wire)

    async def leave(url: str) -> None:
        async with opening(url) as source:
            async with MessageStream(source, config=CONFIG) as stream:
                async for state in stream:
                    if state.content:
                        break
            assert response_of(source).is_closed

    async def just_leave(url: str) -> None:
        async with opening(url) as source:
            async for state in MessageStream(source, config=CONFIG):
                if state.content:
                    break
            for _ in range(100):
                if not response_of(source).is_closed:
                    await asyncio.sleep(0.01)
            assert response_of(source).is_closed

    for leaving in (leave, just_leave):
        with Replay(served.hold(whole)) as server:
            asyncio.run(leaving(server.url))
            assert server.left.wait(PATIENCE)


@every_stream
@both_ways
def test_the_end_closes_the_response(client: str, is_async: bool) -> None:
    """Also where nobody leaves anything."""
    wire, opening, async_opening = ALL[client].wire, ALL[client].opens, ALL[client].opens_async
    served = answer(wire, CALLING.write(wire))

    async def awaited(url: str) -> None:
        async with async_opening(url) as source:
            assert (await MessageStream(source, config=CONFIG).afinal()).is_complete
            assert response_of(source).is_closed

    with Replay(served) as server:
        if is_async:
            asyncio.run(awaited(server.url))
        else:
            with opening(server.url) as source:
                assert MessageStream(source, config=CONFIG).final().is_complete
                assert response_of(source).is_closed


# Recordings

OWN = {
    "openai-chat": "openai chat create",
    "openai-responses": "openai responses create",
    "anthropic": "anthropic create",
}
RECORDINGS = [path for path in readings.recordings() if path.parent.name in OWN]
HERE = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in RECORDINGS]
NOT_HERE = [pytest.param(None, id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]


@pytest.mark.parametrize("recording", HERE or NOT_HERE)
@both_ways
def test_recordings(recording: FilePath, is_async: bool) -> None:
    """What a provider really sent, read by its own library and then by us, is what it is without the library."""
    wire = recording.parent.name
    payloads = readings.payloads(recording)
    names = {call.name for message in readings.read(wire, payloads) for call in message.calls if call.name}
    config = Config(tools=dict.fromkeys(names, ANY))
    states, raised = states_of(OWN[wire], answer(wire, payloads), config, is_async=is_async)
    expected: list[MessageState] = []
    fault: Fault | None = None
    try:
        expected.extend(MessageStream(payloads, config=config))
    except MessageError as error:
        fault = error.fault
    assert (None if raised is None else raised.fault) is fault
    assert len(states) == len(expected)
    assert without_order(states[-1]) == without_order(expected[-1])
    assert states[-1].as_messages() == expected[-1].as_messages()


def without_order(state: MessageState) -> dict[str, Any]:
    """All that can be seen of a state. A library has its own order of fields, also where they are the arguments."""
    shown = seen(state)
    made_of_fields = {call.id for call in state.tool_calls if call.kind in {"builtin", "server"}}
    for call in shown["tool_calls"]:
        if call["id"] in made_of_fields:
            call["arguments"] = json.loads(call["arguments"] or "null")
    for call in shown["message"].get("tool_calls", []):
        if call["id"] in made_of_fields:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return shown
