"""What tokens look like: runs of space, of string text, of a number; escapes and surrogate pairs.

Every function here is stateless and linear: it looks at ``text[start:end]`` and says how far it got.

This is the only module in which the two builds differ. Compiled, a loop over characters is machine
code; interpreted, a regular expression is several times faster than the loop. Both stand here under one
name, and the last lines choose. The expressions never backtrack: each position is decided by one character.
"""

# Compiled with mypyc.
from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Final

from .modes import EXPONENT, EXPONENT_MARK, EXPONENT_SIGN, FRACTION, INTEGER, MINUS, NUMBER, POINT, ZERO

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._native import i64

    Scanned: TypeAlias = tuple[i64, i64]

COMPILED: Final = not __file__.endswith(".py")

# What to do with half a surrogate pair.
REPLACE: Final = 0
REFUSE: Final = 1
KEEP: Final = 2

HEX_DIGITS: Final = "0123456789abcdefABCDEF"

# What read_escape answers instead of a character.
HELD: Final = -1  # the text ends inside the escape, or inside the pair
INVALID: Final = -2
LONE: Final = -3


def space_run(text: str, start: i64, end: i64) -> i64:
    """The end of the white space that begins at `start`."""
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if c != 0x20 and c != 0x0A and c != 0x0D and c != 0x09:  # space LF CR tab
            break
        i += 1
    return i


def string_run(text: str, start: i64, end: i64) -> i64:
    """The end of the string text that stands for itself: before a quote, a backslash or a control."""
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if c == 0x22 or c == 0x5C or c < 0x20:  # " \ and control characters
            break
        i += 1
    return i


def has_marks(text: str) -> bool:
    """Whether something in string text does not stand for itself: a quote, a backslash or a control."""
    end: i64 = len(text)
    return string_run(text, 0, end) < end


def number_run(text: str, start: i64, end: i64, state: i64) -> Scanned:
    """How far a number in `state` goes on, and the state that it is in there."""
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if 0x30 <= c <= 0x39:  # 0 to 9
            if state == NUMBER or state == MINUS:
                state = ZERO if c == 0x30 else INTEGER
            elif state == POINT:
                state = FRACTION
            elif state == EXPONENT_MARK or state == EXPONENT_SIGN:
                state = EXPONENT
            elif state == ZERO:
                break
        elif c == 0x2E and (state == ZERO or state == INTEGER):  # .
            state = POINT
        elif (c == 0x65 or c == 0x45) and (state == ZERO or state == INTEGER or state == FRACTION):  # e E
            state = EXPONENT_MARK
        elif c == 0x2D and state == NUMBER:  # -
            state = MINUS
        elif (c == 0x2B or c == 0x2D) and state == EXPONENT_MARK:  # + -
            state = EXPONENT_SIGN
        else:
            break
        i += 1
    return i, state


def read_escape(text: str, at: i64, end: i64, surrogates: i64) -> Scanned:
    """The character that the escape at `at` stands for, and where the text goes on.

    Half a pair waits for the escape after it. HELD: more text is needed. INVALID, LONE: the second
    number is the place of the first wrong character.
    """
    if surrogates == REFUSE:
        alone = unpaired_at(text, at, end)
        if alone >= 0:
            return LONE, alone
    unit = escaped_unit(text, at, end)
    if unit == HELD:
        return HELD, at
    if unit < 0:
        return INVALID, at + INVALID - unit
    if unit < 0xD800 or unit > 0xDFFF:
        return unit, at + (6 if ord(text[at + 1]) == 0x75 else 2)
    after = at + 6
    if unit < 0xDC00:
        if after == end:
            return HELD, at
        if ord(text[after]) == 0x5C:  # \
            low = escaped_unit(text, after, end)
            if low == HELD:
                return HELD, at
            if low < 0:
                return INVALID, after + INVALID - low
            if 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), after + 6
    return (0xFFFD if surrogates == REPLACE else unit), after


