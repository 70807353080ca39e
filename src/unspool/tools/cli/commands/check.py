"""`unspool check`: is the input complete and valid? If not: where is the problem, and what was expected?

- `Inspection` reads an input of any kind and collects its `Finding`s.
- An `InputInspector` knows one kind of input: `OneText`, `ManyTexts`, `OneMessage`. An `Inspector` reads one text.
- `Surroundings` keeps the end of the text, for the line around a finding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer
from rich.text import Text

from ...._chunker.snapshots import SnapshotChunker
from ...._errors import Code, JSONSyntaxError, Position, SnapshotError, UnspoolError
from ...._options import Options
from ...._parser import FragmentParser
from ...._text.utf8 import decode
from ....llm._diagnostics import Fault, MessageError
from ....llm._message import start
from ....typed._outcome import InvalidError
from ...viewer.inputs import Guess, InputKind
from ...viewer.tracks import CONTENT, call_track
from ..arrivals import STANDARD_INPUT, Input, timed_items
from ..lines import Lane, Lanes, TextStage, TextValidator
from ..options import Extract, File, Format, Kind, Schema, Tools, config_for, load_schema
from ..terminal import (
    BROKEN,
    UsageError,
    console,
    counted,
    excerpt,
    guarded,
    is_ascii_only,
    print_words,
    progress,
    shown,
    write_line,
)

if TYPE_CHECKING:
    from ....llm._config import Config
    from ....typed._iterate import Resolver
    from ...viewer.tracks import Item
    from ..lines import Line

__all__ = ["Finding", "Inspection", "OneText", "Surroundings", "check"]

MAX_SHOWN: Final = 20  # findings
MAX_PATH: Final = 200  # characters
KEPT: Final = 1000  # characters before a place: more than fit on a line
WIDTH: Final = 100  # columns, if the output is not a terminal
INDENT: Final = "  "
READING: Final = Options(max_chars=None)
BEGIN: Final = Position(0, 1, 1)

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
) -> None:
    """Check whether the input is complete and valid (exit status 0), or report each problem and its place (1)."""
    with guarded(Input(file).name):
        source = Input(file, kind, format)
        inspection = Inspection(source, schema, tool, extract)
        inspection.run()
        problems = inspection.problems
        if as_json:
            lines = [problem.as_json() for problem in problems]
            write_line({"ok": not problems, "file": str(file), **inspection.summary, "problems": lines})
        elif not quiet:
            _report(source.name, inspection)
        if problems:
            raise typer.Exit(BROKEN)


# Findings, and the report.


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


def _report(name: str, inspection: Inspection) -> None:
    problems = inspection.problems
    for problem in problems[:MAX_SHOWN]:
        _show(name, problem)
    if len(problems) > MAX_SHOWN:
        print_words(console(), Text(f"and {len(problems) - MAX_SHOWN} more"))
    if not problems:
        summary = inspection.summary
        counts = [counted(count, what.removesuffix("s")) for what, count in summary.items() if isinstance(count, int)]
        words = ", ".join([str(summary["format"] or summary["input"]), *counts])
        print_words(console(), Text(shown(f"{name}: ok: {words}")))


def _show(name: str, problem: Finding) -> None:
    terminal = console()
    width = terminal.width if terminal.is_terminal else WIDTH
    where = [name]
    if problem.track is not None:
        where.append(problem.track)
    if problem.document is not None:
        where.append(f"document {problem.document + 1}")
    place = problem.place
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
        _show_line(place, width)


def _shortened(path: str) -> str:
    return path if len(path) <= MAX_PATH else path[: MAX_PATH - 3] + "..."


def _show_line(place: TextPlace, width: int) -> None:
    terminal = console()
    gutter = f"  {place.line} | "
    if len(gutter) > width // 2:
        gutter = " "
    text, caret = excerpt(place.before, place.after, width - len(gutter), ascii_only=is_ascii_only())
    blank = " " * (len(gutter) - 2) + gutter[-2:] if len(gutter) > 1 else gutter
    terminal.print(Text(gutter + text), soft_wrap=True)
    terminal.print(Text(blank + " " * caret).append("^", style="bold red"), soft_wrap=True)


# Reading an input.


@final
class Inspection:
    """Reads an input of any kind, and collects its problems."""

    def __init__(self, source: Input, schema: str | None, tools: list[str] | None, extract: bool) -> None:
        self.problems: list[Finding] = []
        self._source = source
        self._extract = extract
        self._resolver = load_schema(schema)
        self._config = config_for(self._resolver, tools, extract)
        self._has_tools = bool(tools)
        self._found: Guess | None = None
        self._inspector: InputInspector | None = None

    @property
    def summary(self) -> Line:
        """The kind of the input, and how much was read."""
        assert self._inspector is not None
        found = self._found or Guess(InputKind.RECORDING)  # a recording without any readable line
        return {"input": found.kind.value, "format": found.format, **self._inspector.counts}

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

    def _begun(self, found: Guess | None) -> InputInspector:
        if self._inspector is not None:
            return self._inspector
        wanted = self._source.kind
        self._found = found
        if found is not None and found.is_message:
            self._inspector = OneMessage(self.problems, self._config, self._extract)
        elif self._has_tools:
            raise UsageError("--tool is only for provider streams")
        elif found is not None and found.kind is InputKind.NDJSON:
            self._inspector = ManyTexts(self.problems, self._resolver, is_chain=wanted is InputKind.SNAPSHOTS)
        else:
            self._inspector = OneText(self.problems, self._resolver, self._extract)
        return self._inspector


class InputInspector(ABC):
    """Takes the items of an input, and adds problems to a list."""

    is_stopped = False
    """Whether reading on is pointless."""

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

    def __init__(self, problems: list[Finding], resolver: Resolver[Any] | None, extract: bool) -> None:
        self._problems = problems
        self._inspector = Inspector(resolver, extract=extract)

    @property
    def counts(self) -> Line:
        return {"documents": 1, "characters": self._inspector.around.length}

    def take(self, item: Item) -> None:
        for piece in item.pieces:
            self._inspector.feed(piece.fragment)
        self.is_stopped = self._inspector.problem is not None

    def close(self) -> None:
        self._inspector.close()
        if self._inspector.problem is not None:
            self._problems.append(self._inspector.problem)


@final
class ManyTexts(InputInspector):
    """An input with one document per line. Each is read, whatever is wrong with the others.

    With `is_chain` the documents are snapshots, and each must extend the previous one.
    """

    def __init__(self, problems: list[Finding], resolver: Resolver[Any] | None, *, is_chain: bool) -> None:
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
            self._inspector = Inspector(self._resolver, around=self._around, begin=begin, document=self._count)
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
        self._problems = problems
        self._state = start(config)
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
        return Inspector(extract=lane.extract)

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
            return Finding(error.fault.value, what, text.path, text.expected, text.place, track=label)
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
    ) -> None:
        super().__init__(None)
        self.problem: Finding | None = None
        self.around = Surroundings() if around is None else around
        self._is_part = around is not None  # the caller feeds the surroundings
        self._parser: FragmentParser | TextValidator  # either one knows the syntax error
        if resolver is None:
            self._parser = FragmentParser(READING, extract=extract)
        else:
            self._parser = TextValidator(resolver, READING, extract=extract)
        self._begin = begin
        self._document = document

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
        what = _sentence(error)
        self.problem = Finding(error.code.value, what, str(error.path), error.expected, place, self._document)

    def _is_later(self, error: JSONSyntaxError) -> bool:
        place = None if self.problem is None else self.problem.place
        return place is not None and place.offset <= self._begin.offset + error.offset

    def _place(self, position: Position, *, is_at_end: bool = False) -> TextPlace:
        begin = self._begin
        offset = begin.offset + position.offset
        line = begin.line + position.line - 1
        column = position.column if position.line > 1 else begin.column + position.column - 1
        before, after = self.around.around(offset)
        return TextPlace(offset, line, column, self.around.byte(offset), before, "" if is_at_end else after)


def _sentence(error: UnspoolError) -> str:
    """Return the message of an error without the place."""
    return str(error).partition(":")[0]


@final
class Surroundings:
    """The text around a place that is not known in advance. The text may be long, so only its end is kept.

    Feed it the same fragments as the parser, before the parser.
    """

    __slots__ = ("_before", "_bytes", "_is_bytes", "_rest", "_start", "_text")

    def __init__(self) -> None:
        self._before = ""  # the end of the text before the last fragment
        self._text = ""  # the last fragment
        self._start = 0  # its offset
        self._bytes = 0  # its offset in bytes
        self._rest = b""  # the first bytes of a character that was cut
        self._is_bytes = False

    def feed(self, fragment: str | bytes) -> None:
        """Add one more fragment."""
        self._before = (self._before + self._text[-KEPT:])[-KEPT:]
        self._start += len(self._text)
        self._bytes += _size(self._text)
        self._text = fragment if isinstance(fragment, str) else self._decoded(fragment)

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

    def byte(self, offset: int) -> int | None:
        """Return the offset in bytes, or None if the text did not arrive as bytes."""
        if not self._is_bytes:
            return None
        if offset < self._start:
            return self._bytes - _size(self._before[offset - self._start :])
        return self._bytes + _size(self._text[: offset - self._start])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
