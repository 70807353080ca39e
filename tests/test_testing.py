"""testing.py: it lets pass what is right, and finds what is wrong, in the code of others and in its own examples."""

from __future__ import annotations

import copy
import json
import re
from enum import IntEnum, StrEnum
from fractions import Fraction
from itertools import groupby, pairwise, permutations, product, takewhile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle, strategies
from tests.support.observe import observe
from tests.support.oracle import is_prefix_value, same
from unspool import MISSING, JSONSyntaxError, OptionsError, ValueParser, iter_events, iter_values
from unspool._errors import Reason, SnapshotError
from unspool.testing import (
    assert_cutting_is_not_observable,
    assert_only_grows,
    every_cut,
    random_cuts,
    snapshots_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from hypothesis.strategies import DrawFn

seeds = st.integers(0, 2**32)
SMILE = "😀".encode()


def canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def containers(value: Any) -> Iterator[Any]:
    """All objects and arrays."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, (dict, list)):
            yield value
            values += value.values() if isinstance(value, dict) else value


def distinct(values: Iterable[object]) -> list[object]:
    """Without those that are the same as the one before."""
    return [next(group) for _, group in groupby(values, key=repr)]


def parsed(fragments: Iterable[str] | Iterable[bytes]) -> object:
    """Code that is right."""
    parser = ValueParser()
    for fragment in fragments:
        parser.feed(fragment)
    return parser.close()


def complaint(fn: Callable[[list[Any]], object], text: Any, **options: Any) -> str:
    """What the assertion says about code that is wrong."""
    with pytest.raises(AssertionError) as caught:
        assert_cutting_is_not_observable(fn, text, **options)
    return str(caught.value)


# ---- every_cut, random_cuts --------------------------------------------------------------------------


def test_every_cut() -> None:
    """Two halves, at every place, the empty ends included."""
    assert list(every_cut("ab")) == [["", "ab"], ["a", "b"], ["ab", ""]]
    assert list(every_cut("")) == [["", ""]]


def test_every_cut_of_bytes() -> None:
    """Bytes are cut inside characters too."""
    assert list(every_cut("é".encode())) == [[b"", b"\xc3\xa9"], [b"\xc3", b"\xa9"], [b"\xc3\xa9", b""]]


def test_every_cut_is_lazy() -> None:
    """A long text is not copied for every place before the first cutting comes."""
    assert next(every_cut("x" * 10**6)) == ["", "x" * 10**6]


@given(st.one_of(st.text(), st.binary()), seeds, st.floats(1, 100))
def test_random_cuts_make_up_the_text(text: Any, seed: int, coarseness: float) -> None:
    """Put together, the fragments are the text, at least one of them is empty, and the seed decides which they are."""
    fragments = random_cuts(text, seed, coarseness=coarseness)
    assert text[:0].join(fragments) == text
    assert text[:0] in fragments
    assert {type(fragment) for fragment in fragments} == {type(text)}
    assert random_cuts(text, seed, coarseness=coarseness) == fragments


def test_random_cuts_differ_by_seed() -> None:
    """Other seeds, other cuttings."""
    assert len({tuple(random_cuts("x" * 200, seed)) for seed in range(50)}) == 50


@pytest.mark.parametrize("coarseness", [2, 8, 50.5])
def test_random_cuts_are_small_and_large(coarseness: float) -> None:
    """`coarseness` is the average; there are single characters, much longer fragments, and several empty ones."""
    lengths = [len(fragment) for fragment in random_cuts("x" * 50_000, 7, coarseness=coarseness)]
    longer = [length for length in lengths if length]
    assert 0.9 < sum(longer) / len(longer) / coarseness < 1.1
    assert 1 in longer
    assert max(longer) > 3 * coarseness
    assert 0.08 < lengths.count(0) / len(lengths) < 0.14


def test_random_cuts_one_by_one() -> None:
    """The finest cutting is one character at a time, with empty fragments in between."""
    assert {len(fragment) for fragment in random_cuts("x" * 100, 0, coarseness=1)} == {0, 1}


@pytest.mark.parametrize("coarseness", [0, 0.9, -1, float("nan")])
def test_coarseness_is_at_least_one(coarseness: float) -> None:
    """Nothing is finer than one character."""
    with pytest.raises(OptionsError, match="coarseness"):
        random_cuts("text", 0, coarseness=coarseness)
    with pytest.raises(OptionsError, match="coarseness"):
        snapshots_of([], coarseness=coarseness)


# ---- snapshots_of ------------------------------------------------------------------------------------


def test_snapshots() -> None:
    """Everything visible comes at the character that shows it; numbers and literals when they are complete."""
    assert snapshots_of({"a": [12, "x😀"], "b": {"": True}}) == [
        {},
        {"a": []},
        {"a": [12]},
        {"a": [12, ""]},
        {"a": [12, "x"]},
        {"a": [12, "x😀"]},
        {"a": [12, "x😀"], "b": {}},
        {"a": [12, "x😀"], "b": {"": True}},
    ]


@pytest.mark.parametrize(
    ("root", "snapshots"),
    [
        (12, [12]),
        (-0.5, [-0.5]),
        (None, [None]),
        (False, [False]),
        ("", [""]),
        ("ab", ["", "a", "ab"]),
        ([], [[]]),
        ({}, [{}]),
    ],
)
def test_snapshots_of_any_root(root: object, snapshots: list[object]) -> None:
    """The root may be any value."""
    assert same(snapshots_of(root), snapshots)


@given(strategies.values(small=True))
def test_snapshots_are_the_values_of_the_prefixes(value: object) -> None:
    """At their finest, they are what an independent reader makes of each prefix of the text, each value once."""
    text = canonical(value)
    read = [oracle.read(text[:end]).value for end in range(1, len(text) + 1)]
    expected = [shown for shown in [*read, value] if shown is not oracle.MISSING]
    assert same(snapshots_of(value), distinct(expected))


@given(strategies.values(), st.integers(1, 60), st.booleans(), st.booleans(), seeds)
def test_snapshots_only_grow(value: object, coarseness: int, shuffle: bool, repeats: bool, seed: int) -> None:
    """However coarse, shuffled or repeated, they grow up to the value itself; a seed gives the same ones again."""
    options: dict[str, Any] = {"coarseness": coarseness, "shuffle": shuffle, "repeats": repeats, "seed": seed}
    snapshots = snapshots_of(value, **options)
    assert_only_grows(snapshots, key_order=not shuffle)
    assert snapshots[-1] == value
    assert shuffle or same(snapshots[-1], value)
    assert repr(snapshots) == repr(snapshots_of(value, **options))


@given(strategies.values(), st.integers(1, 60), seeds)
def test_repeats_and_shuffling_keep_the_values(value: object, coarseness: int, seed: int) -> None:
    """With the same seed the values are the same; without repeats, each comes once."""
    plain = snapshots_of(value, coarseness=coarseness, seed=seed)
    assert snapshots_of(value, coarseness=coarseness, seed=seed, shuffle=True) == plain
    repeated = snapshots_of(value, coarseness=coarseness, seed=seed, repeats=True)
    assert same(distinct(repeated), plain)
    assert all(not same(one, other) for one, other in pairwise(plain))


@given(strategies.values(), st.integers(1, 60), seeds)
def test_snapshots_are_independent(value: Any, coarseness: int, seed: int) -> None:
    """No object or array is in two snapshots, or in a snapshot and the value, or twice in one."""
    repeated = snapshots_of(value, coarseness=coarseness, seed=seed, repeats=True)
    of_snapshots = [id(container) for snapshot in repeated for container in containers(snapshot)]
    assert len(of_snapshots) == len({*of_snapshots})
    assert {*of_snapshots}.isdisjoint(id(container) for container in containers(value))


def test_every_object_is_shuffled_in_every_snapshot() -> None:
    """At any depth, and each time anew."""
    members = dict.fromkeys("abcdefgh", 0)
    snapshots = snapshots_of([{"in": dict(members), **members}] * 2, shuffle=True, repeats=True)
    orders = [tuple(snapshot[1]["in"]) for snapshot in snapshots if snapshot[1:] and len(snapshot[1]) > 1]
    assert len(orders) > 8
    assert len({*orders}) == len(orders)
    assert len({tuple(item) for item in snapshots[-1]} | {tuple(item["in"]) for item in snapshots[-1]}) == 4


def test_some_snapshots_are_repeated() -> None:
    """Some come once, others twice or three times."""
    repeats = [len(list(same_ones)) for _, same_ones in groupby(snapshots_of("x" * 100, repeats=True))]
    assert {*repeats} == {1, 2, 3}


@pytest.mark.parametrize("coarseness", [3, 20, 100.5])
def test_coarseness_is_the_average(coarseness: float) -> None:
    """So many characters pass on average between two snapshots, where each shows something."""
    assert 0.9 < 20_000 / len(snapshots_of("x" * 20_000, coarseness=coarseness)) / coarseness < 1.1


@pytest.mark.parametrize("coarseness", [1, 3])
def test_snapshots_keep_half_surrogate_pairs(coarseness: int) -> None:
    """Half a pair in the value stays what it is; a whole one is never halved."""
    value = {"a\ude00": "a\ud83d", "\ud83d": ["\udc00\ud800", "😀"]}
    snapshots = snapshots_of(value, coarseness=coarseness)
    assert same(snapshots[-1], value)
    assert_only_grows(snapshots)
    assert {item for snapshot in snapshots for item in snapshot.get("\ud83d", [])[1:]} <= {"", "😀"}


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 10


class Members(dict[str, object]):
    """Somebody's own kind of dict."""


def test_snapshots_are_plain() -> None:
    """Whatever kind of string, number or dict the value is made of, the snapshots are equal, and plain."""
    snapshots = snapshots_of(Members(colour=Colour.RED, size=Size.LARGE), coarseness=100)
    assert same(snapshots[-1], {"colour": "red", "size": 10})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([0, float("nan")], "$[1]"),
        (float("-inf"), "$"),
        ({"a": {1, 2}}, "$.a"),
        (b"text", "$"),
        (Fraction(1, 2), "$"),
        ([MISSING], "$[0]"),
        ([{1: 2}], "$[0]"),
        ({None: 2}, "$"),
        ({1.5: 2}, "$"),
    ],
)
def test_what_json_does_not_have_is_refused(value: object, path: str) -> None:
    """There is no text for it: no such number, no such kind of value or key."""
    with pytest.raises(SnapshotError) as caught:
        snapshots_of(value)
    assert (str(caught.value.path), caught.value.reason) == (path, Reason.NOT_JSON)


