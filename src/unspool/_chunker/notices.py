"""What a chunker tells its callbacks: a conflict to decide about, and values that stall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from .._missing import MISSING
from .._options import UNLIMITED_OPTIONS
from .._parser import ValueParser
from .values import text_of

if TYPE_CHECKING:
    from .._errors import Reason
    from .._path import Path
    from .policy import Contradiction

__all__ = ["Conflict", "Stall"]

READING: Final = UNLIMITED_OPTIONS.replace(surrogates="keep", floats="decimal")


@final
class Conflict:
    """A snapshot contradicts the written text: `path`, `reason` and `step`, as in `SnapshotError`.

    `before` is the value at the path in the last snapshot, and `after` the value in this one, or MISSING. Both are
    copies, with fractions as `Decimal`.
    """

    __slots__ = ("_found", "_step")

    def __init__(self, found: Contradiction, step: int) -> None:
        self._found = found
        self._step = step

    @property
    def path(self) -> Path:
        """The place that differs."""
        return self._found.path

    @property
    def reason(self) -> Reason:
        """How it differs."""
        return self._found.reason

    @property
    def step(self) -> int:
        """The number of the snapshot, from 1."""
        return self._step

    @property
    def before(self) -> object:
        """The value in the last snapshot."""
        return _plain(self._found.before)

    @property
    def after(self) -> object:
        """The value in this snapshot, or MISSING."""
        return _plain(self._found.value)

    def __repr__(self) -> str:
        return f"Conflict({self.path}, {self.reason.value}, step={self.step})"


class Stall(NamedTuple):
    """A waiting value that grew together with another one. `since` is the first snapshot that showed it, from 1."""

    path: Path
    since: int


def _plain(value: object) -> object:
    if value is MISSING:
        return MISSING
    parser = ValueParser(READING)
    parser.feed(text_of(value))
    return parser.close()
