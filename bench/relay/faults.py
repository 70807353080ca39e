"""Five faults, and what followers see of them."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .loads import NUMBERS
from .parts import OURS, PEER, part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .parts import Part
    from .redis import Redis

__all__ = ["Fate", "fates"]

PIECES: Final = 400
RATE: Final = 200
PATIENCE: Final = 30.0
"""The time in seconds after which a follower counts as stuck."""
CONNECTIONS: Final = {OURS: "normal", PEER: "pubsub"}
"""The connections that are cut: all of ours, and those of the peer that its pieces arrive on."""


class Fate(NamedTuple):
    """What a follower has seen."""

    lost: int
    doubled: int
    is_stuck: bool
    remark: str = ""


async def fates(side: str, redis: Redis) -> dict[str, Fate]:
    """Return what follows from each fault."""
    found: dict[str, Fate] = {}
    found["all connections to Redis that bring news are cut"], late = await cut(side, redis)
    killed, new = await killed_producer(side, redis)
    found["the producer is killed, a follower is attached"] = killed
    found["a new follower comes after that"] = new
    found["a follower comes after the end"] = late
    found["a second producer starts on the same stream"] = await two_producers(side, redis)
    return found


def orders(side: str, redis: Redis) -> dict[str, Any]:
    name = f"fault-{side}-{next(NUMBERS)}"
    return {"url": redis.url, "name": name, "count": PIECES, "rate": RATE, "followers": 1, "patience": PATIENCE}


def fate(seen: dict[str, Any], remark: str = "") -> Fate:
    numbers: Sequence[int] = seen["numbers"]
    lost = PIECES - len(set(numbers))
    return Fate(lost, len(numbers) - len(set(numbers)), not seen["ended"], remark or seen.get("error") or "")


async def cut(side: str, redis: Redis) -> tuple[Fate, Fate]:
    """Cut connections in the middle; then let somebody come after the end."""
    order = orders(side, redis)
    async with part(side, role="write", **order) as writer:
        await writer.said("ready")
        async with part(side, role="follow", **order) as reader:
            await reader.said("ready")
            writer.go_on()
            await asyncio.sleep(1.0)
            await redis.cut(CONNECTIONS[side])
            await writer.said("cpu_us")
            writer.go_on()
            await writer.said("ended")
            seen = await reader.said("p50")
        async with part(side, role="follow", **order) as late:
            after_end = fate(await late.said("p50"))
    return fate(seen), after_end if not after_end.lost else after_end._replace(remark="it gets `null`")


async def killed_producer(side: str, redis: Redis) -> tuple[Fate, Fate]:
    """Kill the producer. Ours gets a successor when a follower has noticed, as `on_stalled` would start one."""
    order = orders(side, redis)
    async with AsyncExitStack() as stack:

        async def started(role: str, **more: object) -> Part:
            return await stack.enter_async_context(part(side, role=role, **{**order, **more}))

        writer = await started("write")
        await writer.said("ready")
        reader = await started("follow")
        successor = await started("write", resume=True) if side == OURS else None
        await reader.said("ready")
        if successor is not None:
            await successor.said("ready")
        writer.go_on()
        await asyncio.sleep(1.0)
        killed_at = time.monotonic()
        await writer.kill()
        new = await started("follow")
        await new.said("ready")
        remark = ""
        if successor is not None:
            stalled = await reader.said("stalled_at")
            successor.go_on()
            await successor.said("cpu_us")
            successor.go_on()
            remark = f"noticed after {stalled['stalled_at'] - killed_at:.0f} s; a successor goes on"
        first, second = await reader.said("p50"), await new.said("p50")
        if not first["ended"]:
            remark = f"not noticed in {PATIENCE:.0f} s"
    return fate(first, remark), fate(second)


async def two_producers(side: str, redis: Redis) -> Fate:
    """Start a second producer while the first one writes."""
    order = orders(side, redis)
    async with part(side, role="write", **order) as one:
        await one.said("ready")
        async with part(side, role="write", **order) as two:
            is_refused = "refused" in await two.said("ready", "refused")
            async with part(side, role="follow", **order) as reader:
                await reader.said("ready")
                one.go_on()
                if not is_refused:
                    two.go_on()
                    await two.said("cpu_us")
                await one.said("cpu_us")
                one.go_on()
                seen = await reader.said("p50")
    numbers = seen["numbers"]
    back = sum(later < earlier for earlier, later in pairwise(numbers))
    remark = "the second one gets `HeldError`" if is_refused else f"both are shown; the order goes back {back} times"
    return fate(seen, remark)
