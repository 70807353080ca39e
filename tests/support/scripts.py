"""What a model says, and how it is written in the chunks of each provider.

`Script` is what is said; the functions below it write it, one for each wire format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Payload = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of a tool, its arguments in pieces."""

    id: str
    name: str
    pieces: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Script:
    """Text in pieces, then calls. It counts eleven tokens in, five out."""

    pieces: tuple[str, ...] = ()
    calls: tuple[Call, ...] = field(default=())

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def write(self, format: str) -> list[Payload]:
        """The payloads of this format."""
        return list({**WRITERS, **PAGE_WRITERS}[format](self))


def chat(script: Script) -> Iterator[Payload]:
    """Chat completions of OpenAI."""

    def chunk(choices: list[Payload], **more: Any) -> Payload:
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}

    def choice(delta: Payload, reason: str | None = None) -> Payload:
        return chunk([{"index": 0, "delta": delta, "finish_reason": reason}])

    yield choice({"role": "assistant", "content": ""})
    for piece in script.pieces:
        yield choice({"content": piece})
    for index, call in enumerate(script.calls):
        function = {"name": call.name, "arguments": ""}
        yield choice({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in call.pieces:
            yield choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield choice({}, "tool_calls" if script.calls else "stop")
    yield chunk([], usage={"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16})


def responses(script: Script) -> Iterator[Payload]:
    """The Responses API of OpenAI."""
    numbers = count()

    def event(kind: str, **more: Any) -> Payload:
        return {"type": f"response.{kind}", "sequence_number": next(numbers), **more}

    def response(status: str, output: list[Payload], **more: Any) -> Payload:
        fixed = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "tools": [], "tool_choice": "auto"}
        return {**fixed, "parallel_tool_calls": True, "status": status, "output": output, **more}

    output: list[Payload] = []
    yield event("created", response=response("in_progress", []))
    if script.pieces:
        message = {"id": "m1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        yield event("output_item.added", output_index=0, item=message)
        place = {"item_id": "m1", "output_index": 0, "content_index": 0}
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("content_part.added", **place, part=part)
        for piece in script.pieces:
            yield event("output_text.delta", **place, delta=piece, logprobs=[])
        part = {**part, "text": script.text}
        yield event("output_text.done", **place, text=script.text, logprobs=[])
        yield event("content_part.done", **place, part=part)
        output.append({**message, "status": "completed", "content": [part]})
        yield event("output_item.done", output_index=0, item=output[-1])
    for index, call in enumerate(script.calls, len(output)):
        place = {"item_id": f"f{index}", "output_index": index}
        item = {"id": f"f{index}", "type": "function_call", "call_id": call.id, "name": call.name, "arguments": ""}
        yield event("output_item.added", output_index=index, item={**item, "status": "in_progress"})
        for piece in call.pieces:
            yield event("function_call_arguments.delta", **place, delta=piece)
        yield event("function_call_arguments.done", **place, arguments=call.arguments)
        output.append({**item, "status": "completed", "arguments": call.arguments})
        yield event("output_item.done", output_index=index, item=output[-1])
    usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
    yield event("completed", response=response("completed", output, usage=usage))


def anthropic(script: Script) -> Iterator[Payload]:
    """The Messages API of Anthropic."""

    def block(index: int, start: Payload, deltas: Iterable[Payload]) -> Iterator[Payload]:
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    message = {"id": "a1", "type": "message", "role": "assistant", "model": "m", "content": []}
    no_stop = {"stop_reason": None, "stop_sequence": None}
    yield {
        "type": "message_start",
        "message": {**message, **no_stop, "usage": {"input_tokens": 11, "output_tokens": 1}},
    }
    yield {"type": "ping"}
    blocks: list[tuple[Payload, list[Payload]]] = []
    if script.pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in script.pieces]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call in script.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *call.pieces)]
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas))
    yield from chain.from_iterable(block(index, *both) for index, both in enumerate(blocks))
    stop = {"stop_reason": "tool_use" if script.calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def ollama(script: Script) -> Iterator[Payload]:
    """The chat of Ollama. Calls come whole."""

    def line(message: Payload, **more: Any) -> Payload:
        return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False, **more}

    for piece in script.pieces:
        yield line({"content": piece})
    for call in script.calls:
        function = {"name": call.name, "arguments": json.loads(call.arguments)}
        yield line({"tool_calls": [{"id": call.id, "function": function}]})
    yield line({}, done=True, done_reason="stop", prompt_eval_count=11, eval_count=5)


