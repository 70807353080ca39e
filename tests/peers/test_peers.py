"""The law suite can fail: pointed at parsers of partial JSON that break laws 3 and 5, it says so.

A peer is a function from the beginning of a text to its value so far, which raises where it says that there is none.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import jiter
import partial_json_parser
import pytest

from tests.support import corpus
from tests.support.oracle import is_prefix_value, read
from unspool import MISSING, JSONSyntaxError, ValueParser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Peer = Callable[[str], Any]


def unspool_value(text: str) -> Any:
    parser = ValueParser()
    parser.feed(text)
    if parser.value is MISSING:
        raise ValueError("nothing yet")
    return parser.value


def jiter_value(text: str, mode: Literal["on", "trailing-strings"]) -> Any:
    return jiter.from_json(text.encode("utf-8", "surrogatepass"), partial_mode=mode, allow_inf_nan=False)


def partial_json_parser_value(text: str) -> Any:
    return partial_json_parser.loads(text)


PEERS: dict[str, Peer] = {
    "jiter, on": partial(jiter_value, mode="on"),
    "jiter, trailing strings": partial(jiter_value, mode="trailing-strings"),
    "partial-json-parser": partial_json_parser_value,
}

TEXTS = [*corpus.DOCUMENTS.values(), *corpus.VALID]
DEAD = [text[: offset + 1] for text, offset, _ in corpus.BROKEN]
OPEN = [text[:offset] for text, offset, _ in corpus.BROKEN]


NO = (ValueError, IndexError, AssertionError)
"""What a peer raises where it has no value: not each of them means to."""


def law_3_violations(peer: Peer, texts: Iterable[str]) -> list[tuple[str, Any, Any]]:
    """Where a value does not grow: the prefix, the value before it, and its own."""
    found = []
    for text in texts:
        before: Any = None
        has_begun = False
        for end in range(1, len(text) + 1):
            try:
                value = peer(text[:end])
            except NO:  # what shows nothing breaks nothing
                continue
            if has_begun and not is_prefix_value(before, value):
                found.append((text[:end], before, value))
            before, has_begun = value, True
    return found


def law_5_violations(peer: Peer, texts: Iterable[str]) -> list[str]:
    """Of texts that nothing can repair, those that have a value all the same."""
    found = []
    for text in texts:
        with suppress(*NO):
            peer(text)
            found.append(text)
    return found


def without_duplicates(texts: Iterable[str]) -> list[str]:
    """The texts in which no key comes twice: such a key is the one exception from law 3."""
    return [text for text in texts if read(text, duplicate_keys="error").error is None]


def test_the_dead_are_dead() -> None:
    """The texts of law 5 are dead, and alive without their last character, as the model tells."""
    assert {read(text).status for text in DEAD} == {"dead"}
    assert "dead" not in {read(text).status for text in OPEN}


def test_our_own_values_keep_the_laws() -> None:
    """Over all prefixes of our corpus there is not one violation of ours."""
    assert law_3_violations(unspool_value, without_duplicates([*TEXTS, *OPEN])) == []
    assert law_5_violations(unspool_value, DEAD) == []


@pytest.mark.parametrize("name", PEERS)
def test_peers_break_law_3(name: str) -> None:
    """Each peer shows a value that does not grow into the next one."""
    texts = without_duplicates(TEXTS)
    found = law_3_violations(PEERS[name], texts)
    print(f"{name}: {len(found)} violations of law 3 over {sum(map(len, texts)):,} prefixes")
    assert len(found) > 0
    for prefix, before, value in found:
        assert not is_prefix_value(before, value)
        assert is_prefix_value(read(prefix[:-1]).value, read(prefix).value)


@pytest.mark.parametrize("name", PEERS)
def test_peers_break_law_5(name: str) -> None:
    """Each peer has a value for texts that nothing can repair."""
    found = law_5_violations(PEERS[name], DEAD)
    print(f"{name}: {len(found)} of {len(DEAD)} dead texts accepted")
    assert 0 < len(found) < len(DEAD)


@pytest.mark.parametrize("name", PEERS)
def test_what_the_violations_look_like(name: str) -> None:
    """A number is shown before it is whole, and text behind a value that has ended is not looked at."""
    assert law_3_violations(PEERS[name], ["[1, 23]"]) == [("[1, 23", [1, 2], [1, 23])]
    assert law_5_violations(PEERS[name], ["[1-", "1 2", "12x", '"a""']) == ["[1-", "1 2", "12x", '"a""']


# The figures of JSONTestSuite, where it is at hand.


@pytest.fixture
def suite(shared_data: Path) -> Path:
    return shared_data / "jsontestsuite"


def dead_files(suite: Path) -> list[bytes]:
    expected = json.loads((suite / "expected.json").read_text())
    files = sorted((suite / "test_parsing").glob("n_*.json"))
    return [file.read_bytes() for file in files if expected[file.name]["status"] == "dead"]


def valid_files(suite: Path) -> list[str]:
    return [file.read_bytes().decode() for file in sorted((suite / "test_parsing").glob("y_*.json"))]


def test_growth_over_the_suite(suite: Path) -> None:
    """Over all prefixes of its valid files: none of ours, 49 of jiter's."""
    texts = valid_files(suite)
    assert sum(map(len, texts)) == 1166
    assert law_3_violations(unspool_value, without_duplicates(texts)) == []
    assert len(law_3_violations(PEERS["jiter, on"], texts)) == 49
    assert len(law_3_violations(PEERS["jiter, trailing strings"], texts)) == 50


def test_growth_over_the_suite_and_pass01(suite: Path) -> None:
    """With the document that Python's own tests are proud to pass: 2,607 prefixes, 116 violations of jiter's."""
    try:
        pass01 = str(import_module("test.test_json.test_pass1").JSON).strip()
    except ImportError:
        pytest.skip("this Python came without its tests")
    texts = [*valid_files(suite), pass01]
    assert sum(map(len, texts)) == 2607
    assert law_3_violations(unspool_value, without_duplicates(texts)) == []
    assert len(law_3_violations(PEERS["jiter, on"], texts)) == 116


def test_dead_files_of_the_suite(suite: Path) -> None:
    """Of the 156 files that are dead, we accept none, and jiter accepts 38."""
    dead = dead_files(suite)
    assert len(dead) == 156
    accepted = []
    for data in dead:
        with suppress(ValueError):
            accepted.append(jiter.from_json(data, partial_mode="on", allow_inf_nan=False))
        with pytest.raises(JSONSyntaxError):
            ValueParser().feed(data)
    assert len(accepted) == 38
