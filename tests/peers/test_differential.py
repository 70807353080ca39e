"""50,000 random and mutated documents a run against json, orjson and jiter: the same verdict, or a known difference.

UNSPOOL_SEED chooses other documents. What may differ is listed in DIFFERENCES, and told apart from what may not by
reading again as the peer says that it reads: there it must agree.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from math import isinf
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import jiter
import orjson
import pytest

from tests.support import strategies
from tests.support.oracle import same
from unspool import Code, JSONSyntaxError, Options, ValueParser, create_state, finalize, iter_values, parse_chunk

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = os.environ.get("UNSPOOL_SEED", "1")
SHARDS = 10
DOCUMENTS = 5000  # in each

PEERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "orjson": orjson.loads,
    "jiter": lambda text: jiter.from_json(text.encode("utf-8", "surrogatepass")),
}


class Outcome(NamedTuple):
    """What became of a text: a value, or the reason why there is none."""

    value: Any
    error: Exception | None = None

    def agrees(self, other: Outcome) -> bool:
        if self.error is None and other.error is None:
            return same(self.value, other.value)
        return self.error is not None and other.error is not None


def read(text: str, options: Options | None = None) -> Outcome:
    """What we make of a text in one fragment."""
    parser = ValueParser(options)
    try:
        parser.feed(text)
        return Outcome(parser.close())
    except JSONSyntaxError as error:
        return Outcome(None, error)


def ask(peer: str, text: str) -> Outcome:
    """What a peer makes of it."""
    try:
        return Outcome(PEERS[peer](text))
    except (ValueError, RecursionError) as error:
        return Outcome(None, error)


# The known differences.

UNLIMITED = {"max_depth": None, "max_number": None, "max_path": None}
CLOSEST = {
    "json": Options(surrogates="keep", floats="decimal", **UNLIMITED),  # type: ignore[arg-type]
    "orjson": Options(surrogates="error", **UNLIMITED),  # type: ignore[arg-type]
    "jiter": Options(surrogates="error", floats="decimal", **UNLIMITED),  # type: ignore[arg-type]
}
WORD = re.compile("NaN|Infinity")
HALF = re.compile("[\ud800-\udfff]")


@dataclass
class Case:
    """A text of which we and a peer do not make the same."""

    peer: str
    text: str
    ours: Outcome
    theirs: Outcome

    @property
    def code(self) -> Code | None:
        return self.ours.error.code if isinstance(self.ours.error, JSONSyntaxError) else None

    def agrees_elsewhere(self) -> bool:
        """With the options that come closest to what the peer does, and numbers as it makes them, we agree."""
        ours = read(self.text, CLOSEST[self.peer])
        value = converted(ours.value, self.peer)
        if self.peer == "orjson" and REFUSED in flat(value):
            ours = Outcome(None, ValueError("an integer beyond all floats"))
        return Outcome(value, ours.error).agrees(self.theirs)


REFUSED = object()


def converted(value: Any, peer: str) -> Any:
    """Our value with the numbers that the peer would make: one level of lists and dicts at a time."""
    if isinstance(value, dict):
        return {key: converted(item, peer) for key, item in value.items()}
    if isinstance(value, list):
        return [converted(item, peer) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    if peer == "orjson" and type(value) is int and not -(2**63) <= value < 2**64:
        as_float = float(Decimal(value))
        return REFUSED if isinf(as_float) else as_float
    return value


def flat(value: Any) -> list[Any]:
    found, todo = [], [value]
    while todo:
        one = todo.pop()
        todo.extend(one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        found.append(one)
    return found


def reads_a_word(case: Case) -> bool:
    """json and jiter know NaN and Infinity, which are no JSON."""
    error = case.ours.error
    return isinstance(error, JSONSyntaxError) and WORD.match(case.text, error.offset) is not None


def is_over_a_limit(case: Case) -> bool:
    """We have limits: the depth, the length of a number, and the length of the keys of a path."""
    return case.code in (Code.MAX_DEPTH, Code.MAX_NUMBER, Code.MAX_PATH) and case.agrees_elsewhere()


def is_infinite(case: Case) -> bool:
    """A number too large for a float is infinity for json and jiter, and an error for us."""
    if case.code is not Code.NUMBER_OVERFLOW:
        return False
    error = read(case.text, CLOSEST[case.peer]).error
    is_beyond_decimals = isinstance(error, JSONSyntaxError) and error.code is Code.NUMBER_OVERFLOW
    return is_beyond_decimals or case.agrees_elsewhere()


def has_half_a_pair(case: Case) -> bool:
    """Half a surrogate pair, as it is or as an escape: json keeps it, orjson and jiter refuse it, we write U+FFFD."""
    strict = read(case.text, Options(surrogates="error", max_depth=None, max_number=None, max_path=None)).error
    return isinstance(strict, JSONSyntaxError) and strict.code is Code.LONE_SURROGATE and case.agrees_elsewhere()


def has_a_big_integer(case: Case) -> bool:
    """An integer beyond 64 bits is a float for orjson, or an error where that is infinite; for us it is exact."""
    return case.ours.error is None and re.search(r"\d{19}", case.text) is not None and case.agrees_elsewhere()


class Difference(NamedTuple):
    explains: Callable[[Case], bool]
    peers: tuple[str, ...]
    example: str


DIFFERENCES = [
    Difference(reads_a_word, ("json", "jiter"), "[1, NaN]"),
    Difference(reads_a_word, ("json", "jiter"), "[-Infinity]"),
    Difference(has_half_a_pair, ("json", "orjson", "jiter"), '["\ud83d"]'),
    Difference(is_over_a_limit, ("json", "orjson", "jiter"), "[" * 150 + "]" * 150),
    Difference(is_over_a_limit, ("json", "orjson", "jiter"), "0." + "1" * 1000),
    Difference(is_infinite, ("json", "jiter"), "[1e400]"),
    Difference(is_infinite, ("json", "jiter"), "-1e400"),
    Difference(has_half_a_pair, ("json", "orjson", "jiter"), r'{"\ud83d": 1}'),
    Difference(has_half_a_pair, ("json", "orjson", "jiter"), r'"\ude00\ud83d"'),
    Difference(has_a_big_integer, ("orjson",), "[18446744073709551616, -9223372036854775809]"),
    Difference(has_a_big_integer, ("orjson",), "[1" + "0" * 400 + "]"),
]


def explanation(case: Case) -> str | None:
    """The first known difference that explains why we do not agree."""
    for difference in DIFFERENCES:
        if case.peer in difference.peers and difference.explains(case):
            return difference.explains.__name__
    return None


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: ascii(difference.example)[:40])
def test_each_difference_is_one(difference: Difference) -> None:
    """Every difference in the list is there, for the peers that it names and for no other."""
    for peer in PEERS:
        case = Case(peer, difference.example, read(difference.example), ask(peer, difference.example))
        differs = peer in difference.peers
        assert case.ours.agrees(case.theirs) is not differs
        assert (explanation(case) == difference.explains.__name__) is differs


@pytest.mark.parametrize(
    ("text", "value"),
    [("[1]", [2]), ("[1]", [1.0]), ("[1]", [True]), ('{"a":1,"b":2}', {"b": 2, "a": 1}), ("[0]", [-0.0])],
)
def test_a_wrong_value_is_not_explained(text: str, value: object) -> None:
    """A peer that said something else about a plain text would be found out."""
    for peer in PEERS:
        assert explanation(Case(peer, text, read(text), Outcome(value))) is None
        assert explanation(Case(peer, text, read(text), Outcome(None, ValueError()))) is None
        assert explanation(Case(peer, "[x]", read("[x]"), Outcome(value))) is None


# The documents.

SPECIAL = [
    *("NaN", "-Infinity", "Infinity", "1" * 1001, "7" * 5000, "[" * 150 + "]" * 150, "[" * 300 + "]" * 300),
    *('"\ud800"', r'"\ud800"', r'"\udc00\u0041"', '"\u2028"', '"\x7f"', '"\x00"', '"\\u0000"'),
    *("1e400", "-1e400", "1e-400", "0.5e-0", "1E5", "-0", "-0.0", "01", "1.", ".5", "+1"),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809"),
    *("0." + "1" * 400, "1" + "0" * 400, '{"a":1,"a":2}', "\ufeff", "[,]", "{,}", "'a'", "tru", "\x0b"),
]


def document(random: Random) -> str:
    """A JSON text in some spelling, often with something special in it, or with something broken."""
    tape = strategies.Tape(random.randbytes(random.randint(30, 120)))
    spelling = strategies.Tape(random.randbytes(random.randint(1, 24)), loop=True)
    value = strategies._root(tape, small=random.random() < 0.97)
    text = strategies.spell(value, spelling, strategies.HALVES if random.random() < 0.2 else ())
    if random.random() < 0.05:
        places = [match.start() for match in strategies.STRUCTURE.finditer(text)] or [0]
        place = random.choice(places)
        special = random.choice(SPECIAL)
        text = f"[{special}]" if random.random() < 0.5 else text[:place] + special + text[place:]
    if random.random() < 0.5:
        mishap = (random.randrange(10), random.randrange(5000), random.choice(strategies.INSERTIONS))
        text = strategies._spoil(text, [mishap] * random.choice((1, 1, 2)))
    return text


def read_in_pieces(text: str, random: Random) -> Outcome:
    """What we make of a text, or of its bytes, cut at random, through one door or another."""
    data: Any = text if HALF.search(text) or random.random() < 0.5 else text.encode()
    places = [random.randint(0, len(data)) for _ in range(random.randint(0, 6))]
    fragments = strategies.cut_at(data, places) if random.random() < 0.8 else strategies.one_by_one(data)
    door = random.randrange(4)
    if door == 0:
        state = create_state()
        for fragment in fragments:
            state = parse_chunk(state, fragment)
        state = finalize(state)
        return Outcome(state.value, state.error)
    try:
        if door == 1:
            return Outcome(list(iter_values(fragments))[-1])
        parser = ValueParser(live=door == 2)
        for fragment in fragments:
            parser.feed(fragment)
        return Outcome(parser.close())
    except JSONSyntaxError as error:
        return Outcome(None, error)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_same_verdict(shard: int) -> None:
    """Each document means to us what it means to each peer, or a known difference explains why not; cut or not."""
    random, counts = Random(f"{SEED}/{shard}"), Counter[str]()
    for number in range(DOCUMENTS):
        text = document(random)
        ours = read(text)
        counts["valid" if ours.error is None else "broken"] += 1
        for peer in PEERS:
            theirs = ask(peer, text)
            if not ours.agrees(theirs):
                reason = explanation(Case(peer, text, ours, theirs))
                assert reason, f"{peer}: {theirs}; we: {ours}; seed {SEED}, shard {shard}, {number}: {text!r}"
                counts[f"{peer} {reason}"] += 1
        if number % 5 == 0:
            pieces = read_in_pieces(text, random)
            assert pieces.error == ours.error, f"seed {SEED}, shard {shard}, {number}: {text!r}"
            assert ours.error or same(pieces.value, ours.value), f"seed {SEED}, shard {shard}, {number}: {text!r}"
    print(", ".join(f"{name}: {count}" for name, count in counts.most_common()))
    assert min(counts["valid"], counts["broken"]) > DOCUMENTS // 4
