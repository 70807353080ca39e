"""`unspool check`: is the input complete and valid? If not: where is the problem, and what was expected?

- `Inspection` reads an input of any kind and collects its `Finding`s.
- An `InputInspector` knows one kind of input: `OneText`, `ManyTexts`, `OneMessage`. An `Inspector` reads one text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer
from rich.text import Text

from ...._chunker.snapshots import SnapshotChunker
from ...._errors import Code, JSONSyntaxError, Position, SnapshotError, UnspoolError
from ...._options import Options
from ...._parser import FragmentParser
from ....llm._diagnostics import Fault, MessageError
from ....llm._message import start
from ....typed._outcome import InvalidError
from ...viewer.inputs import Guess, InputKind
from ...viewer.timeline import EMPTY
from ...viewer.tracks import CONTENT, call_track
from ..arrivals import STANDARD_INPUT, Input, timed_items
from ..findings import BEGIN, Finding, RepairNotes, Surroundings, place_at, show
from ..hints import hint_for
from ..lines import Lane, Lanes, TextStage, TextValidator
from ..options import Extract, File, Format, Kind, Repairing, Schema, Tools, config_for, level_of, load_schema
from ..terminal import (
    BROKEN,
    UsageError,
    console,
    counted,
    guarded,
    print_words,
    progress,
    shown,
    write_line,
)

if TYPE_CHECKING:
    from ....llm._config import Config
    from ....typed._iterate import Resolver
    from ...viewer.tracks import Item
    from ..findings import TextPlace
    from ..lines import Line

__all__ = ["Inspection", "OneText", "check"]

MAX_SHOWN: Final = 20  # findings
READING: Final = Options(max_chars=None)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; the exit status is the answer.")]
AsJSON = Annotated[bool, typer.Option("--json", help="Print the report as one line of JSON.")]


def check(
    file: File = STANDARD_INPUT,
    schema: Schema = None,
    tool: Tools = None,
    extract: Extract = False,
    as_json: AsJSON = False,
    quiet: Quiet = False,
    kind: Kind = None,
    format: Format = None,
    repair: Repairing = None,
) -> None:
    """Check whether the input is complete and valid (exit status 0), or report each problem and its place (1)."""
    source = Input(file, kind, format, repair=level_of(repair))
    is_talking = not (as_json or quiet)
    with guarded(source.name, (lambda: hint_for(source, extract=extract)) if is_talking else None):
        inspection = Inspection(source, schema, tool, extract)
        inspection.run()
        problems = inspection.problems
        if as_json:
            lines = [problem.as_json() for problem in problems]
            report: Line = {"ok": not problems, "file": str(file), **inspection.summary, "problems": lines}
            if repair is not None:
                report["repairs"] = [note.as_json() for note in inspection.repairs]
            write_line(report)
        elif is_talking:
            _report(source.name, inspection)
        if problems:
            raise typer.Exit(BROKEN)


# The report.


def _report(name: str, inspection: Inspection) -> None:
    problems = inspection.problems
    for findings in (inspection.repairs, problems):
        for finding in findings[:MAX_SHOWN]:
            show(name, finding)
        if len(findings) > MAX_SHOWN:
            print_words(console(), Text(f"and {len(findings) - MAX_SHOWN} more"))
    if not problems:
        summary = inspection.summary
        counts = [counted(count, what.removesuffix("s")) for what, count in summary.items() if isinstance(count, int)]
        if inspection.repairs:
            counts.append(counted(len(inspection.repairs), "repair"))
        words = ", ".join([str(summary["format"] or summary["input"]), *counts])
        print_words(console(), Text(shown(f"{name}: ok: {words}")))


# Reading an input.


@final
class Inspection:
    """Reads an input of any kind, and collects its problems."""

    def __init__(self, source: Input, schema: str | None, tools: list[str] | None, extract: bool) -> None:
        self.problems: list[Finding] = []
        self.repairs: list[Finding] = []
        self._options = READING.replace(repair=source.repair)
        self._source = source
        self._extract = extract
        self._resolver = load_schema(schema)
        self._config = config_for(self._resolver, tools, extract, source.repair)
        self._has_tools = bool(tools)
        self._found: Guess | None = None
        self._inspector: InputInspector | None = None

    @property
    def summary(self) -> Line:
        """The kind of the input, and how much was read."""
        assert self._inspector is not None
        found = self._found or Guess(InputKind.RECORDING)  # a recording without any readable line
        kind = InputKind.SNAPSHOTS if self._source.kind is InputKind.SNAPSHOTS else found.kind
        return {"input": kind.value, "format": found.format, **self._inspector.counts}

    def run(self) -> None:
        """Read the input to its end, or to a problem that makes reading on pointless."""
        opening = self._source.opening(self._config, snapshots=False)
        try:
            with progress(self._source) as took:
                for timed in timed_items(self._source, opening, took):
                    inspector = self._begun(opening.found)
                    inspector.take(timed.item)
                    if inspector.is_stopped:
                        break
        except UsageError:
            raise
        except UnspoolError as error:  # in the wrapping: events, or a recording
            self._begun(opening.found)
            self.problems.append(Finding("unreadable", str(error)))
        else:
            self._begun(opening.found).close()
        if self._source.head.is_blank:
            self.problems = [Finding(Code.INCOMPLETE.value, EMPTY, expected="a value")]
        self.repairs = self._begun(opening.found).repairs

    def _begun(self, found: Guess | None) -> InputInspector:
        if self._inspector is not None:
            return self._inspector
        wanted = self._source.kind
        self._found = found
        if found is not None and found.is_message:
            self._inspector = OneMessage(self.problems, self._config, self._extract)
        elif self._has_tools:
            raise UsageError("--tool is only for provider streams")
        elif found is not None and found.kind is InputKind.NDJSON and not self._extract:
            self._inspector = ManyTexts(
                self.problems, self._resolver, is_chain=wanted is InputKind.SNAPSHOTS, options=self._options
            )
        else:
            is_several = found is not None and found.kind is InputKind.NDJSON
            options = self._options.replace(multiple=is_several)
            self._inspector = OneText(self.problems, self._resolver, self._extract, options)
        return self._inspector


class InputInspector(ABC):
    """Takes the items of an input, and adds problems to a list."""

    is_stopped = False
    """Whether reading on is pointless."""

    def __init__(self) -> None:
        self.repairs: list[Finding] = []

    @property
    @abstractmethod
    def counts(self) -> Line:
        """How much was read."""

    @abstractmethod
    def take(self, item: Item) -> None:
        """Inspect one more item."""

    @abstractmethod
    def close(self) -> None:
        """Inspect the end of the input."""


@final
class OneText(InputInspector):
    """An input that is one text: plain JSON, or JSON in server-sent events."""

    def __init__(
        self,
        problems: list[Finding],
        resolver: Resolver[Any] | None,
        extract: bool,
        options: Options = READING,
    ) -> None:
        super().__init__()
        self._problems = problems
        self._inspector = Inspector(resolver, extract=extract, options=options)

    @property
    def counts(self) -> Line:
        return {"documents": 1, "characters": self._inspector.around.length}

    def take(self, item: Item) -> None:
        for piece in item.pieces:
            self._inspector.feed(piece.fragment)
        self.is_stopped = self._inspector.problem is not None

    def close(self) -> None:
        self._inspector.close()
        self.repairs += self._inspector.repairs
        if self._inspector.problem is not None:
            self._problems.append(self._inspector.problem)


@final
class ManyTexts(InputInspector):
    """An input with one document per line. Each is read, whatever is wrong with the others.

    With `is_chain` the documents are snapshots, and each must extend the previous one.
    """

    def __init__(
        self,
        problems: list[Finding],
        resolver: Resolver[Any] | None,
        *,
        is_chain: bool,
        options: Options = READING,
    ) -> None:
        super().__init__()
        self._options = options
        self._problems = problems
        self._resolver = resolver
        self._chunker = SnapshotChunker(on_conflict="keep") if is_chain else None
        self._around = Surroundings()
        self._count = 0
        self._line_number = 1
        self._line_start = 0  # its offset
        self._inspector: Inspector | None = None
        self._line: list[bytes] = []

    @property
    def counts(self) -> Line:
        return {"documents": self._count, "characters": self._around.length}

    def take(self, item: Item) -> None:
        for piece in item.pieces:
            data = piece.fragment if isinstance(piece.fragment, bytes) else piece.fragment.encode()
            for part in _lines(data):
                self._read(part)

    def close(self) -> None:
        self._around.close()
        self._end_line()

    def _read(self, part: bytes) -> None:
        offset = self._around.length
        self._around.feed(part)
        text = part.removesuffix(b"\n")
        if self._inspector is None and text.strip():
            begin = Position(offset, self._line_number, offset - self._line_start + 1)
            self._inspector = Inspector(
                self._resolver, around=self._around, begin=begin, document=self._count, options=self._options
            )
            self._count += 1
        if self._inspector is not None:
            self._inspector.feed(text)
            if self._chunker is not None:
                self._line.append(text)
        if part.endswith(b"\n"):
            self._end_line()
            self._line_number += 1
            self._line_start = self._around.length

    def _end_line(self) -> None:
        inspector, self._inspector = self._inspector, None
        line, self._line = b"".join(self._line), []
        if inspector is None:
            return
        inspector.close()
        self.repairs += inspector.repairs
        if inspector.problem is not None:
            self._problems.append(inspector.problem)
        elif self._chunker is not None:
            self._follow(self._chunker, line)

    def _follow(self, chunker: SnapshotChunker, line: bytes) -> None:
        known = len(chunker.conflicts)
        try:
            chunker.process(line)
        except SnapshotError as error:
            self._add_conflict(error)
        for conflict in chunker.conflicts[known:]:
            self._add_conflict(conflict)

    def _add_conflict(self, error: SnapshotError) -> None:
        self._problems.append(Finding(error.reason.value, _sentence(error), str(error.path), document=self._count - 1))


def _lines(data: bytes) -> list[bytes]:
    """Split after each LF. A CR before it is white space."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


