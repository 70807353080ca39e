"""Bedrock ConverseStream, replayed: structured output by a tool named output.

Nothing is asked of anybody: the chunks are those of ``examples/recordings/bedrock-converse.jsonl``.
In a program the stream of the library boto3 goes in their place, and all else stays.
With AWS_ACCESS_KEY_ID set, the script says how.

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

RECORDING = Path(__file__).parents[1] / "recordings" / "bedrock-converse.jsonl"
LIVE = """
    import boto3

    boto3.client("bedrock-runtime").converse_stream(modelId="...", messages=[...], toolConfig=...)["stream"]
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
    """Print the answer whenever it has changed. The tool itself is never shown as a call."""
    stream = MessageStream(chunks(), response_schema=Plan, emulate_structured_output=True)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(repr(shown))
    print(f"calls: {stream.state.tool_calls}, complete: {stream.state.is_content_complete}")
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        print(f"\nAWS_ACCESS_KEY_ID is set. For the live stream, put this in place of chunks():{LIVE}")


if __name__ == "__main__":
    main()
