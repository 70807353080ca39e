"""What is drawn on standard error while something takes long: for people only, and never into what others read."""

from __future__ import annotations

import io
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final
from unittest import mock

import pytest
from rich.console import Console

from tests.support.inputs import INPUTS, recorded
from tests.support.running import Terminal, run
from unspool.tools.cli import terminal as bars
from unspool.tools.cli.arrivals import STANDARD_INPUT, Clock, Input, paced
from unspool.tools.cli.commands import recording
from unspool.tools.viewer.recordings import Arrival

if TYPE_CHECKING:
    from pathlib import Path

LONG: Final = b"[" + b"1," * 10_000 + b"1]"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal on standard error, on which everything is drawn at once."""
    screen = io.StringIO()
    monkeypatch.setattr(bars, "BAR_DELAY", 0.0)
    monkeypatch.setattr(bars, "BAR_PAUSE", 0.0)
    monkeypatch.setattr(bars, "console", lambda *, stderr: Console(file=screen, force_terminal=True, width=80))
    return screen


@pytest.mark.parametrize("ends_in", [None, KeyboardInterrupt])
@pytest.mark.parametrize("width", [20, 80])
def test_a_bar_for_what_takes_long(
    width: int, ends_in: type[BaseException] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After half a second there is a bar, on a terminal; it goes away, and the cursor comes back, whatever ends it."""
    file = tmp_path / "long.json"
    file.write_bytes(b"x" * 1000)
    clock = iter([0.0, 0.4, 0.6, 0.65, 0.9, 1.5])
    drawn = io.StringIO()
    monkeypatch.setattr(bars, "monotonic", lambda: next(clock))
    monkeypatch.setattr(
        bars, "console", lambda *, stderr: Console(file=drawn, force_terminal=True, width=width, color_system=None)
    )
    with nullcontext() if ends_in is None else pytest.raises(ends_in), bars.progress(Input(file)) as took:
        took(100)
        assert drawn.getvalue() == "", "not yet"
        took(300)
        assert "\x1b[?25l" in drawn.getvalue()
        assert ("40 %" if width == 20 else "400 bytes of 1.0 kB") in drawn.getvalue()
        took(300)
        if ends_in is not None:
            raise ends_in
    assert drawn.getvalue().rindex("\x1b[?25h") > drawn.getvalue().rindex("\x1b[?25l")


