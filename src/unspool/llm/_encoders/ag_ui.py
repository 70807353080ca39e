"""AG-UI 1.0: the events of an agent's run.

    RUN_STARTED
    (text message | reasoning message | tool call | result | CUSTOM)*
    RUN_FINISHED  or  RUN_ERROR

Each text is a message of its own, because a message has one text: that keeps the order. Signatures and encrypted
reasoning go along as encrypted values, and come back with the next run. Sources, files and blocks that only their
provider knows are custom events.
"""

# Compiled with mypyc.
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, final

from .._calls import ToolCall
from .._parts import FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart, native_in
from .carry import secrets_of
from .fields import ENCRYPTED_AGAIN, data_url, is_whole, lose_part, reason_of, result_text, text_of, tokens_of
from .machine import CALL, REASONING, REFUSAL, Target

if TYPE_CHECKING:
    from .._message import MessageState
    from .._parts import Part
    from .machine import Chunk, EncoderSettings, Slot, Step

__all__ = ["TARGET"]

SAME: Final = ("stop", "tool_calls", "cancelled")


def _add(step: Step, type: str, fields: Chunk) -> None:
    step.chunks.append({"type": type, **fields})


def _quoted(text: str) -> str:
    """Return text as it stands inside of a JSON string."""
    return json.dumps(text)[1:-1]


