"""The waterfall: when each field was first seen, when it grew, and when it was complete.

This module computes the layout. The terminal, SVG, HTML and the studio draw the same one.

    title   ----====#                  thin until first seen, light while it grows, solid where it is complete
    days    ---------=============#
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, final

from .rows import label_of
from .tracks import Selection

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import TypeAlias

    from ... import Path
    from ...select import Pattern
    from .timeline import Timeline
    from .tracks import FieldTiming

    Key: TypeAlias = tuple[str, Path | None]

__all__ = [
    "LEAVES",
    "MAX_BARS",
    "MAX_ITEMS",
    "Axis",
    "Bar",
    "Comparison",
    "Tick",
    "Usable",
    "Waterfall",
    "aligned",
    "compare",
    "layout",
    "spelled",
]

MAX_ITEMS: Final = 8  # of an array; the rest is folded into one bar
MAX_BARS: Final = 2_000
MAX_TICKS: Final = 5  # gaps between ticks
STEPS: Final = (1, 2, 5)  # the gap between two ticks, times a power of ten
LEAVES: Final = frozenset({"string", "number", "boolean", "null"})


class Tick(NamedTuple):
    """A mark on the axis: `at` is from 0 to 1."""

    at: float
    label: str


class Usable(NamedTuple):
    """The times at which the first leaf, half of the leaves, and the last leaf became usable."""

    leaves: int
    first: float
    middle: float
    last: float


class Axis(NamedTuple):
    """The horizontal axis: seconds if they were measured, otherwise characters."""

    unit: str
    total: float
    ticks: tuple[Tick, ...]

    @property
    def suffix(self) -> str:
        """The unit as it follows a value."""
        return " s" if self.unit == "seconds" else " ch"

    def place(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 to 1."""
        return min(value / self.total, 1.0) if self.total > 0 else 0.0


class Bar(NamedTuple):
    """One row. `first` and `complete` are in the unit of the axis; an open field has no `complete`.

    A bar with `folded` represents that number of array items: the first of them was seen at `first`, and the last was
    complete at `complete`. The path is not kept as text: a text with a long key would have it in every bar.
    """

    name: str | None
    """The label; None stands for the whole path."""
    depth: int
    kind: str
    track: str
    place: Path | None
    """The path; None for the title of a track."""
    first: float
    complete: float | None
    size: int
    share: float
    """The share of the bytes of all tracks together."""
    folded: int
    first_step: int
    complete_step: int | None
    id: int = 0
    """The node id of the field; for folded items, that of their array. Titles of tracks have none."""

    @property
    def label(self) -> str:
        """The text in front of the bar."""
        return self.path if self.name is None else self.name

    @property
    def path(self) -> str:
        """The path as text; empty for the title of a track."""
        return "" if self.place is None else str(self.place)

    @property
    def duration(self) -> float | None:
        """The time from first seen to complete."""
        return None if self.complete is None else self.complete - self.first


class Waterfall(NamedTuple):
    """The axis and the bars, ready to be drawn."""

    axis: Axis
    bars: tuple[Bar, ...]
    left_out: int
    """The number of fields that are not shown because there are too many."""
    usable: Usable | None = None
    """The times of all leaves, or of those that a pattern selects, whether they are shown or not."""
    only_counted: int = 0
    """The number of fields that were only counted: a pattern cannot select them."""


def layout(
    timeline: Timeline,
    *,
    max_items: int = MAX_ITEMS,
    max_bars: int = MAX_BARS,
    unit: str | None = None,
    max_depth: int | None = None,
    select: str | Pattern | None = None,
    only: Mapping[str, Collection[int]] | None = None,
    unfolded: Mapping[str, Mapping[int, int]] | None = None,
) -> Waterfall:
    """Return the waterfall of a whole timeline; with `select`, of the fields that match the pattern.

    With `max_depth`, deeper fields are left out; with `only`, all fields but those with these ids, by track.
    `unfolded` has the arrays that show more items, by track and id, each with the number of items.
    """
    unit = unit or ("seconds" if timeline.is_timed else "characters")
    scale: list[float] = timeline.times if unit == "seconds" else [float(size) for size in timeline.sizes]
    whole = sum([track.size for track in timeline.tracks.values()])
    bars: list[Bar] = []
    leaves: Counter[int] = Counter()  # the number that each step completed
    left_out = only_counted = 0
    for name, track in timeline.tracks.items():
        fields = timeline.fields[name]
        has_title = timeline.has_title(name)
        drawer = _Drawer(name, scale, whole, int(has_title), max_items, (unfolded or {}).get(name, {}))
        if only is not None:
            drawer.depths = dict.fromkeys(only.get(name, ()), 0)
        elif select is not None:
            selection = Selection(select)
            depths = [selection.depth(field.path) for field in fields.listed]
            drawer.depths = {
                field.id: depth for field, depth in zip(fields.listed, depths, strict=True) if depth is not None
            }
        drawer.draw(fields.listed)
        if has_title and (drawer.depths is None or drawer.bars):
            bars.append(_track_bar(timeline, name, scale, whole))
        if track.is_json:
            leaves.update(fields.leaves if drawer.depths is None else drawer.leaves(fields.listed))
            only_counted += fields.left_out
            deepest = math.inf if max_depth is None else max_depth + int(has_title)
            near = [bar for bar in drawer.bars if bar.depth <= deepest]
            bars += near
            left_out += drawer.dropped + _count(drawer.bars) - _count(near)
            left_out += fields.left_out if drawer.depths is None else 0
    left_out += _count(bars[max_bars:])
    shown = tuple(bars[:max_bars])
    return Waterfall(_axis(unit, scale[-1]), shown, left_out, _usable(leaves, scale), only_counted)


