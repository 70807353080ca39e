"""`Relay`: publishers and followers of named streams, on one log."""

from __future__ import annotations

import asyncio
import math
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast, final, overload

from .._errors import OptionsError
from ._folds import Messages
from ._hub import Follower, Hub
from ._log import (
    END,
    STATUSES,
    Cursor,
    EndedError,
    FencedError,
    FullError,
    GoneError,
    HeldError,
    RelayError,
    as_data,
    check_name,
)
from ._memory import MemoryLog
from ._publisher import Publisher, claim_content, claim_stream
from ._redis import RedisLog
from ._settings import Metrics, RelaySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import TracebackType
    from typing import Self

    from starlette.requests import Request
    from starlette.responses import Response

    from ..llm import Encoder, MessageState
    from ._folds import Fold
    from ._log import EndStatus, RelayLog
    from .web import Authorize, SSESettings

__all__ = ["Relay", "StreamStatus"]

S = TypeVar("S")

ENDS_STREAMS: Final = "relay"
"""The owner of a claim that only ends a stream."""
TRY_AGAIN: Final = 0.02


class StreamStatus(NamedTuple):
    """The status of a stream, without its content.

    `status` is "open", or how the stream ended. `owner` is the writer, and `lease_left` the seconds of its lease;
    negative seconds mean that the writer is dead. `cancel` is the reason of a cancel request that is still open.
    """

    name: str
    cursor: Cursor
    status: str
    owner: str | None
    lease_left: float
    cancel: str | None


