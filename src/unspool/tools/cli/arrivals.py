"""Reading the input of a command: bytes as they arrive, the timed items in them, and the pace of a replay.

- `Input` says what to read and how. `arrivals` reads its bytes: from a file, a pipe, standard input or a sample.
- `timed_items` and `ticked_items` turn the bytes into items with times.
- `paced` and `ticking` deliver pieces and items when they are due. `GrowingTimeline` collects the items.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import FileIO
from pathlib import Path
from time import monotonic
from time import sleep as wait
from typing import TYPE_CHECKING, Final, Literal, cast, final

from ..._errors import UnspoolError
from ..viewer.inputs import CUT, InputDecoder
from ..viewer.recordings import read_sample
from ..viewer.timeline import EMPTY
from ..viewer.tracks import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from ...llm._config import Config
    from ..viewer.inputs import InputKind, TimedItem
    from ..viewer.recordings import Arrival
    from ..viewer.timeline import Timeline

__all__ = [
    "DIGITS",
    "PAUSE",
    "STANDARD_INPUT",
    "Clock",
    "GrowingTimeline",
    "Head",
    "Input",
    "arrivals",
    "noted_time",
    "paced",
    "problems_of",
    "standard_input",
    "ticked_items",
    "ticking",
    "timed_items",
]

BLOCK: Final = 64 * 1024
HEAD: Final = 64 * 1024  # bytes that are kept for hints
PATIENCE: Final = 0.25  # seconds until a slow input has to be recognised by what has arrived
DIGITS: Final = 6  # of a time: microseconds
STANDARD_INPUT: Final = Path("-")
SAMPLE: Final = "sample:"
MAX_SLEEP: Final = 0.25  # seconds: a longer sleep can miss a Ctrl-C that arrived just before it
PAUSE: Final = 1 / 30  # seconds between two ticks


@final
class Head:
    """The first bytes of an input, for error messages and hints."""

    __slots__ = ("data", "is_blank", "size")

    def __init__(self) -> None:
        self.data = bytearray()
        self.size = 0
        self.is_blank = True

    def add(self, data: bytes) -> None:
        """Add the next bytes of the input."""
        self.size += len(data)
        self.data += data[: max(HEAD - len(self.data), 0)]
        self.is_blank = self.is_blank and not data.strip()

    @property
    def is_whole(self) -> bool:
        """Whether these are all bytes so far."""
        return self.size == len(self.data)


@dataclass(frozen=True)
class Input:
    """The input of a command, and how to read it."""

    file: Path = STANDARD_INPUT
    kind: InputKind | None = None
    format: str | None = None
    cut: int | None = None
    block: int = BLOCK  # bytes per read
    repair: Literal["none", "spelling", "guess"] = "none"
    head: Head = field(default_factory=Head, compare=False, repr=False)
    """The part of the beginning that was already read. Copies of this input share it."""

    @property
    def sample(self) -> str | None:
        """The name of the sample, or None for other inputs."""
        name = str(self.file)
        return name.removeprefix(SAMPLE) if name.startswith(SAMPLE) else None

    @property
    def name(self) -> str:
        """The name of the input in messages."""
        return "standard input" if self.file == STANDARD_INPUT else str(self.file)

    @property
    def is_live(self) -> bool:
        """Whether the input arrives while the command reads it, so that arrival times are meaningful."""
        if self.file == STANDARD_INPUT:
            return True
        status = self._status()
        return status is not None and not stat.S_ISREG(status.st_mode)

    @property
    def is_typed(self) -> bool:
        """Whether the input is a terminal with a user who types."""
        try:
            return self.file == STANDARD_INPUT and os.isatty(standard_input())
        except (OSError, ValueError):
            return False

    @property
    def size(self) -> int | None:
        """The number of bytes, or None if it is unknown."""
        if self.sample is not None:
            return len(read_sample(self.sample))
        status = self._status()
        return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None

    def _status(self) -> os.stat_result | None:
        try:
            return os.fstat(standard_input()) if self.file == STANDARD_INPUT else self.file.stat()
        except (OSError, ValueError):
            return None

    def in_one_piece(self) -> Input:
        """Return this input with a plain file as a single fragment, unless `cut` is set."""
        return self if self.is_live else replace(self, block=max(self.size or 0, BLOCK))

    def cut_into(self, most: int, least: int = CUT) -> Input:
        """Return this input with a plain file in at most `most` fragments, unless `cut` is set."""
        if self.cut is not None or self.is_live:
            return self
        return replace(self, cut=max(least, (self.size or 0) // most))

    def opening(self, config: Config | None = None, *, snapshots: bool = True) -> InputDecoder:
        """Return the opening that makes items of the bytes. With `snapshots=False`, snapshots stay plain lines."""
        return InputDecoder(
            self.kind,
            format=self.format,
            cut=self.cut,
            is_live=self.is_live,
            config=config,
            snapshots=snapshots,
            repair=self.repair,
        )


# Bytes.


def standard_input() -> int:
    """Return the descriptor of standard input. Raises `OSError` if it is closed."""
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
    """Yield the bytes as they arrive, and None after each `patience` seconds without any.

    No read blocks for long: a read without a time limit can miss a Ctrl-C that arrived just before it.
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
    except OSError as error:  # without a file name, because it was read by its descriptor
        raise OSError(error.errno, error.strerror, source.name) from None


