"""llm/_requests/gemini.py and gemini_interactions.py: turns that go back to Google, from Google and from others."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.gemini_turns import SIGNED, STEPS, completed, content, step
from tests.support.messages import ended
from unspool.llm import MessageError, MessageState, MessageStream, finish, reduce, start
from unspool.llm._deltas import Finish, ToolCallDelta
from unspool.llm._parts import (
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolResultPart,
)
from unspool.llm._requests import gemini, gemini_interactions
from unspool.llm._requests.turn import CallResult, Turn

if TYPE_CHECKING:
    from unspool.llm import ToolCall
    from unspool.llm._parts import Part


def read(format: str, *chunks: Any) -> MessageState:
    """The last state of a stream, which is JSON after a dump and the same after a load."""
    before = copy.deepcopy(chunks)
    state = MessageStream(list(chunks), format=format).final()
    assert chunks == before
    again = MessageState.load(json.loads(json.dumps(state.dump())))
    assert again.parts == state.parts
    assert again.as_messages() == state.as_messages()
    return state


def cut_off(format: str, chunks: list[Any]) -> MessageState:
    """The last state of a stream that may have failed."""
    stream = MessageStream(chunks, format=format)
    with suppress(MessageError):
        stream.final()
    return stream.state


def repeated(*chunks: Any) -> list[Any]:
    """The parts that go back to Gemini; the caller may change them."""
    state = read("gemini", *chunks)
    (turn,) = state.as_messages()
    assert turn["role"] == "model"
    told: list[Any] = copy.deepcopy(turn["parts"])
    for part in turn["parts"]:
        for name in list(part):
            if isinstance(part[name], dict):
                part[name].clear()
    assert state.as_messages()[0]["parts"] == told
    return told


def losses(state: MessageState, format: str | None = None) -> list[tuple[int | None, str]]:
    return [(loss.part, loss.what) for loss in state.lost_in(format)]


# ---- Gemini, its own ---------------------------------------------------------------------------------


def test_neighbouring_texts_are_joined() -> None:
    """Thoughts and texts without signatures are one part each; a text without characters is nothing."""
    chunks = [content(part, reason=None) for part in ({"text": "a", "thought": True}, {"text": "b", "thought": True})]
    chunks += [content({"text": "c"}, {"text": ""}, reason=None), content({"text": "d"})]
    assert repeated(*chunks) == [{"text": "ab", "thought": True}, {"text": "cd"}]


def test_a_source_in_between_does_not_part_a_text() -> None:
    """Sources are parts of a message; a request has no place for them."""
    grounding = {"groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}]}
    chunks = [content({"text": "a"}, reason=None, groundingMetadata=grounding)]
    chunks += [content({"text": "b"}, groundingMetadata=grounding)]
    state = read("gemini", *chunks)
    assert [part.type for part in state.parts] == ["text", "source", "text"]
    assert [(source.url, source.title) for source in state.sources] == [("https://a", "A")]
    assert state.native["groundingMetadata"] == grounding
    assert repeated(*chunks) == [{"text": "ab"}]
    assert losses(state) == [(1, "source")]


def test_citations_of_the_grounding() -> None:
    """A citation names its passage and its source. They do not go back."""
    grounding = {
        "groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}, {"maps": {"uri": "https://m", "title": "M"}}],
        "groundingSupports": [{"segment": {"text": "Hi"}, "groundingChunkIndices": [0, 1]}],
    }
    state = read("gemini", content({"text": "Hi"}, groundingMetadata=grounding))
    assert [(each.url, each.cited_text) for each in state.citations] == [("https://a", "Hi"), ("https://m", "Hi")]
    assert losses(state) == [(0, "citation"), (1, "source"), (2, "source")]


@pytest.mark.parametrize("name", SIGNED)
def test_parts_go_back_as_they_came(name: str) -> None:
    """In one chunk and in one for each part."""
    parts = SIGNED[name]
    assert repeated(content(*parts)) == parts
    chunks = [content(part, reason=None) for part in parts]
    assert repeated(*chunks, content({"text": ""})) == parts


def test_a_signature_without_a_part() -> None:
    """Gemini refuses a part without data."""
    assert repeated(content({"thoughtSignature": "x"})) == [{"text": "", "thoughtSignature": "x"}]


def test_leaves_go_back_whole() -> None:
    """Neither `partialArgs` nor `willContinue` may be sent."""
    calls = [
        {"name": "f", "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.a", "stringValue": "y"}], "willContinue": True},
        {},
    ]
    first, *more = [{"functionCall": call} for call in calls]
    chunks = [content({**first, "thoughtSignature": "x"}, reason=None), *[content(part, reason=None) for part in more]]
    whole = {"functionCall": {"name": "f", "args": {"a": "xy"}}, "thoughtSignature": "x"}
    assert repeated(*chunks, content({"text": ""})) == [whole]
    state = cut_off("gemini", chunks[:2])
    assert state.as_messages() == []
    assert losses(state) == [(0, "incomplete_call")]


def test_the_neutral_fields_of_parts() -> None:
    """Applications need not know Gemini's parts."""
    state = read("gemini", content(*SIGNED["code"], *SIGNED["a search"], *SIGNED["image"]))
    run, result, _, search, found, _, image, _ = state.parts
    assert state.tool_calls == (run, search)
    assert [(call.name, call.kind, call.value, call.signature) for call in state.tool_calls] == [
        ("code_execution", "server", {"language": "PYTHON", "code": "1"}, "x"),
        ("google_search_web", "server", {"queries": ["x"]}, "x"),
    ]
    assert isinstance(result, ToolResultPart)
    assert (result.call_id, result.name, result.output, result.is_error) == ("c", "code_execution", "1\n", False)
    assert isinstance(found, ToolResultPart)
    assert (found.call_id, found.name, found.output) == ("t", "google_search_web", {"a_b": 1})
    assert isinstance(image, FilePart)
    assert (image.media_type, image.data, image.name) == ("image/png", "aGk=", "n")
    assert state.finish_reason == "stop"  # Google has run all calls
    assert state.is_complete
    failed = read("gemini", content(*SIGNED["code that failed"])).parts[1]
    assert isinstance(failed, ToolResultPart)
    assert failed.is_error


