"""The fidelity tables of docs/next-request.md: the items of a message that each format keeps, and those that it loses.

Every source is a stream written by hand, in which each item has a mark of its own. An item is kept if its mark is in
the next request. Otherwise a loss names its part: nothing is dropped without a trace.

`python -m tests.support.fidelity --write-docs` writes the tables into the page. tests/llm/test_fidelity.py compares the
page with them.
"""

from __future__ import annotations

import argparse
import base64
import json
from typing import TYPE_CHECKING, Any, Final

from tests.support.page_tables import NEXT_REQUEST, write_table
from unspool.llm import MessageStream
from unspool.llm._requests.registry import WRITERS

if TYPE_CHECKING:
    from unspool.llm import MessageState
    from unspool.llm._parts import Part

ITEMS = {
    "text": "text",
    "thought": "reasoning text",
    "signature": "signature",
    "encrypted": "encrypted reasoning",
    "function": "function call",
    "custom": "custom call",
    "builtin": "builtin call",
    "server": "server call",
    "result": "server result",
    "citation": "citation",
    "source": "source",
    "file": "file",
    "refusal": "refusal",
    "opaque": "opaque block",
}
"""The rows of the table: the mark of an item, and its name."""


def mark(item: str) -> str:
    """The mark of an item: a text that is base64 as well, and has no other meaning."""
    return f"mark{item}".ljust(16, "x")


ARGUMENTS = {"value": mark("function")}


def chat(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


CHAT = [
    chat({"role": "assistant"}, citations=[f"https://{mark('source')}"]),
    chat(
        {
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": mark("thought")},
                {"type": "reasoning.text", "index": 0, "signature": mark("signature")},
                {"type": "reasoning.encrypted", "index": 1, "data": mark("encrypted")},
            ]
        }
    ),
    chat(
        {
            "executed_tools": [
                {"index": 0, "type": "search", "arguments": json.dumps({"q": mark("server")}), "output": mark("result")}
            ]
        }
    ),
    chat(
        {
            "content": [{"type": "text", "text": mark("text")}],
            "annotations": [{"type": "url_citation", "url_citation": {"url": f"https://{mark('citation')}"}}],
        }
    ),
    chat({"content": [{"type": "new", "value": mark("opaque")}], "refusal": mark("refusal")}),
    chat({"images": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{mark('file')}"}}]}),
    chat(
        {
            "tool_calls": [
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": json.dumps(ARGUMENTS)}},
                {"index": 1, "id": "b", "type": "custom", "custom": {"name": "sql", "input": mark("custom")}},
            ]
        }
    ),
    chat({}, "tool_calls"),
]


def item(number: int, kind: str, /, **fields: Any) -> dict[str, Any]:
    done = {"type": kind, "id": f"item_{number}", "status": "completed", **fields}
    return {"type": "response.output_item.done", "output_index": number, "item": done}


RESPONSES = [
    {"type": "response.created", "response": {"id": "r1", "model": "m", "status": "in_progress"}},
    item(
        0,
        "reasoning",
        summary=[{"type": "summary_text", "text": mark("thought")}],
        encrypted_content=mark("encrypted"),
    ),
    item(
        1,
        "mcp_call",
        name="search",
        server_label="s",
        arguments=json.dumps({"q": mark("server")}),
        output=mark("result"),
    ),
    item(
        2,
        "message",
        role="assistant",
        content=[
            {
                "type": "output_text",
                "text": mark("text"),
                "annotations": [
                    {
                        "type": "url_citation",
                        "url": f"https://{mark('citation')}",
                        "title": "A",
                        "start_index": 0,
                        "end_index": 4,
                    }
                ],
            },
            {"type": "refusal", "refusal": mark("refusal")},
        ],
    ),
    item(3, "image_generation_call", result=mark("file")),
    item(4, "new_item", value=mark("opaque")),
    item(5, "function_call", call_id="call_a", name="f", arguments=json.dumps(ARGUMENTS)),
    item(6, "custom_tool_call", call_id="call_b", name="sql", input=mark("custom")),
    item(7, "shell_call", call_id="call_c", action={"commands": [mark("builtin")]}),
    {"type": "response.completed", "response": {"id": "r1", "status": "completed"}},
]


def block(number: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": number, "content_block": start},
        *[{"type": "content_block_delta", "index": number, "delta": delta} for delta in deltas],
        {"type": "content_block_stop", "index": number},
    ]


ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m1", "role": "assistant", "model": "m", "content": []}},
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": mark("thought")},
        {"type": "signature_delta", "signature": mark("signature")},
    ),
    *block(1, {"type": "redacted_thinking", "data": mark("encrypted")}),
    *block(2, {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"q": mark("server")}}),
    *block(
        3,
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srv",
            "content": [{"type": "web_search_result", "url": "https://a", "title": mark("result")}],
        },
    ),
    *block(
        4,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": mark("text")},
        {
            "type": "citations_delta",
            "citation": {"type": "web_search_result_location", "url": f"https://{mark('citation')}", "cited_text": "x"},
        },
    ),
    *block(5, {"type": "new_block", "value": mark("opaque")}),
    *block(
        6,
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "input_json_delta", "partial_json": json.dumps(ARGUMENTS)},
    ),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]


