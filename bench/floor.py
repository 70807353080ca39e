"""The floor of the rows about values: the least that a partial value after each fragment can cost.

Values never change once they are handed out. Every parser that keeps this promise has to do three things:

1. read the fragment;
2. copy each open container of the last value that the fragment changes: one `dict.copy` or one slice of a list;
3. join the text that was shown of the open string with its new piece.

`floor` does only these, on the same document and the same fragments. A live `ValueParser` reads them and is never asked
for its value. The copies and joins are prepared as plain dicts, lists and strings, and run as C functions without any
Python code in between. Linking the copies, remembering what was shown, and returning the value are not included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, repeat
from operator import concat, getitem
from typing import Any

from .rows import UnavailableError, ours
from .timing import Job

__all__ = ["Copies", "floor", "required_copies"]


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies and joins that the values of one document require, grouped by the function that does them."""

    dicts: list[dict[str, Any]] = field(default_factory=list)  # each as large as it is when it is copied
    lists: list[tuple[list[Any], slice]] = field(default_factory=list)  # complete lists, and the part to copy
    strings: list[list[str]] = field(default_factory=list)  # for each string, its piece from each fragment

    def job(self) -> Job:
        dicts, strings = self.dicts, self.strings
        lists, slices = [found for found, _ in self.lists], [part for _, part in self.lists]

        def run() -> None:
            _exhaust(map(dict.copy, dicts))
            _exhaust(map(getitem, lists, slices))
            # Each text so far, joined with the next piece.
            _exhaust(chain.from_iterable(map(accumulate, strings, repeat(concat))))

        return run


def _exhaust(iterable: Iterable[Any]) -> None:
    """Run an iterator to its end, in C."""
    deque(iterable, maxlen=0)


def floor(fragments: Sequence[str], value: object) -> Job:
    """Return the job that has the cost of the floor. `value` is the value of the whole document."""
    (parser_class,) = ours("ValueParser")
    copies = required_copies(fragments)
    copy = copies.job()

    def run() -> object:
        parser = parser_class(live=True)
        feed = parser.feed
        for fragment in fragments:
            feed(fragment)
        copy()
        return parser

    parser: Any = run()
    if parser.value != value:
        raise UnavailableError("another value than the text has")
    return run


def required_copies(fragments: Sequence[str]) -> Copies:
    """Find the containers and strings that each fragment changes, from the events of the fragments."""
    (parser_class,) = ours("FragmentParser")
    parser = parser_class()
    copies = Copies()
    open_containers: list[Any] = []
    pieces: list[str] = []  # of the open string
    shown: dict[int, tuple[int, dict[str, Any]]] = {}  # by the identity of a container: its size, and a dict like it
    all_containers: list[Any] = []  # keeps them alive, and so their identities apart
    for fragment in fragments:
        shared, depth = list(open_containers), 0
        sizes = list(map(len, shared))
        is_new_piece = True
        for event in parser.feed(fragment):
            kind = str(event.kind)
            # A change in a container changes all containers around it. Only the shared ones need a copy.
            if not kind.startswith("end_") and kind != "complete_string":
                depth = max(depth, _common(shared, open_containers))
            match kind:
                case "start_object" | "start_array":
                    container: Any = {} if kind == "start_object" else []
                    _place(open_containers, event.path, container)
                    open_containers.append(container)
                    all_containers.append(container)
                case "end_object" | "end_array":
                    open_containers.pop()
                case "start_string":
                    pieces = []
                    copies.strings.append(pieces)
                    _place(open_containers, event.path, "")
                    is_new_piece = True
                case "partial_string" if is_new_piece:
                    pieces.append(event.value)
                    is_new_piece = False
                case "partial_string":
                    pieces[-1] += event.value
                case "error":
                    raise UnavailableError("the document is not valid")
                case _:
                    _place(open_containers, event.path, event.value)
        for container, size in zip(shared[:depth], sizes, strict=False):
            if isinstance(container, dict):
                # One object for as long as its size is the same: as near to the processor as in a parser.
                known, same = shown.get(id(container), (-1, {}))
                if known != size:
                    same = dict(list(container.items())[:size])
                    shown[id(container)] = size, same
                copies.dicts.append(same)
            else:
                copies.lists.append((container, slice(size)))
    copies.strings[:] = [found for found in copies.strings if len(found) > 1]
    return copies


def _common(shared: list[Any], open_containers: list[Any]) -> int:
    """The number of shared containers that are still open."""
    return sum(old is new for old, new in zip(shared, open_containers, strict=False))


def _place(open_containers: list[Any], path: Any, value: Any) -> None:
    if not open_containers:
        return
    container = open_containers[-1]
    if isinstance(container, dict):
        container[path[-1]] = value
    elif path[-1] == len(container):
        container.append(value)
    else:
        container[-1] = value