# Items.


def timed_items(
    source: Input, opening: InputDecoder, took: Callable[[float], None] | None = None
) -> Iterator[TimedItem]:
    """Yield the items of an input as they arrive, and report to `took` how many bytes were read."""
    return (item for item in ticked_items(source, opening, PATIENCE, took) if item is not None)


def ticked_items(
    source: Input, opening: InputDecoder, pause: float, took: Callable[[float], None] | None = None
) -> Iterator[TimedItem | None]:
    """Yield the items of an input like `timed_items`, and None after each `pause` seconds without bytes."""
    begin: float | None = None
    for data in arrivals(source, pause):
        now = monotonic()
        if data is None:
            yield None
        else:
            source.head.add(data)
            begin = now if begin is None else begin
            items = opening.feed(now - begin, data)
            source.head.is_blank = opening.is_blank
            for item in items:  # progress counts an item after the caller has processed it
                yield item
                if took is not None:
                    took(len(data) / len(items))
            if took is not None and not items:
                took(len(data))
        # An input that trickles without a pause must be recognised in time, too.
        if begin is not None and now - begin >= PATIENCE:
            yield from opening.settle()
    try:
        rest = opening.close(0.0 if begin is None else monotonic() - begin)
    except UnspoolError:
        source.head.is_blank = opening.is_blank and not opening.is_recording  # a broken recording is not empty
        yield from opening.settle()  # the items before the error
        raise
    source.head.is_blank = opening.is_blank
    yield from rest


def noted_time(opening: InputDecoder, time: float) -> float | None:
    """Return the time of an item for output, or None if it was not measured."""
    return round(time, DIGITS) if opening.is_timed else None


# Pace.


@final
class Clock:
    """A clock that can be replaced in tests: `now` returns the time, `sleep` waits."""

    __slots__ = ("now", "sleep")

    def __init__(self, now: Callable[[], float] = monotonic, sleep: Callable[[float], None] = wait) -> None:
        self.now = now
        self.sleep = sleep

    def until(self, due: float, pause: float) -> Iterator[None]:
        """Sleep until `due`, at most `pause` seconds at a time, and yield None after each sleep."""
        while (left := due - self.now()) > 0:
            self.sleep(min(left, pause))
            yield None


def paced(
    pieces: Iterable[Arrival], speed: float, clock: Clock, passed: Callable[[float], None] | None = None
) -> Iterator[bytes]:
    """Yield each piece when it is due, `speed` times as fast as recorded; with speed 0 all of them at once.

    Times count from the first call, so a slow consumer does not delay later pieces. `passed` receives the time in the
    recording, also during pauses.
    """
    begin = clock.now()
    for at, data in pieces:
        if speed:
            for _ in clock.until(begin + at / speed, MAX_SLEEP if passed is None else PAUSE):
                if passed is not None:
                    passed(min((clock.now() - begin) * speed, at))
        yield data
        if passed is not None:
            passed(at)


def ticking(
    source: Input, opening: InputDecoder, speed: float, clock: Clock, took: Callable[[float], None] | None = None
) -> Iterator[TimedItem | None]:
    """Yield the items of an input when they are due, `speed` times as fast; with speed 0 at once. None is a tick.

    The speed does not apply to live input, unless it is a recording.
    """
    begin: float | None = None
    for item in ticked_items(source, opening, PAUSE, took):
        if item is not None and speed and (opening.is_recording or not source.is_live):
            begin = clock.now() if begin is None else begin
            yield from clock.until(begin + item.time / speed, PAUSE)
        yield item


@final
class GrowingTimeline:
    """The timeline of an input that is read at a given speed."""

    def __init__(self, source: Input, *, extract: bool, speed: float = 0.0) -> None:
        self.source: Final = source
        self.timeline: Timeline | None = None
        """The timeline so far, or None before the first step."""
        self._opening = source.opening()
        self._extract = extract
        self._speed = speed
        self._problem = ""
        self._at = 0.0  # the time of the last step, by our clock

    def ticks(self, took: Callable[[float], None] | None = None) -> Iterator[bool]:
        """Yield True for each step, and False for each tick in between. An error in the wrapping ends the input."""
        try:
            for item in ticking(self.source, self._opening, self._speed, Clock(), took):
                if item is not None:
                    self._begun().add(item.time, item.item)
                    self._at = monotonic()
                yield item is not None
        except UnspoolError as error:
            self._problem = str(error)

    def finish(self) -> Timeline:
        """Return the complete timeline. An error in the wrapping is its last note."""
        timeline = self._begun()
        timeline.finish(timeline.duration, self._problem)
        return timeline

    def _begun(self) -> Timeline:
        if self.timeline is None:
            self.timeline = self._opening.timeline(extract=self._extract)
        return self.timeline

    @property
    def elapsed(self) -> float:
        """The time of the stream, which advances also while nothing arrives."""
        if self.timeline is None:
            return 0.0
        return self.timeline.duration + (monotonic() - self._at) * (self._speed or 1.0)


def problems_of(timeline: Timeline, source: Input) -> list[str]:
    """Return the problems of a finished timeline in words, without the name of the track if there is only one."""
    if source.head.is_blank:
        return [EMPTY]
    return [problem.removeprefix(f"{DOCUMENT}: ") for problem in timeline.problems()]
