"""studio/: patches, who may ask, how much, and what may be loaded."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.studio import PATIENCE, Client, running, until
from unspool.patch import apply
from unspool.tools.studio.document import diff
from unspool.tools.studio.guard import HEADERS, Door
from unspool.tools.studio.sessions import Session
from unspool.tools.studio.settings import Settings
from unspool.tools.viewer.recordings import HEADER, SAMPLES, read_sample

if TYPE_CHECKING:
    from collections.abc import Generator

TRIP = '{"title": "Trip to Fuji", "days": [{"subtitle": "Day 1", "n": 1}, {"subtitle": "Day 2", "n": 2}], "ok": true}'
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "days": {"type": "array"}, "ok": {"type": "boolean"}},
    "required": ["title", "days", "ok"],
}
QUICK = Settings(renewal=0.02, waterfall=0.02, patience=0.05, grace=2.0)


@pytest.fixture(scope="module")
def client() -> Generator[Client]:
    """One server for the tests that only ask."""
    with running(QUICK) as server:
        yield Client(server.url)


# Patches.

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-2, 2).map(lambda x: round(x, 1) + 0.0)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("a/~0é", max_size=2), inner, max_size=4),
    max_leaves=12,
)


def spelled(value: object) -> str:
    """A value, with its types: for Python, True is 1, and 1 is 1.0."""
    return json.dumps(value, sort_keys=True)


@given(PLAIN, PLAIN)
def test_the_difference_leads_from_one_document_to_the_other(old: Any, new: Any) -> None:
    """Applying diff(old, new) to old gives new, and there is nothing to say about what is the same."""
    assert spelled(apply(old, diff(old, new))) == spelled(new)
    assert diff(new, json.loads(json.dumps(new))) == []


@given(st.lists(st.tuples(st.text(max_size=6), PLAIN)), st.text(max_size=6))
def test_a_text_that_goes_on_is_appended_to(members: list[tuple[str, Any]], more: str) -> None:
    """Unchanged parts are not sent again."""
    old = {**dict(members), "text": "Once", "items": [1]}
    new = {**old, "text": "Once" + more, "items": [1, more]}
    operations = diff(old, new)
    assert apply(old, operations) == new
    assert {operation["op"] for operation in operations} <= {"append", "add"}


# Who may ask.

EVERYTHING = [
    ("GET", "/", 200),
    ("GET", "/static/index.html", 200),
    ("GET", "/static/absent.js", 404),
    ("GET", "/nowhere", 404),
    ("GET", "/api/info", 200),
    ("HEAD", "/api/info", 200),
    ("HEAD", "/api/sessions/unknown/stream", 404),
    ("POST", "/api/info", 405),
    ("GET", "/api/sessions/unknown/view", 404),
    ("GET", "/api/sessions/unknown/stream", 404),
    ("PUT", "/api/sessions/unknown/schema", 404),
    ("DELETE", "/api/sessions/unknown", 404),
]


def dressed(headers: dict[str, str]) -> bool:
    return all(headers.get(name.decode()) == value.decode() for name, value in HEADERS)


@pytest.mark.parametrize(("method", "path", "status"), EVERYTHING)
def test_every_answer_says_what_a_browser_may_do_with_it(client: Client, method: str, path: str, status: int) -> None:
    """Pages, files, data and refusals have the same headers, and each of them once."""
    answer = client.ask(method, path)
    assert answer.status == status
    assert dressed(answer.headers)
    assert answer.headers["cache-control"] == "no-store"
    if status >= 400 and method != "HEAD":
        assert set(answer.json) == {"error"}


def test_what_breaks_here_has_the_headers_too(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Internal errors have them, too, and reveal nothing."""

    def broken(self: Session, query: object) -> None:
        raise ZeroDivisionError("inside")

    session = client.session(text="[1]")
    monkeypatch.setattr(Session, "view", broken)
    answer = client.ask("GET", f"/api/sessions/{session}/view")
    assert (answer.status, dressed(answer.headers), b"inside" in answer.body) == (500, True, False)