@final
class Relay:
    """Streams that survive their writers and their readers.

    Without a log, the streams live in this process. With `RedisLog`, any number of processes share them.

        relay = Relay()

        async with relay.publish("chat-42", Messages()) as out:
            async for chunk in provider:
                await out.send(chunk)

        async for step in relay.follow("chat-42"):
            print(step.state.content)

    If the writer of a stream dies, each process that follows the stream calls `on_stalled` once, with the name, for
    example to put the job into a queue again. `observe` gets the changes of `metrics`. The other parameters are those
    of `RelaySettings`.
    """

    def __init__(
        self,
        log: RelayLog | None = None,
        *,
        settings: RelaySettings | None = None,
        on_stalled: Callable[[str], object] | None = None,
        observe: Callable[[str, float], object] | None = None,
        **changes: float,
    ) -> None:
        if settings is not None and changes:
            raise OptionsError("pass either settings or single settings, not both")
        try:
            self.settings: Final = settings or RelaySettings(**cast("dict[str, Any]", changes))
        except TypeError as error:
            raise OptionsError(str(error).partition("() ")[2] or "unknown setting") from None
        self.log: Final[RelayLog] = MemoryLog() if log is None else log
        if isinstance(self.log, RedisLog) and not math.isfinite(self.settings.lease):
            raise OptionsError("an endless lease is for a log in this process")
        self.metrics: Final = Metrics(observe)
        self._on_stalled = on_stalled
        self._hubs: dict[tuple[asyncio.AbstractEventLoop, str, int], tuple[Hub[Any], Fold[Any] | None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    # ---- writing ----

    @overload
    def publish(
        self, name: str, fold: None = ..., *, owner: str | None = ..., linger: float | None = ...
    ) -> Publisher[MessageState]: ...
    @overload
    def publish(
        self, name: str, fold: Fold[S], *, owner: str | None = ..., linger: float | None = ...
    ) -> Publisher[S]: ...
    def publish(
        self, name: str, fold: Fold[Any] | None = None, *, owner: str | None = None, linger: float | None = None
    ) -> Publisher[Any]:
        """Return a publisher that starts the stream; use it with ``async with``. The default fold is `Messages()`.

        If an earlier writer has died, its stream starts over, and followers get a snapshot of the empty state. Raise
        `HeldError` if the writer lives, and `EndedError` if the stream has ended.
        """
        return self._publisher(name, fold, "new", owner, linger)

    @overload
    def take_over(
        self, name: str, fold: None = ..., *, owner: str | None = ..., linger: float | None = ...
    ) -> Publisher[MessageState]: ...
    @overload
    def take_over(
        self, name: str, fold: Fold[S], *, owner: str | None = ..., linger: float | None = ...
    ) -> Publisher[S]: ...
    def take_over(
        self, name: str, fold: Fold[Any] | None = None, *, owner: str | None = None, linger: float | None = None
    ) -> Publisher[Any]:
        """Return a publisher that goes on where a dead writer stopped: with its `state`, at its `position`.

        This is for sources that can be opened at a position; for any other source, call `publish` again. Raise
        `HeldError` if the writer lives, `EndedError` if the stream has ended, and `GoneError` if it does not exist.
        """
        return self._publisher(name, fold, "resume", owner, linger)

    def _publisher(
        self, name: str, fold: Fold[Any] | None, how: Any, owner: str | None, linger: float | None
    ) -> Publisher[Any]:
        check_name(name)
        if owner is not None and (not isinstance(cast("object", owner), str) or not owner):
            raise OptionsError("owner must be a text, or None")
        fold = Messages() if fold is None else fold
        return Publisher(self.log, name, fold, self.settings, self.metrics, how=how, owner=owner, linger=linger)

    async def create(self, name: str, fold: Fold[Any] | None = None) -> Cursor:
        """Create a stream before its writer claims it, so that followers find it. The writer uses the same fold.

        Raise `HeldError` if a writer has claimed it already.
        """
        content = claim_content(Messages() if fold is None else fold, "", "new")
        settings = self.settings
        return await self.log.claim(check_name(name), "", as_data(content), lease=0, ttl=settings.ttl, force=False)

    async def finish(self, name: str, status: EndStatus = "lost", *, reason: str = "", force: bool = False) -> None:
        """End a stream without a writer. Raise `HeldError` if a writer lives, unless `force` is set."""
        if status not in STATUSES:
            raise OptionsError(f"status must be {' or '.join(sorted(map(repr, STATUSES)))}")
        _check_text("reason", reason)
        log, settings = self.log, self.settings
        if await log.tail(check_name(name)) is None:
            raise GoneError(name)
        content = claim_content(None, ENDS_STREAMS, "resume")
        end = {"status": status, **({"reason": reason} if reason else {})}
        while True:
            try:
                cursor = await claim_stream(log, name, ENDS_STREAMS, content, settings, force=force)
                at = Cursor(cursor.offset + 1, cursor.epoch)
                await log.append(name, at, END, as_data(end), keep=settings.retention)
            except (FencedError, HeldError):
                if not force:
                    raise
            else:
                return
            # Another process has claimed the stream in between, to write it or to end it.
            await asyncio.sleep(random.uniform(0, TRY_AGAIN))  # noqa: S311 - it spreads load, and keeps no secret

    async def cancel(self, name: str, reason: str = "", *, now: bool = False) -> None:
        """Ask the writer to stop. The writer ends the stream as "cancelled"; if it is dead, the relay does.

        With `now`, the relay ends the stream at once, and fences the writer. Do nothing if the stream has ended. Raise
        `GoneError` if it does not exist.
        """
        _check_text("reason", reason)
        self.metrics.add("cancels")
        last = await self.log.tail(check_name(name))
        if last is None:
            raise GoneError(name)
        if last.kind == END:
            return
        if now:
            with suppress(EndedError):
                await self.finish(name, "cancelled", reason=reason, force=True)
            return
        await self.log.ask_to_cancel(name, reason, ttl=self.settings.ttl)
        if not await self._ended_as_cancelled(name, reason):
            self._start(self._end_after_the_lease(name, reason))

    async def _ended_as_cancelled(self, name: str, reason: str) -> bool:
        """End a cancelled stream if its writer is dead. Return whether the stream has ended."""
        try:
            await self.finish(name, "cancelled", reason=reason)
        except (HeldError, FencedError):
            return False
        except (EndedError, GoneError):
            pass
        return True

    async def _end_after_the_lease(self, name: str, reason: str) -> None:
        """End a cancelled stream whose writer dies before it serves the request."""
        with suppress(RelayError):
            while (last := await self.log.tail(name)) is not None and last.kind != END:
                lease = await self.log.lease(name)
                if lease.left <= 0 and await self._ended_as_cancelled(name, reason):
                    return
                await asyncio.sleep(min(max(lease.left, 0.0) + 0.05, self.settings.lease / 3))

    async def once(self, name: str, key: str) -> bool:
        """Return True for the first call with this key in this stream, and False for all others, in every process.

        With the id of a tool call as the key, the tool runs at most once, even if its worker dies.
        """
        _check_text("key", key)
        return await self.log.once(check_name(name), key, ttl=self.settings.ttl)

    # ---- reading ----

    @overload
    def follow(
        self, name: str, fold: None = ..., *, after: Cursor | str | None = ..., wait: float = ...
    ) -> Follower[Any]: ...
    @overload
    def follow(
        self, name: str, fold: Fold[S], *, after: Cursor | str | None = ..., wait: float = ...
    ) -> Follower[S]: ...
    def follow(
        self, name: str, fold: Fold[Any] | None = None, *, after: Cursor | str | None = None, wait: float = 0.0
    ) -> Follower[Any]:
        """Return a follower of the stream, for ``async for``.

        A `fold` must be that of the publisher; its types make the values of the states. Without it, the log names the
        fold, and values are plain. `after` is the cursor of the last step that the caller has seen; an invalid or
        unknown cursor is ignored. `wait` is the time in seconds that a stream may take to begin.
        """
        check_name(name)
        cursor = after if isinstance(after, Cursor) else Cursor.parse(after)
        return Follower(lambda: self._hub(name, fold), cursor, wait)

    def _hub(self, name: str, fold: Fold[Any] | None) -> Hub[Any]:
        """Return the hub of a stream in this event loop."""
        key = (asyncio.get_running_loop(), name, id(fold))
        known = self._hubs.get(key)
        if known is None or known[0].failure is not None:
            if known is None and len(self._hubs) >= self.settings.max_hubs:
                raise FullError(name, "max_hubs", self.settings.max_hubs)
            hub: Hub[Any] = Hub(
                self.log,
                name,
                fold,
                self.settings,
                self.metrics,
                on_stalled=self._stalled,
                on_unserved=lambda name, reason: self._start(self._ended_as_cancelled(name, reason)),
                on_idle=lambda: self._drop(key, hub),
            )
            self._hubs[key] = known = hub, fold  # the fold is kept, so that its id stays its own
        return known[0]

    def sse(
        self,
        name: str,
        request: Request,
        *,
        authorize: Authorize,
        wire: str | Callable[[], Encoder] = "patch",
        fold: Fold[Any] | None = None,
        client: str | None = None,
        settings: SSESettings | None = None,
        abort: Callable[[Request], object] | None = None,
    ) -> Response:
        """Return a response that follows the stream as server-sent events, for Starlette and FastAPI.

        `authorize` is the check of the application: it gets the request and the name, and returns whether this client
        may see this stream. It may be async. If it does not return True, the answer is 403, and the relay does not look
        at the stream.

        `wire` is "patch" for the browser client of this package, "vercel-ui", "vercel-ui-7", "ag-ui" or "openai-chat",
        or a function that makes the `Encoder` of a connection. `client` names the client for the limit
        `SSESettings.per_client`. See `follow` for `fold`.

        The response to a client that does not read ends unfinished. The server may still keep bytes for this client.
        `abort` is called with its request, and can reset the connection.
        """
        from .web import SSESettings, StreamResponse

        chosen = SSESettings() if settings is None else settings
        return StreamResponse(
            self, name, request, authorize=authorize, wire=wire, fold=fold, client=client, settings=chosen, abort=abort
        )

    async def status(self, name: str) -> StreamStatus:
        """Return the status of a stream. Raise `GoneError` if it does not exist."""
        last = await self.log.tail(check_name(name))
        if last is None:
            raise GoneError(name)
        lease = await self.log.lease(name)
        status = str(last.content["status"]) if last.kind == END else "open"
        return StreamStatus(name, last.cursor, status, lease.owner, lease.left, lease.cancel)

    async def drop(self, name: str) -> None:
        """Forget a stream at once, before its retention is over."""
        await self.log.drop(check_name(name))

    @property
    def hubs(self) -> int:
        """The number of streams that are followed in this process."""
        return len(self._hubs)

    def followers(self, name: str | None = None) -> int:
        """Return the number of followers in this process: of one stream, or of all."""
        return sum([hub.followers for (_, known, _), (hub, _) in self._hubs.items() if name is None or known == name])

    def _drop(self, key: Any, hub: Hub[Any]) -> None:
        known = self._hubs.get(key)
        if known is not None and known[0] is hub and hub.followers == 0:
            del self._hubs[key]
        hub.stop()

    def _stalled(self, name: str) -> None:
        if self._on_stalled is not None:
            result = self._on_stalled(name)
            if asyncio.iscoroutine(result):
                self._start(result)

    # ---- closing ----

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Stop reading for the followers of this event loop, and close its connections to the log."""
        loop = asyncio.get_running_loop()
        for key, (hub, _) in list(self._hubs.items()):
            if key[0] is loop:
                del self._hubs[key]
                await hub.close()
        for task in [task for task in self._tasks if task.get_loop() is loop]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self.log.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise OptionsError(f"{name} must be a text")
