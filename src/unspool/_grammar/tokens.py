"""Strings, keys, numbers and literals: how a token is read that a fragment may cut anywhere.

Each method reads on from text[i] and returns where it stopped: behind the token, at the end of the text, or at what
is wrong. What was read of a token that is not whole stays in the state, in pieces; half an escape, or the first
half of a surrogate pair, is carried over and read again with what follows: 11 characters at the most.
"""

# Compiled with mypyc.
from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Final

from .._errors import Code
from .modes import (
    BETWEEN,
    COLON,
    EXPONENT,
    FRACTION,
    INTEGER,
    KEY_STRING,
    SKIP_ESCAPE,
    SKIP_STRING,
    STRING,
    VALUE,
    ZERO,
)
from .scan import HELD, INVALID, number_run, overflow_at, read_escape, space_run, string_run
from .state import ReaderState

if TYPE_CHECKING:
    from .._native import i64
    from .sink import Sink

OVERFLOW_HORIZON: Final = 1000  # within so many characters a number that is still growing is watched for overflow


class TokenReader(ReaderState):
    """A reader that knows tokens, and nothing of what may stand between them."""

    __slots__ = ()

    def _tell(self, piece: str, at: i64, sink: Sink) -> None:
        """The string goes on with `piece`, which reaches up to text[at]."""
        if not piece:
            return
        if self.mode == STRING:
            sink.grow_string(piece, self._untold)
        self._untold = self._base + at
        self._keep(piece)

    def _string(self, text: str, i: i64, run: i64, end: i64, sink: Sink) -> i64:
        """Read on inside a string or a key; from `i` to `run` the text stands for itself."""
        is_key = self.mode == KEY_STRING
        limit = self.dialect.max_key if is_key else self.dialect.max_string
        if run - i <= limit - self._length:  # the usual cases: nothing but text, and maybe the closing quote
            if run == end:
                self._length += run - i
                self._tell(text[i:run], run, sink)
                return end
            if ord(text[run]) == 0x22:  # "
                return self._end_string(text[i:run], run, sink)
        parts: list[str] = []
        wrong: Code | None = None
        wrong_at: i64 = 0
        while True:
            if run - i > limit - self._length:
                run = i + limit - self._length
                wrong = Code.MAX_KEY if is_key else Code.MAX_STRING
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
                wrong = Code.MAX_KEY if is_key else Code.MAX_STRING
                break
            if c != 0x5C:  # \
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
        self._tell("".join(parts), run, sink)
        if wrong is None:
            return end
        self._fail(wrong, wrong_at, sink)
        if self.mode == SKIP_STRING and wrong_at == run + 7:
            self.mode = SKIP_ESCAPE  # right behind the backslash that should have begun the second half of a pair
        return wrong_at

    def _end_string(self, last: str, at: i64, sink: Sink) -> i64:
        whole = self._token(last)
        if self.mode == KEY_STRING:
            return self._end_key(whole, at, sink)
        if last:
            sink.grow_string(last, self._untold)
        sink.end_string(whole, self._base + at)
        self._count += 1
        self.mode = self._after
        return at + 1

    def _end_key(self, key: str, at: i64, sink: Sink) -> i64:
        self._key = key
        self.mode = COLON
        keys = self._keys
        if keys is not None:
            if keys.has(key, self._count):
                self.mode = VALUE  # the error is in the member that has this key
                self._fail(Code.DUPLICATE_KEY, at, sink)
            else:
                self._keys = keys.add(key, self._count)
        return at + 1

    def _number(self, text: str, i: i64, end: i64, sink: Sink) -> i64:
        stop, self.mode = number_run(text, i, end, self.mode)
        room = self.dialect.max_number - self._length
        if stop < end and stop - i <= room:
            if not is_whole_number(self.mode):
                return self._fail(Code.INVALID_NUMBER, stop, sink)
            self._end_number(self._token(text[i:stop]), stop, sink)
            if self.mode == BETWEEN and space_run(text, stop, stop + 1) == stop:  # or 01 would be two values
                self._fail(Code.UNEXPECTED_CHARACTER, stop, sink)
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

    def _end_number(self, raw: str, at: i64, sink: Sink) -> None:
        """The number has ended before text[at]."""
        try:
            value = number_value(raw, self.mode, self.dialect.decimals)
        except ValueError:  # more digits than this interpreter converts: sys.set_int_max_str_digits
            self._fail(Code.MAX_NUMBER, at, sink)
            return
        except ArithmeticError:
            overflow = -1 if self.dialect.decimals else overflow_at(raw)
            self._fail(Code.NUMBER_OVERFLOW, at if overflow < 0 else at - len(raw) + overflow, sink)
            return
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
        value = None if word == "null" else word == "true"
        sink.literal(self._key, self._count, value, self._next_id, self._base + i - 1)
        self._next_id += 1
        self._count += 1
        self.mode = self._after
        return i


def number_value(raw: str, mode: i64, decimals: bool) -> object:
    """What a whole number is worth. ValueError: too many digits. ArithmeticError: too large for a float or Decimal."""
    if mode == ZERO or mode == INTEGER:
        return int(raw)
    if decimals:
        from decimal import Decimal  # takes longer to import than the rest of unspool: only who wants it pays

        return Decimal(raw)
    value = float(raw)
    if isinf(value):
        raise OverflowError
    return value


def is_whole_number(mode: i64) -> bool:
    return mode == ZERO or mode == INTEGER or mode == FRACTION or mode == EXPONENT
