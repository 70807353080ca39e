"""The laws of messages in parts, numbered as in docs/laws.md: random deltas, hostile ones too, and all recordings."""

from __future__ import annotations

import copy
import gc
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support import readings, shared
from tests.support.conversations import streamed_turns
from tests.support.message_deltas import (
    CONFIGS,
    REASONS,
    configs,
    events_of,
    every_delta,
    futures,
    many_deltas,
    part_data,
    plain_event,
    states_after,
    texts,
    view,
    written,
)
from tests.support.messages import after
from unspool._chunker.leaves import LeafChunker
from unspool._state import ParserState
from unspool._tree.nodes import Node
from unspool.llm import Config, MessageState, Quirk, deltas_for, finish, reduce, start
from unspool.llm._calls import HIDDEN, ToolCall
from unspool.llm._changes import (
    CallEvent,
    PartChanged,
    PartEnded,
    PartStarted,
    TextAdded,
    ToolArgumentsAdded,
)
from unspool.llm._deltas import (
    BlockTextDelta,
    Finish,
    Leaf,
    MessageStart,
    Recount,
    TextDelta,
    ToolCallDelta,
    Whole,
)
from unspool.llm._message import with_format
from unspool.llm._parts import FilePart, ReasoningPart, RefusalPart, TextPart, WrittenPart
from unspool.llm._requests.registry import WRITERS
from unspool.llm._texts import JSONDocument
from unspool.typed._outcome import InvalidError

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from unspool.llm import MessageEvent
    from unspool.llm._deltas import Delta

many = settings(max_examples=max(100, settings().max_examples))


# ---- recordings --------------------------------------------------------------------------------------


@cache
def recorded() -> dict[str, tuple[str, tuple[Any, ...]]]:
    """The format and the chunks of every recording and of every streamed turn of a conversation, by name."""
    found: dict[str, tuple[str, tuple[Any, ...]]] = {
        f"{path.parent.name}/{path.stem}": (path.parent.name, tuple(readings.payloads(path)))
        for path in readings.recordings()
    }
    return found | {f"conversations/{turn.name}": (turn.format, turn.chunks) for turn in streamed_turns()}


