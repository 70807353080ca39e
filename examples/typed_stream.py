"""A recorded itinerary as a typed value that grows, and another one that is stopped where it goes wrong.

Needs pydantic: ``pip install "unspool[pydantic]"``.
"""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pydantic import BaseModel

from unspool.typed import InvalidError, Partial, iter_partial

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import TextIOWrapper

RECORDED = Path(__file__).with_name("itinerary.json").read_text(encoding="utf-8")
SIZE = 30  # characters in a fragment


class Activity(BaseModel):
    """Something to do."""

    time: datetime.time
    name: str
    type: Literal["walk", "ride", "food", "sight", "tasting"]
    hours: float
    booked: bool | None


class Day(BaseModel):
    """What is done on one day."""

    title: str
    note: str
    activities: list[Activity]


class Trip(BaseModel):
    """All of it; what else is in the text is ignored, as models do."""

    title: str
    travellers: int
    days: list[Day]


def fragments(text: str) -> list[str]:
    """The text as it would be sent."""
    return [text[start : start + SIZE] for start in range(0, len(text), SIZE)]


def newest(trip: Trip) -> str:
    """What is being written, in a line. As long as the trip is not complete, any field may be None."""
    if not trip.days:
        return f"{known(trip.title)}, {known(trip.travellers)} travellers"
    day = trip.days[-1]
    if not day.activities:
        return f"  {known(day.title)}: {known(day.note)}"
    activity = day.activities[-1]
    return f"    {known(activity.time)}  {known(activity.name)}  {known(activity.type)}"


def known(value: object) -> str:
    """A field, whether it is there or not."""
    return "..." if value is None else " ".join(str(value).split())


def watch(text: str) -> None:
    """Print what is new after each fragment."""
    last: Partial[Trip] | None = None
    for partial in iter_partial(Trip, fragments(text)):
        if last is None or newest(partial.value) != newest(last.value):
            print(newest(partial.value))
        last = partial
    assert last is not None
    assert last.is_complete
    print(f"complete: {len(last.value.days)} days\n")


def stop_early(text: str) -> None:
    """Read only as far as the text can still become a trip."""
    received: list[str] = []

    def receive() -> Iterator[str]:
        for fragment in fragments(text):
            received.append(fragment)
            yield fragment

    try:
        for _ in iter_partial(Trip, receive()):
            pass
    except InvalidError as error:
        print(f"stopped after {len(received)} of {len(fragments(text))} fragments: {error}")


def main() -> None:
    """First the recorded text, then the same one with an activity of no known type."""
    watch(RECORDED)
    stop_early(RECORDED.replace('"ride"', '"swim"', 1))


if __name__ == "__main__":
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")  # where there are no emoji
    main()
