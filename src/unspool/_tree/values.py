"""The sink that grows a plain value, with copy-on-write.

The sink keeps the open containers, from the root inwards, as plain dicts and lists that grow in place, and the number
of them that were handed out: `_shown`. Asking for the value hands out all of them. The next change first copies the
handed-out containers, each once, and links each copy into its parent. Nothing else is copied: containers that are
closed, or that were never handed out, are never copied. A fragment that changes nothing visible leaves the same object.

With ``is_live=True`` no container ever counts as handed out, so that one value grows in place.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._errors import Code
from .._grammar.sink import Sink
from .._missing import MISSING
from .._native import TYPE_CHECKING, cast, mypyc_attr

if TYPE_CHECKING:
    from typing import Final

    from .._errors import JSONSyntaxError
    from .._native import i64

__all__ = ["ValueSink"]

INCOMPLETE: Final = Code.INCOMPLETE
NO_PIECES: Final[list[str]] = []  # never changed


@mypyc_attr(free_list_len=1)
class ValueSink(Sink):
    """Grows the value of one document; of several documents, that of the newest.

    `finished` lists the roots that closed since the list was last emptied.
    """

    __slots__ = (
        "_hidden",
        "_is_current",
        "_is_cut_off",
        "_is_doubtful",
        "_is_live",
        "_is_placed",
        "_items",
        "_keys",
        "_last",
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
        self._last: object = MISSING  # the value that was last handed out
        self._is_doubtful = False  # a duplicate key came since then, so that parts of the value may be equal to it
        # The open string. The sink puts it into its container when someone asks for the value, or when it closes.
        self.in_string = False
        self._string_key: str | None = None
        self._text = ""  # the text up to the last time the value was asked for
        self._piece = ""  # the first piece after it: usually the only one
        self._pieces: list[str] = NO_PIECES  # the others
        self._is_placed = False  # the container has an entry for it
        self._is_current = False  # and that entry has all of the text
        self._hidden: object = MISSING  # what the entry replaced: an earlier document, or an equal key
        self._is_cut_off = False  # the end of a line cut the document off, and the containers close without an end
        self.errors: list[JSONSyntaxError] = []
        self.finished: list[object] = []

    def value(self) -> object:
        """Return the value as it stands, and count all open containers as handed out."""
        if self.in_string and not self._is_current:
            self._place_string()
        if not self._is_live:
            if self._is_doubtful:
                self._reuse_last()
            self._shown = len(self._open)
            self._last = self._root
        return self._root

    def _reuse_last(self) -> None:
        """Put the parts of the last value back into this one, where both are equal."""
        self._is_doubtful = False
        self._root = reused(self._last, self._root)
        inner = self._root
        level: i64 = 0
        size: i64 = len(self._open)
        while level < size:  # the open containers may be others now
            if level > 0:
                key = self._keys[level]
                inner = cast("list[object]", inner)[-1] if key is None else cast("dict[str, object]", inner)[key]
            self._open[level] = inner
            level += 1
        self._find_innermost()

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
            if not self._is_cut_off:
                self.finished.append(self._root)
            self._is_cut_off = False

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
        self._is_cut_off = goes_on and error.code is INCOMPLETE and len(self._open) > 0
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
            size: i64 = len(members)
            members[key] = value
            if len(members) == size:
                self._is_doubtful = True
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


def reused(old: object, new: object) -> object:
    """Return `new` with its parts replaced by those of `old` that are equal and at the same place; `old` if all are.

    Only containers that differ in identity are compared, so the cost is that of copying them. They must be free to
    change.
    """
    olds: list[object] = [old]
    news: list[object] = [new]
    parents: list[int] = [-1]
    places: list[object] = [None]
    at = 0
    while at < len(news):  # the pairs of containers at the same place, from the root inwards
        before, after = olds[at], news[at]
        pairs: list[tuple[object, object, object]] = []
        if isinstance(after, dict) and isinstance(before, dict):
            members = cast("dict[str, object]", before)
            pairs = [(key, members.get(key, MISSING), child) for key, child in cast("dict[str, object]", after).items()]
        elif isinstance(after, list) and isinstance(before, list):
            both = zip(cast("list[object]", before), cast("list[object]", after), strict=False)
            pairs = [(index, match, child) for index, (match, child) in enumerate(both)]
        for place, match, child in pairs:
            if match is not child and is_container(child) and type(match) is type(child):
                olds.append(match)
                news.append(child)
                parents.append(at)
                places.append(place)
        at += 1
    at = len(news) - 1
    while at >= 0:  # from the inside out: of equal containers, every part is the same object or an equal atom by now
        before, after = olds[at], news[at]
        if are_alike(before, after):
            if at == 0:
                return before
            outer = news[parents[at]]
            if isinstance(outer, dict):
                cast("dict[str, object]", outer)[cast("str", places[at])] = before
            else:
                cast("list[object]", outer)[cast("int", places[at])] = before
        at -= 1
    return new


def is_container(value: object) -> bool:
    """Tell whether a plain value is an object or an array."""
    return isinstance(value, (dict, list))


def are_alike(old: object, new: object) -> bool:
    """Tell whether two values are equal, provided that equal containers inside them are the same objects."""
    if isinstance(old, dict) and isinstance(new, dict):
        members, others = cast("dict[str, object]", old), cast("dict[str, object]", new)
        return list(members) == list(others) and all(map(are_same, members.values(), others.values()))
    if isinstance(old, list) and isinstance(new, list):
        items, more = cast("list[object]", old), cast("list[object]", new)
        return len(items) == len(more) and all(map(are_same, items, more))
    return are_same(old, new)  # pyright: ignore[reportUnknownArgumentType]


def are_same(old: object, new: object) -> bool:
    """Tell whether two parts are one object, or atoms of one type and value; 0.0 and -0.0 differ."""
    if old is new:
        return True
    if type(old) is not type(new) or is_container(old):
        return False
    return str(old) == str(new) if not isinstance(old, (str, int)) else old == new


def are_equal(one: object, other: object) -> bool:
    """Tell whether two plain values are equal, with their types and the order of their keys."""
    pairs: list[tuple[object, object]] = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if left is right:
            continue
        if isinstance(left, dict) and isinstance(right, dict):
            members, others = cast("dict[str, object]", left), cast("dict[str, object]", right)
            if list(members) != list(others):
                return False
            pairs.extend([(members[key], others[key]) for key in members])
        elif isinstance(left, list) and isinstance(right, list):
            items, more = cast("list[object]", left), cast("list[object]", right)
            if len(items) != len(more):
                return False
            pairs.extend(zip(items, more, strict=True))
        elif not are_same(left, right):  # pyright: ignore[reportUnknownArgumentType]
            return False
    return True
