"""Types with validators of their own: before, after, around and instead of what the annotation says.

Traps for whoever judges by the annotation alone: a validator that stands before it takes any kind of input,
one that stands around it may forgive, one that stands in its place knows no kind at all; a validator of a
field sees the fields declared before it, and one of a model sees them all.
"""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Annotated, Any, Self

import pydantic.dataclasses
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from .instances import (
    Case,
    Json,
    anything,
    append,
    change,
    either,
    fields,
    integer,
    keyed,
    listed,
    nullable,
    number,
    one_of,
    put,
    row,
    text,
)

# Of fields


class Fields(BaseModel):
    tags: list[str] = []
    size: int
    amount: float = 0
    colour: str = "red"
    shout: str = ""

    @field_validator("tags", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        """Text for a list."""
        return value.split(",") if isinstance(value, str) else value

    @field_validator("size", mode="after")
    @classmethod
    def odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("even")
        return value

    @field_validator("amount", mode="wrap")
    @classmethod
    def forgive(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> float:
        """Anything that is no number is none, but not an array."""
        try:
            result: float = handler(value)
        except ValidationError:
            if isinstance(value, list):
                raise
            return 0.0
        return result

    @field_validator("colour", mode="plain")
    @classmethod
    def colours(cls, value: Any) -> str:
        """No look at the annotation: an object with a name is a colour, too."""
        name = value.get("name") if isinstance(value, dict) else value
        assert name in {"red", "green", 3}, "no colour"
        return str(name)

    @field_validator("shout", "colour")
    @classmethod
    def loud(cls, value: str) -> str:
        return value.upper()


_fields = fields(
    {"size": one_of(1, -3, "5", 7.0)},
    {
        "tags": either(text, listed(text)),
        "amount": either(number, one_of("x", None, {}, True), keyed(text, anything)),
        "colour": one_of("red", "green", 3, {"name": "red"}, {"size": [], "name": "green"}),
        "shout": text,
    },
)


def _is_short(value: str) -> str:
    if len(value) > 4:
        raise ValueError("long")
    return value


class Chained(BaseModel):
    """Validators one after another: the one written last stands in front, those after it go the other way."""

    code: Annotated[str, BeforeValidator(lambda value: str(value)), AfterValidator(_is_short)]
    words: list[Annotated[str, AfterValidator(_is_short)]] = []
    length: Annotated[int, BeforeValidator(lambda value: len(value) if isinstance(value, list | str) else value)] = 0
    any_of: Annotated[Any, AfterValidator(lambda value: value)] = None
    own: Annotated[object, PlainValidator(lambda value: value)] = None
    limited: Annotated[
        list[int], WrapValidator(lambda value, handler: handler(value[:2] if isinstance(value, list) else value))
    ] = []


_chained = fields(
    {"code": one_of("abcd", "", 1234, True, None, [], 1.5)},
    {
        "words": listed(one_of("", "abcd", "😀")),
        "length": either(integer(), text, listed(anything)),
        "any_of": anything,
        "own": anything,
        "limited": either(listed(integer()), one_of([1, 2, "x"], [1, 2, None, {}])),
    },
)


class Password(BaseModel):
    """A field is judged with those declared before it, wherever they stand in the text."""

    password: str
    repeated: str
    least: int = 0
    most: int = 10

    @field_validator("repeated")
    @classmethod
    def same(cls, value: str, info: ValidationInfo) -> str:
        if value != info.data.get("password"):
            raise ValueError("not the same")
        return value

    @field_validator("most")
    @classmethod
    def order(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("least", 0):
            raise ValueError("less than least")
        return value


def _password(random: Random) -> Json:
    secret = text(random)
    return fields(
        {"password": one_of(secret), "repeated": one_of(secret)}, {"least": integer(0, 5), "most": integer(5, 9)}
    )(random)


class Celsius:
    """A class that says itself how it is validated."""

    __slots__ = ("degrees",)

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls.check, core_schema.float_schema(ge=-273.15))

    @classmethod
    def check(cls, degrees: float) -> Celsius:
        if degrees > 1000:
            raise ValueError("too hot")
        return cls(degrees)


_weather = fields({"now": one_of(0, -273.15, "21.5", 1000)}, {"later": listed(one_of(1, 2.5))})


class Weather(BaseModel):
    now: Celsius
    later: list[Celsius] = []


# Of models


class Span(BaseModel):
    start: int
    end: int

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, value: Any) -> Any:
        """A span may be written as text, as a pair, or with the keys of another language."""
        if isinstance(value, str):
            start, _, end = value.partition("-")
            return {"start": start, "end": end}
        if isinstance(value, list):
            return dict(zip(["start", "end"], value, strict=False))
        if isinstance(value, dict) and "von" in value:
            return {"start": value["von"], "end": value.get("bis")}
        return value

    @model_validator(mode="after")
    def in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError("the end comes before the start")
        return self


class Calendar(BaseModel):
    spans: list[Span]
    main: Span | None = None
    by_name: dict[str, Span] = {}

    @model_validator(mode="after")
    def main_is_one(self) -> Self:
        if self.main is not None and self.main not in self.spans:
            raise ValueError("the main span is none of the spans")
        return self


_span = either(
    fields({"start": integer(0, 9), "end": integer(9, 20)}, extra=anything),
    one_of("1-2", "07-9", "3-3"),
    row(integer(0, 9), integer(9, 20)),
    fields({"von": integer(0, 9), "bis": integer(9, 20)}),
)


def _calendar(random: Random) -> Json:
    spans = listed(_span, 1)(random)
    return fields({"spans": one_of(spans)}, {"main": nullable(one_of(*spans)), "by_name": keyed(text, _span)})(random)


class Forgiving(BaseModel):
    """A wrap validator around a model, which makes a default of what is wrong unless it says so itself."""

    size: int = 0

    @model_validator(mode="wrap")
    @classmethod
    def forgive(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError:
            if isinstance(value, dict) and "strict" in value:
                raise
            return cls()


class Bag(BaseModel):
    """Instances are looked at again wherever they are handed in."""

    model_config = ConfigDict(revalidate_instances="always", frozen=True)
    items: tuple[Forgiving, ...] = ()
    inner: Bag | None = None

    @field_validator("items")
    @classmethod
    def not_many(cls, value: tuple[Forgiving, ...]) -> tuple[Forgiving, ...]:
        if len(value) == 3:
            raise ValueError("three")
        return value


_forgiving = either(anything, fields({"size": integer()}, {"strict": anything}), fields({"size": text}))
_items = change(listed(_forgiving, 0, 4), lambda items: len(items) != 3 and not _breaks(items))
_bag = fields({}, {"items": _items, "inner": nullable(fields({}, {"items": _items}))})


def _breaks(items: Json) -> bool:
    return any(isinstance(item, dict) and "strict" in item and isinstance(item.get("size"), str) for item in items)


@pydantic.dataclasses.dataclass
class Interval:
    low: int
    high: int = 100
    names: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError("the wrong way round")

    @field_validator("names", mode="before")
    @classmethod
    def one_name(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


_interval = fields({"low": integer(0, 9)}, {"high": integer(9, 20), "names": either(text, listed(text))})

CASES: list[Case] = [
    Case(
        "field validators",
        Fields,
        _fields,
        {
            "before": put(_fields, "tags", bad=one_of(1, None, [1], {})),
            "after": put(_fields, "size", bad=one_of(2, "4", 0)),
            "after, and the kind": put(_fields, "size", bad=one_of(None, "x", [])),
            "wrap": put(_fields, "amount", bad=one_of([], [1], [[]])),
            "plain": put(_fields, "colour", bad=one_of("redd", "re", 4, {}, {"name": "blue"}, None)),
            "two at once": put(_fields, "shout", bad=one_of(1, None)),
        },
    ),
    Case(
        "chained validators",
        Chained,
        _chained,
        {
            "after what was before": put(_chained, "code", bad=one_of("abcde", 12345, False, {"a": 1})),
            "an element": append(put(_chained, "words", bad=one_of([])), "words", bad=one_of("12345", 1)),
            "no length": put(_chained, "length", bad=one_of(None, {}, 1.5)),
            "what is left": put(_chained, "limited", bad=one_of(["x"], [1, "x"], None, "12")),
        },
    ),
    Case(
        "fields before",
        Password,
        _password,
        {
            "not the same": change(_password, lambda made: made.update(repeated=made["repeated"] + "!")),
            "nearly the same": change(
                _password, lambda made: bool(made["repeated"]) and made.update(repeated=made["repeated"][:-1])
            ),
            "less than least": fields(
                {"password": one_of(""), "repeated": one_of(""), "most": one_of(4), "least": one_of(5, "6")}
            ),
            "the first is wrong": put(_password, "password", bad=one_of(None, 1)),
        },
    ),
    Case(
        "own schema",
        Weather,
        _weather,
        {
            "too cold": put(_weather, "now", bad=one_of(-274, "-300")),
            "too hot": put(_weather, "now", bad=one_of(1000.5, 1e9)),
            "an element": append(put(_weather, "later", bad=listed(integer(0, 9))), "later", bad=one_of(1001, "x")),
        },
    ),
    Case(
        "model validators",
        Calendar,
        _calendar,
        {
            "the wrong way round": append(_calendar, "spans", bad=one_of({"start": 2, "end": 1}, "3-1", [9, 8])),
            "no span": append(_calendar, "spans", bad=one_of("1", "a-b", {"von": 1}, [1], {}, 5, None)),
            "at the end": put(_calendar, "main", bad=one_of({"start": 1, "end": 1000}, "0-999")),
        },
    ),
    Case(
        "validators around models",
        Bag,
        _bag,
        {
            "not forgiven": put(_bag, "items", bad=one_of([{"size": "x", "strict": 1}], [{"strict": 0, "size": []}])),
            "three": put(_bag, "items", bad=listed(integer(), 3, 3)),
            "inside": put(_bag, "inner", bad=one_of({"items": None}, {"items": [1, 2, 3]}, [])),
        },
    ),
    Case(
        "dataclass validators",
        list[Interval],
        listed(_interval),
        {
            "the wrong way round": append(listed(_interval), bad=one_of({"low": 5, "high": 4}, {"low": 101})),
            "a name": append(listed(_interval), bad=one_of({"low": 5, "names": [1]}, {"low": 1, "names": None})),
        },
    ),
]
