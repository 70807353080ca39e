"""Rows of the table: a piece of work, its unit, and the contenders that do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from .timing import Measure, Reading

__all__ = [
    "DOUBLING",
    "FLOOR",
    "KIB_PER_STREAM",
    "LARGE_TO_SMALL",
    "MB_PER_SECOND",
    "MICROSECONDS",
    "MILLISECONDS",
    "MODULES",
    "OURS",
    "TIMES_THE_DOCUMENT",
    "US_PER_CHUNK",
    "US_PER_FRAGMENT",
    "US_PER_SNAPSHOT",
    "Contender",
    "Row",
    "UnavailableError",
    "Unit",
    "load",
    "ours",
]

OURS: Final = "unspool"
FLOOR: Final = "floor"


class UnavailableError(Exception):
    """A contender does not run here; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Unit:
    name: str
    pick: Callable[[Iterable[Reading]], Reading] = min
    higher_is_better: bool = False
    depends_on_machine: bool = True  # then only ratios to peers are comparable between machines
    digits: int = 2

    def ahead(self, figure: float, other: float) -> float:
        """How many times better `figure` is than `other`."""
        return figure / other if self.higher_is_better else other / figure


def _median(readings: Iterable[Reading]) -> Reading:
    ordered = sorted(readings)
    return ordered[len(ordered) // 2]


US_PER_FRAGMENT: Final = Unit("µs per fragment")
US_PER_CHUNK: Final = Unit("µs per chunk")
MB_PER_SECOND: Final = Unit("MB/s", pick=max, higher_is_better=True, digits=0)
US_PER_SNAPSHOT: Final = Unit("µs per snapshot", digits=1)
MICROSECONDS: Final = Unit("µs", digits=0)
MILLISECONDS: Final = Unit("ms", pick=_median, digits=1)
DOUBLING: Final = Unit("time(2n) / time(n)", depends_on_machine=False)
KIB_PER_STREAM: Final = Unit("KiB per stream", depends_on_machine=False)
TIMES_THE_DOCUMENT: Final = Unit("x the document", depends_on_machine=False, digits=1)
LARGE_TO_SMALL: Final = Unit("15 MB / 1 MB", depends_on_machine=False)
MODULES: Final = Unit("modules", depends_on_machine=False, digits=0)


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do the work. `prepare` imports the library, checks its answers, and returns the measure."""

    name: str
    prepare: Callable[[], Measure]
    lacks: str = ""
    pure_python: bool = False
    does_the_same: bool = True  # otherwise it is listed, but not compared with


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    title: str
    unit: Unit
    contenders: Sequence[Contender]
    turns: int | None = None  # None: as many as the effort says


def load(module: str) -> Any:
    """Import a peer when its turn comes."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UnavailableError("not installed") from error


def ours(*names: str) -> tuple[Any, ...]:
    """Return the public names of unspool that a row needs. A row whose names do not exist is left out."""
    library = load("unspool")
    missing = [name for name in names if not hasattr(library, name)]
    if missing:
        raise UnavailableError(f"this unspool has no {', '.join(missing)}")
    return tuple(getattr(library, name) for name in names)
