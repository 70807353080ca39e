"""Generators: values, texts in every spelling, broken texts, dialects, and ways of cutting a text.

Values and spellings are driven by tapes of drawn bytes on which 0 always means the plainest choice. A few
draws for a whole document keep generating fast, and a failing example shrinks towards plain text.
"""

from __future__ import annotations

import math
import re
import struct
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, AnyStr

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

HARD_KEYS = ["a", "b", "", ".", "a.b", "[0]", "0", " ", '"', "\\", "$", "~/", "é", "😀", "\x00", "a" * 20]
HARD_CHARACTERS = 'ab0 u"\\/\b\f\n\r\t\x00\x1f\x7f\x80é€\u2028\ufeff\ufffd\uffff😀\U0010ffff{}[],:'
HARD_LIST = [*HARD_CHARACTERS, *"😀😀🚀😀/"]
HARD_INTEGERS = [0, -1, 10, 2**31, -(2**53) - 1, 2**63, 2**64, -(10**30), 10**200]
HARD_FLOATS = [0.0, -0.0, 0.5, -1.5, 1e5, 1e22, 1.7976931348623157e308, 5e-324, 0.1 + 0.2, 123456.789e-12]
HALVES = [r"\ud83d", r"\uDE00", r"\ud83d\ud83d", r"\uDbFf\n", r"\udc00\ud800", r"\ud83dx", r"\ud83d\u0041"]
UNITS = [
    "\ud83d",
    "\ude00",
    "\ud83d\ude00",
    "\ud83d\\ude00",
    "\\ud83d\ude00",
    "\udbffx",
    "\ud83d\ud83d\\n",
    "\ud83d\\udE",
]
SPACES = ["", "", "", "", " ", "\n", "\r\n", "\t", "  ", " \r\n\t"]
EXTRA_VALUES = ["0", '"x"', "[]", '{"a":1}', "null", '["y",2]']
INSERTIONS = [
    *'{}[],:"\\-.eE0x/ ',
    *("\n", "\x00", "\t", "é", "😀", "\ufeff", "'", "\\u", "\\ud83d", "\\udE00", "\\q", "\\u00g", '"a"', '"a":', '\\"'),
    *(
        "e5",
        "e999",
        "E+400",
        "1e999",
        "01",
        "-x",
        "1.",
        "9" * 320 + ".",
        "tru",
        "truE",
        "nul",
        "NaN",
        "//",
        "[[",
        "]}",
        ",,",
        "\r\n",
    ),
]
BAD_BYTES = [b"\x80", b"\xbf", b"\xc0", b"\xc3", b"\xe0", b"\xe2\x82", b"\xed\xa0", b"\xf0\x9f", b"\xf4\x90", b"\xff"]


class Tape:
    """Choices from bytes. Past the end they are all 0, or, on a loop, the same again a step further on."""

    def __init__(self, data: bytes, *, loop: bool = False) -> None:
        self.data = data
        self.loop = loop
        self.at = 0

    def pick(self, count: int) -> int:
        if self.at >= len(self.data) and not (self.data and self.loop):
            return 0
        rounds, place = divmod(self.at, len(self.data))
        self.at += 1
        return (self.data[place] + rounds) % count

    def choose(self, options: list[Any]) -> Any:
        return options[self.pick(len(options))]


def values(*, small: bool = False) -> SearchStrategy[Any]:
    """JSON values. `small` leaves out the deep and the wide ones, for laws that look at every prefix."""
    return st.builds(lambda data: _root(Tape(data), small), st.binary(min_size=30, max_size=120))


def _root(tape: Tape, small: bool) -> Any:
    shape = tape.pick(12)
    if shape == 10 and not small:
        steps = [tape.choose([None, None, *HARD_KEYS]) for _ in range(1 + tape.pick(3))]
        return _nest(_grow(tape, 4), steps, 20 + tape.pick(80))
    if shape == 11 and not small:
        return _spread([_grow(tape, 4) for _ in range(1 + tape.pick(3))], 20 + tape.pick(40), bool(tape.pick(2)))
    return _grow(tape, 0, 10 if shape > 2 else None)


