"""Events: the differences between two states of a message.

started               the message has begun
part_started          a part has begun
content               more text of a text part             with is_whole: all of it, which replaces the text before
reasoning, refusal    more text of such a part, likewise
tool_call_started     a call has begun
tool_arguments        more of its arguments, likewise
tool_call_completed   a call is whole and valid: it can be run
tool_call_failed      a call cannot become complete
part_changed          another field of a part has changed: a signature, a citation, a result
part_ended            a part has ended, whole or cut off
content_value         the structured output has grown
usage                 tokens were counted
diagnostic            an oddity was noticed
finished              the message has ended, successfully or not

The events of one step are in the order of the parts, and the events of one part in the order of this list.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from .._native import expect
from ._calls import HIDDEN, ToolCall, arguments_in, is_over
from ._deltas import Record
from ._message import MessageState, new_diagnostics, vector_of
from ._parts import (
    FilePart,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolResultPart,
    WrittenPart,
    native_in,
    text_in,
)
from ._texts import NO_TEXT

if TYPE_CHECKING:
    from ._deltas import Usage
    from ._diagnostics import Diagnostic
    from ._texts import TextVersion

__all__ = [
    "ContentAdded",
    "ContentValueChanged",
    "MessageEvent",
    "MessageFinished",
    "MessageStarted",
    "Noticed",
    "PartChanged",
    "PartEnded",
    "PartStarted",
    "ReasoningAdded",
    "RefusalAdded",
    "ToolArgumentsAdded",
    "ToolCallCompleted",
    "ToolCallFailed",
    "ToolCallStarted",
    "UsageCounted",
    "changed_calls",
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


class PartEvent(MessageEvent):
    """A change of a part: its number, and the part as it is now."""

    __slots__ = ("index", "part")
    __match_args__ = ("index", "part")

    def __init__(self, index: int, part: Part) -> None:
        self.index: Final = index
        self.part: Final = part


@final
class PartStarted(PartEvent):
    """A part has begun. Its text follows in events of its own."""

    __slots__ = ()
    kind: ClassVar[str] = "part_started"


@final
class PartEnded(PartEvent):
    """A part has ended. It is complete, or the message was cut off."""

    __slots__ = ()
    kind: ClassVar[str] = "part_ended"


@final
class PartChanged(MessageEvent):
    """A field of a part other than its text has changed; `name` is the field."""

    __slots__ = ("index", "name", "part")
    __match_args__ = ("index", "part", "name")
    kind: ClassVar[str] = "part_changed"

    def __init__(self, index: int, part: Part, name: str) -> None:
        self.index: Final = index
        self.part: Final = part
        self.name: Final = name


class TextAdded(MessageEvent):
    """More text of the part with the number `part`; with `is_whole`, its whole text, which replaces the text before."""

    __slots__ = ("is_whole", "part", "text")
    __match_args__ = ("text", "is_whole", "part")

    def __init__(self, text: str, is_whole: bool = False, part: int = 0) -> None:
        self.text: Final = text
        self.is_whole: Final = is_whole
        self.part: Final = part


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

    __slots__ = ("call", "is_whole", "part", "text")
    __match_args__ = ("call", "text", "is_whole", "part")
    kind: ClassVar[str] = "tool_arguments"

    def __init__(self, call: ToolCall, text: str, is_whole: bool = False, part: int = 0) -> None:
        self.call: Final = call
        self.text: Final = text
        self.is_whole: Final = is_whole
        self.part: Final = part


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
    expect(before, MessageState, "unspool.llm._message.MessageState")
    expect(after, MessageState, "unspool.llm._message.MessageState")
    events: list[MessageEvent] = []
    if (before.role, before.id, before.model) != (after.role, after.id, after.model):
        events.append(MessageStarted(after.role, after.id, after.model))
    has_ended = after.is_finished and not before.is_finished
    known, parts = vector_of(before), vector_of(after)
    for number in range(parts.size) if has_ended else parts.changed(known):
        old = known.at(number) if number < known.size else None
        part = parts.at(number)
        if part is not old:
            _add_part_changes(number, old, part, events)
        if (has_ended or _has_ended(part)) and (old is None or not _has_ended(old)):
            events.append(PartEnded(number, part))
    if after.content_value is not before.content_value:
        events.append(ContentValueChanged(after.content_value))
    if after.usage is not None and after.usage is not before.usage:
        events.append(UsageCounted(after.usage))
    events += [Noticed(diagnostic) for diagnostic in new_diagnostics(before, after)]
    if has_ended:
        events.append(MessageFinished(after))
    return events


def changed_calls(before: MessageState, after: MessageState) -> list[ToolCall]:
    """Return the shown calls that differ between two states of one message, in the order of their parts."""
    parts = vector_of(after)
    found = [parts.at(number) for number in parts.changed(vector_of(before))]
    return [part for part in found if isinstance(part, ToolCall) and part.index != HIDDEN]


def _has_ended(part: Part) -> bool:
    return is_over(part) if isinstance(part, ToolCall) else part.is_complete


def _add_part_changes(number: int, old: Part | None, part: Part, events: list[MessageEvent]) -> None:
    if old is None:
        events.append(PartStarted(number, part))
    if isinstance(part, ToolCall):
        _add_call_changes(number, old if isinstance(old, ToolCall) else None, part, events)
    elif isinstance(part, WrittenPart):
        known = text_in(old) if isinstance(old, WrittenPart) else NO_TEXT
        text = text_in(part)
        if _is_other(known, text):
            added = _added(known, text)
            is_whole = added is None
            events.append(_text_event(part, str(text) if added is None else added, is_whole, number))
    if old is not None:
        events += [PartChanged(number, part, name) for name in _changed_fields(old, part)]


def _text_event(part: WrittenPart, text: str, is_whole: bool, number: int) -> TextAdded:
    if isinstance(part, ReasoningPart):
        return ReasoningAdded(text, is_whole, number)
    return (
        RefusalAdded(text, is_whole, number) if isinstance(part, RefusalPart) else ContentAdded(text, is_whole, number)
    )


def _is_other(before: TextVersion, after: TextVersion) -> bool:
    """Tell whether the text has changed: two versions may differ in their pieces alone."""
    return before is not after and (before.length != after.length or before.origin is not after.origin)


def _added(before: TextVersion, after: TextVersion) -> str | None:
    """Return the added text; None if other text replaced the text before."""
    if before.length == 0:
        return str(after)
    return after.since(before.length) if after.origin is before.origin else None


def _changed_fields(old: Part, part: Part) -> list[str]:
    """Return the names of the fields that differ, apart from the text and the end."""
    found: list[str] = []
    if type(old) is not type(part):
        return ["type"]
    if isinstance(part, TextPart) and isinstance(old, TextPart) and part.citations is not old.citations:
        found.append("citations")
    elif isinstance(part, ReasoningPart) and isinstance(old, ReasoningPart):
        if part.signature != old.signature:
            found.append("signature")
        if part.encrypted != old.encrypted:
            found.append("encrypted")
    elif isinstance(part, ToolCall) and isinstance(old, ToolCall):
        if part.signature != old.signature:
            found.append("signature")
        if part.name != old.name:
            found.append("name")
    elif isinstance(part, ToolResultPart) and isinstance(old, ToolResultPart):
        if part.output != old.output or part.is_error != old.is_error:
            found.append("output")
    elif isinstance(part, FilePart) and isinstance(old, FilePart) and part.is_complete == old.is_complete:
        found.append("data")
    if part.id != old.id:
        found.append("id")
    if not found and native_in(part) is not native_in(old):
        found.append("native")
    return found


def _add_call_changes(number: int, before: ToolCall | None, call: ToolCall, events: list[MessageEvent]) -> None:
    if call.index == HIDDEN:
        return
    if before is not None and before.index == HIDDEN:
        before = None
    if before is None:
        events.append(ToolCallStarted(call))
    text = arguments_in(call).text
    known = NO_TEXT if before is None else arguments_in(before).text
    if _is_other(known, text):
        added = _added(known, text)
        is_whole = added is None
        events.append(ToolArgumentsAdded(call, str(text) if added is None else added, is_whole, number))
    if call.is_complete and (before is None or not before.is_complete):
        events.append(ToolCallCompleted(call))
    if call.error is not None and (before is None or before.error is None):
        events.append(ToolCallFailed(call))
