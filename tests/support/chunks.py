"""Chunks of every wire format by the rule that each one shows, and what they say."""

from __future__ import annotations

import json
from typing import Any
from zlib import crc32

from unspool import MISSING
from unspool.llm._deltas import (
    BlockEnd,
    BlockStart,
    Delta,
    Finish,
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

Examples = dict[str, tuple[Any, list[Delta]]]


def chat(delta: Any = None, /, **choice: Any) -> Any:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, **choice}]}


def tool(**call: Any) -> Any:
    return chat({"tool_calls": [call]})


def function(**fields: Any) -> Any:
    return tool(index=0, function=fields)


NAMED = MessageStart(None, "c1", "m")
"""The start that a chunk without a role gives, if it has no text."""


def thought(text: str, name: str = "reasoning_content", **more: Any) -> ReasoningDelta:
    return ReasoningDelta(text, (name,), **more)


def detail(**fields: Any) -> Any:
    return chat({"reasoning_details": [{"type": "reasoning.text", "index": 0, **fields}]})


def detail_native(**fields: Any) -> dict[str, object]:
    return {"type": "reasoning.text", "index": 0, **fields}


def one_call(*args: Any, **more: Any) -> list[Delta]:
    return [ToolCallDelta(*args, **({"kind": "function", **more} if len(args) < 5 else more))]


XAI_USAGE: dict[str, object] = {
    "prompt_tokens": 291,
    "completion_tokens": 26,
    "total_tokens": 513,
    "completion_tokens_details": {"reasoning_tokens": 196},
}
ANNOTATION: dict[str, Any] = {
    "type": "url_citation",
    "url_citation": {"url": "https://a", "title": "A", "start_index": 0, "end_index": 2},
}
EXECUTED = one_call(
    MISSING, "executed_tools_0", "search", Whole('{"q": 1}'), "server", is_done=True, native={"type": "search"}
)
CHAT: Examples = {
    "role": (chat({"role": "assistant", "content": ""}), [MessageStart("assistant", "c1", "m")]),
    "role without id": ({"choices": [{"delta": {"role": "assistant"}}]}, [MessageStart("assistant")]),
    "content": (chat({"content": "Hi"}), [TextDelta("Hi")]),
    "content null": (chat({"content": None, "tool_calls": None, "function_call": None}), [NAMED]),
    "content in parts": (
        chat(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
                    {"type": "thinking", "thinking": "m"},
                    {"type": "text", "text": "Hi"},
                    {"type": "reference", "reference_ids": [1]},
                    {"type": "new"},
                    5,
                ]
            }
        ),
        [
            thought("Hm", "thinking"),
            thought("m", "thinking"),
            TextDelta("Hi"),
            PartStart(OpaquePart("reference", None, True, {"type": "reference", "reference_ids": [1]})),
            PartStart(OpaquePart("new", None, True, {"type": "new"})),
            Ignored("content"),
        ],
    ),
    "reasoning": (chat({"reasoning_content": "Hm", "content": ""}), [thought("Hm")]),
    "reasoning by its other name": (
        chat({"reasoning_content": "", "reasoning": "Hm"}),
        [thought("Hm", "reasoning")],
    ),
    "reasoning by its third name": (chat({"reasoning_text": "Hm"}), [thought("Hm", "reasoning_text")]),
    "reasoning twice": (chat({"reasoning_content": "Hm", "reasoning": "Hm"}), [thought("Hm")]),
    "two reasonings": (
        chat({"reasoning_content": "Hm", "reasoning": "Ah"}),
        [thought("Hm"), thought("Ah", "reasoning")],
    ),
    "refusal": (chat({"refusal": "No"}), [RefusalDelta("No")]),
    "another choice": (
        {"choices": [{"index": 1, "delta": {"content": "a"}}, {"index": 0, "delta": {"content": "b"}}]},
        [TextDelta("a", choice=1), TextDelta("b")],
    ),
    "call": (
        tool(index=0, id="call_1", type="function", function={"name": "f", "arguments": ""}),
        one_call(0, "call_1", "f", ""),
    ),
    "call goes on": (function(arguments='{"a"'), one_call(0, None, None, '{"a"')),
    "no index": (tool(id="a", function={"name": "f", "arguments": "{}"}), one_call(MISSING, "a", "f", "{}")),
    "index null": (tool(index=None, function={}), one_call(None)),
    "index as text": (tool(index="0", function={}), one_call("0")),
    "index as a fraction": (tool(index=1.0, function={}), one_call(1)),
    "index of no use": (tool(index=True, function={}), one_call(MISSING)),
    "id empty": (tool(index=0, id="", function={"arguments": "x"}), one_call(0, "", None, "x")),
    "name null": (function(name=None, arguments=None), one_call(0)),
    "arguments as an object": (function(name="f", arguments={"a": [1]}), one_call(0, None, "f", Whole({"a": [1]}))),
    "arguments as a number": (function(arguments=5), [*one_call(0), Ignored("arguments")]),
    "type in capitals": (tool(index=0, type="FUNCTION", function={"name": "f"}), one_call(0, None, "f")),
    "two of one index": (
        chat({"tool_calls": [{"index": 0, "id": "a"}, {"index": 0, "id": "b"}]}),
        [ToolCallDelta(0, "a"), ToolCallDelta(0, "b")],
    ),
    "one call, not in a list": (chat({"tool_calls": {"index": 0, "function": {"name": "f"}}}), one_call(0, None, "f")),
    "call of no shape": (chat({"tool_calls": [None, "x"]}), [Ignored("tool_calls"), Ignored("tool_calls")]),
    "function of no shape": (tool(index=0, id="a", function="f"), [ToolCallDelta(0, "a"), Ignored("function")]),
    "custom tool": (
        tool(index=1, id="c", type="custom", custom={"name": "sql", "input": "SELECT"}),
        [ToolCallDelta(1, "c", "sql", "SELECT", "custom")],
    ),
    "legacy call": (
        chat({"function_call": {"name": "f", "arguments": "{}"}}, finish_reason="function_call"),
        [NAMED, *one_call(MISSING, None, "f", "{}"), Finish("tool_calls", "function_call")],
    ),
    "finish": (chat({}, finish_reason="length"), [NAMED, Finish("length", "length")]),
    "finish without an id": ({"choices": [{"delta": {}, "finish_reason": "stop"}]}, [Finish("stop", "stop")]),
    "finish, none yet": (chat({}, finish_reason=""), [NAMED]),
    "finish of another choice": (
        chat({}, index=1, finish_reason="new"),
        [MessageStart(None, "c1", "m", 1), Finish("other", "new", 1)],
    ),
    "finish of no shape": (chat({}, finish_reason=5), [Ignored("finish_reason")]),
    "usage": (
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
        [Usage(1, 2, 3, {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})],
    ),
    "usage in a choice": (chat({}, usage={"prompt_tokens": 1}), [NAMED, Usage(1, None, None, {"prompt_tokens": 1})]),
    "usage with reasoning beside the completion": (
        {"choices": [], "usage": XAI_USAGE},
        [Usage(291, 222, 513, XAI_USAGE)],
    ),
    "usage with reasoning in the completion": (
        {"choices": [], "usage": {**XAI_USAGE, "total_tokens": 317}},
        [Usage(291, 26, 317, {**XAI_USAGE, "total_tokens": 317})],
    ),
    "usage with another total": (
        {"choices": [], "usage": {**XAI_USAGE, "total_tokens": 514}},
        [Usage(291, 26, 514, {**XAI_USAGE, "total_tokens": 514})],
    ),
    "usage of Groq": (
        {"choices": [], "usage": None, "x_groq": {"usage": {"total_tokens": 3}}},
        [Usage(None, None, 3, {"total_tokens": 3})],
    ),
    "usage, none counted": ({"choices": [], "usage": {"prompt_tokens": None}}, []),
    "content filter": (
        {"choices": [], "object": "", "prompt_filter_results": [{"prompt_index": 0}]},
        [MessageData("prompt_filter_results", [{"prompt_index": 0}])],
    ),
    "content filter with clean results": (
        chat({"content": "Hi"}, content_filter_results={"hate": {"filtered": False, "severity": "safe"}, "self": None}),
        [TextDelta("Hi")],
    ),
    "content filter with results": (
        chat({"content": "Hi"}, content_filter_results={"hate": {"filtered": False, "severity": "low"}}),
        [TextDelta("Hi"), MessageData("content_filter_results", {"hate": {"filtered": False, "severity": "low"}})],
    ),
    "content filter that was not safe": (
        chat({"content": "Hi"}, content_filter_results={"jailbreak": {"filtered": False, "detected": True}}),
        [TextDelta("Hi"), MessageData("content_filter_results", {"jailbreak": {"filtered": False, "detected": True}})],
    ),
    "content filter later": (
        {"object": "", "choices": [{"index": 0, "content_filter_offsets": {"start": 1}, "logprobs": {"content": [1]}}]},
        [Ignored("content_filter_offsets", True), Ignored("logprobs", True)],
    ),
    "a whole message": (
        {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]},
        [TextDelta("Hi"), Finish("stop", "stop")],
    ),
    "a whole message with all": (
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "system_fingerprint": "fp",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "Hi",
                        "refusal": None,
                        "annotations": [],
                        "tool_calls": [
                            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                            {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                        ],
                    },
                    "logprobs": None,
                    "finish_reason": "tool_calls",
                }
            ],
        },
        [
            MessageStart("assistant", "c1", "m"),
            TextDelta("Hi"),
            *one_call(0, "a", "f", "{}"),
            *one_call(1, "b", "f", "{}"),
            Finish("tool_calls", "tool_calls"),
            MessageData("system_fingerprint", "fp"),
        ],
    ),
    "a whole message without a role": (
        {"id": "c1", "model": "m", "choices": [{"message": {"content": "Hi"}}]},
        [NAMED, TextDelta("Hi")],
    ),
    "a message beside its delta": (
        chat({"content": "Hi"}, message={"role": "assistant", "content": "Well, Hi"}),
        [TextDelta("Hi")],
    ),
    "legacy completion": (
        {
            "id": "c1",
            "object": "text_completion",
            "model": "m",
            "choices": [{"index": 0, "text": "Hi", "logprobs": None}],
        },
        [TextDelta("Hi")],
    ),
    "legacy completion ends": (
        {"id": "c1", "model": "m", "choices": [{"index": 0, "text": "", "finish_reason": "length"}]},
        [NAMED, Finish("length", "length")],
    ),
    "a text beside its delta": (chat({"content": "Hi", "token_id": 7}, text="Hi", seed=None), [TextDelta("Hi")]),
    "more in a delta": (
        chat({"content": "Hi", "audio": 5, "new": 1, "annotations": [], "old": None, "channel": "final"}),
        [TextDelta("Hi"), Ignored("audio"), Ignored("new")],
    ),
    "more in a choice": (
        chat({"content": "Hi"}, new=1, native_finish_reason="completed", stop_reason=None),
        [TextDelta("Hi"), Ignored("new"), MessageData("native_finish_reason", "completed")],
    ),
    "more in a chunk": (
        {**chat({"content": "Hi"}), "new": 1, "service_tier": "default", "old": None},
        [TextDelta("Hi"), Ignored("new")],
    ),
    "details of the message": (
        {**chat({"role": "assistant"}), "system_fingerprint": "fp", "service_tier": "default", "provider": "Xy"},
        [
            MessageStart("assistant", "c1", "m"),
            MessageData("system_fingerprint", "fp"),
            MessageData("service_tier", "default"),
            MessageData("provider", "Xy"),
        ],
    ),
    "details of Groq": (
        {**chat({"content": "Hi"}), "x_groq": {"id": "req", "error": "no"}},
        [TextDelta("Hi"), MessageData("x_groq", {"id": "req"}), ProviderError("no", None, "no")],
    ),
    "reasoning in details": (
        chat(
            {
                "content": "",
                "reasoning": "Hm",
                "reasoning_details": [{"type": "reasoning.text", "text": "Hm", "format": "x", "index": 0}],
            }
        ),
        [
            ReasoningDelta("Hm", ("reasoning.text", 0)),
            PartData("", None, ("reasoning.text", 0), detail_native(format="x")),
        ],
    ),
    "reasoning in details and beside them": (
        chat({"reasoning": "Ah", "reasoning_details": [{"type": "reasoning.text", "text": "Hm"}]}),
        [
            ReasoningDelta("Hm", ("reasoning.text", 0)),
            PartData("", None, ("reasoning.text", 0), {"type": "reasoning.text"}),
            thought("Ah", "reasoning"),
        ],
    ),
    "details without text": (detail(text="", signature="", format="x"), [NAMED]),
    "signature alone": (
        detail(signature="sig"),
        [
            PartStart(
                ReasoningPart("", "sig", native=detail_native(signature="sig"), block=("reasoning.text", 0)),
            )
        ],
    ),
    "signature with text": (
        detail(text="Hm", signature="sig"),
        [
            ReasoningDelta("Hm", ("reasoning.text", 0)),
            PartData("signature", "sig", ("reasoning.text", 0), detail_native(signature="sig")),
        ],
    ),
    "summary in details": (
        chat({"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm", "id": "rs", "index": 1}]}),
        [
            ReasoningDelta("Hm", ("reasoning.summary", 1)),
            PartData("", None, ("reasoning.summary", 1), {"type": "reasoning.summary", "id": "rs", "index": 1}),
            PartData("is_summary", True, ("reasoning.summary", 1)),
            PartData("id", "rs", ("reasoning.summary", 1)),
        ],
    ),
    "encrypted reasoning": (
        chat({"reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz", "id": "rs", "index": 0}, 5]}),
        [
            PartStart(
                ReasoningPart(
                    encrypted="xyz",
                    id="rs",
                    is_complete=True,
                    native={"type": "reasoning.encrypted", "data": "xyz", "id": "rs", "index": 0},
                )
            ),
            Ignored("reasoning_details"),
        ],
    ),
    "thinking blocks": (
        chat(
            {
                "reasoning_content": "Hm",
                "thinking_blocks": [{"type": "thinking", "thinking": "Hm", "signature": None}],
            }
        ),
        [
            ReasoningDelta("Hm", ("thinking_blocks",)),
            PartData("", None, ("thinking_blocks",), {"type": "thinking"}),
        ],
    ),
    "thinking block ends": (
        chat({"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "sig"}]}),
        [
            PartStart(ReasoningPart(block=("thinking_blocks",))),
            PartData("signature", "sig", ("thinking_blocks",), {"type": "thinking", "signature": "sig"}),
            BlockEnd(block=("thinking_blocks",)),
        ],
    ),
    "redacted thinking block": (
        chat({"thinking_blocks": [{"type": "redacted_thinking", "data": "xyz"}, None]}),
        [
            PartStart(
                ReasoningPart(encrypted="xyz", is_complete=True, native={"type": "redacted_thinking", "data": "xyz"})
            ),
            Ignored("thinking_blocks"),
        ],
    ),
    "opaque reasoning": (
        chat({"reasoning_opaque": "xyz"}),
        [
            PartStart(
                ReasoningPart(
                    encrypted="xyz",
                    is_complete=True,
                    native={"reasoning_opaque": "xyz"},
                    block=("reasoning_opaque",),
                )
            )
        ],
    ),
    "signature of reasoning": (
        chat({"reasoning_content": "Hm", "reasoning_signature": "sig"}),
        [thought("Hm"), PartData("signature", "sig", (), {"reasoning_signature": "sig"})],
    ),
    "call with a signature": (
        tool(
            index=0,
            id="a",
            type="function",
            function={"name": "f", "arguments": "{}"},
            extra_content={"google": {"thought_signature": "sig"}},
        ),
        one_call(
            0,
            "a",
            "f",
            "{}",
            signature="sig",
            native={"extra_content": {"google": {"thought_signature": "sig"}}},
        ),
    ),
    "call with more fields": (
        tool(index=0, new=1, extra_content={"vertex": {"thought_signature": "sig"}}, function={"name": "f", "old": 2}),
        one_call(
            0,
            None,
            "f",
            signature="sig",
            native={"new": 1, "extra_content": {"vertex": {"thought_signature": "sig"}}, "function": {"old": 2}},
        ),
    ),
    "annotation": (
        chat({"content": "Hi", "annotations": [ANNOTATION, {"type": "file", "file": {"hash": "h"}}, {}]}),
        [
            TextDelta("Hi"),
            PartData("citation", Citation("https://a", "A", None, 0, 2, None, ANNOTATION)),
            PartStart(
                OpaquePart("file", None, True, {"type": "file", "file": {"hash": "h"}}, ("annotations",)),
            ),
            Ignored("annotations"),
        ],
    ),
    "audio": (
        chat({"audio": {"id": "audio_1", "data": "AAAA", "transcript": "Hi", "expires_at": 5}}),
        [
            PartStart(FilePart(id="audio_1", native={"id": "audio_1", "expires_at": 5}, block=("audio", 0))),
            PartData("data", "AAAA", ("audio", 0)),
            PartData("transcript", "Hi", ("audio", 0)),
        ],
    ),
    "audio goes on": (
        chat({"audio": {"data": "AAAA", "transcript": 5}}),
        [PartStart(FilePart(block=("audio", 0))), PartData("data", "AAAA", ("audio", 0)), Ignored("transcript")],
    ),
    "images": (
        chat(
            {
                "images": [
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}, "index": 0},
                    {"type": "image_url", "image_url": "https://a/b.png"},
                    {"type": "image_url"},
                ]
            }
        ),
        [
            PartStart(
                FilePart(
                    "image/png",
                    "AAAA",
                    is_complete=True,
                    native={"type": "image_url", "image_url": {}},
                    block=("images", 0),
                )
            ),
            PartStart(
                FilePart(url="https://a/b.png", is_complete=True, native={"type": "image_url"}, block=("images",))
            ),
            Ignored("images"),
        ],
    ),
    "image in the content": (
        chat({"content": [{"type": "image_url", "image_url": {"url": "https://a", "detail": "low"}}]}),
        [
            PartStart(
                FilePart(
                    url="https://a",
                    is_complete=True,
                    native={"type": "image_url", "image_url": {"detail": "low"}},
                )
            )
        ],
    ),
    "executed tools": (
        chat(
            {
                "executed_tools": [
                    {"index": 0, "type": "search", "arguments": '{"q": 1}'},
                    {
                        "index": 0,
                        "type": "search",
                        "arguments": '{"q": 1}',
                        "output": "Found",
                        "search_results": {"n": 1},
                    },
                    5,
                ]
            }
        ),
        [
            *EXECUTED,
            *EXECUTED,
            PartStart(
                ToolResultPart(
                    "executed_tools_0",
                    "search",
                    "Found",
                    is_complete=True,
                    native={"type": "search", "search_results": {"n": 1}},
                    block=("executed_tools", 0),
                )
            ),
            Ignored("executed_tools"),
        ],
    ),
    "sources": (
        {**chat({"content": "Hi"}), "citations": ["https://a", {"url": "https://b", "title": "B"}, 5]},
        [
            PartStart(SourcePart("https://a", block=("sources", 0))),
            PartStart(
                SourcePart("https://b", "B", native={"url": "https://b", "title": "B"}, block=("sources", 1)),
            ),
            Ignored("citations"),
            TextDelta("Hi"),
        ],
    ),
    "sources with titles": (
        {
            **chat({}),
            "citations": ["https://a"],
            "search_results": [{"url": "https://a", "title": "A", "snippet": "x"}],
        },
        [
            NAMED,
            PartStart(
                SourcePart(
                    "https://a",
                    "A",
                    None,
                    "x",
                    native={"url": "https://a", "title": "A", "snippet": "x"},
                    block=("sources", 0),
                )
            ),
        ],
    ),
    "context of Azure": (
        chat({"context": {"citations": [{"title": "A", "content": "x"}], "intent": "why"}}),
        [
            PartStart(SourcePart(None, "A", None, "x", native={"title": "A", "content": "x"}, block=("sources", 0))),
            MessageData("context", {"intent": "why"}),
        ],
    ),
    "fields of litellm": (
        chat(
            {
                "content": "Hi",
                "provider_specific_fields": {"citation": {"url": "https://a", "cited_text": "x"}, "more": 1},
            }
        ),
        [
            TextDelta("Hi"),
            PartData(
                "citation",
                Citation("https://a", None, "x", native={"url": "https://a", "cited_text": "x"}),
            ),
            MessageData("provider_specific_fields", {"more": 1}),
        ],
    ),
    "delta of no shape": (chat(5), [Ignored("delta")]),
    "choice of no shape": ({"choices": [5]}, [Ignored("choices")]),
    "error": (
        {"id": "c1", "error": {"code": 502, "message": "gone"}, "choices": [{"delta": {}, "finish_reason": "error"}]},
        [
            MessageStart(None, "c1"),
            Finish("error", "error"),
            ProviderError("gone", "502", {"code": 502, "message": "gone"}),
        ],
    ),
    "error in a choice": (chat({}, error={"message": "no"}), [NAMED, ProviderError("no", None, {"message": "no"})]),
    "error as a text": ({"error": "no"}, [ProviderError("no", None, "no")]),
    "error of no shape": ({"error": 5}, [Ignored("error")]),
    "error as the chunk": (
        {"object": "error", "message": "no", "type": "BadRequest"},
        [ProviderError("no", "BadRequest", {"object": "error", "message": "no", "type": "BadRequest"})],
    ),
    "event of the helper": ({"type": "chunk", "chunk": chat({"content": "Hi"})}, [TextDelta("Hi")]),
    "event of the helper that repeats": ({"type": "content.delta", "delta": "Hi", "snapshot": "Hi"}, []),
    "event of the helper without chunk": ({"type": "chunk"}, [Ignored("chunk")]),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}


