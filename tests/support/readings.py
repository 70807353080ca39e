"""What a recorded stream means, read plainly: all payloads at hand, one function for each format, nothing streamed.

It is written from the wire formats alone and shares no code with the library. Where a provider repeats its message as a
whole at the end, that is what is read. A recording may hold several messages, one after another.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.support.shared import shared_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Payload = dict[str, Any]

# What each reason found in the recordings means.
REASONS = {
    "stop": ["stop", "end_turn", "STOP", "COMPLETE", "completed"],
    "length": ["length"],
    "tool_calls": ["tool_calls", "tool_use", "TOOL_CALL", "requires_action"],
}


@dataclass
class Call:
    """A call of a tool. `text` is None where the arguments did not come as text."""

    kind: str
    id: str | None
    name: str | None
    arguments: Any
    text: str | None


@dataclass
class Reading:
    """One message."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    reason: str | None = None
    usage: tuple[int | None, int | None, int | None] = (None, None, None)

    def ended(self, finish: str | None) -> Reading:
        """This message with its reason to stop, also in the words of all."""
        self.finish = finish
        self.reason = next((reason for reason, raws in REASONS.items() if finish in raws), None)
        return self


def recordings() -> list[Path]:
    """All recordings; none where the shared data is not here."""
    data = shared_data()
    return [] if data is None else sorted((data / "recordings").glob("*/*.jsonl"))


def payloads(recording: Path) -> list[Payload]:
    """The chunks of a recording."""
    return [json.loads(line) for line in recording.read_text(encoding="utf-8").split("\n") if line.strip()]


def read(format: str, chunks: list[Payload]) -> list[Reading]:
    """The messages in these chunks."""
    return READERS[format](chunks)


def called(kind: str, id: str | None, name: str | None, text: str) -> Call:
    """A call whose arguments came as text: none at all means no arguments, broken ones stay text."""
    if kind == "custom":
        return Call(kind, id, name, text, text)
    try:
        return Call(kind, id, name, json.loads(text or "{}"), text)
    except ValueError:
        return Call(kind, id, name, text, text)


def split(chunks: list[Payload], kind: str) -> list[list[Payload]]:
    """One list of chunks for each message; this kind of event starts one."""
    messages: list[list[Payload]] = []
    for chunk in chunks:
        if chunk.get("type") == kind:
            messages.append([])
        messages[-1].append(chunk)
    return messages


def openai_chat(chunks: list[Payload]) -> list[Reading]:
    message = Reading()
    texts: dict[Any, list[str]] = {}
    heads: dict[Any, tuple[str | None, str | None]] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            message.reasoning += delta.get("reasoning_content") or ""
            message.refusal += delta.get("refusal") or ""
            content = delta.get("content") or ""
            parts: list[Payload] = content if isinstance(content, list) else [{"type": "text", "text": content}]
            for part in parts:
                if part["type"] == "text":
                    message.text += part["text"]
                else:
                    message.reasoning += "".join(thought["text"] for thought in part["thinking"])
            for call in delta.get("tool_calls") or []:
                key = call.get("index", 0)
                texts.setdefault(key, []).append(call["function"]["arguments"])
                if call["id"]:
                    heads[key] = (call["id"], call["function"]["name"])
            if choice.get("finish_reason"):
                message.ended(choice["finish_reason"])
        if chunk.get("usage"):
            usage = chunk["usage"]
            read, written, total = usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]
            thought = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
            if read + written + thought == total:  # xAI's total has the reasoning beside the completion
                written += thought
            message.usage = (read, written, total)
    message.calls = [called("function", *heads[key], "".join(texts[key])) for key in heads]
    return [message]


def openai_responses(chunks: list[Payload]) -> list[Reading]:
    return [whole_response(chunk["response"]) for chunk in chunks if chunk["type"] == "response.completed"]


