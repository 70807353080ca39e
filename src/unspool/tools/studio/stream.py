"""Clients that follow a session: each receives the shared log as server-sent events, from its last patch on.

A client that does not read delays only itself, and is disconnected after a while. The server queues nothing for it: a
client is the number of its last patch and the few bytes in its connection.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, final

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from starlette.types import Receive, Scope, Send

    from .sessions import Entry
    from .settings import Settings

__all__ = ["EventStream", "Followers", "last_event_id"]

KEEP_ALIVE: Final = b": still here\n\n"
MAX_DIGITS: Final = 15


def last_event_id(header: str | None) -> int | None:
    """Return the number of the last patch that a client has; None without a valid header."""
    if header is None or not header.isascii() or not header.isdigit() or len(header) > MAX_DIGITS:
        return None
    return int(header)


@final
class Followers:
    """The clients that follow sessions, and the number of evicted ones."""

    def __init__(self, abort: Callable[[Scope], None]) -> None:
        self.evicted = 0
        self._abort = abort
        self._sending: dict[int, Scope] = {}  # clients whose connection has not accepted the last bytes
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @contextmanager
    def entered(self, entry: Entry) -> Generator[None]:
        """Count one more follower of this session while the block runs."""
        self._count += 1
        entry.followers += 1
        try:
            yield
        finally:
            self._count -= 1
            entry.followers -= 1

    def evict(self, scope: Scope) -> None:
        """Close the connection at once and discard its buffers."""
        self.evicted += 1
        self._abort(scope)

    async def send(self, scope: Scope, send: Send, data: bytes, patience: float) -> bool:
        """Send the bytes; return False if the connection did not accept them in time."""
        self._sending[id(scope)] = scope
        try:
            async with asyncio.timeout(patience):
                await send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError:
            self.evict(scope)
            return False
        finally:
            del self._sending[id(scope)]
        return True

    def close(self) -> None:
        """Disconnect the clients that do not read, because the server stops."""
        for scope in self._sending.values():
            self._abort(scope)


@final
class EventStream(Response):
    """A response that lasts as long as the session exists and the client stays."""

    media_type = "text/event-stream"
    charset = "utf-8"

    def __init__(self, entry: Entry, last: int | None, followers: Followers, settings: Settings) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._entry = entry
        self._last = last
        self._followers = followers
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Follow the session."""
        with self._followers.entered(self._entry):
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            following = asyncio.create_task(self._follow(scope, send))
            leaving = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait((following, leaving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                following.cancel()
                leaving.cancel()
                with suppress(asyncio.CancelledError):
                    await following

    async def _follow(self, scope: Scope, send: Send) -> None:
        log, settings = self._entry.log, self._settings
        last = self._last
        while True:
            portion = log.after(last, settings.slice)
            if portion is not None:
                last = portion.last
                for start in range(0, len(portion.data), settings.slice):
                    piece = portion.data[start : start + settings.slice]
                    if not await self._followers.send(scope, send, piece, settings.stall):
                        return
            elif log.is_over:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            else:
                try:
                    async with asyncio.timeout(settings.keep_alive):
                        await log.news()
                except TimeoutError:
                    if not await self._followers.send(scope, send, KEEP_ALIVE, settings.stall):
                        return


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
