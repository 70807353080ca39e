"""The next request: the turn that goes back is the one that the vendor's client sends, and one that providers accept.

The tests run over every recorded stream and every recorded conversation (tests/support/conversations.py). The oracles
are in tests/support/next_requests.py; the first tests here judge the oracles themselves, without the library.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import readings, shared
from tests.support.client_objects import WAYS, objects
from tests.support.conversations import Streamed, streamed_turns
from tests.support.next_requests import (
    STARTS,
    TURNS,
    CannotSendError,
    chat_of_the_client,
    messages_in,
    next_turn,
    normal,
    same_turn,
)
from tests.support.scripts import Call, Script
from unspool.llm import Fault, MessageError, MessageStream

if TYPE_CHECKING:
    from unspool.llm import MessageState

Payload = dict[str, Any]


@dataclass(frozen=True)
class Message:
    """One recorded message, named by its recording and its place in it."""

    name: str
    format: str
    chunks: list[Any]

    def __str__(self) -> str:
        return f"{self.format}/{self.name}"


def recorded_messages() -> list[Message]:
    """All messages of the recordings and of the conversations."""
    streams = [(path.parent.name, path.stem, readings.payloads(path)) for path in readings.recordings()]
    streams += [(turn.format, turn.name, list(turn.chunks)) for turn in streamed_turns()]
    return [
        Message(f"{name}.{at}" if wire in STARTS else name, wire, chunks)
        for wire, name, stream in streams
        for at, chunks in enumerate(messages_in(wire, stream))
    ]


def written_messages() -> list[Message]:
    """Messages written for these tests: text and two calls in each format, and thoughts of Ollama."""
    script = Script(("Let me ", "see 😀."), (Call("a", "f", ('{"x":', " 1}")), Call("b", "g", ("{}",))))
    calls = [{"function": {"name": "f", "arguments": {"x": 1}}}]
    thinking = [
        {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "One "}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "call."}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]
    return [
        *(Message("written", wire, script.write(wire)) for wire in TURNS),
        Message("written-thinking", "ollama", thinking),
    ]


RECORDED = recorded_messages()
MESSAGES = RECORDED + written_messages()
ABSENT = [pytest.param(None, id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]
each_message = pytest.mark.parametrize("message", MESSAGES, ids=str)
each_chat = pytest.mark.parametrize("message", [it for it in MESSAGES if it.format == "openai-chat"], ids=str)
ACCEPTED = [turn for turn in streamed_turns() if turn.sent_back is not None]
each_accepted = pytest.mark.parametrize("turn", ACCEPTED or ABSENT, ids=str)


def state_of(message: Message | Streamed) -> MessageState:
    """The last state, also of a message that failed: what there is of it can be sent back."""
    stream = MessageStream(message.chunks, format=message.format)
    if message.name not in FAILED:
        return list(stream)[-1]
    with pytest.raises(MessageError) as raised:
        list(stream)
    assert raised.value.fault is FAILED[message.name]
    assert raised.value.state is not None
    return raised.value.state


FAILED = {
    "spliced-message-start.0": Fault.UNFINISHED,
    "test_groq__test_tool_use_failed_error_streaming.0": Fault.PROVIDER,
    "test_snowflake__test_snowflake_model_streaming.0": Fault.UNFINISHED,
}
"""The messages whose reading raises an error: two streams end without a finish reason, and one with an error."""


# The oracles

STREAMED_ARGUMENTS = "will_continue parameter is only supported"
CANNOT_SEND = {
    "google-stream-no-args-tool-call": STREAMED_ARGUMENTS,
    "google-stream-tool-call-array-arguments-missing-terminal-function-call": STREAMED_ARGUMENTS,
    "google-vertex-stream-tool-call-arguments-nested.1": STREAMED_ARGUMENTS,
}
"""The messages that the client reads and then refuses to send, with its words."""


@each_message
def test_the_client_can_send_what_it_read(message: Message) -> None:
    """Each oracle gives a turn for each message, except for those that its client refuses."""
    refusal = CANNOT_SEND.get(message.name)
    if refusal is None:
        turn = next_turn(message.format, message.chunks)
        assert turn
        assert same_turn(message.format, turn, turn, message.chunks)
    else:
        with pytest.raises(CannotSendError, match=refusal):
            next_turn(message.format, message.chunks)


@each_message
def test_the_comparison_sees_what_is_missing(message: Message) -> None:
    """A turn that lacks any member or item is not the same turn."""
    if message.name in CANNOT_SEND:
        return
    turn = normal(message.format, next_turn(message.format, message.chunks), message.chunks)
    paths = [path for path in paths_in(turn) if told_at(turn, path) not in ("", None, False)]
    for path in paths[:: max(1, len(paths) // 40)]:
        less = copy.deepcopy(turn)
        del told_at(less, path[:-1])[path[-1]]
        if path[-1] in FORGIVEN:
            continue
        assert not same_turn(message.format, less, turn, message.chunks), path


FORGIVEN = ("reasoning",)
"""Members that may be missing: OpenRouter sends its reasoning twice."""


def paths_in(value: Any) -> list[tuple[Any, ...]]:
    """The path of each member and item in a value."""
    steps: list[Any] = [*value] if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []
    return [path for step in steps for path in [(step,), *((step, *rest) for rest in paths_in(value[step]))]]


def told_at(value: Any, path: tuple[Any, ...]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def test_how_many_messages_there_are(shared_data: object) -> None:
    """Nothing is left out on the way from the files to the tests."""
    assert Counter(message.format for message in RECORDED) == {
        "anthropic": 45,
        "bedrock-converse": 11,
        "cohere": 2,
        "gemini": 16,
        "gemini-interactions": 4,
        "openai-chat": 54,
        "openai-responses": 51,
    }
    assert Counter(turn.format for turn in ACCEPTED) == {
        "anthropic": 1,
        "gemini": 5,
        "openai-chat": 18,
        "openai-responses": 10,
    }
    assert len({message.name for message in RECORDED}) == len(RECORDED)
    assert {*CANNOT_SEND, *CLIENT_RAISES, *CLIENT_CHANGES, *FAILED, *CUT_OFF} <= {message.name for message in RECORDED}
    assert {*CLIENT_STOPS, CLIENT_LOSES_THE_END} <= {(message.name, way) for message, way in WAYS_TO_STREAM}
    assert REWRITTEN.keys() <= {turn.name for turn in ACCEPTED}


CLIENT_RAISES = {
    "deepseek-text": "length limit was reached",
    "mistral-reasoning": "Expected list delta entry to have an `index` key",
    "mistral-tool-call": "list indices must be integers",
    "test_groq__test_tool_use_failed_error_streaming.0": "Tool call validation failed",
}
"""The chat messages that `ChatCompletionStreamState` does not give, with its words."""
CLIENT_CHANGES = {
    "test_mistral__test_mistral_model_thinking_part_iter.0": "a list of content is replaced by the text that follows",
    "test_openrouter__test_openrouter_streaming_reasoning.0": "the format of a reasoning detail is repeated",
    "test_snowflake__test_snowflake_model_streaming.0": "an empty refusal is kept",
}
"""The chat messages that it gives otherwise than they came."""
REPEATED = ("role", "channel", "token_id")
"""Fields that servers repeat in each chunk. The client adds them up, and a request has no place for two of them."""


@each_chat
def test_the_plain_reading_of_a_chat_is_that_of_the_client(message: Message) -> None:
    """The oracle for chat completions agrees with the accumulator of openai wherever that keeps what came."""
    if message.name in CLIENT_RAISES:
        with pytest.raises(Exception, match=CLIENT_RAISES[message.name]):
            chat_of_the_client(message.chunks)
        return
    theirs = chat_of_the_client(message.chunks)
    (plain,) = next_turn("openai-chat", message.chunks)
    read, sent = [
        {name: value for name, value in normal("openai-chat", [it], [])[0].items() if name not in REPEATED}
        for it in (plain, theirs)
    ]
    assert (read == sent) == (message.name not in CLIENT_CHANGES)
    assert theirs["role"].replace("assistant", "") == ""


# The library beside the oracles

CUT_OFF = {"spliced-message-start.0": "a call that stops inside its arguments"}
"""The messages that end inside a block. The client sends the half of it, which the provider refuses."""


def without_open_blocks(turn: list[Payload], chunks: list[Payload]) -> list[Payload]:
    """A turn of Anthropic without the blocks that never ended."""
    ended = {chunk["index"] for chunk in chunks if chunk["type"] == "content_block_stop"}
    return [{**entry, "content": [it for at, it in enumerate(entry["content"]) if at in ended]} for entry in turn]


def whole_calls(chunks: list[Payload]) -> list[Payload]:
    """The turn of Gemini where arguments come in pieces: each call whole, with its signature."""
    calls: list[Payload] = []
    for part in (part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]):
        function = part.get("functionCall", {})
        if "name" in function:
            kept = {name: copy.deepcopy(function[name]) for name in ("id", "name", "args") if name in function}
            calls.append({**part, "functionCall": kept})
        for leaf in function.get("partialArgs", []):
            readings.put(calls[-1]["functionCall"].setdefault("args", {}), leaf)
        if not function and (part.get("text") or "thoughtSignature" in part):
            calls.append(part)
    return [{"role": "model", "parts": calls}]


@each_message
def test_the_turn_is_the_one_that_the_client_sends(message: Message) -> None:
    """`as_messages` in the own format equals the body of the client's next request."""
    state = state_of(message)
    send = whole_calls if message.name in CANNOT_SEND else partial(next_turn, message.format)
    theirs = send(message.chunks)
    if message.name in CUT_OFF:
        theirs = without_open_blocks(theirs, message.chunks)
        assert state.lost_in(message.format)
    ours = state.as_messages()
    assert normal(message.format, ours, message.chunks) == normal(message.format, theirs, message.chunks)
    assert ours == state.as_messages(message.format)


