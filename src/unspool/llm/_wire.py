r"""Server-sent events and NDJSON, without the network: bytes to events and lines, and events to bytes.

>>> decoder = SSEDecoder()
>>> decoder.feed(b'event: delta\ndata: {"text": "caf\xc3')
[]
>>> decoder.feed(b'\xa9"}\r\n\r\ndata: [DONE]\n')
[SSEEvent('{"text": "café"}', event='delta')]
>>> decoder.close()
[SSEEvent('[DONE]')]
>>> decoder = NDJSONDecoder()
>>> decoder.feed(b'{"done": false}\n\n{"do')
['{"done": false}']
>>> decoder.feed(b'ne": true}'), decoder.close()
([], ['{"done": true}'])

Streams are UTF-8. Decoders skip one byte order mark at the very start and read each invalid byte as U+FFFD, as the
Encoding standard says. Their output never depends on where the stream is cut. The line ends depend on the format, and
are fewer than those of `str.splitlines`::

    server-sent events    CR, LF, CR LF
    NDJSON                LF, CR LF

`SSEDecoder` follows the HTML standard (section 9.2) with one exception. The standard discards an event without a final
blank line. Some servers and proxies omit that line, and their last event says how the message finished. So
`SSEDecoder.close` returns the unfinished event.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from io import StringIO
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar, final

from .._errors import OptionsError, StateError, UnspoolError
from .._parser import as_bytes
from .._streams import aiterate, iterate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
    from typing import NoReturn

    from .._parser import Fragment

__all__ = [
    "DONE",
    "LineDecoder",
    "LineSplitter",
    "NDJSONDecoder",
    "SSEDecoder",
    "SSEEvent",
    "StreamError",
    "aiter_lines",
    "aiter_sse",
    "encode_sse",
    "iter_lines",
    "iter_sse",
]

MAX_LENGTH: Final = 16 * 1024 * 1024
"""The default limits of lines and events, in characters: the default of `Options.max_chars`."""
MAX_DIGITS: Final = 15  # of a time in milliseconds: thirty thousand years
BYTE_ORDER_MARK: Final = "\ufeff"
JSON_WHITE_SPACE: Final = " \t\r"  # the part of it that can occur inside a line
MESSAGE: Final = "message"
DONE: Final = "[DONE]"
"""The data of the event with which several providers end their streams."""
TOO_LONG: Final = "an event longer than max_event"

Item = TypeVar("Item")


class StreamError(UnspoolError, ValueError):
    """A stream that exceeds a limit, or an event that a stream cannot hold.

    `line` counts from 1 and is `None` for events. The message never quotes the stream.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line

    def _message(self) -> str:
        return self.reason if self.line is None else f"{self.reason}: line {self.line}"


def limit(name: str, value: int | None) -> int:
    """Return a validated limit; for None, one that no stream reaches."""
    if value is None:
        return sys.maxsize
    if type(value) is not int or value < 0:
        raise OptionsError(f"{name} must be a whole number from 0 up, or None")
    return value


@final
class LineSplitter:
    """Fragments in, completed lines out; with `lone_cr`, a CR without a LF ends a line too.

    The splitter buffers the open line, at most `max_line` characters of it, and up to three bytes of a cut character.
    At a line that is too long it sets `error`, returns the lines before it, and stops reading.
    """

    __slots__ = ("_after_cr", "_decoder", "_is_at_start", "_lone_cr", "_max_line", "_open", "count", "error")

    def __init__(self, max_line: int | None, *, lone_cr: bool) -> None:
        self._max_line = limit("max_line", max_line)
        self._lone_cr = lone_cr
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._open = StringIO()  # a list of one-character pieces would take many times their size
        self._is_at_start = True
        self._after_cr = False  # the CR has ended its line already; a LF that follows belongs to it
        self.count = 0
        """The number of completed lines."""
        self.error: StreamError | None = None

    def feed(self, fragment: Fragment) -> list[str]:
        """Read one fragment, cut anywhere."""
        if isinstance(fragment, str):
            # Text after the first bytes of a character leaves that character incomplete; an empty text does not.
            text = self._decoder.decode(b"", final=True) + fragment if fragment else ""
        else:
            text = self._decoder.decode(as_bytes(fragment))
        return self._split(text)

    def close(self) -> str:
        """End the stream and return the line that has no end."""
        self._split(self._decoder.decode(b"", final=True))
        return self._open.getvalue().removesuffix("\r")

    def _split(self, text: str) -> list[str]:
        if not text or self.error is not None:
            return []
        if self._is_at_start:
            self._is_at_start = False
            text = text.removeprefix(BYTE_ORDER_MARK)
        if self._after_cr:
            text = text.removeprefix("\n")
        if self._lone_cr:
            self._after_cr = text.endswith("\r")
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        self._open.write(lines[0])
        if len(lines) > 1:
            lines[0] = self._open.getvalue()
            self._open = StringIO()
            self._open.write(lines[-1])
        del lines[-1]
        return self._within_the_limit(lines)

    def _within_the_limit(self, lines: list[str]) -> list[str]:
        for index, line in enumerate(lines):
            lines[index] = line = line.removesuffix("\r")  # without `lone_cr`, the CR of CR LF is still there
            if len(line) > self._max_line:
                self._fail()
                return lines[:index]
            self.count += 1
        if self._open.tell() > self._max_line and len(self._open.getvalue().removesuffix("\r")) > self._max_line:
            self._fail()
        return lines

    def _fail(self) -> None:
        self._open = StringIO()
        self.error = StreamError("a line longer than max_line", self.count + 1)


