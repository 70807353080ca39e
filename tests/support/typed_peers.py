"""The table of docs/coming-from.md: what libraries show of a typed value that is being written, found by running them.

``python -m tests.support.typed_peers`` writes the table anew. Each library gets the same texts, character by character.
BAML is run without a model: its generated client parses texts that are given to it. langdiff has callbacks instead of
values; the table says what they have told so far.
"""

from __future__ import annotations

import asyncio
import copy
import importlib
import subprocess
import sys
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ValidationError, field_validator, model_validator

from tests.support.page_tables import write_table
from tests.support.shared import PROJECT
from unspool.typed import InvalidError, iter_partial

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

PAGE: Final = PROJECT / "docs" / "coming-from.md"
TABLE: Final = "typed-peers"
PEERS: Final = {
    "instructor": "instructor",
    "pydantic-ai": "pydantic-ai-slim",
    "BAML": "baml-py",
    "langdiff": "langdiff",
}
NOTHING: Final = "no value is shown"
VALIDATED: list[str] = []


class Activity(BaseModel):
    name: str
    kind: Literal["walk", "food"]
    hours: float

    @field_validator("name")
    @classmethod
    def _count(cls, name: str) -> str:
        VALIDATED.append(name)
        return name


class Guide(BaseModel):
    name: str


class Trip(BaseModel):
    title: str
    travellers: int
    activities: list[Activity]
    guide: Guide


class Walk(BaseModel):
    kind: Literal["walk"]
    steps: int


class Meal(BaseModel):
    kind: Literal["meal"]
    dishes: list[str]


class Plan(BaseModel):
    parts: list[Walk | Meal]


class Task(BaseModel):
    name: str
    priority: str

    @model_validator(mode="after")
    def _high(self) -> Task:
        if self.priority != "high":
            raise ValueError("the priority must be high")
        return self


BAML_SOURCE: Final = """
generator target {
  output_type "python/pydantic"
  output_dir ".."
  version "%s"
  default_client_mode sync
}
client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
class Activity {
  name string
  kind "walk" | "food"
  hours float
}
class Guide {
  name string
}
class Trip {
  title string
  travellers int
  activities Activity[]
  guide Guide
}
class Walk {
  kind "walk"
  steps int
}
class Meal {
  kind "meal"
  dishes string[]
}
class Plan {
  parts (Walk | Meal)[]
}
class Task {
  name string
  priority string @assert(must_be_high, {{ this == "high" }})
}
"""
BAML_FUNCTION: Final = """
function Make%s() -> %s {
  client Nobody
  prompt #"{{ ctx.output_format }}"#
}
"""

TEXT: Final = (
    '{"title": "Porto", "travellers": 12, "activities": [{"name": "Ribeira", "kind": "walk", "hours": 1.5}, '
    '{"name": "Dinner", "kind": "food", "hours": 2}], "guide": {"name": "Ana"}}'
)
PARTS: Final = '{"parts": [{"kind": "walk", "steps": 100}, {"kind": "meal", "dishes": ["soup"]}]}'
TASK: Final = '{"name": "a", "priority": "low"}'


def until(part: str, text: str = TEXT) -> str:
    """The text so far, when this was the last that came."""
    return text[: text.index(part) + len(part)]


class Run:
    """What a library showed of a text, by the number of characters that had come, and how it ended."""

    def __init__(self) -> None:
        self.shown: dict[int, Any] = {}
        self.read = 0
        self.error: str | None = None

    def characters(self, text: str) -> Iterator[str]:
        """The text, counted."""
        for character in text:
            self.read += 1
            yield character

    def at(self, text: str) -> Any:
        """What is shown when this has come."""
        known = [read for read in self.shown if read <= len(text)]
        return self.shown[max(known)] if known else NOTHING


def run_unspool(model: type[BaseModel], text: str, **options: Any) -> Run:
    run = Run()
    try:
        for one in iter_partial(model, run.characters(text), **options):
            run.shown[run.read] = one.value
    except InvalidError as error:
        run.error = str(error)
    return run


def run_instructor(model: type[BaseModel], text: str) -> Run:
    run = Run()
    streamed: Any = importlib.import_module("instructor.dsl.partial").Partial
    try:
        for value in streamed[model].model_from_chunks(run.characters(text)):
            run.shown[run.read] = value
    except ValidationError as error:
        run.error = str(error)
    return run


