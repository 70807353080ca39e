"""What a text is cut into that has JSON in it: the pieces to read, and those to skip, with the reason."""

# Compiled with mypyc.
from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, final

__all__ = ["TAKEN", "Piece", "Skipped", "Why"]

Why: TypeAlias = Literal["", "bom", "prose", "fence"]
"""Why a piece is skipped; empty if it is not."""
TAKEN: Final = ""


@final
class Piece:
    """A part of the text, at `offset`: to be read, or to be skipped because of `why`."""

    __slots__ = ("offset", "text", "why")

    def __init__(self, text: str, offset: int, why: Why) -> None:
        self.text = text
        self.offset = offset
        self.why: Why = why

    @property
    def is_skipped(self) -> bool:
        return self.why != TAKEN

    def __repr__(self) -> str:
        return f"Piece({self.text!r}, {self.offset}, {self.why!r})"


class Skipped(NamedTuple):
    """A part of the text that is not JSON: as far as it goes for one reason."""

    offset: int
    length: int
    why: Why
