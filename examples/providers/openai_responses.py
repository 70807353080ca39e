"""OpenAI Responses, replayed: structured output, as a model of yours that fills up.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/openai-responses.jsonl``.
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

from unspool import MISSING
from unspool.llm import MessageStream

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDING = Path(__file__).parents[1] / "recordings" / "openai-responses.jsonl"
LIVE = """
    from openai import OpenAI

    OpenAI().responses.create(model="...", input="...", text={"format": ...}, stream=True)
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
    """Print the answer whenever it has changed: what has not is the same object."""
    stream = MessageStream(chunks(), response_schema=Plan)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(repr(shown))
    print(f"finished: {stream.state.finish_reason}, complete: {stream.state.is_content_complete}")
    if os.environ.get("OPENAI_API_KEY"):
        print(f"\nOPENAI_API_KEY is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
