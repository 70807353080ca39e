"""A shape and the tree of a text so far, to a typed value: each part made once, unchanged parts the same objects.

Resolving goes down the tree and comes back up with values. An open container leaves an `OpenResult` behind: the values
of its closed children, and the result of the open one. The next state starts from there, so a fragment costs the work
for the open containers and for the new values.

Results never change once they are made. Their lists grow, but each result sees its own part of them (`_sharing`). So an
older cache stays valid, and two futures of one past can both be resolved from it. A result is used again only where its
last closed child is the very node of the new tree.

The value of an open container is a copy of all that it holds, so it is made when someone asks for it
(`shown_value`). Until then its result stands for it. Most fragments only make the open string longer: a `LongerResult`
stands for the result around the new text until it is asked for, or until anything else changes.

Nesting costs no recursion. `begin` resolves a leaf, and any value that is judged as a whole, at once; for each other
container it puts a `Builder` on a stack. The builder takes the results of the children one by one.
"""

# Compiled with mypyc.
from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

from .._missing import MISSING
from .._native import mypyc_attr
from .._path import ROOT, Path
from .._sharing import GrowingMap, appended
from .._tree.nodes import ContainerNode, ObjectNode, StringNode
from ._outcome import UNMADE, Complete, Invalid, Missing, Partial, Resolution
from ._shape import (
    AnyShape,
    ArrayShape,
    DeferredShape,
    Held,
    IgnoredShape,
    LeafShape,
    MapShape,
    ObjectShape,
    Problem,
    Shape,
    ShapeError,
    TupleShape,
    UnionShape,
    chosen,
    followed,
)

if TYPE_CHECKING:
    from .._path import Step
    from .._state import ParserState
    from .._tree.fold import OpenText
    from .._tree.nodes import Node

__all__ = [
    "CONTEXT",
    "HIDDEN",
    "NO_MEMBERS",
    "OMITTED",
    "Build",
    "Cache",
    "FoundProblem",
    "LongerResult",
    "NodeResult",
    "OpenResult",
    "instances_of",
    "invalid_with",
    "is_same",
    "resolve",
    "resolve_node",
    "resolve_tree",
    "result_of",
    "reviewed",
    "shown_value",
]

HIDDEN: Final = object()  # the value of a node that shows nothing
NO_MEMBERS: Final = GrowingMap()
ANY_ARRAY: Final = ArrayShape(AnyShape())
ANY_OBJECT: Final = MapShape(AnyShape())
NOTHING_FOUND: Final[tuple[FoundProblem, ...]] = ()
OMITTED: Final = "omitted"
NOT_OMITTED: Final = Problem(ROOT, OMITTED, "a value that its type does not omit")


@final
class FoundProblem:
    """A problem on its way up: each container adds its step, and `with_path` makes the path.

    With `covers`, nothing inside the node was judged. Otherwise all of it was, before the node itself.
    """

    __slots__ = ("cause", "covers", "inner", "problem", "step")

    def __init__(
        self,
        problem: Problem,
        step: Step | None,
        inner: FoundProblem | None,
        cause: BaseException | None,
        covers: bool = False,
    ) -> None:
        self.problem = problem
        self.step = step
        self.inner = inner
        self.cause = cause  # the exception of a validator
        self.covers = covers

    def place(self, steps: list[Step]) -> list[Step]:
        """Return the steps to the node that was judged, which begin with these steps."""
        steps = list(steps)
        one: FoundProblem | None = self
        while one is not None:
            if one.step is not None:
                steps.append(one.step)
            one = one.inner
        return steps

    def with_path(self, steps: list[Step]) -> Problem:
        """Return the problem with its whole path, which begins with these steps."""
        problem = self.problem
        place = self.place(steps)
        path = Path.of(*place, *problem.path.steps)
        loc = (*place, *problem.loc) if problem.message else ()
        return Problem(path, problem.code, problem.expected, problem.message, loc, problem.is_by_validator)


