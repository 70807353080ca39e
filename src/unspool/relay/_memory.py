"""The log in this process: the default, for one process and for tests. It has the outcomes of the log in Redis.

A lock protects it, so publishers and followers may live in several threads, each with its own event loop.
"""

from __future__ import annotations

import asyncio
import time
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Final, final

from ._log import (
    BEFORE_ALL,
    CLAIM,
    END,
    STATE,
    Appended,
    Cursor,
    EndedError,
    FencedError,
    FullError,
    GapError,
    GoneError,
    HeldError,
    Lease,
    LogEntry,
    RelayError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from ._log import LogListener

__all__ = ["MemoryLog"]

MICRO: Final = 1_000_000
PAGE: Final = 256
"""The number of entries that a reader returns at once."""
SWEEP: Final = 16
"""The number of streams that each claim looks at, to drop expired ones."""


@final
class _Stream:
    """The entries of one stream, and what a server would keep beside them."""

    __slots__ = ("cancel", "entries", "expires", "keys", "owner", "size", "until")

    def __init__(self) -> None:
        self.entries: list[LogEntry] = []
        self.size = 0  # of the data of all entries
        self.expires = 0.0
        self.owner: str | None = None
        self.until = 0.0
        self.cancel: str | None = None
        self.keys: set[str] = set()

    def after(self, cursor: Cursor, count: int) -> list[LogEntry]:
        """Return the first entries behind the cursor, in the order of their offsets and epochs."""
        if not self.entries:
            return []
        # Offsets have no gaps. The entry with the offset of the cursor may have a larger epoch.
        start = max(cursor.offset - self.entries[0].cursor.offset, 0)
        if start < len(self.entries) and self.entries[start].cursor <= cursor:
            start += 1
        return self.entries[start : start + count]


@final
class MemoryLog:
    """A log in the memory of this process.

    `max_streams` limits the number of streams, `max_stream` the bytes of one of them, and `max_total` the bytes of all.
    An append beyond a limit raises `FullError`. `clock` returns seconds that never go back.
    """

    def __init__(
        self,
        *,
        max_streams: int = 100_000,
        max_stream: int = 64 << 20,
        max_total: int = 1 << 30,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_streams: Final = max_streams
        self._max_stream: Final = max_stream
        self._max_total: Final = max_total
        self._clock: Final = clock
        self._streams: dict[str, _Stream] = {}  # the stream with the oldest claim comes first
        self._readers: dict[str, set[_MemoryReader]] = {}
        self._total = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._streams)

    @property
    def size(self) -> int:
        """The bytes of all entries."""
        return self._total

    async def claim(self, name: str, owner: str, data: bytes, *, lease: float, ttl: float, force: bool) -> Cursor:
        """Add an entry "o" with a new epoch, and give the lease to the owner."""
        with self._lock:
            self._sweep()
            now = self._clock()
            stream = self._known(name)
            last = stream.entries[-1] if stream is not None and stream.entries else None
            if last is not None and stream is not None:
                if last.kind == END:
                    raise EndedError(name, str(last.content["status"]))
                if stream.owner is not None and stream.owner != owner and stream.until > now and not force:
                    raise HeldError(name, stream.owner, stream.until - now)
            if stream is None:
                if len(self._streams) >= self._max_streams:
                    raise FullError(name, "max_streams", self._max_streams)
                stream = self._streams[name] = _Stream()
            before = BEFORE_ALL if last is None else last.cursor
            cursor = Cursor(before.offset + 1, max(before.epoch + 1, time.time_ns() // 1000))
            self._add(name, stream, LogEntry(cursor, CLAIM, data, before))
            stream.expires = now + ttl
            stream.owner, stream.until = (owner, now + lease) if lease > 0 else (None, 0.0)
            self._wake(name)
            return cursor

    async def append(self, name: str, at: Cursor, kind: str, data: bytes, *, keep: float | None = None) -> Appended:
        """Add an entry at exactly this place; do nothing if it is there already."""
        return self._append(name, at, kind, data, keep)

    async def post(self, name: str, at: Cursor, kind: str, data: bytes) -> Coroutine[Any, Any, Appended]:
        """Add an entry at exactly this place, and return the answer, which the caller awaits later."""
        try:
            return _returned(self._append(name, at, kind, data, None))
        except RelayError as error:
            return _raised(error)

    def _append(self, name: str, at: Cursor, kind: str, data: bytes, keep: float | None) -> Appended:
        with self._lock:
            stream, last = self._last(name, at.epoch)
            tail = last.cursor.offset
            if at.offset > tail:
                if last.kind == END:
                    raise EndedError(name, str(last.content["status"]))
                if at.offset > tail + 1:
                    raise GapError(name, tail)
                self._add(name, stream, LogEntry(at, kind, data))
                tail = at.offset
                if kind == STATE:
                    self._trim(name, stream)
                self._wake(name)
            if keep is not None:
                stream.expires = self._clock() + keep
            return Appended(tail, stream.cancel)

    async def renew(self, name: str, epoch: int, owner: str, *, lease: float, ttl: float) -> Appended:
        """Renew the lease and the time to live."""
        with self._lock:
            stream, last = self._last(name, epoch)
            if last.kind == END:
                raise EndedError(name, str(last.content["status"]))
            now = self._clock()
            stream.owner, stream.until, stream.expires = owner, now + lease, now + ttl
            return Appended(last.cursor.offset, stream.cancel)

    async def read(self, name: str, after: Cursor, count: int) -> Sequence[LogEntry]:
        """Return the first entries after this place: none if there is no such stream."""
        return self._read(name, after, count)

    async def tail(self, name: str) -> LogEntry | None:
        """Return the last entry; None if there is no such stream."""
        with self._lock:
            stream = self._known(name)
            return stream.entries[-1] if stream is not None and stream.entries else None

    async def find(self, name: str, cursor: Cursor) -> bool:
        """Tell whether the log has exactly this entry."""
        with self._lock:
            stream = self._known(name)
            found = [] if stream is None else stream.after(Cursor(cursor.offset, cursor.epoch - 1), 1)
            return bool(found) and found[0].cursor == cursor

    async def lease(self, name: str) -> Lease:
        """Return the lease. If there is no lease, the result has no owner."""
        with self._lock:
            stream = self._known(name)
            if stream is None:
                return Lease(None, 0.0, None)
            left = 0.0 if stream.owner is None else stream.until - self._clock()
            return Lease(stream.owner, left, stream.cancel)

    async def ask_to_cancel(self, name: str, reason: str, *, ttl: float) -> None:
        """Store a cancel request, which the next append or renewal returns."""
        with self._lock:
            stream = self._known(name)
            if stream is not None:
                stream.cancel = reason

    async def once(self, name: str, key: str, *, ttl: float) -> bool:
        """Return True for the first call with this key, and False for all others."""
        with self._lock:
            stream = self._known(name)
            if stream is None:
                raise GoneError(name)
            is_first = key not in stream.keys
            stream.keys.add(key)
            return is_first

    async def drop(self, name: str) -> None:
        """Forget the stream."""
        with self._lock:
            self._forget(name)

    def reader(self, name: str, after: Cursor, listener: LogListener) -> _MemoryReader:
        """Return a reader that hands the entries after this place to a listener. The stream need not exist yet."""
        reader = _MemoryReader(self, name, after, listener)
        with self._lock:
            self._readers.setdefault(name, set()).add(reader)
        reader.wake()
        return reader

    async def aclose(self) -> None:
        """Do nothing: there are no connections."""

    # ---- inside: these methods run with the lock, except `_next`, `_read` and `_leave`, which take it ----

    def _next(self, reader: _MemoryReader) -> list[LogEntry]:
        """Return what comes next for a reader, also if a checkpoint has dropped it since."""
        with self._lock:
            found, reader.rest = reader.rest, []
            if not found:
                stream = self._known(reader.name)
                found = [] if stream is None else stream.after(reader.after, PAGE)
            if found:
                reader.after = found[-1].cursor
            return found

    def _read(self, name: str, after: Cursor, count: int) -> list[LogEntry]:
        with self._lock:
            stream = self._known(name)
            return [] if stream is None else stream.after(after, count)

    def _leave(self, reader: _MemoryReader) -> None:
        with self._lock:
            readers = self._readers.get(reader.name)
            if readers is not None:
                readers.discard(reader)
                if not readers:
                    del self._readers[reader.name]

    def _known(self, name: str) -> _Stream | None:
        stream = self._streams.get(name)
        if stream is not None and stream.expires <= self._clock():
            self._forget(name)
            return None
        return stream

    def _last(self, name: str, epoch: int) -> tuple[_Stream, LogEntry]:
        """Return the stream and its last entry for the writer of this epoch."""
        stream = self._known(name)
        if stream is None or not stream.entries:
            raise GoneError(name)
        last = stream.entries[-1]
        if last.cursor.epoch != epoch:
            raise FencedError(name, last.cursor)
        return stream, last

    def _add(self, name: str, stream: _Stream, entry: LogEntry) -> None:
        size = len(entry.data)
        if entry.kind not in {END, CLAIM}:  # a stream can always end
            if stream.size + size > self._max_stream:
                raise FullError(name, "max_stream", self._max_stream)
            if self._total + size > self._max_total:
                raise FullError(name, "max_total", self._max_total)
        stream.entries.append(entry)
        stream.size += size
        self._total += size

    def _trim(self, name: str, stream: _Stream) -> None:
        """Drop everything before the checkpoint that was added last. Readers keep what they have not read, once."""
        for reader in self._readers.get(name, ()):
            if not reader.rest:
                reader.rest = stream.after(reader.after, len(stream.entries))
        kept = stream.entries[-1]
        self._total -= stream.size - len(kept.data)
        stream.entries, stream.size = [kept], len(kept.data)

    def _forget(self, name: str) -> None:
        stream = self._streams.pop(name, None)
        if stream is not None:
            self._total -= stream.size
            self._wake(name)

    def _sweep(self) -> None:
        """Look at some streams, and drop the expired ones. Those that stay move back, so each one gets its turn."""
        now = self._clock()
        for name in [name for name, _ in zip(self._streams, range(SWEEP), strict=False)]:
            stream = self._streams.pop(name)
            self._streams[name] = stream
            if stream.expires <= now:
                self._forget(name)

    def _wake(self, name: str) -> None:
        for reader in self._readers.get(name, ()):
            reader.wake()


@final
class _MemoryReader:
    """A reader of a `MemoryLog`."""

    __slots__ = ("_is_closed", "_is_woken", "_listener", "_log", "_loop", "_thread", "after", "name", "rest")

    def __init__(self, log: MemoryLog, name: str, after: Cursor, listener: LogListener) -> None:
        self.name: Final = name
        self.after = after
        self.rest: list[LogEntry] = []
        """The entries that a checkpoint dropped from the log before this reader had read them."""
        self._log = log
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._is_woken = False
        self._is_closed = False

    def close(self) -> None:
        """Stop waiting."""
        self._is_closed = True
        self._log._leave(self)

    def wake(self) -> None:
        """Tell the reader that there is news. Any thread may call this."""
        if self._is_woken or self._loop.is_closed():
            return
        self._is_woken = True
        if get_ident() == self._thread:
            self._loop.call_soon(self._read)
        else:
            self._loop.call_soon_threadsafe(self._read)

    def _read(self) -> None:
        self._is_woken = False  # before it reads: an entry that comes from now on wakes it again
        if self._is_closed:
            return
        had_rest = bool(self.rest)
        found = self._log._next(self)
        if found:
            self._listener.take(found)
        if had_rest or len(found) == PAGE:
            self.wake()  # there may be more


async def _returned(answer: Appended) -> Appended:
    return answer


async def _raised(error: RelayError) -> Appended:
    raise error
