"""The view of one step: every panel of the page is a function of the timeline, the step, and the window on it."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, Final

from ..._errors import OptionsError
from ..viewer.inputs import InputKind
from ..viewer.rows import label_of, matching, window
from .diagnostics import diagnostics, facts
from .document import clipped, shown_path
from .events import told
from .snapshots import snapshot

if TYPE_CHECKING:
    from ..._errors import JSONSyntaxError
    from ..._state import ParserState
    from ..._tree.nodes import Node
    from ..viewer.rows import TreeRow
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Track
    from .query import Query
    from .schema import Typing

__all__ = ["view"]

MOST_MATCHES: Final = 2_000
MOST_OPERATIONS: Final = 100
LONGEST_VALUE: Final = 400
LONGEST_OPERATION: Final = 2_000


def view(timeline: Timeline, query: Query, completions: list[int], typing: Typing) -> dict[str, Any]:
    """All panels. `completions` are the steps at which something became complete."""
    step = _step(timeline, query)
    track = _track(timeline, query, step)
    # The older state first: the younger one is made from it, and shares what it has shown.
    root_before = None if track is None or not step else _root_before(track, step)
    state = None if track is None or not track.is_json else track.state_at(step)
    before = bisect_left(completions, step) - 1
    after = bisect_right(completions, step)
    return {
        "step": step,
        "time": round(timeline.times[step], 6),
        "characters": timeline.sizes[step],
        "last": timeline.last,
        "duration": round(timeline.duration, 6),
        "track": None if track is None else track.name,
        "previous_completion": completions[before] if before >= 0 else None,
        "next_completion": completions[after] if after < len(completions) else None,
        "text": _text(track, state, step, query),
        "tree": _tree(state, root_before, query),
        "filter_problem": query.filter_problem,
        "open_path": "" if state is None else shown_path(state.open_path),
        "expecting": "" if state is None else state.expecting,
        "error": None if state is None or state.error is None else _error(state.error),
        "events": told(timeline, track, step),
        "patches": _patches(timeline, track, step),
        "typed": None if state is None or track is None else typing.seen(track.name, step, state),
        "diagnostics": diagnostics(timeline, step, state),
        "state": facts(timeline, step, state),
        "snapshot": snapshot(timeline, step, query) if timeline.found.kind is InputKind.SNAPSHOTS else None,
    }


def _step(timeline: Timeline, query: Query) -> int:
    if query.step is not None:
        return min(query.step, timeline.last)
    return timeline.last if query.time is None else max(timeline.step_at(query.time), 0)


def _track(timeline: Timeline, query: Query, step: int) -> Track | None:
    """The one that is asked for; otherwise the first that is JSON and has begun, or will begin."""
    if query.track:
        track = timeline.tracks.get(query.track)
        if track is None and timeline.tracks:
            raise OptionsError("there is no such track")
        return track
    tracks = list(timeline.tracks.values())
    begun = [track for track in tracks if track.first_step <= step]
    shown = [track for track in begun if track.is_json] or begun or tracks
    return shown[0] if shown else None


def _text(track: Track | None, state: ParserState | None, step: int, query: Query) -> dict[str, Any]:
    """Offsets are those of the text that counts: what was taken back is no part of it."""
    begin = 0 if track is None else track.start_at(step)
    length = 0 if track is None else track.length_at(step) - begin
    old = track.length_at(step - 1) - begin if track is not None and step else 0
    count = query.text_count
    start = max(length - count, 0) if query.text_start is None else min(query.text_start, length)
    stop = min(start + count, length)
    error = None if state is None else state.error
    return {
        "start": start,
        "length": length,
        "new_from": min(max(old, 0), length),
        "chars": "" if track is None else track.text(begin + start, begin + stop),
        "error_at": None if error is None else error.offset,
    }


def _tree(state: ParserState | None, before: Node | None, query: Query) -> dict[str, Any]:
    root = None if state is None else state.root
    if query.filter is not None:
        rows = matching(root, before, query.filter, MOST_MATCHES)
        return {"start": 0, "total": len(rows), "rows": [_row(row) for row in rows]}
    seen = window(root, before, query.start, query.count, query.folded)
    if query.follow:
        seen = window(root, before, max(seen.total - query.count, 0), query.count, query.folded)
    return {"start": seen.start, "total": seen.total, "rows": [_row(row) for row in seen.rows]}


def _root_before(track: Track, step: int) -> Node | None:
    """The tree before this step; None where this step began anew."""
    return track.state_at(step - 1).root if track.start_at(step) == track.start_at(step - 1) else None


def _row(row: TreeRow) -> dict[str, Any]:
    key = row.path.step
    key = clipped(key, LONGEST_VALUE) if isinstance(key, str) else key
    label = clipped(label_of(row.path), LONGEST_VALUE)
    return {**row._asdict(), "key": key, "label": label, "path": shown_path(row.path)}


def _error(error: JSONSyntaxError) -> dict[str, Any]:
    return {
        "text": clipped(str(error), LONGEST_OPERATION),
        "offset": error.offset,
        "line": error.line,
        "column": error.column,
        "path": shown_path(error.path),
        "expected": error.expected,
    }


def _patches(timeline: Timeline, track: Track | None, step: int) -> dict[str, Any]:
    changes = [] if track is None else [one for one in timeline.changes(step) if one.track == track.name]
    operations: list[Any] = [operation for one in changes if one.patch for operation in json.loads(one.patch)]
    rows = [json.dumps(one, ensure_ascii=False) for one in operations[:MOST_OPERATIONS]]
    return {
        "count": len(operations),
        "bytes": sum([_size(one.patch) for one in changes]),
        "text_bytes": sum([_size(one.text) for one in changes]),
        "rows": [clipped(row, LONGEST_OPERATION) for row in rows],
    }


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
