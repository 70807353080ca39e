"""States of messages as plain data, and back."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.messages import CITY, NUMBER, TRIP, after, call, piece, seen
from unspool import MISSING, StateError, UnspoolError
from unspool.llm import Config, Fault, MessageError, MessageState, finish, reduce, reduce_chunk, start
from unspool.llm._deltas import (
    BlockEnd,
    Finish,
    Ignored,
    Leaf,
    MessageStart,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from unspool.testing import every_cut

if TYPE_CHECKING:
    from unspool.llm._deltas import Delta


def leaf(*leaves: Leaf, **more: Any) -> ToolCallDelta:
    return ToolCallDelta(MISSING, None, more.pop("name", None), leaves, "function", **more)


TYPED = Config(TRIP, tools={"f": CITY, "g": None})
EMULATED = Config(CITY, emulate_structured_output=True, choice=0, extract=True)
NUMBERS = Config(NUMBER, requires_finish=False)

MESSAGES: dict[str, tuple[Config, list[Delta]]] = {
    "text": (
        Config(),
        [
            MessageStart("assistant", "m1", "model"),
            ReasoningDelta("Hm", (0, "summary", 0)),
            TextDelta("Hel", (1,)),
            TextDelta("lo", (1,)),
            TextDelta("!", (2,)),
            RefusalDelta("No"),
            Ignored("new"),
            Usage(1, None, None, {"input": {"text": [1, None, True, 1.5, "x"]}}),
            Usage(None, 2),
            Finish("stop", "end_turn"),
            MessageStart("assistant", "m2"),
        ],
    ),
    "calls": (
        TYPED,
        [
            call("f", '{"city": "S', 0),
            call("g", '{"x": 1}', 1, id=""),
            piece('uva"}', 0),
            piece('{"city":', "2", name="f"),
            piece("{]", 3, name="g"),
            piece('{"city": 5}', 4, name="f"),
            ToolCallDelta(5, "c", "sql", "SELECT", "custom"),
            ToolCallDelta(6, "d", "search", "{}", "server", True),
            piece('{"city"', 7),
            call("g", "5", 8),
            call("g", "", 9),
            call("g", " ", 10),
            call("g", '{"x": 1}{"x"', 11),
            piece(is_done=True, index=1),
            BlockEnd(8),
            Finish("tool_calls"),
        ],
    ),
    "answer": (
        TYPED,
        [
            TextDelta('{"title": "Fi', (0,)),
            TextDelta('ji", "days": [{"hours":', (0,)),
            TextDelta(" 1", (1,)),
            Finish("length"),
        ],
    ),
    "interleaved answer": (
        TYPED,
        [
            TextDelta('{"title": "', (0,)),
            TextDelta('ji"', (1,)),
            TextDelta("Fi", (0,)),
            TextDelta("}", (1,)),
            Finish("stop"),
        ],
    ),
    "emulated": (
        EMULATED,
        [
            piece('{"city": ', 0),
            call("f", "{}", 1),
            piece('"Suva"}', 0, name="output"),
            piece("{", 2),
            Finish("tool_calls"),
        ],
    ),
    "leaves": (
        TYPED,
        [
            leaf(Leaf("$.city", "S", True), name="f"),
            leaf(Leaf("$.city", "u", True), Leaf("$.city", "va", True)),
            leaf(Leaf("$.city"), is_done=True),
            leaf(Leaf("$.a[0]", 1), Leaf("$.a[1]", None), name="g"),
            leaf(Leaf("$.a[0]", True)),
            leaf(Leaf("$.a", 1)),
            ToolCallDelta(MISSING, "z", "g", Whole({"x": float("inf")}), "function", True),
            Finish("stop"),
        ],
    ),
    "number": (NUMBERS, [TextDelta("4"), TextDelta("2")]),
    "failure": (Config(), [TextDelta("Hel"), call("f", "{"), ProviderError("Overloaded", "529")]),
    "model failure": (Config(), [call("f", "{}"), Finish("error", "MALFORMED")]),
    "spliced": (
        Config(),
        [MessageStart("a", "m1"), TextDelta("a", (0,)), MessageStart("a", "m2"), TextDelta("b", (0,))],
    ),
}
each_message = pytest.mark.parametrize("name", MESSAGES)


def reload(state: MessageState) -> MessageState:
    """The state through text."""
    return MessageState.load(json.loads(json.dumps(state.dump())), state.config)


def states(name: str) -> list[MessageState]:
    config, deltas = MESSAGES[name]
    found = [start(config)]
    for delta in deltas:
        found.append(reduce(found[-1], delta))
    return found


@each_message
def test_a_loaded_state_goes_on_as_the_dumped_one(name: str) -> None:
    """From every delta on: all that can be seen is the same at each step, and at the end."""
    _, deltas = MESSAGES[name]
    for at, state in enumerate(states(name)):
        loaded = reload(state)
        assert loaded.dump() == state.dump()
        for delta in (None, *deltas[at:]):
            state, loaded = (state, loaded) if delta is None else (reduce(state, delta), reduce(loaded, delta))
            assert seen(loaded) == seen(state)
            assert loaded.diagnostics == state.diagnostics
        end = finish(state)
        assert seen(finish(loaded)) == seen(end)
        assert seen(reload(end)) == seen(end)
        assert reload(end).diagnostics == end.diagnostics


def test_dumps_do_not_tell_how_the_text_was_cut() -> None:
    """Pieces of text, of arguments and of leaves."""
    text = '{"city": "Suva"}'
    whole = after([TextDelta(text), call("f", text), leaf(Leaf("$.a", "Suva"), name="g")], TYPED).dump()
    for left, right in every_cut(text):
        first = after([TextDelta(left), TextDelta(right), call("f", left), piece(right)], TYPED)
        assert reduce(first, leaf(Leaf("$.a", "Suva"), name="g")).dump() == whole
    for left, right in every_cut("Suva"):
        first = after([TextDelta(text), call("f", text), leaf(Leaf("$.a", left, True), name="g")], TYPED)
        assert reduce(first, leaf(Leaf("$.a", right))).dump() == whole


def test_another_config_is_refused() -> None:
    """What a text is worth depends on it."""
    state = after([TextDelta("a"), call("f", "{}")], TYPED)
    with pytest.raises(StateError, match="another config"):
        MessageState.load(state.dump())
    with pytest.raises(StateError, match="another config"):
        MessageState.load(state.dump(), Config(TRIP, tools={"f": CITY}))
    assert MessageState.load(start().dump()).content == ""


def places(data: Any) -> list[tuple[Any, Any]]:
    """All entries of all containers in here."""
    found: list[tuple[Any, Any]] = []
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])
    return found


STRANGE: list[Any] = [
    *(None, True, -3, -2, -1, 0, 1, 2, 7, 10**30, 1.5, float("inf"), "", "x", "$", "stop", "output", "custom", "$.b"),
    *([], [1], [[]], ["x", 0], [None, 0, "", 1], {}, {"x": 1}, [["x", True]], [[["a"], "text"]], [["a"], "shrunk", 1]),
]


@each_message
def test_a_mutated_dump_is_refused_or_could_have_been(name: str) -> None:
    """Whatever stands anywhere in it: a `StateError` and nothing else, or a state that works."""
    source = Random(name)
    for state in (states(name)[-1], finish(states(name)[-1])):
        data = state.dump()
        MessageState.load(data, state.config)
        for number in range(len(places(data))):
            for strange in [*source.sample(STRANGE, 6), MISSING]:
                broken = copy.deepcopy(data)
                holder, key = places(broken)[number]
                if strange is MISSING:
                    del holder[key]
                else:
                    holder[key] = copy.deepcopy(strange)
                try:
                    loaded = MessageState.load(broken, state.config)
                except StateError:
                    continue
                check(loaded)


def check(state: MessageState) -> None:
    """A state that works: it shows itself, goes on, ends, and can be dumped and loaded again."""
    seen(state)
    repr(state)
    assert state.diagnostics is not None
    for delta in (TextDelta("a"), piece("{}"), piece("}", 1), leaf(Leaf("$.z", 1)), Finish("stop")):
        state = reduce(state, delta)
    state = finish(state)
    assert seen(reload(state)) == seen(state)


@pytest.mark.parametrize("data", [None, 5, "x", [], {}, {"version": 1}, MISSING])
def test_what_is_no_dump_at_all(data: object) -> None:
    """A `StateError`, whatever it is."""
    with pytest.raises(StateError, match="invalid state dump") as caught:
        MessageState.load(data)
    assert isinstance(caught.value, UnspoolError)


def test_calls_that_cannot_have_been() -> None:
    """What is hidden is the output, or has no name; what is complete is valid; places are those of the calls."""
    plain, typed = Config(), Config(tools={"f": CITY})
    for config, deltas, change in (
        (plain, [call("f", "{}")], {"index": -1}),
        (plain, [call("f", "{}")], {"index": 1}),
        (EMULATED, [call("output", "{}")], {"name": "f"}),
        (EMULATED, [call("f", "{}")], {"name": "output"}),
        (plain, [call("f", "{")], {"is_complete": True}),
        (plain, [piece("{}")], {"is_complete": True}),
        (typed, [call("f", '{"city": 5}')], {"is_complete": True}),
        (plain, [call("f", "{}")], {"is_closed": True}),
        (plain, [call("f", "{}")], {"leaves": []}),
        (plain, [call("f", "{}")], {"ended": 3}),
    ):
        data: Any = after(deltas, config).dump()
        MessageState.load(data, config)
        data["parts"][0].update(change)
        with pytest.raises(StateError):
            MessageState.load(data, config)


def test_values_that_are_no_json() -> None:
    """A dump is plain data, all through."""
    data: Any = after([Usage(1, 2, 3, {"a": 1})]).dump()
    for raw in ({"a": object()}, {5: 1}, {"a": [{"b": b"x"}]}):
        with pytest.raises(StateError):
            MessageState.load({**data, "usage": [1, 2, 3, raw]})


def test_a_dump_goes_to_another_process() -> None:
    """And is read there to its end."""
    state = reduce_chunk(start(), [call("f", '{"city": "S')])
    program = (
        "import json, sys\n"
        "from unspool.llm import MessageState, finish, reduce\n"
        "from unspool.llm._deltas import Finish, ToolCallDelta\n"
        "state = MessageState.load(json.load(sys.stdin))\n"
        "state = reduce(state, ToolCallDelta(0, None, None, 'uva\"}', 'function'))\n"
        "print(json.dumps(finish(reduce(state, Finish('tool_calls'))).tool_calls[0].value))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(state.dump()), capture_output=True, text=True
    )
    assert json.loads(done.stdout) == {"city": "Suva"}, done.stderr


def test_copies() -> None:
    """A state and its calls never change, so a copy is the thing itself; a pickle would take the types along."""
    state = after([call("f", '{"city": "Su')], tools={"f": CITY})
    for thing in (state, state.tool_calls[0]):
        assert copy.copy(thing) is thing
        assert copy.deepcopy([thing])[0] is thing
        with pytest.raises(TypeError, match="dump"):
            pickle.dumps(thing)


def test_errors_can_be_sent_elsewhere() -> None:
    """They survive pickling and copying with all that they say; the state stays behind."""
    error = finish(after([call("f", '{"city": 5')], tools={"f": CITY})).tool_calls[0].error
    assert error is not None
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert (str(twin), twin.fault, twin.call, twin.paths) == (str(error), error.fault, error.call, error.paths)


class ResponseError(Exception):
    """As those of clients: it cannot be made from its arguments again, or it holds what cannot be pickled."""

    def __init__(self, message: str, *, response: object) -> None:
        super().__init__(message)
        self.response = response


@pytest.mark.parametrize("response", [200, lambda: None], ids=["not restored", "not pickled"])
def test_errors_of_clients_can_be_sent_elsewhere(response: object) -> None:
    """An error whose reason cannot be pickled is pickled with the name of the reason; a copy keeps the reason."""
    reason = ResponseError("too many requests", response=response)
    error = MessageError(Fault.TRANSPORT, reason=reason, detail="after 3 chunks")
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.fault, str(twin.reason)) == (str(error), Fault.TRANSPORT, "ResponseError")
    assert copy.copy(error).reason is copy.deepcopy(error).reason is reason
