"""What the pages about providers show of the real libraries, run as it stands against a server that replays.

The blocks marked ``python3`` are not run with the other examples, since they talk to a provider. Here the library is
told, by its environment, that the provider is a server of our own.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from tests.support import readings, shared
from tests.support.messages import ANY, seen
from tests.support.replay import PATIENCE, Answer, Call, Ending, Replay, Script, answer, refusal
from unspool.llm import Config, Fault, MessageError, MessageStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from pathlib import Path as FilePath

    from unspool.llm import MessageState


class Weather(BaseModel):
    city: str


TALKING = Script(("Let me ", "see 😀."), (Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va"}')),))
STRUCTURED = Script(('{"city": "Su', 'va"}'))


@dataclass(frozen=True)
class Page:
    """A page: the library that it is about, its wire format, and what tells the library where to go (``{}``)."""

    library: str
    wire: str
    environment: Mapping[str, str]


GOOGLE = {"GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": "{}"}
AWS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{}",
}
OPENAI = {"OPENAI_API_KEY": "test", "OPENAI_BASE_URL": "{}/v1"}
PAGES = {
    "openai-chat": Page("openai", "openai-chat", OPENAI),
    "openai-responses": Page("openai", "openai-responses", OPENAI),
    "anthropic": Page("anthropic", "anthropic", {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": "{}"}),
    "gemini": Page("google.genai", "gemini", GOOGLE),
    "gemini-interactions": Page("google.genai", "gemini-interactions", GOOGLE),
    "bedrock": Page("boto3", "bedrock-converse", AWS),
    "cohere": Page("cohere", "cohere", {"CO_API_KEY": "test", "CO_API_URL": "{}"}),
    "ollama": Page("ollama", "ollama", {"OLLAMA_HOST": "{}"}),
}
# What would send a library elsewhere, or tell it to be somebody else, if this machine has it.
UNSET = (
    *("GOOGLE_API_KEY", "GOOGLE_GENAI_API_VERSION", "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI"),
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_PROFILE", "AWS_SESSION_TOKEN"),
)
NOWHERE = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")  # the library would read them

every_page = pytest.mark.parametrize("page", PAGES)


def blocks_of(page: str) -> list[str]:
    """The code on a page that talks to the provider."""
    text = (shared.PROJECT / "docs" / "providers" / f"{page}.md").read_text()
    blocks: list[str] = re.findall(r"^```python3\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return blocks


@contextmanager
def served(page: str, *answers: Answer) -> Iterator[Replay]:
    """A server with these answers, which the library of the page takes for its provider."""
    about = PAGES[page]
    pytest.importorskip(about.library)
    with Replay(*answers) as server, pytest.MonkeyPatch.context() as patch:
        for name in UNSET:
            patch.delenv(name, raising=False)
        for name in NOWHERE:
            patch.setenv(name, "/nowhere")
        for name in ("NO_PROXY", "no_proxy"):
            patch.setenv(name, "*")
        for name, value in about.environment.items():
            patch.setenv(name, value.format(server.url))
        yield server


def run(page: str, code: str) -> dict[str, Any]:
    """The names that there are after the code of the page."""
    names: dict[str, Any] = {"MessageStream": MessageStream, "Weather": Weather}
    exec(compile(code, page, "exec", dont_inherit=True), names)
    return names


def strings(value: object) -> set[str]:
    """All keys and texts in a JSON value."""
    if isinstance(value, dict):
        return {*value, *strings([*value.values()])}
    if isinstance(value, list):
        return {text for inner in value for text in strings(inner)}
    return {value} if isinstance(value, str) else set()


@every_page
def test_the_page_of_a_provider(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code on the page asks with its tool, and gets a call of it, typed."""
    wire = PAGES[page].wire
    if page == "cohere":  # its library reads where to go when it is imported
        for name in [name for name in sys.modules if name.split(".")[0] == "cohere"]:
            monkeypatch.delitem(sys.modules, name)
    with served(page, answer(wire, TALKING.write(wire))) as server:
        names = run(page, blocks_of(page)[0])
    asked = strings(json.loads(server.requests[0]))
    assert {"How is the weather in Suva?", "weather", "The weather now", "city"} <= asked
    state = names["state"]
    assert state.is_complete
    assert (state.content, state.role, state.diagnostics) == ("Let me see 😀.", "assistant", ())
    assert (state.usage.input_tokens, state.usage.output_tokens) == (11, 5)
    (call,) = state.tool_calls
    assert (call.name, call.value, call.is_complete) == ("weather", Weather(city="Suva"), True)
    assert call.id == (None if page == "ollama" else "call_1")  # its library leaves them out


