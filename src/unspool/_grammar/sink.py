"""The waist of the library: the calls that a reader makes, one per thing that becomes known.

A `Sink` receives the stream of events in its compact form, without objects. `EventList` makes `Event` objects of the
calls; `ValueSink` and `TreeFold` in ``_tree`` grow values and nodes. So the grammar exists once, and a parser
only creates the objects that its user sees.

A value is announced with the `key` under which it belongs, or None and its `index` in an array. The reader reports the
text of a string piece by piece; a sink that shows the text keeps the pieces.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._events import ErrorEvent, Event, Kind
from .._native import TYPE_CHECKING, final
from .._path import ROOT, Path

if TYPE_CHECKING:
    from typing import Final

    from .._errors import JSONSyntaxError
    from .._native import i64

# Looking up a member of an enum by name takes time at each use; a constant does not.
START_OBJECT: Final = Kind.START_OBJECT
START_ARRAY: Final = Kind.START_ARRAY
START_STRING: Final = Kind.START_STRING
PARTIAL_STRING: Final = Kind.PARTIAL_STRING
COMPLETE_STRING: Final = Kind.COMPLETE_STRING
COMPLETE_NUMBER: Final = Kind.COMPLETE_NUMBER
COMPLETE_BOOLEAN: Final = Kind.COMPLETE_BOOLEAN
COMPLETE_NULL: Final = Kind.COMPLETE_NULL
END_OBJECT: Final = Kind.END_OBJECT
END_ARRAY: Final = Kind.END_ARRAY
ERROR: Final = Kind.ERROR


class Sink:
    """The interface that a reader calls. This base class ignores everything.

    Set `keeps_raw` to receive the source text of numbers; the others get an empty string, which costs nothing.
    """

    __slots__ = ("keeps_raw",)

    def __init__(self, keeps_raw: bool = False) -> None:
        self.keeps_raw = keeps_raw

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        """An object or an array opened."""

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        """The innermost open object or array closed."""

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        """A string value opened."""

    def grow_string(self, text: str, offset: i64) -> None:
        """The open string has more text; `text` is never empty."""

    def end_string(self, offset: i64) -> None:
        """The open string closed."""

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        """A string value opened and closed within one fragment, between the quotes at `start` and `end`."""

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        """A number ended."""

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        """One of true, false and null ended."""

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        """The text is invalid inside the node `node_id`. If reading goes on, the open string is dropped.

        If reading goes on after an incomplete text, the end of a line has cut the document off. The reader then closes
        the open containers, and the document does not count as finished.
        """


@final
class EventList(Sink):
    """The sink that makes events. `take` returns the events since the last call.

    To resume inside a document, pass the path of the innermost open container, and the path, the id and the text of the
    open string.
    """

    __slots__ = ("_container", "_pieces", "_string", "_string_id", "errors", "events")

    def __init__(
        self, container: Path | None = None, string: Path = ROOT, string_id: int = -1, string_text: str = ""
    ) -> None:
        self.keeps_raw = True
        self.errors: list[JSONSyntaxError] = []
        self.events: list[Event] = []
        self._container = container
        self._string = string
        self._string_id = string_id
        self._pieces = [string_text] if string_text else []

    def take(self) -> list[Event]:
        """Return the new events, and forget them."""
        events = self.events
        self.events = []
        return events

    def _path(self, key: str | None, index: i64) -> Path:
        container = self._container
        if container is None:
            return ROOT
        if key is None:
            return Path(container, index)
        return Path(container, key)

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        path = self._container = self._path(key, index)
        self.events.append(Event(START_OBJECT if is_object else START_ARRAY, path, None, node_id, offset, None))

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        path = self._container
        assert path is not None
        self.events.append(Event(END_OBJECT if is_object else END_ARRAY, path, None, node_id, offset, None))
        self._container = path._parent

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        path = self._string = self._path(key, index)
        self._string_id = node_id
        self._pieces = []
        self.events.append(Event(START_STRING, path, None, node_id, offset, None))

    def grow_string(self, text: str, offset: i64) -> None:
        self._pieces.append(text)
        self.events.append(Event(PARTIAL_STRING, self._string, text, self._string_id, offset, None))

    def end_string(self, offset: i64) -> None:
        pieces = self._pieces
        text = pieces[0] if len(pieces) == 1 else "".join(pieces)
        self._pieces = []
        self.events.append(Event(COMPLETE_STRING, self._string, text, self._string_id, offset, None))

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        container = self._container
        path = ROOT if container is None else Path(container, index if key is None else key)
        events = self.events
        events.append(Event(START_STRING, path, None, node_id, start, None))
        if text:
            events.append(Event(PARTIAL_STRING, path, text, node_id, start + 1, None))
        events.append(Event(COMPLETE_STRING, path, text, node_id, end, None))

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        container = self._container
        path = ROOT if container is None else Path(container, index if key is None else key)
        self.events.append(Event(COMPLETE_NUMBER, path, value, node_id, offset, raw))

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        kind = COMPLETE_NULL if value is None else COMPLETE_BOOLEAN
        self.events.append(Event(kind, self._path(key, index), value, node_id, offset, None))

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        self.errors.append(error)
        self.events.append(ErrorEvent(ERROR, error.path, error, node_id, error.offset, None))
