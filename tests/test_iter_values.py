"""streams.py: iter_values and aiter_values, one value for each fragment that changed something visible."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing, closing, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import corpus
from tests.support.collecting import Seen, Source, collected
from tests.support.collecting import awaited as collected_awaiting
from tests.support.oracle import same
from unspool import (
    MISSING,
    Code,
    IncompleteJSONError,
    JSONSyntaxError,
    Options,
    aiter_values,
    create_state,
    iter_values,
    parse_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def plain(fragments: Iterable[Any], options: Options | None = None, **named: Any) -> Seen:
    return collected(lambda source: iter_values(source, options, **named), fragments)


def awaited(fragments: Iterable[Any], options: Options | None = None, **named: Any) -> Seen:
    return collected_awaiting(lambda source: aiter_values(source, options, **named), fragments)


both = pytest.mark.parametrize("collect", [plain, awaited])
MULTIPLE = Options(multiple=True)


@both
def test_one_for_each_visible_change(collect: Any) -> None:
    """A fragment that shows nothing new gives no value; one that shows much gives one."""
    fragments = ["", " ", "{", '"a', '": ', '"', "x", "\\u00", "e9", '", "b": [1', "2", ", 3", "]", "}", "\n"]
    seen = collect(fragments)
    assert seen.error is None
    assert seen.values == [
        {},
        {"a": ""},
        {"a": "x"},
        {"a": "xé"},
        {"a": "xé", "b": []},
        {"a": "xé", "b": [12]},
        {"a": "xé", "b": [12, 3]},
    ]
    assert all(one is not other for one, other in pairwise(seen.values))


@both
def test_every(collect: Any) -> None:
    """With `every` there is one value for each fragment; where nothing changed, it is the same object."""
    fragments = ["", " ", "[", "1", "", ", ", '"', "\\u00", "e9", '"', "]", " "]
    seen = collect(fragments, every=True)
    assert seen.values == [MISSING, MISSING, [], [], [], [1], [1, ""], [1, ""], [1, "é"], [1, "é"], [1, "é"], [1, "é"]]
    assert all((one is other) is (one == other) for one, other in pairwise(seen.values))


@both
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize("name", corpus.DOCUMENTS)
def test_values_are_those_of_the_states(name: str, size: int, collect: Any) -> None:
    """The values of a document are those of the pure parser after each fragment that changed one."""
    text = corpus.DOCUMENTS[name][: 120 * size]
    fragments = [text[start : start + size] for start in range(0, len(text), size)]
    state, expected = create_state(), []
    for fragment in fragments:
        before = state.value
        state = parse_chunk(state, fragment)
        if state.value is not before:
            expected.append(state.value)
    seen = collect(fragments)
    assert same(seen.values, expected)
    assert (seen.error is None) is state.is_complete


@both
def test_what_was_yielded_stays_and_is_shared(collect: Any) -> None:
    """No value changes after it was yielded, and each shares with the next whatever did not change."""
    values = collect(list('[["a"], {"b": [1]}, ["c'), every=False).values
    assert [json.dumps(value) for value in values] == [
        "[]",
        "[[]]",
        '[[""]]',
        '[["a"]]',
        '[["a"], {}]',
        '[["a"], {"b": []}]',
        '[["a"], {"b": [1]}]',
        '[["a"], {"b": [1]}, []]',
        '[["a"], {"b": [1]}, [""]]',
        '[["a"], {"b": [1]}, ["c"]]',
    ]
    assert len({id(value[0]) for value in values[3:]}) == 1
    assert len({id(value[1]) for value in values[6:]}) == 1


@both
@pytest.mark.parametrize(
    ("fragments", "values"),
    [
        (["1 1 1"], [1, 1, 1]),
        (["1 1", " 1"], [1, 1, 1]),
        (["1", " 1 ", "1"], [1, 1, 1]),
        (["{} {}"], [{}, {}]),
        (["{}", "{}"], [{}, {}]),
        (["{} ", "{", "}"], [{}, {}]),
        (["{}\n{", '"a": 1}\n{}\n'], [{}, {}, {"a": 1}, {}]),
        (['"a" "a"'], ["a", "a"]),
        (['"ab"', ' "ab"'], ["ab", "ab"]),
        (['"ab', '" "ab"'], ["ab", "ab"]),
        (['"" ', '""'], ["", ""]),
        (["true true", " true"], [True, True, True]),
        (["null\nnull\n"], [None, None]),
        (["[1] [2", "] [3]"], [[1], [], [2], [3]]),
        (["1.5 1.5 ", "2"], [1.5, 1.5, 2]),
        (["[", "] [", "]"], [[], []]),
        (["1 ", "[", '"a"', "]", " 1"], [1, [], ["a"], 1]),
        (["", " \n"], []),
    ],
    ids=repr,
)
def test_several_documents(fragments: list[str], values: list[object], collect: Any) -> None:
    """Each document of a text is yielded when it closes, equal ones too, and once if it grew no more."""
    seen = collect(fragments, MULTIPLE)
    assert same(seen.values, values)
    assert seen.error is None


@both
def test_every_with_several_documents(collect: Any) -> None:
    """With `every`, a fragment that closes several documents gives each of them, and one that closes none gives one."""
    seen = collect(["1 2 3", "", " {", " ", "}{}", "\n"], MULTIPLE, every=True)
    assert seen.values == [1, 2, 2, 3, {}, {}, {}, {}]


@both
@pytest.mark.parametrize(
    ("fragments", "values", "code"),
    [
        (["[1, ", "2, x, 3]"], [[1], [1, 2]], Code.UNEXPECTED_CHARACTER),
        (["[1, x", "never read"], [[1]], Code.UNEXPECTED_CHARACTER),
        (['["a', "b\n"], [["a"], ["ab"]], Code.CONTROL_CHARACTER),
        (["x"], [], Code.UNEXPECTED_CHARACTER),
        (["[1]", "[2]"], [[1]], Code.TRAILING_TEXT),
        (["[1, 2"], [[1]], Code.INCOMPLETE),
        (["[1, ", ""], [[1]], Code.INCOMPLETE),
        ([], [], Code.INCOMPLETE),
        (["12"], [12], None),
        (["-1.5"], [-1.5], None),
    ],
    ids=repr,
)
def test_deliver_then_raise(fragments: list[str], values: list[object], code: Code | None, collect: Any) -> None:
    """What came before a fault is yielded, then the fault is raised; the end of the text counts too."""
    seen = collect(fragments)
    assert seen.values == values
    assert (seen.error and seen.error.code) == code
    assert isinstance(seen.error, IncompleteJSONError) is (code is Code.INCOMPLETE)


@both
def test_every_up_to_the_fault(collect: Any) -> None:
    """With `every`, the fragment that has the fault gives its value before the fault is raised."""
    seen = collect(["[", "1, x", "2"], every=True)
    assert seen.values == [[], [1]]
    assert seen.error.code is Code.UNEXPECTED_CHARACTER
    assert collect(["[", "1"], every=True).values == [[], []]


@both
def test_errors_that_are_skipped(collect: Any) -> None:
    """Where errors are skipped, what is dropped again was a visible change, and only the last error is raised."""
    skip = Options(on_error="skip")
    seen = collect(['["a', '\\q", 1', "]"], skip)
    assert seen.values == [["a"], [], [1]]
    assert seen.error is None
    seen = collect(["[x, 1", ", 2"], skip)
    assert seen.values == [[], [1]]
    assert seen.error.code is Code.INCOMPLETE


@both
def test_documents_after_one_that_was_dropped(collect: Any) -> None:
    """A document that equals the one that is shown again after an error is yielded nevertheless."""
    lines = Options(on_error="skip", multiple=True)
    seen = collect(['1 "a', "\\q\n", "1\n"], lines)
    assert seen.values == [1, "a", 1, 1]


@both
def test_extract(collect: Any) -> None:
    """With `extract` the JSON is found in other text."""
    fragments = ["Sure:\n```js", 'on\n{"a": ', "[1, ", "2]}\n``", "`\nBye"]
    seen = collect(fragments, extract=True)
    assert seen.values == [{}, {"a": [1]}, {"a": [1, 2]}]
    assert seen.error is None
    assert collect(["no JSON ", "here"], extract=True).error.code is Code.INCOMPLETE
    several = collect(['First: {"a": 1}, then: {"a": 1}.'], MULTIPLE, extract=True)
    assert several.values == [{"a": 1}, {"a": 1}]


@both
def test_bytes(collect: Any) -> None:
    """Bytes may be cut inside of a character."""
    data = '["é😀"]'.encode()
    seen = collect([data[place : place + 1] for place in range(len(data))])
    assert seen.values == [[], [""], ["é"], ["é😀"]]


def test_nothing_is_read_ahead() -> None:
    """A fragment is asked for when the values before it were taken, and not earlier."""
    source = Source("[1, ", " ", "2, ", "3]")
    values = iter_values(source.plain())
    assert source.asked == 0
    assert [(next(values), source.asked) for _ in range(3)] == [([1], 1), ([1, 2], 3), ([1, 2, 3], 4)]
    assert not source.is_closed
    assert list(values) == []
    assert source.is_closed


@pytest.mark.parametrize("fragments", [["[1, ", "2]"], ["[1, ", "x"]])
def test_closing_half_way_closes_the_source(fragments: list[str]) -> None:
    """Leaving a loop half-way, or at an error, closes the generator that the fragments came from."""
    source = Source(*fragments)
    with closing(iter_values(source.plain())) as values:
        assert next(values) == [1]
        assert not source.is_closed
    assert source.is_closed
    source = Source(*fragments)
    with suppress(JSONSyntaxError):
        for _ in iter_values(source.plain()):
            pass
    assert source.is_closed


@pytest.mark.parametrize("fragments", [["[1, ", "2]"], ["[1, ", "x"]])
def test_closing_half_way_closes_the_awaited_source(fragments: list[str]) -> None:
    """The same for a source that is awaited."""

    async def half_way(source: Source) -> None:
        async with aclosing(aiter_values(source.awaited())) as values:
            async for value in values:
                assert value == [1]
                assert not source.is_closed
                break
        assert source.is_closed

    async def to_the_end(source: Source) -> None:
        with suppress(JSONSyntaxError):
            async for _ in aiter_values(source.awaited()):
                pass
        assert source.is_closed

    asyncio.run(half_way(Source(*fragments)))
    asyncio.run(to_the_end(Source(*fragments)))


def test_a_source_that_fails() -> None:
    """A fault of the source itself comes through as it is, after the values before it."""

    def source() -> Iterator[str]:
        yield "[1, "
        raise ConnectionError("gone")

    values = iter_values(source())
    assert next(values) == [1]
    with pytest.raises(ConnectionError, match="gone"):
        next(values)


def test_any_iterable_is_a_source() -> None:
    """A list, a file, an iterator or a text is a source as well; such a source is not closed."""
    for source in (["[1, ", "2]"], iter(["[1, ", "2]"]), ("[1, ", "2]"), "[1, 2]"):
        assert list(iter_values(source))[-1] == [1, 2]
