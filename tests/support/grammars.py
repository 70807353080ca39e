"""The grammars of the targets, as automata that accept or refuse a list of chunks.

They are written from the protocols and share no code with the encoders. A chunk in the wrong place, a field that is
missing, an id that nobody has opened or a block that nobody has closed fails with an `AssertionError` that names it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

Chunk = dict[str, Any]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


# ---- chat completions --------------------------------------------------------------------------------

CHAT_ENDS: Final = {"stop", "length", "tool_calls", "content_filter"}


def accept_chat(chunks: list[Chunk], *, is_whole: bool = True) -> None:
    """Accept chunks of chat completions: a head, deltas, an end, and maybe the usage; or an error."""
    state = "begin"
    names: tuple[Any, ...] | None = None
    calls: list[str] = []
    ids: set[str] = set()
    details: list[int] = []
    for chunk in chunks:
        assert state not in {"usage", "error"}, chunk
        if set(chunk) == {"error"}:
            assert state == "deltas"
            assert _is_text(chunk["error"]["message"])
            assert {"type", "code"} <= set(chunk["error"])
            state = "error"
            continue
        assert chunk["object"] == "chat.completion.chunk"
        assert isinstance(chunk["created"], int)
        assert _is_text(chunk["id"])
        here = (chunk["id"], chunk["created"], chunk["model"])
        assert names in {None, here}
        names = here
        if not chunk["choices"]:
            assert state == "ended"
            counts = chunk["usage"]
            assert all(counts[name] >= 0 for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
            state = "usage"
            continue
        (choice,) = chunk["choices"]
        assert choice["index"] == 0
        assert "usage" not in chunk
        delta, reason = choice["delta"], choice["finish_reason"]
        if state == "begin":
            assert delta == {"role": "assistant", "content": ""}
            assert reason is None
            state = "deltas"
        elif reason is not None:
            assert state == "deltas"
            assert delta == {}
            assert reason in CHAT_ENDS
            assert (reason == "tool_calls") <= bool(calls)
            state = "ended"
        else:
            assert state == "deltas"
            _chat_delta(delta, calls, ids, details)
    if is_whole:
        assert state in {"ended", "usage", "error"}, state


def _chat_delta(delta: Chunk, calls: list[str], ids: set[str], details: list[int]) -> None:
    assert len(delta) == 1
    ((name, value),) = delta.items()
    if name in {"content", "reasoning_content", "refusal"}:
        assert _is_text(value)
        return
    if name == "reasoning_details":
        assert value
        for detail in value:
            assert detail["type"] == "reasoning.encrypted"
            assert _is_text(detail["data"])
            assert detail["index"] == len(details), "clients join the details of one number"
            details.append(detail["index"])
        return
    assert name == "tool_calls"
    (call,) = value
    if call["index"] == len(calls):
        kind = call["type"]
        assert kind in {"function", "custom"}
        assert _is_text(call["id"])
        assert call["id"] not in ids
        ids.add(call["id"])
        assert _is_text(call[kind]["name"])
        assert call[kind]["input" if kind == "custom" else "arguments"] == ""
        calls.append(kind)
        return
    kind = calls[call["index"]]
    if "extra_content" in call:
        assert set(call) == {"index", "extra_content"}
        return
    assert set(call) == {"index", kind}
    assert _is_text(call[kind]["input" if kind == "custom" else "arguments"])
    assert len(call[kind]) == 1


# ---- Responses ---------------------------------------------------------------------------------------

ITEM_EVENTS: Final = {
    "message": ("output_text", "refusal"),
    "reasoning": ("reasoning_summary_text",),
    "function_call": ("function_call_arguments",),
    "custom_tool_call": ("custom_tool_call_input",),
}
WHOLE_FIELDS: Final = {
    "output_text": "text",
    "refusal": "refusal",
    "reasoning_summary_text": "text",
    "function_call_arguments": "arguments",
    "custom_tool_call_input": "input",
}


def without_secret(item: Chunk) -> Chunk:
    """An item without its encrypted content, which the provider may encrypt anew for the last event."""
    return {name: value for name, value in item.items() if name != "encrypted_content"}


class ResponsesAutomaton:
    """The state between two events of a response."""

    def __init__(self) -> None:
        self.number = 0
        self.response_id: str | None = None
        self.items: list[Chunk] = []
        self.item: Chunk | None = None
        self.step = ""
        """What of the open item has come: added, part, text, done, part done."""
        self.stem = ""
        self.annotations = 0
        self.ids: set[str] = set()
        self.status = ""

    def take(self, event: Chunk) -> None:
        assert not self.status, "nothing follows the last event"
        assert event["sequence_number"] == self.number
        kind = event["type"].removeprefix("response.")
        if self.number < 2:
            assert kind == ("created", "in_progress")[self.number]
            assert event["response"]["status"] == "in_progress"
            assert event["response"]["output"] == []
            self.response(event["response"])
        elif kind in {"completed", "incomplete", "failed"}:
            self.end(event["response"], kind)
        else:
            self.inside(kind, event)
        self.number += 1

    def response(self, response: Chunk) -> None:
        assert response["object"] == "response"
        assert _is_text(response["id"])
        assert self.response_id in {None, response["id"]}
        self.response_id = response["id"]
        needed = {"created_at", "model", "parallel_tool_calls", "tool_choice", "tools", "usage", "error"}
        assert needed <= set(response)

    def end(self, response: Chunk, kind: str) -> None:
        assert response["status"] == kind
        self.response(response)
        if kind != "failed":
            assert self.item is None
            assert (response["incomplete_details"] is not None) == (kind == "incomplete")
            assert response["error"] is None
        else:
            assert _is_text(response["error"]["message"])
            assert _is_text(response["error"]["code"])
        assert [without_secret(item) for item in response["output"]] == [without_secret(item) for item in self.items]
        usage = response["usage"]
        if usage is not None:
            assert {"cached_tokens", "cache_write_tokens"} == set(usage["input_tokens_details"])
            assert all(usage[name] >= 0 for name in ("input_tokens", "output_tokens", "total_tokens"))
        self.status = kind

    def inside(self, kind: str, event: Chunk) -> None:
        assert event["output_index"] == len(self.items)
        if kind == "output_item.added":
            assert self.item is None
            self.item, self.step, self.annotations = event["item"], "added", 0
            assert _is_text(self.item["id"])
            assert self.item["id"] not in self.ids
            self.ids.add(self.item["id"])
            if self.item["type"] in ITEM_EVENTS and "call_id" in self.item:
                assert _is_text(self.item["call_id"])
                assert len(self.item["call_id"]) <= 64
                assert _is_text(self.item["name"])
            return
        assert self.item is not None
        item = self.item["type"]
        if kind == "output_item.done":
            done = event["item"]
            assert [done.get(name) for name in ("id", "type", "call_id")] == [
                self.item.get(name) for name in ("id", "type", "call_id")
            ]
            is_piecewise = item in ITEM_EVENTS and not (item == "reasoning" and self.step == "added")
            wanted = {"message": "part done", "reasoning": "part done"}.get(item, "done")
            assert self.step == (wanted if is_piecewise else "added")
            if is_piecewise:
                assert done["status"] in {"completed", "incomplete"}
            self.items.append(done)
            self.item = None
            return
        assert event["item_id"] == self.item["id"]
        if kind in {"content_part.added", "reasoning_summary_part.added"}:
            assert self.step == "added"
            assert event.get("content_index", event.get("summary_index")) == 0
            self.step, self.stem = "part", event["part"]["type"]
            assert not event["part"].get("text")
            assert not event["part"].get("refusal")
            return
        if kind in {"content_part.done", "reasoning_summary_part.done"}:
            assert self.step == "done"
            self.step = "part done"
            return
        if kind == "output_text.annotation.added":
            assert self.step in {"part", "text"}
            assert event["annotation_index"] == self.annotations
            assert _is_text(event["annotation"]["type"])
            self.annotations += 1
            return
        stem, _, what = kind.rpartition(".")
        assert stem in ITEM_EVENTS[item]
        if item == "message":
            assert {"output_text": "output_text", "refusal": "refusal"}[stem] == self.stem
        assert self.step in ({"added", "text"} if item.endswith("call") else {"part", "text"})
        if what == "delta":
            assert _is_text(event["delta"])
            self.step = "text"
        else:
            assert what == "done"
            assert isinstance(event[WHOLE_FIELDS[stem]], str)
            self.step = "done"


def accept_responses(chunks: list[Chunk], *, is_whole: bool = True) -> None:
    """Accept the events of a response."""
    automaton = ResponsesAutomaton()
    for chunk in chunks:
        automaton.take(chunk)
    assert automaton.status or not is_whole


# ---- Anthropic ---------------------------------------------------------------------------------------

STOP_REASONS: Final = {"end_turn", "max_tokens", "tool_use", "refusal", "pause_turn"}
BLOCK_DELTAS: Final = {
    "text": {"text_delta": "text", "citations_delta": "citation"},
    "thinking": {"thinking_delta": "thinking", "signature_delta": "signature"},
    "tool_use": {"input_json_delta": "partial_json"},
    "server_tool_use": {"input_json_delta": "partial_json"},
    "mcp_tool_use": {"input_json_delta": "partial_json"},
}
TOOL_USE_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")


def accept_anthropic(chunks: list[Chunk], *, is_whole: bool = True) -> None:
    """Accept the events of a message."""
    state, block, count = "begin", {}, 0
    ids: set[str] = set()
    has_calls = False
    is_signed = False
    for chunk in chunks:
        kind = chunk["type"]
        assert state != "ended", kind
        if kind == "error":
            assert state != "begin"
            assert set(chunk["error"]) == {"type", "message"}
            assert _is_text(chunk["error"]["message"])
            state = "ended"
        elif kind == "message_start":
            assert state == "begin"
            message = chunk["message"]
            assert message["role"] == "assistant"
            assert message["content"] == []
            assert message["stop_reason"] is None
            assert _is_text(message["id"])
            state = "between"
        elif kind == "content_block_start":
            assert state == "between"
            assert chunk["index"] == count
            block, state, is_signed = chunk["content_block"], "block", False
            if block["type"].endswith("tool_use"):
                assert TOOL_USE_ID.fullmatch(block["id"])
                assert block["id"] not in ids
                ids.add(block["id"])
                assert block["input"] == {}
                assert _is_text(block["name"])
                has_calls = has_calls or block["type"] == "tool_use"
            elif block["type"] in BLOCK_DELTAS:
                assert block[block["type"]] == ""
        elif kind == "content_block_delta":
            assert state == "block"
            assert chunk["index"] == count
            assert not is_signed, "the signature is the last delta"
            field = BLOCK_DELTAS[block["type"]][chunk["delta"]["type"]]
            assert set(chunk["delta"]) == {"type", field}
            assert chunk["delta"][field]
            is_signed = field == "signature"
        elif kind == "content_block_stop":
            assert state == "block"
            assert chunk["index"] == count
            count, state = count + 1, "between"
        elif kind == "message_delta":
            assert state == "between"
            reason = chunk["delta"]["stop_reason"]
            assert reason in STOP_REASONS
            assert (reason == "tool_use") <= has_calls
            assert all(count >= 0 for count in chunk["usage"].values())
            state = "counted"
        else:
            assert kind == "message_stop"
            assert state == "counted"
            state = "ended"
    assert state == "ended" or not is_whole


# ---- Vercel's UI message stream ----------------------------------------------------------------------

UI_ENDS: Final = {"stop", "length", "content-filter", "tool-calls", "error", "other"}
UI_FIELDS: Final[dict[str, set[str]]] = {
    "source-url": {"sourceId", "url"},
    "source-document": {"sourceId", "mediaType", "title"},
    "file": {"url", "mediaType"},
}


def accept_vercel(chunks: list[Chunk], *, is_whole: bool = True) -> None:
    """Accept the chunks of a UI message stream."""
    state = "begin"
    texts: dict[str, str] = {}
    tools: dict[str, str] = {}
    sources: set[str] = set()
    for chunk in chunks:
        kind = chunk["type"]
        assert state != "ended", kind
        assert None not in [value for name, value in chunk.items() if name not in {"output", "input", "data"}]
        if state in {"begin", "step"}:
            assert kind == {"begin": "start", "step": "start-step"}[state]
            assert _is_text(chunk["messageId"]) if kind == "start" else len(chunk) == 1
            state = "step" if state == "begin" else "parts"
        elif kind == "error":
            assert _is_text(chunk["errorText"])
            state = "ended"
        elif kind == "finish-step":
            assert state == "parts"
            assert "open" not in {*texts.values(), *tools.values()}
            state = "finishing"
        elif kind == "finish":
            assert state == "finishing"
            assert chunk["finishReason"] in UI_ENDS
            state = "ended"
        elif kind.startswith(("text-", "reasoning-")):
            assert state == "parts"
            stem, _, what = kind.partition("-")
            key = f"{stem} {chunk['id']}"
            assert texts.get(key) == (None if what == "start" else "open")
            texts[key] = "closed" if what == "end" else "open"
            assert what != "delta" or _is_text(chunk["delta"])
        elif kind.startswith("tool-"):
            assert state == "parts"
            _ui_tool(kind, chunk, tools)
        elif kind.startswith("data-"):
            assert "data" in chunk
        else:
            assert UI_FIELDS[kind] <= set(chunk)
            assert chunk.get("sourceId") not in sources
            sources |= {chunk["sourceId"]} if "sourceId" in chunk else set()
    assert state == "ended" or not is_whole


def _ui_tool(kind: str, chunk: Chunk, tools: dict[str, str]) -> None:
    called = chunk["toolCallId"]
    assert _is_text(called)
    if kind.startswith("tool-output"):
        assert tools[called] == "closed"
        assert chunk["providerExecuted"] is True
        return
    assert tools.get(called) == (None if kind == "tool-input-start" else "open")
    tools[called] = "closed" if kind in {"tool-input-available", "tool-input-error"} else "open"
    if kind == "tool-input-delta":
        assert _is_text(chunk["inputTextDelta"])
    else:
        assert chunk["dynamic"] is True
        assert _is_text(chunk["toolName"])


# ---- AG-UI -------------------------------------------------------------------------------------------

AG_STARTS: Final = {"TEXT_MESSAGE": "messageId", "REASONING_MESSAGE": "messageId", "TOOL_CALL": "toolCallId"}


def accept_ag_ui(chunks: list[Chunk], *, is_whole: bool = True) -> None:
    """Accept the events of a run."""
    state = "begin"
    opened: dict[tuple[str, str], bool] = {}
    run: tuple[str, str] | None = None
    for chunk in chunks:
        kind = chunk["type"]
        assert state != "ended", kind
        assert None not in chunk.values()
        if kind == "RUN_STARTED":
            assert state == "begin"
            run, state = (chunk["threadId"], chunk["runId"]), "running"
            continue
        assert state == "running"
        if kind in {"RUN_FINISHED", "RUN_ERROR"}:
            state = "ended"
            counts = [
                value for usage in chunk.get("usage", []) for value in usage.values() if value != usage.get("model")
            ]
            assert all(isinstance(value, int) and value >= 0 for value in counts)
            if kind == "RUN_FINISHED":
                assert run == (chunk["threadId"], chunk["runId"])
                assert not any(opened.values())
            else:
                assert _is_text(chunk["message"])
        elif kind in {"REASONING_START", "REASONING_END"}:
            key = ("REASONING", chunk["messageId"])
            assert opened.get(key, False) == (kind == "REASONING_END")
            assert not opened.get(("REASONING_MESSAGE", chunk["messageId"]))
            opened[key] = kind == "REASONING_START"
        elif kind == "REASONING_ENCRYPTED_VALUE":
            assert _is_text(chunk["encryptedValue"])
            stem = {"message": "REASONING_MESSAGE", "tool-call": "TOOL_CALL"}[chunk["subtype"]]
            assert (stem, chunk["entityId"]) in opened
        elif kind == "TOOL_CALL_RESULT":
            assert isinstance(chunk["content"], str)
            assert _is_text(chunk["toolCallId"])
            assert _is_text(chunk["messageId"])
        elif kind == "CUSTOM":
            assert _is_text(chunk["name"])
            assert "value" in chunk
        elif kind == "MESSAGES_SNAPSHOT":
            assert all(_is_text(message["id"]) and _is_text(message["role"]) for message in chunk["messages"])
        else:
            stem, _, what = kind.rpartition("_")
            key = (stem, chunk[AG_STARTS[stem]])
            if what == "START":
                assert key not in opened
                opened[key] = True
                assert stem != "TOOL_CALL" or _is_text(chunk["toolCallName"])
                assert stem != "REASONING_MESSAGE" or opened["REASONING", chunk["messageId"]]
            elif what == "END":
                assert opened[key]
                opened[key] = False
            else:
                assert what in {"CONTENT", "ARGS"}
                assert opened[key]
                assert _is_text(chunk["delta"])
    assert state == "ended" or not is_whole


GRAMMARS: Final[dict[str, Callable[..., None]]] = {
    "openai-chat": accept_chat,
    "openai-responses": accept_responses,
    "anthropic": accept_anthropic,
    "vercel-ui": accept_vercel,
    "ag-ui": accept_ag_ui,
}


def accept(target: str, chunks: list[Chunk], *, is_whole: bool = True) -> None:
    """Accept the chunks of a target; all of them are JSON."""
    json.dumps(chunks, default=bytes.hex)
    GRAMMARS[target](chunks, is_whole=is_whole)
