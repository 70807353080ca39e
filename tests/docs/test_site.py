"""The built documentation in Chromium: code fits or scrolls, nothing is clipped, and axe finds nothing serious."""

from __future__ import annotations

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.shared import PROJECT
from tests.tools.test_studio_page_marks import axe, serious  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from playwright.sync_api import Browser

pytestmark = pytest.mark.long

MAIN = ["index.html", "tutorial.html", "which-part.html", "values.html", "benchmarks.html", "reference/unspool.html"]
MEASURE = """() => ({
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  clipped: [...document.querySelectorAll("pre > code")].filter((one) => one.scrollWidth > one.clientWidth + 1).length,
  lost: [...document.images].filter((image) => image.complete && !image.naturalWidth).length,
})"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves the site, and logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Site:
    """The pages, and the address at which they are served."""

    def __init__(self, folder: Path, address: str) -> None:
        self.address = address
        self.pages = sorted(str(page.relative_to(folder)) for page in folder.rglob("*.html"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The documentation, built as `make docs` builds it."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--site-dir", str(folder)]
    built = run(command, cwd=PROJECT, capture_output=True, text=True, timeout=600, check=False)
    assert built.returncode == 0, built.stderr
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_the_window(browser: Browser, site: Site, width: int) -> None:
    """No page is wider than the window. At 1280 pixels no code is clipped; on a phone it scrolls inside its block."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(120_000)
    wrong: dict[str, Any] = {}
    for name in site.pages:
        page.goto(site.address + name)
        found = page.evaluate(MEASURE)
        if found["wide"] > 0 or found["lost"] or (width == 1280 and found["clipped"]):
            wrong[name] = found
    page.close()
    assert len(site.pages) > 60
    assert wrong == {}


def test_a_copied_session_is_code(browser: Browser, site: Site) -> None:
    """The button above a session copies neither the prompts nor the output, so that a user can run what was copied."""
    address = site.address.replace("127.0.0.1", "localhost")  # the clipboard needs a name that Chromium trusts
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}tutorial.html")
    session = page.locator('.highlight:has-text("iter_values(fragments)")').first
    session.hover()
    session.locator("button").first.click()
    page.get_by_text("Copied to clipboard").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    context.close()
    assert copied.startswith("from unspool import iter_values\nfragments = [")
    assert copied.rstrip().endswith("for value in iter_values(fragments):\n    print(value)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_site(
    browser: Browser,
    site: Site,
    axe: str,  # noqa: F811
    scheme: Literal["light", "dark"],
) -> None:
    """The main pages, in the colours that the system asks for."""
    page: Any = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    found: dict[str, list[str]] = {}
    for name in MAIN:
        page.goto(site.address + name)
        page.wait_for_timeout(300)
        assert page.evaluate("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
        found[name] = serious(page, axe)
    page.close()
    assert {name: rules for name, rules in found.items() if rules} == {}
