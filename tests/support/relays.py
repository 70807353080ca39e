"""What the tests of the relay share: sources, folds, followers that collect, and both engines."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.redis_server import BINARY, RedisServer
from unspool.relay import End, Follower, MemoryLog, RedisLog, Relay, Snapshot, Stalled, Update

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from unspool.relay import Fold, RelayLog

QUICK: dict[str, Any] = {"linger": 0.0, "idle_check": 0.05, "hub_idle": 0.05, "lease": 600.0}
"""Settings with which the tests need not wait. No lease runs out by itself, however slow the machine is."""
PATIENCE = 60.0
"""Seconds that a test waits for what must come."""


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    """One server for all tests of a worker; each log has a prefix of its own."""
    if BINARY is None:
        pytest.skip("redis-server is not installed")
    server = RedisServer()
    yield server
    server.close()


LOGS = 0


@pytest.fixture(params=["memory", "redis"])
def make_log(request: pytest.FixtureRequest) -> Callable[[], RelayLog]:
    """Makes connections to one and the same log, in memory and in Redis."""
    global LOGS
    LOGS += 1
    if request.param == "memory":
        log = MemoryLog()
        return lambda: log
    url, prefix = request.getfixturevalue("redis").url, f"t{LOGS}"
    return lambda: RedisLog.from_url(url, prefix=prefix, block=0.5)


def chunks(words: int, start: int = 0) -> list[dict[str, Any]]:
    """Chunks of chat completions, one word each, with the reason to stop at the end."""
    pieces: list[dict[str, Any]] = [
        {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": f"w{number} "}}]}
        for number in range(start, words)
    ]
    return [*pieces, {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


def words(count: int) -> str:
    return "".join(f"w{number} " for number in range(count))


class Seen:
    """What a follower was shown, checked step by step: no gap, nothing twice, one end."""

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.state: Any = None
        self.cursor: Any = None
        self.status: str | None = None
        self.stalls = 0
        self.snapshots: list[str] = []

    @staticmethod
    def of(step: Any) -> Seen:
        """What a follower has seen that was shown this step."""
        seen = Seen()
        seen.take(step)
        return seen

    def take(self, step: Any) -> None:
        assert self.status is None, "a step behind the end"
        if isinstance(step, Snapshot):
            self.snapshots.append(step.reason)
        elif isinstance(step, Update):
            assert step.cursor.offset == self.cursor.offset + 1
        elif isinstance(step, Stalled):
            self.stalls += 1
        else:
            assert isinstance(step, End)
            self.status = step.status
        self.steps.append(step)
        self.cursor, self.state = step.cursor, step.state


async def collect(follower: Follower[Any], seen: Seen | None = None, delay: float = 0.0) -> Seen:
    """Read to the end of the stream."""
    seen = Seen() if seen is None else seen
    async for step in follower:
        seen.take(step)
        if delay:
            await asyncio.sleep(delay)
    return seen


@contextlib.asynccontextmanager
async def relays(make_log: Callable[[], RelayLog], count: int = 1, **settings: Any) -> AsyncIterator[list[Relay]]:
    """Relays on one log, as if they were in several processes."""
    made = [Relay(make_log(), **{**QUICK, **settings}) for _ in range(count)]
    try:
        yield made
    finally:
        for relay in made:
            await relay.aclose()


async def expire_lease(log: RelayLog, name: str) -> None:
    """Let the lease of a stream run out now."""
    if isinstance(log, MemoryLog):
        log._streams[name].until = 0.0
        return
    assert isinstance(log, RedisLog)
    await log._writing(name, ("HSET", log._soft(name), "until", "0"))


async def expire_in(log: RelayLog, name: str, seconds: float) -> None:
    """Let a stream expire in this time; with 0, now."""
    if isinstance(log, MemoryLog):
        log._streams[name].expires = time.monotonic() + seconds
        return
    assert isinstance(log, RedisLog)
    await log._writing(name, *[("PEXPIRE", key, round(seconds * 1000)) for key in (log._soft(name), log._key(name))])


async def lasts(log: RelayLog, name: str) -> float:
    """Return the seconds until a stream expires."""
    if isinstance(log, MemoryLog):
        return log._streams[name].expires - time.monotonic()
    assert isinstance(log, RedisLog)
    (left,) = await log._reading(name, ("PTTL", log._key(name)))
    return float(left) / 1000


async def kill(task: asyncio.Task[Any]) -> None:
    """End a task without a word to the log, as kill -9 ends a process."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


class Worker:
    """A publisher in a task of its own that dies without releasing its lease."""

    def __init__(self, relay: Relay, name: str, fold: Fold[Any] | None = None, *, resume: bool = False) -> None:
        self.publisher: Any = relay.take_over(name, fold) if resume else relay.publish(name, fold)
        self._open = False

    async def __aenter__(self) -> Any:
        self._open = True
        return await self.publisher.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        """Stop both tasks as a killed process would: nothing is written, and the lease stays."""
        await self.publisher._stop()


async def until(condition: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(patience):
        while not condition():
            await asyncio.sleep(0.005)