@each_message
def test_a_turn_is_a_copy(message: Message) -> None:
    """Changes to a turn change neither the state nor the next turn."""
    state = state_of(message)
    before = repr(state.as_messages())
    spoil(state.as_messages())
    assert repr(state.as_messages()) == before


def spoil(value: Any) -> None:
    """Write into every object and every list of a value."""
    for inner in [*(value.values() if isinstance(value, dict) else value)]:
        if isinstance(inner, dict | list):
            spoil(inner)
    if isinstance(value, dict):
        value["spoiled"] = True
    else:
        value.append("spoiled")


WAYS_TO_STREAM = [(message, way) for message in MESSAGES for way in WAYS.get(message.format, ())]
CLIENT_STOPS = {
    ("github-copilot-id-rotation.1.0", "stream"): "Lifecycle response identity changed",
    ("mistral-reasoning", "stream"): CLIENT_RAISES["mistral-reasoning"],
    ("mistral-tool-call", "stream"): CLIENT_RAISES["mistral-tool-call"],
    ("openai-client-tool-search.1.0", "stream"): "Completed output item identity changed",
    ("test_groq__test_tool_use_failed_error_streaming.0", "create"): "Tool call validation failed",
    ("test_groq__test_tool_use_failed_error_streaming.0", "stream"): "Tool call validation failed",
}
"""The streams that a client does not read to their end, with its words."""
CLIENT_LOSES_THE_END = ("perplexity-text", "stream")
"""The helper leaves out a chunk whose `object` is "chat.completion.done", and with it the finish reason."""


