"""What `check` finds: one problem after another, with its place; and how they are told to people and to machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from ...viewer.tracks import DOCUMENT
from ..terminal import console, is_ascii_only, print_words, shown
from .places import excerpt

if TYPE_CHECKING:
    from ...viewer.timeline import Timeline
    from .stages import Line

__all__ = ["Place", "Problem", "problems_of", "show"]

WIDTH: Final = 100  # where no terminal has one
LONGEST_PATH: Final = 200
INDENT: Final = "  "


@dataclass(frozen=True)
class Place:
    """Where it is in the text, and the line there: what stands before the place, and what begins there."""

    offset: int
    line: int
    column: int
    byte: int | None
    before: str
    after: str


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    code: str
    what: str
    path: str | None = None
    expected: str = ""
    place: Place | None = None
    document: int | None = None
    track: str | None = None
    line: int | None = None
    """Where nothing but the line is known."""

    def as_json(self) -> Line:
        """For machines. The line of text is not part of it: whoever asks has the text."""
        place = self.place
        return {
            "code": self.code,
            "message": self.what,
            "path": self.path,
            "expected": self.expected or None,
            "offset": None if place is None else place.offset,
            "line": self.line if place is None else place.line,
            "column": None if place is None else place.column,
            "byte": None if place is None else place.byte,
            "document": self.document,
            "track": self.track,
        }


def problems_of(timeline: Timeline) -> list[str]:
    """What is wrong with a timeline, in words. Where there is one text only, nobody needs its name."""
    return [problem.removeprefix(f"{DOCUMENT}: ") for problem in timeline.problems()]


def show(name: str, problem: Problem) -> None:
    """Tell people, on standard output."""
    terminal = console()
    width = terminal.width if terminal.is_terminal else WIDTH
    where = [name]
    if problem.track is not None:
        where.append(problem.track)
    if problem.document is not None:
        where.append(f"document {problem.document + 1}")
    place = problem.place
    if place is not None:
        byte = "" if place.byte is None or place.byte == place.offset else f", byte {place.byte}"
        where.append(f"line {place.line}, column {place.column} (offset {place.offset}{byte})")
    elif problem.line is not None:
        where.append(f"line {problem.line}")
    print_words(terminal, Text(shown(": ".join(where)), style="bold"))
    path = "" if problem.path is None else f", in {_shortened(problem.path)}"
    expected = f"; expected {problem.expected}" if problem.expected else ""
    what = Text(shown(f"{problem.what}{path}{expected}"))
    for line in what.wrap(terminal, width - len(INDENT)) if terminal.is_terminal else [what]:
        terminal.print(Text(INDENT) + line, soft_wrap=True)
    if place is not None:
        _show_line(place, width)


def _shortened(path: str) -> str:
    return path if len(path) <= LONGEST_PATH else path[: LONGEST_PATH - 3] + "..."


def _show_line(place: Place, width: int) -> None:
    terminal = console()
    gutter = f"  {place.line} | "
    if len(gutter) > width // 2:
        gutter = " "
    text, caret = excerpt(place.before, place.after, width - len(gutter), ascii_only=is_ascii_only())
    blank = " " * (len(gutter) - 2) + gutter[-2:] if len(gutter) > 1 else gutter
    terminal.print(Text(gutter + text), soft_wrap=True)
    terminal.print(Text(blank + " " * caret).append("^", style="bold red"), soft_wrap=True)
