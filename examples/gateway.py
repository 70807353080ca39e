"""A gateway: clients of OpenAI and Anthropic in front of any provider.

``POST /v1/chat/completions``, ``/v1/responses`` and ``/v1/messages`` answer with a stream in the protocol of the path,
whatever the provider speaks. The gateway sends each piece on as it arrives. A client that leaves ends the request of
the provider, and a provider that refuses a request decides the status.

    python examples/gateway.py                         # plays a recording of Anthropic: no key, no network
    python examples/gateway.py --upstream URL          # asks a streaming endpoint, with the keys of each request

Then point a client at it: ``OPENAI_BASE_URL=http://127.0.0.1:8000/v1``, ``ANTHROPIC_BASE_URL=http://127.0.0.1:8000``.
The gateway translates answers. A request goes to the upstream as it came: see "The next request" in the documentation
for the way back.

Needs FastAPI, uvicorn and httpx: ``pip install fastapi uvicorn httpx unspool``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, Final, cast

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from unspool.llm import AsyncEncoding, MessageError, MessageStream, aencode

RECORDING: Final = Path(__file__).parent / "recordings" / "anthropic.jsonl"
TARGETS: Final = {"chat/completions": "openai-chat", "responses": "openai-responses", "messages": "anthropic"}
FORWARDED: Final = ("authorization", "x-api-key", "anthropic-version", "anthropic-beta")
PATIENCE: Final = httpx.Timeout(300, connect=10)
REFUSED: Final = 400
STREAMS: Final = 200
TICK: Final = 0.1


def shaped(target: str, status: int, message: str) -> JSONResponse:
    """An error in the shape of the client's protocol, with the status of the provider."""
    error: dict[str, Any] = {"type": "upstream_error", "message": message}
    if target == "anthropic":
        return JSONResponse({"type": "error", "error": error}, status)
    return JSONResponse({"error": {**error, "param": None, "code": None}}, status)


async def recorded(pause: float) -> AsyncIterator[object]:
    """A recorded stream of Anthropic, a chunk at a time."""
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
        await asyncio.sleep(pause)


def streaming(answer: AsyncEncoding) -> Response:
    """The answer while it arrives. Starlette closes it when the client leaves, and that closes the upstream."""
    return StreamingResponse(answer.asse(), headers=answer.headers)


async def unless_left(request: Request, asking: Coroutine[Any, Any, httpx.Response]) -> httpx.Response | None:
    """The response, or None if the client leaves before there is one. That ends the request of the provider."""
    task = asyncio.create_task(asking)
    try:
        while not (await asyncio.wait({task}, timeout=TICK))[0]:
            if await request.is_disconnected():
                return None
        return task.result()
    finally:
        task.cancel()


async def answered(target: str, upstream: httpx.Response, **options: Any) -> Response:
    """The answer of an upstream in the protocol of the client, or its refusal with its status."""
    if upstream.status_code == STREAMS:
        return streaming(aencode(upstream, target, **options))
    if upstream.status_code < REFUSED:
        await upstream.aclose()
        return shaped(target, 502, f"the upstream has no stream: its status is {upstream.status_code}")
    try:
        await MessageStream(upstream).afinal()
    except MessageError as error:
        return shaped(target, upstream.status_code, error.detail or str(error))
    return shaped(target, upstream.status_code, "the upstream refused the request")


def gateway(upstream: str | None, pause: float = 0.02) -> FastAPI:
    """The application: in front of a streaming endpoint, or of the recording."""
    app = FastAPI()
    client = httpx.AsyncClient(timeout=PATIENCE)

    @app.post("/v1/{path:path}")
    async def ask(path: str, request: Request) -> Response:
        target = TARGETS.get(path)
        if target is None:
            return shaped("openai-chat", 404, f"ask for one of {', '.join(TARGETS)}")
        body = await request.body()
        try:
            given: object = json.loads(body)
        except (ValueError, RecursionError):
            return shaped(target, 400, "the request is not JSON")
        asked = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        if asked.get("stream") is not True:
            return shaped(target, 400, 'the gateway answers with streams: ask with "stream": true')
        options: Any = asked.get("stream_options")
        wants_usage = isinstance(options, dict) and cast("dict[str, Any]", options).get("include_usage") is True
        if upstream is None:
            return streaming(aencode(recorded(pause), target, include_usage=wants_usage))
        headers = {name: request.headers[name] for name in FORWARDED if name in request.headers}
        headers["content-type"] = "application/json"
        sent = client.build_request("POST", upstream, content=body, headers=headers)
        try:
            answer = await unless_left(request, client.send(sent, stream=True))
        except httpx.HTTPError as error:
            return shaped(target, 502, f"the upstream has no answer: {str(error) or type(error).__name__}")
        if answer is None:
            return Response()  # nobody reads it
        return await answered(target, answer, include_usage=wants_usage)

    return app


def main() -> None:
    """Serve on this machine alone."""
    options = argparse.ArgumentParser(description="A gateway in front of any provider.")
    options.add_argument("--upstream", help="a streaming endpoint of a provider; a recording is played without it")
    options.add_argument("--port", type=int, default=8000, help="0 takes any that is free")
    given = options.parse_args()
    uvicorn.run(gateway(given.upstream), host="127.0.0.1", port=given.port, timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
