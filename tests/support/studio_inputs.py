"""What the page of the studio is shown: a recorded answer, a call of a tool, snapshots, and what is broken."""

from __future__ import annotations

import json
from typing import Any

from unspool.tools.viewer.recordings import HEADER

__all__ = ["INPUTS", "TRIP"]

TRIP = {"title": "Trip to Fuji", "days": [{"subtitle": "Day 1: Arrival", "activities": [1, 2]}, {"subtitle": "Day 2"}]}


def recorded(text: str, size: int) -> bytes:
    """A recording of a text that came in pieces of this size, the first after half a second."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    lines = [{"t": 0.5 + 0.02 * number, "text": piece} for number, piece in enumerate(pieces)]
    return (HEADER + "".join([json.dumps(line) + "\n" for line in lines])).encode()


def tool_call() -> bytes:
    """Some words, then the arguments of a call, in the manner of OpenAI."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "Let me "}, {"content": "look."}]
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "find", "arguments": ""}}
    deltas.append({"tool_calls": [call]})
    text = json.dumps(TRIP)
    pieces = [text[start : start + 9] for start in range(0, len(text), 9)]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return "".join([f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]).encode()


def snapshots() -> bytes:
    """A pause, two that wait, one of them that moves."""
    values: list[dict[str, Any]] = [
        {"title": "Tr"},
        {"title": "Trip"},
        {"title": "Trip"},
        {"title": "Trip", "days": []},
    ]
    values += [
        {"title": "Trip", "days": [{"kind": "wa", "text": ""}]},
        {"title": "Trip", "days": [{"kind": "walk", "text": ""}]},
    ]
    values.append({"title": "Trip", "days": [{"kind": "walk", "text": "Old lanes"}, {"kind": "bus"}]})
    return "".join([json.dumps(value) + "\n" for value in values]).encode()


LONG_TRIP = {
    **TRIP,
    "budget": {"total": 184_500, "is_fixed": False},
    "notes": None,
    "places": TRIP["days"],
    "end": "Home.",
}
INPUTS = {
    "answer": recorded(json.dumps(LONG_TRIP), 5),
    "calls": tool_call(),
    "snapshots": snapshots(),
    "broken": b'{"title": "Fuji", "days": [1, 2, }, "x": 1}',
}
