"""Every script in examples/ runs here, from its start to its end, offline.

Most run in this process, as ``python examples/...`` would run them. Those about providers use the real client, which
reads a recording from a server on loopback; tests/peers has the clients that are missing here, and the runs with a key.
The server with a page runs twice: in this process, where a test can look at each of its promises, and as a process of
its own, where a connection can really break, and where a browser, if there is one, can open its page.
"""

from __future__ import annotations

import asyncio
import json
import re
import runpy
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import browser as browsers
from tests.support.examples import CLIENTS, EXAMPLES, PEERS, SCRIPTS, SHOWN, run
from unspool.llm import MessageStream, SSEDecoder, SSEEvent, detect, iter_sse
from unspool.llm._formats.registry import FORMATS
from unspool.patch import apply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

SERVERS = ["chat_app/answers.py", "chat_app/chat.py", "fastapi_sse.py", "gateway.py"]
"""tests/relay/test_chat_app.py runs the chat."""
NEEDS = {"terminal.py": "rich", "fastapi_sse.py": "fastapi", **CLIENTS}


# The scripts


def test_no_example_is_left_out() -> None:
    """Each of them is run below."""
    assert sorted([*SHOWN, *SERVERS]) == SCRIPTS


@pytest.mark.parametrize("script", [script for script in SHOWN if CLIENTS.get(script) not in PEERS])
def test_an_example(script: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs without a network and without a key, and prints its results and no complaint."""
    if script in NEEDS:
        pytest.importorskip(NEEDS[script])
    monkeypatch.setenv("COLUMNS", "120")
    run(script, monkeypatch)
    printed = capfd.readouterr()
    assert [line for line in SHOWN[script] if line not in printed.out] == []
    assert printed.err == ""


@pytest.mark.parametrize("script", CLIENTS)
def test_an_example_without_its_client(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the client is missing, the script names the packages to install, and ends with a text: exit status 1."""
    name = CLIENTS[script]
    for module in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit) as left:
        run(script, monkeypatch)
    package = name.replace("google.genai", "google-genai")
    assert str(left.value.code).endswith(f': pip install {package} "unspool[cli,pydantic]"')
    source = (EXAMPLES / script).read_text(encoding="utf-8")
    assert f'Needs ``pip install {package} "unspool[cli,pydantic]"``' in source


def test_a_recording_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the replay server does not start, the script ends with what the server said."""
    pytest.importorskip("typer")
    replayed = runpy.run_path(str(EXAMPLES / "providers" / "_replay.py"))["replayed"]
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SystemExit, match=r"nothing\.jsonl"), replayed("nothing.jsonl"):
        pass


def test_no_script_hides_a_library() -> None:
    """Python looks for modules beside the script first: no script has the name of a client."""
    names = {path.stem for path in EXAMPLES.rglob("*.py")}
    assert names.isdisjoint({name.split(".")[0] for name in [*CLIENTS.values(), "unspool", "pydantic"]})


def test_the_terminal_is_drawn_live(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal the tree is drawn again and again, with dots for what is not there yet."""
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("LINES", "60")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    run("terminal.py", monkeypatch)
    assert "\x1b[" in capsys.readouterr().out


def test_recordings() -> None:
    """There is one for each format, it is known by its first chunk, and a script replays it."""
    recordings = {path.stem: path for path in (EXAMPLES / "recordings").iterdir()}
    assert sorted(recordings) == sorted(FORMATS)
    sources = "".join((EXAMPLES / script).read_text(encoding="utf-8") for script in SCRIPTS)
    for name, path in recordings.items():
        chunks = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert detect(chunks[0]) == name
        assert f'replayed("{name}.jsonl"' in sources


# The server, in this process


@pytest.fixture
def server() -> Any:
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    from examples import fastapi_sse

    fastapi_sse.ANSWERS.clear()
    return fastapi_sse


@contextmanager
def client_of(server: Any) -> Iterator[Any]:
    testclient = pytest.importorskip("starlette.testclient")
    with testclient.TestClient(server.app) as client:
        yield client


def started(client: Any) -> str:
    answer = client.post("/trips", params={"pause": 0})
    assert answer.status_code == 201
    return str(answer.json()["events"])


def document(events: list[SSEEvent]) -> Any:
    """What a browser makes of the patches."""
    value: Any = None
    for event in events:
        if event.event == "patch":
            value = apply(value, json.loads(event.data))
    return value


def test_the_server_sends_patches(server: Any) -> None:
    """They add up to the trip; the text on the wire is a few times that of the answer, not its square."""
    with client_of(server) as client:
        response = client.get(started(client))
    events = list(iter_sse([response.content]))
    assert response.headers["content-type"].startswith("text/event-stream")
    assert [event.id for event in events] == [str(number) for number in range(len(events))]
    assert {event.event for event in events[:-1]} == {"patch"}
    assert events[-1].event == "done"
    whole = server.Trip.model_validate_json(server.RECORDED)
    assert server.Trip.model_validate(document(events)) == whole
    operations = [operation for event in events[:-1] for operation in json.loads(event.data)]
    assert {operation["op"] for operation in operations} == {"add", "append"}
    assert len(response.content) < 10 * len(server.RECORDED)


def test_the_server_resumes(server: Any) -> None:
    """`Last-Event-ID` gives what comes after it, nothing twice and nothing left out, wherever it was."""
    with client_of(server) as client:
        place = started(client)
        whole = list(iter_sse([client.get(place).content]))
        for number in (0, 7, len(whole) - 2, len(whole) - 1, len(whole) + 5):
            rest = client.get(place, headers={"Last-Event-ID": str(number)}).content
            assert list(iter_sse([rest])) == whole[number + 1 :]
        for odd in ("", "x", "-3", "9" * 400):
            rest = client.get(place, headers={"Last-Event-ID": odd}).content
            assert list(iter_sse([rest])) == whole


