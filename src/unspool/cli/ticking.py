"""Items at their times: as they come, as they were recorded, or at a steady rate; and a tick while nothing comes."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from .reading import arrivals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..viewer.opening import Opening, TimedItem
    from .reading import Input

__all__ = ["PAUSE", "ticking"]

PAUSE: Final = 1 / 30  # seconds between two ticks
PATIENCE: Final = 0.25  # seconds that an input may take to show what it is


def ticking(source: Input, opening: Opening, speed: float) -> Iterator[TimedItem | None]:
    """The items of an input, each when it is due, so many times as fast; with speed 0 at once. None is a tick.

    What comes from elsewhere while it is read has no other speed than its own.
    """
    pacing = _Pacing(opening, speed, is_live=source.is_standard_input)
    begin: float | None = None
    for data in arrivals(source, PAUSE if source.is_standard_input else None):
        now = monotonic()
        if data is None:
            yield None
        else:
            begin = now if begin is None else begin
            for item in opening.feed(now - begin, data):
                yield from pacing.until(item.time)
                yield item
        if begin is not None and opening.found is None and now - begin >= PATIENCE:
            yield from opening.settle()
    for item in opening.close(0.0 if begin is None else monotonic() - begin):
        yield from pacing.until(item.time)
        yield item


class _Pacing:
    def __init__(self, opening: Opening, speed: float, *, is_live: bool) -> None:
        self._opening = opening
        self._speed = speed
        self._is_live = is_live
        self._begin: float | None = None

    def until(self, time: float) -> Iterator[None]:
        """Ticks until the time has come."""
        if not self._speed or (self._is_live and not self._opening.is_recording):
            return
        if self._begin is None:
            self._begin = monotonic()
        while (left := self._begin + time / self._speed - monotonic()) > 0:
            sleep(min(left, PAUSE))
            if left > PAUSE:
                yield None
