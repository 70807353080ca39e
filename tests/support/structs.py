"""Types that msgspec validates, each with what it accepts and refuses.

Unlike pydantic, msgspec is strict (text is no number, one is not true), a union has at most one branch for
each kind of JSON unless its structs are tagged, and a tag that is not there is no fault of a struct that
stands alone.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType, field
from typing_extensions import TypedDict

from .instances import (
    ANY_INDEX,
    Case,
    Gen,
    Json,
    anything,
    append,
    boolean,
    either,
    fields,
    integer,
    keyed,
    label,
    listed,
    lose,
    nullable,
    number,
    one_of,
    put,
    row,
    text,
    word,
)

# Structs


class Address(Struct):
    street: str
    number: int | None = None


class Person(Struct):
    name: str
    age: int = 0
    nick: str | None = None
    friends: list[str] = field(default_factory=list)
    address: Address | None = None
    set_or_not: int | UnsetType | None = UNSET


_address = fields({"street": text}, {"number": nullable(integer())}, extra=anything)
_person = fields(
    {"name": text},
    {
        "age": integer(),
        "nick": nullable(text),
        "friends": listed(text),
        "address": nullable(_address),
        "set_or_not": nullable(integer()),
    },
    extra=anything,
)


class Camel(Struct, rename="camel", kw_only=True, frozen=True):
    first_name: str
    last_name: str = ""
    other: int = field(default=0, name="$other")


class Closed(Struct, forbid_unknown_fields=True):
    size: int
    inner: Closed | None = None


class Pixel(Struct, array_like=True):
    """An array whose elements have names; more elements are ignored."""

    x: int
    y: int
    colour: str = "red"


class Exact(Struct, array_like=True, forbid_unknown_fields=True):
    name: str
    pixels: list[Pixel] = []


_camel = fields({"firstName": text}, {"lastName": text, "$other": integer(), "first_name": anything}, extra=anything)
_pixel = either(
    row(integer(), integer()), row(integer(), integer(), text), row(integer(), integer(), text, anything, anything)
)
_exact = either(row(text), row(text, listed(_pixel)))


def _closed(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _closed(random, depth + 1)  # noqa: E731
    return fields({"size": integer()}, {"inner": nullable(inner)} if depth < 4 else {})(random)


_STRUCTS = [
    Case(
        "struct",
        Person,
        _person,
        {
            "no name": lose(_person, "name"),
            "text for a number": put(_person, "age", bad=one_of("1", 1.0, True, None)),
            "null for a list": put(_person, "friends", bad=one_of(None, {}, "ab")),
            "an element": append(put(_person, "friends", bad=listed(text)), "friends", bad=one_of(1, None)),
            "inside": put(_person, "address", bad=one_of({}, {"street": 1}, {"number": 1}, [])),
        },
    ),
    Case(
        "renamed",
        Camel,
        _camel,
        {
            "by its own name": fields({"first_name": text}),
            "another case": fields({"firstname": text}),
            "kind": put(_camel, "$other", bad=one_of("1", None)),
        },
    ),
    Case(
        "closed and recursive",
        Closed,
        _closed,
        {
            "an unknown field": put(_closed, "sizes", bad=anything),
            "an unknown field inside": put(_closed, "inner", bad=put(_closed, "", bad=one_of(1))),
            "kind": put(_closed, "inner", bad=one_of([], {}, {"size": None})),
        },
    ),
    Case(
        "as arrays",
        Exact,
        _exact,
        {
            "too long": one_of(["a", [], 1]),
            "too short": one_of([]),
            "an object": one_of({"name": "a"}),
            "an element": append(row(text, listed(_pixel)), 1, bad=one_of([1], [1, "2"], {}, [1, 2, None])),
        },
    ),
]


# Tagged


class Get(Struct, tag="get"):
    key: str


class Put(Struct, tag="put", forbid_unknown_fields=True):
    key: str
    value: Any


class Batch(Struct, tag="batch"):
    commands: list[Get | Put | Batch]


Command = Get | Put | Batch


class Circle(Struct, tag_field="shape", tag=1):
    radius: float


class Square(Struct, tag_field="shape", tag=2):
    side: float
    name: str | None = None


class Canvas(Struct):
    main: Circle | Square | None
    others: dict[str, Circle | Square] = {}


class Low(Struct, array_like=True, tag=True):
    value: int


class High(Struct, array_like=True, tag=True):
    value: int
    factor: int = 1


def _command(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _command(random, depth + 1)  # noqa: E731
    return either(
        fields({"type": one_of("get"), "key": text}, extra=anything),
        fields({"type": one_of("put"), "key": text, "value": anything}),
        *([fields({"type": one_of("batch"), "commands": listed(inner)})] if depth < 3 else []),
    )(random)


_shape = either(
    fields({"shape": one_of(1), "radius": number}, extra=anything),
    fields({"shape": one_of(2), "side": number}, {"name": nullable(text)}),
)
_canvas = fields({"main": nullable(_shape)}, {"others": keyed(text, _shape)})
_tagged_row = either(
    row(one_of("Low"), integer()), row(one_of("High"), integer()), row(one_of("High"), integer(), integer())
)
_batch = fields({"type": one_of("batch"), "commands": listed(_command)})
_get = fields({"key": text}, {"type": one_of("get")})

_TAGGED = [
    Case(
        "tagged",
        Command,
        _command,
        {
            "unknown": put(_command, "type", bad=one_of("ge", "gets", "", None, 1)),
            "no tag": lose(_command, "type"),
            "another branch": one_of({"type": "put", "key": ""}, {"type": "batch", "key": "a"}),
            "an unknown field of a branch": one_of({"type": "put", "key": "", "value": 1, "values": []}),
            "inside": append(_batch, "commands", bad=one_of({"type": "get"}, {"key": 1, "type": "get"}, {}, None)),
        },
    ),
    Case(
        "tagged by number",
        Canvas,
        _canvas,
        {
            "unknown": put(_canvas, "main", bad=one_of({"shape": 3, "side": 1}, {"shape": "1", "radius": 1})),
            "another branch": put(_canvas, "main", bad=one_of({"shape": 1, "side": 1}, {"radius": 1})),
            "no main": lose(_canvas, "main"),
            "a value": put(_canvas, "others", bad=one_of({"": {"shape": 2, "side": "1"}}, {"a": None})),
        },
    ),
    Case(
        "tagged arrays",
        list[Low | High],
        listed(_tagged_row),
        {
            "unknown": append(listed(_tagged_row), bad=one_of(["low", 1], ["Lo", 1], [1, "Low"])),
            "too short": append(listed(_tagged_row), bad=one_of(["High"], [])),
            "an element": append(listed(_tagged_row), bad=one_of(["Low", "1"], ["High", 1, None])),
        },
    ),
    Case(
        "a tag alone may be left out",
        Get,
        _get,
        {"another tag": put(_get, "type", bad=one_of("put", "ge", None)), "no key": one_of({"type": "get"}, {})},
    ),
]


# Leaves and limits


class Colour(enum.Enum):
    RED = "red"
    REDDISH = "reddish"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Leaves(Struct):
    colour: Colour
    level: Level = Level.LOW
    literal: Literal["a", "ab", 1, 12, None] = None
    by_colour: dict[Colour, int] = {}
    by_number: dict[int, str] = {}
    number_or_text: int | float | str | None = None
    flag_or_list: bool | list[int] | dict[str, bool] = False


class Moments(Struct):
    day: date
    moment: datetime | None = None
    aware: Annotated[datetime, Meta(tz=True)] | None = None
    clock: time | None = None
    span: timedelta | None = None
    key: UUID | None = None
    amount: Decimal | None = None
    raw: bytes = b""


Short = Annotated[str, Meta(min_length=1, max_length=3)]


class Limits(Struct):
    short: Short
    code: Annotated[str, Meta(pattern=r"^[A-Z]{2}$")] = "AB"
    ranged: Annotated[int, Meta(ge=0, lt=10)] = 0
    even: Annotated[int, Meta(multiple_of=2)] = 0
    share: Annotated[float, Meta(gt=0, le=1)] = 1
    few: Annotated[list[Short], Meta(max_length=2)] = []
    members: Annotated[dict[Short, int], Meta(min_length=1, max_length=2)] | None = None


class Containers(Struct):
    pair: tuple[int, str]
    many: tuple[int, ...] = ()
    unique: set[int] = set()
    frozen: frozenset[str] = frozenset()
    bare_list: list = []  # type: ignore[type-arg]
    bare_dict: dict = {}  # type: ignore[type-arg]
    nested: list[dict[str, list[tuple[bool, None]]]] = []


_leaves = fields(
    {"colour": one_of("red", "reddish")},
    {
        "level": one_of(1, 10),
        "literal": one_of("a", "ab", 1, 12, None),
        "by_colour": one_of({}, {"red": 1, "reddish": 2}),
        "by_number": one_of({}, {"1": "a", "-2": ""}),
        "number_or_text": one_of(1, 1.5, "", "1", None),
        "flag_or_list": either(boolean, listed(integer()), keyed(text, boolean)),
    },
)
_KEY = "0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e"
_moments = fields(
    {"day": one_of("2024-02-29", "1999-12-31")},
    {
        "moment": nullable(one_of("2024-05-01T12:00:00", "2024-05-01T12:00:00.5Z", "2024-05-01 12:00:00+02:00")),
        "aware": nullable(one_of("2024-05-01T12:00:00Z")),
        "clock": nullable(one_of("12:00:00", "12:00:00.5")),
        "span": nullable(one_of("P1D", "PT1H30M", "-PT3.5S")),
        "key": nullable(one_of(_KEY, _KEY.replace("-", ""))),
        "amount": nullable(one_of("1.50", 1, 2.5, "NaN")),
        "raw": one_of("", "aGVsbG8="),
    },
)
_limits = fields(
    {"short": one_of("a", "abc", "😀😀😀")},
    {
        "code": one_of("AB", "XY"),
        "ranged": integer(0, 9),
        "even": one_of(0, -2, 10**6),
        "share": one_of(1, 0.5, 1e-9),
        "few": listed(one_of("a", "abc"), 0, 2),
        "members": keyed(one_of("a", "abc", "é"), integer(), 1, 2),
    },
)
_containers = fields(
    {"pair": row(integer(), text)},
    {
        "many": listed(integer()),
        "unique": listed(integer(0, 3)),
        "frozen": listed(text),
        "bare_list": listed(anything),
        "bare_dict": keyed(text, anything),
        "nested": listed(keyed(text, listed(row(boolean, one_of(None))))),
    },
)

_LEAVES = [
    Case(
        "leaves",
        Leaves,
        _leaves,
        {
            "a shared prefix": put(_leaves, "colour", bad=one_of("re", "redd", "reddishy", "RED", None)),
            "an unknown level": put(_leaves, "level", bad=one_of(2, 100, "1", 1.0, True)),
            "not the literal": put(_leaves, "literal", bad=one_of("abc", "", 2, 123, 1.0, True)),
            "a key": put(_leaves, "by_colour", bad=one_of({"red": 1, "re": 1}, {"": 1})),
            "a key that is no number": put(_leaves, "by_number", bad=one_of({"x": ""}, {"1.5": ""})),
            "no branch": put(_leaves, "number_or_text", bad=one_of(True, [], {})),
            "inside of a branch": put(_leaves, "flag_or_list", bad=one_of([True], {"a": 1}, 1, None)),
        },
    ),
    Case(
        "moments",
        Moments,
        _moments,
        {
            "no such day": put(_moments, "day", bad=one_of("2023-02-29", "2024-5-1", 0, "")),
            "no moment": put(_moments, "moment", bad=one_of("2024-05-01", 0, "now")),
            "naive": put(_moments, "aware", bad=one_of("2024-05-01T12:00:00")),
            "no time": put(_moments, "clock", bad=one_of("25:00:00", "12", 1)),
            "no span": put(_moments, "span", bad=one_of("1:00:00", 90, "P")),
            "no key": put(_moments, "key", bad=one_of(_KEY[:-1], _KEY + "0", "")),
            "no decimal": put(_moments, "amount", bad=one_of("x", "", True)),
            "no base 64": put(_moments, "raw", bad=one_of("a", "hello", None)),
        },
    ),
    Case(
        "limits",
        Limits,
        _limits,
        {
            "too long": put(_limits, "short", bad=one_of("abcd", "😀" * 4)),
            "too short": put(_limits, "short", bad=one_of("")),
            "another pattern": put(_limits, "code", bad=one_of("ab", "ABC", "A", "")),
            "out of range": put(_limits, "ranged", bad=one_of(-1, 10)),
            "odd": put(_limits, "even", bad=one_of(1, -3)),
            "no share": put(_limits, "share", bad=one_of(0, 1.01, -1)),
            "too many": put(_limits, "few", bad=listed(one_of("a"), 3, 5)),
            "an element": put(_limits, "few", bad=one_of(["abcd"], ["a", ""])),
            "too few members": put(_limits, "members", bad=one_of({})),
            "a key": put(_limits, "members", bad=one_of({"": 1}, {"abcd": 1})),
        },
    ),
    Case(
        "containers",
        Containers,
        _containers,
        {
            "pair too long": put(_containers, "pair", bad=one_of([1, "", 1])),
            "pair too short": put(_containers, "pair", bad=one_of([1], [])),
            "a set element": put(_containers, "unique", bad=one_of([1, "2"], {"1": 1})),
            "no object": put(_containers, "bare_dict", bad=one_of([], None)),
            "deep inside": put(_containers, "nested", bad=one_of([{"a": [[True, None], [True, 0]]}], [{"a": [[]]}])),
        },
    ),
]


# Other classes, generics, and what is called when an instance is made

T = TypeVar("T")


class Page(Struct, Generic[T]):
    items: list[T]
    first: T | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    names: list[str] = dataclasses.field(default_factory=list)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Cell(NamedTuple):
    row: int
    column: int = 0


class Others(Struct):
    point: Point
    movies: list[Movie] = []
    cells: list[Cell] = []
    page: Page[Cell] | None = None


# The label of an instance -> how often it was made: once, where it was validated once.
MADE: Counter[str] = Counter()


class Counted(Struct):
    label: str
    low: int = 0
    high: int = 9
    children: list[Counted] = []

    def __post_init__(self) -> None:
        MADE[self.label] += 1
        if self.high < self.low:
            raise ValueError("the wrong way round")


_point = fields({"x": integer()}, {"y": integer(), "names": listed(text)}, extra=anything)
_movie = fields({"title": text}, {"year": integer()}, extra=anything)
_cell = either(row(integer()), row(integer(), integer()))
_page = fields({"items": listed(_cell)}, {"first": nullable(_cell)})
_others = fields({"point": _point}, {"movies": listed(_movie), "cells": listed(_cell), "page": nullable(_page)})


def _counted(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _counted(random, depth + 1)  # noqa: E731
    return fields(
        {"label": label},
        {"low": integer(0, 4), "high": integer(5, 9), "children": listed(inner, 0, 3 if depth < 3 else 0)},
    )(random)


_CLASSES = [
    Case(
        "other classes",
        Others,
        _others,
        {
            "a point": put(_others, "point", bad=one_of({}, [1], {"x": 1, "names": [1]})),
            "a movie": put(_others, "movies", bad=one_of([{"title": "a"}, {}], [{"title": "a", "year": None}])),
            "a cell too long": put(_others, "cells", bad=one_of([[1, 2, 3]], [[]])),
            "a cell is an array": put(_others, "cells", bad=one_of([{"row": 1}])),
            "in a page": put(_others, "page", bad=one_of({"items": [[1], ["1"]]}, {})),
        },
    ),
    Case("generic", Page[int], fields({"items": listed(integer())}), {"an item": one_of({"items": [1, "1"]}, {})}),
    Case(
        "post init",
        Counted,
        _counted,
        {
            "the wrong way round": fields({"label": label, "low": one_of(5), "high": one_of(4)}),
            "inside": put(_counted, "children", bad=row(_counted, fields({"label": label, "low": one_of(10)}))),
            "a child": put(_counted, "children", ANY_INDEX, "label", bad=one_of(None, 1)),
        },
        counted=True,
    ),
    Case("a map", dict[str, list[Point]], keyed(word, listed(_point)), {"inside": one_of({"a": [{}]}, {"a": {}}, [])}),
]

CASES: list[Case] = [*_STRUCTS, *_TAGGED, *_LEAVES, *_CLASSES]
