"""The studio in a real browser: headless Chromium, driven by Playwright, where both are there.

`Page` is a page of the studio with eyes: it remembers every dialog, every error, every request that leaves the page's
own origin, and everything that the content security policy had to stop. The fixtures are at the end; tests/conftest.py
hands them to those who ask.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import pytest

from tests.support.studio_inputs import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from playwright.sync_api import Browser, Dialog, FilePayload
    from playwright.sync_api import Page as RawPage

    from unspool.tools.studio.server import StudioServer

__all__ = ["COUNT", "REFUSED", "WIDE", "Page", "chromium", "close_unless_needed", "launched", "why_not"]

PATIENCE: Final = 20_000  # milliseconds, on a busy machine
REFUSED: Final = ("Failed to load resource",)  # what Chromium itself says of an answer that is no success
WIDE: Final = (1440, 900)
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WATCH: Final = """
window.__hit = [];
window.__stopped = [];
addEventListener("securitypolicyviolation", (event) => __stopped.push([event.violatedDirective, event.blockedURI]));
for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = (...words) => __hit.push([name, ...words]);
window.__flying = 0;
const fetched = window.fetch;
window.fetch = (...words) => {
  __flying += 1;
  return fetched(...words).finally(() => (__flying -= 1));
};
const read = Response.prototype.json; // an answer that has begun is still on its way
Response.prototype.json = function () {
  __flying += 1;
  return read.call(this).finally(() => (__flying -= 1));
};
"""
"""Runs before the page does."""

RESET: Final = """() => {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const set = (id, value, name) => {
    document.getElementById(id).value = value;
    document.getElementById(id).dispatchEvent(new Event(name, { bubbles: true }));
  };
  if (document.getElementById("filter").value) set("filter", "", "input");
  set("speed", "1", "change");
  for (const id of ["compare-close", "tab-events", "mode-snapshots", "notice-close"])
    document.getElementById(id).click();
  document.activeElement.blur();
  __hit.length = __stopped.length = 0;
  window.__isCounting = false;
}"""
"""Between two tests."""

COUNT: Final = """() => {
  window.__frames = window.__asked = 0;
  window.__isCounting = true;
  window.__steps = new Set();
  const asks = window.fetch;
  window.fetch = (...words) => {
    __asked += 1;
    return asks(...words);
  };
  const scrub = document.querySelector("#scrub");
  const observer = new MutationObserver(() => __steps.add(scrub.value));
  observer.observe(scrub, { attributes: true });
  const tick = () => {
    __frames += 1;
    if (__isCounting) return requestAnimationFrame(tick);
    observer.disconnect();
    window.fetch = asks;
  };
  tick();
}"""
"""Counts frames and requests, and remembers the steps that are shown, until the test is over."""

WAIT: Final = """([argument, patience]) => new Promise((done, fail) => {
  const end = performance.now() + patience;
  const look = () => {
    if ((IS_SO)(argument)) done();
    else if (performance.now() > end) fail(new Error("waited in vain"));
    else setTimeout(look, 10);
  };
  look();
})"""
"""Asks the page itself: that is quicker, and cheaper, than to ask for it again and again."""

SETTLED: Final = """() => new Promise((done) => {
  let quiet = 0;
  const look = () => {
    quiet = __flying === 0 ? quiet + 1 : 0;
    if (quiet > 3) done();
    else requestAnimationFrame(look);
  };
  look();
})"""
"""Nothing is asked for during some frames."""


def chromium() -> Path | None:
    """The browser: the one that is named, or Debian's, or what is on the path."""
    names = (os.environ.get("UNSPOOL_CHROMIUM"), "/usr/bin/chromium")
    found = [Path(name) for name in names if name and Path(name).exists()]
    names_on_path = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return (found + [Path(name) for name in names_on_path if name] + [None])[0]


def why_not() -> str:
    """Why there is no browser to test with; empty if there is one."""
    if find_spec("playwright") is None:
        return "playwright is not here"
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        return "starlette or uvicorn is not here"
    return "" if chromium() is not None else "no Chromium is here"


