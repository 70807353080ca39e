"""on_error="skip": what remains of a broken text, and which errors are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import corpus, strategies
from tests.support.observe import Fold, Observation, observe
from tests.support.oracle import MISSING, same
from unspool import (
    Code,
    FragmentParser,
    Kind,
    LimitError,
    Options,
    ParserState,
    create_state,
    finalize,
    parse_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool import Fragment

UNEXPECTED = Code.UNEXPECTED_CHARACTER
INCOMPLETE = Code.INCOMPLETE


def skip(fragments: Iterable[Fragment], **options: Any) -> Observation:
    return observe(fragments, on_error="skip", **options)


# text, what remains, the codes of the errors
REMAINS: list[tuple[str, Any, list[Code]]] = [
    # no error, nothing skipped
    ('{"a": [1, "x"]}', {"a": [1, "x"]}, []),
    # a value that is none
    ("[x]", [], [UNEXPECTED]),
    ("[1, x, 2]", [1, 2], [UNEXPECTED]),
    ("[x, y, z]", [], [UNEXPECTED] * 3),
    ('{"a": x, "b": 2}', {"b": 2}, [UNEXPECTED]),
    ('{"a": NaN}', {}, [UNEXPECTED]),
    ("[1, 'a, b', 2]", [1, 2], [UNEXPECTED, UNEXPECTED]),
    ('[x "a, ]", 1]', [1], [UNEXPECTED]),
    ("[x [1, 2] {3, 4}, 5]", [5], [UNEXPECTED]),
    ("[{3, 4}, 5]", [{}, 5], [UNEXPECTED, UNEXPECTED]),
    ('[x {"a": [1, "]"]}, 5]', [5], [UNEXPECTED]),
    # literals and numbers that are broken
    ("[tru, 1]", [1], [Code.INVALID_LITERAL]),
    ("[nulL, 1]", [1], [Code.INVALID_LITERAL]),
    ("[-, 1]", [1], [Code.INVALID_NUMBER]),
    ("[1., 1]", [1], [Code.INVALID_NUMBER]),
    ("[1.5.5, 1]", [1], [Code.INVALID_NUMBER]),
    ("[01, 1]", [1], [Code.INVALID_NUMBER]),
    ('{"due": 2024-01-15, "n": 1_000, "ok": 1}', {"ok": 1}, [Code.INVALID_NUMBER] * 2),
    ('{"on": trueish, "n": nullable, "ok": 1}', {"ok": 1}, [Code.INVALID_LITERAL] * 2),
    ("[1[2, 3], 4]", [4], [Code.INVALID_NUMBER]),
    ('{"a": 1"b": 2, "c": 3}', {"c": 3}, [Code.INVALID_NUMBER]),
    ("[1e999, 1]", [1], [Code.NUMBER_OVERFLOW]),
    ("[" + "9" * 400 + ".0, 1]", [1], [Code.NUMBER_OVERFLOW]),
    # commas, colons, keys
    ("[1 2, 3]", [1, 3], [UNEXPECTED]),
    ('["a" "b, c", 3]', ["a", 3], [UNEXPECTED]),
    ("[,1]", [1], [UNEXPECTED]),
    ("[1,]", [1], [UNEXPECTED]),
    ("[1,,2]", [1, 2], [UNEXPECTED]),
    ("{,}", {}, [UNEXPECTED, UNEXPECTED]),
    ('{"a": 1,}', {"a": 1}, [UNEXPECTED]),
    ('{"a" 1, "b": 2}', {"b": 2}, [UNEXPECTED]),
    ('{"a":, "b": 2}', {"b": 2}, [UNEXPECTED]),
    ('{"a": 1 "c": 3, "b": 2}', {"a": 1, "b": 2}, [UNEXPECTED]),
    ('{a: 1, "b": 2}', {"b": 2}, [UNEXPECTED]),
    ('{1: [1, 2], "b": 2}', {"b": 2}, [UNEXPECTED]),
    # a bracket that fits no open container is passed over
    ("[1}, 2]", [1, 2], [UNEXPECTED]),
    ('{"a": 1], "b": 2}', {"a": 1, "b": 2}, [UNEXPECTED]),
    ('{"a": [1}, "b": 2]}', {"a": [1], "b": 2}, [UNEXPECTED, UNEXPECTED]),
    # a wrong bracket closes the innermost container, and what follows tells whether it closed more of them
    ('{"a": [1, 2}, "b": 3, "c": {"d": 4}}', {"a": [1, 2], "b": 3, "c": {"d": 4}}, [UNEXPECTED]),
    ('{"a": [{"b": 2], "c": 3}', {"a": [{"b": 2}], "c": 3}, [UNEXPECTED]),
    ('{"x": {"a": [1, 2}, "b": 3}, "y": 4}', {"x": {"a": [1, 2], "b": 3}, "y": 4}, [UNEXPECTED]),
    ('[{"a": [1, 2}, "b": 3}, {"y": 4}]', [{"a": [1, 2], "b": 3}, {"y": 4}], [UNEXPECTED]),
    ('[{"a": [1, 2}, {"y": 4}]', [{"a": [1, 2]}, {"y": 4}], [UNEXPECTED]),
    ('[{"a": [1, 2}, "y"]', [{"a": [1, 2]}, "y"], [UNEXPECTED]),
    ('[{"a": [1, 2} , "" , 7]', [{"a": [1, 2]}, "", 7], [UNEXPECTED]),
    ('[{"a": [1, 2}, true, "x\\u0079"]', [{"a": [1, 2]}, True, "xy"], [UNEXPECTED]),
    ('{"a": [[1}]}', {"a": [[1]]}, [UNEXPECTED]),
    ('{"a": [[1}, "\\u0062" : 2}', {"a": [[1]], "b": 2}, [UNEXPECTED]),
    ('{"a": [1}}', {"a": [1]}, [UNEXPECTED]),
    # two brackets close more containers than the text has brackets for
    ('{"a": [[[[[[[[1}, "b": 2}', {"a": [[[[[[[[1]]]]]]]], "b": 2}, [UNEXPECTED]),
    ('{"":[[[[[[}}', {"": [[[[[[]]]]]]}, [UNEXPECTED]),
    ('[{"":{"":{"":{"":]]', [{"": {"": {"": {}}}}], [UNEXPECTED]),
    ('[{"a": [1}]', [{"a": [1]}], [UNEXPECTED]),
    ('[{"a": ], 2]', [{}, 2], [UNEXPECTED]),
    ('[{"a" ], 2]', [{}, 2], [UNEXPECTED]),
    ('[{"a": [-}, {}]', [{"a": []}, {}], [Code.INVALID_NUMBER]),
    ('{"a": [1, x}, "b": 3}', {"a": [1], "b": 3}, [UNEXPECTED]),
    ('{"a": [1, x {]}, "b": 3}', {"a": [1], "b": 3}, [UNEXPECTED]),
    ('{"a": [1} "b": 3, "c": 4}', {"a": [1], "c": 4}, [UNEXPECTED, UNEXPECTED]),
    ('{"a": [1}, 5, "c": 4}', {"a": [1], "c": 4}, [UNEXPECTED, UNEXPECTED]),
    ('[{"a": [1}, x, "c": 4}]', [{"a": [1], "c": 4}], [UNEXPECTED, UNEXPECTED]),
    ('[{"a": [1},, "c": 4}]', [{"a": [1], "c": 4}], [UNEXPECTED, UNEXPECTED]),
    ('[{"a": [1},}]', [{"a": [1]}], [UNEXPECTED, UNEXPECTED]),
    ('[{"a": [1}, "b\n", "c": 4}]', [{"a": [1], "c": 4}], [UNEXPECTED, Code.CONTROL_CHARACTER]),
    ('[{"a": [1}, "b" "c", 4]', [{"a": [1]}, "b", 4], [UNEXPECTED, UNEXPECTED]),
    ('{"a": [1}', {"a": [1]}, [UNEXPECTED, INCOMPLETE]),
    ('[{"a": [1}, "b', [{"a": [1]}], [UNEXPECTED, INCOMPLETE]),
    ('[{"a": [1}, "b"', [{"a": [1]}], [UNEXPECTED, INCOMPLETE]),
    # an error inside leaves what is around whole
    ('{"a": {"b": x}, "c": [1, {"d": tru}, 2]}', {"a": {}, "c": [1, {}, 2]}, [UNEXPECTED, Code.INVALID_LITERAL]),
    ("[[[x], 1], 2]", [[[], 1], 2], [UNEXPECTED]),
    # a string that breaks is dropped, though its beginning was told
    (r'["a\q, ]", 1]', [1], [Code.INVALID_ESCAPE]),
    (r'["a\q\", ]", 1]', [1], [Code.INVALID_ESCAPE]),
    (r'["\u00", 1]', [1], [Code.INVALID_ESCAPE]),
    (r'["\u00\", 1", 2]', [2], [Code.INVALID_ESCAPE]),
    ('["a\nb", 1]', [1], [Code.CONTROL_CHARACTER]),
    ('{"a": "b\n", "c": 1}', {"c": 1}, [Code.CONTROL_CHARACTER]),
    ('{"a\n": 1, "c": 1}', {"c": 1}, [Code.CONTROL_CHARACTER]),
    (r'{"a\q": [1, 2], "c": 1}', {"c": 1}, [Code.INVALID_ESCAPE]),
    ('["a\n" "b", 1]', [1], [Code.CONTROL_CHARACTER]),
    # after the value nothing is read
    ("{} x {}", {}, [Code.TRAILING_TEXT]),
    ("[x] x, y", [], [UNEXPECTED, Code.TRAILING_TEXT]),
    # the end too early
    ("[x", [], [UNEXPECTED, INCOMPLETE]),
    ('["a\n', [], [Code.CONTROL_CHARACTER, INCOMPLETE]),
    ('["a\n\\', [], [Code.CONTROL_CHARACTER, INCOMPLETE]),
    ("[x {]", [], [UNEXPECTED, INCOMPLETE]),
    # without a container around it there is nothing to go on with
    ("x", MISSING, [UNEXPECTED]),
    ("x [1]", MISSING, [UNEXPECTED]),
    ("tru", MISSING, [INCOMPLETE]),
    ("1e999", MISSING, [Code.NUMBER_OVERFLOW]),
]


@pytest.mark.parametrize(("text", "value", "codes"), REMAINS, ids=lambda case: ascii(case)[:40])
def test_what_remains(text: str, value: Any, codes: list[Code]) -> None:
    """The broken value is dropped, and reading goes on behind it, in the container around it."""
    for fragments in ([text], strategies.one_by_one(text), strategies.one_by_one(text.encode())):
        seen = skip(fragments)
        assert same(seen.value, value)
        assert [error.code for error in seen.errors] == codes


IN_DIALECTS: list[tuple[str, dict[str, Any]]] = [
    *[(text, {}) for text, _, _ in REMAINS],
    *[("".join([text, "\n", text]), {"multiple": True}) for text, _, _ in REMAINS],
    *[("".join([text, "\n", text]), {"multiple": "lines"}) for text, _, _ in REMAINS],
]


@pytest.mark.parametrize(("text", "options"), IN_DIALECTS, ids=lambda case: ascii(case)[:40])
def test_dumps_load_at_every_character(text: str, options: dict[str, Any]) -> None:
    """Wherever a broken text is cut, a dump loads, and the loaded state goes on and ends as the other one."""
    state = create_state(Options(on_error="skip", **options))
    whole = finalize(parse_chunk(state, text))
    for end in range(len(text) + 1):
        assert ParserState.load(state.dump()).dump() == state.dump()
        assert ParserState.load(finalize(state).dump()).dump() == finalize(state).dump()
        last = finalize(parse_chunk(ParserState.load(state.dump()), text[end:]))
        assert (last.errors, last.root, last.dump()) == (whole.errors, whole.root, whole.dump())
        state = parse_chunk(state, text[end : end + 1])


@pytest.mark.parametrize(
    ("text", "options", "value", "codes"),
    [
        ('{"a": 1, "a": [2, 3], "b": 4}', {"duplicate_keys": "error"}, {"a": 1, "b": 4}, [Code.DUPLICATE_KEY]),
        ('{"a": x, "a": 1}', {"duplicate_keys": "error"}, {"a": 1}, [UNEXPECTED]),
        ('{"a": "\n", "b": 1, "a": 2}', {"duplicate_keys": "error"}, {"b": 1, "a": 2}, [Code.CONTROL_CHARACTER]),
        ("[1,,]", {"trailing_commas": True}, [1], [UNEXPECTED]),
        ('[{"a": [1},}]', {"trailing_commas": True}, [{"a": [1]}], [UNEXPECTED]),
        ('[{"a": [1},]', {"trailing_commas": True}, [{"a": [1]}], [UNEXPECTED]),
        ('{"a": [1},}', {"trailing_commas": True}, {"a": [1]}, [UNEXPECTED]),
        (
            '[{"a": [1}, "a": 2, "c": 3}]',
            {"duplicate_keys": "error"},
            [{"a": [1], "c": 3}],
            [UNEXPECTED, Code.DUPLICATE_KEY],
        ),
        ('["\ud83dx", "\ud83d\\"x", 1]', {"surrogates": "error"}, [1], [Code.LONE_SURROGATE] * 2),
        ('["\ude00, ]", "\ud83d\\\\", 1]', {"surrogates": "error"}, [1], [Code.LONE_SURROGATE] * 2),
        ("[x,]", {"trailing_commas": True}, [], [UNEXPECTED]),
        ("[x] y", {"trailing": "ignore"}, [], [UNEXPECTED]),
        ("[1e9999999999999999999, 1]", {"floats": "decimal"}, [1], [Code.NUMBER_OVERFLOW]),
        (r'["\ud83dx", 1]', {"surrogates": "error"}, [1], [Code.LONE_SURROGATE]),
        (r'["\ude00, ]", 1]', {"surrogates": "error"}, [1], [Code.LONE_SURROGATE]),
        (r'["\ud83d\"x", 1]', {"surrogates": "error"}, [1], [Code.LONE_SURROGATE]),
        (r'["\ud83d\\", 1]', {"surrogates": "error"}, [1], [Code.LONE_SURROGATE]),
        (r'{"\ud83d\"": 1, "b": 2}', {"surrogates": "error"}, {"b": 2}, [Code.LONE_SURROGATE]),
    ],
    ids=lambda case: ascii(case)[:40],
)
def test_what_remains_in_a_dialect(text: str, options: dict[str, Any], value: Any, codes: list[Code]) -> None:
    """The same with other options; the key of a value that was dropped does not count as used."""
    for fragments in ([text], strategies.one_by_one(text)):
        seen = skip(fragments, **options)
        assert same(seen.value, value)
        assert [error.code for error in seen.errors] == codes


@pytest.mark.parametrize(
    ("data", "value", "codes"),
    [
        (b'["a\xffb, ]", 1]', [1], [Code.INVALID_UTF8]),
        (b'["\xe2\x82", 1]', [1], [Code.INVALID_UTF8]),
        (b'["\xed\xa0\x80", 1]', [1], [Code.INVALID_UTF8]),
        (b'{"\xff": 1, "b": 2}', {"b": 2}, [Code.INVALID_UTF8]),
        (b"[\xff, 1]", [1], [UNEXPECTED]),
        (b"[\xc3\xa9, 1]", [1], [UNEXPECTED]),
        (b'["\\\xff", 1]', [1], [Code.INVALID_ESCAPE]),
        (b'["\\ud83d\xff", 1]', [1], [Code.INVALID_UTF8]),
        (b"[x \xff, 1]", [1], [UNEXPECTED]),
        (b'[x "\xff, ]", 1]', [1], [UNEXPECTED]),
        (b"[1]\xff\xff", [1], [Code.TRAILING_TEXT]),
        (b"[1\xc3", [], [Code.INVALID_NUMBER, INCOMPLETE]),
        (b"[1 \xc3", [1], [UNEXPECTED, INCOMPLETE]),
        (b'[{"a": [1}, "b\xc3\xa9": 2}]', [{"a": [1], "b\N{LATIN SMALL LETTER E WITH ACUTE}": 2}], [UNEXPECTED]),
        (b'[{"a": [1}, "b\xff", 2]', [{"a": [1]}], [UNEXPECTED, Code.INVALID_UTF8, UNEXPECTED, INCOMPLETE]),
    ],
    ids=ascii,
)
def test_what_remains_of_bytes(data: bytes, value: Any, codes: list[Code]) -> None:
    """Bytes that are no text break the value in which they stand, and count as one character each."""
    for fragments in ([data], strategies.one_by_one(data)):
        seen = skip(fragments)
        assert same(seen.value, value)
        assert [error.code for error in seen.errors] == codes


@pytest.mark.parametrize(
    ("text", "values", "codes"),
    [
        ("x\n1\n", [1], [UNEXPECTED]),
        ('{"a": 1}\n}\n{"a": 2}', [{"a": 1}, {"a": 2}], [UNEXPECTED]),
        ("tru\n1", [1], [Code.INVALID_LITERAL]),
        ("1 x [1]\n2", [1, 2], [UNEXPECTED]),
        ("12x\n3", [3], [Code.INVALID_NUMBER]),
        ("01\n3\n", [3], [Code.INVALID_NUMBER]),
        ("truefalse\n3\n", [3], [Code.INVALID_LITERAL]),
        ("1e999\n3", [3], [Code.NUMBER_OVERFLOW]),
        ("3\n1e999", [3], [Code.NUMBER_OVERFLOW]),
        ("-\n3", [3], [Code.INVALID_NUMBER]),
        ('"a\\q" [1]\n3', [3], [Code.INVALID_ESCAPE]),
        ('"a\n3\n', [3], [Code.CONTROL_CHARACTER]),
        ('"a\\q\n"b"\n', ["b"], [Code.INVALID_ESCAPE]),
        ("[x]\n[y]\n[1]", [[], [], [1]], [UNEXPECTED, UNEXPECTED]),
        ("x\r\n\r\n1", [1], [UNEXPECTED]),
        ("x", [], [UNEXPECTED]),
        ("1\nx", [1], [UNEXPECTED]),
    ],
    ids=ascii,
)
def test_lines(text: str, values: list[Any], codes: list[Code]) -> None:
    """With `multiple`, an error outside of any container drops the rest of its line, and the next one is read."""
    for fragments in ([text], strategies.one_by_one(text), strategies.one_by_one(text.encode())):
        seen = skip(fragments, multiple=True)
        assert same(seen.values, values)
        assert [error.code for error in seen.errors] == codes
        assert seen.is_complete is bool(values)


def test_errors_are_told_in_order() -> None:
    """Errors come between the events, where they are; each names its own place, across lines too."""
    parser = FragmentParser(Options(on_error="skip"))
    events = parser.feed('[x,\n"a\n\\"\n",\n  {"b": tru}, 1]')
    assert [(e.kind.value, str(e.path), e.node_id) for e in events] == [
        ("start_array", "$", 0),
        ("error", "$[0]", 0),
        ("start_string", "$[0]", 1),
        ("partial_string", "$[0]", 1),
        ("error", "$[0]", 1),
        ("start_object", "$[0]", 2),
        ("error", "$[0].b", 2),
        ("end_object", "$[0]", 2),
        ("complete_number", "$[1]", 3),
        ("end_array", "$", 0),
    ]
    assert [(error.line, error.column) for error in parser.errors] == [(1, 2), (2, 3), (5, 12)]
    assert parser.error is parser.errors[0]
    assert [e.value for e in events if e.kind is Kind.ERROR] == list(parser.errors)


def test_is_complete_is_about_balance() -> None:
    """While a broken value is being skipped nothing is complete; when the root closes, it is."""
    parser = FragmentParser(Options(on_error="skip"))
    for fragment in ("[", "x", " {", " ]", " }", ","):
        parser.feed(fragment)
        assert (parser.is_complete, parser.is_stopped) == (False, False)
    parser.feed("]")
    assert (parser.is_complete, parser.is_stopped) == (True, False)
    parser.feed(" x")
    assert (parser.is_complete, parser.is_stopped) == (True, False)
    assert parser.close() == []
    assert len(parser.errors) == 3


LIMITED = [(options, text, code) for options, text, _, code in corpus.DIALECT_BROKEN if code.value.startswith("max")]


@pytest.mark.parametrize(("options", "text", "code"), LIMITED, ids=lambda case: ascii(case)[:40])
def test_limits_still_stop(options: dict[str, Any], text: str, code: Code) -> None:
    """A limit is no mistake to be forgiven: reading ends there as it does without recovery."""
    assert skip([text], **options) == observe([text], **options)
    parser = FragmentParser(Options(on_error="skip", **options))
    parser.feed(text)
    assert isinstance(parser.error, LimitError)
    assert parser.error.code is code
    assert parser.is_stopped
    assert parser.feed("]") == []


def test_limits_hold_while_skipping() -> None:
    """What is skipped counts for the length of the text, and its nesting takes no depth and no memory."""
    parser = FragmentParser(Options(on_error="skip", max_chars=100_000, max_depth=2))
    parser.feed("[x ")
    for _ in range(1000):
        assert parser.feed("[" * 99) == []
    (event,) = parser.feed("[" * 1000)
    assert isinstance(event.value, LimitError)
    assert (event.value.code, event.value.offset) == (Code.MAX_CHARS, 100_000)


dialects = st.lists(st.sampled_from([o for o in strategies.OPTIONS if not o[0].startswith("max")]), max_size=2).map(
    dict
)


@given(strategies.cut(strategies.broken_documents(halves=True, units=True)), dialects)
@example(('["\\ud83d\\"x",1]', ['["\\ud83d', "\\", '"x",1]']), {"surrogates": "error"})
def test_cutting_is_not_observable(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """However a broken text is cut, the same remains of it, and the same errors are told."""
    text, fragments = cut
    for close in (False, True):
        assert skip(fragments, close=close, **dialect) == skip([text], close=close, **dialect)


@given(st.data(), strategies.broken_bytes(), dialects)
def test_cutting_of_bytes_is_not_observable(data: st.DataObject, text: bytes, dialect: dict[str, Any]) -> None:
    """The same for bytes that are not UTF-8."""
    fragments = data.draw(strategies.byte_cuttings(text))
    for close in (False, True):
        assert skip(fragments, close=close, **dialect) == skip([text], close=close, **dialect)


FIRST_OF_A_NODE = {Kind.START_OBJECT, Kind.START_ARRAY, Kind.START_STRING}
FIRST_OF_A_NODE |= {Kind.COMPLETE_NUMBER, Kind.COMPLETE_BOOLEAN, Kind.COMPLETE_NULL}


@given(strategies.broken_documents(halves=True, units=True), dialects)
def test_events_fit_together(text: str, dialect: dict[str, Any]) -> None:
    """Each event fits what the ones before it built, errors or not: indices have no gaps, ends meet their starts."""
    parser = FragmentParser(Options(on_error="skip", **dialect))
    fold, last_offset, open_count, ids = Fold(), -1, 0, 0
    for event in parser.feed(text) + parser.close():
        fold.add(event)
        assert event.offset >= last_offset
        last_offset = event.offset
        open_count += event.kind in {Kind.START_OBJECT, Kind.START_ARRAY}
        open_count -= event.kind in {Kind.END_OBJECT, Kind.END_ARRAY}
        if event.kind in FIRST_OF_A_NODE:
            assert event.node_id == ids
            ids += 1
    assert open_count == 0 or parser.error is not None


@given(strategies.broken_documents(halves=True, units=True), strategies.dialects())
def test_the_first_error_is_the_same(text: str, dialect: dict[str, Any]) -> None:
    """Up to the first error both ways of reading tell the same; skipping only tells more."""
    stopped, skipped = observe([text], **dialect), skip([text], **dialect)
    assert skipped.events[: len(stopped.events)] == stopped.events
    assert skipped.error == stopped.error


@given(strategies.documents(), dialects)
def test_nothing_is_skipped_without_an_error(text: str, dialect: dict[str, Any]) -> None:
    """A text without errors reads the same with and without recovery."""
    stopped = observe([text], **dialect)
    assert stopped.errors or skip([text], **dialect) == stopped


@given(strategies.documents(small=True), st.sampled_from(["x", "tru", "-", '"\\q"', "'a'", "1e999", "//", '"\n"']))
def test_neighbours_survive(text: str, broken: str) -> None:
    """Values before and after a broken one are read as if it were not there, wherever it is put."""
    whole = observe([text]).value
    assert same(skip([f"[{text},{broken},{text}]"]).value, [whole, whole])
    assert same(skip([f'{{"a":{text},"b":{broken},"c":{text}}}']).value, {"a": whole, "c": whole})


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_so_many_errors_and_no_more(limit: int) -> None:
    """The error after the last that may be skipped ends the reading, at its place, however the text is cut."""
    text = "[x,1,y,2,z,3,w,4]"
    whole = observe([text], on_error="skip", max_errors=limit)
    codes = [error.code for error in whole.errors]
    assert codes == [Code.UNEXPECTED_CHARACTER] * limit + [Code.MAX_ERRORS]
    assert whole.errors[-1].offset == 1 + 4 * limit
    assert not whole.is_complete
    assert all(
        observe(fragments, on_error="skip", max_errors=limit) == whole
        for fragments in strategies.every_single_cut(text)
    )
    assert observe([text], on_error="skip", max_errors=4).value == [1, 2, 3, 4]
