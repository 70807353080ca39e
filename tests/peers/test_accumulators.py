"""What docs/accumulators.md says: odd streams of tool calls, read here and by the accumulators of other libraries.

The rows of its table are made here by running the libraries, and compared with those of the page. A library that is not
installed skips its column by name. Where one of them is improved, its test fails, and the page has to be written anew.
"""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.shared import PROJECT
from unspool.llm import MessageError, MessageStream

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = PROJECT / "docs" / "accumulators.md"

# Calls as they are written in the table: id, name, arguments.
Call = tuple[str | None, str | None, Any]


class Stream(NamedTuple):
    """Pieces of tool calls, by chunk, and the calls that were meant. None: nothing that could be run."""

    chunks: list[list[dict[str, Any]]]
    meant: list[Call] | None
    reason: str | None = "tool_calls"


def piece(arguments: Any = "", index: Any = 0, **more: Any) -> dict[str, Any]:
    """A piece of a call on the wire. An index of -1 is none."""
    function = {"arguments": arguments, **({"name": more.pop("name")} if "name" in more else {})}
    place = {} if index == -1 else {"index": index}
    kind = {"type": "function"} if "id" in more else {}
    return {**place, **more, **kind, "function": function}


def first(arguments: Any = "", index: Any = 0) -> dict[str, Any]:
    return piece(arguments, index, id="a", name="f")


def second(arguments: Any = "", index: Any = 1) -> dict[str, Any]:
    return piece(arguments, index, id="b", name="g")


ONE: list[Call] = [("a", "f", {"x": 1})]
TWO: list[Call] = [*ONE, ("b", "g", {"y": 2})]
WHOLE_X, WHOLE_Y = '{"x":1}', '{"y":2}'
OPEN_X, REST_X = '{"x":', "1}"

STREAMS: dict[str, Stream] = {
    "nothing odd": Stream([[first()], [piece(OPEN_X)], [piece(REST_X)], [second(WHOLE_Y)]], TWO),
    "no index": Stream(
        [[first(index=-1)], [piece(OPEN_X, -1)], [piece(REST_X, -1)], [second(WHOLE_Y, -1)]],
        TWO,
    ),
    "index null": Stream([[first(index=None)], [piece(WHOLE_X, None)], [second(WHOLE_Y, None)]], TWO),
    "index as a text": Stream([[first(index="0")], [piece(WHOLE_X, "0")], [second(WHOLE_Y, "1")]], TWO),
    "index from 1": Stream([[first(index=1)], [piece(WHOLE_X, 1)], [second(WHOLE_Y, 2)]], TWO),
    "an index twice in a chunk": Stream([[first(), piece(OPEN_X), piece(REST_X)]], ONE),
    "id repeated": Stream([[first()], [piece(OPEN_X, id="a")], [piece(REST_X, id="a")]], ONE),
    "id empty": Stream([[first()], [piece(OPEN_X, id="")], [piece(REST_X, id="")]], ONE),
    'id "null"': Stream([[first()], [piece(OPEN_X, id="null")], [piece(REST_X, id="null")]], ONE),
    "a new id under an old index": Stream([[first(WHOLE_X)], [second(index=0)], [piece(WHOLE_Y)]], TWO),
    "name late": Stream([[piece(OPEN_X, id="a")], [piece(REST_X, name="f")]], ONE),
    "name empty": Stream([[piece(id="a", name="")], [piece(WHOLE_X, name="f")]], ONE),
    "name repeated": Stream([[first(OPEN_X)], [piece(REST_X, name="f")]], ONE),
    "arguments as an object": Stream([[first({"x": 1})]], ONE),
    "arguments null": Stream([[first(None)], [piece(WHOLE_X)]], ONE),
    "arguments whole again": Stream([[first(OPEN_X)], [piece(REST_X)], [piece(WHOLE_X)]], ONE),
    "interleaved calls": Stream([[first(OPEN_X), second('{"y":')], [piece(REST_X), piece("2}", 1)]], TWO),
    "text after the arguments": Stream([[first(WHOLE_X)], [piece(" and so on")]], ONE),
    "finish reason contradicts": Stream([[first(WHOLE_X)]], ONE, "stop"),
    "cut off by length": Stream([[first()], [piece('{"x":1')]], None, "length"),
    "stream ends in a call": Stream([[first()], [piece('{"x":1')]], None, None),
}