def gemini(script: Script) -> Iterator[Payload]:
    """The generateContent of Gemini. Calls come whole; the last chunk has the reason and the count."""
    parts: list[Payload] = [{"text": piece} for piece in script.pieces]
    calls = [{"id": call.id, "name": call.name, "args": json.loads(call.arguments)} for call in script.calls]
    parts += [{"functionCall": call} for call in calls]
    for at, part in enumerate(parts, 1):
        candidate: Payload = {"index": 0, "content": {"role": "model", "parts": [part]}}
        counts = {"promptTokenCount": 11, "totalTokenCount": 11}
        if at == len(parts):
            candidate["finishReason"] = "STOP"
            counts = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}
        yield {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "m", "responseId": "g1"}


def gemini_interactions(script: Script) -> Iterator[Payload]:
    """The Interactions API of Gemini."""

    def event(kind: str, **more: Any) -> Payload:
        return {**more, "event_type": kind}

    def step(index: int, start: Payload, deltas: Iterable[Payload]) -> Iterator[Payload]:
        yield event("step.start", index=index, step=start)
        for delta in deltas:
            yield event("step.delta", index=index, delta=delta)
        yield event("step.stop", index=index)

    created = {"id": "v1", "object": "interaction", "model": "m", "status": "in_progress"}
    yield event("interaction.created", interaction=created)
    yield event("interaction.status_update", interaction_id="v1", status="in_progress")
    steps: list[tuple[Payload, list[Payload]]] = []
    if script.pieces:
        steps.append(({"type": "model_output"}, [{"type": "text", "text": piece} for piece in script.pieces]))
    for call in script.calls:
        start = {"type": "function_call", "id": call.id, "name": call.name, "arguments": {}}
        steps.append((start, [{"type": "arguments_delta", "arguments": piece} for piece in call.pieces]))
    yield from chain.from_iterable(step(index, *both) for index, both in enumerate(steps))
    status = "requires_action" if script.calls else "completed"
    usage = {"total_input_tokens": 11, "total_output_tokens": 5, "total_tokens": 16}
    yield event("interaction.completed", interaction={**created, "status": status, "usage": usage})


def bedrock_converse(script: Script) -> Iterator[Payload]:
    """The ConverseStream of Bedrock. A text has no start."""

    def added(index: int, delta: Payload) -> Payload:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}

    yield {"messageStart": {"role": "assistant"}}
    if script.pieces:
        for piece in script.pieces:
            yield added(0, {"text": piece})
        yield {"contentBlockStop": {"contentBlockIndex": 0}}
    for index, call in enumerate(script.calls, 1 if script.pieces else 0):
        tool_use = {"toolUseId": call.id, "name": call.name}
        yield {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": tool_use}}}
        for piece in call.pieces:
            yield added(index, {"toolUse": {"input": piece}})
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": "tool_use" if script.calls else "end_turn"}}
    usage = {"inputTokens": 11, "outputTokens": 5, "totalTokens": 16}
    yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 7}}}


def cohere(script: Script) -> Iterator[Payload]:
    """The chat of Cohere, version 2. Texts and calls are numbered apart."""

    def event(kind: str, index: int, **message: Any) -> Payload:
        return {"type": kind, "index": index, "delta": {"message": message}}

    start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield {"type": "message-start", "id": "h1", "delta": {"message": start}}
    if script.pieces:
        yield event("content-start", 0, content={"type": "text", "text": ""})
        for piece in script.pieces:
            yield event("content-delta", 0, content={"text": piece})
        yield {"type": "content-end", "index": 0}
    for index, call in enumerate(script.calls):
        function = {"name": call.name, "arguments": ""}
        yield event("tool-call-start", index, tool_calls={"id": call.id, "type": "function", "function": function})
        for piece in call.pieces:
            yield event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
        yield {"type": "tool-call-end", "index": index}
    tokens = {"input_tokens": 11, "output_tokens": 5}
    end = {"finish_reason": "TOOL_CALL" if script.calls else "COMPLETE", "usage": {"tokens": tokens}}
    yield {"type": "message-end", "delta": end}


WRITERS: Final = {"openai-chat": chat, "openai-responses": responses, "anthropic": anthropic, "ollama": ollama}
"""Those that every client is tried with, plain HTTP too."""

PAGE_WRITERS: Final = {
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "bedrock-converse": bedrock_converse,
    "cohere": cohere,
}
"""Those that are read by the libraries of their own, as the pages about them show it."""
