"""The page of the studio: what is wrong, selected or searched for is marked in every panel alike; and axe agrees."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final, Literal

import pytest

from tests.support.browser import Page
from tests.support.studio import running
from tests.support.studio_inputs import TRIP
from unspool.tools.studio.sessions import NamedType

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

AXE: Final = "4.10.3"
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "days": {"type": "array", "items": {"properties": {"subtitle": {"enum": ["Day 1", "Day 2"]}}}},
        "seats": {"type": "integer"},
    },
    "required": ["title", "days"],
}


def wrong_rows(page: Page) -> list[str]:
    return page.texts("#waterfall .row.wrong .words")


# What is wrong.


def test_broken_text_is_marked_where_it_breaks_and_from_there_on(page: Page) -> None:
    """Text, tree, waterfall, time line, strip and diagnostics: at the step of the error, and not before."""
    page.open_sample("broken")
    assert page.session is not None
    (flaw,) = page.client.document(page.session)["flaws"]
    assert flaw["step"] < page.last
    for step, count in ((flaw["step"] - 1, 0), (flaw["step"], 1), (page.last, 1)):
        page.scrub(step)
        assert page.count("#text mark.error") == count
        assert page.count("#tree .row.wrong") == count
        assert len(wrong_rows(page)) == count
        assert page.text("#tab-diagnostics") == f"Diagnostics {count}"
        assert page.evaluate("document.querySelector('#text-foot').classList.contains('wrong')") is bool(count)
    assert page.count("#line-marks i") == 1
    page.scrub(0)
    page.click("#facts .warning")
    page.at(flaw["step"])
    page.check()


def test_violations_are_marked_at_the_step_where_they_happen(page: Page) -> None:
    """Also in the middle of a stream that goes on; what is expected is listed."""
    pytest.importorskip("jsonschema_rs")
    document = {"title": "Trip", "days": [{"subtitle": "Day 1"}, {"subtitle": "Day 3"}], "seats": "two", "end": 1}
    page.paste(json.dumps(document))
    page.click("#schema")
    page.raw.fill("#schema-text", json.dumps(SCHEMA))
    page.click("#schema-go")
    page.wait("document.querySelectorAll('#line-marks i').length === 2")
    assert page.session is not None
    flaws = page.client.document(page.session)["flaws"]
    assert [(flaw["kind"], flaw["path"]) for flaw in flaws] == [("type", "$.days[1].subtitle"), ("type", "$.seats")]
    first = flaws[0]["step"]
    page.scrub(first - 1)
    assert (page.count("#tree .row.wrong"), page.count("#text mark.flaw"), wrong_rows(page)) == (0, 0, [])
    page.scrub(first)
    assert page.texts("#tree .row.wrong .key") == ["subtitle"]
    assert wrong_rows(page) == ["subtitle"]
    page.scrub(page.last)
    assert "".join(page.texts("#text mark.flaw")) == '"Day 3""two"'
    assert page.texts("#tree .row.wrong .key") == ["subtitle", "seats"]
    page.click("#tab-diagnostics")
    assert 'expected "Day 1" or "Day 2"' in page.text("#pane-diagnostics")
    page.raw.locator("#pane-diagnostics .path").first.click()
    page.settle()
    assert page.texts("#tree .row.chosen .key") == ["subtitle"]
    page.raw.locator("#pane-diagnostics .link:not(.path)").first.click()
    page.at(first)
    page.check()


def test_a_cut_off_answer_says_why(page: Page) -> None:
    page.open_sample("cut-off")
    assert "the model reached its limit of tokens" in page.text("#text-foot")
    page.click("#tab-diagnostics")
    assert "finish reason: length" in page.text("#pane-diagnostics")
    assert page.texts("#facts .warning b") == ["length", "2"]
    page.check()


# What is selected and searched for.


def test_a_selected_value_is_marked_everywhere(page: Page) -> None:
    """A click in the tree selects in text, events and waterfall; the value can be read and copied as a whole."""
    text = "x" * 3_000
    page.paste(json.dumps({**TRIP, "long": text, "end": 1}))
    assert page.session is not None
    view = page.client.view(page.session, "chosen=$.long")
    page.raw.locator("#tree .row .key", has_text="long").click()
    page.wait("document.querySelectorAll('#text mark.chosen').length > 0")
    marked = "".join(page.texts("#text mark.chosen"))
    assert marked in json.dumps(text)
    assert page.texts("#waterfall .row.chosen .words") == ["long"]
    page.click("#tab-selected")
    assert page.text("#pane-selected pre") == text
    page.raw.locator("#pane-selected button", has_text="Copy value").click()
    page.wait("document.querySelector('#status').textContent === 'Copied the value'")
    assert page.evaluate("navigator.clipboard.readText()") == text
    page.raw.locator("#pane-selected .link").nth(1).click()
    page.at(view["chosen"]["complete_step"])
    page.click("#tab-events")
    assert page.texts("#pane-events .line.chosen .path")[0] == "$.long"
    page.check()


def test_an_event_selects_its_value(page: Page) -> None:
    page.paste(json.dumps(TRIP))
    page.scrub(3)
    page.raw.locator("#pane-events .path").last.click()
    page.settle()
    assert page.count("#tree .row.chosen") == 1
    assert page.count("#text mark.chosen") >= 1
    page.check()


def test_a_selection_far_from_the_window_is_brought_into_sight(page: Page) -> None:
    rows = [{"id": number, "text": "x" * 40} for number in range(1_500)]
    page.open_input(json.dumps({"first": "here", "rows": rows}).encode(), "far", cut=500)
    page.raw.locator("#tree .row .key", has_text="first").click()
    page.wait("document.querySelector('#text mark.chosen')?.textContent === '\"here\"'")
    place = page.evaluate("""() => {
      const mark = document.querySelector("#text mark.chosen").getBoundingClientRect();
      const panel = document.querySelector("#text").getBoundingClientRect();
      return mark.top >= panel.top && mark.bottom <= panel.bottom;
    }""")
    assert place
    page.check()


def test_words_are_searched_in_keys_and_values(page: Page) -> None:
    """Tree and waterfall show what matches; the text marks every place, and leads from one to the next."""
    page.open_sample("trip")
    page.raw.fill("#filter", "LAKE")
    page.wait("document.querySelector('#tree-foot').textContent.startsWith('4 that match')")
    page.settle()
    assert [row.split()[0] for row in page.rows] == [
        "$.summary",
        "$.days[1].title",
        "$.days[1].activities[1].name",
        "$.days[1].note",
    ]
    page.wait("document.querySelectorAll('#waterfall .row').length === 5")
    page.raw.press("#filter", "Enter")
    page.wait("document.querySelector('#text mark.found.current')?.textContent.toLowerCase() === 'lake'")
    page.raw.fill("#filter", "")
    page.wait("document.querySelectorAll('#waterfall .row').length > 10")
    page.check()


# The waterfall.


def test_the_waterfall_honours_a_path_filter(page: Page) -> None:
    page.open_sample("trip")
    page.raw.fill("#filter", "$.days[*].title")
    page.wait("document.querySelectorAll('#waterfall .row').length === 6")
    assert page.texts("#waterfall .row .words")[1:3] == ["$.days[0].title", "$.days[1].title"]
    page.check()


def test_the_waterfall_folds_and_shows_every_item(page: Page) -> None:
    """A container can be folded; the items beyond the first eight come with clicks, all of them."""
    page.paste(json.dumps({"rows": [{"id": number} for number in range(150)], "end": 1}))
    page.evaluate("document.querySelector('#waterfall').scrollTop = 0")
    page.settle()
    page.raw.locator("#waterfall .row", has_text="142 more").click()
    page.wait("document.querySelector('#waterfall-fact').textContent.startsWith('220 of 220')")
    page.evaluate("document.querySelector('#waterfall').scrollTop = 1e6")
    page.raw.locator("#waterfall .row", has_text="42 more").click()
    page.wait("document.querySelector('#waterfall-fact').textContent === '303 of 303 complete'")
    page.evaluate("document.querySelector('#waterfall').scrollTop = 0")
    page.settle()
    page.raw.locator("#waterfall .row").nth(1).locator(".fold").click()
    page.wait("document.querySelectorAll('#waterfall .row').length === 3")
    assert page.texts("#waterfall .row .words") == ["$", "rows", "end"]
    page.check()


# Panes, types, messages.


def test_panes_keep_their_size(new_page: Callable[..., Page]) -> None:
    """Dragged with the pointer, and the same after the page is loaded again."""
    page = new_page(size=(1024, 640))
    page.show("answer")
    line = page.evaluate("(() => { const at = document.querySelector('#split-value').getBoundingClientRect();"
                         " return [at.left + at.width / 2, at.top + 60]; })()")  # fmt: skip
    before = page.evaluate("document.querySelector('#panel-value').clientWidth")
    page.raw.mouse.move(*line)
    page.raw.mouse.down()
    page.raw.mouse.move(line[0] - 80, line[1], steps=4)
    page.raw.mouse.up()
    after = page.evaluate("document.querySelector('#panel-value').clientWidth")
    assert after == pytest.approx(before - 80, abs=3)
    page.raw.reload()
    page.wait("document.querySelectorAll('#tree .row').length > 3")
    assert page.evaluate("document.querySelector('#panel-value').clientWidth") == pytest.approx(after, abs=3)
    page.check()


def test_a_small_window_shows_every_panel(new_page: Callable[..., Page]) -> None:
    """At 1024 by 640: each panel has room for several rows, and nothing is wider than the window."""
    page = new_page(size=(1024, 640))
    page.open_sample("trip")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
    assert page.evaluate("document.documentElement.scrollHeight") <= 640
    for name in ("text", "tree", "waterfall"):
        assert page.evaluate(f"document.querySelector('#{name}').clientHeight") > 200
    assert page.evaluate("document.querySelector('#pane-events').clientHeight") > 72
    assert page.evaluate("document.querySelector('#top').clientHeight") < 40
    page.check()


def test_a_python_type_shows_typed_values(browser: Browser) -> None:
    """`--type` gives every session the type, by its name; a schema of the page can take its place."""
    pydantic = pytest.importorskip("pydantic")

    class Day(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        subtitle: Literal["Day 1: Arrival", "Day 9"]

    class Trip(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        title: str
        days: list[Day]

    with running(type=NamedType("Trip", Trip)) as server:
        page = Page(browser, server.url)
        page.paste(json.dumps(TRIP))
        assert page.text("#schema") == "Type: Trip"
        page.click("#tab-typed")
        page.scrub(3)
        typed = page.text("#pane-typed pre")
        assert typed.startswith("PartialTrip(\n  title='Trip to Fuji',")
        page.scrub(page.last)
        assert "Day(\n      subtitle='Day 1: Arrival',\n    )" in page.text("#pane-typed pre")
        assert '"Day 1: Arrival" or "Day 9"' in page.text("#pane-typed")
        assert wrong_rows(page) == ["subtitle"]
        page.check()
        page.close()


def test_a_message_is_shown_in_its_parts(page: Page) -> None:
    """In their order, each as what it is, open or complete; a click shows its text."""
    page.open_sample("weather-tools")
    page.click("#tab-message")
    kinds = page.texts("#pane-message .part-head b")
    assert kinds == ["reasoning", "text", "tool call", "tool call"]
    assert page.texts("#pane-message .part-head .name")[2:] == ["forecast", "forecast"]
    page.raw.locator("#pane-message .part-head").first.click()
    page.wait("document.querySelector('#track').value === 'reasoning'")
    page.scrub(30)
    assert len(page.texts("#pane-message .part")) < 4
    assert page.texts("#pane-message .badge")[-1] == "open"
    page.check()


def test_values_say_when_they_were_complete(page: Page) -> None:
    """A label says "1.09 s", the time at which the value was complete, and its title says so in words."""
    page.open_sample("trip")
    page.scrub(300)
    tag = page.raw.locator("#tree .row:not(.open) .tag").first
    assert tag.inner_text().endswith(" s")
    assert (tag.get_attribute("title") or "").startswith("complete at ")
    page.check()


# Accessibility.


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from npm."""
    npm = which("npm")
    if npm is None:
        pytest.skip("npm is not here")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), f"axe-core@{AXE}"]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if done.returncode or not script.exists():
        pytest.skip("npm cannot install axe-core")
    return Path(script).read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, axe: str, scheme: Literal["light", "dark"]) -> None:
    """On the first screen, on a stream, on snapshots, on a comparison, and in a dialog."""
    with running() as server:
        page = Page(browser, server.url, bypass_csp=True, reduced_motion="reduce", color_scheme=scheme)
        page.wait("document.querySelectorAll('.card').length > 0")
        found: dict[str, list[str]] = {"first screen": serious(page, axe)}
        for name in ("weather-tools", "broken", "snapshots"):
            page.open_sample(name)
            page.scrub(round(page.last * 0.7))
            for tab in ("selected", "diagnostics", "events"):
                page.click(f"#tab-{tab}")
            found[name] = serious(page, axe)
        page.raw.select_option("#compare", "sample trip")
        page.wait("document.body.classList.contains('compares')")
        page.settle()
        found["comparison"] = serious(page, axe)
        page.press("p")
        found["dialog"] = serious(page, axe)
        page.close()
    assert {place: rules for place, rules in found.items() if rules} == {}


def serious(page: Page, axe: str) -> list[str]:
    """The rules of axe that the page breaks seriously, with the places."""
    page.evaluate(axe + "; undefined")
    results = page.evaluate("axe.run(document)")
    return [
        f"{one['id']}: {', '.join([str(node['target']) for node in one['nodes'][:3]])}"
        for one in results["violations"]
        if one["impact"] in ("serious", "critical")
    ]
