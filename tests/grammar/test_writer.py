"""_grammar/writer.py: events to text, exactly, piece by piece; and what it refuses to write."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.observe import observe
from tests.support.oracle import same
from unspool import Code, Event, FragmentParser, JSONSyntaxError, Kind, Options, Path, Position, StateError
from unspool._grammar.writer import Writer
from unspool._path import ROOT

ITEM = ROOT / 0
MEMBER = ROOT / "a"

START_OBJECT = Event(Kind.START_OBJECT, ROOT)
END_OBJECT = Event(Kind.END_OBJECT, ROOT)
START_ARRAY = Event(Kind.START_ARRAY, ROOT)
END_ARRAY = Event(Kind.END_ARRAY, ROOT)
START_STRING = Event(Kind.START_STRING, ROOT)
ERROR = Event(Kind.ERROR, ROOT, JSONSyntaxError(Code.UNEXPECTED_CHARACTER, Position(0, 1, 1), ROOT))


def number(value: object, path: Path = ROOT, raw: str | None = None) -> Event:
    return Event(Kind.COMPLETE_NUMBER, path, value, raw=raw)


def rewrite(*fragments: str, **options: Any) -> str:
    """What the events of a text say, written anew."""
    parser, writer = FragmentParser(Options(**options)), Writer()
    return "".join([writer.write(parser.feed(fragment)) for fragment in fragments]) + writer.write(parser.close())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (" { } ", "{}"),
        ("[ ]", "[]"),
        ("[ 1 , 2 , [ ] , { } ]", "[1,2,[],{}]"),
        ('{ "a" : { "b" : [ true , false , null ] } , "c" : "" }', '{"a":{"b":[true,false,null]},"c":""}'),
        ('{"": 1, "a.b": 2, "\\u0061": 3}', '{"":1,"a.b":2,"a":3}'),
        ('{"a": 1, "a": 2}', '{"a":1,"a":2}'),
        ('"\\u00e9\\/\\u000a\\"\\\\\\u001f"', '"é/\\n\\"\\\\\\u001f"'),
        ('{"\\"": "\\\\"}', '{"\\"":"\\\\"}'),
        ("[1.0, 1.50, 1E+5, -0, 0e-00, 12345678901234567890123]", "[1.0,1.50,1E+5,-0,0e-00,12345678901234567890123]"),
        ('"\\ud83d\\ude00"', '"😀"'),
        ('"\\ud83d"', '"\ufffd"'),
        ("12", "12"),
        ("null", "null"),
    ],
)
def test_exact_texts(text: str, written: str) -> None:
    """The text is canonical: no space, the plainest spelling of strings, and numbers as they came."""
    assert rewrite(text) == written
    assert rewrite(*text) == written


def test_halves_of_pairs_are_escaped() -> None:
    """Half a surrogate pair, in a key or a value, is written as an escape, so that the text can be encoded."""
    text = '{"\\ud83d":"a\\ude00"}'
    assert rewrite(text, surrogates="keep") == text


def test_several_values() -> None:
    """Values that follow one another are written one a line."""
    assert rewrite('1 "a"{"b":[]}[2] null', multiple=True) == '1\n"a"\n{"b":[]}\n[2]\nnull'


@given(strategies.cut(strategies.documents(halves=True)), st.sampled_from(["replace", "keep"]))
def test_what_is_written_says_the_same(cut: tuple[str, list[str]], surrogates: str) -> None:
    """However the text was cut, what is written reads as the same value, and writing that again changes nothing."""
    text, fragments = cut
    written = rewrite(*fragments, surrogates=surrogates)
    assert same(observe([written], surrogates=surrogates).values, observe([text], surrogates=surrogates).values)
    assert written == rewrite(text, surrogates=surrogates) == rewrite(written, surrogates=surrogates)


def test_a_string_grows_in_the_text() -> None:
    """An open string is open in the text; each piece is escaped on its own, and the end adds what no piece brought."""
    writer = Writer()
    assert writer.write_one(START_STRING) == '"'
    assert writer.write_one(Event(Kind.PARTIAL_STRING, ROOT, 'a"')) == 'a\\"'
    assert writer.write_one(Event(Kind.PARTIAL_STRING, ROOT, "\n")) == "\\n"
    assert not writer.is_complete
    assert writer.write_one(Event(Kind.COMPLETE_STRING, ROOT, 'a"\n\tend')) == '\\tend"'
    assert writer.is_complete


def test_a_whole_string_needs_no_start() -> None:
    """A complete_string on its own is written whole."""
    writer = Writer()
    events = [START_OBJECT, Event(Kind.COMPLETE_STRING, MEMBER, "x\n"), END_OBJECT]
    assert writer.write(events) == '{"a":"x\\n"}'


@pytest.mark.parametrize(
    ("events", "is_complete"),
    [
        ([], False),
        ([number(1)], True),
        ([START_ARRAY], False),
        ([START_ARRAY, number(1, ITEM)], False),
        ([START_ARRAY, END_ARRAY], True),
        ([START_ARRAY, END_ARRAY, START_ARRAY], False),
        ([START_STRING], False),
        ([Event(Kind.COMPLETE_STRING, ROOT, "")], True),
        ([START_STRING, Event(Kind.COMPLETE_STRING, ROOT, "")], True),
        ([ERROR], False),
    ],
)
def test_is_complete(events: list[Event], is_complete: bool) -> None:
    """The text is complete when there is a value and nothing is open."""
    writer = Writer()
    writer.write(events)
    assert writer.is_complete is is_complete


class Level(IntEnum):
    HIGH = 3


class Metres(float):
    """A float that shows itself otherwise."""

    def __repr__(self) -> str:
        return f"Metres({float(self)})"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-12, "-12"),
        (10**400, "1" + "0" * 400),
        (Level.HIGH, "3"),
        (1.5, "1.5"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
        (Metres(1.5), "1.5"),
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+5"), "1E+5"),
        (Decimal("1E+400"), "1E+400"),
        (Decimal("-0"), "-0"),
    ],
    ids=lambda case: repr(case)[:20],
)
def test_numbers_without_a_spelling(value: object, text: str) -> None:
    """A number that comes without its source text is written so that it reads as the same number."""
    assert Writer().write_one(number(value)) == text
    assert json.loads(text, parse_float=type(value) if isinstance(value, Decimal) else float) == value


def test_a_spelling_goes_before_the_value() -> None:
    """A number is written as its source spelled it."""
    assert Writer().write_one(number(100.0, raw="1E2")) == "1E2"


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        float("-inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        True,
        None,
        "1",
        1j,
        10**5000,
    ],
    ids=lambda value: "10**5000" if isinstance(value, int) and value > 10**4300 else repr(value),
)
def test_what_is_no_number_is_refused(value: object) -> None:
    """NaN, infinities, what is no number, and what the interpreter will not convert to digits, are refused."""
    with pytest.raises(StateError, match=r"^complete_number without a number that JSON can write$"):
        Writer().write_one(number(value))


MISUSE: list[tuple[list[Event], Event, str]] = [
    ([], END_OBJECT, "end_object does not fit what is open"),
    ([], END_ARRAY, "end_array does not fit what is open"),
    ([START_OBJECT], END_ARRAY, "end_array does not fit what is open"),
    ([START_ARRAY], END_OBJECT, "end_object does not fit what is open"),
    ([], Event(Kind.PARTIAL_STRING, ROOT, "x"), "partial_string, but no string is open"),
    ([START_STRING], START_STRING, "start_string, but a string is open"),
    ([START_STRING], END_ARRAY, "end_array, but a string is open"),
    ([START_STRING], number(1), "complete_number, but a string is open"),
    ([START_STRING], Event(Kind.PARTIAL_STRING, ROOT, None), "a string event without text"),
    ([START_STRING], Event(Kind.COMPLETE_STRING, ROOT, 1), "a string event without text"),
    ([], Event(Kind.COMPLETE_STRING, ROOT, None), "a string event without text"),
    ([START_ARRAY], Event(Kind.COMPLETE_STRING, ITEM, None), "a string event without text"),
    ([START_ARRAY], number(float("nan"), ITEM), "complete_number without a number that JSON can write"),
    ([START_OBJECT], number(1, ROOT), "complete_number in an object needs a key as its last step"),
    ([START_OBJECT], number(1, ITEM), "complete_number in an object needs a key as its last step"),
    ([START_OBJECT], Event(Kind.START_STRING, ITEM), "start_string in an object needs a key as its last step"),
    ([START_OBJECT], Event(Kind.START_ARRAY, ITEM), "start_array in an object needs a key as its last step"),
]


@pytest.mark.parametrize(("before", "event", "reason"), MISUSE, ids=lambda case: case if isinstance(case, str) else "")
def test_misuse(before: list[Event], event: Event, reason: str) -> None:
    """An event that does not fit what is open is refused, and what was written can still be finished."""
    writer, twin = Writer(), Writer()
    written = writer.write(before)
    twin.write(before)
    with pytest.raises(StateError, match=f"^{reason}$"):
        writer.write_one(event)
    finish: list[Event] = []
    if START_STRING in before:
        finish = [Event(Kind.COMPLETE_STRING, ROOT, "x")]
    elif START_OBJECT in before:
        finish = [number(2, MEMBER), END_OBJECT]
    elif START_ARRAY in before:
        finish = [number(2, ITEM), END_ARRAY]
    rest = writer.write(finish)
    assert rest == twin.write(finish)
    assert not finish or observe([written + rest]).is_complete


def test_errors_write_nothing() -> None:
    """An error adds no text, but closes a string that it broke; what follows is written as usual."""
    writer = Writer()
    assert writer.write([START_ARRAY, ERROR, number(1, ITEM), ERROR]) == "[1"
    assert writer.write_one(Event(Kind.START_STRING, ITEM)) == ',"'
    assert writer.write_one(Event(Kind.PARTIAL_STRING, ITEM, "ab")) == "ab"
    assert writer.write_one(ERROR) == '"'
    assert writer.write_one(END_ARRAY) == "]"


@given(strategies.broken_documents(small=True))
def test_what_recovery_leaves_can_be_written(text: str) -> None:
    """The events of a text that was broken and read on write a text that breaks nowhere."""
    written = rewrite(text, on_error="skip")
    assert [error.code for error in observe([written]).errors] in ([], [Code.INCOMPLETE])
