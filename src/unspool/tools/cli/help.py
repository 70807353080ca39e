"""The help of the commands: click's text, with examples, lists of what there is, and colour in a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text
from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from ...llm._formats.registry import FORMATS
from ..viewer.recordings import SAMPLES
from .terminal import console

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXAMPLES", "CommandWithExamples", "GroupWithExamples", "SubgroupWithExamples"]

EXAMPLES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "unspool": (
        ("unspool watch sample:trip", "watch a recorded answer grow"),
        ("curl -N https://... | unspool watch", "watch a stream of your own"),
        ("unspool profile sample:trip", "see when each field became usable"),
        ("unspool COMMAND --help", "the options of a command, with examples"),
    ),
    "watch": (
        ("unspool watch sample:trip --speed 2", "twice as fast as recorded"),
        ("curl -N https://... | unspool watch", "a stream while it arrives"),
        ("unspool watch answer.md --extract", "the JSON inside Markdown"),
    ),
    "events": (
        ("unspool events answer.json --cut 16", "a file in fragments of 16 bytes"),
        ("unspool events sample:trip --select '$.days[*].title'", "some values only"),
    ),
    "values": (
        ("unspool values answer.json --cut 16", "the value after each fragment"),
        ("unspool values sample:weather-tools --track 'call 0'", "the arguments of a call"),
    ),
    "patch": (
        ("unspool patch sample:trip --times", "each change with its time"),
        ("unspool patch answer.json --cut 16 --no-append", "operations of RFC 6902 only"),
    ),
    "chunk": (
        ("unspool chunk sample:snapshots", "one JSON string per fragment"),
        ("unspool chunk snapshots.jsonl --raw", "the text itself"),
    ),
    "message": (
        ("unspool message sample:weather-tools", "the message after each chunk"),
        ("unspool message stream.sse --events", "what each chunk changed"),
    ),
    "check": (
        ("unspool check answer.json", "is it complete and valid?"),
        ("unspool check answer.json --schema app:Trip", "does it fit a class or a JSON Schema?"),
        ("unspool check lines.jsonl --quiet && echo good", "only the exit status"),
    ),
    "repair": (
        ("unspool repair broken.json --log", "show each repair with its line"),
        ("unspool repair cut.json --close", "also text that was cut off"),
        ("unspool repair answer.md --extract", "broken JSON inside Markdown"),
    ),
    "record": (
        ("curl -N https://... | unspool record -o answer.jsonl", "record, and pass on"),
        ("unspool replay answer.jsonl", "play the recording"),
    ),
    "replay": (
        ("unspool replay answer.jsonl --speed 2", "twice as fast as recorded"),
        ("unspool replay answer.jsonl --serve", "answer the client of the provider"),
    ),
    "gateway": (
        ("unspool gateway sample:trip", "a sample for any client"),
        ("unspool gateway https://...", "the stream of a provider, translated"),
    ),
    "profile": (
        ("unspool profile sample:trip --depth 1", "one level of fields"),
        ("unspool profile one.jsonl --compare two.jsonl", "which field came earlier?"),
        ("unspool profile answer.jsonl --html answer.html", "a page for the browser"),
    ),
    "studio": (
        ("unspool studio sample:trip", "a sample in the browser"),
        ("unspool studio -- python app.py", "the output of a program"),
    ),
    "relay": (
        ("unspool relay publish trip sample:trip --redis redis://127.0.0.1", "publish a stream"),
        ("unspool relay follow trip --redis redis://127.0.0.1", "follow it from elsewhere"),
    ),
}
"""A few commands to copy, with what they do."""

HEADING: Final = re.compile(r"^[A-Z][a-z -]*:$")
TERM: Final = re.compile(r"^  (\S.*?)(?=  |$)")
GAP: Final = 2
MIN_ROOM: Final = 30  # columns


class CommandWithExamples(TyperCommand):
    """A command whose help ends with examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. Errors about them are in words of the command: typer passes on those of Pydantic."""
        try:
            return super().parse_args(ctx, args)
        except BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def get_help(self, ctx: Any) -> str:
        """Return the help, in colour if the terminal has colours."""
        return _coloured(super().get_help(ctx) + _examples(self.name or "", _width(ctx)))


class SubgroupWithExamples(TyperGroup):
    """A command with commands of its own, whose help ends with examples."""

    def get_help(self, ctx: Any) -> str:
        """Return the help, in colour if the terminal has colours."""
        return _coloured(super().get_help(ctx) + _examples(self.name or "", _width(ctx)))


class GroupWithExamples(TyperGroup):
    """The `unspool` command: its help also lists the samples and the formats."""

    def get_help(self, ctx: Any) -> str:
        """Return the help, in colour if the terminal has colours."""
        width = _width(ctx)
        samples = [(f"sample:{name}", what) for name, what in SAMPLES.items()]
        formats = textwrap.fill(", ".join(FORMATS), width, initial_indent="  ", subsequent_indent="  ")
        lists = f"{_table('Samples', samples, width)}\n\nFormats:\n{formats}"
        return _coloured(super().get_help(ctx) + _examples("unspool", width) + lists)


def _width(ctx: Any) -> int:
    width: int = ctx.make_formatter().width
    return width


def _examples(name: str, width: int) -> str:
    return _table("Examples", EXAMPLES.get(name, ()), width)


def _table(title: str, rows: tuple[tuple[str, str], ...] | list[tuple[str, str]], width: int) -> str:
    """Return two columns under a title. Where the second one is too narrow, a long row goes on below."""
    if not rows:
        return ""
    column = max(len(term) for term, _ in rows) + GAP
    lines = ["", "", f"{title}:"]
    for term, what in rows:
        room = width - GAP - column
        if len(what) <= room or room >= MIN_ROOM:
            first, *others = textwrap.wrap(what, room)
            lines += [f"  {term:<{column}}{first}", *(" " * (GAP + column) + other for other in others)]
        else:
            wrapped = textwrap.wrap(what, max(width - 3 * GAP, MIN_ROOM))
            lines += [f"  {term}", *(" " * 3 * GAP + part for part in wrapped)]
    return "\n".join(lines)


def _coloured(text: str) -> str:
    """Return the help with bold headings and coloured names, if standard output is a terminal with colours."""
    terminal = console()
    if not terminal.is_terminal or terminal.no_color or terminal.is_dumb_terminal:
        return text
    styled = Text()
    has_terms = False
    for line in text.splitlines(keepends=True):
        part = Text(line)
        if HEADING.match(line.rstrip()):
            has_terms = line.strip() != "Formats:"
            part.stylize("bold")
        elif line.startswith("Usage:"):
            part.stylize("bold", 0, len("Usage:"))
        elif has_terms and (term := TERM.match(line)):
            part.stylize("cyan", term.start(1), term.end(1))
        styled.append_text(part)
    with terminal.capture() as captured:
        terminal.print(styled, soft_wrap=True, end="")
    return captured.get()
