"""Repair in messages: the answer and the arguments of calls, the log of each, gates without guesses, and bad ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.messages import CITY, TRIP, after, call, codes, ended, piece, seen, values
from unspool import MISSING, Options, OptionsError, RepairCode
from unspool.llm import ChoiceStream, Config, Fault, GateStatus, MessageState, MessageStream, Quirk, finish, reduce
from unspool.llm._deltas import BlockEnd, Finish, TextDelta

REPAIRED = Quirk.ARGUMENTS_REPAIRED
BROKEN = "{city: 'Rome', // the capital\n}"
GUESSED = '{"city": "the "eternal" city"}'
OPEN = '{"title": "Fiji", "days": [{"name": "Arrival", "hours": 3}]'


def chunk(arguments: str, reason: str | None = None) -> dict[str, Any]:
    """A chunk of a chat completion with a piece of one call."""
    function = {"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [function]}, "finish_reason": reason}]}


def codes_of(repairs: Any) -> list[str]:
    return [repair.code.value for repair in repairs]


def test_strict_is_the_default() -> None:
    """Without `repair`, broken arguments are an error, and the log is empty."""
    state = ended([call("f", BROKEN)], tools={"f": CITY})
    assert state.tool_calls[0].error is not None
    assert state.tool_calls[0].repairs == ()
    assert state.repairs == ()


@pytest.mark.parametrize("tools", [{"f": CITY}, {"f": None}, None])
def test_arguments_are_repaired_with_a_log(tools: Any) -> None:
    """With a type or without one: the value is read, the text stays as it came, and a diagnostic tells of it."""
    for fragments in (*strategies.every_single_cut(BROKEN), strategies.one_by_one(BROKEN)):
        state = ended([call("f", ""), *map(piece, fragments)], tools=tools, repair="spelling")
        (found,) = state.tool_calls
        assert values(state) == [{"city": "Rome"}]
        assert found.arguments == BROKEN
        assert codes_of(found.repairs) == ["unquoted_key", "single_quotes", "comment", "trailing_comma"]
        assert not found.has_guesses
        assert codes(state) == [(REPAIRED, 0)]
        assert state.is_complete
        assert state.as_messages("anthropic")[0]["content"][-1]["input"] == {"city": "Rome"}


def test_the_streams_take_repair() -> None:
    """`MessageStream` and `ChoiceStream` take the parameter; not beside a config."""
    chunks = [chunk(BROKEN[:9]), chunk(BROKEN[9:], "tool_calls")]
    state = MessageStream(chunks, tools={"f": CITY}, repair="spelling").final()
    assert values(state) == [{"city": "Rome"}]
    (state,) = ChoiceStream(chunks, tools={"f": CITY}, repair="spelling").final()
    assert values(state) == [{"city": "Rome"}]
    (state,) = ChoiceStream(chunks, tools={"f": CITY}, options=Options(repair="spelling")).final()
    assert values(state) == [{"city": "Rome"}]
    with pytest.raises(OptionsError, match="either config"):
        MessageStream(chunks, repair="guess", config=Config())
    with pytest.raises(OptionsError, match="repair must be"):
        MessageStream(chunks, repair="yes")  # type: ignore[arg-type]


def test_the_answer_is_repaired_with_a_log() -> None:
    """The state has the repairs of the structured output, while it grows and at the end."""
    config = Config(CITY, repair="guess")
    state = after([TextDelta("{'city': 'Ro")], config)
    assert state.content_value == {"city": "Ro"}
    assert codes_of(state.repairs) == ["single_quotes", "single_quotes"]
    state = finish(reduce(reduce(state, TextDelta("me',}")), Finish("stop")))
    assert (state.content_value, state.is_complete) == ({"city": "Rome"}, True)
    assert codes_of(state.repairs) == ["single_quotes", "single_quotes", "trailing_comma"]
    assert state.diagnostics == ()
    loaded = MessageState.load(json.loads(json.dumps(state.dump())), config)
    assert loaded.repairs == state.repairs
    emulated = ended([call("output", BROKEN)], config=Config(CITY, emulate_structured_output=True, repair="spelling"))
    assert (emulated.content_value, len(emulated.repairs)) == ({"city": "Rome"}, 4)


def test_a_gate_without_guesses() -> None:
    """With `guesses=False` an argument of a call with a guess is "guessed": settled, with its value, and not ready."""
    state = after([call("f", GUESSED)], tools={"f": CITY}, repair="guess")
    (found,) = state.tool_calls
    assert codes_of(found.repairs) == ["unescaped_quote", "unescaped_quote"]
    assert found.has_guesses
    assert found.ready("city").is_ready
    gate = found.ready("city", guesses=False)
    assert (gate.status, gate.value) == (GateStatus.GUESSED, 'the "eternal" city')
    assert gate.is_settled
    assert not gate.is_ready
    spelled = after([call("f", BROKEN)], tools={"f": CITY}, repair="guess").tool_calls[0]
    assert spelled.ready("city", guesses=False).is_ready
    missing = after([call("f", '{"title": "the "eternal" city", ')], tools={"f": TRIP}, repair="guess").tool_calls[0]
    assert missing.ready("days", guesses=False).status is GateStatus.WAITING


@pytest.mark.parametrize(("text", "expected"), [(BROKEN, ["ready"]), (GUESSED, ["guessed"])])
def test_callbacks_without_guesses(text: str, expected: list[str]) -> None:
    """`on_ready` takes the same parameter: the callback learns that the argument was guessed."""
    told: list[str] = []
    stream = MessageStream([chunk(text, "tool_calls")], tools={"f": CITY}, repair="guess")
    stream.on_ready("f", "$", lambda _, gate: told.append(gate.status.value), guesses=False)
    stream.final()
    assert told == expected


def test_law_19_what_was_cut_off_is_never_closed() -> None:
    """Missing brackets are put in only where the model stopped by itself: never after length, or without a reason."""
    for truncated in ("error", "close"):
        settings: dict[str, Any] = {"tools": {"f": TRIP}, "options": Options(repair="guess", truncated=truncated)}
        good = ended([call("f", OPEN), BlockEnd(0)], "tool_calls", **settings)
        assert good.tool_calls[0].is_complete
        assert good.tool_calls[0].has_guesses
        assert codes_of(good.tool_calls[0].repairs) == ["missing_close"]
        for reason in ("length", "content_filter", None):
            state = after([call("f", OPEN), BlockEnd(0)], **settings)
            assert not state.tool_calls[0].is_complete
            state = finish(state if reason is None else reduce(state, Finish(reason)))
            assert not state.tool_calls[0].is_complete
            assert not state.is_complete
            assert state.tool_calls[0].error is not None
            assert state.tool_calls[0].error.fault in (Fault.TRUNCATED, Fault.UNFINISHED)
            answer = ended([TextDelta(OPEN)], reason, response_schema=TRIP, options=settings["options"])
            assert answer.content_error is not None
            assert not answer.is_complete
        answer = ended([TextDelta(OPEN)], "stop", response_schema=TRIP, options=settings["options"])
        assert answer.is_complete
        assert codes_of(answer.repairs) == ["missing_close"]


def test_closed_at_the_end_and_loaded() -> None:
    """A call that the end of the message closed is the same after dump and load, with its log and its gates."""
    config = Config(tools={"f": TRIP}, repair="guess")
    state = ended([call("f", OPEN)], config=config)
    loaded = MessageState.load(json.loads(json.dumps(state.dump())), config)
    assert seen(loaded) == seen(state)
    assert loaded.tool_calls[0].repairs == state.tool_calls[0].repairs
    assert loaded.tool_calls[0].ready("$.days[0].hours").value == 3
    assert loaded.tool_calls[0].ready("$", guesses=False).status is GateStatus.GUESSED


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "cohere", "anthropic", "gemini", "ollama"])
def test_the_next_request_has_json(format: str) -> None:
    """Providers refuse arguments that are not JSON: a repaired call goes back as the value that was read."""
    state = ended([call("f", BROKEN)], tools={"f": CITY}, repair="spelling")
    written = json.dumps(state.as_messages(format))
    assert "// the capital" not in written
    assert "Rome" in written
    losses = [loss.what for loss in state.lost_in(format)]
    assert ("broken_arguments" in losses) is (format in ("openai-chat", "openai-responses", "cohere"))
    whole = ended([call("f", '{"city":  "Rome"}')], tools={"f": CITY}, repair="spelling")
    assert "broken_arguments" not in [loss.what for loss in whole.lost_in(format)]


def test_encoded_twice_and_broken() -> None:
    """The object inside a string is repaired, too; positions are those in the text of the string."""
    state = ended([call("f", json.dumps(BROKEN))], tools={"f": CITY}, repair="spelling")
    assert values(state) == [{"city": "Rome"}]
    assert codes(state) == [(Quirk.ARGUMENTS_ENCODED_TWICE, 0), (REPAIRED, 0)]
    assert state.tool_calls[0].repairs[0].position.offset == 1
    assert RepairCode.UNQUOTED_KEY is state.tool_calls[0].repairs[0].code


texts = st.one_of(
    strategies.documents(small=True),
    strategies.broken_documents(small=True),
    st.sampled_from(
        [BROKEN, GUESSED, OPEN, "{", "{'city': 'x'", '{"city": "x"} {"city": "x"}', "{city: x}}", "12", "x"]
    ),
)


@given(st.data(), texts, st.sampled_from(["spelling", "guess"]), st.sampled_from(["tool_calls", "length", None]))
def test_law_19_cutting_repaired_arguments_changes_nothing(
    data: st.DataObject, text: str, level: Any, reason: Any
) -> None:
    """However the text is cut, and wherever the state is dumped and loaded, the message and the log are the same."""
    shape = data.draw(st.sampled_from([CITY, TRIP, None]))
    config = Config(tools={"f": shape}, repair=level)
    whole = ended([call("f", ""), piece(text)], reason, config=config)
    state = after([call("f", "")], config)
    for fragment in data.draw(strategies.cuttings(text)):
        state = reduce(state, piece(fragment))
        if data.draw(st.integers(0, 3)) == 0:
            state = MessageState.load(json.loads(json.dumps(state.dump())), config)
    state = finish(state if reason is None else reduce(state, Finish(reason)))
    assert seen(state) == seen(whole)
    assert [call.repairs for call in state.tool_calls] == [call.repairs for call in whole.tool_calls]
    assert reason == "tool_calls" or not state.is_complete
    loaded = MessageState.load(state.dump(), config)
    assert seen(loaded) == seen(state)
    assert [call.repairs for call in loaded.tool_calls] == [call.repairs for call in state.tool_calls]


def test_a_missing_value_is_missing() -> None:
    """Prose is no value, whatever is repaired."""
    state = ended([call("f", "I am sorry, I cannot do that.")], tools={"f": CITY}, repair="guess")
    assert values(state) == [MISSING]
    assert state.tool_calls[0].error is not None
