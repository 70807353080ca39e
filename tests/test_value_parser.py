"""handles.py: ValueParser, the value of a text so far: at every moment, kept or live, and by identity."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import sys
from contextlib import suppress
from itertools import pairwise
from threading import Thread
from types import NoneType
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import corpus
from tests.support.observe import fault
from tests.support.oracle import MISSING as NOTHING
from tests.support.oracle import read, same
from unspool import (
    COMPILED,
    MISSING,
    Code,
    FragmentParser,
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    Options,
    ParserState,
    StateError,
    ValueParser,
    create_state,
    finalize,
    parse_chunk,
)
from unspool._tree.fold import Branch

if TYPE_CHECKING:
    from collections.abc import Callable

MULTIPLE = Options(multiple=True)
SKIP = Options(on_error="skip")


def fed(*fragments: Any, **named: Any) -> Any:
    """A parser that was fed these fragments."""
    parser = ValueParser(**named)
    for fragment in fragments:
        parser.feed(fragment)
    return parser


# fragment, then: the value, is_complete, finished
MOMENTS: list[tuple[str, object, bool, tuple[object, ...]]] = [
    ("", MISSING, False, ()),
    (" ", MISSING, False, ()),
    ("{", {}, False, ()),
    ('"na', {}, False, ()),
    ('me"', {}, False, ()),
    (": ", {}, False, ()),
    ('"', {"name": ""}, False, ()),
    ("Zo", {"name": "Zo"}, False, ()),
    ("\\u00", {"name": "Zo"}, False, ()),
    ("eb", {"name": "Zoë"}, False, ()),
    ('",', {"name": "Zoë"}, False, ()),
    ('"n":1', {"name": "Zoë"}, False, ()),
    ("2", {"name": "Zoë"}, False, ()),
    (',"on":tr', {"name": "Zoë", "n": 12}, False, ()),
    ("ue,", {"name": "Zoë", "n": 12, "on": True}, False, ()),
    ('"l":[[]', {"name": "Zoë", "n": 12, "on": True, "l": [[]]}, False, ()),
    ("]", {"name": "Zoë", "n": 12, "on": True, "l": [[]]}, False, ()),
    ("}", {"name": "Zoë", "n": 12, "on": True, "l": [[]]}, True, ({"name": "Zoë", "n": 12, "on": True, "l": [[]]},)),
    ("\n", {"name": "Zoë", "n": 12, "on": True, "l": [[]]}, True, ()),
]


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
@pytest.mark.parametrize(
    "encode", [str, str.encode, lambda text: bytearray(text, "utf-8")], ids=["str", "bytes", "array"]
)
def test_every_moment(encode: Callable[[str], Any], live: bool) -> None:
    """After each fragment the parser shows what is known by then, and no fault."""
    parser = ValueParser(live=live)
    assert parser.value is MISSING
    assert (parser.is_complete, parser.finished, parser.error, parser.errors, parser.skipped) == (
        False,
        (),
        None,
        (),
        (),
    )
    for fragment, value, is_complete, finished in MOMENTS:
        parser.feed(encode(fragment))
        assert parser.value is value if value is MISSING else same(parser.value, value)
        assert (parser.is_complete, parser.finished) == (is_complete, finished)
        assert (parser.error, parser.errors, parser.skipped) == (None, (), ())
    assert same(parser.close(), MOMENTS[-1][1])


def test_tree_and_state_at_every_moment() -> None:
    """The state of the same text has the value of the parser in its tree, and has read as many characters."""
    parser, state, length = ValueParser(), create_state(), 0
    assert state.root is None
    for fragment, value, is_complete, _ in MOMENTS:
        parser.feed(fragment)
        state = parse_chunk(state, fragment)
        length += len(fragment)
        assert (state.index, state.is_complete) == (length, is_complete)
        assert state.value is parser.value is MISSING or same(state.value, parser.value)
        if value is MISSING:
            assert state.root is None
        else:
            assert state.root is not None
            assert same(state.root.value, value)
            assert state.root.closed is is_complete


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
@pytest.mark.parametrize("text", [*corpus.DOCUMENTS.values(), *corpus.VALID])
def test_asked_never_or_always(text: str, live: bool) -> None:
    """The final value is that of the whole text, whether it was asked for on the way or not."""
    expected = json.loads(text)
    for ask in (False, True):
        parser = ValueParser(live=live)
        for start in range(0, len(text), 3):
            parser.feed(text[start : start + 3])
            _ = parser.value if ask else None
        assert same(parser.close(), expected)


@pytest.mark.parametrize(("prefix", "value"), corpus.PARTIAL)
def test_what_is_visible_of_a_prefix(prefix: str, value: object) -> None:
    """Of each prefix in our corpus the value is what is visible of it, also behind an error."""
    for live in (False, True):
        parser = ValueParser(live=live)
        with suppress(JSONSyntaxError):
            parser.feed(prefix)
        assert same(NOTHING if parser.value is MISSING else parser.value, value)


# Identity.

UNCHANGED = [
    ('{"a": [1', "2"),
    ('{"a": [1,', " \n"),
    ('{"a": [1]', "}"),
    ('{"a": [1]', "} "),
    ('{"a": [[', "]]"),
    ('{"a": [[', "], 1"),
    ('["ab', '"'),
    ('["ab', '"]'),
    ('["ab', "\\u00"),
    ('["ab', "\\ud83d"),
    ('["ab\\ud83d', "\\"),
    ('["ab"', ", tru"),
    ('{"a": {}', ', "key'),
    ('{"a": {}, "key', '": -1.5e'),
    ('"ab', '"'),
    ("[", "]"),
    ("{", ' "k"'),
    ('[["x', '"], ['[:3]),
]
CHANGED = [
    ('{"a": [1', ","),
    ('{"a": [1,', '"'),
    ('["a', "b"),
    ('["a', 'b"'),
    ('["a"', ", ["),
    ('["\\ud83d', "x"),
    ('{"a": {}', ', "k": "'),
    ("[true", ","),
]


@pytest.mark.parametrize(("start", "more"), UNCHANGED)
@pytest.mark.parametrize("asked", ["early", "late", "both", "state first"])
def test_nothing_visible_changed(asked: str, start: str, more: str) -> None:
    """A fragment that changes nothing visible leaves the very same value, whenever it is asked for."""
    parser, state = fed(start), parse_chunk(create_state(), start)
    before = parser.value if asked in ("early", "both") else MISSING
    shown = state.value if asked == "state first" else MISSING
    parser.feed(more)
    later = parse_chunk(state, more)
    after = parser.value
    assert after is parser.value
    assert later.value is state.value
    if asked == "state first":
        assert later.value is shown
    if asked in ("early", "both"):
        assert after is before


@pytest.mark.parametrize(("start", "more"), CHANGED)
@pytest.mark.parametrize("asked", ["early", "late"])
def test_something_visible_changed(asked: str, start: str, more: str) -> None:
    """A fragment that changes something visible gives another value, and the old one stays as it was."""
    parser, state = fed(start), parse_chunk(create_state(), start)
    early = asked == "early"
    seen = [state.value] if early else []
    handed_out = parser.value
    parser.feed(more)
    later = parse_chunk(state, more).value
    for before, after in ((seen[0] if early else state.value, later), (handed_out, parser.value)):
        assert after is not before
        assert after != before
        assert same(before, fed(start).value)
        assert same(after, fed(start + more).value)


def test_parts_that_did_not_change_are_the_same_objects() -> None:
    """Off the path to what changed, every part of the next value is that of the one before."""
    parser = fed('{"days": [{"title": "Arrival", "at": [1, 2]}, {"title": "Wal')
    before = parser.value
    parser.feed('king", "at": [3')
    parser.feed(", 4]}, {}]")
    after = parser.value
    assert before == {"days": [{"title": "Arrival", "at": [1, 2]}, {"title": "Wal"}]}
    assert after["days"][0] is before["days"][0]
    assert after["days"][0]["at"] is before["days"][0]["at"]
    assert after["days"][1] is not before["days"][1]
    at = after["days"][1]["at"]
    parser.feed(', "n": 1}')
    assert parser.close()["days"][1]["at"] is at


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1), (1, 3, 0, 2)])
def test_the_order_of_asking_does_not_matter(order: tuple[int, ...]) -> None:
    """Whichever of four states is asked first, those that show the same show the same object."""
    state, states = create_state(), []
    for fragment in ('{"a": ["x', "\\u00", "e9", '"'):
        state = parse_chunk(state, fragment)
        states.append(state)
    values = {place: states[place].value for place in order}
    assert [values[place] for place in range(4)] == [{"a": ["x"]}, {"a": ["x"]}, {"a": ["xé"]}, {"a": ["xé"]}]
    assert values[0] is values[1]
    assert values[2] is values[3]


def test_other_futures_do_not_touch_the_value() -> None:
    """What grows from a state changes neither the value of the state nor of another future, nor their identity."""
    state = parse_chunk(create_state(), '{"a": [[1, "x')
    value = state.value
    for future in ('y"', '", 2, [', '", {"b": "', "z"):
        assert parse_chunk(state, future).value != value
        assert state.value is value
    later = parse_chunk(state, "w")
    value = later.value
    assert state.value == {"a": [[1, "x"]]}
    assert parse_chunk(state, '", 3,').value == {"a": [[1, "x", 3]]}
    assert later.value is value
    assert value == {"a": [[1, "xw"]]}
    last = parse_chunk(later, '"]]}')
    assert last.root is not None
    assert last.value is last.root.value is last.result is value


@pytest.mark.skipif(COMPILED, reason="threads do not take turns inside of compiled code")
def test_other_futures_on_other_threads_do_not_touch_the_value() -> None:
    """A thread that shows another future of a state, while one future is shown, is not seen by it."""
    lines, first = inspect.getsourcelines(Branch.value)
    for line in range(first, first + len(lines)):  # the other thread comes in between, before each of the lines
        for visit in (1, 2):
            state = parse_chunk(create_state(), "[[")
            mine = parse_chunk(state, '"x')
            visits = 0

            def come_between(frame: Any, event: str, _: object, state: Any = state, at: Any = (line, visit)) -> Any:
                nonlocal visits
                if frame.f_code is Branch.value.__code__ and event == "line" and frame.f_lineno == at[0]:
                    visits += 1
                    if visits == at[1]:
                        thread = Thread(target=lambda: parse_chunk(state, "1,").value)
                        thread.start()
                        thread.join(timeout=0.05)  # it may have to wait until we have shown ours
                return come_between

            before = sys.gettrace()
            sys.settrace(come_between)
            try:
                value = mine.value
            finally:
                sys.settrace(before)
            last = parse_chunk(mine, '"]]')
            assert last.root is not None
            assert value == last.value == last.root.value == [["x"]]
            assert last.finished == ([["x"]],)


@pytest.mark.skipif(COMPILED, reason="threads do not take turns inside of compiled code")
def test_a_dropped_string_on_another_thread_does_not_touch_the_value() -> None:
    """A future that closes a container after dropping its string shows it on its own, also between two lines."""
    lines, first = inspect.getsourcelines(Branch.value)
    for line in range(first, first + len(lines)):
        state = parse_chunk(create_state(SKIP), '["abc')
        others: list[Any] = []

        def come_between(
            frame: Any, event: str, _: object, state: Any = state, at: int = line, others: list[Any] = others
        ) -> Any:
            if frame.f_code is Branch.value.__code__ and event == "line" and frame.f_lineno == at and not others:
                others.append(None)
                thread = Thread(target=lambda: others.append(parse_chunk(state, '\x01"]').value))
                thread.start()
                thread.join(timeout=0.05)  # it may have to wait until we have shown ours
            return come_between

        before = sys.gettrace()
        sys.settrace(come_between)
        try:
            value = state.value
        finally:
            sys.settrace(before)
        assert value == ["abc"]
        assert parse_chunk(state, '\x01"]').value == []
        assert [other for other in others if other is not None] in ([], [[]])


@pytest.mark.parametrize("size", [1, 7, 64])
def test_values_that_were_handed_out_never_change(size: int) -> None:
    """Every value of a wide text, kept until the end, is still what it was when it was handed out."""
    rows = [{"id": i, "name": f"row {i}", "tags": ["a"] * (i % 4)} for i in range(24)]
    for text in (json.dumps(rows), json.dumps({f"k{i}": row for i, row in enumerate(rows)})):
        parser, kept = ValueParser(), []
        for start in range(0, len(text), size):
            parser.feed(text[start : start + size])
            kept.append((parser.value, copy.deepcopy(parser.value)))
        assert all(value == shown for value, shown in kept)
        assert same(kept[-1][0], json.loads(text))
        assert all((one is other) is (one == other) for (one, _), (other, _) in pairwise(kept))


# Live.


def test_a_live_value_grows_in_place() -> None:
    """A live parser has one value, which is the same object all the time and grows."""
    parser = fed('{"a": [', live=True)
    value = parser.value
    inner = value["a"]
    for fragment, shown in (
        ("1, ", [1]),
        ('"x', [1, "x"]),
        ('y"', [1, "xy"]),
        (', {"b": null}]}', [1, "xy", {"b": None}]),
    ):
        parser.feed(fragment)
        assert parser.value is value
        assert inner is value["a"]
        assert inner == shown
    assert parser.close() is value
    assert parser.finished == ()


def test_a_live_string_at_the_root() -> None:
    """A string cannot grow in place: the value is what is known of it now."""
    parser = fed('"a', live=True)
    assert parser.value == "a"
    parser.feed("b")
    assert parser.value == "ab"
    parser.feed('c"')
    assert parser.close() == "abc"


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
def test_a_value_parser_keeps_no_tree(live: bool) -> None:
    """There is no tree and no state behind a value: `create_state` and `parse_chunk` are for those."""
    parser = fed("[1,", live=live)
    assert [name for name in ("root", "state", "glance") if hasattr(parser, name)] == []
    parser.feed("2]")
    assert parser.close() == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": "x\\q", "c": 2}',
        '["x\\q", "y", tru, 3]',
        '["x", "\\ud83d\\q", ["z\n", 1]]',
        '{"a": {"b": nul}, "c": [1 2, 3]}',
        '{"a": 1, "a": "x\\q", "b": 2}',
        '"x\\q\n[1]',
        '[1] "x\\q\n',
        '"x" "y\\q\n2 ',
    ],
)
def test_a_live_value_is_the_kept_one_where_errors_are_skipped(text: str) -> None:
    """What is dropped after an error is dropped from both, at the same moment."""
    options = Options(on_error="skip", multiple=True)
    kept, live = ValueParser(options), ValueParser(options, live=True)
    for character in text:
        kept.feed(character)
        live.feed(character)
        assert kept.value is live.value is MISSING or same(live.value, kept.value)
        assert (live.errors, live.finished) == (kept.errors, kept.finished)
    assert same(live.close(), kept.close())
    assert len(kept.errors) > 0


# The end.


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
@pytest.mark.parametrize(("text", "value"), [("12", 12), ("-0.5", -0.5), ("[1]", [1]), ('"a" ', "a"), ("null", None)])
def test_close(text: str, value: object, live: bool) -> None:
    """Closing gives the final value, a number at the root included; again and again the same."""
    parser = fed(text, live=live)
    assert same(parser.close(), value)
    assert parser.is_complete
    assert parser.close() is parser.value


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
@pytest.mark.parametrize("text", ["", " ", "[1", '"a', '{"a":', "tru", "-", "1.", "1e+", '{"a":"\\u00'])
def test_close_too_early(text: str, live: bool) -> None:
    """Closing an open text raises, each time; what was read stays readable."""
    parser = fed(text, live=live)
    value = copy.deepcopy(parser.value)
    for _ in range(2):
        with pytest.raises(IncompleteJSONError) as caught:
            parser.close()
        assert caught.value == parser.error
        assert caught.value.offset == len(text)
    assert parser.value is value or same(parser.value, value)
    assert (parser.is_complete, parser.errors) == (False, (parser.error,))


def test_a_closed_parser_is_not_fed() -> None:
    """After the end nothing more can come, not even nothing."""
    for text, more in (("[]", " "), ("[]", ""), ("1", "2"), ("[", "]")):
        parser = fed(text)
        with suppress(JSONSyntaxError):
            parser.close()
        with pytest.raises(StateError, match="closed"):
            parser.feed(more)


def test_with_statement() -> None:
    """A parser in a with statement is closed at its end, and so tells that a text is incomplete."""
    with ValueParser() as parser:
        parser.feed("12")
    assert parser.value == 12
    with pytest.raises(StateError):
        parser.feed("3")
    with pytest.raises(IncompleteJSONError), ValueParser() as parser:
        parser.feed("[1,")
    assert parser.value == [1]


def test_with_statement_that_fails() -> None:
    """Where something else went wrong, the parser stays open, and that fault is the one that is told."""
    parser = fed("[1,")
    with pytest.raises(ZeroDivisionError), parser:
        raise ZeroDivisionError
    parser.feed("2]")
    assert parser.close() == [1, 2]
    with pytest.raises(JSONSyntaxError) as caught, ValueParser() as parser:
        parser.feed("[x")
    assert caught.value.code is Code.UNEXPECTED_CHARACTER


# Errors.


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
def test_a_broken_text_raises_now_and_ever_after(live: bool) -> None:
    """The error of a text is raised by the fragment that has it, by every later one, and at the end."""
    parser = fed('{"a": [1, "x', live=live)
    for fragment in ("\n", "y", "", b"]", '"]}'):
        with pytest.raises(JSONSyntaxError) as caught:
            parser.feed(fragment)
        assert caught.value == parser.error
    with pytest.raises(JSONSyntaxError) as caught:
        parser.close()
    assert (caught.value.code, caught.value.offset) == (Code.CONTROL_CHARACTER, 12)
    assert parser.value == {"a": [1, "x"]}
    assert (parser.is_complete, parser.errors) == (False, (parser.error,))


def test_raising_again_and_again_costs_nothing() -> None:
    """The traceback of an error does not grow with each time that it is raised."""
    parser, lengths = ValueParser(), []
    for _ in range(20):
        with pytest.raises(JSONSyntaxError) as caught:
            parser.feed("x")
        lengths.append(len(caught.traceback))
    assert len(set(lengths)) == 1


def test_the_error_that_is_kept_is_not_the_one_that_is_raised() -> None:
    """They are equal; but whoever keeps the parser, or a state of it, does not keep the frames of the caller."""
    parser = ValueParser()
    with pytest.raises(JSONSyntaxError) as caught:
        parser.feed("[x")
    assert caught.value == parser.error
    assert parser.error is not None
    assert (parser.error.__traceback__, parser.error.__context__) == (None, None)


class Loud(str):
    """A string with ideas of its own."""

    __slots__ = ()

    def __add__(self, other: str) -> str:
        return "no"

    def __getitem__(self, index: object) -> str:
        return "no"


def test_a_subclass_of_str_is_nothing_but_its_text() -> None:
    """Nothing of it is in the value, in the events or in a state, whatever it makes of its methods."""
    fragments = [Loud('{"a": ["x'), Loud("yz"), Loud('"], "bc'), Loud('d": 12'), Loud("3}")]
    parser, events, state = ValueParser(), FragmentParser(), create_state()
    for fragment in fragments:
        parser.feed(fragment)
        events.feed(fragment)
        state = parse_chunk(state, fragment)
        assert {type(event.value) for event in state.events} <= {str, int, NoneType}
    assert events.is_complete
    for value in (parser.value, state.value):
        assert value == {"a": ["xyz"], "bcd": 123}
        assert {type(text) for text in (*value, *value["a"])} == {str}


def test_parsers_are_not_copied() -> None:
    """Two that share one reader would be worse than none; a state is there for that."""
    for parser in (ValueParser(), FragmentParser()):
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="ParserState"):
                way(parser)


@pytest.mark.parametrize("text", [text for text, *_ in corpus.BROKEN])
def test_the_value_of_a_broken_text_is_that_before_the_fault(text: str) -> None:
    """What came before the first impossible character stays visible, in the kept value and in the live one."""
    expected = read(text)
    for live in (False, True):
        parser = ValueParser(live=live)
        with pytest.raises(JSONSyntaxError) as caught:
            parser.feed(text)
        assert fault(caught.value) == expected.error
        assert same(NOTHING if parser.value is MISSING else parser.value, expected.value)


def test_limits_are_errors() -> None:
    """A text over a limit raises a `LimitError`, and what fitted stays."""
    parser = ValueParser(Options(max_string=3))
    with pytest.raises(LimitError) as caught:
        parser.feed('["abc", "abcd"]')
    assert (caught.value.code, caught.value.offset) == (Code.MAX_STRING, 12)
    assert parser.value == ["abc", "abc"]


def test_skipped_errors_are_not_raised() -> None:
    """Where errors are skipped they are listed; the first one is `error`; only one that ends the reading is raised."""
    for live in (False, True):
        parser = fed('[1, x, {"a": tru, "b": 2}, "y\\q", 3]', options=SKIP, live=live)
        assert parser.value == [1, {"b": 2}, 3]
        assert [error.code for error in parser.errors] == [
            Code.UNEXPECTED_CHARACTER,
            Code.INVALID_LITERAL,
            Code.INVALID_ESCAPE,
        ]
        assert parser.error is parser.errors[0]
        assert parser.is_complete
        assert parser.close() == [1, {"b": 2}, 3]
        parser.reset()
        parser.feed("[1, x, 2")
        with pytest.raises(IncompleteJSONError) as caught:
            parser.close()
        assert [error.code for error in parser.errors] == [Code.UNEXPECTED_CHARACTER, Code.INCOMPLETE]
        assert caught.value == parser.errors[-1]


@pytest.mark.parametrize("fragment", [None, 1, ["["], (91,), {"a": 1}], ids=repr)
@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
def test_a_fragment_is_text_or_bytes(fragment: Any, live: bool) -> None:
    """Anything else is a TypeError, and changes nothing."""
    parser = fed("[1, ", live=live)
    with pytest.raises(TypeError):
        parser.feed(fragment)
    parser.feed("2]")
    assert parser.close() == [1, 2]


# Several documents, other text around, bytes.


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
def test_finished(live: bool) -> None:
    """`finished` has the values that the last fragment closed, in order; the value is the newest."""
    parser = ValueParser(MULTIPLE, live=live)
    shown = []
    for fragment in ("1 2", ' {"a": ', "[]} [3", "", "] null", "\n\n", '"a""b" 4'):
        parser.feed(fragment)
        shown.append((parser.finished, copy.deepcopy(parser.value), parser.is_complete))
    assert shown == [
        ((1,), 1, False),
        ((2,), {}, False),
        (({"a": []},), [], False),
        ((), [], False),
        (([3],), [3], False),
        ((None,), None, True),
        (("a", "b"), "b", False),
    ]
    assert parser.close() == 4
    assert parser.finished == (4,)
    assert parser.close() == 4
    assert parser.finished == (4,)


def test_no_document_at_all() -> None:
    """Where several documents may come, none is as well: there is no value then."""
    for live in (False, True):
        assert fed(" \n", options=MULTIPLE, live=live).close() is MISSING


def test_looking_at_the_value_changes_nothing() -> None:
    """Asking again and again leaves everything that the parser shows as it is."""
    parser = fed('1 "x" [2, "y', options=MULTIPLE)
    before = (parser.finished, parser.value, parser.is_complete, parser.error, parser.errors)
    state = parse_chunk(create_state(MULTIPLE), '1 "x" [2, "y')
    for _ in range(3):
        assert state.root is not None
        assert state.finished == parser.finished
        assert (parser.finished, parser.value, parser.is_complete, parser.error, parser.errors) == before
    assert parser.value is before[1]
    parser.feed('"] ')
    assert parser.finished == ([2, "y"],)


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
def test_reset(live: bool) -> None:
    """After a reset the parser is as new, with the same options, whatever happened to it."""
    parser = ValueParser(Options(multiple=True, max_depth=1), live=live, extract=True)
    for text in ("[1", "[1] {}", "[1 2", "[[", "Look: [1, 2] and more"):
        with suppress(JSONSyntaxError):
            parser.feed(text)
            parser.close()
        parser.reset()
        assert parser.value is MISSING
        assert (parser.is_complete, parser.finished, parser.errors, parser.skipped) == (False, (), (), ())
        with pytest.raises(LimitError):
            parser.feed('Look: [["x"]]')
        parser.reset()
        parser.feed('Look: ["a"] ["b"]')
        assert parser.close() == ["b"]
        assert len(parser.skipped) == 1
        parser.reset()


@pytest.mark.parametrize("live", [False, True], ids=["kept", "live"])
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_extract(size: int, live: bool) -> None:
    """With `extract` the JSON is found in other text, and what was skipped is told with its place."""
    text = 'Here you are:\n\n```json\n{"a": [1, "`"]}\n```\nAnything else?'
    parser = ValueParser(live=live, extract=True)
    for start in range(0, len(text), size):
        parser.feed(text[start : start + size])
    assert parser.close() == {"a": [1, "`"]}
    skipped = [(text[offset : offset + length], why) for offset, length, why in parser.skipped]
    assert skipped == [
        ("Here you are:\n\n", "prose"),
        ("```json\n", "fence"),
        ("```\n", "fence"),
        ("Anything else?", "prose"),
    ]


def test_bytes_cut_inside_a_character() -> None:
    """Bytes may be cut anywhere; half a character is not visible, and a text is not complete with it."""
    data = '{"名前": "🧭 Zoë"}'.encode()
    for live in (False, True):
        parser = ValueParser(live=live)
        for place in range(len(data)):
            parser.feed(data[place : place + 1])
            visible = parser.value
            assert "\ufffd" not in str(visible)
        assert parser.close() == {"名前": "🧭 Zoë"}
    parser = fed(b'["a' + b"\xf0\x9f")
    assert parser.value == ["a"]
    with pytest.raises(JSONSyntaxError) as caught:
        parser.feed('"]')
    assert caught.value.code is Code.INVALID_UTF8
    parser = fed(b"[1]", b" ")
    assert parser.is_complete


def test_a_buffer_may_be_used_again() -> None:
    """What was fed is the parser's own: the buffer may be overwritten at once."""
    for live in (False, True):
        parser, buffer = ValueParser(live=live), bytearray(4)
        for piece in (b'["ab', b"cdef", b'gh"]'):
            buffer[:] = piece
            parser.feed(memoryview(buffer))
        buffer[:] = b"xxxx"
        assert parser.close() == ["abcdefgh"]


