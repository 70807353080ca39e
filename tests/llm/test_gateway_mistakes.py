"""The mistakes that gateways make when they translate streams, one test for each class, with the reports that show it.

The reports are issues and pull requests of the named projects. A docstring is "reports: mistake", or the mistake alone
where it was found by trying: docs/gateways.md lists them, and tests/peers/test_gateways.py compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.encodings import all_events, decoded, encoded
from tests.support.message_deltas import states_after
from tests.support.scripts import PAGE_WRITERS, WRITERS, Call, Script
from unspool.llm import (
    BlockEnd,
    Config,
    Encoder,
    Finish,
    MessageStart,
    MessageStream,
    PartData,
    PartStart,
    ReasoningDelta,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCallDelta,
    ToolResultPart,
    Usage,
    Whole,
    carried,
    encode,
)

if TYPE_CHECKING:
    from unspool.llm import Delta

Chunk = dict[str, Any]
START = MessageStart("assistant", "msg_1", "m")
TARGETS = ["openai-chat", "openai-responses", "anthropic", "vercel-ui", "ag-ui"]
each_target = pytest.mark.parametrize("target", TARGETS)


def chunks_of(target: str, *deltas: Delta, **settings: Any) -> list[Chunk]:
    """The chunks of a message."""
    return encoded(all_events(states_after([START, *deltas], Config())), Encoder(target, **settings))


def of_type(chunks: list[Chunk], *types: str) -> list[Chunk]:
    """The chunks of these types."""
    return [chunk for chunk in chunks if chunk.get("type") in types]


def called(index: int, name: str = "f", arguments: Any = '{"a": 1}', **more: Any) -> ToolCallDelta:
    """A call in a numbered block."""
    return ToolCallDelta(index, f"call_{index}", name, arguments, "function", counts_blocks=True, **more)


def test_calls_are_numbered_from_zero_and_not_by_block() -> None:
    """litellm#5231 #4554 #21331 #15307, bifrost#1961, any-llm#970: every call had the index 0, or that of its block."""
    deltas = [TextDelta("Hm", (0,)), BlockEnd(0), called(1), BlockEnd(1), called(2), BlockEnd(2), Finish("tool_calls")]
    calls = [
        call
        for chunk in chunks_of("openai-chat", *deltas)
        for choice in chunk["choices"]
        for call in choice["delta"].get("tool_calls", [])
    ]
    assert [call["index"] for call in calls] == [0, 0, 1, 1]
    blocks = of_type(chunks_of("anthropic", *deltas), "content_block_start")
    assert [block["index"] for block in blocks] == [0, 1, 2]
    items = of_type(chunks_of("openai-responses", *deltas), "response.output_item.added")
    assert [item["output_index"] for item in items] == [0, 1, 2]


@each_target
def test_the_first_piece_of_a_block_is_sent(target: str) -> None:
    """litellm#13638 #24134 #24355 #25321 #25411 #25533 #30014 #30023 #30024, bifrost#600: the delta that opened a block
    was lost."""
    deltas = [PartStart(TextPart("First", block=(0,))), TextDelta(" and more", (0,)), BlockEnd(0)]
    text = str(chunks_of(target, *deltas, called(1, arguments='{"first": 1}'), Finish("tool_calls")))
    assert "First" in text
    assert "first" in text


def test_nothing_empty_is_sent() -> None:
    """litellm#31561 #17425 #39288: an empty text block before a tool, and empty pieces of arguments."""
    deltas = [
        PartStart(TextPart(block=(0,))),
        BlockEnd(0),
        called(1, arguments=""),
        ToolCallDelta(1, arguments='{"a": 1}', counts_blocks=True),
        BlockEnd(1),
        Finish("tool_calls"),
    ]
    chunks = chunks_of("anthropic", *deltas)
    assert [block["content_block"]["type"] for block in of_type(chunks, "content_block_start")] == ["tool_use"]
    pieces = [chunk["delta"]["partial_json"] for chunk in of_type(chunks, "content_block_delta")]
    assert pieces == ['{"a": 1}']


