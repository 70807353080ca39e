"""The studio in a real browser: headless Chromium, driven by Playwright, where both are there.

`Page` is a page of the studio with eyes: it remembers every dialog, every error, every request that leaves the page's
own origin, and everything that the content security policy had to stop.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Dialog, FilePayload
    from playwright.sync_api import Page as RawPage

__all__ = ["Page", "browser", "chromium", "why_not"]

PATIENCE: Final = 20_000  # milliseconds, on a busy machine
TICK: Final = 0.015
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
"""
"""Runs before the page does."""

RESET: Final = """() => {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  for (const id of ["open-kind", "open-format", "open-cut"]) document.getElementById(id).value = "";
  const set = (id, value, name) => {
    document.getElementById(id).value = value;
    document.getElementById(id).dispatchEvent(new Event(name, { bubbles: true }));
  };
  set("filter", "", "input");
  set("speed", "1", "change");
  for (const id of ["tab-events", "mode-snapshots", "notice-close"]) document.getElementById(id).click();
  document.activeElement.blur();
  __hit.length = __stopped.length = 0;
}"""
"""Between two tests."""

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
def browser() -> Generator[Browser]:
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
        self, opened: Browser, url: str, *, address: str = "", size: tuple[int, int] = WIDE, **options: Any
    ) -> None:
        self.url: Final = url
        self.patience = PATIENCE / 1000
        self.context: Final = opened.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url.rstrip("/"))
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
        from tests.support.studio import Client

        query = urlencode({"title": title, **options})
        answer = Client(self.url).ask("POST", f"/api/sessions?{query}", data)
        assert answer.status == 201, answer
        self.opening(lambda: self.raw.goto(f"{self.url}#session={answer.json['id']}"))

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

    def opening(self, act: Any) -> None:
        """The address changes when a session is there; its first view shows a number of steps."""
        before = self.session
        act()
        self.wait("before => new URLSearchParams(location.hash.slice(1)).get('session') !== before", before)
        self.wait("Number(document.querySelector('#scrub').max) > 0")
        self.settle()

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
        """Wait until it is so. Playwright's own way would need a policy that lets it evaluate text."""
        end = time.monotonic() + self.patience
        while not self.raw.evaluate(script, argument):
            assert time.monotonic() < end, f"waited in vain for: {script}"
            time.sleep(TICK)

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
