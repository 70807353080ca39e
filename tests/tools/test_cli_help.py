"""The help of the commands: examples that run, all samples and formats, colour in a terminal alone."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.running import COMMAND, Terminal, run
from unspool.llm._formats.registry import FORMATS
from unspool.tools.cli.help import EXAMPLES
from unspool.tools.viewer.recordings import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

NAMES: Final = [name for name in EXAMPLES if name != "unspool"]
INPUTS: Final[dict[str, str]] = {
    "answer.json": '{"title": "Trip to Fuji"}',
    "answer.md": 'Sure:\n```json\n{"a": "x"}\n```\n',
    "broken.json": "{'a': 1}",
    "cut.json": '{"a": "x',
    "lines.jsonl": '{"a": 1}\n{"a": 2}\n',
    "snapshots.jsonl": '{"a": "x"}\n{"a": "xy"}\n',
    "one.jsonl": "",
    "two.jsonl": "",
    "answer.jsonl": "",
    "stream.sse": "",
    "app.py": "class Trip: ...\n",
}


def test_every_command_has_examples() -> None:
    """The table of examples has each command, and nothing else."""
    commands = list(COMMAND.commands)  # type: ignore[attr-defined]
    assert commands == NAMES
    for name in NAMES:
        shown = run(name, "--help", COLUMNS="80").stdout.decode()
        assert "\nExamples:\n" in shown
        for example, _ in EXAMPLES[name]:
            assert f"  {example}" in shown


EXAMPLES_THAT_RUN = [
    example
    for name in NAMES
    for example, _ in EXAMPLES[name]
    if "https:" not in example and "--serve" not in example and name not in ("studio", "gateway", "relay")
]


@pytest.mark.parametrize("example", EXAMPLES_THAT_RUN)
def test_the_examples_run(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example that needs neither a network, a browser nor a Redis ends well."""
    monkeypatch.chdir(tmp_path)
    recording = run("record", data=b'{"a": [1, 2]}').stdout.decode()
    for name, text in INPUTS.items():
        (tmp_path / name).write_text(text or recording, encoding="utf-8")
    if "message" in example:
        (tmp_path / "stream.sse").write_bytes(run("replay", "--speed", "0", "sample:weather-tools").stdout)
    if "app:Trip" in example:
        (tmp_path / "app.py").write_text("from pydantic import BaseModel\nclass Trip(BaseModel):\n    title: str\n")
    words = shlex.split(example.partition("&&")[0])
    speed = ["--speed", "0"] if words[1] in ("watch", "replay") and "--speed" not in words else []
    outcome = run(*words[1:], *speed)
    assert outcome.status == 0
    assert "--log" in words or outcome.stderr == ""


def test_the_help_lists_samples_and_formats() -> None:
    """`unspool --help` has each sample with its description; --format and the file name all of them."""
    text = " ".join(run("--help", COLUMNS="80").stdout.decode().split())
    for name, what in SAMPLES.items():
        assert f"sample:{name} {what}" in text
    for name in FORMATS:
        assert name in text
    option = re.sub(r"\s+", "", run("check", "--help", COLUMNS="80").stdout.decode())
    assert ",".join(FORMATS) in option
    assert ",".join(SAMPLES) in option


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    """A format or a sample that does not exist is an error that lists those that do."""
    outcome = run("check", "--format", "nope")
    assert outcome.status == 2
    assert f"there is no format nope; there are {', '.join(FORMATS)}" in " ".join(outcome.stderr.split())
    outcome = run("check", "sample:nope")
    assert all(name in outcome.stderr for name in SAMPLES)


@pytest.mark.parametrize("name", ["", *NAMES])
def test_no_line_is_too_wide(name: str) -> None:
    """In 80 columns no line of the help is wider."""
    shown = run(*filter(None, [name]), "--help", COLUMNS="80").stdout.decode()
    assert "\x1b" not in shown, "no colour in a pipe"
    assert max(map(len, shown.splitlines())) <= 80


def test_colour_in_a_terminal() -> None:
    """Headings are bold and names have a colour; with NO_COLOR the help is plain."""
    terminal = Terminal("check", "--help")
    assert terminal.close() == 0
    shown = terminal.output.decode()
    assert "\x1b[1mOptions:\x1b[0m" in shown
    assert "\x1b[36m--schema <str>\x1b[0m" in shown
    plain = Terminal("check", "--help", NO_COLOR="1")
    assert plain.close() == 0
    assert b"\x1b" not in plain.output
