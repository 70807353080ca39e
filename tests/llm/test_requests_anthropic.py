"""llm/_requests/anthropic.py: a message of Anthropic goes back as it came, and a message of others as it can."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from unspool.llm import Config, finish, reduce, start
from unspool.llm._formats.registry import deltas_for

if TYPE_CHECKING:
    from unspool.llm import MessageState

WEB = {"type": "web_search_result_location", "url": "u", "title": "t", "cited_text": "c", "encrypted_index": "e"}
PAGES = {"type": "page_location", "document_index": 0, "document_title": None, "cited_text": "c", "end_page_number": 2}
SIGNED = {"type": "thinking", "thinking": "Hm", "signature": "sig"}
REDACTED = {"type": "redacted_thinking", "data": "abc"}
SAID = {"type": "text", "text": "Hi"}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": [1]}, "caller": {"type": "direct"}}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [{"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "e", "page_age": None}],
}
BLOCKS: dict[str, list[dict[str, Any]]] = {
    "text": [SAID],
    "text of white space": [SAID, {"type": "text", "text": "\n\n"}, SAID],
    "citations": [{"type": "text", "text": "Hi", "citations": [WEB, PAGES]}],
    "no citations": [{"type": "text", "text": "Hi", "citations": []}, {"type": "text", "text": "!", "citations": None}],
    "thinking between calls": [SIGNED, CALL, {**SIGNED, "signature": "other"}, {**CALL, "id": "t2"}],
    "thinking without text": [{"type": "thinking", "thinking": "", "signature": "sig"}, SAID],
    "thinking of a server that signs nothing": [{"type": "thinking", "thinking": "Hm", "signature": ""}, SAID],
    "redacted thinking": [REDACTED, SIGNED, REDACTED, SAID],
    "call of code": [
        {"type": "server_tool_use", "id": "s1", "name": "code_execution", "input": {"code": "f()"}},
        {**CALL, "caller": {"type": "code_execution_20250825", "tool_id": "s1"}},
    ],
    "call without arguments": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}],
    "search": [SEARCH, FOUND, SAID],
    "search that failed": [
        SEARCH,
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": {"type": "web_search_tool_result_error"}},
        SAID,
    ],
    "result of an earlier search": [FOUND, SAID],
    "tool of a server": [
        {"type": "mcp_tool_use", "id": "m1", "name": "f", "server_name": "x", "input": {"a": 1}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": [SAID]},
        SAID,
    ],
    "file": [{"type": "container_upload", "file_id": "f1"}, SAID],
    "compaction": [{"type": "compaction", "content": "So far", "encrypted_content": "e"}, SAID],
    "fallback": [{"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "x"}}, SAID],
    "tools of a server": [{"type": "mcp_tool_listing", "mcp_server_name": "x", "tools": [{"name": "f"}]}, SAID],
    "unknown block": [{"type": "next_year", "id": "n1", "data": {"a": [None, 0.5]}}, SAID],
    "unknown fields": [{**SAID, "new": {"a": 1}}, {**CALL, "new": 1}, {**SIGNED, "new": [2]}, {**CALL, "id": "t2"}],
}
USAGE = {"input_tokens": 1, "output_tokens": 1}
GROWING = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}


def streamed(blocks: list[dict[str, Any]], reason: str | None = "end_turn", **delta: Any) -> list[dict[str, Any]]:
    """The blocks as Anthropic streams them, one character or citation at a time."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": dict(USAGE)}}
    ]

    def add(index: int, **piece: Any) -> None:
        events.append({"type": "content_block_delta", "index": index, "delta": piece})

    for index, block in enumerate(blocks):
        first, kind = copy.deepcopy(block), block["type"]
        late: list[dict[str, Any]] = []
        if kind in GROWING:
            name, piece = GROWING[kind]
            first[name] = ""
            late = [{"type": piece, name: letter} for letter in block[name]]
        if kind == "thinking" and block["signature"]:
            first["signature"] = ""
            late.append({"type": "signature_delta", "signature": block["signature"]})
        if block.get("citations"):
            first["citations"] = []
            late += [{"type": "citations_delta", "citation": citation} for citation in block["citations"]]
        if "input" in block:
            first["input"] = {}
            text = json.dumps(block["input"]) if block["input"] else ""
            late = [{"type": "input_json_delta", "partial_json": letter} for letter in text]
        if kind == "compaction":
            first.update(dict.fromkeys(("content", "encrypted_content")))
            late = [{"type": "compaction_delta", "content": block["content"], "encrypted_content": "e"}]
        events.append({"type": "content_block_start", "index": index, "content_block": first})
        for fields in late:
            add(index, **fields)
        events.append({"type": "content_block_stop", "index": index})
    if reason is not None:
        events.append({"type": "message_delta", "delta": {"stop_reason": reason, **delta}, "usage": dict(USAGE)})
        events.append({"type": "message_stop"})
    return events


