"""Oddities and failures of messages: two closed sets of codes, the diagnostics, and the one exception.

A `Quirk` is an oddity of a stream that the reducer can read all the same. A message counts each quirk once per call
(`Notes`) and reports it as a `Diagnostic`. A `Fault` is the reason why a message, its structured output or one of its
calls failed; `MessageError` carries it.
"""

# Compiled with mypyc.
from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, cast, final

from .._errors import UnspoolError, shown_path
from .._native import mypyc_attr
from .._quoting import printable
from .._sharing import GrowingMap
from ._deltas import Record

if TYPE_CHECKING:
    from .._path import Path
    from ._message import MessageState

__all__ = ["Diagnostic", "Fault", "MessageError", "Notes", "Quirk", "http_status"]

# The names of unknown events come from the wire, so their number and length are limited.
MAX_DETAILS: Final = 100
MAX_QUIRK_DETAIL: Final = 80
OTHERS: Final = "..."
NO_NOTES: Final = GrowingMap()

MAX_FAULT_DETAIL: Final = 200

# The status codes of HTTP that stand for an error.
FIRST_ERROR: Final = 400
LAST_ERROR: Final = 599
STATUS_DIGITS: Final = 3


# ---- oddities ----------------------------------------------------------------------------------------


class Quirk(StrEnum):
    """An oddity of a stream. A closed set: programs may match on it."""

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
    ARGUMENTS_ENCODED_TWICE = "arguments_encoded_twice"
    ARGUMENTS_REPAIRED = "arguments_repaired"
    CALLS_INTERLEAVED = "calls_interleaved"
    UNKNOWN_TOOL = "unknown_tool"
    OUTPUT_REPEATED = "output_repeated"
    EXTRA_TEXT = "extra_text"
    TEXT_INTERLEAVED = "text_interleaved"
    TEXT_REPLACED = "text_replaced"
    FINISH_CONTRADICTS = "finish_contradicts"
    UNKNOWN_FINISH = "unknown_finish"
    MESSAGE_ID_CHANGED = "message_id_changed"
    SECOND_MESSAGE = "second_message"
    UNKNOWN_EVENT = "unknown_event"


QUIRK_SENTENCES: Final[dict[Quirk, str]] = {
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
    Quirk.ARGUMENTS_ENCODED_TWICE: "the arguments are encoded twice: a string holds the object",
    Quirk.ARGUMENTS_REPAIRED: "the arguments are broken, and were repaired",
    Quirk.CALLS_INTERLEAVED: "the call goes on after another one",
    Quirk.UNKNOWN_TOOL: "the tool is none of those that are known",
    Quirk.OUTPUT_REPEATED: "the structured output comes again; only the first one counts",
    Quirk.EXTRA_TEXT: "there is more text after the end of the value",
    Quirk.TEXT_INTERLEAVED: "a part of the text grows after another has begun",
    Quirk.TEXT_REPLACED: "a part of the text comes as a whole, and is another one",
    Quirk.FINISH_CONTRADICTS: "the finish reason does not go with the calls",
    Quirk.UNKNOWN_FINISH: "unknown finish reason",
    Quirk.MESSAGE_ID_CHANGED: "the id of the message changes",
    Quirk.SECOND_MESSAGE: "another message follows; it is left out",
    Quirk.UNKNOWN_EVENT: "unknown event",
}


