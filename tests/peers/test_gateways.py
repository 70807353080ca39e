"""Law 42: the tables of docs/gateways.md are what the libraries do; tests/support/gateway_table.py makes them.

A library that is not installed skips its row by name. Where a library changes, its row fails, and the page has to be
written again: `python -m tests.support.gateway_table --write-docs`.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import shared
from tests.support.gateway_table import (
    CHECKS,
    MISTAKES,
    OURS,
    PEER,
    lines,
    mistakes,
    page_rows,
    read_chat,
    row,
    verdicts,
)
from tests.support.next_request_table import messages
from tests.support.page_tables import GATEWAYS, table_in
from tests.support.peer_turns import installed


@pytest.mark.parametrize("library", [OURS, PEER])
def test_law_42_the_table_says_what_happens(library: str) -> None:
    """Each row is what the library does, in the version that is installed."""
    if shared.shared_data() is None:
        pytest.skip(shared.NOT_HERE)
    if library == PEER and installed(PEER) is None:
        pytest.skip(f"{PEER} is not installed")
    assert row(library) in page_rows()


def test_law_42_unspool_loses_nothing(shared_data: object) -> None:
    """The row of unspool is full."""
    (ours,) = [cells for cells in page_rows() if cells[0] == OURS]
    assert set(ours[1:]) == {f"{len(messages())} of {len(messages())}"}


def test_law_42_the_page_lists_every_mistake() -> None:
    """Each test of a mistake is a row, with its reports."""
    assert table_in(GATEWAYS, MISTAKES) == lines(mistakes(), ("mistake", "reports", "test"))


SENT: dict[str, Any] = {
    "text": "Hi",
    "reasoning": "",
    "calls": [("a", "f", {})],
    "server": {"s"},
    "reason": "tool_use",
    "tokens": (1, 2),
}


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_can_fail(check: str) -> None:
    """A message that differs in one thing fails that check alone."""
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    choice: dict[str, Any] = {"delta": {"content": "Hi", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    chunk = {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    assert all(verdicts(SENT, read_chat([chunk])).values())
    server = {**call, "index": 1, "id": "s"}
    wrong: dict[str, dict[str, Any]] = {
        "text": {**chunk, "choices": [{**choice, "delta": {"content": "H", "tool_calls": [call]}}]},
        "reasoning": {**chunk, "choices": [{**choice, "delta": {**choice["delta"], "reasoning_content": "Hm"}}]},
        "calls": {**chunk, "choices": [{**choice, "delta": {"content": "Hi"}}]},
        "no calls of the provider's tools": {
            **chunk,
            "choices": [{**choice, "delta": {"content": "Hi", "tool_calls": [call, server]}}],
        },
        "finish reason": {**chunk, "choices": [{**choice, "finish_reason": "stop"}]},
        "tokens": {**chunk, "usage": {"prompt_tokens": 0, "completion_tokens": 2}},
    }
    assert [name for name, passed in verdicts(SENT, read_chat([wrong[check]])).items() if not passed] == [check]
