"""Screenshots of the studio, from the real page in Chromium: ``python -m build_tools.pictures.studio``.

A file beside them has the hash of everything they show, so that a test can say when they are out of date without a
browser.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["FOLDER", "HASH", "SHOTS", "fingerprint", "is_current", "write"]

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "docs" / "pictures"
HASH: Final = "studio.sha256"
SHOWN: Final = (
    "src/unspool/tools/studio/static/*",
    "src/unspool/tools/viewer/samples/*",
    "build_tools/pictures/studio.py",
)
PATIENCE: Final = 30.0  # seconds
WAIT: Final = """async ([selector, value]) => {
  const end = performance.now() + 20000;
  const text = () => document.querySelector(selector)?.textContent ?? "";
  while (!text().includes(value)) {
    if (performance.now() > end) throw new Error(`waited in vain for ${value} in ${selector}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}"""
SCRUB: Final = """share => {
  const scrub = document.querySelector("#scrub");
  scrub.value = Math.round(scrub.max * share);
  for (const name of ["input", "change"]) scrub.dispatchEvent(new Event(name));
}"""


class View(NamedTuple):
    """A view of the page: a sample, how far it has come, and the keys to press before the picture is taken."""

    sample: str
    share: float = 0.0
    keys: tuple[str, ...] = ()
    compare: str | None = None


class Shot(NamedTuple):
    """One picture: a view, the window, and its colours."""

    name: str
    view: View
    size: tuple[int, int]
    scheme: Literal["light", "dark"]


VIEWS: Final = {
    "studio": View("trip", 0.75),
    "studio-compare": View("unordered-a", 0.6, compare="unordered-b"),
    "studio-error": View("cut-off", 1.0, keys=("6",)),
    "studio-message": View("weather-tools", 0.8, keys=("2",)),
    "studio-snapshots": View("snapshots", 0.5),
    "studio-welcome": View(""),
}
LOOKS: Final[dict[str, tuple[tuple[int, int], Literal["light", "dark"]]]] = {
    "light": ((1280, 800), "light"),
    "dark": ((1280, 800), "dark"),
    "small": ((1024, 640), "light"),
    "phone": ((390, 844), "light"),
}
SHOTS: Final = tuple(
    [Shot(f"{name}-{look}.png", view, *window) for name, view in VIEWS.items() for look, window in LOOKS.items()]
)


def write(folder: Path = FOLDER) -> None:
    """Take all pictures. Needs playwright, Chromium and the packages of the studio."""
    from playwright.sync_api import sync_playwright

    from unspool.tools.studio import server as served

    if not Path(served.__file__).is_relative_to(ROOT):
        raise RuntimeError("the pictures must show the sources: use `make pictures`, or set PYTHONPATH=src")
    folder.mkdir(parents=True, exist_ok=True)
    server = served.StudioServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + PATIENCE
        while not server.started:
            if time.monotonic() > end:
                raise TimeoutError("the studio does not start")
            time.sleep(0.02)
        named = os.environ.get("UNSPOOL_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=named, args=["--no-sandbox", "--disable-gpu"])
            for shot in SHOTS:
                context = browser.new_context(
                    viewport={"width": shot.size[0], "height": shot.size[1]},
                    color_scheme=shot.scheme,
                    reduced_motion="reduce",
                )
                page = context.new_page()
                page.goto(server.url)
                _take(page, shot.view, folder / shot.name)
                for stream in page.locator("#streams .close").all()[::-1]:
                    stream.click()
                context.close()
            browser.close()
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
    (folder / HASH).write_text(fingerprint() + "\n", encoding="utf-8")


def _take(page: Page, view: View, file: Path) -> None:
    page.evaluate(WAIT, ["#samples", "compare"])
    if view.sample:
        page.select_option("#sample", view.sample)
        page.evaluate(WAIT, ["#where", "/"])
        if view.compare is not None:
            page.select_option("#compare", f"sample {view.compare}")
            page.evaluate(WAIT, ["#where", "moment"])
        page.evaluate(SCRUB, view.share)
        for key in view.keys:
            page.keyboard.press(key)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(600)  # the last answers, and the rows in their places
    page.screenshot(path=file)


def fingerprint() -> str:
    """Return the hash of the files that the pictures show."""
    whole = sha256()
    for pattern in SHOWN:
        for file in sorted(ROOT.glob(pattern)):
            whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()


def is_current(folder: Path = FOLDER) -> bool:
    """Whether the pictures show the page as it is."""
    known = folder / HASH
    return known.is_file() and known.read_text(encoding="utf-8").strip() == fingerprint()


if __name__ == "__main__":
    write()