class LineDecoder(ABC, Generic[Item]):
    """Fragments in, the items of a line-based format out.

    Items before an error are delivered first. The call that meets the error raises it if it has no items to return;
    otherwise the next call raises it, and every call after that.
    """

    __slots__ = ("_is_closed", "_splitter", "starts")

    def __init__(self, splitter: LineSplitter) -> None:
        self._splitter = splitter
        self._is_closed = False
        self.starts: list[int] = []
        """For each item of the last call, the line on which it begins, counted from 1."""

    @abstractmethod
    def _read(self, lines: list[str], number: int) -> list[Item]:
        """Return the items that end with these lines; `number` is that of the first line. Set `starts`."""

    @abstractmethod
    def _finish(self, line: str, number: int) -> list[Item]:
        """Return the remaining items when the stream ends inside this line, or, if it is empty, after a line end."""

    def feed(self, fragment: Fragment) -> list[Item]:
        """Read one fragment, cut anywhere, and return the items that end in it."""
        if self._is_closed:
            raise StateError("the decoder is closed")
        self.raise_fault()
        lines = self._splitter.feed(fragment)
        return self._deliver(self._read(lines, self._splitter.count - len(lines) + 1))

    def close(self) -> list[Item]:
        """End the stream and return the remaining items."""
        self.raise_fault()
        if self._is_closed:
            return []
        self._is_closed = True
        line = self._splitter.close()
        return self._deliver(self._finish(line, self._splitter.count + 1))

    @property
    def error(self) -> StreamError | None:
        """The error that stopped the decoder, if any."""
        return self._splitter.error

    def raise_fault(self) -> None:
        """Raise the error, if there is one."""
        if self._splitter.error is not None:
            raise self._splitter.error.with_traceback(None)  # or the traceback would grow with each call

    def _deliver(self, items: list[Item]) -> list[Item]:
        if not items:
            self.raise_fault()
        return items


@final
class NDJSONDecoder(LineDecoder[str]):
    """Fragments in, lines out: one JSON text per line. Skips blank lines; the last line needs no line end.

    Raises `StreamError` for a line of more than `max_line` characters.
    """

    __slots__ = ()

    def __init__(self, *, max_line: int | None = MAX_LENGTH) -> None:
        super().__init__(LineSplitter(max_line, lone_cr=False))

    def _read(self, lines: list[str], number: int) -> list[str]:
        self.starts = [at for at, line in enumerate(lines, number) if line.strip(JSON_WHITE_SPACE)]
        return lines if len(self.starts) == len(lines) else [lines[at - number] for at in self.starts]

    def _finish(self, line: str, number: int) -> list[str]:
        return self._read([line], number)


def iter_lines(chunks: Iterable[Fragment], decoder: NDJSONDecoder | None = None) -> Generator[str, None, None]:
    """Iterate over the lines of a stream of bytes or text. Closing the iterator closes a generator source, too."""
    return iterate(chunks, decoder or NDJSONDecoder())


def aiter_lines(chunks: AsyncIterable[Fragment], decoder: NDJSONDecoder | None = None) -> AsyncGenerator[str, None]:
    """Iterate over the lines of an async stream; the async version of `iter_lines`."""
    return aiterate(chunks, decoder or NDJSONDecoder())


