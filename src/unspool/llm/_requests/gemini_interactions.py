"""A turn as Gemini's Interactions API wants it back: the steps of the model, to append to the input.

Own turns repeat every step. Parts of one "model_output" come from one step on the wire, or they are neighbours.
Applications that use `previous_interaction_id` need the results alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from .._calls import ToolCall
from .._parts import FilePart, OpaquePart, ReasoningPart, RefusalPart, SourcePart, TextPart, ToolResultPart
from .calls import object_input
from .gemini import error_output, file_content
from .turn import plain_copy, string_in

if TYPE_CHECKING:
    from .._deltas import Block
    from .._parts import Citation, Part
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]

WITHOUT_ARGUMENTS: Final = frozenset({"file_search_call", "processing_call"})
FILES: Final = frozenset({"audio", "image", "video"})


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the steps of the turn."""
    writer = StepsWriter(turn)
    for number, part in turn.parts:
        if turn.is_own:
            writer.repeat(number, part)
        else:
            writer.translate(number, part)
    return writer.steps


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return the results of the calls, a step for each."""
    return [_result(turn, result) for result in results]


def _result(turn: Turn, result: CallResult) -> dict[str, Any]:
    """Return a result: text and objects as they are, another value inside an object."""
    call = result.call
    output: object = result.output
    if result.is_error:
        output = error_output(output)
    wrapped = cast("object", output) if isinstance(output, (str, dict)) else {"result": output}
    step = {"type": "function_result", "call_id": turn.id_of(call), "name": call.name or ""}
    copied = plain_copy({"result": wrapped})
    return {**step, **copied, **({"is_error": True} if result.is_error else {})}


@final
class StepsWriter:
    """The steps of a turn, while they are written."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.steps: list[dict[str, Any]] = []
        self._output: list[dict[str, Any]] | None = None
        """The content of the last step, if that is a "model_output"."""
        self._place: int | str | None = None
        """The place of this step on the wire."""

    def repeat(self, number: int, part: Part) -> None:
        """Write a part of Gemini's own."""
        turn = self._turn
        if isinstance(part, TextPart):
            if part.text or turn.block(part):
                self._add_content(_text(turn.block(part) or {}, part), part.block)
            else:
                turn.lose(number, "empty_text", "the text has no characters")
        elif isinstance(part, ReasoningPart):
            self._add(_thought(turn.block(part) or {}, part))
        elif isinstance(part, ToolCall):
            self._repeat_call(number, part)
        elif isinstance(part, ToolResultPart):
            self._add(_repeated_result(turn.block(part) or {}, part))
        elif isinstance(part, FilePart):
            self._file(number, part, turn.block(part) or {})
        elif isinstance(part, OpaquePart):
            self._repeat_opaque(number, part)
        else:
            self.translate(number, part)

    def translate(self, number: int, part: Part) -> None:
        """Write a part of another provider."""
        turn = self._turn
        if isinstance(part, (TextPart, RefusalPart)):
            if part.text:
                self._add_content({"type": "text", "text": part.text}, ())
            else:
                turn.lose(number, "empty_text", "the text has no characters")
            if isinstance(part, RefusalPart):
                turn.lose(number, "refusal_as_text", "Gemini has no refusals")
            elif part.citations:
                turn.lose(number, "citation", "the sources belong to another provider")
        elif isinstance(part, ReasoningPart):
            turn.lose(number, "reasoning", "Gemini takes back only its own thoughts")
        elif isinstance(part, ToolCall):
            self._translate_call(number, part)
        elif isinstance(part, ToolResultPart):
            turn.lose(number, "server_result", "another provider ran this tool")
        elif isinstance(part, FilePart):
            self._file(number, part, {})
        elif isinstance(part, SourcePart):
            turn.lose(number, "source", "steps have no sources")
        else:
            turn.lose(number, "opaque", "this part belongs to another provider")

    def _add(self, step: dict[str, Any]) -> None:
        self.steps.append(step)
        self._output = None

    def _add_content(self, content: dict[str, Any], block: Block) -> None:
        """Add content to the last step, unless that is another one on the wire."""
        place = block[0] if block else None
        if self._output is None or (place is not None and place != self._place):
            self._output = []
            self.steps.append({"type": "model_output", "content": self._output})
            self._place = place
        self._output.append(content)

    # ---- calls ---------------------------------------------------------------------------------------

    def _is_whole(self, number: int, call: ToolCall) -> bool:
        if call.error is None and call.is_complete:
            return True
        self._turn.lose(number, "incomplete_call", "the call is not complete")
        return False

    def _repeat_call(self, number: int, call: ToolCall) -> None:
        if not self._is_whole(number, call):
            return
        turn = self._turn
        block = turn.block(call) or {}
        if call.signature is not None:
            block["signature"] = call.signature
        step: dict[str, Any] = {"type": "function_call", **block, "id": turn.id_of(call)}
        kind = string_in(step, "type")
        if kind in {"function_call", "mcp_server_tool_call"}:
            step["name"] = call.name or ""
        if kind not in WITHOUT_ARGUMENTS or call.arguments.strip():
            step["arguments"] = turn.arguments_of(call)
        self._add(step)

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
        self._add({"type": "function_call", "id": turn.id_of(call), "name": call.name or "", "arguments": arguments})

    # ---- files and others ----------------------------------------------------------------------------

    def _file(self, number: int, part: FilePart, block: dict[str, Any]) -> None:
        media_type, data = file_content(part)
        content: dict[str, Any] = {"type": _kind(media_type), **block}
        if media_type:
            content["mime_type"] = media_type
        if data is not None:
            content["data"] = data
        elif part.url is not None:
            content["uri"] = part.url
        else:
            self._turn.lose(number, "file", "the file has neither data nor a URL")
            return
        self._add_content(content, part.block if self._turn.is_own else ())

    def _repeat_opaque(self, number: int, part: OpaquePart) -> None:
        block = self._turn.block(part)
        if not block:
            self._turn.lose(number, "opaque", "nothing is known about this part but its kind")
        elif part.kind != "thought_summary":
            if len(part.block) > 1:  # a content of a "model_output"
                self._add_content(block, part.block)
            else:
                self._add(block)
        elif self.steps and self.steps[-1].get("type") == "thought":
            self.steps[-1].setdefault("summary", []).append(block)
        else:
            self._add({"type": "thought", "summary": [block]})


