"""Reading an input to its end, for whoever shows what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UnspoolError
from ..viewer.inputs import Guess, InputKind
from ..viewer.timeline import Timeline
from .progress import progress
from .reading import timed_items

if TYPE_CHECKING:
    from ..viewer.opening import Opening
    from .reading import Input

__all__ = ["begin", "gather", "problems"]


def begin(opening: Opening, *, extract: bool) -> Timeline:
    """The timeline for what an opening has found; of nothing at all, too."""
    return Timeline(opening.found or Guess(InputKind.JSON), is_timed=opening.is_timed, extract=extract)


def gather(source: Input, *, extract: bool = False) -> Timeline:
    """Everything that comes. What is wrong with the wrapping ends it, and is a note at the end."""
    opening = source.opening()
    timeline: Timeline | None = None
    problem = ""
    with progress(source) as took:
        try:
            for time, item in timed_items(source, opening, took):
                timeline = timeline or begin(opening, extract=extract)
                timeline.add(time, item)
        except UnspoolError as error:
            problem = str(error)
    timeline = timeline or begin(opening, extract=extract)
    timeline.finish(timeline.duration, problem)
    return timeline


def problems(timeline: Timeline) -> list[str]:
    """All that is wrong with what came: the notes, or else what the provider says of its message."""
    found = [note.text for note in timeline.notes]
    message = timeline.message(timeline.last)
    if not found and message is not None:
        found = [str(error) for error in message.errors]
    if not found and not timeline.sizes[-1] and message is None:
        found = ["there is nothing in it"]
    return found
