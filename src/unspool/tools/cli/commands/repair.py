"""`unspool repair`: broken JSON in, strict JSON out, with a log of each change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, final

import typer

from ...._errors import Code
from ...._grammar.writer import Writer
from ...._options import Options
from ...._parser import FragmentParser
from ...viewer.inputs import InputKind
from ..arrivals import STANDARD_INPUT, Input, timed_items
from ..findings import Finding, RepairNotes, Surroundings, place_at, show
from ..hints import hint_for
from ..options import Extract, File, RepairLevel, level_of
from ..terminal import BROKEN, EmptyError, UsageError, complain, console, guarded, progress, writable, write_text

if TYPE_CHECKING:
    from ...._errors import JSONSyntaxError

__all__ = ["repair"]

CUT_OFF: Final = "the text was cut off; --close closes it where it ends"
REFUSED: Final = "the text cannot be repaired"


def repair(
    file: File = STANDARD_INPUT,
    level: Annotated[
        RepairLevel, typer.Option("--level", help="'spelling': only what can mean one thing; 'guess': also guesses.")
    ] = RepairLevel.GUESS,
    log: Annotated[bool, typer.Option("--log", help="Print each repair to standard error, with its line.")] = False,
    close: Annotated[bool, typer.Option("--close", help="Close text that was cut off inside a value.")] = False,
    lines: Annotated[bool, typer.Option("--lines", help="Read one document per line (NDJSON).")] = False,
    extract: Extract = False,
    latex: Annotated[
        bool, typer.Option("--latex", help=r"Read \f and \b before a letter as a backslash, as in \frac.")
    ] = False,
) -> None:
    """Read broken JSON and print it as strict JSON, while it arrives.

    The exit status is 0 if the text was read, repaired or not, and 1 if it cannot be read: then the output ends there.
    """
    source = Input(file, InputKind.NDJSON if lines else InputKind.JSON, repair=level_of(level))
    with guarded(source.name, lambda: hint_for(source, extract=None if lines else extract, option="--level")):
        if lines and extract:
            raise UsageError("--lines and --extract do not fit together: --extract looks for one value in other text")
        options = Options(
            repair=level_of(level),
            truncated="close" if close else "error",
            latex=latex,
            multiple="lines" if lines else False,
            max_chars=None,
            max_repairs=None,
        )
        parser, writer = FragmentParser(options, extract=extract), Writer()
        around = Surroundings()
        output = Output(source.name)
        notes = RepairNotes(around)
        with progress(source, shares_terminal=True) as took:
            for timed in timed_items(source, source.opening(), took):
                for piece in timed.item.pieces:
                    around.feed(piece.fragment)
                    output.write(writer.write(parser.feed(piece.fragment)))
                    if log:
                        output.show(notes.take(parser.repairs))
                if parser.is_stopped:
                    break
        around.close()
        if source.head.is_blank:
            raise EmptyError
        output.write(writer.write(parser.close()))
        if log:
            output.show(notes.take(parser.repairs))
        if parser.error is not None:
            output.show([_refusal(parser.error, around)])
        output.close()
        if parser.error is not None:
            is_cut = parser.error.code is Code.INCOMPLETE and not close
            complain(f"{source.name}: {CUT_OFF if is_cut else REFUSED}")
            raise typer.Exit(BROKEN)


def _refusal(error: JSONSyntaxError, around: Surroundings) -> Finding:
    what = str(error).partition(":")[0]
    place = place_at(around, error.position)
    caret = around.end_before(place) if error.code is Code.INCOMPLETE else None
    return Finding(error.code.value, what, str(error.path), error.expected, place, caret=caret)


@final
class Output:
    """The strict JSON on standard output, and the log on standard error. On one terminal the log comes at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waits = sys.stdout.isatty() and sys.stderr.isatty()
        self._is_open = False  # a line on standard output has no end yet
        self._later: list[Finding] = []

    def write(self, text: str) -> None:
        """Write some JSON."""
        if text:
            write_text(writable(text))
            self._is_open = not text.endswith("\n")

    def show(self, findings: list[Finding]) -> None:
        """Show repairs or errors, each with its line."""
        if self._waits:
            self._later += findings
            return
        for finding in findings:
            show(self._name, finding, console(stderr=True))

    def close(self) -> None:
        """End the line on standard output, and show what waited for that."""
        self._waits = False
        if self._is_open:
            write_text("\n")
        self.show(self._later)