def test_the_server_says_what_failed(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that cannot become a trip ends with its error, which does not quote it; what was right was sent."""

    async def ask_a_model(pause: float) -> AsyncIterator[str]:
        for fragment in ['{"title": "Porto", "travel', 'lers": "secret", ', '"days": []}']:
            yield fragment
            await asyncio.sleep(pause)

    monkeypatch.setattr(server, "ask_a_model", ask_a_model)
    with client_of(server) as client:
        events = list(iter_sse([client.get(started(client)).content]))
    assert document(events)["title"] == "Porto"
    assert events[-1].event == "failed"
    assert "$.travellers" in events[-1].data
    assert "secret" not in events[-1].data


def test_the_server_keeps_few_answers(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest finished one is forgotten for a new one; while none is finished, a new one is refused."""
    monkeypatch.setattr(server, "MOST_ANSWERS", 2)
    with client_of(server) as client:
        first = started(client)
        client.get(first)
        slow = client.post("/trips", params={"pause": 1}).json()["events"]
        third = started(client)  # the first goes
        assert client.get(first).status_code == 404
        client.get(third)
        server.ANSWERS[third.split("/")[2]].is_finished = False
        assert client.post("/trips", params={"pause": 0}).status_code == 503
        assert slow.split("/")[2] in server.ANSWERS
        for task in list(server.TASKS):
            client.portal.call(task.cancel)


@pytest.mark.parametrize("pause", ["-1", "2", "nan", "soon"])
def test_the_server_refuses_odd_pauses(server: Any, pause: str) -> None:
    """A pause is a second at most."""
    with client_of(server) as client:
        assert client.post("/trips", params={"pause": pause}).status_code == 422


def test_the_page(server: Any) -> None:
    """Page, script and style have a policy that lets nothing in from elsewhere, and ask for nothing from there."""
    with client_of(server) as client:
        for place in ("/", "/fastapi_sse.js", "/fastapi_sse.css"):
            response = client.get(place)
            assert response.status_code == 200
            assert response.headers["content-security-policy"].startswith("default-src 'none'")
            assert "http:" not in response.text
            assert "https:" not in response.text
            assert "innerHTML" not in response.text


def test_the_gateway_plays_a_recording() -> None:
    """To clients of each protocol; tests/peers/test_gateway_clients.py tries it with real clients, and an upstream."""
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    testclient = pytest.importorskip("starlette.testclient")
    from examples import gateway

    contents: set[str] = set()
    with testclient.TestClient(gateway.gateway(None, pause=0)) as client:
        for path, target in gateway.TARGETS.items():
            response = client.post(f"/v1/{path}", json={"stream": True})
            assert response.status_code == 200
            state = MessageStream(response.content, format=target).final()
            assert [call.name for call in state.tool_calls] == ["forecast"]
            contents.add(state.content)
        assert client.post("/v1/messages", json={}).status_code == 400
        assert client.post("/v1/messages", content=b"{").status_code == 400
        assert client.post("/v1/other", json={}).status_code == 404
    assert len(contents) == 1


# The server, as a process of its own


@contextmanager
def running(script: str) -> Iterator[int]:
    """The port of a server that runs until the end of the block."""
    command = [sys.executable, str(EXAMPLES / script), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            found = re.search(r"running on http://127\.0\.0\.1:(\d+)", line)
            if found:
                yield int(found[1])
                return
        raise AssertionError("it did not start")
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_a_connection_that_is_lost() -> None:
    """A client that leaves in the middle and comes back gets exactly what it missed."""
    pytest.importorskip("fastapi")
    with running("fastapi_sse.py") as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/trips?pause=0.003")
        place = json.loads(connection.getresponse().read())["events"]
        decoder = SSEDecoder()
        events: list[SSEEvent] = []
        connection.request("GET", place)
        response = connection.getresponse()
        while len(events) < 10:
            events += decoder.feed(response.read1(200))
        connection.close()

        again = HTTPConnection("127.0.0.1", port, timeout=10)
        again.request("GET", place, headers={"Last-Event-ID": str(events[-1].id)})
        events += list(iter_sse([again.getresponse().read()]))
        again.close()
    assert [event.id for event in events] == [str(number) for number in range(len(events))]
    assert events[-1].event == "done"
    assert document(events)["days"][3]["title"]


def test_the_page_shows_the_trip() -> None:
    """In a browser, its script makes of the patches what was recorded: the document, and a heading for each day."""
    if browsers.why_not():
        pytest.skip(browsers.why_not())
    pytest.importorskip("fastapi")
    complaints: list[str] = []
    with running("fastapi_sse.py") as port, browsers.launched() as browser:
        page = browser.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text))
        page.route("**/trips", lambda route: route.continue_(url=f"{route.request.url}?pause=0"))
        page.route("**/favicon.ico", lambda route: route.fulfill())
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_text("Complete, in ").wait_for()
        shown, title = page.locator("#document").inner_text(), page.locator("#title").inner_text()
        days = page.locator("#days h3").all_inner_texts()
    from examples import fastapi_sse

    trip = fastapi_sse.Trip.model_validate_json(fastapi_sse.RECORDED)
    assert json.loads(shown) == trip.model_dump(mode="json")
    assert (title, days) == (trip.title, [day.title for day in trip.days])
    assert complaints == []
