"""All sessions: how many there may be, which goes when there are too many, and how what is known of each is published.

This side belongs to the event loop. What works on a timeline is a method of `Session`, and is run in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import aclosing, contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, final

from .log import Log
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Generator

    from .live import Source
    from .session import Reading
    from .settings import Settings

__all__ = ["Entry", "FullError", "Sessions"]

LOGGER: Final = logging.getLogger(__name__)
COSTS: Final = 10  # a waterfall that takes long is drawn less often: a tenth of the time at most


class FullError(Exception):
    """Every session that there may be is in use."""


@final
class Entry:
    """A session, and what the event loop knows of it."""

    def __init__(self, session: Session, log: Log, size: int) -> None:
        self.session: Final = session
        self.log: Final = log
        self.size = size
        """Of the text, in bytes: what was handed to the session, also while that works on it."""
        self.followers = 0
        self.is_kept = False
        """It was asked for on the command line, and is not dropped."""
        self.task: asyncio.Task[None] | None = None
        """What reads a live one."""
        self.renewing: Final = asyncio.Lock()
        self.viewing: Final = asyncio.Lock()

    @property
    def may_go(self) -> bool:
        """Nobody follows it."""
        return not self.followers and not self.is_kept


@final
class Sessions:
    """The sessions by id, the one that was asked for last at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._entries: dict[str, Entry] = {}
        self._making: list[int] = []  # the bytes of each that is no entry yet
        self._loads = asyncio.Semaphore(settings.loads)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, id: str) -> Entry | None:
        """The session with this id, which counts as used now."""
        entry = self._entries.pop(id, None)
        if entry is not None:
            self._entries[id] = entry
        return entry

    async def load(self, title: str, data: bytes, reading: Reading) -> Entry:
        """A session for an input that is all there. Raises `UnspoolError` for options that cannot be."""
        async with self._loads:
            with self._room(len(data)):
                entry = await self._make(title, reading, len(data), is_live=False)
                await asyncio.to_thread(entry.session.load, data)
                await self.renew(entry, with_waterfall=True, is_first=True)
                self._entries[entry.session.id] = entry
        return entry

    async def follow(self, title: str, source: Source, reading: Reading) -> Entry:
        """A session for an input that is read while it comes."""
        with self._room(0):
            entry = await self._make(title, reading, 0, is_live=True)
            entry.session.begin()
            await self.renew(entry, with_waterfall=True, is_first=True)
            self._entries[entry.session.id] = entry
        entry.task = asyncio.create_task(self._read(entry, source))
        return entry

    async def _make(self, title: str, reading: Reading, size: int, *, is_live: bool) -> Entry:
        settings = self._settings
        token = secrets.token_urlsafe(16)
        session = await asyncio.to_thread(Session, token, title, reading, is_live=is_live)
        log = Log({}, most_patches=settings.log_patches, most_bytes=settings.log_bytes, retry=settings.retry)
        return Entry(session, log, size)

    @property
    def size(self) -> int:
        """Of all texts, in bytes, those of sessions that are being made among them."""
        return sum([entry.size for entry in self._entries.values()]) + sum(self._making)

    @contextmanager
    def _room(self, size: int) -> Generator[None]:
        """Room for one more, that nobody else takes while it is made."""
        self._make_room(size)
        self._making.append(size)
        try:
            yield
        finally:
            self._making.remove(size)

    def _make_room(self, size: int) -> None:
        """Drop those that nobody follows, the oldest first and live ones last, until there is room for one more."""
        settings = self._settings
        idle = [entry for entry in self._entries.values() if entry.may_go]
        idle.sort(key=lambda entry: entry.session.is_live)
        while count := len(self._entries) + len(self._making):  # a first one is always taken, whatever its size
            if count < settings.sessions and size + self.size <= settings.total:
                break
            if not idle:
                raise FullError
            self._drop(idle.pop(0).session.id)

    def _drop(self, id: str) -> Entry | None:
        entry = self._entries.pop(id, None)
        if entry is not None:
            entry.log.end()
            if entry.task is not None:
                entry.task.cancel()
        return entry

    async def delete(self, id: str) -> bool:
        """Forget a session; what reads it is stopped first. Whether there was one."""
        entry = self._drop(id)
        if entry is None:
            return False
        await _stop(entry)
        return True

    async def close(self) -> None:
        """Forget all."""
        entries = [self._drop(name) for name in list(self._entries)]
        await asyncio.gather(*[_stop(entry) for entry in entries if entry is not None])

    # Publishing.

    async def renew(self, entry: Entry, *, with_waterfall: bool, is_first: bool = False) -> float:
        """Publish what has changed; how long the waterfall took."""
        async with entry.renewing:
            old: dict[str, Any] = entry.log.document
            document, operations, cost = await asyncio.to_thread(
                entry.session.renew, old, with_waterfall=with_waterfall
            )
            if is_first:
                entry.log.document = document
            else:
                entry.log.publish(operations, document)
        return cost

    async def _read(self, entry: Entry, source: Source) -> None:
        """Take what comes, and publish it from time to time."""
        session, settings = entry.session, self._settings
        publishing = asyncio.create_task(self._publish(entry))
        begin: float | None = None
        problem: str | None = None
        try:
            async with aclosing(source.arrivals(settings)) as arrivals:
                async for data in arrivals:
                    now = monotonic()
                    if data is None:
                        await asyncio.to_thread(session.settle)
                        continue
                    begin = now if begin is None else begin
                    room = max(min(settings.body - entry.size, settings.total - self.size), 0)
                    piece = data[:room]
                    entry.size += len(piece)
                    if not await asyncio.to_thread(session.take, now - begin, piece):
                        break
                    if now - begin > settings.patience:  # what never pauses must show what it is, too
                        await asyncio.to_thread(session.settle)
                    if len(data) > room:
                        problem = f"more than {entry.size:,} bytes: the rest is not read"
                        break
        except OSError as error:
            problem = str(error) or type(error).__name__
        except Exception:
            LOGGER.exception("a live session broke")
            problem = "something went wrong here; the terminal has more"
        finally:
            publishing.cancel()
            with suppress(asyncio.CancelledError):
                await publishing
        await asyncio.to_thread(session.end, 0.0 if begin is None else monotonic() - begin, problem)
        await self.renew(entry, with_waterfall=True)

    async def _publish(self, entry: Entry) -> None:
        settings = self._settings
        next_waterfall = 0.0
        seen = -1
        while True:
            await asyncio.sleep(settings.renewal)
            now, last = monotonic(), entry.session.timeline.last
            is_due = now >= next_waterfall
            if seen == last and not is_due:
                continue
            seen = last
            cost = await self.renew(entry, with_waterfall=is_due)
            if is_due:
                next_waterfall = now + max(settings.waterfall, COSTS * cost)


async def _stop(entry: Entry) -> None:
    """Wait until nothing is read any more."""
    if entry.task is not None:
        with suppress(asyncio.CancelledError):
            await entry.task
