"""Tokens as characters: runs of white space, string text and digits; escapes and surrogate pairs; numbers.

Every function here is stateless and linear. It looks at ``text[start:end]`` and returns how far it got.

This is the only module in which the two builds differ. Compiled, a loop over characters is machine code. Interpreted, a
regular expression is several times faster than the loop. Both versions are here under one name, and the last lines
choose one. The expressions decide each position by one character, so they never backtrack.
"""

# Compiled with mypyc.
from __future__ import annotations

from math import isinf

from .._native import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from .._native import i64

    Scanned: TypeAlias = tuple[i64, i64]

COMPILED: Final = not __file__.endswith(".py")

# The modes of a number: a fragment may end in each of them.
NUMBER: Final = 30  # nothing read yet
MINUS: Final = 31
ZERO: Final = 32
INTEGER: Final = 33
POINT: Final = 34
FRACTION: Final = 35
EXPONENT_MARK: Final = 36
EXPONENT_SIGN: Final = 37
EXPONENT: Final = 38

# What to do with half a surrogate pair.
REPLACE: Final = 0
REFUSE: Final = 1
KEEP: Final = 2

HEX_DIGITS: Final = "0123456789abcdefABCDEF"

# What read_escape returns instead of a character.
HELD: Final = -1  # the text ends inside the escape, or inside the pair
INVALID: Final = -2
LONE: Final = -3


def space_run(text: str, start: i64, end: i64) -> i64:
    """Return the end of the white space that begins at `start`."""
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if c != 0x20 and c != 0x0A and c != 0x0D and c != 0x09:  # space LF CR tab
            break
        i += 1
    return i


def string_run(text: str, start: i64, end: i64) -> i64:
    """Return the end of the plain text at `start`: a quote, a backslash, a control character, half a surrogate pair."""
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if c <= 0x5C:  # \
            if c == 0x22 or c == 0x5C or c < 0x20:  # " \ and control characters
                break
        elif 0xD800 <= c <= 0xDFFF:
            break
        i += 1
    return i


def mark_run(text: str, start: i64, end: i64) -> i64:
    """Return the end of the string text at `start` that means the same in broken JSON.

    It ends at a quote of any kind, a bracket, a comma, a backslash or a control character.
    """
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if c < 0x80:
            if c < 0x20 or c == 0x22 or c == 0x2C or c == 0x27 or c == 0x60:  # " , ' `
                break
            if c >= 0x5B and (c <= 0x5D or c == 0x7B or c == 0x7D):  # [ \ ] { }
                break
        elif 0x2018 <= c <= 0x201F or c == 0xB4 or c == 0xFF02 or c == 0xFF07:
            break
        i += 1
    return i


def has_marks(text: str) -> bool:
    """Tell whether string text contains a character that ends a run of plain text."""
    end: i64 = len(text)
    return string_run(text, 0, end) < end


def number_run(text: str, start: i64, end: i64, mode: i64) -> Scanned:
    """Return where the number that is in `mode` at `start` stops, and its mode there."""
    i = start
    while i < end:
        c: i64 = ord(text[i])
        if 0x30 <= c <= 0x39:  # 0 to 9
            if mode == NUMBER or mode == MINUS:
                mode = ZERO if c == 0x30 else INTEGER
            elif mode == POINT:
                mode = FRACTION
            elif mode == EXPONENT_MARK or mode == EXPONENT_SIGN:
                mode = EXPONENT
            elif mode == ZERO:
                break
        elif c == 0x2E and (mode == ZERO or mode == INTEGER):  # .
            mode = POINT
        elif (c == 0x65 or c == 0x45) and (mode == ZERO or mode == INTEGER or mode == FRACTION):  # e E
            mode = EXPONENT_MARK
        elif c == 0x2D and mode == NUMBER:  # -
            mode = MINUS
        elif (c == 0x2B or c == 0x2D) and mode == EXPONENT_MARK:  # + -
            mode = EXPONENT_SIGN
        else:
            break
        i += 1
    return i, mode


