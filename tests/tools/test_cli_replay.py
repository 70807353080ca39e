"""`unspool replay`: a recording to standard output, and to the clients that people use, which cannot tell it from life.

The server is tried in this process, where the clock can be a false one, and as a process, with the real libraries.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, IncompleteRead
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from pydantic import BaseModel

from tests.support.running import PATIENCE, hear, hear_line, run, started
from tests.support.scripts import Call, Script
from unspool.llm import Fault, MessageError, MessageStream, iter_sse
from unspool.llm._formats.registry import FORMATS
from unspool.tools.cli.arrivals import Clock, paced
from unspool.tools.cli.local_server import LocalRequest, Refusal, is_loopback
from unspool.tools.cli.replay_server import ENDPOINTS, ReplayServer, Streams, error_body, refusal_of, variables
from unspool.tools.viewer.playback import Wire, pieces_of, wire_of
from unspool.tools.viewer.recordings import HEADER, Arrival

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Trip(BaseModel):
    """The structured output."""

    title: str
    days: int


STRUCTURED = Script(('{"title": "Fi', 'ji 😀", "da', 'ys": 3}'))
CALLING = Script(("Let me ", "see 😀."), (Call("call_1", "weather", ('{"ci', 'ty": "Su', 'va"}')),))
ASKED: list[Any] = [{"role": "user", "content": "Where?"}]
STREAM = b'{"stream": true}'


def written(folder: Path, format: str, script: Script) -> Path:
    """A recording of chunks in a file."""
    file = folder / f"{format}.jsonl"
    file.write_text("".join([json.dumps(chunk) + "\n" for chunk in script.write(format)]))
    return file


def timed(*pieces: tuple[float, str]) -> bytes:
    """A recording with times."""
    lines = [json.dumps({"t": time, "text": text}) + "\n" for time, text in pieces]
    return (HEADER + "".join(lines)).encode()


# To standard output.


@pytest.mark.parametrize(
    "data",
    [b"", HEADER.encode(), b'{"a": [1, 2,', b"data: 1\n\ndata: 2", b'{"a": 1}\r\n\r\n{"a": 2}', b"\xff\x00"],
)
def test_the_bytes_are_those_that_came(data: bytes) -> None:
    """Whatever it is, complete or not: replaying changes nothing, and complains about nothing."""
    expected = b"" if data == HEADER.encode() else data
    assert run("replay", "--speed", 0, "--cut", 3, data=data) == (0, expected, "")


def test_so_many_pieces_and_no_more() -> None:
    """--drop-after is what a connection that drops looks like."""
    recording = timed((0, "a"), (0, "b"), (0, "c"))
    assert run("replay", "--drop-after", 2, data=recording) == (0, b"ab", "")
    assert run("replay", "--drop-after", 0, data=recording) == (0, b"", "")


def test_a_broken_recording_is_played_as_far_as_it_goes() -> None:
    """Then the error is reported, with its line."""
    recording = timed((0, "a"), (0, "b")) + b"\n{oops\n" + b'{"t": 1, "text": "c"}\n'
    assert run("replay", data=recording) == (1, b"ab", "unspool: standard input: line 5 of the recording: not JSON\n")
    assert run("replay", data=timed((0, "a"))[:-4]) == (
        1,
        b"",
        "unspool: standard input: line 2 of the recording: it ends here, in the middle\n",
    )


USAGE = {
    "--once": "are for --serve",
    "--requests 2": "are for --serve",
    "--port 0": "are for --serve",
    "--host localhost": "are for --serve",
    "--allow-remote": "are for --serve",
    "--speed nan": "--speed",
    "--serve --host 0.0.0.0": "use --allow-remote to let other machines connect",
    "--serve --host example.com": "use --allow-remote to let other machines connect",
    "--serve --port 65536": "--port",
    "--format nobody": "--format",
    "missing.jsonl": "missing.jsonl",
}


@pytest.mark.parametrize("options", USAGE)
def test_what_does_not_go_together_is_told(options: str) -> None:
    """Before anything is read or served."""
    done = run("replay", *options.split(), data=b"{}")
    assert (done.status, done.stdout) == (2, b"")
    assert USAGE[options] in done.stderr


def test_what_cannot_be_served_is_told() -> None:
    """Nothing, a broken recording, and a port in use."""
    assert run("replay", "--serve", data=HEADER.encode()) == (
        1,
        b"",
        "unspool: standard input: the input is empty\n",
    )
    broken = b'{"choices": []}\n{oops\n'
    assert run("replay", "--serve", data=broken) == (1, b"", "unspool: standard input: line 2: not JSON\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("replay", "--serve", "--port", port, data=b"{}")
    assert (done.status, done.stdout) == (1, b"")
    assert f"127.0.0.1, port {port}: " in done.stderr


def test_ctrl_c_ends_a_replay_and_so_does_a_closed_pipe() -> None:
    """At once, in the middle of a pause; with nothing on standard error."""
    with started("replay") as process:
        assert process.stdin is not None
        process.stdin.write(timed((0, "one"), (10_000, "two")))
        process.stdin.close()
        assert hear(process.stdout, 3) == b"one"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    with started("replay", "--speed", "0") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(timed((0, "one"), (0, "two")))
        process.stdin.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


# The timing.


class FalseClock:
    """A clock that only advances when it sleeps."""

    def __init__(self) -> None:
        self.time = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def clock(self) -> Clock:
        return Clock(lambda: self.time, self.sleep)


PIECES = [Arrival(0.0, b"a"), Arrival(0.5, b"b"), Arrival(0.5, b"c"), Arrival(2.0, b"d")]


def arriving(pieces: list[Arrival], speed: float, false: FalseClock) -> Iterator[tuple[float, bytes]]:
    """Each piece, with the time at which it comes."""
    for data in paced(pieces, speed, false.clock()):
        yield round(false.time - 100.0, 6), data


@pytest.mark.parametrize(
    ("speed", "times"), [(1.0, [0, 0.5, 0.5, 2]), (2.0, [0, 0.25, 0.25, 1]), (0.5, [0, 1, 1, 4]), (0.0, [0, 0, 0, 0])]
)
def test_pieces_come_at_their_times(speed: float, times: list[float]) -> None:
    """Pieces play `speed` times as fast as recorded; with 0, at once."""
    assert list(arriving(PIECES, speed, FalseClock())) == list(zip(times, [b"a", b"b", b"c", b"d"], strict=True))


def test_who_is_slow_delays_nobody() -> None:
    """Time that was lost with one piece is not waited for again with the next."""
    false, times = FalseClock(), []
    for at, piece in arriving(PIECES, 1.0, false):
        times.append(at)
        if piece == b"b":
            false.time += 1.0
    assert times == [0, 0.5, 1.5, 2]


def test_eternity_is_slept_in_parts() -> None:
    """In short ones: a sleep can miss a Ctrl-C that came just before it."""
    false = FalseClock()
    assert list(arriving([Arrival(1_000.0, b"a")], 1.0, false)) == [(1_000.0, b"a")]
    assert max(false.slept) <= 0.25


# The server, in this process.


@contextmanager
def stage(wire: Wire | None = None, **options: Any) -> Iterator[ReplayServer]:
    """A server that is running; at once, unless a clock is given."""
    chunks = "".join([json.dumps(chunk) + "\n" for chunk in CALLING.write("openai-chat")])
    wire = wire or wire_of(list(pieces_of([chunks.encode()])))
    options = {"speed": 0.0, **options} if "clock" not in options else options
    with ReplayServer(wire, **options) as server, running(server):
        yield server


@contextmanager
def running(server: ReplayServer) -> Iterator[threading.Thread]:
    """The thread that it serves in."""
    thread = threading.Thread(target=server.serve, daemon=True)
    with mock.patch("unspool.tools.cli.local_server.TICK", 0.005):
        thread.start()
        try:
            yield thread
        finally:
            server.shutdown()
            thread.join(PATIENCE)
            assert not thread.is_alive()


def ask(
    server: ReplayServer, method: str = "POST", path: str = "/v1/chat/completions", body: bytes = STREAM, **headers: str
) -> tuple[int, bytes]:
    """The status and the body of the answer."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def raw(server: ReplayServer, request: bytes) -> bytes:
    """All that is answered to these bytes."""
    with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as connection:
        connection.sendall(request)
        answer = b""
        while block := connection.recv(65536):
            answer += block
    return answer


