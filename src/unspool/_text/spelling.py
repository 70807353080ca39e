"""Other spellings of what JSON has: quotes, spaces, punctuation, words and numbers.

Every function here is stateless, and looks at one character or one short token. No spelling in this file occurs in JSON
outside of strings, apart from the JSON spellings themselves.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._grammar.reader import LITERAL_END
from .._grammar.scan import NUMBER, is_whole_number, number_run
from .._native import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

    from .._native import i64

# The style of a string: the quote that opened it.
NO_QUOTE: Final = 0
DOUBLE: Final = 1
SINGLE: Final = 2
ODD_DOUBLE: Final = 3
ODD_SINGLE: Final = 4
TRIPLE_DOUBLE: Final = 5
TRIPLE_SINGLE: Final = 6
BARE: Final = 7  # no quote at all

LITERALS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), "true"),
    **dict.fromkeys(("false", "False", "FALSE"), "false"),
    **dict.fromkeys(("null", "Null", "NULL", "None", "none", "NONE", "nil", "undefined"), "null"),
}
"""The spellings of the three literals."""

NOT_NUMBERS: Final = frozenset(
    [sign + word for sign in ("", "-", "+") for word in ("NaN", "nan", "NAN", "Infinity", "infinity", "inf", "Inf")]
)
"""The numbers that JSON does not have."""

WORDS: Final = frozenset([word[:size] for word in (*LITERALS, *NOT_NUMBERS) for size in range(1, len(word) + 1)])
"""Each beginning of each of these words."""

# The kinds of an atom: a run of characters without quotes.
OTHER: Final = 0
JSON_ATOM: Final = 1  # a number or a literal as JSON spells it
SPELLED_LITERAL: Final = 2
SPELLED_NUMBER: Final = 3
NOT_NUMBER: Final = 4


def quote_kind(c: i64) -> i64:
    """Return the style of a string that this character opens, or NO_QUOTE."""
    if c == 0x22:  # "
        return DOUBLE
    if c == 0x27:  # '
        return SINGLE
    if 0x201C <= c <= 0x201F or c == 0xFF02:
        return ODD_DOUBLE
    if c == 0x60 or c == 0xB4 or 0x2018 <= c <= 0x201B or c == 0xFF07:  # `
        return ODD_SINGLE
    return NO_QUOTE


def closes(style: i64, c: i64) -> bool:
    """Tell whether this character may close a string of this style. Any odd quote closes its class."""
    if style == DOUBLE:
        return c == 0x22  # "
    kind = quote_kind(c)
    if style == ODD_DOUBLE:
        return kind == ODD_DOUBLE or kind == DOUBLE
    if style == ODD_SINGLE:
        return kind == ODD_SINGLE or kind == SINGLE
    return kind == style and kind != NO_QUOTE


def is_blank(c: i64) -> bool:
    """Tell whether JSON takes this character for white space."""
    return c == 0x20 or c == 0x0A or c == 0x0D or c == 0x09  # space LF CR tab


def is_odd_space(c: i64) -> bool:
    """Tell whether this character looks like a space, or like nothing, and is not white space in JSON."""
    if c < 0x80:
        return c == 0x0B or c == 0x0C
    return (
        c == 0xA0
        or c == 0x85
        or c == 0x1680
        or 0x2000 <= c <= 0x200F
        or 0x2028 <= c <= 0x202F
        or 0x205F <= c <= 0x2060
        or c == 0x3000
        or c == 0xFEFF
    )


ODD_SPACES: Final = "\x0b\x0c\x85\xa0\u1680\u3000\ufeff" + "".join(
    [chr(c) for start, end in ((0x2000, 0x2010), (0x2028, 0x2030), (0x205F, 0x2061)) for c in range(start, end)]
)
"""The characters for which `is_odd_space` is true."""

WIDE: Final = {
    0xFF1A: 0x3A,  # :
    0xFF0C: 0x2C,  # ,
    0xFF1B: 0x2C,  # a wide semicolon stands between two items, as a comma does
    0xFF5B: 0x7B,  # {
    0xFF5D: 0x7D,  # }
    0xFF3B: 0x5B,  # [
    0xFF3D: 0x5D,  # ]
    0x3001: 0x2C,
}


def narrow(c: i64) -> i64:
    """Return the ASCII form of wide punctuation, and every other character as it is."""
    if c < 0x80:
        return c
    return WIDE.get(c, c)


DIGITS: Final = frozenset("0123456789")


def is_word(character: str) -> bool:
    """Tell whether a word may contain this character."""
    return character.isalnum() or character == "_" or character == "$"


def is_border(c: i64) -> bool:
    """Tell whether an atom ends before this character."""
    if c < 0x80:
        return (
            c <= 0x20
            or c == 0x22  # "
            or c == 0x23  # #
            or c == 0x27  # '
            or c == 0x2C  # ,
            or c == 0x2F  # /
            or c == 0x3A  # :
            or c == 0x3B  # ;
            or c == 0x5B  # [
            or c == 0x5C
            or c == 0x5D  # ]
            or c == 0x60  # `
            or c == 0x7B  # {
            or c == 0x7D  # }
        )
    return is_odd_space(c) or quote_kind(c) != NO_QUOTE or c in WIDE


def is_atom(mode: i64) -> bool:
    """Tell whether the reader is in this mode within an atom, or at its end: the next character ends it."""
    return mode >= NUMBER or mode == LITERAL_END


def atom_run(text: str, start: i64, end: i64) -> i64:
    """Return the end of the atom that begins at `start`."""
    i = start
    while i < end and not is_border(ord(text[i])):
        i += 1
    return i


def is_json_number(atom: str) -> bool:
    """Tell whether JSON has a number of this spelling."""
    size: i64 = len(atom)
    stop, mode = number_run(atom, 0, size, NUMBER)
    return stop == size and is_whole_number(mode)


def json_number(atom: str) -> str:
    """Return the JSON spelling of a number that is spelled otherwise; empty if it is not a number."""
    sign = "-" if atom[:1] == "-" else ""
    digits = atom[1:] if atom[:1] in ("-", "+") else atom
    if digits[:2] in ("0x", "0X"):
        digits = digits[2:]
        if not digits or digits.strip("0123456789abcdefABCDEF"):
            return ""
        return sign + str(int(digits, 16))
    if "_" in digits:
        parts = digits.split("_")
        if "" in parts or not all(part[0].isdigit() and part[-1].isdigit() for part in parts):
            return ""
        digits = "".join(parts)
    if digits[:1] == ".":
        if digits[1:2] not in DIGITS:
            return ""  # no digit at all
        digits = "0" + digits
    mark = max(digits.find("e"), digits.find("E"))
    whole = digits if mark < 0 else digits[:mark]
    if whole[-1:] == "." and len(whole) > 1:
        digits = whole + "0" + digits[len(whole) :]
    return sign + digits if is_json_number(digits) and digits[:1] != "-" else ""


def atom_kind(atom: str) -> i64:
    """Return what an atom is."""
    if atom in LITERALS:
        return JSON_ATOM if LITERALS[atom] == atom else SPELLED_LITERAL
    if atom in NOT_NUMBERS:
        return NOT_NUMBER
    first: i64 = ord(atom[0])
    if not (0x2B <= first <= 0x2E or 0x30 <= first <= 0x39):  # + , - . 0 to 9
        return OTHER
    if is_json_number(atom):
        return JSON_ATOM
    return SPELLED_NUMBER if json_number(atom) else OTHER


def may_become_known(atom: str) -> bool:
    """Tell whether more characters can still make a number or a literal of this atom."""
    if atom in WORDS:
        return True
    first: i64 = ord(atom[0])
    return (0x2B <= first <= 0x2E or 0x30 <= first <= 0x39) and not atom.strip("0123456789abcdefABCDEFxX_+-.")
