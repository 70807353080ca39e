"""Reading for `check`: one text, many, or those of a message; and what is wrong with them, with its place."""

from __future__ import annotations

from codecs import getincrementaldecoder
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from ...._chunker.snapshots import SnapshotChunker
from ...._errors import Code, JSONSyntaxError, Position, SnapshotError, UnspoolError
from ...._options import Options
from ...._parser import FragmentParser
from ....llm._faults import Fault, MessageError
from ....llm._message import start
from ....typed._outcome import InvalidError
from ...viewer.tracks import CONTENT, call_track
from .judging import Judge
from .lanes import Lane, Lanes
from .places import Surroundings
from .problems import Place, Problem
from .stages import Stage

if TYPE_CHECKING:
    from ....llm._config import Config
    from ....typed._partials import Resolver
    from ...viewer.tracks import Item
    from .stages import Line

__all__ = ["Inspector", "ManyTexts", "Message", "OneText", "Reader"]

READING: Final = Options(max_chars=None)
BEGIN: Final = Position(0, 1, 1)


class Reader(Protocol):
    """Items in; what is wrong goes to a list of problems."""

    @property
    def is_stopped(self) -> bool:
        """There is no use in reading on."""
        ...

    @property
    def counts(self) -> Line:
        """How much was read."""
        ...

    def take(self, item: Item, /) -> None:
        """One more item."""
        ...

    def close(self) -> None:
        """That was all."""
        ...


@final
class Inspector(Stage):
    """One text, or one document in a text. `problem` is the first thing that is wrong with it."""

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
        self.problem: Problem | None = None
        self.around = Surroundings() if around is None else around
        self._is_part = around is not None  # of a text that others look at
        self._parser: FragmentParser | Judge  # one of the two reads; either knows what is wrong with the text
        if resolver is None:
            self._parser = FragmentParser(READING, extract=extract)
        else:
            self._parser = Judge(resolver, READING, extract=extract)
        self._begin = begin
        self._document = document

    def _read(self, fragment: str | bytes) -> list[Line]:
        if not self._is_part:
            self.around.feed(fragment)
        self._read_on(fragment)
        self._judge_by_grammar()
        return []

    def _finish(self) -> list[Line]:
        if not self._is_part:
            self.around.close()
        self._read_on(None)
        if self._parser.error is not None:
            self.fault = None  # what is not whole is told as such
        self._judge_by_grammar()
        return []

    def _read_on(self, fragment: str | bytes | None) -> None:
        """One more fragment, or the end; and what the schema says of it."""
        try:
            if fragment is None:
                self._parser.close()
            else:
                self._parser.feed(fragment)
        except InvalidError as error:
            assert isinstance(self._parser, Judge)
            first = error.problems[0]
            position = self._parser.place_in(fragment or "")
            self.fault = error
            self.problem = Problem(
                first.code,
                "does not fit the schema",
                str(first.path),
                first.expected,
                self._place(position),
                self._document,
            )

    def _judge_by_grammar(self) -> None:
        error = self._parser.error
        # What is wrong by the schema is told unless the text is broken before that.
        if error is None or (isinstance(self.fault, InvalidError) and self._is_later(error)):
            return
        self.fault = error
        place = self._place(error.position, is_at_end=error.code is Code.INCOMPLETE)
        what = _sentence(error)
        self.problem = Problem(error.code.value, what, str(error.path), error.expected, place, self._document)

    def _is_later(self, error: JSONSyntaxError) -> bool:
        place = None if self.problem is None else self.problem.place
        return place is not None and place.offset <= self._begin.offset + error.offset

    def _place(self, position: Position, *, is_at_end: bool = False) -> Place:
        begin = self._begin
        offset = begin.offset + position.offset
        line = begin.line + position.line - 1
        column = position.column if position.line > 1 else begin.column + position.column - 1
        before, after = self.around.around(offset)
        return Place(offset, line, column, self.around.byte(offset), before, "" if is_at_end else after)


def _sentence(error: UnspoolError) -> str:
    """What is wrong, without the place."""
    return str(error).partition(":")[0]


@final
class OneText:
    """An input that is one text: JSON, or that in events."""

    def __init__(self, problems: list[Problem], resolver: Resolver[Any] | None, extract: bool) -> None:
        self._problems = problems
        self._inspector = Inspector(resolver, extract=extract)

    @property
    def is_stopped(self) -> bool:
        return self._inspector.problem is not None

    @property
    def counts(self) -> Line:
        return {"documents": 1, "characters": self._inspector.around.length}

    def take(self, item: Item) -> None:
        for piece in item.pieces:
            self._inspector.feed(piece.fragment)

    def close(self) -> None:
        self._inspector.close()
        if self._inspector.problem is not None:
            self._problems.append(self._inspector.problem)


