"""The server: uvicorn on a socket that is bound in advance, so that the port is known and Ctrl-C stops it at once."""

from __future__ import annotations

import json
import logging
import socket
import struct
import sys
import threading
import webbrowser
from time import monotonic
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
    from .sessions import NamedType

__all__ = ["StudioServer", "bound"]

BACKLOG: Final = 256
MAX_KINDS: Final = 100  # of faults that are remembered
AT_ONCE: Final = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # SO_LINGER: reset on close


def bound(host: str, port: int, send_buffer: int) -> socket.socket:
    """Return a listening socket. Raises `OSError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit the size: a client that does not read takes little memory until it is detected.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


QUIET: Final = 60.0  # seconds between two lines about the same fault
WATCHED: Final = ("asyncio", "uvicorn.error", "unspool.tools.studio.guard", "unspool.tools.studio.sessions")


@final
class FaultLimit(logging.Filter):
    """Passes one record per minute for each kind of fault, and says how many were left out.

    Anyone who can connect can cause faults, such as invalid HTTP, or connections until there are no more descriptors.
    """

    def __init__(self, seconds: float = QUIET) -> None:
        super().__init__()
        self._seconds = seconds
        self._told: dict[tuple[str, str], tuple[float, int]] = {}  # the time of its last line, and how often since

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is the first of its kind within a minute."""
        words = str(record.msg).partition("\n")[0]  # asyncio appends the state of its objects
        if record.name == "asyncio" and record.exc_info:
            words, record.exc_info = f"{words}: {record.exc_info[1]}", None
        kind = record.name, words[:200]
        then, left_out = self._told.get(kind, (-self._seconds, 0))
        now = monotonic()
        if now - then < self._seconds:
            self._told[kind] = then, left_out + 1
            return False
        if len(self._told) >= MAX_KINDS:
            self._told.clear()
        self._told[kind] = now, 0
        record.msg = words if record.name == "asyncio" else record.msg
        if left_out:
            record.msg = f"{record.msg} (and {left_out:,} more like it)"
        return True

    def begin(self) -> None:
        """Watch the loggers of the server."""
        for name in WATCHED:
            logging.getLogger(name).addFilter(self)

    def end(self) -> None:
        """Leave the loggers as they were."""
        for name in WATCHED:
            logging.getLogger(name).removeFilter(self)


@final
class _Connections:
    """The open connections by the address of the client: to close one that does not read, and to count strangers.

    A stranger is a connection that has not shown the token yet. One stranger too many closes the oldest one, so silent
    connections neither take all descriptors nor keep the user out.
    """

    def __init__(self, most_strangers: int) -> None:
        self.open: dict[tuple[str, int], asyncio.Transport] = {}
        self.strangers: dict[tuple[str, int], asyncio.Transport] = {}
        self._most_strangers = most_strangers

    def add(self, client: tuple[str, int], transport: asyncio.Transport) -> None:
        """Register a new connection."""
        self.open[client] = self.strangers[client] = transport
        if len(self.strangers) > self._most_strangers:
            oldest = next(iter(self.strangers))
            self.strangers.pop(oldest).abort()

    def remove(self, client: tuple[str, int]) -> None:
        """Forget a connection."""
        self.open.pop(client, None)
        self.strangers.pop(client, None)

    def admit(self, scope: Scope) -> None:
        """Count the connection of a request with the token no more."""
        client: Any = scope.get("client")
        if client:
            self.strangers.pop((client[0], client[1]), None)

    def abort(self, scope: Scope) -> None:
        """Reset the connection and discard its kernel buffers."""
        client: Any = scope.get("client")
        transport = self.open.get((client[0], client[1])) if client else None
        if transport is not None:
            _reset(transport)

    def abort_unread(self) -> None:
        """Do the same to all connections that have not accepted what was sent, because the server stops."""
        for transport in list(self.open.values()):
            if transport.get_write_buffer_size() > 0:
                _reset(transport)


def _reset(transport: asyncio.Transport) -> None:
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    transport.abort()


def _protocol(connections: _Connections, settings: Settings) -> type[asyncio.Protocol]:
    class Protocol(H11Protocol):
        """The protocol of uvicorn, with a register of connections and a deadline for requests."""

        _limit: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            transport.set_write_buffer_limits(high=settings.slice)
            if self.client is not None:
                connections.add(self.client, transport)
            self._watch()

        def handle_events(self) -> None:
            super().handle_events()
            self._watch()

        def _watch(self) -> None:
            """Start or stop the deadline: for the head of a request, and for the rest of a body that is answered."""
            is_waiting = self.conn.their_state in (h11.IDLE, h11.ERROR) or self.cycle.response_complete
            if not is_waiting and self._limit is not None:
                self._limit.cancel()
                self._limit = None
            elif is_waiting and self._limit is None:
                self._limit = self.loop.call_later(settings.head, self.transport.abort)

        def _unsupported_upgrade_warning(self) -> None:
            """Print nothing: the studio has no web sockets."""

        def send_400_response(self, msg: str) -> None:
            """Reject invalid HTTP with the headers of every response."""
            if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # a response was sent already
                self.transport.close()
                return
            body = json.dumps({"error": "invalid HTTP request"}).encode()
            headers = [*HEADERS, (b"content-type", b"application/json"), (b"connection", b"close")]
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._limit is not None:
                self._limit.cancel()
            if self.client is not None:
                connections.remove(self.client)
            super().connection_lost(exc)

    return Protocol


@final
class StudioServer(uvicorn.Server):
    """One studio on one address. `order` is the session to open first."""

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
        type: NamedType | None = None,
    ) -> None:
        settings = settings or Settings()
        self.socket: Final = bound(host, port, settings.send_buffer)
        port = self.socket.getsockname()[1]
        names = (socket.gethostname(), socket.getfqdn()) if allow_remote else ()
        self.door: Final = Door(host, port, names=names)
        connections = self.connections = _Connections(settings.strangers)
        self.studio: Final = Studio(self.door, settings, connections.abort, connections.admit, type)
        self._faults = FaultLimit()
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
                proxy_headers=False,  # never trust a client's own account of its address
                timeout_graceful_shutdown=int(settings.grace) or 1,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the first session, then listen."""
        self._faults.begin()
        if self._order is not None:
            entry = await self.studio.open(self._order)
            entry.is_kept = True
            self.studio.opened = entry.session.id
        await super().startup(sockets)
        self._started(self.url)
        if self._browser:
            # In a thread, because a text browser blocks until the user closes it.
            threading.Thread(target=webbrowser.open, args=(self.door.url_for_once(),), daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first, because they do not end by themselves. The sessions stay until no page can ask."""
        await self.studio.let_go()
        self.connections.abort_unread()
        await super().shutdown(sockets)
        await self.studio.close()
        self._faults.end()

    def serve_forever(self) -> None:
        """Serve until a signal arrives."""
        self.run(sockets=[self.socket])
