"""Sources of chunks, and the decoders that make chunks of their bytes.

Sources are iterables of chunks, streams of the providers' SDKs, HTTP responses, and bytes. They are recognised by duck
typing; no SDK is imported. An item of a source is a chunk, an event of an SSE library, or part of a body. A body is
server-sent events, one JSON value per line, or one JSON array.

`PayloadDecoder` and `read_chunk` are the only code that turns the bytes of a stream into chunks.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast, final

from .._missing import MISSING
from .._state import create_state, parse_chunk
from .._tree.nodes import ContainerNode
from ._deltas import Ignored, ProviderError
from ._diagnostics import FIRST_ERROR, Fault, MessageError, http_status
from ._formats.chunks import failure, get, is_record, says, string
from ._wire import DONE, MAX_LENGTH, NDJSONDecoder, SSEDecoder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from .._parser import Fragment
    from ._deltas import Delta
    from ._wire import SSEEvent

__all__ = [
    "BLANK",
    "UNREADABLE",
    "ChunkDecoder",
    "Payload",
    "PayloadDecoder",
    "aclose_source",
    "close_source",
    "failure_of",
    "is_event_stream",
    "items_of",
    "read_chunk",
    "refusal_of",
    "status_of",
]

BLANK: Final = "\ufeff \t\r\n"
"""The characters that may precede the first payload of a stream."""
EVENT_STARTS: Final = ("data:", "event:", "id:", "retry:", ":")
UNREADABLE: Final = Ignored("data that is not JSON")
"""The chunk that stands for a payload that is not JSON."""


# Sources.


def items_of(source: Any, *, is_async: bool) -> Any:
    """Return an iterator over the items of a source; with `is_async`, an async iterator."""
    if is_async:
        stream = source.aiter_bytes() if callable(getattr(source, "aiter_bytes", None)) else source
        if not isinstance(stream, AsyncIterable):
            raise TypeError(f"{type(source).__name__} is not an async source: read it with `for`")
        return cast("AsyncIterable[object]", stream).__aiter__()
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return iter([cast("object", source)])
    if callable(getattr(source, "iter_bytes", None)):
        return iter(source.iter_bytes())
    if callable(getattr(source, "iter_content", None)):
        return iter(source.iter_content(None))
    if not isinstance(source, Iterable):
        raise TypeError(f"{type(source).__name__} is not an iterable source: read it with `async for`")
    return iter(cast("Iterable[object]", source))


def close_source(*sources: Any) -> None:
    """Close the sources that have a `close` method."""
    for source in sources:
        close = getattr(source, "close", None)
        if callable(close):
            close()


async def aclose_source(*sources: Any) -> None:
    """Close the sources that have an `aclose` or `close` method, and await the result where necessary."""
    for source in sources:
        close = getattr(source, "aclose", None) or getattr(source, "close", None)
        closing = close() if callable(close) else None
        if hasattr(closing, "__await__"):
            await cast("Awaitable[object]", closing)


def status_of(source: object) -> int:
    """Return the status code of an HTTP error response; 0 for every other source."""
    status = getattr(source, "status_code", 0)
    return status if isinstance(status, int) and status >= FIRST_ERROR else 0


def refusal_of(status: int, body: bytes) -> MessageError:
    """Return the error that an HTTP error response describes with its status code and its body."""
    told: list[Delta] = []
    try:
        value: object = json.loads(body)
        told = failure(get(value, "error")) or failure(value)
    except (ValueError, RecursionError):
        pass
    for delta in told:
        if isinstance(delta, ProviderError):
            code = delta.code or str(status)
            return MessageError(Fault.PROVIDER, code=code, detail=delta.message, status=status)
    return MessageError(Fault.PROVIDER, code=str(status), status=status)


def failure_of(error: Exception) -> MessageError:
    """Return the message error for an exception of a source. SDKs attach the provider's words to their exceptions."""
    own: dict[str, object] = vars(error)  # the properties of an exception may raise
    status = _status_in(own, type(error))
    for delta in failure(_said(own)):
        if isinstance(delta, ProviderError):
            code = delta.code or (None if status is None else str(status))
            return MessageError(Fault.PROVIDER, reason=error, code=code, detail=delta.message, status=status)
    if status is not None:
        return MessageError(Fault.PROVIDER, reason=error, code=str(status), status=status)
    return MessageError(Fault.TRANSPORT, reason=error)


