"""`events`, `values`, `patch`: the commands for pipes. JSON lines, a step at a time, at once.

A line is the thing itself, a value or a patch, wherever that is all there is to say. Otherwise it is an object with the
thing under its name, and with `t` for the time and `track` for the name of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, final

import typer

from ...._errors import UnspoolError
from ....select import compile as compile_pattern
from ....typed._outcome import InvalidError
from ...viewer.tracks import CONTENT, DOCUMENT
from ..lines.judging import Judge
from ..lines.lanes import Lanes
from ..lines.stages import EventLines, PatchLines, ValueLines
from ..options import Cut, Extract, File, Format, Kind, Select, Times
from ..progress import progress
from ..reading import STANDARD_INPUT, Input, noted_time, timed_items
from ..schemas import Schema, load_schema
from ..terminal import NOTHING, Complaints, UsageError, guarded, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...._options import Options
    from ...viewer.inputs import Guess
    from ...viewer.tracks import Item
    from ..lines.lanes import Lane
    from ..lines.stages import Line, Stage

    Make = Callable[[Options, Judge | None, bool], Stage]

__all__ = ["events", "patch", "values"]

Track = Annotated[
    str | None,
    typer.Option("--track", metavar="NAME", help="Of a provider's stream only this text: content, 'call 0', ..."),
]
Every = Annotated[bool, typer.Option("--every", help="A line for each step, whether it changed anything or not.")]
Append = Annotated[
    bool, typer.Option("--append/--no-append", help="Strings grow by the operation append, which RFC 6902 lacks.")
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
) -> None:
    """What became known with each step, as JSON lines: kind, path, value, node, offset."""
    with guarded(Input(file).name):
        pattern = None if select is None else compile_pattern(select)
        texts = Texts(Input(file, kind, format, cut), "", track=track, extract=extract, schema=schema, times=times)
        texts.run(lambda options, judge, extract: EventLines(options, judge, extract=extract, select=pattern))


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
) -> None:
    """The value so far, a line for each step that changed something visible; with --select, a line for each value."""
    with guarded(Input(file).name):
        pattern = None if select is None else compile_pattern(select)
        texts = Texts(
            Input(file, kind, format, cut).in_one_piece(),
            "value",
            track=track,
            extract=extract,
            schema=schema,
            times=times,
        )
        texts.run(
            lambda options, judge, extract: ValueLines(options, judge, extract=extract, every=every, select=pattern)
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
) -> None:
    """What each step changed, as JSON Patch (RFC 6902): one list of operations a line."""
    with guarded(Input(file).name):
        texts = Texts(
            Input(file, kind, format, cut).in_one_piece(),
            "patch",
            track=track,
            extract=extract,
            schema=schema,
            times=times,
        )
        texts.run(lambda options, judge, extract: PatchLines(options, judge, extract=extract, append=append))


@final
class Texts:
    """The loop that the three commands share."""

    def __init__(
        self, source: Input, bare: str, *, track: str | None, extract: bool, schema: str | None, times: bool
    ) -> None:
        self._source = source
        self._bare = bare  # a line with nothing but this is written without its name
        self._track = track
        self._extract = extract
        self._schema = None if schema is None else load_schema(schema)
        self._times = times
        self._complaints = Complaints(source.name)
        self._is_message = False
        self._prefixed = False

    def run(self, make: Make) -> None:
        """Read the input to its end, or to what is wrong with it."""
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
            self._end(self._lanes(opening.found, make), time, is_empty=True)
        else:
            self._end(lanes, time)

    def _lanes(self, found: Guess, make: Make) -> Lanes:
        self._is_message = found.is_message
        self._prefixed = self._is_message and self._track is None
        if self._track is not None and not self._is_message:
            what = f"--track is for what a provider streams, and this is {found.kind.value}"
            raise UsageError(f"{self._source.name}: {what}")
        options = found.options

        def made(lane: Lane) -> Stage:
            judge = None
            if self._schema is not None and lane.name in (DOCUMENT, self._track or CONTENT):
                judge = Judge(self._schema, options, extract=lane.extract)
            return make(options, judge, lane.extract)

        return Lanes(made, extract=self._extract, only=self._track)

    def _step(self, lanes: Lanes, item: Item, time: float | None) -> None:
        for piece in item.pieces:
            self._write(piece.track, lanes.take(piece, item.message), time)
        if item.problem:
            self._complaints.add(item.problem)
        for name, fault in lanes.faults:
            # An error in one text leaves the others whole; but who gives a schema wants to know at once.
            if isinstance(fault, InvalidError) or not self._prefixed:
                raise _about(name, fault)

    def _end(self, lanes: Lanes, time: float | None, *, is_empty: bool = False) -> None:
        if not lanes.has_json and not self._is_message:
            lanes.begin(DOCUMENT)  # and it ends here: that is what is wrong with it
        for name, lines in lanes.close():
            self._write(name, lines, time)
        for name, fault in lanes.faults:
            self._complaints.add(NOTHING if is_empty else str(_about(name, fault)))
        if not lanes.has_json:
            missing = "there is no JSON in it; the text is shown by: unspool message"
            self._complaints.add(missing if self._track is None else f"there is no JSON named {self._track} in it")
        self._complaints.settle()

    def _write(self, track: str, lines: list[Line], time: float | None) -> None:
        write_lines([self._shape(track, line, time) for line in lines])

    def _shape(self, track: str, line: Line, time: float | None) -> object:
        prefix: Line = {"t": time} if self._times else {}
        if self._prefixed:
            prefix["track"] = track
        return line[self._bare] if not prefix and list(line) == [self._bare] else {**prefix, **line}


class TextError(UnspoolError):
    """What is wrong with one of several texts."""


def _about(track: str, fault: UnspoolError) -> UnspoolError:
    return fault if track == DOCUMENT else TextError(f"{track}: {fault}")
