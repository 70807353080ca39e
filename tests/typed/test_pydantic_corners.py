"""from_pydantic: corners that are easy to get wrong, each with texts that pydantic takes and texts that it refuses.

Each text is fed one character at a time. Pydantic judges the whole: nothing may be invalid before that if pydantic
accepts it, and in the end verdict, value and the calls of all validators are pydantic's own.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from fractions import Fraction
from random import Random
from typing import Annotated, Any, Generic, Literal, NamedTuple, Self, TypeVar

import pydantic.dataclasses
import pytest
from pydantic import (
    MISSING,
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Discriminator,
    Field,
    IPvAnyAddress,
    Json,
    OnErrorOmit,
    RootModel,
    SecretStr,
    Strict,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticOmit, PydanticUseDefault
from pydantic_core import core_schema as cs
from typing_extensions import TypeAliasType, TypedDict

from tests.support import models
from tests.support.instances import Case, anything
from tests.support.model_counted import CALLS as COUNTED
from tests.support.model_counted import reset_calls
from tests.support.strategies import one_by_one
from unspool import create_state, finalize, parse_chunk
from unspool.typed import Complete, Invalid, InvalidError, from_pydantic, iter_partial, resolve

T = TypeVar("T")
CALLS: list[Any] = []


def told(name: str) -> Callable[[Any, ValidationInfo], Any]:
    """A validator that remembers all its arguments."""

    def remember(value: Any, info: ValidationInfo) -> Any:
        CALLS.append((name, repr(value), repr(info.data), info.mode, info.field_name))
        return value

    return remember


# Validators that ask for more than their value


class Informed(BaseModel):
    first: int
    after: Annotated[list[int], AfterValidator(told("after"))]
    before: Annotated[int, BeforeValidator(told("before"))] = 0
    items: list[Annotated[int, AfterValidator(told("item"))]] = []
    both: Annotated[str, AfterValidator(told("inner")), AfterValidator(lambda value: value + "!")] = ""

    @model_validator(mode="after")
    def whole(self, info: ValidationInfo) -> Self:
        CALLS.append(("model", info.mode))
        return self


class StrictlyInformed(Informed):
    model_config = ConfigDict(strict=True)
    day: Annotated[date, BeforeValidator(told("day"))] = date(2020, 1, 1)
    pair: Annotated[tuple[int, date], AfterValidator(told("pair"))] = (1, date(2020, 1, 1))


@dataclasses.dataclass
class InformedPoint:
    x: int
    y: Annotated[str, AfterValidator(told("y"))] = ""
    inner: InformedPoint | None = None


class InformedDict(TypedDict):
    a: Annotated[int, Field(alias="A")]
    b: Annotated[str, AfterValidator(told("b"))]


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow", strict=True))
class StrictPoint:
    x: int
    many: tuple[int, ...] = ()
    day: Annotated[date, BeforeValidator(told("day"))] = date(2020, 1, 1)


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow", validate_by_name=True))
class OpenPoint:
    x: int = Field(alias="X")
    names: list[str] = Field(alias="Names", default_factory=list)


@pydantic.dataclasses.dataclass(config=ConfigDict(strict=True))
class StrictPair:
    both: tuple[int, frozenset[int]]
    inner: StrictPair | None = None


# Defaults


class CheckedDefaults(BaseModel):
    model_config = ConfigDict(validate_default=True)
    size: int = "5"  # type: ignore[assignment]
    items: list[int] = Field(default_factory=lambda: ["1"])  # type: ignore[arg-type]
    inner: CheckedDefaults | None = None
    address: IPvAnyAddress = "127.0.0.1"  # type: ignore[assignment]
    day: date = "2024-01-01"  # type: ignore[assignment]


class StrictDefaults(BaseModel):
    model_config = ConfigDict(validate_default=True, strict=True)
    size: int = 5
    day: date = date(2024, 1, 1)
    inner: StrictDefaults | None = None


class WrongDefault(BaseModel):
    size: int = Field(default="x", validate_default=True)


class CheckedNames(BaseModel):
    """A default that is checked, of a field with two names: judged as a whole."""

    size: int = Field(default=1, validate_default=True, validation_alias=AliasChoices("a", "b"))
    other: Annotated[int, AfterValidator(told("other"))] = Field(default=1, validate_default=True)


class MadeOfOthers(BaseModel):
    first: str = "a"
    second: str = Field(default_factory=lambda data: data["first"] + "!")


def _use_default(value: int) -> int:
    raise PydanticUseDefault


class Sentinel(BaseModel):
    size: int | MISSING = MISSING


# Root models: the name of their field is "root", and they have no other fields that a validator could ask for


def _with_name(value: str, info: ValidationInfo) -> str:
    if value == "bad":
        raise ValueError("bad")
    return f"{info.field_name}: {value}"


class NamedRoot(RootModel[list[Annotated[str, AfterValidator(_with_name)]]]):
    pass


class TextRoot(RootModel[Annotated[str, AfterValidator(_with_name)]]):
    pass


class RootOfRoots(RootModel[dict[str, TextRoot | list[NamedRoot]]]):
    pass


class KeyRoot(RootModel[list[dict[Annotated[str, AfterValidator(_with_name)], int]]]):
    pass


class AskingRoot(RootModel[list[Annotated[str, AfterValidator(told("in a root"))]]]):
    pass


class HasRoots(BaseModel):
    first: str = ""
    named: NamedRoot
    deep: RootOfRoots | None = None
    after: Annotated[NamedRoot, AfterValidator(told("after"))] = NamedRoot([])
    asking: AskingRoot = AskingRoot([])
    more: list[AskingRoot] = []


# What is left out


def _omit_three(value: int) -> int:
    if value == 3:
        raise PydanticOmit
    return value


class NotThree(BaseModel):
    x: int

    @model_validator(mode="after")
    def check(self) -> Self:
        _omit_three(self.x)
        return self


class Omitting(BaseModel):
    default: Annotated[int, AfterValidator(_use_default)] = 7
    limited: Annotated[list[Annotated[int, AfterValidator(_omit_three)]], Field(max_length=2)] = []
    values: dict[str, OnErrorOmit[int]] = {}
    variadic: tuple[OnErrorOmit[int], ...] = ()
    models: list[NotThree] = []
    unique: set[OnErrorOmit[int]] = set()
    least: Annotated[list[OnErrorOmit[int]], Field(min_length=1, max_length=2)] = [1]
    pair: tuple[OnErrorOmit[int], int] = (1, 2)
    named: dict[str, OnErrorOmit[Annotated[str, AfterValidator(_with_name)]]] = {}


# Names


class Wheel(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    the_size: int = Field(alias="theSize")
    the_parts: list[NotThree] = Field(alias="theParts", default=[])
    the_day: date = Field(alias="theDay", default=date(2020, 1, 1))


class StrictWheel(Wheel):
    model_config = ConfigDict(strict=True)


class ForbiddingWheel(Wheel):
    model_config = ConfigDict(extra="forbid")


class AllowingWheel(Wheel):
    model_config = ConfigDict(extra="allow")


class TypedWheel(Wheel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[int]] = Field(init=False)


class OneForTwo(BaseModel):
    a: int = Field(alias="x")
    b: str | int = Field(alias="x")


class Inside(BaseModel):
    a: int = Field(validation_alias=AliasPath("x", 0))
    b: list[NotThree] = []


class NamedAlias(NamedTuple):
    a: Annotated[int, Field(alias="A")]
    b: Annotated[list[int], AfterValidator(tuple)] = [1]  # noqa: RUF012


class CustomInit(BaseModel):
    a: int

    def __init__(self, **data: Any) -> None:
        super().__init__(a=data.get("b", 0) + 1)


class Deferred(BaseModel):
    model_config = ConfigDict(defer_build=True)
    a: int


# Leaves


class Colour(enum.Enum):
    RED = "red"
    REDDISH = "reddish"
    BLUE = "blue"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Odd(enum.Enum):
    PAIR = (1, 2)
    WORD = "b"


class Text(str, enum.Enum):  # noqa: UP042 - as older code has it
    A = "a"
    B = "bb"


class Lenient(enum.Enum):
    YES = "yes"

    @classmethod
    def _missing_(cls, value: object) -> Lenient | None:
        return cls.YES if value in ("ja", ["j", "a"]) else None


class Raw(enum.Enum):
    A = b"a"
    B = "b"


def _custom(value: str) -> str:
    raise PydanticCustomError("my_type", "you wrote {text}", {"text": value})


# Unions


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog", 1] = "dog"
    name: str


class Loose(BaseModel):
    kind: Literal["loose"]

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, value: Any) -> Any:
        return {"kind": "loose"} if value == "loose" else value


def _as_cat(value: Any) -> Any:
    return {**value, "kind": "cat"} if isinstance(value, dict) else value


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
CatOrLoose = Annotated[Cat | Loose, Field(discriminator="kind")]


# Types that contain themselves


class Knot(BaseModel):
    value: int
    listed: Annotated[list[Knot] | None, AfterValidator(lambda value: value)] = None
    next: Annotated[Knot | None, AfterValidator(lambda value: value)] = None
    either: Knot | int | None = None


Formula = TypeAliasType("Formula", "int | list[Formula] | dict[str, Formula] | None")


class Box(BaseModel, Generic[T]):
    content: T
    more: Box[T] | None = None


class Wrapped(BaseModel):
    number: Annotated[int, WrapValidator(lambda value, handler: handler(value))] = 1
    items: Annotated[list[int], WrapValidator(lambda v, handler: handler([v] if isinstance(v, int) else v))] = []
    inner: Annotated[NotThree, WrapValidator(lambda v, handler: handler({"x": v} if v == 5 else v))] | None = None


class Special(BaseModel):
    secret: SecretStr = SecretStr("")
    size: ByteSize = ByteSize(0)
    call: Callable[[], int] | None = None
    pattern: re.Pattern[str] | None = None
    cls: type[int] = int


class Sparse(NamedTuple):
    first: Literal["a"]
    second: str


# Schemas that no annotation makes


def schema(made: Any) -> Any:
    """A type that has this core schema."""
    return type("ByHand", (), {"__get_pydantic_core_schema__": classmethod(lambda cls, source, handler: made)})


CAT = cs.typed_dict_schema({"kind": cs.typed_dict_field(cs.literal_schema(["cat"]), required=False)})
ONE_CAT = cs.tagged_union_schema({"cat": CAT}, "kind")
KIND: list[str | int] = ["kind"]
FURTHER_IN: list[str | int] = ["is", 0]
CAT_BY_PATH = cs.tagged_union_schema({"cat": CAT, 0: CAT}, KIND)
CAT_FURTHER_IN = cs.tagged_union_schema({"cat": cs.dict_schema(), "dog": cs.dict_schema()}, FURTHER_IN)
MIDDLE = cs.tuple_schema([cs.int_schema(), cs.str_schema(), cs.bool_schema()], variadic_item_index=1)
NOT_ONE = cs.no_info_after_validator_function(_omit_three, cs.int_schema())
OMITTED_PLACE = cs.tuple_schema([NOT_ONE, cs.str_schema()])
CHECKED_TUPLE = cs.named_tuple_schema(
    Sparse,
    [
        cs.named_tuple_field("first", cs.str_schema()),
        cs.named_tuple_field(
            "second", cs.with_default_schema(cs.str_schema(max_length=2), default="abc", validate_default=True)
        ),
    ],
)
CORNERS: list[tuple[Any, list[str]]] = [
    (schema(ONE_CAT), ['{"kind": "cat"}', "{}", '{"kind": "dog"}', "[]"]),
    (schema(CAT_BY_PATH), ['{"kind": "cat"}', "{}", '{"kind": 0}', '{"kind": "dog"}', "[]"]),
    (schema(CAT_FURTHER_IN), ['{"a": 1, "is": ["cat"]}', "{}", '{"is": "cat"}', '{"is": ["a"]}']),
    (schema(MIDDLE), ['[1, "a", "b", true]', "[1, true]", "[1]", '["a", "b", true]']),
    (schema(OMITTED_PLACE), ['[1, "a"]', '["x", "a"]']),
    (schema(CHECKED_TUPLE), ['["a"]', '["a", "b"]', '{"first": "a", "second": "bc"}', '["a", "abc"]']),
    (
        Informed,
        [
            '{"after": [1,"2"], "first": 1, "items": [1, 2], "before": "5", "both": "x"}',
            '{"after": [1], "before": 5}',
            '{"first": 1, "after": [], "before": "x"}',
            '{"first": 1, "after": [], "items": [null]}',
            '{"items": 1, "first": 1, "after":[]}',
        ],
    ),
    (
        StrictlyInformed,
        [
            '{"after": [1], "first": 1, "items": [1, 2], "before": 5, "both": "x"}',
            '{"after": [1], "first": 1, "day": "2024-01-01"}',
            '{"after": [1, "2"], "first": 1}',
            '{"after": [1], "first": 1, "before": "5"}',
            '{"after": [1], "first": 1, "pair": [1, "2024-01-01"]}',
        ],
    ),
    (InformedPoint, ['{"x": 1, "y": "a", "inner": {"x": "2", "y": "b"}}', '{"y": ""}', '{"x": 1, "inner": {}}']),
    (InformedDict, ['{"A": 1, "b": ""}', '{"a": 1, "b": ""}', '{"A": "x", "b": ""}']),
    (StrictPoint, ['{"x": 1, "many": [1], "more": 3}', '{"x": "1"}', '{"x": 1, "many": ["1"]}', '{"x": 1, "day": 1}']),
    (OpenPoint, ['{"X": 1, "y": 2}', '{"x": "1", "names": ["a"]}', '{"X": 1, "x": "a"}', '{"x": "a"}', '{"y": 1}']),
    (
        list[StrictPair],
        ['[{"both": [1, [2]], "inner": {"both": [3, []]}}]', '[{"both": ["1", [2]]}]', '[{"both": [1, ["2"]]}]'],
    ),
    (Annotated[list[int], AfterValidator(told("root"))], ['[1, "2"]', '["x"]']),
    (
        CheckedDefaults,
        ["{}", '{"size": 3}', '{"inner": {"inner": {"items": ["7"]}}}', '{"size": "x"}', '{"day": 0}'],
    ),
    (StrictDefaults, ["{}", '{"size": "3"}', '{"day": "2024-01-02"}', '{"inner": {"size": 1}}']),
    (WrongDefault, ["{}", '{"size": 1}']),
    (CheckedNames, ["{}", '{"b": 2, "a": "3"}', '{"b": "x"}', '{"other": 4, "b": 1}']),
    (MadeOfOthers, ["{}", '{"first": "b"}', '{"second": "b"}', '{"first": 1}']),
    (Sentinel, ["{}", '{"size": 1}', '{"size": "x"}', '{"size": null}']),
    (
        Omitting,
        [
            '{"default": 1, "limited": [1, 3, 2, 3], "values": {"a": "x", "b": 1}, "variadic": [1, "x", [2], 3]}',
            '{"models": [{"x": 1}, {"x": 3}, {"x": 4}], "unique": [1, "x"], "least": ["x", 1, {}, 2]}',
            '{"least": ["x"]}',
            '{"limited": [1, 2, 4]}',
            '{"pair": [1, 2]}',
            '{"pair": ["x", 2]}',
            '{"named": {"a": "bad", "b": "ok"}}',
        ],
    ),
    (
        Wheel,
        [
            '{"theSize": 1, "theParts": [{"x": 1}]}',
            '{"the_size": "1", "the_parts": [{"x": "2"}], "the_day": "2024-01-01"}',
            '{"the_size": "x", "theSize": 1}',
            '{"theSize": 1, "the_size": "x"}',
            '{"the_size": "x"}',
            "{}",
            '{"the_parts": [{"x": "a"}], "theSize": 1}',
            '{"the_parts": [{"x": "a"}], "theSize": 1, "theParts": []}',
        ],
    ),
    (
        StrictWheel,
        ['{"the_size": 1, "the_day": "2024-01-01"}', '{"the_size": "1"}', '{"the_size": "x", "theSize": 1}'],
    ),
    (ForbiddingWheel, ['{"the_size": 1}', '{"the_size": 1, "theSize": 1}', '{"x": 1}']),
    (
        AllowingWheel,
        [
            '{"the_size": 1, "more": [1]}',
            '{"the_size": 1, "theSize": 1}',
            '{"theSize": 1, "the_size": "x", "x": {"y": 1}}',
        ],
    ),
    (
        TypedWheel,
        ['{"the_size": 1, "more": ["1"]}', '{"the_size": [1], "theSize": 1}', '{"theSize": 1, "the_size": "x"}'],
    ),
    (OneForTwo, ['{"x": 1}', '{"x": "q"}']),
    (Inside, ['{"x": [1, 2], "b": [{"x": 1}]}', '{"x": ["q"]}', '{"b": []}']),
    (
        list[NamedAlias],
        ['[[1], [1, [2]], {"A": 1}, {"b": [3], "A": 2}]', "[[1, [2], 3]]", '[{"b": []}]', '[{"a": 1}]'],
    ),
    (CustomInit, ['{"b": 3}', "{}", "[]"]),
    (Deferred, ['{"a": 1}', '{"a": "x"}']),
    (list[Deferred], ['[{"a": 1}]', "[{}]"]),
    (OrderedDict[str, int], ['{"a": 1, "b": "2"}', '{"a": "x"}']),
    (Counter[str], ['{"a": 1}', '{"a": "x"}']),
    (defaultdict[str, list[int]], ['{"a": [1]}', '{"a": ["x"]}', "[]"]),
    (Annotated[deque[int], Field(max_length=2)], ["[1, 2]", "[1, 2, 3]"]),
    (tuple[int, *tuple[str, ...], int], ['[1, ["a"], 2]', "[1]"]),
    (Json[list[int]], ['"[1, 2]"', '"[1"', "[1]"]),
    (Fraction, ['"1/2"', "0.5", '"x"']),
    (Annotated[int, Field(gt=1)] | None, ["null", "2", "0", '"3"']),
    (tuple[int, str] | None, ["null", '[1, "a"]', "[1]", '[1,"a",2]', "{}"]),
    (Annotated[list[int] | None, AfterValidator(lambda value: value or [0])], ["null", "[1]", "[]"]),
    (Annotated[list[int] | str, AfterValidator(lambda value: (value,))], ["[1, 2]", '"abc"', "1"]),
    (NamedRoot, ['["a", "b"]', '["bad"]']),
    (TextRoot, ['"a"', '"bad"']),
    (KeyRoot, ['[{"a": 1}]', '[{"bad": 1}]']),
    (RootModel[dict[Annotated[str, AfterValidator(_with_name)], int]], ['{"a": 1}', '{"bad": 1}', "{}"]),
    (RootOfRoots, ['{"a": "b", "c": [["d"], []]}', '{"a": [["bad"]]}']),
    (
        HasRoots,
        [
            '{"first": "x", "named": ["a"], "deep": {"a": "b", "c": [["d"]]}, "after": ["e"]}',
            '{"asking": ["a"], "first": "x", "more": [["b", "c"]], "named": []}',
            '{"named": ["bad"]}',
        ],
    ),
    (RootModel[int | None], ["null", "5", '"x"']),
    (RootModel[str], ['"abc"', "1"]),
    (RootModel[list[int] | dict[str, int] | None], ["null", "[1]", '{"a": 1}', '{"a": "x"}']),
    (RootModel[list[int] | None] | None, ["null", "[1]", "1"]),
    (RootModel[Pet], ['{"kind": "cat"}', '{"kind": "x"}']),
    (list[Colour], ['["red", "blue"]', '["reddish"]', '["redd"]', "[1]"]),
    (list[Number], ['[1, "2", 1.0, true]', "[3]", '["x"]']),
    (list[Odd], ['["b"]', "[[1,2]]", "[1]"]),
    (list[Text], ['["a", "bb"]', '["b"]', "[1]"]),
    (list[Raw], ['["b"]', '["a"]']),
    (list[Lenient], ['["yes", "ja", ["j", "a"]]', '["nein"]']),
    (list[Annotated[str, StringConstraints(strip_whitespace=True, max_length=3)]], ['["   abc  "]', '["abcd"]']),
    (
        list[Literal[Colour.RED, "blue", 5, None, True, Number.TWO]],
        ['["red", "blue", 5, null]', *(f"[{one}]" for one in ["true", "1", "2", '"2"', "5.0", '"5"', '"gre"'])],
    ),
    (list[Literal[b"x", "y"]], ['["x"]', '["y"]']),
    (Literal["a"] | Literal["ab"], ['"a"', '"ab"', '"abc"']),
    (list[int | str], ['[1, "1", "x", 1.0, true]', "[1.5]"]),
    (list[bool | str | float], ['["yes", true, 1, "1.5"]', "[null]"]),
    (list[Annotated[str, Field(max_length=3)] | int], ['["abc", "1", "12345"]', '["abcd"]']),
    (list[Annotated[str, StringConstraints(to_upper=True)] | Annotated[int, Strict()]], ['["abc", 1]', "[1.0]"]),
    (list[Annotated[str, AfterValidator(_custom)]], ['["secret"]', "[]"]),
    (
        Pet,
        [
            '{"lives": 1, "kind": "cat"}',
            *(f'{{"name": "x", "kind": {kind}}}' for kind in ["1", "1.0", "true", '"1"', '"dog"', "null", "[]"]),
            *('{"kind": "do"}', "{}", '{"kind": ["cat"]}', '"cat"', "[]", "null"),
        ],
    ),
    (CatOrLoose, ['{"kind": "loose"}', '{"kind": "cat", "lives": "x"}', '"loose"', '["loose"]', "1", "null"]),
    (CatOrLoose | None, ["null", '{"kind": "loose"}', '"loose"']),
    (Annotated[Annotated[Cat, Tag("cat")] | Loose, Discriminator("kind")], ['{"kind": "cat"}', "{}"]),
    (
        Annotated[Cat | Dog, Field(discriminator="kind"), AfterValidator(lambda pet: pet.kind)],
        ['{"kind": "cat"}', "{}"],
    ),
    (Annotated[Pet, BeforeValidator(_as_cat)], ['{"kind": "zebra", "lives": 3}', '{"lives": "x"}', '"x"']),
    (
        Knot,
        [
            '{"value": 1, "listed": [{"value": 2, "next": {"value": 3, "either": {"value": 4}}}], "either": "7"}',
            '{"value": 1, "next": {"value": "x"}}',
            '{"value": 1, "listed": [{"value": 2, "next": {}}]}',
        ],
    ),
    (Formula, ['[1, [2, {"a": [null]}], "3"]', '[["x"]]', '[[], {"a": true}]']),
    (Annotated[Formula, AfterValidator(lambda value: (value,))], ["[1, [2]]", '"x"', "null"]),
    (Box[list[int]], ['{"content": [1], "more": {"content": ["2"]}}', '{"content": ["x"]}']),
    (list[Annotated[Any, AfterValidator(lambda value: (value,))]], ['[1, {"a": [2]}]']),
    (Annotated[dict[Annotated[str, AfterValidator(str.upper)], int], Field(max_length=1)], ['{"a": 1, "A": 2}']),
    (Annotated[dict[str, int], Field(max_length=1)], ['{"a": 1}', '{"a": 1, "b": 2}']),
    (dict[Literal["a", "b"], int], ['{"a": 1}', '{"c": 1}']),
    (dict[tuple[int, int], int], ["{}", '{"a": 1}']),
    (Wrapped, ['{"number": "1", "items": 5, "inner": 5}', '{"inner": {"x": "q"}}', '{"inner": null}']),
    (
        Special,
        ['{"secret": "x", "size": "1MB"}', '{"size": "q"}', '{"call": null}', '{"call": {}}', '{"cls": 1}'],
    ),
]


@pytest.mark.parametrize(
    ("type", "text"),
    [
        pytest.param(corner, text, id=f"{number} {text}")
        for number, (corner, texts) in enumerate(CORNERS)
        for text in texts
    ],
)
def test_corner(type: Any, text: str) -> None:
    """Verdict, value, fields set and calls are pydantic's own, and nothing is invalid that pydantic accepts."""
    CALLS.clear()
    try:
        expected = TypeAdapter(type).validate_json(text)
    except ValidationError:
        expected = None
        is_valid = False
    else:
        is_valid = True
    expected_calls = sorted(CALLS)
    CALLS.clear()
    shape = from_pydantic(type)
    state, cache = create_state(), None
    for character in text:
        state = parse_chunk(state, character)
        resolution, cache = resolve(shape, state, cache)
        assert not (is_valid and resolution.problems)
        assert "Held object" not in repr(resolution.value)
    resolution, cache = resolve(shape, finalize(state), cache)
    assert isinstance(resolution, Complete) is is_valid
    if is_valid:
        assert repr(resolution.value) == repr(expected)
        assert getattr(resolution.value, "model_fields_set", None) == getattr(expected, "model_fields_set", None)
        assert sorted(CALLS) == expected_calls