# The state.


def test_the_state_stays_when_others_go_on() -> None:
    """A state shows for ever what it showed first, and can go on elsewhere."""
    state = parse_chunk(create_state(), '{"a": ["x')
    dumped = state.dump()
    last = parse_chunk(state, 'y"], "b": 2}')
    assert state.value == {"a": ["x"]}
    assert (state.index, state.is_complete) == (9, False)
    assert state.dump() == dumped
    other = parse_chunk(state, '"]}')
    assert other.result == {"a": ["x"]}
    assert last.result == fed('{"a": ["xy"], "b": 2}').close() == {"a": ["xy"], "b": 2}
    assert ParserState.load(dumped).value == {"a": ["x"]}
    assert isinstance(state, ParserState)


@pytest.mark.parametrize("name", ["itinerary", "duplicate keys", "unicode as escapes", "odd keys"])
def test_parser_and_states_go_on_side_by_side(name: str) -> None:
    """From every state on the way, and with a parser beside them, all go on to what the whole text means."""
    text = corpus.DOCUMENTS[name][:300]
    whole = parse_chunk(create_state(), text)
    parser, state, states = ValueParser(), create_state(), []
    for start in range(0, len(text), 5):
        states.append((start, state))
        parser.feed(text[start : start + 5])
        state = parse_chunk(state, text[start : start + 5])
    assert same(parser.value, whole.value)
    assert state.root == whole.root
    for start, state in reversed(states):
        later = parse_chunk(state, text[start:])
        assert same(later.value, whole.value)
        assert later.root == whole.root


