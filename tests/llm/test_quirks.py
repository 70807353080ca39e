"""Which call a delta is about is learned, not trusted: every way of getting it wrong, absorbed and noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.messages import CITY, after, call, codes, ended, piece, values
from unspool import MISSING
from unspool.llm import Config, Quirk, deltas_for, finish, reduce, reduce_chunk, start
from unspool.llm._deltas import BlockEnd, Finish, Ignored, ToolCallDelta, Whole
from unspool.llm._diagnostics import MAX_DETAILS, QUIRK_SENTENCES, Diagnostic

if TYPE_CHECKING:
    from unspool.llm import MessageState
    from unspool.llm._deltas import Delta

chat = deltas_for("openai-chat")


def read(*chunks: list[dict[str, Any]], reason: str | None = "tool_calls") -> MessageState:
    """The last state of a chat completion with these tool calls in its chunks."""
    state = start()
    for calls in chunks:
        state = reduce_chunk(state, chat({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}))
    if reason is not None:
        state = reduce_chunk(state, chat({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    return finish(state)


def function(arguments: Any = MISSING, **fields: Any) -> dict[str, Any]:
    """A tool call on the wire."""
    told = {name: fields.pop(name) for name in ("name",) if name in fields}
    return {**fields, "function": {**told, **({} if arguments is MISSING else {"arguments": arguments})}}


def summary(state: MessageState) -> list[tuple[str | None, str | None, object]]:
    return [(call.id, call.name, call.value if call.is_complete else MISSING) for call in state.tool_calls]


FIRST = {"index": 0, "id": "a", "name": "f"}
ONE = [("a", "f", {"x": 1})]
TWO = [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_a_stream_as_it_should_be() -> None:
    """What is right is not odd."""
    state = read(
        [function("", **FIRST)],
        [function('{"x":', index=0)],
        [function("1}", index=0)],
        [function("", index=1, id="b", name="g")],
        [function('{"y":2}', index=1)],
    )
    assert summary(state) == TWO
    assert state.diagnostics == ()
    assert state.is_complete


QUIRKS: dict[Quirk, tuple[list[list[dict[str, Any]]], list[Any], int | None]] = {
    Quirk.NO_INDEX: (
        [
            [function("", id="a", name="f")],
            [function('{"x":')],
            [function("1}")],
            [function('{"y":2}', id="b", name="g")],
        ],
        TWO,
        0,
    ),
    Quirk.INDEX_NULL: (
        [
            [function("", index=None, id="a", name="f")],
            [function('{"x":1}', index=None)],
            [function('{"y":2}', index=None, id="b", name="g")],
        ],
        TWO,
        0,
    ),
    Quirk.INDEX_AS_TEXT: (
        [
            [function("", index="0", id="a", name="f")],
            [function('{"y":2}', index="1", id="b", name="g")],
            [function('{"x":1}', index=" 0 ")],
        ],
        TWO,
        0,
    ),
    Quirk.INDEX_FROM_ONE: (
        [
            [function("", index=1, id="a", name="f")],
            [function('{"x":1}', index=1)],
            [function('{"y":2}', index=2, id="b", name="g")],
        ],
        TWO,
        0,
    ),
    Quirk.INDEX_TWICE: (
        [[function("", **FIRST), function('{"x":', index=0), function("1}", index=0)]],
        ONE,
        0,
    ),
    Quirk.INDEX_REUSED: (
        [[function('{"x":1}', **FIRST)], [function("", index=0, id="b", name="g")], [function('{"y":2}', index=0)]],
        TWO,
        1,
    ),
    Quirk.INDEX_CHANGED: (
        [[function('{"x":', **FIRST)], [function("1}", index=7, id="a")]],
        ONE,
        0,
    ),
    Quirk.ID_EMPTY: (
        [[function("", **FIRST)], [function('{"x":', index=0, id="")], [function("1}", index=0, id="null")]],
        ONE,
        0,
    ),
    Quirk.ID_REPEATED: (
        [[function("", **FIRST)], [function('{"x":', index=0, id="a")], [function("1}", index=0, id="a")]],
        ONE,
        0,
    ),
    Quirk.NAME_LATE: (
        [[function('{"x":', index=0, id="a")], [function("1}", index=0, name="f")]],
        ONE,
        0,
    ),
    Quirk.NAME_EMPTY: (
        [[function("", index=0, id="a", name="")], [function('{"x":1}', index=0, name="f")]],
        ONE,
        0,
    ),
    Quirk.NAME_REPEATED: (
        [[function('{"x":', **FIRST)], [function("1}", index=0, name="f")]],
        ONE,
        0,
    ),
    Quirk.NAME_CHANGED: (
        [[function('{"x":', **FIRST)], [function("1}", index=0, name="other")]],
        ONE,
        0,
    ),
    Quirk.ARGUMENTS_AS_OBJECT: ([[function({"x": 1}, **FIRST)]], ONE, 0),
    Quirk.ARGUMENTS_NULL: ([[function(None, **FIRST)], [function('{"x":1}', index=0)]], ONE, 0),
    Quirk.ARGUMENTS_REPEATED: (
        [[function('{"x":', **FIRST)], [function("1}", index=0)], [function('{"x":1}', index=0)]],
        ONE,
        0,
    ),
    Quirk.ARGUMENTS_REPLACED: (
        [[function('{"x":0', **FIRST)], [function({"x": 1}, index=0)]],
        ONE,
        0,
    ),
    Quirk.CALLS_INTERLEAVED: (
        [
            [function('{"x":', **FIRST), function('{"y":', index=1, id="b", name="g")],
            [function("1}", index=0), function("2}", index=1)],
        ],
        TWO,
        0,
    ),
    Quirk.EXTRA_TEXT: ([[function('{"x":1}', **FIRST)], [function(" and so on", index=0)]], ONE, 0),
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_each_quirk_is_absorbed_and_noticed_once(quirk: Quirk) -> None:
    """The calls are those that were meant; what was odd is told, with the call, once."""
    chunks, calls, index = QUIRKS[quirk]
    state = read(*chunks)
    assert summary(state) == calls
    assert state.is_complete
    assert codes(state).count((quirk, index)) == 1
    again = read(*chunks, *[[function("", index=0, id="a")]] * 3)
    assert codes(again).count((quirk, index)) == 1


@pytest.mark.parametrize("quirk", QUIRKS)
def test_nothing_else_is_noticed(quirk: Quirk) -> None:
    """A diagnostic tells what was odd, and nothing that was not."""
    beside = {
        Quirk.NO_INDEX: {(Quirk.NO_INDEX, 1)},
        Quirk.INDEX_NULL: {(Quirk.INDEX_NULL, 1)},
        Quirk.INDEX_AS_TEXT: {(Quirk.INDEX_AS_TEXT, 1)},
        Quirk.INDEX_CHANGED: {(Quirk.ID_REPEATED, 0)},
        Quirk.NAME_EMPTY: {(Quirk.NAME_LATE, 0)},
        Quirk.ARGUMENTS_REPLACED: {(Quirk.ARGUMENTS_AS_OBJECT, 0)},
        Quirk.CALLS_INTERLEAVED: {(Quirk.CALLS_INTERLEAVED, 1)},
    }
    chunks, _, index = QUIRKS[quirk]
    assert set(codes(read(*chunks))) == {(quirk, index), *beside.get(quirk, set())}


def test_every_quirk_has_a_sentence() -> None:
    """A closed set: each can be told in words, with its call, its detail and how often."""
    assert set(QUIRK_SENTENCES) == set(Quirk)
    assert str(Diagnostic(Quirk.NO_INDEX, 2)) == "call 2: a piece of the call has no index"
    assert str(Diagnostic(Quirk.UNKNOWN_EVENT, None, "x", 3)) == "unknown event: x (3 times)"


# Ids and indexes in more ways


def test_a_new_id_under_an_old_index_is_a_new_call() -> None:
    """Also when the first call is not whole, and when both go on under the same index by their ids."""
    state = read(
        [function('{"x":', **FIRST)],
        [function('{"y":', index=0, id="b", name="g")],
        [function("1}", index=0, id="a")],
        [function("2}", index=0, id="b")],
    )
    assert summary(state) == TWO


def test_ids_made_up_for_every_chunk() -> None:
    """Another id without a name, in the middle of the arguments, starts nothing; once they are whole it does."""
    state = read([function('{"x":', **FIRST)], [function("1", index=0, id="b")], [function("}", index=0, id="c")])
    assert (summary(state), codes(state)) == (ONE, [(Quirk.ID_CHANGED, 0)])
    whole = read(
        [function('{"x":1}', **FIRST)], [function('{"y":2}', index=0, id="b")], [function("", index=0, name="g")]
    )
    assert summary(whole) == TWO


def test_whole_calls_that_share_an_index() -> None:
    """A name under the index of a call that is whole starts another call, even if there are no ids at all."""
    lines = [{"name": "f", "arguments": {"x": 1}}, {"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": {}}]
    chunk = {
        "message": {"role": "assistant", "tool_calls": [{"function": {"index": 0, **line}} for line in lines]},
        "done": True,
        "done_reason": "stop",
    }
    state = finish(reduce_chunk(start(), deltas_for("ollama")(chunk)))
    assert summary(state) == [(None, "f", {"x": 1}), (None, "f", {"x": 1}), (None, "g", {})]
    assert [code for code, _ in codes(state)] == [Quirk.INDEX_REUSED, Quirk.INDEX_TWICE] * 2


def test_a_second_call_without_id_under_an_old_index() -> None:
    """Another name, or the same name with other arguments, after the call is whole; but not its name once more."""
    first = function('{"x":1}', index=0, name="f")
    other = read([first], [function("", index=0, name="g")], [function('{"y":2}', index=0)])
    assert summary(other) == [(None, "f", {"x": 1}), (None, "g", {"y": 2})]
    same = read([first], [function('{"x":2}', index=0, name="f")])
    assert summary(same) == [(None, "f", {"x": 1}), (None, "f", {"x": 2})]
    for again in ("", '{"x":1}', {"x": 1}):
        assert summary(read([first], [function(again, index=0, name="f")])) == [(None, "f", {"x": 1})]
    late = read([function('{"x":1}', index=0)], [function("", index=0, name="f")])
    assert summary(late) == [(None, "f", {"x": 1})]


def test_ids_that_come_late() -> None:
    """An id belongs to the call that goes on, as long as that has none."""
    by_index = read([function('{"x":', index=0, name="f")], [function("1}", index=0, id="a")])
    assert summary(by_index) == ONE
    alone = after([piece('{"x":', name="f"), piece(id="a")])
    assert [call.id for call in alone.tool_calls] == ["a"]
    by_place = read([function('{"x":', name="f")], [function("1}", id="a")])
    assert summary(by_place) == ONE
    whole = read([function('{"x":1}', name="f")], [function("{}", id="b")])
    assert [call.id for call in whole.tool_calls] == [None, "b"]


def test_an_index_that_comes_late() -> None:
    """A call that began without an index has the first one that comes, unless it is whole."""
    state = read([function("", id="a", name="f")], [function('{"x":1}', index=0)])
    assert summary(state) == ONE
    whole = read(
        [function('{"x":1}', id="a", name="f")], [function('{"y":2}', index=1)], [function("", index=1, name="g")]
    )
    assert summary(whole) == [("a", "f", {"x": 1}), (None, "g", {"y": 2})]
    assert summary(read([function('{"x":', **FIRST)], [function('{"y":2}', index=1, name="g")]))[1] == (
        None,
        "g",
        {"y": 2},
    )


def test_an_index_that_comes_late_for_a_known_id() -> None:
    """That is no change of the index."""
    state = read([function('{"x":', id="a", name="f")], [function("1}", index=3, id="a")])
    assert (Quirk.INDEX_CHANGED, 0) not in codes(state)
    assert summary(state) == ONE


def test_a_known_id_without_an_index() -> None:
    """That the index is missing is odd; it has not changed."""
    state = read([function('{"x":', **FIRST)], [function("1}", id="a")])
    assert (summary(state), codes(state)) == (ONE, [(Quirk.NO_INDEX, 0), (Quirk.ID_REPEATED, 0)])


def test_only_a_name_is_late() -> None:
    """A call that still has none is not told to have got it."""
    assert codes(read([function('{"x":', index=0, id="a")], [function("1}", index=0)])) == []


def test_ids_that_come_again_with_the_end() -> None:
    """That is odd, unless blocks are numbered: there the end says everything once more."""
    assert codes(after([call(arguments="{}"), piece(id="id_0", is_done=True)])) == [(Quirk.ID_REPEATED, 0)]


def test_names_without_index_and_id() -> None:
    """The same name goes on with a call that is not whole; any other name starts a call."""
    state = read(
        [function("", name="f")],
        [function('{"x":', name="f")],
        [function("1}", name="f")],
        [function('{"x":2}', name="f")],
        [function('{"y":', name="g")],
        [function("2}")],
    )
    assert summary(state) == [(None, "f", {"x": 1}), (None, "f", {"x": 2}), (None, "g", {"y": 2})]
    assert (Quirk.NAME_REPEATED, 0) in codes(state)


def test_arguments_before_name_and_id() -> None:
    """Whatever comes first, it is one call."""
    state = read([function('{"x":')], [function("1}", id="a", name="f")])
    assert summary(state) == ONE
    whole = read([function('{"x":1}')], [function("", name="f")])
    assert [call.name for call in whole.tool_calls] == [None, "f"]  # whether they belong together nobody can tell


def test_texts_that_are_no_index() -> None:
    """They count as none."""
    for index in ("first", "", "9" * 20, "-1"):
        state = read([function("", index=index, id="a", name="f")], [function('{"x":1}', index=index)])
        assert summary(state) == ONE
        assert (Quirk.INDEX_AS_TEXT, 0) in codes(state)


def test_no_index_where_there_is_none() -> None:
    """Formats that have no index are not odd for that."""
    for arguments, is_done in ((Whole({}), True), (None, False)):
        state = after([ToolCallDelta(MISSING, None, "f", arguments, "function", is_done)])
        assert codes(state) == []
    assert codes(after([ToolCallDelta(MISSING, None, "f", Whole({}), "function")])) == [
        (Quirk.NO_INDEX, 0),
        (Quirk.ARGUMENTS_AS_OBJECT, 0),
    ]


def test_a_format_without_index_and_text_says_a_name_once() -> None:
    """There the same name again is another call, even if nobody said that the first was whole."""
    leaf = ToolCallDelta(MISSING, None, "f", None, "function")
    assert len(after([leaf, leaf]).tool_calls) == 2


def test_blocks_are_trusted_to_have_one_call() -> None:
    """Where the index numbers the blocks, a name again under it is no other call, and an end starts none."""
    first = ToolCallDelta(3, "a", "f", '{"x":1}', "function", counts_blocks=True)
    last = ToolCallDelta(3, "b", "f", Whole('{"x":1}'), "function", True, True)
    state = ended([first, last])
    assert summary(state) == ONE
    assert codes(state) == [(Quirk.ID_CHANGED, 0)]
    again = ToolCallDelta(3, None, "g", "", "function", counts_blocks=True)
    assert codes(ended([first, again])) == [(Quirk.NAME_CHANGED, 0)]
    other = ToolCallDelta(3, "b", "g", '{"y":2}', "function", counts_blocks=True)
    assert summary(ended([first, other])) == TWO


def test_what_is_said_again_at_the_end_of_a_block_is_not_odd() -> None:
    """Responses repeats id, name and arguments of every call."""
    first = ToolCallDelta(1, "a", "f", '{"x":1}', "function", counts_blocks=True)
    last = ToolCallDelta(1, "a", "f", Whole('{"x":1}'), "function", True, True)
    state = ended([first, last])
    assert (summary(state), codes(state)) == (ONE, [])
    known = after([first, last])
    assert reduce(known, last) is known


# Arguments in more ways


def test_arguments_sent_whole_again() -> None:
    """As text, spelled anew, several times, or cut anywhere: they are the same arguments."""
    for again in (['{"x":1}'], ['{ "x" : 1 }'], ['{"x":1}', '{"x":1}'], ['{"x":1}{"x":1}'], list('{"x":1}')):
        state = read([function('{"x":1}', **FIRST)], *[[function(text, index=0)] for text in again])
        assert summary(state) == ONE
        assert codes(state) == [(Quirk.ARGUMENTS_REPEATED, 0)]
        assert state.tool_calls[0].arguments == '{"x":1}' + "".join(again)


def test_extra_text_is_kept_and_noticed() -> None:
    """What follows the arguments is none of them; white space is nothing."""
    for extra in (["x"], ['{"x":2}'], ['{"x":'], ["}", "}"], ["[", "]"]):
        state = read([function('{"x":1}', **FIRST)], *[[function(text, index=0)] for text in extra])
        assert summary(state) == ONE
        assert codes(state) == [(Quirk.EXTRA_TEXT, 0)]
        assert state.tool_calls[0].arguments == '{"x":1}' + "".join(extra)
    assert codes(read([function('{"x":1} \n', **FIRST)], [function(" \t", index=0)])) == []


def test_extra_text_in_the_same_piece() -> None:
    """It does not matter where the pieces are cut."""
    assert codes(read([function('{"x":1}{"x":1}', **FIRST)])) == [(Quirk.ARGUMENTS_REPEATED, 0)]
    assert codes(read([function('{"x":1}{"x":1}!', **FIRST)])) == [(Quirk.EXTRA_TEXT, 0)]
    assert codes(read([function('{"x":1} ok', **FIRST)])) == [(Quirk.EXTRA_TEXT, 0)]


def test_whole_arguments_after_pieces() -> None:
    """Equal ones are the same, longer ones bring the rest, others take their place."""
    first = piece('{"x":', id="a", name="f")
    rest = ended([first, piece(Whole('{"x":1}'), is_done=True)])
    assert (summary(rest), codes(rest)) == (ONE, [])
    equal = ended([call(arguments='{ "x":1}', id="a"), piece(Whole({"x": 1}))])
    assert (summary(equal), equal.tool_calls[0].arguments) == (ONE, '{ "x":1}')
    assert set(codes(equal)) == {(Quirk.ARGUMENTS_AS_OBJECT, 0), (Quirk.ARGUMENTS_REPEATED, 0)}
    other = ended([call(arguments='{"x":2}', id="a"), piece(Whole('{"x":1}'))])
    assert (summary(other), codes(other)) == (ONE, [(Quirk.ARGUMENTS_REPLACED, 0)])
    assert other.tool_calls[0].arguments == '{"x":1}'
    text = ended([call(arguments='{"x":1}', id="a"), piece(Whole('{"x":1}'))])
    assert (summary(text), codes(text)) == (ONE, [(Quirk.ARGUMENTS_REPEATED, 0)])
    none = ended([call(arguments='{"x":1}', id="a"), piece(Whole(""), is_done=True)])
    assert (summary(none), codes(none)) == (ONE, [])


def test_whole_arguments_of_a_tool_that_takes_text() -> None:
    """They are compared as text: there is no value to compare."""
    first = ToolCallDelta(0, "a", "sql", "SELECT 1", "custom", counts_blocks=True)
    same = ToolCallDelta(0, None, None, Whole("SELECT 1"), "custom", True, True)
    assert (summary(ended([first, same])), codes(ended([first, same]))) == ([("a", "sql", "SELECT 1")], [])
    other = ToolCallDelta(0, None, None, Whole("SELECT 2"), "custom", True, True)
    assert codes(ended([first, other])) == [(Quirk.ARGUMENTS_REPLACED, 0)]


def test_interleaved_calls() -> None:
    """Only going back to a call is odd, not that several have begun."""
    begun = [call(index=0), call(index=1), piece('{"x":1}', 0), piece('{"y":2}', 1)]
    assert codes(ended(begun)) == []
    back = [call(arguments="{", index=0), call(arguments="{", index=1), piece("}", 0), piece("}", 1)]
    assert codes(ended(back)) == [(Quirk.CALLS_INTERLEAVED, 0), (Quirk.CALLS_INTERLEAVED, 1)]
    assert values(ended(back)) == [{}, {}]


# The message as a whole


def test_finish_reasons_that_contradict() -> None:
    """Calls without the reason, or the reason without calls; complete they are all the same."""
    for reason, deltas, is_odd in (
        ("stop", [call(arguments="{}")], True),
        ("tool_calls", [], True),
        ("tool_calls", [call(arguments="{}")], False),
        ("stop", [], False),
        ("length", [call(arguments="{}")], False),
        ("tool_calls", [ToolCallDelta(0, "a", "search", "{}", "server")], True),
        ("stop", [ToolCallDelta(0, "a", "search", "{}", "server")], False),
        ("stop", [ToolCallDelta(MISSING, None, "f", Whole({}), "function", True)], False),
    ):
        state = ended(deltas, reason)
        assert (codes(state) == [(Quirk.FINISH_CONTRADICTS, None)]) == is_odd, (reason, deltas)
        assert state.is_complete == (reason != "length")


def test_a_block_that_ends_with_stop() -> None:
    """A call that only its block has ended does not make the reason right."""
    deltas: list[Delta] = [ToolCallDelta(0, "a", "f", "{}", "function", counts_blocks=True), BlockEnd(0)]
    assert codes(ended(deltas, "stop")) == [(Quirk.FINISH_CONTRADICTS, None)]


def test_tools_that_nobody_knows() -> None:
    """A model may make up a tool. If no tools are given, nothing is known about them."""
    assert codes(ended([call("g", "{}")], tools={"f": None})) == [(Quirk.UNKNOWN_TOOL, 0)]
    assert codes(ended([call("f", "{}")], tools={"f": None})) == []
    assert codes(ended([call("f", "{}")], tools={})) == []
    server = ToolCallDelta(0, "a", "search", "{}", "server")
    assert codes(ended([server], "stop", tools={"f": None})) == []


def test_unknown_events_are_counted() -> None:
    """By name; what is left out on purpose is not, and there is an end to how many names there can be."""
    state = after([Ignored("new"), Ignored("new"), Ignored("known", True), Ignored("other")])
    assert state.diagnostics == (
        Diagnostic(Quirk.UNKNOWN_EVENT, None, "new", 2),
        Diagnostic(Quirk.UNKNOWN_EVENT, None, "other", 1),
    )
    many = after([Ignored(f"{number}" * 100) for number in range(3 * MAX_DETAILS)])
    assert len(many.diagnostics) == MAX_DETAILS + 1
    assert sum(diagnostic.count for diagnostic in many.diagnostics) == 3 * MAX_DETAILS
    assert max(len(diagnostic.detail) for diagnostic in many.diagnostics) < 100


def test_quirks_of_the_hidden_call_name_no_call() -> None:
    """The structured output is none of the calls that are shown."""
    config = Config(CITY, emulate_structured_output=True)
    state = after([call("f", "{}", index=1), call("output", '{"city":"x"} !', index=2), Finish("tool_calls")], config)
    assert codes(state) == [(Quirk.INDEX_FROM_ONE, 0), (Quirk.EXTRA_TEXT, None)]
