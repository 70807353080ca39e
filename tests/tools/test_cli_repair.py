"""`unspool repair`, and --repair of the other commands: broken text in, strict JSON out, each repair with its line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import CHAT
from tests.support.running import Terminal, run
from tests.tools.test_cli_steps import fed
from unspool import JSONSyntaxError, Options, ValueParser
from unspool.tools.cli.commands.repair import repair
from unspool.tools.cli.options import RepairLevel

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = "{'a': 1, b: \"say \"hi\" now\", // c\n 'é': NaN"
STRICT = '{"a":1,"b":"say \\"hi\\" now","é":null}\n'


def test_broken_text_becomes_strict_json() -> None:
    """The output is canonical JSON with a line end; without --log nothing else is written."""
    outcome = run("repair", data=BROKEN.encode())
    assert (outcome.status, outcome.stdout.decode(), outcome.stderr) == (0, STRICT, "")
    whole = run("repair", data=b' {"a": [1, 2.50e1]} ')
    assert (whole.status, whole.stdout) == (0, b'{"a":[1,2.50e1]}\n')


def test_the_log_shows_each_repair_with_a_caret() -> None:
    """Each repair is a place, a sentence that says whether it is a guess, and the line with a caret."""
    outcome = run("repair", "--log", data=BROKEN.encode())
    assert outcome.status == 0
    blocks = outcome.stderr.split("standard input: ")[1:]
    assert len(blocks) == 8
    assert blocks[2] == (
        "line 1, column 18 (offset 17)\n"
        "  guess: a quote inside a string was kept as text, in $.b\n"
        '  1 | {\'a\': 1, b: "say "hi" now", // c\n'
        "    |                  ^\n"
    )
    assert blocks[6].startswith("line 2, column 7 (offset 39, byte 40)\n  guess: null was put in")
    assert "spelling: a comment was left out" in blocks[4]


@pytest.mark.parametrize("size", [1, 3, 7])
def test_the_log_does_not_depend_on_the_cuts(size: int) -> None:
    """In whatever pieces the text arrives, the output and the log are the same."""
    data = BROKEN.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    whole = fed([data], repair, log=True)
    assert fed(pieces, repair, log=True).stdout == whole.stdout == STRICT.encode()


def test_the_log_comes_at_the_end_on_one_terminal(tmp_path: Path) -> None:
    """Where both streams are one terminal, the log does not cut the JSON into pieces."""
    file = tmp_path / "broken.json"
    file.write_text("{'a': 1, b: 'x'\n")
    terminal = Terminal("repair", "--log", file, columns=80, NO_COLOR="1")
    assert terminal.close() == 0
    first, *log = re.sub(r"\x1b\[[01]?m", "", terminal.output.decode()).replace("\r\n", "\n").splitlines()
    assert first == '{"a":1,"b":"x"}'
    assert len([line for line in log if line.rstrip().endswith("^")]) == 4
    assert log[-2:] == ["  1 | {'a': 1, b: 'x'", "    |                ^"], "not on the empty last line"


def test_what_cannot_be_repaired() -> None:
    """The exit status is 1, the error has a caret, and the output ends where the text could not be read."""
    outcome = run("repair", data=b'{"a": "x')
    assert (outcome.status, outcome.stdout) == (1, b'{"a":"x"\n')
    assert 'the text ended too early, in $.a; expected the rest of the string\n  1 | {"a": "x' in outcome.stderr
    assert outcome.stderr.endswith("the text was cut off; --close closes it where it ends\n")
    prose = run("repair", data=b"I am sorry, I cannot do that.")
    assert (prose.status, prose.stdout) == (1, b"")
    assert prose.stderr.endswith("the text cannot be repaired\n")
    guessed = run("repair", "--level", "spelling", data=b'{"a": 1 "b": 2}')
    assert guessed.status == 1


def test_the_other_options() -> None:
    """--close closes text that was cut off, --lines reads documents, --extract finds JSON, --latex keeps LaTeX."""
    assert run("repair", "--close", data=b'{"a": "x').stdout == b'{"a":"x"}\n'
    lines = run("repair", "--lines", data=b"{a: 1}\n\n{b: 2,}\n")
    assert lines.stdout == b'{"a":1}\n{"b":2}\n'
    assert run("repair", "--extract", data=b'Sure:\n```json\n{"a": 1,}\n```\nBye').stdout == b'{"a":1}\n'
    assert run("repair", "--latex", data=rb'{"a": "\frac"}').stdout == b'{"a":"\\\\frac"}\n'
    assert run("repair", "--level", "all", data=b"{}").status == 2


def test_many_repairs() -> None:
    """A file may have as many repairs as it likes: the limit of the parser is for text from elsewhere."""
    text = "[" + ", ".join(f"{{'id': {number}}}" for number in range(1500)) + "]"
    outcome = run("repair", data=text.encode())
    assert (outcome.status, outcome.stderr) == (0, "")
    assert json.loads(outcome.stdout) == [{"id": number} for number in range(1500)]


def test_hints_name_the_options_of_the_command() -> None:
    """The level is --level here; lines have no hint that names --extract, which does not go with --lines."""
    level = run("repair", "--level", "spelling", data=b'{"a": 1 "b": 2}')
    assert level.stderr.endswith("hint: this is JSON with faults that can be repaired: try --level guess\n")
    assert run("repair", "--level", "guess", data=b'{"a": 1 "b": 2}').status == 0
    cut = run("repair", "--lines", data=b'{"a": [1, 2\n{"a": 3}\n')
    assert cut.stderr.endswith("the text was cut off; --close closes it where it ends\n")
    both = run("repair", "--lines", "--extract", data=b"{}")
    assert (both.status, "--lines and --extract do not fit together" in both.stderr) == (2, True)


def test_check_shows_the_log() -> None:
    """`check --repair` accepts what can be repaired, shows each repair, and counts them; --json has them as data."""
    assert run("check", data=BROKEN.encode()).status == 1
    outcome = run("check", "--repair", "guess", data=BROKEN.encode())
    assert outcome.status == 0
    assert outcome.stdout.decode().endswith("standard input: ok: json, 1 document, 42 characters, 8 repairs\n")
    found = json.loads(run("check", "--json", "--repair", "guess", data=BROKEN.encode()).stdout)
    assert found["ok"] is True
    assert [(note["code"], note["line"], note["column"]) for note in found["repairs"]][:2] == [
        ("single_quotes", 1, 2),
        ("unquoted_key", 1, 10),
    ]
    both = run("check", "--repair", "spelling", data=b"{a: 1 b: 2}")
    assert both.status == 1
    assert b"a key without quotes" in both.stdout
    assert b"unexpected character" in both.stdout


def test_check_of_lines_and_messages() -> None:
    """Repairs in NDJSON have the number of their document, and those of a message the name of their text."""
    found = json.loads(
        run("check", "--json", "--input", "ndjson", "--repair", "guess", data=b"{a: 1}\n{b: 2}\n").stdout
    )
    assert [(note["document"], note["line"]) for note in found["repairs"]] == [(0, 1), (1, 2)]
    chunks = [json.loads(line) for line in broken_call().splitlines()]
    assert len(chunks) == 2
    found = json.loads(run("check", "--json", "--repair", "guess", data=broken_call()).stdout)
    assert found["ok"] is True
    assert [(note["track"], note["code"]) for note in found["repairs"]] == [("call 0", "unquoted_key")]
    assert json.loads(run("check", "--json", data=broken_call()).stdout)["ok"] is False


def broken_call() -> bytes:
    """A provider's stream with one call whose arguments are broken."""

    def chunk(delta: dict[str, Any], reason: str | None) -> bytes:
        told = {"id": "x", "object": "chat.completion.chunk", "model": "m"}
        return json.dumps({**told, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}).encode() + b"\n"

    function = {"name": "f", "arguments": "{a: 1}"}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    return chunk({"role": "assistant", "tool_calls": [call]}, None) + chunk({}, "tool_calls")


