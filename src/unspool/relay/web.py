"""The HTTP side of a relay, for Starlette and FastAPI: streams as server-sent events, and the browser client.

`Relay.sse` returns a response. It asks the application whether this client may see this stream, then follows the
stream, and writes the frames of a wire. A client that does not read delays only itself, and is disconnected after a
while. The response queues nothing for it but the bytes in its connection.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import random
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, cast, final
from weakref import WeakKeyDictionary

from starlette.responses import Response

from .._errors import OptionsError, StateError, UnspoolError
from ._hub import ClosedError, End
from ._log import Cursor, FullError, GoneError, LogError, check_name
from ._wires import HEALING, RESUMABLE, EncoderWire, PatchWire, encoder_for, frame_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from ..llm import Encoder
    from ._folds import Fold
    from ._hub import Follower, News
    from ._relay import Relay
    from ._wires import RelayWire

    Authorize = Callable[[Request, str], bool | Awaitable[bool]]
    """Returns whether the client of a request may see the stream of this name."""

__all__ = ["SSESettings", "StreamResponse", "browser_client"]

KEEP_ALIVE: Final = b": still here\n\n"
PIECE: Final = 16 * 1024
"""Bytes per send: a client that stops reading is noticed within a piece."""
MICROSECONDS: Final = 1_000_000
SAFE: Final = frozenset({"GET", "HEAD"})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SSESettings:
    """The settings of `Relay.sse`. Times are in seconds.

    - `keep_alive`: after this time without an event, the response sends a comment.
    - `stall`: a client that does not take the next bytes in this time is disconnected.
    - `retry`: a browser waits at least the first and at most the second time before it reconnects.
    - `max_duration`: a response ends after this time, and the browser goes on with the next one. None means no limit.
    - `wait`: a stream that does not exist yet may begin in this time.
    - `followers`: the connections to all streams in this process. `per_stream`: those to one stream. `per_client`:
      those of one client, if the application names it.
    """

    keep_alive: float = 15.0
    stall: float = 30.0
    retry: tuple[float, float] = (1.0, 3.0)
    max_duration: float | None = None
    wait: float = 5.0
    followers: int = 10_000
    per_stream: int = 1_000
    per_client: int = 16

    def __post_init__(self) -> None:
        least, most = self.retry
        if not 0 <= least <= most:
            raise OptionsError("retry must be two times, the shorter one first")
        times = (self.keep_alive, self.stall, self.max_duration if self.max_duration is not None else 1.0)
        if min(times) <= 0 or self.wait < 0:
            raise OptionsError("the times of SSESettings must be positive")
        if min(self.followers, self.per_stream, self.per_client) < 1:
            raise OptionsError("the limits of SSESettings must be 1 or more")


@final
class _Room:
    """The connections to one relay in this process, counted for the limits."""

    def __init__(self) -> None:
        self._count = 0
        self._clients: dict[str, int] = {}
        self._streams: dict[str, int] = {}

    def enter(self, name: str, client: str | None, settings: SSESettings) -> bool:
        """Count one more connection. Return False if there are too many."""
        of_stream, of_client = self._streams.get(name, 0), self._clients.get(client or "", 0)
        if self._count >= settings.followers or of_stream >= settings.per_stream or of_client >= settings.per_client:
            return False
        self._count += 1
        self._streams[name] = of_stream + 1
        if client:
            self._clients[client] = of_client + 1
        return True

    def leave(self, name: str, client: str | None) -> None:
        """Count one connection less."""
        self._count -= 1
        for counts, key in ((self._streams, name), (self._clients, client)):
            if key:
                counts[key] -= 1
                if not counts[key]:
                    del counts[key]


_rooms: WeakKeyDictionary[Relay, _Room] = WeakKeyDictionary()


@final
class StreamResponse(Response):
    """A response that follows a stream until the stream ends, or the client leaves."""

    media_type = "text/event-stream"
    charset = "utf-8"

    def __init__(
        self,
        relay: Relay,
        name: str,
        request: Request,
        *,
        authorize: Authorize,
        wire: str | Callable[[], Encoder],
        fold: Fold[Any] | None,
        client: str | None,
        settings: SSESettings,
        abort: Callable[[Request], object] | None = None,
    ) -> None:
        super().__init__()
        if isinstance(wire, str) and wire != "patch":
            encoder_for(wire, name, 0)  # an unknown wire is an error of the program, not of the client
        self._relay: Final = relay
        self._name: Final = name
        self._request: Final = request
        self._authorize: Final = authorize
        self._wire: Final = wire
        self._fold: Final = fold
        self._client: Final = client
        self._settings: Final = settings
        self._abort: Final = abort

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        name, settings = self._name, self._settings
        try:
            check_name(name)
        except OptionsError:
            return await _answer(send, 404, "there is no such stream")
        allowed = self._authorize(self._request, name)
        if inspect.isawaitable(allowed):
            allowed = await allowed
        if allowed is not True:
            return await _answer(send, 403, "this client may not see this stream")
        room = _rooms.setdefault(self._relay, _Room())
        if not room.enter(name, self._client, settings):
            return await _answer(send, 429, "too many clients follow streams", settings)
        try:
            await self._follow(receive, send)
        finally:
            room.leave(name, self._client)
        return None

    async def _follow(self, receive: Receive, send: Send) -> None:
        settings, is_ours = self._settings, self._wire == "patch"
        leaving = asyncio.ensure_future(_until_gone(receive))
        news: _Waiting | None = None
        try:
            if await self._is_nothing_to_resume():
                return await _answer(send, 204)
            after = self._asked_cursor() if is_ours else None
            news = _Waiting(self._relay.follow(self._name, self._fold, after=after, wait=settings.wait), leaving)
            place = await news.place()
            if isinstance(place, End):  # the client has everything: 204 stops an EventSource for good
                return await _answer(send, 204)
            first = await news.next(None) if place is None else None
            if not leaving.done():
                await self._write(first, place, news, send)
        except GoneError:
            return await _answer(send, 410, "the stream is gone")
        except FullError:
            return await _answer(send, 429, "too many clients follow streams", settings)
        except (LogError, StateError):  # it does not answer, or its data is invalid, or the relay was closed
            return await _answer(send, 503, "the stream cannot be read", settings)
        finally:
            leaving.cancel()
            if news is not None:
                await news.close()
        return None

    async def _write(self, first: News[Any] | None, place: News[Any] | None, news: _Waiting, send: Send) -> None:
        """Send the response: from the first item on, or from the place of a client that resumes."""
        settings, loop = self._settings, asyncio.get_running_loop()
        begun = first or place
        assert begun is not None
        wire = self._made_wire(begun.cursor)
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in wire.headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self._request.method == "HEAD":
            return await send({"type": "http.response.body", "body": b""})
        until = math.inf if settings.max_duration is None else loop.time() + settings.max_duration * _jitter(0.8, 1.0)
        data = f"retry: {round(_jitter(*settings.retry) * 1000)}\n".encode() if wire.has_cursors else b""
        data += wire.resume(begun.cursor, begun.state) if first is None else frame_of(wire, first)
        item = first
        while await _sent(send, data, settings.stall):
            if isinstance(item, End) or wire.is_broken or loop.time() >= until:
                return await send({"type": "http.response.body", "body": b"", "more_body": False})
            try:
                item = await news.next(min(settings.keep_alive, max(until - loop.time(), 0.0)))
            except TimeoutError:
                item, data = None, KEEP_ALIVE
                continue
            except ClosedError:  # the response ends here, and the stream goes on in the next one
                return await send({"type": "http.response.body", "body": b"", "more_body": False})
            except UnspoolError:  # it is gone, or its log: an unfinished response lets the client ask again
                return None
            if item is None:
                return None
            data = frame_of(wire, item)
        self._relay.metrics.add("evicted")  # the client does not read
        if self._abort is not None:
            self._abort(self._request)
            await asyncio.sleep(0)  # the server notices that the connection is lost
        return None

    def _made_wire(self, cursor: Cursor) -> RelayWire:
        if not isinstance(self._wire, str):
            return EncoderWire(self._wire)
        if self._wire == "patch":
            return PatchWire()
        name, wire, created = self._name, self._wire, cursor.epoch // MICROSECONDS
        return EncoderWire(lambda: encoder_for(wire, name, created), heals=wire == HEALING)

    def _asked_cursor(self) -> Cursor | None:
        """Return the place that the client names; None if it names none, or one that cannot be."""
        header = self._request.headers.get("last-event-id")
        return Cursor.parse(header if header is not None else self._request.query_params.get("after"))

    async def _is_nothing_to_resume(self) -> bool:
        """Tell whether this is `useChat`, which asks with GET for a message to resume, and the message has ended."""
        if self._wire not in RESUMABLE or self._request.method not in SAFE:
            return False
        try:
            status = await self._relay.status(self._name)
        except GoneError:
            return True
        return status.status != "open"


@final
class _Waiting:
    """The news of a follower, with a time limit that loses none of them."""

    def __init__(self, follower: Follower[Any], leaving: asyncio.Future[None]) -> None:
        self._follower: Final = follower
        self._leaving: Final = leaving
        self._next: asyncio.Task[Any] | None = None

    async def place(self) -> News[Any] | None:
        """Return the step after which the client goes on, if it has one."""
        return cast("News[Any] | None", await self._waited(self._follower.place, None))

    async def next(self, patience: float | None) -> News[Any] | None:
        """Return the next item; None if the client leaves. Raise `TimeoutError` if none comes."""
        return cast("News[Any] | None", await self._waited(self._follower.__anext__, patience))

    async def _waited(self, ask: Callable[[], Coroutine[Any, Any, object]], patience: float | None) -> object:
        if self._next is None:
            self._next = asyncio.ensure_future(ask())
        await asyncio.wait((self._next, self._leaving), timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if self._leaving.done():
            return None
        if not self._next.done():
            raise TimeoutError
        done, self._next = self._next, None
        return done.result()

    async def close(self) -> None:
        """Leave the stream."""
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait((self._next,))
            if not self._next.cancelled():
                self._next.exception()  # otherwise asyncio reports it
        await self._follower.aclose()


def _jitter(least: float, most: float) -> float:
    return random.uniform(least, most)  # noqa: S311 - it spreads load, and keeps no secret


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _sent(send: Send, data: bytes, patience: float) -> bool:
    """Send the bytes; return False if the connection does not accept them in time."""
    try:
        for start in range(0, len(data), PIECE):
            async with asyncio.timeout(patience):
                await send({"type": "http.response.body", "body": data[start : start + PIECE], "more_body": True})
    except TimeoutError:
        return False
    return True


async def _answer(send: Send, status: int, words: str = "", settings: SSESettings | None = None) -> None:
    """Answer with a status and an error in words; with `settings`, the client may come back."""
    body = json.dumps({"error": words}).encode() if words else b""
    headers = [(b"cache-control", b"no-store"), (b"content-length", str(len(body)).encode())]
    if words:
        headers.append((b"content-type", b"application/json"))
    if settings is not None:
        seconds = max(round(_jitter(*settings.retry)), 1)
        headers.append((b"retry-after", str(seconds).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# ---- the browser client --------------------------------------------------------------------------------


def browser_client(request: Request) -> Response:
    """Return the browser client, an ES module. A browser that has this version gets status 304."""
    data = (files(__package__ or "") / "static" / "relay.js").read_bytes()
    tag = f'"{sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
    asked = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if tag in asked:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type="text/javascript", headers=headers)
