"""Types as a call takes them: adapters, names in quotes, `strict`, `context`, and the words of validators."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
import msgspec
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    OnErrorOmit,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tests.support.models import CASES
from unspool import Options, OptionsError, create_state, finalize, parse_chunk
from unspool.llm import MessageStream
from unspool.typed import (
    Complete,
    InvalidError,
    WholeItems,
    aitems,
    aiter_partial,
    from_msgspec,
    from_pydantic,
    items,
    iter_changes,
    iter_partial,
    partial,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.instances import Case

OPTIONS = Options(duplicate_keys="error")


class Trip(BaseModel):
    city: str
    nights: int = Field(gt=0)


# Types


def test_adapters() -> None:
    """An instance of `TypeAdapter` is a type like any other, and its config holds."""
    adapter = TypeAdapter(list[Trip])
    *_, last = iter_partial(adapter, ['[{"city": "Por', 'to", "nights": 2}]'])
    assert last.value == [Trip(city="Porto", nights=2)]
    assert list(items(TypeAdapter(Trip), ['[{"city": "Porto", "nights": 2}]'])) == [Trip(city="Porto", nights=2)]
    strict = TypeAdapter(list[int], config=ConfigDict(strict=True))
    assert next(iter_partial(strict, ["[1]"])).value == [1]
    with pytest.raises(InvalidError):
        list(iter_partial(strict, ['["1"]']))
    upper = TypeAdapter(dict[str, str], config=ConfigDict(str_to_upper=True))
    assert next(iter_partial(partial(upper), ['{"a": "b"}'])).value == {"A": "B"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    name: str
    metres: int = 0
    built: int = field(default=1900, init=False)


@attrs.frozen(kw_only=True)
class River:
    name: str
    bridges: list[Bridge] = attrs.field(factory=list)
    into: River | None = None


BRIDGE = ['{"name": "Lu', 'ís I", "metres": 385', "}"]
RIVER = ['{"name": "Sa', 'bor", "into": {"name": "Douro", "bridges": [{"name": "Luís I", "me', 'tres": 385}]}}']


@pytest.mark.parametrize(
    ("cls", "fragments", "expected"),
    [
        (Bridge, BRIDGE, Bridge(name="Luís I", metres=385)),
        (River, RIVER, River(name="Sabor", into=River(name="Douro", bridges=[Bridge(name="Luís I", metres=385)]))),
    ],
    ids=["dataclass", "attrs"],
)
def test_classes_by_their_own_names(cls: Any, fragments: list[str], expected: Any) -> None:
    """Dataclasses and classes of attrs are types like models wherever a type is taken: no shape is made by hand."""
    for taken in (cls, partial(cls)):
        first, second, last = [found.value for found in iter_partial(taken, fragments)]
        assert last == expected
        assert (type(first) is cls, type(second) is cls, type(last) is cls) == (False, False, True)
        assert isinstance(first, cls)
        assert (first.name, second.name) == (expected.name[:2], expected.name)
        assert list(items(taken, ["[", *fragments, "]"])) == [expected]
        assert [changes.value for changes in iter_changes(taken, fragments)][-1] == expected
        assert partial(taken).resolve(parse_chunk(create_state(), "".join(fragments)))[0].value == expected
    with pytest.raises(InvalidError, match=r"\$\.name"):
        list(iter_partial(cls, ['{"name": 1}']))


def test_names_in_quotes() -> None:
    """Names in quotes are looked up where the caller is: in its module, and in its function."""

    class Stay(BaseModel):
        nights: int

    (last,) = iter_partial(list["Trip"], ['[{"city": "", "nights": 1}]'])
    assert last.value == [Trip(city="", nights=1)]
    expected = [Stay(nights=1)]
    assert next(iter_partial(list["Stay"], ['[{"nights": 1}]'])).value == expected
    assert next(iter_partial("list[Stay]", ['[{"nights": 1}]'])).value == expected
    assert list(items("Stay", ['[{"nights": 1}]'])) == expected
    state = parse_chunk(create_state(), '[{"nights": 1}]')
    assert partial(list["Stay"]).resolve(state)[0].value == expected
    assert resolve(from_pydantic(list["Stay"]), state)[0].value == expected
    MessageStream([], format="openai-chat", tools={"stay": list["Stay"]})


def test_names_that_are_unknown() -> None:
    """A name that the caller does not know is an error that names it."""
    with pytest.raises(OptionsError, match="Nowhere"):
        partial(list["Nowhere"])  # type: ignore[name-defined]  # pyright: ignore[reportUndefinedVariable]  # noqa: F821


class Marked(msgspec.Struct):
    notes: Annotated[dict[str, int], WholeItems]


@pytest.mark.parametrize(
    ("make", "type", "path"),
    [
        (from_pydantic, Annotated[dict[str, int], WholeItems], "$"),
        (from_pydantic, list[Annotated[Trip, WholeItems]], "$[*]"),
        (from_pydantic, dict[str, Annotated[str, WholeItems]], "$[*]"),
        (from_pydantic, Annotated[dict[str, int] | str, WholeItems], "$"),
        (from_pydantic, list[Annotated[str, BeforeValidator(str), WholeItems]], "$[*]"),
        (from_msgspec, Marked, "$.notes"),
        (from_msgspec, list[Annotated[Marked, WholeItems]], "$[*]"),
    ],
)
def test_whole_items_of_an_object(make: Any, type: Any, path: str) -> None:
    """`WholeItems` is refused where there are no items."""
    with pytest.raises(OptionsError) as refused:
        make(type)
    assert str(refused.value) == f"{path}: WholeItems is for arrays; mark the values of an object with Atomic instead"


@pytest.mark.parametrize(
    "type",
    [
        Annotated[list[str], WholeItems],
        Annotated[list[str] | None, WholeItems],
        Annotated[list[str] | str | int, WholeItems],
        Annotated[list[str] | Trip, WholeItems],
        Annotated[list[str], BeforeValidator(list), WholeItems],
        Annotated[list[str] | Trip, BeforeValidator(list), WholeItems],
    ],
    ids=str,
)
def test_whole_items_of_an_array_among_other_types(type: Any) -> None:
    """The marker reaches the arrays in a union, and what a draft shows. The type may come twice."""
    shown = [one.value for one in iter_partial(dict[str, type], ['{"a": ["ab", "c', 'd"], "b": ["ab", "c', 'd"]}'])]
    assert [{key: list(value) for key, value in one.items()} for one in shown] == [
        {"a": ["ab"]},
        {"a": ["ab", "cd"], "b": ["ab"]},
        {"a": ["ab", "cd"], "b": ["ab", "cd"]},
    ]


def test_whole_items_where_a_validator_may_take_an_array() -> None:
    """Nothing tells whether the branch is for arrays, so the marker is allowed."""
    shouted: Any = Annotated[str, BeforeValidator(lambda value: "".join(value).upper())]
    *_, last = iter_partial(Annotated[shouted | int, WholeItems], '["a", "b"]')
    assert last.value == "AB"


def test_items_that_may_be_omitted() -> None:
    """An item of `OnErrorOmit` is there once it is accepted, and never before."""
    text = '[{"city": "A", "nights": 1}, {"city": "B", "nights": 0}, {"city": "C", "nights": 3}]'
    shown = [[trip.city for trip in partial.value] for partial in iter_partial(list[OnErrorOmit[Trip]], text)]
    assert shown == [[], ["A"], ["A", "C"], ["A", "C"]]
    assert next(iter_partial(list[OnErrorOmit[int]], ['[1, "x", 2, '])).value == [1, 2]


# Strict and context


def verdict(type: Any, text: str, **options: Any) -> Any:
    """The value that pydantic makes of a text; None inside a tuple if it refuses the text."""
    try:
        return [TypeAdapter(type).validate_json(text, **options)]
    except ValidationError:
        return []


def without_addresses(value: Any) -> str:
    """A value in words, types of its parts included."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_strict_is_that_of_pydantic(case: Case, strict: bool) -> None:
    """With `strict`, verdict and value are those of pydantic with the same argument, whatever the type says itself."""
    resolver = partial(case.type, strict=strict)
    random = Random(case.name)
    for make in [case.valid] * 6 + [*case.faults.values()] * 2:
        text = json.dumps(make(random))
        state = parse_chunk(create_state(OPTIONS), text)
        if state.error is not None:
            continue
        resolution, _ = resolver.resolve(finalize(state))
        expected = verdict(case.type, text, strict=strict)
        assert isinstance(resolution, Complete) is bool(expected), text
        if expected:
            assert without_addresses(resolution.value) == without_addresses(expected[0]), text


