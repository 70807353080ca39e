"""Followers, and the hub that reads for them: one per event loop, stream and fold, however many followers there are.

A hub folds each entry once, and keeps the last steps in a window. A follower is a number: its next step in the window.
A follower that is too far behind gets a snapshot instead. So it costs nothing, and no other follower waits for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, final

from .._errors import StateError
from ._log import CLAIM, END, Cursor, FullError, GoneError, LogError
from ._replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from ._folds import Fold
    from ._log import EndStatus, LogEntry, RelayLog
    from ._settings import Metrics, RelaySettings

__all__ = ["ClosedError", "End", "Follower", "Hub", "News", "Snapshot", "Stalled", "Update"]

S = TypeVar("S")

PAGE: Final = 1024
STEP_COST: Final = 200
"""The bytes that a step in the window takes beside its entry, roughly."""
LOOK_AGAIN: Final = 0.5
RETRY_FIRST: Final = 0.1
RETRY_MOST: Final = 5.0


class ClosedError(StateError):
    """The relay was closed, and the stream goes on."""


SnapshotReason = Literal["start", "behind", "restart", "trimmed", "diverged"]


class _News(Generic[S]):
    """What a follower yields. All followers of a hub share these objects."""

    __slots__ = ("cursor", "frames", "state")

    def __init__(self, cursor: Cursor, state: S, frames: dict[str, Any] | None = None) -> None:
        self.cursor: Final = cursor
        """The cursor of the last entry that the state includes. With ``after=``, a follower continues after it."""
        self.state: Final = state
        """The state of the fold after that entry."""
        self.frames: Final[dict[str, Any]] = {} if frames is None else frames
        """Encoded forms by the name of a wire, so that each is made once for all followers."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cursor})"


@final
class Snapshot(_News[S]):
    """The whole state, in place of everything before. `reason` says why the snapshot came:

    "start" for a new follower, "behind" for a follower that was too slow, "restart" if a writer started the fold over,
    "trimmed" and "diverged" if the log no longer has the next entry. `is_last`: the stream has ended, and its `End`
    comes next.
    """

    __slots__ = ("is_last", "reason")

    def __init__(
        self,
        cursor: Cursor,
        state: S,
        reason: SnapshotReason,
        frames: dict[str, Any] | None = None,
        *,
        is_last: bool = False,
    ) -> None:
        super().__init__(cursor, state, frames)
        self.reason: Final[SnapshotReason] = reason
        self.is_last: Final = is_last


@final
class Update(_News[S]):
    """One more entry: the state `before` it, and the state after it. Claims and checkpoints do not change the state."""

    __slots__ = ("before", "entry")

    def __init__(self, cursor: Cursor, before: S, state: S, entry: LogEntry) -> None:
        super().__init__(cursor, state)
        self.before: Final = before
        self.entry: Final = entry


@final
class Stalled(_News[S]):
    """The stream has no writer: the lease of the last one ran out, `since` seconds ago or more.

    The stream goes on if another writer takes it over.
    """

    __slots__ = ("since",)

    def __init__(self, cursor: Cursor, state: S, since: float) -> None:
        super().__init__(cursor, state)
        self.since: Final = since


@final
class End(_News[S]):
    """The stream has ended; nothing follows. The state `before` the last entry, its `items`, and the state after.

    After a snapshot of the final state, both are that state. `detail` has the other fields of the last entry: the
    "reason" of a cancellation, or "error" with the name of an exception.
    """

    __slots__ = ("before", "detail", "entry", "items", "status")

    def __init__(self, before: S, state: S, entry: LogEntry, items: list[Any]) -> None:
        super().__init__(entry.cursor, state)
        self.before: Final = before
        self.entry: Final = entry
        self.items: Final = items
        """The last items of the fold, which lead from `before` to `state`; none after a snapshot."""
        self.status: Final[EndStatus] = entry.content["status"]
        rest = {name: value for name, value in entry.content.items() if name not in {"status", "x", "p"}}
        self.detail: Final[dict[str, Any]] = rest


