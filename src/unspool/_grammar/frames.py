"""What a reader remembers of the containers it is in: a stack that is a linked list.

Nothing here ever changes for those who hold it, so a reader is copied by copying its fields, whatever
the depth and the length of what it has read.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, final

from .._path import ROOT, Path
from .._sharing import appended

if TYPE_CHECKING:
    from .._native import i64
    from .._path import Step


@final
class Frame:
    """One open container, with what must be known again when it closes: how far the one around it was."""

    __slots__ = ("is_object", "node_id", "outer_count", "outer_keys", "parent", "step")

    def __init__(
        self,
        parent: Frame | None,
        step: Step,
        is_object: bool,
        node_id: i64,
        outer_count: i64,
        outer_keys: Keys | None,
    ) -> None:
        self.parent = parent
        self.step = step
        self.is_object = is_object
        self.node_id: i64 = node_id
        self.outer_count: i64 = outer_count
        self.outer_keys = outer_keys


def path_of(frame: Frame | None) -> Path | None:
    """The path of an open container; None where none is open."""
    if frame is None:
        return None
    steps: list[Step] = []
    while frame.parent is not None:
        steps.append(frame.step)
        frame = frame.parent
    path = ROOT
    for step in reversed(steps):
        path = Path(path, step)
    return path


@final
class Keys:
    """The keys of an open object, for those who refuse duplicates.

    Readers that were copied from one another share this. Each knows how many keys are its own: the first
    `size` of `names`. The names before that never change; behind it another reader may have gone on.
    """

    __slots__ = ("names", "places")

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.places: dict[str, int] = {name: place for place, name in enumerate(names)}

    def has(self, key: str, size: i64) -> bool:
        place = self.places.get(key)
        return place is not None and place < size

    def add(self, key: str, size: i64) -> Keys:
        """The keys of a reader that had `size` of them and adds one: these, or a copy if another was here first."""
        names = appended(self.names, size, key)
        if names is not self.names:
            return Keys(names)
        self.places[key] = size
        return self
