"""Run a row: all contenders that are available take turns, both builds of unspool among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from . import rows_encoders, rows_events, rows_messages, rows_repair, rows_snapshots, rows_typed, rows_values
from .goals import EVERY_PEER, EVERY_PURE_PEER, Build, Goal, goals_for
from .pure import PureChild
from .rows import FLOOR, OURS, Row, UnavailableError
from .timing import Effort, Measure, Reading, interleave

__all__ = ["BUILDS", "Outcome", "Verdict", "all_rows", "our_name", "run"]

BUILDS: Final[tuple[Build, ...]] = ("compiled", "pure")


def our_name(build: Build) -> str:
    return f"{OURS} {build}"


def all_rows(effort: Effort) -> Iterator[Row]:
    yield from rows_events.rows(effort)
    yield from rows_values.rows(effort)
    yield from rows_snapshots.rows(effort)
    yield from rows_typed.rows(effort)
    yield from rows_messages.rows(effort)
    yield from rows_repair.rows(effort)
    yield from rows_encoders.rows(effort)


@dataclass(frozen=True, slots=True)
class Verdict:
    words: str
    is_met: bool
    is_checked: bool  # false for figures that depend on the machine


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a row: a reading, or a reason why there is none, for every contender."""

    row: Row
    readings: dict[str, Reading]
    missing: dict[str, str]

    def ours(self, build: Build) -> float | None:
        reading = self.readings.get(our_name(build))
        return None if reading is None else reading.figure

    def floor(self) -> float | None:
        reading = self.readings.get(FLOOR)
        return None if reading is None else reading.figure

    def peers(self, *, pure_python: bool = False) -> dict[str, float]:
        """Figures of the peers that do the same work, the best one first."""
        figures = {
            peer.name: self.readings[peer.name].figure
            for peer in self.row.contenders
            if peer.name in self.readings and peer.does_the_same and (peer.pure_python or not pure_python)
        }
        return dict(sorted(figures.items(), key=lambda item: item[1], reverse=self.row.unit.higher_is_better))

    def ratio(self) -> float | None:
        """How many times better the faster build of unspool is than the best peer."""
        figure = next((found for build in BUILDS if (found := self.ours(build)) is not None), None)
        best = next(iter(self.peers().values()), None)
        return None if figure is None or best is None else self.row.unit.ahead(figure, best)

    def verdicts(self) -> Iterator[Verdict]:
        for goal in goals_for(self.row.key):
            figure = self.ours(goal.build)
            if figure is not None:
                yield from self._judge(goal, figure)

    def _judge(self, goal: Goal, figure: float) -> Iterator[Verdict]:
        unit = self.row.unit
        if goal.bound is not None:
            is_met = figure >= goal.bound if unit.higher_is_better else figure <= goal.bound
            words = (
                f"{goal.build}: {figure:.{unit.digits}f} {unit.name}, wanted {Goal(goal.build, goal.bound).words(unit)}"
            )
            yield Verdict(words, is_met, is_checked=not unit.depends_on_machine)
        floor = self.floor()
        if goal.of_floor is not None and floor is not None:
            words = f"{goal.build}: {figure / floor:.2f}x the floor, wanted <= {goal.of_floor:g}x"
            yield Verdict(words, figure <= goal.of_floor * floor, is_checked=True)
        for whom, times in goal.ahead.items():
            rivals = self.peers(pure_python=whom == EVERY_PURE_PEER)
            names = rivals if whom in {EVERY_PEER, EVERY_PURE_PEER} else {whom} & rivals.keys()
            # The best of them decides; a rival that is not installed decides nothing.
            for name in list(names)[:1]:
                ahead = unit.ahead(figure, rivals[name])
                words = f"{goal.build}: {ahead:.2f}x ahead of {name}, wanted {times:g}x"
                yield Verdict(words, ahead >= times, is_checked=True)


def run(row: Row, here: Build | None, child: PureChild | None, effort: Effort) -> Outcome:
    """`here` is the build that this interpreter has; the child, if any, has the pure one."""
    measures: dict[str, Measure] = {}
    missing: dict[str, str] = {}
    for contender in row.contenders:
        entries = {contender.name: contender.prepare}
        if contender.name == OURS:
            entries = {} if here is None else {our_name(here): contender.prepare}
            if child is not None:
                entries[our_name("pure")] = partial(child.prepare, row.key)
        for name, prepare in entries.items():
            try:
                measures[name] = prepare()
            except UnavailableError as reason:
                missing[name] = str(reason)
            except Exception as error:
                # A peer that fails is a result to report. A failure of unspool is an error.
                if contender.name in (OURS, FLOOR):
                    raise
                missing[name] = f"fails with {type(error).__name__}"
    turns = effort.turns if row.turns is None else min(row.turns, 3 * effort.turns)
    return Outcome(row, interleave(measures, turns, effort.budget, row.unit.pick), missing)