def content_block(number: int, *deltas: Any, **start: Any) -> list[dict[str, Any]]:
    return [
        *([{"contentBlockStart": {"contentBlockIndex": number, "start": start}}] if start else []),
        *[{"contentBlockDelta": {"contentBlockIndex": number, "delta": delta}} for delta in deltas],
        {"contentBlockStop": {"contentBlockIndex": number}},
    ]


BEDROCK = [
    {"messageStart": {"role": "assistant"}},
    *content_block(
        0,
        {"reasoningContent": {"text": mark("thought")}},
        {"reasoningContent": {"signature": mark("signature")}},
    ),
    *content_block(1, {"reasoningContent": {"redactedContent": mark("encrypted").encode()}}),
    *content_block(
        2,
        {"toolUse": {"input": json.dumps({"q": mark("server")})}},
        toolUse={"toolUseId": "srv", "name": "nova_grounding", "type": "server_tool_use"},
    ),
    *content_block(
        3,
        {"toolResult": [{"text": mark("result")}]},
        toolResult={"toolUseId": "srv", "type": "nova_grounding_result", "status": "success"},
    ),
    *content_block(
        4,
        {"text": mark("text")},
        {"citation": {"title": "A", "location": {"web": {"url": f"https://{mark('citation')}"}}}},
    ),
    *content_block(5, {"image": {"source": {"bytes": mark("file").encode()}}}, image={"format": "png"}),
    *content_block(
        6,
        {"toolUse": {"input": json.dumps(ARGUMENTS)}},
        toolUse={"toolUseId": "a", "name": "f"},
    ),
    {"messageStop": {"stopReason": "tool_use"}},
]


def gemini(*parts: Any, **candidate: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"responseId": "r1", "candidates": [{"content": content, **candidate}]}


GEMINI = [
    gemini({"text": mark("thought"), "thought": True}),
    gemini({"executableCode": {"language": "PYTHON", "code": mark("server")}}),
    gemini({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": mark("result")}}),
    gemini(
        {"text": mark("text")},
        groundingMetadata={
            "groundingChunks": [{"web": {"uri": f"https://{mark(name)}"}} for name in ("citation", "source")],
            "groundingSupports": [{"segment": {"endIndex": 4, "text": "mark"}, "groundingChunkIndices": [0]}],
        },
    ),
    gemini({"inlineData": {"mimeType": "image/png", "data": mark("file")}}),
    gemini({"newPart": {"value": mark("opaque")}}),
    gemini({"functionCall": {"name": "f", "args": ARGUMENTS}, "thoughtSignature": mark("signature")}),
    gemini(finishReason="STOP"),
]


def step(number: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"event_type": "step.start", "index": number, "step": start},
        *[{"event_type": "step.delta", "index": number, "delta": delta} for delta in deltas],
        {"event_type": "step.stop", "index": number},
    ]


INTERACTIONS = [
    {"event_type": "interaction.created", "interaction": {"id": "v1", "model": "m"}},
    *step(
        0,
        {"type": "thought"},
        {"type": "thought_summary", "content": {"type": "text", "text": mark("thought")}},
        {"type": "thought_signature", "signature": mark("signature")},
    ),
    *step(1, {"type": "google_search_call", "id": "s1", "arguments": {"queries": [mark("server")]}}),
    *step(2, {"type": "google_search_result", "call_id": "s1", "result": [{"title": mark("result")}]}),
    *step(
        3,
        {"type": "model_output"},
        {"type": "text", "text": mark("text")},
        {
            "type": "text_annotation_delta",
            "annotations": [{"type": "url_citation", "url": f"https://{mark('citation')}"}],
        },
    ),
    *step(4, {"type": "new_step", "value": mark("opaque")}),
    *step(
        5,
        {"type": "function_call", "id": "a", "name": "f", "arguments": {}},
        {"type": "arguments_delta", "arguments": json.dumps(ARGUMENTS)},
    ),
    {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}},
]


def cohere(kind: str, number: int | None, /, **message: Any) -> dict[str, Any]:
    return {"type": kind, **({"index": number} if number is not None else {}), "delta": {"message": message}}


