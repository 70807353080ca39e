"""The rows about the other direction: from complete snapshots of one document to fragments of its text.

No other library does this. For comparison, `json.loads` reads the same snapshots, which every solution has to do.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from .documents import itinerary
from .rows import OURS, TIMES_THE_DOCUMENT, US_PER_SNAPSHOT, Contender, Row, UnavailableError, ours
from .timing import Effort, Measure, Reading, per_fragment

__all__ = ["FLOOR", "rows"]

FLOOR: Final = "json.loads"


def rows(effort: Effort) -> Iterator[Row]:
    for count, name, size in ((50, "10 KB", 10_000), (500, "100 KB", 100_000)):
        snapshots = partial(_snapshots, size, count)
        contenders = [
            Contender(OURS, partial(_measure, snapshots, effort, json.dumps)),
            Contender(FLOOR, partial(_measure_floor, snapshots, effort), "only reads the snapshots"),
        ]
        yield Row(f"snapshots/{name}", f"{count} snapshots of a {name} document", US_PER_SNAPSHOT, contenders)
        contenders = [Contender(OURS, partial(_measure, snapshots, effort, lambda value: value))]
        yield Row(f"snapshots/parsed/{name}", f"{count} parsed snapshots of {name}", US_PER_SNAPSHOT, contenders)
    memory = Contender(OURS, partial(_measure_memory, partial(_snapshots, 100_000, 500)))
    yield Row("snapshots/memory", "memory for a chunker, 100 KB document", TIMES_THE_DOCUMENT, [memory], turns=1)


def _snapshots(size: int, count: int) -> Sequence[object]:
    """Return the values of a growing itinerary in `count` even steps, as plain copies that share nothing."""
    (iter_values,) = ours("iter_values")
    text = itinerary(size)
    cuts = [len(text) * step // count for step in range(count + 1)]
    values = iter_values((text[start:end] for start, end in pairwise(cuts)), every=True)
    return [json.loads(json.dumps(value)) for value in values]


def _run(snapshots: Sequence[object]) -> str:
    (chunker_class,) = ours("SnapshotChunker")
    chunker = chunker_class()
    return "".join([*map(chunker.process, snapshots), chunker.flush()])


def _measure(make: Callable[[], Sequence[object]], effort: Effort, spelled: Callable[[object], object]) -> Measure:
    values = make()
    snapshots = [spelled(value) for value in values]
    if json.loads(_run(snapshots)) != values[-1]:
        raise UnavailableError("another value than the last snapshot has")
    return per_fragment(lambda: _run(snapshots), len(snapshots), effort)


def _measure_floor(make: Callable[[], Sequence[object]], effort: Effort) -> Measure:
    texts = [json.dumps(value) for value in make()]

    def run() -> None:
        for text in texts:
            json.loads(text)

    return per_fragment(run, len(texts), effort)


def _measure_memory(make: Callable[[], Sequence[object]]) -> Measure:
    (chunker_class,) = ours("SnapshotChunker")
    texts = [json.dumps(value) for value in make()]

    def measure() -> Reading:
        tracemalloc.start()
        try:
            chunker = chunker_class()
            for text in texts:
                chunker.process(text)
            return Reading(tracemalloc.get_traced_memory()[0] / len(texts[-1]), "bytes for each byte of the document")
        finally:
            tracemalloc.stop()

    return measure
