"""from_pydantic: what is shown of a half-written value, what it is in the end, and how early it is known to be wrong.

That pydantic's own verdict is met on the whole and never contradicted before is law 18 (test_laws_typed.py); the
corners of it that need types of their own are in test_pydantic_corners.py.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import json
import pickle
import subprocess
import sys
from abc import ABC
from collections import deque
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Annotated, Any, Generic, Literal, NamedTuple, Self, TypeVar
from uuid import UUID

import pydantic.dataclasses
import pytest
from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    Json,
    PrivateAttr,
    RootModel,
    TypeAdapter,
    ValidationError,
    computed_field,
    field_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from tests.support import models
from tests.support.instances import anything
from tests.support.model_classes import Link
from tests.support.model_names import Forbidding
from tests.support.models import Day, Trip
from tests.support.shared import PROJECT
from unspool import OptionsError, Path, create_state, finalize, parse_chunk
from unspool._tree.nodes import Node
from unspool.typed import (
    Atomic,
    Complete,
    Invalid,
    Missing,
    NotNull,
    Partial,
    Resolution,
    WholeItems,
    from_pydantic,
    resolve,
)
from unspool.typed._shape import Shape, json_text, kinds_of

T = TypeVar("T")


def trail(type: Any, text: str, *, early: bool = False, close: bool = True) -> list[Resolution[Any]]:
    """Return the resolution of each prefix of a text, one character after the other, and of its end."""
    shape = type if isinstance(type, Shape) else from_pydantic(type, early=early)
    state, cache = create_state(), None
    found: list[Resolution[Any]] = []
    for character in [*text, None]:
        if character is None and not close:
            break
        state = finalize(state) if character is None else parse_chunk(state, character)
        resolution, cache = resolve(shape, state, cache)
        found.append(resolution)
    return found


def shown(type: Any, text: str, *, early: bool = False) -> Any:
    """What is shown of a prefix."""
    last = trail(type, text, early=early, close=False)[-1]
    assert not last.problems
    return last.value


def made(type: Any, text: str) -> Any:
    """What a whole text becomes."""
    last = trail(type, text)[-1]
    assert isinstance(last, Complete)
    return last.value


def first_wrong(type: Any, text: str) -> str:
    """The shortest prefix that is invalid."""
    for length, resolution in enumerate(trail(type, text, close=False), 1):
        if isinstance(resolution, Invalid):
            return text[:length]
    raise AssertionError("nothing is wrong with it")


def problems(type: Any, text: str) -> list[tuple[str, str]]:
    """The path and the code of each problem in the end."""
    return [(str(problem.path), problem.code) for problem in trail(type, text)[-1].problems]


# What is shown


def is_a(value: Any, cls: type) -> bool:
    """Return what `isinstance` says, without telling type checkers, who would expect a whole instance."""
    return isinstance(value, cls)


def test_half_filled_models_are_models() -> None:
    """Absent fields read as None, even with a default; the others already have their final values."""
    trip: Any = shown(Trip, '{"destination": "Lis')
    assert is_a(trip, Trip)
    assert type(trip) is not Trip
    assert Trip.__subclasses__() == []
    assert (trip.destination, trip.days, trip.travellers, trip.notes) == ("Lis", None, None, None)
    assert trip.model_fields_set == {"destination"}
    trip = shown(Trip, '{"destination": "Lisbon", "days": [{"subtitle": "One", "on": "2024-05-01"}, {"subtitle": "Tw')
    assert trip.days[0] == Day(subtitle="One", on=date(2024, 5, 1))
    assert type(trip.days[0]) is Day
    assert is_a(trip.days[1], Day)
    assert type(trip.days[1]) is not Day
    assert (trip.days[1].subtitle, trip.days[1].activities) == ("Tw", None)


def test_the_whole_value_is_the_type_itself() -> None:
    """At its end a value is the one that pydantic would have made, and of the very class."""
    text = json.dumps({"destination": "Lisbon", "days": [], "travellers": "2"})
    trip = made(Trip, text)
    assert type(trip) is Trip
    assert trip == Trip.model_validate_json(text)
    assert trip.model_fields_set == {"destination", "days", "travellers"}


@pytest.mark.parametrize(
    ("type", "prefix", "expected"),
    [
        (str, '"ab', "ab"),
        (str | None, '"ab', "ab"),
        (int | str, '"12', "12"),
        (str | list[str], '["a", "b', ["a", "b"]),
        (list[int], "[1, 2", [1]),
        (tuple[str, int], '["a', ("a",)),
        (set[str], '["a", "b', {"a", "b"}),
        (frozenset[str], '["a", "a', frozenset({"a"})),
        (deque[str], '["a', deque(["a"])),
        (set[tuple[str, ...]], '[["a"], ["b', [("a",), ("b",)]),
        (set[Any], '[["a"', [["a"]]),
        (dict[str, str], '{"a": "b', {"a": "b"}),
        (dict[int, list[str]], '{"1": ["b', {1: ["b"]}),
        (Any, '{"a": ["b', {"a": ["b"]}),
        (Sequence[str], '["a', ["a"]),
    ],
)
def test_strings_and_containers_stream(type: Any, prefix: str, expected: Any) -> None:
    """Plain strings show their text so far, containers their items so far."""
    found = shown(type, prefix)
    assert found == expected
    assert found.__class__ is expected.__class__


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"
    HIGHEST = "highest"


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Annotated[str, Field(max_length=9)], '"abc"'),
        (Annotated[str, AfterValidator(str.upper)], '"abc"'),
        (Annotated[str, BeforeValidator(str.strip)], '"abc"'),
        (Literal["abc", "abd"], '"abc"'),
        (Level, '"highest"'),
        (date, '"2024-02-29"'),
        (datetime, '"2024-02-29T10:00"'),
        (UUID, '"0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e"'),
        (Decimal, '"1.10"'),
        (bytes, '"abc"'),
        (HttpUrl, '"http://example.com"'),
        (date | str, '"2024-02-29"'),
        (RootModel[str], '"abc"'),
        (list[int] | list[str], '["1", "x"]'),
        (Json[int], '"12"'),
    ],
)
def test_what_must_be_whole_is_shown_at_its_end(type: Any, text: str) -> None:
    """Anything but plain text is not shown before it is known to be valid."""
    found = trail(type, text)
    assert [resolution for resolution in found[:-2] if not isinstance(resolution, Missing)] == []
    assert found[-1].value == TypeAdapter(type).validate_json(text)


def test_literals_and_enums_resolve_early_if_asked_to() -> None:
    """As soon as there is only one value left. One that is the beginning of another waits for its end."""
    assert shown(Literal["Sightseeing", "Food"], '"S', early=True) == "Sightseeing"
    assert shown(Literal["Sightseeing", "Food"], '"S') is None
    assert shown(Level, '"l', early=True) is Level.LOW
    assert shown(Level, '"high', early=True) is None
    assert shown(Level, '"highe', early=True) is Level.HIGHEST
    assert shown(Level | None, '"l', early=True) is Level.LOW

    class Values(BaseModel):
        model_config = ConfigDict(use_enum_values=True)
        level: Level

    assert shown(Values, '{"level": "l', early=True).level == "low"


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str = ""


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = ""


def test_unions_are_shown_when_they_are_decided() -> None:
    """By kind at once, by a discriminator or by listed values when those are closed, else at the end."""
    pet = Annotated[Cat | Dog, Field(discriminator="kind")]
    assert shown(pet | str, '"ab') == "ab"
    assert shown(pet, '{"name": "Re') is None
    assert shown(pet, '{"name": "Re", "kind": "dog') is None
    assert isinstance(shown(pet, '{"name": "Rex", "kind": "dog"'), Dog)
    assert isinstance(shown(Cat | Dog, '{"kind": "dog", "name": "Re'), Dog)
    assert shown(Cat | dict[str, str], '{"kind": "cat", "name": "Tom"') is None
    assert made(Cat | Dog, '{"kind": "dog", "name": "Rex"}') == Dog(kind="dog", name="Rex")
    assert shown(Cat | list[Dog] | None, '[{"kind": "dog", "name": "Re')[0].name == "Re"


def test_what_is_judged_as_a_whole_is_shown_as_it_is_written() -> None:
    """A validator that runs before sees the whole input; until then the fields are shown, but not judged."""
    seen: list[Any] = []

    class Span(BaseModel):
        start: int
        end: int
        days: list[Day] = []
        note: Annotated[str, AfterValidator(lambda value: seen.append("note") or value)] = ""
        text: str = ""

        @model_validator(mode="before")
        @classmethod
        def split(cls, value: Any) -> Any:
            seen.append(value)
            return dict(zip(("start", "end"), value.split("-"), strict=True)) if isinstance(value, str) else value

    class Plan(BaseModel):
        span: Span

    span = shown(Plan, '{"span": {"start": "x", "end": 2, "note": "n", "days": [{"subtitle": "a').span
    assert is_a(span, Span)
    assert (span.start, span.end, span.note, span.days[0].subtitle) == (None, 2, None, "a")
    assert seen == []
    assert made(Plan, '{"span": "1-2"}') == Plan(span=Span(start=1, end=2))
    assert seen.count("1-2") == 1
    assert problems(Plan, '{"span": {"start": "x", "end": 2}}') == [("$.span.start", "int_parsing")]


def test_fields_behind_a_path_leave_the_rest_visible() -> None:
    """Where a field is found further inside, its model is judged as a whole, and the other fields are shown."""

    class Found(BaseModel):
        name: str = ""
        first: int = Field(default=0, validation_alias=AliasPath("numbers", 0))

    assert shown(Found, '{"numbers": [1, 2], "name": "ab').name == "ab"
    assert made(Found, '{"numbers": [1, 2], "name": "ab"}').first == 1
    assert problems(Found, '{"numbers": ["x"]}') == [("$.numbers[0]", "int_parsing")]


# Half-filled values


class Price(BaseModel):
    amount: float
    currency: str = "EUR"

    @field_serializer("amount")
    def two_digits(self, amount: float) -> str:
        return f"{amount:.2f}"


class Offer(BaseModel):
    title: str = Field(serialization_alias="Title")
    price: Price | None = None
    until: date | None = None
    hidden: int = Field(default=0, repr=False)
    _seen: int = PrivateAttr(default=7)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def loud(self) -> str:
        return self.title.upper()


def test_half_filled_models_are_good_to_handle() -> None:
    """They have a repr, equality, copies, private attributes, and write themselves out without a warning."""
    prefix = '{"until": "2024-05-01", "price": {"amount": 2.5, "currency": "E'
    offer = shown(Offer, prefix)
    assert repr(offer) == (
        "PartialOffer(title=None, price=PartialPrice(amount=2.5, currency='E'), until=datetime.date(2024, 5, 1))"
    )
    assert offer == shown(Offer, prefix)
    assert offer != shown(Offer, prefix + "U")
    assert offer != shown(Offer, '{"title": "')
    assert copy.deepcopy(offer) == copy.copy(offer) == offer
    assert copy.deepcopy(offer).model_fields_set == {"until", "price"}
    assert offer.model_copy(update={"title": "t"}).title == "t"
    assert offer._seen == 7
    price = {"amount": "2.50", "currency": "E"}
    assert offer.model_dump() == {
        "title": None,
        "price": price,
        "until": date(2024, 5, 1),
        "hidden": None,
        "loud": None,
    }
    assert json.loads(offer.model_dump_json(by_alias=True, exclude={"hidden"})) == {
        "Title": None,
        "price": price,
        "until": "2024-05-01",
        "loud": None,
    }
    assert offer.model_dump(exclude_unset=True) == {"price": price, "until": date(2024, 5, 1)}


def test_half_filled_models_are_written_out_as_their_fields_say() -> None:
    """Leaves are serialized by their own schemas, if these need no definitions."""

    class Written(BaseModel):
        model_config = ConfigDict(alias_generator=str.upper, validate_by_name=True, ser_json_bytes="hex")
        raw: bytes = b""
        coded: bytes = b""
        day: Json[Day] | None = None
        turned: str = ""
        other: Day | None = None

        @field_serializer("raw")
        def in_brackets(self, raw: bytes) -> str:
            return f"<{raw.decode()}>"

        @field_serializer("turned")
        def as_day(self, turned: str) -> Day:
            return Day(subtitle=turned)

    found = shown(
        Written,
        '{"RAW": "a", "coded": "a", "day": "{\\"subtitle\\": \\"b\\"}", "TURNED": "d", "OTHER": {"subtitle": "c',
    )
    assert json.loads(found.model_dump_json()) == {
        "raw": "<a>",
        "coded": "61",
        "day": {"subtitle": "b", "activities": [], "on": None},
        "turned": "d",
        "other": {"subtitle": "c", "activities": None, "on": None},
    }
    assert json.loads(shown(Written, "{").model_dump_json(by_alias=True)) == dict.fromkeys(
        ("RAW", "CODED", "DAY", "TURNED", "OTHER")
    )


def test_half_filled_models_keep_their_extras() -> None:
    """Where extra keys are kept they are shown, under the names that they came with; fields go by their own names."""

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow", frozen=True)
        name: str = Field(alias="Name")

    found = shown(Open, '{"Name": "a", "more": [1, "b')
    assert (found.name, found.more, found.model_extra) == ("a", [1, "b"], {"more": [1, "b"]})
    assert found.model_dump() == {"name": "a", "more": [1, "b"]}
    assert repr(found) == "PartialOpen(name='a', more=[1, 'b'])"
    assert hash(shown(Open, '{"Name": "a')) == hash(shown(Open, '{"Name": "a'))


@dataclasses.dataclass
class Point:
    x: int
    y: int = 5
    tags: list[str] = dataclasses.field(default_factory=list)


@pydantic.dataclasses.dataclass(frozen=True, slots=True)
class Circle:
    centre: Point
    name: str = "circle"


class Cell(NamedTuple):
    row: int
    name: str = "cell"


class Movie(TypedDict):
    title: str
    year: int


class Names(RootModel[list[str]]):
    pass


class Page(BaseModel, Generic[T]):
    items: list[T]
    first: T | None = None


def test_half_filled_values_of_other_classes() -> None:
    """Dataclasses with and without slots, named tuples from arrays and objects, dicts, roots, generic models."""
    circle = shown(Circle, '{"centre": {"x": 1, "tags": ["a')
    assert isinstance(circle, Circle)
    assert isinstance(circle.centre, Point)
    assert repr(circle) == "PartialCircle(centre=PartialPoint(x=1, y=None, tags=['a']), name=None)"
    assert dataclasses.asdict(circle) == {"centre": {"x": 1, "y": None, "tags": ["a"]}, "name": None}
    assert circle == shown(Circle, '{"centre": {"x": 1, "tags": ["a')
    assert TypeAdapter(Any).dump_python(circle) == dataclasses.asdict(circle)
    for prefix in ('[1, "ab', '{"row": 1, "name": "ab'):
        cell = shown(Cell, prefix)
        assert isinstance(cell, Cell)
        assert cell == (1, "ab")
    assert shown(Cell, '{"name": "ab') == (None, "ab")
    assert shown(Movie, '{"year": 1999, "title": "ab') == {"year": 1999, "title": "ab"}
    assert shown(Names, '["a", "b').root == ["a", "b"]
    assert shown(Names, '["a", "b').model_dump_json() == '["a","b"]'
    assert shown(Page[Point], '{"items": [{"x": 1}, {"x": 2').items == [Point(1), shown(Point, '{"x": 2')]
    assert isinstance(shown(Page[Point], "{"), Page)


def test_no_hook_of_the_user_hears_of_half_filled_classes() -> None:
    """Neither of Python's nor of pydantic's; and a whole value is none of them."""
    heard: list[str] = []

    class Base(BaseModel):
        def __init_subclass__(cls, **options: Any) -> None:
            heard.append(cls.__name__)

        @classmethod
        def __pydantic_init_subclass__(cls, **options: Any) -> None:
            heard.append(cls.__name__)

        def model_post_init(self, context: Any, /) -> None:
            heard.append("made")

    class Inner(Base):
        a: int

    heard.clear()
    found = shown(Inner, '{"a": 1, ')
    assert heard == []
    assert isinstance(found, Inner)
    assert not isinstance(Inner(a=1), type(found))
    assert isinstance(Inner(a=1), Inner)

    class Later(Inner):
        pass

    assert not isinstance(Later(a=1), type(found))
    assert isinstance(Later(a=1), Inner)


def test_half_filled_classes_are_classes_of_their_own() -> None:
    """Also where the metaclass remembers who is a subclass of whom."""

    @dataclasses.dataclass
    class Abstract(ABC):
        a: int

    @dataclasses.dataclass
    class Concrete(Abstract):
        b: int = 0

    found = shown(Abstract, '{"a": 1, ')
    assert isinstance(found, Abstract)
    assert not isinstance(Concrete(1), type(found))
    assert isinstance(Concrete(1), Abstract)


def test_half_filled_classes_are_made_once() -> None:
    """Two resolvers of one type show equal values."""
    assert type(shown(Trip, "{")) is type(shown(list[Trip], "[{")[0])


# Policies


class Marked(BaseModel):
    title: Annotated[str, Atomic] = ""
    day: Annotated[Day, Atomic()] | None = None
    days: Annotated[list[Day], WholeItems] = []
    maybe: Annotated[list[Day] | None, WholeItems()] = None
    each: list[Annotated[Day, Atomic]] = []
    plain: Day | None = None


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ('{"title": "ab', None),
        ('{"title": "ab"', "ab"),
        ('{"day": {"subtitle": "ab"', None),
        ('{"day": {"subtitle": "ab"}', Day(subtitle="ab")),
        ('{"days": [{"subtitle": "ab"}, {"subtitle": "c', [Day(subtitle="ab")]),
        ('{"maybe": [{"subtitle": "ab"}, {"subtitle": "c', [Day(subtitle="ab")]),
        ('{"each": [{"subtitle": "ab"}, {"subtitle": "c', [Day(subtitle="ab")]),
    ],
)
def test_markers_say_what_is_shown(prefix: str, expected: Any) -> None:
    """Atomic and WholeItems, as classes and as instances, on fields, on items, inside and outside of unions."""
    name = prefix[2 : prefix.index('"', 2)]
    assert getattr(shown(Marked, prefix), name) == expected
    assert shown(Marked, '{"plain": {"subtitle": "a').plain.subtitle == "a"


def test_markers_can_be_copied_and_pickled() -> None:
    """As other things in annotations can: in both builds."""
    for marker in (Atomic, Atomic(), NotNull(), WholeItems()):
        hint: Any = Annotated[str, marker]
        for copied in (copy.deepcopy(hint), pickle.loads(pickle.dumps(hint))):
            assert type(copied.__metadata__[0]) is type(marker)


def test_markers_change_nothing_for_pydantic() -> None:
    """Neither what is accepted nor the JSON schema."""
    assert Marked.model_validate({"title": "a"}).title == "a"
    properties = Marked.model_json_schema()["properties"]
    assert properties["title"] == {"default": "", "title": "Title", "type": "string"}


def test_not_null_holds_the_object_back() -> None:
    """Until the field is there; the object around it is shown without it."""

    class Item(BaseModel):
        name: str = ""
        id: Annotated[int, NotNull] = Field(alias="ID")

    class Box(BaseModel):
        model_config = ConfigDict(validate_by_name=True)
        items: list[Item] = []
        key: Annotated[str, NotNull] = Field(alias="Key")

    assert shown(list[Item], '[{"name": "a", "ID": 1, "name": "b"}, {"name": "c') == [
        Item.model_validate({"name": "b", "ID": 1})
    ]
    assert shown(Item, '{"name": "a') is None
    assert shown(Box, '{"items": []') is None
    for key in ("key", "Key"):
        assert shown(Box, f'{{"items": [], "{key}": "a').key == "a"
    assert made(Box, '{"items": [], "key": "a"}').key == "a"


# Work once, and identity


def test_unchanged_parts_stay_the_same_objects() -> None:
    """A closed part is made once and stays; also at the end, when what is around it becomes whole."""
    text = json.dumps({"destination": "a", "days": [{"subtitle": "b", "activities": []}, {"subtitle": "c"}]})
    steps = [resolution.value for resolution in trail(Trip, text) if resolution.value is not None]
    with_days = [trip for trip in steps if trip.days and type(trip.days[0]) is Day]
    assert len(with_days) > 10
    assert {id(trip.days[0]) for trip in with_days} == {id(steps[-1].days[0])}
    for older, newer in pairwise(trail(Trip, text)):
        if older.value == newer.value and type(older.value) is type(newer.value):
            assert older.value is newer.value


def test_validators_run_once() -> None:
    """For each value one call, whatever the number of fragments."""
    calls: list[Any] = []

    def count(value: Any) -> Any:
        calls.append(value)
        return value

    class Leaf(BaseModel):
        name: Annotated[str, AfterValidator(count)]
        tags: Annotated[list[str], AfterValidator(count)] = []

        @model_validator(mode="after")
        def count_this(self) -> Self:
            calls.append(self.name.upper())
            return self

    class Tree(BaseModel):
        leaves: Annotated[list[Leaf], AfterValidator(count)]
        late: Annotated[dict[str, Leaf] | None, BeforeValidator(count)] = None

    leaf = {"name": "a", "tags": ["x"]}
    made(Tree, json.dumps({"leaves": [leaf, {"name": "b"}], "late": {"k": {"name": "c"}}}))
    assert sorted(map(repr, calls)) == sorted(
        map(
            repr,
            [
                *("a", ["x"], "A", "b", "B", "c", "C", {"k": {"name": "c"}}),
                [Leaf.model_construct(name="a", tags=["x"]), Leaf.model_construct(name="b")],
            ],
        )
    )


# How early it is known


@pytest.mark.parametrize(
    ("type", "text", "prefix"),
    [
        (Trip, '["a"]', "["),
        (Trip, '{"destination": 5, "days": []}', '{"destination": 5,'),
        (Trip, '{"destination": [5], "days": []}', '{"destination": ['),
        (Trip, '{"days": [{"activities": [{"type": "Sleeping"}]}]}', '{"days": [{"activities": [{"type": "Sl'),
        (Trip, '{"days": [{"on": "2024-05-32"}]}', '{"days": [{"on": "2024-05-32"'),
        (Trip, '{"days": [], "travellers": 0}', '{"days": [], "travellers": 0}'),
        (Trip, '{"days": [{}, 5]}', '{"days": [{}'),
        (Trip, '{"days": []}', '{"days": []}'),
        (models.Sized, '{"few": [1, 2, 3, 4, 5]}', '{"few": [1, 2, 3, 4,'),
        (
            models.Sized,
            '{"few": [1], "members": {"a": 1, "b": 2, "c": 3}}',
            '{"few": [1], "members": {"a": 1, "b": 2, "c": 3}',
        ),
        (Annotated[str, Field(max_length=3)], '"abcdef"', '"abcd'),
        (tuple[int, int], "[1, 2, 3, 4]", "[1, 2, 3,"),
        (dict[date, int], '{"2024-13-01": 1}', '{"2024-13-01": 1}'),
        (Annotated[Cat | Dog, Field(discriminator="kind")], '{"kind": "fish", "a": 1}', '{"kind": "fish"'),
        (Cell, '{"row": 1, "col": "a"}', '{"row": 1, "col": "'),
        (Forbidding, '{"nam": "abc"}', '{"nam": "'),
        (Link, '{"value": 1, "next": {"value": "x"}}', '{"value": 1, "next": {"value": "x"'),
        (Level | None, '"hm"', '"hm'),
    ],
)
def test_invalid_as_soon_as_nothing_can_repair_it(type: Any, text: str, prefix: str) -> None:
    """The wrong kind when it begins, a leaf when it closes, a key or an item too many when its value begins."""
    with pytest.raises(ValidationError):
        TypeAdapter(type).validate_json(text)
    assert first_wrong(type, text) == prefix


def test_problems_say_where() -> None:
    """Paths of the document: no branch of a union and no function is in them, keys are as they were written."""
    trip = {"destination": "a", "days": [{"subtitle": "b", "on": "x"}, {"subtitle": 1}, {}]}
    assert problems(Trip, json.dumps(trip)) == [
        ("$.days[0].on", "date_from_datetime_parsing"),
        ("$.days[1].subtitle", "wrong_kind"),
        ("$.days[2].subtitle", "missing"),
    ]
    text = '{"one": {"a": [1, {"kind": "dog", "name": 5}]}}'
    either = dict[str, Annotated[dict[str, list[int | Cat | Dog]], BeforeValidator(lambda value: value)]]
    assert ("$.one.a[1].name", "string_type") in problems(either, text)
    either_branch = dict[str, list[Cat] | list[Dog]]
    assert ("$.a[0].kind", "missing") in problems(either_branch, '{"a": [{}]}')
    assert problems(Annotated[dict[str, int], Field(min_length=2)], '{"a": 1}') == [("$", "too_short")]
    assert problems(dict[int, int], '{"a": 1}') == [("$.a", "int_parsing")]


SECRET = "XyZsecretZyX"  # no word of any message


def _refuse(value: Any) -> Any:
    raise ValueError(f"not {value}")


def _refuse_by_name(value: Any) -> Any:
    raise PydanticCustomError("by_name", "not {value}", {"value": value})


@pytest.mark.parametrize(
    "type",
    [
        *(int, float, bool, date, datetime, time, timedelta, UUID, Decimal, HttpUrl, Fraction, complex, Json[int]),
        *(Literal["a", "b"], Level, Annotated[str, Field(max_length=3)], Annotated[str, Field(pattern="^a+$")]),
        Annotated[str, AfterValidator(_refuse)],
        Annotated[str, BeforeValidator(_refuse)],
        Annotated[str, AfterValidator(_refuse_by_name)],
        *(int | date, list[int], Cat, Cat | Dog, Annotated[Cat | Dog, Field(discriminator="kind")]),
    ],
)
def test_problems_never_quote_the_text(type: Any) -> None:
    """Problems name the expected value and never quote the text."""
    for value in (SECRET, [SECRET], {"kind": SECRET}, {SECRET: 1}, {"kind": "cat", "name": [SECRET]}):
        for resolution in trail(type, json.dumps(value)):
            assert SECRET not in "".join([problem.expected for problem in resolution.problems])
            assert all(problem.expected for problem in resolution.problems)


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        (UUID, '"x"', "a valid UUID"),
        (date, '"x"', "a valid date or datetime"),
        (int, '"x"', "a valid integer, unable to parse string as an integer"),
        (int, "[", "an integer"),
        (Annotated[int, Field(ge=3)], "1 ", "greater than or equal to 3"),
        (Annotated[str, Field(min_length=3)], '"x"', "have at least 3 characters"),
        (Annotated[str, Field(pattern="^a$")], '"x"', "match pattern '^a$'"),
        (Annotated[list[int], Field(max_length=1)], "[1, [", "an array of at most 1 items"),
        (Annotated[set[int], Field(max_length=1)], "[1, 2]", "have at most 1 item after validation"),
        (Literal["a", 1], '"x"', '"a" or 1'),
        (Level, "1 ", "'low', 'high' or 'highest'"),
        (Cat, "{}", "a required key"),
        (Cat, "[", "an object"),
    ],
)
def test_problems_say_what_was_expected(type: Any, text: str, expected: str) -> None:
    """In words, with the limits of the type."""
    assert trail(type, text, close=False)[-1].problems[0].expected == expected


SAMPLES: dict[str, list[Any]] = {
    "string": [
        "",
        "a",
        "1",
        "true",
        "yes",
        "nan",
        "2024-05-01",
        "10:30",
        "P1D",
        "0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e",
    ],
    "number": [0, 1, -1, 1.0, 0.5, 86400],
    "boolean": [True, False],
    "null": [None],
    "array": [[], [1], ["a"]],
    "object": [{}, {"a": 1}],
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "leaf",
    [
        *(
            str,
            bytes,
            int,
            float,
            bool,
            None,
            date,
            datetime,
            time,
            timedelta,
            UUID,
            Decimal,
            Fraction,
            complex,
            HttpUrl,
        ),
        *(Level, Literal["a", 1], Literal[True, None], Literal[1], Json[int], enum.IntEnum("Few", "ONE TWO")),
    ],
)
def test_no_kind_is_refused_that_pydantic_takes(leaf: Any, strict: bool) -> None:
    """The kinds that may begin are a superset of those that pydantic accepts, strictly or not."""
    config = ConfigDict(strict=strict, coerce_numbers_to_str=not strict)
    holder = pydantic.create_model("Holder", __config__=config, value=(leaf, ...))
    adapter = TypeAdapter(holder)
    shape = from_pydantic(holder)
    for kind, values in SAMPLES.items():
        for value in values:
            text = json.dumps({"value": value})
            try:
                expected = adapter.validate_json(text)
            except ValidationError:
                assert isinstance(trail(shape, text)[-1], Invalid)
            else:
                assert repr(made(shape, text)) == repr(expected)  # nan is not equal to itself
                assert kind in kinds_of(shape.fields["value"].shape)  # type: ignore[attr-defined]


# Types that are refused, and limits


@dataclasses.dataclass
class Odd:
    fine: int
    inner: dict[str, list[Node]]


class Arbitrary(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    fine: int = 0
    nodes: list[Node] = []


class Unfinished(BaseModel):
    later: NotYet  # type: ignore[name-defined]  # noqa: F821


def test_types_that_cannot_be_described_are_refused_with_their_path() -> None:
    """When the shape is made: what pydantic refuses, and what no JSON text can become."""
    refusals: list[tuple[Any, str]] = [
        (5, "$"),
        (Odd, "$.inner[*][*]"),
        (Arbitrary, "$.nodes[*]"),
        (list[Callable[[], int]], "$[*]"),
        (Unfinished, "$"),
    ]
    for refused, path in refusals:
        with pytest.raises(OptionsError) as caught:
            from_pydantic(refused)
        assert str(caught.value).startswith(f"{path}: ")


def test_what_no_text_can_become_may_be_absent() -> None:
    """A field that has a default does not make its model useless."""

    class Task(BaseModel):
        name: str
        run: Callable[[], int] | None = None
        hook: Callable[[], int] = int

    assert made(Task, '{"name": "a", "run": null}').name == "a"
    assert first_wrong(Task, '{"name": "a", "run": 1}') == '{"name": "a", "run": 1}'
    assert first_wrong(Task, '{"name": "a", "hook": {"a": 1}}') == '{"name": "a", "hook": {'


def nested(depth: int) -> Any:
    made: Any = int
    for _ in range(depth):
        made = list[made]
    return made


def test_deep_types_are_refused() -> None:
    """Deeper than any text may be by default. A type that contains itself is not deep."""
    shape = from_pydantic(nested(100))
    assert made(shape, "[" * 100 + "1" + "]" * 100) == TypeAdapter(nested(100)).validate_json(
        "[" * 100 + "1" + "]" * 100
    )
    with pytest.raises(OptionsError, match="deeper than 128"):
        from_pydantic(nested(130))
    chain = '{"value":1,"next":' * 120 + "null" + "}" * 120
    assert made(Link, chain) == Link.model_validate_json(chain)


def test_huge_literals_are_told_by_their_beginning() -> None:
    """However many there are."""
    options = tuple(f"option {index:06}" for index in range(5000))
    shape = from_pydantic(Literal[options])
    assert first_wrong(shape, '"option 9"') == '"option 9'
    assert made(shape, '"option 004321"') == "option 004321"
    assert len(trail(shape, '"x"')[-1].problems[0].expected) < 100


def test_a_missing_extra_says_what_to_install() -> None:
    """Without pydantic the library works, but for its types."""
    program = (
        "import sys; sys.modules['pydantic'] = None\n"
        "import unspool.typed as typed\n"
        "try:\n    typed.partial(int)\nexcept ImportError as error:\n    print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env={"PYTHONPATH": ":".join([str(PROJECT / "src"), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "unspool[pydantic]" in found.stdout


# The text of a node


def test_nodes_are_written_as_they_were_read() -> None:
    """Numbers as they were spelled, keys that come twice, no white space, any depth."""
    text = '{"a":[1.10,-0,1e2,true,null,"é\\"\\n"],"a":{},"":[[],{"b":[{}]}]}'
    for source in (text, text.replace(",", " ,\n ")):
        root = parse_chunk(create_state(), source).root
        assert root is not None
        assert json_text(root) == text
    deep = "[" * 100 + "]" * 100
    root = parse_chunk(create_state(), deep).root
    assert root is not None
    assert json_text(root) == deep
    for seed in range(20):
        value = anything(Random(seed))
        root = finalize(parse_chunk(create_state(), json.dumps(value))).root
        assert root is not None
        assert json.loads(json_text(root)) == value


def test_resolutions_know_what_is_missing() -> None:
    """The required fields that are not there yet, in what has begun."""
    found = trail(Trip, '{"days": [{"activities": [{"title": "a', close=False)[-1]
    assert isinstance(found, Partial)
    assert found.missing == (
        Path.of("destination"),
        Path.of("days", 0, "subtitle"),
        Path.of("days", 0, "activities", 0, "type"),
    )


def test_models_of_pydantic_1_are_refused() -> None:
    """A model of the old pydantic is judged as a whole by its own code, so it is refused, also inside a type."""
    old = pytest.importorskip("pydantic.v1")

    class Old(old.BaseModel):  # type: ignore[name-defined, misc]
        a: int

    for hint in (Old, list[Old], dict[str, list[Old]], Old | None):
        with pytest.raises(OptionsError, match=r"pydantic\.v1"):
            from_pydantic(hint)
