"""What the commands say of an input that they cannot read: about which file, in which words, in lines that fit."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.inputs import CHAT, recorded
from tests.support.running import Terminal, run, started
from unspool.tools.cli.commands import studio as studio_command
from unspool.tools.viewer.inputs import EncodingError, InputDecoder
from unspool.tools.viewer.tracks import Item

if TYPE_CHECKING:
    from pathlib import Path

READERS: Final = ("watch", "events", "values", "patch", "chunk", "message", "check", "profile")
COMPLAINERS: Final = tuple([name for name in READERS if name != "check"])  # it tells on standard output
LEAVE: Final = "\x1b[?1049l"  # of the screen of `watch`
ENCODINGS: Final = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"} | {
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32",
}


# Which file it is about.


@pytest.mark.parametrize("command", COMPLAINERS)
def test_the_file_is_named(command: str, tmp_path: Path) -> None:
    """Each complaint begins with the file as it was given, spelled out; what comes from a pipe is standard input."""
    file = tmp_path / "a\x1b[31m b.json"
    file.write_bytes(b"[1, oops")
    named = str(file).replace("\x1b", "\\x1b")
    for outcome, name in ((run(command, file), named), (run(command, data=b"[1, oops"), "standard input")):
        assert outcome.status == (2 if command == "message" else 1)
        if command == "message":  # the error has the name in its own message, where all errors escape alike
            name = name.replace("\\x1b", "\\u001b")
        assert outcome.stderr.startswith(f"unspool: {name}: ")
        assert outcome.stderr.count("\n") == 1


def test_what_is_not_about_the_input_does_not_name_it(tmp_path: Path) -> None:
    """A pattern, a schema, an output: each has a name of its own, or none."""
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"$ref": "#/$defs/absent"}))
    outcome = run("values", "--schema", schema, data=b"{}")
    assert (outcome.status, outcome.stderr.startswith(f"unspool: {schema}: ")) == (2, True)
    assert "standard input" not in run("values", "--select", "$[", data=b"{}").stderr


@pytest.mark.parametrize("command", ["events", "watch", "check", "record"])
def test_reading_that_fails_names_the_file(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system does not say what it could not read."""
    file = tmp_path / "a.json"
    file.write_bytes(b"[]")

    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("unspool.tools.cli.arrivals.os.read", broken)
    outcome = run(command, file)
    assert (outcome.status, outcome.stderr) == (1, f"unspool: {file}: Input/output error\n")


# What is wrong with it as a whole.


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("command", READERS)
def test_another_encoding_is_called_by_its_name(command: str, encoding: str) -> None:
    """With a mark at its beginning or without one; of whatever kind the text is."""
    for text in ('{"a": 1}', "[1]", '{"a": 1}\n{"b": 2}\n', "7", json.dumps(CHAT[0]) + "\n", "data: 1\n\n"):
        outcome = run(command, data=text.encode(encoding))
        said = outcome.stdout.decode() + outcome.stderr
        assert outcome.status == 1
        assert f"this looks like {ENCODINGS[encoding]}; unspool reads UTF-8" in said


def test_an_encoding_is_told_before_anything_is_read() -> None:
    """As an error that comes again, in a recording as well, however the bytes come; what is UTF-8 is not touched."""
    data = "[1]".encode("utf-16")
    for pieces in ([data], [data[:4], data[4:]], [recorded(data)]):
        opening = InputDecoder()
        for feed in [*[partial(opening.feed, 0.0, piece) for piece in pieces], *[partial(opening.close, 0.0)] * 2]:
            with pytest.raises(EncodingError, match="UTF-16"):
                feed()
    for text in (b"\xef\xbb\xbf[1]", b"\0\0\0\0", b"", b"1", b"\xff", b"\0"):
        opening = InputDecoder()
        assert opening.feed(0.0, text) + opening.close(0.0) or not text


def test_other_encodings_pass_through() -> None:
    """To record and to replay nothing has to be read."""
    data = "[1]".encode("utf-16")
    assert run("replay", "--speed", "0", data=run("record", data=data).stdout).stdout == data
    assert run("replay", "--speed", "0", data=data).stdout == data


@pytest.mark.parametrize("command", COMPLAINERS)
def test_an_empty_input(command: str) -> None:
    """All commands say the same."""
    outcome = run(command)
    assert (outcome.status, outcome.stderr) == (1, "unspool: standard input: the input is empty\n")


@pytest.mark.parametrize("command", [*COMPLAINERS, "check"])
@pytest.mark.parametrize("end", ["", "\n", '\n{"t": 0, "text": " \\n"}\n'])
def test_an_empty_recording(command: str, end: str) -> None:
    """A recording of nothing is an empty input, and a recording with a broken line is not."""
    header = '{"unspool_recording": 1}'
    outcome = run(command, data=(header + end).encode())
    assert outcome.status == 1
    assert "the input is empty\n" in outcome.stderr + outcome.stdout.decode()
    broken = run(command, data=(header + "\noops").encode())
    assert "the input is empty" not in broken.stderr + broken.stdout.decode()
    assert "line 2 of the recording" in broken.stderr + broken.stdout.decode()


@pytest.mark.parametrize("command", [*COMPLAINERS, "check"])
def test_errors_name_no_options_of_python(command: str) -> None:
    """A command has options of its own, and suggests those alone."""
    for data in (b'Sure: {"a": 1}', b'{"a": 1} and more', b"```\n[1]"):
        outcome = run(command, data=data)
        assert "extract=True" not in outcome.stderr + outcome.stdout.decode()


