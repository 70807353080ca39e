"""A message of a language model while it arrives: a tool that starts early, an answer that grows, and one cut off.

With OPENAI_API_KEY set, the client asks OPENAI_MODEL (default: gpt-5-mini). Without it, the same client reads
recordings from a server on this machine: ``unspool replay sample:trip --serve``.

Needs ``pip install openai "unspool[cli,pydantic]"``, and says so if something is missing.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from providers._replay import replayed

from unspool import MISSING
from unspool.llm import Config, MessageError, MessageStream

try:
    from openai import OpenAI
    from pydantic import BaseModel
except ImportError as error:
    sys.exit(f'{error}: pip install openai "unspool[cli,pydantic]"')

if TYPE_CHECKING:
    from collections.abc import Generator

    from unspool.llm import Gate, ToolCall

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")


class Day(BaseModel):
    """A day of the trip."""

    title: str
    area: str


class Trip(BaseModel):
    """The answer that the request asks for."""

    title: str
    days: list[Day]
    pack: list[str]


class Forecast(BaseModel):
    """The arguments of the tool."""

    city: str
    days: int


CONFIG = Config(Trip, tools={"forecast": Forecast})


@contextmanager
def client_for(recording: str, *options: str, is_live: bool) -> Generator[OpenAI]:
    """A client of the provider, or of a server that plays the recording."""
    if is_live:
        with OpenAI() as client:
            yield client
    else:
        with (
            replayed(recording, *options) as address,
            OpenAI(base_url=f"{address}/v1", api_key="none") as client,
        ):
            yield client


def look_up(call: ToolCall, gate: Gate) -> None:
    """Begin with what is known, before the call is whole."""
    if gate.is_ready:
        print(f"  the city is known: {gate.value!r}. The call is {'whole' if call.is_complete else 'still coming'}.")


def ask(client: OpenAI) -> None:
    """The model calls a tool: its arguments grow, and one of them is ready before the others."""
    print("Calls:")
    chunks = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "I have 12 days in Suva and 3 in Levuka. How will the weather be?"}],
        tools=[{"type": "function", "function": {"name": "forecast", "parameters": Forecast.model_json_schema()}}],
        stream=True,
    )
    stream = MessageStream(chunks, config=CONFIG)
    stream.on_ready("forecast", "city", look_up)
    shown: object = MISSING
    for state in stream:
        for tool_call in state.tool_calls[-1:]:
            if tool_call.value is not shown:  # an unchanged value is the same object
                shown = tool_call.value
                print(f"  {tool_call.name}: {shown!r}")
    print(f"  to be run: {[tool_call.value for tool_call in stream.state.tool_calls if tool_call.is_complete]}\n")


def answer(client: OpenAI) -> MessageStream:
    """Ask for a trip: the value is a Trip from its first field on, with None for fields that are not known yet."""
    chunks = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "Plan five slow days on São Miguel, with a packing list."}],
        response_format={"type": "json_schema", "json_schema": {"name": "trip", "schema": Trip.model_json_schema()}},
        stream=True,
    )
    return MessageStream(chunks, config=CONFIG)


def reply(client: OpenAI) -> None:
    """The answer grows: print the last day whenever it has changed."""
    print("An answer:")
    stream = answer(client)
    shown: object = MISSING
    for state in stream:
        trip = state.content_value
        if isinstance(trip, Trip) and trip.days and trip.days[-1] is not shown:
            shown = trip.days[-1]
            print(f"  day {len(trip.days)}: {shown!r}")
    print(f"  complete: {stream.state.is_content_complete}\n")


def cut_off(client: OpenAI) -> None:
    """The connection drops in the middle of an answer: an error, and everything up to there."""
    print("An answer that is cut off:")
    stream = answer(client)
    try:
        stream.final()
    except MessageError as error:
        print(f"  {error}\n  known: {stream.state.content_value!r}")


def main() -> None:
    """A call, an answer, and one that is cut off. The last one is always a recording: providers do not fail on call."""
    is_live = bool(os.environ.get("OPENAI_API_KEY"))
    with client_for("openai-chat.jsonl", is_live=is_live) as client:
        ask(client)
    with client_for("sample:trip", "--speed", "4", is_live=is_live) as client:
        reply(client)
    with client_for("sample:trip", "--speed", "4", "--drop-after", "90", is_live=False) as client:
        cut_off(client)


if __name__ == "__main__":
    main()
