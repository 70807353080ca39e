"""When did each field become usable? For each value: the step that showed it, the one that completed it, its size.

It is a fold over the events of a track, so it costs what the fragment brings. Of very large documents not all fields
are kept: first the items of arrays are left out, with what is inside them, since they are many of a kind. How many
there were is known, and all leaves are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from ..._events import Kind
from ...select import compile as compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..._events import Event
    from ..._path import Path
    from ...select import Pattern

__all__ = ["BEGINNINGS", "CLOSINGS", "COMPLETIONS", "STARTS", "Field", "Fields", "Selection"]

MOST_FIELDS: Final = 20_000  # that are kept; beyond that nothing in an array is
MOST_MEMBERS: Final = 40_000  # with members of objects that are in no array; beyond that nothing is
LITERALS: Final = {True: 4, False: 5, None: 4}
KINDS: Final = {
    Kind.START_OBJECT: "object",
    Kind.START_ARRAY: "array",
    Kind.START_STRING: "string",
    Kind.COMPLETE_NUMBER: "number",
    Kind.COMPLETE_BOOLEAN: "boolean",
    Kind.COMPLETE_NULL: "null",
}
BEGINNINGS: Final = frozenset(KINDS)
"""The events with which a value begins."""
STARTS: Final = frozenset({Kind.START_OBJECT, Kind.START_ARRAY, Kind.START_STRING})
"""Those of them after which it is open."""
CLOSINGS: Final = frozenset({Kind.END_OBJECT, Kind.END_ARRAY})
"""The events with which a container ends."""
COMPLETIONS: Final = frozenset({Kind.COMPLETE_STRING, Kind.COMPLETE_NUMBER, Kind.COMPLETE_BOOLEAN, Kind.COMPLETE_NULL})
"""The events with which anything else does."""
ENDS: Final = CLOSINGS | {Kind.COMPLETE_STRING}


@final
class Field:
    """One value: `first` and `complete` are steps; `complete` is None as long as it is open. `size` is in bytes."""

    __slots__ = ("begin", "children", "complete", "first", "id", "kind", "path", "size")

    def __init__(self, id: int, path: Path, kind: str, first: int, begin: int) -> None:
        self.id = id
        self.path = path
        self.kind = kind
        self.first = first
        self.begin = begin  # the byte at which it begins
        self.complete: int | None = None
        self.size = 0
        self.children = 0


@final
class Fields:
    """The fields of one track, in document order."""

    __slots__ = ("_arrays", "_by_id", "_bytes", "_chars", "_open", "leaves", "left_out", "listed")

    def __init__(self) -> None:
        self.listed: list[Field] = []
        self.left_out = 0
        """How many fields there were beyond the limit."""
        self.leaves: dict[int, int] = {}
        """How many leaves became complete with each step, in order: all of them, also of fields that are left out."""
        self._arrays = 0  # that are open, kept or not
        self._open: list[Field] = []
        self._by_id: dict[int, Field] = {}  # those that are open
        self._chars = 0
        self._bytes = 0

    @property
    def size(self) -> int:
        """How many bytes came."""
        return self._bytes

    def take(self, step: int, text: str, events: Iterable[Event]) -> None:
        """What one fragment brought."""
        at, size = 0, 0  # how far the bytes of the fragment are counted; events come in the order of the text
        leaves = 0

        def byte_at(offset: int) -> int:
            nonlocal at, size
            place = min(max(offset - self._chars, 0), len(text))
            size += len(text[at:place].encode(errors="surrogatepass"))
            at = place
            return self._bytes + size

        for event in events:
            kind = event.kind
            if kind in COMPLETIONS:
                leaves += 1
            if kind in STARTS:
                self._start(event, step, byte_at(event.offset))
                self._arrays += kind is Kind.START_ARRAY
            elif kind in ENDS:
                self._arrays -= kind is Kind.END_ARRAY
                self._end(event.node_id, step, byte_at(event.offset) + 1)
            elif kind in KINDS:
                length = len(event.raw) if event.raw is not None else LITERALS[event.value]
                end = byte_at(event.offset) + (event.raw is None)
                self._start(event, step, end - length)
                self._end(event.node_id, step, end)
        self._bytes += size + len(text[at:].encode(errors="surrogatepass"))
        self._chars += len(text)
        if leaves:
            self.leaves[step] = self.leaves.get(step, 0) + leaves
        for field in self._open:
            field.size = self._bytes - field.begin

    def _start(self, event: Event, step: int, begin: int) -> None:
        if self._open and event.path.parent is self._open[-1].path:  # events share the paths of what is around them
            self._open[-1].children += 1
        if len(self.listed) >= (MOST_FIELDS if self._arrays else MOST_MEMBERS):
            self.left_out += 1
            return
        field = Field(event.node_id, event.path, KINDS[event.kind], step, begin)
        self.listed.append(field)
        self._open.append(field)
        self._by_id[field.id] = field

    def _end(self, id: int, step: int, end: int) -> None:
        field = self._by_id.pop(id, None)
        if field is not None:
            field.complete = step
            field.size = end - field.begin
            self._open.pop()  # what closes is what was opened last


@final
class Selection:
    """Which fields a pattern picks: those that match, with everything inside them.

    It takes the paths of a document one after the other, in the order in which their values begin.
    """

    __slots__ = ("_pattern", "_top")

    def __init__(self, pattern: str | Pattern) -> None:
        self._pattern = compile_pattern(pattern) if isinstance(pattern, str) else pattern
        self._top: int | None = None  # how long the path of the picked value is that we are in

    def depth(self, path: Path) -> int | None:
        """How deep inside a picked value this one is: 0 if it matches itself; None if it is not picked."""
        if self._top is None or len(path) <= self._top:
            self._top = len(path) if self._pattern.matches(path) else None
        return None if self._top is None else len(path) - self._top
