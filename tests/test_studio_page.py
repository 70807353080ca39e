"""The page of the studio in a real browser: every control, and what the text of others can do to it, which is nothing.

Skipped where there is no browser. UNSPOOL_CHROMIUM names one; UNSPOOL_SCREENSHOTS names a folder for the pictures.
"""

from __future__ import annotations

import json
import os
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.support import browser as browsers
from tests.support.shared import NOT_HERE, shared_data
from unspool.patch import apply
from unspool.viewer.escaping import visible
from unspool.viewer.recordings import HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from playwright.sync_api import Browser, Request

    from tests.support.browser import Page
    from unspool.studio.server import StudioServer

STATIC = Path(__file__).resolve().parents[1] / "src" / "unspool" / "studio" / "static"
REFUSED = ("Failed to load resource",)  # what Chromium itself says of an answer that is no success
PHONE = (360, 740)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TRIP = {"title": "Trip to Fuji", "days": [{"subtitle": "Day 1: Arrival", "activities": [1, 2]}, {"subtitle": "Day 2"}]}
SCHEMA = {
    "title": "Trip",
    "type": "object",
    "required": ["title", "days", "budget"],
    "properties": {"title": {"type": "string"}, "days": {"type": "array"}, "budget": {"type": "number"}},
}


def recorded(text: str, size: int) -> bytes:
    """A recording of a text that came in pieces of this size, the first after half a second."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    lines = [{"t": 0.5 + 0.02 * number, "text": piece} for number, piece in enumerate(pieces)]
    return (HEADER + "".join([json.dumps(line) + "\n" for line in lines])).encode()


def tool_call() -> bytes:
    """Some words, then the arguments of a call, in the manner of OpenAI."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "Let me "}, {"content": "look."}]
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "find", "arguments": ""}}
    deltas.append({"tool_calls": [call]})
    text = json.dumps(TRIP)
    pieces = [text[start : start + 9] for start in range(0, len(text), 9)]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return "".join([f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]).encode()


def snapshots() -> bytes:
    """A pause, two that wait, one of them that moves."""
    values: list[dict[str, Any]] = [
        {"title": "Tr"},
        {"title": "Trip"},
        {"title": "Trip"},
        {"title": "Trip", "days": []},
    ]
    values += [
        {"title": "Trip", "days": [{"kind": "wa", "text": ""}]},
        {"title": "Trip", "days": [{"kind": "walk", "text": ""}]},
    ]
    values.append({"title": "Trip", "days": [{"kind": "walk", "text": "Old lanes"}, {"kind": "bus"}]})
    return "".join([json.dumps(value) + "\n" for value in values]).encode()


LONG_TRIP = {
    **TRIP,
    "budget": {"total": 184_500, "is_fixed": False},
    "notes": None,
    "places": TRIP["days"],
    "end": "Home.",
}
INPUTS = {
    "answer": recorded(json.dumps(LONG_TRIP), 5),
    "calls": tool_call(),
    "snapshots": snapshots(),
    "broken": b'{"title": "Fuji", "days": [1, 2, }, "x": 1}',
}


def show(page: Page, name: str) -> None:
    """Open one of the inputs."""
    page.open_input(INPUTS[name], name)


@pytest.fixture(scope="module")
def server() -> Iterator[StudioServer]:
    if browsers.why_not():
        pytest.skip(browsers.why_not())
    from tests.support.studio import running

    with running() as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if browsers.why_not():
        pytest.skip(browsers.why_not())
    with browsers.browser() as opened:
        yield opened


