"""FragmentParser: the events of each thing exactly, the life of a parser, and each option of the dialect."""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpus, strategies
from tests.support.observe import fold, observe
from tests.support.oracle import same
from unspool import Code, Event, FragmentParser, IncompleteJSONError, Kind, LimitError, Options, StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unspool import Fragment

Row = tuple[str, str, object, int, int]

ATOMS = {Kind.COMPLETE_NUMBER, Kind.COMPLETE_BOOLEAN, Kind.COMPLETE_NULL}
STARTS = {Kind.START_OBJECT, Kind.START_ARRAY, Kind.START_STRING}


def rows(events: Iterable[Event]) -> list[Row]:
    """kind, path, value, node id, offset; of an error, its code."""
    return [(e.kind.value, str(e.path), getattr(e.value, "code", e.value), e.node_id, e.offset) for e in events]


def feed(*fragments: Fragment, **options: Any) -> list[Event]:
    """All events of a text that ends behind these fragments."""
    parser = FragmentParser(Options(**options))
    return [event for fragment in fragments for event in parser.feed(fragment)] + parser.close()


def values(*fragments: Fragment, **options: Any) -> list[Any]:
    return fold(feed(*fragments, **options))


def codes(*fragments: Fragment, **options: Any) -> list[tuple[Code, int]]:
    return [(error.code, error.offset) for error in observe(fragments, **options).errors]


# The events


def test_the_events_of_a_document() -> None:
    """Each kind of event, with its path, value, node id and offset, as the documentation says."""
    text = '{"days": [{"title": "Fu\\u006ai"}, 12, true, null], "": ""}'
    assert rows(feed(text)) == [
        ("start_object", "$", None, 0, 0),
        ("start_array", "$.days", None, 1, 9),
        ("start_object", "$.days[0]", None, 2, 10),
        ("start_string", "$.days[0].title", None, 3, 20),
        ("partial_string", "$.days[0].title", "Fuji", 3, 21),
        ("complete_string", "$.days[0].title", "Fuji", 3, 30),
        ("end_object", "$.days[0]", None, 2, 31),
        ("complete_number", "$.days[1]", 12, 4, 36),
        ("complete_boolean", "$.days[2]", True, 5, 42),
        ("complete_null", "$.days[3]", None, 6, 48),
        ("end_array", "$.days", None, 1, 48),
        ("start_string", '$[""]', None, 7, 55),
        ("complete_string", '$[""]', "", 7, 56),
        ("end_object", "$", None, 0, 57),
    ]


def test_the_events_of_fragments() -> None:
    """An event comes with the fragment that makes it known, and a string grows with each."""
    parser = FragmentParser()
    assert rows(parser.feed('{"a": "he')) == [
        ("start_object", "$", None, 0, 0),
        ("start_string", "$.a", None, 1, 6),
        ("partial_string", "$.a", "he", 1, 7),
    ]
    assert rows(parser.feed("llo\\u")) == [("partial_string", "$.a", "llo", 1, 9)]
    assert rows(parser.feed("00")) == []
    assert rows(parser.feed('21", "b')) == [
        ("partial_string", "$.a", "!", 1, 12),
        ("complete_string", "$.a", "hello!", 1, 18),
    ]
    assert rows(parser.feed('": -1')) == []
    assert rows(parser.feed("2")) == []
    assert rows(parser.feed(" ")) == [("complete_number", "$.b", -12, 2, 29)]
    assert rows(parser.feed("}")) == [("end_object", "$", None, 0, 30)]
    assert rows(parser.close()) == []


