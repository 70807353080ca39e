"""The next request to OpenAI's Responses API: the items of the turn, and the items with the results of its calls.

Items go back exactly as the provider's last version of them, in the order of their numbers. The texts of a message and
the sections of a reasoning are put into one item again. An item that never ended is left out, and with it the reasoning
directly before it: the provider refuses a reasoning without the item that it belongs to. For the same reason a
reasoning at the end of a message that was cut off is left out. If the caller leaves out reasoning, the messages and
calls after it have no ids.

Turns of other formats become messages and calls. Items of other formats have no ids: the provider has not made them.

    call                        result
    function_call               function_call_output       text, or a list of input_text, input_image and input_file
    custom_tool_call            custom_tool_call_output    likewise
    apply_patch_call            apply_patch_call_output    text; an error means that the patch has failed
    shell_call                  shell_call_output          text, or a list with stdout, stderr and outcome
    local_shell_call            local_shell_call_output    text
    computer_call               computer_call_output       a screenshot: its URL, or the whole record
    tool_search_call            tool_search_output         a list of tools

A dict as the result of the last five is merged into the item, unless it has the form of the output itself.
"""

from __future__ import annotations

import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, cast, final

from .._calls import ToolCall
from .._parts import FilePart, ReasoningPart, RefusalPart, SourcePart, TextPart, ToolResultPart, native_in
from .turn import base64_of, plain_copy, result_text, string_in

if TYPE_CHECKING:
    from .._parts import Citation, Part
    from .turn import CallResult, Lost, Turn

__all__ = ["RUNNING", "write_results", "write_turn"]

MAX_ID: Final = 64
"""The length of a call id that the provider accepts."""

WRITTEN: Final = {"function_call": "arguments", "mcp_call": "arguments", "custom_tool_call": "input"}
ENDED: Final = frozenset({"completed", "failed", "incomplete"})
RUNNING: Final = frozenset({"calling", "generating", "in_progress", "interpreting", "queued", "searching"})
"""The words for an item that has not ended."""
CONTENT: Final = frozenset({"input_text", "input_image", "input_file"})
SHELL_OUTPUT: Final = frozenset({"stdout", "stderr", "outcome"})
ID_IS_OPTIONAL: Final = ("custom_tool_call", "function_call", "message")
NOT_ENDED: Final = "the item never ended"


# ---- the turn ----------------------------------------------------------------------------------------


@final
class _Item:
    """An item of the request: its parts, and its data if it can be sent."""

    __slots__ = ("data", "is_reasoning", "parts", "place")

    def __init__(self, place: int, parts: list[tuple[int, Part]]) -> None:
        self.place: Final = place
        self.parts: Final = parts
        self.is_reasoning: Final = isinstance(parts[0][1], ReasoningPart)
        self.data: dict[str, Any] | None = None


