"""Checks for dumped states: each function returns what it was given, or raises `StateError`."""

from __future__ import annotations

from ._errors import StateError
from ._native import cast

__all__ = ["check", "natural", "text"]

MAX_NATURAL = 1 << 60  # far beyond any text, and far below the end of machine integers


def check(is_right: bool, what: str) -> None:
    """Raise ``StateError("invalid state dump: {what}")`` unless `is_right`."""
    if not is_right:
        raise StateError(f"invalid state dump: {what}")


def natural(number: object) -> int:
    """Return `number` if it is a whole number from 0 up."""
    check(type(number) is int and 0 <= number <= MAX_NATURAL, "not a whole number from 0 up")
    return cast("int", number)


def text(value: object) -> str:
    """Return `value` if it is a string."""
    check(isinstance(value, str), "not a string")
    return cast("str", value)
