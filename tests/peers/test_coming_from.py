"""What docs/coming-from.md says about other libraries, each beside what happens here.

A library that is not installed skips its tests by name. Where one of them is improved, its test fails, and the page has
to be written anew.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from enum import Enum
from importlib.metadata import version
from textwrap import dedent
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, PydanticUserError, TypeAdapter, ValidationError, field_validator

from tests.support.shared import PROJECT
from unspool import create_state, parse_chunk
from unspool.typed import InvalidError, Resolution, items, iter_partial, partial

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

PAGE = PROJECT / "docs" / "coming-from.md"
VALIDATED: list[str] = []


class Kind(Enum):
    WALK = "walk"
    FOOD = "food"


class Activity(BaseModel):
    name: str
    kind: Literal["walk", "food"]
    hours: float

    @field_validator("name")
    @classmethod
    def count(cls, name: str) -> str:
        VALIDATED.append(name)
        return name


class Day(BaseModel):
    title: str
    activities: list[Activity]


class Trip(BaseModel):
    title: str
    travellers: int
    days: list[Day]


class Person(BaseModel):
    name: str


class Booking(BaseModel):
    """Fields of other kinds: an enum, and a model that is a field of its own."""

    number: int
    kind: Kind
    person: Person


class OptionalTrip(BaseModel):
    """What pydantic and pydantic-ai need in order to show anything before the end."""

    title: str | None = None
    travellers: int | None = None
    kind: Literal["walk", "food"] | None = None
    days: list[Day] | None = None


TEXT = json.dumps(
    {
        "title": "Porto",
        "travellers": 12,
        "days": [
            {
                "title": "One",
                "activities": [
                    {"name": "Ribeira", "kind": "walk", "hours": 1.5},
                    {"name": "Dinner", "kind": "food", "hours": 2},
                ],
            },
            {"title": "Two", "activities": [{"name": "Tram", "kind": "walk", "hours": 1}]},
        ],
    }
)
WRONG_IN_A_NESTED_MODEL = TEXT.replace('"walk"', '"swim"', 1)
WRONG_IN_THE_OUTERMOST_MODEL = TEXT.replace("12", '"many"')
STRING_FOR_AN_ARRAY = '{"title": "Porto", "days": "none", "travellers": 12}'


def until(part: str, text: str = TEXT) -> str:
    """The text so far, when this was the last that came."""
    return text[: text.index(part) + len(part)]


@pytest.fixture(autouse=True)
def _nothing_validated_yet() -> None:
    VALIDATED.clear()


def here(text: str, type: Any = Trip, **options: Any) -> Any:
    """What unspool shows of a text so far."""
    resolution: Resolution[Any] = partial(type, **options).resolve(parse_chunk(create_state(), text))[0]
    return resolution.value


def noticed_here(text: str, type: Any = Trip) -> str:
    """How much of the text it takes to know that it is wrong."""
    read = 0

    def characters() -> Iterator[str]:
        nonlocal read
        for read, character in enumerate(text, 1):  # noqa: B007
            yield character

    with pytest.raises(InvalidError):
        list(iter_partial(type, characters()))
    return text[:read]


# unspool, for the last column of the table


def test_here() -> None:
    """Fields are None until they come; what is half written is held back unless only one value can come."""
    assert here('{"title": "Po').travellers is None
    assert here('{"number": 1,', Booking).person is None
    assert here(until('"travellers": 1')).travellers is None
    assert here(until('"kind": "wa')).days[0].activities[0].kind is None
    assert here(until('"kind": "wa'), early=True).days[0].activities[0].kind == "walk"
    assert here('{"number": 1, "kind": "wa', Booking).kind is None
    assert here('{"number": 1, "kind": "wa', Booking, early=True).kind is Kind.WALK


def test_here_a_value_for_each_change() -> None:
    """What changes nothing gives no value."""
    text = '{"title":   "Po",   "travellers": 12, "days": []}'
    assert len(list(iter_partial(Trip, text))) < len(text) / 2


def test_here_once() -> None:
    """Each value is validated once, however many fragments come after it, and stays the same object."""
    partials = list(iter_partial(Trip, TEXT))
    assert VALIDATED == ["Ribeira", "Dinner", "Tram"]
    days = [partial.value.days[0] for partial in partials if partial.is_complete_at("$.days[0]")]
    assert len(days) > 10
    assert len({id(day) for day in days}) == 1


def test_here_wrong() -> None:
    """What is wrong is noticed at the first character that cannot be right, or when its value ends."""
    assert noticed_here(WRONG_IN_A_NESTED_MODEL) == until('"kind": "s', WRONG_IN_A_NESTED_MODEL)
    assert noticed_here(WRONG_IN_THE_OUTERMOST_MODEL) == until('"many"', WRONG_IN_THE_OUTERMOST_MODEL)
    assert noticed_here(STRING_FOR_AN_ARRAY) == until('"days": "', STRING_FOR_AN_ARRAY)


def test_here_what_is_finished() -> None:
    """What is finished, and what is missing, is told."""
    resolution: Resolution[Trip] = partial(Trip).resolve(parse_chunk(create_state(), until("1.5}")))[0]
    assert resolution.is_complete_at("$.days[0].activities[0]")
    assert not resolution.is_complete_at("$.days[0]")
    assert not resolution.is_complete
    assert resolution.missing == ()
    resolution = partial(Trip).resolve(parse_chunk(create_state(), '{"title": "'))[0]
    assert [str(path) for path in resolution.missing] == ["$.travellers", "$.days"]


# instructor


def instructor(chunks: str | list[str], model: Any = Trip) -> Iterator[Any]:
    """The values of instructor's streaming."""
    values: Iterator[Any] = pytest.importorskip("instructor.dsl.partial").Partial[model].model_from_chunks(chunks)
    return values


