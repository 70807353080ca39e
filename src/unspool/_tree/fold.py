"""The sink that grows the tree of nodes.

While a fragment is read, only the branch that gets a child changes. The fold makes nodes of open containers, and plain
values, on demand. A fork copies a branch of the fold before it adds to it, so that both sides go on without seeing each
other.

Identity must not depend on which state is read first. A container that closes without new content must show the same
object as in the previous state. So a fold that has not grown takes its values from the fold before it.
"""

# Compiled with mypyc.
from __future__ import annotations

import os
from _thread import RLock
from itertools import count

from .._errors import Code
from .._grammar.sink import Sink
from .._missing import MISSING
from .._native import TYPE_CHECKING, cast, final, mypyc_attr
from .._sharing import appended
from .nodes import NO_PARENT, ArrayNode, BooleanNode, Node, NullNode, NumberNode, ObjectNode, StringNode
from .values import are_equal

if TYPE_CHECKING:
    from typing import Final

    from .._errors import JSONSyntaxError
    from .._native import i64

__all__ = ["SHOWING", "TreeFold"]

# Values and nodes are made on demand and remembered in branches that forks share. Hold this lock while reading a shared
# fold. Each holder keeps it for microseconds and waits for nothing meanwhile.
SHOWING: Final = RLock()  # reentrant, because a finalizer that runs meanwhile may read a fold as well

# A forked child has only the thread that forked. That thread takes the lock for the time of the fork, so no other one
# has it then, and what the lock protects is whole in the child.
if hasattr(os, "register_at_fork"):  # where there is no fork, there is nothing to do
    os.register_at_fork(before=SHOWING.acquire, after_in_parent=SHOWING.release, after_in_child=SHOWING.release)

INCOMPLETE: Final = Code.INCOMPLETE
UNSEEN: Final = object()
NO_KEYS: Final[list[str]] = []  # of an array; never changed
NO_PIECES: Final[list[str]] = []  # never changed: the first piece makes a list of its own

next_owner: Final = count().__next__
"""Return a new token. The fold that holds it may change the branches made with it in place."""


