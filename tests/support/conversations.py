"""Recorded conversations: the streams of providers, and the accepted requests that sent an assistant's turn back.

A conversation is a file with `turns`: the request that a client sent, its status, and the body that came back. This
module finds the streams among them, by wire format, and for each stream the first later request that repeats the
conversation up to that point and goes on with the assistant's turn. The provider accepted that request (status 200), so
each block of that turn is one that a provider takes back.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from tests.support.shared import shared_data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Payload = dict[str, Any]

# The endpoint of each wire format. A stream from another one, such as that of an MCP server, is not a message.
ENDPOINTS: Final = {
    "/v1/messages": "anthropic",
    "/responses": "openai-responses",
    "/chat/completions": "openai-chat",
    ":streamGenerateContent": "gemini",
    ":generateContent": "gemini",
    "/converse-stream": "bedrock-converse",
}
# The member of a request that holds the conversation.
HISTORIES: Final = {
    "anthropic": "messages",
    "openai-responses": "input",
    "openai-chat": "messages",
    "gemini": "contents",
    "bedrock-converse": "messages",
}
ROLES: Final = ("assistant", "model")
HAS_BOTOCORE: Final = find_spec("botocore") is not None  # the fast tests need no package but the test runner


@dataclass(frozen=True)
class Streamed:
    """A turn that a provider streamed."""

    name: str
    """The file, and the number of the turn in it."""
    format: str
    chunks: tuple[Payload, ...]
    sent_back: tuple[Payload, ...] | None
    """The assistant's turn in a later request that was accepted: messages, contents or items. None if there is none."""

    def __str__(self) -> str:
        return self.name


def files() -> list[Path]:
    """All recorded conversations; none where the shared data is absent."""
    data = shared_data()
    return [] if data is None else sorted((data / "conversations").glob("*.json"))


@cache
def streamed_turns() -> tuple[Streamed, ...]:
    """All turns that a provider streamed, in all conversations; without botocore, those that are text."""
    return tuple(turn for file in files() for turn in _turns_of(file))


def _turns_of(file: Path) -> Iterator[Streamed]:
    turns: list[Payload] = json.loads(file.read_text(encoding="utf-8"))["turns"]
    for at, turn in enumerate(turns):
        wire = wire_format(turn["url"])
        is_stream = "stream" in turn or ("stream_base64" in turn and HAS_BOTOCORE)
        if wire is not None and is_stream and turn["status"] == 200:
            sent_back = _assistant_turn(wire, turn, turns[at + 1 :])
            yield Streamed(f"{file.stem}.{at}", wire, tuple(_chunks(turn)), sent_back)


def wire_format(url: str) -> str | None:
    """The wire format of an endpoint."""
    path = url.partition("#")[0].partition("?")[0]
    return next((wire for ending, wire in ENDPOINTS.items() if path.endswith(ending)), None)


# Streams


def _chunks(turn: Payload) -> Iterator[Payload]:
    if "stream_base64" in turn:
        return _events_of_aws(base64.b64decode(turn["stream_base64"]))
    return _server_sent(turn["stream"])


def _server_sent(body: str) -> Iterator[Payload]:
    """The data of server-sent events, without the word that ends a stream of chat completions."""
    for event in body.replace("\r\n", "\n").split("\n\n"):
        lines = [line.removeprefix("data:").lstrip(" ") for line in event.split("\n") if line.startswith("data:")]
        data = "\n".join(lines)
        if data and data != "[DONE]":
            yield json.loads(data)


class _Body:
    """A binary body, as botocore wants it."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self) -> Iterator[bytes]:
        yield self.body


def _events_of_aws(body: bytes) -> Iterator[Payload]:
    """The events as boto3 hands them out: blobs are bytes."""
    import botocore.session
    from botocore.eventstream import EventStream
    from botocore.parsers import EventStreamJSONParser

    model = botocore.session.Session().get_service_model("bedrock-runtime")
    shape = model.operation_model("ConverseStream").get_event_stream_output()
    yield from EventStream(_Body(body), shape, EventStreamJSONParser(), "ConverseStream")


# Requests


def _assistant_turn(format: str, turn: Payload, later: list[Payload]) -> tuple[Payload, ...] | None:
    """The assistant's turn behind the conversation of this request, in the first later request that repeats it."""
    before = history(format, turn["request"])
    for following in later:
        if wire_format(following["url"]) != format or following["status"] != 200:
            continue
        told = history(format, following["request"])
        if len(told) > len(before) and told[: len(before)] == before:
            count = next((at for at, entry in enumerate(told[len(before) :]) if not is_assistant(format, entry)), None)
            behind = told[len(before) :][:count]
            return tuple(behind) or None
    return None


def history(format: str, request: Any) -> list[Payload]:
    """The entries of a request's conversation. Some recordings hold the request as text."""
    body: Any = json.loads(request) if isinstance(request, str) and request else request
    entries = body.get(HISTORIES[format], []) if isinstance(body, dict) else []
    return [{"role": "user", "content": entries}] if isinstance(entries, str) else entries


def is_assistant(format: str, entry: Payload) -> bool:
    """Whether the assistant wrote this entry. An item of Responses without a role may also be the output of a tool."""
    if "role" in entry:
        return entry["role"] in ROLES
    return format == "openai-responses" and not entry["type"].endswith("call_output")