def test_strict_is_noticed_early() -> None:
    """With `strict`, a number in a string is wrong from its first quote on."""
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(Trip, ['{"nights": "'], strict=True))
    assert str(wrong.value) == "wrong_kind: $.nights: expected an integer"
    with pytest.raises(InvalidError):
        list(items(Trip, ['[{"city": "", "nights": "1"}]'], strict=True))


def at_least(value: int, info: ValidationInfo) -> int:
    """A validator that reads the context."""
    least: int = (info.context or {}).get("least", 0)
    if value < least:
        raise ValueError(f"must be at least {least}")
    return value


class Counted(BaseModel):
    first: Annotated[int, AfterValidator(at_least)]
    others: list[Annotated[int, AfterValidator(at_least)]] = []
    by_name: dict[str, Annotated[int, AfterValidator(at_least)]] = {}
    name: str = ""

    @field_validator("name")
    @classmethod
    def _named(cls, name: str, info: ValidationInfo) -> str:
        return name + str((info.context or {}).get("end", ""))

    @model_validator(mode="after")
    def _checked(self, info: ValidationInfo) -> Counted:
        assert sum(self.others) <= (info.context or {}).get("most", 100), "too much"
        return self

    @model_validator(mode="before")
    @classmethod
    def _raw(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, dict) and (info.context or {}).get("first"):
            return {"first": (info.context or {})["first"], **value}
        return value