def read_escape(text: str, at: i64, end: i64, surrogates: i64) -> Scanned:
    """Return the character of the escape at `at`, and the index behind the escape.

    Half a surrogate pair may be at `at` as it is, too: a source that counts UTF-16 units cuts pairs in two. The
    first half of a pair needs the second one, whichever way each of them is written. HELD means that more text is
    needed. With INVALID and LONE, the second number is the index of the first wrong character.
    """
    if surrogates == REFUSE:
        alone = unpaired_at(text, at, end)
        if alone >= 0:
            return LONE, alone
    unit = unit_at(text, at, end)
    if unit == HELD:
        return HELD, at
    if unit < 0:
        return INVALID, at + INVALID - unit
    after = at + unit_width(text, at)
    if unit < 0xD800 or unit > 0xDFFF:
        return unit, after
    if unit < 0xDC00:
        if after == end:
            return HELD, at
        c: i64 = ord(text[after])
        if c == 0x5C or 0xDC00 <= c <= 0xDFFF:  # \
            low = unit_at(text, after, end)
            if low == HELD:
                return HELD, at
            if low < 0:
                return INVALID, after + INVALID - low
            if 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), after + unit_width(text, after)
    return (0xFFFD if surrogates == REPLACE else unit), after


def unit_width(text: str, at: i64) -> i64:
    """Return how many characters the UTF-16 unit at `at` takes: a half as it is, a short escape, or a long one."""
    if ord(text[at]) != 0x5C:  # \
        return 1
    return 6 if ord(text[at + 1]) == 0x75 else 2  # u


def unit_at(text: str, at: i64, end: i64) -> i64:
    """Return the UTF-16 unit at `at`; HELD if the text ends in its escape, ``INVALID - k`` if character k is wrong."""
    c: i64 = ord(text[at])
    if c != 0x5C:  # \
        return c
    if at + 1 >= end:
        return HELD
    c = ord(text[at + 1])
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
    """Return the index of the character that makes the half of a pair at `at` a lone one for good, or -1."""
    c: i64 = ord(text[at])
    after = at + 1
    if c == 0x5C:  # \
        start = text[at : min(at + 4, end)]
        if len(start) < 4 or start[:2] != "\\u" or start[2] not in "dD":
            return -1
        if start[3] in "cdefCDEF":
            return at + 3
        if start[3] not in "89abAB" or unit_at(text, at, end) < 0:
            return -1
        after = at + 6
    elif c >= 0xDC00:
        return at
    partner = text[after : min(after + 4, end)]
    if partner and 0xDC00 <= ord(partner[0]) <= 0xDFFF:
        return -1
    for k, wanted in enumerate(("\\", "u", "dD", "cdefCDEF")):
        if k == len(partner):
            break
        if k >= 2 and partner[k] not in HEX_DIGITS:
            break  # no escape at all
        if partner[k] not in wanted:
            return after + k
    return -1


def overflow_at(raw: str) -> int:
    """Return the index of the exponent digit that makes `raw` too large for a float, or -1."""
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


MAX_EXACT_INTEGER: Final = 18  # characters: 18 digits fit a machine integer
MAX_EXACT_FRACTION: Final = 16  # characters: 15 digits and a point; both operands of the division are exact then
POWERS_OF_TEN: Final = tuple([10.0**exponent for exponent in range(MAX_EXACT_FRACTION)])


def number_value(text: str, start: i64, end: i64, mode: i64, decimals: bool) -> object:
    """Return the value of the whole number ``text[start:end]``, which ended in `mode`.

    Raises ValueError for more digits than `int` converts, ArithmeticError for a number too large for a float.
    """
    size = end - start
    if (mode == INTEGER and size <= MAX_EXACT_INTEGER) or (
        mode == FRACTION and size <= MAX_EXACT_FRACTION and not decimals
    ):
        # Most numbers are short. The quotient of two floats that are exact is rounded once, as `float` rounds.
        digits: i64 = 0
        point: i64 = end
        i = start
        is_negative = ord(text[i]) == 0x2D  # -
        if is_negative:
            i += 1
        while i < end:
            c: i64 = ord(text[i])
            if c == 0x2E:  # .
                point = i + 1
            else:
                digits = digits * 10 + c - 0x30
            i += 1
        if mode == INTEGER:
            return -digits if is_negative else digits
        value = float(digits) / POWERS_OF_TEN[end - point]
        return -value if is_negative else value
    return long_number_value(text[start:end], mode, decimals)