@pytest.mark.usefixtures("drawn")
def test_no_bar_without_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal nothing is drawn."""
    screen = io.StringIO()
    monkeypatch.setattr(bars, "console", lambda *, stderr: Console(file=screen))
    file = tmp_path / "long.json"
    file.write_bytes(LONG)
    assert run("events", file).status == 0
    assert run("record", file).status == 0
    assert run("replay", "--speed", "0", file).status == 0
    assert screen.getvalue() == ""


@pytest.mark.parametrize(
    "bar", [bars.recording_progress, lambda _: bars.playing_progress(lambda: 1.0)], ids=["record", "replay"]
)
def test_no_bar_where_the_stream_itself_is_seen(bar: object, drawn: io.StringIO) -> None:
    """On a terminal the text is the view. In a pipe the next command owns the terminal, and may draw there."""
    assert callable(bar)
    with mock.patch.object(sys.stdout, "isatty", return_value=True), bar(Input()) as took:
        assert took is None or took(1000) is None
    ends = os.pipe()
    with os.fdopen(ends[0]), os.fdopen(ends[1], "w") as stdout:
        with mock.patch.object(sys, "stdout", stdout), bar(Input()) as took:
            assert took is None or took(1000) is None
        with mock.patch.object(sys, "stdout", stdout), bars.progress(Input(), shares_terminal=True) as tell:
            tell(1000)
    assert drawn.getvalue() == ""


def test_no_bar_between_the_lines_of_a_terminal(tmp_path: Path, drawn: io.StringIO) -> None:
    """There is no bar between lines on a terminal, nor while the user types."""
    file = tmp_path / "long.json"
    file.write_bytes(b"x" * 1000)
    is_terminal = mock.patch.object(sys.stdout, "isatty", return_value=True)
    with is_terminal, bars.progress(Input(file), shares_terminal=True) as took:
        took(1000)
    with mock.patch.object(Input, "is_typed", new=True), bars.progress(Input()) as took:
        took(1000)
    assert drawn.getvalue() == ""


def test_bytes_are_counted_where_their_number_is_not_known(drawn: io.StringIO) -> None:
    """A pipe has no size."""
    ends = os.pipe()
    with os.fdopen(ends[0]) as stdin, os.fdopen(ends[1], "w"), mock.patch.object(sys, "stdin", stdin):
        assert Input().size is None
        with bars.progress(Input()) as took:
            took(1000)
            took(1000)
    assert "reading 2.0 kB" in drawn.getvalue()


TEXTS = {"profile": LONG[:1000] + b"1]", "message": INPUTS["chat"].data}


@pytest.mark.parametrize(
    "command", ["events", "values", "patch", "chunk", "check", "watch", "profile", "message", "record"]
)
def test_each_command_that_reads_has_one(command: str, tmp_path: Path, drawn: io.StringIO) -> None:
    """And it is never in what the command writes."""
    file = tmp_path / "input"
    file.write_bytes(TEXTS.get(command, LONG))
    outcome = run(command, file)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert ("recording" if command == "record" else "reading") in drawn.getvalue()
    assert b"\x1b" not in outcome.stdout
    assert outcome.stdout == run(command, file, UNSPOOL_ASCII="0").stdout or command == "record"


def test_lines_go_where_they_should_while_a_bar_is_drawn(tmp_path: Path, drawn: io.StringIO) -> None:
    """All output goes to the file: the bar takes nothing of it."""
    file = tmp_path / "input"
    file.write_bytes(b'{"a": 1}\n' * 50)
    outcome = run("values", "--input", "ndjson", file)
    assert outcome.stdout == b'{"a":1}\n' * 50
    assert '{"a":1}' not in drawn.getvalue()
    assert "reading" in drawn.getvalue()


def test_what_is_recorded_is_counted(drawn: io.StringIO) -> None:
    """How many bytes came, and how often some did."""
    with bars.recording_progress(Input(STANDARD_INPUT)) as took:
        took(400)
        took(700)
    assert "recording 400 bytes in 1 piece" in drawn.getvalue()
    assert "recording 1.1 kB in 2 pieces" in drawn.getvalue()


def test_what_is_played_has_its_time(tmp_path: Path, drawn: io.StringIO) -> None:
    """That of the recording, of how much of it there is; also up to a fault, and where pieces are dropped."""
    file = tmp_path / "recording.jsonl"
    file.write_bytes(b'{"unspool_recording": 1}\n{"t": 0, "text": "a"}\n{"t": 5, "text": "b"}\n{"t": 8, "text": "c"}\n')
    assert run("replay", "--speed", "0", file).stdout == b"abc"
    assert "5.0 of 8.0 s" in drawn.getvalue()
    assert run("replay", "--speed", "0", "--drop-after", "2", file).stdout == b"ab"
    assert "5.0 of 5.0 s" in drawn.getvalue()
    file.write_bytes(file.read_bytes() + b"oops\n")
    assert run("replay", "--speed", "0", file).stdout == b"abc"


def test_what_cannot_be_read_twice_has_a_time_only(
    tmp_path: Path, drawn: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The duration of standard input and of large files is unknown."""
    data = recorded(b"abc", 1)
    assert run("replay", "--speed", "0", data=data).stdout == b"abc"
    assert "playing 0.0 s" in drawn.getvalue()
    monkeypatch.setattr(recording, "MAX_READ_TWICE", 10)
    file = tmp_path / "recording.jsonl"
    file.write_bytes(data)
    assert run("replay", "--speed", "0", file).stdout == b"abc"
    assert " of " not in drawn.getvalue()


def test_time_passes_while_nothing_comes() -> None:
    """Between two pieces the time is reported repeatedly; it never runs ahead of the next piece."""
    now = 0.0
    told: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds * 1.5  # a sleep may take too long

    pieces = [Arrival(0.0, b"a"), Arrival(1.0, b"b"), Arrival(1.0, b"c")]
    assert list(paced(pieces, 2.0, Clock(lambda: now, sleep), told.append)) == [b"a", b"b", b"c"]
    assert (told[0], told[-1], max(told)) == (0.0, 1.0, 1.0)
    assert told == sorted(told)
    assert len(told) > 5


def test_in_a_terminal_the_text_is_alone(tmp_path: Path) -> None:
    """Standard output and standard error are one terminal: it gets the text, and nothing else."""
    file = tmp_path / "recording.jsonl"
    file.write_bytes(
        b'{"unspool_recording": 1}\n{"t": 0, "text": "a"}\n{"t": 0.8, "text": "b"}\n{"t": 0.9, "text": "c"}\n'
    )
    terminal = Terminal("replay", file)
    assert (terminal.close(), terminal.output) == (0, b"abc")