def response(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "sequence_number": 1, **fields}


def item(kind: str, what: str = "added", **fields: Any) -> Any:
    return response(f"output_item.{what}", output_index=2, item={"type": kind, "id": "fc_1", **fields})


COUNTED: dict[str, object] = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
CITED: dict[str, object] = {"type": "url_citation", "url": "u", "title": "t", "start_index": 1, "end_index": 2}
SAID: dict[str, object] = {"type": "message", "id": "fc_1", "role": "assistant", "status": "completed"}
RESPONSES: Examples = {
    "created": (
        response("created", response={"id": "r1", "model": "m", "status": "in_progress", "output": [], "tools": [{}]}),
        [
            MessageStart("assistant", "r1", "m"),
            MessageData("response", {"id": "r1", "model": "m", "status": "in_progress"}),
        ],
    ),
    "created without a response": (response("created"), [MessageStart("assistant")]),
    "in progress": (
        response("in_progress", response={"id": "r1", "model": "m"}),
        [MessageStart("assistant", "r1", "m")],
    ),
    "text": (
        response("output_text.delta", item_id="i", output_index=1, content_index=0, delta="Hi", logprobs=[]),
        [TextDelta("Hi", (1, 0))],
    ),
    "text with something else": (
        response("output_text.delta", output_index=1, content_index=0, delta="Hi", new=1, old=None),
        [TextDelta("Hi", (1, 0)), Ignored("new")],
    ),
    "text again": (
        response("output_text.done", output_index=1, content_index=0, text="Hi"),
        [TextDelta("Hi", (1, 0), True)],
    ),
    "text of no shape": (response("output_text.delta", delta=5), [Ignored("delta")]),
    "refusal": (response("refusal.delta", output_index=0, content_index=1, delta="No"), [RefusalDelta("No", (0, 1))]),
    "refusal again": (response("refusal.done", output_index=0, refusal="No"), [RefusalDelta("No", (0,), True)]),
    "reasoning": (
        response("reasoning_text.delta", output_index=0, content_index=0, delta="Hm"),
        [ReasoningDelta("Hm", (0, "content", 0))],
    ),
    "summary of reasoning": (
        response("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="Hm"),
        [ReasoningDelta("Hm", (0, "summary", 0))],
    ),
    "summary begins": (
        response("reasoning_summary_part.added", output_index=0, summary_index=0, part={"type": "summary_text"}),
        [PartData("is_summary", True, (0,))],
    ),
    "annotation": (
        response("output_text.annotation.added", output_index=1, content_index=0, annotation=CITED),
        [PartData("citation", Citation("u", "t", None, 1, 2, None, CITED), (1, 0))],
    ),
    "annotation of no shape": (response("output_text.annotation.added", annotation=5), [Ignored("annotation")]),
    "content begins": (response("content_part.added", output_index=1, part={"type": "output_text", "text": ""}), []),
    "content is done": (
        response(
            "content_part.done",
            output_index=1,
            content_index=0,
            part={"type": "output_text", "text": "Hi", "annotations": [CITED]},
        ),
        [
            TextDelta("Hi", (1, 0), True),
            PartData(
                "citations",
                (Citation("u", "t", None, 1, 2, None, CITED),),
                (1, 0),
                {"content": [{"type": "output_text", "annotations": [CITED]}]},
            ),
        ],
    ),
    "content is done, empty": (
        response("content_part.done", output_index=1, content_index=0, part={"type": "output_text", "text": ""}),
        [],
    ),
    "refusal is done": (
        response("content_part.done", output_index=1, content_index=0, part={"type": "refusal", "refusal": "No"}),
        [RefusalDelta("No", (1, 0), True)],
    ),
    "reasoning is done": (
        response("content_part.done", output_index=1, content_index=0, part={"type": "reasoning_text", "text": "Hm"}),
        [ReasoningDelta("Hm", (1, "content", 0), True)],
    ),
    "message": (
        item("message", content=[], role="assistant", phase="commentary"),
        [BlockStart((2,), {"type": "message", "id": "fc_1", "role": "assistant", "phase": "commentary"})],
    ),
    "message is done": (
        item(
            "message",
            "done",
            role="assistant",
            status="completed",
            content=[
                {"type": "output_text", "text": "Hi", "annotations": [CITED], "logprobs": [], "parsed": {"a": 1}},
                {"type": "refusal", "refusal": "No", "more": 1},
            ],
        ),
        [
            PartStart(
                TextPart(
                    "Hi",
                    (Citation("u", "t", None, 1, 2, None, CITED),),
                    "fc_1",
                    True,
                    {**SAID, "content": [{"type": "output_text", "annotations": [CITED], "logprobs": []}]},
                    (2, 0),
                )
            ),
            PartStart(RefusalPart("No", "fc_1", True, {**SAID, "content": [{"type": "refusal", "more": 1}]}, (2, 1))),
        ],
    ),
    "message is cut off": (
        item("message", "done", status="incomplete", content=[{"type": "output_text", "text": "Hi"}]),
        [
            PartStart(
                TextPart(
                    "Hi",
                    (),
                    "fc_1",
                    False,
                    {"type": "message", "id": "fc_1", "status": "incomplete", "content": [{"type": "output_text"}]},
                    (2, 0),
                )
            )
        ],
    ),
    "message with content unknown": (
        item("message", "done", content=[{"type": "new", "text": "Hi"}, 5, {"type": "output_text", "text": 5}]),
        [
            PartStart(
                OpaquePart(
                    "new",
                    "fc_1",
                    True,
                    {"type": "message", "id": "fc_1", "content": [{"type": "new", "text": "Hi"}]},
                    (2, 0),
                )
            ),
            Ignored("new"),
            PartStart(
                OpaquePart("content", "fc_1", True, {"type": "message", "id": "fc_1", "content": [5]}, (2, 1)),
            ),
            Ignored("content"),
            PartStart(
                TextPart(
                    "",
                    (),
                    "fc_1",
                    True,
                    {"type": "message", "id": "fc_1", "content": [{"type": "output_text", "text": 5}]},
                    (2, 2),
                )
            ),
            Ignored("text"),
        ],
    ),
    "message without content": (
        item("message", "done", content=[]),
        [PartStart(OpaquePart("message", "fc_1", True, {"type": "message", "id": "fc_1", "content": []}, (2,)))],
    ),
    "reasoning item": (
        item("reasoning", summary=[], encrypted_content="x"),
        [
            PartStart(
                ReasoningPart(
                    "",
                    None,
                    "x",
                    False,
                    "fc_1",
                    False,
                    {"type": "reasoning", "id": "fc_1", "summary": [], "encrypted_content": "x"},
                    (2,),
                )
            )
        ],
    ),
    "reasoning item is done": (
        item(
            "reasoning",
            "done",
            summary=[{"type": "summary_text", "text": "Hm"}, {"type": "summary_text", "text": ""}],
            content=[{"type": "reasoning_text", "text": "Well", "more": 1}],
            encrypted_content=None,
        ),
        [
            PartStart(
                ReasoningPart(
                    "",
                    None,
                    None,
                    True,
                    "fc_1",
                    False,
                    {
                        "type": "reasoning",
                        "id": "fc_1",
                        "summary": [{"type": "summary_text"}, {"type": "summary_text"}],
                        "content": [{"type": "reasoning_text", "more": 1}],
                        "encrypted_content": None,
                    },
                    (2,),
                )
            ),
            ReasoningDelta("Hm", (2, "summary", 0), True),
            ReasoningDelta("Well", (2, "content", 0), True),
            BlockEnd(block=(2,)),
        ],
    ),
    "reasoning item is cut off": (
        item("reasoning", "done", summary=None, status="incomplete"),
        [
            PartStart(
                ReasoningPart(
                    "",
                    None,
                    None,
                    False,
                    "fc_1",
                    False,
                    {"type": "reasoning", "id": "fc_1", "summary": None, "status": "incomplete"},
                    (2,),
                )
            )
        ],
    ),
    "call": (
        item("function_call", call_id="call_1", name="f", arguments="", status="in_progress", namespace="n"),
        one_call(
            *(2, "call_1", "f"),
            counts_blocks=True,
            native={
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "f",
                "status": "in_progress",
                "namespace": "n",
            },
        ),
    ),
    "call without a call id": (
        item("function_call", call_id="", name="f"),
        one_call(
            *(2, "fc_1", "f"),
            counts_blocks=True,
            native={"type": "function_call", "id": "fc_1", "call_id": "", "name": "f"},
        ),
    ),
    "arguments": (
        response("function_call_arguments.delta", item_id="fc_9", output_index=2, delta='{"a'),
        one_call(2, None, None, '{"a', counts_blocks=True),
    ),
    "arguments again": (
        response("function_call_arguments.done", output_index=2, name="f", arguments="{}"),
        one_call(2, None, "f", Whole("{}"), is_done=True, counts_blocks=True),
    ),
    "call is done": (
        item(
            *("function_call", "done"),
            call_id="call_1",
            name="f",
            arguments="{}",
            status="completed",
            parsed_arguments={},
        ),
        one_call(
            *(2, "call_1", "f", Whole("{}")),
            is_done=True,
            counts_blocks=True,
            native={"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "status": "completed"},
        ),
    ),
    "call is cut off": (
        item("function_call", "done", call_id="call_1", name="f", arguments='{"a', status="incomplete"),
        one_call(
            *(2, "call_1", "f", Whole('{"a')),
            counts_blocks=True,
            native={"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "status": "incomplete"},
        ),
    ),
    "call with arguments of no shape": (
        item("function_call", "done", call_id="c", name="f", arguments=5),
        [
            *one_call(
                *(2, "c", "f"),
                is_done=True,
                counts_blocks=True,
                native={"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": 5},
            ),
            Ignored("arguments"),
        ],
    ),
    "custom tool": (
        response("custom_tool_call_input.delta", output_index=2, delta="SELECT"),
        [ToolCallDelta(2, None, None, "SELECT", "custom", counts_blocks=True)],
    ),
    "custom tool is done": (
        item("custom_tool_call", "done", call_id="c", name="sql", input="SELECT 1"),
        [
            ToolCallDelta(
                *(2, "c", "sql", Whole("SELECT 1"), "custom", True, True),
                native={"type": "custom_tool_call", "id": "fc_1", "call_id": "c", "name": "sql"},
            )
        ],
    ),
    "custom tool that the provider runs": (
        item("custom_tool_call", call_id="xs_call_1", name="x_keyword_search", input=""),
        [
            ToolCallDelta(
                *(2, "xs_call_1", "x_keyword_search", None, "server", False, True),
                native={
                    "type": "custom_tool_call",
                    "id": "fc_1",
                    "call_id": "xs_call_1",
                    "name": "x_keyword_search",
                },
            )
        ],
    ),
    "input of a custom tool that the provider runs": (
        response("custom_tool_call_input.delta", item_id="ctc_1_xs_call_1", output_index=2, delta="{"),
        [ToolCallDelta(2, None, None, "{", "server", counts_blocks=True)],
    ),
    "tool that the provider runs": (
        item("mcp_call", name="echo", arguments=""),
        [
            ToolCallDelta(
                *(2, "fc_1", "echo", None, "server", False, True),
                native={"type": "mcp_call", "id": "fc_1", "name": "echo"},
            )
        ],
    ),
    "web search": (
        item("web_search_call"),
        [
            ToolCallDelta(
                *(2, "fc_1", "web_search", None, "server", False, True),
                native={"type": "web_search_call", "id": "fc_1"},
            )
        ],
    ),
    "web search is done": (
        item("web_search_call", "done", status="completed", action={"type": "search", "query": "q"}),
        [
            ToolCallDelta(
                *(2, "fc_1", "web_search", Whole({"type": "search", "query": "q"}), "server", True, True),
                native={
                    "type": "web_search_call",
                    "id": "fc_1",
                    "status": "completed",
                    "action": {"type": "search", "query": "q"},
                },
            )
        ],
    ),
    "web search of xAI": (
        item("web_search_call", "done", name="web_search_with_snippets", call_id="", arguments='{"query":"q"}'),
        [
            ToolCallDelta(
                *(2, "fc_1", "web_search_with_snippets", Whole('{"query":"q"}'), "server", True, True),
                native={
                    "type": "web_search_call",
                    "id": "fc_1",
                    "name": "web_search_with_snippets",
                    "call_id": "",
                    "arguments": '{"query":"q"}',
                },
            )
        ],
    ),
    "file search is done": (
        item("file_search_call", "done", queries=["q"], results=None),
        [
            ToolCallDelta(
                *(2, "fc_1", "file_search", Whole({"queries": ["q"]}), "server", True, True),
                native={"type": "file_search_call", "id": "fc_1", "queries": ["q"], "results": None},
            )
        ],
    ),
    "search without arguments": (
        item("web_search_call", "done", status="failed"),
        [
            ToolCallDelta(
                *(2, "fc_1", "web_search", Whole({}), "server", True, True),
                native={"type": "web_search_call", "id": "fc_1", "status": "failed"},
            )
        ],
    ),
    "arguments of no shape": (
        item("web_search_call", "done", action=5),
        [
            ToolCallDelta(
                *(2, "fc_1", "web_search", None, "server", True, True),
                native={"type": "web_search_call", "id": "fc_1", "action": 5},
            ),
            Ignored("action"),
        ],
    ),
    "code": (
        response("code_interpreter_call_code.delta", output_index=2, delta="x"),
        [ToolCallDelta(2, None, None, (Leaf("$.code", "x", True),), "server", counts_blocks=True)],
    ),
    "code again": (
        response("code_interpreter_call_code.done", output_index=2, code="x"),
        [ToolCallDelta(2, None, None, (Leaf("$.code", ""),), "server", is_done=True, counts_blocks=True)],
    ),
    "code of no shape": (response("code_interpreter_call_code.delta", delta=5), [Ignored("delta")]),
    "patch": (
        item("apply_patch_call", "done", call_id="c", operation={"type": "delete_file", "path": "a"}),
        [
            ToolCallDelta(
                *(2, "c", "apply_patch", Whole({"type": "delete_file", "path": "a"}), "builtin", True, True),
                native={
                    "type": "apply_patch_call",
                    "id": "fc_1",
                    "call_id": "c",
                    "operation": {"type": "delete_file", "path": "a"},
                },
            )
        ],
    ),
    "patch grows": (
        response("apply_patch_call_operation_diff.delta", output_index=2, delta="x"),
        [Ignored("response.apply_patch_call_operation_diff.delta", True)],
    ),
    "shell": (
        item("shell_call", call_id="c", action={"commands": []}, environment={"type": "local"}),
        [
            ToolCallDelta(
                *(2, "c", "shell", None, "builtin", False, True),
                native={
                    "type": "shell_call",
                    "id": "fc_1",
                    "call_id": "c",
                    "action": {"commands": []},
                    "environment": {"type": "local"},
                },
            )
        ],
    ),
    "shell in a container": (
        item("shell_call", call_id="c", environment={"type": "container_reference"}),
        [
            ToolCallDelta(
                *(2, "c", "shell", None, "server", False, True),
                native={
                    "type": "shell_call",
                    "id": "fc_1",
                    "call_id": "c",
                    "environment": {"type": "container_reference"},
                },
            )
        ],
    ),
    "local shell": (
        item("local_shell_call", call_id="c", status="in_progress"),
        [
            ToolCallDelta(
                *(2, "c", "local_shell", None, "builtin", False, True),
                native={"type": "local_shell_call", "id": "fc_1", "call_id": "c", "status": "in_progress"},
            )
        ],
    ),
    "computer": (
        item("computer_call", "done", call_id="c", actions=[{"type": "screenshot"}], pending_safety_checks=[]),
        [
            ToolCallDelta(
                *(2, "c", "computer", Whole([{"type": "screenshot"}]), "builtin", True, True),
                native={
                    "type": "computer_call",
                    "id": "fc_1",
                    "call_id": "c",
                    "pending_safety_checks": [],
                    "actions": [{"type": "screenshot"}],
                },
            )
        ],
    ),
    "tool search by the application": (
        item("tool_search_call", "done", call_id="c", execution="client", arguments={"goal": "g"}),
        [
            ToolCallDelta(
                *(2, "c", "tool_search", Whole({"goal": "g"}), "builtin", True, True),
                native={
                    "type": "tool_search_call",
                    "id": "fc_1",
                    "call_id": "c",
                    "execution": "client",
                    "arguments": {"goal": "g"},
                },
            )
        ],
    ),
    "tool search by the provider": (
        item("tool_search_call", call_id=None),
        [
            ToolCallDelta(
                *(2, None, "tool_search", None, "server", False, True),
                native={"type": "tool_search_call", "id": "fc_1", "call_id": None},
            )
        ],
    ),
    "result": (
        item("shell_call_output", "done", call_id="c", output=[{"stdout": "x"}]),
        [
            PartStart(
                ToolResultPart(
                    *("c", "shell", [{"stdout": "x"}], False, "fc_1", True),
                    {"type": "shell_call_output", "id": "fc_1", "call_id": "c", "output": [{"stdout": "x"}]},
                    (2,),
                )
            )
        ],
    ),
    "image begins": (
        item("image_generation_call", status="in_progress", result=None),
        [
            PartStart(
                FilePart(
                    id="fc_1",
                    native={"type": "image_generation_call", "id": "fc_1", "status": "in_progress"},
                    block=(2,),
                )
            )
        ],
    ),
    "image in part": (
        response("image_generation_call.partial_image", output_index=2, partial_image_b64="AA==", size="1x1"),
        [PartData("whole_data", "AA==", (2,))],
    ),
    "image": (
        item("image_generation_call", "done", status="completed", result="AAA=", output_format="webp"),
        [
            PartStart(
                FilePart(
                    *("image/webp", "AAA="),
                    id="fc_1",
                    is_complete=True,
                    native={
                        "type": "image_generation_call",
                        "id": "fc_1",
                        "status": "completed",
                        "output_format": "webp",
                    },
                    block=(2,),
                )
            )
        ],
    ),
    "image that failed": (
        item("image_generation_call", "done", status="failed", result=None),
        [
            PartStart(
                FilePart(
                    id="fc_1",
                    native={"type": "image_generation_call", "id": "fc_1", "status": "failed", "result": None},
                    block=(2,),
                )
            )
        ],
    ),
    "audio": (
        response("audio.delta", delta="AAA="),
        [PartStart(FilePart(block=("audio", 0))), PartData("data", "AAA=", ("audio", 0))],
    ),
    "transcript of audio": (
        response("audio.transcript.delta", delta="Hi"),
        [PartStart(FilePart(block=("audio", 0))), PartData("transcript", "Hi", ("audio", 0))],
    ),
    "audio is done": (response("audio.done"), [BlockEnd(block=("audio", 0))]),
    "request for approval": (
        item("mcp_approval_request", "done", name="f", arguments="{}"),
        [
            PartStart(
                OpaquePart(
                    *("mcp_approval_request", "fc_1", True),
                    {"type": "mcp_approval_request", "id": "fc_1", "name": "f", "arguments": "{}"},
                    (2,),
                )
            )
        ],
    ),
    "item unknown": (
        item("new", more=[1]),
        [PartStart(OpaquePart("new", "fc_1", False, {"type": "new", "id": "fc_1", "more": [1]}, (2,))), Ignored("new")],
    ),
    "item of no shape": (response("output_item.added", item=5), [Ignored("item")]),
    "item without an index": (
        response("output_item.done", item={"type": "compaction"}),
        [PartStart(OpaquePart("compaction", None, True, {"type": "compaction"}))],
    ),
    "event left out": (
        response("web_search_call.searching", output_index=2),
        [Ignored("response.web_search_call.searching", True)],
    ),
    "event unknown": (response("new.delta", delta="x"), [Ignored("response.new.delta")]),
    "event of a known family, unknown": (response("output_text.new"), [Ignored("response.output_text.new")]),
    "completed": (
        response("completed", response={"output": [], "usage": COUNTED, "model": "m"}),
        [
            Finish("stop", "completed"),
            Usage(1, 2, 3, COUNTED),
            MessageData("response", {"model": "m"}),
        ],
    ),
    "completed with items": (
        response(
            "completed",
            response={
                "output": [
                    {"type": "compaction", "id": "c"},
                    {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
                ]
            },
        ),
        [
            Recount(("c", None)),
            PartStart(OpaquePart("compaction", "c", True, {"type": "compaction", "id": "c"}, (0,))),
            PartStart(
                TextPart("Hi", (), None, True, {"type": "message", "content": [{"type": "output_text"}]}, (1, 0))
            ),
            Finish("stop", "completed"),
        ],
    ),
    "completed with calls": (
        response("completed", response={"output": [{"type": "function_call", "call_id": "c", "name": "f"}]}),
        [
            Recount((None,)),
            *one_call(
                *(0, "c", "f"),
                is_done=True,
                counts_blocks=True,
                native={"type": "function_call", "call_id": "c", "name": "f"},
            ),
            Finish("tool_calls", "completed"),
        ],
    ),
    "completed with a request for approval": (
        response("completed", response={"output": [{"type": "mcp_approval_request"}]}),
        [
            Recount((None,)),
            PartStart(
                OpaquePart("mcp_approval_request", None, True, {"type": "mcp_approval_request"}, (0,)),
            ),
            Finish("tool_calls", "completed"),
        ],
    ),
    "completed with something else": (
        response("completed", response={}, copilot_usage={"tokens": 1}),
        [Finish("stop", "completed"), MessageData("copilot_usage", {"tokens": 1})],
    ),
    "completed, and yet not": (
        response("completed", response={"status": "incomplete"}),
        [Finish("other", "incomplete"), MessageData("response", {"status": "incomplete"})],
    ),
    "incomplete": (
        response("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}),
        [
            Finish("length", "max_output_tokens"),
            MessageData("response", {"incomplete_details": {"reason": "max_output_tokens"}}),
        ],
    ),
    "incomplete without a reason": (response("incomplete", response={}), [Finish("other", "incomplete")]),
    "failed": (
        response("failed", response={"error": {"code": "server_error", "message": "no"}}),
        [
            Finish("error", "failed"),
            ProviderError("no", "server_error", {"code": "server_error", "message": "no"}),
            MessageData("response", {"error": {"code": "server_error", "message": "no"}}),
        ],
    ),
    "cancelled": (response("cancelled", response={}), [Finish("cancelled", "cancelled")]),
    "not streamed": (
        {
            "id": "r1",
            "object": "response",
            "model": "m",
            "status": "completed",
            "usage": COUNTED,
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
        },
        [
            MessageStart("assistant", "r1", "m"),
            PartStart(
                TextPart("Hi", (), None, True, {"type": "message", "content": [{"type": "output_text"}]}, (0, 0))
            ),
            Finish("stop", "completed"),
            Usage(1, 2, 3, COUNTED),
            MessageData("response", {"id": "r1", "object": "response", "model": "m", "status": "completed"}),
        ],
    ),
    "not streamed, still running": (
        {"object": "response", "status": "queued", "output": []},
        [MessageStart("assistant"), MessageData("response", {"object": "response", "status": "queued"})],
    ),
    "error": (
        {"type": "error", "code": "E1", "message": "no", "param": None},
        [ProviderError("no", "E1", {"type": "error", "code": "E1", "message": "no", "param": None})],
    ),
    "error inside": (
        {"type": "error", "sequence_number": 3, "error": {"type": "t", "message": "no"}},
        [ProviderError("no", "t", {"type": "t", "message": "no"})],
    ),
    "keepalive": ({"type": "keepalive", "sequence_number": 3}, []),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}


def block_start(kind: str, **fields: Any) -> Any:
    return {"type": "content_block_start", "index": 1, "content_block": {"type": kind, **fields}}


def block_delta(kind: str, **fields: Any) -> Any:
    return {"type": "content_block_delta", "index": 1, "delta": {"type": kind, **fields}}


CACHED: dict[str, object] = {
    "input_tokens": 5,
    "cache_creation_input_tokens": 10,
    "cache_read_input_tokens": 3,
    "output_tokens": 1,
}
WEB = {"type": "web_search_result_location", "url": "u", "title": "t", "cited_text": "c", "encrypted_index": "e"}
PAGES = {"type": "page_location", "document_index": 2, "document_title": "d", "cited_text": "c", "start_page_number": 1}
SEARCH = {"type": "search_result_location", "source": "s", "title": None, "search_result_index": 0}
CALLED = {"type": "code_execution_20250825", "tool_id": "s1"}


def used(**fields: Any) -> Any:
    return {"type": "message_delta", "delta": {}, "usage": fields}


ANTHROPIC: Examples = {
    "message start": (
        {
            "type": "message_start",
            "message": {
                "id": "m1",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "usage": CACHED,
            },
        },
        [
            MessageStart("assistant", "m1", "m"),
            Usage(18, 1, None, CACHED),
        ],
    ),
    "whole message at the start": (
        {
            "type": "message_start",
            "message": {
                "id": "m1",
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}, "caller": CALLED},
                ],
                "stop_reason": "tool_use",
                "container": {"id": "c1"},
            },
        },
        [
            MessageStart("assistant", "m1"),
            PartStart(TextPart("Hi", native={"type": "text"}, block=(0,))),
            BlockEnd(0),
            *one_call(
                *(1, "t1", "f", Whole({"a": 1})),
                counts_blocks=True,
                native={"type": "tool_use", "id": "t1", "name": "f", "caller": CALLED},
            ),
            BlockEnd(1),
            MessageData("container", {"id": "c1"}),
            Finish("tool_calls", "tool_use"),
        ],
    ),
    "message that was not streamed": (
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}, {"type": "text", "text": "Hi"}],
            "stop_reason": "stop_sequence",
            "stop_sequence": "END",
            "usage": CACHED,
        },
        [
            MessageStart("assistant", "m1", "m"),
            PartStart(ReasoningPart("Hm", "s", native={"type": "thinking", "signature": "s"}, block=(0,))),
            BlockEnd(0),
            PartStart(TextPart("Hi", native={"type": "text"}, block=(1,))),
            BlockEnd(1),
            MessageData("stop_sequence", "END"),
            Finish("stop", "stop_sequence"),
            Usage(18, 1, None, CACHED),
        ],
    ),
    "message of no shape": ({"type": "message_start", "message": 5}, [Ignored("message")]),
    "message with unknown fields": (
        {"type": "message_start", "message": {"role": "assistant", "new": {"a": 1}}, "newer": 1},
        [MessageStart("assistant"), MessageData("new", {"a": 1}), Ignored("newer")],
    ),
    "text": (block_delta("text_delta", text="Hi"), [TextDelta("Hi", (1,))]),
    "text starts": (block_start("text", text=""), [PartStart(TextPart(native={"type": "text"}, block=(1,)))]),
    "text starts with text": (
        block_start("text", text="Hi"),
        [PartStart(TextPart("Hi", native={"type": "text"}, block=(1,)))],
    ),
    "text without citations": (
        block_start("text", text="", citations=[]),
        [PartStart(TextPart(native={"type": "text", "citations": []}, block=(1,)))],
    ),
    "text with citations": (
        block_start("text", text="Hi", citations=[WEB, 5], new=[1]),
        [
            PartStart(
                TextPart("Hi", (Citation("u", "t", "c", native=WEB),), None, False, {"type": "text", "new": [1]}, (1,))
            ),
            Ignored("citations"),
        ],
    ),
    "text of no shape": (
        block_start("text", text=5),
        [PartStart(TextPart(native={"type": "text"}, block=(1,))), Ignored("text")],
    ),
    "citation of the web": (
        block_delta("citations_delta", citation=WEB),
        [PartData("citation", Citation("u", "t", "c", native=WEB), (1,))],
    ),
    "citation of a document": (
        block_delta("citations_delta", citation=PAGES),
        [PartData("citation", Citation(None, "d", "c", source_id="2", native=PAGES), (1,))],
    ),
    "citation of a search result": (
        block_delta("citations_delta", citation=SEARCH),
        [PartData("citation", Citation(source_id="s", native=SEARCH), (1,))],
    ),
    "citation of no shape": (block_delta("citations_delta", citation=5), [Ignored("citation")]),
    "thinking": (block_delta("thinking_delta", thinking="Hm"), [ReasoningDelta("Hm", (1,))]),
    "thinking with an estimate": (block_delta("thinking_delta", thinking="", estimated_tokens=50), []),
    "thinking starts": (
        block_start("thinking", thinking="", signature=""),
        [PartStart(ReasoningPart(native={"type": "thinking", "signature": ""}, block=(1,)))],
    ),
    "signature": (
        block_delta("signature_delta", signature="x"),
        [PartData("signature", "x", (1,), {"signature": "x"})],
    ),
    "signature of no shape": (block_delta("signature_delta", signature=[1]), [Ignored("signature")]),
    "thinking that is redacted": (
        block_start("redacted_thinking", data="x"),
        [PartStart(ReasoningPart(encrypted="x", native={"type": "redacted_thinking", "data": "x"}, block=(1,)))],
    ),
    "call": (
        block_start("tool_use", id="t1", name="f", input={}),
        one_call(1, "t1", "f", counts_blocks=True, native={"type": "tool_use", "id": "t1", "name": "f"}),
    ),
    "call with its input": (
        block_start("tool_use", id="t1", name="f", input={"a": 1}, toolset_name="x"),
        one_call(
            *(1, "t1", "f", Whole({"a": 1})),
            counts_blocks=True,
            native={"type": "tool_use", "id": "t1", "name": "f", "toolset_name": "x"},
        ),
    ),
    "tool that the provider runs": (
        block_start("server_tool_use", id="t1", name="web_search", input={}),
        one_call(
            *(1, "t1", "web_search"),
            kind="server",
            counts_blocks=True,
            native={"type": "server_tool_use", "id": "t1", "name": "web_search"},
        ),
    ),
    "tool of another server": (
        block_start("mcp_tool_use", id="t1", name="f", input={}, server_name="x"),
        one_call(
            *(1, "t1", "f"),
            kind="server",
            counts_blocks=True,
            native={"type": "mcp_tool_use", "id": "t1", "name": "f", "server_name": "x"},
        ),
    ),
    "input": (
        block_delta("input_json_delta", partial_json='{"a'),
        [ToolCallDelta(1, None, None, '{"a', counts_blocks=True)],
    ),
    "result of a tool": (
        block_start("web_search_tool_result", tool_use_id="t1", content=[{"encrypted_content": "x"}], caller=CALLED),
        [
            PartStart(
                ToolResultPart(
                    *("t1", "web_search", [{"encrypted_content": "x"}], False),
                    native={"type": "web_search_tool_result", "tool_use_id": "t1", "caller": CALLED},
                    block=(1,),
                )
            )
        ],
    ),
    "result without content": (
        block_start("web_search_tool_result"),
        [PartStart(ToolResultPart(name="web_search", native={"type": "web_search_tool_result"}, block=(1,)))],
    ),
    "result that is an error": (
        block_start("web_fetch_tool_result", tool_use_id="t1", content={"type": "web_fetch_tool_result_error"}),
        [
            PartStart(
                ToolResultPart(
                    *("t1", "web_fetch", {"type": "web_fetch_tool_result_error"}, True),
                    native={"type": "web_fetch_tool_result", "tool_use_id": "t1"},
                    block=(1,),
                )
            )
        ],
    ),
    "result of another server": (
        block_start("mcp_tool_result", tool_use_id="t1", content="no", is_error=True),
        [
            PartStart(
                ToolResultPart(
                    *("t1", None, "no", True),
                    native={"type": "mcp_tool_result", "tool_use_id": "t1", "is_error": True},
                    block=(1,),
                )
            )
        ],
    ),
    "file": (
        block_start("container_upload", file_id="f1"),
        [PartStart(FilePart(file_id="f1", native={"type": "container_upload", "file_id": "f1"}, block=(1,)))],
    ),
    "compaction starts": (
        block_start("compaction", content=None),
        [PartStart(OpaquePart("compaction", native={"type": "compaction", "content": None}, block=(1,)))],
    ),
    "compaction": (
        block_delta("compaction_delta", content="c", encrypted_content=None),
        [PartData("", None, (1,), {"content": "c", "encrypted_content": None})],
    ),
    "fallback": (
        block_start("fallback", **{"from": {"model": "a"}, "to": {"model": "b"}}),
        [
            PartStart(
                OpaquePart(
                    "fallback",
                    native={"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
                    block=(1,),
                )
            )
        ],
    ),
    "block unknown": (
        block_start("new", id="n1", data={"a": [None]}),
        [
            PartStart(OpaquePart("new", "n1", native={"type": "new", "id": "n1", "data": {"a": [None]}}, block=(1,))),
            Ignored("new"),
        ],
    ),
    "block of no shape": ({"type": "content_block_start"}, [Ignored("content_block")]),
    "block without a type": (
        {"type": "content_block_start", "index": 1, "content_block": {"text": "Hi"}},
        [Ignored("content_block")],
    ),
    "delta unknown": (block_delta("new"), [Ignored("new")]),
    "delta of no shape": ({"type": "content_block_delta", "delta": 5}, [Ignored("delta")]),
    "delta with unknown fields": (
        {**block_delta("text_delta", text="Hi", new=1, newer=None), "newest": 2},
        [TextDelta("Hi", (1,)), Ignored("new"), Ignored("newest")],
    ),
    "block ends": ({"type": "content_block_stop", "index": 1}, [BlockEnd(1)]),
    "block ends in the helper": (
        {"type": "content_block_stop", "index": 1, "content_block": {"type": "text", "text": "Hi"}},
        [BlockEnd(1)],
    ),
    "block ends with unknown fields": (
        {"type": "content_block_stop", "index": 1, "new": 1},
        [BlockEnd(1), Ignored("new")],
    ),
    "message delta": (
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}},
        [Finish("length", "max_tokens"), Usage(None, 9, None, {"output_tokens": 9})],
    ),
    "message delta with cached tokens": (
        used(cache_read_input_tokens=5, output_tokens=9),
        [
            Usage(
                input_tokens=5,
                output_tokens=9,
                raw={"cache_read_input_tokens": 5, "output_tokens": 9},
                input_names=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            )
        ],
    ),
    "message delta with more": (
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None, "container": {"id": "c1"}, "new": 1},
            "context_management": {"applied_edits": []},
        },
        [
            Finish("stop", "end_turn"),
            MessageData("container", {"id": "c1"}),
            MessageData("new", 1),
            MessageData("context_management", {"applied_edits": []}),
        ],
    ),
    "message delta of no shape": ({"type": "message_delta", "delta": 5}, [Ignored("delta")]),
    "refusal": (
        {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"category": "x"}}},
        [Finish("refusal", "refusal"), MessageData("stop_details", {"category": "x"})],
    ),
    "pause": ({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}}, [Finish("paused", "pause_turn")]),
    "ping": ({"type": "ping"}, []),
    "ping with unknown fields": ({"type": "ping", "new": 1}, [Ignored("new")]),
    "message stop": ({"type": "message_stop"}, []),
    "message stop of another server": (
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}},
        [MessageData("amazon-bedrock-invocationMetrics", {"inputTokenCount": 1})],
    ),
    "event of the helper": ({"type": "text", "text": "Hi", "snapshot": "Hi"}, []),
    "error": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r1"},
        [
            ProviderError("Overloaded", "overloaded_error", {"type": "overloaded_error", "message": "Overloaded"}),
            MessageData("request_id", "r1"),
        ],
    ),
    "event unknown": ({"type": "new"}, [Ignored("new")]),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}


