r"""Server-sent events, as the HTML standard defines them (section 9.2): both ends of the wire, without the wire.

>>> decoder = SSEDecoder()
>>> decoder.feed(b'event: delta\ndata: {"text": "caf\xc3')
[]
>>> decoder.feed(b'\xa9"}\r\n\r\ndata: [DONE]\n')
[SSEEvent('{"text": "café"}', event='delta')]
>>> decoder.close()
[SSEEvent('[DONE]')]

An event ends with a blank line. The standard discards what a stream ends in the middle of; but there are servers, and
proxies between, that leave the last blank line out, or the last line end, and with it goes how the message finished.
So `SSEDecoder.close` gives what there is: see there. All that `SSEDecoder.feed` gives is whole.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, ClassVar, Final, final

from .._streams import aiterate, iterate
from ._lines import LONGEST, LineDecoder, LineSplitter, StreamError, limit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
    from typing import NoReturn

    from .._parser import Fragment

__all__ = ["SSEDecoder", "SSEEvent", "StreamError", "aiter_sse", "encode", "iter_sse"]

MESSAGE: Final = "message"
DONE: Final = "[DONE]"
TOO_LONG: Final = "an event longer than max_event"
MOST_DIGITS: Final = 15  # of a time in milliseconds: thirty thousand years


@final
class SSEEvent:
    """One event. It is always one that a stream can hold, so there is no other that `encode` could meet.

    `data` is lines with LF between them: CR and CR LF end lines in a stream, whatever was meant, and so become LF here.
    An `event` without a name is a "message". `id` is the last one that the stream gave, with this event or before it:
    what to ask for to go on after it; None if there was none. `retry` is the time in milliseconds that this event
    says to wait before asking.

    >>> SSEEvent("one\\r\\ntwo", id="7").data
    'one\\ntwo'
    """

    __slots__ = ("data", "event", "id", "retry")
    __match_args__: ClassVar[tuple[str, ...]] = ("data", "event", "id", "retry")

    data: str
    event: str
    id: str | None
    retry: int | None

    def __init__(self, data: str, event: str = MESSAGE, id: str | None = None, retry: int | None = None) -> None:
        if "\r" in data:
            data = data.replace("\r\n", "\n").replace("\r", "\n")
        if "\n" in event or "\r" in event:
            raise StreamError("the name of an event is one line")
        if id is not None and ("\n" in id or "\r" in id or "\0" in id):
            raise StreamError("the id of an event is one line, without U+0000")
        if retry is not None and (type(retry) is not int or not 0 <= retry < 10**MOST_DIGITS):
            raise StreamError(f"retry is a whole number from 0 up, of at most {MOST_DIGITS} digits")
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "event", event or MESSAGE)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "retry", retry)

    @property
    def is_done(self) -> bool:
        """It is the ``[DONE]`` that ends the stream of many a provider."""
        return self.data.strip() == DONE

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("events do not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("events do not change")

    def _fields(self) -> tuple[str, str, str | None, int | None]:
        return (self.data, self.event, self.id, self.retry)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SSEEvent):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        parts = [repr(self.data)]
        if self.event != MESSAGE:
            parts.append(f"event={self.event!r}")
        if self.id is not None:
            parts.append(f"id={self.id!r}")
        if self.retry is not None:
            parts.append(f"retry={self.retry!r}")
        return f"SSEEvent({', '.join(parts)})"

    def __reduce__(self) -> tuple[object, ...]:
        return SSEEvent, self._fields()


def encode(event: SSEEvent) -> bytes:
    r"""The event as a server sends it, blank line and all: decoding it gives an equal one.

    >>> encode(SSEEvent("one\ntwo", event="delta"))
    b'event: delta\ndata: one\ndata: two\n\n'
    """
    lines: list[str] = []
    if event.event != MESSAGE:
        lines.append(f"event: {event.event}\n")
    if event.id is not None:
        lines.append(f"id: {event.id}\n")
    if event.retry is not None:
        lines.append(f"retry: {event.retry}\n")
    lines += [f"data: {line}\n" for line in event.data.split("\n")]
    try:
        return "".join([*lines, "\n"]).encode()
    except UnicodeEncodeError:
        raise StreamError("half of a surrogate pair cannot be sent: streams are UTF-8") from None


@final
class SSEDecoder(LineDecoder[SSEEvent]):
    """Fragments in, events out. Bytes and text may be cut anywhere: nothing that is seen depends on it.

    A line of more than `max_line` characters, or an event whose data has more than `max_event`, is a `StreamError`.

    `close` gives the event that stands there without the blank line that would end it, if it has any data. A data line
    that has not ended counts, too. Of other fields only whole lines do: half an id, or half a time to wait, would be
    taken for another one. Whether the data is all there nobody can tell; where it is JSON, reading it will. So
    this event does not change `last_event_id`: to reconnect is to ask for it again. With ``keep_unfinished=False``
    it is discarded, as the standard says.
    """

    __slots__ = ("_data", "_event", "_event_retry", "_id", "_keep_unfinished", "_max_event", "last_event_id", "retry")

    def __init__(
        self, *, max_line: int | None = LONGEST, max_event: int | None = LONGEST, keep_unfinished: bool = True
    ) -> None:
        super().__init__(LineSplitter(max_line, lone_cr=True))
        self._max_event = limit("max_event", max_event)
        self._keep_unfinished = keep_unfinished
        self._data: StringIO | None = None
        self._event = ""
        self._event_retry: int | None = None
        self._id: str | None = None
        self.last_event_id: str | None = None
        """The last id, as of the last blank line: what to ask for when reconnecting. None if there was none."""
        self.retry: int | None = None
        """How long to wait before reconnecting, in milliseconds, as the stream said last. None if it did not say."""

    def _read(self, lines: list[str]) -> list[SSEEvent]:
        events: list[SSEEvent] = []
        for number, line in enumerate(lines, self._splitter.count - len(lines) + 1):
            if not line:
                self.last_event_id = self._id
                events += self._take_event()
            elif not self._take_field(line):
                self._splitter.error = StreamError(TOO_LONG, number)
                break
        return events

    def _finish(self, line: str) -> list[SSEEvent]:
        if not self._keep_unfinished:
            return []
        if line.startswith("data:") and not self._take_field(line):
            self._splitter.error = StreamError(TOO_LONG, self._splitter.count + 1)
        if self.error is not None:
            return []
        return [event for event in self._take_event() if event.data]

    def _take_field(self, line: str) -> bool:
        """Take one line; False if that makes the event too long."""
        name, _, value = line.partition(":")  # without a name it is a comment
        value = value.removeprefix(" ")
        if name == "data":
            if self._data is None:
                self._data = StringIO()
            else:
                self._data.write("\n")
            self._data.write(value)
            return self._data.tell() <= self._max_event
        if name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS:
            self.retry = self._event_retry = int(value)
        return True

    def _take_event(self) -> list[SSEEvent]:
        """The event that has been read, if it has data; the next one begins."""
        data, name, retry = self._data, self._event, self._event_retry
        self._data, self._event, self._event_retry = None, "", None
        return [] if data is None else [SSEEvent(data.getvalue(), name, self._id, retry)]


def iter_sse(chunks: Iterable[Fragment], decoder: SSEDecoder | None = None) -> Generator[SSEEvent, None, None]:
    """The events of a stream that comes in chunks, then its error if there is one.

    Where the source is a generator, it is closed together with the iterator. A `decoder` that is given says what the
    limits are, and knows, when the stream has ended, where a new one would have to begin.
    """
    return iterate(chunks, decoder or SSEDecoder())


def aiter_sse(chunks: AsyncIterable[Fragment], decoder: SSEDecoder | None = None) -> AsyncGenerator[SSEEvent, None]:
    """As `iter_sse`, for a source that is awaited."""
    return aiterate(chunks, decoder or SSEDecoder())
