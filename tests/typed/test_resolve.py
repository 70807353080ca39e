"""resolve: shapes made by hand and at random, over every prefix, from caches and afresh."""

from __future__ import annotations

import enum
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import shapes, strategies
from tests.support.shapes import (
    Calls,
    Example,
    leaf,
    literal,
    model,
    never,
    number,
    record,
    ref,
    refuse,
    required,
    text,
    told,
)
from tests.support.steps import steps
from tests.support.strategies import Tape, one_by_one
from unspool import COMPILED, Options, ParserState, Path, create_state, finalize, parse_chunk
from unspool.typed import Cache, Complete, Invalid, InvalidError, Missing, Partial, Problem, Resolution, resolve
from unspool.typed._shape import (
    IGNORED,
    AnyShape,
    ArrayShape,
    DeferredShape,
    Field,
    IgnoredShape,
    LeafShape,
    MapShape,
    ObjectShape,
    RefShape,
    Shape,
    ShapeError,
    TupleShape,
    UnionShape,
    followed,
    kinds_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DEEP = Options(max_depth=None, max_path=None)


def states_of(fragments: list[str], options: Options | None = None) -> list[ParserState]:
    """The state before any text, after each fragment, and after the end."""
    states = [create_state(options)]
    for fragment in fragments:
        states.append(parse_chunk(states[-1], fragment))
    return [*states, finalize(states[-1])]


def stream(shape: Shape, states: list[ParserState]) -> list[Resolution[Any]]:
    """Return the resolutions of consecutive states, each from the cache of the one before."""
    resolutions: list[Resolution[Any]] = []
    cache: Cache | None = None
    for state in states:
        resolution, cache = resolve(shape, state, cache)
        resolutions.append(resolution)
    return resolutions


def after(shape: Shape, prefix: str, options: Options | None = None) -> Resolution[Any]:
    """Return the resolution of a prefix: the same in one fragment, one character at a time, and afresh."""
    slowly = stream(shape, states_of(one_by_one(prefix), options)[:-1])[-1]
    state = parse_chunk(create_state(options), prefix)
    at_once = resolve(shape, state)[0]
    assert typed(told(slowly)) == typed(told(at_once)) == typed(model(shape, state))
    return slowly


def at_the_end(shape: Shape, whole: str) -> Resolution[Any]:
    """Return the resolution of a whole text."""
    return stream(shape, states_of(one_by_one(whole)))[-1]


def value(shape: Shape, prefix: str) -> Any:
    """The value after a prefix that nothing is wrong with; `...` where nothing is shown."""
    resolution = after(shape, prefix)
    assert not isinstance(resolution, Invalid), resolution
    return ... if isinstance(resolution, Missing) else resolution.value


def wrong(shape: Shape, prefix: str) -> list[tuple[str, str]]:
    """Return the problems after a prefix that were not there one character before."""
    assert not isinstance(after(shape, prefix[:-1]), Invalid)
    resolution = after(shape, prefix)
    assert isinstance(resolution, Invalid)
    assert resolution.invalid is resolution
    assert resolution.path == resolution.problems[0].path
    return [(str(problem.path), problem.code) for problem in resolution.problems]


def typed(value: Any) -> Any:
    """A value in which True is not 1, and 1 is not 1.0."""
    if isinstance(value, (list, tuple)):
        return [type(value), *map(typed, value)]
    if isinstance(value, dict):
        return [(typed(key), typed(item)) for key, item in value.items()]
    return (type(value), repr(value))


# The four outcomes


def test_missing_partial_complete() -> None:
    """Nothing to show yet, something, all of it: and only what is complete says so."""
    shape = record({"a": text()})
    begun, missing = after(shape, '{"a":"x'), after(shape, " ")
    done = at_the_end(shape, '{"a":"x"} ')
    assert [type(one) for one in (missing, begun, done)] == [Missing, Partial, Complete]
    assert [one.is_complete for one in (missing, begun, done)] == [False, False, True]
    assert [one.value for one in (missing, begun, done)] == [None, ("open", {"a": "x"}), ("whole", {"a": "x"})]
    assert [one.invalid for one in (missing, begun, done)] == [None, None, None]
    assert isinstance(done, Partial)
    assert not isinstance(missing, Partial)


def test_a_null_is_a_value() -> None:
    """A null shows None, and so does an empty outcome: the class of the outcome differs."""
    assert type(at_the_end(leaf("null"), "null")) is Complete
    assert type(after(ArrayShape(leaf("null")), "[null,")) is Partial
    assert value(ArrayShape(leaf("null")), "[null,") == [None]


def test_a_number_at_the_root_waits_for_the_end() -> None:
    """It may still grow until the text ends; `finalize` is where it is complete, and it can be taken back."""
    shape = number()
    state = parse_chunk(create_state(), "12")
    resolution, cache = resolve(shape, state)
    assert type(resolution) is Missing
    ended, _ = resolve(shape, finalize(state), cache)
    assert (type(ended), ended.value) == (Complete, 12)
    further, _ = resolve(shape, parse_chunk(state, "3 "), cache)
    assert (type(further), further.value) == (Complete, 123)


def test_invalid_shows_what_is_not_wrong() -> None:
    """Invalid parts are left out and valid ones go on, even if a container with a problem in it closes."""
    shape = record({"n": number(), "s": text(), "in": record({"n": number(), "t": text()})})
    whole = '{"n":"x","s":"ab","in":{"t":"y","n":true},"n":1}'
    seen = [one.value for one in stream(shape, states_of(one_by_one(whole))) if isinstance(one, Invalid)]
    assert seen[0] == ("open", {})
    assert ("open", {"s": "ab", "in": ("open", {"t": "y"})}) in seen
    assert seen[-1] == ("open", {"s": "ab", "in": ("open", {"t": "y"}), "n": 1})


def test_invalid_stays_invalid() -> None:
    """An invalid text stays invalid: no bracket, no end of the text and no further problem repairs it."""
    whole = '{"a": [1, "x", 2], "b": true, "c": {"d": "x"}}'
    shape = record({"a": ArrayShape(number()), "b": text(), "c": record({"d": number()})})
    seen = [isinstance(one, Invalid) for one in stream(shape, states_of([*one_by_one(whole), " ", "?"]))]
    first = whole.index('"x"') + 1  # the opening quote tells
    assert seen == [False] * first + [True] * (len(seen) - first)


def test_a_text_that_ends_too_early_is_partial() -> None:
    """That the text is broken is for the state to say; the value is what it was."""
    for prefix, expected in [("[1,", [1]), ("[1,2", [1]), ("[", []), ('["a', ["a"])]:
        states = states_of([prefix])
        open_one, ended = stream(ArrayShape(AnyShape()), states[1:])
        assert (type(ended), ended.value) == (Partial, expected)
        assert ended.value is open_one.value


def test_broken_behind_the_value() -> None:
    """Further text makes a complete value incomplete; the value is the same object, and nothing is made again."""
    calls = Calls()
    shape = ArrayShape(number(make=calls.node), make=calls.values)
    complete, still, broken, absorbed = stream(shape, states_of(["[1,2]", " ", "x", "y"])[1:-1])
    assert [type(one) for one in (complete, still, broken, absorbed)] == [Complete, Complete, Partial, Partial]
    assert complete.value is still.value is broken.value is absorbed.value
    assert calls.seen == [1, 2, "list"]


def test_repr_and_message() -> None:
    """They name the outcome, the path and the code; the message never quotes the text."""
    shape = record({"a": number()})
    assert repr(after(shape, '{"a":1,')) == "Partial(('open', {'a': 1}))"
    assert repr(after(shape, "")) == "Missing(None)"
    invalid = after(shape, '{"a":"secret"').invalid
    assert repr(invalid) == "Invalid($.a, ['wrong_kind'])"
    assert invalid is not None
    error = InvalidError(invalid)
    assert str(error) == "wrong_kind: $.a: expected a leaf"
    assert (str(error.path), error.problems, error.invalid) == ("$.a", invalid.problems, invalid)
    two = after(shape, '{"a":"secret","a":[]').invalid
    assert two is not None
    assert str(InvalidError(two)) == "wrong_kind: $.a: expected a leaf (and 1 more)"


# Leaves


def test_strings_stream_where_they_may() -> None:
    """With `streams` an open string is its text so far; otherwise it appears when it is closed."""
    assert [value(text(), prefix) for prefix in ['"', '"a', '"a\\', '"a\\n', '"a\\n"']] == ["", "a", "a", "a\n", "a\n"]
    assert [value(leaf("string"), prefix) for prefix in ['"', '"a', '"a"']] == [..., ..., "a"]


def test_make_gets_the_closed_node() -> None:
    """A leaf is made from its node, once: so a number still knows how it was spelled."""
    calls: list[str] = []

    def make(node: Any) -> Any:
        calls.append(node.raw)
        return node.raw

    assert at_the_end(ArrayShape(number(make=make)), "[1.50, 1e2]").value == ["1.50", "1e2"]
    assert calls == ["1.50", "1e2"]


def test_wrong_kinds_show_as_soon_as_they_begin() -> None:
    """The first character decides on a string, an array or an object; the end decides on numbers and literals."""
    assert wrong(number(), '"') == [("$", "wrong_kind")]
    assert wrong(number(), "[") == [("$", "wrong_kind")]
    assert wrong(text(), "{") == [("$", "wrong_kind")]
    assert wrong(text(), "true ") == [("$", "wrong_kind")]
    assert wrong(ArrayShape(text()), "[1 ") == [("$[0]", "wrong_kind")]
    assert wrong(record({}), "[") == [("$", "wrong_kind")]
    assert wrong(MapShape(text()), "[") == [("$", "wrong_kind")]
    assert wrong(ArrayShape(text()), "{") == [("$", "wrong_kind")]
    assert wrong(leaf("string number boolean"), "null ") == [("$", "wrong_kind")]


def test_a_leaf_that_is_refused_is_wrong_when_it_closes() -> None:
    """The verdict of `make` is not known before."""
    shape = record({"a": text(make=refuse)})
    assert value(shape, '{"a":"xy') == ("open", {"a": "xy"})
    assert wrong(shape, '{"a":"xy"') == [("$.a", "refused")]


def test_literals() -> None:
    """A text that none of them begins with is wrong at once; which one it is, is shown when it closes."""
    shape = literal("Sight", "Sightseeing", "Food")
    assert [value(shape, prefix) for prefix in ['"', '"F', '"Food', '"Food"']] == [..., ..., ..., "Food"]
    assert wrong(shape, '"Fx') == [("$", "not_one_of")]
    assert wrong(shape, '"Sightx') == [("$", "not_one_of")]
    assert wrong(shape, '"Sights"') == [("$", "not_one_of")]
    assert wrong(shape, '""') == [("$", "not_one_of")]
    assert value(literal("", "a"), '""') == ""


def test_literals_early() -> None:
    """With `early` the only one that is left is shown before its end, as the same object as at its end."""
    one, other = object(), object()
    shape = leaf("string", literals={"Sight": one, "Sightseeing": other, "Food": 5}, early=True)
    seen = [value(shape, '"Sightseeing"'[:length]) for length in range(1, 14)]
    assert seen == [..., ..., ..., ..., ..., ..., *[other] * 7]
    assert value(shape, '"F') == 5
    assert value(shape, '"Sight"') is one
    assert wrong(shape, '"Fx') == [("$", "not_one_of")]
    assert value(leaf("string", literals={"only": 1}, early=True), '"') == 1


def test_no_literals_at_all() -> None:
    """Where none may come, the opening quote is wrong already."""
    assert wrong(leaf("string", literals={}), '"') == [("$", "not_one_of")]


def test_many_literals_are_looked_up_quickly() -> None:
    """The work for a prefix does not grow with the number of literals."""
    if COMPILED:
        pytest.skip("steps are counted in the plain sources only")
    few, many = (literal(*[f"{n:05}" for n in range(count)], early=True) for count in (10, 10_000))
    states = states_of(one_by_one('"00007"'))
    assert steps(lambda: stream(many, states)) < 2 * steps(lambda: stream(few, states))


def test_max_length() -> None:
    """A string that is too long is wrong before it ends, and when it comes as one fragment too."""
    shape = text(max_length=2)
    assert value(shape, '"😀b') == "😀b"
    assert value(shape, '"ab"') == "ab"
    assert wrong(shape, '"abc') == [("$", "too_long")]
    assert wrong(text(max_length=0), '"a') == [("$", "too_long")]
    assert isinstance(at_the_end(leaf("string", max_length=2), '"abc"'), Invalid)


def test_numbers_and_words_are_never_shown_half() -> None:
    """They appear when they are complete."""
    shape = ArrayShape(leaf("number boolean null"))
    assert [value(shape, prefix) for prefix in ["[1", "[12", "[12 ", "[12,true", "[12,true ", "[12,true,null]"]] == [
        [],
        [],
        [12],
        [12],
        [12, True],
        [12, True, None],
    ]


def test_any() -> None:
    """Everything fits, and is the plain value of the tree."""
    state = parse_chunk(create_state(), '{"a":[1,{"b":"x')
    resolution, _ = resolve(AnyShape(), state)
    assert resolution.value == {"a": [1, {"b": "x"}]}
    assert resolution.value is state.value
    assert value(AnyShape(is_atomic=True), '{"a":1') is ...
    assert value(AnyShape(is_atomic=True), '{"a":1}') == {"a": 1}
    assert value(AnyShape(is_atomic=True), '"a') is ...


def test_ignored() -> None:
    """Any value is left out; at the root nothing is left."""
    assert value(ArrayShape(IGNORED), '[1,{"a":[2') == []
    assert type(at_the_end(IGNORED, '{"a":1}')) is Complete
    assert at_the_end(IGNORED, '{"a":1}').value is None
    assert value(IGNORED, "[") is ...


# Objects


def test_objects_show_and_make() -> None:
    """Half filled they go through `show`, whole ones through `make`; both get the names of fields, not the keys."""
    shape = record({"firstName": Field("first_name", text()), "n": number()})
    assert value(shape, "{") == ("open", {})
    assert value(shape, '{"firstName"') == ("open", {})
    assert value(shape, '{"firstName":"') == ("open", {"first_name": ""})
    assert value(shape, '{"firstName":"Jo","n":1') == ("open", {"first_name": "Jo"})
    assert value(shape, '{"firstName":"Jo","n":1}') == ("whole", {"first_name": "Jo", "n": 1})


def test_required_keys_are_missed_when_the_object_closes() -> None:
    """All that are absent, in the order of the fields, each at its own path."""
    shape = record({"a": required("a", number()), "b": required("b", number()), "c": number()})
    assert wrong(shape, '{"c":1}') == [("$.a", "missing"), ("$.b", "missing")]
    assert wrong(ArrayShape(shape), '[{"b":1}') == [("$[0].a", "missing")]
    assert isinstance(at_the_end(shape, '{"b":1,"a":2}'), Complete)


def test_a_required_field_with_several_keys() -> None:
    """Any of them will do; its first key is the one that is missed."""
    shape = record({"x": required("a", number()), "y": required("a", number())})
    assert at_the_end(shape, '{"y":1}').value == ("whole", {"a": 1})
    assert wrong(shape, "{}") == [("$.x", "missing")]
    assert lacking(shape, "{") == ["$.x"]
    assert lacking(shape, '{"y":') == ["$.x"]
    assert lacking(shape, '{"y":"') == []


def test_a_required_key_with_something_wrong_is_not_missed_as_well() -> None:
    """One fault is one problem."""
    assert wrong(record({"a": required("a", number())}), '{"a":"') == [("$.a", "wrong_kind")]
    assert [one.code for one in after(record({"a": required("a", number())}), '{"a":"x"}').problems] == ["wrong_kind"]


def test_extra_keys() -> None:
    """They are refused as soon as their value begins, or left out, or go by their own names with a shape."""
    assert wrong(record({}, extra=None), '{"é":"') == [("$.é", "extra_key")]
    assert wrong(record({}, extra=None), '{"a b":1,') == [('$["a b"]', "extra_key")]
    assert value(record({}), '{"x":[1],"y":"z') == ("open", {})
    assert value(record({}, extra=AnyShape()), '{"x":[1],"y":"z') == ("open", {"x": [1], "y": "z"})
    assert wrong(record({}, extra=number()), '{"x":"') == [("$.x", "wrong_kind")]


def test_nothing_inside_a_refused_key_is_looked_at() -> None:
    """It is one problem, and its insides are never made."""
    shape = record({"a": number()}, extra=None)
    resolution = after(shape, '{"x":{"y":[1,{"z":2}]},"a":1')
    assert [(str(one.path), one.code) for one in resolution.problems] == [("$.x", "extra_key")]


def test_an_object_that_is_refused() -> None:
    """Problems of its own `make` have paths that start at the object."""

    def make(values: dict[str, object]) -> object:
        raise ShapeError([Problem(Path.of(), "order", "low first"), Problem(Path.of("a", 0), "inner", "another")])

    shape = ArrayShape(record({"a": AnyShape()}, make=make))
    assert wrong(shape, '[{"a":[1]}') == [("$[0]", "order"), ("$[0].a[0]", "inner")]


def test_problems_without_a_word_are_problems() -> None:
    """A ShapeError that names nothing does not make something wrong complete."""

    def make(values: object) -> object:
        raise ShapeError([])

    resolution = resolve(ArrayShape(number(), make=make), parse_chunk(create_state(), "[1]"))[0]
    assert isinstance(resolution, Invalid)
    assert resolution.path == ()
    assert str(InvalidError(resolution)).endswith("expected an array")


def test_what_holds_back() -> None:
    """The object is not shown before such a field is; what is around it is shown without it."""
    held = record({"a": Field("a", text(), holds_back=True), "b": number()})
    assert value(held, '{"b":1,') is ...
    assert value(held, '{"b":1,"a":"') == ("open", {"b": 1, "a": ""})
    assert value(held, '{"b":1}') == ("whole", {"b": 1})
    assert value(ArrayShape(held), '[{"b":1},{"b":2') == [("whole", {"b": 1})]
    assert value(record({"in": held}), '{"in":{"b":1,') == ("open", {})
    atomic = record({"a": Field("a", leaf("string"), holds_back=True)})
    assert value(atomic, '{"a":"x') is ...
    assert value(atomic, '{"a":"x"') == ("open", {"a": "x"})


def test_what_holds_back_and_is_wrong() -> None:
    """The object is never shown then, but its problems are."""
    held = record({"a": Field("a", number(), holds_back=True), "b": text()})
    resolution = after(held, '{"a":"x","b":"y"}')
    assert isinstance(resolution, Invalid)
    assert resolution.value is None


def test_max_keys() -> None:
    """One key too many is wrong as soon as its value begins."""
    assert wrong(MapShape(AnyShape(), max_keys=1), '{"a":[],"b":[') == [("$.b", "too_many_keys")]
    assert wrong(record({}, max_keys=0), '{"a":"') == [("$.a", "too_many_keys")]
    assert value(MapShape(AnyShape(), max_keys=1), '{"a":[]}') == {"a": []}


def test_maps() -> None:
    """Any keys, one shape; plain where there is no `show` and no `make`."""
    assert value(MapShape(text()), '{"a":"x","":"y') == {"a": "x", "": "y"}
    shape = MapShape(number(), show=shapes.as_open, make=shapes.as_whole)
    assert value(shape, '{"a":1,') == ("open", {"a": 1})
    assert value(shape, '{"a":1}') == ("whole", {"a": 1})
    assert wrong(MapShape(MapShape(number())), '{"a":{"b":"') == [("$.a.b", "wrong_kind")]


def test_keys_that_are_checked() -> None:
    """A key is judged when its value begins, and shown under what was made of it; the path has the key itself."""

    def check(key: str) -> object:
        if not key.isdecimal():
            raise ShapeError.of("int_key", "a whole number")
        return int(key)

    shape = MapShape(text(), check_key=check)
    assert value(shape, '{"1":"a","02":"b') == {1: "a", 2: "b"}
    assert wrong(shape, '{"1":"a","x":"') == [("$.x", "int_key")]
    assert after(shape, '{"x":"a","1":"b').value == {1: "b"}


def test_a_key_is_checked_once() -> None:
    """However many fragments its value takes, and whatever comes of it."""
    checked: list[str] = []

    def check(key: str) -> object:
        checked.append(key)
        if key == "bad":
            raise ShapeError.of("bad_key", "another")
        return key

    stream(MapShape(MapShape(text(), check_key=check), check_key=check), states_of(list('{"a":{"b":"xy"},"c":{}}')))
    stream(MapShape(AnyShape(), check_key=check), states_of(list('{"bad":["xy",["z"]],"d":[[1]]}')))
    assert checked == ["a", "b", "c", "bad", "d"]


def test_duplicate_keys() -> None:
    """The last one counts, in the place of the first; each one is judged."""
    assert value(MapShape(AnyShape()), '{"a":1,"b":2,"a":"x') == {"a": "x", "b": 2}
    assert list(value(MapShape(AnyShape()), '{"a":1,"b":2,"a":3}').items()) == [("a", 3), ("b", 2)]
    assert value(record({"a": text()}), '{"a":"x","a":"y"}') == ("whole", {"a": "y"})
    assert wrong(record({"a": number()}), '{"a":1,"a":"') == [("$.a", "wrong_kind")]
    assert wrong(record({"a": number()}), '{"a":"') == [("$.a", "wrong_kind")]
    assert after(record({"a": number()}), '{"a":"x","a":1').problems[0].code == "wrong_kind"


def test_hard_keys() -> None:
    """An empty key, dots and brackets are keys like others."""
    for key in strategies.HARD_KEYS:
        shape = record({key: number()})
        spelled = strategies.spell({key: "x"}, Tape(b""))
        resolution = after(shape, spelled)
        assert resolution.problems[0].path == (key,)
        assert not resolution.is_complete_at((key,))


# Arrays


def test_arrays() -> None:
    """Items as they come, the open one too; plain where there is no `show` and no `make`."""
    assert value(ArrayShape(text()), '["a","b') == ["a", "b"]
    shape = ArrayShape(number(), show=shapes.as_open, make=shapes.as_whole)
    assert value(shape, "[1,2,") == ("open", [1, 2])
    assert value(shape, "[1,2]") == ("whole", [1, 2])
    assert wrong(ArrayShape(ArrayShape(number())), '[[1],[2,"') == [("$[1][1]", "wrong_kind")]


def test_whole_items() -> None:
    """Only finished items are shown; while the open one grows, the list stays the same object."""
    shape = ArrayShape(record({"a": text()}), whole_items=True)
    assert value(shape, '[{"a":"x"},{"a":"y') == [("whole", {"a": "x"})]
    assert value(ArrayShape(text(), whole_items=True), '["a","b') == ["a"]
    seen = stream(shape, states_of(one_by_one('[{"a":"x"},{"a":"yyy')))
    assert len({id(one.value) for one in seen[12:]}) == 1
    assert after(ArrayShape(record({"a": number()}), whole_items=True), '[{"a":"x"},{}').value == [("whole", {})]


def test_max_items() -> None:
    """One item too many is wrong as soon as it begins; numbers begin when they are complete."""
    assert wrong(ArrayShape(AnyShape(), max_items=1), "[[],[") == [("$[1]", "too_many_items")]
    assert wrong(ArrayShape(AnyShape(), max_items=0), '["') == [("$[0]", "too_many_items")]
    assert wrong(ArrayShape(AnyShape(), max_items=1), "[1,2]") == [("$[1]", "too_many_items")]
    assert value(ArrayShape(AnyShape(), max_items=1), "[1,") == [1]


def test_tuples() -> None:
    """Each of the first items has its own shape; then come items of one shape, or none."""
    closed = TupleShape([text(), number()], None)
    assert value(closed, '["a",1]') == ["a", 1]
    assert value(closed, '["a') == ["a"]
    assert wrong(closed, '["a","') == [("$[1]", "wrong_kind")]
    assert wrong(closed, '["a",1,"') == [("$[2]", "too_many_items")]
    open_ended = TupleShape([text()], number(), make=lambda items: tuple(items))
    assert value(open_ended, '["a",1,2]') == ("a", 1, 2)
    assert wrong(open_ended, '["a",1,"') == [("$[2]", "wrong_kind")]
    assert wrong(TupleShape([], AnyShape(), max_items=1), "[[],[") == [("$[1]", "too_many_items")]


def test_what_is_wrong_keeps_its_place_in_a_tuple() -> None:
    """Or what follows would be shown in another's place; in an array, where all items are alike, it is left out."""
    shape = TupleShape([number(), text()], IGNORED, show=tuple)
    assert after(shape, '["x"').value == (None,)
    assert after(shape, '["x","a').value == (None, "a")
    assert after(shape, '["x",1,"more"]').value == (None, None)
    assert after(TupleShape([number()], None), '["x",2').value == [None]
    assert after(ArrayShape(number()), '["x",2,').value == [2]


def test_what_does_not_fit_keeps_its_place_in_a_lenient_tuple() -> None:
    """A value that does not fit is shown as None, so that the next items keep their indices."""
    places = [number(is_lenient=True), text(is_lenient=True)]
    shape = DeferredShape(never, shown=TupleShape(places, IGNORED, show=tuple, make=tuple, is_lenient=True))
    assert value(shape, '["x"') == (None,)
    assert value(shape, '["x","a') == (None, "a")
    assert value(shape, '["x",2,"more"') == (None, None)
    short = DeferredShape(never, shown=TupleShape(places, None, is_lenient=True))
    assert value(short, '["x",2,3') == [None, None]


# What is shown only when complete


def test_atomic() -> None:
    """It appears when it closes, but problems in it are known at once, with the path inside."""
    inner = record({"a": text(), "n": number()}, is_atomic=True)
    shape = record({"in": inner, "b": text()})
    assert value(shape, '{"in":{"a":"x"') == ("open", {})
    assert value(shape, '{"in":{"a":"x"},') == ("open", {"in": ("whole", {"a": "x"})})
    assert wrong(shape, '{"in":{"a":"x","n":"') == [("$.in.n", "wrong_kind")]
    assert value(ArrayShape(text(), is_atomic=True), '["a"') is ...
    assert value(MapShape(text(), is_atomic=True), '{"a":"x"') is ...
    assert value(ArrayShape(text(), is_atomic=True), '["a"]') == ["a"]
    assert value(MapShape(text(), is_atomic=True), '{"a":"x"}') == {"a": "x"}


def test_atomic_and_wrong_is_not_shown_when_it_closes() -> None:
    """It will never be complete."""
    shape = record({"in": record({"n": number()}, is_atomic=True)})
    assert after(shape, '{"in":{"n":"x"},').value == ("open", {})


def test_an_atomic_union_hides_whatever_branch_it_is() -> None:
    """The policy stands around the branch."""
    union = UnionShape([text(), ArrayShape(text())], never, is_atomic=True)
    early = UnionShape([literal("one", "two", early=True), number()], never, is_atomic=True)
    for prefix in ['"a', '["a"']:
        assert value(union, prefix) is ...
    assert value(union, '["a"]') == ["a"]
    assert value(early, '"o') is ...
    assert value(early, '"one"') == "one"


def test_what_is_atomic_is_so_through_unions_and_references() -> None:
    """A branch that is atomic hides itself and no other; a reference stands for what it refers to."""
    standing = RefShape()
    standing.target = ArrayShape(text(), is_atomic=True)
    for shape in (standing, UnionShape([text(), standing], never), UnionShape([text(), standing.target], never)):
        assert value(shape, '["a"') is ...
        assert value(shape, '["a"]') == ["a"]
        assert value(MapShape(shape), '{"k":["a"') == {}
    assert value(UnionShape([text(), standing], never), '"a') == "a"


# Unions


def kind_of(name: str, /, **more: Any) -> ObjectShape:
    """A branch: an object whose `kind` is this name."""
    return record({"kind": literal(name), **more}, make=lambda values: (name, values), show=lambda v: (name, "open", v))


CAT = kind_of("cat", lives=number())
DOG = kind_of("dog", name=text())
TAGS: dict[tuple[str, object], Shape] = {("string", "cat"): CAT, ("string", "dog"): DOG}


def pets(**named: Any) -> UnionShape:
    return UnionShape([CAT, DOG], lambda node: ("whole", node.value), discriminator="kind", tags=TAGS, **named)


def test_unions_by_kind() -> None:
    """The first character decides when only one branch takes the kind."""
    union = UnionShape([text(), number(), ArrayShape(text()), record({})], never, expected="one of them")
    assert value(union, '"a') == "a"
    assert value(union, '["a') == ["a"]
    assert value(union, "{") == ("open", {})
    assert at_the_end(union, "1").value == 1
    assert wrong(union, "true ") == [("$", "wrong_kind")]
    assert after(union, "null ").problems[0].expected == "one of them"


def test_unions_by_discriminator() -> None:
    """Nothing is shown before it is closed; from then on the branch is."""
    assert value(pets(), '{"name":"Rex","kind":"dog') is ...
    assert value(pets(), '{"name":"Rex","kind":"dog"') == ("dog", "open", {"name": "Rex", "kind": "dog"})
    assert value(pets(), '{"kind":"cat","lives":9}') == ("cat", {"kind": "cat", "lives": 9})
    assert wrong(pets(), '{"kind":"cat","lives":"') == [("$.lives", "wrong_kind")]
    assert wrong(pets(), '{"lives":"x","kind":"cat"') == [("$.lives", "wrong_kind")]


def test_an_unknown_discriminator() -> None:
    """It is wrong when it closes, at its own path; one that never comes leaves the union to judge it as a whole."""
    assert wrong(pets(), '{"kind":"bird"') == [("$.kind", "unknown_tag")]
    assert wrong(pets(), '{"kind":1,') == [("$.kind", "unknown_tag")]
    assert wrong(ArrayShape(pets()), '[{"kind":null,') == [("$[0].kind", "unknown_tag")]
    assert value(pets(), '{"name":"Rex"}') == ("whole", {"name": "Rex"})
    assert "bird" not in str(after(pets(), '{"kind":"bird"').problems)


def test_a_discriminator_that_is_a_container() -> None:
    """No tag is one: it is wrong as soon as it begins, like any other that is unknown."""
    assert wrong(pets(), '{"kind":[') == [("$.kind", "unknown_tag")]
    assert wrong(pets(), '{"kind":{') == [("$.kind", "unknown_tag")]


def test_discriminators_of_all_kinds() -> None:
    """True is not 1, and "1" is neither."""
    one, true, text_one, null = (record({}, make=lambda _, name=name: name) for name in ("1", "true", '"1"', "null"))
    tags: dict[tuple[str, object], Shape] = {
        ("number", 1): one,
        ("boolean", True): true,
        ("string", "1"): text_one,
        ("null", None): null,
    }
    union = UnionShape([one, true, text_one, null], never, discriminator="t", tags=tags)
    for tag in ("1", "true", '"1"', "null"):
        assert at_the_end(union, f'{{"t":{tag}}}').value == tag
    assert at_the_end(union, '{"t":1.0}').value == "1"
    assert wrong(union, '{"t":false,') == [("$.t", "unknown_tag")]
    assert wrong(union, '{"t":0}') == [("$.t", "unknown_tag")]


def test_unions_that_only_the_whole_decides() -> None:
    """Nothing is shown before the close; then `make` judges it, once, and nothing else does."""
    calls = Calls()
    union = UnionShape([record({"a": number(make=never)}), record({"b": number(make=never)})], calls.node)
    assert [value(union, prefix) for prefix in ["{", '{"a":1,"b":[2', '{"a":1,"b":[2]']] == [..., ..., ...]
    calls.seen.clear()
    assert stream(ArrayShape(union), states_of(one_by_one('[{"a":1},{"b":[2]}]')))[-1].value == [{"a": 1}, {"b": [2]}]
    assert calls.seen == [1, 3]
    assert wrong(UnionShape([text(), leaf("string")], refuse), '"a"') == [("$", "refused")]
    assert wrong(union, "[") == [("$", "wrong_kind")]


def test_strings_that_two_branches_take_are_not_shown_half() -> None:
    """A branch that is shown never flips, so none is shown before it is known."""
    union = UnionShape([text(), literal("a")], lambda node: ("chosen", node.value))
    assert value(union, '"a') is ...
    assert value(union, '"a"') == ("chosen", "a")


def test_unions_in_unions() -> None:
    """The way goes on through unions and references until a branch is something else."""
    standing = RefShape()
    standing.target = pets()
    outer = UnionShape([UnionShape([number(), leaf("null")], never), UnionShape([text(), standing], never)], never)
    assert at_the_end(outer, "1").value == 1
    assert at_the_end(outer, "null").value is None
    assert value(outer, '"a') == "a"
    assert value(outer, '{"kind":"dog","name":"R') == ("dog", "open", {"kind": "dog", "name": "R"})
    assert wrong(outer, '{"kind":"bird"') == [("$.kind", "unknown_tag")]
    assert kinds_of(outer) == {"number", "null", "string", "object"}


def test_a_union_that_contains_itself() -> None:
    """As JSON itself does: arrays and objects of the same."""
    json = ref(
        lambda me: UnionShape(
            [leaf("string number boolean null", streams=True), ArrayShape(me), MapShape(me)], never, expected="JSON"
        )
    )
    whole = '[1,{"a":["x",{"b":null}]},[[true]]]'
    assert at_the_end(json, whole).value == [1, {"a": ["x", {"b": None}]}, [[True]]]
    assert value(json, whole[:13]) == [1, {"a": ["x"]}]


def test_a_union_that_is_its_own_branch() -> None:
    """It adds nothing, and asking for its kinds ends."""
    union = ref(lambda me: UnionShape([me, text(), me], lambda node: ("chosen", node.value)))
    assert kinds_of(union) == {"string"}
    assert value(union, '"a') is ...
    assert value(union, '"a"') == ("chosen", "a")
    assert wrong(union, "{") == [("$", "wrong_kind")]


def test_references_to_references() -> None:
    """They are followed to their end."""
    one, other = RefShape(), RefShape()
    one.target, other.target = other, text()
    assert followed(one) is other.target
    assert value(one, '"a') == "a"


# What is judged as a whole


def test_deferred_without_a_way_to_show_it() -> None:
    """Nothing is shown before it closes, but a wrong kind is invalid as soon as it begins."""
    calls = Calls()
    shape = DeferredShape(calls.node, frozenset({"object", "string"}))
    assert value(shape, '{"a":[1') is ...
    assert value(shape, '"a') is ...
    assert wrong(shape, "[") == [("$", "wrong_kind")]
    calls.seen.clear()
    assert stream(ArrayShape(shape), states_of(one_by_one('["a",{"b":1}]')))[-1].value == ["a", {"b": 1}]
    assert calls.seen == [1, 2]


def test_deferred_is_shown_through_a_lenient_shape() -> None:
    """Until it closes what fits is shown and nothing is judged; then it is judged once, from what was written."""
    lenient = record(
        {
            "n": number(is_lenient=True, make=refuse),
            "s": text(is_lenient=True),
            "in": ArrayShape(number(is_lenient=True)),
        },
        extra=None,
        is_lenient=True,
    )
    shape = DeferredShape(lambda node: ("judged", node.value), frozenset({"object"}), shown=lenient)
    prefix = '{"n":"x","s":[],"extra":1,"s":"ab'
    assert value(shape, prefix) == ("open", {"s": "ab"})
    assert value(shape, '{"n":1,"s":"a"') == ("open", {"s": "a"})
    assert value(shape, '{"s":"a","x":{}}') == ("judged", {"s": "a", "x": {}})
    assert wrong(DeferredShape(refuse, shown=lenient), '{"s":"a"}') == [("$", "refused")]
    assert wrong(ArrayShape(shape), '[{},"') == [("$[1]", "wrong_kind")]


def test_nothing_lenient_is_ever_invalid() -> None:
    """Not a kind, not a tag, not a key, not a number too many, and not what is missing; through references too."""
    union = UnionShape([CAT, DOG, ArrayShape(IGNORED)], refuse, discriminator="kind", tags=TAGS, is_lenient=True)
    standing = RefShape()
    standing.target = union
    for inner in (union, standing, DeferredShape(refuse, frozenset({"object"}), shown=standing, is_lenient=True)):
        assert value(DeferredShape(never, shown=inner), '"a') is ...
        assert value(DeferredShape(never, shown=inner), '{"kind":"bird"') is ...
        assert value(DeferredShape(never, shown=ArrayShape(inner, is_lenient=True)), '[1,{"kind":1},"x"') == []
    strict = record({"a": required("a", number(is_lenient=True))}, extra=None, max_keys=1, is_lenient=True)
    short = ArrayShape(strict, max_items=1, is_lenient=True)
    keys = MapShape(text(is_lenient=True, max_length=1), check_key=refuse, is_lenient=True)
    assert value(DeferredShape(never, shown=short), '[{"b":1,"c":2},{}') == [("whole", {})]
    assert value(DeferredShape(never, shown=keys), '{"a":"bc') == {}
    assert value(DeferredShape(never, shown=ArrayShape(literal("a", is_lenient=True))), '["b","a"') == ["a"]


def test_deferred_in_what_is_shown_of_deferred() -> None:
    """A value that is judged as a whole is judged when it closes and never before, at any place."""
    inner = DeferredShape(never, shown=ArrayShape(text(is_lenient=True), is_lenient=True), is_lenient=True)
    assert value(DeferredShape(never, shown=inner), '["a') == ["a"]
    assert value(DeferredShape(never, shown=DeferredShape(never, is_lenient=True)), '["a') is ...


def test_deferred_and_atomic() -> None:
    """Either way to say so hides it: on the shape itself, or on the one it is shown through."""
    plain = ArrayShape(text(is_lenient=True), is_lenient=True)
    atomic = ArrayShape(text(is_lenient=True), is_lenient=True, is_atomic=True)
    for shape in (DeferredShape(never, shown=plain, is_atomic=True), DeferredShape(never, shown=atomic)):
        assert value(shape, '["a') is ...


def test_a_made_value_takes_the_place_of_the_one_that_was_shown() -> None:
    """Also where the two are equal: what is made of a string may be more than the string."""

    class Colour(enum.StrEnum):
        RED = "red"

    shape = record({"c": text(make=lambda node: Colour(node.value))})
    shown = value(shape, '{"c":"red"')
    assert type(shown[1]["c"]) is Colour
    assert type(value(shape, '{"c":"red')[1]["c"]) is str


# Missing fields and complete values


def lacking(shape: Shape, prefix: str) -> list[str]:
    return [str(path) for path in after(shape, prefix).missing]


def test_missing() -> None:
    """The required fields that are not there yet, along what is open, from the outermost in."""
    day = record({"title": required("title", text()), "on": required("on", text())})
    shape = record({"city": required("city", text()), "days": required("days", ArrayShape(day)), "x": text()})
    assert lacking(shape, "") == ["$.city", "$.days"]
    assert lacking(shape, "{") == ["$.city", "$.days"]
    assert lacking(shape, '{"days":[') == ["$.city"]
    assert lacking(shape, '{"days":[{') == ["$.city", "$.days[0].title", "$.days[0].on"]
    assert lacking(shape, '{"days":[{"title":"a","on":"b"},{"on":"') == ["$.city", "$.days[1].title"]
    assert lacking(shape, '{"days":[{"title":"a","on":"b"}],"city":"') == []
    assert lacking(shape, '{"days":[],"city":"a"}') == []


def test_missing_where_the_type_is_not_known_yet() -> None:
    """Of a union, once its branch is; of what is deferred, from what it is shown through."""
    dog = kind_of("dog", name=required("name", text()))
    union = UnionShape([CAT, dog], never, discriminator="kind", tags={("string", "dog"): dog, ("string", "cat"): CAT})
    assert lacking(ArrayShape(union), "[{") == []
    assert lacking(ArrayShape(union), '[{"kind":"dog"') == ["$[0].name"]
    standing = RefShape()
    standing.target = dog
    for shown in (dog, standing, DeferredShape(never, shown=standing)):
        assert lacking(MapShape(DeferredShape(never, shown=shown)), '{"a":{') == ["$.a.name"]
    assert lacking(DeferredShape(never), "{") == []
    assert lacking(AnyShape(), '{"a":[{') == []
    assert lacking(record({}, extra=None), '{"a":{') == []
    assert lacking(TupleShape([dog, union], None), '[{"name":"","kind":"dog"},{"kind":"dog"') == ["$[1].name"]


def test_is_complete_at() -> None:
    """The value there is closed and nothing in it is wrong. Paths are those of the text, in any form."""
    shape = record({"a": record({"b": text(), "c": ArrayShape(number())}), "d": number()})
    resolution = after(shape, '{"a":{"b":"x","c":[1,2]},"d":1')
    for path in ("$.a", "$.a.b", "$.a.c[1]", ("a", "c"), Path.of("a", "c", 0)):
        assert resolution.is_complete_at(path)
    for other in ("$", "$.d", "$.a.x", "$.a.c[2]", (), ("a", "b", "c")):
        assert not resolution.is_complete_at(other)
    assert not after(shape, '{"a":{"b":"x').is_complete_at("$.a.b")
    assert after(shape, '{"a":{"b":"x"').is_complete_at("$.a.b")
    assert not after(shape, "").is_complete_at("$")
    assert at_the_end(shape, "{}").is_complete_at("$")


def test_is_complete_at_and_something_wrong() -> None:
    """A value with a problem inside or around it is not complete; its siblings may be."""
    shape = record({"a": record({"b": number(), "c": text()}), "d": text()})
    resolution = after(shape, '{"a":{"b":"x","c":"y"},"d":"z"}')
    assert [resolution.is_complete_at(path) for path in ("$", "$.a", "$.a.b", "$.a.c", "$.d")] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_is_complete_at_and_much_that_is_wrong() -> None:
    """However much it is, nothing that is wrong is called complete."""
    shape = ArrayShape(number())
    resolution = after(shape, "[" + '"x",1,' * 60 + "1")
    assert [resolution.is_complete_at((index,)) for index in range(120)] == [False, True] * 60


# Identity


def test_unchanged_parts_are_the_same_objects() -> None:
    """Each closed child is the object that it was, in every later value."""
    day = record({"title": text(), "tags": ArrayShape(text())})
    shape = record({"days": ArrayShape(day)})
    whole = '{"days":[{"title":"a","tags":["x"]},{"title":"b","tags":[]},{"title":"c"}]}'
    firsts = []
    for resolution in stream(shape, states_of(one_by_one(whole))):
        days = resolution.value[1].get("days", []) if resolution.value else []
        if days and days[0][0] == "whole":
            firsts.append(days[0])
    assert len({id(first) for first in firsts}) == 1
    assert len(firsts) > 30


@pytest.mark.parametrize(
    ("before", "then"),
    [
        ('{"a":"x', '"'),
        ('{"a":"x"', ","),
        ('{"a":"x",', '"ignored":[1,{"b":2}],'),
        ('{"a":"x', "\\"),
        ('{"a":"x\\ud83d', "\\ude"),
        ('{"a":"x"', " \n"),
        ('{"list":["a"', "]"),
        ('{"list":["a"]', ',"n":12'),
        ('{"map":{"k":"v"', "}"),
        ('{"whole":[{"a":"x"},', '{"a":"y'),
        ('{"atomic":{', '"a":"x","b":[1'),
        ('{"early":"o', "n"),
        ('{"early":"on', 'e"'),
        ('{"literal":"o', "n"),
        ('{"union":{"kind":', '"do'),
        ('{"held":{', '"b":1'),
        ('{"deferred":{"n":"x"', ',"n":[1]'),
        ('{"any":[1', "2"),
    ],
)
def test_nothing_visible_has_changed(before: str, then: str) -> None:
    """Then the value is the same object: whatever was read, and also when it comes as one fragment or as many."""
    inner = record({"a": text(), "b": AnyShape()})
    lenient = record({"n": number(is_lenient=True)}, is_lenient=True)
    shape = record(
        {
            "a": text(),
            "n": number(),
            "list": ArrayShape(text()),
            "map": MapShape(text()),
            "whole": ArrayShape(inner, whole_items=True),
            "atomic": record({"a": text(), "b": AnyShape()}, is_atomic=True),
            "early": literal("one", "two", early=True),
            "literal": literal("one", "two"),
            "union": pets(),
            "held": record({"a": Field("a", text(), holds_back=True), "b": number()}),
            "deferred": DeferredShape(never, shown=lenient),
            "any": AnyShape(),
        }
    )
    for fragments in ([before, then], [before, *then], [*before, *then]):
        resolutions = stream(shape, states_of(list(fragments))[:-1])
        wanted = resolutions[len(fragments) - (1 if fragments[-1] == then else len(then))]
        assert wanted.value == model(shape, parse_chunk(create_state(), before))[1]
        assert resolutions[-1].value is wanted.value


def test_something_visible_has_changed() -> None:
    """Then it is another object, and the one before is as it was."""
    shape = record({"a": text(), "list": ArrayShape(text()), "map": MapShape(number())})
    resolutions = stream(shape, states_of(['{"a":"x', "y", '","list":["', 'z","', '"],"map":{"k":1,', '"l":2}}']))[1:-1]
    seen = [repr(one.value) for one in resolutions]
    assert len({id(one.value) for one in resolutions}) == len(set(seen)) == 6
    assert seen[0] == "('open', {'a': 'x'})"


# Purity


@pytest.mark.parametrize(
    ("past", "futures"),
    [
        ('{"b":{"k":1,', ['"l":2}}', '"l":3,', '"m":"', "", '"l":{', '"k":4,']),
        ('{"a":["x","y",', ['"z","', '"w', '"z",', "]", "1", "", '"z"],"b":{"k":1}}', '"', '"w","v"']),
        ('{"a":["x","y', ['"]', 'z","', '","w', "z", '","w","v"', ""]),
    ],
)
def test_two_futures_of_one_past(past: str, futures: list[str]) -> None:
    """All are resolved from one cache, in any order, again and again, and none sees another."""
    shape = record({"a": ArrayShape(text()), "b": MapShape(number())})
    start = parse_chunk(create_state(), past)
    _, cache = resolve(shape, start)
    states = [parse_chunk(start, future) for future in futures]
    expected = [typed(model(shape, state)) for state in states]
    everyone = range(len(states))
    for order in (everyone, reversed(everyone), [*everyone, *everyone][::3]):
        for index in order:
            assert typed(told(resolve(shape, states[index], cache)[0])) == expected[index]


ANYTHING = ref(lambda me: UnionShape([text(), number(), ArrayShape(me), MapShape(me)], never))
ELSEWHERE = [
    *("", "{", '{"a":"x', '{"b":"x', '{"a":["x', '{"a":"x","b":"y', '{"a":"x","c":"y', '{"a":"x"}'),
    *('{"a":"z","b":"y', '{"z":"x","b":"y', '{"a":1,"b":["y'),
    *("[", '["x', '["x"', '["x","y', '["z","y', '["z",["y', '["z",{', "[]", "1 "),
]


@pytest.mark.parametrize("shape", [MapShape(AnyShape()), MapShape(text()), ArrayShape(text()), ANYTHING])
def test_a_cache_of_something_else_is_harmless(shape: Shape) -> None:
    """Another text or shape, a sibling, a later state, one that was loaded: it is of no use, that is all."""
    states = [parse_chunk(create_state(), prefix) for prefix in ELSEWHERE]
    states += [finalize(state) for state in states]
    states += [ParserState.load(state.dump()) for state in states]
    caches = [resolve(one, state)[1] for one in (shape, MapShape(number())) for state in states]
    for state in states:
        expected = typed(model(shape, state))
        for cache in caches:
            assert typed(told(resolve(shape, state, cache)[0])) == expected


def test_siblings_are_no_ancestors() -> None:
    """Two futures of one past differ in the key of the open value only: the cache of one must not name the other's."""
    for shape in (MapShape(text()), record({"a": text(), "b": number(), "c": text()}), MapShape(MapShape(text()))):
        for past in ("{", '{"k":"v",', '{"k":{"l":"m"},"n":{'):
            start = parse_chunk(create_state(), past)
            futures = [parse_chunk(start, f'"{key}":"x') for key in "abc"]
            caches = [resolve(shape, state)[1] for state in futures]
            for state in futures:
                for cache in caches:
                    assert typed(told(resolve(shape, state, cache)[0])) == typed(model(shape, state))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_values_that_were_dropped(size: int) -> None:
    """Reading goes on after an error: the open value is gone, and the next one takes its place."""
    whole = '{"a":"x\\q","b":"x","c":[1,{"d":"y\\q"},{"e":"y"},tru,2],"f":{"g" 1},"h":{"i":"z"}}'
    options = Options(on_error="skip")
    for shape in (
        MapShape(AnyShape()),
        MapShape(ref(lambda me: UnionShape([text(), number(), ArrayShape(me), MapShape(me)], never))),
    ):
        states = states_of([whole[start : start + size] for start in range(0, len(whole), size)], options)
        for state, cached in zip(states, stream(shape, states), strict=True):
            assert typed(told(cached)) == typed(model(shape, state))


def test_across_the_end() -> None:
    """The cache of what would be if the text ended here serves the text that goes on, and the other way round."""
    shape = ArrayShape(number())
    states = states_of(one_by_one("[1,23,4]"))[:-1]
    cache: Cache | None = None
    for state in states:
        for one in (state, finalize(state), state):
            resolution, cache = resolve(shape, one, cache)
            assert typed(told(resolution)) == typed(model(shape, one))


def test_threads() -> None:
    """Many futures of one past, resolved at once from one cache."""
    shape = record({"a": ArrayShape(ArrayShape(number())), "b": MapShape(text())})
    past = parse_chunk(create_state(), '{"a":[[1,2],[3,')
    _, cache = resolve(shape, past)
    futures = [parse_chunk(past, f'{n},{n}],[{n}]],"b":{{"{n}":"x","k":"{n}') for n in range(20)] * 10

    def run(state: ParserState) -> Any:
        first, later = resolve(shape, state, cache)
        second, _ = resolve(shape, parse_chunk(state, 'y","z":"'), later)
        return typed([told(first), told(second)])

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, futures))
    for state, result in zip(futures, results, strict=True):
        assert result == typed([model(shape, state), model(shape, parse_chunk(state, 'y","z":"'))])


