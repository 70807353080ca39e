"""Every control and every key of the studio's page, one after another: what is done with it, and what comes of it.

`WALKS` is the table. That nothing is missing in it is shown without a browser, from the sources of the page.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.studio_inputs import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import FilePayload

    from tests.support.browser import Page

TESTS = Path(__file__).parent
STATIC = TESTS.parents[1] / "src" / "unspool" / "tools" / "studio" / "static"
SCHEMA = json.dumps({"title": "Trip", "type": "object"})
GROWING = '{"a": 1}\n{"a": 1, "b": 2}\n'
MANY = json.dumps({f"key{number}": number for number in range(60)}).encode()
OF_OPENAI = INPUTS["calls"].decode()
PROSE = 'Here it is:\n```json\n{"hidden": 1}\n```\n'


# What comes of it: an expression of the page, in which `$` finds an element.


def value(id: str, text: str) -> str:
    return f"$('#{id}').value === '{text}'"


def says(id: str, words: str) -> str:
    return f"$('#{id}').textContent === '{words}'"


def focus(id: str) -> str:
    return f"document.activeElement.id === '{id}'"


def tab(name: str) -> str:
    return f"$('#tab-{name}').ariaSelected === 'true' && !$('#pane-{name}').hidden"


def active(panel: str, name: str) -> str:
    """The row of this name is the active one."""
    return f"$('#{panel} .row.active :is(.key, .words)')?.textContent === '{name}'"


def completion(name: str) -> Callable[[Page], str]:
    """At the step that the server names so."""
    return lambda page: value("scrub", page.view(step=page.step)[name])


def found(number: int) -> str:
    """This place of the searched words is the current one."""
    return f"$('#found').title.startsWith('{number} of 5 ')"


def changed(panel: str, sign: str) -> Callable[[Page], str]:
    """The panel becomes larger or smaller than it is."""
    size = "getBoundingClientRect()." + ("height" if panel == "#bottom" else "width")

    def effect(page: Page) -> str:
        now = page.evaluate(f"document.querySelector('{panel}').{size}")
        return f"$('{panel}').{size} {sign} {now}"

    return effect


def next_theme(page: Page) -> str:
    themes = ["Auto", "Light", "Dark"]
    return says("theme", themes[(themes.index(page.text("#theme")) + 1) % 3])


END = "$('#scrub').value === $('#scrub').max"
PLAYS, PAUSED = "$('#play').ariaLabel === 'Pause'", "$('#play').ariaLabel === 'Play'"
HELP, NO_HELP = "$('#help-dialog').open", "!$('#help-dialog').open"
LINES = f"{value('kind', 'ndjson')} && !$('#panel-snapshot').checkVisibility()"
CLOSED = "!$('#open-dialog').open"
SCHEMA_ASKED, SCHEMA_ON = "$('#schema-dialog').open", says("schema", "Schema: on")
NO_SCHEMA = f"!{SCHEMA_ASKED} && {says('schema', 'Schema')}"
FOLLOWS, STAYS = "$('#follow').ariaPressed === 'true'", "$('#follow').ariaPressed === 'false'"


# The action, if it is more than a click or a key press.


def filled(id: str, text: str) -> Callable[[Page], object]:
    return lambda page: page.raw.fill(f"#{id}", text)


def pressed(id: str, key: str) -> Callable[[Page], object]:
    return lambda page: page.raw.press(f"#{id}", key)


def doubly(id: str) -> Callable[[Page], object]:
    return lambda page: page.raw.dblclick(f"#{id}")


def picked(id: str, choice: str) -> Callable[[Page], object]:
    return lambda page: page.raw.select_option(f"#{id}", choice)


def pasted(text: str, act: Callable[[Page], object] = lambda _: None) -> Callable[[Page], None]:
    """Open a text through the dialog, and do something else there before."""

    def do(page: Page) -> None:
        page.click("#paste")
        page.raw.fill("#open-text", text)
        act(page)
        page.opening(lambda: page.click("#open-go"))

    return do


def chosen(name: str, act: Callable[[Page], object]) -> Callable[[Page], None]:
    """Choose a file, in the dialog of the browser that comes up."""

    def do(page: Page) -> None:
        file: FilePayload = {"name": name, "mimeType": "", "buffer": b"[1, 2, 3]"}
        with page.raw.expect_file_chooser() as asked:
            page.settle()  # until the browser knows that it is to ask us
            act(page)
        page.opening(lambda: asked.value.set_files([file]))

    return do


def drop_schema(page: Page) -> None:
    """Drop a file onto the dialog of the schema."""
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], "schema.json"));
          const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
          document.querySelector("#schema-text").dispatchEvent(drop);
        }""",
        SCHEMA,
    )


