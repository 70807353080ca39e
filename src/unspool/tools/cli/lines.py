"""From the texts of an input to JSON lines.

Most inputs have one text. A provider's stream has several: the answer, the reasoning, the arguments of each call.

- `Lanes` sends each piece to the lane of its text, and decides whether that text is JSON. Prose is not parsed.
- A `TextStage` parses one text and makes lines of it: `EventLines`, `ValueLines`, `PatchLines`. Lines are made one by
  one while they are written: each has a whole path, so all lines of one fragment could be far larger than the fragment.
- `TextValidator` validates one text against a schema while it arrives.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from ..._errors import JSONSyntaxError, Position, UnspoolError
from ..._events import Kind
from ..._missing import MISSING
from ..._parser import FragmentParser, ValueParser
from ..._state import create_state, finalize, parse_chunk
from ..._streams import News
from ...patch import Patcher
from ...select import Selector
from ...typed._outcome import Invalid, InvalidError
from ..viewer.tracks import BEGINNINGS, CLOSINGS, STARTS, Nature, nature_of, told_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..._events import Event
    from ..._options import Options
    from ..._path import Path, Step
    from ..._repairs import Repair
    from ..._state import ParserState
    from ...llm._message import MessageState
    from ...select import Pattern
    from ...typed._iterate import Resolver
    from ...typed._resolve import Cache
    from ..viewer.tracks import TrackPiece

__all__ = ["EventLines", "Lane", "Lanes", "Line", "PatchLines", "TextStage", "TextValidator", "ValueLines"]

Line = dict[str, Any]
"""A line before it is written."""

WITHOUT_VALUE: Final = STARTS | CLOSINGS
MAX_OPERATIONS: Final = 1_000  # in one line: each has a whole path


# Which texts are JSON.


@final
class Lane:
    """One text. If its name does not say whether it is JSON, its beginning does, after each restart again."""

    def __init__(self, name: str, nature: Nature | None) -> None:
        self.name = name
        self.stage: TextStage | None = None
        self._known = nature
        self._nature = nature
        self._held: list[str] = []  # the text, until its nature is known
        self._first = ""  # the same without leading blanks

    @property
    def extract(self) -> bool:
        """Whether the JSON is inside other text."""
        return self._nature is Nature.WRAPPED

    def opened_by(self, fragment: str | bytes) -> str | bytes:
        """Take a fragment; return the text to parse now, which is empty for prose and for undecided text."""
        if self._nature is not None:
            return "" if self._nature is Nature.PROSE else fragment
        assert isinstance(fragment, str)  # only texts of a message are undecided, and those are str
        self._held.append(fragment)
        self._first = (self._first + fragment).lstrip()
        return self._decided(told_by(self._first))

    def opened_by_the_end(self) -> str:
        """Return the text to parse when no more text will arrive."""
        return "" if self._nature is not None else self._decided(told_by(self._first, is_all=True))

    def _decided(self, nature: Nature | None) -> str:
        self._nature = nature
        if nature is None:
            return ""
        held, self._held, self._first = self._held, [], ""
        return "" if nature is Nature.PROSE else "".join(held)

    def restart(self) -> None:
        """Drop everything: the text starts again."""
        self.stage = None
        self._nature = self._known
        self._held, self._first = [], ""


@final
class Lanes:
    """The texts of an input by name. `make` creates the stage for a text; with `only`, other texts are ignored."""

    def __init__(self, make: Callable[[Lane], TextStage], *, extract: bool = False, only: str | None = None) -> None:
        self._make = make
        self._extract = extract
        self._only = only
        self.lanes: dict[str, Lane] = {}

    def take(self, piece: TrackPiece, message: MessageState | None = None) -> Iterable[Line]:
        """Take a piece of a text; return its lines, to be used before the next call."""
        name = piece.track
        if self._only is not None and name != self._only:
            return []
        lane = self.lanes.get(name) or self._lane(name, message)
        first: tuple[Line, ...] = ()
        if piece.restarts:
            first = () if lane.stage is None else lane.stage.RESTART
            lane.restart()
        return chain(first, self._read(lane, lane.opened_by(piece.fragment)))

    def _lane(self, name: str, message: MessageState | None) -> Lane:
        lane = self.lanes[name] = Lane(name, nature_of(name, message, extract=self._extract))
        return lane

    def _read(self, lane: Lane, fragment: str | bytes) -> Iterable[Line]:
        if not fragment:
            return []
        if lane.stage is None:
            lane.stage = self._make(lane)
        return lane.stage.feed(fragment)

    def begin(self, name: str) -> None:
        """Open a text that is empty so far."""
        lane = self._lane(name, None)
        lane.stage = self._make(lane)

    def settle(self) -> list[tuple[str, Iterable[Line]]]:
        """Decide what the undecided texts are, now that no more text arrives; return their lines by name."""
        return [(lane.name, self._read(lane, lane.opened_by_the_end())) for lane in self.lanes.values()]

    def close(self) -> list[tuple[str, Iterable[Line]]]:
        """End all texts; return their last lines by name."""
        settled = self.settle()
        return settled + [(name, stage.close()) for name, stage in self._stages()]

    def _stages(self) -> list[tuple[str, TextStage]]:
        return [(lane.name, lane.stage) for lane in self.lanes.values() if lane.stage is not None]

    @property
    def faults(self) -> list[tuple[str, UnspoolError]]:
        """The errors so far, by the name of the text."""
        return [(name, stage.fault) for name, stage in self._stages() if stage.fault is not None]

    @property
    def has_json(self) -> bool:
        """Whether any text is JSON."""
        return bool(self._stages())


# Does the text fit the schema?


@final
class TextValidator:
    """Validates fragments against a schema: raises `InvalidError` as soon as no continuation can be valid.

    Syntax errors are not raised but stored in `error`. With several documents, each is validated on its own.
    """

    def __init__(self, resolver: Resolver[Any], options: Options, *, extract: bool = False) -> None:
        self._resolver = resolver
        self._options = options
        self._state = create_state(options, extract=extract)
        self._cache: Cache | None = None
        self.error: JSONSyntaxError | None = None
        """The syntax error of the text, if there is one."""

    def feed(self, fragment: str | bytes) -> None:
        """Validate one more fragment."""
        self._move_to(parse_chunk(self._state, fragment))

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs of the text so far."""
        return self._state.repairs

    def close(self) -> None:
        """Validate the end of the text."""
        self._move_to(finalize(self._state))

    def place_in(self, fragment: str | bytes) -> Position:
        """Return the position of the first invalid character in the fragment that `feed` refused."""
        good, bad = 0, len(fragment)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._is_valid(parse_chunk(self._state, fragment[:middle])):
                good = middle
            else:
                bad = middle
        state = parse_chunk(self._state, fragment[:good])
        return Position(state.index, state.line, state.column)

    def _move_to(self, state: ParserState) -> None:
        """Keep this state, unless it is invalid."""
        self.error = state.error
        cache = self._validated(state)
        self._state, self._cache = state, None if state.is_complete and self._options.multiple else cache

    def _is_valid(self, state: ParserState) -> bool:
        try:
            self._validated(state)
        except InvalidError:
            return False
        return True

    def _validated(self, state: ParserState) -> Cache:
        cache = self._cache
        if self._options.multiple:
            # The tree of a state is that of the last document. Earlier documents are validated by their values.
            for value in state.finished[:-1] if state.is_complete else state.finished:
                self._raise_if_invalid(parse_chunk(create_state(self._options), json.dumps(value) + "\n"), None)
                cache = None
        return self._raise_if_invalid(state, cache)

    def _raise_if_invalid(self, state: ParserState, cache: Cache | None) -> Cache:
        resolution, cache = self._resolver.resolve(state, cache)
        if isinstance(resolution, Invalid):
            raise InvalidError(resolution)
        return cache


