"""Classes of objects that pydantic validates: recursive ones, generic ones, and those that are no models.

Traps for whoever knows a type by its name alone: a plain dataclass takes the policy about extra keys from
what it stands in, a named tuple may come as an object, a recursive type has no end.
"""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Annotated, Generic, NamedTuple, NotRequired, Required, TypeVar

import pydantic.dataclasses
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypeAliasType, TypedDict

from .instances import (
    Case,
    Gen,
    Json,
    anything,
    append,
    change,
    either,
    fields,
    integer,
    keyed,
    listed,
    lose,
    nullable,
    one_of,
    put,
    row,
    text,
)

# Recursive and generic


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Link(BaseModel):
    value: int
    next: Link | None = None


class Folder(BaseModel):
    name: str
    files: dict[str, File] = {}


class File(BaseModel):
    size: int
    inside: Folder | None = None


class Opposite(BaseModel):
    """Each of two names of the same class, in a container and beside it."""

    left: tuple[Opposite, Opposite] | None = None
    right: dict[str, Opposite] = {}


Formula = TypeAliasType("Formula", "int | str | list[Formula] | dict[str, Formula]")


def _tree(random: Random, depth: int = 0) -> Json:
    of = {"name": text}
    inner: Gen = lambda random: _tree(random, depth + 1)  # noqa: E731
    return fields(of, {"children": listed(inner, 0, 3 if depth < 3 else 0)})(random)


def _link(random: Random) -> Json:
    chain: Json = None
    for _ in range(random.randint(1, 12)):
        chain = fields({"value": integer()}, {"next": one_of(chain)})(random)
    return chain