# Work


def nested(me: RefShape) -> Shape:
    return UnionShape([number(), text(), ArrayShape(me), MapShape(me)], never)


@pytest.mark.parametrize("shape", [ref(nested), ref(ArrayShape), AnyShape(), DeferredShape(lambda node: "made")])
def test_deep_documents(shape: Shape) -> None:
    """Any depth: resolving does not recurse, nor does letting go of what was resolved."""
    depth = 5_000
    states = states_of(["[" * depth, "", "]" * (depth - 2), "]", "]"], DEEP)
    resolutions = stream(shape, states)
    assert [type(one) for one in resolutions[-4:]][-1] is Complete
    del resolutions


def test_deep_objects_and_deep_problems() -> None:
    """The same with keys; and what is wrong at the bottom has the whole path."""
    shape = ref(lambda me: UnionShape([record({"a": me}), number()], never))
    for depth, bottom, outcome in ((5_000, "1", Complete), (500, '"x"', Invalid)):
        opened, _, closed = stream(shape, states_of(['{"a":' * depth, bottom, "}" * depth], DEEP)[1:-1])
        assert (type(opened), type(closed)) == (Partial, outcome)
        assert [len(problem.path) for problem in closed.problems] == [depth] * (outcome is Invalid)
        assert opened.missing == ()


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("bottom", ["1", '"x"', '"x",' * 5 + "1", '"x"' + "]" * 100])
def test_law_13_deep_documents_are_linear(bottom: str) -> None:
    """Twice the depth is twice the work for a state, also where something is wrong at the bottom."""
    shape = ref(lambda me: UnionShape([ArrayShape(me), number()], never))

    def count(depth: int) -> int:
        state = parse_chunk(create_state(DEEP), "[" * depth + bottom)
        assert state.root is not None
        return steps(lambda: resolve(shape, state)[0].problems)

    assert count(400) <= 2.3 * count(200) + 100


