"""Lists that only grow, shared by versions that each see the first so many items.

Appending to the newest version costs nothing extra. Appending to an older one copies, so that two futures of one past
never see each other.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ._native import i64

__all__ = ["appended"]

Item = TypeVar("Item")


def appended(shared: list[Item], size: i64, item: Item) -> list[Item]:
    """The list of a version that has the first `size` of `shared`, and then `item`: `shared` itself if it can be.

    Between the look at the length and the append, another thread may append as well. The list tells who was first:
    what stands at `size` never changes. Whoever lost copies, and what it left behind the winner's item is seen by none.
    """
    if len(shared) == size:
        shared.append(item)
        if shared[size] is item:
            return shared
    return [*shared[:size], item]
