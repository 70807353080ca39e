"""Gates: an argument that is there for good before the whole call is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.messages import ANY, CITY, NUMBER, STRING, TRIP, after, call, ended, piece, record
from unspool import MISSING, Path, PatternError
from unspool.llm import Fault, Gate, GateStatus, finish, reduce
from unspool.llm._deltas import Finish, ToolCallDelta
from unspool.typed._shape import IGNORED, ArrayShape, DeferredShape, Field, LeafShape, MapShape, ObjectShape, UnionShape

if TYPE_CHECKING:
    from unspool.typed._shape import Shape

WAITING, ABSENT = Gate(), Gate(GateStatus.ABSENT)


def ready(value: Any) -> Gate:
    return Gate(GateStatus.READY, value)


def gate(text: str, path: Any, shape: Shape | None = None) -> Gate:
    """What the gate at a path says after some text of a call that is still open."""
    return after([call("f", text)], tools={"f": shape}).tool_calls[0].ready(path)


@pytest.mark.parametrize("shape", [None, ANY, TRIP])
def test_an_argument_is_ready_when_it_is_closed(shape: Shape | None) -> None:
    """With a type or without: the call as a whole may go on for long."""
    begun = '{"title": "Fi'
    assert gate("", "title", shape) == WAITING
    assert gate(begun, "title", shape) == WAITING
    assert gate(begun, "days", shape) == WAITING
    closed = '{"title": "Fiji", "days": [{"name": "Arr'
    assert gate(closed, "title", shape) == ready("Fiji")
    assert gate(closed, "days", shape) == gate(closed, "$.days[0].name", shape) == WAITING
    assert gate(closed, "$.days[1]", shape) == WAITING
    later = '{"title": "Fiji", "days": [{"name": "Arrival", "hours": 3}'
    assert gate(later, "$.days[0].name", shape) == ready("Arrival")
    assert gate(later, "$.days[0]", shape) == ready({"name": "Arrival", "hours": 3})
    assert gate(later, "$", shape) == WAITING
    assert gate(later + "]}", "$", shape).is_ready


def test_paths_of_gates() -> None:
    """A JSONPath, a path, a tuple, or the name of an argument, whatever characters it has."""
    text = '{"a.b": {"c": 1}, '
    for path in ('$["a.b"].c', ("a.b", "c"), Path.of("a.b", "c")):
        assert gate(text, path) == ready(1)
    assert gate(text, "a.b") == ready({"c": 1})
    with pytest.raises(PatternError):
        gate(text, "$.")


def test_an_argument_that_cannot_come_any_more() -> None:
    """What it would stand in is closed."""
    for shape in (None, ANY, record(a=CITY)):
        assert gate('{"a": {"city": "x"}', "$.a.town", shape) == ABSENT
        assert gate('{"a": {"city": "x"}', "$.a.city.x", shape) == ABSENT
        assert gate('{"a": {"city": "x"}', "$.b", shape) == WAITING
    state = ended([call("f", '{"a": 1}')])
    assert state.tool_calls[0].ready("b") == ABSENT
    assert ABSENT.is_settled
    assert not ABSENT.is_ready
    assert not WAITING.is_settled


def test_nothing_is_ready_before_the_tool_is_known() -> None:
    """Arguments may come before the name; what they must be, only the name tells."""
    nameless = after([piece('{"city": 5, ')], tools={"f": CITY})
    assert nameless.tool_calls[0].ready("city") == WAITING
    assert reduce(nameless, piece("", name="f")).tool_calls[0].ready("city").status is GateStatus.FAILED
    good = after([piece('{"city": "Suva", ')], tools={"f": CITY})
    assert good.tool_calls[0].ready("city") == WAITING
    assert reduce(good, piece("", name="f")).tool_calls[0].ready("city") == ready("Suva")


def test_gates_of_calls_that_fail() -> None:
    """Whatever was ready before: the call is broken, invalid or cut off, and the gate says so."""
    begun = after([call("f", '{"title": "Fiji", "days": [')], tools={"f": TRIP})
    assert begun.tool_calls[0].ready("title").is_ready
    for state, fault in (
        (reduce(begun, piece("x")), Fault.SYNTAX),
        (reduce(begun, piece("5,")), Fault.INVALID),
        (finish(reduce(begun, Finish("length"))), Fault.TRUNCATED),
        (finish(begun), Fault.TRUNCATED),
    ):
        for path in ("title", "days", "nothing"):
            found = state.tool_calls[0].ready(path)
            assert found.status is GateStatus.FAILED
            assert found.value is MISSING
            assert found.error is state.tool_calls[0].error
            assert found.error is not None
            assert found.error.fault is fault


def test_free_text_has_one_gate() -> None:
    """The text as a whole."""
    first = ToolCallDelta(0, "a", "sql", "SELECT", "custom", counts_blocks=True)
    state = after([first])
    assert state.tool_calls[0].ready("$") == state.tool_calls[0].ready("x") == WAITING
    state = reduce(state, Finish("tool_calls"))
    assert state.tool_calls[0].ready("$") == ready("SELECT")
    assert state.tool_calls[0].ready("x") == ABSENT


def test_the_value_is_the_plain_one() -> None:
    """As it was written, whatever the type makes of it, and under the key that was written."""
    day = LeafShape(frozenset({"string"}), "a day", make=lambda node: ("day", node.value))
    shape = ObjectShape({"theDay": Field("day", day), "n": Field("n", NUMBER)}, half_filled, half_filled, extra=None)
    assert gate('{"theDay": "Monday"', "theDay", shape) == ready("Monday")
    assert gate('{"theDay": "Monday', "theDay", shape) == WAITING
    nested = record(inner=shape)
    assert gate('{"inner": {"theDay": "Monday"', "$.inner.theDay", nested) == ready("Monday")


def half_filled(members: dict[str, object]) -> object:
    return SimpleNamespace(**members)


def test_maps_and_keys_that_are_left_out() -> None:
    """Keys may have a type as well, or none."""
    shape = MapShape(record(a=NUMBER), check_key=lambda key: int(key))
    assert gate('{"7": {"a": 1, ', '$["7"].a', shape) == ready(1)
    assert gate('{"7": {"a": 1}, "8": {"a": 2', '$["8"].a', shape) == WAITING
    extra = ObjectShape({}, dict, dict, extra=IGNORED)
    assert gate('{"a": {"b": 1, ', "$.a.b", extra) == ready(1)
    assert gate('{"a": {"b": 1, ', "$.a.b", ObjectShape({}, dict, dict, extra=None, is_lenient=True)) == ready(1)


def test_what_is_judged_as_a_whole_waits_for_it() -> None:
    """Nobody knows yet whether what is inside is valid."""
    both = UnionShape([record(a=NUMBER), record(b=NUMBER)], lambda node: node.value)
    deferred = DeferredShape(lambda node: ("made", node.value), shown=record(a=NUMBER))
    for shape in (both, deferred):
        outer = record(x=shape, y=STRING)
        assert gate('{"x": {"a": 1, ', "$.x.a", outer) == WAITING
        assert gate('{"x": {"a": 1}, ', "$.x.a", outer) == ready(1)
        assert gate('{"x": {"a": 1}, ', "$.x.b", outer) == ABSENT


def test_what_is_not_shown_may_be_ready() -> None:
    """Atomic parts, items that are shown when whole, and objects that are held back: what is inside is valid."""
    atomic = ObjectShape({"a": Field("a", NUMBER)}, dict, dict, extra=None, is_atomic=True)
    assert gate('{"x": {"a": 1, ', "$.x.a", record(x=atomic)) == ready(1)
    items = ArrayShape(record(a=NUMBER, b=NUMBER), whole_items=True)
    assert gate('{"x": [{"a": 1, ', "$.x[0].a", record(x=items)) == ready(1)
    held = ObjectShape({"a": Field("a", NUMBER), "b": Field("b", NUMBER, holds_back=True)}, dict, dict, extra=None)
    assert gate('{"x": {"a": 1, ', "$.x.a", record(x=held)) == ready(1)


def test_a_branch_that_does_not_exist() -> None:
    """Where nothing is judged, the call does not fail, and the gate waits."""
    tagged = UnionShape(
        [record(t=STRING), record(t=STRING, u=STRING)], lambda node: node.value, discriminator="t", is_lenient=True
    )
    assert gate('{"x": {"t": "new", "u": 1', "$.x.u", record(x=tagged)) == WAITING
