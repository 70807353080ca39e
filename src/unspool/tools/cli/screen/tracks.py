"""All tracks of a timeline, one under the other: the one that grows gets the room it needs, the others what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from rich.text import Text

from ...viewer.escaping import cells, clip, visible
from ...viewer.rows import window
from ...viewer.tracks import Selection
from ..lines.judging import Judged
from ..lines.places import excerpt
from .tree import Marks, Signs, prose_lines, row_count, tree_lines, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...._tree.nodes import Node
    from ....select import Pattern
    from ....typed._partials import Resolver
    from ....typed._shape import Problem
    from ...viewer.timeline import Timeline
    from ...viewer.tracks import Fields, Track
    from ..lines.places import Excerpt

__all__ = ["Look", "TracksView", "shares"]

LEAST: Final = 2  # lines for a track: its title and one more
MOST_PROBLEMS: Final = 3
MOST_ROWS: Final = 10_000  # where all are wanted: more than anybody scrolls back
BLOCK: Final = 200  # rows that are made at a time


class Look(NamedTuple):
    """How it is looked at: `height` is None if everything is wanted; marks are for what came after `before`."""

    width: int
    height: int | None
    before: int | None


@final
class TracksView:
    """The lines for a timeline as it stands; it grows meanwhile."""

    def __init__(
        self, timeline: Timeline, *, select: Pattern | None, resolver: Resolver[Any] | None, ascii_only: bool
    ) -> None:
        self._timeline = timeline
        self._signs = Signs.chosen(ascii_only)
        self._select = select
        self._picked: dict[str, _Picked] = {}
        self._judged = Judged(timeline, resolver)

    @property
    def problems(self) -> list[Problem]:
        """What does not fit the schema."""
        return self._judged.problems()

    def lines(self, look: Look) -> Iterator[Text]:
        """All lines, none wider than there is room, and no more than there is room for."""
        timeline = self._timeline
        if not timeline.tracks:
            yield Text(self._clip("nothing yet", look.width), style="dim")
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

    def _clip(self, text: str, width: int) -> str:
        return clip(text, width, ascii_only=self._signs.is_ascii)

    def _need(self, track: Track, width: int) -> int:
        if track.is_json:
            count = max(row_count(track.state.root) if self._select is None else len(self._ids(track) or ()), 1)
        else:
            text = track.text(max(track.start_at(track.last_step), track.length - 4000))
            count = text.count("\n") + len(text) // max(width - 2, 1) + 1
        return (
            int(self._timeline.has_title(track.name))
            + count
            + (3 if track.is_json and track.state.error is not None else 0)
        )

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
        label = visible(self._timeline.label(track.name), ascii_only=self._signs.is_ascii)
        size = track.length - track.start_at(track.last_step)
        label = self._clip(label, max(width - 6, 1))
        title = f"{line}{line} {label} {line} {self._standing(track)}, {size:,} characters "
        title = self._clip(title, width)
        return Text(title + line * max(width - cells(title), 0), style="dim", no_wrap=True)

    def _standing(self, track: Track) -> str:
        if not track.is_json:
            return "text" if track.ended_at is None else "complete"
        if track.state.error is not None:
            return "broken"
        return "complete" if track.state.is_complete else "open"

    def _tree(self, track: Track, room: int | None, look: Look) -> Iterator[Text]:
        error = track.state.error
        wrong: list[Text] = []
        if error is not None:
            message = visible(f"x {error}", ascii_only=self._signs.is_ascii)
            line, caret = self._place(track, error.offset, max(look.width - 2, 1))
            said = wrapped(message, look.width) if room is None else [self._clip(message, look.width)]
            wrong = [Text(part, style="bold red", no_wrap=True) for part in said]
            wrong += [Text(self._clip(f"  {text}", look.width), no_wrap=True) for text in (line, " " * caret + "^")]
            wrong = wrong if room is None or room > len(wrong) else wrong[:1] if room > 1 else []
        marks = Marks(self._judged.paths(track), None if error is None else error.path)
        yield from self._rows(track, None if room is None else room - len(wrong), look, marks)
        yield from wrong

    def _place(self, track: Track, offset: int, width: int) -> Excerpt:
        """The line with this place in it."""
        place = track.start_at(track.last_step) + offset
        before = track.text(max(place - width, 0), place).rpartition("\n")[2]
        after = track.text(place, place + width)
        return excerpt(before, after[:1] + after[1:].partition("\n")[0], width, ascii_only=self._signs.is_ascii)

    def _rows(self, track: Track, room: int | None, look: Look, marks: Marks) -> Iterator[Text]:
        root = track.state.root
        before = root if look.before is None else track.state_at(look.before).root
        ids = self._ids(track)
        total = row_count(root) if ids is None else len(ids)
        if not total:
            note = "  nothing yet" if ids is None else "  nothing selected yet"
            yield Text(self._clip(note, look.width), style="dim")
            return

        def made(start: int, count: int) -> list[Text]:
            return tree_lines(root, before, start, count, look.width, self._signs, marks, ids, wraps=room is None)

        if room is None:
            if total > MOST_ROWS:
                yield Text(f"  {self._signs.dots} {total - MOST_ROWS:,} above", style="dim")
            for start in range(max(total - MOST_ROWS, 0), total, BLOCK):
                yield from made(start, BLOCK)
        elif total <= room:
            yield from made(0, total)
        else:  # the end is where it grows; what is above is told
            above = total - max(room - 1, 1)
            if room > 1:
                yield Text(self._clip(self._above(root, above, ids), look.width), style="dim", no_wrap=True)
            yield from made(above, room)

    def _above(self, root: Node | None, count: int, ids: list[int] | None) -> str:
        """What is not to be seen any more: how much, and what the first row that is stands in."""
        note = f"  {self._signs.dots} {count:,} above"
        rows = window(root, None, count, 1).rows
        if ids is not None or not rows or rows[0].path.parent is None:
            return note
        return f"{note}, in {visible(str(rows[0].path.parent), ascii_only=self._signs.is_ascii)}"

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
        """What does not fit the schema; and while it grows, what was last wrong with the wrapping of the text."""
        problems = self.problems
        most = len(problems) if look.height is None else MOST_PROBLEMS
        lines = [f"! {problem.path}: {problem.code}, expected {problem.expected}" for problem in problems[:most]]
        if len(problems) > most:
            lines.append(f"! and {len(problems) - most:,} more")
        if look.height is not None and self._timeline.notes:
            lines.append(f"x {self._timeline.notes[-1].text}")
        spelled = [visible(line, ascii_only=self._signs.is_ascii) for line in lines]
        if look.height is None:
            spelled = [part for line in spelled for part in wrapped(line, look.width)]
        else:
            spelled = [self._clip(line, look.width) for line in spelled][: max(look.height - LEAST, 0)]
        return [Text(line, style="bold red", no_wrap=True) for line in spelled]


def shares(needs: list[int], room: int, order: list[int]) -> list[int]:
    """How many lines each gets: a few each as long as there are any, then those that come first in `order` what they
    need."""
    given = [0] * len(needs)
    for most in (LEAST, None):
        for index in order:
            wanted = needs[index] if most is None else min(most, needs[index])
            more = min(wanted - given[index], room)
            given[index] += more
            room -= more
    return given


@final
class _Picked:
    """The ids of the fields that a pattern picks, found as they come."""

    def __init__(self, fields: Fields, pattern: Pattern) -> None:
        self.fields = fields
        self._selection = Selection(pattern)
        self._ids: list[int] = []
        self._seen = 0

    def ids(self, root: Node | None) -> list[int]:
        """Those that are in this tree: of several documents, the last one."""
        for field in self.fields.listed[self._seen :]:
            if root is not None and field.id == root.id:
                self._ids.clear()
            if self._selection.depth(field.path) is not None:
                self._ids.append(field.id)
        self._seen = len(self.fields.listed)
        return self._ids
