"""The assistant's turn of the next request to Anthropic, as other libraries send it after they read a stream.

Each function reads the chunks of one message through the library's own client, on a transport that never leaves the
process, and gives the content blocks of the assistant's turn in the body of the request that the library sends next.
Each library gets the tools that the message calls and a web search, and with the next request the results, as in an
application. After a message without calls of the application comes a question.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import warnings
from functools import partial
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.next_requests import Payload, Transport
from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MODEL: Final = "claude-sonnet-4-6"
ASKED: Final = "Where?"
AGAIN: Final = "And then?"
RESULT: Final = "done"
SEARCH: Final[Payload] = {"type": "web_search_20250305", "name": "web_search"}
"""A tool that the provider runs. Libraries read a stream otherwise when a request has no tools at all."""


def called(chunks: list[Payload]) -> dict[str, str]:
    """The calls that the application has to run: their names by their ids."""
    starts = [chunk["content_block"] for chunk in chunks if chunk["type"] == "content_block_start"]
    blocks = [*chunks[0]["message"]["content"], *starts]
    return {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}


def content_of(body: Payload) -> list[Payload]:
    """The blocks of the assistant in a request. A content that is a text is one block."""
    found: list[Payload] = []
    for message in body["messages"]:
        content = message["content"]
        if message["role"] == "assistant":
            found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found


def drain(stream: Any) -> None:
    """Read a stream that has nothing in it; a library may complain about that."""
    try:
        for _ in stream:
            pass
    except Exception:  # noqa: BLE001 - the request was sent, and that is all that counts
        pass


def langchain(chunks: list[Payload]) -> list[Payload]:
    """The sum of the chunks of `ChatAnthropic.stream`, in the messages of the next `stream`."""
    import httpx2
    from anthropic import Anthropic

    library = pytest.importorskip("langchain_anthropic")
    messages = pytest.importorskip("langchain_core.messages")
    transport = Transport(httpx2, "anthropic", chunks)
    # With a beta it reads with the types of the beta interface, which know the blocks of all recordings.
    beta = ["context-management-2025-06-27"]
    model = library.ChatAnthropic(model=MODEL, api_key="test", base_url="http://test", max_retries=0, betas=beta)
    client = Anthropic(api_key="test", base_url="http://test", http_client=transport.client(), max_retries=0)
    model.__dict__["_client"] = client  # a cached property
    asked = messages.HumanMessage(ASKED)
    total: Any = None
    calls = called(chunks)
    tools = [*({"name": name, "input_schema": {"type": "object"}} for name in sorted({*calls.values()})), SEARCH]
    for piece in model.stream([asked], tools=tools):
        total = piece if total is None else total + piece
    following = [messages.ToolMessage(RESULT, tool_call_id=call) for call in calls]
    drain(model.stream([asked, total, *(following or [messages.HumanMessage(AGAIN)])], tools=tools))
    return content_of(transport.bodies[1])


def pydantic_ai(chunks: list[Payload]) -> list[Payload]:
    """The response of `AnthropicModel.request_stream`, in the messages of the next one."""
    return asyncio.run(_pydantic_ai(chunks))


async def _pydantic_ai(chunks: list[Payload]) -> list[Payload]:
    import httpx2
    from anthropic import AsyncAnthropic
    from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.native_tools import AdvisorTool, CodeExecutionTool, WebFetchTool, WebSearchTool
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.tools import ToolDefinition

    transport = Transport(httpx2, "anthropic", chunks)
    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(transport.respond))
    client = AsyncAnthropic(api_key="test", base_url="http://test", http_client=http_client, max_retries=0)
    model = AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=client))
    calls = called(chunks)
    parameters = ModelRequestParameters(
        function_tools=[ToolDefinition(name=name) for name in sorted({*calls.values()})],
        native_tools=[WebSearchTool(), CodeExecutionTool(), WebFetchTool(), AdvisorTool(model="claude-opus-4-8")],
    )
    asked = ModelRequest(parts=[UserPromptPart(ASKED)])
    async with model.request_stream([asked], None, parameters) as stream:
        async for _ in stream:
            pass
        response = stream.get()
    results: list[Any] = [ToolReturnPart(name, RESULT, tool_call_id=call) for call, name in calls.items()]
    again = ModelRequest(parts=results or [UserPromptPart(AGAIN)])
    try:
        async with model.request_stream([asked, response, again], None, parameters):
            pass
    except Exception:  # noqa: BLE001 - the request was sent, and that is all that counts
        pass
    return content_of(transport.bodies[1])


def each(
    read: Callable[[list[Payload]], list[Payload]], messages: Sequence[Sequence[Payload]]
) -> list[list[Payload] | str]:
    """The blocks that a library sends back for each message, or the name of the error that it raises."""
    turns: list[list[Payload] | str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries
        for chunks in messages:
            try:
                turns.append(read(list(chunks)))
            except Exception as error:  # noqa: BLE001 - the table names the error of a library
                turns.append(type(error).__name__)
    return turns


LITELLM: Final = Path(sys.prefix) / "litellm"
"""The folder of litellm, apart from the others: it brings aiohttp, which changes how google-genai reads streams."""


def litellm(messages: Sequence[Sequence[Payload]]) -> list[list[Payload] | str]:
    """All turns at once, from a process that has litellm's folder on its path."""
    paths = [str(LITELLM), str(PROJECT), os.environ.get("PYTHONPATH", "")]
    # It would fetch a list of prices when it is imported.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-W", "ignore", "-m", "tests.support.litellm_turns"]
    asked = json.dumps([list(chunks) for chunks in messages])
    outcome = subprocess.run(command, input=asked, capture_output=True, text=True, env=environment, timeout=120)
    assert outcome.returncode == 0, outcome.stderr
    turns: list[list[Payload] | str] = json.loads(outcome.stdout)
    return turns


PEERS: Final[dict[str, Callable[[Sequence[Sequence[Payload]]], list[list[Payload] | str]]]] = {
    "pydantic-ai-slim": partial(each, pydantic_ai),
    "langchain-anthropic": partial(each, langchain),
    "litellm": litellm,
}
"""The libraries by the names under which they are installed."""


def installed(peer: str) -> str | None:
    """The version of a library, or None where it is not installed."""
    path = [str(LITELLM)] if peer == "litellm" else sys.path
    return next((found.version for found in Distribution.discover(name=peer, path=path)), None)
