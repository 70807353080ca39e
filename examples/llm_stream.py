"""A message of a language model while it comes: a structured answer that grows, and a tool that starts early.

Nothing is asked of anybody: the chunks stand here, in the shape of OpenAI's chat completions. In a program, the stream
of a library goes in their place: ``MessageStream(client.chat.completions.create(..., stream=True), ...)``.

Needs pydantic: ``pip install "unspool[pydantic]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from unspool import MISSING
from unspool.llm import Config, MessageError, MessageStream

if TYPE_CHECKING:
    from unspool.llm import Gate, ToolCall

    Chunk = dict[str, object]


class Stop(BaseModel):
    """Somewhere to go."""

    name: str
    hours: int


class Trip(BaseModel):
    """The answer that is asked for."""

    title: str
    stops: list[Stop]


class Weather(BaseModel):
    """The arguments of a tool."""

    city: str
    days: int


CONFIG = Config(Trip, tools={"weather": Weather})


def chunk(delta: Chunk, reason: str | None = None) -> Chunk:
    """One chunk of a stream."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "none",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def call(arguments: str, **start: object) -> Chunk:
    """A chunk with more of the arguments of a call; the first one has its id and its name."""
    function: Chunk = {"arguments": arguments}
    if "name" in start:
        function["name"] = start.pop("name")
    return chunk({"tool_calls": [{"index": 0, **start, "function": function}]})


ASKING: list[Chunk] = [
    chunk({"role": "assistant", "content": None}),
    call("", id="call_1", type="function", name="weather"),
    call('{"city": "Li'),
    call('sbon"'),
    call(', "da'),
    call('ys": 2'),
    call("}"),
    chunk({}, "tool_calls"),
]
ANSWERING: list[Chunk] = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": '{"title": "Two days'}),
    chunk({"content": ' in Lisbon", "stops": [{"na'}),
    chunk({"content": 'me": "Alfama", "hours": 3}, {"name": "Be'}),
    chunk({"content": 'lem", "hours'}),
    chunk({"content": '": 2}]}'}),
    chunk({}, "stop"),
]


def look_up(call: ToolCall, gate: Gate) -> None:
    """Begin with what is known, before the call is whole."""
    if gate.is_ready:
        print(f"  the city is known: {gate.value!r}. The call is {'whole' if call.is_complete else 'still coming'}.")


def ask() -> None:
    """The model calls a tool: its arguments grow, and one of them is ready before the others."""
    print("A call:")
    stream = MessageStream(ASKING, config=CONFIG)
    stream.on_ready("weather", "city", look_up)
    shown: object = MISSING
    for state in stream:
        for tool_call in state.tool_calls:
            if tool_call.value is not shown:  # what has not changed is the same object
                shown = tool_call.value
                print(f"  {tool_call.name}: {shown!r}")
    print(f"  to be run: {[tool_call.value for tool_call in stream.state.tool_calls if tool_call.is_complete]}\n")


def reply() -> None:
    """The model answers: the value is a Trip from the start, with None for what is not known yet."""
    print("An answer:")
    stream = MessageStream(ANSWERING, config=CONFIG)
    shown: object = MISSING
    for state in stream:
        if state.content_value is not shown:
            shown = state.content_value
            print(f"  {shown!r}")
    print(f"  complete: {stream.state.is_content_complete}\n")


def cut_off() -> None:
    """The same answer, but the stream ends in the middle: an error, and what there was."""
    print("An answer that is cut off:")
    stream = MessageStream(ANSWERING[:3], config=CONFIG)
    try:
        stream.final()
    except MessageError as error:
        print(f"  {error}\n  there was: {stream.state.content_value!r}")


def main() -> None:
    """A call, an answer, and one that is cut off."""
    ask()
    reply()
    cut_off()


if __name__ == "__main__":
    main()
