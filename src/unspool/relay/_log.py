"""The log of a stream: numbered entries with one writer at a time. Engines store it; the rest of the relay reads it.

    kind  data                                               meaning
    o     {"v":1, "fold":..., "how":..., "p":..., "s":...}   a writer has claimed the stream
    d     {"x":items, "p":position}                          items for the fold, and the position of the source
    s     {"s":dump, "p":position}                           a checkpoint: the state here; entries before it may be gone
    e     {"status":..., "x":items, ...}                     the end

Offsets are 1, 2, 3 and so on, without gaps. Each claim has a new epoch, which is larger than all epochs before it.
Offset and epoch together name the same bytes forever: a writer repeats an entry as it was, or claims the stream again.
An entry "o" also names the entry before it. So entries form a chain, and `follows` decides whether an entry continues
it. That holds even if a server has forgotten the end of a log, and another writer has written other entries there.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, cast, final

from .._dumps import check
from .._errors import OptionsError, UnspoolError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

__all__ = [
    "BEFORE_ALL",
    "CLAIM",
    "DATA",
    "END",
    "STATE",
    "Appended",
    "CancelError",
    "Cursor",
    "EndStatus",
    "EndedError",
    "FencedError",
    "FullError",
    "GapError",
    "GoneError",
    "HeldError",
    "Lease",
    "LogEntry",
    "LogError",
    "LogListener",
    "LogReader",
    "RelayError",
    "RelayLog",
    "as_data",
    "check_name",
    "follows",
    "is_self_contained",
]

VERSION: Final = 1

CLAIM: Final = "o"
DATA: Final = "d"
STATE: Final = "s"
END: Final = "e"
KINDS: Final = frozenset({CLAIM, DATA, STATE, END})

EndStatus = Literal["done", "error", "cancelled", "lost"]
"""How a stream ended. "lost" means that its writer died and no other writer took over."""
STATUSES: Final = frozenset({"done", "error", "cancelled", "lost"})

NAME: Final = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
CURSOR: Final = re.compile(r"(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,15})")


class Cursor(NamedTuple):
    """The place of an entry: its offset, and the epoch of its writer. As text, it is opaque for clients."""

    offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.offset}-{self.epoch}"

    @staticmethod
    def parse(text: object) -> Cursor | None:
        """Return the cursor that `str` wrote; None for everything else."""
        found = CURSOR.fullmatch(text) if isinstance(text, str) else None
        return None if found is None else Cursor(int(found[1]), int(found[2]))


BEFORE_ALL: Final = Cursor(0, 0)
"""The cursor before the first entry of a stream."""


@final
class LogEntry:
    """One entry of a log. `data` is compact JSON; `before` is the cursor of the entry before a claim."""

    __slots__ = ("_content", "before", "cursor", "data", "kind")

    def __init__(self, cursor: Cursor, kind: str, data: bytes, before: Cursor | None = None) -> None:
        self.cursor: Final = cursor
        self.kind: Final = kind
        self.data: Final = data
        self.before: Final = before
        self._content: dict[str, Any] | None = None

    @property
    def content(self) -> dict[str, Any]:
        """The data as an object. Data from a log is not trusted: anything else raises `StateError`."""
        if self._content is None:
            try:
                content: object = _read(self.data.decode())
            except (ValueError, RecursionError):
                content = None
            if self.kind not in KINDS or not isinstance(content, dict):
                check(False, f"the log has an invalid entry at {self.cursor}")
            self._content = cast("dict[str, Any]", content)
            if self.kind == CLAIM:
                check(self._content.get("v") == VERSION, f"unknown version of the log at {self.cursor}")
            if self.kind == END:
                status: object = self._content.get("status")
                check(isinstance(status, str) and status in STATUSES, f"unknown end of the log at {self.cursor}")
        return self._content

    def __repr__(self) -> str:
        return f"LogEntry({self.cursor}, {self.kind!r}, {len(self.data)} bytes)"


_compact: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_read: Final = json.JSONDecoder().decode


def as_data(content: dict[str, Any]) -> bytes:
    """Return the data of an entry: compact JSON in UTF-8. Half surrogates have no UTF-8 and are escaped."""
    try:
        return _compact(content).encode()
    except UnicodeEncodeError:
        return json.dumps(content, separators=(",", ":")).encode()


def follows(entry: LogEntry, last: Cursor) -> bool:
    """Tell whether the entry comes directly after the one at `last`, in the same history."""
    if entry.kind == CLAIM:
        return entry.before == last and entry.cursor.epoch > last.epoch
    return entry.cursor.offset == last.offset + 1 and entry.cursor.epoch == last.epoch


def is_self_contained(entry: LogEntry) -> bool:
    """Tell whether a reader can start at the entry: it needs none of the entries before it."""
    return entry.kind == STATE or (entry.kind == CLAIM and entry.content.get("how") != "resume")


def check_name(name: object) -> str:
    """Return the name of a stream, or raise `OptionsError`."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise OptionsError("the name of a stream must have 1 to 200 characters out of A-Z a-z 0-9 _ . : -")
    return name


# ---- errors ------------------------------------------------------------------------------------------


class RelayError(UnspoolError):
    """The base class of all errors of the relay. `name` is the name of the stream."""

    def __init__(self, name: str, *data: object) -> None:
        super().__init__(name, *data)
        self.name = name


class HeldError(RelayError):
    """Another writer holds the stream: `owner`, for at most `left` seconds unless it renews its lease."""

    def __init__(self, name: str, owner: str, left: float) -> None:
        super().__init__(name, owner, left)
        self.owner = owner
        self.left = left

    def _message(self) -> str:
        return f"{self.name}: another writer holds this stream; its lease runs out in {self.left:.1f} s"


