"""The documents, and the ways to cut them. The same call returns the same text on every machine.

Realistic documents (`itinerary`, `file_in_a_tool_call`, `table`) carry the absolute figures. The ten `SHAPES` are
one-sided on purpose and have any size: they show whether the work grows linearly with the text.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from typing import Final

__all__ = [
    "KIB_64",
    "SHAPES",
    "cut",
    "cut_ragged",
    "file_in_a_tool_call",
    "itinerary",
    "leaves",
    "table",
]

KIB_64: Final = 64 * 1024

_PLACES: Final = (
    "the old harbour",
    "the glass market",
    "Saint Anne's hill",
    "the botanical garden",
    "Café Ōkami",
    "the tile museum",
    "the ferry pier",
    "the lighthouse at Três Irmãs",
    "the night bazaar",
    "the salt works",
)
_KINDS: Final = ("sightseeing", "food", "museum", "transfer", "rest", "nature")
_SENTENCES: Final = (
    "Walk to {place} before the crowds arrive, and stay for the light.",
    "Take the little tram towards {place}; the second stop has the better view.",
    "Lunch near {place}: grilled fish, a salad of bitter leaves, bread that is still warm.",
    'Ask at the counter for the "blue route", which ends behind {place}.',
    "Leave an hour free here. Everybody who hurries past {place} regrets it later.",
    "If it rains, {place} is under a roof, and the guide knows a good story or two.",
    "Bring a jacket: the wind around {place} turns cold as soon as the sun is down.",
)


@cache
def itinerary(size: int) -> str:
    """A travel plan of exactly `size` characters (300 at least): mostly prose, some numbers and booleans."""
    fitting = bisect_right(range(size // 100), size, key=lambda activities: len(_plan(activities, ""))) - 1
    summary = "A plan with room in it, for two people who like to walk, eat well and be late. " * 9
    return _plan(fitting, summary[: size - len(_plan(fitting, ""))])


def _plan(activities: int, summary: str) -> str:
    rng = random.Random(7)
    waiting = [_activity(rng) for _ in range(activities)]
    days = [
        {
            "title": f"Day {start // 4 + 1}: {waiting[start]['title']}",
            "walking_km": start % 7 + 0.5,
            "activities": waiting[start : start + 4],
        }
        for start in range(0, activities, 4)
    ]
    return _dumps({"title": "Ten slow days by the sea", "summary": summary, "days": days})


def _activity(rng: random.Random) -> dict[str, object]:
    place = rng.choice(_PLACES)
    return {
        "title": place[0].upper() + place[1:],
        "kind": rng.choice(_KINDS),
        "description": " ".join(rng.sample(_SENTENCES, rng.randint(1, 3))).format(place=place),
        "minutes": rng.randrange(30, 240, 15),
        "price": rng.choice((0, 7.5, 12, 18.25)),
        "booked": rng.random() < 0.5,
    }


@cache
def file_in_a_tool_call(size: int) -> str:
    """The arguments of a tool call that writes a file: one string, newlines escaped, about `size` characters."""
    rng = random.Random(7)
    content, length = ['"""Adds up the tickets of a season."""\n'], 0
    while length < size:
        content.append(_FUNCTION.format(number=len(content), limit=rng.randrange(1000), factor=rng.randrange(2, 9)))
        length += len(_dumps(content[-1]))
    return _dumps({"path": "tickets/season.py", "content": "\n\n".join(content), "overwrite": True})


_FUNCTION: Final = """\
def sum_of_gate_{number}(tickets: list[Ticket], limit: int = {limit}) -> int:
    total = 0
    for ticket in tickets:
        if ticket.price > limit:
            log("over the limit", ticket.seat)
        total += ticket.price * {factor}
    return total
"""


@cache
def table(rows: int) -> str:
    """An array of small objects."""
    rng = random.Random(rows)
    return _dumps(
        [
            {
                "id": index,
                "name": f"{rng.choice(_KINDS)} {rng.randrange(10_000)}",
                "score": round(rng.random() * 100, 2),
                "active": rng.random() < 0.5,
                "note": None if rng.random() < 0.3 else rng.choice(_PLACES),
            }
            for index in range(rows)
        ]
    )


def leaves(text: str) -> int:
    """Count the strings, numbers, booleans and nulls among the values: every reader must find them all."""
    found, waiting = 0, [json.loads(text)]
    while waiting:
        match waiting.pop():
            case dict() as entries:
                waiting.extend(entries.values())
            case list() as items:
                waiting.extend(items)
            case _:
                found += 1
    return found


def cut(text: str, size: int) -> list[str]:
    """Cut a text into fragments of `size` characters; the last one may be shorter."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def cut_ragged(text: str, low: int = 2, high: int = 6, seed: int = 1) -> list[str]:
    """Fragments of `low` to `high` characters, as a language model sends them."""
    rng = random.Random(seed)
    fragments, start = [], 0
    while start < len(text):
        end = start + rng.randint(low, high)
        fragments.append(text[start:end])
        start = end
    return fragments


def _fill(size: int, item: Callable[[int], str], brackets: str = "[]") -> str:
    """Items between brackets, as many as it takes to reach `size` characters."""
    items, length = [], 2
    for index in count():
        if length >= size:
            break
        items.append(item(index))
        length += len(items[-1]) + 1
    return brackets[0] + ",".join(items) + brackets[1]


def _nest(index: int) -> str:
    """A hundred levels, objects and arrays by turns; with the array around it, still within the usual limit of 128."""
    return '{"in":[' * 50 + str(index) + "]}" * 50


SHAPES: Final[Mapping[str, Callable[[int], str]]] = {
    "one long string": lambda n: '"' + ("a plain run of text without any end " * (n // 36 + 1))[: n - 2] + '"',
    "wide array": lambda n: _fill(n, lambda index: f'"{index % 997}"'),
    "wide object": lambda n: _fill(n, lambda index: f'"k{index}":"v"', "{}"),
    "deep": lambda n: _fill(n, _nest),
    "escapes": lambda n: _fill(n, lambda index: r'"\"\\\n\t\u00e9\ud83d\ude00\/\b"'),
    "numbers": lambda n: _fill(n, lambda index: f"{index * 7919},-0.{index}e-3"),
    "literals": lambda n: _fill(n, lambda index: "true,false,null"),
    "long keys": lambda n: _fill(n, lambda index: f'"{"a key of some length " * 40}{index}":1', "{}"),
    "whitespace": lambda n: _fill(n, lambda index: f" \n\t\r {' ' * 60}{index % 10}{' ' * 20}\n"),
    "unicode": lambda n: _fill(n, lambda index: '"駅から港まで歩く、🌊 e a luz é boa"'),
}


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
