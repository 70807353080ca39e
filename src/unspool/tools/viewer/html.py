"""The waterfall as one page: the drawing, and a table with its figures. No script, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from .escaping import visible
from .svg import STYLE, draw_inside
from .waterfall import aligned, compare, spelled

if TYPE_CHECKING:
    from .waterfall import Axis, Bar, Waterfall

__all__ = ["Report", "page"]

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


class Report(NamedTuple):
    """A waterfall and what is to be said of it."""

    title: str
    waterfall: Waterfall
    facts: tuple[tuple[str, str], ...]
    """Such as ("Steps", "412")."""
    notes: tuple[str, ...] = ()
    """What is wrong with the recording."""


def page(report: Report, other: Report | None = None) -> str:
    """The page of a report; with an `other` one, both, and what became usable earlier or later in it."""
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


def _text(text: str) -> str:
    return escape(visible(text))


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
