"""How far something long is, on standard error: only for people, and only if there is something to wait for.

What is seen while it comes needs no bar. So there is none where standard output is a terminal on which lines are
written meanwhile; and none inside of a pipe through which a stream passes, because its last command shows what comes.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final, final

from rich.filesize import decimal

from .terminal import console, is_ascii_only

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

    from .reading import Input

    Tell = Callable[[float, float | None, int], str]

__all__ = ["playing", "progress", "recording"]

WAIT: Final = 0.5  # seconds before a bar is worth it
PAUSE: Final = 0.1  # between two looks of it
NARROW: Final = 60  # columns: less is no room for a bar
LARGE: Final = 4 * 1024 * 1024  # bytes: what is read at once takes a moment then


@contextmanager
def progress(source: Input, *, shares_terminal: bool = False) -> Generator[Callable[[float], None]]:
    """A function to tell how many bytes were read. It draws a bar, once this takes longer than half a second.

    Where nobody knows how many bytes there are, they are counted. With `shares_terminal`, lines are written to standard
    output meanwhile.
    """
    size = source.size or None
    terminal = None if source.is_typed else _screen(shares_terminal, passes=size is None)
    with _Bar(terminal, "reading", size, _bytes) as bar:
        if size is not None and source.block >= size > LARGE:
            bar.draw()  # there will be no moment for it before the end
        yield bar.add


@contextmanager
def recording(source: Input) -> Generator[Callable[[float], None]]:
    """A function to tell how many bytes came, each time that some did: both are counted."""
    terminal = None if source.is_typed else _screen(True, passes=True)
    with _Bar(terminal, "recording", None, _pieces) as bar:
        yield bar.add


@contextmanager
def playing(duration: Callable[[], float | None]) -> Generator[Callable[[float], None] | None]:
    """A function to tell the time in what is played; None if nobody looks. Only if somebody does, `duration` is asked:
    how long it is, where that can be told."""
    terminal = _screen(True, passes=True)
    if terminal is None:
        yield None
        return
    with _Bar(terminal, "playing", duration(), _seconds) as bar:
        yield bar.move_to


def _screen(shares_terminal: bool, *, passes: bool) -> Console | None:
    """Standard error, if a bar may be there. What `passes` is a stream that whoever stands behind may show."""
    terminal = console(stderr=True)
    if not terminal.is_terminal or terminal.is_dumb_terminal:
        return None
    if shares_terminal and (sys.stdout.isatty() or (passes and _is_in_pipe())):
        return None
    return terminal


def _is_in_pipe() -> bool:
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


# How far it is, in words: what is done, of how much where that is known, and in how many steps.


def _bytes(done: float, total: float | None, count: int) -> str:
    return decimal(int(done)) if total is None else f"{decimal(int(done))} of {decimal(int(total))}"


def _pieces(done: float, total: float | None, count: int) -> str:
    return f"{decimal(int(done))} in {count:,} {'piece' if count == 1 else 'pieces'}"


def _seconds(done: float, total: float | None, count: int) -> str:
    return f"{done:.1f} s" if total is None else f"{done:.1f} of {total:.1f} s"


@final
class _Bar:
    """It appears after a moment, and goes away at the end. Without a terminal it does neither."""

    def __init__(self, terminal: Console | None, label: str, total: float | None, tell: Tell) -> None:
        self._terminal = terminal
        self._label = label
        self._total = total
        self._tell = tell
        self._done = 0.0
        self._count = 0
        self._next = monotonic() + WAIT if terminal is not None else 0.0
        self._drawn: Progress | None = None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def add(self, amount: float) -> None:
        """So much more is done."""
        self.move_to(self._done + amount)

    def move_to(self, done: float) -> None:
        """So much is done."""
        self._done = done
        self._count += 1
        if self._terminal is not None and (now := monotonic()) >= self._next:
            self._next = now + PAUSE
            self.draw()

    def draw(self) -> None:
        """Draw it now."""
        if self._terminal is None:
            return
        told = self._tell(self._done, self._total, self._count)
        if self._drawn is None:
            self._drawn = self._begun(self._terminal, told)
        self._drawn.update(self._drawn.task_ids[0], completed=self._done, told=told)
        self._drawn.refresh()

    def _begun(self, terminal: Console, told: str) -> Progress:
        from rich.progress import Progress  # seldom needed

        # Standard output stays what it is: rich would take what is written there, and put it above the bar.
        columns = self._columns(terminal.width)
        drawn = Progress(*columns, console=terminal, transient=True, auto_refresh=False, redirect_stdout=False)
        drawn.add_task("", total=self._total, told=told)
        drawn.start()
        return drawn

    def _columns(self, width: int) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        words: list[ProgressColumn] = [TextColumn(self._label), TextColumn("{task.fields[told]}")]
        if self._total is None:
            return words
        if width < NARROW:
            return [TextColumn("{task.percentage:>3.0f} %")]
        if not is_ascii_only():  # rich draws it with other characters
            words.insert(1, BarColumn(bar_width=None))
        return [*words, TimeRemainingColumn()]
