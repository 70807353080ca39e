"""The modes of the reader, and what each expects, in words. The machine they belong to is in reader.py."""

# Compiled with mypyc.
from __future__ import annotations

from typing import Final

from .._errors import Code

VALUE: Final = 0
VALUE_OR_CLOSE: Final = 1
KEY: Final = 2
KEY_OR_CLOSE: Final = 3
COLON: Final = 4
AFTER_ITEM: Final = 5
AFTER_MEMBER: Final = 6
BETWEEN: Final = 7
END: Final = 8
LAST_WITH_SPACE: Final = END
STRING: Final = 9
KEY_STRING: Final = 10
LITERAL: Final = 11
SKIP: Final = 12
SKIP_STRING: Final = 13
SKIP_ESCAPE: Final = 14
SKIP_LINE: Final = 15
IGNORE: Final = 16
FAILED: Final = 17

# A number that a fragment may cut anywhere.
NUMBER: Final = 20  # nothing read yet
MINUS: Final = 21
ZERO: Final = 22
INTEGER: Final = 23
POINT: Final = 24
FRACTION: Final = 25
EXPONENT_MARK: Final = 26
EXPONENT_SIGN: Final = 27
EXPONENT: Final = 28

EXPECTED: Final[dict[int, str]] = {
    VALUE: "a value",
    VALUE_OR_CLOSE: "a value or ']'",
    KEY: "a key in double quotes",
    KEY_OR_CLOSE: "a key in double quotes or '}'",
    COLON: "':'",
    AFTER_ITEM: "',' or ']'",
    AFTER_MEMBER: "',' or '}'",
    BETWEEN: "a value or the end of the text",
    END: "the end of the text",
    STRING: "the rest of the string",
    KEY_STRING: "the rest of the key",
    LITERAL: "the rest of true, false or null",
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
"""What may come next, in words, for each mode: errors, docs and `expecting` all take it from here."""

EXPECTED_INSTEAD: Final[dict[Code, str]] = {
    Code.INVALID_ESCAPE: 'one of \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hex digits',
    Code.CONTROL_CHARACTER: "an escape such as \\n or \\u0000",
    Code.LONE_SURROGATE: "both halves of the pair, one after the other",
    Code.INVALID_UTF8: "well-formed UTF-8",
    Code.NUMBER_OVERFLOW: "a number within the range of a float",
    Code.DUPLICATE_KEY: "each key once",
}
"""Where the mode does not tell what is wrong, the code does."""

NAMES: Final[dict[int, str]] = {
    mode: name
    for name, mode in tuple(globals().items())
    if isinstance(mode, int) and mode in EXPECTED and name != "LAST_WITH_SPACE"
}
"""The modes by their names."""
