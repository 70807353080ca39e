"""THE grammar: RFC 8259, one character after another, in one class.

The machine on one screen. A mode says what may come next; white space may come in the modes above the line::

    mode              comes next                 leads to
    ----              ----------                 --------
    VALUE             a value                    STRING, NUMBER.., LITERAL; { KEY_OR_CLOSE; [ VALUE_OR_CLOSE
    VALUE_OR_CLOSE    a value or ]               the same; ] closes
    KEY               "                          KEY_STRING
    KEY_OR_CLOSE      " or }                     KEY_STRING; } closes
    COLON             :                          VALUE
    AFTER_ITEM        , or ]                     VALUE; ] closes
    AFTER_MEMBER      , or }                     KEY; } closes
    BETWEEN           a value or the end         as VALUE (several values are allowed, or none has come)
    END               the end
    LINE_END          the end of the line        BETWEEN (one value per line)
    AFTER_WRONG       , or a closing bracket     KEY_OR_VALUE; the bracket closes (behind a wrong bracket)
    KEY_OR_VALUE      " or another value         KEY_OR_STRING; as VALUE
    AFTER_EITHER      : or what follows a value  VALUE; AFTER_ITEM
    ------------------------------------------------------------------------------------------------------
    STRING            text, an escape, "         the mode after a value
    KEY_STRING        text, an escape, "         COLON
    KEY_OR_STRING     text, an escape, "         AFTER_EITHER
    LITERAL           the rest of the word       LITERAL_END
    LITERAL_END       the end of the word        the mode after a value, with the character that ends it
    NUMBER.. (scan)   the rest of the number     the mode after a value, with the character that ends it
    SKIP..            anything                   a , ] or } of the container that has the error, or a new line
    IGNORE, FAILED    the reader reads nothing any more

After a value comes AFTER_ITEM, AFTER_MEMBER, or at the root BETWEEN, END, LINE_END or IGNORE. Numbers and literals are
atoms: an atom ends before white space, a comma, a closing bracket or the end of the text, and nowhere else.

A wrong bracket is an error, and what comes after it tells what the bracket closed. See `_settle`.

A fragment may end anywhere. A number, a literal or a key goes on in its mode, and its pieces wait in the reader. The
text of a string value goes to the sink piece by piece. The reader carries half an escape, or the first half of a
surrogate pair, over to the next fragment and reads it again: at most 11 characters. A half counts as one character of
the text, wherever it was cut off.

The file reads from top to bottom: the modes and their words, the options as numbers, the stack, the reader.
"""

# Compiled with mypyc.
from __future__ import annotations

import sys

from .._dumps import check, check_position, is_encodable, natural
from .._dumps import text as checked_text
from .._errors import A_VALUE, Code, IncompleteJSONError, JSONSyntaxError, LimitError, Position, StateError
from .._native import TYPE_CHECKING, final, mypyc_attr
from .._options import LINES
from .._path import ROOT, Path
from .._sharing import appended
from .scan import (
    EXPONENT,
    EXPONENT_MARK,
    EXPONENT_SIGN,
    FRACTION,
    HELD,
    INTEGER,
    INVALID,
    KEEP,
    MINUS,
    NUMBER,
    POINT,
    REFUSE,
    REPLACE,
    ZERO,
    ends_atom,
    has_marks,
    is_whole_number,
    number_run,
    number_value,
    overflow_at,
    read_escape,
    space_run,
    string_run,
)
from .sink import EventList

if TYPE_CHECKING:
    from typing import Any, Final, Literal, TypeAlias

    from .._native import i64
    from .._options import Options
    from .._path import Step
    from .sink import Sink

    Mode: TypeAlias = Literal[
        "value",
        "value_or_close",
        "key",
        "key_or_close",
        "colon",
        "after_item",
        "after_member",
        "between",
        "end",
        "string",
        "key_string",
        "literal",
        "number",
        "skip",
        "ignore",
        "failed",
    ]

VALUE: Final = 0
VALUE_OR_CLOSE: Final = 1
KEY: Final = 2
KEY_OR_CLOSE: Final = 3
COLON: Final = 4
AFTER_ITEM: Final = 5
AFTER_MEMBER: Final = 6
BETWEEN: Final = 7
END: Final = 8
LINE_END: Final = 9
AFTER_WRONG: Final = 10
KEY_OR_VALUE: Final = 11
AFTER_EITHER: Final = 12
LAST_WITH_SPACE: Final = AFTER_EITHER
STRING: Final = 13
KEY_STRING: Final = 14
KEY_OR_STRING: Final = 15
LITERAL: Final = 16
LITERAL_END: Final = 17
SKIP: Final = 18
SKIP_STRING: Final = 19
SKIP_ESCAPE: Final = 20
SKIP_LINE: Final = 21
IGNORE: Final = 22
FAILED: Final = 23

EXPECTED: Final[dict[int, str]] = {
    VALUE: A_VALUE,
    VALUE_OR_CLOSE: "a value or ']'",
    KEY: "a key in double quotes",
    KEY_OR_CLOSE: "a key in double quotes or '}'",
    COLON: "':'",
    AFTER_ITEM: "',' or ']'",
    AFTER_MEMBER: "',' or '}'",
    BETWEEN: "a value or the end of the text",
    END: "the end of the text",
    LINE_END: "the end of the line",
    AFTER_WRONG: "',' or a closing bracket",
    KEY_OR_VALUE: "a key or a value",
    AFTER_EITHER: "':', ',' or a closing bracket",
    STRING: "the rest of the string",
    KEY_STRING: "the rest of the key",
    KEY_OR_STRING: "the rest of the key or string",
    LITERAL: "the rest of true, false or null",
    LITERAL_END: "the end of true, false or null",
    MINUS: "a digit",
    ZERO: "the end of the number, '.' or 'e'",
    INTEGER: "the rest or the end of the number",
    POINT: "a digit",
    FRACTION: "the rest or the end of the number",
    EXPONENT_MARK: "a digit or a sign",
    EXPONENT_SIGN: "a digit",
    EXPONENT: "the rest or the end of the number",
    SKIP: "',' or the end of the container after an error",
    SKIP_STRING: "the end of the string after an error",
    SKIP_ESCAPE: "the end of the string after an error",
    SKIP_LINE: "the end of the line after an error",
    IGNORE: "anything; it is ignored",
    FAILED: "nothing",
}
"""The words for each mode: error messages, the docs and `ParserState.expecting` all use them."""

EXPECTED_INSTEAD: Final[dict[Code, str]] = {
    Code.INVALID_ESCAPE: 'one of \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hex digits',
    Code.CONTROL_CHARACTER: "an escape such as \\n or \\u0000",
    Code.LONE_SURROGATE: "both halves of the pair, one after the other",
    Code.INVALID_UTF8: "well-formed UTF-8",
    Code.NUMBER_OVERFLOW: "a number within the range of a float or, with Options(floats='decimal'), of a Decimal",
    Code.DUPLICATE_KEY: "each key once",
}
"""The words for errors that the mode does not explain."""

