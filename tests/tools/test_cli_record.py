"""`unspool record`: a process in a pipe, which passes on what comes, and notes down when."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.running import PATIENCE, hear, run, say, started
from unspool.tools.viewer.recordings import HEADER, RecordingReader

if TYPE_CHECKING:
    from pathlib import Path

    from unspool.tools.viewer.recordings import Arrival

NAUGHTY = "caf\u00e9 \U0001f600 \x1b[2J \u202e\n".encode() + b"\xff\xc3"


def wait_for(file: Path, text: str) -> str:
    """Return the content of the file, as soon as it has this."""
    end = time.monotonic() + PATIENCE
    while not file.exists() or text not in file.read_text():
        assert time.monotonic() < end
        time.sleep(0.005)
    return file.read_text()


def read(recording: bytes | str) -> list[Arrival]:
    reader = RecordingReader()
    return reader.feed(recording) + reader.close()


def data_of(recording: bytes | str) -> bytes:
    return b"".join([data for _, data in read(recording)])


# Where everything goes.


def test_without_an_output_the_recording_is_the_output() -> None:
    """The very lines: what came at once has the time nought."""
    done = run("record", data=b'{"a": "caf\xc3\xa9"}\n')
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.decode() == HEADER + '{"t": 0.0, "text": "{\\"a\\": \\"café\\"}\\n"}\n'


def test_with_an_output_the_input_passes(tmp_path: Path) -> None:
    """Standard output gets every byte, and so does the recording."""
    file = tmp_path / "trip.jsonl"
    done = run("record", "--output", file, data=NAUGHTY)
    assert (done.status, done.stdout, done.stderr) == (0, NAUGHTY, "")
    assert data_of(file.read_bytes()) == NAUGHTY


def test_a_file_can_be_recorded_and_nothing_can(tmp_path: Path) -> None:
    """A file has arrived as soon as it is read. Where nothing comes, there is a recording of nothing."""
    file = tmp_path / "a.json"
    file.write_bytes(NAUGHTY)
    assert data_of(run("record", file).stdout) == NAUGHTY
    assert run("record", "-", "--output", "-").stdout.decode() == HEADER


def test_plain_terminals_get_ascii() -> None:
    """Where nothing but ASCII is wanted, the recording is ASCII, and has the same bytes in it."""
    data = "café 😀".encode()
    done = run("record", data=data, UNSPOOL_ASCII="1")
    assert done.stdout.isascii()
    assert data_of(done.stdout) == data


# While it comes.


def test_each_piece_passes_and_is_noted_down_at_once(tmp_path: Path) -> None:
    """Each piece passes at once. Half of a character passes, too, and is recorded with its other half."""
    file = tmp_path / "trip.jsonl"
    with started("record", "-o", file) as process:
        say(process, b"caf\xc3")
        assert hear(process.stdout, 4) == b"caf\xc3"
        assert [data for _, data in read(wait_for(file, "caf"))] == [b"caf"]
        say(process, b"\xa9!")
        assert hear(process.stdout, 2) == b"\xa9!"
        assert [data for _, data in read(wait_for(file, "!"))] == [b"caf", "é!".encode()]
        assert process.communicate(timeout=PATIENCE) == (b"", b"")
        assert process.returncode == 0
    first, second = read(file.read_bytes())
    assert first.time == 0.0 < second.time


def test_ctrl_c_leaves_a_recording(tmp_path: Path) -> None:
    """The recording is complete, half a character included; the exit status is 130, without a message."""
    file = tmp_path / "trip.jsonl"
    with started("record", "-o", file) as process:
        say(process, b"ab\xc3")
        assert hear(process.stdout, 3) == b"ab\xc3"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE) == (b"", b"")
        assert process.returncode == 130
    assert data_of(file.read_bytes()) == b"ab\xc3"


def test_the_recording_goes_on_when_nobody_reads(tmp_path: Path) -> None:
    """If the next command stops reading, everything is still recorded, and the exit status is 0."""
    file = tmp_path / "trip.jsonl"
    with started("record", "-o", file) as process:
        assert process.stdout is not None
        say(process, b"one ")
        assert hear(process.stdout, 4) == b"one "
        process.stdout.close()
        say(process, b"two ")
        wait_for(file, "two ")
        say(process, b"three")
        wait_for(file, "three")
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
    assert data_of(file.read_bytes()) == b"one two three"


def test_a_recording_that_nobody_reads_ends() -> None:
    """Without an output there is nothing to go on for: it stops quietly."""
    with started("record") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert hear(process.stdout, len(HEADER)) == HEADER.encode()
        process.stdout.close()
        say(process, b"one")
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


def test_a_terminal_gets_what_can_be_seen(tmp_path: Path) -> None:
    """Input that passes to a terminal cannot control it; the recording has the original bytes."""
    file = tmp_path / "trip.jsonl"
    screen, terminal = pty.openpty()
    try:
        with started("record", "-o", file, stdout=terminal) as process:
            say(process, NAUGHTY)
            process.communicate(timeout=PATIENCE)
            assert select.select([screen], [], [], PATIENCE)[0]
            seen = os.read(screen, 1000).decode()
    finally:
        os.close(screen)
        os.close(terminal)
    assert seen == "café 😀 \\x1b[2J \\u202e\r\n\ufffd\ufffd"
    assert data_of(file.read_bytes()) == NAUGHTY


def test_a_named_pipe_is_recorded_as_it_comes(tmp_path: Path) -> None:
    """As the input, it is not waited for until a block is full; as the output, there is nothing to overwrite."""
    source, target = tmp_path / "source", tmp_path / "target"
    os.mkfifo(source)
    os.mkfifo(target)
    with started("record", source, "-o", target) as process, target.open("rb", buffering=0) as recording:
        with source.open("wb", buffering=0) as writer:
            assert hear(recording, len(HEADER)) == HEADER.encode()
            writer.write(b"one")
            line = hear(recording, len('{"t": 0.0, "text": "one"}\n'))
            assert json.loads(line) == {"t": 0.0, "text": "one"}
        assert process.wait(PATIENCE) == 0


# What goes wrong.


def test_nothing_is_overwritten_unless_it_is_asked_for(tmp_path: Path) -> None:
    """A recording cannot be made again: --force is for those who know."""
    file = tmp_path / "trip.jsonl"
    file.write_text("precious")
    done = run("record", "-o", file, data=b"new")
    assert (done.status, done.stdout) == (2, b"")
    assert done.stderr == f"unspool: {file} exists: --force overwrites it\n"
    assert file.read_text() == "precious"
    assert run("record", "-o", file, "--force", data=b"new").status == 0
    assert data_of(file.read_bytes()) == b"new"


def test_a_file_is_not_recorded_into_itself(tmp_path: Path) -> None:
    """Not even with --force: it would be gone before it is read."""
    file = tmp_path / "a.json"
    file.write_text("precious")
    outcome = run("record", file, "-o", tmp_path / "." / "a.json", "--force")
    assert (outcome.status, file.read_text()) == (2, "precious")
    assert "is the file to be recorded" in outcome.stderr


@pytest.mark.parametrize(
    ("args", "status", "told"),
    [
        (["missing.json"], 2, "no file missing.json"),
        (["-o", "missing/a.jsonl"], 2, "unspool: missing/a.jsonl: No such file or directory"),
        (["-o", "/dev/full"], 1, "unspool: No space left on device"),
    ],
)
def test_what_cannot_be_read_or_written_is_told(args: list[str], status: int, told: str) -> None:
    """In one line, without a traceback."""
    done = run("record", *args, data=b"a")
    assert (done.status, done.stdout) == (status, b"")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_recorded_can_be_replayed() -> None:
    """The two commands, one after the other, give back every byte."""
    assert run("replay", "--speed", 0, data=run("record", data=NAUGHTY).stdout) == (0, NAUGHTY, "")
