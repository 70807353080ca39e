"""A server on this machine that gives the same stream to everybody who asks, as a provider would.

It takes what is said to it as far as it has to: a request of limited size, from a page or a program of this machine.
Every request has a connection of its own, so that a stream can end, or be dropped, together with it.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from itertools import islice
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import urlsplit

from ...._version import __version__
from ..pacing import Clock, paced
from ..terminal import complain
from .providers import Refusal, asked_format, error_body, refusal_of

if TYPE_CHECKING:
    from ...viewer.playback import Wire

__all__ = ["ReplayServer", "is_loopback"]

PATIENCE: Final = 30.0  # seconds that a client may take for the next bytes, either way
MOST_AT_ONCE: Final = 64
LARGEST_REQUEST: Final = 1024 * 1024
LARGEST_DISCARDED: Final = 16 * LARGEST_REQUEST  # read all the same: who is cut off while writing hears no answer
BLOCK: Final = 64 * 1024
TICK: Final = 0.05  # seconds between two looks whether the last one has been served
FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def is_loopback(name: str | None) -> bool:
    """Whether this is a name, or an address, of this machine that no other machine can use."""
    try:
        return name == "localhost" or ip_address(name or "").is_loopback
    except ValueError:
        return False


def _host_of(location: str) -> str | None:
    try:
        return urlsplit(location).hostname
    except ValueError:
        return None


@final
class ReplayServer(ThreadingHTTPServer):
    """Plays a `Wire` to everybody who asks; with `times`, only so often, and then stops serving.

    With `drop_after`, the connection is dropped after so many frames. With `is_open`, requests may call this server
    whatever name they like; otherwise only one of loopback, or any page in a browser could read here.
    """

    daemon_threads = True
    request_queue_size = MOST_AT_ONCE

    def __init__(
        self,
        wire: Wire,
        address: tuple[str, int] = ("127.0.0.1", 0),
        *,
        speed: float = 1.0,
        drop_after: int | None = None,
        times: int | None = None,
        is_open: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.wire: Final = wire
        self.speed: Final = speed
        self.drop_after: Final = drop_after
        self.is_open: Final = is_open
        self.clock: Final = clock or Clock()
        self._left = times
        self._unfinished = times
        self._lock: Final = threading.Lock()
        self._places: Final = threading.BoundedSemaphore(MOST_AT_ONCE)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            super().__init__(address, _Request)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"{address[0]}, port {address[1]}") from None

    def server_bind(self) -> None:
        """As it is, but without asking the network what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def url(self) -> str:
        """Where it is."""
        name = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{name}:{self.server_port}"

    def serve(self) -> None:
        """Serve, as long as there is something to serve."""
        self.serve_forever(TICK)

    # How often.

    def take_turn(self) -> bool:
        """Whether the stream may be played once more."""
        with self._lock:
            if self._left is None:
                return True
            self._left -= 1
            return self._left >= 0

    def end_turn(self) -> None:
        """It has been played."""
        with self._lock:
            if self._unfinished is not None:
                self._unfinished -= 1

    # Threads, and what goes wrong in them.

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, if there is one left."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        try:
            request.settimeout(TICK)
            request.sendall(FULL)
        except OSError:
            pass
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The last one that is served stops the server: when its connection has been closed, not before."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()
        with self._lock:
            is_over = self._unfinished == 0
        if is_over:
            self.shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients come and go; anything else is a fault of this server."""
        fault = sys.exception()
        if not isinstance(fault, (ConnectionError, TimeoutError)):
            complain(f"{type(fault).__name__}: {fault}")


@final
class _Request(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    disable_nagle_algorithm = True

    @property
    def replay(self) -> ReplayServer:
        """What it is asked of."""
        assert isinstance(self.server, ReplayServer)
        return self.server

    def do_GET(self) -> None:
        """Whether it is there, and what it plays."""
        if not self._is_trusted():
            self._refuse(Refusal(403, "this server is for this machine only"))
        elif urlsplit(self.path).path != "/healthz":
            self._refuse(Refusal(404, "here is a recording to ask for with POST, and GET /healthz"))
        else:
            wire = self.replay.wire
            seconds = wire.frames[-1].time if wire.frames else 0.0
            known = {"status": "ok", "format": wire.format, "pieces": len(wire.frames), "seconds": seconds}
            self._send(200, json.dumps(known).encode())

    def do_POST(self) -> None:
        """The stream."""
        body = self._body()
        refusal = body if isinstance(body, Refusal) else self._refusal(body)
        if refusal is not None:
            self._refuse(refusal)
            return
        try:
            self._play()
        finally:
            self.replay.end_turn()

    def _refusal(self, body: bytes) -> Refusal | None:
        if not self._is_trusted():
            return Refusal(403, "this server is for this machine only")
        refusal = refusal_of(self.path, body, self.replay.wire.format)
        if refusal is None and not self.replay.take_turn():
            return Refusal(410, "the recording has been replayed as often as was asked for")
        return refusal

    def _is_trusted(self) -> bool:
        """A page of another site can send requests here, under any name that it gave to this machine; not these."""
        if self.replay.is_open:
            return True
        origin = self.headers.get("Origin")
        is_own = origin is None or is_loopback(_host_of(origin))
        return is_own and is_loopback(_host_of(f"//{self.headers.get('Host', '')}"))

    def _body(self) -> bytes | Refusal:
        given = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") is not None:
            return Refusal(411, "a request has a Content-Length")
        if not (given.isascii() and given.isdigit() and len(given) < len(str(sys.maxsize))):
            return Refusal(400, "Content-Length is a number of bytes")
        length = int(given)
        if length <= LARGEST_REQUEST:
            body = self.rfile.read(length)
            return body if len(body) == length else Refusal(400, "the request ends in the middle")
        left = min(length, LARGEST_DISCARDED)
        while left > 0 and (block := self.rfile.read(min(left, BLOCK))):
            left -= len(block)
        return Refusal(413, f"a request has at most {LARGEST_REQUEST} bytes")

    # What is sent.

    def _play(self) -> None:
        server, wire = self.replay, self.replay.wire
        is_chunked = self.request_version != "HTTP/1.0"
        self.send_response(200)
        self.send_header("Content-Type", wire.content_type)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        if is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in paced(islice(wire.frames, server.drop_after), server.speed, server.clock):
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data)
        if is_chunked and server.drop_after is None:
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, refusal: Refusal) -> None:
        self._send(refusal.status, error_body(refusal, asked_format(self.path) or self.replay.wire.format))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """What the server says it is."""
        return f"unspool/{__version__}"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written down."""