OFFSETS: list[tuple[str, Row]] = [
    (" {}", ("start_object", "$", None, 0, 1)),
    (" {} ", ("end_object", "$", None, 0, 2)),
    ("[ [", ("start_array", "$[0]", None, 1, 2)),
    ("[ ]", ("end_array", "$", None, 0, 2)),
    (' "', ("start_string", "$", None, 0, 1)),
    (' "ab', ("partial_string", "$", "ab", 0, 2)),
    (' "\\n', ("partial_string", "$", "\n", 0, 2)),
    (' "\\ud83d\\ude00', ("partial_string", "$", "😀", 0, 2)),
    (' "ab"', ("complete_string", "$", "ab", 0, 4)),
    (' "\ud83d\ude00', ("partial_string", "$", "😀", 0, 2)),
    (' "\ud83d\ude00"', ("complete_string", "$", "😀", 0, 4)),
    ("[true]", ("complete_boolean", "$[0]", True, 1, 5)),
    ("[false ", ("complete_boolean", "$[0]", False, 1, 6)),
    ("[null,", ("complete_null", "$[0]", None, 1, 5)),
    ("[12]", ("complete_number", "$[0]", 12, 1, 3)),
    ("[12 ", ("complete_number", "$[0]", 12, 1, 3)),
    ("[-1.5e1,", ("complete_number", "$[0]", -15.0, 1, 7)),
    ("[12x", ("error", "$[0]", Code.INVALID_NUMBER, 0, 3)),
    ("[truex", ("error", "$[0]", Code.INVALID_LITERAL, 0, 5)),
    ("12 ", ("complete_number", "$", 12, 0, 2)),
    ("[x", ("error", "$[0]", Code.UNEXPECTED_CHARACTER, 0, 1)),
    ('["a\n', ("error", "$[0]", Code.CONTROL_CHARACTER, 1, 3)),
    ("x", ("error", "$", Code.UNEXPECTED_CHARACTER, -1, 0)),
]


@pytest.mark.parametrize(("text", "row"), OFFSETS, ids=ascii)
def test_offsets(text: str, row: Row) -> None:
    """The offset is that of the bracket, the quote, the last letter, what ends the number, the first new text."""
    parser = FragmentParser()
    assert row in rows(parser.feed(text))
    parser = FragmentParser()
    one_by_one = rows([event for character in text for event in parser.feed(character)])
    assert row[4] in [offset for kind, _, _, _, offset in one_by_one if kind == row[0]]


def test_offset_of_a_root_number() -> None:
    """A number that the end of the text ends is known there."""
    parser = FragmentParser()
    assert parser.feed("12") == []
    assert rows(parser.close()) == [("complete_number", "$", 12, 0, 2)]


@pytest.mark.parametrize("raw", ["0", "-0", "1.50", "1E+5", "-0.0e-00", "123456789012345678901234567890"])
def test_numbers_keep_their_spelling(raw: str) -> None:
    """`raw` is a number as the text spelled it, however it was cut; nothing else has one."""
    for fragments in strategies.every_cutting(raw) if len(raw) < 9 else [[raw], strategies.one_by_one(raw)]:
        events = feed("[true,", *fragments, ',"x"]')
        assert [event.raw for event in events if event.raw is not None] == [raw]


@given(strategies.cut(strategies.documents(halves=True)))
def test_strings_grow_by_what_is_new(cut: tuple[str, list[str]]) -> None:
    """A fragment gives at most one partial_string for each string, none of them empty; all together are the string."""
    parser = FragmentParser()
    texts: dict[int, str] = {}
    for fragment in cut[1]:
        events = parser.feed(fragment)
        grown = [event.node_id for event in events if event.kind is Kind.PARTIAL_STRING]
        assert len(grown) == len(set(grown))
        for event in events:
            if event.kind is Kind.PARTIAL_STRING:
                assert isinstance(event.value, str)
                assert event.value
                texts[event.node_id] = texts.get(event.node_id, "") + event.value
            elif event.kind is Kind.COMPLETE_STRING:
                assert event.value == texts.pop(event.node_id, "")
    assert texts == {}


@given(strategies.documents())
def test_node_ids_are_dense_and_in_document_order(text: str) -> None:
    """The nodes are numbered from 0 in the order in which they start; an end has the number of its start."""
    events = feed(text)
    started = [event.node_id for event in events if event.kind in STARTS or event.kind in ATOMS]
    assert started == list(range(len(started)))
    open_nodes: list[tuple[int, object]] = []
    for event in events:
        if event.kind in {Kind.START_OBJECT, Kind.START_ARRAY}:
            open_nodes.append((event.node_id, event.path))
        elif event.kind in {Kind.END_OBJECT, Kind.END_ARRAY}:
            assert open_nodes.pop() == (event.node_id, event.path)


