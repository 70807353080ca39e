"""A local server for the streams of one process: `unspool relay publish` without Redis."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final, final

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from ...relay.web import browser_client
from .local_server import is_local

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ...relay import Relay

__all__ = ["RelayServer"]

BACKLOG: Final = 64


@final
class RelayServer(uvicorn.Server):
    """Serves the streams of a relay on this machine, at ``/streams/NAME``."""

    def __init__(self, relay: Relay, port: int = 0) -> None:
        self._relay: Final = relay
        try:
            self._socket: Final = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"127.0.0.1, port {port}") from None
        routes = [Route("/streams/{name}", self._stream), Route("/relay.js", self._client)]
        app = Starlette(routes=routes)
        super().__init__(
            uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=1)
        )

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until `should_exit` is set."""
        await super().serve([self._socket] if sockets is None else sockets)

    async def _stream(self, request: Request) -> Response:
        return self._relay.sse(request.path_params["name"], request, authorize=_is_local)

    async def _client(self, request: Request) -> Response:
        return browser_client(request)


def _is_local(request: Request, name: str) -> bool:
    return is_local(request.headers.getlist("host"), request.headers.get("origin"))
