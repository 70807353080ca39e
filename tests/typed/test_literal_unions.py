"""Unions without a discriminator, whose branches list different values: what decides, and when."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)
from typing_extensions import TypedDict

from unspool import create_state, finalize, parse_chunk
from unspool.typed import Complete, Invalid, InvalidError, Missing, iter_partial, partial
from unspool.typed._shape import KeySearch

if TYPE_CHECKING:
    from unspool.typed import Resolution


class Walk(BaseModel):
    kind: Literal["walk"]
    steps: int


class Meal(BaseModel):
    kind: Literal["meal"]
    dishes: list[str]


class Ride(BaseModel):
    kind: Literal["ride"] = "ride"
    by: Literal["tram", "bus"] | None = None
    stops: list[str] = []


class Color(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Painted(BaseModel):
    color: Literal[Color.RED]
    coats: list[str]


class Dyed(BaseModel):
    color: Literal[Color.BLUE]
    baths: list[str]


class First(BaseModel):
    version: Literal[1]
    names: list[str]


class Second(BaseModel):
    version: Literal[2, 3]
    titles: list[str]


class Named(BaseModel):
    kind: Literal["named"] = Field(alias="theKind")
    text: str


class Titled(BaseModel):
    kind: Literal["titled"] = Field(alias="theKind")
    text: str


class Both(BaseModel):
    size: Literal["s", "l"]
    kind: Literal["a", "b"]
    notes: list[str]


class Other(BaseModel):
    size: Literal["l", "xl"]
    kind: Literal["b", "c"]
    notes: list[str]


class Entry(TypedDict):
    kind: Literal["entry"]
    text: str


@dataclass
class Record:
    kind: Literal["record"]
    text: str


class Raw(BaseModel):
    kind: Literal["raw"]

    @model_validator(mode="before")
    @classmethod
    def _any(cls, value: Any) -> Any:
        return {"kind": "raw"} if value.get("kind") == "cooked" else value


def shown(union: Any, text: str) -> tuple[str, str]:
    """How much of the text it takes until something is shown, and the name of its class."""
    resolver = partial(union)
    state, cache = create_state(), None
    for end, character in enumerate(text, 1):
        state = parse_chunk(state, character)
        resolution, cache = resolver.resolve(state, cache)
        if not isinstance(resolution, Missing):
            return text[:end], type(resolution.value).__name__
    return "", ""


@pytest.mark.parametrize(
    ("type", "text", "until", "name"),
    [
        (Walk | Meal, '{"kind": "meal", "dishes": ["soup"]}', '{"kind": "meal"', "PartialMeal"),
        (Walk | Meal | None, '{"kind": "walk", "steps": 1}', '{"kind": "walk"', "PartialWalk"),
        (Walk | Meal, '{"steps": 1, "kind": "walk"}', '{"steps": 1, "kind": "walk"', "PartialWalk"),
        (Walk | Meal | Ride, '{"kind": "ride", "stops": []}', '{"kind": "ride"', "PartialRide"),
        (Walk | Ride, '{"stops": ["a"]}', '{"stops": ["a"]}', "Ride"),
        (Painted | Dyed, '{"color": "blue", "baths": []}', '{"color": "blue"', "PartialDyed"),
        (First | Second, '{"version": 3, "titles": []}', '{"version": 3,', "PartialSecond"),
        (First | Second | str, '{"version": 1, "names": []}', '{"version": 1,', "PartialFirst"),
        (Named | Titled, '{"theKind": "titled", "text": ""}', '{"theKind": "titled"', "PartialTitled"),
        (Both | Other, '{"size": "l", "kind": "a", "notes": []}', '{"size": "l", "kind": "a"', "PartialBoth"),
        (Both | Other, '{"size": "l", "kind": "b", "notes": []}', '{"size": "l", "kind": "b", "notes": []}', "Both"),
        (Entry | Record, '{"kind": "record", "text": ""}', '{"kind": "record"', "PartialRecord"),
        (Entry | Record, '{"kind": "entry", "text": ""}', '{"kind": "entry"', "dict"),
        (Walk | Raw, '{"kind": "cooked", "x": 1}', '{"kind": "cooked"', "PartialRaw"),
        (Walk | dict[str, Any], '{"kind": "meal"}', '{"kind": "meal"', "dict"),
        (Walk | dict[str, Any], '{"kind": "walk", "steps": 1}', '{"kind": "walk", "steps": 1}', "Walk"),
        (
            Annotated[Walk | Meal, Field(discriminator="kind")] | Ride,
            '{"kind": "meal", "dishes": []}',
            '{"kind": "meal"',
            "PartialMeal",
        ),
        (
            Annotated[Walk | Meal, Field(union_mode="left_to_right")],
            '{"kind": "meal", "dishes": []}',
            '{"kind": "meal"',
            "PartialMeal",
        ),
    ],
    ids=str,
)
def test_the_moment(type: Any, text: str, until: str, name: str) -> None:
    """A branch is shown as soon as the closed members rule out all others, and not before."""
    assert shown(type, text) == (until, name)
    resolution, _ = partial(type).resolve(finalize(parse_chunk(create_state(), text)))
    assert isinstance(resolution, Complete)
    assert resolution.value == TypeAdapter(type).validate_json(text)


def test_streams_like_a_discriminated_union() -> None:
    """With and without a discriminator, the same values are shown."""

    class Plain(BaseModel):
        parts: list[Walk | Meal]

    class Tagged(BaseModel):
        parts: list[Annotated[Walk | Meal, Field(discriminator="kind")]]

    text = '{"parts": [{"kind": "meal", "dishes": ["soup", "rice"]}, {"steps": 3, "kind": "walk"}]}'
    plain = [one.value.model_dump(warnings=False) for one in iter_partial(Plain, text)]
    tagged = [one.value.model_dump(warnings=False) for one in iter_partial(Tagged, text)]
    assert plain == tagged


def test_no_branch_is_left() -> None:
    """A value that no branch lists is invalid when it is complete, at the path of the member."""
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(list[Walk | Meal], ['[{"kind": "swim"', ', "steps": 1}]']))
    assert str(wrong.value) == "unknown_tag: $[0].kind: expected a known 'kind'"
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(list[Walk | Meal], ['[{"kind": [']))
    assert str(wrong.value) == "unknown_tag: $[0].kind: expected a known 'kind'"


def test_a_literal_under_a_second_name_decides_nothing() -> None:
    """The first name may still come, and wins."""

    class One(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        kind: Literal["one"] = Field(alias="type")
        size: int

    class Two(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        kind: Literal["two"] = Field(alias="type")
        name: str

    text = '[{"kind": "one", "type": "two", "name": "x"}, {"kind": "one", "size": 1}, {"type": "two", "name": "y'
    hint: Any = list[One | Two]
    *_, last = iter_partial(hint, [*text, '"}]'])
    assert last.value == TypeAdapter(hint).validate_json(text + '"}]')
    shown = partial(hint).resolve(parse_chunk(create_state(), text))[0].value
    assert [type(one).__name__ for one in shown] == ["Two", "One", "PartialTwo"]


def test_fields_that_are_missing() -> None:
    """`missing` knows the branch as soon as it is decided."""
    first, *_ = iter_partial(Walk | Meal, ['{"kind": "meal"', ', "dishes": []}'])
    assert [str(path) for path in first.missing] == ["$.dishes"]


def test_validators_of_other_branches_do_not_run() -> None:
    """Once a branch is decided, only its validators run, each once."""
    seen: list[str] = []

    def counting(name: str) -> Any:
        def count(value: str) -> str:
            seen.append(f"{name} {value}")
            return value

        return AfterValidator(count)

    class Left(BaseModel):
        kind: Literal["left"]
        text: Annotated[str, counting("left")]

    class Right(BaseModel):
        kind: Literal["right"]
        text: Annotated[str, counting("right")]

    *_, last = iter_partial(list[Left | Right], '[{"kind": "right", "text": "a"}, {"text": "b", "kind": "left"}]')
    assert last.is_complete
    assert seen == ["right a", "left b"]


# Any union

field: Any = Field
KEYS = ["kind", "size", "n"]
LISTED: list[Any] = ["a", "b", "ab", 1, 2, 0, True, False, None, Color.RED, Color.BLUE]
VALUES: list[Any] = ["a", "b", "ab", "1", 1, 2, 0, 1.0, True, False, None, "red", "blue", [], {}, "x"]


def random_model(random: Random, number: int) -> Any:
    """A model with a few members that list their values, and a few that do not."""
    fields: dict[str, Any] = {}
    for key in KEYS:
        if random.random() < 0.7:
            values = random.sample(LISTED, random.choice((1, 1, 1, 2, 3)))
            hint: Any = Literal[tuple(values)]
            if random.random() < 0.2:
                hint = hint | None
            options: dict[str, Any] = {}
            if random.random() < 0.3:
                options["default"] = values[0]
            if random.random() < 0.2:
                options["alias"] = random.choice(KEYS) + random.choice(("", "2"))
            fields[key] = (hint, field(**options))
    fields["text"] = (random.choice((str, int, list[str])), random.choice((..., None)))
    config = ConfigDict(extra=random.choice(("ignore", "forbid", "allow")), populate_by_name=random.random() < 0.2)
    return create_model(f"Model{number}", __config__=config, **fields)


def random_union(random: Random, depth: int = 0) -> Any:
    """A union of such models, sometimes inside another one, sometimes with other types."""
    branches = [random_model(random, number) for number in range(random.choice((2, 2, 3, 4)))]
    if depth == 0 and random.random() < 0.3:
        branches.append(Annotated[random_union(random, 1), Field(description="inner")])
    branches += random.sample([str, None, int, dict[str, int], list[int]], random.choice((0, 0, 1)))
    mode = random.choice(("smart", "smart", "left_to_right"))
    return Annotated[Union[tuple(branches)], field(union_mode=mode)]  # noqa: UP007


def random_document(random: Random) -> Any:
    """An object that may fit some of them."""
    if random.random() < 0.05:
        return random.choice(VALUES)
    keys = random.sample([*KEYS, "text", "kind2", "size2"], random.randrange(1, 6))
    return {key: random.choice(["x", 1, ["y"]] if key == "text" else VALUES) for key in keys}


def steps(type: Any, text: str) -> list[Resolution[Any]]:
    """The resolution after each character, and at the end."""
    resolver = partial(type)
    state, cache = create_state(), None
    found: list[Resolution[Any]] = []
    for character in text:
        state = parse_chunk(state, character)
        resolution, cache = resolver.resolve(state, cache)
        found.append(resolution)
    resolution, _ = resolver.resolve(finalize(state), cache)
    fresh, _ = resolver.resolve(finalize(parse_chunk(create_state(), text)))
    assert (fresh.__class__, fresh.value, fresh.problems) == (
        resolution.__class__,
        resolution.value,
        resolution.problems,
    )
    return [*found, resolution]


@pytest.mark.parametrize("seed", range(40))
def test_any_union(seed: int) -> None:
    """Verdict and value are those of pydantic, no prefix of a valid text is invalid, and a shown branch stays."""
    check_unions(Random(seed), 5)


@pytest.mark.long
def test_many_unions() -> None:
    """The same, for many more."""
    check_unions(Random("many"), 3000)


def check_unions(random: Random, count: int) -> None:
    """Compare some unions with pydantic, each for some documents."""
    for _ in range(count):
        union = random_union(random)
        adapter = TypeAdapter[Any](union)
        for _ in range(12):
            text = json.dumps(random_document(random))
            found = steps(union, text)
            try:
                value = adapter.validate_json(text)
            except ValidationError:
                assert isinstance(found[-1], Invalid), text
                continue
            assert not any(one.invalid for one in found), text
            assert isinstance(found[-1], Complete), text
            assert (found[-1].value.__class__, found[-1].value) == (value.__class__, value), text
            names = {
                one.value.__class__.__name__.removeprefix("Partial")
                for one in found
                if not isinstance(one, Missing) and isinstance(one.value, BaseModel)
            }
            assert len(names) <= 1, text


# A key after many others


class CountingKey(str):
    """A key that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        CountingKey.compared += 1
        return str(self) == str(other)

    __hash__ = str.__hash__


def test_a_key_is_searched_once() -> None:
    """The search goes on where the last one ended, so all fragments together look at each key about once."""
    CountingKey.compared = 0
    search = KeySearch(CountingKey("kind"))
    state = parse_chunk(create_state(), "{")
    for number in range(300):
        state = parse_chunk(state, f'"k{number}": {number}, ')
        assert state.root is not None
        assert search.place(state.root) == -1
    other = parse_chunk(state, '"kind": 1, ')
    assert other.root is not None
    assert CountingKey.compared <= 600
    state = parse_chunk(state, '"last": 1, "kind": 2, ')
    assert state.root is not None
    for _ in range(3):  # two futures of one past
        assert search.place(other.root) == 300
        assert search.place(state.root) == 301
    search.forget()
    assert search.place(other.root) == 300
