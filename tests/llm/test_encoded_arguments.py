"""Arguments that are encoded twice: a string that holds the object is unwrapped where the type wants an object."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.messages import ANY, CITY, NUMBER, STRING, TRIP, after, call, codes, ended, piece, seen, values
from tests.support.oracle import is_prefix_value
from unspool import MISSING
from unspool.llm import Config, Fault, MessageState, Quirk, finish, reduce, start
from unspool.llm._deltas import Finish, Whole
from unspool.llm._encoded import MAX_BLANK, EncodedText
from unspool.typed._shape import DeferredShape, MapShape, RefShape, UnionShape

if TYPE_CHECKING:
    from unspool.typed._shape import Shape

TWICE = Quirk.ARGUMENTS_ENCODED_TWICE
VALUE = {"title": 'Fiji "now"', "days": [{"name": "Arr\nival é😀", "hours": 3}]}
OBJECT = json.dumps(VALUE)
ENCODED = json.dumps(OBJECT)


def either(*shapes: Shape) -> UnionShape:
    return UnionShape(shapes, lambda node: node.value)


@pytest.mark.parametrize("text", [ENCODED, f" \n{ENCODED} ", json.dumps(f" \n{OBJECT}\n")])
def test_unwrapped_under_every_cut(text: str) -> None:
    """The value is that of the object, however the text is cut; the text stays as it came, and one quirk tells it."""
    for fragments in (*strategies.every_single_cut(text), strategies.one_by_one(text)):
        state = ended([call("f", ""), *map(piece, fragments)], tools={"f": TRIP})
        assert values(state) == [VALUE]
        assert codes(state) == [(TWICE, 0)]
        assert state.tool_calls[0].arguments == text
        assert state.is_complete
        assert state.as_messages("anthropic")[0]["content"][-1]["input"] == VALUE


def test_it_streams_and_only_grows() -> None:
    """The object is shown while its string is open; the call is complete with the closing quote, not before."""
    state, shown = start(Config(tools={"f": TRIP})), list[Any]()
    for fragment in ["", *ENCODED]:
        state = reduce(state, call("f", "") if fragment == "" else piece(fragment))
        shown.append(state.tool_calls[0].value)
        assert state.tool_calls[0].error is None
        assert not state.tool_calls[0].is_complete
    known = [value for value in shown if value is not MISSING]
    assert known[0] == {}
    assert len({json.dumps(value) for value in known}) > 20
    assert all(is_prefix_value(one, other) for one, other in pairwise(known))
    assert shown[-1] == VALUE
    assert reduce(state, Finish("tool_calls")).tool_calls[0].is_complete


def test_gates_see_the_object() -> None:
    """Gates are about the arguments inside the string, before and after the end of the message."""
    state = after([call("f", ENCODED[:40])], tools={"f": TRIP})
    assert state.tool_calls[0].ready("title").value == 'Fiji "now"'
    assert not state.tool_calls[0].ready("days").is_settled
    done = ended([call("f", ENCODED)], tools={"f": TRIP})
    assert done.tool_calls[0].ready("$.days[0].hours").value == 3


@pytest.mark.parametrize("shape", [STRING, ANY, either(CITY, STRING), None])
def test_not_where_a_string_fits(shape: Any) -> None:
    """Where the type takes a string, or there is none, the string is the value."""
    state = ended([call("f", json.dumps('{"city": "Rome"}'))], tools={"f": shape})
    assert values(state) == ['{"city": "Rome"}']
    assert state.diagnostics == ()


def test_other_shapes_that_want_an_object() -> None:
    """A map, a union of objects, a value that is judged as a whole, and a reference to one of them."""
    reference = RefShape()
    reference.target = CITY
    whole = DeferredShape(lambda node: node.value, frozenset({"object"}))
    for shape in (MapShape(STRING), either(CITY, TRIP), whole, reference):
        state = ended([call("f", json.dumps('{"city": "Rome"}'))], tools={"f": shape})
        assert (values(state), codes(state)) == ([{"city": "Rome"}], [(TWICE, 0)])


@pytest.mark.parametrize("text", ['"Rome"', '""', '"  "', '"[1]"', '" ' + " " * MAX_BLANK + '{}"', '"\\u007"', "12"])
def test_a_string_without_an_object(text: str) -> None:
    """A string that does not begin as an object does is what the type refuses, or broken, as ever."""
    for fragments in ([text], strategies.one_by_one(text)):
        state = ended([call("f", ""), *map(piece, fragments)], tools={"f": CITY})
        error = state.tool_calls[0].error
        assert error is not None
        assert error.fault is Fault.INVALID
        assert "expected an object" in str(error)
        assert TWICE not in [code for code, _ in codes(state)]


@pytest.mark.parametrize(
    ("inner", "fault"),
    [
        ("{city}", Fault.SYNTAX),
        ('{"city": "Ro', Fault.INCOMPLETE),
        ('{"city": 7}', Fault.INVALID),
        ("{", Fault.INCOMPLETE),
    ],
)
def test_a_string_with_a_broken_object(inner: str, fault: Fault) -> None:
    """The error is that of the object inside, and the quirk says where it was."""
    for fragments in ([json.dumps(inner)], strategies.one_by_one(json.dumps(inner))):
        state = ended([call("f", ""), *map(piece, fragments)], tools={"f": CITY})
        error = state.tool_calls[0].error
        assert error is not None
        assert error.fault is fault
        assert codes(state) == [(TWICE, 0)]


@pytest.mark.parametrize("reason", ["tool_calls", "length", None])
def test_a_string_that_was_cut_off(reason: str | None) -> None:
    """No prefix of the text is a complete call: not even if the object has closed and the quote is missing."""
    for end in range(len(ENCODED)):
        state = ended([call("f", ""), piece(ENCODED[:end])], reason, tools={"f": CITY if end < 3 else TRIP})
        assert not state.tool_calls[0].is_complete
        assert state.tool_calls[0].error is not None
        assert not state.is_complete


def test_a_string_that_is_broken() -> None:
    """An escape that JSON does not have breaks the string, and with it the arguments."""
    text = '"{\\"city\\": \\q"'
    for fragments in ([text], strategies.one_by_one(text)):
        state = ended([call("f", ""), *map(piece, fragments)], tools={"f": CITY})
        assert state.errors[0].fault is Fault.SYNTAX


def test_text_behind_the_string() -> None:
    """Text behind the object or behind the string is one oddity, and means nothing."""
    for text in (json.dumps('{"city": "Rome"} and more'), json.dumps('{"city": "Rome"}') + " and more"):
        for fragments in ([text], strategies.one_by_one(text)):
            state = ended([call("f", ""), *map(piece, fragments)], tools={"f": CITY})
            assert values(state) == [{"city": "Rome"}]
            assert codes(state) == [(TWICE, 0), (Quirk.EXTRA_TEXT, 0)]


def test_a_late_name_and_a_whole() -> None:
    """The type may become known after the text, and the text may come as a whole, once more."""
    late = ended([piece(ENCODED[:20], id="a"), piece(ENCODED[20:], name="f")], tools={"f": TRIP})
    assert (values(late), codes(late)) == ([VALUE], [(Quirk.NAME_LATE, 0), (TWICE, 0)])
    again = ended([call("f", ENCODED), piece(Whole(ENCODED))], tools={"f": TRIP})
    assert values(again) == [VALUE]
    assert (Quirk.ARGUMENTS_REPLACED, 0) not in codes(again)


def test_the_emulated_answer() -> None:
    """The arguments of the tool that is the structured output are unwrapped, too; content is not."""
    config = Config(CITY, emulate_structured_output=True)
    state = ended([call("output", json.dumps('{"city": "Rome"}'))], config=config)
    assert state.content_value == {"city": "Rome"}
    assert state.is_complete


inner_texts = st.one_of(
    strategies.documents(small=True),
    strategies.broken_documents(small=True),
    st.sampled_from([OBJECT, "{", " {}", "", " ", '{"title": "x', "{} x", '{"city": "Rome"}']),
)


@given(st.data(), inner_texts, st.sampled_from([CITY, TRIP, MapShape(NUMBER), MapShape(ANY)]), st.integers(0, 3))
def test_law_19_cutting_encoded_arguments_changes_nothing(
    data: st.DataObject, inner: str, shape: Any, lost: int
) -> None:
    """However the text is cut, and wherever the state is dumped and loaded, the message is the same."""
    text = json.dumps(inner)[: None if lost == 0 else -lost]
    config = Config(tools={"f": shape})
    whole = ended([call("f", ""), piece(text)], config=config)
    state = after([call("f", "")], config)
    for fragment in data.draw(strategies.cuttings(text)):
        state = reduce(state, piece(fragment))
        if data.draw(st.integers(0, 3)) == 0:
            state = MessageState.load(json.loads(json.dumps(state.dump())), config)
    state = finish(reduce(state, Finish("tool_calls")))
    assert seen(state) == seen(whole)
    assert codes(state) == codes(whole)
    assert seen(MessageState.load(state.dump(), config)) == seen(state)


def test_it_costs_no_more_than_the_text() -> None:
    """Each fragment of a long string is decoded once: no piece is longer than its fragment."""
    encoded = EncodedText.begin(Config().options).feed('"')
    for _ in range(100):
        encoded = encoded.feed("abcd")
        assert encoded.piece == "abcd"
    assert encoded.feed('" x').has_extra
