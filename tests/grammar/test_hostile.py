"""Texts that mean harm: each ends at once with the right error, or is read in linear time and bounded memory."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
import tracemalloc
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpus, strategies
from tests.support.observe import Observation, observe
from unspool import (
    COMPILED,
    Code,
    Event,
    FragmentParser,
    IncompleteJSONError,
    JSONSyntaxError,
    Kind,
    LimitError,
    Options,
    ValueParser,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unspool import Fragment

MIB = 1024 * 1024


def error_of(fragments: Iterable[Fragment], **options: Any) -> JSONSyntaxError | None:
    parser = FragmentParser(Options(**options))
    for fragment in fragments:
        parser.feed(fragment)
    parser.close()
    return parser.error


def spent(work: Callable[[], object]) -> float:
    """The processor time that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


# Nesting


@pytest.mark.parametrize("unit", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_stops_at_the_limit(unit: str) -> None:
    """Nesting without end is a LimitError at the first bracket too many, however the text is cut."""
    depth_of_unit = unit.count("[") + unit.count("{")
    text = unit * (100_000 // depth_of_unit)
    offset = [index for index, character in enumerate(text[:2000]) if character in "[{"][128]
    for fragments in ([text], [text[at : at + 1000] for at in range(0, len(text), 1000)], text[:2000]):
        error = error_of(fragments)
        assert isinstance(error, LimitError)
        assert (error.code, error.offset, len(error.path)) == (Code.MAX_DEPTH, offset, 128)


DEEP = """
import sys
from unspool import FragmentParser, Kind, Options

sys.setrecursionlimit(200)
parser = FragmentParser(Options(max_depth=None, max_path=None, duplicate_keys="error"))
events = parser.feed('[{"a":' * 50_000)
assert len(events) == 100_000 and len(events[-1].path) == 99_999
assert not parser.is_complete
dropped = FragmentParser(Options(max_depth=None, max_path=None))
dropped.feed('[' * 50_000)
del dropped, events
events = parser.feed("0" + "}]" * 50_000)
assert parser.is_complete and len(events) == 100_001
assert events[0].kind is Kind.COMPLETE_NUMBER and events[0].offset == 300_001
assert events[-1].kind is Kind.END_ARRAY and events[-1].node_id == 0
parser.reset()
parser.feed("[" * 20_000 + "x")
assert len(parser.error.path) == 20_000 and len(str(parser.error)) < 300
print("done")
"""


def test_deep_nesting_without_a_limit() -> None:
    """100,000 brackets are read, closed and freed without recursion, if that is what the caller wants."""
    # In a process of its own: what this guards against is a crash, and that would end all other tests too.
    run = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


# Numbers


@pytest.mark.parametrize("digits", ["1" * MIB, "-" + "0" * MIB, "0." + "1" * MIB, "1e" + "0" * MIB, "1e-" + "9" * MIB])
def test_long_numbers_stop_at_the_limit(digits: str) -> None:
    """A number of a million digits is an error at its first thousand; a leading zero breaks it before."""
    for fragments in ([digits], [digits[at : at + 7] for at in range(0, 2000, 7)]):
        error = error_of(fragments)
        assert error is not None
        expected = (Code.INVALID_NUMBER, 2) if digits[:2] == "-0" else (Code.MAX_NUMBER, 1000)
        assert (error.code, error.offset) == expected


LONG = MIB if COMPILED else MIB // 4


def in_pieces(text: str) -> list[str]:
    return [text[at : at + 1000] for at in range(0, len(text), 1000)]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("[" + "1" * LONG + "]", {}, (Code.MAX_NUMBER, 1 + LONG)),
        ("1" * LONG, {}, (Code.MAX_NUMBER, LONG)),
        ("[0." + "1" * LONG + "]", {}, 1 / 9),
        ("[0." + "0" * LONG + "]", {}, 0.0),
        ("[" + "1" * LONG + ".5]", {}, (Code.NUMBER_OVERFLOW, 3 + LONG)),
        ("[1e" + "0" * LONG + "5]", {}, 1e5),
        ("[1e" + "0" * LONG + "999]", {}, (Code.NUMBER_OVERFLOW, 5 + LONG)),
        ("[1e-" + "9" * LONG + "]", {}, 0.0),
        ("[1e" + "9" * LONG + "]", {}, (Code.NUMBER_OVERFLOW, 5)),
        ("[0." + "1" * LONG + "]", {"floats": "decimal"}, Decimal("0." + "1" * LONG)),
        ("[1e" + "9" * LONG + "]", {"floats": "decimal"}, (Code.NUMBER_OVERFLOW, 3 + LONG)),
    ],
    ids=lambda case: ascii(case)[:24],
)
def test_long_numbers_without_a_limit(text: str, options: dict[str, Any], expected: Any) -> None:
    """Without a limit a number of very many digits is read or refused, whole or in pieces, in linear time."""
    for fragments in ([text], in_pieces(text)):
        seen = observe(fragments, max_number=None, **options)
        if isinstance(expected, tuple):
            assert seen.error is not None
            assert (seen.error.code, seen.error.offset) == expected
        else:
            assert (seen.value, seen.errors) == ([expected], [])