News = Snapshot[S] | Update[S] | Stalled[S] | End[S]


def _advance(replay: Replay[S], entry: LogEntry) -> News[S] | None:
    """Fold one more entry, and return the step. Return None if it does not continue the log."""
    has_begun, was_fresh, before = replay.has_begun, replay.is_fresh, replay.state
    if not replay.take(entry):
        return None
    if not has_begun:
        return Snapshot(replay.cursor, replay.state, "start")
    if entry.kind == END:
        return End(before, replay.state, entry, entry.content.get("x", []))
    if entry.kind == CLAIM and entry.content.get("how") != "resume" and not (was_fresh and replay.is_fresh):
        return Snapshot(replay.cursor, replay.state, "restart")
    return Update(replay.cursor, before, replay.state, entry)


@final
class _Window(Generic[S]):
    """The last steps of a stream, numbered from 1."""

    def __init__(self, most: int, most_bytes: int, last: int = 0) -> None:
        self.last = last
        """The number of the last step."""
        self._steps: deque[tuple[News[S], int]] = deque()  # with their sizes
        self._size = 0
        self._most: Final = most
        self._most_bytes: Final = most_bytes

    def add(self, step: News[S], size: int) -> None:
        """Add a step, and drop the oldest ones that are too many."""
        size += STEP_COST
        self.last += 1
        self._steps.append((step, size))
        self._size += size
        while len(self._steps) > self._most or (self._size > self._most_bytes and len(self._steps) > 1):
            self._size -= self._steps.popleft()[1]

    def after(self, number: int) -> News[S] | None:
        """Return the step after this number; None if it was dropped."""
        index = number - (self.last - len(self._steps))
        return self._steps[index][0] if index >= 0 else None

    def number_of(self, cursor: Cursor) -> int | None:
        """Return the number of the step that showed this cursor; None if what follows it is not here."""
        number = self.last
        for step, _ in reversed(self._steps):
            if step.cursor == cursor and not isinstance(step, Stalled):
                return number
            if isinstance(step, Snapshot):
                return None  # it stands for everything before
            number -= 1
        return None


