"""A recorded itinerary that grows while you watch: `make demo`.

The text comes as a language model sends it, a few characters at a time. In a terminal the value so far is drawn after
each fragment, a line for each field::

    > days                      open: more may come inside it
    >   [0]
          title: "Arrival"
    +     note: "Leave the ba   new, or grown with this fragment

Elsewhere a field is printed when it is complete.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast
from unicodedata import combining, east_asian_width

from unspool import MISSING, ValueParser, iter_events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import TextIOWrapper

RECORDED = Path(__file__).with_name("itinerary.json").read_text(encoding="utf-8")
FRAGMENTS = re.findall(r"\s*\w{1,6}|\s*[^\w\s]{1,3}|\s+$", RECORDED)
PAUSES = (0.003, 0.010, 0.004, 0.006, 0.021, 0.003, 0.005)  # seconds: models write in bursts

UP, REST_OF_LINE, REST_OF_SCREEN = "\x1b[{}A", "\x1b[K", "\x1b[J"
HIDE_CURSOR, SHOW_CURSOR, PLAIN = "\x1b[?25l", "\x1b[?25h", "\x1b[0m"
COLOURS = {"+": "\x1b[1;32m", ">": "\x1b[36m", " ": ""}

Steps = tuple[str | int, ...]


class Field(NamedTuple):
    """A value somewhere in the document."""

    steps: Steps
    value: object
    is_open: bool
    is_news: bool

    @property
    def mark(self) -> str:
        return "+" if self.is_news else ">" if self.is_open else " "


def fields(value: object, before: object, open_steps: Steps | None) -> Iterator[Field]:
    """The document and all that is in it, from top to bottom.

    What is the same object as `before` has not changed, and neither has anything inside it: that is the promise.
    """
    todo: list[tuple[Steps, object, object]] = [((), value, before)]
    while todo:
        steps, value, before = todo.pop()
        inner, old = children(value), children(before)
        is_open = open_steps is not None and open_steps[: len(steps)] == steps
        yield Field(steps, value, is_open, before is MISSING or (value is not before and not inner))
        todo.extend(reversed([((*steps, step), child, old.get(step, MISSING)) for step, child in inner.items()]))


def children(value: object) -> dict[str | int, object]:
    """What is inside a value, by key or index."""
    if isinstance(value, dict):
        return cast("dict[str | int, object]", value)
    return dict(enumerate(cast("list[object]", value))) if isinstance(value, list) else {}


def spell(field: Field) -> str:
    """A field as one line."""
    step = field.steps[-1]
    line = f"{field.mark} {'  ' * (len(field.steps) - 1)}{step if isinstance(step, str) else f'[{step}]'}"
    if not children(field.value):
        text = json.dumps(field.value, ensure_ascii=False)
        line += ": " + (text[:-1] if field.is_open else text)  # without the quote or bracket that has not come yet
    return printable(line)


def printable(text: str) -> str:
    """The text without anything that a terminal would take for a command."""
    return "".join([c if c.isprintable() else ascii(c)[1:-1] for c in text])


def fit(line: str, width: int) -> str:
    """The line if there is room for it, otherwise how it begins and how it ends: the end is where it grows."""
    if sum(map(cells, line)) <= width:
        return line
    head, tail = line[: width // 4], ""
    room = width - 1 - sum(map(cells, head))
    for character in reversed(line):
        room -= cells(character)
        if room < 0:
            break
        tail = character + tail
    return f"{head}…{tail}"


def cells(character: str) -> int:
    """How much room a character takes on the screen."""
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1


def draw(shown: list[Field], height: int) -> int:
    """Draw fields over the last `height` lines. Returns how many lines there are now."""
    width = max(shutil.get_terminal_size().columns - 1, 8)
    lines = [fit(spell(field), width) + REST_OF_LINE for field in shown]
    if not os.environ.get("NO_COLOR"):
        lines = [COLOURS[field.mark] + line + PLAIN for field, line in zip(shown, lines, strict=True)]
    up = UP.format(height) if height else ""
    print(up + "\n".join([*lines, REST_OF_SCREEN]), end="", flush=True)
    return len(lines)


def watch() -> None:
    """Draw the value after each fragment; at the end, all of it."""
    parser, before, height = ValueParser(), cast("object", MISSING), 0
    print(HIDE_CURSOR, end="")
    try:
        for fragment, pause in zip(FRAGMENTS, cycle(PAUSES), strict=False):
            parser.feed(fragment)
            open_steps = None if parser.is_complete else parser.state.open_path.steps
            _, *shown = fields(parser.value, before, open_steps)
            height = draw(shown[-max(shutil.get_terminal_size().lines - 2, 1) :], height)
            before = parser.value
            time.sleep(pause)
        value = parser.close()
        _, *shown = fields(value, value, None)
        draw(shown, height)
    finally:
        print(PLAIN + SHOW_CURSOR, end="", flush=True)
    print(f"\n{len(FRAGMENTS)} fragments, {len(RECORDED):,} characters, {len(shown)} fields")


def tell() -> None:
    """Print each field when it is complete."""
    for event in iter_events(FRAGMENTS):
        if event.kind.startswith("complete_"):
            print(printable(f"{event.path} = {json.dumps(event.value, ensure_ascii=False)}"))


if __name__ == "__main__":
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")  # where there are no emoji
    try:
        if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            watch()
        else:
            tell()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
