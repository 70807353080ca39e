"""`unspool relay`: publish, follow, status and cancel, with a Redis and without one."""

from __future__ import annotations

import json
import signal
import threading
import urllib.request
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support import running
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.running import hear_line, run, say, started
from unspool import UnspoolError
from unspool.patch import apply
from unspool.relay import RedisLog
from unspool.tools.cli import relay_follow

pytestmark = pytest.mark.either
PATIENCE = 90.0  # seconds: two processes start, on a busy machine


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of a pipe may take as long."""
    monkeypatch.setattr(running, "PATIENCE", PATIENCE)


CHUNK = b'{"message": {"role": "assistant", "content": "Hel\\u001b[2Jlo"}, "done": false}\n'
LAST = b'{"message": {"content": ", world"}, "done": true, "done_reason": "stop"}\n'


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.decode().splitlines()]


def document_in(found: list[Any]) -> Any:
    """The document that JSON lines make."""
    document: Any = None
    for line in found:
        if line["type"] == "snapshot":
            document = line["document"]
        elif line["type"] == "patch":
            document = apply(document, line["patch"])
    return document


@needs_redis
def test_a_recording_is_published_and_followed(redis: RedisServer) -> None:
    """The follower prints the text of the message; with --json, lines that make its document."""
    published = run("relay", "publish", "tools", "sample:weather-tools", "--speed", 0, "--redis", redis.url)
    assert (published.status, published.stderr) == (0, "")
    text = run("relay", "follow", "tools", "--redis", redis.url)
    assert text.status == 0
    found = lines(run("relay", "follow", "tools", "--json", "--redis", redis.url).stdout)
    assert [line["type"] for line in found] == ["snapshot", "end"]
    assert found[-1]["status"] == "done"
    document = document_in(found)
    said = "".join([part["text"] for part in document["parts"] if part["type"] == "text"])
    assert text.stdout.decode().strip() == said.strip()
    assert document["is_complete"]
    assert any(part["type"] == "tool_call" and part["value"] for part in document["parts"])


@needs_redis
def test_a_pipe_is_published_while_it_arrives(redis: RedisServer) -> None:
    """What is written to the pipe reaches the follower at once; --after goes on behind a line."""
    options = ("--redis", redis.url)
    with started("relay", "publish", "pipe", *options) as writer:
        say(writer, CHUNK * 2)
        with started("relay", "follow", "pipe", "--json", "--wait", PATIENCE, *options) as reader:
            found = [json.loads(hear_line(reader.stdout))]
            while document_in(found)["parts"] == [] or "lo" not in document_in(found)["parts"][0]["text"]:
                found.append(json.loads(hear_line(reader.stdout)))
            say(writer, LAST)
            writer.communicate(timeout=PATIENCE)
            rest, _ = reader.communicate(timeout=PATIENCE)
            assert (writer.returncode, reader.returncode) == (0, 0)
    found += lines(rest)
    assert document_in(found)["parts"][0]["text"] == "Hel\x1b[2Jlo" * 2 + ", world"
    cursor = found[0]["cursor"]
    again = lines(run("relay", "follow", "pipe", "--json", "--after", cursor, *options).stdout)
    assert "snapshot" not in [line["type"] for line in again]
    assert again[-1] == found[-1]
    text = run("relay", "follow", "pipe", *options)
    assert b"\x1b" not in text.stdout  # what the model wrote never reaches a terminal raw


@needs_redis
def test_json_text_is_published_as_text(redis: RedisServer) -> None:
    """Input that is no provider's stream is JSON text; without --json the follower prints the last value."""
    options = ("--redis", redis.url)
    assert run("relay", "publish", "trip", "sample:trip", "--speed", 0, *options).status == 0
    found = run("relay", "follow", "trip", *options)
    assert json.loads(found.stdout)["title"]
    broken = run("relay", "publish", "broken", "-", *options, data=b'{"a": [1')
    assert broken.status == 1
    assert "error" in broken.stderr
    assert run("relay", "follow", "broken", *options).status == 1


