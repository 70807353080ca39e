"""The screen of `unspool watch`: all tracks of a timeline, one below the other, and a status line.

The newest track gets the room it needs, the others share the rest. Signs, weight and colour mark open and changed rows:

    + new    ~ has grown    ! does not fit the schema    x is where the text breaks
    [ 3 …    an open array                        [ 3 ]    a complete array
    "Arri▌   an open string
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from rich.text import Text

from ..viewer.escaping import cells, clip, visible
from ..viewer.rows import label_of, picked, window
from ..viewer.tracks import CONTENT, DOCUMENT, Selection, in_words
from .terminal import counted, crop, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..._path import Path
    from ..._tree.nodes import Node
    from ...select import Pattern
    from ...typed._iterate import Resolver
    from ...typed._resolve import Cache
    from ...typed._shape import Problem
    from ..viewer.rows import TreeRow
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Fields, Track
    from .terminal import Excerpt

__all__ = [
    "Look",
    "Signs",
    "TimelineValidator",
    "TracksView",
    "json_tracks",
    "legend",
    "prose_lines",
    "shares",
    "status_line",
    "summary",
]

MIN_LINES: Final = 2  # per track: its title and one more
MAX_PROBLEMS: Final = 3
MAX_ROWS: Final = 10_000  # of a complete listing: more than users scroll back
BLOCK: Final = 200  # rows that are made at a time

BRACKETS: Final = {"object": ("{", "}"), "array": ("[", "]")}
SIGNS: Final = {"new": "+", "grown": "~"}
STYLES: Final = {"new": "bold green", "grown": "bold yellow"}
VALUE_STYLES: Final = {"string": "green", "number": "magenta", "boolean": "yellow", "null": "yellow"}
LEGEND_ROWS: Final = 12  # a terminal with fewer rows has no legend
GUTTER: Final = 2
MIN_VALUE_WIDTH: Final = 8  # columns
MAX_VALUE_WIDTH: Final = 100_000  # columns of a value that is wrapped

RATE_SPAN: Final = 1.0  # seconds over which the rate is measured
MIN_CLIPPED: Final = 12  # columns: a shorter part of the status line says nothing
GAP: Final = "  "


class Look(NamedTuple):
    """How to draw: a complete listing has no `height`; rows that changed after step `before` are marked."""

    width: int
    height: int | None
    before: int | None


class Signs(NamedTuple):
    """The characters that depend on the terminal."""

    cursor: str
    dots: str
    is_ascii: bool

    @classmethod
    def chosen(cls, ascii_only: bool) -> Signs:
        """Return the characters for a terminal."""
        return cls("_", "...", True) if ascii_only else cls("▌", "…", False)

    def visible(self, text: str) -> str:
        """Return foreign text with everything invisible spelled out."""
        return visible(text, ascii_only=self.is_ascii)

    def clip(self, text: str, width: int, *, keep_end: bool = False) -> str:
        """Return the text, shortened to `width` columns."""
        return clip(text, width, keep_end=keep_end, ascii_only=self.is_ascii)


class Marks(NamedTuple):
    """The paths to mark, besides the changed ones."""

    invalid: frozenset[Path] = frozenset()
    broken: Path | None = None


# What a timeline shows.


def json_tracks(timeline: Timeline) -> list[Track]:
    """Return the tracks whose text is JSON."""
    return [track for track in timeline.tracks.values() if track.is_json]


@final
class TimelineValidator:
    """Validates a timeline against a schema: the document or the content or, if neither is JSON, the calls."""

    def __init__(self, timeline: Timeline, resolver: Resolver[Any] | None) -> None:
        self._timeline = timeline
        self._resolver = resolver
        self._caches: dict[str, tuple[int, Cache]] = {}

    def problems(self, name: str | None = None) -> list[Problem]:
        """Return the violations of all tracks, or of one."""
        if self._resolver is None:
            return []
        tracks = json_tracks(self._timeline)
        main = [track for track in tracks if track.name in (DOCUMENT, CONTENT)] or tracks
        return [
            problem
            for track in main
            if name is None or track.name == name
            for problem in self._of(track, self._resolver)
        ]

    def paths(self, track: Track) -> frozenset[Path]:
        """Return the paths of the violations in a track."""
        return frozenset([problem.path for problem in self.problems(track.name)])

    def _of(self, track: Track, resolver: Resolver[Any]) -> tuple[Problem, ...]:
        root = track.state.root
        first = -1 if root is None else root.id
        known = self._caches.get(track.name)
        cache = known[1] if known is not None and known[0] == first else None  # a cache is for one document
        resolution, cache = resolver.resolve(track.state, cache)
        self._caches[track.name] = (first, cache)
        return resolution.problems


@final
class _Picked:
    """The ids of the fields that a pattern selects, found incrementally."""

    def __init__(self, fields: Fields, pattern: Pattern) -> None:
        self.fields = fields
        self._selection = Selection(pattern)
        self._ids: list[int] = []
        self._seen = 0

    def ids(self, root: Node | None) -> list[int]:
        """Return the ids in this tree, which is that of the last document."""
        for field in self.fields.listed[self._seen :]:
            if root is not None and field.id == root.id:
                self._ids.clear()
            if self._selection.depth(field.path) is not None:
                self._ids.append(field.id)
        self._seen = len(self.fields.listed)
        return self._ids


# All tracks.


@final
class TracksView:
    """Draws a timeline in its current state, while it grows."""

    def __init__(
        self, timeline: Timeline, *, select: Pattern | None, resolver: Resolver[Any] | None, ascii_only: bool
    ) -> None:
        self._timeline = timeline
        self._signs = Signs.chosen(ascii_only)
        self._select = select
        self._picked: dict[str, _Picked] = {}
        self._validator = TimelineValidator(timeline, resolver)

    @property
    def problems(self) -> list[Problem]:
        """The violations of the schema."""
        return self._validator.problems()

    def lines(self, look: Look) -> Iterator[Text]:
        """Yield all lines: none wider than the terminal, and not more than fit."""
        timeline = self._timeline
        if not timeline.tracks:
            yield Text(self._signs.clip("nothing yet", look.width), style="dim")
            return
        wrong = self._problem_lines(look)
        names = list(timeline.tracks)
        if look.height is None:
            for name in names:
                yield from self._track_lines(name, None, look)
        else:
            needs = [self._need(timeline.tracks[name], look.width) for name in names]
            recency = sorted(range(len(names)), key=lambda index: -timeline.tracks[names[index]].last_step)
            for name, room in zip(names, shares(needs, look.height - len(wrong), recency), strict=True):
                yield from list(self._track_lines(name, room, look))[:room]
        yield from wrong

    def _need(self, track: Track, width: int) -> int:
        if track.is_json:
            count = max(_row_count(track.state.root) if self._select is None else len(self._ids(track) or ()), 1)
        else:
            text = track.text(max(track.start_at(track.last_step), track.length - 4000))
            count = text.count("\n") + len(text) // max(width - 2, 1) + 1
        error_lines = 3 if track.is_json and track.state.error is not None else 0
        return int(self._timeline.has_title(track.name)) + count + error_lines

    def _track_lines(self, name: str, room: int | None, look: Look) -> Iterator[Text]:
        track = self._timeline.tracks[name]
        if room is not None and room <= 0:
            return
        if self._timeline.has_title(name):
            yield self._title(track, look.width)
            room = None if room is None else room - 1
        if track.is_json:
            yield from self._tree(track, room, look)
        else:
            yield from self._prose(track, room, look.width)

    def _title(self, track: Track, width: int) -> Text:
        line = "-" if self._signs.is_ascii else "─"
        size = track.length - track.start_at(track.last_step)
        label = self._signs.clip(self._signs.visible(self._timeline.label(track.name)), max(width - 6, 1))
        title = f"{line}{line} {label} {line} {self._status(track)}, {size:,} characters "
        title = self._signs.clip(title, width)
        return Text(title + line * max(width - cells(title), 0), style="dim", no_wrap=True)

    def _status(self, track: Track) -> str:
        if not track.is_json:
            return "text" if track.ended_at is None else "complete"
        if track.state.error is not None:
            return "broken"
        return "complete" if track.state.is_complete else "open"

    def _tree(self, track: Track, room: int | None, look: Look) -> Iterator[Text]:
        error = track.state.error
        wrong: list[Text] = []
        if error is not None:
            message = self._signs.visible(f"x {in_words(error)}")
            line, caret = self._place(track, error.offset, max(look.width - 2, 1))
            words = wrapped(message, look.width) if room is None else [self._signs.clip(message, look.width)]
            places = [self._signs.clip(f"  {text}", look.width) for text in (line, " " * caret + "^")]
            wrong = [Text(part, style="bold red", no_wrap=True) for part in words]
            wrong += [Text(text, no_wrap=True) for text in places]
            wrong = wrong if room is None or room > len(wrong) else wrong[:1] if room > 1 else []
        marks = Marks(self._validator.paths(track), None if error is None else error.path)
        yield from self._rows(track, None if room is None else room - len(wrong), look, marks)
        yield from wrong

    def _place(self, track: Track, offset: int, width: int) -> Excerpt:
        """Return the line around a place."""
        place = track.start_at(track.last_step) + offset
        before = track.text(max(place - width, 0), place).rpartition("\n")[2]
        after = track.text(place, place + width)
        return excerpt(before, after[:1] + after[1:].partition("\n")[0], width, ascii_only=self._signs.is_ascii)

    def _rows(self, track: Track, room: int | None, look: Look, marks: Marks) -> Iterator[Text]:
        root = track.state.root
        before = root if look.before is None else track.state_at(look.before).root
        ids = self._ids(track)
        total = _row_count(root) if ids is None else len(ids)
        if not total:
            note = "  nothing selected yet" if ids is not None else "  nothing yet"
            yield Text(self._signs.clip(note, look.width), style="dim")
            return

        def made(start: int, count: int) -> list[Text]:
            return _tree_lines(root, before, start, count, look.width, self._signs, marks, ids, wraps=room is None)

        if room is None:
            if total > MAX_ROWS:
                yield Text(f"  {self._signs.dots} {total - MAX_ROWS:,} above", style="dim")
            for start in range(max(total - MAX_ROWS, 0), total, BLOCK):
                yield from made(start, BLOCK)
        elif total <= room:
            yield from made(0, total)
        else:  # show the end, where the tree grows, and count the rows above
            above = total - max(room - 1, 1)
            if room > 1:
                yield Text(self._signs.clip(self._above(root, above, ids), look.width), style="dim", no_wrap=True)
            yield from made(above, room)

    def _above(self, root: Node | None, count: int, ids: list[int] | None) -> str:
        """Return the note about hidden rows: how many, and the container of the first visible row."""
        note = f"  {self._signs.dots} {count:,} above"
        rows = window(root, None, count, 1).rows
        if ids is not None or not rows or rows[0].path.parent is None:
            return note
        return f"{note}, in {self._signs.visible(str(rows[0].path.parent))}"

    def _ids(self, track: Track) -> list[int] | None:
        if self._select is None:
            return None
        fields = self._timeline.fields[track.name]
        known = self._picked.get(track.name)
        if known is None or known.fields is not fields:
            known = self._picked[track.name] = _Picked(fields, self._select)
        return known.ids(track.state.root)

    def _prose(self, track: Track, room: int | None, width: int) -> Iterator[Text]:
        start = track.start_at(track.last_step)
        if room is not None:
            start = max(start, track.length - (room + 1) * max(width, 1))
        newest = max([one.last_step for one in self._timeline.tracks.values()])
        is_open = track.ended_at is None and track.last_step == newest
        lines = prose_lines(track.text(start), width, self._signs, is_open=is_open)
        yield from lines if room is None else lines[max(len(lines) - room, 0) :] if room > 0 else []

    def _problem_lines(self, look: Look) -> list[Text]:
        """Return lines for the violations of the schema and, while the text grows, for the last note."""
        problems = self.problems
        limit = len(problems) if look.height is None else MAX_PROBLEMS
        lines = [f"! {problem.path}: {problem.code}, expected {problem.expected}" for problem in problems[:limit]]
        if len(problems) > limit:
            lines.append(f"! and {len(problems) - limit:,} more")
        if look.height is not None and self._timeline.notes:
            lines.append(f"x {self._timeline.notes[-1].text}")
        spelled = [self._signs.visible(line) for line in lines]
        if look.height is None:
            spelled = [part for line in spelled for part in wrapped(line, look.width)]
        else:
            spelled = [self._signs.clip(line, look.width) for line in spelled][: max(look.height - MIN_LINES, 0)]
        return [Text(line, style="bold red", no_wrap=True) for line in spelled]


def shares(needs: list[int], room: int, order: list[int]) -> list[int]:
    """Divide `room` lines: `MIN_LINES` for each while they last, then all that is needed, in this order."""
    given = [0] * len(needs)
    for limit in (MIN_LINES, None):
        for index in order:
            wanted = needs[index] if limit is None else min(limit, needs[index])
            more = min(wanted - given[index], room)
            given[index] += more
            room -= more
    return given


# One track: rows of a tree, or lines of prose.


def _row_count(root: Node | None) -> int:
    return window(root, None, 0, 0).total


def _tree_lines(
    root: Node | None,
    before: Node | None,
    start: int,
    count: int,
    width: int,
    signs: Signs,
    marks: Marks,
    ids: Sequence[int] | None = None,
    *,
    wraps: bool = False,
) -> list[Text]:
    """Return some rows of a tree, compared with the tree `before`. With `ids`, only these nodes, with their paths.

    Long values are wrapped with `wraps=True`, and clipped otherwise.
    """
    if ids is None:
        rows = [
            (row, str(row.path) if row.path.step is None else "") for row in window(root, before, start, count).rows
        ]
    else:
        rows = [(row._replace(depth=0), str(row.path)) for row in picked(root, before, ids[start : start + count])]
    return [line for row, name in rows for line in _row_lines(row, name, width, signs, marks, wraps)]


def _row_lines(row: TreeRow, name: str, width: int, signs: Signs, marks: Marks, wraps: bool) -> list[Text]:
    is_invalid, is_broken = row.path in marks.invalid, row.path == marks.broken
    sign = "x" if is_broken else "!" if is_invalid else SIGNS.get(row.mark, " ")
    style = "bold red" if is_broken or is_invalid else STYLES.get(row.mark, "")
    line = Text(no_wrap=True)
    line.append(f"{sign} ", style=style)
    indent = min(row.depth * 2, max((width - GUTTER) // 3, 0))
    line.append(" " * indent)
    label = signs.visible(name or label_of(row.path))
    room = max(width - GUTTER - indent, 1)
    label = signs.clip(label, max(room - MIN_VALUE_WIDTH - 1, room // 2), keep_end=bool(name))
    line.append(label, style="bold cyan" if row.is_open else "cyan")
    line.append(" ")
    room -= cells(label) + 1
    is_wrapped = wraps and row.kind == "string" and room >= MIN_VALUE_WIDTH
    first, *others = wrapped(_value(row, MAX_VALUE_WIDTH, signs), room) if is_wrapped else [_value(row, room, signs)]
    style = " ".join([*(["bold"] if row.is_open or row.mark else []), VALUE_STYLES.get(row.kind, "")]).strip()
    line.append(first, style=style)
    crop(line, width)
    return [line, *[Text(" " * (width - room) + other, style=style, no_wrap=True) for other in others]]


def _value(row: TreeRow, room: int, signs: Signs) -> str:
    brackets = BRACKETS.get(row.kind)
    if brackets is not None:
        start, end = brackets
        if row.is_open:
            return f"{start} {row.size:,} {signs.dots}" if row.size else f"{start} {signs.dots}"
        return f"{start} {row.size:,} {end}" if row.size else start + end
    text = signs.visible(row.text)
    if row.is_open:
        return signs.clip(text, room - 1, keep_end=True) + signs.cursor
    return signs.clip(text, room, keep_end=True)


def prose_lines(text: str, width: int, signs: Signs, *, is_open: bool) -> list[Text]:
    """Return prose in lines that fit. Line ends are kept, other invisible characters are spelled out."""
    room = max(width - GUTTER, 1)
    lines: list[str] = []
    for line in text.split("\n"):
        lines += wrapped(signs.visible(line), room)
    if is_open:
        lines[-1] = signs.clip(lines[-1], max(room - 1, 1), keep_end=True) + signs.cursor
    return [Text(" " * min(GUTTER, width - 1) + line, no_wrap=True, style="bold" if is_open else "") for line in lines]


def wrapped(line: str, room: int) -> list[str]:
    """Return a line in pieces that fit, cut between words if possible."""
    pieces: list[str] = []
    while cells(line) > room:
        end = taken = 0
        while end < len(line) and taken + cells(line[end]) <= room:
            taken += cells(line[end])
            end += 1
        end = max(end, 1)
        space = line.rfind(" ", 1, end + 1)
        end = space if space > 0 else end
        pieces.append(line[:end])
        line = line[end:].removeprefix(" ")
    return [*pieces, line]


# The status line, and the summary.


def _rate(timeline: Timeline) -> float:
    """Return the characters per second over the last second, or over the whole time if that is shorter."""
    end = timeline.times[-1]
    step = max(timeline.step_at(end - RATE_SPAN), 0)
    time = end - timeline.times[step]
    return (timeline.sizes[-1] - timeline.sizes[step]) / time if time > 0 else 0.0


def status_line(timeline: Timeline, elapsed: float, width: int, *, ascii_only: bool) -> Text:
    """Return time, rate, position and what is expected, as much as fits, the most important first."""
    signs = Signs.chosen(ascii_only)
    parts = [f"{elapsed:.1f} s", f"{_rate(timeline):,.0f} ch/s"]
    newest = max(json_tracks(timeline), key=lambda track: track.last_step, default=None)
    if newest is not None:
        state = newest.state
        parts.append(f"{state.line}:{state.column} @{state.index:,}")
    parts.append(f"step {timeline.last:,}")
    item = timeline.item(timeline.last)
    if item.waiting:
        parts.append("waiting: " + ", ".join([signs.visible(key) for key in item.waiting]))
    if newest is not None:
        parts.append("broken" if newest.state.error is not None else f"expecting {newest.state.expecting}")
    line = parts[0]
    for part in parts[1:]:
        room = width - cells(line) - len(GAP)
        if cells(part) > room:
            line += GAP + signs.clip(part, room) if room > MIN_CLIPPED else ""
            break
        line += GAP + part
    line = signs.clip(line, width)
    return Text(line + " " * (width - cells(line)), style="reverse", no_wrap=True)


def legend(width: int, height: int, *, ascii_only: bool) -> Text | None:
    """Return the line that explains the signs; None in a small terminal."""
    signs = Signs.chosen(ascii_only)
    parts = [
        ("+", STYLES["new"], "new"),
        ("~", STYLES["grown"], "has grown"),
        (signs.cursor, "bold", "still open"),
        ("!", "bold red", "does not fit the schema"),
        ("x", "bold red", "broken"),
    ]
    if height < LEGEND_ROWS or width < sum([len(sign) + len(what) + 3 for sign, _, what in parts]):
        return None
    line = Text(no_wrap=True)
    for sign, style, what in parts:
        line.append(sign, style=style).append(f" {what}  ", style="dim")
    return line


def summary(timeline: Timeline) -> str:
    """Return how much arrived, and how it ended."""
    fields = sum([len(fields.listed) + fields.left_out for fields in timeline.fields.values()])
    parts = [counted(fields, "field"), counted(timeline.sizes[-1], "character"), counted(timeline.last, "step")]
    if timeline.is_timed:
        time = timeline.duration
        parts.append(f"{time:.2f} s")
        if time > 0:
            parts.append(f"{timeline.sizes[-1] / time:,.0f} characters/s")
    message = timeline.message(timeline.last)
    if message is not None and message.finish_reason is not None:
        parts.append(f"finish: {message.finish_reason}")
    return ", ".join(parts)
