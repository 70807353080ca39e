"""Unions, and what can be asked only through them: which shape takes a node, which kinds of value may fit.

A union may contain references, other unions, and itself. So whoever asks goes through all of them, and through each
once.
"""

# Compiled with mypyc.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .._native import mypyc_attr
from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, ObjectNode
from ._shape import (
    ALL_KINDS,
    OBJECT,
    AnyShape,
    ArrayShape,
    DeferredShape,
    MapShape,
    ObjectShape,
    RefShape,
    Shape,
    ShapeError,
    TupleShape,
)

if TYPE_CHECKING:
    from .._tree.nodes import Node

__all__ = ["UnionShape", "asks_for_values", "chosen", "kinds_of"]


@mypyc_attr(allow_interpreted_subclasses=True)
class UnionShape(Shape):
    """One of several shapes.

    The kind of the value decides when only one branch takes it; else, for objects, the value of the `discriminator`
    key as soon as that is closed; else `make`, which gets the closed node and judges it as a whole. Until it is decided
    nothing is shown.
    """

    def __init__(
        self,
        branches: Sequence[Shape],
        make: Callable[[Node], object],
        *,
        discriminator: str | None = None,
        tags: Mapping[tuple[str, object], Shape] | None = None,
        expected: str = "one of several",
        is_atomic: bool = False,
        is_lenient: bool = False,
    ) -> None:
        super().__init__(ALL_KINDS, expected, is_atomic, is_lenient)  # which kinds, `kinds_of` finds out
        self.branches = branches
        self.make = make
        self.discriminator = discriminator
        self.tags: Mapping[tuple[str, object], Shape] = tags or {}  # by kind and value: True is not 1
        self._by_kind: dict[str, list[Shape]] = {}

    def branches_for(self, kind: str) -> list[Shape]:
        """The branches that may take a value of this kind."""
        branches = self._by_kind.get(kind)
        if branches is None:
            branches = self._by_kind[kind] = [branch for branch in self.branches if kind in kinds_of(branch)]
        return branches

    def branch_for(self, node: Node) -> Shape | None:
        """The branch that takes this node; None as long as that cannot be told."""
        branches = self.branches_for(node.kind)
        if len(branches) == 1:
            return branches[0]
        if not branches:
            raise ShapeError.of("wrong_kind", self.expected)
        if self.discriminator is None or node.kind != OBJECT:
            return None
        tag = first_child(node, self.discriminator)
        if tag is None or not (tag.closed or isinstance(tag, ContainerNode)):
            return None
        branch = None if isinstance(tag, ContainerNode) else self.tags.get((tag.kind, tag.value))
        if branch is None:
            raise ShapeError.of("unknown_tag", "a known " + repr(self.discriminator), Path(ROOT, self.discriminator))
        return branch


def first_child(node: Node, key: str) -> Node | None:
    """The first child under a key: one that comes again later must not change what is already decided."""
    assert isinstance(node, ObjectNode)
    try:
        return node._items[node._keys.index(key, 0, node._size)]
    except ValueError:
        return node._open[0] if node._open_key == key else None


def kinds_of(shape: Shape) -> frozenset[str]:
    """The kinds that may fit, through references and unions, also where these contain themselves."""
    kinds: set[str] = set()
    seen: set[int] = set()
    to_ask = [shape]
    while to_ask:
        one = to_ask.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, RefShape):
            to_ask.append(one.target)
        elif isinstance(one, UnionShape):
            to_ask.extend(one.branches)
        else:
            kinds |= one.kinds
    return frozenset(kinds)


def chosen(shape: Shape, node: Node) -> tuple[Shape, bool]:
    """The shape that takes this node, through references and unions, and whether it is shown only when complete.

    A union comes back as itself as long as its branch cannot be told. Raises `ShapeError` where there is none.
    """
    is_atomic = shape.is_atomic
    while True:
        if isinstance(shape, RefShape):
            shape = shape.target
        elif isinstance(shape, UnionShape):
            branch = shape.branch_for(node)
            if branch is None:
                return shape, is_atomic
            shape = branch
        else:
            return shape, is_atomic
        is_atomic = is_atomic or shape.is_atomic


def asks_for_values(shape: Shape) -> bool:
    """Somewhere in it an open object or array may be shown as the plain value that it is."""
    seen: set[int] = set()
    to_ask: list[Shape | None] = [shape]
    while to_ask:
        one = to_ask.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, AnyShape):
            return True
        if isinstance(one, RefShape):
            to_ask.append(one.target)
        elif isinstance(one, UnionShape):
            to_ask.extend(one.branches)
            to_ask.extend(one.tags.values())
        elif isinstance(one, DeferredShape):
            to_ask.append(one.shown)
        elif isinstance(one, ObjectShape):
            to_ask.extend([field.shape for field in one.fields.values()])
            to_ask.append(one.extra)
        elif isinstance(one, (ArrayShape, MapShape)):
            to_ask.append(one.item)
            if isinstance(one, TupleShape):
                to_ask.extend(one.places)
    return False
