"""A container while it is resolved: its children one after the other, then what is made or shown of them all.

`begin` looks at a node. A leaf, and what is judged as a whole, it resolves at once; for any other container it puts a
`Builder` on the stack, so that nesting is a matter of the stack and not of recursion.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, cast, final

from .._path import ROOT, Path
from .._sharing import appended
from .._tree.nodes import ContainerNode, ObjectNode, StringNode
from ._frames import (
    HIDDEN,
    Found,
    Frame,
    Known,
    Outcome,
    found,
    frame_of,
    is_same,
    is_same_content,
    shown_child,
    shown_of,
)
from ._shape import (
    AnyShape,
    ArrayShape,
    DeferredShape,
    IgnoredShape,
    LeafShape,
    MapShape,
    ObjectShape,
    Problem,
    Shape,
    ShapeError,
    TupleShape,
    followed,
)
from ._unions import UnionShape, chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._path import Step
    from .._tree.nodes import Node

__all__ = ["Builder", "begin"]


@final
class Builder:
    """One container while it is resolved: takes what became of its children, one after the other."""

    __slots__ = (
        "child_shape",
        "count",
        "current",
        "found",
        "found_size",
        "frame",
        "has_news",
        "hides",
        "is_broken",
        "is_draft",
        "name",
        "node",
        "opened",
        "shape",
        "shown_child",
        "size",
        "step",
        "values",
    )

    def __init__(self, node: ContainerNode, shape: Shape, frame: Frame | None, hides: bool, is_draft: bool) -> None:
        self.node = node
        self.shape = shape
        self.hides = hides
        self.is_draft = is_draft
        self.current: Node | None = None  # the child that is being resolved
        self.step: Step | None = None  # to that child
        self.name: object = None
        self.child_shape: Shape | None = None
        self.opened: Outcome | None = None  # what became of the open child
        self.has_news = False  # something is shown that was not before
        if frame is not None and (frame.known.shape is not shape or not frame.known.fits(node)):
            frame = None
        self.frame = frame
        if frame is not None:
            known = frame.known
            self.count = known.count
            self.values: list[object] | dict[object, object] = known.values
            self.size = known.size
            self.is_broken = known.is_broken
            self.found = known.found
            self.found_size = known.found_size
            self.shown_child = frame.shown_child
        else:
            self.count = 0
            self.values = [] if isinstance(shape, ArrayShape) else {}
            self.size = 0
            self.is_broken = False
            self.found = []
            self.found_size = 0
            self.shown_child = HIDDEN

    def next_child(self) -> Node | None:
        """The next one to resolve: those that closed, in their order, then the open one."""
        node = self.node
        if self.count < node._size:
            self.current = node._items[self.count]
        elif node._open and self.opened is None:
            self.current = node._open[0]
        else:
            self.current = None
        return self.current

    def begin_child(self, child: Node, stack: list[Builder]) -> Outcome | None:
        """Find the shape of a child, and begin with it."""
        node, shape, index = self.node, self.shape, self.count
        frame = self.frame
        inner = frame_of(frame.child) if frame is not None and frame.known.count == index else None
        self.child_shape = None
        if isinstance(shape, ArrayShape):
            self.step = index
            if shape.max_items is not None and index >= shape.max_items:
                return failure(shape, ShapeError.of("too_many_items", shape.expected))
            self.child_shape = shape.item_at(index)
            return begin(self.child_shape, child, inner, stack)
        assert isinstance(node, ObjectNode)
        key = node._keys[index] if index < node._size else cast("str", node._open_key)
        self.step = key
        if isinstance(shape, ObjectShape):
            field = shape.field(key)
            if field is None:
                return failure(shape, ShapeError.of("extra_key", "no such key"))
            self.name = field.name
            item, most = field.shape, shape.max_keys
        else:
            mapping = cast("MapShape", shape)
            item, most, self.name = mapping.item, mapping.max_keys, key
            if mapping.check_key is not None:
                self.name = self._checked(mapping.check_key, key)
                if isinstance(self.name, ShapeError):
                    return failure(shape, self.name)
        if most is not None and index >= most:
            return failure(shape, ShapeError.of("too_many_keys", shape.expected))
        self.child_shape = item
        return begin(item, child, inner, stack)

    def _checked(self, check_key: Callable[[str], object], key: str) -> object:
        """The name for a key, or what is wrong with it: asked for once, when its value begins."""
        if self.frame is not None:
            known = self.frame.known
            if known.count == self.count and known.step == key:
                return known.name
        try:
            return check_key(key)
        except ShapeError as error:
            return error

    def take(self, outcome: Outcome) -> None:
        """What became of the child that `next_child` gave."""
        child = self.current
        assert child is not None
        if not child.closed:
            self.opened = outcome
            return
        value = shown_child(self.shape, outcome) if outcome.is_broken else outcome.value
        if value is HIDDEN and isinstance(self.shape, TupleShape) and self._does_not_fit(outcome):
            value = None  # or those behind it would be shown in the wrong place
        # The child that was open is shown already, as far as it is the same now; whatever else is shown is new.
        if not is_same(self.shown_child, value):
            self.has_news = True
        self.shown_child = HIDDEN
        self.count += 1
        if outcome.is_wrong:
            self.is_broken = True
            for one in outcome.found:
                self.found = appended(self.found, self.found_size, Found(one.problem, self.step, one))
                self.found_size += 1
        if value is not HIDDEN:
            values = self.values
            if isinstance(values, list):
                self.values = appended(values, self.size, value)
                self.size += 1
            else:
                if self.frame is not None and values is self.frame.known.values:
                    values = self.values = dict(values)
                values[self.name] = value

    def _does_not_fit(self, outcome: Outcome) -> bool:
        """The child has a place, but what stands there is not right for it, or did not look so where nobody judges."""
        has_place = self.child_shape is not None and not isinstance(self.child_shape, IgnoredShape)
        return has_place and (outcome.is_wrong or self.shape.is_lenient)

    def finish(self) -> Outcome:
        """All children were taken."""
        return self._make() if self.node.closed else self._show()

    def _make(self) -> Outcome:
        wrong = tuple(self.found[: self.found_size])
        if not self.is_broken:
            try:
                made = self._made()
                # Where only the bracket came, nothing visible has changed.
                is_shown = self.frame is not None and is_same_content(self.frame.value, made)
                return Outcome(self.frame.value if self.frame is not None and is_shown else made)
            except ShapeError as error:
                if self.shape.is_lenient:
                    return Outcome(HIDDEN)
                wrong = found(error, self.shape)
        return Outcome(self._shown(HIDDEN), wrong, is_broken=True)

    def _made(self) -> object:
        shape, values = self.shape, self.values
        if isinstance(values, list):
            items = values[: self.size]
            make_list = cast("ArrayShape", shape).make
            return items if make_list is None else make_list(items)
        members = dict(values)
        if isinstance(shape, ObjectShape):
            absent = [key for key in shape.required if shape.fields[key].name not in members]
            if absent and not shape.is_lenient:
                raise ShapeError([Problem(Path(ROOT, key), "missing", "a required key") for key in absent])
            return shape.make(cast("dict[str, object]", members))
        make_map = cast("MapShape", shape).make
        return members if make_map is None else make_map(members)

    def _show(self) -> Outcome:
        opened = self.opened
        child: object = HIDDEN
        is_broken = self.is_broken
        if opened is not None:
            is_broken = is_broken or opened.is_wrong
            child = shown_child(self.shape, opened)
        else:
            self.step = self.name = self.child_shape = None
        known = Known(
            self.shape,
            self.hides,
            self.count,
            self.node._items[self.count - 1] if self.count else None,
            self.values,
            self.size,
            self.is_broken,
            self.found,
            self.found_size,
            self.step,
            self.name,
            self.child_shape,
            self.is_draft,
        )
        return Frame(self._shown(child), is_broken, known, opened, child)

    def _shown(self, child: object) -> object:
        """What is shown with this of the open child: the same object as long as nothing visible has changed."""
        if self.hides:
            return HIDDEN
        frame = self.frame
        is_shown = not self.has_news and is_same(self.shown_child, child)
        if frame is not None and is_shown and (child is HIDDEN or frame.known.name == self.name):
            return frame.value
        return shown_of(self.shape, self.values, self.size, self.name, child)


def begin(shape: Shape, node: Node, frame: Frame | None, stack: list[Builder]) -> Outcome | None:
    """What becomes of a leaf or of what is judged as a whole. For other containers None, and a builder on the stack."""
    current = shape
    is_draft = False
    if frame is not None and frame.known.count > 0:
        known = frame.known
        if isinstance(node, ContainerNode) and known.fits(node) and not (known.is_draft and node.closed):
            stack.append(Builder(node, known.shape, frame, known.hides, known.is_draft))
            return None
    try:
        current, hides = chosen(shape, node)
        while isinstance(current, DeferredShape) and not node.closed:
            if node.kind not in current.kinds:
                raise ShapeError.of("wrong_kind", current.expected)
            if current.shown is None:
                return Outcome(HIDDEN)
            current = current.shown  # also for what is wrong with it
            current, is_atomic = chosen(current, node)
            hides = hides or is_atomic
            is_draft = True
        if isinstance(current, UnionShape):
            return Outcome(current.make(node) if node.closed else HIDDEN)
        if node.kind not in current.kinds:
            raise ShapeError.of("wrong_kind", current.expected)
        if isinstance(current, LeafShape):
            return _leaf(current, node, hides)
        if isinstance(current, DeferredShape):
            return Outcome(current.make(node))
    except ShapeError as error:
        return failure(current, error)
    if isinstance(current, AnyShape):
        return Outcome(HIDDEN if hides and not node.closed else node.value)
    if isinstance(current, IgnoredShape):
        return Outcome(HIDDEN)
    stack.append(Builder(cast("ContainerNode", node), current, frame, hides, is_draft))
    return None


def _leaf(shape: LeafShape, node: Node, hides: bool) -> Outcome:
    if not isinstance(node, StringNode):
        return Outcome(node.value if shape.make is None else shape.make(node))
    text = node.text
    literals = shape.literals
    if shape.max_length is not None and len(text) > shape.max_length:
        raise ShapeError.of("too_long", shape.expected)
    if node.closed:
        if literals is not None:
            if text not in literals:
                raise ShapeError.of("not_one_of", shape.expected)
            return Outcome(literals[text])
        return Outcome(text if shape.make is None else shape.make(node))
    if literals is not None:
        possible = shape.literals_from(text)
        if not possible:
            raise ShapeError.of("not_one_of", shape.expected)
        is_certain = shape.early and len(possible) == 1 and not hides
        return Outcome(literals[possible[0]] if is_certain else HIDDEN)
    return Outcome(text if shape.streams and not hides else HIDDEN)


def failure(shape: Shape, error: ShapeError) -> Outcome:
    """A node that does not fit; where nothing is judged, one that is not shown."""
    if followed(shape).is_lenient:
        return Outcome(HIDDEN)
    return Outcome(HIDDEN, found(error, shape), is_broken=True)
