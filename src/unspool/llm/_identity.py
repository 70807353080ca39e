"""Which call a delta is about. That is learned from all that came, because no part of it can be trusted.

    the index        may be missing, null, a text, start at 1, or be used again for another call
    the id           may be missing, empty, on every delta, or come late
    the name         may be missing, empty, on every delta, or come late

An id that is known decides. Then an index that is known, unless the delta says otherwise: another id starts another
call if it comes with a name, or if the call under that index is whole; a name without an id does in the latter case.
Where there is neither, it is the last call that goes on, unless a name starts another one.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._chunker.policy import same
from .._missing import MISSING
from ._deltas import Whole
from ._quirks import Quirk

if TYPE_CHECKING:
    from ._calls import ToolCall
    from ._deltas import Index, ToolCallDelta

__all__ = ["Roll", "clean_id", "clean_index", "find"]

NEW: Final = -1
"""It starts a call."""
NOBODY: Final = -2
"""It says nothing, about no call that is known."""

NO_IDS: Final = frozenset({"", "null"})
MOST_DIGITS: Final = 9


@final
class Roll:
    """Under which index and which id each call is known, by its number in the order of appearance. Never changes."""

    __slots__ = ("ids", "indexes", "last", "written")

    def __init__(
        self,
        indexes: dict[int, int] | None = None,
        ids: dict[str, int] | None = None,
        last: int = NOBODY,
        written: int = NOBODY,
    ) -> None:
        self.indexes: Final[dict[int, int]] = {} if indexes is None else indexes
        self.ids: Final[dict[str, int]] = {} if ids is None else ids
        self.last: Final = last
        """The call that a delta was about last."""
        self.written: Final = written
        """The call whose arguments grew last."""

    def saw(self, call: int, index: int | None, id: str | None, is_written: bool) -> Roll:
        """After a delta about this call; the same if that is nothing new."""
        indexes, ids = self.indexes, self.ids
        if index is not None:
            known = indexes.get(index)
            if known is None or known != call:
                indexes = {**indexes, index: call}
        if id is not None and id not in ids:
            ids = {**ids, id: call}
        written = call if is_written else self.written
        if indexes is self.indexes and ids is self.ids and call == self.last and written == self.written:
            return self
        return Roll(indexes, ids, call, written)


def clean_index(index: Index, quirks: list[Quirk]) -> int | None:
    """The number that an index is; None if it is none."""
    if index is None:
        quirks.append(Quirk.INDEX_NULL)
        return None
    if isinstance(index, str):
        quirks.append(Quirk.INDEX_AS_TEXT)
        digits = index.strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS else None
    return index if isinstance(index, int) else None


def clean_id(id: str | None, quirks: list[Quirk]) -> str | None:
    """An id that names something; None if it does not."""
    if id is not None and id in NO_IDS:
        quirks.append(Quirk.ID_EMPTY)
        return None
    return id


def find(
    roll: Roll,
    calls: tuple[ToolCall, ...],
    delta: ToolCallDelta,
    index: int | None,
    id: str | None,
    quirks: list[Quirk],
) -> int:
    """The number of the call that the delta is about, NEW or NOBODY. `index` and `id` are the clean ones."""
    _notice_no_index(delta, quirks)
    if id is not None and id in roll.ids:
        known = roll.ids[id]
        if index is not None and index not in roll.indexes and not _is_without_index(roll, known):
            quirks.append(Quirk.INDEX_CHANGED)
        return known
    under = None if index is None else roll.indexes.get(index)
    if under is not None:
        if not _starts_under(calls[under], delta, id):
            if id is not None and calls[under].id is not None:
                quirks.append(Quirk.ID_CHANGED)
            return under
        quirks.append(Quirk.INDEX_REUSED)
        return NEW
    if roll.last >= 0 and _goes_on(calls[roll.last], delta, id, index is not None, _is_without_index(roll, roll.last)):
        return roll.last
    if id is None and not delta.name and not _has_arguments(delta):
        return NOBODY
    if index is not None and index > 0 and not calls and not delta.counts_blocks:
        quirks.append(Quirk.INDEX_FROM_ONE)
    return NEW


def _is_without_index(roll: Roll, call: int) -> bool:
    return call not in roll.indexes.values()


def _notice_no_index(delta: ToolCallDelta, quirks: list[Quirk]) -> None:
    """Formats that have no index send whole values or leaves; where there is text, there should be one."""
    if delta.index is MISSING:
        given = delta.arguments
        if isinstance(given, str) or (isinstance(given, Whole) and not delta.is_done):
            quirks.append(Quirk.NO_INDEX)


def _has_arguments(delta: ToolCallDelta) -> bool:
    given = delta.arguments
    return given is not None and given != "" and given != ()


def _starts_under(call: ToolCall, delta: ToolCallDelta, id: str | None) -> bool:
    """Whether this starts another call under the index of this one."""
    if id is not None and call.id is not None:  # it is another id
        if delta.counts_blocks and delta.is_done:
            return False  # an end starts nothing
        return bool(delta.name) or _is_over(call)  # some make up an id for every delta, in the middle of a call
    if not delta.name or delta.counts_blocks or not _is_over(call):
        return False
    if delta.name != call.name:
        return call.name is not None
    return _has_arguments(delta) and (delta.is_done or not _are_the_same(call, delta))


def _goes_on(call: ToolCall, delta: ToolCallDelta, id: str | None, has_index: bool, lacks_index: bool) -> bool:
    """Whether this goes on with the last call, where neither index nor id tells."""
    if has_index and not lacks_index:
        return False
    if id is not None and call.id is not None:
        return False
    if not delta.name:
        return not (has_index and _is_over(call)) if id is None else not _is_over(call)
    if _is_over(call):
        return False
    # A name that comes again on every delta comes with text; formats that send no text say a name once.
    return call.name is None or (delta.name == call.name and isinstance(delta.arguments, str))


def _is_over(call: ToolCall) -> bool:
    """Whether nothing can follow in the call: it was said to be whole, or its arguments are closed."""
    if call._ended or call.is_complete:
        return True
    document = call._arguments.document
    return document is not None and document.parser.is_complete


def _are_the_same(call: ToolCall, delta: ToolCallDelta) -> bool:
    """Whether the arguments are those of the call once more."""
    given = delta.arguments.value if isinstance(delta.arguments, Whole) else delta.arguments
    if isinstance(given, str):
        return given.strip() == call.arguments.strip()
    document = call._arguments.document
    return document is not None and same(document.parser.result, given)
