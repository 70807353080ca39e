"""The parts of a message and the next request: no chunk makes them raise, or contradict each other.

The first byte chooses the wire format, the other bytes are chunks, one per line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.chunks import EXAMPLES
from unspool.llm import Config, MessageState, changes, deltas_for, finish, reduce_chunk, start
from unspool.llm._calls import ToolCall
from unspool.llm._formats.registry import FORMATS
from unspool.llm._parts import FilePart, ReasoningPart, RefusalPart, TextPart
from unspool.llm._requests.registry import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_NAMES = sorted(FORMATS)
CONFIG = Config()


def decode(data: bytes) -> tuple[str, list[bytes]]:
    """The format and the lines."""
    return FORMAT_NAMES[data[0] % len(FORMAT_NAMES) if data else 0], data[1:].split(b"\n")


def seeds() -> Iterator[bytes]:
    """The chunks of the tests, a few in each."""
    for number, name in enumerate(FORMAT_NAMES):
        lines = [json.dumps(chunk, default=bytes.decode).encode() for chunk, _ in EXAMPLES[name].values()]
        for at in range(0, len(lines), 4):
            yield bytes([number]) + b"\n".join(lines[at : at + 4])


def check(data: bytes) -> None:
    """An exception is a finding."""
    name, lines = decode(data)
    state = start(CONFIG, format=name)
    for line in lines:
        try:
            chunk = json.loads(line)
        except (ValueError, RecursionError):
            continue
        before, known = state, state.parts
        state = reduce_chunk(state, deltas_for(name)(chunk))
        changes(before, state)
        assert before.parts == known, "an older state has changed"
        check_folds(state)
    check_requests(state)
    last = finish(state)
    check_folds(last)
    check_requests(last)
    assert not last.is_complete or all(part.is_complete for part in last.parts), "a complete message has an open part"


def check_folds(state: MessageState) -> None:
    """The flat fields are folds over the parts, and a loaded state has the same parts."""
    parts = state.parts
    assert state.content == "".join([part.text for part in parts if isinstance(part, TextPart)]), "content"
    assert state.reasoning == "".join([part.text for part in parts if isinstance(part, ReasoningPart)]), "reasoning"
    assert state.refusal == "".join([part.text for part in parts if isinstance(part, RefusalPart)]), "refusal"
    assert {id(call) for call in state.tool_calls} <= {id(part) for part in parts}, "calls are parts"
    assert state.files == tuple([part for part in parts if isinstance(part, FilePart)]), "files"
    again = MessageState.load(json.loads(json.dumps(state.dump())), CONFIG)
    assert again.dump() == state.dump(), "a loaded state has another dump"
    assert again.parts == parts, "a loaded state has other parts"


def check_requests(state: MessageState) -> None:
    """Every format takes the turn, and its losses name parts that exist. Writing changes no state."""
    known = state.dump()
    for name in WRITERS:
        turn = state.as_messages(name)
        if name != "bedrock-converse":  # its files are bytes
            json.dumps(turn)
        assert state.as_messages(name) == turn, "the same turn differs"
        for loss in state.lost_in(name):
            assert loss.part is None or 0 <= loss.part < len(state.parts), "a loss of no part"
            assert loss.why, "a loss without a reason"
        outputs: dict[ToolCall | int, object] = {call: "x" for call in state.tool_calls if call.kind != "server"}
        state.tool_results(outputs, name)
    assert state.dump() == known, "a request has changed the state"
