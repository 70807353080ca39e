"""studio/: what an attacker would try: other sites and names, slow and broken requests, hostile texts and schemas."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tests.support.studio import PATIENCE, Client, running, until
from unspool.tools.studio import sessions as sessions_module
from unspool.tools.studio.guard import Door
from unspool.tools.studio.requests import SessionOptions
from unspool.tools.studio.server import WATCHED, FaultLimit
from unspool.tools.studio.sessions import NoRoomError, Session, Sessions
from unspool.tools.studio.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Generator

QUICK = Settings(renewal=0.02, waterfall=0.02, patience=0.05, grace=2.0)
MARKED = "X-Unspool: 1\r\nContent-Type: application/octet-stream\r\n"


@pytest.fixture(scope="module")
def client() -> Generator[Client]:
    with running(QUICK) as server:
        yield Client(server.url)


@pytest.fixture(autouse=True)
def silent(caplog: pytest.LogCaptureFixture) -> Generator[None]:
    """No request causes an error of the server: the terminal shows no traceback."""
    yield
    records = caplog.get_records("call")
    assert [record.getMessage() for record in records if record.levelno >= logging.ERROR] == []


def said(client: Client, *pieces: str) -> bytes:
    """The response to some bytes on a connection, until it closes or pauses."""
    with socket.create_connection((client.host, client.port), PATIENCE) as connection:
        for piece in pieces:
            connection.sendall(piece.replace("HOST", client.head).encode("latin-1"))
            time.sleep(0.05)
        connection.settimeout(0.3)
        answer = b""
        try:
            while data := connection.recv(65536):
                answer += data
        except (TimeoutError, ConnectionResetError):
            pass
    return answer


# Names and addresses: DNS rebinding.


@pytest.mark.parametrize(
    "host",
    [
        "localhost.",
        "x@localhost",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "127.1",
        "2130706433",
        "0",
        "evil.example",
    ],
)
def test_a_host_is_one_of_a_few_names_letter_by_letter(client: Client, host: str) -> None:
    """Other spellings of this machine are rejected, without exceptions."""
    assert client.ask("GET", "/api/info", headers={"Host": f"{host}:{client.port}"}).status == 421


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /api/info HTTP/1.0\r\n", b"421"),
        ("GET /api/info HTTP/1.1\r\n", b"400"),
        ("GET /api/info HTTP/1.1\r\nHOST\r\nHost: evil.example\r\n", b"400"),
        ("GET /api/info HTTP/1.0\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\n", b"421"),
        ("GET http://evil.example/api/info HTTP/1.0\r\nHOST\r\n", b"404"),
        ("CONNECT evil.example:80 HTTP/1.1\r\nHOST\r\n", b"403"),
        ("TRACE / HTTP/1.1\r\nHOST\r\n", b"403"),
        ("GET /\xff HTTP/1.1\r\nHOST\r\n", b"400"),
        ("GET /api/info HTTP/1.0\r\nHOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", b"200"),
    ],
)
def test_requests_that_no_browser_sends(client: Client, request_line: str, status: bytes) -> None:
    """No Host, two of them, a foreign one in the first line, methods for proxies, an upgrade: refused, or nothing."""
    answer = said(client, request_line + "\r\n")
    assert answer.split(b" ")[1] == status
    assert b"content-security-policy" in answer.lower()


# Other sites: what a page elsewhere can make a browser send.


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("POST", "/api/sessions", {"Content-Type": "text/plain"}),
        ("POST", "/api/sessions", {"Content-Type": "application/json", "Sec-Fetch-Site": "cross-site"}),
        ("POST", "/api/sessions", {"X-Unspool": "1", "Origin": "http://localhost:1"}),
        ("POST", "/api/sessions", {"X-Unspool": "1", "Sec-Fetch-Site": "same-site"}),
        ("GET", "/api/sessions/ID/stream", {"Origin": "http://evil.example", "Accept": "text/event-stream"}),
        ("GET", "/api/sessions/ID/view", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
        ("GET", "/static/main.js", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script"}),
        ("GET", "/", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}),
    ],
    ids=str,
)
def test_another_site_gets_nothing(client: Client, method: str, path: str, headers: dict[str, str]) -> None:
    """Forms, fetch without CORS, EventSource, scripts, frames; also from another port of this machine."""
    body = {"text": "1"} if method == "POST" else None
    given = {"X-Unspool": "", **headers} if method == "POST" else headers
    answer = client.ask(method, path.replace("ID", client.session(text="1")), body, given)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_token_does_not_stay_in_the_address(caplog: pytest.LogCaptureFixture) -> None:
    """The redirect removes it, also if the browser has the cookie; no response and no log contains it."""
    caplog.set_level(logging.DEBUG)
    with running(QUICK) as server:
        client = Client(server.url)
        token = server.url.partition("token=")[2]
        first = client.ask("GET", f"/?token={token}")
        cookie = first.headers["set-cookie"].partition(";")[0]
        again = client.ask("GET", f"/?token={token}", headers={"Cookie": cookie})
        assert (first.status, again.status, again.headers["location"]) == (303, 303, "/")
        assert again.headers["referrer-policy"] == "no-referrer"
        page = client.ask("GET", "/", headers={"Cookie": f'other={{"a": [1]}}; =; {cookie}; last'})
        assert page.status == 200
        assert token.encode() not in page.body
        for wrong in (token[:-1], token + "x", "\u00e9" * 32, ""):
            assert client.ask("GET", "/", headers={"Cookie": f"{server.door.cookie}={wrong}"}).status == 403
        assert Client(f"{client.origin}/").ask("POST", f"/?token={token}", {}).status == 403
    assert token not in caplog.text


# Requests that do not end, or end badly.

SLOW = replace(QUICK, head=0.3, upload=0.3)


@pytest.mark.parametrize(
    ("begin", "status"),
    [
        ("", b""),
        ("GET / HTTP/1.1\r\nHo", b""),
        ("GET /api/info HTTP/1.1\r\nHOST\r\n\r\nGET /api", b"200"),
        ("POST /api/sessions HTTP/1.1\r\nHOST\r\n" + MARKED + "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n", b"408"),
        ("POST /api/sessions HTTP/1.1\r\nHOST\r\n" + MARKED + "Content-Length: 99\r\n\r\n[", b"408"),
        ("POST /api/sessions HTTP/1.1\r\nHost: evil\r\n" + MARKED + "Content-Length: 99\r\n\r\n[", b"421"),
    ],
)
def test_who_sends_little_by_little_is_not_waited_for(begin: str, status: bytes) -> None:
    """One more byte now and then keeps no connection open: neither in the head of a request nor in its body."""
    with running(SLOW) as server:
        client = Client(server.url)
        with socket.create_connection((client.host, client.port), PATIENCE) as connection:
            connection.sendall(begin.replace("HOST", client.head).encode())
            connection.settimeout(0.05)
            answer, end = b"", time.monotonic() + PATIENCE
            while time.monotonic() < end:
                try:
                    data = connection.recv(65536)
                    answer += data
                    if not data:
                        break
                    continue
                except TimeoutError:
                    pass
                except ConnectionResetError:
                    break
                try:
                    connection.sendall(b"x" if begin else b"")
                except (BrokenPipeError, ConnectionResetError):
                    break
            else:
                raise AssertionError("the connection is still open")
        assert answer[:12].split(b" ")[1:] == ([status] if status else [])
        until(lambda: not server.server_state.connections, "the end of the connection")


def test_a_stream_outlives_the_patience_for_requests() -> None:
    """The limits are for what is asked, not for what is answered."""
    with running(replace(SLOW, head=0.1, upload=0.1, keep_alive=0.05)) as server:
        client = Client(server.url)
        session = client.session(text="1")
        with client.follow(session) as follower:
            follower.read_to_finish()
            time.sleep(0.4)
            assert client.ask("DELETE", f"/api/sessions/{session}").status == 204
            follower.read_until(lambda: False)
            assert follower.is_over
        assert server.studio.sessions.relay.metrics["evicted"] == 0


@pytest.mark.parametrize(
    ("pieces", "statuses"),
    [
        (["Transfer-Encoding: chunked\r\n\r\n3\r\n123\r\n", "zz\r\n"], [b"400"]),
        (["Content-Length: 3\r\nContent-Length: 4\r\n\r\n123"], [b"400"]),
        (["Content-Length: -3\r\n\r\n123"], [b"400"]),
        ([f"Content-Length: {'9' * 5000}\r\n\r\n123"], [b"400"]),
        (["Content-Length: 3\r\n\r\n12"], []),
        (["Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n"], [b"201"]),
        (["Content-Length: 1\r\nContent-Encoding: gzip\r\n\r\n1"], [b"201"]),
    ],
    ids=str,
)
def test_bodies_that_lie_about_themselves(client: Client, pieces: list[str], statuses: list[bytes]) -> None:
    """One answer at most, nothing that was smuggled in, and nothing is unpacked."""
    head = "POST /api/sessions HTTP/1.1\r\nHOST\r\n" + MARKED
    answer = said(client, head + pieces[0], *pieces[1:])
    assert [line.split(b" ")[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/")] == statuses


def test_a_refused_body_that_turns_bad_is_no_error(client: Client) -> None:
    """The answer was given before."""
    head = "POST /api/sessions HTTP/1.1\r\nHost: evil\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n123\r\n"
    assert said(client, head, "zz\r\n").startswith(b"HTTP/1.1 421")


def test_a_view_that_nobody_waits_for_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views of one session are computed one at a time; clients that have left cost nothing and block no others."""
    gate, made = threading.Event(), []
    view = Session.view

    def slow(self: Session, query: Any) -> Any:
        made.append(query.step)
        assert gate.wait(PATIENCE)
        return view(self, query)

    with running(QUICK) as server:
        client = Client(server.url)
        session, other = client.session(text="[1, 2]"), client.session(text="[3]")
        monkeypatch.setattr(Session, "view", slow)
        request = f"GET /api/sessions/{session}/view?step={{}} HTTP/1.1\r\n{client.head}\r\n\r\n"
        connections = [socket.create_connection((client.host, client.port), PATIENCE) for _ in range(40)]
        for step, connection in enumerate(connections):
            connection.sendall(request.format(step).encode())
        until(lambda: len(server.server_state.tasks) >= 40 and len(made) == 1, "all to wait for the first")
        assert client.document(other)["is_finished"]  # there are threads for others
        for connection in connections:
            connection.close()
        until(lambda: not server.server_state.connections, "all to be gone")
        gate.set()
        until(lambda: not server.server_state.tasks, "the end of all")
        assert len(made) == 1


