"""Random JSON data for a type: small generators that can be put together, and ways of spoiling what they make.

A generator is a function of a `random.Random` and nothing else, so that a seed gives the same instance for
ever. A case is a type with a generator of what it accepts and several ways, each with its reason, of making
what it refuses. Who judges is not said here: each kind of type has its own judge.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

Json: TypeAlias = Any
Gen: TypeAlias = "Callable[[Random], Json]"

# What streams badly: needs an escape, takes several bytes or two code units, looks like structure, or is empty.
HARD_WORDS = [
    *(
        "",
        " ",
        "a",
        "0",
        "true",
        "null",
        "[]",
        '{"a":1}',
        'say "so"',
        "back\\slash",
        "two\nlines",
        "\t",
        "\x00",
        "\x7f",
    ),
    *("é", "e\u0301", "ß", "日本語", "😀", "👩\u200d🚀", "\u2028", "\ufeff", "\U0010ffff", "مرحبا", "a/b~c", "$.x[0]"),
]
EASY_WORDS = ["Lisbon", "market", "Night train", "harbour", "noon", "a walk uphill", "x" * 40]
ABSENT = object()
ANY_INDEX = -1  # a step of a path: some element of the array, whichever


@dataclasses.dataclass(frozen=True)
class Case:
    """A type, what it accepts, and what it refuses: reason -> generator."""

    name: str
    type: Any
    valid: Gen
    faults: Mapping[str, Gen]
    counted: bool = False  # validators of this type count their calls, and no two inputs of one document are equal

    def invalid(self, random: Random) -> Json:
        """An instance with one of the faults, whichever."""
        return self.faults[random.choice(list(self.faults))](random)

    def __str__(self) -> str:
        return self.name


# Leaves


def text(random: Random) -> str:
    """Any text: none, a word or several, half of them hard."""
    words = [random.choice(random.choice([HARD_WORDS, EASY_WORDS])) for _ in range(random.randrange(4))]
    return random.choice(["", " "]).join(words)


def word(random: Random) -> str:
    """A short plain name, for keys and for what must not be empty."""
    return "".join(random.choices("abcdefghij", k=random.randint(1, 6)))


def label(random: Random) -> str:
    """Text that comes only once: by this a call of a validator is known."""
    return f"{random.choice(['n', 'é', '😀', 'a long name, '])}{random.getrandbits(60):x}"


def integer(low: int = -1000, high: int = 1000) -> Gen:
    return lambda random: random.randint(low, high)


def number(random: Random) -> int | float:
    return random.choice([0, -1, 7, 2**53 + 1, 0.5, -2.25, 1e21, 1e-7, 3.0, random.randint(-99, 99) / 4])


def boolean(random: Random) -> bool:
    return random.random() < 0.5


def anything(random: Random, depth: int = 0) -> Json:
    """Any JSON value, of a modest size."""
    kind = random.randrange(7 if depth < 2 else 5)
    if kind == 5:
        return [anything(random, depth + 1) for _ in range(random.randrange(4))]
    if kind == 6:
        return {text(random): anything(random, depth + 1) for _ in range(random.randrange(4))}
    return [None, boolean(random), random.randint(-9, 9), number(random), text(random)][kind]


# What is made of other generators


def one_of(*options: Json) -> Gen:
    """One of these values."""
    return lambda random: copy.deepcopy(random.choice(options))


def either(*options: Gen) -> Gen:
    """What one of these generators gives."""
    return lambda random: random.choice(options)(random)


def nullable(of: Gen) -> Gen:
    return lambda random: None if random.random() < 0.3 else of(random)


def listed(of: Gen, least: int = 0, most: int = 4) -> Gen:
    """An array of equal kinds."""
    return lambda random: [of(random) for _ in range(random.randint(least, most))]


def row(*of: Gen) -> Gen:
    """An array in which each place has its own kind."""
    return lambda random: [item(random) for item in of]


def keyed(key: Gen, of: Gen, least: int = 0, most: int = 4) -> Gen:
    """An object of equal kinds, with so many members, or fewer where there are not enough different keys."""

    def make(random: Random) -> Json:
        made: dict[str, Json] = {}
        wanted = random.randint(least, most)
        for _ in range(20 * wanted):
            if len(made) < wanted:
                made[key(random)] = of(random)
        return made

    return make


def fields(required: Mapping[str, Gen], optional: Mapping[str, Gen] | None = None, extra: Gen | None = None) -> Gen:
    """An object with its keys in any order, some or none of the optional ones and, with `extra`, some more."""

    def make(random: Random) -> Json:
        chosen = dict(required)
        share = random.choice([0.0, 0.5, 1.0])
        chosen.update((name, of) for name, of in (optional or {}).items() if random.random() < share)
        made = [(name, of(random)) for name, of in chosen.items()]
        if extra is not None and random.random() < 0.5:
            taken = {*required, *(optional or {})}
            made += [(name, extra(random)) for name in [f"more {word(random)}", "", "é"] if name not in taken]
        random.shuffle(made)
        return dict(made)

    return make


# Ways of spoiling


def put(of: Gen, *path: str | int, bad: Gen) -> Gen:
    """A valid instance with something else at this place. A key that is not there is added, anywhere in its object."""

    def spoil(root: Json, random: Random) -> bool:
        place, step = _at(root, path[:-1], random), path[-1]
        if isinstance(place, dict) and isinstance(step, str):
            members = list(place.items())
            names = list(place)
            new = (step, bad(random))
            if step in place:
                members[names.index(step)] = new
            else:
                members.insert(random.randint(0, len(members)), new)
            place.clear()
            place.update(members)
            return True
        if isinstance(place, list) and isinstance(step, int) and _at(place, (step,), random) is not ABSENT:
            place[random.randrange(len(place)) if step == ANY_INDEX else step] = bad(random)
            return True
        return False

    return _spoiled(of, spoil)


def lose(of: Gen, *path: str | int) -> Gen:
    """A valid instance without what is at this place."""

    def spoil(root: Json, random: Random) -> bool:
        place, step = _at(root, path[:-1], random), path[-1]
        if _at(place, (step,), random) is ABSENT:
            return False
        del place[step]
        return True

    return _spoiled(of, spoil)


def append(of: Gen, *path: str | int, bad: Gen) -> Gen:
    """A valid instance in which the array at this place has one more element, the last."""

    def spoil(root: Json, random: Random) -> bool:
        place = _at(root, path, random)
        if isinstance(place, list):
            place.append(bad(random))
        return isinstance(place, list)

    return _spoiled(of, spoil)


def change(of: Gen, by: Callable[[Json], object]) -> Gen:
    """A valid instance that `by` changed in place; where `by` says False the instance does not suit it."""
    return _spoiled(of, lambda root, random: by(root) is not False)


def _spoiled(of: Gen, spoil: Callable[[Json, Random], bool]) -> Gen:
    def make(random: Random) -> Json:
        for _ in range(1000):
            root = copy.deepcopy(of(random))
            if spoil(root, random):
                return root
        raise LookupError("no instance could be spoiled so")

    return make


def _at(root: Json, path: tuple[str | int, ...], random: Random) -> Json:
    """What is at this place, or ABSENT."""
    place = root
    for step in path:
        if isinstance(place, list) and isinstance(step, int) and -1 <= step < len(place) and place:
            place = place[random.randrange(len(place)) if step == ANY_INDEX else step]
        elif isinstance(place, dict) and step in place:
            place = place[step]
        else:
            return ABSENT
    return place
