"""A local gateway: endpoints of OpenAI's and Anthropic's APIs, in front of a recording or of another provider.

- An `Upstream` answers each request with bytes: `RecordedUpstream` plays a recording, `HTTPUpstream` asks a server.
- `GatewayServer` reads the bytes with a `MessageStream`, whatever their format, and writes them with an encoder.
- A client that leaves ends the request of its upstream, also before the upstream has answered. An upstream that refuses
  a request decides the status.

The gateway translates answers, not requests: an HTTP upstream gets the body of the request as it came.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Final, Protocol, cast, final
from urllib.parse import SplitResult, urlsplit

from ...llm import Encoder, MessageError, MessageStream
from ...llm._encode import Encoding
from .arrivals import Clock, paced
from .local_server import PATIENCE, TICK, LocalRequest, LocalServer, Refusal
from .replay_server import asked_format, error_body
from .terminal import UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from http.client import HTTPResponse

    from ..viewer.playback import Wire

__all__ = ["GatewayServer", "HTTPUpstream", "RecordedUpstream", "Upstream", "UpstreamAnswer"]

CONNECT_PATIENCE: Final = 15.0  # seconds until a provider has taken the connection
UPSTREAM_PATIENCE: Final = 300.0  # seconds that a provider may take for the next bytes
BLOCK: Final = 64 * 1024
SERVED: Final = ("openai-chat", "openai-responses", "anthropic")
MAX_REFUSAL: Final = 1024 * 1024  # bytes of a refusal that are read
FORWARDED: Final = (
    *("authorization", "x-api-key", "api-key", "anthropic-version", "anthropic-beta"),
    *("openai-beta", "openai-organization", "openai-project"),
)
REPEATED: Final = ("retry-after", "retry-after-ms")
"""The headers of a refusal that clients act upon."""
NOT_SERVED: Final = Refusal(404, "ask for /v1/chat/completions, /v1/responses or /v1/messages")
ONLY_POST: Final = Refusal(405, "ask with POST")
NO_STREAM: Final = Refusal(400, 'the gateway only answers with streams: ask with "stream": true')
ALL_ANSWERED: Final = Refusal(410, "the gateway has already answered the requested number of times")
STREAMS: Final = 200
FIRST_ERROR: Final = 400


# Upstreams.


class UpstreamAnswer(Protocol):
    """The answer of an upstream to one request."""

    def begin(self) -> int:
        """Send the request, and return the status: 200, or that of a refusal. Raise `OSError` if there is neither."""
        ...

    def repeated(self) -> dict[str, str]:
        """Return the headers that a client must know, once the answer has begun."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Yield the body as it arrives."""
        ...

    def cancel(self) -> None:
        """End the answer, from another thread, also while it begins."""
        ...


class Upstream(Protocol):
    """The source of the answers."""

    format: str | None

    def ask(self, body: bytes, headers: Mapping[str, str]) -> UpstreamAnswer:
        """Return the answer to a request. It has not begun."""
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
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces: Final = pieces
        self._is_cancelled = False

    def begin(self) -> int:
        return STREAMS

    def repeated(self) -> dict[str, str]:
        return {}

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
        self._url: Final = _checked(url)

    def ask(self, body: bytes, headers: Mapping[str, str]) -> UpstreamAnswer:
        """Return the answer of the server."""
        url = self._url
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = connect(url.hostname or "", url.port, timeout=CONNECT_PATIENCE)
        sent = {name: headers[name] for name in FORWARDED if name in headers}
        return _Asked(connection, _target(url), body, {**sent, "content-type": "application/json"})


def _checked(url: str) -> SplitResult:
    """Return an address in parts. Raise `UsageError` without quoting it, because addresses may hold keys."""
    try:
        parts = urlsplit(url)
        if not (parts.hostname and parts.hostname.encode("idna")) or parts.port == 0:
            raise ValueError("no server")
    except ValueError:
        raise UsageError("the address of the upstream is not one of a server") from None
    target = _target(parts)
    if not (target.isascii() and target.isprintable()) or " " in target:
        raise UsageError("the address of the upstream has characters that must be percent-encoded")
    return parts


def _target(url: SplitResult) -> str:
    """Return what a request asks for: the path and the query."""
    return (url.path or "/") + (f"?{url.query}" if url.query else "")


@final
class _Asked:
    def __init__(self, connection: HTTPConnection, target: str, body: bytes, headers: dict[str, str]) -> None:
        self._connection: Final = connection
        self._request: Final = (target, body, headers)
        self._socket: socket.socket | None = None
        self._response: HTTPResponse | None = None
        self._is_cancelled = False

    def begin(self) -> int:
        connection = self._connection
        try:
            connection.connect()
            self._socket = cast("socket.socket", connection.sock)  # the response takes it over
            self._socket.settimeout(UPSTREAM_PATIENCE)
            if self._is_cancelled:
                raise ConnectionAbortedError("the client has left")
            connection.request("POST", *self._request)
            response = self._response = connection.getresponse()
            if response.status != STREAMS and response.status < FIRST_ERROR:
                raise HTTPException(f"its status is {response.status}")
        except (OSError, HTTPException) as error:
            connection.close()
            raise OSError(str(error) or type(error).__name__) from None
        return response.status

    def repeated(self) -> dict[str, str]:
        assert self._response is not None
        given = {name: self._response.getheader(name) for name in REPEATED}
        return {name: value for name, value in given.items() if value is not None and value.isprintable()}

    def __iter__(self) -> Generator[bytes, None, None]:
        response = self._response
        assert response is not None
        try:
            while block := response.read1(BLOCK):
                yield block
        finally:
            response.close()
            self._connection.close()

    def cancel(self) -> None:
        """Hang up: a read that waits ends."""
        self._is_cancelled = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


