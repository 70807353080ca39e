"""The snapshots panel: what a snapshot brought, what was written for it, what is open, what waits, and by which rule.

The rules have the numbers that docs/snapshots.md gives them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ..._path import ROOT, Path
from ..viewer.tracks import DOCUMENT
from .document import clipped, shown_path, spelled_out

if TYPE_CHECKING:
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Item
    from .query import Query

__all__ = ["snapshot"]

LONGEST: Final = 20_000
MOST_PATHS: Final = 500
NOTHING: Final = object()


def snapshot(timeline: Timeline, step: int, query: Query) -> dict[str, Any] | None:
    """The panel at a step; None before the first snapshot."""
    now = _last_before(timeline, step)
    if now is None:
        return None
    item = timeline.item(now)
    before = _last_before(timeline, now - 1)
    new, old = _value(item), NOTHING if before is None else _value(timeline.item(before))
    is_flush = now != step
    added = [] if is_flush or new is NOTHING else _added(old, new)
    inmost = None if is_flush or item.open is None else Path.of(*item.open)
    waiting = [] if inmost is None else [shown_path(inmost / key) for key in item.waiting[:MOST_PATHS]]
    rule = 3 if waiting else 6 if not is_flush and new is not NOTHING and not added else None
    open_rule = None if inmost is None or inmost.step is None else 5 if isinstance(inmost.step, int) else 2
    return {
        "text": _pretty(new, item.raw),
        "added": added[:MOST_PATHS],
        "written": _written(timeline, step, query),
        "open": None if inmost is None else shown_path(inmost),
        "open_rule": open_rule,
        "waiting": waiting,
        "rule": rule,
        "why": _why(item, is_flush, rule, open_rule, inmost),
    }


def _last_before(timeline: Timeline, step: int) -> int | None:
    """The last step up to this one that has a snapshot: the end of the stream has none."""
    while step > 0 and not timeline.item(step).raw:
        step -= 1
    return step if step > 0 else None


def _value(item: Item) -> Any:
    try:
        return json.loads(item.raw)
    except (ValueError, RecursionError):
        return NOTHING


def _pretty(value: Any, raw: str) -> str:
    return clipped(raw, LONGEST) if value is NOTHING else spelled_out(value, LONGEST)


def _written(timeline: Timeline, step: int, query: Query) -> str:
    track = timeline.tracks.get(DOCUMENT)
    if track is None:
        return ""
    length = track.length_at(step)
    start = max(length - query.text_count, 0) if query.text_start is None else min(query.text_start, length)
    return track.text(start, min(start + query.text_count, length))


def _added(old: Any, new: Any) -> list[str]:
    """The paths of what is new, and of what grew or changed; nothing inside something new."""
    found: list[str] = []
    pairs: list[tuple[Any, Any, Path]] = [(old, new, ROOT)]
    while pairs and len(found) < MOST_PATHS:
        before, now, path = pairs.pop()
        if type(before) is not type(now) or not isinstance(now, (dict, list)):
            if type(before) is not type(now) or before != now:
                found.append(shown_path(path))
        else:
            known, inside = _steps(before), _steps(now)
            pairs += [
                (known.get(step, NOTHING), value, path / step)
                for step, value in reversed(inside.items())
                if not _is_same_leaf(known.get(step, NOTHING), value)  # of a large snapshot nearly all are
            ]
    return found


def _is_same_leaf(before: Any, now: Any) -> bool:
    return type(before) is type(now) and not isinstance(now, (dict, list)) and before == now


def _steps(container: Any) -> dict[str | int, Any]:
    return dict(container.items() if isinstance(container, dict) else enumerate(container))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _why(item: Item, is_flush: bool, rule: int | None, open_rule: int | None, inmost: Path | None) -> str:
    if is_flush:
        return "Rule 7: the stream has ended, so what was open or waiting is complete."
    if item.problem and inmost is None:
        return clipped(item.problem, LONGEST)
    words: list[str] = []
    if rule == 6:
        words.append("Rule 6: the snapshot is equal to the one before, and a pause is not an end: nothing is written.")
    if rule == 3:
        words.append(
            f"Rule 3: {len(item.waiting)} values may be the one that is being written, so none of them is written yet."
        )
    if inmost is not None and open_rule is not None:
        place = shown_path(inmost)
        words.append(
            f"Rule 2: only {place} may still be growing, so it stays open."
            if open_rule == 2
            else f"Rule 5: {place} is the last item of its array, so it stays open; the items before it are whole."
        )
    if item.problem:
        words.append(item.problem)
    return clipped(" ".join(words), LONGEST)
