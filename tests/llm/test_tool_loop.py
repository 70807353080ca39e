"""A tool loop of two turns, with thoughts and parallel calls: real clients, and servers that check like providers.

The servers are in tests/support/provider_server.py; the first tests here judge the servers themselves, without the
library. The loop with Gemini is in tests/peers, where its client is installed.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from tests.support.provider_server import (
    ANTHROPIC,
    CHAT,
    FINAL,
    GEMINI,
    PROVIDERS,
    QUESTIONS,
    RESPONSES,
    SIGNATURE,
    THOUGHT,
    Provider,
    ProviderServer,
)
from tests.support.replay import PATIENCE
from tests.support.tool_loops import run_loop, weather

if TYPE_CHECKING:
    from collections.abc import Callable

Payload = dict[str, Any]
Change = Any  # a function that takes the entries of a conversation and spoils them


# The servers


def post(server: ProviderServer, entries: list[Payload]) -> tuple[int, str]:
    """The status and the body of the answer to a request with this conversation."""
    body = json.dumps({server.provider.history: entries}).encode()
    request = Request(server.url, body, {"Content-Type": "application/json"})
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=PATIENCE) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def good(provider: Provider) -> list[Payload]:
    """A second request that the provider takes."""
    return copy.deepcopy([QUESTIONS[provider.format], *provider.turn, *provider.results])


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda provider: provider.format)
def test_a_server_takes_a_good_request(provider: Provider) -> None:
    """The first request gets the calls; with the turn and the results the second one gets the final text."""
    with ProviderServer(provider) as server:
        status, body = post(server, [QUESTIONS[provider.format]])
        assert (status, "weather" in body) == (200, True)
        status, body = post(server, good(provider))
        assert (status, "Rain in Suva" in body) == (200, True)


def content(entries: list[Payload]) -> list[Payload]:
    """The blocks of the turn of Anthropic or Gemini."""
    inner: list[Payload] = entries[1].get("content") or entries[1]["parts"]
    return inner


def without(at: int, name: str) -> Change:
    return lambda entries: content(entries)[at].pop(name)


def with_value(at: int, name: str, value: Any) -> Change:
    return lambda entries: content(entries)[at].update({name: value})


BAD: list[tuple[Provider, str, Change, str]] = [
    (ANTHROPIC, "no signature", without(0, "signature"), "messages.1.content.0.thinking.signature: Field required"),
    (ANTHROPIC, "other signature", with_value(0, "signature", "Eq"), "Invalid `signature` in `thinking` block"),
    (ANTHROPIC, "other thought", with_value(0, "thinking", "One city."), "cannot be modified"),
    (ANTHROPIC, "no thoughts", lambda it: content(it).__delitem__(slice(0, 2)), "Expected `thinking`"),
    (ANTHROPIC, "no redacted thoughts", lambda it: content(it).pop(1), "cannot be modified"),
    (ANTHROPIC, "thoughts at the end", lambda it: content(it).append(content(it).pop(0)), "cannot be modified"),
    (ANTHROPIC, "text without text", with_value(2, "text", ""), "text content blocks must be non-empty"),
    (ANTHROPIC, "input as text", with_value(3, "input", "{}"), "Input should be a valid dictionary"),
    (ANTHROPIC, "a result less", lambda it: it[2]["content"].pop(), "without `tool_result` blocks immediately after"),
    (ANTHROPIC, "no results", lambda it: it.pop(), "without `tool_result` blocks immediately after"),
    (ANTHROPIC, "a call less", lambda it: content(it).pop(), "unexpected `tool_use_id`"),
    (RESPONSES, "no encrypted reasoning", lambda it: it[1].pop("encrypted_content"), "Items are not persisted"),
    (RESPONSES, "other reasoning", lambda it: it[1].update(encrypted_content="x"), "could not be verified"),
    (RESPONSES, "no reasoning", lambda it: it.pop(1), "without its required 'reasoning' item"),
    (RESPONSES, "reasoning alone", lambda it: it.__delitem__(slice(2, 6)), "without its required following item"),
    (RESPONSES, "reasoning last", lambda it: it.insert(3, it.pop(1)), "without its required following item"),
    (RESPONSES, "an output less", lambda it: it.pop(), "No tool output found for function call call_2"),
    (RESPONSES, "a call less", lambda it: it.pop(3), "No tool call found for function call output"),
    (CHAT, "no reasoning", lambda it: it[1].pop("reasoning_content"), "Missing `reasoning_content` field"),
    (CHAT, "a result less", lambda it: it.pop(), "did not have response messages: call_2"),
    (GEMINI, "no signature", without(1, "thoughtSignature"), "missing a thought_signature"),
    (GEMINI, "other signature", with_value(1, "thoughtSignature", "AAAA"), "Thought signature is not valid"),
    (GEMINI, "a response less", lambda it: it[2]["parts"].pop(), "number of function response parts"),
]


@pytest.mark.parametrize(
    ("provider", "change", "words"),
    [pytest.param(who, change, words, id=f"{who.format}: {what}") for who, what, change, words in BAD],
)
def test_a_server_refuses_a_bad_request(provider: Provider, change: Change, words: str) -> None:
    """Each mistake gets the words of the provider instead of an answer."""
    entries = good(provider)
    change(entries)
    with ProviderServer(provider, requests=1) as server:
        status, body = post(server, entries)
    assert status in (400, 404)
    assert words in json.loads(body)["error"]["message"]


# The loop

ANTHROPIC_TOOLS: Any = [{"name": "weather", "description": "The weather now", "input_schema": {"type": "object"}}]
FUNCTION: Payload = {"name": "weather", "description": "The weather now", "parameters": {"type": "object"}}


def client_of(name: str, url: str) -> Any:
    """A client of anthropic or openai that talks to this machine alone."""
    library = pytest.importorskip(name.lower())
    http_client = library.DefaultHttpxClient(trust_env=False, verify=False, timeout=PATIENCE)
    return getattr(library, name)(api_key="test", base_url=url, max_retries=0, http_client=http_client)


def ask_anthropic(client: Any, history: list[Payload]) -> Any:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    return client.messages.create(
        model="m", max_tokens=2048, thinking=thinking, tools=ANTHROPIC_TOOLS, messages=history, stream=True
    )


def ask_responses(client: Any, history: list[Payload]) -> Any:
    tools = [{"type": "function", **FUNCTION}]
    include = ["reasoning.encrypted_content"]
    return client.responses.create(model="m", input=history, tools=tools, include=include, store=False, stream=True)


def ask_chat(client: Any, history: list[Payload]) -> Any:
    tools = [{"type": "function", "function": FUNCTION}]
    return client.chat.completions.create(model="m", messages=history, tools=tools, stream=True)


CLIENTS: dict[str, tuple[str, Callable[[Any, list[Payload]], Any]]] = {
    "anthropic": ("Anthropic", ask_anthropic),
    "openai-responses": ("OpenAI", ask_responses),
    "openai-chat": ("OpenAI", ask_chat),
}
each_client = pytest.mark.parametrize("wire", CLIENTS)


@each_client
def test_a_tool_loop(wire: str) -> None:
    """The provider takes the turn and the results, and answers with its final text."""
    library, ask = CLIENTS[wire]
    with ProviderServer(PROVIDERS[wire]) as server, client_of(library, server.url) as client:
        state, history = run_loop(lambda entries: ask(client, entries), QUESTIONS[wire])
    assert (state.content, state.finish_reason, state.is_complete) == (FINAL, "stop", True)
    assert len(server.requests) == 2
    sent = json.loads(server.requests[1])[PROVIDERS[wire].history]
    assert [*sent, history[-1]] == json.loads(json.dumps(history))  # the final text is one entry in each format
    told = json.dumps(history, ensure_ascii=False)
    assert all(word in told for word in (THOUGHT, "rain", "sun"))


@each_client
def test_a_tool_that_fails(wire: str) -> None:
    """An exception is a result too: the provider takes it, and sees that it is an error."""
    library, ask = CLIENTS[wire]

    def fail(city: str) -> str:
        if city == "Nadi":
            raise KeyError(f"no weather for {city}")
        return weather(city)

    with ProviderServer(PROVIDERS[wire]) as server, client_of(library, server.url) as client:
        state, _ = run_loop(lambda entries: ask(client, entries), QUESTIONS[wire], fail)
    assert state.content == FINAL
    sent = json.loads(server.requests[1])[PROVIDERS[wire].history]
    results = json.dumps(sent[len(PROVIDERS[wire].turn) + 1 :])
    assert "no weather for Nadi" in results
    assert "no weather for Suva" not in results
    if wire == "anthropic":
        assert [block.get("is_error", False) for block in sent[2]["content"]] == [False, True]


@each_client
def test_a_loop_that_drops_reasoning_is_refused(wire: str) -> None:
    """The check is alive behind the real client, too: without its reasoning the turn is not taken."""
    library, ask = CLIENTS[wire]
    entries = good(PROVIDERS[wire])
    if wire == "anthropic":
        assert content(entries)[0].pop("signature") == SIGNATURE
    elif wire == "openai-responses":
        del entries[1]
    else:
        del entries[1]["reasoning_content"]
    error = pytest.importorskip(library.lower()).BadRequestError
    with (
        ProviderServer(PROVIDERS[wire], requests=1) as server,
        client_of(library, server.url) as client,
        pytest.raises(error, match=r"Field required|without its required|Missing `reasoning_content`"),
    ):
        ask(client, entries)