@needs_redis
def test_status_and_cancel(redis: RedisServer) -> None:
    """`status` tells who writes; `cancel` reaches the writer, and its followers see the reason."""
    options = ("--redis", redis.url)
    with started("relay", "publish", "long", *options) as writer:
        say(writer, CHUNK)
        with started("relay", "follow", "long", "--json", "--wait", PATIENCE, *options) as reader:
            hear_line(reader.stdout)
            (found,) = lines(run("relay", "status", "long", *options).stdout)
            assert found["status"] == "open"
            assert found["lease_left"] > 0
            assert run("relay", "cancel", "long", "--reason", "enough", *options).status == 0
            say(writer, CHUNK)
            writer.wait(PATIENCE)
            rest, complaint = reader.communicate(timeout=PATIENCE)
            last = lines(rest)[-1]
            assert (last["status"], last["reason"]) == ("cancelled", "enough")
            assert reader.returncode == 1
            assert b"cancelled" in complaint
    (found,) = lines(run("relay", "status", "long", *options).stdout)
    assert found["status"] == "cancelled"


@needs_redis
def test_ctrl_c_cancels_what_is_published(redis: RedisServer) -> None:
    """A publisher that is interrupted ends its stream: no follower waits for a writer that is gone."""
    options = ("--redis", redis.url)
    with started("relay", "publish", "stopped", *options) as writer:
        say(writer, CHUNK * 2)
        with started("relay", "follow", "stopped", "--json", "--wait", PATIENCE, *options) as reader:
            hear_line(reader.stdout)
            writer.send_signal(signal.SIGINT)
            writer.wait(PATIENCE)
            rest, _ = reader.communicate(timeout=PATIENCE)
    assert writer.returncode == 130
    assert lines(rest)[-1]["status"] == "cancelled"


def test_without_redis_the_stream_is_served_from_the_process() -> None:
    """A follower reads it from the address; other sites and other names for this machine do not."""
    with started("relay", "publish", "local", "--keep", 600) as writer:
        say(writer, CHUNK * 2)
        address = hear_line(writer.stdout).strip()
        with started("relay", "follow", address) as reader:
            say(writer, LAST)
            assert writer.stdin is not None
            writer.stdin.close()
            text, _ = reader.communicate(timeout=PATIENCE)
            assert (reader.returncode, text.decode().endswith(", world\n")) == (0, True)
        host = urlsplit(address)
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            connection = HTTPConnection(host.hostname or "", host.port, timeout=PATIENCE)
            connection.request("GET", host.path, headers=headers)
            assert connection.getresponse().status == 403
            connection.close()
        script = urllib.request.urlopen(f"http://{host.netloc}/relay.js", timeout=PATIENCE).read()
        assert b"export function follow" in script
        writer.send_signal(signal.SIGINT)
        assert writer.wait(PATIENCE) in {0, 130}


def test_follow_tells_why_there_is_nothing() -> None:
    """A stream that a server does not have, and a server that is not there."""
    with started("relay", "publish", "local", "sample:trip", "--speed", 0, "--keep", 600) as writer:
        address = hear_line(writer.stdout).strip()
        gone = run("relay", "follow", address.replace("local", "a%20b"))
        assert (gone.status, "404" in gone.stderr) == (1, True)
    for address in ("http://127.0.0.1:1/a b", "http://"):
        wrong = run("relay", "follow", address)
        assert wrong.status == 2
        assert "not an address" in wrong.stderr


@pytest.mark.parametrize("command", ["status", "cancel", "follow"])
def test_a_name_needs_a_redis(command: str) -> None:
    """The message says where to name it."""
    outcome = run("relay", command, "chat", UNSPOOL_REDIS="")
    assert outcome.status == 2
    assert "--redis" in outcome.stderr


@needs_redis
def test_bad_names_and_addresses(redis: RedisServer) -> None:
    """Names and URLs are checked, with a message and no traceback."""
    for arguments, words in (
        (("status", "a b", "--redis", redis.url), "name of a stream"),
        (("status", "nothing", "--redis", redis.url), "no such stream"),
        (("status", "chat", "--redis", "http://localhost"), "--redis"),
    ):
        outcome = run("relay", *arguments)
        assert outcome.status in {1, 2}
        assert words in outcome.stderr
        assert "Traceback" not in outcome.stderr


def test_an_address_that_is_no_redis() -> None:
    """The command says which addresses there are, instead of a traceback."""
    for action in (["publish", "trip", "sample:trip"], ["follow", "trip"], ["status", "trip"], ["cancel", "trip"]):
        outcome = run("relay", *action, "--redis", "example.org:6379")
        assert outcome.status == 2
        assert "redis://" in outcome.stderr
        assert "Traceback" not in outcome.stderr


