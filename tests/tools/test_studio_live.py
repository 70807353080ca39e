"""studio/: clients that follow a stream, clients that do not read it, live sources, and the command."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from tests.support.studio import PATIENCE, Client, running, until
from unspool.llm import SSEDecoder
from unspool.relay import End
from unspool.tools.cli.main import app
from unspool.tools.studio.live import Address, Command, Descriptor, is_address
from unspool.tools.studio.requests import Order, SessionOptions
from unspool.tools.studio.sessions import Session, Sessions
from unspool.tools.studio.settings import Settings
from unspool.tools.viewer.inputs import InputKind
from unspool.tools.viewer.recordings import read_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

TRIP = '{"title": "Trip to Fuji", "days": [{"subtitle": "Day 1", "n": 1}, {"subtitle": "Day 2", "n": 2}], "ok": true}'
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "days": {"type": "array"}, "ok": {"type": "boolean"}},
    "required": ["title", "days", "ok"],
}
studio_command = importlib.import_module("unspool.tools.cli.commands.studio")
QUICK = Settings(renewal=0.02, waterfall=0.02, patience=0.05, grace=2.0)


@pytest.fixture(scope="module")
def client() -> Generator[Client]:
    """One server for the tests that only ask."""
    with running(QUICK) as server:
        yield Client(server.url)


# Following.


def test_a_session_that_is_forgotten_ends_its_streams(client: Client) -> None:
    """And is not there any more, for anything."""
    session = client.session(text=TRIP)
    with client.follow(session) as follower:
        follower.read_to_finish()
        assert client.ask("DELETE", f"/api/sessions/{session}").status == 204
        follower.read_until(lambda: False)
        assert follower.is_over
        assert [event.event for event in follower][-1] == "end"
    for method, path in (("GET", "/view"), ("GET", "/stream"), ("DELETE", ""), ("PUT", "/schema")):
        assert client.ask(method, f"/api/sessions/{session}{path}", {} if method == "PUT" else None).status == 404


def test_a_stream_without_news_is_kept_alive() -> None:
    """By regular comments, which are not events."""
    with running(replace(QUICK, keep_alive=0.05)) as server:
        client = Client(server.url)
        session = client.session(text="1")
        with socket.create_connection((client.host, client.port), PATIENCE) as connection:
            connection.sendall(f"GET /api/sessions/{session}/stream HTTP/1.0\r\n{client.head}\r\n\r\n".encode())
            said = b""
            while said.count(b"\n\n: ") < 1 or not said.endswith(b"\n\n"):
                said += connection.recv(65536)
        assert client.ask("HEAD", f"/api/sessions/{session}/stream").status == 200
        assert len(SSEDecoder().feed(said.partition(b"\r\n\r\n")[2])) == 1
        assert b"retry: 1000\n" in said


WRITER = """
import sys, time
sys.stdout.write('{"days": [')
for number in range(int(sys.argv[1])):
    sys.stdout.write((', ' if number else '') + '{"n": %d, "title": "Day %d"}' % (number, number))
    sys.stdout.flush()
    time.sleep(float(sys.argv[2]))
