"""From a job to a reading, and from several jobs to the best reading of each.

The times are CPU times, so other processes on the same cores do not count. The garbage collector runs before a
measurement and is off during it, as in `timeit`. The contenders of a row take turns (A B C A B C ...), so that a slow
moment of the machine affects all of them alike, and the best of the turns counts.
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
    """One figure, in the unit of its row, and a note about the measurement."""

    figure: float
    note: str = ""


Measure: TypeAlias = Callable[[], Reading]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much time the measurements take."""

    turns: int  # for each contender
    shortest: float  # seconds: a job is repeated until a run lasts that long
    budget: float  # seconds: a contender that has used them up skips the remaining turns
    sample: float  # seconds: prefix parsers read as many prefixes as fit
    scale: float  # for documents that may be smaller without changing the question


FULL: Final = Effort(turns=7, shortest=0.006, budget=1.5, sample=0.04, scale=1.0)
QUICK: Final = Effort(turns=3, shortest=0.002, budget=0.2, sample=0.008, scale=0.3)


def seconds(job: Job, repeats: int = 1, *, with_collector: bool = False) -> float:
    """Measure the CPU seconds of one call of `job`, as the mean of `repeats` calls in a row."""
    gc.collect()
    was_enabled = gc.isenabled()
    if not with_collector:
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
    """`seconds`, with enough repeats for a precise reading. The first call counts if it was long enough."""
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
    """Measure microseconds per fragment, for a job that reads `fragments` of them."""
    watch = _stopwatch(job, effort)
    return lambda: Reading(watch() / fragments * 1e6, note)


def throughput(job: Job, text: str, effort: Effort) -> Measure:
    """Measure megabytes of UTF-8 per second, for a job that reads `text`."""
    watch = _stopwatch(job, effort)
    megabytes = len(text.encode()) / 1e6
    return lambda: Reading(megabytes / watch())


def interleave(
    measures: Mapping[str, Measure], turns: int, budget: float, pick: Callable[[Iterable[Reading]], Reading]
) -> dict[str, Reading]:
    """Measure every contender in turn, `turns` times, and `pick` one reading of each."""
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