class NodeResult:
    """The result of one node: its value, whole or half filled, or HIDDEN, and the problems in it.

    A broken node will never be valid; its value leaves the invalid parts out. An open container makes its value later,
    and keeps its problems elsewhere (`OpenResult`).
    """

    __slots__ = ("found", "is_broken", "value")

    def __init__(self, value: object, found: tuple[FoundProblem, ...] = NOTHING_FOUND, is_broken: bool = False) -> None:
        self.value = value
        self.found = found
        self.is_broken = is_broken

    @property
    def shown(self) -> object:
        """What is shown of the node: its value, or the result that makes the value of an open container.

        Two results show the same if this is the same object, or an equal string.
        """
        return self.value

    @property
    def settled(self) -> NodeResult:
        """The result from which the next one can start."""
        return self

    def value_or_none(self) -> object:
        """Return the value that is shown; None if there is none."""
        value = shown_value(self.shown)
        return None if value is HIDDEN else value

    @property
    def is_wrong(self) -> bool:
        """Whether there is a problem somewhere in the node."""
        return self.is_broken or len(self.found) > 0

    def cause(self) -> BaseException | None:
        """Return the exception behind the first problem, if a validator raised one."""
        found = self.all_found()
        return found[0][1].cause if found else None

    def all_found(self) -> list[tuple[list[Step], FoundProblem]]:
        """Return all problems, from the root of the open containers inwards, each with the steps around it."""
        found: list[tuple[list[Step], FoundProblem]] = []
        steps: list[Step] = []
        inner: NodeResult | None = self.settled
        while isinstance(inner, OpenResult):
            known = inner.known
            found += [(steps, one) for one in known.found[: known.found_size]]
            if known.forgives:
                return found
            if known.step is not None:
                steps = [*steps, known.step]
            inner = inner.child
        return found if inner is None else found + [(steps, one) for one in inner.found]

    def problems(self) -> list[Problem]:
        """Return all problems with their paths."""
        return [one.with_path(steps) for steps, one in self.all_found()]


@final
@mypyc_attr(free_list_len=1)
class Known:
    """The part of an open container that stays the same until one of its children closes.

    `count` children are closed, and `values` holds the values of those that are shown: in a list, or by name. The rest
    says how to resolve the open child.
    """

    __slots__ = (
        "child_shape",
        "count",
        "forgives",
        "found",
        "found_size",
        "hides",
        "is_broken",
        "is_draft",
        "last_child",
        "name",
        "shape",
        "size",
        "step",
        "values",
    )

    def __init__(
        self,
        shape: Shape,
        hides: bool,
        count: int,
        last_child: Node | None,
        values: list[object] | GrowingMap,
        size: int,
        is_broken: bool,
        found: list[FoundProblem],
        found_size: int,
        step: Step | None,
        name: object,
        child_shape: Shape | None,
        is_draft: bool,
        forgives: bool,
    ) -> None:
        self.shape = shape
        self.hides = hides  # the container is shown only when it is complete
        self.count = count
        self.last_child = last_child  # the last closed one
        self.values = values
        self.size = size  # of a list; other results may have made it longer
        self.is_broken = is_broken  # one of the closed children is invalid
        self.found = found  # the problems of the closed children
        self.found_size = found_size
        self.step = step  # to the open child
        self.name = name  # of the open child among the values; a ShapeError for a forbidden key
        self.child_shape = child_shape  # None: no child is open, or it is forbidden
        self.forgives = forgives  # the open child may be wrong: another key may win over it
        self.is_draft = is_draft  # this shape only shows the open container; another one judges it when it closes

    def fits(self, node: ContainerNode) -> bool:
        """Return whether the known closed children are those of the node."""
        count = self.count
        return count == 0 or (count <= node._size and node._items[count - 1] is self.last_child)

    def fits_around(self, node: Node) -> bool:
        """Return whether only the open child of the node can have changed, and has the same key or index."""
        if self.child_shape is None or node.closed or not isinstance(node, ContainerNode) or not node._open:
            return False
        if node._size != self.count or not self.fits(node):
            return False
        return self.step == node._open_key if isinstance(node, ObjectNode) else isinstance(self.values, list)


@final
@mypyc_attr(free_list_len=1)
class OpenResult(NodeResult):
    """The result of an open container: its known part, and the result of its open child.

    The value is HIDDEN, or UNMADE until someone asks for it. If an earlier result shows the same, that one makes the
    value for both: `origin`.
    """

    __slots__ = ("child", "known", "origin", "shown_child")

    def __init__(
        self, known: Known, child: NodeResult | None, shown_child: object, is_broken: bool, before: OpenResult | None
    ) -> None:
        """`before` is an earlier result that shows the same, if there is one."""
        self.found = NOTHING_FOUND  # its problems are in `known` and in `child`
        self.is_broken = is_broken
        self.known = known
        self.child = child
        self.shown_child = shown_child
        self.origin: OpenResult | None = None
        if before is None:
            shape, values, name = known.shape, known.values, known.name
            self.value = UNMADE
            if known.hides or lacks_field(shape, values, name, shown_child):
                self.value = HIDDEN
            elif shape.may_hide:
                self.value = shown_of(shape, values, known.size, name, shown_child)
        else:
            self.value = before.value
            self.origin = before if before.origin is None else before.origin

    @property
    def shown(self) -> object:
        if self.value is HIDDEN:
            return HIDDEN
        return self if self.origin is None else self.origin

    def renewed(self, child: NodeResult) -> OpenResult:
        """Return the result of the container after a change of its open child only."""
        known = self.known
        shown = shown_child(known.shape, child)
        before = self if known.hides or is_same(self.shown_child, shown) else None
        is_broken = known.is_broken or (child.is_wrong and not known.forgives)
        return OpenResult(known, child, shown, is_broken, before)


