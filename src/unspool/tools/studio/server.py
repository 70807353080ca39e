"""The server: uvicorn on a socket of ours, so that the port is known before it starts, and Ctrl-C ends it at once."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Any, Final, final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from .app import Studio
from .guard import HEADERS, Door
from .settings import Settings

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from starlette.types import Scope

    from .requests import Order

__all__ = ["StudioServer", "bound"]

BACKLOG: Final = 256
AT_ONCE: Final = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # how a socket is told to reset


def bound(host: str, port: int, send_buffer: int) -> socket.socket:
    """A socket that is bound. Raises `OSError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it: who does not read fills little memory before it is noticed.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


@final
class _Connections:
    """The open connections, by the address of the client: to close one for which nobody reads."""

    def __init__(self) -> None:
        self.open: dict[tuple[str, int], asyncio.Transport] = {}

    def abort(self, scope: Scope) -> None:
        """Reset the connection: what the kernel still holds for it goes, too."""
        client: Any = scope.get("client")
        transport = self.open.get((client[0], client[1])) if client else None
        if transport is not None:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            transport.abort()


def _protocol(connections: _Connections, settings: Settings) -> type[asyncio.Protocol]:
    class Protocol(H11Protocol):
        """As uvicorn has it; its connections are known, and end where nothing is asked for."""

        _limit: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            transport.set_write_buffer_limits(high=settings.slice)
            if self.client is not None:
                connections.open[self.client] = transport
            self._watch()

        def handle_events(self) -> None:
            super().handle_events()
            self._watch()

        def _watch(self) -> None:
            """A request that has begun must be there soon, however slowly it comes; so must the end of a body that was
            answered before it came."""
            is_waiting = self.conn.their_state in (h11.IDLE, h11.ERROR) or self.cycle.response_complete
            if not is_waiting and self._limit is not None:
                self._limit.cancel()
                self._limit = None
            elif is_waiting and self._limit is None:
                self._limit = self.loop.call_later(settings.head, self.transport.abort)

        def _unsupported_upgrade_warning(self) -> None:
            """There are no web sockets here, and no need to say so in the terminal."""

        def send_400_response(self, msg: str) -> None:
            """What is no HTTP gets the headers that every answer has."""
            if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # there was an answer already
                self.transport.close()
                return
            body = json.dumps({"error": "this is no HTTP request that can be read"}).encode()
            headers = [*HEADERS, (b"content-type", b"application/json"), (b"connection", b"close")]
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._limit is not None:
                self._limit.cancel()
            if self.client is not None:
                connections.open.pop(self.client, None)
            super().connection_lost(exc)

    return Protocol


@final
class StudioServer(uvicorn.Server):
    """One studio on one address. `order` is what the command line asked to see."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        allow_remote: bool = False,
        settings: Settings | None = None,
        order: Order | None = None,
        started: Callable[[str], None] = lambda _: None,
        browser: bool = False,
    ) -> None:
        settings = settings or Settings()
        self.socket: Final = bound(host, port, settings.send_buffer)
        port = self.socket.getsockname()[1]
        names = (socket.gethostname(), socket.getfqdn()) if allow_remote else ()
        self.door: Final = Door(host, port, names=names)
        connections = _Connections()
        self.studio: Final = Studio(self.door, settings, connections.abort)
        self.url: Final = self.door.url()
        self.remote_url: Final = self.door.url(names[0] if names and self.door.is_everywhere else None)
        self._order = order
        self._started = started
        self._browser = browser
        super().__init__(
            uvicorn.Config(
                self.studio.app,
                http=_protocol(connections, settings),
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # a client is who it is, whatever it says
                timeout_graceful_shutdown=int(settings.grace) or 1,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then read what was asked for."""
        if self._order is not None:
            entry = await self.studio.open(self._order)
            entry.is_kept = True
            self.studio.opened = entry.session.id
        await super().startup(sockets)
        self._started(self.url)
        if self._browser:
            # In a thread: a browser for the terminal does not return before it is closed.
            threading.Thread(target=webbrowser.open, args=(self.door.url_for_once(),), daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first: they would not end on their own."""
        await self.studio.close()
        await super().shutdown(sockets)

    def serve_forever(self) -> None:
        """Serve until a signal comes."""
        self.run(sockets=[self.socket])
