"""What a page asks to see: a step or a time, a track, and a window on its text and its tree. From a query string."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from ... import select
from ..._errors import OptionsError, PatternError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Query", "query_of"]

MOST_ROWS: Final = 500
MOST_CHARACTERS: Final = 20_000
MOST_FOLDED: Final = 5_000
MOST_DIGITS: Final = 12


@dataclass(frozen=True)
class Query:
    """What to show. Of `step` and `time` one is given; with neither it is the last step."""

    step: int | None = None
    time: float | None = None
    track: str | None = None
    start: int = 0
    count: int = 80
    follow: bool = False
    folded: tuple[int, ...] = ()
    filter: select.Pattern | None = None
    filter_problem: str | None = None
    """Why the filter is none: half of a pattern is no reason to show nothing."""
    text_start: int | None = None
    text_count: int = MOST_CHARACTERS


def query_of(parameters: Mapping[str, str]) -> Query:
    """Read a query string. Raises `OptionsError` in words for the user."""
    step, time = parameters.get("step"), parameters.get("time")
    text_start = parameters.get("text_start")
    pattern, problem = _filter(parameters.get("filter", "").strip())
    marks = [mark for mark in parameters.get("folded", "").split(",") if mark]
    if len(marks) > MOST_FOLDED:
        raise OptionsError(f"folded has more than {MOST_FOLDED:,} ids")
    return Query(
        step=None if step is None else _whole("step", step),
        time=None if time is None else _seconds(time),
        track=parameters.get("track"),
        start=_whole("start", parameters.get("start", "0")),
        count=min(_whole("count", parameters.get("count", "80")), MOST_ROWS),
        follow=parameters.get("follow", "") in ("1", "true"),
        folded=tuple([_whole("folded", mark) for mark in marks]),
        filter=pattern,
        filter_problem=problem,
        text_start=None if text_start is None else _whole("text_start", text_start),
        text_count=min(_whole("text_count", parameters.get("text_count", str(MOST_CHARACTERS))), MOST_CHARACTERS),
    )


def _filter(text: str) -> tuple[select.Pattern | None, str | None]:
    if not text:
        return None, None
    try:
        return select.compile(text), None
    except PatternError as error:
        return None, str(error)


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise OptionsError(f"{name} must be a whole number from 0 up")
    return int(text)


def _seconds(text: str) -> float:
    try:
        time = float(text)
    except ValueError:
        time = -1.0
    if not isfinite(time) or time < 0:
        raise OptionsError("time must be a number of seconds")
    return time