class Row(NamedTuple):
    """A control, what comes of it, and what is done with it: a click on an id, a press of any other name."""

    control: str
    effect: str | Callable[[Page], str]
    do: Callable[[Page], object] | None = None


WALKS = {
    "time": [
        Row("Home", value("scrub", "0")),
        Row(".", value("scrub", "1")),
        Row("ArrowRight", value("scrub", "2")),
        Row(",", value("scrub", "1")),
        Row("ArrowLeft", value("scrub", "0")),
        Row(">", completion("next_completion")),
        Row("Shift+ArrowRight", completion("next_completion")),
        Row("<", completion("previous_completion")),
        Row("+", value("speed", "2")),
        Row("=", value("speed", "4")),
        *(Row("-", value("speed", speed)) for speed in ("2", "1", "0.5", "0.25")),
        Row("Space", PLAYS),
        Row("Space", PAUSED),
        Row("Home", value("scrub", "0")),
        Row("End", END),
        Row("Shift+ArrowLeft", completion("previous_completion")),
        Row("#to-start", value("scrub", "0")),
        Row("#forth", value("scrub", "1")),
        Row("#to-next", completion("next_completion")),
        Row("#to-previous", value("scrub", "0")),
        Row("#scrub", value("scrub", "7"), filled("scrub", "7")),
        Row("#back", value("scrub", "6")),
        Row("#play", PLAYS),
        Row("#play", PAUSED),
        Row("#to-end", END),
    ],
    "panels": [
        Row("4", tab("typed")),
        Row("1", tab("events")),
        Row("5", tab("patches")),
        Row("6", tab("diagnostics")),
        Row("7", tab("state")),
        Row("3", tab("selected")),
        *(
            Row(f"#tab-{name}", tab(name))
            for name in ("events", "selected", "typed", "patches", "diagnostics", "state")
        ),
        Row("tabs ArrowLeft", tab("diagnostics")),
        Row("tabs ArrowRight", tab("state")),
        Row("#follow", FOLLOWS),
        Row("#follow", STAYS),
        Row("f", FOLLOWS),
        Row("f", STAYS),
        Row("t", next_theme),
        Row("t", next_theme),
        Row("#theme", next_theme),  # and so it is what it was
        Row("?", HELP),
        Row("#help-dialog >> text='Close'", NO_HELP),
        Row("#help", HELP),
        Row("Escape", NO_HELP),
        Row("/", focus("filter")),
        Row("#filter", "$('#tree-foot').textContent.startsWith('1 that match')", filled("filter", "$.end")),
        Row("Escape", value("filter", "")),
        Row("Escape", focus("scrub")),
    ],
    "rows": [
        Row("tree ArrowDown", active("tree", "$"), pressed("tree", "ArrowDown")),
        Row("tree ArrowRight", active("tree", "key0")),
        Row("tree ArrowUp", active("tree", "$")),
        Row("tree Enter", "$('#tree .row.chosen')"),
        Row("tree PageDown", f"!({active('tree', '$')})"),
        Row("tree PageUp", active("tree", "$")),
        Row("tree ArrowLeft", "$('#tree .row').ariaExpanded === 'false'"),
        Row("waterfall ArrowDown", active("waterfall", "$"), pressed("waterfall", "ArrowDown")),
        Row("waterfall PageDown", f"!({active('waterfall', '$')})"),
        Row("waterfall PageUp", active("waterfall", "$")),
        Row("waterfall ArrowDown", active("waterfall", "key0")),
        Row("waterfall ArrowUp", active("waterfall", "$")),
        Row("waterfall ArrowDown", active("waterfall", "key0")),
        Row("waterfall Enter", f"!({END})"),
        Row("waterfall ArrowUp", active("waterfall", "$")),
        Row("waterfall ArrowLeft", "document.querySelectorAll('#waterfall .row').length === 1"),
        Row("waterfall ArrowRight", "document.querySelectorAll('#waterfall .row').length > 1"),
    ],
    "message": [
        Row("2", tab("message")),
        Row("#tab-events", tab("events")),
        Row("#tab-message", tab("message")),
        Row("#tab-events", tab("events")),
    ],
    "search": [
        Row("#filter", "$('#tree-foot').textContent.startsWith('5 that match')", filled("filter", "day")),
        Row("#found-forth", found(1)),
        Row("search Enter", found(2), pressed("filter", "Enter")),
        Row("search Shift+Enter", found(1), pressed("filter", "Shift+Enter")),
        Row("#found-back", found(5)),
        Row("Escape", value("filter", ""), pressed("filter", "Escape")),
    ],
    "lines": [
        Row("line ArrowRight", changed("#panel-text", ">"), pressed("split-text", "ArrowRight")),
        Row("line ArrowLeft", changed("#panel-text", "<"), pressed("split-text", "ArrowLeft")),
        Row("line ArrowUp", changed("#bottom", ">"), pressed("split-bottom", "ArrowUp")),
        Row("line ArrowDown", changed("#bottom", "<"), pressed("split-bottom", "ArrowDown")),
        Row("line dblclick", "!$('#panel-text').style.cssText", doubly("split-text")),
        Row("line dblclick", "!$('#bottom').style.cssText", doubly("split-bottom")),
    ],
    "opening": [
        Row("p", focus("open-text")),
        Row("#open-dialog >> text='Cancel'", CLOSED),
        Row("u", focus("open-url")),
        Row("Escape", CLOSED),
        Row("#url", focus("open-url")),
        Row("Escape", CLOSED),
        Row("#paste", focus("open-text")),
        Row("Escape", CLOSED),
        Row("#file", says("title", "clicked"), chosen("clicked", lambda page: page.click("#file"))),
        Row("o", says("title", "pressed"), chosen("pressed", lambda page: page.press("o"))),
        Row("#open-text", says("text", "[7]"), pasted("[7]")),
        Row("#open-kind", LINES, pasted(GROWING, picked("open-kind", "ndjson"))),
        Row("#open-format", says("format", "format: cohere"), pasted(OF_OPENAI, picked("open-format", "cohere"))),
        Row("#open-cut", "$('#scrub').max === '6'", pasted("[1, 2, 3]", filled("open-cut", "2"))),
        Row(
            "#open-extract",
            "$('#tree').textContent.includes('hidden')",
            pasted(PROSE, lambda page: page.raw.check("#open-extract")),
        ),
        Row("#open-repair", "$('#tree .row.repaired')", pasted("{a: 1}", picked("open-repair", "guess"))),
    ],
    "snapshots": [
        Row("#mode-value", "$('#tree').checkVisibility() && !$('#snapshot').checkVisibility()"),
        Row("#mode-snapshots", "$('#snapshot').checkVisibility() && !$('#tree').checkVisibility()"),
    ],
    "schema": [
        Row("#schema", focus("schema-text")),
        Row("#schema-text", value("schema-text", SCHEMA), drop_schema),
        Row("#schema-dialog >> text='Cancel'", NO_SCHEMA),
        Row("#schema", SCHEMA_ASKED),
        Row("#schema-go", SCHEMA_ON),
        Row("#schema", SCHEMA_ASKED),
        Row("#schema-none", NO_SCHEMA),
    ],
}