NAMES: Final[dict[int, str]] = {
    mode: name
    for name, mode in tuple(globals().items())
    if type(mode) is int and mode in EXPECTED and name not in ("LAST_WITH_SPACE", "REFUSE", "KEEP", "REPLACE")
}
"""The name of each mode, for dumps."""

MODE_WORDS: Final[dict[int, Mode]] = {
    VALUE: "value",
    VALUE_OR_CLOSE: "value_or_close",
    KEY: "key",
    KEY_OR_CLOSE: "key_or_close",
    COLON: "colon",
    AFTER_ITEM: "after_item",
    AFTER_MEMBER: "after_member",
    BETWEEN: "between",
    END: "end",
    LINE_END: "end",
    AFTER_WRONG: "skip",
    KEY_OR_VALUE: "skip",
    AFTER_EITHER: "skip",
    STRING: "string",
    KEY_STRING: "key_string",
    KEY_OR_STRING: "skip",
    LITERAL: "literal",
    LITERAL_END: "literal",
    SKIP: "skip",
    SKIP_STRING: "skip",
    SKIP_ESCAPE: "skip",
    SKIP_LINE: "skip",
    IGNORE: "ignore",
    FAILED: "failed",
    **dict.fromkeys((MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT_MARK, EXPONENT_SIGN, EXPONENT), "number"),
}
"""The word for each mode that users see: `ParserState.mode`."""

MODES: Final[dict[str, int]] = {name: mode for mode, name in NAMES.items()}

PYTHON_LIMIT: Final = "an integer of at most {} digits (sys.set_int_max_str_digits)"
LIMIT_CODES: Final = frozenset([code for code in Code if code.value.startswith("max_")])

WITH_KEY: Final = frozenset([VALUE, COLON, STRING, LITERAL, LITERAL_END])  # and numbers: the key is known
UNSETTLED: Final = frozenset([AFTER_WRONG, KEY_OR_VALUE, KEY_OR_STRING, AFTER_EITHER])
SKIPPING: Final = frozenset([SKIP, SKIP_STRING, SKIP_ESCAPE, SKIP_LINE])
IN_ARRAY: Final = frozenset([VALUE_OR_CLOSE, AFTER_ITEM])
IN_OBJECT: Final = frozenset([KEY, KEY_OR_CLOSE, COLON, AFTER_MEMBER, KEY_STRING])
AFTER_ROOT: Final = frozenset([IGNORE, FAILED])
AT_ROOT: Final = frozenset([BETWEEN, END, LINE_END, IGNORE, SKIP_LINE])
BEFORE_LINE_END: Final = frozenset([BETWEEN, LINE_END, SKIP_LINE])
LITERALS: Final = ("true", "false", "null")

# A number that is still growing is watched for overflow while it is shorter than this: beyond it, converting the number
# for each fragment would cost more than the early error is worth. It is checked when it ends in any case.
OVERFLOW_HORIZON: Final = 1000


UNLIMITED: Final = 1 << 60  # far beyond any text, and far below the end of machine integers
SURROGATES: Final = {"replace": REPLACE, "error": REFUSE, "keep": KEEP}


@final
class Dialect:
    """`Options` as numbers and flags, which the reader can test at no cost. Forks share it."""

    __slots__ = (
        "after_root",
        "closes_truncated",
        "decimals",
        "first_mode",
        "lines",
        "max_chars",
        "max_depth",
        "max_errors",
        "max_key",
        "max_number",
        "max_path",
        "max_repairs",
        "max_string",
        "mends",
        "multiple",
        "options",
        "repairs",
        "skips_errors",
        "surrogates",
        "trailing_commas",
        "unique_keys",
    )

    def __init__(self, options: Options) -> None:
        self.options = options
        self.max_depth: i64 = _limit(options.max_depth)
        self.max_chars: i64 = _limit(options.max_chars)
        self.max_string: i64 = _limit(options.max_string)
        self.max_key: i64 = _limit(options.max_key)
        self.max_path: i64 = _limit(options.max_path)
        self.max_number: i64 = _limit(options.max_number)
        self.max_errors: i64 = _limit(options.max_errors)
        self.max_repairs: i64 = _limit(options.max_repairs)
        self.surrogates: i64 = SURROGATES[options.surrogates]
        self.decimals = options.floats == "decimal"
        self.trailing_commas = options.trailing_commas or options.repair != "none"  # the repairer logs them
        self.closes_truncated = options.truncated == "close"
        self.mends = options.repair != "none"
        self.repairs = self.mends or self.closes_truncated
        self.unique_keys = options.duplicate_keys == "error"
        self.skips_errors = options.on_error == "skip"
        self.multiple = options.multiple is not False
        self.lines = options.multiple == LINES
        self.first_mode: i64 = BETWEEN if self.multiple else VALUE
        ignores = options.trailing == "ignore"
        self.after_root: i64 = IGNORE if ignores else END
        if self.multiple:
            self.after_root = BETWEEN if not self.lines else SKIP_LINE if ignores else LINE_END

    def stops_at(self, code: Code) -> bool:
        """Return whether an error with this code ends the reading wherever it is."""
        return not self.skips_errors or code in LIMIT_CODES or (code == Code.INCOMPLETE and not self.lines)


def _limit(limit: int | None) -> int:
    return UNLIMITED if limit is None else min(limit, UNLIMITED)


@final
@mypyc_attr(free_list_len=1)
class Frame:
    """One open container, and how far its parent was. A linked list that never changes, so that forks share it."""

    __slots__ = ("is_mixed", "is_object", "node_id", "outer_count", "outer_keys", "parent", "step")

    def __init__(
        self,
        parent: Frame | None,
        step: Step,
        is_object: bool,
        node_id: i64,
        outer_count: i64,
        outer_keys: Keys | None,
    ) -> None:
        self.parent = parent
        self.step = step
        self.is_object = is_object
        self.is_mixed: bool = parent is not None and (
            parent.is_mixed or parent.is_object != is_object
        )  # arrays and objects
        self.node_id: i64 = node_id
        self.outer_count: i64 = outer_count
        self.outer_keys = outer_keys


def path_of(frame: Frame | None) -> Path | None:
    """Return the path of an open container, or None without one."""
    if frame is None:
        return None
    steps: list[Step] = []
    while frame.parent is not None:
        steps.append(frame.step)
        frame = frame.parent
    path = ROOT
    for step in reversed(steps):
        path = Path(path, step)
    return path


