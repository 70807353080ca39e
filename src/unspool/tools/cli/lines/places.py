"""Where something is wrong: the line of the text around it, and a caret under the very character.

Nobody knows beforehand where that will be, and the text may be of any length: only the end of what came is kept.
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from ...._text.utf8 import decode
from ...viewer.escaping import cells, clip, visible

__all__ = ["Excerpt", "Surroundings", "excerpt"]

KEPT: Final = 1000  # characters before the place: more than fit on a line
LEFT_SHARE: Final = 2 / 3  # of the room is for what comes before the caret


class Excerpt(NamedTuple):
    """A line of text, as it may be shown, and the column of the caret in it, from 0."""

    text: str
    caret: int


@final
class Surroundings:
    """The text of which a place is asked for: fragments in, in step with whoever reads them."""

    __slots__ = ("_before", "_bytes", "_is_bytes", "_rest", "_start", "_text")

    def __init__(self) -> None:
        self._before = ""  # the end of what came before the last fragment
        self._text = ""  # the last fragment
        self._start = 0  # its offset
        self._bytes = 0  # the same in bytes
        self._rest = b""  # of a character that was cut
        self._is_bytes = False

    def feed(self, fragment: str | bytes) -> None:
        """One more fragment."""
        self._before = (self._before + self._text[-KEPT:])[-KEPT:]
        self._start += len(self._text)
        self._bytes += _size(self._text)
        self._text = fragment if isinstance(fragment, str) else self._decoded(fragment)

    def close(self) -> None:
        """There is no more; what was cut stays cut."""
        if self._rest:
            self._rest = b""
            self.feed("\N{REPLACEMENT CHARACTER}")

    def _decoded(self, data: bytes) -> str:
        """As the reader does it: one character for all that is broken at a place."""
        self._is_bytes = True
        pieces: list[str] = []
        rest, is_broken = self._rest + data, True
        while is_broken:
            text, rest, is_broken = decode(rest)
            pieces.append(text)
            if is_broken:
                pieces.append("\N{REPLACEMENT CHARACTER}")
        self._rest = rest
        return "".join(pieces)

    @property
    def length(self) -> int:
        """How many characters came."""
        return self._start + len(self._text)

    def around(self, offset: int) -> tuple[str, str]:
        """The line with this place in it: what stands before the place, and what begins there."""
        text = self._before + self._text
        at = max(offset - self._start + len(self._before), 0)
        begin = max(text.rfind("\n", 0, at) + 1, at - KEPT)
        end = at + 1 if text.startswith("\n", at) else text.find("\n", at)
        return text[begin:at], text[at : at + KEPT if end < 0 else min(end, at + KEPT)]

    def byte(self, offset: int) -> int | None:
        """The same place in bytes; None if the text did not come in bytes."""
        if not self._is_bytes:
            return None
        if offset < self._start:
            return self._bytes - _size(self._before[offset - self._start :])
        return self._bytes + _size(self._text[: offset - self._start])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def excerpt(before: str, after: str, width: int, *, ascii_only: bool = False) -> Excerpt:
    r"""As much of a line as there is room for, with the caret under the first character of `after`.

    >>> excerpt('{"title": "Trip to', ' Fuji" "days": 3}', 20)
    Excerpt(text='…": "Trip to Fuji" …', caret=12)
    """
    dots = "~" if ascii_only else "…"
    left = [visible(character, ascii_only=ascii_only) for character in before]
    right = [visible(character, ascii_only=ascii_only) for character in after[:1] + after[1:].removesuffix("\r")]
    here = [clip(piece, width, ascii_only=ascii_only) for piece in right[:1]]
    room = max(width - max(_cells(here), 1), 0)
    left = _taken(left[::-1], max(int(room * LEFT_SHARE), room - _cells(right[1:])), dots)[::-1]
    right = _taken(right[1:], room - _cells(left), dots)
    return Excerpt("".join(left + here + right), _cells(left))


def _taken(pieces: list[str], room: int, dots: str) -> list[str]:
    """As many of the pieces as there is room for; where some are left out, dots say so."""
    if _cells(pieces) <= room:
        return pieces
    taken = [dots] if room else []
    room -= 1
    for piece in pieces:
        room -= cells(piece)
        if room < 0:
            break
        taken.insert(-1, piece)
    return taken


def _cells(pieces: list[str]) -> int:
    return sum([cells(piece) for piece in pieces])
