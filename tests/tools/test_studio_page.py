"""The page of the studio in a real browser: what is opened in it, and how one goes through its time.

Skipped where there is no browser. UNSPOOL_CHROMIUM names one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser import COUNT, REFUSED
from tests.support.studio_inputs import TRIP

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.browser import Page

STATIC = Path(__file__).resolve().parents[2] / "src" / "unspool" / "tools" / "studio" / "static"


# What is served, without a browser.


def test_nothing_in_the_page_needs_a_weaker_policy() -> None:
    """No script and no style inside the page, nothing from elsewhere, and text never becomes markup."""
    page = (STATIC / "index.html").read_text()
    assert not re.findall(r"\s(?:style|on[a-z]+)\s*=|<style|<script(?![^>]*\ssrc=)|javascript:", page)
    assert set(re.findall(r"""(?:src|href)=["']([^"']+)""", page)) == {
        "data:,",
        "static/style.css",
        "static/main.js",
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
    page.wait("document.querySelector('#samples button') !== null")
    offered = page.texts("#samples button")
    page.opening(lambda: page.click("#samples button:first-child"))
    assert page.text("#title") in offered[0]
    assert not page.is_visible("#welcome")
    page.check()


def test_the_token_is_not_seen_in_the_page(new_page: Callable[..., Page]) -> None:
    """It is out of the address as soon as it was taken, also where that names a session; no script can read it."""
    page = new_page("#step=1")
    assert page.raw.url == f"{page.url}#step=1"
    assert page.evaluate("document.cookie") == ""
    assert [cookie["httpOnly"] for cookie in page.context.cookies()] == [True]
    page.raw.reload()
    page.wait("document.querySelectorAll('#sample option').length > 1")
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
    page.click("#open-form [data-close]")
    page.click("#url")
    page.click("#open-go")
    assert "Give a URL, such as http://127" in page.text("#open-wrong")
    page.click("#open-form [data-close]")
    assert not page.is_visible("#open-dialog")
    page.check()


def test_a_file_is_chosen(page: Page) -> None:
    page.upload("trip.json", json.dumps(TRIP).encode())
    assert page.text("#title") == "trip.json"
    page.check()


def test_a_file_is_dropped_anywhere(page: Page) -> None:
    page.show("snapshots")
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
    """Another kind can be chosen: the same input is opened again."""
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


def test_playing_begins_within_a_frame(page: Page) -> None:
    """A frame may begin before the press of the button: then no time has passed."""
    page.show("answer")
    page.scrub(0)
    page.raw.select_option("#speed", "0.25")
    page.evaluate("""() => {
      const ask = window.requestAnimationFrame;
      window.requestAnimationFrame = (act) => {
        window.requestAnimationFrame = ask;
        return ask(() => act(performance.now() - 50));
      };
    }""")
    page.click("#play")
    page.wait("Number(document.querySelector('#scrub').value) > 0")
    assert page.raw.get_attribute("#play", "aria-label") == "Pause"
    page.click("#play")
    page.check()


def test_a_recording_is_played_to_its_end(page: Page) -> None:
    """Play restarts at the end, shows the steps in between, stops at the end, and can be paused."""
    page.show("answer")
    page.raw.select_option("#speed", "2")
    page.evaluate(COUNT)
    page.click("#play")
    assert page.raw.get_attribute("#play", "aria-label") == "Pause"
    page.wait("document.querySelector('#play').ariaLabel === 'Play'")
    assert page.step == page.last
    assert page.evaluate("__steps.size") > 2
    frames, asked = page.evaluate("[__frames, __asked]")
    assert asked <= frames + 2
    page.check()


def test_playing_is_paused_where_it_is(page: Page) -> None:
    page.show("answer")
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
    page.evaluate(COUNT)
    page.raw.select_option("#speed", "max")
    page.click("#play")
    page.wait("document.querySelector('#play').ariaLabel === 'Play'")
    assert page.step == page.last
    assert page.evaluate("__steps.size") > page.last * 0.9
    page.check()


def test_the_highest_speed_shows_everything_in_little_time(page: Page) -> None:
    page.show("snapshots")
    page.raw.select_option("#speed", "max")
    page.click("#play")
    page.wait("document.querySelector('#play').ariaLabel === 'Play' && document.querySelector('#scrub').value > 0")
    assert page.step == page.last
    page.check()


def test_every_step_shows_what_the_server_has_for_it(page: Page) -> None:
    """Scrubbing back and forth: text, marks and tree are those of the step, whatever was shown before."""
    page.show("answer")
    for step in (1, page.last, 40, 17, 50, 0, 41):
        page.scrub(step)
        view = page.view(step=step)
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


def test_the_buttons_of_time(page: Page) -> None:
    page.show("answer")
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
    view = page.view(step=40)
    page.click("#to-next")
    page.at(view["next_completion"])
    page.scrub(40)
    page.click("#to-previous")
    page.at(view["previous_completion"])
    assert re.search(r"fragment \d+ / \d+ +[\d.]+ m?s / [\d.]+ s", page.text("#where"))
    page.check()


def test_steps_that_are_pressed_quickly_all_count(page: Page) -> None:
    """One request is under way at a time, and the newest place wins."""
    page.show("answer")
    page.scrub(10)
    page.evaluate("for (let count = 0; count < 25; count += 1) document.querySelector('#forth').click()")
    page.at(35)
    page.check()