def _status_in(own: dict[str, object], kind: type[Exception]) -> int | None:
    """Return the HTTP status in the attributes of an exception; every SDK stores it in a different one."""
    response = get(own, "response")
    candidates: list[object] = [get(own, name) for name in ("status_code", "status", "code")]
    candidates.append(getattr(kind, "status_code", None))
    if isinstance(response, dict):
        candidates.append(get(get(cast("object", response), "ResponseMetadata"), "HTTPStatusCode"))
    else:
        candidates.append(_own(response, "status_code"))
    for candidate in candidates:
        if isinstance(candidate, int) and (status := http_status(candidate)) is not None:
            return status
    return None


def _own(source: object, name: str) -> object:
    """Return an attribute of an object that is none of its properties, which may raise."""
    return vars(source).get(name, MISSING) if hasattr(source, "__dict__") else MISSING


def _said(own: dict[str, object]) -> object:
    """Return the provider's words in the attributes of an exception; every SDK stores them in a different one."""
    for name in ("body", "details"):
        body = get(own, name)
        for told in (get(body, "error"), body):
            if says(told):
                return told
    of_aws = get(get(own, "response"), "Error")
    if is_record(of_aws):
        return {"code": string(of_aws, "Code"), "message": string(of_aws, "Message")}
    return string(own, "error")


# Bytes to payloads, and payloads to chunks.


class Payload(NamedTuple):
    """The text of one chunk, and the line of the stream on which it begins, counted from 1."""

    line: int
    text: str


@final
class PayloadDecoder:
    """Fragments of a stream in, payloads out: the data of server-sent events, or the lines of NDJSON.

    Raises `StreamError` for a payload of more than `max_length` characters, after the payloads before it.
    """

    __slots__ = ("_decoder",)

    def __init__(self, *, is_sse: bool, max_length: int | None = MAX_LENGTH) -> None:
        self._decoder: SSEDecoder | NDJSONDecoder
        if is_sse:
            self._decoder = SSEDecoder(max_line=max_length, max_event=max_length)
        else:
            self._decoder = NDJSONDecoder(max_line=max_length)

    def feed(self, fragment: Fragment) -> list[Payload]:
        """Return the payloads that end in this fragment."""
        return self._payloads(self._decoder.feed(fragment))

    def close(self) -> list[Payload]:
        """Return the payloads that the end of the stream completes."""
        return self._payloads(self._decoder.close())

    def _payloads(self, items: Sequence[SSEEvent | str]) -> list[Payload]:
        payloads: list[Payload] = []
        for line, item in zip(self._decoder.starts, items, strict=True):
            if isinstance(item, str):
                payloads.append(Payload(line, item))
            elif item.data.strip():  # an event may be empty; a line never is
                payloads.append(Payload(line, item.data))
        return payloads


def read_chunk(text: str) -> object:
    """Return the chunk that a payload holds: a JSON value, `DONE`, or `UNREADABLE`."""
    if text.strip() == DONE:
        return DONE
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return UNREADABLE


def is_event_stream(head: str) -> bool | None:
    """Whether a stream that begins with this text is server-sent events; None while more text may change the answer."""
    head = head.lstrip(BLANK)
    if head.startswith(EVENT_STARTS):
        return True
    return None if any(start.startswith(head) for start in EVENT_STARTS) else False


class Body(Protocol):
    """A decoder for one kind of body."""

    def feed(self, fragment: Fragment, /) -> list[object]:
        """Return the chunks that end in this fragment."""
        ...

    def close(self) -> list[object]:
        """Return the chunks that the end of the body completes."""
        ...


