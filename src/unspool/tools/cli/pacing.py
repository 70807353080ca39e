"""Everything at its time: pieces of a recording that is replayed, items of an input that is watched."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, final

from .reading import ticked_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..viewer.inputs import InputDecoder, TimedItem
    from ..viewer.recordings import Arrival
    from .reading import Input

__all__ = ["PAUSE", "Clock", "paced", "ticking"]

LONGEST_SLEEP: Final = 0.25  # seconds at a time: a sleep can miss a Ctrl-C that came just before it
PAUSE: Final = 1 / 30  # seconds between two ticks


@final
class Clock:
    """What tells the time, and lets it pass."""

    __slots__ = ("now", "sleep")

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self.now = now
        self.sleep = sleep

    def until(self, due: float, pause: float) -> Iterator[None]:
        """Sleeps until then, and not longer than `pause` at a time; None after each sleep."""
        while (left := due - self.now()) > 0:
            self.sleep(min(left, pause))
            yield None


def paced(
    pieces: Iterable[Arrival], speed: float, clock: Clock, passed: Callable[[float], None] | None = None
) -> Iterator[bytes]:
    """Each piece at its time, counted from now, so many times as fast; with speed 0 all of them at once.

    A piece that comes late, because whoever takes them is slow, delays none of those that follow. `passed` is told the
    time in the recording, also while nothing comes.
    """
    begin = clock.now()
    for at, data in pieces:
        if speed:
            for _ in clock.until(begin + at / speed, LONGEST_SLEEP if passed is None else PAUSE):
                if passed is not None:
                    passed(min((clock.now() - begin) * speed, at))
        yield data
        if passed is not None:
            passed(at)


def ticking(
    source: Input, opening: InputDecoder, speed: float, clock: Clock, took: Callable[[float], None] | None = None
) -> Iterator[TimedItem | None]:
    """The items of an input, each when it is due, so many times as fast; with speed 0 at once. None is a tick.

    What comes from elsewhere while it is read has no other speed than its own.
    """
    begin: float | None = None
    for item in ticked_items(source, opening, PAUSE, took):
        if item is not None and speed and (opening.is_recording or not source.is_live):
            begin = clock.now() if begin is None else begin
            yield from clock.until(begin + item.time / speed, PAUSE)
        yield item
