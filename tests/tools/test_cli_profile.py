"""`unspool profile`: when each field became usable, in the terminal, as JSON lines, as SVG and as a page."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from tests.support.running import PATIENCE, Terminal, started
from tests.support.running import run as run_with_streams
from unspool.tools.cli import arrivals
from unspool.tools.cli.main import app
from unspool.tools.viewer import tracks
from unspool.tools.viewer.recordings import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

ASCII = {"UNSPOOL_ASCII": "1"}
BLOCKS = {"UNSPOOL_ASCII": "0"}


def run(*arguments: str | int | Path, width: int = 80, ascii_only: bool = False) -> Result:
    """The command in this process; nothing of it is a terminal."""
    settings = {"COLUMNS": str(width), **(ASCII if ascii_only else BLOCKS)}
    return CliRunner().invoke(app, ["profile", *map(str, arguments)], env=settings)


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def file_with(folder: Path, text: str, name: str = "in.json") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_golden_profile(tmp_path: Path) -> None:
    """A plain file counts characters; each line is a field."""
    file = file_with(tmp_path, '{"title": "Porto, slow", "days": [1, 2]}')
    result = run(file, "--cut", "8", width=56, ascii_only=True)
    assert result.exit_code == 0
    head, axis, *rows, summary = result.stdout.splitlines()
    assert head == f"{file}: json, 6 steps, 40 characters"
    assert axis.split() == ["0", "10", "20", "30", "40", "complete", "bytes", "share"]
    assert [row.split()[0] for row in rows] == ["$", "title", "days", "[0]", "[1]"]
    assert [row.split()[-3:] for row in rows] == [
        ["40", "40", "100.0%"],
        ["24", "13", "32.5%"],
        ["40", "6", "15.0%"],
        ["40", "1", "2.5%"],
        ["40", "1", "2.5%"],
    ]
    assert rows[1].startswith(" title ----------=====# ")
    assert summary == "3 leaves usable, in characters: first 24, half 40, last 40"


@pytest.mark.parametrize("width", [20, 30, 40, 80, 120])
def test_it_fits_the_terminal(width: int) -> None:
    """Bars and axis are never wider than there is room."""
    result = run("sample:trip", width=width)
    assert result.exit_code == 0
    rows = [line for line in result.stdout.splitlines() if "█" in line]
    assert len(rows) > 90
    assert all(len(row) <= width for row in rows)


@pytest.mark.parametrize("sample", list(SAMPLES))
def test_every_line_fits_80_columns(sample: str) -> None:
    """In a terminal of 80 columns, no line of a waterfall or of a comparison is wrapped."""
    for more in ((), ("--depth", 1), ("--compare", f"sample:{sample}")):
        shown = run(f"sample:{sample}", *more).stdout
        assert max(map(len, shown.splitlines())) <= 80


def test_repaired_text_has_a_profile(tmp_path: Path) -> None:
    """With --repair, broken JSON has its fields; what a repair put in has no bytes."""
    file = file_with(tmp_path, "{'a': True, b: [1,2]")
    assert run(file).exit_code == 1
    lines = lines_of(run(file, "--repair", "guess", "--json"))
    assert [(line["path"], line["complete"] is not None) for line in lines] == [
        *(("$", True), ("$.a", True), ("$.b", True), ("$.b[0]", True), ("$.b[1]", True)),
    ]
    assert max(line["share"] for line in lines) == 1.0


def test_ascii_only() -> None:
    """With UNSPOOL_ASCII=1 there is nothing else, also where the text has more."""
    result = run("sample:trip", "--select", "$.title", ascii_only=True)
    assert result.stdout.isascii()
    assert "#" in result.stdout


def test_so_many_levels() -> None:
    """--depth leaves out deeper levels, and reports how many fields; level 0 is the document itself."""
    for depth, last in ((0, "$"), (1, "confidence")):
        shown = run("sample:trip", "--depth", depth).stdout
        labels = [line.split()[0] for line in shown.splitlines()[2:-2]]
        assert labels[:2] == ["content", "$"]
        assert labels[-1] == last
        assert "area" not in labels
        assert "more fields are not shown" in shown


def test_a_plain_file_is_measured_to_the_character(tmp_path: Path) -> None:
    """Without measured times, a field is complete at its last character."""
    file = tmp_path / "file.json"
    file.write_bytes(b'{"a": 1, "b": "two"}')
    lines = lines_of(run(file, "--json"))
    assert [(line["path"], line["first"], line["complete"]) for line in lines] == [
        ("$", 1, 20),
        ("$.a", 8, 8),
        ("$.b", 15, 19),
    ]


def test_json_lines() -> None:
    """One line for each field, nothing folded, with the unit; what is open has no completion."""
    result = run("sample:cut-off", "--json")
    assert result.exit_code == 1
    lines = lines_of(result)
    assert len(lines) == 18
    assert lines[0]["path"] is None
    assert (lines[0]["track"], lines[0]["kind"], lines[0]["complete"]) == ("content", "json", None)
    assert lines[2] == {
        "track": "content",
        "path": "$.meeting",
        "kind": "string",
        "first": lines[2]["first"],
        "complete": lines[2]["complete"],
        "duration": round(lines[2]["complete"] - lines[2]["first"], 6),
        "bytes": 29,
        "share": 0.081006,
        "unit": "seconds",
    }
    assert "the text ended too early" in result.stderr


def test_by_characters() -> None:
    """A recording can be counted in characters as well."""
    lines = lines_of(run("sample:trip", "--by", "characters", "--json"))
    assert {line["unit"] for line in lines} == {"characters"}
    assert lines[1]["complete"] == 2368.0


def test_select_and_items() -> None:
    """--select picks fields, --items says how many items of an array are shown."""
    result = run("sample:trip", "--select", "$.days[*]", "--items", "2", width=100)
    labels = [line.split()[0] for line in result.stdout.splitlines()[2:]]
    assert [label for label in labels if label.startswith("$.days")] == ["$.days[0]", "$.days[1]"]
    assert any(line.strip().startswith("3 more") for line in result.stdout.splitlines())
    assert "more fields are not shown" in result.stdout


def test_compare() -> None:
    """Side by side: what is usable earlier or later, and when the first, half and the last of them are."""
    result = run("sample:unordered-a", "--compare", "sample:unordered-b")
    assert result.exit_code == 0
    verdict = next(line for line in result.stdout.splitlines() if line.startswith("$.verdict"))
    assert verdict.split()[-1] == "earlier"
    assert "in two: 8 earlier, 9 later" in result.stdout
    summary = [line.split() for line in result.stdout.splitlines() if line.startswith(("one: ", "two: "))]
    assert [len(line) for line in summary] == [5, 5]
    assert float(summary[0][3]) > float(summary[1][3])


def test_compare_as_json_lines() -> None:
    """Each field with its times in the one and the other."""
    lines = lines_of(run("sample:unordered-a", "--compare", "sample:unordered-b", "--json"))
    verdict = next(line for line in lines if line["path"] == "$.verdict")
    assert verdict["gain"] == verdict["one"]["complete"] - verdict["two"]["complete"]
    assert verdict["gain"] > 1


def test_compare_recording_with_plain_file(tmp_path: Path) -> None:
    """If one input has no times, characters are compared; fields of only one input are reported."""
    file = file_with(tmp_path, '{"claim": "x", "other": 1}')
    result = run(file, "--compare", "sample:unordered-b")
    assert "not in both" in result.stdout


def test_compare_with_what_is_not_complete(tmp_path: Path) -> None:
    """A field in both inputs, but complete in one of them, is reported as such."""
    whole, cut_off = file_with(tmp_path, '{"a": "xyz"}', "whole.json"), file_with(tmp_path, '{"a": "x', "cut.json")
    for files, change in (((whole, cut_off), "open in two"), ((cut_off, whole), "open in one")):
        result = run(files[0], "--compare", files[1])
        row = next(line for line in result.stdout.splitlines() if line.startswith("$.a"))
        assert row.endswith(f" {change}")
        assert "not in both" not in result.stdout


def test_more_fields_than_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary is about all leaves there are; what comes behind a long array has its row and its line."""
    monkeypatch.setattr(tracks, "MAX_FIELDS", 20)
    text = json.dumps({"rows": [{"id": number, "t": "x"} for number in range(12)], "last": 1})
    file = file_with(tmp_path, text)
    *_, last, too_many, summary, _ = run(file, "--by", "characters").stdout.splitlines()
    assert last.split()[0] == "last"
    assert too_many.startswith("18 more fields are only counted")
    first, half = text.index("0,") + 2, text.index("6,") + 2  # a number is complete with the character after it
    words = f"25 leaves usable, in characters: first {first}, half {half}, last {len(text)}"
    assert summary == words
    result = run(file, "--json")
    paths = [line["path"] for line in lines_of(result)]
    assert (len(paths), paths[-1]) == (21, "$.last")
    assert "18 fields are too many, and have no line" in result.stderr.replace("\n", " ")