@contextmanager
def launched() -> Generator[Browser]:
    """A browser that is closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()


class Page:
    """A page of the studio, and what was seen of it."""

    def __init__(
        self,
        opened: Browser,
        url: str,
        *,
        address: str = "",
        size: tuple[int, int] = WIDE,
        patience: int = PATIENCE,
        **options: Any,
    ) -> None:
        from tests.support.studio import Client

        self.client: Final = Client(url)
        self.url: Final = f"{self.client.origin}/"
        self.patience = patience
        self.context: Final = opened.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.context.set_default_timeout(patience)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self.client.origin)
        self.raw: Final[RawPage] = self.context.new_page()
        self.complaints: Final[list[str]] = []
        self.strangers: Final[list[str]] = []
        self.raw.add_init_script(WATCH)
        self.raw.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.raw.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.raw.on("dialog", self._asks)
        self.raw.on("request", lambda request: self._asked(request.url))
        self.raw.goto(url + address)
        self.wait("document.querySelectorAll('#sample option').length > 1")

    def _asks(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, address: str) -> None:
        if not address.startswith((self.url, "data:")):
            self.strangers.append(address)

    def close(self) -> None:
        self.context.close()

    def reset(self) -> None:
        """As it was at first, but for the session: a page takes longer to load than to be put in order."""
        self.complaints.clear()
        self.strangers.clear()
        self.raw.mouse.move(1, 1)
        self.evaluate(RESET)

    # Doing.

    def click(self, selector: str) -> None:
        self.raw.click(selector)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.raw.keyboard.press(key)

    def open_sample(self, name: str) -> None:
        self.opening(lambda: self.raw.select_option("#sample", name))

    def open_input(self, data: bytes, title: str = "input", **options: object) -> None:
        """As if it had been opened elsewhere: the address names the session."""
        query = urlencode({"title": title, **options})
        answer = self.client.ask("POST", f"/api/sessions?{query}", data)
        assert answer.status == 201, answer
        self.opening(lambda: self.raw.goto(f"{self.url}#session={answer.json['id']}"), plays=False)

    def paste(self, text: str, **fields: str) -> None:
        """Through the dialog; `fields` are those of it, by the last part of their id."""
        self.click("#paste")
        self.raw.fill("#open-text", text)
        for name, value in fields.items():
            self.raw.locator(f"select#open-{name}").select_option(value)
        self.opening(lambda: self.click("#open-go"))

    def upload(self, name: str, data: bytes, selector: str = "#chooser") -> None:
        file: FilePayload = {"name": name, "mimeType": "application/json", "buffer": data}
        self.opening(lambda: self.raw.set_input_files(selector, [file]))

    def opening(self, act: Any, *, plays: bool = True) -> None:
        """The address changes when a session is there; its first view shows a number of steps.

        What is opened in the page plays from its start. Most tests look at its end, so this goes there.
        """
        before = self.session
        self.evaluate("document.querySelector('#scrub').max = '0'")
        act()
        self.wait("before => new URLSearchParams(location.hash.slice(1)).get('session') !== before", before)
        self.wait("Number(document.querySelector('#scrub').max) > 0")
        if plays:
            self.raw.evaluate("document.querySelector('#to-end').click()")
            self.wait("document.querySelector('#scrub').value === document.querySelector('#scrub').max")
        self.settle()

    def show(self, name: str) -> None:
        """Open one of the inputs."""
        self.open_input(INPUTS[name], name)

    def scrub(self, step: int) -> None:
        self.raw.evaluate(
            "step => { const scrub = document.querySelector('#scrub'); scrub.value = step;"
            " scrub.dispatchEvent(new Event('input')); scrub.dispatchEvent(new Event('change')); }",
            step,
        )
        self.at(step)

    # Looking.

    def evaluate(self, script: str, argument: Any = None) -> Any:
        return self.raw.evaluate(script, argument)

    def wait(self, script: str, argument: Any = None) -> None:
        """Wait until it is so: an expression, or a function of the argument.

        Playwright's own way would need a policy that lets it evaluate text.
        """
        is_function = script.partition("=>")[0].strip().isidentifier()
        is_so = script if is_function else f"() => ({script})"
        try:
            self.raw.evaluate(WAIT.replace("IS_SO", is_so), [argument, self.patience])
        except Exception as error:
            raise AssertionError(f"waited in vain for: {script}") from error

    def settle(self) -> None:
        """Wait until the page has shown what it asked for, and drawn it."""
        self.evaluate(SETTLED)

    def at(self, step: int) -> None:
        """Wait until this step is shown."""
        self.wait("step => document.querySelector('#scrub').ariaValueText.includes(` ${step} /`)", f"{step:,}")
        self.settle()

    def text(self, selector: str) -> str:
        return self.raw.locator(selector).first.inner_text()

    def texts(self, selector: str) -> list[str]:
        return self.raw.locator(selector).all_inner_texts()

    def count(self, selector: str) -> int:
        return self.raw.locator(selector).count()

    def is_visible(self, selector: str) -> bool:
        return self.raw.locator(selector).first.is_visible()

    def view(self, **query: Any) -> Any:
        """What the server has for this session."""
        assert self.session is not None
        return self.client.view(self.session, urlencode(query))

    @property
    def session(self) -> str | None:
        found: str | None = self.evaluate("new URLSearchParams(location.hash.slice(1)).get('session')")
        return found

    @property
    def step(self) -> int:
        return int(self.evaluate("document.querySelector('#scrub').value"))

    @property
    def last(self) -> int:
        return int(self.evaluate("document.querySelector('#scrub').max"))

    @property
    def rows(self) -> list[str]:
        """The rows of the tree that are in the page, as they read."""
        return [" ".join(row.split()) for row in self.texts("#tree .row")]

    def check(self, *, allowed: tuple[str, ...] = ()) -> None:
        """Nothing ran that must not, nothing went wrong, and nothing was asked for elsewhere."""
        assert self.evaluate("window.__hit") == []
        assert self.evaluate("window.__stopped") == []
        assert [words for words in self.complaints if not any(part in words for part in allowed)] == []
        assert self.strangers == []


# Fixtures. A browser takes longer to start than most tests take, so there is one for all of them, in every file.


class _Shared:
    """One server, one browser and one page, opened when the first test asks for them."""

    def __init__(self) -> None:
        from tests.support.studio import running

        self._stack = ExitStack()
        self.server: Final = self._stack.enter_context(running())
        self.browser: Final = self._stack.enter_context(launched())
        self.page: Final = Page(self.browser, self.server.url)

    def close(self) -> None:
        self.page.close()
        self._stack.close()


_shared: list[_Shared] = []


@pytest.fixture
def shared() -> _Shared:
    if why_not():
        pytest.skip(why_not())
    if not _shared:
        _shared.append(_Shared())
    return _shared[0]


def close_unless_needed(next_test: pytest.Item | None) -> None:
    """What Playwright starts must not outlive the tests of pages: no other could run an event loop of its own."""
    if _shared and not (isinstance(next_test, pytest.Function) and "shared" in next_test.fixturenames):
        _shared.pop().close()


@pytest.fixture
def server(shared: _Shared) -> StudioServer:
    return shared.server


@pytest.fixture
def browser(shared: _Shared) -> Browser:
    return shared.browser


@pytest.fixture
def new_page(shared: _Shared) -> Iterator[Callable[..., Page]]:
    """Makes pages, which are closed at the end."""
    pages: list[Page] = []

    def make(address: str = "", **options: Any) -> Page:
        pages.append(Page(shared.browser, shared.server.url, address=address, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.close()


@pytest.fixture
def page(shared: _Shared) -> Page:
    """The page of all who do not need one of their own."""
    shared.page.reset()
    return shared.page