def test_corners_are_reached() -> None:
    """Each type has a text that it takes, and nearly each one that it refuses."""
    verdicts: dict[str, set[bool]] = {}
    for corner, texts in CORNERS:
        for text in texts:
            try:
                TypeAdapter(corner).validate_json(text)
                verdicts.setdefault(str(corner), set()).add(True)
            except ValidationError:
                verdicts.setdefault(str(corner), set()).add(False)
    assert [name for name, found in verdicts.items() if found == {False}] == []
    assert sum(len(found) == 2 for found in verdicts.values()) > 60


def test_generators_are_made_at_the_end() -> None:
    """Pydantic validates their items when they are asked for."""
    shape = from_pydantic(Iterable[int])
    resolution, _ = resolve(shape, finalize(parse_chunk(create_state(), '[1, "2"]')))
    assert list(resolution.value) == [1, 2]  # type: ignore[call-overload]


# What is only shown


def _as_it_is(value: Any, handler: Callable[[Any], Any]) -> Any:
    CALLS.append("the outermost")
    return handler(value)


@pytest.mark.parametrize("case", models.CASES, ids=str)
def test_what_is_only_shown_is_never_judged(case: Case) -> None:
    """Inside of what is judged as a whole: until its end nothing is wrong and no validator runs, whatever comes."""
    wrapped: Any = Annotated[case.type, WrapValidator(_as_it_is)]
    adapter, shape = TypeAdapter(wrapped), from_pydantic(wrapped)
    for seed in range(12):
        random = Random(f"{case.name} {seed}")
        value = random.choice([case.valid, case.invalid, anything, random.choice(models.CASES).valid])(random)
        text = json.dumps(value)
        CALLS.clear()
        reset_calls()
        state, cache = create_state(), None
        for character in text[:-1]:
            state = parse_chunk(state, character)
            resolution, cache = resolve(shape, state, cache)
            assert not resolution.problems
            repr(resolution.value)
        assert not CALLS
        assert not COUNTED
        resolution, cache = resolve(shape, finalize(parse_chunk(state, text[-1])), cache)
        assert CALLS == ["the outermost"]
        try:
            expected = adapter.validate_json(text)
        except ValidationError:
            assert isinstance(resolution, Invalid)
        else:
            assert plain(resolution.value) == plain(expected)