@needs_redis  # and its Python library; no server is asked
def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says why, once, and names no Python class. The log tries again for one second here, not for ten."""
    impatient = partial(RedisLog.from_url, patience=1.0)
    monkeypatch.setattr(RedisLog, "from_url", staticmethod(impatient))
    for action in (["publish", "trip", "sample:trip"], ["follow", "trip"], ["status", "trip"]):
        outcome = run("relay", *action, "--redis", "redis://127.0.0.1:1/0")
        assert outcome.status == 1
        assert outcome.stderr.startswith("unspool: --redis: ")
        assert "Connect" in outcome.stderr or "connect" in outcome.stderr
        assert "see the cause" not in outcome.stderr
    outcome = run("relay", "follow", "http://127.0.0.1:1/streams/trip")
    assert outcome.status == 1
    assert outcome.stderr == "unspool: the server does not send a stream: Connection refused\n"


def test_an_empty_input_is_published_as_an_error() -> None:
    """The command says what every other command says."""
    outcome = run("relay", "publish", "trip", "--keep", 0)
    assert (outcome.status, outcome.stderr) == (1, "unspool: standard input: the input is empty\n")


@pytest.mark.parametrize(
    "url",
    ["redis://127.0.0.1:port", "redis://[::1", "redis://me:secret@127.0.0.1:99999", "redis://127.0.0.1?unknown=1"],
)
def test_an_address_that_redis_py_refuses(url: str) -> None:
    """The command says so before it connects, and does not repeat the password."""
    outcome = run("relay", "status", "trip", "--redis", url)
    assert outcome.status == 2
    assert outcome.stderr.startswith("unspool: --redis: invalid URL of Redis")
    assert "secret" not in outcome.stderr


@needs_redis
def test_a_database_that_the_server_does_not_have(redis: RedisServer) -> None:
    """The message has what the server said."""
    outcome = run("relay", "status", "trip", "--redis", redis.url.removesuffix("/0") + "/99")
    assert outcome.status == 1
    assert outcome.stderr == "unspool: --redis: DB index is out of range\n"


def test_the_name_is_checked_before_anything_is_read() -> None:
    """Nothing is served at an address that cannot be."""
    outcome = run("relay", "publish", "a b", "-", data=b"[]")
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert "name of a stream" in outcome.stderr


def events(*found: tuple[str, str, Any]) -> bytes:
    return "".join(
        [f"event: {kind}\nid: {place}\ndata: {json.dumps(data)}\n\n" for kind, place, data in found]
    ).encode()


DOCUMENT: Any = {"finish_reason": None, "parts": []}
MESSAGE: Any = {"document": DOCUMENT}
FOREIGN: dict[str, tuple[int, str, bytes]] = {
    "a page": (200, "text/html", b"<html>"),
    "no JSON": (200, "text/event-stream", b"event: snapshot\nid: 1-1\ndata: {\n\n"),
    "no document": (200, "text/event-stream", events(("snapshot", "1-1", {}))),
    "a list": (200, "text/event-stream", events(("snapshot", "1-1", []))),
    "odd parts": (200, "text/event-stream", events(("snapshot", "1-1", {"document": {**DOCUMENT, "parts": [1]}}))),
    "an early patch": (200, "text/event-stream", events(("patch", "1-1", [{"op": "remove", "path": "/a"}]))),
    "a patch of nothing": (200, "text/event-stream", events(("snapshot", "1-1", MESSAGE), ("patch", "2-1", [1]))),
    "an odd path": (
        200, "text/event-stream",
        events(("snapshot", "1-1", MESSAGE), ("patch", "2-1", [{"op": "add", "path": "/parts/x", "value": {}}])),
    ),
    "an end of nothing": (200, "text/event-stream", events(("end", "1-1", {}))),
    "too deep": (200, "text/event-stream", b'event: snapshot\nid: 1-1\ndata: {"document":' + b"[" * 200_000 + b"}\n\n"),
    "an end that was seen": (204, "text/event-stream", b""),
    "nothing, again and again": (200, "text/event-stream", b""),
    "the same, again and again": (200, "text/event-stream", events(("snapshot", "1-1", MESSAGE))),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_a_server_that_is_no_relay(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it sends, the command ends with a message."""
    monkeypatch.setattr(relay_follow, "RETRY", 0.0)
    status, kind, body = FOREIGN[name]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/streams/chat"
        with pytest.raises((UnspoolError, OSError)) as told, closing(relay_follow.from_server(url, None)) as found:
            relay_follow.followed(found, as_json=False)
        server.shutdown()
    words = {"an end that was seen": "has ended", "nothing, again and again": "an empty answer"}
    words["the same, again and again"] = "nothing new"
    assert words.get(name, "does not send a stream") in str(told.value)
    capsys.readouterr()
