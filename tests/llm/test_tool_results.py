"""The outputs of tools on their way into the next request: their keys, and outputs that cannot go."""

from __future__ import annotations

import math
from typing import Any

import pytest

from unspool import OptionsError
from unspool.llm import MessageState, MessageStream


def called() -> MessageState:
    """A message with two calls."""
    calls = [
        {"index": index, "id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for index, name in enumerate("ab")
    ]
    choice = {"index": 0, "delta": {"role": "assistant", "tool_calls": calls}, "finish_reason": "tool_calls"}
    return MessageStream([{"object": "chat.completion.chunk", "choices": [choice]}]).final()


def test_keys_are_calls_indexes_or_ids() -> None:
    """All three name the same call, and the results keep the order of the outputs."""
    state = called()
    expected = [
        {"role": "tool", "tool_call_id": "call_b", "content": "sun"},
        {"role": "tool", "tool_call_id": "call_a", "content": '{"rain": 2}'},
    ]
    first, second = state.tool_calls
    for one, other in ((second, first), (1, 0), ("call_b", "call_a"), (second, "call_a")):
        assert state.tool_results({one: "sun", other: {"rain": 2}}) == expected
    assert state.tool_results({}) == []


@pytest.mark.parametrize("key", [2, -1, "call_c", None, True, 0.5, ("call_a",)])
def test_other_keys_are_refused(key: Any) -> None:
    """The error names the key."""
    with pytest.raises(OptionsError, match="calls of this message, their indexes or ids as keys, not "):
        called().tool_results({key: "sun"})


@pytest.mark.parametrize("outputs", [None, ["sun"], "sun", 5])
def test_outputs_must_be_a_mapping(outputs: Any) -> None:
    """The error names the type."""
    with pytest.raises(OptionsError, match=f"not {type(outputs).__name__}"):
        called().tool_results(outputs)


def test_outputs_that_are_not_json() -> None:
    """The error names the call; values that JSON does not have become text where they stand alone."""
    state = called()
    circle: dict[str, Any] = {}
    circle["self"] = circle
    for output in (circle, math.nan, {"a": [math.inf]}, {(1, 2): 3}):
        with pytest.raises(OptionsError, match=r"the output of call 1 \(b\) is not JSON: "):
            state.tool_results({1: output})
    (result,) = state.tool_results({0: {"a": {1}}})
    assert result["content"] == '{"a": "{1}"}'
    (failed,) = state.tool_results({0: ValueError("no such city")})
    assert failed["content"] == "no such city"
    (silent,) = state.tool_results({0: KeyError()})
    assert silent["content"] == "KeyError"