def test_files_for_a_browser(tmp_path: Path) -> None:
    """--svg writes XML, --html one page with the same bars; the terminal gets its own."""
    svg, html = tmp_path / "out.svg", tmp_path / "out.html"
    result = run("sample:weather-tools", "--svg", svg, "--html", html)
    assert result.exit_code == 0
    assert "forecast (call 1)" in result.stdout
    root = ET.fromstring(svg.read_text(encoding="utf-8"))
    rows = [element for element in root.iter() if "row" in element.get("class", "").split()]
    assert len(rows) == 30
    text = html.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.count('tabindex="0" role="img"') == 30
    assert "<dt>Input</dt><dd>anthropic</dd>" in text


def test_the_page_of_a_comparison(tmp_path: Path) -> None:
    """Both drawings, and the table side by side."""
    html = tmp_path / "out.html"
    assert run("sample:unordered-a", "--compare", "sample:unordered-b", "--html", html).exit_code == 0
    assert html.read_text(encoding="utf-8").count("<svg xmlns") == 2


def test_the_drawing_of_a_comparison(tmp_path: Path) -> None:
    """Both are in it, one under the other, on the longer of the two axes."""
    svg = tmp_path / "out.svg"
    assert run("sample:unordered-a", "--compare", "sample:unordered-b", "--svg", svg).exit_code == 0
    root = ET.fromstring(svg.read_text(encoding="utf-8"))
    drawings = [element for element in root if element.tag.endswith("svg")]
    titles = [element.text for drawing in drawings for element in drawing if element.tag.endswith("title")]
    assert titles == ["sample:unordered-a", "sample:unordered-b"]
    assert [drawing.get("y") for drawing in drawings] == ["0", drawings[0].get("height")]
    assert root.get("height") == str(sum([int(drawing.get("height", "")) for drawing in drawings]))
    ticks = [
        [mark.get("x") for group in drawing for mark in group if group.get("class") == "tick"] for drawing in drawings
    ]
    assert ticks[0] == ticks[1]
    assert root[0].text == "sample:unordered-a and sample:unordered-b"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """It is named, before anything is read: a folder, one in a folder that is not there, one for two reports."""
    page = tmp_path / "out"
    cases: list[tuple[list[str | Path], str]] = [
        (["--html", tmp_path / "no" / "out.html"], f"no{os.sep}out.html: there is no directory"),
        (["--svg", tmp_path], f"{tmp_path} is a directory"),
        (["--html", "-"], "reports need a file name"),
        (["--html", page, "--svg", page], f"{page} cannot be both the page and the drawing"),
    ]
    for outputs, words in cases:
        result = run("sample:broken", *outputs)
        assert (result.exit_code, result.stdout) == (2, "")
        assert words in result.stderr
    assert not page.exists()


