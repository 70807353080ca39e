"""Findings: what a command tells about places in a text, each with its line and a caret.

- `Finding` is one problem, or one repair. `show` prints it.
- `Surroundings` keeps the end of the text, for the line around a finding.
- `RepairNotes` makes findings of the repairs of a parser, as soon as they are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from rich.text import Text

from ..._errors import Position
from ..._repairs import REPAIR_SENTENCES
from ..._text.utf8 import decode
from .terminal import console, excerpt, is_ascii_only, print_words, shown

if TYPE_CHECKING:
    from rich.console import Console

    from ..._repairs import Repair
    from .lines import Line

__all__ = ["BEGIN", "Finding", "RepairNotes", "Surroundings", "TextPlace", "place_at", "show"]

MAX_PATH: Final = 200  # characters
KEPT: Final = 1000  # characters before a place: more than fit on a line
WIDTH: Final = 100  # columns, if the output is not a terminal
INDENT: Final = "  "
BEGIN: Final = Position(0, 1, 1)
BLANK: Final = " \t\r\n"


@dataclass(frozen=True)
class TextPlace:
    """A place in a text, and its line: `before` is the text before the place, `after` the rest."""

    offset: int
    line: int
    column: int
    byte: int | None
    before: str
    after: str


@dataclass(frozen=True)
class Finding:
    """One problem of the input."""

    code: str
    what: str
    path: str | None = None
    expected: str = ""
    place: TextPlace | None = None
    document: int | None = None
    track: str | None = None
    line: int | None = None
    """The line number, if there is no exact place."""
    caret: TextPlace | None = None
    """The place for the caret, if a line end or other white space is before the place."""

    def as_json(self) -> Line:
        """Return the finding for programs, without the text of the line."""
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


def show(name: str, problem: Finding, terminal: Console | None = None) -> None:
    """Print a finding: the place, the words, and the line with a caret."""
    terminal = console() if terminal is None else terminal
    width = terminal.width if terminal.is_terminal else WIDTH
    if (problem.track, problem.document, problem.place, problem.line, problem.path) == (None,) * 5:
        print_words(terminal, Text(shown(f"{name}: {problem.what}")))
        return
    where = [name]
    if problem.track is not None:
        where.append(problem.track)
    if problem.document is not None:
        where.append(f"document {problem.document + 1}")
    place = problem.caret or problem.place
    if place is not None:
        byte = "" if place.byte in (None, place.offset) else f", byte {place.byte}"
        where.append(f"line {place.line}, column {place.column} (offset {place.offset}{byte})")
    elif problem.line is not None:
        where.append(f"line {problem.line}")
    print_words(terminal, Text(shown(": ".join(where)), style="bold"))
    path = f", in {_shortened(problem.path)}" if problem.path is not None else ""
    expected = f"; expected {problem.expected}" if problem.expected else ""
    what = Text(shown(f"{problem.what}{path}{expected}"))
    for line in what.wrap(terminal, width - len(INDENT)) if terminal.is_terminal else [what]:
        terminal.print(Text(INDENT) + line, soft_wrap=True)
    if place is not None:
        _show_line(terminal, place, width)


def _shortened(path: str) -> str:
    return path if len(path) <= MAX_PATH else path[: MAX_PATH - 3] + "..."


def _show_line(terminal: Console, place: TextPlace, width: int) -> None:
    gutter = f"  {place.line} | "
    if len(gutter) > width // 2:
        gutter = " "
    text, caret = excerpt(place.before, place.after, width - len(gutter), ascii_only=is_ascii_only())
    blank = " " * (len(gutter) - 2) + gutter[-2:] if len(gutter) > 1 else gutter
    terminal.print(Text(gutter + text), soft_wrap=True)
    terminal.print(Text(blank + " " * caret).append("^", style="bold red"), soft_wrap=True)


@final
class Surroundings:
    """The text around a place that is not known in advance. The text may be long, so only its end is kept.

    Feed it the same fragments as the parser, before the parser.
    """

    __slots__ = ("_before", "_bytes", "_end", "_is_bytes", "_line", "_line_start", "_rest", "_start", "_text")

    def __init__(self) -> None:
        self._before = ""  # the end of the text before the last fragment
        self._text = ""  # the last fragment
        self._start = 0  # its offset
        self._bytes = 0  # its offset in bytes
        self._rest = b""  # the first bytes of a character that was cut
        self._is_bytes = False
        self._line = 1  # the number of the last line
        self._line_start = 0  # its offset
        self._end = BEGIN  # after the last character that is not white space

    def feed(self, fragment: str | bytes) -> None:
        """Add one more fragment."""
        self._before = (self._before + self._text[-KEPT:])[-KEPT:]
        self._start += len(self._text)
        self._bytes += _size(self._text)
        self._text = fragment if isinstance(fragment, str) else self._decoded(fragment)
        size = len(self._text.rstrip(BLANK))
        self._count_lines(self._text[:size], self._start)
        if size:
            offset = self._start + size
            self._end = Position(offset, self._line, offset - self._line_start + 1)
        self._count_lines(self._text[size:], self._start + size)

    def _count_lines(self, text: str, offset: int) -> None:
        if "\n" in text:
            self._line += text.count("\n")
            self._line_start = offset + text.rfind("\n") + 1

    def close(self) -> None:
        """End the text. A character that was cut becomes a replacement character."""
        if self._rest:
            self._rest = b""
            self.feed("\N{REPLACEMENT CHARACTER}")

    def _decoded(self, data: bytes) -> str:
        """Decode like the parser: one replacement character per run of invalid bytes."""
        self._is_bytes = True
        pieces: list[str] = []
        rest, is_broken = self._rest + data, True
        while is_broken:
            text, rest, is_broken = decode(rest)
            pieces.append(text)
            if is_broken:
                pieces.append("\N{REPLACEMENT CHARACTER}")
        self._rest = rest
        return "".join(pieces)

    @property
    def length(self) -> int:
        """The number of characters so far."""
        return self._start + len(self._text)

    def around(self, offset: int) -> tuple[str, str]:
        """Return the line around a place: the text before it, and the text from there on."""
        text = self._before + self._text
        at = max(offset - self._start + len(self._before), 0)
        begin = max(text.rfind("\n", 0, at) + 1, at - KEPT)
        end = at + 1 if text.startswith("\n", at) else text.find("\n", at)
        return text[begin:at], text[at : at + KEPT if end < 0 else min(end, at + KEPT)]

    def end_before(self, place: TextPlace) -> TextPlace | None:
        """Return the end of the text without the line ends there, if `place` is after them."""
        end = self._end
        is_behind = place.offset == self.length and end.line < place.line
        if not is_behind or end.offset < self._start - len(self._before):
            return None
        return TextPlace(*end, self.byte(end.offset), self.around(end.offset)[0], "")

    def byte(self, offset: int) -> int | None:
        """Return the offset in bytes, or None if the text did not arrive as bytes."""
        if not self._is_bytes:
            return None
        if offset < self._start:
            return self._bytes - _size(self._before[offset - self._start :])
        return self._bytes + _size(self._text[: offset - self._start])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def place_at(
    around: Surroundings, position: Position, begin: Position = BEGIN, *, is_at_end: bool = False
) -> TextPlace:
    """Return a place in the text. `begin` is the position at which the document begins."""
    offset = begin.offset + position.offset
    line = begin.line + position.line - 1
    column = position.column if position.line > 1 else begin.column + position.column - 1
    before, after = around.around(offset)
    return TextPlace(offset, line, column, around.byte(offset), before, "" if is_at_end else after)


@final
class RepairNotes:
    """Makes findings of the repairs of one text, while its surroundings still hold the place."""

    def __init__(self, around: Surroundings, begin: Position = BEGIN, document: int | None = None) -> None:
        self.findings: list[Finding] = []
        self._around = around
        self._begin = begin
        self._document = document

    def take(self, repairs: tuple[Repair, ...]) -> list[Finding]:
        """Add the repairs that are new, and return their findings."""
        new = [self._finding(repair) for repair in repairs[len(self.findings) :]]
        self.findings += new
        return new

    def _finding(self, repair: Repair) -> Finding:
        kind = "guess" if repair.is_guess else "spelling"
        place = place_at(self._around, repair.position, self._begin)
        return Finding(
            repair.code.value,
            f"{kind}: {REPAIR_SENTENCES[repair.code]}",
            str(repair.path),
            place=place,
            document=self._document,
            caret=None if repair.length else self._around.end_before(place),
        )
