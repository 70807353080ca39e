"""Chains of snapshots of one document that is written from left to right, and a judge of the text made of them.

The model is its own: a document is a value whose growth is counted in moments (a container or a string opens, a string
gets one more UTF-16 unit, an atom is there), and a snapshot is what stands at one moment. The judge reads what was
written with a reader of its own, which knows for each value whether it is closed, and so whether the text can still
become a given value. Only the viability of each character is asked of the library's reader.

Numbers are kept as they are spelled, so equal values are equal in their types too: 1, 1.0 and true are three things.
All choices come from a `Dice`; on a tape of bytes 0 is always the plainest choice, so that examples shrink.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, final

from hypothesis import strategies as st

from unspool import FragmentParser, Options

from .strategies import Tape

if TYPE_CHECKING:
    import random

    from hypothesis.strategies import SearchStrategy

Model = Any
"""A JSON value: dict, list, str, bool, None, and `Number` for all numbers."""
Steps = tuple[str | int, ...]


@final
@dataclass(frozen=True)
class Number:
    """A number as it is spelled."""

    spelling: str


class Dice(Protocol):
    """Where choices come from: a number from 0 up to below `count`, at most 256."""

    def pick(self, count: int) -> int: ...


@final
class RandomDice:
    """Choices of a random generator."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def pick(self, count: int) -> int:
        return int(self._source.random() * count)


def number_up_to(most: int, dice: Dice) -> int:
    """A number from 0 to `most`, which may be large."""
    return dice.pick(most + 1) if most < 256 else (dice.pick(256) * 256 + dice.pick(256)) % (most + 1)


def load(text: str | bytes) -> Model:
    """The value of a JSON text. No key may come twice: what is written has one value for every reader."""
    return json.loads(
        text, parse_int=Number, parse_float=Number, parse_constant=_refuse, object_pairs_hook=_distinct_members
    )


def model_of(value: Any) -> Model:
    """A parsed value, its numbers spelled as Python spells them."""
    return load(json.dumps(value))


def _refuse(name: str) -> NoReturn:
    raise AssertionError(f"{name} is not JSON")


def _distinct_members(pairs: list[tuple[str, Model]]) -> dict[str, Model]:
    members = dict(pairs)
    assert len(members) == len(pairs), "a key was written twice"
    return members


# ---- the growth of a document -------------------------------------------------------------------------


def units(text: str) -> bytes:
    """UTF-16: the order in which half of a pair comes before the pair."""
    return text.encode("utf-16-be", "surrogatepass")


def first_units(text: str, count: int, *, halves: bool) -> str:
    """The first units of a string; without `halves` a pair that would be cut is left out."""
    cut = units(text)[: 2 * count].decode("utf-16-be", "surrogatepass")
    return cut if halves or text.startswith(cut) else cut[:-1]


def moments(value: Model) -> int:
    """In how many moments a value grows."""
    if isinstance(value, str):
        return 1 + len(units(value)) // 2
    if isinstance(value, (list, dict)):
        return 1 + sum(map(moments, value.values() if isinstance(value, dict) else value))
    return 1


def at_moment(value: Model, count: int, *, halves: bool = False) -> Model:
    """What stands after the first `count` moments, at least one."""
    count -= 1
    if isinstance(value, str):
        return first_units(value, count, halves=halves)
    if isinstance(value, list):
        items = []
        for item in value:
            if count < 1:
                break
            items.append(at_moment(item, count, halves=halves))
            count -= moments(item)
        return items
    if isinstance(value, dict):
        members = {}
        for key, item in value.items():
            if count < 1:
                break
            members[key] = at_moment(item, count, halves=halves)
            count -= moments(item)
        return members
    return value


def covers(written: Model, snapshot: Model) -> bool:
    """All that the snapshot shows is there: it, or more. Half a pair at the end of a string may still be held back."""
    if isinstance(snapshot, str):
        shown = snapshot[:-1] if "\ud800" <= snapshot[-1:] <= "\udbff" else snapshot
        return isinstance(written, str) and units(written).startswith(units(shown))
    if isinstance(snapshot, list):
        if not isinstance(written, list) or len(written) < len(snapshot):
            return False
        return all(covers(written[at], item) for at, item in enumerate(snapshot))
    if isinstance(snapshot, dict):
        return isinstance(written, dict) and all(
            key in written and covers(written[key], item) for key, item in snapshot.items()
        )
    return bool(written == snapshot) and type(written) is type(snapshot)


