"""The waterfall as a drawing: SVG alone, or an HTML page with the SVG and a table of its figures.

Drawings and pages have no script and load nothing; light and dark mode work by style alone. Horizontal positions are
shares of the width, so that a drawing fits wide and narrow windows with letters of one size; a row is 16 pixels high.
The tooltip of a row is drawn above it, over rows that were painted before.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from .escaping import clip, visible
from .waterfall import LEAVES, aligned, compare, spelled

if TYPE_CHECKING:
    from .waterfall import Axis, Bar, Waterfall

__all__ = ["Report", "draw", "draw_both", "draw_inside", "page"]

NAMESPACE: Final = "http://www.w3.org/2000/svg"
WIDTH: Final = 960  # of a drawing in a file of its own
ROW: Final = 16
TOP: Final = 64  # room for the title, the axis, and the tooltip of the first row
BOTTOM: Final = 16
LEFT: Final = 30.0  # the ends of the axis, in percent
RIGHT: Final = 98.0
INDENT: Final = 8
MAX_INDENT: Final = 10  # deeper rows are not indented further
MAX_PATH: Final = 46  # characters of a path in a tooltip

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
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
PAGE_STYLE: Final = """
* { box-sizing: border-box; }
body { margin: 0; padding: 24px; }
main { max-width: 1200px; margin: 0 auto; }
h1 { font-size: 20px; line-height: 24px; margin: 0 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 14px; line-height: 24px; margin: 32px 0 8px; }
p { margin: 0 0 16px; }
.soft { color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0 0 16px; }
dt { color: var(--soft); font-size: 12px; }
dd { margin: 0; font-size: 16px; line-height: 24px; font-variant-numeric: tabular-nums; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 4px; }
figure + figure { margin-top: 16px; }
figure svg { display: block; width: 100%; border-radius: 4px; }
.key { display: flex; flex-wrap: wrap; gap: 8px 24px; margin: 0 0 8px; padding: 0; list-style: none; font-size: 12px; }
.key li::before { content: ""; display: inline-block; width: 24px; margin-right: 8px; vertical-align: middle; }
.key .k-wait::before { border-top: 1px solid var(--soft); }
.key .k-grow::before { height: 8px; background: var(--light); }
.key .k-done::before { width: 4px; height: 12px; background: var(--accent); border-radius: 1px; }
.key .k-open::before { height: 8px; background: var(--warned); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 16px 4px 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 400; font-size: 12px; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; font-size: 12px; }
td:first-child { max-width: 480px; overflow: hidden; text-overflow: ellipsis; }
tbody tr:hover { background: var(--raised); }
.open td:nth-child(3), .later { color: var(--warning); }
.earlier { color: var(--accent); }
@media (max-width: 600px) { body { padding: 8px; } th, td { padding-right: 8px; } td:first-child { max-width: 160px; } }
@media print { body { padding: 0; } }
""".strip()
KEY: Final = (
    '<ul class="key soft"><li class="k-wait">not there yet</li><li class="k-grow">growing</li>'
    '<li class="k-done">complete: usable from here</li><li class="k-open">never complete</li></ul>'
)


# SVG.


def draw(waterfall: Waterfall, title: str) -> str:
    """Return the drawing as a complete SVG file."""
    return _framed(title, [draw_inside(waterfall, title, "waterfall")], _height(waterfall))


def draw_both(one: Waterfall, two: Waterfall, titles: tuple[str, str]) -> str:
    """Return two waterfalls as one SVG file, one below the other on the same axis."""
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
    """Return the drawing for use inside a page or another drawing. `name` is the prefix of its ids."""
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
    """Return a text that describes the drawing."""
    axis = waterfall.axis
    return (
        f"{len(waterfall.bars):,} rows over {spelled(axis.total, axis.unit)} {axis.unit}: a thin line until a field is "
        "first seen, a light bar while it grows, a solid end where it is complete."
    )


def words(bar: Bar, axis: Axis) -> tuple[str, str]:
    """Return the two lines of a tooltip: times and size."""
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
    label = f'<text class="name" x="{min(bar.depth, MAX_INDENT) * INDENT}" y="12">{_text(bar.label)}</text>'
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
        f'<text class="name" x="16" y="{top - 42}">{_text(clip(path, MAX_PATH, keep_end=True))}</text>',
        f'<text x="16" y="{top - 25}">{times}</text>',
        f'<text class="soft" x="16" y="{top - 9}">{sizes}</text></g></g>',
    ]
    return parts


# The page.


class Report(NamedTuple):
    """A waterfall with its title, its figures, and remarks."""

    title: str
    waterfall: Waterfall
    facts: tuple[tuple[str, str], ...]
    """Such as ("Steps", "412")."""
    notes: tuple[str, ...] = ()
    """The problems of the recording."""


def page(report: Report, other: Report | None = None) -> str:
    """Return the page of a report; with `other`, the page compares when each field became usable in both."""
    title = report.title
    if other is not None:
        title = f"{report.title} and {other.title}"
        one, two = aligned(report.waterfall, other.waterfall)
        report, other = report._replace(waterfall=one), other._replace(waterfall=two)
    reports = [report] if other is None else [report, other]
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{_text(title)} - waterfall</title>",
        f'<style>\n{STYLE}\n{PAGE_STYLE}\n</style>\n</head>\n<body class="waterfall">\n<main>',
        f"<h1>{_text(title)}</h1>",
        '<p class="soft">When did each field become usable?</p>',
    ]
    for index, shown in enumerate(reports, 1):
        if other is not None:
            parts.append(f"<h2>{_text(shown.title)}</h2>")
        parts.append(f"<dl>{''.join([_fact(*fact) for fact in _facts(shown)])}</dl>")
        parts += [f'<p class="later">{_text(note)}</p>' for note in shown.notes]
        parts += [KEY, f"<figure>{draw_inside(shown.waterfall, shown.title, f'waterfall-{index}')}</figure>"]
        if shown.waterfall.left_out:
            parts.append(f'<p class="soft">{shown.waterfall.left_out:,} more fields are folded away or left out.</p>')
    parts += _figures(report.waterfall) if other is None else _side_by_side(report, other)
    parts.append("</main>\n</body>\n</html>\n")
    return "\n".join(parts)


def _fact(name: str, value: str) -> str:
    return f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>"


def _facts(report: Report) -> list[tuple[str, str]]:
    unit, suffix = report.waterfall.axis.unit, report.waterfall.axis.suffix
    times = report.waterfall.usable
    facts = list(report.facts)
    if times is not None:
        facts += [
            ("First leaf usable", spelled(times.first, unit) + suffix),
            ("Half of them", spelled(times.middle, unit) + suffix),
            ("The last", spelled(times.last, unit) + suffix),
        ]
    return facts


def _figures(waterfall: Waterfall) -> list[str]:
    unit = "s" if waterfall.axis.unit == "seconds" else "characters"
    rows = [_figure_row(bar, waterfall.axis) for bar in waterfall.bars]
    heads = ("Field", f"First seen ({unit})", f"Complete ({unit})", f"Took ({unit})", "Bytes", "Share")
    return ["<h2>Figures</h2>", *_table(heads, rows)]


def _figure_row(bar: Bar, axis: Axis) -> str:
    name = f"{bar.path} and {bar.folded - 1:,} more" if bar.folded > 1 else bar.path or bar.label
    complete = "open" if bar.complete is None else spelled(bar.complete, axis.unit)
    cells = [
        _text(name),
        spelled(bar.first, axis.unit),
        complete,
        spelled(bar.duration, axis.unit),
        f"{bar.size:,}",
        f"{bar.share:.1%}",
    ]
    kind = ' class="open"' if bar.complete is None else ""
    return f"<tr{kind}>{''.join([f'<td>{cell}</td>' for cell in cells])}</tr>"


def _side_by_side(one: Report, two: Report) -> list[str]:
    unit = one.waterfall.axis.unit
    rows: list[str] = []
    for field in compare(one.waterfall, two.waterfall):
        gain = field.gain
        ends = [spelled(side[1], unit) if side is not None else "" for side in (field.one, field.two)]
        change = f"{spelled(abs(gain), unit)} {field.change}" if gain else field.change
        kind = field.change if gain else ""
        cells = f"<td>{_text(field.path or field.track)}</td><td>{ends[0]}</td><td>{ends[1]}</td>"
        rows.append(f'<tr>{cells}<td class="{kind}">{change}</td></tr>')
    heads = ("Complete at", _text(one.title), _text(two.title), "In the second one")
    return ["<h2>Side by side</h2>", *_table(heads, rows)]


def _table(heads: tuple[str, ...], rows: list[str]) -> list[str]:
    head = "".join([f'<th scope="col">{text}</th>' for text in heads])
    start = '<div class="wide" tabindex="0" role="region" aria-label="Figures"><table>'
    return [f"{start}<thead><tr>{head}</tr></thead><tbody>", *rows, "</tbody></table></div>"]
