"""`unspool watch`: a value that grows in place as a tree or, without a terminal, one line per complete field."""

from __future__ import annotations

import json
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer
from rich.console import Group
from rich.text import Text

from ...._events import Kind as EventKind
from ...viewer.rows import leaf_text
from ...viewer.tracks import CLOSINGS, COMPLETIONS, DOCUMENT, STARTS, in_words
from ..arrivals import PAUSE, STANDARD_INPUT, GrowingTimeline, Input, problems_of
from ..hints import hint_for
from ..options import Cut, Extract, File, Format, Kind, Repairing, Select, level_of, load_pattern, load_schema
from ..screen import Look, TimelineValidator, TracksView, json_tracks, legend, status_line, summary
from ..terminal import (
    BROKEN,
    Complaints,
    EmptyError,
    console,
    guarded,
    is_ascii_only,
    print_words,
    progress,
    shown,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console, RenderableType

    from ...._events import Event
    from ...._path import Path
    from ....select import Pattern
    from ....typed._iterate import Resolver
    from ...viewer.timeline import Timeline

__all__ = ["FieldLines", "watch"]

MAX_STEPS: Final = 1_000  # fragments of a plain file: twenty seconds
FRESH: Final = 0.3  # seconds that a change stays marked
IDLE: Final = 0.2  # seconds between two drawings while nothing arrives
JOINED: Final = 200  # lines per write


def watch(
    file: File = STANDARD_INPUT,
    select: Select = None,
    schema: Annotated[
        str | None, typer.Option("--schema", help="JSON Schema file, or MODULE:CLASS. Violations are marked.")
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option("--speed", min=0, help="Speed factor; 0 plays everything at once.", show_default="1"),
    ] = None,
    extract: Extract = False,
    kind: Kind = None,
    format: Format = None,
    cut: Cut = None,
    repair: Repairing = None,
) -> None:
    """Watch a value grow as a tree: open values, recent changes, rate and position.

    A recording plays with its timing. Without a terminal, print one line per complete field, without delays unless
    --speed is given.
    """
    source = Input(file, kind, format, cut, repair=level_of(repair))
    with guarded(source.name, lambda: hint_for(source, extract=extract)):
        pattern = load_pattern(select)
        resolver = load_schema(schema)
        out = console()
        is_screen = out.is_terminal and not out.is_dumb_terminal
        pace = speed if speed is not None else 1.0 if is_screen else 0.0
        watched = GrowingTimeline(source.cut_into(MAX_STEPS), extract=extract, speed=pace)
        if is_screen:
            _on_screen(watched, out, pattern, resolver)
        else:
            _in_lines(watched, pattern, resolver)


# In a terminal.


def _on_screen(watched: GrowingTimeline, out: Console, pattern: Pattern | None, resolver: Resolver[Any] | None) -> None:
    from rich.live import Live  # slow to import, and only needed here

    screen = _Screen(watched, out, pattern, resolver)
    is_stopped = False
    with Live(screen.waiting(), console=out, screen=True, auto_refresh=False, redirect_stdout=False) as live:
        try:
            for is_step in watched.ticks():
                if screen.is_due(is_step):
                    live.update(screen.drawn(), refresh=True)
        except KeyboardInterrupt:
            is_stopped = True
    if is_stopped and watched.timeline is not None:  # keep the tree of a stream that hangs
        _write_all(out, screen.view(watched.timeline).lines(Look(out.width, None, None)))
        out.print(Text(f"stopped: {summary(watched.timeline)}", style="bold"))
    if is_stopped:
        raise KeyboardInterrupt
    timeline = watched.finish()
    if watched.source.head.is_blank:
        raise EmptyError
    view = screen.view(timeline)
    _write_all(out, view.lines(Look(out.width, None, None)))
    wrong, invalid = timeline.problems(), view.problems
    in_tree = {
        f"{track.name}: {in_words(error)}"
        for track in json_tracks(timeline)
        if (error := track.state.error) is not None
    }
    for problem in wrong:
        if problem not in in_tree:
            print_words(out, Text(shown(problem), style="bold red"))
    verdict = "broken" if wrong else "invalid" if invalid else "complete"
    ending = f"{verdict}: {summary(timeline)}"
    print_words(out, Text(ending, style="bold red" if wrong or invalid else "bold green"))
    if wrong or invalid:
        raise typer.Exit(BROKEN)


def _write_all(out: Console, lines: Iterator[Text]) -> None:
    """Write many lines in blocks, which is faster than one by one."""
    held: list[Text] = []
    for line in lines:
        held.append(line)
        if len(held) == JOINED:
            out.print(Text("\n").join(held), soft_wrap=True)
            held = []
    if held:
        out.print(Text("\n").join(held), soft_wrap=True)


@final
class _Screen:
    """Decides when to draw, and draws the screen."""

    def __init__(
        self, watched: GrowingTimeline, out: Console, pattern: Pattern | None, resolver: Resolver[Any] | None
    ) -> None:
        self._watched = watched
        self._out = out
        self._pattern = pattern
        self._resolver = resolver
        self._ascii_only = is_ascii_only()
        self._view: TracksView | None = None
        self._has_news = False
        self._drawn = 0.0
        self._cost = 0.0  # of the last drawing, in seconds
        self._size = (0, 0)
        self._frames: deque[tuple[float, int]] = deque([(0.0, 0)])  # recent drawings: time and step

    def view(self, timeline: Timeline) -> TracksView:
        """Return the view that makes the lines."""
        if self._view is None:
            self._view = TracksView(
                timeline, select=self._pattern, resolver=self._resolver, ascii_only=self._ascii_only
            )
        return self._view

    def is_due(self, is_step: bool) -> bool:
        """Return whether it is time to draw: rarely while nothing arrives, and never too often."""
        self._has_news = self._has_news or is_step
        pause = monotonic() - self._drawn
        if pause < max(PAUSE, self._cost * 4):  # at most a fifth of the time goes into drawing
            return False
        return self._has_news or pause >= IDLE or self._size != tuple(self._out.size)

    def waiting(self) -> RenderableType:
        """Return the screen before the first bytes."""
        return Text("waiting for the first bytes", style="dim")

    def drawn(self) -> RenderableType:
        """Return the current screen."""
        now = monotonic()
        self._drawn, self._has_news = now, False
        width, height = self._out.size
        self._size = (width, height)
        timeline = self._watched.timeline
        if timeline is None:
            return self.waiting()
        while len(self._frames) > 1 and now - self._frames[1][0] >= FRESH:
            self._frames.popleft()
        before = self._frames[0][1]
        self._frames.append((now, timeline.last))
        status = status_line(timeline, self._watched.elapsed, width, ascii_only=self._ascii_only)
        explained = legend(width, height, ascii_only=self._ascii_only)
        below = [status] if explained is None else [explained, status]
        lines = list(self.view(timeline).lines(Look(width, max(height - len(below), 1), before)))
        self._cost = monotonic() - now
        return Group(*lines, *[Text()] * (height - len(below) - len(lines)), *below)


# Without a terminal.


def _in_lines(watched: GrowingTimeline, pattern: Pattern | None, resolver: Resolver[Any] | None) -> None:
    complaints = Complaints(watched.source.name)
    lines: FieldLines | None = None
    validator: TimelineValidator | None = None
    reported = 0
    with progress(watched.source, shares_terminal=True) as took:
        for is_step in watched.ticks(took):
            timeline = watched.timeline
            if timeline is None or not is_step:
                continue
            lines = lines or FieldLines(timeline, pattern)
            _write(lines.take())
            if resolver is not None:
                validator = validator or TimelineValidator(timeline, resolver)
                found = validator.problems()
                for misfit in found[reported:]:
                    complaints.add(f"{misfit.path}: {misfit.code}, expected {misfit.expected}")
                reported = max(reported, len(found))
    timeline = watched.finish()
    lines = lines or FieldLines(timeline, pattern)
    _write([*lines.take(), *lines.close()])
    for problem in problems_of(timeline, watched.source):
        complaints.add(problem)
    complaints.settle()


def _write(lines: Iterable[str]) -> None:
    write_text("".join([f"{line}\n" for line in lines]))


@final
class FieldLines:
    """Makes a line of each field of a timeline when it is complete, such as ``$.days[0].title = "Arrival"``.

    The fields are the leaves and the empty containers or, with a pattern, the values that match it.
    """

    def __init__(self, timeline: Timeline, select: Pattern | None) -> None:
        self._timeline = timeline
        self._select = select
        self._open: dict[str, list[_OpenValue]] = {}
        self._texts: dict[str, str] = {}  # the unfinished line of each prose track

    def take(self) -> Iterator[str]:
        """Yield the lines for the last step of the timeline."""
        timeline = self._timeline
        for name, events in timeline.news.items():
            prefix = self._prefix(name)
            for path, value in self._completed(name, events):
                yield f"{prefix}{shown(str(path))} = {shown(value)}"
        changes = timeline.changes(timeline.last)
        if changes:  # a line of prose ends when another track continues
            yield from self._ended({change.track for change in changes})
        for change in changes:
            if not timeline.tracks[change.track].is_json and self._select is None:
                *lines, rest = (self._texts.get(change.track, "") + change.text).split("\n")
                self._texts[change.track] = rest
                yield from [self._prefix(change.track) + shown(line) for line in lines]

    def close(self) -> Iterator[str]:
        """Yield the unfinished lines of prose."""
        yield from self._ended(set())

    def _ended(self, growing: set[str]) -> list[str]:
        ended = [(name, text) for name, text in self._texts.items() if name not in growing]
        self._texts = {name: text for name, text in self._texts.items() if name in growing}
        return [
            self._prefix(name) + shown(text) for name, text in ended if text and not self._timeline.tracks[name].is_json
        ]

    def _prefix(self, name: str) -> str:
        return "" if name == DOCUMENT else f"{shown(self._timeline.label(name))}: "

    def _completed(self, name: str, events: list[Event]) -> Iterator[tuple[Path, str]]:
        stack = self._open.setdefault(name, [])
        for event in events:
            kind = event.kind
            if kind in STARTS:
                if not len(event.path):
                    stack.clear()  # another document, or a restart of this one
                elif stack:
                    stack[-1].is_empty = False
                stack.append(_OpenValue(event.offset))
            elif kind in COMPLETIONS:
                if kind is EventKind.COMPLETE_STRING and stack:
                    stack.pop()
                elif stack:
                    stack[-1].is_empty = False
                if self._wants(event.path):
                    yield event.path, leaf_text(event.value, event.raw)
            elif kind in CLOSINGS and stack:
                ended = stack.pop()
                if self._select is None and ended.is_empty:
                    yield event.path, "{}" if kind is EventKind.END_OBJECT else "[]"
                elif self._select is not None and self._wants(event.path):
                    yield event.path, self._on_one_line(name, ended.offset, event.offset + 1)

    def _wants(self, path: Path) -> bool:
        return self._select is None or self._select.matches(path)

    def _on_one_line(self, name: str, start: int, end: int) -> str:
        """Return the JSON text of a value, on one line."""
        track = self._timeline.tracks[name]
        base = track.start_at(self._timeline.last)
        return leaf_text(json.loads(track.text(base + start, base + end)), None)


@final
class _OpenValue:
    """A container or string that has started."""

    __slots__ = ("is_empty", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.is_empty = True
