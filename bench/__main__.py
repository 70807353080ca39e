"""The command line of the benchmarks. The docstring of the package lists its modules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from .goals import Build
from .machine import facts
from .pure import PureChild, serve
from .race import all_rows, run
from .report import as_json, as_markdown, as_text, misses, replace_between_markers
from .rows import UnavailableError, load
from .timing import FULL, QUICK

_HERE: Final = Path(__file__).parent
_PAGE: Final = _HERE.parent / "docs" / "benchmarks.md"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.write_docs and (options.quick or options.rows):
        parser.error("--write-docs needs all rows and full precision: leave out --quick and the row names")
    effort = QUICK if options.quick else FULL
    rows = [row for row in all_rows(effort) if not options.rows or any(part in row.key for part in options.rows)]
    if options.serve_pure:
        serve({row.key: row for row in rows})
        return 0
    if not rows:
        print("no such row; there are:", *(row.key for row in all_rows(effort)), sep="\n  ", file=sys.stderr)
        return 2
    here = _build_here()
    found = {}
    with nullcontext() if here == "pure" else PureChild(quick=options.quick) as child:
        # Whole documents first: other rows leave a fragmented heap, on which allocating them takes a quarter longer.
        for row in sorted(rows, key=lambda row: "bulk" not in row.key):
            _show_progress(row.key)
            found[row.key] = run(row, here, child, effort)
    outcomes = [found[row.key] for row in rows]
    _show_progress("")
    print(as_text(outcomes))
    if not options.rows and not options.quick:  # the files always hold a complete, precise run
        (_HERE / "results.json").write_text(as_json(outcomes, facts()), encoding="utf-8")
        print("bench/results.json has the figures; `make pictures` draws the plots")
    if options.write_docs:
        replace_between_markers(_PAGE, as_markdown(outcomes, facts()))
    missed = misses(outcomes)
    if options.check and missed:
        print("missed goals that do not depend on the machine:", *missed, sep="\n  ")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure unspool beside its peers.")
    parser.add_argument(
        "rows", nargs="*", help="only the rows whose key contains one of these; nothing is written then"
    )
    parser.add_argument("--quick", action="store_true", help="less than a minute, less exact; nothing is written")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 when a ratio to a peer or a doubling is missed"
    )
    parser.add_argument("--write-docs", action="store_true", help="also write the tables into docs/benchmarks.md")
    parser.add_argument("--serve-pure", action="store_true", help=argparse.SUPPRESS)
    return parser


def _show_progress(key: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{key}", end="", file=sys.stderr, flush=True)


def _build_here() -> Build | None:
    """Return the build that this interpreter has. Without one, only the pure build in src is measured."""
    try:
        return "compiled" if load("unspool").COMPILED else "pure"
    except UnavailableError:
        return None


if __name__ == "__main__":
    sys.exit(main())