def test_the_clock_of_the_server_is_that_of_the_recording() -> None:
    """Frames are sent at their times, and the request is the beginning of time."""
    false = FalseClock()
    wire = Wire("text/plain", tuple(PIECES))
    with stage(wire, clock=false.clock(), speed=2.0) as server:
        assert ask(server) == (200, b"abcd")
    assert sum(false.slept) == pytest.approx(1.0)


def test_whether_it_is_there() -> None:
    """GET /healthz says what is played; there is nothing else to get."""
    with stage() as server:
        status, body = ask(server, "GET", "/healthz")
        known = json.loads(body)
        assert (status, known["status"], known["format"], known["pieces"]) == (
            200,
            "ok",
            "openai-chat",
            len(server.wire.frames),
        )
        status, body = ask(server, "GET", "/v1/models")
        assert (status, "healthz" in json.loads(body)["error"]["message"]) == (404, True)
        assert ask(server, "PUT", "/healthz")[0] == 501


WARNING = b"unspool: this server has no token: every user of this machine can read the recording\n"

FORBIDDEN: dict[str, dict[str, Any]] = {
    "another name": {"Host": "rebound.example"},
    "another name that looks like it": {"Host": "127.0.0.1.example:80"},
    "no name": {"Host": ""},
    "an invalid name": {"Host": "[::1"},
    "a user beside the name": {"Host": "localhost@rebound.example"},
    "a user before the name": {"Host": "x@localhost"},
    "a path behind the name": {"Host": "localhost/x"},
    "another page": {"Origin": "https://example.com"},
    "a page from nowhere": {"Origin": "null"},
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_pages_of_others_are_not_served(name: str) -> None:
    """A page in a browser can send requests to this machine, and can give it a name; it learns nothing."""
    with stage() as server:
        for method, path in (("GET", "/healthz"), ("POST", "/v1/chat/completions")):
            status, body = ask(server, method, path, **FORBIDDEN[name])
            assert (status, b"only accepts local requests" in body) == (403, True)
    with stage(is_open=True) as server:
        is_named = not any(word in name for word in ("no name", "invalid", "user", "path"))
        assert ask(server, **FORBIDDEN[name])[0] == (200 if is_named else 403)


@pytest.mark.parametrize("name", ["localhost", "localhost:1", "127.0.0.1", "127.0.0.2:80", "[::1]:80"])
def test_this_machine_has_many_names(name: str) -> None:
    """All that mean loopback, whatever the port is called; pages that were loaded from there are its own."""
    with stage() as server:
        assert ask(server, Host=name, Origin=f"http://{name}")[0] == 200


def test_requests_have_a_size() -> None:
    """Requests that are too large or have no length are refused, and the client can read the answer."""
    with stage() as server:
        assert ask(server, body=STREAM + b" " * (LocalRequest.max_size - len(STREAM)))[0] == 200
        status, body = ask(server, body=b" " * (LocalRequest.max_size + 1))
        assert (status, json.loads(body)["error"]["type"]) == (413, "invalid_request_error")
        assert ask(server, Transfer_Encoding="chunked", body=b"0\r\n\r\n")[0] == 411
        assert ask(server, Content_Length="-1")[0] == 400
        assert ask(server, Content_Length="9" * 30)[0] == 400


def test_half_a_request_is_none() -> None:
    """A client that stops in the middle of its request gets no stream, and does not count."""
    with stage(times=1) as server:
        with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 5\r\nHost: localhost\r\n\r\n12")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        assert ask(server)[0] == 200


def test_old_clients_are_served() -> None:
    """Those of HTTP/1.0 know no chunks: the end of the connection is the end."""
    with stage(Wire("text/plain", tuple(PIECES))) as server:
        answer = raw(server, b"POST / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert answer.endswith(b"\r\n\r\nabcd")
        assert b"chunked" not in answer


def test_a_connection_can_be_dropped() -> None:
    """The connection drops after N frames; the client notices that the end is missing."""
    with stage(Wire("text/plain", tuple(PIECES)), drop_after=3) as server, pytest.raises(IncompleteRead) as caught:
        ask(server)
    assert caught.value.partial == b"abc"


def test_so_often_and_no_more() -> None:
    """Refused requests do not count; after the last one, the server stops by itself."""
    with ReplayServer(Wire("text/plain", tuple(PIECES)), times=2, speed=0.0) as server, running(server) as thread:
        assert ask(server, body=b'{"stream": false}')[0] == 400
        assert ask(server, "GET", "/healthz")[0] == 200
        assert [ask(server)[0], ask(server)[0]] == [200, 200]
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_whoever_comes_too_late_is_told() -> None:
    """While the last one is still served; with a status after which clients do not try again."""
    is_asleep, goes_on = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        is_asleep.set()
        assert goes_on.wait(PATIENCE)

    times = iter([0.0, 0.0, 10.0])
    wire = Wire("text/plain", (Arrival(1.0, b"a"),))
    with stage(wire, times=1, clock=Clock(lambda: next(times), sleep)) as server, ThreadPoolExecutor() as pool:
        first = pool.submit(ask, server)
        assert is_asleep.wait(PATIENCE)
        assert ask(server)[0] == 410
        goes_on.set()
        assert first.result(PATIENCE) == (200, b"a")


def test_there_is_room_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """More clients at once than there are threads for are sent away, and may come again."""
    monkeypatch.setattr("unspool.tools.cli.local_server.MAX_CONNECTIONS", 1)
    with stage() as server:
        with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as idle:
            assert raw(server, b"").startswith(b"HTTP/1.1 503 ")
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert idle.recv(100).startswith(b"HTTP/1.1 200 ")
        end, answer = time.monotonic() + PATIENCE, b""
        while b" 200 " not in answer:
            assert time.monotonic() < end
            with suppress(ConnectionError):  # a refused client may not get the answer
                answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_clients_that_leave_are_not_worth_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    """In the middle of a request, or of the answer."""
    frames = tuple([Arrival(0.0, b"x" * 1_000_000) for _ in range(20)])
    with ReplayServer(Wire("text/plain", frames), times=2, speed=0.0) as server, running(server) as thread:
        for request in (b"POST /", b"POST / HTTP/1.1\r\nContent-Length: 5\r\nHost: localhost\r\n\r\n12"):
            with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as connection:
                connection.sendall(request)
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", server.server_port), PATIENCE) as connection:
                connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(10)
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert capfd.readouterr() == ("", "")


def test_a_fault_of_the_server_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """It is not swallowed, and the server goes on."""
    with stage() as server:
        try:
            raise ValueError("oops")
        except ValueError:
            server.handle_error(None, None)
    assert capfd.readouterr().err == "unspool: ValueError: oops\n"


@pytest.mark.parametrize("name", [None, "", "example.com", "10.0.0.1", "0.0.0.0", "127.0.0.1.example", "localhost."])
def test_what_is_not_this_machine(name: str | None) -> None:
    """Names are not looked up, because DNS could answer anything."""
    assert not is_loopback(name)


# Requests, and how they are refused.

EXAMPLES = {endpoint.format: endpoint.example for endpoint in ENDPOINTS if endpoint.example}


def test_every_format_is_served() -> None:
    """Each has a path, and a variable that sends its clients here."""
    assert set(EXAMPLES) == set(FORMATS)
    for name, path in EXAMPLES.items():
        assert refusal_of(path, STREAM, name) is None
        assert refusal_of(path, b"", name) is None
        assert "=http://here" in variables(name, "http://here")
    assert variables(None, "http://here") == "OPENAI_BASE_URL=http://here/v1 ANTHROPIC_BASE_URL=http://here"


@pytest.mark.parametrize("format", FORMATS)
def test_another_format_is_refused(format: str) -> None:
    """A client could not read the recording: the answer names its format and the path for it."""
    for other, path in EXAMPLES.items():
        refusal = refusal_of(path, STREAM, format)
        if other == format:
            assert refusal is None
        else:
            assert refusal is not None
            assert refusal.status == 400
            assert f"is one of {format}, " in refusal.reason
            assert EXAMPLES[format] in refusal.reason


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_only_streams_are_replayed(endpoint: Any) -> None:
    """Requests for a whole answer are refused; the default is that of each provider."""
    path = endpoint.example or f"/v1{endpoint.ending}"
    refused = [refusal_of(path, body, endpoint.format) is not None for body in (b"{}", b'{"stream": false}', b"[]")]
    by_body = {Streams.IF_ASKED: [True, True, True], Streams.UNLESS_ASKED_NOT: [False, True, False]}
    by_path = {Streams.ALWAYS: [False] * 3, Streams.NEVER: [True] * 3}
    assert refused == {**by_body, **by_path}[endpoint.streams]


def test_requests_that_make_no_sense_are_refused() -> None:
    """Where the body has to say something, it has to be JSON; Gemini's stream is one of events if it is asked for."""
    assert refusal_of("/v1/messages", b"{oops", "anthropic") == Refusal(400, "the request is not JSON")
    assert refusal_of("/v1/messages", b"[" * 100_000, "anthropic") == Refusal(400, "the request is not JSON")
    refusal = refusal_of("/v1beta/models/m:streamGenerateContent", b"{}", "gemini")
    assert refusal is not None
    assert "?alt=sse" in refusal.reason


def test_any_other_path_gets_the_recording() -> None:
    """And a recording of nothing in particular is given everywhere."""
    assert refusal_of("/anything", b"not JSON", "anthropic") is None
    assert refusal_of("/anything", b'{"stream": false}', "anthropic") is not None
    assert refusal_of("/openai/deployments/d/chat/completions?api-version=1", STREAM, "openai-chat") is None
    assert all(refusal_of(path, STREAM, None) is None for path in EXAMPLES.values())


ERRORS = {
    "openai-chat": {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}},
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
    "gemini": {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}},
    "cohere": {"message": "no"},
    "bedrock-converse": {"message": "no"},
    "ollama": {"error": "no"},
}


