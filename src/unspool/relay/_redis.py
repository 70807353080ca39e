"""The log in Redis, for any number of processes: Redis 6.2 or newer, or Valkey. Needs ``unspool[redis]``.

A stream is two keys with one hash tag: its log, which is a Redis stream with the cursors as ids, and a hash with the
owner of the lease, a cancel request and the keys of `once`. The log alone is the truth. Each script writes at most one
command, because a script with several is a transaction in the append-only file, and a torn transaction can swallow
entries that are written after it. So losing the hash loses a lease, a cancel request and the keys of `once`, and no
entry. The hash never outlives the log: a later stream of the same name starts without it.

A command that was refused changes no expiry: the scripts that set one look at the log again.

Redis may lose an answer: then the same command is sent again. That is safe, since an append with the same place does
nothing the second time. The retries of redis-py are off, because they cannot know that.

Each event loop has its own connections: one for commands that write, one for commands that read, and one for every 64
streams that are followed. Commands of all publishers share a pipeline.
"""

from __future__ import annotations

import asyncio
import binascii
import hashlib
import math
import uuid
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast, final

from .._dumps import check
from .._errors import OptionsError
from ._log import (
    BEFORE_ALL,
    CLAIM,
    END,
    Appended,
    Cursor,
    EndedError,
    FencedError,
    GapError,
    GoneError,
    HeldError,
    Lease,
    LogEntry,
    LogError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = tuple[Any, ...]

__all__ = ["RedisLog"]

BUCKETS: Final = 64
SCHEMES: Final = ("redis://", "rediss://", "unix://")
KEYS_PER_READER: Final = 64
PAGE: Final = 256
BACKLOG: Final = 1024
"""The entries that wait for a hub before its stream is left out of the next reading."""
BATCH: Final = 256
"""The commands of one pipeline."""
RETRY_FIRST: Final = 0.02
RETRY_MOST: Final = 0.5
COMMAND_TIMEOUT: Final = 5.0
NUDGE_AGAIN: Final = 0.02
PASSING: Final = (
    *("LOADING", "READONLY", "MISCONF", "OOM", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS"),
)
PASSING_CLASSES: Final = {"ReadOnlyError", "OutOfMemoryError", "TryAgainError", "ClusterDownError", "MasterDownError"}
"""The errors of a server that may be gone in a moment: their codes, and their classes."""

HEAD: Final = """
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local tail, epoch, kind = 0, '0', ''
if last then
  local t, e = string.match(last[1], '^(%d+)-(%d+)$')
  tail, epoch, kind = tonumber(t), e, last[2][2]
end
"""
CLAIM_SCRIPT: Final = (
    HEAD
    + """
if kind == 'e' then return {'ended', last[2][4]} end
local soft = redis.call('HMGET', KEYS[2], 'owner', 'until')
local now = redis.call('TIME')
if last and soft[2] and ARGV[2] ~= '1' and soft[1] ~= ARGV[1] then
  local left = tonumber(soft[2]) - (now[1] * 1000 + math.floor(now[2] / 1000))
  if left > 0 then return {'held', soft[1], left} end
end
local new = math.max(tonumber(epoch) + 1, now[1] * 1000000 + now[2])
local before = '0-0'
if last then before = last[1] end
local id = string.format('%d-%.0f', tail + 1, new)
return {'ok', redis.call('XADD', KEYS[1], id, 'k', 'o', 'd', ARGV[3], 'b', before)}
"""
)
APPEND_SCRIPT: Final = (
    HEAD
    + """
if not last then return {'gone'} end
if epoch ~= ARGV[1] then return {'fenced', last[1]} end
local at = tonumber(ARGV[2])
local cancel = redis.call('HGET', KEYS[2], 'cancel')
if at <= tail then return {'ok', tail, cancel} end
if kind == 'e' then return {'ended', last[2][4]} end
if at > tail + 1 then return {'gap', tail} end
local id = ARGV[2] .. '-' .. ARGV[1]
if ARGV[3] == 's' then redis.call('XADD', KEYS[1], 'MINID', '=', id, id, 'k', 's', 'd', ARGV[4])
else redis.call('XADD', KEYS[1], id, 'k', ARGV[3], 'd', ARGV[4]) end
return {'ok', at, cancel}
"""
)
RENEW_SCRIPT: Final = (
    HEAD
    + """
if not last then return {'gone'} end
if epoch ~= ARGV[1] then return {'fenced', last[1]} end
if kind == 'e' then return {'ended', last[2][4]} end
local now = redis.call('TIME')
local till = now[1] * 1000 + math.floor(now[2] / 1000) + tonumber(ARGV[3])
redis.call('HSET', KEYS[2], 'owner', ARGV[2], 'until', string.format('%.0f', till))
return {'ok', tail, redis.call('HGET', KEYS[2], 'cancel')}
"""
)
NO_LEASE_SCRIPT: Final = (
    HEAD
    + """
if epoch ~= ARGV[1] or kind == 'e' then return 0 end
return redis.call('HDEL', KEYS[2], 'owner', 'until')
"""
)
EXPIRY_SCRIPT: Final = (
    HEAD
    + """
if epoch ~= ARGV[1] or (kind == 'e') ~= (ARGV[2] == '1') then return 0 end
return redis.call('PEXPIRE', KEYS[tonumber(ARGV[3])], ARGV[4])
"""
)
"""Sets the expiry of one of the keys for the writer of an epoch, while the stream is open or after its end."""
FIRST_EXPIRY_SCRIPT: Final = """
if redis.call('PTTL', KEYS[1]) ~= -1 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
"""
SOFT_EXPIRY_SCRIPT: Final = """
local left = redis.call('PTTL', KEYS[1])
if left < 0 then left = ARGV[1] end
return redis.call('PEXPIRE', KEYS[2], left)
"""
CANCEL_SCRIPT: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSET', KEYS[2], 'cancel', ARGV[1])
"""
ONCE_SCRIPT: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[2], ARGV[1])
"""
LEASE_SCRIPT: Final = """
local soft = redis.call('HMGET', KEYS[2], 'owner', 'until', 'cancel')
local now = redis.call('TIME')
local left = 0
if soft[2] then left = tonumber(soft[2]) - (now[1] * 1000 + math.floor(now[2] / 1000)) end
return {soft[1], left, soft[3]}
"""


@final
class RedisLog:
    """A log in Redis. `from_url` makes it.

    `prefix` is the beginning of all keys. `patience` is the time in seconds that a command may take, with all its
    retries, before it raises `LogError`. `block` is the time that a reader waits in the server.
    """

    def __init__(
        self, connect: Callable[..., Any], *, prefix: str = "unspool", patience: float = 10.0, block: float = 5.0
    ) -> None:
        """`connect` returns a new client of `redis.asyncio` for the options that it gets."""
        if "{" in prefix or "}" in prefix:
            raise OptionsError("prefix must not contain braces: the names of streams are spread over hash slots")
        if not (patience > 0 and block > 0):
            raise OptionsError("patience and block must be positive numbers")
        self._connect: Final = connect
        self._prefix: Final = prefix
        self._patience: Final = patience
        self._block: Final = block
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}

    @staticmethod
    def from_url(url: str, *, prefix: str = "unspool", patience: float = 10.0, block: float = 5.0) -> RedisLog:
        """Return the log at a URL such as ``redis://localhost:6379/0``; see `redis.asyncio.Redis.from_url`."""
        from redis.asyncio import Redis  # only this log needs the extra

        if not url.startswith(SCHEMES):
            raise OptionsError(f"a URL of Redis begins with {', '.join(SCHEMES)}")

        def connect(**options: Any) -> Any:
            return cast("Any", Redis).from_url(url, **options)

        try:
            connect().connection_pool.make_connection()  # it connects nowhere yet
        except (TypeError, ValueError) as error:
            raise OptionsError(f"invalid URL of Redis: {error}") from None
        return RedisLog(connect, prefix=prefix, patience=patience, block=block)

    # ---- the log ----

    async def claim(self, name: str, owner: str, data: bytes, *, lease: float, ttl: float, force: bool) -> Cursor:
        """Add an entry "o" with a new epoch, and give the lease to the owner."""
        # A new key gets an expiry in the same pipeline: it would stay forever if this process died here.
        first = ("EVAL", FIRST_EXPIRY_SCRIPT, 1, self._key(name), math.ceil(ttl * 1000))
        answer = await self._script(name, CLAIM_SCRIPT, _bytes(owner), int(force), data, also=(first,))
        verdict = _text(answer[0])
        if verdict == "held":
            raise HeldError(name, _text(answer[1]), float(answer[2]) / 1000)
        if verdict == "ended":
            raise EndedError(name, _status_in(answer))
        cursor = _cursor(answer[1])
        if lease > 0:
            try:
                await self.renew(name, cursor.epoch, owner, lease=lease, ttl=ttl)
            except FencedError:
                winner = await self.lease(name)
                raise HeldError(name, winner.owner or "", max(winner.left, 0.0)) from None
        else:
            expiry = self._expiry(name, ttl, cursor.epoch, is_end=False)
            await self._script(name, NO_LEASE_SCRIPT, cursor.epoch, also=expiry)
        return cursor

    async def append(self, name: str, at: Cursor, kind: str, data: bytes, *, keep: float | None = None) -> Appended:
        """Add an entry at exactly this place; do nothing if it is there already."""
        also = () if keep is None else self._expiry(name, keep, at.epoch, is_end=True)
        return self._appended(name, await self._script(name, APPEND_SCRIPT, at.epoch, at.offset, kind, data, also=also))

    async def renew(self, name: str, epoch: int, owner: str, *, lease: float, ttl: float) -> Appended:
        """Renew the lease and the time to live."""
        lasts = math.ceil(lease * 1000)
        # The hash must exist before its expiry can be set: the script comes first.
        expiry = self._expiry(name, ttl, epoch, is_end=False)
        answer = await self._script(name, RENEW_SCRIPT, epoch, _bytes(owner), lasts, also=expiry)
        return self._appended(name, answer)

    async def read(self, name: str, after: Cursor, count: int) -> Sequence[LogEntry]:
        """Return the first entries after this place: none if there is no such stream."""
        (found,) = await self._reading(name, ("XRANGE", self._key(name), f"({after}", "+", "COUNT", count))
        return [_entry(*each) for each in found or ()]

    async def tail(self, name: str) -> LogEntry | None:
        """Return the last entry; None if there is no such stream."""
        (found,) = await self._reading(name, ("XREVRANGE", self._key(name), "+", "-", "COUNT", 1))
        return _entry(*found[0]) if found else None

    async def find(self, name: str, cursor: Cursor) -> bool:
        """Tell whether the log has exactly this entry."""
        place = str(cursor)
        (found,) = await self._reading(name, ("XRANGE", self._key(name), place, place, "COUNT", 1))
        return bool(found)

    async def lease(self, name: str) -> Lease:
        """Return the lease. If there is no lease, the result has no owner."""
        owner, left, cancel = await self._script(name, LEASE_SCRIPT)
        return Lease(None if owner is None else _text(owner), left / 1000, None if cancel is None else _text(cancel))

    async def ask_to_cancel(self, name: str, reason: str, *, ttl: float) -> None:
        """Store a cancel request, which the next append or renewal returns."""
        await self._script(name, CANCEL_SCRIPT, _bytes(reason), also=(self._soft_expiry(name, ttl),))

    async def once(self, name: str, key: str, *, ttl: float) -> bool:
        """Return True for the first call with this key, and False for all others."""
        # A lost answer must not turn the first call into a second one: a random mark identifies this call.
        mark = uuid.uuid4().hex
        expiry = (self._soft_expiry(name, ttl),)
        holder = await self._script(name, ONCE_SCRIPT, b"once:" + _bytes(key), mark, also=expiry)
        if holder is None:
            raise GoneError(name)
        return _text(holder) == mark

    async def drop(self, name: str) -> None:
        """Forget the stream."""
        await self._writing(name, ("DEL", self._key(name), self._soft(name)))

    def reader(self, name: str, after: Cursor) -> _RedisReader:
        """Return a reader that waits for the entries after this place. The stream need not exist yet."""
        return self._session.reader(self._key(name), after)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.aclose()

    @property
    def connections(self) -> int:
        """The number of connections of the running event loop that wait for entries."""
        return len(self._session.watchers)

    # ---- keys and commands ----

    def _key(self, name: str) -> str:
        bucket = binascii.crc_hqx(name.encode(), 0) % BUCKETS
        return f"{self._prefix}:{{{bucket}}}:{name}"

    def _soft(self, name: str) -> str:
        return f"{self._key(name)}~soft"  # no name has this sign: the key of another stream is never the same

    def _expiry(self, name: str, seconds: float, epoch: int, *, is_end: bool) -> tuple[Command, ...]:
        """Return the commands that set the expiry, if the last entry is of this epoch. The hash expires first."""
        script = ("EVAL", EXPIRY_SCRIPT, 2, self._key(name), self._soft(name), epoch, int(is_end))
        lasts = math.ceil(seconds * 1000)
        return (*script, 2, lasts), (*script, 1, lasts)

    def _soft_expiry(self, name: str, seconds: float) -> Command:
        """Return the command that lets the hash expire with the log."""
        return "EVAL", SOFT_EXPIRY_SCRIPT, 2, self._key(name), self._soft(name), math.ceil(seconds * 1000)

    @property
    def _session(self) -> _Session:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            for known in [known for known in self._sessions if known.is_closed()]:
                del self._sessions[known]
            session = self._sessions[loop] = _Session(self._connect, self._block)
        return session

    async def _script(self, name: str, script: str, *args: Any, also: tuple[Command, ...] = ()) -> Any:
        """Run a script with the keys of the stream, then the other commands. Return the answer of the script."""
        keys_and_args = (2, self._key(name), self._soft(name), *args)
        short = ("EVALSHA", hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest(), *keys_and_args)
        try:
            return (await self._writing(name, short, *also))[0]
        except LogError as error:
            if not _is_unknown_script(error.__cause__):
                raise
        return (await self._writing(name, ("EVAL", script, *keys_and_args), *also))[0]

    async def _writing(self, name: str, *commands: Command) -> list[Any]:
        return await self._until_answered(name, self._session.writing, commands)

    async def _reading(self, name: str, *commands: Command) -> list[Any]:
        return await self._until_answered(name, self._session.reading, commands)

    async def _until_answered(self, name: str, pipeline: _Pipeline, commands: tuple[Command, ...]) -> list[Any]:
        """Send commands until the server answers. All of them may be repeated."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        wait = RETRY_FIRST
        while True:
            try:
                async with asyncio.timeout_at(until):
                    answers = await pipeline.send(commands)
                failure = next((answer for answer in answers if isinstance(answer, Exception)), None)
                if failure is None:
                    return answers
                if not _is_passing(failure):
                    raise LogError(name) from failure
            except _failures() as error:
                failure = error
            except _refusal() as error:  # such as a database that the server does not have
                raise LogError(name) from error
            if loop.time() + wait > until:
                raise LogError(name) from failure
            await asyncio.sleep(wait)
            wait = min(2 * wait, RETRY_MOST)

    def _appended(self, name: str, answer: Any) -> Appended:
        verdict = _text(answer[0])
        if verdict == "ok":
            cancel = answer[2] if len(answer) > 2 else None
            return Appended(int(answer[1]), None if cancel is None else _text(cancel))
        if verdict == "fenced":
            raise FencedError(name, _cursor(answer[1]))
        if verdict == "ended":
            raise EndedError(name, _status_in(answer))
        if verdict == "gap":
            raise GapError(name, int(answer[1]))
        raise GoneError(name)


def _failures() -> tuple[type[Exception], ...]:
    from redis.exceptions import ConnectionError as Unconnected
    from redis.exceptions import TimeoutError as TimedOut

    return Unconnected, TimedOut, OSError, TimeoutError


def _refusal() -> type[Exception]:
    from redis.exceptions import RedisError

    return RedisError


def _is_passing(failure: Exception) -> bool:
    """Tell whether a server may answer otherwise in a moment. redis-py cuts the code off some errors."""
    return (
        isinstance(failure, _failures())
        or type(failure).__name__ in PASSING_CLASSES
        or str(failure).startswith(PASSING)
    )


def _is_unknown_script(error: BaseException | None) -> bool:
    return error is not None and (type(error).__name__ == "NoScriptError" or str(error).startswith("NOSCRIPT"))


def _bytes(text: str) -> bytes:
    """Return a text as bytes. One that redis-py cannot encode would fail all commands of its pipeline."""
    return text.encode("utf-8", "surrogatepass")


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return value.decode("utf-8", "replace")


def _cursor(value: Any) -> Cursor:
    cursor = Cursor.parse(_text(value))
    check(cursor is not None, "the log has an entry with a foreign id")
    return cast("Cursor", cursor)


def _status_in(answer: Any) -> str:
    """Return how a stream ended; the answer has no data if another program wrote the entry."""
    data = answer[1] if len(answer) > 1 else b""
    return str(LogEntry(BEFORE_ALL, END, data if isinstance(data, bytes) else str(data).encode()).content["status"])


def _entry(place: Any, fields: Any) -> LogEntry:
    """Return an entry as Redis has it. Other programs may have written it: everything is checked."""
    if isinstance(fields, (list, tuple)):
        listed = cast("Sequence[Any]", fields)
        fields = dict(zip(listed[::2], listed[1::2], strict=False))
    pairs: dict[Any, Any] = dict(fields) if hasattr(fields, "items") else {}
    known = {_text(field): value for field, value in pairs.items()}
    check({"k", "d"} <= set(known), "the log has an entry without data")
    kind, data = _text(known["k"]), known["d"]
    before = _cursor(known["b"]) if kind == CLAIM and "b" in known else None
    return LogEntry(_cursor(place), kind, data if isinstance(data, bytes) else str(data).encode(), before)


# ---- connections -------------------------------------------------------------------------------------


@final
class _Session:
    """The connections of one event loop."""

    def __init__(self, connect: Callable[..., Any], block: float) -> None:
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        options: dict[str, Any] = {
            "retry": Retry(NoBackoff(), 0),
            "retry_on_error": [],
            "protocol": 2,
            "decode_responses": False,
            "socket_connect_timeout": COMMAND_TIMEOUT,
        }
        self._connect: Callable[[float | None], Any] = lambda timeout: connect(socket_timeout=timeout, **options)
        self._block = block
        self.writing = _Pipeline(self._connect(COMMAND_TIMEOUT))
        self.reading = _Pipeline(self._connect(COMMAND_TIMEOUT))
        self.watchers: list[_Watcher] = []

    def reader(self, key: str, after: Cursor) -> _RedisReader:
        watcher = next((known for known in self.watchers if len(known) < KEYS_PER_READER), None)
        if watcher is None:
            watcher = _Watcher(self._connect(None), self.reading, self._block, self.watchers)
            self.watchers.append(watcher)
        return watcher.add(key, after)

    async def aclose(self) -> None:
        for watcher in list(self.watchers):
            await watcher.aclose()
        await self.writing.aclose()
        await self.reading.aclose()


@final
class _Pipeline:
    """One connection for the commands of many callers: what comes while an answer is awaited goes out together."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._waiting: deque[tuple[tuple[Command, ...], asyncio.Future[list[Any]]]] = deque()
        self._task: asyncio.Task[None] | None = None

    def send(self, commands: tuple[Command, ...]) -> asyncio.Future[list[Any]]:
        """Return the future answers, in order; an answer may be an exception."""
        future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append((commands, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return future

    async def _run(self) -> None:
        while self._waiting:
            batch: list[tuple[tuple[Command, ...], asyncio.Future[list[Any]]]] = []
            while self._waiting and len(batch) < BATCH:
                commands, future = self._waiting.popleft()
                if not future.done():  # its caller has left
                    batch.append((commands, future))
            if not batch:
                continue
            pipeline = self._client.pipeline(transaction=False)
            for commands, _ in batch:
                for command in commands:
                    pipeline.execute_command(*command)
            try:
                answers = await pipeline.execute(raise_on_error=False)
            except Exception as error:  # noqa: BLE001 - every caller gets it
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            start = 0
            for commands, future in batch:
                if not future.done():
                    future.set_result(answers[start : start + len(commands)])
                start += len(commands)

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._client.aclose()


@final
class _Watcher:
    """A connection that waits for new entries of up to 64 streams."""

    def __init__(self, client: Any, commands: _Pipeline, block: float, siblings: list[_Watcher]) -> None:
        self._client = client
        self._commands = commands
        self._block = block
        self._siblings = siblings  # those of the session, with this one
        self._readers: dict[str, set[_RedisReader]] = {}
        self._id: int | None = None  # of the connection in the server
        self._wanted = 0  # counts the changes of the readers
        self._seen = 0  # the last change that the server knows
        self._changed = asyncio.Event()
        self._nudging: asyncio.Task[None] | None = None
        self._task = asyncio.create_task(self._run())

    def __len__(self) -> int:
        return len(self._readers)

    def add(self, key: str, after: Cursor) -> _RedisReader:
        reader = _RedisReader(self, key, after)
        self._readers.setdefault(key, set()).add(reader)
        self.nudge()
        return reader

    def remove(self, reader: _RedisReader) -> None:
        readers = self._readers.get(reader.key)
        if readers is not None:
            readers.discard(reader)
            if not readers:
                del self._readers[reader.key]

    def nudge(self) -> None:
        """Let the server hear of a change of the readers."""
        self._wanted += 1
        self._changed.set()
        if self._nudging is None or self._nudging.done():
            self._nudging = asyncio.create_task(self._unblock())

    async def _unblock(self) -> None:
        """End the reading that is under way. It may not have arrived yet, so this is repeated until it has ended."""
        while self._seen != self._wanted:
            if self._id is not None:
                with suppress(Exception):
                    await self._commands.send((("CLIENT", "UNBLOCK", self._id),))
            await asyncio.sleep(NUDGE_AGAIN)

    async def _run(self) -> None:
        wait = RETRY_FIRST
        while True:
            self._changed.clear()
            seen = self._wanted
            places = {
                key: min(reader.place for reader in readers)
                for key, readers in self._readers.items()
                if all(not reader.is_full for reader in readers)
            }
            if not places:
                self._seen = seen
                try:
                    async with asyncio.timeout(self._block):
                        await self._changed.wait()
                except TimeoutError:
                    if not self._readers:
                        break
                continue
            try:
                if self._id is None:
                    await self._find_id()
                streams = {key: str(place) for key, place in places.items()}
                self._seen = seen
                async with asyncio.timeout(self._block + COMMAND_TIMEOUT):  # the network may be silent, too
                    answer = await self._client.xread(streams, count=PAGE, block=math.ceil(self._block * 1000))
                self._deliver(answer, places)
                wait = RETRY_FIRST
            except Exception:  # noqa: BLE001 - the hubs notice lasting faults; the loop connects again
                self._id = None
                await asyncio.sleep(wait)
                wait = min(2 * wait, RETRY_MOST)
        self._siblings.remove(self)
        if self._nudging is not None:
            self._nudging.cancel()  # there is nobody left to tell
        await self._client.aclose()

    async def _find_id(self) -> None:
        """Ask for the number of this connection. It cannot be asked while it waits."""
        try:
            self._id = int(await self._client.client_id())
        except NotImplementedError:
            self._id = None

    def _deliver(self, answer: Any, places: dict[str, Cursor]) -> None:
        """Hand out the entries after these places."""
        pairs = cast("Any", answer).items() if isinstance(answer, dict) else answer or ()
        for key, found in pairs:
            if found and isinstance(found[0], list) and isinstance(answer, dict):
                found = found[0]
            name = _text(key)
            for reader in list(self._readers.get(name, ())):
                # A reader that came after the question may need earlier entries: the next answer has them.
                if reader.place >= places[name]:
                    reader.deliver(found)

    async def aclose(self) -> None:
        for task in (self._nudging, self._task):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self in self._siblings:
            self._siblings.remove(self)
        await self._client.aclose()


@final
class _RedisReader:
    """A reader of a `RedisLog`."""

    __slots__ = ("_entries", "_failure", "_news", "_watcher", "key", "place")

    def __init__(self, watcher: _Watcher, key: str, after: Cursor) -> None:
        self.key: Final = key
        self.place = after
        """The last entry that came."""
        self._watcher = watcher
        self._entries: list[LogEntry] = []
        self._failure: Exception | None = None
        self._news = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """The backlog of waiting entries has reached its limit."""
        return len(self._entries) >= BACKLOG

    async def next(self, timeout: float) -> Sequence[LogEntry]:
        """Return the entries after those that were returned before; an empty list after `timeout` seconds."""
        if not self._entries and self._failure is None:
            self._news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._news.wait()
        was_full = self.is_full
        found, self._entries = self._entries, []
        if was_full:
            self._watcher.nudge()
        if not found and self._failure is not None:
            raise self._failure
        return found

    def deliver(self, found: Sequence[Any]) -> None:
        """Take what a reading has found; it may have begun at an earlier place, for another reader."""
        try:
            for place, fields in found:
                entry = _entry(place, fields)
                if entry.cursor > self.place:
                    self._entries.append(entry)
                    self.place = entry.cursor
        except Exception as error:  # noqa: BLE001 - the hub raises it
            self._failure = error
        self._news.set()

    def close(self) -> None:
        """Stop waiting."""
        self._watcher.remove(self)
