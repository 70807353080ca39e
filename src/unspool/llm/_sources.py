"""Where chunks come from: lists and iterators of them, streams of the providers' libraries, HTTP responses, bytes.

What a source is is told by what it has, and nothing is imported for it. The items of a source are chunks already, or
events of an SSE library, or pieces of a body: server-sent events, one JSON value a line, or one JSON array.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, final

from .._state import create_state, parse_chunk
from .._tree.nodes import ContainerNode
from ._deltas import Ignored, ProviderError
from ._faults import Fault, MessageError
from ._formats.building import failure
from ._formats.fields import get, is_record, says, string
from ._lines import NDJSONDecoder
from ._sse import DONE, SSEDecoder

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .._parser import Fragment
    from ._deltas import Delta
    from ._sse import SSEEvent

__all__ = ["Payloads", "aclose_source", "close_source", "failure_of", "items_of", "refusal_of", "status_of"]

BLANK: Final = "\ufeff \t\r\n"
LINE_STARTS: Final = ("data:", "event:", "id:", "retry:", ":", "{")
FIRST_ERROR: Final = 400  # among the status codes of HTTP
UNREADABLE: Final = Ignored("data that is not JSON")


def items_of(source: Any, *, is_async: bool) -> Any:
    """An iterator over the items of a source; with `is_async`, one that is awaited."""
    if is_async:
        stream = source.aiter_bytes() if callable(getattr(source, "aiter_bytes", None)) else source
        if not isinstance(stream, AsyncIterable):
            raise TypeError(f"{type(source).__name__} is no source that is awaited: read it with `for`")
        return cast("AsyncIterable[object]", stream).__aiter__()
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return iter([cast("object", source)])
    if callable(getattr(source, "iter_bytes", None)):
        return iter(source.iter_bytes())
    if callable(getattr(source, "iter_content", None)):
        return iter(source.iter_content(None))
    if not isinstance(source, Iterable):
        raise TypeError(f"{type(source).__name__} is no source to iterate over: read it with `async for`")
    return iter(cast("Iterable[object]", source))


def close_source(*sources: Any) -> None:
    """Close what can be closed."""
    for source in sources:
        close = getattr(source, "close", None)
        if callable(close):
            close()


async def aclose_source(*sources: Any) -> None:
    """Close what can be closed, and wait for it where that is asked for."""
    for source in sources:
        close = getattr(source, "aclose", None) or getattr(source, "close", None)
        closing = close() if callable(close) else None
        if hasattr(closing, "__await__"):
            await cast("Awaitable[object]", closing)


def status_of(source: object) -> int:
    """The status code of an HTTP response that says no; 0 for everything else."""
    status = getattr(source, "status_code", 0)
    return status if isinstance(status, int) and status >= FIRST_ERROR else 0


def refusal_of(status: int, body: bytes) -> ProviderError:
    """What an HTTP response says that has no stream."""
    told: list[Delta] = []
    try:
        value: object = json.loads(body)
        told = failure(get(value, "error")) or failure(value)
    except (ValueError, RecursionError):
        pass
    for delta in told:
        if isinstance(delta, ProviderError):
            return ProviderError(delta.message, delta.code or str(status), delta.raw)
    return ProviderError("", str(status))


def failure_of(error: Exception) -> MessageError:
    """What an exception of a source means. Libraries raise the error of a provider with what the provider said."""
    status = status_of(error)
    for delta in failure(_said(error)):
        if isinstance(delta, ProviderError):
            code = delta.code or (str(status) if status else None)
            return MessageError(Fault.PROVIDER, reason=error, code=code, detail=delta.message)
    if status:
        return MessageError(Fault.PROVIDER, reason=error, code=str(status))
    return MessageError(Fault.TRANSPORT, reason=error)


def _said(error: Exception) -> object:
    """What the provider said, wherever a library puts it: each has its own place for it."""
    own: dict[str, object] = vars(error)  # what an exception computes may raise one
    for name in ("body", "details"):
        body = get(own, name)
        for told in (get(body, "error"), body):
            if says(told):
                return told
    of_aws = get(get(own, "response"), "Error")
    if is_record(of_aws):
        return {"code": string(of_aws, "Code"), "message": string(of_aws, "Message")}
    return string(own, "error")


class Body(Protocol):
    """What reads the pieces of a body."""

    def feed(self, fragment: Fragment, /) -> list[object]:
        """The chunks that end with this piece."""
        ...

    def close(self) -> list[object]:
        """The chunks that the end of the body brings."""
        ...


@final
class Payloads:
    """Items in, chunks out."""

    __slots__ = ("_body", "_held", "_is_lines", "_texts", "is_done")

    def __init__(self) -> None:
        self._body: Body | None = None
        self._held: list[Fragment] = []  # pieces that do not tell yet what the body is
        self._is_lines: bool | None = None  # text comes line by line, without the ends of the lines
        self._texts: list[str] = []  # texts that do not tell yet whether they are lines
        self.is_done = False
        """The stream has said that it is at its end."""

    def feed(self, item: object) -> list[object]:
        """The chunks that an item brings."""
        if isinstance(item, str):
            return self._text(item)
        if isinstance(item, (bytes, bytearray, memoryview)):
            return self._piece(bytes(cast("bytes", item)))
        data = getattr(item, "data", None)
        if isinstance(data, str) and hasattr(item, "event") and not isinstance(item, dict):
            return self._payload(data)
        return [item]

    def close(self) -> list[object]:
        """The chunks that the end of the source brings."""
        chunks: list[object] = []
        if self._texts:
            chunks = self._lines_or_text(is_lines=True)
        return chunks if self._body is None else chunks + self._check(self._body.close())

    def _text(self, text: str) -> list[object]:
        if self._is_lines is not None or self._body is not None:
            return self._piece(text + "\n" if self._is_lines else text)
        self._texts.append(text)
        if "\n" in text or "\r" in text or not (text == "" or text.startswith(LINE_STARTS)):
            return self._lines_or_text(is_lines=False)
        if len(self._texts) > 1 or _is_json(text):
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
            start = _as_text(piece).lstrip(BLANK)  # what came before it is blank
            if not start:
                return []
            self._body = body = _Lines() if start[0] == "{" else _Array() if start[0] == "[" else _Events()
            held, self._held = self._held, []
            return [chunk for early in held for chunk in self._check(body.feed(early))]
        return self._check(body.feed(piece))

    def _payload(self, data: str) -> list[object]:
        return self._check([] if not data.strip() else [_chunk(data)])

    def _check(self, chunks: list[object]) -> list[object]:
        left = [chunk for chunk in chunks if chunk is not DONE]
        self.is_done = self.is_done or len(left) < len(chunks)
        return left


def _as_text(piece: Fragment) -> str:
    return piece if isinstance(piece, str) else bytes(piece).decode(errors="ignore")


def _is_json(text: str) -> bool:
    return _chunk(text) is not UNREADABLE


def _chunk(text: str) -> object:
    """The chunk that a text is."""
    if text.strip() == DONE:
        return DONE
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return UNREADABLE


class _Events:
    """Server-sent events, with a chunk in each."""

    def __init__(self) -> None:
        self._decoder = SSEDecoder()

    def feed(self, fragment: Fragment) -> list[object]:
        return self._chunks(self._decoder.feed(fragment))

    def close(self) -> list[object]:
        return self._chunks(self._decoder.close())

    def _chunks(self, events: list[SSEEvent]) -> list[object]:
        return [_chunk(event.data) for event in events if event.data.strip()]


class _Lines:
    """One chunk a line. A body that has none like that may be one chunk as a whole, on many lines."""

    def __init__(self) -> None:
        self._decoder = NDJSONDecoder()
        self._unread: list[str] | None = []  # None once a line was a chunk

    def feed(self, fragment: Fragment) -> list[object]:
        return self._chunks(self._decoder.feed(fragment))

    def close(self) -> list[object]:
        chunks = self._chunks(self._decoder.close())
        return chunks if chunks or not self._unread else [_chunk("\n".join(self._unread))]

    def _chunks(self, lines: list[str]) -> list[object]:
        chunks: list[object] = []
        for line in lines:
            chunk = _chunk(line)
            if chunk is UNREADABLE and self._unread is not None:
                self._unread.append(line)
            else:
                self._unread = None
                chunks.append(chunk)
        return chunks


class _Array:
    """One array that grows, with a chunk in each item."""

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