@pytest.mark.parametrize("format", ERRORS)
def test_each_is_refused_in_its_own_way(format: str) -> None:
    """In the shape that the provider's client reads."""
    assert json.loads(error_body(Refusal(400, "no"), format)) == ERRORS[format]


# The server as a process, and the clients that people use.


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine are not for this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


@contextmanager
def asking(name: str, *args: object) -> Iterator[tuple[Any, Any]]:
    """The process, and a client that uses the printed address.

    It has no key that is worth anything, one try, little patience, and no certificates.
    """
    with started("replay", "--serve", "--speed", 0, *args) as process:
        library = pytest.importorskip(name.lower())  # while the process starts
        line = hear_line(process.stdout)
        assert re.fullmatch(r"replaying on http://127\.0\.0\.1:\d+  [A-Z_]+=\S+( [A-Z_]+=\S+)*\n", line)
        url = dict(re.findall(r"([A-Z_]+)=(\S+)", line))[f"{name.upper()}_BASE_URL"]
        http_client = library.DefaultHttpxClient(trust_env=False, verify=False, timeout=PATIENCE)
        with getattr(library, name)(api_key="test", base_url=url, max_retries=0, http_client=http_client) as client:
            yield process, client


def test_a_client_of_openai_talks_to_it(tmp_path: Path) -> None:
    """Text and a tool call arrive; a whole answer, and another path, are refused in words; then the server stops."""
    with asking("OpenAI", written(tmp_path, "openai-chat", CALLING), "--requests", 2) as (process, client):

        def read(_: int) -> Any:
            return MessageStream(client.chat.completions.create(model="m", messages=ASKED, stream=True)).final()

        import openai

        with pytest.raises(openai.BadRequestError, match="only streams are replayed"):
            client.chat.completions.create(model="m", messages=ASKED)
        with pytest.raises(openai.BadRequestError, match="the recording is one of openai-chat"):
            client.responses.create(model="m", input="Where?", stream=True)
        with ThreadPoolExecutor() as pool:
            for state in pool.map(read, range(2)):
                assert (state.content, state.finish_reason) == ("Let me see 😀.", "tool_calls")
                assert [(call.name, call.value) for call in state.tool_calls] == [("weather", {"city": "Suva"})]
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == WARNING


