"""Plain text snapshots: each is the whole text so far, and what comes out is what the last one added.

Text from elsewhere may be cut in the middle of a character: UTF-16 has two halves for those beyond U+FFFF. A first
half at the end waits for the second, so what is handed out can be encoded.
"""

from __future__ import annotations

from typing import Literal, final

from .._errors import OptionsError, Reason, SnapshotError, StateError
from .._path import ROOT
from .values import join_halves, shown

__all__ = ["TextChunker"]


@final
class TextChunker:
    """Whole texts in, fragments out: concatenated, they are the last text.

    A text that does not go on from what was handed out is a `SnapshotError`, and changes nothing. With
    ``on_conflict="restart"`` it is handed out whole instead, and `restarts` counts it.

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
        """Start another text."""
        self._written = ""  # all that was handed out since the start, or since the last restart
        self._held = ""
        self._is_flushed = False
        self._restarts = 0
        self._step = 0

    @property
    def restarts(self) -> int:
        """How many texts were handed out whole because they did not go on from the one before."""
        return self._restarts

    def process(self, text: str) -> str:
        """What `text`, which is the whole text so far, adds."""
        if self._is_flushed:
            raise StateError("the text was flushed; reset() starts another")
        if not isinstance(text, str):
            raise TypeError(f"a text is str, not {type(text).__name__}")
        whole = join_halves(text)
        start = len(self._written)
        if not whole.startswith(self._written):
            if self._on_conflict == "raise":
                reason = Reason.SHRUNK if self._written.startswith(whole) else Reason.REWRITTEN
                raise SnapshotError(ROOT, reason, self._step + 1)
            self._restarts += 1
            start = 0
        self._step += 1
        self._written = shown(whole)
        self._held = whole[len(self._written) :]
        return self._written[start:]

    def flush(self) -> str:
        """The text has ended: the half character that waited, or nothing."""
        held, self._held = self._held, ""
        self._is_flushed = True
        return held
