"""`unspool events`, `values` and `patch`: JSON lines for pipes, written step by step.

A line is just the value or the patch if nothing else belongs in it. Otherwise it is an object with the value under its
name, `t` for the time, and `track` for the name of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, final

import typer

from ...._errors import UnspoolError
from ....typed._outcome import InvalidError
from ...viewer.timeline import EMPTY
from ...viewer.tracks import CONTENT, DOCUMENT, in_words
from ..arrivals import STANDARD_INPUT, Input, noted_time, timed_items
from ..hints import hint_for
from ..lines import EventLines, Lanes, PatchLines, TextValidator, ValueLines
from ..options import (
    Cut,
    Extract,
    File,
    Format,
    Kind,
    Repairing,
    Schema,
    Select,
    Times,
    level_of,
    load_pattern,
    load_schema,
)
from ..terminal import Complaints, UsageError, guarded, progress, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...._options import Options
    from ...viewer.inputs import Guess
    from ...viewer.tracks import Item
    from ..lines import Lane, Line, TextStage

    Make = Callable[[Options, TextValidator | None, bool], TextStage]

__all__ = ["events", "patch", "values"]

Track = Annotated[
    str | None,
    typer.Option("--track", metavar="NAME", help="Read only this text of a provider stream: content, 'call 0', ..."),
]
Every = Annotated[bool, typer.Option("--every", help="Print a line for each step, even if nothing changed.")]
Append = Annotated[
    bool, typer.Option("--append/--no-append", help="Use the operation append for strings, an extension of RFC 6902.")
]


def events(
    file: File = STANDARD_INPUT,
    select: Select = None,
    track: Track = None,
    extract: Extract = False,
    schema: Schema = None,
    cut: Cut = None,
    times: Times = False,
    kind: Kind = None,
    format: Format = None,
    repair: Repairing = None,
) -> None:
    """Print the events of each step as JSON lines: kind, path, value, node, offset."""
    source = Input(file, kind, format, cut, repair=level_of(repair))
    with guarded(source.name, lambda: hint_for(source, extract=extract)):
        pattern = load_pattern(select)
        steps = _Steps(source, "", track, extract, schema, times)
        steps.run(lambda options, validator, extract: EventLines(options, validator, extract=extract, select=pattern))


def values(
    file: File = STANDARD_INPUT,
    select: Select = None,
    every: Every = False,
    track: Track = None,
    extract: Extract = False,
    schema: Schema = None,
    cut: Cut = None,
    times: Times = False,
    kind: Kind = None,
    format: Format = None,
    repair: Repairing = None,
) -> None:
    """Print the value so far, one line per step that changes it; with --select, one line per selected value."""
    source = Input(file, kind, format, cut, repair=level_of(repair))
    with guarded(source.name, lambda: hint_for(source, extract=extract)):
        pattern = load_pattern(select)
        steps = _Steps(source.in_one_piece(), "value", track, extract, schema, times)
        steps.run(
            lambda options, validator, extract: ValueLines(
                options, validator, extract=extract, every=every, select=pattern
            )
        )


def patch(
    file: File = STANDARD_INPUT,
    append: Append = True,
    track: Track = None,
    extract: Extract = False,
    schema: Schema = None,
    cut: Cut = None,
    times: Times = False,
    kind: Kind = None,
    format: Format = None,
    repair: Repairing = None,
) -> None:
    """Print the changes of each step as JSON Patch (RFC 6902), one list of operations per line."""
    source = Input(file, kind, format, cut, repair=level_of(repair))
    with guarded(source.name, lambda: hint_for(source, extract=extract)):
        steps = _Steps(source.in_one_piece(), "patch", track, extract, schema, times)
        steps.run(lambda options, validator, extract: PatchLines(options, validator, extract=extract, append=append))


@final
class _Steps:
    """The loop that the three commands share. A line with nothing but `bare` is written without that name."""

    def __init__(
        self, source: Input, bare: str, track: str | None, extract: bool, schema: str | None, times: bool
    ) -> None:
        self._source = source
        self._bare = bare
        self._track = track
        self._extract = extract
        self._schema = load_schema(schema)
        self._times = times
        self._complaints = Complaints(source.name)
        self._is_message = False
        self._is_prefixed = False

    def run(self, make: Make) -> None:
        """Read the input to its end, or to an error that ends the command."""
        opening = self._source.opening()
        lanes: Lanes | None = None
        time: float | None = None
        with progress(self._source, shares_terminal=True) as took:
            for timed in timed_items(self._source, opening, took):
                assert opening.found is not None
                if lanes is None:
                    lanes = self._lanes(opening.found, make)
                time = noted_time(opening, timed.time)
                self._step(lanes, timed.item, time)
        assert opening.found is not None
        if lanes is None:
            self._end(self._lanes(opening.found, make), time)
        else:
            self._end(lanes, time)

    def _lanes(self, found: Guess, make: Make) -> Lanes:
        self._is_message = found.is_message
        self._is_prefixed = self._is_message and self._track is None
        if self._track is not None and not self._is_message:
            raise UsageError(f"{self._source.name}: --track is only for provider streams, not for {found.kind.value}")
        options = found._replace(extract=self._extract).options

        def made(lane: Lane) -> TextStage:
            validator = None
            if self._schema is not None and lane.name in (DOCUMENT, self._track or CONTENT):
                validator = TextValidator(self._schema, options, extract=lane.extract)
            return make(options, validator, lane.extract)

        return Lanes(made, extract=self._extract, only=self._track)

    def _step(self, lanes: Lanes, item: Item, time: float | None) -> None:
        for piece in item.pieces:
            self._write(piece.track, lanes.take(piece, item.message), time)
        if item.problem:
            self._complaints.add(item.problem)
        for name, fault in lanes.faults:
            # A syntax error leaves the other texts readable. A violation of the schema always ends the command.
            if isinstance(fault, InvalidError) or not self._is_prefixed:
                raise _about(name, fault)

    def _end(self, lanes: Lanes, time: float | None) -> None:
        if not lanes.has_json and not self._is_message:
            lanes.begin(DOCUMENT)  # an empty document is incomplete: closing it reports that
        for name, lines in lanes.close():
            self._write(name, lines, time)
        for name, fault in lanes.faults:
            self._complaints.add(EMPTY if self._source.head.is_blank else in_words(_about(name, fault)))
        if not lanes.has_json:
            missing = "there is no JSON in it; use unspool message to see the text"
            self._complaints.add(missing if self._track is None else f"there is no JSON named {self._track} in it")
        self._complaints.settle()

    def _write(self, track: str, lines: Iterable[Line], time: float | None) -> None:
        write_lines(self._shape(track, line, time) for line in lines)

    def _shape(self, track: str, line: Line, time: float | None) -> object:
        prefix: Line = {"t": time} if self._times else {}
        if self._is_prefixed:
            prefix["track"] = track
        return line[self._bare] if not prefix and list(line) == [self._bare] else {**prefix, **line}


class TextError(UnspoolError):
    """An error in one of several texts."""


def _about(track: str, fault: UnspoolError) -> UnspoolError:
    return fault if track == DOCUMENT else TextError(f"{track}: {in_words(fault)}")