def test_a_client_of_the_responses_api_talks_to_it(tmp_path: Path) -> None:
    """Structured output arrives, typed, partial first."""
    with asking("OpenAI", written(tmp_path, "openai-responses", STRUCTURED), "--once") as (process, client):
        source = client.responses.create(model="m", input="Where?", stream=True)
        states = list(MessageStream(source, response_schema=Trip))
        assert states[-1].content_value == Trip(title="Fiji 😀", days=3)
        assert any(state.content == STRUCTURED.pieces[0] for state in states)
        assert process.wait(PATIENCE) == 0


def test_a_client_of_anthropic_talks_to_it(tmp_path: Path) -> None:
    """A recording of the wire with times, made as `unspool record` makes it: text and a tool call arrive."""
    wire = wire_of(list(pieces_of([written(tmp_path, "anthropic", CALLING).read_bytes()])))
    file = tmp_path / "wire.jsonl"
    file.write_bytes(timed(*[(time, data.decode()) for time, data in wire.frames]))
    with asking("Anthropic", file) as (process, client):
        source = client.messages.create(model="m", max_tokens=9, messages=ASKED, stream=True)
        state = MessageStream(source).final()
        assert (state.content, state.tool_calls[0].value) == ("Let me see 😀.", {"city": "Suva"})
        import anthropic

        with pytest.raises(anthropic.BadRequestError, match="only streams are replayed"):
            client.messages.create(model="m", max_tokens=9, messages=ASKED)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == WARNING