def test_calls_finish_a_message_for_calls() -> None:
    assert read("gemini", content({"functionCall": {"name": "f", "args": {}}})).finish_reason == "tool_calls"


@pytest.mark.parametrize("reason", ["CONTINUATION", "OTHER", "NEW", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"])
def test_other_ends_are_not_complete(reason: str) -> None:
    state = cut_off("gemini", [content({"text": "a"}, reason=reason)])
    assert not state.is_complete
    assert state.raw_finish_reason == reason
    assert (state.finish_reason == "paused") == (reason == "CONTINUATION")
    assert state.as_messages() == [{"role": "model", "parts": [{"text": "a"}]}]


def test_parts_that_cannot_go_back() -> None:
    """Broken parts are reported, and the rest goes back."""
    parts = [{"inlineData": {"data": "aGk="}}, {"text": "", "partMetadata": {"a": 1}}, {"text": "a"}]
    state = read("gemini", content(*parts))
    assert state.as_messages() == [{"role": "model", "parts": [{"text": "a"}]}]
    assert losses(state) == [(0, "file"), (1, "empty_text")]


# ---- Interactions, their own -------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_steps_go_back_as_they_came(name: str) -> None:
    """The deltas of a step are whole in the step that goes back."""
    chunks, expected = STEPS[name]
    state = read("gemini-interactions", *chunks, completed("requires_action" if "call" in name else "completed"))
    assert state.as_messages() == expected
    assert losses(state) == []
    assert state.id == "v1"
    assert state.diagnostics == ()


@pytest.mark.parametrize("name", STEPS)
def test_whole_interactions_are_read(name: str) -> None:
    """A response that was not streamed gives the same steps."""
    steps = STEPS[name][1]
    whole = {"object": "interaction", "id": "v1", "model": "m", "status": "completed", "steps": steps}
    state = read("gemini-interactions", whole)
    assert (state.id, state.model, state.role) == ("v1", "m", "assistant")
    assert state.as_messages() == steps
    assert state.is_complete
    assert state.finish_reason == ("tool_calls" if "call" in name else "stop")


def test_a_thought_of_several_sections() -> None:
    thought = {"type": "thought", "summary": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    state = read("gemini-interactions", {"status": "completed", "steps": [thought]})
    assert state.reasoning == "a\n\nb"
    assert state.as_messages() == [thought]


def test_the_neutral_fields_of_steps() -> None:
    chunks = [*STEPS["a search"][0], completed("completed", service_tier="standard")]
    state = read("gemini-interactions", *chunks)
    search, found = state.parts
    assert search is state.tool_calls[0]
    assert [(call.name, call.kind) for call in state.tool_calls][:1] == [("google_search", "server")]
    assert isinstance(found, ToolResultPart)
    assert (found.call_id, found.name, found.output) == ("g", "google_search", [{"search_suggestions": "s"}])
    assert state.native["service_tier"] == "standard"
    assert state.finish_reason == "stop"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("cancelled", "cancelled"),
        ("requires_continuation", "paused"),
        ("incomplete", "length"),
        ("budget_exceeded", "length"),
        ("failed", "error"),
        ("new", "other"),
    ],
)
def test_other_ends_of_interactions_are_not_complete(status: str, reason: str) -> None:
    text = step(0, {"type": "model_output"}, {"type": "text", "text": "a"})
    state = cut_off("gemini-interactions", [*text, completed(status)])
    assert (state.finish_reason, state.is_complete) == (reason, False)
    update = {"event_type": "interaction.status_update", "interaction_id": "v1", "status": status}
    broken = cut_off("gemini-interactions", [*text, update])
    assert not broken.is_complete


def test_a_call_that_was_cut_off() -> None:
    chunks = STEPS["call"][0][:2]
    state = cut_off("gemini-interactions", chunks)
    assert state.as_messages() == []
    assert losses(state) == [(0, "incomplete_call")]


def test_unknown_content_goes_back() -> None:
    """A whole step keeps the order of its contents, known or not."""
    output = {"type": "model_output", "content": [{"type": "new", "a": 1}, {"type": "text", "text": "a", "new": 1}]}
    state = read("gemini-interactions", {"status": "completed", "steps": [output, {"type": "new"}]})
    assert state.as_messages() == [output, {"type": "new"}]


def test_steps_that_cannot_go_back() -> None:
    chunks = step(0, {"type": "model_output", "content": [{"type": "text", "text": ""}]}, {"type": "image"})
    state = read("gemini-interactions", *chunks, completed())
    assert state.as_messages() == []
    assert losses(state) == [(0, "empty_text"), (1, "file")]


# ---- turns of others ---------------------------------------------------------------------------------


def called(name: str = "f", arguments: str = '{"a":1}', **more: Any) -> ToolCall:
    """A call of another provider."""
    return ended([ToolCallDelta(0, more.pop("id", "c1"), name, arguments, **{"kind": "function", **more})]).tool_calls[
        0
    ]


def turn_of(*parts: Part, is_own: bool = False, ids: dict[int, str] | None = None) -> Turn:
    return Turn(list(enumerate(parts)), "anthropic", is_own=is_own, native={}, ids=ids or {})


FOREIGN: dict[str, tuple[list[Part], list[Any], list[Any], list[tuple[int, str]]]] = {
    "text": ([TextPart("a"), TextPart("b")], [{"text": "ab"}], ["a", "b"], []),
    "text without characters": ([TextPart("")], [], [], [(0, "empty_text")]),
    "citations": ([TextPart("a", (Citation("https://a"),))], [{"text": "a"}], ["a"], [(0, "citation")]),
    "refusal": ([RefusalPart("a")], [{"text": "a"}], ["a"], [(0, "refusal_as_text")]),
    "reasoning": (
        [ReasoningPart("a", "x"), ReasoningPart(encrypted="x")],
        [],
        [],
        [(0, "reasoning"), (1, "reasoning")],
    ),
    "source": ([SourcePart("https://a")], [], [], [(0, "source")]),
    "opaque": ([OpaquePart("new", native={"type": "new"})], [], [], [(0, "opaque")]),
    "server": (
        [called(kind="server"), ToolResultPart("c1", "f", "r")],
        [],
        [],
        [(0, "server_call"), (1, "server_result")],
    ),
    "file": (
        [FilePart("image/png", b"hi")],
        [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
        [{"type": "image", "mime_type": "image/png", "data": "aGk="}],
        [],
    ),
    "file in a URL": (
        [FilePart(url="data:image/png;base64,aGk="), FilePart("application/pdf", url="https://a/b", name="b")],
        [
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a/b", "displayName": "b"}},
        ],
        [
            {"type": "image", "mime_type": "image/png", "data": "aGk="},
            {"type": "document", "mime_type": "application/pdf", "uri": "https://a/b"},
        ],
        [],
    ),
    "file elsewhere": ([FilePart("image/png", file_id="f1")], [], [], [(0, "file")]),
    "incomplete": (
        [ended([ToolCallDelta(0, "c1", "f", "{", "function")]).tool_calls[0]],
        [],
        [],
        [(0, "incomplete_call")],
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_parts_of_others(name: str) -> None:
    """Neutral fields are translated; everything else is reported."""
    parts, expected, steps, lost = FOREIGN[name]
    turn = turn_of(*parts)
    assert gemini.write_turn(turn) == ([{"role": "model", "parts": expected}] if expected else [])
    assert [(loss.part, loss.what) for loss in turn.losses] == lost
    turn = turn_of(*parts)
    contents = [{"type": "text", "text": it} if isinstance(it, str) else it for it in steps]
    assert gemini_interactions.write_turn(turn) == ([{"type": "model_output", "content": contents}] if contents else [])
    assert [(loss.part, loss.what) for loss in turn.losses] == lost


def test_calls_of_others() -> None:
    """The first call gets Google's text in place of a signature."""
    first, second = called(signature="x"), called(name="g", arguments="")
    turn = turn_of(TextPart("a"), first, second)
    assert gemini.write_turn(turn) == [
        {
            "role": "model",
            "parts": [
                {"text": "a"},
                {
                    "functionCall": {"id": "c1", "name": "f", "args": {"a": 1}},
                    "thoughtSignature": "skip_thought_signature_validator",
                },
                {"functionCall": {"id": "c1", "name": "g", "args": {}}},
            ],
        }
    ]
    assert [(loss.part, loss.what) for loss in turn.losses] == [(1, "signature")]
    turn = turn_of(TextPart("a"), first, TextPart("b"))
    assert gemini_interactions.write_turn(turn) == [
        {"type": "model_output", "content": [{"type": "text", "text": "a"}]},
        {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
        {"type": "model_output", "content": [{"type": "text", "text": "b"}]},
    ]
    assert [(loss.part, loss.what) for loss in turn.losses] == [(1, "signature")]


@pytest.mark.parametrize("call", [called(kind="custom", arguments="a"), called(arguments="[1]")], ids=["text", "list"])
def test_calls_without_an_object(call: ToolCall) -> None:
    """Google takes objects alone."""
    given: Any = "a" if call.kind == "custom" else [1]
    turn = turn_of(call)
    (written,) = gemini.write_turn(turn)[0]["parts"]
    assert written["functionCall"]["args"] == {"input": given}
    assert [(loss.part, loss.what) for loss in turn.losses] == [(0, "custom_input")]
    turn = turn_of(call)
    assert gemini_interactions.write_turn(turn)[0]["arguments"] == {"input": given}
    assert [(loss.part, loss.what) for loss in turn.losses] == [(0, "custom_input")]


def test_parts_without_native_fields() -> None:
    """A state that was made from deltas by hand goes back, too."""
    state = start(format="gemini")
    for delta in (ToolCallDelta(id="c1", name="f", arguments="{}", kind="server", is_done=True), Finish("stop")):
        state = reduce(state, delta)
    state = finish(state)
    assert state.as_messages("gemini") == [
        {"role": "model", "parts": [{"toolCall": {"toolType": "F", "id": "c1", "args": {}}}]}
    ]
    turn = turn_of(ToolResultPart("c1", "f", {"a": 1}), OpaquePart("new"), RefusalPart("a"), is_own=True)
    assert gemini.write_turn(turn) == [
        {"role": "model", "parts": [{"toolResponse": {"id": "c1", "response": {"a": 1}}}, {"text": "a"}]}
    ]
    assert [(loss.part, loss.what) for loss in turn.losses] == [(1, "opaque"), (2, "refusal_as_text")]
    parts = [ToolResultPart("c1", "f", "r", True), OpaquePart("new"), RefusalPart("a"), TextPart("b", (Citation("u"),))]
    turn = turn_of(*parts, is_own=True)
    assert gemini_interactions.write_turn(turn) == [
        {"type": "f_result", "call_id": "c1", "result": "r", "is_error": True},
        {
            "type": "model_output",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b", "annotations": [{"type": "url_citation", "url": "u"}]},
            ],
        },
    ]
    turn = turn_of(OpaquePart("thought_summary", native={"type": "image"}), is_own=True)
    assert gemini_interactions.write_turn(turn) == [{"type": "thought", "summary": [{"type": "image"}]}]


# ---- results -----------------------------------------------------------------------------------------


RESULTS: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    ("a", {"response": {"result": "a"}}, {"result": "a"}),
    ({"a": [1]}, {"response": {"a": [1]}}, {"result": {"a": [1]}}),
    ([1], {"response": {"result": [1]}}, {"result": {"result": [1]}}),
    (None, {"response": {"result": None}}, {"result": {"result": None}}),
    (ValueError("no"), {"response": {"error": "no"}}, {"result": "no", "is_error": True}),
]


@pytest.mark.parametrize(("output", "response", "step_fields"), RESULTS, ids=[str(output) for output, _, _ in RESULTS])
def test_results(output: Any, response: dict[str, Any], step_fields: dict[str, Any]) -> None:
    """A result is an object, or text in interactions."""
    call = {"functionCall": {"id": "f1", "name": "f", "args": {}}}
    state = read("gemini", content(call))
    assert state.tool_results({0: output}) == [
        {"role": "user", "parts": [{"functionResponse": {"id": "f1", "name": "f", **response}}]}
    ]
    state = read("gemini-interactions", *STEPS["call"][0], completed("requires_action"))
    assert state.tool_results({0: output}) == [{"type": "function_result", "call_id": "f1", "name": "f", **step_fields}]


def test_results_of_several_calls() -> None:
    """Gemini takes them in one content; calls without ids have results without ids."""
    parts = [{"functionCall": {"name": name, "args": {}}} for name in "ab"]
    state = read("gemini", content(*parts))
    assert state.tool_results({0: "x", 1: "y"}) == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "a", "response": {"result": "x"}}},
                {"functionResponse": {"name": "b", "response": {"result": "y"}}},
            ],
        }
    ]
    assert gemini.write_results(turn_of(), []) == []


def test_errors_that_are_no_text() -> None:
    """A tool may describe its error in an object."""
    call = called()
    results = [CallResult(call, {"a": 1}, is_error=True), CallResult(call, [1], is_error=True)]
    (written,) = gemini.write_results(turn_of(call), results)
    assert [part["functionResponse"]["response"] for part in written["parts"]] == [
        {"error": {"a": 1}},
        {"error": "[1]"},
    ]
    steps = gemini_interactions.write_results(turn_of(call), results)
    assert [(step["result"], step["is_error"]) for step in steps] == [({"a": 1}, True), ("[1]", True)]
