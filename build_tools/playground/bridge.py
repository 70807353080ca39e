"""Requests of the page, as messages: each is one call of the studio's ASGI application, without a server.

A message in is a request with a number. Messages out have the same number: first the type of the content and the
status, then the pieces of the body, and at last the end. A request that the page has no use for any more is cancelled
by its number.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message

__all__ = ["Bridge"]


@final
class Bridge:
    """The requests that are being answered. `post` takes the messages for the page: a number, a kind and a value."""

    def __init__(self, app: ASGIApp, post: Callable[[int, str, Any], None]) -> None:
        self._app: Final = app
        self._post: Final = post
        self._leaving: Final[dict[int, asyncio.Event]] = {}
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    def send(self, number: int, method: str, address: str, headers: Mapping[str, str], body: bytes) -> None:
        """Begin to answer a request."""
        leaving = self._leaving[number] = asyncio.Event()
        task = asyncio.get_running_loop().create_task(self._answer(number, method, address, headers, body, leaving))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def leave(self, number: int) -> None:
        """Tell the application that the page does not wait for this answer any more."""
        leaving = self._leaving.get(number)
        if leaving is not None:
            leaving.set()

    async def _answer(
        self, number: int, method: str, address: str, headers: Mapping[str, str], body: bytes, leaving: asyncio.Event
    ) -> None:
        parts = urlsplit(address)
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "root_path": "",
            "query_string": parts.query.encode(),
            "headers": [
                (b"content-length", str(len(body)).encode()),
                *((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()),
            ],
            "client": None,
            "server": None,
        }
        is_read = False

        async def receive() -> Message:
            nonlocal is_read
            if not is_read:
                is_read = True
                return {"type": "http.request", "body": body, "more_body": False}
            await leaving.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._post(number, "type", dict(message["headers"]).get(b"content-type", b"").decode("latin-1"))
                self._post(number, "status", message["status"])
            elif message.get("body") and not leaving.is_set():
                self._post(number, "piece", message["body"])

        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the page gets the reason; there is no terminal
            self._post(number, "failure", f"{type(error).__name__}: {error}")
        finally:
            del self._leaving[number]
            self._post(number, "end", None)
