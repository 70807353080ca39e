"""Whole streams in the dialects of chat completions, Cohere and Ollama, from the first chunk to the next request.

The streams are written by hand, after the recordings and the types of the vendors' libraries.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import shared
from unspool.llm import MessageError, MessageState, MessageStream, Quirk
from unspool.llm._deltas import Usage
from unspool.llm._parts import FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart


def chunk(delta: Any = None, /, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of chat completions."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": choices, **more}


def tool(**call: Any) -> dict[str, Any]:
    """A chunk with one call."""
    return chunk({"tool_calls": [call]})


END = chunk({}, "stop")
CALLED = chunk({}, "tool_calls")
WEATHER = tool(index=0, id="call_1", type="function", function={"name": "weather", "arguments": '{"city": "Suva"}'})
SENT = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Suva"}'}}


def read(*chunks: Any, format: str = "openai-chat") -> MessageState:
    """The last state of a stream in which nothing is odd."""
    state = MessageStream(list(chunks), format=format).final()
    assert state.diagnostics == ()
    return state


def sent(state: MessageState) -> dict[str, Any]:
    """The message that goes back, with nothing lost. It is JSON."""
    assert state.lost_in() == ()
    (message,) = state.as_messages()
    assert json.loads(json.dumps(message)) == message
    return message


# ---- reasoning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_a_tool_loop_with_reasoning(name: str) -> None:
    """DeepSeek refuses the second request of a tool loop without the reasoning of the first answer."""
    state = read(chunk({"role": "assistant", name: "Let "}), chunk({name: "me see."}), WEATHER, CALLED)
    assert state.finish_reason == "tool_calls"
    assert state.reasoning == "Let me see."
    history = [*state.as_messages(), *state.tool_results({0: "sunny"})]
    assert history == [
        {"role": "assistant", "content": None, name: "Let me see.", "tool_calls": [SENT]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
    ]
    assert name not in state.as_messages(include_reasoning="none")[0]


def detail(**fields: Any) -> dict[str, Any]:
    """A chunk of OpenRouter, which repeats the text of its details."""
    text = fields.get("text", fields.get("summary"))
    return chunk({"role": "assistant", "content": "", "reasoning": text or None, "reasoning_details": [fields]})


def test_reasoning_details() -> None:
    """Details with one index and type are one part; a signature may come alone; the repeated text counts once."""
    text = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
    summary = {"type": "reasoning.summary", "format": "openai-responses-v1", "index": 1}
    secret = {"type": "reasoning.encrypted", "data": "abc", "id": "rs_1", "index": 2}
    state = read(
        detail(**text, text="", signature=""),
        detail(**text, text="Let "),
        detail(**text, text="me see."),
        detail(**text, signature="sig"),
        detail(**summary, summary="In short."),
        detail(**secret),
        detail(**{**secret, "data": "def"}),
        chunk({"content": "Hi", "reasoning": None, "reasoning_details": []}),
        END,
    )
    assert state.reasoning == "Let me see.In short."
    first, second, third, fourth, answer = state.parts
    assert isinstance(first, ReasoningPart)
    assert (first.text, first.signature) == ("Let me see.", "sig")
    assert isinstance(second, ReasoningPart)
    assert second.is_summary
    assert isinstance(third, ReasoningPart)
    assert isinstance(fourth, ReasoningPart)
    assert (third.encrypted, fourth.encrypted) == ("abc", "def")
    assert isinstance(answer, TextPart)
    assert sent(state) == {
        "role": "assistant",
        "content": "Hi",
        "reasoning_details": [
            {**text, "text": "Let me see.", "signature": "sig"},
            {**summary, "summary": "In short."},
            secret,
            {**secret, "data": "def"},
        ],
    }


def test_details_with_a_signature_alone() -> None:
    """A provider may hide the text of a reasoning and still want its signature back."""
    only = {"type": "reasoning.text", "index": 0, "signature": "sig"}
    assert sent(read(detail(**only), WEATHER, CALLED))["reasoning_details"] == [{**only, "text": ""}]


def thinking(**block: Any) -> dict[str, Any]:
    """A chunk of litellm, which repeats the text of its blocks."""
    return chunk({"reasoning_content": block.get("thinking"), "thinking_blocks": [{"type": "thinking", **block}]})


def test_thinking_blocks() -> None:
    """A signature ends its block: the next thinking is another one, with another signature."""
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    state = read(
        thinking(thinking="Let ", signature=None),
        thinking(thinking="me see."),
        thinking(thinking="", signature="sig 1"),
        thinking(thinking="Well.", signature="sig 2"),
        chunk({"thinking_blocks": [redacted]}),
        WEATHER,
        CALLED,
    )
    assert state.reasoning == "Let me see.Well."
    assert sent(state)["thinking_blocks"] == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "sig 1"},
        {"type": "thinking", "thinking": "Well.", "signature": "sig 2"},
        redacted,
    ]
    assert "reasoning_content" not in sent(state)


def test_signatures_of_calls() -> None:
    """Gemini refuses a call that comes back without its signature."""
    extra = {"google": {"thought_signature": "sig"}}
    state = read(
        tool(index=0, id="call_1", type="function", function=SENT["function"], extra_content=extra),
        tool(index=1, id="call_2", type="function", function={"name": "f", "arguments": "{}"}),
        CALLED,
    )
    assert [call.signature for call in state.tool_calls] == ["sig", None]
    first, second = sent(state)["tool_calls"]
    assert first == {**SENT, "extra_content": extra}
    assert second == {"id": "call_2", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_content_in_elements() -> None:
    """Mistral's content is a list while the model thinks, and a text afterwards."""
    reference = {"type": "reference", "reference_ids": [0]}
    state = read(
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Let "}]}]}),
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "me."}], "closed": True}]}),
        chunk({"content": [{"type": "text", "text": "Hi"}, reference]}),
        chunk({"content": " there"}),
        END,
    )
    assert (state.reasoning, state.content) == ("Let me.", "Hi there")
    assert sent(state)["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Let me."}], "closed": True},
        {"type": "text", "text": "Hi"},
        reference,
        {"type": "text", "text": " there"},
    ]


