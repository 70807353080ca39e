"""Which fields of a document a pattern picks: those that match, with everything inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ..select import compile as compile_pattern

if TYPE_CHECKING:
    from ..path import Path
    from ..select import Pattern

__all__ = ["Selection"]


@final
class Selection:
    """Takes the paths of a document one after the other, in the order in which their values begin."""

    __slots__ = ("_pattern", "_top")

    def __init__(self, pattern: str | Pattern) -> None:
        self._pattern = compile_pattern(pattern) if isinstance(pattern, str) else pattern
        self._top: int | None = None  # how long the path of the picked value is that we are in

    def depth(self, path: Path) -> int | None:
        """How deep inside a picked value this one is: 0 if it matches itself; None if it is not picked."""
        if self._top is None or len(path) <= self._top:
            self._top = len(path) if self._pattern.matches(path) else None
        return None if self._top is None else len(path) - self._top
