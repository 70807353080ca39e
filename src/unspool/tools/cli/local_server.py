"""The base of the local HTTP servers of the command.

- `LocalServer` has one thread per connection, and a limited number of them.
- `LocalRequest` reads a small request that arrives in time, and only from this machine unless the server is open. Each
  request has its own connection, so that a stream can end or break together with it.
"""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from socketserver import TCPServer
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from urllib.parse import urlsplit

from ..._version import __version__
from .terminal import UsageError, complain

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "LOCAL_ONLY",
    "PATIENCE",
    "TICK",
    "LocalRequest",
    "LocalServer",
    "Refusal",
    "check_host",
    "is_local",
    "is_loopback",
]

PATIENCE: Final = 30.0  # seconds that a client may take to accept the next bytes
MAX_CONNECTIONS: Final = 64
MAX_DISCARDED: Final = 16 * 1024 * 1024  # bytes read before a refusal: clients read the answer after they have sent all
BLOCK: Final = 64 * 1024
TICK: Final = 0.05  # seconds between two checks whether the last request has been served
QUIET: Final = 60.0  # seconds between two lines about faults
NO_SNIFFING: Final = ("X-Content-Type-Options", "nosniff")
FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nX-Content-Type-Options: nosniff\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
"""A Host header has a name or an address, maybe a port, and nothing else."""


class Refusal(NamedTuple):
    """An HTTP status code and the reason."""

    status: int
    reason: str


LOCAL_ONLY: Final = Refusal(403, "this server only accepts local requests")


# Where a request comes from.


def is_loopback(name: str | None) -> bool:
    """Return whether this is a name or an address of loopback, which other machines cannot reach."""
    try:
        return name == "localhost" or ip_address(name or "").is_loopback
    except ValueError:
        return False


def check_host(host: str, *, allow_remote: bool) -> None:
    """Raise `UsageError` if other machines could connect to this host, and the user has not allowed it."""
    if not allow_remote and not is_loopback(host):
        raise UsageError(f"{host} is not a loopback address: use --allow-remote to let other machines connect")


def is_local(hosts: list[str], origin: str | None, *, is_open: bool = False) -> bool:
    """Return whether a request with these Host headers and this Origin is local. An open server accepts any one host.

    A web page of another site can send requests here, even under a host name of its own that points to loopback.
    Its Origin or Host gives it away.
    """
    found = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if found is None or is_open:
        return found is not None
    return is_loopback(found[1].strip("[]").lower()) and (origin is None or is_loopback(_host_of(origin)))


def _host_of(location: str) -> str | None:
    try:
        return urlsplit(location).hostname
    except ValueError:
        return None


# The server.


class LocalServer(ThreadingHTTPServer):
    """Answers local requests; with `times`, stops after that many answers.

    With `is_open`, it accepts any host name. Otherwise the name must be one of loopback, or any page in a browser could
    read from here.
    """

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[LocalRequest],
        *,
        times: int | None = None,
        is_open: bool = False,
    ) -> None:
        self.is_open: Final = is_open
        self._left = times
        self._unfinished = times
        self._lock: Final = threading.Lock()
        self._places: Final = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._told = -QUIET  # when the last fault was reported
        self._untold = 0
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            super().__init__(address, handler)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"{address[0]}, port {address[1]}") from None

    def server_bind(self) -> None:
        """Bind like the base class, but without a DNS lookup of the host name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def url(self) -> str:
        """The address of the server."""
        name = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{name}:{self.server_port}"

    def serve(self) -> None:
        """Serve until the last answer is complete."""
        self.serve_forever(TICK)

    # The number of answers.

    def take_turn(self) -> bool:
        """Return whether the server may answer once more, and count it."""
        with self._lock:
            if self._left is None:
                return True
            self._left -= 1
            return self._left >= 0

    def end_turn(self) -> None:
        """Count an answer as complete."""
        with self._lock:
            if self._unfinished is not None:
                self._unfinished -= 1

    # Threads, and their errors.

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle the request in its own thread, or answer 503 if there are too many."""
        if self._places.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except BaseException:  # no thread has begun that gives the place back
                self._places.release()
                raise
            return
        with suppress(OSError):
            request.settimeout(TICK)
            request.sendall(FULL)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle the request; after the last one, stop the server, but only once its connection is closed."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()
        with self._lock:
            is_over = self._unfinished == 0
        if is_over:
            self.shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; report any other error, one a minute."""
        fault = sys.exception()
        if isinstance(fault, (ConnectionError, TimeoutError)):
            return
        with self._lock:
            now = monotonic()
            if now - self._told < QUIET:
                self._untold += 1
                return
            more = f" (and {self._untold:,} more faults)" if self._untold else ""
            self._told, self._untold = now, 0
        complain(f"{type(fault).__name__}: {fault}{more}")


# A request.


class _Arriving(io.RawIOBase):
    """The bytes of a request. All of them have to arrive by the deadline, however small the pieces are."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        """Whether bytes can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has arrived. Raises `TimeoutError` at the deadline."""
        left = self._deadline - monotonic()
        if left <= 0:
            raise TimeoutError("the request did not arrive in time")
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(PATIENCE)


class LocalRequest(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # answers in the style of HTTP/0.9 would have no headers
    timeout = PATIENCE
    disable_nagle_algorithm = True
    seconds: ClassVar[float] = 15.0  # for the whole request, head and body
    max_size: ClassVar[int] = 1024 * 1024  # bytes of a body

    def setup(self) -> None:
        """Read the request with a deadline for all of it."""
        super().setup()
        self.rfile = io.BufferedReader(_Arriving(self.connection, monotonic() + self.seconds))

    def end_headers(self) -> None:
        """End the head of any answer, those of the base class included."""
        self.send_header(*NO_SNIFFING)
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request that the base class cannot read, with JSON instead of its HTML page."""
        reason = message or HTTPStatus(code).phrase
        self.close_connection = True
        self.send_json(code, json.dumps({"error": {"message": reason}}).encode())

    def is_trusted(self) -> bool:
        """Return whether the request is local, or the server is open."""
        assert isinstance(self.server, LocalServer)
        hosts = self.headers.get_all("Host", [])
        return is_local(hosts, self.headers.get("Origin"), is_open=self.server.is_open)

    def read_body(self) -> bytes | Refusal:
        """Read the body of a local request, or return why it is refused."""
        given = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") is not None:
            return Refusal(411, "a request needs a Content-Length")
        if not (given.isascii() and given.isdigit() and len(given) < len(str(sys.maxsize))):
            return Refusal(400, "Content-Length must be a number of bytes")
        length, is_trusted = int(given), self.is_trusted()
        if length <= self.max_size and is_trusted:
            body = self.rfile.read(length)
            return body if len(body) == length else Refusal(400, "the request is incomplete")
        left = min(length, max(MAX_DISCARDED, 4 * self.max_size))
        while left > 0 and (block := self.rfile.read(min(left, BLOCK))):
            left -= len(block)
        if not is_trusted:
            return LOCAL_ONLY
        return Refusal(413, f"a request may have at most {self.max_size} bytes")

    def send_json(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Answer with a short JSON text."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """Return the value of the Server header."""
        return f"unspool/{__version__}"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