def grows_to(written: Model, snapshot: Model) -> bool:
    """The growth order, up to the order of keys in the snapshot: all is equal but the last, which may have grown."""
    if isinstance(written, str):
        return isinstance(snapshot, str) and units(snapshot).startswith(units(written))
    if isinstance(written, list):
        if not isinstance(snapshot, list) or len(written) > len(snapshot):
            return False
        return not written or (
            written[:-1] == snapshot[: len(written) - 1] and grows_to(written[-1], snapshot[len(written) - 1])
        )
    if isinstance(written, dict):
        if not isinstance(snapshot, dict) or not written.keys() <= snapshot.keys():
            return False
        *closed, last = [*written] or [None]
        return last is None or (
            all(written[key] == snapshot[key] for key in closed) and grows_to(written[last], snapshot[last])
        )
    return bool(written == snapshot) and type(written) is type(snapshot)


# ---- what was written -----------------------------------------------------------------------------------

STRING = re.compile(r'"((?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)("?)')
ATOM = re.compile(r"true|false|null|-?[0-9][0-9.eE+-]*")


@final
class Piece:
    """A value as far as it is written. Numbers and literals are closed: the end of the text may be their end."""

    __slots__ = ("closed", "content", "kind")

    def __init__(self, kind: str, content: Any, closed: bool) -> None:
        self.kind = kind
        self.content = content  # of an object a dict, of an array a list of pieces; otherwise the value
        self.closed = closed

    @property
    def value(self) -> Model:
        if self.kind == "object":
            return {key: piece.value for key, piece in self.content.items()}
        if self.kind == "array":
            return [piece.value for piece in self.content]
        return self.content

    @property
    def closers(self) -> str:
        """What closes all that is open, and adds nothing."""
        if self.closed:
            return ""
        if self.kind == "string":
            return '"'
        last = list(self.content.values() if self.kind == "object" else self.content)[-1:]
        return "".join([piece.closers for piece in last]) + ("}" if self.kind == "object" else "]")


def kind_of(value: Model) -> str:
    """The JSON kind of a model."""
    if value is None:
        return "null"
    return {dict: "object", list: "array", str: "string", bool: "boolean", Number: "number"}[type(value)]


def read_written(text: str) -> Piece | None:
    """What a text without white space, cut behind any value or opening bracket, says; None for the empty text."""
    if not text:
        return None
    piece, end = _read(text, 0)
    assert end == len(text), "text after the value"
    return piece


def _read(text: str, start: int) -> tuple[Piece, int]:
    mark = text[start : start + 1]
    if mark == '"':
        string, closed, end = _read_string(text, start)
        return Piece("string", string, closed), end
    if mark not in {"{", "["}:
        atom = ATOM.match(text, start)
        assert atom, f"no value at {start}"
        value = load(atom[0])
        return Piece(kind_of(value), value, True), atom.end()
    pieces: list[tuple[str, Piece]] = []
    at = start + 1
    while at < len(text) and text[at] not in "]}":
        if pieces:
            assert text[at] == ",", f"no comma at {at}"
            at += 1
        key = ""
        if mark == "{":
            key, closed, at = _read_string(text, at)
            assert closed, "cut inside a key"
            assert text[at : at + 1] == ":", "cut behind a key"
            at += 1
        piece, at = _read(text, at)
        pieces.append((key, piece))
    closed = at < len(text)
    assert not closed or text[at] == {"{": "}", "[": "]"}[mark]
    if mark == "[":
        return Piece("array", [piece for _, piece in pieces], closed), at + closed
    return Piece("object", _distinct_members(pieces), closed), at + closed


def _read_string(text: str, start: int) -> tuple[str, bool, int]:
    string = STRING.match(text, start)
    assert string, f"no string at {start}"
    closed = bool(string[2])
    assert closed or string.end() == len(text), "cut inside an escape"
    return json.loads(f'"{string[1]}"'), closed, string.end()


