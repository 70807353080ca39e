"""An open container: its closed children, and what was last shown of it.

What was shown is never changed. It is made when somebody asks, out of what was shown last
time: one copy, the last place renewed, the news behind it. Where nothing changed, it is the same object again.
"""

# Compiled with mypyc.
from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final, cast, final

from .._missing import MISSING
from .._sharing import appended
from .nodes import NO_PARENT, ArrayNode, Node, ObjectNode

if TYPE_CHECKING:
    from .._native import i64

__all__ = ["Branch", "next_owner"]


next_owner: Final = count().__next__
"""A new token: who holds it may change the branches made with it in place."""

NO_KEYS: Final[list[str]] = []  # of an array; never changed


@final
class Branch:
    """One open container. Those around it are reached by `outer`; what is open inside it is not its business."""

    __slots__ = (
        "_is_shared",
        "_items",
        "_keys",
        "_shown",
        "_shown_key",
        "_shown_open",
        "_shown_size",
        "_size",
        "id",
        "is_object",
        "key",
        "level",
        "outer",
        "owner",
    )

    def __init__(self, owner: int, outer: Branch | None, is_object: bool, key: str | None, id: i64) -> None:
        self.owner = owner
        self.outer = outer
        self.level: i64 = 0 if outer is None else outer.level + 1
        self.is_object = is_object
        self.key = key  # under which it stands in `outer`, if that is an object
        self.id: i64 = id
        self._items: list[Node] = []
        self._keys = [] if is_object else NO_KEYS
        self._size: i64 = 0  # so many of the items and keys are ours
        self._is_shared = False  # others may know the lists too
        # What was shown: a plain value with so many closed children, and then maybe an open one.
        self._shown: object = None
        self._shown_size: i64 = 0
        self._shown_key: str | None = None
        self._shown_open: object = MISSING

    def copy(self, owner: int) -> Branch:
        """The same branch, for another owner to change."""
        other = Branch(owner, self.outer, self.is_object, self.key, self.id)
        other._items = self._items
        other._keys = self._keys
        other._size = self._size
        other._is_shared = self._is_shared = True
        other.adopt(self)
        return other

    def adopt(self, older: Branch) -> None:
        """Go on from what was shown of an older version of this container."""
        self._shown = older._shown
        self._shown_size = older._shown_size
        self._shown_key = older._shown_key
        self._shown_open = older._shown_open

    @property
    def parent_id(self) -> int:
        outer = self.outer
        return NO_PARENT if outer is None else outer.id

    def add(self, key: str | None, child: Node) -> None:
        """A child has closed."""
        if self._is_shared:
            self._items = appended(self._items, self._size, child)
            if key is not None:
                self._keys = appended(self._keys, self._size, key)
        else:
            self._items.append(child)
            if key is not None:
                self._keys.append(key)
        self._size += 1

    def value(self, key: str | None, open: object) -> object:
        """The plain value, with `open` under `key` for the child that is open; MISSING if none is."""
        size = self._size
        shown = self._shown
        if shown is not None:
            if size == self._shown_size:
                if open is self._shown_open and (open is MISSING or key == self._shown_key):
                    return shown
                if open is not MISSING and self._shown_open is not MISSING and key is self._shown_key:
                    if key is None:  # the usual case: only the open child has grown
                        items = cast("list[object]", shown)[:]
                        items[size] = open
                        shown = items
                    else:
                        members = cast("dict[str, object]", shown).copy()
                        members[key] = open
                        shown = members
                    self._shown = shown
                    self._shown_open = open
                    return shown
            elif (
                open is MISSING
                and size == self._shown_size + 1
                and self._items[size - 1].value is self._shown_open
                and (not self.is_object or self._keys[size - 1] == self._shown_key)
            ):
                self._shown_size = size  # the open child has closed, and that is all
                self._shown_open = MISSING
                return shown
        shown = self._dict(key, open) if self.is_object else self._list(open)
        self._shown = shown
        self._shown_size = size
        self._shown_key = key
        self._shown_open = open
        return shown

    def _list(self, open: object) -> list[object]:
        items = self._items
        size = self._size
        old: list[object] = [] if self._shown is None else cast("list[object]", self._shown)
        i = self._shown_size
        values = old[:i]
        while i < size:
            values.append(items[i].value)
            i += 1
        if open is not MISSING:
            values.append(open)
        return values

    def _dict(self, key: str | None, open: object) -> dict[str, object]:
        items = self._items
        keys = self._keys
        size = self._size
        i = self._shown_size
        values: dict[str, object]
        if self._shown is not None and (
            self._shown_open is MISSING or self._shown_key == (keys[i] if i < size else key)
        ):
            values = cast("dict[str, object]", self._shown).copy()
        else:
            values = {}
            i = 0  # what is shown has an open child that is not one of ours
        while i < size:
            values[keys[i]] = items[i].value
            i += 1
        if key is not None:
            values[key] = open
        return values

    def open_node(self, key: str | None, open: Node | None, plain: object) -> Node:
        """The node of this container, with this value, and `open` under `key` for the child that is open."""
        return self._make(False, key, open, plain)

    def closed_node(self, plain: object) -> Node:
        """The node of this container, now that it has closed with this value."""
        return self._make(True, None, None, plain)

    def _make(self, closed: bool, key: str | None, open: Node | None, plain: object) -> Node:
        if self.is_object:
            return ObjectNode(self.id, self.parent_id, closed, self._items, self._size, open, plain, self._keys, key)
        return ArrayNode(self.id, self.parent_id, closed, self._items, self._size, open, plain)
