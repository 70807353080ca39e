"""The official clients for pages read what encoders write: npm's `ai` in two major versions, and AG-UI's client."""

from __future__ import annotations

from typing import Any

import pytest

from tests.laws.test_laws_messages import recorded, recorded_states
from tests.support import node_clients, shared
from tests.support.encodings import all_events, encoded, has_failed
from unspool.llm import Encoder, MessageState
from unspool.llm._calls import ToolCall
from unspool.llm._parts import ToolResultPart

here = pytest.mark.skipif(not recorded(), reason=shared.NOT_HERE)


def stream_of(target: str, states: list[MessageState]) -> str:
    """A message as the body of a response."""
    encoder = Encoder(target, id="msg_1")
    frames = [*map(encoder.frame, encoded(all_events(states), encoder)), encoder.last_frame()]
    return b"".join(frames).decode()


def check(got: dict[str, Any], state: MessageState) -> None:
    """Check what a client made of a message."""
    assert "error" not in got, got
    assert got["text"] == state.content + state.refusal, got["name"]
    assert got["reasoning"] == state.reasoning, got["name"]
    assert (got["failure"] is not None) == has_failed(state), got["name"]
    shown = [part for part in state.parts if isinstance(part, ToolCall) and part.name is not None]
    calls = [tuple(call[:2]) for call in got["calls"]]
    assert set(calls) >= {(part.id, part.name) for part in shown if part.id is not None}, got["name"]
    answered = [part.call_id for part in state.parts if isinstance(part, ToolResultPart)]
    assert {named for named in answered if named is not None} <= set(got["results"]), got["name"]
    assert len(got["results"]) >= len(set(answered)), got["name"]
    if not has_failed(state):
        assert got["open"] == 0, got["name"]


@here
def test_official_clients_read_every_recording() -> None:
    """Every client makes the same text, reasoning, calls and results of every recording, and complains of nothing."""
    home, reason = node_clients.folder()
    if home is None:
        pytest.skip(reason)
    cases: list[dict[str, Any]] = []
    states = {name: recorded_states(name) for name in recorded()}
    for client, target in node_clients.CLIENTS.items():
        cases += [{"name": name, "client": client, "stream": stream_of(target, each)} for name, each in states.items()]
    got = node_clients.read(cases)
    assert len(got) == len(cases)
    for each in got:
        check(each, states[each["name"]][-1])
