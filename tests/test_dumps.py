"""The checks that all states share when they load a dump."""

from __future__ import annotations

import pytest

from unspool import StateError
from unspool._dumps import MAX_NATURAL, check, flag, natural, text


def test_valid_values_pass() -> None:
    """Each function returns the value that it was given."""
    check(True, "unused")
    assert (natural(0), natural(MAX_NATURAL), text(""), text("a"), flag(False)) == (0, MAX_NATURAL, "", "a", False)


def test_errors_say_what_is_wrong() -> None:
    """The message completes one sentence."""
    with pytest.raises(StateError, match=r"^invalid state dump: unknown mode$"):
        check(False, "unknown mode")


@pytest.mark.parametrize("number", [-1, MAX_NATURAL + 1, True, 1.0, "1", None])
def test_natural_numbers(number: object) -> None:
    """A bool is not a number, and neither is a float without a fraction."""
    with pytest.raises(StateError, match=r"^invalid state dump: expected a whole number that is not negative$"):
        natural(number)


@pytest.mark.parametrize("value", [b"a", None, 1])
def test_texts(value: object) -> None:
    """Only strings are texts."""
    with pytest.raises(StateError, match=r"^invalid state dump: expected a string$"):
        text(value)


@pytest.mark.parametrize("value", [0, 1, None, "true"])
def test_flags(value: object) -> None:
    """Only bools are flags."""
    with pytest.raises(StateError, match=r"^invalid state dump: expected true or false$"):
        flag(value)
