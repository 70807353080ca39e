"""`unspool message`: the message that a provider's chunks make, for pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...._missing import MISSING
from ....llm._changes import changes
from ....llm._faults import Fault
from ....llm._message import start
from ...viewer.inputs import InputKind
from ...viewer.tracks import Item
from ..lines.lanes import Lane, Lanes
from ..lines.messages import change_line, state_line
from ..lines.stages import ValueLines
from ..options import Extract, File, Format, Kind, Times
from ..progress import progress
from ..reading import STANDARD_INPUT, Input, noted_time, timed_items
from ..schemas import Schema, Tools, config_for
from ..terminal import Complaints, EmptyError, UsageError, guarded, write_lines

if TYPE_CHECKING:
    from ....llm._state import MessageState
    from ...viewer.inputs import Guess
    from ..lines.stages import Line, Stage

__all__ = ["message"]

Events = Annotated[bool, typer.Option("--events", help="What changed, a line for each, instead of the whole message.")]


def message(
    file: File = STANDARD_INPUT,
    events: Events = False,
    schema: Schema = None,
    tool: Tools = None,
    extract: Extract = False,
    times: Times = False,
    kind: Kind = None,
    format: Format = None,
) -> None:
    """The message that a provider's chunks make, a line for each state: text, calls with values, usage, errors."""
    with guarded(Input(file).name):
        config = config_for(schema, tool, extract)
        source = Input(file, kind, format)
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
    is_anything = found.kind is InputKind.JSON  # or what is nothing else: nobody has read it yet
    what = "this is" if is_anything else f"this is {found.kind.value}, and"
    raise UsageError(f"{source.name}: {what} no stream of chunks; if it is one, --format tells of which")


def _ending(state: MessageState) -> list[str]:
    """What is wrong with a message that has ended."""
    reasons = [str(error) for error in state.errors]
    if not reasons and not state.is_complete:
        reasons.append(f"the message was cut off: {state.finish_reason}")
    return reasons


def _values(found: Guess, extract: bool) -> Lanes:
    def made(lane: Lane) -> Stage:
        return ValueLines(found.options, None, extract=lane.extract)

    return Lanes(made, extract=extract)


def _lines(before: MessageState, state: MessageState, values: Lanes, events: bool) -> list[Line]:
    if state is before:
        return []

    def value_of(track: str) -> object:
        lane = values.lanes.get(track)
        return lane.stage.value if lane is not None and isinstance(lane.stage, ValueLines) else MISSING

    if events:
        return [change_line(change, value_of) for change in changes(before, state)]
    return [state_line(state, value_of)]


def _stop_at_violation(state: MessageState) -> None:
    """Whoever gives a schema wants to know at once."""
    for error in state.errors:
        if error.fault is Fault.INVALID:
            raise error
