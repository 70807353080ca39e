"""Checks for loaded dumps: each function returns a valid value or raises `StateError`.

Every state that can be dumped loads its data through these functions, so all of them reject bad data in the same words.
"""

from __future__ import annotations

from ._errors import StateError
from ._native import cast

__all__ = ["as_dumped", "check", "check_position", "flag", "is_encodable", "natural", "raw_text", "text"]

MAX_NATURAL = 1 << 60
"""Larger than every count, and small enough for machine integers."""

MAX_CODE_POINT = 0x10FFFF


def check(is_right: bool, what: str) -> None:
    """Raise `StateError` unless `is_right`. `what` completes the sentence "invalid state dump: ..."."""
    if not is_right:
        raise StateError(f"invalid state dump: {what}")


def check_position(offset: int, line: int, column: int) -> None:
    """Raise `StateError` if no text has this position: each line before this one has its line feed, at least."""
    line_start = offset - column + 1
    is_possible = line >= 1 and column >= 1 and (line_start == 0 if line == 1 else line_start >= line - 1)
    check(is_possible, "impossible position")


def natural(number: object) -> int:
    """Return a whole number that is not negative."""
    check(type(number) is int and 0 <= number <= MAX_NATURAL, "expected a whole number that is not negative")
    return cast("int", number)


def text(value: object) -> str:
    """Return a string."""
    check(isinstance(value, str), "expected a string")
    return cast("str", value)


def is_encodable(value: str) -> bool:
    """Return whether UTF-8 can encode the text: it has no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_dumped(value: str) -> str | list[int]:
    """Return text of the input for a dump: code points if it has halves of pairs, which few encoders of JSON take."""
    return value if is_encodable(value) else [ord(character) for character in value]


def raw_text(value: object) -> str:
    """Return the text that `as_dumped` dumped."""
    if not isinstance(value, list):
        return text(value)
    points = cast("list[object]", value)
    check(all(type(point) is int and 0 <= point <= MAX_CODE_POINT for point in points), "expected code points")
    return "".join([chr(cast("int", point)) for point in points])


def flag(value: object) -> bool:
    """Return a bool."""
    check(isinstance(value, bool), "expected true or false")
    return cast("bool", value)
