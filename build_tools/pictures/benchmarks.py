"""The plots of the benchmarks: µs per fragment against the size of the document, both logarithmic.

A flat line means that the work depends on the fragment alone. A rising line means that a parser reads the whole
document again for each fragment. The figures are those of bench/results.json, which `make bench` writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, Final, TypeAlias

from .themes import Theme, framed

__all__ = ["PANELS", "draw"]

Point: TypeAlias = tuple[float, float]

RESULTS: Final = Path(__file__).parents[2] / "bench" / "results.json"
PANELS: Final = {
    "values": "The value after each fragment",
    "typed": "A partial Pydantic model after each fragment",
    "events": "Events with paths",
}
"""The families of rows that are measured for several sizes, and the titles of their plots."""
SIZED: Final = re.compile(r"(\w+)/itinerary ([\d.]+) KB")
OURS: Final = ("unspool compiled", "unspool pure")

WIDTH, HEIGHT, LEFT, TOP, LABELS = 340, 260, 68, 58, 170
COLOURS: Final = {
    "light": ("#b4500b", "#1f7a53", "#7b46c4", "#b8336a", "#0d7186", "#7a6212", "#5f6870"),
    "dark": ("#f0a35c", "#5cc997", "#c29cf0", "#f28ab5", "#58c7db", "#d9bd5a", "#a4adb5"),
}


def draw(family: str, theme: Theme) -> str:
    """Draw the plot of a family of rows."""
    lines = _lines(family)
    points = [point for line in lines.values() for point in line]
    x_axis = _Axis(sorted({x for x, _ in points}), LEFT + 12, LEFT + WIDTH)
    y_axis = _Axis(_powers_of_ten([y for _, y in points]), TOP + HEIGHT, TOP)
    width, height = LEFT + WIDTH + LABELS, TOP + HEIGHT + 44
    title = PANELS[family]
    parts = [
        f'<text x="16" y="26" font-size="14" font-weight="600">{escape(title)}</text>',
        f'<text x="16" y="44" fill="{theme.soft}">µs per fragment</text>',
        f'<text x="{LEFT + WIDTH}" y="{height - 8}" text-anchor="end" fill="{theme.soft}">KB in the document</text>',
    ]
    for value, at in x_axis.ticks():
        parts.append(_grid(at, TOP, at, TOP + HEIGHT, theme))
        parts.append(f'<text x="{at:.0f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{value:g}</text>')
    for value, at in y_axis.ticks():
        parts.append(_grid(LEFT, at, LEFT + WIDTH, at, theme))
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.0f}" text-anchor="end">{value:,g}</text>')
    colours = dict(zip([name for name in lines if name not in OURS], COLOURS[theme.name] * 2, strict=False))
    labels: list[tuple[float, str, str]] = []
    for name, line in lines.items():
        colour = colours.get(name, theme.accent)
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in line]
        dashes = ' stroke-dasharray="7 4"' if name == OURS[1] else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        width_of_line = 3 if name in OURS else 1.6
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width_of_line}"{dashes}/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        labels.append((places[-1][1], name, colour))
    for at, name, colour in _spread(labels):
        weight = ' font-weight="600"' if name in OURS else ""
        parts.append(f'<text x="{LEFT + WIDTH + 8}" y="{at + 4:.1f}" fill="{colour}"{weight}>{escape(name)}</text>')
    return framed(f"{title}: µs per fragment, by document size", width, height, theme, parts)


def _lines(family: str) -> dict[str, list[Point]]:
    """Return the points of each contender, by size in KB. The floor is no contender."""
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    lines: dict[str, list[Point]] = {}
    for row in rows:
        sized = SIZED.fullmatch(row["key"])
        if sized is not None and sized[1] == family:
            for name, reading in row["readings"].items():
                if name != "floor":
                    lines.setdefault(name, []).append((float(sized[2]), reading["figure"]))
    return {name: sorted(line) for name, line in lines.items()}


class _Axis:
    """A logarithmic scale from the first mark to the last, laid from `start` to `end`."""

    def __init__(self, marks: Sequence[float], start: float, end: float) -> None:
        self._marks, self._start, self._end = marks, start, end

    def place(self, value: float) -> float:
        low, high = log10(self._marks[0]), log10(self._marks[-1])
        share = (log10(value) - low) / (high - low) if high > low else 0.5
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[Point]:
        return [(mark, self.place(mark)) for mark in self._marks]


def _powers_of_ten(values: Sequence[float]) -> list[float]:
    """Return the powers from the one below all values to the one above."""
    low = floor(log10(min(values)))
    return [10.0**power for power in range(low, max(ceil(log10(max(values))), low + 1) + 1)]


def _grid(x1: float, y1: float, x2: float, y2: float, theme: Theme) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{theme.frame}"/>'


def _spread(labels: Sequence[tuple[float, str, str]], apart: float = 14) -> list[tuple[float, str, str]]:
    """Return the labels from top to bottom. Labels that would overlap are moved down, and up again from the floor."""
    spread: list[tuple[float, str, str]] = []
    for at, name, colour in sorted(labels):
        spread.append((max(at, spread[-1][0] + apart) if spread else at, name, colour))
    floor_at = float(TOP + HEIGHT)
    for index in range(len(spread) - 1, -1, -1):
        at, name, colour = spread[index]
        spread[index] = (min(at, floor_at), name, colour)
        floor_at = spread[index][0] - apart
    return spread
