"""Values of snapshots: plain dicts, lists and strings that belong to the chunker, with numbers as they were spelled.

The caller shares none of them, so the last snapshot cannot change before the next one is compared with it. Two values
are equal exactly when their JSON is the same.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Containers hold any JSON value; the code checks the type of each value before it uses it.

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, final

from .._errors import Reason, SnapshotError
from .._events import Event
from .._grammar.reader import UNLIMITED
from .._grammar.sink import (
    COMPLETE_BOOLEAN,
    COMPLETE_NULL,
    COMPLETE_NUMBER,
    COMPLETE_STRING,
    END_ARRAY,
    END_OBJECT,
    START_ARRAY,
    START_OBJECT,
)
from .._grammar.writer import Writer
from .._path import ROOT, Path
from .._quoting import spelled
from .._tree.values import ValueSink

if TYPE_CHECKING:
    from .._native import i64
    from .._options import Options

__all__ = [
    "Limits",
    "Number",
    "SpelledValueSink",
    "append_whole",
    "copied",
    "is_growable",
    "is_zero",
    "join_halves",
    "note_blanks",
    "put_in_order",
    "same",
    "text_of",
    "writable",
]

MAX_COPY_DEPTH: Final = 100_000  # without a limit: a value that contains itself must end somewhere
FIRST_HIGH: Final = 0xD800  # the high halves of surrogate pairs
LAST_HIGH: Final = 0xDBFF


@final
class Number:
    """A number as it was spelled: equal only to a number with the same spelling, never to a boolean."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.text == other.text


@final
class SpelledValueSink(ValueSink):
    """A value sink whose numbers keep their spelling."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.keeps_raw = True

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        super().number(key, index, Number(raw), raw, node_id, offset)


def is_growable(value: object) -> bool:
    """Return True for strings, arrays and objects. Numbers, booleans and null are complete from the start."""
    return isinstance(value, (str, dict, list))


def is_zero(text: str) -> bool:
    """Return True for a spelling of zero, such as 0, -0.0 or 0e5."""
    for character in text:
        if character in "eE":
            break
        if character in "123456789":
            return False
    return True


def note_blanks(value: object, blanks: dict[int, bool]) -> None:
    """Note for a container and those inside, by their ids, whether they hold nothing but empty values.

    Empty values are null, false, zero, the empty string, and containers without other values.
    """
    containers: list[object] = [value]
    for container in containers:  # grows on the way: each container comes after the one around it
        inside = container.values() if isinstance(container, dict) else cast("list[object]", container)
        containers.extend([child for child in inside if isinstance(child, (dict, list))])
    for container in reversed(containers):
        is_blank = True
        for child in container.values() if isinstance(container, dict) else cast("list[object]", container):
            if isinstance(child, (dict, list)):
                is_blank = blanks[id(child)]
            elif isinstance(child, Number):
                is_blank = is_zero(child.text)
            else:
                is_blank = child is None or child is False or child == ""
            if not is_blank:
                break
        blanks[id(container)] = is_blank


def writable(text: str) -> str:
    """Return the part of an open string that can be written: a trailing high surrogate waits for its other half."""
    if text and FIRST_HIGH <= ord(text[-1]) <= LAST_HIGH:
        return text[:-1]
    return text


def join_halves(text: str) -> str:
    """Return the text with one character per surrogate pair, also where the halves arrived separately."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def put_in_order(old: object, value: object) -> None:
    """Sort the keys of `value`, in place and to any depth: first those of `old`, in its order, then the new ones."""
    pairs = [(old, value)]
    while pairs:
        old, value = pairs.pop()
        if isinstance(old, dict) and isinstance(value, dict):
            members = dict(value)
            value.clear()
            value.update({key: members[key] for key in old if key in members})
            value.update(members)
            pairs.extend([(old[key], value[key]) for key in old if key in value])
        elif isinstance(old, list) and isinstance(value, list):
            pairs.extend(zip(old, value, strict=False))


def same(one: object, other: object) -> bool:
    """Compare two values of any depth. A plain ``==`` is faster, but fails where the interpreter's stack ends."""
    try:
        return one == other
    except RecursionError:
        return _same_without_recursion(one, other)


def _same_without_recursion(one: object, other: object) -> bool:
    pairs: list[tuple[object, object]] = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pairs.extend([(value, other[key]) for key, value in one.items()])
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif type(one) is not type(other) or one != other:
            return False
    return True


def text_of(value: object) -> str:
    """Return the canonical JSON text of a value, with numbers as they were spelled."""
    events: list[Event] = []
    append_whole(events, ROOT, value)
    return Writer().write(events)


def append_whole(events: list[Event], path: Path, value: object) -> None:
    """Append the events of a complete value."""
    if isinstance(value, (dict, list)):
        _append_container(events, path, value)
    else:
        _append_leaf(events, path, value)


def _append_leaf(events: list[Event], path: Path, value: object) -> None:
    if isinstance(value, str):
        events.append(Event(COMPLETE_STRING, path, value))
    elif isinstance(value, Number):
        events.append(Event(COMPLETE_NUMBER, path, None, -1, -1, value.text))
    elif value is None:
        events.append(Event(COMPLETE_NULL, path))
    else:
        events.append(Event(COMPLETE_BOOLEAN, path, value))


