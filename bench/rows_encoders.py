"""The rows about encoders: a stream of Anthropic, from its bytes to the chunks of each target.

The stream has an answer and the arguments of a call, in pieces of 2 to 6 characters, an event for each. unspool reads
server-sent events and JSON, makes a state for each event, and encodes what is new: the whole way of a gateway. The
peer is litellm's stream wrapper, which makes chunks of chat completions of the same bytes; it has no other target that
goes along with the stream. Its request is made before the clock starts, and its client reads from memory.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from .documents import cut_ragged, itinerary
from .doubling import doubling
from .rows import DOUBLING, OURS, US_PER_CHUNK, Contender, Row, UnavailableError, load
from .timing import Effort, Measure, Reading, per_fragment, seconds

__all__ = ["rows"]

TARGETS: Final = ("openai-chat", "openai-responses", "anthropic", "vercel-ui", "ag-ui")
SIZE: Final = 10_000  # characters of the answer, and of the arguments
WRAPPER: Final = "litellm"
LACKS: Final = "writes chat completions, whatever the row; no states"
FOLDER: Final = Path(sys.prefix) / "litellm"
"""The folder of litellm, apart from the other packages."""


def rows(effort: Effort) -> Iterator[Row]:
    for target in TARGETS:
        contenders = [
            Contender(OURS, partial(_encoded, target, effort)),
            Contender(WRAPPER, partial(_wrapped, effort), LACKS, pure_python=True),
        ]
        yield Row(f"encoders/{target}", f"Anthropic to {target}, 20 KB, from bytes to chunks", US_PER_CHUNK, contenders)
    for target in TARGETS:
        contender = Contender(OURS, partial(_doubled, target, effort))
        yield Row(f"encoders/doubling/{target}", f"Anthropic to {target}, doubled", DOUBLING, [contender], turns=1)


# The stream -------------------------------------------------------------------------------------------------------


def _event(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _stream(pieces: Sequence[str]) -> bytes:
    """A message that says these pieces, and then calls a tool with them."""
    message: dict[str, Any] = {
        "id": "msg_7",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 400, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    blocks: tuple[tuple[dict[str, Any], str, str], ...] = (
        ({"type": "text", "text": ""}, "text_delta", "text"),
        ({"type": "tool_use", "id": "toolu_7", "name": "plan", "input": {}}, "input_json_delta", "partial_json"),
    )
    for index, (block, kind, name) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        deltas = [{"type": kind, name: piece} for piece in pieces]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2_500}})
    events.append({"type": "message_stop"})
    return b"".join(map(_event, events))


def _count(stream: bytes) -> int:
    return stream.count(b"\n\n")


# unspool ----------------------------------------------------------------------------------------------------------


def _encoder(target: str) -> Callable[[bytes], int]:
    """Return a function that encodes a stream, and gives the number of chunks."""
    encode = load("unspool.llm").encode

    def run(stream: bytes) -> int:
        count = 0
        for _ in encode(stream, target):
            count += 1
        return count

    return run


def _encoded(target: str, effort: Effort) -> Measure:
    stream, run = _stream(cut_ragged(itinerary(SIZE))), _encoder(target)
    if run(stream) < _count(stream) - 6:
        raise UnavailableError("some chunks are missing")
    return per_fragment(lambda: run(stream), _count(stream), effort)


def _doubled(target: str, effort: Effort) -> Measure:
    run = _encoder(target)
    return doubling(itinerary, lambda pieces: run(_stream(pieces)), effort, {4: 20_000})


# litellm ----------------------------------------------------------------------------------------------------------


def _wrapped(effort: Effort) -> Measure:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch a list of prices when it is imported
    if not FOLDER.is_dir():
        raise UnavailableError("not installed")
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    library, httpx = load("litellm"), load("httpx")
    library.disable_streaming_logging = True
    handler = load("litellm.llms.custom_httpx.http_handler").HTTPHandler
    stream = _stream(cut_ragged(itinerary(SIZE)))
    count = _count(stream)

    def respond(_: object) -> Any:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    def begun() -> Iterator[Any]:
        client = handler(client=httpx.Client(transport=httpx.MockTransport(respond)))
        tool: dict[str, Any] = {
            "type": "function",
            "function": {"name": "plan", "parameters": {"type": "object", "properties": {}}},
        }
        asked = [{"role": "user", "content": "Where?"}]
        found: Iterator[Any] = library.completion(
            model="anthropic/claude-sonnet-4-5",
            api_key="-",
            api_base="http://localhost",
            messages=asked,
            tools=[tool],
            stream=True,
            client=client,
        )
        return found

    def read(chunks: Iterator[Any]) -> None:
        for _ in chunks:
            pass

    if sum(1 for _ in begun()) < count - 8:
        raise UnavailableError("some chunks are missing")

    def measure() -> Reading:
        chunks = begun()
        return Reading(seconds(lambda: read(chunks)) / count * 1e6)

    return measure
