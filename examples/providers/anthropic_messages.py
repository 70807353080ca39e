"""Anthropic messages: text, then a call that starts before it is whole.

With ANTHROPIC_API_KEY set, the client asks ANTHROPIC_MODEL (default: claude-haiku-4-5). Without it, the same client
reads ``examples/recordings/anthropic.jsonl`` from a server on this machine.

Needs ``pip install anthropic "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from _replay import replayed

from unspool.llm import MessageStream

try:
    from anthropic import Anthropic
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install anthropic "unspool[cli,pydantic]"')

if TYPE_CHECKING:
    from unspool.llm import Gate, ToolCall

MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-haiku-4-5")
QUESTION = "I take the ferry to Levuka for 3 days. How will the weather be?"


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


def look_up(call: ToolCall, gate: Gate) -> None:
    """Begin with the city, while the model still writes the rest of the call."""
    if gate.is_ready:
        print(f"the city is known: {gate.value!r} (the call is {'whole' if call.is_complete else 'still coming'})")


def show(client: Anthropic) -> None:
    """Print what is new, event by event."""
    events = client.messages.create(
        model=MODEL,
        max_tokens=1024,
        messages=[{"role": "user", "content": QUESTION}],
        tools=[{"name": "forecast", "input_schema": Forecast.model_json_schema()}],
        stream=True,
    )
    stream = MessageStream(events, tools={"forecast": Forecast})
    stream.on_ready("forecast", "city", look_up)
    for event in stream.events():
        print(event)
    print(f"run: {[call.value for call in stream.state.tool_calls if call.is_complete]}")


def main() -> None:
    """Ask the provider if there is a key, and the replay server otherwise."""
    if os.environ.get("ANTHROPIC_API_KEY"):
        with Anthropic() as client:
            show(client)
    else:
        with replayed("anthropic.jsonl") as address, Anthropic(base_url=address, api_key="none") as client:
            show(client)


if __name__ == "__main__":
    main()
