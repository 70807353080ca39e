"""A local gateway: endpoints of OpenAI's and Anthropic's APIs, in front of a recording or of another provider.

- An `Upstream` answers each request with bytes: `RecordedUpstream` plays a recording, `HTTPUpstream` asks a server.
- `GatewayServer` reads the bytes with a `MessageStream`, whatever their format, and writes them with an encoder.
- A client that leaves ends the request of its upstream. An upstream that refuses a request decides the status.

The gateway translates answers, not requests: an HTTP upstream gets the body of the request as it came.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, final
from urllib.parse import urlsplit

from ..._version import __version__
from ...llm import Encoder, MessageError, MessageStream
from ...llm._encode import Encoding
from .arrivals import Clock, paced
from .replay_server import Refusal, asked_format, error_body, is_loopback
from .terminal import complain

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from ..viewer.playback import Wire

__all__ = ["GatewayServer", "HTTPUpstream", "RecordedUpstream", "Upstream", "UpstreamAnswer"]

PATIENCE: Final = 30.0  # seconds that a client may take for the next bytes
UPSTREAM_PATIENCE: Final = 300.0  # seconds that a provider may take for the next bytes
MAX_CONNECTIONS: Final = 64
MAX_REQUEST: Final = 64 * 1024 * 1024  # bytes: requests hold conversations, with images
BLOCK: Final = 64 * 1024
TICK: Final = 0.05  # seconds between two looks at a client
SERVED: Final = ("openai-chat", "openai-responses", "anthropic")
FORWARDED: Final = ("authorization", "x-api-key", "anthropic-version", "anthropic-beta", "openai-beta")
LOCAL_ONLY: Final = Refusal(403, "this gateway only accepts local requests")
NOT_SERVED: Final = Refusal(404, "ask for /v1/chat/completions, /v1/responses or /v1/messages")
NO_STREAM: Final = Refusal(400, 'the gateway only answers with streams: ask with "stream": true')
FIRST_ERROR: Final = 400


# Upstreams.


class UpstreamAnswer(Protocol):
    """The answer of an upstream to one request."""

    status_code: int

    def __iter__(self) -> Iterator[bytes]:
        """Yield the body as it arrives."""
        ...

    def cancel(self) -> None:
        """End the answer, from another thread."""
        ...


class Upstream(Protocol):
    """The source of the answers."""

    format: str | None

    def ask(self, body: bytes, headers: Mapping[str, str]) -> UpstreamAnswer:
        """Return the answer to a request. Raise `OSError` if there is none."""
        ...


@final
class RecordedUpstream:
    """Plays a recording to every client."""

    def __init__(self, wire: Wire, speed: float = 1.0, clock: Clock | None = None) -> None:
        self.format: str | None = wire.format
        self._wire: Final = wire
        self._speed: Final = speed
        self._clock: Final = clock or Clock()

    def ask(self, body: bytes, headers: Mapping[str, str]) -> UpstreamAnswer:
        """Return the recording."""
        return _Recorded(paced(self._wire.frames, self._speed, self._clock))


@final
class _Recorded:
    status_code = 200

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces: Final = pieces
        self._is_cancelled = False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if self._is_cancelled:
                return
            yield piece

    def cancel(self) -> None:
        self._is_cancelled = True


@final
class HTTPUpstream:
    """Asks a server over HTTP: with the body of the request as it came, and with its keys."""

    def __init__(self, url: str, format: str | None = None) -> None:
        self.format: str | None = format
        self._url: Final = urlsplit(url)

    def ask(self, body: bytes, headers: Mapping[str, str]) -> UpstreamAnswer:
        """Send the request on."""
        url = self._url
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = connect(url.hostname or "", url.port, timeout=UPSTREAM_PATIENCE)
        sent = {name: headers[name] for name in FORWARDED if name in headers}
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        try:
            connection.request("POST", path, body, {**sent, "content-type": "application/json"})
            return _Asked(connection)
        except (OSError, HTTPException) as error:
            connection.close()
            raise OSError(str(error) or type(error).__name__) from None


@final
class _Asked:
    def __init__(self, connection: HTTPConnection) -> None:
        self._connection: Final = connection
        self._socket: Final = cast("socket.socket | None", connection.sock)  # the response takes it over
        self._response: Final = connection.getresponse()
        self.status_code = self._response.status

    def __iter__(self) -> Generator[bytes, None, None]:
        try:
            while block := self._response.read1(BLOCK):
                yield block
        finally:
            self._response.close()
            self._connection.close()

    def cancel(self) -> None:
        """Hang up: a read that waits ends."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


# The server.


