"""The writers of flat messages, with parts made by hand: chat completions, Cohere and Ollama."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest

from tests.support.turns import a_call, a_turn, lost
from unspool.llm._parts import (
    Citation,
    FilePart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolResultPart,
)
from unspool.llm._requests import cohere, ollama, openai_chat
from unspool.llm._requests.turn import CallResult, RequestWriter

WRITERS: dict[str, RequestWriter] = {"openai-chat": openai_chat, "cohere": cohere, "ollama": ollama}


def wrote(format: str, *parts: Part, is_own: bool = True) -> dict[str, Any]:
    """The message of a turn that loses nothing."""
    turn = a_turn(format if is_own else "anthropic", *parts, is_own=is_own)
    (message,) = WRITERS[format].write_turn(turn)
    assert turn.losses == []
    return message


# ---- chat completions --------------------------------------------------------------------------------


def test_chat_text_and_calls() -> None:
    """Texts are joined, arguments stay text, and a message without text has a null content if it has calls."""
    assert wrote("openai-chat") == {"role": "assistant", "content": ""}
    assert wrote("openai-chat", TextPart("Hel"), TextPart("lo")) == {"role": "assistant", "content": "Hello"}
    assert wrote("openai-chat", RefusalPart("No.")) == {"role": "assistant", "content": None, "refusal": "No."}
    calls = [a_call("f", '{ "a":1}', id="a"), a_call("g", " ", 1, id=None), a_call("sql", "SELECT", 2, "custom")]
    assert wrote("openai-chat", *calls) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{ "a":1}'}},
            {"id": "made_1", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            {"id": "call_2", "type": "custom", "custom": {"name": "sql", "input": "SELECT"}},
        ],
    }


def test_chat_structured_output_is_text() -> None:
    """The tool that the output went through does not exist."""
    output = TextPart('{"a": 1}', block=("output",))
    assert wrote("openai-chat", output) == {"role": "assistant", "content": '{"a": 1}'}
    assert wrote("openai-chat", TextPart("Here: "), output)["content"] == [
        {"type": "text", "text": "Here: "},
        {"type": "text", "text": '{"a": 1}'},
    ]
    assert wrote("cohere", output)["content"] == [{"type": "text", "text": '{"a": 1}'}]
    assert wrote("ollama", output)["content"] == '{"a": 1}'


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_chat_reasoning_keeps_its_name(name: str) -> None:
    """DeepSeek refuses calls without the reasoning before them."""
    message = wrote("openai-chat", ReasoningPart("Hm", block=(name,)), a_call(), ReasoningPart("m", block=(name,)))
    assert message[name] == "Hmm"
    assert message["content"] is None
    assert len(message["tool_calls"]) == 1


def test_chat_reasoning_details() -> None:
    """Each detail goes back as it came, in order, with its text, signature or data."""
    text = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, "signature": "sig"}
    summary = {"type": "reasoning.summary", "index": 1}
    secret = {"type": "reasoning.encrypted", "data": "xyz", "id": "rs", "index": 2}
    message = wrote(
        "openai-chat",
        ReasoningPart("Hm", "sig", native=text, block=("reasoning.text", 0)),
        ReasoningPart("So", is_summary=True, native=summary, block=("reasoning.summary", 1)),
        ReasoningPart(encrypted="xyz", id="rs", native=secret),
        ReasoningPart(native={"format": "new"}),
        TextPart("Hi"),
    )
    assert message == {
        "role": "assistant",
        "content": "Hi",
        "reasoning_details": [{**text, "text": "Hm"}, {**summary, "summary": "So"}, secret, {"format": "new"}],
    }


@pytest.mark.parametrize("kind", [[], {"a": 1}, 5])
def test_chat_reasoning_details_of_the_wrong_type(kind: object) -> None:
    """The text goes back beside the field, whatever that holds."""
    part = ReasoningPart("Hm", native={"type": kind}, block=("reasoning_details", 0))
    assert wrote("openai-chat", part)["reasoning_details"] == [{"type": kind, "text": "Hm"}]


def test_chat_thinking_blocks() -> None:
    """Blocks of Anthropic that came through a proxy."""
    first, second = {"type": "thinking", "signature": "sig"}, {"type": "redacted_thinking", "data": "xyz"}
    message = wrote(
        "openai-chat",
        ReasoningPart("Hm", "sig", native=first, block=("thinking_blocks",)),
        ReasoningPart(encrypted="xyz", native=second),
    )
    assert message["thinking_blocks"] == [{**first, "thinking": "Hm"}, second]


def test_chat_content_in_elements() -> None:
    """Mistral's content goes back as the list that it was."""
    reference = {"type": "reference", "reference_ids": [1]}
    message = wrote(
        "openai-chat",
        ReasoningPart("Hm", native={"closed": True}, block=("thinking",)),
        TextPart("Hi"),
        OpaquePart("reference", native=reference),
        FilePart(url="https://a", native={"type": "image_url", "image_url": {"detail": "low"}}),
    )
    assert message["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}], "closed": True},
        {"type": "text", "text": "Hi"},
        reference,
        {"type": "image_url", "image_url": {"detail": "low", "url": "https://a"}},
    ]


