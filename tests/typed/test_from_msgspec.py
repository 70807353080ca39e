"""from_msgspec: msgspec's types while they are written; msgspec itself is the judge of what they are in the end."""

from __future__ import annotations

import collections
import dataclasses
import enum
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from tests.support import structs
from unspool import Options, create_state, finalize, parse_chunk
from unspool._errors import OptionsError
from unspool.typed import Atomic, Complete, Invalid, NotNull, WholeItems, from_msgspec, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from tests.support.instances import Case
    from unspool.typed import Resolution
    from unspool.typed._shape import Shape

REFUSED = object()


def resolutions(shape: Shape, text: str, options: Options | None = None) -> list[Resolution[Any]]:
    """Return the resolution after each character, and at the end. Resolving from a cache and afresh gives the same."""
    state, cache = create_state(options), None
    found: list[Resolution[Any]] = []
    for character in [*text, None]:
        state = finalize(state) if character is None else parse_chunk(state, character)
        assert state.error is None, text
        resolution, cache = resolve(shape, state, cache)
        found.append(resolution)
    fresh, _ = resolve(shape, state)
    assert type(fresh) is type(found[-1])
    assert same(fresh.value, found[-1].value)
    assert fresh.problems == found[-1].problems
    return found


def shown(type_: Any, text: str, **options: Any) -> Any:
    """The value of the text as it stands, which is not wrong."""
    resolution, _ = resolve(from_msgspec(type_, **options), parse_chunk(create_state(), text))
    assert resolution.invalid is None, resolution
    return resolution.value


def read(value: Any, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in names)


def judged(type_: Any, text: str) -> object:
    """What msgspec makes of the whole text."""
    try:
        return msgspec.json.decode(text, type=type_)
    except msgspec.ValidationError:
        return REFUSED
    except TypeError as error:  # the one that msgspec leaves as it is
        if "unhashable" not in str(error):
            raise
        return REFUSED


def same(one: object, other: object) -> bool:
    """Equal, in type and content: 1 is not 1.0, and NaN is NaN."""
    if isinstance(one, Raw) and isinstance(other, Raw):
        return bytes(one) == bytes(other) or json.loads(bytes(one)) == json.loads(bytes(other))
    if isinstance(one, memoryview):
        return one == other
    return type(one) is type(other) and without_addresses(one) == without_addresses(other)


def without_addresses(value: object) -> str:
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def check(shape: Shape, type_: Any, text: str) -> list[Resolution[Any]]:
    """The verdict and the value of msgspec, and nothing invalid on the way to what is valid."""
    expected = judged(type_, text)
    found = resolutions(shape, text)
    last = found[-1]
    if expected is REFUSED:
        assert isinstance(last, Invalid), (text, last)
    else:
        assert [resolution for resolution in found if resolution.invalid is not None] == [], text
        assert isinstance(last, Complete)
        assert same(last.value, expected), (text, last.value, expected)
    return found


# The zoo


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("case", structs.CASES, ids=str)
def test_the_zoo(case: Case, early: bool) -> None:
    """Law 18, for random instances of each type: what msgspec accepts and refuses, with its value."""
    shape = from_msgspec(case.type, early=early)
    for seed in range(25):
        random = Random(f"{case.name} {seed}")
        for make in (case.valid, case.invalid):
            check(shape, case.type, json.dumps(make(random), ensure_ascii=random.random() < 0.5))


@pytest.mark.parametrize("case", [case for case in structs.CASES if case.counted], ids=str)
def test_each_instance_is_made_once(case: Case) -> None:
    """An instance is made when it closes and never again, and half-filled ones do not count."""
    shape = from_msgspec(case.type)
    for seed in range(20):
        structs.MADE.clear()
        state, cache = create_state(), None
        text = json.dumps(case.valid(Random(seed)))
        for character in text:
            state = parse_chunk(state, character)
            _, cache = resolve(shape, state, cache)
        resolve(shape, finalize(state), cache)
        assert set(structs.MADE.values()) == {1}
        assert len(structs.MADE) == text.count('"label"')


# Each kind of type, with any text


class Colour(enum.Enum):
    RED = "red"
    REDDISH = "reddish"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


class Folded(enum.Enum):
    """Takes other texts for its members."""

    A = "a"
    B = "b"

    @classmethod
    def _missing_(cls, value: object) -> Folded | None:
        return cls.A if value == "A" else None


class FoldedNumber(enum.Enum):
    ONE = 1

    @classmethod
    def _missing_(cls, value: object) -> FoldedNumber | None:
        return cls.ONE if value == 2 else None


class Plain(Struct):
    x: int


class Sparse(Struct, omit_defaults=True):
    x: int | UnsetType = UNSET
    y: int | UnsetType | None = UNSET
    items: list[int] = field(default_factory=list)


class Late(Struct, kw_only=True):
    """Required fields may come last."""

    x: int = 0
    y: int


class LateRow(Struct, kw_only=True, array_like=True):
    x: int = 0
    y: int


class Row(Struct, array_like=True):
    x: int
    y: str = ""


class ExactRow(Row, array_like=True, forbid_unknown_fields=True):
    pass


class EmptyRow(Struct, array_like=True, tag=True):
    pass


class One(Struct, tag="one", forbid_unknown_fields=True):
    x: int = 0


class Other(Struct, tag="other"):
    x: str = ""


