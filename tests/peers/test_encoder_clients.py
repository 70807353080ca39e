"""The official clients read what encoders write: OpenAI's and Anthropic's libraries, from a server on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from openai import ContentFilterFinishReasonError, LengthFinishReasonError
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.laws.test_laws_messages import recorded, recorded_states
from tests.support import shared
from tests.support.encodings import all_events, decoded, encoded, has_failed
from tests.support.replay import Answer, Replay
from unspool.llm import Encoder, carried, encode

if TYPE_CHECKING:
    from unspool.llm import MessageState

here = pytest.mark.skipif(not recorded(), reason=shared.NOT_HERE)
Chunk = dict[str, Any]
BLOCK = 4096
OUTSIDE_OF_THE_TYPES = {
    "openai-responses/xai-web-search-tool.1",  # xAI's items lack a field that OpenAI's have
    "conversations/test_openai_responses__test_openai_responses_model_web_search_tool_stream.0",  # a new kind of source
}
"""Recordings whose own items are not those of the library's types. They come as the provider sent them."""


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine are not for this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


def answers(target: str) -> list[tuple[str, list[Chunk], Answer, bool]]:
    """Every recording in a target: its name, the chunks, the answer of a server, and whether the message has failed."""
    found: list[tuple[str, list[Chunk], Answer, bool]] = []
    for name in recorded():
        states = recorded_states(name)
        encoder = Encoder(target, include_usage=True)
        chunks = encoded(all_events(states), encoder)
        frames = (*map(encoder.frame, chunks), encoder.last_frame())
        found.append((name, chunks, Answer(frames, piece=BLOCK), has_failed(states[-1])))
    return found


def calls_of(state: MessageState) -> list[tuple[str | None, str | None, str]]:
    """The calls of a message."""
    return [(call.id, call.name, call.arguments) for call in state.tool_calls if call.kind != "server"]


@here
def test_openai_reads_chat_completions() -> None:
    """Its `stream()` helper makes the same message, and its types accept every chunk."""
    cases = answers("openai-chat")
    chunk_type = TypeAdapter(ChatCompletionChunk)
    with Replay(*[answer for _, _, answer, _ in cases]) as server:
        client = openai.OpenAI(base_url=server.url, api_key="-", max_retries=0)
        for name, chunks, _, is_failed in cases:
            wanted = decoded("openai-chat", chunks)
            for chunk in chunks:
                if "error" not in chunk and '"custom"' not in json.dumps(chunk):  # the types know functions only
                    chunk_type.validate_python(chunk)
            if '"custom"' in json.dumps(chunks):  # the helper cannot read calls of custom tools, whoever sends them
                asked = client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "?"}], stream=True
                )
                assert len([*asked]) == len(chunks)
                continue
            try:
                with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as stream:
                    for _ in stream:
                        pass
                    message: Any = stream.get_final_completion().choices[0].message
            except (LengthFinishReasonError, ContentFilterFinishReasonError):
                assert wanted.finish_reason in {"length", "content_filter"}, name
                continue
            except openai.APIError:
                assert is_failed, name
                continue
            assert not is_failed, name
            assert (message.content or "") == wanted.content, name
            called = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
            assert called == [
                each for each, call in zip(calls_of(wanted), wanted.tool_calls, strict=True) if call.kind != "custom"
            ], name


def test_openai_keeps_every_carried_secret() -> None:
    """Its helper joins entries of lists by their number, and raises where an entry has none."""
    thoughts: list[Any] = [
        {"thought": True, "text": "One", "thoughtSignature": "c2ln"},
        {"text": "Hi"},
        {"thought": True, "text": "Two", "thoughtSignature": "bWF0"},
        {"text": "!"},
    ]
    source: list[Any] = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in thoughts]
    encoding = encode([*source, {"candidates": [{"finishReason": "STOP"}]}], "openai-chat", carry=True)
    with Replay(Answer(tuple(encoding.sse()), piece=BLOCK)) as server:
        client = openai.OpenAI(base_url=server.url, api_key="-", max_retries=0)
        with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as stream:
            message: Any = stream.get_final_completion().choices[0].message
    found = [carried(detail["data"]) for detail in message.reasoning_details]
    assert [secret.value for secret in found if secret is not None] == ["c2ln", "bWF0"]


@here
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_openai_reads_responses() -> None:
    """Its `stream()` helper makes the same response, and its types accept every event."""
    cases = answers("openai-responses")
    event_type: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    with Replay(*[answer for _, _, answer, _ in cases]) as server:
        client = openai.OpenAI(base_url=server.url, api_key="-", max_retries=0)
        for name, chunks, _, is_failed in cases:
            wanted = decoded("openai-responses", chunks)
            for chunk in chunks:
                if name not in OUTSIDE_OF_THE_TYPES:
                    event_type.validate_python(chunk)
            with client.responses.stream(model="m", input="?") as stream:
                last: Any = [*stream][-1]
            if is_failed:
                assert last.type == "response.failed", name
                continue
            response = last.response
            assert last.type == ("response.completed" if wanted.is_complete else "response.incomplete"), name
            assert response.output_text == wanted.content, name
            called = [
                (item.call_id, item.name, item.arguments if item.type == "function_call" else item.input)
                for item in response.output
                if item.type in {"function_call", "custom_tool_call"}
            ]
            mine = [call for call in wanted.tool_calls if call.kind in {"function", "custom"}]
            assert called == [(call.id, call.name, call.arguments) for call in mine], name


@here
def test_anthropic_reads_messages() -> None:
    """Its `stream()` helper makes the same message."""
    cases = answers("anthropic")
    with Replay(*[answer for _, _, answer, _ in cases]) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="-", max_retries=0)
        for name, chunks, _, is_failed in cases:
            wanted = decoded("anthropic", chunks)
            try:
                with client.messages.stream(
                    model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}]
                ) as stream:
                    for _ in stream:
                        pass
                    message: Any = stream.get_final_message()
            except anthropic.APIError:
                assert is_failed, name
                continue
            assert not is_failed, name
            blocks = message.content
            assert "".join([block.text for block in blocks if block.type == "text"]) == wanted.content, name
            assert "".join([block.thinking for block in blocks if block.type == "thinking"]) == wanted.reasoning, name
            called = [(block.id, block.name) for block in blocks if block.type == "tool_use"]
            assert called == [(named, tool) for named, tool, _ in calls_of(wanted)], name