# The fragments


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview], ids=lambda kind: str(kind.__name__))
@pytest.mark.parametrize("text", corpus.DOCUMENTS.values(), ids=list(corpus.DOCUMENTS))
def test_bytes_say_what_their_text_says(kind: Callable[[bytes], Fragment], text: str) -> None:
    """Bytes of every type, whole or one by one, give the events of the text that they are in UTF-8."""
    data = text.encode()
    assert feed(kind(data)) == feed(text)
    assert observe(kind(byte) for byte in strategies.one_by_one(data)) == observe([text])


def test_bytes_are_not_kept() -> None:
    """What a caller does with a buffer after it was fed makes no difference."""
    parser = FragmentParser()
    buffer = bytearray('["é'.encode()[:-1])
    parser.feed(buffer)
    buffer[:] = b"XXXXX"
    assert rows(parser.feed(b"\xa9")) == [("partial_string", "$[0]", "é", 1, 2)]


@pytest.mark.parametrize("fragment", [None, 1, ["["], {"a": 1}, ...], ids=repr)
def test_other_types_are_refused(fragment: Any) -> None:
    """A fragment that is neither text nor bytes is a TypeError, and the parser goes on as if nothing had been."""
    parser = FragmentParser()
    parser.feed('["a')
    with pytest.raises(TypeError, match=f"not {type(fragment).__name__}$"):
        parser.feed(fragment)
    assert rows(parser.feed('b"]'))[-1] == ("end_array", "$", None, 0, 5)


def test_str_and_bytes_may_be_mixed() -> None:
    """The fragments of one text may be of different types, cut between characters."""
    assert values('["é', "é".encode(), bytearray(b'","'), memoryview(b"x"), '"]') == [["éé", "x"]]


@pytest.mark.parametrize("rest", ["x", '"', "é"])
def test_text_after_half_a_character(rest: str) -> None:
    """Text behind half a character is an error where that character stands."""
    assert codes(b'"a\xc3', rest) == [(Code.INVALID_UTF8, 2)]
    assert codes(b'{"a\xf0\x9f', rest) == [(Code.INVALID_UTF8, 3)]


@pytest.mark.parametrize("nothing", [b"", ""])
def test_empty_fragments_are_nothing(nothing: Fragment) -> None:
    """An empty fragment, of either type, leaves half a character waiting."""
    assert values(nothing, b'"\xc3', nothing, b"\xa9", nothing, b'"', nothing) == ["é"]


def test_half_a_character_at_the_end() -> None:
    """A text that ends inside of a character is incomplete, where that character stands."""
    assert codes(b'"a\xc3') == [(Code.INCOMPLETE, 2)]


# The life of a parser


def test_states_of_a_parser() -> None:
    """What a parser says of itself at each moment of a text that is right."""
    parser = FragmentParser()

    def state() -> tuple[bool, bool, object, tuple[object, ...]]:
        return parser.is_complete, parser.is_stopped, parser.error, parser.errors

    for fragment in ("", " ", "[", "1", ",", '"x', '"'):
        parser.feed(fragment)
        assert state() == (False, False, None, ())
    for fragment in ("]", "", "\n"):
        parser.feed(fragment)
        assert state() == (True, False, None, ())
    assert parser.close() == []
    assert state() == (True, False, None, ())


def test_states_of_a_parser_at_an_error() -> None:
    """From the first error on nothing is complete, nothing more is read, and the error stays the same."""
    parser = FragmentParser()
    (event,) = parser.feed("x")
    error = parser.error
    assert error is event.value
    for fragment in ("", "1", "]", b"\xff", "x"):
        assert parser.feed(fragment) == []
        assert (parser.is_complete, parser.is_stopped) == (False, True)
        assert parser.error is error
        assert parser.errors == (error,)
    assert parser.close() == []


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("", False, False),
        ("[", False, False),
        ("12", False, True),
        ("-", False, False),
        ("true", False, True),
        ("tru", False, False),
    ],
)
def test_is_complete_before_and_after_the_end(text: str, before: bool, after: bool) -> None:
    """A number or a literal at the root is complete when the text has ended; what lacks its end never is."""
    parser = FragmentParser()
    parser.feed(text)
    assert parser.is_complete is before
    parser.close()
    assert parser.is_complete is after
    assert parser.is_stopped is not after
    assert after or isinstance(parser.error, IncompleteJSONError)