sys.stdout.write(']}' if len(sys.argv) < 4 else '')
sys.stdout.flush()
time.sleep(60 if len(sys.argv) > 3 and sys.argv[3] == 'stay' else 0)
sys.exit(3 if len(sys.argv) > 3 and sys.argv[3] == 'fail' else 0)
"""


def writer(*words: object) -> Order:
    """A live session of a command that writes days, one after another."""
    return Order("days", SessionOptions(), source=Command([sys.executable, "-c", WRITER, *map(str, words)]))


def test_a_command_is_followed_and_whoever_comes_back_misses_nothing() -> None:
    """Patches alone lead to the final document, over any number of connections."""
    with running(QUICK, writer(30, 0.02)) as server:
        client = Client(server.url)
        session = client.ask("GET", "/api/info").json["live"]
        names: list[str | None] = []
        document: Any = None
        last: str | None = None
        while document is None or not document["is_finished"]:
            with client.follow(session, last) as follower:
                follower.document = document
                follower.read_until(
                    lambda: len(follower.events) >= 3 or bool((follower.document or {}).get("is_finished"))
                )
                names += [event.event for event in follower]
                document, last = follower.document, follower.last
        assert names == ["snapshot", *["patch"] * (len(names) - 1)]
        assert len(names) > 3
        assert document == client.document(session)
        assert document["tracks"][0]["is_complete"]
        assert (document["is_live"], document["is_timed"], document["problem"]) == (False, True, None)
        assert document["duration"] > 0.3
        assert json.loads(client.view(session)["text"]["chars"])["days"][29] == {"n": 29, "title": "Day 29"}


def test_who_comes_back_too_late_gets_the_whole_document() -> None:
    """The relay keeps the last patches only; a place that was never given counts as too late."""
    with running(replace(QUICK, log_patches=3)) as server:
        client = Client(server.url)
        session = client.session(text="[1]")
        with client.follow(session) as follower:
            follower.read_to_finish()
            for number in range(6):
                schema = None if number % 2 else {"type": "array"}
                assert client.ask("PUT", f"/api/sessions/{session}/schema", {"schema": schema}).status == 204
                follower.read_until(lambda: len(follower.events) == number + 2)  # noqa: B023 - it is called here
            for place, name in ((0, "snapshot"), (2, "snapshot"), (4, "patch")):
                with client.follow(session, follower.events[place].id) as late:
                    late.document = follower.document
                    late.read_until(lambda: bool(late.events))
                    assert late.events[0].event == name
            for other in ("0", "99-1", "x"):
                with client.follow(session, other) as late:
                    assert late.read_to_finish() == follower.document


def test_a_session_that_is_forgotten_leaves_nothing_behind() -> None:
    """Its followers see the end, and no task stays."""

    async def whole() -> None:
        sessions = Sessions(Settings())
        for is_late in (False, True):
            entry = await sessions.load("a text", b'{"title": "Fuji"}', SessionOptions())
            follower = sessions.relay.follow(entry.session.id)
            news = [] if is_late else [await anext(follower)]
            assert await sessions.delete(entry.session.id)
            await sessions.close()
            news += [step async for step in follower]
            assert isinstance(news[-1], End)
            assert news[-1].state == entry.document
        await sessions.relay.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(whole())


def test_a_command_that_fails_says_so() -> None:
    """Its output is shown; the problem is its status, or the reason why it did not start."""
    with running(QUICK, writer(2, 0, "fail")) as server:
        client = Client(server.url)
        with client.follow(client.ask("GET", "/api/info").json["live"]) as follower:
            document = follower.read_to_finish()
        assert document["problem"] == "the command ended with status 3"
        assert document["characters"] > 20
    with running(QUICK, Order("none", SessionOptions(), source=Command(["/nowhere/absent"]))) as server:
        client = Client(server.url)
        with client.follow(client.ask("GET", "/api/info").json["live"]) as follower:
            assert "absent" in follower.read_to_finish()["problem"]


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip() not in ("", "Z", "Zs")


def test_a_live_session_that_is_forgotten_ends_its_command(tmp_path: Path) -> None:
    """Together with what the command has started; and so does the end of the server."""
    script = "import os, subprocess, sys; child = subprocess.Popen(['sleep', '60']);"
    script += "print([os.getpid(), child.pid], flush=True); child.wait()"
    order = Order("pids", SessionOptions(), source=Command([sys.executable, "-c", script]))

    def pids(client: Client) -> list[int]:
        session = client.ask("GET", "/api/info").json["live"]
        until(lambda: client.view(session)["text"]["chars"].endswith("]\n"), "the ids of the processes")
        return list(json.loads(client.view(session)["text"]["chars"]))

    with running(QUICK, order) as server:
        client = Client(server.url)
        processes = pids(client)
        assert all(map(alive, processes))
        assert client.ask("DELETE", f"/api/sessions/{server.studio.opened}").status == 204
        until(lambda: not any(map(alive, processes)), "the end of the processes")
        assert client.ask("GET", "/api/info").json["live"] is None
    with running(QUICK, order) as server:
        processes = pids(Client(server.url))
    until(lambda: not any(map(alive, processes)), "the end of the processes")


def test_a_live_source_is_not_read_without_end() -> None:
    """At the limit it is ended, and what came is shown."""
    order = Order("yes", SessionOptions(), source=Command(["sh", "-c", "echo '['; yes '1,'"]))
    with running(replace(QUICK, body=30_000), order) as server:
        client = Client(server.url)
        with client.follow(client.ask("GET", "/api/info").json["live"]) as follower:
            document = follower.read_to_finish()
        assert "30,000 bytes" in document["problem"]
        assert document["characters"] == 30_000


class Origin(BaseHTTPRequestHandler):
    """A server to look at. It tells when its client has gone."""

    gone: threading.Event

    def do_GET(self) -> None:
        if self.path in ("/file", "/ftp"):
            self.send_response(302)
            self.send_header("Location", f"{self.path[1:]}://localhost/etc/passwd")
            self.end_headers()
            return
        if self.path == "/there":
            self.send_response(302)
            self.send_header("Location", "/days")
            self.end_headers()
            return
        if self.path == "/absent":
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        for piece in (b'{"days": ["one", ', b'"two"', b"]}"):
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(0.02)
        if self.path == "/endless":
            self.connection.settimeout(PATIENCE)
            if not self.connection.recv(1):
                self.gone.set()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def origin() -> Generator[tuple[str, threading.Event]]:
    gone = threading.Event()
    handler = type("Handler", (Origin,), {"gone": gone})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", gone
        finally:
            server.shutdown()
            thread.join(PATIENCE)


def test_an_address_is_followed(client: Client) -> None:
    """As it comes, after redirects to other web addresses, and to nothing else."""
    with origin() as (url, gone):
        for path in ("/days", "/there"):
            session = client.session(url=url + path)
            with client.follow(session) as follower:
                document = follower.read_to_finish()
            assert (document["problem"], document["is_live"], document["title"]) == (None, False, url + path)
            assert json.loads(client.view(session)["text"]["chars"]) == {"days": ["one", "two"]}
        for path, words in (("/absent", "status 404"), ("/file", "status 302"), ("/ftp", "not http or https")):
            with client.follow(client.session(url=url + path)) as follower:
                assert words in follower.read_to_finish()["problem"]
        session = client.session(url=url + "/endless")
        until(lambda: client.view(session)["text"]["chars"].endswith("}"), "what the server sends")
        assert not gone.is_set()
        assert client.ask("DELETE", f"/api/sessions/{session}").status == 204
        assert gone.wait(PATIENCE)
    with client.follow(client.session(url=url)) as follower:
        assert follower.read_to_finish()["problem"]


@pytest.mark.parametrize("text", ["http://localhost/x", "https://[::1]:80/"])
def test_addresses_are_those_of_the_web(text: str) -> None:
    """Nothing else is opened."""
    assert is_address(text)
    assert not is_address(text.replace("http", "gopher"))


def test_what_is_live_goes_last_and_what_the_command_line_asked_for_stays() -> None:
    """A live session without followers is dropped last, and its connection ends."""
    with running(replace(QUICK, sessions=3), writer(3, 0.01)) as server, origin() as (url, gone):
        client = Client(server.url)
        live = client.session(url=url + "/endless")
        until(lambda: client.view(live)["text"]["chars"].endswith("}"), "what the server sends")
        one = client.session(text="1")
        two = client.session(text="2")
        names = (live, one, two, str(server.studio.opened))
        assert [client.ask("GET", f"/api/sessions/{name}/view").status for name in names] == [200, 404, 200, 200]
        with client.follow(two) as follower:
            follower.read_to_finish()
            client.session(text="3")
        assert [client.ask("GET", f"/api/sessions/{name}/view").status for name in names] == [404, 404, 200, 200]
        assert gone.wait(PATIENCE)


def test_a_live_session_ends_whatever_breaks(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Also where the fault is ours: it says so, and is over."""

    def broken(self: Session, time: float, data: bytes) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr(Session, "take", broken)
    with running(QUICK, writer(1, 0)) as server:
        client = Client(server.url)
        with client.follow(str(server.studio.opened)) as follower:
            document = follower.read_to_finish()
    assert (document["is_live"], "internal error" in document["problem"]) == (False, True)
    assert "ZeroDivisionError" in caplog.text


