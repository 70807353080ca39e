"""A typed stream in the terminal: a tree that grows, drawn by rich. What is not there yet is a dot.

Needs rich and pydantic: ``pip install rich "unspool[pydantic]"``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel
from rich.console import Console
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from unspool.typed import iter_partial

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDED = Path(__file__).with_name("itinerary.json").read_text(encoding="utf-8")
SIZE = 8  # characters in a fragment


class Activity(BaseModel):
    """Something to do."""

    time: str
    name: str
    hours: float


class Day(BaseModel):
    """What is done on one day."""

    title: str
    activities: list[Activity]


class Trip(BaseModel):
    """All of it; what else is in the text is ignored, as models do."""

    title: str
    travellers: int
    days: list[Day]


def fragments(pause: float) -> Iterator[str]:
    """The recorded answer as it would be sent."""
    for start in range(0, len(RECORDED), SIZE):
        yield RECORDED[start : start + SIZE]
        time.sleep(pause)


def shown(value: object) -> str:
    """A field, whether it is there or not, without anything that a terminal would take for a command."""
    return "·" if value is None else "".join([c if c.isprintable() else ascii(c)[1:-1] for c in str(value)])


def tree(trip: Trip, *, is_complete: bool) -> Tree:
    """The trip as it stands: any field may be None."""
    root = Tree(
        Text(f"{shown(trip.title)} ({shown(trip.travellers)} travellers)", "bold green" if is_complete else "bold")
    )
    for day in trip.days or []:
        branch = root.add(Text(shown(day.title), "cyan"))
        for activity in day.activities or []:
            branch.add(Text(f"{shown(activity.time)}  {shown(activity.name)}  {shown(activity.hours)} h"))
    return root


def main() -> None:
    """Draw the value after each fragment. Where the output is no terminal, only the last one is printed."""
    console = Console()
    with Live(console=console, refresh_per_second=20, vertical_overflow="crop") as live:
        for partial in iter_partial(Trip, fragments(pause=0.02 if console.is_terminal else 0)):
            live.update(tree(partial.value, is_complete=partial.is_complete))


if __name__ == "__main__":
    main()
