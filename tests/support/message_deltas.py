"""Deltas of all kinds as hypothesis draws them, well-behaved and hostile, and everything that a state shows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, get_args

from hypothesis import strategies as st

from tests.support.messages import ANY, CITY, seen, seen_error
from unspool import MISSING
from unspool.llm import Config, MessageFinished, changes, finish, reduce, start
from unspool.llm._calls import ToolCall
from unspool.llm._deltas import (
    BlockEnd,
    BlockStart,
    Finish,
    FinishReason,
    Ignored,
    Leaf,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ProviderError,
    ReasoningDelta,
    Recount,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from unspool.llm._parts import (
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolResultPart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hypothesis.strategies import SearchStrategy

    from unspool.llm import MessageEvent, MessageState
    from unspool.llm._deltas import Block, Delta

TOOLS: Final = {"any": ANY, "city": CITY, "plain": None}
CONFIGS: Final = {
    "plain": Config(),
    "tools": Config(tools=TOOLS),
    "answer": Config(CITY),
    "answer and tools": Config(ANY, tools=TOOLS),
    "emulated": Config(CITY, emulate_structured_output=True, tools=TOOLS),
    "extracted": Config(CITY, extract=True, requires_finish=False),
    "few parts": Config(max_parts=3),
}
configs = st.sampled_from(list(CONFIGS.values()))
REASONS: Final[tuple[Any, ...]] = get_args(FinishReason)

# Blocks: without a number, with a name, with one number, with several, and sections of reasoning.
BLOCKS: Final[list[Block]] = [
    *((), (), ("content",), ("reasoning",), (0,), (1,), (2,), (7,), (0, 0), (0, 1), (1, 0)),
    *((0, "summary", 0), (0, "summary", 1), (0, "content", 0), (2, "summary", 0), ("a", "b")),
]
TEXTS: Final = [
    "\ud83d",
    "\ude00x\ud83d",
    *("", "a", "bc", "\n\n", " ", "é😀", '{"city": "S', 'uva"}', '{"city": "Suva"}', '{"city": 5}', "Sure: "),
    *("[1, 2", "]", "{]", "12", '"', "null"),
]
NAMES: Final = ["any", "city", "plain", "unknown", "output", ""]
IDS: Final = ["a", "b", "call_0", "null", ""]
PLAIN: Final[list[Any]] = [
    *(None, True, 0, -1.5, "x", [], {}, [1, {"a": None}], {"deep": [[["x"]]]}, {"$bytes": "AAA"}, {"$bytes": 5}),
]
FIELDS: Final = [
    *("id", "type", "text", "status", "$bytes", "input", "thought_signature", "encrypted_content", "function"),
    *("custom", "content", "summary", "call_id", "action", "caller", "image_url", "functionCall", "toolCall", "result"),
    *("executableCode", "codeExecutionResult", "inlineData", "toolResponse", "source", "toolset_name", "citations"),
]

blocks = st.sampled_from(BLOCKS)
texts = st.sampled_from(TEXTS)
ids = st.none() | st.sampled_from(IDS)
plain = st.sampled_from(PLAIN)
types = st.sampled_from(
    ["text", "reasoning", "message", "function_call", "thinking", "reasoning.text", "web_search_call"]
)
fields = st.one_of(
    st.dictionaries(st.sampled_from(FIELDS), plain, max_size=2),
    st.builds(
        lambda kind, more: {"type": kind, **more},
        types,
        st.dictionaries(st.sampled_from(FIELDS[2:]), plain, max_size=2),
    ),
)
"""Fields of a provider's own block. Each draw makes a new object, as each chunk does."""
native = st.none() | fields
data = st.sampled_from(["", "QUJD", "QQ==", "no base64!", b"", b"\x00\xff"])
flags = st.booleans()
words = st.none() | st.sampled_from(["", "w", "https://example.org/"])
numbers = st.none() | st.integers(-2, 9)