def test_a_report_does_not_overwrite_what_it_is_made_of(tmp_path: Path) -> None:
    """Neither the input nor what it is compared with, by whatever name; an older report is overwritten."""
    one, two = file_with(tmp_path, "[1]", "one.json"), file_with(tmp_path, "[2]", "two.json")
    link = tmp_path / "link.json"
    link.symlink_to(two)
    for output in ("--html", "--svg"):
        for file in (one, two, link):
            result = run(one, "--compare", two, output, file)
            assert (result.exit_code, result.stderr) == (2, f"unspool: {file} is the file to be read\n")
    assert (one.read_text(), two.read_text()) == ("[1]", "[2]")
    report = file_with(tmp_path, "an older one", "report.html")
    assert run(one, "--html", report).exit_code == 0
    assert report.read_text(encoding="utf-8").startswith("<!")


def test_people_are_told_what_was_written(tmp_path: Path) -> None:
    """In a terminal; who calls it from a program knows."""
    for done in ("wrote", "overwrote"):
        terminal = Terminal("profile", "sample:broken", "--html", tmp_path / "page", columns=200)
        terminal.close()
        assert f"{done} {tmp_path / 'page'}" in terminal.output.decode().splitlines()
    assert "wrote" not in run("sample:broken", "--html", tmp_path / "page").stderr