def part(**fields: Any) -> Any:
    return {"candidates": [{"content": {"parts": [fields]}}]}


def leaf(**fields: Any) -> Any:
    return part(functionCall={"partialArgs": [fields], "willContinue": True})


def leaves(*found: Leaf) -> list[Delta]:
    return one_call(arguments=found)


GEMINI_USAGE: dict[str, object] = {
    "promptTokenCount": 1,
    "toolUsePromptTokenCount": 10,
    "candidatesTokenCount": 2,
    "thoughtsTokenCount": 3,
    "totalTokenCount": 16,
}
GEMINI: Examples = {
    "text": (
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "index": 0}],
            "modelVersion": "m",
            "responseId": "r1",
        },
        [MessageStart("assistant", "r1", "m"), TextDelta("Hi")],
    ),
    "another role": ({"candidates": [{"content": {"role": "user"}}]}, [MessageStart("user")]),
    "another candidate": (
        {"candidates": [{"index": 1, "content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]},
        [TextDelta("Hi", choice=1), Finish("stop", "STOP", 1)],
    ),
    "thought": (part(text="Hm", thought=True), [ReasoningDelta("Hm")]),
    "signature": (
        part(text="", thoughtSignature="x"),
        [PartStart(TextPart("", is_complete=True, native={"thoughtSignature": "x"}))],
    ),
    "signature on text": (
        part(text="Hi", thoughtSignature="x"),
        [PartStart(TextPart("Hi", is_complete=True, native={"thoughtSignature": "x"}))],
    ),
    "signature alone": (
        part(thoughtSignature="x"),
        [PartStart(TextPart("", is_complete=True, native={"thoughtSignature": "x"}))],
    ),
    "signature on a thought": (
        part(text="Hm", thought=True, thoughtSignature="x"),
        [PartStart(ReasoningPart("Hm", "x", is_complete=True, native={"thought": True, "thoughtSignature": "x"}))],
    ),
    "signature on a call": (
        part(functionCall={"name": "f", "args": {}}, thoughtSignature="x"),
        one_call(name="f", arguments=Whole({}), is_done=True, signature="x", native={"thoughtSignature": "x"}),
    ),
    "signature on leaves": (
        part(
            functionCall={"name": "f", "willContinue": True, "partialArgs": [{"jsonPath": "$.a"}]}, thoughtSignature="x"
        ),
        one_call(name="f", arguments=(Leaf("$.a"),), signature="x", native={"thoughtSignature": "x"}),
    ),
    "text without text": (part(text=""), []),
    "text with another field": (
        part(text="Hi", partMetadata={"some_key": [1]}, mediaResolution=None, videoMetadata={}),
        [PartStart(TextPart("Hi", is_complete=True, native={"partMetadata": {"some_key": [1]}}))],
    ),
    "call with another field": (
        part(functionCall={"name": "f", "args": {"a": 1}, "new": 1}, partMetadata={"k": 1}),
        one_call(
            name="f",
            arguments=Whole({"a": 1}),
            is_done=True,
            native={"partMetadata": {"k": 1}, "functionCall": {"new": 1}},
        ),
    ),
    "call": (
        part(functionCall={"id": "f1", "name": "f", "args": {"a": 1}}),
        one_call(MISSING, "f1", "f", Whole({"a": 1}), is_done=True),
    ),
    "call without arguments": (
        part(functionCall={"name": "f"}),
        one_call(name="f", arguments=Whole({}), is_done=True, native={"functionCall": {}}),
    ),
    "call without arguments, and another field": (
        part(functionCall={"name": "f", "args": None, "new": 1}),
        one_call(name="f", arguments=Whole({}), is_done=True, native={"functionCall": {"new": 1}}),
    ),
    "call with empty arguments": (
        part(functionCall={"name": "f", "args": {}}),
        one_call(name="f", arguments=Whole({}), is_done=True),
    ),
    "call with empty arguments, and another field": (
        part(functionCall={"name": "f", "args": {}, "new": 1}),
        one_call(name="f", arguments=Whole({}), is_done=True, native={"functionCall": {"new": 1, "args": {}}}),
    ),
    "call that goes on": (part(functionCall={"name": "f", "willContinue": True}), one_call(name="f")),
    "call, nothing new": (part(functionCall={"willContinue": True}), one_call()),
    "call ends": (part(functionCall={}), one_call(is_done=True)),
    "call of no shape": (part(functionCall="f"), [Ignored("functionCall")]),
    "leaf of text": (
        leaf(jsonPath="$.a[0]", stringValue="x", willContinue=True),
        leaves(Leaf("$.a[0]", "x", True)),
    ),
    "leaf of text ends": (leaf(jsonPath="$.a", stringValue=""), leaves(Leaf("$.a", ""))),
    "leaf, a number": (leaf(jsonPath="$.a", numberValue=0.5), leaves(Leaf("$.a", 0.5))),
    "leaf, zero": (leaf(jsonPath="$.a", numberValue=0), leaves(Leaf("$.a", 0))),
    "leaf, a boolean": (leaf(jsonPath="$.a", boolValue=False), leaves(Leaf("$.a", False))),
    "leaf, null": (leaf(jsonPath="$.a", nullValue="NULL_VALUE"), leaves(Leaf("$.a", None))),
    "leaf, null of no shape": (leaf(jsonPath="$.a", nullValue=[]), leaves(Leaf("$.a", None))),
    "leaf, nothing": (leaf(jsonPath="$.a", willContinue=True), leaves(Leaf("$.a", MISSING, True))),
    "leaf of no shape": (leaf(new=1), [*leaves(), Ignored("partialArgs")]),
    "last leaf": (
        part(functionCall={"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}),
        one_call(arguments=(Leaf("$.a", 1),), is_done=True),
    ),
    "code": (
        part(executableCode={"language": "PYTHON", "code": "x", "id": "c1"}, thoughtSignature="x"),
        one_call(
            id="c1",
            name="code_execution",
            arguments=Whole({"language": "PYTHON", "code": "x"}),
            kind="server",
            is_done=True,
            signature="x",
            native={"thoughtSignature": "x", "executableCode": {}},
        ),
    ),
    "result of code": (
        part(codeExecutionResult={"outcome": "OUTCOME_OK", "output": "1\n", "id": "c1"}),
        [
            PartStart(
                ToolResultPart(
                    "c1", "code_execution", "1\n", False, None, True, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}
                )
            )
        ],
    ),
    "code failed": (
        part(codeExecutionResult={"outcome": "OUTCOME_FAILED", "output": "no"}),
        [
            PartStart(
                ToolResultPart(
                    None,
                    "code_execution",
                    "no",
                    True,
                    None,
                    True,
                    {"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}},
                )
            )
        ],
    ),
    "tool that the provider runs": (
        part(toolCall={"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}, "id": "t1"}, thoughtSignature="x"),
        one_call(
            id="t1",
            name="google_search_web",
            arguments=Whole({"queries": ["x"]}),
            kind="server",
            is_done=True,
            signature="x",
            native={"thoughtSignature": "x", "toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}},
        ),
    ),
    "tool without arguments": (
        part(toolCall={"toolType": "FILE_SEARCH", "id": "t1"}),
        one_call(
            id="t1",
            name="file_search",
            arguments=Whole({}),
            kind="server",
            is_done=True,
            native={"toolCall": {"toolType": "FILE_SEARCH"}},
        ),
    ),
    "tool with empty arguments": (
        part(toolCall={"toolType": "FILE_SEARCH", "args": {}}),
        one_call(
            name="file_search",
            arguments=Whole({}),
            kind="server",
            is_done=True,
            native={"toolCall": {"toolType": "FILE_SEARCH", "args": {}}},
        ),
    ),
    "its result": (
        part(toolResponse={"toolType": "GOOGLE_SEARCH_WEB", "response": {"a_b": 1}, "id": "t1"}, thoughtSignature="x"),
        [
            PartStart(
                ToolResultPart(
                    "t1",
                    "google_search_web",
                    {"a_b": 1},
                    is_complete=True,
                    native={"thoughtSignature": "x", "toolResponse": {"toolType": "GOOGLE_SEARCH_WEB"}},
                )
            )
        ],
    ),
    "image": (
        part(inlineData={"mimeType": "image/png", "data": "aGk=", "displayName": "n"}, thoughtSignature="x"),
        [
            PartStart(
                FilePart(
                    "image/png",
                    "aGk=",
                    name="n",
                    is_complete=True,
                    native={"thoughtSignature": "x", "inlineData": {}},
                )
            )
        ],
    ),
    "file": (
        part(fileData={"mimeType": "video/mp4", "fileUri": "gs://a/b"}, videoMetadata={"fps": 1}),
        [
            PartStart(
                FilePart(
                    "video/mp4",
                    url="gs://a/b",
                    is_complete=True,
                    native={"videoMetadata": {"fps": 1}, "fileData": {}},
                )
            )
        ],
    ),
    "grounding": (
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "Hi"}]},
                    "groundingMetadata": {
                        "groundingChunks": [
                            {"web": {"uri": "https://a", "title": "A", "domain": "a"}},
                            {"retrievedContext": {"text": "T", "fileSearchStore": "s"}},
                        ],
                        "groundingSupports": [
                            {"segment": {"endIndex": 2, "text": "Hi"}, "groundingChunkIndices": [0, 7]}
                        ],
                    },
                }
            ]
        },
        [
            TextDelta("Hi"),
            PartData(
                "citations",
                (
                    Citation(
                        "https://a",
                        "A",
                        "Hi",
                        native={"segment": {"endIndex": 2, "text": "Hi"}, "groundingChunkIndices": [0, 7]},
                    ),
                ),
            ),
            PartStart(SourcePart("https://a", "A", native={"web": {"domain": "a"}}, block=("source", "https://a", 0))),
            PartStart(
                SourcePart(
                    text="T",
                    native={"retrievedContext": {"fileSearchStore": "s"}},
                    block=("source", "", crc32(b"T")),
                )
            ),
            MessageData(
                "groundingMetadata",
                {
                    "groundingChunks": [
                        {"web": {"uri": "https://a", "title": "A", "domain": "a"}},
                        {"retrievedContext": {"text": "T", "fileSearchStore": "s"}},
                    ],
                    "groundingSupports": [{"segment": {"endIndex": 2, "text": "Hi"}, "groundingChunkIndices": [0, 7]}],
                },
            ),
        ],
    ),
    "grounding without text": (
        {"candidates": [{"groundingMetadata": {"groundingSupports": [{"groundingChunkIndices": [0]}]}}]},
        [MessageData("groundingMetadata", {"groundingSupports": [{"groundingChunkIndices": [0]}]})],
    ),
    "cited and visited": (
        {
            "candidates": [
                {
                    "citationMetadata": {"citationSources": [{"uri": "https://a", "license": "mit"}]},
                    "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://b"}]},
                }
            ]
        },
        [
            PartStart(
                SourcePart(
                    "https://a", native={"citationMetadata": {"license": "mit"}}, block=("source", "https://a", 0)
                )
            ),
            PartStart(SourcePart("https://b", native={"urlMetadata": {}}, block=("source", "https://b", 0))),
            MessageData("citationMetadata", {"citationSources": [{"uri": "https://a", "license": "mit"}]}),
            MessageData("urlContextMetadata", {"urlMetadata": [{"retrievedUrl": "https://b"}]}),
        ],
    ),
    "data of the candidate": (
        {"candidates": [{"index": 1, "avgLogprobs": -0.5, "safetyRatings": [{"category": "c"}], "new": 1}]},
        [
            MessageData("avgLogprobs", -0.5, 1),
            MessageData("safetyRatings", [{"category": "c"}], 1),
            Ignored("new"),
        ],
    ),
    "data of the chunk": (
        {"candidates": [], "createTime": "now", "responseId": "r1", "new": 1},
        [MessageStart(None, "r1"), MessageData("createTime", "now"), Ignored("new")],
    ),
    "text of no shape": (
        part(text=5, thoughtSignature="x"),
        [Ignored("text"), PartStart(TextPart("", is_complete=True, native={"thoughtSignature": "x"}))],
    ),
    "tool with arguments of no shape": (
        part(toolCall={"id": "t1", "args": [1]}),
        [*one_call(id="t1", name="tool", kind="server", is_done=True, native={"toolCall": {}}), Ignored("args")],
    ),
    "feedback of no shape": ({"candidates": [], "promptFeedback": 5}, [Ignored("promptFeedback")]),
    "too deep": (
        part(new=json.loads("[" * 200 + "]" * 200), thoughtSignature="x"),
        [Ignored("new"), PartStart(OpaquePart("new", None, True, {"thoughtSignature": "x"}))],
    ),
    "too deep for the candidate": (
        {"candidates": [{"safetyRatings": json.loads("[" * 200 + "]" * 200)}]},
        [Ignored("safetyRatings")],
    ),
    "unknown in the content": ({"candidates": [{"content": {"new": 1}}]}, [Ignored("new")]),
    "content of no shape": ({"candidates": [{"content": 5}]}, [Ignored("content")]),
    "part unknown": (part(new={"x": 1}), [PartStart(OpaquePart("new", None, True, {"new": {"x": 1}}))]),
    "answer of a function": (
        part(functionResponse={"name": "f", "response": {"a_b": None}}),
        [
            PartStart(
                OpaquePart(
                    "functionResponse",
                    None,
                    True,
                    {"functionResponse": {"name": "f", "response": {"a_b": None}}},
                )
            )
        ],
    ),
    "part of no shape": ({"candidates": [{"content": {"parts": [5]}}]}, [Ignored("parts")]),
    "candidate of no shape": ({"candidates": [5]}, [Ignored("candidates")]),
    "blocked": (
        {"promptFeedback": {"blockReason": "SAFETY"}},
        [Finish("content_filter", "SAFETY"), MessageData("promptFeedback", {"blockReason": "SAFETY"})],
    ),
    "malformed call": (
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]},
        [Finish("error", "MALFORMED_FUNCTION_CALL")],
    ),
    "usage": ({"usageMetadata": GEMINI_USAGE}, [Usage(11, 5, 16, GEMINI_USAGE)]),
    "usage of thoughts alone": (
        {"usageMetadata": {"thoughtsTokenCount": 3}},
        [Usage(None, 3, None, {"thoughtsTokenCount": 3})],
    ),
    "usage without counts": ({"usageMetadata": {"trafficType": "ON_DEMAND"}}, []),
    "error": (
        {"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}},
        [ProviderError("no", "429", {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"})],
    ),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}


def step(what: str, /, **fields: Any) -> Any:
    return {"event_type": f"step.{what}", "index": 1, **fields}


INTERACTION_USAGE: dict[str, object] = {
    "total_input_tokens": 1,
    "total_tool_use_tokens": 10,
    "total_output_tokens": 2,
    "total_thought_tokens": 3,
    "total_tokens": 16,
}
STEP_ANNOTATION: dict[str, object] = {
    "type": "url_citation",
    "url": "https://a",
    "title": "A",
    "start_index": 2,
    "end_index": 3,
}
INTERACTIONS: Examples = {
    "created": (
        {"event_type": "interaction.created", "interaction": {"id": "v1", "model": "m"}},
        [MessageStart("assistant", "v1", "m")],
    ),
    "status": ({"event_type": "interaction.status_update", "status": "in_progress"}, []),
    "text starts": (step("start", step={"type": "model_output"}), []),
    "text": (step("delta", delta={"type": "text", "text": "Hi"}), [TextDelta("Hi", ("step 1",))]),
    "thought": (
        step("delta", delta={"type": "thought_summary", "content": {"type": "text", "text": "Hm"}}),
        [ReasoningDelta("Hm", (1,))],
    ),
    "thought as text": (
        step("delta", delta={"type": "thought_summary", "content": "Hm"}),
        [ReasoningDelta("Hm", (1,))],
    ),
    "thought starts": (
        step("start", step={"type": "thought", "new": 1}),
        [PartStart(ReasoningPart(is_summary=True, native={"new": 1}, block=(1,)))],
    ),
    "image of a thought": (
        step("delta", delta={"type": "thought_summary", "content": {"type": "image", "data": "x"}}),
        [
            PartStart(
                OpaquePart("thought_summary", None, True, {"type": "image", "data": "x"}, (1, "summary", crc32(b"x")))
            )
        ],
    ),
    "signature": (
        step("delta", delta={"type": "thought_signature", "signature": "x"}),
        [PartData("signature", "x", (1,))],
    ),
    "signature without one": (step("delta", delta={"type": "thought_signature"}), []),
    "annotations": (
        step("delta", delta={"type": "text_annotation_delta", "annotations": [STEP_ANNOTATION]}),
        [PartData("citation", Citation("https://a", "A", native=STEP_ANNOTATION), ("step 1",))],
    ),
    "image": (
        step("delta", delta={"type": "image", "mime_type": "image/png", "data": "aGk="}),
        [
            PartStart(
                FilePart(
                    "image/png",
                    "aGk=",
                    is_complete=True,
                    native={"type": "image"},
                    block=("step 1", "image", crc32(b"aGk=")),
                )
            )
        ],
    ),
    "audio": (
        step("delta", delta={"type": "audio", "mime_type": "audio/l16", "data": "aGk=", "sample_rate": 24000}),
        [
            PartStart(FilePart("audio/l16", native={"type": "audio", "sample_rate": 24000}, block=("step 1", "audio"))),
            PartData("data", "aGk=", ("step 1", "audio")),
        ],
    ),
    "call": (
        step("start", step={"type": "function_call", "id": "f1", "name": "f", "arguments": {}}),
        one_call(1, "f1", "f", counts_blocks=True),
    ),
    "call with its arguments": (
        step("start", step={"type": "function_call", "id": "f1", "name": "f", "arguments": {"a": 1}}),
        one_call(1, "f1", "f", Whole({"a": 1}), counts_blocks=True),
    ),
    "arguments": (
        step("delta", delta={"type": "arguments_delta", "arguments": '{"a'}),
        [ToolCallDelta(1, None, None, '{"a', counts_blocks=True)],
    ),
    "call with a signature": (
        step("start", step={"type": "function_call", "id": "f1", "name": "f", "arguments": {}, "signature": ""}),
        one_call(1, "f1", "f", counts_blocks=True, native={"signature": ""}),
    ),
    "tool that the provider runs": (
        step("start", step={"type": "google_search_call", "id": "g1", "arguments": {}, "signature": "x"}),
        one_call(
            1,
            "g1",
            "google_search",
            kind="server",
            counts_blocks=True,
            signature="x",
            native={"signature": "x", "type": "google_search_call"},
        ),
    ),
    "its arguments": (
        step("delta", delta={"type": "google_search_call", "arguments": {"queries": ["x"]}, "signature": "x"}),
        [
            ToolCallDelta(
                1,
                arguments=Whole({"queries": ["x"]}),
                is_done=True,
                counts_blocks=True,
                signature="x",
                native={"signature": "x"},
            )
        ],
    ),
    "tool of a server": (
        step("start", step={"type": "mcp_server_tool_call", "id": "m1", "name": "f", "server_name": "s"}),
        one_call(
            1,
            "m1",
            "f",
            kind="server",
            counts_blocks=True,
            native={"server_name": "s", "type": "mcp_server_tool_call"},
        ),
    ),
    "its result starts": (
        step("start", step={"type": "google_search_result", "call_id": "g1"}),
        [PartStart(ToolResultPart("g1", "google_search", native={"type": "google_search_result"}, block=(1,)))],
    ),
    "its result": (
        step("delta", delta={"type": "google_search_result", "result": [1], "is_error": False, "signature": "x"}),
        [
            PartData("output", [1], (1,)),
            PartData("is_error", False, (1,)),
            PartData("", None, (1,), {"is_error": False, "signature": "x"}),
        ],
    ),
    "input of the application": (step("start", step={"type": "user_input"}), [Ignored("user_input", True)]),
    "step unknown": (
        step("start", step={"type": "new", "a": 1}),
        [PartStart(OpaquePart("new", None, False, {"type": "new", "a": 1}, (1,)))],
    ),
    "step that the library does not know": (
        step("start", step={"type": "UNKNOWN", "is_unknown": True, "raw": {"type": "new"}}),
        [PartStart(OpaquePart("new", None, False, {"type": "new"}, (1,)))],
    ),
    "step that failed": (
        step("start", step={"type": "model_output", "error": {"message": "no"}, "new": 1}),
        [ProviderError("no", None, {"message": "no"}), Ignored("new")],
    ),
    "whole interaction": (
        {
            "object": "interaction",
            "id": "v1",
            "status": "completed",
            "input": "Hi",
            "steps": [
                {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]},
                {"type": "thought", "signature": "x", "summary": [{"type": "text", "text": "Hm"}]},
                {"type": "thought", "summary": [{"text": "a"}, {"text": "b"}]},
                {
                    "type": "model_output",
                    "content": [{"type": "text", "text": "\u00e4A", "annotations": [STEP_ANNOTATION]}],
                },
                {
                    "type": "model_output",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image", "uri": "u"},
                        {"type": "text", "text": "b"},
                    ],
                },
                {"type": "function_call", "id": "f1", "name": "f", "arguments": {}},
            ],
        },
        [
            MessageStart("assistant", "v1"),
            PartStart(ReasoningPart(signature="x", is_summary=True, block=(0,))),
            ReasoningDelta("Hm", (0,), is_whole=True),
            BlockEnd(0),
            PartStart(ReasoningPart(is_summary=True, block=(1,))),
            ReasoningDelta("a", (1, "summary", 0), is_whole=True),
            ReasoningDelta("b", (1, "summary", 1), is_whole=True),
            BlockEnd(1),
            PartStart(
                TextPart(
                    "\u00e4A",
                    (Citation("https://a", "A", None, 1, 2, native=STEP_ANNOTATION),),
                    is_complete=True,
                    block=("step 2", 0),
                )
            ),
            BlockEnd(2),
            PartStart(TextPart("a", is_complete=True, block=("step 3", 0))),
            PartStart(FilePart(url="u", is_complete=True, native={"type": "image"}, block=("step 3", 1))),
            PartStart(TextPart("b", is_complete=True, block=("step 3", 2))),
            BlockEnd(3),
            *one_call(4, "f1", "f", Whole({}), is_done=True, counts_blocks=True),
            BlockEnd(4),
            Finish("stop", "completed"),
            Ignored("input", True),
        ],
    ),
    "errors of an interaction": (
        {"status": "failed", "steps": [{"type": "model_output", "content": [{}, 5]}], "errors": [{"message": "no"}]},
        [
            MessageStart("assistant"),
            Ignored("content"),
            BlockEnd(0),
            Finish("error", "failed"),
            ProviderError("no", None, {"message": "no"}),
        ],
    ),
    "cancelled": (
        {"event_type": "interaction.status_update", "status": "cancelled", "interaction_id": "v1"},
        [Finish("cancelled", "cancelled")],
    ),
    "status unknown": ({"event_type": "interaction.status_update", "status": "new"}, [Ignored("status")]),
    "status to go on": (
        {"event_type": "interaction.status_update", "status": "requires_continuation", "continuation_token": "x"},
        [MessageData("continuation_token", "x"), Finish("paused", "requires_continuation")],
    ),
    "usage of a delta": (
        step("delta", delta={"type": "text", "text": "Hi"}, metadata={"total_usage": INTERACTION_USAGE}),
        [TextDelta("Hi", ("step 1",)), Usage(11, 5, 16, INTERACTION_USAGE)],
    ),
    "data of the interaction": (
        {
            "event_type": "interaction.completed",
            "event_id": "e1",
            "interaction": {"id": "v1", "status": "completed", "service_tier": "standard", "new": 1},
            "new": 1,
        },
        [
            MessageStart("assistant", "v1"),
            Finish("stop", "completed"),
            MessageData("service_tier", "standard"),
            Ignored("new"),
            Ignored("new"),
        ],
    ),
    "step of no shape": (step("start"), [Ignored("step")]),
    "delta unknown": (step("delta", delta={"type": "new"}), [Ignored("new")]),
    "step ends": (step("stop"), [BlockEnd(1), BlockEnd(block=("step 1",))]),
    "completed": (
        {
            "event_type": "interaction.completed",
            "interaction": {"status": "requires_action", "usage": INTERACTION_USAGE},
        },
        [Finish("tool_calls", "requires_action"), Usage(11, 5, 16, INTERACTION_USAGE)],
    ),
    "failed": (
        {"event_type": "interaction.completed", "interaction": {"status": "failed", "error": {"message": "no"}}},
        [Finish("error", "failed"), ProviderError("no", None, {"message": "no"})],
    ),
    "error": (
        {"event_type": "error", "error": {"code": "gone", "message": "no"}},
        [ProviderError("no", "gone", {"code": "gone", "message": "no"})],
    ),
    "event unknown": ({"event_type": "new"}, [Ignored("new")]),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}


def converse(delta: Any) -> Any:
    return {"contentBlockDelta": {"contentBlockIndex": 1, "delta": delta}}


def converse_start(start: Any) -> Any:
    return {"contentBlockStart": {"contentBlockIndex": 1, "start": start}}


CONVERSE_USAGE: dict[str, object] = {
    "inputTokens": 1,
    "cacheReadInputTokens": 4,
    "cacheWriteInputTokens": 10,
    "outputTokens": 2,
    "totalTokens": 17,
}
PLACED = {
    "title": "t",
    "sourceContent": [{"text": "c"}, {"text": "d"}],
    "location": {"documentPage": {"documentIndex": 2}},
}
LINKED = {"source": "s", "location": {"web": {"url": "u"}}}


def started(kind: str, **fields: Any) -> Any:
    return converse_start({kind: fields})


def converse_body(*content: Any, **fields: Any) -> Any:
    return {"output": {"message": {"role": "assistant", "content": [*content]}}, "stopReason": "end_turn", **fields}


def converse_read(*deltas: Delta) -> list[Delta]:
    return [MessageStart("assistant"), *deltas, BlockEnd(0), Finish("stop", "end_turn")]


BEDROCK: Examples = {
    "message start": ({"messageStart": {"role": "assistant", "p": "abc"}}, [MessageStart("assistant")]),
    "text": (converse({"text": "Hi"}), [TextDelta("Hi", (1,))]),
    "text with padding": (
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hi"}, "p": "abc", "new": 1}},
        [TextDelta("Hi", (1,)), Ignored("new")],
    ),
    "text starts": (converse_start({}), []),
    "reasoning": (converse({"reasoningContent": {"text": "Hm"}}), [ReasoningDelta("Hm", (1,))]),
    "signature": (
        converse({"reasoningContent": {"signature": "x"}}),
        [PartStart(ReasoningPart(block=(1,))), PartData("more_signature", "x", (1,))],
    ),
    "reasoning that is redacted": (
        converse({"reasoningContent": {"redactedContent": b"x"}}),
        [PartStart(ReasoningPart(block=(1,))), PartData("more_encrypted", b"x", (1,))],
    ),
    "reasoning that is redacted, in JSON": (
        converse({"reasoningContent": {"redactedContent": "eA=="}}),
        [PartStart(ReasoningPart(block=(1,))), PartData("more_encrypted", "eA==", (1,))],
    ),
    "reasoning of no shape": (converse({"reasoningContent": "Hm"}), [Ignored("reasoningContent")]),
    "reasoning unknown": (converse({"reasoningContent": {"new": 1}}), [Ignored("new")]),
    "call": (
        started("toolUse", toolUseId="t1", name="f"),
        one_call(1, "t1", "f", counts_blocks=True, native={"toolUseId": "t1", "name": "f"}),
    ),
    "tool that the provider runs": (
        started("toolUse", toolUseId="t1", name="f", type="server_tool_use"),
        one_call(
            *(1, "t1", "f"),
            kind="server",
            counts_blocks=True,
            native={"toolUseId": "t1", "name": "f", "type": "server_tool_use"},
        ),
    ),
    "result of a tool starts": (
        started("toolResult", toolUseId="t1", type="x", status="error"),
        [
            PartStart(
                ToolResultPart(
                    *("t1", None, [], True),
                    native={"toolUseId": "t1", "type": "x", "status": "error"},
                    block=(1,),
                )
            )
        ],
    ),
    "result of a tool": (
        converse({"toolResult": [{"json": {"a": 1}}, {"text": "x"}]}),
        [PartData("more_output", [{"json": {"a": 1}}, {"text": "x"}], (1,))],
    ),
    "image starts": (
        started("image", format="png"),
        [PartStart(FilePart("image/png", native={"format": "png"}, block=(1,)))],
    ),
    "image": (converse({"image": {"source": {"bytes": b"x"}}}), [PartData("data", b"x", (1,))]),
    "image elsewhere": (
        converse({"image": {"source": {"s3Location": {"uri": "s3://x"}}}}),
        [PartData("url", "s3://x", (1,), {"source": {"s3Location": {"uri": "s3://x"}}})],
    ),
    "image that failed": (
        converse({"image": {"error": {"message": "no"}}}),
        [PartData("", None, (1,), {"error": {"message": "no"}})],
    ),
    "image of no shape": (converse({"image": 5}), [Ignored("image")]),
    "start of no shape": (converse_start(5), [Ignored("start")]),
    "start unknown": (
        started("new", a=1),
        [PartStart(OpaquePart("new", native={"new": {"a": 1}}, block=(1,))), Ignored("new")],
    ),
    "input": (converse({"toolUse": {"input": '{"a'}}), [ToolCallDelta(1, None, None, '{"a', counts_blocks=True)]),
    "input of no shape": (converse({"toolUse": 5}), [Ignored("toolUse")]),
    "citation": (
        converse({"citation": PLACED}),
        [
            PartStart(TextPart(block=(1,))),
            PartData("citation", Citation(None, "t", "cd", source_id="2", native=PLACED), (1,)),
        ],
    ),
    "citation of no shape": (converse({"citation": 5}), [Ignored("citation")]),
    "delta unknown": (converse({"new": 1}), [Ignored("new")]),
    "delta of no shape": (converse(5), [Ignored("delta")]),
    "block ends": ({"contentBlockStop": {"contentBlockIndex": 1}}, [BlockEnd(1)]),
    "message stop": (
        {"messageStop": {"stopReason": "content_filtered", "additionalModelResponseFields": {"a": 1}}},
        [Finish("content_filter", "content_filtered"), MessageData("additionalModelResponseFields", {"a": 1})],
    ),
    "metadata": (
        {"metadata": {"usage": CONVERSE_USAGE}},
        [Usage(15, 2, 17, CONVERSE_USAGE)],
    ),
    "metadata without usage": (
        {"metadata": {"metrics": {"latencyMs": 1}, "trace": {"a": {}}}},
        [MessageData("metrics", {"latencyMs": 1}), MessageData("trace", {"a": {}})],
    ),
    "exception": (
        {"throttlingException": {"message": "slow down"}},
        [ProviderError("slow down", "throttlingException", {"message": "slow down"})],
    ),
    "message that was not streamed": (
        converse_body({"text": "Hi"}, usage=CONVERSE_USAGE, metrics={"latencyMs": 1}, ResponseMetadata={"a": 1}),
        [
            *converse_read(PartStart(TextPart("Hi", block=(0,)))),
            MessageData("metrics", {"latencyMs": 1}),
            Usage(15, 2, 17, CONVERSE_USAGE),
        ],
    ),
    "call that was not streamed": (
        converse_body({"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}),
        converse_read(
            *one_call(*(0, "t1", "f", Whole({"a": 1})), counts_blocks=True, native={"toolUseId": "t1", "name": "f"})
        ),
    ),
    "reasoning that was not streamed": (
        converse_body({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}}),
        converse_read(PartStart(ReasoningPart("Hm", "s", block=(0,)))),
    ),
    "redacted reasoning that was not streamed": (
        converse_body({"reasoningContent": {"redactedContent": b"x"}}),
        converse_read(PartStart(ReasoningPart(encrypted=b"x", block=(0,)))),
    ),
    "result that was not streamed": (
        converse_body({"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}}),
        converse_read(PartStart(ToolResultPart("t1", None, [{"text": "x"}], native={"toolUseId": "t1"}, block=(0,)))),
    ),
    "citations that were not streamed": (
        converse_body({"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": [LINKED, 5]}}),
        converse_read(
            PartStart(
                TextPart(
                    "ab",
                    (Citation("u", source_id="s", native=LINKED),),
                    native={"content": [{"text": "a"}, {"text": "b"}]},
                    block=(0,),
                )
            ),
            Ignored("citations"),
        ),
    ),
    "image that was not streamed": (
        converse_body({"image": {"format": "png", "source": {"bytes": b"x"}}}),
        converse_read(PartStart(FilePart("image/png", b"x", native={"format": "png"}, block=(0,)))),
    ),
    "block unknown": (
        converse_body({"new": {"a": b"x"}}),
        converse_read(PartStart(OpaquePart("new", native={"new": {"a": b"x"}}, block=(0,))), Ignored("new")),
    ),
    "blocks of no shape": (
        {"output": {"message": {"content": [{"text": 5}]}, "new": 1}, "stopReason": None},
        [MessageStart(), Ignored("text"), BlockEnd(0), Ignored("new")],
    ),
    "event of no shape": ({"messageStop": 5}, [Ignored("messageStop")]),
    "event unknown": ({"new": {"a": 1}}, [Ignored("new")]),
    "nothing": ({}, [Ignored("chunk")]),
}


def cohere(kind: str, /, **message: Any) -> Any:
    return {"type": kind, "index": 0, "delta": {"message": message}}


COHERE_CITATION: dict[str, Any] = {
    "start": 23,
    "end": 28,
    "text": "Paris",
    "content_index": 0,
    "type": "TEXT_CONTENT",
    "sources": [{"type": "document", "id": "doc:0", "document": {"title": "A", "url": "https://a"}}],
}
COHERE: Examples = {
    "message start": (
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
        [MessageStart("assistant", "m1")],
    ),
    "content starts": (cohere("content-start", content={"type": "text", "text": ""}), []),
    "content": (cohere("content-delta", content={"text": "Hi"}), [TextDelta("Hi", (0,))]),
    "thinking": (cohere("content-delta", content={"thinking": "Hm"}), [ReasoningDelta("Hm", (0,))]),
    "content unknown": (cohere("content-delta", content={"new": 1}), [Ignored("new")]),
    "content of no shape": (cohere("content-delta", content="Hi"), [Ignored("content")]),
    "content ends": ({"type": "content-end", "index": 0}, [BlockEnd(block=(0,))]),
    "content of an unknown kind": (
        cohere("content-start", content={"type": "new", "x": 1}),
        [PartStart(OpaquePart("new", native={"type": "new", "x": 1}, block=(0,)))],
    ),
    "more in an event": (
        {
            "type": "content-delta",
            "index": 0,
            "delta": {"message": {"content": {"text": "Hi"}, "a": 1}, "b": 2},
            "c": 3,
            "logprobs": {"token_ids": [1]},
        },
        [TextDelta("Hi", (0,)), Ignored("c"), Ignored("logprobs", True), Ignored("b"), Ignored("a")],
    ),
    "plan": (cohere("tool-plan-delta", tool_plan="I will"), [ReasoningDelta("I will", ("tool_plan",))]),
    "call": (
        cohere("tool-call-start", tool_calls={"id": "t1", "function": {"name": "f", "arguments": ""}}),
        one_call(0, "t1", "f", ""),
    ),
    "arguments": (
        cohere("tool-call-delta", tool_calls={"function": {"arguments": '{"a'}}),
        one_call(0, None, None, '{"a'),
    ),
    "call of no shape": (cohere("tool-call-start", tool_calls=5), [Ignored("tool_calls")]),
    "call ends": ({"type": "tool-call-end", "index": 0}, one_call(0, is_done=True)),
    "call with more fields": (
        cohere("tool-call-start", tool_calls={"id": "t1", "new": 1, "function": {"name": "f", "old": 2}}),
        one_call(0, "t1", "f", native={"new": 1, "function": {"old": 2}}),
    ),
    "citation": (
        cohere("citation-start", citations=COHERE_CITATION),
        [PartData("citation", Citation("https://a", "A", "Paris", 23, 28, "doc:0", COHERE_CITATION), (0,))],
    ),
    "citation of a tool": (
        cohere(
            "citation-start", citations={"start": 0, "end": 2, "text": "Hi", "sources": [{"type": "tool", "id": "t"}]}
        ),
        [
            PartData(
                "citation",
                Citation(
                    None,
                    None,
                    "Hi",
                    0,
                    2,
                    "t",
                    {"start": 0, "end": 2, "text": "Hi", "sources": [{"type": "tool", "id": "t"}]},
                ),
            )
        ],
    ),
    "citation of the plan": (
        cohere("citation-start", citations={"start": 0, "end": 2, "type": "PLAN"}),
        [PartStart(OpaquePart("citation", None, True, {"start": 0, "end": 2, "type": "PLAN"}, ("citations", 0)))],
    ),
    "citation of no shape": (cohere("citation-start", citations=5), [Ignored("citations")]),
    "citation ends": ({"type": "citation-end", "index": 0}, []),
    "a whole message": (
        {
            "id": "m1",
            "finish_reason": "TOOL_CALL",
            "message": {
                "role": "assistant",
                "tool_plan": "I will",
                "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hi"}],
                "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                "citations": [{"start": 0, "end": 2, "content_index": 1, "type": "TEXT_CONTENT"}],
            },
            "usage": {"tokens": {"input_tokens": 1}},
        },
        [
            MessageStart("assistant", "m1"),
            ReasoningDelta("I will", ("tool_plan",)),
            ReasoningDelta("Hm", (0,)),
            BlockEnd(block=(0,)),
            TextDelta("Hi", (1,)),
            BlockEnd(block=(1,)),
            PartData(
                "citation",
                Citation(
                    start=0,
                    end=2,
                    native={"start": 0, "end": 2, "content_index": 1, "type": "TEXT_CONTENT"},
                ),
                (1,),
            ),
            *one_call(0, "t1", "f", "{}"),
            *one_call(0, is_done=True),
            Finish("tool_calls", "TOOL_CALL"),
            Usage(1, None, None, {"tokens": {"input_tokens": 1}}),
        ],
    ),
    "a whole message of text": (
        {"finish_reason": "COMPLETE", "message": {"content": "Hi"}, "new": 1},
        [MessageStart(), TextDelta("Hi", (0,)), Finish("stop", "COMPLETE"), Ignored("new")],
    ),
    "message end": (
        {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS", "usage": {"tokens": {"input_tokens": 1}}}},
        [Finish("length", "MAX_TOKENS"), Usage(1, None, None, {"tokens": {"input_tokens": 1}})],
    ),
    "billed units": (
        {"type": "message-end", "delta": {"usage": {"billed_units": {"input_tokens": 1, "output_tokens": 2}}}},
        [Usage(1, 2, None, {"billed_units": {"input_tokens": 1, "output_tokens": 2}})],
    ),
    "error": (
        {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "no"}},
        [Finish("error", "ERROR"), ProviderError("no", None, "no")],
    ),
    "event unknown": ({"type": "new"}, [Ignored("new")]),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}


def ollama(done: bool = False, /, **message: Any) -> Any:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


STARTED = MessageStart("assistant", None, "m")
OLLAMA: Examples = {
    "content": (ollama(content="Hi"), [STARTED, TextDelta("Hi")]),
    "no role": ({"message": {"content": "Hi"}, "done": False}, [TextDelta("Hi")]),
    "thinking": (ollama(content="", thinking="Hm"), [STARTED, ReasoningDelta("Hm")]),
    "call": (
        ollama(content="", tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}]),
        [STARTED, *one_call(MISSING, None, "f", Whole({"a": 1}), is_done=True)],
    ),
    "calls that share an index": (
        ollama(
            tool_calls=[
                {"id": "a", "function": {"index": 0, "name": "f", "arguments": {}}},
                {"function": {"index": 0, "name": "g", "arguments": "{}"}},
            ]
        ),
        [
            STARTED,
            *one_call(0, "a", "f", Whole({}), is_done=True, native={"function": {"index": 0}}),
            *one_call(0, None, "g", "{}", is_done=True, native={"function": {"index": 0}}),
        ],
    ),
    "call of no shape": (ollama(tool_calls=[5]), [STARTED, Ignored("tool_calls")]),
    "call without arguments": (
        ollama(tool_calls=[{"function": {"name": "f"}}, {"function": {"name": "g", "arguments": None}}]),
        [
            STARTED,
            *one_call(MISSING, None, "f", Whole({}), is_done=True),
            *one_call(MISSING, None, "g", Whole({}), is_done=True),
        ],
    ),
    "call with more fields": (
        ollama(tool_calls=[{"new": 1, "function": {"name": "f", "arguments": {}, "old": 2}}]),
        [
            STARTED,
            *one_call(MISSING, None, "f", Whole({}), is_done=True, native={"new": 1, "function": {"old": 2}}),
        ],
    ),
    "images": (
        ollama(images=["x", 5]),
        [STARTED, PartStart(FilePart(data="x", is_complete=True)), Ignored("images")],
    ),
    "more in a line": (
        {**ollama(content="Hi", new=1), "old": 2, "created_at": "now", "context": [1]},
        [STARTED, TextDelta("Hi"), Ignored("new"), Ignored("old"), Ignored("context", True)],
    ),
    "generated": (
        {"model": "m", "response": "Hi", "thinking": "Hm", "done": False},
        [ReasoningDelta("Hm"), TextDelta("Hi")],
    ),
    "last line": (
        {**ollama(True, content=""), "done_reason": "length", "prompt_eval_count": 1, "eval_count": 2},
        [STARTED, Finish("length", "length"), Usage(1, 2, None, {"prompt_eval_count": 1, "eval_count": 2})],
    ),
    "last line without a reason": (ollama(True), [STARTED, Finish("stop")]),
    "nothing said": ({"message": {}, "done": False}, []),
    "message of no shape": ({"message": 5, "done": False}, [Ignored("message")]),
    "error": ({"error": "no"}, [ProviderError("no", None, "no")]),
    "something else": ({"new": 1}, [Ignored("chunk")]),
}

EXAMPLES: dict[str, Examples] = {
    "anthropic": ANTHROPIC,
    "bedrock-converse": BEDROCK,
    "cohere": COHERE,
    "gemini": GEMINI,
    "gemini-interactions": INTERACTIONS,
    "ollama": OLLAMA,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
}
