"""`unspool repair`: broken JSON in, strict JSON out, with a log of each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...._grammar.writer import Writer
from ...._options import Options
from ...._parser import FragmentParser
from ...viewer.inputs import InputKind
from ..arrivals import STANDARD_INPUT, Input, timed_items
from ..findings import Finding, RepairNotes, Surroundings, place_at, show
from ..options import Extract, File, RepairLevel, level_of
from ..terminal import BROKEN, complain, console, guarded, progress, writable, write_text

if TYPE_CHECKING:
    from ...._errors import JSONSyntaxError
    from ...._events import Event

__all__ = ["repair"]


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
    source = Input(file, InputKind.NDJSON if lines else InputKind.JSON)
    with guarded(source.name):
        options = Options(
            repair=level_of(level),
            truncated="close" if close else "error",
            latex=latex,
            multiple="lines" if lines else False,
            max_chars=None,
        )
        parser, writer = FragmentParser(options, extract=extract), Writer()
        around = Surroundings()
        notes = RepairNotes(around)
        with progress(source, shares_terminal=True) as took:
            for timed in timed_items(source, source.opening(), took):
                for piece in timed.item.pieces:
                    around.feed(piece.fragment)
                    _write(writer, parser.feed(piece.fragment))
                    _tell(source.name, notes.take(parser.repairs), log)
                if parser.is_stopped:
                    break
        around.close()
        _write(writer, parser.close())
        _tell(source.name, notes.take(parser.repairs), log)
        write_text("\n")
        if parser.error is not None:
            _refuse(source.name, parser.error, around)
            raise typer.Exit(BROKEN)


def _write(writer: Writer, events: list[Event]) -> None:
    write_text(writable(writer.write(events)))


def _tell(name: str, findings: list[Finding], is_wanted: bool) -> None:
    for finding in findings if is_wanted else ():
        show(name, finding, console(stderr=True))


def _refuse(name: str, error: JSONSyntaxError, around: Surroundings) -> None:
    what = str(error).partition(":")[0]
    place = place_at(around, error.position)
    show(name, Finding(error.code.value, what, str(error.path), error.expected, place), console(stderr=True))
    complain(f"{name}: the text cannot be repaired")
