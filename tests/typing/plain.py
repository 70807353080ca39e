"""What a type checker sees of plain values: as much as of what `json.loads` gives. It is checked, and never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator
from typing import Any, assert_type

from unspool import Event, ParserState, ValueParser, aiter_values, iter_values
from unspool.llm import MessageState


def values(parser: ValueParser, fragments: list[str], awaited: AsyncIterable[bytes]) -> None:
    """They can be looked into as they are."""
    assert_type(parser.value["days"][0]["title"], Any)
    assert_type(parser.close(), Any)
    assert_type(iter_values(fragments), Generator[Any, None, None])
    assert_type(aiter_values(awaited), AsyncGenerator[Any, None])


def states(state: ParserState, event: Event, message: MessageState) -> None:
    """So can those of states, events and messages."""
    assert_type([state.value["days"], state.result["days"]], list[Any])
    assert_type(event.value.upper(), Any)
    assert_type(message.content_value["days"], Any)
    assert_type(message.tool_calls[0].value["days"], Any)
    assert_type(message.as_message()["content"], Any)
