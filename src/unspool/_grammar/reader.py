"""THE grammar: RFC 8259, one character after another, in one place.

The machine on one screen. A mode says what may come next; white space may stand in the modes above the line::

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
    ------------------------------------------------------------------------------------------------------
    STRING            text, an escape, "         what comes after a value
    KEY_STRING        text, an escape, "         COLON
    LITERAL           the rest of the word       what comes after a value
    NUMBER.. (scan)   the rest of the number     what comes after a value, with the character that ends it
    SKIP..            anything                   a , ] or } of the container in which an error was, or a new line
    IGNORE, FAILED    nothing is read any more

After a value comes AFTER_ITEM, AFTER_MEMBER, or at the root BETWEEN, END or IGNORE.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, final

from .._errors import Code
from .frames import Frame, Keys
from .modes import (
    AFTER_ITEM,
    AFTER_MEMBER,
    BETWEEN,
    COLON,
    END,
    FAILED,
    IGNORE,
    KEY,
    KEY_OR_CLOSE,
    KEY_STRING,
    LAST_WITH_SPACE,
    LITERAL,
    NUMBER,
    SKIP,
    SKIP_ESCAPE,
    SKIP_LINE,
    SKIP_STRING,
    STRING,
    VALUE,
    VALUE_OR_CLOSE,
)
from .scan import has_marks, space_run, string_run
from .tokens import TokenReader, is_whole_number

if TYPE_CHECKING:
    from .._native import i64
    from .sink import Sink


@final
class Reader(TokenReader):
    """The machine. It is fed text and calls a sink; `copy_to` makes an independent copy in constant time."""

    __slots__ = ()

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
            ):  # nothing but text: the usual case by far, when it comes in small pieces
                sink.grow_string(text, base)
                self._keep(text)
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
        """Go over text that is not JSON: only its characters and lines count."""
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

    def finish(self, sink: Sink) -> None:
        """The text has ended."""
        self._base = self.offset
        if self._frame is None and is_whole_number(self.mode):
            self._end_number(self._token(""), 0, sink)
        mode = self.mode
        if mode != END and mode != BETWEEN and mode != IGNORE and mode != SKIP_LINE and mode != FAILED:
            self._fail(Code.INCOMPLETE, 0, sink)

    def _read(self, text: str, end: i64, sink: Sink) -> None:
        base = self._base
        i: i64 = 0
        if self.mode == STRING or self.mode == KEY_STRING:
            i = self._string(text, i, string_run(text, i, end), end, sink)
        while i < end:  # at a token: one that was started here ends here too, or at the end
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
                    if run < end and ord(text[run]) == 0x22 and run - i - 1 <= self.dialect.max_key:  # "
                        i = self._end_key(text[i + 1 : run], run, sink)
                        if i < end and self.mode == COLON and ord(text[i]) == 0x3A:  # :
                            self.mode = VALUE  # no need to go round for a colon
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
            elif mode == LITERAL:
                i = self._literal(text, i, end, sink)
            elif mode == END:
                i = self._fail(Code.TRAILING_TEXT, i, sink)
            elif mode == IGNORE:
                end = i
            elif mode == FAILED:
                return
            else:
                i = self._skip(text, i, end)
        if self.mode != FAILED:
            self.offset = base + end

    def _open(self, is_object: bool, at: i64, sink: Sink) -> i64:
        if self._depth == self.dialect.max_depth:
            return self._fail(Code.MAX_DEPTH, at, sink)
        node_id = self._next_id
        sink.start_container(is_object, self._key, self._count, node_id, self._base + at)
        self._frame = Frame(self._frame, self._step(), is_object, node_id, self._count + 1, self._keys)
        self._next_id = node_id + 1
        self._depth += 1
        self._count = 0
        self._key = None
        self._keys = Keys([]) if is_object and self.dialect.unique_keys else None
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
        self._count = frame.outer_count
        self._key = None
        self._keys = frame.outer_keys
        self._after = self.dialect.after_root if outer is None else AFTER_MEMBER if outer.is_object else AFTER_ITEM
        self.mode = self._after
        return at + 1

    def _skip(self, text: str, i: i64, end: i64) -> i64:
        """After an error: go on to where the container around it goes on, minding strings and nesting."""
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
            i += 1
        self.mode = mode
        return i
