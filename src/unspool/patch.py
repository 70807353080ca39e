"""JSON Patch (RFC 6902): a `Patcher` turns events into operations, and `apply` turns operations into a document.

The sender uses `Patcher`. It sends as little as possible: a value that begins within one call takes one ``add``, with
everything that it contains by the end of the call. So a whole document in one call is one operation.

The receiver uses `apply`. It never writes to its input. It copies only the containers on the way to a change, each once
per call; all other parts of the new document are the same objects as in the old one.

In RFC 6902, a string that grows must be sent again as a whole. The extension ``append`` sends only the new text::

    {"op": "append", "path": "/title", "value": " and the text that follows"}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, final

from ._errors import PatchError, StateError
from ._events import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ._events import Event
    from ._path import Path, Step

__all__ = ["Operation", "Patcher", "apply", "ops"]

Operation = dict[str, Any]
"""One operation, as plain JSON data."""

BAD_ESCAPE: Final = re.compile("~(?![01])")  # RFC 6901, section 3
INDEX: Final = re.compile("0|[1-9][0-9]*|-")  # RFC 6901, section 4
AFTER_THE_LAST: Final = "-"
MAX_DIGITS: Final = 16  # of an index: longer than the index of any list


def ops(events: Iterable[Event], append: bool = False) -> list[Operation]:
    """Return the operations that build the document of these events. They must be those of a stream from its start."""
    return Patcher(append).ops(events)


@final
class Patcher:
    """A converter from events to operations. Pass it all events of one stream, in order and in any portions.

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
        self._string: Event | None = None  # the event that started the open string
        self._length = 0  # of the text of the open string so far
        self._pieces: list[str] = []  # its text; with `append`, only the part that is not sent yet
        self._is_broken = False  # an error occurred in it: it is dropped if parsing continues
        # Within a call: the text belongs at holder[step], in an operation or in the value of an operation.
        self._holder: Any = None
        self._step: Step | None = None

    def ops(self, events: Iterable[Event]) -> list[Operation]:
        """Return the operations that lead from the document before these events to the one after them."""
        return list(self._each(events))

    def fork(self) -> Patcher:
        """Return a patcher that goes on from here by itself. The cost does not depend on what came before."""
        patcher = Patcher(self._append)
        patcher._string, patcher._length = self._string, self._length
        patcher._pieces, patcher._is_broken = self._pieces.copy(), self._is_broken
        return patcher

    def _each(self, events: Iterable[Event]) -> Iterator[Operation]:
        """Yield the operations one by one, since each has a whole path. The caller takes all of them."""
        operations: list[Operation] = []  # only the last one can still change
        new: list[Any] = []  # the open containers that began in this call; new values go into the last one
        for event in events:
            if self._is_broken:
                self._drop_string(operations, new)
            match event.kind:
                case Kind.START_OBJECT | Kind.START_ARRAY:
                    container: Any = {} if event.kind is Kind.START_OBJECT else []
                    _place(event.path, container, operations, new)
                    new.append(container)
                case Kind.END_OBJECT | Kind.END_ARRAY:
                    if new:
                        new.pop()
                case Kind.START_STRING:
                    self._string, self._length, self._pieces = event, 0, []
                    self._holder, self._step = _place(event.path, "", operations, new)
                case Kind.PARTIAL_STRING:
                    self._grow_string(event, str(event.value), operations)
                case Kind.COMPLETE_STRING:
                    self._grow_string(event, str(event.value)[self._length :], operations)
                    self._hand_over()
                    self._string = None
                case Kind.ERROR:
                    self._is_broken = self._string is not None
                case _:
                    _place(event.path, event.value, operations, new)
            while len(operations) > 1:
                yield operations.pop(0)
        self._hand_over()
        yield from operations

    def _grow_string(self, event: Event, text: str, operations: list[Operation]) -> None:
        if self._string is None or self._string.node_id != event.node_id:
            raise StateError("this string did not start here: a Patcher needs all events of a stream, from its start")
        if text:
            if self._holder is None:
                name = "append" if self._append else "replace"
                self._holder, self._step = {"op": name, "path": event.path.pointer}, "value"
                operations.append(self._holder)
            self._pieces.append(text)
            self._length += len(text)

    def _hand_over(self) -> None:
        """Put the text so far into the operations of this call."""
        if self._holder is not None:
            text = self._holder[self._step] = "".join(self._pieces)
            self._pieces = [] if self._append else [text]
            self._holder = None

    def _drop_string(self, operations: list[Operation], new: list[Any]) -> None:
        string = self._string
        assert string is not None
        self._hand_over()
        self._string, self._is_broken = None, False
        if new:
            del new[-1][string.path.step]
        elif string.path.parent is not None:  # a root stays until the next document replaces it
            operations.append({"op": "remove", "path": string.path.pointer})


def _place(path: Path, value: object, operations: list[Operation], new: list[Any]) -> tuple[Any, Step | None]:
    """Add `value` at `path`, and return where it went: the holder, and the step in it."""
    if not new:
        operations.append({"op": "add", "path": path.pointer, "value": value})
        return operations[-1], "value"
    holder = new[-1]
    if _is_array(holder):
        holder.append(value)
    else:
        holder[path.step] = value
    return holder, path.step


