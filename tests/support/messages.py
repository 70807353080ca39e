"""Types for the answers and arguments of messages, and all that can be seen of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unspool import MISSING
from unspool.llm import Config, finish, reduce, start
from unspool.llm._deltas import Finish, ToolCallDelta
from unspool.typed._shape import AnyShape, ArrayShape, Field, LeafShape, ObjectShape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool.llm import MessageError, MessageState, Quirk, ToolCall
    from unspool.llm._deltas import Delta
    from unspool.typed._shape import Shape

STRING = LeafShape(frozenset({"string"}), "a string", streams=True)
NUMBER = LeafShape(frozenset({"number"}), "a number")
ANY = AnyShape()


def record(**fields: Shape) -> ObjectShape:
    """An object with these fields, all of them required, as a dict."""
    return ObjectShape({name: Field(name, shape, True) for name, shape in fields.items()}, dict, dict, extra=None)


CITY = record(city=STRING)
TRIP = record(title=STRING, days=ArrayShape(record(name=STRING, hours=NUMBER)))


def piece(arguments: Any = None, index: Any = 0, **more: Any) -> ToolCallDelta:
    """A delta of a call as in chat completions."""
    return ToolCallDelta(index, more.pop("id", None), more.pop("name", None), arguments, "function", **more)


def call(name: str = "f", arguments: Any = "", index: Any = 0, **more: Any) -> ToolCallDelta:
    """The first delta of a call as in chat completions."""
    return piece(arguments, index, id=more.pop("id", f"id_{index}"), name=name, **more)


def after(deltas: Iterable[Delta], config: Config | None = None, **settings: Any) -> MessageState:
    """The state after these deltas."""
    state = start(config or Config(**settings))
    for delta in deltas:
        state = reduce(state, delta)
    return state


def ended(deltas: Iterable[Delta], reason: Any = "tool_calls", **settings: Any) -> MessageState:
    """The last state of a message of these deltas that finished for this reason; for None it gave none."""
    return finish(after([*deltas, *([] if reason is None else [Finish(reason)])], **settings))


def codes(state: MessageState) -> list[tuple[Quirk, int | None]]:
    """What was odd, and where."""
    return [(diagnostic.code, diagnostic.call) for diagnostic in state.diagnostics]


def seen_error(error: MessageError | None) -> Any:
    """All that can be seen of an error."""
    if error is None:
        return None
    return error.fault, error.call, error.paths, str(error.reason), error.code, error.detail, str(error)


def seen_call(call: ToolCall) -> dict[str, Any]:
    """All that can be seen of a call."""
    names = ("index", "id", "name", "kind", "arguments", "value", "is_complete")
    return {**{name: getattr(call, name) for name in names}, "error": seen_error(call.error)}


def seen(state: MessageState) -> dict[str, Any]:
    """All that can be seen of a state, but for what was odd about it."""
    names = (
        *("role", "id", "model", "content", "content_value", "reasoning", "refusal", "finish_reason"),
        *("raw_finish_reason", "usage", "is_finished", "is_complete", "is_content_complete"),
    )
    return {
        **{name: getattr(state, name) for name in names},
        "content_error": seen_error(state.content_error),
        "tool_calls": [seen_call(call) for call in state.tool_calls],
        "errors": [seen_error(error) for error in state.errors],
        "message": state.as_message(),
    }


def values(state: MessageState) -> list[Any]:
    """The values of the calls, for those that are complete."""
    return [call.value if call.is_complete else MISSING for call in state.tool_calls]
