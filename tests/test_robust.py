"""What the API says to mistakes: limits with their values, errors that pickle, arguments of the wrong type."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspool
from unspool import (
    Code,
    FragmentParser,
    LimitError,
    Options,
    OptionsError,
    ParserState,
    Path,
    PatternError,
    SnapshotChunker,
    StateError,
    ValueParser,
    create_state,
    finalize,
    iter_values,
    parse_chunk,
    patch,
    select,
)
from unspool._grammar.reader import EXPECTED, MODE_WORDS
from unspool.llm import Fault, MessageError
from unspool.llm._wire import StreamError
from unspool.typed import InvalidError, iter_partial


def error_of(text: str, **options: Any) -> Any:
    """The last error of a whole text."""
    parser = FragmentParser(Options(**options))
    parser.feed(text)
    parser.close()
    return parser.errors[-1]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("[[1]]", {"max_depth": 1}),
        ("[1, 2]", {"max_chars": 4}),
        ('["abcd"]', {"max_string": 3}),
        ('{"abcd": 1}', {"max_key": 3}),
        ("[1234]", {"max_number": 3}),
        ("[x, x]", {"max_errors": 1, "on_error": "skip"}),
    ],
)
def test_a_limit_tells_its_value(text: str, options: dict[str, Any]) -> None:
    """`code` names the limit, `limit` is its value, and the message has both; so do copies and loaded states."""
    error = error_of(text, **options)
    name, value = next(iter(options.items()))
    assert isinstance(error, LimitError)
    assert (error.code.value, error.limit) == (name, value)
    assert f"{name}={value}:" in str(error)
    assert pickle.loads(pickle.dumps(error)) == copy.copy(error) == error
    assert copy.copy(error).limit == value
    state = finalize(parse_chunk(create_state(Options(**options)), text))
    assert ParserState.load(state.dump()).errors[-1].limit == value  # type: ignore[attr-defined]


def test_the_limit_of_the_interpreter() -> None:
    """An integer that Python does not convert is a limit as well, and the error names the setting."""
    digits = "9" * (sys.get_int_max_str_digits() + 1)
    error = error_of(f"[{digits}]", max_number=None)
    assert (error.code, error.limit) == (Code.MAX_NUMBER, sys.get_int_max_str_digits())
    assert "sys.set_int_max_str_digits" in str(error)
    state = parse_chunk(create_state(Options(max_number=None)), "[" + "9" * 700 + "]")
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with pytest.raises(StateError, match=r"an integer of 700 digits, more than sys\.set_int_max_str_digits allows"):
            ParserState.load(state.dump())
    finally:
        sys.set_int_max_str_digits(before)


def raised() -> list[Exception]:
    """One error of each class."""

    def of(call: Any, *arguments: Any) -> Exception:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - every one
            call(*arguments)
        return caught.value

    chunker = SnapshotChunker()
    chunker.process('{"a": 1}')
    return [
        of(lambda: ValueParser().feed("]")),
        of(lambda: list(iter_values(["["]))),
        of(lambda: ValueParser(Options(max_depth=0)).feed("[")),
        of(lambda: Options(max_depth=-1)),
        of(Path.parse, "$."),
        of(chunker.process, '{"a": 2}'),
        of(ParserState.load, {}),
        of(lambda: list(iter_partial({"type": "integer"}, ['"x"']))),
        MessageError(Fault.UNFINISHED, detail="x"),
        of(patch.apply, {}, [{"op": "remove", "path": "/a"}]),
        StreamError("too long", 3),
    ]


def test_every_error_pickles() -> None:
    """An error that went through pickle says what it said, in another process as well."""
    errors = raised()
    assert {type(error).__name__ for error in errors} >= {
        *("JSONSyntaxError", "IncompleteJSONError", "LimitError", "OptionsError", "PatternError", "SnapshotError"),
        *("StateError", "InvalidError", "MessageError", "PatchError", "StreamError"),
    }
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
        assert not isinstance(error, InvalidError) or again.problems == error.problems


def test_two_documents_in_one_text() -> None:
    """The error says which options read such a text."""
    for text in ('{"a": 1}{"a": 2}', "1 2", "{} and so on"):
        message = str(error_of(text))
        for hint in ("Options(multiple=True)", "Options(trailing='ignore')", "extract=True"):
            assert hint in message


@pytest.mark.parametrize("text", ["Here is the JSON: {}", "  ```json\n{}", "'a'", ":"])
def test_text_before_the_value(text: str) -> None:
    """The error says which option finds the value; the message ends with it."""
    error = error_of(text)
    assert error is not None
    assert error.hint == "extract=True finds JSON in other text"
    assert str(error).endswith(f"; expected a value; {error.hint}")


@pytest.mark.parametrize("text", ["[x", '{"a": x}', "{x", "nul", "[1", "", "-x", "01"])
def test_no_hint_without_need(text: str) -> None:
    """Within a value, no option of the parser finds it; and a text that ended early may go on."""
    error = error_of(text)
    assert error is not None
    assert (error.hint, str(error).endswith(error.expected)) == ("", True)


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    "raw", ["1e-9999999999999999999", "0.5E-99999999999999999999", "0e9999999999999999999", "0.0e-9999999999999999999"]
)
def test_a_decimal_too_small_is_zero(raw: str, sign: str) -> None:
    """Underflow gives zero, with its sign; overflow is an error."""
    state = parse_chunk(create_state(Options(floats="decimal")), f"[{sign}{raw}]")
    assert (state.result, type(state.result[0])) == ([0], Decimal)
    assert state.result[0].is_signed() is bool(sign)
    assert error_of(f"[{sign}1e9999999999999999999]", floats="decimal").code is Code.NUMBER_OVERFLOW


def test_a_chunker_says_what_to_do_instead() -> None:
    """Pickling and copying a chunker is refused, with the way that works."""
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"dump\(\) and SnapshotChunker.load"):
            attempt(SnapshotChunker())


def test_modes_and_ids() -> None:
    """`mode` is one of a closed set of words, and `next_id` the id of the next node."""
    seen = []
    state = create_state()
    for character in '{"a": [1, true, "x"]} ':
        state = parse_chunk(state, character)
        seen.append((state.mode, state.next_id))
    assert seen == [
        ("key_or_close", 1),
        *[("key_string", 1)] * 2,
        ("colon", 1),
        *[("value", 1)] * 2,
        ("value_or_close", 2),
        ("number", 2),
        *[("value", 3)] * 2,
        *[("literal", 3)] * 4,
        *[("value", 4)] * 2,
        *[("string", 5)] * 2,
        ("after_item", 5),
        ("after_member", 5),
        *[("end", 5)] * 2,
    ]
    assert create_state(Options(multiple=True)).mode == "between"
    assert parse_chunk(create_state(Options(on_error="skip")), "[x").mode == "skip"
    assert parse_chunk(create_state(), "]").mode == "failed"
    assert parse_chunk(create_state(Options(trailing="ignore")), "{}").mode == "ignore"
    assert parse_chunk(create_state(Options(multiple="lines")), "{}").mode == "end"


def test_every_mode_of_the_reader_has_its_word() -> None:
    """No state is without a word, and the words are those of docs/state.md."""
    assert set(MODE_WORDS) == set(EXPECTED)
    words = "value value_or_close key key_or_close colon after_item after_member between end string key_string literal"
    assert set(MODE_WORDS.values()) == {*words.split(), "number", "skip", "ignore", "failed"}


# Dumps that could not have been


def changed(fed: str, options: Options | None = None, **changes: Any) -> dict[str, Any]:
    return {**parse_chunk(create_state(options), fed).dump(), **changes}


SKIPPED = Options(on_error="skip")
IMPOSSIBLE = {
    "a number in flight behind a closed root": changed("[1]", mode="INTEGER", text="1"),
    "a literal in flight behind a closed root": changed("[1]", mode="LITERAL", text="t"),
    "a string in flight behind a closed root": changed(
        "[1]", mode="STRING", string=[1, None, "a"], text="a", next_id=2
    ),
    "a key longer than the text": changed('{"a', text="a" * 100),
    "a number longer than the text": changed("[1", text="1" * 100),
    "a tree longer than the text": changed('["a"', tree=[["[", 0, None], ["s", 1, None, "a" * 50]]),
    "the second line at the first character": changed("[1", position=[2, 2, 3]),
    "the first line with a line feed": changed("[\n1", position=[3, 1, 2]),
    "more lines than characters": changed("[\n1", position=[3, 5, 1]),
    "no literal": changed("[true", text="tru"),
    "an error beyond the text": changed("[x", errors=[["unexpected_character", 9, 1, 10, [0], ""]]),
    "a string older than the value before it": changed(
        '[1, "a', tree=[["[", 0, None], ["n", 2, None, "1"]], string=[2, None, "a"]
    ),
    "half of a pair in a key": changed('{"ab": 1', key="\ud83d"),
    "half of a pair in a member": changed('{"ab": 1,', tree=[["{", 0, None], ["n", 1, "\ude00", "1"]]),
    "half of a pair in a string": changed('["ab",', tree=[["[", 0, None], ["s", 1, None, "\ud83d"]]),
    "half of a pair in an open string": changed('["ab', text="\ud83d", string=[1, None, "\ud83d"]),
    "half an escape behind a repairer": changed("['a", Options(repair="guess"), carry="\\u00"),
    "a repair in a line that the text does not have": changed(
        "['a",
        Options(repair="guess"),
        repair=changed("['a' ", Options(repair="guess"))["repair"] | {"log": [["single_quotes", 1, 9, 2, 1, [0]]]},
    ),
    "a wrong bracket where errors are not skipped": changed("[1", mode="AFTER_WRONG", text="", key=None),
    "a wrong bracket that closed nothing": changed('["a" x', SKIPPED, mode="AFTER_WRONG"),
    "a tree and a string longer than the text": changed('["ab', position=[3, 1, 4]),
    "a tree and a key longer than the text": changed('{"a": 1, "b', position=[7, 1, 8]),
    "a member without its colon": changed('{"a": ', position=[4, 1, 5]),
    "half a pair longer than the text": changed('{"\ud83d', position=[2, 1, 3]),
    "a number longer than the text, without a repair": changed("1", Options(truncated="close"), position=[0, 1, 1]),
    "ids that no value had": changed("[1, 2, 3", next_id=5),
    "more documents than values": changed("1 2 ", Options(multiple=True), roots=3),
    "skipping without an error": changed("[x", SKIPPED, errors=[]),
    "text behind an error": changed("[1,", errors=[["unexpected_character", 1, 1, 2, [0], ""]]),
    "text behind a limit": changed("[x", SKIPPED, errors=[["max_depth", 1, 1, 2, [0], ""]]),
    "text after the last error": changed("[x", position=[2, 1, 3]),
    "errors out of order": changed("[x, y", SKIPPED)
    | {"errors": [["unexpected_character", 4, 1, 5, [0], ""], ["unexpected_character", 1, 1, 2, [0], ""]]},
    "more errors than are skipped": changed("[x, y", SKIPPED)
    | {"options": Options(on_error="skip", max_errors=1).as_dict()},
    "a failed parser with a text": changed('["a\n', text="a"),
    "a first item behind a comma": changed("[1,", mode="VALUE_OR_CLOSE"),
    "a comma without an item": changed("[ ", mode="AFTER_ITEM"),
    "an open string behind the root": changed(
        '"a" ', mode="FAILED", string=[1, None, ""], next_id=2, errors=[["control_character", 4, 1, 5, [], ""]]
    ),
    "a repairer that holds more than the extractor found": {
        **(dump := parse_chunk(create_state(Options(repair="guess"), extract=True), "{'a': ").dump()),
        "repair": {**dump["repair"], "held": "xyz"},
    },
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_dumps_that_could_not_have_been(name: str) -> None:
    """What no text can lead to is refused."""
    with pytest.raises(StateError):
        ParserState.load(IMPOSSIBLE[name])


def test_halves_load_where_they_are_kept() -> None:
    """With ``surrogates="keep"`` a dump may hold halves of pairs, as the value does."""
    state = parse_chunk(create_state(Options(surrogates="keep")), '{"\ud83d": "\ude00", "b": "\ude00x')
    assert ParserState.load(state.dump()).value == {"\ud83d": "\ude00", "b": "\ude00x"}


def test_the_extractor_is_where_the_parser_is() -> None:
    """A dump in which the two stand at different places is refused."""
    dump = parse_chunk(create_state(extract=True), 'so: {"a": [1').dump()
    place = dump["extract"]["offset"]
    for offset in (0, place - 1, place + 1, 10**9):
        with pytest.raises(StateError):
            ParserState.load({**dump, "extract": {**dump["extract"], "offset": offset}})


@pytest.mark.parametrize(
    ("text", "options", "extract"),
    [
        ("{'a' \ud83d", Options(repair="guess"), False),
        ('["a"b\ud83d', Options(repair="guess"), True),
        ("```\ud83d", None, True),
    ],
)
def test_every_encoder_takes_a_dump(text: str, options: Options | None, extract: bool) -> None:
    """Text that a stage holds back may have halves of pairs; a dump can be encoded all the same, and goes on."""
    state = parse_chunk(create_state(options, extract=extract), text)
    written = json.dumps(state.dump(), ensure_ascii=False).encode()
    loaded = ParserState.load(json.loads(written))
    assert loaded.dump() == state.dump()
    for rest in ('\ude00": 1}', "\n[1]\n", ""):
        one, other = (finalize(parse_chunk(each, rest)) for each in (state, loaded))
        assert (one.value, one.errors, one.skipped, one.repairs) == (
            other.value,
            other.errors,
            other.skipped,
            other.repairs,
        )
    for held in ([-1], [0x110000], ["x"], [True], 5, None):
        dump = state.dump()
        part = "extract" if dump["extract"] is not None and isinstance(dump["extract"]["held"], list) else "repair"
        if dump[part] is not None:
            with pytest.raises(StateError):
                ParserState.load({**dump, part: {**dump[part], "held": held}})


WRONG_TEXT = '\n[{"a": [1}, "b\ud83d'


@pytest.mark.parametrize("end", range(len(WRONG_TEXT) + 1))
def test_behind_a_wrong_bracket_dumps_load(end: int) -> None:
    """A state behind a wrong bracket, or in the middle of what may be a key, goes on after dump and load."""
    state = parse_chunk(create_state(SKIPPED), WRONG_TEXT[:end])
    loaded = ParserState.load(state.dump())
    for rest in (WRONG_TEXT[end:] + '\ude00": 2}, 3]', WRONG_TEXT[end:] + '", 3]'):
        one, other = (finalize(parse_chunk(each, rest)) for each in (state, loaded))
        assert (one.value, one.errors, one.dump()) == (other.value, other.errors, other.dump())
    assert "\ud83d" not in repr(state.dump())


def test_a_cap_for_foreign_dumps() -> None:
    """With `max`, a dump cannot bring larger limits than the caller allows."""
    state = parse_chunk(create_state(Options(max_string=None)), '["a')
    assert ParserState.load(state.dump()).value == ["a"]
    with pytest.raises(StateError, match=f"its max_string is larger than {Options().max_string}"):
        ParserState.load(state.dump(), max=Options())
    small = parse_chunk(create_state(Options(max_string=5)), '["a')
    assert ParserState.load(small.dump(), max=Options()).options.max_string == 5
    assert ParserState.load(state.dump(), max=Options(max_string=None)).value == ["a"]
    with pytest.raises(OptionsError):
        ParserState.load(state.dump(), max=5)  # type: ignore[arg-type]


def test_a_cap_for_foreign_dumps_of_chunkers() -> None:
    """A chunker's dump brings options as well, and the same cap holds."""
    chunker = SnapshotChunker(options=Options(max_depth=None))
    chunker.process('{"a": "x"}')
    dump = chunker.dump()
    assert SnapshotChunker.load(dump, max=Options(max_depth=None)).process('{"a": "xy"}') == "y"
    with pytest.raises(StateError, match="its max_depth is larger than 128"):
        SnapshotChunker.load(dump, max=Options())
    with pytest.raises(OptionsError):
        SnapshotChunker.load(dump, max=5)  # type: ignore[arg-type]
    wrong: list[Any] = [5, None, [], {"max_depth": "x"}, {"other": 1}, {5: 1}]
    for options in wrong:
        with pytest.raises(StateError):
            SnapshotChunker.load({**dump, "options": options})
        with pytest.raises(StateError):
            ParserState.load({**create_state().dump(), "options": options})


