"""Law 33 with the official clients: whoever joins a stream anywhere reads the message that all others read."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.laws.test_laws_messages import recorded, recorded_deltas, recorded_states
from tests.peers.test_encoder_pages import check
from tests.relay.test_wires import cursor, received
from tests.support import node_clients, shared
from tests.support.encodings import has_failed
from tests.support.replay import Answer, Replay
from unspool.llm import MessageState, finish, reduce
from unspool.relay._wires import HEALING, EncoderWire, encoder_for

here = pytest.mark.skipif(not recorded(), reason=shared.NOT_HERE)
NAMES = list(recorded())[::6]
"""Every sixth recording: each is read several times."""


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine are not for this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


def joined(target: str, name: str, at: int, jumps: tuple[int, ...] = ()) -> tuple[bytes, MessageState]:
    """What a client gets of a recording, and the message that it should make of it."""
    data, _, state = received(target, recorded_deltas(name), recorded_states(name)[0], at, jumps)
    return data, recorded_states(name)[-1] if state is None else state


@here
def test_law_33_clients_of_pages_join_anywhere() -> None:
    """Vercel's AI SDK and AG-UI's client, with a prelude and with snapshots in the middle."""
    home, reason = node_clients.folder()
    if home is None:
        pytest.skip(reason)
    cases: list[dict[str, Any]] = []
    states: list[MessageState] = []
    for client, target in node_clients.CLIENTS.items():
        for name in NAMES:
            count = len(recorded_deltas(name))
            for at, jumps in ((count // 2, ()), (count - 1, ()), (0, (count // 2,))):
                data, state = joined(target, name, at, jumps)
                cases.append({"name": f"{name} {at} {jumps}", "client": client, "stream": data.decode()})
                states.append(state)
    for got, state in zip(node_clients.read(cases), states, strict=True):
        if got["failure"] is None:  # a snapshot that takes text back ends with the error of the protocol
            check(got, state)
        else:
            assert "error" not in got


@here
def test_fault_17_a_page_that_kept_its_message_is_brought_right() -> None:
    """F17: with the wire `vercel-ui-7`, the SDK drops the parts that it kept, and reads each once."""
    home, reason = node_clients.folder()
    if home is None:
        pytest.skip(reason)
    cases: list[dict[str, Any]] = []
    states: list[MessageState] = []
    for name in NAMES:
        deltas, state = recorded_deltas(name), recorded_states(name)[0]
        if has_failed(recorded_states(name)[-1]):
            continue
        half = len(deltas) // 2
        for delta in deltas[:half]:
            state = reduce(state, delta)
        kept = EncoderWire(lambda: encoder_for("vercel-ui", "chat", 1)).snapshot(cursor(half), state)
        wire = EncoderWire(lambda: encoder_for(HEALING, "chat", 1), heals=True)
        frames = [wire.snapshot(cursor(half), state)]
        for delta in deltas[half:]:
            state = reduce(state, delta)
            frames.append(wire.step(cursor(half + 1), state, [], False))
        state = finish(state)
        frames += [wire.step(cursor(len(deltas)), state, [], True), wire.end(cursor(len(deltas)), {"status": "done"})]
        stream = b"".join(frames).decode()
        cases.append({"name": name, "client": "ai@7", "stream": stream, "kept": kept.decode()})
        states.append(state)
    for got, each in zip(node_clients.read(cases), states, strict=True):
        check(got, each)


@here
def test_law_33_openai_joins_anywhere() -> None:
    """OpenAI's library makes the same text of a stream that it joins in the middle."""
    cases = [(name, *joined("openai-chat", name, len(recorded_deltas(name)) // 2)) for name in NAMES]
    with Replay(*[Answer((data,), piece=4096) for _, data, _ in cases]) as server:
        client = openai.OpenAI(base_url=server.url, api_key="-", max_retries=0)
        for name, _, state in cases:
            text = ""
            try:
                for chunk in client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "?"}], stream=True
                ):
                    if chunk.choices:
                        text += chunk.choices[0].delta.content or ""
            except openai.APIError:
                assert has_failed(state), name
                continue
            assert not has_failed(state), name
            assert text == state.content, name
