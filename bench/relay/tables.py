"""The tables: each function runs what it shows, and returns Markdown."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from ..report import markdown_table
from .costs import MORE, shares
from .faults import RATE, fates
from .joins import LATE, RESUMES, join
from .loads import CONTENDERS, live, writing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from .costs import Costs
    from .faults import Fate
    from .joins import Joined
    from .loads import Contender, Live, Sizes
    from .parts import Side
    from .redis import Redis

__all__ = ["TABLES", "Bench", "fate_cells"]


class Bench(NamedTuple):
    """A run: who takes part, how much is measured, and the Redis of all parts but the faults, if there is one."""

    redis: Redis | None
    sides: Sequence[Side]
    sizes: Sizes
    rounds: int

    def everyone(self) -> list[Contender]:
        """Return those that can be measured here."""
        has_redis = self.redis is not None
        return [who for who in CONTENDERS if who.side in self.sides and (has_redis or not who.has_redis)]

    def on_redis(self) -> tuple[Redis, list[Contender]]:
        """Return the server, and those that use it."""
        assert self.redis is not None, "without a server, the live table alone is made"
        return self.redis, [who for who in self.everyone() if who.has_redis]


def progress(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


async def live_table(bench: Bench) -> list[str]:
    found: dict[tuple[str, int], Live] = {}
    counts, everyone = bench.sizes.followers, bench.everyone()
    for _ in range(bench.rounds):
        for followers in counts:
            for who in everyone:
                progress(f"live: {who.title}, {followers}")
                now = await live(who, bench.redis, followers, bench.sizes)
                found[who.title, followers] = min(found.get((who.title, followers), now), now)
    ages, paid = [], []
    for who in everyone:
        results = [found[who.title, followers] for followers in counts]
        ages.append([who.title, *[f"{one.p50:.2f} / {one.p99:.2f}" for one in results]])
        paid.append([who.title, *map(cpu, results)])
    head = ["1 follower" if count == 1 else f"{count:,} followers" for count in counts]
    words = (
        f"{bench.sizes.pieces} pieces, {bench.sizes.rate} per second; all followers are in one process, the writer is "
        f"in another one (unspool in memory: in the same). The best of {bench.rounds} turns."
    )
    return [
        f"### Live latency\n\n{words}",
        markdown_table([["latency in ms, p50 / p99", *head], *ages]),
        markdown_table([["CPU in µs per piece, writer + followers", *head], *paid]),
    ]


def cpu(one: Live) -> str:
    return f"{one.readers:,.0f}" if one.writer is None else f"{one.writer:,.0f} + {one.readers:,.0f}"


async def writer_table(bench: Bench) -> list[str]:
    redis, everyone = bench.on_redis()
    body = []
    for who in everyone:
        figures = []
        for followers in (0, bench.sizes.crowd):
            progress(f"writer: {who.title}, {followers}")
            turns = [await writing(who, redis, followers, bench.sizes) for _ in range(bench.rounds)]
            figures.append(f"{min(turns):,.0f}")
        body.append([who.title, *figures])
    head = ["CPU of the writer's process in µs per piece", "no follower", f"{bench.sizes.crowd:,} followers"]
    words = f"{bench.sizes.pieces // 2} pieces, {bench.sizes.rate} per second. The best of {bench.rounds} turns."
    return [f"### What a writer pays\n\n{words}", markdown_table([head, *body])]


async def redis_table(bench: Bench) -> list[str]:
    redis, everyone = bench.on_redis()
    body = []
    for who in everyone:
        progress(f"redis: {who.title}")
        for what, one in (await shares(who, redis, bench.sizes)).items():
            body.append([who.title, what, *cost_cells(one)])
    head = ["", "", "commands", "bytes to Redis", "bytes from Redis", "KB in keys", "KB in connections", "connections"]
    words = (
        f"A stream of {bench.sizes.pieces} pieces, {bench.sizes.rate} per second, before its end: what Redis did and "
        f"held for it, for its first follower, and for each of {MORE} further ones in that follower's process. The "
        "commands in scripts count as well; the most frequent ones are named."
    )
    return [f"### What Redis pays\n\n{words}", markdown_table([[*head, "of the commands"], *body])]


MOST_FREQUENT: Final = 4


def cost_cells(one: Costs) -> list[str]:
    calls = sorted(one.commands.items(), key=lambda each: (-each[1], each[0]))[:MOST_FREQUENT]
    frequent = [f"{name.replace('|', ' ')} {round(number):,}" for name, number in calls if round(number)]
    whole = [sum(one.commands.values()), one.to_redis, one.from_redis]
    held = [one.key_memory / 1024, one.connection_memory / 1024, one.connections]
    return [
        *[f"{round(each):,}" for each in whole],
        *[f"{abs(round(each, 1)):,.1f}" for each in held],
        ", ".join(frequent),
    ]


async def join_table(bench: Bench) -> list[str]:
    redis, _ = bench.on_redis()
    late = []
    for page in LATE:
        if page.side in bench.sides:
            progress(f"join: {page.title}")
            turns = [await join(page, redis, bench.sizes, is_resume=False) for _ in range(bench.rounds)]
            one = min(turns, key=milliseconds)
            late.append([page.title, f"{one.client_bytes:,}", redis_bytes(one), f"{one.ms:.1f}"])
    back = []
    for page in RESUMES:
        if page.side in bench.sides:
            progress(f"resume: {page.title}")
            turns = [await join(page, redis, bench.sizes, is_resume=True) for _ in range(bench.rounds)]
            one = min(turns, key=milliseconds)
            sizes = [f"{one.client_bytes:,}", f"{one.before_news:,}", redis_bytes(one)]
            back.append([page.title, *sizes, f"{one.ms:.1f}"])
    words = (
        f"An unfinished message of {bench.sizes.words:,} words, in a process that has not read it yet: until the page "
        f"has the last word. The best of {bench.rounds} turns."
    )
    again = f"The same message, for a page that has {bench.sizes.mark:,} words of it."
    return [
        f"### Late join\n\n{words}",
        markdown_table([["", "bytes to the page", "bytes from Redis", "ms"], *late]),
        f"### Resume after a drop\n\n{again}",
        markdown_table([["", "bytes to the page", "before the first new word", "bytes from Redis", "ms"], *back]),
    ]


def milliseconds(one: Joined) -> float:
    return one.ms


def redis_bytes(one: Joined) -> str:
    return "-" if one.redis_bytes is None else f"{one.redis_bytes:,}"


async def fault_table(bench: Bench) -> list[str]:
    _, everyone = bench.on_redis()
    sides = list(dict.fromkeys(who.side for who in everyone))
    progress(f"faults: {', '.join(side.name for side in sides)}, side by side")
    found = await asyncio.gather(*[fates(side, bench.sizes) for side in sides])
    body = [
        [fault, side.name, *fate_cells(one[fault])]
        for fault in found[0]
        for side, one in zip(sides, found, strict=True)
    ]
    head = ["fault", "", "lost", "doubled", "hung", "noticed after", "remark"]
    words = (
        f"A stream of {bench.sizes.strained} pieces, {RATE} per second; one follower; `appendfsync always`. Cuts and "
        f"deaths of Redis hit {bench.sizes.streams} streams at once; the worst of them is shown."
    )
    return [f"### Faults\n\n{words}", markdown_table([head, *body])]


def fate_cells(one: Fate) -> list[str]:
    noticed = f"{one.noticed:.1f} s" if one.noticed is not None else "-" if one.is_right else "never"
    return [str(one.lost), str(one.doubled), "yes" if one.is_stuck else "no", noticed, one.remark]


TABLES: Final[dict[str, Callable[[Bench], Awaitable[list[str]]]]] = {
    "live": live_table,
    "writer": writer_table,
    "redis": redis_table,
    "join": join_table,
    "faults": fault_table,
}