# Clients that do not read.


def test_a_client_that_does_not_read_is_sent_away() -> None:
    """After a while its connection is closed; the others do not notice, and when it comes back it misses nothing."""
    settings = replace(QUICK, stall=0.3, send_buffer=4096, slice=2048)
    text = json.dumps({f"key {number}": number for number in range(1500)})
    with running(settings, writer(20, 0.02, "stay")) as server:
        client = Client(server.url)
        session = client.session(text=text)
        stalled = client.follow(session, receive_buffer=4096, headers="X-Forwarded-For: 192.0.2.1\r\n")
        with client.follow(session) as healthy:
            whole = healthy.read_to_finish()
        until(lambda: server.studio.sessions.relay.metrics["evicted"] == 1, "the eviction")
        until(lambda: not server.studio.sessions.relay.followers(), "the end of both")
        stalled.read_until(lambda: False)
        assert stalled.is_over
        assert stalled.document is None  # half an event does not count
        stalled.close()
        with client.follow(session, stalled.last) as again:
            assert again.read_to_finish() == whole
        assert client.ask("GET", "/api/info").json["streams"]["evicted"] == 1


def test_the_server_stops_at_once_whoever_is_connected() -> None:
    """Streams that are idle, streams that do not read, sessions that are live."""
    settings = replace(QUICK, send_buffer=4096, slice=2048, grace=30.0)
    with running(settings, writer(5, 0.01, "stay")) as server:
        client = Client(server.url)
        session = client.session(text=json.dumps({f"key {number}": number for number in range(1500)}))
        followers = [client.follow(session, receive_buffer=4096) for _ in range(3)]
        idle = client.follow(str(server.studio.opened))
        idle.read_until(lambda: bool(idle.events))
        until(lambda: server.studio.sessions.relay.followers() == 4, "all to be there")
        begin = time.monotonic()
    assert time.monotonic() - begin < 15  # well below the grace
    idle.read_until(lambda: False)
    assert idle.is_over
    for follower in [*followers, idle]:
        follower.close()


