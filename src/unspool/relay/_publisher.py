"""The writer of a stream: it collects items, appends entries, renews its lease, and writes checkpoints and the end.

Two tasks run beside the block of ``async with``: one appends, at most one entry at a time, the other renews the lease.
With ``linger=0``, `send` itself gives an entry to the log if none is under way, and the task waits for the answer.
If one of them learns that the block must stop, because of a cancel request, a fence or a lost log, it cancels the task
of the block, as `asyncio.timeout` does, and the block raises the reason.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, final

from .._errors import StateError
from ..llm._sources import aclose_source, items_of
from ._log import (
    CLAIM,
    DATA,
    END,
    STATE,
    CancelError,
    Cursor,
    EndedError,
    FencedError,
    FullError,
    GapError,
    GoneError,
    HeldError,
    RelayError,
    as_data,
)
from ._replay import Replay

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType
    from typing import Self

    from ._folds import Fold, Recorder
    from ._log import Appended, RelayLog
    from ._settings import Metrics, RelaySettings

__all__ = ["Publisher", "claim_content", "claim_stream"]

S = TypeVar("S")

VERSION: Final = 1
PAGE: Final = 512
KEPT_BYTES: Final = 1 << 20
"""The bytes of acknowledged entries that a publisher keeps, to send them again if the log forgets them."""
ENTRY_COST: Final = 64
"""The bytes that a late reader reads for an entry beside its data, roughly."""
RELEASE_TIMEOUT: Final = 1.0


def claim_content(fold: Fold[Any] | None, owner: str, how: Literal["new", "resume"]) -> dict[str, Any]:
    """Return the content of an entry that claims a stream."""
    content: dict[str, Any] = {"v": VERSION, "how": how, "owner": owner}
    return content if fold is None else {**content, "fold": fold.name, "settings": fold.describe()}


async def claim_stream(
    log: RelayLog, name: str, owner: str, content: dict[str, Any], settings: RelaySettings, *, force: bool = False
) -> Cursor:
    """Claim a stream, and give the lease to the owner."""
    data = as_data(content)
    cursor = await log.claim(name, owner, data, lease=settings.lease, ttl=settings.ttl, force=force)
    if content["how"] == "resume" and cursor.offset == 1:  # the stream has just expired: there is nothing to resume
        await log.drop(name)
        raise GoneError(name)
    return cursor


@final
class _Posted(Generic[S]):
    """An entry that `send` has given to the log, and whose answer is still to come."""

    __slots__ = ("answer", "content", "data", "position", "state")

    def __init__(self, content: dict[str, Any], data: bytes, state: S, position: Any) -> None:
        self.content: Final = content
        self.data: Final = data
        self.state: Final = state
        self.position: Final = position
        self.answer: Coroutine[Any, Any, Appended] | None = None

    def forget_answer(self) -> None:
        """Do not wait for it any more."""
        if self.answer is not None:
            self.answer.close()
            self.answer = None


@final
class Publisher(Generic[S]):
    """The writer of one stream, made by `Relay.publish` and `Relay.take_over`. Use it with ``async with``.

    The end of the block ends the stream: "done", or "error" after an exception or a failed message. If the task of the
    block is cancelled, the stream stays open, so that another writer can take it over.

    The block raises `CancelError` after a cancel request, `FencedError` if another writer has claimed the stream, and
    `LogError` if the log cannot be reached.
    """

    def __init__(
        self,
        log: RelayLog,
        name: str,
        fold: Fold[S],
        settings: RelaySettings,
        metrics: Metrics,
        *,
        how: Literal["new", "resume"],
        owner: str | None = None,
        linger: float | None = None,
    ) -> None:
        self.name: Final = name
        """The name of the stream."""
        self.owner: Final = uuid.uuid4().hex if owner is None else owner
        """The name of the writer."""
        self._log = log
        self._fold = fold
        self._settings = settings
        self._metrics = metrics
        self._how: Literal["new", "resume"] = how
        self._linger = settings.linger if linger is None else linger
        self._recorder: Recorder[S] = fold.recorder(fold.start())
        self._end_state: S | None = None
        self._has_ended = False

        self._position: Any = None  # of the source, behind everything that was sent
        self._written_position: Any = None  # the one that the log has

        self._epoch = 0
        self._tail = 0  # the offset of the last entry that was acknowledged
        self._kept: deque[tuple[Cursor, str, bytes]] = deque()  # the last entries, to send them again
        self._kept_size = 0
        self._since = 0  # bytes since the last checkpoint, with `ENTRY_COST`
        self._last_dump = 0  # the size of the last checkpoint
        self._renewed = 0.0  # when the lease was renewed, by the clock of this machine

        self._appending: asyncio.Task[None] | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()  # one append at a time
        self._posted: _Posted[S] | None = None  # the entry that comes before all others
        self._wanted = asyncio.Event()  # there is something to append
        self._urgent = asyncio.Event()  # it should not wait
        self._room = asyncio.Event()  # the last entry was appended
        self._is_closing = False

        self._block: asyncio.Task[Any] | None = None
        self._failure: BaseException | None = None
        self._cancels_before = 0
        self._is_interrupted = False

    # ---- what users see ----

    @property
    def state(self) -> S:
        """The state after everything that was sent."""
        return self._recorder.state if self._end_state is None else self._end_state

    @property
    def position(self) -> Any:
        """The position of the source that the last `send` with a position gave. After a takeover, continue there."""
        return self._position

    @property
    def cursor(self) -> Cursor:
        """The cursor of the last entry that is in the log."""
        return Cursor(self._tail, self._epoch)

    @property
    def cancel_requested(self) -> bool:
        """There is a request to cancel the stream."""
        return isinstance(self._failure, CancelError)

    async def send(self, piece: Any, *, position: Any = None) -> None:
        """Add one piece of the source: for `Messages` a chunk, for `JSONText` a fragment, for `Document` operations.

        `position` is the place in the source after this piece, as JSON data. The log stores it with the items of the
        piece, so a successor that continues there neither loses nor repeats an item. The call waits only if the log is
        slower than the source.
        """
        if self._failure is not None or not self._is_open:
            await self._check()
        self._recorder.take(piece)
        if position is not None:
            self._position = position
        if self._recorder.size > 0:
            if self._linger == 0 and self._posted is None and not self._lock.locked():
                await self._post()
            self._wanted.set()
        while self._recorder.size >= self._settings.max_batch:
            self._urgent.set()
            self._room.clear()
            await self._room.wait()
            await self._check()

    async def send_all(self, source: Any) -> S:
        """Send everything that an async source yields, close the source, and return the state."""
        items = items_of(source, is_async=True)
        try:
            async for piece in items:
                await self.send(piece)
        finally:
            await aclose_source(items, source)
        return self.state

    async def flush(self) -> None:
        """Wait until the log has everything that was sent."""
        await self._check()
        # Only one task appends, and the block may be cancelled at any time: an entry must not be left half-way.
        while self._recorder.size > 0 or self._posted is not None or self._lock.locked():
            self._urgent.set()
            self._wanted.set()
            self._room.clear()
            await self._room.wait()
            await self._check()

    async def open(self) -> Self:
        """Claim the stream without a block, so that several tasks can send; `close` ends it.

        If the publisher must stop, the next call raises the reason.
        """
        await self._claim()
        self._appending = asyncio.create_task(self._append_all())
        if math.isfinite(self._settings.lease):
            self._renewing = asyncio.create_task(self._renew_all())
        return self

    async def close(self) -> None:
        """End the stream, as the end of a block does. Do nothing if the publisher is not open."""
        if self._epoch != 0 and not self._is_closing:
            await self.__aexit__(None, None, None)

    # ---- the block ----

    async def __aenter__(self) -> Self:
        await self.open()
        self._block = asyncio.current_task()
        assert self._block is not None
        self._cancels_before = self._block.cancelling()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._is_interrupted and self._block is not None:
            cancels = self._block.uncancel()
            if isinstance(error, asyncio.CancelledError) and cancels > self._cancels_before:
                self._failure = None  # other code has cancelled the block, too
        failure = self._failure
        self._is_closing = True
        try:
            if failure is None and error is not None and not isinstance(error, Exception):
                await self._stop()
                await self._release()
            elif failure is None or isinstance(failure, CancelError):
                try:
                    await self._finish(error, failure)
                except FullError as full:  # the last items do not fit: the stream ends without them
                    self._recorder.drain()
                    await self._finish(full, full)
                    raise
            elif isinstance(failure, FullError):
                self._recorder.drain()  # the entry that was refused
                await self._finish(failure, failure)
            elif isinstance(failure, FencedError):
                failure = await self._reason_of(failure)
        finally:
            await self._stop()
            self._room.set()  # another task may wait to send
        if failure is not None and (error is None or isinstance(error, (asyncio.CancelledError, FencedError))):
            raise failure from None

    async def _reason_of(self, failure: FencedError) -> RelayError:
        """Return the reason of a fence: the stream was cancelled, or another writer goes on."""
        with suppress(RelayError):
            last = await self._log.tail(self.name)
            if last is not None and last.kind == END and last.content["status"] == "cancelled":
                return CancelError(self.name, str(last.content.get("reason", "")))
        return failure

    async def _claim(self) -> None:
        self._metrics.add("claims")
        log, name, fold = self._log, self.name, self._fold
        if self._how == "resume" and await log.tail(name) is None:
            raise GoneError(name)
        content = claim_content(fold, self.owner, self._how)
        cursor = await claim_stream(log, name, self.owner, content, self._settings)
        self._tail, self._epoch, self._renewed = cursor.offset, cursor.epoch, time.monotonic()
        if self._how == "resume":
            self._metrics.add("takeovers")
            try:
                replay = await self._replay(cursor)
            except BaseException:
                await self._release()
                raise
            self._recorder = fold.recorder(replay.state)
            self._position = self._written_position = replay.position
        self._kept.append((cursor, CLAIM, as_data(content)))

    async def _replay(self, until: Cursor) -> Replay[S]:
        """Fold the log up to this claim. No older writer can add to it any more."""
        replay = Replay(self.name, self._fold)
        while replay.cursor != until:
            entries = await self._log.read(self.name, replay.cursor, PAGE)
            if not entries:
                raise FencedError(self.name, replay.cursor)
            for entry in entries:
                if not replay.take(entry) or entry.cursor.offset > until.offset:
                    raise FencedError(self.name, entry.cursor)
                self._since += len(entry.data) + ENTRY_COST
                if entry.kind == STATE:
                    self._since, self._last_dump = 0, len(entry.data)
                if entry.cursor == until:
                    break
            await asyncio.sleep(0)
        return replay

    async def _finish(self, error: BaseException | None, failure: BaseException | None) -> None:
        """Append what is left, and the end."""
        content: dict[str, Any]
        if isinstance(failure, CancelError):
            content = {"status": "cancelled", "reason": failure.reason}
        elif error is not None:
            content = {"status": "error", **self._fold.failure(error)}
        else:
            told = self._recorder.finish()
            status = "error" if self._fold.has_failed(self._recorder.state) else "done"
            content = {"status": status, **told}
        try:
            async with self._lock:  # an entry that is on its way arrives first
                await self._settle()
                await self._stop()
                if self._recorder.size > self._settings.max_batch:
                    await self._append_batch()
                state = self._recorder.state
                items = self._recorder.drain()
                if self._position != self._written_position:
                    content["p"] = self._position
                await self._append(END, {**content, "x": items} if items else content, state)
        except FencedError as fenced:
            self._metrics.add("fenced")
            if error is None:
                raise await self._reason_of(fenced) from None
            return
        self._end_state = self._fold.end(state, content)
        self._has_ended = True

    async def _stop(self) -> None:
        """Stop both tasks."""
        for task in (self._appending, self._renewing):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        self._appending = self._renewing = None
        if self._posted is not None:
            self._posted.forget_answer()

    async def _release(self) -> None:
        """Give the lease back, so that a successor need not wait. It runs out anyway."""
        with suppress(RelayError, TimeoutError):
            async with asyncio.timeout(RELEASE_TIMEOUT):
                await self._log.renew(self.name, self._epoch, self.owner, lease=0, ttl=self._settings.ttl)

    # ---- stopping the block ----

    def _notice(self, cancel: str | None) -> None:
        if cancel is not None and self._failure is None and not self._is_closing:
            self._metrics.add("cancels")
            self._interrupt(CancelError(self.name, cancel))

    def _interrupt(self, failure: BaseException) -> None:
        """Let the block end with this failure."""
        if self._failure is not None or self._is_closing:
            return
        self._failure = failure
        self._room.set()
        if isinstance(failure, FencedError):
            self._metrics.add("fenced")
        if self._block is not None and not self._block.done() and self._block is not asyncio.current_task():
            self._is_interrupted = True
            self._block.cancel()

    @property
    def _is_open(self) -> bool:
        return self._epoch != 0 and not self._is_closing and not self._has_ended

    async def _check(self) -> None:
        """Raise the failure, if there is one."""
        if not self._is_open:
            raise StateError("the publisher is not open: use it with `async with`, or call `open` first")
        if self._failure is not None:
            if self._is_interrupted and self._block is asyncio.current_task():
                await asyncio.sleep(0)  # the cancellation arrives here
            raise self._failure

    # ---- the two tasks ----

    async def _renew_all(self) -> None:
        settings = self._settings
        while True:
            await asyncio.sleep(settings.lease / 3)
            started, epoch = time.monotonic(), self._epoch
            try:
                answer = await self._log.renew(self.name, epoch, self.owner, lease=settings.lease, ttl=settings.ttl)
            except (FencedError, GoneError, EndedError) as error:
                try:
                    async with self._lock:
                        await self._settle()
                        if self._epoch != epoch:
                            continue  # the stream was claimed again meanwhile
                        if not await self._reclaimed(error, self._recorder.state, None):
                            raise error
                        if self._recorder.size > 0:
                            self._recorder.drain()  # the claim holds the state with these items
                except RelayError as failure:
                    self._interrupt(failure)
                    return
            except Exception as error:  # noqa: BLE001 - the block raises it
                self._interrupt(error)
                return
            else:
                self._renewed = started
                self._notice(answer.cancel)

    async def _append_all(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            if self._linger > 0 and not self._urgent.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._linger):
                        await self._urgent.wait()
            self._urgent.clear()
            try:
                await self._append_pending()
            except Exception as error:  # noqa: BLE001 - the block raises it
                self._interrupt(error)
                return

    async def _append_pending(self) -> None:
        """Append everything that waits, and a checkpoint if it is time."""
        async with self._lock:
            await self._settle()
            while self._recorder.size > 0 and self._failure is None:
                await self._append_batch()
            self._room.set()

    async def _post(self) -> None:
        """Give everything that waits to the log, which need not wait for another turn of the event loop.

        `_settle` does the rest.
        """
        if self._recorder.size > self._settings.max_entry // 2:
            return None  # the task cuts it into portions
        state, position = self._recorder.state, self._position
        content: dict[str, Any] = {"x": self._recorder.drain()}
        if position != self._written_position:
            content["p"] = position
        data = as_data(content)
        if len(data) > self._settings.max_entry:
            self._interrupt(FullError(self.name, "max_entry", self._settings.max_entry))
            return await self._check()
        posted = self._posted = _Posted(content, data, state, position)
        posted.answer = await self._log.post(self.name, Cursor(self._tail + 1, self._epoch), DATA, data)
        if self._posted is not posted:  # the log took so long that the task has appended it
            posted.forget_answer()
        return None

    async def _settle(self) -> None:
        """Wait until the log has the entry that `send` has given to it. If this is interrupted, it is given again."""
        posted = self._posted
        if posted is None:
            return
        answer, posted.answer = posted.answer, None
        try:
            await self._append_data(DATA, posted.data, posted.state, posted.content, answer)
        except FullError:
            self._posted = None  # the entry was refused
            raise
        self._posted = None
        await self._appended(posted.state, posted.position)

    async def _append_batch(self) -> None:
        state, position = self._recorder.state, self._position
        items = self._recorder.drain()
        is_news = position != self._written_position
        for portion, is_last in self._portions(items):
            content: dict[str, Any] = {"x": portion}
            if is_news and is_last:
                content["p"] = position
            await self._append(DATA, content, state if is_last else None)
        await self._appended(state, position)

    async def _appended(self, state: S, position: Any) -> None:
        """Note that the log has everything up to this state, and append a checkpoint if it is time."""
        self._written_position = position
        self._room.set()
        if self._since > max(self._settings.checkpoint, 2 * self._last_dump):
            content = {**claim_content(self._fold, self.owner, "new"), "s": self._fold.dump(state)}
            if position is not None:
                content["p"] = position
            data = as_data(content)
            if len(data) <= self._settings.max_entry:
                await self._append_data(STATE, data, state, content)
                self._metrics.add("checkpoints")
            self._last_dump, self._since = len(data), 0

    def _portions(self, items: list[Any]) -> list[tuple[list[Any], bool]]:
        """Return the items in portions that fit into an entry, and whether each is the last one."""
        portions: list[list[Any]] = [[]]
        size = 0
        for item in items:
            more = len(item) if isinstance(item, str) else len(as_data({"x": item}))
            if portions[-1] and size + more > self._settings.max_entry // 2:
                portions.append([])
                size = 0
            portions[-1].append(item)
            size += more
        return [(portion, portion is portions[-1]) for portion in portions]

    # ---- one entry ----

    async def _append(self, kind: str, content: dict[str, Any], state: S | None) -> None:
        data = as_data(content)
        if len(data) > self._settings.max_entry:
            raise FullError(self.name, "max_entry", self._settings.max_entry)
        await self._append_data(kind, data, state, content)

    async def _append_data(
        self,
        kind: str,
        data: bytes,
        state: S | None,
        content: dict[str, Any],
        first: Coroutine[Any, Any, Appended] | None = None,
    ) -> None:
        """Append an entry. If the log has forgotten entries before it, append those again.

        `first` is the answer to come of an entry that the log has been given already.
        """
        keep = self._settings.retention if kind == END else None
        at = Cursor(self._tail + 1, self._epoch)
        started = time.perf_counter()
        waiting = deque([(at, kind, data)])
        while waiting:
            place, kind_there, data_there = waiting[0]
            try:
                if first is None:
                    answer = await self._log.append(self.name, place, kind_there, data_there, keep=keep)
                else:
                    asked, first = first, None
                    answer = await asked
            except GapError as gap:
                self._metrics.add("gaps")
                again = [*[entry for entry in self._kept if entry[0].offset > gap.tail], (at, kind, data)]
                if again[0][0].offset != gap.tail + 1:
                    await self._restore(gap, state, content, kind)
                    return
                waiting = deque(again)
                continue
            except (FencedError, GoneError) as error:
                await self._restore(error, state, content, kind)
                return
            waiting.popleft()
            self._notice(answer.cancel)
        self._keep(at, kind, data)
        self._tail = at.offset
        self._since += len(data) + ENTRY_COST
        self._metrics.add("appends")
        self._metrics.add("append_bytes", len(data))
        self._metrics.add("append_seconds", time.perf_counter() - started)

    def _keep(self, at: Cursor, kind: str, data: bytes) -> None:
        self._kept.append((at, kind, data))
        self._kept_size += len(data)
        while self._kept_size > KEPT_BYTES and len(self._kept) > 1:
            self._kept_size -= len(self._kept.popleft()[2])

    async def _restore(self, error: RelayError, state: S | None, content: dict[str, Any], kind: str) -> None:
        """Claim the stream again, and then append an end that is still missing."""
        if state is None or not await self._reclaimed(error, state, content.get("p", self._written_position)):
            raise error
        if kind == END:
            rest = {name: value for name, value in content.items() if name != "x"}
            await self._append(END, rest, None)

    async def _reclaimed(self, error: RelayError, state: S, position: Any) -> bool:
        """Claim the stream again with the whole state, if the log has lost its end and no other writer can have it.

        While the lease lasts, no other writer can have claimed the stream.
        """
        is_lost = isinstance(error, (GoneError, GapError))
        if isinstance(error, FencedError):
            is_lost = error.last.epoch < self._epoch
        if not is_lost or time.monotonic() - self._renewed > self._settings.lease:
            return False
        content = {**claim_content(self._fold, self.owner, "new"), "s": self._fold.dump(state)}
        position = self._position if position is None else position
        if position is not None:
            content["p"] = position
        try:
            cursor = await claim_stream(self._log, self.name, self.owner, content, self._settings)
        except (HeldError, EndedError):
            return False
        self._metrics.add("reclaims")
        self._tail, self._epoch = cursor.offset, cursor.epoch
        data = as_data(content)
        self._kept.clear()
        self._kept_size = 0
        self._keep(cursor, CLAIM, data)
        self._since, self._last_dump = 0, len(data)
        self._written_position = position
        return True