@final
@mypyc_attr(free_list_len=1)
class OpenString(NodeResult):
    """The result of an open string that shows its text, or nothing, whatever the text is.

    `max_length` limits its length; None: there is no limit.
    """

    __slots__ = ("max_length",)

    def __init__(self, value: object, max_length: int | None) -> None:
        self.value = value
        self.found = NOTHING_FOUND
        self.is_broken = False
        self.max_length = max_length


@final
@mypyc_attr(free_list_len=1)
class LongerResult(NodeResult):
    """The result of a root in which only the open string has more text than in the result `base`."""

    __slots__ = ("_settled", "_text", "base")

    def __init__(self, base: NodeResult, text: OpenText) -> None:
        self.value = UNMADE
        self.found = NOTHING_FOUND
        self.is_broken = False
        self.base = base
        self._text = text
        self._settled: NodeResult | None = None

    @property
    def shown(self) -> object:
        return self.settled.shown

    @property
    def settled(self) -> NodeResult:
        made = self._settled
        if made is None:
            around: list[OpenResult] = []
            inner = self.base
            while isinstance(inner, OpenResult):
                around.append(inner)
                inner = cast("NodeResult", inner.child)
            made = OpenString(self._text.text(), cast("OpenString", inner).max_length)
            for outer in reversed(around):
                made = outer.renewed(made)
            if self._settled is None:  # or another thread was faster
                self._settled = made
        return cast("NodeResult", self._settled)


def shown_value(shown: object) -> object:
    """Return the value that is shown; that of an open container is made when someone asks for it the first time."""
    if not isinstance(shown, OpenResult):
        return shown
    if shown.value is UNMADE:
        to_make: list[OpenResult] = []
        inner: object = shown
        while isinstance(inner, OpenResult) and inner.value is UNMADE:
            to_make.append(inner)
            inner = inner.shown_child
        for result in reversed(to_make):
            known = result.known
            value = shown_of(known.shape, known.values, known.size, known.name, result.shown_child)
            if result.value is UNMADE:  # or another thread was faster
                result.value = value
    return shown.value


def lacks_field(shape: Shape, values: list[object] | GrowingMap, name: object, child: object) -> bool:
    """Return whether an object lacks a field that it is not shown without. `child` is shown for the open child."""
    if isinstance(shape, ObjectShape) and shape.holding and not isinstance(values, list):
        for field in shape.holding:
            if values.get(field, HIDDEN) is HIDDEN and (child is HIDDEN or field != name):
                return True
    return False


def open_result(result: NodeResult | None) -> OpenResult | None:
    """Return the result that the next one can start from: only an open container has one."""
    return result if isinstance(result, OpenResult) else None


def shown_of(shape: Shape, values: list[object] | GrowingMap, size: int, name: object, child: object) -> object:
    """Return the shown value of an open container, made of the values of its closed children and of the open one."""
    if isinstance(values, list):
        array = cast("ArrayShape", shape)
        items = values[:size]
        if child is not HIDDEN:
            items.append(shown_value(child))
        return items if array.show is None else array.show(items)
    members = values.as_dict()
    if child is not HIDDEN:
        members[name] = shown_value(child)
    if isinstance(shape, ObjectShape):
        return shape.show(cast("dict[str, object]", members))
    show_map = cast("MapShape", shape).show
    return members if show_map is None else show_map(members)


def shown_child(shape: Shape, result: NodeResult) -> object:
    """Return the value that a container shows for an open or broken child."""
    return HIDDEN if isinstance(shape, ArrayShape) and shape.whole_items else result.shown


def found_problems(error: ShapeError, shape: Shape, before: int, *, covers: bool) -> tuple[FoundProblem, ...]:
    """Return the problems of an error; an error without any counts as one problem. The text has `before` others."""
    explain = error.explain
    problems = error.problems if explain is None else explain(before)
    problems = problems or (Problem(ROOT, "invalid", shape.expected),)
    return tuple(
        [FoundProblem(one, None, None, error.causes.get(number), covers) for number, one in enumerate(problems)]
    )


def is_same(one: object, other: object) -> bool:
    """Return whether two results show the same object. Strings are compared, because each tree has new ones."""
    if one is other:
        return True
    if isinstance(one, OpenResult):  # the container may have closed with the value that it showed
        return not isinstance(other, OpenResult) and shown_value(one) is other
    return type(one) is str and type(other) is str and one == other


