"""The sides, and the processes that are measured: each gets one JSON object as its order, and answers in JSON lines."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .redis import Redis

__all__ = ["ASSISTANT", "BRIDGE", "DURABLE", "OPENAI", "RESUMABLE", "SIDES", "UNSPOOL", "FailedError", "Part", "Side"]
__all__ += ["part", "store", "why_not"]


_HERE: Final = Path(__file__).parent
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="unspool-bench-")


class Side(NamedTuple):
    """One of those that are compared: its file in this folder, and the packages that it needs."""

    name: str
    file: str
    npm: tuple[str, ...] = ()
    python: str = ""
    has_server: bool = False
    """It has a server of its own in the place of Redis."""

    @property
    def is_node(self) -> bool:
        return self.file.endswith(".mjs")

    @property
    def folder(self) -> Path:
        """Each side of Node has its own, because they need different versions of the same packages."""
        return Path(_FOLDER.name) / self.name if self.is_node else _HERE.parent.parent


UNSPOOL: Final = Side("unspool", "ours.py")
RESUMABLE: Final = Side("resumable-stream", "resumable.mjs", npm=("resumable-stream@2.2.13", "redis@4.7.1"))
ASSISTANT: Final = Side("assistant-stream", "assistant.mjs", npm=("assistant-stream@0.3.44", "redis@5.12.1"))
BRIDGE: Final = Side("plain bridge", "bridge.py")
DURABLE_PACKAGES: Final = ("@durable-streams/server@0.3.7", "@durable-streams/client@0.2.7")
DURABLE: Final = Side("durable-streams", "durable.mjs", npm=DURABLE_PACKAGES, has_server=True)
OPENAI: Final = Side("openai-python", "openai_resume.py", python="openai")
SIDES: Final = (UNSPOOL, RESUMABLE, ASSISTANT, BRIDGE, DURABLE, OPENAI)

INSTALL: Final = ("install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
INSTALL_PATIENCE: Final = 180
PATIENCE: Final = 240.0


@cache
def why_not(side: Side) -> str:
    """Install the packages of npm that a side needs. Return the reason if the side cannot be had."""
    if side.python and find_spec(side.python) is None:
        return f"the package {side.python} is not installed"
    if not side.is_node:
        return ""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "there is no Node here"
    side.folder.mkdir()
    for file in (side.file, "roles.mjs"):
        shutil.copy(_HERE / file, side.folder)
    if not side.npm:
        return ""
    try:
        done = subprocess.run([npm, *INSTALL, *side.npm], cwd=side.folder, timeout=INSTALL_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return "npm could not install it in time"
    return "npm cannot install it here" if done.returncode != 0 else ""


class FailedError(Exception):
    """A process of the benchmark has ended before it said what it was asked for."""


class Part:
    """One process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.is_refused = False

    async def said(self, *keys: str, patience: float = PATIENCE) -> dict[str, Any]:
        """Return the next line of the process that has one of these keys."""
        assert self._process.stdout is not None
        async with asyncio.timeout(patience):
            while line := await self._process.stdout.readline():
                answer: dict[str, Any] = json.loads(line)
                if not answer.keys().isdisjoint(keys):
                    return answer
        raise FailedError("a process of the benchmark has ended; see above")

    def go_on(self) -> None:
        """Let the process do the next thing."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")

    async def kill(self) -> None:
        """End the process as a crash does."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def part(side: Side, **orders: object) -> AsyncIterator[Part]:
    """Start a process of one side; it ends with the block."""
    file = Path(side.file)
    command = ["node", file.name] if side.is_node else [sys.executable, "-m", f"bench.relay.{file.stem}"]
    arguments = [*command, json.dumps(orders)]
    process = await asyncio.create_subprocess_exec(*arguments, cwd=side.folder, stdin=PIPE, stdout=PIPE, limit=1 << 26)
    each = Part(process)
    try:
        yield each
    finally:
        await each.kill()


@asynccontextmanager
async def store(side: Side, redis: Redis | None) -> AsyncIterator[str | None]:
    """The URL at which the processes of a side meet."""
    if not side.has_server:
        yield None if redis is None else redis.url
        return
    async with part(side, role="serve") as server:
        yield (await server.said("url"))["url"]
