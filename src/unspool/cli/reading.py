"""Reading a file or standard input: bytes as they come, with their times, and the options that all commands share."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import as_file
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from ..errors import UnspoolError
from ..llm.formats.registry import FORMATS
from ..viewer.inputs import InputKind
from ..viewer.opening import Opening
from ..viewer.samples import SampleError, find
from .terminal import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..llm.config import Config
    from ..viewer.inputs import Guess
    from ..viewer.opening import TimedItem

__all__ = [
    "STANDARD_INPUT",
    "Cut",
    "Extract",
    "File",
    "Format",
    "Input",
    "Kind",
    "Times",
    "arrivals",
    "is_provider",
    "noted_time",
    "timed_items",
]

BLOCK: Final = 64 * 1024
PATIENCE: Final = 0.25  # seconds that an input may take to show what it is
DIGITS: Final = 6  # of a time: microseconds
STANDARD_INPUT: Final = Path("-")
SAMPLE: Final = "sample:"
_AT_HAND: Final = ExitStack()  # what is not a file is one as long as the program runs

FILE_HELP: Final = "A file; - is standard input; sample:NAME is one that comes with unspool."


def _known_format(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}")
    return name


def _readable(path: Path) -> Path:
    name = str(path)
    if name.startswith(SAMPLE):
        try:
            return _AT_HAND.enter_context(as_file(find(name.removeprefix(SAMPLE))))
        except SampleError as error:
            raise typer.BadParameter(shown(str(error))) from None
    if path != STANDARD_INPUT:
        if not path.exists():
            raise typer.BadParameter(f"there is no file {shown(str(path))}")
        if path.is_dir():
            raise typer.BadParameter(f"{shown(str(path))} is a directory")
        if not os.access(path, os.R_OK):
            raise typer.BadParameter(f"{shown(str(path))} cannot be read")
    return path


File = Annotated[Path, typer.Argument(help=FILE_HELP, callback=_readable)]
Kind = Annotated[InputKind | None, typer.Option("--input", help="What the input is; found out unless given.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="The provider's wire format; found out unless given.", callback=_known_format),
]
Cut = Annotated[int | None, typer.Option("--cut", min=1, help="Read JSON text in fragments of so many bytes.")]
Extract = Annotated[bool, typer.Option("--extract", help="The JSON stands in other text, such as a Markdown block.")]

Times = Annotated[
    bool, typer.Option("--times", help="Say when each line became known, in seconds; null where nobody measured it.")
]


@dataclass(frozen=True)
class Input:
    """What to read, and as what."""

    file: Path = STANDARD_INPUT
    kind: InputKind | None = None
    format: str | None = None
    cut: int | None = None

    @property
    def is_standard_input(self) -> bool:
        """It comes while it is read, and its times are real ones."""
        return self.file == STANDARD_INPUT

    @property
    def name(self) -> str:
        """What people call it."""
        return "standard input" if self.is_standard_input else str(self.file)

    @property
    def size(self) -> int | None:
        """How many bytes there are, if that can be told."""
        try:
            found = os.fstat(_descriptor()) if self.is_standard_input else self.file.stat()
        except (OSError, ValueError):
            return None
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def opening(self, config: Config | None = None, *, snapshots: bool = True) -> Opening:
        """What makes items of it. Without `snapshots`, the lines of those are left as they are."""
        return Opening(
            self.kind,
            format=self.format,
            cut=self.cut,
            is_live=self.is_standard_input,
            config=config,
            snapshots=snapshots,
        )


def _descriptor() -> int:
    stream = cast("object", sys.stdin)
    if stream is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.fileno()


def arrivals(source: Input, patience: float | None = None) -> Iterator[bytes | None]:
    """The bytes as they come. With `patience`, None for every time that nothing came for so many seconds."""
    if not source.is_standard_input:
        with source.file.open("rb") as file:
            while block := file.read(BLOCK):
                yield block
        return
    descriptor = _descriptor()
    while True:
        if patience is not None and not select.select([descriptor], [], [], patience)[0]:
            yield None
        elif block := os.read(descriptor, BLOCK):
            yield block
        else:
            return


def timed_items(source: Input, opening: Opening, took: Callable[[int], None] | None = None) -> Iterator[TimedItem]:
    """The items of an input, as they come. `took` is told how many bytes were read, each time."""
    begin: float | None = None
    for data in arrivals(source, PATIENCE if source.is_standard_input else None):
        now = monotonic()
        if data is not None:
            begin = now if begin is None else begin
            yield from opening.feed(now - begin, data)
            if took is not None:
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


def noted_time(opening: Opening, time: float) -> float | None:
    """The time of an item as it is written down; None if nobody has measured it."""
    return round(time, DIGITS) if opening.is_timed else None


def is_provider(found: Guess) -> bool:
    """Whether this is what a provider streams: several texts in one message."""
    return found.kind is InputKind.CHUNKS or (found.kind is InputKind.SSE and found.format is not None)
