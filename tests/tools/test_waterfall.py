"""The waterfall: its layout, and that all who draw it draw the same, and let no text become more than text."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import timeline_of
from unspool import Path as DocumentPath
from unspool.tools.cli.commands.profile import comparison_lines, waterfall_lines
from unspool.tools.viewer import tracks
from unspool.tools.viewer.drawings import Report, draw, draw_inside, page
from unspool.tools.viewer.escaping import cells
from unspool.tools.viewer.inputs import InputKind
from unspool.tools.viewer.recordings import read_sample
from unspool.tools.viewer.timeline import Timeline
from unspool.tools.viewer.waterfall import LEAVES, Axis, Bar, Tick, Usable, Waterfall, aligned, compare, layout, spelled

SVG = "{http://www.w3.org/2000/svg}"
NAUGHTY = [
    "</script><script>alert(1)</script>",
    "<b>bold</b>",
    '" onmouseover="x',
    "]]>&amp;&#0;",
    "\u202egnp.exe",
    "\x1b[2J\x00\x08",
    "\ud800",
    "\ufffe\uffff",
    "👩‍🚀 日本語",
    "",
]


def timeline_for(value: object, cut: int = 5, kind: InputKind | None = InputKind.JSON) -> Timeline:
    return timeline_of(json.dumps(value).encode(), cut=cut, kind=kind)


def one_bar(label: str = "a", **given: Any) -> Bar:
    parts: dict[str, Any] = {
        "name": label, "depth": 0, "kind": "string", "track": "json", "place": DocumentPath.of(label), "first": 2.0,
        "complete": 6.0, "size": 10, "share": 0.5, "folded": 0, "first_step": 1, "complete_step": 3,
    }  # fmt: skip
    return Bar(**{**parts, **given})


def drawn(*bars: Bar, total: float = 10.0, unit: str = "seconds") -> Waterfall:
    return Waterfall(Axis(unit, total, ()), bars, 0)


# The layout.


@given(strategies.values(), st.integers(0, 5), st.integers(1, 40))
def test_every_field_has_its_bar_or_is_counted(value: Any, max_items: int, cut: int) -> None:
    """Bars, folded items and what is left out are all fields there are, in document order."""
    timeline = timeline_for(value, cut)
    listed = timeline.fields["json"].listed
    waterfall = layout(timeline, max_items=max_items)
    assert sum([bar.folded or 1 for bar in waterfall.bars]) + waterfall.left_out == len(listed)
    order = {id(field): place for place, field in enumerate(listed)}
    places: list[int] = []
    for bar in waterfall.bars:
        rest = [field for field in listed[max(places, default=-1) + 1 :] if str(field.path) == bar.path]
        places.append(order[id(rest[0])])
    assert places == sorted(places)
    for bar in waterfall.bars:
        assert 0 <= waterfall.axis.place(bar.first) <= 1
        assert bar.complete is not None
        assert bar.first <= bar.complete <= waterfall.axis.total
        assert 0 <= bar.share <= 1
        assert bar.folded != 1


@given(strategies.values(), st.integers(0, 5))
def test_items_are_folded_by_their_place(value: Any, max_items: int) -> None:
    """The first items of an array are shown; of the others there is one row, unless it would stand for one."""
    bars = layout(timeline_for(value), max_items=max_items).bars
    for bar in bars:
        if bar.folded:
            assert bar.label == f"{bar.folded} more"
            assert bar.path.endswith(f"[{max_items}]")
    shown = [
        int(bar.path.rsplit("[", 1)[1][:-1]) for bar in bars if re.search(r"\[\d+\]$", bar.path) and not bar.folded
    ]
    assert all(index <= max_items for index in shown)


def test_nested_arrays_fold_each_on_its_own() -> None:
    """The content of folded items is counted, not shown; a visible inner array folds, too."""
    waterfall = layout(timeline_for({"a": [[1, 2, 3, 4], [5], [6], [7, 8]], "b": 1}), max_items=1)
    assert [(bar.label, bar.depth, bar.folded) for bar in waterfall.bars] == [
        ("$", 0, 0),
        ("a", 1, 0),
        ("[0]", 2, 0),
        ("[0]", 3, 0),
        ("3 more", 3, 3),
        ("3 more", 2, 3),
        ("b", 1, 0),
    ]
    assert waterfall.left_out == 4


def test_an_array_knows_of_items_that_were_not_kept() -> None:
    """Of very large documents only the first items are kept; the folded row stands for all items nevertheless."""
    with mock.patch.object(tracks, "MAX_FIELDS", 6):
        waterfall = layout(timeline_for({"a": [[n] for n in range(9)], "b": 1}, cut=3), max_items=1)
    assert [(bar.label, bar.folded) for bar in waterfall.bars] == [
        ("$", 0),
        ("a", 0),
        ("[0]", 0),
        ("[0]", 0),
        ("8 more", 8),
        ("b", 0),
    ]
    array, rest = waterfall.bars[1], waterfall.bars[-2]
    assert rest.complete == array.complete
    assert rest.size == array.size - len("[[0], ")
    assert sum([bar.folded or 1 for bar in waterfall.bars]) + waterfall.left_out == 21


@given(strategies.values(), st.integers(0, 5), st.integers(1, 40))
def test_all_leaves_count(value: Any, most: int, cut: int) -> None:
    """When the first leaf was usable, half of them, the last: whatever is folded, left out, or not even kept."""
    timeline = timeline_for([value, 1], cut)
    steps = [field.complete or 0 for field in timeline.fields["json"].listed if field.kind in LEAVES]
    times = sorted([float(timeline.sizes[step]) for step in steps])
    with mock.patch.multiple(tracks, MAX_FIELDS=most, MAX_MEMBERS=most + 1):
        waterfall = layout(timeline_for([value, 1], cut), max_items=most, max_bars=most, unit="characters")
    assert waterfall.usable == (len(times), times[0], median(times), times[-1])
    kept = min(len(timeline.fields["json"].listed), max(most, 1))
    assert waterfall.only_counted == len(timeline.fields["json"].listed) - kept


def test_leaves_that_a_pattern_picks() -> None:
    """With a pattern, they are those that it picks, folded or not."""
    timeline = timeline_for({"a": list(range(20)), "b": 1}, cut=1)
    waterfall = layout(timeline, select="$.a", unit="characters")
    times = waterfall.usable
    assert times is not None
    assert times.leaves == 20
    assert times.last == len(json.dumps({"a": list(range(20))})) - 1
    assert layout(timeline, select="$.c").usable is None


def test_several_tracks_each_have_a_title() -> None:
    """Text has a bar too; calls are called by their tools; shares are of everything."""
    timeline = timeline_of(read_sample("weather-tools"))
    titles = [bar for bar in layout(timeline).bars if bar.kind in ("text", "json")]
    assert [bar.label for bar in titles] == ["reasoning", "content", "forecast (call 0)", "forecast (call 1)"]
    assert sum([bar.share for bar in titles]) == pytest.approx(1)
    assert all(bar.complete is not None for bar in titles)
    roots = [bar for bar in layout(timeline).bars if bar.path == "$"]
    assert [bar.depth for bar in roots] == [1, 1]
    assert [bar.share for bar in roots] == pytest.approx([bar.share for bar in titles[2:]])


def test_what_is_cut_off_is_open() -> None:
    """Open fields have no completion, and the size they had at the end."""
    waterfall = layout(timeline_of(b'{"a": [1, "xyz', cut=3, kind=InputKind.JSON))
    assert [(bar.path, bar.complete, bar.duration, bar.size) for bar in waterfall.bars] == [
        ("$", None, None, 14),
        ("$.a", None, None, 8),
        ("$.a[0]", 9.0, 0.0, 1),
        ("$.a[1]", None, None, 4),
    ]
    assert waterfall.usable == (1, 9.0, 9.0, 9.0)


def test_of_nothing_there_is_nothing() -> None:
    """No text, no bars; the axis has its zero."""
    waterfall = layout(timeline_of(b""))
    assert waterfall == Waterfall(Axis("characters", 0.0, waterfall.axis.ticks), (), 0)
    assert [tick.label for tick in waterfall.axis.ticks] == ["0"]
    assert waterfall.usable is None
    assert waterfall.axis.place(3) == 0


def test_documents_are_numbered() -> None:
    """Where there are several, each has its number."""
    waterfall = layout(timeline_of(b'{"a":1}\n{"a":2}\n', kind=InputKind.NDJSON))
    assert [bar.label for bar in waterfall.bars] == ["document 1", "a", "document 2", "a"]


def test_what_a_pattern_picks_stands_alone() -> None:
    """A picked field is called by its path; what is inside it by its step."""
    timeline = timeline_for({"days": [{"title": "x", "n": [1]}, {"title": "y"}], "title": "z"})
    bars = layout(timeline, select="$.days[*]").bars
    assert [(bar.label, bar.depth) for bar in bars] == [
        ("$.days[0]", 0),
        ("title", 1),
        ("n", 1),
        ("[0]", 2),
        ("$.days[1]", 0),
        ("title", 1),
    ]
    assert layout(timeline, select="$.nowhere").bars == ()


@given(strategies.values(), st.integers(0, 3), st.integers(0, 5), st.integers(0, 3))
def test_what_is_not_shown_is_counted(value: Any, max_depth: int, max_bars: int, max_items: int) -> None:
    """Deep fields, and bars over the limit with all their folded items."""
    timeline = timeline_for(value)
    waterfall = layout(timeline, max_depth=max_depth, max_bars=max_bars, max_items=max_items)
    shown = sum([bar.folded or 1 for bar in waterfall.bars])
    assert shown + waterfall.left_out == len(timeline.fields["json"].listed)


def test_there_are_not_too_many_bars() -> None:
    """More than can be looked at are counted."""
    waterfall = layout(timeline_for({str(number): number for number in range(20)}), max_bars=5)
    assert (len(waterfall.bars), waterfall.left_out) == (5, 16)


@given(st.floats(1e-4, 1e6), st.sampled_from(["seconds", "characters"]))
def test_ticks(total: float, unit: str) -> None:
    """Ticks begin at 0, stand evenly, are few, and no two say the same; there is no half of a character."""
    timeline = timeline_for("x" * 30)
    if unit == "seconds":
        timeline.times[-1] = total
    else:
        total = float(int(total) + 1)
        timeline.sizes[-1] = int(total)
    axis = layout(timeline, unit=unit).axis
    places = [tick.at for tick in axis.ticks]
    labels = [tick.label for tick in axis.ticks]
    assert axis.total == total
    assert (places[0], labels[0]) == (0.0, "0")
    assert len(places) <= 6
    assert len(places) >= 2
    assert places[-1] <= 1
    gaps = [after - before for before, after in pairwise(places)]
    assert gaps == pytest.approx([gaps[0]] * len(gaps))
    assert 1 - places[-1] < gaps[0] * 1.001
    assert len(set(labels)) == len(labels)
    if unit == "characters":
        assert [float(label.replace(",", "")) for label in labels] == pytest.approx([at * total for at in places])


def test_a_tick_at_the_very_end() -> None:
    """0.3 is three times 0.1, whatever floats say."""
    timeline = timeline_for("x")
    timeline.times[-1] = 0.3
    assert [tick.label for tick in layout(timeline, unit="seconds").axis.ticks] == ["0", "0.1s", "0.2s", "0.3s"]


# Two of them.


def test_what_is_usable_earlier() -> None:
    """The gain is by how much a field is complete earlier in the second one; folded rows are not compared."""
    one = drawn(one_bar("a"), one_bar("b", complete=None), one_bar("c"), one_bar("d", folded=3))
    two = drawn(one_bar("a", complete=2.5), one_bar("b"), one_bar("e"), total=4.0)
    gains = {field.path: field.gain for field in compare(one, two)}
    assert gains == {"$.a": 3.5, "$.b": None, "$.c": None, "$.e": None}


def test_two_on_one_axis() -> None:
    """The longer one, which says of each of them when its leaves were usable."""
    one, two = [layout(timeline_for(value)) for value in ([1, 2], {"a": "x" * 50})]
    both = aligned(one, two)
    assert {waterfall.axis.total for waterfall in both} == {two.axis.total}
    assert {waterfall.axis.ticks for waterfall in both} == {two.axis.ticks}
    assert [waterfall.usable for waterfall in both] == [one.usable, two.usable]


def test_what_is_open_in_one_of_them() -> None:
    """A field that both have is not reported as missing, but as open in one of them."""
    opened = {"complete": None}
    one = drawn(one_bar("a"), one_bar("b", **opened), one_bar("c", **opened), one_bar("d"))
    two = drawn(one_bar("a", **opened), one_bar("b"), one_bar("c", **opened), one_bar("e"))
    assert [field.change for field in compare(one, two)] == [
        "open in two",
        "open in one",
        "open in both",
        "not in both",
        "not in both",
    ]
    lines = [line.plain.split() for line in comparison_lines(one, two, ("x", "y"), 60)]
    assert lines[1] == ["$.a", "6.000", "open", "open", "in", "two"]
    assert lines[2] == ["$.b", "open", "6.000", "open", "in", "one"]
    assert lines[4] == ["$.d", "6.000", "-", "not", "in", "both"]
    assert " ".join(lines[-1]) == "in two: 1 open in one, 1 open in two, 1 open in both, 2 not in both"


def test_what_one_of_them_folds_is_not_compared() -> None:
    """An item that one of them shows and the other folds is in both, so it is not compared."""
    one, two = [layout(timeline_for({"a": [[n] for n in range(count)], "b": 1}), max_items=2) for count in (3, 5)]
    assert "$.a[2]" in [bar.path for bar in one.bars]
    for pair in ((one, two), (two, one)):
        paths = [field.path for field in compare(*pair)]
        assert paths == ["$", "$.a", "$.a[0]", "$.a[0][0]", "$.a[1]", "$.a[1][0]", "$.b"]


def test_the_verdict_comes_first_in_the_second_sample() -> None:
    """The order of the fields is what makes the difference."""
    one, two = [layout(timeline_of(read_sample(name))) for name in ("unordered-a", "unordered-b")]
    gains = {field.path: field.gain for field in compare(one, two)}
    verdict = gains["$.verdict"]
    assert verdict is not None
    assert verdict > 1
    earlier, later = one.usable, two.usable
    assert earlier is not None
    assert later is not None
    assert later.middle < earlier.middle


# In the terminal.

GOLDEN = """\
        0      0.3s    0.6s     complete
