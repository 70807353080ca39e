"""Halves of surrogate pairs in the deltas of a message: providers that count UTF-16 units cut pairs in two."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool import Options
from unspool.llm import (
    BlockEnd,
    Config,
    Finish,
    MessageState,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    changes,
    finish,
    reduce,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool.llm import Delta

HIGH, LOW = "\ud83d", "\ude00"
UNITS = ["a", "é", "😀", HIGH, LOW, "\udbff", "\udc00"]


def after(deltas: Iterable[Delta], config: Config | None = None) -> list[MessageState]:
    """All states, the finished one included."""
    states = [start(config)]
    for delta in deltas:
        states.append(reduce(states[-1], delta))
    states.append(finish(reduce(states[-1], Finish("stop"))))
    return states


def joined(text: str) -> str:
    """What a decoder of UTF-16 makes of these units."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta, RefusalDelta])
@given(pieces=st.lists(st.lists(st.sampled_from(UNITS), min_size=1, max_size=4).map("".join), max_size=6))
def test_the_halves_of_texts_join(kind: type[TextDelta], pieces: list[str]) -> None:
    """Each state shows a text that can be encoded and only grows; the last one is what UTF-16 makes of it."""
    states = after([kind(piece) for piece in pieces])
    shown = [
        "".join(part.text for part in state.parts)  # type: ignore[attr-defined]
        for state in states
    ]
    for earlier, later in pairwise(shown):
        later.encode()
        assert later.startswith(earlier)
    assert shown[-1] == joined("".join(pieces))
    state = states[-1]
    assert (state.content or "") + (state.reasoning or "") + (state.refusal or "") == shown[-1]
    added = [getattr(event, "text", "") for before, later in pairwise(states) for event in changes(before, later)]
    assert "".join(text for text in added if isinstance(text, str)) == shown[-1]
    for place, state in enumerate(states[:-1]):
        loaded = MessageState.load(json.loads(json.dumps(state.dump())))
        assert loaded.dump() == state.dump()
        for piece in pieces[place:]:
            loaded = reduce(loaded, kind(piece))
        assert finish(reduce(loaded, Finish("stop"))).dump() == states[-1].dump()


def test_a_half_at_the_end_of_a_block() -> None:
    """A half that waits when its block ends, or when another text begins, stays alone."""
    ended = after([TextDelta("a" + HIGH, (0,)), TextDelta("b", (1,)), BlockEnd(0), TextDelta(LOW, (1,))])[-1]
    assert [part.text for part in ended.parts] == ["a\ufffd", "b\ufffd"]  # type: ignore[attr-defined]
    assert ended.content == "a\ufffdb\ufffd"
    other = after([TextDelta("a" + HIGH), ReasoningDelta(LOW), TextDelta("x")])[-1]
    assert (other.content, other.reasoning) == ("a\ufffdx", "\ufffd")


def test_a_whole_text_replaces_what_waits() -> None:
    """A text that comes once more as a whole has the pair, and nothing is added twice."""
    states = after([TextDelta("a" + HIGH, (0,)), TextDelta("a😀b", (0,), is_whole=True)])
    assert [state.content for state in states[1:]] == ["a", "a😀b", "a😀b"]


def call(*pieces: str) -> list[Delta]:
    return [
        ToolCallDelta(0, "id" if number == 0 else None, "f" if number == 0 else None, piece)
        for number, piece in enumerate(pieces)
    ]


@pytest.mark.parametrize(
    ("surrogates", "value", "is_valid"),
    [("replace", {"a": "😀\ufffd"}, True), ("keep", {"a": "😀" + HIGH}, True), ("error", None, False)],
)
def test_arguments_follow_the_option(surrogates: str, value: object, is_valid: bool) -> None:
    """In the arguments of a call, pairs join and `surrogates` decides on a lone half; dumped and loaded, too."""
    config = Config(options=Options(surrogates=surrogates))  # type: ignore[arg-type]
    pieces = call('{"a": "' + HIGH, LOW, HIGH, '"}')
    states = after(pieces, config)
    done = states[-1].tool_calls[0]
    assert done.is_complete is is_valid
    if is_valid:
        assert done.value == value
    else:
        assert done.error is not None
        assert "unpaired surrogate" in str(done.error)
    if surrogates == "replace":
        assert done.arguments == '{"a": "😀\ufffd"}'
    for place in range(len(pieces)):
        loaded = MessageState.load(json.loads(json.dumps(states[place].dump())), config)
        for piece in pieces[place:]:
            loaded = reduce(loaded, piece)
        ended = finish(reduce(loaded, Finish("stop")))
        assert ended.dump() == states[-1].dump()


def test_literals_as_arguments() -> None:
    """A literal at the root is complete at the end of the arguments, as a number is; dumped and loaded, too."""
    for text, value in (("true", True), ("null", None), ("12", 12)):
        states = after(call(text[:2], text[2:]))
        assert (states[-1].tool_calls[0].is_complete, states[-1].tool_calls[0].value) == (True, value)
        for state in states:
            assert MessageState.load(json.loads(json.dumps(state.dump()))).dump() == state.dump()
