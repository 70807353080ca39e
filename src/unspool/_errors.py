"""Everything that can go wrong, in one place.

::

    UnspoolError
    |-- JSONSyntaxError        the text cannot be JSON: code, offset, line, column, path, expected
    |   |-- IncompleteJSONError    it ended too early
    |   `-- LimitError             it went over a limit of `Options`
    |-- OptionsError           an option that makes no sense
    |-- PatchError             an operation that does not fit its document: reason, index, pointer
    |-- PatternError           a path or path pattern that cannot be read
    |-- SnapshotError          a snapshot that cannot follow what is written: path, reason, step
    `-- StateError             a call that does not fit the state of its object

Errors carry data; the message is only a rendering of it. It names the place and the path, and never
quotes the text that was read: that may be somebody's secret.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._path import Path

__all__ = [
    "Code",
    "IncompleteJSONError",
    "JSONSyntaxError",
    "LimitError",
    "OptionsError",
    "PatchError",
    "PatternError",
    "Position",
    "Reason",
    "SnapshotError",
    "StateError",
    "UnspoolError",
]

LONGEST_PATH_SHOWN = 120  # keys come from the text; a message stays one line


class Code(StrEnum):
    """What is wrong with a text. A closed set: programs may match on it."""

    UNEXPECTED_CHARACTER = "unexpected_character"
    INVALID_LITERAL = "invalid_literal"
    INVALID_NUMBER = "invalid_number"
    NUMBER_OVERFLOW = "number_overflow"
    INVALID_ESCAPE = "invalid_escape"
    CONTROL_CHARACTER = "control_character"
    LONE_SURROGATE = "lone_surrogate"
    INVALID_UTF8 = "invalid_utf8"
    DUPLICATE_KEY = "duplicate_key"
    TRAILING_TEXT = "trailing_text"
    INCOMPLETE = "incomplete"
    MAX_DEPTH = "max_depth"
    MAX_CHARS = "max_chars"
    MAX_STRING = "max_string"
    MAX_KEY = "max_key"
    MAX_NUMBER = "max_number"
    MAX_ERRORS = "max_errors"


SENTENCES: dict[Code, str] = {
    Code.UNEXPECTED_CHARACTER: "unexpected character",
    Code.INVALID_LITERAL: "a literal that is not true, false or null",
    Code.INVALID_NUMBER: "a number that is not written as JSON writes numbers",
    Code.NUMBER_OVERFLOW: "a number too large for a float",
    Code.INVALID_ESCAPE: "an escape that JSON does not have",
    Code.CONTROL_CHARACTER: "a control character inside a string",
    Code.LONE_SURROGATE: "half of a surrogate pair",
    Code.INVALID_UTF8: "bytes that are not UTF-8",
    Code.DUPLICATE_KEY: "a key for the second time",
    Code.TRAILING_TEXT: "text after the end of the value",
    Code.INCOMPLETE: "the text ended too early",
    Code.MAX_DEPTH: "nested deeper than max_depth",
    Code.MAX_CHARS: "longer than max_chars",
    Code.MAX_STRING: "a string longer than max_string",
    Code.MAX_KEY: "a key longer than max_key",
    Code.MAX_NUMBER: "a number longer than max_number",
    Code.MAX_ERRORS: "more errors than max_errors",
}


class Reason(StrEnum):
    """Why a snapshot cannot follow what is written. A closed set: programs may match on it."""

    NOT_JSON = "not_json"
    LIMIT = "limit"
    REWRITTEN = "rewritten"
    SHRUNK = "shrunk"
    VANISHED = "vanished"
    CHANGED = "changed"
    CHANGED_KIND = "changed_kind"
    GREW_LATE = "grew_late"
    SHORTER = "shorter"
    OUT_OF_ORDER = "out_of_order"


REASONS: dict[Reason, str] = {
    Reason.NOT_JSON: "not a JSON value",
    Reason.LIMIT: "over a limit of the options",
    Reason.REWRITTEN: "a string is no longer what was written",
    Reason.SHRUNK: "a string is shorter than what was written",
    Reason.VANISHED: "a key that was written is gone",
    Reason.CHANGED: "a number or boolean is no longer the one that was written",
    Reason.CHANGED_KIND: "a value is no longer of the kind that was written",
    Reason.GREW_LATE: "a value grew after it was written to its end",
    Reason.SHORTER: "an array has fewer items than were written",
    Reason.OUT_OF_ORDER: "a place that cannot be written any more, or not yet",
}


class Position(NamedTuple):
    """A place in the text: `offset` counts characters from 0; `line` and `column` count from 1."""

    offset: int
    line: int
    column: int


def shown_path(path: Path) -> str:
    """A path as messages show it."""
    text = str(path)
    return text if len(text) <= LONGEST_PATH_SHOWN else text[: LONGEST_PATH_SHOWN - 3] + "..."


class UnspoolError(Exception):
    """The family: whatever the library raises on its own account is one of these."""


class JSONSyntaxError(UnspoolError, ValueError):
    """The text cannot be JSON. The position is that of the first character that nothing can repair."""

    def __init__(self, code: Code, position: Position, path: Path, expected: str = "") -> None:
        super().__init__(code, position, path, expected)
        self.code = code
        self.offset, self.line, self.column = position
        self.path = path
        self.expected = expected

    @property
    def position(self) -> Position:
        """Where it is: offset, line and column."""
        return Position(self.offset, self.line, self.column)

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column} (offset {self.offset}), in {shown_path(self.path)}"
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"{SENTENCES[self.code]}: {place}{expected}"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((self.code, self.offset))


class IncompleteJSONError(JSONSyntaxError):
    """The text ended before the value did; more text could have completed it."""


class LimitError(JSONSyntaxError):
    """The text went over one of the limits of `Options`; it is refused, whatever may follow."""


class OptionsError(UnspoolError, ValueError):
    """An option that makes no sense."""


class PatchError(UnspoolError, ValueError):
    """An operation that does not fit the document, or is none; the document stays as it was.

    `index` tells which operation of the patch it is, `pointer` the place that does not fit. Either is None
    when there is none to tell: the patch is no list, the operation names no place.
    """

    def __init__(self, reason: str, index: int | None = None, pointer: str | None = None) -> None:
        super().__init__(reason, index, pointer)
        self.reason = reason
        self.index = index
        self.pointer = pointer

    def __str__(self) -> str:
        if self.index is None:
            return self.reason
        if self.pointer is None:
            return f"{self.reason}: operation {self.index}"
        pointer = repr(self.pointer)
        if len(pointer) > LONGEST_PATH_SHOWN:
            pointer = pointer[: LONGEST_PATH_SHOWN - 3] + "..."
        return f"{self.reason}: operation {self.index}, at {pointer}"


class PatternError(UnspoolError, ValueError):
    """A path or a path pattern that cannot be read, or that asks what a stream cannot answer yet."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.reason}, at offset {self.offset}"


class SnapshotError(UnspoolError, ValueError):
    """A snapshot that contradicts what is written, or is none; everything stays as it was before it.

    `step` counts the snapshots from 1; one that is refused does not count. Where the text of a snapshot is at fault,
    the cause is its `JSONSyntaxError`.
    """

    def __init__(self, path: Path, reason: Reason, step: int) -> None:
        super().__init__(path, reason, step)
        self.path = path
        self.reason = reason
        self.step = step

    def __str__(self) -> str:
        return f"{REASONS[self.reason]}: {shown_path(self.path)}, in snapshot {self.step}"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((self.reason, self.step))


class StateError(UnspoolError, RuntimeError):
    """A call that does not fit the state of its object, such as feeding a closed parser."""
