"""The waterfall in a terminal: as many figures as there is room for, and the bars.

title        --====#                     0.479   0.521     41    1.7%
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text

from ...viewer.escaping import cells, clip, visible
from ...viewer.waterfall import compare, spelled, usable

if TYPE_CHECKING:
    from ...viewer.waterfall import Axis, Bar, Waterfall

__all__ = ["comparison_lines", "waterfall_lines"]

NARROWEST_BAR: Final = 16
NARROWEST_LABEL: Final = 6
BLOCKS: Final = ("─", "░", "█", "▸")  # not there yet, growing, complete, still open at the end
ASCII: Final = ("-", "=", "#", ">")
LABELS: Final = {
    "object": "bold",
    "array": "bold",
    "json": "bold underline",
    "text": "bold underline",
    "items": "italic",
}


class Column(NamedTuple):
    """A figure of each bar. What matters most, by `rank`, is shown where there is little room."""

    title: str
    width: int
    rank: int


COLUMNS: Final = (
    Column("first", 8, 3),
    Column("complete", 9, 0),
    Column("took", 8, 4),
    Column("bytes", 8, 1),
    Column("share", 7, 2),
)


def _figures(bar: Bar, unit: str) -> dict[str, str]:
    return {
        "first": spelled(bar.first, unit),
        "complete": spelled(bar.complete, unit) or "open",
        "took": spelled(bar.duration, unit),
        "bytes": f"{bar.size:,}",
        "share": f"{bar.share:.1%}",
    }


def waterfall_lines(waterfall: Waterfall, width: int, *, ascii_only: bool = False) -> list[Text]:
    """The axis, and a line for each bar; no line is wider than `width`."""
    labels = [_label(bar, ascii_only) for bar in waterfall.bars]
    longest = max(map(cells, labels), default=0)
    label_width = max(min(longest, max(width // 4, NARROWEST_LABEL)), min(longest, 1))
    columns, bar_width = _columns(width - label_width - 1)
    lines = [_axis(waterfall.axis, label_width, bar_width, columns)]
    for bar, label in zip(waterfall.bars, labels, strict=True):
        shown = clip(label, label_width, ascii_only=ascii_only)
        line = Text(shown, style=LABELS.get(bar.kind, ""))
        line.append(" " * (label_width - cells(shown) + 1), style="not underline")
        line.append_text(_bar(bar, waterfall.axis, bar_width, ASCII if ascii_only else BLOCKS))
        figures = _figures(bar, waterfall.axis.unit)
        for column in columns:
            text = figures[column.title]
            line.append(f"{text:>{column.width}}", style="yellow" if text == "open" else "not bold not underline")
        lines.append(line)
    for line in lines:
        line.truncate(max(width, 1))
        line.no_wrap = True
    return lines


def _label(bar: Bar, ascii_only: bool) -> str:
    return " " * (min(12, bar.depth)) + visible(bar.label, ascii_only=ascii_only)


def _columns(room: int) -> tuple[list[Column], int]:
    """The columns that leave the bars enough room, and that room."""
    chosen: list[Column] = []
    least = max(NARROWEST_BAR, room * 2 // 5)
    for column in sorted(COLUMNS, key=lambda column: column.rank):
        if room - column.width < least:
            break
        chosen.append(column)
        room -= column.width
    return sorted(chosen, key=COLUMNS.index), max(room, 0)


def _axis(axis: Axis, label_width: int, bar_width: int, columns: list[Column]) -> Text:
    marks = [" "] * bar_width
    free = 0
    for tick in axis.ticks:
        place = min(int(tick.at * bar_width), bar_width - 1)
        start = min(place, bar_width - len(tick.label))
        if start >= free:
            marks[start : start + len(tick.label)] = tick.label
            free = start + len(tick.label) + 1
    titles = "".join([f"{column.title:>{column.width}}" for column in columns])
    return Text(" " * (label_width + 1) + "".join(marks) + titles, style="dim")


def _bar(bar: Bar, axis: Axis, width: int, signs: tuple[str, str, str, str]) -> Text:
    wait, grow, done, still_open = signs
    text = Text(style="not bold not underline not italic")
    if width <= 0:
        return text
    first = min(int(axis.place(bar.first) * width), width - 1)
    end = width - 1 if bar.complete is None else min(int(axis.place(bar.complete) * width), width - 1)
    text.append(wait * first, style="dim")
    if bar.complete is None:
        text.append(grow * (end - first) + still_open, style="yellow")
    else:
        text.append(grow * (end - first), style="cyan")
        text.append(done, style="bold cyan")
        text.append(" " * (width - end - 1))
    return text


# Two of them.


def comparison_lines(
    one: Waterfall, two: Waterfall, names: tuple[str, str], width: int, *, ascii_only: bool = False
) -> list[Text]:
    """When each field was complete in the one and in the other, then a summary of both."""
    unit = one.axis.unit
    fields = compare(one, two)
    room = max(width - 9 - 9 - 17, NARROWEST_LABEL)

    def row(name: str, first: str, second: str, change: str = "", style: str = "") -> Text:
        shown = clip(visible(name, ascii_only=ascii_only), room, keep_end=True, ascii_only=ascii_only)
        line = Text(shown + " " * (room - cells(shown)) + f"{first:>9}{second:>9}")
        line.append(f"{change:>17}", style=style)
        line.truncate(max(width, 1))
        line.no_wrap = True
        return line

    letters = ("one", "two")
    lines = [row("complete at", *letters, "in two", "")]
    lines[0].stylize("dim")
    counts = {"earlier": 0, "later": 0, "the same": 0, "not in both": 0}
    for field in fields:
        gain, ends = field.gain, [("-" if side is None else spelled(side[1], unit)) for side in (field.one, field.two)]
        kind = field.change
        counts[kind] += 1
        change = kind if not gain else f"{spelled(abs(gain), unit)} {kind}"
        style = {"earlier": "bold green", "later": "yellow", "not in both": "dim"}.get(kind, "")
        lines.append(row(field.path or field.track, ends[0], ends[1], change, style))
    lines.append(Text())
    titles = [clip(visible(name, ascii_only=ascii_only), max(width - 32, 8), keep_end=True, ascii_only=ascii_only)
              for name in names]  # fmt: skip
    wide = max(*map(cells, titles), 8)
    lines.append(Text(f"{'leaves usable':<{wide + 5}}{'first':>9}{'half':>9}{'last':>9}", style="dim"))
    for letter, title, waterfall in zip(letters, titles, (one, two), strict=True):
        times = usable(waterfall)
        figures = [""] * 3 if times is None else [spelled(time, unit) for time in times[1:]]
        start = f"{letter}: {title}" + " " * (wide - cells(title))
        lines.append(Text(start + "".join([f"{figure:>9}" for figure in figures])))
    summary = ", ".join([f"{count:,} {kind}" for kind, count in counts.items() if count])
    lines.append(Text(f"in two: {summary or 'nothing'}", style="bold"))
    return lines