def test_a_dropped_connection_is_an_error_with_the_last_state(tmp_path: Path) -> None:
    """The text before the drop is available."""
    with asking("Anthropic", written(tmp_path, "anthropic", CALLING), "--drop-after", 4) as (_, client):
        stream = MessageStream(client.messages.create(model="m", max_tokens=9, messages=ASKED, stream=True))
        with pytest.raises(MessageError) as caught:
            list(stream)
        assert caught.value.fault is Fault.TRANSPORT
        assert caught.value.state is not None
        assert caught.value.state.content == "Let me "


def test_ctrl_c_stops_the_server_in_the_middle_of_a_stream(tmp_path: Path) -> None:
    """The server stops at once, even with clients; it sends JSON text without a provider to any client."""
    file = tmp_path / "slow.jsonl"
    file.write_bytes(timed((0, '{"a":'), (10_000, "1}")))
    with started("replay", file, "--serve") as process:
        line = hear_line(process.stdout)
        port = int(re.findall(r":(\d+)", line)[0])
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.sendall(b"POST /v1/responses HTTP/1.0\r\nHost: localhost\r\n\r\n")
            answer = b""
            while b"data:" not in answer:
                answer += connection.recv(1000)
            (event,) = iter_sse([answer.partition(b"\r\n\r\n")[2]])
            assert event.data == '{"a":'
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
            assert process.stderr is not None
            assert process.stderr.read() == WARNING


