"""The official clients for pages read what encoders write: npm's `ai` in three major versions, and AG-UI's client."""

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


NAMES: dict[str, Any] = {"id": "msg_1", "created": 1, "thread_id": "thread_1", "run_id": "run_1"}
"""With these, the bytes depend on the message alone."""


def frames_of(encoder: Encoder, chunks: list[Any]) -> str:
    """Chunks as the body of a response."""
    return b"".join([*map(encoder.frame, chunks), encoder.last_frame()]).decode()


def stream_of(target: str, states: list[MessageState], **options: Any) -> str:
    """A message as the body of a response."""
    encoder = Encoder(target, **NAMES, **options)
    return frames_of(encoder, encoded(all_events(states), encoder))


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


# ---- clients that join late --------------------------------------------------------------------------

EVERY_STEP = [
    "anthropic/anthropic-clear-thinking.1",
    "bedrock-converse/amazon-bedrock-reasoning",
    "cohere/cohere-empty-tool-call",
    "gemini/google-tool-call-gemini3",
    "openai-responses/openai-shell-container-multiturn.1",
]
"""Recordings in which a client joins at every step; in the others it joins in the middle."""
SHORT = 60
"""States of a recording that is encoded in a moment."""


def places(name: str, count: int) -> list[int]:
    """The steps of a recording at which a client joins."""
    if name not in EVERY_STEP:
        return [count // 2]
    return list(range(count))


def late_cases(name: str, states: list[MessageState], client: str, target: str) -> list[dict[str, Any]]:
    """The cases of one recording: the whole stream, and clients that join late, with or without an older part."""
    version: dict[str, Any] = {"version": int(client[-1])} if target == "vercel-ui" else {}
    cases = [{"name": f"{name} whole", "client": client, "stream": stream_of(target, states, **version)}]
    for at in places(name, len(states)):
        late = Encoder(target, **NAMES, **version)
        stream = frames_of(late, late.prelude(states[at]) + encoded(all_events(states[at:]), late))
        cases.append({"name": f"{name} fresh {at}", "client": client, "stream": stream})
        if client not in HEALED:
            continue
        cut = Encoder(target, **NAMES, **version)
        kept = b"".join(map(cut.frame, encoded(all_events(states[: at // 2 + 1]), cut))).decode()
        late = Encoder(target, **NAMES, **version)
        stream = frames_of(late, late.prelude(states[at], kept=True) + encoded(all_events(states[at:]), late))
        cases.append({"name": f"{name} kept {at}", "client": client, "stream": stream, "kept": kept})
        cases.append({"name": f"{name} fresh, healed {at}", "client": client, "stream": stream})
    return cases


HEALED = ("ai@7", "@ag-ui/client@1")
"""The clients whose protocol can replace a part of a message."""


@here
@pytest.mark.parametrize("client", list(node_clients.CLIENTS))
def test_clients_that_join_late_end_with_the_same_message(client: str) -> None:
    """Law 33 for encoders: a prelude and the chunks that follow give what the whole stream gives.

    That holds for new clients, and with `kept` for those that still have a part from before their connection broke.
    """
    home, reason = node_clients.folder()
    if home is None:
        pytest.skip(reason)
    target = node_clients.CLIENTS[client]
    cases: list[dict[str, Any]] = []
    for name in recorded():
        states = recorded_states(name)
        if len(states) < SHORT:
            cases += late_cases(name, states, client, target)
    assert {*EVERY_STEP} <= {case["name"].split(" ", 1)[0] for case in cases}
    whole: dict[str, Any] = {}
    for case, got in zip(cases, node_clients.read(cases), strict=True):
        assert "error" not in got, (case["name"], got)
        recording, how = case["name"].split(" ", 1)
        if how == "whole":
            whole[recording] = got
        assert {**got, "name": ""} == {**whole[recording], "name": ""}, case["name"]