def is_same_content(one: object, other: object) -> bool:
    """Return whether these are two plain lists, or two plain dicts, of the same objects."""
    if one.__class__ is list and other.__class__ is list:
        items, others = cast("list[object]", one), cast("list[object]", other)
        return len(items) == len(others) and all(map(is_same, items, others))
    if one.__class__ is dict and other.__class__ is dict:
        members, more = cast("dict[object, object]", one), cast("dict[object, object]", other)
        same_keys = len(members) == len(more) and all(map(is_same, members, more))
        return same_keys and all(map(is_same, members.values(), more.values()))
    return False


@final
@mypyc_attr(free_list_len=1)
class Builder:
    """One container while it is resolved: takes the results of its children, one after the other."""

    __slots__ = (
        "before",
        "child_shape",
        "count",
        "current",
        "forgives",
        "found",
        "found_size",
        "has_news",
        "hides",
        "is_broken",
        "is_draft",
        "last",
        "name",
        "node",
        "opened",
        "shape",
        "shown_child",
        "size",
        "step",
        "values",
    )

    def __init__(
        self, node: ContainerNode, shape: Shape, last: OpenResult | None, hides: bool, is_draft: bool, before: int
    ) -> None:
        self.before = before  # the number of problems in the text before this container
        self.node = node
        self.shape = shape
        self.hides = hides
        self.is_draft = is_draft
        self.current: Node | None = None  # the child that is being resolved
        self.step: Step | None = None  # to that child
        self.name: object = None
        self.child_shape: Shape | None = None
        self.opened: NodeResult | None = None  # the result of the open child
        self.forgives = False  # the child may be wrong: another key may win over it
        self.has_news = False  # the shown value has changed
        if last is not None and (last.known.shape is not shape or not last.known.fits(node)):
            last = None
        self.last = last
        if last is not None:
            known = last.known
            self.count = known.count
            self.values: list[object] | GrowingMap = known.values
            self.size = known.size
            self.is_broken = known.is_broken
            self.found = known.found
            self.found_size = known.found_size
            self.shown_child = last.shown_child
        else:
            self.count = 0
            self.values = [] if isinstance(shape, ArrayShape) else NO_MEMBERS
            self.size = 0
            self.is_broken = False
            self.found = []
            self.found_size = 0
            self.shown_child = HIDDEN

    def next_child(self) -> Node | None:
        """Return the next child to resolve: new closed ones, in their order, then the open one."""
        node = self.node
        if self.count < node._size:
            self.current = node._items[self.count]
        elif node._open and self.opened is None:
            self.current = node._open[0]
        else:
            self.current = None
        return self.current

    def begin_child(self, child: Node, stack: list[Builder]) -> NodeResult | None:
        """Choose the shape of a child, and begin to resolve the child."""
        node, shape, index = self.node, self.shape, self.count
        last = self.last
        before = self.before + self.found_size
        inner = open_result(last.child) if last is not None and last.known.count == index else None
        self.child_shape = None
        if isinstance(shape, ArrayShape):
            self.step = index
            if shape.max_items is not None and index >= shape.max_items:
                return failure(shape, ShapeError.of("too_many_items", shape.expected), before)
            self.child_shape = shape.item_at(index)
            return begin(self.child_shape, child, inner, stack, before)
        assert isinstance(node, ObjectNode)
        key = node._keys[index] if index < node._size else cast("str", node._open_key)
        self.step = key
        if isinstance(shape, ObjectShape):
            field = shape.field(key)
            if field is None:
                return failure(shape, ShapeError.of("extra_key", "no such key"), before)
            self.name = field.name
            item, most = field.shape, shape.max_keys
            if shape.waiting:
                waiting = shape.waiting.get(key)
                self.forgives = waiting is not None and len(waiting.winners) > 0
        else:
            mapping = cast("MapShape", shape)
            item, most, self.name = mapping.item, mapping.max_keys, key
            if mapping.check_key is not None:
                self.name = self._checked(mapping.check_key, key)
                if isinstance(self.name, ShapeError):
                    return failure(shape, self.name, before)
        if most is not None and index >= most:
            return failure(shape, ShapeError.of("too_many_keys", shape.expected), before)
        self.child_shape = item
        return begin(item, child, inner, stack, before)

    def _checked(self, check_key: Callable[[str], object], key: str) -> object:
        """Return the name for a key, or the error. `check_key` is called once, when the value begins."""
        if self.last is not None:
            known = self.last.known
            if known.count == self.count and known.step == key:
                return known.name
        try:
            return check_key(key)
        except ShapeError as error:
            return error

    def take(self, result: NodeResult) -> None:
        """Take the result of the child that `next_child` returned."""
        child = self.current
        assert child is not None
        if not child.closed:
            self.opened = result
            return
        value = shown_value(shown_child(self.shape, result)) if result.is_broken else result.value
        if value is HIDDEN and isinstance(self.shape, TupleShape) and self._does_not_fit(result):
            value = None  # or the next items would move to a wrong index
        held: Held | None = None
        if isinstance(self.shape, ObjectShape) and self.shape.waiting:
            held = self._held(child, result)
            value = value if held is None else held.shown
        # The last value already shows this child if it was open then and looks the same now.
        if not is_same(self.shown_child, value):
            self.has_news = True
        self.shown_child = HIDDEN
        self.count += 1
        if result.is_wrong and not self.forgives:
            self.is_broken = True
            self._find(result.found, cast("Step", self.step))
        if value is not HIDDEN or held is not None:
            values = self.values
            if isinstance(values, list):
                self.values = appended(values, self.size, value)
                self.size += 1
            else:
                self.values = values.put(self.name, value if held is None else held)
        if isinstance(self.shape, ObjectShape) and self.shape.waiting:
            self._settle(self.shape)

    def _find(self, found: tuple[FoundProblem, ...], step: Step) -> None:
        for one in found:
            self.found = appended(
                self.found, self.found_size, FoundProblem(one.problem, step, one, one.cause, one.covers)
            )
            self.found_size += 1

    # Values that are not final when they close

    def _held(self, child: Node, result: NodeResult) -> Held | None:
        """Return the child in a `Held` if it waits for other fields, or is wrong so that no other field may use it."""
        shape, key = cast("ObjectShape", self.shape), cast("str", self.step)
        if key not in shape.fields:
            return None
        waiting = shape.waiting.get(key)
        if result.is_wrong:
            return Held(child, result, result.value, False)
        if waiting is None:
            return None
        value = result.value
        if isinstance(value, Held):
            return value
        # A validator of a leaf may change it. A container that was shown while it was open stays.
        is_shown = waiting.judge is None or _shows_open(self.child_shape, child)
        return Held(child, value, value if is_shown else HIDDEN, True)

    def _settle(self, shape: ObjectShape) -> None:
        """Judge the values that waited for a field which is there now."""
        values = cast("GrowingMap", self.values)
        for key, waiting in shape.waiting.items():
            held = values.get(key)
            if waiting.judge is None or waiting.winners or not isinstance(held, Held) or not held.is_valid:
                continue
            if waiting.needs is None or not _are_final(values, waiting.needs):
                continue
            self.has_news = True
            values = self.values = values.put(key, self._judged(shape, key, held, values))

    def _judged(self, shape: ObjectShape, key: str, held: Held, values: GrowingMap) -> object:
        judge = shape.waiting[key].judge
        assert judge is not None
        try:
            return judge(held, cast("dict[str, object]", values.as_dict()))
        except ShapeError as error:
            self.is_broken = True
            self._find(found_problems(error, shape, self.before + self.found_size, covers=True), key)
            return Held(held.node, None, HIDDEN, False)

    def _settle_all(self, shape: ObjectShape) -> None:
        """At the end of the object, decide which of several keys wins, and judge what could wait until now."""
        values = cast("GrowingMap", self.values).as_dict()
        for key, waiting in shape.waiting.items():
            held = values.get(key)
            if not isinstance(held, Held):
                continue
            if not values.keys().isdisjoint(waiting.winners):
                assert shape.extra is not None  # or no key would win over another one
                self._take_extra(shape.extra, key, held.node, values)
            elif not held.is_valid and isinstance(held.value, NodeResult):
                self.is_broken = True
                if waiting.winners:
                    self._find(held.value.found, key)
            elif held.is_valid and waiting.judge is None:
                values[key] = held.value
        settled = NO_MEMBERS
        for name, value in values.items():
            settled = settled.put(name, value)
        self.values = settled

    def _take_extra(self, extra: Shape, key: str, node: Node, values: dict[object, object]) -> None:
        result = resolve_node(extra, node, None, self.before + self.found_size)
        values[key] = result.value
        if result.is_wrong:
            self.is_broken = True
            self._find(result.found, key)
        if result.value is HIDDEN:
            del values[key]

    def _does_not_fit(self, result: NodeResult) -> bool:
        """Return whether a tuple has a place for the child, but the child is wrong, or hidden by a lenient shape."""
        is_ignored = False
        if isinstance(self.child_shape, IgnoredShape):
            shape = cast("TupleShape", self.shape)
            is_ignored = self.count >= len(shape.places)
        has_place = self.child_shape is not None and not is_ignored
        return has_place and (result.is_wrong or self.shape.is_lenient)

    def finish(self) -> NodeResult:
        """Return the result of the container, once all children were taken."""
        return self._make() if self.node.closed else self._show()

    def _make(self) -> NodeResult:
        if isinstance(self.shape, ObjectShape) and self.shape.waiting:
            self._settle_all(self.shape)
        wrong = tuple(self.found[: self.found_size])
        if not self.is_broken:
            try:
                whole = self._made()
                # If only the closing bracket came, nothing visible has changed.
                last = self.last
                if last is not None and whole.__class__ in (list, dict):
                    shown = shown_value(last.shown)
                    if is_same_content(shown, whole):
                        whole = shown
                return NodeResult(whole)
            except ShapeError as error:
                if self.shape.is_lenient:
                    return NodeResult(HIDDEN)
                wrong = found_problems(error, self.shape, self.before + self.found_size, covers=False)
        return NodeResult(self._shown_at_end(), wrong, is_broken=True)

    def _made(self) -> object:
        shape, values = self.shape, self.values
        if isinstance(values, list):
            items = values[: self.size]
            make_list = cast("ArrayShape", shape).make
            return items if make_list is None else make_list(items)
        members = values.as_dict()
        if isinstance(shape, ObjectShape):
            absent: list[str] = []
            for key, names in shape.required:
                for name in names:
                    if name in members:
                        break
                else:
                    absent.append(key)
            if absent and not shape.is_lenient:
                raise ShapeError([Problem(Path(ROOT, key), "missing", "a required key") for key in absent])
            return shape.make(cast("dict[str, object]", members))
        make_map = cast("MapShape", shape).make
        return members if make_map is None else make_map(members)

    def _show(self) -> NodeResult:
        opened = self.opened
        child: object = HIDDEN
        is_broken = self.is_broken
        if opened is not None:
            is_broken = is_broken or (opened.is_wrong and not self.forgives)
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
            self.forgives,
        )
        return OpenResult(known, opened, child, is_broken, self._last_if_same(child))

    def _last_if_same(self, child: object) -> OpenResult | None:
        """Return the last result if it shows the same, with what is shown of the open child now."""
        last = self.last
        is_shown = not self.has_news and is_same(self.shown_child, child)
        is_there = last is not None and is_shown and (child is HIDDEN or is_same(last.known.name, self.name))
        return last if is_there else None

    def _shown_at_end(self) -> object:
        """Return the value that a container shows which has closed and is wrong."""
        if self.hides:
            return HIDDEN
        last = self._last_if_same(HIDDEN)
        if last is not None:
            return shown_value(last.shown)
        if lacks_field(self.shape, self.values, None, HIDDEN):
            return HIDDEN
        return shown_of(self.shape, self.values, self.size, None, HIDDEN)


