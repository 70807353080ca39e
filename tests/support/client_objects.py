"""Recorded chunks as the objects of the vendors' clients, which read them from a transport inside of the process.

`WAYS[format]` has the ways in which a program can stream with a client: the plain stream, and the helpers that some
clients have. Bedrock's client gives dicts, so that it is not among them.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tests.support.next_requests import ASKED, Transport

if TYPE_CHECKING:
    from collections.abc import Callable

Payload = dict[str, Any]

ASKING: Final[dict[str, Any]] = {"model": "m", "max_tokens": 1, "messages": [ASKED]}
CHAT: Final[dict[str, Any]] = {"model": "m", "messages": [ASKED]}


def _anthropic(is_beta: bool, is_helper: bool, chunks: list[Payload]) -> list[object]:
    import httpx2
    from anthropic import Anthropic

    transport = Transport(httpx2, "anthropic", chunks)
    with Anthropic(api_key="test", base_url="http://test", http_client=transport.client(), max_retries=0) as client:
        messages: Any = client.beta.messages if is_beta else client.messages
        if not is_helper:
            return list(messages.create(**ASKING, stream=True))
        with messages.stream(**ASKING) as stream:
            return list(stream)


def _openai(format: str, is_helper: bool, chunks: list[Payload]) -> list[object]:
    import httpx2
    from openai import OpenAI

    transport = Transport(httpx2, format, chunks)
    with OpenAI(api_key="test", base_url="http://test", http_client=transport.client(), max_retries=0) as client:
        is_chat = format == "openai-chat"
        asking = CHAT if is_chat else {"model": "m", "input": [ASKED]}
        resource: Any = client.chat.completions if is_chat else client.responses
        if not is_helper:
            return list(resource.create(**asking, stream=True))
        with resource.stream(**asking) as stream:
            return list(stream)


def _google(format: str, chunks: list[Payload]) -> list[object]:
    import httpx
    from google.genai import Client
    from google.genai.types import HttpOptions

    transport = Transport(httpx, format, chunks)
    options = HttpOptions(base_url="http://test", httpx_client=transport.client())
    client = Client(api_key="test", vertexai=False, http_options=options)
    try:
        if format == "gemini":
            return list(client.models.generate_content_stream(model="m", contents="Where?"))
        return list(client.interactions.create(model="m", input="Where?", stream=True))
    finally:
        client.close()


def _cohere(chunks: list[Payload]) -> list[object]:
    import cohere
    from cohere.core.unchecked_base_model import construct_type

    kind: Any = cohere.V2ChatStreamResponse
    return [construct_type(type_=kind, object_=chunk) for chunk in chunks]


WAYS: Final[dict[str, dict[str, Callable[[list[Payload]], list[object]]]]] = {
    "anthropic": {
        "create": partial(_anthropic, False, False),
        "stream": partial(_anthropic, False, True),
        "beta create": partial(_anthropic, True, False),
        "beta stream": partial(_anthropic, True, True),
    },
    "cohere": {"create": _cohere},
    "gemini": {"create": partial(_google, "gemini")},
    "gemini-interactions": {"create": partial(_google, "gemini-interactions")},
    "openai-chat": {"create": partial(_openai, "openai-chat", False), "stream": partial(_openai, "openai-chat", True)},
    "openai-responses": {
        "create": partial(_openai, "openai-responses", False),
        "stream": partial(_openai, "openai-responses", True),
    },
}


def objects(format: str, way: str, chunks: list[Payload]) -> list[object]:
    """The objects that the client gives for these chunks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the clients
        return WAYS[format][way](chunks)