def whole_response(response: Payload) -> Reading:
    message = Reading()
    for item in response["output"]:
        match item:
            case {"type": "message", "content": parts}:
                message.text += "".join(part["text"] for part in parts if part["type"] == "output_text")
            case {"type": "reasoning"}:
                parts = item["summary"] + (item.get("content") or [])
                message.reasoning += "".join(part["text"] for part in parts)
            case {"type": "function_call", "call_id": id, "name": name, "arguments": text}:
                message.calls.append(called("function", id, name, text))
            case {"type": "custom_tool_call", "call_id": id, "name": name, "input": text}:
                message.calls.append(called("custom", id, name, text))
            case {"type": kind} if kind in PROVIDED:
                message.calls.append(provided(item, *PROVIDED[kind]))
    usage = response["usage"]
    message.usage = (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"])
    message.ended(response["status"])
    asks = any(item["type"] == "mcp_approval_request" for item in response["output"])
    if asks or any(call.kind != "server" for call in message.calls):
        message.reason = "tool_calls"
    return message


PROVIDED: dict[str, tuple[str, str, bool]] = {
    "apply_patch_call": ("builtin", "operation", True),
    "shell_call": ("builtin", "action", True),
    "tool_search_call": ("builtin", "arguments", True),
    "web_search_call": ("server", "action", True),
    "file_search_call": ("server", "queries", False),
    "code_interpreter_call": ("server", "code", False),
}
"""The tools that providers define: who runs them, where their arguments are, and whether these are all of them."""


def provided(item: Payload, kind: str, field: str, is_all: bool) -> Call:
    call_id, name = item.get("call_id") or item["id"], item.get("name") or item["type"].removesuffix("_call")
    if isinstance(item.get("arguments"), str):
        return called(kind, call_id, name, item["arguments"])
    return Call(kind, call_id, name, item[field] if is_all else {field: item[field]}, None)


def anthropic(chunks: list[Payload]) -> list[Reading]:
    return [anthropic_message(message) for message in split(chunks, "message_start")]


def anthropic_message(chunks: list[Payload]) -> Reading:
    start = chunks[0]["message"]
    blocks: dict[int, Payload] = dict(enumerate(start["content"]))
    usage, finish = start["usage"], start["stop_reason"]
    for chunk in chunks[1:]:
        match chunk:
            case {"type": "content_block_start", "index": at, "content_block": block}:
                blocks[at] = {**block, "json": ""}
            case {"type": "content_block_delta", "index": at, "delta": {"type": "text_delta", "text": piece}}:
                blocks[at]["text"] += piece
            case {"type": "content_block_delta", "index": at, "delta": {"type": "thinking_delta", "thinking": piece}}:
                blocks[at]["thinking"] += piece
            case {
                "type": "content_block_delta",
                "index": at,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }:
                blocks[at]["json"] += piece
            case {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": counted}:
                usage, finish = {**usage, **counted}, reason
    message = Reading().ended(finish)
    for block in blocks.values():
        message.text += block["text"] if block["type"] == "text" else ""
        message.reasoning += block["thinking"] if block["type"] == "thinking" else ""
        if block["type"].endswith("tool_use"):
            kind = "function" if block["type"] == "tool_use" else "server"
            if block["input"]:
                message.calls.append(Call(kind, block["id"], block["name"], block["input"], None))
            else:
                message.calls.append(called(kind, block["id"], block["name"], block["json"]))
    cached = sum(usage.get(name, 0) for name in ("cache_creation_input_tokens", "cache_read_input_tokens"))
    tokens = usage["input_tokens"] + cached, usage["output_tokens"]
    message.usage = (*tokens, sum(tokens))
    return message


def gemini(chunks: list[Payload]) -> list[Reading]:
    message = Reading()
    for chunk in chunks:
        (candidate,) = chunk["candidates"]
        for part in candidate["content"]["parts"]:
            if part.get("thought"):
                message.reasoning += part["text"]
            else:
                message.text += part.get("text", "")
            function = part.get("functionCall", {})
            if "name" in function:
                message.calls.append(Call("function", None, function["name"], function.get("args", {}), None))
            for leaf in function.get("partialArgs", []):
                put(message.calls[-1].arguments, leaf)
        if "finishReason" in candidate:
            message.ended(candidate["finishReason"])
        usage = chunk["usageMetadata"]
        if "totalTokenCount" in usage:
            written = usage["candidatesTokenCount"] + usage.get("thoughtsTokenCount", 0)
            message.usage = (usage["promptTokenCount"], written, usage["totalTokenCount"])
    return [message]


def put(value: Any, leaf: Payload) -> None:
    """Write a leaf where its path says: a string grows, all else is new."""
    steps = [int(index) if index else key for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", leaf["jsonPath"])]
    assert "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps) == leaf["jsonPath"]
    for step, following in pairwise(steps):
        if isinstance(value, list) and step == len(value):
            value.append([] if isinstance(following, int) else {})
        elif isinstance(value, dict):
            value.setdefault(step, [] if isinstance(following, int) else {})
        value = value[step]
    last = steps[-1]
    text = leaf.get("stringValue")
    if isinstance(value, list) and last == len(value):
        value.append("" if text is not None else None)
    new = (
        leaf["numberValue"]
        if text is None
        else (value[last] if isinstance(value, list) else value.get(last, "")) + text
    )
    value[last] = new


def gemini_interactions(chunks: list[Payload]) -> list[Reading]:
    message = Reading()
    steps: dict[int, tuple[Payload, list[str]]] = {}
    for chunk in chunks:
        match chunk:
            case {"event_type": "step.start", "index": at, "step": step}:
                steps[at] = (step, [])
            case {"event_type": "step.delta", "index": at, "delta": {"text": piece} | {"arguments": piece}}:
                steps[at][1].append(piece)
            case {"event_type": "interaction.completed", "interaction": interaction}:
                usage = interaction["usage"]
                written = usage["total_output_tokens"] + usage["total_thought_tokens"]
                message.usage = (usage["total_input_tokens"], written, usage["total_tokens"])
                message.ended(interaction["status"])
    for step, pieces in steps.values():
        if step["type"] == "function_call":
            message.calls.append(called("function", step["id"], step["name"], "".join(pieces)))
        else:
            message.text += "".join(pieces)
    return [message]


def bedrock_converse(chunks: list[Payload]) -> list[Reading]:
    message = Reading()
    tools: dict[int, tuple[Payload, list[str]]] = {}
    for chunk in chunks:
        match chunk:
            case {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": tool}}}:
                tools[at] = (tool, [])
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"toolUse": {"input": piece}}}}:
                tools[at][1].append(piece)
            case {"contentBlockDelta": {"delta": {"text": piece}}}:
                message.text += piece
            case {"contentBlockDelta": {"delta": {"reasoningContent": {"text": piece}}}}:
                message.reasoning += piece
            case {"messageStop": {"stopReason": reason}}:
                message.ended(reason)
            case {"metadata": {"usage": usage}}:
                message.usage = (usage["inputTokens"], usage["outputTokens"], usage["totalTokens"])
    message.calls = [called("function", t["toolUseId"], t["name"], "".join(pieces)) for t, pieces in tools.values()]
    return [message]


def cohere(chunks: list[Payload]) -> list[Reading]:
    message = Reading()
    tools: dict[int, tuple[Payload, list[str]]] = {}
    for chunk in chunks:
        match chunk:
            case {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}}:
                message.reasoning += piece
            case {"type": "content-start" | "content-delta", "delta": {"message": {"content": {"text": piece}}}}:
                message.text += piece
            case {"type": "tool-call-start", "index": at, "delta": {"message": {"tool_calls": tool}}}:
                tools[at] = (tool, [tool["function"]["arguments"]])
            case {"type": "message-end", "delta": {"finish_reason": reason, "usage": {"tokens": tokens}}}:
                message.ended(reason)
                counts = tokens["input_tokens"], tokens["output_tokens"]
                message.usage = (*counts, sum(counts))
    message.calls = [
        called("function", tool["id"], tool["function"]["name"], "".join(pieces)) for tool, pieces in tools.values()
    ]
    return [message]


READERS: dict[str, Callable[[list[Payload]], list[Reading]]] = {
    "anthropic": anthropic,
    "bedrock-converse": bedrock_converse,
    "cohere": cohere,
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}