def test_chat_other_fields_of_dialects() -> None:
    """Each field goes back under its own name; of audio, the id alone."""
    message = wrote(
        "openai-chat",
        ReasoningPart("Hm", "sig", native={"reasoning_signature": "sig"}, block=("reasoning_content",)),
        ReasoningPart(encrypted="xyz", native={"reasoning_opaque": "xyz"}, block=("reasoning_opaque",)),
        FilePart(data="AAAA", transcript="Hi", id="audio_1", native={"id": "audio_1"}, block=("audio", 0)),
        FilePart("image/png", "AAAA", native={"type": "image_url", "image_url": {}}, block=("images", 0)),
        FilePart("image/png", b"\0\0\0", native={"type": "image_url"}, block=("images", 1)),
        OpaquePart("file", native={"type": "file", "file": {"hash": "h"}}, block=("annotations",)),
        a_call(
            "f", native={"extra_content": {"google": {"thought_signature": "s"}}, "function": {"x": 1}}, signature="s"
        ),
    )
    assert message == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm",
        "reasoning_signature": "sig",
        "reasoning_opaque": "xyz",
        "audio": {"id": "audio_1"},
        "images": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "image_url", "image_url": "data:image/png;base64,AAAA"},
        ],
        "annotations": [{"type": "file", "file": {"hash": "h"}}],
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "function": {"x": 1, "name": "f", "arguments": "{}"},
                "extra_content": {"google": {"thought_signature": "s"}},
            }
        ],
    }


def test_chat_own_losses() -> None:
    """Citations, sources and tools that the provider ran do not go back, even to the provider itself."""
    turn = a_turn(
        "openai-chat",
        TextPart("Hi", (Citation("https://a"),)),
        SourcePart("https://a"),
        a_call("search", kind="server"),
        ToolResultPart("call_0", "search", "Found"),
        a_call("f", '{"a', 1, is_complete=False),
        FilePart(data="AAAA", block=("audio", 0)),
    )
    assert openai_chat.write_turn(turn) == [{"role": "assistant", "content": "Hi"}]
    assert lost(turn) == [
        (0, "citation"),
        (1, "source"),
        (2, "server_call"),
        (3, "server_result"),
        (4, "incomplete_call"),
        (5, "file"),
    ]


# ---- messages of other formats -----------------------------------------------------------------------

