"""Append-only lists that several versions share.

Each version sees the first `size` items. Appending to the newest version costs nothing extra. Appending to an older one
copies the list, so two futures of one past never see each other.
"""

# Compiled with mypyc.
from __future__ import annotations

from ._native import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeVar

    from ._native import i64

    Item = TypeVar("Item")

__all__ = ["appended"]


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