@final
class OneMessage(InputInspector):
    """A provider stream: the message as a whole, and the text of each call."""

    def __init__(self, problems: list[Finding], config: Config, extract: bool) -> None:
        super().__init__()
        self._problems = problems
        self._state = start(config)
        self._repair = config.options.repair
        self._lanes = Lanes(self._made, extract=extract)
        self._steps = 0

    @property
    def counts(self) -> Line:
        return {"chunks": self._steps, "calls": len(self._state.tool_calls)}

    def take(self, item: Item) -> None:
        self._steps += bool(item.raw)
        self._state = item.message or self._state
        for piece in item.pieces:
            self._lanes.take(piece, item.message)
        if item.problem:
            what = f"{item.problem.partition(':')[0]}: chunk {self._steps}"
            self._problems.append(Finding("chunk", what, line=item.line))

    def close(self) -> None:
        self._lanes.close()
        state = self._state
        for name, lane in self._lanes.lanes.items():
            if isinstance(lane.stage, Inspector):
                self.repairs += [replace(note, track=name) for note in lane.stage.repairs]
        reported: set[str] = set()
        for error in state.errors:
            track = CONTENT if error.call is None else call_track(error.call)
            reported.add(track)
            self._problems.append(self._from_error(error, track))
        cut_off = Finding("truncated", f"the message was cut off: {state.finish_reason}")
        is_cut_off = not state.errors and not state.is_complete
        content = self._in_text(CONTENT)
        if content is not None and CONTENT not in reported:
            why = cut_off if is_cut_off else content
            self._problems.append(replace(content, code=why.code, what=why.what, track=CONTENT))
        elif is_cut_off:
            self._problems.append(cut_off)

    def _made(self, lane: Lane) -> TextStage:
        return Inspector(extract=lane.extract, options=READING.replace(repair=self._repair))

    def _in_text(self, track: str) -> Finding | None:
        lane = self._lanes.lanes.get(track)
        return lane.stage.problem if lane is not None and isinstance(lane.stage, Inspector) else None

    def _from_error(self, error: MessageError, track: str) -> Finding:
        what = str(MessageError(error.fault, code=error.code, detail=error.detail))
        if error.fault is Fault.TRUNCATED and self._state.finish_reason is not None:
            what = f"{what}: {self._state.finish_reason}"
        label = self._label(error.call) if error.call is not None else CONTENT if error.reason is not None else None
        reason, text = error.reason, self._in_text(track)
        if isinstance(reason, InvalidError):
            first = reason.problems[0]
            return Finding(error.fault.value, what, str(first.path), first.expected, track=label)
        if text is not None and error.fault in (Fault.SYNTAX, Fault.INCOMPLETE, Fault.TRUNCATED):
            return Finding(error.fault.value, what, text.path, text.expected, text.place, track=label, caret=text.caret)
        path = str(error.paths[-1]) if error.paths else None
        return Finding(error.fault.value, what, path, track=label)

    def _label(self, number: int) -> str:
        name = self._state.tool_calls[number].name
        return call_track(number) if name is None else f"{call_track(number)} ({name})"


