"""The session document: what a page knows of a whole stream; and the difference between two of them, as a JSON Patch.

The document is small whatever the stream is: it has the bars of the waterfall, and no values. What is said in it, or in
a view, is clipped: a path is as long as its keys are, a key may be as long as a text, and every row has a path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from ..viewer.waterfall import layout

if TYPE_CHECKING:
    from ... import Path
    from ...patch import Operation
    from ..viewer.timeline import Timeline
    from ..viewer.tracks import Track

__all__ = ["clipped", "described", "diff", "drawn", "shown_path", "spelled_out"]

MAX_NOTES: Final = 200
MAX_NOTE: Final = 1_000
MAX_LABEL: Final = 200
MAX_PATH: Final = 1_000
DIGITS: Final = 6  # of a time: microseconds
SHARE_DIGITS: Final = 3  # a share that changes by less is not worth a patch


def clipped(text: str, most: int) -> str:
    """The text, or how it begins.

    >>> clipped("Trip to Fuji", 4)
    'Trip…'
    """
    return text if len(text) <= most else text[:most] + "…"


def spelled_out(value: object, most: int) -> str:
    """A value as JSON on many lines; of a very large one how it begins, and no more of it is made."""
    pieces: list[str] = []
    size = 0
    for piece in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            break
    return clipped("".join(pieces), most)


def shown_path(path: Path | str) -> str:
    """A path as it is shown: the same one is the same text everywhere."""
    return clipped(str(path), MAX_PATH)


def described(timeline: Timeline) -> dict[str, Any]:
    """What there is to say about a timeline, without its waterfall."""
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
        "error": None if state is None or state.error is None else clipped(str(state.error), MAX_NOTE),
        "is_complete": timeline.is_finished if state is None else state.is_complete,
    }


def drawn(timeline: Timeline) -> dict[str, Any]:
    """The waterfall of a timeline."""
    axis, bars, left_out, *_ = layout(timeline)
    ticks = [{"at": round(tick.at, DIGITS), "label": tick.label} for tick in axis.ticks]
    return {
        "axis": {"unit": axis.unit, "total": round(axis.total, DIGITS), "ticks": ticks},
        "bars": [
            {
                **bar._asdict(),
                "label": clipped(bar.label, MAX_LABEL),
                "path": shown_path(bar.path),
                "first": round(bar.first, DIGITS),
                "complete": None if bar.complete is None else round(bar.complete, DIGITS),
                "share": round(bar.share, SHARE_DIGITS),
            }
            for bar in bars
        ],
        "left_out": left_out,
    }


def diff(old: Any, new: Any) -> list[Operation]:
    """The operations that make `new` of `old`, both plain JSON data: what changed is replaced, what is more is added.

    >>> diff({"last": 1, "title": "Tr", "bars": [1]}, {"last": 2, "title": "Trip", "bars": [1, 2]})
    [{'op': 'replace', 'path': '/last', 'value': 2}, {'op': 'append', 'path': '/title', 'value': 'ip'}, \
{'op': 'add', 'path': '/bars/-', 'value': 2}]
    """
    told: list[Operation] = []
    _compare(old, new, "", told)
    return told


def _compare(old: Any, new: Any, path: str, told: list[Operation]) -> None:
    """Documents of sessions are a few levels deep, so this may call itself."""
    if old is new:
        return
    if type(old) is not type(new):
        told.append({"op": "replace", "path": path, "value": new})
    elif isinstance(new, dict):
        _compare_objects(cast("dict[str, Any]", old), cast("dict[str, Any]", new), path, told)
    elif isinstance(new, list):
        _compare_arrays(old, new, path, told)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(new, str) and old and new != old and new.startswith(old):
        told.append({"op": "append", "path": path, "value": new[len(old) :]})
    elif old != new:
        told.append({"op": "replace", "path": path, "value": new})


def _compare_objects(old: dict[str, Any], new: dict[str, Any], path: str, told: list[Operation]) -> None:
    told += [{"op": "remove", "path": f"{path}/{_token(key)}"} for key in old if key not in new]
    for key, value in new.items():
        inner = f"{path}/{_token(key)}"
        if key in old:
            _compare(old[key], value, inner, told)
        else:
            told.append({"op": "add", "path": inner, "value": value})


def _compare_arrays(old: list[Any], new: list[Any], path: str, told: list[Operation]) -> None:
    both = min(len(old), len(new))
    inside: list[Operation] = []
    for index in range(both):
        _compare(old[index], new[index], f"{path}/{index}", inside)
    size = sum([len(cast("dict[str, Any] | list[Any]", item)) if isinstance(item, (dict, list)) else 1 for item in new])
    if both and 2 * len(inside) > size:  # most of it is another one: shorter to say it anew
        told.append({"op": "replace", "path": path, "value": new})
        return
    told += inside
    told += [{"op": "remove", "path": f"{path}/{index}"} for index in range(len(old) - 1, both - 1, -1)]
    told += [{"op": "add", "path": f"{path}/-", "value": value} for value in new[both:]]


def _token(key: str) -> str:
    """A key as it stands in a pointer (RFC 6901, section 3)."""
    return key.replace("~", "~0").replace("/", "~1")
