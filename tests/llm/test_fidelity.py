"""The fidelity tables: each format keeps an item of a message, or reports it as lost. tests/support/fidelity.py."""

from __future__ import annotations

import pytest

from tests.support.fidelity import (
    ITEMS,
    OTHERS,
    OWN,
    SOURCES,
    cell,
    fidelity_table,
    holds,
    items_of,
    message_from,
    outcome,
)
from tests.support.page_tables import NEXT_REQUEST, table_in
from unspool.llm._requests.registry import WRITERS


@pytest.mark.parametrize("source", SOURCES)
def test_messages_have_all_items(source: str) -> None:
    """Each item of a source is in one of the parts of its message."""
    state = message_from(source)
    assert state.error is None
    missing = [item for item in items_of(source) if not any(holds(part, item) for part in state.parts)]
    assert missing == []


@pytest.mark.parametrize("target", WRITERS)
@pytest.mark.parametrize("source", SOURCES)
def test_nothing_is_dropped_without_a_trace(source: str, target: str) -> None:
    """Each item is kept, or a loss names its part; each part has a kept item, or a loss names it."""
    state = message_from(source)
    found = {item: outcome(state, item, target)[0] for item in items_of(source)}
    assert [item for item, told in found.items() if told == "dropped"] == []
    named = {loss.part for loss in state.lost_in(target)}
    for number, part in enumerate(state.parts):
        assert number in named or any(holds(part, item) and told in {"kept", "changed"} for item, told in found.items())


@pytest.mark.parametrize("source", SOURCES)
def test_own_formats_keep_what_must_go_back(source: str) -> None:
    """Text, reasoning, its hidden forms and the calls of the application go back to their own provider."""
    state = message_from(source)
    needed = {"text", "thought", "signature", "encrypted", "function", "custom", "builtin", "refusal", "opaque"}
    for item in needed & set(items_of(source)):
        assert outcome(state, item, source) == ("kept", ()), item


@pytest.mark.parametrize("target", [target for target in WRITERS if target != "openai-responses"])
def test_tools_of_the_provider_become_functions(target: str) -> None:
    """Each format reports it: the application has to define the tool itself."""
    assert outcome(message_from("openai-responses"), "builtin", target) == ("changed", ("opaque",))


@pytest.mark.parametrize("name", [OWN, OTHERS])
def test_the_tables_of_the_page(name: str) -> None:
    """The page has the tables of today: one row per item, one column per format, and nothing was dropped."""
    lines = fidelity_table(name)
    assert len(lines) == len(ITEMS) + 2
    assert {line.count(" | ") for line in (lines[0], *lines[2:])} == {len(WRITERS)}
    assert "dropped" not in "".join(lines)
    stale = "the page is stale: python -m tests.support.fidelity --write-docs"
    assert table_in(NEXT_REQUEST, name) == lines, stale


def test_the_words_of_a_cell() -> None:
    """All outcomes of an item are in its cell, each loss once."""
    assert cell([]) == "-"
    assert cell([("kept", ()), ("kept", ())]) == "kept"
    assert cell([("changed", ("opaque",)), ("kept", ())]) == "kept; changed: `opaque`"
    assert cell([("lost", ("b", "a")), ("kept", ()), ("lost", ("a",))]) == "kept; lost: `a`, `b`"
    assert cell([("dropped", ())]) == "dropped"
