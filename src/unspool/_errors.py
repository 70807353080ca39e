"""All errors of the core.

::

    UnspoolError
    |-- JSONSyntaxError        the text is not valid JSON: code, offset, line, column, path, expected
    |   |-- IncompleteJSONError    the text ended too early
    |   `-- LimitError             the text exceeds a limit of `Options`
    |-- OptionsError           an invalid option
    |-- PatchError             an operation that does not fit its document: reason, index, pointer
    |-- PatternError           an invalid path or path pattern: reason, offset
    |-- SnapshotError          a snapshot that contradicts the written text: path, reason, step
    `-- StateError             a call at the wrong time, or an invalid state dump

Errors carry data, and the message renders it. A message names the position and the path. It never quotes the text
itself, which may be confidential. Where a message names a key or a provider's words, `UnspoolError` makes them
printable, for all errors in one place.
"""

from __future__ import annotations

from collections import namedtuple
from enum import StrEnum

from ._native import TYPE_CHECKING
from ._quoting import printable

if TYPE_CHECKING:
    from typing import NamedTuple

    from ._path import Path

if TYPE_CHECKING:

    class Coordinates(NamedTuple):
        """The fields of `Position`."""

        offset: int
        line: int
        column: int
else:
    Coordinates = namedtuple("Coordinates", ("offset", "line", "column"))  # importing typing.NamedTuple takes long

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

MAX_PATH_SHOWN = 120  # keys of the text may have any length, but a message stays one line


class Code(StrEnum):
    """The kinds of syntax errors. The set is closed, so programs can match on it."""

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
    MAX_PATH = "max_path"
    MAX_NUMBER = "max_number"
    MAX_ERRORS = "max_errors"
    MAX_REPAIRS = "max_repairs"


SENTENCES: dict[Code, str] = {
    Code.UNEXPECTED_CHARACTER: "unexpected character",
    Code.INVALID_LITERAL: "invalid literal",
    Code.INVALID_NUMBER: "invalid number",
    Code.NUMBER_OVERFLOW: "number too large",
    Code.INVALID_ESCAPE: "invalid escape sequence",
    Code.CONTROL_CHARACTER: "unescaped control character in a string",
    Code.LONE_SURROGATE: "unpaired surrogate",
    Code.INVALID_UTF8: "invalid UTF-8",
    Code.DUPLICATE_KEY: "duplicate key",
    Code.TRAILING_TEXT: "text after the end of the value",
    Code.INCOMPLETE: "the text ended too early",
    Code.MAX_DEPTH: "nested deeper than max_depth",
    Code.MAX_CHARS: "text longer than max_chars",
    Code.MAX_STRING: "string longer than max_string",
    Code.MAX_KEY: "key longer than max_key",
    Code.MAX_PATH: "keys of one path longer than max_path",
    Code.MAX_NUMBER: "number longer than max_number",
    Code.MAX_ERRORS: "more errors than max_errors",
    Code.MAX_REPAIRS: "more repairs than max_repairs",
}


class Reason(StrEnum):
    """The reasons why a snapshot contradicts the written text. The set is closed, so programs can match on it."""

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


A_VALUE = "a value"  # the expected text where only a value may begin

# What to do next, for errors that an option takes away.
HINT_AFTER_THE_VALUE = (
    "Options(multiple=True) reads several values, Options(trailing='ignore') reads the first one, "
    "and extract=True finds JSON in other text"
)
HINT_BEFORE_THE_VALUE = "extract=True finds JSON in other text"

REASONS: dict[Reason, str] = {
    Reason.NOT_JSON: "not a JSON value",
    Reason.LIMIT: "exceeds a limit of the options",
    Reason.REWRITTEN: "a string differs from the written text",
    Reason.SHRUNK: "a string is shorter than the written text",
    Reason.VANISHED: "a written key has disappeared",
    Reason.CHANGED: "a written number or boolean has changed",
    Reason.CHANGED_KIND: "a written value has changed its type",
    Reason.GREW_LATE: "a value grew after it was complete",
    Reason.SHORTER: "an array has fewer items than were written",
    Reason.OUT_OF_ORDER: "this place cannot be written at this point",
}


class Position(Coordinates):
    """A position in the text. `offset` counts characters from 0; `line` and `column` count from 1."""

    __slots__ = ()


def shown_path(path: Path) -> str:
    """Return a path as messages show it: shortened if it is long."""
    text = str(path)
    return text if len(text) <= MAX_PATH_SHOWN else text[: MAX_PATH_SHOWN - 3] + "..."


