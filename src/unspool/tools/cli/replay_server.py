"""A local server that replays one stream to every client, in the wire format of its provider.

- The tables of the providers: paths, error bodies, environment variables.
- `ReplayServer` plays a `Wire`. It only accepts small requests, and only from this machine unless it is open.
- Each request has its own connection, so that a stream can end or break together with it.
"""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import threading
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from itertools import islice
from socketserver import TCPServer
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final
from urllib.parse import parse_qs, urlsplit

from ..._version import __version__
from .arrivals import Clock, paced
from .terminal import complain

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..viewer.playback import Wire

__all__ = ["Refusal", "ReplayServer", "asked_format", "error_body", "is_loopback", "refusal_of", "variables"]

PATIENCE: Final = 30.0  # seconds that a client may take to accept the next bytes
REQUEST: Final = 15.0  # seconds for a whole request, head and body
MAX_CONNECTIONS: Final = 64
MAX_REQUEST: Final = 1024 * 1024  # bytes
MAX_DISCARDED: Final = 16 * MAX_REQUEST  # bytes read before a refusal: clients read the answer after they have sent all
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


# What clients ask for.


class Streams(Enum):
    """When the answer to a request is a stream."""

    ALWAYS = 0
    NEVER = 1
    IF_ASKED = 2
    UNLESS_ASKED_NOT = 3


class Endpoint(NamedTuple):
    """The end of a path, the format of its answers, and when they are streams."""

    ending: str
    format: str
    streams: Streams
    example: str = ""


ENDPOINTS: Final = (
    Endpoint("/chat/completions", "openai-chat", Streams.IF_ASKED, "/v1/chat/completions"),
    Endpoint("/responses", "openai-responses", Streams.IF_ASKED, "/v1/responses"),
    Endpoint("/messages", "anthropic", Streams.IF_ASKED, "/v1/messages"),
    Endpoint(":streamGenerateContent", "gemini", Streams.ALWAYS, "/v1beta/models/NAME:streamGenerateContent?alt=sse"),
    Endpoint(":generateContent", "gemini", Streams.NEVER),
    Endpoint("/interactions", "gemini-interactions", Streams.IF_ASKED, "/v1beta/interactions"),
    Endpoint("/converse-stream", "bedrock-converse", Streams.ALWAYS, "/model/NAME/converse-stream"),
    Endpoint("/converse", "bedrock-converse", Streams.NEVER),
    Endpoint("/v2/chat", "cohere", Streams.IF_ASKED, "/v2/chat"),
    Endpoint("/api/chat", "ollama", Streams.UNLESS_ASKED_NOT, "/api/chat"),
)
VARIABLES: Final = {
    "openai-chat": "OPENAI_BASE_URL={url}/v1",
    "openai-responses": "OPENAI_BASE_URL={url}/v1",
    "anthropic": "ANTHROPIC_BASE_URL={url}",
    "gemini": "GOOGLE_GEMINI_BASE_URL={url}",
    "gemini-interactions": "GOOGLE_GEMINI_BASE_URL={url}",
    "bedrock-converse": "AWS_ENDPOINT_URL_BEDROCK_RUNTIME={url}",
    "cohere": "CO_API_URL={url}",
    "ollama": "OLLAMA_HOST={url}",
}
DEFAULT_VARIABLES: Final = "OPENAI_BASE_URL={url}/v1 ANTHROPIC_BASE_URL={url}"


def variables(format: str | None, url: str) -> str:
    """Return the environment variables that point clients of this format at the server."""
    return (DEFAULT_VARIABLES if format is None else VARIABLES[format]).format(url=url)


def _endpoint(target: str) -> Endpoint | None:
    path = urlsplit(target).path.rstrip("/")
    return next((endpoint for endpoint in ENDPOINTS if path.endswith(endpoint.ending)), None)


def asked_format(target: str) -> str | None:
    """Return the format that a client of this path expects, or None if the path is unknown."""
    endpoint = _endpoint(target)
    return None if endpoint is None else endpoint.format


# Refusing a request.


class Refusal(NamedTuple):
    """An HTTP status code and the reason."""

    status: int
    reason: str


BAD_REQUEST: Final = 400
NO_STREAM: Final = 'only streams are replayed: ask with "stream": true'
LOCAL_ONLY: Final = Refusal(403, "this server only accepts local requests")


def refusal_of(target: str, body: bytes, format: str | None) -> Refusal | None:
    """Return why a recording of this format cannot answer the request, or None if it can."""
    endpoint = _endpoint(target)
    streams = Streams.UNLESS_ASKED_NOT if endpoint is None else endpoint.streams
    if endpoint is not None and format is not None and endpoint.format != format:
        there = next(known.example for known in ENDPOINTS if known.format == format)
        reason = f"the recording is one of {format}, and this path is for {endpoint.format}: ask for {there}"
        return Refusal(BAD_REQUEST, reason)
    if streams is Streams.NEVER:
        return Refusal(BAD_REQUEST, "only streams are replayed, and this path is for whole answers")
    if streams is Streams.ALWAYS:
        return _alternative(target) if endpoint is not None and endpoint.format == "gemini" else None
    return _asked(body, streams)


def _alternative(target: str) -> Refusal | None:
    is_sse = parse_qs(urlsplit(target).query).get("alt") == ["sse"]
    return None if is_sse else Refusal(BAD_REQUEST, "only server-sent events are replayed: ask with ?alt=sse")


