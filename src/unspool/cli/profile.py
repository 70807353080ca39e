"""`unspool profile`: when did each field become usable?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from ..errors import PatternError
from ..select import compile as compile_pattern
from ..viewer.html import Report, page
from ..viewer.svg import draw
from ..viewer.waterfall import MOST_ITEMS, aligned, compare, layout, spelled, usable
from .bars import comparison_lines, waterfall_lines
from .gathering import gather, problems
from .reading import Cut, Extract, Format, Kind
from .sources import Sample, Source, source_of
from .terminal import Complaints, console, guarded, is_ascii_only, shown, write_line

if TYPE_CHECKING:
    from ..select import Pattern
    from ..viewer.timeline import Timeline
    from ..viewer.waterfall import Waterfall

__all__ = ["By", "profile"]

MOST_STEPS: Final = 20_000  # fragments of a plain file
ALL: Final = 1_000_000_000


class By(StrEnum):
    """What the waterfall counts."""

    SECONDS = "seconds"
    CHARACTERS = "characters"


def profile(
    file: Source = "-",
    sample: Sample = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page for a browser, in one file.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Write the drawing alone.")] = None,
    other: Annotated[
        str | None, typer.Option("--compare", metavar="OTHER", help="What is usable earlier or later in this one?")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines, one for each field.")] = False,
    by: Annotated[By | None, typer.Option("--by", help="What is counted; seconds where there are any.")] = None,
    select: Annotated[str | None, typer.Option("--select", metavar="PATTERN", help="These fields only.")] = None,
    items: Annotated[int, typer.Option("--items", min=0, help="Show so many items of each array.")] = MOST_ITEMS,
    kind: Kind = None,
    format: Format = None,
    cut: Cut = None,
    extract: Extract = False,
) -> None:
    """When did each field become usable: first seen, complete, bytes, share of the whole; and a waterfall."""
    with guarded():
        pattern = _pattern(select)
        name, source = source_of(file, sample, kind=kind, format=format, cut=cut, most_steps=MOST_STEPS)
        sources = [(name, source)]
        if other is not None:
            sources.append(source_of(other, kind=kind, format=format, cut=cut, most_steps=MOST_STEPS))
        timelines = [gather(one, extract=extract) for _, one in sources]
        unit = by.value if by is not None else _unit(timelines)
        most = ALL if as_json else items
        waterfalls = [
            layout(timeline, most_items=most, most_bars=ALL, unit=unit, select=pattern)
            if as_json
            else layout(timeline, most_items=most, unit=unit, select=pattern)
            for timeline in timelines
        ]
        names = [name for name, _ in sources]
        _write_files(html, svg, names, timelines, waterfalls)
        if as_json:
            _write_lines(waterfalls)
        else:
            _show(names, timelines, waterfalls)
        complaints = Complaints()
        for problem in [problem for timeline in timelines for problem in problems(timeline)]:
            complaints.add(problem)
        complaints.settle()


def _pattern(text: str | None) -> Pattern | None:
    try:
        return None if text is None else compile_pattern(text)
    except PatternError as error:
        raise typer.BadParameter(str(error), param_hint="--select") from None


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
    try:
        if html is not None:
            reports = [
                Report(
                    name,
                    waterfall,
                    tuple([(title.capitalize(), value) for title, value in _facts(timeline)]),
                    tuple(problems(timeline)),
                )
                for name, timeline, waterfall in zip(names, timelines, waterfalls, strict=True)
            ]
            html.write_text(page(*reports), encoding="utf-8")
        if svg is not None:
            svg.write_text(draw(waterfalls[0], names[0]), encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{error.filename}: {error.strerror}") from None


def _show(names: list[str], timelines: list[Timeline], waterfalls: list[Waterfall]) -> None:
    out = console()
    ascii_only = is_ascii_only()
    for name, timeline in zip(names, timelines, strict=True):
        facts = ", ".join([value if title == "input" else f"{value} {title}" for title, value in _facts(timeline)])
        out.print(Text(shown(name), style="bold") + Text(f": {facts}", style="not bold"), soft_wrap=True)
    if len(waterfalls) > 1:
        one, two = aligned(waterfalls[0], waterfalls[1])
        lines = comparison_lines(one, two, (names[0], names[1]), out.width, ascii_only=ascii_only)
    else:
        lines = waterfall_lines(waterfalls[0], out.width, ascii_only=ascii_only)
    for line in lines:
        out.print(line, soft_wrap=True)
    for waterfall in waterfalls if len(waterfalls) == 1 else ():
        out.print(Text(_summary(waterfall)), soft_wrap=True)
    left_out = sum([waterfall.left_out for waterfall in waterfalls])
    if left_out:
        out.print(Text(f"{left_out:,} more fields are folded away or left out; see --items and --json", "dim"))


def _summary(waterfall: Waterfall) -> str:
    times, unit = usable(waterfall), waterfall.axis.unit
    if times is None:
        return "no leaf is complete"
    first, middle, last = [spelled(time, unit) for time in times[1:]]
    leaves = f"{times.leaves:,} leaves" if times.leaves != 1 else "1 leaf"
    return f"{leaves} usable: the first at {first}, half of them at {middle}, the last at {last} ({unit})"


def _write_lines(waterfalls: list[Waterfall]) -> None:
    unit = waterfalls[0].axis.unit
    if len(waterfalls) > 1:
        for field in compare(waterfalls[0], waterfalls[1]):
            sides = [
                None if side is None else {"first": side[0], "complete": side[1]} for side in (field.one, field.two)
            ]
            line = {"track": field.track, "path": field.path or None, "one": sides[0], "two": sides[1]}
            write_line({**line, "gain": field.gain, "unit": unit})
        return
    for bar in waterfalls[0].bars:
        write_line({
            "track": bar.track,
            "path": bar.path or None,
            "kind": bar.kind,
            "first": bar.first,
            "complete": bar.complete,
            "duration": bar.duration,
            "bytes": bar.size,
            "share": round(bar.share, 6),
            "unit": unit,
        })  # fmt: skip
