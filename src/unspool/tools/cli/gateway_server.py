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
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Final, Protocol, cast, final
from urllib.parse import urlsplit

from ...llm import Encoder, MessageError, MessageStream
from ...llm._encode import Encoding
from .arrivals import Clock, paced
from .local_server import LOCAL_ONLY, PATIENCE, TICK, LocalRequest, LocalServer, Refusal
from .replay_server import asked_format, error_body

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from ..viewer.playback import Wire

__all__ = ["GatewayServer", "HTTPUpstream", "RecordedUpstream", "Upstream", "UpstreamAnswer"]

UPSTREAM_PATIENCE: Final = 300.0  # seconds that a provider may take for the next bytes
BLOCK: Final = 64 * 1024
SERVED: Final = ("openai-chat", "openai-responses", "anthropic")
FORWARDED: Final = ("authorization", "x-api-key", "anthropic-version", "anthropic-beta", "openai-beta")
NOT_SERVED: Final = Refusal(404, "ask for /v1/chat/completions, /v1/responses or /v1/messages")
NO_STREAM: Final = Refusal(400, 'the gateway only answers with streams: ask with "stream": true')
ALL_ANSWERED: Final = Refusal(410, "the gateway has already answered the requested number of times")
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
        self._refuse(NOT_SERVED if self.is_trusted() else LOCAL_ONLY)

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
            self._answer(target, body)
        finally:
            self.gateway.end_turn()

    def _answer(self, target: str, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            answer = self.gateway.upstream.ask(body, headers)
        except OSError as error:
            self._refuse(Refusal(502, f"the upstream does not answer: {error}"))
            return
        self._translate(answer, target, body)

    def _refusal(self, target: str | None, body: bytes) -> Refusal | None:
        if not self.is_trusted():
            return LOCAL_ONLY
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

    def _refuse(self, refusal: Refusal) -> None:
        self.send_json(refusal.status, error_body(refusal, asked_format(self.path)))


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