# Strings and keys


@pytest.mark.parametrize(
    ("options", "code", "most"),
    [(Options(), Code.MAX_PATH, 4096), (Options(max_path=None), Code.MAX_KEY, 65_536)],
    ids=["path", "key"],
)
def test_an_endless_key(options: Options, code: Code, most: int) -> None:
    """A key of a gigabyte, announced in small pieces, ends at the limit; until then it takes its own length."""
    parser = FragmentParser(options)
    parser.feed('{"')
    tracemalloc.start()
    try:
        fed = 0
        while fed < 1024 * MIB and not parser.is_stopped:
            parser.feed("k" * 1000)
            fed += 1000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parser.error is not None
    assert (parser.error.code, parser.error.offset) == (code, 2 + most)
    assert fed == most // 1000 * 1000 + 1000
    assert peak < 200_000


@pytest.mark.parametrize("cut", [1, 7, 4096, 10 * MIB])
def test_keys_in_keys(cut: int) -> None:
    """The keys of one path count together, and the keys of closed values count no more."""
    text = "[" + '{"aaa":{"bbbbb":[0,{"cc":1}],"":{}}},' * 100 + '{"aaa":{"bbbbb":{"ccc'
    fragments = [text[at : at + cut] for at in range(0, len(text), cut)]
    error = error_of(fragments, max_path=11)
    assert error is not None
    assert error.code is Code.INCOMPLETE
    error = error_of(fragments, max_path=10)
    assert error is not None
    assert (error.code, error.offset) == (Code.MAX_PATH, len(text) - 1)
    assert error.path == (100, "aaa", "bbbbb")


@pytest.mark.parametrize("cut", [1, 7, 4096, 10 * MIB])
def test_an_endless_string(cut: int) -> None:
    """A string ends at `max_string`, and not a character more of it is told."""
    text = '["' + "x" * 30_000
    fragments = [text[at : at + cut] for at in range(0, len(text), cut)]
    seen = observe(fragments, max_string=10_000)
    assert seen.error is not None
    assert (seen.error.code, seen.error.offset) == (Code.MAX_STRING, 10_002)
    assert seen.value == ["x" * 10_000]


@pytest.mark.parametrize(
    ("limit", "text"),
    [("max_string", '"' + "\\ud83d\\ude00" * 3 * MIB), ("max_key", '{"' + "\\u0041" * 3 * MIB)],
    ids=["string", "key"],
)
def test_escapes_count_decoded(limit: str, text: str) -> None:
    """Limits of strings count what the text stands for, and stop in the middle of one long fragment."""
    error = error_of([text], **{limit: 1000})
    assert error is not None
    assert error.code == limit
    assert error.offset == len(text[:2].rstrip("\\")) + 1000 * (12 if limit == "max_string" else 6)


def test_the_whole_text() -> None:
    """A text without end ends at `max_chars`, white space and ignored values included."""
    for unit in (" ", "[],", "\n"):
        parser = FragmentParser(Options(max_chars=100_000))
        parser.feed("[")
        while not parser.is_stopped:
            parser.feed(unit * 999)
        assert isinstance(parser.error, LimitError)
        assert (parser.error.code, parser.error.offset) == (Code.MAX_CHARS, 100_000)


# Time


FRAGMENTS = 1_000_000 if COMPILED else 250_000

