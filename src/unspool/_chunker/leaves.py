"""Leaves with their paths become text: ``$.days[0].title``, "Trip to Fu", and more of it will follow.

Some providers send the arguments of a tool in this form. The leaves come in the order of the document, and a
string may come in pieces. What has to be opened and closed between two leaves is decided here and told in events;
the writer makes text of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard, final

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
from .values import append_whole, copied, shown

if TYPE_CHECKING:
    from .._events import Kind
    from .._path import Step

__all__ = ["LeafChunker"]


@final
class Place:
    """What is open: an object, an array or a string, by the kind of the event that opened it."""

    __slots__ = ("keys", "kind", "newest", "path", "size")

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path = path
        self.kind = kind
        self.keys: set[str] = set()  # of an object: those that are written
        self.size = 0  # of an array
        self.newest: Step | None = None

    def has_room(self, step: Step) -> bool:
        """Nothing was written at `step` yet, and something can be."""
        return step not in self.keys if isinstance(step, str) else step == self.size

    def add(self, step: Step) -> None:
        """Something is written at `step`."""
        self.newest = step
        if isinstance(step, str):
            self.keys.add(step)
        else:
            self.size += 1


@final
class LeafChunker:
    """Leaves in, fragments of JSON text out. Its memory is O(depth + written keys of the open objects).

    Every prefix of the text can be continued to valid JSON, and all of it, `flush` included, is the value that the
    leaves describe. A leaf that cannot be written where the text stands is a `SnapshotError` and changes nothing.

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
        """The text that a leaf adds.

        A string that will continue stays open, and the next leaf with the same path has more of its text; the last
        piece may be empty or MISSING. Other values are whole: objects and arrays may be among them.
        """
        if self._is_flushed:
            raise StateError("the text was flushed; reset() starts another")
        if not isinstance(path, (Path, str)):
            raise TypeError(f"a path is a Path or str, not {type(path).__name__}")
        leaf = Path.parse(path) if isinstance(path, str) else path
        places = [ROOT]
        for step in leaf.steps:
            places.append(places[-1] / step)
        staying = self._staying(places)
        if staying > len(places):
            events = self._go_on(self._open[staying - 1], value, will_continue)
        else:
            events = self._begin(places, staying, value, will_continue)
        self._step += 1
        return self._writer.write(events)

    def flush(self) -> str:
        """The leaves have ended: close everything."""
        self._is_flushed = True
        return self._writer.write(self._close(1))

    def reset(self) -> None:
        """Start another document."""
        self._writer = Writer()
        # The document itself is like an array that has room for one item: where nothing is written yet, and where
        # all is written, are no special cases then.
        self._open = [Place(ROOT, START_ARRAY)]
        self._held = ""  # text of the open string that is not written yet
        self._is_flushed = False
        self._step = 0

    def _refusal(self, path: Path, reason: Reason) -> SnapshotError:
        return SnapshotError(path, reason, self._step + 1)

    def _staying(self, places: list[Path]) -> int:
        """How many of the open places stay open for a leaf at the last of `places`: with itself, if it is open."""
        for depth, path in enumerate(places):
            step = _step_to(path)
            outer = self._open[depth]
            if outer.kind is not _kind_around(step):
                raise self._refusal(outer.path, Reason.CHANGED_KIND)
            if depth + 1 < len(self._open) and outer.newest == step:
                continue
            if not outer.has_room(step):
                raise self._refusal(path, Reason.OUT_OF_ORDER)
            for inner in places[depth + 1 :]:
                if isinstance(inner.step, int) and inner.step != 0:
                    raise self._refusal(inner, Reason.OUT_OF_ORDER)
            return depth + 1
        return len(places) + 1

    def _go_on(self, place: Place, value: object, will_continue: bool) -> list[Event]:
        """A leaf for what is open already: it has to be more of a string."""
        if place.kind is not START_STRING:
            is_same_kind = _is_object(value) if place.kind is START_OBJECT else _is_array(value)
            is_late = is_same_kind or value is MISSING
            raise self._refusal(place.path, Reason.OUT_OF_ORDER if is_late else Reason.CHANGED_KIND)
        if isinstance(value, str):
            self._held += value
        elif value is not MISSING:
            raise self._refusal(place.path, Reason.CHANGED_KIND)
        return self._release(place) if will_continue else self._close(len(self._open) - 1)

    def _begin(self, places: list[Path], staying: int, value: object, will_continue: bool) -> list[Event]:
        """A leaf for a new place."""
        leaf = places[-1]
        if value is MISSING:
            raise self._refusal(leaf, Reason.OUT_OF_ORDER)
        if len(places) - 1 > self._max_depth:
            raise self._refusal(places[self._max_depth], Reason.LIMIT)
        if will_continue and not isinstance(value, str):
            raise self._refusal(leaf, Reason.CHANGED_KIND)
        whole: list[Event] = []
        if not will_continue:
            append_whole(whole, leaf, copied(value, self._max_depth - len(places) + 1, self._step + 1, leaf))
        # From here on nothing is refused.
        events = self._close(staying)
        for outer, inner in pairwise(places[staying - 1 :]):
            events.append(self._enter(outer, _kind_around(_step_to(inner))))
        if will_continue:
            events.append(self._enter(leaf, START_STRING))
            return events + self._go_on(self._open[-1], value, will_continue)
        self._open[-1].add(_step_to(leaf))
        return events + whole

    def _enter(self, path: Path, kind: Kind) -> Event:
        self._open[-1].add(_step_to(path))
        self._open.append(Place(path, kind))
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
                # The text was not kept; the writer adds what no piece brought, and that is nothing.
                events.append(Event(COMPLETE_STRING, place.path, ""))
            else:
                events.append(Event(END_OBJECT if place.kind is START_OBJECT else END_ARRAY, place.path))
        return events

    def _release(self, string: Place) -> list[Event]:
        """Write what is held, but half a character that may still become a whole one."""
        ready = shown(self._held)
        self._held = self._held[len(ready) :]
        return [Event(PARTIAL_STRING, string.path, ready)] if ready else []


def _step_to(path: Path) -> Step:
    """The last step of a path; to the root, the index that it has in the document."""
    return 0 if path.step is None else path.step


def _kind_around(step: Step) -> Kind:
    """What opens a container that has such steps."""
    return START_OBJECT if isinstance(step, str) else START_ARRAY


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, (list, tuple))
