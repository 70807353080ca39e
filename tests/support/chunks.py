"""Chunks of every wire format by the rule that each one shows, and what they say."""

from __future__ import annotations

from typing import Any

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


def one_call(*args: Any, **more: Any) -> list[Delta]:
    return [ToolCallDelta(*args, **{"kind": "function", **more})]


CHAT: Examples = {
    "role": (chat({"role": "assistant", "content": ""}), [MessageStart("assistant", "c1", "m")]),
    "role without id": ({"choices": [{"delta": {"role": "assistant"}}]}, [MessageStart("assistant")]),
    "content": (chat({"content": "Hi"}), [TextDelta("Hi")]),
    "content null": (chat({"content": None, "tool_calls": None, "function_call": None}), []),
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
            ReasoningDelta("Hm"),
            ReasoningDelta("m"),
            TextDelta("Hi"),
            Ignored("reference", True),
            Ignored("new"),
            Ignored("content"),
        ],
    ),
    "reasoning": (chat({"reasoning_content": "Hm", "content": ""}), [ReasoningDelta("Hm")]),
    "reasoning by its other name": (chat({"reasoning_content": "", "reasoning": "Hm"}), [ReasoningDelta("Hm")]),
    "reasoning twice": (chat({"reasoning_content": "Hm", "reasoning": "Hm"}), [ReasoningDelta("Hm")]),
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
        [*one_call(MISSING, None, "f", "{}"), Finish("tool_calls", "function_call")],
    ),
    "finish": (chat({}, finish_reason="length"), [Finish("length", "length")]),
    "finish, none yet": (chat({}, finish_reason=""), []),
    "finish of another choice": (chat({}, index=1, finish_reason="new"), [Finish("other", "new", 1)]),
    "finish of no shape": (chat({}, finish_reason=5), [Ignored("finish_reason")]),
    "usage": (
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
        [Usage(1, 2, 3, {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})],
    ),
    "usage in a choice": (chat({}, usage={"prompt_tokens": 1}), [Usage(1, None, None, {"prompt_tokens": 1})]),
    "usage of Groq": (
        {"choices": [], "usage": None, "x_groq": {"usage": {"total_tokens": 3}}},
        [Usage(None, None, 3, {"total_tokens": 3})],
    ),
    "usage, none counted": ({"choices": [], "usage": {"prompt_tokens": None}}, []),
    "content filter": ({"choices": [], "object": "", "prompt_filter_results": [{}]}, []),
    "content filter later": (
        {"object": "", "choices": [{"index": 0, "content_filter_offsets": {"start": 1}, "logprobs": {"content": [1]}}]},
        [Ignored("content_filter_offsets", True), Ignored("logprobs", True)],
    ),
    "a whole message": (
        {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]},
        [Ignored("message"), Finish("stop", "stop")],
    ),
    "more in a delta": (
        chat({"content": "Hi", "audio": {"data": "x"}, "new": 1, "annotations": [], "old": None}),
        [TextDelta("Hi"), Ignored("audio", True), Ignored("new")],
    ),
    "delta of no shape": (chat(5), [Ignored("delta")]),
    "choice of no shape": ({"choices": [5]}, [Ignored("choices")]),
    "error": (
        {"id": "c1", "error": {"code": 502, "message": "gone"}, "choices": [{"delta": {}, "finish_reason": "error"}]},
        [Finish("error", "error"), ProviderError("gone", "502", {"code": 502, "message": "gone"})],
    ),
    "error in a choice": (chat({}, error={"message": "no"}), [ProviderError("no", None, {"message": "no"})]),
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