def write_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return the items of the turn."""
    items = _grouped(turn)
    for item in items:
        item.data = _written(turn, item)
    _leave_out_dangling(turn, items)
    _leave_out_ids(turn, items)
    return [item.data for item in items if item.data is not None]


def _grouped(turn: Turn) -> list[_Item]:
    """Return the items in order: the parts of one item have the same number, neighbouring texts without one belong
    together."""
    items: list[_Item] = []
    numbered: dict[int, _Item] = {}
    place, last = -1, None
    for number, part in turn.parts:
        at = part.block[0] if turn.is_own and part.block else None
        known = numbered.get(at) if isinstance(at, int) else None
        if known is None and last is not None and not isinstance(at, int) and _is_said(part):
            known = last
        if known is not None:
            known.parts.append((number, part))
            continue
        place = at if isinstance(at, int) else place
        item = _Item(place, [(number, part)])
        items.append(item)
        last = item if _is_said(part) and not isinstance(at, int) else None
        if isinstance(at, int):
            numbered[at] = item
    return sorted(items, key=_place)  # items without a number stay behind the one that they followed


def _place(item: _Item) -> int:
    return item.place


def _is_said(part: Part) -> bool:
    return isinstance(part, (TextPart, RefusalPart))


def _written(turn: Turn, item: _Item) -> dict[str, Any] | None:
    """Return the data of the item; None, with a loss, if it cannot be sent."""
    number, part = item.parts[0]
    if _is_said(part) or _type_of(turn, part) == "message":
        return _message(turn, item.parts)
    native = turn.block(part)
    if isinstance(part, ToolCall):
        return _call(turn, number, part, native)
    if isinstance(part, ReasoningPart):
        return _reasoning(turn, number, part, native)
    if native is None or "type" not in native:
        turn.lose(number, _kind_of(part), "only the provider that made it knows what to do with it")
        return None
    if not part.is_complete and native.get("status") in (None, *RUNNING):
        turn.lose(number, "incomplete_part", NOT_ENDED)
        return None
    if isinstance(part, FilePart) and part.is_complete and native.get("status") != "failed" and "result" not in native:
        native["result"] = base64_of(part)  # an image that failed may still have a preview
    return native


def _type_of(turn: Turn, part: Part) -> str | None:
    """Return the type of the provider's own item; None if the part has no such item."""
    return string_in(native_in(part), "type") if turn.is_own else None


def _kind_of(part: Part) -> Lost:
    if isinstance(part, ToolResultPart):
        return "server_result"
    if isinstance(part, FilePart):
        return "file"
    return "source" if isinstance(part, SourcePart) else "opaque"


def _leave_out_dangling(turn: Turn, items: list[_Item]) -> None:
    """Leave out each reasoning whose next item is left out, and the last one of a response that has not ended."""
    response = turn.native.get("response")
    is_last = not (isinstance(response, dict) and cast("dict[str, object]", response).get("status") == "completed")
    is_left_out = is_last and turn.is_own
    for item in reversed(items):
        if item.data is None:
            is_left_out = True
        elif not item.is_reasoning:
            is_left_out = False
        elif is_left_out:
            item.data = None
            turn.lose(item.parts[0][0], "reasoning", "the item that it belongs to is not sent")


def _leave_out_ids(turn: Turn, items: list[_Item]) -> None:
    """Leave out the ids of items whose reasoning the caller leaves out: by its id an item asks for its reasoning."""
    sent = {number for number, _ in turn.parts}
    for item in items:
        number, data = item.parts[0][0], item.data
        is_alone = turn.is_own and number > 0 and number - 1 not in sent
        if is_alone and data is not None and "id" in data and string_in(data, "type") in ID_IS_OPTIONAL:
            del data["id"]
            turn.lose(number, "id_changed", "the reasoning before it is not sent")


# ---- messages ----------------------------------------------------------------------------------------


def _message(turn: Turn, parts: list[tuple[int, Part]]) -> dict[str, Any] | None:
    natives = [turn.block(part) or {} for _, part in parts]
    common: dict[str, Any] = {"type": "message", "role": "assistant"}
    is_native = natives[0].get("type") == "message"
    if is_native:
        common = {name: value for name, value in natives[0].items() if name != "content"}
        if common.get("status") == "in_progress":
            if not all(part.is_complete for _, part in parts):
                for number, _ in parts:
                    turn.lose(number, "incomplete_part", NOT_ENDED)
                return None
            common["status"] = "completed"  # only the end of the response has said so
    contents: list[Any] = []
    for (number, part), native in zip(parts, natives, strict=True):
        own: object = native.get("content")
        skeleton = cast("list[object]", own)[0] if isinstance(own, list) and own else None
        if isinstance(part, (TextPart, RefusalPart)):
            content = _content(turn, number, part, skeleton, is_native)
            contents += [] if content is None else [content]
        elif skeleton is not None:
            contents.append(skeleton)
    if not contents and not is_native:
        return None
    return {**common, "content": contents}


