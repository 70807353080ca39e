"""One session: a stream that was loaded, or that is still coming, as a timeline that only grows.

Its methods run in threads, so that a large document makes nobody else wait; each holds the lock of the session.
"""

from __future__ import annotations

import threading
from codecs import BOM_UTF8
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ..._errors import UnspoolError
from ..viewer.inputs import CUT, Guess, InputDecoder, InputKind
from ..viewer.recordings import may_be_header
from ..viewer.timeline import Timeline
from .document import described, diff, drawn
from .schema import Typing
from .views import view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...patch import Operation
    from ..viewer.inputs import TimedItem
    from .query import Query

__all__ = ["Reading", "Renewal", "Session"]

MOST_STEPS: Final = 100_000  # that a text is cut into: what comes next costs memory for each
HEAD: Final = 256 * 1024
BLOCK: Final = 32 * 1024
TELLING: Final = 4  # lines: they show what an input is, however long they are


@dataclass(frozen=True)
class Reading:
    """As what to read an input; what is None is found out."""

    kind: InputKind | None = None
    format: str | None = None
    cut: int | None = None
    extract: bool = False
    schema: dict[str, Any] | bool | None = None


class Renewal(NamedTuple):
    """The document as it is now, what leads to it, and how long its waterfall took."""

    document: dict[str, Any]
    operations: list[Operation]
    cost: float


@final
class Session:
    """A timeline, what is known beside it, and what was asked for."""

    def __init__(self, id: str, title: str, reading: Reading, *, is_live: bool) -> None:
        self.id: Final = id
        self.title: Final = title
        self.is_live = is_live
        self.problem: str | None = None
        self.timeline = Timeline(Guess(InputKind.JSON), is_timed=is_live)  # until it is known what this is
        self._reading = reading
        self._found: Guess | None = None
        self._opening: InputDecoder | None = None
        self._typing = Typing(reading.schema)
        self._completions: tuple[int, list[int]] = (0, [])  # the last step that is in it
        self._lock = threading.Lock()

    # Reading.

    def load(self, data: bytes) -> None:
        """Read an input that is all there."""
        reading = self._reading
        cut = max(reading.cut or CUT, -(-len(data) // MOST_STEPS))
        opening = InputDecoder(reading.kind, format=reading.format, cut=cut)
        with self._lock:
            try:
                for block in _blocks(data, cut):
                    self._add(opening, opening.feed(0.0, block))
                self._add(opening, opening.close(0.0))
            except UnspoolError as error:
                self.problem = str(error)
            self._finish(opening, self.timeline.duration)

    def begin(self) -> None:
        """From now on, an input comes while it is read."""
        reading = self._reading
        self._opening = InputDecoder(reading.kind, format=reading.format, cut=reading.cut, is_live=True)

    def take(self, time: float, data: bytes) -> bool:
        """What came at this time, in seconds. False: it is broken, and no more of it is to be read."""
        return self._advance(time, data)

    def settle(self) -> bool:
        """Nothing came for a while: what there is decides what this is."""
        return self._advance(0.0, None)

    def _advance(self, time: float, data: bytes | None) -> bool:
        opening = self._opening
        assert opening is not None
        with self._lock:
            try:
                self._add(opening, opening.settle() if data is None else opening.feed(time, data))
            except UnspoolError as error:
                self.problem = str(error)
                return False
        return True

    def end(self, time: float, problem: str | None = None) -> None:
        """Nothing more comes, well or with a problem."""
        opening = self._opening
        assert opening is not None
        with self._lock:
            self.problem = self.problem or problem
            try:
                self._add(opening, opening.close(time))
            except UnspoolError as error:
                self.problem = self.problem or str(error)
            self._finish(opening, self.timeline.duration if opening.is_recording else time)
            self.is_live = False

    def _add(self, opening: InputDecoder, items: Iterable[TimedItem]) -> None:
        if self._found is None and opening.found is not None:
            self._found = opening.found
            extract = self._reading.extract
            self.timeline = Timeline(opening.found, is_timed=opening.is_timed, extract=extract, patches=True)
        for time, item in items:
            self.timeline.add(time, item)

    def _finish(self, opening: InputDecoder, time: float) -> None:
        self._add(opening, ())
        self.timeline.finish(max(time, self.timeline.duration), self.problem or "")
        self._opening = None

    # Looking.

    def demand(self, schema: dict[str, Any] | bool | None) -> None:
        """Show what the text is worth for this schema from now on. Raises `OptionsError` where that cannot be."""
        typing = Typing(schema)
        with self._lock:
            self._typing = typing

    def view(self, query: Query) -> dict[str, Any]:
        """All panels of one step. Raises `UnspoolError` for what cannot be shown."""
        with self._lock:
            timeline = self.timeline
            if self._completions[0] != timeline.last:
                self._completions = (timeline.last, timeline.completions())
            return view(timeline, query, self._completions[1], self._typing)

    def renew(self, old: dict[str, Any], *, with_waterfall: bool) -> Renewal:
        """The document as it is now, compared with an older one, whose waterfall stays unless it is to be renewed."""
        with self._lock:
            found = self._found
            document: dict[str, Any] = {
                "id": self.id,
                "title": self.title,
                "kind": None if found is None else str(found.kind),
                "format": None if found is None else found.format,
                "is_live": self.is_live,
                "problem": self.problem,
                "schema": self._typing.is_on,
                **described(self.timeline),
            }
            begin = monotonic()
            if with_waterfall or "waterfall" not in old:
                document["waterfall"] = drawn(self.timeline)
            else:
                document["waterfall"] = old["waterfall"]
            cost = monotonic() - begin
        return Renewal(document, diff(old, document), cost)


def _blocks(data: bytes, cut: int) -> Iterator[bytes]:
    """An input in blocks, of whole fragments each: what one of them brings is there all at once, and may be large.

    The first tells what the input is, so it has the lines whole that do. Those of a recording are inside of its own.
    """
    size = max(BLOCK // cut, 1) * cut
    is_recording = may_be_header(data[:HEAD].removeprefix(BOM_UTF8))
    end = len(data) if is_recording else max(_end_of_head(data), HEAD)
    end += -end % cut
    yield data[:end]
    for start in range(end, len(data), size):
        yield data[start : start + size]


def _end_of_head(data: bytes) -> int:
    end = count = 0
    while count < TELLING and end < len(data):
        line = data[end : data.find(b"\n", end) + 1 or len(data)]
        end += len(line)
        count += not line.isspace() and not line.startswith(b":")
    return end
