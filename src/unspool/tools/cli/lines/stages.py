"""Stages: fragments of one text in, lines out. One for events, one for values, one for patches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from ...._errors import JSONSyntaxError, UnspoolError
from ...._events import Kind
from ...._missing import MISSING
from ...._parser import FragmentParser, ValueParser
from ...._streams import News
from ....patch import Patcher
from ....select import Selector
from ....typed._outcome import InvalidError
from ...viewer.tracks import BEGINNINGS, CLOSINGS, STARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...._events import Event
    from ...._options import Options
    from ...._path import Path, Step
    from ....select import Pattern
    from .judging import Judge

__all__ = ["EventLines", "Line", "PatchLines", "Stage", "ValueLines"]

Line = dict[str, Any]
"""A line, as it is before it is written."""

SILENT: Final = STARTS | CLOSINGS  # they have no value


class Stage(ABC):
    """Fragments of one text in, lines out. After a fault there are none."""

    AGAIN: ClassVar[tuple[Line, ...]] = ()
    """What is said when the text begins anew."""

    def __init__(self, judge: Judge | None) -> None:
        self.fault: UnspoolError | None = None
        self._judge = judge

    def feed(self, fragment: str | bytes) -> list[Line]:
        """The lines for one more fragment."""
        if self.fault is not None:
            return []
        lines = self._read(fragment)
        self._ask(fragment)
        return lines

    def close(self) -> list[Line]:
        """The lines for the end of the text."""
        if self.fault is not None:
            return []
        lines = self._finish()
        self._ask(None)
        return lines

    @abstractmethod
    def _read(self, fragment: str | bytes) -> list[Line]: ...

    @abstractmethod
    def _finish(self) -> list[Line]: ...

    def _ask(self, fragment: str | bytes | None) -> None:
        if self._judge is None or (self.fault is not None and fragment is not None):
            return
        try:
            if fragment is None:
                self._judge.close()
            else:
                self._judge.feed(fragment)
        except InvalidError as error:
            self.fault = error


@final
class EventLines(Stage):
    """A line for each event."""

    AGAIN = ({"kind": "restart"},)

    def __init__(
        self, options: Options, judge: Judge | None, *, extract: bool = False, select: Pattern | None = None
    ) -> None:
        super().__init__(judge)
        self._parser = FragmentParser(options, extract=extract)
        self._selector = None if select is None else Selector(select)
        self._document = -1 if options.multiple else None
        self._path: Path | None = None  # that of the last event, which many share
        self._spelled = ""

    def _read(self, fragment: str | bytes) -> list[Line]:
        return self._lines(self._parser.feed(fragment))

    def _finish(self) -> list[Line]:
        return self._lines(self._parser.close())

    def _lines(self, events: list[Event]) -> list[Line]:
        lines: list[Line] = []
        for event in events:
            if self._document is not None and event.path.parent is None and event.kind in BEGINNINGS:
                self._document += 1
            if isinstance(event.value, JSONSyntaxError):
                self.fault = event.value
            if self._selector is None or self._selector.selects(event):
                if event.path is not self._path:
                    self._path, self._spelled = event.path, str(event.path)
                line = _event_line(event, self._spelled)
                lines.append(line if self._document is None else {"document": max(self._document, 0), **line})
        return lines


def _event_line(event: Event, path: str) -> Line:
    line: Line = {"kind": event.kind.value, "path": path}
    if isinstance(event.value, JSONSyntaxError):
        error = event.value
        place = {"offset": error.offset, "line": error.line, "column": error.column}
        return {**line, "code": error.code.value, "expected": error.expected, **place}
    if event.kind not in SILENT:
        line["value"] = event.value
    line["node"], line["offset"] = event.node_id, event.offset
    return line


@final
class ValueLines(Stage):
    """A line for each fragment that changes something visible: the value so far."""

    def __init__(
        self,
        options: Options,
        judge: Judge | None,
        *,
        extract: bool = False,
        every: bool = False,
        select: Pattern | None = None,
    ) -> None:
        super().__init__(judge)
        # What is selected is written at once, so it may grow in place; to know what grew takes the events, too.
        self._parser = ValueParser(options, live=select is not None, extract=extract)
        self._events = None if select is None else FragmentParser(options, extract=extract)
        self._changed = None if select is None else _Changed(select, counts=options.multiple)
        self._news = News(self._parser)
        self._every = every

    @property
    def value(self) -> object:
        """The value as it stands."""
        return self._parser.value

    def _read(self, fragment: str | bytes) -> list[Line]:
        try:
            self._parser.feed(fragment)
        except JSONSyntaxError as error:
            self.fault = error
        return self._lines(self._every, None if self._events is None else self._events.feed(fragment))

    def _finish(self) -> list[Line]:
        try:
            self._parser.close()
        except JSONSyntaxError as error:
            self.fault = error
        return self._lines(False, None if self._events is None else self._events.close())

    def _lines(self, every: bool, events: list[Event] | None) -> list[Line]:
        if events is not None and self._changed is not None:
            documents = list(self._parser.finished)
            if self._parser.value is not MISSING and not (documents and self._parser.is_complete):
                documents.append(self._parser.value)
            return self._changed.lines(events, documents)
        return [{"value": value} for value in self._news.take(every=every) if value is not MISSING]


@final
class _Changed:
    """Which of the selected values a step has changed, in the order of the text."""

    def __init__(self, pattern: Pattern, *, counts: bool) -> None:
        self._pattern = pattern
        self._selector = Selector(pattern)
        self._document = -1 if counts else None

    def lines(self, events: list[Event], documents: Sequence[object]) -> list[Line]:
        """The selected values that the events are about, as they are now."""
        changed: list[tuple[Line, dict[tuple[Step, ...], Path]]] = []
        for event in events:
            is_beginning = event.path.parent is None and event.kind in BEGINNINGS
            if self._document is not None and is_beginning:
                self._document += 1
            if not changed or is_beginning:
                changed.append(({} if self._document is None else {"document": self._document}, {}))
            if event.kind is not Kind.ERROR and self._selector.selects(event):
                for path in self._selected(event.path):
                    changed[-1][1][path.steps] = path
        lines: list[Line] = []
        for (prefix, paths), document in zip(changed, documents, strict=False):
            lines += [{**prefix, "path": str(path), "value": _at(document, steps)} for steps, path in paths.items()]
        return lines

    def _selected(self, path: Path) -> list[Path]:
        """The path itself and those above it, as far as they are selected; the outermost first."""
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
class PatchLines(Stage):
    """A line for each fragment that changes something: the operations."""

    def __init__(self, options: Options, judge: Judge | None, *, extract: bool = False, append: bool = True) -> None:
        super().__init__(judge)
        self._parser = FragmentParser(options, extract=extract)
        self._patcher = Patcher(append)

    def _read(self, fragment: str | bytes) -> list[Line]:
        return self._lines(self._parser.feed(fragment))

    def _finish(self) -> list[Line]:
        return self._lines(self._parser.close())

    def _lines(self, events: list[Event]) -> list[Line]:
        if self._parser.error is not None:
            self.fault = self._parser.error
        operations = self._patcher.ops(events)
        return [{"patch": operations}] if operations else []
