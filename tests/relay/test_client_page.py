"""The browser client in Chromium: reload, offline and online, two tabs, a killed server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support import browser as browsers
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy
from tests.support.redis_server import needs_redis, redis_server
from tests.support.relay_pages import page_server, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.support.relay_pages import PageServer

pytestmark = pytest.mark.either
PATIENCE: Final = 120_000
TEXT: Final = "() => document.getElementById('text').textContent"
COUNT: Final = "count => stream.view.document?.parts?.[0]?.text.split(' ').length > count"
ENDED: Final = "() => stream.view.status === 'done' && stream.view.connection === 'closed'"


@pytest.fixture(scope="module")
def pages() -> Iterator[PageServer]:
    """One server for the tests that do not kill it."""
    if browsers.why_not():
        pytest.skip(browsers.why_not())
    with page_server() as server:
        yield server


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past."""
    opened = browser.new_context()
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def opened(context: BrowserContext, server: PageServer | CuttingProxy, name: str) -> Page:
    """A page that follows a stream."""
    page = context.new_page()
    page.goto(f"{server.url}/?name={name}")
    return page


def requests_of(page: Page) -> list[str]:
    """The requests for streams, from now on."""
    found: list[str] = []

    def note(request: Any) -> None:
        if "/streams/" in request.url:
            found.append(request.url.partition("/streams/")[2])

    page.on("request", note)
    return found


def test_a_page_follows_a_stream_to_its_end(pages: PageServer, context: BrowserContext) -> None:
    """Each piece is shown once, and in order; after the end the page asks no more."""
    page = context.new_page()
    asked = requests_of(page)
    page.goto(f"{pages.url}/?name=plain")
    pages.begin("plain", 40, 0.005)
    page.wait_for_function(ENDED)
    assert page.evaluate(TEXT) == words(40)
    page.wait_for_timeout(500)
    assert asked == ["plain"]


def test_fault_17_a_reload_doubles_nothing(pages: PageServer, context: BrowserContext) -> None:
    """F17: a page that is loaded again in the middle gets a snapshot and the rest."""
    pages.begin("reload", 80, 0.005, hold=40)
    page = opened(context, pages, "reload")
    page.wait_for_function(COUNT, arg=10)
    page.reload()
    page.wait_for_function(COUNT, arg=20)
    pages.go_on("reload")
    page.wait_for_function(ENDED)
    assert page.evaluate(TEXT) == words(80)


def test_two_tabs_see_the_same(pages: PageServer, context: BrowserContext) -> None:
    """A second tab, opened in the middle, ends with the same text; closing it changes nothing for the first one."""
    pages.begin("tabs", 80, 0.005, hold=40)
    first = opened(context, pages, "tabs")
    first.wait_for_function(COUNT, arg=5)
    second, third = opened(context, pages, "tabs"), opened(context, pages, "tabs")
    third.wait_for_function(COUNT, arg=6)
    third.close()
    pages.go_on("tabs")
    for page in (first, second):
        page.wait_for_function(ENDED)
        assert page.evaluate(TEXT) == words(80)


def test_a_page_goes_on_when_it_is_online_again(pages: PageServer, context: BrowserContext) -> None:
    """A page that was offline goes on behind its last entry: no piece is missing, and none is there twice."""
    pages.begin("offline", 150, 0.005, hold=40)
    with cutting_proxy(pages.port) as proxy:
        page = opened(context, proxy, "offline")
        page.wait_for_function(COUNT, arg=10)
        asked = requests_of(page)
        context.set_offline(True)
        proxy.cut()
        page.wait_for_function("() => seen.includes('waiting')")
        pages.go_on("offline")
        proxy.restore()
        page.wait_for_timeout(300)
        context.set_offline(False)
        page.wait_for_function(ENDED)
        assert page.evaluate(TEXT) == words(150)
        assert asked
        assert all(address.startswith("offline?after=") for address in asked)


def test_a_page_that_sleeps_goes_on_where_it_was(pages: PageServer, context: BrowserContext) -> None:
    """A view that was kept is all that a page needs to go on in another page."""
    pages.begin("kept", 60, 0.005, hold=40)
    page = opened(context, pages, "kept")
    page.wait_for_function(COUNT, arg=10)
    page.evaluate("() => { stream.close(); sessionStorage.setItem('view', JSON.stringify(stream.view)); }")
    page.evaluate(
        """async () => {
          const { follow } = await import("/relay.js");
          window.first = [];
          window.stream = follow("/streams/kept", { view: JSON.parse(sessionStorage.getItem("view")) });
          stream.subscribe(({ document }) => window.first.push(document.parts[0].text.length));
        }"""
    )
    pages.go_on("kept")
    page.wait_for_function(ENDED)
    assert page.evaluate("() => stream.view.document.parts[0].text") == words(60)
    assert page.evaluate("() => window.first[0] > 20")  # it did not begin again


def test_a_stream_that_is_not_there_is_told(pages: PageServer, context: BrowserContext) -> None:
    """A name that cannot be is final: the page asks once."""
    page = context.new_page()
    asked = requests_of(page)
    page.goto(f"{pages.url}/?name=%20")
    page.wait_for_function("() => stream.view.error?.status === 404")
    page.wait_for_timeout(300)
    assert len(asked) == 1


@needs_redis
def test_fault_6_a_killed_server_is_followed_by_another_one(browser: Browser, context: BrowserContext) -> None:
    """F6: the server dies in the middle, another one comes: the page goes on behind its last entry."""
    with redis_server() as redis, page_server(redis.url) as writer, page_server(redis.url) as server:
        writer.begin("killed", 200, 0.005, hold=40)
        page = opened(context, server, "killed")
        page.wait_for_function(COUNT, arg=10)
        asked = requests_of(page)
        server.kill()
        page.wait_for_function("() => seen.includes('waiting')")
        writer.go_on("killed")
        restart = threading.Timer(0.3, server.start)
        restart.start()
        page.wait_for_function(ENDED)
        restart.join()
        assert page.evaluate(TEXT) == words(200)
        assert asked
        assert all(address.startswith("killed?after=") for address in asked)
