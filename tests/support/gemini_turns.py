"""Turns of Gemini, in parts and in steps, by the rule that each one shows: as they stream, and as they go back."""

from __future__ import annotations

from typing import Any


def content(*parts: Any, reason: str | None = "STOP", **candidate: Any) -> dict[str, Any]:
    """A whole response of Gemini, or the last chunk of one."""
    finish = {} if reason is None else {"finishReason": reason}
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **finish, **candidate}]}


SIGNED: dict[str, list[dict[str, Any]]] = {
    "text": [{"text": "a"}, {"text": "b", "thoughtSignature": "x"}, {"text": "c"}],
    "empty text": [{"text": "a"}, {"text": "", "thoughtSignature": "x"}],
    "thought": [{"text": "a", "thought": True, "thoughtSignature": "x"}, {"text": "b", "thought": True}],
    "thought without text": [{"text": "", "thought": True, "thoughtSignature": "x"}, {"text": "b"}],
    "the first of two calls": [
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "x"},
        {"functionCall": {"name": "f", "args": {"a": 2}}},
    ],
    "call with an id": [{"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": "x"}],
    "call without arguments": [{"functionCall": {"name": "f"}, "thoughtSignature": "x"}],
    "call with empty arguments": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "x"}],
    "tool with empty arguments": [{"toolCall": {"toolType": "FILE_SEARCH", "args": {}, "id": "t"}}],
    "tool without arguments": [{"toolCall": {"toolType": "FILE_SEARCH", "id": "t"}}],
    "code": [
        {"executableCode": {"language": "PYTHON", "code": "1", "id": "c"}, "thoughtSignature": "x"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n", "id": "c"}},
        {"text": "1"},
    ],
    "code that failed": [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED"}},
    ],
    "a search": [
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}, "id": "t"}, "thoughtSignature": "x"},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"a_b": 1}, "id": "t"}, "thoughtSignature": "y"},
        {"text": "a"},
    ],
    "a search without words": [
        {"toolCall": {"toolType": "FILE_SEARCH", "id": "t"}},
        {"toolResponse": {"toolType": "FILE_SEARCH", "id": "t"}},
    ],
    "image": [
        {"inlineData": {"mimeType": "image/png", "data": "aGk=", "displayName": "n"}, "thoughtSignature": "x"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True},
    ],
    "file": [{"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a/b"}, "videoMetadata": {"startOffset": "1s"}}],
    "unknown fields": [
        {"text": "a", "partMetadata": {"some_key": None}},
        {"functionCall": {"name": "f", "args": {}, "new": 1}, "new": {"a": [1]}},
        {"toolCall": {"toolType": "NEW", "args": {"a": 1}, "new": 1}},
        {"inlineData": {"mimeType": "a/b", "data": "aGk=", "new": 1}},
        {"newData": {"a": 1}, "thoughtSignature": "x"},
    ],
}