class FencedError(RelayError):
    """Another writer has claimed the stream since. This writer must stop: nothing more of it is stored.

    `last` is the cursor of the last entry of the log.
    """

    def __init__(self, name: str, last: Cursor) -> None:
        super().__init__(name, last)
        self.last = last

    def _message(self) -> str:
        return f"{self.name}: another writer has claimed this stream; this one must stop"


class EndedError(RelayError):
    """The stream has ended, with this `status`. No entry can be added."""

    def __init__(self, name: str, status: str) -> None:
        super().__init__(name, status)
        self.status = status

    def _message(self) -> str:
        return f"{self.name}: this stream has ended ({self.status}); use another name for a new stream"


class GoneError(RelayError):
    """There is no such stream: it never existed, it has expired, or the server has dropped it."""

    def _message(self) -> str:
        return f"{self.name}: there is no such stream; it was never there, has expired, or was evicted"


class GapError(RelayError):
    """The log has forgotten entries of this writer: `tail` is its last offset. The publisher sends the others again."""

    def __init__(self, name: str, tail: int) -> None:
        super().__init__(name, tail)
        self.tail = tail

    def _message(self) -> str:
        return f"{self.name}: the log ends at offset {self.tail}, before the last entries of this writer"


class CancelError(RelayError):
    """The stream was cancelled, for this `reason`. The publisher has written the end."""

    def __init__(self, name: str, reason: str = "") -> None:
        super().__init__(name, reason)
        self.reason = reason

    def _message(self) -> str:
        return f"{self.name}: the stream was cancelled" + (f": {self.reason}" if self.reason else "")


class LogError(RelayError):
    """The log did not answer in time; the cause is the last failure. Entries without an answer may be stored."""

    def _message(self) -> str:
        return f"{self.name}: the log did not answer in time; see the cause of this error"


class FullError(RelayError):
    """A limit of the relay is reached: `limit` names it, `most` is its value."""

    def __init__(self, name: str, limit: str, most: int) -> None:
        super().__init__(name, limit, most)
        self.limit = limit
        self.most = most

    def _message(self) -> str:
        return f"{self.name}: the limit {self.limit}={self.most} is reached"


# ---- engines -----------------------------------------------------------------------------------------


class Appended(NamedTuple):
    """The answer to an append or a renewal: the last offset of the log, and the reason of a cancel request."""

    tail: int
    cancel: str | None


class Lease(NamedTuple):
    """Who may write: the owner, the seconds that its lease lasts, and the reason of a cancel request.

    The seconds are negative once the lease has run out. There is no owner if no writer has claimed the stream, or
    if the log has forgotten the owner.
    """

    owner: str | None
    left: float
    cancel: str | None


class LogListener(Protocol):
    """Gets the entries of one stream from a reader, in the event loop in which the reader was made."""

    def take(self, entries: Sequence[LogEntry]) -> None:
        """Take the next entries. This raises nothing."""
        ...

    def fail(self, error: Exception) -> None:
        """Learn that the reader cannot go on, because the log has invalid data."""
        ...


class LogReader(Protocol):
    """A reader that waits for the entries of one stream. It belongs to one event loop."""

    def close(self) -> None:
        """Stop waiting. The listener gets nothing more."""
        ...


class RelayLog(Protocol):
    """An engine: it stores logs, and knows nothing of folds.

    Times are in seconds. Every method may be called from any event loop. All engines have the same outcomes
    (law 34). A log that cannot be reached raises `LogError`.
    """

    async def claim(self, name: str, owner: str, data: bytes, *, lease: float, ttl: float, force: bool) -> Cursor:
        """Add an entry "o" with a new epoch, and give the lease to the owner.

        Raise `EndedError`, or `HeldError` if another owner has a lease and `force` is not set. With a `lease` of 0
        seconds, the owner gets none.
        """
        ...

    async def append(self, name: str, at: Cursor, kind: str, data: bytes, *, keep: float | None = None) -> Appended:
        """Add an entry at exactly this place; do nothing if it is there already.

        A checkpoint drops the entries before it. With `keep`, the stream expires in this time. Raise `FencedError`,
        `GapError`, `EndedError` or `GoneError`.
        """
        ...

    async def post(self, name: str, at: Cursor, kind: str, data: bytes) -> Coroutine[Any, Any, Appended]:
        """Send an entry on its way, and return its answer, which the caller awaits later. It is that of `append`.

        An engine that can hands the entry over at once, without another turn of the event loop.
        """
        ...

    async def renew(self, name: str, epoch: int, owner: str, *, lease: float, ttl: float) -> Appended:
        """Renew the lease and the time to live. Raise `FencedError`, `EndedError` or `GoneError`."""
        ...

    async def read(self, name: str, after: Cursor, count: int) -> Sequence[LogEntry]:
        """Return the first entries after this place: none if there is no such stream."""
        ...

    async def tail(self, name: str) -> LogEntry | None:
        """Return the last entry; None if there is no such stream."""
        ...

    async def find(self, name: str, cursor: Cursor) -> bool:
        """Tell whether the log has exactly this entry."""
        ...

    async def lease(self, name: str) -> Lease:
        """Return the lease. If there is no lease, the result has no owner."""
        ...

    async def ask_to_cancel(self, name: str, reason: str, *, ttl: float) -> None:
        """Store a cancel request, which the next append or renewal returns."""
        ...

    async def once(self, name: str, key: str, *, ttl: float) -> bool:
        """Return True for the first call with this key, and False for all others."""
        ...

    async def drop(self, name: str) -> None:
        """Forget the stream."""
        ...

    def reader(self, name: str, after: Cursor, listener: LogListener) -> LogReader:
        """Return a reader that hands the entries after this place to a listener. The stream need not exist yet."""
        ...

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        ...
