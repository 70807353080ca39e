"""The command line: ``python -m bench.relay`` from the root of the project."""

from __future__ import annotations

import argparse
import asyncio
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import unspool

from ..machine import facts, in_one_line
from ..report import markdown_table, replace_between_markers
from .faults import Fate, fates
from .loads import FOLLOWERS, MARK, PIECES, RATE, WORDS, Live, contenders, join, live, writing
from .parts import OURS, PACKAGES, PEER, why_no_peer
from .redis import Redis, started

if TYPE_CHECKING:
    from collections.abc import Sequence

_PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "relay-benchmarks.md"
CROWD: Final = 1_000
JOINS: Final = (
    (OURS, "patch", "unspool, wire `patch`"),
    (OURS, "vercel-ui", "unspool, wire `vercel-ui`"),
    (PEER, "vercel-ui", "resumable-stream, events of `vercel-ui`"),
)


PARTS: Final = ("live", "writer", "join", "faults")


def arguments_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description="Measure the relay beside its peer.")
    parser.add_argument("parts", nargs="*", help=f"only these: {', '.join(PARTS)}; nothing is written then")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many turns counts (3)")
    parser.add_argument("--write-docs", action="store_true", help=f"also write the tables into docs/{_PAGE.name}")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = arguments_parser()
    options = parser.parse_args(arguments)
    if options.write_docs and options.parts:
        parser.error("--write-docs needs all parts")
    with started() as url:
        text = asyncio.run(everything(url, options.parts or PARTS, options.rounds))
    print(text)
    if options.write_docs:
        replace_between_markers(_PAGE, text)
    return 0


async def everything(url: str | None, parts: Sequence[str], rounds: int) -> str:
    """Run the parts, and return their tables."""
    redis = None if url is None else Redis(url)
    reason = "there is no redis-server here" if redis is None else why_no_peer()
    has_peer = not reason
    build = "compiled" if unspool.COMPILED else "plain"
    versions = f"unspool {unspool.__version__} ({build}), redis-py {version('redis')}, hiredis {version('hiredis')}"
    if redis is not None:
        versions += f", Redis {await redis.version()}"
    lines = [f"Measured on: {in_one_line(facts())}; {versions}" + (f", {', '.join(PACKAGES)}." if has_peer else ".")]
    if reason:
        lines.append(f"resumable-stream was not measured: {reason}.")
    try:
        if "live" in parts:
            lines += await live_table(redis, rounds, has_peer=has_peer)
        if redis is not None:
            sides = [OURS, PEER] if has_peer else [OURS]
            if "writer" in parts:
                lines += await writer_table(redis, rounds, has_peer=has_peer)
            if "join" in parts:
                lines += await join_table(redis, sides, rounds)
            if "faults" in parts:
                lines += await fault_table(redis, sides)
    finally:
        if redis is not None:
            await redis.aclose()
    return "\n\n".join(lines) + "\n"


def progress(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


async def live_table(redis: Redis | None, rounds: int, *, has_peer: bool) -> list[str]:
    found: dict[tuple[str, int], Live] = {}
    everyone = contenders(has_redis=redis is not None, has_peer=has_peer)
    for _ in range(rounds):
        for followers in FOLLOWERS:
            for who in everyone:
                progress(f"live: {who.title}, {followers}")
                now = await live(who, redis, followers)
                best = found.get((who.title, followers), now)
                found[who.title, followers] = min(best, now)
    head = ["latency in ms, p50 / p99", *[f"{count:,} followers" if count > 1 else "1 follower" for count in FOLLOWERS]]
    ages = [
        [who.title, *[f"{found[who.title, count].p50:.2f} / {found[who.title, count].p99:.2f}" for count in FOLLOWERS]]
        for who in everyone
    ]
    costs = [[who.title, *[cost(found[who.title, count]) for count in FOLLOWERS]] for who in everyone]
    words = (
        f"{PIECES} pieces, {RATE} per second; all followers are in one process, the writer is in another one "
        f"(in memory: in the same). The best of {rounds} turns."
    )
    return [
        f"### Live latency\n\n{words}",
        markdown_table([head, *ages]),
        markdown_table([["CPU in µs per piece, writer + followers", *head[1:]], *costs]),
    ]


def cost(one: Live) -> str:
    return f"{one.readers:,.0f}" if one.writer is None else f"{one.writer:,.0f} + {one.readers:,.0f}"


async def writer_table(redis: Redis, rounds: int, *, has_peer: bool) -> list[str]:
    body = []
    for who in contenders(has_redis=True, has_peer=has_peer):
        if not who.is_redis:
            continue
        figures = []
        for followers in (0, CROWD):
            progress(f"writer: {who.title}, {followers}")
            figures.append(min([await writing(who, redis, followers) for _ in range(rounds)]))
        body.append([who.title, *[f"{figure:,.0f}" for figure in figures]])
    head = ["CPU of the writer's process in µs per piece", "no follower", f"{CROWD:,} followers"]
    return [
        f"### What a writer pays\n\n100 pieces, 20 per second. The best of {rounds} turns.",
        markdown_table([head, *body]),
    ]


async def join_table(redis: Redis, sides: Sequence[str], rounds: int) -> list[str]:
    body = []
    for is_resume in (False, True):
        for side, wire, title in JOINS:
            if side in sides and not (is_resume and (side, wire) == (OURS, "vercel-ui")):
                progress(f"join: {title}, {'resume' if is_resume else 'late'}")
                seen = [await join(side, redis, wire, is_resume=is_resume) for _ in range(rounds)]
                best = min(seen, key=lambda one: one.ms)
                what = f"resume after {MARK:,} words" if is_resume else "late join"
                body.append([what, title, f"{best.client_bytes:,}", f"{best.redis_bytes:,}", f"{best.ms:.1f}"])
    head = ["", "", "bytes to the page", "bytes from Redis", "ms"]
    words = (
        f"An unfinished message of {WORDS:,} words, in a process that has not read it yet: until the page has the last "
        f"word. The best of {rounds} turns."
    )
    return [
        f"### Late join and resume\n\n{words}",
        markdown_table([head, *body]),
    ]


async def fault_table(redis: Redis, sides: Sequence[str]) -> list[str]:
    found: dict[str, dict[str, Fate]] = {}
    for side in sides:
        progress(f"faults: {side}")
        found[side] = await fates(side, redis)
    body = [
        [fault, side, str(one.lost), str(one.doubled), "yes" if one.is_stuck else "no", one.remark]
        for fault in found[OURS]
        for side, one in ((side, found[side][fault]) for side in sides)
    ]
    head = ["fault", "", "lost", "doubled", "hung", "remark"]
    return ["### Faults\n\nA stream of 400 pieces, 200 per second; one follower.", markdown_table([head, *body])]


if __name__ == "__main__":
    sys.exit(main())