@final
class ChunkDecoder:
    """Items of a source in, chunks out."""

    __slots__ = ("_body", "_held", "_is_lines", "_texts", "is_done")

    def __init__(self) -> None:
        self._body: Body | None = None
        self._held: list[Fragment] = []  # fragments that do not show yet what the body is
        self._is_lines: bool | None = None  # the source yields text line by line, without line ends
        self._texts: list[str] = []  # texts that do not show yet whether they are lines
        self.is_done = False
        """Whether the stream has announced its end with ``[DONE]``."""

    def feed(self, item: object) -> list[object]:
        """Return the chunks that an item completes."""
        if isinstance(item, str):
            return self._text(item)
        if isinstance(item, (bytes, bytearray, memoryview)):
            return self._piece(bytes(cast("bytes", item)))
        data = getattr(item, "data", None)
        if isinstance(data, str) and hasattr(item, "event") and not isinstance(item, dict):
            return self._payload(data)
        return [item]

    def close(self) -> list[object]:
        """Return the chunks that the end of the source completes."""
        chunks: list[object] = []
        if self._texts:
            chunks = self._lines_or_text(is_lines=True)
        return chunks if self._body is None else chunks + self._check(self._body.close())

    def _text(self, text: str) -> list[object]:
        if self._is_lines is not None or self._body is not None:
            return self._piece(text + "\n" if self._is_lines else text)
        self._texts.append(text)
        if "\n" in text or "\r" in text or not (text == "" or text.startswith((*EVENT_STARTS, "{"))):
            return self._lines_or_text(is_lines=False)
        if len(self._texts) > 1 or read_chunk(text) is not UNREADABLE:
            return self._lines_or_text(is_lines=True)
        return []

    def _lines_or_text(self, *, is_lines: bool) -> list[object]:
        self._is_lines = is_lines
        texts, self._texts = self._texts, []
        return [chunk for text in texts for chunk in self._piece(text + "\n" if is_lines else text)]

    def _piece(self, piece: Fragment) -> list[object]:
        body = self._body
        if body is None:
            self._held.append(piece)
            start = _as_text(piece).lstrip(BLANK)  # every fragment before this one is blank
            if not start:
                return []
            self._body = body = _LineBody() if start[0] == "{" else _ArrayBody() if start[0] == "[" else _EventBody()
            held, self._held = self._held, []
            return [chunk for early in held for chunk in self._check(body.feed(early))]
        return self._check(body.feed(piece))

    def _payload(self, data: str) -> list[object]:
        return self._check([] if not data.strip() else [read_chunk(data)])

    def _check(self, chunks: list[object]) -> list[object]:
        left = [chunk for chunk in chunks if chunk is not DONE]
        self.is_done = self.is_done or len(left) < len(chunks)
        return left


def _as_text(piece: Fragment) -> str:
    return piece if isinstance(piece, str) else bytes(piece).decode(errors="ignore")


class _EventBody:
    """Server-sent events with one chunk each."""

    def __init__(self) -> None:
        self._decoder = PayloadDecoder(is_sse=True)

    def feed(self, fragment: Fragment) -> list[object]:
        return [read_chunk(payload.text) for payload in self._decoder.feed(fragment)]

    def close(self) -> list[object]:
        return [read_chunk(payload.text) for payload in self._decoder.close()]


class _LineBody:
    """One chunk per line. A body without any such line may be a single chunk, written on many lines."""

    def __init__(self) -> None:
        self._decoder = PayloadDecoder(is_sse=False)
        self._unread: list[str] | None = []  # None as soon as one line is a chunk

    def feed(self, fragment: Fragment) -> list[object]:
        return self._chunks(self._decoder.feed(fragment))

    def close(self) -> list[object]:
        chunks = self._chunks(self._decoder.close())
        return chunks if chunks or not self._unread else [read_chunk("\n".join(self._unread))]

    def _chunks(self, payloads: list[Payload]) -> list[object]:
        chunks: list[object] = []
        for payload in payloads:
            chunk = read_chunk(payload.text)
            if chunk is UNREADABLE and self._unread is not None:
                self._unread.append(payload.text)
            else:
                self._unread = None
                chunks.append(chunk)
        return chunks


class _ArrayBody:
    """One growing array with a chunk per item."""

    def __init__(self) -> None:
        self._state = create_state()
        self._count = 0

    def feed(self, fragment: Fragment) -> list[object]:
        before, self._state = self._state, parse_chunk(self._state, fragment)
        root = self._state.root
        chunks: list[object] = []
        if isinstance(root, ContainerNode):
            size = len(root)
            if size and not root.child(size - 1).closed:
                size -= 1
            chunks = [root.child(index).value for index in range(self._count, size)]
            self._count = size
        is_broken = self._state.error is not None and before.error is None
        return [*chunks, UNREADABLE] if is_broken else chunks

    def close(self) -> list[object]:
        return []