def test_trailing_text_takes_completeness_away() -> None:
    """What was complete no longer is when text follows that may not."""
    parser = FragmentParser()
    parser.feed("{}")
    assert parser.is_complete
    parser.feed("x")
    assert not parser.is_complete


def test_close_twice() -> None:
    """Closing a second time tells nothing new."""
    parser = FragmentParser()
    parser.feed("[")
    assert rows(parser.close()) == [("error", "$[0]", Code.INCOMPLETE, 0, 1)]
    assert parser.close() == []
    assert len(parser.errors) == 1


@pytest.mark.parametrize("fragment", ["", "1", b"", b"1", None])
def test_feed_after_close(fragment: Any) -> None:
    """A closed parser takes no fragment at all, not even an empty one."""
    parser = FragmentParser()
    parser.feed("1")
    parser.close()
    with pytest.raises(StateError, match=r"closed; call reset\(\)"):
        parser.feed(fragment)


@pytest.mark.parametrize("before", ["", "[1,", '{"a": "\\ud83', b'"\xc3', "x", "1", '{"a":1}', '{"a":{"a":1,"a'])
@pytest.mark.parametrize("is_closed", [False, True])
def test_reset(before: Fragment, is_closed: bool) -> None:
    """After a reset a parser is as new, with its options, wherever it was."""
    parser = FragmentParser(Options(duplicate_keys="error"))
    parser.feed(before)
    if is_closed:
        parser.close()
    parser.reset()
    assert (parser.is_complete, parser.is_stopped, parser.error, parser.errors) == (False, False, None, ())
    text = '{"a": [1, "é"], "a": 2}'
    assert parser.feed(text) + parser.close() == feed(text, duplicate_keys="error")


def test_what_was_read_is_not_kept() -> None:
    """The memory of a parser is that of what is open, and does not grow with the text."""
    row = '{"id": 12345, "title": "' + "Morning Game Drive, " * 24 + '", "tags": [null]}, '
    fragment = row * (1024 // len(row))
    parser = FragmentParser()
    parser.feed("[" + fragment)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(5 * 1024):
            parser.feed(fragment)
        gc.collect()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
    assert peak - before < 200_000  # the events of one fragment, with what they hold


# The dialect


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("1", [1]),
        ("1 2\n3", [1, 2, 3]),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("{}[]{}", [{}, [], {}]),
        ('"a""b"true "c"null', ["a", "b", True, "c", None]),
        ("true false", [True, False]),
        ("\n\n[1]\r\n\r\n[2]", [[1], [2]]),
    ],
)
def test_multiple(text: str, expected: list[Any]) -> None:
    """With `multiple` values follow one another, with or without space; no value at all is fine, too."""
    for seen in (
        observe([text], multiple=True),
        observe(strategies.one_by_one(text), multiple=True),
        observe(strategies.one_by_one(text.encode()), multiple=True),
    ):
        assert same(seen.values, expected)
        assert (seen.errors, seen.is_complete) == ([], bool(expected))


def test_multiple_starts_anew() -> None:
    """Each value has its own root: paths start anew, while node ids and offsets go on."""
    assert rows(feed('["a"] [true]', multiple=True)) == [
        ("start_array", "$", None, 0, 0),
        ("start_string", "$[0]", None, 1, 1),
        ("partial_string", "$[0]", "a", 1, 2),
        ("complete_string", "$[0]", "a", 1, 3),
        ("end_array", "$", None, 0, 4),
        ("start_array", "$", None, 2, 6),
        ("complete_boolean", "$[0]", True, 3, 11),
        ("end_array", "$", None, 2, 11),
    ]


@pytest.mark.parametrize(
    ("text", "offset", "told"),
    [
        ("1[", 1, []),
        ("0 1.5{", 5, [0]),
        ("12true", 2, []),
        ("01", 1, []),
        ("-0-1", 2, []),
        ('1"a"', 1, []),
        ("{}1{}", 3, [{}]),
    ],
)
def test_multiple_numbers_end_at_space(text: str, offset: int, told: list[Any]) -> None:
    """A number at the root ends at white space, or else 01 would be two numbers; a broken one is not told."""
    for fragments in ([text], strategies.one_by_one(text)):
        seen = observe(fragments, multiple=True)
        assert [(error.code, error.offset) for error in seen.errors] == [(Code.INVALID_NUMBER, offset)]
        assert same(seen.values, told)


