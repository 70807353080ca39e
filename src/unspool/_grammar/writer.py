"""The inverse of the reader: events to text. This is the only module that writes commas and colons.

The text is canonical: no white space, keys and strings as `_quoting` spells them, numbers as they came. The writer
works piece by piece, so an open string in the events is an open string in the text.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._errors import StateError
from .._native import TYPE_CHECKING, final
from .._quoting import escape, quote, spelled
from .sink import (
    COMPLETE_BOOLEAN,
    COMPLETE_NULL,
    COMPLETE_NUMBER,
    COMPLETE_STRING,
    END_ARRAY,
    END_OBJECT,
    ERROR,
    PARTIAL_STRING,
    START_ARRAY,
    START_OBJECT,
    START_STRING,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._events import Event, Kind

__all__ = ["Writer"]


@final
class Level:
    """One open container."""

    __slots__ = ("is_object", "outer")

    def __init__(self, outer: Level | None, is_object: bool) -> None:
        self.outer = outer
        self.is_object = is_object


@final
class Writer:
    """Writes the events of one reader as text. Its memory is O(depth).

    It uses the kind, the value, and the last step of the path of an event. Several values at the root get a line each.
    A string that an error cut short is closed where it broke.
    """

    __slots__ = ("_has_items", "_level", "_string_length")

    def __init__(self) -> None:
        self._level: Level | None = None
        self._has_items = False  # of the innermost container, or of the text
        self._string_length = -1  # written characters of the open string; -1 without one

    @staticmethod
    def resumed(levels: Iterable[bool], has_items: bool, string_length: int) -> Writer:
        """Return a writer that resumes inside a text.

        `levels` tells for each open container, from the root, whether it is an object; `has_items`, whether the
        innermost one has items; `string_length` is the number of written characters of the open string, -1 without
        one.
        """
        writer = Writer()
        for is_object in levels:
            writer._level = Level(writer._level, is_object)
        writer._has_items = has_items
        writer._string_length = string_length
        return writer

    @property
    def is_complete(self) -> bool:
        """The text consists of whole values."""
        return self._level is None and self._string_length < 0 and self._has_items

    def write(self, events: Iterable[Event]) -> str:
        """Return the text that these events add."""
        return "".join([self.write_one(event) for event in events])

    def write_one(self, event: Event) -> str:
        """Return the text that one event adds."""
        kind = event.kind
        if self._string_length >= 0:
            return self._go_on_with_string(kind, event.value)
        if kind is COMPLETE_STRING:
            quoted = quote(_text(event.value))
            return self._before(event) + quoted
        if kind is START_STRING:
            before = self._before(event)
            self._string_length = 0
            return before + '"'
        if kind is START_OBJECT or kind is START_ARRAY:
            before = self._before(event)
            self._level = Level(self._level, kind is START_OBJECT)
            self._has_items = False
            return before + ("{" if kind is START_OBJECT else "[")
        if kind is END_OBJECT or kind is END_ARRAY:
            level = self._level
            if level is None or level.is_object is not (kind is END_OBJECT):
                raise StateError(f"{kind.value} does not fit what is open")
            self._level = level.outer
            self._has_items = True
            return "}" if kind is END_OBJECT else "]"
        if kind is ERROR:
            return ""
        if kind is PARTIAL_STRING:
            raise StateError("partial_string, but no string is open")
        atom = _atom(kind, event)
        return self._before(event) + atom

    def _before(self, event: Event) -> str:
        """Return the text before a value: the comma, the key."""
        level = self._level
        comma = ""
        if self._has_items:
            comma = "\n" if level is None else ","
        step = event.path.step
        if level is not None and level.is_object:
            if not isinstance(step, str):
                raise StateError(f"{event.kind.value} in an object needs a key as its last step")
            comma += quote(step) + ":"
        self._has_items = True
        return comma

    def _go_on_with_string(self, kind: Kind, value: object) -> str:
        if kind is PARTIAL_STRING:
            more = _text(value)
            self._string_length += len(more)
            return escape(more)
        if kind is COMPLETE_STRING:
            more = _text(value)[self._string_length :]  # the part without a partial_string event
            self._string_length = -1
            return escape(more) + '"'
        if kind is ERROR:
            self._string_length = -1
            return '"'
        raise StateError(f"{kind.value}, but a string is open")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise StateError("a string event without text")
    return value


def _atom(kind: Kind, event: Event) -> str:
    value = event.value
    if kind is COMPLETE_NULL:
        return "null"
    if kind is COMPLETE_BOOLEAN:
        return "true" if value else "false"
    if kind is COMPLETE_NUMBER and event.raw is not None:
        return event.raw
    number = spelled(value)
    if number is None:
        raise StateError(f"{kind.value} without a number that JSON can write")
    return number
