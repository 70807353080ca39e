"""OpenAI's and Anthropic's clients through both gateways, the command and the example, over real sockets."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest

from tests.support.replay import PATIENCE, WRITERS, Answer, Call, Replay, Script, answer, refusal
from tests.support.shared import PROJECT
from unspool.tools.cli.gateway_server import GatewayServer, HTTPUpstream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCRIPT = Script(("Let me ", "see 😀."), (Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va"}')),))
ASKED: Any = [{"role": "user", "content": "?"}]
FORMATS = list(WRITERS)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine are not for this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


@contextmanager
def command(upstream: str) -> Iterator[str]:
    """The server of `unspool gateway`."""
    with GatewayServer(HTTPUpstream(upstream)) as server:
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join(PATIENCE)


@contextmanager
def example(*options: str) -> Iterator[str]:
    """examples/gateway.py as a process of its own."""
    script = [sys.executable, str(PROJECT / "examples" / "gateway.py"), "--port", "0", *options]
    process = subprocess.Popen(script, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"running on (http://127\.0\.0\.1:\d+)", line):
                yield found[1]
                return
        raise AssertionError("it did not start")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def in_front(kind: str, upstream: Replay | SimpleNamespace) -> Any:
    """A gateway in front of an upstream."""
    return command(upstream.url) if kind == "command" else example("--upstream", upstream.url)


each_gateway = pytest.mark.parametrize("kind", ["command", "example"])


def chat(url: str) -> openai.OpenAI:
    """OpenAI's client at a gateway."""
    return openai.OpenAI(base_url=f"{url}/v1", api_key="key", max_retries=0, timeout=PATIENCE)


def messages(url: str) -> anthropic.Anthropic:
    """Anthropic's client at a gateway."""
    return anthropic.Anthropic(base_url=url, api_key="key", max_retries=0, timeout=PATIENCE)


def read_chat(url: str) -> tuple[str, list[tuple[str, Any]], str]:
    """The text, the calls and the end that OpenAI's client makes of chat completions."""
    with chat(url).chat.completions.stream(model="m", messages=ASKED) as stream:
        choice: Any = stream.get_final_completion().choices[0]
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
    return choice.message.content, calls, choice.finish_reason


def read_responses(url: str) -> tuple[str, list[tuple[str, Any]], str]:
    """The same of Responses."""
    with chat(url).responses.stream(model="m", input="?") as stream:
        response: Any = stream.get_final_response()
    calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
    return response.output_text, calls, "tool_calls"


def read_messages(url: str) -> tuple[str, list[tuple[str, Any]], str]:
    """The same of Anthropic's client."""
    with messages(url).messages.stream(model="m", max_tokens=9, messages=ASKED) as stream:
        message: Any = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    return text, calls, {"tool_use": "tool_calls"}[message.stop_reason]


READERS = {"chat": read_chat, "responses": read_responses, "messages": read_messages}


@each_gateway
def test_every_provider_to_every_client(kind: str) -> None:
    """The clients get the same message from every provider."""
    cases = [(wire, read) for wire in FORMATS for read in READERS.values()]
    answers = [answer(wire, WRITERS[wire](SCRIPT)) for wire, _ in cases]
    with Replay(*answers) as upstream, in_front(kind, upstream) as url:
        for _, read in cases:
            assert read(url) == ("Let me see 😀.", [("weather", {"city": "Suva"})], "tool_calls")


def leave_chat(url: str) -> None:
    """Leave OpenAI's client after the first text."""
    with chat(url).chat.completions.create(model="m", messages=ASKED, stream=True) as stream:
        for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                return


def leave_messages(url: str) -> None:
    """Leave Anthropic's client after the first text."""
    with messages(url).messages.create(model="m", max_tokens=9, messages=ASKED, stream=True) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                return


@each_gateway
@pytest.mark.parametrize("leave", [leave_chat, leave_messages])
def test_a_client_that_leaves_ends_the_request_of_the_upstream(kind: str, leave: Callable[[str], None]) -> None:
    """Although the upstream is silent, and would go on to wait."""
    held = answer("anthropic", WRITERS["anthropic"](SCRIPT)).hold(4)
    with Replay(held) as upstream, in_front(kind, upstream) as url:
        leave(url)
        assert upstream.left.wait(PATIENCE)


@each_gateway
def test_a_client_that_leaves_before_the_upstream_answers(kind: str) -> None:
    """The upstream has the request and says nothing yet: its connection ends with that of the client."""
    body = b'{"stream": true}'
    head = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        silent = SimpleNamespace(url=f"http://127.0.0.1:{listener.getsockname()[1]}/")
        with in_front(kind, silent) as url:
            with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), PATIENCE) as client:
                client.sendall(head.encode() + body)
                asked, _ = listener.accept()
                asked.settimeout(PATIENCE)
                assert asked.recv(4).startswith(b"POST")
            with asked:
                while asked.recv(4096):
                    pass


STATUSES = {
    400: (openai.BadRequestError, anthropic.BadRequestError),
    401: (openai.AuthenticationError, anthropic.AuthenticationError),
    404: (openai.NotFoundError, anthropic.NotFoundError),
    429: (openai.RateLimitError, anthropic.RateLimitError),
    500: (openai.InternalServerError, anthropic.InternalServerError),
}


@each_gateway
def test_refusals_keep_their_status(kind: str) -> None:
    """The clients raise the errors that they would raise in front of the provider, with its words."""
    said = json.dumps({"error": {"message": "not now", "type": "some_error"}}).encode()
    answers = [refusal(status, said) for status in STATUSES for _ in range(2)]
    with Replay(*answers) as upstream, in_front(kind, upstream) as url:
        for status, (of_openai, of_anthropic) in STATUSES.items():
            with pytest.raises(of_openai, match="not now") as first:
                chat(url).chat.completions.create(model="m", messages=ASKED, stream=True)
            with pytest.raises(of_anthropic, match="not now") as second:
                messages(url).messages.create(model="m", max_tokens=9, messages=ASKED, stream=True)
            assert (first.value.status_code, second.value.status_code) == (status, status)


@each_gateway
def test_an_upstream_that_is_not_there(kind: str) -> None:
    """The clients raise an error of the gateway."""
    with Replay(Answer(())) as gone:
        pass
    with in_front(kind, gone) as url, pytest.raises(openai.InternalServerError) as raised:
        chat(url).chat.completions.create(model="m", messages=ASKED, stream=True)
    assert raised.value.status_code == 502


def test_the_example_needs_no_key() -> None:
    """Without an upstream it plays a recording, to every client."""
    with example() as url:
        text, calls, _ = read_messages(url)
        assert calls == [("forecast", {"city": "Levuka", "days": 3})]
        assert (text, calls) == read_chat(url)[:2] == read_responses(url)[:2]


def test_the_example_refuses_what_it_cannot_do() -> None:
    """Other paths, and requests without a stream."""
    with example() as url:
        with pytest.raises(openai.NotFoundError):
            chat(url).completions.create(model="m", prompt="?")
        with pytest.raises(openai.BadRequestError, match="stream"):
            chat(url).chat.completions.create(model="m", messages=ASKED)
        with pytest.raises(anthropic.BadRequestError, match="stream"):
            messages(url).messages.create(model="m", max_tokens=9, messages=ASKED)
