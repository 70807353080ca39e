"""When a value is complete, what is missing, what validators may raise, and how half-filled models are written out."""

from __future__ import annotations

import dataclasses
import enum
import json
import warnings
from datetime import date
from random import Random
from typing import Annotated, Any, Literal, NotRequired, Self

import attrs
import msgspec
import pydantic.dataclasses
import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    RootModel,
    ValidationInfo,
    WrapSerializer,
    WrapValidator,
    computed_field,
    field_serializer,
    field_validator,
    model_validator,
)
from typing_extensions import TypeAliasType, TypedDict

from tests.support.models import CASES
from unspool import create_state, parse_chunk
from unspool.typed import Invalid, InvalidError, iter_changes, iter_partial, partial


def complete(hint: Any, text: str, path: str) -> str:
    """How much of the text it takes until the value at a path is complete. It stays so."""
    read = ""

    def fragments() -> Any:
        nonlocal read
        for character in text:
            read += character
            yield character

    answers = [(read, one.is_complete_at(path)) for one in iter_partial(hint, fragments(), on_invalid="ignore")]
    told = [answer for _, answer in answers]
    assert told == sorted(told)
    return next((prefix for prefix, answer in answers if answer), "never")


class Inner(BaseModel):
    size: int
    name: str = ""


class Before(Inner):
    @model_validator(mode="before")
    @classmethod
    def double(cls, value: Any) -> Any:
        return {**value, "size": 2 * value["size"]} if isinstance(value, dict) and "size" in value else value


class Around(Inner):
    @model_validator(mode="wrap")
    @classmethod
    def check(cls, value: Any, handler: Any) -> Any:
        return handler(value)


class After(Inner):
    @model_validator(mode="after")
    def check(self) -> Self:
        if self.size > 9:
            raise ValueError("too large")
        return self


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    size: int = Field(alias="Size")
    name: Annotated[str, AfterValidator(str.upper)] = Field(validation_alias=AliasChoices("Name", "NAME"))


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    lives: str


TEXT = '{"size": 1 , "name": "a" }'


@pytest.mark.parametrize(
    ("hint", "text", "path", "expected"),
    [
        (Inner, TEXT, "$.size", '{"size": 1 '),
        (Before, TEXT, "$.size", TEXT),
        (Around, TEXT, "$.name", TEXT),
        (After, TEXT, "$.size", '{"size": 1 '),
        (After, '{"size": 10 , "name": "a" }', "$.size", '{"size": 10 '),
        (After, '{"size": 10 , "name": "a" }', "$", "never"),
        (list[Before], f"[{TEXT}]", "$[0].size", f"[{TEXT}"),
        (Annotated[list[int], BeforeValidator(lambda value: value)], "[1, 2]", "$[0]", "[1, 2]"),
        (Annotated[list[int], WrapValidator(lambda value, handler: handler(value))], "[1, 2]", "$[0]", "[1, 2]"),
        (Annotated[list[int], AfterValidator(lambda value: value)], "[1, 2]", "$[0]", "[1,"),
        (Named, '{"Size": 1 , "Name": "a" }', "$.Size", '{"Size": 1 '),
        (Named, '{"size": 1 , "Name": "a" }', "$.size", '{"size": 1 , "Name": "a" }'),
        (Named, '{"Size": 1 , "NAME": "a" }', "$.NAME", '{"Size": 1 , "NAME": "a" }'),
        (Annotated[Cat | Dog, Field(discriminator="kind")], '{"lives": 9, "kind": "cat" }', "$.lives", None),
        (Annotated[Cat | Dog, Field(discriminator="kind")], '{"lives": 9, "kind": "dog" }', "$.lives", "never"),
        (Inner | list[int] | Cat, '{"size": 1 }', "$.size", '{"size": 1 }'),
    ],
)
def test_complete_means_judged(hint: Any, text: str, path: str, expected: str | None) -> None:
    """Nothing is complete that a validator, another name or a discriminator can still take back."""
    assert complete(hint, text, path) == (text[:-2] if expected is None else expected)


