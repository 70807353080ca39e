"""`unspool watch sample:trip`, animated: the screens that the command draws, at the times of the recording."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich.text import Text

from unspool.tools.cli.arrivals import GrowingTimeline, Input
from unspool.tools.cli.screen import Look, TracksView, legend, status_line
from unspool.tools.viewer.timeline import Timeline

from .terminal import Screen, film
from .themes import Theme

__all__ = ["draw"]

SAMPLE: Final = "sample:trip"
COLUMNS: Final = 76
ROWS: Final = 18
PAUSE: Final = 0.12  # seconds between two screens
FRESH: Final = 0.3  # seconds for which a change stays marked


def draw(theme: Theme) -> str:
    """Draw the film."""
    return film(f"unspool watch {SAMPLE}", screens(), COLUMNS, theme)


def screens() -> list[Screen]:
    """Return the screens, one per `PAUSE` in which something arrived."""
    watched = GrowingTimeline(Input(Path(SAMPLE)), extract=False)
    view: TracksView | None = None
    found: list[Screen] = []
    due = 0.0
    for _ in watched.ticks():
        timeline = watched.timeline
        if timeline is None or timeline.times[-1] < due:
            continue
        view = view or TracksView(timeline, select=None, resolver=None, ascii_only=False)
        found.append(_screen(timeline, view))
        due = timeline.times[-1] + PAUSE
    timeline = watched.finish()
    view = view or TracksView(timeline, select=None, resolver=None, ascii_only=False)
    found.append(_screen(timeline, view))
    return found


def _screen(timeline: Timeline, view: TracksView) -> Screen:
    time = timeline.times[-1]
    before = timeline.step_at(max(time - FRESH, 0.0))
    explained = legend(COLUMNS, ROWS, ascii_only=False)
    assert explained is not None
    room = ROWS - 2
    lines = list(view.lines(Look(COLUMNS, room, before)))
    lines += [Text()] * (room - len(lines))
    return Screen(time, [*lines, explained, status_line(timeline, time, COLUMNS, ascii_only=False)])