# The server.


@final
class GatewayServer(LocalServer):
    """Answers requests of OpenAI's and Anthropic's clients from one upstream."""

    def __init__(
        self,
        upstream: Upstream,
        address: tuple[str, int] = ("127.0.0.1", 0),
        *,
        times: int | None = None,
        is_open: bool = False,
    ) -> None:
        self.upstream: Final = upstream
        super().__init__(address, _GatewayRequest, times=times, is_open=is_open)


@final
class _GatewayRequest(LocalRequest):
    """One request for an answer of the upstream."""

    seconds = 60.0
    max_size = 64 * 1024 * 1024  # requests hold conversations, with images

    @property
    def gateway(self) -> GatewayServer:
        """The server of this request."""
        assert isinstance(self.server, GatewayServer)
        return self.server

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it
        """Refuse the request: the gateway answers POST alone."""
        body = self.read_body()
        is_served = asked_format(self.path) in SERVED
        self._refuse(body if isinstance(body, Refusal) else ONLY_POST if is_served else NOT_SERVED)

    do_HEAD = do_OPTIONS = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it
        """Answer with the stream of the upstream, in the protocol of the path."""
        self.close_connection = True
        body = self.read_body()
        target = asked_format(self.path)
        refusal = body if isinstance(body, Refusal) else self._refusal(target, body)
        if refusal is not None:
            self._refuse(refusal)
            return
        assert isinstance(body, bytes)
        assert target is not None
        try:
            self._ask(target, body)
        finally:
            self.gateway.end_turn()

    def _ask(self, target: str, body: bytes) -> None:
        """Ask the upstream, and cancel its answer if the client leaves."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.gateway.upstream.ask(body, headers)
        is_over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(answer, is_over), daemon=True)
        watch.start()
        try:
            self._answer(answer, target, body)
        finally:
            is_over.set()
            answer.cancel()
            watch.join(PATIENCE)

    def _answer(self, answer: UpstreamAnswer, target: str, body: bytes) -> None:
        try:
            status = answer.begin()
        except OSError as error:
            self._refuse(Refusal(502, f"the upstream has no answer: {error}"))
            return
        if status >= FIRST_ERROR:
            self._refuse(self._told(answer, status), answer.repeated())
            return
        self._translate(answer, target, body)

    def _refusal(self, target: str | None, body: bytes) -> Refusal | None:
        if target not in SERVED:
            return NOT_SERVED
        try:
            asked: object = json.loads(body)
        except (ValueError, RecursionError):
            return Refusal(400, "the request is not JSON")
        is_stream = isinstance(asked, dict) and cast("dict[str, object]", asked).get("stream") is True
        if is_stream and not self.gateway.take_turn():
            return ALL_ANSWERED
        return None if is_stream else NO_STREAM

    def _translate(self, answer: UpstreamAnswer, target: str, body: bytes) -> None:
        stream = MessageStream(iter(answer), format=self.gateway.upstream.format)
        encoding = Encoding(stream, Encoder(target, include_usage=_wants_usage(body)))
        self.send_response(STREAMS)
        for name, value in encoding.headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        for frame in encoding.sse():
            self.wfile.write(frame)

    def _told(self, answer: UpstreamAnswer, status: int) -> Refusal:
        """Return the refusal of the upstream: its status, and its own words."""
        try:
            MessageStream(_Response(answer, status), format=self.gateway.upstream.format).final()
        except MessageError as error:
            return Refusal(status, error.detail or str(error))
        return Refusal(status, "the upstream refused the request")

    def _watch(self, answer: UpstreamAnswer, is_over: threading.Event) -> None:
        """Cancel the answer of the upstream when the client leaves: it may be silent for long."""
        while not is_over.wait(TICK):
            try:
                is_readable, _, _ = select.select([self.connection], [], [], 0)
                is_gone = bool(is_readable) and not self.connection.recv(BLOCK)  # there is no second request to read
            except (OSError, ValueError):
                is_gone = True
            if is_gone:
                answer.cancel()
                return

    def _refuse(self, refusal: Refusal, headers: Mapping[str, str] | None = None) -> None:
        allowed = {"Allow": "POST"} if refusal is ONLY_POST else {}
        self.send_json(refusal.status, error_body(refusal, asked_format(self.path)), {**allowed, **(headers or {})})


@final
class _Response:
    """A refused answer, as `MessageStream` knows responses of HTTP."""

    def __init__(self, answer: UpstreamAnswer, status: int) -> None:
        self.status_code: Final = status
        self._answer: Final = answer

    def iter_bytes(self) -> Iterator[bytes]:
        size = 0
        for block in self._answer:
            yield block
            size += len(block)
            if size >= MAX_REFUSAL:
                return


def _wants_usage(body: bytes) -> bool:
    """Return whether a client of chat completions has asked for the usage."""
    options = json.loads(body).get("stream_options")
    return isinstance(options, dict) and cast("dict[str, object]", options).get("include_usage") is True
