"""One GET of a web address, read while it comes: by a thread that blocks, and that another one can wake.

It opens nothing but http and https, also where a server points elsewhere: the usual opener knows files, too.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING, Any, final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from ..._version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPResponse

__all__ = ["Fetch", "is_address"]


def is_address(text: str) -> bool:
    """Whether this is an address that can be read."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


class _Redirects(HTTPRedirectHandler):
    """To other web addresses only."""

    max_redirections = 5

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        if not is_address(newurl):
            fp.close()
            raise OSError("the server points to something that is no web address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@final
class Fetch:
    """One request. `read` and `close` are for one thread; `stop` is for another."""

    def __init__(self, url: str, connect: float, silence: float) -> None:
        self._url = url
        self._connect = connect
        self._silence = silence
        self._response: HTTPResponse | None = None
        self._sockets: list[socket.socket] = []
        self._is_over = False

    def read(self, most: int) -> bytes:
        """What came, up to so many bytes; nothing at the end. Raises `OSError` with words for the user."""
        if self._response is None:
            self._response = self._open()
        return self._response.read1(most)

    def stop(self) -> None:
        """Wake whoever reads."""
        self._is_over = True
        for used in self._sockets:
            with suppress(OSError):
                used.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """For the thread that reads, when it has done so."""
        if self._response is not None:
            self._response.close()
        for used in self._sockets:
            used.close()

    def _open(self) -> HTTPResponse:
        opener = OpenerDirector()
        for handler in (
            ProxyHandler(),
            UnknownHandler(),
            _plain(self._connected),
            _secure(self._connected),
            HTTPDefaultErrorHandler(),
            _Redirects(),
            HTTPErrorProcessor(),
        ):
            opener.add_handler(handler)
        headers = {"User-Agent": f"unspool/{__version__}", "Accept": "text/event-stream, application/json, */*"}
        try:
            response: HTTPResponse = opener.open(Request(self._url, headers=headers), timeout=self._connect)  # noqa: S310
        except HTTPError as error:
            error.close()
            raise OSError(f"the server answered with status {error.code}") from None
        for used in self._sockets:
            with suppress(OSError):
                used.settimeout(self._silence)
        return response

    def _connected(self, used: socket.socket) -> None:
        self._sockets.append(used)
        if self._is_over:
            raise OSError("nobody waits for it any more")


def _plain(connected: Callable[[socket.socket], None]) -> HTTPHandler:
    class Connection(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            connected(self.sock)

    class Handler(HTTPHandler):
        def http_open(self, req: Request) -> Any:
            return self.do_open(Connection, req)

    return Handler()


def _secure(connected: Callable[[socket.socket], None]) -> HTTPSHandler:
    class Connection(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            connected(self.sock)

    class Handler(HTTPSHandler):
        def https_open(self, req: Request) -> Any:
            return self.do_open(Connection, req)

    return Handler()