def instructor_at(text: str, model: Any = Trip) -> Any:
    """What instructor shows of a text so far."""
    (value,) = instructor([text], model)
    return value


def noticed_by_instructor(text: str) -> str:
    """How much of the text it takes; it has a value for every chunk before that."""
    read = 0
    with pytest.raises(ValidationError):
        for read, _ in enumerate(instructor(text), 1):  # noqa: B007
            pass
    return text[: read + 1]


def test_instructor_missing() -> None:
    """instructor: a missing field is None, a missing model is an empty one."""
    value = instructor_at('{"title": "Po')
    assert isinstance(value, Trip)
    assert value.model_dump(warnings=False) == {"title": "Po", "travellers": None, "days": None}
    assert instructor_at('{"number": 1,', Booking).person == Person.model_construct(name=None)


def test_instructor_half_written() -> None:
    """instructor: half-written literals, enums and numbers are shown."""
    assert instructor_at(until('"kind": "wa')).days[0].activities[0].kind == "wa"
    assert instructor_at('{"number": 1, "kind": "wa', Booking).kind == "wa"
    assert instructor_at(until('"travellers": 1')).travellers == 1
    assert instructor_at(until('"hours": 1')).days[0].activities[0].hours == 1


def test_instructor_a_value_for_each_chunk() -> None:
    """instructor: there is a value for every chunk, whether it changed anything or not."""
    assert len(list(instructor(TEXT))) == len(TEXT)


def test_instructor_validates_again() -> None:
    """instructor: the validators of a finished model run again with every chunk, and make it anew."""
    values = list(instructor(TEXT))
    assert VALIDATED.count("Ribeira") > 100
    first_days = [value.days[0] for value in values[TEXT.index('{"title": "Two') :]]
    assert len({id(day) for day in first_days}) == len(first_days)


def test_instructor_wrong() -> None:
    """instructor: what is wrong is noticed after its model has closed, in the outermost model at the end."""
    assert instructor_at(until('"none"', STRING_FOR_AN_ARRAY)).days == "none"
    assert noticed_by_instructor(STRING_FOR_AN_ARRAY) == STRING_FOR_AN_ARRAY
    assert noticed_by_instructor(WRONG_IN_THE_OUTERMOST_MODEL) == WRONG_IN_THE_OUTERMOST_MODEL
    noticed = noticed_by_instructor(WRONG_IN_A_NESTED_MODEL)
    assert until("1.5}", WRONG_IN_A_NESTED_MODEL) in noticed
    assert noticed != WRONG_IN_A_NESTED_MODEL


