"""The first table of docs/coming-from.md, made by running the libraries beside unspool."""

from __future__ import annotations

import pytest

from tests.support.page_tables import table_in
from tests.support.typed_peers import PAGE, TABLE, table


def test_the_table_is_current() -> None:
    """The page has just what the libraries do; ``python -m tests.support.typed_peers`` writes it anew."""
    for module in ("instructor", "pydantic_ai", "baml_py", "langdiff"):
        pytest.importorskip(module)
    assert table_in(PAGE, TABLE) == table()