def response(kind: str, **fields: Any) -> Any:
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
                    {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
                ],
                "stop_reason": "tool_use",
            },
        },
        [
            MessageStart("assistant", "m1"),
            TextDelta("Hi", (0,)),
            BlockEnd(0),
            *one_call(1, "t1", "f", Whole({"a": 1}), counts_blocks=True),
            BlockEnd(1),
            Finish("tool_calls", "tool_use"),
        ],
    ),
    "message of no shape": ({"type": "message_start", "message": 5}, [Ignored("message")]),
    "text": (block_delta("text_delta", text="Hi"), [TextDelta("Hi", (1,))]),
    "text starts": (block_start("text", text=""), []),
    "text starts with text": (block_start("text", text="Hi"), [TextDelta("Hi", (1,))]),
    "thinking": (block_delta("thinking_delta", thinking="Hm"), [ReasoningDelta("Hm", (1,))]),
    "thinking starts": (block_start("thinking", thinking="", signature=""), []),
    "call": (
        block_start("tool_use", id="t1", name="f", input={}),
        one_call(1, "t1", "f", counts_blocks=True),
    ),
    "call with its input": (
        block_start("tool_use", id="t1", name="f", input={"a": 1}),
        one_call(1, "t1", "f", Whole({"a": 1}), counts_blocks=True),
    ),
    "tool that the provider runs": (
        block_start("server_tool_use", id="t1", name="web_search", input={}),
        [ToolCallDelta(1, "t1", "web_search", None, "server", counts_blocks=True)],
    ),
    "input": (
        block_delta("input_json_delta", partial_json='{"a'),
        [ToolCallDelta(1, None, None, '{"a', counts_blocks=True)],
    ),
    "result of a tool": (block_start("web_search_tool_result"), [Ignored("web_search_tool_result", True)]),
    "block unknown": (block_start("new"), [Ignored("new")]),
    "block of no shape": ({"type": "content_block_start"}, [Ignored("content_block")]),
    "signature": (block_delta("signature_delta", signature="x"), [Ignored("signature_delta", True)]),
    "delta unknown": (block_delta("new"), [Ignored("new")]),
    "delta of no shape": ({"type": "content_block_delta", "delta": 5}, [Ignored("delta")]),
    "block ends": ({"type": "content_block_stop", "index": 1}, [BlockEnd(1)]),
    "message delta": (
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}},
        [Finish("length", "max_tokens"), Usage(None, 9, None, {"output_tokens": 9})],
    ),
    "refusal": (
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}},
        [Finish("refusal", "refusal")],
    ),
    "pause": ({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}}, [Finish("other", "pause_turn")]),
    "ping": ({"type": "ping"}, []),
    "message stop": ({"type": "message_stop"}, []),
    "event of the helper": ({"type": "text", "text": "Hi", "snapshot": "Hi"}, []),
    "error": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        [ProviderError("Overloaded", "overloaded_error", {"type": "overloaded_error", "message": "Overloaded"})],
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
    "signature": (part(text="", thoughtSignature="x"), [Ignored("thoughtSignature", True)]),
    "call": (
        part(functionCall={"id": "f1", "name": "f", "args": {"a": 1}}),
        one_call(MISSING, "f1", "f", Whole({"a": 1}), is_done=True),
    ),
    "call without arguments": (part(functionCall={"name": "f"}), one_call(name="f", is_done=True)),
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
    "leaf, nothing": (leaf(jsonPath="$.a", willContinue=True), leaves(Leaf("$.a", MISSING, True))),
    "leaf of no shape": (leaf(new=1), [*leaves(), Ignored("partialArgs")]),
    "last leaf": (
        part(functionCall={"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}),
        one_call(arguments=(Leaf("$.a", 1),), is_done=True),
    ),
    "code": (part(executableCode={"code": "x"}), [Ignored("executableCode", True)]),
    "part unknown": (part(new={"x": 1}), [Ignored("new")]),
    "part of no shape": ({"candidates": [{"content": {"parts": [5]}}]}, [Ignored("parts")]),
    "candidate of no shape": ({"candidates": [5]}, [Ignored("candidates")]),
    "blocked": ({"promptFeedback": {"blockReason": "SAFETY"}}, [Finish("content_filter", "SAFETY")]),
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
INTERACTIONS: Examples = {
    "created": (
        {"event_type": "interaction.created", "interaction": {"id": "v1", "model": "m"}},
        [MessageStart("assistant", "v1", "m")],
    ),
    "status": ({"event_type": "interaction.status_update", "status": "in_progress"}, []),
    "text starts": (step("start", step={"type": "model_output"}), []),
    "text": (step("delta", delta={"type": "text", "text": "Hi"}), [TextDelta("Hi", (1,))]),
    "thought": (
        step("delta", delta={"type": "thought_summary", "content": {"type": "text", "text": "Hm"}}),
        [ReasoningDelta("Hm", (1,))],
    ),
    "thought as text": (
        step("delta", delta={"type": "thought_summary", "content": "Hm"}),
        [ReasoningDelta("Hm", (1,))],
    ),
    "signature": (step("delta", delta={"type": "thought_signature"}), [Ignored("thought_signature", True)]),
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
    "tool that the provider runs": (
        step("start", step={"type": "google_search_call"}),
        [Ignored("google_search_call", True)],
    ),
    "its result": (step("delta", delta={"type": "google_search_result"}), [Ignored("google_search_result", True)]),
    "step unknown": (step("start", step={"type": "new"}), [Ignored("new")]),
    "step of no shape": (step("start"), [Ignored("step")]),
    "delta unknown": (step("delta", delta={"type": "new"}), [Ignored("new")]),
    "step ends": (step("stop"), [BlockEnd(1)]),
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
BEDROCK: Examples = {
    "message start": ({"messageStart": {"role": "assistant"}}, [MessageStart("assistant")]),
    "text": (converse({"text": "Hi"}), [TextDelta("Hi", (1,))]),
    "text starts": (converse_start({}), []),
    "reasoning": (converse({"reasoningContent": {"text": "Hm"}}), [ReasoningDelta("Hm", (1,))]),
    "signature": (converse({"reasoningContent": {"signature": "x"}}), [Ignored("signature", True)]),
    "reasoning of no shape": (converse({"reasoningContent": "Hm"}), [Ignored("reasoningContent")]),
    "call": (
        converse_start({"toolUse": {"toolUseId": "t1", "name": "f"}}),
        one_call(1, "t1", "f", counts_blocks=True),
    ),
    "tool that the provider runs": (
        converse_start({"toolUse": {"toolUseId": "t1", "name": "f", "type": "server_tool_use"}}),
        [ToolCallDelta(1, "t1", "f", None, "server", counts_blocks=True)],
    ),
    "result of a tool": (converse_start({"toolResult": {"toolUseId": "t1"}}), [Ignored("toolResult", True)]),
    "start of no shape": (converse_start(5), [Ignored("start")]),
    "input": (converse({"toolUse": {"input": '{"a'}}), [ToolCallDelta(1, None, None, '{"a', counts_blocks=True)]),
    "input of no shape": (converse({"toolUse": 5}), [Ignored("toolUse")]),
    "citation": (converse({"citation": {"title": "x"}}), [Ignored("citation", True)]),
    "delta unknown": (converse({"new": 1}), [Ignored("new")]),
    "block ends": ({"contentBlockStop": {"contentBlockIndex": 1}}, [BlockEnd(1)]),
    "message stop": (
        {"messageStop": {"stopReason": "content_filtered"}},
        [Finish("content_filter", "content_filtered")],
    ),
    "metadata": (
        {"metadata": {"usage": CONVERSE_USAGE}},
        [Usage(15, 2, 17, CONVERSE_USAGE)],
    ),
    "metadata without usage": ({"metadata": {"metrics": {"latencyMs": 1}}}, []),
    "exception": (
        {"throttlingException": {"message": "slow down"}},
        [ProviderError("slow down", "throttlingException", {"message": "slow down"})],
    ),
    "event of no shape": ({"messageStop": 5}, [Ignored("messageStop")]),
    "event unknown": ({"new": {"a": 1}}, [Ignored("new")]),
    "nothing": ({}, [Ignored("chunk")]),
}


def cohere(kind: str, /, **message: Any) -> Any:
    return {"type": kind, "index": 0, "delta": {"message": message}}


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
    "content ends": ({"type": "content-end", "index": 0}, []),
    "plan": (cohere("tool-plan-delta", tool_plan="I will"), [ReasoningDelta("I will")]),
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
    "citation": ({"type": "citation-start", "index": 0}, [Ignored("citation-start", True)]),
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
            *one_call(0, "a", "f", Whole({}), is_done=True),
            *one_call(0, None, "g", "{}", is_done=True),
        ],
    ),
    "call of no shape": (ollama(tool_calls=[5]), [STARTED, Ignored("tool_calls")]),
    "images": (ollama(images=["x"]), [STARTED, Ignored("images", True)]),
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
