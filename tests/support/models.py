"""Types that pydantic validates, each with what it accepts and refuses: all cases, and the plain ones.

Names, other classes, leaves, unions, validators and what counts its calls are in the files beside this one.
Whatever pydantic accepts is meant to be met here: numbers in strings, keys under their other names, arrays
for named tuples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import date
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, JsonValue, create_model

from . import model_classes, model_counted, model_leaves, model_names, model_unions, model_validators
from .instances import (
    ANY_INDEX,
    Case,
    Gen,
    Json,
    anything,
    append,
    boolean,
    change,
    either,
    fields,
    integer,
    keyed,
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

# Roots that are no objects

_int = either(integer(), one_of(0, 10**40, "12", " 7 ", 3.0, "3.0", True))
_ROOTS = [
    Case(
        "int",
        int,
        _int,
        {"a fraction": one_of(1.5), "not a number": one_of("12x", "", "1e3"), "kind": one_of(None, [], {}, [1])},
    ),
    Case("str", str, text, {"kind": one_of(None, 1, 1.5, True, [], {}, ["a"])}),
    Case(
        "bool",
        bool,
        one_of(True, False, 1, 0, 1.0, "yes", "off", "T", "0", "true"),
        {"kind": one_of(None, [], {}), "not one of the words": one_of("", "tru", "maybe", 2, -1, 0.5)},
    ),
    Case(
        "float",
        float,
        either(number, one_of("1.5", "nan", "-inf", " 1e5 ", True)),
        {"kind": one_of(None, [], {}), "not a number": one_of("", "1,5", "x")},
    ),
    Case("none", None, one_of(None), {"kind": one_of(0, False, "", [], {}, "null")}),
    Case(
        "list of int",
        list[int],
        listed(_int, 0, 8),
        {
            "kind": one_of({}, "12", 1, None),
            "an element": append(listed(_int), bad=one_of("x", None, 1.5)),
            "an early element": put(listed(_int, 3, 9), 0, bad=one_of([], {}, "x")),
        },
    ),
    Case("bare list", list, listed(anything), {"kind": one_of({}, "", 1, None, {"0": 1})}),
    Case("bare dict", dict, keyed(text, anything), {"kind": one_of([], "", 1, None, [["a", 1]])}),
    Case(
        "dict to int",
        dict[str, int],
        keyed(text, _int),
        {"kind": one_of([], 1), "a value": put(keyed(text, _int), "b", bad=one_of("x", None, [1]))},
    ),
    Case(
        "dict by date",
        dict[date, dict[int, str]],
        keyed(one_of("2024-02-29", "1999-12-31", "0"), keyed(one_of("1", "-2", "3"), text)),
        {
            "a key": put(keyed(one_of("2024-02-29"), keyed(one_of("1"), text)), "2023-02-29", bad=one_of({})),
            "an inner key": put(keyed(one_of("2024-02-29"), keyed(one_of("1"), text), 1), "2024-02-29", "x", bad=text),
        },
    ),
]


# Plain and nested models


class Activity(BaseModel):
    title: str
    type: Literal["Sightseeing", "FoodAndDining", "Adventure"]
    description: str = ""
    price: float | None = None


class Day(BaseModel):
    subtitle: str
    activities: list[Activity] = []
    on: date | None = None


class Trip(BaseModel):
    """What the documentation shows."""

    destination: str
    days: list[Day]
    travellers: int = Field(default=1, ge=1)
    tags: set[str] = Field(default_factory=set)
    notes: dict[str, str] = Field(default_factory=dict)


_activity = fields(
    {"title": text, "type": one_of("Sightseeing", "FoodAndDining", "Adventure")},
    {"description": text, "price": nullable(number)},
    extra=anything,
)
_day = fields({"subtitle": text}, {"activities": listed(_activity), "on": nullable(one_of("2024-05-01", "2024-05-02"))})
_trip = fields(
    {"destination": text, "days": listed(_day)},
    {"travellers": either(integer(1, 9), one_of("2")), "tags": listed(text), "notes": keyed(text, text)},
    extra=anything,
)
_full_trip = put(_trip, "days", bad=listed(put(_day, "activities", bad=listed(_activity, 1)), 1))


class Animal(BaseModel):
    name: str
    legs: int = 4


class Dog(Animal):
    """An inherited field, one that is narrowed, one of its own; a private attribute that no input reaches."""

    legs: Literal[3, 4] = 4
    tricks: tuple[str, ...] = ()
    _asleep: bool = True

    def model_post_init(self, context: Any, /) -> None:
        self._asleep = not self.tricks
        if len(self.tricks) > 3:
            raise ValueError("too clever")


_dog = fields({"name": text}, {"legs": one_of(3, 4), "tricks": listed(text, 0, 3)}, extra=anything)

Nested = list[dict[str, list[dict[str, list[dict[str, list[int]]]]]]]


def _nested(leaf: Gen) -> Gen:
    return listed(keyed(word, listed(keyed(word, listed(keyed(word, listed(leaf))), 1, 2)), 1, 2))


def _deep(depth: int) -> Any:
    made: Any = int
    for _ in range(depth):
        made = list[made]
    return made


def _well(depth: int, bottom: Gen) -> Gen:
    def make(random: Random) -> Json:
        value = bottom(random)
        for _ in range(depth):
            value = [value]
        return value

    return make


Wide = create_model(  # type: ignore[call-overload]
    "Wide", **{f"field_{index}": ((int, str, bool, list[int])[index % 4], ...) for index in range(40)}
)
_wide = fields({f"field_{index}": (integer(), text, boolean, listed(integer()))[index % 4] for index in range(40)})

_MODELS = [
    Case(
        "trip",
        Trip,
        _trip,
        {
            "no destination": lose(_trip, "destination"),
            "no days": lose(_trip, "days"),
            "days are no list": put(_trip, "days", bad=one_of(None, "", {}, 3)),
            "unknown activity": put(
                _full_trip,
                *("days", ANY_INDEX, "activities", ANY_INDEX, "type"),
                bad=one_of("Sightseeing ", "Sights", "sightseeing", "Food", "", None),
            ),
            "no title": lose(_full_trip, "days", ANY_INDEX, "activities", ANY_INDEX, "title"),
            "bad price": put(_full_trip, "days", 0, "activities", 0, "price", bad=one_of("free", [], {})),
            "bad date": put(_full_trip, "days", 0, "on", bad=one_of("2024-05-32", "2024-5", "May 1", [])),
            "no travellers": put(_trip, "travellers", bad=one_of(0, -1, None, "none")),
            "a tag": put(_trip, "tags", bad=one_of(["a", 1], [None], {"a": 1})),
            "a note": put(_trip, "notes", bad=one_of({"a": None}, {"a": "b", "c": ["d"]}, [])),
        },
    ),
    Case(
        "inherited",
        Dog,
        _dog,
        {
            "narrowed": put(_dog, "legs", bad=one_of(5, "4", None)),
            "no name": lose(_dog, "name"),
            "refused when it is made": put(_dog, "tricks", bad=listed(text, 4, 6)),
        },
    ),
    Case(
        "nested containers",
        Nested,
        _nested(integer()),
        {"deep inside": change(_nested(integer(1, 1)), lambda root: _replace_leaf(root, 1, "one"))},
    ),
    Case(
        "deep",
        _deep(60),
        _well(59, listed(integer())),
        {
            "the innermost": _well(60, one_of("x", None, {})),
            "too deep": _well(61, integer()),
            "not deep enough": _well(58, one_of([1], ["a"])),
        },
    ),
    Case(
        "wide",
        Wide,
        _wide,
        {
            "one is missing": lose(_wide, "field_39"),
            "one is wrong": put(_wide, "field_17", bad=one_of(1, None)),
        },
    ),
]


def _replace_leaf(root: Json, old: Json, new: Json) -> bool:
    """One leaf that equals `old`, somewhere inside, becomes `new`."""
    places: list[Json] = [root]
    while places:
        place = places.pop()
        for step, value in place.items() if isinstance(place, dict) else enumerate(place):
            if isinstance(value, dict | list):
                places.append(value)
            elif value == old:
                place[step] = new
                return True
    return False


# Containers


class Containers(BaseModel):
    pair: tuple[int, str]
    many: tuple[int, ...] = ()
    empty: tuple[()] = ()
    unique: set[int] = set()
    frozen: frozenset[str] = frozenset()
    queue: deque[int] = deque()
    sequence: Sequence[int] = ()
    mapping: Mapping[str, bool] = {}
    loose: list[Any] = []
    json_value: JsonValue = None


_containers = fields(
    {"pair": row(_int, text)},
    {
        "many": listed(integer()),
        "empty": one_of([]),
        "unique": listed(integer(0, 3)),
        "frozen": listed(text),
        "queue": listed(integer()),
        "sequence": listed(integer()),
        "mapping": keyed(text, boolean),
        "loose": listed(anything),
        "json_value": anything,
    },
)


class Sized(BaseModel):
    """Limits on sizes. A set counts what is left of its elements: repeated ones are one."""

    few: Annotated[list[int], Field(min_length=1, max_length=3)]
    unique: Annotated[set[int], Field(max_length=2)] = set()
    members: Annotated[dict[str, int], Field(min_length=1, max_length=2)] = {"a": 1}
    several: Annotated[tuple[int, ...], Field(min_length=2, max_length=3)] = (1, 2)


_sized = fields(
    {"few": listed(integer(), 1, 3)},
    {
        "unique": listed(one_of(1, 2, "1", 2.0), 0, 7),
        "members": keyed(text, integer(), 1, 2),
        "several": listed(integer(), 2, 3),
    },
)
_CONTAINERS = [
    Case(
        "containers",
        Containers,
        _containers,
        {
            "pair too long": put(_containers, "pair", bad=one_of([1, "a", 2], [1, "a", None])),
            "pair too short": put(_containers, "pair", bad=one_of([1], [])),
            "pair turned round": put(_containers, "pair", bad=one_of(["a", 1], ["a", "1"])),
            "tuple element": put(_containers, "many", bad=one_of([1, 2, "x"], [None], [[]])),
            "not empty": put(_containers, "empty", bad=one_of([0], [None], {})),
            "set element": put(_containers, "unique", bad=one_of([1, "x"], [None], {"1": 1})),
            "frozenset kind": put(_containers, "frozen", bad=one_of("ab", {"a": 1}, [1])),
            "deque element": put(_containers, "queue", bad=one_of([1, {}], "12", {})),
            "sequence of text": put(_containers, "sequence", bad=one_of("123", ["x"], {})),
            "mapping value": put(_containers, "mapping", bad=one_of({"a": "maybe"}, [["a", True]], [])),
            "null is no list": put(_containers, "loose", bad=one_of(None)),
        },
    ),
    Case(
        "sized",
        Sized,
        _sized,
        {
            "too many": put(_sized, "few", bad=listed(integer(), 4, 9)),
            "too few": put(_sized, "few", bad=one_of([])),
            "too many different": put(_sized, "unique", bad=one_of([1, 1, 2, 3], [3, 2, 1])),
            "too many members": put(_sized, "members", bad=keyed(text, integer(), 3, 5)),
            "too few members": put(_sized, "members", bad=one_of({})),
            "tuple size": put(_sized, "several", bad=one_of([1], [], [1, 2, 3, 4])),
        },
    ),
]


CASES: list[Case] = [
    *_ROOTS,
    *_MODELS,
    *_CONTAINERS,
    *model_names.CASES,
    *model_classes.CASES,
    *model_leaves.CASES,
    *model_unions.CASES,
    *model_validators.CASES,
    *model_counted.CASES,
]