def test_a_stream_has_the_headers_too(client: Client) -> None:
    """Streams have them, too, and so do responses to invalid HTTP."""
    with client.follow(client.session(text="1")) as follower:
        follower.read_until(lambda: bool(follower.status))
        lines = [line.decode().partition(": ") for line in follower.head.split(b"\r\n")[1:]]
        headers = {name.lower(): value for name, _, value in lines}
    assert dressed(headers)
    assert headers["content-type"].startswith("text/event-stream")
    with socket.create_connection((client.host, client.port), PATIENCE) as connection:
        connection.sendall(b"no HTTP\r\n\r\n")
        said = connection.recv(65536)
    assert said.startswith(b"HTTP/1.1 400")
    assert b"default-src 'none'" in said


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "LOCALHOST:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 421),
        ({"Host": "localhost:1"}, 421),
        ({"Host": "localhost"}, 421),
        ({"Host": "localhost:{port}@evil.example"}, 421),
        ({"Host": "localhost:\u00b2"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}, 200),
        ({"Origin": "http://localhost:{port}"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
    ids=str,
)
def test_only_this_page_may_ask(client: Client, headers: dict[str, str], status: int) -> None:
    """The Host must be the bound address, the Origin must be the same, and the site must not be another one."""
    given = {name: value.format(port=client.port) for name, value in headers.items()}
    answer = client.ask("GET", "/api/info", headers=given)
    assert answer.status == status
    assert dressed(answer.headers)


def test_what_changes_something_needs_the_header_of_the_page(client: Client) -> None:
    """A page elsewhere can send a form; it cannot send this header, and a preflight is not answered."""
    for method, path in (("POST", "/api/sessions"), ("DELETE", "/api/sessions/x"), ("PUT", "/api/sessions/x/schema")):
        assert client.ask(method, path, {"text": "1"}, {"X-Unspool": ""}).status == 403
    preflight = client.ask("OPTIONS", "/api/sessions", headers={"X-Unspool": "", "Origin": client.origin})
    assert preflight.status == 403
    assert not [name for name in preflight.headers if name.startswith("access-control")]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.ask("POST", "/api/sessions", b"text=1", form).status == 415


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/..\\app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/",
        "/static",
        "/static/index.html/",
        "/static/index.html%00.js",
        "/app.py",
    ],
)
def test_nothing_but_the_files_of_the_page_is_served(client: Client, path: str) -> None:
    """A file is asked for by its name; no name leads to another place."""
    assert client.ask("GET", path).status == 404


def test_files_have_their_types(client: Client) -> None:
    """Browsers must not sniff, so the types must be right."""
    assert client.ask("GET", "/").headers["content-type"] == "text/html; charset=utf-8"
    assert client.ask("GET", "/static/api.js").headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize("allow_remote", [False, True])
def test_a_studio_asks_for_its_token(allow_remote: bool) -> None:
    """The address that is printed has it; the browser gets a cookie for it, and nothing works without: other users of
    this machine can reach it, too."""
    with running(QUICK, allow_remote=allow_remote) as server:
        stranger = Client(f"{Client(server.url).origin}/")
        token = server.url.partition("token=")[2]
        assert len(token) >= 32
        for path in ("/", "/api/info", "/static/index.html", "/?token=wrong", "/?token=", f"/api/info?token={token}"):
            answer = stranger.ask("GET", path)
            assert answer.status == 403
            assert dressed(answer.headers)
        first = stranger.ask("GET", f"/?token={token}")
        assert (first.status, first.headers["location"]) == (303, "/")
        cookie, *attributes = first.headers["set-cookie"].split("; ")
        assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
        assert stranger.ask("GET", "/api/info", headers={"Cookie": f"other=1; {cookie}"}).status == 200
        assert stranger.ask("GET", "/api/info", headers={"Cookie": cookie[:-1]}).status == 403
        assert stranger.ask("GET", "/api/info", headers={"Cookie": cookie, "Host": "evil.example"}).status == 421


def test_without_the_token_no_session_is_seen_changed_or_followed() -> None:
    """The id of a session is not enough. The response explains what to do: as JSON for programs, as text for the
    page."""
    with running(QUICK) as server:
        owner, stranger = Client(server.url), Client(f"{Client(server.url).origin}/")
        session = owner.session(text="[1]")
        for method, path, body in (
            ("GET", f"/api/sessions/{session}/view", None),
            ("PUT", f"/api/sessions/{session}/schema", {"schema": True}),
            ("DELETE", f"/api/sessions/{session}", None),
            ("POST", "/api/sessions", {"text": "[2]"}),
        ):
            answer = stranger.ask(method, path, body)
            assert answer.status == 403
            assert "unspool studio" in answer.json["error"]
        with stranger.follow(session) as follower:
            follower.read_until(lambda: bool(follower.status))
            assert (follower.status, follower.document) == (b"403", None)
        page = stranger.ask("GET", "/")
        assert page.headers["content-type"] == "text/plain; charset=utf-8"
        assert b"the address that `unspool studio` printed" in page.body
        assert owner.document(session)["is_finished"]
        assert len(server.studio.sessions) == 1