class First(Struct, tag=1, tag_field="kind"):
    x: int = 0


class Second(Struct, tag=2, tag_field="kind"):
    x: int = 0


class RowOne(Struct, tag="one", array_like=True):
    x: int


class RowOther(Struct, tag="other", array_like=True):
    x: str


class RowNumber(Struct, tag=7, array_like=True):
    x: str


class RowNumbers(Struct, tag=8, array_like=True):
    x: str


class Frozen(Struct, frozen=True):
    x: int
    names: tuple[str, ...] = ()


@dataclasses.dataclass
class Point:
    x: int
    y: list[int] = dataclasses.field(default_factory=list)
    z: int = dataclasses.field(default=3, init=False)
    unset: int | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.x == 1:
            raise ValueError("not one")


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    x: int
    y: int = 2


@dataclasses.dataclass
class Fault(Exception):  # noqa: N818
    x: int

    def __new__(cls, *_: Any) -> Fault:
        raise RuntimeError("msgspec does not call it")

    __hash__ = Exception.__hash__


class Settings(TypedDict, total=False):
    x: Required[int]
    y: str


class Cell(NamedTuple):
    x: int
    y: str = "y"


class Odd(Cell):
    """msgspec makes no call of it."""

    def __new__(cls, *_: Any) -> Odd:
        raise RuntimeError("msgspec does not call it")


Bare = collections.namedtuple("Bare", "x y")
T = TypeVar("T")
K = TypeVar("K")
Bound = TypeVar("Bound", bound=int)
Name = NewType("Name", str)


class Page(Struct, Generic[T]):
    items: list[T]
    first: T | None = None


class Numbers(Page[int]):
    pass


class Pair(Struct, Generic[T, K]):
    x: T
    y: Annotated[K, Meta(description="the other")]
    page: Page[T] | None = None
    number: int = 0


class Tree(Struct):
    value: Any = None
    left: Tree | None = None
    others: dict[str, list[Tree]] = {}


class Rename(Struct, rename="kebab"):
    x_y: int
    z: int = field(default=0, name="$z")


class Registering(type(Struct)):  # type: ignore[misc]
    """Of those who register their structs, say."""


class WithMeta(Struct, metaclass=Registering):
    x: int