def run_pydantic_ai(model: type[BaseModel], text: str) -> Run:
    run = Run()
    agents: Any = importlib.import_module("pydantic_ai")
    models: Any = importlib.import_module("pydantic_ai.models.function")
    retries: list[str] = []

    async def answer(messages: Any, info: Any) -> AsyncIterator[dict[int, Any]]:
        retries.append(str(messages))
        yield {0: models.DeltaToolCall(name=info.output_tools[0].name)}
        if len(retries) == 1:
            for character in run.characters(text):
                yield {0: models.DeltaToolCall(json_args=character)}

    async def follow() -> None:
        agent = agents.Agent(models.FunctionModel(stream_function=answer), output_type=agents.ToolOutput(model))
        async with agent.run_stream("a trip") as streamed:
            async for value in streamed.stream_output(debounce_by=None):
                run.shown[run.read] = value

    try:
        asyncio.run(follow())
    except agents.UnexpectedModelBehavior as error:
        run.error = f"{error} {error.__cause__} {retries[-1]}"
    return run


@cache
def baml_client() -> Any:
    """The client that BAML generates for the classes above."""
    folder = Path(mkdtemp(prefix="unspool-baml-"))
    (folder / "baml_src").mkdir()
    functions = [BAML_FUNCTION % (name, name) for name in ("Trip", "Plan", "Task")]
    source = BAML_SOURCE % version("baml-py") + "".join(functions)
    (folder / "baml_src" / "main.baml").write_text(source, encoding="utf-8")
    generate = (
        "import sys, baml_py; sys.argv = ['baml-cli', 'generate', '--from', 'baml_src']; baml_py.invoke_runtime_cli()"
    )
    subprocess.run([sys.executable, "-c", generate], cwd=folder, check=True, capture_output=True, timeout=120)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("baml_client").b
    finally:
        sys.path.remove(str(folder))


def run_baml(model: type[BaseModel], text: str) -> Run:
    run = Run()
    client = baml_client()
    error: Any = importlib.import_module("baml_py.baml_py").BamlError
    name = f"Make{model.__name__}"
    so_far = ""
    for character in run.characters(text):
        so_far += character
        try:
            run.shown[run.read] = getattr(client.parse_stream, name)(so_far)
        except error:  # nothing that it can read yet
            continue
    try:
        run.shown[run.read] = getattr(client.parse, name)(text)
    except error as refused:
        run.error = str(refused)
    return run


def run_langdiff(model: type[BaseModel], text: str) -> Run:
    run = Run()
    parser: Any = importlib.import_module("langdiff").Parser
    root, told = langdiff_root(model)
    try:
        with parser(root) as reader:
            for character in run.characters(text):
                reader.push(character)
                run.shown[run.read] = copy.deepcopy(told())
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        run.error = str(error)
    return run


def langdiff_root(model: type[BaseModel]) -> tuple[Any, Callable[[], Any]]:
    """A root object for a model, and a function that returns what its callbacks have told so far."""
    ld: Any = importlib.import_module("langdiff")

    def kind_of(hint: Any) -> Any:
        if hint is str:
            return ld.String
        if getattr(hint, "__origin__", None) is list:
            inner = hint.__args__[0]
            is_model = isinstance(inner, type) and issubclass(inner, BaseModel)
            return ld.List[class_of(inner)] if is_model else ld.List[str if inner is str else dict]
        return class_of(hint) if isinstance(hint, type) and issubclass(hint, BaseModel) else ld.Atom[hint]

    def class_of(one: type[BaseModel]) -> Any:
        hints = {name: kind_of(field.annotation) for name, field in one.model_fields.items()}
        return type(one.__name__, (ld.Object,), {"__annotations__": hints})

    def follow(value: Any, put: Callable[[Any], None]) -> None:
        if isinstance(value, ld.Object):
            members: dict[str, Any] = {}
            value.on_start(lambda: put(members))
            for name in type(value).__annotations__:
                follow(getattr(value, name), partial(members.__setitem__, name))
        elif isinstance(value, ld.List):
            items: list[Any] = []
            value.on_start(lambda: put(items))

            def append(item: Any, index: int) -> None:
                items.append(None)
                follow(item, lambda told: items.__setitem__(index, told))

            value.on_append(append)
        elif isinstance(value, ld.String):
            texts = [""]

            def grow(chunk: str) -> None:
                texts[0] += chunk
                put(texts[0])

            value.on_append(grow)
        elif isinstance(value, ld.Atom):
            value.on_complete(put)
        else:
            put(value)

    told: list[Any] = [NOTHING]
    root = class_of(model)()
    follow(root, lambda value: told.__setitem__(0, value))
    return root, lambda: told[0]


RUNS: Final[dict[str, Callable[..., Run]]] = {
    "instructor": run_instructor,
    "pydantic-ai": run_pydantic_ai,
    "BAML": run_baml,
    "langdiff": run_langdiff,
    "unspool": run_unspool,
}


