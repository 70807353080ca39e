"""bench/results.svg: microseconds per fragment against the size of the document, both logarithmic.

A flat line means that the work depends on the fragment alone. A rising line means that a parser reads the whole
document again for each fragment. The lines have middle tones and the rest has the colour of the surrounding text, so
the plot suits light and dark pages. As a file of its own, it asks the browser for the colour scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final, TypeAlias

from .race import BUILDS, Outcome, our_name

__all__ = ["draw"]

Point: TypeAlias = tuple[float, float]

_WIDTH, _HEIGHT, _LEFT, _TOP, _LABELS = 300, 250, 48, 46, 170
_PANEL: Final = _LEFT + _WIDTH + _LABELS
_COLOURS: Final = ("#d9822b", "#2f9e6e", "#9c6ade", "#d64f7f", "#1a9bb0", "#a0852b", "#8a8f98")
_OURS: Final = "#3d7be0"
_DARK: Final = "<style>svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#ddd}}</style>"


def draw(outcomes: Iterable[Outcome], *, standalone: bool) -> str:
    """Draw one panel per kind of work. Without rows that belong to a curve, return an empty text."""
    panels: dict[str, dict[str, list[Point]]] = {}
    for outcome in outcomes:
        if outcome.row.curve is not None:
            title, size = outcome.row.curve
            lines = panels.setdefault(title, {})
            for name, reading in outcome.readings.items():
                lines.setdefault(name, []).append((size, reading.figure))
    panels = {title: lines for title, lines in panels.items() if lines}
    if not panels:
        return ""
    width, height = _PANEL * len(panels), _TOP + _HEIGHT + 40
    body = "\n".join(
        f'<g transform="translate({index * _PANEL} 0)">\n{_panel(title, lines)}\n</g>'
        for index, (title, lines) in enumerate(panels.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Microseconds per fragment against document size" font-family="sans-serif" font-size="11" '
        f'fill="currentColor">\n{_DARK if standalone else ""}\n{body}\n</svg>\n'
    ).replace("\n\n", "\n")


def _panel(title: str, lines: dict[str, list[Point]]) -> str:
    points = [point for line in lines.values() for point in line]
    x_axis = _Axis(sorted({x for x, _ in points}), _LEFT + 12, _LEFT + _WIDTH)
    y_axis = _Axis(_powers_of_ten([y for _, y in points]), _TOP + _HEIGHT, _TOP)
    parts = [
        f'<text x="{_LEFT}" y="18" font-size="13" font-weight="bold">{escape(title)}</text>',
        f'<text x="{_LEFT}" y="34" opacity=".7">microseconds per fragment</text>',
        f'<text x="{_LEFT + _WIDTH}" y="{_TOP + _HEIGHT + 32}" text-anchor="end" opacity=".7">characters</text>',
    ]
    for value, at in x_axis.ticks():
        parts.append(_grid(at, _TOP, at, _TOP + _HEIGHT))
        parts.append(f'<text x="{at:.0f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{value:,.0f}</text>')
    for value, at in y_axis.ticks():
        parts.append(_grid(_LEFT, at, _LEFT + _WIDTH, at))
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.0f}" text-anchor="end">{value:,g}</text>')
    labels: list[tuple[float, str, str]] = []
    ours = {our_name(build) for build in BUILDS}
    colours = dict(zip([name for name in lines if name not in ours], _COLOURS * 2, strict=False))
    for name, line in lines.items():
        colour = colours.get(name, _OURS)
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in sorted(line)]
        style = f'stroke-width="{3 if name in ours else 1.6}"'
        if name == our_name("pure"):
            style += ' stroke-dasharray="7 4"'
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" {style}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        labels.append((places[-1][1], name, colour))
    for at, name, colour in _spread(labels):
        weight = ' font-weight="bold"' if name in ours else ""
        parts.append(f'<text x="{_LEFT + _WIDTH + 8}" y="{at + 4:.1f}" fill="{colour}"{weight}>{escape(name)}</text>')
    return "\n".join(parts)


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
    """From the one below all values to the one above."""
    low = floor(log10(min(values)))
    return [10.0**power for power in range(low, max(ceil(log10(max(values))), low + 1) + 1)]


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="currentColor" opacity=".18"/>'


def _spread(labels: Sequence[tuple[float, str, str]], apart: float = 13) -> list[tuple[float, str, str]]:
    """The labels from top to bottom, pushed down where they would lie on one another, and back up from the floor."""
    spread: list[tuple[float, str, str]] = []
    for at, name, colour in sorted(labels):
        spread.append((max(at, spread[-1][0] + apart) if spread else at, name, colour))
    floor_at = float(_TOP + _HEIGHT)
    for index in range(len(spread) - 1, -1, -1):
        at, name, colour = spread[index]
        spread[index] = (min(at, floor_at), name, colour)
        floor_at = spread[index][0] - apart
    return spread
