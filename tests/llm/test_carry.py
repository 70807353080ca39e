"""Signatures that go through another protocol, and come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_laws_messages import each_recording, recorded, recorded_states
from tests.support.encodings import READABLE, all_events, decoded, encoded
from tests.support.grammars import GRAMMARS, accept
from unspool import OptionsError
from unspool.llm import Encoder, ReasoningPart, ToolCall, carried, encode
from unspool.llm._encoders.carry import tagged
from unspool.llm._formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.llm import MessageState


def texts_in(value: Any) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


def secrets_in(state: MessageState) -> set[Any]:
    """The signatures and the encrypted reasoning of a message."""
    found: set[Any] = set()
    for part in state.parts:
        if isinstance(part, (ReasoningPart, ToolCall)) and part.signature:
            found.add(part.signature)
        if isinstance(part, ReasoningPart) and part.encrypted:
            found.add(part.encrypted)
    return found


@given(st.sampled_from(list(FORMATS)), st.sampled_from(["signature", "encrypted"]), st.text() | st.binary())
def test_a_tag_is_recognised(format: str, kind: str, value: str | bytes) -> None:
    """Whatever the secret is."""
    assert carried(tagged(format, kind, value)) == (format, "encrypted" if isinstance(value, bytes) else kind, value)


@given(st.text() | st.text("unspool1.geminsatr=", max_size=40))
def test_other_texts_are_not_recognised(text: str) -> None:
    """A text that is not tagged is nobody's, and nothing raises."""
    found = carried(text)
    assert found is None or carried(tagged(*found)) == found


@each_recording
def test_signatures_survive_in_every_target(name: str) -> None:
    """With `carry`, every secret is in the chunks: in its own protocol as it is, in another one with its tag."""
    wire, _ = recorded()[name]
    states = recorded_states(name)
    secrets = secrets_in(states[-1])
    for target in GRAMMARS:
        encoder = Encoder(target, source=wire, carry=True)
        chunks = encoded(all_events(states), encoder)
        accept(target, chunks)
        texts = set(texts_in(chunks))
        tags = [tag for text in texts if (tag := carried(text)) is not None]
        assert all(tag.format == wire for tag in tags)
        kinds = {"signature", "encrypted", "server_call", "replaced"}
        lost = {loss.part for loss in encoder.losses if loss.what in kinds}
        got = {tag.value for tag in tags} | texts
        for number, part in enumerate(states[-1].parts):
            if isinstance(part, (ReasoningPart, ToolCall)) and number not in lost and part.signature:
                assert part.signature in got
        if not lost:
            assert secrets <= got | {each for each in secrets if isinstance(each, bytes)}
        if target in READABLE:
            assert decoded(target, chunks).content == states[-1].content


def test_a_call_of_gemini_shown_as_anthropic() -> None:
    """An empty thinking block before the call carries its signature. Without `carry`, it is a loss."""
    call = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    source = [{"candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "STOP"}]}]
    encoding = encode(source, "anthropic", carry=True)
    blocks = [chunk for chunk in encoding if chunk["type"] == "content_block_start"]
    assert [block["content_block"]["type"] for block in blocks] == ["thinking", "tool_use"]
    assert encoding.losses == ()
    plain = encode(source, "anthropic")
    assert not [chunk for chunk in plain if "thinking" in str(chunk)]
    assert [loss.what for loss in plain.losses] == ["signature"]


def test_an_unknown_source_is_refused() -> None:
    """The formats are those of the library."""
    with pytest.raises(OptionsError, match="format"):
        Encoder("anthropic", source="other")
