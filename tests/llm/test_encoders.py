"""Single cases of encoders, which the laws do not name: numbers that JSON lacks, kinds of errors, calls without ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encodings import all_events
from tests.support.message_deltas import states_after
from unspool import Options
from unspool.llm import Config, Encoder, MessageStart, MessageStream, ProviderError, TextDelta, ToolCallDelta, encode
from unspool.llm._encoders.machine import Step
from unspool.llm._encoders.registry import TARGETS

START = MessageStart("assistant", "msg_1", "m")


def calling(arguments: str) -> list[Any]:
    """A message that calls a function."""
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    delta = {"role": "assistant", "tool_calls": [call]}
    return [{"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}]


def frames(source: Any, target: str) -> list[Any]:
    """The data of the events, read by strict JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    body = b"".join(encode(source, target).sse()).decode()
    data = [frame.partition("data: ")[2] for frame in body.split("\n\n") if frame]
    return [json.loads(each, parse_constant=refuse) for each in data if each != "[DONE]"]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ('{"a": 1.5}', {"a": 1.5}),
        ('{"a": 1.5,}', {"a": 1.5}),
        ("{'a': [0.25, 7], b: NaN}", {"a": [0.25, 7], "b": None}),
        ('{"a": 1e999}', None),
        ('{"a": -1e999,}', None),
    ],
)
def test_a_page_gets_the_arguments_that_javascript_has(arguments: str, wanted: Any) -> None:
    """Decimals become numbers; one that is too large for a float is an invalid input, and not the word `Infinity`."""
    stream = MessageStream(calling(arguments), options=Options(floats="decimal", repair="guess"))
    ends = ("tool-input-available", "tool-input-error")
    (end,) = [chunk for chunk in frames(stream, "vercel-ui") if chunk["type"] in ends]
    if wanted is None:
        assert (end["type"], end["input"]) == ("tool-input-error", arguments)
    else:
        assert (end["type"], end["input"]) == ("tool-input-available", wanted)


RESULT: list[Any] = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "c", "content": []}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "web_search_tool_result", "tool_use_id": "x", "content": [{"score": 1e999}]},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]


def test_every_event_is_json() -> None:
    """A number that is not finite, in a block of the provider's own, is null."""
    (start,) = [chunk for chunk in frames(RESULT, "anthropic") if chunk["type"] == "content_block_start"]
    assert start["content_block"]["content"] == [{"score": None}]
    (output,) = [chunk for chunk in frames(RESULT, "vercel-ui") if chunk["type"] == "tool-output-available"]
    assert output["output"] == [{"score": None}]


@pytest.mark.parametrize(
    ("status", "of_anthropic", "of_responses"),
    [
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (529, "overloaded_error", "server_error"),
        (None, "api_error", "server_error"),
    ],
)
def test_an_error_has_the_kind_of_its_status(status: int | None, of_anthropic: str, of_responses: str) -> None:
    """Clients decide by the kind whether they try again."""
    events = all_events(states_after([START, TextDelta("Hm"), ProviderError("no", None, None, status)], Config()))
    ends = {
        target: [chunk for event in events for chunk in encoder.feed(event)][-1]
        for target, encoder in ((name, Encoder(name)) for name in ("anthropic", "openai-chat", "openai-responses"))
    }
    assert ends["anthropic"]["error"] == {"type": of_anthropic, "message": "no"}
    assert ends["openai-chat"]["error"]["type"] == of_anthropic
    assert ends["openai-responses"]["response"]["error"] == {"code": of_responses, "message": "no"}


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic", "vercel-ui", "ag-ui"])
def test_a_call_without_an_id_does_not_wait_for_its_end(target: str) -> None:
    """Its first argument opens it, because an id has to come before that."""
    deltas = [START, ToolCallDelta(0, None, "f", None, "function"), ToolCallDelta(0, arguments='{"a": ')]
    *begun, _ = states_after(deltas, Config())
    encoder = Encoder(target)
    text = str([chunk for event in all_events(begun) for chunk in encoder.feed(event)])
    assert "call_0" in text
    assert '{"a": ' in text


def test_ids_that_become_the_same_are_numbered() -> None:
    """Two ids with characters that Anthropic does not accept, and one that has the number already."""
    ids = ["a.", "a_2", "a!", "a?"]
    deltas = [ToolCallDelta(number, named, "f", "{}", "function") for number, named in enumerate(ids)]
    encoder = Encoder("anthropic")
    events = all_events(states_after([START, *deltas], Config()))
    chunks = [chunk for event in events for chunk in encoder.feed(event)]
    blocks = [chunk["content_block"] for chunk in chunks if chunk["type"] == "content_block_start"]
    assert [block["id"] for block in blocks] == ["a_", "a_2", "a__2", "a__3"]
    assert [(loss.part, loss.what) for loss in encoder.losses] == [
        (0, "id_changed"),
        (2, "id_changed"),
        (3, "id_changed"),
    ]


def test_a_numbered_id_is_not_too_long() -> None:
    """The Responses API accepts ids of up to 64 characters."""
    step = Step(Encoder("openai-responses").state)
    target = TARGETS["openai-responses"].target
    found = [step.free_id(target, "x" * 64) for _ in range(3)]
    assert len(set(found)) == 3
    assert max(map(len, found)) <= 64