def _content(
    turn: Turn, number: int, part: TextPart | RefusalPart, skeleton: object, is_native: bool
) -> dict[str, Any] | None:
    text = part.text
    if not text and not is_native:
        turn.lose(number, "empty_text", "a text must not be empty")
        return None
    name = "refusal" if isinstance(part, RefusalPart) else "text"
    if isinstance(skeleton, dict):
        own = cast("dict[str, Any]", skeleton)
        return own if name in own and not text else {**own, name: text}
    if isinstance(part, RefusalPart):
        return {"type": "refusal", "refusal": text}
    annotations = [_annotation(turn, number, citation) for citation in part.citations]
    return {"type": "output_text", "text": text, "annotations": [each for each in annotations if each is not None]}


def _annotation(turn: Turn, number: int, citation: Citation) -> dict[str, Any] | None:
    if turn.is_own and citation.native is not None:
        return plain_copy(citation.native)
    if citation.url is None or citation.start is None or citation.end is None:
        turn.lose(number, "citation", "a citation needs a URL, and a place in the text")
        return None
    return {
        "type": "url_citation",
        "url": citation.url,
        "title": citation.title or citation.url,
        "start_index": citation.start,
        "end_index": citation.end,
    }


# ---- reasoning and calls -----------------------------------------------------------------------------


def _reasoning(turn: Turn, number: int, part: ReasoningPart, native: dict[str, Any] | None) -> dict[str, Any] | None:
    if native is None or native.get("type") != "reasoning":
        what: Lost = "encrypted" if part.encrypted is not None and not part.text else "reasoning"
        turn.lose(number, what, "the provider accepts its own reasoning only")
        return None
    if not part.is_complete:
        turn.lose(number, "incomplete_part", NOT_ENDED)
        return None
    texts = {block[-2:]: text for block, text in part.section_texts()} if part.sections else {}
    for name in ("summary", "content"):
        sections = native.get(name)
        for at, section in enumerate(cast("list[object]", sections) if isinstance(sections, list) else []):
            if isinstance(section, dict) and "text" not in section:
                section["text"] = texts.get((name, at), "")
    return native


def _call(turn: Turn, number: int, call: ToolCall, native: dict[str, Any] | None) -> dict[str, Any] | None:
    kind = _type_of(turn, call)
    if not _has_ended(call, native):
        turn.lose(number, "incomplete_call", NOT_ENDED)
        return None
    if native is not None and kind is not None:
        if kind in WRITTEN and WRITTEN[kind] not in native:
            native[WRITTEN[kind]] = turn.text_of(number, call) if call.repairs else call.arguments
        return native
    if call.kind == "server":
        turn.lose(number, "server_call", "another provider has run the call")
        return None
    if call.signature is not None and not turn.is_own:
        turn.lose(number, "signature", "only the provider that made it can read it")
    call_id = _call_id(turn, call)
    if not turn.is_own and call_id != turn.id_of(call):
        turn.lose(number, "id_changed", f"an id has at most {MAX_ID} characters")
    if call.kind == "custom":
        return {"type": "custom_tool_call", "call_id": call_id, "name": call.name, "input": call.arguments}
    arguments = turn.text_of(number, call)
    return {"type": "function_call", "call_id": call_id, "name": call.name, "arguments": arguments}


def _has_ended(call: ToolCall, native: dict[str, Any] | None) -> bool:
    """Tell whether the call is whole. The provider's own calls also have results, and their arguments may be odd."""
    status = None if native is None or call.kind != "server" else string_in(native, "status")
    return status in ENDED or (call.is_complete and status not in RUNNING)


def _call_id(turn: Turn, call: ToolCall) -> str:
    """Return the id of a call for its item and its result. An id that is too long is replaced by a hash."""
    native = native_in(call)
    known = native.get("call_id") if turn.is_own and native is not None else None
    if isinstance(known, str) and known:
        return known
    call_id = turn.id_of(call)
    if turn.is_own or len(call_id) <= MAX_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode(errors='replace')).hexdigest()[:32]}"