KINDS: list[Any] = [
    *(None, bool, int, float, str, Any, Decimal, bytes, bytearray, memoryview),
    *(datetime, date, time, timedelta, UUID, Raw, Colour, Level, Bits, Folded, FoldedNumber),
    *(Name, Final[int], Bound, T, Annotated[str, Meta(title="a", extra={"a": 1})], Annotated[Any, Meta(title="any")]),
    *(Literal["red", "blue"], Literal[1, 2], Literal["red", 1, None], Literal[True], Literal[1, True]),
    *(Annotated[int, Meta(ge=1, lt=7)], Annotated[int, Meta(gt=1, le=7)], Annotated[int, Meta(multiple_of=2)]),
    *(Annotated[float, Meta(ge=1)], Annotated[float, Meta(multiple_of=0.5)]),
    *(Annotated[str, Meta(min_length=1)], Annotated[str, Meta(max_length=3)], Annotated[str, Meta(pattern="e")]),
    *(Annotated[bytes, Meta(max_length=2)], Annotated[bytes, Meta(min_length=2)]),
    *(Annotated[datetime, Meta(tz=True)], Annotated[time, Meta(tz=False)]),
    *(list, list[int], set, set[int], frozenset[str], tuple, tuple[int, ...], tuple[int, str], tuple[()]),
    *(set[list[int]], set[Any], set[Row], set[Frozen], set[tuple[list[int], ...]]),
    *(Annotated[list[int], Meta(max_length=1)], Annotated[list[int], Meta(min_length=1)]),
    *(Annotated[set[float], Meta(max_length=1)], Annotated[set[int], Meta(min_length=2)]),
    *(Annotated[tuple[int, ...], Meta(max_length=1)], Annotated[frozenset[int], Meta(max_length=1)]),
    *(dict, dict[str, int], Annotated[dict[str, int], Meta(max_length=1)]),
    *(Annotated[dict[str, Any], Meta(min_length=1)], Annotated[dict[float, int], Meta(max_length=1)]),
    *(int | float, int | Decimal, float | Decimal, Decimal | None, Decimal | int | float | bool, float | Level),
    *(str | Literal["red"], float | Literal[1], Literal["red"] | Literal["blue"] | Literal[1], Colour | int | None),
    *(Any | int, Raw | int, Raw | None, Raw | list[int], int | UnsetType, list[int] | dict[str, int] | bool | None),
    *(int | Annotated[str | None, Meta(title="or")], UUID | float | Plain | None, UUID | float | Row | bool),
    *(Plain, Sparse, Late, LateRow, Row, ExactRow, EmptyRow, One, First, RowOne, RowNumber, Rename, WithMeta),
    *(One | None, One | Other, First | Second, First | Second | list[int] | None, One | Other | str),
    *(RowOne | RowOther, RowNumber | RowNumbers | None, RowOne | RowOther | dict[str, int], EmptyRow | None),
    *(Point, Slotted, Fault, Settings, Cell, Odd, Bare, Tree),
    *(Page, Page[int], Page[Page[str]], Numbers, Pair[int, str]),
    *(list[Point | None], dict[str, Cell | None], Sequence[Row], Mapping[str, Settings]),
]
KEYS: list[Any] = [
    *(str, int, float, bool, None, Any, Decimal, bytes, datetime, date, time, timedelta, UUID, Raw, Colour, Level),
    *(Folded, Literal["a"], Literal[1], Literal["a", 1, None], Annotated[int, Meta(ge=3)], int | str, float | None),
    *(Annotated[str, Meta(max_length=2)], Annotated[str, Meta(title="a")], tuple[int, int]),
    *(int | float, Any | int, Plain),
]
# Two blanks stand between two texts.
TEXTS = [
    text
    for line in r"""
null  true  false  0  1  2  3  8  10  -0  -1  1.0  1.50  -0.0  0.1e1  1E2  999999999999999999999999999999
""  "a"  "A"  "b"  "re"  "red"  "reddish"  "blue"  "\u0072ed"  "é"  "😀😀😀"  "abcd"  "1"  "1.50"  "NaN"  " 1"  "1_0"
"aGVsbG8="  "aGVs"  "aA=="  "aGVs bG8="  "aGVsbG8"  "2024-02-29"  "2023-02-29"  "12:00:00"  "12:00:00Z"  "P1D"  "PT1.5S"
"2024-05-01T12:00:00"  "2024-05-01T12:00:00Z"
"0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e"  "0b5fd7e27c654b0e9d1c2f3a4b5c6d7e"
[]  [1]  [1, 1]  [1, 2]  [1, true]  [1, 1.0]  ["a"]  [1, "a"]  [1, "a", []]  [[1]]  [[[1]]]  [{}]  [null]
["one", 1]  ["other", "a"]  ["one"]  ["on", 1]  ["EmptyRow"]  ["EmptyRow", 1]
[7, "a"]  [8, "a"]  [7.0, "a"]  [[7], "a"]
[{"x": 2}, null]  [{"x": 1}]  [{"x": 1, "names": ["a"]}]  [{"x": 1, "y": "a"}, {}]  [[1], [1, "a"]]  [[1], [1]]
{}  {"x": 1}  {"x": 2}  {"x": "a"}  {"x": null}  {"x": 1, "y": 2}  {"x": 2, "y": [1], "z": 9}  {"x": [[1]]}
{"x": 1, "y": "a"}  {"y": "a", "x": 1}  {"y": 1}  {"y": null}  {"x": 1, "x": 2}  {"x": 1, "x": "2"}
{"x": 1, "other": [1, {"a": "b"}]}  {"type": "one"}  {"type": "one", "x": 1}  {"x": 1, "type": "one"}
{"type": "other", "x": "a"}  {"x": "a", "type": "other"}  {"type": "other", "x": 1}  {"type": "thing"}
{"type": 1}  {"type": null}  {"type": []}  {"type": {"a": 1}}  {"kind": 1}  {"kind": 2, "x": 1}  {"x": 1, "kind": 2}
{"kind": 1.0}  {"kind": true}  {"kind": "1"}  {"kind": 3}  {"x-y": 1, "$z": 2}  {"1": 1, "1.0": 2}
{"type": "one", "type": "other"}  {"type": "other", "type": "other", "x": "b"}
{"items": [1, 2], "first": 3}  {"items": ["a"]}  {"items": [{"items": ["a", "b"]}], "first": null}
{"x": 1, "y": "a", "page": {"items": [1], "first": 1}}  {"value": [1, {"a": 2.5}], "left": {"left": {}}}
{"others": {"a": [{}, {"value": 1}], "": []}}  {"others": {"a": [{"left": 1}]}}
{"a": [1, "a"], "b": null}  {"a": [[1, "b"]]}
""".splitlines()
    for text in line.split("  ")
    if text
]


@pytest.mark.parametrize("type_", KINDS, ids=str)
def test_every_kind_of_type_with_every_text(type_: Any) -> None:
    """For any text the verdict and the value are msgspec's, and no prefix of an accepted text is invalid."""
    shape = from_msgspec(type_)
    for text in TEXTS:
        check(shape, type_, text)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_keys_are_read_as_msgspec_reads_them(key: Any) -> None:
    """A key may stand for a number, a date and so on; only some spellings of each do."""
    type_ = dict[key, int]
    shape = from_msgspec(type_)
    for text in TEXTS:
        name = text if text.startswith('"') else json.dumps(text)
        check(shape, type_, f"{{{name}: 1}}")
    check(shape, type_, "{}")


def test_numbers_are_judged_by_their_spelling() -> None:
    """With every option for floats, a Decimal keeps its digits, and a float is a float."""
    options = Options(floats="decimal")
    assert same(resolutions(from_msgspec(Decimal), "1.50", options)[-1].value, Decimal("1.50"))
    assert same(resolutions(from_msgspec(float), "1.50", options)[-1].value, 1.5)
    assert resolutions(from_msgspec(int), "1.0", options)[-1].invalid is not None


def test_raw_is_json_text_again() -> None:
    """Without blanks, with its numbers as they were spelled, every key of it, and no deeper recursion for depth."""
    text = '{"a": [1.50, "\\u0041\\n", true, false, null, {}, []], "a": 1E2}'
    (raw,) = resolutions(from_msgspec(list[Raw]), f"[{text}]")[-1].value
    assert bytes(raw) == b'{"a":[1.50,"A\\n",true,false,null,{},[]],"a":1E2}'
    assert shown(list[Raw], "[1, [2, 3") == [Raw(b"1")]
    deep = "[" * 5000 + "]" * 5000
    state = finalize(parse_chunk(create_state(Options(max_depth=None)), deep))
    resolution, _ = resolve(from_msgspec(Raw), state)
    assert resolution.value == Raw(deep)


