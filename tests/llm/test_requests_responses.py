"""llm/_requests/openai_responses.py: what goes back to the Responses API, and what cannot."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from unspool.llm._calls import CallArguments, ToolCall
from unspool.llm._parts import (
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolResultPart,
    native_in,
)
from unspool.llm._requests.openai_responses import write_results, write_turn
from unspool.llm._requests.turn import CallResult, Turn
from unspool.llm._texts import NO_TEXT

if TYPE_CHECKING:
    from unspool.llm._deltas import CallKind
    from unspool.llm._parts import Part

ENDED: dict[str, object] = {"response": {"status": "completed"}}


def own(*parts: Part, native: dict[str, object] | None = None) -> Turn:
    """A turn that came from this format."""
    numbered = list(enumerate(parts))
    return Turn(numbered, "openai-responses", is_own=True, native=ENDED if native is None else native, ids={})


def foreign(*parts: Part) -> Turn:
    """A turn that came from another format."""
    return Turn(list(enumerate(parts)), "anthropic", is_own=False, native={}, ids={3: "made_3"})


def called(
    kind: CallKind,
    name: str,
    arguments: str = "{}",
    native: dict[str, object] | None = None,
    *,
    id: str | None = "call_1",
    index: int = 0,
    is_complete: bool = True,
    signature: str | None = None,
) -> ToolCall:
    text = CallArguments(NO_TEXT.add(arguments), None)
    return ToolCall(index, id, name, kind, text, 1, is_complete, None, signature, native, (index,))


def said(text: str, item: int, at: int = 0, status: str = "completed", **content: object) -> TextPart:
    native: dict[str, object] = {"type": "message", "id": f"msg_{item}", "role": "assistant", "status": status}
    native["content"] = [{"type": "output_text", **content}]
    return TextPart(text, (), f"msg_{item}", status != "in_progress", native, (item, at))


def thought(item: int, is_complete: bool = True) -> ReasoningPart:
    native: dict[str, object] = {"type": "reasoning", "id": f"rs_{item}", "summary": [], "encrypted_content": "x"}
    return ReasoningPart("", None, "x", False, f"rs_{item}", is_complete, native, (item,))


def losses(turn: Turn) -> list[tuple[int | None, str]]:
    return [(loss.part, loss.what) for loss in turn.losses]


# ---- the own format ----------------------------------------------------------------------------------


def test_the_parts_of_a_message_are_one_item() -> None:
    """The fields of the item are beside its contents; each content has its own fields and its text."""
    common: dict[str, object] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "x",
    }
    logged: dict[str, object] = {"type": "output_text", "logprobs": []}
    turn = own(
        TextPart("Hi", (), "msg_1", True, {**common, "content": [logged]}, (1, 0)),
        RefusalPart("No", "msg_1", True, {**common, "content": [{"type": "refusal", "more": 1}]}, (1, 1)),
        OpaquePart("new", "msg_1", True, {**common, "content": [{"type": "new", "a": 1}]}, (1, 2)),
    )
    contents: list[object] = [
        {**logged, "text": "Hi"},
        {"type": "refusal", "more": 1, "refusal": "No"},
        {"type": "new", "a": 1},
    ]
    assert write_turn(turn) == [{**common, "content": contents}]
    assert losses(turn) == []


def test_items_go_back_in_the_order_of_their_numbers() -> None:
    """Whatever the order of their first events. Gaps are fine."""
    turn = own(said("b", 7), said("a", 2), said("c", 7, 1))
    assert [[content["text"] for content in item["content"]] for item in write_turn(turn)] == [["a"], ["b", "c"]]
    assert losses(turn) == []


def test_reasoning_has_its_sections() -> None:
    """Each summary and each text has its place, also an empty one."""
    native = {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [{"type": "summary_text"}, {"type": "summary_text"}, {"type": "summary_text"}],
        "content": [{"type": "reasoning_text"}],
        "encrypted_content": None,
    }
    sections = (((0, "summary", 0), 0), ((0, "summary", 2), 4), ((0, "content", 0), 10))
    part = ReasoningPart("Hm\n\nWell\n\nSo", None, None, True, "rs_0", True, native, (0,), sections)
    (reasoning, _) = write_turn(own(part, said("Hi", 1)))
    assert reasoning == {
        **native,
        "summary": [
            {"type": "summary_text", "text": "Hm"},
            {"type": "summary_text", "text": ""},
            {"type": "summary_text", "text": "Well"},
        ],
        "content": [{"type": "reasoning_text", "text": "So"}],
    }


ITEMS: list[tuple[Part, dict[str, object]]] = [
    (
        called("function", "f", '{"a": 1}', {"type": "function_call", "id": "fc", "call_id": "c", "name": "f"}),
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
    ),
    (
        called("function", "f", "{}", {"type": "function_call", "call_id": "c", "status": "in_progress"}),
        {"type": "function_call", "call_id": "c", "status": "in_progress", "arguments": "{}"},
    ),
    (
        called("custom", "sql", "SELECT", {"type": "custom_tool_call", "call_id": "c", "name": "sql"}),
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT"},
    ),
    (
        called("server", "x_search", "{}", {"type": "custom_tool_call", "call_id": "xs_call_1"}),
        {"type": "custom_tool_call", "call_id": "xs_call_1", "input": "{}"},
    ),
    (
        called("server", "echo", "{}", {"type": "mcp_call", "id": "m", "name": "echo", "output": "x"}),
        {"type": "mcp_call", "id": "m", "name": "echo", "output": "x", "arguments": "{}"},
    ),
    (
        called("server", "echo", "{", {"type": "mcp_call", "status": "failed"}, is_complete=False),
        {"type": "mcp_call", "status": "failed", "arguments": "{"},
    ),
    (
        called("builtin", "shell", '{"commands":[]}', {"type": "shell_call", "action": {"commands": []}}),
        {"type": "shell_call", "action": {"commands": []}},
    ),
    (
        called("server", "code_interpreter", '{"code":"x"}', {"type": "code_interpreter_call", "code": "x"}),
        {"type": "code_interpreter_call", "code": "x"},
    ),
    (
        FilePart("image/png", "AAA=", is_complete=True, native={"type": "image_generation_call"}, block=(0,)),
        {"type": "image_generation_call", "result": "AAA="},
    ),
    (
        FilePart(data="AA==", is_complete=True, native={"type": "image_generation_call", "status": "failed"}),
        {"type": "image_generation_call", "status": "failed"},
    ),
    (
        FilePart(data="AA==", native={"type": "image_generation_call", "status": "failed", "result": None}),
        {"type": "image_generation_call", "status": "failed", "result": None},
    ),
    (
        ToolResultPart("c", "shell", [], False, "o", True, {"type": "shell_call_output", "output": []}, (0,)),
        {"type": "shell_call_output", "output": []},
    ),
    (OpaquePart("new", "n", True, {"type": "new", "a": [1]}, (0,)), {"type": "new", "a": [1]}),
    (
        OpaquePart("message", "m", True, {"type": "message", "id": "m", "content": []}, (0,)),
        {"type": "message", "id": "m", "content": []},
    ),
]


@pytest.mark.parametrize(("part", "item"), ITEMS, ids=[str(item["type"]) for _, item in ITEMS])
def test_items_go_back_as_they_came(part: Part, item: dict[str, object]) -> None:
    """The native fields, with the text of the arguments where it is the provider's own."""
    turn = own(part)
    before = copy.deepcopy(native_in(part))
    (written,) = write_turn(turn)
    assert written == item
    assert losses(turn) == []
    written["changed"] = True
    assert native_in(part) == before


