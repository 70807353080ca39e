"""iter_partial and aiter_partial: one outcome for each fragment that changed something visible."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from contextlib import aclosing, closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import shapes, strategies
from tests.support.collecting import Seen, Source, awaited, collected
from tests.support.shapes import (
    Calls,
    Example,
    literal,
    number,
    record,
    refuse,
    required,
    text,
    told,
)
from tests.support.strategies import one_by_one
from unspool import (
    Code,
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    Options,
    OptionsError,
    create_state,
    finalize,
    parse_chunk,
)
from unspool.typed import (
    Complete,
    Invalid,
    InvalidError,
    Missing,
    Partial,
    aiter_partial,
    iter_partial,
    partial,
    resolve,
)
from unspool.typed._shape import AnyShape, ArrayShape, MapShape, UnionShape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Outcomes:
    """The partials that an iterator yielded, and the error that it raised afterwards, if any."""

    def __init__(self, seen: Seen) -> None:
        self.partials: list[Partial[Any]] = seen.values
        self.error = seen.error

    @property
    def values(self) -> list[Any]:
        return [one.value for one in self.partials]

    @property
    def outcomes(self) -> list[str]:
        return [type(one).__name__ for one in self.partials]


def plain(type: Any, fragments: Iterable[Any], options: Options | None = None, **named: Any) -> Outcomes:
    return Outcomes(collected(lambda source: iter_partial(type, source, options, **named), fragments))


def awaiting(type: Any, fragments: Iterable[Any], options: Options | None = None, **named: Any) -> Outcomes:
    return Outcomes(awaited(lambda source: aiter_partial(type, source, options, **named), fragments))


both = pytest.mark.parametrize("collect", [plain, awaiting])
TRIP = record({"city": required("city", text()), "days": ArrayShape(record({"title": text(), "n": number()}))})


@both
def test_one_for_each_visible_change(collect: Any) -> None:
    """A fragment that shows nothing new gives nothing; the last one is the real value, complete."""
    fragments = [
        "",
        " ",
        "{",
        '"ci',
        'ty": ',
        '"',
        "Por",
        "\\u00",
        "e9",
        '"',
        ', "more": [1',
        "]",
        ', "days": [',
        "]",
        "}",
        "\n",
    ]
    seen = collect(TRIP, fragments)
    assert seen.error is None
    assert seen.values == [
        ("open", {}),
        ("open", {"city": ""}),
        ("open", {"city": "Por"}),
        ("open", {"city": "Poré"}),
        ("open", {"city": "Poré", "days": []}),
        ("whole", {"city": "Poré", "days": []}),
    ]
    assert seen.outcomes == ["Partial"] * 5 + ["Complete"]
    assert [one.is_complete for one in seen.partials] == [False] * 5 + [True]


@both
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_what_is_yielded_is_what_resolving_gives(collect: Any, size: int) -> None:
    """For each fragment that changed it, and nothing else."""
    whole = '{"days": [{"title": "A", "n": 1}, {"title": "Bc"}], "city": "x"}'
    fragments = [whole[start : start + size] for start in range(0, len(whole), size)]
    state, cache, expected = create_state(), None, []
    last: Any = None
    for fragment in [*fragments, None]:
        state = finalize(state) if fragment is None else parse_chunk(state, fragment)
        resolution, cache = resolve(TRIP, state, cache)
        if not isinstance(resolution, Missing) and (last is None or told(last) != told(resolution)):
            expected.append(told(resolution))
        last = resolution
    seen = collect(TRIP, fragments)
    assert [told(one) for one in seen.partials] == expected
    assert seen.partials[-1].is_complete


@both
def test_a_value_that_is_complete_at_once(collect: Any) -> None:
    """One fragment is one outcome; a number at the root is complete at the end of the text."""
    assert collect(TRIP, ['{"city": "x"}']).outcomes == ["Complete"]
    seen = collect(number(), ["1", "2"])
    assert (seen.outcomes, seen.values) == (["Complete"], [12])


@both
def test_the_last_is_complete_also_when_it_shows_nothing_new(collect: Any) -> None:
    """That it is complete is news."""
    seen = collect(ArrayShape(text()), ['["a"', "]"])
    assert (seen.outcomes, seen.values) == (["Partial", "Complete"], [["a"], ["a"]])
    seen = collect(text(), ['"a', '"', " "])
    assert (seen.outcomes, seen.values) == (["Partial", "Complete"], ["a", "a"])


@both
def test_nothing_is_yielded_before_there_is_something_to_show(collect: Any) -> None:
    """Atomic and undecided values come when they are complete or decided."""
    union = UnionShape([MapShape(text()), MapShape(number())], lambda node: ("decided", node.value))
    seen = collect(union, one_by_one('{"a":1}'))
    assert (seen.outcomes, seen.values) == (["Complete"], [("decided", {"a": 1})])


@both
def test_invalid_is_raised_as_soon_as_it_is_certain(collect: Any) -> None:
    """After the values before it, and without waiting for the rest; the error tells where and why."""
    read: list[str] = []

    def source() -> Iterator[str]:
        for fragment in ['{"city": "Porto", ', '"days": [{"title": "a"}, ', '{"n": "', 'never read"}]}']:
            read.append(fragment)
            yield fragment

    seen = collect(TRIP, source())
    assert seen.values == [
        ("open", {"city": "Porto"}),
        ("open", {"city": "Porto", "days": [("whole", {"title": "a"})]}),
    ]
    assert isinstance(seen.error, InvalidError)
    assert isinstance(seen.error, ValueError)
    assert str(seen.error) == "wrong_kind: $.days[1].n: expected a leaf"
    assert seen.error.invalid.value == ("open", {"city": "Porto", "days": [("whole", {"title": "a"}), ("open", {})]})
    assert len(read) == 3


@both
def test_invalid_at_the_very_end(collect: Any) -> None:
    """Missing fields are known when the object closes."""
    seen = collect(TRIP, ['{"days": []', "}"])
    assert seen.outcomes == ["Partial"]
    assert isinstance(seen.error, InvalidError)
    assert [(str(one.path), one.code) for one in seen.error.problems] == [("$.city", "missing")]


@both
def test_defer(collect: Any) -> None:
    """The values go on, without what is wrong, and the error is raised at the end."""
    fragments = ['{"days": [{"n": "x"}', ', {"n": 2}', '], "city": "Por', 'to"', "}", " "]
    seen = collect(TRIP, fragments, on_invalid="defer")
    assert seen.outcomes == ["Invalid"] * 4
    assert seen.values == [
        ("open", {"days": [("open", {})]}),
        ("open", {"days": [("open", {}), ("whole", {"n": 2})]}),
        ("open", {"days": [("open", {}), ("whole", {"n": 2})], "city": "Por"}),
        ("open", {"days": [("open", {}), ("whole", {"n": 2})], "city": "Porto"}),
    ]
    assert isinstance(seen.error, InvalidError)
    assert str(seen.error.path) == "$.days[0].n"
    assert all(one.invalid is one for one in seen.partials)


@both
def test_ignore(collect: Any) -> None:
    """The same, and nothing is raised; each outcome tells that it is invalid."""
    seen = collect(TRIP, ['{"days": 1, ', '"city": "x"', "}"], on_invalid="ignore")
    assert seen.error is None
    assert seen.outcomes == ["Invalid", "Invalid"]
    assert seen.values == [("open", {}), ("open", {"city": "x"})]


@both
@pytest.mark.parametrize("on_invalid", ["raise", "defer", "ignore"])
def test_what_to_do_about_invalid_changes_nothing_for_a_valid_text(collect: Any, on_invalid: str) -> None:
    """The values are the same."""
    fragments = one_by_one('{"city": "x", "days": [{"n": 1}]}')
    seen, usual = collect(TRIP, fragments, on_invalid=on_invalid), collect(TRIP, fragments)
    assert seen.error is None
    assert [told(one) for one in seen.partials] == [told(one) for one in usual.partials]


@both
def test_that_it_became_invalid_is_news(collect: Any) -> None:
    """Also when the value looks the same."""
    seen = collect(MapShape(number()), ['{"a": 1, ', '"b": "'], on_invalid="ignore")
    assert seen.outcomes == ["Partial", "Invalid"]
    assert seen.values[0] is seen.values[1]


@both
@pytest.mark.parametrize("on_invalid", ["raise", "defer", "ignore"])
def test_broken_text(collect: Any, on_invalid: str) -> None:
    """The values before, then the error of the text, whatever is to be done about invalid values."""
    seen = collect(TRIP, ['{"city": "x', '", ', "?"], on_invalid=on_invalid)
    assert seen.values == [("open", {"city": "x"})]
    assert isinstance(seen.error, JSONSyntaxError)
    assert (seen.error.code, seen.error.offset) == (Code.UNEXPECTED_CHARACTER, 14)


@both
def test_a_text_that_ends_too_early(collect: Any) -> None:
    """It is incomplete, however much of it there is; also when there is nothing at all."""
    for fragments in ([], [""], [" "], ["{"], ['{"city": "x"'], ["tru"]):
        assert isinstance(collect(AnyShape(), fragments).error, IncompleteJSONError)


@both
def test_text_behind_the_value(collect: Any) -> None:
    """The complete value was yielded; then the error."""
    seen = collect(TRIP, ['{"city": "x"}', " y"])
    assert seen.outcomes == ["Complete"]
    assert isinstance(seen.error, JSONSyntaxError)
    assert collect(TRIP, ['{"city": "x"}', " y"], Options(trailing="ignore")).error is None


@both
def test_broken_and_invalid(collect: Any) -> None:
    """The first fault in the text is raised; deferred problems come too late if broken text ends the stream before."""
    assert isinstance(collect(TRIP, ['{"city": 1, ?']).error, InvalidError)
    assert isinstance(collect(TRIP, ['{"city": "a", ?, "days": 1']).error, JSONSyntaxError)
    assert isinstance(collect(TRIP, ['{"city": 1, ', "?"], on_invalid="defer").error, JSONSyntaxError)
    assert isinstance(collect(TRIP, ['{"city": 1, ', "?"], on_invalid="ignore").error, JSONSyntaxError)
    assert isinstance(collect(TRIP, ['{"city": 1, ', '"'], on_invalid="defer").error, InvalidError)
    assert isinstance(collect(TRIP, ['{"city": 1, ', '"'], on_invalid="ignore").error, IncompleteJSONError)


@both
def test_options_are_for_the_text(collect: Any) -> None:
    """Limits and dialect as for the other iterators."""
    assert isinstance(collect(AnyShape(), ["[[["], Options(max_depth=2)).error, LimitError)
    assert collect(AnyShape(), ["[1,]"], Options(trailing_commas=True)).values == [[1]]


@both
def test_errors_that_are_skipped(collect: Any) -> None:
    """As for the other iterators: reading goes on behind a broken value, and only an error that ends it is raised."""
    seen = collect(ArrayShape(number()), ["[1, ", "x, 2", ", 3]"], Options(on_error="skip"))
    assert seen.error is None
    assert seen.values[-1] == [1, 2, 3]
    assert seen.outcomes[-1] == "Complete"
    seen = collect(ArrayShape(number()), ["[1, ", "x, 2"], Options(on_error="skip"))
    assert isinstance(seen.error, IncompleteJSONError)
    assert seen.values == [[1]]


@both
def test_extract(collect: Any) -> None:
    """The JSON may be inside other text."""
    fragments = ["Sure [1]:\n```js", 'on\n{"city": "Por', 'to"}\n``', "`\nEnjoy! {x"]
    seen = collect(TRIP, fragments, extract=True)
    assert seen.error is None
    assert seen.values == [("open", {"city": "Por"}), ("whole", {"city": "Porto"})]


@both
def test_bytes(collect: Any) -> None:
    """UTF-8, cut inside a character."""
    data = '{"city": "é😀"}'.encode()
    for fragments in (one_by_one(data), [memoryview(data)], [bytearray(data[:11]), data[11:]]):
        seen = collect(TRIP, fragments)
        assert seen.error is None
        assert seen.values[-1] == ("whole", {"city": "é😀"})
    assert collect(TRIP, one_by_one(data)).values[1:-1] == [
        ("open", {"city": ""}),
        ("open", {"city": "é"}),
        ("open", {"city": "é😀"}),
    ]


@both
def test_what_was_yielded_stays_and_is_shared(collect: Any) -> None:
    """No value changes after it was yielded, and what did not change in it is the same object in the next one."""
    seen = collect(TRIP, one_by_one('{"days": [{"title": "a"}, {"title": "bc"}, {"n": 1}], "city": "x"}'))
    assert [repr(one.value) for one in seen.partials] == list(dict.fromkeys(repr(value) for value in seen.values))
    firsts = [value[1]["days"][0] for value in seen.values if len(value[1].get("days", [])) > 1]
    assert len(firsts) > 5
    assert all(one is other for one, other in pairwise(firsts))


@both
def test_nothing_is_made_twice(collect: Any) -> None:
    """The functions of a shape are called once for each closed node."""
    calls = Calls()
    shape = ArrayShape(ArrayShape(number(make=calls.node), make=calls.values), make=calls.values)
    collect(shape, one_by_one("[[1,2],[3]] "))
    assert calls.seen == [2, 3, "list", 5, "list", "list"]


def test_early() -> None:
    """`early` is for types that are described here; a shape or a resolver has said it already."""
    shape = literal("one", "two", early=True)
    assert plain(shape, ['"o']).values == ["one"]
    assert plain(partial(shape), ['"o'], early=False).values == ["one"]


# A resolver


def test_partial_makes_a_resolver() -> None:
    """It can be used again and again, has no state of its own, and stands for a type wherever one is asked for."""
    resolver = partial(TRIP)
    assert partial(resolver) is resolver
    state = parse_chunk(create_state(), '{"city": "x')
    resolution, cache = resolver.resolve(state)
    assert told(resolution) == told(resolve(TRIP, state)[0])
    further, _ = resolver.resolve(parse_chunk(state, "y"), cache)
    assert further.value == ("open", {"city": "xy"})
    for collect in (plain, awaiting, plain):
        assert collect(resolver, ['{"city": "x"}']).values == [("whole", {"city": "x"})]


# The source


def test_leaving_half_way_closes_the_source() -> None:
    """The iterator reads no further than it was asked to, and leaves nothing open."""
    source = Source("[1,", "2,", "3]")
    with closing(iter_partial(ArrayShape(number()), source.plain())) as partials:
        assert next(partials).value == [1]
        assert (source.asked, source.is_closed) == (1, False)
    assert (source.asked, source.is_closed) == (1, True)


def test_leaving_half_way_closes_the_awaited_source() -> None:
    """The same, awaited."""

    async def run(source: Source) -> None:
        async with aclosing(aiter_partial(ArrayShape(number()), source.awaited())) as partials:
            assert (await anext(partials)).value == [1]

    source = Source("[1,", "2,", "3]")
    asyncio.run(run(source))
    assert (source.asked, source.is_closed) == (1, True)


def test_invalid_closes_the_source() -> None:
    """The producer of the text can stop then."""
    source = Source("[1,", '"x",', "3]")
    with pytest.raises(InvalidError):
        list(iter_partial(ArrayShape(number()), source.plain()))
    assert (source.asked, source.is_closed) == (2, True)

    async def run(source: Source) -> None:
        async for _ in aiter_partial(ArrayShape(number()), source.awaited()):
            pass

    source = Source("[1,", '"x",', "3]")
    with pytest.raises(InvalidError):
        asyncio.run(run(source))
    assert (source.asked, source.is_closed) == (2, True)


def test_an_error_of_the_source_is_its_own() -> None:
    """It comes through as it is."""

    def source() -> Iterator[str]:
        yield "[1,"
        raise OSError("gone")

    partials = iter_partial(ArrayShape(number()), source())
    assert next(partials).value == [1]
    with pytest.raises(OSError, match="gone"):
        next(partials)


def test_an_error_of_a_validator_is_its_own() -> None:
    """Other errors than ShapeError are faults of the type, and do not make the text invalid."""

    def make(values: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(iter_partial(ArrayShape(number(), make=make), ["[1]"]))


# Wrong arguments


@pytest.mark.parametrize("function", [iter_partial, aiter_partial])
def test_wrong_arguments(function: Any) -> None:
    """They are refused when the iterator is made, not when it is first asked."""
    for on_invalid in ("Raise", "", None, 1, True):
        with pytest.raises(OptionsError, match="'raise', 'defer' or 'ignore'"):
            function(TRIP, [], on_invalid=on_invalid)
    with pytest.raises(OptionsError, match="one document"):
        function(TRIP, [], Options(multiple=True))
    with pytest.raises(OptionsError, match="must be Options or None, not int"):
        function(TRIP, [], 5)


@both
def test_a_fragment_of_the_wrong_type(collect: Any) -> None:
    """As for the other iterators."""
    with pytest.raises(TypeError, match="a fragment must be str or bytes"):
        collect(TRIP, [1])


# At random


def by_states(example: Example, fragments: list[str], options: Options | None) -> list[Any]:
    """What the pure parser and `resolve` give, for each fragment that changed something visible, and all about it."""
    state, cache = create_state(options), None
    seen: list[Any] = []
    last: Any = None
    for fragment in [*fragments, None]:
        state = finalize(state) if fragment is None else parse_chunk(state, fragment)
        resolution, cache = resolve(example.shape, state, cache)
        is_news = last is None or resolution.value is not last.value or type(resolution) is not type(last)
        if isinstance(resolution, Partial) and is_news and not isinstance(last, Complete):
            seen.append(everything(resolution))
        last = resolution
    return seen


def everything(one: Any) -> Any:
    """All that can be asked of an outcome."""
    paths = [("a",), ("a", 0), (0,), (0, "a"), (1,), ("b",), ("kind",), ()]
    return told(one), one.missing, [one.is_complete_at(path) for path in paths]


@given(shapes.examples(), st.data())
def test_yields_are_those_of_the_states(example: Example, data: st.DataObject) -> None:
    """The same outcomes, one after the other, as the pure parser gives; asked when everything is over."""
    fragments = data.draw(strategies.cuttings(example.text))
    seen = plain(example.shape, fragments, on_invalid="ignore")
    assert seen.error is None
    assert repr([everything(one) for one in seen.partials]) == repr(by_states(example, fragments, None))


@given(shapes.examples(), st.data())
def test_yields_are_those_of_the_states_also_where_errors_are_skipped(example: Example, data: st.DataObject) -> None:
    """A broken value is dropped, together with the shown part of it."""
    options = Options(on_error="skip")
    place = data.draw(st.integers(0, len(example.text)))
    broken = example.text[:place] + data.draw(st.sampled_from(["x", "?", ",", ":", "\\q", '"'])) + example.text[place:]
    fragments = data.draw(strategies.cuttings(broken))
    seen = plain(example.shape, fragments, options, on_invalid="ignore")
    assert repr([everything(one) for one in seen.partials]) == repr(by_states(example, fragments, options))


@given(shapes.examples(), st.data())
def test_yields_are_visible_changes(example: Example, data: st.DataObject) -> None:
    """Whatever the type and the text: no two alike follow each other, and the last tells how it ended."""
    fragments = data.draw(strategies.cuttings(example.text))
    ignoring = plain(example.shape, fragments, on_invalid="ignore")
    assert ignoring.error is None
    for one, other in pairwise(ignoring.partials):
        assert one.value is not other.value or type(one) is not type(other)
    final = resolve(example.shape, finalize(parse_chunk(create_state(), example.text)))[0]
    assert told(ignoring.partials[-1])[:2] == told(final)[:2]
    raising = plain(example.shape, fragments)
    valid = [told(one) for one in ignoring.partials if not isinstance(one, Invalid)]
    assert [told(one) for one in raising.partials] == valid
    assert (raising.error is None) is isinstance(final, Complete)
    assert (raising.error is None) is (plain(example.shape, fragments, on_invalid="defer").error is None)


def test_what_is_refused_when_it_closes_is_deferred_to_the_end() -> None:
    """A value that was judged as a whole and refused is not shown from then on."""
    shape = MapShape(UnionShape([ArrayShape(number()), ArrayShape(text())], refuse))
    seen = plain(shape, ['{"a": ["x"', "]", "}"], on_invalid="defer")
    assert (seen.outcomes, seen.values) == (["Partial", "Invalid"], [{}, {}])
    assert isinstance(seen.error, InvalidError)


def test_a_traceback_names_the_public_package() -> None:
    """An invalid value is reported under the name that users import."""
    with pytest.raises(InvalidError) as caught:
        list(iter_partial({"type": "integer"}, ['"x"']))
    assert f"{type(caught.value).__module__}.{type(caught.value).__name__}" == "unspool.typed.InvalidError"


# Repair.

WRITTEN = "{'title': 'Fuji', days: [1, 2,], // done\n}"
TITLED = MapShape(AnyShape())


@pytest.mark.parametrize("size", [1, 3, 100])
def test_repairs_are_told_with_the_values(size: int) -> None:
    """`repair` reads broken text; each value has the log so far, and a new repair is a visible change."""
    fragments = [WRITTEN[at : at + size] for at in range(0, len(WRITTEN), size)]
    seen = list(iter_partial(TITLED, fragments, repair="spelling"))
    assert isinstance(seen[-1], Complete)
    assert seen[-1].value == {"title": "Fuji", "days": [1, 2]}
    told_codes = [repair.code.value for repair in seen[-1].repairs]
    assert told_codes == [
        "single_quotes",
        "single_quotes",
        "unquoted_key",
        "trailing_comma",
        "comment",
        "trailing_comma",
    ]
    for one, other in pairwise(seen):
        assert one.value is not other.value or type(one) is not type(other) or one.repairs != other.repairs
        assert len(one.repairs) <= len(other.repairs)
    async_seen = awaited(lambda source: aiter_partial(TITLED, source, repair="spelling"), fragments)
    assert [one.repairs for one in async_seen.values] == [one.repairs for one in seen]


def test_repairs_behind_the_value() -> None:
    """A repair that comes after the complete value is told with it once more, in an object of its own."""
    first, last = iter_partial(MapShape(number()), ['{"a": 1}', "}"], repair="guess")
    assert (first.value, first.repairs) == ({"a": 1}, ())
    assert (last.value, [repair.code.value for repair in last.repairs]) == ({"a": 1}, ["extra_close"])
    assert isinstance(last, Complete)


def test_without_repair_the_log_is_empty() -> None:
    """Strict is the default, and `repair="none"` takes an option back."""
    with pytest.raises(JSONSyntaxError):
        list(iter_partial(MapShape(number()), ["{a: 1}"]))
    with pytest.raises(JSONSyntaxError):
        list(iter_partial(MapShape(number()), ["{a: 1}"], Options(repair="guess"), repair="none"))
    assert [one.repairs for one in iter_partial(MapShape(number()), ['{"a": 1}'], repair="guess")] == [()]
    assert list(iter_partial(MapShape(number()), ["{a: 1}"], Options(repair="guess")))[-1].repairs != ()


@pytest.mark.parametrize("is_early", [True, False])
@pytest.mark.parametrize("fragments", [['"ab', '"'], ['"', "a", "b", '"', " "], ['"a', "", "b", '"']])
def test_a_string_that_only_ends_is_the_same_object(fragments: list[str], is_early: bool) -> None:
    """Nothing visible changes with the closing quote, whether the value was read before it or is read after it."""
    partials: list[Partial[Any]] = []
    for one in iter_partial(text(), fragments):
        partials.append(one)
        if is_early:
            assert one.value is one.value
    *_, shown, complete = partials
    assert complete.is_complete
    assert complete.value is shown.value
    assert complete.value == "ab"


def test_threads_that_read_one_outcome_get_one_value() -> None:
    """The value is made when it is first read, and several threads may read it first."""
    fragments = one_by_one('[["one",["two","three"]],["four"]]')
    shape = ArrayShape(ArrayShape(AnyShape()))
    partials = list(iter_partial(shape, fragments))
    together = threading.Barrier(4)
    seen: list[list[Any]] = []

    def read() -> None:
        together.wait()
        seen.append([one.value for one in partials])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    for values in zip(*seen, strict=True):
        assert all(value is values[0] for value in values)
    assert [one.value for one in partials] == [one.value for one in iter_partial(shape, fragments)]


def test_outcomes_are_copied_and_not_pickled() -> None:
    """An outcome never changes, so it is its own copy, also before its value is read."""
    partials = list(iter_partial(ArrayShape(text()), ['["a', 'b"', ',"c', '"]']))
    for one in partials:
        assert copy.copy(one) is one
        assert copy.deepcopy([one])[0].value is one.value
        with pytest.raises(TypeError, match="an outcome cannot be pickled"):
            pickle.dumps(one)
    assert [one.value for one in partials] == [["a"], ["ab"], ["ab", "c"], ["ab", "c"]]
