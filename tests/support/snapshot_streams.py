"""Streams of snapshots that the project made itself, of the kind that on-device models and frameworks send.

Each document was written for this file. A stream shows it again and again while it grows, a few words at a time, each
snapshot with its keys in another order and some of them twice. `written` is the stream of a source that writes a text:
keys appear with their values. `filled` is that of a model whose fields are all there from the start, empty.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any, Final

from tests.support import chains

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS: Final[dict[str, Any]] = {
    "garden": {
        "title": "A kitchen garden for a north-facing yard",
        "summary": "Four beds, one path, and a cold frame by the wall. Nothing here needs more than half a day of sun.",
        "beds": [
            {
                "name": "Salads",
                "area": 2.5,
                "shaded": True,
                "plants": ["lamb's lettuce", "rocket", "sorrel"],
                "notes": "Sow every two weeks; cover with fleece when nights are below 4 °C.",
            },
            {
                "name": "Roots",
                "area": 3,
                "shaded": False,
                "plants": ["beetroot", "radish"],
                "notes": "",
            },
            {
                "name": "Herbs 🌿",
                "area": 0.75,
                "shaded": True,
                "plants": [],
                "notes": 'Mint stays in its pot, "or it will be\neverywhere".',
            },
        ],
        "budget": {"currency": "EUR", "soil": 120, "seeds": 34.9, "tools": None},
        "ready": False,
    },
    "report": {
        "device": {"kind": "heat pump", "serial": "HP-0042/7", "year": 2019},
        "symptoms": ["loud start", "icing on the outdoor unit", "error 12"],
        "steps": [
            {"done": True, "text": "Checked the filter: clean.", "minutes": 5},
            {"done": True, "text": "Measured the pressure on both sides of the valve.", "minutes": 25},
            {"done": False, "text": "Replace the expansion valve. The part is on order.", "minutes": 0},
        ],
        "parts": [{"number": "EV-311", "count": 1, "price": 86.4}, {"number": "O-12", "count": 4, "price": 0.6}],
        "coordinates": [48.137, 11.575, 0],
        "cause": "The expansion valve sticks, so too little refrigerant reaches the evaporator and it ices up.",
        "next": None,
    },
    "lessons": {
        "course": "Reading music in six evenings",
        "level": 1,
        "evenings": [
            {
                "topic": topic,
                "exercises": [{"kind": kind, "bars": bars, "text": text} for kind, bars, text in exercises],
            }
            for topic, exercises in [
                ("Lines and spaces", [("clap", 8, "Clap the first line."), ("name", 16, "Say each note aloud.")]),
                ("Rests", [("count", 12, "Count the rests; do not hurry.")]),
                ("Sharps and flats ♯♭", [("find", 4, "Find all black keys."), ("play", 20, "Play it slowly, twice.")]),
            ]
        ],
        "materials": {"book": "", "instrument": "any keyboard", "links": []},
    },
}

TEXTS: Final[dict[str, list[str]]] = {
    "prose": [
        "The ",
        "ferry",
        "",
        " leaves",
        " at",
        " seven",
        ",",
        "\n\n",
        "and the ",
        "last",
        " one",
        " comes back 🛥️",
        ".",
    ],
    "list": ["1", ".", " flour", "\n", "2", ". ", "salt", "\n", "3", ".", ' "strong" coffee', " \\ tea"],
    "number": ["4", "2", " ", "is", " the", " answer"],
}


def written(name: str) -> list[str]:
    """The snapshots of a document that is written from left to right."""
    document = chains.model_of(DOCUMENTS[name])
    return _stream(document, lambda moment: chains.at_moment(document, moment), chains.moments(document), name)


def filled(name: str) -> list[str]:
    """The snapshots of a model with the same fields, filled from left to right."""
    document = chains.model_of(DOCUMENTS[name])
    defaults = chains.Defaults(chains.RandomDice(Random(name)))
    count = chains.fill_moments(document)
    return _stream(document, lambda moment: chains.filled_at(document, moment, defaults, False), count, name)


def _stream(document: Any, show: Callable[[int], Any], count: int, name: str) -> list[str]:
    source = Random(name)
    dice = chains.RandomDice(source)
    snapshots: list[str] = []
    moment = 1
    while moment < count:
        snapshots += [_text(chains.shuffled(show(moment), dice)) for _ in range(source.choice((1, 1, 1, 2)))]
        moment += source.randrange(1, 12)
    return [*snapshots, _text(chains.shuffled(document, dice))]


def _text(model: Any) -> str:
    """A model as text, its numbers as they are spelled."""
    if isinstance(model, dict):
        return "{" + ", ".join([f"{json.dumps(key)}: {_text(item)}" for key, item in model.items()]) + "}"
    if isinstance(model, list):
        return "[" + ", ".join(map(_text, model)) + "]"
    return model.spelling if isinstance(model, chains.Number) else json.dumps(model, ensure_ascii=False)