def test_missing_lists_fields_with_several_names() -> None:
    """Under the first of their names, until one of them has begun."""
    partials = list(iter_partial(Named, ["{", '"NAME": "a"', ', "size": 1 ', "}"]))
    assert [[str(path) for path in one.missing] for one in partials] == [["$.Size", "$.Name"], ["$.Size"], [], []]


def test_a_value_under_a_second_name_is_judged_like_one_under_the_first() -> None:
    """Its validators run when it closes, and a wrong one is not shown. The first name may still come and win."""
    shown = [one.value.name for one in iter_partial(Named, ['{"NAME": "a', 'b"', ', "Size": 1 ', "}"])]
    assert shown == [None, "AB", "AB", "AB"]
    texts = ['{"NAME": 1 ', ', "Size": 1 ', ', "Name": "x"}']
    partials = list(iter_partial(Named, texts))
    assert [one.value.name for one in partials] == [None, None, "X"]
    with pytest.raises(InvalidError) as caught:
        list(iter_partial(Named, [*texts[:2], "}"]))
    assert str(caught.value.path) == "$.NAME"


def test_validators_that_read_data_see_what_pydantic_shows_them() -> None:
    """In the order of the class, whatever the order of the text; with defaults, only at the end."""
    calls: list[Any] = []

    class Reading(BaseModel):
        first: int = 7
        second: str = Field(default="", alias="Second")
        third: list[int]

        @field_validator("third")
        @classmethod
        def read(cls, value: list[int], info: ValidationInfo) -> list[int]:
            calls.append(dict(info.data))
            return [*value, info.data["first"]]

    def run(*fragments: str) -> list[Any]:
        calls.clear()
        partials = list(iter_partial(Reading, fragments))
        assert partials[-1].value == Reading.model_validate_json("".join(fragments))
        calls.pop()  # of pydantic itself
        assert len(calls) == 1
        return [one.value.third for one in partials]

    assert run('{"first": 1, "Second": "a", "third": [5]', "}") == [[5, 1], [5, 1]]
    assert run('{"third": [5]', ', "first": 1, "Second": "a"', "}") == [[5], [5, 1], [5, 1]]
    assert run('{"third": [5]', ', "first": 1 ', "}") == [[5], [5], [5, 1]]
    assert calls == [{"first": 1, "second": ""}]


def _unlike_first(value: Any, info: ValidationInfo) -> Any:
    if value == info.data.get("first"):
        raise ValueError("the same as the first")
    return value.upper() if isinstance(value, str) else value


class Unlike(BaseModel):
    first: str
    word: Annotated[str, AfterValidator(_unlike_first)] = ""
    either: Annotated[str | int, AfterValidator(_unlike_first)] = 0
    words: list[Annotated[str, AfterValidator(_unlike_first)]] = []


@dataclasses.dataclass
class UnlikeData:
    first: str
    word: Annotated[str, AfterValidator(_unlike_first)] = ""


class UnlikeDict(TypedDict):
    first: str
    word: Annotated[str, AfterValidator(_unlike_first)]


@pytest.mark.parametrize("hint", [Unlike, UnlikeData, UnlikeDict])
def test_a_string_is_not_shown_before_a_validator_that_reads_other_fields(hint: Any) -> None:
    """Neither while it grows, nor while it waits for those fields."""

    def shown(*fragments: str) -> list[Any]:
        values = [one.value for one in iter_partial(hint, fragments, on_invalid="ignore")]
        return [value.get("word") if isinstance(value, dict) else value.word for value in values]

    assert shown('{"first": "a"', ', "word": "b', 'c"', "}") == [None, "BC", "BC"]
    assert shown('{"word": "b', 'c"', ', "first": "a"', "}") == [None, "BC", "BC"]
    assert set(shown('{"first": "a"', ', "word": "a', '"', "}")) == {None}


def test_parts_are_not_shown_before_a_validator_that_reads_other_fields() -> None:
    """Nor are the values of a union, and the items of a list."""
    fragments = ['{"either": "x', 'y"', ', "words": ["u', 'v", "w', '"]', ', "first": "a", "word": "b"', "}"]
    values = [one.value for one in iter_partial(Unlike, fragments)]
    assert {one.either for one in values[:-2]} == {None}
    assert [one.words for one in values if one.words] == [["UV", "W"]] * 2
    assert values[-2].either == "XY"


