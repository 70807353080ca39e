"""Following a stream in the terminal: the events of `relay.sse`, from a relay or from a server, and their output."""

from __future__ import annotations

import asyncio
import json
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, cast, final
from urllib.parse import quote, urlsplit

from ..._errors import PatchError, UnspoolError
from ...llm import SSEDecoder
from ...patch import apply
from ...relay import Relay
from ...relay._wires import PatchWire, frame_of
from .terminal import UsageError, complain, shown, write_line, write_text

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ...llm import SSEEvent
    from ...relay import Follower, News, RedisLog

__all__ = ["followed", "from_relay", "from_server"]

BLOCK: Final = 64 * 1024
SILENCE: Final = 45.0  # seconds: three comments of the server
RETRY: Final = 1.0
MOST_FAILURES: Final = 10
OK: Final = 200
NOTHING: Final = 204
GONE: Final = 410
PASSING: Final = frozenset({429, 500, 502, 503, 504})
"""Statuses after which the server may be asked again."""
TEXT: Final = "text"


class RefusedError(UnspoolError):
    """The server does not give the stream."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status

    def _message(self) -> str:
        known = {NOTHING: "the stream has ended, and nothing follows this cursor", GONE: "the stream is gone"}
        return known.get(self.status, f"the server answered with status {self.status}")


class ForeignError(UnspoolError):
    """The server sent something else than the stream of a relay."""

    def _message(self) -> str:
        return "the server does not send a stream of the relay"


# ---- where the events come from ----


def from_relay(log: RedisLog, name: str, after: str | None, wait: float) -> Generator[SSEEvent]:
    """Yield the events of a stream in Redis. Close the generator in the thread that reads it."""
    relay = Relay(log)
    decoder, wire = SSEDecoder(), PatchWire()
    loop = asyncio.new_event_loop()

    async def begun() -> tuple[Follower[Any], News[Any] | None]:
        follower = relay.follow(name, after=after, wait=wait)
        return follower, await follower.place()

    try:
        follower, place = loop.run_until_complete(begun())
        if place is not None:
            decoder.feed(wire.resume(place.cursor, place.state))
        while (news := loop.run_until_complete(anext(follower, None))) is not None:
            yield from decoder.feed(frame_of(wire, news))
    finally:
        loop.run_until_complete(relay.aclose())
        loop.close()


def from_server(url: str, after: str | None) -> Generator[SSEEvent]:
    """Yield the events of a stream that a server has. After a failure, connect again and go on after the last event."""
    failures = 0
    while True:
        failures += 1  # a response counts as one until something new arrives
        reason = "an empty answer"
        try:
            for events in _response(url, after):
                reason = "nothing new"
                if not events or events[-1].id != after:
                    failures = 0
                for event in events:
                    after = event.id
                    yield event
                    if event.event == "end":
                        return
        except (OSError, HTTPException) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
            failures = max(failures, 1)
        if failures == MOST_FAILURES:
            raise OSError(f"the server does not send a stream: {reason}")
        time.sleep(RETRY)


def _response(url: str, after: str | None) -> Iterator[list[SSEEvent]]:
    """Yield the events of each piece of one response; comments are an empty list."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        port, parts = None, urlsplit("")
    if not parts.hostname or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"{url}: this is not an address")
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname, port, timeout=SILENCE)
    query = "&".join([*filter(None, [parts.query]), *([] if after is None else [f"after={quote(after)}"])])
    path = (parts.path or "/") + (f"?{query}" if query else "")
    try:
        connection.request("GET", path, headers={"Accept": "text/event-stream"})
        with connection.getresponse() as response:
            if response.status in PASSING:
                raise OSError(f"the server answered with status {response.status}")
            if response.status != OK:
                raise RefusedError(response.status)
            if response.headers.get_content_type() != "text/event-stream":
                raise ForeignError
            decoder = SSEDecoder()
            while block := response.read1(BLOCK):
                yield list(decoder.feed(block))
    finally:
        connection.close()


# ---- what is printed ----


def followed(events: Iterator[SSEEvent], *, as_json: bool) -> str:
    """Print the events, and return the status at the end; "lost" if there was none."""
    printed = _Lines() if as_json else _Text()
    for event in events:
        try:
            data = json.loads(event.data)
            printed.take(event.event, event.id or "", data)
            status = str(data["status"]) if event.event == "end" else None
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError, PatchError):
            raise ForeignError from None
        if status is not None:
            printed.close()
            return status
    printed.close()
    return "lost"


@final
class _Lines:
    """One JSON line per event."""

    def take(self, kind: str, cursor: str, data: Any) -> None:
        if kind == "snapshot":
            write_line({"cursor": cursor, "type": kind, "document": data["document"]})
        elif kind == "patch":
            write_line({"cursor": cursor, "type": kind, "patch": data})
        else:
            write_line({"cursor": cursor, "type": kind, **data})

    def close(self) -> None:
        """Do nothing: each line was whole."""


@final
class _Text:
    """The text of a message as it grows; of any other stream the document at the end."""

    def __init__(self) -> None:
        self._document: Any = None
        self._types: list[str] | None = None  # of the parts of a message
        self._printed = 0  # characters
        self._is_inside = False  # of a line

    def take(self, kind: str, cursor: str, data: Any) -> None:
        if kind == "stalled":
            complain("the stream has no writer at the moment")
        elif kind == "snapshot":
            self._begin(data["document"])
        elif kind == "patch" and self._types is None:
            self._document = apply(self._document, data)
        elif kind == "patch":
            for operation in data:
                self._grow(operation)

    def close(self) -> None:
        """Print the document, or end the line."""
        if self._types is None:
            write_line(self._document)
        elif self._is_inside:
            write_text("\n")

    def _begin(self, document: Any) -> None:
        self._document = document
        message = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
        if "finish_reason" not in message or "parts" not in message:
            self._types = None
            return
        parts: list[dict[str, Any]] = message["parts"]
        self._types = [str(part["type"]) for part in parts]
        text = "".join([str(part[TEXT]) for part in parts if part["type"] == TEXT])
        self._print(text[self._printed :])

    def _grow(self, operation: dict[str, Any]) -> None:
        assert self._types is not None
        match operation["path"].split("/")[1:], operation["op"]:
            case ["parts", number], "add":
                part = operation["value"]
                self._types.insert(int(number), part["type"])
                if part["type"] == TEXT:
                    self._print(part[TEXT])
            case ["parts", number], "remove":
                del self._types[int(number)]
            case ["parts", number, "text"], "append" if self._types[int(number)] == TEXT:
                self._print(operation["value"])
            case _:
                pass

    def _print(self, text: str) -> None:
        if text:
            self._printed += len(text)
            self._is_inside = not text.endswith("\n")
            write_text("\n".join(map(shown, text.split("\n"))))
