"""The turns that litellm sends back, in a process of its own: messages from stdin, turns to stdout, both as JSON.

tests/support/peer_turns.py starts it with litellm's folder on the path, and says what a turn is.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from tests.support.next_requests import Payload, Transport
from tests.support.peer_turns import AGAIN, ASKED, MODEL, RESULT, SEARCH, called, content_of, drain, each


def turn(chunks: list[Payload]) -> list[Payload]:
    """`completion(stream=True)`, `stream_chunk_builder`, and the message of that in the next `completion`."""
    import httpx

    library = import_module("litellm")
    handler = import_module("litellm.llms.custom_httpx.http_handler").HTTPHandler
    transport = Transport(httpx, "anthropic", chunks)
    parameters = {"type": "object", "properties": {}}
    calls = called(chunks)
    names = sorted({*calls.values()})
    tools = [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in names]
    asking: dict[str, Any] = {
        "model": f"anthropic/{MODEL}",
        "api_key": "test",
        "api_base": "http://test",
        "stream": True,
        "client": handler(client=transport.client()),
        "tools": [*tools, SEARCH],
    }
    asked: list[Any] = [{"role": "user", "content": ASKED}]
    pieces = [*library.completion(messages=asked, **asking)]
    message = library.stream_chunk_builder(pieces, messages=asked).choices[0].message
    results = [{"role": "tool", "tool_call_id": call, "content": RESULT} for call in calls]
    following = results or [{"role": "user", "content": AGAIN}]
    drain(library.completion(messages=[*asked, message, *following], **asking))
    return content_of(transport.bodies[1])


def main() -> None:
    with redirect_stdout(sys.stderr):  # litellm prints there
        turns = each(turn, json.load(sys.stdin))
    json.dump(turns, sys.stdout)


if __name__ == "__main__":
    main()
