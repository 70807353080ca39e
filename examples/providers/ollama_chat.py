"""Ollama chat, replayed: structured output inside a Markdown block, with words around it.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/ollama.jsonl``.
In a program the stream of the library ollama goes in their place, and all else stays.
With OLLAMA_HOST set, the script says how.

Needs pydantic: ``pip install "unspool[pydantic]"``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from unspool import MISSING
from unspool.llm import MessageStream

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDING = Path(__file__).parents[1] / "recordings" / "ollama.jsonl"
LIVE = """
    import ollama

    ollama.chat(model="...", messages=[...], format=Plan.model_json_schema(), stream=True)
"""


class Plan(BaseModel):
    """The answer that is asked for."""

    title: str
    stops: list[str]


def chunks() -> Iterator[object]:
    """What the provider sends, one chunk a line."""
    with RECORDING.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def main() -> None:
    """Print the answer whenever it has changed; ``extract=True`` finds it in the text."""
    stream = MessageStream(chunks(), response_schema=Plan, extract=True)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(repr(shown))
    print(f"complete: {stream.state.is_content_complete}, the whole text: {stream.state.content!r}")
    if os.environ.get("OLLAMA_HOST"):
        print(f"\nOLLAMA_HOST is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
