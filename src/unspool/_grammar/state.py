"""What a reader remembers between two characters, and how it says that one of them is wrong.

All of it is small, or shared and never changed for those who hold it. So a reader is copied by copying its
fields, whatever the depth and the length of what it has read: that is what makes a pure parser cheap.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._errors import Code, IncompleteJSONError, JSONSyntaxError, LimitError, Position
from .._path import ROOT, Path
from .._sharing import appended
from .frames import Frame, Keys, path_of
from .modes import (
    BETWEEN,
    END,
    EXPECTED,
    EXPECTED_INSTEAD,
    FAILED,
    IGNORE,
    KEY_STRING,
    LITERAL,
    NUMBER,
    SKIP,
    SKIP_LINE,
    SKIP_STRING,
    STRING,
    VALUE_OR_CLOSE,
)
from .scan import REFUSE
from .sink import EventList

if TYPE_CHECKING:
    from .._native import i64
    from .dialect import Dialect
    from .sink import Sink

LIMIT_CODES: Final = frozenset([code for code in Code if code.value.startswith("max_")])

NO_PIECES: Final[list[str]] = []  # never changed: the first piece makes a list of its own


class ReaderState:
    """The fields of a reader."""

    __slots__ = (
        "_after",
        "_base",
        "_carry",
        "_count",
        "_depth",
        "_frame",
        "_is_shared",
        "_key",
        "_keys",
        "_length",
        "_line",
        "_line_start",
        "_nested",
        "_next_id",
        "_piece_count",
        "_pieces",
        "_untold",
        "_word",
        "dialect",
        "error",
        "error_count",
        "mode",
        "offset",
    )

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.mode: i64 = dialect.first_mode
        self.error: JSONSyntaxError | None = None  # the first one
        self.error_count: i64 = 0
        self.offset: i64 = 0  # characters read, the carried ones included
        self._line: i64 = 1
        self._line_start: i64 = 0  # the offset at which the line starts
        # Where we are.
        self._frame: Frame | None = None  # the innermost open container
        self._depth: i64 = 0
        self._count: i64 = 0  # values that it has; at the root, values that have closed
        self._key: str | None = None  # of the member being read; None in an array
        self._keys: Keys | None = None  # of the innermost object, where they must differ
        self._after: i64 = dialect.after_root  # the mode after a value
        self._next_id: i64 = 0
        # The token in hand, if a fragment cut it.
        self._pieces = NO_PIECES  # the first _piece_count of them are ours
        self._is_shared = False  # others may know the list too
        self._piece_count: i64 = 0
        self._length: i64 = 0  # characters so far
        self._carry = ""  # half an escape
        self._untold: i64 = 0  # the offset of the first character of a string that the sink does not know
        self._word = ""  # which literal
        # Within a call, and while skipping.
        self._base: i64 = 0  # the offset of the first character of the text in hand
        self._nested: i64 = 0  # brackets opened since the error

    def copy_to(self, other: ReaderState) -> None:
        """Make `other` a reader that goes on from here on its own."""
        other.mode = self.mode
        other.error = self.error
        other.error_count = self.error_count
        other.offset = self.offset
        other._line = self._line
        other._line_start = self._line_start
        other._frame = self._frame
        other._depth = self._depth
        other._count = self._count
        other._key = self._key
        other._keys = self._keys
        other._after = self._after
        other._next_id = self._next_id
        other._pieces = self._pieces
        other._is_shared = self._is_shared = True
        other._piece_count = self._piece_count
        other._length = self._length
        other._carry = self._carry
        other._untold = self._untold
        other._word = self._word
        other._nested = self._nested

    @property
    def is_complete(self) -> bool:
        """The root value is closed, and nothing is in flight."""
        mode = self.mode
        is_between = mode == END or mode == BETWEEN or mode == IGNORE or mode == SKIP_LINE
        return is_between and self._count > 0

    @property
    def root_count(self) -> int:
        """How many values have closed at the root."""
        frame = self._frame
        if frame is None:
            return self._count
        while frame.parent is not None:
            frame = frame.parent
        return frame.outer_count - 1

    @property
    def is_failed(self) -> bool:
        """An error ended the reading."""
        return self.mode == FAILED

    @property
    def is_stopped(self) -> bool:
        """Nothing is read any more."""
        return self.mode == FAILED or self.mode == IGNORE

    @property
    def takes_any_text(self) -> bool:
        """Inside a string or a key, not inside an escape: the only place for characters that are not ASCII."""
        if self.mode != STRING and self.mode != KEY_STRING:
            return False
        return not self._carry or (len(self._carry) == 6 and self.dialect.surrogates != REFUSE)

    @property
    def line(self) -> int:
        return self._line

    @property
    def column(self) -> int:
        return self.offset - self._line_start + 1

    @property
    def path(self) -> Path:
        """Of the value that is being read or expected; between values, of the container."""
        container = path_of(self._frame)
        if container is None:
            return ROOT
        mode = self.mode
        if mode <= VALUE_OR_CLOSE or mode == STRING or mode == LITERAL or mode >= NUMBER:
            return Path(container, self._step())
        return container

    def _step(self) -> str | int:
        key = self._key
        if key is None:
            return self._count
        return key

    def resume_events(self) -> EventList:
        """A sink that makes events as if it had heard everything so far."""
        if self.mode == STRING:
            return EventList(path_of(self._frame), self.path, self._next_id - 1)
        return EventList(path_of(self._frame))

    def _count_lines(self, text: str, start: i64, end: i64) -> None:
        last = text.rfind("\n", start, end)
        if last >= 0:
            self._line += text.count("\n", start, end)
            self._line_start = self._base + last + 1

    # The token in hand.

    def text(self) -> str:
        """Of the string that is open, what is known."""
        size = self._piece_count
        pieces = self._pieces
        if size == 0:
            return ""
        if size == 1:
            return pieces[0]
        return "".join(pieces if len(pieces) == size else pieces[:size])

    @property
    def length(self) -> int:
        """Of the token in hand, in characters."""
        return self._length

    def compact(self, text: str) -> None:
        """Go on with `text` if it is all that is known, so that nobody puts the same pieces together twice."""
        if self._piece_count > 1 and len(text) == self._length:
            self._pieces = [text]
            self._piece_count = 1
            self._is_shared = False

    def _start_token(self, mode: i64, offset: i64) -> None:
        self.mode = mode
        self._untold = offset
        self._length = 0
        self._piece_count = 0

    def _keep(self, piece: str) -> None:
        size = self._piece_count
        if size > 0 and not self._is_shared:
            self._pieces.append(piece)
        elif size > 0:
            self._pieces = appended(self._pieces, size, piece)
        else:
            self._pieces = [piece]
            self._is_shared = False
        self._piece_count = size + 1

    def _token(self, last: str) -> str:
        if self._piece_count == 0:
            return last
        if last:
            self._keep(last)
        return self.text()

    # Errors.

    def fail(self, code: Code, sink: Sink) -> None:
        """What comes next is broken before it became text: bytes that are no characters."""
        self._base = self.offset - len(self._carry)
        at: i64 = len(self._carry)
        self._carry = ""
        self._fail(code, at, sink)

    def _fail(self, code: Code, at: i64, sink: Sink) -> i64:
        """Tell that text[at] is wrong. Then nothing more is read, or reading goes on with `at`, skipping."""
        offset = self._base + at
        position = Position(offset, self._line, offset - self._line_start + 1)
        frame = self._frame
        mode = self.mode
        error: JSONSyntaxError
        if self.error_count == self.dialect.max_errors and self.dialect.skips_errors and code not in LIMIT_CODES:
            code = Code.MAX_ERRORS
        self.error_count += 1
        if code in LIMIT_CODES:
            error = LimitError(code, position, self.path)
        elif code == Code.INCOMPLETE:
            error = IncompleteJSONError(code, position, self.path, EXPECTED[mode])
        else:
            error = JSONSyntaxError(code, position, self.path, EXPECTED_INSTEAD.get(code) or EXPECTED[mode])
        if self.error is None:
            self.error = error
        self.offset = offset
        self._carry = ""
        self._nested = 0
        if not self.dialect.skips_errors or code in LIMIT_CODES or code == Code.INCOMPLETE:
            self.mode = FAILED
        elif mode == END:
            self.mode = IGNORE
        elif frame is None and not self.dialect.multiple:
            self.mode = FAILED
        elif frame is None:
            self.mode = SKIP_LINE
        else:
            self.mode = SKIP_STRING if mode == STRING or mode == KEY_STRING else SKIP
        node_id = self._next_id - 1 if mode == STRING else -1 if frame is None else frame.node_id
        sink.error(error, node_id, self.mode != FAILED)
        return at
