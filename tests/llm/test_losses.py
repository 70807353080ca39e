"""Losses: what a request or a target has no place for is named, and with `strict` it is an error."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, get_args

import pytest

from tests.support.shared import PROJECT
from unspool import OptionsError
from unspool.llm import Encoder, Loss, LossError, MessageStream, aencode, encode
from unspool.llm._encoders.registry import TARGETS
from unspool.llm._formats.registry import FORMATS
from unspool.llm._requests.turn import Lost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

RECORDINGS = sorted(path.stem for path in (PROJECT / "examples" / "recordings").glob("*.jsonl"))
LLM = PROJECT / "src" / "unspool" / "llm"
PAGE = (PROJECT / "docs" / "encoders.md").read_text(encoding="utf-8")

each_recording = pytest.mark.parametrize("name", RECORDINGS)
each_target = pytest.mark.parametrize("target", TARGETS)

THINKING: list[Any] = [
    {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "model": "m", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Yes."}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def recorded(name: str) -> list[Any]:
    lines = (PROJECT / "examples" / "recordings" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


# The next request


@each_recording
@pytest.mark.parametrize("format", FORMATS)
def test_a_strict_turn_raises_exactly_what_is_lost(name: str, format: str) -> None:
    """With `strict`, `as_messages` raises the losses of `lost_in`; without any, it returns the same turn."""
    for chunks in (recorded(name), THINKING):
        state = MessageStream(chunks).final()
        losses = state.lost_in(format)
        if losses:
            with pytest.raises(LossError) as caught:
                state.as_messages(format, strict=True)
            assert caught.value.losses == losses
        else:
            assert state.as_messages(format, strict=True) == state.as_messages(format)


def test_both_outcomes_of_a_strict_turn() -> None:
    """A turn in its own format loses nothing; in another one, signed reasoning is lost, and the error says so."""
    state = MessageStream(THINKING).final()
    assert state.lost_in() == ()
    assert state.as_messages(strict=True) == state.as_messages()
    with pytest.raises(LossError, match=r"^part 0 loses something: reasoning: .") as caught:
        state.as_messages("openai-chat", strict=True)
    assert [(loss.part, loss.what) for loss in caught.value.losses] == [(0, "reasoning")]
    assert isinstance(caught.value, ValueError)


def test_reasoning_that_the_caller_leaves_out_is_no_loss() -> None:
    """`include_reasoning` is a choice of the caller, so a strict turn without reasoning loses nothing."""
    state = MessageStream(THINKING).final()
    (message,) = state.as_messages("openai-chat", include_reasoning="none", strict=True)
    assert message == {"role": "assistant", "content": "Yes."}


@pytest.mark.parametrize("format", FORMATS)
def test_reasoning_can_go_as_text(format: str) -> None:
    """In another format, if the caller wants it: before the text and apart from it. Its signature is lost."""
    state = MessageStream(THINKING).final()
    turn = state.as_messages(format, reasoning_as="text")
    losses = [(loss.part, loss.what) for loss in state.lost_in(format, reasoning_as="text")]
    if format == "anthropic":
        assert (turn, losses) == (state.as_messages(), [])
        return
    assert losses == [(0, "signature")]
    assert "Hm." in str(turn)
    assert state.as_messages(format, include_reasoning="none", reasoning_as="text") == state.as_messages(
        format, include_reasoning="none"
    )
    if format in {"openai-chat", "ollama"}:
        assert turn[0]["content"] == "Hm.\n\nYes."
    (first, *_) = MessageStream([*THINKING[:5], *THINKING[-2:]]).final().as_messages("openai-chat", reasoning_as="text")
    assert first["content"] == "Hm."


def test_reasoning_goes_as_text_or_not_at_all() -> None:
    """There is no other word for it."""
    state = MessageStream(THINKING).final()
    with pytest.raises(OptionsError, match="reasoning_as"):
        state.as_messages("openai-chat", reasoning_as="summary")
    with pytest.raises(OptionsError, match="reasoning_as"):
        state.lost_in("openai-chat", reasoning_as="")


def test_an_error_counts_its_losses() -> None:
    """The message of the error has the first loss and the number of the others; the data has all of them."""
    losses = (Loss(None, "usage", "nobody asked"), Loss(2, "file", "no place"), Loss(3, "file", "no place"))
    error = LossError(losses)
    assert str(error) == "the message loses something: usage: nobody asked (and 2 more in losses)"
    assert error.losses == losses


# Encoders


@each_recording
@each_target
def test_a_strict_encoder_stops_at_the_first_loss(name: str, target: str) -> None:
    """Up to the first loss, a strict encoder returns the same chunks; there it raises what the other one lists."""
    for chunks in (recorded(name), THINKING):
        known: dict[str, Any] = {"id": "msg_1", "created": 1, "thread_id": "t", "run_id": "r", "source": name}
        lenient, strict = Encoder(target, **known), Encoder(target, **known, strict=True)
        for event in MessageStream(chunks).events():
            written = lenient.feed(event)
            if lenient.losses:
                with pytest.raises(LossError) as caught:
                    strict.feed(event)
                assert caught.value.losses == lenient.losses == strict.losses
                break
            assert strict.feed(event) == written
        else:
            assert lenient.is_ended
            assert strict.is_ended


def test_a_strict_encoder_can_do_both() -> None:
    """Nothing is lost in chat completions with their usage; the signature of thinking is, and is the first loss."""
    plain = [*THINKING[:1], *THINKING[5:]]
    chunks = list(encode(plain, "openai-chat", include_usage=True, strict=True))
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in chunks if each["choices"]) == "Yes."
    with pytest.raises(LossError) as caught:
        list(encode(THINKING, "openai-chat", include_usage=True, strict=True))
    assert [(loss.part, loss.what) for loss in caught.value.losses] == [(0, "signature")]


def test_a_loss_closes_the_source() -> None:
    """A strict encoding that raises leaves no source open, iterated or awaited."""
    closed: list[str] = []

    def source() -> Any:
        try:
            yield from THINKING
        finally:
            closed.append("iterated")

    async def awaited() -> AsyncIterator[Any]:
        try:
            for chunk in THINKING:
                yield chunk
        finally:
            closed.append("awaited")

    async def read() -> None:
        async for _ in aencode(awaited(), "openai-chat", strict=True):
            pass

    with pytest.raises(LossError):
        list(encode(source(), "openai-chat", strict=True))
    with pytest.raises(LossError):
        asyncio.run(read())
    assert closed == ["iterated", "awaited"]


@each_target
def test_a_prelude_is_strict_too(target: str) -> None:
    """A client that joins late gets a prelude from a strict encoder only where it loses nothing."""
    known: dict[str, Any] = {"id": "m", "created": 1, "run_id": "r", "thread_id": "t"}
    for state in MessageStream(THINKING):
        lenient, strict = Encoder(target, **known), Encoder(target, **known, strict=True)
        written = lenient.prelude(state)
        if lenient.losses:
            with pytest.raises(LossError) as caught:
                strict.prelude(state)
            assert caught.value.losses == lenient.losses[: len(caught.value.losses)]
        else:
            assert strict.prelude(state) == written


# Targets


def names_in(path: Path) -> set[str]:
    """The texts in the code of a module, without its docstrings, and the modules that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = [*path.relative_to(LLM).parts[: -node.level], *(node.module or "").split(".")]
            found |= {".".join(filter(None, [*package, more])) for more in ("", *(alias.name for alias in node.names))}
    return found


