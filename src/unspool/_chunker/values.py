"""What a snapshot is, once it is inside: plain dicts, lists and strings of our own, and numbers as they were spelled.

Nothing here is shared with the caller, so what was compared yesterday is still there to be compared with. Two such
values are the same JSON exactly when they are equal: a number is equal to a number of the same spelling only, never
to a boolean. Whole values become events here too, because that needs no decision.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# What a dict or a list holds is any JSON value; each is looked at where it is taken.

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, final

from .._errors import Reason, SnapshotError
from .._events import Event
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
from .._path import ROOT, Path
from .._quoting import spelled

if TYPE_CHECKING:
    from .._options import Options

__all__ = ["Limits", "Number", "append_whole", "copied", "is_growable", "join_halves", "put_in_order", "same", "shown"]

DEEPEST: Final = 100_000  # where there is no limit: a value that holds itself has to end somewhere
FIRST_HIGH: Final = 0xD800  # the high halves of surrogate pairs
LAST_HIGH: Final = 0xDBFF


@final
class Number:
    """A number as it was spelled."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.text == other.text


def is_growable(value: object) -> bool:
    """Strings, arrays and objects may grow; numbers, booleans and null are whole from the start."""
    return isinstance(value, (str, dict, list))


def shown(text: str) -> str:
    """What can be written of a string that may go on: half a surrogate pair at its end waits for the other half."""
    if text and FIRST_HIGH <= ord(text[-1]) <= LAST_HIGH:
        return text[:-1]
    return text


def join_halves(text: str) -> str:
    """The text with one character for each surrogate pair: halves that came apart are still two of them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def put_in_order(old: object, value: object) -> None:
    """Let the keys of a value stand, in place, in the order in which they were first seen: first those of `old`."""
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
    """Equal, however deep: comparing with ``==`` ends where the interpreter's stack does."""
    try:
        return one == other
    except RecursionError:
        return _same_by_hand(one, other)


def _same_by_hand(one: object, other: object) -> bool:
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


def append_whole(events: list[Event], path: Path, value: object) -> None:
    """The events of a value that is there as a whole."""
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
    # An end is put where it will be found once everything inside is written.
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
    """The limits of `Options`, for values. What is new in a snapshot is looked at once, when it is first seen."""

    __slots__ = ("max_depth", "max_key", "max_number", "max_string")

    def __init__(self, options: Options) -> None:
        self.max_depth = options.max_depth
        self.max_key = options.max_key
        self.max_number = options.max_number
        self.max_string = options.max_string

    def check(self, path: Path, value: object, depth: int, step: int) -> None:
        """Raise `SnapshotError` if a value that stands in `depth` containers goes over a limit."""
        key = path.step
        if isinstance(key, str) and self.max_key is not None and len(key) > self.max_key:
            raise SnapshotError(path, Reason.LIMIT, step)
        if not isinstance(value, (dict, list)):
            if not self._allow_leaf(value):
                raise SnapshotError(path, Reason.LIMIT, step)
            return
        to_look_at: list[tuple[Path, object, int]] = [(path, value, depth)]
        while to_look_at:
            path, value, depth = to_look_at.pop()
            if self.max_depth is not None and depth >= self.max_depth:
                raise SnapshotError(path, Reason.LIMIT, step)
            if isinstance(value, dict):
                for key, member in cast("dict[str, object]", value).items():
                    if isinstance(member, (dict, list)):
                        to_look_at.append((Path(path, key), member, depth + 1))
                    elif not self._allow_leaf(member):
                        raise SnapshotError(Path(path, key), Reason.LIMIT, step)
                    if self.max_key is not None and len(key) > self.max_key:
                        raise SnapshotError(Path(path, key), Reason.LIMIT, step)
            else:
                for index, item in enumerate(cast("list[object]", value)):
                    if isinstance(item, (dict, list)):
                        to_look_at.append((Path(path, index), item, depth + 1))
                    elif not self._allow_leaf(item):
                        raise SnapshotError(Path(path, index), Reason.LIMIT, step)

    def _allow_leaf(self, value: object) -> bool:
        if isinstance(value, str):
            return self.max_string is None or len(value) <= self.max_string
        if isinstance(value, Number):
            return self.max_number is None or len(value.text) <= self.max_number
        return True


def copied(value: object, max_depth: int | None, step: int, path: Path = ROOT) -> object:
    """A parsed value as one of ours. Raises `SnapshotError` for what JSON does not have."""
    if not isinstance(value, (dict, list, tuple)):
        return _copied_leaf(value, path, step)
    deepest = DEEPEST if max_depth is None else max_depth
    whole: object = {} if isinstance(value, dict) else []
    # Containers to copy, and the empty ones to copy them to.
    to_copy: list[tuple[object, object, Path, int]] = [(value, whole, path, 0)]
    while to_copy:
        value, target, path, depth = to_copy.pop()
        if depth >= deepest:
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
    if number is None:  # of an integer: more digits than this interpreter converts
        raise SnapshotError(path, Reason.LIMIT if isinstance(value, int) else Reason.NOT_JSON, step)
    return Number(number)
