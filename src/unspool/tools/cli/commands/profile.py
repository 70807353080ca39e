"""`unspool profile`: when did each field become usable? As a waterfall, a comparison, JSON lines, or a report.

title        --====#                     0.479   0.521     41    1.7%
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer
from rich.text import Text

from ...viewer.escaping import cells, clip, visible
from ...viewer.waterfall import MAX_BARS, MAX_ITEMS, compare, layout, spelled
from ..arrivals import DIGITS, STANDARD_INPUT, GrowingTimeline, Input, problems_of
from ..hints import hint_for
from ..options import (
    Cut,
    Extract,
    File,
    Format,
    Kind,
    Repairing,
    Select,
    checked_file,
    level_of,
    load_pattern,
)
from ..terminal import (
    Complaints,
    UsageError,
    complain,
    console,
    crop,
    guarded,
    is_ascii_only,
    print_words,
    progress,
    shown,
    write_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...viewer.timeline import Timeline
    from ...viewer.waterfall import Axis, Bar, Comparison, Waterfall

__all__ = ["By", "comparison_lines", "profile", "waterfall_lines"]

MAX_STEPS: Final = 20_000  # fragments of a plain file
UNLIMITED: Final = 1_000_000_000


class By(StrEnum):
    """The unit of the waterfall."""

    SECONDS = "seconds"
    CHARACTERS = "characters"


def profile(
    file: File = STANDARD_INPUT,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page for the browser to this file.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Write only the drawing to this file.")] = None,
    other: Annotated[
        Path | None,
        typer.Option("--compare", metavar="OTHER", help="Compare with another input.", callback=checked_file),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per field.")] = False,
    by: Annotated[By | None, typer.Option("--by", help="Unit (default: seconds if they were measured).")] = None,
    select: Select = None,
    depth: Annotated[int | None, typer.Option("--depth", min=0, help="Number of levels to show.")] = None,
    items: Annotated[int, typer.Option("--items", min=0, help="Number of items to show per array.")] = MAX_ITEMS,
    kind: Kind = None,
    format: Format = None,
    cut: Cut = None,
    extract: Extract = False,
    repair: Repairing = None,
) -> None:
    """Show when each field became usable: first seen, complete, bytes, share of the whole, and a waterfall."""
    files = [file] if other is None else [file, other]
    sources = [Input(one, kind, format, cut, repair=level_of(repair)).cut_into(MAX_STEPS, least=1) for one in files]
    with guarded("", lambda: _hint(sources, extract)):
        pattern = load_pattern(select)
        names = [source.name for source in sources]
        _check_outputs([output for output in (html, svg) if output is not None], files)
        timelines = [_collected(source, extract) for source in sources]
        unit = by.value if by is not None else _unit(timelines)
        most_items, most_bars = (UNLIMITED, UNLIMITED) if as_json else (items, MAX_BARS)
        waterfalls = [
            layout(timeline, max_items=most_items, max_bars=most_bars, max_depth=depth, unit=unit, select=pattern)
            for timeline in timelines
        ]
        _write_reports(html, svg, names, timelines, waterfalls)
        if as_json:
            write_lines(_json_lines(waterfalls))
            for name, waterfall in zip(names, waterfalls, strict=True):
                if waterfall.only_counted:
                    complain(f"{name}: {waterfall.only_counted:,} fields are too many, and have no line")
        else:
            _show(names, timelines, waterfalls)
        complaints = Complaints()
        for source, timeline in zip(sources, timelines, strict=True):
            for problem in problems_of(timeline, source):
                complaints.add(f"{source.name}: {problem}")
        complaints.settle()


def _hint(sources: list[Input], extract: bool) -> str:
    """Return the hint about the first input that has one."""
    hints = ((source.name, hint_for(source, extract=extract)) for source in sources)
    return next((f"{name}: {hint}" if len(sources) > 1 else hint for name, hint in hints if hint), "")


def _collected(source: Input, extract: bool) -> Timeline:
    growing = GrowingTimeline(source, extract=extract)
    with progress(source) as took:
        for _ in growing.ticks(took):
            pass
    return growing.finish()


def _unit(timelines: list[Timeline]) -> str:
    return "seconds" if all(timeline.is_timed for timeline in timelines) else "characters"


def _facts(timeline: Timeline) -> list[tuple[str, str]]:
    found = timeline.found
    what = str(found.kind) if found.format is None else found.format
    facts = [("input", what), ("steps", f"{timeline.last:,}"), ("characters", f"{timeline.sizes[-1]:,}")]
    return [*facts, ("seconds", f"{timeline.duration:.2f}")] if timeline.is_timed else facts


# Reports.


def _check_outputs(outputs: list[Path], files: list[Path]) -> None:
    """Raise `UsageError` for reports that cannot be written, before anything is read.

    An older report is overwritten, because it can be made again. An input is not.
    """
    if len(set(outputs)) < len(outputs):
        raise UsageError(f"{outputs[0]} cannot be both the page and the drawing")
    for output in outputs:
        if output == STANDARD_INPUT:
            raise UsageError("reports need a file name; '-' is not supported")
        if output.is_dir():
            raise UsageError(f"{output} is a directory")
        if not output.parent.is_dir():
            raise UsageError(f"{output}: there is no directory {output.parent}")
        if output.exists() and any(file.exists() and output.samefile(file) for file in files):
            raise UsageError(f"{output} is the file to be read")


def _write_reports(
    html: Path | None, svg: Path | None, names: list[str], timelines: list[Timeline], waterfalls: list[Waterfall]
) -> None:
    if html is None and svg is None:
        return
    from ...viewer.drawings import Report, draw, draw_both, page  # only needed here

    try:
        if html is not None:
            reports = [
                Report(
                    name,
                    waterfall,
                    tuple([(title.capitalize(), value) for title, value in _facts(timeline)]),
                    tuple(timeline.problems()),
                )
                for name, timeline, waterfall in zip(names, timelines, waterfalls, strict=True)
            ]
            _write_file(html, page(*reports))
        if svg is not None:
            is_one = len(waterfalls) == 1
            text = (
                draw(waterfalls[0], names[0])
                if is_one
                else draw_both(waterfalls[0], waterfalls[1], (names[0], names[1]))
            )
            _write_file(svg, text)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None


def _write_file(file: Path, text: str) -> None:
    done = "overwrote" if file.exists() else "wrote"
    file.write_text(text, encoding="utf-8")
    terminal = console(stderr=True)
    if terminal.is_terminal:  # for users only, not for programs that run the command
        print_words(terminal, Text(shown(f"{done} {file}")))


def _json_lines(waterfalls: list[Waterfall]) -> Iterator[dict[str, object]]:
    unit = waterfalls[0].axis.unit
    if len(waterfalls) > 1:
        for field in compare(*waterfalls):
            yield {
                "track": field.track,
                "path": field.path or None,
                "one": None if field.one is None else {"first": field.one[0], "complete": field.one[1]},
                "two": None if field.two is None else {"first": field.two[0], "complete": field.two[1]},
                "gain": field.gain,
                "unit": unit,
            }
        return
    for bar in waterfalls[0].bars:
        yield {
            "track": bar.track,
            "path": bar.path or None,
            "kind": bar.kind,
            "first": bar.first,
            "complete": bar.complete,
            "duration": None if bar.duration is None else round(bar.duration, DIGITS),
            "bytes": bar.size,
            "share": round(bar.share, 6),
            "unit": unit,
        }


# In the terminal.


def _show(names: list[str], timelines: list[Timeline], waterfalls: list[Waterfall]) -> None:
    out = console()
    ascii_only = is_ascii_only()
    for name, timeline in zip(names, timelines, strict=True):
        facts = ", ".join([value if title == "input" else _fact(value, title) for title, value in _facts(timeline)])
        out.print(Text(shown(name), style="bold") + Text(f": {facts}", style="not bold"), soft_wrap=True)
    if len(waterfalls) > 1:
        lines = comparison_lines(waterfalls[0], waterfalls[1], (names[0], names[1]), out.width, ascii_only=ascii_only)
    else:
        lines = waterfall_lines(waterfalls[0], out.width, ascii_only=ascii_only) if waterfalls[0].bars else []
    for line in lines:
        out.print(line, soft_wrap=True)
    if len(waterfalls) == 1:
        print_words(out, Text(_usable(timelines[0], waterfalls[0].axis.unit)))
    left_out = sum([waterfall.left_out for waterfall in waterfalls])
    if left_out:
        print_words(out, Text(f"{left_out:,} more fields are not shown: see --depth, --items, --json", "dim"))


def _fact(value: str, title: str) -> str:
    return f"{value} {title.removesuffix('s') if value == '1' else title}"


def _usable(timeline: Timeline, unit: str) -> str:
    """Return when leaves became usable, including those that are not shown."""
    times = layout(timeline, max_bars=0, unit=unit).usable
    if times is None:
        return "no leaf is complete"
    first, middle, last = [spelled(time, unit) for time in times[1:]]
    leaves = f"{times.leaves:,} leaves" if times.leaves != 1 else "1 leaf"
    return f"{leaves} usable, in {unit}: first {first}, half {middle}, last {last}"


# The waterfall.

MIN_BAR_WIDTH: Final = 16
MIN_LABEL_WIDTH: Final = 6
BLOCKS: Final = ("─", "░", "█", "▸")  # not seen yet, growing, complete, still open at the end
ASCII: Final = ("-", "=", "#", ">")
LABEL_STYLES: Final = {
    "object": "bold",
    "array": "bold",
    "json": "bold underline",
    "text": "bold underline",
    "items": "italic",
}


class Column(NamedTuple):
    """A column of figures. If there is little room, columns with a low `rank` are shown first.

    `width` fits ordinary figures and a space before them. Longer figures widen the column.
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


