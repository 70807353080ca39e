"""Readers of the two protocols for pages: what a page knows after a UI message stream, or after a run of AG-UI.

Both are written after the protocols and share nothing with the encoders. They read the fields that the protocols
define, and the metadata and custom events that docs/encoders.md names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["ReadMessage", "read_ag_ui", "read_vercel"]

Chunk = dict[str, Any]
Shown = dict[str, Any]
UI_REASONS: Final = {
    "stop": "stop",
    "length": "length",
    "tool-calls": "tool_calls",
    "content-filter": "content_filter",
    "other": "other",
}


@dataclass
class ReadMessage:
    """What a client knows of a message: its parts by their neutral fields, and the fields beside them."""

    parts: list[Shown] = field(default_factory=list)
    id: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    tokens: tuple[int, int, int] = (0, 0, 0)
    has_failed: bool = False


def written(kind: str, **more: Any) -> Shown:
    """A new part with text."""
    empty: dict[str, Shown] = {
        "text": {"citations": []},
        "reasoning": {"signature": None, "encrypted": None},
    }
    return {"type": kind, "text": "", **empty[kind], **more}


def _with_arguments(message: ReadMessage) -> ReadMessage:
    """The same, with an object for calls without arguments."""
    for shown in message.parts:
        if shown["type"] == "call" and shown["kind"] != "custom" and not shown["text"].strip():
            shown["text"] = "{}"
    return message


# ---- Vercel's UI message stream ----------------------------------------------------------------------


def read_vercel(chunks: list[Chunk]) -> ReadMessage:
    """What a page has after these chunks."""
    message, open_parts = ReadMessage(), dict[tuple[str, str], Shown]()
    texts: dict[str, Shown] = {}
    calls: dict[str, Shown] = {}
    failed = False
    for at, chunk in enumerate(chunks):
        kind = chunk["type"]
        stem, _, what = kind.rpartition("-")
        if kind == "start":
            message.id = chunk["messageId"]
            message.model = chunk.get("messageMetadata", {}).get("model")
        elif kind == "reset-step":
            message.parts.clear()
        elif stem in {"text", "reasoning"}:
            key = (stem, chunk["id"])
            if what == "start":
                open_parts[key] = written(stem)
                message.parts.append(open_parts[key])
                if stem == "text":
                    texts[chunk["id"]] = open_parts[key]
            elif what == "delta":
                open_parts[key]["text"] += chunk["delta"]
            else:
                _end_of_text(open_parts.pop(key), chunk)
        elif stem == "source":
            _source(message, texts, chunk)
        elif kind == "file":
            message.parts.append({"type": "file", "url": chunk["url"], "media_type": chunk["mediaType"]})
        elif kind.startswith("data-"):
            message.parts.append(_data(kind, chunk["data"]))
        elif kind.startswith("tool-"):
            _tool(message, calls, kind, chunk)
            if kind == "tool-input-start" and is_orphan(chunks[at : at + 3]):
                message.parts.pop()
        elif kind == "error":
            failed = True
        elif kind == "finish":
            message.finish_reason = UI_REASONS[chunk["finishReason"]]
            usage = chunk.get("messageMetadata", {}).get("usage")
            if usage is not None:
                message.tokens = (usage["inputTokens"], usage["outputTokens"], usage["totalTokens"])
    message.has_failed = failed
    return _with_arguments(message)


def is_orphan(chunks: list[Chunk]) -> bool:
    """Whether these are the empty call that begins for a result without a call, and its result."""
    kinds = [chunk["type"].removesuffix("-error").removesuffix("-available") for chunk in chunks]
    ids = {chunk.get("toolCallId") for chunk in chunks}
    is_signed = any("providerMetadata" in chunk for chunk in chunks)
    return kinds == ["tool-input-start", "tool-input", "tool-output"] and len(ids) == 1 and not is_signed


def _end_of_text(shown: Shown, chunk: Chunk) -> None:
    for provider, values in chunk.get("providerMetadata", {}).items():
        assert provider in {"anthropic", "google", "openai"}
        signature = values.get("signature", values.get("thoughtSignature"))
        secret = values.get("redactedData", values.get("reasoningEncryptedContent"))
        shown["signature"], shown["encrypted"] = signature, secret
    for cited in chunk.get("citations", ()):
        source = cited["source"]
        shown["citations"].append((source.get("url"), cited.get("startIndex"), cited.get("endIndex")))


def _source(message: ReadMessage, texts: dict[str, Shown], chunk: Chunk) -> None:
    """A source of a text has the id of that text before its own number."""
    text, _, number = chunk["sourceId"].rpartition("-")
    if text in texts:
        if int(number) >= len(texts[text]["citations"]):
            texts[text]["citations"].append((chunk.get("url"), None, None))
        return
    title = None if chunk["type"] == "source-document" and chunk["title"] == "document" else chunk.get("title")
    message.parts.append({"type": "source", "url": chunk.get("url"), "title": title})


def _data(kind: str, data: Any) -> Shown:
    if kind == "data-opaque":
        return {"type": "opaque", **data}
    assert kind == "data-tool-result"
    return {"type": "result", "call_id": data["toolCallId"], "output": data["output"], "is_error": data["isError"]}


def _tool(message: ReadMessage, calls: dict[str, Shown], kind: str, chunk: Chunk) -> None:
    called = chunk["toolCallId"]
    if kind == "tool-input-start":
        is_text = chunk.get("inputEncoding") == "text"
        run_by = "server" if chunk.get("providerExecuted") else "custom" if is_text else "function"
        calls[called] = {"type": "call", "id": called, "name": chunk["toolName"], "kind": run_by, "text": ""}
        calls[called]["signature"] = None
        message.parts.append(calls[called])
    elif kind == "tool-input-delta":
        calls[called]["text"] += chunk["inputTextDelta"]
    elif kind in {"tool-input-available", "tool-input-error"}:
        call = calls[called]
        if kind == "tool-input-available" and not call["text"].strip() and call["kind"] != "custom":
            assert chunk["input"] == {}
        elif kind == "tool-input-error":
            assert chunk["errorText"]
        call["signature"] = chunk.get("providerMetadata", {}).get("google", {}).get("thoughtSignature")
    else:
        is_error = kind == "tool-output-error"
        output = chunk["errorText"] if is_error else chunk["output"]
        message.parts.append({"type": "result", "call_id": called, "output": output, "is_error": is_error})


# ---- AG-UI -------------------------------------------------------------------------------------------


def read_ag_ui(events: list[Chunk]) -> ReadMessage:
    """What a page has after these events of a run."""
    message, by_id = ReadMessage(), dict[str, Shown]()
    for event in events:
        kind = event["type"]
        if kind == "RUN_STARTED":
            message.id, message.model = event["metadata"]["messageId"], event["metadata"].get("model")
        elif kind in {"TEXT_MESSAGE_START", "REASONING_MESSAGE_START"}:
            stem = "text" if kind.startswith("TEXT") else "reasoning"
            by_id[event["messageId"]] = written(stem)
            message.parts.append(by_id[event["messageId"]])
        elif kind in {"TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"}:
            by_id[event["messageId"]]["text"] += event["delta"]
        elif kind == "REASONING_ENCRYPTED_VALUE":
            by_id[event["entityId"]]["signature"] = event["encryptedValue"]
        elif kind == "TOOL_CALL_START":
            run_by = "server" if event.get("metadata", {}).get("providerExecuted") else "function"
            call: Shown = {"type": "call", "id": event["toolCallId"], "name": event["toolCallName"], "kind": run_by}
            by_id[event["toolCallId"]] = {**call, "text": "", "signature": None}
            message.parts.append(by_id[event["toolCallId"]])
        elif kind == "TOOL_CALL_ARGS":
            by_id[event["toolCallId"]]["text"] += event["delta"]
        elif kind == "TOOL_CALL_RESULT":
            called = None if event["toolCallId"].startswith("result_") else event["toolCallId"]
            is_error = event.get("metadata", {}).get("isError", False)
            shown = {"type": "result", "call_id": called, "output": event["content"], "is_error": is_error}
            message.parts.append(shown)
        elif kind == "CUSTOM":
            _custom(message, by_id, event["name"], event["value"])
        elif kind in {"RUN_FINISHED", "RUN_ERROR"}:
            _end_of_run(message, event)
    return _with_arguments(message)


def _custom(message: ReadMessage, by_id: dict[str, Shown], name: str, value: Any) -> None:
    if name == "unspool.citation":
        by_id[value["messageId"]]["citations"].append((value["url"] or None, value["start"], value["end"]))
    elif name == "unspool.source":
        message.parts.append({"type": "source", "url": value["url"] or None, "title": value["title"] or None})
    elif name == "unspool.file":
        message.parts.append({"type": "file", "url": value["url"], "file_id": value["fileId"]})
    else:
        assert name == "unspool.opaque"
        message.parts.append({"type": "opaque", **value})


def _end_of_run(message: ReadMessage, event: Chunk) -> None:
    message.has_failed = event["type"] == "RUN_ERROR"
    for usage in event.get("usage", ()):
        message.tokens = (usage["inputTokens"], usage["outputTokens"], usage["totalTokens"])
    outcome = event.get("outcome", {})
    if outcome.get("type") == "cancelled":
        message.finish_reason = "cancelled"
    elif not message.has_failed:
        message.finish_reason = "tool_calls" if "pendingToolCallIds" in outcome else "stop"
