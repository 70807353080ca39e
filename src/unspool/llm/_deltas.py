"""The deltas: what a chunk of any provider says, in one neutral form.

A chunk becomes a list of deltas, in the order in which things stand in it (`formats/` has one file for each wire
format). A delta repeats what the wire said and judges nothing: which call an index or an id means, whether arguments
are whole and whether a finish is plausible is learned later, over the whole message.

    MessageStart     a message begins: role, id, model
    TextDelta        more text                         each may say "this is the whole text of the block, again"
    ReasoningDelta   more reasoning
    RefusalDelta     more of a refusal
    ToolCallDelta    something about a tool call       arguments: a piece of text, Whole, or Leaf values by path
    BlockEnd         a numbered block has ended, whatever was in it
    Usage            tokens counted so far
    Finish           why the model stopped
    ProviderError    the provider failed, here, in the middle of the stream
    Ignored          something that has no place in a message, or that nobody knows
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import Final, Literal, final

from .._missing import MISSING
from ._parts import Arguments, Block, Index, Leaf, Record, Whole

__all__ = [
    "Arguments",
    "Block",
    "BlockEnd",
    "CallKind",
    "Delta",
    "Finish",
    "FinishReason",
    "Ignored",
    "Index",
    "Leaf",
    "MessageStart",
    "ProviderError",
    "ReasoningDelta",
    "RefusalDelta",
    "TextDelta",
    "ToolCallDelta",
    "Usage",
    "Whole",
]

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "refusal", "error", "other"]
"""Why a model stops, in the words of all providers."""

CallKind = Literal["function", "custom", "server"]
"""What is called: a function with JSON arguments, a tool that takes free text, or one that the provider runs itself."""


class Delta(Record):
    """One thing that a chunk says. `choice` tells which of several answers it belongs to."""

    __slots__ = ()


@final
class MessageStart(Delta):
    """A message has begun.

    Some formats say so once, others on every chunk: it is another message only when its id is another one.
    """

    __slots__ = ("choice", "id", "model", "role")
    __match_args__ = ("role", "id", "model", "choice")

    def __init__(
        self, role: str | None = None, id: str | None = None, model: str | None = None, choice: int = 0
    ) -> None:
        self.role: Final = role
        self.id: Final = id
        self.model: Final = model
        self.choice: Final = choice


class Words(Delta):
    """More of what the model says: the new text, or with `is_whole` the whole text of the block once more."""

    __slots__ = ("block", "choice", "is_whole", "text")
    __match_args__ = ("text", "block", "is_whole", "choice")

    def __init__(self, text: str, block: Block = (), is_whole: bool = False, choice: int = 0) -> None:
        self.text: Final = text
        self.block: Final = block
        self.is_whole: Final = is_whole
        self.choice: Final = choice


@final
class TextDelta(Words):
    """More of the answer."""

    __slots__ = ()


@final
class ReasoningDelta(Words):
    """More of the reasoning before the answer, or of a summary of it."""

    __slots__ = ()


@final
class RefusalDelta(Words):
    """More of the text in which the model declines to answer."""

    __slots__ = ()


@final
class ToolCallDelta(Delta):
    """Something about a tool call. All of it is as it came: empty, repeated, or missing.

    `counts_blocks` says that the index numbers the blocks of the message, text included, and not its calls: gaps mean
    nothing. `kind` is None where the chunk does not tell; `is_done` when it tells that the call is whole.
    """

    __slots__ = ("arguments", "choice", "counts_blocks", "id", "index", "is_done", "kind", "name")
    __match_args__ = ("index", "id", "name", "arguments", "kind", "is_done", "counts_blocks", "choice")

    def __init__(
        self,
        index: Index = MISSING,
        id: str | None = None,
        name: str | None = None,
        arguments: Arguments = None,
        kind: CallKind | None = None,
        is_done: bool = False,
        counts_blocks: bool = False,
        choice: int = 0,
    ) -> None:
        self.index: Final = index
        self.id: Final = id
        self.name: Final = name
        self.arguments: Final = arguments
        self.kind: Final = kind
        self.is_done: Final = is_done
        self.counts_blocks: Final = counts_blocks
        self.choice: Final = choice


@final
class BlockEnd(Delta):
    """The block with this number has ended. If there is a call in it, the call is whole; the chunk does not tell."""

    __slots__ = ("choice", "index")
    __match_args__ = ("index", "choice")

    def __init__(self, index: Index = MISSING, choice: int = 0) -> None:
        self.index: Final = index
        self.choice: Final = choice


@final
class Usage(Delta):
    """Tokens counted so far; None where this chunk does not tell. A later count replaces an earlier one.

    In all formats input is everything the model has read, cached or not, and output everything it has written,
    reasoning included, as far as the provider tells. `raw` is the provider's own account.
    """

    __slots__ = ("input_tokens", "output_tokens", "raw", "told_total")
    __match_args__ = ("input_tokens", "output_tokens", "told_total", "raw")

    def __init__(
        self,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        told_total: int | None = None,
        raw: dict[str, object] | None = None,
    ) -> None:
        self.input_tokens: Final = input_tokens
        self.output_tokens: Final = output_tokens
        self.told_total: Final = told_total
        self.raw: Final[dict[str, object]] = {} if raw is None else raw

    @property
    def total_tokens(self) -> int | None:
        """All tokens, as the provider counts them; the sum of both where it does not."""
        if self.told_total is not None or self.input_tokens is None or self.output_tokens is None:
            return self.told_total
        return self.input_tokens + self.output_tokens

    def over(self, older: Usage | None) -> Usage:
        """What is known when this comes after `older`."""
        if older is None:
            return self
        return Usage(
            older.input_tokens if self.input_tokens is None else self.input_tokens,
            older.output_tokens if self.output_tokens is None else self.output_tokens,
            older.told_total if self.told_total is None else self.told_total,
            {**older.raw, **self.raw},
        )


@final
class Finish(Delta):
    """The model has stopped: why, in the words of all providers, and `raw`, in the words of this one."""

    __slots__ = ("choice", "raw", "reason")
    __match_args__ = ("reason", "raw", "choice")

    def __init__(self, reason: FinishReason, raw: str | None = None, choice: int = 0) -> None:
        self.reason: Final = reason
        self.raw: Final = raw
        self.choice: Final = choice


@final
class ProviderError(Delta):
    """The provider has failed in the middle of the stream. `code` is its own word for it."""

    __slots__ = ("code", "message", "raw")
    __match_args__ = ("message", "code", "raw")

    def __init__(self, message: str, code: str | None = None, raw: object = None) -> None:
        self.message: Final = message
        self.code: Final = code
        self.raw: Final = raw


@final
class Ignored(Delta):
    """Something was left out. `is_known`: on purpose, a message has no place for it; otherwise nobody knows it."""

    __slots__ = ("is_known", "kind")
    __match_args__ = ("kind", "is_known")

    def __init__(self, kind: str, is_known: bool = False) -> None:
        self.kind: Final = kind
        self.is_known: Final = is_known