@final
@mypyc_attr(free_list_len=1)
class Branch:
    """An open container: its closed children, and the value that was last shown of it.

    A shown value never changes. The next one is one copy of it, with the last place renewed and the new children behind
    it; without changes it is the same object.
    """

    __slots__ = (
        "_child_keys",
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
        self.key = key  # its key in `outer`, if that is an object
        self.id: i64 = id
        self._items: list[Node] = []
        self._keys = [] if is_object else NO_KEYS
        self._size: i64 = 0  # the number of items and keys that belong to this branch
        self._is_shared = False  # forks may know the lists too
        self._child_keys: list[str] = NO_KEYS  # of the last object that closed in it; the next one often has the same
        # The shown value: the number of its closed children, and maybe an open one.
        self._shown: object = None
        self._shown_size: i64 = 0
        self._shown_key: str | None = None
        self._shown_open: object = MISSING

    def copy(self, owner: int) -> Branch:
        """Return the same branch for another owner to change."""
        other = Branch(owner, self.outer, self.is_object, self.key, self.id)
        other._items = self._items
        other._keys = self._keys
        other._size = self._size
        other._is_shared = self._is_shared = True
        other._shown = self._shown
        other._shown_size = self._shown_size
        other._shown_key = self._shown_key
        other._shown_open = self._shown_open
        return other

    def add(self, key: str | None, child: Node) -> None:
        """Add a child that has closed."""
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
        """Return the plain value, with `open` under `key` for the open child; MISSING stands for no open child."""
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
                self._shown_size = size  # the open child has closed, and nothing else happened
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
        shown = self._shown
        if shown is not None and (self._shown_open is MISSING or self._shown_key == (keys[i] if i < size else key)):
            values = cast("dict[str, object]", shown).copy()
        else:
            values = {}
            i = 0  # the shown value has an open child that does not belong to this branch
        while i < size:
            values[keys[i]] = items[i].value
            i += 1
        if key is not None:
            values[key] = open
        if shown is not None and len(values) <= len(cast("dict[str, object]", shown)):
            return self._reused(cast("dict[str, object]", shown), values)  # nothing but duplicate keys came
        return values

    def _reused(self, shown: dict[str, object], values: dict[str, object]) -> dict[str, object]:
        """Put the shown parts back where the new ones are equal, and return the shown value if all of them are."""
        is_new = list(shown) != list(values)
        for key, value in list(values.items()):
            known = shown.get(key, MISSING)
            if known is value:
                continue
            if are_equal(known, value):
                values[key] = known
            else:
                is_new = True
        return values if is_new else shown

    def node(self, closed: bool, key: str | None, open: Node | None, plain: object) -> Node:
        """Return the node of this container, with this plain value, and `open` under `key` for the open child."""
        outer = self.outer
        parent_id = NO_PARENT if outer is None else outer.id
        if self.is_object:
            keys = self._keys
            if closed and outer is not None:
                known = outer._child_keys
                if len(known) == self._size and known == keys:
                    keys = known  # one list for the rows of a table: less memory, and less for the garbage collector
                else:
                    outer._child_keys = keys
            return ObjectNode(self.id, parent_id, closed, self._items, self._size, open, plain, keys, key)
        return ArrayNode(self.id, parent_id, closed, self._items, self._size, open, plain)


@final
@mypyc_attr(free_list_len=1)
class OpenText:
    """The text of an open string at one moment. Its pieces are joined when someone asks for it."""

    __slots__ = ("_joined", "_pieces", "count", "length")

    def __init__(self, pieces: list[str], count: i64, length: i64) -> None:
        self._pieces = pieces  # the first `count` of them
        self.count: i64 = count
        self.length: i64 = length
        self._joined: str | None = None

    @property
    def joined(self) -> str | None:
        """The text; None if no caller has read it."""
        return self._joined

    def text(self) -> str:
        """Return the text."""
        text = self._joined
        if text is None:
            pieces, count = self._pieces, self.count
            text = self._joined = "".join(pieces if len(pieces) == count else pieces[:count])
        return text


@final
@mypyc_attr(free_list_len=1)
class TreeFold(Sink):
    """Grows the tree of one document; of several documents, that of the newest.

    A fold goes on until it is settled; from then on it shows the same objects for ever, and others may be forked from
    it. `finished` lists the roots that closed since it was last emptied.
    """

    __slots__ = (
        "_before",
        "_closed",
        "_error_count",
        "_errors",
        "_first_top",
        "_had_grown",
        "_has_grown",
        "_is_cut_off",
        "_is_seen",
        "_length",
        "_open_text",
        "_owner",
        "_piece_count",
        "_pieces",
        "_root",
        "_same_as",
        "_same_tree_as",
        "_shares_pieces",
        "_shown",
        "_shown_branch",
        "_string_id",
        "_string_key",
        "_text",
        "_top",
        "finished",
        "in_string",
    )

    def __init__(self) -> None:
        self.keeps_raw = True
        self._owner = next_owner()
        self._top: Branch | None = None  # the innermost open container
        self._closed: Node | None = None  # the root, once it has closed
        # The open string.
        self.in_string = False
        self._string_key: str | None = None
        self._string_id: i64 = 0
        self._pieces = NO_PIECES  # the first _piece_count of them are ours
        self._piece_count: i64 = 0
        self._shares_pieces = False
        self._length: i64 = 0
        self._text = ""  # the text that was last shown: if it has _length characters, it is all of it
        self._is_seen = False  # since the last look, nothing but the open string has changed
        self._open_text: OpenText | None = None  # at the last look
        self._errors: list[JSONSyntaxError] | None = None
        self._error_count: i64 = 0
        self._is_cut_off = False  # the end of a line cut the document off, and the containers close without an end
        # While a fragment is read: where it started, and whether anything grew.
        self._before: TreeFold | None = None
        self._first_top: Branch | None = None
        self._has_grown = False
        self._had_grown = True  # before the open string began, if it began in this fragment
        # Once settled: the folds that show the same value and the same tree, and the objects that were shown.
        self._same_as: TreeFold | None = None
        self._same_tree_as: TreeFold | None = None
        self._root: object = UNSEEN
        self._shown: list[object] | None = None  # the values of the open containers, from the innermost
        self._shown_branch: Branch | None = None  # the last one of them
        self.finished: list[Node] | None = None

    def fork(self) -> TreeFold:
        """Return a fold that goes on from here on its own. This one must be settled."""
        other = TreeFold()
        other._top = self._top
        other._closed = self._closed
        other.in_string = self.in_string
        if self.in_string:
            other._string_key = self._string_key
            other._string_id = self._string_id
            other._length = self._length
            text = other._text = self._text
            if len(text) == self._length:  # the pieces were joined already
                if text:
                    other._pieces = [text]
                    other._piece_count = 1
            else:
                other._pieces = self._pieces
                other._piece_count = self._piece_count
                other._shares_pieces = True
        other._errors = self._errors
        other._error_count = self._error_count
        other._before = self
        other._first_top = other._top
        return other

    def settle(self) -> None:
        """The fragment is read. From now on nothing changes."""
        before = self._before
        if before is not None and not self._has_grown:
            self._same_as = before if before._same_as is None else before._same_as
            if self._top is self._first_top and self._closed is before._closed and self.in_string == before.in_string:
                self._same_tree_as = before if before._same_tree_as is None else before._same_tree_as
        self._before = None
        self._first_top = None

    @property
    def errors(self) -> tuple[JSONSyntaxError, ...]:
        """The errors so far."""
        return () if self._errors is None else tuple(self._errors[: self._error_count])

    @property
    def has_closed(self) -> bool:
        """There is a root, and it is closed."""
        return self._closed is not None and self._top is None and not self.in_string

    @property
    def hidden(self) -> Node | None:
        """The document before the string that is open at the root: if that string is dropped, it is shown again."""
        return self._closed if self.in_string and self._top is None else None

    # Reading a settled fold returns the same object each time. Hold SHOWING.

    def show_value(self, level: i64) -> object:
        """Return the plain value of the open container at this level; 0 is the whole document."""
        if self._same_as is not None:
            return self._same_as.show_value(level)
        top = self._top
        if top is None:
            if self.in_string:
                return self.show_text()
            return MISSING if self._closed is None else self._closed.value
        shown = self._shown
        if shown is None:
            shown = self._shown = []
        place = top.level - level
        while len(shown) <= place:
            known = len(shown)
            if known == 0:
                branch = top
                value = (
                    branch.value(self._string_key, self.show_text()) if self.in_string else branch.value(None, MISSING)
                )
            else:
                inner = cast("Branch", self._shown_branch)
                branch = cast("Branch", inner.outer)
                value = branch.value(inner.key, shown[known - 1])
            if len(shown) == known:  # or a finalizer, run by the garbage collector, went ahead
                shown.append(value)
                self._shown_branch = branch
        return shown[place]

    def show_text(self) -> str:
        """Return the known text of the open string."""
        if self._same_as is not None:
            return self._same_as.show_text()
        text = self._text
        if len(text) != self._length:  # a string only grows: the same length means the same text
            seen = self._open_text
            if seen is None or seen.length != self._length:
                seen = OpenText(self._pieces, self._piece_count, self._length)
            text = self._text = seen.text()
        return text

    def show_root(self) -> Node | None:
        """Return the tree of the document."""
        if self._same_tree_as is not None:
            return self._same_tree_as.show_root()
        if self._root is UNSEEN:
            branch = self._top
            key, node = self._innermost()
            while branch is not None:
                node = branch.node(False, key, node, self.show_value(branch.level))
                key = branch.key
                branch = branch.outer
            if self._root is UNSEEN:
                self._root = node
        return cast("Node | None", self._root)

    def _innermost(self) -> tuple[str | None, Node | None]:
        """Return the open string, or the root that has closed, with its key."""
        if self.in_string:
            return self._string_key, StringNode(self._string_id, self._parent_id(), False, self.show_text())
        return None, self._closed if self._top is None else None

    # Reading a fold that goes on, without forks: each look makes new objects.

    def glance(self) -> Node | None:
        """Return the tree as it stands now. Open containers have no plain value."""
        branch = self._top
        key, node = self._innermost()
        self._is_seen = True
        self._open_text = None
        if self.in_string:
            text = self._text
            if self._piece_count > 1:
                self._pieces = [text]  # joined once
                self._piece_count = 1
            self._open_text = OpenText(self._pieces, self._piece_count, self._length)
        while branch is not None:
            node = branch.node(False, key, node, MISSING)
            key = branch.key
            branch = branch.outer
        return node

    @property
    def is_seen(self) -> bool:
        """Since the last glance, nothing has changed but the text of the open string."""
        return self._is_seen

    def open_text(self) -> OpenText | None:
        """Return the text of the open string; None if no string is open. It is the same object until the text grows.

        For a fold that is seen.
        """
        last = self._open_text
        if last is None or last.length == self._length:
            return last
        known = last.joined
        if known is not None and last.count > 1:
            self._pieces = [known, *self._pieces[last.count :]]  # joined once
            self._piece_count -= last.count - 1
        text = self._open_text = OpenText(self._pieces, self._piece_count, self._length)
        return text

    # The calls of the reader.

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        self._has_grown = True
        self._is_seen = False
        self._top = Branch(self._owner, self._top, is_object, key, node_id)

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        branch = self._top
        assert branch is not None
        before = self._before
        if before is None or self._has_grown:
            if branch.owner != self._owner:  # nothing was added to it, but a string was dropped
                with SHOWING:
                    branch = branch.copy(self._owner)
            plain = branch.value(None, MISSING)
        else:
            with SHOWING:
                plain = before.show_value(branch.level)
        self._top = branch.outer
        self._add(branch.key, branch.node(True, None, None, plain))

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        self._had_grown = self._has_grown
        self._has_grown = True
        self._is_seen = False
        self._open_text = None
        self.in_string = True
        self._string_key = key
        self._string_id = node_id
        self._pieces = NO_PIECES
        self._piece_count = 0
        self._length = 0
        self._text = ""

    def grow_string(self, text: str, offset: i64) -> None:
        self._has_grown = True
        size = self._piece_count
        if size == 0:
            self._pieces = [text]
            self._shares_pieces = False
        elif self._shares_pieces:
            self._pieces = appended(self._pieces, size, text)
        else:
            self._pieces.append(text)
        self._piece_count = size + 1
        self._length += len(text)

    def end_string(self, offset: i64) -> None:
        before = self._before
        if before is not None and not self._has_grown:
            with SHOWING:
                text = before.show_text()
        else:
            text = self.show_text()
        self.in_string = False
        self._pieces = NO_PIECES
        self._piece_count = 0
        self._add(self._string_key, StringNode(self._string_id, self._parent_id(), True, text))

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        self._has_grown = True
        self._add(key, StringNode(node_id, self._parent_id(), True, text))

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        self._has_grown = True
        self._add(key, NumberNode(node_id, self._parent_id(), value, raw))

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        self._has_grown = True
        if value is None:
            self._add(key, NullNode(node_id, self._parent_id()))
        else:
            self._add(key, BooleanNode(node_id, self._parent_id(), value))

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        self._is_seen = False
        self._errors = [error] if self._errors is None else appended(self._errors, self._error_count, error)
        self._error_count += 1
        self._is_cut_off = goes_on and error.code is INCOMPLETE and self._top is not None
        if goes_on and self.in_string:
            self._has_grown = self._had_grown  # a string that begins and is dropped in one fragment changes nothing
            self.in_string = False
            self._pieces = NO_PIECES
            self._piece_count = 0

    def _parent_id(self) -> i64:
        top = self._top
        return NO_PARENT if top is None else top.id

    def _add(self, key: str | None, node: Node) -> None:
        self._is_seen = False
        top = self._top
        if top is None:
            self._closed = node
            if self._is_cut_off:
                self._is_cut_off = False
                return
            if self.finished is None:
                self.finished = []
            self.finished.append(node)
            return
        if top.owner != self._owner:
            with SHOWING:
                top = self._top = top.copy(self._owner)
        top.add(key, node)