@final
class GatewayServer(ThreadingHTTPServer):
    """Answers requests of OpenAI's and Anthropic's clients from one upstream; with `times`, stops after that many."""

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS

    def __init__(
        self,
        upstream: Upstream,
        address: tuple[str, int] = ("127.0.0.1", 0),
        *,
        times: int | None = None,
        is_open: bool = False,
    ) -> None:
        self.upstream: Final = upstream
        self.is_open: Final = is_open
        self._left = times
        self._lock: Final = threading.Lock()
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            super().__init__(address, _GatewayRequest)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"{address[0]}, port {address[1]}") from None

    def server_bind(self) -> None:
        """Bind like the base class, but without a DNS lookup of the host name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def url(self) -> str:
        """The address of the gateway."""
        name = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{name}:{self.server_port}"

    def serve(self) -> None:
        """Serve until the last request has been answered."""
        self.serve_forever(TICK)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle the request; after the last one, stop."""
        super().process_request_thread(request, client_address)
        with self._lock:
            if self._left is None:
                return
            self._left -= 1
            is_over = self._left <= 0
        if is_over:
            self.shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; report any other error."""
        fault = sys.exception()
        if not isinstance(fault, (ConnectionError, TimeoutError)):
            complain(f"{type(fault).__name__}: {fault}")


@final
class _GatewayRequest(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    disable_nagle_algorithm = True

    @property
    def gateway(self) -> GatewayServer:
        """The server of this request."""
        assert isinstance(self.server, GatewayServer)
        return self.server

    def do_POST(self) -> None:
        """Answer with the stream of the upstream, in the protocol of the path."""
        self.close_connection = True
        body = self._body()
        target = asked_format(self.path)
        refusal = body if isinstance(body, Refusal) else self._refusal(target, body)
        if refusal is not None:
            self._refuse(refusal)
            return
        assert isinstance(body, bytes)
        assert target is not None
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            answer = self.gateway.upstream.ask(body, headers)
        except OSError as error:
            self._refuse(Refusal(502, f"the upstream does not answer: {error}"))
            return
        self._translate(answer, target, body)

    def _refusal(self, target: str | None, body: bytes) -> Refusal | None:
        if not self._is_trusted():
            return LOCAL_ONLY
        if target not in SERVED:
            return NOT_SERVED
        try:
            asked: object = json.loads(body)
        except (ValueError, RecursionError):
            return Refusal(400, "the request is not JSON")
        is_stream = isinstance(asked, dict) and cast("dict[str, object]", asked).get("stream") is True
        return None if is_stream else NO_STREAM

    def _translate(self, answer: UpstreamAnswer, target: str, body: bytes) -> None:
        if answer.status_code >= FIRST_ERROR:
            self._refuse(self._told(answer))
            return
        stream = MessageStream(iter(answer), format=self.gateway.upstream.format)
        encoding = Encoding(stream, Encoder(target, include_usage=_wants_usage(body)))
        is_over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(answer, is_over), daemon=True)
        watch.start()
        try:
            self.send_response(200)
            for name, value in encoding.headers.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            for frame in encoding.sse():
                self.wfile.write(frame)
        finally:
            is_over.set()
            answer.cancel()
            watch.join(PATIENCE)

    def _told(self, answer: UpstreamAnswer) -> Refusal:
        """Return the refusal of the upstream: its status, and its own words."""
        try:
            MessageStream(_Response(answer), format=self.gateway.upstream.format).final()
        except MessageError as error:
            return Refusal(answer.status_code, error.detail or str(error))
        return Refusal(answer.status_code, "the upstream refused the request")

    def _watch(self, answer: UpstreamAnswer, is_over: threading.Event) -> None:
        """Cancel the answer of the upstream when the client leaves: it may be silent for long."""
        while not is_over.wait(TICK):
            try:
                is_readable, _, _ = select.select([self.connection], [], [], 0)
                is_gone = bool(is_readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
            except (OSError, ValueError):
                is_gone = True
            if is_gone:
                answer.cancel()
                return

    def _is_trusted(self) -> bool:
        """Return whether the request is local: pages of other sites have an Origin or a Host that gives them away."""
        if self.gateway.is_open:
            return True
        origin = self.headers.get("Origin")
        try:
            is_own = origin is None or is_loopback(urlsplit(origin).hostname)
            return is_own and is_loopback(urlsplit(f"//{self.headers.get('Host', '')}").hostname)
        except ValueError:
            return False

    def _body(self) -> bytes | Refusal:
        given = self.headers.get("Content-Length", "")
        if not (given.isascii() and given.isdigit() and len(given) < len(str(sys.maxsize))):
            return Refusal(411, "a request needs a Content-Length")
        length = int(given)
        if length > MAX_REQUEST:
            return Refusal(413, f"a request may have at most {MAX_REQUEST} bytes")
        body = self.rfile.read(length)
        return body if len(body) == length else Refusal(400, "the request is incomplete")

    def _refuse(self, refusal: Refusal) -> None:
        body = error_body(refusal, asked_format(self.path))
        self.send_response(refusal.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Return the value of the Server header."""
        return f"unspool/{__version__}"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@final
class _Response:
    """A refused answer, as `MessageStream` knows responses of HTTP."""

    def __init__(self, answer: UpstreamAnswer) -> None:
        self.status_code: Final = answer.status_code
        self._answer: Final = answer

    def iter_bytes(self) -> Iterator[bytes]:
        return iter(self._answer)


def _wants_usage(body: bytes) -> bool:
    """Return whether a client of chat completions has asked for the usage."""
    options = json.loads(body).get("stream_options")
    return isinstance(options, dict) and cast("dict[str, object]", options).get("include_usage") is True