def can_become(piece: Piece | None, value: Model) -> bool:
    """Whether the text can be continued so that it says `value`, up to the order of keys."""
    if piece is None:
        return True
    if piece.kind != kind_of(value):
        return False
    if piece.kind == "object":
        is_as_long = len(value) == len(piece.content) or not piece.closed
        return is_as_long and all(key in value and can_become(it, value[key]) for key, it in piece.content.items())
    if piece.kind == "array":
        is_as_long = len(value) == len(piece.content) or (len(value) > len(piece.content) and not piece.closed)
        return is_as_long and all(map(can_become, piece.content, value))
    if piece.kind == "string" and not piece.closed:
        return units(value).startswith(units(piece.content))
    return bool(piece.content == value)


def explains(piece: Piece, value: Model, path: Steps, reason: str) -> bool:
    """Whether the reason holds at the path: between what was written there, and what the snapshot has there."""
    *outer, last = path or [None]
    is_news = False  # the path of what is new in something closed, or of that: both name the place
    for step in outer if path else []:
        if step not in _steps(piece) or step not in steps_of_value(value):
            return False
        piece, value = piece.content[step], value[step]
    if path:
        if reason == "vanished":
            return piece.kind == "object" and isinstance(value, dict) and last in piece.content and last not in value
        if last not in steps_of_value(value) or (last not in _steps(piece) and reason != "grew_late"):
            return False
        is_news = last not in _steps(piece)
        if not is_news:
            piece, value = piece.content[last], value[last]
    old = piece.value
    match reason:
        case "changed_kind":
            return piece.kind != kind_of(value)
        case "changed":
            return piece.kind == kind_of(value) and piece.kind in {"number", "boolean"} and old != value
        case "rewritten":
            return isinstance(old, str) and isinstance(value, str) and not _one_starts_the_other(old, value)
        case "shrunk":
            return isinstance(old, str) and isinstance(value, str) and old != value and old.startswith(value)
        case "shorter":
            return isinstance(old, list) and isinstance(value, list) and len(value) < len(old)
        case "grew_late":
            if piece.kind != kind_of(value) or not piece.closed:
                return False
            if isinstance(old, str):
                return bool(old != value and value.startswith(old))
            return len(value) > len(old) if isinstance(old, list) else not value.keys() <= old.keys()
        case _:
            return False


def _one_starts_the_other(left: str, right: str) -> bool:
    return left.startswith(right) or right.startswith(left)


def _steps(piece: Piece) -> list[Any]:
    return steps_of_value(piece.content) if piece.kind in {"object", "array"} else []


def steps_of_value(value: Any) -> list[Any]:
    """The keys of an object, the indices of an array, nothing for other values."""
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def differences(left: Model, right: Model, path: Steps = ()) -> list[Steps]:
    """The paths at which two values differ, as deep as one can tell; the order of keys is none."""
    if kind_of(left) != kind_of(right) or not isinstance(left, (dict, list)):
        return [] if left == right and kind_of(left) == kind_of(right) else [path]
    found: list[Steps] = []
    ours, theirs = steps_of_value(left), steps_of_value(right)
    for step in [*ours, *[step for step in theirs if step not in ours]]:
        if step in ours and step in theirs:
            found += differences(left[step], right[step], (*path, step))
        else:
            found.append((*path, step))
    return found


# ---- the judge --------------------------------------------------------------------------------------------


@dataclass
class Figures:
    """What was seen on the way."""

    chains: int = 0
    steps: int = 0
    fragments: int = 0
    empty: int = 0
    delay: int = 0

    def add(self, other: Figures) -> None:
        self.chains += other.chains
        self.steps += other.steps
        self.fragments += other.fragments
        self.empty += other.empty
        self.delay = max(self.delay, other.delay)

    def __str__(self) -> str:
        parts = (f"{self.chains} chains", f"{self.steps} steps", f"{self.fragments} fragments", f"{self.empty} empty")
        return f"{', '.join(parts)}, greatest delay {self.delay}"