@final
class Hub(Generic[S]):
    """Reads one stream for all followers in this event loop."""

    def __init__(
        self,
        log: RelayLog,
        name: str,
        fold: Fold[S] | None,
        settings: RelaySettings,
        metrics: Metrics,
        *,
        on_stalled: Callable[[str], object],
        on_unserved: Callable[[str, str], object],
        on_idle: Callable[[], object],
    ) -> None:
        self.name: Final = name
        self.followers = 0
        """The number of followers."""
        self.failure: Exception | None = None
        """Why the hub cannot go on."""
        self.is_absent = False
        """The stream was not there when the hub looked."""
        self._log = log
        self._fold = fold
        self._settings = settings
        self._metrics = metrics
        self._on_stalled = on_stalled
        self._on_unserved = on_unserved
        self._on_idle = on_idle
        self._loop = asyncio.get_running_loop()
        self._replay: Replay[S] = Replay(name, fold)
        self._window: _Window[S] = _Window(settings.window, settings.window_bytes)
        self._end: End[S] | None = None  # without items: it comes after the final state
        self._stall: Stalled[S] | None = None
        self._is_told = False  # the application knows that the writer is dead
        self._shared: tuple[Cursor, dict[str, Any]] | None = None  # the frames of the last snapshot
        self._waiting: dict[asyncio.Future[None], None] = {}  # the followers that have seen everything
        self._is_same = True  # the log goes on where the hub is
        self._turn = asyncio.Event()  # it is the turn of the task: the stream has ended, or the log is another one
        self._missing_leases = 0
        self._leaving: asyncio.TimerHandle | None = None
        self._last_contact = self._loop.time()  # with the log
        self._task = self._loop.create_task(self._run())
        metrics.add("hubs")

    # ---- for followers ----

    def enter(self) -> None:
        """Count one more follower."""
        if self.followers >= self._settings.max_followers:
            raise FullError(self.name, "max_followers", self._settings.max_followers)
        self.followers += 1
        self._metrics.add("followers")
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    def leave(self) -> None:
        """Count one follower less. After the last one, the hub stays for a while."""
        self.followers -= 1
        if self.followers == 0:
            wait = 0.0 if self.failure is not None else self._settings.hub_idle
            self._leaving = self._loop.call_later(wait, self._on_idle)

    def leave_soon(self) -> None:
        """Do the same from any thread."""
        if not self._loop.is_closed():
            with suppress(RuntimeError):  # it was closed just now
                self._loop.call_soon_threadsafe(self.leave)

    @property
    def is_ready(self) -> bool:
        """The hub has a state."""
        return self._window.last > 0

    def begin(self, after: Cursor | None) -> tuple[int, list[News[S]]]:
        """Return the number after which a new follower goes on, and what it gets before that."""
        number = None if after is None else self._window.number_of(after)
        if number is None:
            return self._window.last, self.snapshot("start")
        if self._end is not None and number == self._window.last:
            return number, [self._end]
        return number, []

    def snapshot(self, reason: SnapshotReason) -> list[News[S]]:
        """Return the state as it is now, with the end or the stall that belongs to it."""
        self._metrics.add(f"snapshots.{reason}")
        cursor = self._replay.cursor
        if self._shared is None or self._shared[0] != cursor:
            self._shared = cursor, {}
        is_last = self._end is not None
        steps: list[News[S]] = [Snapshot(cursor, self._replay.state, reason, self._shared[1], is_last=is_last)]
        last = self._end or self._stall
        return steps if last is None else [*steps, last]

    @property
    def last(self) -> int:
        """The number of the last step."""
        return self._window.last

    def step_after(self, number: int) -> News[S] | None:
        """Return the step after the one with this number; None if it was dropped."""
        return self._window.after(number)

    async def news(self) -> None:
        """Wait for the next step, or another change."""
        bell = self._loop.create_future()
        self._waiting[bell] = None
        try:
            await bell
        except BaseException:
            self._waiting.pop(bell, None)
            raise

    async def exists(self) -> bool:
        """Look whether the stream is there."""
        return await self._log.tail(self.name) is not None

    async def is_outdated(self) -> bool:
        """Look whether a stream that has ended was dropped or has expired since. Then the hub cannot go on."""
        if self._end is None:
            return False
        with suppress(LogError):  # what is known is better than nothing
            if self.failure is None and not await self._log.find(self.name, self._end.cursor):
                self._fail(GoneError(self.name))
        return self.failure is not None

    def stop(self) -> None:
        """Stop reading: the task ends when the event loop goes on."""
        if self._leaving is not None:
            self._leaving.cancel()
        self._task.cancel()
        if self._end is None and self.failure is None:
            self._fail(ClosedError("the relay was closed"))

    async def close(self) -> None:
        """Stop reading, and wait for that."""
        self.stop()
        with suppress(asyncio.CancelledError):
            await self._task

    # ---- reading ----

    async def _run(self) -> None:
        """Read until the end of the stream. A log that cannot be reached may come back."""
        wait, down_since = RETRY_FIRST, 0.0
        while True:
            try:
                await self._read()
                return
            except LogError as error:
                if not self._replay.has_begun:
                    self._fail(error)
                    return
                now = self._loop.time()
                last = self._last_contact
                if down_since < last:
                    wait, down_since = RETRY_FIRST, now
                if now - last > self._settings.lease:
                    self._show_stall(now - last)
                await asyncio.sleep(wait)
                wait = min(2 * wait, RETRY_MOST)
            except Exception as error:  # noqa: BLE001 - the followers raise it
                self._fail(error)
                return

    async def _read(self) -> None:
        """Follow the log from the last entry that was shown: until the end, or until the log is another one."""
        while self._end is None and self.failure is None:
            await self._catch_up()
            self._is_same = True
            self._turn.clear()
            if self._end is None:
                reader = self._log.reader(self.name, self._replay.cursor, self)
                try:
                    await self._watch()
                finally:
                    reader.close()

    async def _watch(self) -> None:
        """Wait while the reader hands over entries, and look at the log after a while without any."""
        while self._is_same and self._end is None and self.failure is None:
            left = self._last_contact + self._settings.idle_check - self._loop.time()
            if left > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await self._turn.wait()
                continue
            cursor = self._replay.cursor
            if not await self._is_current() and self._replay.cursor == cursor:
                self._is_same = False
            self._last_contact = self._loop.time()

    def take(self, entries: Sequence[LogEntry]) -> None:
        """Show entries, as the listener of a reader. An entry that does not continue the log is left to the task."""
        try:
            for entry in entries:
                if self._end is None and self._is_same:
                    self._is_same = self._take(entry)
        except Exception as error:  # noqa: BLE001 - the followers raise it
            self.fail(error)
        self._last_contact = self._loop.time()
        if self._end is not None or not self._is_same:
            self._turn.set()

    def fail(self, error: Exception) -> None:
        """Stop reading: the followers raise this error."""
        self._fail(error)
        self._turn.set()

    def _take(self, entry: LogEntry) -> bool:
        """Show an entry. Return False if it does not continue the log."""
        step = _advance(self._replay, entry)
        if step is None:
            return False
        self._writer_is_back()
        self._show(step, len(entry.data))
        return True

    def _show(self, step: News[S], size: int = 0) -> None:
        if isinstance(step, End):
            # For followers that get the final state from elsewhere: the last items are in it already.
            self._end = End(step.state, step.state, step.entry, [])
        self.is_absent = False
        self._window.add(step, size)
        self._wake()

    async def _catch_up(self) -> None:
        """Read the log from its beginning, unless the last entry that was shown is still there."""
        old = self._replay
        if old.has_begun and await self._log.find(self.name, old.cursor):
            return
        replay, window = await self._read_all()
        self._last_contact = self._loop.time()
        if not replay.has_begun:
            if old.has_begun:
                raise GoneError(self.name)
            self.is_absent = True
            self._wake()
            return
        self._replay = replay
        self._writer_is_back()
        if not old.has_begun:
            self._metrics.add("resyncs.start")
            self._window = window
            self._end = None if replay.end is None else End(replay.state, replay.state, replay.end, [])
            self.is_absent = False
            self._wake()
            return
        reason: SnapshotReason = "trimmed" if replay.cursor > old.cursor else "diverged"
        self._metrics.add(f"resyncs.{reason}")
        self._metrics.add(f"snapshots.{reason}")
        self._show(Snapshot(replay.cursor, replay.state, reason, is_last=replay.end is not None))
        if replay.end is not None:
            self._show(End(replay.state, replay.state, replay.end, []))

    async def _read_all(self) -> tuple[Replay[S], _Window[S]]:
        """Fold the whole log."""
        while True:
            replay: Replay[S] = Replay(self.name, self._fold)
            window: _Window[S] = _Window(self._settings.window, self._settings.window_bytes)
            is_same = True
            has_more = True
            while is_same and has_more:
                entries = await self._log.read(self.name, replay.cursor, PAGE)
                has_more = len(entries) == PAGE  # the reader gets what comes later
                for entry in entries:
                    step = _advance(replay, entry)
                    if step is None:  # a checkpoint has replaced what came next
                        is_same = False
                        break
                    window.add(step, len(entry.data))
                if has_more:
                    await asyncio.sleep(0)
            if is_same:
                return replay, window

    async def _is_current(self) -> bool:
        """Look after a while without news: at the log, and at the lease. Return False if the log is another one."""
        replay, log, name = self._replay, self._log, self.name
        if not replay.has_begun:
            return True
        if not await log.find(name, replay.cursor):
            return False
        lease = await log.lease(name)
        if lease.left > 0:
            self._writer_is_back()
            return True
        if lease.owner is None:
            self._missing_leases += 1
            if replay.owner == "" or self._missing_leases < 2:
                return True
        if lease.cancel is not None:
            self._on_unserved(name, lease.cancel)
        if not self._is_told:
            self._is_told = True
            self._metrics.add("stalls")
            self._show_stall(-lease.left)
            self._on_stalled(name)
        return True

    def _writer_is_back(self) -> None:
        self._missing_leases = 0
        self._stall = None
        self._is_told = False

    def _show_stall(self, since: float) -> None:
        if self._stall is None and self._replay.has_begun and self._end is None:
            self._stall = Stalled(self._replay.cursor, self._replay.state, since)
            self._show(self._stall)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for bell in waiting:
            if not bell.done():
                bell.set_result(None)

    def _fail(self, error: Exception) -> None:
        self.failure = error
        self._wake()