@pytest.mark.parametrize(
    "part",
    [
        called("server", "s", "{}", {"type": "web_search_call", "status": []}),
        ToolResultPart(native={"type": "shell_call_output", "status": {}}, block=(0,)),
        OpaquePart("item", "i", True, {"type": [], "id": "i"}, (0,)),
    ],
)
def test_native_fields_of_the_wrong_type(part: Part) -> None:
    """They go back as they came."""
    assert write_turn(own(part)) == [native_in(part)]
    without_reasoning = Turn([(1, part)], "openai-responses", is_own=True, native=ENDED, ids={})
    assert write_turn(without_reasoning) == [native_in(part)]


def test_a_message_is_the_callers_to_change() -> None:
    """The items are copies, at every depth."""
    part = said("Hi", 0, annotations=[{"type": "url_citation", "url": "u"}])
    (item,) = write_turn(own(part))
    item["content"][0]["annotations"][0]["url"] = "changed"
    (again,) = write_turn(own(part))
    assert again["content"][0]["annotations"] == [{"type": "url_citation", "url": "u"}]


def test_an_item_that_never_ended_is_left_out() -> None:
    """And so is the reasoning directly before it, but no other."""
    turn = own(thought(0), said("Hi", 1), thought(2), said("Th", 3, status="in_progress"), native={})
    assert [item["id"] for item in write_turn(turn)] == ["rs_0", "msg_1"]
    assert losses(turn) == [(3, "incomplete_part"), (2, "reasoning")]


