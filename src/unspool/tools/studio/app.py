"""The application: the routes of the studio. It serves its own files only; `guard` decides which requests reach it."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from ... import UnspoolError, __version__
from ...llm._formats.registry import FORMATS
from ..viewer.inputs import InputKind
from ..viewer.recordings import SAMPLES
from .aside import HAS_THREADS, aside
from .cards import sample_cards
from .guard import Guard
from .requests import json_object, order_of, query_of, schema_of, upload_of
from .sessions import NamedType, NoRoomError, Sessions, compared
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Scope

    from .guard import Door
    from .requests import Order
    from .sessions import Entry

__all__ = ["Studio"]

TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "ico": "image/x-icon",
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
}
"""The content types of the static files, by the end of their names."""

UPLOAD: Final = "application/octet-stream"
CLIENT: Final = "relay.js"
"""The browser client of the relay, which the page follows sessions with."""


def answer(value: object, status: int = 200) -> Response:
    """Return a JSON response in ASCII: a text may hold half a surrogate pair, which UTF-8 cannot encode."""
    return Response(json.dumps(value, separators=(",", ":")), status, media_type="application/json")


@final
class Studio:
    """The sessions, their followers, and the application that serves both.

    Without a door there is no guard: only the page itself can send requests, as in the playground.
    """

    def __init__(
        self,
        door: Door | None,
        settings: Settings | None = None,
        abort: Callable[[Scope], None] = lambda _: None,
        admit: Callable[[Scope], None] = lambda _: None,
        type: NamedType | None = None,
    ) -> None:
        self.settings: Final = settings or Settings()
        self.sessions: Final = Sessions(self.settings, type)
        self._abort: Final = abort
        self._uploads = asyncio.Semaphore(self.settings.uploads)
        self._small_uploads = asyncio.Semaphore(self.settings.uploads)
        self.opened: str | None = None
        """The id of the session that was opened on the command line."""
        self._static = {entry.name: entry for entry in (files(__package__ or "") / "static").iterdir()}
        self._static[CLIENT] = files("unspool.relay") / "static" / CLIENT
        routes = [
            Route("/", self._index),
            Route("/static/{name}", self._file),
            Route("/api/info", self._info),
            Route("/api/samples", self._samples),
            Route("/api/sessions", self._create, methods=["POST"]),
            Route("/api/sessions", self._list),
            Route("/api/sessions/{id}", self._delete, methods=["DELETE"]),
            Route("/api/sessions/{id}/schema", self._demand, methods=["PUT"]),
            Route("/api/sessions/{id}/compare/{other}", self._compare),
            Route("/api/sessions/{id}/stream", self._stream),
            Route("/api/sessions/{id}/value", self._value),
            Route("/api/sessions/{id}/view", self._view),
            Route("/api/sessions/{id}/waterfall", self._waterfall),
        ]
        handlers: Any = {
            HTTPException: _refused,
            UnspoolError: _unfit,
            NoRoomError: _full,
            ClientDisconnect: _left,
            Exception: _failed,
        }
        inner = Starlette(routes=routes, exception_handlers=handlers)
        inner.router.redirect_slashes = False
        self.app: Final[ASGIApp] = inner if door is None else Guard(inner, door, self.settings, admit)

    async def open(self, order: Order) -> Entry:
        """Create a session."""
        if order.source is not None:
            return await self.sessions.follow(order.title, order.source, order.options)
        if order.options.in_background:
            return await self.sessions.load_in_background(order.title, order.data, order.options)
        return await self.sessions.load(order.title, order.data, order.options)

    async def let_go(self) -> None:
        """End the responses of all followers, because the server stops."""
        await self.sessions.relay.aclose()

    async def close(self) -> None:
        """End all sessions and their live sources."""
        await self.sessions.close()

    # The page.

    async def _index(self, request: Request) -> Response:
        return await self._served("index.html")

    async def _file(self, request: Request) -> Response:
        return await self._served(request.path_params["name"])

    async def _served(self, name: str) -> Response:
        """Return a file of the package. The name is a dictionary key, so it cannot lead to another folder."""
        found = self._static.get(name)
        media = TYPES.get(name.rpartition(".")[2])
        if found is None or media is None or not found.is_file():
            raise HTTPException(404, "no such file")
        return Response(await aside(found.read_bytes), headers={"Content-Type": media})

    # Sessions.

    async def _info(self, request: Request) -> Response:
        opened, relay = self.opened, self.sessions.relay
        return answer(
            {
                "version": __version__,
                "samples": [
                    {"name": name, "title": title, "kind": str(InputKind.RECORDING)} for name, title in SAMPLES.items()
                ],
                "limits": {"bytes": self.settings.body, "sessions": self.settings.sessions},
                "formats": list(FORMATS),
                "has_judge": find_spec("jsonschema_rs") is not None,  # without it, schemas have fewer keywords
                "has_urls": HAS_THREADS,  # an address is read in a thread
                "live": opened if opened is not None and self.sessions.find(opened) is not None else None,
                "streams": {"open": relay.followers(), "evicted": int(relay.metrics["evicted"])},
            }
        )

    async def _samples(self, request: Request) -> Response:
        return answer({"samples": await aside(sample_cards)})

    async def _list(self, request: Request) -> Response:
        return answer({"sessions": self.sessions.listed})

    async def _create(self, request: Request) -> Response:
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media not in (UPLOAD, "application/json"):
            raise HTTPException(415, f"the body must be application/json or {UPLOAD}")
        async with self._places(request):
            body = await request.body()
            if media == UPLOAD:
                order = upload_of(body, request.query_params)
            else:
                order = await aside(order_of, body)
            entry = await self.open(order)
        return answer({"id": entry.session.id}, 201)

    async def _delete(self, request: Request) -> Response:
        self._entry(request)
        await self.sessions.delete(request.path_params["id"])
        return Response(status_code=204)

    async def _demand(self, request: Request) -> Response:
        entry = self._entry(request)
        async with self._places(request):
            schema = schema_of(await aside(json_object, await request.body()))
            await aside(entry.session.demand, schema)
        await self.sessions.renew(entry, with_waterfall=True)
        return Response(status_code=204)

    async def _view(self, request: Request) -> Response:
        entry = self._entry(request)
        query = query_of(request.query_params)
        # One view per session at a time: waiting requests hold no thread, and a request whose client has left is
        # dropped before its view is computed.
        async with entry.viewing:
            if await request.is_disconnected():
                raise ClientDisconnect
            view = await aside(entry.session.view, query)
        return answer(view)

    async def _waterfall(self, request: Request) -> Response:
        entry = self._entry(request)
        query = query_of(request.query_params)
        async with entry.viewing:
            return answer(await aside(entry.session.waterfall, query))

    async def _value(self, request: Request) -> Response:
        entry = self._entry(request)
        query = query_of(request.query_params)
        async with entry.viewing:
            return answer({"text": await aside(entry.session.value, query)})

    async def _compare(self, request: Request) -> Response:
        one, two = self._entry(request), self._entry(request, "other")
        return answer(await aside(compared, one.session, two.session))

    async def _stream(self, request: Request) -> Response:
        entry = self._entry(request)
        from ...relay.web import SSESettings  # the studio starts faster without it

        relay, settings = self.sessions.relay, self.settings
        if relay.followers() >= settings.streams:
            raise HTTPException(429, "too many clients follow sessions already")
        retry = settings.retry / 1000
        return relay.sse(
            entry.session.id,
            request,
            authorize=_admitted,
            settings=SSESettings(keep_alive=settings.keep_alive, stall=settings.stall, retry=(retry, retry)),
            abort=lambda request: self._abort(request.scope),
        )

    def _places(self, request: Request) -> asyncio.Semaphore:
        """Return the places for a body of this size. A body that does not tell its size counts as a large one."""
        length = request.headers.get("content-length", "")
        is_small = length.isascii() and length.isdigit() and len(length) <= 12 and int(length) <= self.settings.small
        return self._small_uploads if is_small else self._uploads

    def _entry(self, request: Request, name: str = "id") -> Entry:
        entry = self.sessions.find(request.path_params[name])
        if entry is None:
            raise HTTPException(404, "no such session; the oldest sessions are dropped when there are too many")
        return entry


def _admitted(request: Request, name: str) -> bool:
    """Return True: the guard has let the request in, and every session is of its user."""
    return True


# Starlette runs the plain functions among its handlers in threads, which are not there everywhere.


async def _refused(request: Request, error: HTTPException) -> Response:
    response = answer({"error": error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _unfit(request: Request, error: UnspoolError) -> Response:
    return answer({"error": str(error)}, 422)


async def _full(request: Request, error: NoRoomError) -> Response:
    return answer({"error": "every session is in use; close one"}, 429)


async def _left(request: Request, error: ClientDisconnect) -> Response:
    return Response(status_code=400)  # the client has left


async def _failed(request: Request, error: Exception) -> Response:
    return answer({"error": "internal error; see the terminal"}, 500)