def _asked(body: bytes, streams: Streams) -> Refusal | None:
    if not body.strip():
        return None  # a user who tries it by hand
    try:
        request: object = json.loads(body)
    except (ValueError, RecursionError):
        return None if streams is Streams.UNLESS_ASKED_NOT else Refusal(BAD_REQUEST, "the request is not JSON")
    asked = cast("dict[str, Any]", request).get("stream") if isinstance(request, dict) else None
    is_wanted = asked is not False if streams is Streams.UNLESS_ASKED_NOT else asked is True
    return None if is_wanted else Refusal(BAD_REQUEST, NO_STREAM)


def _openai_error(status: int, reason: str) -> object:
    return {"error": {"message": reason, "type": "invalid_request_error", "param": None, "code": None}}


def _gemini_error(status: int, reason: str) -> object:
    return {"error": {"code": status, "message": reason, "status": "INVALID_ARGUMENT"}}


ERRORS: Final[dict[str, Callable[[int, str], object]]] = {
    "anthropic": lambda _, reason: {"type": "error", "error": {"type": "invalid_request_error", "message": reason}},
    "gemini": _gemini_error,
    "gemini-interactions": _gemini_error,
    "bedrock-converse": lambda _, reason: {"message": reason},
    "cohere": lambda _, reason: {"message": reason},
    "ollama": lambda _, reason: {"error": reason},
}


def error_body(refusal: Refusal, format: str | None) -> bytes:
    """Return the refusal in the provider's own shape. The default is OpenAI's."""
    return json.dumps(ERRORS.get(format or "", _openai_error)(*refusal)).encode()


# Serving.


def is_loopback(name: str | None) -> bool:
    """Return whether this is a name or an address of loopback, which other machines cannot reach."""
    try:
        return name == "localhost" or ip_address(name or "").is_loopback
    except ValueError:
        return False


def _named_host(headers: list[str]) -> str | None:
    """Return the name in the only Host header, or None if there is another number of them, or anything else in it."""
    found = HOST.fullmatch(headers[0]) if len(headers) == 1 else None
    return None if found is None else found[1].strip("[]")


def _host_of(location: str) -> str | None:
    try:
        return urlsplit(location).hostname
    except ValueError:
        return None


@final
class ReplayServer(ThreadingHTTPServer):
    """Plays a `Wire` to every client; with `times`, stops after that many streams.

    With `drop_after`, it drops each connection after that many frames. With `is_open`, it accepts any host name.
    Otherwise the name must be one of loopback, or any page in a browser could read from here.
    """

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS

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
        self._places: Final = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._told = -QUIET  # when the last fault was reported
        self._untold = 0
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            super().__init__(address, _Request)
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
        """Serve until the last stream has been played."""
        self.serve_forever(TICK)

    # The number of streams.

    def take_turn(self) -> bool:
        """Return whether the stream may be played once more, and count it."""
        with self._lock:
            if self._left is None:
                return True
            self._left -= 1
            return self._left >= 0

    def end_turn(self) -> None:
        """Count a stream as played."""
        with self._lock:
            if self._unfinished is not None:
                self._unfinished -= 1

    # Threads, and their errors.

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle the request in its own thread, or answer 503 if there are too many."""
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


@final
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


@final
class _Request(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # answers in the style of HTTP/0.9 would have no headers
    timeout = PATIENCE
    disable_nagle_algorithm = True
    seconds = REQUEST

    def setup(self) -> None:
        """Read the request with a deadline for all of it."""
        super().setup()
        self.rfile = io.BufferedReader(_Arriving(self.connection, monotonic() + self.seconds))

    def end_headers(self) -> None:
        """End the head of any answer, those of the base class included."""
        self.send_header(*NO_SNIFFING)
        super().end_headers()

    @property
    def replay(self) -> ReplayServer:
        """The server of this request."""
        assert isinstance(self.server, ReplayServer)
        return self.server

    def do_GET(self) -> None:
        """Answer GET /healthz with a description of the recording."""
        if not self._is_trusted():
            self._refuse(LOCAL_ONLY)
        elif urlsplit(self.path).path != "/healthz":
            self._refuse(Refusal(404, "use POST to play the recording, or GET /healthz"))
        else:
            wire = self.replay.wire
            seconds = wire.frames[-1].time if wire.frames else 0.0
            known = {"status": "ok", "format": wire.format, "pieces": len(wire.frames), "seconds": seconds}
            self._send(200, json.dumps(known).encode())

    def do_POST(self) -> None:
        """Answer with the stream."""
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
            return LOCAL_ONLY
        refusal = refusal_of(self.path, body, self.replay.wire.format)
        if refusal is None and not self.replay.take_turn():
            return Refusal(410, "the recording has already been played the requested number of times")
        return refusal

    def _is_trusted(self) -> bool:
        """Return whether the request is local.

        A web page of another site can send requests here, even under a host name of its own that points to loopback.
        Its Origin or Host gives it away.
        """
        host = _named_host(self.headers.get_all("Host", []))
        if self.replay.is_open:
            return host is not None
        origin = self.headers.get("Origin")
        is_own = origin is None or is_loopback(_host_of(origin))
        return is_own and is_loopback(host)

    def _body(self) -> bytes | Refusal:
        given = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") is not None:
            return Refusal(411, "a request needs a Content-Length")
        if not (given.isascii() and given.isdigit() and len(given) < len(str(sys.maxsize))):
            return Refusal(400, "Content-Length must be a number of bytes")
        length = int(given)
        if length <= MAX_REQUEST:
            body = self.rfile.read(length)
            return body if len(body) == length else Refusal(400, "the request is incomplete")
        left = min(length, MAX_DISCARDED)
        while left > 0 and (block := self.rfile.read(min(left, BLOCK))):
            left -= len(block)
        return Refusal(413, f"a request may have at most {MAX_REQUEST} bytes")

    # Answers.

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
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Return the value of the Server header."""
        return f"unspool/{__version__}"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
