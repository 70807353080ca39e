"""llm/_requests/bedrock_converse.py: a message of Converse goes back as it came, and messages of others as they can."""

from __future__ import annotations

import base64
import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from unspool.llm import finish, reduce, start
from unspool.llm._formats.registry import deltas_for

if TYPE_CHECKING:
    from unspool.llm import MessageState

SAID = {"text": "Hi"}
SIGNED = {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "sig"}}}
REDACTED = {"reasoningContent": {"redactedContent": b"\x00\xff"}}
CALL = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": [1]}}}
RUN = {"toolUse": {"toolUseId": "s1", "name": "x", "input": {"code": "1"}, "type": "server_tool_use"}}
RAN = {
    "toolResult": {
        "toolUseId": "s1",
        "type": "x_result",
        "status": "error",
        "content": [{"json": {"stdOut": "1"}}, {"text": "2"}],
    }
}
PLACED = {
    "title": "t",
    "sourceContent": [{"text": "c"}],
    "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}},
}
LINKED = {"source": "s", "location": {"web": {"url": "u", "domain": "d"}}}
CITED = {"citationsContent": {"content": [{"text": "Hi"}], "citations": [PLACED, LINKED]}}
IMAGE = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
STORED = {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/key"}}}}
BLOCKS: dict[str, list[dict[str, Any]]] = {
    "text": [SAID],
    "signed reasoning": [SIGNED, SAID],
    "reasoning without text": [{"reasoningContent": {"reasoningText": {"text": "", "signature": "sig"}}}, SAID],
    "reasoning of a model that signs nothing": [{"reasoningContent": {"reasoningText": {"text": "Hm"}}}, SAID],
    "reasoning between calls": [SIGNED, CALL, REDACTED, {"toolUse": {**CALL["toolUse"], "toolUseId": "t2"}}],
    "redacted reasoning": [REDACTED, SIGNED, SAID],
    "redacted reasoning in JSON": [{"reasoningContent": {"redactedContent": "AP8="}}, SAID],
    "call without arguments": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}],
    "tool of the provider": [RUN, RAN, SAID],
    "citations": [CITED, SAID],
    "image": [SAID, IMAGE],
    "image elsewhere": [STORED],
}
MEMBERS = ("toolUse", "toolResult", "reasoningContent", "citationsContent", "image")


def streamed(blocks: list[dict[str, Any]], reason: str | None = "end_turn") -> list[dict[str, Any]]:
    """The blocks as ConverseStream sends them: text, reasoning and citations have no start."""
    events: list[dict[str, Any]] = [{"messageStart": {"role": "assistant"}}]
    for index, block in enumerate(blocks):
        kind = next(iter(block))
        inner = block[kind]
        first: dict[str, Any] | None = None
        late: list[dict[str, Any]] = []
        if kind == "text":
            late = [{"text": letter} for letter in inner]
        elif kind == "reasoningContent":
            said = inner.get("reasoningText", {})
            pieces = [{"text": letter} for letter in said.get("text", "")]
            pieces += [{name: said[name]} for name in ("signature",) if name in said]
            pieces += [{name: inner[name]} for name in ("redactedContent",) if name in inner]
            late = [{kind: piece} for piece in pieces]
        elif kind == "citationsContent":
            late = [{"citation": inner["citations"][0]}]
            late += [{"text": letter} for piece in inner["content"] for letter in piece["text"]]
            late += [{"citation": citation} for citation in inner["citations"][1:]]
        elif kind == "toolUse":
            first = {kind: {name: value for name, value in inner.items() if name != "input"}}
            late = [{kind: {"input": letter}} for letter in (json.dumps(inner["input"]) if inner["input"] else "")]
        elif kind == "toolResult":
            first = {kind: {name: value for name, value in inner.items() if name != "content"}}
            late = [{kind: [item]} for item in inner["content"]]
        else:
            first = {kind: {"format": inner["format"]}}
            late = [{kind: {"source": inner["source"]}}]
        if first is not None:
            events.append({"contentBlockStart": {"contentBlockIndex": index, "start": first}})
        events += [{"contentBlockDelta": {"contentBlockIndex": index, "delta": piece}} for piece in late]
        events.append({"contentBlockStop": {"contentBlockIndex": index}})
    if reason is not None:
        events.append({"messageStop": {"stopReason": reason}})
    return events


def read(events: list[Any], format: str = "bedrock-converse") -> MessageState:
    """The last state of the message."""
    state, deltas = start(format=format), deltas_for(format)
    for event in events:
        for delta in deltas(event):
            state = reduce(state, delta)
    return finish(state)


def lost(state: MessageState, format: str = "bedrock-converse") -> list[tuple[int | None, str]]:
    """What the request leaves out, and where."""
    return [(loss.part, loss.what) for loss in state.lost_in(format)]


