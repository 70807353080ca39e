"""The events panel: the first events of a step, and how many there are.

Events are not kept: they are read again from the state before the step. A step may be as long as a document, so no more
of it is read than is shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ..._events import Event, Kind
from ..._state import create_state, finalize, parse_chunk
from .document import clipped, shown_path

if TYPE_CHECKING:
    from ..._state import ParserState
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Track, TrackPiece

__all__ = ["told"]

MOST_EVENTS: Final = 200
LONGEST_VALUE: Final = 400
LONGEST_ERROR: Final = 2_000
PORTION: Final = 4_096  # characters, or bytes, that are read at once


def told(timeline: Timeline, track: Track | None, step: int) -> dict[str, Any]:
    """The panel of a track at a step."""
    events: list[Event] = []
    total = 0
    if track is not None and track.is_json and step:
        counts = [change.events for change in timeline.changes(step) if change.track == track.name]
        most = None if None in counts else MOST_EVENTS
        events = _first_events(timeline, track, step, most)
        total = len(events) if most is None or track.ended_at == step else sum([count or 0 for count in counts])
    rows = [
        {"kind": str(event.kind), "path": shown_path(event.path), "value": _spelled(event)}
        for event in events[:MOST_EVENTS]
    ]
    return {"total": total, "rows": rows}


def _first_events(timeline: Timeline, track: Track, step: int, most: int | None) -> list[Event]:
    """What a step told, piece by piece: about `most` events, or all of them."""
    state = track.state_at(step - 1)
    events: list[Event] = []
    for piece in timeline.item(step).pieces:
        if piece.track == track.name and (most is None or len(events) <= most):
            if piece.restarts:
                state = create_state(state.options, extract=track.extract)
            state = _read(state, piece, most, events)
    if track.ended_at == step:
        _tell(state, finalize(state), events)
    return events


def _read(state: ParserState, piece: TrackPiece, most: int | None, events: list[Event]) -> ParserState:
    """Read a piece in portions, until there are more events than are wanted: the last one may still go on."""
    fragment = piece.fragment
    begin = len(events)
    for start in range(0, len(fragment), PORTION):
        if most is not None and len(events) > most:
            break
        before, state = state, parse_chunk(state, fragment[start : start + PORTION])
        _tell(before, state, events, can_go_on=len(events) > begin)
    return state


def _tell(before: ParserState, after: ParserState, events: list[Event], *, can_go_on: bool = False) -> None:
    """Add what was told between two states. Where a portion ends inside a string, the next one goes on with its text:
    that is one event, as it was when the step came."""
    new = () if after is before else after.events
    if can_go_on and new and new[0].kind is events[-1].kind is Kind.PARTIAL_STRING:
        last = events.pop()
        joined = Event(last.kind, last.path, f"{last.value}{new[0].value}", last.node_id, last.offset)
        new = (joined, *new[1:])
    events += new


def _spelled(event: Event) -> str:
    if event.kind is Kind.ERROR:
        return clipped(str(event.value), LONGEST_ERROR)
    if event.value is None and event.kind is not Kind.COMPLETE_NULL:
        return ""
    if event.raw is not None:
        return clipped(event.raw, LONGEST_VALUE)
    value = event.value[: LONGEST_VALUE + 1] if isinstance(event.value, str) else event.value
    return clipped(json.dumps(value, ensure_ascii=False), LONGEST_VALUE)
