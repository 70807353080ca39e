"""A chat whose answers survive their worker, their page, and their connection.

An answer is a stream of the relay. The worker that got the question writes it; every page that shows it follows
it, from whatever worker. If the writer dies, another worker takes the stream over, and goes on at the position that the
log has.

Start it with ``python examples/chat_app``.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unspool.relay import (
    CancelError,
    EndedError,
    FencedError,
    GoneError,
    HeldError,
    Messages,
    Publisher,
    RedisLog,
    Relay,
)
from unspool.relay.web import SSESettings, browser_client

from .answers import answer

STATIC = Path(__file__).parent / "static"
REDIS = os.environ.get("CHAT_REDIS")
WORKER = f"worker-{os.getpid()}"
LEASE = 2.0  # seconds until the others notice that a worker has died
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; connect-src 'self'",
    ),
    (b"referrer-policy", b"no-referrer"),  # the address of a chat lets everybody in who has it
    (b"x-content-type-options", b"nosniff"),
)
FOLD = Messages(format="openai-chat", tools={"show_map": None})
SETTINGS = SSESettings(retry=(0.2, 1.0), per_client=32)


# ---- what was asked ----


class MemoryChats:
    """The questions of each chat, in this process."""

    def __init__(self) -> None:
        self._chats: dict[str, list[str]] = {}

    async def prompts(self, chat: str) -> list[str]:
        """Return the questions of a chat."""
        return self._chats.get(chat, [])

    async def add(self, chat: str, prompt: str) -> int:
        """Add a question, and return its number."""
        prompts = self._chats.setdefault(chat, [])
        prompts.append(prompt)
        return len(prompts) - 1


class RedisChats:
    """The questions of each chat, for all workers."""

    KEEP = 24 * 3600  # seconds

    def __init__(self, url: str) -> None:
        from redis.asyncio import Redis  # without Redis, the package need not be there

        client: Any = Redis  # its methods have no types
        self._redis = client.from_url(url)

    async def prompts(self, chat: str) -> list[str]:
        """Return the questions of a chat."""
        return [prompt.decode() for prompt in await self._redis.lrange(f"chat:{chat}", 0, -1)]

    async def add(self, chat: str, prompt: str) -> int:
        """Add a question, and return its number."""
        count = await self._redis.rpush(f"chat:{chat}", prompt)
        await self._redis.expire(f"chat:{chat}", self.KEEP)
        return int(count) - 1


chats = MemoryChats() if REDIS is None else RedisChats(REDIS)


# ---- writing an answer ----

jobs: set[asyncio.Task[None]] = set()


def start(job: Coroutine[Any, Any, None]) -> None:
    """Run a job beside the requests."""
    task = asyncio.create_task(job)
    jobs.add(task)
    task.add_done_callback(jobs.discard)


async def prompt_of(name: str) -> str:
    """Return the question that a stream answers."""
    chat, _, number = name.rpartition(".")
    return (await chats.prompts(chat))[int(number)]


async def write(name: str, out: Publisher[Any]) -> None:
    """Write an answer to its end, from wherever it is."""
    prompt = await prompt_of(name)
    with suppress(CancelError, FencedError, HeldError, EndedError):  # it is written, or another worker writes it
        async with out:
            async for chunk, position in answer(prompt, out.position or 0):
                await out.send(chunk, position=position)


def take_over(name: str) -> None:
    """Go on with an answer whose worker has died."""
    start(write(name, relay.take_over(name, FOLD, owner=WORKER)))


relay = Relay(
    None if REDIS is None else RedisLog.from_url(REDIS, prefix="chat-app"),
    lease=LEASE,
    idle_check=LEASE / 2,
    on_stalled=take_over,
)


# ---- the application ----


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
    """Leave what is not finished to the other workers."""
    yield
    for job in list(jobs):
        job.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)
    await relay.aclose()


class Headers:
    """Adds the headers of every response. It touches no body, so streams pass as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self.app(scope, receive, dressed)


app = FastAPI(title="Chat", lifespan=lifespan)
app.add_middleware(Headers)


@app.exception_handler(GoneError)
async def gone(_: Request, error: Exception) -> Response:
    """Answer for an answer that is not kept any more."""
    return JSONResponse({"error": str(error)}, 410)


async def may_see(request: Request, name: str) -> bool:
    """Tell whether a client may see an answer: here, the address of the chat lets it in. Ask your own session."""
    chat, _, number = name.rpartition(".")
    return number.isdecimal() and int(number) < len(await chats.prompts(chat))


@app.get("/")
async def index() -> Response:
    """Begin a new chat."""
    return RedirectResponse(f"/chats/{secrets.token_urlsafe(16)}")


@app.get("/chats/{chat}")
async def page(chat: str) -> Response:
    """Return the page of a chat."""
    return FileResponse(STATIC / "chat.html")


@app.get("/static/relay.js")
async def client(request: Request) -> Response:
    """Return the browser client of the relay."""
    return browser_client(request)


@app.get("/static/{name}")
async def static(name: str) -> Response:
    """Return a file of the page."""
    if name not in {"chat.js", "chat.css"}:
        raise HTTPException(404)
    return FileResponse(STATIC / name)


@app.get("/chats/{chat}/turns")
async def turns(chat: str) -> dict[str, Any]:
    """Return the questions of a chat, for a page that opens it."""
    return {"prompts": await chats.prompts(chat), "is_durable": REDIS is not None}


@app.post("/chats/{chat}/turns", status_code=201)
async def ask(chat: str, prompt: Annotated[str, Body(embed=True, min_length=1, max_length=2000)]) -> dict[str, int]:
    """Ask a question. The answer goes on whether a page follows it or not."""
    if len(chat) > 64 or not chat.replace("-", "").replace("_", "").isalnum():
        raise HTTPException(404)
    number = await chats.add(chat, prompt)
    name = f"{chat}.{number}"
    await relay.create(name, FOLD)  # so that a page finds it, however late its worker begins
    start(write(name, relay.publish(name, FOLD, owner=WORKER)))
    return {"number": number}


@app.get("/chats/{chat}/turns/{number}/events")
async def events(chat: str, number: int, request: Request) -> Response:
    """Follow an answer."""
    return relay.sse(f"{chat}.{number}", request, authorize=may_see, fold=FOLD, client=chat, settings=SETTINGS)


@app.get("/chats/{chat}/turns/{number}")
async def status(chat: str, number: int, request: Request) -> dict[str, Any]:
    """Tell who writes an answer."""
    name = await allowed(request, chat, number)
    found = await relay.status(name)
    return {"status": found.status, "writer": found.owner if found.lease_left > 0 else None, "server": WORKER}


@app.post("/chats/{chat}/turns/{number}/cancel", status_code=202)
async def cancel(chat: str, number: int, request: Request) -> None:
    """Stop an answer. To leave the page stops nothing."""
    await relay.cancel(await allowed(request, chat, number), "stopped on the page")


async def allowed(request: Request, chat: str, number: int) -> str:
    """Return the name of a stream that the client may see."""
    name = f"{chat}.{number}"
    if not await may_see(request, name):
        raise HTTPException(403)
    return name
