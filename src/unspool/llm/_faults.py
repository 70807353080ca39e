"""Why a message failed: a closed set of codes, and the one exception that carries them."""

# Compiled with mypyc.
from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from .._errors import UnspoolError, shown_path

if TYPE_CHECKING:
    from .._path import Path
    from ._message import MessageState

__all__ = ["Fault", "MessageError"]

LONGEST_DETAIL: Final = 200


class Fault(StrEnum):
    """What went wrong. A closed set: programs may match on it."""

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


SENTENCES: Final[dict[Fault, str]] = {
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
}


class MessageError(UnspoolError, ValueError):
    """A message, its structured output or one of its calls failed.

    `call` is the index of the call that it is about; None for the message or its structured output. `paths` are those
    that were open when the text ended, from the outside in. `reason` is the exception behind it, if there is one: of
    the JSON, of the type, or of the source. `code` and `detail` are the provider's own words. `state` is what there
    was of the message, where the error was raised and not just found in a state.

    As a value in a state it never changes: to raise it, `raised` makes another one.
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
        state: MessageState | None = None,
    ) -> None:
        super().__init__(fault, call, paths)
        self.fault = fault
        self.call = call
        self.paths = paths
        self.reason = reason
        self.code = code
        self.detail = detail
        self.state = state

    def raised(self, state: MessageState) -> MessageError:
        """The same error, to raise it, with the state in which it was found."""
        error = self._copied(self.call, state)
        error.__cause__ = self.reason
        return error

    def about(self, call: int) -> MessageError:
        """The same error, about the call with this index."""
        return self._copied(call, None)

    def _copied(self, call: int | None, state: MessageState | None) -> MessageError:
        return MessageError(
            self.fault,
            call=call,
            paths=self.paths,
            reason=self.reason,
            code=self.code,
            detail=self.detail,
            state=state,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.fault, self.call, self.paths, self.reason, self.code, self.detail)  # types stay at home

    def __str__(self) -> str:
        parts = [SENTENCES[self.fault] if self.call is None else f"call {self.call}: {SENTENCES[self.fault]}"]
        if self.paths:
            parts.append(f"open: {shown_path(self.paths[-1])}")
        if isinstance(self.reason, UnspoolError):  # others may quote what they were given
            parts.append(str(self.reason))
        elif self.reason is not None:
            parts.append(type(self.reason).__name__)
        parts += [word for word in (self.code, self.detail[:LONGEST_DETAIL]) if word]
        return ": ".join(parts)


def _again(
    fault: Fault, call: int | None, paths: tuple[Path, ...], reason: Exception | None, code: str | None, detail: str
) -> MessageError:
    """What a pickle, or a copy, is made with."""
    return MessageError(fault, call=call, paths=paths, reason=reason, code=code, detail=detail)