# Nodes, events and paths


def test_nodes_events_and_paths_refuse_assignment() -> None:
    """Every public field is read-only, so nothing that a state handed out can break it."""
    state = parse_chunk(create_state(), '{"a": [1.5, "x", true, null], "b": "y')
    before = state.dump()
    things = [*state.walk(), *state.events, state.events[-1].path, Path.of("a"), state]
    for thing in things:
        public = [name for name in dir(thing) if not name.startswith("_")]
        assert public
        for name in public:
            with pytest.raises(AttributeError):
                setattr(thing, name, None)
            with pytest.raises(AttributeError):
                delattr(thing, name)
        with pytest.raises(AttributeError):
            thing.other = 1  # type: ignore[attr-defined]
    assert state.dump() == before
    assert parse_chunk(state, '"}').result == {"a": [1.5, "x", True, None], "b": "y"}


@given(st.text(max_size=6), st.integers(1, 3))
def test_duplicates_of_equal_value_are_the_same_object(key: str, count: int) -> None:
    """A key that comes again with an equal value changes nothing: the value is the same object."""
    quoted = unspool._quoting.quote(key)
    for value in ("1", '"x"', "[1, {}]", '{"p": [2.5]}', "null", '""'):
        head = f'{{"first": [], {quoted}: {value}, '
        state, parser = parse_chunk(create_state(), head), ValueParser()
        parser.feed(head)
        shown = parser.value
        for _ in range(count):
            assert state.value == shown  # read before the next fragment comes
            later = parse_chunk(state, f"{quoted}: {value}, ")
            parser.feed(f"{quoted}: {value}, ")
            assert state.value is later.value
            assert parser.value is shown
            state = later
        other = parse_chunk(state, f"{quoted}: 7, ")
        assert other.value is not state.value
        parser.feed(f"{quoted}: 7, ")
        assert parser.value is not shown
        assert parser.value == other.value
        assert parser.value["first"] is shown["first"]


def test_patterns_as_the_rfc_has_them() -> None:
    """`select` refuses half a surrogate pair and an escaped double quote in single quotes."""
    for pattern in ('$["\\ud83d"]', "$['\\ude00']", "$['\\\"']", '$["\ud83d"]', "$[0, '\\ud83d']"):
        with pytest.raises(PatternError):
            select.compile(pattern)
    assert select.compile('$["\\ud83d\\ude00"]').matches(("😀",))
    assert select.compile("$['\"']").matches(('"',))
