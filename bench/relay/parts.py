"""The processes that are measured: each is told what to do by one JSON object, and answers in JSON lines."""

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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["OURS", "PACKAGES", "PEER", "Part", "part", "why_no_peer"]

OURS: Final = "unspool"
PEER: Final = "resumable-stream"
PACKAGES: Final = ("resumable-stream@2.2.13", "redis@4.7.1")
INSTALL: Final = ("install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
INSTALL_PATIENCE: Final = 180
PATIENCE: Final = 240.0

_HERE: Final = Path(__file__).parent
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="unspool-bench-")


@cache
def why_no_peer() -> str:
    """Install the peer into a temporary folder. Return the reason if it cannot be had."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "there is no Node here"
    try:
        done = subprocess.run([npm, *INSTALL, *PACKAGES], cwd=_FOLDER.name, timeout=INSTALL_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return "npm could not install it in time"
    if done.returncode != 0:
        return "npm cannot install it here"
    shutil.copy(_HERE / "resumable.mjs", _FOLDER.name)
    return ""


class Part:
    """One process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def said(self, *keys: str) -> dict[str, Any]:
        """Return the next line of the process that has one of these keys."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while line := await self._process.stdout.readline():
                answer: dict[str, Any] = json.loads(line)
                if not answer.keys().isdisjoint(keys):
                    return answer
        raise RuntimeError("a process of the benchmark has failed; see above")

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
async def part(side: str, **orders: object) -> AsyncIterator[Part]:
    """Start a process of one side; it ends with the block."""
    if side == PEER:
        command, folder = ["node", "resumable.mjs"], Path(_FOLDER.name)
    else:
        command, folder = [sys.executable, "-m", "bench.relay.ours"], _HERE.parent.parent
    arguments = [*command, json.dumps(orders)]
    process = await asyncio.create_subprocess_exec(*arguments, cwd=folder, stdin=PIPE, stdout=PIPE, limit=1 << 26)
    each = Part(process)
    try:
        yield each
    finally:
        await each.kill()