class Judge:
    """Takes what is written for each snapshot of one left-to-right document, and holds it to law 14."""

    def __init__(self, *, most_delay: int | None = 1, empty: str = "write") -> None:
        self.text = ""
        self.written: Piece | None = None
        self.value: list[Model] = []  # of the text so far, a number at its very end included; empty without text
        self.figures = Figures(chains=1)
        self._parser = FragmentParser(Options(surrogates="keep", max_depth=None, max_number=None))
        self._distinct: list[Model] = []
        self._most_delay = most_delay
        self._last: list[Model] = []
        self._seen = certain if empty == "wait" else _itself  # the part of a snapshot that should be visible

    def take(self, fragment: str, snapshot: Model) -> None:
        """The fragment that was written for a snapshot."""
        self.write(fragment)
        is_repeated, self._last = self._last == [snapshot], [snapshot]
        seen = self._seen(snapshot)
        if self._distinct[-1:] != [seen]:
            self._distinct.append(seen)
        figures = self.figures
        figures.steps += 1
        figures.fragments += bool(fragment)
        figures.empty += not fragment
        assert not (is_repeated and fragment), "something was written for a repeated snapshot"
        value = self.value
        assert value == [] or grows_to(value[0], snapshot), "something was written that the snapshot does not show"
        delay = 0
        while delay < len(self._distinct) and not _is_shown(value, self._distinct[-1 - delay]):
            delay += 1
        if self._most_delay is not None:
            assert delay <= self._most_delay, "more than the newest distinct snapshot is not visible yet"
        figures.delay = max(figures.delay, delay)

    def write(self, fragment: str) -> None:
        """More text: it can be encoded, and no character of it makes the whole unrepairable."""
        if not fragment:
            return
        fragment.encode()
        for character in fragment:
            self._parser.feed(character)
            assert self._parser.error is None, self._parser.error
        self.text += fragment
        self.written = read_written(self.text)
        assert self.written is not None
        self.value = [load(self.text + self.written.closers)]
        assert self.value == [self.written.value]

    def finish(self, fragment: str, snapshot: Model) -> None:
        """The last fragment: now the text is JSON, and says what the last snapshot said."""
        self.write(fragment)
        self._parser.close()
        assert self._parser.error is None, self._parser.error
        assert self._parser.is_complete
        assert load(self.text) == snapshot
        assert load(self.text.encode()) == snapshot


def _itself(value: Model) -> Model:
    return value


def _is_shown(value: list[Model], snapshot: Model) -> bool:
    return snapshot is NOTHING or (value != [] and covers(value[0], snapshot))


# ---- documents and chains ----------------------------------------------------------------------------------

KEYS = [
    *("a", "b", "c", "d", "e", "", ".", "a.b", "[0]", "0", "1", "-1", " ", '"', "\\", "\\u0041", "$", "~/", "é", "😀"),
    *("\x00", "\n", "\x7f", "\u2028", "key" * 7, "__proto__", "\ud83d", "x\udc00"),
]
CHARACTERS = [*'abc 0"\\/\n\t\x00\x1f\x7fé€\u2028\ufeff\uffff', *"😀🚀😀\U0010ffff", *"{}[],:u"]
HALF_CHARACTERS = ["\ud83d", "\ude00", "\udbff", "\udc00"]
NUMBERS = ["0", "1", "-1", "12", "1.0", "-0.0", "1.5", "1e+22", "1e-07", "123456789012345678901234567890"]
DECIMAL_NUMBERS = ["1.00", "0.10", "-0", "1E+5", "12.50"]  # a Decimal spells them so
ODD_NUMBERS = ["1E5", "1e2", "-0e0", "10.010e-03", "0E+00", "1" * 50]  # only a text can spell them so
SPACES = ["", "", "", " ", "\n", "\r\n", "\t", "  "]

Form = Literal["text", "bytes", "parsed", "mixed"]
FORMS: list[Form] = ["text", "parsed", "bytes", "mixed"]


@dataclass
class Chain:
    """Snapshots: as models, keys in the order given, and as what a chunker is given."""

    values: list[Model]
    inputs: list[Any]
    mutations: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)  # of the chunker that should read them

    def __repr__(self) -> str:
        rest = "".join([f"; {word}" for word in [*self.mutations, *map(str, self.options.items())]])
        return f"Chain({', '.join(map(ascii, self.inputs))}{rest})"


@dataclass
class Sort:
    """What sort of chain is wanted."""

    form: Form
    halves: bool

    @property
    def numbers(self) -> list[str]:
        return NUMBERS + DECIMAL_NUMBERS + (ODD_NUMBERS if self.form in {"text", "bytes"} else [])