def _count(bars: list[Bar]) -> int:
    """Return the number of fields that the bars represent."""
    return sum([bar.folded or 1 for bar in bars])


def _track_bar(timeline: Timeline, name: str, scale: list[float], whole: int) -> Bar:
    track = timeline.tracks[name]
    first, last = track.first_step, track.last_step
    roots = [field for field in timeline.fields[name].listed if not len(field.path)]
    complete = roots[-1].complete if roots else last if timeline.is_finished and not track.is_json else None
    return Bar(
        timeline.label(name),
        0,
        "json" if track.is_json else "text",
        name,
        None,
        scale[first],
        None if complete is None else scale[complete],
        track.size,
        track.size / whole if whole else 0.0,
        0,
        first,
        complete,
    )


@final
class _Drawer:
    """Makes the bars of one track and folds the items of long arrays."""

    def __init__(
        self, track: str, scale: list[float], whole: int, indent: int, max_items: int, unfolded: Mapping[int, int]
    ) -> None:
        self.bars: list[Bar] = []
        self.dropped = 0
        self.depths: dict[int, int] | None = None  # of the selected fields; None without a pattern
        self._track = track
        self._scale = scale
        self._whole = whole
        self._indent = indent
        self._max_items = max_items
        self._unfolded = unfolded

    def draw(self, fields: list[FieldTiming]) -> None:
        several = sum([not len(field.path) for field in fields]) > 1
        count = 0  # of documents
        open_arrays: list[FieldTiming] = []  # the containers around the next field
        folded: list[FieldTiming] = []  # an array and the items that are folded
        for field in fields:
            depth = len(field.path)
            del open_arrays[depth:]
            count += not depth
            if folded and depth > len(folded[0].path) + 1:
                self.dropped += self._depth(field) is not None
            else:
                if folded and depth <= len(folded[0].path):
                    self._fold(*folded)
                    folded = []
                if self._is_beyond(field, open_arrays):
                    folded += [field] if folded else [open_arrays[-1], field]
                elif self._depth(field) is not None:
                    label = f"document {count}" if several and not depth else self._label(field)
                    self.bars.append(self._bar(label, field.kind, [field], 0))
            open_arrays.append(field)
        if folded:
            self._fold(*folded)

    def leaves(self, fields: list[FieldTiming]) -> list[int]:
        """Return the steps that completed the selected leaves."""
        return [
            field.complete
            for field in fields
            if field.kind in LEAVES and field.complete is not None and self._depth(field) is not None
        ]

    def _depth(self, field: FieldTiming) -> int | None:
        return len(field.path) if self.depths is None else self.depths.get(field.id)

    def _is_beyond(self, field: FieldTiming, around: list[FieldTiming]) -> bool:
        """Whether an item is folded. A single item beyond the limit is shown: its bar takes no more room."""
        step = field.path.step
        if self._depth(field) is None or not isinstance(step, int) or not around:
            return False
        most = self._unfolded.get(around[-1].id, self._max_items)
        return step >= most and around[-1].children > most + 1

    def _label(self, field: FieldTiming) -> str | None:
        step = field.path.step
        if step is None or (self.depths is not None and not self._depth(field)):
            return None
        return label_of(field.path)

    def _fold(self, array: FieldTiming, *items: FieldTiming) -> None:
        bar = self._bar("", "items", list(items), len(items))
        last = items[-1].path.step
        missing = array.children - 1 - last if self.depths is None and isinstance(last, int) else 0
        if missing > 0:  # a very large document has fields that were only counted; the array knows their number
            size = array.begin + array.size - items[0].begin
            bar = bar._replace(
                folded=bar.folded + missing,
                size=size,
                share=size / self._whole if self._whole else 0.0,
                complete=None if array.complete is None else self._scale[array.complete],
                complete_step=array.complete,
            )
            self.dropped -= missing
        self.bars.append(bar._replace(name=f"{bar.folded:,} more", id=array.id))

    def _bar(self, name: str | None, kind: str, fields: list[FieldTiming], folded: int) -> Bar:
        first, last = fields[0], fields[-1]
        size = sum([field.size for field in fields])
        depth = self._depth(first)
        assert depth is not None  # only selected fields have bars
        return Bar(
            name,
            self._indent + depth,
            kind,
            self._track,
            first.path,
            self._scale[first.first],
            None if last.complete is None else self._scale[last.complete],
            size,
            size / self._whole if self._whole else 0.0,
            folded,
            first.first,
            last.complete,
            first.id,
        )