# ---- those who connect without a token ---------------------------------------------------------------


def said(server: ReplayServer, text: bytes) -> bytes:
    """The answer to some bytes on a connection, until it closes."""
    host, port = server.server_address[:2]
    with socket.create_connection((str(host), int(port)), PATIENCE) as connection:
        connection.sendall(text)
        answer = b""
        with suppress(ConnectionResetError):
            while data := connection.recv(65536):
                answer += data
    return answer


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"200"),
        (b"GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"501"),
        (b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"403"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", b"403"),
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"403"),
        (b"GET /healthz HTTP/7.x\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET /healthz\t" + b"x" * 70_000, b"414"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", b"200"),
    ],
    ids=["health", "404", "501", "name", "two names", "no name", "version", "long", "length", "stream"],
)
def test_no_answer_may_be_sniffed(request_text: bytes, status: bytes) -> None:
    """Each answer has nosniff once, those of the standard library included; one Host header is required."""
    with stage() as server:
        answer = said(server, request_text)
    assert answer.split(b" ")[1] == status
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.lower().count(b"x-content-type-options: nosniff") == 1
    if status != b"200":
        assert b"Content-Type: application/json" in head
        assert json.loads(body)["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"), [("HEAD", "/healthz", 200), ("HEAD", "/", 404), ("BREW", "/", 501)]
)
def test_other_methods_are_answered_like_these(method: str, path: str, status: int) -> None:
    """HEAD has the head of GET; no answer is a page."""
    with stage() as server:
        head, _, body = said(server, f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()).partition(
            b"\r\n\r\n"
        )
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Type: application/json" in head
    assert body == b"" if method == "HEAD" else json.loads(body)


