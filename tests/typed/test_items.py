"""items and aitems: the complete elements of an array, one by one, each made once, none of them kept."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from contextlib import aclosing, closing
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import OnErrorOmit

from tests.support import shapes, strategies
from tests.support.collecting import Seen, awaited, collected
from tests.support.oracle import same
from tests.support.shapes import Calls, number, record, required, text
from tests.support.strategies import one_by_one
from unspool import (
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    Options,
    OptionsError,
    PatternError,
    create_state,
    finalize,
    parse_chunk,
)
from unspool.typed import Complete, InvalidError, aitems, items, partial, resolve
from unspool.typed._shape import AnyShape, ArrayShape, DeferredShape, UnionShape, json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator


def plain(type: Any, fragments: Iterable[Any], options: Options | None = None, **named: Any) -> Seen:
    return collected(lambda source: items(type, source, options, **named), fragments)


def awaiting(type: Any, fragments: Iterable[Any], options: Options | None = None, **named: Any) -> Seen:
    return awaited(lambda source: aitems(type, source, options, **named), fragments)


both = pytest.mark.parametrize("collect", [plain, awaiting])
ROW = record({"id": required("id", number()), "name": text()})


def rows(*ids: int) -> list[Any]:
    return [("whole", {"id": one}) for one in ids]


@both
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_root_array(collect: Any, size: int) -> None:
    """Each element as one whole value, and nothing else."""
    whole = ' [ {"id": 1} ,{"id": 2, "name": "é\\n\\ud83d\\ude00", "more": [1, {"a": []}]}, {"id":3}] '
    seen = collect(ROW, [whole[start : start + size] for start in range(0, len(whole), size)])
    assert seen.error is None
    assert seen.values == [*rows(1), ("whole", {"id": 2, "name": "é\n😀"}), *rows(3)]


@both
def test_as_soon_as_it_is_finished(collect: Any) -> None:
    """An element is yielded with its last character; a number with the next one."""
    seen: list[Any] = []

    def source() -> Iterator[str]:
        for fragment in ['[{"id": 1', "}", ', {"id": 2}', "]"]:
            yield fragment
            seen.append(len(taken))

    taken: list[Any] = []
    for one in items(ROW, source()):
        taken += [one]
    assert seen == [0, 1, 2, 2]
    assert collect(number(), ["[1", "2", ",", "3"]).values == [12]


@both
def test_at_a_path(collect: Any) -> None:
    """The text around the array is read and forgotten."""
    fragments = one_by_one('{"a": [{"id": 0}], "rows": [{"id": 1}, {"id": 2}], "b": {"rows": [3]}, "c": 1}')
    assert collect(ROW, fragments, path="$.rows").values == rows(1, 2)
    assert collect(ROW, fragments, path='$["rows"]').values == rows(1, 2)
    assert collect(number(), fragments, path="$.b.rows").values == [3]
    assert collect(AnyShape(), fragments, path="$.nothing").values == []


@both
def test_at_several_places(collect: Any) -> None:
    """A path may be a pattern: then the elements of all arrays that it stands for, in the order of the text."""
    fragments = one_by_one('{"pages": [{"rows": [1, 2]}, {"rows": []}, {"rows": [[3]]}], "rows": [4]}')
    assert collect(AnyShape(), fragments, path="$.pages[*].rows").values == [1, 2, [3]]
    assert collect(AnyShape(), fragments, path="$..rows").values == [1, 2, [3], 4]
    assert collect(AnyShape(), fragments, path="$.pages[1:].rows").values == [[3]]


@both
def test_an_element_inside_an_element_is_part_of_it(collect: Any) -> None:
    """Where the pattern stands for both, the outer one is yielded, once."""
    fragments = one_by_one('{"rows": [{"rows": [1, {"rows": [2]}]}, 3]}')
    assert collect(AnyShape(), fragments, path="$..rows").values == [{"rows": [1, {"rows": [2]}]}, 3]


@both
def test_only_arrays_have_elements(collect: Any) -> None:
    """Other values have none: neither the members of an object, nor the values inside of those."""
    for whole in ('{"a": 1, "b": [2], "c": {"d": [3]}}', '"text"', "1", "null"):
        seen = collect(AnyShape(), one_by_one(whole))
        assert (seen.values, seen.error) == ([], None)
    assert collect(AnyShape(), ['{"rows": {"a": [1]}}'], path="$.rows").values == []


@both
def test_elements_of_all_kinds(collect: Any) -> None:
    """Strings, numbers, words, arrays, objects, empty ones too."""
    whole = '["", "a\\u00e9", 0, -1.5e3, true, false, null, [], {}, [[1]], {"": {"a": "\\""}}]'
    values = ["", "aé", 0, -1500.0, True, False, None, [], {}, [[1]], {"": {"a": '"'}}]
    for fragments in ([whole], one_by_one(whole)):
        assert same(collect(AnyShape(), fragments).values, values)
    assert collect(AnyShape(), ["[]"]).values == []


@both
def test_invalid_is_raised_as_soon_as_it_is_certain(collect: Any) -> None:
    """In the middle of an element, after those before it; the path is that of the whole text."""
    read: list[str] = []

    def source() -> Iterator[str]:
        for fragment in ['{"rows": [{"id": 1}, ', '{"name": "x", "id": "', 'never read"}]}']:
            read.append(fragment)
            yield fragment

    seen = collect(ROW, source(), path="$.rows")
    assert seen.values == rows(1)
    assert isinstance(seen.error, InvalidError)
    assert str(seen.error) == "wrong_kind: $.rows[1].id: expected a leaf"
    assert [str(one.path) for one in seen.error.problems] == ["$.rows[1].id"]
    assert seen.error.invalid.value == ("open", {"name": "x"})
    assert len(read) == 2


@both
def test_invalid_when_it_closes(collect: Any) -> None:
    """Later elements of the same fragment are not yielded."""
    seen = collect(ROW, ['[{"id": 1}, {}, {"id": 3}]'])
    assert seen.values == rows(1)
    assert isinstance(seen.error, InvalidError)
    assert [(str(one.path), one.code) for one in seen.error.problems] == [("$[1].id", "missing")]


@both
def test_ignore(collect: Any) -> None:
    """Invalid elements are left out, and the others come as usual."""
    whole = '[{"id": 1}, {}, {"id": "x", "name": "y"}, 5, {"id": 2}, "z", {"id": 3}]'
    for fragments in ([whole], one_by_one(whole)):
        seen = collect(ROW, fragments, on_invalid="ignore")
        assert (seen.values, seen.error) == (rows(1, 2, 3), None)


@both
@pytest.mark.parametrize("on_invalid", ["raise", "ignore"])
def test_broken_text(collect: Any, on_invalid: str) -> None:
    """The elements that were finished before, then the error of the text."""
    for fragments in (['[{"id": 1}, {"id": 2}, {"id" 3}]'], one_by_one('[{"id": 1}, {"id": 2}, {"id" 3}]')):
        seen = collect(ROW, fragments, on_invalid=on_invalid)
        assert seen.values == rows(1, 2)
        assert isinstance(seen.error, JSONSyntaxError)
        assert (seen.error.offset, str(seen.error.path)) == (29, "$[2]")


@both
def test_a_text_that_ends_too_early(collect: Any) -> None:
    """The finished ones, then the error."""
    for whole in ("", "[", '[{"id": 1}', '[{"id": 1}, {"id": 2', '[{"id": 1}, {"id": 2}'):
        seen = collect(ROW, [whole])
        assert len(seen.values) == whole.count("}")
        assert isinstance(seen.error, IncompleteJSONError)


@both
def test_each_element_is_made_once(collect: Any) -> None:
    """However it is cut, and however much it is looked at before it is finished."""
    for cut in ([], [3], list(range(40))):
        calls = Calls()
        shape = ArrayShape(number(make=calls.node), make=calls.values)
        fragments = strategies.cut_at("[[1,2],[3],[]]", [place for place in cut if place < 15])
        assert collect(shape, [*fragments, " "]).values == [("whole", [1, 2]), ("whole", [3]), ("whole", [])]
        assert calls.seen == [1, 2, "list", 1, "list", "list"]  # each element has ids of its own, from 0


@both
def test_whole_values_only(collect: Any) -> None:
    """Also of what is judged as a whole: it is judged once, with the node of the element."""
    calls = Calls()
    for shape in (DeferredShape(calls.node), UnionShape([number(), record({}), record({})], calls.node)):
        calls.seen.clear()
        assert collect(shape, one_by_one('[{"a": [1]}, {"b": 2}]')).values == [{"a": [1]}, {"b": 2}]
        assert calls.seen == [0, 0]


@both
def test_elements_keep_their_spelling(collect: Any) -> None:
    """A shape sees the nodes of the text itself: numbers as they are spelled, and every occurrence of a key."""
    whole = '[1.50, {"a": 1e2, "a": [-0]}, "\\u00e9"]'
    for fragments in ([whole], one_by_one(whole)):
        assert collect(DeferredShape(json_text), fragments).values == ["1.50", '{"a":1e2,"a":[-0]}', '"é"']


@both
def test_options(collect: Any) -> None:
    """Limits are those of the whole text; how numbers are read is the same in the elements."""
    assert isinstance(collect(AnyShape(), ["[[1], [[2]]]"], Options(max_depth=2)).error, LimitError)
    assert collect(AnyShape(), ["[[1], [[2]]]"], Options(max_depth=2)).values == [[1]]
    assert isinstance(collect(AnyShape(), ["[1, 234]"], Options(max_chars=6)).error, LimitError)
    (value,) = collect(AnyShape(), ["[1.50]"], Options(floats="decimal")).values
    assert repr(value) == repr(Decimal("1.50"))
    assert collect(AnyShape(), ["[1,2,]"], Options(trailing_commas=True)).values == [1, 2]
    assert collect(AnyShape(), ['["\\ud83d"]']).values == ["\ufffd"]
    assert collect(AnyShape(), ['["\\ud83d", 1]'], Options(surrogates="keep")).values == ["\ud83d", 1]
    deep = "[" * 200 + "]" * 200
    assert collect(AnyShape(), [deep], Options(max_depth=None)).error is None


@both
def test_long_numbers_and_strings(collect: Any) -> None:
    """The limits of the text are those of an element."""
    whole = f'[{"1" * 3000}, "{"x" * 100_000}"]'
    seen = collect(AnyShape(), [whole], Options(max_number=None))
    assert (str(seen.values[0]), len(seen.values[1])) == ("1" * 3000, 100_000)


@both
def test_several_documents(collect: Any) -> None:
    """The elements of each, one after the other."""
    options = Options(multiple=True)
    assert collect(AnyShape(), one_by_one('[1, 2]\n[3]\n{"a": 4}\n[]'), options).values == [1, 2, 3]
    assert collect(AnyShape(), ['{"r": [1]}{"r": [[2]]}'], options, path="$.r").values == [1, [2]]


@both
def test_duplicate_keys(collect: Any) -> None:
    """In an element as anywhere: the last one counts. The array under a key that comes twice is read twice."""
    assert collect(AnyShape(), ['[{"a": 1, "a": 2}]']).values == [{"a": 2}]
    assert collect(AnyShape(), ['{"r": [1], "r": [2]}'], path="$.r").values == [1, 2]


@both
def test_extract_and_bytes(collect: Any) -> None:
    """The JSON may be inside other text, and be UTF-8."""
    data = 'Here:\n```json\n{"rows": ["é", "😀"]}\n```\nDone.'.encode()
    assert collect(text(), one_by_one(data), path="$.rows", extract=True).values == ["é", "😀"]


# Arguments and sources


@pytest.mark.parametrize("function", [items, aitems])
def test_wrong_arguments(function: Any) -> None:
    """They are refused when the iterator is made, not when it is first asked."""
    for on_invalid in ("defer", "", None):
        with pytest.raises(OptionsError, match="'raise' or 'ignore'"):
            function(ROW, [], on_invalid=on_invalid)
    with pytest.raises(OptionsError, match="skip"):
        function(ROW, [], Options(on_error="skip"))
    with pytest.raises(OptionsError, match="must be Options or None, not int"):
        function(ROW, [], 5)
    for path in ("", "rows", "$.", "$.a[?@.b]", "$[-1]"):
        with pytest.raises(PatternError):
            function(ROW, [], path=path)


def test_a_resolver_will_do() -> None:
    """It is used for one element after the other."""
    resolver = partial(ROW)
    assert plain(resolver, ['[{"id": 1}]']).values == plain(resolver, ['[{"id": 1}]']).values == rows(1)


def test_leaving_half_way_closes_the_source() -> None:
    """The iterator reads no further than it was asked to, and leaves nothing open."""
    closed: list[str] = []

    def source() -> Iterator[str]:
        try:
            yield "[1,2,"
            closed.append("read too far")
        finally:
            closed.append("closed")

    with closing(items(number(), source())) as numbers:
        assert next(numbers) == 1
    assert closed == ["closed"]

    async def awaited_source() -> AsyncIterator[str]:
        try:
            yield "[1,2,"
            closed.append("read too far")
        finally:
            closed.append("closed")

    async def run() -> None:
        async with aclosing(aitems(number(), awaited_source())) as numbers:
            assert await anext(numbers) == 1

    asyncio.run(run())
    assert closed == ["closed", "closed"]


# Memory


def peak(count: int, size: int) -> int:
    """Return the peak memory of a stream of `count` elements, in fragments of this size."""

    def source() -> Iterator[str]:
        yield '{"before": ["' + "x" * 1000 + '"], "rows": ['
        element = '{"id": 1, "name": "' + "y" * 500 + '", "tags": ["a", "b"]}, '
        for _ in range(count):
            for start in range(0, len(element), size):
                yield element[start : start + size]
        yield '{"id": 2}]}'

    gc.collect()
    tracemalloc.start()
    found = sum(1 for _ in items(ROW, source(), path="$.rows"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == count + 1
    return most


@pytest.mark.parametrize("size", [40, 10_000])
def test_memory_is_that_of_one_element(size: int) -> None:
    """Ten times the elements take no more."""
    peak(5, size)
    assert peak(400, size) < peak(40, size) + 20_000


def test_memory_of_what_is_ignored() -> None:
    """Invalid elements, and values outside of elements, are not kept either."""

    def most(count: int, path: str) -> int:
        def source() -> Iterator[str]:
            yield '{"a": ['
            for _ in range(count):
                yield '{"id": "' + "x" * 500 + '"},'
            yield '1], "b": []}'

        gc.collect()
        tracemalloc.start()
        assert not list(items(ROW, source(), path=path, on_invalid="ignore"))
        _, memory = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return memory

    for path in ("$.a", "$.b"):
        most(5, path)
        assert most(400, path) < most(40, path) + 20_000


# At random


@given(shapes.examples(), st.data())
def test_elements_are_worth_what_they_are_alone(example: shapes.Example, data: st.DataObject) -> None:
    """Each element is what its text would be as a document; the first that is invalid is where it ends."""
    count = data.draw(st.integers(0, 3))
    others = [example.text, *data.draw(st.lists(strategies.documents(small=True), max_size=2))]
    texts = [others[n % len(others)] for n in range(count)]
    alone = [resolve(example.shape, finalize(parse_chunk(create_state(), one)))[0] for one in texts]
    fragments = data.draw(strategies.cuttings(f'{{"a": [0], "r": [{",".join(texts)}]}}'))
    valid = [one.value for one in alone if isinstance(one, Complete)]
    ignoring = plain(example.shape, fragments, path="$.r", on_invalid="ignore")
    assert ignoring.error is None
    assert same(ignoring.values, valid)
    raising = plain(example.shape, fragments, path="$.r")
    wrong = next((index for index, one in enumerate(alone) if not isinstance(one, Complete)), count)
    assert same(raising.values, valid[:wrong])
    assert (raising.error is None) is (wrong == count)
    if isinstance(raising.error, InvalidError):
        assert raising.error.path.steps[:2] == ("r", wrong)


def test_an_element_that_its_type_omits_is_left_out() -> None:
    """`OnErrorOmit` means the same for an element as for an item of a list."""
    for fragments in (['[1, "x", 2]'], one_by_one('[1,"x",{"a":[]},2]')):
        for on_invalid in ("raise", "ignore"):
            assert list(items(OnErrorOmit[int], fragments, on_invalid=on_invalid)) == [1, 2]