# The axis.


def _axis(unit: str, total: float) -> Axis:
    if total <= 0:
        return Axis(unit, 0.0, (Tick(0.0, "0"),))
    power = 1.0
    while power * 10 <= total:
        power *= 10
    while power > total:
        power /= 10
    gaps = [factor * step * power for factor in (0.1, 1.0) for step in STEPS]
    if unit != "seconds":  # characters are whole
        gaps = [gap for gap in gaps if gap >= 1] or [1.0]
    gap = next((gap for gap in gaps if total <= gap * MAX_TICKS), gaps[-1])
    count = int(total / gap * (1 + 1e-9))  # the factor corrects a quotient just below a whole number
    ticks = [Tick(min(index * gap / total, 1.0), _label(index * gap, unit)) for index in range(count + 1)]
    return Axis(unit, total, tuple(ticks))


def _label(value: float, unit: str) -> str:
    if unit != "seconds" or not value:
        return f"{value:,.0f}"
    return f"{value:g}s" if value >= 0.1 else f"{value * 1000:g}ms"


def spelled(value: float | None, unit: str) -> str:
    """Return a position on the axis as text for users; empty for None."""
    if value is None:
        return ""
    return f"{value:.3f}" if unit == "seconds" else f"{value:,.0f}"


# Comparing two waterfalls.


class Comparison(NamedTuple):
    """The times of a field in two recordings, first seen and complete; None where the field is absent."""

    track: str
    place: Path | None
    """The path; None for the title of a track."""
    one: tuple[float, float | None] | None
    two: tuple[float, float | None] | None

    @property
    def path(self) -> str:
        """The path as text; empty for the title of a track."""
        return "" if self.place is None else str(self.place)

    @property
    def change(self) -> str:
        """The difference in words: "earlier" means earlier in the second recording."""
        if self.one is None or self.two is None:
            return "not in both"
        gain = self.gain
        if gain is None:
            is_open = (self.one[1] is None, self.two[1] is None)
            return "open in both" if all(is_open) else "open in one" if is_open[0] else "open in two"
        return "earlier" if gain > 0 else "later" if gain < 0 else "the same"

    @property
    def gain(self) -> float | None:
        """The time by which the second recording completes the field earlier."""
        if self.one is None or self.two is None or self.one[1] is None or self.two[1] is None:
            return None
        return self.one[1] - self.two[1]


def compare(one: Waterfall, two: Waterfall) -> list[Comparison]:
    """Return the fields of two waterfalls side by side, by track and path, without items that either of them folds."""
    folded = {(bar.track, bar.place) for bar in (*one.bars, *two.bars) if bar.folded}
    first, second = [_times(waterfall, folded) for waterfall in (one, two)]
    keys = [*first, *[key for key in second if key not in first]]
    return [Comparison(*key, first.get(key), second.get(key)) for key in keys]


def _times(waterfall: Waterfall, folded: set[Key]) -> dict[Key, tuple[float, float | None]]:
    times: dict[Key, tuple[float, float | None]] = {}
    outside = math.inf  # the depth of the folded item around the next bar
    for bar in waterfall.bars:
        key = (bar.track, bar.place)
        if bar.depth <= outside:
            outside = bar.depth if key in folded else math.inf
            if key not in folded:
                times[key] = (bar.first, bar.complete)
    return times


def aligned(one: Waterfall, two: Waterfall) -> tuple[Waterfall, Waterfall]:
    """Return both waterfalls on one axis, the longer one, so that their drawings can be compared."""
    axis = max(one.axis, two.axis, key=lambda axis: axis.total)
    return one._replace(axis=axis), two._replace(axis=axis)


# The times of leaves.


def _usable(leaves: Counter[int], scale: list[float]) -> Usable | None:
    if not leaves:
        return None
    steps = sorted(leaves)
    so_far = list(accumulate([leaves[step] for step in steps]))
    count = so_far[-1]

    def time(place: int) -> float:  # of the leaf at this place in the order of completion
        return scale[steps[bisect_right(so_far, place)]]

    return Usable(count, time(0), (time((count - 1) // 2) + time(count // 2)) / 2, time(count - 1))