def test_every_page_is_here() -> None:
    """A new page has to be run as well."""
    folder = shared.PROJECT / "docs" / "providers"
    assert {file.stem for file in folder.glob("*.md")} == {*PAGES, "index"}


def test_structured_output_that_is_awaited() -> None:
    """The second block of the page about Gemini: the text is JSON, and becomes what was asked for."""
    answers = [answer("gemini", script.write("gemini")) for script in (TALKING, STRUCTURED)]
    with served("gemini", *answers) as server:
        names = run("gemini", "\n".join(blocks_of("gemini")))
        state = asyncio.run(names["report"]())
    assert {"application/json", "city"} <= strings(json.loads(server.requests[1]))
    assert state.is_complete
    assert (state.content, state.content_value) == ('{"city": "Suva"}', Weather(city="Suva"))


# Beyond what is shown: all that these libraries hand out, read both ways. Those of OpenAI and Anthropic are elsewhere.

LIBRARIES = ("gemini", "gemini-interactions", "bedrock", "cohere", "ollama")
BOTH_WAYS = [(page, is_async) for page in LIBRARIES for is_async in (False, True) if page != "bedrock" or not is_async]
IDS = [f"{page}-{'awaited' if is_async else 'iterated'}" for page, is_async in BOTH_WAYS]
ASKED: list[Any] = [{"role": "user", "content": "Where?"}]
CONFIG = Config(Weather, tools={"weather": Weather})

every_library = pytest.mark.parametrize("page", LIBRARIES)
both_ways = pytest.mark.parametrize(("page", "is_async"), BOTH_WAYS, ids=IDS)


@contextmanager
def opened(page: str) -> Iterator[Any]:
    """The stream that the library hands out."""
    if page == "bedrock":
        with closing(pytest.importorskip("boto3").client("bedrock-runtime")) as client:
            asked = [{"role": "user", "content": [{"text": "Where?"}]}]
            yield client.converse_stream(modelId="m", messages=asked)["stream"]
    elif page == "cohere":
        with pytest.importorskip("cohere").ClientV2(base_url=os.environ["CO_API_URL"]) as client:
            yield client.chat_stream(model="m", messages=ASKED)
    elif page == "ollama":
        with pytest.importorskip("ollama").Client() as client:
            yield client.chat(model="m", messages=ASKED, stream=True)
    else:
        with pytest.importorskip("google.genai").Client() as client:
            if page == "gemini":
                yield client.models.generate_content_stream(model="m", contents="Where?")
            else:
                yield client.interactions.create(model="m", input="Where?", stream=True)


@asynccontextmanager
async def opened_async(page: str) -> AsyncIterator[Any]:
    """As `opened`, for a stream that is awaited."""
    if page == "cohere":
        async with pytest.importorskip("cohere").AsyncClientV2(base_url=os.environ["CO_API_URL"]) as client:
            yield client.chat_stream(model="m", messages=ASKED)
    elif page == "ollama":
        async with pytest.importorskip("ollama").AsyncClient() as client:
            yield await client.chat(model="m", messages=ASKED, stream=True)
    else:
        async with pytest.importorskip("google.genai").Client().aio as client:
            if page == "gemini":
                yield await client.models.generate_content_stream(model="m", contents="Where?")
            else:
                yield await client.interactions.create(model="m", input="Where?", stream=True)


def states_of(
    page: str, told: Answer, config: Config = CONFIG, *, is_async: bool = False
) -> tuple[list[MessageState], MessageError | None]:
    """All states of this answer as read by the library of the page, and what was raised behind them."""
    states: list[MessageState] = []

    async def awaited() -> None:
        async with opened_async(page) as source:
            async for state in MessageStream(source, config=config):
                states.append(state)  # noqa: PERF401 - those before an error are wanted

    with served(page, told):
        try:
            if is_async:
                asyncio.run(awaited())
            else:
                with opened(page) as source:
                    states.extend(MessageStream(source, config=config))
        except MessageError as error:
            return states, error
    return states, None


def visible(state: MessageState) -> dict[str, Any]:
    """All that can be seen of a state. The provider's own words about the usage are spelt as the library likes it."""
    usage = state.usage
    counts = None if usage is None else (usage.input_tokens, usage.output_tokens, usage.total_tokens)
    return {**seen(state), "usage": counts, "diagnostics": state.diagnostics}


def all_but_ids(payloads: list[Any]) -> list[Any]:
    """Payloads without the ids of calls: the library of Ollama leaves them out."""
    text = json.dumps(payloads)
    return list(json.loads(text.replace('"id": "call_1", ', "")))