def _folder(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _folder(random, depth + 1)  # noqa: E731
    file = fields({"size": integer()}, {"inside": nullable(inner)} if depth < 3 else {})
    return fields({"name": text}, {"files": keyed(text, file, 0, 2)})(random)


def _opposite(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _opposite(random, depth + 1)  # noqa: E731
    return fields({}, {"left": nullable(row(inner, inner)), "right": keyed(text, inner, 0, 2)} if depth < 3 else {})(
        random
    )


def _formula(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _formula(random, depth + 1)  # noqa: E731
    return either(integer(), text, *([listed(inner), keyed(text, inner)] if depth < 3 else []))(random)


T = TypeVar("T")
N = TypeVar("N", bound=BaseModel)


class Page(BaseModel, Generic[T]):
    items: list[T]
    first: T | None = None
    total: int = 0


class Holder(BaseModel, Generic[N, T]):
    inner: N
    page: Page[T]


_page = fields({"items": listed(integer())}, {"first": nullable(integer()), "total": integer()})
_holder = fields({"inner": _link, "page": fields({"items": listed(_tree)}, {"first": nullable(_tree)})})


class Names(RootModel[list[Annotated[str, Field(max_length=60)]]]):
    pass


class Register(BaseModel):
    names: Names
    by_id: RootModel[dict[int, Names]] = RootModel({})
    number: RootModel[int] | None = None


_names = listed(change(text, lambda made: len(made) <= 60))
_register = fields({"names": _names}, {"by_id": keyed(one_of("1", "2", "-3"), _names), "number": nullable(integer())})
_SELVES = [
    Case(
        "tree",
        Tree,
        _tree,
        {
            "a child": append(put(_tree, "children", bad=listed(_tree, 1)), "children", bad=one_of(None, {}, [], 1)),
            "a grandchild": put(_tree, "children", bad=one_of([{"name": "a", "children": [{"name": 1}]}])),
            "children null": put(_tree, "children", bad=one_of(None)),
        },
    ),
    Case(
        "linked list",
        Link,
        _link,
        {
            "the last link": put(_link, "next", bad=one_of({"value": 1, "next": {"value": 2, "next": {}}})),
            "another kind": put(_link, "next", bad=one_of([], "", {"value": 1, "next": 5})),
        },
    ),
    Case(
        "mutual",
        Folder,
        _folder,
        {
            "inside": put(_folder, "files", bad=one_of({"a": {"size": 1, "inside": {"name": "x", "files": []}}})),
            "size": put(_folder, "files", bad=one_of({"a": {}}, {"a": {"size": None}})),
        },
    ),
    Case(
        "opposite",
        Opposite,
        _opposite,
        {
            "a triple": put(_opposite, "left", bad=one_of([{}, {}, {}])),
            "a single": put(_opposite, "left", bad=one_of([{}], [{}, {"left": [{}]}])),
            "kind": put(_opposite, "right", bad=one_of({"": None}, {"a": {"right": {"b": []}}})),
        },
    ),
    Case(
        "recursive alias",
        Formula,
        _formula,
        {
            "null": one_of(None),
            "null inside": append(listed(_formula, 1), bad=one_of(None, [None], {"a": {"b": None}})),
        },
    ),
    Case(
        "generic",
        Page[int],
        _page,
        {"an item": append(_page, "items", bad=one_of("x", None)), "first": put(_page, "first", bad=one_of("x", []))},
    ),
    Case(
        "generic of two",
        Holder[Link, Tree],
        _holder,
        {
            "inner": lose(_holder, "inner", "value"),
            "an item": append(_holder, "page", "items", bad=one_of({}, None, {"name": None})),
        },
    ),
    Case(
        "generic unbound",
        Page,
        fields({"items": listed(anything)}, {"first": anything}),
        {"no list": one_of({"items": {}}, {"items": None}, {})},
    ),
    Case(
        "root model",
        Register,
        _register,
        {
            "an element": append(_register, "names", bad=one_of(1, None, "x" * 61)),
            "a key": put(_register, "by_id", bad=one_of({"x": []}, {"1": {}}, [])),
            "no object around it": put(_register, "names", bad=one_of({"root": []})),
            "number": put(_register, "number", bad=one_of({}, "x", {"root": 1})),
        },
    ),
]


# Other classes of objects


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    ends: tuple[Point, Point]
    width: Annotated[float, Field(gt=0)] = 1.0
    length: int = dataclasses.field(default=0, init=False)
    scale: dataclasses.InitVar[int] = 1


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="forbid", frozen=True))
class Circle:
    centre: Point
    radius: float = Field(gt=0, alias="r")


class Drawing(BaseModel):
    """The places of a frozen class are hashed, so it may stand in a set."""

    lines: list[Line] = []
    circle: Circle | None = None
    cells: frozenset[Cell] = frozenset()


class Cell(NamedTuple):
    row: int
    column: int = 0


_point = fields({"x": integer()}, {"y": integer(), "tags": listed(text)}, extra=anything)
_line = fields(
    {"ends": row(_point, _point)},
    {"width": one_of(0.5, 2, "3"), "scale": one_of(1, 2), "length": anything},
)
# A plain dataclass takes the policy about extra keys from what it stands in.
_circle = fields({"centre": fields({"x": integer()}, {"y": integer()}), "r": one_of(1, 2.5, "0.1")})
_cell = either(row(integer()), row(integer(), integer()), fields({"row": integer()}, {"column": integer()}))
_drawing = fields({}, {"lines": listed(_line), "circle": nullable(_circle), "cells": listed(_cell)})


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Credits(TypedDict, total=False):
    director: Required[str]
    cast: list[Movie]
    budget: Annotated[int, Field(ge=0)] | None


class Exact(TypedDict, closed=True):
    a: int
    b: NotRequired[list[int]]


class Numbered(TypedDict, extra_items=int):  # type: ignore[call-arg]
    name: str


class Strictly(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]
    size: int


_movie = fields({"title": text}, {"year": integer()}, extra=anything)
_credits = fields({"director": text}, {"cast": listed(_movie), "budget": nullable(integer(0, 9))}, extra=anything)
_exact = fields({"a": integer()}, {"b": listed(integer())})
_numbered = fields({"name": text}, {"one": integer(), "": integer(), "n": one_of("2")})


class Setting(NamedTuple):
    name: str
    value: list[int]
    unit: str | None = None


_setting = either(
    row(text, listed(integer())),
    row(text, listed(integer()), nullable(text)),
    fields({"name": text, "value": listed(integer())}, {"unit": nullable(text)}),
)
_OTHERS = [
    Case(
        "dataclass",
        Point,
        _point,
        {
            "no x": lose(_point, "x"),
            "kind": either(row(integer(), integer()), one_of(None, "")),
            "a tag": put(_point, "tags", bad=one_of([1], "ab")),
        },
    ),
    Case(
        "dataclasses inside",
        Drawing,
        _drawing,
        {
            "an end": put(_drawing, "lines", bad=one_of([{"ends": [{"x": 1}, {"y": 1}]}], [{"ends": [{"x": 1}]}])),
            "width": put(_drawing, "lines", bad=row(put(_line, "width", bad=one_of(0, -1, None)))),
            "an init only value": put(_drawing, "lines", bad=row(put(_line, "scale", bad=one_of("x", None)))),
            "an extra key": put(_drawing, "circle", bad=put(_circle, "radius", bad=integer())),
            "an extra key further in": put(_drawing, "circle", bad=put(_circle, "centre", "z", bad=integer())),
            "by its own name": put(_drawing, "circle", bad=one_of({"centre": {"x": 1}, "radius": 1})),
            "a cell too long": put(_drawing, "cells", bad=one_of([[1], [1, 2, 3]], [[]])),
            "a cell's other key": put(_drawing, "cells", bad=one_of([{"row": 1, "col": 2}], [{"column": 2}])),
        },
    ),
    Case(
        "typed dict",
        Credits,
        _credits,
        {
            "required after all": lose(_credits, "director"),
            "a movie": append(put(_credits, "cast", bad=listed(_movie)), "cast", bad=one_of({}, {"title": 1})),
            "budget": put(_credits, "budget", bad=one_of(-1, "x", [])),
        },
    ),
    Case(
        "closed typed dict",
        Exact,
        _exact,
        {
            "an extra key": put(_exact, "c", bad=anything),
            "null": put(_exact, "b", bad=one_of(None)),
            "no a": one_of({}),
        },
    ),
    Case(
        "typed dict with typed extras",
        Numbered,
        _numbered,
        {"an extra value": put(_numbered, "two", bad=one_of("x", None, [])), "no name": lose(_numbered, "name")},
    ),
    Case(
        "strict typed dict",
        list[Strictly],
        listed(fields({"size": integer()})),
        {
            "a number as text": append(listed(fields({"size": integer()})), bad=one_of({"size": "1"}, {"size": 1.0})),
            "an extra key": append(listed(fields({"size": integer()})), bad=one_of({"size": 1, "sizes": 1})),
        },
    ),
    Case(
        "named tuple",
        Setting,
        _setting,
        {
            "too short": one_of(["a"], []),
            "too long": one_of(["a", [], None, None]),
            "a missing key": one_of({"name": "a"}, {"value": []}),
            "an extra key": one_of({"name": "a", "value": [], "size": 1}),
            "an element": one_of(["a", [1, "x"]], ["a", None], [1, []]),
            "kind": one_of("ab", None, 1),
        },
    ),
]

CASES: list[Case] = [*_SELVES, *_OTHERS]
