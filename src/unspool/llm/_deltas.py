"""Deltas: the content of a provider's chunk in one neutral form.

`_formats` turns each chunk into a list of deltas, in the order of the chunk. A delta repeats the wire and draws no
conclusions. The reducer (`_message`) sees the whole message: it decides which call an index or an id means, whether
arguments are whole and whether a finish is plausible.

    MessageStart     a message begins: role, id, model
    TextDelta        more text of the answer           with `is_whole`: the whole text of the block, again
    ReasoningDelta   more reasoning, likewise
    RefusalDelta     more of a refusal, likewise
    ToolCallDelta    news about a tool call            arguments: more text, `Whole`, or `Leaf` values by path
    PartStart        a part begins: the part itself, with everything that its first chunk says
    PartData         a field of a part, whole: a signature, a citation, a result
    BlockStart       a block begins whose parts follow: the fields that its parts have in common
    BlockEnd         a block has ended, whatever its content
    Recount          all blocks follow once more, numbered by their places
    MessageData      a field of the message that belongs to no part
    Usage            tokens counted so far
    Finish           why the model stopped
    ProviderError    the provider failed in the middle of the stream
    Ignored          content without a place in a message, or unknown content
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal, final

from .._missing import MISSING, MissingType
from .._native import mypyc_attr

if TYPE_CHECKING:
    from ._parts import Part

__all__ = [
    "Arguments",
    "Block",
    "BlockEnd",
    "BlockStart",
    "BlockTextDelta",
    "CallKind",
    "Delta",
    "Finish",
    "FinishReason",
    "Ignored",
    "Index",
    "Leaf",
    "MessageData",
    "MessageStart",
    "PartData",
    "PartStart",
    "ProviderError",
    "ReasoningDelta",
    "Record",
    "Recount",
    "RefusalDelta",
    "TextDelta",
    "ToolCallDelta",
    "Usage",
    "Whole",
]

Block = tuple[int | str, ...]
"""A block of a message: its numbers on the wire, from the outside in. Empty if the format has no blocks.

A block with one name and no number, such as ``("reasoning",)``, names the field that its text came in.
"""

Index = int | str | MissingType | None
"""An index as the wire had it: a number, a string, null, or absent (`MISSING`)."""

FinishReason = Literal[
    "stop", "length", "tool_calls", "content_filter", "refusal", "paused", "cancelled", "error", "other"
]
"""Why a model stops, in terms common to all providers. Only "stop" and "tool_calls" are good ends."""

CallKind = Literal["function", "custom", "builtin", "server"]
"""The kind of a call.