# Texts.


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        '{"a":' * 50_000,
        ('{"' + "k" * 20_000 + '":') * 60 + "1" + "}" * 60,
        json.dumps({f"key {number}": number for number in range(20_000)}),
        '{"' + "z" * 300_000,
        '{"' + "z" * 300_000 + '": x}',
        '"' + "\\u202e" * 50_000 + '"',
        "1" * 300_000,
    ],
    ids=["arrays", "objects", "long paths", "many keys", "open key", "error in a long path", "escapes", "digits"],
)
def test_whatever_a_text_is_what_is_said_of_it_stays_small(client: Client, text: str) -> None:
    """The view of any step, with the largest window, and the document stay below a limit."""
    session = client.session(text=text, cut=20_000)
    document = client.document(session)
    assert len(json.dumps(document)) < 2_500_000
    for step in (1, document["last"] // 2, document["last"]):
        answer = client.ask("GET", f"/api/sessions/{session}/view?step={step}&count=500")
        assert answer.status == 200
        assert len(answer.body) < 2_500_000


def test_a_text_is_not_cut_into_more_steps_than_can_be_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs memory, so the pieces of a long text are longer than was asked for."""
    monkeypatch.setattr(sessions_module, "MAX_STEPS", 100)
    steps = [client.document(client.session(text="[" + " " * size + "]", cut=1))["last"] for size in (50, 2_000)]
    assert steps == [53, 97]


def test_long_snapshots_are_told_in_short(client: Client) -> None:
    """Paths of what is new, what waits, and the words that name them."""
    key = "k" * 50_000
    lines = [{key: {key: ["x"]}}, {key: {key: ["xy", "z"], "a" + key: "", "b" + key: ""}}]
    session = client.session(text="".join([json.dumps(line) + "\n" for line in lines]), kind="snapshots")
    for step in (1, 2):
        panel = client.view(session, f"step={step}")["snapshot"]
        assert len(json.dumps({**panel, "text": "", "written": ""})) < 30_000


# How much of everything.


def test_sessions_are_counted_while_they_are_made() -> None:
    """Many at once are no way to have more than there may be."""
    with running(replace(QUICK, sessions=3)) as server:
        client = Client(server.url)
        bodies: list[dict[str, str]] = [{"text": "[1, 2]"}, {"url": "http://127.0.0.1:1/"}] * 6
        statuses: list[int] = []
        threads = [
            threading.Thread(target=lambda body=body: statuses.append(client.ask("POST", "/api/sessions", body).status))
            for body in bodies
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(statuses) == len(bodies)
        assert set(statuses) <= {201, 429}
        assert len(server.studio.sessions) <= 3


@pytest.mark.parametrize("limit", [{"sessions": 3}, {"total": 20}], ids=["count", "bytes"])
def test_those_that_are_being_made_take_room(limit: dict[str, int]) -> None:
    """Also while nothing is there yet: all of these begin before the first is whole."""
    text = b"[1, 2]"

    async def crowd() -> tuple[int, int, int]:
        sessions = Sessions(replace(QUICK, loads=12, **limit))
        loads = [sessions.load("one of many", text, SessionOptions()) for _ in range(12)]
        results = await asyncio.gather(*loads, return_exceptions=True)
        return len(sessions), sessions.size, len([result for result in results if isinstance(result, NoRoomError)])

    assert asyncio.run(crowd()) == (3, 3 * len(text), 9)


class Endless(BaseHTTPRequestHandler):
    """Sends numbers as long as a client reads them."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            self.wfile.write(b"[")
            while True:
                self.wfile.write(b"1, " * 500)
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        pass


def test_live_texts_count_with_the_others() -> None:
    """All that is read of several sources is bounded, not only what is read of each."""
    with running(replace(QUICK, body=20_000, total=50_000)) as server:
        client = Client(server.url)
        source = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
        source.daemon_threads = True
        thread = threading.Thread(target=source.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            url = f"http://127.0.0.1:{source.server_address[1]}/"
            followers = [client.follow(client.session(url=url)) for _ in range(4)]
            for follower in followers:
                assert "the rest is not read" in follower.read_to_finish()["problem"]
            assert server.studio.sessions.size <= 50_000
            for follower in followers:
                follower.close()
        finally:
            source.shutdown()
            source.server_close()
            thread.join(PATIENCE)


# Schemas.

DEEP: dict[str, Any] = {"type": "string"}
for _ in range(400):
    DEEP = {"properties": {"a": DEEP}}
DOUBLED = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(24)} | {"d24": {"type": "number"}}


@pytest.mark.parametrize(
    ("schema", "status"),
    [
        ({"$ref": "http://127.0.0.1:1/x.json"}, 422),
        ({"not": {"$ref": "file:///etc/passwd"}}, 422),
        ({"$id": "http://127.0.0.1:1/", "not": {"$ref": "relative.json"}}, 422),
        ({"$schema": "http://127.0.0.1:1/meta.json"}, 422),
        ({"$ref": "#"}, 422),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, 422),
        ({"$defs": DOUBLED, "$ref": "#/$defs/d0"}, 204),
        (DEEP, 422),
        ({"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}, 204),
        ({"properties": {"a": {"type": "string", "pattern": "^(?=(a+)+b)(a*)*\\1$"}}}, 204),
        ({"properties": {"a": {"type": "string", "pattern": "(a{1000}){1000}"}}}, 422),
        ({"patternProperties": {"^(a+)+$": {"type": "string"}}}, 204),
    ],
    ids=lambda value: str(value)[:50],
)
def test_schemas_that_fetch_loop_or_explode(client: Client, schema: dict[str, Any], status: int) -> None:
    """Nothing is fetched for a schema; it is refused in words, or it is used, and then a view takes no time."""
    pytest.importorskip("jsonschema_rs")
    session = client.session(text=json.dumps({"a": "a" * 40 + "!"}))
    assert client.ask("PUT", f"/api/sessions/{session}/schema", {"schema": schema}).status == status
    assert (client.view(session)["typed"] is not None) is (status == 204)


def test_a_schema_that_nests_without_end_is_no_json(client: Client) -> None:
    path = f"/api/sessions/{client.session(text='1')}/schema"
    body = b'{"schema": ' + b'{"not":' * 20_000 + b"true" + b"}" * 20_001
    assert client.ask("PUT", path, body, {"Content-Type": "application/json"}).status == 422


# Filters.


def test_no_filter_is_slow(client: Client) -> None:
    """Any number of descents costs what one costs; half of a pattern, or a longer one than there may be, says so."""
    session = client.session(text="[" * 100 + "1" + "]" * 100, cut=50)
    view = client.view(session, "filter=$" + "..*" * 60)
    assert len(view["tree"]["rows"]) == 41
    for pattern in ("$[", "$[?a]", "$" + "..*" * 65, "$." + "a" * 2_000, "$%00"):
        view = client.view(session, f"filter={pattern}")
        assert view["filter_problem"]
        assert view["tree"]["total"] == 101


# Those who connect without a token.


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1", "::"])
@pytest.mark.parametrize(
    "given",
    [
        "x@127.0.0.1:PORT",
        "127.0.0.1:PORT/x",
        "127.0.0.1:PORT?x",
        "127.0.0.1:PORT ",
        "127.0.0.1:PORT,evil.example",
        "127.0.0.1:PORT:PORT",
        "127.0.0.1]:PORT",
        "[[::1]]:PORT",
        "[::1%25evil]:PORT",
        "[::1%evil.example]:PORT",
        "127.0.0.1:0PORT",
        "127.0.0.1:+PORT",
        "127.0.0.1:",
        ":PORT",
        "",
    ],
)
def test_a_host_header_has_a_host_and_a_port_and_nothing_else(host: str, given: str) -> None:
    """On every address that the studio can be bound to."""
    door = Door(host, 8421)
    assert not door.knows(given.replace("PORT", "8421"))
    assert door.knows("127.0.0.1:8421")
    assert door.knows("[::1]:8421")


def test_silent_connections_take_few_places_and_keep_nobody_out() -> None:
    """More strangers than there may be: the oldest go, whoever has the token comes in, and nothing is logged."""
    with running(replace(QUICK, strangers=8, head=PATIENCE)) as server:
        client = Client(server.url)
        session = client.session(text="[1]")
        with client.follow(session) as follower:
            follower.read_until(lambda: follower.document is not None)
            silent = [socket.create_connection((client.host, client.port), PATIENCE) for _ in range(60)]
            try:
                until(lambda: len(server.connections.strangers) <= 8, "the oldest to go")
                assert client.ask("GET", "/api/info").status == 200
                until(lambda: len(server.server_state.connections) <= 10, "few connections")
                assert silent[0].recv(1) == b""  # closed, the newest are not
                silent[-1].settimeout(0.05)
                with pytest.raises(TimeoutError):
                    silent[-1].recv(1)
            finally:
                for connection in silent:
                    connection.close()
            assert client.ask("DELETE", f"/api/sessions/{session}").status == 204  # the follower was no stranger
            follower.read_until(lambda: False)
            assert follower.is_over


def test_one_line_a_minute_for_repeated_faults(capsys: pytest.CaptureFixture[str]) -> None:
    """The first of a kind is told, the others are counted; faults of asyncio are one line, without a traceback."""
    clock = iter([0.0, 1.0, 2.0, 59.0, 61.0, 61.5])
    limit = FaultLimit()
    lines: list[str] = []
    logger = logging.Logger("asyncio")
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(handler.format(record))  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.addFilter(limit)
    with mock.patch("unspool.tools.studio.server.monotonic", side_effect=clock):
        for _ in range(4):
            try:
                raise OSError(24, "Too many open files")
            except OSError:
                logger.exception("socket.accept() out of system resource\nsocket: <...>")
        logger.error(
            "socket.accept() out of system resource\nsocket: <...>", exc_info=OSError(24, "Too many open files")
        )
        logger.error("another fault")
    told = "socket.accept() out of system resource: [Errno 24] Too many open files"
    assert lines == [told, f"{told} (and 3 more like it)", "another fault"]


def test_invalid_http_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """However often it comes; and the loggers are left as they were."""
    loggers = [logging.getLogger(name) for name in WATCHED]
    before = [list(logger.filters) for logger in loggers]
    with running(QUICK) as server:
        client = Client(server.url)
        for _ in range(5):
            assert said(client, "nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    told = [record.getMessage() for record in caplog.records]
    assert told in ([], ["Invalid HTTP request received."])  # none if the server of another test has told it before
    assert [list(logger.filters) for logger in loggers] == before


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        ("GET /nothing HTTP/1.1\r\nHOST\r\n\r\n", b"404"),
        ("POST / HTTP/1.1\r\nHOST\r\nX-Unspool: 1\r\nContent-Length: 0\r\n\r\n", b"405"),
        ("GET /api/info HTTP/1.1\r\nHost: evil\r\n\r\n", b"421"),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", b"403"),
        ("nonsense\r\n\r\n", b"400"),
        ("GET /" + "x" * 100_000, b"400"),
        ("GET /api/info HTTP/1.1\r\nHOST\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", b"200"),
    ],
    ids=["404", "405", "421", "403", "400", "long", "upgrade"],
)
def test_no_answer_may_be_sniffed(client: Client, request_text: str, status: bytes) -> None:
    """Each answer has nosniff once: pages, refusals, and what the HTTP machinery answers by itself."""
    answer = said(client, request_text.replace("PORT", str(client.port)))
    assert answer.split(b" ")[1] == status
    assert answer.lower().count(b"x-content-type-options: nosniff") == 1


def test_a_request_that_fails_is_answered_with_the_headers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug of the studio is a 500 response with nosniff, and one traceback in the terminal."""
    with running(QUICK) as server:
        client = Client(server.url)
        session = client.session(text="[1]")
        monkeypatch.setattr(Session, "view", lambda *_: 1 / 0)
        answers = [client.ask("GET", f"/api/sessions/{session}/view") for _ in range(3)]
    assert [(one.status, one.headers["x-content-type-options"]) for one in answers] == [(500, "nosniff")] * 3
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(errors) == 1
    assert errors[0].exc_info is not None
    caplog.clear()


def test_large_uploads_do_not_block_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """While every place for a large text is taken, a small one is loaded and looked at."""
    gate, begun = threading.Event(), []
    load = Session.load

    def slow(self: Session, data: bytes) -> None:
        if len(data) > 1000:
            begun.append(len(data))
            assert gate.wait(PATIENCE)
        load(self, data)

    with running(replace(QUICK, small=1000, loads=1, uploads=2)) as server:
        client = Client(server.url)
        monkeypatch.setattr(Session, "load", slow)
        large = b"[" + b" " * 2000 + b"]"
        statuses: list[int] = []
        threads = [
            threading.Thread(target=lambda: statuses.append(client.ask("POST", "/api/sessions", large).status))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        until(lambda: len(begun) == 1, "the first to load")
        session = client.session(text="[1, 2]")
        assert client.document(session)["is_finished"]
        assert client.view(session)["patches"] is not None
        assert statuses == []
        gate.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert statuses == [201] * 4
