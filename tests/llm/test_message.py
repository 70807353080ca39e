"""The reducer: deltas in, immutable states of a message out."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.messages import (
    ANY,
    CITY,
    NUMBER,
    STRING,
    TRIP,
    after,
    call,
    codes,
    ended,
    piece,
    record,
    seen,
    values,
)
from unspool import MISSING, IncompleteJSONError, JSONSyntaxError, LimitError, Options, OptionsError, SnapshotError
from unspool.llm import (
    Config,
    Fault,
    MessageError,
    MessageState,
    Quirk,
    fail,
    finish,
    reduce,
    reduce_chunk,
    start,
    starts_another,
)
from unspool.llm._deltas import (
    BlockEnd,
    Delta,
    Finish,
    Ignored,
    Leaf,
    MessageStart,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from unspool.llm._texts import NO_TEXT
from unspool.testing import assert_only_grows, every_cut
from unspool.typed._iterate import partial
from unspool.typed._outcome import InvalidError

if TYPE_CHECKING:
    from unspool.llm._deltas import FinishReason

CITY_TEXT = '{"city": "Suva"}'


def block(index: int, arguments: Any = None, **more: Any) -> ToolCallDelta:
    """A delta of a call in a block."""
    return ToolCallDelta(index, more.pop("id", None), more.pop("name", None), arguments, counts_blocks=True, **more)


def leaves(*parts: Leaf, **more: Any) -> ToolCallDelta:
    """A delta with leaves."""
    return ToolCallDelta(MISSING, None, more.pop("name", None), parts, "function", **more)


# States


def test_the_first_state() -> None:
    """Nothing is known, and nothing is wrong."""
    state = start()
    assert (state.role, state.id, state.model, state.content, state.reasoning, state.refusal) == (
        None,
        None,
        None,
        "",
        "",
        "",
    )
    assert (state.tool_calls, state.finish_reason, state.raw_finish_reason, state.usage) == ((), None, None, None)
    assert (state.error, state.errors, state.diagnostics) == (None, (), ())
    assert (state.content_value, state.content_error) == (MISSING, None)
    assert (state.is_finished, state.is_complete, state.is_content_complete) == (False, False, False)
    assert isinstance(state.config, Config)


def test_a_message_of_text() -> None:
    """Who, what, why it ended, and what it cost."""
    state = ended(
        [
            MessageStart("assistant", "m1", "model"),
            ReasoningDelta("Hm"),
            ReasoningDelta("m"),
            TextDelta("Hel"),
            TextDelta("lo"),
            Usage(3, None),
            Usage(None, 4),
        ],
        "stop",
    )
    assert (state.role, state.id, state.model) == ("assistant", "m1", "model")
    assert (state.content, state.reasoning) == ("Hello", "Hmm")
    assert state.usage == Usage(3, 4)
    assert state.is_complete
    assert state.error is None
    assert repr(state) == "MessageState(complete, 5 characters, 0 calls)"
    assert repr(after([])) == "MessageState(open, 0 characters, 0 calls)"


def test_a_start_that_comes_in_parts() -> None:
    """Role, id and model are each known from when they were first told."""
    state = start()
    for delta in (
        MessageStart("assistant"),
        MessageStart(None, "m1"),
        MessageStart(None, None, "model"),
        MessageStart("user"),
    ):
        state = reduce(state, delta)
    assert (state.role, state.id, state.model) == ("assistant", "m1", "model")


def test_states_do_not_change() -> None:
    """Nobody can change one, and going on does not."""
    state = after([TextDelta("a"), call(arguments='{"x": ["y')])
    before = seen(state)
    for delta in (TextDelta("b"), piece('z"]}'), Usage(1), Finish("stop"), Ignored("new"), MessageStart("assistant")):
        assert reduce(state, delta) is not state
    assert finish(state) is not state
    assert seen(state) == before
    with pytest.raises(AttributeError):
        state.content = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        state.config.choice = 2


def test_what_is_not_touched_is_the_same_object() -> None:
    """Calls, their tuple and their values are kept from state to state."""
    one = after([call("f", CITY_TEXT, 0), call("f", '{"city": "Na', 1)], tools={"f": CITY})
    two = reduce(one, piece("di", 1))
    assert two.tool_calls[0] is one.tool_calls[0]
    assert two.tool_calls[1] is not one.tool_calls[1]
    assert two.tool_calls[1].value == {"city": "Nadi"}
    three = reduce(two, TextDelta("text"))
    assert three.tool_calls is two.tool_calls
    four = reduce(three, piece('"}', 1))
    assert four.tool_calls[0].value is one.tool_calls[0].value
    assert four.content is three.content


def test_nothing_new_is_the_same_state() -> None:
    """Null and empty deltas are units; so is what is known already."""
    state = after(
        [MessageStart("assistant", "m"), TextDelta("a", (0,)), call(index=1, arguments="{"), Usage(1), Finish("length")]
    )
    for delta in (
        *(TextDelta(""), TextDelta("", (0,), True), ReasoningDelta(""), RefusalDelta("")),
        *(ToolCallDelta(), piece(), piece(""), piece(None, 7), piece("", 7), ToolCallDelta(7, is_done=True)),
        *(MessageStart(), MessageStart("assistant", "m"), Usage(), Usage(1), Finish("length"), Ignored("x", True)),
        *(BlockEnd(), BlockEnd(None), BlockEnd(9), TextDelta("a", (0,), True), Delta()),
    ):
        assert reduce(state, delta) is state, delta
    assert reduce_chunk(state, []) is state
    ending = finish(state)
    assert finish(ending) is ending
    assert reduce(ending, TextDelta("b")) is ending
    assert fail(ending, MessageError(Fault.CLOSED)) is ending


def test_nothing_known_is_lost() -> None:
    """Whatever a delta says, all that it does not speak of stays as it was known, numbered blocks included."""
    state = after([MessageStart("assistant", "m", "gpt"), TextDelta("a", (0,)), ReasoningDelta("b", (1,))])
    for delta in (Usage(1), Ignored("new"), RefusalDelta("c"), ToolCallDelta(0, "i", "f", "{"), Finish("length")):
        later = reduce(state, delta)
        assert (later.role, later.id, later.model) == ("assistant", "m", "gpt")
        assert (later.content, later.reasoning) == ("a", "b")
        interrupted = reduce(later, MessageStart("assistant", "n"))
        assert interrupted.is_finished is not isinstance(delta, Finish)  # an id alone would not have told


def test_two_futures_of_one_state() -> None:
    """A state can be gone on from twice, in any order, on any thread; leaves too."""
    for past, left, right in (
        ([call(arguments='{"city": "S')], piece('uva"}'), piece('avusavu"}')),
        (
            [leaves(Leaf("$.city", "S", True), name="f")],
            leaves(Leaf("$.city", "uva")),
            leaves(Leaf("$.city", "avusavu")),
        ),
    ):
        state = after(past)
        found: list[Any] = []

        def go_on(delta: Delta, state: MessageState = state, found: list[Any] = found) -> None:
            found.append(finish(reduce(reduce(state, delta), Finish("tool_calls"))).tool_calls[0].value)

        threads = [threading.Thread(target=go_on, args=(delta,)) for delta in (left, right) * 10]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(value["city"] for value in found) == ["Savusavu"] * 10 + ["Suva"] * 10


def test_only_one_choice_is_followed() -> None:
    """The first, or the one that is asked for."""
    deltas = [
        MessageStart("assistant", choice=1),
        TextDelta("a"),
        TextDelta("b", choice=1),
        ToolCallDelta(0, "x", "f", "{}", choice=1),
        BlockEnd(0, 1),
        Finish("stop", choice=1),
        Usage(1),
    ]
    first, second = after(deltas), after(deltas, choice=1)
    assert (first.content, first.role, first.tool_calls, first.finish_reason) == ("a", None, (), None)
    assert (second.content, second.role, len(second.tool_calls)) == ("b", "assistant", 1)
    assert (second.finish_reason, second.raw_finish_reason) == ("tool_calls", None)
    assert first.usage == second.usage == Usage(1)


# Configs


def test_configs_that_make_no_sense() -> None:
    """They are refused at the start."""
    for settings in (
        {"tools": {"output": None}},
        {"response_schema": CITY, "emulate_structured_output": True, "tools": {"output": CITY}},
        {"emulate_structured_output": True},
        {"choice": -1},
        {"choice": True},
        {"choice": "x"},
        {"tools": 5},
        {"tools": ["f"]},
        {"tools": {5: None}},
        {"options": 5},
        {"options": 0},
    ):
        with pytest.raises(OptionsError):
            start(Config(**settings))


def test_what_is_no_config() -> None:
    """It is refused at the start, not by the first that reads it."""
    wrong: list[Any] = [5, {}, Options()]
    for config in wrong:
        with pytest.raises(OptionsError, match=f"must be a Config or None, not {type(config).__name__}"):
            start(config)


def test_what_is_no_delta() -> None:
    """It is a mistake of the program, not of the provider: no state keeps silent about it, not even the last."""
    wrong: list[Any] = ["x", None, {}, [TextDelta("x")]]
    for state in (start(), finish(start())):
        for delta in wrong:
            with pytest.raises(TypeError, match=r"Delta .*expected"):
                reduce(state, delta)
    with pytest.raises(TypeError, match=r"Delta .*expected.* str"):
        reduce_chunk(start(), "x")  # type: ignore[arg-type]


def test_the_config_is_a_snapshot() -> None:
    """What happens to the dict of tools later is not seen, and nothing in the config can be changed."""
    tools: dict[str, Any] = {"f": CITY}
    config = Config(tools=tools)
    tools["f"] = None
    tools["g"] = CITY
    assert after([call("f", '{"city": "S')], config).tool_calls[0].value == {"city": "S"}
    with pytest.raises(AttributeError):
        config.choice = 1
    with pytest.raises(AttributeError):
        del config.tools


def test_schemas_are_resolved_once() -> None:
    """Whatever `partial` takes will do, also what it gives."""
    resolver = partial(CITY)
    config = Config(resolver, tools={"f": resolver})
    assert config.tools["f"] is resolver
    assert after([TextDelta('{"city": "S')], config).content_value == {"city": "S"}


# Text


def test_text_by_blocks() -> None:
    """Blocks stand in the order in which they began; a whole text may come again, and bring the rest."""
    state = after([TextDelta("a", (0,)), TextDelta("x", (1,)), TextDelta("ab", (0,), True), TextDelta("x", (1,), True)])
    assert state.content == "abx"
    assert codes(state) == [(Quirk.TEXT_INTERLEAVED, None)]
    rest = after([TextDelta("a", (0,)), TextDelta("abc", (0,), True)])
    assert (rest.content, rest.diagnostics) == ("abc", ())


@pytest.mark.parametrize(
    ("delta", "name"), [(TextDelta, "content"), (ReasoningDelta, "reasoning"), (RefusalDelta, "refusal")]
)
def test_text_that_is_interleaved_or_replaced(delta: Any, name: str) -> None:
    """It is put where it belongs, and that is noticed."""
    state = after([delta("a", (0,)), delta("x", (1,)), delta("b", (0,))])
    assert getattr(state, name) == "abx"
    assert codes(state) == [(Quirk.TEXT_INTERLEAVED, None)]
    state = reduce(state, delta("c", (0,), True))
    assert getattr(state, name) == "cx"
    assert codes(state)[1:] == [(Quirk.TEXT_REPLACED, None)]


def test_pieces_are_put_together_once() -> None:
    """Asking for the text after every piece does not put the same pieces together again and again."""
    text = NO_TEXT
    texts = [text]
    for number in range(100):
        text = text.add(str(number % 10))
        texts.append(text)
        assert len(str(text)) == number + 1
        assert len(text._pieces) <= 2
    for number, older in enumerate(texts):
        assert str(older) == ("0123456789" * 10)[:number]
        assert text.since(number) == ("0123456789" * 10)[number:]
    assert text.add("") is text
    lazy = NO_TEXT.add("0")
    for number in range(1, 100):
        older, lazy = lazy, lazy.add(str(number % 10))
        assert lazy._pieces is older._pieces
    assert [lazy.since(number) for number in range(101)] == [str(lazy)[number:] for number in range(101)]
    fork = texts[50].add("!")
    assert str(fork) == str(texts[50]) + "!"


# Structured output


def test_structured_output_from_the_content() -> None:
    """The value grows with the text, and is complete when the message is."""
    text = '{"title": "Fiji", "days": [{"name": "Arrival", "hours": 3}, {"name": "Rest", "hours": 0}]}'
    state = start(Config(TRIP))
    grown = []
    for character in text:
        state = reduce(state, TextDelta(character))
        if state.content_value is not MISSING:
            grown.append(state.content_value)
    assert_only_grows(grown)
    assert not state.is_content_complete
    state = finish(reduce(state, Finish("stop")))
    assert state.is_content_complete
    assert state.is_complete
    assert state.content == text
    assert state.content_value == {
        "title": "Fiji",
        "days": [{"name": "Arrival", "hours": 3}, {"name": "Rest", "hours": 0}],
    }


def test_a_number_is_whole_when_the_message_is() -> None:
    """Before that more digits could come."""
    state = after([TextDelta("4"), TextDelta("2")], response_schema=NUMBER)
    assert state.content_value is MISSING
    state = finish(reduce(state, Finish("stop")))
    assert (state.content_value, state.is_complete) == (42, True)


def test_content_without_a_schema_is_text() -> None:
    """Whatever it looks like."""
    state = ended([TextDelta(CITY_TEXT)], "stop")
    assert (state.content_value, state.is_content_complete, state.is_complete) == (MISSING, False, True)


def test_structured_output_in_other_text() -> None:
    """With `extract` it may stand in a fence, with prose around it."""
    text = f"Here you are:\n```json\n{CITY_TEXT}\n```\nBye."
    for left, right in every_cut(text):
        state = ended([TextDelta(left), TextDelta(right)], "stop", response_schema=CITY, extract=True)
        assert (state.content_value, state.is_complete, state.diagnostics) == ({"city": "Suva"}, True, ())


def test_extra_text_after_the_answer() -> None:
    """It is kept, and noticed; the answer is what it is."""
    for extra in (" Bye.", CITY_TEXT, "{"):
        state = ended([TextDelta(CITY_TEXT), TextDelta(extra)], "stop", response_schema=CITY)
        assert (state.content_value, state.is_complete, state.content) == ({"city": "Suva"}, True, CITY_TEXT + extra)
        assert codes(state) == [(Quirk.EXTRA_TEXT, None)]


def test_errors_in_the_content_are_known_at_once_and_count_at_the_end() -> None:
    """Syntax and type: the state tells, the text goes on."""
    broken = after([TextDelta('{"city": x'), TextDelta("yz")], response_schema=CITY)
    assert broken.error is broken.content_error is reduce(broken, TextDelta("more")).error
    assert broken.error is not None
    assert broken.error.fault is Fault.SYNTAX
    assert isinstance(broken.error.reason, JSONSyntaxError)
    assert not broken.is_finished
    assert broken.content == '{"city": xyz'
    invalid = after([TextDelta('{"city": 5, "')], response_schema=CITY)
    assert invalid.error is not None
    assert invalid.error.fault is Fault.INVALID
    assert isinstance(invalid.error.reason, InvalidError)
    assert "$.city" in str(invalid.error)
    for state in (broken, invalid):
        end = finish(reduce(state, Finish("stop")))
        assert end.error == end.content_error is state.error
        assert (end.is_complete, end.is_content_complete) == (False, False)


def test_problems_that_become_more() -> None:
    """The error is another one only when it says something else."""
    shape = record(a=NUMBER, b=NUMBER)
    one = after([TextDelta('{"a": "x", ')], response_schema=shape)
    two = reduce(one, TextDelta('"b'))
    three = reduce(two, TextDelta('": "y"'))
    assert one.error is two.error
    assert three.error is not one.error
    assert three.error is not None
    assert isinstance(three.error.reason, InvalidError)
    assert [str(problem.path) for problem in three.error.reason.problems] == ["$.a", "$.b"]


def test_no_answer() -> None:
    """A message that was to have structured output and has none is wrong, unless it does something else instead."""
    none = ended([], "stop", response_schema=CITY)
    assert none.error is not None
    assert none.error.fault is Fault.NO_ANSWER
    assert ended([TextDelta(" \n")], "stop", response_schema=CITY).error is not None
    assert ended([RefusalDelta("No.")], "stop", response_schema=CITY).is_complete
    assert ended([call(arguments="{}")], response_schema=CITY).is_complete
    assert not ended([call(arguments="{}")], response_schema=CITY).is_content_complete
    server = ToolCallDelta(0, "a", "search", "{}", "server")
    assert not ended([server], "stop", response_schema=CITY).is_complete


def test_prose_beside_calls_is_no_error() -> None:
    """Whoever calls tools first says so; that is not the answer."""
    state = after([TextDelta("Let me see.")], response_schema=CITY)
    assert state.error is not None
    state = reduce(state, call(arguments="{}"))
    assert state.error is None
    assert state.content_error is not None
    state = finish(reduce(state, Finish("tool_calls")))
    assert state.is_complete
    assert not state.is_content_complete


def test_an_answer_that_was_interleaved_is_read_at_the_end() -> None:
    """Blocks that grow in turns, or are replaced, are read once all of them are there."""
    deltas = [TextDelta('{"city"', (0,)), TextDelta('"Su', (1,)), TextDelta(":", (0,)), TextDelta('va"}', (1,))]
    state = after(deltas, response_schema=CITY)
    assert state.content == '{"city":"Suva"}'
    assert finish(reduce(state, Finish("stop"))).content_value == {"city": "Suva"}
    assert ended([*deltas, TextDelta("[]", (1,), True)], "stop", response_schema=CITY).error is not None


# Emulated structured output


def test_emulated_structured_output() -> None:
    """The tool `output` is never shown; its arguments are the answer."""
    config = Config(CITY, emulate_structured_output=True, tools={"f": None})
    state = start(config)
    shown = []
    for delta in (
        TextDelta("Here: "),
        call("output", "", 0),
        piece('{"city": "Su', 0),
        call("f", '{"x":1}', 1),
        piece('va"}', 0),
        Finish("tool_calls"),
    ):
        state = reduce(state, delta)
        assert all(call.name == "f" for call in state.tool_calls)
        assert state.error is None
        shown.append(state.content_value)
    assert shown == [MISSING, MISSING, {"city": "Su"}, {"city": "Su"}, {"city": "Suva"}, {"city": "Suva"}]
    state = finish(state)
    assert state.is_content_complete
    assert state.is_complete
    assert [call.index for call in state.tool_calls] == [0]
    assert state.content == "Here: "
    assert codes(state) == [(Quirk.CALLS_INTERLEAVED, None)]


def test_a_nameless_call_may_be_the_output() -> None:
    """It is not shown until its name says that it is not; in the end it is, as a call without a name."""
    config = Config(CITY, emulate_structured_output=True)
    state = after([piece('{"city": "Su', 0), call("f", "{}", 1)], config)
    assert [call.name for call in state.tool_calls] == ["f"]
    output = finish(reduce(reduce(state, piece('va"}', 0, name="output")), Finish("tool_calls")))
    assert [call.name for call in output.tool_calls] == ["f"]
    assert output.content_value == {"city": "Suva"}
    other = reduce(state, piece('va"}', 0, name="g"))
    assert [(call.index, call.name) for call in other.tool_calls] == [(0, "f"), (1, "g")]
    assert other.tool_calls[1].arguments == CITY_TEXT
    nameless = finish(reduce(state, Finish("tool_calls")))
    assert [call.name for call in nameless.tool_calls] == ["f", None]
    error = nameless.tool_calls[1].error
    assert error is not None
    assert (error.fault, error.call) == (Fault.NO_NAME, 1)


def test_emulated_output_that_fails() -> None:
    """Its error is that of the content, whatever other calls there are."""
    config = Config(CITY, emulate_structured_output=True)
    state = after([call("output", '{"city": 5}', 0), call("f", "{}", 1)], config)
    assert state.error is state.content_error
    assert state.error is not None
    assert (state.error.fault, state.error.call) == (Fault.INVALID, None)
    cut = finish(reduce(after([call("output", '{"city": "S')], config), Finish("length")))
    assert cut.error is not None
    assert (cut.error.fault, cut.error.call, [str(path) for path in cut.error.paths]) == (
        Fault.TRUNCATED,
        None,
        ["$", "$.city"],
    )
    assert not cut.is_content_complete
    absent = finish(after([TextDelta("Hm"), Finish("stop")], config))
    assert absent.error is not None
    assert absent.error.fault is Fault.NO_ANSWER
    assert finish(after([call("f", "{}"), Finish("tool_calls")], config)).is_complete


def test_a_second_output() -> None:
    """The first one counts."""
    config = Config(CITY, emulate_structured_output=True)
    deltas = [call("output", CITY_TEXT, 0), call("output", "", 1), piece('{"city": "Nadi"}', 1)]
    state = finish(after([*deltas, Finish("tool_calls")], config))
    assert state.content_value == {"city": "Suva"}
    assert state.tool_calls == ()
    assert codes(state) == [(Quirk.OUTPUT_REPEATED, None)]
    nameless = after([call("output", CITY_TEXT, 0), piece("{", 1)], config)
    assert codes(nameless) == []


def test_a_tool_named_output_without_emulation() -> None:
    """A model may call what it was not given; then it is a call like others."""
    assert [call.name for call in ended([call("output", "{}")]).tool_calls] == ["output"]


# Tool calls


def test_typed_arguments_stream() -> None:
    """A tool with a type shows its arguments as they grow."""
    state = start(Config(tools={"f": CITY}))
    shown: list[Any] = []
    for delta in (call(), piece('{"ci'), piece('ty": "S'), piece("uva"), piece('"}')):
        state = reduce(state, delta)
        shown.append(state.tool_calls[0].value)
    assert shown == [MISSING, {}, {"city": "S"}, {"city": "Suva"}, {"city": "Suva"}]
    assert not state.tool_calls[0].is_complete
    done = reduce(state, Finish("tool_calls"))
    assert done.tool_calls[0].is_complete
    assert done.tool_calls[0].value == {"city": "Suva"}


def test_untyped_arguments_come_when_complete() -> None:
    """A tool without a type has a value once its text is complete; the text is there before."""
    state = after([call("f", '{"city": "Suva"')], tools={"f": None})
    assert state.tool_calls[0].value is MISSING
    state = after([call("f", '{"city": "Suva"}')], tools={"f": None})
    assert state.tool_calls[0].value == {"city": "Suva"}
    assert not state.tool_calls[0].is_complete
    assert state.tool_calls[0].arguments == CITY_TEXT
    assert repr(state.tool_calls[0]) == "ToolCall(0, 'f', open, value={'city': 'Suva'})"
    done = finish(reduce(state, Finish("tool_calls")))
    assert done.tool_calls[0].value == {"city": "Suva"}
    assert repr(done.tool_calls[0]) == "ToolCall(0, 'f', complete, value={'city': 'Suva'})"


def test_arguments_before_the_name() -> None:
    """They are kept, and are worth something as soon as it is known whose they are."""
    state = after([piece('{"city": "S')], tools={"f": CITY})
    assert (state.tool_calls[0].name, state.tool_calls[0].value) == (None, MISSING)
    state = reduce(state, piece(None, name="f", id="a"))
    assert state.tool_calls[0].value == {"city": "S"}
    state = reduce(state, piece('uva"}'))
    assert finish(reduce(state, Finish("tool_calls"))).tool_calls[0].value == {"city": "Suva"}
    wrong = reduce(after([piece('{"town": "S')], tools={"f": CITY}), piece(None, name="f"))
    assert wrong.tool_calls[0].error is not None


def test_a_call_that_says_it_is_whole() -> None:
    """It is complete then, whatever is still to come."""
    for end in (piece(is_done=True), BlockEnd(0)):
        state = after([call("f", CITY_TEXT), end])
        assert state.tool_calls[0].is_complete
        assert state.tool_calls[0].value == {"city": "Suva"}
        assert reduce(state, end) is state
    wrong = after([call("f", "5"), BlockEnd(0)], tools={"f": CITY}).tool_calls[0]
    assert wrong.error is not None
    assert (wrong.is_complete, wrong.error.fault) == (False, Fault.INVALID)
    number = after([call("f", "5"), BlockEnd(0)])
    assert (number.tool_calls[0].is_complete, number.tool_calls[0].value) == (True, 5)


def test_a_call_without_arguments() -> None:
    """At the end of the message, and not before, none count as {}: they might have been lost."""
    for arguments in (None, "", "  "):
        for end in ([], [BlockEnd(0)], [piece(is_done=True)]):
            state = after([call("f", arguments), *end, Finish("tool_calls")])
            assert not state.tool_calls[0].is_complete
            state = finish(state)
            assert values(state) == [{}]
            assert state.tool_calls[0].arguments == (arguments or "")
    typed = ended([call("f")], tools={"f": CITY})
    assert typed.tool_calls[0].error is not None
    assert typed.tool_calls[0].error.fault is Fault.INVALID


def test_a_call_that_lost_its_arguments() -> None:
    """Where the stream was cut, no arguments are not {}."""
    for reason in (None, "length", "content_filter", "refusal"):
        for end in ([], [BlockEnd(0)]):
            state = ended([call("f"), *end], reason)
            assert values(state) == [MISSING]
            assert state.tool_calls[0].error is not None
            assert state.tool_calls[0].error.fault is Fault.TRUNCATED


def test_a_tool_that_takes_text() -> None:
    """Its input is no JSON: the value is the text."""
    first = ToolCallDelta(0, "a", "sql", "SELECT", "custom", counts_blocks=True)
    state = after([first, ToolCallDelta(0, None, None, " 1", "custom", counts_blocks=True)])
    assert (state.tool_calls[0].arguments, state.tool_calls[0].value) == ("SELECT 1", MISSING)
    assert values(ended([first], tools={"sql": CITY})) == ["SELECT"]
    assert finish(reduce(state, Finish("tool_calls"))).tool_calls[0].value == "SELECT 1"
    cut = finish(reduce(state, Finish("length"))).tool_calls[0]
    assert cut.error is not None
    assert (cut.error.fault, cut.error.paths) == (Fault.TRUNCATED, ())
    empty = ToolCallDelta(0, "a", "sql", None, "custom", True, True)
    assert after([empty]).tool_calls[0].value == ""
    assert values(ended([ToolCallDelta(0, "a", "sql", None, "custom", counts_blocks=True)])) == [""]


def test_an_error_in_one_call_leaves_the_others_whole() -> None:
    """Each call is judged by itself."""
    state = ended([call("f", "{]", 0), call("f", '{"city": 5}', 1), call("f", CITY_TEXT, 2)], tools={"f": CITY})
    faults = [None if call.error is None else (call.error.fault, call.error.call) for call in state.tool_calls]
    assert faults == [(Fault.SYNTAX, 0), (Fault.INVALID, 1), None]
    assert values(state) == [MISSING, MISSING, {"city": "Suva"}]
    assert state.error is state.tool_calls[0].error
    assert len(state.errors) == 2
    assert repr(state.tool_calls[0]) == "ToolCall(0, 'f', failed, value={})"


def test_arguments_over_a_limit() -> None:
    """The options say how JSON is read."""
    state = after([call("f", '{"a": [[[')], options=Options(max_depth=2))
    assert state.error is not None
    assert isinstance(state.error.reason, LimitError)


def test_a_call_without_a_name() -> None:
    """In the end that is an error."""
    state = ended([piece("{}")])
    assert state.error is not None
    assert (state.error.fault, state.error.call) == (Fault.NO_NAME, 0)


def test_arguments_that_no_text_can_be() -> None:
    """A value that JSON does not have is an error of the call."""
    for delta in (piece(Whole({"x": float("nan")}), name="f"), piece(Whole({"x": object()}), name="f")):
        state = after([delta])
        assert state.error is not None
        assert state.error.fault is Fault.MISPLACED
        assert isinstance(state.error.reason, SnapshotError)
        assert reduce(state, piece("{}")).error is state.error
        assert ended([delta]).tool_calls[0].error is not None


def test_utf8_and_escapes_cut_anywhere() -> None:
    """Where deltas are cut is not seen."""
    text = '{"city": "Sū\\u0076\\ud83d\\ude00 \U0001f600\\n\\"a"}'
    whole = seen(ended([call("f", text)], tools={"f": CITY}))
    for left, right in every_cut(text):
        state = ended([call("f", left), piece(right)], tools={"f": CITY})
        assert seen(state) == whole


# Leaves


def test_leaves_become_text() -> None:
    """Arguments by their paths are worth as much as text."""
    config = Config(tools={"f": TRIP})
    state = start(config)
    grown: list[Any] = []
    for delta in (
        leaves(name="f"),
        leaves(Leaf("$.title", "Fi", True)),
        leaves(Leaf("$.title", "ji"), Leaf("$.days[0].name", "Arrival")),
        leaves(Leaf("$.days[0].hours", 3), Leaf("$.days[1].name", "", True)),
        leaves(Leaf("$.days[1].name", MISSING), Leaf("$.days[1].hours", 1)),
    ):
        state = reduce(state, delta)
        if state.tool_calls[0].value is not MISSING:
            grown.append(state.tool_calls[0].value)
    assert_only_grows(grown)
    expected = {"title": "Fiji", "days": [{"name": "Arrival", "hours": 3}, {"name": "", "hours": 1}]}
    assert not reduce(state, Finish("stop")).tool_calls[0].is_complete  # there may be more
    told = reduce(state, leaves(is_done=True))
    assert told.tool_calls[0].is_complete
    for end in (finish(reduce(told, Finish("stop"))), finish(reduce(state, Finish("stop")))):
        assert end.tool_calls[0].value == expected
        assert end.is_complete
        assert end.diagnostics == ()


def test_leaves_that_are_cut_off() -> None:
    """What they have opened stays open."""
    state = ended([leaves(Leaf("$.days[0].name", "Arr", True), name="f")], "length")
    error = state.tool_calls[0].error
    assert error is not None
    assert [str(path) for path in error.paths] == ["$", "$.days", "$.days[0]", "$.days[0].name"]


def test_leaves_that_have_no_place() -> None:
    """A path that is none, or that cannot be written any more, is an error of the call; later ones are left out."""
    for bad in (Leaf("[", 1), Leaf("$.a", 2), Leaf("$.list[5]", 1), Leaf("$.b")):
        state = after([leaves(Leaf("$.a", 1), name="f"), leaves(bad), leaves(Leaf("$.c", 1))])
        error = state.tool_calls[0].error
        assert error is not None
        assert error.fault is Fault.MISPLACED
        assert isinstance(error.reason, SnapshotError)
        assert state.tool_calls[0].arguments == '{"a":1'
        assert codes(state) == [(Quirk.EXTRA_TEXT, 0)]
        done = finish(reduce(reduce(state, leaves(is_done=True)), Finish("stop")))
        assert done.tool_calls[0].error is error


def test_leaves_after_the_end() -> None:
    """Nothing can follow what was written to its end."""
    state = after([leaves(Leaf("$.a", 1), name="f", is_done=True), leaves(Leaf("$.b", 1))])
    assert state.tool_calls[0].value == {"a": 1}
    assert codes(state) == [(Quirk.EXTRA_TEXT, 0)]


def test_leaves_and_text() -> None:
    """One call has one form of arguments: the first; but all of them as a whole are always right."""
    text_last = after([leaves(Leaf("$.a", 1), name="f"), ToolCallDelta(MISSING, None, None, '{"b": 2}', "function")])
    assert text_last.tool_calls[0].arguments == '{"a":1'
    leaf_last = after([ToolCallDelta(MISSING, None, "f", '{"b": ', "function"), leaves(Leaf("$.a", 1))])
    assert leaf_last.tool_calls[0].arguments == '{"b": '
    assert (Quirk.ARGUMENTS_MIXED, 0) in codes(text_last)
    assert (Quirk.ARGUMENTS_MIXED, 0) in codes(leaf_last)
    whole = ToolCallDelta(MISSING, None, None, Whole({"a": 2}), "function", True)
    state = after([leaves(Leaf("$.a", 1), name="f"), whole])
    assert state.tool_calls[0].value == {"a": 2}


# The end


def test_cut_off_by_length() -> None:
    """It is never complete, and the open paths are told; a text that happens to be closed is no exception."""
    text = '{"title": "Fiji", "days": [{"name": "Arr'
    state = ended([TextDelta(text)], "length", response_schema=TRIP)
    assert state.error is not None
    assert state.error.fault is Fault.TRUNCATED
    assert [str(path) for path in state.error.paths] == ["$", "$.days", "$.days[0]", "$.days[0].name"]
    assert str(state.error) == "the message was cut off: open: $.days[0].name"
    assert state.content_value == {"title": "Fiji", "days": [{"name": "Arr"}]}
    closed = ended([TextDelta(CITY_TEXT)], "length", response_schema=CITY)
    assert closed.error is not None
    assert (closed.error.fault, closed.error.paths) == (Fault.TRUNCATED, ())
    assert (closed.is_complete, closed.is_content_complete) == (False, False)
    tool = ended([call("f", CITY_TEXT)], "length")
    assert values(tool) == [MISSING]
    assert not ended([TextDelta("text")], "length").is_complete
    assert ended([TextDelta("text")], "length").error is None
    assert ended([], "length", response_schema=CITY).error is not None


def test_a_call_that_was_whole_before_the_cut() -> None:
    """What was complete stays complete; what came after it is not."""
    state = ended([block(0, CITY_TEXT, id="a", name="f"), BlockEnd(0), block(1, "{}", id="b", name="f")], "length")
    assert values(state) == [{"city": "Suva"}, MISSING]
    assert not state.is_complete


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "error"])
def test_other_ways_to_be_cut(reason: FinishReason) -> None:
    """Filters, refusals and failures of the model cut like length."""
    state = ended([call("f", CITY_TEXT)], reason)
    assert values(state) == [MISSING]
    assert not state.is_complete
    assert ended([RefusalDelta("No.")], reason, response_schema=CITY).content_error is None


def test_a_model_that_failed() -> None:
    """That is known as soon as it is said."""
    state = after([Finish("error", "MALFORMED_FUNCTION_CALL")])
    assert state.error is not None
    assert (state.error.fault, state.error.code) == (Fault.GENERATION, "MALFORMED_FUNCTION_CALL")
    assert finish(state).error is state.error
    again = reduce(state, Finish("stop"))
    assert again.error is state.error  # a message that failed stays so
    assert (again.finish_reason, codes(again)) == ("error", [(Quirk.FINISH_CONTRADICTS, None)])


def test_a_text_that_ends_too_early() -> None:
    """Without a reason for it, the error is that of the JSON."""
    content = ended([TextDelta('{"city": "S')], "stop", response_schema=CITY)
    tool = ended([call("f", '{"city": "S')])
    for error in (content.error, tool.error):
        assert error is not None
        assert error.fault is Fault.INCOMPLETE
        assert isinstance(error.reason, IncompleteJSONError)
        assert str(error.paths[-1]) == "$.city"


def test_a_stream_that_ends_without_a_reason() -> None:
    """Something is lost, unless the provider never says why a message ends."""
    state = finish(after([TextDelta("Hel")]))
    assert state.error is not None
    assert state.error.fault is Fault.UNFINISHED
    assert finish(after([TextDelta("Hello")], requires_finish=False)).is_complete
    wrong = finish(after([call("f", "5")], tools={"f": CITY}, requires_finish=False))
    assert wrong.error is not None
    assert wrong.error.fault is Fault.INVALID
    lenient = finish(after([call("f", CITY_TEXT), call("f", "{", 1)], requires_finish=False))
    assert values(lenient) == [{"city": "Suva"}, MISSING]


def test_finish_is_pure_and_repeatable() -> None:
    """What if the stream ended here? The state goes on all the same."""
    state = after([call("f", '{"city": "S')])
    assert finish(state).error is not None
    assert state.error is None
    assert values(finish(reduce(reduce(state, piece('uva"}')), Finish("tool_calls")))) == [{"city": "Suva"}]


def test_arguments_after_the_reason_to_finish() -> None:
    """Some say it early, or on every chunk; what comes then still counts."""
    state = after([Finish("stop"), call("f", '{"city": "S'), Finish("tool_calls"), piece('uva"}')])
    assert state.tool_calls[0].is_complete
    assert state.finish_reason == "tool_calls"


def test_an_error_of_the_provider_ends_the_message() -> None:
    """At once, and nothing is read after it; what was complete stays so."""
    deltas = [
        TextDelta("Hel"),
        block(0, CITY_TEXT, id="a", name="f"),
        BlockEnd(0),
        block(1, "{", id="b", name="f"),
        ProviderError("Overloaded", "overloaded_error", {"type": "overloaded_error"}),
        TextDelta("lo"),
    ]
    state = after(deltas)
    assert state.is_finished
    assert state.content == "Hel"
    assert state.error is not None
    assert (state.error.fault, state.error.code, state.error.detail) == (
        Fault.PROVIDER,
        "overloaded_error",
        "Overloaded",
    )
    assert str(state.error) == "the provider reported an error: overloaded_error: Overloaded"
    assert values(state) == [{"city": "Suva"}, MISSING]
    assert state.tool_calls[1].error is not None
    assert finish(state) is state


def test_errors_as_exceptions() -> None:
    """An error in a state is a value; to raise it makes another one, which has the state and the cause."""
    state = ended([call("f", "{]")])
    error = state.error
    assert error is not None
    raised = error.raised(state)
    assert raised is not error
    assert raised.state is state
    assert error.state is None
    assert raised.__cause__ is error.reason
    assert str(raised) == str(error)
    assert str(raised).startswith("call 0: the text is not JSON: ")
    assert str(MessageError(Fault.TRANSPORT, reason=OSError("secret"))) == "the source of the stream failed: OSError"


# Messages that follow


def test_a_second_message_spliced_in() -> None:
    """Another message before this one has ended means that this one was lost: an error, at once."""
    start_one, start_two = MessageStart("assistant", "m1"), MessageStart("assistant", "m2")
    for begun in (
        [TextDelta("Hel", (0,))],
        [ReasoningDelta("Hm", (0,))],
        [RefusalDelta("No", (0,))],
        [block(0, id="a", name="f")],
    ):
        state = after([start_one, *begun])
        assert starts_another(state, start_two)
        assert not starts_another(state, start_one)
        state = reduce(reduce(state, start_two), TextDelta("Bonjour", (0,)))
        assert state.is_finished
        assert state.error is not None
        assert state.error.fault is Fault.INTERRUPTED
        assert "Bonjour" not in state.content


def test_a_second_message_after_the_first() -> None:
    """It is left out, and noticed; what is of the first still counts."""
    state = after(
        [MessageStart("assistant", "m1"), TextDelta("Hello"), Finish("stop"), MessageStart("assistant", "m2")]
    )
    for delta in (TextDelta("Bonjour"), Usage(1), Finish("length"), ProviderError("no")):
        assert reduce(state, delta) is state
    state = reduce(reduce(state, MessageStart("assistant", "m1")), Usage(5))
    assert (state.content, state.finish_reason, state.usage) == ("Hello", "stop", Usage(5))
    assert codes(state) == [(Quirk.SECOND_MESSAGE, None)]
    assert finish(state).is_complete


def test_an_id_that_changes_on_every_chunk() -> None:
    """Where nothing else speaks for another message, it is the same one."""
    state = ended(
        [MessageStart("assistant", "m1"), TextDelta("Hel"), MessageStart("assistant", "m2"), TextDelta("lo")], "stop"
    )
    assert (state.id, state.content) == ("m1", "Hello")
    assert codes(state) == [(Quirk.MESSAGE_ID_CHANGED, None)]
    assert not starts_another(state, TextDelta("a"))
    assert not starts_another(state, MessageStart("assistant", "m2", choice=1))
    assert not starts_another(state, MessageStart("assistant"))


# The message to send back


def test_as_message() -> None:
    """In OpenAI's shape, with the raw strings as they came."""
    assert ended([TextDelta("Hello")], "stop").as_message() == {"role": "assistant", "content": "Hello"}
    assert ended([], "stop").as_message() == {"role": "assistant", "content": ""}
    assert ended([RefusalDelta("No.")], "stop").as_message() == {"role": "assistant", "content": None, "refusal": "No."}
    text = '{ "city":"S\\u0075va" }'
    state = ended([
        MessageStart("model"),
        TextDelta("Let me see."),
        call("f", text, 0, id="a"),
        piece("", 1, name="g"),
        ToolCallDelta(2, "c", "sql", "SELECT 1", "custom"),
        ToolCallDelta(3, "d", "search", "{}", "server"),
        piece("{}", 4),
    ])  # fmt: skip
    assert state.as_message() == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": text}},
            {"id": "call_1", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
        ],
    }
    assert ended([call("f", "{}", 0)]).as_message()["content"] is None
    calls = ended([call("f", "{}", 0, id="call_1"), piece("{}", 1, name="g")]).as_message()["tool_calls"]
    assert [each["id"] for each in calls] == ["call_1", "call_1_"]


def test_emulated_output_is_sent_back_as_content() -> None:
    """It was said, if not in words; the tool that it went through does not exist."""
    config = Config(CITY, emulate_structured_output=True)
    output = call("output", CITY_TEXT)
    assert after([output], config).as_message() == {"role": "assistant", "content": CITY_TEXT}
    assert after([TextDelta("Here: "), output], config).as_message() == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Here: "}, {"type": "text", "text": CITY_TEXT}],
    }


def test_any_value() -> None:
    """A shape that takes anything shows the plain value as it grows."""
    state = after([call("f", '{"a": [1, "b')], tools={"f": ANY, "g": STRING})
    assert state.tool_calls[0].value == {"a": [1, "b"]}
