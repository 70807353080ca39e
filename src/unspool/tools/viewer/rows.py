"""The tree as rows. Only the rows of the visible window are made, so the cost depends on the window alone.

Node ids follow document order without gaps, so the row of a node is its id minus the folded rows above it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple, final

from ... import Path
from ...tree import ArrayNode, ContainerNode, ObjectNode, StringNode

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from ...select import Pattern
    from ...tree import Node

__all__ = ["TreeRow", "Window", "label_of", "leaf_text", "matching", "picked", "searched", "window"]

MAX_TEXT: Final = 400
ROOT: Final = Path.of()
START: Final = 1  # of `Pattern.advance`: at the root, no segment has taken a step


class TreeRow(NamedTuple):
    """One node. `mark` is "new" if this step added the node, "grown" if the node changed, otherwise empty."""

    id: int
    depth: int
    path: Path
    kind: str
    is_open: bool
    mark: str
    text: str
    """A leaf as JSON, shortened in the middle if it is long; an open string has no closing quote."""
    size: int
    """The number of children, or the number of characters of a string."""
    is_folded: bool


class Window(NamedTuple):
    """Some rows, the number of the first one, and the total number of rows."""

    start: int
    total: int
    rows: tuple[TreeRow, ...]


def label_of(path: Path) -> str:
    """Return the last step of a path as paths spell it, without the dot; ``$`` for the root."""
    return "$" if path.step is None else str(Path.of(path.step))[1:].removeprefix(".")


def leaf_text(value: object, raw: str | None) -> str:
    """Return a value as JSON text; numbers as they were spelled."""
    return json.dumps(value, ensure_ascii=False) if raw is None else raw


def window(
    root: Node | None, before: Node | None, start: int = 0, count: int = 100, folded: Iterable[int] = ()
) -> Window:
    """Return the rows of a tree from `start`, compared with the tree `before`; children of `folded` are hidden."""
    if root is None:
        return Window(0, 0, ())
    hidden = _Hidden(root, folded)
    total = hidden.total
    start = max(0, min(start, total - 1))
    looker = _Looker(root, before)
    rows = [looker.row(hidden.id_of(index), hidden) for index in range(start, min(start + max(count, 0), total))]
    return Window(start, total, tuple(rows))


def picked(root: Node | None, before: Node | None, ids: Iterable[int]) -> tuple[TreeRow, ...]:
    """Return the rows of the nodes with these ids; ids that are not in the tree are skipped."""
    if root is None:
        return ()
    looker, hidden = _Looker(root, before), _Hidden(root, ())
    return tuple([looker.row(node_id, hidden) for node_id in ids if root.find(node_id) is not None])


def matching(root: Node | None, before: Node | None, pattern: Pattern, most: int) -> tuple[TreeRow, ...]:
    """Return the first `most` rows that match a pattern, in document order. Subtrees without a match are skipped."""
    rows: list[TreeRow] = []
    inside: list[Iterator[tuple[Node, Path, int]]] = [iter(() if root is None else ((root, ROOT, START),))]
    while inside and len(rows) < most:
        found = next(inside[-1], None)
        if found is None:
            inside.pop()
            continue
        node, path, states = found
        if states & pattern.accepted:
            assert root is not None
            rows.append(_Looker(root, before).row_of(node, path, len(path), False))
        if states and isinstance(node, ContainerNode):
            inside.append(_children(node, path, pattern, states))
    return tuple(rows)


def searched(root: Node | None, before: Node | None, words: re.Pattern[str], most: int) -> tuple[TreeRow, ...]:
    """Return the first `most` rows whose key or own value contains the words, in document order."""
    if root is None:
        return ()
    looker = _Looker(root, before)
    rows: list[TreeRow] = []
    inside: list[Iterator[tuple[Node, Path]]] = [iter(((root, ROOT),))]
    while inside and len(rows) < most:
        found = next(inside[-1], None)
        if found is None:
            inside.pop()
            continue
        node, path = found
        if (isinstance(path.step, str) and words.search(path.step)) or words.search(_whole_text(node)):
            rows.append(looker.row_of(node, path, len(path), False))
        if isinstance(node, ContainerNode):
            inside.append(_all_children(node, path))
    return tuple(rows)


def _all_children(node: ContainerNode, path: Path) -> Iterator[tuple[Node, Path]]:
    children = node.children
    names: Iterable[str | int] = node.keys if isinstance(node, ObjectNode) else range(len(children))
    for child, name in zip(children, names, strict=True):
        yield child, path / name


def _whole_text(node: Node) -> str:
    if isinstance(node, ContainerNode):
        return ""
    return node.text if isinstance(node, StringNode) else _text(node)


def _children(node: ContainerNode, path: Path, pattern: Pattern, states: int) -> Iterator[tuple[Node, Path, int]]:
    children = node.children
    names: Iterable[str | int] = node.keys if isinstance(node, ObjectNode) else range(len(children))
    for child, name in zip(children, names, strict=True):
        after = pattern.advance(states, name)
        if after:
            yield child, path / name, after


@final
class _Hidden:
    """The folded nodes as ranges of ids; no range is inside another."""

    def __init__(self, root: Node, folded: Iterable[int]) -> None:
        self._first = root.id
        self._starts: list[int] = []  # the ids of the folded nodes
        self._counts: list[int] = []  # the rows that each of them hides, together with those before it
        hidden, beyond = 0, root.id
        for folded_id in sorted(set(folded)):
            node = root.find(folded_id) if folded_id >= beyond else None
            if isinstance(node, ContainerNode) and len(node):
                last = _last_id(node)
                hidden, beyond = hidden + last - folded_id, last + 1
                self._starts.append(folded_id)
                self._counts.append(hidden)
        self.nodes = frozenset(self._starts)
        """The ids of the folded nodes."""
        self.total = _last_id(root) - root.id + 1 - hidden

    def id_of(self, row: int) -> int:
        low, high = 0, len(self._starts)
        while low < high:  # the number of folded nodes above this row
            middle = (low + high) // 2
            above = self._counts[middle - 1] if middle else 0
            if self._starts[middle] - self._first - above < row:
                low = middle + 1
            else:
                high = middle
        return self._first + row + (self._counts[low - 1] if low else 0)


def _last_id(node: Node) -> int:
    while isinstance(node, ContainerNode) and len(node):
        node = node.child(len(node) - 1)
    return node.id


@final
class _Looker:
    """Finds nodes by their ids and caches the keys of objects on the way."""

    def __init__(self, root: Node, before: Node | None) -> None:
        self._root = root
        self._before = before
        self._keys: dict[int, tuple[str, ...]] = {}  # of objects, by id

    def row(self, id: int, hidden: _Hidden) -> TreeRow:
        path, depth, node = ROOT, 0, self._root
        while node.id != id:
            child = node.child_around(id)
            assert child is not None  # ids have no gaps
            path, depth = path / self._step(node, child), depth + 1
            node = child
        return self.row_of(node, path, depth, id in hidden.nodes)

    def row_of(self, node: Node, path: Path, depth: int, is_folded: bool) -> TreeRow:
        mark = self._mark(node)
        return TreeRow(node.id, depth, path, node.kind, not node.closed, mark, _text(node), _size(node), is_folded)

    def _step(self, parent: Node, child: Node) -> str | int:
        assert isinstance(parent, ContainerNode)
        low, high = 0, len(parent) - 1
        while low < high:  # the index of the child, by its id
            middle = (low + high) // 2
            if parent.child(middle).id < child.id:
                low = middle + 1
            else:
                high = middle
        if not isinstance(parent, ObjectNode):
            return low
        keys = self._keys.get(parent.id)
        if keys is None:
            keys = self._keys[parent.id] = parent.keys
        return keys[low]

    def _mark(self, node: Node) -> str:
        old = None if self._before is None else self._before.find(node.id)
        if old is None:
            return "new"
        return "" if old is node or (old.closed and node.closed) else "grown"


def _size(node: Node) -> int:
    if isinstance(node, ContainerNode):
        return len(node)
    return len(node.text) if isinstance(node, StringNode) else 0


def _text(node: Node) -> str:
    if isinstance(node, ContainerNode):
        return "[]" if isinstance(node, ArrayNode) else "{}"
    if isinstance(node, StringNode):
        text = node.text
        if len(text) > MAX_TEXT:  # strings grow at the end, so most of the end stays visible
            text = f"{text[: MAX_TEXT // 4]}…{text[-MAX_TEXT * 3 // 4 :]}"
        spelled = json.dumps(text, ensure_ascii=False)
        return spelled if node.closed else spelled[:-1]
    return leaf_text(node.value, getattr(node, "raw", None))