WIDE: dict[str, tuple[Shape, Callable[[int], str]]] = {
    "array of numbers": (ArrayShape(number()), lambda n: "[" + "1," * n + "1]"),
    "array of objects": (ArrayShape(record({"a": text()})), lambda n: "[" + '{"a":"x"},' * n + "{}]"),
    "whole items": (ArrayShape(record({"a": text()}), whole_items=True), lambda n: "[" + '{"a":"x"},' * n + "{}]"),
    "array in an object": (record({"a": ArrayShape(text())}), lambda n: '{"a":[' + '"x",' * n + '""]}'),
    "map": (MapShape(number()), lambda n: "{" + "".join(f'"{i}":1,' for i in range(n)) + '"":0}'),
    "extra keys": (record({}), lambda n: "{" + "".join(f'"{i}":1,' for i in range(n)) + '"":0}'),
    "one key many times": (MapShape(number()), lambda n: "{" + '"k":1,' * n + '"k":0}'),
    "one long string": (text(), lambda n: '"' + "xyz" * n + '"'),
    "literals": (ArrayShape(literal("one", "two", early=True)), lambda n: "[" + '"one",' * n + '"two"]'),
    "unions": (ArrayShape(pets()), lambda n: "[" + '{"kind":"cat"},' * n + '{"kind":"dog"}]'),
    "undecided": (UnionShape([MapShape(number()), record({})], lambda _: 1), lambda n: "{" + '"k":1,' * n + '"k":0}'),
    "deferred": (
        DeferredShape(lambda _: 1, shown=MapShape(number(is_lenient=True), is_lenient=True)),
        lambda n: "{" + '"k":"x",' * n + '"k":0}',
    ),
    "a branch with many keys": (
        UnionShape([kind_of("cat"), kind_of("dog")], never, discriminator="kind", tags=TAGS),
        lambda n: '{"kind":"cat",' + "".join(f'"{i}":1,' for i in range(n)) + '"":0}',
    ),
    "a tag that comes last": (
        UnionShape([kind_of("cat"), kind_of("dog")], never, discriminator="kind", tags=TAGS),
        lambda n: "{" + "".join(f'"{i}":1,' for i in range(n)) + '"kind":"cat"}',
    ),
    "much that is wrong": (record({"a": ArrayShape(number())}), lambda n: '{"a":[' + "true," * n + "1]}"),
}


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("size", [1, 4, 64, 4096])
@pytest.mark.parametrize("name", WIDE)
def test_law_13_wide_documents_are_linear(name: str, size: int) -> None:
    """Twice the document is twice the work of resolving every state of it, whatever the size of the fragments."""
    shape, spelled = WIDE[name]

    def count(n: int) -> int:
        whole = spelled(n)
        states = states_of([whole[start : start + size] for start in range(0, len(whole), size)])
        assert len([state.root for state in states]) > 1  # a tree is made when it is asked for: here, uncounted
        return steps(lambda: stream(shape, states))

    assert count(2 * 100) <= 2.3 * count(100) + 100