def long_number_value(raw: str, mode: i64, decimals: bool) -> object:
    """Return the value of a whole number of any length."""
    if mode == ZERO or mode == INTEGER:
        return int(raw)
    if decimals:
        return decimal_value(raw)
    value = float(raw)
    if isinf(value):
        raise OverflowError
    return value


def decimal_value(raw: str) -> object:
    """Return the number as a `Decimal`: zero if it is too small for one."""
    from decimal import Decimal, InvalidOperation  # importing it takes longer than importing the rest of the library

    try:
        return Decimal(raw)
    except InvalidOperation:
        significand, _, exponent = raw.lower().partition("e")
        if significand.strip("-0.") and not exponent.startswith("-"):
            raise
        return Decimal("-0" if raw.startswith("-") else "0")


def ends_atom(text: str, at: i64) -> bool:
    """Tell whether a number or a literal may end before the character `at`: white space, a comma, a closing bracket."""
    c: i64 = ord(text[at])
    return c == 0x2C or c == 0x7D or c == 0x5D or c == 0x20 or c == 0x0A or c == 0x0D or c == 0x09  # , } ] and spaces


def is_whole_number(mode: i64) -> bool:
    """Tell whether a number may end in this mode."""
    return mode == ZERO or mode == INTEGER or mode == FRACTION or mode == EXPONENT


def expressions() -> dict[str, object]:
    """Return the functions for the interpreter, by the names of those that they replace."""
    import re  # not needed, and so not imported, where the loops are compiled

    exponent = r"(?:([eE])([+-])?([0-9]+)?)?"
    match_space = re.compile(r"[ \t\n\r]*").match
    match_text = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*').match
    match_unmarked = re.compile(r"""[^"'`,\[\]{}\\\x00-\x1f\u00b4\u2018-\u201f\uff02\uff07]*""").match
    # Everything that may follow is optional, so that a number that is cut matches too. The last group tells the mode.
    match_number = re.compile(rf"(-)?(?:(?:(0)|([1-9][0-9]*))(?:(\.)(?:([0-9]+){exponent})?|{exponent}))?").match
    modes = (NUMBER, MINUS, ZERO, INTEGER, POINT, FRACTION) + (EXPONENT_MARK, EXPONENT_SIGN, EXPONENT) * 2
    number_loop = number_run

    def match_space_run(text: str, start: int, end: int) -> int:
        return match_space(text, start, end).end()  # type: ignore[union-attr] # it always matches

    def match_string_run(text: str, start: int, end: int) -> int:
        return match_text(text, start, end).end()  # type: ignore[union-attr]

    def match_mark_run(text: str, start: int, end: int) -> int:
        return match_unmarked(text, start, end).end()  # type: ignore[union-attr]

    def match_number_run(text: str, start: int, end: int, mode: int) -> tuple[int, int]:
        if mode != NUMBER:
            return number_loop(text, start, end, mode)
        run = match_number(text, start, end)
        assert run is not None  # it always matches
        return run.end(), modes[run.lastindex or 0]

    def is_atom_end(text: str, at: int) -> bool:
        return text[at] in ",}] \n\r\t"

    def convert_number(text: str, start: int, end: int, mode: int, decimals: bool) -> object:
        return long_number_value(text[start:end], mode, decimals)

    return {
        "space_run": match_space_run,
        "string_run": match_string_run,
        "mark_run": match_mark_run,
        "has_marks": re.compile(r'["\\\x00-\x1f\ud800-\udfff]').search,
        "number_run": match_number_run,
        "number_value": convert_number,
        "ends_atom": is_atom_end,
    }


if not COMPILED:
    globals().update(expressions())
