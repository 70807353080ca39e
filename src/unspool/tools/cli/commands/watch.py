"""`unspool watch`: the value growing in place as a tree; without a terminal, a line for each field."""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer
from rich.console import Group
from rich.text import Text

from ...._errors import UnspoolError
from ....select import compile as compile_pattern
from ..lines.judging import Judged
from ..lines.problems import problems_of
from ..options import Cut, Extract, File, Format, Kind, Select
from ..pacing import PAUSE, Clock, ticking
from ..progress import progress
from ..reading import STANDARD_INPUT, Input
from ..schemas import load_schema
from ..screen.fields import FieldLines
from ..screen.status import status_line, summary
from ..screen.tracks import Look, TracksView
from ..terminal import BROKEN, Complaints, console, guarded, is_ascii_only, print_words, shown, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, RenderableType

    from ....select import Pattern
    from ....typed._partials import Resolver
    from ...viewer.inputs import TimedItem
    from ...viewer.timeline import Timeline

__all__ = ["watch"]

MOST_STEPS: Final = 1_000  # fragments of a plain file: twenty seconds
FRESH: Final = 0.3  # seconds that a change stays marked
IDLE: Final = 0.2  # seconds between two drawings while nothing comes
JOINED: Final = 200  # lines that are written at once


def watch(
    file: File = STANDARD_INPUT,
    select: Select = None,
    schema: Annotated[
        str | None, typer.Option("--schema", help="A file with a JSON Schema, or MODULE:CLASS: mark what does not fit.")
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option("--speed", min=0, help="How fast to play: 2 is twice as fast, 0 at once.", show_default="1"),
    ] = None,
    extract: Extract = False,
    kind: Kind = None,
    format: Format = None,
    cut: Cut = None,
) -> None:
    """Watch a value grow as a tree: what is open, what has just changed, the rate and the position.

    A recording plays as it was recorded. Without a terminal there is a line for each field when it is complete, and
    nothing waits unless a speed is given.
    """
    with guarded(Input(file).name):
        pattern = None if select is None else compile_pattern(select)
        resolver = None if schema is None else load_schema(schema)
        out = console()
        is_screen = out.is_terminal and not out.is_dumb_terminal
        pace = speed if speed is not None else 1.0 if is_screen else 0.0
        source = Input(file, kind, format, cut).cut_into(MOST_STEPS)
        watched = _Watched(source, extract=extract, speed=pace)
        if is_screen:
            _on_screen(watched, out, pattern, resolver)
        else:
            _in_lines(watched, pattern, resolver)


@final
class _Watched:
    """A source that becomes a timeline; there is none before anything came."""

    def __init__(self, source: Input, *, extract: bool, speed: float) -> None:
        self.source = source
        self._extract = extract
        self._speed = speed
        self._opening = source.opening()
        self._problem = ""
        self._at = 0.0  # when the last step came, by our clock
        self.timeline: Timeline | None = None

    def ticks(self, took: Callable[[float], None] | None = None) -> Iterator[bool]:
        """True for each step, False for each tick in between."""
        try:
            for tick in ticking(self.source, self._opening, self._speed, Clock(), took):
                if tick is None:
                    yield False
                else:
                    self._add(tick)
                    yield True
        except UnspoolError as error:
            self._problem = str(error)

    def _add(self, tick: TimedItem) -> None:
        if self.timeline is None:
            self.timeline = self._opening.timeline(extract=self._extract)
        self.timeline.add(tick.time, tick.item)
        self._at = monotonic()

    def finish(self) -> Timeline:
        """The whole."""
        if self.timeline is None:
            self.timeline = self._opening.timeline(extract=self._extract)
        self.timeline.finish(self.timeline.duration, self._problem)
        return self.timeline

    @property
    def elapsed(self) -> float:
        """The time of the stream, that goes on while nothing comes."""
        if self.timeline is None:
            return 0.0
        return self.timeline.duration + (monotonic() - self._at) * (self._speed or 1.0)


# In a terminal.