@final
class Keys:
    """The keys of an open object, for readers that refuse duplicates.

    Forked readers share this object. Each knows how many keys are its own: the first `size` of `names`, which never
    change. Further names belong to another fork.
    """

    __slots__ = ("names", "places")

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.places: dict[str, int] = {name: place for place, name in enumerate(names)}

    def has(self, key: str, size: i64) -> bool:
        """Tell whether `key` is among the first `size` names."""
        place = self.places.get(key)
        return place is not None and place < size

    def add(self, key: str, size: i64) -> Keys:
        """Return the keys of a reader that adds one to its `size` keys: this object, or a copy if a fork was first."""
        names = appended(self.names, size, key)
        if names is not self.names:
            return Keys(names)
        self.places[key] = size
        return self


NO_PIECES: Final[list[str]] = []  # never changed: the first piece makes a list of its own


@final
@mypyc_attr(free_list_len=1)
class Reader:
    """The machine: it reads text and calls a sink.

    All of its fields are small, or shared and immutable. So `fork` copies a reader in constant time, whatever the depth
    and the length of the text that it has read.
    """

    __slots__ = (
        "_after",
        "_base",
        "_carry",
        "_count",
        "_depth",
        "_frame",
        "_is_shared",
        "_key",
        "_key_room",
        "_keys",
        "_length",
        "_line",
        "_line_start",
        "_nested",
        "_next_id",
        "_path_room",
        "_piece_count",
        "_pieces",
        "_registered",
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
        # The place in the document.
        self._frame: Frame | None = None  # the innermost open container
        self._depth: i64 = 0
        self._count: i64 = 0  # values that it has; at the root, values that have closed
        self._key: str | None = None  # of the member that is being read; None in an array
        self._keys: Keys | None = None  # of the innermost object, if they must differ
        self._registered: i64 = 0  # how many of its members have their key in there: all, or all but the last
        self._after: i64 = dialect.after_root  # the mode after a value
        self._path_room: i64 = dialect.max_path  # characters that the keys of the open containers leave for more keys
        self._key_room: i64 = min(dialect.max_key, dialect.max_path)  # characters that the next key can have
        self._next_id: i64 = 0
        # The token that a fragment cut.
        self._pieces = NO_PIECES  # of a key or a number; the first _piece_count of them are ours
        self._is_shared = False  # forks may know the list too
        self._piece_count: i64 = 0
        self._length: i64 = 0  # characters so far, decoded
        self._carry = ""  # half an escape, or half a surrogate pair
        self._untold: i64 = 0  # the offset of the first character of a string that the sink does not know
        self._word = ""  # which literal; in AFTER_EITHER, the key or string
        # Within a call, and while skipping.
        self._base: i64 = 0  # the offset of the first character of the current text
        self._nested: i64 = 0  # brackets opened since the error

    def fork(self) -> Reader:
        """Return a reader that goes on from here on its own."""
        other = Reader(self.dialect)
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
        other._registered = self._registered
        other._after = self._after
        other._path_room = self._path_room
        other._key_room = self._key_room
        other._next_id = self._next_id
        other._pieces = self._pieces
        other._is_shared = self._is_shared = True
        other._piece_count = self._piece_count
        other._length = self._length
        other._carry = self._carry
        other._untold = self._untold
        other._word = self._word
        other._nested = self._nested
        return other

    # ---- What the reader knows --------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """The root value is closed, and no token is in flight."""
        mode = self.mode
        is_between = mode == END or mode == BETWEEN or mode == LINE_END or mode == IGNORE or mode == SKIP_LINE
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
    def is_over(self) -> bool:
        """The reader reads nothing any more: after an error, or behind a value whose trailing text is ignored."""
        return self.mode == FAILED or self.mode == IGNORE

    @property
    def takes_any_text(self) -> bool:
        """Inside a string or a key, and not inside an escape: the only place for characters beyond ASCII."""
        if self.mode < STRING or self.mode > KEY_OR_STRING:
            return False
        carry = self._carry
        is_whole_half = len(carry) == (6 if carry[:1] == "\\" else 1)
        return not carry or (is_whole_half and self.dialect.surrogates != REFUSE)

    @property
    def expecting(self) -> str:
        """A description of the text that may come next."""
        return EXPECTED[self.mode]

    @property
    def next_id(self) -> int:
        """The id of the next node."""
        return self._next_id

    @property
    def line(self) -> int:
        """The line of the next character, from 1."""
        return self._line

    @property
    def column(self) -> int:
        """The column of the next character, from 1."""
        return self.offset - self._line_start + 1

    @property
    def path(self) -> Path:
        """The path of the value that is being read or expected; between values, of the container."""
        container = path_of(self._frame)
        if container is None:
            return ROOT
        return Path(container, self._step()) if self.is_in_value else container

    @property
    def is_in_value(self) -> bool:
        """A value is being read or expected, whose place is known."""
        mode = self.mode
        return mode <= VALUE_OR_CLOSE or mode == STRING or mode == LITERAL or mode == LITERAL_END or mode >= NUMBER

    @property
    def container_path(self) -> Path:
        """The path of the innermost open container."""
        container = path_of(self._frame)
        return ROOT if container is None else container

    def _step(self) -> str | int:
        key = self._key
        if key is None:
            return self._count
        return key

    def resume_events(self, string_text: str) -> EventList:
        """Return a sink that makes events as if it had seen everything so far; `string_text` is the open string."""
        if self.mode == STRING:
            return EventList(path_of(self._frame), self.path, self._next_id - 1, string_text)
        return EventList(path_of(self._frame))

    # ---- Reading ----------------------------------------------------------------------------------------

    def feed(self, text: str, sink: Sink) -> None:
        """Read one fragment."""
        base = self.offset
        end: i64 = len(text)
        if self._carry:
            base -= len(self._carry)
            text = self._carry + text
            end = len(text)
            self._carry = ""
        elif self.mode == STRING:
            dialect = self.dialect
            if (
                0 < end <= dialect.max_string - self._length and end <= dialect.max_chars - base and not has_marks(text)
            ):  # nothing but text: by far the most common case for small fragments
                sink.grow_string(text, base)
                self._length += end
                self._untold = self.offset = base + end
                return
        if self.mode == IGNORE or self.mode == FAILED or end == 0:
            return
        self._base = base
        room = self.dialect.max_chars - base
        if end > room:
            self._read(text, room, sink)
            if self.mode != IGNORE and self.mode != FAILED:
                self._fail(Code.MAX_CHARS, room, sink)
        else:
            self._read(text, end, sink)

    def skip(self, text: str, sink: Sink) -> None:
        """Pass over text that is not JSON: only its characters and lines count."""
        if self.mode == IGNORE or self.mode == FAILED:
            return
        self._base = self.offset
        end: i64 = len(text)
        room = self.dialect.max_chars - self.offset
        if end > room:
            self._count_lines(text, 0, room)
            self._fail(Code.MAX_CHARS, room, sink)
        else:
            self._count_lines(text, 0, end)
            self.offset += end

    def end_line(self, is_counted: bool, sink: Sink) -> None:
        """Read the character that ends a line and its document; a line feed is counted as the end of a line."""
        if self.offset == self.dialect.max_chars and self.mode != FAILED:
            self._base = self.offset
            self._fail(Code.MAX_CHARS, 0, sink)
        self.finish(sink)
        if self.mode == FAILED:
            return
        self.mode = BETWEEN
        self.offset += 1
        if is_counted:
            self._line += 1
            self._line_start = self.offset

    def feed_as(self, source: str, target: str, sink: Sink) -> None:
        """Read `target` where the text has `source`: offsets and lines are those of the source.

        Character k of the target lies at character k of the source, or at its last one. The source may be empty. The
        caller keeps the source within `max_chars`.
        """
        start = self.offset
        size: i64 = len(source)
        last = start + size - 1 if size > 0 else start
        if self._carry or target[:1] == "\\":
            self._base = start - len(self._carry)
            text = self._carry + target
            self._carry = ""
            self._read(text, len(text), sink)
        else:
            base = start
            for character in target:
                self._base = base
                self._read(character, 1, sink)
                base = min(base + 1, last)
        if self.mode == FAILED:
            return
        self._base = start
        self._count_lines(source, 0, size)
        self.offset = start + size
        if not self._carry:
            self._untold = self.offset

    def close_all(self, sink: Sink) -> None:
        """Close what is open, as if the brackets and the quote stood here. Text that is not a value is dropped."""
        self._base = self.offset
        self._carry = ""
        mode = self.mode
        if mode == STRING:
            self._end_string("", 0, sink)
        elif mode == LITERAL or mode == LITERAL_END:
            self._end_literal(0, sink)
        elif mode >= NUMBER:
            raw = self._token("").rstrip("+-.eE")
            self.mode = VALUE
            if raw:
                _, self.mode = number_run(raw, 0, len(raw), NUMBER)
                self._end_number(raw, 0, len(raw), 0, sink)
        while self._frame is not None and self.mode != FAILED:
            self._close(0, sink)

    def finish(self, sink: Sink) -> None:
        """The text has ended: an atom at the root is complete, and an open value is an error.

        If each line is a document, and errors are skipped, the open value is dropped like that of any other line.
        """
        self._base = self.offset
        if self._frame is None and is_whole_number(self.mode):
            raw = self._token("")
            self._end_number(raw, 0, len(raw), 0, sink)
        elif self._frame is None and self.mode == LITERAL_END:
            self._end_literal(0, sink)
        mode = self.mode
        if mode != END and mode != IGNORE and mode != FAILED and mode not in BEFORE_LINE_END:
            self._fail(Code.INCOMPLETE, 0, sink)
            if self.mode != FAILED:
                while self._frame is not None:
                    self._close(0, sink)

    def _read(self, text: str, end: i64, sink: Sink) -> None:
        base = self._base
        i: i64 = 0
        if STRING <= self.mode <= KEY_OR_STRING:
            i = self._string(text, i, string_run(text, i, end), end, sink)
        while i < end:  # text[i] begins a token, or comes between two
            mode = self.mode
            c: i64 = ord(text[i])
            if c <= 0x20 and mode <= LAST_WITH_SPACE:  # space
                if c == 0x20:  # space
                    run = i + 1
                else:
                    run = space_run(text, i, end)
                    self._count_lines(text, i, run)
                if run == end or (run > i and ord(text[run]) <= 0x20):  # space
                    i = run
                    continue
                i = run
                c = ord(text[i])

            if mode == KEY or mode == KEY_OR_CLOSE:
                if c == 0x22:  # "
                    run = string_run(text, i + 1, end)
                    if run < end and ord(text[run]) == 0x22 and run - i - 1 <= self._key_room:  # "
                        i = self._end_key(text[i + 1 : run], run, sink)
                        if i < end and self.mode == COLON and ord(text[i]) == 0x3A:  # :
                            self.mode = VALUE  # the usual case, without another turn of the loop
                            i += 1
                    else:
                        self._start_token(KEY_STRING, base + i + 1)
                        i = self._string(text, i + 1, run, end, sink)
                elif c == 0x7D and mode == KEY_OR_CLOSE:  # }
                    i = self._close(i, sink)
                else:
                    i = self._fail(Code.UNEXPECTED_CHARACTER, i, sink)

            elif mode == COLON:
                if c == 0x3A:  # :
                    self.mode = VALUE
                    i += 1
                else:
                    i = self._fail(Code.UNEXPECTED_CHARACTER, i, sink)

            elif mode <= VALUE_OR_CLOSE or mode == BETWEEN:
                if c == 0x22:  # "
                    run = string_run(text, i + 1, end)
                    if run < end and ord(text[run]) == 0x22 and run - i - 1 <= self.dialect.max_string:  # "
                        whole = text[i + 1 : run]
                        sink.whole_string(self._key, self._count, whole, self._next_id, base + i, base + run)
                        self._next_id += 1
                        self._count += 1
                        self.mode = self._after
                        i = run + 1
                    else:
                        self._start_token(STRING, base + i + 1)
                        sink.start_string(self._key, self._count, self._next_id, base + i)
                        self._next_id += 1
                        i = self._string(text, i + 1, run, end, sink)
                elif c == 0x7B or c == 0x5B:  # { [
                    i = self._open(c == 0x7B, i, sink)
                elif 0x30 <= c <= 0x39 or c == 0x2D:  # 0 to 9 -
                    self._start_token(NUMBER, base + i)
                    i = self._number(text, i, end, sink)
                elif c == 0x74 or c == 0x66 or c == 0x6E:  # t f n
                    self._start_token(LITERAL, base + i)
                    self._word = "true" if c == 0x74 else "false" if c == 0x66 else "null"
                    i = self._literal(text, i, end, sink)
                elif c == 0x5D and mode == VALUE_OR_CLOSE:  # ]
                    i = self._close(i, sink)
                else:
                    i = self._fail(Code.UNEXPECTED_CHARACTER, i, sink)

            elif mode == AFTER_MEMBER:
                if c == 0x2C:  # ,
                    self.mode = KEY_OR_CLOSE if self.dialect.trailing_commas else KEY
                    i += 1
                elif c == 0x7D:  # }
                    i = self._close(i, sink)
                else:
                    i = self._fail(Code.UNEXPECTED_CHARACTER, i, sink)

            elif mode == AFTER_ITEM:
                if c == 0x2C:  # ,
                    self.mode = VALUE_OR_CLOSE if self.dialect.trailing_commas else VALUE
                    i += 1
                elif c == 0x5D:  # ]
                    i = self._close(i, sink)
                else:
                    i = self._fail(Code.UNEXPECTED_CHARACTER, i, sink)

            elif mode >= NUMBER:
                i = self._number(text, i, end, sink)
            elif mode == LITERAL or mode == LITERAL_END:
                i = self._literal(text, i, end, sink)
            elif mode == END or mode == LINE_END:
                i = self._fail(Code.TRAILING_TEXT, i, sink)
            elif mode == IGNORE:
                end = i
            elif mode == FAILED:
                return
            elif mode == KEY_OR_VALUE and c == 0x22:  # "
                self._start_token(KEY_OR_STRING, base + i + 1)
                i = self._string(text, i + 1, string_run(text, i + 1, end), end, sink)
            elif mode <= LAST_WITH_SPACE:
                i = self._settle(c, i, sink)
            else:
                i = self._skip(text, i, end, sink)
        if self.mode != FAILED:
            self.offset = base + end

    # ---- Containers -------------------------------------------------------------------------------------

    def _open(self, is_object: bool, at: i64, sink: Sink) -> i64:
        if self._depth == self.dialect.max_depth:
            return self._fail(Code.MAX_DEPTH, at, sink)
        node_id = self._next_id
        sink.start_container(is_object, self._key, self._count, node_id, self._base + at)
        if self._keys is not None and self._key is not None:
            self._keys = self._keys.add(self._key, self._count)
        self._frame = Frame(self._frame, self._step(), is_object, node_id, self._count + 1, self._keys)
        self._next_id = node_id + 1
        self._depth += 1
        self._count = 0
        if self._key is not None:
            self._set_room(self._path_room - len(self._key))
            self._key = None
        self._keys = Keys([]) if is_object and self.dialect.unique_keys else None
        self._registered = 0
        self._after = AFTER_MEMBER if is_object else AFTER_ITEM
        self.mode = KEY_OR_CLOSE if is_object else VALUE_OR_CLOSE
        return at + 1

    def _close(self, at: i64, sink: Sink) -> i64:
        frame = self._frame
        assert frame is not None
        sink.end_container(frame.is_object, frame.node_id, self._base + at)
        outer = frame.parent
        self._frame = outer
        self._depth -= 1
        step = frame.step
        if isinstance(step, str):
            self._set_room(self._path_room + len(step))
        self._count = frame.outer_count
        self._key = None
        self._keys = frame.outer_keys
        self._registered = self._count
        self._after = self.dialect.after_root if outer is None else AFTER_MEMBER if outer.is_object else AFTER_ITEM
        self.mode = self._after
        return at + 1

    def _set_room(self, room: i64) -> None:
        self._path_room = room
        self._key_room = min(room, self.dialect.max_key)

    # ---- Tokens: each method reads on from text[i], and returns where it stopped --------------------------

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
        """Return the whole text of the key or number that ends with `last`."""
        if self._piece_count == 0:
            return last
        if last:
            self._keep(last)
        size = self._piece_count
        pieces = self._pieces
        return "".join(pieces if len(pieces) == size else pieces[:size])

    def _grow(self, piece: str, at: i64, sink: Sink) -> None:
        """The string or key goes on with `piece`, which reaches up to text[at]."""
        if not piece:
            return
        if self.mode == STRING:
            sink.grow_string(piece, self._untold)
        else:
            self._keep(piece)
        self._untold = self._base + at

    def _string(self, text: str, i: i64, run: i64, end: i64, sink: Sink) -> i64:
        """Read on inside a string or a key. The text from `i` to `run` has no escapes and no halves of pairs."""
        is_key = self.mode != STRING
        limit = self._key_room if is_key else self.dialect.max_string
        if run - i <= limit - self._length:  # the common cases: only text, and maybe the closing quote
            if run == end:
                self._length += run - i
                self._grow(text[i:run], run, sink)
                return end
            if ord(text[run]) == 0x22:  # "
                return self._end_string(text[i:run], run, sink)
        parts: list[str] = []
        wrong: Code | None = None
        wrong_at: i64 = 0
        while True:
            if run - i > limit - self._length:
                run = i + limit - self._length
                wrong = self._string_limit_code()
                wrong_at = run
            parts.append(text[i:run])
            self._length += run - i
            if wrong is not None or run == end:
                break
            c: i64 = ord(text[run])
            if c == 0x22:  # "
                return self._end_string("".join(parts), run, sink)
            wrong_at = run
            if self._length == limit:
                wrong = self._string_limit_code()
                break
            if c < 0x20:
                wrong = Code.CONTROL_CHARACTER
                break
            character, i = read_escape(text, run, end, self.dialect.surrogates)
            if character == HELD:
                self._carry = text[run:end]
                break
            if character < 0:
                wrong = Code.INVALID_ESCAPE if character == INVALID else Code.LONE_SURROGATE
                wrong_at = i
                break
            parts.append(chr(character))
            self._length += 1
            run = string_run(text, i, end)
        self._grow("".join(parts), run, sink)
        if wrong is None:
            return end
        self._fail(wrong, wrong_at, sink)
        if self.mode == SKIP_STRING and wrong_at > run + 1 and ord(text[wrong_at - 1]) == 0x5C:  # \
            self.mode = SKIP_ESCAPE  # right behind the backslash that should have begun the second half of a pair
        return wrong_at

    def _string_limit_code(self) -> Code:
        if self.mode == STRING:
            return Code.MAX_STRING
        return Code.MAX_KEY if self._key_room == self.dialect.max_key else Code.MAX_PATH

    def _end_string(self, last: str, at: i64, sink: Sink) -> i64:
        if self.mode == KEY_STRING:
            return self._end_key(self._token(last), at, sink)
        if self.mode == KEY_OR_STRING:
            self._word = self._token(last)
            self.mode = AFTER_EITHER
            return at + 1
        if last:
            sink.grow_string(last, self._untold)
        sink.end_string(self._base + at)
        self._count += 1
        self.mode = self._after
        return at + 1

    def _end_key(self, key: str, at: i64, sink: Sink) -> i64:
        self.mode = COLON
        if self._keys is None:
            self._key = key
        elif not self._set_key(key):
            self.mode = VALUE  # the error is in the member that has this key
            self._fail(Code.DUPLICATE_KEY, at, sink)
        return at + 1

    def _set_key(self, key: str) -> bool:
        """Go on with a member that has this key, and return whether the key may come here.

        A key is registered with the next one, when its value counts: a member that an error dropped leaves no key.
        """
        keys = self._keys
        before = self._key
        self._key = key
        if keys is None:
            return True
        if self._registered < self._count and before is not None:
            keys = self._keys = keys.add(before, self._registered)
        self._registered = self._count
        return not keys.has(key, self._count)

    def _number(self, text: str, i: i64, end: i64, sink: Sink) -> i64:
        stop, self.mode = number_run(text, i, end, self.mode)
        room = self.dialect.max_number - self._length
        if stop < end and stop - i <= room:
            if not is_whole_number(self.mode) or not ends_atom(text, stop):
                return self._break_number(text[i:stop], stop, sink)
            if self._piece_count == 0:
                self._end_number(text, i, stop, stop, sink)
            else:
                raw = self._token(text[i:stop])
                self._end_number(raw, 0, len(raw), stop, sink)
            return stop
        start = i - self._length
        is_too_long = stop - i > room
        if is_too_long:
            stop = i + room
        self._keep(text[i:stop])
        if self.mode == EXPONENT and self._length < OVERFLOW_HORIZON and not self.dialect.decimals:
            overflow = overflow_at(self._token("")[:OVERFLOW_HORIZON])
            if overflow >= 0:
                self._fail(Code.NUMBER_OVERFLOW, start + overflow, sink)
                return stop
        self._length += stop - i
        if is_too_long:
            return self._fail(Code.MAX_NUMBER, stop, sink)
        return end

    def _break_number(self, last: str, at: i64, sink: Sink) -> i64:
        """The number that ends with `last` goes on with a wrong character, unless it was too large before."""
        if self.mode == EXPONENT and not self.dialect.decimals:
            raw = self._token(last)
            overflow = overflow_at(raw)
            if overflow >= 0:
                self._fail(Code.NUMBER_OVERFLOW, at - len(raw) + overflow, sink)
                return at
        return self._fail(Code.INVALID_NUMBER, at, sink)

    def _end_number(self, text: str, start: i64, end: i64, at: i64, sink: Sink) -> None:
        """The number ``text[start:end]`` ended, before the character `at` of the fragment."""
        try:
            value = number_value(text, start, end, self.mode, self.dialect.decimals)
        except ValueError:  # more digits than this interpreter converts: sys.set_int_max_str_digits
            self._fail(Code.MAX_NUMBER, at, sink, is_python_limit=True)
            return
        except ArithmeticError:
            overflow = -1 if self.dialect.decimals else overflow_at(text[start:end])
            self._fail(Code.NUMBER_OVERFLOW, at if overflow < 0 else at - (end - start) + overflow, sink)
            return
        raw = text[start:end] if sink.keeps_raw else ""
        sink.number(self._key, self._count, value, raw, self._next_id, self._base + at)
        self._next_id += 1
        self._count += 1
        self.mode = self._after

    def _literal(self, text: str, i: i64, end: i64, sink: Sink) -> i64:
        word = self._word
        size: i64 = len(word)
        known = self._length
        while known < size:
            if i == end:
                self._length = known
                return i
            if text[i] != word[known]:
                return self._fail(Code.INVALID_LITERAL, i, sink)
            i += 1
            known += 1
        if i == end or not ends_atom(text, i):
            self._length = size
            self.mode = LITERAL_END
            return i if i == end else self._fail(Code.INVALID_LITERAL, i, sink)
        self._end_literal(i, sink)
        return i

    def _end_literal(self, at: i64, sink: Sink) -> None:
        """The literal ended, before the character `at` of the fragment."""
        value = None if self._word == "null" else self._word == "true"
        sink.literal(self._key, self._count, value, self._next_id, self._base + at)
        self._next_id += 1
        self._count += 1
        self.mode = self._after

    # ---- Errors -----------------------------------------------------------------------------------------

    def fail(self, code: Code, sink: Sink) -> None:
        """Report that the next bytes are not characters, or that a stage before the reader met its limit."""
        self._base = self.offset - len(self._carry)
        at: i64 = len(self._carry)
        self._carry = ""
        self._fail(code, at, sink)

    def _fail(self, code: Code, at: i64, sink: Sink, is_python_limit: bool = False) -> i64:
        """Report that text[at] is wrong. The reader then stops, or goes on at `at` and skips."""
        offset = self._base + at
        position = Position(offset, self._line, offset - self._line_start + 1)
        frame = self._frame
        mode = self.mode
        if self.error_count == self.dialect.max_errors and self.dialect.skips_errors and code not in LIMIT_CODES:
            code = Code.MAX_ERRORS
        self.error_count += 1
        expected = EXPECTED_INSTEAD.get(code) or EXPECTED[mode]
        error = make_error(code, position, self.path, expected, self.dialect.options, is_python_limit)
        if self.error is None:
            self.error = error
        self.offset = offset
        self._carry = ""
        self._nested = 0
        if self.dialect.stops_at(code):
            self.mode = FAILED
        elif mode == END:
            self.mode = IGNORE
        elif frame is None and not self.dialect.multiple:
            self.mode = FAILED
        elif frame is None:
            self.mode = SKIP_LINE
        else:
            self.mode = SKIP_STRING if STRING <= mode <= KEY_OR_STRING else SKIP
        node_id = self._next_id - 1 if mode == STRING else -1 if frame is None else frame.node_id
        sink.error(error, node_id, self.mode != FAILED)
        return at

    def _skip(self, text: str, i: i64, end: i64, sink: Sink) -> i64:
        """After an error, pass over the rest of the broken value; strings and nesting count.

        A bracket that fits no open container is passed over, too. One that fits a container further out is a wrong one:
        it closes the innermost container, at least.
        """
        mode = self.mode
        frame = self._frame
        close: i64 = 0x7D if frame is not None and frame.is_object else 0x5D
        while i < end:
            c: i64 = ord(text[i])
            if c == 0x0A:  # LF
                self._count_lines(text, i, i + 1)
            if mode == SKIP_ESCAPE:
                mode = SKIP_STRING
            elif mode == SKIP_STRING:
                if c == 0x5C:  # \
                    mode = SKIP_ESCAPE
                elif c == 0x22:  # "
                    mode = SKIP
            elif mode == SKIP_LINE:
                if c == 0x0A:  # LF
                    self.mode = BETWEEN
                    return i + 1
            elif c == 0x22:  # "
                mode = SKIP_STRING
            elif c == 0x7B or c == 0x5B:  # { [
                self._nested += 1
            elif self._nested > 0:
                if c == 0x7D or c == 0x5D:  # } ]
                    self._nested -= 1
            elif c == 0x2C or c == close:  # ,
                self.mode = self._after
                return i
            elif (c == 0x7D or c == 0x5D) and frame is not None and frame.is_mixed:  # } ]
                i = self._close(i, sink)
                self.mode = AFTER_WRONG
                return i
            i += 1
        self.mode = mode
        return i

    def _settle(self, c: i64, at: i64, sink: Sink) -> i64:
        """Behind a wrong bracket, go on in the innermost open container in which text[at] can come.

        The wrong bracket closed the innermost container. Whether it closed more of them is open until something comes
        that fits only an object (a key), only an array (a value without a key) or one of them (a closing bracket). A
        string may be a key: the reader keeps it back until the next character tells.
        """
        mode = self.mode
        frame = self._frame
        assert frame is not None
        if mode == AFTER_EITHER:
            if c == 0x3A:  # :
                self._close_inside(True, at, sink)
                self._end_key(self._word, at, sink)
                return at
            self._close_inside(False, at, sink)
            sink.start_string(None, self._count, self._next_id, self._base + at)
            if self._word:
                sink.grow_string(self._word, self._base + at)
            sink.end_string(self._base + at)
            self._next_id += 1
            self._count += 1
            self.mode = self._after
            return at
        if (c == 0x7D or c == 0x5D) and (mode == AFTER_WRONG or self.dialect.trailing_commas):
            is_object = c == 0x7D
            if frame.is_mixed or frame.is_object == is_object:
                self._close_inside(is_object, at, sink)
                return self._close(at, sink)
        elif mode == AFTER_WRONG and c == 0x2C:  # ,
            if frame.is_mixed:
                self.mode = KEY_OR_VALUE
                return at + 1
            self.mode = self._after
            return at
        elif mode == KEY_OR_VALUE and begins_value(c):
            self._close_inside(False, at, sink)
            self.mode = VALUE
            return at
        return self._fail(Code.UNEXPECTED_CHARACTER, at, sink)

    def _close_inside(self, is_object: bool, at: i64, sink: Sink) -> None:
        """Close the open containers inside the innermost object, or inside the innermost array."""
        frame = self._frame
        while frame is not None and frame.is_object != is_object:
            self._close(at, sink)
            frame = self._frame

    def _count_lines(self, text: str, start: i64, end: i64) -> None:
        last = text.rfind("\n", start, end)
        if last >= 0:
            self._line += text.count("\n", start, end)
            self._line_start = self._base + last + 1

    # ---- Dumping and loading: the tree tells the rest -----------------------------------------------------

    def dump(self) -> dict[str, object]:
        """Return the fields that the tree does not tell, as plain JSON data."""
        mode = self.mode
        text = ""
        if mode == LITERAL or mode == LITERAL_END:
            text = self._word[: self._length]
        elif mode == AFTER_EITHER:
            text = self._word
        elif mode == KEY_STRING or mode == KEY_OR_STRING or mode >= NUMBER:
            text = self._token("")
        return {
            "mode": NAMES[mode],
            "position": [self.offset, self.line, self.column],
            "next_id": self._next_id,
            "roots": self.root_count,
            "key": self._key if mode in WITH_KEY or mode >= NUMBER else None,
            "text": text,
            "carry": dumped_carry(self._carry),
            "nested": self._nested if mode in SKIPPING else 0,
        }

    def load(self, data: dict[str, Any], sink: Sink) -> None:
        """Restore a dump. The reader reports the tree and the open string to `sink` again, as if it read them.

        `data` has the fields of `dump`, and `tree` and `string` beside them. Raises `StateError`, or one of the errors
        of taking wrong data apart, for data that `dump` cannot have written.
        """
        options = self.dialect.options
        self.mode = MODES[data["mode"]]
        offset, line, column = [natural(number) for number in data["position"]]
        check_position(offset, line, column)
        check(offset <= self.dialect.max_chars, "impossible position")
        self.offset = offset
        self._line = line
        self._line_start = offset - column + 1
        self._next_id = natural(data["next_id"])
        roots = natural(data["roots"])
        check(roots <= self._next_id <= offset, "impossible ids")

        kinds = [entry[0] for entry in data["tree"]]
        is_closed = len(kinds) > 0 and kinds.count("{") + kinds.count("[") == kinds.count("]")
        self._count = roots - is_closed  # the roots before the one in the tree
        check(self._count >= 0 and (self._count == 0 or self.dialect.multiple), "impossible number of roots")
        self._load_tree(data["tree"], sink)
        self._load_token(data, sink)
        self._nested = natural(data["nested"])
        mode = self.mode
        check(self._nested == 0 or (mode in SKIPPING and self._nested <= offset), "impossible nesting")
        self._check_room(data, roots - is_closed)

        frame = self._frame
        has_closed = is_closed and data["string"] is None
        has_errors = self.error is not None
        may_be_first = has_errors or self.dialect.repairs
        is_wrong = (
            (mode in IN_ARRAY and (frame is None or frame.is_object))
            or (mode in IN_OBJECT and (frame is None or not frame.is_object))
            or (mode in AT_ROOT and frame is not None)
            or (mode in (VALUE_OR_CLOSE, KEY_OR_CLOSE) and self._count > 0 and not self.dialect.trailing_commas)
            or (mode in (AFTER_ITEM, AFTER_MEMBER, KEY) and self._count == 0 and not may_be_first)
            or (mode in (SKIP, SKIP_STRING, SKIP_ESCAPE) and frame is None)
            or (mode in SKIPPING and not has_errors and mode != self.dialect.after_root)
            or (mode in UNSETTLED and (not has_errors or kinds[-1:] != ["]"]))
            or (mode in UNSETTLED and (frame is None or not (frame.is_mixed or mode == AFTER_WRONG)))
            or (mode in (BETWEEN, SKIP_LINE) and not options.multiple)
            or (mode in (END, LINE_END) and (not has_closed or mode != self.dialect.after_root))
            or (mode == IGNORE and (not has_closed or self.dialect.lines))
            or (mode == VALUE and frame is None and (options.multiple or has_closed))
            or (data["string"] is not None and frame is None and is_closed and not options.multiple)
            or (mode >= STRING and mode not in AFTER_ROOT and frame is None and is_closed and not options.multiple)
        )
        check(not is_wrong, "the mode does not fit the tree")

    def _load_tree(self, tree: Any, sink: Sink) -> None:
        """Report a flat tree to the sink; the reader opens and closes its own frames along with it."""
        mode = self.mode
        next_id = self._next_id
        last_id = -1
        for kind, *rest in tree:
            if kind == "]":
                check(self._frame is not None and not rest, "unbalanced tree")
                self._close(0, sink)
                continue
            node_id, key, *payload = rest
            check(last_id < natural(node_id) < next_id, "impossible ids")
            check(self._frame is not None or last_id < 0, "more than one root")
            last_id = node_id
            self._load_key(key)
            if kind in ("{", "["):
                check(not payload and self._depth < self.dialect.max_depth, "nested too deeply")
                self._next_id = node_id
                self._open(kind == "{", 0, sink)
                continue
            [value] = payload
            if kind == "s":
                check(len(self._load_text(value)) <= self.dialect.max_string, "a string over the limit")
                sink.whole_string(key, 0, value, node_id, 0, 0)
            elif kind == "n":
                sink.number(key, 0, self._load_number(checked_text(value)), value, node_id, 0)
            else:
                check(kind == "l" and (value is None or isinstance(value, bool)), "unknown kind of node")
                sink.literal(key, 0, value, node_id, 0)
            self._count += 1
        self.mode = mode
        self._next_id = next_id

    def _check_room(self, data: dict[str, Any], earlier: int) -> None:
        """Check that the text is long enough for its tokens, and has a value for each id.

        Each token is in the text, unless a repair put it in. The values without a node are those of `earlier`
        documents, and those that an error dropped.
        """
        mode = self.mode
        tree, string, key = data["tree"], data["string"], data["key"]
        nodes = len([entry for entry in tree if entry[0] != "]"]) + (0 if string is None else 1)
        lost: i64 = self._next_id - nodes
        check(earlier <= lost and (self.dialect.multiple or lost <= self.error_count), "impossible ids")
        if self.dialect.repairs:
            return
        is_shared = self.dialect.skips_errors  # one bracket, or the end of a line, can close many containers
        room = self.offset - sum([least_length(kind, rest) for kind, *rest in tree if kind != "]" or not is_shared])
        if string is not None:
            room -= least_length("s", string) - 1  # it has no closing quote yet
        else:
            room -= len(data["text"])
            if key is not None:
                room -= len(key) + (2 if mode == COLON else 3)
            if mode == KEY_STRING or mode == KEY_OR_STRING:
                room -= 1
        check(lost + len(self._carry) <= room, "more tokens than the text has room for")

    def _load_key(self, key: object) -> None:
        """The next value of the innermost container belongs to this key."""
        frame = self._frame
        check(isinstance(key, str) if frame is not None and frame.is_object else key is None, "impossible key")
        if isinstance(key, str):
            check(len(self._load_text(key)) <= self._key_room, "a key over the limit")
            check(self._set_key(key), "duplicate key")
        else:
            self._key = None

    def _load_text(self, value: object) -> str:
        """Return the text of a string or a key, which has halves of surrogate pairs only where they are kept."""
        text = checked_text(value)
        check(self.dialect.surrogates == KEEP or is_encodable(text), "half of a surrogate pair")
        return text

    def _load_number(self, raw: str) -> object:
        end, mode = number_run(raw, 0, len(raw), NUMBER)
        check(end == len(raw) > 0 and is_whole_number(mode), "invalid number")
        check(end <= self.dialect.max_number, "a number over the limit")
        try:
            return number_value(raw, 0, end, mode, self.dialect.decimals)
        except ValueError:
            raise StateError(
                f"invalid state dump: an integer of {end} digits, more than sys.set_int_max_str_digits allows"
            ) from None

    def _load_token(self, data: dict[str, Any], sink: Sink) -> None:
        """Restore the token in flight, and report the open string to the sink."""
        mode = self.mode
        dialect = self.dialect
        text = self._load_text(data["text"])
        carry = loaded_carry(checked_text(data["carry"]))
        longer = 1 if dialect.mends else 0  # .5 became 0.5, and NaN null
        check(len(text) + len(carry) <= self.offset + longer, "a token longer than the text")
        string = data["string"]
        check((string is not None) if mode == STRING else (string is None or mode == FAILED), "no open string")
        if string is not None:
            node_id, key, shown = string
            check(natural(node_id) == self._next_id - 1, "impossible ids")
            before = [entry[1] for entry in data["tree"] if entry[0] != "]"]
            check(not before or before[-1] < node_id, "impossible ids")
            self._load_key(key)
            sink.start_string(self._key, 0, node_id, 0)
            check(text == ("" if mode == FAILED else shown), "two texts for one string")
            text = self._load_text(shown)
            if text:
                sink.grow_string(text, 0)
        elif mode in WITH_KEY or mode >= NUMBER:
            self._load_key(data["key"])
        check(data["key"] == (self._key if mode in WITH_KEY or mode >= NUMBER else None), "impossible key")
        if mode >= NUMBER:
            check(number_run(text, 0, len(text), NUMBER) == (len(text), mode), "invalid number")
            check(len(text) <= dialect.max_number, "a number over the limit")
        elif mode == LITERAL:
            words = [word for word in LITERALS if text and word.startswith(text) and word != text]
            check(len(words) == 1, "invalid literal")
            self._word = words[0]
        elif mode == LITERAL_END:
            check(text in LITERALS, "invalid literal")
            self._word = text
        elif mode == KEY_STRING or mode == KEY_OR_STRING or mode == AFTER_EITHER:
            check(len(text) <= self._key_room, "a key over the limit")
            self._word = text
        else:
            check(not text or string is not None, "text without a token")
            check(len(text) <= dialect.max_string, "a string over the limit")
        self._length = len(text)
        if text and (mode == KEY_STRING or mode == KEY_OR_STRING or mode >= NUMBER):
            self._pieces = [text]
            self._piece_count = 1
        if carry:
            check(STRING <= mode <= KEY_OR_STRING and len(carry) <= self.offset, "no escape")
            check(read_escape(carry, 0, len(carry), dialect.surrogates)[0] == HELD, "no half of an escape")
            # A repairer passes whole escapes on, so nothing waits but a half of a pair.
            check(not dialect.mends or carry[0] != "\\" or len(carry) == 6, "no half of a pair")
        self._carry = carry
        self._untold = self.offset - len(carry)


def least_length(kind: object, rest: list[object]) -> int:
    """Return the least number of characters that an entry of a dumped tree can have in the text."""
    length = 1
    if len(rest) > 1 and isinstance(rest[1], str):
        length += len(rest[1]) + 3  # the key, its quotes and the colon
    if kind == "s" or kind == "n":
        length += len(str(rest[-1])) + (1 if kind == "s" else -1)
    elif kind == "l":
        length += 3
    return length


def begins_value(c: i64) -> bool:
    """Tell whether a value other than a string can begin with this character."""
    return (
        c == 0x7B or c == 0x5B or 0x30 <= c <= 0x39 or c == 0x2D or c == 0x74 or c == 0x66 or c == 0x6E
    )  # {[ 0-9- tfn


def dumped_carry(carry: str) -> str:
    """Return the carried text in a form that every encoder of JSON takes: half a surrogate pair as ``\\xd83d``."""
    if carry and carry[0] != "\\":
        return f"\\x{ord(carry[0]):x}{carry[1:]}"
    return carry


def loaded_carry(text: str) -> str:
    """Return the carried text of a dump."""
    if text.startswith("\\x"):
        return chr(int(text[2:6], 16)) + text[6:]
    return text


def make_error(
    code: Code, position: Position, path: Path, expected: str, options: Options, is_python_limit: bool = False
) -> JSONSyntaxError:
    """Return the error of the class that belongs to `code`."""
    if is_python_limit:
        digits = sys.get_int_max_str_digits()
        return LimitError(code, position, path, PYTHON_LIMIT.format(digits), digits)
    if code in LIMIT_CODES:
        return LimitError(code, position, path, "", getattr(options, code.value))
    if code == Code.INCOMPLETE:
        return IncompleteJSONError(code, position, path, expected)
    return JSONSyntaxError(code, position, path, expected)