def test_each_complaint_names_its_file(tmp_path: Path) -> None:
    """Of two that are compared, the one that is broken."""
    good, broken = file_with(tmp_path, "[1]", "good.json"), file_with(tmp_path, "[1", "broken.json")
    result = run(good, "--compare", broken)
    assert result.stderr.startswith(f"unspool: {broken}: the text ended too early: line 1, column 3")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.json"], "there is no file"),
        (["."], "is a directory"),
        (["sample:nothing"], "there is no sample"),
        (["sample:trip", "--select", "$["], "offset 2"),
        (["sample:trip", "--by", "hours"], "hours"),
        (["sample:trip", "--compare", "nowhere.json"], "there is no file"),
    ],
)
def test_usage(arguments: list[str], words: str) -> None:
    """Invalid options are a usage error."""
    result = run(*arguments, width=200)
    assert result.exit_code == 2
    assert words in result.stderr


def test_broken_input_is_shown_as_far_as_it_goes() -> None:
    """The fields before the error are shown, the error is reported, and the exit status is 1."""
    result = run("sample:broken")
    assert result.exit_code == 1
    assert "linseed" not in result.stdout
    assert "litres" in result.stdout
    assert "line 7, column 41" in result.stderr


def test_an_empty_file(tmp_path: Path) -> None:
    """An empty input is reported."""
    result = run(file_with(tmp_path, ""))
    assert result.exit_code == 1
    assert "the input is empty" in result.stderr


def test_a_broken_recording(tmp_path: Path) -> None:
    """The fields before an invalid line are shown."""
    file = file_with(tmp_path, '{"unspool_recording": 1}\n{"t": 0, "text": "[1, 2"}\n{"t": "x"}\n')
    result = run(file)
    assert result.exit_code == 1
    assert "[0]" in result.stdout
    assert "line 3" in result.stderr


def test_hostile_text_reaches_the_terminal_spelled_out(tmp_path: Path) -> None:
    """Keys and file names are text of others."""
    file = file_with(tmp_path, json.dumps({"\x1b[2J\u202e\x07": 1}, ensure_ascii=True), "a\x1b[31m.json")
    result = run(file, width=120)
    assert "\x1b" not in result.stdout
    assert '["\\u001b[2J\\u202e\\u0007"]' in result.stdout
    assert "a\\x1b[31m.json" in result.stdout


def test_from_standard_input() -> None:
    """It has its own times; colours are for terminals only."""
    outcome = run_with_streams("profile", data=b'{"a": [1, 2, {"b": null}]}')
    assert (outcome.status, outcome.stderr) == (0, "")
    text = outcome.stdout.decode()
    assert text.startswith("standard input: json")
    assert "\x1b" not in text
    assert "seconds" in text


def test_a_reader_that_has_seen_enough() -> None:
    """A closed pipe ends it quietly."""
    with started("profile", "sample:trip") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while it waits for input: 130, without a message."""

    def interrupted(*_: object) -> Iterator[bytes]:
        yield b"["
        raise KeyboardInterrupt

    monkeypatch.setattr(arrivals, "arrivals", interrupted)
    assert run_with_streams("profile") == (130, b"", "")
