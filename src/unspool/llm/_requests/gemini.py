"""A turn as Gemini's generateContent wants it back: one content of the model, with the parts that it wrote.

Own turns repeat every part. A part with a signature goes back alone and in its place; neighbouring texts without one
are joined. Arguments that came in leaves go back whole. Metadata about the answer, such as its grounding, has no place
in a request.

Turns of other providers have no signatures. The first call gets the text that Google documents for this case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from .._calls import ToolCall
from .._parts import FilePart, OpaquePart, ReasoningPart, RefusalPart, SourcePart, TextPart, ToolResultPart
from .calls import object_input
from .turn import base64_of, plain_copy, record_in, result_text

if TYPE_CHECKING:
    from .._parts import Part
    from .turn import CallResult, Turn

__all__ = ["error_output", "file_content", "write_results", "write_turn"]

NO_SIGNATURE: Final = "skip_thought_signature_validator"
"""The text that Google documents for calls of other models, in place of a signature."""
SIGNATURE: Final = "thoughtSignature"


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the turn as one content of the model; nothing if no part is left."""
    writer = GeminiTurnWriter(turn)
    for number, part in turn.parts:
        if turn.is_own:
            writer.repeat(number, part)
        else:
            writer.translate(number, part)
    parts = writer.finished()
    return [{"role": "model", "parts": parts}] if parts else []


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return the results as one content of the user."""
    parts = [{"functionResponse": _response(result)} for result in results]
    return [{"role": "user", "parts": parts}] if parts else []


def _response(result: CallResult) -> dict[str, Any]:
    """Return a result: an object as it is, another value or an error inside an object."""
    call = result.call
    output: object = result.output
    if result.is_error:
        response = plain_copy({"error": error_output(output)})
    else:
        response = plain_copy(cast("dict[str, object]", output) if isinstance(output, dict) else {"result": output})
    named = {"id": call.id} if call.id else {}
    return {**named, "name": call.name or "", "response": response}


@final
class GeminiTurnWriter:
    """The parts of a content, while they are written."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._parts: list[dict[str, Any]] = []
        self._texts: list[str] = []
        """The pieces of the text that is not in `_parts` yet."""
        self._is_thought = False
        self._has_call = False

    def finished(self) -> list[dict[str, Any]]:
        """Return all parts."""
        self._end_text()
        return self._parts

    def repeat(self, number: int, part: Part) -> None:
        """Write a part of Gemini's own."""
        if isinstance(part, (TextPart, ReasoningPart)):
            self._repeat_text(number, part)
        elif isinstance(part, ToolCall):
            self._repeat_call(number, part)
        elif isinstance(part, ToolResultPart):
            self._add(_repeated_result(self._turn.block(part) or {}, part))
        elif isinstance(part, FilePart):
            self._repeat_file(number, part)
        elif isinstance(part, OpaquePart):
            block = self._turn.block(part)
            if block:
                self._add(block)
            else:
                self._turn.lose(number, "opaque", "nothing is known about this part but its kind")
        else:
            self.translate(number, part)

    def translate(self, number: int, part: Part) -> None:
        """Write a part of another provider."""
        turn = self._turn
        if isinstance(part, TextPart):
            self._text(number, part.text, is_thought=False)
            if part.citations:
                turn.lose(number, "citation", "requests to Gemini have no citations")
        elif isinstance(part, RefusalPart):
            self._text(number, part.text, is_thought=False)
            turn.lose(number, "refusal_as_text", "Gemini has no refusals")
        elif isinstance(part, ReasoningPart):
            turn.lose(number, "reasoning", "Gemini takes back only its own thoughts")
        elif isinstance(part, ToolCall):
            self._translate_call(number, part)
        elif isinstance(part, ToolResultPart):
            turn.lose(number, "server_result", "another provider ran this tool")
        elif isinstance(part, FilePart):
            file = _file(part)
            if file is None:
                turn.lose(number, "file", "Gemini needs the media type, and the data or a URL")
            else:
                self._add(file)
        elif isinstance(part, SourcePart):
            turn.lose(number, "source", "requests to Gemini have no sources")
        else:
            turn.lose(number, "opaque", "this part belongs to another provider")

    # ---- text ----------------------------------------------------------------------------------------

    def _text(self, number: int, text: str, *, is_thought: bool) -> None:
        """Write text that may be joined with its neighbours."""
        if not text:
            self._turn.lose(number, "empty_text", "Gemini refuses a text without characters")
            return
        if is_thought != self._is_thought:
            self._end_text()
        self._is_thought = is_thought
        self._texts.append(text)

    def _end_text(self) -> None:
        if self._texts:
            written: dict[str, Any] = {"text": "".join(self._texts)}
            if self._is_thought:
                written["thought"] = True
            self._parts.append(written)
            self._texts = []

    def _add(self, part: dict[str, Any]) -> None:
        self._end_text()
        self._parts.append(part)

    def _repeat_text(self, number: int, part: TextPart | ReasoningPart) -> None:
        is_thought = isinstance(part, ReasoningPart)
        block = self._turn.block(part)
        if isinstance(part, ReasoningPart) and part.signature is not None:
            block = {**(block or {}), SIGNATURE: part.signature}
        if isinstance(part, TextPart) and part.citations:
            self._turn.lose(number, "citation", "Gemini takes no grounding back")
        if not block:
            self._text(number, part.text, is_thought=is_thought)
        elif not part.text and SIGNATURE not in block:
            self._turn.lose(number, "empty_text", "Gemini refuses a text without characters")
        else:
            self._add({"text": part.text, **({"thought": True} if is_thought else {}), **block})

    # ---- calls ---------------------------------------------------------------------------------------

    def _is_whole(self, number: int, call: ToolCall) -> bool:
        if call.error is None and call.is_complete:
            return True
        self._turn.lose(number, "incomplete_call", "the call is not complete")
        return False

    def _repeat_call(self, number: int, call: ToolCall) -> None:
        if not self._is_whole(number, call):
            return
        block = self._turn.block(call) or {}
        if call.signature is not None:
            block[SIGNATURE] = call.signature
        arguments: Any = self._turn.arguments_of(call)
        named = {"id": call.id} if call.id else {}
        if call.kind != "server":
            fields: dict[str, Any] = {**named, "name": call.name or ""}
            if arguments or "functionCall" not in block:  # the block keeps empty arguments, if they came
                fields["args"] = arguments
            self._add({**block, "functionCall": {**record_in(block, "functionCall"), **fields}})
        elif "executableCode" in block:
            code = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
            self._add({**block, "executableCode": {**record_in(block, "executableCode"), **code, **named}})
        else:
            known = record_in(block, "toolCall") or {"toolType": (call.name or "").upper()}
            fields = {**known, **named}
            if arguments or "toolCall" not in block:
                fields["args"] = arguments
            self._add({**block, "toolCall": fields})

    def _translate_call(self, number: int, call: ToolCall) -> None:
        turn = self._turn
        if call.kind == "server":
            turn.lose(number, "server_call", "another provider ran this tool")
            return
        if not self._is_whole(number, call):
            return
        if call.signature is not None:
            turn.lose(number, "signature", "the signature of another provider means nothing to Gemini")
        arguments = object_input(turn, number, call)
        named = {"id": call.id} if call.id else {}
        written: dict[str, Any] = {"functionCall": {**named, "name": call.name or "", "args": arguments}}
        if not self._has_call:  # Gemini looks for a signature on the first call of a turn
            written[SIGNATURE] = NO_SIGNATURE
        self._has_call = True
        self._add(written)

    # ---- files ---------------------------------------------------------------------------------------

    def _repeat_file(self, number: int, part: FilePart) -> None:
        block = self._turn.block(part) or {}
        file = _file(part)
        if file is None:
            self._turn.lose(number, "file", "the file has neither data nor a URL")
            return
        for kind, fields in file.items():
            file[kind] = {**record_in(block, kind), **fields}
        self._add({**block, **file})