def test_an_empty_list_of_calls_is_no_call() -> None:
    """litellm#29286: ``tool_calls: []`` opened a block."""
    source = [{"choices": [{"index": 0, "delta": {"content": "Hi", "tool_calls": []}, "finish_reason": "stop"}]}]

    chunks = list(encode(source, "anthropic"))
    assert [block["content_block"]["type"] for block in of_type(chunks, "content_block_start")] == ["text"]


@pytest.mark.parametrize(
    ("target", "word"),
    [("openai-chat", "tool_calls"), ("anthropic", "tool_use"), ("vercel-ui", "tool-calls")],
)
def test_a_message_with_calls_ends_for_them(target: str, word: str) -> None:
    """litellm#12249 #12481 #12862 #21041 #22900 #35663: "stop" in a message that calls tools, as Gemini says it."""
    chunks = chunks_of(target, called(0), BlockEnd(0), Finish("stop", "STOP"))
    assert f"'{word}'" in str(chunks[-2:])


def test_the_finish_reason_is_not_too_early() -> None:
    """litellm#31634: the finish reason came before the rest of the text."""
    chunks = chunks_of("openai-chat", TextDelta("a"), Finish("stop"), TextDelta("b"))
    reasons = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert reasons == [None, None, None, "stop"]


@each_target
def test_a_paused_turn_is_not_a_good_end(target: str) -> None:
    """litellm: ``pause_turn`` became "stop". A client would take the half answer for a whole one."""
    encoder = Encoder(target)
    chunks = encoded(all_events(states_after([START, TextDelta("Hm"), Finish("paused")], Config())), encoder)
    if target == "anthropic":
        assert chunks[-2]["delta"]["stop_reason"] == "pause_turn"
        assert encoder.losses == ()
    else:
        assert [loss.what for loss in encoder.losses] == ["finish_reason"]
    if target in {"openai-chat", "openai-responses"}:
        assert not decoded(target, chunks).is_complete


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic"])
def test_usage_that_comes_after_the_finish_reason_counts(target: str) -> None:
    """litellm#5364 #10667, OpenHands#2896, langchain-litellm#33 #52, any-llm#1151, Portkey#496 #497: zeros, or none."""
    usage = Usage(7, 5, None, {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5})
    chunks = chunks_of(target, TextDelta("Hi"), Finish("stop"), usage, include_usage=True)
    state = decoded(target, chunks)
    assert state.usage is not None
    assert (state.usage.input_tokens, state.usage.output_tokens, state.usage.total_tokens) == (7, 5, 12)
    assert "4" in str(chunks[-2:])  # the cached tokens


@each_target
def test_reasoning_is_sent(target: str) -> None:
    """litellm#28000 #29518 #29600 #33034 #38809 #38625: reasoning was taken for an empty chunk, or needed a
    signature."""
    assert "Because" in str(chunks_of(target, ReasoningDelta("Because", (0,)), TextDelta("42", (1,)), Finish("stop")))


def thinking(index: int, text: str, signature: str) -> list[Delta]:
    """A signed block of Anthropic's."""
    return [
        PartStart(ReasoningPart(native={"type": "thinking", "signature": ""}, block=(index,))),
        *([ReasoningDelta(text, (index,))] if text else []),
        PartData("signature", signature, (index,), {"signature": signature}),
        BlockEnd(index),
    ]


def test_every_thinking_block_keeps_its_signature() -> None:
    """litellm#20698, openai-agents-python#4175, any-llm#1312: several blocks became one, with the last signature."""
    deltas = [*thinking(0, "One", "s1"), *thinking(1, "", "s2"), *thinking(2, "Three", "s3"), Finish("stop")]
    state = decoded("anthropic", chunks_of("anthropic", *deltas))
    signed = [(part.text, part.signature) for part in state.parts if isinstance(part, ReasoningPart)]
    assert signed == [("One", "s1"), ("", "s2"), ("Three", "s3")]