# ---- files, citations, sources, tools of the provider ------------------------------------------------


def test_audio() -> None:
    """Each piece is base64 of its own, with its own padding. Only the id goes back."""
    state = read(
        chunk({"role": "assistant", "content": None, "audio": {"id": "audio_1", "transcript": "Good "}}),
        chunk({"audio": {"data": "AQ=="}}),
        chunk({"audio": {"transcript": "day."}}),
        chunk({"audio": {"data": "AgM="}}),
        chunk({"audio": {"expires_at": 1700000000}}),
        END,
    )
    (part,) = state.files
    assert (part.data, part.transcript, part.id) == (b"\1\2\3", "Good day.", "audio_1")
    assert part.native is not None
    assert part.native["expires_at"] == 1700000000
    assert sent(state) == {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}


def test_images() -> None:
    """An image is data of its media type, and goes back as it came."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    state = read(chunk({"content": "Here.", "images": [{**image, "index": 0}]}), END)
    (part,) = state.files
    assert (part.media_type, part.data, part.is_complete) == ("image/png", "AAAA", True)
    assert sent(state)["images"] == [image]


def test_annotations() -> None:
    """URL citations belong to the text, and are not sent back; the annotation of a document is."""
    cited = {"url": "https://a", "title": "A", "start_index": 0, "end_index": 2}
    document: dict[str, Any] = {"type": "file", "file": {"hash": "h", "content": []}}
    state = read(
        chunk({"content": "Hi"}),
        chunk({"annotations": [{"type": "url_citation", "url_citation": cited}, document]}),
        END,
    )
    (citation,) = state.citations
    assert (citation.url, citation.title, citation.start, citation.end) == ("https://a", "A", 0, 2)
    assert [source.url for source in state.sources] == ["https://a"]
    assert [loss.what for loss in state.lost_in()] == ["citation"]
    (message,) = state.as_messages()
    assert message == {
        "role": "assistant",
        "content": "Hi",
        "annotations": [document],
    }


def test_sources_in_every_chunk() -> None:
    """Each source is there once, and the text is one part; titles that come later are added."""
    urls = ["https://a", "https://b"]
    found = [{"url": "https://a", "title": "A", "date": "2026-01-01"}, {"url": "https://b", "title": "B"}]
    state = read(
        chunk({"role": "assistant", "content": "Hi"}, citations=urls),
        chunk({"role": "assistant", "content": " there"}, citations=urls),
        chunk({"role": "assistant", "content": ""}, "stop", citations=urls, search_results=found),
    )
    assert [(source.url, source.title) for source in state.sources] == [("https://a", "A"), ("https://b", "B")]
    assert [type(part) for part in state.parts] == [SourcePart, SourcePart, TextPart]
    assert state.content == "Hi there"
    assert [loss.what for loss in state.lost_in()] == ["source", "source"]


def test_executed_tools() -> None:
    """Groq's own tools are calls of the server with their results, and no calls of the application."""
    tool_run = {"index": 0, "type": "search", "arguments": '{"query": "x"}'}
    state = MessageStream(
        [
            chunk({"reasoning": "I search."}),
            chunk({"executed_tools": [tool_run]}),
            chunk({"executed_tools": [{**tool_run, "output": "Found.", "search_results": {"results": []}}]}),
            chunk({"content": "Hi"}),
            END,
        ],
        format="openai-chat",
    ).final()
    assert state.finish_reason == "stop"
    (call,) = state.tool_calls
    assert (call.kind, call.name, call.value, call.is_complete) == ("server", "search", {"query": "x"}, True)
    (result,) = [part for part in state.parts if isinstance(part, ToolResultPart)]
    assert (result.call_id, result.output) == (call.id, "Found.")
    assert [loss.what for loss in state.lost_in()] == ["server_call", "server_result"]
    assert state.as_messages() == [{"role": "assistant", "content": "Hi", "reasoning": "I search."}]


