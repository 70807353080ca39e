"""The rows about typed values: a half-filled model after each fragment.

unspool reads the fragment and resolves the state. The peers get the text so far and build the model again, with the
functions that their streaming calls for each chunk, without the message around it and without waiting. They are sampled
like the prefix parsers in the rows about values.

pydantic and pydantic-ai reject a model while required fields are missing. Both get a model of the same fields without
required ones, which is what their users have to write.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal

from .documents import cut_ragged, itinerary, table
from .doubling import doubling
from .peers import Growing, Peer
from .rows import DOUBLING, OURS, US_PER_FRAGMENT, Contender, Row, UnavailableError, load, ours
from .rows_values import prefixes
from .timing import Effort, Measure, per_fragment

__all__ = ["rows"]

Kind = Literal["sightseeing", "food", "museum", "transfer", "rest", "nature"]
_ROW_OF_THE_TABLE: Final = 90  # characters, about


def rows(effort: Effort) -> Iterator[Row]:
    for name, size in (("0.5 KB", 500), ("2 KB", 2_000), ("10 KB", 10_000), ("100 KB", 100_000)):
        document = partial(itinerary, size)
        contenders = [Contender(OURS, partial(_measure, _iterated, document, effort))]
        contenders += [
            Contender(peer_name, partial(_measure_prefixes, peer, document, effort), peer.lacks)
            for peer_name, peer in _PEERS.items()
        ]
        title = f"typed partial (pydantic model), itinerary {name}"
        yield Row(f"typed/itinerary {name}", title, US_PER_FRAGMENT, contenders)

    contender = Contender(OURS, partial(_measure, _resolved, partial(itinerary, 10_000), effort))
    yield Row("typed/states", "typed partial of each state, itinerary 10 KB", US_PER_FRAGMENT, [contender])
    contender = Contender(OURS, partial(_measure, _changed, partial(itinerary, 10_000), effort))
    yield Row("typed/changes", "changes and patches of a typed value, itinerary 10 KB", US_PER_FRAGMENT, [contender])
    contender = Contender(OURS, partial(_measure, _items, partial(table, 2_000), effort))
    yield Row("typed/items", "typed items, one by one, 2,000 rows", US_PER_FRAGMENT, [contender])

    for key, title, make, shape in (
        ("itinerary", "typed partial, doubled: itinerary", _iterated, itinerary),
        ("changes", "typed changes, doubled: itinerary", _changed, itinerary),
        ("items", "typed items, doubled: rows", _items, lambda length: table(length // _ROW_OF_THE_TABLE)),
    ):
        contender = Contender(OURS, partial(_doubled, make, shape, effort))
        yield Row(f"typed/doubling/{key}", title, DOUBLING, [contender], turns=1)
    for key in _WIDE:
        contender = Contender(OURS, partial(_doubled_wide, key, effort))
        yield Row(f"typed/doubling/{key}", f"typed partial, doubled: {key}", DOUBLING, [contender], turns=1)


# The models -------------------------------------------------------------------------------------------------------


def _trip() -> Any:
    load("pydantic")
    from pydantic import BaseModel

    class Activity(BaseModel):
        title: str
        kind: Kind
        description: str
        minutes: int
        price: float
        booked: bool

    class Day(BaseModel):
        title: str
        walking_km: float
        activities: list[Activity]

    class Trip(BaseModel):
        title: str
        summary: str
        days: list[Day]

    return Trip


def _trip_without_required_fields() -> Any:
    load("pydantic")
    from pydantic import BaseModel

    class Activity(BaseModel):
        title: str | None = None
        kind: Kind | None = None
        description: str | None = None
        minutes: int | None = None
        price: float | None = None
        booked: bool | None = None

    class Day(BaseModel):
        title: str | None = None
        walking_km: float | None = None
        activities: list[Activity] | None = None

    class Trip(BaseModel):
        title: str | None = None
        summary: str | None = None
        days: list[Day] | None = None

    return Trip


def _row() -> Any:
    load("pydantic")
    from pydantic import BaseModel

    class Row(BaseModel):
        id: int
        name: str
        score: float
        active: bool
        note: str | None

    return Row


def _as_plain(value: Any) -> object:
    """Convert models to plain JSON values."""
    return [_as_plain(item) for item in value] if isinstance(value, list) else value.model_dump(mode="json")


# unspool ----------------------------------------------------------------------------------------------------------


def _iterated() -> Growing:
    typed = load("unspool.typed")
    resolver = typed.partial(_trip())

    def run(fragments: Sequence[str]) -> object:
        value: object = None
        for trip in typed.iter_partial(resolver, fragments):
            value = trip.value
        return value

    return run


def _changed() -> Growing:
    typed = load("unspool.typed")
    resolver = typed.partial(_trip())

    def run(fragments: Sequence[str]) -> object:
        value: object = None
        for changes in typed.iter_changes(resolver, fragments):
            value = changes.value
        return value

    return run


def _resolved() -> Growing:
    create_state, parse_chunk = ours("create_state", "parse_chunk")
    resolve = load("unspool.typed").partial(_trip()).resolve

    def run(fragments: Sequence[str]) -> object:
        state, cache = create_state(), None
        value: object = None
        for fragment in fragments:
            state = parse_chunk(state, fragment)
            resolution, cache = resolve(state, cache)
            value = resolution.value
        return value

    return run


def _items() -> Growing:
    typed = load("unspool.typed")
    resolver = typed.partial(_row())
    return lambda fragments: list(typed.items(resolver, fragments))


def _measure(make: Callable[[], Growing], document: Callable[[], str], effort: Effort) -> Measure:
    run, text = make(), document()
    fragments = cut_ragged(text)
    if _as_plain(run(fragments)) != json.loads(text):
        raise UnavailableError("another value than the text has")
    return per_fragment(lambda: run(fragments), len(fragments), effort)


# Wide documents. Reading a value copies its open containers, so the value is read once, at the end: reading each one
# would measure how fast Python copies dicts, lists and sets.


def _members(count: int, *more: str) -> str:
    return "{" + ", ".join([*(f'"key {number:6}": {number}' for number in range(count)), *more]) + "}"


def _in_field(name: str, value: object) -> str:
    return json.dumps({name: value})


_MEMBER: Final = 20  # characters, about
_TAG: Final = '"kind": "point"'
_WIDE: Final[Mapping[str, Callable[[int], str]]] = {
    "extra keys": _members,
    "a tag behind other keys": lambda count: f'{{"tagged": {_members(count, _TAG)}}}',
    "a map": lambda count: f'{{"counts": {_members(count)}}}',
    "a set": lambda count: _in_field("names", [f"name number {number:6}" for number in range(count)]),
    "a string at depth 60": lambda count: '{"inner": ' * 59 + _in_field("text", "x" * count * _MEMBER) + "}" * 59,
    "a list of models": lambda count: _in_field("points", [{"x": number, "y": "a"} for number in range(count)]),
}


def _wide_model() -> Any:
    load("pydantic")
    from pydantic import BaseModel, Field

    class Point(BaseModel, extra="allow"):
        kind: Literal["point"] = "point"
        x: int | None = None
        y: str | None = None

    class Line(BaseModel, extra="allow"):
        kind: Literal["line"]

    class Wide(BaseModel, extra="allow"):
        tagged: Annotated[Point | Line, Field(discriminator="kind")] | None = None
        names: set[str] | None = None
        counts: dict[str, int] | None = None
        points: list[Point] | None = None
        inner: Wide | None = None
        text: str | None = None

    Wide.model_rebuild(_types_namespace={"Wide": Wide})
    return Wide


def _doubled_wide(key: str, effort: Effort) -> Measure:
    typed = load("unspool.typed")
    resolver = typed.partial(_wide_model())

    def run(fragments: Sequence[str]) -> object:
        partials = deque(typed.iter_partial(resolver, fragments), maxlen=1)
        return partials[0].value

    return doubling(lambda length: _WIDE[key](length // _MEMBER), run, effort, {8: 50_000})


def _doubled(make: Callable[[], Growing], shape: Callable[[int], str], effort: Effort) -> Measure:
    return doubling(shape, make(), effort, {4: 60_000})


# The others -------------------------------------------------------------------------------------------------------


def _instructor() -> Callable[[str], object]:
    module = load("instructor.dsl.partial")
    model = module.Partial[_trip()].get_partial_model()
    return lambda prefix: module.process_potential_object(prefix, "trailing-strings", model)


def _pydantic() -> Callable[[bytes], object]:
    validate = load("pydantic").TypeAdapter(_trip_without_required_fields()).validate_json
    return lambda prefix: validate(prefix, experimental_allow_partial="trailing-strings")


def _pydantic_ai() -> Callable[[str], object]:
    """The work of `stream_output` for each response. Only a finished run can validate one."""
    agents, messages, models = (
        load(name) for name in ("pydantic_ai", "pydantic_ai.messages", "pydantic_ai.models.function")
    )

    async def answer(_: object, info: Any) -> AsyncIterator[Mapping[int, Any]]:
        yield {0: models.DeltaToolCall(name=info.output_tools[0].name, json_args="{}")}

    async def a_run() -> Any:
        agent = agents.Agent(
            models.FunctionModel(stream_function=answer), output_type=agents.ToolOutput(_trip_without_required_fields())
        )
        async with agent.run_stream("a trip") as run:
            await run.get_output()
        return run

    run = asyncio.run(a_run())
    (call,) = run.response.tool_calls

    def validate(prefix: str) -> object:
        response = messages.ModelResponse(parts=[messages.ToolCallPart(call.tool_name, prefix)])
        return _result(run.validate_response_output(response, allow_partial=True))

    return validate


def _result(coroutine: Coroutine[Any, None, object]) -> object:
    """Run a coroutine that never waits, without an event loop, whose time would count."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waited for something")


_PEERS: Final[Mapping[str, Peer]] = {
    "instructor": Peer(
        _instructor,
        "reads the whole prefix again each time, and validates all finished models in it again; half-written literals "
        "and numbers are shown; no object is kept",
    ),
    "pydantic-ai": Peer(
        _pydantic_ai,
        "validates the whole prefix again each time; shows no model with a required field missing, nor anything around "
        "a half-written literal; half-written numbers are shown; no object is kept; reports invalid values at the end",
    ),
    "pydantic": Peer(
        _pydantic,
        "as pydantic-ai, whose validator it is; an invalid prefix and an unfinished one are the same to it",
        takes_bytes=True,
    ),
}


def _measure_prefixes(peer: Peer, document: Callable[[], str], effort: Effort) -> Measure:
    return prefixes(peer, document(), effort, _as_plain)