@pytest.mark.parametrize("type", [Counted, list[Counted], dict[str, Counted] | int], ids=str)
@pytest.mark.parametrize(
    "context", [None, {}, {"least": 2}, {"most": 3}, {"end": "!"}, {"first": 7}, {"least": 1, "most": 5, "end": "?"}]
)
def test_context_is_that_of_pydantic(type: Any, context: Any) -> None:
    """With `context`, verdict and value are those of pydantic with the same argument."""
    random = Random(str(context))
    for _ in range(20):
        one: dict[str, Any] = {"others": [random.randrange(4) for _ in range(random.randrange(4))], "name": "a"}
        if random.random() < 0.8:
            one["first"] = random.randrange(4)
        text = json.dumps([one] if type == list[Counted] else one if type is Counted else {"a": one})
        expected = verdict(type, text, context=context)
        found = [
            last.value
            for last in [*iter_partial(type, text, context=context, on_invalid="ignore")][-1:]
            if last.is_complete
        ]
        assert found == expected, text


def test_context_of_every_call() -> None:
    """All calls hand the context on: iterators, their async twins, resolvers, and streams of messages."""
    text = '[{"first": 1, "name": "a"}]'
    context = {"end": "!"}

    async def fragments() -> AsyncIterator[str]:
        yield text

    async def main() -> list[Any]:
        values = [one.value[0].name async for one in aiter_partial(list[Counted], fragments(), context=context)]
        return [values[-1], *[one.name async for one in aitems(Counted, fragments(), context=context)]]

    assert asyncio.run(main()) == ["a!", "a!"]
    assert [one.name for one in items(Counted, [text], context=context)] == ["a!"]
    assert [one.name for one in items(partial(Counted, context=context), [text])] == ["a!"]
    assert [one.name for one in items(partial(Counted, context={"end": "?"}), [text], context=context)] == ["a!"]
    state = parse_chunk(create_state(), text)
    assert partial(list[Counted], context=context).resolve(state)[0].value[0].name == "a!"


def test_context_of_a_cache() -> None:
    """A cache that was made with one context is not used with another."""
    shape = from_pydantic(list[Counted])
    state = parse_chunk(create_state(), '[{"first": 1, "name": "a"}, {"first": 2')
    for one in ({"end": "!"}, {"end": "?"}, None, {"least": 5}):
        _, cache = resolve(shape, state, context={"end": "+"})
        _, cache = resolve(shape, state, cache, context=one)
        later = parse_chunk(state, "}]")
        cached, _ = resolve(shape, later, cache, context={"end": "#"})
        assert [item.name for item in cached.value] == ["a#", ""]  # type: ignore[attr-defined]


def test_context_inside_of_a_validator() -> None:
    """A validator that calls the library has its own call, without the context around it."""

    def nested(value: int) -> int:
        return int(next(iter_partial(Counted, ['{"first": 1, "name": "a"}'])).value.name == "a")

    numbers = list[Annotated[int, AfterValidator(nested)]]
    assert next(iter_partial(numbers, ["[5]"], context={"end": "!"})).value == [1]


class Point(msgspec.Struct):
    x: int