class Walk(BaseModel):
    kind: Literal["walk"]
    steps: int


class Meal(BaseModel):
    kind: Literal["meal"]
    dishes: list[str]


class Plan(BaseModel):
    parts: list[Walk | Meal]


class TaggedPlan(BaseModel):
    parts: list[Annotated[Walk | Meal, Field(discriminator="kind")]]


PARTS = '{"parts": [{"kind": "walk", "steps": 100}, {"kind": "meal", "dishes": ["so'


def test_instructor_unions() -> None:
    """instructor: items of an array of a union are plain dicts until the end; a union with a tag is refused."""
    assert [type(part) for part in instructor_at(PARTS, Plan).parts] == [dict, dict]
    with pytest.raises(PydanticUserError, match="to be of type `Literal`"):
        instructor_at(PARTS, TaggedPlan)


def test_here_unions() -> None:
    """Items of an array of a union are models as soon as their tag, or their literal, is there."""
    for plan in (Plan, TaggedPlan):
        walk, meal = here(PARTS, plan).parts
        assert type(walk) is Walk
        assert isinstance(meal, Meal)
        assert meal.dishes == ["so"]


def test_items() -> None:
    """Finished items, one by one: instructor takes those of the first array, unspool those at a path."""
    text = '{"walks": [{"name": "a", "kind": "walk", "hours": 1}, {"name": "b", "kind": "walk", "hours": 2}]}'
    iterable = pytest.importorskip("instructor.dsl.iterable").IterableModel(Activity)
    assert [item.name for item in iterable.tasks_from_chunks(text)] == ["a", "b"]
    assert [item.name for item in items(Activity, text, path="$.walks")] == ["a", "b"]
    assert [item.name for item in items(Activity, TEXT, path="$.days[0].activities")] == ["Ribeira", "Dinner"]
    with pytest.raises(ValidationError):
        next(iterable.tasks_from_chunks(TEXT))  # its first array is that of the days


# pydantic-ai


class Run:
    """A run of pydantic-ai that is answered with this text, a character at a time."""

    def __init__(self, text: str, model: Any = Trip) -> None:
        agents = pytest.importorskip("pydantic_ai")
        models = pytest.importorskip("pydantic_ai.models.function")
        self.text = text
        self.read = 0
        self.shown: list[tuple[str, Any]] = []  # what had come, and what was shown of it
        self.fault: Exception | None = None
        self._delta = models.DeltaToolCall
        agent = agents.Agent(models.FunctionModel(stream_function=self._answer), output_type=agents.ToolOutput(model))
        try:
            asyncio.run(self._follow(agent))
        except agents.UnexpectedModelBehavior as fault:
            self.fault = fault

    async def _answer(self, _: object, info: Any) -> AsyncIterator[dict[int, Any]]:
        yield {0: self._delta(name=info.output_tools[0].name)}
        for character in self.text:
            self.read += 1
            yield {0: self._delta(json_args=character)}

    async def _follow(self, agent: Any) -> None:
        async with agent.run_stream("a trip") as run:
            async for value in run.stream_output(debounce_by=None):
                self.shown.append((self.text[: self.read], value))

    def at(self, text: str) -> list[Any]:
        """What was shown when just this had come."""
        return [value for read, value in self.shown if read == text]


def test_pydantic_ai_missing() -> None:
    """pydantic-ai: nothing is shown as long as a required field is missing, in whatever is open."""
    run = Run(TEXT)
    assert run.shown[0][0] == until('"days": [')
    assert run.at(until('"name": "Rib')) == []
    assert next(read for read, _ in run.shown if until('"activities": [{') in read) == until('"hours": 1')


