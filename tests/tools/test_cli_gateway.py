"""`unspool gateway`: a recording or another server, to the clients of OpenAI and Anthropic."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tests.support.grammars import accept
from tests.support.replay import WRITERS, Answer, Call, Ending, Replay, Script, answer, refusal
from tests.support.running import PATIENCE, hear_line, run, started
from unspool.llm import MessageStream, SSEDecoder
from unspool.tools.cli.gateway_server import GatewayServer, HTTPUpstream, RecordedUpstream, _GatewayRequest
from unspool.tools.viewer.playback import wire_of
from unspool.tools.viewer.recordings import Arrival

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLING = Script(("Let me ", "see 😀."), (Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va"}')),))
PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}
STREAM = b'{"stream": true, "stream_options": {"include_usage": true}}'


def recorded(format: str) -> RecordedUpstream:
    """A recording of this format, played at once."""
    lines = [json.dumps(chunk).encode() + b"\n" for chunk in WRITERS[format](CALLING)]
    return RecordedUpstream(wire_of([Arrival(0.0, line) for line in lines], format), 0.0)


@contextmanager
def gateway(upstream: Any) -> Iterator[GatewayServer]:
    """A gateway in this process."""
    with GatewayServer(upstream) as server:
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(PATIENCE)


def ask(
    server: GatewayServer, path: str, body: bytes = STREAM, headers: dict[str, str] | None = None
) -> tuple[int, str, bytes]:
    """The status, the content type and the body of an answer."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    try:
        connection.request("POST", path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type", ""), response.read()
    finally:
        connection.close()


@pytest.mark.parametrize("target", PATHS)
@pytest.mark.parametrize("format", list(WRITERS))
def test_a_recording_in_every_protocol(format: str, target: str) -> None:
    """Every recording becomes the same message at every endpoint, within the grammar of its protocol."""
    with gateway(recorded(format)) as server:
        status, kind, body = ask(server, PATHS[target])
    assert status == 200
    assert kind.startswith("text/event-stream")
    events = SSEDecoder().feed(body)
    assert events[-1].is_done == (target == "openai-chat")
    accept(target, [json.loads(event.data) for event in events if not event.is_done])
    state = MessageStream(body, format=target).final()
    assert state.content == "Let me see 😀."
    assert [(call.name, call.value) for call in state.tool_calls] == [("weather", {"city": "Suva"})]
    assert state.finish_reason == "tool_calls"


def test_it_streams_through() -> None:
    """The gateway sends what it has while the upstream still writes."""
    chunks = answer("anthropic", WRITERS["anthropic"](CALLING))
    with Replay(chunks.hold(4)) as upstream, gateway(HTTPUpstream(upstream.url)) as server:
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
        connection.request("POST", PATHS["openai-chat"], STREAM, {"Authorization": "Bearer key"})
        response = connection.getresponse()
        seen = b""
        while b"Let me" not in seen:
            seen += response.read1(4096)
        connection.close()
        response.close()
        assert upstream.left.wait(PATIENCE), "a client that leaves ends the request of the upstream"
        assert upstream.requests == [STREAM]


@pytest.mark.parametrize("target", PATHS)
def test_a_refusal_keeps_its_status(target: str) -> None:
    """The status and the words of the upstream reach the client, in the shape of its protocol."""
    said = json.dumps({"error": {"message": "slow down", "type": "rate_limit_error"}}).encode()
    with Replay(refusal(429, said)) as upstream, gateway(HTTPUpstream(upstream.url)) as server:
        status, _, body = ask(server, PATHS[target])
    assert status == 429
    assert json.loads(body)["error"]["message"] == "slow down"


@pytest.mark.parametrize("target", PATHS)
def test_a_stream_that_breaks_off_ends_with_an_error(target: str) -> None:
    """The client is told, and never takes half an answer for a whole one."""
    chunks = answer("anthropic", WRITERS["anthropic"](CALLING)).cut(4, Ending.DROPPED)
    with Replay(chunks) as upstream, gateway(HTTPUpstream(upstream.url)) as server:
        status, _, body = ask(server, PATHS[target])
    assert status == 200
    assert b"error" in body
    assert b"[DONE]" not in body


def test_an_upstream_that_is_not_there() -> None:
    """The gateway says so, with its own status."""
    with Replay(Answer(())) as gone:
        url = gone.url
    with gateway(HTTPUpstream(url)) as server:
        status, _, body = ask(server, PATHS["openai-chat"])
    assert status == 502
    assert "upstream" in json.loads(body)["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/v1/other", STREAM, {}, 404),
        (PATHS["openai-chat"], b"{", {}, 400),
        (PATHS["openai-chat"], b"{}", {}, 400),
        (PATHS["anthropic"], STREAM, {"Origin": "https://example.org"}, 403),
        (PATHS["anthropic"], STREAM, {"Host": "example.org"}, 403),
        (PATHS["anthropic"], b"", {"Content-Length": "x"}, 400),
        (PATHS["anthropic"], STREAM, {"Transfer-Encoding": "chunked", "Content-Length": "0"}, 411),
    ],
)
def test_bad_requests_are_refused(path: str, body: bytes, headers: dict[str, str], status: int) -> None:
    """With a status, and a sentence in the shape of the protocol."""
    with gateway(recorded("anthropic")) as server:
        got, _, said = ask(server, path, body, headers)
    assert got == status
    assert json.loads(said)["error"]["message"]