# From one text to lines.


class TextStage(ABC):
    """Takes the fragments of one text and returns lines. After a fault there are no more lines."""

    RESTART: ClassVar[tuple[Line, ...]] = ()
    """The lines for a restart of the text."""

    def __init__(self, validator: TextValidator | None) -> None:
        self.fault: UnspoolError | None = None
        self._validator = validator

    def feed(self, fragment: str | bytes) -> Iterable[Line]:
        """Take one more fragment; return its lines, to be used before the next call."""
        if self.fault is not None:
            return []
        lines = self._read(fragment)
        self._validate(fragment)
        return lines

    def close(self) -> Iterable[Line]:
        """End the text; return its last lines."""
        if self.fault is not None:
            return []
        lines = self._finish()
        self._validate(None)
        return lines

    @abstractmethod
    def _read(self, fragment: str | bytes) -> Iterable[Line]: ...

    @abstractmethod
    def _finish(self) -> Iterable[Line]: ...

    def _validate(self, fragment: str | bytes | None) -> None:
        if self._validator is None or (self.fault is not None and fragment is not None):
            return
        try:
            if fragment is None:
                self._validator.close()
            else:
                self._validator.feed(fragment)
        except InvalidError as error:
            self.fault = error


@final
class EventLines(TextStage):
    """One line per event."""

    RESTART = ({"kind": "restart"},)

    def __init__(
        self,
        options: Options,
        validator: TextValidator | None,
        *,
        extract: bool = False,
        select: Pattern | None = None,
    ) -> None:
        super().__init__(validator)
        self._parser = FragmentParser(options, extract=extract)
        self._selector = None if select is None else Selector(select)
        self._document = -1 if options.multiple else None
        self._path: Path | None = None  # of the last event; consecutive events often share it
        self._spelled = ""

    def _read(self, fragment: str | bytes) -> Iterable[Line]:
        return self._checked(self._parser.feed(fragment))

    def _finish(self) -> Iterable[Line]:
        return self._checked(self._parser.close())

    def _checked(self, events: list[Event]) -> Iterable[Line]:
        self.fault = self._parser.error
        return self._lines(events)

    def _lines(self, events: list[Event]) -> Iterator[Line]:
        for event in events:
            if self._document is not None and _begins_document(event):
                self._document += 1
            if self._selector is None or self._selector.selects(event):
                if event.path is not self._path:
                    self._path, self._spelled = event.path, str(event.path)
                line = _event_line(event, self._spelled)
                yield line if self._document is None else {"document": max(self._document, 0), **line}


