"""Streams of the Responses API, all the way from chunks to the next request. No recording has these."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.chunks import response
from unspool.llm import MessageError, MessageState, MessageStream, Quirk
from unspool.llm._parts import FilePart, OpaquePart, ReasoningPart, TextPart, ToolResultPart

if TYPE_CHECKING:
    from unspool.llm._deltas import FinishReason

Payload = dict[str, Any]

FORMAT = "openai-responses"
SAID: Payload = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
HI: Payload = {**SAID, "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}
CALL: Payload = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
THOUGHT: Payload = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm"}, {"type": "summary_text", "text": "So"}],
    "encrypted_content": "x",
}


def created(**fields: Any) -> Payload:
    return response("created", response={"id": "r1", "model": "m", "status": "in_progress", "output": [], **fields})


def ended(*items: Payload, status: str = "completed", **fields: Any) -> Payload:
    whole = {"id": "r1", "model": "m", "object": "response", "status": status, "output": list(items), **fields}
    return response(status, response=whole)


def added(number: int, item: Payload) -> Payload:
    return response("output_item.added", output_index=number, item=item)


def done(number: int, item: Payload) -> Payload:
    return response("output_item.done", output_index=number, item=item)


def text(piece: str, number: int, content: int = 0) -> Payload:
    return response("output_text.delta", output_index=number, content_index=content, delta=piece)


def read(*chunks: Payload) -> MessageState:
    """The message of these chunks, which stay as they are."""
    before = copy.deepcopy(chunks)
    stream = MessageStream(list(chunks), format=FORMAT)
    with suppress(MessageError):
        stream.final()
    assert chunks == before
    return stream.state


def whole(*items: Payload) -> MessageState:
    return read({"id": "r1", "object": "response", "model": "m", "status": "completed", "output": list(items)})


def streamed(*items: Payload) -> list[Payload]:
    """The same items, begun and ended one by one."""
    chunks = [created()]
    for number, item in enumerate(items):
        empty = {name: type(value)() if name in {"content", "summary"} else value for name, value in item.items()}
        if "status" in item:
            empty["status"] = "in_progress"
        chunks += [added(number, empty), done(number, item)]
    return chunks


ITEMS: list[Payload] = [
    HI,
    {**SAID, "content": [{"type": "refusal", "refusal": "No"}]},
    {**HI, "phase": "commentary", "content": [*HI["content"], *HI["content"]]},
    {**SAID, "content": []},
    THOUGHT,
    {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]},
    CALL,
    {**CALL, "namespace": "n", "caller": {"type": "program", "caller_id": "p"}, "status": "in_progress"},
    {"type": "custom_tool_call", "id": "ctc", "call_id": "c1", "name": "sql", "input": "SELECT", "status": "completed"},
    {"type": "custom_tool_call", "id": "ctc", "call_id": "xs_call_1", "name": "x_keyword_search", "input": "{}"},
    {"type": "apply_patch_call", "id": "a", "call_id": "c1", "operation": {"type": "delete_file", "path": "p"}},
    {"type": "shell_call", "id": "s", "call_id": "c1", "action": {"commands": ["ls"]}, "environment": None},
    {"type": "shell_call", "id": "s", "call_id": "c1", "action": {}, "environment": {"type": "container_reference"}},
    {"type": "shell_call_output", "id": "s", "call_id": "c1", "output": [{"stdout": "a"}], "max_output_length": 9},
    {"type": "local_shell_call", "id": "l", "call_id": "c1", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "computer_call", "id": "k", "call_id": "c1", "actions": [{"type": "wait"}], "pending_safety_checks": []},
    {"type": "tool_search_call", "id": "t", "call_id": "c1", "arguments": {"goal": "g"}, "execution": "client"},
    {"type": "tool_search_call", "id": "t", "call_id": None, "arguments": {"paths": []}, "execution": "server"},
    {"type": "tool_search_output", "id": "t", "call_id": None, "execution": "server", "tools": [{"type": "function"}]},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "web_search_call", "id": "w", "call_id": "", "name": "web_search", "arguments": '{"query":"q"}'},
    {"type": "file_search_call", "id": "f", "status": "completed", "queries": ["q"], "results": None},
    {"type": "code_interpreter_call", "id": "i", "code": "x = 1", "container_id": "k", "outputs": [{"type": "logs"}]},
    {"type": "image_generation_call", "id": "g", "status": "completed", "result": "AAA=", "output_format": "png"},
    {"type": "image_generation_call", "id": "g", "status": "failed", "result": None},
    {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "server_label": "l", "output": "x", "error": None},
    {"type": "mcp_list_tools", "id": "m", "server_label": "l", "tools": [{"name": "f"}]},
    {"type": "mcp_approval_request", "id": "m", "name": "f", "arguments": "{}", "server_label": "l"},
    {"type": "compaction", "id": "k", "encrypted_content": "x"},
    {"type": "program", "id": "p", "call_id": "c1", "code": "x", "fingerprint": "f"},
    {"type": "program_output", "id": "p", "call_id": "c1", "result": "x", "status": "completed"},
    {"type": "brand_new", "id": "n", "more": [{"a": 1.5}]},
]
NAMES = [f"{item['type']} {number}" for number, item in enumerate(ITEMS)]


@pytest.mark.parametrize("item", ITEMS, ids=NAMES)
def test_every_item_goes_back_as_it_came(item: Payload) -> None:
    """Whether its events brought it, the response at the end, both, or a response that was not streamed."""
    found = [
        read(*streamed(item), ended()),
        read(*streamed(item), ended(item)),
        read(created(), ended(item)),
        whole(item),
    ]
    for state in found:
        assert state.as_messages() == [item]
        assert state.lost_in() == ()
        assert state.is_complete
    assert [state.parts for state in found[1:]] == [found[1].parts] * 3


@pytest.mark.parametrize("item", ITEMS, ids=NAMES)
def test_who_must_act(item: Payload) -> None:
    """The finish reason tells, whether the response at the end repeats the item or not."""
    builtin = {"apply_patch", "computer", "local_shell"}
    kind = item["type"].removesuffix("_call")
    is_local = kind == "shell" and not item["environment"]
    is_called = kind == "function" or (kind == "custom_tool" and item["name"] == "sql")
    is_search = kind == "tool_search" and item.get("execution") == "client"
    must_act = is_called or kind in builtin or is_local or is_search
    state = read(*streamed(item), ended(item))
    assert (state.finish_reason == "tool_calls") == (must_act or kind == "mcp_approval_request")
    assert [call.kind in {"function", "custom", "builtin"} for call in state.tool_calls if must_act] == [
        True
    ] * must_act
    assert [call.kind for call in read(*streamed(item), ended()).tool_calls] == [call.kind for call in state.tool_calls]
    unknown = [odd.detail for odd in state.diagnostics if odd.code is Quirk.UNKNOWN_EVENT]
    assert unknown == (["brand_new"] if kind == "brand_new" else [])


def test_neutral_fields_of_items() -> None:
    """An application needs no native fields to show what the provider did."""
    cited = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 2}
    said = {**SAID, "content": [{"type": "output_text", "text": "Hi", "annotations": [cited]}]}
    image = {
        "type": "image_generation_call",
        "id": "g",
        "status": "completed",
        "result": "AAA=",
        "output_format": "png",
    }
    code = {"type": "code_interpreter_call", "id": "i", "status": "completed", "code": "x = 1", "container_id": "k"}
    output = {"type": "shell_call_output", "id": "o", "call_id": "c", "output": [{"stdout": "a"}]}
    state = read(created(), ended(THOUGHT, code, output, image, {"type": "compaction", "id": "k"}, said))
    thought, call, result, file, opaque, told = state.parts
    assert isinstance(thought, ReasoningPart)
    assert (thought.text, thought.encrypted, thought.is_summary, thought.id) == ("Hm\n\nSo", "x", True, "rs_1")
    assert [(call.kind, call.name, call.value) for call in state.tool_calls] == [
        ("server", "code_interpreter", {"code": "x = 1"})
    ]
    assert call is state.tool_calls[0]
    assert isinstance(result, ToolResultPart)
    assert (result.call_id, result.name, result.output) == ("c", "shell", [{"stdout": "a"}])
    assert isinstance(file, FilePart)
    assert (file.media_type, file.data) == ("image/png", "AAA=")
    assert state.files == (file,)
    assert isinstance(opaque, OpaquePart)
    assert isinstance(told, TextPart)
    assert [(each.url, each.title, each.start, each.end) for each in state.citations] == [("u", "t", 0, 2)]
    assert all(part.is_complete for part in state.parts)
    assert state.reasoning == "Hm\n\nSo"
    assert state.content == "Hi"
    assert state.native["response"]["status"] == "completed"
    assert "output" not in state.native["response"]


def test_code_grows() -> None:
    """The code of the interpreter is an argument that grows, and the end repeats it."""
    item = {"type": "code_interpreter_call", "id": "i", "status": "in_progress", "code": "", "container_id": "k"}
    whole_item = {**item, "status": "completed", "code": "a\nb", "outputs": []}
    chunks = [
        created(),
        added(0, item),
        response("code_interpreter_call_code.delta", output_index=0, delta="a\n"),
        response("code_interpreter_call_code.delta", output_index=0, delta="b"),
        response("code_interpreter_call_code.done", output_index=0, code="a\nb"),
        done(0, whole_item),
        ended(whole_item),
    ]
    states = list(MessageStream(chunks, format=FORMAT))
    written = [state.tool_calls[0].arguments for state in states if state.tool_calls]
    assert written[:4] == ["", '{"code":"a\\n', '{"code":"a\\nb', '{"code":"a\\nb"}']
    assert states[-1].tool_calls[0].value == {"code": "a\nb"}
    assert states[-1].diagnostics == ()
    assert states[-1].as_messages() == [whole_item]


def test_an_image_has_previews() -> None:
    """They replace each other, and the image replaces them. An image that fails keeps its preview, which stays here."""
    item = {"type": "image_generation_call", "id": "g", "status": "in_progress"}
    previews = [
        response("image_generation_call.partial_image", output_index=0, partial_image_b64=data)
        for data in ("AA==", "AAA=")
    ]
    begun = [created(), added(0, item), *previews]
    assert read(*begun).files[0].data == "AAA="
    good, bad = {**item, "status": "completed", "result": "AAAA"}, {**item, "status": "failed"}
    state = read(*begun, done(0, good), ended(good))
    assert state.files[0].data == "AAAA"
    assert state.as_messages() == [good]
    failed = read(*begun, done(0, bad), ended(bad))
    assert failed.files[0].data == "AAA="
    assert failed.as_messages() == [bad]


def test_audio() -> None:
    """No item announces it, and no request has a place for it."""
    chunks = [created(), response("audio.delta", delta="AAAA"), response("audio.transcript.delta", delta="H")]
    chunks += [response("audio.delta", delta="AAAA"), response("audio.transcript.delta", delta="i")]
    state = read(*chunks, response("audio.done"), response("audio.transcript.done"), ended())
    assert [(file.data, file.transcript) for file in state.files] == [(b"\x00" * 6, "Hi")]
    assert state.diagnostics == ()
    assert state.as_messages() == []
    assert [(loss.part, loss.what) for loss in state.lost_in()] == [(0, "file")]


def test_annotations_that_come_one_by_one() -> None:
    """The text has them at once; the end repeats them."""
    cited = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    news = response("output_text.annotation.added", output_index=0, content_index=0, annotation=cited)
    part = {"type": "output_text", "text": "Hi", "annotations": [cited], "logprobs": []}
    over = response("content_part.done", output_index=0, content_index=0, part=part)
    said = {**SAID, "content": [part]}
    states = list(MessageStream([created(), text("Hi", 0), news, over, done(0, said), ended(said)], format=FORMAT))
    assert [len(state.citations) for state in states][1:] == [0, 1, 1, 1, 1, 1][: len(states) - 1]
    assert states[-1].as_messages() == [said]


FILTERED = {"reason": "content_filter"}
ENDS: list[tuple[Payload, FinishReason, str]] = [
    (ended(HI), "stop", "completed"),
    (ended(HI, status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length", "max_output_tokens"),
    (
        ended(HI, status="incomplete", incomplete_details={"reason": "content_filter"}),
        "content_filter",
        "content_filter",
    ),
    (ended(HI, status="incomplete", incomplete_details={"reason": "new"}), "other", "new"),
    (ended(HI, status="incomplete", incomplete_details={}), "other", "incomplete"),
    (ended(HI, status="incomplete"), "other", "incomplete"),
    (ended(HI, status="cancelled"), "cancelled", "cancelled"),
    (ended(HI, status="failed"), "error", "failed"),
]


@pytest.mark.parametrize(("end", "reason", "raw"), ENDS, ids=[f"{raw} {reason}" for _, reason, raw in ENDS])
@pytest.mark.parametrize("is_streamed", [True, False])
def test_only_a_completed_response_is_complete(end: Payload, reason: str, raw: str, is_streamed: bool) -> None:
    """The text does not matter. The same holds for a response that was not streamed."""
    state = read(created(), end) if is_streamed else read(end["response"])
    assert (state.finish_reason, state.raw_finish_reason) == (reason, raw)
    assert state.is_complete == (reason == "stop")
    assert state.content == "Hi"
    assert (state.id, state.model) == ("r1", "m")


def test_a_response_that_still_runs() -> None:
    """A background response that was asked for too early has no end."""
    state = read({"id": "r1", "object": "response", "model": "m", "status": "in_progress", "output": [], "usage": None})
    assert not state.is_complete
    assert state.id == "r1"


def test_id_and_model_without_the_first_event() -> None:
    """A resumed stream begins with another event."""
    state = read(response("in_progress", response={"id": "r1", "model": "m"}), text("Hi", 0), ended(HI))
    assert (state.id, state.model, state.role) == ("r1", "m", "assistant")
    assert read(text("Hi", 0), ended(HI)).native["response"]["model"] == "m"


def test_the_last_response_is_the_truth() -> None:
    """It has the tools of servers that were empty before, and reasoning in another encryption."""
    listed = {"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": []}
    last = [{**THOUGHT, "encrypted_content": "y"}, {**listed, "tools": [{"name": "f"}]}, {**HI, "id": "msg_2"}]
    state = read(*streamed(THOUGHT, listed, HI), ended(*last))
    assert state.as_messages() == last
    assert state.parts[0].encrypted == "y"  # type: ignore[attr-defined]
    assert len(state.parts) == 3


def test_an_item_that_never_ended() -> None:
    """It is left out with the reasoning before it, so that the provider accepts the rest."""
    open_call = {**CALL, "arguments": "", "status": "in_progress"}
    chunks = [*streamed(HI, THOUGHT), added(2, open_call)]
    chunks.append(response("function_call_arguments.delta", output_index=2, delta='{"a": '))
    state = read(*chunks)
    assert not state.is_complete
    assert state.as_messages() == [HI]
    assert [(loss.part, loss.what) for loss in state.lost_in()] == [(2, "incomplete_call"), (1, "reasoning")]


def test_every_prefix_can_be_sent() -> None:
    """No prefix of a stream sends an item that is not whole, or a reasoning without the item after it."""
    items = [THOUGHT, HI, {**THOUGHT, "id": "rs_2"}, CALL]
    chunks = [*streamed(*items), ended(*items)]
    for size in range(len(chunks)):
        sent = read(*chunks[:size]).as_messages()
        assert all(item in items for item in sent)
        assert not sent or sent[-1]["type"] != "reasoning"
    assert read(*chunks).as_messages() == items


def test_fields_of_openais_library_stay_here() -> None:
    """Its stream helper adds parsed values, which the provider refuses."""
    parsed = {**HI, "content": [{**HI["content"][0], "parsed": {"a": 1}}]}
    state = read(created(), ended(parsed, {**CALL, "parsed_arguments": {"a": 1}}))
    assert state.as_messages() == [HI, CALL]


def test_results_of_a_turn() -> None:
    """A tool loop needs no JSON of the provider."""
    patch = {"type": "apply_patch_call", "id": "a", "call_id": "c2", "status": "completed", "operation": {"type": "x"}}
    state = read(created(), ended(CALL, patch))
    assert state.tool_results({0: {"ok": True}, 1: ValueError("no")}) == [
        {"type": "function_call_output", "call_id": "c1", "output": '{"ok": true}'},
        {"type": "apply_patch_call_output", "call_id": "c2", "status": "failed", "output": "no"},
    ]


def test_a_call_id_that_changes() -> None:
    """The result answers the last version of the call."""
    search = {"type": "tool_search_call", "id": "t", "call_id": "c1", "arguments": {}, "execution": "client"}
    last = {**search, "call_id": "c2", "arguments": {"goal": "g"}, "status": "completed"}
    state = read(created(), added(0, search), done(0, last), ended(last))
    assert state.as_messages() == [last]
    assert [item["call_id"] for item in state.tool_results({0: []})] == ["c2"]
    assert len(state.tool_calls) == 1


def test_numbers_with_gaps() -> None:
    """The last response counts its items without the gaps of the stream."""
    other = {**HI, "id": "msg_2", "content": [{"type": "output_text", "text": "Ho", "annotations": []}]}
    call = {**CALL, "id": "fc_9"}
    chunks = [created(), added(0, {**SAID, "content": []}), text("Hi", 0), done(0, HI)]
    chunks += [added(2, {**other, "content": []}), text("Ho", 2), done(2, other)]
    chunks += [added(4, {**THOUGHT, "summary": []}), done(4, THOUGHT), added(5, call), done(5, call)]
    last = [HI, other, {**THOUGHT, "encrypted_content": "y"}, call]
    state = read(*chunks, ended(*last))
    assert state.content == "HiHo"
    assert state.as_messages() == last
    assert len(state.parts) == 4
    assert state.diagnostics == ()
    unnamed = [{name: value for name, value in item.items() if name != "id"} for item in last]
    assert read(*chunks, ended(*unnamed)).as_messages() == last
    more = read(*chunks, ended(*last, {"type": "compaction", "id": "k"}))
    assert more.as_messages() == [*last, {"type": "compaction", "id": "k"}]
    fewer = read(*chunks, ended(call, other))
    assert fewer.content == "HiHo"
    assert fewer.as_messages() == [call, other, HI, THOUGHT]
    assert len(fewer.parts) == 4
