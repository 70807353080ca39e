"""Text that grows piece by piece, in versions that never change.

A version is the first so many pieces of a list that later ones share. They are put together when somebody asks, once:
adding to a string again and again would copy all of it each time.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._sharing import appended

if TYPE_CHECKING:
    from ._parts import Block

__all__ = ["NO_TEXT", "NO_WORDS", "Text", "Words"]


@final
class Text:
    """Pieces of text, one after another. `str(text)` is all of it."""

    __slots__ = ("_joined", "_pieces", "_size", "length", "origin")

    def __init__(self, pieces: list[str], size: int, length: int, origin: object) -> None:
        self._pieces = pieces
        self._size = size
        self._joined: str | None = None
        self.length: Final = length
        """In characters."""
        self.origin: Final = origin
        """The same for all that grew from one beginning. What has another did not grow: it was replaced."""

    def add(self, piece: str) -> Text:
        """The text with one more piece."""
        if not piece:
            return self
        pieces, size = self._pieces, self._size
        if size == 0:
            return Text([piece], 1, len(piece), object())
        if self._joined is not None and size > 1:
            pieces, size = [self._joined, piece], 1  # nobody puts the same pieces together twice
        else:
            pieces = appended(pieces, size, piece)
        return Text(pieces, size + 1, self.length + len(piece), self.origin)

    def since(self, length: int) -> str:
        """What stands behind the first `length` characters, at the cost of that alone."""
        found: list[str] = []
        missing = self.length - length
        at = self._size
        while missing > 0:
            at -= 1
            piece = self._pieces[at]
            found.append(piece[-missing:])
            missing -= len(piece)
        return "".join(reversed(found))

    def __str__(self) -> str:
        joined = self._joined
        if joined is None:
            pieces = self._pieces
            joined = self._joined = "".join(pieces if len(pieces) == self._size else pieces[: self._size])
        return joined


NO_TEXT: Final = Text([], 0, 0, None)


@final
class Words:
    """What a message says, by its blocks, in the order in which they began. `str(words)` is all of it."""

    __slots__ = ("_joined", "blocks", "texts")

    def __init__(self, blocks: tuple[Block, ...], texts: tuple[Text, ...]) -> None:
        self.blocks: Final = blocks
        self.texts: Final = texts
        self._joined: str | None = None

    def say(self, block: Block, text: str, is_whole: bool) -> tuple[Words, str | None]:
        """With more text in a block, or all of its text once more; and the text that this adds at the very end.

        None for that where something else has changed: a block before the last one, or text that was there.
        """
        last = len(self.blocks) - 1
        if last >= 0 and self.blocks[last] == block:
            at = last
        elif block in self.blocks:
            at = self.blocks.index(block)
        else:
            return Words((*self.blocks, block), (*self.texts, NO_TEXT.add(text))), text
        old = self.texts[at]
        if is_whole:
            known = str(old)
            if text == known:
                return self, ""
            if not text.startswith(known):
                return self._with(at, NO_TEXT.add(text)), None
            text = text[len(known) :]
        return self._with(at, old.add(text)), text if at == last else None

    def _with(self, at: int, text: Text) -> Words:
        if len(self.texts) == 1:  # nearly always, and for every few characters
            return Words(self.blocks, (text,))
        return Words(self.blocks, (*self.texts[:at], text, *self.texts[at + 1 :]))

    def __str__(self) -> str:
        joined = self._joined
        if joined is None:
            joined = self._joined = "".join([str(text) for text in self.texts])
        return joined

    def __bool__(self) -> bool:
        return len(self.texts) > 0


NO_WORDS: Final = Words((), ())
