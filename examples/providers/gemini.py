"""Gemini: thoughts, text, and a call whose arguments come leaf by leaf, as Vertex can send them.

With GEMINI_API_KEY set, the client asks GEMINI_MODEL (default: gemini-2.5-flash). Without it, the same client reads
``examples/recordings/gemini.jsonl`` from a server on this machine.

Needs ``pip install google-genai "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys

from _replay import replayed

from unspool.llm import MessageStream

try:
    from google.genai import Client
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install google-genai "unspool[cli,pydantic]"')

MODEL = os.environ.get("GEMINI_MODEL", "gemini-2.5-flash")
QUESTION = "Does the ferry to Levuka run in the next 3 days? Look at the weather."


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


def show(client: Client) -> None:
    """Print the thoughts, the text and the call after each chunk."""
    forecast = {"name": "forecast", "parameters_json_schema": Forecast.model_json_schema()}
    chunks = client.models.generate_content_stream(
        model=MODEL,
        contents=QUESTION,
        config={
            "tools": [{"function_declarations": [forecast]}],
            "automatic_function_calling": {"disable": True},
        },
    )
    stream = MessageStream(chunks, tools={"forecast": Forecast})
    for state in stream:
        print(f"{state.reasoning!r} {state.content!r} {[call.value for call in state.tool_calls]}")
    print(f"finished: {stream.state.finish_reason}, {stream.state.usage}")


def main() -> None:
    """Ask the provider if there is a key, and the replay server otherwise."""
    if os.environ.get("GEMINI_API_KEY"):
        with Client() as client:
            show(client)
    else:
        with (
            replayed("gemini.jsonl") as address,
            Client(api_key="none", vertexai=False, http_options={"base_url": address}) as client,
        ):
            show(client)


if __name__ == "__main__":
    main()