ENDLESS: dict[str, tuple[str, str]] = {
    "a string": ('["', "x"),
    "escapes": ('["', "\\u0041\\n"),
    "numbers": ("[1", ",1"),
    "white space": ("[", " \n"),
    "a key and another": ('{"a":0', ',"a":0'),
    "broken values": ("[0", ",x"),
    "what is skipped": ("[x", '{"a":["\\""]}'),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_one_character_at_a_time(name: str) -> None:
    """Very many fragments of one character are read to the end, where anything quadratic would never get."""
    start, unit = ENDLESS[name]
    parser = FragmentParser(Options(max_string=None, on_error="skip", max_errors=None))
    parser.feed(start)
    feed = parser.feed
    count = FRAGMENTS // len(ENDLESS) // len(unit)

    for _ in range(count):
        for character in unit:
            feed(character)
    assert not parser.is_stopped


@pytest.mark.long
def test_many_errors() -> None:
    """With recovery a text of nothing but errors is read in linear time, at any depth that is allowed."""
    text = "[" * 127 + "x," * 1000
    half = spent(lambda: error_of([text[:1127]], on_error="skip"))
    assert spent(lambda: error_of([text], on_error="skip")) < 4 * half + 0.2


# Whatever comes


texts = st.text(st.characters() | st.sampled_from('{}[],:"\\u0123456789eE+-.truefalsnl \n\ud83d\ude00'), max_size=40)
blobs = st.binary(max_size=40) | strategies.broken_bytes()
kinds: list[Callable[[bytes], Fragment]] = [bytes, bytearray, memoryview]
anything = st.lists(texts | st.builds(lambda kind, data: kind(data), st.sampled_from(kinds), blobs), max_size=6)


@given(anything, strategies.dialects(), st.sampled_from(["stop", "skip"]))
def test_nothing_but_our_own_errors(fragments: list[Fragment], dialect: dict[str, Any], on_error: str) -> None:
    """Whatever is fed, no exception leaves a parser; what is wrong is an event with a place inside the text."""
    options: dict[str, Any] = {**dialect, "on_error": on_error}
    parser = FragmentParser(Options(**options))
    events: list[Event] = []
    for fragment in fragments:
        events += parser.feed(fragment)
    events += parser.close()
    longest = sum(len(fragment) for fragment in fragments)
    for event in events:
        assert isinstance(event, Event)
        if event.kind is Kind.ERROR:
            assert isinstance(event.value, JSONSyntaxError)
            assert 0 <= event.value.offset <= longest
            assert str(event.value)
    assert parser.is_complete or parser.error is not None or dialect.get("multiple")
    assert not isinstance(parser.error, IncompleteJSONError) or parser.is_stopped


@given(st.binary(max_size=60), st.integers(1, 5))
def test_random_bytes(data: bytes, size: int) -> None:
    """Bytes at random say the same whole and cut."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert observe(pieces) == observe([data])


def test_threads() -> None:
    """Parsers in several threads know nothing of each other: each tells what it tells alone."""
    rounds = 5
    documents = [*corpus.DOCUMENTS.values(), *(text for text, _, _ in corpus.BROKEN[:20])]
    alone = [observe([text]) for text in documents]
    differences: list[tuple[int, str]] = []
    together = threading.Barrier(8)

    def work(number: int) -> None:
        shuffled = random.Random(number)
        together.wait()
        for _ in range(rounds):
            for index in shuffled.sample(range(len(documents)), len(documents)):
                text = documents[index]
                size = shuffled.randint(1, 9)
                seen: Observation = observe([text[at : at + size] for at in range(0, len(text), size)])
                if seen != alone[index]:
                    differences.append((number, text))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert differences == []


# Costs that grow with the square of the text would take minutes here


@pytest.mark.parametrize("options", [{}, {"on_error": "skip", "max_errors": None}, {"trailing": "ignore"}], ids=str)
@pytest.mark.parametrize("extract", [False, True])
@pytest.mark.parametrize("start", [b'["', b"", b"[]"])
def test_bytes_that_are_not_text(start: bytes, extract: bool, options: dict[str, Any]) -> None:
    """Each invalid byte costs the same, in a string, at the root, behind the value, and in prose."""
    seen = []
    for count in (3, 100_000):
        parser = FragmentParser(Options(**options), extract=extract)
        parser.feed(start + b"\xff" * count)
        parser.close()
        first = parser.error
        seen.append((parser.is_complete, parser.is_stopped, first and first.code))
    assert seen[0] == seen[1]


def test_keys_of_dropped_members() -> None:
    """A member that an error drops leaves no key behind, and costs no more than another one."""
    members = [f'"k{i}":{i}' for i in range(20_000)] + [f'"e{i}":x,"e{i}":{i}' for i in range(20_000)]
    options = Options(duplicate_keys="error", on_error="skip", max_errors=None)
    parser = ValueParser(options)
    parser.feed("{" + ",".join(members) + "}")
    assert len(parser.errors) == 20_000
    assert {error.code for error in parser.errors} == {Code.UNEXPECTED_CHARACTER}
    assert parser.close()["e19999"] == 19_999
    again = ValueParser(options)
    again.feed('{"a": {"a": 1, "a": 2}, "b": x, "b": [], "b": 3, "a": 4}')
    assert again.close() == {"a": {"a": 1}, "b": []}
    assert [error.code for error in again.errors if error.code is Code.DUPLICATE_KEY] == [Code.DUPLICATE_KEY] * 3