def read(events: list[Any], format: str = "anthropic", config: Config | None = None) -> MessageState:
    """The last state of the message."""
    state, deltas = start(config, format=format), deltas_for(format)
    for event in events:
        for delta in deltas(event):
            state = reduce(state, delta)
    return finish(state)


def lost(state: MessageState, format: str) -> list[tuple[int | None, str]]:
    """What the request leaves out, and where."""
    return [(loss.part, loss.what) for loss in state.lost_in(format)]


# ---- the message itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_go_back_as_they_came(name: str) -> None:
    """All kinds of blocks survive, streamed or not, with unknown fields and in their order."""
    blocks = BLOCKS[name]
    expected = [{"role": "assistant", "content": blocks}]
    reason = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    whole = {"type": "message", "id": "m", "role": "assistant", "content": blocks, "stop_reason": reason}
    for events in (streamed(blocks, reason), [whole], [{"type": "message_start", "message": whole}]):
        state = read(events)
        assert state.as_messages() == state.as_messages("anthropic") == expected
        assert state.lost_in() == ()
        assert state.error is None
        assert state.is_complete


@pytest.mark.parametrize("name", BLOCKS)
def test_anthropics_library_sends_the_same(name: str) -> None:
    """The library's own reading of the events, sent with the next request, has the same blocks."""
    anthropic = pytest.importorskip("anthropic")
    httpx2 = pytest.importorskip("httpx2")
    events = streamed(BLOCKS[name])
    stream = "".join([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events])
    bodies: list[Any] = []

    def respond(request: Any) -> Any:
        bodies.append(json.loads(request.read()))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    http = httpx2.Client(transport=httpx2.MockTransport(respond))
    asked: Any = {"model": "m", "max_tokens": 1}
    with anthropic.Anthropic(api_key="test", base_url="http://test", http_client=http, max_retries=0) as client:
        question: Any = {"role": "user", "content": "Hi?"}
        with client.beta.messages.stream(**asked, messages=[question]) as reader:
            content = reader.get_final_message().content
        client.beta.messages.create(
            **asked, messages=[question, {"role": "assistant", "content": content}], stream=True
        )
    assert read(events).as_messages() == bodies[1]["messages"][1:]


def test_the_request_is_a_copy() -> None:
    """Changes to a request change neither the state nor the next request."""
    state = read(streamed([{"type": "text", "text": "Hi", "citations": [WEB]}, SEARCH, FOUND, CALL], "tool_use"))
    sent = state.as_messages()
    before = copy.deepcopy(sent)
    sent[0]["content"][0]["citations"][0]["url"] = "changed"
    sent[0]["content"][2]["content"][0]["url"] = "changed"
    sent[0]["content"][3]["input"]["a"].append(2)
    assert state.as_messages() == before


def test_the_last_signature_counts() -> None:
    """A signature comes whole: another one replaces it."""
    events = streamed([SIGNED, SAID])
    again = {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "new"}}
    assert read([*events[:5], again, *events[5:]]).as_messages()[0]["content"][0] == {**SIGNED, "signature": "new"}


def test_text_without_text() -> None:
    """An empty text is refused by the provider and says nothing: it is not sent, and nothing is lost."""
    state = read(streamed([{"type": "text", "text": ""}, SAID]))
    assert state.as_messages()[0]["content"] == [SAID]
    assert state.lost_in() == ()
    assert read(streamed([{"type": "text", "text": ""}])).as_messages() == []