FOREIGN: list[Part] = [
    ReasoningPart("Hm", "sig", native={"type": "thinking", "signature": "sig"}, block=(0,)),
    ReasoningPart(encrypted="xyz", native={"type": "redacted_thinking", "data": "xyz"}, block=(1,)),
    TextPart("Let me see. ", (Citation("https://a"),), native={"type": "text"}, block=(2,)),
    a_call("f", '{"a": 1}', 0, native={"type": "tool_use"}, signature="s"),
    a_call("sql", "SELECT", 1, "custom"),
    a_call("shell", '{"command": "ls"}', 2, "builtin", native={"type": "shell_call"}),
    a_call("web_search", "{}", 3, "server"),
    ToolResultPart("call_3", "web_search", [1]),
    TextPart("Hi"),
    RefusalPart("No."),
    SourcePart("https://a"),
    FilePart("image/png", b"\0\0\0"),
    FilePart("audio/wav", "AAAA"),
    OpaquePart("new", native={"type": "new"}),
]


def test_chat_foreign() -> None:
    """Neutral fields are translated; everything else is reported."""
    turn = a_turn("anthropic", *FOREIGN, is_own=False)
    assert openai_chat.write_turn(turn) == [
        {
            "role": "assistant",
            "content": "Let me see. Hi",
            "refusal": "No.",
            "tool_calls": [
                {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
                {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "SELECT"}},
                {"id": "call_2", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}},
            ],
        }
    ]
    assert lost(turn) == [
        (0, "reasoning"),
        (1, "encrypted"),
        (2, "citation"),
        (3, "signature"),
        (5, "opaque"),
        (6, "server_call"),
        (7, "server_result"),
        (8, "order"),
        (10, "source"),
        (11, "file"),
        (12, "file"),
        (13, "opaque"),
    ]


def test_cohere_foreign() -> None:
    """Reasoning goes as thinking, without its signature; free text and a refusal are changed."""
    turn = a_turn("anthropic", *FOREIGN, is_own=False)
    assert cohere.write_turn(turn) == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm"},
                {"type": "text", "text": "Let me see. "},
                {"type": "text", "text": "Hi"},
                {"type": "text", "text": "No."},
            ],
            "tool_calls": [
                {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
                {"id": "call_1", "type": "function", "function": {"name": "sql", "arguments": '{"input": "SELECT"}'}},
                {"id": "call_2", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}},
            ],
        }
    ]
    assert lost(turn) == [
        (0, "signature"),
        (1, "encrypted"),
        (2, "citation"),
        (3, "signature"),
        (4, "custom_input"),
        (5, "opaque"),
        (6, "server_call"),
        (7, "server_result"),
        (8, "order"),
        (9, "refusal_as_text"),
        (9, "order"),
        (10, "source"),
        (11, "file"),
        (12, "file"),
        (13, "opaque"),
    ]


def test_ollama_foreign() -> None:
    """Likewise; images have a place."""
    turn = a_turn("anthropic", *FOREIGN, is_own=False)
    assert ollama.write_turn(turn) == [
        {
            "role": "assistant",
            "content": "Let me see. HiNo.",
            "thinking": "Hm",
            "images": ["AAAA"],
            "tool_calls": [
                {"id": "call_0", "function": {"name": "f", "arguments": {"a": 1}}},
                {"id": "call_1", "function": {"name": "sql", "arguments": {"input": "SELECT"}}},
                {"id": "call_2", "function": {"name": "shell", "arguments": {"command": "ls"}}},
            ],
        }
    ]
    assert lost(turn) == [
        (0, "signature"),
        (1, "encrypted"),
        (2, "citation"),
        (3, "signature"),
        (4, "custom_input"),
        (5, "opaque"),
        (6, "server_call"),
        (7, "server_result"),
        (8, "order"),
        (9, "refusal_as_text"),
        (9, "order"),
        (10, "source"),
        (12, "file"),
        (13, "opaque"),
    ]