def _text(block: dict[str, Any], part: TextPart) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "text", "text": part.text, **block}
    if part.citations:
        content["annotations"] = [_annotation(citation) for citation in part.citations]
    return content


def _annotation(citation: Citation) -> dict[str, Any]:
    if citation.native is not None:
        return plain_copy(citation.native)
    fields = {"url": citation.url, "title": citation.title}
    return {"type": "url_citation", **{name: value for name, value in fields.items() if value is not None}}


def _thought(block: dict[str, Any], part: ReasoningPart) -> dict[str, Any]:
    step: dict[str, Any] = {"type": "thought", **block}
    if part.signature is not None:
        step["signature"] = part.signature
    if part.text and "summary" not in step:
        texts = [text for _, text in part.section_texts()] if part.sections else [part.text]
        step["summary"] = [{"type": "text", "text": text} for text in texts]
    return step


def _repeated_result(block: dict[str, Any], part: ToolResultPart) -> dict[str, Any]:
    """Return the result of a tool that Google ran."""
    step: dict[str, Any] = {"type": f"{part.name or 'function'}_result", **block}
    if part.call_id is not None:
        step["call_id"] = part.call_id
    if part.output is not None:
        step.update(plain_copy({"result": part.output}))
    if part.is_error:
        step["is_error"] = True
    return step


def _kind(media_type: str | None) -> str:
    """Return the type of a content with a file of this media type."""
    kind = (media_type or "").partition("/")[0]
    return kind if kind in FILES else "document"
