"""Every command under every condition: in a pipe, interrupted, with a reader that has left, with broken input, in a
narrow terminal without colours that knows only ASCII. Each command has tests of its own for its output.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.support.inputs import INPUTS, recorded
from tests.support.running import PATIENCE, Terminal, run, say, started

if TYPE_CHECKING:
    from pathlib import Path


class Way(NamedTuple):
    """How a command is started: its name and options, what it reads, and what is broken for it."""

    arguments: tuple[str, ...]
    good: bytes
    broken: bytes
    complaint: str


DOCUMENT: Final = json.dumps({"título": "Fuji \x1b[31m\u202e", "days": [{"hours": 6}, None, True]}).encode()
TORN: Final = b'{"a": "caf\xc3\xa9", "b": tru}'
CHAT: Final = INPUTS["chat"].data
SNAPSHOTS: Final = INPUTS["snapshots"].data
RECORDED: Final = recorded(DOCUMENT)
MORE: Final = 300_000  # bytes: a pipe does not hold that many
NOT_TRUE: Final = "invalid literal"

WAYS: Final = {
    "watch": Way(("watch",), DOCUMENT, TORN, NOT_TRUE),
    "events": Way(("events",), DOCUMENT, TORN, NOT_TRUE),
    "values": Way(("values",), DOCUMENT, TORN, NOT_TRUE),
    "patch": Way(("patch",), DOCUMENT, TORN, NOT_TRUE),
    "chunk": Way(("chunk",), SNAPSHOTS, SNAPSHOTS + b'{"a": tru}\n', NOT_TRUE),
    "message": Way(("message",), CHAT, CHAT[: len(CHAT) // 2], "cut off"),
    "check": Way(("check",), DOCUMENT, TORN, NOT_TRUE),
    "record": Way(("record",), DOCUMENT, b"", ""),  # nothing is broken for it: it passes on what comes
    "replay": Way(("replay", "--speed", "0"), RECORDED, RECORDED + b"{\n", "not JSON"),
    "profile": Way(("profile",), DOCUMENT, TORN, NOT_TRUE),
}
each_command = pytest.mark.parametrize("way", [pytest.param(way, id=name) for name, way in WAYS.items()])
COLOUR: Final = re.compile(rb"\x1b\[[0-9;]*\b(3[0-9]|4[0-9]|9[0-7])[;m]")


@each_command
def test_in_a_pipe(way: Way) -> None:
    """From standard input to standard output: something comes, nothing is wrong, no control sequence is in it."""
    outcome = run(*way.arguments, "-", data=way.good)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout or way.arguments == ("check",)
    assert way.arguments[0] == "replay" or b"\x1b" not in outcome.stdout


@pytest.mark.parametrize("way", [pytest.param(way, id=name) for name, way in WAYS.items() if way.broken])
def test_broken_input(way: Way) -> None:
    """Broken input is reported with exit status 1, and never with a traceback."""
    outcome = run(*way.arguments, "-", data=way.broken)
    said = outcome.stdout.decode() + outcome.stderr
    assert (outcome.status, "Traceback" in said) == (1, False)
    assert way.complaint in said.replace("\n", " ")


@each_command
def test_interrupted(way: Way) -> None:
    """Ctrl-C in the middle ends it quietly, with the status of an interrupt."""
    more = b'["' + b"x" * MORE if way.good is DOCUMENT else way.good + b" " * MORE
    with started(*way.arguments, "-", stdout=subprocess.DEVNULL) as process:
        say(process, more)  # once it is written, the command is reading
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


@each_command
def test_a_reader_that_has_left(way: Way) -> None:
    """A closed pipe ends it quietly, with the status of SIGPIPE."""
    data = way.broken if "check" in way.arguments else way.good
    with started(*way.arguments, "-") as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, stderr = process.communicate(data, PATIENCE)
        assert (process.returncode, stderr) == (141, b"")


@pytest.mark.parametrize("arguments", [("studio", "--no-browser", "sample:trip"), ("replay", "--serve", "sample:trip")])
def test_a_server_whose_address_nobody_hears(arguments: tuple[str, ...]) -> None:
    """The server ends like the other commands, because no client knows its address."""
    with started(*arguments) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, stderr = process.communicate(b"", PATIENCE)
        warning = b"unspool: this server has no token: every user of this machine can read the recording\n"
        assert (process.returncode, stderr) == (141, warning if "replay" in arguments else b"")


@each_command
def test_a_poor_terminal(way: Way, tmp_path: Path) -> None:
    """Twenty columns, no colour, only ASCII: it ends well, and keeps to that."""
    file = tmp_path / "input"
    file.write_bytes(way.good)
    terminal = Terminal(*way.arguments, file, columns=20, rows=10, NO_COLOR="1", UNSPOOL_ASCII="1")
    assert terminal.close() == 0
    assert terminal.output.isascii()
    assert COLOUR.search(terminal.output) is None
