"""Lists and maps that several versions share, because they only grow.

Each version sees the first `size` items. Appending to the newest version costs nothing extra. Appending to an older one
copies the items, so two futures of one past never see each other.
"""

# Compiled with mypyc.
from __future__ import annotations

from ._native import TYPE_CHECKING, final, mypyc_attr

if TYPE_CHECKING:
    from typing import TypeVar

    from ._native import i64

    Item = TypeVar("Item")

__all__ = ["GrowingMap", "appended"]


def appended(shared: list[Item], size: i64, item: Item) -> list[Item]:
    """Return a list whose first `size` items are those of `shared`, followed by `item`.

    If no other version has grown past `size`, append in place and return `shared`; otherwise copy. Two threads may
    append at the same time: the item at index `size` decides which one won, and the other one copies.
    """
    if len(shared) == size:
        shared.append(item)
        if shared[size] is item:
            return shared
    return [*shared[:size], item]


@final
@mypyc_attr(free_list_len=1)
class GrowingMap:
    """An immutable map. A new key costs the same however many there are; a new value for a known key copies the map."""

    __slots__ = ("_copied", "_entries", "_log", "size")

    def __init__(
        self,
        entries: dict[object, tuple[object, object, int]] | None = None,
        log: list[tuple[object, object, int]] | None = None,
        size: int = 0,
        copied: dict[object, object] | None = None,
    ) -> None:
        self._entries = {} if entries is None else entries  # key, value and place in the log, by key
        self._log = [] if log is None else log
        self.size = size
        self._copied = {} if copied is None else copied  # what `as_dict` copies; it grows with the versions that ask

    def get(self, key: object, default: object = None) -> object:
        """Return the value of this key; `default` if there is none."""
        entry = self._entries.get(key)
        return default if entry is None or entry[2] >= self.size else entry[1]

    def put(self, key: object, value: object) -> GrowingMap:
        """Return the map with this value under this key, at the end if the key is new."""
        size = self.size
        entry = (key, value, size)
        entries, log = self._entries, self._log
        known = entries.get(key)
        if size > 0 and known is None:
            grown = appended(log, size, entry)
            if grown is log:
                entries[key] = entry
                return GrowingMap(entries, log, size + 1, self._copied)
        if known is not None and known[2] < size:
            entry = (key, value, known[2])
        log = log[:size]
        if entry[2] == size:
            log.append(entry)
        else:
            log[entry[2]] = entry
        return GrowingMap({each[0]: each for each in log}, log, len(log))

    def as_dict(self) -> dict[object, object]:
        """Return a new dict. Copying one is fast, so all versions share a dict that is copied for each call."""
        copied, log, size = self._copied, self._log, self.size
        for place in range(len(copied), size):
            entry = log[place]
            copied[entry[0]] = entry[1]
        if len(copied) == size:
            made = copied.copy()
            if len(made) == size:  # or another thread has added to it
                return made
        return {entry[0]: entry[1] for entry in log[:size]}

    def items(self, start: int = 0) -> list[tuple[object, object]]:
        """Return the keys and values in the order of their first occurrence, without the first `start` ones."""
        return [(entry[0], entry[1]) for entry in self._log[start : self.size]]
