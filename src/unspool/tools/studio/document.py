"""The session document: the page's summary of a whole stream; and the JSON Patch between two of them.

The document stays small for every stream: it has the bars of the waterfall, but no values. Texts and paths in it, and
in views, are clipped, because a key may be as long as a text and every row has a path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from ... import Path
from ..viewer.tracks import in_words

if TYPE_CHECKING:
    from ...patch import Operation
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Track
    from ..viewer.waterfall import Axis, Waterfall

__all__ = ["MAX_LABEL", "clipped", "described", "diff", "drawn", "drawn_axis", "shown_path", "spelled_out"]

MAX_NOTES: Final = 200
MAX_NOTE: Final = 1_000
MAX_LABEL: Final = 200
MAX_PATH: Final = 1_000
DIGITS: Final = 6  # of a time in seconds
SHARE_DIGITS: Final = 3  # smaller changes of a share are not worth a patch


def clipped(text: str, most: int) -> str:
    """Return the text, or its start if it is too long.

    >>> clipped("Trip to Fuji", 4)
    'Trip…'
    """
    return text if len(text) <= most else text[:most] + "…"


def spelled_out(value: object, most: int) -> str:
    """Return a value as indented JSON; encoding stops after `most` characters."""
    pieces: list[str] = []
    size = 0
    for piece in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            break
    return clipped("".join(pieces), most)


def shown_path(path: Path | str) -> str:
    """Return a path as text, clipped the same way everywhere."""
    return clipped(str(path), MAX_PATH)


def described(timeline: Timeline) -> dict[str, Any]:
    """Return the document of a timeline, without its waterfall and what is computed with it."""
    return {
        "is_timed": timeline.is_timed,
        "is_finished": timeline.is_finished,
        "last": timeline.last,
        "duration": round(timeline.duration, DIGITS),
        "characters": timeline.sizes[-1],
        "notes": [{"step": note.step, "text": clipped(note.text, MAX_NOTE)} for note in timeline.notes[-MAX_NOTES:]],
        "tracks": [_track(timeline, track) for track in timeline.tracks.values()],
    }


def _track(timeline: Timeline, track: Track) -> dict[str, Any]:
    state = track.state if track.is_json else None
    return {
        "name": track.name,
        "label": clipped(timeline.label(track.name), MAX_LABEL),
        "is_json": track.is_json,
        "length": track.length,
        "bytes": track.size,
        "error": None if state is None or state.error is None else clipped(in_words(state.error), MAX_NOTE),
        "is_complete": timeline.is_finished if state is None else state.is_complete,
    }


def drawn_axis(axis: Axis) -> dict[str, Any]:
    """Return an axis as JSON data."""
    ticks = [{"at": round(tick.at, DIGITS), "label": tick.label} for tick in axis.ticks]
    return {"unit": axis.unit, "total": round(axis.total, DIGITS), "ticks": ticks}


def drawn(waterfall: Waterfall) -> dict[str, Any]:
    """Return a waterfall as JSON data."""
    axis, bars, left_out, *_ = waterfall
    return {
        "axis": drawn_axis(axis),
        "bars": [
            {
                "label": clipped(bar.label, MAX_LABEL),
                "depth": bar.depth,
                "kind": bar.kind,
                "track": bar.track,
                "path": shown_path(bar.path),
                "first": round(bar.first, DIGITS),
                "complete": None if bar.complete is None else round(bar.complete, DIGITS),
                "size": bar.size,
                "share": round(bar.share, SHARE_DIGITS),
                "folded": bar.folded,
                "first_step": bar.first_step,
                "complete_step": bar.complete_step,
                "id": bar.id,
            }
            for bar in bars
        ],
        "left_out": left_out,
    }


def diff(old: Any, new: Any) -> list[Operation]:
    """Return the JSON Patch from `old` to `new`, with "append" for strings that grew.

    >>> diff({"last": 1, "title": "Tr", "bars": [1]}, {"last": 2, "title": "Trip", "bars": [1, 2]})
    [{'op': 'replace', 'path': '/last', 'value': 2}, {'op': 'append', 'path': '/title', 'value': 'ip'}, \
{'op': 'add', 'path': '/bars/-', 'value': 2}]
    """
    operations: list[Operation] = []
    _compare(old, new, (), operations)
    return operations


def _compare(old: Any, new: Any, steps: tuple[str | int, ...], operations: list[Operation]) -> None:
    """Add the operations for one value. Recursive, because session documents are only a few levels deep."""
    if old is new:
        return
    if type(old) is not type(new):
        operations.append(_operation("replace", steps, new))
    elif isinstance(new, dict):
        _compare_objects(cast("dict[str, Any]", old), cast("dict[str, Any]", new), steps, operations)
    elif isinstance(new, list):
        _compare_arrays(old, new, steps, operations)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(new, str) and old and new != old and new.startswith(old):
        operations.append(_operation("append", steps, new[len(old) :]))
    elif old != new:
        operations.append(_operation("replace", steps, new))


def _compare_objects(
    old: dict[str, Any], new: dict[str, Any], steps: tuple[str | int, ...], operations: list[Operation]
) -> None:
    operations += [_removal((*steps, key)) for key in old if key not in new]
    for key, value in new.items():
        if key in old:
            _compare(old[key], value, (*steps, key), operations)
        else:
            operations.append(_operation("add", (*steps, key), value))


def _compare_arrays(old: list[Any], new: list[Any], steps: tuple[str | int, ...], operations: list[Operation]) -> None:
    both = min(len(old), len(new))
    inside: list[Operation] = []
    for index in range(both):
        _compare(old[index], new[index], (*steps, index), inside)
    size = sum([len(cast("dict[str, Any] | list[Any]", item)) if isinstance(item, (dict, list)) else 1 for item in new])
    if both and 2 * len(inside) > size:  # one replacement is shorter than that many operations
        operations.append(_operation("replace", steps, new))
        return
    operations += inside
    operations += [_removal((*steps, index)) for index in range(len(old) - 1, both - 1, -1)]
    operations += [_operation("add", (*steps, "-"), value) for value in new[both:]]


def _operation(op: str, steps: tuple[str | int, ...], value: object) -> Operation:
    return {"op": op, "path": Path.of(*steps).pointer, "value": value}


def _removal(steps: tuple[str | int, ...]) -> Operation:
    return {"op": "remove", "path": Path.of(*steps).pointer}