@pytest.mark.parametrize("cut", [[], [20], [7, 8, 40], list(range(100))])
def test_each_node_is_made_once(cut: list[int]) -> None:
    """One call for each closed node: in small fragments, in large ones, and whatever follows the value."""
    whole = '{"a":[1,2,{"b":"x"}],"c":{"d":[]},"e":"y","f":[[3],[4,5]]}'
    calls = Calls()

    def contains(me: RefShape) -> Shape:
        scalar = leaf("string number", streams=True, make=calls.node)
        return UnionShape([scalar, ArrayShape(me, make=calls.values), MapShape(me, make=calls.values)], never)

    fragments = strategies.cut_at(whole, [place for place in cut if place < len(whole)])
    stream(ref(contains), states_of([*fragments, "", " ", "\n", "x", "y"]))
    assert [one for one in calls.seen if isinstance(one, int)] == [2, 3, 5, 8, 11, 13, 14]
    assert [calls.seen.count(name) for name in ("list", "dict")] == [5, 3]


def test_what_is_wrong_is_found_once() -> None:
    """Not again by a space, a fault behind the value, or the end: also what is refused was judged."""
    calls = Calls()

    def make(values: Any) -> Any:
        calls.values(values)
        return refuse()

    shape = ArrayShape(ArrayShape(number(make=calls.node), make=make), make=never)
    stream(shape, states_of(["[[1,", "2],", "[3]", "]", " ", " ", "x"]))
    assert calls.seen == [2, 3, "list", 5, "list"]


