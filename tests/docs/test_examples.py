"""Every script in examples/ is run, from its start to its end, offline.

Most run in this process, as ``python examples/...`` would run them. The server runs twice: in this process, where each
of its promises can be looked at, and as a process of its own on loopback, where a connection can really be lost, and
where a browser, if there is one, can open its page.
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
from tests.support.shared import PROJECT
from unspool.llm import MessageStream, SSEDecoder, SSEEvent, detect, iter_sse
from unspool.llm._formats.registry import FORMATS
from unspool.patch import apply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

EXAMPLES = PROJECT / "examples"
SCRIPTS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py"))
SERVERS = ["chat_app/__main__.py", "chat_app/answers.py", "chat_app/chat.py", "fastapi_sse.py", "gateway.py"]
"""tests/relay/test_chat_app.py runs the chat."""

SHOWN: dict[str, list[str]] = {
    "typed_stream.py": ["complete: 4 days", "stopped after "],
    "llm_stream.py": ["the city is known: 'Lisbon'. The call is still coming."],
    "terminal.py": ["Four slow days between Porto and the Douro (2 travellers)", "15:30  Ribeira on foot  1.5 h"],
    "providers/openai_chat.py": [
        "forecast(Forecast(city='Suva', days=12))  forecast(PartialForecast(city='Lev', days=None))",
        "run call_ferry: Forecast(city='Levuka', days=3), complete",
    ],
    "providers/openai_responses.py": ["PartialPlan(title='A day', stops=None)", "finished: stop, complete: True"],
    "providers/anthropic_messages.py": [
        "the city is known: 'Levuka' (the call is still coming)",
        "run: [Forecast(city='Levuka', days=3)]",
    ],
    "providers/gemini.py": [
        "'The ferry runs only when it is calm.' 'Let me look' []",
        "[PartialForecast(city='Lev', days=None)]",
        "finished: tool_calls",
    ],
    "providers/gemini_interactions.py": [
        "'I ask for the wind.' [PartialForecast(city='Sav', days=None)]",
        "finished: tool_calls (requires_action)",
    ],
    "providers/bedrock.py": ["Plan(title='Two islands', stops=['Taveuni', 'Rabi'])", "calls: (), complete: True"],
    "providers/cohere_chat.py": ["'I look up the weather.' [Forecast(city='Labasa', days=5)]"],
    "providers/ollama_chat.py": ["PartialPlan(title='Rain', stops=None)", "complete: True"],
}
"""What each script prints, among other things."""

NEEDS = {"terminal.py": "rich", "fastapi_sse.py": "fastapi"}
KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "CO_API_KEY", "OLLAMA_HOST"]


def run(script: str) -> None:
    runpy.run_path(str(EXAMPLES / script), run_name="__main__")


# The scripts


def test_no_example_is_left_out() -> None:
    """Each of them is run below."""
    assert sorted([*SHOWN, *SERVERS]) == SCRIPTS


@pytest.mark.parametrize("script", SHOWN)
def test_an_example(script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs without a network and without a key, and prints what it says; of a live stream it says nothing."""
    if script in NEEDS:
        pytest.importorskip(NEEDS[script])
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    run(script)
    printed = capsys.readouterr()
    assert [line for line in SHOWN[script] if line not in printed.out] == []
    assert "live stream" not in printed.out
    assert printed.err == ""


@pytest.mark.parametrize("script", [script for script in SHOWN if script.startswith("providers/")])
def test_how_to_go_live(script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the key of the provider is set, the script says what to write; it still asks nobody."""
    for key in KEYS:
        monkeypatch.setenv(key, "not a key")
    run(script)
    printed = capsys.readouterr().out
    assert "For the live stream, put this in place of chunks():" in printed
    library = re.search(r"^    (?:from|import) (\w+)", printed, re.MULTILINE)
    assert library is not None
    # A script of that name would stand in the way of the library, once its code is put there.
    assert f"{library[1]}.py" not in {path.name for path in EXAMPLES.rglob("*.py")}


def test_the_terminal_is_drawn_live(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal the tree is drawn again and again, with dots for what is not there yet."""
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("LINES", "60")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    run("terminal.py")
    assert "\x1b[" in capsys.readouterr().out


def test_recordings() -> None:
    """There is one for each format, it is known by its first chunk, and a script replays it."""
    recordings = {path.stem: path for path in (EXAMPLES / "recordings").iterdir()}
    assert sorted(recordings) == sorted(FORMATS)
    sources = "".join((EXAMPLES / script).read_text(encoding="utf-8") for script in SCRIPTS)
    for name, path in recordings.items():
        chunks = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert detect(chunks[0]) == name
        assert f'/ "{name}.jsonl"' in sources


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