@cache
def ran(library: str, model: type[BaseModel], text: str) -> Run:
    """The run of a library with a whole text."""
    return RUNS[library](model, text)


# The rows


def field(value: Any, name: str) -> str:
    """A field of a shown value, in words."""
    if value is NOTHING:
        return NOTHING
    if isinstance(value, dict):
        return f"`{value[name]!r}`" if name in value else "not told"
    found = getattr(value, name)
    return "an empty instance" if isinstance(found, BaseModel) else f"`{found!r}`"


def half_written(name: str, library: str, part: str) -> str:
    """A field of the first activity, or of the trip, in the middle of its text."""
    value = ran(library, Trip, TEXT).at(until(part))
    if name == "kind" and value is not NOTHING:
        activities = value["activities"] if isinstance(value, dict) else value.activities
        value = activities[0] if activities else NOTHING
    words = field(value, name)
    return "held back" if words in ("`None`", "not told") else words if words == NOTHING else f"shown: {words}"


def not_begun(name: str) -> Callable[[str], str]:
    def cell(library: str) -> str:
        start = until('"title": "Po')
        found = field(ran(library, Trip, TEXT).at(start), name)
        if library == "unspool" and name == "activities":
            other = field(run_unspool(Trip, TEXT, empty="containers").at(start), name)
            return f'{found}; {other} with `empty="containers"`'
        return found

    return cell


def union(library: str) -> str:
    value = ran(library, Plan, PARTS).at(until('["so', PARTS))
    if value is NOTHING:
        return NOTHING
    parts = value["parts"] if isinstance(value, dict) else value.parts
    if len(parts) < 2 or parts[1] is None:
        return NOTHING
    is_model = type(parts[1]).__name__.removeprefix("Partial") == "Meal"
    return "a `Meal`" if is_model else f"a `{type(parts[1]).__name__}`"


def noticed(wrong: str, place: str) -> Callable[[str], str]:
    """When a wrong value is noticed; it ends at `place`."""

    def cell(library: str) -> str:
        run = ran(library, Trip, wrong)
        if run.error is None:
            return "never"
        if run.read <= len(until(place, wrong)):
            return "there"
        return "at the end" if run.read >= len(wrong) else "later, before the end"

    return cell


def validations(library: str) -> str:
    VALIDATED.clear()
    RUNS[library](Trip, TEXT)
    count = VALIDATED.count("Ribeira")
    return "not run" if count == 0 else "once" if count == 1 else "again with every chunk"


def identity(library: str) -> str:
    run = ran(library, Trip, TEXT)
    start = len(until('"kind": "food"'))
    if any(isinstance(value, dict) for value in run.shown.values()):
        return "there are only callbacks"
    values = [value for read, value in run.shown.items() if read >= start]
    lists = [one.activities for one in values]
    first = [activities[0] for activities in lists if activities]
    return "the same object" if len({id(one) for one in first}) == 1 else "a new object"


def message(library: str) -> str:
    error = ran(library, Task, TASK).error
    if error is None:
        return "validators are not run"
    return "in the error" if "the priority must be high" in error else "its name is in the error"


NOT_ONE_OF: Final = TEXT.replace('"walk"', '"swim"')
NOT_A_NUMBER: Final = TEXT.replace("12", '"many"')
NOT_AN_ARRAY: Final = TEXT[: TEXT.index("[")] + '"none", "guide": {"name": "Ana"}}'

ROWS: Final[dict[str, Callable[[str], str]]] = {
    "a number that has not begun": not_begun("travellers"),
    "a list that has not begun": not_begun("activities"),
    "a nested model that has not begun": not_begun("guide"),
    "a half-written `Literal`": lambda library: half_written("kind", library, '"kind": "wa'),
    "a half-written number": lambda library: half_written("travellers", library, '"travellers": 1'),
    "an open item of `list[Walk \\| Meal]`": union,
    "a string for a number is noticed": noticed(NOT_A_NUMBER, '"many"'),
    "a wrong `Literal` in an item is noticed": noticed(NOT_ONE_OF, '"swim"'),
    "a string for an array is noticed": noticed(NOT_AN_ARRAY, '"none"'),
    "a validator of a finished item runs": validations,
    "the message of a validator": message,
    "a finished item in the next value": identity,
}


def table() -> list[str]:
    """The lines of the table."""
    head = ["", *[f"{name} {version(package)}" for name, package in PEERS.items()], "unspool"]
    rows = [[words, *[cell(library) for library in RUNS]] for words, cell in ROWS.items()]
    return [_line(head), "|" + "---|" * len(head), *map(_line, rows)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |" if cells[0] else "| | " + " | ".join(cells[1:]) + " |"


if __name__ == "__main__":
    write_table(PAGE, TABLE, table())
