"""Two streams on one time axis: when each field was complete in both, as `unspool profile --compare` says it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..viewer.waterfall import aligned, compare
from .document import MAX_LABEL, clipped, drawn_axis, shown_path

if TYPE_CHECKING:
    from ..viewer.timeline import Timeline
    from ..viewer.waterfall import Waterfall

__all__ = ["Side", "comparison", "summary"]

MAX_ROWS: Final = 2_000
DIGITS: Final = 6
CHANGES: Final = ("earlier", "later", "the same", "open in one", "open in two", "open in both", "not in both")


class Side(NamedTuple):
    """One of the two streams."""

    id: str
    title: str
    waterfall: Waterfall
    duration: float


def comparison(one: Side, two: Side) -> dict[str, Any]:
    """Return the comparison of two streams as JSON data. Both waterfalls have the same unit."""
    first, second = aligned(one.waterfall, two.waterfall)
    fields = compare(first, second)
    counts = Counter([field.change for field in fields])
    rows = [
        {
            "track": field.track,
            "path": shown_path(field.path) if field.path else "",
            "label": clipped(field.path or field.track, MAX_LABEL),
            "one": _times(field.one),
            "two": _times(field.two),
            "change": field.change,
            "gain": None if field.gain is None else round(field.gain, DIGITS),
        }
        for field in fields[:MAX_ROWS]
    ]
    return {
        "axis": drawn_axis(first.axis),
        "sides": [_side(one), _side(two)],
        "rows": rows,
        "left_out": len(fields) - len(rows) + first.left_out + second.left_out,
        "counts": [[change, counts[change]] for change in CHANGES if counts[change]],
    }


def _times(times: tuple[float, float | None] | None) -> dict[str, Any] | None:
    if times is None:
        return None
    return {"first": round(times[0], DIGITS), "complete": None if times[1] is None else round(times[1], DIGITS)}


def _side(side: Side) -> dict[str, Any]:
    usable = side.waterfall.usable
    times = [None] * 3 if usable is None else [round(time, DIGITS) for time in usable[1:]]
    return {"id": side.id, "title": side.title, "total": round(side.waterfall.axis.total, DIGITS), "usable": times}


def summary(timeline: Timeline, waterfall: Waterfall) -> dict[str, Any]:
    """Return the steps at which the first leaf, half of the leaves and all were usable; and what the stream cost.

    If a text is broken or cut off, some leaves never become usable, and `is_whole` is False.
    """
    scale = timeline.times if waterfall.axis.unit == "seconds" else timeline.sizes
    usable = waterfall.usable
    names = ("first", "half", "all")
    moments: dict[str, Any] = dict.fromkeys(names)
    if usable is not None:
        for name, place in zip(names, usable[1:], strict=True):
            step = max(bisect_right(scale, place) - 1, 0)
            moments[name] = {"place": round(place, DIGITS), "step": step}
    message = timeline.message(timeline.last)
    usage = None if message is None else message.usage
    return {
        **moments,
        "is_whole": all(track.state.error is None for track in timeline.tracks.values() if track.is_json),
        "leaves": 0 if usable is None else usable.leaves,
        "characters": timeline.sizes[-1],
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "finish_reason": None if message is None else message.finish_reason,
    }