# ---- results -----------------------------------------------------------------------------------------


def write_results(turn: Turn, results: list[CallResult]) -> list[dict[str, Any]]:
    """Return one item for each result of a call that the application has run."""
    items = [_result(turn, result) for result in results]
    return [item for item in items if item is not None]


def _result(turn: Turn, result: CallResult) -> dict[str, Any] | None:
    call = result.call
    native = turn.block(call) or {}
    kind = native.get("type")
    if call.kind == "server":
        turn.lose(None, "server_result", "the provider has run the call itself")
        return None
    if not isinstance(kind, str) or kind in WRITTEN:
        kind = "custom_tool_call" if call.kind == "custom" else "function_call"
    item: dict[str, Any] = {"type": f"{kind}_output", "call_id": _call_id(turn, call)}
    if native.get("caller") is not None:
        item["caller"] = native["caller"]  # a program waits for the result
    output: Any = copy.deepcopy(result.output)
    if kind == "shell_call":
        return _shell_output(item, output, result.is_error, native)
    if kind == "computer_call":
        return _computer_output(item, output)
    if kind == "tool_search_call":
        return _tool_search_output(turn, item, output, result.is_error)
    if kind == "apply_patch_call":
        item["status"] = "failed" if result.is_error else "completed"
    if kind in {"apply_patch_call", "local_shell_call"} and isinstance(output, dict):
        return {**item, **cast("dict[str, Any]", output)}
    is_content = kind in {"function_call", "custom_tool_call"} and _is_content(output)
    return {**item, "output": output if is_content else result_text(output)}


def _is_content(output: object) -> bool:
    if not isinstance(output, list) or not output:
        return False
    for each in cast("list[object]", output):
        if not isinstance(each, dict) or str(cast("dict[str, object]", each).get("type")) not in CONTENT:
            return False
    return True


def _shell_output(item: dict[str, Any], output: Any, is_error: bool, native: dict[str, Any]) -> dict[str, Any]:
    action = native.get("action")
    limit = cast("dict[str, Any]", action).get("max_output_length") if isinstance(action, dict) else None
    if limit is not None:
        item["max_output_length"] = limit  # the provider wants it back
    if isinstance(output, dict):
        record = cast("dict[str, Any]", output)
        return {**item, "output": [record]} if SHELL_OUTPUT & record.keys() else {**item, **record}
    if isinstance(output, list):
        return {**item, "output": output}
    text = result_text(output)
    outcome = {"type": "exit", "exit_code": 1 if is_error else 0}
    said = {"stdout": "" if is_error else text, "stderr": text if is_error else "", "outcome": outcome}
    return {**item, "output": [said]}


def _computer_output(item: dict[str, Any], output: Any) -> dict[str, Any]:
    if isinstance(output, dict):
        record = cast("dict[str, Any]", output)
        if "output" in record:
            return {**item, **record}
        if "image_url" in record or "file_id" in record:
            return {**item, "output": {"type": "computer_screenshot", **record}}
        return {**item, **record}
    return {**item, "output": {"type": "computer_screenshot", "image_url": result_text(output)}}


def _tool_search_output(turn: Turn, item: dict[str, Any], output: Any, is_error: bool) -> dict[str, Any]:
    item = {**item, "type": "tool_search_output", "execution": "client"}
    item["status"] = "incomplete" if is_error else "completed"
    if isinstance(output, dict) and "type" not in output:
        return {"tools": [], **item, **cast("dict[str, Any]", output)}
    tools = [cast("dict[str, Any]", output)] if isinstance(output, dict) else output
    if isinstance(output, str):
        try:
            tools = json.loads(output)
        except (ValueError, RecursionError):
            tools = None
    if not isinstance(tools, list):
        turn.lose(None, "opaque", "a search for tools answers with a list of tools")
        tools = []
    return {**item, "tools": cast("list[Any]", tools)}