def test_other_values_are_not_shown_before_a_validator_that_reads_other_fields() -> None:
    """Not early, and not as plain values."""

    class Choice(BaseModel):
        first: str
        kind: Annotated[Literal["walk", "ride"], AfterValidator(_unlike_first)] = "walk"
        free: Annotated[Any, AfterValidator(_unlike_first)] = None

    fragments = ['{"kind": "w', 'alk"', ', "free": "x', 'y"', ', "first": "a"', "}"]
    values = [one.value for one in iter_partial(Choice, fragments, early=True)]
    assert [(one.kind, one.free) for one in values] == [*[(None, None)] * (len(values) - 2), *[("WALK", "XY")] * 2]


def test_a_validator_reads_other_fields_in_any_way() -> None:
    """In a function inside, and as local names: it waits for the fields before its own."""

    def inside(value: int, info: ValidationInfo) -> int:
        return sum(value + info.data["first"] for _ in [1])

    def as_local(value: int, info: ValidationInfo) -> int:
        return value + int(eval("info.data['first']", locals()))

    class Reading(BaseModel):
        first: int
        one: Annotated[int, AfterValidator(inside)]
        two: Annotated[int, AfterValidator(as_local)]

    text = '{"two": 1, "one": 2, "first": 3}'
    assert list(iter_partial(Reading, text))[-1].value == Reading.model_validate_json(text)


