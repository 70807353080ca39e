"""The chunks of chat completions that litellm makes of streams of Anthropic: messages from stdin, chunks to stdout.

tests/support/gateway_table.py starts it with litellm's folder on the path.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from tests.support.next_requests import Payload, Transport
from tests.support.peer_turns import ASKED, MODEL, SEARCH, called, each


def chunks_of(chunks: list[Payload]) -> list[Payload]:
    """`completion(stream=True)`, with the usage that a client asks for."""
    import httpx

    library = import_module("litellm")
    handler = import_module("litellm.llms.custom_httpx.http_handler").HTTPHandler
    transport = Transport(httpx, "anthropic", chunks)
    parameters = {"type": "object", "properties": {}}
    names = sorted({*called(chunks).values()})
    tools = [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in names]
    asking: dict[str, Any] = {
        "model": f"anthropic/{MODEL}",
        "api_key": "test",
        "api_base": "http://test",
        "stream": True,
        "stream_options": {"include_usage": True},
        "client": handler(client=transport.client()),
        "tools": [*tools, SEARCH],
        "messages": [{"role": "user", "content": ASKED}],
    }
    return [json.loads(piece.model_dump_json()) for piece in library.completion(**asking)]


def main() -> None:
    with redirect_stdout(sys.stderr):  # litellm prints there
        found = each(chunks_of, json.load(sys.stdin))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
