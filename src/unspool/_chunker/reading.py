"""Snapshots as they come, to values of our own.

A snapshot is a whole text, which is what `json` is made for: it reads one several times faster than a reader that
must be able to stop anywhere. It reads whatever it reads as our grammar would; where it does not, or refuses, the text
goes through the one reader there is, which also says what is wrong and where.
"""

from __future__ import annotations

from json import JSONDecoder
from math import isinf
from typing import TYPE_CHECKING, Final, NoReturn, cast

from .._errors import JSONSyntaxError, LimitError, OptionsError, Reason, SnapshotError
from .._grammar.sink import (
    COMPLETE_BOOLEAN,
    COMPLETE_NULL,
    COMPLETE_NUMBER,
    COMPLETE_STRING,
    END_ARRAY,
    END_OBJECT,
    ERROR,
    START_ARRAY,
    START_OBJECT,
)
from .._missing import MISSING
from .._parser import FragmentParser, as_bytes
from .values import Limits, Number, copied, join_halves

if TYPE_CHECKING:
    from .._events import Event
    from .._options import Options
    from .._path import Step

__all__ = ["SnapshotReader"]

BYTES: Final = (bytes, bytearray, memoryview)
MOST_SPELLINGS: Final = 10_000  # of numbers, kept so that each spelling is one object


class Spellings(dict[str, Number]):
    """One `Number` for each spelling: numbers that stay are found equal at a glance, from snapshot to snapshot."""

    __slots__ = ("_max_length", "_may_be_huge")

    def __init__(self, max_length: int | None, may_be_huge: bool) -> None:
        super().__init__()
        self._max_length = max_length
        self._may_be_huge = may_be_huge  # larger than any float

    def __missing__(self, raw: str) -> Number:
        if self._max_length is not None and len(raw) > self._max_length:
            raise ValueError
        if not self._may_be_huge and not raw.lstrip("-").isdigit() and isinf(float(raw)):
            raise ValueError
        if len(self) >= MOST_SPELLINGS:
            self.clear()
        number = self[raw] = Number(raw)
        return number


class SnapshotReader:
    """Reads the snapshots of one chunker."""

    def __init__(self, options: Options) -> None:
        if options.multiple or options.on_error == "skip":
            raise OptionsError("a snapshot is one whole value: multiple and on_error='skip' are not for snapshots")
        # Half a surrogate pair may be completed by the next snapshot; to replace it would be to change it.
        surrogates = "keep" if options.surrogates == "replace" else options.surrogates
        self.options = options.replace(surrogates=surrogates)
        self.limits = Limits(options)
        is_plain = options.duplicate_keys == "last" and options.trailing == "error" and surrogates == "keep"
        self._reads_as_json_does = is_plain and not options.trailing_commas
        number = Spellings(options.max_number, options.floats == "decimal").__getitem__
        self._decode = JSONDecoder(parse_int=number, parse_float=number, parse_constant=_refuse).decode

    def read(self, snapshot: object, step: int) -> object:
        """The value of a snapshot: str and bytes are JSON text, everything else is a parsed value."""
        text = _text_of(snapshot)
        if text is None:
            return copied(snapshot, self.options.max_depth, step)
        if self._reads_as_json_does:
            try:
                decoded = join_halves(text) if isinstance(text, str) else text.decode()
                if self.options.max_chars is None or len(decoded) <= self.options.max_chars:
                    return self._decode(decoded)
            except (ValueError, RecursionError):
                pass
        return self._read_by_events(text, step)

    def explain(self, snapshot: object, step: int) -> None:
        """Raise the `SnapshotError` of a text that goes over a limit, with the place as its cause."""
        text = _text_of(snapshot)
        if text is not None:
            self._read_by_events(text, step)

    def _read_by_events(self, text: str | bytes, step: int) -> object:
        parser = FragmentParser(self.options)
        events = [*parser.feed(text), *parser.close()]
        last = events[-1]
        if last.kind is ERROR:
            error = cast("JSONSyntaxError", last.value)
            reason = Reason.LIMIT if isinstance(error, LimitError) else Reason.NOT_JSON
            raise SnapshotError(error.path, reason, step) from error
        return _folded(events)


def _text_of(snapshot: object) -> str | bytes | None:
    if isinstance(snapshot, str):
        return snapshot
    if type(snapshot) in BYTES:
        return as_bytes(snapshot)
    return None


def _folded(events: list[Event]) -> object:
    """The value that the events of one whole document tell, with numbers as they were spelled."""
    value: object = MISSING
    containers: list[tuple[object, Step | None]] = []  # each with the step at which it stands
    for event in events:
        kind = event.kind
        step = event.path.step
        if kind is START_OBJECT or kind is START_ARRAY:
            containers.append(({} if kind is START_OBJECT else [], step))
            continue
        if kind is END_OBJECT or kind is END_ARRAY:
            value, step = containers.pop()
        elif kind is COMPLETE_NUMBER:
            value = Number(cast("str", event.raw))
        elif kind is COMPLETE_STRING or kind is COMPLETE_BOOLEAN or kind is COMPLETE_NULL:
            value = event.value
        else:
            continue
        if containers:
            container = containers[-1][0]
            if isinstance(container, dict):
                cast("dict[str, object]", container)[cast("str", step)] = value
            else:
                cast("list[object]", container).append(value)
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