def make_document(dice: Dice, sort: Sort) -> Model:
    """A final value: mostly an object or an array, now and then anything else, narrow or wide or deep."""
    shape = dice.pick(16)
    if shape == 15:
        value: Model = _make_value(dice, sort, 3, None)
        for _ in range(5 + dice.pick(40)):
            value = [value] if dice.pick(2) else {KEYS[dice.pick(8)]: value}
        return value
    if shape == 14:
        return {f"{KEYS[at % 20]}{at}": _make_value(dice, sort, 3, None) for at in range(5 + dice.pick(12))}
    return _make_value(dice, sort, 0, 10 if shape < 8 else 8 if shape < 11 else None)


def _make_value(dice: Dice, sort: Sort, depth: int, kind: int | None) -> Model:
    kind = dice.pick(12 if depth < 4 else 8) if kind is None else kind
    if kind < 2:
        return [None, True, False][dice.pick(3)]
    if kind < 4:
        return Number(sort.numbers[dice.pick(len(sort.numbers))])
    if kind < 8:
        return _make_string(dice, sort)
    count = dice.pick(4) if depth > 1 else [0, 1, 2, 3, 4, 5, 6, 2, 3][dice.pick(9)]
    if kind < 10:
        return [_make_value(dice, sort, depth + 1, None) for _ in range(count)]
    return {KEYS[dice.pick(len(KEYS))]: _make_value(dice, sort, depth + 1, None) for _ in range(count)}


def _make_string(dice: Dice, sort: Sort) -> str:
    characters = CHARACTERS + HALF_CHARACTERS * 3 if sort.halves else CHARACTERS
    length = dice.pick(7) if dice.pick(4) else 0
    text = "".join([characters[dice.pick(len(characters))] for _ in range(length)])
    return units(text).decode("utf-16-be", "surrogatepass")  # halves that meet are a pair


def make_chain(dice: Dice, sort: Sort | None = None) -> Chain:
    """Snapshots of one document, from very fine to very coarse, some repeated, their keys shuffled each time."""
    sort = sort or Sort(FORMS[dice.pick(4)], halves=dice.pick(4) == 3)
    document = make_document(dice, sort)
    values: list[Model] = []
    for moment in _make_moments(dice, moments(document)):
        value = at_moment(document, moment, halves=sort.halves)
        values += [shuffled(value, dice) for _ in range(1 + max(0, dice.pick(8) - 5))]
    return Chain(values, [put(value, sort.form, dice) for value in values])


def _make_moments(dice: Dice, count: int) -> list[int]:
    coarseness = dice.pick(6)
    if coarseness < 2:
        chosen = [1 + number_up_to(count - 1, dice) for _ in range(1 + dice.pick(4))]
    else:
        stride = [1, 3, 8, 24][coarseness - 2]
        chosen, at = [], 1 + dice.pick(stride)
        while at <= count and len(chosen) < 120:
            chosen.append(at)
            at += 1 + dice.pick(stride)
    ends_early = dice.pick(8) == 7 and chosen
    return sorted(set(chosen if ends_early else [*chosen, count]))


