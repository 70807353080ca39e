"""The table of docs/next-request.md: the turn that each library sends back, compared with that of Anthropic's client.

`python -m tests.support.next_request_table --write-docs` writes it into the page, between the markers.
tests/peers/test_next_request_peers.py compares the page with what the libraries do.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from tests.support import readings
from tests.support.conversations import streamed_turns
from tests.support.next_requests import Payload, messages_in, next_turn, normal
from tests.support.page_tables import NEXT_REQUEST, table_in, write_table
from tests.support.peer_turns import PEERS, installed
from unspool.llm import MessageStream

TABLE: Final = "next-request"
HEADING: Final = ("library", "equal", "same blocks in the same order", "citations kept", "lost, added or changed")
OURS: Final = "unspool"
SHOWN: Final = 6
"""How many kinds of loss a cell names."""


@cache
def messages() -> tuple[tuple[Payload, ...], ...]:
    """All recorded messages of Anthropic that came to their end."""
    streams = [readings.payloads(path) for path in readings.recordings() if path.parent.name == "anthropic"]
    streams += [list(turn.chunks) for turn in streamed_turns() if turn.format == "anthropic"]
    found = [tuple(chunks) for stream in streams for chunks in messages_in("anthropic", stream)]
    return tuple(chunks for chunks in found if chunks[-1]["type"] == "message_stop")


@dataclass
class Row:
    """The comparison of one library with the client, over all messages."""

    equal: int = 0
    alike: int = 0
    cited: int = 0
    citations: int = 0
    changes: Counter[str] = field(default_factory=Counter)

    def add(self, theirs: list[Payload], sent: list[Payload]) -> None:
        """Count a message: the blocks of the client, and those that a library sends."""
        kinds, sent_kinds = [[block.get("type") for block in blocks] for blocks in (theirs, sent)]
        self.equal += theirs == sent
        self.alike += kinds == sent_kinds
        self.cited += _citations(sent)
        if kinds != sent_kinds:
            lost, added = Counter(kinds) - Counter(sent_kinds), Counter(sent_kinds) - Counter(kinds)
            is_whole = _text(theirs) == _text(sent)
            for kind, count in lost.items():
                self.changes[f"joined `{kind}`" if kind == "text" and is_whole else f"lost `{kind}`"] += count
            self.changes.update({f"added `{kind}`": count for kind, count in added.items()})
            self.changes["other order"] += not lost and not added
            return
        for block, sent_block in zip(theirs, sent, strict=True):
            names = sorted(block.keys() | sent_block.keys())
            self.changes.update(
                _told(block, sent_block, name) for name in names if block.get(name) != sent_block.get(name)
            )

    def cells(self, library: str) -> tuple[str, ...]:
        """The row as the page has it, the most frequent changes first."""
        ordered = sorted(
            ((count, what) for what, count in self.changes.items() if count), key=lambda it: (-it[0], it[1])
        )
        shown = [f"{what} ({count})" for count, what in ordered[:SHOWN]]
        rest = sum(count for count, _ in ordered[SHOWN:])
        if rest:
            shown.append(f"{rest} more")
        total = len(messages())
        counts = (f"{self.equal} of {total}", f"{self.alike} of {total}", f"{self.cited} of {self.citations}")
        return (library, *counts, ", ".join(shown) or "nothing")


def _citations(blocks: list[Payload]) -> int:
    return sum(len(block.get("citations") or ()) for block in blocks if block.get("type") == "text")


def _text(blocks: list[Payload]) -> str:
    return "".join(block["text"] for block in blocks if block.get("type") == "text")


def _told(block: Payload, sent: Payload, name: str) -> str:
    verb = "lost" if name not in sent else "added" if name not in block else "changed"
    return f"{verb} `{block['type']}.{name}`"


def row(library: str) -> tuple[str, ...]:
    """The row of a library. An error that it raises for a message is one of the changes."""
    found = Row()
    turns = our_turns() if library == OURS else PEERS[library](messages())
    for chunks, sent in zip(messages(), turns, strict=True):
        theirs = _content(next_turn("anthropic", chunks), chunks)
        found.citations += _citations(theirs)
        if isinstance(sent, str):
            found.changes[f"raises `{sent}`"] += 1
        else:
            found.add(theirs, _content([{"role": "assistant", "content": sent}], chunks))
    return found.cells(named(library))


def _content(turn: list[Payload], chunks: tuple[Payload, ...]) -> list[Payload]:
    content: list[Payload] = normal("anthropic", turn, chunks)[0]["content"]
    return content


def our_turns() -> list[list[Payload] | str]:
    """The blocks that the library of this project sends back."""
    states = [list(MessageStream(chunks, format="anthropic"))[-1] for chunks in messages()]
    return [state.as_messages()[0]["content"] for state in states]


def named(library: str) -> str:
    """A library with the version that is installed."""
    return library if library == OURS else f"{library} {installed(library)}"


def lines(rows: list[tuple[str, ...]]) -> list[str]:
    """The lines of the table."""
    ruler = ("---",) * len(HEADING)
    return [f"| {' | '.join(cells)} |" for cells in (HEADING, ruler, *rows)]


def page_rows() -> list[tuple[str, ...]]:
    """The rows that the page has."""
    table = table_in(NEXT_REQUEST, TABLE)
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table[2:]]


def write_docs() -> None:
    """Write the table into the page."""
    write_table(NEXT_REQUEST, TABLE, lines([row(library) for library in (OURS, *PEERS)]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare the next requests of libraries with that of Anthropic's client."
    )
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/next-request.md")
    if parser.parse_args().write_docs:
        write_docs()
    else:
        print("\n".join(lines([row(library) for library in (OURS, *PEERS)])))


if __name__ == "__main__":
    main()
