"""A message in its parts, in their order: reasoning, text, calls, results, files and sources, each as what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ...llm import (
    FilePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolCall,
    ToolResultPart,
)
from ..viewer.tracks import CONTENT, call_track
from .document import clipped

if TYPE_CHECKING:
    from ...llm import MessageState, Part

__all__ = ["call_status", "message_view"]

MAX_PARTS: Final = 200
MAX_TEXT: Final = 2_000
MAX_NAME: Final = 200


def call_status(call: ToolCall) -> str:
    """Return the state of a call in one word."""
    return "failed" if call.error is not None else "complete" if call.is_complete else "open"


def message_view(message: MessageState | None) -> dict[str, Any] | None:
    """Return the parts of a message as JSON data; None without a message. Long texts show their ends."""
    if message is None:
        return None
    parts = list(message.parts[-MAX_PARTS:])
    return {
        "role": message.role,
        "model": message.model,
        "left_out": len(message.parts) - len(parts),
        "parts": [_part(part) for part in parts],
    }


def _part(part: Part) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": part.type, "status": "complete" if part.is_complete else "open", "track": None}
    match part:
        case TextPart():
            shown |= _text(part.text) | {"track": CONTENT, "name": _count(len(part.citations), "citation")}
        case ReasoningPart():
            shown |= _text(part.text) | {"track": "reasoning"}
            shown["name"] = "summary" if part.is_summary else "signed" if part.signature else ""
        case RefusalPart():
            shown |= _text(part.text) | {"track": "refusal", "name": ""}
        case ToolCall():
            shown |= _text(part.arguments) | {"track": call_track(part.index), "status": call_status(part)}
            shown["name"] = clipped(part.name or "(no name yet)", MAX_NAME)
        case ToolResultPart():
            output = part.output
            text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
            shown |= _text(text) | {"name": clipped(part.name or part.call_id or "", MAX_NAME)}
            shown["status"] = "failed" if part.is_error else shown["status"]
        case FilePart():
            words = [part.media_type, part.name, part.file_id, part.url]
            shown |= _text(part.transcript) | {"name": clipped(" ".join([word for word in words if word]), MAX_NAME)}
        case SourcePart():
            shown |= _text(part.url or part.text or "") | {"name": clipped(part.title or "", MAX_NAME)}
        case OpaquePart():
            shown |= _text("") | {"name": clipped(part.kind or "", MAX_NAME)}
        case _:
            shown |= _text("") | {"name": ""}
    return shown


def _text(text: str) -> dict[str, Any]:
    """Return the length of a text, and the text itself, or its end if it is long: a text grows there."""
    return {"length": len(text), "text": text if len(text) <= MAX_TEXT else "…" + text[-MAX_TEXT:]}


def _count(number: int, name: str) -> str:
    return "" if not number else f"{number} {name}" if number == 1 else f"{number} {name}s"