def shuffled(value: Model, dice: Dice) -> Model:
    """The same value, the keys of each object in another order."""
    if isinstance(value, list):
        return [shuffled(item, dice) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    for at in range(len(keys) - 1, 0, -1):
        other = at - dice.pick(at + 1)
        keys[at], keys[other] = keys[other], keys[at]
    return {key: shuffled(value[key], dice) for key in keys}


def first_seen(values: list[Model]) -> dict[Steps, int]:
    """For each path of an object's member, which distinct snapshot it was first seen in."""
    seen: dict[Steps, int] = {}
    for at, value in enumerate(values):
        todo: list[tuple[Steps, Model]] = [((), value)]
        while todo:
            path, one = todo.pop()
            seen.setdefault(path, at)
            todo += [((*path, step), one[step]) for step in steps_of_value(one)]
    return seen


def shuffled_groups(value: Model, dice: Dice, seen: dict[Steps, int], path: Steps = ()) -> Model:
    """The keys in another order, except that those first seen together keep the order they have."""
    if isinstance(value, list):
        return [shuffled_groups(item, dice, seen, (*path, at)) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    groups: dict[int, list[str]] = {}
    for key in value:
        groups.setdefault(seen[(*path, key)], []).append(key)
    keys = []
    while groups:
        group = list(groups)[dice.pick(len(groups))]
        keys.append(groups[group].pop(0))
        if not groups[group]:
            del groups[group]
    return {key: shuffled_groups(value[key], dice, seen, (*path, key)) for key in keys}


# ---- half-filled models ----------------------------------------------------------------------------------

NOTHING = object()
"""What is certain of a snapshot that is empty, or a number."""
PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def is_empty(value: Model) -> bool:
    """Whether a value may be the default of one that is not written yet."""
    if isinstance(value, (list, dict)):
        return all(map(is_empty, value.values() if isinstance(value, dict) else value))
    if isinstance(value, Number):
        return float(value.spelling) == 0
    return value is None or value is False or value == ""


def certain(value: Model) -> Model:
    """What cannot be a default or half a number: without numbers, and without empty members and items at the end."""
    if isinstance(value, Number) or is_empty(value):
        return NOTHING
    if isinstance(value, dict):
        members = {key: certain(item) for key, item in value.items()}
        return {key: item for key, item in members.items() if item is not NOTHING}
    if isinstance(value, list):
        count = len(value)
        while count and (is_empty(value[count - 1])):
            count -= 1
        if count and isinstance(value[count - 1], Number):
            count -= 1
            return value[:count]
        return [*value[: count - 1], certain(value[count - 1])]
    return value


class Defaults:
    """How a model shows the fields that are not filled yet. It shows a field in the same way throughout."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._choices: dict[Steps, int] = {}

    def choice(self, path: Steps) -> int:
        if path not in self._choices:
            self._choices[path] = self._dice.pick(8)
        return self._choices[path]

    def of(self, value: Model, path: Steps) -> Model:
        """The default of a field that becomes `value`; NOTHING if the field is left out."""
        choice = self.choice(path)
        if choice == 7:
            return NOTHING
        if choice == 6 or value is None:
            return None
        if isinstance(value, dict):
            return self.members(value, path, {}) if choice < 5 else {}
        if isinstance(value, list):
            is_fixed = self.is_fixed(path)
            return [self.item(item, (*path, at)) for at, item in enumerate(value)] if is_fixed else []
        if isinstance(value, Number):
            return Number("0.0" if choice % 2 else "0")
        return "" if isinstance(value, str) else False

    def item(self, value: Model, path: Steps) -> Model:
        default = self.of(value, path)
        return None if default is NOTHING else default

    def members(self, value: dict[str, Model], path: Steps, filled: dict[str, Model]) -> dict[str, Model]:
        """All fields of a model: those that are filled, and the defaults of the others."""
        members = dict(filled)
        for key, item in value.items():
            if key not in filled:
                default = self.of(item, (*path, key))
                if default is not NOTHING:
                    members[key] = default
        return members

    def is_fixed(self, path: Steps) -> bool:
        """Whether an array has all its items from the start, as a tuple of numbers may."""
        return self.choice((*path, "fixed")) == 0


def spellings_of(number: Number) -> list[Number]:
    """How a number looks while its digits arrive."""
    text = number.spelling
    if not PLAIN_NUMBER.fullmatch(text):
        return [number]
    return [Number(text[:at]) for at in range(1, len(text) + 1) if PLAIN_NUMBER.fullmatch(text[:at])]


def fill_moments(value: Model) -> int:
    """In how many moments a value is filled: as `moments`, and a number grows digit by digit."""
    if isinstance(value, Number):
        return len(spellings_of(value))
    if isinstance(value, (list, dict)):
        return 1 + sum(map(fill_moments, value.values() if isinstance(value, dict) else value))
    return moments(value)


def filled_at(value: Model, count: int, defaults: Defaults, halves: bool, path: Steps = ()) -> Model:
    """What a half-filled model shows after `count` moments, at least one."""
    if isinstance(value, Number):
        return spellings_of(value)[min(count, fill_moments(value)) - 1]
    if not isinstance(value, (list, dict)):
        return at_moment(value, count, halves=halves)
    filled: dict[Any, Model] = {}
    left = count - 1
    for step in steps_of_value(value):
        if left < 1:
            break
        filled[step] = filled_at(value[step], left, defaults, halves, (*path, step))
        left -= fill_moments(value[step])
    if isinstance(value, dict):
        return defaults.members(value, path, filled)
    if defaults.is_fixed(path):
        return [filled[at] if at in filled else defaults.item(item, (*path, at)) for at, item in enumerate(value)]
    return list(filled.values())


def make_half_filled(dice: Dice) -> Chain:
    """Snapshots of a model that is filled from left to right, its fields all there from the start, or most of them."""
    sort = Sort(FORMS[dice.pick(4)], halves=dice.pick(4) == 3)
    document, defaults = make_document(dice, sort), Defaults(dice)
    values: list[Model] = []
    for moment in _make_moments(dice, fill_moments(document)):
        value = filled_at(document, moment, defaults, sort.halves)
        values += [shuffled(value, dice) for _ in range(1 + max(0, dice.pick(8) - 5))]
    return Chain(values, [put(value, sort.form, dice) for value in values], options={"empty": "wait"})


# ---- snapshots as they are given --------------------------------------------------------------------------


def put(value: Model, form: Form, dice: Dice) -> Any:
    """A snapshot as a text, as bytes or as a parsed value. A string alone is always a text."""
    if form == "mixed":
        form = FORMS[dice.pick(3)]
    if form == "parsed" and not isinstance(value, str):
        return parsed(value, dice)
    text = _space(dice) + spell(value, dice) + _space(dice)
    return text.encode() if form == "bytes" else text


def parsed(value: Model, dice: Dice) -> Any:
    """The value as Python has it; an array may be a tuple, a number a Decimal where that spells the same."""
    if isinstance(value, dict):
        return {key: parsed(item, dice) for key, item in value.items()}
    if isinstance(value, list):
        items = [parsed(item, dice) for item in value]
        return tuple(items) if dice.pick(4) == 3 else items
    if isinstance(value, str):
        return _in_halves(value) if dice.pick(16) == 15 else value
    if not isinstance(value, Number):
        return value
    number, decimal = json.loads(value.spelling), Decimal(value.spelling)
    if repr(number) != value.spelling or (dice.pick(4) == 3 and str(decimal) == value.spelling):
        assert str(decimal) == value.spelling
        return decimal
    return number


def _in_halves(text: str) -> str:
    """The same JSON, each surrogate pair as two characters: how text looks that was cut and joined as UTF-16."""
    return "".join([chr(int.from_bytes(units(text)[at : at + 2])) for at in range(0, len(units(text)), 2)])


def spell(value: Model, dice: Dice) -> str:
    """JSON text, with white space and escapes of all sorts."""
    if isinstance(value, dict):
        members = [f"{_spell_string(k, dice)}{_space(dice)}:{_space(dice)}{spell(v, dice)}" for k, v in value.items()]
        return "{" + _space(dice) + ",".join([_space(dice) + member + _space(dice) for member in members]) + "}"
    if isinstance(value, list):
        return "[" + _space(dice) + ",".join([spell(item, dice) + _space(dice) for item in value]) + "]"
    if isinstance(value, Number):
        return value.spelling
    return _spell_string(value, dice) if isinstance(value, str) else json.dumps(value)


def _space(dice: Dice) -> str:
    return SPACES[dice.pick(len(SPACES))]


def _spell_string(text: str, dice: Dice) -> str:
    return '"' + "".join([_spell_character(character, dice) for character in text]) + '"'


def _spell_character(character: str, dice: Dice) -> str:
    is_half = "\ud800" <= character <= "\udfff"
    choice = dice.pick(6)
    if character == "/" and choice == 4:
        return "\\/"
    if choice == 5 or is_half:
        code = units(character).hex()
        code = code.upper() if choice % 2 else code
        return "".join(["\\u" + code[at : at + 4] for at in range(0, len(code), 4)])
    return json.dumps(character, ensure_ascii=False)[1:-1]


# ---- chains that contradict themselves --------------------------------------------------------------------


def make_contradiction(dice: Dice) -> Chain:
    """A chain to which something happened: one snapshot, or all from some on, are not what they should be."""
    sort = Sort(FORMS[dice.pick(4)], halves=False)
    options: dict[str, Any] = {"empty": "wait"} if dice.pick(2) else {}
    values = make_chain(dice, sort).values
    mutations: list[str] = []
    for _ in range(1 + dice.pick(3)):
        at = number_up_to(len(values) - 1, dice)
        manner = dice.pick(6)
        if manner < 2:  # a glitch: the next snapshots know nothing of it
            values.insert(at + 1, mutate(values[at], dice, sort, mutations))
        elif manner == 2:
            values[at] = mutate(values[at], dice, sort, mutations)
        elif manner == 3:  # it goes on from what it has become
            values[at + 1 :] = [values[at]] * 4
            for later in range(at + 1, len(values)):
                values[later] = mutate(values[later - 1], dice, sort, mutations)
        elif manner == 4:
            other = number_up_to(len(values) - 1, dice)
            values[at], values[other] = values[other], values[at]
            mutations.append("out of turn")
        else:
            values[at + 1 :] = make_chain(dice, sort).values
            mutations.append("another document")
    return Chain(values, [put(value, sort.form, dice) for value in values], mutations, options)


def mutate(value: Model, dice: Dice, sort: Sort, mutations: list[str]) -> Model:
    """The value with one, or several, of its values not what they were."""
    for _ in range(1 + max(0, dice.pick(6) - 3)):
        places = list(first_seen([value]))
        value = _mutate_at(value, places[number_up_to(len(places) - 1, dice)], dice, sort, mutations)
    return value


def _mutate_at(value: Model, path: Steps, dice: Dice, sort: Sort, mutations: list[str]) -> Model:
    if not path:
        return _mutate_one(value, dice, sort, mutations)
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = _mutate_at(value[path[0]], path[1:], dice, sort, mutations)
    return changed


def _mutate_one(value: Model, dice: Dice, sort: Sort, mutations: list[str]) -> Model:
    changed: Model
    choice = dice.pick(8)
    if choice == 7 or value is None:
        mutations.append("change kind")
        return _make_value(dice, sort, 3, None)
    if isinstance(value, str):
        cut = number_up_to(len(value), dice)
        name, changed = [
            ("grow", value + "more"),
            ("rewrite", value[:cut] + "#" + value[cut + 1 :]),
            ("shrink", value[:cut]),
            ("empty", ""),
        ][choice % 4]
    elif isinstance(value, list):
        item = _make_value(dice, sort, 3, None)
        name, changed = [
            ("append", [*value, item]),
            ("shorter", value[:-1]),
            ("insert", [item, *value]),
            ("without first", value[1:]),
        ][choice % 4]
    elif isinstance(value, dict):
        keys = list(value)
        at = number_up_to(len(keys) - 1, dice) if keys else 0
        without = {key: value[key] for key in keys if key != keys[at]}
        new = KEYS[dice.pick(len(KEYS))]
        name, changed = [
            ("vanish", without),
            ("gain", {**value, new: _make_value(dice, sort, 3, None)}),
            ("rename", {**without, new: value[keys[at]]} if keys else {}),
            ("gain first", {new: _make_value(dice, sort, 3, None), **value}),
        ][choice % 4]
    elif isinstance(value, bool):
        name, changed = "change boolean", not value
    else:
        name, changed = "change number", Number(sort.numbers[dice.pick(len(sort.numbers))])
    mutations.append(name)
    return changed


# ---- as strategies ----------------------------------------------------------------------------------------


def chains() -> SearchStrategy[Chain]:
    """Chains that shrink: towards one snapshot of an empty object."""
    return st.builds(lambda tape: make_chain(Tape(tape)), st.binary(min_size=40, max_size=500))


def half_filled() -> SearchStrategy[Chain]:
    """Chains of half-filled models, for a chunker that lets empty values wait."""
    return st.builds(lambda tape: make_half_filled(Tape(tape)), st.binary(min_size=40, max_size=500))


def all_chains() -> SearchStrategy[Chain]:
    """Chains of documents and of half-filled models. A chunker that lets empty values wait reads both."""

    def waiting(chain: Chain) -> Chain:
        return Chain(chain.values, chain.inputs, options={"empty": "wait"})

    return chains() | half_filled() | st.builds(waiting, chains())


def tapes() -> SearchStrategy[Tape]:
    """Choices for what a test does itself."""
    return st.builds(Tape, st.binary(max_size=60))


def contradictions() -> SearchStrategy[Chain]:
    """Chains that contradict themselves, though not always what is written."""
    return st.builds(lambda tape: make_contradiction(Tape(tape)), st.binary(min_size=60, max_size=500))