def waterfall_lines(waterfall: Waterfall, width: int, *, ascii_only: bool = False) -> list[Text]:
    """Return the axis and one line per bar, none wider than `width`, and a note if there are too many fields."""
    labels = [" " * min(12, bar.depth) + visible(bar.label, ascii_only=ascii_only) for bar in waterfall.bars]
    longest = max(map(cells, labels), default=0)
    label_width = max(min(longest, max(width // 4, MIN_LABEL_WIDTH)), min(longest, 1))
    figures = [_figures(bar, waterfall.axis.unit) for bar in waterfall.bars]
    columns, bar_width = _columns(width - label_width - 1, figures)
    lines = [_axis(waterfall.axis, label_width, bar_width, columns)]
    for bar, full_label, texts in zip(waterfall.bars, labels, figures, strict=True):
        label = clip(full_label, label_width, ascii_only=ascii_only)
        line = Text(label, style=LABEL_STYLES.get(bar.kind, ""))
        line.append(" " * (label_width - cells(label) + 1), style="not underline")
        line.append_text(_bar(bar, waterfall.axis, bar_width, ASCII if ascii_only else BLOCKS))
        for column in columns:
            text = texts[column.title]
            line.append(f"{text:>{column.width}}", style="yellow" if text == "open" else "not bold not underline")
        lines.append(line)
    for line in lines:
        crop(line, width)
    return lines + _too_many(waterfall)


def _figures(bar: Bar, unit: str) -> dict[str, str]:
    return {
        "first": spelled(bar.first, unit),
        "complete": spelled(bar.complete, unit) or "open",
        "took": spelled(bar.duration, unit),
        "bytes": f"{bar.size:,}",
        "share": f"{bar.share:.1%}",
    }


def _too_many(waterfall: Waterfall, name: str = "") -> list[Text]:
    count = waterfall.only_counted
    words = f"{name}{count:,} more fields are only counted: too many to be shown, selected or listed"
    return [Text(words, style="yellow")] if count else []


def _width(least: int, texts: Iterable[str]) -> int:
    """Return the width of a column, with a space before the longest text."""
    return max(least, 1 + max(map(len, texts), default=0))


def _columns(room: int, figures: list[dict[str, str]]) -> tuple[list[Column], int]:
    """Return the columns that leave enough room for the bars, and that room."""
    chosen: list[Column] = []
    least = max(MIN_BAR_WIDTH, room * 2 // 5)
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


# The comparison of two waterfalls.

SIDES: Final = ("one", "two")
CHANGE_STYLES: Final = {
    "earlier": "bold green",
    "later": "yellow",
    "the same": "",
    "open in one": "yellow",
    "open in two": "yellow",
    "open in both": "yellow",
    "not in both": "dim",
}


class ComparisonRow(NamedTuple):
    """A field of both waterfalls, in words; `style` is that of the change."""

    name: str
    one: str
    two: str
    change: str
    style: str


def comparison_lines(
    one: Waterfall, two: Waterfall, names: tuple[str, str], width: int, *, ascii_only: bool = False
) -> list[Text]:
    """Return when each field was complete in both waterfalls, followed by a summary."""
    fields = compare(one, two)
    counts = Counter([field.change for field in fields])
    lines = _table([_row(field, one.axis.unit) for field in fields], width, ascii_only)
    lines.append(Text())
    lines += _usable_lines((one, two), names, width, ascii_only)
    for side, waterfall in zip(SIDES, (one, two), strict=True):
        lines += _too_many(waterfall, f"{side}: ")
    summary = ", ".join([f"{counts[change]:,} {change}" for change in CHANGE_STYLES if counts[change]])
    lines.append(Text(f"in two: {summary or 'nothing'}", style="bold"))
    return lines


def _row(field: Comparison, unit: str) -> ComparisonRow:
    ends = [spelled(side[1], unit) or "open" if side is not None else "-" for side in (field.one, field.two)]
    change = f"{spelled(abs(field.gain), unit)} {field.change}" if field.gain else field.change
    return ComparisonRow(field.path or field.track, ends[0], ends[1], change, CHANGE_STYLES[field.change])


def _table(rows: list[ComparisonRow], width: int, ascii_only: bool) -> list[Text]:
    rows = [ComparisonRow("complete at", *SIDES, "in two", ""), *rows]
    side = _width(9, [text for row in rows for text in (row.one, row.two)])
    last = _width(17, [row.change for row in rows])
    room = max(width - 2 * side - last, MIN_LABEL_WIDTH)
    lines: list[Text] = []
    for row in rows:
        name = clip(visible(row.name, ascii_only=ascii_only), room, keep_end=True, ascii_only=ascii_only)
        line = Text(name + " " * (room - cells(name)) + f"{row.one:>{side}}{row.two:>{side}}")
        line.append(f"{row.change:>{last}}", style=row.style)
        crop(line, width)
        lines.append(line)
    lines[0].stylize("dim")
    return lines


def _usable_lines(
    waterfalls: tuple[Waterfall, Waterfall], names: tuple[str, str], width: int, ascii_only: bool
) -> list[Text]:
    """Return when the first leaf, half of the leaves, and the last leaf were usable in both waterfalls."""
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