NOT_HERE = [pytest.param("", id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]
each_recording = pytest.mark.parametrize("name", list(recorded()) or NOT_HERE)


@cache
def recorded_deltas(name: str) -> tuple[Delta, ...]:
    """The deltas of the first message of a recording."""
    wire, chunks = recorded()[name]
    read = deltas_for(wire)
    return tuple([delta for chunk in chunks for delta in read(chunk)])


def recorded_states(name: str, config: Config | None = None) -> list[MessageState]:
    """All states of a recording."""
    wire, _ = recorded()[name]
    config = Config() if config is None else config
    return states_after(recorded_deltas(name), config, with_format(start(config), wire))


# ---- law 35: order -----------------------------------------------------------------------------------

RANKS = [
    *("part_started", "content", "reasoning", "refusal", "tool_call_started", "tool_arguments"),
    *("tool_call_completed", "tool_call_failed", "part_changed", "part_ended"),
]
"""The events of one part, in their order."""


def place_of(event: MessageEvent, state: MessageState) -> int | None:
    """The number of the part that an event is about; None for an event of the message."""
    if isinstance(event, (PartStarted, PartEnded, PartChanged)):
        return event.index
    if isinstance(event, (TextAdded, ToolArgumentsAdded)):
        return event.part
    if isinstance(event, CallEvent):
        return next(number for number, part in enumerate(state.parts) if part is event.call)
    return None


def check_order(states: list[MessageState]) -> None:
    """Check the order of the parts and of their events."""
    started: list[int] = []
    ended: list[int] = []
    for (before, after_it), events in zip(pairwise(states), events_of(states), strict=True):
        assert len(before.parts) <= len(after_it.parts)
        for old, new in zip(before.parts, after_it.parts, strict=False):
            assert type(old) is type(new) or (isinstance(old, WrittenPart) and not old.text)
        places = [(place_of(event, after_it), event.kind) for event in events]
        told = [(place, RANKS.index(kind)) for place, kind in places if place is not None]
        assert told == sorted(told)
        assert [place for place, _ in places if place is not None] == [place for place, _ in places][: len(told)] or (
            places[0][1] == "started"
        )
        started += [event.index for event in events if isinstance(event, PartStarted)]
        ended += [event.index for event in events if isinstance(event, PartEnded)]
        for event in events:
            if isinstance(event, (PartStarted, PartEnded, PartChanged)):
                assert event.part is after_it.parts[event.index]
        assert started == list(range(len(after_it.parts)))
    assert sorted(ended) == started


@many
@given(configs, many_deltas)
def test_law_35_parts_and_events_are_in_order(config: Config, deltas: list[Delta]) -> None:
    """Parts never move. Each one starts once, in order, and ends once. The events of a step are in order."""
    check_order(states_after(deltas, config))


@many
@given(configs, many_deltas, st.data())
def test_law_35_the_order_holds_for_larger_steps(config: Config, deltas: list[Delta], data: st.DataObject) -> None:
    """The same for states that are several deltas apart, as after the chunks of a stream."""
    states = states_after(deltas, config)
    kept = [state for state in states[1:-1] if data.draw(st.booleans())]
    check_order([states[0], *kept, states[-1]])


@many
@given(configs, st.lists(every_delta.filter(lambda delta: not isinstance(delta, Recount)), max_size=25))
def test_law_35_a_part_stays_in_its_block(config: Config, deltas: list[Delta]) -> None:
    """The block of a part never changes, except that a call gets one late."""
    for before, after_it in pairwise(states_after(deltas, config)):
        for old, new in zip(before.parts, after_it.parts, strict=False):
            assert old.block == new.block or (isinstance(old, ToolCall) and not old.block)


@each_recording
def test_law_35_holds_for_recordings(name: str) -> None:
    """The same for every recording."""
    check_order(recorded_states(name))


# ---- law 36: fold ------------------------------------------------------------------------------------


def check_fold(state: MessageState) -> None:
    """Check that the texts, the calls and the lists of a state are folds over its parts."""
    parts = state.parts
    for shown, kind in ((state.content, TextPart), (state.reasoning, ReasoningPart), (state.refusal, RefusalPart)):
        assert shown == "".join([part.text for part in parts if isinstance(part, kind)])
    calls = [part for part in parts if isinstance(part, ToolCall) and part.index != HIDDEN]
    assert all(
        one is other for one, other in zip(state.tool_calls, sorted(calls, key=lambda each: each.index), strict=True)
    )
    assert [call.index for call in state.tool_calls] == list(range(len(calls)))
    assert state.citations == tuple(each for part in parts if isinstance(part, TextPart) for each in part.citations)
    assert state.files == tuple(part for part in parts if isinstance(part, FilePart))
    for part in parts:
        if isinstance(part, ReasoningPart) and part.sections:
            assert "\n\n".join([text for _, text in part.section_texts()]) == part.text


def check_replay(states: list[MessageState]) -> None:
    """Check that the events of the texts make the texts of the parts."""
    told: dict[int, str] = {}
    for state, events in zip(states[1:], events_of(states), strict=True):
        for event in events:
            if isinstance(event, (TextAdded, ToolArgumentsAdded)):
                told[event.part] = event.text if event.is_whole else told.get(event.part, "") + event.text
        for number, part in enumerate(state.parts):
            if isinstance(part, WrittenPart):
                assert told.get(number, "") == part.text
            elif isinstance(part, ToolCall) and part.index != HIDDEN:
                assert told.get(number, "") == part.arguments


@many
@given(configs, many_deltas)
def test_law_36_texts_and_calls_are_folds_over_the_parts(config: Config, deltas: list[Delta]) -> None:
    """In every state, and the events of the texts make the texts."""
    states = states_after(deltas, config)
    for state in states:
        check_fold(state)
    check_replay(states)


@each_recording
def test_law_36_holds_for_recordings(name: str) -> None:
    """The same for every recording."""
    states = recorded_states(name)
    for state in states[:: max(1, len(states) // 50)] + states[-1:]:
        check_fold(state)
    check_replay(states)


# ---- law 37: cutting ---------------------------------------------------------------------------------


@st.composite
def fair_calls(draw: DrawFn) -> list[Delta]:
    """Deltas of calls whose index names the call, with text between them, and everything about the parts."""
    begun: set[int] = set()
    found: list[Delta] = []
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            found.append(draw(st.one_of(written, written, part_data)))
            continue
        index = draw(st.integers(0, 2))
        is_first = index not in begun
        begun.add(index)
        name = draw(st.sampled_from(["any", "city", "plain", "output"])) if is_first else None
        found.append(ToolCallDelta(index, f"id_{index}" if is_first else None, name, draw(texts), "function"))
    reason = draw(st.none() | st.sampled_from(REASONS))
    return found if reason is None else [*found, Finish(reason)]


def is_more(delta: BlockTextDelta, last: BlockTextDelta) -> bool:
    """Whether a delta only adds text to the block of the one before."""
    return type(last) is type(delta) and last.block == delta.block and not delta.is_whole and not last.is_whole


def joined(deltas: list[Delta]) -> list[Delta]:
    """The same deltas with neighbours of one block in one delta."""
    found: list[Delta] = []
    for delta in deltas:
        last = found[-1] if found else None
        if isinstance(delta, BlockTextDelta) and isinstance(last, BlockTextDelta) and is_more(delta, last):
            found[-1] = type(delta)(last.text + delta.text, delta.block)
            continue
        if isinstance(delta, ToolCallDelta) and isinstance(last, ToolCallDelta) and last.index == delta.index:
            both = str(last.arguments) + str(delta.arguments)
            found[-1] = ToolCallDelta(last.index, last.id, last.name, both, last.kind)
            continue
        found.append(delta)
    return found


def cut(draw: Callable[[Any], Any], deltas: list[Delta]) -> list[Delta]:
    """The same deltas with their texts cut anywhere."""
    found: list[Delta] = []
    for delta in deltas:
        if isinstance(delta, BlockTextDelta) and not delta.is_whole and delta.text:
            at = draw(st.integers(0, len(delta.text)))
            found += [type(delta)(piece, delta.block) for piece in (delta.text[:at], delta.text[at:])]
        elif isinstance(delta, ToolCallDelta) and isinstance(delta.arguments, str):
            at = draw(st.integers(0, len(delta.arguments)))
            found.append(ToolCallDelta(delta.index, delta.id, delta.name, delta.arguments[:at], delta.kind))
            found.append(ToolCallDelta(delta.index, None, None, delta.arguments[at:], delta.kind))
        else:
            found.append(delta)
    return found


def in_any_order(shown: dict[str, Any]) -> dict[str, Any]:
    """The view with its oddities in an order of their own: a delta can have several at once.

    Arguments that come again are noticed before other text follows them, or never.
    """
    del shown["dump"]["notes"]
    odd = [each for each in shown["diagnostics"] if each.code is not Quirk.ARGUMENTS_REPEATED]
    shown["diagnostics"] = sorted(odd, key=repr)
    return shown


@many
@given(configs, fair_calls(), st.data())
def test_law_37_cutting_the_deltas_of_a_block_changes_nothing(
    config: Config, deltas: list[Delta], data: st.DataObject
) -> None:
    """Split or joined, the deltas of one block make equal parts, equal states and equal dumps."""
    whole, pieces = after(deltas, config), cut(data.draw, cut(data.draw, deltas))
    for other in (after(joined(deltas), config), after(pieces, config)):
        assert in_any_order(view(other)) == in_any_order(view(whole))
        assert in_any_order(view(finish(other))) == in_any_order(view(finish(whole)))


@each_recording
@settings(max_examples=3)
@given(data=st.data())
def test_law_37_holds_for_recordings(name: str, data: st.DataObject) -> None:
    """The same for every recording, whose texts are cut anywhere."""
    wire, _ = recorded()[name]
    first = with_format(start(Config()), wire)
    whole = finish(states_after(recorded_deltas(name), Config(), first)[-2])
    draws = data.draw(st.randoms(use_true_random=False))
    pieces: list[Delta] = []
    for delta in recorded_deltas(name):
        if isinstance(delta, BlockTextDelta) and not delta.is_whole and delta.text:
            at = draws.randint(0, len(delta.text))
            pieces += [
                type(delta)(piece, delta.block, False, delta.choice) for piece in (delta.text[:at], delta.text[at:])
            ]
        elif isinstance(delta, ToolCallDelta) and isinstance(delta.arguments, str) and not delta.is_done:
            at = draws.randint(0, len(delta.arguments))
            head = (delta.index, delta.id, delta.name, delta.arguments[:at], delta.kind, False, delta.counts_blocks)
            pieces.append(ToolCallDelta(*head, delta.choice, delta.signature, delta.native))
            rest = (delta.index, None, None, delta.arguments[at:], delta.kind, False, delta.counts_blocks)
            pieces.append(ToolCallDelta(*rest, delta.choice))
        else:
            pieces.append(delta)
    assert in_any_order(view(states_after(pieces, Config(), first)[-1])) == in_any_order(view(whole))


# ---- law 38: identity and persistence ----------------------------------------------------------------


def check_identity(before: MessageState, delta: Delta, after_it: MessageState) -> None:
    """Check that a delta changes one part, apart from the one that ends because another begins."""
    if after_it.is_finished and not before.is_finished:
        return
    other = [number for number, part in enumerate(before.parts) if after_it.parts[number] is not part]
    if isinstance(delta, Finish):
        assert all(isinstance(before.parts[number], ToolCall) for number in other)
        assert not any(before.parts[number].is_complete for number in other)
    elif not isinstance(delta, Recount):
        is_longer = len(after_it.parts) > len(before.parts)
        assert other == [len(before.parts) - 1] * len(other) if is_longer else len(other) <= 1
    if not other and len(after_it.parts) == len(before.parts) and before.parts:
        assert after_it.parts[0] is before.parts[0]


@many
@given(configs, many_deltas)
def test_law_38_untouched_parts_are_the_same_objects(config: Config, deltas: list[Delta]) -> None:
    """A delta changes at most one part, and ends at most the last one. A delta without news leaves the same state."""
    states = states_after(deltas, config)
    for (before, after_it), delta in zip(pairwise(states[:-1]), deltas, strict=True):
        check_identity(before, delta, after_it)
    last, ended = states[-2:]
    for old, new in zip(last.parts, ended.parts, strict=True):
        assert old is new or isinstance(old, ToolCall) or not old.is_complete


@each_recording
def test_law_38_untouched_parts_of_recordings_are_the_same_objects(name: str) -> None:
    """The same for every recording."""
    states = recorded_states(name)
    for (before, after_it), delta in zip(pairwise(states[:-1]), recorded_deltas(name), strict=True):
        check_identity(before, delta, after_it)


@many
@given(configs, many_deltas, futures, futures, st.data())
def test_law_38_two_futures_never_meet(
    config: Config, past: list[Delta], one: list[Delta], other: list[Delta], data: st.DataObject
) -> None:
    """Two futures of one state, grown in turns, are what each is alone, and no older state changes."""
    states = states_after(past, config)[:-1]
    views = [copy.deepcopy(view(state)) for state in states]
    ends = [states[-1], states[-1]]
    waiting = [list(one), list(other)]
    while possible := [at for at in (0, 1) if waiting[at]]:
        at = data.draw(st.sampled_from(possible))
        ends[at] = reduce(ends[at], waiting[at].pop(0))
    for end, future in zip(ends, (one, other), strict=True):
        assert view(end) == view(after([*past, *future], config))
        assert view(finish(end)) == view(finish(after([*past, *future], config)))
    assert [view(state) for state in states] == views


def reloaded(state: MessageState) -> MessageState:
    """The state after a dump, JSON and a load."""
    return MessageState.load(json.loads(json.dumps(state.dump())), state.config)


@many
@given(configs, many_deltas, futures)
def test_law_38_a_loaded_state_goes_on_equal(config: Config, past: list[Delta], future: list[Delta]) -> None:
    """Dump, JSON, load: an equal state, which goes on to equal states with equal events, and an equal end."""
    for state in states_after(past, config):
        assert view(reloaded(state)) == view(state)
    state = after(past, config)
    states, others = states_after(future, config, state), states_after(future, config, reloaded(state))
    assert [view(each) for each in others] == [view(each) for each in states]
    told, other_told = events_of(states), events_of(others)
    assert [list(map(plain_event, each)) for each in other_told] == [list(map(plain_event, each)) for each in told]


@each_recording
def test_law_38_recordings_are_loaded_equal(name: str) -> None:
    """The same for some states of every recording."""
    deltas, states = recorded_deltas(name), recorded_states(name)
    for at in range(0, len(states), max(1, len(states) // 4)):
        other = reloaded(states[at])
        assert view(other) == view(states[at])
        for delta in deltas[at:]:
            other = reduce(other, delta)
        assert view(finish(other)) == view(states[-1])


# ---- law 39: the next request ------------------------------------------------------------------------


def ruin(value: Any) -> None:
    """Change every list and every dict inside."""
    if isinstance(value, dict):
        for inner in value.values():
            ruin(inner)
        value["ruined"] = True
    elif isinstance(value, list):
        for inner in value:
            ruin(inner)
        value.append("ruined")


def is_bytes(value: object) -> str:
    """Let JSON write bytes, and nothing else that it does not know."""
    assert isinstance(value, (bytes, bytearray))
    return value.hex()


def requests_of(state: MessageState) -> dict[str, Any]:
    """The next request in every format, with its losses and the results of its calls."""
    found: dict[str, Any] = {}
    for wire in WRITERS:
        outputs: list[dict[Any, Any]] = [
            dict.fromkeys(state.tool_calls, output)
            for output in ("text", {"a": [1, None]}, None, ValueError("no"), KeyError())
        ]
        found[wire] = [
            [state.as_messages(wire, include_reasoning=kept) for kept in ("all", "needed", "none")],
            [list(state.lost_in(wire, include_reasoning=kept)) for kept in ("all", "needed", "none")],
            [state.tool_results(each, wire) for each in outputs],
        ]
    return found


def check_requests(state: MessageState) -> None:
    """Check that every request is plain data of its own."""
    shown = copy.deepcopy(view(state))
    found = requests_of(state)
    for wire, (turns, losses, results) in found.items():
        text = json.dumps([turns, results], default=is_bytes if wire == "bedrock-converse" else None)
        assert text
        assert all(loss.part is None or loss.part < len(state.parts) for each in losses for loss in each)
    again = requests_of(reloaded(state))
    assert again == found
    for turns, _, results in found.values():
        ruin(turns)
        ruin(results)
    assert view(state) == shown
    assert requests_of(state) == again


formats = st.none() | st.sampled_from(list(WRITERS))


@many
@given(configs, formats, many_deltas)
def test_law_39_every_state_has_a_next_request(config: Config, wire: str | None, deltas: list[Delta]) -> None:
    """In every format: plain data, a copy of its own, equal after dump and load. Nothing raises."""
    first = start(config) if wire is None else with_format(start(config), wire)
    last, ended = states_after(deltas, config, first)[-2:]
    check_requests(last)
    check_requests(ended)


@each_recording
def test_law_39_holds_for_recordings(name: str) -> None:
    """The same for some states of every recording, and for its end."""
    states = recorded_states(name)
    for state in [*states[:: max(1, len(states) // 4)], states[-1]]:
        check_requests(state)


def whole_anthropic(chunks: tuple[Any, ...]) -> Any:
    """The body of the response that was not streamed: every block with its pieces put together."""
    body: dict[str, Any] = {}
    inputs: dict[int, str] = {}
    for chunk in copy.deepcopy(chunks):
        match chunk:
            case {"type": "message_start", "message": message}:
                if body:
                    return None
                body = {**message, "content": []}
            case {"type": "content_block_start", "content_block": block}:
                body["content"].append(block)
            case {"type": "content_block_delta", "index": at, "delta": delta}:
                block = body["content"][at]
                match delta:
                    case {"type": "text_delta", "text": piece}:
                        block["text"] += piece
                    case {"type": "thinking_delta", "thinking": piece}:
                        block["thinking"] += piece
                    case {"type": "signature_delta", "signature": signature}:
                        block["signature"] = signature
                    case {"type": "input_json_delta", "partial_json": piece}:
                        inputs[at] = inputs.get(at, "") + piece
                    case {"type": "citations_delta", "citation": citation}:
                        block["citations"] = [*(block.get("citations") or []), citation]
                    case _:
                        return None
            case {"type": "message_delta", "delta": delta}:
                body |= delta
                body["usage"] = {**body["usage"], **chunk["usage"]}
                body |= {name: value for name, value in chunk.items() if name not in {"type", "delta", "usage"}}
    for at, text in inputs.items():
        if text:
            body["content"][at]["input"] = json.loads(text)
    return body if body.get("stop_reason") else None


def whole_responses(chunks: tuple[Any, ...]) -> Any:
    """The response that the last event repeats, unless it repeats less than the events before it."""
    ends = [chunk["response"] for chunk in chunks if chunk["type"] == "response.completed"]
    counted = {chunk["output_index"] for chunk in chunks if chunk["type"] == "response.output_item.done"}
    return ends[0] if len(ends) == 1 and len(ends[0]["output"]) == len(counted) else None


def whole_chat(chunks: tuple[Any, ...]) -> Any:
    """The body of a chat completion: text, reasoning and calls of the first choice; None for more than that."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {"object": "chat.completion"}
    finish_reason: str | None = None
    for chunk in chunks:
        body |= {name: chunk[name] for name in ("id", "model") if name in chunk}
        if "citations" in chunk or "search_results" in chunk:
            return None  # each chunk repeats the sources: in a stream they come before the text
        for choice in chunk["choices"]:
            delta = choice["delta"]
            for name, value in delta.items():
                if name in {"content", "reasoning_content", "reasoning"} and isinstance(value, str):
                    message[name] = message.get(name, "") + value
                elif name not in {"role", "tool_calls"} and value is not None:
                    return None
            for call in delta.get("tool_calls") or []:
                if "index" not in call:
                    return None
                known = calls.setdefault(call["index"], copy.deepcopy(call))
                if known is not call and known != call:
                    known["function"]["arguments"] += call["function"]["arguments"]
            finish_reason = choice.get("finish_reason") or finish_reason
            if choice.get("index") or set(choice) - {"index", "delta", "finish_reason", "logprobs"}:
                return None
    if calls:
        message["tool_calls"] = [{name: call[name] for name in call if name != "index"} for call in calls.values()]
    return {**body, "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]}


WHOLE: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "anthropic": whole_anthropic,
    "openai-responses": whole_responses,
    "openai-chat": whole_chat,
}
bodies = {name: WHOLE[wire](chunks) for name, (wire, chunks) in recorded().items() if wire in WHOLE}
bodies = {name: body for name, body in bodies.items() if body is not None}
each_body = pytest.mark.parametrize("name", list(bodies) or NOT_HERE)


def substance(state: MessageState) -> Any:
    """The parts without what tells how they came.

    A body spells the text of arguments otherwise, and a stream starts a text with an empty list of citations.
    """
    found: list[Any] = []
    for part in state.parts:
        texts_in_it = part.text if isinstance(part, WrittenPart) else None
        shown: Any = part
        if isinstance(part, ToolCall):
            shown = part.value, part.name, part.kind, part.signature
        elif isinstance(part, TextPart):
            shown = part.citations
        elif isinstance(part, ReasoningPart):
            shown = part.signature, part.encrypted, part.is_summary
        native = {name: value for name, value in (part.native or {}).items() if name != "citations" or value}
        found.append((part.type, part.id, part.is_complete, native, texts_in_it, shown))
    return found


@each_body
def test_law_39_a_body_that_was_not_streamed_is_the_same_message(name: str) -> None:
    """It has equal parts, an equal end and an equal next request."""
    wire, _ = recorded()[name]
    streamed = recorded_states(name)[-1]
    first = with_format(start(), wire)
    whole = states_after(deltas_for(wire)(bodies[name]), Config(), first)[-1]
    assert substance(whole) == substance(streamed)
    for shown in ("content", "reasoning", "refusal", "finish_reason", "is_complete", "role", "citations"):
        assert getattr(whole, shown) == getattr(streamed, shown)
    assert whole.as_messages() == streamed.as_messages()


# ---- endings -----------------------------------------------------------------------------------------


@each_recording
def test_law_19_no_prefix_of_a_recording_is_complete(name: str) -> None:
    """Before its finish reason, a message that ends is not complete, and nothing that was open becomes complete."""
    states = recorded_states(name)
    for state in states[:-1]:
        ended = finish(state)
        assert ended.is_complete <= (state.finish_reason is not None)
        if state.finish_reason is None:
            pairs = zip(state.parts, ended.parts, strict=True)
            assert all(new.is_complete == old.is_complete for old, new in pairs)


@many
@given(configs, many_deltas, st.sampled_from([reason for reason in REASONS if reason not in {"stop", "tool_calls"}]))
def test_law_19_only_two_reasons_are_good_ends(config: Config, deltas: list[Delta], reason: Any) -> None:
    """After every other finish reason the message is not complete, and open parts stay open."""
    state = after([delta for delta in deltas if not isinstance(delta, (Finish, MessageStart))], config)
    assume(not state.is_finished)
    ended = finish(reduce(state, Finish(reason)))
    assert not ended.is_complete
    assert not ended.is_content_complete or config.emulate_structured_output  # a call may be whole before the cut
    assert all(new.is_complete == old.is_complete for old, new in zip(state.parts, ended.parts, strict=True))
    later = finish(reduce(reduce(state, Finish(reason)), TextDelta("more")))
    assert not later.is_complete


@st.composite
def damaged(draw: DrawFn, value: Any) -> Any:
    """A chunk with one thing in it replaced, dropped or doubled."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(value)))
        changed = dict(value)
        if draw(st.integers(0, 7)) == 0:
            del changed[name]
        else:
            changed[name] = draw(damaged(value[name]))
        return changed
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(damaged(value[at])), *value[at + draw(st.integers(0, 1)) :]]
    return draw(st.sampled_from([None, "", "x", 0, -1, 1.5, True, [], {}, [None], {"type": "text"}, [[]], "0", 10**30]))


@each_recording
@settings(max_examples=max(5, settings().max_examples // 10))
@given(data=st.data())
def test_law_19_damaged_chunks_raise_nothing(name: str, data: st.DataObject) -> None:
    """A damaged chunk is read, and the message keeps its laws."""
    wire, chunks = recorded()[name]
    read = deltas_for(wire)
    at = data.draw(st.integers(0, len(chunks) - 1))
    near = [*chunks[max(0, at - 3) : at], data.draw(damaged(chunks[at])), *chunks[at : at + 8]]
    deltas = [delta for chunk in [*chunks[:1], *near, *chunks[-2:]] for delta in read(chunk)]
    states = states_after(deltas, Config(), with_format(start(), wire))
    check_order(states)
    check_replay(states)
    for state in states[-3:]:
        check_fold(state)
        assert view(reloaded(state)) == view(state)
    check_requests(states[-1])


# ---- errors ------------------------------------------------------------------------------------------


def answer_error_of(state: MessageState) -> Any:
    """The error of the message, if it is that of the structured output."""
    error = state.error
    return error if error is not None and error is state.content_error else None


@many
@given(st.sampled_from(["answer and tools", "answer", "extracted"]), many_deltas)
def test_law_19_an_error_is_certain(name: str, deltas: list[Delta]) -> None:
    """An error that shows before the end is there at the end. With tools, the answer fails at the end only.

    The last finish reason counts: another one after "error" takes the error back.
    """
    states = states_after(
        [each for each in deltas if not (isinstance(each, Finish) and each.reason == "error")], CONFIGS[name]
    )
    for before, after_it in pairwise(states):
        if name == "answer and tools":
            assert after_it.is_finished or answer_error_of(after_it) is None
        elif before.error is not None and len(after_it.parts) == len(before.parts):  # a new text or call may repair it
            assert after_it.error is not None


# ---- memory ------------------------------------------------------------------------------------------


def reachable(root: object) -> list[object]:
    """All objects that an object holds, without types, modules, and the outcomes that errors of a type hold."""
    found: dict[int, object] = {}
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) not in found and not isinstance(each, (type, ModuleType, FunctionType, InvalidError)):
            found[id(each)] = each
            waiting += gc.get_referents(each)
    return list(found.values())


def readers_in(root: object) -> list[object]:
    """The parsers, trees and documents that an object holds."""
    return [each for each in reachable(root) if isinstance(each, (ParserState, Node, JSONDocument, LeafChunker))]


LONG = json.dumps({"city": "x" * 1_000_000})
WAYS: dict[str, list[Delta]] = {
    "text": [ToolCallDelta(0, "a", "city", LONG[:600_000], "function"), ToolCallDelta(0, arguments=LONG[600_000:])],
    "whole": [ToolCallDelta(0, "a", "city", Whole(json.loads(LONG)), "function")],
    "leaves": [ToolCallDelta(0, "a", "city", (Leaf("$.city", "x" * 1_000_000),), "function")],
    "answer": [TextDelta(LONG)],
    "invalid": [ToolCallDelta(0, "a", "city", json.dumps([LONG] * 2), "function"), TextDelta("[" + LONG)],
    "broken": [ToolCallDelta(0, "a", "city", LONG + "]", "function"), ToolCallDelta(1, "b", "city", "[1, 2 3")],
    "replaced": [TextDelta("x" * 9, (0,)), TextDelta("y", (1,)), TextDelta(LONG, (0,), True)],
}


@pytest.mark.parametrize("reason", ["tool_calls", "length", None])
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("way", WAYS)
def test_law_38_a_finished_state_holds_no_parsers(way: str, name: str, reason: Any) -> None:
    """After the end, a state holds the texts and the values, but nothing that reads more text."""
    config = CONFIGS[name]
    of_config = {id(each) for each in readers_in(config)}
    state = after([*WAYS[way], *([] if reason is None else [Finish(reason)])], config)
    for ended in (finish(state), reloaded(finish(state))):
        assert [each for each in readers_in(ended) if id(each) not in of_config] == []
