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
from ..report import replace_between_markers
from .loads import FULL, QUICK
from .parts import SIDES, why_not
from .redis import Redis, started
from .tables import TABLES, Bench

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .loads import Sizes
    from .parts import Side

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "relay-benchmarks.md"


NAMES: Final = {side.name: side for side in SIDES}


def arguments_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description="Measure the relay beside its peers.")
    parser.add_argument("parts", nargs="*", help=f"only these: {', '.join(TABLES)}; nothing is written then")
    sides = f"only this side (may be repeated): {', '.join(NAMES)}"
    parser.add_argument("--only", action="append", choices=NAMES, metavar="SIDE", help=sides)
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many turns counts (3)")
    parser.add_argument("--quick", action="store_true", help="one turn with few pieces; nothing is written")
    parser.add_argument("--write-docs", action="store_true", help=f"also write the tables into docs/{PAGE.name}")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = arguments_parser()
    options = parser.parse_args(arguments)
    if unknown := [part for part in options.parts if part not in TABLES]:
        parser.error(f"expected {', '.join(TABLES)}, not {', '.join(unknown)}")
    if options.write_docs and (options.parts or options.only or options.quick):
        parser.error("--write-docs needs all parts and all sides: leave out --only, --quick and the names of parts")
    sizes, rounds = (QUICK, 1) if options.quick else (FULL, options.rounds)
    sides = [NAMES[name] for name in options.only or NAMES]
    with started() as url:
        text = asyncio.run(everything(url, options.parts or TABLES, sides, sizes, rounds))
    print(text)
    if options.write_docs:
        replace_between_markers(PAGE, text)
    return 0


async def everything(url: str | None, parts: Iterable[str], sides: Sequence[Side], sizes: Sizes, rounds: int) -> str:
    """Run the parts, and return their tables."""
    missing = {side.name: reason for side in sides if (reason := why_not(side))}
    here = [side for side in sides if side.name not in missing]
    redis = None if url is None else Redis(url)
    if redis is None:
        missing["Redis"] = "there is no redis-server here"
        parts = [part for part in parts if part == "live"]
    build = "compiled" if unspool.COMPILED else "plain"
    packages = [f"unspool {unspool.__version__} ({build})", f"redis-py {version('redis')}"]
    packages += [f"hiredis {version('hiredis')}"]
    packages += [f"{side.python} {version(side.python)}" for side in here if side.python]
    packages += [package for side in here for package in side.npm]
    try:
        if redis is not None:
            packages.append(f"Redis {await redis.version()}")
        lines = [f"Measured on: {in_one_line(facts())}; {', '.join(packages)}."]
        lines += [f"{name} was not measured: {reason}." for name, reason in missing.items()]
        for part in parts:
            lines += await TABLES[part](Bench(redis, here, sizes, rounds))
    finally:
        if redis is not None:
            await redis.aclose()
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
