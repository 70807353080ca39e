"""Reading a log: a replay folds its entries one after another, and notices an entry that does not continue it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, final

from .._dumps import check
from .._missing import MISSING
from ._folds import fold_of, same_fold
from ._log import BEFORE_ALL, CLAIM, DATA, END, STATE, GoneError, follows, is_self_contained

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._folds import Fold
    from ._log import Cursor, LogEntry

__all__ = ["Replay"]

S = TypeVar("S")


@final
class Replay(Generic[S]):
    """The state of a stream after its entry at `cursor`.

    Without a fold, the log names it: then values are plain, and of no type.
    """

    __slots__ = ("_asked", "cursor", "end", "fold", "is_fresh", "name", "owner", "position", "state")

    def __init__(self, name: str, fold: Fold[S] | None) -> None:
        self.name: Final = name
        self._asked: Final = fold
        self.fold: Fold[S] | None = fold
        self.cursor: Cursor = BEFORE_ALL
        self.state: S = cast("S", MISSING)
        """The state of the fold; `MISSING` before the first entry."""
        self.position: Any = None
        """The position of the source after the last item, as the publisher gave it."""
        self.end: LogEntry | None = None
        """The last entry of a stream that has ended."""
        self.owner: str | None = None
        """The owner whom the last claim or checkpoint names; empty if no writer has claimed the stream yet."""
        self.is_fresh = True
        """There was no item since the fold started."""

    @property
    def has_begun(self) -> bool:
        """There was an entry."""
        return self.cursor != BEFORE_ALL

    def take(self, entry: LogEntry) -> bool:
        """Fold one more entry. Return False, and change nothing, if it does not continue those before it.

        Raise `GoneError` if the beginning of the log is missing, and `StateError` for an invalid entry.
        """
        if self.has_begun:
            if not follows(entry, self.cursor):
                return False
        elif not is_self_contained(entry):
            raise GoneError(self.name)
        content = entry.content
        if entry.kind in {CLAIM, STATE}:
            self.owner = str(content.get("owner"))
        if entry.kind == CLAIM:
            self._claim(content)
        elif entry.kind == STATE:
            check("s" in content, "a checkpoint without a state")
            if not self.has_begun:
                self._start(content)
                self.is_fresh = False
        else:
            fold = self.fold
            check(fold is not None and self.end is None, "an entry behind the end of the log")
            assert fold is not None
            items = content.get("x", [])
            check(isinstance(items, list) and (entry.kind == END or "x" in content), "an entry without items")
            state = fold.step(self.state, cast("list[Any]", items)) if items else self.state
            if entry.kind == END:
                state = fold.end(state, content)
                self.end = entry
            elif entry.kind == DATA:
                self.is_fresh = False
            self.state = state
            self.position = content.get("p", self.position)
        self.cursor = entry.cursor
        return True

    def _claim(self, content: Mapping[str, Any]) -> None:
        if content.get("how") != "resume":
            self._start(content)
            self.is_fresh = "s" not in content

    def _start(self, content: Mapping[str, Any]) -> None:
        """Start the fold, at the state in this entry if it has one."""
        fold = fold_of(content) if self._asked is None else self._asked
        check(self._asked is None or same_fold(self._asked, content), "the stream has another fold, or other settings")
        self.state = fold.load(content["s"]) if "s" in content else fold.start()
        self.position = content.get("p")
        self.fold = fold
