"""`unspool watch`: the tree that grows in a terminal, and the lines without one."""

from __future__ import annotations

import json
import re
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.support import strategies
from tests.support.inputs import timeline_of
from tests.support.running import PATIENCE, Terminal, hear_line, say, started
from unspool._path import Path as JSONPath
from unspool.select import compile as compile_pattern
from unspool.tools.cli.arrivals import Clock, Input, ticking
from unspool.tools.cli.commands.watch import FieldLines
from unspool.tools.cli.main import app
from unspool.tools.cli.screen import Look, Signs, TracksView, legend, prose_lines, shares, status_line, summary
from unspool.tools.viewer.escaping import cells
from unspool.tools.viewer.inputs import Guess, InputKind
from unspool.tools.viewer.recordings import read_sample
from unspool.tools.viewer.timeline import Timeline
from unspool.tools.viewer.tracks import Item, TrackPiece
from unspool.typed import partial

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

PLAIN = Signs.chosen(ascii_only=True)
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
ENTER, LEAVE, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


def run(*arguments: str | Path, **environment: str) -> Result:
    """The command in this process, without a terminal."""
    return CliRunner().invoke(
        app, ["watch", *map(str, arguments)], env={"COLUMNS": "80", "UNSPOOL_ASCII": "0", **environment}
    )


def view_of(timeline: Timeline, **options: Any) -> TracksView:
    return TracksView(timeline, **{"select": None, "resolver": None, "ascii_only": True, **options})


def plain(view: TracksView, width: int = 80, height: int | None = None, before: int | None = None) -> list[str]:
    return [line.plain.rstrip() for line in view.lines(Look(width, height, before))]


def growing(*fragments: str, track: str = "json") -> Timeline:
    """A timeline that has not ended."""
    timeline = Timeline(Guess(InputKind.JSON))
    for step, fragment in enumerate(fragments, 1):
        timeline.add(step / 10, Item((TrackPiece(track, fragment),)))
    return timeline


# The tree.


def test_signs_for_what_is_open_and_what_has_changed() -> None:
    """New, grown and open rows have signs, not colours alone."""
    timeline = growing('{"title": "Trip", "days": [{"n": 1}, ', '{"n": 2}], "note": "So')
    assert plain(view_of(timeline), before=1) == [
        "~ $ { 3 ...",
        "    title \"Trip\"",
        "~   days [ 2 ]",
        "      [0] { 1 }",
        "        n 1",
        "+     [1] { 1 }",
        "+       n 2",
        '+   note "So_',
    ]  # fmt: skip
    styles = [str(line.spans) for line in view_of(timeline).lines(Look(80, None, 1))]
    assert "bold green" in styles[-1]
    assert "bold" not in styles[1].replace("bold cyan", "")


def test_keys_are_written_as_in_paths() -> None:
    """Keys that are not plain names are quoted in brackets, and cannot be mistaken for an index or two names."""
    odd = {"plain": 1, "": 2, "a.b": 3, "[0]": 4, "0": 5, "two words": 6, "\n\x1b": 7, "list": [8]}
    lines = plain(view_of(growing(json.dumps(odd))))
    assert [line.strip() for line in lines[1:]] == [
        "plain 1",
        '[""] 2',
        '["a.b"] 3',
        '["[0]"] 4',
        '["0"] 5',
        '["two words"] 6',
        '["\\n\\u001b"] 7',
        "list [ 1 ]",
        "[0] 8",
    ]
    for line, key in zip(lines[1:], list(odd)[:-1], strict=False):
        assert str(JSONPath.of(key)).endswith(line.strip()[:-2]), "by the rule of paths, and by no other"


def test_of_a_long_string_the_end_is_shown() -> None:
    """Where it is open it has its cursor, whatever the width."""
    timeline = growing('{"text": "' + "abcdefghij" * 20)
    for width in (20, 33, 60):
        line = plain(view_of(timeline), width=width, height=4)[1]
        assert (len(line), line[-4:]) == (width, "hij_")
    timeline.add(1.0, Item((TrackPiece("json", '"'),)))
    wrapped = plain(view_of(timeline), width=50)
    text = "abcdefghij" * 20
    assert [line.strip() for line in wrapped[2:-1]] == [text[start : start + 41] for start in (40, 81, 122)]