# Reading one text.


@final
class Inspector(TextStage):
    """Reads one text, or one document of a text. `problem` is its first problem."""

    def __init__(
        self,
        resolver: Resolver[Any] | None = None,
        *,
        extract: bool = False,
        around: Surroundings | None = None,
        begin: Position = BEGIN,
        document: int | None = None,
        options: Options = READING,
    ) -> None:
        super().__init__(None)
        self.problem: Finding | None = None
        self.around = Surroundings() if around is None else around
        self._is_part = around is not None  # the caller feeds the surroundings
        self._parser: FragmentParser | TextValidator  # either one knows the syntax error
        if resolver is None:
            self._parser = FragmentParser(options, extract=extract)
        else:
            self._parser = TextValidator(resolver, options, extract=extract)
        self._begin = begin
        self._document = document
        self._notes = RepairNotes(self.around, begin, document)

    @property
    def repairs(self) -> list[Finding]:
        """The repairs of the text."""
        return self._notes.findings

    def _read(self, fragment: str | bytes) -> list[Line]:
        if not self._is_part:
            self.around.feed(fragment)
        self._parse(fragment)
        self._note_syntax_error()
        return []

    def _finish(self) -> list[Line]:
        if not self._is_part:
            self.around.close()
        self._parse(None)
        if self._parser.error is not None:
            self.fault = None  # an incomplete text is reported as incomplete, not as invalid
        self._note_syntax_error()
        return []

    def _parse(self, fragment: str | bytes | None) -> None:
        """Parse a fragment, or the end for None, and note a violation of the schema."""
        try:
            if fragment is None:
                self._parser.close()
            else:
                self._parser.feed(fragment)
            self._notes.take(self._parser.repairs)
        except InvalidError as error:
            assert isinstance(self._parser, TextValidator)
            first = error.problems[0]
            place = self._place(self._parser.place_in(fragment or ""))
            self.fault = error
            self.problem = Finding(
                first.code, "does not fit the schema", str(first.path), first.expected, place, self._document
            )

    def _note_syntax_error(self) -> None:
        error = self._parser.error
        # Of a violation and a syntax error, the earlier one is reported.
        if error is None or (isinstance(self.fault, InvalidError) and self._is_later(error)):
            return
        self.fault = error
        place = self._place(error.position, is_at_end=error.code is Code.INCOMPLETE)
        self.problem = Finding(
            error.code.value,
            _sentence(error),
            str(error.path),
            error.expected,
            place,
            self._document,
            caret=self.around.end_before(place) if error.code is Code.INCOMPLETE else None,
        )

    def _is_later(self, error: JSONSyntaxError) -> bool:
        place = None if self.problem is None else self.problem.place
        return place is not None and place.offset <= self._begin.offset + error.offset

    def _place(self, position: Position, *, is_at_end: bool = False) -> TextPlace:
        return place_at(self.around, position, self._begin, is_at_end=is_at_end)


def _sentence(error: UnspoolError) -> str:
    """Return the message of an error without the place."""
    return str(error).partition(":")[0]
