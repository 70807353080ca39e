"""A complete tool loop, as an application writes it: ask, run the calls, append turn and results, ask again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.provider_server import CITIES
from unspool.llm import MessageStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.llm import MessageState

Payload = dict[str, Any]
MOST = 4
"""Requests after which a loop that does not end is given up."""


def weather(city: str) -> str:
    """The tool."""
    return CITIES[city]


def run_loop(
    ask: Callable[[list[Payload]], Any], question: Payload, tool: Callable[..., Any] = weather
) -> tuple[MessageState, list[Payload]]:
    """Ask until the model has no more calls. Return the last state, and the conversation."""
    history = [question]
    for _ in range(MOST):
        state = MessageStream(ask(history)).final()
        history += state.as_messages()
        if state.finish_reason != "tool_calls":
            return state, history
        outputs: dict[Any, Any] = {}
        for call in state.tool_calls:
            try:
                outputs[call] = tool(**call.value)
            except LookupError as error:
                outputs[call] = error
        history += state.tool_results(outputs)
    raise AssertionError("the loop does not end")
