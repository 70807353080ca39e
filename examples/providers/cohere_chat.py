"""Cohere chat, version 2, replayed: a plan, and a call that the loop awaits.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/cohere.jsonl``.
In a program the stream of the library cohere goes in their place, and all else stays.
With CO_API_KEY set, the script says how.

Needs pydantic: ``pip install "unspool[pydantic]"``.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from unspool.llm import MessageStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RECORDING = Path(__file__).parents[1] / "recordings" / "cohere.jsonl"
LIVE = """
    import cohere

    cohere.AsyncClientV2().chat_stream(model="...", messages=[...], tools=[...])
"""


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


async def chunks() -> AsyncIterator[object]:
    """What the provider sends, one chunk a line."""
    with RECORDING.open(encoding="utf-8") as lines:
        for line in lines:
            await asyncio.sleep(0)
            yield json.loads(line)


async def read() -> None:
    """Print the plan and the call as they stand after each chunk."""
    async with MessageStream(chunks(), tools={"forecast": Forecast}) as stream:
        async for state in stream:
            print(f"{state.reasoning!r} {[call.value for call in state.tool_calls]}")
    print(f"finished: {stream.state.finish_reason} ({stream.state.raw_finish_reason})")


def main() -> None:
    """The same as everywhere, with `async with` and `async for`."""
    asyncio.run(read())
    if os.environ.get("CO_API_KEY"):
        print(f"\nCO_API_KEY is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