@pytest.mark.parametrize("events", [3, 4])
def test_thinking_that_was_cut_off(events: int) -> None:
    """Thinking without its signature cannot go back."""
    state = read(streamed([SIGNED])[:events])
    assert state.reasoning
    assert state.as_messages() == []
    assert lost(state, "anthropic") == [(0, "unsigned_reasoning")]


def test_calls_that_were_cut_off() -> None:
    """A call that is not whole has no result, so it cannot go back; the rest of the turn can."""
    state = read(streamed([SAID, CALL])[:-6])
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state, "anthropic") == [(1, "incomplete_call")]


def test_blocks_that_were_cut_off() -> None:
    """A compaction comes in a delta: without it, there is nothing to send."""
    state = read(streamed([SAID, *BLOCKS["compaction"][:1]])[:6])
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state, "anthropic") == [(1, "incomplete_part")]


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", None])
def test_searches_without_a_result(reason: str | None) -> None:
    """The provider refuses its own calls without a result if the turn does not go on."""
    state = read(streamed([SAID, SEARCH], reason))
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state, "anthropic") == [(1, "server_call")]


def test_turns_that_paused() -> None:
    """A paused turn goes back as it is: the provider runs the call then."""
    state = read(streamed([SAID, SEARCH], "pause_turn"))
    assert state.finish_reason == "paused"
    assert not state.is_complete
    assert state.as_messages()[0]["content"] == [SAID, SEARCH]
    assert state.lost_in() == ()


def test_searches_that_wait_for_the_application() -> None:
    """The provider runs its own calls after those of the application in the same turn."""
    state = read(streamed([SEARCH, CALL], "tool_use"))
    assert state.as_messages()[0]["content"] == [SEARCH, CALL]
    assert state.lost_in() == ()


def test_results_of_broken_calls() -> None:
    """A result goes back with its call or not at all."""
    events = streamed([SEARCH, FOUND, SAID])
    events[2]["delta"]["partial_json"] = "]"
    state = read(events)
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state, "anthropic") == [(0, "incomplete_call"), (1, "server_result")]


def test_reasoning_is_optional() -> None:
    """The caller may leave the reasoning out."""
    state = read(streamed([SIGNED, REDACTED, SAID]))
    assert state.as_messages(include_reasoning="none")[0]["content"] == [SAID]
    assert state.as_messages(include_reasoning="needed")[0]["content"] == [SAID]


def test_fields_of_the_message() -> None:
    """The state has the id of the container for the next request."""
    state = read(streamed([SAID], "stop_sequence", stop_sequence="END", container={"id": "c1"}))
    assert dict(state.native) == {"stop_sequence": "END", "container": {"id": "c1"}}


# ---- results -----------------------------------------------------------------------------------------


def test_results() -> None:
    """All results are in one message, with the ids of their calls. Failures are marked."""
    second, third = {**CALL, "id": "t2"}, {**CALL, "id": "t3", "toolset_name": "computer"}
    state = read(streamed([SIGNED, CALL, second, third], "tool_use"))
    first, other, last = state.tool_calls
    assert state.tool_results({first: "sunny", other: ValueError("no such city"), last: {"a": [1]}}) == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "sunny"},
                {"type": "tool_result", "tool_use_id": "t2", "content": "no such city", "is_error": True},
                {"type": "tool_result", "tool_use_id": "t3", "content": '{"a": [1]}', "toolset_name": "computer"},
            ],
        }
    ]
    assert state.tool_results({0: ""})[0]["content"] == [{"type": "tool_result", "tool_use_id": "t1"}]
    assert state.tool_results({}) == []


def test_results_of_calls_that_do_not_go_back() -> None:
    """A result without its call is refused, and so is one for a call that the provider runs."""
    state = read(streamed([SEARCH, FOUND, CALL])[:-6])
    assert [call.is_complete for call in state.tool_calls] == [True, False]
    assert state.tool_results({0: "x", 1: "y"}) == []


# ---- messages from elsewhere -------------------------------------------------------------------------


