"""Events: the differences between two states of a message.

started               the message has begun
content               more text of the answer              with is_whole: all of it, which replaces the text before
reasoning, refusal    more of those, likewise
content_value         the structured output has grown
tool_call_started     a call has begun
tool_arguments        more of its arguments, likewise
tool_call_completed   a call is whole and valid: it can be run
tool_call_failed      a call cannot become complete
usage                 tokens were counted
diagnostic            an oddity was noticed
finished              the message has ended, successfully or not
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from ._calls import arguments_in
from ._deltas import Record
from ._message import new_diagnostics, texts_of
from ._texts import NO_TEXT

if TYPE_CHECKING:
    from ._calls import ToolCall
    from ._deltas import Usage
    from ._diagnostics import Diagnostic
    from ._message import MessageState
    from ._texts import BlockTexts, TextVersion

__all__ = [
    "ContentAdded",
    "ContentValueChanged",
    "MessageEvent",
    "MessageFinished",
    "MessageStarted",
    "Noticed",
    "ReasoningAdded",
    "RefusalAdded",
    "ToolArgumentsAdded",
    "ToolCallCompleted",
    "ToolCallFailed",
    "ToolCallStarted",
    "UsageCounted",
    "changes",
]


class MessageEvent(Record):
    """One change of a message; `kind` names it."""

    __slots__ = ()
    kind: ClassVar[str] = ""


@final
class MessageStarted(MessageEvent):
    """The role, id or model of the message became known."""

    __slots__ = ("id", "model", "role")
    __match_args__ = ("role", "id", "model")
    kind: ClassVar[str] = "started"

    def __init__(self, role: str | None, id: str | None, model: str | None) -> None:
        self.role: Final = role
        self.id: Final = id
        self.model: Final = model


class TextAdded(MessageEvent):
    """More text; with `is_whole`, the whole text, which replaces the text before."""

    __slots__ = ("is_whole", "text")
    __match_args__ = ("text", "is_whole")

    def __init__(self, text: str, is_whole: bool = False) -> None:
        self.text: Final = text
        self.is_whole: Final = is_whole


@final
class ContentAdded(TextAdded):
    """More of the answer."""

    __slots__ = ()
    kind: ClassVar[str] = "content"


@final
class ReasoningAdded(TextAdded):
    """More of the reasoning."""

    __slots__ = ()
    kind: ClassVar[str] = "reasoning"


@final
class RefusalAdded(TextAdded):
    """More of the text in which the model declines."""

    __slots__ = ()
    kind: ClassVar[str] = "refusal"


@final
class ContentValueChanged(MessageEvent):
    """The structured output so far."""

    __slots__ = ("value",)
    __match_args__ = ("value",)
    kind: ClassVar[str] = "content_value"

    def __init__(self, value: Any) -> None:
        self.value: Final = value


class CallEvent(MessageEvent):
    """A change of a call, with the call as it is now."""

    __slots__ = ("call",)
    __match_args__ = ("call",)

    def __init__(self, call: ToolCall) -> None:
        self.call: Final = call


@final
class ToolCallStarted(CallEvent):
    """A call has begun; its name and id may still follow."""

    __slots__ = ()
    kind: ClassVar[str] = "tool_call_started"


@final
class ToolArgumentsAdded(MessageEvent):
    """More text of the arguments of a call; with `is_whole`, the whole text, which replaces the text before."""

    __slots__ = ("call", "is_whole", "text")
    __match_args__ = ("call", "text", "is_whole")
    kind: ClassVar[str] = "tool_arguments"

    def __init__(self, call: ToolCall, text: str, is_whole: bool = False) -> None:
        self.call: Final = call
        self.text: Final = text
        self.is_whole: Final = is_whole


@final
class ToolCallCompleted(CallEvent):
    """A call is whole, and its arguments are valid."""

    __slots__ = ()
    kind: ClassVar[str] = "tool_call_completed"


@final
class ToolCallFailed(CallEvent):
    """A call is broken, invalid or cut off."""

    __slots__ = ()
    kind: ClassVar[str] = "tool_call_failed"


@final
class UsageCounted(MessageEvent):
    """The tokens counted so far."""

    __slots__ = ("usage",)
    __match_args__ = ("usage",)
    kind: ClassVar[str] = "usage"

    def __init__(self, usage: Usage) -> None:
        self.usage: Final = usage


@final
class Noticed(MessageEvent):
    """An oddity occurred for the first time."""

    __slots__ = ("diagnostic",)
    __match_args__ = ("diagnostic",)
    kind: ClassVar[str] = "diagnostic"

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic: Final = diagnostic


@final
class MessageFinished(MessageEvent):
    """The message has ended. `state` is its last state, with the error if there is one."""

    __slots__ = ("state",)
    __match_args__ = ("state",)
    kind: ClassVar[str] = "finished"

    def __init__(self, state: MessageState) -> None:
        self.state: Final = state


def changes(before: MessageState, after: MessageState) -> list[MessageEvent]:
    """Return the changes between two states of one message. The cost depends on the changes, not on the message."""
    events: list[MessageEvent] = []
    if (before.role, before.id, before.model) != (after.role, after.id, after.model):
        events.append(MessageStarted(after.role, after.id, after.model))
    old_reasoning, old_content, old_refusal = texts_of(before)
    reasoning, content, refusal = texts_of(after)
    _add_text_changes(ReasoningAdded, old_reasoning, reasoning, events)
    _add_text_changes(ContentAdded, old_content, content, events)
    _add_text_changes(RefusalAdded, old_refusal, refusal, events)
    if after.content_value is not before.content_value:
        events.append(ContentValueChanged(after.content_value))
    known = before.tool_calls
    for index, call in enumerate(after.tool_calls):
        was = known[index] if index < len(known) else None
        if was is not call:
            _add_call_changes(was, call, events)
    if after.usage is not None and after.usage is not before.usage:
        events.append(UsageCounted(after.usage))
    events += [Noticed(diagnostic) for diagnostic in new_diagnostics(before, after)]
    if after.is_finished and not before.is_finished:
        events.append(MessageFinished(after))
    return events


def _add_text_changes(kind: type[TextAdded], before: BlockTexts, after: BlockTexts, events: list[MessageEvent]) -> None:
    if before is after:
        return
    last = len(before.texts) - 1
    added: list[str] = []
    for at, text in enumerate(after.texts):
        if at > last:
            added.append(str(text))
        elif before.texts[at] is not text:
            new = (
                _added(before.texts[at], text) if at == last else None
            )  # growth before the last block moves later text
            if new is None:
                events.append(kind(str(after), True))
                return
            added.append(new)
    events.append(kind("".join(added)))


def _added(before: TextVersion, after: TextVersion) -> str | None:
    """Return the added text; None if other text replaced the text before."""
    if before.length == 0:
        return str(after)
    return after.since(before.length) if after.origin is before.origin else None


def _add_call_changes(before: ToolCall | None, call: ToolCall, events: list[MessageEvent]) -> None:
    if before is None:
        events.append(ToolCallStarted(call))
    text = arguments_in(call).text
    known = NO_TEXT if before is None else arguments_in(before).text
    if known is not text:
        added = _added(known, text)
        events.append(ToolArgumentsAdded(call, str(text), True) if added is None else ToolArgumentsAdded(call, added))
    if call.is_complete and (before is None or not before.is_complete):
        events.append(ToolCallCompleted(call))
    if call.error is not None and (before is None or before.error is None):
        events.append(ToolCallFailed(call))