def _repeated_result(block: dict[str, Any], part: ToolResultPart) -> dict[str, Any]:
    """Return the result of a tool that Google ran."""
    kind, field = ("codeExecutionResult", "output") if "codeExecutionResult" in block else ("toolResponse", "response")
    fields = {**record_in(block, kind)}
    if part.call_id is not None:
        fields["id"] = part.call_id
    if part.output is not None:
        fields.update(plain_copy({field: part.output}))
    return {**block, kind: fields}


def _file(part: FilePart) -> dict[str, Any] | None:
    """Return a file with its data or its URL; None if there is neither, or no media type for the data."""
    named = {"displayName": part.name} if part.name else {}
    media_type, data = file_content(part)
    if data is not None and media_type:
        return {"inlineData": {"mimeType": media_type, "data": data, **named}}
    if part.url is not None and data is None:
        typed = {"mimeType": media_type} if media_type else {}
        return {"fileData": {**typed, "fileUri": part.url, **named}}
    return None


def error_output(output: object) -> object:
    """Return the output of a tool that failed: text and objects as they are, another value as text."""
    return cast("object", output) if isinstance(output, (str, dict)) else result_text(output)


def file_content(part: FilePart) -> tuple[str | None, str | None]:
    """Return the media type and the base64 text of a file. The data may be in a "data:" URL."""
    data, url = part.data, part.url
    if data is not None:
        return part.media_type, base64_of(part)
    if url is not None and url.startswith("data:"):
        head, _, text = url.removeprefix("data:").partition(",")
        if head.endswith(";base64"):
            return part.media_type or head.partition(";")[0] or None, text
    return part.media_type, None
