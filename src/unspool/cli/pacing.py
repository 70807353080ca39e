"""Pieces at the times they are to come, and bytes of others on standard output."""

from __future__ import annotations

import errno
import sys
import time
from codecs import getincrementaldecoder
from io import FileIO, UnsupportedOperation
from typing import TYPE_CHECKING, Final, final

from .terminal import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..viewer.recordings import Arrival

__all__ = ["Clock", "Outlet", "paced", "standard_output"]

LONGEST_SLEEP: Final = 3600.0  # seconds at a time: what is longer than years is more than a clock can take


@final
class Clock:
    """What tells the time, and lets it pass."""

    __slots__ = ("now", "sleep")

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self.now = now
        self.sleep = sleep


def paced(pieces: Iterable[Arrival], speed: float, clock: Clock) -> Iterator[bytes]:
    """Each piece at its time, counted from now, so many times as fast; with speed 0 all of them at once.

    A piece that comes late, because whoever takes them is slow, delays none of those that follow.
    """
    begin = clock.now()
    for at, data in pieces:
        if speed:
            while (left := begin + at / speed - clock.now()) > 0:
                clock.sleep(min(left, LONGEST_SLEEP))
        yield data


def standard_output() -> FileIO:
    """Standard output, with nothing in between in which something could be kept."""
    try:
        return FileIO(sys.stdout.fileno(), "wb", closefd=False)
    except UnsupportedOperation:
        raise OSError(errno.EBADF, "standard output is closed") from None


@final
class Outlet:
    """Standard output, for bytes: as they are, and at once. A terminal is shown what can be seen of them."""

    __slots__ = ("_decoder",)

    def __init__(self) -> None:
        is_text = sys.stdout.isatty() or not hasattr(sys.stdout, "buffer")
        self._decoder = getincrementaldecoder("utf-8")("replace") if is_text else None

    def write(self, data: bytes) -> None:
        """Write the bytes."""
        if self._decoder is None:
            sys.stdout.buffer.write(data)
        else:
            self._show(self._decoder.decode(data))
        sys.stdout.flush()

    def close(self) -> None:
        """Nothing more comes: half of a character is shown as what it is."""
        if self._decoder is not None:
            self._show(self._decoder.decode(b"", final=True))
            sys.stdout.flush()

    def _show(self, text: str) -> None:
        sys.stdout.write("\n".join([shown(line) for line in text.split("\n")]))
