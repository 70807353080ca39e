"""Cohere chat, version 2: a plan, and a call, with the asynchronous client.

With CO_API_KEY set, the client asks COHERE_MODEL (default: command-a-03-2025). Without it, the same client reads
``examples/recordings/cohere.jsonl`` from a server on this machine.

Needs ``pip install cohere "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import asyncio
import os
import sys

from _replay import replayed

from unspool.llm import MessageStream

try:
    from cohere import AsyncClientV2, ToolV2, ToolV2Function, UserChatMessageV2
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install cohere "unspool[cli,pydantic]"')

MODEL = os.environ.get("COHERE_MODEL", "command-a-03-2025")
QUESTION = "How will the weather be in Labasa in the next 5 days?"


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


async def show(client: AsyncClientV2) -> None:
    """Print the plan and the call after each chunk."""
    forecast = ToolV2Function(name="forecast", parameters=Forecast.model_json_schema())
    events = client.chat_stream(
        model=MODEL,
        messages=[UserChatMessageV2(content=QUESTION)],
        tools=[ToolV2(function=forecast)],
    )
    async with MessageStream(events, tools={"forecast": Forecast}) as stream:
        async for state in stream:
            print(f"{state.reasoning!r} {[call.value for call in state.tool_calls]}")
    print(f"finished: {stream.state.finish_reason} ({stream.state.raw_finish_reason})")


async def ask() -> None:
    """Ask the provider if there is a key, and the replay server otherwise."""
    if os.environ.get("CO_API_KEY"):
        async with AsyncClientV2() as client:
            await show(client)
    else:
        with replayed("cohere.jsonl") as address:
            async with AsyncClientV2(api_key="none", base_url=address) as client:
                await show(client)


def main() -> None:
    """Do the same as everywhere, with `async with` and `async for`."""
    asyncio.run(ask())


if __name__ == "__main__":
    main()
