"""`LeafChunker`: leaves with their paths become text.

Some providers send the arguments of a tool leaf by leaf: ``$.days[0].title``, "Trip to Fu", and a flag that more of the
string follows. Leaves arrive in document order, and a string may arrive in pieces. This module decides which containers
to open and close between two leaves, and expresses that in events; the writer turns the events into text.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, final

from .._errors import OptionsError, Reason, SnapshotError, StateError
from .._events import Event
from .._grammar.sink import (
    COMPLETE_STRING,
    END_ARRAY,
    END_OBJECT,
    PARTIAL_STRING,
    START_ARRAY,
    START_OBJECT,
    START_STRING,
)
from .._grammar.writer import Writer
from .._missing import MISSING
from .._path import ROOT, Path
from .values import append_whole, copied, writable

if TYPE_CHECKING:
    from .._events import Kind
    from .._path import Step

__all__ = ["LeafChunker"]


@final
class OpenPlace:
    """An open object, array or string. `kind` is the kind of the event that opened it."""

    __slots__ = ("keys", "kind", "newest", "path", "size")

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path = path
        self.kind = kind
        self.keys: set[str] = set()  # the written keys of an object
        self.size = 0  # the number of written items of an array
        self.newest: Step | None = None

    def has_room(self, step: Step) -> bool:
        """Return True if the place at `step` is empty and can be written now."""
        return step not in self.keys if isinstance(step, str) else step == self.size

    def add(self, step: Step) -> None:
        """Note that a value is written at `step`."""
        self.newest = step
        if isinstance(step, str):
            self.keys.add(step)
        else:
            self.size += 1


@final
class LeafChunker:
    """A converter from leaves to fragments of JSON text. Its memory is O(depth + written keys of the open objects).

    Every prefix of the text can be continued to valid JSON, and the whole text, including that of `flush`, is the value
    that the leaves describe. A leaf that cannot be written at the current place raises `SnapshotError` and changes
    nothing.

    >>> chunker = LeafChunker()
    >>> chunker.process("$.days[0].title", "Trip to Fu", will_continue=True)
    '{"days":[{"title":"Trip to Fu'
    >>> chunker.process("$.days[0].title", "ji")
    'ji"'
    >>> chunker.process("$.days[1].title", "Rest") + chunker.flush()
    '},{"title":"Rest"}]}'
    """

    __slots__ = ("_held", "_is_flushed", "_max_depth", "_open", "_step", "_writer")

    def __init__(self, *, max_depth: int = 128) -> None:
        if type(max_depth) is not int or max_depth < 0:
            raise OptionsError("max_depth must be a whole number from 0 up")
        self._max_depth = max_depth
        self.reset()

    def process(self, path: Path | str, value: object = MISSING, *, will_continue: bool = False) -> str:
        """Return the text that a leaf adds.

        A string with ``will_continue=True`` stays open, and the next leaf with the same path has more of its text; the
        last piece may be empty or MISSING. Other values are complete: objects and arrays are allowed too.
        """
        if self._is_flushed:
            raise StateError("the text is flushed; call reset() to start another one")
        if not isinstance(path, (Path, str)):
            raise TypeError(f"expected a Path or str as the path, not {type(path).__name__}")
        leaf = Path.parse(path) if isinstance(path, str) else path
        paths = [ROOT]
        for step in leaf.steps:
            paths.append(paths[-1] / step)
        staying = self._staying(paths)
        if staying > len(paths):
            events = self._continue(self._open[staying - 1], value, will_continue)
        else:
            events = self._begin(paths, staying, value, will_continue)
        self._step += 1
        return self._writer.write(events)

    def flush(self) -> str:
        """End the document: close everything that is open, and return that text."""
        self._is_flushed = True
        return self._writer.write(self._close(1))

    def reset(self) -> None:
        """Start a new document."""
        self._writer = Writer()
        # The document itself counts as an array with room for one item. An empty and a complete document then need no
        # special case.
        self._open = [OpenPlace(ROOT, START_ARRAY)]
        self._held = ""  # text of the open string that is not written yet
        self._is_flushed = False
        self._step = 0

    def _rejection(self, path: Path, reason: Reason) -> SnapshotError:
        return SnapshotError(path, reason, self._step + 1)

    def _staying(self, paths: list[Path]) -> int:
        """Return how many open places stay open for a leaf at the last of `paths`, including the leaf if it is open."""
        for depth, path in enumerate(paths):
            step = _step_to(path)
            outer = self._open[depth]
            if outer.kind is not _kind_around(step):
                raise self._rejection(outer.path, Reason.CHANGED_KIND)
            if depth + 1 < len(self._open) and outer.newest == step:
                continue
            if not outer.has_room(step):
                raise self._rejection(path, Reason.OUT_OF_ORDER)
            for inner in paths[depth + 1 :]:
                if isinstance(inner.step, int) and inner.step != 0:
                    raise self._rejection(inner, Reason.OUT_OF_ORDER)
            return depth + 1
        return len(paths) + 1

    def _continue(self, place: OpenPlace, value: object, will_continue: bool) -> list[Event]:
        """Return the events of a leaf for a place that is open already: it must be more of a string."""
        if place.kind is not START_STRING:
            is_same_kind = isinstance(value, dict if place.kind is START_OBJECT else (list, tuple))
            is_late = is_same_kind or value is MISSING
            raise self._rejection(place.path, Reason.OUT_OF_ORDER if is_late else Reason.CHANGED_KIND)
        if isinstance(value, str):
            self._held += value
        elif value is not MISSING:
            raise self._rejection(place.path, Reason.CHANGED_KIND)
        return self._release(place) if will_continue else self._close(len(self._open) - 1)

    def _begin(self, paths: list[Path], staying: int, value: object, will_continue: bool) -> list[Event]:
        """Return the events of a leaf for a new place."""
        leaf = paths[-1]
        if value is MISSING:
            raise self._rejection(leaf, Reason.OUT_OF_ORDER)
        if len(paths) - 1 > self._max_depth:
            raise self._rejection(paths[self._max_depth], Reason.LIMIT)
        if will_continue and not isinstance(value, str):
            raise self._rejection(leaf, Reason.CHANGED_KIND)
        whole: list[Event] = []
        if not will_continue:
            append_whole(whole, leaf, copied(value, self._max_depth - len(paths) + 1, self._step + 1, leaf))
        # The leaf is accepted: from here on the state changes.
        events = self._close(staying)
        for outer, inner in pairwise(paths[staying - 1 :]):
            events.append(self._enter(outer, _kind_around(_step_to(inner))))
        if will_continue:
            events.append(self._enter(leaf, START_STRING))
            return events + self._continue(self._open[-1], value, will_continue)
        self._open[-1].add(_step_to(leaf))
        return events + whole

    def _enter(self, path: Path, kind: Kind) -> Event:
        self._open[-1].add(_step_to(path))
        self._open.append(OpenPlace(path, kind))
        return Event(kind, path)

    def _close(self, staying: int) -> list[Event]:
        """Close all open places but the first `staying`."""
        events: list[Event] = []
        while len(self._open) > staying:
            place = self._open.pop()
            if place.kind is START_STRING:
                if self._held:
                    events.append(Event(PARTIAL_STRING, place.path, self._held))
                    self._held = ""
                # The writer adds the text that no piece brought. All text came in pieces, so there is none left.
                events.append(Event(COMPLETE_STRING, place.path, ""))
            else:
                events.append(Event(END_OBJECT if place.kind is START_OBJECT else END_ARRAY, place.path))
        return events

    def _release(self, string: OpenPlace) -> list[Event]:
        """Write the held text, except for half a character that the next piece may complete."""
        ready = writable(self._held)
        self._held = self._held[len(ready) :]
        return [Event(PARTIAL_STRING, string.path, ready)] if ready else []


def _step_to(path: Path) -> Step:
    """Return the last step of a path. The root has index 0 in the document."""
    return 0 if path.step is None else path.step


def _kind_around(step: Step) -> Kind:
    """Return the kind of the event that opens a container with such a step."""
    return START_OBJECT if isinstance(step, str) else START_ARRAY
