"""How far a long reading is, on standard error: only for people, and only if there is something to wait for."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from .terminal import console, is_ascii_only

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console
    from rich.progress import TaskID

    from .reading import Input

__all__ = ["progress"]

WAIT: Final = 0.5  # seconds before a bar is worth it
PAUSE: Final = 0.1  # between two looks of it


@contextmanager
def progress(source: Input, *, shares_terminal: bool = False) -> Generator[Callable[[int], None]]:
    """A function to tell how many bytes were read. It draws a bar, once this takes longer than half a second.

    There is none if standard error is no terminal, or if nobody knows how many bytes there are. With
    `shares_terminal` there is none either if standard output is a terminal: lines are written there meanwhile.
    """
    terminal = console(stderr=True)
    size = source.size
    if not size or not terminal.is_terminal or terminal.is_dumb_terminal or (shares_terminal and sys.stdout.isatty()):
        yield lambda count: None
        return
    bar = _Bar(terminal, size)
    try:
        yield bar.took
    finally:
        bar.close()


class _Bar:
    def __init__(self, terminal: Console, size: int) -> None:
        self._size = size
        self._done = 0
        self._next = monotonic() + WAIT
        self._task: TaskID | None = None
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # seldom needed

        columns = [TextColumn("reading"), BarColumn(bar_width=None), DownloadColumn(), TimeRemainingColumn()]
        if is_ascii_only():
            del columns[1]  # rich draws it with other characters
        if terminal.width < 60:
            columns = [TextColumn("{task.percentage:>3.0f} %")]
        self._progress = Progress(*columns, console=terminal, transient=True, auto_refresh=False)

    def took(self, count: int) -> None:
        self._done += count
        now = monotonic()
        if now < self._next:
            return
        self._next = now + PAUSE
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("", total=self._size)
        self._progress.update(self._task, completed=self._done)
        self._progress.refresh()

    def close(self) -> None:
        if self._task is not None:
            self._progress.stop()