@final
class SSEEvent:
    """One event. The constructor rejects events that a stream cannot hold, so `encode_sse` accepts every instance.

    `data` is lines with LF between them: CR and CR LF end lines in a stream, so the constructor replaces them by LF.
    An `event` without a name is a "message". `id` is the last id that the stream gave, with this event or before it;
    clients send it to resume after this event. It is `None` before the first id. `retry` is the time in milliseconds
    that this event asks clients to wait before they reconnect.

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
        if retry is not None and (type(retry) is not int or not 0 <= retry < 10**MAX_DIGITS):
            raise StreamError(f"retry is a whole number from 0 up, of at most {MAX_DIGITS} digits")
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "event", event or MESSAGE)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "retry", retry)

    @property
    def is_done(self) -> bool:
        """Whether this is the ``[DONE]`` with which several providers end their streams."""
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


def encode_sse(event: SSEEvent) -> bytes:
    r"""Encode an event as a server sends it, with the final blank line. Decoding it gives an equal event.

    >>> encode_sse(SSEEvent("one\ntwo", event="delta"))
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
    """Fragments in, events out. Bytes and text may be cut anywhere.

    Raises `StreamError` for a line of more than `max_line` characters and for an event with more than `max_event`
    characters of data. `feed` returns complete events only.

    `close` returns the event that lacks its final blank line, if it has any data. An unfinished data line counts;
    other fields count only as whole lines, because half an id would be a different id. The decoder cannot tell whether
    the data is complete, so this event does not change `last_event_id`: clients that reconnect ask for it again. With
    ``keep_unfinished=False``, `close` discards the event, as the standard says.
    """

    __slots__ = (
        "_begin",
        "_data",
        "_event",
        "_event_retry",
        "_id",
        "_keep_unfinished",
        "_max_event",
        "last_event_id",
        "retry",
    )

    def __init__(
        self, *, max_line: int | None = MAX_LENGTH, max_event: int | None = MAX_LENGTH, keep_unfinished: bool = True
    ) -> None:
        super().__init__(LineSplitter(max_line, lone_cr=True))
        self._max_event = limit("max_event", max_event)
        self._keep_unfinished = keep_unfinished
        self._data: StringIO | None = None
        self._begin = 0  # the line on which the data begins
        self._event = ""
        self._event_retry: int | None = None
        self._id: str | None = None
        self.last_event_id: str | None = None
        """The last id, as of the last blank line: clients send it to resume. None before the first id."""
        self.retry: int | None = None
        """The last time in milliseconds that the stream asked clients to wait before they reconnect, if any."""

    def _read(self, lines: list[str], number: int) -> list[SSEEvent]:
        self.starts = []
        events: list[SSEEvent] = []
        for at, line in enumerate(lines, number):
            if not line:
                self.last_event_id = self._id
                events += self._take_event()
            elif not self._take_field(line, at):
                self._splitter.error = StreamError(TOO_LONG, at)
                break
        return events

    def _finish(self, line: str, number: int) -> list[SSEEvent]:
        self.starts = []
        if not self._keep_unfinished:
            return []
        if line.startswith("data:") and not self._take_field(line, number):
            self._splitter.error = StreamError(TOO_LONG, number)
        if self.error is not None or self._data is None or not self._data.tell():
            return []
        return self._take_event()

    def _take_field(self, line: str, number: int) -> bool:
        """Add one line to the event; return False if that makes the event too long."""
        name, _, value = line.partition(":")  # comments have no name
        value = value.removeprefix(" ")
        if name == "data":
            if self._data is None:
                self._data = StringIO()
                self._begin = number
            else:
                self._data.write("\n")
            self._data.write(value)
            return self._data.tell() <= self._max_event
        if name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
            self.retry = self._event_retry = int(value)
        return True

    def _take_event(self) -> list[SSEEvent]:
        """Return the event that has been read, if it has data, and begin the next one."""
        data, name, retry = self._data, self._event, self._event_retry
        self._data, self._event, self._event_retry = None, "", None
        if data is None:
            return []
        self.starts.append(self._begin)
        return [SSEEvent(data.getvalue(), name, self._id, retry)]


def iter_sse(chunks: Iterable[Fragment], decoder: SSEDecoder | None = None) -> Generator[SSEEvent, None, None]:
    """Iterate over the events of a stream of bytes or text; raise its error, if any, after the last event.

    Closing the iterator closes a generator source, too. Pass a `decoder` to set the limits, or to read its
    `last_event_id` when the stream has ended.
    """
    return iterate(chunks, decoder or SSEDecoder())


def aiter_sse(chunks: AsyncIterable[Fragment], decoder: SSEDecoder | None = None) -> AsyncGenerator[SSEEvent, None]:
    """Iterate over the events of an async stream; the async version of `iter_sse`."""
    return aiterate(chunks, decoder or SSEDecoder())
