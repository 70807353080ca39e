"""OpenAI chat completions: two calls of a tool, whose arguments grow.

With OPENAI_API_KEY set, the client asks OPENAI_MODEL (default: gpt-5-mini). Without it, the same client reads
``examples/recordings/openai-chat.jsonl`` from a server on this machine.

Needs ``pip install openai "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys

from _replay import replayed

from unspool.llm import MessageStream

try:
    from openai import OpenAI
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install openai "unspool[cli,pydantic]"')

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
QUESTION = "I have 12 days in Suva and 3 in Levuka. How will the weather be?"


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


def show(client: OpenAI) -> None:
    """Print the calls after each chunk, and at the end those that can be run."""
    chunks = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": QUESTION}],
        tools=[{"type": "function", "function": {"name": "forecast", "parameters": Forecast.model_json_schema()}}],
        stream=True,
        stream_options={"include_usage": True},
    )
    stream = MessageStream(chunks, tools={"forecast": Forecast})
    for state in stream:
        print("  ".join(f"{call.name}({call.value!r})" for call in state.tool_calls))
    for call in stream.state.tool_calls:
        print(f"run {call.id}: {call.value!r}, {'complete' if call.is_complete else call.error}")
    print(f"finished: {stream.state.finish_reason}, {stream.state.usage}")


def main() -> None:
    """Ask the provider if there is a key, and the replay server otherwise."""
    if os.environ.get("OPENAI_API_KEY"):
        with OpenAI() as client:
            show(client)
    else:
        with replayed("openai-chat.jsonl") as address, OpenAI(base_url=f"{address}/v1", api_key="none") as client:
            show(client)


if __name__ == "__main__":
    main()