def assert_valid(messages: list[dict[str, Any]]) -> None:
    """AWS's own library accepts the messages."""
    session = pytest.importorskip("botocore.session").get_session()
    shape = session.get_service_model("bedrock-runtime").operation_model("Converse").input_shape
    validator = pytest.importorskip("botocore.validate").ParamValidator()
    assert validator.validate({"modelId": "m", "messages": messages}, shape).generate_report() == ""


# ---- the message itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_go_back_as_they_came(name: str) -> None:
    """All kinds of blocks survive, streamed or not, in their order. AWS's own library accepts them."""
    blocks = BLOCKS[name]
    expected = [{"role": "assistant", "content": blocks}]
    reason = (
        "tool_use" if any("toolUse" in block for block in blocks) and name != "tool of the provider" else "end_turn"
    )
    body = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": reason, "usage": {}}
    for events in (streamed(blocks, reason), [body]):
        state = read(events)
        assert state.as_messages() == state.as_messages("bedrock-converse") == expected
        assert state.lost_in() == ()
        assert state.error is None
        assert state.is_complete
    assert_valid(expected)


def test_the_request_is_a_copy() -> None:
    """Changes to a request change neither the state nor the next request."""
    state = read(streamed([CITED, RUN, RAN, CALL], "tool_use"))
    sent = state.as_messages()
    before = copy.deepcopy(sent)
    sent[0]["content"][0]["citationsContent"]["citations"][0]["location"].clear()
    sent[0]["content"][2]["toolResult"]["content"][0].clear()
    sent[0]["content"][3]["toolUse"]["input"].clear()
    assert state.as_messages() == before


def test_cited_text_in_pieces() -> None:
    """A text that was not streamed may have several pieces; they stay apart."""
    cited = {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": [PLACED]}}
    body = {"output": {"message": {"role": "assistant", "content": [cited]}}, "stopReason": "end_turn"}
    state = read([body])
    assert state.content == "ab"
    assert state.as_messages()[0]["content"] == [cited]


@pytest.mark.parametrize(("text", "what"), [("", []), (" \n", [(0, "empty_text")])])
def test_blank_text(text: str, what: list[tuple[int, str]]) -> None:
    """Blank text is refused. White space is reported; an empty text says nothing."""
    body = {"output": {"message": {"role": "assistant", "content": [{"text": text}, SAID]}}, "stopReason": "end_turn"}
    state = read([body])
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state) == what
    assert read(streamed([{"text": text}])).as_messages() == []


def test_binary_data_in_pieces() -> None:
    """Pieces of redacted reasoning and of signatures belong together, as bytes and as base64."""

    def reasoned(*pieces: Any) -> Any:
        deltas = [{"contentBlockIndex": 0, "delta": {"reasoningContent": piece}} for piece in pieces]
        return read([*[{"contentBlockDelta": delta} for delta in deltas], *streamed([SAID])[-1:]]).as_messages()

    (sent,) = reasoned({"redactedContent": b"a"}, {"redactedContent": b"b"})
    assert sent["content"] == [{"reasoningContent": {"redactedContent": b"ab"}}]
    (sent,) = reasoned({"redactedContent": "YQ=="}, {"redactedContent": "Yg=="})
    assert base64.b64decode(sent["content"][0]["reasoningContent"]["redactedContent"]) == b"ab"
    (sent,) = reasoned({"text": "Hm"}, {"signature": "a"}, {"signature": "b"})
    assert sent["content"] == [{"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "ab"}}}]


def test_parts_that_were_cut_off() -> None:
    """Reasoning without its signature and calls without their end cannot go back."""
    state = read(streamed([SIGNED])[:3])
    assert state.reasoning == "Hm"
    assert state.as_messages() == []
    assert lost(state) == [(0, "unsigned_reasoning")]
    state = read(streamed([SAID, CALL])[:-4])
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state) == [(1, "incomplete_call")]


def test_tools_of_the_provider_without_a_result() -> None:
    """A call without its result goes back only if the turn goes on."""
    state = read(streamed([SAID, RUN]))
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state) == [(1, "server_call")]
    state = read(streamed([RUN, CALL], "tool_use"))
    assert state.as_messages()[0]["content"] == [RUN, CALL]


def test_results_of_broken_calls() -> None:
    """A result goes back with its call or not at all."""
    events = streamed([RUN, RAN, SAID])
    events[2]["contentBlockDelta"]["delta"]["toolUse"]["input"] = "]"
    state = read(events)
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state) == [(0, "incomplete_call"), (1, "server_result")]


def test_images_that_failed() -> None:
    """An image that the provider could not make has no data to send."""
    events = streamed([SAID, IMAGE])
    events[5]["contentBlockDelta"]["delta"] = {"image": {"error": {"message": "no"}}}
    state = read(events)
    (image,) = state.files
    assert image.native == {"format": "png", "error": {"message": "no"}}
    assert state.as_messages()[0]["content"] == [SAID]
    assert lost(state) == [(1, "file")]