@pytest.mark.parametrize(("message", "way"), WAYS_TO_STREAM, ids=[f"{it}-{way}" for it, way in WAYS_TO_STREAM])
def test_the_turn_does_not_depend_on_the_client(message: Message, way: str) -> None:
    """The objects of a client give the same turn as dicts, in the own format and in others."""
    stops = CLIENT_STOPS.get((message.name, way))
    if stops is not None:
        with pytest.raises(Exception, match=stops):
            objects(message.format, way, message.chunks)
        return
    read = objects(message.format, way, message.chunks)
    if (message.name, way) == CLIENT_LOSES_THE_END:
        with pytest.raises(MessageError, match="did not say why"):
            list(MessageStream(read, format=message.format))
        return
    of_dicts, of_objects = state_of(message), state_of(replace(message, chunks=read))
    assert of_objects.as_messages() == of_dicts.as_messages()
    is_ordered = all(call.kind != "builtin" for call in of_dicts.tool_calls)
    for wire in TURNS:
        ours, theirs = of_dicts.as_messages(wire), of_objects.as_messages(wire)
        assert theirs == ours if is_ordered else with_values(theirs) == with_values(ours)
        assert of_objects.lost_in(wire) == of_dicts.lost_in(wire)


def with_values(value: Any) -> Any:
    """A turn with the values of its arguments. Where the text is made of fields, a client has its own order of them."""
    if isinstance(value, dict):
        return {
            name: json.loads(inner) if name == "arguments" and isinstance(inner, str) else with_values(inner)
            for name, inner in value.items()
        }
    return [with_values(inner) for inner in value] if isinstance(value, list) else value


