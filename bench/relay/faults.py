"""Faults, and what followers see of them."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from .loads import orders
from .parts import RESUMABLE, UNSPOOL, FailedError, part
from .redis import ALWAYS, Redis, redis_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tests.support.redis_server import RedisServer

    from .loads import Sizes
    from .parts import Part, Side

__all__ = ["KEEP", "RATE", "Fate", "Stage", "Trials", "fates"]

RATE: Final = 200
KEEP: Final = 256
"""The entries that the plain bridge keeps."""
CUTS: Final = 5
BETWEEN_CUTS: Final = 0.1
AWAY: Final = 0.5
"""So long in seconds Redis is away after its death."""


class Fate(NamedTuple):
    """What a follower has seen. `noticed` is the time in seconds after which it was told that something is wrong."""

    lost: int
    doubled: int
    is_stuck: bool
    noticed: float | None
    remark: str

    @property
    def is_right(self) -> bool:
        return not (self.lost or self.doubled or self.is_stuck)


async def fates(side: Side, sizes: Sizes) -> dict[str, Fate]:
    """Return what follows from each fault, on servers of its own that keep what they have acknowledged."""
    with redis_server(*ALWAYS) as calm, redis_server(*ALWAYS) as rough:
        (normal, late, killed, new, two), (cut, restarted) = await asyncio.gather(
            on_a_calm_server(Trials(side, calm.url, sizes)),
            on_a_rough_server(Trials(side, rough.url, sizes), side, rough),
        )
    return {
        "nothing happens": normal,
        f"its connections to Redis are cut {CUTS} times": cut,
        "the producer is killed, a follower is attached": killed,
        "a new follower comes after that": new,
        "a follower comes after the end": late,
        "a second producer starts on the same stream": two,
        f"Redis is killed, and is back after {AWAY} s": restarted,
    }


async def on_a_calm_server(trials: Trials) -> tuple[Fate, Fate, Fate, Fate, Fate]:
    return *await trials.undisturbed(), *await trials.killed_producer(), await trials.two_producers()


async def on_a_rough_server(trials: Trials, side: Side, server: RedisServer) -> tuple[Fate, Fate]:
    redis = Redis(server.url)

    async def cut() -> None:
        for _ in range(CUTS):
            # All connections are cut, but of resumable-stream those alone on which its pieces arrive.
            await redis.cut("pubsub" if side is RESUMABLE else "normal")
            await asyncio.sleep(BETWEEN_CUTS)

    async def restart() -> None:
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(AWAY)
        await asyncio.to_thread(server.start)

    found = await trials.struck(cut), await trials.struck(restart)
    await redis.aclose()
    return found


class Stage:
    """One stream of one side, with the processes that write and follow it."""

    def __init__(self, side: Side, url: str, sizes: Sizes) -> None:
        self._side = side
        self._sizes = sizes
        settings = {"count": sizes.strained, "rate": RATE, "followers": 1, "patience": sizes.patience, "keep": KEEP}
        self._order = orders(sizes, url, **settings)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def start(self, role: str, **more: object) -> Part:
        """Start a process, and wait until it is ready."""
        order = {**self._order, "role": role, **more}
        each = await self._stack.enter_async_context(part(self._side, **order))
        each.is_refused = "refused" in await each.said("ready", "refused")
        return each

    async def middle(self) -> None:
        """Wait until half of the pieces are written."""
        await asyncio.sleep(self._sizes.strained / RATE / 2)

    async def finish(self, writer: Part) -> str:
        """Let a writer write the rest and the end. Return why it cannot."""
        try:
            await writer.said("cpu_us", patience=self._sizes.patience)
        except FailedError:
            return "the producer has failed"
        except TimeoutError:
            return "the producer is stuck"
        writer.go_on()
        return ""


class Trials:
    """Streams of one side that something happens to."""

    def __init__(self, side: Side, url: str, sizes: Sizes) -> None:
        self._side = side
        self._sizes = sizes
        self._stage = partial(Stage, side, url, sizes)

    async def undisturbed(self) -> tuple[Fate, Fate]:
        """Follow a whole stream; then let somebody come after its end."""
        async with self._stage() as stage:
            writer = await stage.start("write")
            reader = await stage.start("follow")
            writer.go_on()
            problem = await stage.finish(writer)
            await writer.said("ended")
            seen = await reader.said("p50")
            late = await (await stage.start("follow")).said("p50")
        return self._fate(seen, remark=problem), self._fate(late)

    async def struck(self, blow: Callable[[], Awaitable[None]]) -> Fate:
        """Let something happen in the middle of some streams. Return the worst that one of them met."""
        async with AsyncExitStack() as stack:
            stages = [await stack.enter_async_context(self._stage()) for _ in range(self._sizes.streams)]
            writers = [await stage.start("write") for stage in stages]
            readers = [await stage.start("follow") for stage in stages]
            for writer in writers:
                writer.go_on()
            await stages[0].middle()
            struck_at = time.monotonic()
            await blow()
            problems = await asyncio.gather(*map(Stage.finish, stages, writers))
            seen = await asyncio.gather(*[reader.said("p50") for reader in readers])
        found = [
            self._fate(each, struck_at, problem or f"longest pause {each['pause']:.1f} s")
            for each, problem in zip(seen, problems, strict=True)
        ]
        return max(found, key=badness)

    async def killed_producer(self) -> tuple[Fate, Fate]:
        """Kill the producer. Ours gets a successor when a follower has noticed, as `on_stalled` would start one."""
        async with self._stage() as stage:
            writer = await stage.start("write")
            reader = await stage.start("follow")
            successor = await stage.start("write", resume=True) if self._side is UNSPOOL else None
            writer.go_on()
            await stage.middle()
            killed_at = time.monotonic()
            await writer.kill()
            new = await stage.start("follow")
            remark = ""
            if successor is not None:
                await reader.said("noticed_at")
                successor.go_on()
                remark = await stage.finish(successor) or "a successor goes on"
            first, second = await reader.said("p50"), await new.said("p50")
        return self._fate(first, killed_at, remark), self._fate(second)

    async def two_producers(self) -> Fate:
        """Start a second producer while the first one writes."""
        async with self._stage() as stage:
            one = await stage.start("write")
            two = await stage.start("write")
            reader = await stage.start("follow")
            one.go_on()
            if not two.is_refused:
                two.go_on()
                await stage.finish(two)
            await stage.finish(one)
            seen = await reader.said("p50")
        back = sum(later < earlier for earlier, later in pairwise(seen["numbers"]))
        both = f"both are shown; the order goes back {back} times"
        return self._fate(seen, remark="the second one is refused" if two.is_refused else both)

    def _fate(self, seen: dict[str, Any], since: float | None = None, remark: str = "") -> Fate:
        numbers: Sequence[int] = seen["numbers"]
        different = len(set(numbers))
        told_at = seen["noticed_at"]
        noticed = None if told_at is None else told_at - (seen["asked_at"] if since is None else since)
        is_stuck = not seen["ended"] and seen["error"] is None
        lost = self._sizes.strained - different
        return Fate(lost, len(numbers) - different, is_stuck, noticed, seen["error"] or remark)


def badness(fate: Fate) -> tuple[int, int]:
    return fate.lost + fate.doubled, fate.is_stuck
