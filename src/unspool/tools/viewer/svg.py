"""The waterfall as SVG: one drawing that stands alone, or stands in a page. No script; light and dark by itself.

Across, everything is a share of the width, so that the drawing fits a wide window and a narrow one with letters of the
same size; down, a row is 16 pixels. What a row says when it is pointed at or focused is drawn above it, over rows that
were painted before.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from .escaping import clip, visible
from .waterfall import LEAVES, aligned, spelled

if TYPE_CHECKING:
    from .waterfall import Axis, Bar, Waterfall

__all__ = ["STYLE", "draw", "draw_both", "draw_inside"]

NAMESPACE: Final = "http://www.w3.org/2000/svg"
WIDTH: Final = 960  # of a drawing that stands alone
ROW: Final = 16
TOP: Final = 64  # room for the title, the axis, and what the first row says
BOTTOM: Final = 16
LEFT: Final = 30.0  # where the axis begins and ends, in percent
RIGHT: Final = 98.0
INDENT: Final = 8
DEEPEST: Final = 10  # from here on nothing is indented any further
LONGEST: Final = 46  # characters of a path in what a row says

STYLE: Final = """
.waterfall { --ink: #1c2024; --soft: #667079; --line: #d9dee3; --back: #ffffff; --raised: #f3f5f7;
  --accent: #2563c9; --light: #a9c6f2; --warning: #b4500b; --warned: #f0c9a4;
  background: var(--back); color: var(--ink); font: 13px/16px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  .waterfall { --ink: #e6e9ec; --soft: #98a2ab; --line: #333a41; --back: #14171a; --raised: #20252a;
    --accent: #6ea8ff; --light: #2b4d80; --warning: #f0a35c; --warned: #6b4420; }
}
.waterfall text { fill: var(--ink); }
.waterfall .name { font: 12px/16px ui-monospace, monospace; }
.waterfall .leaf .name { fill: var(--soft); }
.waterfall .soft, .waterfall .tick text { fill: var(--soft); }
.waterfall .tick line { stroke: var(--line); }
.waterfall .tick text { font-size: 11px; text-anchor: middle; }
.waterfall .heading { font-weight: 600; }
.waterfall .row { outline: none; }
.waterfall .hit { fill: transparent; }
.waterfall .row:hover .hit, .waterfall .row:focus .hit { fill: var(--raised); }
.waterfall .row:focus .hit { stroke: var(--accent); }
.waterfall .wait { stroke: var(--line); }
.waterfall .grow { fill: var(--light); }
.waterfall .done { fill: var(--accent); }
.waterfall .open .grow { fill: var(--warned); }
.waterfall .open .still { font-size: 11px; text-anchor: end; }
.waterfall .folded .grow { stroke: var(--accent); stroke-dasharray: 2 2; }
.waterfall .says { visibility: hidden; pointer-events: none; }
.waterfall .row:hover .says, .waterfall .row:focus .says { visibility: visible; }
.waterfall .says rect { fill: var(--back); stroke: var(--soft); }
.waterfall .says text { font-size: 12px; }
""".strip()


def draw(waterfall: Waterfall, title: str) -> str:
    """The drawing, to stand alone."""
    return _framed(title, [draw_inside(waterfall, title, "waterfall")], _height(waterfall))


def draw_both(one: Waterfall, two: Waterfall, titles: tuple[str, str]) -> str:
    """Two of them in one drawing, one under the other, on the same axis."""
    one, two = aligned(one, two)
    drawn = [draw_inside(one, titles[0], "waterfall-1"), draw_inside(two, titles[1], "waterfall-2", _height(one))]
    return _framed(" and ".join(titles), drawn, _height(one) + _height(two))


def _framed(title: str, drawn: list[str], height: int) -> str:
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    head = f"<title>{_text(title)}</title>\n<style>{STYLE}</style>"
    back = '<rect width="100%" height="100%" fill="var(--back)"/>'
    return f'<svg xmlns="{NAMESPACE}" class="waterfall" {size}>\n{head}\n{back}\n{"".join(drawn)}</svg>\n'


def _height(waterfall: Waterfall) -> int:
    return TOP + ROW * len(waterfall.bars) + BOTTOM


def draw_inside(waterfall: Waterfall, title: str, name: str, top: int = 0) -> str:
    """The drawing, for a page or another drawing with the style. `name` is the beginning of its ids."""
    height = _height(waterfall)
    labels = f'aria-labelledby="{name}-title {name}-desc"'
    parts = [
        f'<svg xmlns="{NAMESPACE}" class="waterfall" y="{top}" height="{height}" role="group" {labels}>',
        f'<title id="{name}-title">{_text(title)}</title>',
        f'<desc id="{name}-desc">{_text(describe(waterfall))}</desc>',
    ]
    parts.append(f'<text class="heading" x="8" y="24">{_text(clip(title, 60, keep_end=True))}</text>')
    parts += _ticks(waterfall.axis, height)
    for index, bar in enumerate(waterfall.bars):
        parts += _row(bar, waterfall.axis, TOP + index * ROW)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def describe(waterfall: Waterfall) -> str:
    """What the drawing shows, in words."""
    axis = waterfall.axis
    return (
        f"{len(waterfall.bars):,} rows over {spelled(axis.total, axis.unit)} {axis.unit}: a thin line until a field is "
        "first seen, a light bar while it grows, a solid end where it is complete."
    )


def words(bar: Bar, axis: Axis) -> tuple[str, str]:
    """What there is to say of a row, in two lines: its times, its size."""
    first = f"first seen {spelled(bar.first, axis.unit)}{axis.suffix}"
    took = bar.duration
    if took is None:
        times = f"{first} · still open"
    else:
        times = f"{first} · complete {spelled(bar.complete, axis.unit)} · took {spelled(took, axis.unit)}"
    count = f"{bar.folded:,} items · " if bar.folded else ""
    return times, f"{count}{bar.size:,} bytes · {bar.share:.1%} of the whole"


def _text(text: str) -> str:
    return escape(visible(text))


def _across(share: float) -> str:
    return f"{LEFT + (RIGHT - LEFT) * share:.3f}%"


def _ticks(axis: Axis, height: int) -> list[str]:
    return [
        f'<g class="tick"><line x1="{_across(tick.at)}" y1="{TOP - 8}" x2="{_across(tick.at)}" y2="{height - BOTTOM}"/>'
        f'<text x="{_across(tick.at)}" y="{TOP - 14}">{tick.label}</text></g>'
        for tick in axis.ticks
    ]


def _row(bar: Bar, axis: Axis, top: int) -> list[str]:
    first = axis.place(bar.first)
    end = 1.0 if bar.complete is None else axis.place(bar.complete)
    kinds = ["row", "open" if bar.complete is None else "closed"]
    if bar.folded:
        kinds.append("folded")
    elif bar.kind in LEAVES:
        kinds.append("leaf")
    times, sizes = words(bar, axis)
    path = bar.path or bar.label
    middle = top + ROW // 2
    wide = (RIGHT - LEFT) * (end - first)
    label = f'<text class="name" x="{min(bar.depth, DEEPEST) * INDENT}" y="12">{_text(bar.label)}</text>'
    parts = [
        f'<g class="{" ".join(kinds)}" tabindex="0" role="img" aria-label="{_text(f"{path}: {times}; {sizes}")}">',
        f'<rect class="hit" x="1" y="{top}" width="99.8%" height="{ROW}"/>',
        f'<svg x="8" y="{top}" width="{LEFT - 4}%" height="{ROW}">{label}</svg>',
        f'<line class="wait" x1="{_across(0)}" y1="{middle}" x2="{_across(first)}" y2="{middle}"/>',
        f'<rect class="grow" x="{_across(first)}" y="{middle - 4}" width="{wide:.3f}%" height="8"/>',
    ]
    if bar.complete is None:
        parts.append(f'<text class="still" x="{_across(1)}" y="{middle + 4}" dx="-4">open</text>')
    else:
        parts.append(f'<rect class="done" x="{_across(end)}" y="{middle - 6}" width="4" height="12" rx="1"/>')
    parts += [
        f'<g class="says"><rect x="8" y="{top - 58}" width="312" height="56" rx="4"/>',
        f'<text class="name" x="16" y="{top - 42}">{_text(clip(path, LONGEST, keep_end=True))}</text>',
        f'<text x="16" y="{top - 25}">{times}</text>',
        f'<text class="soft" x="16" y="{top - 9}">{sizes}</text></g></g>',
    ]
    return parts