@both_ways
def test_a_state_does_not_depend_on_the_library(page: str, is_async: bool) -> None:
    """Chunks as objects of a library or as dicts: every state is the same."""
    wire = PAGES[page].wire
    for script in (STRUCTURED, TALKING):
        payloads = script.write(wire)
        states, raised = states_of(page, answer(wire, payloads), is_async=is_async)
        assert raised is None
        plain = all_but_ids(payloads) if page == "ollama" else payloads
        assert [visible(state) for state in states] == [visible(state) for state in MessageStream(plain, config=CONFIG)]


def half(wire: str) -> tuple[Answer, int]:
    """An answer, and how many of its frames there are up to the first piece of its text."""
    told = answer(wire, TALKING.write(wire))
    return told, 1 + next(at for at, frame in enumerate(told.frames) if TALKING.pieces[0].encode() in frame)


@both_ways
def test_a_connection_that_drops(page: str, is_async: bool) -> None:
    """In the middle of an event: all that came before it, then a clear error with the last state and the cause."""
    told, whole = half(PAGES[page].wire)
    states, raised = states_of(page, told.cut(whole, Ending.DROPPED), is_async=is_async)
    assert raised is not None
    assert raised.fault is Fault.TRANSPORT
    assert raised.__cause__ is not None
    assert str(raised) == f"the source of the stream failed: {type(raised.__cause__).__name__}"
    last = states[-1]
    assert raised.state is last
    assert (last.content, last.is_finished, last.is_complete) == ("Let me ", True, False)


ERRORS: dict[str, tuple[dict[str, Any], str | None]] = {
    "gemini": ({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}, "503"),
    "gemini-interactions": ({"event_type": "error", "error": {"code": "busy", "message": "Overloaded"}}, "busy"),
    "bedrock": ({"throttlingException": {"message": "Overloaded"}}, "throttlingException"),
    "cohere": ({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "Overloaded"}}, None),
    "ollama": ({"error": "Overloaded"}, None),
}


@both_ways
def test_errors_of_the_provider(page: str, is_async: bool) -> None:
    """In the middle of a stream: some libraries raise them, others hand them out, and it is all the same."""
    wire = PAGES[page].wire
    told, whole = half(wire)
    payload, code = ERRORS[page]
    broken = Answer((*told.frames[:whole], *answer(wire, [payload]).frames), content_type=told.content_type)
    states, raised = states_of(page, broken, is_async=is_async)
    assert raised is not None
    assert (raised.fault, raised.code, raised.detail) == (Fault.PROVIDER, code, "Overloaded")
    assert raised.status == (503 if page == "gemini" else None)
    assert raised.state is states[-1]
    assert states[-1].content == "Let me "
    with pytest.raises(MessageError) as caught:
        MessageStream([*TALKING.write(wire)[:whole], payload], config=CONFIG).final()
    assert (caught.value.fault, caught.value.code, caught.value.detail) == (raised.fault, raised.code, raised.detail)


@pytest.mark.parametrize(
    ("own", "fault", "code", "detail"),
    [
        ({"body": {"error": "Busy"}}, Fault.PROVIDER, None, "Busy"),
        ({"body": "Busy", "status_code": 503}, Fault.PROVIDER, "503", "Busy"),
        ({"body": None, "status_code": 503}, Fault.PROVIDER, "503", ""),
        ({"details": {"error": {"message": "Busy", "status": "UNAVAILABLE"}}}, Fault.PROVIDER, "UNAVAILABLE", "Busy"),
        ({"details": {"message": "Busy", "code": 503}, "response": None}, Fault.PROVIDER, "503", "Busy"),
        (
            {"response": {"Error": {"Code": "busyException", "Message": "Busy"}}},
            Fault.PROVIDER,
            "busyException",
            "Busy",
        ),
        ({"error": "Busy", "status_code": -1}, Fault.PROVIDER, None, "Busy"),
        ({"error": ValueError("Busy"), "response": Weather(city="Suva")}, Fault.TRANSPORT, None, ""),
        ({"status_code": "503", "body": 5, "details": []}, Fault.TRANSPORT, None, ""),
    ],
)
def test_what_an_exception_says(own: dict[str, Any], fault: Fault, code: str | None, detail: str) -> None:
    """Where libraries put what the provider said, without them."""

    def failing() -> Iterator[Any]:
        yield {"message": {"content": "Hm"}, "done": False}
        error = RuntimeError("oh")
        vars(error).update(own)
        raise error

    with pytest.raises(MessageError) as caught:
        MessageStream(failing()).final()
    assert (caught.value.fault, caught.value.code, caught.value.detail) == (fault, code, detail)