def _on_screen(watched: _Watched, out: Console, pattern: Pattern | None, resolver: Resolver[Any] | None) -> None:
    from rich.live import Live  # what only a screen needs, no other command has to wait for

    screen = _Screen(watched, out, pattern, resolver)
    is_stopped = False
    with Live(screen.waiting(), console=out, screen=True, auto_refresh=False, redirect_stdout=False) as live:
        try:
            for is_step in watched.ticks():
                if screen.is_due(is_step):
                    live.update(screen.drawn(), refresh=True)
        except KeyboardInterrupt:
            is_stopped = True
    if is_stopped and watched.timeline is not None:  # of a stream that hangs, this is what one wants to keep
        _write_all(out, screen.view(watched.timeline).lines(Look(out.width, None, None)))
        out.print(Text(f"stopped: {summary(watched.timeline)}", style="bold"))
    if is_stopped:
        raise KeyboardInterrupt
    timeline = watched.finish()
    view = screen.view(timeline)
    _write_all(out, view.lines(Look(out.width, None, None)))
    wrong, invalid = timeline.problems(), view.problems
    broken = [problem for problem in wrong if problem not in _shown_in_tree(timeline)]
    for problem in broken:
        print_words(out, Text(shown(problem), style="bold red"))
    verdict = "broken" if wrong else "invalid" if invalid else "complete"
    ending = f"{verdict}: {summary(timeline)}"
    print_words(out, Text(ending, style="bold red" if wrong or invalid else "bold green"))
    if wrong or invalid:
        raise typer.Exit(BROKEN)


def _shown_in_tree(timeline: Timeline) -> set[str]:
    """The notes that are about errors which stand in the trees anyway."""
    return {f"{track.name}: {track.state.error}" for track in timeline.tracks.values() if track.is_json}


def _write_all(out: Console, lines: Iterator[Text]) -> None:
    """Many lines, some at a time: each writing costs something."""
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
    """What is on the screen, and when it is drawn again."""

    def __init__(
        self, watched: _Watched, out: Console, pattern: Pattern | None, resolver: Resolver[Any] | None
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
        self._frames: deque[tuple[float, int]] = deque([(0.0, 0)])  # when which step was drawn

    def view(self, timeline: Timeline) -> TracksView:
        """What makes the lines."""
        if self._view is None:
            self._view = TracksView(
                timeline, select=self._pattern, resolver=self._resolver, ascii_only=self._ascii_only
            )
        return self._view

    def is_due(self, is_step: bool) -> bool:
        """Whether it is time to draw: not too often, and seldom where there is nothing new."""
        self._has_news = self._has_news or is_step
        pause = monotonic() - self._drawn
        if pause < max(PAUSE, self._cost * 4):  # drawing is not what the time is for
            return False
        return self._has_news or pause >= IDLE or self._size != tuple(self._out.size)

    def waiting(self) -> RenderableType:
        """Before anything came."""
        return Text("waiting for the first bytes", style="dim")

    def drawn(self) -> RenderableType:
        """The screen as it is now."""
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
        lines = list(self.view(timeline).lines(Look(width, max(height - 1, 1), before)))
        self._cost = monotonic() - now
        return Group(*lines, *[Text()] * (height - 1 - len(lines)), status)


# Without one.


def _in_lines(watched: _Watched, pattern: Pattern | None, resolver: Resolver[Any] | None) -> None:
    complaints = Complaints(watched.source.name)
    lines: FieldLines | None = None
    judged: Judged | None = None
    told = 0
    with progress(watched.source, shares_terminal=True) as took:
        for is_step in watched.ticks(took):
            timeline = watched.timeline
            if timeline is None or not is_step:
                continue
            lines = lines or FieldLines(timeline, pattern)
            _write(lines.take())
            if resolver is not None:
                judged = judged or Judged(timeline, resolver)
                found = judged.problems()
                for misfit in found[told:]:
                    complaints.add(f"{misfit.path}: {misfit.code}, expected {misfit.expected}")
                told = max(told, len(found))
    timeline = watched.finish()
    lines = lines or FieldLines(timeline, pattern)
    _write(lines.take())
    _write(lines.close())
    for problem in problems_of(timeline):
        complaints.add(problem)
    complaints.settle()


def _write(lines: Iterator[str]) -> None:
    write_text("".join([f"{line}\n" for line in lines]))
