"""The HTTP side of a relay, for Starlette and FastAPI: streams as server-sent events, and the browser client.

`EventStream` is a response. It asks the application whether this client may see this stream, then follows the stream,
and writes what a wire makes of it. A client that does not read delays only itself, and is sent away after a while:
nothing is queued for it but the bytes in its connection.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import random
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, cast, final
from weakref import WeakKeyDictionary

from starlette.responses import Response

from .._errors import OptionsError
from ._follower import End, Snapshot, Stalled, Step
from ._log import Cursor, FullError, GoneError, LogError, check_name
from ._wires import HEALING, EncoderWire, PatchWire, encoder_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from ..llm import Encoder
    from ._folds import Fold
    from ._relay import Relay
    from ._wires import Wire

    Authorize = Callable[[Request, str], bool | Awaitable[bool]]
    """Tells whether the client of a request may see the stream of this name."""

__all__ = ["EventStream", "SSESettings", "browser_client"]

KEEP_ALIVE: Final = b": still here\n\n"
PIECE: Final = 16 * 1024
"""Bytes per send: a client that stops reading is noticed within a piece."""
MICROSECONDS: Final = 1_000_000
SAFE: Final = frozenset({"GET", "HEAD"})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SSESettings:
    """The settings of `Relay.sse`. Times are in seconds.

    - `keep_alive`: a comment is sent after this time without an event.
    - `stall`: a client that does not take the next bytes in this time is sent away.
    - `retry`: a browser waits at least the first and at most the second time before it comes back.
    - `max_duration`: a response ends after this time, and the browser goes on with the next one. None means no limit.
    - `wait`: a stream that does not exist yet may begin in this time.
    - `followers`: of all streams in this process. `per_stream`: of one stream. `per_client`: of one client, if the
      application names it.
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
class EventStream(Response):
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
        after = self._asked_cursor() if self._wire == "patch" else None
        items = self._relay.follow(self._name, self._fold, after=after, wait=self._settings.wait)
        source = _Source(aiter(items))
        leaving = asyncio.ensure_future(_until_gone(receive))
        try:
            try:
                first = await source.next(leaving, None)
            except GoneError:
                return await _answer(send, 410, "the stream is gone")
            except FullError:
                return await _answer(send, 429, "too many clients follow streams", self._settings)
            except LogError:
                return await _answer(send, 503, "the log of the stream does not answer", self._settings)
            if first is None:
                return None
            if self._is_over(first, after):
                return await _answer(send, 204)
            await self._write(first, source, leaving, send)
        finally:
            leaving.cancel()
            await source.close()
        return None

    async def _write(
        self, first: object, source: _Source, leaving: asyncio.Future[None], send: Send
    ) -> None:
        settings, loop = self._settings, asyncio.get_running_loop()
        wire = self._made_wire(first)
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in wire.headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self._request.method == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        retry = f"retry: {round(random.uniform(*settings.retry) * 1000)}\n".encode()  # noqa: S311 - no secret
        until = None if settings.max_duration is None else loop.time() + settings.max_duration * random.uniform(0.8, 1)  # noqa: S311
        data = (retry if wire.has_cursors else b"") + self._frame(wire, first, is_first=True)
        item: object = first
        while True:
            if not await _sent(send, data, settings.stall):
                return  # the client does not read
            if isinstance(item, End) or wire.is_broken or (until is not None and loop.time() >= until):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            patience = settings.keep_alive if until is None else max(min(settings.keep_alive, until - loop.time()), 0)
            try:
                item = await source.next(leaving, patience)
            except TimeoutError:
                data = KEEP_ALIVE
                continue
            except (GoneError, LogError):
                return  # an unfinished response: the client asks again, and gets the status
            if item is None:
                return
            data = self._frame(wire, item, is_first=False)

    def _made_wire(self, first: object) -> Wire:
        if self._wire == "patch":
            return PatchWire()
        if not isinstance(self._wire, str):
            return EncoderWire(self._wire())
        cursor: Cursor = first.cursor if isinstance(first, (Snapshot, Step, End)) else Cursor(0, 0)
        encoder = encoder_for(self._wire, self._name, cursor.epoch // MICROSECONDS)
        return EncoderWire(encoder, heals=self._wire == HEALING)

    def _frame(self, wire: Wire, item: object, *, is_first: bool) -> bytes:
        match item:
            case Snapshot():
                return wire.snapshot(item.cursor, item.state)
            case Step():
                begun = wire.resume(item.before_cursor, item.before) if is_first else b""
                return begun + wire.step(item.cursor, item.state, item.items, item.is_end)
            case Stalled():
                return wire.stalled()
            case End():
                return wire.end(item.cursor, item.content)
            case _:
                return b""

    def _asked_cursor(self) -> Cursor | None:
        """Return the place that the client names; None if it names none, or one that cannot be."""
        header = self._request.headers.get("last-event-id")
        return Cursor.parse(header if header is not None else self._request.query_params.get("after"))

    def _is_over(self, first: object, after: Cursor | None) -> bool:
        """Tell whether the client has everything. `useChat` asks with GET for a message to resume: an ended one is none."""
        if not isinstance(first, End):
            return False
        return after is not None


@final
class _Source:
    """The items of a follower, with a time limit that loses none of them."""

    def __init__(self, items: AsyncIterator[Any]) -> None:
        self._items: Final = items
        self._next: asyncio.Task[Any] | None = None

    async def next(self, leaving: asyncio.Future[None], patience: float | None) -> Any:
        """Return the next item; None if the client leaves, or nothing follows. Raise `TimeoutError` if none comes."""
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._items, None))
        await asyncio.wait((self._next, leaving), timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            return None
        if not self._next.done():
            raise TimeoutError
        done, self._next = self._next, None
        return done.result()

    async def close(self) -> None:
        if self._next is not None:
            self._next.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._next
        close = getattr(self._items, "aclose", None)
        if close is not None:
            await close()


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
        seconds = max(round(random.uniform(*settings.retry)), 1)  # noqa: S311 - no secret
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