@final
class ManyTexts:
    """A document a line. What is wrong with one says nothing about the others: each is read.

    With `is_chain` they are snapshots, and each has to go on from the one before.
    """

    def __init__(self, problems: list[Problem], resolver: Resolver[Any] | None, *, is_chain: bool) -> None:
        self._problems = problems
        self._resolver = resolver
        self._chunker = SnapshotChunker(on_conflict="keep") if is_chain else None
        self._around = Surroundings()
        self._count = 0
        self._position = BEGIN
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._inspector: Inspector | None = None
        self._line: list[bytes] = []

    @property
    def is_stopped(self) -> bool:
        return False

    @property
    def counts(self) -> Line:
        return {"documents": self._count, "characters": self._around.length}

    def take(self, item: Item) -> None:
        for piece in item.pieces:
            data = piece.fragment if isinstance(piece.fragment, bytes) else piece.fragment.encode()
            self._around.feed(data)
            for part in _lines(data):
                self._read(part)

    def close(self) -> None:
        self._around.close()
        self._end_line()

    def _read(self, part: bytes) -> None:
        is_ended = part.endswith(b"\n")
        text = part.removesuffix(b"\n")
        if self._inspector is None and text.strip():
            self._inspector = Inspector(self._resolver, around=self._around, begin=self._position, document=self._count)
            self._count += 1
        if self._inspector is not None:
            self._inspector.feed(text)
            if self._chunker is not None:
                self._line.append(text)
        self._move_on(part)
        if is_ended:
            self._end_line()

    def _move_on(self, part: bytes) -> None:
        characters = len(self._decoder.decode(part))
        offset, line, column = self._position
        is_ended = part.endswith(b"\n")
        self._position = Position(offset + characters, line + is_ended, 1 if is_ended else column + characters)

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
            self._dispute(error)
        for conflict in chunker.conflicts[known:]:
            self._dispute(conflict)

    def _dispute(self, error: SnapshotError) -> None:
        self._problems.append(Problem(error.reason.value, _sentence(error), str(error.path), document=self._count - 1))


def _lines(data: bytes) -> list[bytes]:
    """Only LF ends a line; a CR before it is white space."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


@final
class Message:
    """What a provider streams: the message as a whole, and the text of each call."""

    def __init__(self, problems: list[Problem], config: Config, extract: bool) -> None:
        self._problems = problems
        self._state = start(config)
        self._lanes = Lanes(self._made, extract=extract)
        self._steps = 0

    @property
    def is_stopped(self) -> bool:
        return False

    @property
    def counts(self) -> Line:
        return {"chunks": self._steps, "calls": len(self._state.tool_calls)}

    def take(self, item: Item) -> None:
        self._steps += bool(item.raw)
        self._state = item.message or self._state
        for piece in item.pieces:
            self._lanes.take(piece, item.message)
        if item.problem:
            what = f"{item.problem.partition(':')[0]}: the one with number {self._steps}"
            self._problems.append(Problem("chunk", what, line=item.line))

    def close(self) -> None:
        self._lanes.close()
        state = self._state
        told: set[str] = set()
        for error in state.errors:
            track = CONTENT if error.call is None else call_track(error.call)
            told.add(track)
            self._problems.append(self._from_error(error, track))
        cut_off = Problem("truncated", f"the message was cut off: {state.finish_reason}")
        is_cut_off = not state.errors and not state.is_complete
        content = self._in_text(CONTENT)
        if content is not None and CONTENT not in told:
            why = cut_off if is_cut_off else content
            self._problems.append(replace(content, code=why.code, what=why.what, track=CONTENT))
        elif is_cut_off:
            self._problems.append(cut_off)

    def _made(self, lane: Lane) -> Stage:
        return Inspector(extract=lane.extract)

    def _in_text(self, track: str) -> Problem | None:
        lane = self._lanes.lanes.get(track)
        return lane.stage.problem if lane is not None and isinstance(lane.stage, Inspector) else None

    def _from_error(self, error: MessageError, track: str) -> Problem:
        what = str(MessageError(error.fault, code=error.code, detail=error.detail))
        if error.fault is Fault.TRUNCATED and self._state.finish_reason is not None:
            what = f"{what}: {self._state.finish_reason}"
        label = self._label(error.call) if error.call is not None else CONTENT if error.reason is not None else None
        reason, text = error.reason, self._in_text(track)
        if isinstance(reason, InvalidError):
            first = reason.problems[0]
            return Problem(error.fault.value, what, str(first.path), first.expected, track=label)
        if text is not None and error.fault in (Fault.SYNTAX, Fault.INCOMPLETE, Fault.TRUNCATED):
            return Problem(error.fault.value, what, text.path, text.expected, text.place, track=label)
        path = str(error.paths[-1]) if error.paths else None
        return Problem(error.fault.value, what, path, track=label)

    def _label(self, number: int) -> str:
        name = self._state.tool_calls[number].name
        return call_track(number) if name is None else f"{call_track(number)} ({name})"