@pytest.fixture
def new_page(server: StudioServer, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes pages; at the end nothing must have gone wrong in any of them."""
    pages: list[Page] = []

    def make(address: str = "", **options: Any) -> Page:
        pages.append(browsers.Page(browser, server.url, address=address, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def one_page(server: StudioServer, browser: Browser) -> Iterator[Page]:
    opened = browsers.Page(browser, server.url)
    yield opened
    opened.close()


@pytest.fixture
def page(one_page: Page) -> Page:
    """One page for all who do not need one of their own."""
    one_page.reset()
    return one_page


def ask(server: StudioServer, id: str, **query: Any) -> Any:
    from tests.support.studio import Client

    return Client(server.url).view(id, "&".join(f"{name}={value}" for name, value in query.items()))


# What is served, without a browser.


def test_nothing_in_the_page_needs_a_weaker_policy() -> None:
    """No script and no style inside the page, nothing from elsewhere, and text never becomes markup."""
    page = (STATIC / "index.html").read_text()
    assert not re.findall(r"\s(?:style|on[a-z]+)\s*=|<style|<script(?![^>]*\ssrc=)|javascript:", page)
    assert set(re.findall(r"""(?:src|href)=["']([^"']+)""", page)) == {
        "data:,",
        "/static/style.css",
        "/static/main.js",
    }
    for script in STATIC.glob("*.js"):
        words = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?://|DOMParser"
        assert not re.findall(words, script.read_text()), script.name
    assert not re.findall(r"@import|url\(|https?:", (STATIC / "style.css").read_text())


def test_scripts_stay_small() -> None:
    """One idea a file."""
    assert {
        script.name: lines for script in STATIC.glob("*.js") if (lines := len(script.read_text().split("\n"))) > 300
    } == {}


# Opening.


def test_the_first_page_offers_samples(new_page: Callable[..., Page]) -> None:
    page = new_page()
    assert page.is_visible("#welcome")
    assert page.evaluate("document.querySelector('#play').disabled")
    offered = page.texts("#samples button")
    page.opening(lambda: page.click("#samples button:first-child"))
    assert page.text("#title") in offered[0]
    assert not page.is_visible("#welcome")
    page.check()


def test_samples_open(page: Page) -> None:
    names = page.evaluate("[...document.querySelectorAll('#sample option')].map(option => option.value)")[1:]
    assert len(names) > 3
    for name in (names[0], names[-1]):
        page.open_sample(name)
        assert page.step == page.last
    page.check()


def test_text_is_pasted_into_the_dialog(page: Page) -> None:
    page.paste(json.dumps(TRIP))
    assert page.evaluate("document.querySelector('#text').textContent") == json.dumps(TRIP)
    assert "json (detected)" in page.text("#kind")
    page.check()


def test_text_is_pasted_onto_the_page(page: Page) -> None:
    page.evaluate("text => navigator.clipboard.writeText(text)", '{"a": [1, 2]}')
    page.evaluate("document.activeElement.blur()")
    page.opening(lambda: page.press("Control+v"))
    assert page.evaluate("document.querySelector('#text').textContent") == '{"a": [1, 2]}'
    page.check()


def test_the_dialog_asks_for_something(page: Page) -> None:
    page.click("#paste")
    page.click("#open-go")
    assert "Paste some text" in page.text("#open-wrong")
    page.raw.fill("#open-text", "{}")
    page.raw.fill("#open-url", "http://127.0.0.1:1/")
    page.click("#open-go")
    assert "Either" in page.text("#open-wrong")
    page.click("#open-form [data-close]")
    assert not page.is_visible("#open-dialog")
    page.check()


def test_a_file_is_chosen(page: Page) -> None:
    page.upload("trip.json", json.dumps(TRIP).encode())
    assert page.text("#title") == "trip.json"
    page.check()


def test_a_file_is_dropped_anywhere(page: Page) -> None:
    show(page, "snapshots")
    drop = """text => {
      const data = new DataTransfer();
      data.items.add(new File([text], "dropped.json"));
      const at = document.querySelector("#panel-value");
      at.dispatchEvent(new DragEvent("dragenter", { dataTransfer: data, bubbles: true }));
      const veil = !document.querySelector("#drop").hidden;
      at.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
      return veil && document.querySelector("#drop").hidden;
    }"""
    seen: list[bool] = []
    page.opening(lambda: seen.append(page.evaluate(drop, json.dumps(TRIP))))
    assert seen == [True]
    assert page.text("#title") == "dropped.json"
    page.check()


def test_a_file_that_is_too_large_is_refused_here(page: Page) -> None:
    page.evaluate("""() => {
      const data = new DataTransfer();
      const file = new File(["{}"], "huge.json");
      Object.defineProperty(file, "size", { value: 1e12 });
      Object.defineProperty(data, "files", { value: [file] });
      Object.defineProperty(data, "types", { value: ["Files"] });
      const drop = new DragEvent("drop", { bubbles: true, cancelable: true });
      Object.defineProperty(drop, "dataTransfer", { value: data });
      document.body.dispatchEvent(drop);
    }""")
    assert "huge.json has" in page.text("#notice")
    page.click("#notice-close")
    assert not page.is_visible("#notice")
    page.check()


def test_the_kind_can_be_another_one(page: Page) -> None:
    """What was detected can be overruled: the same input is opened again."""
    page.paste('{"a": 1}\n{"a": 1, "b": 2}\n')
    assert "snapshots (detected)" in page.text("#kind")
    page.opening(lambda: page.raw.select_option("#kind", "ndjson"))
    assert page.evaluate("document.querySelector('#kind').value") == "ndjson"
    assert not page.is_visible("#panel-snapshot")
    assert page.evaluate("document.querySelector('#text').textContent") == '{"a": 1}\n{"a": 1, "b": 2}\n'
    page.check()


def test_what_the_server_refuses_is_said(page: Page) -> None:
    page.click("#url")
    page.raw.fill("#open-url", "ftp://example.org/")
    page.click("#open-go")
    page.wait("!document.querySelector('#notice').hidden")
    assert page.text("#notice").strip()
    page.check(allowed=REFUSED)


# Time.

COUNT = """() => {
  window.__frames = window.__asked = 0;
  const asks = window.fetch;
  window.fetch = (...words) => {
    __asked += 1;
    return asks(...words);
  };
  const tick = () => {
    __frames += 1;
    requestAnimationFrame(tick);
  };
  tick();
}"""
"""Counts frames and requests from now on."""


def test_a_recording_is_played_to_its_end(page: Page) -> None:
    """Play begins anew at the end, shows what comes in between, stops at the end, and can be paused."""
    show(page, "answer")
    page.raw.select_option("#speed", "2")
    page.evaluate(COUNT)
    page.evaluate("""() => {
      window.__steps = new Set();
      new MutationObserver(() => __steps.add(document.querySelector('#scrub').value))
        .observe(document.querySelector('#scrub'), { attributes: true });
    }""")
    page.click("#play")
    assert page.raw.get_attribute("#play", "aria-label") == "Pause"
    page.wait("document.querySelector('#play').ariaLabel === 'Play'")
    assert page.step == page.last
    assert page.evaluate("__steps.size") > 2
    frames, asked = page.evaluate("[__frames, __asked]")
    assert asked <= frames + 2
    page.check()


def test_playing_is_paused_where_it_is(page: Page) -> None:
    show(page, "answer")
    page.scrub(20)
    page.raw.select_option("#speed", "0.25")
    page.click("#play")
    page.wait("Number(document.querySelector('#scrub').value) > 20")
    page.click("#play")
    page.settle()
    paused = page.step
    assert 20 < paused < page.last
    page.evaluate("() => new Promise(done => setTimeout(done, 150))")
    assert page.step == paused
    page.check()


def test_playing_begins_anew_even_where_the_rows_are_elsewhere(page: Page) -> None:
    """A panel that asks for its rows does not undo the step that was asked for."""
    page.open_input(json.dumps({"rows": list(range(1500))}).encode(), "rows", cut=400)
    page.evaluate("""() => {
      window.__steps = new Set();
      const look = () => __steps.add(document.querySelector('#scrub').value);
      new MutationObserver(look).observe(document.querySelector('#scrub'), { attributes: true });
    }""")
    page.raw.select_option("#speed", "max")
    page.click("#play")
    page.wait("document.querySelector('#play').ariaLabel === 'Play'")
    assert page.step == page.last
    assert page.evaluate("__steps.size") > page.last * 0.9
    page.check()


def test_the_highest_speed_shows_everything_in_little_time(page: Page) -> None:
    show(page, "snapshots")
    page.raw.select_option("#speed", "max")
    page.click("#play")
    page.wait("document.querySelector('#play').ariaLabel === 'Play' && document.querySelector('#scrub').value > 0")
    assert page.step == page.last
    page.check()


def test_every_step_shows_what_the_server_has_for_it(page: Page, server: StudioServer) -> None:
    """Scrubbing back and forth: text, marks and tree are those of the step, whatever was shown before."""
    show(page, "answer")
    session = page.session
    assert session is not None
    for step in (1, page.last, 40, 17, 50, 0, 41):
        page.scrub(step)
        view = ask(server, session, step=step)
        text = view["text"]
        assert page.evaluate("document.querySelector('#text').textContent") == text["chars"]
        assert "".join(page.texts("#text mark.new")) == text["chars"][text["new_from"] - text["start"] :]
        ids = page.evaluate("[...document.querySelectorAll('#tree .row')].map(row => row.id)")
        marked = page.evaluate("[...document.querySelectorAll('#tree .row.new')].map(row => row.id)")
        shown = [f"node-{row['id']}" for row in view["tree"]["rows"]]
        assert ids == shown[-len(ids) :] if ids else shown == []
        assert (
            marked
            == [f"node-{row['id']}" for row in view["tree"]["rows"] if row["mark"] == "new"][-len(marked) or 99 :]
        )
        assert page.text("#tab-events") == f"Events {view['events']['total']}"
    page.check()


def test_the_buttons_of_time(page: Page, server: StudioServer) -> None:
    show(page, "answer")
    session = page.session
    assert session is not None
    last = page.last
    for button, step in (
        ("to-start", 0),
        ("forth", 1),
        ("forth", 2),
        ("back", 1),
        ("to-end", last),
        ("back", last - 1),
    ):
        page.click(f"#{button}")
        page.at(step)
    page.scrub(40)
    view = ask(server, session, step=40)
    page.click("#to-next")
    page.at(view["next_completion"])
    page.scrub(40)
    page.click("#to-previous")
    page.at(view["previous_completion"])
    assert re.search(r"fragment \d+ / \d+ +[\d.]+ m?s / [\d.]+ s", page.text("#where"))
    page.check()


def test_steps_that_are_pressed_quickly_all_count(page: Page) -> None:
    """One request is under way at a time, and the newest place wins."""
    show(page, "answer")
    page.scrub(10)
    page.evaluate("for (let count = 0; count < 25; count += 1) document.querySelector('#forth').click()")
    page.at(35)
    page.check()


# The panels.


def test_nodes_are_folded_and_unfolded(page: Page) -> None:
    page.paste(json.dumps(TRIP))
    whole = page.rows
    assert len(whole) == 10
    page.raw.locator("#tree .row[aria-expanded] .fold").nth(1).click()
    page.wait("document.querySelectorAll('#tree .row').length === 3")
    assert page.raw.locator("#tree .row").nth(2).get_attribute("aria-expanded") == "false"
    page.scrub(3)
    page.scrub(page.last)
    assert len(page.rows) == 3
    page.raw.locator("#tree .row").nth(2).locator(".fold").click()
    page.wait("document.querySelectorAll('#tree .row').length === 10")
    assert page.rows == whole
    page.check()


def test_the_path_filter(page: Page) -> None:
    page.paste(json.dumps(TRIP))
    page.raw.fill("#filter", "$.days[*].subtitle")
    page.wait("document.querySelectorAll('#tree .row').length === 2")
    assert [row.split()[0] for row in page.rows] == ["$.days[0].subtitle", "$.days[1].subtitle"]
    page.raw.fill("#filter", "$.days[?")
    page.wait("!document.querySelector('#filter-wrong').hidden")
    assert page.raw.get_attribute("#filter", "aria-invalid") == "true"
    page.wait("document.querySelectorAll('#tree .row').length === 10")
    page.raw.focus("#filter")
    page.press("Escape")
    page.wait("document.querySelector('#filter-wrong').hidden")
    assert page.raw.input_value("#filter") == ""
    page.check(allowed=REFUSED)


def test_the_tracks_of_a_message(page: Page) -> None:
    show(page, "calls")
    names = page.evaluate("[...document.querySelectorAll('#track option')].map(option => option.value)")
    assert len(names) > 1
    texts = set()
    for name in names:
        page.raw.select_option("#track", name)
        page.settle()
        texts.add(page.evaluate("document.querySelector('#text').textContent"))
    assert len(texts) == len(names)
    page.check()


def test_a_bar_leads_to_its_completion(page: Page, server: StudioServer) -> None:
    from tests.support.studio import Client

    show(page, "answer")
    assert page.session is not None
    bars = Client(server.url).document(page.session)["waterfall"]["bars"]
    label = page.text("#waterfall .row:nth-child(3) .label")
    assert label.split()[0] == bars[2]["label"]
    page.click("#waterfall .row:nth-child(3)")
    page.at(bars[2]["complete_step"])
    assert page.texts("#tree .row.chosen .key") == [bars[2]["label"]]
    assert page.texts("#waterfall .row.chosen .label") == [bars[2]["label"]]
    page.check()


def test_a_bar_tells_more_by_hover_and_by_focus(page: Page) -> None:
    show(page, "answer")
    page.raw.hover("#waterfall .row:nth-child(3)")
    hovered = page.text("#tip")
    for words in ("first seen", "complete", "took", "size", "% of the text"):
        assert words in hovered
    page.raw.mouse.move(1, 1)
    page.wait("document.querySelector('#tip').hidden")
    page.raw.focus("#waterfall")
    page.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert page.text("#tip") == hovered
    assert page.raw.get_attribute("#waterfall", "aria-activedescendant") == "bar-2"
    page.press("Enter")
    page.settle()
    assert page.step < page.last
    page.check()


def test_the_line_for_now_moves_with_time(page: Page) -> None:
    show(page, "answer")
    places = []
    for step in (0, 30, 50, page.last):
        page.scrub(step)
        places.append(page.evaluate("document.querySelector('.now').getBoundingClientRect().left"))
    assert places == sorted(set(places))
    page.check()


def test_a_row_that_is_chosen_is_chosen_in_the_waterfall(page: Page) -> None:
    show(page, "answer")
    page.raw.locator("#tree .row .key").nth(1).click()
    page.wait("document.querySelectorAll('#waterfall .row.chosen').length === 1")
    assert page.texts("#waterfall .row.chosen .label") == page.texts("#tree .row.chosen .key")
    page.raw.locator("#tree .row .key").nth(1).click()
    page.wait("document.querySelectorAll('#waterfall .row.chosen').length === 0")
    page.check()


def test_the_tabs_below(page: Page) -> None:
    show(page, "answer")
    page.scrub(38)
    for name, words in (("events", "$."), ("patches", '"op"'), ("diagnostics", "Nothing"), ("state", "offset")):
        page.click(f"#tab-{name}")
        assert page.raw.get_attribute(f"#tab-{name}", "aria-selected") == "true"
        assert words in page.text(f"#pane-{name}")
        assert page.evaluate("[...document.querySelectorAll('.pane')].filter(pane => !pane.hidden).length") == 1
    page.raw.focus("#tab-state")
    page.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-events"
    page.check()


def test_a_schema_gives_a_typed_value(page: Page) -> None:
    pytest.importorskip("jsonschema_rs")
    page.paste(json.dumps(TRIP))
    page.click("#tab-typed")
    assert "No schema" in page.text("#pane-typed")
    page.click("#schema")
    page.raw.fill("#schema-text", "{oops")
    page.click("#schema-go")
    assert "Not JSON" in page.text("#schema-wrong")
    page.raw.fill("#schema-text", json.dumps(SCHEMA))
    page.click("#schema-go")
    page.wait("document.querySelector('#schema').textContent === 'Schema: on'")
    page.wait("document.querySelector('#pane-typed').textContent.includes('Trip to Fuji')")
    assert "$.budget" in page.text("#pane-typed")
    page.click("#schema")
    page.click("#schema-none")
    page.wait("document.querySelector('#schema').textContent === 'Schema'")
    page.check()


def test_following_the_open_end(page: Page) -> None:
    """While it is on, the last row is seen; scrolling up ends it, the button brings it back."""
    page.paste(json.dumps({"rows": list(range(300))}))
    page.scrub(page.last - 2)
    assert page.raw.get_attribute("#follow", "aria-pressed") == "true"
    end = page.rows[-1]
    page.raw.hover("#tree")
    page.raw.mouse.wheel(0, -2000)
    page.wait("document.querySelector('#follow').ariaPressed === 'false'")
    page.settle()
    assert page.rows[-1] != end
    page.click("#follow")
    page.settle()
    assert page.rows[-1] == end
    page.check()


def test_the_waterfall_follows_too(page: Page) -> None:
    """The last field that has begun is in sight, unless someone scrolls."""
    page.open_input(json.dumps({f"key {number}": number for number in range(60)}).encode(), "many")
    assert page.text("#waterfall .row >> nth=0") == "$"
    page.scrub(page.last - 1)
    assert page.texts("#waterfall .row .label")[-1].split() == ["key", "59"]
    page.scrub(5)
    assert page.text("#waterfall .row >> nth=0").split()[0] == "$"
    page.check()


# Snapshots and errors.


def test_snapshots_mode(page: Page) -> None:
    """Left the snapshot with its news, right what was written, between them what is open, what waits, and why."""
    show(page, "snapshots")
    texts = []
    for step in range(page.last + 1):
        page.scrub(step)
        texts.append(
            (page.texts("#between .place .path"), page.text("#between") if step else "", page.texts("#snapshot .new"))
        )
    assert page.text("#text-head").lower() == "written"
    assert any("rule 3" in text.lower() and "waits" in text for _, text, _ in texts)
    assert any("rule 2" in text.lower() for _, text, _ in texts)
    assert any(new for _, _, new in texts)
    page.click("#mode-value")
    assert page.is_visible("#tree")
    assert not page.is_visible("#snapshot")
    page.check()


def test_recorded_snapshots_are_marked_line_by_line(page: Page) -> None:
    """The marked lines of a snapshot are those of the paths that the server calls new."""
    page.paste('{"a": {"b.c": [1, {"d": "x"}]}}\n{"a": {"b.c": [1, {"d": "xy"}], "e": {"f": [], "g": {}}}}\n')
    page.scrub(2)
    new = [" ".join(line.split()) for line in page.texts("#snapshot .line.new")]
    assert new == ['+ "d": "xy"', '+ "e": {', '+ "f": [],', '+ "g": {}', "+ }"]
    page.check()


def test_invalid_json_is_shown_where_it_is(page: Page) -> None:
    page.paste('{"title": "Fu\U0001f5fbji", "days": [1, 2, }, "x": 1}')
    assert page.texts("#text mark.error") == ["}"]
    assert "expected" in page.text("#text-foot")
    assert page.texts("#tree .row.wrong .key") == ["days"]
    assert page.text("#tab-diagnostics") == "Diagnostics 1"
    page.click("#tab-diagnostics")
    assert "$.days[2]" in page.text("#pane-diagnostics")
    page.click("#pane-diagnostics .link")
    page.settle()
    page.check()


def test_an_error_far_from_the_end_is_brought_into_sight(page: Page) -> None:
    page.paste("[" + "1," * 9_000 + "x" + ",1" * 9_000 + "]")
    page.wait("document.querySelectorAll('#text mark.error').length === 1")
    page.settle()
    assert page.texts("#text mark.error") == ["x"]
    place = page.evaluate("""() => {
      const mark = document.querySelector("#text mark.error").getBoundingClientRect();
      const panel = document.querySelector("#text").getBoundingClientRect();
      return mark.top > panel.top && mark.bottom < panel.bottom;
    }""")
    assert place
    page.check()


def test_text_that_breaks_off_has_its_error_at_the_end(page: Page) -> None:
    page.paste('{"title": "Fu')
    assert page.evaluate("document.querySelector('#text .caret').className") == "caret error"
    page.check()


# The text of others.


NAUGHTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "\x00\x1b[2J\x7f",
    "__proto__",
    "constructor",
    "${alert(1)}",
    "{{7*7}}",
    "",
    "\ud800",
    "Z\u0351\u036a\u0351\u0363a\u0306\u0311l\u0365\u030dg\u0346o\u0304",
    "http://127.0.0.1:1/x.png",
]


