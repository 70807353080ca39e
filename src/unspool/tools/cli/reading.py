"""Reading a file, standard input or a sample: bytes as they come, and the items in them with their times."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, cast

from ..._errors import UnspoolError
from ..viewer.inputs import CUT, InputDecoder
from ..viewer.recordings import read_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ...llm._config import Config
    from ..viewer.inputs import InputKind, TimedItem

__all__ = [
    "DIGITS",
    "STANDARD_INPUT",
    "Input",
    "arrivals",
    "noted_time",
    "standard_input",
    "ticked_items",
    "timed_items",
]

BLOCK: Final = 64 * 1024
PATIENCE: Final = 0.25  # seconds that an input may take to show what it is
DIGITS: Final = 6  # of a time: microseconds
STANDARD_INPUT: Final = Path("-")
SAMPLE: Final = "sample:"


@dataclass(frozen=True)
class Input:
    """What to read, and as what."""

    file: Path = STANDARD_INPUT
    kind: InputKind | None = None
    format: str | None = None
    cut: int | None = None
    block: int = BLOCK  # how much is read at once

    @property
    def sample(self) -> str | None:
        """The name of the sample, if it is one."""
        name = str(self.file)
        return name.removeprefix(SAMPLE) if name.startswith(SAMPLE) else None

    @property
    def name(self) -> str:
        """What people call it."""
        return "standard input" if self.file == STANDARD_INPUT else str(self.file)

    @property
    def is_live(self) -> bool:
        """It comes while it is read, and its times are real ones: standard input, a named pipe."""
        if self.file == STANDARD_INPUT:
            return True
        found = self._found()
        return found is not None and not stat.S_ISREG(found.st_mode)

    @property
    def is_typed(self) -> bool:
        """Somebody sits at a terminal and writes it."""
        try:
            return self.file == STANDARD_INPUT and os.isatty(standard_input())
        except (OSError, ValueError):
            return False

    @property
    def size(self) -> int | None:
        """How many bytes there are, if that can be told."""
        if self.sample is not None:
            return len(read_sample(self.sample))
        found = self._found()
        return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None

    def _found(self) -> os.stat_result | None:
        try:
            return os.fstat(standard_input()) if self.file == STANDARD_INPUT else self.file.stat()
        except (OSError, ValueError):
            return None

    def in_one_piece(self) -> Input:
        """The same, of which a plain file is one fragment, unless it is said how it is cut."""
        return self if self.is_live else replace(self, block=max(self.size or 0, BLOCK))

    def cut_into(self, most: int, least: int = CUT) -> Input:
        """The same, of which a plain file comes in at most so many fragments, unless it is said how it is cut."""
        if self.cut is not None or self.is_live:
            return self
        return replace(self, cut=max(least, (self.size or 0) // most))

    def opening(self, config: Config | None = None, *, snapshots: bool = True) -> InputDecoder:
        """What makes items of it. Without `snapshots`, the lines of those are left as they are."""
        return InputDecoder(
            self.kind,
            format=self.format,
            cut=self.cut,
            is_live=self.is_live,
            config=config,
            snapshots=snapshots,
        )


def standard_input() -> int:
    """Its descriptor. Raises `OSError` if it was closed."""
    stream = cast("object", sys.stdin)
    if stream is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.fileno()


@contextmanager
def _opened(file: Path) -> Generator[int]:
    if file == STANDARD_INPUT:
        yield standard_input()
    else:
        with FileIO(file) as opened:
            yield opened.fileno()


def arrivals(source: Input, patience: float = PATIENCE) -> Iterator[bytes | None]:
    """The bytes as they come, and None for every time that nothing came for so many seconds.

    No read waits for long: one that waits for ever can miss a Ctrl-C that came just before it.
    """
    if source.sample is not None:
        yield read_sample(source.sample)
        return
    waits = source.is_live
    with _opened(source.file) as descriptor:
        while True:
            if waits and not select.select([descriptor], [], [], patience)[0]:
                yield None
            elif block := _read(descriptor, source):
                yield block
            else:
                return


def _read(descriptor: int, source: Input) -> bytes:
    try:
        return os.read(descriptor, source.block)
    except OSError as error:  # which does not know what it is about
        raise OSError(error.errno, error.strerror, source.name) from None


def timed_items(
    source: Input, opening: InputDecoder, took: Callable[[float], None] | None = None
) -> Iterator[TimedItem]:
    """The items of an input, as they come. `took` is told how many bytes were read, each time."""
    return (item for item in ticked_items(source, opening, PATIENCE, took) if item is not None)


def ticked_items(
    source: Input, opening: InputDecoder, pause: float, took: Callable[[float], None] | None = None
) -> Iterator[TimedItem | None]:
    """As `timed_items`, with None for every time that nothing came for so many seconds."""
    begin: float | None = None
    for data in arrivals(source, pause):
        now = monotonic()
        if data is None:
            yield None
        else:
            begin = now if begin is None else begin
            items = opening.feed(now - begin, data)
            for item in items:  # what is done with each may take long
                yield item
                if took is not None:
                    took(len(data) / len(items))
            if took is not None and not items:
                took(len(data))
        # Whoever writes slowly, but without a pause, is not to be waited for until the end.
        if begin is not None and now - begin >= PATIENCE:
            yield from opening.settle()
    try:
        rest = opening.close(0.0 if begin is None else monotonic() - begin)
    except UnspoolError:
        yield from opening.settle()  # what came before the fault
        raise
    yield from rest


def noted_time(opening: InputDecoder, time: float) -> float | None:
    """The time of an item as it is written down; None if nobody has measured it."""
    return round(time, DIGITS) if opening.is_timed else None
