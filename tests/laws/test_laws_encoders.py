"""The laws of encoders, numbered as in docs/laws.md: random deltas, hostile ones too, and all recordings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.test_laws_messages import each_recording, recorded, recorded_states
from tests.support.encodings import (
    READABLE,
    all_events,
    decoded_states,
    differences,
    encoded,
    needless,
    read_back,
)
from tests.support.grammars import GRAMMARS, accept
from tests.support.message_deltas import configs, many_deltas, states_after
from tests.support.steps import steps
from unspool import COMPILED, OptionsError
from unspool.llm import (
    Config,
    ContentAdded,
    Encoder,
    MessageStream,
    PartEnded,
    PartStarted,
    SourcePart,
    TextPart,
    ToolCallDelta,
    changes,
    reduce,
    start,
)
from unspool.llm._encoders.machine import step
from unspool.llm._encoders.registry import TARGETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.llm._deltas import Delta

many = settings(max_examples=max(100, settings().max_examples))
targets = st.sampled_from(list(GRAMMARS))
each_target = pytest.mark.parametrize("target", list(GRAMMARS))
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {"include_usage": True}),
    ("openai-chat", {}),
    ("openai-responses", {}),
    ("anthropic", {}),
    ("vercel-ui", {}),
    ("vercel-ui", {"version": 7}),
    ("ag-ui", {}),
]
"""The targets with the options that decide what has a place."""


# ---- law 40: encoding --------------------------------------------------------------------------------


@each_recording
def test_law_40_recordings_keep_the_grammar_of_every_target(name: str) -> None:
    """The automaton of each target accepts every recording."""
    events = all_events(recorded_states(name))
    for target in GRAMMARS:
        accept(target, encoded(events, Encoder(target, include_usage=True)))


@each_recording
def test_law_40_only_losses_differ_in_recordings(name: str) -> None:
    """The message that a client reads differs in exactly what the losses name: no more, and no fewer."""
    states = recorded_states(name)
    events = all_events(states)
    for target, options in OPTIONS:
        encoder = Encoder(target, **options)
        read = read_back(target, encoded(events, encoder))
        assert differences(target, states[-1], read, encoder.losses) == []
        assert needless(target, states[-1], read, encoder.losses) == []


@each_recording
def test_law_40_no_call_of_the_provider_is_lost_in_its_own_protocol(name: str) -> None:
    """Blocks that only the provider knows go back to its own client."""
    wire, _ = recorded()[name]
    if wire in {"anthropic", "openai-responses"}:
        encoder = Encoder(wire)
        encoded(all_events(recorded_states(name)), encoder)
        assert {loss.what for loss in encoder.losses}.isdisjoint({"server_call", "server_result", "citation"})


@many
@given(configs, many_deltas, targets, st.booleans())
def test_law_40_hostile_messages_keep_the_grammar(
    config: Config, deltas: list[Delta], target: str, carry: bool
) -> None:
    """Parts that interleave, late names, repeated ids, replaced text, ends without starts: the grammar holds."""
    events = all_events(states_after(deltas, config))
    encoder = Encoder(target, include_usage=True, carry=carry, source="gemini")
    chunks: list[Any] = []
    for event in events:
        chunks += encoder.feed(event)
    accept(target, chunks)
    assert encoder.is_ended
    assert encoder.close() == []


@many
@given(configs, many_deltas, st.sampled_from(OPTIONS))
def test_law_40_only_losses_differ_in_hostile_messages(
    config: Config, deltas: list[Delta], target: tuple[str, dict[str, Any]]
) -> None:
    """Whatever comes, a difference is a loss."""
    states = states_after(deltas, config)
    named, options = target
    encoder = Encoder(named, **options)
    read = read_back(named, encoded(all_events(states), encoder))
    assert differences(named, states[-1], read, encoder.losses) == []


def joined_late(states: list[Any], at: int, target: str) -> tuple[Encoder, list[Any]]:
    """What a client gets that joins after this state: the prelude, and the events that follow."""
    encoder = Encoder(target, include_usage=True)
    chunks = encoder.prelude(states[at])
    return encoder, chunks + encoded(all_events(states[at:]), encoder)


@each_recording
def test_law_40_a_late_client_ends_with_the_same_message(name: str) -> None:
    """After a prelude in the middle of a recording, the grammar holds, and only losses differ."""
    states = recorded_states(name)
    for target, at in product(GRAMMARS, {len(states) // 2, len(states) - 2, len(states) - 1}):
        encoder, chunks = joined_late(states, at, target)
        accept(target, chunks)
        assert differences(target, states[-1], read_back(target, chunks), encoder.losses) == []


@many
@given(configs, many_deltas, targets, st.data())
def test_law_40_a_late_client_of_a_hostile_message(
    config: Config, deltas: list[Delta], target: str, data: st.DataObject
) -> None:
    """The same for hostile messages, from any state on."""
    states = states_after(deltas, config)
    encoder, chunks = joined_late(states, data.draw(st.integers(0, len(states) - 1)), target)
    accept(target, chunks)
    assert differences(target, states[-1], read_back(target, chunks), encoder.losses) == []


@many
@given(configs, many_deltas, targets, st.data())
def test_law_40_a_state_can_be_kept(config: Config, deltas: list[Delta], target: str, data: st.DataObject) -> None:
    """The machine is pure: from a state that was kept, the same events make the same chunks again."""
    events = all_events(states_after(deltas, config))
    encoder = Encoder(target)
    kept: list[Any] = []
    chunks: list[list[Any]] = []
    for event in events:
        kept.append(encoder.state)
        chunks.append(encoder.feed(event))
    machine = TARGETS[target].target
    for at in sorted(data.draw(st.sets(st.integers(0, len(events) - 1), max_size=4))) if events else []:
        state = kept[at]
        for event, wanted in zip(events[at:], chunks[at:], strict=True):
            state, made = step(machine, state, event)
            assert made == wanted
        assert state.losses == encoder.losses


NAMES: dict[str, Any] = {"id": "msg_1", "created": 1, "thread_id": "thread_1", "run_id": "run_1"}
"""With these, the bytes depend on the message alone."""
RELAYED = ("vercel-ui", "ag-ui", "openai-chat")
"""The targets that a relay sends to clients that come and go."""


@each_recording
def test_law_40_what_is_open_depends_on_the_state_alone(name: str) -> None:
    """An encoder that began with a prelude goes on with the chunks of one that saw the whole message."""
    states = recorded_states(name)
    for target, at in product(RELAYED, {1, len(states) // 3, 2 * len(states) // 3, len(states) - 2}):
        whole, late = Encoder(target, **NAMES), Encoder(target, **NAMES)
        encoded(all_events(states[: at + 1]), whole)
        late.prelude(states[at])
        rest = all_events(states[at:])
        assert encoded(rest, whole) == encoded(rest, late)


SCRIPT = """
import json, sys
from unspool.llm import Encoder, MessageStream
target, chunks, names = json.load(sys.stdin)
states = list(MessageStream(chunks))
encoder = Encoder(target, **names)
made = encoder.prelude(states[len(states) // 2])
sys.stdout.buffer.write(b"".join(map(encoder.frame, made)))
"""


@pytest.mark.parametrize("target", RELAYED)
def test_law_40_all_processes_write_the_same_bytes(target: str) -> None:
    """With a name and a time of its own, a prelude is the same in processes with other hashes."""
    source = [{"message": {"content": text}, "done": False} for text in ("Hel", "lo", "!", " And")]
    source.append({"message": {"content": " more"}, "done": True})
    asked = json.dumps([target, source, NAMES])
    found: set[bytes] = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=asked.encode(), capture_output=True, env=environment, check=True
        )
        found.add(ran.stdout)
    assert len(found) == 1
    assert b"Hello" in found.pop()


def test_only_some_targets_replace_a_part() -> None:
    """`kept` needs a word for it: AI SDK 5 and 6 have none, and nothing is remembered of the try."""
    (*_, state) = MessageStream([{"message": {"content": "Hi"}, "done": False}], requires_finish=False)
    encoder = Encoder("vercel-ui", **NAMES)
    with pytest.raises(OptionsError, match="version=7"):
        encoder.prelude(state, kept=True)
    plain = encoder.prelude(state)
    healing = Encoder("vercel-ui", **NAMES, version=7).prelude(state, kept=True)
    assert [chunk["type"] for chunk in healing][:2] == ["start", "reset-step"]
    assert plain[2:] == healing[2:]
    history = [{"id": "user_1", "role": "user", "content": "Hello?"}]
    started, snapshot, *_ = Encoder("ag-ui", **NAMES).prelude(state, kept=True, history=history)
    assert (started["type"], snapshot["type"]) == ("RUN_STARTED", "MESSAGES_SNAPSHOT")
    assert snapshot["messages"] == [*history, {"id": "msg_1-0", "role": "assistant", "content": "Hi"}]
    for target in READABLE:
        assert Encoder(target, **NAMES).prelude(state, kept=True) == Encoder(target, **NAMES).prelude(state)


# ---- law 41: chains ----------------------------------------------------------------------------------


def check_chain(name: str, wire: str, between: str) -> None:
    """Check a chain from one target to another and back."""
    states = recorded_states(name)
    there = Encoder(between, include_usage=True)
    middle = decoded_states(between, encoded(all_events(states), there))
    back = Encoder(wire, include_usage=True)
    last = read_back(wire, encoded(all_events(middle), back))
    assert differences(wire, middle[-1], last, back.losses) == []
    lost = states[-1].lost_in(between)
    parts, kinds = {loss.part for loss in lost}, {loss.what for loss in lost}
    for loss in there.losses:
        assert loss.what == "order" or loss.part in parts or (loss.part is None and kinds)
    assert {loss.what for loss in back.losses} <= {*kinds, "order"}


@each_recording
def test_law_41_a_chain_loses_what_a_request_would(name: str) -> None:
    """From A to B and back to A: each loss is one of a part that `lost_in(B)` names, or one of order."""
    wire, _ = recorded()[name]
    for between in READABLE:
        if wire in READABLE and wire != between:
            check_chain(name, wire, between)


# ---- law 43: cost ------------------------------------------------------------------------------------


def many_pieces(target: str, count: int) -> None:
    """One part with many pieces."""
    encoder = Encoder(target)
    encoder.feed(PartStarted(0, TextPart()))
    for _ in range(count):
        encoder.feed(ContentAdded("piece "))


def many_parts(target: str, count: int) -> None:
    """Many parts, all of them open: those that wait for the first one are written at its end."""
    encoder = Encoder(target)
    for number in range(count):
        encoder.feed(PartStarted(number, TextPart()))
        encoder.feed(ContentAdded("text", part=number))
    for number in range(count):
        encoder.feed(PartEnded(number, TextPart("text", is_complete=True)))


def many_losses(target: str, count: int) -> None:
    """Many parts that have no place in some targets."""
    encoder = Encoder(target)
    for number in range(count):
        part = SourcePart(f"https://example.org/{number}")
        encoder.feed(PartStarted(number, part))
        encoder.feed(PartEnded(number, part))
    assert len(encoder.losses) in {0, count}


def many_ids(target: str, count: int) -> None:
    """Many calls whose ids are the same one in some targets."""
    encoder = Encoder(target)
    state = start()
    for number in range(count):
        call = ToolCallDelta(number, chr(0x4E00 + number), "f", "{}", "function", is_done=True)
        before, state = state, reduce(state, call)
        encoded(changes(before, state), encoder)


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("work", [many_pieces, many_parts, many_losses, many_ids])
@each_target
def test_law_43_twice_the_events_are_twice_the_work(work: Callable[[str, int], None], target: str) -> None:
    """Twice the pieces, parts or losses take at most 2.3 times the work."""
    once, twice = steps(lambda: work(target, 100)), steps(lambda: work(target, 200))
    assert twice <= 2.3 * once