@pytest.mark.parametrize(
    ("text", "offset", "told"),
    [("truefalse", 4, []), ("[1]null{}", 7, [[1]]), ('true"a"', 4, []), ("1 falsey", 7, [1])],
)
def test_multiple_literals_end_at_space(text: str, offset: int, told: list[Any]) -> None:
    """The same for literals: what goes on is another word."""
    for fragments in ([text], strategies.one_by_one(text)):
        seen = observe(fragments, multiple=True)
        assert [(error.code, error.offset) for error in seen.errors] == [(Code.INVALID_LITERAL, offset)]
        assert same(seen.values, told)


PLACES = [("", "$"), ("[", "$[0]"), ("[0, ", "$[1]"), ('{"a": ', "$.a"), ('{"a": [', "$.a[0]"), ('[{"b": ', "$[0].b")]
AFTER_ATOMS = "xX0'\"\\/:;_-+.e{[#\x00\x0b\u2028\ud83d\uff0c"


@pytest.mark.parametrize(("before", "path"), PLACES)
@pytest.mark.parametrize("options", [{}, {"multiple": True}, {"trailing": "ignore"}], ids=str)
@pytest.mark.parametrize("atom", ["0", "-7.5e3", "true", "false", "null"])
def test_an_atom_ends_at_its_border(atom: str, before: str, path: str, options: dict[str, Any]) -> None:
    """At every place, an atom ends only before white space, a comma or a closing bracket; otherwise it is broken.

    The broken atom is not told. The error is at the first wrong character, in the path of the atom.
    """
    text = before + atom
    code = Code.INVALID_LITERAL if atom.isalpha() else Code.INVALID_NUMBER
    told = rows(FragmentParser(Options(**options)).feed(before))
    for after in AFTER_ATOMS:
        if (atom, after) in {("0", "."), ("0", "e"), ("-7.5e3", "0")}:
            continue
        for fragments in ([text + after], [text, after], strategies.one_by_one(text + after)):
            parser = FragmentParser(Options(**options))
            seen = rows([event for fragment in fragments for event in parser.feed(fragment)])
            assert seen[:-1] == told
            assert (seen[-1][:3], seen[-1][4]) == (("error", path, code), len(text)), (text, after)
    for after in " \t\r\n,]}":
        parser = FragmentParser(Options(**options))
        assert rows(parser.feed(text)) == told
        atom_row = rows(parser.feed(after))[0]
        assert (atom_row[1], atom_row[2], atom_row[4]) == (path, json.loads(atom), len(text))