def _shows_open(shape: Shape | None, node: Node) -> bool:
    """Return whether this shape shows the parts of a container before it closes."""
    if shape is None or not isinstance(node, ContainerNode):
        return False
    current, is_atomic = chosen(shape, node)
    if isinstance(current, DeferredShape):
        return not is_atomic and current.shown is not None
    return not is_atomic and not isinstance(current, UnionShape)


def _are_final(values: GrowingMap, groups: tuple[tuple[str, ...], ...]) -> bool:
    """Return whether one key of each group is there, with a value that was judged."""
    for group in groups:
        for key in group:
            value = values.get(key, HIDDEN)
            if value is not HIDDEN and not isinstance(value, Held):
                break
        else:
            return False
    return True


def begin(shape: Shape, node: Node, last: OpenResult | None, stack: list[Builder], before: int) -> NodeResult | None:
    """Resolve a leaf, or a value that is judged as a whole. For any other container, push a builder and return None.

    The text has `before` problems before this node.
    """
    current = shape
    is_draft = False
    if last is not None and last.known.count > 0:
        known = last.known
        if isinstance(node, ContainerNode) and known.fits(node) and not (known.is_draft and node.closed):
            stack.append(Builder(node, known.shape, last, known.hides, known.is_draft, before))
            return None
    try:
        current, hides = chosen(shape, node)
        while isinstance(current, DeferredShape) and not node.closed:
            if node.kind not in current.kinds:
                raise ShapeError.of("wrong_kind", current.expected)
            if current.shown is None:
                return not_shown(node)
            current = current.shown
            current, is_atomic = chosen(current, node)
            hides = hides or is_atomic
            is_draft = True
        if isinstance(current, UnionShape):
            return NodeResult(current.make(node)) if node.closed else not_shown(node)
        if node.kind not in current.kinds:
            raise ShapeError.of("wrong_kind", current.expected)
        if isinstance(current, LeafShape):
            return _leaf(current, node, hides)
        if isinstance(current, DeferredShape):
            value = current.make(node)
            if last is not None and current.shown is not None and value is node.value:
                # Judged as it is: the parts that were shown stay the same objects.
                shown = _resolve_with_builders(current.shown, node, last, before).value
                value = shown if shown == value else value
            return NodeResult(value)
    except ShapeError as error:
        return failure(current, error, before)
    if isinstance(current, AnyShape):
        if isinstance(node, StringNode) and not node.closed:
            return OpenString(HIDDEN if hides else node.text, None)
        if not isinstance(node, ContainerNode) or (last is None and node.value is not MISSING):
            return NodeResult(HIDDEN if hides and not node.closed else node.value)
        current = ANY_OBJECT if isinstance(node, ObjectNode) else ANY_ARRAY
    if isinstance(current, IgnoredShape):
        return not_shown(node)
    stack.append(Builder(cast("ContainerNode", node), current, last, hides, is_draft, before))
    return None