@final
class AGUI(Target):
    """Events of AG-UI."""

    __slots__ = ()

    def shares_floor(self, type: int) -> bool:
        """Nothing waits: messages and calls have ids."""
        return False

    def opens_call(self, call: ToolCall) -> bool:
        """A run shows the tools that the provider runs, too."""
        return True

    def head(self, step: Step) -> None:
        """Begin the run. The message and its model have no fields of their own."""
        state = step.state
        fields: Chunk = {"threadId": state.settings.thread, "runId": state.settings.run, "protocolVersion": "1.0"}
        fields["metadata"] = {"messageId": state.id, **({"model": state.model} if state.model else {})}
        _add(step, "RUN_STARTED", fields)

    def open(self, step: Step, number: int, slot: Slot, part: Part | None) -> None:
        """Begin a message or a call."""
        if isinstance(part, ToolCall):
            start: Chunk = {"toolCallId": slot.id, "toolCallName": part.name}
            if slot.name == "server":
                start["metadata"] = {"providerExecuted": True}
            _add(step, "TOOL_CALL_START", start)
            if slot.name == "custom":
                step.lose(number, "custom_input", "the arguments of a tool are JSON here")
                _add(step, "TOOL_CALL_ARGS", {"toolCallId": slot.id, "delta": '{"input": "'})
            elif slot.name == "builtin":
                step.lose(number, "opaque", "a tool that its provider defines becomes a function")
            return
        slot.id = f"{step.state.id}-{number}" if slot.since == 0 else f"{step.state.id}-{number}-{step.number()}"
        if slot.type == REASONING:
            _add(step, "REASONING_START", {"messageId": slot.id})
            _add(step, "REASONING_MESSAGE_START", {"messageId": slot.id, "role": "reasoning"})
        else:
            _add(step, "TEXT_MESSAGE_START", {"messageId": slot.id, "role": "assistant"})
            if slot.type == REFUSAL:
                step.lose(number, "refusal_as_text", "the target has no refusals")

    def piece(self, step: Step, number: int, slot: Slot, text: str) -> None:
        """Write text or arguments."""
        if slot.type == CALL:
            piece = _quoted(text) if slot.name == "custom" else text
            _add(step, "TOOL_CALL_ARGS", {"toolCallId": slot.id, "delta": piece})
        elif slot.type == REASONING:
            _add(step, "REASONING_MESSAGE_CONTENT", {"messageId": slot.id, "delta": text})
        else:
            _add(step, "TEXT_MESSAGE_CONTENT", {"messageId": slot.id, "delta": text})

    def close(self, step: Step, number: int, slot: Slot, part: Part) -> None:
        """End a message or a call."""
        if isinstance(part, ToolCall):
            if slot.name == "custom":
                _add(step, "TOOL_CALL_ARGS", {"toolCallId": slot.id, "delta": '"}'})
            elif not slot.is_written and is_whole(slot, part):
                _add(step, "TOOL_CALL_ARGS", {"toolCallId": slot.id, "delta": "{}"})
            _add(step, "TOOL_CALL_END", {"toolCallId": slot.id})
            if part.signature:
                secrets = secrets_of(step, number, part)
                _secret(step, "tool-call", slot.id, secrets[0] if secrets else part.signature)
                step.mark(number, ("signature", part.signature))
        elif slot.type == REASONING:
            self._end_reasoning(step, number, slot.id, part)
        else:
            _add(step, "TEXT_MESSAGE_END", {"messageId": slot.id})
            if isinstance(part, TextPart):
                for _, citation in step.new_citations(number, part):
                    cited: Chunk = {"messageId": slot.id, "url": citation.url, "title": citation.title}
                    cited |= {"start": citation.start, "end": citation.end, "citedText": citation.cited_text}
                    _add(step, "CUSTOM", {"name": "unspool.citation", "value": cited})

    def _end_reasoning(self, step: Step, number: int, id: str, part: Part) -> None:
        if isinstance(part, ReasoningPart):
            secret = part.signature or text_of(part.encrypted)
            field = ("signature", part.signature) if part.signature else ("encrypted", part.encrypted)
            if secret and not step.has(number, field):  # otherwise it is in an earlier message of the part
                if step.state.settings.carry:
                    secret = next(iter(secrets_of(step, number, part, 1)), secret)
                _secret(step, "message", id, secret)
                step.mark(number, ("signature", part.signature))
                if not part.signature:
                    step.mark(number, ("encrypted", part.encrypted))
                    step.mark(number, "encrypted")
        _add(step, "REASONING_MESSAGE_END", {"messageId": id})
        _add(step, "REASONING_END", {"messageId": id})

    def whole(self, step: Step, number: int, part: Part) -> None:
        """Write a part without text."""
        named = f"{step.state.id}-{number}"
        if isinstance(part, ToolResultPart):
            self._result(step, number, named, part)
        elif isinstance(part, ReasoningPart):
            if part.signature or text_of(part.encrypted):
                _add(step, "REASONING_START", {"messageId": named})
                _add(step, "REASONING_MESSAGE_START", {"messageId": named, "role": "reasoning"})
                self._end_reasoning(step, number, named, part)
        elif isinstance(part, SourcePart):
            source: Chunk = {"url": part.url, "title": part.title, "mediaType": part.media_type}
            _add(step, "CUSTOM", {"name": "unspool.source", "value": source})
        elif isinstance(part, FilePart):
            file: Chunk = {"url": data_url(part), "fileId": part.file_id, "mediaType": part.media_type}
            _add(step, "CUSTOM", {"name": "unspool.file", "value": {**file, "name": part.name}})
        elif isinstance(part, OpaquePart):
            value: Any = {"kind": part.kind, "native": dict(native_in(part) or {})}
            try:
                json.dumps(value)
            except (TypeError, ValueError, RecursionError):  # bytes cannot be sent
                lose_part(step, number, part)
            else:
                _add(step, "CUSTOM", {"name": "unspool.opaque", "value": value})

    def _result(self, step: Step, number: int, id: str, part: ToolResultPart) -> None:
        known = None if part.call_id is None else step.state.ids.get(("from", part.call_id))
        called = known if isinstance(known, str) else part.call_id or f"result_{number}"
        fields: Chunk = {"messageId": id, "toolCallId": called, "content": result_text(part.output), "role": "tool"}
        if part.is_error:
            fields["metadata"] = {"isError": True}
        _add(step, "TOOL_CALL_RESULT", fields)

    def account(self, step: Step, number: int, part: Part) -> None:
        """Report what has no place."""
        if isinstance(part, (ToolCall, ReasoningPart)):
            if part.signature and not step.has(number, ("signature", part.signature)):
                step.lose(number, "signature", "the signature came after the end of its part")
            secret = part.encrypted if isinstance(part, ReasoningPart) else None
            if secret and not step.has(number, ("encrypted", secret)):
                if step.has(number, "encrypted"):
                    step.lose(number, "replaced", ENCRYPTED_AGAIN)
                else:
                    step.lose(number, "encrypted", "a message has one encrypted value")
        elif isinstance(part, TextPart) and not step.has_citations(number, part):
            step.lose(number, "citation", "the citation came after the end of its text")

    def end(self, step: Step, state: MessageState) -> None:
        """End the run, with the tokens."""
        reason = reason_of(step, state)
        settings = step.state.settings
        fields: Chunk = {"threadId": settings.thread, "runId": settings.run}
        outcome: Chunk = {"type": "cancelled" if reason == "cancelled" else "success"}
        if reason == "tool_calls":
            outcome["pendingToolCallIds"] = _pending(step, state)
        fields["outcome"] = outcome
        if reason not in SAME:
            step.lose(None, "finish_reason", f"the target has no word for {reason!r}")
            fields["result"] = {"finishReason": reason}
        usage = _usage(step)
        if usage:
            fields["usage"] = usage
        _add(step, "RUN_FINISHED", fields)

    def failure(
        self, step: Step, message: str, code: str | None, status: int | None, state: MessageState | None
    ) -> None:
        """End with an error."""
        fields: Chunk = {"message": message}
        if code:
            fields["code"] = code
        usage = _usage(step)
        if usage:
            fields["usage"] = usage
        _add(step, "RUN_ERROR", fields)

    def replacing(self, prelude: list[Chunk], settings: EncoderSettings, history: list[Any]) -> list[Chunk]:
        """Send all messages in a snapshot. Those that are open begin once more, which adds nothing to them."""
        run = [chunk for chunk in prelude if chunk["type"] == "RUN_STARTED"]
        if not run:
            return []
        snapshot: Chunk = {"type": "MESSAGES_SNAPSHOT", "messages": history + _messages(prelude)}
        ended = {(chunk["type"], _name_of(chunk)) for chunk in prelude if chunk["type"].endswith("_END")}
        rest: list[Chunk] = []
        for chunk in prelude:
            kind = chunk["type"]
            if kind.endswith("_START"):
                is_open = (kind.replace("_START", "_END"), _name_of(chunk)) not in ended
            else:
                is_open = kind in {"CUSTOM", "RUN_FINISHED", "RUN_ERROR"}
            if is_open:
                rest.append(chunk)
        return [*run, snapshot, *rest]


