"""Live sources of a session: a web address, the output of a command, or an open file.

A source yields bytes as they arrive and reads at most a few blocks ahead. It yields None after a pause. Leaving the
loop, or cancelling it, ends the source: its connection or its process.

`Fetch` opens http and https addresses only, also after a redirect; the standard opener would open files, too.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, Protocol, final
from urllib.error import HTTPError, URLError
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

from ... import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from http.client import HTTPResponse

    from .settings import Settings

__all__ = ["Address", "Command", "Descriptor", "Fetch", "Source", "is_address"]

BLOCK: Final = 64 * 1024
AHEAD: Final = 4  # blocks
GRACE: Final = 2.0  # seconds that a process has to exit


class Source(Protocol):
    """An input that is read while it arrives."""

    def arrivals(self, settings: Settings, /) -> AsyncGenerator[bytes | None]:
        """Yield the bytes in order, and None after a pause. Raises `OSError` with a message for the user."""
        ...


@final
class Command:
    """The standard output of a command, started without a shell in its own process group."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    async def arrivals(self, settings: Settings) -> AsyncGenerator[bytes | None]:
        process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            limit=BLOCK,
            start_new_session=True,
        )
        assert process.stdout is not None
        reading: asyncio.Task[bytes] | None = None
        try:
            while True:
                reading = reading or asyncio.create_task(process.stdout.read(BLOCK))
                done, _ = await asyncio.wait((reading,), timeout=settings.patience)
                if not done:
                    yield None
                elif data := reading.result():
                    reading = None
                    yield data
                else:
                    break
            status = await process.wait()
            if status:
                raise OSError(f"the command ended with status {status}")
        finally:
            if reading is not None:
                reading.cancel()
                await asyncio.wait((reading,))
            if process.returncode is None:
                await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process and its children. Reading and dropping the rest of its output lets the pipe close."""
    assert process.stdout is not None
    for is_asked in (True, False):
        with suppress(ProcessLookupError):
            _tell_to_end(process, is_asked)
        try:
            async with asyncio.timeout(GRACE):
                while await process.stdout.read(BLOCK):
                    pass
                await process.wait()
        except TimeoutError:
            continue
        return


def _tell_to_end(process: asyncio.subprocess.Process, is_asked: bool) -> None:
    if sys.platform == "win32":  # without process groups
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGTERM if is_asked else signal.SIGKILL)


@final
class _Pump:
    """A thread that blocks in reads and passes the bytes to the event loop, at most a few blocks ahead.

    The thread is a daemon, so a read that never returns does not keep the program running.
    """

    def __init__(self, read: Callable[[], bytes], close: Callable[[], None] = lambda: None) -> None:
        self._read = read
        self._close = close
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | OSError] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        self._is_over = False
        threading.Thread(target=self._run, daemon=True, name="unspool-live").start()

    def _run(self) -> None:
        came: bytes | OSError = b"..."
        while came and not isinstance(came, OSError) and not self._is_over:
            try:
                came = self._read()
            except OSError as error:
                came = error
            except (HTTPException, ValueError, AttributeError) as error:  # `stop` has shut the connection down
                came = OSError(f"the connection broke: {type(error).__name__}")
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._queue.put_nowait, came)
            self._room.acquire()
        self._close()

    async def arrivals(self, patience: float) -> AsyncGenerator[bytes | None]:
        while True:
            try:
                async with asyncio.timeout(patience):
                    came = await self._queue.get()
            except TimeoutError:
                yield None
                continue
            self._room.release()
            if isinstance(came, OSError):
                raise came
            if not came:
                return
            yield came

    def stop(self) -> None:
        self._is_over = True
        self._room.release()


@final
class Descriptor:
    """An open file, such as standard input."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def arrivals(self, settings: Settings) -> AsyncGenerator[bytes | None]:
        pump = _Pump(lambda: os.read(self._descriptor, BLOCK))
        try:
            async for data in pump.arrivals(settings.patience):
                yield data
        finally:
            pump.stop()


@final
class Address:
    """The body that a server sends for a GET request."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def arrivals(self, settings: Settings) -> AsyncGenerator[bytes | None]:
        fetch = Fetch(self._url, settings.connect, settings.silence)
        pump = _Pump(lambda: fetch.read(BLOCK), fetch.close)
        try:
            async for data in pump.arrivals(settings.patience):
                yield data
        finally:
            pump.stop()
            fetch.stop()


# A web address.


def is_address(text: str) -> bool:
    """Whether this is an http or https address."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


class _Redirects(HTTPRedirectHandler):
    """Follows redirects to http and https addresses only."""

    max_redirections = 5

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        if not is_address(newurl):
            fp.close()
            raise OSError("the server redirects to an address that is not http or https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@final
class Fetch:
    """One GET request. One thread calls `read` and `close`, and blocks; another one calls `stop`."""

    def __init__(self, url: str, connect: float, silence: float) -> None:
        self._url = url
        self._connect = connect
        self._silence = silence
        self._response: HTTPResponse | None = None
        self._sockets: list[socket.socket] = []
        self._is_over = False

    def read(self, most: int) -> bytes:
        """Return at most `most` bytes; none at the end. Raises `OSError` with a message for the user."""
        if self._response is None:
            self._response = self._open()
        return self._response.read1(most)

    def stop(self) -> None:
        """Wake the thread that reads."""
        self._is_over = True
        for used in self._sockets:
            with suppress(OSError):
                used.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Release the connection; for the thread that reads."""
        if self._response is not None:
            self._response.close()
        for used in self._sockets:
            used.close()

    def _open(self) -> HTTPResponse:
        opener = OpenerDirector()
        for handler in (
            ProxyHandler(),
            UnknownHandler(),
            *_handlers(self._connected),
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
        except URLError as error:
            raise OSError(_unreachable(self._url, error.reason)) from None
        for used in self._sockets:
            with suppress(OSError):
                used.settimeout(self._silence)
        return response

    def _connected(self, used: socket.socket) -> None:
        self._sockets.append(used)
        if self._is_over:
            raise OSError("the request was cancelled")


def _unreachable(url: str, reason: object) -> str:
    """Return why an address cannot be reached, as a sentence for the user."""
    why = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return f"cannot connect to {urlsplit(url).netloc}: {why[:1].lower()}{why[1:]}"


def _handlers(connected: Callable[[socket.socket], None]) -> tuple[HTTPHandler, HTTPSHandler]:
    """Return handlers for http and https that report the socket of each connection."""

    class PlainConnection(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            connected(self.sock)

    class SecureConnection(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            connected(self.sock)

    class PlainHandler(HTTPHandler):
        def http_open(self, req: Request) -> Any:
            return self.do_open(PlainConnection, req)

    class SecureHandler(HTTPSHandler):
        def https_open(self, req: Request) -> Any:
            return self.do_open(SecureConnection, req)

    return PlainHandler(), SecureHandler()
