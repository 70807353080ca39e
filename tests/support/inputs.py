"""Small inputs of every kind that the command and the studio read: `INPUTS` by name, each with what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from unspool.tools.viewer.inputs import CUT, Guess, InputDecoder, InputKind
from unspool.tools.viewer.recordings import HEADER, RecordingWriter

if TYPE_CHECKING:
    from unspool.tools.viewer.timeline import Timeline

__all__ = ["CALLED", "INPUTS", "TRIP", "Sample", "recorded", "sse", "timeline_of"]

TRIP: Final[dict[str, Any]] = {
    "title": "Trip to Fuji 🗻",
    "days": [{"hours": 6.5, "tags": []}, {"hours": 8, "tags": ["a\nb", "\u202e"]}],
    "done": True,
    "note": None,
}
"""A document with a bit of everything."""

CALLED: Final[dict[str, Any]] = {"city": "Porto", "days": 3}
"""The arguments of the one call in the chunks."""


class Sample(NamedTuple):
    """An input, and what it is."""

    data: bytes
    found: Guess


def _lines(values: list[Any]) -> bytes:
    return b"".join([json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values])


def sse(payloads: list[str]) -> bytes:
    """Server-sent events with these data."""
    return b"".join([f"data: {payload}\n\n".encode() for payload in payloads])


def _chat(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def _argument(text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}


CHAT: Final[list[dict[str, Any]]] = [
    _chat({"role": "assistant", "content": "Let me "}),
    _chat({"content": "look."}),
    _chat({"tool_calls": [{"index": 0, "id": "k1", "function": {"name": "trip", "arguments": ""}}]}),
    _chat(_argument('{"city": "Po')),
    _chat(_argument('rto", "da')),
    _chat(_argument('ys": 3}')),
    _chat({}, "tool_calls"),
    {**_chat({}), "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}},
]

ANSWER: Final = json.dumps(TRIP)
ANSWERED: Final[list[dict[str, Any]]] = [
    _chat({"role": "assistant", "content": ""}),
    *[_chat({"content": ANSWER[at : at + 20]}) for at in range(0, len(ANSWER), 20)],
    _chat({}, "stop"),
]

ANTHROPIC: Final[list[dict[str, Any]]] = [
    {"type": "message_start", "message": {"id": "m1", "role": "assistant", "model": "m", "content": [], "usage": {}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me look."}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "t1", "name": "trip", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"city": "Po'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": 'rto", "days"'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ": 3}"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]

SNAPSHOTS: Final[list[dict[str, Any]]] = [
    {"title": "Trip"},
    {"title": "Trip to Fuji", "days": []},
    {"days": [{"hours": 6}], "title": "Trip to Fuji"},
    {"title": "Trip to Fuji", "days": [{"hours": 6, "text": "up"}, {"hours": 8}]},
]


def recorded(data: bytes, size: int = 50) -> bytes:
    """A recording of these bytes, cut into pieces of so many, one every tenth of a second."""
    recorder = RecordingWriter()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    lines = [recorder.line(number / 10, piece) for number, piece in enumerate(pieces)]
    return "".join([HEADER, *lines, recorder.close(len(pieces) / 10)]).encode()


PLAIN: Final[dict[str, Sample]] = {
    "json": Sample(json.dumps(TRIP, ensure_ascii=False).encode(), Guess(InputKind.JSON)),
    "json, indented": Sample(json.dumps(TRIP, indent=2).encode() + b"\n", Guess(InputKind.JSON)),
    "json, an array": Sample(b'[1, {"a": [true]}, "x"]\n', Guess(InputKind.JSON)),
    "ndjson": Sample(_lines([{"id": 1, "a": "x"}, {"id": 2}, {"id": 3, "b": []}]), Guess(InputKind.NDJSON)),
    "sse of text": Sample(sse(['{"title": "Tr', 'ip", "days"', ": [1, 2]}"]), Guess(InputKind.SSE)),
    "sse of chat": Sample(sse([*map(json.dumps, CHAT), "[DONE]"]), Guess(InputKind.SSE, "openai-chat")),
    "chat": Sample(_lines(CHAT), Guess(InputKind.CHUNKS, "openai-chat")),
    "chat, structured": Sample(_lines(ANSWERED), Guess(InputKind.CHUNKS, "openai-chat")),
    "anthropic": Sample(_lines(ANTHROPIC), Guess(InputKind.CHUNKS, "anthropic")),
    "snapshots": Sample(_lines(SNAPSHOTS), Guess(InputKind.SNAPSHOTS)),
}
INPUTS: Final[dict[str, Sample]] = {
    **PLAIN,
    "recording of json": Sample(recorded(PLAIN["json"].data), Guess(InputKind.RECORDING)),
    "recording of chat": Sample(recorded(PLAIN["sse of chat"].data), Guess(InputKind.RECORDING)),
    "recording of snapshots": Sample(recorded(PLAIN["snapshots"].data), Guess(InputKind.RECORDING)),
}


def timeline_of(
    data: bytes, kind: InputKind | None = None, *, cut: int | None = CUT, extract: bool = False, patches: bool = False
) -> Timeline:
    """The timeline of an input that is all there."""
    opening = InputDecoder(kind, cut=cut)
    items = opening.feed(0.0, data) + opening.close(0.0)
    timeline = opening.timeline(extract=extract, patches=patches)
    for time, item in items:
        timeline.add(time, item)
    timeline.finish(timeline.duration)
    return timeline
