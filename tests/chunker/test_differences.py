"""`diff_snapshots`, and `assert_fragments_are`, which tells the differences."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given

from tests.support import chains
from tests.support.chains import Chain, differences, load
from tests.support.steps import steps
from unspool import COMPILED, Reason, SnapshotChunker, SnapshotDiff, SnapshotError, diff_snapshots
from unspool.testing import assert_fragments_are


def told(diff: SnapshotDiff) -> dict[str, list[str]]:
    """The groups that have paths, as text."""
    groups: dict[str, list[str]] = {}
    for name, path in diff:
        groups.setdefault(name, []).append(str(path))
    return groups


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("{}", "{}", {}),
        ('{"a":1,"b":[2]}', {"b": [2], "a": 1}, {}),
        ('{"a":"x"}', '{"a":"xy"}', {"extended": ["$.a"]}),
        ('{"a":"xy"}', '{"a":"x"}', {"changed": ["$.a"]}),
        ('{"a":""}', b'{"a":"","b":{"c":1}}', {"new": ["$.b"]}),
        ([1, [2, 3], "x"], [1, [2]], {"removed": ["$[2]", "$[1][1]"]}),
        ({"a": None, "b": 1, "c": True}, {"a": 0, "b": 1.0, "c": 1}, {"changed": ["$.a", "$.b", "$.c"]}),
        ("1", "2", {"changed": ["$"]}),
        ("1.0", "1.00", {"changed": ["$"]}),
        ([{"a": "x", "b": []}], [{"a": "xy", "b": [1], "c": 2}, 3], {
            "new": ["$[1]", "$[0].c", "$[0].b[0]"],
            "extended": ["$[0].a"],
        }),
    ],
)  # fmt: skip
def test_where_two_snapshots_differ(before: Any, after: Any, expected: dict[str, list[str]]) -> None:
    """Each difference is in one group, at the place where it begins. Equal snapshots give nothing, which is false."""
    diff = diff_snapshots(before, after)
    assert told(diff) == expected
    assert bool(diff) is bool(expected)


def test_it_is_frozen() -> None:
    """A result cannot be changed, and equal ones are equal."""
    diff = diff_snapshots([1], [1, 2])
    with pytest.raises(FrozenInstanceError):
        diff.new = ()  # type: ignore[misc]
    assert diff == diff_snapshots("[1]", "[1,2]")
    assert hash(diff) == hash(diff_snapshots("[1]", "[1,2]"))


def test_what_is_no_json() -> None:
    """It is named by its step: 1 is before, 2 is after."""
    for before, after, step in (("{", "{}", 1), ("{}", float("nan"), 2)):
        with pytest.raises(SnapshotError) as caught:
            diff_snapshots(before, after)
        assert (caught.value.reason, caught.value.step) == (Reason.NOT_JSON, step)


@given(chains.contradictions())
def test_it_finds_what_the_model_finds(chain: Chain) -> None:
    """The paths are those of a plain comparison, and what is removed one way is new the other way."""
    for before, after, one, other in zip(
        chain.inputs, chain.inputs[1:], chain.values, chain.values[1:], strict=False
    ):  # fmt: skip
        diff = diff_snapshots(before, after)
        assert {path.steps for _, path in diff} == set(differences(one, other))
        back = diff_snapshots(after, before)
        assert (set(diff.new), set(diff.removed)) == (set(back.removed), set(back.new))
        assert {*diff.extended, *diff.changed} == {*back.extended, *back.changed}


def nested(depth: int, leaf: Any) -> Any:
    value = leaf
    for at in range(depth):
        value = {"a": value, "n": at} if at % 2 else [at, value]
    return value


def test_values_of_any_depth() -> None:
    """Nothing recurses."""
    diff = diff_snapshots(nested(20_000, "x"), nested(20_000, "xy"))
    assert [len(path.steps) for path in diff.extended] == [20_000]
    assert not diff_snapshots(nested(20_000, "x"), nested(20_000, "x"))


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
def test_it_is_linear() -> None:
    """Twice the value is at most 2.3 times the work, wide or deep; so is a chunker whose empty values wait."""

    def wide(count: int) -> Any:
        return {f"k{at}": ["x" * at, {"a": at}] for at in range(count)}

    def fill(count: int) -> None:
        chunker = SnapshotChunker(empty="wait", patience=1)
        for step in range(8):
            chunker.process({f"k{at}": "x" * step if at * 8 < step * count else "" for at in range(count)})

    for work in (
        lambda count: diff_snapshots(wide(count), wide(count + 1)),
        lambda count: diff_snapshots(nested(count, 1), nested(count, 2)),
        lambda count: SnapshotChunker(empty="wait").process(nested(min(count, 100), [])),
        fill,
    ):
        assert steps(lambda work=work: work(400)) < 2.3 * steps(lambda work=work: work(200))  # type: ignore[misc]


# ---- the assertion ---------------------------------------------------------------------------------------------


def message_of(fragments: Any, snapshot: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_fragments_are(fragments, snapshot)
    return str(caught.value)


def test_fragments_that_are_the_snapshot() -> None:
    """A text or its fragments, in any order of keys; the snapshot as text, bytes or a value."""
    assert_fragments_are('{"a":1,"b":"x"}', {"b": "x", "a": 1})
    assert_fragments_are(['{"a":', "1}"], '{"a": 1}')
    assert_fragments_are(iter(["[", "]"]), b"[]")


def test_what_the_message_tells() -> None:
    """Where they differ and how, or where the text is not JSON; a few places, and how many more."""
    assert message_of('{"a":"xy","b":1,"c":[2]}', {"a": "xz", "b": 1, "d": "new"}) == (
        "the fragments differ from the snapshot in 3 places\n"
        "  $.d: missing; the snapshot has 'new'\n"
        "  $.c: the fragments have [2]; the snapshot has no value\n"
        "  $.a: 'y' is not 'z'"
    )
    assert message_of('{"a":"x"}', {"a": "xy"}).endswith("$.a: 'x' is not 'xy'")
    assert message_of("[1.0]", "[1]").endswith("$[0]: Decimal('1.0') is not 1")
    assert message_of('{"a":"', {"a": 1}) == (
        "the fragments are not JSON: the text ended too early: line 1, column 7 (offset 6), in $.a; "
        'expected the rest of the string\n  the text: \'{"a":"\''
    )
    assert "the end of the text: " in message_of("[" + "1," * 100, [])
    assert message_of("[]", list(range(100))).endswith("  and 95 more")
    with pytest.raises(SnapshotError):
        assert_fragments_are("{}", float("nan"))


@given(chains.all_chains())
def test_it_agrees_with_the_laws(chain: Chain) -> None:
    """Each chain that a chunker reads ends in its last snapshot, and differs from those that are not equal to it."""
    chunker = SnapshotChunker(**chain.options)
    text = "".join([*[chunker.process(snapshot) for snapshot in chain.inputs], chunker.flush()])
    for snapshot, value in zip(chain.inputs, chain.values, strict=True):
        if value == load(text):
            assert_fragments_are(text, snapshot)
        else:
            assert message_of(text, snapshot)
