"""From the values of a chunk to deltas. Nothing comes of a null; what has the wrong type is `Ignored`, by its name."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..._missing import MISSING
from .._deltas import Finish, Ignored, ProviderError, ToolCallDelta, Usage, Whole
from .fields import get, is_record, items, names, number, plain, says, string

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .._deltas import Block, CallKind, Delta, FinishReason, Index, ReasoningDelta, RefusalDelta, TextDelta

__all__ = ["block", "call", "failure", "finish", "index", "leftovers", "listed", "text", "usage", "words"]


def words(
    kind: type[TextDelta | ReasoningDelta | RefusalDelta],
    source: object,
    name: str,
    block: Block = (),
    is_whole: bool = False,
    choice: int = 0,
) -> list[Delta]:
    """The text under this name, as a delta of this kind."""
    value = get(source, name)
    if value is None or value is MISSING:
        return []
    text = string(source, name)
    if text is None:
        return [Ignored(name)] if says(value) else []
    return [kind(text, block, is_whole, choice)] if text else []


def call(
    source: object,
    name: str,
    *,
    index: Index = MISSING,
    id: str | None = None,
    tool: str | None = None,
    kind: CallKind | None = None,
    is_whole: bool = False,
    is_done: bool = False,
    counts_blocks: bool = False,
    choice: int = 0,
) -> list[Delta]:
    """A tool call whose arguments stand under this name: as a piece of text, or all of them as an object."""
    value = get(source, name)
    text = value if type(value) is str else string(source, name)
    arguments: str | Whole | None = None
    if text is not None:
        arguments = Whole(text) if is_whole else text
    else:
        copy = plain(value)
        if isinstance(copy, (dict, list)):
            arguments = Whole(cast("object", copy))
    found: list[Delta] = [ToolCallDelta(index, id, tool, arguments, kind, is_done, counts_blocks, choice)]
    if arguments is None and says(value):
        found.append(Ignored(name))
    return found


def text(source: object, name: str) -> str | None:
    """The text under this name, as `string` reads it. Where most often nothing stands, that is seen at once."""
    value = get(source, name)
    if value is None or value is MISSING:
        return None
    return value if type(value) is str else string(source, name)


def listed(source: object, name: str) -> list[object]:
    """The items under this name, as `items` reads them. A list, as nearly always, is taken as it is."""
    value = get(source, name)
    if type(value) is list:
        return cast("list[object]", value)
    return [] if value is None or value is MISSING else list(items(source, name))


def index(source: object, name: str) -> Index:
    """The number under this name as it came, even as a text or a null."""
    value = get(source, name)
    if type(value) is int:
        return value
    if value is None:
        return None if name in names(source) else MISSING  # in an object, also the default of a field that did not come
    found = number(source, name)
    if found is not None:
        return found
    text = string(source, name)
    return MISSING if text is None else text


def block(source: object, *names: str) -> Block:
    """The block with the numbers under these names, as far as there are any."""
    return tuple([found for name in names if (found := number(source, name)) is not None])


def finish(
    source: object, name: str, reasons: Mapping[str, FinishReason], choice: int = 0, other: str = ""
) -> list[Delta]:
    """The reason under this name, and what it means. An empty one is none."""
    value = get(source, name, other)
    if value is None or value is MISSING:
        return []
    raw = string(source, name, other)
    if raw is None:
        return [Ignored(name)] if says(value) else []
    return [Finish(reasons.get(raw.lower(), "other"), raw, choice)] if raw else []


def usage(source: object, read: int | None, written: int | None, total: int | None = None) -> list[Delta]:
    """The count of tokens, if there is any."""
    if read is None and written is None and total is None:
        return []
    raw = plain(source)
    return [Usage(read, written, total, cast("dict[str, object]", raw) if isinstance(raw, dict) else None)]


def failure(error: object, code: str | None = None) -> list[Delta]:
    """The provider's error: a text, or an object with a message and a code of some name."""
    if not says(error):
        return []
    message = string({"error": error}, "error")
    if message is None and not is_record(error):
        return [Ignored("error")]
    for name in ("code", "type", "status"):
        if code is None:
            status = number(error, name)
            code = (string(error, name) or None) if status is None else str(status)
    return [ProviderError(message or string(error, "message") or "", code, plain(error))]


def leftovers(source: object, read: Collection[str], known: Collection[str]) -> list[Delta]:
    """The fields beyond those that were read, if they say anything."""
    return [Ignored(name, name in known) for name in names(source) if name not in read and says(get(source, name))]
