"""What was odd about a stream, and was read all the same: a closed set of codes, each told once for each call."""

# Compiled with mypyc.
from __future__ import annotations

from enum import StrEnum
from typing import Final, final

from ._parts import Record

__all__ = ["Diagnostic", "Notes", "Quirk"]

MOST_DETAILS: Final = 100  # names of unknown events: they come from the wire
LONGEST_DETAIL: Final = 80
OTHERS: Final = "..."


class Quirk(StrEnum):
    """What was odd. A closed set: programs may match on it."""

    NO_INDEX = "no_index"
    INDEX_NULL = "index_null"
    INDEX_AS_TEXT = "index_as_text"
    INDEX_FROM_ONE = "index_from_one"
    INDEX_TWICE = "index_twice"
    INDEX_REUSED = "index_reused"
    INDEX_CHANGED = "index_changed"
    ID_EMPTY = "id_empty"
    ID_REPEATED = "id_repeated"
    ID_CHANGED = "id_changed"
    NAME_LATE = "name_late"
    NAME_EMPTY = "name_empty"
    NAME_REPEATED = "name_repeated"
    NAME_CHANGED = "name_changed"
    ARGUMENTS_AS_OBJECT = "arguments_as_object"
    ARGUMENTS_NULL = "arguments_null"
    ARGUMENTS_REPEATED = "arguments_repeated"
    ARGUMENTS_REPLACED = "arguments_replaced"
    ARGUMENTS_MIXED = "arguments_mixed"
    CALLS_INTERLEAVED = "calls_interleaved"
    UNKNOWN_TOOL = "unknown_tool"
    OUTPUT_REPEATED = "output_repeated"
    EXTRA_TEXT = "extra_text"
    TEXT_INTERLEAVED = "text_interleaved"
    TEXT_REPLACED = "text_replaced"
    FINISH_CONTRADICTS = "finish_contradicts"
    MESSAGE_ID_CHANGED = "message_id_changed"
    SECOND_MESSAGE = "second_message"
    UNKNOWN_EVENT = "unknown_event"


SENTENCES: Final[dict[Quirk, str]] = {
    Quirk.NO_INDEX: "a piece of the call has no index",
    Quirk.INDEX_NULL: "the index is null",
    Quirk.INDEX_AS_TEXT: "the index is a text",
    Quirk.INDEX_FROM_ONE: "the first index is not 0",
    Quirk.INDEX_TWICE: "one chunk has two pieces with this index",
    Quirk.INDEX_REUSED: "the index was that of another call before",
    Quirk.INDEX_CHANGED: "the call has the same id under another index",
    Quirk.ID_EMPTY: 'the id is empty, or the text "null"',
    Quirk.ID_REPEATED: "the id comes again",
    Quirk.ID_CHANGED: "the call goes on with another id than it began with",
    Quirk.NAME_LATE: "the name comes after other things",
    Quirk.NAME_EMPTY: "the name is empty",
    Quirk.NAME_REPEATED: "the name comes again",
    Quirk.NAME_CHANGED: "another name comes for a call that has one",
    Quirk.ARGUMENTS_AS_OBJECT: "the arguments are an object, not text",
    Quirk.ARGUMENTS_NULL: "the arguments are null, or not there",
    Quirk.ARGUMENTS_REPEATED: "the arguments come once more as a whole",
    Quirk.ARGUMENTS_REPLACED: "the arguments come as a whole, and are other ones",
    Quirk.ARGUMENTS_MIXED: "the arguments come both as text and as leaves; those that came later are left out",
    Quirk.CALLS_INTERLEAVED: "the call goes on after another one",
    Quirk.UNKNOWN_TOOL: "the tool is none of those that are known",
    Quirk.OUTPUT_REPEATED: "the structured output comes again; only the first one counts",
    Quirk.EXTRA_TEXT: "there is more text after the end of the value",
    Quirk.TEXT_INTERLEAVED: "a part of the text grows after another has begun",
    Quirk.TEXT_REPLACED: "a part of the text comes as a whole, and is another one",
    Quirk.FINISH_CONTRADICTS: "the finish reason does not go with the calls",
    Quirk.MESSAGE_ID_CHANGED: "the id of the message changes",
    Quirk.SECOND_MESSAGE: "another message follows; it is left out",
    Quirk.UNKNOWN_EVENT: "something that nobody knows",
}


@final
class Diagnostic(Record):
    """One oddity: what, in which call (its index among the shown ones; None where it is none of them), how often.

    Only unknown events are counted, by the name of what is unknown, which is the `detail`.
    """

    __slots__ = ("call", "code", "count", "detail")
    __match_args__ = ("code", "call", "detail", "count")

    def __init__(self, code: Quirk, call: int | None = None, detail: str = "", count: int = 1) -> None:
        self.code: Final = code
        self.call: Final = call
        self.detail: Final = detail
        self.count: Final = count

    def __str__(self) -> str:
        place = "" if self.call is None else f"call {self.call}: "
        times = f" ({self.count} times)" if self.count > 1 else ""
        return place + SENTENCES[self.code] + (f": {self.detail}" if self.detail else "") + times


Note = tuple[Quirk, int | None, str]
"""What, in which call by the order of appearance, and the name of what is unknown."""


@final
class Notes:
    """All that was noticed, in the order in which it was noticed first. It never changes; adding makes another one."""

    __slots__ = ("counts",)

    def __init__(self, counts: dict[Note, int] | None = None) -> None:
        self.counts: Final[dict[Note, int]] = {} if counts is None else counts

    def noticed(self, quirks: list[Quirk], call: int | None = None) -> Notes:
        """With these quirks of one call; the same notes if there is none that is new."""
        new: list[Note] = [(quirk, call, "") for quirk in quirks if (quirk, call, "") not in self.counts]
        return Notes({**self.counts, **dict.fromkeys(new, 1)}) if new else self

    def counted(self, detail: str) -> Notes:
        """With one more event that nobody knows."""
        note = (Quirk.UNKNOWN_EVENT, None, detail[:LONGEST_DETAIL])
        if note not in self.counts and len(self.counts) >= MOST_DETAILS:
            note = (Quirk.UNKNOWN_EVENT, None, OTHERS)
        return Notes({**self.counts, note: self.counts.get(note, 0) + 1})