@pytest.mark.parametrize(
    ("part", "what"),
    [
        (called("function", "f", '{"a', {"type": "function_call"}, index=1, is_complete=False), "incomplete_call"),
        (called("server", "s", "{}", {"type": "web_search_call", "status": "in_progress"}, index=1), "incomplete_call"),
        (OpaquePart("mcp_list_tools", None, False, {"type": "mcp_list_tools"}, (1,)), "incomplete_part"),
        (
            ToolResultPart(native={"type": "shell_call_output", "status": "in_progress"}, block=(1,)),
            "incomplete_part",
        ),
        (FilePart(data="AA==", native={"type": "image_generation_call", "status": "generating"}), "incomplete_part"),
        (thought(1, is_complete=False), "incomplete_part"),
    ],
    ids=lambda value: getattr(value, "type", None),
)
def test_parts_that_never_ended_take_their_reasoning_with_them(part: Part, what: str) -> None:
    """Of every kind."""
    turn = own(thought(0), part, native={})
    assert write_turn(turn) == []
    assert losses(turn) == [(1, what), (0, "reasoning")]


def test_a_message_that_was_cut_off_by_the_provider_goes_back() -> None:
    """Its status says so."""
    native: dict[str, object] = {"type": "message", "id": "m", "status": "incomplete"}
    part = TextPart("Hi", (), "m", False, {**native, "content": [{"type": "output_text"}]}, (0,))
    assert write_turn(own(part)) == [{**native, "content": [{"type": "output_text", "text": "Hi"}]}]


def test_a_message_that_ended_with_the_response() -> None:
    """No event of its own said that it has ended."""
    native = {"type": "message", "id": "m", "status": "in_progress"}
    (item,) = write_turn(own(TextPart("Hi", (), "m", True, native, (0, 0))))
    assert item == {
        **native,
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
    }


def test_the_last_reasoning() -> None:
    """It goes back only if the response says that it ended there."""
    ended, cut_off = own(thought(0)), own(thought(0), native={"response": {"status": "incomplete"}})
    assert [item["id"] for item in write_turn(ended)] == ["rs_0"]
    assert write_turn(cut_off) == []
    assert losses(cut_off) == [(0, "reasoning")]


def test_items_whose_reasoning_the_caller_leaves_out() -> None:
    """Their ids would ask for it. Items that had no reasoning before them keep their ids."""
    search = called("server", "s", native={"type": "web_search_call", "id": "ws"}, index=3)
    parts: list[tuple[int, Part]] = [(1, said("a", 1)), (3, search), (4, said("b", 4)), (6, said("c", 6))]
    turn = Turn(parts, "openai-responses", is_own=True, native=ENDED, ids={})
    assert [item.get("id") for item in write_turn(turn)] == [None, "ws", "msg_4", None]
    assert losses(turn) == [(1, "id_changed"), (6, "id_changed")]


def test_texts_and_calls_without_items() -> None:
    """Some streams never announce an item: its text is there, and goes back without an id."""
    annotation = {"type": "file_citation", "file_id": "f"}
    turn = own(
        TextPart("Hi", (Citation(source_id="f", native=annotation),), None, True),
        called("function", "f", ""),
        native={},
    )
    assert write_turn(turn) == [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi", "annotations": [annotation]}],
        },
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ]
    assert losses(turn) == []


# ---- other formats -----------------------------------------------------------------------------------