@pytest.mark.parametrize("type", [Point, {"type": "object"}, True])
@pytest.mark.parametrize("options", [{"strict": True}, {"context": {}}])
def test_pydantic_alone_has_a_context(type: Any, options: Any) -> None:
    """For types of other libraries, `strict` and `context` are refused instead of ignored."""
    with pytest.raises(OptionsError, match="for Pydantic types only"):
        iter_partial(type, [], **options)


def test_strict_of_a_resolver() -> None:
    """A resolver was made strict, or not: it cannot become it later."""
    with pytest.raises(OptionsError, match="where the resolver or shape is made"):
        iter_partial(partial(Trip), [], strict=True)
    with pytest.raises(OptionsError, match="where the resolver or shape is made"):
        items(from_pydantic(Trip), [], strict=False)


# The words of validators


class Task(BaseModel):
    name: str
    status: Literal["active", "done"]
    priority: Literal["high", "low"]

    @model_validator(mode="after")
    def _checked(self) -> Task:
        if self.status == "active" and self.priority != "high":
            raise ValueError("Active tasks must have high priority")
        return self


def test_the_message_of_a_validator() -> None:
    """The message is in the text of the error and in its problems, and the exception is the cause."""
    text = '[{"name": "a", "status": "active", "priority": "low"}]'
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(list[Task], text))
    error = wrong.value
    assert str(error) == "value_error: $[0]: Value error, Active tasks must have high priority"
    assert [problem.message for problem in error.problems] == ["Value error, Active tasks must have high priority"]
    assert [problem.loc for problem in error.problems] == [(0,)]
    assert str(error.problems[0]) == "$[0]: Value error, Active tasks must have high priority"
    assert isinstance(error.__cause__, ValueError)
    assert error.__cause__.args == ("Active tasks must have high priority",)
    with pytest.raises(InvalidError) as wrong:
        list(items(Task, text))
    assert str(wrong.value) == str(error)
    assert isinstance(wrong.value.__cause__, ValueError)


def test_other_messages() -> None:
    """Assertions and errors of the user's own kind are told, too; control characters are written as escapes."""

    def refuse(value: str) -> str:
        if value == "a":
            raise AssertionError("not this one")
        if value == "b":
            raise PydanticCustomError("my_own", "no {what}\n\x1b[31m", {"what": "b"})
        return value

    picky = Annotated[str, AfterValidator(refuse)]
    with pytest.raises(InvalidError, match=r"^assertion_error: \$: Assertion failed, not this one") as wrong:
        list(iter_partial(picky, ['"a"']))
    assert isinstance(wrong.value.__cause__, AssertionError)
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(picky, ['"b"']))
    assert str(wrong.value) == "my_own: $: no b\\n\\u001b[31m"
    assert wrong.value.problems[0].message == "no b\n\x1b[31m"
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(dict[picky, int], ['{"a": 1}']))
    assert str(wrong.value) == "assertion_error: $.a: Assertion failed, not this one"


class Range(msgspec.Struct):
    first: int
    last: int

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ValueError("the first is after the last")


def test_the_message_of_a_struct() -> None:
    """`__post_init__` of a struct is heard, too."""
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(Range, ['{"first": 2, "last": 1}']))
    assert str(wrong.value) == "post_init: $: the first is after the last"
    assert isinstance(wrong.value.__cause__, ValueError)


def test_messages_of_the_library_are_not_quoted() -> None:
    """A message of pydantic's own may quote the text: the text of the error has other words."""
    with pytest.raises(InvalidError) as wrong:
        list(iter_partial(Trip, ['{"city": "", "nights": -1}']))
    assert str(wrong.value) == "greater_than: $.nights: expected greater than 0"
    assert wrong.value.problems[0].message == "Input should be greater than 0"
    assert wrong.value.__cause__ is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_deferred_problems_are_those_of_pydantic(case: Case) -> None:
    """At the end, `on_invalid="defer"` lists all problems as pydantic does: places, types, messages, order."""
    random = Random(case.name)
    for make in list(case.faults.values()) * 2:
        text = json.dumps(make(random))
        try:
            TypeAdapter(case.type).validate_json(text)
        except ValidationError as refused:
            expected = [(one["loc"], one["type"], one["msg"]) for one in refused.errors()]
            with pytest.raises(InvalidError) as wrong:
                list(iter_partial(case.type, [text[: len(text) // 2], text[len(text) // 2 :]], on_invalid="defer"))
            assert [(one.loc, one.code, one.message) for one in wrong.value.problems] == expected, text