class UnspoolError(Exception):
    """The base class of all errors that the library raises. Its message is one line of printable characters."""

    def __str__(self) -> str:
        return printable(self._message())

    def _message(self) -> str:
        return super().__str__()


class JSONSyntaxError(UnspoolError, ValueError):
    """The text is not valid JSON. The position is that of the first character that makes the text invalid."""

    def __init__(self, code: Code, position: Position, path: Path, expected: str = "") -> None:
        super().__init__(code, position, path, expected)
        self.code = code
        self.offset, self.line, self.column = position
        self.path = path
        self.expected = expected

    @property
    def position(self) -> Position:
        """The offset, line and column of the error."""
        return Position(self.offset, self.line, self.column)

    def _message(self) -> str:
        place = f"line {self.line}, column {self.column} (offset {self.offset}), in {shown_path(self.path)}"
        expected = f"; expected {self.expected}" if self.expected else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self._sentence()}: {place}{expected}{hint}"

    @property
    def hint(self) -> str:
        """What to do next, if an option of a parser may help; otherwise empty. The message ends with it."""
        if self.code == Code.TRAILING_TEXT:
            return HINT_AFTER_THE_VALUE
        if self.code == Code.UNEXPECTED_CHARACTER and self.expected == A_VALUE and self.path.parent is None:
            return HINT_BEFORE_THE_VALUE
        return ""

    def _sentence(self) -> str:
        return SENTENCES[self.code]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((self.code, self.offset))


class IncompleteJSONError(JSONSyntaxError):
    """The text ended before the value was complete. More text could have completed it."""


class LimitError(JSONSyntaxError):
    """The text exceeds one of the limits of `Options`. No further text can change that.

    `code` names the limit, such as ``max_depth``, and `limit` is its value. An integer that is too long for Python
    itself has the code ``max_number`` as well; then `limit` is that of `sys.set_int_max_str_digits`.
    """

    def __init__(self, code: Code, position: Position, path: Path, expected: str = "", limit: int = 0) -> None:
        super().__init__(code, position, path, expected)
        self.args = (code, position, path, expected, limit)
        self.limit = limit

    def _sentence(self) -> str:
        return SENTENCES[self.code] if self.expected else f"{SENTENCES[self.code]}={self.limit}"


class OptionsError(UnspoolError, ValueError):
    """An invalid option."""


class PatchError(UnspoolError, ValueError):
    """An operation that is invalid or does not fit the document. The document stays unchanged.

    `index` is the index of the operation in the patch, and `pointer` the place that does not fit. `index` is None if
    the patch is not a list, and `pointer` is None if the operation names no place.
    """

    def __init__(self, reason: str, index: int | None = None, pointer: str | None = None) -> None:
        super().__init__(reason, index, pointer)
        self.reason = reason
        self.index = index
        self.pointer = pointer

    def _message(self) -> str:
        if self.index is None:
            return self.reason
        if self.pointer is None:
            return f"{self.reason}: operation {self.index}"
        pointer = repr(self.pointer)
        if len(pointer) > MAX_PATH_SHOWN:
            pointer = pointer[: MAX_PATH_SHOWN - 3] + "..."
        return f"{self.reason}: operation {self.index}, at {pointer}"


class PatternError(UnspoolError, ValueError):
    """An invalid path or path pattern, or a pattern that needs values which a stream does not have yet."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset

    def _message(self) -> str:
        return f"{self.reason}, at offset {self.offset}"


class SnapshotError(UnspoolError, ValueError):
    """A snapshot that contradicts the written text, or is not JSON. The chunker stays as it was before.

    `step` counts the snapshots from 1; rejected snapshots do not count. If the text of a snapshot is invalid, its
    `JSONSyntaxError` is the cause of this error.
    """

    def __init__(self, path: Path, reason: Reason, step: int) -> None:
        super().__init__(path, reason, step)
        self.path = path
        self.reason = reason
        self.step = step

    def _message(self) -> str:
        return f"{REASONS[self.reason]}: {shown_path(self.path)}, in snapshot {self.step}"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((self.reason, self.step))


class StateError(UnspoolError, RuntimeError):
    """A call at the wrong time, such as feeding a closed parser, or an invalid state dump."""


for _error in (
    UnspoolError,
    JSONSyntaxError,
    IncompleteJSONError,
    LimitError,
    OptionsError,
    PatchError,
    PatternError,
    SnapshotError,
    StateError,
):
    _error.__module__ = "unspool"  # tracebacks and pickles use the public name
del _error
