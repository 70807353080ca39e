"""Law 13: nothing is quadratic. Work is counted in steps of the interpreter, so this is for the plain sources.

The time, of both builds, is measured by the benchmarks, which hold it to the same bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.steps import steps
from unspool import COMPILED, FragmentParser, Options, ValueParser, create_state, parse_chunk
from unspool.llm import Config, Fault, MessageState, changes, finish, reduce, reduce_chunk, start
from unspool.llm._deltas import (
    BlockStart,
    Finish,
    Ignored,
    PartData,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
)
from unspool.llm._parts import Citation, FilePart, OpaquePart, SourcePart
from unspool.llm._requests.registry import WRITERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.llm._deltas import Delta

SHAPES: dict[str, Callable[[int], str]] = {
    "one long string": lambda n: '"' + "x" * n + '"',
    "many escapes": lambda n: '"' + "\\n\\u00e9\\ud83d\\ude00" * (n // 20) + '"',
    "wide array": lambda n: "[" + "[]," * (n // 3) + "[]]",
    "wide object": lambda n: "{" + ",".join(f'"k{i}":{{}}' for i in range(n // 9)) + "}",
    "deep": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "many numbers": lambda n: "[" + "-1.5e2," * (n // 7) + "0]",
    "one long number": lambda n: "[" + "1" * n + "]",
    "many literals": lambda n: "[" + "true,null," * (n // 10) + "false]",
    "one key many times": lambda n: "{" + '"k":"v",' * (n // 8) + '"k":1}',
    "white space": lambda n: " \n" * (n // 4) + "[" + "\r\n\t " * (n // 8) + "]",
}

UNLIMITED = Options(max_depth=None, max_number=None)


def events(fragments: list[str]) -> None:
    parser = FragmentParser(UNLIMITED)
    for fragment in fragments:
        parser.feed(fragment)


def value_at_the_end(fragments: list[str]) -> None:
    parser = ValueParser(UNLIMITED)
    for fragment in fragments:
        parser.feed(fragment)
    assert parser.value is not None


def every_state_kept(fragments: list[str]) -> None:
    states = [create_state(UNLIMITED)]
    for fragment in fragments:
        states.append(parse_chunk(states[-1], fragment))
    assert states[-1].value is not None


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("size", [1, 4, 64, 4096])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("work", [events, value_at_the_end, every_state_kept])
def test_law_13_twice_the_text_is_twice_the_work(work: Callable[[list[str]], None], shape: str, size: int) -> None:
    """For ten shapes of document and four sizes of fragment, twice the text takes at most 2.3 times the work."""

    def count(n: int) -> int:
        text = SHAPES[shape](n)
        return steps(lambda: work([text[i : i + size] for i in range(0, len(text), size)]))

    assert count(2 * 200) <= 2.3 * count(200) + 100


# ---- messages ----------------------------------------------------------------------------------------

UNBOUNDED = Config(max_parts=None)


def calls_in_one_chunk(n: int) -> None:
    """Many calls in one chunk, and the end."""
    deltas = [ToolCallDelta(at, f"id_{at}", "f", "{}", "function") for at in range(n)]
    state = finish(reduce(reduce_chunk(start(UNBOUNDED), deltas), Finish("tool_calls")))
    assert len(state.tool_calls) == n
    assert state.is_complete


def calls_with_events(n: int) -> None:
    """Many calls, each in a chunk of its own, with the events of each step."""
    state = start(UNBOUNDED)
    count = 0
    for at in range(n):
        before, state = state, reduce(state, ToolCallDelta(at, f"id_{at}", "f", "{}", "function"))
        count += len(changes(before, state))
    ended = finish(reduce(state, Finish("tool_calls")))
    count += len(changes(state, ended))
    assert count >= 5 * n


def failing_calls(n: int) -> None:
    """Many broken calls, with the first error in each state."""
    state = start(UNBOUNDED)
    for at in range(n):
        state = reduce(state, ToolCallDelta(at, f"id_{at}", "f", "{]", "function"))
    assert len(finish(state).errors) == n + 1


def texts_read_at_each_state(n: int) -> None:
    """Many blocks of text, with the whole content read in each state."""
    state = start(UNBOUNDED)
    for at in range(n):
        state = reduce(state, TextDelta("x", (at,)))
        assert len(state.content) == at + 1
    assert len(finish(state).content) == n


def texts_without_numbers(n: int) -> None:
    """Text and reasoning in turns, in blocks that the format does not number."""
    state = start(UNBOUNDED)
    for _ in range(n // 2):
        state = reduce(reduce(state, TextDelta("x")), ReasoningDelta("y"))
        assert len(state.reasoning) == len(state.content)
    assert len(finish(state).parts) == n // 2 * 2


def citations(n: int) -> None:
    """Many citations of one text."""
    state = reduce(start(UNBOUNDED), TextDelta("x", (0,)))
    for at in range(n):
        before, state = state, reduce(state, PartData("citation", Citation(f"https://{at}.example"), (0,)))
        assert changes(before, state)
    assert len(finish(state).citations) == n


def pieces_of_a_file(n: int) -> None:
    """A file in many pieces."""
    state = reduce(start(UNBOUNDED), PartStart(FilePart("audio/wav", block=(0,))))
    for _ in range(n):
        state = reduce(state, PartData("data", "QUJD", (0,)))
    assert finish(state).files[0].data == b"ABC" * n


def sections(n: int) -> None:
    """A reasoning with many sections."""
    state = start(UNBOUNDED)
    for at in range(n):
        state = reduce(state, ReasoningDelta("x", (0, "summary", at)))
    assert len(finish(state).reasoning) == 3 * n - 2


def unknown_events(n: int) -> None:
    """Many unknown events, each with another name, and the events of each step."""
    state = start(UNBOUNDED)
    for at in range(n):
        before, state = state, reduce(state, Ignored(f"new {at}"))
        changes(before, state)
    assert sum(each.count for each in finish(state).diagnostics) == n


def quirks(n: int) -> None:
    """Many calls with an oddity each."""
    state = start(UNBOUNDED)
    for at in range(n):
        before, state = state, reduce(state, ToolCallDelta(str(at), f"id_{at}", "f", "{}", "function"))
        assert changes(before, state)
    assert len(finish(state).diagnostics) >= n


def unknown_blocks(n: int) -> None:
    """Many blocks that begin, and have no parts."""
    state = start(UNBOUNDED)
    for at in range(n):
        state = reduce(state, BlockStart((at,), {"id": str(at)}))
    assert not finish(state).parts


def next_request(n: int) -> None:
    """The next request of a message with many parts, and its dump and load."""
    deltas = [
        TextDelta("x", (at,)) if at % 2 else ToolCallDelta(at, f"id_{at}", "f", "{}", "function") for at in range(n)
    ]
    state = finish(reduce(reduce_chunk(start(UNBOUNDED), deltas), Finish("tool_calls")))
    for wire in WRITERS:
        assert state.as_messages(wire)
        assert state.tool_results(dict.fromkeys(state.tool_calls, "y"), wire)
    assert len(MessageState.load(state.dump(), UNBOUNDED).parts) == n


MESSAGES = [
    *(calls_in_one_chunk, calls_with_events, failing_calls, texts_read_at_each_state, texts_without_numbers, citations),
    *(pieces_of_a_file, sections, unknown_events, quirks, unknown_blocks, next_request),
]


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("work", MESSAGES)
def test_law_13_twice_the_parts_are_twice_the_work(work: Callable[[int], None]) -> None:
    """Twice the parts, citations, pieces or oddities of a message take at most 2.3 times the work."""
    work(10)
    assert steps(lambda: work(600)) <= 2.3 * steps(lambda: work(300)) + 1000


LARGE = [(calls_in_one_chunk, 32_000), (calls_with_events, 20_000), (texts_read_at_each_state, 20_000)]
LARGE += [(citations, 10_000), (unknown_events, 20_000), (quirks, 20_000)]


@pytest.mark.parametrize(("work", "count"), LARGE)
def test_law_13_large_messages_are_read(work: Callable[[int], None], count: int) -> None:
    """Messages with thousands of parts, citations or oddities are read to their end."""
    work(count)


@pytest.mark.parametrize(
    "delta",
    [
        lambda at: ToolCallDelta(at, f"id_{at}", "f", "{}", "function"),
        lambda at: TextDelta("x", (at,)),
        lambda at: PartStart(OpaquePart("new", block=(at,))),
        lambda at: PartStart(SourcePart(f"https://{at}.example")),
        lambda at: ReasoningDelta("x") if at % 2 else RefusalDelta("x"),
        lambda at: BlockStart((at,), {}),
    ],
)
def test_law_13_max_parts_holds(delta: Callable[[int], Delta]) -> None:
    """A message with more parts fails at once: it is finished and not complete, and has no more parts than that."""
    state = start(Config(max_parts=100))
    for at in range(100):
        state = reduce(state, delta(at))
        assert not state.is_finished
    state = reduce(state, delta(100))
    assert state.is_finished
    assert not state.is_complete
    assert state.error is not None
    assert state.error.fault is Fault.TOO_MANY_PARTS
    assert len(state.parts) <= 100
    assert reduce(state, TextDelta("more")) is state


def test_law_13_max_parts_holds_for_citations() -> None:
    """The same for the citations of one text."""
    state = reduce(start(Config(max_parts=100)), TextDelta("x", (0,)))
    for at in range(101):
        state = reduce(state, PartData("citation", Citation(f"https://{at}.example"), (0,)))
    assert state.error is not None
    assert state.error.fault is Fault.TOO_MANY_PARTS
    assert len(state.citations) == 100
