"""`unspool message`: the message that a provider's chunks make, as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...._missing import MISSING
from ....llm._changes import (
    ContentAdded,
    ContentValueChanged,
    MessageFinished,
    MessageStarted,
    Noticed,
    PartChanged,
    PartEnded,
    PartStarted,
    ReasoningAdded,
    RefusalAdded,
    ToolArgumentsAdded,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
    UsageCounted,
    changes,
)
from ....llm._diagnostics import Fault
from ....llm._message import start
from ...viewer.inputs import InputKind
from ...viewer.tracks import CONTENT, Item, call_track
from ..arrivals import STANDARD_INPUT, Input, noted_time, timed_items
from ..lines import Lane, Lanes, ValueLines
from ..options import Extract, File, Format, Kind, Repairing, Schema, Times, Tools, config_for, level_of, load_schema
from ..terminal import Complaints, EmptyError, UsageError, guarded, progress, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....llm._calls import ToolCall
    from ....llm._changes import MessageEvent
    from ....llm._deltas import Usage
    from ....llm._diagnostics import Diagnostic, MessageError
    from ....llm._message import MessageState
    from ...viewer.inputs import Guess
    from ..lines import Line, TextStage

    ValueOf = Callable[[str], object]
    """The value of a text so far, by the name of its track; None if it has none."""

__all__ = ["message"]

Events = Annotated[bool, typer.Option("--events", help="Print one line per change instead of the whole message.")]


def message(
    file: File = STANDARD_INPUT,
    events: Events = False,
    schema: Schema = None,
    tool: Tools = None,
    extract: Extract = False,
    times: Times = False,
    kind: Kind = None,
    format: Format = None,
    repair: Repairing = None,
) -> None:
    """Print the message that a provider's chunks make, one line per state: text, calls with values, usage, errors."""
    source = Input(file, kind, format, repair=level_of(repair))
    with guarded(source.name):
        config = config_for(load_schema(schema), tool, extract, level_of(repair))
        opening = source.opening(config)
        complaints = Complaints(source.name)
        state = start(config)
        values: Lanes | None = None
        with progress(source, shares_terminal=True) as took:
            for timed in timed_items(source, opening, took):
                item, found = timed.item, opening.found
                assert found is not None
                if values is None:
                    _refuse_others(source, found, item)
                    values = _values(found, extract)
                for piece in item.pieces:
                    values.take(piece, item.message)
                if item.problem:
                    complaints.add(item.problem)
                before, state = state, item.message or state
                if state.is_finished:
                    values.settle()
                prefix: Line = {"t": noted_time(opening, timed.time)} if times else {}
                lines = _lines(before, state, values, events)
                write_lines([{**prefix, **line} for line in lines])
                if not state.is_finished:
                    _stop_at_violation(state)
        if values is None:
            assert opening.found is not None
            _refuse_others(source, opening.found, Item())
        for reason in _ending(state):
            complaints.add(reason)
        complaints.settle()


def _refuse_others(source: Input, found: Guess, first: Item) -> None:
    if found.is_message:
        return
    if not any(piece.fragment.strip() for piece in first.pieces):
        raise EmptyError
    # Unrecognised input counts as JSON, so that kind says nothing.
    kind = "" if found.kind is InputKind.JSON else f" ({found.kind.value})"
    raise UsageError(f"{source.name}: not recognised as a provider stream{kind}; if it is one, name it with --format")


def _ending(state: MessageState) -> list[str]:
    """Return the reasons why a message that has ended is not complete."""
    reasons = [str(error) for error in state.errors]
    if not reasons and not state.is_complete:
        reasons.append(f"the message was cut off: {state.finish_reason}")
    return reasons


def _stop_at_violation(state: MessageState) -> None:
    for error in state.errors:
        if error.fault is Fault.INVALID:
            raise error


def _values(found: Guess, extract: bool) -> Lanes:
    def made(lane: Lane) -> TextStage:
        return ValueLines(found.options, None, extract=lane.extract)

    return Lanes(made, extract=extract)


def _lines(before: MessageState, state: MessageState, values: Lanes, events: bool) -> list[Line]:
    if state is before:
        return []

    def value_of(track: str) -> object:
        lane = values.lanes.get(track)
        value = lane.stage.value if lane is not None and isinstance(lane.stage, ValueLines) else MISSING
        return None if value is MISSING else value

    if events:
        return [{"kind": change.kind, **_change(change, value_of)} for change in changes(before, state)]
    return [_state(state, value_of)]


# Messages as plain JSON.


def _state(state: MessageState, value_of: ValueOf) -> Line:
    return {
        "role": state.role,
        "id": state.id,
        "model": state.model,
        "content": state.content,
        "content_value": value_of(CONTENT),
        "reasoning": state.reasoning,
        "refusal": state.refusal,
        "tool_calls": [_call(call, value_of) for call in state.tool_calls],
        "finish_reason": state.finish_reason,
        "usage": None if state.usage is None else _usage(state.usage),
        "errors": [_error(error) for error in state.errors],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in state.diagnostics],
        "is_finished": state.is_finished,
        "is_complete": state.is_complete,
    }


def _call(call: ToolCall, value_of: ValueOf) -> Line:
    return {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        "kind": call.kind,
        "arguments": call.arguments,
        "value": value_of(call_track(call.index)),
        "status": "complete" if call.is_complete else "failed" if call.error is not None else "open",
    }


def _usage(usage: Usage) -> Line:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }


def _diagnostic(diagnostic: Diagnostic) -> Line:
    return {
        "code": diagnostic.code.value,
        "call": diagnostic.call,
        "detail": diagnostic.detail,
        "count": diagnostic.count,
    }


def _error(error: MessageError) -> Line:
    return {
        "fault": error.fault.value,
        "call": error.call,
        "open": [str(path) for path in error.paths],
        "message": str(error),
    }


def _change(change: MessageEvent, value_of: ValueOf) -> dict[str, Any]:
    match change:
        case MessageStarted(role, id, model):
            return {"role": role, "id": id, "model": model}
        case PartStarted(index, part) | PartEnded(index, part):
            return {"part": index, "type": part.type, "id": part.id, "is_complete": part.is_complete}
        case PartChanged(index, part, name):
            return {"part": index, "type": part.type, "name": name}
        case ContentAdded(text, whole, part) | ReasoningAdded(text, whole, part) | RefusalAdded(text, whole, part):
            return {"part": part, "text": text, "is_whole": whole}
        case ContentValueChanged():
            return {"value": value_of(CONTENT)}
        case ToolCallStarted(call):
            return {"call": call.index, "id": call.id, "name": call.name}
        case ToolArgumentsAdded(call, text, whole, part):
            return {"part": part, "call": call.index, "text": text, "is_whole": whole}
        case ToolCallCompleted(call):
            value = value_of(call_track(call.index))
            return {"call": call.index, "id": call.id, "name": call.name, "value": value}
        case ToolCallFailed(call):
            error = None if call.error is None else _error(call.error)
            return {"call": call.index, "id": call.id, "name": call.name, "error": error}
        case UsageCounted(usage):
            return _usage(usage)
        case Noticed(diagnostic):
            return _diagnostic(diagnostic)
        case MessageFinished(state):
            errors = [_error(error) for error in state.errors]
            return {"finish_reason": state.finish_reason, "is_complete": state.is_complete, "errors": errors}
        case _:
            return {}