@pytest.mark.parametrize("command", ["values", "events", "patch", "watch"])
def test_the_other_commands_read_broken_text(command: str) -> None:
    """They take --repair, and refuse the text without it."""
    assert run(command, "-", data=BROKEN.encode()).status == 1
    outcome = run(command, "-", "--repair", "guess", data=BROKEN.encode())
    assert (outcome.status, outcome.stderr) == (0, "")
    assert b"now" in outcome.stdout


def test_messages_with_repair() -> None:
    """`message --repair` completes a call with broken arguments, and says so in its diagnostics."""
    outcome = run("message", "-", "--repair", "guess", data=broken_call())
    assert outcome.status == 0
    last = json.loads(outcome.stdout.splitlines()[-1])
    assert "arguments_repaired" in json.dumps(last)
    assert run("message", "-", data=broken_call()).status == 1
    assert (
        run("message", "-", "--repair", "guess", data=b"".join(json.dumps(c).encode() + b"\n" for c in CHAT)).status
        == 0
    )


@settings(max_examples=30, deadline=None)
@given(st.one_of(strategies.documents(small=True), strategies.broken_documents(small=True)))
def test_the_output_is_what_the_parser_read(text: str) -> None:
    """For any text: strict JSON that `json` reads as the parser's value, or exit status 1."""
    text = text.encode("utf-8", "replace").decode()
    outcome = fed([text.encode()], repair, level=RepairLevel.GUESS)
    parser = ValueParser(Options(repair="guess", max_chars=None))
    try:
        parser.feed(text)
        value = parser.close()
    except JSONSyntaxError:
        assert outcome.status == 1
        return
    assert outcome.status == 0
    assert json.dumps(json.loads(outcome.stdout)) == json.dumps(value)