citations = st.builds(Citation, words, words, words, numbers, numbers, words, native)
known_parts: SearchStrategy[Any] = st.one_of(
    st.builds(TextPart, texts, st.lists(citations, max_size=2).map(tuple), ids, flags, native, blocks),
    st.builds(ReasoningPart, texts, words, st.none() | data, flags, ids, flags, native, blocks),
    st.builds(ReasoningPart, texts, native=native, block=st.sampled_from([(0,), (2,)])),
    st.builds(RefusalPart, texts, ids, flags, native, blocks),
    st.builds(ToolResultPart, ids, words, plain, flags, ids, flags, native, blocks),
    st.builds(FilePart, words, st.none() | data, words, words, words, texts, ids, flags, native, blocks),
    st.builds(SourcePart, words, words, words, words, ids, flags, native, blocks),
    st.builds(OpaquePart, st.sampled_from(["", "new", "compaction"]), ids, flags, native, blocks),
)
part_data = st.one_of(
    st.builds(PartData, st.just("citation"), citations, blocks, native),
    st.builds(PartData, st.just("citations"), st.lists(citations, max_size=2).map(tuple), blocks, native),
    st.builds(PartData, st.sampled_from(["data", "whole_data", "encrypted", "more_encrypted"]), data, blocks, native),
    st.builds(
        PartData,
        st.sampled_from(["", "id", "signature", "more_signature", "transcript", "url", "name", "media_type", "new"]),
        st.one_of(texts, plain),
        blocks,
        native,
    ),
    st.builds(PartData, st.sampled_from(["is_summary", "is_error", "is_complete"]), flags, blocks, native),
    st.builds(PartData, st.sampled_from(["output", "more_output", "call_id", "file_id"]), plain, blocks, native),
)
leaves = st.builds(
    Leaf,
    st.sampled_from(["$.city", "$.a[0]", "$.a[1]", "$.a", "$", "no path"]),
    st.one_of(st.just(MISSING), texts, plain),
    flags,
)
arguments = st.one_of(
    texts, texts, st.none(), st.builds(Whole, st.one_of(plain, texts)), st.lists(leaves, max_size=3).map(tuple)
)
indexes = st.one_of(st.sampled_from([MISSING, None, "0", "x", "1 "]), st.integers(0, 3), st.integers(0, 3))
kinds = st.sampled_from([None, "function", "function", "custom", "builtin", "server"])
tool_calls = st.builds(
    ToolCallDelta,
    indexes,
    ids,
    st.none() | st.sampled_from(NAMES),
    arguments,
    kinds,
    st.sampled_from([False, False, True]),
    st.sampled_from([False, False, True]),
    st.just(0),
    words,
    native,
)
written: SearchStrategy[Any] = st.one_of(
    *(st.builds(kind, texts, blocks, st.sampled_from([False, False, True])) for kind in (TextDelta, ReasoningDelta)),
    st.builds(RefusalDelta, texts, blocks, flags),
)
numbered = [block for block in BLOCKS if block]
other_deltas: SearchStrategy[Any] = st.one_of(
    st.builds(BlockStart, st.sampled_from(numbered), fields),
    st.builds(BlockEnd, indexes),
    st.builds(BlockEnd, st.just(MISSING), st.just(0), blocks),
    st.builds(MessageData, st.sampled_from(["", "stop_details", "$bytes"]), plain),
    st.builds(
        Usage,
        numbers,
        numbers,
        numbers,
        st.dictionaries(st.sampled_from(["a", "b", "$bytes"]), plain, max_size=2),
        st.sampled_from([(), ("a", "b")]),
    ),
    st.builds(Ignored, st.sampled_from(["", "new", "ping"]), flags),
)
ends: SearchStrategy[Any] = st.one_of(
    st.builds(Finish, st.sampled_from(REASONS), words),
    st.builds(MessageStart, words, ids, words),
    st.builds(ProviderError, texts, words, plain, numbers),
    st.builds(Recount, st.lists(ids, max_size=4).map(tuple)),
)
every_delta: SearchStrategy[Any] = st.one_of(
    *(written, written, written, tool_calls, tool_calls, tool_calls, st.builds(PartStart, known_parts)),
    *(part_data, part_data, other_deltas, other_deltas, ends),
)
"""All kinds of deltas, in an order that no provider would choose."""


# Dense messages: few blocks, much text, so that parts grow, interleave, replace each other and end.
near_blocks = st.sampled_from([(), (), (), (0,), (1,), (2,), (0, "summary", 0), (0, "summary", 1)])
near_texts = st.sampled_from([text for text in TEXTS if text])
near: SearchStrategy[Any] = st.one_of(
    *(st.builds(kind, near_texts, near_blocks) for kind in (TextDelta, TextDelta, ReasoningDelta, RefusalDelta)),
    st.builds(TextDelta, near_texts, near_blocks, st.just(True)),
    st.builds(ToolCallDelta, st.integers(0, 3), st.none(), st.sampled_from(["city", "any"]), near_texts),
    st.builds(ToolCallDelta, st.integers(0, 3), st.none(), st.none(), near_texts),
    st.builds(BlockEnd, st.integers(0, 2)),
    st.builds(PartData, st.just("citation"), citations, near_blocks),
    known_parts.map(PartStart),
    st.builds(BlockStart, st.sampled_from([(0,), (1,), (2,), (3,)]), fields),
)
dense_deltas = st.lists(near, min_size=6, max_size=20)
many_deltas = st.one_of(
    st.lists(every_delta, max_size=25),
    dense_deltas,
    st.builds(lambda first, last: [*first, last], dense_deltas, st.builds(Finish, st.sampled_from(REASONS))),
)
"""Hostile messages of all kinds, and dense ones."""
futures = st.lists(st.one_of(near, every_delta), min_size=1, max_size=10)


# ---- what a state shows ------------------------------------------------------------------------------


def states_after(deltas: Iterable[Delta], config: Config, before: MessageState | None = None) -> list[MessageState]:
    """All states, from the first one to the one after the end."""
    states = [start(config) if before is None else before]
    for delta in deltas:
        states.append(reduce(states[-1], delta))
    return [*states, finish(states[-1])]


def view(state: MessageState) -> dict[str, Any]:
    """Everything that a state shows: its dump, its parts, its texts, values, errors and oddities."""
    calls = [(part.value, seen_error(part.error)) for part in state.parts if isinstance(part, ToolCall)]
    return {
        **seen(state),
        "dump": state.dump(),
        "parts": [(type(part), part) for part in state.parts],
        "calls": calls,
        "citations": state.citations,
        "sources": state.sources,
        "files": state.files,
        "native": dict(state.native),
        "diagnostics": state.diagnostics,
        "finish": (state.finish_reason, state.raw_finish_reason, state.is_finished, state.is_complete),
    }


def plain_event(event: MessageEvent) -> Any:
    """An event that compares by what it shows."""
    return (event.kind, view(event.state)) if isinstance(event, MessageFinished) else event


def events_of(states: list[MessageState]) -> list[list[MessageEvent]]:
    """The events of each step."""
    return [changes(before, after) for before, after in pairwise(states)]
