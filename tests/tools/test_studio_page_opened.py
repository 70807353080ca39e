"""The page of the studio: what happens when a stream is opened, several of them, and two side by side."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from tests.support.browser import REFUSED
from tests.support.studio_inputs import TRIP

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.browser import Page

PLAYS = "document.querySelector('#play').ariaLabel === 'Pause'"
PAUSED = "document.querySelector('#play').ariaLabel === 'Play'"
TABS = "#streams .stream .open"


def has_tabs(page: Page, count: int) -> None:
    page.wait("count => document.querySelectorAll('#streams .stream').length === count", count)


# The first screen, and how a stream begins.


def test_the_first_screen_says_what_it_is_for(new_page: Callable[..., Page]) -> None:
    """One sentence, and the samples as cards, each with a small waterfall; one card compares two of them."""
    page = new_page()
    assert page.text("#welcome h2") == "Watch JSON arrive, field by field"
    page.wait("document.querySelectorAll('.card svg rect.done').length > 30")
    assert page.count(".card:last-child svg") == 2
    page.click(".card:last-child")
    page.wait("document.body.classList.contains('compares')")
    page.check()


def test_a_stream_begins_at_its_start_and_plays(page: Page) -> None:
    page.evaluate("""() => {
      window.__seen = [];
      const where = document.querySelector("#scrub");
      new MutationObserver(() => __seen.push(Number(where.ariaValueText.match(/ ([0-9,]+) [/]/)?.[1].replace(",", ""))))
        .observe(where, { attributes: true, attributeFilter: ["aria-valuetext"] });
    }""")
    page.show("snapshots")
    page.raw.select_option("#speed", "1")
    page.evaluate("__seen.length = 0")
    page.opening(lambda: page.raw.select_option("#sample", "cut-off"), plays=False)
    page.wait("document.querySelector('#scrub').value === document.querySelector('#scrub').max")
    page.wait(PAUSED)
    seen = page.evaluate("__seen.filter(Number.isInteger)")
    assert seen[0] == 0
    assert len(set(seen)) > 2
    assert seen == sorted(seen)
    page.check()


def test_space_plays_after_a_sample_was_chosen(page: Page) -> None:
    """The field of the samples does not keep the focus."""
    page.open_sample("broken")
    page.press("Home")
    page.at(0)
    page.raw.select_option("#speed", "0.25")
    page.press("Space")
    page.wait(PLAYS)
    page.press("Space")
    page.wait(PAUSED)
    page.check()


def test_with_reduced_motion_nothing_plays_by_itself(page: Page) -> None:
    page.raw.emulate_media(reduced_motion="reduce")
    page.opening(lambda: page.raw.select_option("#sample", "trip"), plays=False)
    assert page.step == page.last
    assert page.evaluate(PAUSED)
    page.raw.emulate_media(reduced_motion="no-preference")
    page.check()


def test_input_without_times_shows_no_seconds(page: Page) -> None:
    """Its steps follow at a steady rate, so places are counted in characters, everywhere."""
    page.paste(json.dumps(TRIP))
    page.scrub(4)
    assert page.text("#where").endswith(f"48 / {len(json.dumps(TRIP))} ch")
    shown = [*page.texts("#tree .tag"), page.text("#facts"), page.text("#axis"), page.text("#where")]
    assert not [words for words in shown if words.endswith(" s") or " s " in words or "seconds" in words]
    assert "steady rate" in page.text("#about")
    page.raw.select_option("#speed", "8")
    page.press("Space")
    page.wait("document.querySelector('#scrub').value === document.querySelector('#scrub').max")
    page.wait(PAUSED)
    page.check()


def test_the_strip_has_the_moments_that_matter(page: Page) -> None:
    """Each leads to its step; those that are still to come are pale."""
    page.open_sample("cut-off")
    assert page.session is not None
    summary = page.client.document(page.session)["summary"]
    facts = page.text("#facts")
    for words in ("first field", "half of the fields", "last complete field", "characters", "length", "2\nerrors"):
        assert words in facts
    for number, name in enumerate(("first", "half", "all"), 1):
        page.click(f"#facts > :nth-child({number})")
        page.at(summary[name]["step"])
    page.scrub(summary["half"]["step"])
    later = page.evaluate("[...document.querySelectorAll('#facts > *')].map(one => one.hasAttribute('data-later'))")
    assert later[:3] == [False, False, True]
    page.open_sample("trip")
    assert "all fields" in page.text("#facts")
    page.check()


def test_tokens_are_shown_where_they_are_counted(page: Page) -> None:
    page.open_sample("weather-tools")
    assert "412 in, 231 out" in page.text("#facts")
    page.check()


# Several streams.


def test_the_tab_of_the_current_stream_is_in_sight(new_page: Callable[..., Page]) -> None:
    """With the button that closes it, however many others there are."""
    page = new_page()
    page.raw.set_viewport_size({"width": 390, "height": 844})
    for number in range(6):
        page.paste(f"[{number}]")
    page.wait("document.querySelectorAll('#streams .stream').length >= 6")
    close = "document.querySelector('#streams .stream:last-child:has([aria-current]) .close')"
    page.wait(f"{close}?.getBoundingClientRect().right <= innerWidth")
    page.check()


def test_what_was_opened_stays(new_page: Callable[..., Page]) -> None:
    """Each stream has a tab; pasting destroys none; the browser's back and forward lead through them."""
    page = new_page()
    before = page.count(TABS)
    page.paste('{"one": 1}')
    first = page.session
    page.evaluate("navigator.clipboard.writeText('{\"two\": 2}')")
    page.evaluate("document.activeElement.blur()")
    page.opening(lambda: page.press("Control+v"))
    second = page.session
    assert first != second
    has_tabs(page, page.count(TABS))
    assert page.count(TABS) >= before + 2
    page.raw.go_back()
    page.wait("id => location.hash.includes(id)", first)
    page.wait("document.querySelector('#text').textContent === '{\"one\": 1}'")
    page.raw.go_forward()
    page.wait("document.querySelector('#text').textContent === '{\"two\": 2}'")
    page.raw.locator(TABS).nth(page.count(TABS) - 2).click()
    page.wait("document.querySelector('#text').textContent === '{\"one\": 1}'")
    page.raw.locator("#streams .stream:has([aria-current]) .close").click()
    page.wait("document.querySelector('#text').textContent === '{\"two\": 2}'")
    page.check(allowed=REFUSED)