def test_unknown_blocks() -> None:
    """A block of a new type goes back whole, and is reported in the diagnostics."""
    new = {"nextYear": {"a": [None, b"x"]}}
    state = read([{"output": {"message": {"role": "assistant", "content": [new, SAID]}}, "stopReason": "end_turn"}])
    assert state.as_messages()[0]["content"] == [new, SAID]
    assert [diagnostic.detail for diagnostic in state.diagnostics] == ["nextYear"]


def test_fields_of_the_message() -> None:
    """The state has metrics and traces."""
    metadata = {"metadata": {"usage": {"inputTokens": 1}, "metrics": {"latencyMs": 5}, "trace": {"a": 1}, "p": "abc"}}
    state = read([*streamed([SAID]), metadata])
    assert dict(state.native) == {"metrics": {"latencyMs": 5}, "trace": {"a": 1}}


# ---- results -----------------------------------------------------------------------------------------


def test_results() -> None:
    """All results are in one message: objects as JSON, the rest as text. Failures have a status."""
    ids = ["t1", "t2", "t3", "t4"]
    state = read(streamed([{"toolUse": {**CALL["toolUse"], "toolUseId": each}} for each in ids], "tool_use"))
    sent = state.tool_results({0: "sunny", 1: ValueError("no such city"), 2: {"a": [1]}, 3: ""})
    assert sent == [
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "sunny"}]}},
                {"toolResult": {"toolUseId": "t2", "content": [{"text": "no such city"}], "status": "error"}},
                {"toolResult": {"toolUseId": "t3", "content": [{"json": {"a": [1]}}]}},
                {"toolResult": {"toolUseId": "t4", "content": [{"json": {"output": ""}}]}},
            ],
        }
    ]
    assert_valid([*state.as_messages(), *sent])
    assert state.tool_results({0: [1, 2]})[0]["content"][0]["toolResult"]["content"] == [{"text": "[1, 2]"}]


def test_results_of_calls_that_do_not_go_back() -> None:
    """A result without its call is refused, and so is one for a call that the provider runs."""
    state = read(streamed([RUN, RAN, CALL])[:-4])
    assert [call.is_complete for call in state.tool_calls] == [True, False]
    assert state.tool_results({0: "x", 1: "y"}) == []


# ---- messages from elsewhere -------------------------------------------------------------------------


def whole(*content: Any, reason: str = "end_turn") -> list[Any]:
    return [{"type": "message", "role": "assistant", "content": [*content], "stop_reason": reason}]


def test_a_message_of_anthropic() -> None:
    """Text, calls and citations with an address go over; what only Anthropic knows stays behind."""
    web = {"type": "web_search_result_location", "url": "u", "title": "t", "cited_text": "c", "encrypted_index": "e"}
    pages = {"type": "page_location", "document_index": 0, "cited_text": "c"}
    state = read(
        whole(
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "Hi", "citations": [web, pages]},
            {"type": "text", "text": "Ho", "citations": [pages]},
            {"type": "text", "text": "\n"},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "container_upload", "file_id": "f1"},
            {"type": "compaction", "content": "c"},
            {"type": "tool_use", "id": "t" * 65, "name": "f", "input": {"a": 1}},
            {"type": "tool_use", "id": "t" * 66, "name": "f", "input": {}},
            reason="tool_use",
        ),
        "anthropic",
    )
    cited = {"location": {"web": {"url": "u"}}, "title": "t", "sourceContent": [{"text": "c"}]}
    sent = state.as_messages("bedrock-converse")
    assert sent == [
        {
            "role": "assistant",
            "content": [
                {"citationsContent": {"content": [{"text": "Hi"}], "citations": [cited]}},
                {"text": "Ho"},
                {"toolUse": {"toolUseId": "t" * 64, "name": "f", "input": {"a": 1}}},
                {"toolUse": {"toolUseId": "t" * 62 + "_2", "name": "f", "input": {}}},
            ],
        }
    ]
    assert lost(state) == [
        (0, "reasoning"),
        (1, "encrypted"),
        (2, "citation"),
        (3, "citation"),
        (4, "empty_text"),
        (5, "server_call"),
        (6, "server_result"),
        (7, "file"),
        (8, "opaque"),
        (9, "id_changed"),
        (10, "id_changed"),
    ]
    results = state.tool_results({1: "x", 2: "y"}, "bedrock-converse")
    assert [block["toolResult"]["toolUseId"] for block in results[0]["content"]] == ["t" * 64, "t" * 62 + "_2"]
    assert_valid([*sent, *results])


def test_refusals_from_elsewhere() -> None:
    """A refusal becomes text, with a report."""
    refused = {"choices": [{"delta": {"role": "assistant", "refusal": "No."}, "finish_reason": "stop"}]}
    state = read([refused], "openai-chat")
    assert state.as_messages("bedrock-converse")[0]["content"] == [{"text": "No."}]
    assert lost(state) == [(0, "refusal_as_text")]
