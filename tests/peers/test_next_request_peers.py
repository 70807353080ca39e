"""The table of docs/next-request.md is what the libraries do; tests/support/next_request_table.py makes it.

A library that is not installed skips its row by name. Where a library changes, its row fails, and the page has to be
written again: `python -m tests.support.next_request_table --write-docs`.
"""

from __future__ import annotations

import pytest

from tests.support import shared
from tests.support.next_request_table import HEADING, OURS, TABLE, Row, lines, messages, page_rows, row
from tests.support.page_tables import NEXT_REQUEST, table_in
from tests.support.peer_turns import PEERS, installed


def test_the_table_has_every_library() -> None:
    """Nothing is left out, on either side."""
    assert [cells[0].split()[0] for cells in page_rows()] == [OURS, *PEERS]
    assert table_in(NEXT_REQUEST, TABLE)[:2] == lines([])
    assert all(len(cells) == len(HEADING) for cells in page_rows())


@pytest.mark.parametrize("library", [OURS, *PEERS])
def test_the_table_says_what_happens(library: str) -> None:
    """Each row is what the library does, in the version that is installed."""
    if shared.shared_data() is None:
        pytest.skip(shared.NOT_HERE)
    if library != OURS and installed(library) is None:
        pytest.skip(f"{library} is not installed")
    assert row(library) in page_rows()


def test_the_page_says_how_many_messages_there_are(shared_data: object) -> None:
    """The numbers around the table are those of the recordings."""
    whole = [chunks for chunks in messages() if chunks[0]["message"]["content"]]
    text = " ".join(NEXT_REQUEST.read_text(encoding="utf-8").split())
    assert f"{len(messages())} recorded messages" in text
    assert f"{len(whole)} of the messages come whole" in text


TEXT = {"type": "text", "text": "Let me see."}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {}, "caller": {"type": "direct"}}


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ([TEXT, CALL], ("1", "1", "nothing")),
        ([CALL, TEXT], ("0", "0", "other order (1)")),
        ([TEXT], ("0", "0", "lost `tool_use` (1)")),
        ([CALL], ("0", "0", "lost `text` (1)")),
        ([TEXT, TEXT, CALL], ("0", "0", "added `text` (1)")),
        ([TEXT, {**CALL, "input": {"x": 1}}], ("0", "1", "changed `tool_use.input` (1)")),
        ([TEXT, {**CALL, "new": 1}], ("0", "1", "added `tool_use.new` (1)")),
        (
            [TEXT, {name: CALL[name] for name in ("type", "id", "name", "input")}],
            ("0", "1", "lost `tool_use.caller` (1)"),
        ),
    ],
)
def test_what_a_row_says(sent: list[dict[str, object]], told: tuple[str, ...]) -> None:
    """Each way to differ from the client has its words."""
    found = Row()
    found.add([TEXT, CALL], sent)
    equal, alike, _, changes = found.cells("library")[1:]
    assert (equal.split()[0], alike.split()[0], changes) == told


def test_joined_text_is_not_lost() -> None:
    """The table calls fewer blocks with the same text joined."""
    found = Row()
    found.add([{**TEXT, "text": "Let me "}, {**TEXT, "text": "see."}, CALL], [TEXT, CALL])
    assert found.changes == {"joined `text`": 1, "other order": 0}