def wire(stream: Stream) -> list[dict[str, Any]]:
    """The chunks of a chat completion, from the one with the role to the one with the reason."""

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "m", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}

    calls = [chunk({"tool_calls": pieces}) for pieces in stream.chunks]
    end = [] if stream.reason is None else [chunk({}, stream.reason)]
    return [chunk({"role": "assistant", "content": None}), *calls, *end]


# What each library makes of it: calls, and how they are told in the table.


def unspool_cell(stream: Stream) -> str:
    """The diagnostics are a part of the answer."""
    source = MessageStream(wire(stream))
    with suppress(MessageError):  # of the stream that ends in a call
        source.final()
    state = source.state
    odd = sorted({f"`{diagnostic.code.value}`" for diagnostic in state.diagnostics})
    if stream.meant is None:
        assert state.error is not None
        assert not any(call.is_complete for call in state.tool_calls)
        return f"failed: `{state.error.fault.value}`"
    calls: list[Call] = [(call.id, call.name, call.value) for call in state.tool_calls]
    assert state.is_complete
    assert calls == stream.meant
    return "right" + (f": {', '.join(odd)}" if odd else "")


def openai_cell(stream: Stream) -> str:
    """The accumulator behind its `stream()` helper, which is public too."""
    chat = pytest.importorskip("openai.lib.streaming.chat")
    types = pytest.importorskip("openai.types.chat")
    state = chat.ChatCompletionStreamState()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about what it has put together
        for chunk in wire(stream):
            state.handle_chunk(types.ChatCompletionChunk.construct(**chunk))
        message = state.get_final_completion().choices[0].message
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
    read = [(named, name, _value(arguments)) for named, name, arguments in calls]
    if read == stream.meant:
        return "right"
    return told(calls) + ("" if all(isinstance(arguments, str) for _, _, arguments in calls) else ", not as text")


def langchain_cell(stream: Stream) -> str:
    """The sum of message chunks, as every integration makes it."""
    messages = pytest.importorskip("langchain_core.messages")
    total = messages.AIMessageChunk(content="")
    for chunk in wire(stream):
        pieces = chunk["choices"][0]["delta"].get("tool_calls", [])
        added = [
            messages.ToolCallChunk(
                name=piece["function"].get("name"),
                args=piece["function"]["arguments"],
                id=piece.get("id"),
                index=piece.get("index"),
                type="tool_call_chunk",
            )
            for piece in pieces
        ]
        total += messages.AIMessageChunk(content="", tool_call_chunks=added)
    calls = [(call["id"], call["name"], call["args"]) for call in total.tool_calls]
    invalid = [(call["id"], call["name"], call["args"]) for call in total.invalid_tool_calls]
    if calls == stream.meant and not invalid:
        return "right"
    return told(calls) + (f", invalid: {told(invalid)}" if invalid else "")


def _value(arguments: Any) -> Any:
    """What a text is worth. Arguments that are no text are not what its type promises."""
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return None


def told(calls: list[Call]) -> str:
    """Calls as the table has them: id, name and arguments."""
    shown = []
    for named, name, arguments in calls:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, separators=(",", ":"))
        shown.append(f"`{named} {name or None}({text})`")
    return ", ".join(shown)


def cell(column: Callable[[Stream], str], stream: Stream) -> str:
    """What a library makes of a stream, or what it raises."""
    try:
        return column(stream)
    except AssertionError:  # of this file
        raise
    except Exception as error:  # noqa: BLE001 - whatever a library raises, it is told by name
        return f"raises `{type(error).__name__}`"


COLUMNS: dict[str, Callable[[Stream], str]] = {
    "unspool": unspool_cell,
    "openai": openai_cell,
    "langchain-core": langchain_cell,
}


def table() -> dict[str, dict[str, str]]:
    """The table of the page: by the oddity, then by the library."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    heading, _, *rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows}


def test_the_table_has_every_stream_and_library() -> None:
    """Nothing is left out, on either side."""
    rows = table()
    assert list(rows) == list(STREAMS)
    assert all(list(row) == list(COLUMNS) for row in rows.values())


@pytest.mark.parametrize("library", COLUMNS)
@pytest.mark.parametrize("name", STREAMS)
def test_the_table_says_what_happens(name: str, library: str) -> None:
    """Each cell is what the library does."""
    assert table()[name][library] == cell(COLUMNS[library], STREAMS[name])


@pytest.mark.parametrize("library", ["openai", "langchain-core"])
def test_the_page_names_the_versions(library: str) -> None:
    """What is said is said of the version that was run."""
    pytest.importorskip(library.replace("-", "_"))
    assert f"{library} {version(library)}" in PAGE.read_text(encoding="utf-8")