def not_shown(node: Node) -> NodeResult:
    """Return the result of an open node that shows nothing, whatever is written in it."""
    return OpenString(HIDDEN, None) if isinstance(node, StringNode) and not node.closed else NodeResult(HIDDEN)


def _leaf(shape: LeafShape, node: Node, hides: bool) -> NodeResult:
    if not isinstance(node, StringNode):
        return NodeResult(node.value if shape.make is None else shape.make(node))
    text = node.text
    literals = shape.literals
    if shape.max_length is not None and len(text) > shape.max_length:
        raise ShapeError.of("too_long", shape.expected)
    if node.closed:
        if literals is not None:
            if text not in literals:
                raise ShapeError.of("not_one_of", shape.expected)
            return NodeResult(literals[text])
        return NodeResult(text if shape.make is None else shape.make(node))
    if literals is not None:
        possible = shape.literals_from(text)
        if not possible:
            raise ShapeError.of("not_one_of", shape.expected)
        is_certain = shape.early and len(possible) == 1 and not hides
        return NodeResult(literals[possible[0]] if is_certain else HIDDEN)
    return OpenString(text if shape.streams and not hides else HIDDEN, shape.max_length)


def failure(shape: Shape, error: ShapeError, before: int) -> NodeResult:
    """Return the result of a node that does not fit; a lenient shape hides it instead."""
    if followed(shape).is_lenient:
        return NodeResult(HIDDEN)
    return NodeResult(HIDDEN, found_problems(error, shape, before, covers=True), is_broken=True)