def test_signatures_are_not_lost() -> None:
    """litellm#9021, any-llm#1153, open-webui#29860, bifrost#1162: signatures were lost in streams, or thinking came
    twice."""
    deltas = [*thinking(0, "Hm", "s1"), called(1), BlockEnd(1), Finish("tool_calls")]
    chunks = chunks_of("anthropic", *deltas)
    signed = [chunk["delta"] for chunk in chunks if chunk.get("delta", {}).get("type") == "signature_delta"]
    assert [delta["signature"] for delta in signed] == ["s1"]
    assert decoded("anthropic", chunks).reasoning == "Hm"
    page = [chunk for chunk in chunks_of("vercel-ui", *deltas) if "providerMetadata" in chunk]
    assert [chunk["providerMetadata"] for chunk in page] == [{"anthropic": {"signature": "s1"}}]
    run = of_type(chunks_of("ag-ui", *deltas), "REASONING_ENCRYPTED_VALUE")
    assert [event["encryptedValue"] for event in run] == ["s1"]


def test_the_signature_of_a_call_comes_back() -> None:
    """Portkey#1442, eva#206: the signature in the `extra_content` of a call was lost, and Gemini refused the next
    request."""
    extra = {"google": {"thought_signature": "c2ln"}}
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    delta = {"role": "assistant", "tool_calls": [{**call, "extra_content": extra}]}
    source = [{"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}]
    (turn,) = MessageStream(source).final().as_messages()
    assert turn["tool_calls"][0]["extra_content"] == extra
    encoding = encode(source, "anthropic", carry=True)
    (signed,) = [chunk["delta"]["signature"] for chunk in encoding if "signature" in chunk.get("delta", {})]
    assert carried(signed) == ("openai-chat", "signature", "c2ln")


def test_thoughts_of_gemini_are_reasoning() -> None:
    """litellm#28000: a chunk that has only a thought was taken for an empty one."""
    thought = {"parts": [{"text": "Because", "thought": True}], "role": "model"}
    source = [{"candidates": [{"content": thought}]}, {"candidates": [{"finishReason": "STOP"}]}]
    for target in TARGETS:
        assert "Because" in str(list(encode(source, target)))


@pytest.mark.parametrize("source", [*WRITERS, *PAGE_WRITERS])
def test_a_message_of_any_provider_ends_for_its_calls(source: str) -> None:
    """litellm#12249 #12481 #12862 #21041 #22900 #35663: providers that say "stop" after a call, or have other words."""
    script = Script(("Let me see.",), (Call("call_1", "weather", ('{"city": "Suva"}',)),))
    chunks = list(encode(script.write(source), "openai-chat"))
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_parallel_calls_of_converse_are_blocks_of_their_own() -> None:
    """litellm#15307: the parallel calls of Converse had one index in Anthropic's protocol."""
    source: list[Chunk] = [{"messageStart": {"role": "assistant"}}]
    for index, city in enumerate(("Suva", "Nadi")):
        tool = {"toolUseId": f"call_{index + 1}", "name": "weather"}
        delta = {"toolUse": {"input": f'{{"city": "{city}"}}'}}
        source += [
            {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": tool}}},
            {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}},
            {"contentBlockStop": {"contentBlockIndex": index}},
        ]
    chunks = list(encode([*source, {"messageStop": {"stopReason": "tool_use"}}], "anthropic"))
    starts = of_type(chunks, "content_block_start")
    assert [(chunk["index"], chunk["content_block"]["id"]) for chunk in starts] == [(0, "call_1"), (1, "call_2")]
    pieces = [(chunk["index"], chunk["delta"]["partial_json"]) for chunk in of_type(chunks, "content_block_delta")]
    assert "".join(piece for at, piece in pieces if at == 1) == '{"city": "Nadi"}'


@each_target
def test_a_call_without_arguments_is_whole(target: str) -> None:
    """litellm#39288: a call without arguments ended the stream, or its client could not read it."""
    deltas = [ToolCallDelta(0, "call_0", "f", "", "function", counts_blocks=True), BlockEnd(0), Finish("tool_calls")]
    chunks = chunks_of(target, *deltas)
    if target == "openai-chat":
        assert "'arguments': '{}'" in str(chunks)
    elif target == "openai-responses":
        assert of_type(chunks, "response.output_item.done")[0]["item"]["status"] == "completed"
        assert of_type(chunks, "response.output_item.done")[0]["item"]["arguments"] == "{}"
    elif target == "vercel-ui":
        assert of_type(chunks, "tool-input-available")[0]["input"] == {}
    elif target == "ag-ui":
        assert of_type(chunks, "TOOL_CALL_ARGS")[0]["delta"] == "{}"
    else:
        assert [chunk["index"] for chunk in of_type(chunks, "content_block_start", "content_block_stop")] == [0, 0]


def test_parts_stay_in_order() -> None:
    """litellm, bifrost#1162: reasoning was collected at the end, and text moved before the calls."""
    deltas = [
        *thinking(0, "One", "s1"),
        called(1),
        BlockEnd(1),
        *thinking(2, "Two", "s2"),
        TextDelta("Done", (3,)),
        BlockEnd(3),
        Finish("tool_calls"),
    ]
    for target in ("anthropic", "openai-responses"):
        state = decoded(target, chunks_of(target, *deltas))
        assert [part.type for part in state.parts] == ["reasoning", "tool_call", "reasoning", "text"]


@each_target
def test_a_call_without_an_id_gets_one(target: str) -> None:
    """litellm#33223 #11407, CLIProxyAPI#4219: the call was dropped, or nothing was sent at all."""
    chunks = chunks_of(target, ToolCallDelta(0, None, "f", Whole({}), "function", is_done=True), Finish("stop"))
    assert "call_0" in str(chunks)
    assert "'f'" in str(chunks)


@each_target
def test_a_message_starts_once(target: str) -> None:
    """bifrost#4556: two starts of one message."""
    again = MessageStart("assistant", "msg_1", "m")
    chunks = chunks_of(
        target, again, TextDelta("a"), again, TextDelta("b"), MessageStart(None, "msg_2"), Finish("stop")
    )
    starts = of_type(chunks, "message_start", "response.created", "start", "RUN_STARTED")
    heads = [chunk for chunk in chunks if "choices" in chunk and "role" in str(chunk["choices"])]
    assert len(starts) + len(heads) == 1


def test_tools_of_the_provider_are_not_calls_of_the_client() -> None:
    """litellm, Portkey: server tools were shown as calls to run, or their input was glued to the call before."""
    server = ToolCallDelta(1, "srv_1", "web_search", '{"query": "x"}', "server", counts_blocks=True)
    result = ToolResultPart("srv_1", "web_search", [], native={"type": "web_search_tool_result"}, block=(2,))
    deltas = [called(0), BlockEnd(0), server, BlockEnd(1), PartStart(result), BlockEnd(2), Finish("tool_calls")]
    for target in ("openai-chat", "openai-responses", "anthropic"):
        encoder = Encoder(target)
        chunks = encoded(all_events(states_after([START, *deltas], Config())), encoder)
        state = decoded(target, chunks)
        assert [(call.name, call.arguments) for call in state.tool_calls] == [("f", '{"a": 1}')]
        assert {loss.what for loss in encoder.losses} >= {"server_call"}
    page = chunks_of("vercel-ui", *deltas)
    assert [chunk["toolCallId"] for chunk in of_type(page, "tool-input-start") if "providerExecuted" in chunk] == [
        "srv_1"
    ]


def test_all_chunks_have_the_same_names() -> None:
    """Portkey: `created` changed from chunk to chunk."""
    chunks = chunks_of("openai-chat", TextDelta("a"), TextDelta("b"), Finish("stop"))
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1


@each_target
def test_a_failure_is_not_a_good_end(target: str) -> None:
    """A source that breaks off ends with an error, and never with the words of a good end."""
    chunks = chunks_of(target, TextDelta("Hal"))
    assert "error" in str(chunks[-1]).lower()
    assert not of_type(chunks, "message_stop", "response.completed", "finish", "RUN_FINISHED")
