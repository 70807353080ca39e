"""From a job to a reading, and from several jobs to the best reading of each.

CPU time, not wall time: what other processes do on the same cores is not charged. The cyclic garbage collector is
emptied before a run and off during it, as in `timeit`. The contenders of a row take turns (A B C A B C ...), so that
a slow moment of the machine hits all of them alike, and the best of the turns counts.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from time import perf_counter, process_time
from typing import Final, NamedTuple, TypeAlias

__all__ = [
    "FULL",
    "QUICK",
    "Effort",
    "Job",
    "Measure",
    "Reading",
    "interleave",
    "per_fragment",
    "seconds",
    "throughput",
]

Job: TypeAlias = Callable[[], object]


class Reading(NamedTuple):
    """One figure, in the unit of its row, and what there is to say about how it came about."""

    figure: float
    note: str = ""


Measure: TypeAlias = Callable[[], Reading]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to try."""

    turns: int  # for each contender
    shortest: float  # seconds: a job is repeated until a run lasts that long
    budget: float  # seconds: who has used them up sits out the turns that are left
    sample: float  # seconds: parsers that read the whole prefix again are given as many prefixes as fit
    scale: float  # of what may be made smaller without changing the question


FULL: Final = Effort(turns=7, shortest=0.006, budget=1.5, sample=0.04, scale=1.0)
QUICK: Final = Effort(turns=3, shortest=0.002, budget=0.2, sample=0.008, scale=0.3)


def seconds(job: Job, repeats: int = 1) -> float:
    """CPU seconds that one call of `job` takes, out of `repeats` calls in a row."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        started = process_time()
        for _ in range(repeats):
            job()
        return (process_time() - started) / repeats
    finally:
        if was_enabled:
            gc.enable()


def _stopwatch(job: Job, effort: Effort) -> Callable[[], float]:
    """`seconds`, with as many repeats as make a run long enough to be read. A long job is not run to find that out."""
    repeats = 0

    def watch() -> float:
        nonlocal repeats
        if repeats == 0:
            once = seconds(job)
            repeats = max(1, ceil(effort.shortest / max(once, 1e-7)))
            if repeats == 1:
                return once
        return seconds(job, repeats)

    return watch


def per_fragment(job: Job, fragments: int, effort: Effort, note: str = "") -> Measure:
    """Microseconds a fragment, for a job that reads so many of them."""
    watch = _stopwatch(job, effort)
    return lambda: Reading(watch() / fragments * 1e6, note)


def throughput(job: Job, text: str, effort: Effort) -> Measure:
    """Megabytes of UTF-8 a second, for a job that reads `text`."""
    watch = _stopwatch(job, effort)
    megabytes = len(text.encode()) / 1e6
    return lambda: Reading(megabytes / watch())


def interleave(
    measures: Mapping[str, Measure], turns: int, budget: float, pick: Callable[[Iterable[Reading]], Reading]
) -> dict[str, Reading]:
    """Every contender in turn, `turns` times; the reading that `pick` takes from each one's list."""
    readings: dict[str, list[Reading]] = {name: [] for name in measures}
    spent = dict.fromkeys(measures, 0.0)
    for turn in range(turns):
        for name, measure in measures.items():
            if turn > 0 and spent[name] > budget:
                continue
            started = perf_counter()
            readings[name].append(measure())
            spent[name] += perf_counter() - started
    return {name: pick(found) for name, found in readings.items()}