def test_a_full_server_says_so_without_sniffing() -> None:
    """Also the answer that no thread was started for."""
    with mock.patch("unspool.tools.cli.local_server.MAX_CONNECTIONS", 1), stage() as server:
        host, port = server.server_address[:2]
        with socket.create_connection((str(host), int(port)), PATIENCE) as first:
            first.sendall(b"GET /healthz HTTP/1.1\r\n")
            answer, end = b"", time.monotonic() + PATIENCE
            while not answer.startswith(b"HTTP/1.1 503"):
                assert time.monotonic() < end
                answer = said(server, b"")
            assert b"X-Content-Type-Options: nosniff\r\n" in answer


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n",
    ],
    ids=["nothing", "head", "body"],
)
def test_a_whole_request_has_a_deadline(begin: bytes) -> None:
    """One more byte now and then keeps no place: neither in the head of a request nor in its body."""
    with stage() as server, mock.patch.object(LocalRequest, "seconds", 0.3):
        host, port = server.server_address[:2]
        with socket.create_connection((str(host), int(port)), PATIENCE) as connection:
            connection.sendall(begin)
            connection.settimeout(0.05)
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                try:
                    if not connection.recv(1000):
                        break
                except TimeoutError:
                    with suppress(BrokenPipeError, ConnectionResetError):
                        connection.sendall(b"x" if begin else b"")
                except ConnectionResetError:
                    break
            else:
                raise AssertionError("the connection is still open")
        assert ask(server, "GET", "/healthz")[0] == 200


def test_one_line_a_minute_for_faults(capsys: pytest.CaptureFixture[str]) -> None:
    """The first is told, the others are counted."""
    with (
        stage() as server,
        mock.patch("unspool.tools.cli.local_server.monotonic", side_effect=[0.0, 1.0, 59.0, 61.0]),
    ):
        for _ in range(4):
            try:
                raise ValueError("a bug")
            except ValueError:
                server.handle_error(None, None)
    told = capsys.readouterr().err.splitlines()
    assert told == ["unspool: ValueError: a bug", "unspool: ValueError: a bug (and 2 more faults)"]


def test_who_can_read_the_recording_is_said() -> None:
    """The server has no token, and says so; with --allow-remote it names everyone who can reach it."""
    with started("replay", "sample:trip", "--serve", "--once", "--allow-remote") as process:
        hear_line(process.stdout)
        line = hear_line(process.stderr)
        assert line == "unspool: this server has no token: everyone who can reach this address can read the recording\n"
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