# Random types


class Described(NamedTuple):
    """A type, and what it accepts."""

    type: Any
    values: SearchStrategy[Any]


NAMES = st.text("abcdefg", min_size=1, max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.sampled_from(
    [
        Described(int, st.integers()),
        Described(float, st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)),
        Described(str, st.text(max_size=5)),
        Described(bool, st.booleans()),
        Described(None, st.none()),
        Described(Any, JSON),
        Described(Colour, st.sampled_from(["red", "reddish", "blue"])),
        Described(Literal["a", "ab", 1], st.sampled_from(["a", "ab", 1])),
        Described(date, st.dates().map(str)),
        Described(UUID, st.uuids().map(str)),
        Described(Annotated[int, Meta(ge=0)], st.integers(0, 9)),
        Described(Annotated[str, Meta(max_length=3)], st.text(max_size=3)),
    ]
)


@st.composite
def structs_of(draw: st.DrawFn, inner: SearchStrategy[Described]) -> Described:
    """A struct, its fields required or not, written as an object or as an array."""
    fields = draw(st.dictionaries(NAMES.map(lambda name: f"f_{name}"), st.tuples(inner, st.booleans()), max_size=3))
    as_array = draw(st.booleans())
    required = [(name, of.type) for name, (of, is_required) in fields.items() if is_required]
    optional = [(name, of.type, UNSET) for name, (of, is_required) in fields.items() if not is_required]
    made = msgspec.defstruct(
        "Made",
        [*required, *optional],
        array_like=as_array,
        forbid_unknown_fields=draw(st.booleans()),
        frozen=draw(st.booleans()),
        rename=draw(st.sampled_from([None, "camel", "upper"])),
    )
    keys = dict(zip(made.__struct_fields__, made.__struct_encode_fields__, strict=True))
    values = [fields[name][0].values for name in keys]
    if as_array:
        return Described(made, st.tuples(*values).map(list))
    mapping = {keys[name]: fields[name][0].values for name in keys}
    return Described(
        made,
        st.fixed_dictionaries(
            {keys[name]: mapping[keys[name]] for name, _ in required},
            optional={keys[name]: mapping[keys[name]] for name, _, _ in optional},
        ),
    )


TYPES: SearchStrategy[Described] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda of: Described(list[of.type], st.lists(of.values, max_size=3))),  # type: ignore[name-defined]
        inner.map(lambda of: Described(dict[str, of.type], st.dictionaries(NAMES, of.values, max_size=3))),  # type: ignore[name-defined]
        inner.map(lambda of: Described(tuple[of.type, int], st.tuples(of.values, st.integers()).map(list))),  # type: ignore[name-defined]
        inner.map(lambda of: Described(of.type | None if of.type else None, of.values | st.none())),
        structs_of(inner),
    ),
    max_leaves=5,
)


@given(TYPES, st.data())
def test_random_types(described: Described, data: st.DataObject) -> None:
    """Law 18 for types put together at random: with what fits, and with something else somewhere in it."""
    shape = from_msgspec(described.type)
    value = data.draw(described.values)
    check(shape, described.type, json.dumps(value))
    check(shape, described.type, json.dumps(spoiled(value, data)))


