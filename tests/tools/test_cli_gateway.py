"""`unspool gateway`: a recording or another server, to the clients of OpenAI and Anthropic."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, suppress
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


KINDS = {
    "anthropic": {400: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"},
    "openai-chat": {400: "invalid_request_error", 429: "rate_limit_error", 500: "server_error", 529: "server_error"},
}


@pytest.mark.parametrize("target", KINDS)
def test_a_refusal_has_the_kind_of_its_status(target: str) -> None:
    """Clients try again after a fault of the provider, but not after one of their own."""
    said = json.dumps({"error": {"message": "no", "type": "some_error"}}).encode()
    for status, kind in KINDS[target].items():
        with Replay(refusal(status, said)) as upstream, gateway(HTTPUpstream(upstream.url)) as server:
            got, _, body = ask(server, PATHS[target])
        assert (got, json.loads(body)["error"]["type"]) == (status, kind)


Behaviour = Callable[[socket.socket], None]


@contextmanager
def behaving(behave: Behaviour) -> Iterator[tuple[str, list[bytes]]]:
    """A server that reads one request and then does this with its connection: its address, and what it was sent."""
    seen: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(PATIENCE)
            data = b""
            while STREAM not in data:
                data += connection.recv(4096)
            seen.append(data)
            behave(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1?key=secret", seen
        thread.join(PATIENCE)
        assert not thread.is_alive()


def saying(answer: bytes) -> AbstractContextManager[tuple[str, list[bytes]]]:
    """A server that sends these bytes."""
    return behaving(lambda connection: connection.sendall(answer))


HEAD = b"HTTP/1.1 %d X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("begin", [b"", HEAD % 200, HEAD % 429 + b"{"])
@pytest.mark.parametrize("more", [b"", b"\r\n"])
def test_a_client_that_leaves_early(begin: bytes, more: bytes) -> None:
    """The upstream knows at once: before it has answered, before the stream begins, and in the middle of a refusal.

    A client may send more than its request, as some send an empty line.
    """
    has_begun, is_left = threading.Event(), threading.Event()

    def hold(connection: socket.socket) -> None:
        connection.sendall(begin)
        has_begun.set()
        if connection.recv(1) == b"":
            is_left.set()

    with behaving(hold) as (url, _), gateway(HTTPUpstream(url)) as server:
        with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as client:
            client.sendall(request_text() + more)
            assert has_begun.wait(PATIENCE)
        assert is_left.wait(PATIENCE)


@pytest.mark.parametrize("status", [204, 302])
def test_an_answer_without_a_stream_is_none(status: int) -> None:
    """A redirect is not followed, because it would take the keys along."""
    with saying(HEAD % status) as (url, _), gateway(HTTPUpstream(url)) as server:
        got, _, body = ask(server, PATHS["openai-chat"])
    assert got == 502
    assert str(status) in json.loads(body)["error"]["message"]
    assert b"secret" not in body


def test_a_refusal_has_an_end() -> None:
    """The gateway reads a part of a refusal that is endless, and hangs up."""

    def go_on(connection: socket.socket) -> None:
        connection.sendall(HEAD % 500)
        with suppress(OSError):
            while True:
                connection.sendall(b"x" * 65536)

    with behaving(go_on) as (url, _), gateway(HTTPUpstream(url)) as server:
        assert ask(server, PATHS["anthropic"])[0] == 500


def test_a_refusal_says_when_to_come_again() -> None:
    """Clients wait for as long as the provider says."""
    head = b"HTTP/1.1 429 X\r\nRetry-After: 7\r\nRetry-After-Ms: 7\r\n X: 1\r\nSet-Cookie: a=b\r\n"
    with saying(head + b"Connection: close\r\n\r\n") as (url, _), gateway(HTTPUpstream(url)) as server:
        answer = told(server, request_text())
    assert answer.startswith(b"HTTP/1.1 429 ")
    assert b"\r\nretry-after: 7\r\n" in answer
    assert b"cookie" not in answer.lower()
    assert b"X: 1" not in answer


def test_an_upstream_gets_the_keys_alone() -> None:
    """The headers that name an account go on; cookies and the like are not for the upstream."""
    given = {"Authorization": "Bearer k", "OpenAI-Organization": "org", "Cookie": "c=d", "X-Forwarded-For": "10.0.0.1"}
    with saying(HEAD % 200) as (url, seen), gateway(HTTPUpstream(url)) as server:
        ask(server, PATHS["openai-chat"], STREAM, given)
    (sent,) = seen
    assert sent.startswith(b"POST /v1?key=secret HTTP/1.1\r\n")
    assert b"authorization: Bearer k\r\n" in sent
    assert b"openai-organization: org\r\n" in sent
    assert b"cookie" not in sent.lower()
    assert b"10.0.0.1" not in sent


@pytest.mark.parametrize(
    "url",
    [
        *("http:///v1?key=secret", "http://127.0.0.1:x/?key=secret", "http://127.0.0.1:99999/?key=secret"),
        *("http://127.0.0.1:9/a b?key=secret", "http://127.0.0.1:9/é?key=secret", "http://a..b/?key=secret"),
    ],
)
def test_an_address_is_checked_before_anyone_asks(url: str) -> None:
    """An error would come with each request, and would tell the key in the address."""
    ran = run("gateway", url)
    assert ran.status == 2
    assert "the address of the upstream" in ran.stderr
    assert "secret" not in ran.stderr.replace(url, "")


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


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(("path", "status"), [(PATHS["openai-chat"], 405), ("/v1/models", 404)])
def test_only_post_is_answered(method: str, path: str, status: int) -> None:
    """Other methods have an answer in the shape of the protocol, too; that of HEAD has no body."""
    with gateway(recorded("anthropic")) as server:
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
        connection.request(method, path, STREAM if method in {"PUT", "PATCH"} else None)
        response = connection.getresponse()
        assert (response.status, response.getheader("Allow")) == (status, "POST" if status == 405 else None)
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        body = response.read()
        assert body == b"" if method == "HEAD" else json.loads(body)["error"]["message"]
        connection.close()


def told(server: GatewayServer, sent: bytes) -> bytes:
    """What the gateway answers to these bytes."""
    with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as connection:
        connection.sendall(sent)
        answer = b""
        while block := connection.recv(4096):
            answer += block
    return answer


def request_text(path: str = "/v1/messages", host: str = "localhost") -> bytes:
    """A whole request."""
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(STREAM)}\r\n\r\n"
    return head.encode() + STREAM


def test_a_path_that_is_no_address(capsys: pytest.CaptureFixture[str]) -> None:
    """A broken address in place of a path is an unknown path."""
    with gateway(recorded("anthropic")) as server:
        assert told(server, request_text("http://[oops/v1/messages")).startswith(b"HTTP/1.1 404 ")
        assert told(server, request_text(host="LocalHost:8000")).startswith(b"HTTP/1.1 200 ")
    assert capsys.readouterr().err == ""


def test_pages_of_others_take_no_memory() -> None:
    """The body of a request that is not local is read, so that the page can read the answer, but not kept."""
    with gateway(recorded("anthropic")) as server, mock.patch.object(_GatewayRequest, "max_size", 5):
        assert ask(server, PATHS["anthropic"], STREAM, {"Host": "example.org"})[0] == 403
        assert ask(server, PATHS["anthropic"], STREAM)[0] == 413


def test_a_thread_that_does_not_start_keeps_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    """Its place goes to the next client."""
    with (
        mock.patch("unspool.tools.cli.local_server.MAX_CONNECTIONS", 1),
        gateway(recorded("anthropic")) as server,
    ):
        with mock.patch("socketserver.threading.Thread.start", side_effect=RuntimeError("no more threads")):
            assert told(server, b"") == b""
        assert ask(server, PATHS["anthropic"])[0] == 200
    assert "no more threads" in capsys.readouterr().err


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
        status = 503
        while status != 200:
            assert status == 503
            assert time.monotonic() < end
            with suppress(BrokenPipeError, ConnectionResetError):  # it was refused before it had sent all
                status = ask(server, PATHS["anthropic"])[0]


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
