"""JSON Patch (RFC 6902) at both ends of a wire: events become operations, operations become the document.

The sender's end is `Patcher`. It says no more than it must: what began within one call is told by the one
operation that adds it, with all that it has by then, so a whole document in one call is one operation. What was
there before the call is told by its path alone.

The receiver's end is `apply`. It writes to copies only, and copies only the containers on the way to what
changes, each once in a call; everything else in the new document is the same object as in the old one.

RFC 6902 has no way to say that a string goes on: it must be sent again, whole. The extension ``append`` says it::

    {"op": "append", "path": "/title", "value": " and what comes after it"}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, final

from ._errors import PatchError, StateError
from ._events import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._events import Event
    from ._path import Path, Step

__all__ = ["Operation", "Patcher", "apply", "ops"]

Operation = dict[str, Any]
"""One operation, as plain JSON data."""

BAD_ESCAPE: Final = re.compile("~(?![01])")  # RFC 6901, section 3
INDEX: Final = re.compile("0|[1-9][0-9]*|-")  # RFC 6901, section 4
AFTER_THE_LAST: Final = "-"
MOST_DIGITS: Final = 16  # of an index: no list is that long


def ops(events: Iterable[Event], append: bool = False) -> list[Operation]:
    """The operations that make the document of these events, which are those of a stream from its start."""
    return Patcher(append).ops(events)


@final
class Patcher:
    """Events in, operations out. It is given all events of one stream, a few at a time; it keeps the open string.

    >>> from unspool import FragmentParser
    >>> parser, patcher = FragmentParser(), Patcher(append=True)
    >>> patcher.ops(parser.feed('{"days": [1, 2], "title": "Trip'))
    [{'op': 'add', 'path': '', 'value': {'days': [1, 2], 'title': 'Trip'}}]
    >>> patcher.ops(parser.feed(' to Fuji", "tags": []'))
    [{'op': 'append', 'path': '/title', 'value': ' to Fuji'}, {'op': 'add', 'path': '/tags', 'value': []}]
    """

    __slots__ = ("_append", "_holder", "_is_broken", "_length", "_pieces", "_step", "_string")

    def __init__(self, append: bool = False) -> None:
        self._append = append
        self._string: Event | None = None  # the start of the open one
        self._length = 0  # of its text so far
        self._pieces: list[str] = []  # its text; with `append`, the part that was not sent
        self._is_broken = False  # an error was in it: when reading goes on, it is dropped
        # Within a call: the text goes to holder[step], in an operation or in the value of one.
        self._holder: Any = None
        self._step: Step | None = None

    def ops(self, events: Iterable[Event]) -> list[Operation]:
        """The operations that lead from the document before these events to the one after them."""
        told: list[Operation] = []
        new: list[Any] = []  # the open containers that began in this call; what comes goes into the last one
        for event in events:
            if self._is_broken:
                self._drop_string(told, new)
            match event.kind:
                case Kind.START_OBJECT | Kind.START_ARRAY:
                    container: Any = {} if event.kind is Kind.START_OBJECT else []
                    _place(event.path, container, told, new)
                    new.append(container)
                case Kind.END_OBJECT | Kind.END_ARRAY:
                    if new:
                        new.pop()
                case Kind.START_STRING:
                    self._string, self._length, self._pieces = event, 0, []
                    self._holder, self._step = _place(event.path, "", told, new)
                case Kind.PARTIAL_STRING:
                    self._grow_string(event, str(event.value), told)
                case Kind.COMPLETE_STRING:
                    self._grow_string(event, str(event.value)[self._length :], told)
                    self._hand_over()
                    self._string = None
                case Kind.ERROR:
                    self._is_broken = self._string is not None
                case _:
                    _place(event.path, event.value, told, new)
        self._hand_over()
        return told

    def _grow_string(self, event: Event, text: str, told: list[Operation]) -> None:
        if self._string is None or self._string.node_id != event.node_id:
            raise StateError("a string goes on that did not start; a Patcher is there from the start of a stream")
        if text:
            if self._holder is None:
                name = "append" if self._append else "replace"
                self._holder, self._step = {"op": name, "path": event.path.pointer}, "value"
                told.append(self._holder)
            self._pieces.append(text)
            self._length += len(text)

    def _hand_over(self) -> None:
        """The text, as far as it goes, becomes part of what this call tells."""
        if self._holder is not None:
            text = self._holder[self._step] = "".join(self._pieces)
            self._pieces = [] if self._append else [text]
            self._holder = None

    def _drop_string(self, told: list[Operation], new: list[Any]) -> None:
        string = self._string
        assert string is not None
        self._hand_over()
        self._string, self._is_broken = None, False
        if new:
            del new[-1][string.path.step]
        elif string.path.parent is not None:  # a root stays until the next one takes its place
            told.append({"op": "remove", "path": string.path.pointer})


def _place(path: Path, value: object, told: list[Operation], new: list[Any]) -> tuple[Any, Step | None]:
    """Tell that `value` is at `path`. Where it was put: the holder, and the step in it."""
    if not new:
        told.append({"op": "add", "path": path.pointer, "value": value})
        return told[-1], "value"
    holder = new[-1]
    if _is_array(holder):
        holder.append(value)
    else:
        holder[path.step] = value
    return holder, path.step


def apply(document: Any, ops: Sequence[Operation]) -> Any:
    """The document that the operations make of `document`, which stays as it is; they share what did not change.

    All six operations of RFC 6902 are known, and ``append``. Either all of them fit, or the first that does not
    is a `PatchError`. A document that has not begun may be given as anything; adding at ``""`` sets it.

    >>> before = {"days": [1, 2], "title": "Trip"}
    >>> after = apply(before, [{"op": "append", "path": "/title", "value": " to Fuji"}])
    >>> after, after["days"] is before["days"]
    ({'days': [1, 2], 'title': 'Trip to Fuji'}, True)
    """
    if not isinstance(ops, (list, tuple)):
        raise PatchError("a patch is a list of operations")
    draft = _Draft(document)
    for index, operation in enumerate(ops):
        draft.index = index
        draft.run(operation)
    draft.settle()
    return draft.document


class _Pointer(NamedTuple):
    """A JSON Pointer (RFC 6901). A place has one spelling only, so places are compared by `text`."""

    text: str
    tokens: list[str]


@final
class _Draft:
    """A document while a patch is applied to it.

    What it owns are the containers that it made itself: no one else has seen them, so they may be written to.
    The container around an owned one is owned too.
    """

    __slots__ = ("_grown", "_owned", "_pieces", "document", "index")

    def __init__(self, document: Any) -> None:
        self.document = document
        self.index = 0  # of the operation
        self._owned: dict[int, Any] = {}  # by id, which stays theirs while they are held here
        # Appending piece by piece would copy a string once for each piece.
        self._grown: _Pointer | None = None  # the string that the operations before this one append to
        self._pieces: list[str] = []

    def settle(self) -> None:
        """Put the grown string in its place."""
        if self._grown is not None:
            self._put(self._grown, "".join(self._pieces), is_new=False)
            self._grown = None

    def run(self, operation: Operation) -> None:
        """Carry out one operation."""
        if not isinstance(operation, dict):
            raise self._misfit("an operation is an object")
        pointer = self._pointer(operation, "path")
        name = operation.get("op")
        if name == "append":
            self._append(pointer, self._value(operation, pointer))
            return
        self.settle()
        match name:
            case "add":
                self._put(pointer, self._value(operation, pointer), is_new=True)
            case "replace":
                self._put(pointer, self._value(operation, pointer), is_new=False)
            case "remove":
                self._remove(pointer)
            case "move":
                self._move(self._pointer(operation, "from"), pointer)
            case "copy":
                self._put(pointer, self._share(self._find(self._pointer(operation, "from"))), is_new=True)
            case "test":
                if not _equal(self._find(pointer), self._value(operation, pointer)):
                    raise self._misfit("the test failed", pointer)
            case _:
                raise self._misfit("an unknown operation", pointer)

    def _put(self, pointer: _Pointer, value: Any, *, is_new: bool) -> None:
        """Add, when `is_new`, or replace."""
        if not pointer.tokens:
            self.document = value
            return
        container, step = self._own_place(pointer, or_next=is_new)
        if is_new and _is_array(container):
            container.insert(step, value)
        else:
            container[step] = value

    def _remove(self, pointer: _Pointer) -> Any:
        if not pointer.tokens:
            raise self._misfit("the whole document cannot be removed", pointer)
        container, step = self._own_place(pointer)
        return container.pop(step)

    def _move(self, origin: _Pointer, pointer: _Pointer) -> None:
        if pointer.text.startswith(origin.text + "/"):
            raise self._misfit("a value cannot be moved into itself", pointer)
        if origin.text == pointer.text:
            self._find(origin)
        else:
            self._put(pointer, self._remove(origin), is_new=True)

    def _append(self, pointer: _Pointer, text: Any) -> None:
        if not isinstance(text, str):
            raise self._misfit("only a string can be appended", pointer)
        if self._grown is None or self._grown.text != pointer.text:
            self.settle()
            start = self._find(pointer)
            if not isinstance(start, str):
                raise self._misfit("only a string can be appended to", pointer)
            self._grown, self._pieces = pointer, [start]
        self._pieces.append(text)

    def _find(self, pointer: _Pointer) -> Any:
        value = self.document
        for token in pointer.tokens:
            value = value[self._existing(value, token, pointer)]
        return value

    def _own_place(self, pointer: _Pointer, *, or_next: bool = False) -> tuple[Any, Any]:
        """The container of the value at `pointer`, owned, and the step to the value."""
        container = self.document = self._own(self.document)
        for token in pointer.tokens[:-1]:
            step = self._existing(container, token, pointer)
            inner = container[step] = self._own(container[step])
            container = inner
        return container, self._existing(container, pointer.tokens[-1], pointer, or_next=or_next)

    def _own(self, value: Any) -> Any:
        if id(value) in self._owned or not (_is_object(value) or _is_array(value)):
            return value
        copy = value.copy()
        self._owned[id(copy)] = copy
        return copy

    def _share(self, value: Any) -> Any:
        """From now on `value` is in two places: nothing in it is owned any more."""
        values = [value]
        while values:
            shared = self._owned.pop(id(values.pop()), None)
            if shared is not None:
                values.extend(shared.values() if _is_object(shared) else shared)
        return value

    def _existing(self, container: Any, token: str, pointer: _Pointer, *, or_next: bool = False) -> Any:
        """The key or the index that `token` stands for: of a value that is there, `or_next` where a new one may be."""
        if _is_object(container):
            if or_next or token in container:
                return token
            raise self._misfit("no such member", pointer)
        if not _is_array(container):
            raise self._misfit("no object and no array there", pointer)
        size = len(container)
        if not INDEX.fullmatch(token):
            raise self._misfit("not an index", pointer)
        index = size if token == AFTER_THE_LAST else int(token[:MOST_DIGITS])
        if index < size or (or_next and index == size):
            return index
        raise self._misfit("no such item", pointer)

    def _value(self, operation: Operation, pointer: _Pointer) -> Any:
        if "value" not in operation:
            raise self._misfit("'value' is missing", pointer)
        return operation["value"]

    def _pointer(self, operation: Operation, member: str) -> _Pointer:
        text = operation.get(member)
        if not isinstance(text, str):
            raise self._misfit(f"{member!r} is missing or not a string")
        # In this order, or ~01 would become a slash.
        pointer = _Pointer(text, [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]])
        if text and not text.startswith("/"):
            raise self._misfit("a pointer is empty or starts with '/'", pointer)
        if BAD_ESCAPE.search(text):
            raise self._misfit("in a pointer '~' is followed by 0 or 1", pointer)
        return pointer

    def _misfit(self, reason: str, pointer: _Pointer | None = None) -> PatchError:
        return PatchError(reason, self.index, None if pointer is None else pointer.text)


def _equal(left: Any, right: Any) -> bool:
    """Equal as RFC 6902, section 4.6, has it: numbers by what they are worth, and True is no number."""
    pairs: list[tuple[Any, Any]] = [(left, right)]  # a list, not recursion: documents may be deep
    while pairs:
        a, b = pairs.pop()
        if _is_object(a) and _is_object(b):
            if a.keys() != b.keys():
                return False
            pairs.extend((value, b[key]) for key, value in a.items())
        elif _is_array(a) and _is_array(b):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) is not isinstance(b, bool) or a != b:
            return False
    return True


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
