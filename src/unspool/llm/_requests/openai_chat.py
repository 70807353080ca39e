"""The next request in chat completions: one assistant message, and one message per result.

A message of this format goes back with the fields of its dialect: `reasoning_content`, `reasoning_details`,
`thinking_blocks`, `extra_content` of a call, the list of elements of a content. Citations and sources do not go back.
The reasoning of other formats is left out, because providers do not accept it.

Text, reasoning and arguments go back as they arrived.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final, final

from .._calls import ToolCall
from .._parts import FilePart, OpaquePart, ReasoningPart, RefusalPart, TextPart
from .flat import is_sent, lose_order, lose_part, lose_signature, sent_results
from .turn import base64_of, taken_record

if TYPE_CHECKING:
    from .._parts import Part
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]

REASONING_NAMES: Final = frozenset({"reasoning_content", "reasoning", "reasoning_text"})
OUTPUT: Final = ("output",)
TEXT_FIELDS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the assistant's turn: one message."""
    message = _Message(turn)
    for number, part in turn.parts:
        message.add(number, part)
    return [message.written()]


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return one message per result. The format has no field for an error."""
    return [
        {"role": "tool", "tool_call_id": turn.id_of(result.call), "content": text}
        for result, text in sent_results(turn, results)
    ]


@final
class _Message:
    """The fields of the message while its parts are added."""

    def __init__(self, turn: Turn) -> None:
        self.turn: Final = turn
        self.texts: Final[list[str]] = []
        self.outputs: Final[list[str]] = []
        self.refusals: Final[list[str]] = []
        self.calls: Final[list[dict[str, Any]]] = []
        self.elements: Final[list[dict[str, Any]]] = []
        """The content as a list, for providers that send it so."""
        self.has_elements = False
        self.reasoning: Final[dict[str, str]] = {}
        self.more: Final[dict[str, Any]] = {}
        """The other fields of the dialect."""

    def add(self, number: int, part: Part) -> None:
        """Add a part, or report that it is left out."""
        turn = self.turn
        if isinstance(part, TextPart):
            if part.block == OUTPUT:  # the structured output went through a tool that does not exist
                self.outputs.append(part.text)
            elif part.text:
                lose_order(turn, number, self.calls)
                self.texts.append(part.text)
                self.elements.append({"type": "text", "text": part.text})
            lose_part(turn, number, part)
        elif isinstance(part, RefusalPart):
            self.refusals.append(part.text)
        elif isinstance(part, ToolCall):
            if is_sent(turn, number, part):
                lose_signature(turn, number, part)
                self.calls.append(self._call(number, part))
        elif not (turn.is_own and self._add_own(part)):
            lose_part(turn, number, part)

    def _call(self, number: int, call: ToolCall) -> dict[str, Any]:
        turn = self.turn
        native = turn.block(call) or {}
        if call.kind == "custom":
            body = {**taken_record(native, "custom"), "name": call.name, "input": call.arguments}
            return {"id": turn.id_of(call), "type": "custom", "custom": body, **native}
        if call.kind == "builtin":
            turn.lose(number, "opaque", "a tool that its provider defines becomes a function")
        arguments = turn.text_of(number, call)
        body = {**taken_record(native, "function"), "name": call.name, "arguments": arguments}
        return {"id": turn.id_of(call), "type": "function", "function": body, **native}

    def _add_own(self, part: Part) -> bool:
        """Add a part under the name that it came with. Return False if it came with none."""
        native = self.turn.block(part) or {}
        name = part.block[0] if part.block else ""
        if isinstance(part, ReasoningPart):
            self._add_reasoning(part, native, name)
            return True
        if isinstance(part, OpaquePart):
            if name == "annotations":
                self.more.setdefault("annotations", []).append(native)
            else:
                self._add_element(native)
            return True
        if not isinstance(part, FilePart):
            return False
        if name == "audio":
            if part.id is None:
                return False
            self.more["audio"] = {"id": part.id}
            return True
        url = part.url or f"data:{part.media_type};base64,{base64_of(part)}"
        holder = native.get("image_url")
        image: dict[str, Any] = {**native, "image_url": {**holder, "url": url} if isinstance(holder, dict) else url}
        if name == "images":
            self.more.setdefault("images", []).append(image)
        else:
            self._add_element(image)
        return True

    def _add_reasoning(self, part: ReasoningPart, native: dict[str, Any], name: int | str) -> None:
        kind: object = native.get("type", "")
        if not isinstance(kind, str):
            kind = "reasoning.text"  # whatever the field holds, the text goes back
        if name == "thinking":
            self._add_element({"type": "thinking", "thinking": [{"type": "text", "text": part.text}], **native})
        elif name == "thinking_blocks" or kind == "redacted_thinking":
            if kind == "thinking":
                native["thinking"] = part.text
            self.more.setdefault("thinking_blocks", []).append(native)
        elif name == "reasoning_opaque":
            self.more["reasoning_opaque"] = part.encrypted
        elif kind or (native and not part.text):
            if kind in TEXT_FIELDS:
                native[TEXT_FIELDS[kind]] = part.text
            self.more.setdefault("reasoning_details", []).append(native)
        else:
            name = name if isinstance(name, str) and name in REASONING_NAMES else "reasoning_content"
            self.reasoning[name] = self.reasoning.get(name, "") + part.text
            self.more.update(native)

    def _add_element(self, element: dict[str, Any]) -> None:
        self.elements.append(element)
        self.has_elements = True

    def written(self) -> dict[str, Any]:
        """Return the message."""
        said = [text for text in ("".join(self.texts), *self.outputs) if text]
        content: object = None
        if self.has_elements:
            content = self.elements
        elif len(said) > 1:
            content = [{"type": "text", "text": text} for text in said]
        elif said or not (self.calls or self.refusals or "audio" in self.more):
            content = "".join(said)
        message: dict[str, Any] = {"role": "assistant", "content": content, **self.reasoning, **self.more}
        if self.turn.is_own and "extra_content" in self.turn.native:
            message["extra_content"] = copy.deepcopy(self.turn.native["extra_content"])
        if self.refusals:
            message["refusal"] = "".join(self.refusals)
        if self.calls:
            message["tool_calls"] = self.calls
        return message
