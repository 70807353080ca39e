"""Flaws: what is wrong with a stream, each at the step, the path and the characters where it is.

Invalid text, violations of the type, an answer that was cut off, and input that cannot be read are flaws alike. Every
panel marks the same ones.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ... import Path
from ...llm import Fault as MessageFault
from ..viewer.tracks import in_words
from .document import clipped, shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...llm import MessageState
    from ..viewer.timeline import Note, Timeline
    from .judging import Violation

__all__ = ["Flaw", "flaws", "spelled_flaw"]

MAX_FLAWS: Final = 200
MAX_TEXT: Final = 2_000
DIGITS: Final = 6
CUT_OFF: Final = {
    "length": "the answer was cut off: the model reached its limit of tokens",
    "content_filter": "the answer was cut off: a content filter stopped the model",
    "refusal": "the model refused to answer",
    "cancelled": "the answer was cut off: it was cancelled",
    "error": "the answer was cut off: the model failed",
    "paused": "the answer is not whole: the model paused",
}
"""The ends that are failures, in words."""
OWN: Final = frozenset({
    MessageFault.PROVIDER, MessageFault.TRANSPORT, MessageFault.GENERATION, MessageFault.INTERRUPTED,
    MessageFault.NO_NAME, MessageFault.TOO_MANY_PARTS,
})  # fmt: skip
"""Failures that the text of the message does not show."""


class Flaw(NamedTuple):
    """One flaw. `kind` is "syntax", "type", "message" or "input"; `at` and `length` are its characters, if known."""

    step: int
    kind: str
    text: str
    track: str | None = None
    path: str | None = None
    at: int | None = None
    length: int = 0


def flaws(timeline: Timeline, violations: Sequence[Violation]) -> list[Flaw]:
    """Return the flaws of a timeline, in the order of their steps."""
    found = [_of_note(timeline, note) for note in timeline.notes[:MAX_FLAWS]]
    found += [_of_violation(timeline, violation) for violation in violations]
    found += _of_message(timeline)
    return sorted(found, key=lambda flaw: flaw.step)[:MAX_FLAWS]


def spelled_flaw(flaw: Flaw, scale: Sequence[float]) -> dict[str, Any]:
    """Return a flaw as JSON data, with its place on the axis of the waterfall."""
    return {**flaw._asdict(), "text": clipped(flaw.text, MAX_TEXT), "place": round(scale[flaw.step], DIGITS)}


def _of_note(timeline: Timeline, note: Note) -> Flaw:
    if note.track is None:
        return Flaw(note.step, "input", note.text)
    error = timeline.tracks[note.track].state.error
    if error is None:  # the text began again
        return Flaw(note.step, "syntax", note.text, note.track)
    text = in_words(error)
    message = timeline.message(note.step)
    why = CUT_OFF.get(message.finish_reason or "") if message is not None else None
    if why is not None and note.step == timeline.tracks[note.track].ended_at:
        text = f"{text} ({why})"
    return Flaw(note.step, "syntax", text, note.track, shown_path(error.path), error.offset, 1)


def _of_violation(timeline: Timeline, violation: Violation) -> Flaw:
    at, length = _place(timeline, violation)
    return Flaw(violation.step, "type", violation.text, violation.track, shown_path(violation.path), at, length)


def _place(timeline: Timeline, violation: Violation) -> tuple[int | None, int]:
    """Return the characters of the value at fault, or of the innermost value around it."""
    track = timeline.tracks[violation.track]
    root = track.state.root
    path = violation.path
    node = None
    while root is not None and node is None:
        node = root.at(path)
        if node is None and not len(path):
            break
        path = path.parent or Path.of()
    field = None if node is None else timeline.fields[track.name].find(node.id)
    if field is None:
        return None, 0
    if node is not None and node.kind in ("object", "array"):
        return field.at, 1  # the bracket: a whole container would mark all of the text
    stop = track.length - track.start_at(timeline.last) if field.stop is None else field.stop
    return field.at, stop - field.at


def _of_message(timeline: Timeline) -> list[Flaw]:
    last = timeline.message(timeline.last)
    if last is None:
        return []
    found: list[Flaw] = []
    words = CUT_OFF.get(last.finish_reason or "")
    if words is not None:
        raw = last.raw_finish_reason or last.finish_reason
        text = f"{words} (finish reason: {raw})"
        found.append(Flaw(_first_step(timeline, lambda message: message.finish_reason is not None), "message", text))
    if any(_is_own(error.fault) for error in last.errors):
        step = _first_step(timeline, lambda message: any(_is_own(error.fault) for error in message.errors))
        found += [Flaw(step, "message", str(error)) for error in last.errors if _is_own(error.fault)]
    return found


def _is_own(fault: object) -> bool:
    return fault in OWN


def _first_step(timeline: Timeline, is_so: Callable[[MessageState], bool]) -> int:
    """Return the first step after which something is so that stays so."""

    def holds(step: int) -> bool:
        message: MessageState | None = timeline.message(step)
        return message is not None and is_so(message)

    return bisect_left(range(timeline.last), True, key=holds)
