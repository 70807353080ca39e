"""The sink that grows a plain value, with copy-on-write.

The sink keeps the open containers, from the root inwards, as plain dicts and lists that grow in place, and the number
of them that were handed out: `_shown`. Asking for the value hands out all of them. The next change first copies the
handed-out containers, each once, and links each copy into its parent. Nothing else is copied: containers that are
closed, or that were never handed out, are never copied. A fragment that changes nothing visible leaves the same object.

With ``is_live=True`` no container ever counts as handed out, so that one value grows in place.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._grammar.sink import Sink
from .._missing import MISSING
from .._native import TYPE_CHECKING, cast, mypyc_attr

if TYPE_CHECKING:
    from typing import Final

    from .._errors import JSONSyntaxError
    from .._native import i64

__all__ = ["ValueSink"]

NO_PIECES: Final[list[str]] = []  # never changed


@mypyc_attr(free_list_len=1)
class ValueSink(Sink):
    """Grows the value of one document; of several documents, that of the newest.

    `finished` lists the roots that closed since the list was last emptied.
    """

    __slots__ = (
        "_hidden",
        "_is_current",
        "_is_live",
        "_is_placed",
        "_items",
        "_keys",
        "_members",
        "_open",
        "_piece",
        "_pieces",
        "_root",
        "_shown",
        "_string_key",
        "_text",
        "errors",
        "finished",
        "in_string",
    )

    def __init__(self, is_live: bool = False) -> None:
        self.keeps_raw = False
        self._is_live = is_live
        self._root: object = MISSING
        self._open: list[object] = []  # the open containers, from the root inwards
        self._keys: list[str | None] = []  # the key of each of them in its parent
        self._items: list[object] | None = None  # the innermost open container, if it is an array
        self._members: dict[str, object] | None = None  # the same, if it is an object
        self._shown: i64 = 0  # how many of the open containers were handed out
        # The open string. The sink puts it into its container when someone asks for the value, or when it closes.
        self.in_string = False
        self._string_key: str | None = None
        self._text = ""  # the text up to the last time the value was asked for
        self._piece = ""  # the first piece after it: usually the only one
        self._pieces: list[str] = NO_PIECES  # the others
        self._is_placed = False  # the container has an entry for it
        self._is_current = False  # and that entry has all of the text
        self._hidden: object = MISSING  # what the entry replaced: an earlier document, or an equal key
        self.errors: list[JSONSyntaxError] = []
        self.finished: list[object] = []

    def value(self) -> object:
        """Return the value as it stands, and count all open containers as handed out."""
        if self.in_string and not self._is_current:
            self._place_string()
        if not self._is_live:
            self._shown = len(self._open)
        return self._root

    # The calls of the reader.

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        if is_object:
            members: dict[str, object] = {}
            self._place(key, members)
            self._open.append(members)
            self._members = members
            self._items = None
        else:
            items: list[object] = []
            self._place(key, items)
            self._open.append(items)
            self._items = items
            self._members = None
        self._keys.append(key)

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        self._open.pop()
        self._keys.pop()
        size: i64 = len(self._open)
        if self._shown > size:
            self._shown = size
        self._find_innermost()
        if size == 0:
            self.finished.append(self._root)

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        self.in_string = True
        self._string_key = key
        self._text = ""
        self._is_placed = False
        self._is_current = False
        if self._is_live:
            self._place_string()

    def grow_string(self, text: str, offset: i64) -> None:
        if not self._piece:
            self._piece = text
        elif self._pieces:
            self._pieces.append(text)
        else:
            self._pieces = [text]
        self._is_current = False

    def end_string(self, offset: i64) -> None:
        if not self._is_current:
            self._place_string()
        self.in_string = False
        self._text = ""
        self._hidden = MISSING
        if not self._open:
            self.finished.append(self._root)

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        self._place(key, text)
        if not self._open:
            self.finished.append(text)

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        self._place(key, value)
        if not self._open:
            self.finished.append(value)

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        self._place(key, value)
        if not self._open:
            self.finished.append(value)

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        self.errors.append(error)
        if goes_on and self.in_string:
            self.in_string = False
            self._text = ""
            self._piece = ""
            self._pieces = NO_PIECES
            if self._is_placed:
                self._drop_string()

    # Changes to the containers. Each of them begins with `_unshare`.

    def _unshare(self) -> None:
        """Replace the handed-out containers by copies."""
        containers = self._open
        level: i64 = 0
        while level < self._shown:
            old = containers[level]
            new: object = (
                cast("dict[str, object]", old).copy() if isinstance(old, dict) else cast("list[object]", old)[:]
            )
            containers[level] = new
            if level == 0:
                self._root = new
            else:
                key = self._keys[level]
                if key is None:
                    cast("list[object]", containers[level - 1])[-1] = new
                else:
                    cast("dict[str, object]", containers[level - 1])[key] = new
            level += 1
        self._shown = 0
        self._find_innermost()

    def _find_innermost(self) -> None:
        innermost: object = self._open[-1] if self._open else None
        if isinstance(innermost, dict):
            self._members = cast("dict[str, object]", innermost)
            self._items = None
        else:
            self._members = None
            self._items = None if innermost is None else cast("list[object]", innermost)

    def _place(self, key: str | None, value: object) -> None:
        """Add a new value to the innermost container, or make it the root."""
        if self._shown > 0:
            self._unshare()
        if key is not None:
            members = self._members
            assert members is not None
            members[key] = value
        else:
            items = self._items
            if items is not None:
                items.append(value)
            else:
                self._root = value

    def _place_string(self) -> None:
        """Give the open string the text that is known, and an entry in its container if it has none."""
        text = self._text + self._piece if self._text else self._piece
        if self._pieces:
            text = "".join([text, *self._pieces])
            self._pieces = NO_PIECES
        self._text = text
        self._piece = ""
        self._is_current = True
        key = self._string_key
        if not self._is_placed:
            self._is_placed = True
            members = self._members
            if key is None:
                self._hidden = self._root if self._items is None else MISSING
            elif members is not None:
                self._hidden = members.get(key, MISSING)
            self._place(key, text)
            return
        if self._shown > 0:
            self._unshare()
        if key is not None:
            members = self._members
            assert members is not None
            members[key] = text
        else:
            items = self._items
            if items is not None:
                items[-1] = text
            else:
                self._root = text

    def _drop_string(self) -> None:
        """Take the entry of the broken string away again."""
        if self._shown > 0:
            self._unshare()
        key = self._string_key
        if key is not None:
            members = self._members
            assert members is not None
            if self._hidden is MISSING:
                del members[key]
            else:
                members[key] = self._hidden
        elif self._items is not None:
            self._items.pop()
        else:
            self._root = self._hidden
        self._hidden = MISSING