def test_a_document_of_json_lines_is_chosen(page: Page) -> None:
    lines = "".join([json.dumps({"row": number, "tags": ["a", number]}) + "\n" for number in range(30)])
    page.paste(lines, kind="ndjson")
    assert page.text("#document-count") == "of 30"
    assert page.raw.input_value("#document") == "30"
    page.raw.fill("#document", "7")
    page.raw.press("#document", "Enter")
    page.wait("document.querySelector('#tree').textContent.includes('row6')")
    page.evaluate("document.activeElement.blur()")
    page.press("ArrowLeft")
    page.settle()
    assert page.raw.input_value("#document") == "7"
    assert page.evaluate("document.querySelector('#text').textContent.length") < 7 * 40
    page.check()


# Loading.


class Answers(BaseHTTPRequestHandler):
    """Says 404, or nothing at all until it may go on."""

    gate = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/silent":
            self.gate.wait(20)
        self.send_response(404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_urls_that_fail_leave_the_current_stream_alone(page: Page) -> None:
    """The page says in a sentence what is wrong, and shows what it showed."""
    page.paste('{"kept": true}')
    session = page.session
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for path, words in ((f"{server.server_port}/gone", "status 404"), ("1/", "cannot connect to 127.0.0.1:1: ")):
            page.click("#url")
            page.raw.fill("#open-url", f"http://127.0.0.1:{path}")
            page.click("#open-go")
            page.wait("words => document.querySelector('#notice-text').textContent.includes(words)", words)
            assert page.session == session
            assert page.evaluate("document.querySelector('#text').textContent") == '{"kept": true}'
            assert not page.is_visible("#loading")
    finally:
        server.shutdown()
        server.server_close()
    page.check()


def test_opening_can_be_cancelled(page: Page) -> None:
    """A URL that sends nothing: the page waits, says so, and shows what it showed."""
    page.paste('{"kept": true}')
    session = page.session
    Answers.gate.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page.click("#url")
        page.raw.fill("#open-url", f"http://127.0.0.1:{server.server_port}/silent")
        page.click("#open-go")
        page.wait("document.querySelector('#loading-words').textContent.startsWith('Waiting for http')")
        page.click("#loading-cancel")
        assert not page.is_visible("#loading")
        assert page.session == session
        page.press("Home")
        page.at(0)
    finally:
        Answers.gate.set()
        server.shutdown()
        server.server_close()
    page.check(allowed=REFUSED)


def test_loading_shows_its_progress(page: Page) -> None:
    """The bar counts the bytes that were read; the stream that was there can be used meanwhile."""
    page.evaluate("""() => {
      window.__progress = [];
      const bar = document.querySelector("#busy");
      new MutationObserver(() => __progress.push(bar.value / bar.max)).observe(bar, { attributes: true });
    }""")
    rows = json.dumps({"rows": [{"id": number, "name": f"row {number}"} for number in range(3_000)]}).encode()
    page.upload("rows.json", rows)
    assert page.text("#title") == "rows.json"
    progress = [share for share in page.evaluate("__progress") if share]
    assert progress == sorted(progress)
    assert len({share for share in progress if 0 < share < 1}) >= 2
    assert not page.is_visible("#loading")
    page.check()


def test_prose_offers_extraction(page: Page) -> None:
    """A text that is not JSON, but contains some: one click shows it."""
    page.paste('Here you are:\n{"hidden": [1, 2]}\nAnything else?')
    assert "there is JSON inside it" in page.text("#notice-text")
    page.opening(lambda: page.click("#notice-act"))
    page.wait("document.querySelector('#tree').textContent.includes('hidden')")
    assert not page.is_visible("#notice")
    page.paste("Nothing but prose.")
    assert not page.is_visible("#notice-act")
    page.check()


# Two streams.


def test_two_streams_are_compared(page: Page) -> None:
    """Side by side on one time axis: both texts at the same time, and per field what `profile --compare` says."""
    page.open_sample("unordered-a")
    one = page.session
    page.raw.select_option("#compare", "sample unordered-b")
    page.wait("document.body.classList.contains('compares')")
    page.settle()
    other = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('with')")
    told = page.client.ask("GET", f"/api/sessions/{one}/compare/{other}").json
    assert (
        page.text("#compared-fact") == f"in two: {', '.join([f'{count} {change}' for change, count in told['counts']])}"
    )
    by_path = {row["path"]: row for row in told["rows"]}
    assert by_path["$.verdict"]["change"] == "earlier"
    rows = {row.split("\n")[0]: row.split("\n")[-1] for row in page.texts("#compared-rows .row")}
    assert rows["$.claim"].endswith("earlier")
    page.scrub(500)
    texts = [page.evaluate(f"document.querySelector('#{side}-text').textContent") for side in ("one", "two")]
    time = told["axis"]["total"] / 2
    for session, text in zip((one, other), texts, strict=True):
        assert page.client.view(session or "", f"time={time}")["text"]["chars"] == text
    page.press("Home", "Shift+ArrowRight")
    page.settle()
    assert page.step > 0
    page.raw.reload()
    page.wait("document.body.classList.contains('compares')")
    page.click("#compare-close")
    page.wait("!document.body.classList.contains('compares')")
    page.wait("document.querySelector('#tree').checkVisibility() && document.querySelectorAll('#tree .row').length > 5")
    assert page.session == one
    page.check()


def test_streams_without_times_are_compared_in_characters(page: Page) -> None:
    page.paste('{"a": "long enough", "b": 1}')
    first = page.session
    page.paste('{"b": 1, "a": "long enough"}')
    page.raw.select_option("#compare", f"id {first}")
    page.wait("document.body.classList.contains('compares')")
    page.settle()
    assert page.text("#compared-axis .unit") == "characters"
    rows = {row.split("\n")[0]: row.split("\n")[-1] for row in page.texts("#compared-rows .row")}
    assert rows["$.a"].endswith(" ch earlier")
    page.scrub(500)
    assert page.evaluate("document.querySelector('#two-text').textContent") == '{"a": "long '
    page.check()


def test_a_comparison_plays(page: Page) -> None:
    page.show("answer")
    first = page.session
    page.show("answer")
    page.raw.select_option("#compare", f"id {first}")
    page.wait("document.body.classList.contains('compares')")
    page.raw.select_option("#speed", "8")
    page.press("Space")
    page.wait(PLAYS)
    page.wait(PAUSED)
    page.settle()
    assert page.step == page.last
    assert page.evaluate(
        "document.querySelector('#one-text').textContent === document.querySelector('#two-text').textContent"
    )
    page.check()
