"""What each row has to reach, in one table.

`bound` is the figure itself, in the row's unit; where that unit depends on the machine it is shown and judged, but only
the ratios are held against a build by ``--check``. `ahead` says of whom, and how many times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from .doubling import LIMIT
from .rows import Unit

__all__ = ["EVERY_PEER", "EVERY_PURE_PEER", "GOALS", "Build", "Goal", "goals_for"]

Build: TypeAlias = Literal["compiled", "pure"]
EVERY_PEER: Final = "every peer"
EVERY_PURE_PEER: Final = "every pure-Python peer"


@dataclass(frozen=True, slots=True)
class Goal:
    build: Build
    bound: float | None = None
    ahead: Mapping[str, float] = field(default_factory=dict)

    def words(self, unit: Unit) -> str:
        """As the table shows it: ``<= 0.30, 7x, 30x jiter``."""
        sign = ">=" if unit.higher_is_better else "<="
        parts = [] if self.bound is None else [f"{sign} {self.bound:.{unit.digits}f}"]
        parts += [f"{times:g}x" + ("" if peer == EVERY_PEER else f" {peer}") for peer, times in self.ahead.items()]
        return ", ".join(parts)


def _compiled(bound: float | None = None, times: float | None = None, **ahead: float) -> Goal:
    return Goal("compiled", bound, ({} if times is None else {EVERY_PEER: times}) | ahead)


def _pure(bound: float | None = None, **ahead: float) -> Goal:
    return Goal("pure", bound, {EVERY_PURE_PEER: 1} | ahead)


def _both(bound: float) -> Sequence[Goal]:
    return Goal("compiled", bound), Goal("pure", bound)


GOALS: Final[Mapping[str, Sequence[Goal]]] = {
    "events/itinerary 0.5 KB": (_compiled(0.15, 1), _pure()),
    "events/itinerary 2 KB": (_compiled(0.15, 1), _pure()),
    "events/itinerary 10 KB": (_compiled(0.15, 1), _pure()),
    "events/itinerary 100 KB": (_compiled(0.15, 1), _pure()),
    "events/50 KB string": (_compiled(0.15, 1), _pure()),
    "events/2,000 rows": (_compiled(0.15, 1), _pure()),
    "events/bulk/itinerary 1 MB": (_compiled(100, 1), _pure(18)),
    "events/bulk/2,000 rows": (_compiled(times=1), _pure()),
    "events/doubling/*": _both(LIMIT),
    "import/time": (_compiled(15), Goal("pure", 15)),
    "import/foreign": _both(0),
    "values/itinerary 0.5 KB": (_compiled(0.30, 3), _pure()),
    "values/itinerary 2 KB": (_compiled(0.30, 7), _pure(jiter=1)),
    "values/itinerary 10 KB": (_compiled(0.30, 7, jiter=30), _pure(jiter=1)),
    "values/itinerary 100 KB": (_compiled(0.35, 6, jiter=300), _pure(jiter=1)),
    "values/50 KB string": (_compiled(0.60, 4), _pure(jiter=1)),
    "values/2,000 rows": (_compiled(1.0, 2.5, jiter=160), _pure(jiter=1)),
    "values/live/itinerary 100 KB": (_compiled(0.15),),
    "values/live/2,000 rows": (_compiled(0.2),),
    "values/unasked/50 KB string": (_compiled(0.15),),
    "values/states/10 KB": (_compiled(0.8),),
    "values/states/100 KB": (_compiled(0.8),),
    "values/doubling/*": _both(LIMIT),
    "values/bulk": (_compiled(150),),
    "values/streams": _both(4),
    "snapshots/10 KB": (Goal("compiled", ahead={"json.loads": 1 / 1.6}),),
    "snapshots/100 KB": (Goal("compiled", ahead={"json.loads": 1 / 1.6}), Goal("pure", ahead={"json.loads": 1 / 1.6})),
    "snapshots/memory": _both(8),
    "typed/itinerary 10 KB": (_compiled(2.5, **{"instructor": 50, "pydantic-ai": 50}),),
    "typed/itinerary 100 KB": (_compiled(2.5, **{"instructor": 50, "pydantic-ai": 50}),),
    "typed/doubling/*": _both(LIMIT),
    "messages/openai-chat 10 KB": (_compiled(3, 10),),
    "messages/openai-chat 100 KB": (_compiled(3, 10),),
    "messages/anthropic 10 KB": (_compiled(3, 10),),
    "messages/anthropic 100 KB": (_compiled(3, 10),),
    "messages/doubling/*": _both(LIMIT),
}


def goals_for(key: str) -> Sequence[Goal]:
    """By the row's own key, or by that of its family."""
    return GOALS.get(key) or GOALS.get(key.rpartition("/")[0] + "/*", ())
