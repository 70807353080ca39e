"""The changes of a typed value: what appeared, grew and became complete with each fragment, and JSON Patch.

`ShownDocument` holds the JSON of the value as it was shown last, and follows the value from one fragment to the
next. It goes down the open containers only, as `resolve` does: an open container tells how many of its children were
closed before, so the others are new. A container that closes is compared with what it showed, by identity. So a
fragment costs what it changed, and not the length of the document.

The document has what the value shows, without the fields that are absent. A complete part is written as the library of
the type writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast, final

from .._errors import UnspoolError, shown_path
from .._path import ROOT, Path
from .._quoting import printable
from .._sharing import GrowingMap
from .._tree.nodes import ContainerNode, ObjectNode
from ._resolve import HIDDEN, NO_MEMBERS, NodeResult, OpenResult, is_same, shown_value
from ._shape import (
    UNWRITTEN,
    ArrayShape,
    Held,
    IgnoredShape,
    MapShape,
    ObjectShape,
    Shape,
    ShapeError,
    UnwritableError,
    Writing,
    is_array,
    is_object,
    plain_copy,
)

if TYPE_CHECKING:
    from .._path import Step
    from .._tree.nodes import Node
    from ..patch import Operation
    from ._outcome import Partial
    from ._shape import Attribute

__all__ = ["Changes", "ShownDocument", "ValueChange"]

T = TypeVar("T")
ChangeKind: TypeAlias = Literal["appeared", "grew", "replaced", "removed", "completed"]
JsonContainer: TypeAlias = "list[Any] | dict[str, Any]"
PLAIN: Final = Writing()
TOP: Final = 0


class ValueChange(NamedTuple):
    """One change of the typed value.

    `appeared`: there is a value at this path now. `grew`: the string has more text. `completed`: the value was judged
    and is final. Two kinds are rare: `replaced` if a validator made another value of the one that was shown, and
    `removed` if a value turned out to be invalid.
    """

    kind: ChangeKind
    path: Path
    text: str = ""
    """The text that was added, if a string grew."""


@final
class Changes(Generic[T]):
    """The changes of one fragment. Iterate over it to get each `ValueChange`."""

    __slots__ = ("_all", "partial", "patch")

    def __init__(self, partial: Partial[T], changes: list[ValueChange], patch: list[Operation]) -> None:
        self.partial = partial
        """The value after the fragment, as `iter_partial` yields it."""
        self._all = tuple(changes)
        self.patch = patch
        """The operations of JSON Patch that lead from the document before the fragment to the one after it."""

    @property
    def value(self) -> T:
        """The value after the fragment: that of `partial`."""
        return self.partial.value

    @property
    def is_complete(self) -> bool:
        """The text is complete and the value is one of the type, fully validated."""
        return self.partial.is_complete

    def paths(self, kind: ChangeKind) -> list[Path]:
        """Return the paths that changed in this way."""
        return [change.path for change in self._all if change.kind == kind]

    def __iter__(self) -> Iterator[ValueChange]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"Changes({list(self._all)!r})"


@final
class GrowingContainer:
    """An open container of the document, and what was known of it after the last fragment.

    Everything in it that is not open is either complete, and `done`, or not complete in any part.
    """

    __slots__ = ("container", "done", "is_draft", "items_done", "key", "path", "result")

    def __init__(self, container: JsonContainer, path: Path, key: object, is_draft: bool) -> None:
        self.container = container
        self.path = path
        self.key = key  # in the container around it
        self.is_draft = is_draft  # nothing in it is complete before it closes
        self.result: OpenResult | None = None  # None at first
        self.done: set[str] = set()  # the keys of complete members
        self.items_done = 0  # the number of complete items, from the start

    def mark_done(self, key: Any) -> None:
        """Remember that the value under this key is complete."""
        if isinstance(key, str):
            self.done.add(key)
        elif key == self.items_done:
            self.items_done += 1
        else:
            self.done.add(f"[{key}]")

    def is_done(self, key: Any) -> bool:
        """Return whether the value under this key was complete before."""
        return key in self.done if isinstance(key, str) else key < self.items_done or f"[{key}]" in self.done


@final
class ShownDocument:
    """The JSON of a typed value while it grows, and the changes of one fragment after the other."""

    __slots__ = ("_changes", "_levels", "_new", "_operations", "_shape", "_top", "_was_done", "_writing")

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._writing: Writing = shape.writing or PLAIN
        self._top: list[Any] = []  # the document, once there is one
        self._levels: list[GrowingContainer] = []  # the open containers, from the root inwards
        self._was_done = False
        self._changes: list[ValueChange] = []
        self._operations: list[Operation] = []
        self._new: tuple[JsonContainer, Any, Operation] | None = None  # the open container that this fragment began

    def follow(
        self, result: NodeResult, root: Node | None, *, is_complete: bool
    ) -> tuple[list[ValueChange], list[Operation]]:
        """Return what changed since the last call, and the operations of JSON Patch."""
        self._changes, self._operations, self._new = [], [], None
        value = shown_value(result.shown)
        if root is None or (self._writing.is_whole and not is_complete):
            pass
        elif value is HIDDEN:
            if self._top:
                self._levels = []
                self._remove(self._top, TOP, ROOT)
        elif root.closed or not isinstance(root, ContainerNode):
            if not self._was_done:
                old = self._shown_top()
                self._write(self._top, TOP, ROOT, old, value)
                if root.closed and not result.is_wrong:
                    self._was_done = True
                    self._complete(self._top[TOP], ROOT, self._levels)
                self._levels = [] if root.closed else self._levels
        else:
            self._open(0, self._top, TOP, ROOT, result, root, is_draft=False)
        self._fill_operation()
        return self._changes, self._operations

    def _fill_operation(self) -> None:
        """Put everything that began in this fragment into the one operation that adds it."""
        begun = self._new
        if begun is not None:
            container, key, operation = begun
            operation["value"] = plain_copy(cast("Any", container)[key])

    def _shown_top(self) -> object:
        level = self._levels[0] if self._levels else None
        return HIDDEN if level is None or level.result is None else shown_value(level.result.shown)

    # Open containers

    def _open(
        self, depth: int, around: JsonContainer, key: Any, path: Path, result: NodeResult, node: Node, *, is_draft: bool
    ) -> None:
        """Follow the open value at this place, and the open values inside it."""
        while True:
            child = result if isinstance(result, OpenResult) else None
            value: Any = shown_value(result.shown)
            if child is not None and isinstance(child.known.shape, ArrayShape) and child.known.shape.is_set:
                is_followed = False
            else:
                is_followed = not self._writing.is_written_whole(value)
            if isinstance(node, ContainerNode) and not is_followed:
                del self._levels[depth:]
                return  # it is written when it is complete
            if child is None or not isinstance(node, ContainerNode):
                del self._levels[depth:]
                self._match(around, key, path, self._json(value, path))
                return
            level = self._levels[depth] if depth < len(self._levels) else None
            if level is None or level.key != key or not self._goes_on(level, child):
                del self._levels[depth:]
                level = self._begin(around, key, path, child, is_draft or child.known.is_draft)
                self._levels.append(level)
            following = self._follow(depth, level, child, node)
            level.result = child
            if following is None:
                del self._levels[depth + 1 :]
                return
            key, result, is_draft = following
            around, path, node = level.container, Path(level.path, key), node._open[0]
            depth += 1

    def _goes_on(self, level: GrowingContainer, child: OpenResult) -> bool:
        return level.result is not None and level.result.known.shape is child.known.shape

    def _begin(
        self, around: JsonContainer, key: Any, path: Path, child: OpenResult, is_draft: bool
    ) -> GrowingContainer:
        """Put an empty container in its place. Its content becomes part of the same operation."""
        container: JsonContainer = [] if isinstance(child.known.values, list) else {}
        is_there = key in around if isinstance(around, dict) else key < len(around)
        if is_there:
            self._remove(around, key, path)
        self._add(around, key, path, container, is_open=True)
        return GrowingContainer(container, path, key, is_draft)

    def _follow(
        self, depth: int, level: GrowingContainer, result: OpenResult, node: ContainerNode
    ) -> tuple[Any, NodeResult, bool] | None:
        known = result.known
        before = None if level.result is None else level.result.known
        wrong: set[Step | None] = set()
        first_found = 0 if before is None else before.found_size
        if known.found_size > first_found:
            wrong = {one.step for one in known.found[first_found : known.found_size]}
        if isinstance(known.values, list):
            return self._follow_items(depth, level, result, known.values, wrong)
        if isinstance(known.shape, MapShape):
            return self._follow_map(depth, level, result, known.values, cast("ObjectNode", node), wrong)
        return self._follow_members(depth, level, result, cast("ObjectNode", node), wrong)

    def _follow_items(
        self, depth: int, level: GrowingContainer, result: OpenResult, values: list[object], wrong: set[Step | None]
    ) -> tuple[Any, NodeResult, bool] | None:
        known, old = result.known, level.result
        start = 0 if old is None else old.known.size
        count = 0 if old is None else old.known.count
        shown = HIDDEN if old is None or start == known.size else shown_value(old.shown_child)
        # If items were left out, nothing tells which of the new ones are invalid.
        are_known = not wrong or known.count - count == known.size - start
        for index in range(start, known.size):
            is_valid = not level.is_draft and are_known and count + index - start not in wrong
            self._close(depth, level, index, shown if index == start else HIDDEN, values[index], is_valid)
        items = cast("list[Any]", level.container)
        if known.size > start:
            del self._levels[depth + 1 :]
        index = known.size
        if result.shown_child is HIDDEN or result.child is None:
            if len(items) > index:
                self._remove(items, index, Path(level.path, index))
            return None
        return index, result.child, level.is_draft

    def _follow_map(
        self,
        depth: int,
        level: GrowingContainer,
        result: OpenResult,
        values: GrowingMap,
        node: ObjectNode,
        wrong: set[Step | None],
    ) -> tuple[Any, NodeResult, bool] | None:
        known, old = result.known, level.result
        members = cast("dict[str, Any]", level.container)
        names: list[object]
        count = 0 if old is None else old.known.count
        known_before = NO_MEMBERS if old is None else cast("GrowingMap", old.known.values)
        if cast("MapShape", known.shape).check_key is None:
            names = list(dict.fromkeys(node._keys[count : known.count]))
        else:
            names = _new_names(values, known.count - count, known_before.size)
        for name in names:
            key = self._writing.map_key(name)
            path = Path(level.path, key)
            shown = HIDDEN
            if old is not None:
                is_open = old.known.name == name and old.child is not None
                shown = shown_value(old.shown_child) if is_open else HIDDEN
                if shown is HIDDEN:
                    shown = known_before.get(name, HIDDEN)
            value = values.get(name, HIDDEN)
            if value is not HIDDEN:
                is_valid = not level.is_draft and not wrong
                self._close(depth, level, key, shown, value, is_valid)
            elif key in members:
                self._remove(members, key, path)
        if names:
            del self._levels[depth + 1 :]
        if result.child is None or isinstance(known.name, ShapeError):
            return None
        key = self._writing.map_key(known.name)
        if result.shown_child is HIDDEN:
            if key in members and values.get(known.name, HIDDEN) is HIDDEN:
                self._remove(members, key, Path(level.path, key))
            return None
        return key, result.child, level.is_draft

    def _follow_members(
        self, depth: int, level: GrowingContainer, result: OpenResult, node: ObjectNode, wrong: set[Step | None]
    ) -> tuple[Any, NodeResult, bool] | None:
        known, old = result.known, level.result
        shape = cast("ObjectShape", known.shape)
        values = cast("GrowingMap", known.values)
        count = 0 if old is None else old.known.count
        keys = list(dict.fromkeys(node._keys[count : known.count]))
        if keys and shape.waiting:
            keys += [key for key in shape.waiting if values.get(key, HIDDEN) is not HIDDEN and key not in keys]
        members = cast("dict[str, Any]", level.container)
        has_closed = False
        for text_key in keys:
            field = shape.field(text_key)
            has_closed = has_closed or (old is not None and text_key == old.known.step)
            if field is None or isinstance(field.shape, IgnoredShape) or _is_outdone(shape, text_key, values):
                continue
            entry = values.get(field.name, HIDDEN)
            value = entry.shown if isinstance(entry, Held) else entry
            attribute = shape.attribute(text_key)
            if value is HIDDEN:
                key = self._writing.open_key(result.value, attribute)
                if key is not None and key in members:
                    self._remove(members, key, Path(level.path, key))
                continue
            is_valid = not (level.is_draft or isinstance(entry, Held) or text_key in wrong)
            self._close_member(depth, level, result.value, attribute, value, is_valid)
        if has_closed:
            del self._levels[depth + 1 :]
        if result.child is None or not isinstance(known.step, str):
            return None
        key = self._writing.open_key(result.value, shape.attribute(known.step))
        if key is None or _is_outdone(shape, known.step, values):
            return None
        if result.shown_child is HIDDEN:
            if key in members and values.get(known.name, HIDDEN) is HIDDEN:
                self._remove(members, key, Path(level.path, key))
            return None
        return key, result.child, level.is_draft or known.step in shape.waiting

    # Closed values

    def _close_member(
        self, depth: int, level: GrowingContainer, holder: object, attribute: Attribute, value: object, is_valid: bool
    ) -> None:
        """Write a closed field of an object, and complete it."""
        written = self._member(holder, attribute, value, level.path)
        if written is None:
            return
        key, json = written
        members = cast("dict[str, Any]", level.container)
        old: object = HIDDEN
        if level.result is not None and key in members:
            old = self._shown_before(level.result, attribute)
        if json is not UNWRITTEN:
            self._match(members, key, Path(level.path, key), json)
            if is_valid:
                self._finish(depth, level, key)
            return
        self._close(depth, level, key, old, value, is_valid)

    def _shown_before(self, result: OpenResult, attribute: Attribute) -> object:
        step, shape = result.known.step, result.known.shape
        if result.child is None or not isinstance(step, str) or not isinstance(shape, ObjectShape):
            return HIDDEN
        return shown_value(result.shown_child) if shape.attribute(step) == attribute else HIDDEN

    def _close(self, depth: int, level: GrowingContainer, key: Any, old: object, value: object, is_valid: bool) -> None:
        self._write(level.container, key, Path(level.path, key), old, value)
        if is_valid:
            self._finish(depth, level, key)

    def _finish(self, depth: int, level: GrowingContainer, key: Any) -> None:
        """Call a closed value complete, with everything in it that was not complete before."""
        if level.is_done(key):
            return
        level.mark_done(key)
        inner = self._levels[depth + 1 :]
        if not inner or inner[0].key != key:
            inner = []
        self._complete(cast("Any", level.container)[key], Path(level.path, key), inner)

    def _complete(self, value: object, path: Path, levels: list[GrowingContainer]) -> None:
        level = levels[0] if levels and not levels[0].is_draft else None
        if is_object(value):
            for key, item in value.items():
                if level is None or not level.is_done(key):
                    self._complete(item, Path(path, key), _levels_below(levels, key))
        elif is_array(value):
            items: Any = value  # a list, or the tuple of a type
            for index in range(0 if level is None else level.items_done, len(items)):
                if level is None or not level.is_done(index):
                    self._complete(items[index], Path(path, index), _levels_below(levels, index))
        self._changes.append(ValueChange("completed", path))

    def _json(self, value: object, path: Path) -> Any:
        try:
            return self._writing.whole(value)
        except UnwritableError as error:
            raise _unwritable(error, path) from error

    def _member(self, holder: object, attribute: Attribute, value: object, path: Path) -> tuple[str, Any] | None:
        try:
            return self._writing.member(holder, attribute, value)
        except UnwritableError as error:
            step = attribute if isinstance(attribute, str) else attribute[0]
            raise _unwritable(error, Path(path, step)) from error

    def _write(self, around: JsonContainer, key: Any, path: Path, old: object, value: object) -> None:
        """Write a value. `old` is the value that the document has in this place, HIDDEN if that is not known."""
        is_there = key in around if isinstance(around, dict) else key < len(around)
        if not is_there:
            self._add(around, key, path, self._json(value, path))
            return
        if old is HIDDEN:
            self._match(around, key, path, self._json(value, path))
            return
        if is_same(old, value):
            return
        old, value = self._writing.unwrapped(old), self._writing.unwrapped(value)
        document: Any = cast("Any", around)[key]
        if is_array(document) and is_array(old) and is_array(value):
            olds, news = old, value
            items: Any = document
            if not self._writing.is_written_whole(value) and len(items) == len(olds) <= len(news):
                for index, new in enumerate(news):
                    shown = olds[index] if index < len(olds) else HIDDEN
                    if shown is not new:
                        self._write(items, index, Path(path, index), shown, new)
                return
        elif is_object(document) and self._write_members(document, path, old, value):
            return
        self._match(around, key, path, self._json(value, path))

    def _write_members(self, document: dict[str, Any], path: Path, old: object, value: object) -> bool:
        """Write the members of an object that changed. Return False if they have to be written as a whole."""
        before, after = self._writing.members(old), self._writing.members(value)
        if before is None or after is None:
            return False
        kept: set[str] = set()
        for attribute, new in after.items():
            written = self._member(value, attribute, new, path)
            if written is None:
                continue
            key, json = written
            kept.add(key)
            shown = before.get(attribute, HIDDEN)
            if json is not UNWRITTEN:
                self._match(document, key, Path(path, key), json)
            elif key not in document or shown is not new:
                self._write(document, key, Path(path, key), shown, new)
        for attribute in before:
            gone = None if attribute in after else self._writing.open_key(old, attribute)
            if gone is not None and gone in document and gone not in kept:
                self._remove(document, gone, Path(path, gone))
        return True

    # The document

    def _match(self, around: JsonContainer, key: Any, path: Path, json: Any) -> None:
        """Make the document have this JSON in this place."""
        is_there = key in around if isinstance(around, dict) else key < len(around)
        if not is_there:
            self._add(around, key, path, json)
            return
        holder = cast("Any", around)
        old: Any = holder[key]
        if isinstance(json, str) and isinstance(old, str):
            if json == old:
                return
            if json.startswith(old):
                holder[key] = json
                text = json[len(old) :]
                self._changes.append(ValueChange("grew", path, text))
                if self._new is None:
                    self._operations.append({"op": "append", "path": path.pointer, "value": text})
                return
        elif is_object(json) and is_object(old):
            news, olds = json, old
            for name in [name for name in olds if name not in news]:
                self._remove(olds, name, Path(path, name))
            for name, item in news.items():
                self._match(olds, name, Path(path, name), item)
            return
        elif is_array(json) and is_array(old):
            new_items: Any = json
            items: Any = old
            for index in range(len(items) - 1, len(new_items) - 1, -1):
                self._remove(items, index, Path(path, index))
            for index, item in enumerate(new_items):
                self._match(items, index, Path(path, index), item)
            return
        elif json == old and type(json) is type(old):
            return
        holder[key] = json
        self._changes.append(ValueChange("replaced", path))
        if self._new is None:
            self._operations.append({"op": "replace", "path": path.pointer, "value": plain_copy(json)})

    def _add(self, around: JsonContainer, key: Any, path: Path, json: Any, *, is_open: bool = False) -> None:
        if isinstance(around, dict):
            around[key] = json
        else:
            around.append(json)
        self._appear(json, path)
        if self._new is None:
            operation: Operation = {"op": "add", "path": path.pointer, "value": json if is_open else plain_copy(json)}
            self._operations.append(operation)
            if is_open:
                self._new = (around, key, operation)

    def _appear(self, json: Any, path: Path) -> None:
        self._changes.append(ValueChange("appeared", path))
        if is_object(json):
            for key, item in json.items():
                self._appear(item, Path(path, key))
        elif is_array(json):
            for index, item in enumerate(json):
                self._appear(item, Path(path, index))

    def _remove(self, around: JsonContainer, key: Any, path: Path) -> None:
        del cast("Any", around)[key]
        self._changes.append(ValueChange("removed", path))
        if path.parent is None:
            self._operations.append({"op": "replace", "path": "", "value": None})  # nothing can remove the root
        elif self._new is None:
            self._operations.append({"op": "remove", "path": path.pointer})


def _new_names(values: GrowingMap, count: int, old_count: int) -> list[object]:
    """Return the names that are new, or all of them if a name came twice: then nothing tells which one."""
    start = old_count if values.size - old_count == count else 0
    return [name for name, _ in values.items(start)]


def _levels_below(levels: list[GrowingContainer], key: object) -> list[GrowingContainer]:
    return levels[1:] if len(levels) > 1 and levels[1].key == key and not levels[0].is_draft else []


def _unwritable(error: UnwritableError, path: Path) -> UnspoolError:
    return UnspoolError(f"{shown_path(path)}: the value cannot be written as JSON: {printable(str(error))}")


def _is_outdone(shape: ObjectShape, key: str, values: GrowingMap) -> bool:
    """Return whether another name of the same field is there, which wins over this one."""
    waiting = shape.waiting.get(key)
    if waiting is None:
        return False
    return any(values.get(winner, HIDDEN) is not HIDDEN for winner in waiting.winners)
