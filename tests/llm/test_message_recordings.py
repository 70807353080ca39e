"""Real streams, all the way from chunks to messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import readings, shared
from tests.support.messages import ANY, seen, seen_call
from tests.support.readings import Call, Reading
from unspool import MISSING, Path
from unspool.llm import (
    Config,
    Fault,
    MessageError,
    MessageState,
    MessageStream,
    Quirk,
    SSEEvent,
    ToolCall,
    deltas_for,
    detect,
    encode_sse,
    finish,
    reduce,
    reduce_chunk,
    start,
    starts_another,
)
from unspool.llm._deltas import Leaf, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from unspool.testing import assert_only_grows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path as FilePath

    from unspool.llm._deltas import Delta

RECORDINGS = readings.recordings()
HERE = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in RECORDINGS]
NOT_HERE = [pytest.param(None, id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]
each_recording = pytest.mark.parametrize("recording", HERE or NOT_HERE)

ODD = {
    "alibaba-tool-call": [(Quirk.ID_EMPTY, 0)],
    "github-copilot-id-rotation.1": [(Quirk.MESSAGE_ID_CHANGED, None)],
    "mistral-tool-call": [(Quirk.NO_INDEX, 0)],
}
"""What is odd about some recordings. The others are as they should be."""


def messages(recording: FilePath) -> list[tuple[Config, list[list[Delta]]]]:
    """The deltas of each message, chunk by chunk, and a config for it: every tool has a type that takes anything."""
    chunks = readings.payloads(recording)
    name = detect(chunks[0])
    assert name is not None
    deltas = deltas_for(name)
    found: list[list[list[Delta]]] = []
    state: MessageState | None = None
    for chunk in chunks:
        told = deltas(chunk)
        if state is None or any(starts_another(state, delta) for delta in told):
            found.append([])
            state = start()
        found[-1].append(told)
        state = reduce_chunk(state, told)
    return [(Config(tools=dict.fromkeys(names(message), ANY)), message) for message in found]


def names(message: list[list[Delta]]) -> set[str]:
    called = [delta for deltas in message for delta in deltas if isinstance(delta, ToolCallDelta)]
    return {delta.name for delta in called if delta.name}


def reading(state: MessageState) -> Reading:
    """What the state says, as the plain reading has it."""
    usage = state.usage or Usage()
    calls = [
        Call(str(call.kind), call.id, call.name, call.value if call.is_complete else call.arguments, None)
        for call in state.tool_calls
    ]
    return Reading(
        state.content,
        state.reasoning,
        state.refusal,
        calls,
        state.raw_finish_reason,
        state.finish_reason,
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
    )


def plain_readings(recording: FilePath) -> list[Reading]:
    """The plain reading, without the text of arguments."""
    found = readings.read(recording.parent.name, readings.payloads(recording))
    for message in found:
        for call in message.calls:
            call.text = None
        if message.reason == "stop" and any(call.kind != "server" for call in message.calls):
            message.reason = "tool_calls"  # Gemini calls both a stop
    return found


@each_recording
def test_messages_are_those_of_a_plain_reading(recording: FilePath) -> None:
    """Text, reasoning, calls with their values, finish reason and usage; and what is odd or wrong is what is so."""
    found = []
    for config, message in messages(recording):
        state = start(config)
        for deltas in message:
            state = reduce_chunk(state, deltas)
        state = finish(state)
        found.append(reading(state))
        if state.finish_reason is None:
            assert state.error is not None
            assert state.error.fault is Fault.UNFINISHED
        else:
            assert state.error is None
            assert all(call.is_complete for call in state.tool_calls)
            assert state.is_complete == (state.finish_reason != "length")
        assert [(odd.code, odd.call) for odd in state.diagnostics] == ODD.get(recording.stem, [])
    assert found == plain_readings(recording)


@each_recording
def test_whatever_is_seen_only_grows(recording: FilePath) -> None:
    """Every partial value, the text of the arguments, and the words of the message, from state to state."""
    for config, message in messages(recording):
        state = start(config)
        states = [state]
        for deltas in message:
            states += [state := reduce(state, delta) for delta in deltas]
        states.append(finish(state))
        for name in ("content", "reasoning"):
            assert_only_grows([getattr(state, name) for state in states])
        for index in range(len(states[-1].tool_calls)):
            calls = [state.tool_calls[index] for state in states if index < len(state.tool_calls)]
            assert_only_grows([call.value for call in calls if call.value is not MISSING])
            assert_only_grows([call.arguments for call in calls])
            assert [call.is_complete for call in calls] == sorted(call.is_complete for call in calls)


def cuts(delta: Delta) -> Iterator[list[Delta]]:
    """The delta, cut in two at every place of its text."""
    match delta:
        case TextDelta(text, block, False, choice) | ReasoningDelta(text, block, False, choice):
            for at in range(1, len(text)):
                yield [type(delta)(text[:at], block, False, choice), type(delta)(text[at:], block, False, choice)]
        case ToolCallDelta(index, id, name, str(text), kind, is_done, counts_blocks, choice):
            for at in range(1, len(text)):
                yield [
                    ToolCallDelta(index, id, name, text[:at], kind, False, counts_blocks, choice),
                    ToolCallDelta(index, None, None, text[at:], kind, is_done, counts_blocks, choice),
                ]
        case ToolCallDelta(index, id, name, (Leaf(path, str(text), more), *rest), kind, is_done):
            for at in range(1, len(text)):
                yield [
                    ToolCallDelta(index, id, name, (Leaf(path, text[:at], True),), kind),
                    ToolCallDelta(index, None, None, (Leaf(path, text[at:], more), *rest), kind, is_done),
                ]


def called(state: MessageState, number: int) -> ToolCall:
    """The call that is the part with this number."""
    call = state.parts[number]
    assert isinstance(call, ToolCall)
    return call


@each_recording
def test_cutting_deltas_changes_nothing(recording: FilePath) -> None:
    """Cut at any one place, each delta leads to the same state, and so the message to the same end."""
    for config, message in messages(recording):
        state = start(config)
        for delta in [delta for deltas in message for delta in deltas]:
            whole = reduce(state, delta)
            cut = state
            for left, right in cuts(delta):
                cut = reduce(reduce(state, left), right)
                assert (cut.content, cut.reasoning) == (whole.content, whole.reasoning)
                if not isinstance(delta, TextDelta | ReasoningDelta):
                    last = whole._directory.last
                    assert seen_call(called(cut, last)) == seen_call(called(whole, last))
            if cut is not state:
                assert cut.dump() == whole.dump()
            state = whole


@each_recording
def test_one_character_at_a_time(recording: FilePath) -> None:
    """The end is the same when every delta is cut into single characters."""
    for config, message in messages(recording):
        whole = fine = start(config)
        for delta in [delta for deltas in message for delta in deltas]:
            whole = reduce(whole, delta)
            rest: Delta | None = delta
            while rest is not None:
                first, rest = next(iter(cuts(rest)), [rest, None])
                assert first is not None
                fine = reduce(fine, first)
        assert seen(finish(fine)) == seen(finish(whole))
        assert finish(fine).dump() == finish(whole).dump()


@each_recording
def test_streams_of_recordings(recording: FilePath) -> None:
    """As chunks, and as the bytes of server-sent events, cut at awkward places: the first message of the stream."""
    chunks = readings.payloads(recording)
    lines = [line for line in recording.read_text(encoding="utf-8").split("\n") if line.strip()]
    body = b"".join(encode_sse(SSEEvent(line)) for line in lines)
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    expected = plain_readings(recording)[0]
    for source in (chunks, pieces, [body], [line + "\n" for line in lines], lines):
        stream = MessageStream(source)
        if recording.stem == "spliced-message-start":
            with pytest.raises(MessageError, match="another message began"):
                stream.final()
        else:
            stream.final()
        assert reading(stream.state) == expected


def test_a_spliced_message_says_what_was_lost() -> None:
    """The call that was cut off by another message tells which paths were open."""
    for recording in RECORDINGS:
        if recording.stem == "spliced-message-start":
            with pytest.raises(MessageError, match="another message began") as caught:
                MessageStream(readings.payloads(recording)).final()
            state = caught.value.state
            assert state is not None
            assert state.tool_calls[0].error is not None
            assert state.tool_calls[0].error.paths == (Path.of(), Path.of("value"))