def test_only_the_registry_knows_the_targets() -> None:
    """A target is known to its own module and to the registry: to add one is to touch nothing else in the package.

    Three targets are also formats that the library reads. The reader and the writer of requests may name those.
    """
    encoders = LLM / "_encoders"
    modules = {target: encoders / f"{target.replace('-', '_')}.py" for target in TARGETS}
    assert all(path.exists() for path in modules.values())
    for target, own in modules.items():
        others = set(encoders.glob("*.py")) | {LLM / "_encode.py", LLM / "_changes.py"}
        if target not in FORMATS:
            others |= set(LLM.rglob("*.py"))
        for path in others - {own, encoders / "registry.py"}:
            names = names_in(path)
            is_own_name = target in names and not (target in FORMATS and path in modules.values())
            assert not is_own_name, (target, path.name)
            assert f"_encoders.{own.stem}" not in names, (target, path.name)


def test_a_new_line_in_the_registry_is_a_new_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoders, their server-sent events and their errors know a target as soon as the registry has it."""
    monkeypatch.setitem(TARGETS, "toy", TARGETS["ag-ui"]._replace(has_names=True, is_done=True))
    body = b"".join(encode(THINKING, "toy").sse())
    assert body.startswith(b"event: RUN_STARTED\ndata: {")
    assert body.endswith(b"data: [DONE]\n\n")
    with pytest.raises(ValueError, match=r"'ag-ui' or 'toy'$"):
        Encoder("nothing")


def test_every_target_has_its_section() -> None:
    """docs/encoders.md has a section for each target and no other, and a row or a column of every table of targets."""
    sections = re.findall(r"^### `([a-z-]+)`$", PAGE, re.MULTILINE)
    assert sections == list(TARGETS)
    parts = next(line for line in PAGE.splitlines() if line.startswith("| part |"))
    assert re.findall(r"`([a-z-]+)`", parts) == list(TARGETS)


def interpreted(*, ends: bool) -> list[Any]:
    """A call that the provider runs: its code has ended before its item has, and maybe the item never does."""
    item = {"type": "code_interpreter_call", "id": "ci_1", "status": "in_progress", "code": "", "container_id": "k"}
    whole = {**item, "status": "completed", "code": "x", "outputs": [{"type": "logs", "logs": "1"}]}
    said: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    said["content"] = [{"type": "output_text", "text": "Yes.", "annotations": []}]
    place = {"output_index": 0, "item_id": "ci_1"}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "m", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.code_interpreter_call_code.delta", **place, "delta": "x"},
        {"type": "response.code_interpreter_call_code.done", **place, "code": "x"},
        {"type": "response.code_interpreter_call.interpreting", **place},
        *([{"type": "response.output_item.done", "output_index": 0, "item": whole}] if ends else []),
        {"type": "response.output_item.added", "output_index": 1, "item": {**said, "content": []}},
        {"type": "response.output_item.done", "output_index": 1, "item": said},
    ]
    output = [whole, said] if ends else [said]
    end = {"id": "resp_1", "model": "m", "status": "completed", "output": output}
    return [*events, {"type": "response.completed", "response": end}]


@pytest.mark.parametrize("ends", [True, False])
def test_a_call_that_the_provider_runs_is_written_when_its_item_ends(ends: bool) -> None:
    """Its code ends before; an item that never ends is lost, as in a request."""
    encoding = encode(interpreted(ends=ends), "openai-responses")
    chunks = list(encoding)
    assert [loss.what for loss in encoding.losses] == ([] if ends else ["server_call"])
    items = chunks[-1]["response"]["output"]
    assert [item["type"] for item in items] == [*(["code_interpreter_call"] if ends else []), "message"]
    if ends:
        assert (items[0]["code"], items[0]["outputs"]) == ("x", [{"type": "logs", "logs": "1"}])
    *states, _ = MessageStream(interpreted(ends=ends))
    for state in states:
        late = Encoder("openai-responses", id="resp_1", created=1)
        known = late.prelude(state)
        added = [chunk["item"]["type"] for chunk in known if chunk["type"] == "response.output_item.added"]
        assert added in ([], ["code_interpreter_call"], [*(item["type"] for item in items)])


def test_the_kinds_of_losses_are_a_closed_set() -> None:
    """The type checker holds every `lose` to the set; here, each kind of the set is one that the package names."""
    kinds = set(get_args(Lost))
    named: set[str] = set()
    for path in LLM.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        for call in calls:
            name = str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))
            if name == "lose" or name.startswith(("lose_", "_lose")):
                nodes = [node for argument in call.args for node in ast.walk(argument)]
                named |= {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    assert kinds <= named
