"""A real Redis on a free loopback port, in a temporary folder, and a proxy in front of it that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

BINARY = shutil.which("redis-server")
needs_redis = pytest.mark.skipif(BINARY is None, reason="redis-server is not installed")


class RedisServer:
    """A server process that can be killed, and started again with its files."""

    def __init__(self, *options: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="unspool-redis-"))
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        fixed = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        log = ["--logfile", str(self.folder / "log")]
        self._process = subprocess.Popen([str(BINARY), *fixed, *log, *self._options])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as link:
                link.sendall(b"PING\r\n")
                if link.recv(64).startswith(b"+PONG"):
                    return
            time.sleep(0.02)
        raise RuntimeError("redis-server does not answer")

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def cut_append_only_file(self, size: int) -> int:
        """Cut bytes off the end of the newest append-only file, as a lost page would. Return how many were cut."""
        files = sorted(self.folder.glob("appendonlydir/*.incr.aof"), key=lambda file: file.stat().st_mtime)
        if not files:
            return 0
        cut = min(size, files[-1].stat().st_size)
        with files[-1].open("r+b") as file:
            file.truncate(files[-1].stat().st_size - cut)
        return cut

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def redis_server(*options: str) -> Iterator[RedisServer]:
    server = RedisServer(*options)
    try:
        yield server
    finally:
        server.close()


class Proxy:
    """Passes bytes between clients and a server, until it is told to drop answers or to cut connections."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self.port = 0
        self.drop_answers = 0
        """So many answers are thrown away, each with its connection."""
        self.dropped = 0
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, upstream_writer}
        requests = asyncio.create_task(self._pump(reader, upstream_writer, is_answer=False))
        answers = asyncio.create_task(self._pump(upstream_reader, writer, is_answer=True))
        self._tasks |= {requests, answers}
        await asyncio.wait((requests, answers), return_when=asyncio.FIRST_COMPLETED)
        for task in (requests, answers):
            task.cancel()
            self._tasks.discard(task)
        for each in (writer, upstream_writer):
            each.close()
            self._writers.discard(each)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if is_answer and self.drop_answers > 0:
                    self.drop_answers -= 1
                    self.dropped += 1
                    return
                writer.write(data)
                await writer.drain()

    def cut(self) -> None:
        """Close all connections."""
        for writer in list(self._writers):
            writer.close()

    async def aclose(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.sleep(0.01)
