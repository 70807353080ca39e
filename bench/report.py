"""The results: the table in the terminal, bench/results.json, and the tables in docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from .goals import goals_for
from .machine import in_one_line
from .race import BUILDS, Outcome
from .rows import Unit

__all__ = ["as_json", "as_markdown", "as_text", "markdown_table", "misses", "replace_between_markers"]

_HEAD: Final = ("work", "unit", "compiled", "pure", "floor", "best peer", "ratio", "goal", "")
_FLOOR_IN_WORDS: Final = """\
**The floor** is the least that a value after each fragment can cost. A value never changes once you have it. So a
parser has to read the fragment, copy each open container that the fragment changes, and join the open string with its
new piece. The floor does only that, as plain C calls on the same document in the same run: it feeds the fragments to a
live parser without asking for its value, and then makes one `dict.copy` or list slice per copied container and one
concatenation per piece of text. The goal of the compiled build is to stay within 1.25 times the floor."""
_START, _END = "<!-- bench:start -->", "<!-- bench:end -->"


def as_text(outcomes: Sequence[Outcome]) -> str:
    table = [_HEAD, *map(_cells, outcomes)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join([*lines, "", *_remarks(outcomes)]).rstrip() + "\n"


def as_markdown(outcomes: Sequence[Outcome], facts: dict[str, object]) -> str:
    packages = facts["packages"]
    assert isinstance(packages, dict)
    versions = ", ".join(f"{name} {version}" for name, version in packages.items())
    parts = [
        f"Measured on: {in_one_line(facts)}; {versions}.",
        markdown_table([_HEAD, *map(_cells, outcomes)]),
        _FLOOR_IN_WORDS,
        "\n".join(f"- {remark}" for remark in _remarks(outcomes)),
        "Every contender:",
        *_everybody(outcomes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_json(outcomes: Sequence[Outcome], facts: dict[str, object]) -> str:
    rows = [
        {
            "key": outcome.row.key,
            "unit": outcome.row.unit.name,
            "readings": {name: reading._asdict() for name, reading in outcome.readings.items()},
            "missing": outcome.missing,
            "verdicts": [{"words": verdict.words, "is_met": verdict.is_met} for verdict in outcome.verdicts()],
        }
        for outcome in outcomes
    ]
    return json.dumps({"machine": facts, "rows": rows}, indent=2, ensure_ascii=False) + "\n"


def misses(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the missed goals that do not depend on the machine."""
    return [
        f"{outcome.row.title}: {verdict.words}"
        for outcome in outcomes
        for verdict in outcome.verdicts()
        if verdict.is_checked and not verdict.is_met
    ]


def replace_between_markers(page: Path, text: str) -> None:
    before, start, rest = page.read_text(encoding="utf-8").partition(_START)
    _, end, after = rest.partition(_END)
    if not start or not end:
        raise SystemExit(f"{page.name} has no {_START} ... {_END} to write between")
    page.write_text(f"{before}{start}\n\n{text}\n{end}{after}", encoding="utf-8")


def _cells(outcome: Outcome) -> tuple[str, ...]:
    unit = outcome.row.unit
    best = next(iter(outcome.peers().items()), None)
    ratio = outcome.ratio()
    verdicts = list(outcome.verdicts())
    return (
        outcome.row.title,
        unit.name,
        *(_figure(outcome.ours(build), unit) for build in BUILDS),
        _figure(outcome.floor(), unit),
        "-" if best is None else f"{_figure(best[1], unit)} {best[0]}",
        "-" if ratio is None else f"{ratio:,.2f}x" if ratio < 10 else f"{ratio:,.0f}x",
        _goal(outcome),
        "" if not verdicts else "ok" if all(verdict.is_met for verdict in verdicts) else "MISS",
    )


def _goal(outcome: Outcome) -> str:
    """Show the goal of the compiled build, and that of the pure build where it is another figure."""
    unit = outcome.row.unit
    words = {goal.build: goal for goal in goals_for(outcome.row.key)}
    compiled, pure = words.get("compiled"), words.get("pure")
    if compiled is None:
        return "" if pure is None else f"pure {pure.words(unit)}"
    text = compiled.words(unit)
    if pure is not None and pure.bound is not None and pure.bound != compiled.bound:
        text += f" (pure {pure.bound:.{unit.digits}f})"
    return text


def _figure(figure: float | None, unit: Unit) -> str:
    if figure is None:
        return "-"
    return f"{figure:,.{unit.digits}f}" if figure < 100 else f"{figure:,.0f}"


def _remarks(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """List the missed goals and the contenders that were not measured."""
    for outcome in outcomes:
        for verdict in outcome.verdicts():
            if not verdict.is_met:
                yield f"missed: {outcome.row.title}: {verdict.words}"
    reasons: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for name, reason in outcome.missing.items():
            reasons.setdefault((name, reason), []).append(outcome.row.title)
    for (name, reason), titles in reasons.items():
        where = titles[0] if len(titles) == 1 else f"{len(titles)} rows, from \u201c{titles[0]}\u201d on"
        yield f"not measured: {name}: {reason} ({where})"


def _everybody(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Make a table per family and unit: rows with a peer, a column per contender, and below it their limitations."""
    families: dict[tuple[str, Unit], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.peers():
            families.setdefault((outcome.row.key.partition("/")[0], outcome.row.unit), []).append(outcome)
    for (_, unit), rows in families.items():
        names = list(dict.fromkeys(name for outcome in rows for name in outcome.readings))
        figures = [[outcome.row.title, *(_figure(_reading(outcome, name), unit) for name in names)] for outcome in rows]
        yield markdown_table([[unit.name, *names], *figures])
        lacks = {peer.name: peer.lacks for outcome in rows for peer in outcome.row.contenders if peer.lacks}
        yield "\n".join(f"- {name}: {words}" for name, words in lacks.items())


def _reading(outcome: Outcome, name: str) -> float | None:
    return outcome.readings[name].figure if name in outcome.readings else None


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = lines
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *body))
