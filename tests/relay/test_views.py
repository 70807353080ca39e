"""Views: the document of a state, and patches from one state to the next."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.test_laws_messages import each_recording, recorded_states
from tests.support.message_deltas import configs, many_deltas, states_after
from tests.support.strategies import broken_documents, cut, documents
from unspool import MISSING
from unspool.llm import Config, Finish, MessageState, TextDelta, ToolCallDelta, reduce, start
from unspool.patch import apply
from unspool.relay._folds import Document, JSONText, JSONTextState
from unspool.relay._views import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.llm._deltas import Delta

many = settings(max_examples=max(50, settings().max_examples))


def plain(value: Any) -> Any:
    """A value as a page gets it."""
    return json.loads(json.dumps(value))


def check(states: Sequence[Any], kept: Sequence[int] = (), items: Sequence[list[Any]] | None = None) -> list[list[Any]]:
    """Check that patches lead from each document to the next, from views that come along and from new ones."""
    view = view_of(states[0])
    document = plain(view.document)
    patches: list[list[Any]] = []
    for number, (before, after) in enumerate(pairwise(states)):
        if number in kept:
            view = view_of(before)
        operations, view = view.after(after, [] if items is None else items[number], number == len(states) - 2)
        patches.append(plain(operations))
        document = apply(document, patches[-1])
        assert document == plain(view.document)
        assert document == plain(view_of(after).document)
    return patches


@many
@given(configs, many_deltas, st.sets(st.integers(0, 30)))
def test_patches_of_hostile_messages_lead_to_the_document(config: Config, deltas: list[Delta], kept: set[int]) -> None:
    """Whatever a message does, the patches make the document of its state, from wherever a follower joined."""
    check(states_after(deltas, config), sorted(kept))


@each_recording
def test_patches_of_recordings_lead_to_the_document(name: str) -> None:
    """The same for every recording, also where an entry has several deltas."""
    states = recorded_states(name)
    check([*states[:: max(len(states) // 20, 1)], states[-1]])


def test_a_restored_message_goes_on_with_the_same_patches() -> None:
    """A follower that joins at a checkpoint gets the patches that the others get."""
    config = Config(response_schema=True)
    states = [start(config)]
    for delta in [
        TextDelta('{"a": "one'),
        TextDelta(" two"),
        TextDelta('", "b": [1'),
        TextDelta(", 2]}"),
        Finish("stop"),
    ]:
        states.append(reduce(states[-1], delta))
    whole = check(states)
    loaded = MessageState.load(json.loads(json.dumps(states[2].dump())), config)
    again = [loaded]
    for delta in [TextDelta('", "b": [1'), TextDelta(", 2]}")]:
        again.append(reduce(again[-1], delta))
    assert check(again) == whole[2:4]


def test_values_grow_inside_of_messages() -> None:
    """Arguments and structured output are values while they arrive, and growing text is sent once."""
    states = [start(Config(response_schema=True))]
    for delta in [
        TextDelta('{"title": "Tr'),
        TextDelta('ip"}'),
        ToolCallDelta(0, "call_1", "weather", '{"city": "Su'),
        ToolCallDelta(0, None, None, "va"),
        ToolCallDelta(0, None, None, '"}'),
    ]:
        states.append(reduce(states[-1], delta))
    patches = check(states)
    assert patches[1] == [
        {"op": "append", "path": "/parts/0/text", "value": 'ip"}'},
        {"op": "append", "path": "/parts/0/value/title", "value": "ip"},
    ]
    assert patches[2][-1]["value"]["value"] == {"city": "Su"}
    assert patches[3] == [
        {"op": "append", "path": "/parts/1/arguments", "value": "va"},
        {"op": "append", "path": "/parts/1/value/city", "value": "va"},
    ]
    assert view_of(states[-1]).document["parts"][1]["value"] == {"city": "Suva"}


def test_secrets_of_a_provider_are_not_shown() -> None:
    """Signatures, encrypted reasoning and native fields stay on the server."""
    for name in ("signature", "encrypted", "native"):
        state = recorded_with(name)
        if state is not None:
            assert name not in json.dumps(view_of(state).document)


def recorded_with(name: str) -> MessageState | None:
    """The last state of a recording that has such a field in one of its parts."""
    from tests.laws.test_laws_messages import recorded

    for recording in recorded():
        state = recorded_states(recording)[-1]
        if any(getattr(part, name, None) for part in state.parts):
            return state
    return None


FOLD: JSONText[Any] = JSONText()


def parsed(entries: list[list[str]], begun: JSONTextState[Any] | None = None) -> list[JSONTextState[Any]]:
    """All states of a text. The last entry is the end."""
    states = [FOLD.start() if begun is None else begun]
    for items in entries:
        states.append(FOLD.step(states[-1], items))
    states[-1] = FOLD.end(states[-1], {"status": "done"})
    return states


@given(cut(st.one_of(documents(), broken_documents())), st.sets(st.integers(0, 20)))
def test_patches_of_json_lead_to_the_value(text: tuple[str, list[str]], kept: set[int]) -> None:
    """The same for JSON text, valid or not, from any place on."""
    entries = [[piece] for piece in text[1]] or [[]]
    check(parsed(entries), sorted(kept), entries)


@given(cut(documents(small=True)), st.data())
def test_patches_of_json_go_on_after_a_dump(text: tuple[str, list[str]], data: st.DataObject) -> None:
    """A view of a state that was stored makes the same patches."""
    entries = [[piece] for piece in text[1]] or [[]]
    states = parsed(entries)
    at = data.draw(st.integers(0, len(entries) - 1))
    loaded = FOLD.load(json.loads(json.dumps(FOLD.dump(states[at]))))
    again = parsed(entries[at:], loaded)
    assert check(again, (), entries[at:]) == check(states, (), entries)[at:]


def test_a_document_passes_its_operations_on() -> None:
    """The entries of a document are patches already."""
    fold = Document()
    entries: list[list[Any]] = [
        [{"op": "add", "path": "", "value": {"a": "x"}}],
        [{"op": "append", "path": "/a", "value": "y"}],
        [],
    ]
    states = [fold.start()]
    for items in entries:
        states.append(fold.step(states[-1], items))
    assert check(states, (), entries) == entries
    assert view_of(MISSING).document is None
