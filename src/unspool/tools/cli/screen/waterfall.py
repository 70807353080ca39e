"""The waterfall in a terminal: as many figures as there is room for, and the bars.

title        --====#                     0.479   0.521     41    1.7%
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text

from ...viewer.escaping import cells, clip, visible
from ...viewer.waterfall import compare, spelled
from ..terminal import crop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...viewer.waterfall import Axis, Bar, Comparison, Waterfall

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
    """A figure of each bar. What matters most, by `rank`, is shown where there is little room.

    `width` is that of ordinary figures, with the space in front of them; longer ones widen it.
    """

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
    """The axis, and a line for each bar, none of them wider than `width`; and whether there are too many fields."""
    labels = [_label(bar, ascii_only) for bar in waterfall.bars]
    longest = max(map(cells, labels), default=0)
    label_width = max(min(longest, max(width // 4, NARROWEST_LABEL)), min(longest, 1))
    figures = [_figures(bar, waterfall.axis.unit) for bar in waterfall.bars]
    columns, bar_width = _columns(width - label_width - 1, figures)
    lines = [_axis(waterfall.axis, label_width, bar_width, columns)]
    for bar, label, texts in zip(waterfall.bars, labels, figures, strict=True):
        shown = clip(label, label_width, ascii_only=ascii_only)
        line = Text(shown, style=LABELS.get(bar.kind, ""))
        line.append(" " * (label_width - cells(shown) + 1), style="not underline")
        line.append_text(_bar(bar, waterfall.axis, bar_width, ASCII if ascii_only else BLOCKS))
        for column in columns:
            text = texts[column.title]
            line.append(f"{text:>{column.width}}", style="yellow" if text == "open" else "not bold not underline")
        lines.append(line)
    for line in lines:
        crop(line, width)
    return lines + _too_many(waterfall)


def _too_many(waterfall: Waterfall, name: str = "") -> list[Text]:
    count = waterfall.only_counted
    words = f"{name}{count:,} fields are too many: they are counted, but not shown or picked, and not in --json"
    return [Text(words, style="yellow")] if count else []


def _width(least: int, texts: Iterable[str]) -> int:
    """Of a column: there is a space in front of the longest text."""
    return max(least, 1 + max(map(len, texts), default=0))


def _label(bar: Bar, ascii_only: bool) -> str:
    return " " * (min(12, bar.depth)) + visible(bar.label, ascii_only=ascii_only)


def _columns(room: int, figures: list[dict[str, str]]) -> tuple[list[Column], int]:
    """The columns that leave the bars enough room, and that room."""
    chosen: list[Column] = []
    least = max(NARROWEST_BAR, room * 2 // 5)
    columns = [column._replace(width=_width(column.width, [texts[column.title] for texts in figures]))
               for column in COLUMNS]  # fmt: skip
    for column in sorted(columns, key=lambda column: column.rank):
        if room - column.width < least:
            break
        chosen.append(column)
        room -= column.width
    return sorted(chosen, key=columns.index), max(room, 0)


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

SIDES: Final = ("one", "two")
CHANGES: Final = {
    "earlier": "bold green",
    "later": "yellow",
    "the same": "",
    "open in one": "yellow",
    "open in two": "yellow",
    "open in both": "yellow",
    "not in both": "dim",
}


class Row(NamedTuple):
    """A field in both, in words; `style` is that of the change."""

    name: str
    one: str
    two: str
    change: str
    style: str


def comparison_lines(
    one: Waterfall, two: Waterfall, names: tuple[str, str], width: int, *, ascii_only: bool = False
) -> list[Text]:
    """When each field was complete in the one and in the other, then a summary of both."""
    fields = compare(one, two)
    counts = Counter([field.change for field in fields])
    lines = _table([_row(field, one.axis.unit) for field in fields], width, ascii_only)
    lines.append(Text())
    lines += _summary((one, two), names, width, ascii_only)
    for side, waterfall in zip(SIDES, (one, two), strict=True):
        lines += _too_many(waterfall, f"{side}: ")
    summary = ", ".join([f"{counts[change]:,} {change}" for change in CHANGES if counts[change]])
    lines.append(Text(f"in two: {summary or 'nothing'}", style="bold"))
    return lines


def _row(field: Comparison, unit: str) -> Row:
    ends = ["-" if side is None else spelled(side[1], unit) or "open" for side in (field.one, field.two)]
    change = f"{spelled(abs(field.gain), unit)} {field.change}" if field.gain else field.change
    return Row(field.path or field.track, ends[0], ends[1], change, CHANGES[field.change])


def _table(rows: list[Row], width: int, ascii_only: bool) -> list[Text]:
    rows = [Row("complete at", *SIDES, "in two", ""), *rows]
    side = _width(9, [text for row in rows for text in (row.one, row.two)])
    last = _width(17, [row.change for row in rows])
    room = max(width - 2 * side - last, NARROWEST_LABEL)
    lines: list[Text] = []
    for row in rows:
        name = clip(visible(row.name, ascii_only=ascii_only), room, keep_end=True, ascii_only=ascii_only)
        line = Text(name + " " * (room - cells(name)) + f"{row.one:>{side}}{row.two:>{side}}")
        line.append(f"{row.change:>{last}}", style=row.style)
        crop(line, width)
        lines.append(line)
    lines[0].stylize("dim")
    return lines


def _summary(
    waterfalls: tuple[Waterfall, Waterfall], names: tuple[str, str], width: int, ascii_only: bool
) -> list[Text]:
    """When the first leaf was usable, half of them, the last, in the one and in the other."""
    figures = [
        [spelled(time, waterfall.axis.unit) for time in (waterfall.usable or ())[1:]] for waterfall in waterfalls
    ]
    column = _width(9, [figure for line in figures for figure in line])
    room = max(width - 5 - 3 * column, 8)
    titles = [clip(visible(name, ascii_only=ascii_only), room, keep_end=True, ascii_only=ascii_only) for name in names]
    wide = max(*map(cells, titles), 8)
    head = "".join([f"{title:>{column}}" for title in ("first", "half", "last")])
    lines = [Text(f"{'leaves usable':<{wide + 5}}{head}", style="dim")]
    for side, title, line in zip(SIDES, titles, figures, strict=True):
        start = f"{side}: {title}" + " " * (wide - cells(title))
        lines.append(Text(start + "".join([f"{figure:>{column}}" for figure in line])))
    return lines