def test_what_has_no_end_is_refused() -> None:
    """A value that holds itself, and a number with more digits than the interpreter converts."""
    itself: list[object] = []
    itself.append([itself])
    for value in (itself, [10**5000]):
        with pytest.raises(SnapshotError) as caught:
            snapshots_of(value)
        assert caught.value.reason is Reason.LIMIT


def test_what_json_has_in_another_form() -> None:
    """Tuples are arrays, and the halves of a surrogate pair are one character."""
    assert snapshots_of(("a", "\ud83d\ude00"))[-1] == ["a", "😀"]


def nested(depth: int, innermost: object) -> object:
    value = innermost
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    return value


def test_depth_does_not_matter() -> None:
    """A value may be deeper than the stack of the interpreter."""
    value = nested(5000, "abc")
    snapshots = snapshots_of(value, coarseness=3000, shuffle=True)
    assert same(snapshots[-1], value)
    assert_only_grows(snapshots, key_order=False)
    assert_only_grows([*snapshots, nested(5000, "abcd")])
    with pytest.raises(AssertionError, match="cannot follow"):
        assert_only_grows([*snapshots, nested(5000, "ab")])


# ---- assert_cutting_is_not_observable ----------------------------------------------------------------


@given(st.one_of(strategies.documents(small=True), strategies.broken_documents(small=True)))
def test_cutting_is_not_observable_in_unspool(text: str) -> None:
    """What is right passes, for str and for bytes, whether the text is JSON or not."""
    assert_cutting_is_not_observable(parsed, text, most_cuts=20)
    assert_cutting_is_not_observable(parsed, text.encode("utf-8", "replace"), most_cuts=20)
    assert_cutting_is_not_observable(observe, text, most_cuts=20)


