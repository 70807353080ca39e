"""time(2n) / time(n): 2 when the work grows with the text, 4 when it grows with its square.

Each size of fragment has its own n, so that every run lasts some milliseconds. The two lengths take turns, and the
ratio is that of the best times. A ratio over the limit leads to more turns: noise only makes times longer, so more
turns bring both best times nearer to the truth, while the ratio of quadratic work stays high.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .documents import cut
from .timing import Effort, Measure, Reading, seconds

__all__ = ["LENGTHS", "LIMIT", "doubling"]

LIMIT: Final = 2.3
LENGTHS: Final[Mapping[int, int]] = {1: 20_000, 4: 50_000, 64: 150_000, 4096: 300_000}
_TURNS, _MAX_TURNS = 3, 12


def doubling(
    shape: Callable[[int], str],
    run: Callable[[Sequence[str]], object],
    effort: Effort,
    lengths: Mapping[int, int] = LENGTHS,
) -> Measure:
    """Measure the worst ratio over all sizes of fragment. The note lists them all."""

    def measure() -> Reading:
        ratios: dict[int, float] = {}
        for size, length in lengths.items():
            length = int(length * effort.scale)
            ratios[size] = _ratio(cut(shape(length), size), cut(shape(2 * length), size), run)
        note = "fragments of " + ", ".join(f"{size}: {ratio:.2f}" for size, ratio in ratios.items())
        return Reading(max(ratios.values()), note)

    return measure


def _ratio(short: Sequence[str], long: Sequence[str], run: Callable[[Sequence[str]], object]) -> float:
    best_short = best_long = float("inf")
    ratio = float("inf")
    for turn in range(_MAX_TURNS):
        if turn >= _TURNS and ratio <= LIMIT:
            break
        best_short = min(best_short, seconds(lambda: run(short)))
        best_long = min(best_long, seconds(lambda: run(long)))
        ratio = best_long / best_short
    return ratio
