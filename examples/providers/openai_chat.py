"""OpenAI chat completions, replayed: two calls of a tool, whose arguments grow.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/openai-chat.jsonl``.
In a program the stream of the library openai goes in their place, and all else stays.
With OPENAI_API_KEY set, the script says how.

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

RECORDING = Path(__file__).parents[1] / "recordings" / "openai-chat.jsonl"
LIVE = """
    from openai import OpenAI

    OpenAI().chat.completions.create(
        model="...", messages=[...], tools=[...], stream=True, stream_options={"include_usage": True}
    )
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


def main() -> None:
    """Print the calls as they stand after each chunk, and at the end those that can be run."""
    stream = MessageStream(chunks(), tools={"forecast": Forecast})
    for state in stream:
        print("  ".join(f"{call.name}({call.value!r})" for call in state.tool_calls))
    for call in stream.state.tool_calls:
        print(f"run {call.id}: {call.value!r}, {'complete' if call.is_complete else call.error}")
    print(f"finished: {stream.state.finish_reason}, {stream.state.usage}")
    if os.environ.get("OPENAI_API_KEY"):
        print(f"\nOPENAI_API_KEY is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