COHERE = [
    {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
    cohere("content-start", 0, content={"type": "thinking", "thinking": mark("thought")}),
    cohere("content-start", 1, content={"type": "text", "text": mark("text")}),
    cohere(
        "citation-start",
        0,
        citations={
            "start": 0,
            "end": 4,
            "content_index": 1,
            "sources": [{"type": "document", "id": "d", "document": {"url": f"https://{mark('citation')}"}}],
        },
    ),
    cohere("content-start", 2, content={"type": "new", "value": mark("opaque")}),
    {"type": "content-end", "index": 2},
    cohere("tool-call-start", 0, tool_calls={"id": "a", "function": {"name": "f", "arguments": json.dumps(ARGUMENTS)}}),
    {"type": "tool-call-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
]

OLLAMA_MESSAGE = {
    "role": "assistant",
    "content": mark("text"),
    "thinking": mark("thought"),
    "images": [mark("file")],
    "tool_calls": [{"function": {"name": "f", "arguments": ARGUMENTS}}],
}
OLLAMA = [{"model": "m", "message": OLLAMA_MESSAGE, "done": True, "done_reason": "stop"}]

ALL_SOURCES: dict[str, list[dict[str, Any]]] = {
    "anthropic": ANTHROPIC,
    "bedrock-converse": BEDROCK,
    "cohere": COHERE,
    "gemini": GEMINI,
    "gemini-interactions": INTERACTIONS,
    "ollama": OLLAMA,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
}
SOURCES = {name: chunks for name, chunks in ALL_SOURCES.items() if name in WRITERS}


def as_text(value: object) -> str:
    """A value that is not JSON as text: bytes as they are, and as base64."""
    if isinstance(value, bytes):
        return f"{value.decode('latin-1')} {base64.b64encode(value).decode()}"
    return repr(value)


def plain_text(value: object) -> str:
    """A value as text in which marks can be found, also if they have become base64."""
    text = json.dumps(value, default=as_text)
    for name in ITEMS:
        text = text.replace(base64.b64encode(mark(name).encode()).decode(), mark(name))
    return text


def holds(part: Part, item: str) -> bool:
    """Tell whether the part has the mark of the item in any field."""
    return mark(item) in plain_text([getattr(part, name) for name in part.__match_args__ if name != "native"]) or (
        part.native is not None and mark(item) in plain_text(dict(part.native))
    )


def message_from(source: str) -> MessageState:
    """The message of a source."""
    return MessageStream(SOURCES[source], format=source).final()


def items_of(source: str) -> list[str]:
    """The items that the source has."""
    text = plain_text(SOURCES[source])
    return [item for item in ITEMS if mark(item) in text]


CHANGES: Final = {"custom_input", "opaque", "refusal_as_text"}
"""Losses of items that are sent in another form."""
OWN: Final = "fidelity-own"
OTHERS: Final = "fidelity-others"
"""The names of the two tables in the page: messages in the format that they came in, and in other formats."""


def outcome(state: MessageState, item: str, target: str) -> tuple[str, tuple[str, ...]]:
    """Tell whether the item is kept in the target, changed, lost or dropped, and the losses that name its part."""
    numbers = {number for number, part in enumerate(state.parts) if holds(part, item)}
    codes = sorted({loss.what for loss in state.lost_in(target) if loss.part in numbers})
    if mark(item) in plain_text(state.as_messages(target)):
        changes = tuple(code for code in codes if code in CHANGES)
        return ("changed" if changes else "kept"), changes
    return ("lost" if codes else "dropped"), tuple(codes)


def cell(outcomes: list[tuple[str, tuple[str, ...]]]) -> str:
    """Return the words for the outcomes of several sources."""
    told: list[str] = []
    for verb in ("kept", "changed", "lost", "dropped"):
        codes = sorted({code for found, inner in outcomes if found == verb for code in inner})
        if any(found == verb for found, _ in outcomes):
            told.append(f"{verb}: {', '.join(f'`{code}`' for code in codes)}" if codes else verb)
    return "; ".join(told) or "-"


def fidelity_table(name: str) -> list[str]:
    """Return the lines of a table: a row for each item, and a column for each format that is written."""
    states = {source: message_from(source) for source in SOURCES}
    targets = sorted(WRITERS)
    lines = [f"| item | {' | '.join(f'`{target}`' for target in targets)} |", f"|---|{'---|' * len(targets)}"]
    for item, words in ITEMS.items():
        holders = [source for source in SOURCES if item in items_of(source)]
        cells = [
            cell([outcome(states[it], item, target) for it in holders if (it == target) == (name == OWN)])
            for target in targets
        ]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Show the items of a message that each format keeps.")
    parser.add_argument("--write-docs", action="store_true", help="write the tables into docs/next-request.md")
    write_docs = parser.parse_args().write_docs
    for name in (OWN, OTHERS):
        if write_docs:
            write_table(NEXT_REQUEST, name, fidelity_table(name))
        else:
            print("\n".join(fidelity_table(name)))


if __name__ == "__main__":
    main()
