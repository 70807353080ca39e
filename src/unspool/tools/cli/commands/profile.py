"""`unspool profile`: when did each field become usable?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from ...._errors import UnspoolError
from ....select import compile as compile_pattern
from ...viewer.waterfall import MAX_BARS, MAX_ITEMS, compare, layout, spelled
from ..lines.problems import problems_of
from ..options import Cut, Extract, File, Format, Kind, Select, checked_file
from ..progress import progress
from ..reading import DIGITS, STANDARD_INPUT, Input, timed_items
from ..screen.waterfall import comparison_lines, waterfall_lines
from ..terminal import (
    Complaints,
    UsageError,
    complain,
    console,
    guarded,
    is_ascii_only,
    print_words,
    shown,
    write_lines,
)

if TYPE_CHECKING:
    from ...viewer.timeline import Timeline
    from ...viewer.waterfall import Waterfall

__all__ = ["By", "profile"]

MOST_STEPS: Final = 20_000  # fragments of a plain file
ALL: Final = 1_000_000_000


class By(StrEnum):
    """What the waterfall counts."""

    SECONDS = "seconds"
    CHARACTERS = "characters"


def profile(
    file: File = STANDARD_INPUT,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page for a browser, in one file.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Write the drawing alone.")] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--compare", metavar="OTHER", help="What is usable earlier or later in this one?", callback=checked_file
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines, one for each field.")] = False,
    by: Annotated[By | None, typer.Option("--by", help="What is counted; seconds where there are any.")] = None,
    select: Select = None,
    depth: Annotated[int | None, typer.Option("--depth", min=0, help="Show so many levels.")] = None,
    items: Annotated[int, typer.Option("--items", min=0, help="Show so many items of each array.")] = MAX_ITEMS,
    kind: Kind = None,
    format: Format = None,
    cut: Cut = None,
    extract: Extract = False,
) -> None:
    """When did each field become usable: first seen, complete, bytes, share of the whole; and a waterfall."""
    with guarded():
        pattern = None if select is None else compile_pattern(select)
        files = [file] if other is None else [file, other]
        sources = [Input(one, kind, format, cut).cut_into(MOST_STEPS, least=1) for one in files]
        names = [source.name for source in sources]
        _check_outputs([output for output in (html, svg) if output is not None], files)
        timelines = [_gathered(source, extract) for source in sources]
        unit = by.value if by is not None else _unit(timelines)
        most_items, most_bars = (ALL, ALL) if as_json else (items, MAX_BARS)
        waterfalls = [
            layout(timeline, max_items=most_items, max_bars=most_bars, max_depth=depth, unit=unit, select=pattern)
            for timeline in timelines
        ]
        _write_files(html, svg, names, timelines, waterfalls)
        if as_json:
            write_lines(_lines(waterfalls))
            for name, waterfall in zip(names, waterfalls, strict=True):
                if waterfall.only_counted:
                    complain(f"{name}: {waterfall.only_counted:,} fields are too many, and have no line")
        else:
            _show(names, timelines, waterfalls)
        complaints = Complaints()
        for name, timeline in zip(names, timelines, strict=True):
            for problem in problems_of(timeline):
                complaints.add(f"{name}: {problem}")
        complaints.settle()


def _check_outputs(outputs: list[Path], files: list[Path]) -> None:
    """What cannot be written is told before anything is read. A report can be made again, so an older one is
    overwritten; what it is made of is not.
    """
    if len(set(outputs)) < len(outputs):
        raise UsageError(f"{outputs[0]} cannot be both the page and the drawing")
    for output in outputs:
        if output == STANDARD_INPUT:
            raise UsageError("a report is written to a file, and - is none")
        if output.is_dir():
            raise UsageError(f"{output} is a directory")
        if not output.parent.is_dir():
            raise UsageError(f"{output}: there is no directory {output.parent}")
        if output.exists() and any(file.exists() and output.samefile(file) for file in files):
            raise UsageError(f"{output} is the file to be read")


def _gathered(source: Input, extract: bool) -> Timeline:
    """Everything that comes. What is wrong with the wrapping ends it, and is a note at the end."""
    opening = source.opening()
    timeline: Timeline | None = None
    problem = ""
    with progress(source) as took:
        try:
            for time, item in timed_items(source, opening, took):
                timeline = timeline or opening.timeline(extract=extract)
                timeline.add(time, item)
        except UnspoolError as error:
            problem = str(error)
    timeline = timeline or opening.timeline(extract=extract)
    timeline.finish(timeline.duration, problem)
    return timeline


def _unit(timelines: list[Timeline]) -> str:
    return "seconds" if all(timeline.is_timed for timeline in timelines) else "characters"


def _facts(timeline: Timeline) -> list[tuple[str, str]]:
    found = timeline.found
    what = str(found.kind) if found.format is None else found.format
    facts = [("input", what), ("steps", f"{timeline.last:,}"), ("characters", f"{timeline.sizes[-1]:,}")]
    return [*facts, ("seconds", f"{timeline.duration:.2f}")] if timeline.is_timed else facts


def _write_files(
    html: Path | None, svg: Path | None, names: list[str], timelines: list[Timeline], waterfalls: list[Waterfall]
) -> None:
    if html is None and svg is None:
        return
    from ...viewer.drawings import Report, draw, draw_both, page  # only reports need it

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
    """People are told what became of the file; who calls this from a program knows it."""
    done = "overwrote" if file.exists() else "wrote"
    file.write_text(text, encoding="utf-8")
    terminal = console(stderr=True)
    if terminal.is_terminal:
        print_words(terminal, Text(shown(f"{done} {file}")))


def _show(names: list[str], timelines: list[Timeline], waterfalls: list[Waterfall]) -> None:
    out = console()
    ascii_only = is_ascii_only()
    for name, timeline in zip(names, timelines, strict=True):
        facts = ", ".join([value if title == "input" else _counted(value, title) for title, value in _facts(timeline)])
        out.print(Text(shown(name), style="bold") + Text(f": {facts}", style="not bold"), soft_wrap=True)
    if len(waterfalls) > 1:
        lines = comparison_lines(waterfalls[0], waterfalls[1], (names[0], names[1]), out.width, ascii_only=ascii_only)
    else:
        lines = waterfall_lines(waterfalls[0], out.width, ascii_only=ascii_only)
        lines.append(Text(_summary(timelines[0], waterfalls[0].axis.unit)))
    for line in lines:
        out.print(line, soft_wrap=True)
    left_out = sum([waterfall.left_out for waterfall in waterfalls])
    if left_out:
        out.print(Text(f"{left_out:,} more fields are folded away or left out; see --depth, --items and --json", "dim"))


def _counted(count: str, what: str) -> str:
    return f"{count} {what.removesuffix('s') if count == '1' else what}"


def _summary(timeline: Timeline, unit: str) -> str:
    """When there was something to use: of all leaves, also those that are not shown."""
    times = layout(timeline, max_bars=0, unit=unit).usable
    if times is None:
        return "no leaf is complete"
    first, middle, last = [spelled(time, unit) for time in times[1:]]
    leaves = f"{times.leaves:,} leaves" if times.leaves != 1 else "1 leaf"
    return f"{leaves} usable: the first at {first}, half of them at {middle}, the last at {last} ({unit})"


def _lines(waterfalls: list[Waterfall]) -> list[dict[str, object]]:
    unit = waterfalls[0].axis.unit
    if len(waterfalls) > 1:
        return [
            {
                "track": field.track,
                "path": field.path or None,
                "one": None if field.one is None else {"first": field.one[0], "complete": field.one[1]},
                "two": None if field.two is None else {"first": field.two[0], "complete": field.two[1]},
                "gain": field.gain,
                "unit": unit,
            }
            for field in compare(*waterfalls)
        ]
    return [
        {
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
        for bar in waterfalls[0].bars
    ]