@final
@mypyc_attr(free_list_len=1)
class Cache:
    """The work that `resolve` can use again for a later state."""

    __slots__ = (
        "_context",
        "_is_complete",
        "_open_string",
        "_resolution",
        "_result",
        "_root",
        "_shape",
        "_shows_string",
    )

    def __init__(
        self,
        shape: Shape,
        context: object,
        root: Node | None,
        is_complete: bool,
        result: NodeResult,
        resolution: Resolution[object],
    ) -> None:
        self._shape = shape
        self._context = context
        self._root = root
        self._is_complete = is_complete
        self._result = result
        self._resolution = resolution
        # What more text means for the open string. UNMADE: not known yet; None: the tree must be resolved.
        self._open_string: object = UNMADE
        self._shows_string = False

    @property
    def root(self) -> Node | None:
        """The tree. Its open string may be longer since."""
        return self._root

    def with_longer_string(self, text: OpenText) -> Resolution[object] | None:
        """Return the resolution of the same tree, with this text for the open string.

        It is the known one if the string is not shown. Return None if the tree must be resolved.
        """
        if self._open_string is UNMADE:
            self._open_string = self._find_string()
        string = self._open_string
        if not isinstance(string, OpenString):
            return None
        if string.max_length is not None and text.length > string.max_length:
            return None
        if not self._shows_string:
            return self._resolution
        return Partial(UNMADE, LongerResult(self._result, text), self._shape, self._root)

    def _find_string(self) -> OpenString | None:
        if self._resolution.invalid is not None:
            return None  # an outcome that is invalid is resolved each time
        is_shown = self._result.shown is not HIDDEN
        inner: NodeResult | None = self._result
        while isinstance(inner, OpenResult):
            is_shown = is_shown and inner.shown_child is not HIDDEN
            inner = inner.child
        self._shows_string = is_shown
        return inner if isinstance(inner, OpenString) else None

    def after(self, resolution: Resolution[object]) -> Cache:
        """Return the cache for `resolution`, which is this one's, or that of a longer string."""
        if resolution is self._resolution:
            return self
        result = result_of(resolution).settled
        return Cache(self._shape, self._context, self._root, self._is_complete, result, resolution)


def resolve(
    shape: Shape, state: ParserState, cache: Cache | None = None, *, context: object = None
) -> tuple[Resolution[object], Cache]:
    """Resolve `state` for a type, and return the result with a cache for a later state. This is a pure function.

    Pydantic hands `context` to the validators of the type. A cache is used only with the same shape and context.
    """
    return resolve_tree(shape, state.root, state.is_complete, cache, context)