# Recorded acceptance: pydantic-ai made these requests, and the providers answered them with 200.

LEFT_OUT = {
    "anthropic": {"caller": "who calls the tool; `direct` is the default"},
    "openai-responses": {
        "id": "the provider gives an item without an id a new one",
        "status": "an item without a status is complete",
        "content": "an empty list in a reasoning item",
        "sources": "the sources of a web search",
        "annotations": "the citations of a text",
        "logprobs": "never read back",
    },
}
"""Members that the client does not send and the provider does not miss."""
ADDED = {
    "gemini": {
        "id": "an id of the client's own for a call that has none",
        "args": "an empty object for a server call without arguments",
        "response": "the chunks that the grounding names, as the result of a server call",
    }
}
"""Members that the client sends and that did not come in the stream."""
ENCRYPTED = "encrypted_content"
"""Responses encrypts it again in the last event. The client sends the one of `response.output_item.done`."""
TYPOGRAPHY = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "--"})
"""The recordings of requests have these characters as ASCII."""

REWRITTEN = {
    "test_bedrock_mantle__test_reused_tool_call_ids_stream_.0": "the client makes the call's id unique",
    "test_bedrock_mantle__test_reused_tool_call_ids_stream_.1": "the client makes the call's id unique",
    "test_groq__test_groq_model_thinking_part_iter.0": "the client trims the thoughts that came inside of the text",
    "test_groq__test_tool_use_failed_error_streaming.0": "the client makes a call of the words of an error",
    "test_groq__test_tool_use_failed_error_streaming.1": "the client writes the reasoning into the text",
    "test_openai_responses__test_openai_responses_stream.0": "the client sends the id of the item as that of the call",
    "test_tool_search__test_openai_native_tool_search_streaming.0": "the client renames the arguments of the search",
}
"""The turns that the client rewrote, so that no reader of the stream would send them."""


