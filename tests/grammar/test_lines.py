"""`multiple="lines"`: each line is a document, and the end of the line ends it, whatever is open."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.observe import Observation, observe
from tests.support.oracle import read, same
from unspool import (
    Code,
    FragmentParser,
    IncompleteJSONError,
    Options,
    OptionsError,
    ParserState,
    ValueParser,
    create_state,
    finalize,
    iter_values,
    parse_chunk,
)
from unspool._grammar.writer import Writer
from unspool.typed import items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hypothesis.strategies import SearchStrategy

    from unspool import Fragment

LINES = Options(multiple="lines")
SKIPPING = Options(multiple="lines", on_error="skip")
INCOMPLETE = Code.INCOMPLETE
UNEXPECTED = Code.UNEXPECTED_CHARACTER

CASES: list[tuple[str, list[Any], list[tuple[Code, int]]]] = [  # text, finished values, errors as code and line
    ("", [], []),
    ("\n \n\t\r\n", [], []),
    ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}], []),
    ('{"a": 1}\r\n\r\n{"a": 2}', [{"a": 1}, {"a": 2}], []),
    ("1\n2\r\n3", [1, 2, 3], []),
    ("true\nnull\n", [True, None], []),
    # A line that was cut off is one error, wherever the cut is; the next line is read.
    ('{"a": {"b": [1, 2\n{"a": 3}\n', [{"a": 3}], [(INCOMPLETE, 1)]),
    ('{"a": "hel\n{"a": 3}\n', [{"a": 3}], [(INCOMPLETE, 1)]),
    ('{"a": "hel\r\n{"a": 3}\r\n', [{"a": 3}], [(INCOMPLETE, 1)]),
    ('{"a": "hel\\\n1', [1], [(INCOMPLETE, 1)]),
    ('{"a": "\\ud83d\n1', [1], [(INCOMPLETE, 1)]),
    ('{"a\n1', [1], [(INCOMPLETE, 1)]),
    ('{"a"\n1', [1], [(INCOMPLETE, 1)]),
    ("[1,\r\n1", [1], [(INCOMPLETE, 1)]),
    ("0\n[tru\n1", [0, 1], [(INCOMPLETE, 2)]),
    ("tru\n1\n-\n2\n1e\n3", [1, 2, 3], [(INCOMPLETE, 1), (INCOMPLETE, 3), (INCOMPLETE, 5)]),
    ('"a\n"b"', ["b"], [(INCOMPLETE, 1)]),
    ("[1]\n[2", [[1]], [(INCOMPLETE, 2)]),
    # What is wrong in a line stays in it.
    ('{"a": x, "b": 1}\n2', [{"b": 1}, 2], [(UNEXPECTED, 1)]),
    ('{"a": x\n2', [2], [(UNEXPECTED, 1), (INCOMPLETE, 1)]),
    ("}\n2", [2], [(UNEXPECTED, 1)]),
    ("[1] [2]\n[3]", [[1], [3]], [(Code.TRAILING_TEXT, 1)]),
    ("1 2\n3", [1, 3], [(Code.TRAILING_TEXT, 1)]),
    ("01\n3", [3], [(Code.INVALID_NUMBER, 1)]),
    ("9" * 400 + ".0\n3", [3], [(Code.NUMBER_OVERFLOW, 1)]),
]


def finished(fragments: Iterable[Fragment], options: Options) -> tuple[list[Any], list[tuple[Code, int]]]:
    """The values that a parser finished, and the errors."""
    parser, values = ValueParser(options), list[Any]()
    for fragment in fragments:
        parser.feed(fragment)
        values += parser.finished
    parser.close()
    return values + list(parser.finished), [(error.code, error.line) for error in parser.errors]


@pytest.mark.parametrize(("text", "values", "errors"), CASES, ids=lambda case: ascii(case)[:40])
def test_cases(text: str, values: list[Any], errors: list[tuple[Code, int]]) -> None:
    """Errors are skipped with their line, in text and in bytes, however the text is cut; states say the same."""
    ways: list[list[Fragment]] = [[*cut] for cut in strategies.every_single_cut(text)]
    for fragments in (*ways, [*text], [*strategies.one_by_one(text.encode())]):
        found, faults = finished(fragments, SKIPPING)
        assert same(found, values)
        assert faults == errors
        state, documents = create_state(SKIPPING), list[Any]()
        for fragment in fragments:
            before, state = state, parse_chunk(state, fragment)
            documents += state.finished if state is not before else ()
        last = finalize(state)
        assert same([*documents, *(last.finished if last is not state else ())], values)
        assert [(error.code, error.line) for error in last.errors] == errors


def test_an_error_stops() -> None:
    """Without `on_error`, the line that was cut off ends the reading, at the end of the line."""
    parser = ValueParser(LINES)
    with pytest.raises(IncompleteJSONError) as caught:
        parser.feed('{"a": 1}\n{"a": [1\n{"a": 2}\n')
    assert (caught.value.line, caught.value.column, str(caught.value.path)) == (2, 9, "$.a[0]")
    assert parser.finished == ({"a": 1},)
    with pytest.raises(IncompleteJSONError, match="line 2"):
        list(iter_values(['{"a": 1}\n{"a"', ": [1\n"], LINES))


def test_one_value_per_line() -> None:
    """Text behind the value of a line is an error of that line, or ignored up to the end of the line."""
    parser = FragmentParser(LINES)
    assert parser.feed("{} {}")[-1].value.code is Code.TRAILING_TEXT
    assert parser.error is not None
    assert parser.error.expected == "the end of the line"
    ignoring = Options(multiple="lines", trailing="ignore")
    assert finished(["[1] and so on\n[2]", " x\n[3]"], ignoring) == ([[1], [2], [3]], [])
    state = parse_chunk(create_state(ignoring), "[1] x")
    assert ParserState.load(state.dump()).dump() == state.dump()


def test_bytes_that_are_ignored_may_be_cut_anywhere() -> None:
    """A character that is cut in the ignored rest of a line is one character, however it is cut."""
    data = '1 \u00e9\n2 "\u20ac\U0001f600" \n[3]\u00e9\n'.encode()
    start = create_state(Options(multiple="lines", trailing="ignore"))
    whole = parse_chunk(start, data)
    assert whole.index == len(data.decode())
    state = start
    for end in range(len(data)):
        state = parse_chunk(state, data[end : end + 1])
        assert parse_chunk(state, data[end + 1 :]).dump() == whole.dump()
    assert state.dump() == whole.dump()


def test_lines_while_they_grow() -> None:
    """The value of an open line grows; a line that was cut off loses its last string, and the next one begins."""
    values = list(iter_values(['{"a": "x', 'y"}\n{"a": [1, "z', "\n", "[", "2]"], SKIPPING))
    assert values == [{"a": "x"}, {"a": "xy"}, {"a": [1, "z"]}, {"a": [1]}, [], [2]]


def test_what_is_cut_off_is_written_whole() -> None:
    """The events of a line that was cut off balance, so what is written from them is one document per line."""
    parser, writer = FragmentParser(SKIPPING), Writer()
    written = writer.write(parser.feed('[1, {"a": "b\n{"c": 2}\n')) + writer.write(parser.close())
    assert written == '[1,{"a":"b"}]\n{"c":2}'


def test_items_of_lines() -> None:
    """`items` reads the elements of lines."""
    pytest.importorskip("msgspec")  # for the type; the playground has no library for types
    assert list(items(int, ["[1, 2]\n[3", "]\n"], LINES)) == [1, 2, 3]


def test_with_other_features() -> None:
    """Extracting finds values by itself, and says so."""
    with pytest.raises(OptionsError, match="multiple=True"):
        ValueParser(LINES, extract=True)
    with pytest.raises(OptionsError, match="'lines'"):
        Options(multiple="line")  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="'lines'"):
        Options(multiple=1)  # type: ignore[arg-type]
    assert repr(LINES) == "Options(multiple='lines')"
    assert Options(**LINES.as_dict()) == LINES != Options(multiple=True)


@pytest.mark.parametrize("limit", [1, 2])
def test_the_number_of_errors_is_limited(limit: int) -> None:
    """Each line that was cut off counts: the one after the last that may be skipped ends the reading."""
    parser = FragmentParser(SKIPPING.replace(max_errors=limit))
    parser.feed("[1\n" * 5)
    assert [error.code for error in parser.errors] == [INCOMPLETE] * limit + [Code.MAX_ERRORS]
    assert parser.is_stopped


ENDS = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\r"])
HALF = st.builds(lambda text, size: text[: len(text) * size // 9], strategies.documents(small=True), st.integers(0, 9))


@st.composite
def texts_in_lines(draw: st.DrawFn) -> str:
    """A few lines: documents, halves of documents, broken ones, several in a line, and blank ones."""
    line: SearchStrategy[str] = st.one_of(
        strategies.documents(small=True, halves=True),
        HALF,
        strategies.broken_documents(small=True, halves=True),
        st.sampled_from(["", " ", "{} {}", '"', "[1", "-", "12", "tru", '{"a":"\\', '"\\ud83d', "[x", "01"]),
    )
    lines = draw(st.lists(line, max_size=4))
    return "".join([one + draw(ENDS) for one in lines]) + draw(line)


DIALECTS = st.lists(st.sampled_from([o for o in strategies.OPTIONS if o[0] != "multiple"]), max_size=2).map(dict)


@given(st.data(), texts_in_lines(), DIALECTS, st.sampled_from(["stop", "skip"]))
def test_law_1_cutting_lines_is_not_observable(
    data: st.DataObject, text: str, dialect: dict[str, Any], on_error: str
) -> None:
    """However lines are cut, in text or in bytes, the events, the values and the errors are the same."""
    fragments: list[list[Fragment]] = [list(data.draw(strategies.cuttings(text)))]
    if not any("\ud800" <= char <= "\udfff" for char in text):
        fragments.append(list(data.draw(strategies.byte_cuttings(text.encode()))))
    for close in (False, True):
        whole = lines_of([text], close, on_error, dialect)
        assert all(lines_of(each, close, on_error, dialect) == whole for each in fragments)


def lines_of(fragments: Iterable[Fragment], close: bool, on_error: str, dialect: dict[str, Any]) -> Observation:
    return observe(fragments, close=close, multiple="lines", on_error=on_error, **dialect)


@given(texts_in_lines(), DIALECTS)
@example("12\n9\r\n[", {})
@example("[1\n", {"max_chars": 2})
@example("{}\n\n", {"max_chars": 3})
def test_law_5_lines_end_where_the_model_says(text: str, dialect: dict[str, Any]) -> None:
    """For each prefix, the values and the first error are those of a model that reads each line on its own."""
    for end in range(len(text) + 1):
        expected = read(text[:end], multiple="lines", **dialect)
        seen = observe([text[:end]], close=False, multiple="lines", **dialect)
        assert same(list(seen.values), list(expected.values))
        assert seen.error == expected.error
        assert seen.is_complete is (expected.status == "done")
        assert observe([text[:end]], multiple="lines", **dialect).error == expected.at_close


@given(texts_in_lines())
@example("[x\n[1]")
def test_law_8_each_line_is_read_as_a_text_of_its_own(text: str) -> None:
    """With errors skipped, lines have the values and the errors that each line has alone; the events balance."""
    pieces = re.split("([\r\n])", text)
    starts = [0, *accumulate(map(len, pieces))]
    values, errors = list[Any](), list[tuple[Code, int]]()
    for line, start in zip(pieces[::2], starts[::2], strict=False):
        if line.strip(" \t"):
            state = finalize(parse_chunk(create_state(Options(on_error="skip")), line))
            is_whole = state.is_complete and Code.INCOMPLETE not in [error.code for error in state.errors]
            values += [state.value] if is_whole else []
            errors += [(error.code, start + error.offset) for error in state.errors]
    parser, found = ValueParser(SKIPPING), list[Any]()
    parser.feed(text)
    found += parser.finished
    parser.close()
    found += parser.finished
    assert same(found, values)
    assert [(error.code, error.offset) for error in parser.errors] == errors
    open_ids: list[int] = []
    events = FragmentParser(SKIPPING)
    for event in events.feed(text) + events.close():
        if event.kind.value in ("start_object", "start_array"):
            open_ids.append(event.node_id)
        elif event.kind.value in ("end_object", "end_array"):
            assert open_ids.pop() == event.node_id
    assert open_ids == []


@given(st.data(), texts_in_lines(), st.sampled_from([LINES, SKIPPING, LINES.replace(trailing="ignore")]))
def test_law_11_lines_dumped_and_loaded_anywhere(data: st.DataObject, text: str, options: Options) -> None:
    """A state that was dumped and loaded between any two fragments goes on as the other one does."""
    state = loaded = create_state(options)
    for fragment in data.draw(strategies.cuttings(text)):
        before, state = state, parse_chunk(state, fragment)
        loaded = parse_chunk(ParserState.load(loaded.dump()), fragment)
        assert loaded.dump() == state.dump()
        assert state is before or loaded.events == state.events
    assert finalize(loaded).dump() == finalize(state).dump()


@given(st.data(), texts_in_lines(), strategies.limits())
def test_law_12_limits_of_lines_trip_at_one_offset(data: st.DataObject, text: str, limit: dict[str, Any]) -> None:
    """A limit trips where the model says, under every cutting."""
    whole = observe([text], multiple="lines", **limit)
    assert whole.error == read(text, multiple="lines", **limit).at_close
    assert observe(data.draw(strategies.cuttings(text)), multiple="lines", **limit) == whole


BROKEN_LINES = st.sampled_from(
    [
        "{'a': 1,}",
        "{b: 'x' // c",
        '{"c": "the "d" e"}',
        "[1, 2,",
        "{'a': 'x",
        "[NaN] /* x",
        "  # note",
        "12",
        "{x: y",
        "x",
    ]
)


@st.composite
def broken_lines(draw: st.DrawFn) -> str:
    """A few lines that are broken as models break them."""
    lines = draw(st.lists(st.one_of(BROKEN_LINES, strategies.documents(small=True)), max_size=4))
    return "".join([line + draw(ENDS) for line in lines]) + draw(BROKEN_LINES)


@given(st.data(), broken_lines(), st.sampled_from(["spelling", "guess"]), st.sampled_from(["error", "close"]))
def test_law_1_lines_are_repaired_one_by_one(data: st.DataObject, text: str, level: Any, truncated: Any) -> None:
    """However lines are cut, dumped and loaded, the values and the log are those of each line alone."""
    options = Options(multiple="lines", repair=level, truncated=truncated)
    whole = finalize(parse_chunk(create_state(options), text))
    state = create_state(options)
    for fragment in data.draw(strategies.cuttings(text)):
        state = parse_chunk(state, fragment)
        if data.draw(st.integers(0, 3)) == 0:
            state = ParserState.load(state.dump())
    assert finalize(state).dump() == whole.dump()
    alone = Options(repair=level, truncated=truncated)
    values, codes = list[Any](), list[str]()
    for line in re.split("[\r\n]", text):
        one = finalize(parse_chunk(create_state(alone), line))
        codes += [repair.code.value for repair in one.repairs]
        values += [one.value] if one.error is None else []
    parser, found = ValueParser(options), list[Any]()
    try:
        parser.feed(text)
        found += parser.finished
        parser.close()
        found += parser.finished
    except ValueError:
        return  # an error stops the reading
    assert same(found, values)
    assert [repair.code.value for repair in parser.repairs] == codes
