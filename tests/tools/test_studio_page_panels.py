"""The panels of the studio's page in a real browser, and what the text of others can do to it, which is nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import COUNT
from tests.support.shared import shared_data
from tests.support.studio_inputs import TRIP
from unspool.patch import apply
from unspool.tools.viewer.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.browser import Page

SCHEMA = {
    "title": "Trip",
    "type": "object",
    "required": ["title", "days", "budget"],
    "properties": {"title": {"type": "string"}, "days": {"type": "array"}, "budget": {"type": "number"}},
}


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


def test_repairs_are_marked_in_the_text_and_in_the_tree(page: Page) -> None:
    """Guesses differ from spellings in shape; what was put in has a mark of its own; the title of a mark says it."""
    page.paste('{a: "the "best" day", "b": [true, {"c": "d"}', repair="guess")
    page.wait("document.querySelectorAll('#text mark.repair').length >= 4")
    assert page.texts("#text mark.repair.spelling") == ["a"]
    assert page.texts("#text mark.repair.guess:not(.put-in)") == ['"', '"']
    titles = page.evaluate("[...document.querySelectorAll('#text mark.repair')].map(mark => mark.title)")
    assert titles[0] == "spelling: a key without quotes was read as a key"
    assert titles[1] == "guess: a quote inside a string was kept as text"
    assert len(page.texts("#text mark.repair.put-in")) == 1
    assert page.texts("#tree .row.guess .key") == ["a", "b"]
    assert page.texts("#tree .row.guess .tag") == ["guess", "guess"]
    shown = page.evaluate("document.querySelector('#text').textContent")
    assert '{a: "the "best" day"' in shown
    page.scrub(1)
    page.wait("document.querySelectorAll('#text mark.repair').length === 2")
    page.check()


def test_the_path_filter(page: Page) -> None:
    page.paste(json.dumps(TRIP))
    page.raw.fill("#filter", "$.days[*].subtitle")
    page.wait("document.querySelectorAll('#tree .row').length === 2")
    assert [row.split()[0] for row in page.rows] == ["$.days[0].subtitle", "$.days[1].subtitle"]
    page.raw.fill("#filter", "$.days[?")
    page.wait("!document.querySelector('#filter-wrong').hidden")
    assert page.raw.get_attribute("#filter", "aria-invalid") == "true"
    assert len(page.rows) == 10
    page.raw.focus("#filter")
    page.press("Escape")
    page.wait("document.querySelector('#filter-wrong').hidden")
    assert page.raw.input_value("#filter") == ""
    page.check()


def test_the_tracks_of_a_message(page: Page) -> None:
    page.show("calls")
    names = page.evaluate("[...document.querySelectorAll('#track option')].map(option => option.value)")
    assert len(names) > 1
    texts = set()
    for name in names:
        page.raw.select_option("#track", name)
        page.settle()
        texts.add(page.evaluate("document.querySelector('#text').textContent"))
    assert len(texts) == len(names)
    page.check()


def test_a_bar_leads_to_its_completion(page: Page) -> None:

    page.show("answer")
    assert page.session is not None
    bars = page.client.document(page.session)["waterfall"]["bars"]
    label = page.text("#waterfall .row:nth-child(3) .words")
    assert label.split()[0] == bars[2]["label"]
    page.click("#waterfall .row:nth-child(3)")
    page.at(bars[2]["complete_step"])
    assert page.texts("#tree .row.chosen .key") == [bars[2]["label"]]
    assert page.texts("#waterfall .row.chosen .words") == [bars[2]["label"]]
    page.check()


def test_a_bar_tells_more_by_hover_and_by_focus(page: Page) -> None:
    page.show("answer")
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
    page.show("answer")
    places = []
    for step in (0, 30, 50, page.last):
        page.scrub(step)
        places.append(page.evaluate("document.querySelector('.now').getBoundingClientRect().left"))
    assert places == sorted(set(places))
    page.check()


def test_without_times_now_is_where_the_characters_are(page: Page) -> None:
    """Exactly, also where no field begins or ends."""
    page.paste(json.dumps({"long": "x" * 200, "short": 1}))
    total = page.view()["characters"]
    for step in (1, 5, 9, page.last):
        page.scrub(step)
        share = page.evaluate("parseFloat(document.querySelector('.now').style.left)") / 100
        assert share == pytest.approx(page.view(step=step)["characters"] / total, abs=1e-4)
    page.check()


def test_a_row_that_is_chosen_is_chosen_in_the_waterfall(page: Page) -> None:
    page.show("answer")
    page.raw.locator("#tree .row .key").nth(1).click()
    page.wait("document.querySelectorAll('#waterfall .row.chosen').length === 1")
    assert page.texts("#waterfall .row.chosen .words") == page.texts("#tree .row.chosen .key")
    page.raw.locator("#tree .row .key").nth(1).click()
    page.wait("document.querySelectorAll('#waterfall .row.chosen').length === 0")
    page.check()


def test_the_tabs_below(page: Page) -> None:
    page.show("answer")
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
    assert "No type" in page.text("#pane-typed")
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
    assert page.text("#waterfall .row .words >> nth=0") == "$"
    page.scrub(page.last - 1)
    page.wait("[...document.querySelectorAll('#waterfall .row .label')].at(-1).textContent.includes('key 59')")
    page.scrub(5)
    page.wait("document.querySelector('#waterfall .row .label').textContent.includes('$')")
    page.check()


# Snapshots and errors.


def test_snapshots_mode(page: Page) -> None:
    """Left the snapshot with its news, right what was written, between them what is open, what waits, and why."""
    page.show("snapshots")
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
    """Those above, and the long list of them where it is."""
    data = shared_data()
    file = None if data is None else data / "strings" / "blns.json"
    return NAUGHTY if file is None or not file.exists() else [*NAUGHTY, *json.loads(file.read_text())]


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


def test_naughty_strings_are_text_and_nothing_else(page: Page) -> None:
    """As keys and as values: no script runs, nothing is fetched, nothing goes wrong."""
    document = {text: [text, {text: text}] for text in naughty()}
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
    page.settle()
    page.raw.fill("#filter", f"$.{NAUGHTY[1]}")
    page.wait("!document.querySelector('#filter-wrong').hidden")
    page.check()


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
      const { apply } = await import("/static/relay.js");
      return cases.map(([document, operations]) => JSON.stringify(apply(document, operations)));
    }"""
    told = page.evaluate(script, [[document, operations] for document, operations in cases])
    assert [json.loads(text) for text in told] == [apply(document, operations) for document, operations in cases]
    wrong = [({}, "/a"), ({"a": []}, "/a/0"), ({"a": []}, "/a/x"), ({"a": 1}, "/a/b"), ([1], "/01")]
    script = """async cases => {
      const { apply } = await import("/static/relay.js");
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
    page.patience = 180_000
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
