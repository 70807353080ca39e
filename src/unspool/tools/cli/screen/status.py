"""One line that tells how it stands: time, rate, position, what is expected; and one that tells how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from ...viewer.escaping import cells, clip, visible

if TYPE_CHECKING:
    from ...viewer.timeline import Timeline
    from ...viewer.tracks import Track

__all__ = ["status_line", "summary"]

SPAN: Final = 1.0  # seconds over which the rate is taken
GAP: Final = "  "


def _rate(timeline: Timeline) -> float:
    """Characters a second, over the last second; of what is shorter, over all of it."""
    end = timeline.times[-1]
    step = max(timeline.step_at(end - SPAN), 0)
    time = end - timeline.times[step]
    return (timeline.sizes[-1] - timeline.sizes[step]) / time if time > 0 else 0.0


def _newest(timeline: Timeline) -> Track | None:
    """The track of JSON that has grown last."""
    tracks = [track for track in timeline.tracks.values() if track.is_json]
    return max(tracks, key=lambda track: track.last_step, default=None)


def status_line(timeline: Timeline, elapsed: float, width: int, *, ascii_only: bool) -> Text:
    """As much of it as there is room for, the most important first."""
    parts = [f"{elapsed:.1f} s", f"{_rate(timeline):,.0f} ch/s"]
    track = _newest(timeline)
    if track is not None:
        state = track.state
        parts.append(f"{state.line}:{state.column} @{state.index:,}")
    parts.append(f"step {timeline.last:,}")
    item = timeline.item(timeline.last)
    if item.waiting:
        parts.append("waiting: " + ", ".join([visible(key, ascii_only=ascii_only) for key in item.waiting]))
    if track is not None:
        parts.append("broken" if track.state.error is not None else f"expecting {track.state.expecting}")
    line = parts[0]
    for part in parts[1:]:
        room = width - cells(line) - len(GAP)
        if cells(part) > room:
            line += GAP + clip(part, room, ascii_only=ascii_only) if room > 12 else ""
            break
        line += GAP + part
    line = clip(line, width, ascii_only=ascii_only)
    return Text(line + " " * (width - cells(line)), style="reverse", no_wrap=True)


def summary(timeline: Timeline) -> str:
    """How much came, and how it ended."""
    fields = sum([len(fields.listed) + fields.left_out for fields in timeline.fields.values()])
    counts = {"field": fields, "character": timeline.sizes[-1], "step": timeline.last}
    parts = [f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items()]
    if timeline.is_timed:
        time = timeline.duration
        parts.append(f"{time:.2f} s")
        if time > 0:
            parts.append(f"{timeline.sizes[-1] / time:,.0f} characters/s")
    message = timeline.message(timeline.last)
    if message is not None and message.finish_reason is not None:
        parts.append(f"finish: {message.finish_reason}")
    return ", ".join(parts)