def chat(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def chat_call(index: int, id: str | None, arguments: str, **function: Any) -> dict[str, Any]:
    called = {"name": "f", "arguments": arguments, **function}
    return chat(tool_calls=[{"index": index, "id": id, "type": "function", "function": called}])


END: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def test_text_and_calls_from_elsewhere() -> None:
    """Text and calls go over, without reasoning. Ids that Anthropic refuses change in the results, too."""
    events = [
        chat(role="assistant", reasoning_content="Hm"),
        chat(content="Hi"),
        chat_call(0, "functions.f:0", '{"a": 1}'),
        chat_call(1, "functions.f:0 ", ""),
        chat_call(2, "functions_f_0", '{"b": 2}'),
        END,
    ]
    state = read(events, "openai-chat")
    assert state.as_messages("anthropic") == [
        {
            "role": "assistant",
            "content": [
                SAID,
                {"type": "tool_use", "id": "functions_f_0_2", "name": "f", "input": {"a": 1}},
                {"type": "tool_use", "id": "functions_f_0_", "name": "f", "input": {}},
                {"type": "tool_use", "id": "functions_f_0", "name": "f", "input": {"b": 2}},
            ],
        }
    ]
    assert lost(state, "anthropic") == [(0, "reasoning"), (2, "id_changed"), (3, "id_changed")]
    sent = state.tool_results({0: "x", 1: "y", 2: "z"}, "anthropic")[0]["content"]
    assert [block["tool_use_id"] for block in sent] == ["functions_f_0_2", "functions_f_0_", "functions_f_0"]


def test_calls_without_an_id() -> None:
    """A call without an id gets one, and its result gets the same."""
    state = read([chat(role="assistant"), chat_call(0, None, '{"a": 1}'), END], "openai-chat")
    (block,) = state.as_messages("anthropic")[0]["content"]
    (result,) = state.tool_results({0: "x"}, "anthropic")[0]["content"]
    assert block["id"] == result["tool_use_id"] != ""
    assert state.lost_in("anthropic") == ()


def test_input_that_is_not_an_object() -> None:
    """Free text and other values go over as a field of an object."""
    custom = {"index": 0, "id": "c0", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    state = read([chat(role="assistant", tool_calls=[custom]), chat_call(1, "c1", "[1]"), END], "openai-chat")
    blocks = state.as_messages("anthropic")[0]["content"]
    assert [block["input"] for block in blocks] == [{"input": "ls -l"}, {"input": [1]}]
    assert lost(state, "anthropic") == [(0, "custom_input"), (1, "custom_input")]


def test_parts_from_elsewhere_that_have_no_place() -> None:
    """Encrypted reasoning, own tools, images and citations of others stay behind, each with a report."""
    events = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"redactedContent": b"x"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hi"}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"citation": {"title": "t"}}}},
        {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": SERVER_USE}}},
        {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockStop": {"contentBlockIndex": 2}},
        {"contentBlockStart": {"contentBlockIndex": 3, "start": {"toolResult": {"toolUseId": "s1"}}}},
        {"contentBlockStart": {"contentBlockIndex": 4, "start": {"image": {"format": "png"}}}},
        {"contentBlockStart": {"contentBlockIndex": 5, "start": {"new": {"a": 1}}}},
        {"contentBlockDelta": {"contentBlockIndex": 6, "delta": {"text": " \n"}}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    state = read(events, "bedrock-converse")
    assert state.as_messages("anthropic") == [{"role": "assistant", "content": [SAID]}]
    assert lost(state, "anthropic") == [
        (0, "encrypted"),
        (1, "citation"),
        (2, "server_call"),
        (3, "server_result"),
        (4, "file"),
        (5, "opaque"),
        (6, "empty_text"),
    ]


SERVER_USE = {"toolUseId": "s1", "name": "nova_code_interpreter", "type": "server_tool_use"}


def test_refusals_from_elsewhere() -> None:
    """A refusal becomes text, with a report."""
    state = read(
        [chat(role="assistant", refusal="No."), {"choices": [{"delta": {}, "finish_reason": "stop"}]}], "openai-chat"
    )
    assert state.as_messages("anthropic")[0]["content"] == [{"type": "text", "text": "No."}]
    assert lost(state, "anthropic") == [(0, "refusal_as_text")]
