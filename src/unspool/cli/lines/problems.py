"""What `check` finds: one problem after another, with its place; and how they are told to people and to machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from ..terminal import console, is_ascii_only, shown
from .places import excerpt

if TYPE_CHECKING:
    from .stages import Line

__all__ = ["Place", "Problem", "show"]

WIDTH: Final = 100  # where no terminal has one
LONGEST_PATH: Final = 200


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

    def as_json(self) -> Line:
        """For machines. The line of text is not part of it: whoever asks has the text."""
        place = self.place
        return {
            "code": self.code,
            "message": self.what,
            "path": self.path,
            "expected": self.expected or None,
            "offset": None if place is None else place.offset,
            "line": None if place is None else place.line,
            "column": None if place is None else place.column,
            "byte": None if place is None else place.byte,
            "document": self.document,
            "track": self.track,
        }


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
    terminal.print(Text(shown(": ".join(where)), style="bold"), soft_wrap=True)
    path = "" if problem.path is None else f", in {problem.path[:LONGEST_PATH]}"
    expected = f"; expected {problem.expected}" if problem.expected else ""
    terminal.print(Text(shown(f"  {problem.what}{path}{expected}")), soft_wrap=True)
    if place is not None:
        _show_line(place, width)


def _show_line(place: Place, width: int) -> None:
    terminal = console()
    gutter = f"  {place.line} | "
    if len(gutter) > width // 2:
        gutter = " "
    text, caret = excerpt(place.before, place.after, width - len(gutter), ascii_only=is_ascii_only())
    blank = " " * (len(gutter) - 2) + gutter[-2:] if len(gutter) > 1 else gutter
    terminal.print(Text(gutter + text), soft_wrap=True)
    terminal.print(Text(blank + " " * caret).append("^", style="bold red"), soft_wrap=True)