def test_a_path_without_post_is_refused() -> None:
    """GET has an answer in the shape of the protocol, too."""
    with gateway(recorded("anthropic")) as server:
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
        connection.request("GET", PATHS["openai-chat"])
        response = connection.getresponse()
        assert response.status == 404
        assert json.loads(response.read())["error"]["message"]
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        connection.close()


def test_silent_clients_keep_no_place() -> None:
    """There is room for a limited number of clients, and each has a limited time for its request."""
    with (
        mock.patch("unspool.tools.cli.local_server.MAX_CONNECTIONS", 1),
        mock.patch.object(_GatewayRequest, "seconds", 0.3),
        gateway(recorded("anthropic")) as server,
        socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as silent,
    ):
        silent.sendall(b"POST /v1/messages HTTP/1.1\r\n")
        with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as second:
            assert second.recv(100).startswith(b"HTTP/1.1 503 ")
        assert silent.recv(100) == b""
        end = time.monotonic() + PATIENCE
        while (status := ask(server, PATHS["anthropic"])[0]) != 200:
            assert status == 503
            assert time.monotonic() < end


def test_requests_that_are_refused_do_not_count() -> None:
    """`times` counts answers of the upstream."""
    with GatewayServer(recorded("anthropic"), times=1) as server:
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        assert ask(server, PATHS["openai-chat"], b"{}")[0] == 400
        assert ask(server, PATHS["openai-chat"])[0] == 200
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_the_command(tmp_path: Path) -> None:
    """It serves a recording, says where, and stops after the last request."""
    file = tmp_path / "answer.jsonl"
    file.write_text("".join(json.dumps(chunk) + "\n" for chunk in WRITERS["ollama"](CALLING)), encoding="utf-8")
    with started("gateway", str(file), "--speed", "0", "--requests", "1") as process:
        line = hear_line(process.stdout)
        assert line.startswith("gateway on http://127.0.0.1:")
        port = int(line.split()[2].rpartition(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("POST", PATHS["anthropic"], STREAM)
        state = MessageStream(connection.getresponse().read()).final()
        assert state.content == "Let me see 😀."
        assert process.wait(PATIENCE) == 0


def test_the_command_complains(tmp_path: Path) -> None:
    """A file without a stream, and an address that others can reach."""
    file = tmp_path / "value.json"
    file.write_text('{"a": 1}', encoding="utf-8")
    assert run("gateway", str(file)).status != 0
    assert "loopback" in run("gateway", "sample:trip", "--host", "0.0.0.0").stderr
