"""Gemini, replayed: a call whose arguments come leaf by leaf, as Vertex can send them.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/gemini.jsonl``.
In a program the stream of the library google-genai goes in their place, and all else stays.
With GEMINI_API_KEY set, the script says how.

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

RECORDING = Path(__file__).parents[1] / "recordings" / "gemini.jsonl"
LIVE = """
    from google import genai

    client = genai.Client()
    client.models.generate_content_stream(model="...", contents="...", config=...)
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
    """Print the thoughts, the text and the call as they stand after each chunk."""
    stream = MessageStream(chunks(), tools={"forecast": Forecast})
    for state in stream:
        print(f"{state.reasoning!r} {state.content!r} {[call.value for call in state.tool_calls]}")
    print(f"finished: {stream.state.finish_reason}, {stream.state.usage}")
    if os.environ.get("GEMINI_API_KEY"):
        print(f"\nGEMINI_API_KEY is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