def test_the_end_is_followed() -> None:
    """Rows that do not fit are above, and counted."""
    timeline = growing(json.dumps({"items": [{"n": n} for n in range(20)], "last": "x"})[:-1])
    assert plain(view_of(timeline), height=5) == [
        "  ... 39 above, in $.items[18]",
        "        n 18",
        "      [19] { 1 }",
        "        n 19",
        '    last "x"',
    ]
    assert plain(view_of(timeline), height=1) == ['    last "x"']
    whole = plain(view_of(timeline))
    assert len(whole) == 43


def test_an_error_stands_where_it_is() -> None:
    """The row with its path, the words, the line with a caret."""
    timeline = timeline_of(read_sample("broken"))
    lines = plain(view_of(timeline), width=60)
    assert "x     [2] { 2 ..." in lines
    begin = next(number for number, line in enumerate(lines) if line.startswith("x unexpected"))
    words = " ".join(lines[begin:-2])
    assert words.startswith("x unexpected character: line 7, column 41")
    assert words.endswith("; expected a key in double quotes"), "and its lines end between two words"
    assert lines[-2][lines[-1].index("^")] == ","
    assert lines[-2][: lines[-1].index("^")].endswith('"litres": 2,')


def test_what_does_not_fit_the_schema() -> None:
    """Invalid fields are marked, and the problems listed."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    timeline = growing('{"a": "x", "b": "y"')
    lines = plain(view_of(timeline, resolver=partial(schema)), before=0)
    assert lines[1].startswith("!   a")
    assert lines[2].startswith("+   b")
    assert lines[-1].startswith("! $.a: ")
    calls = growing('{"a": "x"', track="call 0")
    assert [str(problem.path) for problem in view_of(calls, resolver=partial(schema)).problems] == ["$.a"]


def test_selected_fields_have_their_paths() -> None:
    """With a pattern each row is a field of its own."""
    timeline = timeline_of(read_sample("trip"))
    lines = plain(view_of(timeline, select=compile_pattern("$.days[*].title")))
    assert lines[1:3] == ['  $.days[0].title "Arrival"', '  $.days[1].title "Two lakes"']
    assert len(lines) == 6
    empty = plain(view_of(timeline, select=compile_pattern("$.nowhere")))
    assert empty[1:] == ["  nothing selected yet"]


def test_tracks_one_under_the_other() -> None:
    """Text, and the calls by the names of their tools; the one that grows has the most room."""
    timeline = timeline_of(read_sample("weather-tools"))
    titles = [line for line in plain(view_of(timeline)) if line.startswith("--")]
    assert [title.split(" - ")[0] for title in titles] == [
        "-- reasoning",
        "-- content",
        "-- forecast (call 0)",
        "-- forecast (call 1)",
    ]
    short = plain(view_of(timeline), height=21)
    assert len(short) == 21
    places = [number for number, line in enumerate(short) if line.startswith("--")]
    assert len(places) == 4
    assert 21 - places[3] == 14


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 60), st.randoms(use_true_random=False))
def test_shares_of_the_room(needs: list[int], room: int, random: Any) -> None:
    """No track gets more than it needs, no room is wasted, and the first in order is served first."""
    order = list(range(len(needs)))
    random.shuffle(order)
    given_ = shares(needs, room, order)
    assert all(0 <= got <= need for got, need in zip(given_, needs, strict=True))
    assert sum(given_) == min(room, sum(needs))
    if len(needs) > 1 and given_[order[-1]] > 2:
        assert given_[order[0]] == needs[order[0]]


@given(
    strategies.cut(st.one_of(strategies.documents(small=True), strategies.broken_documents(small=True))),
    st.integers(1, 60),
    st.integers(1, 12),
    st.booleans(),
)
def test_no_line_is_too_wide_and_none_too_many(
    cutting: tuple[str, list[str]], width: int, height: int, ascii_only: bool
) -> None:
    """For any input and any terminal size, the output contains no control sequence."""
    timeline = growing(*cutting[1])
    timeline.add(9.0, Item((TrackPiece("reasoning", f"thus\x1b[2J {cutting[0]}\n"),)))
    view = view_of(timeline, ascii_only=ascii_only)
    for before in (None, timeline.last - 1):
        lines = list(view.lines(Look(width, height, before)))
        assert len(lines) <= height
        for line in [*lines, status_line(timeline, 1.5, width, ascii_only=ascii_only)]:
            assert cells(line.plain) <= width
            assert line.plain.isprintable()
            assert line.plain.isascii() or not ascii_only
    timeline.finish(10.0)
    for line in view.lines(Look(max(width, 20), None, None)):
        assert line.plain.isprintable()


def test_prose_is_wrapped_between_words() -> None:
    """Line ends are kept; everything else that cannot be seen is spelled out; the open end has a cursor."""
    lines = prose_lines("one two three\nfour\x07", 11, PLAIN, is_open=True)
    assert [line.plain for line in lines] == ["  one two", "  three", "  four\\x07_"]
    assert [line.plain for line in prose_lines("abcdefghij", 6, PLAIN, is_open=False)] == ["  abcd", "  efgh", "  ij"]


def test_the_status_line() -> None:
    """Time, rate, position, step, what is expected; less where there is no room."""
    timeline = growing('{"a": [1,\n 2', ', "x')
    assert status_line(timeline, 2.0, 80, ascii_only=True).plain.rstrip() == (
        "2.0 s  80 ch/s  2:7 @16  step 2  expecting the rest of the string"
    )
    assert status_line(timeline, 2.0, 20, ascii_only=True).plain == "2.0 s  80 ch/s      "
    waiting = Timeline(Guess(InputKind.SNAPSHOTS))
    waiting.add(0.0, Item((TrackPiece("json", "{"),), waiting=("b\x1b", "c")))
    assert "waiting: b\\x1b, c" in status_line(waiting, 0.0, 80, ascii_only=True).plain
    assert summary(timeline).startswith("5 fields, 16 characters, 2 steps, 0.20 s")


def test_the_legend() -> None:
    """One line explains the signs; a terminal that is narrow or low has none."""
    line = legend(80, 24, ascii_only=True)
    assert line is not None
    assert line.plain.strip() == "+ new  ~ has grown  _ still open  ! does not fit the schema  x broken"
    assert "\u258c still open" in str(legend(80, 24, ascii_only=False))
    assert len(line.plain) < 80
    assert legend(40, 24, ascii_only=True) is None
    assert legend(80, 8, ascii_only=True) is None


# Time.


def test_items_come_when_they_are_due(tmp_path: Path) -> None:
    """A recording plays with its timing, `speed` times as fast, with ticks in between; speed 0 does not wait."""
    clock = [100.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    ours = Clock(lambda: clock[0], sleep)
    file = tmp_path / "r.jsonl"
    file.write_text('{"unspool_recording": 1}\n{"t": 0.5, "text": "[1,"}\n{"t": 1.5, "text": "2]"}\n')
    source = Input(file)
    times = [(clock[0] - 100, tick.time) for tick in ticking(source, source.opening(), 2.0, ours) if tick is not None]
    assert [time for _, time in times] == [0.5, 1.5]
    assert [at for at, _ in times] == pytest.approx([0.25, 0.75])
    assert max(slept) <= 1 / 30
    slept.clear()
    ticks = list(ticking(source, source.opening(), 1.0, ours))
    assert 44 < ticks.count(None) < 50
    slept.clear()
    assert None not in list(ticking(source, source.opening(), 0.0, ours))
    assert slept == []


# Without a terminal.


def test_a_line_for_each_field() -> None:
    """Each leaf when it is complete, and what is empty; numbers as they are spelled."""
    result = run("sample:broken")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:6] == [
        '$.invoice = "2031-0117"',
        '$.customer.name = "Mill & Daughters"',
        '$.customer.country = "IE"',
        '$.lines[0].what = "oak boards, planed"',
        "$.lines[0].metres = 14.5",
        "$.lines[0].price = 23.80",
    ]
    assert "line 7, column 41" in result.stderr
    assert "content: $.warnings = []" in run("sample:trip").stdout.splitlines()


def test_text_and_calls_in_lines() -> None:
    """Each line says of which track it is; text ends where something else goes on."""
    lines = run("sample:weather-tools").stdout.splitlines()
    assert lines[0].startswith("reasoning: Two places are named")
    assert lines[2] == "content: I will look at both forecasts."
    assert lines[3] == 'forecast (call 0): $.place = "Bergen"'
    assert len(lines) == 21


def test_selected_values_come_whole(tmp_path: Path) -> None:
    """Each match of a pattern is one line, also a container, also in one of many documents."""
    file = tmp_path / "in.ndjson"
    file.write_text('{"a": {"b": [1, 2.50]}, "c": 1}\n{"a": "x"}\n{"a": {}}\n{"d": 1}\n')
    assert run(file, "--select", "$.a").stdout.splitlines() == [
        '$.a = {"b": [1, 2.5]}',
        '$.a = "x"',
        "$.a = {}",
    ]


@given(strategies.values(small=True), st.integers(1, 30))
def test_lines_tell_everything(value: Any, cut: int) -> None:
    """All leaves and empty containers, in the order of the text, as JSON that can be read back."""
    timeline = Timeline(Guess(InputKind.JSON))
    lines: list[str] = []
    told = FieldLines(timeline, None)
    text = json.dumps(value)
    for start in range(0, len(text), cut):
        timeline.add(0.0, Item((TrackPiece("json", text[start : start + cut]),)))
        lines += told.take()
    timeline.finish(0.0)
    lines += told.take()

    def leaves(node: Any) -> Iterator[Any]:
        if isinstance(node, (dict, list)) and node:
            for inner in node.values() if isinstance(node, dict) else node:
                yield from leaves(inner)
        else:
            yield node

    expected = list(leaves(value))
    assert len(lines) == len(expected)
    for line, leaf in zip(lines, expected, strict=True):
        assert line.isprintable()
        if json.dumps(leaf, ensure_ascii=False).isprintable() and " = " not in json.dumps(leaf):
            assert line.endswith(f" = {json.dumps(leaf, ensure_ascii=False)}") or isinstance(leaf, (float, int))


def test_schema_in_lines(tmp_path: Path) -> None:
    """Violations are reported on standard error, once, and the exit status is 1."""
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"travellers": {"type": "string"}}}')
    result = run("sample:trip", "--schema", schema)
    assert result.exit_code == 1
    assert result.stderr.count("$.travellers") == 1
    assert len(result.stdout.splitlines()) == 89
    assert run("sample:trip", "--schema", tmp_path / "no.json").exit_code == 2


@pytest.mark.parametrize(
    ("text", "status", "out", "err"),
    [
        ("", 1, "", "nothing"),
        ("[]", 0, "$ = []\n", ""),
        ("12", 0, "$ = 12\n", ""),
        ('{"a": 1', 1, "", "ended too early"),
        ("[1, 2", 1, "$[0] = 1\n", "ended too early"),
        ('"\\u001b[2J\\u202e"', 0, '$ = "\\u001b[2J\\u202e"\n', ""),
        ("```json\n[7]\n```", 0, "$[0] = 7\n", ""),
    ],
)
def test_ends(tmp_path: Path, text: str, status: int, out: str, err: str) -> None:
    """For any input, its fields and its problems are written."""
    file = tmp_path / "in"
    file.write_text(text)
    result = run(file, *(["--extract"] if text.startswith("`") else []))
    assert (result.exit_code, result.stdout) == (status, out)
    assert err in result.stderr
    assert bool(result.stderr) == bool(err)


def test_ascii_only_in_lines() -> None:
    """Characters beyond ASCII are spelled out."""
    result = run("sample:trip", "--select", "$.title", UNSPOOL_ASCII="1")
    assert result.stdout == 'content: $.title = "Five days on S\\xe3o Miguel, without a hurry"\n'


def test_usage() -> None:
    """An input that cannot be watched is a usage error."""
    for arguments in (["nowhere.json"], ["sample:x"], ["sample:trip", "--select", "a"], ["--speed", "-1"]):
        assert run(*arguments).exit_code == 2


def test_from_a_pipe_as_it_comes() -> None:
    """A field is there before the next one comes."""
    with started("watch") as process:
        say(process, b'{"a": 1, "b": "x')
        assert hear_line(process.stdout) == "$.a = 1\n"
        assert process.communicate(b'y"}', PATIENCE) == (b'$.b = "xy"\n', b"")
        assert process.returncode == 0


# In a terminal.


class Screen(Terminal):
    """The command that fills a terminal, screen by screen."""

    def __init__(self, *arguments: str, **settings: Any) -> None:
        super().__init__("watch", *arguments, **settings)

    @property
    def frames(self) -> list[list[str]]:
        """What was drawn, screen by screen."""
        inside = self.output.partition(ENTER)[2].partition(LEAVE)[0]
        return [lines for frame in inside.split(b"\x1b[H") if (lines := lines_of(frame))]

    @property
    def rest(self) -> list[str]:
        """What stays on the screen."""
        assert self.output.count(ENTER) == self.output.count(LEAVE) == 1
        assert self.output.rindex(SHOW_CURSOR) > self.output.index(ENTER)
        return lines_of(self.output.partition(LEAVE)[2])


def lines_of(output: bytes) -> list[str]:
    return [line.rstrip() for line in CONTROL.sub(b"", output).decode().replace("\r", "").split("\n") if line.strip()]


def test_the_tree_grows_and_stays() -> None:
    """Frames show the end of the tree and a status line; at the end all of it is there, with a summary."""
    terminal = Screen("sample:trip", "--speed", "6", rows=12)
    assert terminal.close() == 0
    frames = terminal.frames
    assert len(frames) > 1
    assert all(len(frame) <= 12 for frame in frames)
    assert any("ch/s" in frame[-1] and "step" in frame[-1] for frame in frames)
    assert any(line.startswith("+ ") for frame in frames for line in frame)
    rest = terminal.rest
    assert rest[1] == "  $ { 9 }"
    assert "  confidence 0.86" in [line[2:] for line in rest]
    assert len([line for line in rest if "activities [" in line]) == 5
    assert " ".join(rest[-2:]).startswith("complete: 114 fields, 2,368 characters, 447 steps, 6.13 s")
    assert b"\x1b[1;32m" in terminal.output
    assert any("has grown" in line for frame in frames for line in frame[-2:-1]), "the legend is above the status line"
    assert b'\x1b[32m"' in terminal.output, "strings have a colour"
    assert b"\x1b[35m0.86" in terminal.output, "numbers have another"


def test_a_narrow_terminal_without_colour() -> None:
    """Nothing is wider than the terminal; NO_COLOR leaves weight and signs; ASCII leaves nothing else."""
    settings = {"NO_COLOR": "1", "UNSPOOL_ASCII": "1"}
    terminal = Screen("sample:broken", "--speed", "0", columns=20, rows=8, **settings)
    assert terminal.close() == 1
    assert all(len(line) <= 20 for frame in terminal.frames for line in frame)
    assert not re.search(rb"\x1b\[[0-9;]*3[0-7]m", terminal.output)
    assert CONTROL.sub(b"", terminal.output).isascii()
    assert any(line.startswith("x ") for line in terminal.rest)
    assert "^" in "".join(terminal.rest)


def test_interrupted() -> None:
    """Ctrl-C: 130, the terminal is as it was, and what had come stays on the screen."""
    terminal = Screen("sample:trip", "--speed", "0.2")
    terminal.until(b"ch/s")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.close() == 130
    assert terminal.rest[-1].startswith("stopped: ")


def test_another_size() -> None:
    """The next drawing has the new size."""
    terminal = Screen("sample:broken", "--speed", "0.05", columns=80, rows=20)
    terminal.until(b"step 3")
    terminal.resize(30, 6)
    end = time.monotonic() + PATIENCE
    while not fits(terminal.frames[-2]):  # the last one may be half a frame, those before may be old
        assert time.monotonic() < end
        terminal.until(b"\x1b[H")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.close() == 130


def fits(frame: list[str]) -> bool:
    return len(frame) <= 6 and all(len(line) <= 30 for line in frame) and "ch/s" in frame[-1]


def test_a_terminal_that_can_do_nothing() -> None:
    """TERM=dumb gets lines, as a pipe does."""
    terminal = Screen("sample:broken", TERM="dumb")
    assert terminal.close() == 1
    assert b"\x1b" not in terminal.output
    assert b'$.invoice = "2031-0117"' in terminal.output
