"""How the clients of each provider ask for a stream, how they are told no, and how they are sent to another address."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Refusal", "asked_format", "error_body", "refusal_of", "variables"]


class Streams(Enum):
    """When an answer is a stream."""

    ALWAYS = 0
    NEVER = 1
    IF_ASKED = 2
    UNLESS_ASKED_NOT = 3


class Endpoint(NamedTuple):
    """How a path ends, what is asked for there, and when that is a stream."""

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
ANY: Final = "OPENAI_BASE_URL={url}/v1 ANTHROPIC_BASE_URL={url}"


def variables(format: str | None, url: str) -> str:
    """The variables of the environment that send the clients of this format, or of the usual ones, to this address."""
    return (ANY if format is None else VARIABLES[format]).format(url=url)


def _endpoint(target: str) -> Endpoint | None:
    path = urlsplit(target).path.rstrip("/")
    return next((endpoint for endpoint in ENDPOINTS if path.endswith(endpoint.ending)), None)


def asked_format(target: str) -> str | None:
    """The format that is expected by whoever asks for this target; None if it could be any."""
    endpoint = _endpoint(target)
    return None if endpoint is None else endpoint.format


# Saying no.


class Refusal(NamedTuple):
    """A status code of HTTP, and why."""

    status: int
    reason: str


BAD_REQUEST: Final = 400
NO_STREAM: Final = 'only streams are replayed: ask with "stream": true'


def refusal_of(target: str, body: bytes, format: str | None) -> Refusal | None:
    """Why a recording of this format cannot be the answer to this request; None if it can."""
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
        return None  # somebody who tries it by hand
    try:
        request: object = json.loads(body)
    except (ValueError, RecursionError):
        return None if streams is Streams.UNLESS_ASKED_NOT else Refusal(BAD_REQUEST, "the request is not JSON")
    asked = cast("dict[str, Any]", request).get("stream") if isinstance(request, dict) else None
    is_wanted = asked is not False if streams is Streams.UNLESS_ASKED_NOT else asked is True
    return None if is_wanted else Refusal(BAD_REQUEST, NO_STREAM)


def _openai(status: int, reason: str) -> object:
    return {"error": {"message": reason, "type": "invalid_request_error", "param": None, "code": None}}


def _anthropic(status: int, reason: str) -> object:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": reason}}


def _gemini(status: int, reason: str) -> object:
    return {"error": {"code": status, "message": reason, "status": "INVALID_ARGUMENT"}}


def _message(status: int, reason: str) -> object:
    return {"message": reason}


def _ollama(status: int, reason: str) -> object:
    return {"error": reason}


ERRORS: Final[dict[str, Callable[[int, str], object]]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "gemini-interactions": _gemini,
    "bedrock-converse": _message,
    "cohere": _message,
    "ollama": _ollama,
}


def error_body(refusal: Refusal, format: str | None) -> bytes:
    """The refusal as a provider of this format says it; OpenAI's way is everybody's."""
    return json.dumps(ERRORS.get(format or "", _openai)(*refusal)).encode()
