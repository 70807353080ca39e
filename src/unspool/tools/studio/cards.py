"""The cards of the first screen: each sample with its name, and with a small waterfall of what it is."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ..viewer.inputs import CUT, InputDecoder
from ..viewer.recordings import SAMPLES, read_sample
from ..viewer.waterfall import layout

__all__ = ["sample_cards"]

MAX_BARS: Final = 14
DIGITS: Final = 3


@cache
def sample_cards() -> list[dict[str, Any]]:
    """Return the samples, each with some of its bars: begin and end from 0 to 1, and whether the field is complete."""
    return [_card(name, title) for name, title in SAMPLES.items()]


def _card(name: str, title: str) -> dict[str, Any]:
    decoder = InputDecoder(cut=CUT)
    items = decoder.feed(0.0, read_sample(name)) + decoder.close(0.0)
    timeline = decoder.timeline()
    for time, item in items:
        timeline.add(time, item)
    timeline.finish(timeline.duration)
    axis, bars, *_ = layout(timeline, max_items=2, unit="seconds")
    chosen = bars[:: max(1, -(-len(bars) // MAX_BARS))]
    return {
        "name": name,
        "title": title,
        "seconds": round(timeline.duration, DIGITS),
        "bars": [
            [
                round(axis.place(bar.first), DIGITS),
                round(axis.place(axis.total if bar.complete is None else bar.complete), DIGITS),
                bar.complete is not None,
            ]
            for bar in chosen
        ],
    }