def test_fields_of_the_message() -> None:
    """Fields that belong to no part are fields of the message."""
    results = {"hate": {"filtered": True, "severity": "high"}}
    choice = {"index": 0, "delta": {}, "finish_reason": "content_filter", "content_filter_results": results}
    state = MessageStream(
        [
            {"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            chunk({"role": "assistant"}, system_fingerprint="fp", service_tier="default", provider="Xy"),
            {"id": "c1", "choices": [choice], "x_groq": {"id": "req"}},
        ],
        format="openai-chat",
    ).final()
    assert dict(state.native) == {
        "prompt_filter_results": [{"prompt_index": 0}],
        "system_fingerprint": "fp",
        "service_tier": "default",
        "provider": "Xy",
        "content_filter_results": results,
        "x_groq": {"id": "req"},
    }


# ---- beginnings, ends, usage, whole bodies -----------------------------------------------------------


def test_a_stream_without_roles() -> None:
    """The message has its id and its model all the same, at the latest with its end."""
    state = read(chunk({"content": "Hi"}), END)
    assert (state.id, state.model, state.content) == ("c1", "m", "Hi")


def test_ids_that_change_after_the_end() -> None:
    """Some providers make up an id for each chunk: without a role, such a chunk starts no other message."""
    counts: dict[str, object] = {"prompt_tokens": 1, "completion_tokens": 2}
    chunks = [
        {**chunk({"role": "assistant", "content": "Hi"}), "id": "c0"},
        {**END, "id": "c2"},
        {**chunk({}, usage=counts), "id": "c3"},
    ]
    state = MessageStream(chunks, format="openai-chat").final()
    assert (state.id, state.content, state.finish_reason) == ("c0", "Hi", "stop")
    assert state.usage == Usage(1, 2, None, counts)
    assert [each.code for each in state.diagnostics] == [Quirk.MESSAGE_ID_CHANGED]


@pytest.mark.parametrize("word", ["abort", "cancelled", "brand_new"])
def test_ends_that_are_not_good(word: str) -> None:
    """A message that was stopped from outside, or for an unknown reason, is not complete."""
    state = MessageStream([chunk({"content": "Hi"}), chunk({}, word)], format="openai-chat").final()
    assert not state.is_complete
    assert state.finish_reason == ("other" if word == "brand_new" else "cancelled")
    assert state.raw_finish_reason == word


def test_usage_with_reasoning_beside_the_completion() -> None:
    """For xAI the output is the completion and the reasoning; for OpenAI the completion includes it."""
    counts = {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 7}}
    for total, output in ((22, 12), (15, 5)):
        usage = read(chunk({"content": "Hi"}), END, chunk(usage={**counts, "total_tokens": total})).usage
        assert isinstance(usage, Usage)
        assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (10, output, total)