SHOWN = {
    **dict.fromkeys(WALKS, INPUTS["answer"]),
    "message": INPUTS["calls"],
    "rows": MANY,
    "snapshots": INPUTS["snapshots"],
}
"""What is there when a walk begins."""

ELSEWHERE = {
    "#sample": "test_samples_open",
    "#chooser": "test_a_file_is_chosen",
    "#kind": "test_the_kind_can_be_another_one",
    "#speed": "test_the_highest_speed_shows_everything_in_little_time",
    "#track": "test_the_tracks_of_a_message",
    "#compare": "test_two_streams_are_compared",
    "#compare-close": "test_two_streams_are_compared",
    "#document": "test_a_document_of_json_lines_is_chosen",
    "#loading-cancel": "test_opening_can_be_cancelled",
    "#notice-act": "test_prose_offers_extraction",
    "#notice-close": "test_a_file_that_is_too_large_is_refused_here",
    "#open-url": "test_a_url_is_shown_as_it_comes",
    "#open-go": "test_the_dialog_asks_for_something",
}
"""The tests of those that are not in the table."""


@pytest.mark.parametrize("name", WALKS)
def test_every_control_does_what_it_is_for(page: Page, name: str) -> None:
    """The expected state is absent before the control is used, and present afterwards."""
    if name == "schema":
        pytest.importorskip("jsonschema_rs")
    page.open_input(SHOWN[name])
    for control, effect, do in WALKS[name]:
        is_so = effect if isinstance(effect, str) else effect(page)
        look = f"/* {control} */ (($) => Boolean({is_so}))((selector) => document.querySelector(selector))"
        page.wait(f"!({look})")  # a dialog that was closed may keep the focus until the next frame
        if do is not None:
            do(page)
        elif control.startswith("#"):
            page.click(control)
        else:
            page.press(control.split()[-1])
        page.wait(look)
    page.settle()
    page.check()


