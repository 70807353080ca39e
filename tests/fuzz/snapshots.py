"""Snapshots, one a line: whatever they are, what is written is the last one that was taken, or was refused aloud.

The first byte chooses what is done about contradictions and empty values, and how patient the chunker is.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any, Final

from unspool import IncompleteJSONError, SnapshotChunker, SnapshotError, ValueParser

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEDS: Final = [
    ['{"a":"x"}', '{"a":"xy","b":[1]}', '{"b":[1,2],"a":"xy"}'],
    ['{"a":{"p":"1","q":{"r":""}},"b":[]}', '{"b":[],"a":{"q":{"r":"","s":""},"p":"1"}}'],
    ["[]", "[1]", '[1,"a"]', '[1,"ab",{}]'],
    [
        '{"t":"","n":0,"l":[]}',
        '{"t":"a","n":0,"l":[]}',
        '{"t":"ab","n":0,"l":[{"x":null},0]}',
        '{"t":"ab","n":1,"l":[2]}',
    ],
    ['{"a":null}', '{"a":null,"b":true}', '{"b":false}', "[", "1e5", '"text"'],
]


def decode(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The settings of the chunker, and the snapshots."""
    choice = data[0] if data else 0
    settings = {
        "on_conflict": "keep" if choice & 1 else "raise",
        "patience": choice >> 1 & 3,
        "empty": "wait" if choice & 8 else "write",
        "keep_text": bool(choice & 16),
    }
    return settings, data[1:].split(b"\n")


def seeds() -> Iterator[bytes]:
    """Chains to start from."""
    for number, lines in enumerate(SEEDS):
        for choice in (0, 1, 2, 3, 8, 9, 10, 24):
            yield bytes([choice]) + "\n".join(Random(number).sample(lines, len(lines)) if choice else lines).encode()


def load(text: str | bytes) -> object:
    """The value of a text, of numbers the spelling, of keys that come twice the last one."""
    loaded: object = json.loads(text, parse_int=lambda raw: ("number", raw), parse_float=lambda raw: ("number", raw))
    return loaded


def check(data: bytes) -> None:
    """An exception is a finding."""
    settings, snapshots = decode(data)
    chunker, text, last = SnapshotChunker(**settings), "", None
    reader = ValueParser(options=None)
    for snapshot in snapshots:
        before = json.dumps(chunker.dump())
        try:
            fragment = chunker.process(snapshot)
        except SnapshotError:
            assert json.dumps(chunker.dump()) == before, "a snapshot that was refused left something behind"
            continue
        reader.feed(fragment)  # every prefix can be continued
        text, last = text + fragment, snapshot
        other = SnapshotChunker.load(json.loads(json.dumps(chunker.dump())))
        whole = text + other.flush()
        json.loads(whole)
        if not chunker.conflicts:
            assert load(whole) == load(snapshot), "not the last snapshot"
    rest = chunker.flush()
    if last is None:
        assert (text, rest) == ("", "")
        return
    try:
        reader.feed(rest)
        reader.close()
    except IncompleteJSONError as error:
        raise AssertionError("the text ends too early") from error
