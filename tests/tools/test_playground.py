"""The playground in Chromium: the studio's page, with Python in a worker and no server but one for files.

It tests the folder that `make playground` built, and is skipped by name where there is none, where its files are older
than the sources, or where there is no browser.
"""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette")

from tests.support import browser as browsers
from tests.support.browser import Page
from tests.support.shared import PROJECT
from unspool.tools.studio.requests import SessionOptions, query_of
from unspool.tools.studio.sessions import Sessions
from unspool.tools.studio.settings import Settings
from unspool.tools.viewer.recordings import SAMPLES, read_sample

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from playwright.sync_api import Browser

FOLDER = PROJECT / "playground"
STUDIO = PROJECT / "src" / "unspool" / "tools" / "studio"
RELAY = PROJECT / "src" / "unspool" / "relay"
PATIENCE = 120_000  # milliseconds: Python starts in two seconds, and much later on a busy machine
TYPED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
JUDGED = {"type": "object", "properties": {"n": {"type": "string", "pattern": "^a"}}}


def why_not() -> str:
    """Why there is nothing to test; empty if there is."""
    if not (FOLDER / "manifest.json").is_file():
        return "no playground is built here: make playground"
    built = (FOLDER / "manifest.json").stat().st_mtime
    sources = [*STUDIO.rglob("*"), *RELAY.rglob("*"), *(PROJECT / "build_tools" / "playground").rglob("*")]
    if any(path.stat().st_mtime > built for path in sources if path.is_file() and path.suffix != ".pyc"):
        return "the playground is older than its sources: make playground"
    return browsers.why_not()


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "it can run")


class Files(SimpleHTTPRequestHandler):
    """A server for files, as simple as those that host documentation."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }
    missing = ""

    def do_GET(self) -> None:
        if self.missing and self.path.endswith(self.missing):
            self.send_error(404)
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(missing: str = "") -> Generator[tuple[str, ThreadingHTTPServer]]:
    """The address of the folder, and its server. One file may be missing."""
    handler = type("Handler", (Files,), {"missing": missing})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(FOLDER)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browsers.launched() as one:
        yield one


@pytest.fixture(scope="module")
def playground(opened: Browser) -> Iterator[Page]:
    """One page for all tests: Python takes a while to start."""
    with served() as (url, _):
        page = Page(opened, url, patience=PATIENCE)
        yield page
        page.close()


@pytest.fixture(autouse=True)
def clean(playground: Page) -> Iterator[None]:
    """Each test leaves a page that asked nobody else for anything, and complained about nothing."""
    playground.reset()
    yield
    playground.check()


def asked(page: Page, call: str, *arguments: Any) -> Any:
    """What the page's own api answers."""
    script = f"async (given) => {{ const api = await import('./static/api.js'); return api.{call}(...given); }}"
    return page.evaluate(script, list(arguments))