def test_the_address_that_a_browser_is_started_with_opens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user of a machine sees with which words a process was started: what is in them must be worth nothing."""
    started: list[str] = []
    monkeypatch.setattr("unspool.tools.studio.server.webbrowser.open", started.append)
    with running(QUICK, browser=True) as server:
        until(lambda: bool(started), "the browser")
        ticket = started[0].partition("token=")[2]
        stranger = Client(f"{Client(server.url).origin}/")
        assert server.door.token not in started[0]
        assert stranger.ask("GET", "/", headers={"Cookie": f"{server.door.cookie}={ticket}"}).status == 403
        assert stranger.ask("HEAD", f"/?token={ticket}").status == 403
        first = stranger.ask("GET", f"/?token={ticket}")
        cookie = first.headers["set-cookie"].partition(";")[0]
        assert (first.status, cookie) == (303, Client(server.url).cookie)
        assert stranger.ask("GET", f"/?token={ticket}").status == 403
        assert stranger.ask("GET", f"/?token={ticket}", headers={"Cookie": cookie}).status == 200
        assert stranger.ask("GET", f"/?token={server.door.token}").status == 303


@pytest.mark.parametrize(
    ("bound", "host", "is_known"),
    [
        ("0.0.0.0", "192.0.2.7:80", True),
        ("0.0.0.0", "localhost:80", True),
        ("0.0.0.0", "box:80", True),
        ("0.0.0.0", "evil.example:80", False),
        ("::", "[2001:db8::1]:80", True),
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8:80", False),
        ("192.0.2.7", "localhost:80", False),
        ("::1", "[::1]:80", True),
        ("::1", "[::1]", True),
    ],
)
def test_a_name_that_is_not_ours_is_not_answered_to(bound: str, host: str, is_known: bool) -> None:
    """Where every address is bound, any address may be meant, but no foreign name: names can be pointed anywhere."""
    assert Door(bound, 80, names=("box",)).knows(host) is is_known


# How much.


def test_a_body_that_is_too_long_is_refused() -> None:
    """With and without a declared length; and the client receives the response."""
    with running(replace(QUICK, body=1000, drained=100_000)) as server:
        client = Client(server.url)
        assert client.ask("POST", "/api/sessions", b"[" + b" " * 998 + b"]").status == 201
        for size in (1001, 50_000):
            answer = client.ask("POST", "/api/sessions", b" " * size)
            assert (answer.status, dressed(answer.headers)) == (413, True)
            assert "1,000 bytes" in answer.json["error"]
        assert client.ask("POST", "/api/sessions", {"text": "x" * 1000}).status == 413
        headers = {"X-Unspool": "1", "Content-Type": "application/octet-stream", "Cookie": client.cookie}
        connection = http.client.HTTPConnection(client.host, client.port, timeout=PATIENCE)
        connection.request("POST", "/api/sessions", iter([b" " * 600] * 5), headers, encode_chunked=True)
        assert connection.getresponse().status == 413
        connection.close()
        connection = http.client.HTTPConnection(client.host, client.port, timeout=PATIENCE)
        connection.putrequest("POST", "/api/sessions")
        for name, value in {**headers, "Content-Length": str(10**12)}.items():
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()


def test_the_oldest_session_that_nobody_follows_makes_room() -> None:
    """There are never more than allowed; where all are in use, a new one is refused."""
    with running(replace(QUICK, sessions=3)) as server:
        client = Client(server.url)
        one, two, three = (client.session(text=str(number)) for number in range(3))
        with client.follow(one) as first, client.follow(two) as second:
            first.read_to_finish()
            second.read_to_finish()
            client.view(three)
            four = client.session(text="4")
            assert client.ask("GET", f"/api/sessions/{three}/view").status == 404
            with client.follow(four) as fourth:
                fourth.read_to_finish()
                refused = client.ask("POST", "/api/sessions", {"text": "5"})
                assert (refused.status, dressed(refused.headers)) == (429, True)
        until(lambda: not server.studio.sessions.relay.followers(), "the clients to be gone")
        client.view(one)  # the one that was used last stays
        client.session(text="5")
        assert [client.ask("GET", f"/api/sessions/{name}/view").status for name in (one, two, four)] == [200, 404, 200]


def test_texts_make_room_too() -> None:
    """All texts together are bounded, but one may always be there."""
    with running(replace(QUICK, total=1000)) as server:
        client = Client(server.url)
        large = "[" + " " * 900 + "]"
        one, two = client.session(text=large), client.session(text="[2]")
        client.session(text=large)
        assert client.ask("GET", f"/api/sessions/{one}/view").status == 404
        client.session(text=large * 2)
        assert client.ask("GET", f"/api/sessions/{two}/view").status == 404


def test_streams_are_counted() -> None:
    """The number of streams is limited."""
    with running(replace(QUICK, streams=2)) as server:
        client = Client(server.url)
        session = client.session(text="1")
        with client.follow(session) as one, client.follow(session) as two:
            one.read_to_finish()
            two.read_to_finish()
            with client.follow(session) as third:
                third.read_until(lambda: bool(third.status))
                assert third.status == b"429"


def test_ids_cannot_be_guessed(client: Client) -> None:
    """They are random, 128 bits each."""
    ids = {client.session(text="1") for _ in range(5)}
    assert len(ids) == 5
    assert all(len(name) >= 22 for name in ids)


def test_a_session_that_is_made_keeps_nobody_waiting(client: Client) -> None:
    """While a large text is read, other requests are answered."""
    data = json.dumps([{"n": number, "text": "x" * 20} for number in range(1_000)]).encode()
    made: list[int] = []
    maker = threading.Thread(target=lambda: made.append(client.ask("POST", "/api/sessions?cut=8", data).status))
    maker.start()
    answered = 0
    while not made and maker.is_alive():
        answered += client.ask("GET", "/api/info").status == 200
    maker.join(PATIENCE)
    assert made == [201]
    assert answered > 2


# What may be loaded.

SNAPSHOTS = '{"a": "x"}\n{"a": "xy"}\n{"a": "xyz", "b": 1}\n'


@pytest.mark.parametrize(
    ("body", "kind", "tracks"),
    [
        ({"text": TRIP}, "json", ["json"]),
        ({"text": '{"a": 1}\n{"a": 2}\n{"b": 3}\n', "kind": "ndjson"}, "ndjson", ["json"]),
        ({"text": 'data: {"a": \n\ndata: 1}\n\n'}, "sse", ["json"]),
        ({"text": read_sample("weather-tools").decode()}, "sse", ["reasoning", "content", "call 0", "call 1"]),
        ({"text": '{"message": {"content": "Hi"}, "done": false}\n', "format": "ollama"}, "chunks", ["content"]),
        ({"text": SNAPSHOTS}, "snapshots", ["json"]),
        ({"text": read_sample("trip").decode(), "kind": "recording"}, "sse", ["content"]),
        ({"text": "```json\n[1]\n```", "extract": True}, "json", ["json"]),
        ({"text": "{a: 1}", "repair": "spelling"}, "json", ["json"]),
        ({"text": ""}, "json", []),
        *[({"sample": name}, None, None) for name in SAMPLES],
    ],
    ids=lambda value: str(value)[:40],
)
def test_every_kind_of_input_is_read(client: Client, body: Any, kind: str | None, tracks: list[str] | None) -> None:
    """The kind is detected or given; each has a document, and a view of every step."""
    session = client.session(**body)
    document = client.document(session)
    if kind is not None:
        assert document["kind"] == kind
        assert [track["name"] for track in document["tracks"]] == tracks
    assert document["is_finished"]
    assert not document["is_live"]
    for step in {0, 1, document["last"] // 2, document["last"]}:
        seen = client.view(session, f"step={step}")
        assert seen["step"] == min(step, document["last"])
        assert seen["last"] == document["last"]


def test_an_upload_is_the_same_as_a_text(client: Client) -> None:
    """Its options are in the query string; what it holds need not be UTF-8."""
    answer = client.ask("POST", "/api/sessions?cut=3&title=trip.json&kind=json", TRIP.encode())
    document = client.document(answer.json["id"])
    assert (document["title"], document["characters"]) == ("trip.json", len(TRIP))
    assert document["last"] == -(-len(TRIP) // 3) + 1
    broken = client.ask("POST", "/api/sessions", b'["\xff"]').json["id"]
    assert client.view(broken)["error"]["offset"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": 1},
        {"text": "1", "sample": "trip"},
        {"sample": "unknown"},
        {"text": "1", "kind": "xml"},
        {"text": "1", "kind": 1},
        {"text": "1", "format": "unknown"},
        {"text": "1", "format": ["ollama"]},
        {"text": "1", "cut": 0},
        {"text": "1", "cut": 1_000_001},
        {"text": "1", "cut": True},
        {"text": "1", "extract": "yes"},
        {"text": "1", "repair": "all"},
        {"text": "1", "repair": True},
        {"text": "1", "title": 3},
        {"text": "1", "schema": "string"},
        {"text": "1", "schema": {"type": "strange"}},
        {"url": "file:///etc/passwd"},
        {"url": "ftp://localhost/x"},
        {"url": "http://"},
        {"url": "http://[::1"},
        [],
        "text",
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_words(client: Client, body: object) -> None:
    """422, and why."""
    answer = client.ask("POST", "/api/sessions", body)
    assert answer.status == 422
    assert answer.json["error"]


def test_a_body_that_is_no_json_is_refused(client: Client) -> None:
    """Nor is one that nests without end."""
    for body in (b"{", b"[" * 100_000, b"\xff"):
        headers = {"Content-Type": "application/json"}
        assert client.ask("POST", "/api/sessions", body, headers).status == 422


@pytest.mark.parametrize(
    "query",
    ["step=x", "step=-1", "time=soon", "time=nan", "folded=1,x", "track=none", "count=²"],
)
def test_a_view_that_makes_no_sense_is_refused_in_words(client: Client, query: str) -> None:
    """422, and why."""
    answer = client.ask("GET", f"/api/sessions/{client.session(text=TRIP)}/view?{query.replace('²', '%C2%B2')}")
    assert answer.status == 422
    assert answer.json["error"]


def test_half_of_a_surrogate_pair_is_no_reason_to_fail(client: Client) -> None:
    """It may be in a text, and cannot be in UTF-8: the text of a message has a replacement character for it."""
    chunk = {"message": {"content": '{"a": "\ud83d'}, "done": False}
    session = client.session(text=json.dumps(chunk) + "\n", format="ollama")
    assert client.view(session)["text"]["chars"] == '{"a": "\N{REPLACEMENT CHARACTER}'
    assert client.document(session)["problem"] is None


def test_a_recording_that_breaks_off_is_shown_as_far_as_it_goes(client: Client) -> None:
    """The steps before it stay, and the problem has the number of the line."""
    lines = [HEADER, '{"t": 0.5, "text": "[1, 2"}\n', '{"t": 0.1, "text": "]"}\n']
    session = client.session(text="".join(lines))
    document = client.document(session)
    assert "line 3" in document["problem"]
    assert client.view(session)["text"]["chars"] == "[1, 2"


# Schemas.


def test_a_schema_is_given_changed_and_taken_away(client: Client) -> None:
    """The typed value at any step, with missing paths and problems; followers learn that there is a schema."""
    session = client.session(text=TRIP, cut=5)
    path = f"/api/sessions/{session}/schema"
    with client.follow(session) as follower:
        follower.read_to_finish()
        assert client.view(session)["typed"] is None
        assert client.ask("PUT", path, {"schema": SCHEMA}).status == 204
        follower.read_until(lambda: bool(follower.document["schema"]))
        assert [event.event for event in follower] == ["snapshot", "patch"]
        seen = [client.view(session, f"step={step}")["typed"] for step in (0, 4, 99, 4)]
        assert [typed["status"] for typed in seen] == ["missing", "partial", "complete", "partial"]
        assert seen[1] == seen[3]
        assert seen[1]["missing"] == ["$.days", "$.ok"]
        assert json.loads(seen[1]["value"]) == {"title": "Trip to F"}
        assert json.loads(seen[2]["value"]) == json.loads(TRIP)
        wrong = {"type": "object", "properties": {"title": {"type": "number"}}}
        assert client.ask("PUT", path, {"schema": wrong}).status == 204
        typed = client.view(session)["typed"]
        assert (typed["status"], typed["problems"][0]["path"]) == ("invalid", "$.title")
        assert client.ask("PUT", path, {"schema": 7}).status == 422
        assert client.ask("PUT", path, {"schema": {"type": "strange"}}).status == 422
        assert client.view(session)["typed"]["status"] == "invalid"
        assert client.ask("PUT", path, {"schema": None}).status == 204
        follower.read_until(lambda: not follower.document["schema"])
        assert client.view(session)["typed"] is None


def test_a_schema_that_needs_what_is_not_installed_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words that say what to install."""
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    answer = client.ask("POST", "/api/sessions", {"text": "1", "schema": {"not": {"type": "string"}}})
    assert (answer.status, "unspool[jsonschema]" in answer.json["error"]) == (422, True)
