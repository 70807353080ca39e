"""Unions that pydantic validates: told apart by a discriminator, by kind, by trying, or by how well each fits.

Traps for whoever shows a branch early: text that turns out to be a date at its last character, models told
apart only by how many of their fields are there, a discriminator that comes last, or under another name.
"""

from __future__ import annotations

import enum
from datetime import date
from random import Random
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, Tag

from .instances import (
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
    listed,
    lose,
    nullable,
    number,
    one_of,
    put,
    row,
    text,
)

# Told apart by a discriminator


class Cat(BaseModel):
    kind: Literal["cat", "kitten"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str
    toys: list[str] = []


class Fish(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["fish"]
    depth: float


Pet = Annotated[Cat | Dog | Fish, Field(discriminator="kind")]


class Household(BaseModel):
    favourite: Pet
    pets: list[Pet] = []
    by_name: dict[str, Pet] = {}
    maybe: Pet | None = None


_cat = fields({"kind": one_of("cat", "kitten")}, {"lives": integer(0, 9)}, extra=anything)
_dog = fields({"kind": one_of("dog"), "name": text}, {"toys": listed(text)}, extra=anything)
_fish = fields({"kind": one_of("fish"), "depth": number})
_pet = either(_cat, _dog, _fish)
_household = fields(
    {"favourite": _pet}, {"pets": listed(_pet), "by_name": keyed(text, _pet), "maybe": nullable(_pet)}, extra=anything
)


class Shade(enum.StrEnum):
    BLACK = "black"
    WHITE = "white"


class Number(BaseModel):
    op: Literal["number"]
    value: int


class Black(BaseModel):
    op: Literal["colour"]
    shade: Literal[Shade.BLACK] = Field(alias="Shade")


class White(BaseModel):
    op: Literal["colour"]
    shade: Literal[Shade.WHITE] = Field(alias="Shade")
    alpha: float = 1.0


class Sum(BaseModel):
    op: Literal["sum", "product"]
    terms: list[Expression]


Coloured = Annotated[Black | White, Field(discriminator="shade")]
Expression = Annotated[Number | Sum | Coloured, Field(discriminator="op")]


class Program(RootModel[Expression]):
    """One discriminator inside another, recursive, at the root."""


def _expression(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _expression(random, depth + 1)  # noqa: E731
    return either(
        fields({"op": one_of("number"), "value": integer()}, extra=anything),
        fields({"op": one_of("colour"), "Shade": one_of("black")}),
        fields({"op": one_of("colour"), "Shade": one_of("white")}, {"alpha": number}),
        *([fields({"op": one_of("sum", "product"), "terms": listed(inner, 0, 3)})] if depth < 3 else []),
    )(random)


_sum = fields({"op": one_of("sum"), "terms": listed(_expression, 1, 3)})


class Version1(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    version: Literal[1] = Field(alias="v")
    name: str


class Version2(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    version: Literal[2] = Field(alias="v")
    names: list[str]


Versioned = Annotated[Version1 | Version2, Field(discriminator="version")]
_versioned = either(
    fields({"version": one_of(1), "name": text}),
    fields({"v": one_of(1), "name": text}),
    fields({"v": one_of(2), "names": listed(text)}, extra=anything),
)


class Plain(BaseModel):
    text: str


class Rich(BaseModel):
    text: str
    marks: list[int]


def _which(value: Any) -> str | None:
    """A callable discriminator: looks at what is there, and may find nothing."""
    if isinstance(value, str):
        return "bare"
    if isinstance(value, dict):
        return "rich" if "marks" in value else "plain" if "text" in value else None
    return "rich" if isinstance(value, Rich) else "plain"


Content = Annotated[
    Annotated[Plain, Tag("plain")] | Annotated[Rich, Tag("rich")] | Annotated[str, Tag("bare")], Discriminator(_which)
]


class Document(BaseModel):
    content: Content
    parts: list[Content] = []


_content = either(
    text,
    fields({"text": text}, {"mark": anything}),
    fields({"text": text, "marks": listed(integer())}),
)
_document = fields({"content": _content}, {"parts": listed(_content)})

_DISCRIMINATED = [
    Case(
        "discriminated",
        Household,
        _household,
        {
            "unknown kind": put(_household, "favourite", "kind", bad=one_of("ca", "cats", "bird", "", None, 1)),
            "no kind, though one branch has a default": put(_household, "favourite", bad=one_of({"name": "Rex"}, {})),
            "another branch": put(_household, "pets", bad=one_of([{"kind": "dog", "lives": 3}])),
            "an extra key of a branch": put(_household, "maybe", bad=put(_fish, "lives", bad=integer())),
            "inside of a value": put(_household, "by_name", bad=one_of({"a": {"kind": "cat", "lives": "many"}})),
            "a wrong field before the kind": put(_household, "maybe", bad=one_of({"depth": "x", "kind": "fish"})),
            "no object": put(_household, "pets", bad=one_of([None], ["cat"], [[]])),
        },
    ),
    Case(
        "expression",
        Program,
        _expression,
        {
            "unknown op": append(_sum, "terms", bad=one_of({"op": "minus"}, {"op": "su", "terms": []}, {})),
            "unknown inner kind": one_of({"op": "colour", "Shade": "grey"}, {"op": "colour"}),
            "inner kind by another name": one_of({"op": "colour", "shade": "black"}),
            "deep inside": append(_sum, "terms", bad=one_of({"op": "product", "terms": [{"op": "number"}]})),
        },
    ),
    Case(
        "discriminator with other names",
        list[Versioned],
        listed(_versioned),
        {
            "unknown": append(listed(_versioned), bad=one_of({"v": 3, "name": "a"}, {"v": "1", "name": "a"})),
            "another branch": append(listed(_versioned), bad=one_of({"version": 1, "names": []}, {"v": 2, "name": ""})),
        },
    ),
    Case(
        "callable discriminator",
        Document,
        _document,
        {
            "none fits": put(_document, "content", bad=one_of({}, {"texts": ""}, {"other": 1})),
            "the chosen one": put(_document, "content", bad=one_of({"marks": []}, {"text": "a", "marks": None})),
            "kind": put(_document, "content", bad=one_of(1, None, [])),
            "an element": append(put(_document, "parts", bad=listed(_content)), "parts", bad=one_of({"text": 1}, 2)),
        },
    ),
]


# Told apart by trying


class Scalars(BaseModel):
    """Which branch is taken is known at the last character, if then."""

    number_or_text: int | str
    day_or_text: date | str = ""
    text_or_day: str | date = ""
    key_or_number: UUID | int = 0
    flag_or_number: bool | int | float = 0
    literal_or_number: Literal["auto", "all"] | int = "auto"
    nothing: int | str | None = None


_scalars = fields(
    {"number_or_text": one_of(1, "1", "one", "", 1.0, True)},
    {
        "day_or_text": one_of("2024-05-01", "2024-05-0", "2024-05-012", "0", ""),
        "text_or_day": one_of("2024-05-01", "", 0, 86400),
        "key_or_number": one_of("0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e", "12", 7, "0" * 32),
        "flag_or_number": one_of(True, 1, 0, 0.5, "yes", "12", "1.5", 1.0),
        "literal_or_number": one_of("auto", "all", 5, "5", 5.0),
        "nothing": one_of(None, 1, "null", ""),
    },
)


class Orders(BaseModel):
    """The first branch that takes it, not the best."""

    number_first: Annotated[int | str, Field(union_mode="left_to_right")]
    text_first: Annotated[str | int, Field(union_mode="left_to_right")] = ""
    floats_first: list[Annotated[float | int | bool, Field(union_mode="left_to_right")]] = []


_orders = fields(
    {"number_first": one_of(1, "1", "one", True)},
    {"text_first": one_of("1", 1, "2.0", 2.0), "floats_first": listed(one_of(1, True, "1", 1.5))},
)


class Small(BaseModel):
    a: int


class Big(BaseModel):
    a: int
    b: int = 0
    c: list[int] = []


class Other(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: str
    d: None = None


class Fitting(BaseModel):
    """Models that share fields: the one that fits best, by exactness and then by how many fields are set."""

    one: Small | Big | Other
    many: list[Other | Small | Big] = []
    maybe: Big | Small | None = None


_alike = either(
    fields({"a": integer()}),
    fields({"a": integer(), "b": integer()}),
    fields({"a": one_of("1", 1), "c": listed(integer())}, extra=anything),
    fields({"a": text}, {"d": one_of(None)}),
)
_fitting = fields(
    {"one": _alike},
    {"many": listed(_alike), "maybe": nullable(fields({"a": integer()}, {"b": integer(), "z": anything}))},
)


class Leaf(BaseModel):
    value: int | None = None


class Branch(BaseModel):
    children: list[Branch | Leaf | int | str]
    names: list[int] | list[str] | dict[str, int] = []
    pair: tuple[int, int] | tuple[str, str, str] | None = None
    lone: Leaf | list[Leaf] | Literal["none"] = "none"


def _branch(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _branch(random, depth + 1)  # noqa: E731
    child = either(
        *([inner] if depth < 2 else []), fields({}, {"value": nullable(integer())}, extra=boolean), integer(), text
    )
    return fields(
        {"children": listed(child, 0, 3)},
        {
            "names": either(listed(integer()), listed(text), keyed(text, integer()), listed(one_of("1", 2))),
            "pair": nullable(either(row(integer(), integer()), row(text, text, text))),
            "lone": either(one_of("none"), fields({}, {"value": integer()}), listed(fields({}, {"value": integer()}))),
        },
    )(random)


_UNDECIDED = [
    Case(
        "scalar unions",
        Scalars,
        _scalars,
        {
            "none takes it": put(_scalars, "number_or_text", bad=one_of(None, 1.5, [], {})),
            "neither day nor text": put(_scalars, "day_or_text", bad=one_of(None, 1, 0.5)),
            "neither key nor number": put(_scalars, "key_or_number", bad=one_of("", "0b5fd7e2-7c65", "1.5", None)),
            "neither flag nor number": put(_scalars, "flag_or_number", bad=one_of("maybe", "", None)),
            "nearly the literal": put(_scalars, "literal_or_number", bad=one_of("aut", "al", "automatic", 0.5)),
            "no leaf": put(_scalars, "nothing", bad=one_of([], {}, 0.5)),
        },
    ),
    Case(
        "left to right",
        Orders,
        _orders,
        {
            "none takes it": put(_orders, "number_first", bad=one_of(None, 1.5, [])),
            "neither": put(_orders, "text_first", bad=one_of(0.5, None, {})),
            "an element": put(_orders, "floats_first", bad=one_of([1, "x"], [None], [[1]])),
        },
    ),
    Case(
        "best fit",
        Fitting,
        _fitting,
        {
            "none takes it": put(_fitting, "one", bad=one_of({}, {"b": 1}, {"a": "x", "b": 1}, {"a": None}, [], 1)),
            "the last key decides": put(_fitting, "one", bad=one_of({"a": "x", "d": None, "e": None})),
            "one of many": append(put(_fitting, "many", bad=listed(_alike)), "many", bad=one_of({"b": 1}, None)),
            "not that one": put(_fitting, "maybe", bad=one_of({"a": "x", "d": None}, [])),
        },
    ),
    Case(
        "unions of containers",
        Branch,
        _branch,
        {
            "no children": lose(_branch, "children"),
            "a child": append(_branch, "children", bad=one_of(None, 1.5, [], {"value": "x"})),
            "a mixture": put(_branch, "names", bad=one_of([1, "x"], ["x", None], {"a": "b"}, [[]])),
            "a pair of texts": put(_branch, "pair", bad=one_of(["a", "b"], [1, 2, 3], [1], ["a", "b", "c", "d"])),
            "not alone": put(_branch, "lone", bad=one_of("non", {"value": "x"}, [{"value": []}], [None], None)),
            "a grandchild": append(_branch, "children", bad=one_of({"children": [None], "value": "x"}, {"value": []})),
        },
    ),
]

CASES: list[Case] = [*_DISCRIMINATED, *_UNDECIDED]
