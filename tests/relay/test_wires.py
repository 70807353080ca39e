"""Wires: law 33 for every protocol, with the library's own readers and the grammars of the protocols."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.test_laws_messages import each_recording, recorded_deltas, recorded_states
from tests.support.encodings import differences, read_back
from tests.support.grammars import accept
from tests.support.message_deltas import configs, many_deltas
from unspool import OptionsError
from unspool.llm import (
    BlockEnd,
    MessageState,
    ReasoningDelta,
    SSEDecoder,
    TextDelta,
    ToolCallDelta,
    finish,
    reduce,
    start,
)
from unspool.patch import apply
from unspool.relay._log import Cursor
from unspool.relay._views import view_of
from unspool.relay._wires import EncoderWire, PatchWire, catch_up, encoder_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.llm import Config, Encoder
    from unspool.llm._deltas import Delta

many = settings(max_examples=max(50, settings().max_examples))
TARGETS = ("vercel-ui", "ag-ui", "openai-chat")


def cursor(number: int) -> Cursor:
    """The cursor of the state with this number."""
    return Cursor(number + 1, 1_700_000_000_000_000)


def events_in(data: bytes) -> list[Any]:
    """The server-sent events in a response."""
    decoder = SSEDecoder()
    return [*decoder.feed(data), *decoder.close()]


def chunks_in(data: bytes) -> list[Any]:
    """The chunks in a response."""
    return [json.loads(event.data) for event in events_in(data) if event.data != "[DONE]"]


def reloaded(state: MessageState) -> MessageState:
    """The state as another process has it, which shares nothing with this one."""
    return MessageState.load(json.loads(json.dumps(state.dump())), state.config)


def received(
    target: str, deltas: Sequence[Delta], begun: MessageState, at: int, jumps: Sequence[int] = ()
) -> tuple[bytes, Encoder, MessageState | None]:
    """What a client gets that joins after some deltas, and gets snapshots of another process in place of some steps.

    Without a message, a snapshot took text back, and the response has ended.
    """
    state = begun
    for delta in deltas[:at]:
        state = reduce(state, delta)
    encoder = encoder_for(target, "chat", 1_700_000_000)
    wire = EncoderWire(lambda: encoder)
    frames = [wire.snapshot(cursor(at), state)]
    for number, delta in enumerate(deltas[at:], at + 1):
        state = reduce(state, delta)
        if number + 1 in jumps:
            continue
        if number in jumps:
            state = reloaded(state)
            frames.append(wire.snapshot(cursor(number), state))
        else:
            frames.append(wire.step(cursor(number), state, [], False))
        if wire.is_broken:
            return b"".join(frames), encoder, None
    state = finish(state)
    frames.append(wire.step(cursor(len(deltas) + 1), state, [], True))
    frames.append(wire.end(cursor(len(deltas) + 1), {"status": "done"}))
    return b"".join(frames), encoder, state


def check(target: str, deltas: Sequence[Delta], begun: MessageState, at: int, jumps: Sequence[int] = ()) -> None:
    """Check that the grammar holds, and that only losses differ."""
    data, encoder, state = received(target, deltas, begun, at, jumps)
    chunks = chunks_in(data)
    accept(target, chunks)
    if state is not None:
        found = differences(target, state, read_back(target, chunks), encoder.losses)
        assert [name for name in found if name != "id"] == []  # the id is the name of the stream


@each_recording
def test_law_33_recordings(name: str) -> None:
    """A client that joins a recording anywhere reads the message that all others read."""
    deltas, begun = recorded_deltas(name), recorded_states(name)[0]
    count = len(deltas)
    number = sum(map(ord, name))
    joins = ((0, (count // 2,)), (count // 2, ()), (count // 3, (count // 2, count - 1)))
    check(TARGETS[number % 3], deltas, begun, *joins[number // 3 % 3])


@pytest.mark.long
@each_recording
def test_law_33_recordings_in_every_protocol(name: str) -> None:
    """The same for every protocol, from more places on."""
    deltas, begun = recorded_deltas(name), recorded_states(name)[0]
    count = len(deltas)
    for target in TARGETS:
        for at, jumps in ((0, ()), (count // 2, ()), (0, (count // 2,)), (count // 3, (count // 2, count - 1))):
            check(target, deltas, begun, at, jumps)


@many
@given(configs, many_deltas, st.sampled_from(TARGETS), st.data())
def test_law_33_hostile_messages(config: Config, deltas: list[Delta], target: str, data: st.DataObject) -> None:
    """The same for hostile messages. A snapshot that takes text back ends the response with an error."""
    at = data.draw(st.integers(0, len(deltas)))
    check(target, deltas, start(config), at)


texts = st.sampled_from(["a", "b c", "ä", "{}", "\U0001d11e"])
growing = st.lists(
    st.one_of(
        st.builds(TextDelta, texts, st.just((0,))),
        st.builds(ReasoningDelta, texts, st.just((1,))),
        st.builds(lambda index, text: ToolCallDelta(index, f"c{index}", f"f{index}", text), st.integers(2, 4), texts),
        st.builds(BlockEnd, st.integers(0, 4)),
    ),
    min_size=1,
    max_size=15,
)


@many
@given(growing, st.sampled_from(TARGETS), st.data())
def test_law_33_snapshots_in_the_middle(deltas: list[Delta], target: str, data: st.DataObject) -> None:
    """A client that gets a snapshot of another process in place of entries reads the same message."""
    at = data.draw(st.integers(0, len(deltas)))
    jumps = data.draw(st.sets(st.integers(at + 1, len(deltas) + 1)))
    assert received(target, deltas, start(), at, sorted(jumps))[2] is not None
    check(target, deltas, start(), at, sorted(jumps))


def test_law_33_a_text_that_was_taken_back_ends_the_response() -> None:
    """What was sent cannot be taken back: the client is told that the message has failed."""
    old, new = reduce(start(), TextDelta("one")), reduce(start(), TextDelta("two"))
    assert catch_up(old, new) is None
    for target in TARGETS:
        wire = EncoderWire(partial(encoder_for, target, "chat", 1))
        wire.snapshot(cursor(1), old)
        chunks = chunks_in(wire.snapshot(cursor(2), new))
        assert wire.is_broken
        assert "error" in json.dumps(chunks).lower()


def test_every_process_writes_the_same() -> None:
    """The bytes are a function of the stream: nothing in them is random, or of this moment."""
    deltas = [TextDelta("Hel"), ToolCallDelta(0, None, "f", "{"), TextDelta("lo")]
    for target in TARGETS:
        assert received(target, deltas, start(), 1)[0] == received(target, deltas, start(), 1)[0]


def test_wires_are_checked() -> None:
    """An unknown wire, or a wire for another fold, is an error with the alternatives."""
    with pytest.raises(OptionsError, match="'vercel-ui'"):
        encoder_for("soap", "chat", 1)
    with pytest.raises(OptionsError, match="'patch'"):
        EncoderWire(lambda: encoder_for("ag-ui", "chat", 1)).snapshot(cursor(1), {"a": 1})


# ---- our own wire --------------------------------------------------------------------------------------


def shown(data: bytes) -> tuple[Any, list[str]]:
    """The document that a client has in the end, and the types of the events that it got."""
    document: Any = None
    kinds: list[str] = []
    for event in events_in(data):
        kinds.append(event.event)
        value = json.loads(event.data)
        if event.event == "snapshot":
            document = value["document"]
        elif event.event == "patch":
            document = apply(document, value)
    return document, kinds


def test_law_33_patches() -> None:
    """Snapshot k and the patches after it make the document of the last state."""
    deltas = [
        TextDelta("Hel"),
        ToolCallDelta(0, "c", "f", '{"a": "x'),
        TextDelta("lo"),
        ToolCallDelta(0, None, None, 'y"}'),
    ]
    states = [start()]
    for delta in deltas:
        states.append(reduce(states[-1], delta))
    for at in range(len(states)):
        wire = PatchWire()
        data = wire.snapshot(cursor(at), states[at], {})
        for number in range(at + 1, len(states)):
            data += wire.step(cursor(number), states[number], [], False, {})
        document, kinds = shown(data)
        assert document == view_of(states[-1]).document
        assert kinds == ["snapshot"] + ["patch"] * (len(states) - 1 - at)


def test_followers_share_the_frames_of_a_stream() -> None:
    """A frame is made once for all followers, and a client that comes late to it gets the same bytes."""
    states = [start()]
    for text in ("a", "b", "c"):
        states.append(reduce(states[-1], TextDelta(text)))
    kept: list[dict[str, Any]] = [{} for _ in states]
    first, second = PatchWire(), PatchWire()
    for wire in (first, second):
        data = [wire.snapshot(cursor(0), states[0], kept[0])]
        data += [wire.step(cursor(number), states[number], [], False, kept[number]) for number in (1, 2, 3)]
        assert shown(b"".join(data))[0] == view_of(states[-1]).document
    assert first._view is second._view


def test_half_a_surrogate_pair_reaches_the_page() -> None:
    """Frames are ASCII: UTF-8 has no form for half a pair."""
    wire = PatchWire()
    data = wire.snapshot(cursor(0), {"text": "\ud83d"}, {})
    assert data.isascii()
    assert shown(data)[0] == {"text": "\ud83d"}