@pytest.mark.parametrize("format", WRITERS)
def test_encrypted_reasoning_with_a_text(format: str) -> None:
    """Both are reported where neither is sent, and the hidden form where the text is sent."""
    turn = a_turn("openai-responses", ReasoningPart("Hm", encrypted="xyz"), is_own=False)
    WRITERS[format].write_turn(turn)
    expected = [(0, "encrypted"), (0, "reasoning")] if format == "openai-chat" else [(0, "encrypted")]
    assert lost(turn) == expected


# ---- Cohere and Ollama -------------------------------------------------------------------------------


def test_cohere_own() -> None:
    """The plan, thinking, text with its citations, and calls."""
    citation = {"start": 0, "end": 2, "text": "Hi", "content_index": 1, "type": "TEXT_CONTENT"}
    plan = {"start": 0, "end": 1, "type": "PLAN"}
    message = wrote(
        "cohere",
        ReasoningPart("I will", block=("tool_plan",)),
        ReasoningPart("Hm", block=(0,)),
        TextPart("Hi", (Citation(start=0, end=2, native=citation),), block=(1,)),
        OpaquePart("citation", native=plan, block=("citations", 1)),
        OpaquePart("new", native={"type": "new"}, block=(2,)),
        a_call("f", "", native={"new": 1}),
    )
    assert message == {
        "role": "assistant",
        "tool_plan": "I will",
        "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hi"}, {"type": "new"}],
        "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}, "new": 1}],
        "citations": [citation, plan],
    }
    assert wrote("cohere", a_call()).keys() == {"role", "tool_calls"}
    assert wrote("cohere") == {"role": "assistant", "content": ""}


def test_cohere_citations_follow_their_text() -> None:
    """Without the thinking before it, the text has another number."""
    citation = {"start": 0, "end": 2, "content_index": 1}
    message = wrote("cohere", TextPart("Hi", (Citation(native=citation),), block=(1,)))
    assert message["citations"] == [{"start": 0, "end": 2, "content_index": 0}]
    assert citation["content_index"] == 1


def test_ollama_own() -> None:
    """Arguments are objects, indexes stay, and ids are not made up."""
    message = wrote(
        "ollama",
        ReasoningPart("H"),
        ReasoningPart("m"),
        TextPart("Hi"),
        FilePart(data="AAAA"),
        a_call("f", '{"a": 1}', id=None, native={"function": {"index": 0}}),
        a_call("g", "", 1, id="b"),
    )
    assert message == {
        "role": "assistant",
        "content": "Hi",
        "thinking": "Hm",
        "images": ["AAAA"],
        "tool_calls": [
            {"function": {"index": 0, "name": "f", "arguments": {"a": 1}}},
            {"id": "b", "function": {"name": "g", "arguments": {}}},
        ],
    }


# ---- results -----------------------------------------------------------------------------------------


def test_results() -> None:
    """One message per result, with text as it is and other values as JSON."""
    first, second = a_call("f", id="a"), a_call("g", "", 1, id=None)
    third = a_call("sql", "SELECT", 2, "custom", id="c")
    turn = a_turn("openai-chat", first, second, third)
    results = [CallResult(first, "sunny"), CallResult(second, {"n": "ü"}), CallResult(third, "no", is_error=True)]
    assert openai_chat.write_results(turn, results) == [
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "tool", "tool_call_id": "made_1", "content": '{"n": "ü"}'},
        {"role": "tool", "tool_call_id": "c", "content": "no"},
    ]
    assert cohere.write_results(turn, [*results, CallResult(first, [{"a": 1}, {"b": 2}])]) == [
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "tool", "tool_call_id": "made_1", "content": [{"type": "document", "document": {"data": {"n": "ü"}}}]},
        {"role": "tool", "tool_call_id": "c", "content": "no"},
        {
            "role": "tool",
            "tool_call_id": "a",
            "content": [
                {"type": "document", "document": {"data": {"a": 1}}},
                {"type": "document", "document": {"data": {"b": 2}}},
            ],
        },
    ]
    assert ollama.write_results(turn, results) == [
        {"role": "tool", "tool_name": "f", "content": "sunny", "tool_call_id": "a"},
        {"role": "tool", "tool_name": "g", "content": '{"n": "ü"}'},
        {"role": "tool", "tool_name": "sql", "content": "no", "tool_call_id": "c"},
    ]
    assert turn.losses == []


