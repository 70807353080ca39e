"""bench/floor.py: the floor counts the copies that the values of a document require, no more and no fewer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from bench.documents import SHAPES, cut, cut_ragged, file_in_a_tool_call, itinerary, table
from bench.floor import floor, required_copies
from unspool import ValueParser

DOCUMENTS = {
    "itinerary": itinerary(3_000),
    "string": file_in_a_tool_call(2_000),
    "rows": table(40),
    **{name: shape(1_500) for name, shape in SHAPES.items()},
    "a string alone": '"some text"',
    "nested": '{"a":[[],{},[1,[true]],{"b":{"c":"text"}}],"d":null}',
}


def copies_of(old: Any, new: Any) -> Iterator[tuple[type, int]]:
    """The containers of `old` that `new` has in the same place, but as another object: their types and old sizes."""
    waiting = [(old, new)]
    while waiting:
        before, after = waiting.pop()
        if before is after or type(before) is not type(after) or not isinstance(before, dict | list):
            continue
        yield type(before), len(before)
        if isinstance(before, dict):
            waiting += [(before[key], after[key]) for key in before]
        else:
            waiting += zip(before, after, strict=False)


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("size", [1, 4, 64])
def test_copies(name: str, size: int) -> None:
    """The copies are those that a parser made whose value was asked for after each fragment."""
    fragments = cut(DOCUMENTS[name], size)
    parser = ValueParser()
    expected: Counter[tuple[type, int]] = Counter()
    old: Any = None
    for fragment in fragments:
        parser.feed(fragment)
        new = parser.value
        expected.update(copies_of(old, new))
        old = new
    copies = required_copies(fragments)
    found: Counter[tuple[type, int]] = Counter()
    found.update((dict, len(each)) for each in copies.dicts)
    found.update((list, part.stop) for _, part in copies.lists)
    assert found == expected
    assert all(len(each) >= part.stop for each, part in copies.lists)


def test_texts() -> None:
    """A string has one piece for each fragment that brought some of it; whole strings need no join."""
    fragments = ['{"a": "x', "y", r"z\n\t", 'w"', ', "b": "whole", "c', '": "', "cut", '"}']
    assert required_copies(fragments).strings == [["x", "y", "z\n\t", "w"]]


def test_the_job() -> None:
    """The job reads the whole document, and may be repeated."""
    fragments = cut_ragged(DOCUMENTS["itinerary"])
    parser = ValueParser()
    for fragment in fragments:
        parser.feed(fragment)
    job = floor(fragments, parser.value)
    for _ in range(2):
        result: Any = job()
        assert result.value == parser.value
