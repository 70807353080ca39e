"""Anthropic messages, replayed: text, then a call that starts before it is whole.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/anthropic.jsonl``.
In a program the stream of the library anthropic goes in their place, and all else stays.
With ANTHROPIC_API_KEY set, the script says how.

Needs pydantic: ``pip install "unspool[pydantic]"``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from unspool.llm import MessageStream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.llm import Gate, ToolCall

RECORDING = Path(__file__).parents[1] / "recordings" / "anthropic.jsonl"
LIVE = """
    from anthropic import Anthropic

    Anthropic().messages.create(model="...", max_tokens=1024, messages=[...], tools=[...], stream=True)
"""


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


def chunks() -> Iterator[object]:
    """What the provider sends, one chunk a line."""
    with RECORDING.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def look_up(call: ToolCall, gate: Gate) -> None:
    """Begin with the city, while the model still writes the rest of the call."""
    if gate.is_ready:
        print(f"the city is known: {gate.value!r} (the call is {'whole' if call.is_complete else 'still coming'})")


def main() -> None:
    """Print what is new, event by event."""
    stream = MessageStream(chunks(), tools={"forecast": Forecast})
    stream.on_ready("forecast", "city", look_up)
    for event in stream.events():
        print(event)
    print(f"run: {[call.value for call in stream.state.tool_calls if call.is_complete]}")
    if os.environ.get("ANTHROPIC_API_KEY"):
        print(f"\nANTHROPIC_API_KEY is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