def test_a_value_that_waits_for_a_second_name_is_not_complete() -> None:
    """The first name may still come, and the validator would read that one."""

    class Late(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        first: int = Field(alias="First")
        second: Annotated[int, AfterValidator(_unlike_first)]

    def is_complete(text: str) -> bool:
        return partial(Late).resolve(parse_chunk(create_state(), text))[0].is_complete_at("second")

    assert is_complete('{"First": 1, "second": 2 ')
    assert not is_complete('{"first": 1, "second": 2 ')
    assert is_complete('{"first": 1, "second": 2 }')
    assert not is_complete('{"first": 1, "second": 2, "First": 2 }')


def test_nothing_is_complete_in_a_value_that_was_refused_as_a_whole() -> None:
    """Nothing in it was judged."""

    def refuse(value: Any) -> Any:
        raise ValueError("never")

    class Refusing(BaseModel):
        parts: Annotated[list[int], BeforeValidator(refuse)]
        rest: list[int]

    text = '{"parts": [1, 2], "rest": [3, "x"]}'
    assert complete(Refusing, text, "parts[0]") == "never"
    assert complete(Refusing, text, "rest[0]") == text[: text.index(', "x"') + 1]
    with pytest.raises(InvalidError) as caught:
        list(iter_partial(Refusing, text, on_invalid="defer"))
    invalid = caught.value.invalid
    answers = {path: invalid.is_complete_at(path) for path in ("rest[0]", "parts", "parts[0]", "rest[1]", "rest")}
    assert [path for path, answer in answers.items() if answer] == ["rest[0]"]


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise AttributeError


@pytest.mark.parametrize(
    "error",
    [KeyError("k"), ZeroDivisionError(), StopIteration(), RecursionError(), OSError("x"), SpeechlessError()],
    ids=repr,
)
def test_no_foreign_exception_comes_out(error: Exception) -> None:
    """An exception of a validator is the cause of the error, wherever the validator stands."""

    def fail(value: Any) -> Any:
        raise error

    class After(BaseModel):
        value: Annotated[str, AfterValidator(fail)]

    class Post(BaseModel):
        value: str

        def model_post_init(self, context: Any, /) -> None:
            raise error

    class Default(BaseModel):
        value: str
        other: int = Field(default_factory=lambda: fail(1))

    hints: list[Any] = [After, Post, Default, list[After], Annotated[After, BeforeValidator(fail)]]
    hints.append(dict[Annotated[str, AfterValidator(fail)], int])
    for hint in hints:
        text = '[{"value": "a"}]' if hint == list[After] else '{"value": "a"}' if hint is not hints[-1] else '{"a": 1}'
        with pytest.raises(InvalidError) as caught:
            list(iter_partial(hint, text))
        assert caught.value.problems[0].code == "validator_failed"
        assert caught.value.__cause__ is error
        *_, last = iter_partial(hint, text, on_invalid="ignore")
        assert isinstance(last, Invalid)


def test_sets_are_shown_without_hashing_half_filled_items() -> None:
    """A set of models is shown as a list until it closes; a set of plain values is shown as a set."""

    class Item(BaseModel):
        model_config = ConfigDict(frozen=True)
        name: str

        def __hash__(self) -> int:
            assert type(self) is Item
            return hash(self.name.upper())

        def __eq__(self, other: object) -> bool:
            assert type(self) is type(other) is Item
            return super().__eq__(other)

    class Box(BaseModel):
        items: set[Item]
        words: frozenset[str] = frozenset()

    fragments = ['{"items": [{"name": "a"}, {"na', 'me": "b"}', '], "words": ["x"', ', "y"]}']
    partials = list(iter_partial(Box, fragments))
    assert [type(one.value.items) for one in partials] == [list, list, set, set]
    assert [one.name for one in partials[1].value.items] == ["a", "b"]
    shown: list[object] = [one.value.words for one in partials]
    assert shown == [None, None, {"x"}, {"x", "y"}]
    assert partials[-1].value == Box.model_validate_json("".join(fragments))


def test_no_hook_of_an_attribute_meets_a_half_filled_instance() -> None:
    """A `__getattr__` that knows every name, and a `__getattribute__`: no reader of the library sets them off."""
    seen: list[str] = []

    class Hooks:
        def __getattr__(self, name: str) -> Any:
            if type(self).__name__.startswith("Partial"):
                seen.append(name)
            if name.startswith("_"):
                raise AttributeError(name)
            return name

        def __getattribute__(self, name: str) -> Any:
            if type(self).__name__.startswith("Partial"):
                seen.append(name)
            return super().__getattribute__(name)

    class Model(Hooks, BaseModel):
        size: int
        parts: "list[Model]" = []  # noqa: UP037

    @dataclasses.dataclass
    class Data(Hooks):
        size: int
        parts: list[Model] = dataclasses.field(default_factory=list)

    @attrs.define
    class Attrs(Hooks):
        size: int
        note: str | None = None

    class Record(Hooks, msgspec.Struct):
        size: int
        note: str | None = None

    nested = '{"size": 1, "parts": [{"size": 2}]}'
    for hint in (Model, Data):
        assert [change.patch for change in iter_changes(hint, [nested[:12], nested[12:]])][-1]
        assert list(iter_partial(hint, nested))[-1].value.parts == [Model(size=2)]
    for record in (Attrs, Record):
        for changes in iter_changes(record, '{"note": null, "size": 1}'):
            repr(changes.value)
        assert changes.is_complete
    *_, half, _ = iter_partial(Model, ['{"size": 1', ', "parts": [{"size": 2}]', "}"])
    assert half.value.model_dump() == {"size": 1, "parts": [{"size": 2, "parts": []}]}
    assert seen == []


def test_a_set_of_enums_with_a_hash_of_their_own_is_a_list_until_it_closes() -> None:
    """Like any other set that would call code of the type."""

    class Loud(enum.Enum):
        ONE = "one"
        TWO = "two"

        def __hash__(self) -> int:
            return 1

    class Quiet(enum.Enum):
        ONE = "one"
        TWO = "two"

    def shown(hint: Any) -> list[type]:
        return [type(one.value) for one in iter_partial(hint, ['["one", "t', 'wo"', "]"])]

    assert shown(set[Loud]) == [list, list, set]
    assert {*shown(set[Quiet])} == {set}


# Dumps


class Stamp(BaseModel):
    on: Annotated[date, PlainSerializer(lambda day: day.year)]


@dataclasses.dataclass
class Point:
    x: Annotated[int, PlainSerializer(lambda x: f"<{x}>")]
    y: int = 0


class Everything(BaseModel):
    model_config = ConfigDict(ser_json_bytes="hex")
    days: list[Annotated[date, PlainSerializer(lambda day: day.isoformat()[:4])]] = []
    by_name: dict[str, Annotated[int, PlainSerializer(lambda number: number + 0.5)]] = {}
    pair: tuple[Annotated[int, PlainSerializer(str)], Stamp] | None = None
    stamps: set[Annotated[int, PlainSerializer(lambda number: f"#{number}")]] = set()
    points: list[Point] = []
    raw: list[bytes] = []
    names: RootModel[list[Annotated[str, PlainSerializer(str.upper)]]] | None = None
    shout: str = ""

    @field_serializer("shout")
    def loud(self, shout: str) -> str:
        return shout.upper()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def count(self) -> int:
        return len(self.days)


def test_half_filled_models_are_written_out_as_whole_ones() -> None:
    """By the same serializers, in every container; computed fields are null until the model is whole."""
    value = {
        "shout": "ab",
        "days": ["2024-05-01", "2023-01-01"],
        "by_name": {"a": 1, "b": 2},
        "pair": [1, {"on": "2024-05-01"}],
        "stamps": [3],
        "points": [{"x": 1}, {"x": 2, "y": 3}],
        "raw": ["a", "b"],
        "names": ["x", "y"],
    }
    partials = list(iter_partial(Everything, json.dumps(value)))
    whole = json.loads(Everything.model_validate(value).model_dump_json())
    written: dict[str, object] = {}
    for one in partials[:-1]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            written = json.loads(one.value.model_dump_json())
        assert written["count"] is None
        assert written.keys() == whole.keys()
    assert written == {**whole, "count": None}
    assert json.loads(partials[-1].value.model_dump_json()) == whole
    cut = next(iter(iter_partial(Everything, ['{"pair": [7, {"on": "2024-05-01"', "}]}"])))
    assert cut.value.model_dump(exclude_unset=True, mode="json") == {"pair": ["7", {"on": 2024}]}


def _label(stop: Any) -> str:
    return f"{stop.name.upper()} {stop.nights + 1}"


class Halt(BaseModel):
    name: str
    nights: int


class Labelled(BaseModel):
    """Its serializers fail for values that are half filled, absent or cut off, as serializers may."""

    first: Annotated[Halt, PlainSerializer(_label)]
    halts: list[Annotated[Halt, PlainSerializer(_label)]] = []
    nights: Annotated[list[Halt], PlainSerializer(lambda halts: sum(halt.nights for halt in halts))] = []
    around: Annotated[Halt, WrapSerializer(lambda halt, write: {**write(halt), "more": halt.nights + 1})] | None = None
    either: list[Halt | Annotated[int, PlainSerializer(lambda number: -number)]] = []
    masked: Annotated[str, PlainSerializer(lambda text: text[0] + "***", return_type=str)] = "-"
    share: float = 1
    small: int = Field(3, exclude_if=lambda number: number > 3)
    hidden: Halt | None = Field(None, exclude_if=lambda halt: halt is not None and halt.nights > 3)
    total: int = 1

    @field_serializer("share")
    def of_total(self, share: float) -> float:
        return share / self.total


def test_serializers_do_not_meet_half_filled_values() -> None:
    """A serializer that needs what is not there yet writes null. One that needs the value only writes it."""
    halt = {"name": "a", "nights": 1}
    value = {
        "first": halt,
        "halts": [halt, halt],
        "nights": [halt, halt],
        "around": halt,
        "either": [7, halt],
        "masked": "secret",
        "total": 4,
        "share": 1.0,
        "hidden": {"name": "b", "nights": 4},
        "small": 3,
    }
    whole = json.loads(Labelled.model_validate(value).model_dump_json())
    written: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for one in iter_partial(Labelled, json.dumps(value)):
            written.append(json.loads(one.value.model_dump_json()))
            assert one.value.model_dump().keys() == written[-1].keys()
    assert written[-1] == whole
    assert written[-2] == {**whole, "share": None, "small": None}  # this one reads the total
    shown: dict[str, set[Any]] = {"first": {None, "A 2"}, "nights": {None, 0, 1, 2}, "masked": {None, "s***"}}
    assert {name: {one[name] for one in written} for name in shown} == shown
    assert all(one.keys() <= whole.keys() | {"hidden"} for one in written)
    assert all(one.get("hidden") is None for one in written)
    assert {json.dumps(one["halts"]) for one in written} == {
        json.dumps(halts) for halts in [None, [], [None], ["A 2"], ["A 2", None], ["A 2", "A 2"]]
    }
    assert {json.dumps(one["either"][1]) for one in written if one["either"] and len(one["either"]) > 1} >= {
        json.dumps({"name": "a", "nights": None}),
        json.dumps(halt),
    }


class Ride(TypedDict):
    line: Annotated[str, Field(serialization_alias="Line")]
    pin: NotRequired[Annotated[int, Field(exclude=True)]]
    day: NotRequired[Annotated[date, PlainSerializer(lambda day: day.year)]]


@dataclasses.dataclass
class Walk:
    name: Annotated[str, Field(serialization_alias="Name")]
    pin: Annotated[int, Field(exclude=True)] = 0
    day: Annotated[date, PlainSerializer(lambda day: day.year)] = date(2024, 1, 1)
    next: Walk | None = None


@pydantic.dataclasses.dataclass
class Drive:
    name: str = Field(serialization_alias="Name")
    pin: int = Field(0, exclude=True)
    share: Annotated[float, Field(exclude_if=lambda share: share > 1)] = 1
    total: int = 4

    @field_serializer("share")
    def of_total(self, share: float) -> float:
        return share / self.total

    @computed_field  # type: ignore[prop-decorator]
    @property
    def each(self) -> float:
        return self.total / 2


Nested = TypeAliasType("Nested", "dict[str, Annotated[date, PlainSerializer(lambda day: day.year)] | Nested]")


class Ways(BaseModel):
    rides: list[Ride] = []
    walks: list[Walk] = []
    drives: dict[str, Drive] = {}
    named: Nested = {}
    more: Nested = {}
    last: Ride | Walk | None = None


def test_other_classes_are_written_out_by_their_names_and_serializers() -> None:
    """Typed dicts, dataclasses and named types in a half-filled model: excluded values do not appear at any cut."""
    ride = {"line": "1", "pin": 77, "day": "2024-05-01"}
    walk = {"name": "a", "pin": 77, "day": "2023-05-01"}
    drive = {"name": "a", "pin": 77, "share": 1, "total": 2}
    value = {
        "rides": [ride, ride],
        "walks": [{**walk, "next": walk}],
        "drives": {"a": drive, "b": {**drive, "share": 2}},
        "named": {"a": "2022-01-01", "b": {"c": "2021-01-01"}},
        "more": {"d": "2020-01-01"},
        "last": ride,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = json.loads(Ways.model_validate(value).model_dump_json(by_alias=True))
        written = [one.value.model_dump_json(by_alias=True) for one in iter_partial(Ways, json.dumps(value))]
    assert "77" not in "".join(written)
    assert '"pin"' not in "".join(written)
    shown = [json.loads(text) for text in written]
    assert shown[-1] == shown[-2] == whole
    nothing = {"Name": None, "share": None, "total": None, "each": None}
    assert next(one["drives"]["a"] for one in shown if one["drives"]) == nothing
    halves = [one["walks"][0]["next"] for one in shown if one["walks"] and one["walks"][0]["next"]]
    assert halves[0] == {"Name": None, "day": None, "next": None}
    assert halves[-1] == {"Name": "a", "day": 2023, "next": None}


@pytest.mark.parametrize(
    "case", [case for case in CASES if isinstance(case.type, type) and issubclass(case.type, BaseModel)], ids=str
)
def test_half_filled_models_can_be_written_out_at_every_cut(case: Any) -> None:
    """Wherever the whole model can, without a warning."""
    for seed in range(3):
        text = json.dumps(case.valid(Random(seed)))
        whole = case.type.model_validate_json(text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                whole.model_dump_json()
            except (ValueError, UserWarning):
                continue
            for one in iter_partial(case.type, text):
                json.loads(one.value.model_dump_json())
                one.value.model_dump()