def _name_of(chunk: Chunk) -> str:
    """Return the id of the message or call that an event is about."""
    name: str = chunk["toolCallId"] if "toolCallId" in chunk else chunk["messageId"]
    return name


def _messages(prelude: list[Chunk]) -> list[Chunk]:
    """Return the messages that a page makes of these events. A call is a message of its own, before its results."""
    found: dict[str, Chunk] = {}
    calls: dict[str, Chunk] = {}
    results: dict[str, list[Chunk]] = {}
    texts: dict[str, list[str]] = {}
    for chunk in prelude:
        kind = chunk["type"]
        if kind in {"TEXT_MESSAGE_START", "REASONING_MESSAGE_START"}:
            found[chunk["messageId"]] = {"id": chunk["messageId"], "role": chunk["role"]}
            texts[chunk["messageId"]] = []
        elif kind == "TOOL_CALL_START":
            name = chunk["toolCallId"]
            call: Chunk = {"id": name, "type": "function", "function": {"name": chunk["toolCallName"]}}
            if "metadata" in chunk:
                call["metadata"] = chunk["metadata"]
            calls[name], texts[name] = call, []
            found[name] = {"id": name, "role": "assistant", "toolCalls": [call]}
        elif kind in {"TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_ARGS"}:
            texts[_name_of(chunk)].append(chunk["delta"])
        elif kind == "REASONING_ENCRYPTED_VALUE":
            entity = chunk["entityId"]
            (calls if chunk["subtype"] == "tool-call" else found)[entity]["encryptedValue"] = chunk["encryptedValue"]
        elif kind == "TOOL_CALL_RESULT":
            result = {("id" if name == "messageId" else name): value for name, value in chunk.items() if name != "type"}
            if chunk["toolCallId"] in calls:
                results.setdefault(chunk["toolCallId"], []).append(result)
            else:
                found[chunk["messageId"]] = result
    messages: list[Chunk] = []
    for name, message in found.items():
        if name in calls:
            calls[name]["function"]["arguments"] = "".join(texts[name])
        elif name in texts:
            message["content"] = "".join(texts[name])
        messages += [message, *results.get(name, ())]
    return messages


def _pending(step: Step, state: MessageState) -> list[str]:
    """Return the ids of the calls that the page must run."""
    calls = [(number, part) for number, part in enumerate(state.parts) if isinstance(part, ToolCall)]
    slots = [step.state.slots.at(number) for number, call in calls if call.is_complete and call.kind != "server"]
    return [slot.id for slot in slots if slot.id]


def _secret(step: Step, subtype: str, id: str, value: str) -> None:
    _add(step, "REASONING_ENCRYPTED_VALUE", {"subtype": subtype, "entityId": id, "encryptedValue": value})


def _usage(step: Step) -> list[Chunk]:
    tokens = tokens_of(step)
    if not tokens.is_told:
        return []
    counts: Chunk = {"inputTokens": tokens.input, "outputTokens": tokens.output, "totalTokens": tokens.total}
    counts |= {"reasoningTokens": tokens.reasoning, "cachedInputTokens": tokens.cached}
    counts["cacheWriteInputTokens"] = tokens.cache_written
    if step.state.model:
        counts["model"] = step.state.model
    return [counts]


TARGET: Final = AGUI()
