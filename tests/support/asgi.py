"""A client of an ASGI application in the same event loop, which sees each piece of the response when it is sent.

A test decides when the client reads, so that it can stall, and when it leaves.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from unspool.llm import SSEDecoder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from unspool.llm import SSEEvent

PATIENCE: Final = 60.0


class Response:
    """The response to one request, while it arrives."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_whole = False
        self.reads = asyncio.Event()
        """The client takes bytes; clear it for one that stalls."""
        self.reads.set()
        self.task: asyncio.Task[Any] | None = None
        self._gone = asyncio.Event()
        self._news = asyncio.Event()
        self._decoder = SSEDecoder()
        self._events: list[SSEEvent] = []

    async def receive(self) -> Any:
        """For the application: the disconnect, once the client has left."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        """For the application: what it sends."""
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]
            if self.status == 200:
                self._events += self._decoder.feed(message["body"])
            self.is_whole = not message.get("more_body", False)
        self._news.set()
        self._news = asyncio.Event()

    async def begun(self) -> Response:
        """Wait for the status."""
        await self.until(lambda: bool(self.status))
        return self

    async def until(self, is_so: Any) -> None:
        """Wait until something is so, which a piece of the response changes."""
        async with asyncio.timeout(PATIENCE):
            while not is_so():
                news = asyncio.ensure_future(self._news.wait())
                assert self.task is not None
                await asyncio.wait((news, self.task), return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
                if self.task.done() and not is_so():
                    self.task.result()
                    raise AssertionError("the response has ended")

    async def event(self) -> SSEEvent:
        """Return the next event."""
        await self.until(lambda: bool(self._events))
        return self._events.pop(0)

    async def events(self) -> list[SSEEvent]:
        """Return all events up to the end of the response."""
        assert self.task is not None
        async with asyncio.timeout(PATIENCE):
            await self.task
        found, self._events = self._events, []
        return found

    def leave(self) -> None:
        """Close the connection."""
        self._gone.set()


@asynccontextmanager
async def asked(
    app: Any, target: str, headers: Mapping[str, str] | None = None, method: str = "GET", client: str = "127.0.0.1"
) -> AsyncGenerator[Response]:
    """Ask the application, and leave at the end. The application must then end by itself."""
    parts = urlsplit(target)
    response = Response()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", b"test"), *((name.encode(), value.encode()) for name, value in (headers or {}).items())],
        "client": (client, 1),
        "server": ("test", 80),
    }
    response.task = asyncio.create_task(app(scope, response.receive, response.send))
    try:
        yield response
    finally:
        response.leave()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(response.task, return_exceptions=True)