def escaped_unit(text: str, at: i64, end: i64) -> i64:
    """The UTF-16 unit of one escape; HELD where the text ends; ``INVALID - k`` if its k-th character is wrong."""
    if at + 1 >= end:
        return HELD
    c: i64 = ord(text[at + 1])
    if c != 0x75:  # u
        if c == 0x6E:  # n
            return 0x0A
        if c == 0x22 or c == 0x5C or c == 0x2F:  # " \ /
            return c
        if c == 0x74:  # t
            return 0x09
        if c == 0x72:  # r
            return 0x0D
        if c == 0x62:  # b
            return 0x08
        if c == 0x66:  # f
            return 0x0C
        return INVALID - 1
    unit: i64 = 0
    k: i64 = 2
    while k < 6:
        if at + k >= end:
            return HELD
        c = ord(text[at + k])
        if 0x30 <= c <= 0x39:  # 0 to 9
            c -= 0x30
        elif 0x61 <= c <= 0x66:  # a to f
            c -= 0x57
        elif 0x41 <= c <= 0x46:  # A to F
            c -= 0x37
        else:
            return INVALID - k
        unit = unit * 16 + c
        k += 1
    return unit


def unpaired_at(text: str, at: i64, end: i64) -> i64:
    """The first character from which on the escape at `at` can be no more than half a pair, or -1."""
    start = text[at : min(at + 4, end)]
    if len(start) < 4 or start[:2] != "\\u" or start[2] not in "dD":
        return -1
    if start[3] in "cdefCDEF":
        return at + 3
    if start[3] not in "89abAB" or escaped_unit(text, at, end) < 0:
        return -1
    partner = text[at + 6 : min(at + 10, end)]
    for k, wanted in enumerate(("\\", "u", "dD", "cdefCDEF")):
        if k == len(partner):
            break
        if k >= 2 and partner[k] not in HEX_DIGITS:
            break  # no escape at all
        if partner[k] not in wanted:
            return at + 6 + k
    return -1


def overflow_at(raw: str) -> int:
    """The digit of the exponent from which on `raw` is too large for a float, whatever follows; or -1."""
    mark = max(raw.find("e"), raw.find("E"))
    first = mark + 2 if raw[mark + 1 : mark + 2] == "+" else mark + 1
    if mark < 0 or not raw[first:].isdigit() or not isinf(float(raw)):
        return -1
    shortest = first + 1
    longest = len(raw)
    while shortest < longest:
        middle = (shortest + longest) // 2
        if isinf(float(raw[:middle])):
            longest = middle
        else:
            shortest = middle + 1
    return shortest - 1


# The same for the interpreter. In the expression of a number all that may follow is optional, so that it matches a
# number that is cut as well; the last group that took part tells the state. Where there is no mark, no match is made.

_EXPONENT = r"(?:([eE])([+-])?([0-9]+)?)?"
_SPACE_RUN = re.compile(r"[ \t\n\r]*").match
_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*').match
_has_marks = re.compile(r'["\\\x00-\x1f]').search
_NUMBER_RUN = re.compile(rf"(-)?(?:(?:(0)|([1-9][0-9]*))(?:(\.)(?:([0-9]+){_EXPONENT})?|{_EXPONENT}))?").match
_NUMBER_STATES = (NUMBER, MINUS, ZERO, INTEGER, POINT, FRACTION) + (EXPONENT_MARK, EXPONENT_SIGN, EXPONENT) * 2
_number_loop = number_run


def _space_run(text: str, start: int, end: int) -> int:
    return _SPACE_RUN(text, start, end).end()  # type: ignore[union-attr] # it matches everywhere


def _string_run(text: str, start: int, end: int) -> int:
    return _STRING_RUN(text, start, end).end()  # type: ignore[union-attr]


def _number_run(text: str, start: int, end: int, state: int) -> tuple[int, int]:
    run = _NUMBER_RUN(text, start, end)
    if state != NUMBER or run is None:
        return _number_loop(text, start, end, state)
    return run.end(), _NUMBER_STATES[run.lastindex or 0]


if not COMPILED:
    globals().update(space_run=_space_run, string_run=_string_run, number_run=_number_run, has_marks=_has_marks)