def test_turns_of_other_formats() -> None:
    """Neighbouring texts are one message with their borders; calls are items beside it, in order."""
    turn = foreign(
        TextPart("a", (Citation("u", "t", None, 0, 1),), is_complete=True, native={"type": "text"}, block=(0,)),
        RefusalPart("b", is_complete=True, block=(1,)),
        called("function", "f", '{"x":1}', {"type": "tool_use"}, id="toolu_1"),
        called("custom", "sql", "SELECT", id="c2"),
        called("builtin", "bash", "{}", id=None, index=3),
        TextPart("c", is_complete=True),
    )
    cited = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    assert write_turn(turn) == [
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "a", "annotations": [cited]},
                {"type": "refusal", "refusal": "b"},
            ],
        },
        {"type": "function_call", "call_id": "toolu_1", "name": "f", "arguments": '{"x":1}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "SELECT"},
        {"type": "function_call", "call_id": "made_3", "name": "bash", "arguments": "{}"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "c", "annotations": []}],
        },
    ]
    assert losses(turn) == []


def test_what_cannot_cross() -> None:
    """Everything that is left out or changed is reported, and nothing else."""
    parts: list[tuple[Part, str | None]] = [
        (ReasoningPart("Hm", "signed", is_complete=True), "reasoning"),
        (ReasoningPart("", None, "secret", is_complete=True), "encrypted"),
        (TextPart("", is_complete=True), "empty_text"),
        (TextPart("Hi", (Citation("u"),), is_complete=True), "citation"),
        (called("server", "web_search"), "server_call"),
        (called("function", "f", '{"a', is_complete=False), "incomplete_call"),
        (called("function", "g", signature="signed"), "signature"),
        (called("function", "h", id="x" * 65), "id_changed"),
        (ToolResultPart("c"), "server_result"),
        (FilePart("image/png", "AAA="), "file"),
        (SourcePart("u"), "source"),
        (OpaquePart("new", native={"type": "new"}), "opaque"),
        (called("function", "i", id="x" * 64), None),
    ]
    turn = foreign(*[part for part, _ in parts])
    written = write_turn(turn)
    assert losses(turn) == [(number, what) for number, (_, what) in enumerate(parts) if what]
    assert [item.get("name") for item in written] == [None, "g", "h", "i"]
    assert len(written[2]["call_id"]) <= 64
    changed = next(part for part, what in parts if what == "id_changed")
    assert isinstance(changed, ToolCall)
    (result,) = write_results(turn, [CallResult(changed, "ok")])
    assert result["call_id"] == written[2]["call_id"]


# ---- results -----------------------------------------------------------------------------------------