def _append_container(events: list[Event], path: Path, value: object) -> None:
    # The end of a container goes onto the stack below its contents, so it comes up after all of them.
    to_write: list[tuple[Path, object, bool]] = [(path, value, False)]
    while to_write:
        path, value, is_end = to_write.pop()
        if is_end:
            events.append(Event(END_OBJECT if isinstance(value, dict) else END_ARRAY, path))
        elif isinstance(value, dict):
            members = cast("dict[str, object]", value)
            events.append(Event(START_OBJECT, path))
            to_write.append((path, value, True))
            to_write.extend([(Path(path, key), members[key], False) for key in reversed(members)])
        elif isinstance(value, list):
            items = cast("list[object]", value)
            events.append(Event(START_ARRAY, path))
            to_write.append((path, value, True))
            to_write.extend([(Path(path, index), items[index], False) for index in range(len(items) - 1, -1, -1)])
        else:
            _append_leaf(events, path, value)


@final
class Limits:
    """The limits of `Options`, applied to values. Each value is checked once, in the first snapshot that has it."""

    __slots__ = ("_siblings", "_siblings_room", "max_depth", "max_key", "max_number", "max_path", "max_string")

    def __init__(self, options: Options) -> None:
        self.max_depth = options.max_depth
        self.max_key = UNLIMITED if options.max_key is None else options.max_key
        self.max_path = UNLIMITED if options.max_path is None else options.max_path
        self.max_number = options.max_number
        self.max_string = options.max_string
        self._siblings: Path | None = None  # the container of the last path that was measured, and its room
        self._siblings_room = self.max_path

    def _room(self, path: Path) -> int:
        """Return how many characters the keys of `path` leave for the keys below it."""
        parent = path.parent
        if parent is None:
            return self.max_path
        if parent is not self._siblings:
            self._siblings_room = self.max_path - sum([len(step) for step in parent.steps if isinstance(step, str)])
            self._siblings = parent
        return self._siblings_room - len(path.step) if isinstance(path.step, str) else self._siblings_room

    def check(self, path: Path, value: object, depth: int, step: int) -> None:
        """Raise `SnapshotError` if a value inside `depth` containers exceeds a limit."""
        key = path.step
        room = self._room(path)
        if isinstance(key, str) and (len(key) > self.max_key or room < 0):
            raise SnapshotError(path, Reason.LIMIT, step)
        if not isinstance(value, (dict, list)):
            if not self._allow_leaf(value):
                raise SnapshotError(path, Reason.LIMIT, step)
            return
        to_check: list[tuple[Path, object, int, int]] = [(path, value, depth, room)]
        while to_check:
            path, value, depth, room = to_check.pop()
            if self.max_depth is not None and depth >= self.max_depth:
                raise SnapshotError(path, Reason.LIMIT, step)
            if isinstance(value, dict):
                key_room = min(room, self.max_key)
                for key, member in cast("dict[str, object]", value).items():
                    if isinstance(member, (dict, list)):
                        to_check.append((Path(path, key), member, depth + 1, room - len(key)))
                    elif not self._allow_leaf(member):
                        raise SnapshotError(Path(path, key), Reason.LIMIT, step)
                    if len(key) > key_room:
                        raise SnapshotError(Path(path, key), Reason.LIMIT, step)
            else:
                for index, item in enumerate(cast("list[object]", value)):
                    if isinstance(item, (dict, list)):
                        to_check.append((Path(path, index), item, depth + 1, room))
                    elif not self._allow_leaf(item):
                        raise SnapshotError(Path(path, index), Reason.LIMIT, step)

    def _allow_leaf(self, value: object) -> bool:
        if isinstance(value, str):
            return self.max_string is None or len(value) <= self.max_string
        if isinstance(value, Number):
            return self.max_number is None or len(value.text) <= self.max_number
        return True


def copied(value: object, max_depth: int | None, step: int, path: Path = ROOT) -> object:
    """Copy a parsed value into the chunker's own form. Raise `SnapshotError` for values that JSON cannot express."""
    if not isinstance(value, (dict, list, tuple)):
        return _copied_leaf(value, path, step)
    most_nested = MAX_COPY_DEPTH if max_depth is None else max_depth
    whole: object = {} if isinstance(value, dict) else []
    # Each entry pairs a container with the empty copy of it that is to be filled.
    to_copy: list[tuple[object, object, Path, int]] = [(value, whole, path, 0)]
    while to_copy:
        value, target, path, depth = to_copy.pop()
        if depth >= most_nested:
            raise SnapshotError(path, Reason.LIMIT, step)
        copy: object
        if isinstance(value, dict):
            members = cast("dict[str, object]", target)
            for key, member in value.items():
                if not isinstance(key, str):
                    raise SnapshotError(path, Reason.NOT_JSON, step)
                if member is None or (type(member) is str and member.isascii()):
                    copy = member
                elif isinstance(member, (dict, list, tuple)):
                    copy = {} if isinstance(member, dict) else []
                    to_copy.append((member, copy, Path(path, key), depth + 1))
                else:
                    copy = _copied_leaf(member, Path(path, key), step)
                members[join_halves(key if type(key) is str else str.__str__(key))] = copy
        else:
            items = cast("list[object]", target)
            for index, item in enumerate(cast("list[object] | tuple[object, ...]", value)):
                if item is None or (type(item) is str and item.isascii()):
                    copy = item
                elif isinstance(item, (dict, list, tuple)):
                    copy = {} if isinstance(item, dict) else []
                    to_copy.append((item, copy, Path(path, index), depth + 1))
                else:
                    copy = _copied_leaf(item, Path(path, index), step)
                items.append(copy)
    return whole


def _copied_leaf(value: object, path: Path, step: int) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return join_halves(str.__str__(value))
    number = spelled(value)
    if number is None:  # an int lacks a spelling if it has more digits than the interpreter converts
        raise SnapshotError(path, Reason.LIMIT if isinstance(value, int) else Reason.NOT_JSON, step)
    return Number(number)
