"""The page about repair: every code has a row, under its level."""

from __future__ import annotations

import pytest

from tests.support.repair_scores import PAGE
from unspool import Path, Position, Repair, RepairCode


@pytest.mark.parametrize("code", list(RepairCode))
def test_every_code_is_on_the_page(code: RepairCode) -> None:
    """Spellings and guesses have a table each, and a code is in the table of its level."""
    page = PAGE.read_text(encoding="utf-8")
    spelling, _, guesses = page.partition("### Guesses")
    guesses, _, _ = guesses.partition("### What each level")
    is_guess = Repair(code, Position(0, 1, 1), 0, Path.of()).is_guess
    assert f"| `{code.value}` |" in (guesses if is_guess else spelling)
    assert f"| `{code.value}` |" not in (spelling if is_guess else guesses)