@dataclass(frozen=True)
class Acceptance:
    """Compares recorded blocks with ours, in one format, for a message that came in these words."""

    format: str
    wire: str

    def holds(self, recorded: Any, ours: Any) -> bool:
        """Whether a value of ours is the recorded one, up to what the client left out or added."""
        if isinstance(recorded, dict) and isinstance(ours, dict):
            return self._holds_for_objects(recorded, ours)
        if isinstance(recorded, list) and isinstance(ours, list):
            return len(recorded) == len(ours) and all(map(self.holds, recorded, ours))
        if isinstance(recorded, str) and isinstance(ours, str):
            return recorded.translate(TYPOGRAPHY) == ours.translate(TYPOGRAPHY)
        return bool(recorded == ours)

    def _holds_for_objects(self, recorded: Payload, ours: Payload) -> bool:
        left_out = {name for name in LEFT_OUT.get(self.format, {}) if not recorded.get(name)}
        if ours.get("content"):
            left_out -= {"content"}
        added = ADDED.get(self.format, {}).keys() - ours.keys()
        names = (recorded.keys() | ours.keys()) - left_out - added
        return all(
            name in recorded and name in ours and self._holds_for_member(name, recorded[name], ours[name])
            for name in names
        )

    def _holds_for_member(self, name: str, recorded: Any, ours: Any) -> bool:
        if name == ENCRYPTED and isinstance(ours, str):
            return isinstance(recorded, str) and recorded in self.wire
        return self.holds(recorded, ours)


def blocks(format: str, turn: list[Payload]) -> list[Payload]:
    """The blocks of a turn, as small as the format has them."""
    inside = {"anthropic": "content", "gemini": "parts"}.get(format)
    return turn if inside is None else [block for entry in turn for block in entry[inside]]


def as_the_client_writes(recorded: list[Payload], ours: list[Payload]) -> list[Payload]:
    """Our blocks in two other spellings: a message as its text alone, and a signature on the text before it."""
    written: list[Payload] = []
    is_short = any("role" in block and isinstance(block.get("content"), str) for block in recorded)
    for block in ours:
        if is_short and block.get("type") == "message":
            written.append({"role": "assistant", "content": "".join(part["text"] for part in block.get("content", []))})
        elif block.keys() == {"text", "thoughtSignature"} and not block["text"] and written and "text" in written[-1]:
            written[-1] = {**written[-1], "thoughtSignature": block["thoughtSignature"]}
        else:
            written.append(block)
    return written


def unmatched(turn: Streamed, ours: list[Payload]) -> list[Payload]:
    """The recorded blocks that are not among ours, in their order."""
    assert turn.sent_back is not None
    recorded = blocks(turn.format, normal(turn.format, turn.sent_back, turn.chunks))
    written = as_the_client_writes(recorded, blocks(turn.format, normal(turn.format, ours, turn.chunks)))
    acceptance = Acceptance(turn.format, json.dumps(turn.chunks))
    left = iter(written)
    return [block for block in recorded if not any(acceptance.holds(block, it) for it in left)]


@each_accepted
def test_the_client_of_the_vendor_sends_what_was_accepted(turn: Streamed) -> None:
    """The oracles send each block that a provider accepted, except where the recording client rewrote it."""
    assert bool(unmatched(turn, next_turn(turn.format, turn.chunks))) == (turn.name in REWRITTEN)


@each_accepted
def test_acceptance_sees_what_is_missing(turn: Streamed) -> None:
    """Without any one of the accepted blocks, or without its largest member, the turn is not the accepted one."""
    theirs = next_turn(turn.format, turn.chunks)
    assert unmatched(turn, [])
    for block in blocks(turn.format, theirs):
        needed = block.keys() - (LEFT_OUT.get(turn.format, {}).keys() - {"content"})
        largest = max(sorted(needed), key=lambda name: len(str(block[name])))
        kept = block.pop(largest)
        is_recorded = any(largest in it for it in blocks(turn.format, list(turn.sent_back or ())))
        assert unmatched(turn, theirs) or not is_recorded
        block[largest] = kept


@each_accepted
def test_what_was_accepted_is_what_goes_back(turn: Streamed) -> None:
    """Each block that a provider accepted is one that `as_messages` sends, with the same exceptions."""
    assert bool(unmatched(turn, state_of(turn).as_messages())) == (turn.name in REWRITTEN)
