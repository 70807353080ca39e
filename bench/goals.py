"""The goals of the rows, in one table.

`bound` limits the figure itself, in the unit of the row. `ahead` names peers, and how many times faster unspool has to
be. `of_floor` limits the figure as a multiple of the row's floor, measured in the same run (see floor.py). A bound in a
unit that depends on the machine is shown and judged, but ``--check`` fails for ratios only.
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
    of_floor: float | None = None

    def words(self, unit: Unit) -> str:
        """As the table shows it: ``<= 0.30, <= 1.25x floor, 7x, 30x jiter``."""
        sign = ">=" if unit.higher_is_better else "<="
        parts = [] if self.bound is None else [f"{sign} {self.bound:.{unit.digits}f}"]
        parts += [] if self.of_floor is None else [f"<= {self.of_floor:g}x floor"]
        parts += [f"{times:g}x" + ("" if peer == EVERY_PEER else f" {peer}") for peer, times in self.ahead.items()]
        return ", ".join(parts)


def _compiled(bound: float | None = None, times: float | None = None, **ahead: float) -> Goal:
    return Goal("compiled", bound, ({} if times is None else {EVERY_PEER: times}) | ahead)


def _pure(bound: float | None = None, **ahead: float) -> Goal:
    return Goal("pure", bound, {EVERY_PURE_PEER: 1} | ahead)


def _near_the_floor(times: float | None = None, **ahead: float) -> Goal:
    return Goal("compiled", None, ({} if times is None else {EVERY_PEER: times}) | ahead, of_floor=1.25)


def _both(bound: float) -> Sequence[Goal]:
    return Goal("compiled", bound), Goal("pure", bound)


GOALS: Final[Mapping[str, Sequence[Goal]]] = {
    "events/itinerary 0.5 KB": (_compiled(0.12, 1), _pure()),
    "events/itinerary 2 KB": (_compiled(0.12, 1), _pure()),
    "events/itinerary 10 KB": (_compiled(0.12, 1), _pure()),
    "events/itinerary 100 KB": (_compiled(0.12, 1), _pure()),
    "events/50 KB string": (_compiled(0.12, 1), _pure()),
    "events/2,000 rows": (_compiled(0.15, 1), _pure()),
    "events/bulk/itinerary 1 MB": (_compiled(140, 1), _pure(18)),
    "events/bulk/2,000 rows": (_compiled(times=1), _pure()),
    "events/doubling/*": _both(LIMIT),
    "import/time": _both(13),
    "import/foreign": _both(0),
    "values/itinerary 0.5 KB": (_near_the_floor(jiter=3), _pure()),
    "values/itinerary 2 KB": (_near_the_floor(jiter=7), _pure(jiter=1)),
    "values/itinerary 10 KB": (_near_the_floor(1, jiter=28), _pure(jiter=1)),
    "values/itinerary 100 KB": (_near_the_floor(1, jiter=230), _pure(jiter=1)),
    "values/50 KB string": (_near_the_floor(4), _pure(jiter=1)),
    "values/2,000 rows": (_near_the_floor(1, jiter=160), _pure(jiter=1)),
    "values/plain/itinerary 10 KB": (_pure(),),
    "values/live/itinerary 100 KB": (_compiled(0.15),),
    "values/live/2,000 rows": (_compiled(0.2),),
    "values/unasked/50 KB string": (_compiled(0.15),),
    "values/parse_chunk/10 KB": (_compiled(0.32),),
    "values/parse_chunk/100 KB": (_compiled(0.32),),
    "values/states/10 KB": (_compiled(0.47),),
    "values/states/100 KB": (_compiled(0.58),),
    "values/doubling/*": _both(LIMIT),
    "values/bulk/itinerary 1 MB": (_compiled(150),),
    "values/bulk/2,000 rows": (_compiled(85),),
    "values/large": _both(1.2),
    "values/streams": (Goal("compiled", 2.3), Goal("pure", 2.35)),
    "snapshots/10 KB": (Goal("compiled", ahead={"json.loads": 1 / 1.6}),),
    "snapshots/100 KB": (Goal("compiled", ahead={"json.loads": 1 / 1.6}), Goal("pure", ahead={"json.loads": 1 / 1.6})),
    "snapshots/memory": _both(8),
    "typed/itinerary 0.5 KB": (_compiled(pydantic=1),),
    "typed/itinerary 10 KB": (_compiled(2.0, **{"instructor": 50, "pydantic-ai": 50, "pydantic": 10}),),
    "typed/itinerary 100 KB": (_compiled(2.0, **{"instructor": 50, "pydantic-ai": 50}),),
    "typed/doubling/*": _both(LIMIT),
    "messages/openai-chat 10 KB": (_compiled(2.0, 10),),
    "messages/openai-chat 100 KB": (_compiled(2.0, 10),),
    "messages/anthropic 10 KB": (_compiled(1.2, 10),),
    "messages/anthropic 100 KB": (_compiled(1.2, 10),),
    "messages/doubling/*": _both(LIMIT),
    "repair/itinerary 10 KB": (_compiled(strict=0.334, **{"json-repair": 10}),),
    "repair/itinerary 100 KB": (_compiled(strict=0.334, **{"json-repair": 10}),),
    "repair/50 KB string": (_compiled(strict=0.334, **{"json-repair": 10}),),
    "repair/2,000 rows": (_compiled(strict=0.334, **{"json-repair": 10}),),
    "repair/doubling/*": _both(LIMIT),
    "encoders/openai-chat": (_compiled(litellm=30),),
    "encoders/openai-responses": (_compiled(litellm=30),),
    "encoders/anthropic": (_compiled(litellm=30),),
    "encoders/vercel-ui": (_compiled(litellm=30),),
    "encoders/ag-ui": (_compiled(litellm=30),),
    "encoders/doubling/*": _both(LIMIT),
}


def goals_for(key: str) -> Sequence[Goal]:
    """Find the goals of a row by its key, or by the key of its family."""
    return GOALS.get(key) or GOALS.get(key.rpartition("/")[0] + "/*", ())
