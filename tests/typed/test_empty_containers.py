"""Containers that have not begun, shown as empty: which ones, and what else stays as it is."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest
from pydantic import BaseModel, BeforeValidator, Field, RootModel
from typing_extensions import TypedDict

from unspool import OptionsError
from unspool.typed import Atomic, from_msgspec, from_pydantic, iter_partial, partial


class Names(RootModel[list[str]]):
    pass


class Day(BaseModel):
    title: str
    names: list[str]
    by_name: dict[str, int] = Field(alias="byName")
    ids: set[int]
    frozen: frozenset[int]
    pair: tuple[int, ...]
    queue: deque[int]
    ordered: OrderedDict[str, int]
    root: Names
    words: Annotated[list[str], BeforeValidator(lambda value: value)]
    whole: Annotated[list[str], Atomic]
    inner: list[Day]
    defaulted: list[str] = ["a"]
    perhaps: list[str] | None
    either: list[str] | dict[str, str]
    next: Day | None = None


EMPTY: dict[str, Any] = {
    "names": [],
    "by_name": {},
    "ids": set(),
    "frozen": frozenset(),
    "pair": (),
    "queue": deque(),
    "ordered": OrderedDict(),
    "root": [],
    "words": [],
    "whole": [],
    "inner": [],
    "defaulted": [],
}


def test_a_model() -> None:
    """Every field that can only be a container is empty; one that may be null, or another kind, is None."""
    shown = next(iter_partial(Day, ['{"title": "One"'], empty="containers"))
    dumped = shown.value.model_dump(warnings=False)
    assert dumped == {"title": "One", **EMPTY, "perhaps": None, "either": None, "next": None}
    assert {name: type(value) for name, value in dumped.items() if name in EMPTY} == {
        name: type(value) for name, value in EMPTY.items()
    }
    assert shown.value.model_fields_set == {"title"}
    assert shown.value.model_dump(exclude_unset=True) == {"title": "One"}
    assert isinstance(shown.value.root, Names)


def test_loops_without_guards() -> None:
    """A loop over what is not there yet does nothing, at any level and after every fragment."""
    text = '{"title": "a", "inner": [{"title": "b", "names": ["x", "y"]}, {"inner": [{"names": ["z"]}]}]}'
    seen: list[str] = []
    for shown in iter_partial(Day, text, empty="containers", on_invalid="ignore"):
        names = [name for day in shown.value.inner for name in day.names]
        names += [name for day in shown.value.inner for more in day.inner for name in more.names]
        seen.append(" ".join(names))
    assert seen[0] == ""
    assert seen[-1] == "x y z"


def test_values_have_their_own() -> None:
    """No two values share an empty container, so changing one changes nothing else."""
    resolver = partial(Day, empty="containers")
    first = next(iter_partial(resolver, ['{"title": "a', "x"]))
    first.value.names.append("mine")
    second = next(iter_partial(resolver, ['{"title": "a', "x"]))
    assert second.value.names == []


@dataclass
class Point:
    x: int
    tags: list[str]


class Entry(TypedDict):
    text: str
    tags: list[str]


class Row(NamedTuple):
    text: str
    tags: list[str]


class Struct(msgspec.Struct):
    text: str
    tags: list[str]
    by_name: dict[str, int]
    perhaps: list[str] | None = None


class RowStruct(msgspec.Struct, array_like=True):
    text: str
    tags: list[str]


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        (Point, '{"x": 1, ', {"x": 1, "tags": []}),
        (Entry, '{"text": "a', {"text": "a", "tags": []}),
        (Row, '{"text": "a', {"text": "a", "tags": []}),
        (Row, '["a', {"text": "a", "tags": []}),
        (Struct, '{"text": "a', {"text": "a", "tags": [], "by_name": {}, "perhaps": None}),
        (RowStruct, '["a', {"text": "a", "tags": []}),
        (from_pydantic(list[Entry], empty="containers"), '[{"text": "a', [{"text": "a", "tags": []}]),
        (from_msgspec(list[Entry], empty="containers"), '[{"text": "a', [{"text": "a", "tags": []}]),
    ],
)
def test_other_classes(type: Any, text: str, expected: Any) -> None:
    """Dataclasses, typed dicts, named tuples and structs have them, too."""
    resolver = partial(type) if "Shape" in type.__class__.__name__ else partial(type, empty="containers")
    shown = next(iter_partial(resolver, [text, ""])).value
    if isinstance(shown, (dict, list)):
        assert shown == expected
    else:
        assert {name: getattr(shown, name) for name in expected} == expected


def test_the_end_is_the_same() -> None:
    """The option is about half-filled values: verdict and complete value do not change."""
    text = '{"x": 1, "tags": ["a"]}'
    *_, with_empty = iter_partial(Point, text, empty="containers")
    *_, without = iter_partial(Point, text)
    assert with_empty.value == without.value == Point(1, ["a"])
    assert [str(path) for path in next(iter_partial(Point, ["{", "}"], empty="containers")).missing] == [
        "$.x",
        "$.tags",
    ]


def test_refused() -> None:
    """Other words, plain values of a JSON Schema, and resolvers that were made before are refused."""
    with pytest.raises(OptionsError, match="empty must be 'containers' or None"):
        iter_partial(Point, [], empty="lists")  # type: ignore[call-overload]
    with pytest.raises(OptionsError, match="empty= is for classes"):
        iter_partial({"type": "object"}, [], empty="containers")
    with pytest.raises(OptionsError, match="where the resolver or shape is made"):
        iter_partial(partial(Point), [], empty="containers")
