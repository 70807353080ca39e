"""`unspool chunk`: snapshots in, fragments of text out."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, final

import typer

from ...._chunker.snapshots import SnapshotChunker
from ...._errors import JSONSyntaxError, UnspoolError
from ...._events import Kind as EventKind
from ...._options import Options
from ...._parser import FragmentParser
from ...._text.utf8 import decode
from ...viewer.inputs import InputKind
from ...viewer.timeline import EMPTY
from ...viewer.tracks import CLOSINGS, COMPLETIONS, in_words
from ..arrivals import STANDARD_INPUT, Input, noted_time, timed_items
from ..hints import hint_for
from ..options import File, Kind, Times
from ..terminal import (
    Complaints,
    UsageError,
    complain,
    guarded,
    progress,
    shown,
    writable,
    write_line,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...._events import Event
    from ...viewer.inputs import Guess
    from ...viewer.tracks import Item

__all__ = ["SplitError", "Splitter", "chunk"]


MOST_OF_A_PATH = 120


class OnConflict(StrEnum):
    """The reaction to a snapshot that contradicts the text written so far."""

    RAISE = "raise"
    KEEP = "keep"


class Empty(StrEnum):
    """How to treat empty values that may still be filled."""

    WRITE = "write"
    WAIT = "wait"


Raw = Annotated[bool, typer.Option("--raw", help="Write plain text instead of one JSON string per fragment.")]
Conflict = Annotated[
    OnConflict,
    typer.Option("--on-conflict", help="If a snapshot contradicts the text written so far: stop, or keep that text."),
]
Patience = Annotated[
    int,
    typer.Option("--patience", min=0, help="Number of unchanged snapshots after which a waiting value is complete."),
]
EmptyValues = Annotated[
    Empty,
    typer.Option("--empty", help="Empty values and numbers: write them, or wait until they are filled."),
]


def chunk(
    file: File = STANDARD_INPUT,
    raw: Raw = False,
    on_conflict: Conflict = OnConflict.RAISE,
    patience: Patience = 0,
    empty: EmptyValues = Empty.WRITE,
    times: Times = False,
    kind: Kind = None,
) -> None:
    """Turn snapshots of a growing JSON value into fragments of its text."""
    source = Input(file, kind)
    with guarded(source.name, lambda: hint_for(source)):
        if raw and times:
            raise UsageError("--times cannot be combined with --raw")
        complaints = Complaints(source.name)
        chunker = SnapshotChunker(
            on_conflict=on_conflict.value, patience=patience, empty=empty.value, options=Options(max_chars=None)
        )
        tells_stall = True
        time: float | None = None
        is_empty = True
        for time, snapshot in _snapshots(source):
            is_empty = False
            known = len(chunker.conflicts)
            _write(chunker.process(snapshot), raw, times, time)
            for conflict in chunker.conflicts[known:]:
                complaints.add(str(conflict))
            if tells_stall and chunker.stalled:
                tells_stall = False
                complain(f"{source.name}: {_stall_note(chunker)}")
        if is_empty:
            complaints.add(EMPTY)
        _write(chunker.flush(), raw, times, time)
        if raw:
            write_text("\n")
        complaints.settle()


def _stall_note(chunker: SnapshotChunker) -> str:
    first, *others = chunker.stalled
    values = shown(str(first.path)[:MOST_OF_A_PATH]) + (f" and {len(others)} more" if others else "")
    return (
        f"note: {values} grow together, in snapshot {first.since}: "
        "their text comes when one of them grows alone, or at the end"
    )


def _snapshots(source: Input) -> Iterator[tuple[float | None, str]]:
    opening = source.opening(snapshots=False)
    splitter = Splitter()
    time: float | None = None
    with progress(source, shares_terminal=True) as took:
        for timed in timed_items(source, opening, took):
            found = opening.found
            assert found is not None
            if found.is_message:
                raise UsageError(f"{source.name}: this is a provider stream, not snapshots; use unspool message")
            time = noted_time(opening, timed.time)
            for snapshot in splitter.feed(_text_of(found, timed.item)):
                yield time, snapshot
    for snapshot in splitter.close():
        yield time, snapshot


def _text_of(found: Guess, item: Item) -> str | bytes:
    """Return the text of an item. A server-sent event is a snapshot of its own, so it ends with a line break."""
    if found.kind is InputKind.SSE:
        return item.raw + "\n" if item.raw else ""
    return item.pieces[0].fragment if item.pieces else ""


def _write(fragment: str, raw: bool, times: bool, time: float | None) -> None:
    if raw:
        write_text(writable(fragment))
    elif fragment:
        write_line({"t": time, "fragment": fragment} if times else fragment)


class SplitError(UnspoolError):
    """A snapshot is not JSON."""

    def __init__(self, number: int, error: JSONSyntaxError) -> None:
        super().__init__(f"snapshot {number}: {in_words(error)}")


@final
class Splitter:
    """Splits text, cut anywhere, into the texts of the JSON values in it, one per line or in any other layout.

    Raises `SplitError` at invalid JSON, after it has returned the values before it.
    """

    __slots__ = ("_count", "_fault", "_parser", "_pieces", "_rest", "_start")

    def __init__(self) -> None:
        self._parser = FragmentParser(Options(multiple=True, max_chars=None))
        self._pieces: list[str] = []  # the text after the last complete value
        self._start = 0  # its offset
        self._rest = b""  # the first bytes of a character that was cut
        self._count = 0
        self._fault: JSONSyntaxError | None = None

    def feed(self, fragment: str | bytes) -> list[str]:
        """Take a fragment; return the texts of the values that it completes."""
        self._pieces.append(fragment if isinstance(fragment, str) else self._decoded(fragment))
        return self._split(self._parser.feed(fragment))

    def close(self) -> list[str]:
        """End the text; return the text of the value that ends with it."""
        return self._split(self._parser.close())

    def _decoded(self, data: bytes) -> str:
        # Invalid UTF-8 is an error of the parser: the text after it is never used.
        text, self._rest, _ = decode(self._rest + data)
        return text

    def _split(self, events: list[Event]) -> list[str]:
        if self._fault is not None:
            raise SplitError(self._count + 1, self._fault)
        values: list[str] = []
        ends: list[int] = []
        for event in events:
            if isinstance(event.value, JSONSyntaxError):
                self._fault = event.value
            elif event.path.parent is None and (event.kind in CLOSINGS or event.kind in COMPLETIONS):
                ends.append(event.offset + (event.kind is not EventKind.COMPLETE_NUMBER))
        if ends:
            text = "".join(self._pieces)
            at = 0
            for end in ends:
                values.append(text[at : end - self._start].strip())
                at = end - self._start
            self._pieces, self._start = [text[at:]], self._start + at
            self._count += len(values)
        if self._fault is not None and not values:
            raise SplitError(self._count + 1, self._fault)
        return values