def test_a_state_after_an_error() -> None:
    """The state of a broken text has its error, and so has the state of one that ended too early."""
    for text, code in (("[1, x", Code.UNEXPECTED_CHARACTER), ("[1, ", Code.INCOMPLETE)):
        parser = ValueParser()
        with suppress(JSONSyntaxError):
            parser.feed(text)
            parser.close()
        state = finalize(parse_chunk(create_state(), text))
        assert state.error is not None
        assert state.error == parser.error
        assert state.error.code is code
        assert state.value == parser.value == [1]
        assert state.result is MISSING
        assert parse_chunk(state, "2]") is state
        with pytest.raises(JSONSyntaxError if code is not Code.INCOMPLETE else StateError):
            parser.feed("2]")


def test_many_parsers_side_by_side() -> None:
    """Two hundred texts that come in turns, a few characters each time, do not see each other."""
    texts = [*corpus.DOCUMENTS.values(), *corpus.VALID]
    texts = [texts[i % len(texts)] for i in range(200)]
    parsers = [ValueParser(live=i % 3 == 2) for i in range(200)]
    for start in range(0, max(map(len, texts)), 9):
        for i, (text, parser) in enumerate(zip(texts, parsers, strict=True)):
            parser.feed(text[start : start + 9])
            if (start // 9 + i) % 5 == 0:
                assert parser.error is None
                _ = parser.value
    for text, parser in zip(texts, parsers, strict=True):
        assert same(parser.close(), json.loads(text))


def test_a_root_that_did_not_change_is_the_same_object() -> None:
    """Asked again, or after a fragment that told nothing new, a state shows the very same tree."""
    state = parse_chunk(create_state(), '{"a": [[1], "x')
    root = state.root
    assert state.root is root
    state = parse_chunk(state, "\\u00")
    assert state.root is root
    state = parse_chunk(state, "e9")
    assert state.root is not root