@given(shapes.examples(plain=True), st.data())
def test_nothing_is_made_twice(example: Example, data: st.DataObject) -> None:
    """Over a stream, functions are called as often as for the whole text at once, and keys are checked as often."""
    fragments = data.draw(strategies.cuttings(example.text))
    stream(example.shape, states_of([*fragments, " ", "x", "y"]))
    over_the_stream = sorted(example.calls)
    example.calls.clear()
    resolve(example.shape, finalize(parse_chunk(create_state(), example.text)))
    assert over_the_stream == sorted(example.calls)


# At random, with the model as the judge


@given(shapes.examples(), st.data())
def test_every_prefix_is_worth_what_the_model_says(example: Example, data: st.DataObject) -> None:
    """After each fragment, from the cache and afresh: the outcome, the value, the problems and what is missing."""
    states = states_of(data.draw(strategies.cuttings(example.text)))
    for state, cached in zip(states, stream(example.shape, states), strict=True):
        expected = model(example.shape, state)
        assert typed(told(cached)) == typed(expected)
        assert typed(told(resolve(example.shape, state)[0])) == typed(expected)
        if state.root is not None:
            assert list(cached.missing) == shapes.missing(example.shape, state.root)


@given(shapes.examples(plain=True), st.data())
def test_a_value_is_the_same_object_exactly_while_it_looks_the_same(example: Example, data: st.DataObject) -> None:
    """Values that follow each other are one object if they are equal, and only then."""
    states = states_of(data.draw(strategies.cuttings(example.text)))
    for one, other in pairwise(stream(example.shape, states)):
        assert (one.value is other.value) is (typed(one.value) == typed(other.value))