TOLD = {"message": "Slow", "type": "rate"}
OF_AWS = {"Error": {"Code": "rate", "Message": "Slow"}, "ResponseMetadata": {"HTTPStatusCode": 429}}
OF_GOOGLE = {"error": {"code": 429, "message": "Slow", "status": "RESOURCE_EXHAUSTED"}}
REFUSALS: dict[str, tuple[str, Callable[[Any, Any], Exception]]] = {
    "openai": ("rate", lambda openai, of: openai.RateLimitError("x", response=of, body=TOLD)),
    "anthropic": ("rate", lambda anthropic, of: anthropic.RateLimitError("x", response=of, body={"error": TOLD})),
    "botocore.exceptions": ("rate", lambda botocore, of: botocore.ClientError(OF_AWS, "ConverseStream")),
    "google.genai.errors": ("429", lambda errors, of: errors.ClientError(429, OF_GOOGLE)),
    "cohere": ("429", lambda cohere, of: cohere.TooManyRequestsError(body={"message": "Slow"})),
    "ollama": ("429", lambda ollama, of: ollama.ResponseError("Slow", 429)),
    "httpx": ("429", lambda httpx, of: httpx.HTTPStatusError("x", request=of.request, response=of)),
}


@pytest.mark.parametrize("module", REFUSALS)
def test_the_status_of_a_request_that_was_refused(module: str) -> None:
    """A source that asks when it is first read raises the exception of its library; the status is in it."""
    library, httpx = pytest.importorskip(module), pytest.importorskip("httpx")
    code, make = REFUSALS[module]
    error = make(library, httpx.Response(429, request=httpx.Request("POST", "http://localhost/")))

    def failing() -> Iterator[Any]:
        yield from ()
        raise error

    with pytest.raises(MessageError) as caught:
        list(MessageStream(failing()))
    assert (caught.value.fault, caught.value.status, caught.value.code) == (Fault.PROVIDER, 429, code)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("page", ["gemini", "cohere", "ollama"])
@pytest.mark.parametrize(
    ("body", "detail"),
    [(b'{"error": {"code": 401, "message": "Bad key"}}', "Bad key"), (b"no", "no")],
    ids=["told", "just no"],
)
def test_requests_that_are_refused(page: str, body: bytes, detail: str) -> None:
    """Libraries that ask when their stream is read are refused then: it is the provider that says no."""
    states, raised = states_of(page, refusal(401, body))
    assert raised is not None
    assert raised.fault is Fault.PROVIDER
    assert raised.code in {"401", "Unauthorized"}  # which is what is made of a body that is no JSON
    assert raised.detail == ("" if (page, detail) == ("ollama", "Bad key") else detail)  # its errors are texts
    assert raised.state is states[-1]


@every_library
def test_leaving_the_loop_closes_the_connection(page: str) -> None:
    """At once, and without reading the rest: the server, which waits in the middle of the message, sees it leave."""
    told, whole = half(PAGES[page].wire)
    with served(page, told.hold(whole)) as server, opened(page) as source:
        for state in MessageStream(source, config=CONFIG):
            if state.content:
                break
        assert server.left.wait(PATIENCE)


@pytest.mark.parametrize("page", ["gemini", "gemini-interactions", "cohere", "ollama"])
def test_leaving_the_loop_that_is_awaited(page: str) -> None:
    """The same; but the library of Gemini keeps the connection until its client is closed, as the page says."""
    told, whole = half(PAGES[page].wire)

    async def leave(server: Replay) -> None:
        async with opened_async(page) as source:
            async with MessageStream(source, config=CONFIG) as stream:
                async for state in stream:
                    if state.content:
                        break
            if page != "gemini":
                await asyncio.to_thread(server.left.wait, PATIENCE)
                assert server.left.is_set()
        await asyncio.to_thread(server.left.wait, PATIENCE)

    with served(page, told.hold(whole)) as server:
        asyncio.run(leave(server))
        assert server.left.is_set()


WIRES = {PAGES[page].wire: page for page in LIBRARIES}
RECORDINGS = [path for path in readings.recordings() if path.parent.name in WIRES]
HERE = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in RECORDINGS]
NOT_HERE = [pytest.param(None, id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]


@pytest.mark.parametrize("recording", HERE or NOT_HERE)
def test_recordings(recording: FilePath) -> None:
    """What a provider really sent, read by its own library and then by us, is what it is without the library."""
    wire = recording.parent.name
    payloads = readings.payloads(recording)
    names = {call.name for message in readings.read(wire, payloads) for call in message.calls if call.name}
    config = Config(tools=dict.fromkeys(names, ANY))
    states, raised = states_of(WIRES[wire], answer(wire, payloads), config)
    assert raised is None
    assert [visible(state) for state in states] == [visible(state) for state in MessageStream(payloads, config=config)]
