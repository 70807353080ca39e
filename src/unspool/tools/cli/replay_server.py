"""A local server that replays one stream to every client, in the wire format of its provider.

- The tables of the providers: paths, error bodies, environment variables.
- `ReplayServer` plays a `Wire`.
"""

from __future__ import annotations

import json
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final
from urllib.parse import parse_qs, urlsplit

from ...llm._encoders.fields import ERROR_TYPES
from .arrivals import Clock, paced
from .local_server import LOCAL_ONLY, LocalRequest, LocalServer, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..viewer.playback import Wire

__all__ = ["ReplayServer", "asked_format", "error_body", "refusal_of", "variables"]


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
    try:
        path = urlsplit(target).path.rstrip("/")
    except ValueError:  # a broken address in place of a path
        return None
    return next((endpoint for endpoint in ENDPOINTS if path.endswith(endpoint.ending)), None)


def asked_format(target: str) -> str | None:
    """Return the format that a client of this path expects, or None if the path is unknown."""
    endpoint = _endpoint(target)
    return None if endpoint is None else endpoint.format


# Refusing a request.


BAD_REQUEST: Final = 400
NO_STREAM: Final = 'only streams are replayed: ask with "stream": true'


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


FIRST_FAULT: Final = 500
INVALID: Final = "invalid_request_error"
OPENAI_KINDS: Final = {429: "rate_limit_error"}


def _openai_error(status: int, reason: str) -> object:
    kind = "server_error" if status >= FIRST_FAULT else OPENAI_KINDS.get(status, INVALID)
    return {"error": {"message": reason, "type": kind, "param": None, "code": None}}


def _anthropic_error(status: int, reason: str) -> object:
    kind = ERROR_TYPES.get(status, "api_error" if status >= FIRST_FAULT else INVALID)
    return {"type": "error", "error": {"type": kind, "message": reason}}


def _gemini_error(status: int, reason: str) -> object:
    return {"error": {"code": status, "message": reason, "status": "INVALID_ARGUMENT"}}


ERRORS: Final[dict[str, Callable[[int, str], object]]] = {
    "anthropic": _anthropic_error,
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


@final
class ReplayServer(LocalServer):
    """Plays a `Wire` to every client. With `drop_after`, it drops each connection after that many frames."""

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
        self.clock: Final = clock or Clock()
        super().__init__(address, _ReplayRequest, times=times, is_open=is_open)


@final
class _ReplayRequest(LocalRequest):
    """One request for the recording."""

    @property
    def replay(self) -> ReplayServer:
        """The server of this request."""
        assert isinstance(self.server, ReplayServer)
        return self.server

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it
        """Answer GET /healthz with a description of the recording."""
        if not self.is_trusted():
            self._refuse(LOCAL_ONLY)
        elif urlsplit(self.path).path != "/healthz":
            self._refuse(Refusal(404, "use POST to play the recording, or GET /healthz"))
        else:
            wire = self.replay.wire
            seconds = wire.frames[-1].time if wire.frames else 0.0
            known = {"status": "ok", "format": wire.format, "pieces": len(wire.frames), "seconds": seconds}
            self.send_json(200, json.dumps(known).encode())

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it
        """Answer with the stream."""
        body = self.read_body()
        refusal = body if isinstance(body, Refusal) else self._refusal(body)
        if refusal is not None:
            self._refuse(refusal)
            return
        try:
            self._play()
        finally:
            self.replay.end_turn()

    def _refusal(self, body: bytes) -> Refusal | None:
        refusal = refusal_of(self.path, body, self.replay.wire.format)
        if refusal is None and not self.replay.take_turn():
            return Refusal(410, "the recording has already been played the requested number of times")
        return refusal

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
        self.send_json(refusal.status, error_body(refusal, asked_format(self.path) or self.replay.wire.format))
