"""The model of the chat: recorded answers, in chunks of OpenAI's chat format, from any position on.

A real source that can be opened at a position is a response of OpenAI in background mode, or a gateway that keeps its
streams. One that cannot is asked again from the start: then the worker that takes over calls `Relay.publish`, and the
pages begin again with it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import Any

Chunk = dict[str, Any]

PAUSE = float(os.environ.get("CHAT_PAUSE", "0.06"))  # seconds between two chunks
THOUGHT = (
    "The question is about a walk. I should give a route with a few stops, keep it short, and offer a map, because "
    "places are easier to find on one."
)
ANSWER = """Here is a walk of about three hours, from the station down to the river.

1. Start at São Bento. The hall has twenty thousand tiles; look at the wall above the clock.
2. Go up Rua das Flores, slowly. It is one of the few streets here that is nearly flat, and it has the best doorways.
3. Have coffee at the Largo dos Lóios, in the sun before noon.
4. Climb the Clérigos tower only if there is no queue. The view from the Miradouro da Vitória is free, and has the \
tower in it.
5. Take the stairs next to the Misericórdia down to Ribeira. There are two hundred of them, all in the right direction.
6. Cross the lower deck of the bridge, and take the cable car back up when you have had enough.

Wear shoes with a grip: the stones are polished, and after rain they are soap. In the evening, the light is best on \
the Gaia side, about half an hour before sunset.

I have marked the stops on a map for you."""
STOPS = ["São Bento", "Rua das Flores", "Largo dos Lóios", "Miradouro da Vitória", "Ribeira", "Ponte Luís I"]


def pieces(text: str, size: int) -> list[str]:
    """Cut a text."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def chunk(delta: Chunk, finish_reason: str | None = None) -> Chunk:
    """Return a chunk of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "recorded", "object": "chat.completion.chunk", "model": "recorded", "choices": [choice]}


def call(**fields: Any) -> Chunk:
    """Return a delta of the only tool call."""
    return {"tool_calls": [{"index": 0, **fields}]}


def recorded() -> list[Chunk]:
    """Return all chunks of the answer."""
    arguments = json.dumps({"title": "Six stops in Porto", "stops": STOPS}, ensure_ascii=False)
    return [
        chunk({"role": "assistant"}),
        *[chunk({"reasoning_content": piece}) for piece in pieces(THOUGHT, 8)],
        *[chunk({"content": piece}) for piece in pieces(ANSWER, 6)],
        chunk(call(id="call_map", type="function", function={"name": "show_map", "arguments": ""})),
        *[chunk(call(function={"arguments": piece})) for piece in pieces(arguments, 6)],
        chunk({}, "tool_calls"),
    ]


async def answer(prompt: str, position: int) -> AsyncIterator[tuple[Chunk, int]]:
    """Yield the chunks after a position, each with the position after it. Every prompt has the same answer."""
    for number, each in enumerate(recorded()[position:], position + 1):
        await asyncio.sleep(PAUSE)
        yield each, number
