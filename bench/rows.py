"""What a row of the table is: a piece of work, the unit it is counted in, and the contenders that do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from .timing import Measure, Reading

__all__ = [
    "DOUBLING",
    "KIB_A_STREAM",
    "MB_A_SECOND",
    "MILLISECONDS",
    "MODULES",
    "OURS",
    "TIMES_THE_DOCUMENT",
    "US_A_CHUNK",
    "US_A_FRAGMENT",
    "US_A_SNAPSHOT",
    "Contender",
    "Row",
    "UnavailableError",
    "Unit",
    "load",
    "ours",
]

OURS: Final = "unspool"


class UnavailableError(Exception):
    """This contender does not run here; the text says why in a few words."""


@dataclass(frozen=True, slots=True)
class Unit:
    name: str
    pick: Callable[[Iterable[Reading]], Reading] = min
    higher_is_better: bool = False
    depends_on_machine: bool = True  # then only its ratio to a peer can be held against it elsewhere
    digits: int = 2

    def ahead(self, figure: float, other: float) -> float:
        """How many times better `figure` is than `other`."""
        return figure / other if self.higher_is_better else other / figure


def _median(readings: Iterable[Reading]) -> Reading:
    ordered = sorted(readings)
    return ordered[len(ordered) // 2]


US_A_FRAGMENT: Final = Unit("us a fragment")
US_A_CHUNK: Final = Unit("us a chunk")
MB_A_SECOND: Final = Unit("MB/s", pick=max, higher_is_better=True, digits=0)
US_A_SNAPSHOT: Final = Unit("us a snapshot", digits=1)
MILLISECONDS: Final = Unit("ms", pick=_median, digits=1)
DOUBLING: Final = Unit("time(2n) / time(n)", depends_on_machine=False)
KIB_A_STREAM: Final = Unit("KiB a stream", depends_on_machine=False)
TIMES_THE_DOCUMENT: Final = Unit("x the document", depends_on_machine=False, digits=1)
MODULES: Final = Unit("modules", depends_on_machine=False, digits=0)


@dataclass(frozen=True, slots=True)
class Contender:
    """`prepare` imports what it needs, proves on the way that the answers are right, and gives the measure."""

    name: str
    prepare: Callable[[], Measure]
    lacks: str = ""
    pure_python: bool = False
    does_the_same: bool = True  # otherwise it is listed, but it is not the peer to beat


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    title: str
    unit: Unit
    contenders: Sequence[Contender]
    turns: int | None = None  # None: as many as the effort says
    curve: tuple[str, int] | None = None  # the panel of the plot, and the document's size in characters


def load(module: str) -> Any:
    """A peer, imported when its turn comes."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UnavailableError("not installed") from error


def ours(*names: str) -> tuple[Any, ...]:
    """The public names of unspool that a row needs; a row about what is not there yet is left out, not broken."""
    library = load("unspool")
    missing = [name for name in names if not hasattr(library, name)]
    if missing:
        raise UnavailableError(f"this unspool has no {', '.join(missing)}")
    return tuple(getattr(library, name) for name in names)
