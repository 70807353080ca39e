"""The fidelity tables: each format keeps an item of a message, or reports it as lost. tests/support/fidelity.py."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import TYPE_CHECKING, Any

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
from unspool.llm import MessageError, MessageStream
from unspool.llm._requests.registry import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each member and item inside a value: the object or list that has it, and its name or number there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places_in(value[key])


@pytest.mark.parametrize("odd", [[], {"a": [1]}, 5, None], ids=repr)
@pytest.mark.parametrize("source", SOURCES)
def test_fields_of_the_wrong_type(source: str, odd: object) -> None:
    """Each format can write the turn and the results, with an odd value in place of any one field."""
    chunks = copy.deepcopy(SOURCES[source])
    for holder, key in list(places_in(chunks)):
        kept, holder[key] = holder[key], odd
        stream = MessageStream(chunks, format=source)
        with suppress(MessageError):
            stream.final()
        state = stream.state
        for target in WRITERS:
            turn = state.as_messages(target)
            results = state.tool_results(dict.fromkeys(state.tool_calls, "done"), target)
            assert all(type(entry) is dict for entry in [*turn, *results])
        holder[key] = kept
    assert chunks == SOURCES[source]


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