@given(shapes.examples(), st.data())
def test_what_was_handed_out_never_changes(example: Example, data: st.DataObject) -> None:
    """Not by what is resolved later, and not by a future that is resolved from an old cache."""
    states = states_of(data.draw(strategies.cuttings(example.text)))
    kept: list[tuple[Resolution[Any], Cache, Any]] = []
    cache: Cache | None = None
    for state in states:
        resolution, cache = resolve(example.shape, state, cache)
        kept.append((resolution, cache, typed(told(resolution))))
    other = parse_chunk(states[len(states) // 2], ',"a":[{"b":1},"x')
    for index in data.draw(st.permutations(range(len(kept)))):
        resolution, old, seen = kept[index]
        for state in (other, states[-1], states[index]):
            assert typed(told(resolve(example.shape, state, old)[0])) == typed(model(example.shape, state))
        assert typed(told(resolution)) == seen


@given(shapes.examples(plain=True), st.data())
def test_invalid_for_ever(example: Example, data: st.DataObject) -> None:
    """Once a prefix is invalid, so is every longer one. Only a key that comes twice could change that."""
    seen = [isinstance(one, Invalid) for one in stream(example.shape, states_of(one_by_one(example.text)))]
    assert seen == sorted(seen)


def test_the_examples_reach_everything() -> None:
    """Every class of shape, every outcome, every problem that resolving finds: otherwise they show nothing."""
    source = random.Random(18)
    classes, outcomes, codes = set(), set(), set()
    for _ in range(600):
        example = Example(Tape(source.randbytes(100), loop=True), Tape(source.randbytes(20), loop=True))
        todo: list[Any] = [example.shape]
        while todo and len(todo) < 50:
            one = todo.pop()
            classes.add(type(one))
            below = (getattr(one, "item", None), getattr(one, "shown", None), *getattr(one, "branches", ()))
            todo += [shape for shape in (*below, *getattr(one, "places", ())) if shape is not None]
            todo += [field.shape for field in getattr(one, "fields", {}).values()]
        for resolution in stream(example.shape, states_of(one_by_one(example.text))):
            outcomes.add(type(resolution))
            codes |= {problem.code for problem in resolution.problems}
    assert classes == {
        AnyShape,
        ArrayShape,
        DeferredShape,
        IgnoredShape,
        LeafShape,
        MapShape,
        ObjectShape,
        RefShape,
        TupleShape,
        UnionShape,
    }
    assert outcomes == {Missing, Partial, Complete, Invalid}
    assert codes == {
        "bad_key",
        "extra_key",
        "missing",
        "not_one_of",
        "refused",
        "too_long",
        "too_many_items",
        "too_many_keys",
        "unknown_tag",
        "wrong_kind",
    }