def plain(value: Any) -> str:
    """As it is written down, without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _named(value: Any) -> str | None:
    return "list" if isinstance(value, list) else "text" if isinstance(value, str) else None


Either = Annotated[
    Annotated[list[Sparse], Tag("list")] | Annotated[str, Tag("text")] | Annotated[Special, Tag("special")],
    Discriminator(_named),
]


class Seen(BaseModel):
    model_config = ConfigDict(extra="forbid")
    either: Either | None = None
    by_day: dict[Annotated[str, AfterValidator(str.upper)], list[str]] = {}
    name: RootModel[list[Sparse]] | None = None
    scalar: int | date | None = None
    asked: int | Annotated[float, AfterValidator(abs)] | None = None


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ('{"either": "ab', {"either": "ab"}),
        ('{"either": [{"first": "b", "second": "c', {"either": [(None, "c")]}),
        ('{"either": [["a", "c', {"either": []}),
        ('{"by_day": {"a": ["b', {"by_day": {"a": ["b"]}}),
        ('{"other": 1, "name": [{"second": "c', {"name": [(None, "c")]}),
        ('{"scalar": 1', {}),
        ('{"scalar": 1, "asked": 2.5, "name": [', {"scalar": 1, "name": []}),
    ],
)
def test_what_is_only_shown_goes_without_what_it_would_have_to_ask_for(prefix: str, expected: dict[str, Any]) -> None:
    """Names are keys as they were written, places of tuples are not guessed, and what needs a validator is absent."""
    shape = from_pydantic(Annotated[Seen, BeforeValidator(lambda value: value)])
    resolution, _ = resolve(shape, parse_chunk(create_state(), prefix))
    shown: Any = resolution.value
    found = {name: getattr(shown, name) for name in shown.model_fields_set}
    assert {name: value.root if name == "name" else value for name, value in found.items()} == expected


def test_a_string_that_is_too_long_is_refused_at_its_first_character_too_many() -> None:
    """Also if nothing but the text of an open string changes: in a list, at the root, and with other problems."""
    short = Annotated[str, Field(max_length=3)]
    for hint, before in ((short, '"'), (list[short], '["abc","'), (dict[str, list[short]], '{"a":["')):
        fragments = [*one_by_one(before + "abcd"), *one_by_one('efg"')]
        seen: list[str] = []
        with pytest.raises(InvalidError) as caught:
            list(iter_partial(hint, watched(fragments, seen)))
        assert "".join(seen) == before + "abcd"
        assert caught.value.problems[0].code == "too_long"


def watched(fragments: Iterable[str], seen: list[str]) -> Iterator[str]:
    for fragment in fragments:
        seen.append(fragment)
        yield fragment


def test_the_words_of_a_length_are_a_sentence() -> None:
    """The words of pydantic follow "expected", with what English needs between them."""
    with pytest.raises(InvalidError, match=re.escape("$: expected to have at most 1 item")):
        list(iter_partial(Annotated[set[int], Field(max_length=1)], ["[1, 2]"]))
