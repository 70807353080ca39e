"""Live latency, what a writer pays for its followers, and what a late page has to read."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .parts import OURS, PEER, part

if TYPE_CHECKING:
    from .redis import Redis

__all__ = ["FOLLOWERS", "Contender", "contenders", "join", "live", "writing"]

FOLLOWERS: Final = (1, 50, 500)
PIECES: Final = 200
RATE: Final = 50
WORDS: Final = 3_000
MARK: Final = 2_900
"""The words that a page has, which comes back for the rest."""
NUMBERS: Final = itertools.count()
"""Each stream has a name of its own."""


class Contender(NamedTuple):
    """A side, with the settings that it is measured with."""

    title: str
    side: str
    is_redis: bool
    linger: float = 0.0


def contenders(*, has_redis: bool, has_peer: bool) -> list[Contender]:
    """Return those that can be measured here."""
    found = [Contender("unspool, in memory", OURS, is_redis=False)]
    if has_redis:
        found += [
            Contender("unspool, Redis, `linger=0`", OURS, is_redis=True),
            Contender("unspool, Redis, default `linger` (20 ms)", OURS, is_redis=True, linger=0.02),
        ]
    if has_redis and has_peer:
        found.append(Contender("resumable-stream, Redis", PEER, is_redis=True))
    return found


class Live(NamedTuple):
    """The latency of a live stream in ms, and the CPU time of its processes in µs per piece."""

    p50: float
    p99: float
    writer: float | None
    readers: float


async def live(who: Contender, redis: Redis | None, followers: int) -> Live:
    """Follow a stream that is written at a steady rate."""
    name = f"live-{who.side}-{who.linger}-{followers}-{next(NUMBERS)}"
    order: dict[str, Any] = {"name": name, "count": PIECES, "rate": RATE, "linger": who.linger, "patience": 60.0}
    if not who.is_redis:
        async with part(who.side, role="both", url=None, followers=followers, **order) as one:
            await one.said("ready")
            one.go_on()
            seen = await one.said("p50")
        check(seen)
        return Live(seen["p50"], seen["p99"], None, seen["cpu"] * 1e6 / PIECES)
    assert redis is not None
    order["url"] = redis.url
    async with part(who.side, role="write", **order) as writer:
        await writer.said("ready")
        async with part(who.side, role="follow", followers=followers, **order) as reader:
            await reader.said("ready")
            writer.go_on()
            paid = (await writer.said("cpu_us"))["cpu_us"]
            writer.go_on()
            seen = await reader.said("p50")
    check(seen)
    return Live(seen["p50"], seen["p99"], paid, seen["cpu"] * 1e6 / PIECES)


def check(seen: dict[str, Any]) -> None:
    """A latency counts only if everything arrived."""
    if seen["numbers"] != list(range(PIECES)) or not seen["same"] or not seen["ended"]:
        raise RuntimeError("a follower of an undisturbed stream has not seen all of it")


async def writing(who: Contender, redis: Redis, followers: int) -> float:
    """Return the CPU time of the writer's process in µs per piece."""
    order: dict[str, Any] = {"name": f"paid-{next(NUMBERS)}", "count": 100, "rate": 20, "linger": who.linger}
    async with part(who.side, role="write", url=redis.url, **order) as writer:
        await writer.said("ready")
        if not followers:
            writer.go_on()
            paid: float = (await writer.said("cpu_us"))["cpu_us"]
            return paid
        async with part(who.side, role="follow", url=redis.url, followers=followers, patience=60.0, **order) as reader:
            await reader.said("ready")
            writer.go_on()
            paid = (await writer.said("cpu_us"))["cpu_us"]
    return paid


class Joined(NamedTuple):
    """What a page has read until its text was complete."""

    client_bytes: int
    redis_bytes: int
    ms: float


async def join(side: str, redis: Redis, wire: str, *, is_resume: bool) -> Joined:
    """Open a stream of many words in a process that has not read it yet."""
    order: dict[str, Any] = {"name": f"join-{side}-{wire}-{is_resume}-{next(NUMBERS)}", "count": WORDS, "mark": MARK}
    order |= {"wire": wire, "url": redis.url}
    async with part(side, role="write_words", **order) as writer:
        mark = (await writer.said("mark"))["mark"]
        async with part(side, role="join", after=mark if is_resume else "", **order) as page:
            await page.said("ready")
            first = await redis.sent_bytes()
            before = await redis.sent_bytes()
            page.go_on()
            seen = await page.said("bytes")
            own = before - first  # the answers to these questions
            told = await redis.sent_bytes() - before - own
        return Joined(seen["bytes"], told, seen["ms"])