def step(at: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[Any]:
    """A step of an interaction: its start, its deltas, and its end."""
    return [
        {"event_type": "step.start", "index": at, "step": start},
        *[{"event_type": "step.delta", "index": at, "delta": delta} for delta in deltas],
        {"event_type": "step.stop", "index": at},
    ]


def completed(status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": status, **fields}}


URL = {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 1}
IMAGE = {"type": "image", "mime_type": "image/png", "data": "aGk="}
STEPS: dict[str, tuple[list[Any], list[Any]]] = {
    "thought": (
        step(
            0,
            {"type": "thought"},
            {"type": "thought_summary", "content": {"type": "text", "text": "a"}},
            {"type": "thought_summary", "content": {"type": "text", "text": "b"}},
            {"type": "thought_signature", "signature": "x"},
        ),
        [{"type": "thought", "signature": "x", "summary": [{"type": "text", "text": "ab"}]}],
    ),
    "thought with an image": (
        step(
            0,
            {"type": "thought", "signature": ""},
            {"type": "thought_summary", "content": {"type": "text", "text": "a"}},
            {"type": "thought_summary", "content": IMAGE},
        ),
        [{"type": "thought", "signature": "", "summary": [{"type": "text", "text": "a"}, IMAGE]}],
    ),
    "text with annotations": (
        step(
            1,
            {"type": "model_output"},
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b"},
            {"type": "text_annotation_delta", "annotations": [URL]},
        ),
        [{"type": "model_output", "content": [{"type": "text", "text": "ab", "annotations": [URL]}]}],
    ),
    "texts and images of one step": (
        step(
            0,
            {"type": "model_output"},
            {"type": "text", "text": "a"},
            IMAGE,
            {"type": "text", "text": "b"},
            {**IMAGE, "data": "aG8="},
            {"type": "document", "uri": "u"},
        ),
        [
            {
                "type": "model_output",
                "content": [
                    {"type": "text", "text": "a"},
                    IMAGE,
                    {"type": "text", "text": "b"},
                    {**IMAGE, "data": "aG8="},
                    {"type": "document", "uri": "u"},
                ],
            }
        ],
    ),
    "texts of two steps": (
        [
            *step(0, {"type": "model_output"}, {"type": "text", "text": "a"}),
            *step(1, {"type": "model_output"}, {"type": "text", "text": "b"}),
            *step(2, {"type": "model_output"}, IMAGE),
        ],
        [
            {"type": "model_output", "content": [{"type": "text", "text": "a"}]},
            {"type": "model_output", "content": [{"type": "text", "text": "b"}]},
            {"type": "model_output", "content": [IMAGE]},
        ],
    ),
    "audio in pieces": (
        step(
            0,
            {"type": "model_output"},
            {"type": "audio", "mime_type": "audio/l16", "data": "aGk=", "sample_rate": 24000},
            {"type": "audio", "data": "aG8="},
        ),
        [
            {
                "type": "model_output",
                "content": [{"type": "audio", "mime_type": "audio/l16", "data": "aGlobw==", "sample_rate": 24000}],
            }
        ],
    ),
    "call": (
        step(
            0,
            {"type": "function_call", "id": "f1", "name": "f", "arguments": {}, "signature": ""},
            {"type": "arguments_delta", "arguments": '{"a":'},
            {"type": "arguments_delta", "arguments": "1}"},
        ),
        [{"type": "function_call", "id": "f1", "name": "f", "arguments": {"a": 1}, "signature": ""}],
    ),
    "call without arguments": (
        step(0, {"type": "function_call", "id": "f1", "name": "f", "arguments": {}}),
        [{"type": "function_call", "id": "f1", "name": "f", "arguments": {}}],
    ),
    "a search": (
        [
            *step(
                0,
                {"type": "google_search_call", "id": "g", "arguments": {}, "search_type": "web_search"},
                {"type": "google_search_call", "arguments": {"queries": ["x"]}, "signature": "x"},
            ),
            *step(
                1,
                {"type": "google_search_result", "call_id": "g", "result": []},
                {"type": "google_search_result", "result": [], "is_error": False},
                {"type": "google_search_result", "result": [{"search_suggestions": "s"}], "signature": "y"},
            ),
        ],
        [
            {
                "type": "google_search_call",
                "id": "g",
                "arguments": {"queries": ["x"]},
                "search_type": "web_search",
                "signature": "x",
            },
            {
                "type": "google_search_result",
                "call_id": "g",
                "result": [{"search_suggestions": "s"}],
                "is_error": False,
                "signature": "y",
            },
        ],
    ),
    "code": (
        [
            *step(0, {"type": "code_execution_call", "id": "c", "arguments": {"code": "1", "language": "python"}}),
            *step(
                1,
                {"type": "code_execution_result", "call_id": "c", "result": ""},
                {"type": "code_execution_result", "result": "1"},
            ),
        ],
        [
            {"type": "code_execution_call", "id": "c", "arguments": {"code": "1", "language": "python"}},
            {"type": "code_execution_result", "call_id": "c", "result": "1"},
        ],
    ),
    "a tool of a server": (
        [
            *step(
                0, {"type": "mcp_server_tool_call", "id": "m", "name": "f", "server_name": "s", "arguments": {"a": 1}}
            ),
            *step(1, {"type": "mcp_server_tool_result", "call_id": "m", "name": "f", "result": "r"}),
        ],
        [
            {"type": "mcp_server_tool_call", "id": "m", "name": "f", "server_name": "s", "arguments": {"a": 1}},
            {"type": "mcp_server_tool_result", "call_id": "m", "name": "f", "result": "r"},
        ],
    ),
    "steps without fields": (
        [
            *step(0, {"type": "file_search_call", "id": "s", "signature": "x"}),
            *step(1, {"type": "file_search_result", "call_id": "s"}),
        ],
        [
            {"type": "file_search_call", "id": "s", "signature": "x"},
            {"type": "file_search_result", "call_id": "s"},
        ],
    ),
    "unknown step": (step(0, {"type": "new", "a": [1]}), [{"type": "new", "a": [1]}]),
}
