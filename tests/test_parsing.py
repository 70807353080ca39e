"""parsing.py and persist.py: the pure parser, what its states say, and what they are dumped as."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from tests.support import corpus
from tests.support.oracle import MISSING as NOTHING
from tests.support.oracle import same
from unspool import (
    MISSING,
    Code,
    IncompleteJSONError,
    JSONSyntaxError,
    Options,
    ParserState,
    StateError,
    create_state,
    finalize,
    parse_chunk,
)


def after(*fragments: Any, extract: bool = False, **options: Any) -> Any:
    """The state after these fragments."""
    state = create_state(Options(**options), extract=extract)
    for fragment in fragments:
        state = parse_chunk(state, fragment)
    return state


# prefix, then: value, result, is_complete, (index, line, column), expecting, open_path, the ids of the nodes
STATES: list[tuple[str, object, object, bool, tuple[int, int, int], str, str, list[int]]] = [
    ("", MISSING, MISSING, False, (0, 1, 1), "a value", "$", []),
    (" \n ", MISSING, MISSING, False, (3, 2, 2), "a value", "$", []),
    ("tr", MISSING, MISSING, False, (2, 1, 3), "the rest of true, false or null", "$", []),
    ("true", MISSING, MISSING, False, (4, 1, 5), "the end of true, false or null", "$", []),
    ("true ", True, True, True, (5, 1, 6), "the end of the text", "$", [0]),
    ("-", MISSING, MISSING, False, (1, 1, 2), "a digit", "$", []),
    ("12", MISSING, MISSING, False, (2, 1, 3), "the rest or the end of the number", "$", []),
    ("0", MISSING, MISSING, False, (1, 1, 2), "the end of the number, '.' or 'e'", "$", []),
    ("12\n", 12, 12, True, (3, 2, 1), "the end of the text", "$", [0]),
    ('"', "", MISSING, False, (1, 1, 2), "the rest of the string", "$", [0]),
    ('"a\\', "a", MISSING, False, (3, 1, 4), "the rest of the string", "$", [0]),
    ("[", [], MISSING, False, (1, 1, 2), "a value or ']'", "$[0]", [0]),
    ("[1", [], MISSING, False, (2, 1, 3), "the rest or the end of the number", "$[0]", [0]),
    ("[1 ", [1], MISSING, False, (3, 1, 4), "',' or ']'", "$", [0, 1]),
    ("[1,", [1], MISSING, False, (3, 1, 4), "a value", "$[1]", [0, 1]),
    ("[1]", [1], [1], True, (3, 1, 4), "the end of the text", "$", [0, 1]),
    ("{", {}, MISSING, False, (1, 1, 2), "a key in double quotes or '}'", "$", [0]),
    ('{"a', {}, MISSING, False, (3, 1, 4), "the rest of the key", "$", [0]),
    ('{"a"', {}, MISSING, False, (4, 1, 5), "':'", "$", [0]),
    ('{"a":', {}, MISSING, False, (5, 1, 6), "a value", "$.a", [0]),
    ('{"a":1.', {}, MISSING, False, (7, 1, 8), "a digit", "$.a", [0]),
    ('{"a":1e', {}, MISSING, False, (7, 1, 8), "a digit or a sign", "$.a", [0]),
    ('{"a":[{', {"a": [{}]}, MISSING, False, (7, 1, 8), "a key in double quotes or '}'", "$.a[0]", [0, 1, 2]),
    ('{"a":"x"', {"a": "x"}, MISSING, False, (8, 1, 9), "',' or '}'", "$", [0, 1]),
    ('{"a":"x",\r\n', {"a": "x"}, MISSING, False, (11, 2, 1), "a key in double quotes", "$", [0, 1]),
    ('{"a":"x"} ', {"a": "x"}, {"a": "x"}, True, (10, 1, 11), "the end of the text", "$", [0, 1]),
    ("[1,x", [1], MISSING, False, (3, 1, 4), "nothing", "$", [0, 1]),
    ('{"a":"x\n"}', {"a": "x"}, MISSING, False, (7, 1, 8), "nothing", "$", [0, 1]),
]


@pytest.mark.parametrize(
    ("prefix", "value", "result", "is_complete", "place", "expecting", "open_path", "ids"), STATES, ids=repr
)
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut"])
def test_states(
    cut: bool,
    prefix: str,
    value: object,
    result: object,
    is_complete: bool,
    place: tuple[int, int, int],
    expecting: str,
    open_path: str,
    ids: list[int],
) -> None:
    """Each of these prefixes has exactly this state, in one fragment and in many."""
    state = after(*(list(prefix) if cut else [prefix]))
    assert state.value is MISSING if value is MISSING else same(state.value, value)
    assert state.result is MISSING if result is MISSING else same(state.result, result)
    assert state.is_complete is is_complete
    assert (state.index, state.line, state.column) == place
    assert (state.expecting, str(state.open_path)) == (expecting, open_path)
    assert [node.id for node in state.walk()] == ids
    assert [state.node(node.id) for node in state.walk()] == list(state.walk())
    assert state.node(len(ids)) is None
    assert (state.root is None) is (ids == [])
    assert state.errors == (() if state.error is None else (state.error,))
    assert state.options == Options()
    assert state.skipped == ()


def test_the_first_state() -> None:
    """Before any text there is no value, no tree, no event and no error."""
    for state in (create_state(), create_state(Options()), create_state(None, extract=True), after("", b"")):
        assert (state.value, state.result, state.root, state.error) == (MISSING, MISSING, None, None)
        assert (state.events, state.errors, state.finished, state.skipped) == ((), (), (), ())
        assert (list(state.walk()), state.node(0), state.is_complete, state.index) == ([], None, False, 0)


def test_events_are_those_of_the_last_fragment() -> None:
    """A state tells what its fragment brought, as often as it is asked; forks and ends have their own."""
    state = after('{"a": "x')
    assert list(map(repr, state.events)) == [
        "Event(start_object, $, node_id=0, offset=0)",
        "Event(start_string, $.a, node_id=1, offset=6)",
        "Event(partial_string, $.a, 'x', node_id=1, offset=7)",
    ]
    assert state.events is state.events
    later = parse_chunk(state, 'y", "b": [1, 2')
    assert list(map(repr, later.events)) == [
        "Event(partial_string, $.a, 'y', node_id=1, offset=8)",
        "Event(complete_string, $.a, 'xy', node_id=1, offset=9)",
        "Event(start_array, $.b, node_id=2, offset=17)",
        "Event(complete_number, $.b[0], 1, node_id=3, offset=19)",
    ]
    [error] = finalize(later).events
    assert (error.kind, error.value) == ("error", finalize(later).error)
    [number] = finalize(after("12")).events
    assert repr(number) == "Event(complete_number, $, 12, node_id=0, offset=2)"
    assert [event.kind for event in parse_chunk(state, '"}').events] == ["complete_string", "end_object"]
    assert parse_chunk(state, "\\u00").events == ()
    assert ParserState.load(state.dump()).events == ()


def test_events_of_a_fragment_that_breaks() -> None:
    """The events before an error are told, then the error, which is that of the state."""
    state = after("[1, ", "2, x, 3]")
    assert [event.kind for event in state.events] == ["complete_number", "error"]
    assert state.events[-1].value == state.error
    assert parse_chunk(state, "4").events is state.events


def test_finalize_is_pure_and_repeatable() -> None:
    """What would be if the text ended here can be asked as often as wanted, and the text goes on all the same."""
    state = after("12")
    for final in [finalize(state) for _ in range(3)]:
        assert (final.value, final.result, final.is_complete) == (12, 12, True)
        assert (state.value, state.result, state.is_complete) == (MISSING, MISSING, False)
    assert finalize(parse_chunk(state, "34")).result == 1234
    assert parse_chunk(finalize(state), " ").result == 12
    assert parse_chunk(finalize(state), "3").error.code is Code.TRAILING_TEXT  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", " ", "[", '{"a": ', '"x', "tru", "-", '"\\u00', "[1, 2"])
def test_finalize_an_open_text(text: str) -> None:
    """An open text that ends is incomplete at its end; its value is what it was, and the state before is untouched."""
    state = after(text)
    final = finalize(state)
    assert isinstance(final.error, IncompleteJSONError)
    assert (final.error.offset, final.error.expected, final.error.path) == (len(text), state.expecting, state.open_path)
    assert final.value is state.value
    assert (final.result, final.is_complete, final.expecting) == (MISSING, False, "nothing")
    assert finalize(final) is final
    assert parse_chunk(final, "1") is final
    assert state.error is None


@pytest.mark.parametrize("text", ["[1]", '{"a": "x"} ', "true ", '"x"'])
def test_finalize_a_complete_text(text: str) -> None:
    """A complete text that ends stays what it is, by identity, however often it ends."""
    state = after(text)
    final = finalize(state)
    assert final.value is state.value is final.result is finalize(final).value
    assert final.root is state.root
    assert final.is_complete
    assert final.events == ()


def test_a_fragment_is_copied() -> None:
    """A buffer may be overwritten as soon as it was read: neither value nor events look at it again."""
    buffer = bytearray(b'["abc", 1')
    for fragment in (buffer, memoryview(buffer)):
        buffer[:] = b'["abc", 1'
        state = parse_chunk(create_state(), fragment)
        buffer[:] = b"x" * 9
        assert state.value == ["abc"]
        assert [event.kind for event in state.events] == [
            "start_array",
            "start_string",
            "partial_string",
            "complete_string",
        ]
        assert parse_chunk(state, bytearray(b"2]")).result == ["abc", 12]


@pytest.mark.parametrize("fragment", [None, 1, ["["], [91], (91,), {"a": 1}], ids=repr)
def test_a_fragment_is_text_or_bytes(fragment: Any) -> None:
    """Anything else is a TypeError: the one thing that is raised."""
    with pytest.raises(TypeError):
        parse_chunk(create_state(), fragment)


def test_finished() -> None:
    """With several documents, a state has those that its fragment closed; the value is the newest."""
    state = after("1 [2] ", multiple=True)
    assert (state.finished, state.value, state.is_complete) == ((1, [2]), [2], True)
    later = parse_chunk(state, '{"a": "x')
    assert (later.finished, later.value, later.is_complete) == ((), {"a": "x"}, False)
    assert parse_chunk(later, '"} null').finished == ({"a": "x"},)
    assert parse_chunk(later, '"} null\n').finished == ({"a": "x"}, None)
    assert parse_chunk(later, '"} null\n').value is None
    number = parse_chunk(state, "3")
    assert (number.finished, number.value) == ((), [2])
    assert (finalize(number).finished, finalize(number).result) == ((3,), 3)
    assert state.finished == (1, [2])
    assert after("[]").finished == ([],)
    assert finalize(after(" ", multiple=True)).result is MISSING


def test_a_loaded_state_has_no_fragment() -> None:
    """`finished` and `events` belong to the last fragment, and a loaded state has none: nothing is processed twice."""
    closed = parse_chunk(create_state(Options(multiple=True)), "[1]\n")
    assert closed.finished == ([1],)
    for state in (closed, parse_chunk(closed, " "), parse_chunk(closed, '"ab')):
        loaded = ParserState.load(state.dump())
        assert (loaded.finished, loaded.events) == ((), ())
        assert loaded.value == state.value


def test_limits_of_a_dump_hold_for_closed_values() -> None:
    """A dump whose values go over the limits of its own options is refused."""
    dump = parse_chunk(create_state(), '{"key": ["text", 1234').dump()
    for name in ("max_key", "max_path", "max_string", "max_number"):
        with pytest.raises(StateError, match="over the limit"):
            ParserState.load({**dump, "options": {**dump["options"], name: 2}})
    assert ParserState.load(dump).dump() == dump


def test_ids_go_on_through_several_documents() -> None:
    """Each document has its own root; ids go on counting, and those of earlier documents are gone."""
    state = after("[1] [2, 3]", multiple=True)
    assert [(node.id, node.parent_id) for node in state.walk()] == [(2, -1), (3, 2), (4, 2)]
    assert state.node(1) is None
    assert state.node(4).value == 3


def test_text_after_the_value_may_be_ignored() -> None:
    """Where what follows is ignored, the state of the value stays the very same."""
    state = after("[1] x", trailing="ignore")
    assert state.result == [1]
    assert parse_chunk(state, "y") is state
    assert finalize(state) is state


def test_errors_in_a_state() -> None:
    """The first error is `error`, all are `errors`; after one the value stays, but it is no result."""
    state = after("[1, x, tru, 2]", on_error="skip")
    assert [error.code for error in state.errors] == [Code.UNEXPECTED_CHARACTER, Code.INVALID_LITERAL]
    assert state.error is state.errors[0]
    assert (state.value, state.is_complete, state.result) == ([1, 2], True, MISSING)
    older = after("[1, x", on_error="skip")
    futures = [parse_chunk(older, more) for more in (", y, 2]", ", 3, z")]
    assert [len(future.errors) for future in (older, *futures)] == [1, 2, 2]
    assert futures[0].errors[1].offset == 7
    assert futures[1].errors[1].offset == 10


@pytest.mark.parametrize(
    ("text", "extract", "options"),
    [
        ('Look: ["a" "b"] and more', True, {}),
        ('Look: {"a": 1} and more', True, {"trailing": "ignore"}),
        ("Some prose, then\n[1]", True, {"max_chars": 9}),
        ('Look: ["abcd"] and more', True, {"max_string": 3}),
        (b'  "\xf0\x9f', False, {"on_error": "skip", "max_chars": 1}),
        (b"{} x\xf0\x9f", False, {"on_error": "skip"}),
        (b"{}\xf0\x9f", False, {"on_error": "skip", "trailing": "ignore"}),
        (b'{"a": 1}\xf0\x9f', True, {"trailing": "ignore"}),
        (b'["a" 1]\xf0\x9f', True, {}),
        (b"[x]\xf0\x9f", False, {}),
    ],
    ids=repr,
)
def test_what_follows_a_stop_does_not_count(text: Any, extract: bool, options: dict[str, Any]) -> None:
    """Where reading stopped, nothing that follows shows, in the same fragment or in a later one."""
    whole = after(text, extract=extract, **options)
    for place in range(len(text) + 1):
        state = after(text[:place], text[place:], extract=extract, **options)
        assert (state.is_complete, state.skipped, state.errors) == (whole.is_complete, whole.skipped, whole.errors)
        assert state.dump() == whole.dump()
        assert ParserState.load(state.dump()).dump() == whole.dump()


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (after(""), "ParserState(open, index=0, expecting a value)"),
        (after('{"a": "secret'), "ParserState(open, index=13, expecting the rest of the string)"),
        (after("[1]"), "ParserState(complete, index=3, expecting the end of the text)"),
        (after("[1]x"), "ParserState(error, index=3, expecting nothing)"),
    ],
)
def test_repr(state: ParserState, shown: str) -> None:
    """The repr tells how far the text is, and nothing of what is in it."""
    assert repr(state) == shown


# Identity, of trees too.


@pytest.mark.parametrize("more", [" ", "1", "-", "tru", "\n"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_tree_that_did_not_change_is_the_same_object(first: int, more: str) -> None:
    """Where a fragment told nothing new, the whole tree is the same object, whichever is asked first."""
    state = after('{"a": [[0], [')
    later = parse_chunk(state, more)
    roots = {place: (state, later)[place].root for place in (first, 1 - first)}
    other = parse_chunk(state, '9, {"b": ')
    assert other.root is not None
    assert roots[0] is roots[1]
    assert parse_chunk(later, "").root is roots[0]


def test_an_open_string_that_did_not_change_is_the_same_node() -> None:
    """Half an escape changes nothing in the tree, whichever state is asked first."""
    for first in (0, 1):
        states = [after('["a')]
        states.append(parse_chunk(states[0], "\\u00"))
        for place in (first, 1 - first):
            assert states[place].root is not None
        assert states[0].root is states[1].root


def test_other_futures_do_not_touch_the_tree() -> None:
    """A tree that did not change stays the same object, whatever else grew from its past meanwhile."""
    state = after('{"a": [[0], [')
    root = state.root
    for future in ("1,", '"x', "]", "{"):
        assert parse_chunk(state, future).root is not root
        assert parse_chunk(state, " ").root is root


@pytest.mark.parametrize("text", ["[", "[[", '{"a": {"b": ["x", ', '["\\ud83d", '])
def test_where_errors_are_skipped_equal_values_are_one_object(text: str) -> None:
    """A string that is dropped by the fragment that began it leaves the very same value, whatever else grew."""
    state = after(text, on_error="skip")
    value = state.value
    assert parse_chunk(state, '"zz').value is not value
    dropped = parse_chunk(state, '"a\\q')
    assert len(dropped.errors) == 1
    assert dropped.value is value


def test_a_string_that_came_and_went() -> None:
    """A string that is dropped by a later fragment leaves a tree that equals the one before it, asked for or not."""
    for ask in (False, True):
        state = after('{"a": [1, ', on_error="skip")
        root = state.root
        begun = parse_chunk(state, '"x')
        assert not ask or begun.root != root
        dropped = parse_chunk(begun, "\\q")
        assert dropped.root == root
        assert same(dropped.value, state.value)


def test_threads_see_one_value() -> None:
    """Whichever thread asks first, all of them are shown one object, and so is whoever asks later."""
    text = corpus.DOCUMENTS["itinerary"]
    with ThreadPoolExecutor(8) as pool:
        for end in range(20, 200, 9):
            states = [after(text[:end])]
            states.append(parse_chunk(states[0], "" if text[end] in " \n" else text[end]))
            for state in states:
                assert len({id(value) for value in pool.map(lambda s: s.value, [state] * 16)}) == 1
                assert len({id(root) for root in pool.map(lambda s: s.root, [state] * 16)}) == 1


# Dump and load.

OPTIONS = {
    "max_depth": 128,
    "max_chars": 16777216,
    "max_string": 16777216,
    "max_key": 65536,
    "max_path": 4096,
    "max_number": 1000,
    "max_errors": 1000,
    "trailing_commas": False,
    "multiple": False,
    "duplicate_keys": "last",
    "surrogates": "replace",
    "trailing": "error",
    "floats": "float",
    "on_error": "stop",
    "repair": "none",
    "truncated": "error",
    "max_repairs": 1000,
    "latex": False,
}

EMPTY: dict[str, Any] = {
    "version": 2,
    "options": OPTIONS,
    "mode": "VALUE",
    "position": [0, 1, 1],
    "next_id": 0,
    "roots": 0,
    "tree": [],
    "string": None,
    "key": None,
    "text": "",
    "carry": "",
    "nested": 0,
    "rest": "",
    "extract": None,
    "repair": None,
    "errors": [],
}

DUMPS: list[tuple[ParserState, dict[str, Any]]] = [
    (after(""), EMPTY),
    (
        after('{"a": [1.50, {"b": null}, "x\\u00'),
        EMPTY
        | {
            "mode": "STRING",
            "position": [32, 1, 33],
            "next_id": 6,
            "tree": [["{", 0, None], ["[", 1, "a"], ["n", 2, None, "1.50"], ["{", 3, None], ["l", 4, "b", None], ["]"]],
            "string": [5, None, "x"],
            "text": "x",
            "carry": "\\u00",
        },
    ),
    (
        after('[\n["s", true],\n{"key": -1.5e'),
        EMPTY
        | {
            "mode": "EXPONENT_MARK",
            "position": [28, 3, 14],
            "next_id": 5,
            "tree": [["[", 0, None], ["[", 1, None], ["s", 2, None, "s"], ["l", 3, None, True], ["]"], ["{", 4, None]],
            "key": "key",
            "text": "-1.5e",
        },
    ),
    (
        after('{"a": fal'),
        EMPTY
        | {
            "mode": "LITERAL",
            "position": [9, 1, 10],
            "next_id": 1,
            "tree": [["{", 0, None]],
            "key": "a",
            "text": "fal",
        },
    ),
    (
        after(b'{"k\xf0\x9f'),
        EMPTY
        | {
            "mode": "KEY_STRING",
            "position": [3, 1, 4],
            "next_id": 1,
            "tree": [["{", 0, None]],
            "text": "k",
            "rest": "f09f",
        },
    ),
    (
        after('[1, "x\n'),
        EMPTY
        | {
            "mode": "FAILED",
            "position": [6, 1, 7],
            "next_id": 3,
            "tree": [["[", 0, None], ["n", 1, None, "1"]],
            "string": [2, None, "x"],
            "errors": [["control_character", 6, 1, 7, [1], "an escape such as \\n or \\u0000"]],
        },
    ),
    (
        after('[{"a": x "]", [', on_error="skip", max_depth=None),
        EMPTY
        | {
            "options": OPTIONS | {"on_error": "skip", "max_depth": None},
            "mode": "SKIP",
            "position": [15, 1, 16],
            "next_id": 2,
            "tree": [["[", 0, None], ["{", 1, None]],
            "nested": 1,
            "errors": [
                ["unexpected_character", 7, 1, 8, [0, "a"], "a value"],
                ["unexpected_character", 14, 1, 15, [0], "a key in double quotes"],
            ],
        },
    ),
    (
        after('Sure: {"a": "b', extract=True),
        EMPTY
        | {
            "mode": "STRING",
            "position": [14, 1, 15],
            "next_id": 2,
            "tree": [["{", 0, None]],
            "string": [1, "a", "b"],
            "key": "a",
            "text": "b",
            "extract": {
                "multiple": False,
                "mode": 3,
                "offset": 14,
                "held": "",
                "place": 2,
                "is_blank": False,
                "is_done": False,
                "fence": "",
                "size": 0,
                "label": "",
                "is_within": False,
                "depth": 1,
                "string": 1,
                "skipped": [[0, 6, "prose"]],
            },
        },
    ),
]


@pytest.mark.parametrize(("state", "dumped"), DUMPS, ids=[repr(state) for state, _ in DUMPS])
def test_the_format_of_a_dump(state: ParserState, dumped: dict[str, Any]) -> None:
    """A dump of version 1 is exactly this, both ways; whoever changes it gives it another version."""
    assert state.dump() == dumped
    assert json.loads(json.dumps(state.dump())) == dumped
    loaded = ParserState.load(copy.deepcopy(dumped))
    assert loaded.dump() == dumped
    assert loaded.root == state.root


def test_a_dump_is_ones_own() -> None:
    """Changing a dump changes neither the state nor its next dump, nor one that was loaded from it."""
    state = after('{"a": [1, "x')
    dumped = state.dump()
    loaded = ParserState.load(dumped)
    expected = copy.deepcopy(dumped)
    for value in dumped.values():
        if isinstance(value, (dict, list)):
            value.clear()
    assert state.dump() == loaded.dump() == expected


@pytest.mark.parametrize(
    "options",
    [
        {
            "max_depth": None,
            "max_chars": None,
            "max_string": None,
            "max_key": None,
            "max_path": None,
            "max_number": None,
        },
        {"max_depth": 3, "max_chars": 99, "max_string": 9, "max_key": 8, "max_path": 9, "max_number": 7},
        {"duplicate_keys": "error"},
        {"surrogates": "error"},
        {"surrogates": "keep"},
        {"trailing_commas": True},
        {"multiple": True},
        {"trailing": "ignore"},
        {"floats": "decimal"},
        {"on_error": "skip"},
    ],
    ids=repr,
)
def test_options_come_back(options: dict[str, Any]) -> None:
    """A loaded state reads on with the options of the one that was dumped."""
    texts = ['{"a": [1.5, "x', '"], "a": 2, }', " [1,2] x"]
    state = after(texts[0], **options)
    loaded = ParserState.load(json.loads(json.dumps(state.dump())))
    assert loaded.options == state.options == Options(**options)
    for text in texts[1:]:
        state, loaded = parse_chunk(state, text), parse_chunk(loaded, text)
        assert same(loaded.value, state.value)
        assert loaded.errors == state.errors
        assert loaded.dump() == state.dump()


def test_decimals_come_back() -> None:
    """A number is dumped as it is spelled, so it comes back as what it was."""
    loaded: Any = ParserState.load(after("[1.50, 2e1, 3, 4.0", floats="decimal").dump())
    assert same(loaded.value, [Decimal("1.50"), Decimal("2e1"), 3])
    assert same(parse_chunk(loaded, "1]").result, [Decimal("1.50"), Decimal("2e1"), 3, Decimal("4.01")])


WRAPPED = '\ufeffHere:\n```json\n{"a": [1, "x"]}\n```\nAnd `{"b": 2}` too.\n~~~\n[3]\n~~~\n'


@pytest.mark.parametrize("multiple", [False, True])
def test_dumped_while_extracting(multiple: bool) -> None:
    """From every character of a text that wraps JSON, the state that was loaded goes on as the one that was not."""
    whole = finalize(after(WRAPPED, extract=True, multiple=multiple))
    state = create_state(Options(multiple=multiple), extract=True)
    for place, character in enumerate(WRAPPED):
        loaded = ParserState.load(json.loads(json.dumps(state.dump())))
        assert (loaded.skipped, loaded.dump()) == (state.skipped, state.dump())
        final = finalize(parse_chunk(loaded, WRAPPED[place:]))
        assert (final.value, final.error, final.skipped) == (whole.value, whole.error, whole.skipped)
        assert final.dump() == whole.dump()
        state = parse_chunk(state, character)
    assert whole.value == ([3] if multiple else {"a": [1, "x"]})


def test_what_a_string_at_the_root_hides() -> None:
    """With several documents, a string that is dropped shows the document before it again, dumped or not."""
    state = after('[1] "a', multiple=True, on_error="skip")
    loaded = ParserState.load(json.loads(json.dumps(state.dump())))
    for one in (state, loaded):
        dropped = parse_chunk(one, "\\q\n")
        assert (dropped.value, dropped.is_complete) == ([1], True)


def changed(read: str, **fields: Any) -> dict[str, Any]:
    """The dump of a text with some fields changed."""
    return after(read).dump() | fields  # type: ignore[no-any-return]


IMPOSSIBLE: dict[str, Any] = {
    "no dict": [],
    "a field too few": {key: value for key, value in EMPTY.items() if key != "carry"},
    "a field too many": EMPTY | {"more": 1},
    "another version": EMPTY | {"version": 3},
    "options that make no sense": EMPTY | {"options": OPTIONS | {"max_depth": -1}},
    "options that there are not": EMPTY | {"options": OPTIONS | {"speed": 1}},
    "options that are none": EMPTY | {"options": []},
    "no mode": EMPTY | {"mode": "SLEEPING"},
    "a mode that cannot be named": EMPTY | {"mode": []},
    "a position too short": EMPTY | {"position": [0, 1]},
    "a column before the first": EMPTY | {"position": [0, 1, 0]},
    "a line behind the text": EMPTY | {"position": [0, 2, 1]},
    "a position over the limit": EMPTY | {"options": OPTIONS | {"max_chars": 3}, "position": [4, 1, 5]},
    "a number that is true": EMPTY | {"next_id": True},
    "a number beyond all": EMPTY | {"next_id": 1 << 61},
    "a closer too many": changed("[1,", tree=[["]"]]),
    "a closer with something": changed("[1,", tree=[["[", 0, None], ["]", 0]]),
    "ids that go back": changed("[1,", tree=[["[", 1, None], ["n", 0, None, "1"]]),
    "an id that is not given yet": changed("[1,", tree=[["[", 5, None]]),
    "two roots": changed("[1,", tree=[["n", 0, None, "1"], ["[", 1, None]]),
    "a key in an array": changed("[1,", tree=[["[", 0, None], ["n", 1, "a", "1"]]),
    "no key in an object": changed('{"a":1,', tree=[["{", 0, None], ["n", 1, None, "1"]]),
    "a container with a text": changed("[1,", tree=[["[", 0, None, "x"]]),
    "deeper than the limit": changed("[[", options=OPTIONS | {"max_depth": 1}),
    "a string that is none": changed('["x",', tree=[["[", 0, None], ["s", 1, None, 5]]),
    "a number that is none": changed("[1,", tree=[["[", 0, None], ["n", 1, None, "1x"]]),
    "a number that is cut": changed("[1,", tree=[["[", 0, None], ["n", 1, None, "1."]]),
    "a number that is nothing": changed("[1,", tree=[["[", 0, None], ["n", 1, None, ""]]),
    "a number that overflows": changed("[1,", tree=[["[", 0, None], ["n", 1, None, "1e999"]]),
    "a number of too many digits": changed("[1,", tree=[["[", 0, None], ["n", 1, None, "1" * 9999]]),
    "a literal that is none": changed("[null,", tree=[["[", 0, None], ["l", 1, None, 5]]),
    "a kind that is none": changed("[null,", tree=[["[", 0, None], ["x", 1, None, None]]),
    "a node with too much": changed("[null,", tree=[["[", 0, None], ["l", 1, None, None, None]]),
    "a tree that is none": changed("[1,", tree=5),
    "a key twice where that is an error": changed(
        "",
        options=OPTIONS | {"duplicate_keys": "error"},
        mode="AFTER_MEMBER",
        position=[20, 1, 21],
        next_id=3,
        tree=[["{", 0, None], ["n", 1, "a", "1"], ["n", 2, "a", "1"]],
    ),
    "no open string": changed('["x', string=None),
    "an open string where none is": changed("[1,", string=[1, None, "x"]),
    "an open string of another id": changed('["x', string=[0, None, "x"]),
    "an open string of another text": changed('["x', string=[1, None, "y"]),
    "an open string under a key": changed('["x', string=[1, "k", "x"]),
    "a string over the limit": changed('["abc', options=OPTIONS | {"max_string": 2}),
    "a key that is not the one of the string": changed('{"a":"x', key="b"),
    "a key where none is": changed("[1,", key="b"),
    "a path over the limit": changed('{"ab": {"c', options=OPTIONS | {"max_path": 2}),
    "a key over the limit": changed('{"abc', options=OPTIONS | {"max_key": 2}),
    "a number in hand that is none": changed("[1", text="x"),
    "a number in hand in another mode": changed("[1", text="1.5"),
    "a number in hand over the limit": changed("[123", options=OPTIONS | {"max_number": 2}),
    "a literal in hand that is none": changed("[t", text="x"),
    "a literal in hand of no length": changed("[t", text=""),
    "a literal in hand that is whole": changed("[t", text="true"),
    "a text where none is": changed("[1,", text="x"),
    "a text that is none": changed("[1,", text=None),
    "half an escape where none is": changed("[1,", carry="\\u"),
    "half an escape that is none": changed('["x', carry="n"),
    "a whole escape": changed('["x', carry="\\n"),
    "half an escape longer than the text": changed('"', carry="\\u12"),
    "bytes that are none": changed('["x', rest="zz"),
    "bytes that are whole": changed('["x', rest="41"),
    "bytes that are broken": changed('["x', rest="ff"),
    "nesting where nothing is skipped": changed("[1,", nested=1),
    "array mode in no array": changed("", mode="AFTER_ITEM"),
    "array mode in an object": changed("{", mode="VALUE_OR_CLOSE"),
    "object mode in no object": changed("", mode="KEY"),
    "object mode in an array": changed("[", mode="AFTER_MEMBER"),
    "root mode in a container": changed("[", mode="END"),
    "the end without a value": changed("", mode="END"),
    "the end of several": changed("1 ", options=OPTIONS | {"multiple": True}),
    "ignoring without a value": changed("", mode="IGNORE", options=OPTIONS | {"trailing": "ignore"}),
    "a second value": changed("1 ", mode="VALUE"),
    "between values where there is one": changed("", mode="BETWEEN"),
    "skipping where errors stop": changed("[1,", mode="SKIP"),
    "skipping outside of everything": changed("", mode="SKIP", options=OPTIONS | {"on_error": "skip"}),
    "skipping a string outside of everything": changed("", mode="SKIP_STRING", options=OPTIONS | {"on_error": "skip"}),
    "skipping a string between several values": changed(
        "", mode="SKIP_STRING", options=OPTIONS | {"on_error": "skip", "multiple": True}
    ),
    "more ids than characters": EMPTY | {"next_id": 5},
    "more documents than characters": EMPTY | {"mode": "BETWEEN", "roots": 5, "options": OPTIONS | {"multiple": True}},
    "more brackets skipped than characters": changed(
        "[x", mode="SKIP", nested=5, options=OPTIONS | {"on_error": "skip"}
    ),
    "failed without an error": changed("[1,", mode="FAILED"),
    "an error of no code": changed("[x", errors=[["sad", 1, 1, 2, [], ""]]),
    "an error without a place": changed("[x", errors=[["unexpected_character"]]),
    "an error before the text": changed("[x", errors=[["unexpected_character", -1, 1, 2, [], ""]]),
    "an error at no path": changed("[x", errors=[["unexpected_character", 1, 1, 2, [-1], ""]]),
    "an error that expects nothing sayable": changed("[x", errors=[["unexpected_character", 1, 1, 2, [], 5]]),
    "extracting with something else": EMPTY | {"extract": 5},
    "extracting several where one is wanted": EMPTY
    | {"extract": after("", extract=True, multiple=True).dump()["extract"]},
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_have_been_dumped(case: str) -> None:
    """A dump that no text can have is a `StateError`, whatever is wrong with it."""
    with pytest.raises(StateError, match=r"dump|extractor"):
        ParserState.load(IMPOSSIBLE[case])


def test_a_loaded_error_is_the_one_that_was() -> None:
    """Errors come back with their types, places and paths; nothing that was said is lost."""
    for text in ('{"a": [x', "[" * 200, "[1"):
        state = finalize(after(text))
        loaded = ParserState.load(json.loads(json.dumps(state.dump())))
        assert isinstance(loaded.error, JSONSyntaxError)
        assert type(loaded.error) is type(state.error)
        assert (loaded.error, str(loaded.error)) == (state.error, str(state.error))
        assert loaded.value == state.value
        assert loaded.result is MISSING
        assert parse_chunk(loaded, "1") is loaded


@pytest.mark.parametrize(("prefix", "value"), corpus.PARTIAL)
def test_what_is_visible_of_a_prefix(prefix: str, value: object) -> None:
    """Of each prefix in our corpus the state shows what is visible of it, loaded or not."""
    state = after(prefix)
    for one in (state, ParserState.load(state.dump())):
        assert same(NOTHING if one.value is MISSING else one.value, value)


def test_a_finalizer_may_ask_too() -> None:
    """Code that runs because of a garbage collection, in the middle of showing a value, can show values itself."""
    # In a process of its own: what this guards against is one that never ends.
    run = subprocess.run([sys.executable, "-c", FINALIZER], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("text", ["", '{"a": [1, "x\\u00', '{"a": 1}', "[1, x"])
def test_copies(text: str) -> None:
    """A state never changes, so a copy of it is itself; what was pickled goes on like the original."""
    state = after(text)
    assert copy.copy(state) is state
    assert copy.deepcopy([state])[0] is state
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(state, protocol))
        assert twin.dump() == state.dump()
        assert parse_chunk(twin, '41"]}').dump() == parse_chunk(state, '41"]}').dump()


def test_copies_of_nodes() -> None:
    """So is a copy of a node; pickled it would be a tree without its state."""
    node = after("[1, [2").root
    assert copy.copy(node) is node
    assert copy.deepcopy(node) is node
    with pytest.raises(TypeError, match="ParserState"):
        pickle.dumps(node)


FINALIZER = """
import faulthandler, gc
from unspool import create_state, parse_chunk

faulthandler.dump_traceback_later(20, exit=True)
probe = parse_chunk(create_state(), '{"x": [1, [2, 3')
class Cycle:
    def __init__(self, state):
        self.me, self.state = self, state
    def __del__(self):
        assert parse_chunk(probe, ", ").value == {"x": [1, [2, 3]]}
        asked.append((self.state, self.state.value, self.state.root))
asked = []
text = '{"a": [' + '{"b": [{"c": [1, {"d": {}}]}]},' * 60
states = [create_state()]
for start in range(0, len(text), 3):
    states.append(parse_chunk(states[-1], text[start : start + 3]))
gc.set_threshold(3, 1, 1)
for state in states:
    Cycle(state)
    state.root, state.value
gc.set_threshold(700, 10, 10)
assert len(asked) > len(states) // 2
assert all(value is state.value and root is state.root for state, value, root in asked)
assert states[-1].value == parse_chunk(create_state(), text).value
assert all(state.root is None or state.root.value is state.value for state in states)
print("done")
"""