@pytest.mark.parametrize("text", ["{} [", "1 -", '"a" "b', "{} tru"])
def test_multiple_may_end_too_early(text: str) -> None:
    """The last of several values may be incomplete."""
    assert codes(text, multiple=True) == [(Code.INCOMPLETE, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[1,]", [1]), ('{"a":1,}', {"a": 1}), ('[[1 , ],{"a":"b",\n},]', [[1], {"a": "b"}])],
)
def test_trailing_commas(text: str, expected: Any) -> None:
    """With `trailing_commas` one comma may stand before a closing bracket; without, none."""
    assert values(text, trailing_commas=True) == [expected]
    assert codes(text)[0][0] is Code.UNEXPECTED_CHARACTER


@pytest.mark.parametrize(
    ("text", "offset"), [("[,]", 1), ("{,}", 1), ("[1,,]", 3), ('{"a":1,,}', 7), ("[1,}", 3), ('{"a":1,]', 7), (",", 0)]
)
def test_trailing_commas_are_single(text: str, offset: int) -> None:
    """No option allows two commas in a row, or one before there is any value."""
    assert codes(text, trailing_commas=True) == [(Code.UNEXPECTED_CHARACTER, offset)]


@pytest.mark.parametrize("rest", ["x", "]", "{", '"', " 1", "\n[", b"\xff", b"\xc3", "\x00"])
@pytest.mark.parametrize(("text", "value"), [("{}", {}), ('"a"', "a"), ("12 ", 12), ("null,", None)])
def test_trailing_is_ignored(text: str, value: object, rest: Fragment) -> None:
    """With trailing="ignore" whatever follows the value is not even looked at."""
    parser = FragmentParser(Options(trailing="ignore"))
    events = parser.feed(text)
    assert parser.is_complete
    assert parser.feed(rest) == []
    assert parser.feed(rest) == []
    assert parser.close() == []
    assert parser.is_complete
    assert fold(events) == [value]


def test_trailing_is_ignored_after_a_number() -> None:
    """What ends a number at the root is ignored with the rest, and the limit of the text does not count there."""
    assert values("12, x", trailing="ignore") == [12]
    assert values("1.5]", trailing="ignore") == [1.5]
    assert codes("12x", trailing="ignore") == [(Code.INVALID_NUMBER, 2)]
    assert codes("[1]" + "x" * 100, trailing="ignore", max_chars=5) == []


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("1.5", Decimal("1.5")),
        ("0.1", Decimal("0.1")),
        ("1.10", Decimal("1.10")),
        ("1e5", Decimal("1E+5")),
        ("-0.0", Decimal("-0.0")),
        ("1e400", Decimal("1E+400")),
        ("1e-400", Decimal("1E-400")),
        ("0." + "3" * 50, Decimal("0." + "3" * 50)),
        ("12", 12),
        ("-0", 0),
    ],
)
def test_decimals(raw: str, value: Decimal | int) -> None:
    """With floats="decimal" fractions and exponents are exact; whole numbers stay ints."""
    for fragments in ([f"[{raw}]"], strategies.one_by_one(f"[{raw}]")):
        (seen,) = observe(fragments, floats="decimal").value
        assert (type(seen), str(seen)) == (type(value), str(value))


@pytest.mark.parametrize("raw", ["1e9999999999999999999", "-1.5E+99999999999999999999", "1e" + "9" * 900])
def test_decimals_have_an_end_too(raw: str) -> None:
    """An exponent beyond what decimal holds is an error of ours, where the number ends."""
    for fragments in ([f"[{raw}]"], strategies.one_by_one(f"[{raw}]")):
        assert codes(*fragments, floats="decimal") == [(Code.NUMBER_OVERFLOW, 1 + len(raw))]


@pytest.mark.parametrize(
    ("text", "replaced", "kept", "refused_at"),
    [
        (r'"\ud83d"', "\ufffd", "\ud83d", 7),
        (r'"\ude00"', "\ufffd", "\ude00", 4),
        (r'"a\ud83dx"', "a\ufffdx", "a\ud83dx", 8),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀", "\ud83d😀", 10),
        (r'"\ude00\ud83d"', "\ufffd\ufffd", "\ude00\ud83d", 4),
        (r'"\ud83d\n"', "\ufffd\n", "\ud83d\n", 8),
        (r'"\ud83d\u0041"', "\ufffdA", "\ud83dA", 9),
    ],
)
def test_surrogates(text: str, replaced: str, kept: str, refused_at: int) -> None:
    """Half a surrogate pair is replaced, kept, or refused at the first character that makes it half."""
    for fragments in ([text], strategies.one_by_one(text)):
        assert values(*fragments) == [replaced]
        assert values(*fragments, surrogates="keep") == [kept]
        assert codes(*fragments, surrogates="error") == [(Code.LONE_SURROGATE, refused_at)]


@pytest.mark.parametrize("surrogates", ["replace", "keep", "error"])
def test_surrogate_pairs(surrogates: str) -> None:
    """Both halves of a pair, one after the other, are one character under every policy."""
    for fragments in strategies.every_single_cut(r'"\ud83d\uDE00"'):
        assert values(*fragments, surrogates=surrogates) == ["😀"]


def test_surrogates_in_keys() -> None:
    """Keys are strings: the policy holds for them as well, and is seen in the paths."""
    text = r'{"\ud83d": 1}'
    assert feed(text)[1].path == ("\ufffd",)
    assert feed(text, surrogates="keep")[1].path == ("\ud83d",)
    assert codes(text, surrogates="error") == [(Code.LONE_SURROGATE, 8)]