# The command.


def command(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "unspool", "studio", "--no-browser", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb"},
    )


def test_the_command_opens_what_it_is_told_to_and_ends_with_control_c(tmp_path: Path) -> None:
    """Standard input is live; the exit status is that of an interruption, without further output."""
    process = command("-")
    try:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().split()[-1]
        client = Client(url)
        session = client.ask("GET", "/api/info").json["live"]
        process.stdin.write('[1, "tw')
        process.stdin.flush()
        with client.follow(session) as follower:
            follower.read_until(lambda: bool(follower.document) and follower.document["characters"] == 7)
            assert follower.document["is_live"]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (130, "", "")
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What the command would open for some words."""
    orders: list[Any] = []
    monkeypatch.setattr(studio_command, "_serve", lambda order, *_, **__: orders.append(order))

    def order(*words: str) -> Any:
        monkeypatch.setattr(sys, "argv", ["unspool", "studio", *words])
        result = CliRunner().invoke(app, ["studio", *words])
        assert result.exit_code == 0, result.output
        return orders.pop()

    return order


def test_the_command_opens_all_kinds_of_things(ordered: Callable[..., Any], tmp_path: Path) -> None:
    """A file, an address, a sample, a pipe, a command behind two dashes; or nothing."""
    file, schema = tmp_path / "trip.json", tmp_path / "schema.json"
    file.write_text(TRIP)
    file.chmod(0o700)  # so that it could be a program, too
    schema.write_text(json.dumps(SCHEMA))
    assert ordered() is None
    order = ordered(str(file), "--schema", str(schema), "--cut", "7", "--extract", "--input", "json")
    assert (order.title, order.data) == ("trip.json", TRIP.encode())
    assert order.options == SessionOptions(InputKind.JSON, None, 7, True, SCHEMA)
    assert isinstance(ordered("http://localhost:1/x").source, Address)
    assert ordered("sample:trip").data == read_sample("trip")
    assert ordered("--", "ls", "-l").title == "ls -l"
    assert isinstance(ordered("--", str(file)).source, Command)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0):
        assert isinstance(ordered(str(pipe)).source, Descriptor)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["absent.json"], 2, "there is no file"),
        (["sample:absent"], 1, "there is no sample"),
        (["one.json", "two.json"], 2, "one file or address"),
        (["--host", "0.0.0.0"], 2, "--allow-remote"),
        (["--format", "unknown", "-"], 2, "openai-chat"),
        (["--schema", "SCHEMA", "-"], 2, "JSON Schema must be valid JSON"),
        (["--host", "192.0.2.1", "--allow-remote"], 2, "assign"),
    ],
)
def test_the_command_says_what_it_cannot_do(words: list[str], status: int, said: str, tmp_path: Path) -> None:
    """On standard error, with an exit status."""
    schema = tmp_path / "schema.json"
    schema.write_text("{")
    given = [str(schema) if word == "SCHEMA" else word for word in words]
    result = CliRunner().invoke(app, ["studio", "--no-browser", *given])
    assert result.exit_code == status, result.output
    assert said in result.output


def test_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not there."""
    monkeypatch.setattr(studio_command, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["studio"])
    assert result.exit_code == 2
    assert "pip install 'unspool[studio]'" in result.output