CONTEXT: Final[ContextVar[object]] = ContextVar("unspool.typed.context", default=None)
"""The context for validators, while a tree is resolved."""


def resolve_tree(
    shape: Shape, root: Node | None, is_complete: bool, cache: Cache | None, context: object, before: int = 0
) -> tuple[Resolution[object], Cache]:
    """Resolve the tree of a state, as `resolve` does. `before` is the number of problems that count before it."""
    if cache is not None and (cache._shape is not shape or cache._context is not context):
        cache = None
    if cache is not None and root is cache._root:
        if is_complete is cache._is_complete:
            return cache._resolution, cache
        result = cache._result  # the same tree, but the text after it took the completeness back
    elif root is None:
        result = NodeResult(HIDDEN)
    else:
        last = None if cache is None else open_result(cache._result)
        if CONTEXT.get() is context:
            result = resolve_node(shape, root, last, before)
        else:
            token = CONTEXT.set(context)
            try:
                result = resolve_node(shape, root, last, before)
            finally:
                CONTEXT.reset(token)
    resolution: Resolution[object]
    if is_complete and shape.may_omit and result.shown is HIDDEN and not result.is_wrong:
        result = NodeResult(HIDDEN, (FoundProblem(NOT_OMITTED, None, None, None),), is_broken=True)
    if result.is_wrong:
        resolution = Invalid(UNMADE, result, shape, root)
    elif is_complete:
        resolution = Complete(UNMADE, result, shape, root)
    elif result.shown is HIDDEN:
        resolution = Missing(UNMADE, result, shape, root)
    else:
        resolution = Partial(UNMADE, result, shape, root)
    return resolution, Cache(shape, context, root, is_complete, result, resolution)


def result_of(resolution: Resolution[Any]) -> NodeResult:
    """Return the result that a resolution shows."""
    result = resolution._result
    assert result is not None
    return result


def reviewed(invalid: Invalid[Any], context: object) -> Invalid[Any]:
    """Return the outcome with all problems of a complete text, as the library of the type lists them.

    The library judges the whole text once more for that. If it cannot list anything, the outcome stays as it is.
    """
    shape, root = invalid._shape, invalid._root
    if shape.review is None or root is None or not root.closed:
        return invalid
    token = CONTEXT.set(context)
    try:
        error = shape.review(root)
    finally:
        CONTEXT.reset(token)
    if error is None:
        return invalid
    made = invalid_with(invalid.value, list(error.problems), error.causes.get(0), shape, root)
    made._judged = invalid._judged  # what was complete before stays so
    return made


def invalid_with(
    value: object, problems: list[Problem], cause: BaseException | None, shape: Shape, root: Node | None
) -> Invalid[Any]:
    """Return the outcome with these problems. `cause` is the exception behind the first one."""
    found = tuple([FoundProblem(one, None, None, None if number else cause) for number, one in enumerate(problems)])
    return Invalid(value, NodeResult(value, found, is_broken=True), shape, root)


def resolve_node(shape: Shape, node: Node, last: OpenResult | None, before: int = 0) -> NodeResult:
    """Resolve a node, from the last result of the same node. The text has `before` problems before it.

    The loop skips the open containers in which only the open child has changed. The builders resolve the innermost one,
    and `renewed` carries its result outwards again.
    """
    around: list[OpenResult] = []
    while last is not None and last.known.fits_around(node):
        around.append(last)
        before += last.known.found_size
        shape = cast("Shape", last.known.child_shape)
        last = open_result(last.child)
        node = cast("ContainerNode", node)._open[0]
    result = _resolve_with_builders(shape, node, last, before)
    for outer in reversed(around):
        result = outer.renewed(result)
    return result


def _resolve_with_builders(shape: Shape, node: Node, last: OpenResult | None, before: int) -> NodeResult:
    stack: list[Builder] = []
    result = begin(shape, node, last, stack, before)
    while stack:
        builder = stack[-1]
        if result is not None:
            builder.take(result)
        child = builder.next_child()
        if child is None:
            stack.pop()
            result = builder.finish()
        else:
            result = builder.begin_child(child, stack)
    assert result is not None
    return result


Build: TypeAlias = Callable[..., object]
"""A function that makes a half-filled value of the known fields, by name, and of the extra keys, if they are kept."""


def instances_of(cls: type, set_dict: Callable[[object, dict[str, object]], None]) -> Build:
    """Return a function that makes instances of a class without extra keys. It calls no method of the class.

    An instance is an object and the dict of its attributes, because a stream makes many of them.
    """
    new: Any = object.__new__  # a compiled call is faster

    def build(there: dict[str, object], extras: Mapping[str, object] | None = None) -> object:
        instance: object = new(cls)
        set_dict(instance, there)
        return instance

    return build