@pytest.mark.parametrize(
    ("text", "offset", "path"),
    [
        ('{"a": 1, "a": 2}', 11, ("a",)),
        ('{"": 1, "": 2}', 9, ("",)),
        (r'{"a": 1, "\u0061": 2}', 16, ("a",)),
        ('[{"a": {"b": 1, "a": 2, "b"', 26, (0, "a", "b")),
        ('{"a": {"x": 1}, "b": 2, "a"', 26, ("a",)),
    ],
)
def test_duplicate_keys(text: str, offset: int, path: tuple[str | int, ...]) -> None:
    """With duplicate_keys="error" a key that comes twice is an error at its closing quote, in that member."""
    for fragments in ([text], strategies.one_by_one(text)):
        (error,) = observe(fragments, duplicate_keys="error").errors
        assert (error.code, error.offset, error.path) == (Code.DUPLICATE_KEY, offset, path)


def test_duplicate_keys_are_told() -> None:
    """By default a key may come again: its events have the same path and another node id."""
    events = feed('{"a": 1, "a": 2}')
    numbers = [(str(event.path), event.node_id, event.value) for event in events if event.kind in ATOMS]
    assert numbers == [("$.a", 1, 1), ("$.a", 2, 2)]


@pytest.fixture
def few_digits() -> Iterator[None]:
    """Let the interpreter convert no more than 640 digits."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("few_digits")
@pytest.mark.parametrize("text", ["[" + "1" * 700 + "]", "-" + "1" * 700, '{"a":' + "1" * 700 + ","])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_numbers_beyond_what_the_interpreter_converts(text: str, on_error: str) -> None:
    """A number that int() refuses, by a limit of its own, is a LimitError where the number ends."""
    dialect: dict[str, Any] = {"on_error": on_error}
    for fragments in ([text], strategies.one_by_one(text)):
        parser = FragmentParser(Options(**dialect))
        for fragment in fragments:
            parser.feed(fragment)
        parser.close()
        assert isinstance(parser.error, LimitError)
        assert (parser.error.code, parser.error.offset) == (Code.MAX_NUMBER, text.rindex("1") + 1)
        assert parser.is_stopped


@given(strategies.documents(small=True), st.sampled_from([None, 10**30]))
def test_limits_may_be_taken_away(text: str, limit: int | None) -> None:
    """Without limits, or with limits beyond everything, a text reads as it does with them."""
    unlimited = dict.fromkeys(("max_depth", "max_chars", "max_string", "max_key", "max_path", "max_number"), limit)
    assert observe([text], **unlimited) == observe([text])


# JSON in other text


def extract(*fragments: Fragment, **options: Any) -> tuple[list[Row], list[tuple[int, int]]]:
    """The events of what is JSON, and the offset and length of what is not."""
    parser = FragmentParser(Options(**options), extract=True)
    events = [event for fragment in fragments for event in parser.feed(fragment)] + parser.close()
    return rows(events), [(skipped.offset, skipped.length) for skipped in parser.skipped]


def test_places_count_in_the_whole_text() -> None:
    """What is not JSON is skipped and told; offsets, lines and columns count it all the same."""
    text = "Sure:\n```json\n[1, x]\n```\n"
    for fragments in ([text], strategies.one_by_one(text), strategies.one_by_one(text.encode())):
        events, skipped = extract(*fragments)
        assert events == [
            ("start_array", "$", None, 0, 14),
            ("complete_number", "$[0]", 1, 1, 16),
            ("error", "$[1]", Code.UNEXPECTED_CHARACTER, 0, 18),
        ]
        assert skipped[:2] == [(0, 6), (6, 8)]  # the prose, the fence
        parser = FragmentParser(extract=True)
        for fragment in fragments:
            parser.feed(fragment)
        assert parser.error is not None
        assert (parser.error.line, parser.error.column) == (3, 5)


def test_limits_count_what_is_skipped() -> None:
    """An endless prologue ends at `max_chars`."""
    prose = "This is a long story. "
    for fragments in ([prose * 9], [prose] * 9, strategies.one_by_one(prose * 9)):
        events, _ = extract(*fragments, max_chars=100)
        assert events == [("error", "$", Code.MAX_CHARS, -1, 100)]


def test_without_extract_nothing_is_skipped() -> None:
    """By default there is nothing but JSON."""
    parser = FragmentParser()
    parser.feed("[1] ")
    parser.close()
    assert parser.skipped == ()
