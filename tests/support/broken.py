"""Text as models write it: documents with mishaps, and pieces of broken JSON in any order.

The functions take a source of random numbers: one of hypothesis, which shrinks, or a seeded one for long campaigns.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from unspool import Event, FragmentParser, JSONSyntaxError, Kind, Options, Repair

from .observe import Told, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from hypothesis.strategies import SearchStrategy

PIECES = [
    *("\"\"''`,:{}[] \n\t;()=+#/\\.?_-01aé"),
    *("key", "true", "null", "True", "None", "NaN", "0x1F", ".5", "1_0", "hello world", "ru", "nul"),
    *(
        '"a":',
        '"b": ',
        ', "',
        '": "',
        '"}',
        ' "x" ',
        '"""',
        "'''",
        '\\"',
        "\\n",
        "\\u00e9",
        "\\u12",
        "\\x41",
        "\\ud83d",
    ),
    *("//", "/*", "*/", " # ", "...", "\u2026", "\u201c", "\u201d", "\u2018", "\u00a0", "\ufeff", "\uff1a", "\uff0c"),
]
"""What goes wrong, and what goes right, in small pieces."""
RUNS = [" ", "a", '"', ",", "1", "[", "{", "}", "\\", "a ", '", "', "'", "\n", "#", '"a":', "/", "-", "\\u", "x, "]
SPACES = ["", "", " ", "\n  ", "\t"]
RESPELLED = [("\\n", "\n"), (",", "\uff0c"), (",", "\uff1b"), (":", "\uff1a"), ('"', "'"), (" ", "\u00a0")]
"""What is spelled otherwise in all of a text."""


def document(random: Random, depth: int = 0) -> str:
    """JSON whose strings are full of what looks broken."""
    kind = random.randrange(10)
    if depth > 3 or kind < 5:
        if kind < 2:
            return random.choice(["0", "-1", "12", "3.5", "1e5", "true", "false", "null"])
        return quoted(random, 6)
    count = random.randrange(4)
    comma = random.choice(SPACES) + "," + random.choice(SPACES)
    if kind < 7:
        inside = comma.join(document(random, depth + 1) for _ in range(count))
        return "[" + random.choice(SPACES) + inside + random.choice(SPACES) + "]"
    members = [quoted(random, 3) + random.choice(SPACES) + ":" + document(random, depth + 1) for _ in range(count)]
    return "{" + random.choice(SPACES) + comma.join(members) + random.choice(SPACES) + "}"


def quoted(random: Random, longest: int) -> str:
    text = "".join(random.choice(PIECES) for _ in range(random.randrange(longest)))
    return json.dumps(text, ensure_ascii=random.randrange(3) == 0)


def broken(random: Random) -> str:
    """A document with one to three mishaps, or pieces in any order."""
    if random.randrange(3) == 0:
        return "".join(random.choice(PIECES) for _ in range(random.randrange(1, 25)))
    text = document(random)
    if random.randrange(4) == 0:
        text = text.replace(*random.choice(RESPELLED))
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text) + 1)
        mishap = random.randrange(3)
        gone = random.randrange(1, 3) if mishap else 0
        text = text[:at] + (random.choice(PIECES) if mishap < 2 else "") + text[at + gone :]
    return text


def long_broken(random: Random) -> str:
    """Broken text with long runs in it."""
    text = broken(random)
    for _ in range(random.randrange(1, 3)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(RUNS) * random.choice([60, 70, 250, 260, 900]) + text[at:]
    return text


def cut(text: str, random: Random) -> list[str]:
    """The text in fragments: single characters, or a few cuts anywhere."""
    if random.randrange(2) == 0:
        return list(text)
    places = sorted(random.randrange(len(text) + 1) for _ in range(random.randrange(1, 5)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


randoms: SearchStrategy[Random] = st.randoms(use_true_random=False)


class Reading(NamedTuple):
    """All that a repairing parser shows of a text. `dump` is the stage before the end of the text."""

    events: list[Told]
    is_complete: bool
    repairs: tuple[Repair, ...]
    dump: dict[str, object] | None
    error: JSONSyntaxError | None
    source: str
    target: str
    pieces: list[tuple[str, str]]
    longest_held: int

    @property
    def seen(self) -> tuple[object, ...]:
        """What must not depend on the cutting. Behind an error the reader reads nothing, so pieces do not count."""
        texts = ("", "") if self.error is not None else (self.source, self.target)
        return (self.events, self.is_complete, self.repairs, self.dump, self.error, *texts)


def reading(fragments: Iterable[str], **options: Any) -> Reading:
    """Read the fragments, and watch the stage."""
    parser = FragmentParser(Options(**options))
    repairer = parser._intake.repairer
    if repairer is not None:
        repairer.pieces = []
    events: list[Event] = []
    longest = 0
    for fragment in fragments:
        events += parser.feed(fragment)
        if repairer is not None:
            longest = max(longest, len(repairer._held))
    dump = None if repairer is None else repairer.dump()
    events += parser.close()
    assert [event for event in events if event.kind is Kind.ERROR] == [] or parser.error is not None
    pieces = [] if repairer is None or repairer.pieces is None else repairer.pieces
    source = "".join(piece for piece, _ in pieces)
    target = "".join(piece for _, piece in pieces)
    told = merge(events)
    return Reading(told, parser.is_complete, parser.repairs, dump, parser.error, source, target, pieces, longest)


def placed(pieces: list[tuple[str, str]]) -> Iterator[tuple[int, str, str]]:
    """The pieces with the offset of each source."""
    offset = 0
    for source, target in pieces:
        yield offset, source, target
        offset += len(source)
