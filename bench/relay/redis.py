"""The servers of a run: on loopback, each of its own, and a connection that looks at one of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from redis.asyncio import Redis as Client

from tests.support.redis_server import BINARY, redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALWAYS", "Look", "Redis", "redis_server", "started"]

ALWAYS: Final = ("--appendonly", "yes", "--appendfsync", "always")
"""Options with which an acknowledged command survives the server's death."""
OWN: Final = ("info", "scan", "memory|usage", "flushall", "client|list")
"""The commands of this module."""


class Look(NamedTuple):
    """What the server has done so far."""

    commands: Counter[str]
    to_redis: int
    from_redis: int


@final
class Redis:
    """A server, as the benchmarks see it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client: Any = Client.from_url(url)

    async def version(self) -> str:
        return str((await self._client.info("server"))["redis_version"])

    async def look(self) -> Look:
        """Ask the server. The answer does not count its own bytes."""
        found = await self._client.info("all")
        calls = {key.removeprefix("cmdstat_"): one["calls"] for key, one in found.items() if key.startswith("cmdstat_")}
        commands = {name: number for name, number in calls.items() if name not in OWN}
        return Look(Counter(commands), found["total_net_input_bytes"], found["total_net_output_bytes"])

    async def emptied(self) -> None:
        """Delete all keys, when this is the only connection."""
        async with asyncio.timeout(10):
            while (await self.connections())[1]:
                await asyncio.sleep(0.05)
        await self._client.flushall()

    async def key_memory(self) -> int:
        """Return the bytes of all keys with their values."""
        return sum([await self._client.memory_usage(key, samples=0) or 0 async for key in self._client.scan_iter()])

    async def connections(self) -> tuple[int, int]:
        """Return the bytes and the number of all connections but this one."""
        own = await self._client.client_id()
        others = [each for each in await self._client.client_list() if int(each["id"]) != own]
        return sum(int(each["tot-mem"]) for each in others), len(others)

    async def cut(self, kind: str) -> None:
        """Close the connections of this kind, except this one."""
        await self._client.execute_command("CLIENT", "KILL", "TYPE", kind)

    async def aclose(self) -> None:
        await self._client.aclose()


@contextmanager
def started() -> Iterator[str | None]:
    """Start a server without persistence. Its URL is None where there is no Redis."""
    if BINARY is None:
        yield None
        return
    with redis_server() as server:
        yield server.url