def test_a_whole_body_says_what_its_stream_says() -> None:
    """A response that was not streamed gives the same message."""
    second = {"id": "call_2", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    streamed = read(
        chunk({"role": "assistant", "reasoning_content": "Hm", "content": ""}),
        chunk({"content": "Hi"}),
        chunk({"tool_calls": [{**SENT, "index": 0}, {**second, "index": 1}]}),
        CALLED,
    )
    message = {"role": "assistant", "reasoning_content": "Hm", "content": "Hi", "tool_calls": [SENT, second]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = read({"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice]})
    assert whole.parts == streamed.parts
    assert (whole.id, whole.model, whole.role) == (streamed.id, streamed.model, streamed.role)
    assert sent(whole) == sent(streamed) == message


def test_calls_of_a_whole_body_without_ids() -> None:
    """They are as many as there are."""
    calls = [{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "f", "arguments": "{}"}}]
    state = read({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
    assert [call["id"] for call in sent(state)["tool_calls"]] == ["call_0", "call_1"]


def test_legacy_completions() -> None:
    """A text in place of the delta, streamed and whole."""
    pieces = [{"id": "c1", "object": "text_completion", "choices": [{"text": text}]} for text in ("Hel", "lo")]
    end = {"id": "c1", "object": "text_completion", "choices": [{"text": "", "finish_reason": "stop"}]}
    whole = {"id": "c1", "object": "text_completion", "choices": [{"text": "Hello", "finish_reason": "stop"}]}
    for chunks in ([*pieces, end], [whole]):
        state = MessageStream(chunks).final()
        assert (state.id, state.content, state.is_complete) == ("c1", "Hello", True)


def test_unknown_fields_are_counted() -> None:
    """At every level that has no part to keep them."""
    odd = {"id": "c1", "new_a": 1, "choices": [{"delta": {"content": "Hi", "new_c": 1}, "new_b": 1}]}
    state = MessageStream([odd, END], format="openai-chat").final()
    assert sorted(each.detail for each in state.diagnostics) == ["new_a", "new_b", "new_c"]


# ---- Cohere ------------------------------------------------------------------------------------------


def event(kind: str, index: int | None = None, /, **message: Any) -> dict[str, Any]:
    """An event of Cohere."""
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": message}}


COHERE_CITATION = {
    "start": 0,
    "end": 5,
    "text": "Paris",
    "sources": [{"type": "document", "id": "doc:0", "document": {"id": "doc:0", "title": "A", "url": "https://a"}}],
    "content_index": 1,
    "type": "TEXT_CONTENT",
}


def test_cohere_with_citations() -> None:
    """Thinking and text are contents of their own; the citations go back with the text."""
    state = read(
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant", "content": []}}},
        event("content-start", 0, content={"type": "thinking", "thinking": ""}),
        event("content-delta", 0, content={"thinking": "Hm"}),
        {"type": "content-end", "index": 0},
        event("content-start", 1, content={"type": "text", "text": ""}),
        event("content-delta", 1, content={"text": "Paris."}),
        event("citation-start", 0, citations=COHERE_CITATION),
        {"type": "citation-end", "index": 0},
        {"type": "content-end", "index": 1},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
        format="cohere",
    )
    (citation,) = state.citations
    assert (citation.url, citation.title, citation.cited_text, citation.source_id) == (
        "https://a",
        "A",
        "Paris",
        "doc:0",
    )
    assert [part.is_complete for part in state.parts] == [True, True]
    message = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Paris."}],
        "citations": [COHERE_CITATION],
    }
    assert sent(state) == message
    body = {"id": "m1", "finish_reason": "COMPLETE", "message": message}
    whole = MessageStream([body]).final()
    assert whole.parts == state.parts
    assert sent(whole) == message


def test_cohere_tool_loop() -> None:
    """The plan goes back as the plan, and the citation of the plan goes back with it."""
    plan = {"start": 0, "end": 1, "text": "I", "type": "PLAN"}
    state = read(
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
        event("tool-plan-delta", tool_plan="I will "),
        event("tool-plan-delta", tool_plan="look."),
        event("citation-start", 0, citations=plan),
        event("tool-call-start", 0, tool_calls={**SENT, "function": {"name": "weather", "arguments": ""}}),
        event("tool-call-delta", 0, tool_calls={"function": {"arguments": '{"city": "Suva"}'}}),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        format="cohere",
    )
    assert [type(part) for part in state.parts[:2]] == [ReasoningPart, OpaquePart]
    assert sent(state) == {
        "role": "assistant",
        "tool_plan": "I will look.",
        "tool_calls": [SENT],
        "citations": [plan],
    }
    assert state.tool_results({0: {"sky": "clear"}}) == [
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": [{"type": "document", "document": {"data": {"sky": "clear"}}}],
        }
    ]


# ---- Ollama ------------------------------------------------------------------------------------------


def line(done: bool = False, /, **message: Any) -> dict[str, Any]:
    """A line of Ollama."""
    return {"model": "m", "created_at": "now", "message": {"role": "assistant", **message}, "done": done}


def test_ollama_tool_loop() -> None:
    """Thinking and calls go back, and the results name their tools."""
    call = {"function": {"name": "weather", "arguments": {"city": "Suva"}}}
    state = read(
        line(content="", thinking="Let "),
        line(content="", thinking="me see."),
        line(content="", tool_calls=[call]),
        {**line(True, content=""), "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 2},
        format="ollama",
    )
    assert state.finish_reason == "tool_calls"
    assert sent(state) == {"role": "assistant", "content": "", "thinking": "Let me see.", "tool_calls": [call]}
    assert state.tool_results({0: "sunny"}) == [{"role": "tool", "tool_name": "weather", "content": "sunny"}]


def test_ollama_images_and_whole_body() -> None:
    """A response that was not streamed is the last line alone."""
    state = MessageStream([{**line(True, content="Here.", images=["AAAA"]), "done_reason": "stop"}]).final()
    assert isinstance(state.files[0], FilePart)
    assert sent(state) == {"role": "assistant", "content": "Here.", "images": ["AAAA"]}


def test_ollama_that_loads_a_model() -> None:
    """A model that was loaded has not answered."""
    state = MessageStream([{**line(True), "done_reason": "load"}], format="ollama").final()
    assert (state.finish_reason, state.raw_finish_reason, state.is_complete) == ("other", "load", False)


# ---- recorded conversations --------------------------------------------------------------------------


def conversations() -> list[Any]:
    """The recorded conversations in chat completions."""
    data = shared.shared_data()
    files = [] if data is None else sorted((data / "conversations").glob("*.json"))
    found = [(path.stem, json.loads(path.read_text(encoding="utf-8"))["turns"]) for path in files]
    chat = [(name, turns) for name, turns in found if any("chat/completions" in turn["url"] for turn in turns)]
    if not chat:
        return [pytest.param([], id="conversations", marks=pytest.mark.skip(shared.NOT_HERE))]
    return [pytest.param(turns, id=name) for name, turns in chat]


def answer(turn: dict[str, Any]) -> MessageState:
    """The last state of the answer to a recorded request, also if the answer failed."""
    body = turn["stream"].splitlines() if "stream" in turn else [json.dumps(turn["response"])]
    texts = [text.removeprefix("data:").strip() for text in body if text.startswith(("data:", "{"))]
    stream = MessageStream([json.loads(text) for text in texts if text.startswith("{")], format="openai-chat")
    try:
        return stream.final()
    except MessageError:
        return stream.state


@pytest.mark.parametrize("turns", conversations())
def test_accepted_requests(turns: list[dict[str, Any]]) -> None:
    """Every call in a request that a provider accepted is one that the message before it would send."""
    pydantic = pytest.importorskip("pydantic")
    types = pytest.importorskip("openai.types.chat")
    adapter = pydantic.TypeAdapter(types.ChatCompletionAssistantMessageParam)
    known: dict[str, dict[str, Any]] = {}
    for turn in turns:
        if "chat/completions" not in turn["url"]:
            continue
        for message in turn["request"]["messages"]:
            calls: list[dict[str, Any]] = message.get("tool_calls") or []
            for call in calls:
                if call["id"] in known:
                    assert call == known[call["id"]]
        state = answer(turn)
        assert Quirk.UNKNOWN_EVENT not in {each.code for each in state.diagnostics}
        (message,) = state.as_messages()
        if not isinstance(message["content"], list):  # Mistral's lists are unknown to OpenAI
            adapter.validate_python(message)
        known.update({call["id"]: call for call in message.get("tool_calls", [])})
