"""`TextChunker`: each snapshot is the whole plain text so far, and the output is the text that the last one added.

The source may cut its text inside a character: UTF-16 has two halves for each character beyond U+FFFF. A first half at
the end waits for the second, so every fragment can be encoded.
"""

from __future__ import annotations

from typing import Literal, final

from .._errors import OptionsError, SnapshotError, StateError
from .._path import ROOT
from .policy import string_contradiction
from .values import join_halves, writable

__all__ = ["TextChunker"]


@final
class TextChunker:
    """A converter from whole texts to fragments: concatenated, they are the last text.

    A text that does not start with the text before raises `SnapshotError` and changes nothing. With
    ``on_conflict="restart"`` the chunker returns it whole instead, and `restarts` counts it.

    >>> chunker = TextChunker()
    >>> [chunker.process(text) for text in ("Trip", "Trip", "Trip to Fuji")]
    ['Trip', '', ' to Fuji']
    """

    __slots__ = ("_held", "_is_flushed", "_on_conflict", "_restarts", "_step", "_written")

    def __init__(self, *, on_conflict: Literal["raise", "restart"] = "raise") -> None:
        if on_conflict not in ("raise", "restart"):
            raise OptionsError("on_conflict must be 'raise' or 'restart'")
        self._on_conflict = on_conflict
        self.reset()

    def reset(self) -> None:
        """Start a new text."""
        self._written = ""  # all output since the start, or since the last restart
        self._held = ""
        self._is_flushed = False
        self._restarts = 0
        self._step = 0

    @property
    def restarts(self) -> int:
        """The number of texts that were returned whole because they did not start with the text before."""
        return self._restarts

    def process(self, text: str) -> str:
        """Return the part of `text`, the whole text so far, that is new."""
        if self._is_flushed:
            raise StateError("the text is flushed; call reset() to start another one")
        if not isinstance(text, str):
            raise TypeError(f"expected a str, not {type(text).__name__}")
        whole = join_halves(text)
        start = len(self._written)
        if not whole.startswith(self._written):
            if self._on_conflict == "raise":
                raise SnapshotError(ROOT, string_contradiction(self._written, whole), self._step + 1)
            self._restarts += 1
            start = 0
        self._step += 1
        self._written = writable(whole)
        self._held = whole[len(self._written) :]
        return self._written[start:]

    def flush(self) -> str:
        """End the text. Return the half character that still waits, or an empty string."""
        held, self._held = self._held, ""
        self._is_flushed = True
        return held
