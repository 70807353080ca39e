"""Live latency, and what a writer pays for its followers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .parts import ASSISTANT, BRIDGE, DURABLE, RESUMABLE, UNSPOOL, part, store

if TYPE_CHECKING:
    from .parts import Side
    from .redis import Redis

__all__ = ["CONTENDERS", "FULL", "QUICK", "Contender", "Live", "Sizes", "live", "orders", "writing"]

NUMBERS: Final = itertools.count()
"""Each stream has a name of its own."""
KEEP: Final = 100_000
"""So many entries stay in the plain bridge: all, where no fault is looked at."""


class Sizes(NamedTuple):
    """How much is measured."""

    followers: tuple[int, ...]
    crowd: int
    """The followers of a writer that pays for them."""
    pieces: int
    rate: float
    words: int
    mark: int
    """The words that a page has, which comes back for the rest."""
    strained: int
    """The pieces of a stream that a fault meets."""
    streams: int
    """The streams that are hit at once where luck has a part."""
    patience: float
    """The time in seconds after which a follower counts as stuck."""
    lease: float


FULL: Final = Sizes((1, 50, 500), 1_000, 200, 50, 3_000, 2_900, 400, 3, 30.0, 15.0)
QUICK: Final = Sizes((1, 5), 5, 20, 100, 300, 250, 100, 1, 8.0, 1.0)


class Contender(NamedTuple):
    """A side, with the settings that it is measured with."""

    title: str
    side: Side
    has_redis: bool = True
    linger: float = 0.0


CONTENDERS: Final = (
    Contender("unspool, in memory", UNSPOOL, has_redis=False),
    Contender("unspool, Redis, `linger=0`", UNSPOOL),
    Contender("unspool, Redis, default `linger` (20 ms)", UNSPOOL, linger=0.02),
    Contender("resumable-stream, Redis", RESUMABLE),
    Contender("assistant-stream, Redis, polls every 100 ms", ASSISTANT),
    Contender("plain bridge, Redis", BRIDGE),
    Contender("durable-streams, its server in memory, over HTTP", DURABLE, has_redis=False),
)


def orders(sizes: Sizes, url: str | None, **more: object) -> dict[str, Any]:
    """Return what all processes of one stream are told."""
    name = f"stream-{next(NUMBERS)}"
    return {"name": name, "url": url, "lease": sizes.lease, "keep": KEEP, "patience": 60.0, **more}


class Live(NamedTuple):
    """The latency of a live stream in ms, and the CPU time of its processes in µs per piece."""

    p50: float
    p99: float
    writer: float | None
    readers: float


async def live(who: Contender, redis: Redis | None, followers: int, sizes: Sizes) -> Live:
    """Follow a stream that is written at a steady rate."""
    settings = {"count": sizes.pieces, "rate": sizes.rate, "linger": who.linger, "followers": followers}
    if who.side is UNSPOOL and not who.has_redis:
        async with part(who.side, role="both", **orders(sizes, None, **settings)) as one:
            await one.said("ready")
            one.go_on()
            seen = await one.said("p50")
        paid = None
    else:
        async with store(who.side, redis) as url:
            order = orders(sizes, url, **settings)
            async with part(who.side, role="write", **order) as writer:
                await writer.said("ready")
                async with part(who.side, role="follow", **order) as reader:
                    await reader.said("ready")
                    writer.go_on()
                    paid = (await writer.said("cpu_us"))["cpu_us"]
                    writer.go_on()
                    seen = await reader.said("p50")
    # A latency counts only if everything arrived.
    if seen["numbers"] != list(range(sizes.pieces)) or not seen["same"] or not seen["ended"]:
        raise RuntimeError(f"a follower of an undisturbed stream of {who.title} has not seen all of it")
    return Live(seen["p50"], seen["p99"], paid, seen["cpu"] * 1e6 / sizes.pieces)


async def writing(who: Contender, redis: Redis, followers: int, sizes: Sizes) -> float:
    """Return the CPU time of the writer's process in µs per piece."""
    settings = {"count": sizes.pieces // 2, "rate": sizes.rate, "linger": who.linger, "followers": followers}
    order = orders(sizes, redis.url, **settings)
    async with part(who.side, role="write", **order) as writer:
        await writer.said("ready")
        if not followers:
            writer.go_on()
            return float((await writer.said("cpu_us"))["cpu_us"])
        async with part(who.side, role="follow", **order) as reader:
            await reader.said("ready")
            writer.go_on()
            return float((await writer.said("cpu_us"))["cpu_us"])
