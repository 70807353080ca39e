"""What a snapshot is inside: equality to any depth, spellings of numbers, dialects that `json` does not have."""

from __future__ import annotations

from typing import Any

import pytest

from unspool import Code, JSONSyntaxError, Options, OptionsError, Reason, SnapshotChunker, SnapshotError
from unspool._chunker.reading import MAX_SPELLINGS, SnapshotReader
from unspool._chunker.values import Number, same
from unspool._path import ROOT

DEEP = 5000
UNLIMITED = Options(max_depth=None)


def nested(depth: int, innermost: Any) -> Any:
    value = innermost
    for number in range(depth):
        value = [value, Number("1")] if number % 2 else {"a": value, "b": True}
    return value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["x"], ["y"]),
        (["x"], ["x", "y"]),
        ({"a": "x"}, {"b": "x"}),
        ({"a": "x"}, {"a": "x", "b": "x"}),
        ([], {}),
        (True, Number("1")),
        (Number("1"), Number("1.0")),
        ("1", Number("1")),
        (None, False),
    ],
)
def test_same_to_any_depth(one: Any, other: Any) -> None:
    """Equal values are the same, others are not, also where comparing with ``==`` overflows the stack."""
    for depth in (0, 3, DEEP):
        assert same(nested(depth, one), nested(depth, one))
        assert not same(nested(depth, one), nested(depth, other))
        assert not same(nested(depth, other), nested(depth, one))


def test_snapshots_deeper_than_the_stack() -> None:
    """Without a limit a snapshot may be as deep as it likes; what is closed in it is still compared."""
    before = "[" * DEEP + '"x"' + "]" * DEEP
    chunker = SnapshotChunker(options=UNLIMITED)
    assert chunker.process(f"[{before}, 0]") == f"[{before},0"
    assert chunker.process(f"[{before}, 0, 1]") == ",1"
    with pytest.raises(SnapshotError) as caught:
        chunker.process(f"[{before.replace('x', 'y')}, 0, 1]")
    assert (len(caught.value.path), caught.value.reason) == (DEEP + 1, Reason.REWRITTEN)
    assert SnapshotChunker.load(chunker.dump()).flush() == "]"


def test_each_spelling_is_one_object() -> None:
    """Numbers that stay are found equal at a glance; how many are remembered has an end, being right has none."""
    reader = SnapshotReader(Options())
    first, second = reader.read("[1.0, 1, 1.0]", 1), reader.read("[1.0]", 2)
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert first[0] is first[2] is second[0]
    assert not same(first[0], first[1])
    reader.read(str(list(range(2 * MAX_SPELLINGS))), 3)
    assert same(reader.read("[1.0, 1, 1.0]", 4), first)


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        (Options(trailing_commas=True), '{"a": [1.0, {"b": null,},], "c": "x",}', '{"a":[1.0,{"b":null}],"c":"x"}'),
        (Options(trailing="ignore"), '["x", false] and so on', '["x",false]'),
        (Options(duplicate_keys="error"), '{"a": {"a": []}}', '{"a":{"a":[]}}'),
        (Options(surrogates="error"), '"x"', '"x"'),
        (Options(floats="decimal"), "[1e999]", "[1e999]"),
    ],
)
def test_dialects(options: Options, text: str, expected: str) -> None:
    """The options that say how to read hold for snapshots too."""
    chunker = SnapshotChunker(options=options)
    assert chunker.process(text) + chunker.flush() == expected


@pytest.mark.parametrize(
    ("options", "text", "code"),
    [
        (Options(duplicate_keys="error"), '{"a": 1, "a": 1}', Code.DUPLICATE_KEY),
        (Options(surrogates="error"), r'"\ud83d"', Code.LONE_SURROGATE),
        (Options(), "[1e999]", Code.NUMBER_OVERFLOW),
        (Options(), "[NaN]", Code.UNEXPECTED_CHARACTER),
        (Options(), "[1,]", Code.UNEXPECTED_CHARACTER),
    ],
)
def test_dialects_that_refuse(options: Options, text: str, code: Code) -> None:
    """What the reader refuses is refused, with its error as the cause."""
    with pytest.raises(SnapshotError) as caught:
        SnapshotChunker(options=options).process(text)
    assert caught.value.reason is Reason.NOT_JSON
    assert isinstance(caught.value.__cause__, JSONSyntaxError)
    assert caught.value.__cause__.code is code


@pytest.mark.parametrize("options", [Options(multiple=True), Options(on_error="skip")])
def test_a_snapshot_is_one_whole_value(options: Options) -> None:
    """Options under which a text may be several values, or half a one, make no sense."""
    with pytest.raises(OptionsError):
        SnapshotChunker(options=options)


def test_keys_over_the_limit_wherever_they_are() -> None:
    """The key of a new member, and a key inside of it."""
    snapshots: list[dict[str, Any]] = [{"ab": 1}, {"a": {"ab": 1}}, {"a": [{"ab": []}]}, {"a": "", "b": {"ab": 1}}]
    for snapshot in snapshots:
        chunker = SnapshotChunker(options=Options(max_key=1))
        chunker.process({})
        with pytest.raises(SnapshotError) as caught:
            chunker.process(snapshot)
        assert (caught.value.reason, caught.value.path == ROOT) == (Reason.LIMIT, False)
