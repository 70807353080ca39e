"""Hints: what a command suggests when it cannot read its input, and that the suggestion helps."""

from __future__ import annotations

import gzip
import json
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import INPUTS
from tests.support.running import run
from unspool.tools.cli.arrivals import Input
from unspool.tools.cli.hints import hint_for
from unspool.tools.viewer.inputs import InputKind

EXTRACT: Final = "try --extract"
SPELLING: Final = "try --repair spelling"
GUESS: Final = "try --repair guess"

HINTS: list[tuple[bytes, str, list[str]]] = [
    (b'Here it is:\n\n```json\n{"a": 1}\n```\nBye.', f"this looks like Markdown: {EXTRACT}", ["--extract"]),
    (
        b'The answer is {"a": 1}, I think.',
        f"this looks like JSON with other text around it: {EXTRACT}",
        ["--extract"],
    ),
    (
        b"```\n{'a': 1}\n```\n",
        f"this looks like Markdown: {EXTRACT} --repair spelling",
        ["--extract", "--repair", "spelling"],
    ),
    (b'{"a": 1}\nHope this helps!\n', f"this looks like JSON with other text around it: {EXTRACT}", ["--extract"]),
    (b"{'a': True}", f"this is JSON with faults that can be repaired: {SPELLING}", ["--repair", "spelling"]),
    (b'{"a": [1, 2', "", []),
    (b'{"a": [1, "x"\n', f"this is JSON with faults that can be repaired: {GUESS}", ["--repair", "guess"]),
    (b'{"a": 1}\n{b: 2}\n', f"this is JSON with faults that can be repaired: {SPELLING}", ["--repair", "spelling"]),
    (b"I am sorry, I cannot do that.", "", []),
]


@pytest.mark.parametrize("command", ["check", "values", "watch"])
@pytest.mark.parametrize(("data", "hint", "options"), HINTS, ids=[repr(row[0][:20]) for row in HINTS])
def test_a_hint_names_an_option_that_helps(command: str, data: bytes, hint: str, options: list[str]) -> None:
    """The last line of standard error has the hint; with the option that it names, the command succeeds."""
    outcome = run(command, data=data)
    assert outcome.status == 1
    hints = [line for line in outcome.stderr.splitlines() if line.startswith("hint: ")]
    assert hints == ([f"hint: {hint}"] if hint else [])
    if options:
        again = run(command, *options, data=data)
        assert (again.status, again.stderr) == (0, "")


@pytest.mark.parametrize("command", ["check", "values", "watch"])
@pytest.mark.parametrize(("data", "hint", "options"), HINTS, ids=[repr(row[0][:20]) for row in HINTS])
def test_a_recording_has_the_hint_of_its_text(command: str, data: bytes, hint: str, options: list[str]) -> None:
    """The recording around a text is not looked at: it is JSON in lines, whatever was recorded."""
    recording = run("record", data=data).stdout
    hints = [line for line in run(command, data=recording).stderr.splitlines() if line.startswith("hint: ")]
    assert hints == ([f"hint: {hint}"] if hint else [])
    if options:
        assert run(command, *options, data=recording).status == 0


BINARIES: Final = {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR": "a PNG image",
    gzip.compress(b"{}"): "a gzip file; unpack it first, with gzip -dc",
    b"%PDF-1.7\n": "a PDF document",
    b"abc\0\xff\0\0def": "a binary file, and not like text",
}


@pytest.mark.parametrize("command", ["check", "patch", "profile", "chunk", "repair"])
@pytest.mark.parametrize("data", BINARIES, ids=list(BINARIES.values()))
def test_binary_files_are_recognised(command: str, data: bytes) -> None:
    """Every command that reads JSON says that the file is no text."""
    outcome = run(command, data=data)
    assert outcome.status == 1
    assert outcome.stderr.endswith(f"hint: this looks like {BINARIES[data]}\n")


def test_repair_names_its_own_options() -> None:
    """Text that was cut off needs --close, and Markdown --extract."""
    cut = run("repair", data=b'{"a": "x')
    assert cut.stderr.endswith("the text was cut off; --close closes it where it ends\n")
    markdown = b"```\n{'a': 1}\n```\n"
    assert run("repair", data=markdown).stderr.endswith(f"hint: this looks like Markdown: {EXTRACT}\n")
    assert run("repair", "--extract", data=markdown).stdout == b'{"a":1}\n'
    assert "hint" in run("repair", "--level", "spelling", data=b'{"a" 1}').stderr


def test_programs_get_no_hints() -> None:
    """`check --quiet` and `check --json` write nothing to standard error."""
    for option in ("--quiet", "--json"):
        assert run("check", option, data=b"{'a': 1}").stderr == ""


def test_no_hint_where_it_would_not_help() -> None:
    """Violations of a schema, streams of providers, other encodings and long inputs have no hint."""
    assert "hint" not in run("check", data=INPUTS["chat"].data[:-200]).stderr
    assert "hint" not in run("values", data='{"a": 1'.encode("utf-16")).stderr
    long = json.dumps(["x" * 100_000]).encode()
    assert "hint" not in run("values", data=long + b"x").stderr


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60),
        strategies.broken_documents(small=True).map(lambda text: text.encode("utf-8", "replace")),
    )
)
def test_any_input_has_a_hint_or_none(data: bytes) -> None:
    """Looking for a hint never fails, whatever the input is, and however it is read."""
    for kind in (None, *InputKind):
        source = Input(kind=kind)
        source.head.add(data)
        for extract in (None, False, True):
            assert isinstance(hint_for(source, extract=extract), str)