@pytest.mark.parametrize("format", WRITERS)
def test_results_without_their_call(format: str) -> None:
    """A result whose call stays behind would make the request invalid."""
    cut = a_call("f", '{"a', is_complete=False)
    turn = a_turn(format, cut)
    assert WRITERS[format].write_results(turn, [CallResult(cut, "x")]) == []
    assert lost(turn) == [(None, "incomplete_call")]


# ---- what the vendors' libraries accept --------------------------------------------------------------


@pytest.mark.parametrize("format", WRITERS)
def test_messages_are_copies(format: str) -> None:
    """The caller may change a message; the parts stay as they are."""
    native = {"type": "reasoning.text", "more": {"a": [1]}}
    parts = [
        ReasoningPart("Hm", native=native, block=("reasoning.text", 0)),
        TextPart("Hi"),
        a_call(native={"extra_content": {"a": [1]}}),
    ]
    turn = a_turn(format, *parts)
    (message,) = WRITERS[format].write_turn(turn)
    before = copy.deepcopy(message)

    def spoil(value: dict[str, Any] | list[Any]) -> None:
        for item in list(value.values()) if isinstance(value, dict) else value:
            if isinstance(item, (dict, list)):
                spoil(cast("dict[str, Any]", item))
        value.clear()

    spoil(message)
    assert WRITERS[format].write_turn(turn) == [before]


@pytest.mark.parametrize("is_own", [False, True])
def test_openai_accepts_the_message(is_own: bool) -> None:
    """The message has the type that OpenAI's library declares."""
    pydantic = pytest.importorskip("pydantic")
    types = pytest.importorskip("openai.types.chat")
    adapter = pydantic.TypeAdapter(types.ChatCompletionAssistantMessageParam)
    for parts in ([TextPart("Hi")], [RefusalPart("No.")], [a_call(), a_call("sql", "x", 1, "custom")], FOREIGN, []):
        (message,) = openai_chat.write_turn(a_turn("x", *(parts if not is_own else parts[:1]), is_own=is_own))
        adapter.validate_python(message)
    result = openai_chat.write_results(a_turn("x"), [CallResult(a_call(), {"a": 1})])[0]
    pydantic.TypeAdapter(types.ChatCompletionToolMessageParam).validate_python(result)


def test_cohere_accepts_the_message() -> None:
    """The message has the type that Cohere's library declares: nothing is left over."""
    types = pytest.importorskip("cohere")
    (message,) = cohere.write_turn(a_turn("anthropic", *FOREIGN, is_own=False))
    read = types.AssistantChatMessageV2.model_validate(message)
    assert not read.model_extra
    assert read.tool_calls[0].function.name == "f"
    result = cohere.write_results(a_turn("x"), [CallResult(a_call(), {"a": 1})])[0]
    assert types.ToolChatMessageV2.model_validate(result).content[0].document.data == {"a": 1}


def test_ollama_accepts_the_message() -> None:
    """The message has the type that Ollama's library declares."""
    types = pytest.importorskip("ollama")
    (message,) = ollama.write_turn(a_turn("anthropic", *FOREIGN, is_own=False))
    images = [types.Image(value=image) for image in message["images"]]  # as the client does with text
    read = types.Message.model_validate({**message, "images": images})
    assert read.tool_calls[0].function.arguments == {"a": 1}
    assert read.model_dump(mode="json")["images"] == message["images"]
    (result,) = ollama.write_results(a_turn("x"), [CallResult(a_call(), "x")])
    assert types.Message.model_validate(result).tool_name == "f"
