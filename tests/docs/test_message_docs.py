"""The pages about messages name every quirk and every fault that there is."""

from __future__ import annotations

import pytest

from tests.support.shared import PROJECT
from unspool.llm import Fault, Quirk


@pytest.mark.parametrize("quirk", list(Quirk))
def test_every_quirk_is_documented(quirk: Quirk) -> None:
    """Whoever meets a diagnostic finds it on the page."""
    assert f"`{quirk.value}`" in (PROJECT / "docs" / "messages.md").read_text()


@pytest.mark.parametrize("fault", list(Fault))
def test_every_fault_is_documented(fault: Fault) -> None:
    """Whoever meets an error finds it on the page."""
    assert f"`{fault.value}`" in (PROJECT / "docs" / "messages-errors.md").read_text()