def spoiled(value: Any, data: st.DataObject) -> Any:
    """The same value with another one somewhere inside, or one more or less."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value)))
        rest = {name: inner for name, inner in value.items() if name != key}
        return rest if data.draw(st.booleans()) else {**value, key: spoiled(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], spoiled(value[index], data), *value[index + data.draw(st.integers(0, 1)) :]]
    return data.draw(JSON)


# Half filled


class Day(Struct):
    title: str
    hours: int = 8
    stops: list[str] = []


class Trip(Struct, kw_only=True, frozen=True, rename="camel", tag=True):
    first_name: str
    days: list[Day] = field(default_factory=list, name="$days")
    set_or_not: int | UnsetType = UNSET

    def __post_init__(self) -> None:
        assert self.first_name, "never called for what is half filled"


def test_a_half_filled_struct() -> None:
    """It is one of the class; what is not there is None; and it is written under the same names."""
    trip = shown(Trip, '{"firstName": "')
    assert isinstance(trip, Trip)
    assert read(trip, "first_name", "days", "set_or_not") == ("", None, None)
    trip = shown(Trip, '{"type": "Trip", "firstName": "Ada", "$days": [{"title": "Arri')
    assert type(trip).__name__ == "PartialTrip"
    assert [isinstance(day, Day) for day in trip.days] == [True]
    assert (trip.days[0].title, trip.days[0].hours, trip.days[0].stops) == ("Arri", None, None)
    assert json.loads(msgspec.json.encode(trip)) == {
        "type": "Trip",
        "firstName": "Ada",
        "$days": [{"title": "Arri", "hours": None, "stops": None}],
        "setOrNot": None,
    }
    with pytest.raises(AttributeError, match="immutable"):
        trip.first_name = "Eve"


def test_other_half_filled_records() -> None:
    """So are dataclasses, also with slots and frozen, and named tuples; a TypedDict has the keys that there are."""
    point = shown(Point, '{"y": [1')
    assert isinstance(point, Point)
    assert read(point, "x", "y", "z", "unset") == (None, [], None, None)
    assert shown(Point, '{"y": [1,').y == [1]
    slotted = shown(Slotted, "{")
    assert isinstance(slotted, Slotted)
    assert read(slotted, "x", "y") == (None, None)
    fault = shown(Fault, '{"x": 1,')
    assert isinstance(fault, Fault)
    assert fault.x == 1
    for cls in (Cell, Odd):
        cell = shown(cls, '[1, "a')
        assert isinstance(cell, cls)
        assert (cell, cell.y) == ((1, "a"), "a")
        assert shown(cls, "[") == (None, None)
    row = shown(Row, "[1")
    assert isinstance(row, Row)
    assert read(row, "x", "y") == (None, None)
    assert shown(Settings, '{"y": "a') == {"y": "a"}
    page = shown(Page[int], '{"items": [1, 2')
    assert isinstance(page, Page)
    assert (page.items, page.first) == ([1], None)


def test_half_filled_containers() -> None:
    """Lists, tuples and maps show open items, strings show their text so far; sets show only complete items."""
    assert shown(list[str], '["a", "b') == ["a", "b"]
    assert shown(tuple[str, ...], '["a", "b') == ("a", "b")
    assert shown(tuple[int, str], '[1, "b') == (1, "b")
    assert shown(set[str], '["a", "b') == {"a"}
    assert shown(frozenset[str], '["a", "b') == frozenset("a")
    assert shown(set[Frozen], '[{"x": 1}, {"x": 2, "names": ["a') == [Frozen(1)]
    assert shown(set[list[int]], "[[1],") == [[1]]
    assert shown(dict[int, str], '{"1": "a", "2": "b') == {1: "a", 2: "b"}
    for anything in (Any, Any | int, Annotated[Any, Meta(title="a")] | None):
        assert shown(anything, '[1, {"a": "b') == [1, {"a": "b"}]


def test_what_is_atomic_by_itself() -> None:
    """Numbers, literals, dates and strings with limits are shown when they are complete and right."""
    for type_, text in [
        (int, "1"),
        (Literal["red"], '"red'),
        (Colour, '"red'),
        (Folded, '"a'),
        (date, '"2024-02-29'),
        (Annotated[str, Meta(max_length=3)], '"a'),
        (Decimal, '"1'),
        (bytes, '"aGVs'),
        (str | Literal["a"], '"a'),
        (Raw, '"a'),
    ]:
        listed: Any = list
        assert shown(listed[type_], f"[{text}") == []


def test_parts_that_did_not_change_stay_the_same_objects() -> None:
    """A day that is finished is made once; the trip around it is a new object each time."""
    text = '{"firstName": "Ada", "$days": [{"title": "One", "stops": ["a"]}, {"title": "Two"}]}'
    values = [found.value for found in resolutions(from_msgspec(Trip), text)]
    for index in range(2):
        days = {id(value.days[index]) for value in values if value and value.days and len(value.days) > index + 1}
        assert len(days) <= 1
    halves = [value for value in values[:-2] if value is not None]
    assert {type(value) for value in halves if value is not values[-1]} == {type(halves[0])}
    assert type(values[-1]) is Trip
    assert values[-1].days[0] is halves[-1].days[0]


# Problems, as soon as they are known


@pytest.mark.parametrize(
    ("type_", "text", "end", "path", "code"),
    [
        (Plain, "[", 1, "$", "wrong_kind"),
        (Plain, '{"x": "', 7, "$.x", "wrong_kind"),
        (Plain, '{"x": 1.0,', 10, "$.x", "invalid"),
        (Plain, '{"y": 1}', 8, "$.x", "missing"),
        (One, '{"y": "', 7, "$.y", "extra_key"),
        (One, '{"type": "on ', 13, "$.type", "not_one_of"),
        (One | Other, '{"type": "x', 11, "$.type", "unknown_tag"),
        (One | Other, '{"type": 1,', 11, "$.type", "unknown_tag"),
        (One | Other, '{"type": [', 10, "$.type", "unknown_tag"),
        (One | Other, '{"x": 1}', 8, "$.type", "missing"),
        (One | Other, "[", 1, "$", "wrong_kind"),
        (One | Other, '{"type": "one", "type": "ot', 27, "$.type", "not_one_of"),
        (First | Second, '{"kind": "', 10, "$.kind", "unknown_tag"),
        (RowOne | RowOther, '["x', 3, "$[0]", "unknown_tag"),
        (RowOne | RowOther, "{", 1, "$", "wrong_kind"),
        (RowOne | RowOther, "[]", 2, "$[0]", "missing"),
        (RowOne, '["one"]', 7, "$", "too_short"),
        (Row, "[]", 2, "$", "too_short"),
        (ExactRow, '[1, "a", [', 10, "$[2]", "too_many_items"),
        (Cell, "[]", 2, "$", "too_short"),
        (Cell, '[1, "a", "', 10, "$[2]", "too_many_items"),
        (tuple[int, str], "[1]", 3, "$", "wrong_length"),
        (tuple[int, str], '[1, "", "', 9, "$[2]", "too_many_items"),
        (Colour, '"redw', 5, "$", "not_one_of"),
        (Folded, '"c"', 3, "$", "invalid"),
        (list[Literal["a", 1]], "[2]", 3, "$[0]", "invalid"),
        (Literal["a"] | Literal["b"], '"c', 2, "$", "not_one_of"),
        (Annotated[str, Meta(max_length=2)], '"abc', 4, "$", "too_long"),
        (Annotated[str, Meta(min_length=2)], '"a"', 3, "$", "invalid"),
        (Annotated[list[int], Meta(max_length=1)], '[1, "', 5, "$[1]", "too_many_items"),
        (Annotated[list[int], Meta(min_length=1)], "[]", 2, "$", "wrong_length"),
        (Annotated[set[int], Meta(max_length=1)], "[1, 2]", 6, "$", "wrong_length"),
        (Annotated[dict[str, int], Meta(max_length=1)], '{"a": 1, "b": 1}', 16, "$", "wrong_length"),
        (Annotated[dict[float, int], Meta(max_length=1)], '{"1": 1, "2": 2}', 16, "$", "wrong_length"),
        (set[list[int]], "[[1]]", 5, "$", "unhashable"),
        (dict[int, int], '{"a": "', 7, "$.a", "invalid_key"),
        (int | None, '"', 1, "$", "wrong_kind"),
        (int | float, "true ", 5, "$", "wrong_kind"),
        (float | Level, "[7]", 1, "$", "wrong_kind"),
        (list[float | Level], "[7]", 3, "$[0]", "invalid"),
        (list[Point], '[{"x": 1}', 9, "$[0]", "post_init"),
        (structs.Counted, '{"label": "a", "low": 10}', 25, "$", "post_init"),
        (Tree, '{"left": {"left": {"left": [', 28, "$.left.left.left", "wrong_kind"),
    ],
)
def test_when_it_is_known_to_be_wrong(type_: Any, text: str, end: int, path: str, code: str) -> None:
    """At the first character after which no continuation is valid; with its place and a code."""
    state, cache = create_state(), None
    shape = from_msgspec(type_)
    for index, character in enumerate(text):
        state = parse_chunk(state, character)
        resolution, cache = resolve(shape, state, cache)
        if resolution.invalid is not None:
            problem = resolution.problems[0]
            assert (index + 1, str(problem.path), problem.code) == (end, path, code)
            return
    raise AssertionError("nothing is wrong")


@pytest.mark.parametrize("type_", KINDS, ids=str)
def test_messages_never_quote_the_text(type_: Any) -> None:
    """Problems name the expected value in the words of the type."""
    secret = "s3cr3t"
    texts = [f'"{secret}"', f'["{secret}"]', f'{{"{secret}": "{secret}", "x": "{secret}", "type": "{secret}"}}']
    for text in texts:
        for problem in resolutions(from_msgspec(type_), text)[-1].problems:
            assert secret not in problem.expected


def test_what_is_expected_in_words() -> None:
    """The words name the limits, the first of many values, and all branches."""
    many = enum.Enum("Many", {f"N{number}": f"n{number}" for number in range(20)})  # type: ignore[misc]
    for type_, words in [
        (Annotated[int, Meta(ge=1, lt=7, multiple_of=2)], "an integer, >= 1, < 7, a multiple of 2"),
        (Annotated[str, Meta(pattern="^a", max_length=3)], "a string, like ^a, length <= 3"),
        (Annotated[datetime, Meta(tz=True)], "a date and time, with a time zone: True"),
        (Annotated[list[int], Meta(min_length=1)], "an array, length >= 1"),
        (int | list[str] | None, "an integer or an array or null"),
        (Plain | None, "an object or null"),
        (Annotated[Plain, Atomic] | None, "an object or null"),
        (Literal["a", 1], "one of 1, 'a'"),
        (many, "one of 'n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', ..."),
        (Cell, "an array of 1 to 2 items"),
        (Row, "an array of at least 1 items"),
        (One | Other, "an object with a tag"),
    ]:
        resolution = resolutions(from_msgspec(type_), "true")[-1]
        assert resolution.problems[0].expected == words


def test_what_post_init_raises() -> None:
    """Every exception refuses the instance. msgspec passes some of them on, and accepts the text in no case."""

    class Raising(Struct):
        x: int

        def __post_init__(self) -> None:
            raise [ValueError, TypeError, KeyError, msgspec.ValidationError][self.x]("of the class")

    shape = from_msgspec(Raising)
    for text in ('{"x": 0}', '{"x": 1}', '{"x": 3}'):
        check(shape, Raising, text)
    with pytest.raises(KeyError):
        msgspec.json.decode('{"x": 2}', type=Raising)
    assert isinstance(resolutions(shape, '{"x": 2}')[-1], Invalid)


def test_defaults_are_made_for_each_instance() -> None:
    """Once for a whole one, never for a half-filled one."""
    calls: Counter[str] = Counter()

    def factory(name: str) -> Callable[[], list[int]]:
        def make() -> list[int]:
            calls[name] += 1
            return []

        return make

    @dataclasses.dataclass
    class Inner:
        items: list[int] = dataclasses.field(default_factory=factory("dataclass"))

    made = msgspec.defstruct("made", [("inner", Inner), ("items", list[int], field(default_factory=factory("struct")))])
    value = resolutions(from_msgspec(made), '{"inner": {}}')[-2].value
    assert (value.items, value.inner.items) == ([], [])
    # Once more for the resolution from scratch.
    assert calls == {"struct": 2, "dataclass": 2}


def test_attrs() -> None:
    """Classes of attrs are made as msgspec makes them: with hooks and validators, without converters."""
    attrs = pytest.importorskip("attrs")
    calls: list[str] = []

    @attrs.define
    class Checked:
        x: int = attrs.field(validator=attrs.validators.gt(0))
        y: str = attrs.field(factory=lambda: "y", converter=len)

        def __attrs_pre_init__(self) -> None:
            calls.append("pre")

        def __attrs_post_init__(self) -> None:
            calls.append("post")

    @attrs.frozen
    class Simple:
        x: int
        y: int = 3

    # Annotations of a local class are texts here, and stand for what the module has.
    shape = from_msgspec(Checked)
    for text in ('{"x": 1}', '{"x": 0}', '{"x": 1, "y": "abc"}', "{}", '{"x": "1"}'):
        check(shape, Checked, text)
    calls.clear()
    half, _ = resolve(shape, parse_chunk(create_state(), '{"y": "a'))
    assert isinstance(half.value, Checked)
    assert read(half.value, "x", "y") == (None, "a")
    assert calls == []
    resolve(shape, parse_chunk(create_state(), '{"x": 1}'))
    assert calls == ["pre", "post"]
    check(from_msgspec(Simple), Simple, '{"x": 1}')


# Unions, tags, early values


def test_a_union_is_shown_once_its_branch_is_known() -> None:
    """By kind at once, by tag when the tag is complete; a branch that was shown stays."""
    assert isinstance(shown(Plain | str | list[int], "{"), Plain)
    assert shown(Plain | str | list[int], '"a') == "a"
    for union, text in [(One | Other, '{"x": "a", "type": "oth'), (RowOne | RowOther, '["oth')]:
        assert shown(union, text) is None
    other = shown(One | Other | None, '{"x": "a", "type": "other"')
    assert isinstance(other, Other)
    assert other.x == "a"
    row = shown(RowOne | RowOther, '["other", "a')
    assert isinstance(row, RowOther)
    assert row.x == "a"
    assert isinstance(shown(RowNumber | RowNumbers, '[8, "a'), RowNumbers)
    twice = resolutions(from_msgspec(One | Other), '{"type": "other", "x": "a", "type": "other"}')
    assert {type(found.value) for found in twice[17:-2]} == {type(twice[20].value)}


def test_early_values() -> None:
    """With `early`, a Literal or Enum is shown when only one of its values can still come."""
    assert shown(list[Colour], '["b', early=True) == [Colour.BLUE]
    assert shown(list[Colour], '["red', early=True) == []
    assert shown(list[Colour], '["redd', early=True) == [Colour.REDDISH]
    assert shown(list[Literal["red", "blue", 1]], '["r', early=True) == ["red"]
    assert shown(list[Folded], '["b', early=True) == []
    assert shown(list[Annotated[Colour, Atomic]], '["b', early=True) == []


# Markers


class Marked(Struct):
    title: Annotated[str, Atomic]
    day: Annotated[Day, Atomic] | None = None
    days: Annotated[list[Day] | None, WholeItems()] = None
    names: list[Annotated[str, Atomic()]] = []
    pair: Annotated[tuple[str, str], WholeItems] = ("", "")
    other: Annotated[Any, Atomic] = None
    both: Annotated[Annotated[str, Meta(title="x")] | int | None, Atomic] | UnsetType = UNSET
    tagged: Annotated[One | Other, Atomic] | None = None
    page: Page[Annotated[str, Atomic]] | None = None
    free: Day | None = None


def test_atomic() -> None:
    """A marked field is shown when it is complete; other fields of the same class are not concerned."""
    assert shown(Marked, '{"title": "a').title is None
    assert shown(Marked, '{"title": "a"').title == "a"
    assert shown(Marked, '{"day": {"title": "a"').day is None
    assert shown(Marked, '{"day": {"title": "a"}').day == Day("a")
    assert shown(Marked, '{"free": {"title": "a').free.title == "a"
    assert shown(Marked, '{"names": ["a", "b').names == ["a"]
    assert shown(Marked, '{"other": [1, 2').other is None
    assert shown(Marked, '{"both": "a').both is None
    assert shown(Marked, '{"tagged": {"type": "one", "x": 1').tagged is None
    assert shown(Marked, '{"page": {"items": ["a", "b').page.items == ["a"]
    assert shown(Pair[Annotated[str, Atomic], int], '{"x": "a').x is None
    assert shown(Annotated[str, Atomic], '"a') is None


def test_whole_items() -> None:
    """Only finished items are shown."""
    assert shown(Marked, '{"days": [{"title": "a"}, {"title": "b').days == [Day("a")]
    assert shown(Marked, '{"pair": ["a", "b').pair == ("a",)


def test_not_null() -> None:
    """A record is not shown before the marked field is, also where it is an array."""

    class Holding(Struct):
        free: str = ""
        name: Annotated[str, NotNull] = ""

    class HoldingRow(Struct, array_like=True):
        free: str
        name: Annotated[str, NotNull()] | None = None

    for type_, before, after in [
        (Holding, '{"free": "a"', '{"free": "a", "name": "'),
        (HoldingRow, '["a", ', '["a", "'),
    ]:
        assert shown(type_, before) is None
        assert isinstance(shown(type_, after), type_)
        check(from_msgspec(type_), type_, before.rstrip(", ") + ("}" if before[0] == "{" else "]"))


def test_markers_in_other_records() -> None:
    """They are found under NotRequired, Final and new types, and in dataclasses and named tuples."""

    class Movie(TypedDict):
        title: NotRequired[Annotated[str, Atomic]]

    @dataclasses.dataclass
    class Film:
        title: Annotated[Name, Atomic]
        year: Final[Annotated[str, Atomic]] = ""

    class Reel(NamedTuple):
        title: Annotated[str, Atomic]

    assert shown(Movie, '{"title": "a') == {}
    assert shown(Film, '{"title": "a').title is None
    assert shown(Film, '{"year": "a').year is None
    assert shown(Reel, '["a').title is None
    # A type variable that a base class binds is not followed: the marker is lost, nothing else.
    assert shown(PageOfAtomic, '{"items": ["a').items == ["a"]


class PageOfAtomic(Page[Annotated[str, Atomic]]):
    pass


# What cannot be described


class Custom:
    pass


class HasCustom(Struct):
    name: str
    deep: list[dict[str, tuple[int, Custom]]]


class HasUnion(Struct):
    name: str
    inner: list[Plain | Late] | None = None
    again: HasUnion | None = None


class Recursive(Struct):
    again: Recursive | None
    wrong: dict[str, HasUnion]


class Untagged(Struct):
    """Refused for its part, which is refused for what it is a part of."""

    again: Untagged | Plain | None


@dataclasses.dataclass
class WithInitVar:
    x: int
    other: dataclasses.InitVar[int]


@pytest.mark.parametrize(
    ("type_", "path"),
    [
        (Custom, "$"),
        (complex, "$"),
        (list[Custom], "$[*]"),
        (HasCustom, "$.deep[*][*][1]"),
        (Page[Custom], "$.items[*]"),
        (msgspec.msgpack.Ext, "$"),
        (collections.OrderedDict[str, int], "$"),
        (Plain | Late, "$"),
        (HasUnion, "$.inner[*]"),
        (Recursive, "$.wrong[*].inner[*]"),
        (Page[HasUnion], "$.items[*].inner[*]"),
        (list[Untagged], "$[*].again"),
        (WithInitVar, "$.other"),
        (list["Plain"], "$[*]"),
        (Annotated[int, Meta(max_length=1)], "$"),
        (dict[str, Annotated[int, Meta(ge=2**70)]], "$[*]"),
    ],
    ids=str,
)
def test_a_type_that_cannot_be_described(type_: Any, path: str) -> None:
    """It is refused at once, with the place of what is wrong."""
    with pytest.raises(OptionsError) as refusal:
        from_msgspec(type_)
    assert str(refusal.value).split(": ")[0] == path


def test_a_struct_with_names_that_stand_for_nothing() -> None:
    """It is refused like any other type that msgspec cannot read."""
    wrong = msgspec.defstruct("wrong", [("x", "Nowhere")])
    with pytest.raises(OptionsError, match=r"^\$\.x: name 'Nowhere' is not defined"):
        from_msgspec(msgspec.defstruct("outer", [("x", wrong)]))


def test_no_hook_runs_for_half_filled_records() -> None:
    """The class of half-filled instances is no subclass: registries do not see it, and hooks do not run."""

    class Sole(Struct):
        x: int
        y: str = ""

        def __init_subclass__(cls, *, required: int, **more: Any) -> None:
            super().__init_subclass__(**more)

        @property
        def double(self) -> int:
            return 2 * self.x

    @dataclasses.dataclass
    class Alone:
        x: int
        y: str = ""

        def __init_subclass__(cls) -> None:
            raise AssertionError

    class Pair(NamedTuple):
        x: int
        y: str = ""

    for cls in (Sole, Alone):
        half = shown(cls, '{"x": 1, "y": "a')
        assert isinstance(half, cls)
        assert read(half, "x", "y") == (1, "a")
        assert cls.__subclasses__() == []
    assert shown(Sole, '{"x": 1, "y": "a').double == 2
    assert isinstance(shown(Pair, '[1, "a'), Pair)
    assert Pair.__subclasses__() == []


@pytest.mark.parametrize("depth", [129, 400, 3000])
def test_types_that_are_nested_too_deep(depth: int) -> None:
    """The limit is that of documents."""
    type_: Any = int
    for _ in range(depth):
        type_ = list[type_]
    with pytest.raises(OptionsError, match=r": nested more than 128 deep$"):
        from_msgspec(type_)


def test_types_that_are_as_deep_as_documents() -> None:
    """Deep and recursive types are described, and large ones in no time."""
    type_: Any = int
    for _ in range(127):
        type_ = list[type_]
    check(from_msgspec(type_), type_, "[" * 127 + "]" * 127)
    text = '{"left":' * 100 + "{}" + "}" * 100
    check(from_msgspec(Tree), Tree, text)
    large = enum.Enum("Large", {f"N{number}": f"n{number}" for number in range(20_000)})  # type: ignore[misc]
    assert shown(list[large], '["n19999', early=True) == [large["N19999"]]


def test_msgspec_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra to install is named."""
    monkeypatch.delitem(sys.modules, "unspool.typed._msgspec")
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(ImportError, match=r"unspool\[msgspec\]"):
        importlib.import_module("unspool.typed._msgspec")