def naughty() -> list[str]:
    data = shared_data()
    if data is None or not (data / "strings" / "blns.json").exists():
        pytest.skip(NOT_HERE)
    strings: list[str] = json.loads((data / "strings" / "blns.json").read_text())
    return strings


def walk(page: Page) -> None:
    """See everything that there is to see: all steps of the rows, all tabs, all bars."""
    for tab in ("typed", "patches", "diagnostics", "state", "events"):
        page.click(f"#tab-{tab}")
    for share in (0.4, 1):
        page.scrub(round(page.last * share))
    for panel in ("tree", "waterfall", "text"):
        for share in (0.3, 0.6):
            page.evaluate(
                "([id, share]) => { const at = document.getElementById(id); at.scrollTop = at.scrollHeight * share; }",
                [panel, share],
            )
            page.settle()
    if page.count("#waterfall .row"):
        page.raw.hover("#waterfall .row >> nth=0")


@pytest.mark.parametrize("make", [lambda: NAUGHTY, naughty], ids=["here", "shared"])
def test_naughty_strings_are_text_and_nothing_else(page: Page, make: Callable[[], list[str]]) -> None:
    """As keys and as values: no script runs, nothing is fetched, nothing goes wrong."""
    document = {text: [text, {text: text}] for text in make()}
    page.open_input(json.dumps(document).encode(), "escaped", cut=100)
    walk(page)
    page.open_input(json.dumps(document, ensure_ascii=False).encode(errors="replace"), "as they are", cut=100)
    walk(page)
    assert page.count("script") == 1
    assert page.count("#panels img, #panels iframe, #panels a, #panels object") == 0
    page.check()


