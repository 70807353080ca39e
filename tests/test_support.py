"""The judge is judged: the oracle against json and the corpus, the generators for what they reach."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.support import corpus, oracle, strategies
from tests.support.oracle import MISSING, is_prefix_value, read, same
from unspool._errors import Code
from unspool._options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

unhurried = settings(deadline=None, max_examples=200)
repeatable = settings(unhurried, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


def short(case: object) -> str:
    return ascii(case)[:40]


def refuse(name: str) -> None:
    raise ValueError(name)


def strict_json(text: str) -> Any:
    """What json makes of a text; MISSING where it, or the RFC, refuses it, or where a number is infinite."""
    try:
        return json.loads(text, parse_constant=refuse, parse_float=finite)
    except ValueError:
        return MISSING


def finite(raw: str) -> float:
    """Also where the value is not kept, because its key comes again."""
    value = float(raw)
    if math.isinf(value):
        raise ValueError(raw)
    return value


def has_duplicates(text: str) -> bool:
    found = False

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len(dict(pairs)) < len(pairs)
        return dict(pairs)

    json.loads(text, object_pairs_hook=note)
    return found


def examples(strategy: SearchStrategy[Any], count: int = 400) -> list[Any]:
    """The same examples in each run."""
    found: list[Any] = []

    @settings(repeatable, max_examples=count)
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found


# The oracle and the corpus


def test_preset_options() -> None:
    """The oracle presets each of its options as the library does."""
    library = Options()
    for field in dataclasses.fields(oracle.Dialect):
        assert getattr(library, field.name) == field.default, field.name


def test_corpus_has_no_text_twice() -> None:
    """No text is there twice for the same purpose."""
    for texts in (corpus.VALID, [text for text, *_ in corpus.BROKEN], [prefix for prefix, _ in corpus.OPEN]):
        assert [text for text, count in Counter(texts).items() if count > 1] == []


@pytest.mark.parametrize("text", [*corpus.VALID, *corpus.DOCUMENTS.values()], ids=short)
def test_valid(text: str) -> None:
    """A valid text ends with the value that json gives it, and none of its prefixes is dead."""
    reading = read(text)
    assert reading.finishable
    assert same(reading.final, strict_json(text))
    before: Any = MISSING
    for end in range(len(text) + 1):
        prefix = read(text[:end])
        assert prefix.status != "dead"
        assert is_prefix_value(before, prefix.value) or has_duplicates(text)
        before = prefix.value
    assert is_prefix_value(before, reading.final) or has_duplicates(text)


@pytest.mark.parametrize(("text", "offset", "code"), corpus.BROKEN, ids=short)
def test_broken(text: str, offset: int, code: Code) -> None:
    """A broken text is dead from its offset on, not before, and whatever may follow."""
    error = read(text).error
    assert error is not None
    assert (error.code, error.offset) == (code, offset)
    assert read(text[:offset]).status != "dead"
    for more in ("", '"', "]}", " 0", "\\"):
        assert read(text[: offset + 1] + more).error == error
    assert strict_json(text) is MISSING or code in {Code.MAX_DEPTH, Code.MAX_NUMBER}


@pytest.mark.parametrize(("prefix", "rest"), corpus.OPEN, ids=short)
def test_open(prefix: str, rest: str) -> None:
    """An open prefix has a continuation that json accepts, and the oracle calls it open."""
    assert strict_json(prefix + rest) is not MISSING
    assert read(prefix).status == "open"
    assert read(prefix + rest).finishable
    assert read(prefix).finishable is (rest == "" or prefix in {"12", "-0", "1e30"})


@pytest.mark.parametrize(("options", "text"), corpus.DIALECT_VALID, ids=short)
def test_accepted_with_options(options: dict[str, Any], text: str) -> None:
    """What an option allows is accepted to the end, and no prefix of it is dead."""
    assert read(text, **options).finishable
    assert all(read(text[:end], **options).error is None for end in range(len(text)))


@pytest.mark.parametrize(("options", "text", "offset", "code"), corpus.DIALECT_BROKEN, ids=short)
def test_refused_with_options(options: dict[str, Any], text: str, offset: int, code: Code) -> None:
    """What an option forbids is an error at its offset, and not before."""
    error = read(text, **options).error
    assert error is not None
    assert (error.code, error.offset) == (code, offset)
    assert read(text[:offset], **options).status != "dead"


@pytest.mark.parametrize(("prefix", "value"), corpus.PARTIAL, ids=short)
def test_partial(prefix: str, value: Any) -> None:
    """What is visible of a prefix is exactly what is known."""
    assert same(read(prefix).value, value)


@pytest.mark.parametrize(("text", "offset", "line", "column", "path"), corpus.PLACES, ids=short)
def test_places(text: str, offset: int, line: int, column: int, path: tuple[Any, ...]) -> None:
    """An error knows its offset, its line and column, and the path of the value being read."""
    error = read(text).error
    assert error is not None
    assert error[1:] == (offset, line, column, path)


@pytest.mark.parametrize(("data", "index", "code"), corpus.BYTES, ids=short)
def test_bytes(data: bytes, index: int | None, code: Code | None) -> None:
    """Bytes are dead at the first one that nothing can follow to make JSON in UTF-8."""
    assert oracle.dead_byte(data) == index
    assert code is None or index is not None


def test_every_beginning_of_a_character() -> None:
    """In a string, two bytes of UTF-8 are dead exactly when no further bytes make them a character."""
    tails = [bytes(tail) for count in range(3) for tail in product((0x80, 0xBF), repeat=count)]
    for lead, second in product(range(0xC0, 0x100), (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC3)):
        data = bytes([lead, second])
        possible = any((data + tail).decode(errors="ignore").encode() == data + tail for tail in tails)
        assert (oracle.dead_byte(b'"' + data) is None) is possible, data


def test_surrogates() -> None:
    """Half a pair is replaced, kept, or refused, as asked; a pair is one character in each case."""
    for policy, half in {"replace": "\ufffd", "keep": "\ud83d"}.items():
        assert read(r'"a\ud83d"', surrogates=policy).final == "a" + half
        assert read(r'"\ud83d\ud83d\ude00"', surrogates=policy).final == half + "😀"
        assert read(r'"\ud83d\n', surrogates=policy).value == half + "\n"
        assert read(r'"\ud83d\u004', surrogates=policy).value == ""
    assert read(r'"\ud83d\ude00"', surrogates="error").final == "😀"


def test_ends() -> None:
    """What close() would say is known at every prefix: nothing, too early, or an overflow at the end."""
    assert read("12").final == 12
    assert read("12").status == "open"
    assert read("12 ").status == "done"
    assert read('{"a":[1,').at_close == (Code.INCOMPLETE, 8, 1, 9, ("a", 1))
    assert read("\n").at_close == (Code.INCOMPLETE, 1, 2, 1, ())
    overflow = read("9" * 400 + ".0")
    assert overflow.status == "open"
    assert overflow.at_close == (Code.NUMBER_OVERFLOW, 402, 1, 403, ())
    several = read('1 {"a":2} [3', multiple=True)
    assert several.values == (1, {"a": 2}, [])
    assert several.value == []
    assert not several.finishable


def test_no_recursion() -> None:
    """Neither depth nor length is beyond the oracle."""
    deep = "[" * 100_000
    assert read(deep).error == (Code.MAX_DEPTH, 128, 1, 129, (0,) * 128)
    once, again = read(deep, max_depth=None), read(deep, max_depth=None)
    assert same(once.value, again.value)
    assert is_prefix_value(once.value, again.value)
    digits = read("7" * 10_000, max_number=None).final
    assert digits == (10**10_000 - 1) // 9 * 7


@unhurried
@given(strategies.documents(halves=True))
def test_oracle_is_json(text: str) -> None:
    """On valid texts in every spelling the oracle gives what json gives, types and order included."""
    assert same(read(text, surrogates="keep").final, json.loads(text))


@unhurried
@given(strategies.broken_documents(halves=True))
@example('{"a": 1e999, "a": 1}')
def test_oracle_accepts_what_json_accepts(text: str) -> None:
    """On broken texts the oracle and json agree on which are still valid, and on their value."""
    reading = read(text, surrogates="keep", max_depth=None)
    assert same(reading.final, strict_json(text))
    assert reading.finishable is (reading.final is not MISSING)


@unhurried
@given(strategies.broken_documents(small=True, halves=True), strategies.dialects())
def test_oracle_is_a_function_of_prefixes(text: str, options: dict[str, Any]) -> None:
    """Once dead, always dead in the same way and with the same value; before its offset nothing is dead."""
    whole = read(text, **options)
    for end in range(len(text) + 1):
        prefix = read(text[:end], **options)
        if prefix.error is not None:
            assert prefix.error == whole.error
            assert same(list(prefix.values), list(whole.values))
        assert whole.error is None or end > whole.error.offset or prefix.error is None
        assert prefix.error is None or prefix.error.offset < end


@unhurried
@given(strategies.documents(small=True, halves=True), st.sampled_from(["replace", "keep"]))
def test_oracle_grows(text: str, surrogates: str) -> None:
    """Without duplicate keys the value of a prefix only grows."""
    before: Any = MISSING
    for end in range(len(text) + 1):
        value = read(text[:end], surrogates=surrogates).value
        assert is_prefix_value(before, value) or has_duplicates(text)
        before = value


def test_order_of_growth() -> None:
    """The order of growth holds types, order of keys and signs apart."""
    smaller: Any
    larger: Any
    for smaller, larger in [
        *((MISSING, None), (MISSING, 0), (MISSING, ""), (MISSING, []), (MISSING, {})),
        *(("", "a"), ("a", "ab"), ([], [1]), ([""], ["a", 1]), ({}, {"a": 1}), ({"a": [1]}, {"a": [1, 2], "b": 3})),
    ]:
        assert is_prefix_value(smaller, larger)
        assert is_prefix_value(smaller, smaller)
        assert not is_prefix_value(larger, smaller)
        assert not same(smaller, larger)
    for left, right in [
        *((True, 1), (1, 1.0), (0.0, -0.0), (False, None), ("1", 1), ([], {}), ("", [])),
        *(
            ([1, ""], [2, ""]),
            (["a", 1], ["ab", 1]),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            ({"a": "x", "b": 1}, {"a": "xy"}),
        ),
    ]:
        assert not is_prefix_value(left, right)
        assert not is_prefix_value(right, left)
        assert not same(left, right)
    assert same({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]})


# The generators


@pytest.mark.parametrize("text", ["", "a", "ab", "abcde", b"abcd"], ids=short)
def test_ways_of_cutting(text: Any) -> None:
    """Each helper gives all its ways once, and the fragments of each way are the text."""
    every = [tuple(way) for way in strategies.every_cutting(text)]
    assert len(every) == len(set(every)) == 2 ** max(len(text) - 1, 0)
    single = [tuple(way) for way in strategies.every_single_cut(text)]
    assert len(set(single)) == len(text) + 1
    for way in [*every, *single, tuple(strategies.one_by_one(text))]:
        assert text[:0].join(way) == text
    assert all(len(piece) == 1 for piece in strategies.one_by_one(text))


@unhurried
@given(st.data())
def test_cuttings_are_the_text(data: st.DataObject) -> None:
    """The fragments of a drawn cutting make up the text, as characters and as bytes."""
    text, fragments = data.draw(strategies.cut(strategies.documents()))
    assert "".join(fragments) == text
    assert b"".join(data.draw(strategies.byte_cuttings(text.encode()))) == text.encode()


def edges(fragments: list[Any]) -> set[int]:
    """The places between fragments."""
    places, at = set(), 0
    for fragment in fragments[:-1]:
        at += len(fragment)
        places.add(at)
    return places


def test_reach_of_cuttings() -> None:
    """Cuts fall inside of escapes, pairs, literals, exponents, CRLF and UTF-8; fragments may be empty."""
    reached: Counter[str] = Counter()
    for text, fragments in examples(strategies.cut(strategies.documents())):
        places = edges(fragments)
        reached.update(kind for kind, hard in strategies.hard_places(text).items() if places & set(hard))
        reached["empty"] += "" in fragments
        reached["whole"] += fragments == [text]
        reached["one by one"] += len(text) > 5 and fragments == strategies.one_by_one(text)
    utf8 = strategies.documents().flatmap(
        lambda text: st.tuples(st.just(text), strategies.byte_cuttings(text.encode()))
    )
    for text, fragments in examples(utf8, 200):
        data = text.encode()
        reached["utf-8"] += any(0x80 <= data[place] < 0xC0 for place in edges(fragments) if place < len(data))
    wanted = ["escape", "pair", "literal", "exponent", "crlf", "empty", "whole", "one by one", "utf-8"]
    assert {kind: reached[kind] for kind in wanted if reached[kind] < 5} == {}


def walk(value: Any, depth: int = 0) -> list[tuple[int, Any]]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [(depth, value), *(pair for child in children for pair in walk(child, depth + 1))]


def has_key(key: str) -> Callable[[int, Any], bool]:
    return lambda _, value: isinstance(value, dict) and key in value


VALUES: dict[str, Callable[[int, Any], bool]] = {
    **{f"key {key!r}": has_key(key) for key in ("", ".", "a.b", "[0]", "0")},
    "boolean": lambda _, v: type(v) is bool,
    "null": lambda _, v: v is None,
    "big integer": lambda _, v: type(v) is int and abs(v) > 2**64,
    "minus zero": lambda _, v: type(v) is float and v == 0 and math.copysign(1, v) < 0,
    "small float": lambda _, v: type(v) is float and 0 < abs(v) < 1e-100,
    "emoji": lambda _, v: isinstance(v, str) and any(char > "\uffff" for char in v),
    "control character": lambda _, v: isinstance(v, str) and any(char < " " for char in v),
    "empty string": lambda _, v: v == "",
    "empty array": lambda _, v: v == [],
    "empty object": lambda _, v: v == {},
    "deep": lambda depth, _: depth > 50,
    "wide array": lambda _, v: isinstance(v, list) and len(v) > 20,
    "wide object": lambda _, v: isinstance(v, dict) and len(v) > 20,
}


def test_reach_of_values() -> None:
    """Values reach the hard keys, numbers and characters, and are deep or wide at times; none has a surrogate."""
    reached: Counter[str] = Counter()
    for value in examples(strategies.values()):
        parts = walk(value)
        reached.update(name for name, holds in VALUES.items() if any(holds(depth, part) for depth, part in parts))
        json.dumps(value, ensure_ascii=False).encode()
        assert max(depth for depth, _ in parts) < 128
    assert {name: reached[name] for name in VALUES if reached[name] < 3} == {}


def test_reach_of_documents() -> None:
    """Texts reach the spellings: needless escapes, either case of hexadecimal, exponents, duplicates, spaces."""
    texts = examples(strategies.documents())
    escapes = [r"\/", r"\u00", r"\uD83D\uDE00", r"\ud83d\ude00", r"\\", r"\""]
    parts = [*escapes, "e+", "E+", "e-", "-0", ".0", "\r\n", "\t", "😀"]
    assert [part for part in parts if sum(part in text for text in texts) < 3] == []
    assert sum(map(has_duplicates, texts)) >= 10
    halves = [text for text in examples(strategies.documents(halves=True)) if read(text, surrogates="error").error]
    assert len(halves) >= 20


def test_reach_of_broken_documents() -> None:
    """Broken texts die of everything that a text can die of, some far from the start, and some are only open."""
    reached: Counter[str] = Counter()
    for text in examples(strategies.broken_documents(), 800):
        reading = read(text)
        reached[reading.error.code if reading.error else reading.status] += 1
        reached["late"] += reading.error is not None and reading.error.offset > 20
        reached["inside"] += reading.error is not None and len(reading.error.path) > 1
    wanted = [
        *(Code.UNEXPECTED_CHARACTER, Code.TRAILING_TEXT, Code.INVALID_LITERAL, Code.INVALID_NUMBER),
        *(Code.NUMBER_OVERFLOW, Code.INVALID_ESCAPE, Code.CONTROL_CHARACTER, "open", "done", "late", "inside"),
    ]
    assert {name: reached[name] for name in wanted if reached[name] < 3} == {}


def test_reach_of_dialects_and_bytes() -> None:
    """Dialects reach each limit and each refusal; bytes break inside of strings and outside."""
    drawn = examples(st.tuples(strategies.documents(halves=True), strategies.dialects()), 1600)
    errors = [read(text, **options).error for text, options in drawn]
    reached = Counter(error.code for error in errors if error)
    limits = [Code.MAX_CHARS, Code.MAX_DEPTH, Code.MAX_KEY, Code.MAX_NUMBER, Code.MAX_PATH, Code.MAX_STRING]
    wanted = [*limits, Code.DUPLICATE_KEY, Code.LONE_SURROGATE]
    assert {code: reached[code] for code in wanted if reached[code] < 3} == {}
    places: Counter[str] = Counter()
    for data in examples(strategies.broken_bytes(), 200):
        index = oracle.dead_byte(data)
        before = data[:index].decode(errors="ignore")
        places["string" if read(before + "é").error is None else "elsewhere"] += 1
    assert min(places["string"], places["elsewhere"]) >= 20
