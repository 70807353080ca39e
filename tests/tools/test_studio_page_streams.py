"""The studio's page in a real browser: live streams, broken connections, keys, a phone, the dark, pictures.

UNSPOOL_SCREENSHOTS names a folder for the pictures.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.support import browser as browsers
from tests.support.browser import REFUSED, WIDE
from tests.support.studio import Client, running
from tests.support.studio_inputs import TRIP
from unspool.tools.studio.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from playwright.sync_api import Browser, Request

    from tests.support.browser import Page
    from unspool.tools.studio.server import StudioServer

PHONE = (360, 740)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


# Live streams, broken connections, and dropped sessions.


class Slow(BaseHTTPRequestHandler):
    """Gives a document in pieces, as fast as the test lets it."""

    pieces: tuple[bytes, ...] = ()
    gate = threading.Semaphore(0)

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        for piece in self.pieces:
            if not self.gate.acquire(timeout=20):
                return
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def slow(*pieces: str) -> Generator[tuple[str, Callable[..., None]]]:
    """The address of a slow stream, and a function that releases more of its pieces."""
    gate = threading.Semaphore(0)
    handler = type("Handler", (Slow,), {"pieces": tuple(piece.encode() for piece in pieces), "gate": gate})
    source = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    source.daemon_threads = True
    thread = threading.Thread(target=source.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{source.server_address[1]}/", gate.release
    finally:
        gate.release(1000)
        source.shutdown()
        source.server_close()
        thread.join(5)


def watch_url(page: Page, url: str) -> None:
    page.press("u")
    page.raw.fill("#open-url", url)
    page.press("Enter")


LINES = [json.dumps({"day": number, "text": "y" * 20}) + "\n" for number in range(12)]


def shows(page: Page, count: int) -> None:
    """Wait until the page shows this number of lines."""
    page.wait("text => document.querySelector('#text').textContent === text", "".join(LINES[:count]))


def test_a_url_is_shown_as_it_comes(page: Page) -> None:
    """At its end the page follows the stream; at another step it stays there."""
    with slow(*LINES) as (url, release):
        release(2)
        watch_url(page, url)
        shows(page, 2)
        assert page.evaluate("document.body.classList.contains('is-live')")
        for count in (3, 4):
            release()
            shows(page, count)
        page.press("ArrowLeft")
        shows(page, 3)
        before = page.last
        release()
        page.wait("before => Number(document.querySelector('#scrub').max) > before", before)
        page.settle()
        shows(page, 3)
        page.press("End")
        shows(page, 5)
        release(7)
        shows(page, 12)
        page.wait("!document.body.classList.contains('is-live')")
    page.check()


def test_a_stream_that_is_cut_goes_on_where_it_was(page: Page, server: StudioServer) -> None:
    """The browser comes back by itself, says what it has seen, and gets what it missed and nothing else."""

    asked: list[Request] = []
    page.raw.on("request", lambda request: asked.append(request))
    with slow(*LINES) as (url, release):
        release(3)
        watch_url(page, url)
        shows(page, 3)
        before = len([request for request in asked if "/stream" in request.url])
        cut_streams(server)
        page.wait("document.querySelector('#connection').textContent !== ''")
        release(9)
        page.wait("document.querySelector('#connection').textContent === ''")
        shows(page, 12)
        page.wait("!document.body.classList.contains('is-live')")
        assert page.session is not None
        bars = Client(server.url).document(page.session)["waterfall"]["bars"]
        page.wait(
            "words => document.querySelector('#waterfall-fact').textContent === words",
            f"{len(bars)} of {len(bars)} complete",
        )
    streams = [request.url for request in asked if "/stream" in request.url]
    assert not any("after=" in url for url in streams[:before])
    assert len(streams) > before
    assert all("after=" in url for url in streams[before:])
    page.check(allowed=("net::ERR",))


def cut_streams(server: StudioServer) -> None:
    """Close every connection of the server, as a network would."""
    loop = server.servers[0].get_loop()
    done = threading.Event()

    def cut() -> None:
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        done.set()

    loop.call_soon_threadsafe(cut)
    assert done.wait(10)


def test_a_page_that_is_loaded_again_shows_what_it_showed(page: Page) -> None:
    page.show("answer")
    page.scrub(33)
    page.wait("location.hash.includes('step=33')")
    text = page.evaluate("document.querySelector('#text').textContent")
    page.raw.reload()
    page.at(33)
    assert page.evaluate("document.querySelector('#text').textContent") == text
    page.check()


def test_a_session_that_is_gone_is_said_to_be_gone(page: Page, server: StudioServer) -> None:

    page.show("answer")
    assert Client(server.url).ask("DELETE", f"/api/sessions/{page.session}").status == 204
    page.click("#back")
    page.wait("document.querySelector('#notice').textContent.includes('no longer has this session')")
    page.show("snapshots")
    assert not page.is_visible("#notice")
    assert page.step == page.last
    page.check(allowed=REFUSED)


def test_an_address_of_a_session_that_never_was(new_page: Callable[..., Page]) -> None:
    page = new_page("#session=nonsense&step=3")
    page.wait("document.querySelector('#notice').textContent.includes('no longer has this session')")
    assert page.is_visible("#welcome")
    page.wait("location.hash === ''")
    page.check(allowed=REFUSED)


def test_a_server_that_is_stopped_is_said_to_be_stopped(browser: Browser) -> None:

    with running() as short:
        page = browsers.Page(browser, short.url)
        page.show("snapshots")
    page.click("#back")
    page.wait("document.querySelector('#notice').textContent.includes('does not answer')")
    assert "connection lost" in page.text("#connection")
    page.check(allowed=(*REFUSED, "net::ERR"))
    page.close()


def test_a_stream_that_is_refused_is_said_to_be(browser: Browser) -> None:
    """The browser does not tell the page why; a view does."""
    with running(Settings(streams=0)) as busy:
        page = browsers.Page(browser, busy.url)
        session = Client(busy.url).session(text="[1]")
        page.raw.goto(f"{busy.url}#session={session}")
        page.wait("document.querySelector('#notice').textContent.includes('Too many pages')")
        page.check(allowed=REFUSED)
        page.close()


# By keyboard, on a phone, in the dark.


def test_everything_by_keyboard(page: Page) -> None:
    page.press("p")
    page.raw.keyboard.insert_text(json.dumps(TRIP))
    for _ in range(10):
        page.press("Tab")
        if page.evaluate("document.activeElement.id") == "open-go":
            break
    page.opening(lambda: page.press("Enter"))
    last = page.last
    page.press("Home")
    page.at(0)
    page.press("ArrowRight", "ArrowRight", "ArrowLeft", ".", ",")
    page.at(1)
    page.press("End")
    page.at(last)
    there = last
    for _ in range(2):
        there = page.view(step=there)["previous_completion"]
        page.press("Shift+ArrowLeft")
        page.at(there)
    page.press("Shift+ArrowRight")
    page.at(page.view(step=there)["next_completion"])
    for _ in range(6):
        page.press("+")
    assert page.raw.input_value("#speed") == "max"
    page.press("Space")
    page.wait("document.querySelector('#play').ariaLabel === 'Play' && document.querySelector('#scrub').value > 5")
    page.press("?")
    assert page.is_visible("#help-dialog")
    assert "path" in page.text("#keys")
    page.press("Escape")
    assert not page.is_visible("#help-dialog")
    page.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"
    page.raw.keyboard.insert_text("$.title")
    page.wait("document.querySelectorAll('#tree .row').length === 1")
    page.press("Escape", "Escape")
    page.wait("document.querySelectorAll('#tree .row').length === 10")
    assert page.evaluate("document.activeElement.id") == "scrub"
    page.press("7")
    assert page.raw.get_attribute("#tab-state", "aria-selected") == "true"
    page.check()


def test_the_tree_by_keyboard(page: Page) -> None:
    page.paste(json.dumps(TRIP))
    page.raw.focus("#tree")
    page.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft")
    page.wait("document.querySelectorAll('#tree .row').length === 3")
    active = page.raw.get_attribute("#tree", "aria-activedescendant")
    assert page.raw.get_attribute(f"#{active}", "aria-expanded") == "false"
    page.press("ArrowRight")
    page.wait("document.querySelectorAll('#tree .row').length === 10")
    page.press("ArrowRight", "ArrowDown", "Enter")
    assert page.texts("#tree .row.chosen .key") == ["subtitle"]
    page.press("ArrowLeft")
    page.settle()
    assert page.texts("#tree .row.active .key") == ["[0]"]
    page.check()


def test_every_control_has_a_name_and_shows_the_focus(page: Page) -> None:
    page.show("answer")
    unnamed = page.evaluate("""() => {
      const all = [...document.querySelectorAll("button, select, input, textarea, [tabindex='0']")];
      const isNamed = (node) => node.ariaLabel || node.textContent.trim() || node.labels?.length
        || node.getAttribute("aria-labelledby") || node.hidden;
      return all.filter((node) => !isNamed(node)).map((node) => node.id);
    }""")
    assert unnamed == []
    seen: list[str] = []
    page.evaluate("document.querySelector('#sample').focus()")
    for _ in range(90):  # each opened stream has two buttons
        page.press("Tab")
        focused, outline = page.evaluate(
            "[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]"
        )
        if focused and focused in seen:
            break
        assert outline != "none" or not focused, focused
        seen.append(focused)
    for name in ("paste", "play", "scrub", "text", "filter", "tree", "waterfall", "tab-events", "pane-events"):
        assert name in seen
    page.check()


def test_roles_for_those_who_hear_the_page(page: Page) -> None:
    page.show("answer")
    tree = page.raw.get_by_role("tree", name="Value")
    assert tree.get_by_role("treeitem").count() > 5
    levels = page.evaluate("[...document.querySelectorAll('#tree .row')].map(row => Number(row.ariaLevel))")
    assert levels[0] == 1
    assert max(levels) > 3
    assert page.raw.get_by_role("slider", name="Step").count() == 1
    assert page.raw.get_by_role("tab").count() == 6
    assert page.raw.get_by_role("status").count() == 1
    page.check()


def overflowing(page: Page) -> list[str]:
    """The controls that do not fit into the window."""
    found: list[str] = page.evaluate("""() => {
      const wide = [...document.querySelectorAll("button, select, input, .panel, h1, h2, #where")].filter((node) => {
        const place = node.getBoundingClientRect();
        return place.width > 0 && !node.closest("#streams, .tabs") && (place.left < -1 || place.right > innerWidth + 1);
      });
      return wide.map((node) => node.id || node.textContent);
    }""")
    return found


def test_a_phone_shows_everything(new_page: Callable[..., Page]) -> None:
    """Nothing is wider than the window; the panels stand one below the other."""
    page = new_page(size=PHONE, has_touch=True)
    for name in ("answer", "snapshots", "broken"):
        page.show(name)
        page.scrub(round(page.last * 0.6))
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert overflowing(page) == []
    page.show("answer")
    tops = [
        page.evaluate(f"document.querySelector('#panel-{name}').getBoundingClientRect().top")
        for name in ("text", "value", "waterfall")
    ]
    assert tops == sorted(set(tops))
    page.click("#paste")
    assert overflowing(page) == []
    page.press("Escape")
    page.check()


def test_light_and_dark(page: Page) -> None:
    """As the system has it, unless the button says otherwise; the choice is kept."""
    background = "getComputedStyle(document.body).backgroundColor"
    colours = {}
    for scheme in SCHEMES:
        page.raw.emulate_media(color_scheme=scheme)
        colours[scheme] = page.evaluate(background)
    page.raw.emulate_media(color_scheme="light")
    assert colours["light"] != colours["dark"]
    page.press("t")
    assert page.evaluate(background) == colours["light"]
    page.click("#theme")
    assert page.text("#theme") == "Dark"
    assert page.evaluate(background) == colours["dark"]
    page.raw.reload()
    page.wait("document.querySelector('#theme').textContent === 'Dark'")
    assert page.evaluate(background) == colours["dark"]
    page.click("#theme")
    assert page.evaluate(background) == colours["light"]
    page.check()


PAIRS = [
    ("#title", "#top"),
    ("#format", "#top"),
    ("#where", "body"),
    ("h2", "body"),
    ("#text", "body"),
    ("#text mark.new", "#text mark.new"),
    ("#tree .row .tag", "body"),
    ("#tree .row.open .tag", "body"),
    ("#tree .row.is-array .value", "body"),
    ("#tree .row.is-number .value", "body"),
    ("#waterfall-fact", "body"),
    ("#tab-events", "body"),
    ("#tab-typed", ".tabs"),
    ("#play", "#play"),
    ("#status", "#foot"),
    (".pane .kind", "body"),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_can_be_read(page: Page, scheme: Literal["light", "dark"]) -> None:
    """The contrast of text is that of WCAG, level AA: 4.5 to 1; of the bars and lines, 3 to 1."""
    page.show("answer")
    page.raw.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.scrub(41)
    script = """([front, back]) => {
      const shades = (colour) => {
        const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((shade) => {
          const share = shade / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
      };
      const weights = [0.2126, 0.7152, 0.0722];
      const light = (colour) => shades(colour).reduce((sum, shade, index) => sum + shade * weights[index], 0);
      const [one, two] = [light(front), light(back)].sort((a, b) => b - a);
      return (one + 0.05) / (two + 0.05);
    }"""
    style = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
    weak = {}
    for front, back in PAIRS:
        colours = [page.evaluate(style, [front, "color"]), page.evaluate(style, [back, "backgroundColor"])]
        contrast = page.evaluate(script, colours)
        if contrast < 4.5:
            weak[front] = (contrast, *colours)
    assert weak == {}
    body = page.evaluate(style, ["body", "backgroundColor"])
    for name in (".lane .done", ".now", "#scrub"):
        colour = page.evaluate(style, [name, "backgroundColor" if name != "#scrub" else "color"])
        assert page.evaluate(script, [colour, body]) >= 3
    page.raw.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.check()


def test_motion_is_reduced_for_those_who_ask(page: Page) -> None:
    page.show("answer")
    page.scrub(41)
    name = "getComputedStyle(document.querySelector('#text mark.new')).animationName"
    assert page.evaluate(name) == "fade"
    page.raw.emulate_media(reduced_motion="reduce")
    assert page.evaluate(name) == "none"
    page.raw.emulate_media(reduced_motion="no-preference")
    page.check()


# Pictures, to be looked at.


@pytest.mark.parametrize(("shape", "size"), [("wide", WIDE), ("narrow", (390, 844))])
def test_pictures(page: Page, tmp_path: Path, shape: str, size: tuple[int, int]) -> None:
    """A recording half way, snapshots, and invalid JSON, light and dark."""
    wanted = os.environ.get("UNSPOOL_SCREENSHOTS")
    folder = Path(wanted or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page.raw.set_viewport_size({"width": size[0], "height": size[1]})
    page.raw.emulate_media(reduced_motion="reduce")
    for sample, share in (("trip", 0.5), ("snapshots", 0.5), ("broken", 1)):
        page.open_sample(sample)
        page.scrub(round(page.last * share))
        for scheme in SCHEMES if wanted else SCHEMES[:1]:  # without a viewer, that they can be taken
            page.raw.emulate_media(color_scheme=scheme)
            path = folder / f"{sample}-{scheme}-{shape}.png"
            page.raw.screenshot(path=path, full_page=shape == "narrow")
            assert path.stat().st_size > 10_000
    page.raw.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.raw.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.check()
