"""The next request in Anthropic's Messages API: one message of the assistant, and one of the user with all results.

A turn that came from Anthropic goes back block by block, as it came. The writer leaves out what the provider refuses:

- text blocks without text; a text of white space goes back
- thinking that was cut off before its signature
- calls that were cut off, and blocks that were cut off before their last delta
- calls of the provider's own tools without a result, unless the turn goes on: it paused, or a tool of the application
  was called, too

A turn from another format becomes text and calls. Thinking needs Anthropic's own signature, so that reasoning of other
models stays behind, and so do their own tools, files and sources.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .._calls import ToolCall
from .._parts import FilePart, ReasoningPart, RefusalPart, SourcePart, TextPart, ToolResultPart
from .calls import broken_calls, clean_ids, goes_back, object_input, unfinished_calls
from .turn import plain_copy, result_text, string_in

if TYPE_CHECKING:
    from .._parts import Part
    from .turn import CallResult, Turn

__all__ = ["write_results", "write_turn"]

UNWANTED: Final = re.compile("[^a-zA-Z0-9_-]")
WHOLE_FROM_START: Final = frozenset({"fallback", "mcp_tool_listing"})
NO_OUTPUT: Final = "error"


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the assistant's message, or nothing if no block is left."""
    ids, unfinished, broken = clean_ids(turn, UNWANTED), unfinished_calls(turn), broken_calls(turn)
    content: list[dict[str, Any]] = []
    for number, part in turn.parts:
        block: dict[str, Any] | None
        if isinstance(part, ToolCall):
            if number in unfinished and part.is_complete and turn.is_own:
                turn.lose(number, "server_call", "the provider has not run this call, and refuses it without a result")
                continue
            block = _call(turn, number, part, ids)
        elif isinstance(part, ToolResultPart) and turn.is_own and part.call_id in broken:
            turn.lose(number, "server_result", "the call of this result was cut off or is invalid")
            continue
        else:
            block = _own(turn, number, part) if turn.is_own else _foreign(turn, number, part)
        if block is not None:
            content.append(block)
    return [{"role": "assistant", "content": content}] if content else []


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return the user's message with the results. Calls that do not go back have no result there."""
    ids = clean_ids(turn, UNWANTED)
    content: list[dict[str, Any]] = []
    for result in results:
        call = result.call
        if not goes_back(call):
            continue
        text = result_text(result.output)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": ids.get(call.index) or turn.id_of(call)}
        if text or result.is_error:
            block["content"] = text or NO_OUTPUT  # an error needs a text
        if result.is_error:
            block["is_error"] = True
        toolset = (turn.block(call) or {}).get("toolset_name")
        if toolset is not None:
            block["toolset_name"] = toolset
        content.append(block)
    return [{"role": "user", "content": content}] if content else []


def _call(turn: Turn, number: int, call: ToolCall, ids: dict[int, str]) -> dict[str, Any] | None:
    if not call.is_complete or call.name is None:
        turn.lose(number, "incomplete_call", "the call was cut off or is invalid")
        return None
    if call.kind == "server" and not turn.is_own:
        turn.lose(number, "server_call", "only the provider that ran this call knows its tool")
        return None
    block, sent = turn.block(call), ids[call.index]
    if block is None:
        block = {"type": "server_tool_use" if call.kind == "server" else "tool_use", "id": sent, "name": call.name}
        if call.id is not None and sent != call.id:
            turn.lose(number, "id_changed", f"{call.id!r} is not a valid id here")
        if call.signature is not None:
            turn.lose(number, "signature", "another provider made this signature")
    elif call.id is None:
        block["id"] = sent
    block["input"] = object_input(turn, number, call)
    return block


# ---- a turn that came from Anthropic -----------------------------------------------------------------


def _own(turn: Turn, number: int, part: Part) -> dict[str, Any] | None:
    block = turn.block(part)
    if isinstance(part, TextPart):
        return _text(turn, number, part, block or {"type": "text"})
    if isinstance(part, ReasoningPart):
        return _thinking(turn, number, part, block)
    if block is None:
        return _foreign(turn, number, part)
    if isinstance(part, ToolResultPart):
        if part.output is not None:
            block.update(plain_copy({"content": part.output}))
    elif part.type == "opaque" and not part.is_complete and string_in(block, "type") not in WHOLE_FROM_START:
        turn.lose(number, "incomplete_part", "the block was cut off")
        return None
    return block


def _text(turn: Turn, number: int, part: TextPart, block: dict[str, Any]) -> dict[str, Any] | None:
    if not part.text:
        if part.citations:
            turn.lose(number, "citation", "the cited text is empty")
        return None
    block["text"] = part.text
    natives = [plain_copy(citation.native) for citation in part.citations if citation.native is not None]
    if natives:
        block["citations"] = natives
    if len(natives) < len(part.citations):
        turn.lose(number, "citation", "the citation did not come from this provider")
    return block


def _thinking(turn: Turn, number: int, part: ReasoningPart, block: dict[str, Any] | None) -> dict[str, Any] | None:
    if part.encrypted is not None and not part.text:
        return block or {"type": "redacted_thinking", "data": part.encrypted}
    if not part.signature and (block is None or number == turn.parts[-1][0]):
        turn.lose(number, "unsigned_reasoning", "the thinking was cut off before its signature")
        return None
    block = {"type": "thinking", **(block or {})}
    block["thinking"] = part.text
    if part.signature:
        block["signature"] = part.signature
    return block


# ---- a turn from another format ----------------------------------------------------------------------


def _foreign(turn: Turn, number: int, part: Part) -> dict[str, Any] | None:
    if isinstance(part, (TextPart, RefusalPart)):
        if isinstance(part, TextPart) and part.citations:
            turn.lose(number, "citation", "citations refer to documents and searches of another provider")
        if not part.text.strip():
            if part.text:
                turn.lose(number, "empty_text", "the text is only white space")
            return None
        if isinstance(part, RefusalPart):
            turn.lose(number, "refusal_as_text", "the format has no refusals")
        return {"type": "text", "text": part.text}
    if isinstance(part, ReasoningPart):
        if part.text or part.encrypted is None:
            turn.lose(number, "reasoning", "thinking needs a signature of this provider")
        else:
            turn.lose(number, "encrypted", "another provider has encrypted this reasoning")
    elif isinstance(part, ToolResultPart):
        turn.lose(number, "server_result", "only the provider that ran the tool knows its result")
    elif isinstance(part, FilePart):
        turn.lose(number, "file", "the assistant's messages cannot hold files")
    elif isinstance(part, SourcePart):
        turn.lose(number, "source", "the format has no sources outside of citations")
    else:
        turn.lose(number, "opaque", "only the provider that made this block knows it")
    return None