def _grow(tape: Tape, depth: int, kind: int | None = None) -> Any:
    """A value; containers hold fewer and fewer containers, and past the end of the tape only nulls."""
    kind = tape.pick(12 if depth < 4 else 8) if kind is None else kind + tape.pick(2)
    if kind < 2:
        return tape.choose([None, True, False])
    if kind < 4:
        return tape.choose([*HARD_INTEGERS, tape.pick(256) - 100, tape.pick(256) << 8 * tape.pick(16)])
    if kind < 6:
        (number,) = struct.unpack(">d", bytes(tape.pick(256) for _ in range(8))) if kind == 5 else (math.nan,)
        return number if math.isfinite(number) else tape.choose(HARD_FLOATS)
    if kind < 8:
        return _text(tape)
    count = tape.pick(5)
    if kind in {8, 10}:
        return [_grow(tape, depth + 1) for _ in range(count)]
    return {tape.choose([*HARD_KEYS, _text(tape)]): _grow(tape, depth + 1) for _ in range(count)}


def _text(tape: Tape) -> str:
    """Text without surrogates, with a liking for what has to be escaped or takes several bytes."""
    length = tape.pick(7)
    return "".join(chr(tape.pick(256) * 211) if tape.pick(4) == 3 else tape.choose(HARD_LIST) for _ in range(length))


def _nest(value: Any, steps: list[str | None], depth: int) -> Any:
    for index in range(depth):
        step = steps[index % len(steps)]
        value = [value] if step is None else {step: value}
    return value


def _spread(items: list[Any], count: int, keyed: bool) -> Any:
    spread = [items[index % len(items)] for index in range(count)]
    return {str(index): item for index, item in enumerate(spread)} if keyed else spread


def documents(*, small: bool = False, halves: bool = False, units: bool = False) -> SearchStrategy[str]:
    """JSON texts in every spelling, with duplicate keys.

    `halves` adds escapes that are half of a pair, and `units` halves without an escape.
    """
    tapes = st.binary(max_size=24)
    added = (*(HALVES if halves else ()), *(UNITS if units else ()))
    return st.builds(lambda value, data: spell(value, Tape(data, loop=True), added), values(small=small), tapes)


def spell(value: Any, tape: Tape, halves: Sequence[str] = ()) -> str:
    """`value` as JSON text, spelled as the tape says. With a duplicate key its value differs from `value`."""
    return _space(tape) + _spell(value, tape, halves) + _space(tape)


def _spell(value: Any, tape: Tape, halves: Sequence[str]) -> str:
    if isinstance(value, dict):
        members = [(key, _spell(item, tape, halves)) for key, item in value.items()]
        if members and tape.pick(4) == 3:
            duplicate = (tape.choose(members)[0], tape.choose(EXTRA_VALUES))
            members.insert(tape.pick(len(members) + 1), duplicate)
        texts = [f"{_spell_string(key, tape, halves)}{_space(tape)}:{_space(tape)}{text}" for key, text in members]
        return "{" + _joined(texts, tape) + "}"
    if isinstance(value, list):
        return "[" + _joined([_spell(item, tape, halves) for item in value], tape) + "]"
    if isinstance(value, str):
        return _spell_string(value, tape, halves)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _spell_number(value, tape)


def _space(tape: Tape) -> str:
    return str(tape.choose(SPACES))


def _joined(texts: list[str], tape: Tape) -> str:
    return _space(tape) + ",".join([text + _space(tape) for text in texts])


def _spell_string(text: str, tape: Tape, halves: Sequence[str]) -> str:
    spelled = [_spell_character(char, tape) for char in text]
    if halves and tape.pick(4) == 3:
        spelled.insert(tape.pick(len(spelled) + 1), tape.choose(list(halves)))
    return '"' + "".join(spelled) + '"'


SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _spell_character(char: str, tape: Tape) -> str:
    choice = tape.pick(8)
    must = char in '"\\' or char < " "
    if choice < 5 and not (must or (char == "/" and choice > 2)):
        return char
    if choice < 6 and char in SHORT:
        return SHORT[char]
    units = char.encode("utf-16-be").hex()
    if choice == 7:
        units = units.upper()
    return "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))


def _spell_number(number: float, tape: Tape) -> str:
    plain = repr(number)
    choice = tape.pick(8)
    if isinstance(number, int):
        if choice < 4 or abs(number) > 10**300:
            return "-0" if number == 0 and choice == 3 else plain
        return plain + ["", "", "", "", ".0", "e0", "E+0", ".50e-00"][choice]
    if "e" in plain:
        mantissa, exponent = plain.split("e")
        sign, digits = ("-", exponent[1:]) if exponent[0] == "-" else ("+", exponent.lstrip("+"))
        return mantissa + ["e", "E", "e", "E"][choice % 4] + sign + ["", "0"][choice // 4] + digits
    return plain + ["", "", "0", "00", "e0", "E0", "e+0", "E-00"][choice]


def broken_documents(*, small: bool = False, halves: bool = False, units: bool = False) -> SearchStrategy[str]:
    """Texts that were JSON before something happened to them; a few still are, others only ended too early."""
    mishaps = st.tuples(st.integers(0, 9), st.integers(0, 5000), st.sampled_from(INSERTIONS))
    return st.builds(
        _spoil, documents(small=small, halves=halves, units=units), st.lists(mishaps, min_size=1, max_size=3)
    )


STRUCTURE = re.compile(r'[{}\[\],:"\\eE.+-]|(?<=\\)u|\b[tfn]')


def _spoil(text: str, mishaps: list[tuple[int, int, str]]) -> str:
    for kind, number, insertion in mishaps:
        places = [match.start() for match in STRUCTURE.finditer(text)] if kind % 2 else []
        place = places[number % len(places)] if places else number % (len(text) + 1)
        before, char, after = text[:place], text[place : place + 1], text[place + 1 :]
        spoiled = (
            before + after,
            before + insertion + char + after,
            before + insertion + after,
            before,
            before + char * 2,
        )
        text = spoiled[kind // 2] + (after if kind // 2 == 4 else "")
    return text


def broken_bytes() -> SearchStrategy[bytes]:
    """Documents in UTF-8 with bytes put in that may not be."""
    mishaps = st.tuples(st.booleans(), st.integers(0, 5000), st.sampled_from(BAD_BYTES))
    return st.builds(_spoil_bytes, documents(small=True), mishaps)


def _spoil_bytes(text: str, mishap: tuple[bool, int, bytes]) -> bytes:
    data, (replaces, number, insertion) = text.encode(), mishap
    strings = [match.end() for match in re.finditer(rb'"[^"\\]*', data)] if number % 3 else []
    place = strings[number % len(strings)] if strings else number % (len(data) + 1)
    return data[:place] + insertion + data[place + (len(insertion) if replaces else 0) :]


OPTIONS: list[tuple[str, Any]] = [
    *(("max_depth", limit) for limit in (0, 1, 2, 3)),
    *(("max_chars", limit) for limit in (0, 1, 7, 20, 60)),
    *(("max_string", limit) for limit in (0, 1, 2, 3, 4)),
    *(("max_key", limit) for limit in (0, 1, 2, 3)),
    *(("max_path", limit) for limit in (1, 2, 3)),
    *(("max_number", limit) for limit in (0, 1, 2, 3, 5, 8)),
    *[("surrogates", "error")] * 4,
    *[("surrogates", "keep")] * 2,
    *[("duplicate_keys", "error")] * 9,
    *[("trailing_commas", True), ("multiple", True), ("multiple", True), ("trailing", "ignore")],
    ("multiple", "lines"),
]


def limits() -> SearchStrategy[dict[str, Any]]:
    """Options that set some of the limits so low that small documents go over them."""
    low = {"max_depth": 4, "max_chars": 40, "max_string": 6, "max_key": 4, "max_path": 6, "max_number": 6}
    return st.fixed_dictionaries({}, optional={name: st.integers(0, most) for name, most in low.items()})


def dialects() -> SearchStrategy[dict[str, Any]]:
    """One option or two that differ from the preset ones, with limits small enough to matter."""
    return st.lists(st.sampled_from(OPTIONS), max_size=2).map(dict)


TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*"?)|(?P<literal>true|false|null)|(?P<exponent>(?<=\d)[eE][+-]?\d+)|(?P<crlf>\r\n)',
    re.DOTALL,
)
ESCAPE = re.compile(r"(?P<pair>\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|(?P<escape>\\u\w{4}|\\.)", re.DOTALL)


def hard_places(text: str) -> dict[str, list[int]]:
    """Where a cut goes through something: the places inside of each literal, exponent, CRLF, escape and pair."""
    places: dict[str, list[int]] = {"literal": [], "exponent": [], "crlf": [], "escape": [], "pair": []}
    for token in TOKEN.finditer(text):
        kind = str(token.lastgroup)
        if kind != "string":
            places[kind] += range(token.start() + 1, token.end())
            continue
        for escape in ESCAPE.finditer(text, token.start(), token.end()):
            places[str(escape.lastgroup)] += range(escape.start() + 1, escape.end())
    return places


def cut_at(text: AnyStr, places: list[int]) -> list[AnyStr]:
    """The fragments between these places; a place named twice, or an end, makes an empty fragment."""
    edges = [0, *sorted(places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def one_by_one(text: AnyStr) -> list[AnyStr]:
    """One character, or byte, at a time."""
    return [text[at : at + 1] for at in range(len(text))]


def every_single_cut(text: AnyStr) -> Iterator[list[AnyStr]]:
    """Two fragments, in every way, an empty one on either side included."""
    return (cut_at(text, [place]) for place in range(len(text) + 1))


def every_cutting(text: AnyStr) -> Iterator[list[AnyStr]]:
    """All ways to cut a text into fragments that are not empty: 2 ** (n - 1) of them."""
    inside = range(1, len(text))
    return (cut_at(text, list(places)) for count in range(len(text) or 1) for places in combinations(inside, count))


def cuttings(text: str) -> SearchStrategy[list[str]]:
    """Ways to cut `text`, with a liking for the places where it hurts."""
    return _cuttings(text, [place for places in hard_places(text).values() for place in places])


def byte_cuttings(data: bytes) -> SearchStrategy[list[bytes]]:
    """Ways to cut `data`, with a liking for the insides of characters."""
    return _cuttings(data, [place for place, byte in enumerate(data) if 0x80 <= byte < 0xC0])


@st.composite
def _cuttings(draw: DrawFn, text: AnyStr, hard: list[int]) -> list[AnyStr]:
    way = draw(st.integers(0, 4))
    if way == 0:
        return cut_at(text, draw(st.lists(st.integers(0, len(text)), max_size=6)))
    if way == 1:
        return one_by_one(text)
    if way == 2:
        return cut_at(text, list(range(draw(st.integers(2, 7)), len(text), draw(st.integers(2, 7)))))
    if hard and way == 3:
        return cut_at(text, draw(st.lists(st.sampled_from(hard), min_size=1, max_size=4)))
    return cut_at(text, [*hard, 0, *hard[::2], len(text)])


@st.composite
def cut(draw: DrawFn, texts: SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text and a way to cut it."""
    text = draw(texts)
    return text, draw(cuttings(text))
