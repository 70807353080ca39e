"""A file in pieces, each with its time: what is played when it is replayed. Joined, the pieces are the file again.

A recording has its own pieces and times. Whatever else there is comes at a steady rate: chunks and snapshots a line at
a time, server-sent events one at a time, JSON text a few bytes at a time.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, final

from .inputs import InputKind, guess
from .opening import CUT, ENOUGH, STEADY_RATE
from .recordings import Arrival, RecordingReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["pieces_of"]


def pieces_of(blocks: Iterable[bytes], *, cut: int | None = None) -> Iterator[Arrival]:
    """The pieces of a file that is read in blocks. Raises `RecordingError` after those that come before the fault."""
    unread = iter(blocks)
    head, found = b"", None
    while found is None:
        block = next(unread, b"")
        head += block
        found = guess(head, is_all=not block or len(head) >= ENOUGH)
    read = chain([head], unread)
    if found.kind is InputKind.RECORDING:
        return _recorded(read)
    if found.kind is InputKind.JSON:
        return _steady(_in_bytes(read, cut or CUT))
    return _steady(_in_lines(read, up_to_blank=found.kind is InputKind.SSE))


def _recorded(blocks: Iterable[bytes]) -> Iterator[Arrival]:
    reader = RecordingReader()
    for block in blocks:
        yield from reader.feed(block)
    yield from reader.close()


def _steady(pieces: Iterable[bytes]) -> Iterator[Arrival]:
    for step, piece in enumerate(pieces, 1):
        yield Arrival(step / STEADY_RATE, piece)


def _in_bytes(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        for start in range(0, len(block), size):
            yield block[start : start + size]


def _in_lines(blocks: Iterable[bytes], *, up_to_blank: bool) -> Iterator[bytes]:
    held = _Held()
    for block in blocks:
        *ended, rest = block.split(b"\n")
        for line in ended:
            whole = held.end_line(line + b"\n")
            if not up_to_blank or not whole.strip(b"\r\n"):
                yield held.take()
        held.open.append(rest)
    held.end_line(b"")
    if last := held.take():
        yield last


@final
class _Held:
    """The lines that wait for the rest of their event, and what there is of the one that has not ended."""

    __slots__ = ("lines", "open")

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.open: list[bytes] = []  # joined once, however many blocks the line is in

    def end_line(self, rest: bytes) -> bytes:
        whole = b"".join([*self.open, rest])
        self.lines.append(whole)
        self.open = []
        return whole

    def take(self) -> bytes:
        held, self.lines = self.lines, []
        return b"".join(held)