def _begins_document(event: Event) -> bool:
    return event.path.parent is None and event.kind in BEGINNINGS


def _event_line(event: Event, path: str) -> Line:
    line: Line = {"kind": event.kind.value, "path": path}
    if isinstance(event.value, JSONSyntaxError):
        error = event.value
        place = {"offset": error.offset, "line": error.line, "column": error.column}
        return {**line, "code": error.code.value, "expected": error.expected, **place}
    if event.kind not in WITHOUT_VALUE:
        line["value"] = event.value
    line["node"], line["offset"] = event.node_id, event.offset
    return line


@final
class ValueLines(TextStage):
    """The value so far, one line per fragment that changes something visible."""

    def __init__(
        self,
        options: Options,
        validator: TextValidator | None,
        *,
        extract: bool = False,
        every: bool = False,
        select: Pattern | None = None,
    ) -> None:
        super().__init__(validator)
        # Selected values are written at once, so the value may grow in place. The events say which of them changed.
        self._parser = ValueParser(options, live=select is not None, extract=extract)
        self._events = None if select is None else FragmentParser(options, extract=extract)
        self._changed = None if select is None else _ChangedValues(select, is_counting=options.multiple is not False)
        self._news = News(self._parser)
        self._every = every

    @property
    def value(self) -> object:
        """The value so far."""
        return self._parser.value

    def _read(self, fragment: str | bytes) -> Iterable[Line]:
        try:
            self._parser.feed(fragment)
        except JSONSyntaxError as error:
            self.fault = error
        return self._lines(self._every, None if self._events is None else self._events.feed(fragment))

    def _finish(self) -> Iterable[Line]:
        try:
            self._parser.close()
        except JSONSyntaxError as error:
            self.fault = error
        return self._lines(False, None if self._events is None else self._events.close())

    def _lines(self, every: bool, events: list[Event] | None) -> Iterable[Line]:
        if events is not None and self._changed is not None:
            documents = list(self._parser.finished)
            if self._parser.value is not MISSING and not (documents and self._parser.is_complete):
                documents.append(self._parser.value)
            return self._changed.lines(events, documents)
        return [{"value": value} for value in self._news.take(every=every) if value is not MISSING]


@final
class _ChangedValues:
    """Finds the selected values that a step changed, in document order."""

    def __init__(self, pattern: Pattern, *, is_counting: bool) -> None:
        self._pattern = pattern
        self._selector = Selector(pattern)
        self._document = -1 if is_counting else None

    def lines(self, events: list[Event], documents: Sequence[object]) -> Iterator[Line]:
        """Return the current values of the selected paths that the events touch."""
        changed: list[tuple[Line, dict[tuple[Step, ...], Path]]] = []
        for event in events:
            is_beginning = _begins_document(event)
            if self._document is not None and is_beginning:
                self._document += 1
            if not changed or is_beginning:
                changed.append(({} if self._document is None else {"document": self._document}, {}))
            if event.kind is not Kind.ERROR and self._selector.selects(event):
                for path in self._selected(event.path):
                    changed[-1][1][path.steps] = path
        for (prefix, paths), document in zip(changed, documents, strict=False):
            for steps, path in paths.items():
                yield {**prefix, "path": str(path), "value": _at(document, steps)}

    def _selected(self, path: Path) -> list[Path]:
        """Return the selected paths among this one and its parents, the outermost first."""
        selected: list[Path] = []
        at: Path | None = path
        while at is not None:
            if self._pattern.matches(at):
                selected.insert(0, at)
            at = at.parent
        return selected


def _at(value: Any, steps: tuple[Step, ...]) -> Any:
    for step in steps:
        value = value[step]
    return value


@final
class PatchLines(TextStage):
    """The patch operations, one line per fragment that changes something. Very long patches take several lines."""

    def __init__(
        self, options: Options, validator: TextValidator | None, *, extract: bool = False, append: bool = True
    ) -> None:
        super().__init__(validator)
        self._parser = FragmentParser(options, extract=extract)
        self._patcher = Patcher(append)

    def _read(self, fragment: str | bytes) -> Iterable[Line]:
        return self._checked(self._parser.feed(fragment))

    def _finish(self) -> Iterable[Line]:
        return self._checked(self._parser.close())

    def _checked(self, events: list[Event]) -> Iterable[Line]:
        self.fault = self._parser.error
        return self._lines(events)

    def _lines(self, events: list[Event]) -> Iterator[Line]:
        operations = self._patcher._each(events)
        while portion := list(islice(operations, MAX_OPERATIONS)):
            yield {"patch": portion}