def test_pydantic_ai_half_written() -> None:
    """pydantic-ai: half-written numbers are shown; of a text with a half-written literal nothing is."""
    text = '{"title": "Porto", "travellers": 12, "kind": "walk"}'
    run = Run(text, OptionalTrip)
    assert [value.travellers for value in run.at(until('"travellers": 1', text))] == [1]
    assert run.at(until('"kind": "wa', text)) == []
    assert [value.kind for value in run.at(until('"walk', text))] == ["walk"]
    assert [value.days[0].activities[0].hours for value in Run(TEXT).at(until('"hours": 1'))] == [1]


def test_pydantic_ai_a_value_for_each_chunk() -> None:
    """pydantic-ai: there is a value for every chunk that it accepts, changed or not; by default one in 0.1 s."""
    text = '{"title":     "Porto"}'
    assert [read for read, _ in Run(text, OptionalTrip).shown] == [text[:end] for end in range(1, len(text) + 1)] + [
        text
    ]
    result = pytest.importorskip("pydantic_ai.result").StreamedRunResult
    assert inspect.signature(result.stream_output).parameters["debounce_by"].default == 0.1


def test_pydantic_ai_validates_again() -> None:
    """pydantic-ai: the whole text so far is validated again with every chunk, and made anew."""
    run = Run(TEXT)
    assert VALIDATED.count("Ribeira") > 100
    first_days = [value.days[0] for read, value in run.shown if until("2}]}") in read]
    assert len(first_days) > 5
    assert len({id(day) for day in first_days}) == len(first_days)


@pytest.mark.parametrize("text", [WRONG_IN_A_NESTED_MODEL, WRONG_IN_THE_OUTERMOST_MODEL, STRING_FOR_AN_ARRAY])
def test_pydantic_ai_wrong(text: str) -> None:
    """pydantic-ai: what is wrong is noticed when everything has come."""
    run = Run(text)
    assert run.fault is not None
    assert run.read == len(text)


# pydantic


def test_pydantic() -> None:
    """pydantic: in partial mode a model may not lack anything; the last item of a list may be wrong, and is dropped."""

    def validate(type: Any, text: str) -> Any:
        return TypeAdapter(type).validate_json(text, experimental_allow_partial="trailing-strings")

    with pytest.raises(ValidationError) as refused:
        validate(Trip, '{"title": "Po')
    assert {error["type"] for error in refused.value.errors()} == {"missing"}
    assert validate(list[Activity], '[{"name": "a", "kind": "walk", "hours": 1}, {"na') == [
        Activity(name="a", kind="walk", hours=1)
    ]
    assert validate(OptionalTrip, '{"travellers": 1').travellers == 1


# The page itself

FENCE = re.compile(r"^( *)```(?P<language>\w+)\n(?P<code>.*?)^\1```|^## (?P<section>[^\n]+)$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("section", "module"), [("instructor", "instructor"), ("pydantic-ai", "pydantic_ai"), ("langdiff", "langdiff")]
)
def test_code_of_others_on_the_page(section: str, module: str) -> None:
    """The code for other libraries, which the page calls ``python3``, runs in its place among the other blocks."""
    pytest.importorskip(module)
    names: dict[str, Any] = {"__name__": "__main__"}
    current, ran = "", 0
    text = PAGE.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        current = found["section"] or current
        if found["language"] == "python" or (found["language"] == "python3" and current == section):
            code = "\n" * text.count("\n", 0, found.start("code")) + dedent(found["code"])
            # The names of types are looked up when a class is made: as on the page, not as in this module.
            exec(compile(code, str(PAGE), "exec", dont_inherit=True), names)
            ran += found["language"] == "python3"
    assert ran > 0


def test_versions_on_the_page() -> None:
    """The page names the versions that were looked at."""
    pytest.importorskip("instructor")
    pytest.importorskip("pydantic_ai")
    found = [version("instructor"), version("pydantic-ai-slim")]
    told = re.search(r"instructor (\S+) and pydantic-ai (\S+)", PAGE.read_text(encoding="utf-8"))
    assert told is not None
    assert [told[1], told[2]] == [".".join(one.split(".")[:2]) for one in found]