def apply(document: Any, ops: Sequence[Operation]) -> Any:
    """Return the document after the operations. `document` itself never changes; both share the unchanged parts.

    All six operations of RFC 6902 are supported, and ``append``. If an operation does not fit the document, raise
    `PatchError`. Pass any object for a document that has not begun: adding at ``""`` replaces it.

    >>> before = {"days": [1, 2], "title": "Trip"}
    >>> after = apply(before, [{"op": "append", "path": "/title", "value": " to Fuji"}])
    >>> after, after["days"] is before["days"]
    ({'days': [1, 2], 'title': 'Trip to Fuji'}, True)
    """
    if not isinstance(ops, (list, tuple)):
        raise PatchError("a patch must be a list of operations")
    draft = _Draft(document)
    for index, operation in enumerate(ops):
        draft.index = index
        draft.run(operation)
    draft.settle()
    return draft.document


class _Pointer(NamedTuple):
    """A JSON Pointer (RFC 6901). Each place has exactly one spelling, so places are compared by `text`."""

    text: str
    tokens: list[str]


@final
class _Draft:
    """A document while a patch is applied to it.

    The draft owns the containers that it has created: the caller has not seen them yet, so it can write to them. The
    container around an owned container is owned too.
    """

    __slots__ = ("_grown", "_owned", "_pieces", "document", "index")

    def __init__(self, document: Any) -> None:
        self.document = document
        self.index = 0  # of the operation
        self._owned: dict[int, Any] = {}  # by id; holding the containers here keeps their ids valid
        # Appending one piece at a time would copy the string for each piece.
        self._grown: _Pointer | None = None  # the string that the operations so far append to
        self._pieces: list[str] = []

    def settle(self) -> None:
        """Write the grown string to its place."""
        if self._grown is not None:
            self._put(self._grown, "".join(self._pieces), is_new=False)
            self._grown = None

    def run(self, operation: Operation) -> None:
        """Apply one operation."""
        if not isinstance(operation, dict):
            raise self._error("an operation must be an object")
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
                    raise self._error("the test failed", pointer)
            case _:
                raise self._error("unknown operation", pointer)

    def _put(self, pointer: _Pointer, value: Any, *, is_new: bool) -> None:
        """Add a value if `is_new`, or replace one."""
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
            raise self._error("cannot remove the whole document", pointer)
        container, step = self._own_place(pointer)
        return container.pop(step)

    def _move(self, origin: _Pointer, pointer: _Pointer) -> None:
        if pointer.text.startswith(origin.text + "/"):
            raise self._error("cannot move a value into itself", pointer)
        if origin.text == pointer.text:
            self._find(origin)
        else:
            self._put(pointer, self._remove(origin), is_new=True)

    def _append(self, pointer: _Pointer, text: Any) -> None:
        if not isinstance(text, str):
            raise self._error("can only append a string", pointer)
        if self._grown is None or self._grown.text != pointer.text:
            self.settle()
            start = self._find(pointer)
            if not isinstance(start, str):
                raise self._error("can only append to a string", pointer)
            self._grown, self._pieces = pointer, [start]
        self._pieces.append(text)

    def _find(self, pointer: _Pointer) -> Any:
        value = self.document
        for token in pointer.tokens:
            value = value[self._existing(value, token, pointer)]
        return value

    def _own_place(self, pointer: _Pointer, *, or_next: bool = False) -> tuple[Any, Any]:
        """Return the owned container of the value at `pointer`, and the step to the value."""
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
        """Disown `value` and everything in it, because it is in two places from now on."""
        values = [value]
        while values:
            shared = self._owned.pop(id(values.pop()), None)
            if shared is not None:
                values.extend(shared.values() if _is_object(shared) else shared)
        return value

    def _existing(self, container: Any, token: str, pointer: _Pointer, *, or_next: bool = False) -> Any:
        """Return the key or index that `token` means: of an existing value, or with `or_next` of a new one."""
        if _is_object(container):
            if or_next or token in container:
                return token
            raise self._error("no such member", pointer)
        if not _is_array(container):
            raise self._error("not an object or an array", pointer)
        size = len(container)
        if not INDEX.fullmatch(token):
            raise self._error("invalid array index", pointer)
        index = size if token == AFTER_THE_LAST else int(token[:MAX_DIGITS])
        if index < size or (or_next and index == size):
            return index
        raise self._error("no such item", pointer)

    def _value(self, operation: Operation, pointer: _Pointer) -> Any:
        if "value" not in operation:
            raise self._error("'value' is missing", pointer)
        return operation["value"]

    def _pointer(self, operation: Operation, member: str) -> _Pointer:
        text = operation.get(member)
        if not isinstance(text, str):
            raise self._error(f"{member!r} is missing or not a string")
        # The order matters: otherwise ~01 would become a slash.
        pointer = _Pointer(text, [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]])
        if text and not text.startswith("/"):
            raise self._error("a pointer must be empty or start with '/'", pointer)
        if BAD_ESCAPE.search(text):
            raise self._error("'~' in a pointer must be followed by 0 or 1", pointer)
        return pointer

    def _error(self, reason: str, pointer: _Pointer | None = None) -> PatchError:
        return PatchError(reason, self.index, None if pointer is None else pointer.text)


def _equal(left: Any, right: Any) -> bool:
    """Compare as RFC 6902, section 4.6, does: numbers by their value, and True is not a number."""
    pairs: list[tuple[Any, Any]] = [(left, right)]  # a stack instead of recursion: documents may be deep
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
