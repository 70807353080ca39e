"""Gemini's generateContent, from AI Studio and from Vertex.

Calls have no index and mostly no id: a part with a name starts a call, a part without one continues the last call.
Arguments come whole or, if Vertex streams them, as leaves by JSONPath. A call is whole unless it announces that it will
continue. Fields are camelCase on the wire and snake_case in Google's library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._missing import MISSING
from .._deltas import Finish, Ignored, Leaf, MessageStart, ReasoningDelta, TextDelta, ToolCallDelta
from .chunks import block_text, call, failure, finish, get, is_record, items, leftovers, number, says, string, usage

if TYPE_CHECKING:
    from .._deltas import Delta, FinishReason

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "max_tokens": "length",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "model_armor": "content_filter",
    "image_safety": "content_filter",
    "image_prohibited_content": "content_filter",
    "image_recitation": "content_filter",
    "jailbreak": "content_filter",
    "malformed_function_call": "error",
    "malformed_response": "error",
    "unexpected_tool_call": "error",
    "too_many_tool_calls": "error",
    "missing_thought_signature": "error",
}
READ: Final = frozenset({"text", "thought", "functionCall", "function_call"})
LEFT_OUT: Final = frozenset({
    "codeExecutionResult",
    "code_execution_result",
    "executableCode",
    "executable_code",
    "fileData",
    "file_data",
    "inlineData",
    "inline_data",
    "thoughtSignature",
    "thought_signature",
})  # fmt: skip


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format."""
    if isinstance(get(chunk, "candidates"), (list, tuple)):
        return True
    if is_record(get(chunk, "usageMetadata", "usage_metadata")) or _blocked(chunk):
        return True
    return string(get(chunk, "error"), "status") is not None


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found: list[Delta] = []
    for candidate in items(chunk, "candidates"):
        found += _candidate(chunk, candidate)
    feedback = _blocked(chunk)
    if feedback:
        found.append(Finish("content_filter", feedback))
    found += _usage(get(chunk, "usageMetadata", "usage_metadata")) + failure(get(chunk, "error"))
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _blocked(chunk: object) -> str | None:
    """Return why the prompt was refused. There is no candidate then."""
    return string(get(chunk, "promptFeedback", "prompt_feedback"), "blockReason", "block_reason")


def _candidate(chunk: object, candidate: object) -> list[Delta]:
    if not is_record(candidate):
        return [Ignored("candidates")]
    at = number(candidate, "index") or 0
    content = get(candidate, "content")
    found: list[Delta] = []
    role = string(content, "role")
    if role:
        named, model = string(chunk, "responseId", "response_id"), string(chunk, "modelVersion", "model_version")
        found.append(MessageStart("assistant" if role == "model" else role, named or None, model or None, at))
    for part in items(content, "parts"):
        found += _part(part, at)
    return found + finish(candidate, "finishReason", REASONS, at, "finish_reason")


def _part(part: object, at: int) -> list[Delta]:
    if not is_record(part):
        return [Ignored("parts")]
    found = block_text(ReasoningDelta if get(part, "thought") is True else TextDelta, part, "text", choice=at)
    function = get(part, "functionCall", "function_call")
    if is_record(function):
        found += _function_call(function, at)
    elif says(function):
        found.append(Ignored("functionCall"))
    return found + leftovers(part, READ, LEFT_OUT)


def _function_call(function: object, at: int) -> list[Delta]:
    name, named = string(function, "name"), string(function, "id")
    is_done = get(function, "willContinue", "will_continue") is not True
    partial = items(function, "partialArgs", "partial_args")
    if not partial:
        return call(function, "args", id=named, tool=name, kind="function", is_done=is_done, choice=at)
    leaves = [_leaf(leaf) for leaf in partial]
    known = tuple([leaf for leaf in leaves if leaf is not None])
    ignored: list[Delta] = [Ignored("partialArgs") for leaf in leaves if leaf is None]
    return [ToolCallDelta(id=named, name=name, arguments=known, kind="function", is_done=is_done, choice=at), *ignored]


def _leaf(leaf: object) -> Leaf | None:
    path = string(leaf, "jsonPath", "json_path")
    if path is None:
        return None
    value: object = string(leaf, "stringValue", "string_value")
    if value is None:
        for name, other, kinds in (("numberValue", "number_value", (int, float)), ("boolValue", "bool_value", bool)):
            found = get(leaf, name, other)
            if isinstance(found, kinds):
                value = found
        if value is None and get(leaf, "nullValue", "null_value") in {None, MISSING}:
            value = MISSING
    return Leaf(path, value, get(leaf, "willContinue", "will_continue") is True)


def _usage(source: object) -> list[Delta]:
    read = number(source, "promptTokenCount", "prompt_token_count")
    if read is not None:
        read += number(source, "toolUsePromptTokenCount", "tool_use_prompt_token_count") or 0
    written = number(source, "candidatesTokenCount", "candidates_token_count")
    thought = number(source, "thoughtsTokenCount", "thoughts_token_count")
    if written is not None or thought is not None:
        written = (written or 0) + (thought or 0)
    return usage(source, read, written, number(source, "totalTokenCount", "total_token_count"))
