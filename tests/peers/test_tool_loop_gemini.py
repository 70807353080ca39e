"""The tool loop of tests/llm/test_tool_loop.py with Gemini's client; and the servers of both stream what they check."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.next_requests import next_turn, normal
from tests.support.provider_server import FINAL, GEMINI, PROVIDERS, QUESTIONS, THOUGHT, Provider, ProviderServer
from tests.support.tool_loops import run_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

Payload = dict[str, Any]


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda provider: provider.format)
def test_a_server_streams_the_turn_that_it_wants_back(provider: Provider) -> None:
    """The client of the vendor reads the stream of the server, and sends the turn that the server checks."""
    sent = next_turn(provider.format, provider.first)
    assert normal(provider.format, sent, provider.first) == normal(provider.format, provider.turn, provider.first)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[tuple[Any, ProviderServer]]:
    """A client and its server."""
    genai = pytest.importorskip("google.genai")
    httpx = pytest.importorskip("httpx")
    with ProviderServer(GEMINI, getattr(request, "param", 2)) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client's own types
        options = genai.types.HttpOptions(base_url=server.url, httpx_client=httpx.Client(trust_env=False))
        client = genai.Client(api_key="test", vertexai=False, http_options=options)
        yield client, server
        client.close()


def ask(client: Any, history: list[Payload]) -> Any:
    function = {"name": "weather", "description": "The weather now", "parameters": {"type": "OBJECT"}}
    config = {"tools": [{"function_declarations": [function]}], "thinking_config": {"include_thoughts": True}}
    return client.models.generate_content_stream(model="m", contents=history, config=config)


def test_a_tool_loop(client: tuple[Any, ProviderServer]) -> None:
    """The provider takes the turn with its signature and the responses, and answers with its final text."""
    gemini, server = client
    state, history = run_loop(lambda entries: ask(gemini, entries), QUESTIONS["gemini"])
    assert (state.content, state.finish_reason, state.is_complete) == (FINAL, "stop", True)
    assert len(server.requests) == 2
    told = json.dumps(history, ensure_ascii=False)  # signatures are bytes in the client's objects, and text in a turn
    assert all(word in told for word in (THOUGHT, "rain", "sun"))


@pytest.mark.parametrize("client", [1], indirect=True)
def test_a_loop_that_drops_the_signature_is_refused(client: tuple[Any, ProviderServer]) -> None:
    """The check is alive behind the real client, too."""
    gemini, _ = client
    turn, parts = GEMINI.turn[0], GEMINI.turn[0]["parts"]
    unsigned = [{name: value for name, value in part.items() if name != "thoughtSignature"} for part in parts]
    history = [QUESTIONS["gemini"], {**turn, "parts": unsigned}, *GEMINI.results]
    errors = pytest.importorskip("google.genai.errors")
    with pytest.raises(errors.ClientError, match="missing a thought_signature"):
        list(ask(gemini, history))


@pytest.mark.parametrize("client", [1], indirect=True)
def test_a_good_request_is_taken(client: tuple[Any, ProviderServer]) -> None:
    """The turn and the responses as the server has them pass through the client unharmed."""
    gemini, _ = client
    answers = ask(gemini, [QUESTIONS["gemini"], *GEMINI.turn, *GEMINI.results])
    assert "".join(answer.text or "" for answer in answers) == FINAL
