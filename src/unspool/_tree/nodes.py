"""Immutable nodes: a description of each value in the text.

A node never changes. A closed node is the same object in every later tree. An open node is replaced when something
inside it changes, and its successor shares the children before the change. Ids follow document order, so finding a
node by its id takes one bisection per level and no table.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._native import TYPE_CHECKING, expect, final, mypyc_attr
from .._path import Path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar, Final, NoReturn

    from .._native import i64
    from .._path import Step

__all__ = ["ArrayNode", "BooleanNode", "ContainerNode", "Node", "NullNode", "NumberNode", "ObjectNode", "StringNode"]

NO_PARENT: Final = -1


@mypyc_attr(acyclic=True)
class Node:
    """The base class of all nodes: `id`, `parent_id` (-1 at the root), `kind`, `closed`, `value`."""

    __slots__ = ("_closed", "_id", "_parent_id")

    kind: ClassVar[str] = ""

    def __init__(self, id: int, parent_id: int, closed: bool) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = closed

    @property
    def id(self) -> int:
        """The number of the node in document order, from 0."""
        return self._id

    @property
    def parent_id(self) -> int:
        """The id of the container; -1 at the root."""
        return self._parent_id

    @property
    def closed(self) -> bool:
        """The text of the node has ended."""
        return self._closed

    @property
    def value(self) -> Any:
        """The plain value so far, as `json.loads` would return it."""
        raise NotImplementedError

    @property
    def children(self) -> tuple[Node, ...]:
        """The child nodes in document order, with every occurrence of a duplicate key."""
        return ()

    def walk(self) -> Iterator[Node]:
        """Iterate over this node and all nodes inside it, in document order."""
        return walk(self)

    def find(self, id: int) -> Node | None:
        """Return the node with this id: this one or one inside it, or None."""
        expect(id, int, "int")
        node: Node | None = self
        while node is not None and node._id != id:
            node = node.child_around(id)
        return node

    def at(self, path: str | Path | tuple[Step, ...]) -> Node | None:
        """Return the node at this path, relative to this node, or None."""
        expect(path, (str, Path, tuple), "union[str, unspool._path.Path, tuple]")
        node: Node | None = self
        for step in Path.parse(path) if isinstance(path, str) else path:
            if node is None:
                return None
            node = node.child_at(step)
        return node

    def child_around(self, id: int) -> Node | None:
        """Return the child that has this id, or contains the node with this id."""
        return None

    def child_at(self, step: Step) -> Node | None:
        """Return the child under this key or index, or None."""
        return None

    def _fields(self) -> tuple[object, ...]:
        return (self._id, self._parent_id, self._closed)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Node):
            return NotImplemented
        return flat(self) == flat(other)

    def __hash__(self) -> int:
        return hash((self.kind, self._id, self._closed))

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a node cannot be pickled; a ParserState, or the value of a node, can")

    def __repr__(self) -> str:
        state = "" if self._closed else ", open"
        try:
            value = repr(self.value)
        except RecursionError:  # deeper than the interpreter shows
            value = "..."
        return f"{type(self).__name__}({value}, id={self._id}{state})"


@final
@mypyc_attr(acyclic=True)
class StringNode(Node):
    """A string, or the part of it that is known."""

    __slots__ = ("_text",)

    kind: ClassVar[str] = "string"
    __match_args__: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, id: int, parent_id: int, closed: bool, text: str) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = closed
        self._text = text

    @property
    def text(self) -> str:
        """The known part of the text."""
        return self._text

    @property
    def value(self) -> Any:
        return self._text

    def _fields(self) -> tuple[object, ...]:
        return (self._id, self._parent_id, self._closed, self._text)


@final
@mypyc_attr(acyclic=True)
class NumberNode(Node):
    """A number: its value, and its source text in `raw`."""

    __slots__ = ("_number", "_raw")

    kind: ClassVar[str] = "number"
    __match_args__: ClassVar[tuple[str, ...]] = ("value", "raw")

    def __init__(self, id: int, parent_id: int, number: object, raw: str) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = True
        self._number = number
        self._raw = raw

    @property
    def number(self) -> object:
        """The value."""
        return self._number

    @property
    def raw(self) -> str:
        """The number as the text spells it."""
        return self._raw

    @property
    def value(self) -> Any:
        return self._number

    def _fields(self) -> tuple[object, ...]:
        return (self._id, self._parent_id, self._raw, type(self._number))


@final
@mypyc_attr(acyclic=True)
class BooleanNode(Node):
    """True or false."""

    __slots__ = ("_flag",)

    kind: ClassVar[str] = "boolean"
    __match_args__: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self, id: int, parent_id: int, flag: bool) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = True
        self._flag = flag

    @property
    def flag(self) -> bool:
        """The value."""
        return self._flag

    @property
    def value(self) -> Any:
        return self._flag

    def _fields(self) -> tuple[object, ...]:
        return (self._id, self._parent_id, self._flag)


@final
@mypyc_attr(acyclic=True)
class NullNode(Node):
    """Null."""

    __slots__ = ()

    kind: ClassVar[str] = "null"

    def __init__(self, id: int, parent_id: int) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = True

    @property
    def value(self) -> Any:
        return None


NO_NODES: Final[list[Node]] = []  # never changed


@mypyc_attr(acyclic=True)
class ContainerNode(Node):
    """An array or an object: the first `_size` of a shared list of closed children, and the open child, if any.

    Resolving typed values visits every child once, so `unspool.typed` reads `_items`, `_size`, `_open`, `_keys` and
    `_open_key` directly instead of through tuples. Nothing else outside of this package does.
    """

    __slots__ = ("_items", "_open", "_plain", "_size")

    def __init__(
        self, id: int, parent_id: int, closed: bool, items: list[Node], size: int, open: Node | None, plain: object
    ) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = closed
        self._items = items
        self._size = size
        self._open = NO_NODES if open is None else [open]  # in a list, because Python frees nested lists of any depth
        self._plain = plain

    @property
    def value(self) -> Any:
        return self._plain

    @property
    def children(self) -> tuple[Node, ...]:
        return (*self._items[: self._size], *self._open)

    def child(self, index: int) -> Node:
        """Return the child at this index."""
        expect(index, int, "int")
        if not 0 <= index < len(self):
            raise IndexError("no such child")
        return self._items[index] if index < self._size else self._open[0]

    def child_around(self, id: int) -> Node | None:
        expect(id, int, "int")
        if self._open and id >= self._open[0]._id:
            return self._open[0]
        low: i64 = 0
        high: i64 = self._size
        while low < high:  # count the children whose id is at most this one
            middle = (low + high) // 2
            if self._items[middle]._id <= id:
                low = middle + 1
            else:
                high = middle
        return self._items[low - 1] if low > 0 else None

    def __len__(self) -> int:
        return self._size + len(self._open)

    def __bool__(self) -> bool:
        return True  # also when it is empty

    def __iter__(self) -> Iterator[Node]:
        return iter(self.children)


@final
@mypyc_attr(acyclic=True)
class ArrayNode(ContainerNode):
    """An array: `node[0]`, `len(node)`, `for child in node`."""

    __slots__ = ()

    kind: ClassVar[str] = "array"
    __match_args__: ClassVar[tuple[str, ...]] = ("children",)

    def child_at(self, step: Step) -> Node | None:
        if isinstance(step, int) and 0 <= step < len(self):
            return self.child(step)
        return None

    def __getitem__(self, index: int) -> Node:
        expect(index, int, "int")
        return self.child(index + len(self) if index < 0 else index)


@final
@mypyc_attr(acyclic=True)
class ObjectNode(ContainerNode):
    """An object: `node["key"]`. `keys` has one key per child, duplicates included."""

    __slots__ = ("_keys", "_open_key")

    kind: ClassVar[str] = "object"
    __match_args__: ClassVar[tuple[str, ...]] = ("keys", "children")

    def __init__(
        self,
        id: int,
        parent_id: int,
        closed: bool,
        items: list[Node],
        size: int,
        open: Node | None,
        plain: object,
        keys: list[str],
        open_key: str | None,
    ) -> None:
        self._id = id
        self._parent_id = parent_id
        self._closed = closed
        self._items = items
        self._size = size
        self._open = NO_NODES if open is None else [open]  # in a list, because Python frees nested lists of any depth
        self._plain = plain
        self._keys = keys
        self._open_key = open_key

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self._keys[: self._size], *([] if self._open_key is None else [self._open_key]))

    @property
    def duplicates(self) -> frozenset[str]:
        """The keys that occur more than once."""
        seen: set[str] = set()
        return frozenset([key for key in self.keys if key in seen or seen.add(key)])  # type: ignore[func-returns-value]

    def child_at(self, step: Step) -> Node | None:
        """Return the last child under this key: it is the one that counts."""
        if self._open_key is not None and step == self._open_key:
            return self._open[0]
        for index in range(self._size - 1, -1, -1):
            if self._keys[index] == step:
                return self._items[index]
        return None

    def __getitem__(self, key: object) -> Node:
        node = self.child_at(key) if isinstance(key, str) else None
        if node is None:
            raise KeyError(key)
        return node

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.child_at(key) is not None

    def _fields(self) -> tuple[object, ...]:
        return (self._id, self._parent_id, self._closed, self.keys)


def walk(node: Node) -> Iterator[Node]:
    """Iterate over a node and all nodes inside it, in document order."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def flat(node: Node) -> list[tuple[object, ...]]:
    """Return all fields of a node and of the nodes inside it: two nodes are equal if these are."""
    return [(inner.kind, len(inner.children), *inner._fields()) for inner in walk(node)]
