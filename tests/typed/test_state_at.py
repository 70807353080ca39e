"""`state_at`: whether the value at a path is pending, growing or complete. And `get`, for parts that may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import pytest

pytest.importorskip("pydantic")

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, RootModel, model_validator

from unspool import Path, create_state, parse_chunk
from unspool.typed import Complete, InvalidError, WholeItems, iter_partial, partial

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = {"pending": "-", "growing": "~", "complete": "+"}


def states_at(hint: Any, fragments: Sequence[str], *paths: str) -> list[str]:
    """The states of the paths after each fragment: - pending, ~ growing, + complete."""
    resolver, state, cache = partial(hint), create_state(), None
    found: list[str] = []
    for fragment in fragments:
        state = parse_chunk(state, fragment)
        resolution, cache = resolver.resolve(state, cache)
        found.append("".join(MARKS[resolution.state_at(path)] for path in paths))
    return found


class Place(BaseModel):
    city: str
    size: int = 3


class Trip(BaseModel):
    title: str
    places: list[Place] = []
    home: Place = Place(city="Faro")
    by_day: dict[str, Place] = {}
    words: set[str] = set()
    rooms: set[Annotated[str, Field(min_length=1)]] = set()


class StructPlace(msgspec.Struct):
    city: str
    size: int = 3


class StructTrip(msgspec.Struct):
    title: str
    places: list[StructPlace] = []
    home: StructPlace = msgspec.field(default_factory=lambda: StructPlace("Faro"))
    by_day: dict[str, StructPlace] = {}
    words: set[str] = set()
    rooms: set[Annotated[str, msgspec.Meta(min_length=1)]] = set()


PLACE = {"type": "object", "properties": {"city": {"type": "string"}, "size": {"type": "integer"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "places": {"type": "array", "items": PLACE},
        "home": PLACE,
        "by_day": {"type": "object", "additionalProperties": PLACE},
        "words": {"type": "array", "items": {"type": "string"}},
        "rooms": {"type": "array", "items": {"type": "string", "minLength": 1}},
    },
}
of_every_library = pytest.mark.parametrize("hint", [Trip, StructTrip, SCHEMA], ids=["pydantic", "msgspec", "schema"])


@of_every_library
def test_a_value_is_pending_then_growing_then_complete(hint: Any) -> None:
    """A string is growing from its opening quote on, and a number is complete with the character behind it."""
    fragments = ['{"title": "', "Por", 'to"', ', "home": {"size": 1', "2", ', "city": "x"', "}", "}"]
    assert states_at(hint, fragments, "title", "home", "home.size", "home.city", "$") == [
        *["~---~", "~---~", "+---~", "+~--~"],
        *["+~--~", "+~++~", "++++~", "+++++"],
    ]


@of_every_library
def test_items_and_members(hint: Any) -> None:
    """Places in lists, and values of dicts, have states of their own; a place that never comes stays pending."""
    fragments = ['{"places": [{"city": "A"', '}, {"city": "B', '"}', "]"]
    paths = ["places[0].city", "places[0]", "places[1].city", "places[1]", "places", "places[2]"]
    assert states_at(hint, fragments, *paths) == ["+~--~-", "++~~~-", "++++~-", "+++++-"]
    fragments = ['{"by_day": {"mo": {"city": "A"', '}, "tu.": {"city": "B', '"}', "}"]
    paths = ["by_day.mo.city", "by_day.mo", '$.by_day["tu."].city', 'by_day["tu."]', "by_day", "by_day.we"]
    assert states_at(hint, fragments, *paths) == ["+~--~-", "++~~~-", "++++~-", "+++++-"]


@of_every_library
def test_sets(hint: Any) -> None:
    """The places are those in the text. An item that comes twice has two of them."""
    fragments = ['{"words": ["b', '", "a", "b"', '], "rooms": ["x', '", "y', '"]']
    paths = ["words[0]", "words[1]", "words[2]", "words", "rooms[0]", "rooms[1]", "rooms"]
    assert states_at(hint, fragments, *paths) == ["~--~---", "+++~---", "++++~-~", "+++++~~", "+++++++"]


@pytest.mark.parametrize("hint", [Trip, StructTrip], ids=["pydantic", "msgspec"])
def test_defaults_are_complete_with_their_object(hint: Any) -> None:
    """Also the fields inside a default. A name that is no field stays pending."""
    fragments = ['{"title": "a", "places": [{"city": "A"', "}]", "}"]
    paths = ["places[0].size", "home", "home.city", "home.size", "words", "places[0].nothing", "nothing"]
    assert states_at(hint, fragments, *paths) == ["-------", "+------", "+++++--"]


def test_the_defaults_of_an_invalid_object_stay_pending() -> None:
    """Nothing in an object that was refused becomes complete."""
    paths = ["$[0].city", "$[0].size", "$[1].size", "$"]
    assert states_at(list[Place], ['[{"city": 1', '}, {"city": "B"', "}", "]"], *paths)[-1] == "~-+~"


def test_a_schema_has_no_defaults() -> None:
    """A value of a schema lacks the keys that the text left out, whatever their `default`."""
    schema = {"properties": {"a": {"default": 1}, "b": {}}}
    assert states_at(schema, ['{"b": 2', "}"], "a", "b", "$")[-1] == "-++"


class Draft(BaseModel):
    inner: Place

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        return value


def test_everything_in_a_draft_is_growing() -> None:
    """A validator sees the object as it was written, so nothing in it is complete before it closes."""
    fragments = ['[{"inner": {"city": "A", "size": 1}', "}", "]"]
    paths = ["$[0].inner.city", "$[0].inner", "$[0]", "$[0].inner.other"]
    assert states_at(list[Draft], fragments, *paths) == ["~~~-", "+++-", "+++-"]
    numbers = Annotated[list[int], BeforeValidator(lambda value: value)]
    assert states_at(numbers, ["[1, 2", ", 3", "]"], "$[0]", "$[1]", "$[2]", "$") == ["~--~", "~~-~", "++++"]
    schema = {"contains": {"const": 7}}
    assert states_at(schema, ["[7, 2", "]"], "$[0]", "$[1]", "$") == ["~-~", "+++"]


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    size: int = Field(alias="Size")
    text: str = Field(default="", validation_alias=AliasChoices("Text", "TEXT"))


class Deep(BaseModel):
    size: int
    deep: int = Field(default=0, validation_alias=AliasPath("more", "deep"))


def test_second_names() -> None:
    """The first name may still come and win: a value under a second one is complete with the object."""
    paths = ["Size", "size", "Text", "TEXT"]
    fragments = ['{"TEXT": "a', '", "size": 1, ', '"Size": 2, "Text": "b"', "}"]
    assert states_at(Named, fragments, *paths) == ["---~", "-~-~", "+~+~", "++++"]
    assert states_at(Deep, ['{"size": 1, "more": {"deep": 5}', "}"], "size", "more.deep", "more") == ["~~~", "+++"]
    struct = msgspec.defstruct("Renamed", [("size", int)], rename={"size": "Size"})
    assert states_at(struct, ['{"Size": 1', ", ", "}"], "Size", "size")[-1] == "+-"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


@pytest.mark.parametrize(
    "hint", [Cat | Dog, Annotated[Cat | Dog, Field(discriminator="kind")]], ids=["plain", "tagged"]
)
def test_unions(hint: Any) -> None:
    """What comes before the branch is known is growing until then."""
    assert states_at(list[hint], ['[{"lives": 9, ', '"kind": "cat"', "}]"], "$[0].lives", "$[0].kind", "$[0]") == [
        *["~-~", "++~", "+++"],
    ]


def test_values_that_are_held_back_are_growing() -> None:
    """What is not shown yet has begun in the text."""
    hint = list[Annotated[list[str], WholeItems]]
    (first, *_) = iter_partial(hint, ['[["a", "b', '"]]'])
    assert first.value == [["a"]]
    assert [first.state_at(f"[0][{index}]") for index in range(3)] == ["complete", "growing", "pending"]


def test_invalid_values_are_never_complete() -> None:
    """What was complete before the problem stays complete."""
    fragments = ['{"title": "a", "home": {"city": "b", "size": "x"', "}", "}"]
    assert states_at(Trip, fragments, "title", "home.city", "home.size", "home", "$")[-1] == "++~~~"
    with pytest.raises(InvalidError) as caught:
        list(iter_partial(Trip, fragments))
    assert caught.value.invalid.state_at("home.size") == "growing"


def test_paths_of_every_kind() -> None:
    """Text with or without ``$.``, a `Path` and a tuple of steps; a path that leads through a leaf is pending."""

    @dataclass
    class Point:
        x: int
        tags: list[str]

    first, last = iter_partial(Point, ['{"x": 1, "tags": ["a', '"]}'])
    for path in ("$.tags[0]", "tags[0]", Path.parse("$.tags[0]"), ("tags", 0)):
        assert first.state_at(path) == "growing"
        assert last.state_at(path) == "complete"
    for path in ("x.y", "tags.y", "[0]", "tags[0][0]", "tags[7]"):
        assert first.state_at(path) == "pending"
        assert last.state_at(path) == "pending"


def test_roots_that_are_no_objects() -> None:
    """The root has a state, too."""
    assert states_at(RootModel[list[int]], ["[1", ", 2", "]"], "$", "$[0]", "$[1]") == ["~--", "~+-", "+++"]
    assert states_at(str, ['"a', '"'], "$") == ["~", "+"]


# get


def test_get_returns_what_is_there_and_none_for_what_is_missing() -> None:
    """A part that is missing on the way makes it None. Other errors of the function are the caller's."""
    first, last = iter_partial(Trip, ['{"title": "a", "places": [{"city": "Fa', 'ro"}], "by_day": {}}'])
    assert first.get(lambda trip: trip.places[-1].city) == "Fa"
    assert first.get(lambda trip: trip.home.city) is None
    assert first.get(lambda trip: trip.places[1].city) is None
    assert first.get(lambda trip: trip.by_day["mo"].city) is None
    assert last.get(lambda trip: trip.home.city) == "Faro"
    assert last.get(lambda trip: trip.by_day["mo"].city) is None
    assert isinstance(last, Complete)
    with pytest.raises(ZeroDivisionError):
        first.get(lambda _: 1 // 0)