PATCH = called("builtin", "apply_patch", native={"type": "apply_patch_call", "call_id": "c"})
SHELL = called("builtin", "shell", native={"type": "shell_call", "call_id": "c", "action": {"max_output_length": 9}})
LOCAL = called("builtin", "local_shell", native={"type": "local_shell_call", "call_id": "c"})
COMPUTER = called("builtin", "computer", native={"type": "computer_call", "call_id": "c", "action": {}})
SEARCH = called("builtin", "tool_search", native={"type": "tool_search_call", "call_id": "c", "execution": "client"})
FUNCTION = called("function", "f", native={"type": "function_call", "call_id": "c"})
CUSTOM = called("custom", "sql", native={"type": "custom_tool_call", "call_id": "c"})
OK = {"type": "exit", "exit_code": 0}
FOUND = {"type": "tool_search_output", "call_id": "c", "execution": "client", "status": "completed"}
TOOL = {"type": "function", "name": "f"}
RESULTS: list[tuple[ToolCall, Any, bool, dict[str, Any]]] = [
    (FUNCTION, "ok", False, {"type": "function_call_output", "call_id": "c", "output": "ok"}),
    (FUNCTION, {"a": "é"}, False, {"type": "function_call_output", "call_id": "c", "output": '{"a": "é"}'}),
    (FUNCTION, [], False, {"type": "function_call_output", "call_id": "c", "output": "[]"}),
    (FUNCTION, [{"type": [1]}], False, {"type": "function_call_output", "call_id": "c", "output": '[{"type": [1]}]'}),
    (
        FUNCTION,
        [{"type": "input_image", "image_url": "u"}],
        False,
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_image", "image_url": "u"}],
        },
    ),
    (
        called("function", "f", native={"type": "function_call", "call_id": "c", "caller": {"type": "program"}}),
        "ok",
        False,
        {"type": "function_call_output", "call_id": "c", "caller": {"type": "program"}, "output": "ok"},
    ),
    (called("function", "f"), "ok", False, {"type": "function_call_output", "call_id": "call_1", "output": "ok"}),
    (CUSTOM, "ok", False, {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"}),
    (PATCH, "ok", False, {"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "ok"}),
    (PATCH, "no", True, {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"}),
    (PATCH, {"status": "failed"}, False, {"type": "apply_patch_call_output", "call_id": "c", "status": "failed"}),
    (
        SHELL,
        "a",
        False,
        {
            "type": "shell_call_output",
            "call_id": "c",
            "max_output_length": 9,
            "output": [{"stdout": "a", "stderr": "", "outcome": OK}],
        },
    ),
    (
        SHELL,
        "no",
        True,
        {
            "type": "shell_call_output",
            "call_id": "c",
            "max_output_length": 9,
            "output": [{"stdout": "", "stderr": "no", "outcome": {"type": "exit", "exit_code": 1}}],
        },
    ),
    (
        SHELL,
        {"stdout": "a", "stderr": "", "outcome": OK},
        False,
        {
            "type": "shell_call_output",
            "call_id": "c",
            "max_output_length": 9,
            "output": [{"stdout": "a", "stderr": "", "outcome": OK}],
        },
    ),
    (
        SHELL,
        {"output": [], "max_output_length": 5},
        False,
        {"type": "shell_call_output", "call_id": "c", "max_output_length": 5, "output": []},
    ),
    (SHELL, [], False, {"type": "shell_call_output", "call_id": "c", "max_output_length": 9, "output": []}),
    (LOCAL, "ok", False, {"type": "local_shell_call_output", "call_id": "c", "output": "ok"}),
    (LOCAL, {"output": "ok"}, False, {"type": "local_shell_call_output", "call_id": "c", "output": "ok"}),
    (
        COMPUTER,
        "data:image/png;base64,AAA=",
        False,
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAA="},
        },
    ),
    (
        COMPUTER,
        {"file_id": "f"},
        False,
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "file_id": "f"}},
    ),
    (
        COMPUTER,
        {"output": {"type": "computer_screenshot"}, "acknowledged_safety_checks": []},
        False,
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot"},
            "acknowledged_safety_checks": [],
        },
    ),
    (SEARCH, [TOOL], False, {**FOUND, "tools": [TOOL]}),
    (SEARCH, TOOL, False, {**FOUND, "tools": [TOOL]}),
    (SEARCH, '[{"type": "function", "name": "f"}]', False, {**FOUND, "tools": [TOOL]}),
    (SEARCH, {"tools": [TOOL], "id": "t"}, False, {**FOUND, "tools": [TOOL], "id": "t"}),
]


@pytest.mark.parametrize(("call", "output", "is_error", "item"), RESULTS)
def test_results(call: ToolCall, output: Any, is_error: bool, item: dict[str, Any]) -> None:
    """One item for each result, of the type that belongs to the call. The caller's value is copied."""
    turn = own(call)
    before = copy.deepcopy(output)
    (written,) = write_results(turn, [CallResult(call, output, is_error)])
    assert written == item
    assert losses(turn) == []
    for name in ("output", "tools"):
        if isinstance(written.get(name), list):
            written[name].append("changed")
    assert output == before


def test_a_search_for_tools_that_failed() -> None:
    """The list of tools is empty, and the text of the error is reported as a loss."""
    turn = own(SEARCH)
    (written,) = write_results(turn, [CallResult(SEARCH, "no", is_error=True)])
    assert written == {**FOUND, "status": "incomplete", "tools": []}
    assert losses(turn) == [(None, "opaque")]


def test_results_in_another_format() -> None:
    """The kind of the call decides; native fields of the other format do not matter."""
    turn = foreign()
    native: dict[str, object] = {"type": "tool_use", "call_id": "other"}
    results = [
        CallResult(called("function", "f", native=native), "a"),
        CallResult(called("custom", "g"), "b"),
        CallResult(called("server", "h"), "c"),
    ]
    assert write_results(turn, results) == [
        {"type": "function_call_output", "call_id": "call_1", "output": "a"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "b"},
    ]
    assert losses(turn) == [(None, "server_result")]
