"""sharing.py: versions of one list never see each other."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool import COMPILED
from unspool._sharing import GrowingMap, appended


def test_the_newest_version_appends_in_place() -> None:
    """Appending behind the last item changes nothing for older versions, and copies nothing."""
    shared: list[str] = []
    for size, item in enumerate("abc"):
        assert appended(shared, size, item) is shared
    assert shared == ["a", "b", "c"]


def test_an_older_version_copies() -> None:
    """Appending where another version has gone on leaves that one alone."""
    shared = ["a", "b", "c"]
    other = appended(shared, 1, "x")
    assert (shared, other) == (["a", "b", "c"], ["a", "x"])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers())))
def test_every_version_stays_what_it_was(steps: list[tuple[int, int]]) -> None:
    """Whichever versions are gone on with, in whatever order, each keeps its own items."""
    versions: list[tuple[list[int], tuple[int, ...]]] = [([], ())]
    for place, item in steps:
        shared, items = versions[place % len(versions)]
        versions.append((appended(shared, len(items), item), (*items, item)))
    assert [tuple(shared[: len(items)]) for shared, items in versions] == [items for _, items in versions]


class Overtaken(list[str]):
    """A list to which another thread appends just before we do."""

    def append(self, item: str) -> None:
        super().append("theirs")
        super().append(item)


@pytest.mark.skipif(COMPILED, reason="compiled code does not ask a subclass of list")
def test_whoever_was_first_wins() -> None:
    """Between the look at the length and the append another may append: then ours is a copy, and theirs stays."""
    shared = Overtaken(["a"])
    ours = appended(shared, 1, "ours")
    assert ours == ["a", "ours"]
    assert ours is not shared
    assert shared[:2] == ["a", "theirs"]
    assert appended(shared, 2, "more") == ["a", "theirs", "more"]


def go_on(shared: list[object], futures: list[tuple[object, list[object]]], together: threading.Barrier) -> None:
    mine = object()
    together.wait()
    futures.append((mine, appended(shared, 1, mine)))


def test_threads() -> None:
    """Many threads that go on from one version at the same time each get a future of their own."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(25):
            futures: list[tuple[object, list[object]]] = []
            arguments = (["past"], futures, threading.Barrier(8))
            threads = [threading.Thread(target=go_on, args=arguments) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(futures) == 8
            assert all(future[:2] == ["past", mine] for mine, future in futures)
    finally:
        sys.setswitchinterval(before)


def go_on_and_on(past: list[object], futures: list[tuple[int, list[object]]], together: threading.Barrier) -> None:
    name, version = threading.get_ident(), past
    together.wait()
    for size in range(1, 60):
        version = appended(version, size, (name, size))
    futures.append((name, version[:60]))


def test_threads_that_go_on_and_on() -> None:
    """Eight threads that append to one past, again and again, each see only what they appended themselves."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            past: list[object] = ["past"]
            futures: list[tuple[int, list[object]]] = []
            together = threading.Barrier(8)
            threads = [threading.Thread(target=go_on_and_on, args=(past, futures, together)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(futures) == 8
            assert all(seen == ["past", *[(name, size) for size in range(1, 60)]] for name, seen in futures)
            assert past[0] == "past"
    finally:
        sys.setswitchinterval(before)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(), st.booleans())))
def test_every_version_of_a_map_stays_what_it_was(steps: list[tuple[int, int, int, bool]]) -> None:
    """Whichever versions get more keys, and whichever are read as dicts meanwhile, each keeps its own members."""
    versions: list[tuple[GrowingMap, dict[object, object]]] = [(GrowingMap(), {})]
    for place, key, value, is_read in steps:
        known, members = versions[place % len(versions)]
        versions.append((known.put(key, value), {**members, key: value}))
        if is_read:
            assert known.as_dict() == members
    for known, members in versions:
        made = known.as_dict()
        assert list(made.items()) == list(members.items()) == known.items()
        assert [known.get(key, "none") for key in range(10)] == [members.get(key, "none") for key in range(10)]
        made["more"] = 1
        assert known.as_dict() == members