title   --===#                     0.220
days    -------============#       0.780
 [0]    -------=====#              0.500
 2 more -----------========#       0.760
open    -----------------=====>     open
"""


def test_golden_waterfall() -> None:
    """Thin until first seen, light while it grows, solid where it is complete."""
    ticks = (Tick(0.0, "0"), Tick(1 / 3, "0.3s"), Tick(2 / 3, "0.6s"), Tick(1.0, "0.9s"))
    bars = (
        one_bar("title", first=0.1, complete=0.22),
        one_bar("days", kind="array", first=0.3, complete=0.78),
        one_bar("[0]", depth=1, first=0.3, complete=0.5),
        one_bar("2 more", depth=1, kind="items", first=0.45, complete=0.76, folded=2),
        one_bar("open", first=0.7, complete=None),
    )
    lines = waterfall_lines(Waterfall(Axis("seconds", 0.9, ticks), bars, 0), 40, ascii_only=True)
    assert "".join([f"{line.plain}\n" for line in lines]) == GOLDEN


@given(strategies.values(small=True), st.integers(1, 120), st.booleans())
@example([None, None, {"a": "a"}, {"aaaa\ua824": None}], 1, False)  # a mark that rich takes for nothing
def test_no_line_is_too_wide(value: Any, width: int, ascii_only: bool) -> None:
    """For all keys and widths, rows fit the terminal; with ASCII, they are ASCII."""
    waterfall = layout(timeline_for({"k": value, **dict.fromkeys(NAUGHTY, 1)}))
    lines = waterfall_lines(waterfall, width, ascii_only=ascii_only)
    lines += comparison_lines(waterfall, waterfall, ("one", "two\x1b[2J"), max(width, 40), ascii_only=ascii_only)
    for number, line in enumerate(lines):
        limit = width if number <= len(waterfall.bars) else max(width, 40)
        assert cells(line.plain) <= max(limit, 1)
        assert line.plain.isprintable()
        assert line.plain.isascii() or not ascii_only


@given(st.lists(st.integers(0, 10**12), min_size=4, max_size=4), st.sampled_from(["seconds", "characters"]))
def test_figures_do_not_run_together(places: list[int], unit: str) -> None:
    """However long they are; in the waterfall and where two are compared."""
    early, first, complete, size = map(float, sorted(places))
    bars = one_bar(first=first, complete=complete, size=int(size)), one_bar("b", complete=None, size=1)
    one, two = drawn(*bars, total=size, unit=unit), drawn(one_bar(complete=early), total=size, unit=unit)
    one, two = [waterfall._replace(usable=Usable(3, early, first, complete)) for waterfall in (one, two)]
    spelled_out = [spelled(value, unit) for value in (first, complete, complete - first)]
    row = waterfall_lines(one, 200)[1].plain
    assert row.split()[-5:] == [*spelled_out, f"{int(size):,}", "50.0%"]
    lines = [line.plain.split() for line in comparison_lines(one, two, ("x", "y"), 200)]
    assert lines[1][:3] == ["$.a", spelled(complete, unit), spelled(early, unit)]
    assert lines[1][3] == (spelled(complete - early, unit) if complete > early else "the")
    assert lines[-2] == ["two:", "y", *[spelled(value, unit) for value in (early, first, complete)]]


def test_too_many_fields_are_told() -> None:
    """The fields without a row, and those that --json leaves out, are counted, also for each of two."""
    with mock.patch.object(tracks, "MAX_FIELDS", 6):
        many = layout(timeline_for({"a": list(range(1006)), "b": 1}))
    words = "1,002 more fields are only counted: too many to be shown, selected or listed"
    assert [line.plain for line in waterfall_lines(many, 40)][-1] == words
    few = layout(timeline_for([1]))
    assert "too many" not in "".join([line.plain for line in waterfall_lines(few, 40)])
    compared = [line.plain for line in comparison_lines(few, many, ("x", "y"), 60)]
    assert [line for line in compared if "too many" in line] == [f"two: {words}"]


def test_where_there_is_room_there_are_more_figures() -> None:
    """The most important ones stay the longest."""
    waterfall = layout(timeline_for({"title": "x" * 40}))
    heads = {width: waterfall_lines(waterfall, width)[0].plain.split() for width in (100, 60, 32, 20)}
    assert heads[100][-5:] == ["first", "complete", "took", "bytes", "share"]
    assert heads[60][-3:] == ["complete", "bytes", "share"]
    assert heads[32][-1] == "complete"
    assert "complete" not in heads[20]


# As SVG and HTML.


def texts_in(root: ET.Element) -> str:
    return " ".join(root.itertext()) + " ".join([value for element in root.iter() for value in element.attrib.values()])


@pytest.mark.parametrize("alone", [True, False])
def test_the_drawing_is_well_formed(alone: bool) -> None:
    """It is XML whatever the keys are, has a title and a description, and no script."""
    waterfall = layout(timeline_for({key: key for key in NAUGHTY}))
    title = "".join(NAUGHTY)
    text = draw(waterfall, title) if alone else draw_inside(waterfall, title, "w")
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "g", "rect", "line", "text",
    }  # fmt: skip
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert all(character.isprintable() or character == "\n" for character in texts_in(root))
    rows = [element for element in root.iter() if "row" in element.get("class", "").split()]
    assert len(rows) == len(waterfall.bars)
    assert all(row.get("tabindex") == "0" and row.get("aria-label") for row in rows)
    assert [element.text for element in root if element.tag == f"{SVG}title"] != [None]
    assert ("<style>" in text) == alone
    assert "prefers-color-scheme: dark" in text or not alone


def test_what_the_drawing_shows() -> None:
    """A bar stands where its times are; what is open has no end."""
    root = ET.fromstring(draw(drawn(one_bar(first=2.5, complete=5.0), one_bar("b", complete=None, first=5.0)), "t"))

    def attributes(kind: str) -> list[tuple[str | None, str | None]]:
        return [(element.get("x"), element.get("width")) for element in root.iter() if element.get("class") == kind]

    assert attributes("grow") == [("47.000%", "17.000%"), ("64.000%", "34.000%")]
    assert attributes("done") == [("64.000%", "4")]
    assert "first seen 2.500 s · complete 5.000 · took 2.500" in texts_in(root)
    assert "still open" in texts_in(root)
    assert "10 bytes · 50.0% of the whole" in texts_in(root)


class Tags(HTMLParser):
    """Which tags there are, whether they are balanced, and all text outside of styles."""

    VOID = frozenset({"meta", "rect", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.stack[-1:] != ["style"] else ""


def read_page(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.stack == []
    return tags


def test_the_page_is_text_and_nothing_else() -> None:
    """No key, title or note becomes a tag or an attribute; nothing is loaded; nothing in it is invisible."""
    waterfall = layout(timeline_for({key: [key] for key in NAUGHTY}))
    report = Report("".join(NAUGHTY), waterfall, (("<i>", "<u>"),), tuple(NAUGHTY))
    for text in (page(report), page(report, report)):
        tags = read_page(text)
        assert not tags.seen & {"script", "b", "i", "u", "img", "a", "iframe", "object", "link"}
        assert not [name for name in tags.attributes if name.startswith("on") or name in ("src", "href", "style")]
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
        assert all(character.isprintable() or character == "\n" for character in text)
        assert "</script><script>alert(1)</script>" in tags.text
        assert "\\u202egnp.exe" in tags.text
        assert "default-src 'none'" in text


def test_the_figures_of_the_page() -> None:
    """Each field has its row: first seen, complete, how long it took, bytes, share."""
    bars = one_bar(), one_bar("b", complete=None)
    waterfall = Waterfall(Axis("seconds", 10.0, ()), bars, 0, Usable(1, 6.0, 6.0, 6.0))
    tags = read_page(page(Report("t", waterfall, (("Steps", "3"),))))
    assert "$.a2.0006.0004.0001050.0%" in tags.text
    assert "$.b2.000open1050.0%" in tags.text
    assert "Steps3First leaf usable6.000 s" in tags.text


def test_the_page_of_two() -> None:
    """Both drawings on one axis, and what is earlier or later."""
    one, two = (
        drawn(one_bar("a"), one_bar("b")),
        drawn(one_bar("a", complete=3.0), one_bar("b", complete=7.0), total=20),
    )
    text = page(Report("x", one, ()), Report("y", two, ()))
    tags = read_page(text)
    assert "$.a6.0003.0003.000 earlier" in tags.text
    assert "$.b6.0007.0001.000 later" in tags.text
    assert text.count("<svg xmlns") == 2
    assert text.count("over 20.000 seconds") == 2


def test_naughty_strings_of_others(shared_data: Path) -> None:
    """Every line of the lists of naughty strings, as a key."""
    files = [file for file in (shared_data / "strings").iterdir() if file.suffix in (".txt", ".json")]
    lines: list[str] = []
    for file in files:
        lines += file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    assert lines
    bars = [one_bar(line[:200]) for line in lines[:600]]
    waterfall = drawn(*bars)
    ET.fromstring(draw(waterfall, "t"))
    tags = read_page(page(Report("t", waterfall, ())))
    assert not tags.seen & {"script", "b", "img", "a", "iframe"}