@final
class Follower(Generic[S]):
    """The news of one stream, for ``async for``. `Relay.follow` makes it.

    The first item is a `Snapshot`, unless the follower continues after a cursor. The last one is an `End`. The follower
    raises `GoneError` if the stream does not exist, or has expired.
    """

    def __init__(self, find_hub: Callable[[], Hub[S]], after: Cursor | None, wait: float) -> None:
        self._is_entered = False
        self._is_over = False
        self._find_hub: Final = find_hub
        self._hub = hub = find_hub()
        self._after: Final = after
        self._until: Final = asyncio.get_running_loop().time() + wait
        self._number: int | None = None  # of the last step in the window that was yielded
        self._waiting: deque[News[S]] = deque()
        hub.enter()
        self._is_entered = True

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> News[S]:
        """Return the next step."""
        if self._is_over:
            raise StopAsyncIteration
        hub, step = self._hub, None
        try:
            if self._number is None:
                await self.place()
                hub = self._hub
            while (step := self._next()) is None:
                if hub.failure is not None:
                    raise hub.failure
                await hub.news()
        except Exception:
            await self.aclose()
            raise
        if type(step) is End:
            await self.aclose()
        return step

    async def place(self) -> News[S] | None:
        """Wait for the stream. Return the step that this follower continues after; None: it begins with a snapshot."""
        hub = self._hub
        try:
            while self._number is None:
                if await hub.is_outdated():
                    hub = self._find_hub()
                    hub.enter()
                    self._hub.leave()
                    self._hub = hub
                if hub.is_ready:
                    self._number, found = hub.begin(self._after)
                    self._waiting.extend(found)
                elif hub.failure is None:
                    await self._wait_for_hub()
                else:
                    raise hub.failure
        except Exception:
            await self.aclose()
            raise
        is_new = bool(self._waiting) and isinstance(self._waiting[0], Snapshot)
        return None if is_new else hub.step_after(self._number - 1)

    def _next(self) -> News[S] | None:
        """Return the next step, if the hub has one."""
        if self._waiting:
            return self._waiting.popleft()
        hub, number = self._hub, self._number
        assert number is not None
        if number == hub.last:
            return None
        step = hub.step_after(number)
        if step is not None:
            self._number = number + 1
            return step
        self._number = hub.last
        self._waiting.extend(hub.snapshot("behind"))
        return self._waiting.popleft()

    async def _wait_for_hub(self) -> None:
        hub = self._hub
        if not hub.is_absent:
            await hub.news()
            return
        left = self._until - asyncio.get_running_loop().time()
        if left <= 0 and not await hub.exists():
            raise GoneError(hub.name)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(left, LOOK_AGAIN)):
                await hub.news()

    async def aclose(self) -> None:
        """Leave the stream. The writer does not notice."""
        self._is_over = True
        if self._is_entered:
            self._is_entered = False
            self._hub.leave()

    def __del__(self) -> None:
        if self._is_entered:  # a loop that was left does not close its iterator
            self._hub.leave_soon()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