def test_the_outcome_for_the_whole_text_is_returned() -> None:
    """So that a test can look at it: what was returned, or the exception that was raised."""
    assert assert_cutting_is_not_observable(parsed, '{"a": [1, "é"]}') == {"a": [1, "é"]}
    error = assert_cutting_is_not_observable(parsed, b"[1 2]")
    assert isinstance(error, JSONSyntaxError)
    assert error.offset == 3


def test_only_the_first_fragment_is_read() -> None:
    """Code that takes the first fragment for the whole text is found, and told where."""
    assert complaint(lambda fragments: json.loads(fragments[0]), '{"a": 1}').splitlines() == [
        "cutting is observable",
        "  fragments: ['', '{\"a\": 1}']",
        "  whole: {'a': 1}",
        "  cut: JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    ]


def test_each_fragment_is_decoded_alone() -> None:
    """Code that decodes each fragment on its own is found; it is right as long as no character is cut."""

    def decoded(fragments: list[bytes]) -> str:
        return "".join([fragment.decode("utf-8", "replace") for fragment in fragments])

    assert assert_cutting_is_not_observable(decoded, b'"plain"') == '"plain"'
    assert "  fragments: [b'\"\\xc3', b'\\xa9\"']" in complaint(decoded, '"é"'.encode()).splitlines()


def test_escapes_are_decoded_alone() -> None:
    """Code that reads each fragment of a string as a string is found: escapes may be cut."""

    def unescaped(fragments: list[str]) -> str:
        return "".join([json.loads(f'"{fragment}"') for fragment in fragments])

    assert "cut: JSONDecodeError" in complaint(unescaped, "a\\nb")


def test_an_empty_fragment_is_taken_for_the_end() -> None:
    """Code that minds an empty fragment is found, wherever it minds one."""
    assert "fragments: ['', 'text']" in complaint(lambda fragments: "".join(takewhile(bool, fragments)), "text")
    said = complaint(lambda fragments: "" in fragments[1:-1], "text")
    assert re.search(r"fragments: \['\w+', '', '\w+'\]", said)


def test_it_takes_more_than_one_cut() -> None:
    """Code that only three fragments bring down is found, and the complaint shows three, and what came of them."""
    lines = complaint(lambda fragments: len(fragments) if len(fragments) > 2 else 0, "x" * 30).splitlines()
    assert lines[1].count("', '") == 2
    assert lines[2:] == ["  whole: 0", "  cut: 3"]


def test_long_texts_are_cut_at_some_places() -> None:
    """The work is in proportion to the length; and what hides from the sample is found one by one, then isolated."""
    lengths: list[int] = []
    text = b"x" * 20_000 + SMILE + b"y" * 20_000

    def decoded(fragments: list[bytes]) -> str:
        lengths.append(len(fragments))
        return "".join([fragment.decode("utf-8", "replace") for fragment in fragments])

    assert_cutting_is_not_observable(decoded, b"x" * 40_000)
    assert len(lengths) < 230
    assert lengths.count(2) >= 200
    lengths.clear()
    lines = complaint(decoded, text, most_cuts=5).splitlines()
    assert len(lengths) < 100
    assert lines[1].count("xxx\\xf0") == 1
    assert len(lines[1]) < 250
    assert lines[4].startswith("  first difference, at result[20000:]: '😀yyy")


def test_simplifying_has_an_end() -> None:
    """What only very many fragments bring down is shown after some tries, not simplified for ever."""
    calls = 0

    def depends_on_all(fragments: list[str]) -> bool:
        nonlocal calls
        calls += 1
        return sum(len(fragment) == 1 for fragment in fragments) > 950

    assert "'x', 'x', 'x', 'x', 'x', ...]" in complaint(depends_on_all, "x" * 1000, most_cuts=10)
    assert calls <= 10 + 3 + 200


def test_the_seed_decides_the_cuttings() -> None:
    """The same seed tries the same cuttings, another one tries others."""

    def tried(seed: int) -> list[list[str]]:
        cuttings: list[list[str]] = []
        assert_cutting_is_not_observable(cuttings.append, "x" * 500, seed=seed, most_cuts=20)
        return cuttings

    assert tried(1) == tried(1) != tried(2)
    assert all("".join(cutting) == "x" * 500 for cutting in tried(1))
    assert ["x"] * 500 in tried(1)


@pytest.mark.parametrize("text", ["", b"", "x", b"\xff"])
def test_very_short_texts(text: Any) -> None:
    """An empty text can be no fragment at all, or several empty ones."""
    cuttings: list[list[Any]] = []
    assert_cutting_is_not_observable(cuttings.append, text)
    assert [text[:0], text] in cuttings
    assert ([] in cuttings) is (not text)
    assert all(text[:0].join(cutting) == text for cutting in cuttings)


def test_exceptions_are_compared_by_type_and_message() -> None:
    """The same type with another message is another outcome, and so is another type with the same message."""

    def fails(fragments: list[str]) -> None:
        raise ValueError(f"{len(fragments) > 1}")

    def fails_otherwise(fragments: list[str]) -> None:
        raise (ValueError if len(fragments) > 1 else KeyError)(1)

    said = complaint(fails, "text")
    assert "  whole: ValueError: False\n  cut: ValueError: True" in said
    assert "  whole: KeyError: 1\n  cut: ValueError: 1" in complaint(fails_otherwise, "text")


def test_to_raise_is_not_to_return() -> None:
    """An exception that is returned is not one that is raised; returned ones are compared like any other object."""
    error = ValueError("no")

    def returns_or_raises(fragments: list[str]) -> ValueError:
        if len(fragments) > 1:
            raise error
        return error

    assert "cut: ValueError: no" in complaint(returns_or_raises, "text")
    assert assert_cutting_is_not_observable(lambda fragments: error, "text") is error


def test_assertions_inside() -> None:
    """A failing assertion is not a way for all outcomes to agree: for the whole text it is raised as it is."""

    def asserts(fragments: list[str]) -> None:
        raise AssertionError("never true")

    def asserts_when_cut(fragments: list[str]) -> None:
        if len(fragments) > 1:
            raise AssertionError("not true when cut")

    assert complaint(asserts, "text") == "never true"
    assert "  whole: None\n  cut: AssertionError: not true when cut" in complaint(asserts_when_cut, "text")


def test_outcomes_that_change_by_themselves() -> None:
    """Code that gives something else each time is not blamed on the cutting."""
    numbers = iter(range(1000))
    assert complaint(lambda fragments: next(numbers), "text").splitlines() == [
        "the whole text gives a different result the second time",
        "  fragments: ['text']",
        "  whole: 0",
        "  cut: 1",
    ]


def test_code_that_keeps_its_fragments() -> None:
    """Every call gets a list of its own; what is done to it shows neither in other calls nor in the complaint."""

    def consumes(fragments: list[str]) -> int:
        count = len(fragments)
        fragments.clear()
        return count

    assert "fragments: ['', 'text']" in complaint(consumes, "text")


def test_outcomes_that_can_not_be_compared() -> None:
    """A generator or a coroutine equals nothing else, so nothing would be learned; that is a mistake in the test."""
    with pytest.raises(TypeError, match="generator object"):
        assert_cutting_is_not_observable(iter_values, "[1]")

    async def later() -> AsyncIterator[int]:
        yield 1

    with pytest.raises(TypeError, match="async_generator object"):
        assert_cutting_is_not_observable(lambda fragments: later(), "[1]")

    class Awaited:
        def __await__(self) -> Iterator[None]:
            raise NotImplementedError

    with pytest.raises(TypeError, match="Awaited"):
        assert_cutting_is_not_observable(lambda fragments: Awaited(), "[1]")


class Unequal(list[object]):
    """Equal to nothing, whatever is in it."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None


@pytest.mark.parametrize(
    ("whole", "cut", "difference"),
    [
        ([0, {"a": (1, 2)}], [0, {"a": (1, 3)}], "result[1]['a'][1]: 2 is not 3"),
        ([0, 1], [0, 1, 2], "result[2]: MISSING is not 2"),
        ({"a": 1, (0, 1): 2}, {"a": 1}, "result[(0, 1)]: 2 is not MISSING"),
        (["x" * 500 + "abc"], ["x" * 500 + "abd"], "result[0][502:]: 'c' is not 'd'"),
        ("abc", "ab", "result[2:]: 'c' is not ''"),
        (b"abc", b"bbc", "result[0:]: b'abc' is not b'bbc'"),
        ([(1,)], [[1]], "result[0]: (1,) is not [1]"),
    ],
)
def test_the_first_difference_is_shown(whole: object, cut: object, difference: str) -> None:
    """Long outcomes are shown in short, so the complaint says where they differ."""
    said = complaint(lambda fragments: whole if len(fragments) == 1 else cut, "text")
    assert said.splitlines()[-1] == f"  first difference, at {difference}"


def test_outcomes_with_their_own_idea_of_equality() -> None:
    """Where nothing inside differs, there is no first difference to show."""
    assert complaint(lambda fragments: Unequal([1]), "text").splitlines()[-1] == "  cut: [1]"


def test_complaints_are_short() -> None:
    """However long the text and the outcomes are."""
    said = complaint(lambda fragments: [*iter_events(fragments), "x" * 10**5], json.dumps(["text" * 1000] * 1000))
    assert len(said) < 3000


# ---- assert_only_grows -------------------------------------------------------------------------------


GROWING: list[list[Any]] = [
    [],
    [MISSING],
    [MISSING, MISSING, None, None],
    ["", "a", "a", "ab"],
    [[], [1], [1, ""], [1, "a"], [1, "ab", {}], [1, "ab", {"a": [0]}]],
    [{}, {"a": ""}, {"a": "x", "b": []}, {"a": "x", "b": [[]]}, {"a": "x", "b": [["y"], 1], "c": None}],
    [{"a": {"b": "x"}}, {"a": {"b": "xy", "c": "z"}, "d": "w"}],
    [[0.0, -0.0, 1, True, 10**400, None], [0.0, -0.0, 1, True, 10**400, None]],
]


@pytest.mark.parametrize("values", GROWING)
def test_what_grows(values: list[Any]) -> None:
    """Atoms stay, strings go on, and of arrays and objects the last entry, with new ones after it."""
    assert_only_grows(copy.deepcopy(values))
    assert_only_grows(copy.deepcopy(values), key_order=False)


NOT_GROWING: list[tuple[list[Any], str]] = [
    ([1, MISSING], "value 1 .* at \\$: its type changed: 1 became MISSING$"),
    ([None, 0], "its type changed"),
    ([1, True], "its type changed"),
    ([[1], [1.0]], "value 1 .* at \\$\\[0\\]: its type changed: 1 became 1.0$"),
    (["", []], "its type changed"),
    ([{}, []], "its type changed"),
    ([1, 12], "value 1 .* at \\$: it changed: 1 became 12$"),
    ([[True], [False]], "it changed"),
    ([[-0.0], [0.0]], "it changed: -0.0 became 0.0"),
    (["a", "ab", "a"], "value 2 .* at \\$: it does not start with the old text: 'ab' became 'a'$"),
    (["ab", "ac"], "does not start with the old text"),
    (["\ud83d", "😀"], "does not start with the old text"),
    ([[1, 2], [1]], "value 1 .* at \\$: it became shorter: \\[1, 2\\] became \\[1\\]$"),
    ([["a", 1], ["ab", 1]], "value 1 .* at \\$\\[0\\]: it grew after it was complete: 'a' became 'ab'$"),
    ([[[], 1], [[2], 1]], "at \\$\\[0\\]: it grew after it was complete"),
    ([[[[""]], 1], [[["a"]], 1]], "at \\$\\[0\\]\\[0\\]\\[0\\]: it grew after it was complete"),
    ([[{}], [{}, 1], [{"a": 1}, 1]], "value 2 .* at \\$\\[0\\]: it grew after it was complete"),
    ([{"a": 1, "b": 2}, {"b": 2}], "value 1 .* at \\$.a: it disappeared$"),
    ([MISSING, {"a": [{"x": "y"}]}, {"a": [{}]}], "value 2 .* at \\$.a\\[0\\].x: it disappeared$"),
]


@pytest.mark.parametrize("key_order", [True, False])
@pytest.mark.parametrize(("values", "message"), NOT_GROWING)
def test_what_does_not_grow(values: list[Any], message: str, key_order: bool) -> None:
    """The complaint names the value, the path, and what happened there."""
    with pytest.raises(AssertionError, match=message):
        assert_only_grows(copy.deepcopy(values), key_order=key_order)


ONLY_WITHOUT_ORDER: list[tuple[list[Any], str]] = [
    (
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        "at \\$: the order of its keys changed: \\['a', 'b'\\] became \\['b', 'a'\\]$",
    ),
    ([{"a": 1}, {"b": 2, "a": 1}], "the order of its keys changed"),
    ([[{"a": "", "b": ""}], [{"a": "x", "b": ""}]], "at \\$\\[0\\].a: it grew after it was complete"),
    ([{"a": {}, "b": []}, {"a": {"x": ""}, "b": []}, {"c": 1, "a": {"x": "y"}, "b": []}], "at \\$.a: it grew"),
]


@pytest.mark.parametrize(("values", "message"), ONLY_WITHOUT_ORDER)
def test_key_order(values: list[Any], message: str) -> None:
    """The order of keys counts, unless it is said that it means nothing."""
    assert_only_grows(copy.deepcopy(values), key_order=False)
    with pytest.raises(AssertionError, match=message):
        assert_only_grows(copy.deepcopy(values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([{"a": "", "b": ""}, {"a": "x", "b": "y"}], "value 1 .* at \\$.b: it grew, and so did \\$.a$"),
        ([{"a": [], "b": {"c": ""}}, {"b": {"c": "y"}, "a": [1]}], "value 1 .* at \\$.b.c: it grew, and so did \\$.a$"),
        ([{"a": "", "b": ""}, {"a": "x", "b": ""}, {"a": "x", "b": "y"}], "value 2 .* at \\$.b: it grew after"),
        ([{"a": ""}, {"a": "", "b": ""}, {"a": "x", "b": ""}], "value 2 .* at \\$.a: it grew after"),
        (
            [{"a": ""}, {"a": "", "b": ""}, {"a": "", "b": ""}, {"a": "x", "b": ""}],
            "value 3 .* at \\$.a: it grew after",
        ),
        (
            [[{"a": {}, "b": {}}], [{"a": {"x": 1}, "b": {}}], [{"a": {"x": 1}, "b": {"y": 1}}]],
            "at \\$\\[0\\].b: it grew",
        ),
        ([{"a": {"b": ""}}, {"a": {"b": "x"}, "c": 1}, {"a": {"b": "xy"}, "c": 1}], "value 2 .* at \\$.a.b: it grew"),
    ],
)
def test_without_key_order_one_entry_grows_at_a_time(values: list[Any], message: str) -> None:
    """What stood beside something that grew, and what stood there before something new, was complete."""
    with pytest.raises(AssertionError, match=message):
        assert_only_grows(copy.deepcopy(values), key_order=False)


def test_values_may_come_one_by_one() -> None:
    """Any iterable will do, and of it only the last value is kept."""
    assert_only_grows(iter_values(strategies.one_by_one('{"a": [1, {"b": "text"}], "c": "d"}')))
    parser = ValueParser()

    def values() -> Iterator[object]:
        for character in '{"a": ["x", "y"], "a": null}':
            parser.feed(character)
            yield parser.value

    with pytest.raises(AssertionError, match=r"value 27 .* at \$\.a: its type changed: \['x', 'y'\] became None"):
        assert_only_grows(values())


def test_numbers_that_show_too_early() -> None:
    """Code that shows the digits of a number as they come is found."""
    shown = [[json.loads("123"[:end])] for end in range(1, 4)]
    with pytest.raises(AssertionError, match=r"value 1 .* at \$\[0\]: it changed: 1 became 12"):
        assert_only_grows(shown)


# The growth order, against the model of the laws, and against a search for an order of the keys.


@st.composite
def near_misses(draw: DrawFn) -> list[Any]:
    """Each value is the next one with something left out, here and there: many grow, in many something else happens."""
    entries = st.recursive(
        st.sampled_from(["x", "xy", "", 0]),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        max_leaves=4,
    )
    value = draw(
        st.dictionaries(st.sampled_from("abc"), entries, min_size=1) | st.lists(entries, min_size=1, max_size=3)
    )
    tape = strategies.Tape(draw(st.binary(min_size=40, max_size=40)))
    has_order = draw(st.booleans())
    values = [value]
    for _ in range(draw(st.integers(2, 3))):
        values.append(pruned(values[-1], tape, has_order))
    return values[::-1]


def pruned(value: Any, tape: strategies.Tape, has_order: bool) -> Any:
    """Some strings and arrays are shorter at their end, some objects have lost a key, or their keys change places."""
    leaves_out = tape.pick(4) == 3
    if isinstance(value, dict):
        keys = list(value)
        if leaves_out and keys:
            keys.pop(-1 if has_order else tape.pick(len(keys)))
        if not has_order and tape.pick(2):
            keys.reverse()
        return {key: pruned(value[key], tape, has_order) for key in keys}
    if isinstance(value, (list, str)) and leaves_out:
        value = value[:-1]
    return [pruned(item, tape, has_order) for item in value] if isinstance(value, list) else value


def passes(values: list[Any], *, key_order: bool) -> bool:
    try:
        assert_only_grows(values, key_order=key_order)
    except AssertionError:
        return False
    return True


@given(near_misses())
def test_growth_is_the_order_of_the_laws(values: list[Any]) -> None:
    """The assertion holds exactly when each value is a prefix of the next in the growth order."""
    assert passes(values, key_order=True) is all(is_prefix_value(one, other) for one, other in pairwise(values))


@given(near_misses())
def test_growth_without_key_order_means_that_there_is_an_order(values: list[Any]) -> None:
    """The assertion holds exactly when the keys can be put in an order in which the values grow."""
    assert passes(values, key_order=False) is any(
        all(is_prefix_value(one, other) for one, other in pairwise(ordered)) for ordered in key_orders(values)
    )


def key_orders(values: list[Any]) -> Iterator[list[Any]]:
    """The values with their keys in every order, the same in all of them, for each object of its own."""
    places: dict[tuple[Any, ...], set[str]] = {}
    for value in values:
        collect_keys(value, (), places)
    for orders in product(*[permutations(sorted(keys)) for keys in places.values()]):
        chosen = dict(zip(places, orders, strict=True))
        yield [reordered(value, (), chosen) for value in values]


def collect_keys(value: Any, place: tuple[Any, ...], places: dict[tuple[Any, ...], set[str]]) -> None:
    if isinstance(value, dict):
        places.setdefault(place, set()).update(value)
    if isinstance(value, (dict, list)):
        for step, child in value.items() if isinstance(value, dict) else enumerate(value):
            collect_keys(child, (*place, step), places)


def reordered(value: Any, place: tuple[Any, ...], orders: dict[tuple[Any, ...], tuple[str, ...]]) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key], (*place, key), orders) for key in orders[place] if key in value}
    if isinstance(value, list):
        return [reordered(item, (*place, index), orders) for index, item in enumerate(value)]
    return value