def test_a_wrong_choice() -> None:
    """The message says what there is, and nothing about how it was found."""
    said = run("check", "--repair", "all").stderr
    assert "Error: Invalid value for '--repair': 'all' is not one of 'spelling', 'guess'" in said


@pytest.mark.parametrize("data", [b"<html>", b"Hello", b"\x1f\x8b\x08", b'{"a": 1}', b"\0\0\0\0\0"])
def test_what_is_no_message_need_not_be_anything_else(data: bytes) -> None:
    """Unparsed input is not called JSON; the kind of lines is reported."""
    outcome = run("message", data=data)
    said = "unspool: standard input: not recognised as a provider stream"
    hint = "; if it is one, name it with --format\n"
    assert (outcome.status, outcome.stderr) == (2, said + hint)
    lines = run("message", data=b'{"a": 1}\n{"b": 2}\n')
    assert lines.stderr == f"{said} (ndjson){hint}"


def test_a_blank_input_has_no_message() -> None:
    """White space alone is not JSON either."""
    assert run("message", data=b" \n\n").stderr == "unspool: standard input: the input is empty\n"


def test_blank_lines_do_not_tell_what_comes() -> None:
    """Who waits for a slow stream has nothing to show yet, and nothing to decide: it may still be anything."""
    opening = InputDecoder(is_live=True)
    assert opening.feed(0.0, b"\n") + opening.settle() == []
    assert opening.found is None
    items = opening.feed(1.0, json.dumps(CHAT[0]).encode() + b"\n")
    assert opening.found is not None
    assert opening.found.format == "openai-chat"
    assert isinstance(items[0].item, Item)


# Where it is.


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_broken_chunk_has_its_line(end: str) -> None:
    """The one on which its data begins, in events as in lines; the last may be cut off."""
    chunk = json.dumps(CHAT[0])
    lines = [
        ": ping",
        "",
        "event: x",
        f"data: {chunk}",
        "",
        "event: x",
        "data: {",
        'data: "a"',
        "",
        f"data: {chunk[:9]}",
    ]
    data = end.join(lines).encode()
    for outcome in (run("check", "--json", data=data), run("check", "--json", data=data.replace(b": ping", b":"))):
        problems = [problem for problem in json.loads(outcome.stdout)["problems"] if problem["code"] == "chunk"]
        assert [problem["line"] for problem in problems] == [7, 10]
    assert b"standard input: line 7\n  a chunk that is not JSON: chunk 2\n" in run("check", data=data).stdout
    if end != "\r":  # which ends no line there
        data = end.join([chunk, "", "oops", chunk, "{"]).encode()
        problems = json.loads(run("check", "--json", data=data).stdout)["problems"]
        assert [problem["line"] for problem in problems if problem["code"] == "chunk"] == [3, 5]


def test_lines_are_counted_wherever_the_bytes_are_cut() -> None:
    """Also between the two characters that end a line."""
    data = f"data: {json.dumps(CHAT[0])}\r\n\r\ndata: oops\r\n\r\ndata: x".encode()
    for size in (1, 2, 7, len(data)):
        opening = InputDecoder()
        items = [item for at in range(0, len(data), size) for item in opening.feed(0.0, data[at : at + size])]
        items += opening.close(0.0)
        assert [item.item.line for item in items if item.item.problem] == [3, 5]


# In lines that fit.


@pytest.mark.parametrize("command", ["events", "check", "watch"])
@pytest.mark.parametrize("columns", [20, 33, 60])
def test_lines_end_between_words(command: str, columns: int) -> None:
    """In a narrow terminal no word is in two lines."""
    speed = ["--speed", "0"] if command == "watch" else []
    terminal = Terminal(command, "sample:broken", *speed, columns=columns, NO_COLOR="1")
    assert terminal.close() == 1
    _, _, end = terminal.output.decode().rpartition(LEAVE)
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", end).split("\r\n")]
    said = [line for line in lines if '"kind"' not in line]
    words = [word for line in said for word in line.split()]
    assert max(map(len, said)) <= columns
    for word in ("unexpected", "character", "column", "(offset", "expected", "double", "quotes"):
        assert any(word in (found, found.rstrip(":,")) for found in words), word


def test_in_a_pipe_each_complaint_is_one_line() -> None:
    """At any terminal width, because programs read it."""
    outcome = run("events", data=b'{"a": "b" oops', COLUMNS="20")
    assert outcome.stderr.count("\n") == 1


# The studio.


@pytest.mark.parametrize(
    ("word", "said"), [("no-such-program", "there is no such program"), ("./a.txt", "it cannot be started")]
)
def test_a_command_that_cannot_be_started(
    word: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is known before there is a server."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("text")
    monkeypatch.setattr(sys, "argv", ["unspool", "studio", "--", word, "-x"])
    monkeypatch.setattr(studio_command, "_serve", lambda *_, **__: pytest.fail("it serves"))
    outcome = run("studio", "--", word, "-x")
    assert (outcome.status, outcome.stderr) == (2, f"unspool: {word}: {said}\n")


def test_the_studio_without_standard_input() -> None:
    """A closed standard input is reported."""
    with started("studio", "--no-browser", "-", stdin=None, preexec_fn=lambda: os.close(0)) as process:
        _, stderr = process.communicate(timeout=20)
        assert (process.returncode, stderr) == (1, b"unspool: standard input is closed\n")
