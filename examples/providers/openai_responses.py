"""OpenAI Responses: structured output, as an instance of your model that fills up.

With OPENAI_API_KEY set, the client asks OPENAI_MODEL (default: gpt-5-mini). Without it, the same client reads
``examples/recordings/openai-responses.jsonl`` from a server on this machine.

Needs ``pip install openai "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys

from _replay import replayed

from unspool import MISSING
from unspool.llm import MessageStream

try:
    from openai import OpenAI
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install openai "unspool[cli,pydantic]"')

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
QUESTION = "Plan a day in Levuka: a title and three stops, as JSON."


class Plan(BaseModel):
    """The answer that the request asks for."""

    title: str
    stops: list[str]


def show(client: OpenAI) -> None:
    """Print the answer whenever it has changed: an unchanged value is the same object."""
    events = client.responses.create(
        model=MODEL,
        input=QUESTION,
        text={"format": {"type": "json_schema", "name": "plan", "strict": False, "schema": Plan.model_json_schema()}},
        stream=True,
    )
    stream = MessageStream(events, response_schema=Plan)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(repr(shown))
    print(f"finished: {stream.state.finish_reason}, complete: {stream.state.is_content_complete}")


def main() -> None:
    """Ask the provider if there is a key, and the replay server otherwise."""
    if os.environ.get("OPENAI_API_KEY"):
        with OpenAI() as client:
            show(client)
    else:
        with replayed("openai-responses.jsonl") as address, OpenAI(base_url=f"{address}/v1", api_key="none") as client:
            show(client)


if __name__ == "__main__":
    main()