def test_naughty_snapshots_and_names(page: Page) -> None:
    """The same where text shows up in other places: snapshots, titles, errors, filters."""
    lines = [{NAUGHTY[0]: NAUGHTY[1]}, {NAUGHTY[0]: NAUGHTY[1] + "x", NAUGHTY[4]: {NAUGHTY[5]: NAUGHTY[2]}}]
    page.upload(f"{NAUGHTY[1]}\u202e.json".replace("/", ""), "\n".join(map(json.dumps, lines)).encode())
    assert "\\u202e" in page.text("#title")
    for step in range(page.last + 1):
        page.scrub(step)
    page.paste(NAUGHTY[0])
    walk(page)
    page.raw.fill("#filter", NAUGHTY[1])
    page.wait("!document.querySelector('#filter-wrong').hidden")
    page.check(allowed=REFUSED)


def test_the_unseen_is_spelled_as_in_the_terminal(page: Page) -> None:
    strings = [
        *NAUGHTY,
        "a\u00a0b",
        "tab\there",
        "\u2028",
        "\ufeff",
        "plain",
        "Grüße 漢字 🗻",
        "\u2066x\u2069",
        "\u3164",
    ]
    script = "async strings => { const { visible } = await import('/static/visible.js'); return strings.map(visible); }"
    strings = [text for text in strings if "\ud800" not in text]  # it does not reach the browser whole
    assert page.evaluate(script, strings) == [visible(text) for text in strings]
    page.check()