- "function": a function with JSON arguments, "custom": a tool that takes free text
- "builtin": a tool that the provider defines and the application runs, such as a shell
- "server": a tool that the provider runs itself
"""


class Record:
    """An immutable record: compares by its fields, and shows only fields that carry information."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def _fields(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __repr__(self) -> str:
        shown = [
            f"{name}={value!r}"
            for name, value in zip(self.__match_args__, self._fields(), strict=True)
            if not _is_silent(name, value)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        scalars = [field for field in self._fields() if isinstance(field, (str, int, float))]
        return hash((type(self).__name__, *scalars))  # other fields may hold dicts

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._fields()


def _is_silent(name: str, value: object) -> bool:
    if value is None:
        return name not in {"index", "value"}  # in these fields, null differs from absent
    return value is MISSING or value is False or value == () or (name in {"choice", "part"} and value == 0)


@final
class Whole(Record):
    """All arguments of a call at once, as text or as a plain value. Parts of them may have come before."""

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value: Final = value


@final
class Leaf(Record):
    """One value inside the arguments: its JSONPath, and the value or, for a string, the next piece of it.

    The value is `MISSING` if the wire names a path without a value; None is a null.
    """

    __slots__ = ("path", "value", "will_continue")
    __match_args__ = ("path", "value", "will_continue")

    def __init__(self, path: str, value: object = MISSING, will_continue: bool = False) -> None:
        self.path: Final = path
        self.value: Final = value
        self.will_continue: Final = will_continue


Arguments = str | Whole | tuple[Leaf, ...] | None
"""More text of the arguments, all arguments at once, some of their leaves, or nothing."""


class Delta(Record):
    """One statement of a chunk. `choice` is the number of the answer that it belongs to."""

    __slots__ = ()


@final
class MessageStart(Delta):
    """A message has begun.

    Some formats send this once, others with every chunk. Only another id can mean another message.
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


class BlockTextDelta(Delta):
    """More text of a block: the new text, or with `is_whole` the whole text of the block again."""

    __slots__ = ("block", "choice", "is_whole", "text")
    __match_args__ = ("text", "block", "is_whole", "choice")

    def __init__(self, text: str, block: Block = (), is_whole: bool = False, choice: int = 0) -> None:
        self.text: Final = text
        self.block: Final = block
        self.is_whole: Final = is_whole
        self.choice: Final = choice


@final
@mypyc_attr(free_list_len=1)
class TextDelta(BlockTextDelta):
    """More of the answer."""

    __slots__ = ()


@final
@mypyc_attr(free_list_len=1)
class ReasoningDelta(BlockTextDelta):
    """More of the reasoning, or of its summary."""

    __slots__ = ()


@final
class RefusalDelta(BlockTextDelta):
    """More of the text in which the model declines to answer."""

    __slots__ = ()


@final
@mypyc_attr(free_list_len=1)
class ToolCallDelta(Delta):
    """News about a tool call. All fields are as the wire had them: empty, repeated, or missing.

    With `counts_blocks` the index numbers the blocks of the message, text included, instead of its calls: gaps mean
    nothing. If the chunk names no kind, `kind` stays None. `is_done` means that the chunk declares the call whole.
    `native` has fields of the provider's own block, without its arguments: they replace those that came before.
    """

    __slots__ = (
        "arguments",
        "choice",
        "counts_blocks",
        "id",
        "index",
        "is_done",
        "kind",
        "name",
        "native",
        "signature",
    )
    __match_args__ = (
        "index",
        "id",
        "name",
        "arguments",
        "kind",
        "is_done",
        "counts_blocks",
        "choice",
        "signature",
        "native",
    )

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
        signature: str | None = None,
        native: dict[str, object] | None = None,
    ) -> None:
        self.index: Final = index
        self.id: Final = id
        self.name: Final = name
        self.arguments: Final = arguments
        self.kind: Final = kind
        self.is_done: Final = is_done
        self.counts_blocks: Final = counts_blocks
        self.choice: Final = choice
        self.signature: Final = signature
        self.native: Final = native


@final
class PartStart(Delta):
    """A part has begun: the part as its first chunk shows it. `part.block` is its place on the wire.

    A part in a known block replaces that part if the known one is empty; otherwise its fields replace those of the
    known part, and its text is the whole text.
    """

    __slots__ = ("choice", "part")
    __match_args__ = ("part", "choice")

    def __init__(self, part: Part, choice: int = 0) -> None:
        self.part: Final = part
        self.choice: Final = choice


@final
class PartData(Delta):
    """A field of the part in this block, whole. `name` is the field of the part; it is empty for native fields alone.

    A "citation" is added to the citations of the part, "data" to the data of a file, and "transcript" to its
    transcript; so are "more_signature", "more_encrypted" and "more_output" (a list of items). Every other value
    replaces the one before. `native` has fields of the provider's own block: they
    replace those that came before. An empty block means the last part.
    """

    __slots__ = ("block", "choice", "name", "native", "value")
    __match_args__ = ("name", "value", "block", "native", "choice")

    def __init__(
        self,
        name: str,
        value: object = None,
        block: Block = (),
        native: dict[str, object] | None = None,
        choice: int = 0,
    ) -> None:
        self.name: Final = name
        self.value: Final = value
        self.block: Final = block
        self.native: Final = native
        self.choice: Final = choice


@final
class BlockStart(Delta):
    """A block has begun whose parts follow under longer numbers. New parts in it start with these native fields."""

    __slots__ = ("block", "choice", "native")
    __match_args__ = ("block", "native", "choice")

    def __init__(self, block: Block, native: dict[str, object], choice: int = 0) -> None:
        self.block: Final = block
        self.native: Final = native
        self.choice: Final = choice


@final
class BlockEnd(Delta):
    """A block has ended: the one with this index, or the part with exactly this block.

    A call in this block is whole; the chunk does not say if there is one.
    """

    __slots__ = ("block", "choice", "index")
    __match_args__ = ("index", "choice", "block")

    def __init__(self, index: Index = MISSING, choice: int = 0, block: Block = ()) -> None:
        self.index: Final = index
        self.choice: Final = choice
        self.block: Final = block


@final
class Recount(Delta):
    """All blocks follow once more, numbered by their places: 0, 1, 2 and so on, even if their numbers had gaps.

    `ids` are the provider's ids of the blocks, in order; None for a block without an id.
    """

    __slots__ = ("choice", "ids")
    __match_args__ = ("ids", "choice")

    def __init__(self, ids: tuple[str | None, ...], choice: int = 0) -> None:
        self.ids: Final = ids
        self.choice: Final = choice


@final
class MessageData(Delta):
    """A field of the message that belongs to no part, under the provider's own name. A later value replaces it."""

    __slots__ = ("choice", "name", "value")
    __match_args__ = ("name", "value", "choice")

    def __init__(self, name: str, value: object, choice: int = 0) -> None:
        self.name: Final = name
        self.value: Final = value
        self.choice: Final = choice


@final
class Usage(Delta):
    """Tokens counted so far; None if this chunk has no such count. A later count replaces an earlier one.

    In all formats, input includes cached tokens and output includes reasoning, if the provider reports them. `raw` is
    the provider's own record. `input_names` are the counts in it that add up to the input, for chunks that may have
    only some of them: `over` adds them up.
    """

    __slots__ = ("input_names", "input_tokens", "output_tokens", "raw", "told_total")
    __match_args__ = ("input_tokens", "output_tokens", "told_total", "raw", "input_names")

    def __init__(
        self,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        told_total: int | None = None,
        raw: dict[str, object] | None = None,
        input_names: tuple[str, ...] = (),
    ) -> None:
        self.input_tokens: Final = input_tokens
        self.output_tokens: Final = output_tokens
        self.told_total: Final = told_total
        self.raw: Final[dict[str, object]] = {} if raw is None else raw
        self.input_names: Final = input_names

    @property
    def total_tokens(self) -> int | None:
        """All tokens: the provider's own total, or else the sum of input and output."""
        if self.told_total is not None or self.input_tokens is None or self.output_tokens is None:
            return self.told_total
        return self.input_tokens + self.output_tokens

    def over(self, older: Usage | None) -> Usage:
        """Return these counts, with the counts of `older` where these have none or a null."""
        if older is None and not self.input_names:
            return self
        raw = self.raw
        read, written, total = self.input_tokens, self.output_tokens, self.told_total
        if older is not None:
            known = older.raw
            raw = {**known, **{name: count for name, count in raw.items() if count is not None or name not in known}}
            read = older.input_tokens if read is None else read
            written = older.output_tokens if written is None else written
            total = older.told_total if total is None else total
        counts = [count for name in self.input_names if (count := _whole_number(raw.get(name))) is not None]
        return Usage(sum(counts) if counts else read, written, total, raw)


def _whole_number(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


@final
class Finish(Delta):
    """The model has stopped. `reason` is common to all providers; `raw` is the provider's own word."""

    __slots__ = ("choice", "raw", "reason")
    __match_args__ = ("reason", "raw", "choice")

    def __init__(self, reason: FinishReason, raw: str | None = None, choice: int = 0) -> None:
        self.reason: Final = reason
        self.raw: Final = raw
        self.choice: Final = choice


@final
class ProviderError(Delta):
    """The provider failed in the middle of the stream. `code` is its own code for the error, `status` that of HTTP."""

    __slots__ = ("code", "message", "raw", "status")
    __match_args__ = ("message", "code", "raw", "status")

    def __init__(self, message: str, code: str | None = None, raw: object = None, status: int | None = None) -> None:
        self.message: Final = message
        self.code: Final = code
        self.raw: Final = raw
        self.status: Final = status


@final
class Ignored(Delta):
    """Content that was left out. With `is_known` a message has no place for it; otherwise it is unknown."""

    __slots__ = ("is_known", "kind")
    __match_args__ = ("kind", "is_known")

    def __init__(self, kind: str, is_known: bool = False) -> None:
        self.kind: Final = kind
        self.is_known: Final = is_known