def answers_of_the_server(data: bytes, questions: list[dict[str, str]]) -> list[Any]:
    """In a thread, because the driver of the browser has an event loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, natively(data, questions)).result()


async def natively(data: bytes, questions: list[dict[str, str]]) -> list[Any]:
    sessions = Sessions(Settings())
    entry = await sessions.load("", data, SessionOptions())
    return [entry.session.view(query_of(question)) for question in questions]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_views_are_those_of_the_server(playground: Page, name: str) -> None:
    """One studio, two transports: the same input has the same views at every step, to the last field."""
    playground.open_sample(name)
    last = playground.last
    assert last > 10
    questions = [{"step": str(step), "count": "50"} for step in (0, 1, last // 2, last - 1, last)]
    here = json.loads(json.dumps(answers_of_the_server(read_sample(name), questions)))
    there = [asked(playground, "view", playground.session, question) for question in questions]
    assert there == here


def test_it_plays(playground: Page) -> None:
    """The page follows a session over its stream, and shows each step in text, tree and waterfall."""
    playground.open_sample("trip")
    assert playground.rows
    playground.scrub(40)
    early = playground.text("#text")
    playground.scrub(200)
    assert playground.text("#text").startswith(early[:20])
    assert len(playground.text("#text")) > len(early)
    assert playground.count("#waterfall .row") > 5


def test_paste(playground: Page) -> None:
    """Text is read in the page."""
    playground.paste('{"title": "Fuji", "days": [1, 2')
    assert "Fuji" in playground.text("#tree")


def test_a_file(playground: Page) -> None:
    """A file is read in the page, byte for byte."""
    playground.upload("numbers.json", '{"città": "Forlì", "n": [1, 2, 3]}'.encode())
    assert "Forlì" in playground.text("#text")


def test_a_drop(playground: Page) -> None:
    """A file that is dropped anywhere is opened."""
    script = """() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{"dropped": [true]}'], "dropped.json"));
      for (const name of ["dragenter", "dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }"""
    playground.opening(lambda: playground.evaluate(script))
    assert "dropped" in playground.text("#tree")


def test_a_schema(playground: Page) -> None:
    """A schema types the text. What it needs jsonschema-rs for is refused in words, and the page says so before."""
    playground.paste('{"n": "x"}')
    playground.click("#schema")
    assert playground.is_visible("#schema-lacks")
    playground.raw.fill("#schema-text", json.dumps(JUDGED))
    playground.click("#schema-go")
    playground.wait("!document.querySelector('#schema-wrong').hidden")
    assert "jsonschema-rs" in playground.text("#schema-wrong")
    playground.raw.fill("#schema-text", json.dumps(TYPED))
    playground.click("#schema-go")
    playground.wait("!document.querySelector('#schema-dialog').open")
    playground.click("#tab-typed")
    playground.wait("document.querySelector('#pane-typed').textContent.includes('invalid')")


def test_addresses_are_not_there(playground: Page) -> None:
    """A page cannot read other sites, so the control for addresses is hidden, and its key does nothing."""
    assert not playground.is_visible("#url")
    playground.press("u")
    assert not playground.evaluate("document.querySelector('#open-dialog').open")


def test_a_session_that_is_gone(playground: Page) -> None:
    """The stream of an unknown session is refused as by the server: with an error, and for good."""
    script = """async () => {
      const { watch } = await import("./static/stream.js");
      return new Promise((refused) => watch("absent", { connected() {}, refused: () => refused(true) }));
    }"""
    assert playground.evaluate(script)
    with pytest.raises(Exception, match="no such session"):
        asked(playground, "view", "absent", {})


def test_what_is_not_waited_for(playground: Page) -> None:
    """A request that is cancelled rejects with the reason, and the next one is answered."""
    script = """async () => {
      const { send } = await import("./static/server.js");
      const leaving = new AbortController();
      const waiting = send("/api/info", { signal: leaving.signal });
      leaving.abort();
      const name = await waiting.catch((error) => error.name);
      return [name, (await send("/api/info")).status];
    }"""
    assert playground.evaluate(script) == ["AbortError", 200]


def test_nothing_is_uploaded(playground: Page) -> None:
    """Once Python runs, the page sends no request at all, whatever is opened; and its policy permits none elsewhere."""
    sent: list[str] = []
    playground.raw.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    playground.open_sample("weather-tools")
    playground.paste('{"secret": "x"}')
    assert sent == []
    refused = "() => fetch('https://unspool.invalid/').then(() => 'sent', () => 'refused')"
    assert playground.evaluate(refused) == "refused"
    assert playground.evaluate("window.__stopped.splice(0)[0][0]") == "connect-src"
    playground.complaints.clear()
    playground.strangers.clear()


def test_offline_after_the_first_load(opened: Browser) -> None:
    """With the network cut, a reload starts Python again, and samples and texts open."""
    with served() as (url, server):
        page = Page(opened, url, patience=PATIENCE)
        page.wait("document.documentElement.dataset.offline === 'ready'")
        page.wait("navigator.serviceWorker.controller !== null")
        server.shutdown()
        server.server_close()
        page.context.set_offline(True)
        page.raw.reload()
        page.wait("document.documentElement.dataset.python !== undefined")
        page.wait("document.querySelectorAll('#sample option').length > 1")
        page.open_sample("trip")
        assert page.last == 447
        page.paste('{"offline": true}')
        assert "offline" in page.text("#tree")
        page.check()
        page.close()


def test_python_that_does_not_start(opened: Browser) -> None:
    """Where a file is missing, the page says what happened; it does not wait forever."""
    with served(missing="-none-any.whl") as (url, _):
        context = opened.new_context(service_workers="block")
        raw = context.new_page()
        raw.set_default_timeout(PATIENCE)
        raw.goto(url)
        raw.get_by_text("Python could not be started").first.wait_for()
        context.close()