def test_the_dialog_has_forgotten_what_was_opened_before(page: Page) -> None:
    """The options were for another text: a new one is detected, cut and read as if it were the first."""
    page.click("#paste")
    page.raw.fill("#open-text", PROSE)
    page.raw.select_option("#open-kind", "json")
    page.raw.select_option("#open-format", "cohere")
    page.raw.fill("#open-cut", "3")
    page.raw.check("#open-extract")
    page.raw.select_option("#open-repair", "guess")
    page.opening(lambda: page.click("#open-go"))
    page.press("u")
    names = "['text', 'url', 'kind', 'format', 'cut', 'repair']"
    assert page.evaluate(f"{names}.map((name) => document.querySelector(`#open-${{name}}`).value)") == [""] * 6
    assert not page.raw.is_checked("#open-extract")
    page.check()


# That nothing is missing, without a browser.


class Controls(HTMLParser):
    """The controls of the page, by their ids; one without by its dialog and by what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.dialog = ""
        self.is_unnamed = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get("id")
        if tag == "dialog":
            self.dialog = f"#{name}"
        if tag in ("button", "input", "select", "textarea"):
            self.is_unnamed = name is None
            self.found += [] if name is None else [f"#{name}"]

    def handle_data(self, data: str) -> None:
        if self.is_unnamed:
            self.found.append(f"{self.dialog} >> text='{data}'")
            self.is_unnamed = False


def driven() -> set[str]:
    return {row.control for rows in WALKS.values() for row in rows}


def test_no_control_is_left_out() -> None:
    """Each control of the page is in the table, or has a test elsewhere, in a file that names it."""
    controls = Controls()
    controls.feed((STATIC / "index.html").read_text())
    assert len(controls.found) > 40
    assert [control for control in controls.found if control not in driven() | set(ELSEWHERE)] == []
    gone = {control for control in driven() | set(ELSEWHERE) if control.startswith("#")} - set(controls.found)
    assert gone == set()
    sources = [path.read_text() for path in TESTS.glob("test_studio_page*.py") if path != Path(__file__)]
    for control, test in ELSEWHERE.items():
        (source,) = [source for source in sources if f"def {test}(" in source]
        assert control in source or control == "#chooser"  # which is what `upload` fills


SPELLED = {"": "Space", "←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown", "\N{MINUS SIGN}": "-"}
NAMED = r"Arrow\w+|Page\w+|Home|End|Enter|Escape"


def test_no_key_is_left_out() -> None:
    """Each key that the page listens for is in the table; the tree, the waterfall and the tabs have their own."""
    listening = {path.name: path.read_text() for path in STATIC.glob("*.js") if '"keydown"' in path.read_text()}
    panels = ["filter.js", "splitters.js", "tree.js", "waterfall.js"]
    assert sorted(listening) == sorted(["bottom.js", "keyboard.js", "main.js", *panels])
    _, _, rest = listening["keyboard.js"].partition("const names = {")
    names, _, handling = rest.partition("};")
    bare: list[str] = [(quoted or plain).strip() for quoted, plain in re.findall(r'(?:"(.)"|(\w+)): "\w+"', names)]
    keys = {SPELLED.get(key, key) for key in bare} | {f"Shift+{key}" for key in ("ArrowLeft", "ArrowRight")}
    assert "/^[1-7]$/" in handling
    keys |= set("1234567")
    keys |= {"search Enter", "search Shift+Enter"}
    for name, panel in (
        ("tree.js", "tree"),
        ("waterfall.js", "waterfall"),
        ("bottom.js", "tabs"),
        ("splitters.js", "line"),
    ):
        keys |= {f"{panel} {key}" for key in re.findall(rf'\b({NAMED})(?=:|")', listening[name])}
    assert sorted(keys - driven()) == []
    assert len(keys) > 40


def test_the_list_of_keys_is_that_of_the_keys() -> None:
    """Each key that the page tells of, in its list and in its tips, is one that is tested; the list leaves none out."""
    source = (STATIC / "keyboard.js").read_text()
    listed: list[tuple[str, str]] = re.findall(r'^  \["([^"]+)", "([^"]+)"\],$', source, re.MULTILINE)
    told = set[str]()
    for keys, what in listed:
        panel = next((name for name in ("value", "waterfall", "search") if what.startswith(f"in the {name}:")), "")
        panel = "line" if what.startswith("on a line") else panel
        shift = ""
        for word in keys.replace("1 … 7", "1 2 3 4 5 6 7").replace(" or ", " ").split():
            if word == "Shift":
                shift = "Shift+"
                continue
            key = SPELLED.get(word, word.lower() if len(word) == 1 else word)
            shift = shift if key.startswith(("Arrow", "Enter")) else ""
            told.add(f"{panel.replace('value', 'tree')} {shift}{key}".strip())
    assert sorted(told - driven()) == []
    pages = {
        key
        for key in driven()
        if not key.startswith("#") and not key.startswith(("tabs", "line dbl")) and "Page" not in key
    }
    assert sorted(pages - told - {"="}) == []
    tips = re.findall(r'title="[^"]*\(([\w? ]+)\)"', (STATIC / "index.html").read_text())
    assert len(tips) > 10
    spelled = {
        "Left": "ArrowLeft",
        "Right": "ArrowRight",
        "Shift Left": "Shift+ArrowLeft",
        "Shift Right": "Shift+ArrowRight",
        "Enter": "search Enter",
        "Shift Enter": "search Shift+Enter",
    }
    assert [tip for tip in tips if spelled.get(tip, tip.lower() if len(tip) == 1 else tip) not in driven()] == []
