"""The assistant's turn of the next request to Anthropic, as other libraries send it after they read a stream.

Each function reads the chunks of one message through the library's own client, on a transport that never leaves the
process, and gives the content blocks of the assistant's turn in the body of the request that the library sends next.
Each library gets the tools that the message calls and a web search, and with the next request the results, as in an
application. After a message without calls of the application comes a question.
"""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.next_requests import Payload, Transport

if TYPE_CHECKING:
    from collections.abc import Callable

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


def litellm(chunks: list[Payload]) -> list[Payload]:
    """`completion(stream=True)`, `stream_chunk_builder`, and the message of that in the next `completion`."""
    import httpx

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch a list of prices when it is imported
        library = pytest.importorskip("litellm")
    handler = pytest.importorskip("litellm.llms.custom_httpx.http_handler").HTTPHandler
    transport = Transport(httpx, "anthropic", chunks)
    parameters = {"type": "object", "properties": {}}
    calls = called(chunks)
    names = sorted({*calls.values()})
    tools = [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in names]
    asking: dict[str, Any] = {
        "model": f"anthropic/{MODEL}",
        "api_key": "test",
        "api_base": "http://test",
        "stream": True,
        "client": handler(client=transport.client()),
        "tools": [*tools, SEARCH],
    }
    asked: list[Any] = [{"role": "user", "content": ASKED}]
    pieces = [*library.completion(messages=asked, **asking)]
    message = library.stream_chunk_builder(pieces, messages=asked).choices[0].message
    results = [{"role": "tool", "tool_call_id": call, "content": RESULT} for call in calls]
    following = results or [{"role": "user", "content": AGAIN}]
    _drain(library.completion(messages=[*asked, message, *following], **asking))
    return content_of(transport.bodies[1])


def _drain(stream: Any) -> None:
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
    _drain(model.stream([asked, total, *(following or [messages.HumanMessage(AGAIN)])], tools=tools))
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


PEERS: Final[dict[str, Callable[[list[Payload]], list[Payload]]]] = {
    "pydantic-ai-slim": pydantic_ai,
    "langchain-anthropic": langchain,
    "litellm": litellm,
}
"""The libraries by the names under which they are installed."""


def turn_of(peer: str, chunks: list[Payload]) -> list[Payload] | str:
    """The blocks that a library sends back, or the name of the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries
        try:
            return PEERS[peer](chunks)
        except Exception as error:  # noqa: BLE001 - the table names the error of a library
            return type(error).__name__