@final
class Diagnostic(Record):
    """One oddity: its code, the call, and how often it occurred.

    `call` is the index of the call among the shown calls; None for other oddities. Only unknown events are counted;
    `detail` is the name of the unknown event.
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
        detail = f": {printable(self.detail)}" if self.detail else ""
        return place + QUIRK_SENTENCES[self.code] + detail + times


Note = tuple[Quirk, int | None, str]
"""The code, the number of the part that is the call, and the name of an unknown event."""


@final
@mypyc_attr(free_list_len=1)
class Notes:
    """All oddities of a message, in the order of their first occurrence. Immutable: adding returns new notes."""

    __slots__ = ("_counts", "_noted")

    def __init__(self, noted: GrowingMap = NO_NOTES, counts: dict[Note, int] | None = None) -> None:
        self._noted: Final = noted
        self._counts: Final[dict[Note, int]] = {} if counts is None else counts  # of unknown events alone

    @staticmethod
    def of(counts: dict[Note, int]) -> Notes:
        """Return the notes with these counts."""
        noted = NO_NOTES
        for note in counts:
            noted = noted.put(note, True)
        return Notes(noted, {note: count for note, count in counts.items() if note[0] is Quirk.UNKNOWN_EVENT})

    @property
    def size(self) -> int:
        """The number of different oddities."""
        return self._noted.size

    def since(self, start: int) -> list[tuple[Note, int]]:
        """Return the oddities with their counts, without the first `start` ones."""
        found: list[tuple[Note, int]] = []
        for key, _ in self._noted.items(start):
            note = cast("Note", key)
            found.append((note, self._counts.get(note, 1)))
        return found

    def with_quirks(self, quirks: list[Quirk], call: int | None = None, detail: str = "") -> Notes:
        """Add the quirks of one call. Return the same notes if all of them are known."""
        noted = self._noted
        for quirk in quirks:
            note = (quirk, call, detail[:MAX_QUIRK_DETAIL])
            if noted.get(note) is None:
                noted = noted.put(note, True)
        return self if noted is self._noted else Notes(noted, self._counts)

    def with_unknown(self, detail: str) -> Notes:
        """Count one more unknown event."""
        note: Note = (Quirk.UNKNOWN_EVENT, None, detail[:MAX_QUIRK_DETAIL])
        counts = self._counts
        if note not in counts and len(counts) >= MAX_DETAILS:
            note = (Quirk.UNKNOWN_EVENT, None, OTHERS)
        noted = self._noted if note in counts else self._noted.put(note, True)
        return Notes(noted, {**counts, note: counts.get(note, 0) + 1})


# ---- failures ----------------------------------------------------------------------------------------


class Fault(StrEnum):
    """The reason for a failure. A closed set: programs may match on it."""

    SYNTAX = "syntax"
    INVALID = "invalid"
    MISPLACED = "misplaced"
    INCOMPLETE = "incomplete"
    TRUNCATED = "truncated"
    NO_NAME = "no_name"
    NO_ANSWER = "no_answer"
    UNFINISHED = "unfinished"
    GENERATION = "generation"
    INTERRUPTED = "interrupted"
    PROVIDER = "provider"
    TRANSPORT = "transport"
    CLOSED = "closed"
    TOO_MANY_PARTS = "too_many_parts"


FAULT_SENTENCES: Final[dict[Fault, str]] = {
    Fault.SYNTAX: "the text is not JSON",
    Fault.INVALID: "the value does not fit its type",
    Fault.MISPLACED: "the arguments came in pieces that cannot be put together",
    Fault.INCOMPLETE: "the text ended too early",
    Fault.TRUNCATED: "the message was cut off",
    Fault.NO_NAME: "the call has no name",
    Fault.NO_ANSWER: "there is no structured output",
    Fault.UNFINISHED: "the stream ended, and did not say why the model had stopped",
    Fault.GENERATION: "the model could not write the message",
    Fault.INTERRUPTED: "another message began before this one had ended",
    Fault.PROVIDER: "the provider reported an error",
    Fault.TRANSPORT: "the source of the stream failed",
    Fault.CLOSED: "the stream was closed before its end",
    Fault.TOO_MANY_PARTS: "the message has more parts than max_parts allows",
}


class MessageError(UnspoolError, ValueError):
    """A message, its structured output or one of its calls failed.

    - `fault`: the reason, as a code.
    - `call`: the index of the call; None for the message and its structured output.
    - `paths`: the values that were open when the text ended, from the outside in.
    - `reason`: the underlying exception, if there is one: of the JSON, of the type, or of the source.
    - `code` and `detail`: the provider's own words.
    - `status`: the HTTP status, if the provider sent one: of its response, or as a number in its error.
    - `state`: the last state of the message. Only raised errors have it; errors inside a state do not.

    An error inside a state never changes. `raised` returns a copy to raise.
    """

    def __init__(
        self,
        fault: Fault,
        *,
        call: int | None = None,
        paths: tuple[Path, ...] = (),
        reason: Exception | None = None,
        code: str | None = None,
        detail: str = "",
        status: int | None = None,
        state: MessageState | None = None,
    ) -> None:
        super().__init__(fault, call, paths)
        self.fault = fault
        self.call = call
        self.paths = paths
        self.reason = reason
        self.code = code
        self.detail = detail
        self.status = http_status(code) if status is None and fault is Fault.PROVIDER else status
        self.state = state

    def raised(self, state: MessageState) -> MessageError:
        """Return a copy to raise, with the state that holds the error."""
        error = self._copied(self.call, state)
        error.__cause__ = self.reason
        return error

    def about(self, call: int) -> MessageError:
        """Return the same error for the call with this index."""
        return self._copied(call, None)

    def _copied(self, call: int | None, state: MessageState | None) -> MessageError:
        return MessageError(
            self.fault,
            call=call,
            paths=self.paths,
            reason=self.reason,
            code=self.code,
            detail=self.detail,
            status=self.status,
            state=state,
        )

    def __copy__(self) -> MessageError:
        return self._copied(self.call, self.state)

    def __deepcopy__(self, memo: object) -> MessageError:
        return self._copied(self.call, self.state)  # all that it holds is immutable, or an exception of others

    def __reduce__(self) -> tuple[object, ...]:
        # Without the state: its config may hold types, which cannot be pickled.
        reason = _sendable(self.reason)
        return _restored, (self.fault, self.call, self.paths, reason, self.code, self.detail, self.status)

    def _message(self) -> str:
        sentence = FAULT_SENTENCES[self.fault]
        parts = [sentence if self.call is None else f"call {self.call}: {sentence}"]
        if self.paths:
            parts.append(f"open: {shown_path(self.paths[-1])}")
        if isinstance(self.reason, UnspoolError):  # other exceptions may quote the text
            parts.append(str(self.reason))
        elif self.reason is not None:
            parts.append(type(self.reason).__name__)
        if self.status is not None and self.code != str(self.status):
            parts.append(f"HTTP {self.status}")
        parts += [word[:MAX_FAULT_DETAIL] for word in (self.code, self.detail) if word]
        return ": ".join(parts)


def _sendable(reason: Exception | None) -> Exception | None:
    """Return the exception if a pickle can hold it, and otherwise one that says its class.

    Many exceptions of clients cannot be pickled, or fail when they are restored: they hold connections and responses.
    """
    import pickle  # the caller has loaded it already

    try:
        pickle.loads(pickle.dumps(reason))  # noqa: S301 - it was pickled in the same line
    except Exception:  # noqa: BLE001 - whatever the exception's own code raises
        return UnspoolError(type(reason).__name__)
    return reason


def _restored(
    fault: Fault,
    call: int | None,
    paths: tuple[Path, ...],
    reason: Exception | None,
    code: str | None,
    detail: str,
    status: int | None = None,
) -> MessageError:
    """Make an error from a pickle or for a copy."""
    return MessageError(fault, call=call, paths=paths, reason=reason, code=code, detail=detail, status=status)


def http_status(value: object) -> int | None:
    """Return the HTTP status of an error that a number or its digits stand for; None for every other value."""
    if isinstance(value, str) and len(value) == STATUS_DIGITS and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and FIRST_ERROR <= value <= LAST_ERROR:
        return int(value)
    return None