def test_patches_do_in_the_page_what_they_do_in_python(page: Page) -> None:
    cases: list[tuple[Any, list[Any]]] = [
        (None, [{"op": "replace", "path": "", "value": {"a": [1]}}]),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}, {"op": "add", "path": "/a/0", "value": 0}]),
        ({"a": "x"}, [{"op": "append", "path": "/a", "value": "yz"}]),
        ({"a/b": {"~": 1}}, [{"op": "replace", "path": "/a~1b/~0", "value": 2}]),
        ({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/1"}]),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}]),
        ({}, [{"op": "add", "path": "/__proto__", "value": {"hit": 1}}]),
    ]
    script = """async cases => {
      const { apply } = await import("/static/patch.js");
      return cases.map(([document, operations]) => JSON.stringify(apply(document, operations)));
    }"""
    told = page.evaluate(script, [[document, operations] for document, operations in cases])
    assert [json.loads(text) for text in told] == [apply(document, operations) for document, operations in cases]
    wrong = [({}, "/a"), ({"a": []}, "/a/0"), ({"a": []}, "/a/x"), ({"a": 1}, "/a/b"), ([1], "/01")]
    script = """async cases => {
      const { apply } = await import("/static/patch.js");
      const fails = (document, path) => {
        try { apply(document, [{ op: "replace", path, value: 1 }]); return false; } catch { return true; }
      };
      return cases.map(([document, path]) => fails(document, path));
    }"""
    assert page.evaluate(script, [list(case) for case in wrong]) == [True] * len(wrong)
    page.check()


# Size.


def test_a_list_may_be_longer_than_an_element_may_be_high(page: Page) -> None:
    """Of five million rows those in sight are in the page, at the start, at the end, and wherever one goes."""
    script = """async () => {
      const { RowList } = await import("/static/rowlist.js");
      const scroller = document.body.appendChild(document.createElement("div"));
      scroller.className = "rows scroll";
      const style = { position: "fixed", inset: "0 auto auto 0", width: "200px", height: "240px" };
      for (const [name, value] of Object.entries(style)) scroller.style.setProperty(name, value);
      const fill = (index, node) => (node.textContent = String(index));
      const list = new RowList(scroller, { fill, key: (index) => index });
      const seen = () => {
        list.paint();
        const { top, bottom } = scroller.getBoundingClientRect();
        const rows = [...scroller.querySelectorAll(".row")].filter((row) => {
          const place = row.getBoundingClientRect();
          return place.top >= top - 1 && place.bottom <= bottom + 1;
        });
        return [Number(rows[0].textContent), Number(rows.at(-1).textContent), scroller.querySelectorAll(".row").length];
      };
      list.setTotal(5_000_000);
      const found = [seen()];
      list.toEnd();
      found.push(seen());
      list.reveal(2_500_000);
      found.push(seen());
      scroller.remove();
      return found;
    }"""
    start, end, middle = page.evaluate(script)
    assert start[:2] == [0, 9]
    assert end[1] == 4_999_999
    assert middle[0] <= 2_500_000 <= middle[1]
    assert max(start[2], end[2], middle[2]) <= 12
    page.check()


def large(count: int) -> bytes:
    rows = [
        {"id": number, "name": f"row {number}", "text": "x" * (5_200_000 // count), "tags": ["a", "b"]}
        for number in range(count)
    ]
    return json.dumps({"rows": rows}).encode()


def test_a_document_of_five_megabytes(page: Page) -> None:
    """The page has few elements whatever is shown, and every part of the document can be reached."""
    data = large(4_000)
    assert len(data) > 5_000_000
    page.open_input(data, "large", cut=4_000)
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    for share in (0.1, 0.9, 0.5):
        page.scrub(round(page.last * share))
        assert len(page.rows) < 60
    page.click("#to-end")
    page.at(page.last)
    page.evaluate("document.querySelector('#tree').scrollTop = 1e9")
    page.settle()
    page.wait("[...document.querySelectorAll('#tree .row')].at(-1).textContent.includes('\"b\"')")
    assert page.evaluate("document.querySelector('#text').textContent.length") < 25_000
    page.evaluate("document.querySelector('#text').scrollTop = 100")
    page.settle()
    page.wait("document.querySelector('#text').textContent.length > 6000")
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    page.check()


@pytest.mark.long
def test_a_hundred_thousand_fragments_stay_smooth(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.patience = 180
    page.upload("large.json", large(20_000))
    assert page.last > 90_000
    page.evaluate(COUNT)
    page.raw.select_option("#speed", "max")
    page.click("#play")
    page.wait("document.querySelector('#play').ariaLabel === 'Play' && document.querySelector('#scrub').value > 90000")
    frames, asked = page.evaluate("[__frames, __asked]")
    assert 10 < asked <= frames + 2
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    page.check()


# What comes while it is watched; connections that break; sessions that are gone.


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
    """The address of something slow, and what lets so many more pieces through."""
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
    """Wait until so many lines are shown."""
    page.wait("text => document.querySelector('#text').textContent === text", "".join(LINES[:count]))


def test_a_url_is_shown_as_it_comes(page: Page) -> None:
    """At the end of what there is, the page follows; who looks at something else is left alone."""
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
    from tests.support.studio import Client

    asked: list[Request] = []
    page.raw.on("request", lambda request: asked.append(request))
    with slow(*LINES) as (url, release):
        release(3)
        watch_url(page, url)
        shows(page, 3)
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
    streams = [request for request in asked if request.url.endswith("/stream")]
    seen = [request.all_headers().get("last-event-id") for request in streams]
    assert seen[0] is None
    assert len(seen) > 1
    assert None not in seen[1:]
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
    show(page, "answer")
    page.scrub(33)
    page.wait("location.hash.includes('step=33')")
    text = page.evaluate("document.querySelector('#text').textContent")
    page.raw.reload()
    page.at(33)
    assert page.evaluate("document.querySelector('#text').textContent") == text
    page.check()


def test_a_session_that_is_gone_is_said_to_be_gone(page: Page, server: StudioServer) -> None:
    from tests.support.studio import Client

    show(page, "answer")
    assert Client(server.url).ask("DELETE", f"/api/sessions/{page.session}").status == 204
    page.click("#back")
    page.wait("document.querySelector('#notice').textContent.includes('no longer has this session')")
    show(page, "snapshots")
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
    from tests.support.studio import running

    with running() as short:
        page = browsers.Page(browser, short.url)
        show(page, "snapshots")
    page.click("#back")
    page.wait("document.querySelector('#notice').textContent.includes('does not answer')")
    assert "connection lost" in page.text("#connection")
    page.check(allowed=(*REFUSED, "net::ERR"))
    page.close()


# By keyboard, on a phone, in the dark.


def test_everything_by_keyboard(page: Page, server: StudioServer) -> None:
    page.press("p")
    page.raw.keyboard.insert_text(json.dumps(TRIP))
    page.press("Tab")
    page.opening(lambda: page.press("Enter"))
    last = page.last
    page.press("Home")
    page.at(0)
    page.press("ArrowRight", "ArrowRight", "ArrowLeft", ".", ",")
    page.at(1)
    page.press("End")
    page.at(last)
    session = page.session
    assert session is not None
    there = last
    for _ in range(2):
        there = ask(server, session, step=there)["previous_completion"]
        page.press("Shift+ArrowLeft")
        page.at(there)
    page.press("Shift+ArrowRight")
    page.at(ask(server, session, step=there)["next_completion"])
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
    page.press("5")
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
    assert page.texts("#tree .row.active .key") == ["0"]
    page.check()


def test_every_control_has_a_name_and_shows_the_focus(page: Page) -> None:
    show(page, "answer")
    unnamed = page.evaluate("""() => {
      const all = [...document.querySelectorAll("button, select, input, textarea, [tabindex='0']")];
      const isNamed = (node) => node.ariaLabel || node.textContent.trim() || node.labels?.length
        || node.getAttribute("aria-labelledby") || node.hidden;
      return all.filter((node) => !isNamed(node)).map((node) => node.id);
    }""")
    assert unnamed == []
    seen: list[str] = []
    page.evaluate("document.querySelector('#sample').focus()")
    for _ in range(30):
        page.press("Tab")
        focused, outline = page.evaluate(
            "[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]"
        )
        if focused in seen:
            break
        assert outline != "none" or not focused, focused
        seen.append(focused)
    for name in ("paste", "play", "scrub", "text", "filter", "tree", "waterfall", "tab-events", "pane-events"):
        assert name in seen
    page.check()


def test_roles_for_those_who_hear_the_page(page: Page) -> None:
    show(page, "answer")
    tree = page.raw.get_by_role("tree", name="Value")
    assert tree.get_by_role("treeitem").count() > 5
    levels = page.evaluate("[...document.querySelectorAll('#tree .row')].map(row => Number(row.ariaLevel))")
    assert levels[0] == 1
    assert max(levels) > 3
    assert page.raw.get_by_role("slider", name="Step").count() == 1
    assert page.raw.get_by_role("tab").count() == 5
    assert page.raw.get_by_role("status").count() == 1
    page.check()


def overflowing(page: Page) -> list[str]:
    """The controls that do not fit into the window."""
    found: list[str] = page.evaluate("""() => {
      const wide = [...document.querySelectorAll("button, select, input, .panel, h1, h2, #where")].filter((node) => {
        const place = node.getBoundingClientRect();
        return place.width > 0 && (place.left < -1 || place.right > innerWidth + 1);
      });
      return wide.map((node) => node.id || node.textContent);
    }""")
    return found


def test_a_phone_shows_everything(new_page: Callable[..., Page]) -> None:
    """Nothing is wider than the window; the panels stand one below the other."""
    page = new_page(size=PHONE, has_touch=True)
    for name in ("answer", "snapshots", "broken"):
        show(page, name)
        page.scrub(round(page.last * 0.6))
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert overflowing(page) == []
    show(page, "answer")
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
    show(page, "answer")
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
    show(page, "answer")
    page.scrub(41)
    name = "getComputedStyle(document.querySelector('#text mark.new')).animationName"
    assert page.evaluate(name) == "fade"
    page.raw.emulate_media(reduced_motion="reduce")
    assert page.evaluate(name) == "none"
    page.raw.emulate_media(reduced_motion="no-preference")
    page.check()


# Pictures, to be looked at.


@pytest.mark.parametrize(("shape", "size"), [("wide", (1440, 900)), ("narrow", (390, 844))])
def test_pictures(new_page: Callable[..., Page], tmp_path: Path, shape: str, size: tuple[int, int]) -> None:
    """A recording half way, snapshots, and invalid JSON, light and dark."""
    folder = Path(os.environ.get("UNSPOOL_SCREENSHOTS", str(tmp_path)))
    folder.mkdir(parents=True, exist_ok=True)
    page = new_page(size=size, reduced_motion="reduce")
    for sample, share in (("trip", 0.5), ("snapshots", 0.5), ("broken", 1)):
        page.open_sample(sample)
        page.scrub(round(page.last * share))
        for scheme in SCHEMES:
            page.raw.emulate_media(color_scheme=scheme)
            path = folder / f"{sample}-{scheme}-{shape}.png"
            page.raw.screenshot(path=path, full_page=shape == "narrow")
            assert path.stat().st_size > 10_000
    page.check()
