"""Everything that can be seen of a reading, in one comparable object; and the value that its events add up to.

The fold here knows nothing of the library but the names of the events: it is how a user would put them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unspool import Event, FragmentParser, JSONSyntaxError, Kind, Options

from .oracle import MISSING, Error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool import Fragment

Told = tuple[Kind, tuple[str | int, ...], object, int, int, str | None]


@dataclass(frozen=True)
class Observation:
    """What a parser showed for one text, however it was cut."""

    events: list[Told]
    values: list[Any]
    is_complete: bool
    errors: list[Error]
    expected: list[str]

    @property
    def value(self) -> Any:
        return self.values[-1] if self.values else MISSING

    @property
    def error(self) -> Error | None:
        return self.errors[0] if self.errors else None


def observe(fragments: Iterable[Fragment], *, close: bool = True, **options: Any) -> Observation:
    """Feed the fragments to a new parser, and close it unless told otherwise."""
    parser = FragmentParser(Options(**options))
    events = [event for fragment in fragments for event in parser.feed(fragment)]
    if close:
        events += parser.close()
    assert [e.value for e in events if e.kind is Kind.ERROR] == list(parser.errors)
    assert parser.error is (parser.errors[0] if parser.errors else None)
    return Observation(
        events=merge(events),
        values=fold(events),
        is_complete=parser.is_complete,
        errors=[fault(error) for error in parser.errors],
        expected=[error.expected for error in parser.errors],
    )


def fault(error: JSONSyntaxError) -> Error:
    """An error as the oracle tells it."""
    return Error(error.code, error.offset, error.line, error.column, error.path.steps)


def merge(events: Iterable[Event]) -> list[Told]:
    """The events as plain data, consecutive partial_strings of one node as one."""
    merged: list[Told] = []
    for e in events:
        value = fault(e.value) if isinstance(e.value, JSONSyntaxError) else e.value
        if e.kind is Kind.PARTIAL_STRING and merged and merged[-1][0] is e.kind and merged[-1][3] == e.node_id:
            kind, path, text, node_id, offset, raw = merged[-1]
            assert isinstance(text, str)
            assert isinstance(value, str)
            merged[-1] = (kind, path, text + value, node_id, offset, raw)
        else:
            merged.append((e.kind, e.path.steps, value, e.node_id, e.offset, e.raw))
    return merged


class Fold:
    """Puts events together to values, one for each root; each step must fit what is there."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._open: list[tuple[tuple[str | int, ...], Any, int]] = []  # path, container, node id
        self._string: tuple[tuple[str | int, ...], int] | None = None

    def add(self, e: Event) -> None:
        match e.kind:
            case Kind.START_OBJECT | Kind.START_ARRAY:
                container: Any = {} if e.kind is Kind.START_OBJECT else []
                self._place(e, container)
                self._open.append((e.path.steps, container, e.node_id))
            case Kind.END_OBJECT | Kind.END_ARRAY:
                path, container, node_id = self._open.pop()
                assert (path, node_id) == (e.path.steps, e.node_id)
                assert isinstance(container, dict if e.kind is Kind.END_OBJECT else list)
            case Kind.START_STRING:
                self._place(e, "")
                self._string = (e.path.steps, e.node_id)
            case Kind.PARTIAL_STRING:
                assert self._string == (e.path.steps, e.node_id)
                assert e.value != ""
                self._replace(e, self._text(e) + str(e.value))
            case Kind.COMPLETE_STRING:
                assert self._string == (e.path.steps, e.node_id)
                assert self._text(e) == e.value
                self._string = None
            case Kind.ERROR:
                if self._string is not None:  # dropped, as far as the value goes
                    self._drop()
            case _:
                self._place(e, e.value)

    def _place(self, e: Event, value: Any) -> None:
        assert self._string is None
        steps = e.path.steps
        if not self._open:
            assert steps == ()
            self.values.append(value)
            return
        path, container, _ = self._open[-1]
        assert steps[:-1] == path
        if isinstance(container, list):
            assert steps[-1] == len(container)
            container.append(value)
        else:
            assert isinstance(steps[-1], str)
            container[steps[-1]] = value

    def _text(self, e: Event) -> str:
        found = self._open[-1][1][e.path.steps[-1]] if self._open else self.values[-1]
        assert isinstance(found, str)
        return found

    def _replace(self, e: Event, text: str) -> None:
        if self._open:
            self._open[-1][1][e.path.steps[-1]] = text
        else:
            self.values[-1] = text

    def _drop(self) -> None:
        assert self._string is not None
        steps, _ = self._string
        if self._open:
            del self._open[-1][1][steps[-1]]
        else:
            self.values.pop()
        self._string = None


def fold(events: Iterable[Event], *, keep_broken: bool = True) -> list[Any]:
    """The values that the events add up to. A string that the last error broke stays as far as it came."""
    fold = Fold()
    told = list(events)
    for index, event in enumerate(told):
        if event.kind is Kind.ERROR and index == len(told) - 1 and keep_broken:
            break
        fold.add(event)
    return fold.values
