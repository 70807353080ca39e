"""The Redis of a run: a server of its own on loopback, and a connection that looks at it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from redis.asyncio import Redis as Client

from tests.support.redis_server import BINARY, redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Redis", "started"]


@final
class Redis:
    """A server, as the benchmarks see it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client: Any = Client.from_url(url)

    async def version(self) -> str:
        return str((await self._client.info("server"))["redis_version"])

    async def sent_bytes(self) -> int:
        """Return the bytes that the server had sent before it answered this."""
        return int((await self._client.info("stats"))["total_net_output_bytes"])

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
