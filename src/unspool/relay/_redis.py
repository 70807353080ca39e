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
streams that are followed. redis-py makes them: it connects, authenticates and reads the answers. On top of that, the
commands of all publishers share a connection without waiting for each other, and a command goes out in the same turn of
the event loop in which it is given. The clients of redis-py would take several turns, and one task, per command.
"""

from __future__ import annotations

import asyncio
import binascii
import hashlib
import math
import uuid
from collections import deque
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast, final

from .._dumps import check
from .._errors import OptionsError
from ._log import (
    BEFORE_ALL,
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
    from collections.abc import Callable, Coroutine, Sequence

    from ._log import LogListener

    Command = tuple[Any, ...]

__all__ = ["RedisLog"]

BUCKETS: Final = 64
SCHEMES: Final = ("redis://", "rediss://", "unix://")
KEYS_PER_READER: Final = 64
KEYS_REMEMBERED: Final = 1024
PAGE: Final = 256
RETRY_FIRST: Final = 0.02
RETRY_MOST: Final = 0.5
COMMAND_TIMEOUT: Final = 5.0
NUDGE_AGAIN: Final = 0.02
PASSING: Final = (
    *("LOADING", "READONLY", "MISCONF", "OOM", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS"),
)
PASSING_CLASSES: Final = {"ReadOnlyError", "OutOfMemoryError", "TryAgainError", "ClusterDownError", "MasterDownError"}
"""The errors of a server that may be gone in a moment: their codes, and their classes."""


@final
class _Script:
    """A Lua script, and the digest by which a server knows it."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self.digest: Final = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


HEAD: Final = """
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local tail, epoch, kind = 0, '0', ''
if last then
  local t, e = string.match(last[1], '^(%d+)-(%d+)$')
  tail, epoch, kind = tonumber(t), e, last[2][2]
end
"""
CLAIM_SCRIPT: Final = _Script(
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
APPEND_SCRIPT: Final = _Script("""
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return {'gone'} end
local kind = last[2][2]
if last[1] == ARGV[1] and kind ~= 'e' then
  if ARGV[3] == 's' then redis.call('XADD', KEYS[1], 'MINID', '=', ARGV[2], ARGV[2], 'k', 's', 'd', ARGV[4])
  else redis.call('XADD', KEYS[1], ARGV[2], 'k', ARGV[3], 'd', ARGV[4]) end
  return {'ok', tonumber(ARGV[6]), redis.call('HGET', KEYS[2], 'cancel')}
end
local tail, epoch = string.match(last[1], '^(%d+)-(%d+)$')
if epoch ~= ARGV[5] then return {'fenced', last[1]} end
if tonumber(ARGV[6]) <= tonumber(tail) then
  return {'ok', tonumber(tail), redis.call('HGET', KEYS[2], 'cancel')}
end
if kind == 'e' then return {'ended', last[2][4]} end
return {'gap', tonumber(tail)}
""")
"""Adds an entry behind the one that it follows. The usual case comes first: a script is slow where a server is idle."""
RENEW_SCRIPT: Final = _Script(
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
NO_LEASE_SCRIPT: Final = _Script(
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
CANCEL_SCRIPT: Final = _Script("""
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSET', KEYS[2], 'cancel', ARGV[1])
""")
ONCE_SCRIPT: Final = _Script("""
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[2], ARGV[1])
""")
LEASE_SCRIPT: Final = _Script("""
local soft = redis.call('HMGET', KEYS[2], 'owner', 'until', 'cancel')
local now = redis.call('TIME')
local left = 0
if soft[2] then left = tonumber(soft[2]) - (now[1] * 1000 + math.floor(now[2] / 1000)) end
return {soft[1], left, soft[3]}
""")


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
        return self._appended(name, await self._script(name, APPEND_SCRIPT, *_append_args(at, kind, data), also=also))

    async def post(self, name: str, at: Cursor, kind: str, data: bytes) -> Coroutine[Any, Any, Appended]:
        """Send an entry on its way, and return its answer, which the caller awaits later."""
        args = _append_args(at, kind, data)
        sent = await self._session.writing.ask((self._short(name, APPEND_SCRIPT, args),))
        return self._answered(name, args, sent)

    async def _answered(self, name: str, args: tuple[Any, ...], sent: asyncio.Future[list[Any]]) -> Appended:
        return self._appended(name, await self._script(name, APPEND_SCRIPT, *args, sent=sent))

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

    def reader(self, name: str, after: Cursor, listener: LogListener) -> _RedisReader:
        """Return a reader that hands the entries after this place to a listener. The stream need not exist yet."""
        return self._session.reader(self._key(name), after, listener)

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
        return _keys(self._prefix, name)[0]

    def _soft(self, name: str) -> str:
        return _keys(self._prefix, name)[1]

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

    def _short(self, name: str, script: _Script, args: tuple[Any, ...]) -> Command:
        """Return the command for a script that the server knows."""
        return ("EVALSHA", script.digest, 2, *_keys(self._prefix, name), *args)

    async def _script(
        self,
        name: str,
        script: _Script,
        *args: Any,
        also: tuple[Command, ...] = (),
        sent: asyncio.Future[list[Any]] | None = None,
    ) -> Any:
        """Run a script with the keys of the stream, then the other commands. Return the answer of the script.

        `sent` has the answers to come, if the commands are on their way already.
        """
        short = self._short(name, script, args)
        try:
            return (await self._until_answered(name, self._session.writing, (short, *also), sent))[0]
        except LogError as error:
            if not _is_unknown_script(error.__cause__):
                raise
        return (await self._writing(name, ("EVAL", script.text, *short[2:]), *also))[0]

    async def _writing(self, name: str, *commands: Command) -> list[Any]:
        return await self._until_answered(name, self._session.writing, commands)

    async def _reading(self, name: str, *commands: Command) -> list[Any]:
        return await self._until_answered(name, self._session.reading, commands)

    async def _until_answered(
        self, name: str, line: _Line, commands: tuple[Command, ...], sent: asyncio.Future[list[Any]] | None = None
    ) -> list[Any]:
        """Send commands until the server answers. All of them may be repeated."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        wait = RETRY_FIRST
        while True:
            try:
                async with asyncio.timeout_at(until):
                    answers = await (await line.ask(commands) if sent is None else sent)
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
            sent = None
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


@lru_cache(maxsize=KEYS_REMEMBERED)
def _keys(prefix: str, name: str) -> tuple[str, str]:
    """Return the key of a log and that of its hash, which are in one slot of a cluster."""
    bucket = binascii.crc_hqx(name.encode(), 0) % BUCKETS
    key = f"{prefix}:{{{bucket}}}:{name}"
    return key, f"{key}~soft"  # no name has this sign: the key of another stream is never the same


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


def _append_args(at: Cursor, kind: str, data: bytes) -> tuple[Any, ...]:
    return (f"{at.offset - 1}-{at.epoch}", str(at), kind, data, at.epoch, at.offset)


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


def _entry(place: bytes, fields: Sequence[bytes]) -> LogEntry:
    """Return an entry as Redis has it. Other programs may have written it: everything is checked."""
    known = dict(zip(fields[::2], fields[1::2], strict=False))
    kind, data = known.get(b"k"), known.get(b"d")
    if kind is None or data is None:
        check(False, "the log has an entry without data")
    cursor, before = _cursor(place), None
    if kind == b"o" and b"b" in known:
        before = _cursor(known[b"b"])
    return LogEntry(cursor, _text(kind), cast("bytes", data), before)


# ---- connections -------------------------------------------------------------------------------------


@final
class _Session:
    """The connections of one event loop."""

    def __init__(self, connect: Callable[..., Any], block: float) -> None:
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        client = connect(
            retry=Retry(NoBackoff(), 0),
            retry_on_error=[],
            protocol=2,
            decode_responses=False,
            socket_connect_timeout=COMMAND_TIMEOUT,
            socket_timeout=None,  # `_Line` and `_Watcher` have time limits of their own
        )
        self._pool = client.connection_pool  # it makes connections; they stay out of it
        self._block = block
        self.writing = _Line(self._pool)
        self.reading = _Line(self._pool)
        self.watchers: list[_Watcher] = []

    def reader(self, key: str, after: Cursor, listener: LogListener) -> _RedisReader:
        watcher = next((known for known in self.watchers if len(known) < KEYS_PER_READER), None)
        if watcher is None:
            watcher = _Watcher(self._pool, self.reading, self._block, self.watchers)
            self.watchers.append(watcher)
        return watcher.add(key, after, listener)

    async def aclose(self) -> None:
        for watcher in list(self.watchers):
            await watcher.aclose()
        await self.writing.aclose()
        await self.reading.aclose()


def _packed(commands: Sequence[Command]) -> bytes:
    """Return commands as the server reads them."""
    parts: list[bytes] = []
    for command in commands:
        parts.append(b"*%d\r\n" % len(command))
        for word in command:
            data = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _disconnect(connection: Any) -> None:
    with suppress(Exception):  # it may be broken already
        await connection.disconnect(nowait=True)


@final
class _Question:
    """Commands that were given together, and the answers so far."""

    __slots__ = ("answers", "asked_at", "commands", "future")

    def __init__(self, commands: Sequence[Command], loop: asyncio.AbstractEventLoop) -> None:
        self.commands: Final = commands
        self.future: Final[asyncio.Future[list[Any]]] = loop.create_future()
        self.answers: list[Any] = []
        self.asked_at: Final = loop.time()

    def take(self, answer: Any) -> bool:
        """Take the next answer. Return True after the last one."""
        self.answers.append(answer)
        if len(self.answers) < len(self.commands):
            return False
        if not self.future.done():  # its caller may have left
            self.future.set_result(self.answers)
        return True

    def fail(self, error: Exception) -> None:
        """Give no more answers, for this reason."""
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # the caller may have left: asyncio must not report it


@final
class _Line:
    """One connection for the commands of many callers: they go out at once, and the answers come in their order.

    A failure of the connection is the answer to everything that is under way. The next command connects again.
    """

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._connection: Any = None  # once it is open
        self._waiting: deque[_Question] = deque()  # for the connection
        self._asked: deque[_Question] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._is_silent = False
        self._is_closed = False
        self._task: asyncio.Task[None] | None = None

    async def ask(self, commands: Sequence[Command]) -> asyncio.Future[list[Any]]:
        """Send commands, and return their future answers, in order; an answer may be an exception.

        This waits only while the socket takes no more bytes. If the caller is cancelled meanwhile, redis-py ends the
        connection.
        """
        question = _Question(commands, self._loop)
        connection = self._connection
        if connection is not None and connection.is_connected:
            await self._send(connection, (question,))
        elif self._is_closed:
            question.fail(_refusal()("the log was closed"))
        else:
            self._waiting.append(question)
            if self._task is None or self._task.done():
                self._task = self._loop.create_task(self._run())
        return question.future

    async def _send(self, connection: Any, questions: Sequence[_Question]) -> None:
        self._asked.extend(questions)  # in the same turn as the bytes, because the answers come in this order
        if self._timer is None:
            self._timer = self._loop.call_later(COMMAND_TIMEOUT, self._look)
        packed = _packed([command for question in questions for command in question.commands])
        try:
            await connection.send_packed_command(packed, check_health=False)
        except Exception as error:  # noqa: BLE001 - the callers get it
            for question in questions:
                question.fail(error)

    async def _run(self) -> None:
        """Connect, send what waits, and read answers until the connection ends."""
        from redis.exceptions import ResponseError

        failure: Exception = ConnectionError("the connection was closed")
        connection = self._pool.make_connection()
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT):
                await connection.connect()
            self._connection = connection
            questions = tuple(self._waiting)
            self._waiting.clear()
            await self._send(connection, questions)
            while True:
                try:
                    answer = await connection.read_response()
                except ResponseError as refusal:
                    answer = refusal
                if self._asked[0].take(answer):
                    self._asked.popleft()
        except asyncio.CancelledError:
            if not self._is_silent:
                raise
            failure = TimeoutError("the server does not answer")
        except Exception as error:  # noqa: BLE001 - the callers get it
            failure = error
        finally:
            self._connection, self._task, self._is_silent = None, None, False
            for under_way in (self._asked, self._waiting):
                while under_way:
                    under_way.popleft().fail(failure)
            await _disconnect(connection)

    def _look(self) -> None:
        """End the connection if an answer is overdue."""
        self._timer = None
        if not self._asked:
            return
        left = self._asked[0].asked_at + COMMAND_TIMEOUT - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        elif self._task is not None:
            self._is_silent = True
            self._task.cancel()

    async def aclose(self) -> None:
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            await _ended(self._task)


@final
class _Watcher:
    """A connection that waits for new entries of up to 64 streams."""

    def __init__(self, pool: Any, commands: _Line, block: float, siblings: list[_Watcher]) -> None:
        self._pool = pool
        self._commands = commands
        self._block = block
        self._siblings = siblings  # those of the session, with this one
        self._readers: dict[str, set[_RedisReader]] = {}
        self._id: int | None = None  # of the connection in the server
        self._wanted = 0  # counts the readers that were added
        self._seen = 0  # how many of them the server knows
        self._changed = asyncio.Event()
        self._nudging: asyncio.Task[None] | None = None
        self._wait = RETRY_FIRST
        self._task = asyncio.create_task(self._run())

    def __len__(self) -> int:
        return len(self._readers)

    def add(self, key: str, after: Cursor, listener: LogListener) -> _RedisReader:
        reader = _RedisReader(self, key, after, listener)
        self._readers.setdefault(key, set()).add(reader)
        self._wanted += 1
        self._changed.set()
        if self._nudging is None or self._nudging.done():
            self._nudging = asyncio.create_task(self._unblock())
        return reader

    def remove(self, reader: _RedisReader) -> None:
        readers = self._readers.get(reader.key)
        if readers is not None:
            readers.discard(reader)
            if not readers:
                del self._readers[reader.key]

    async def _unblock(self) -> None:
        """End the reading that is under way. It may not have arrived yet, so this is repeated until it has ended."""
        while self._seen != self._wanted:
            if self._id is not None:
                with suppress(Exception):
                    await (await self._commands.ask((("CLIENT", "UNBLOCK", self._id),)))
            await asyncio.sleep(NUDGE_AGAIN)

    async def _run(self) -> None:
        """Read until there has been no reader for a while. A broken connection is replaced."""
        is_wanted = True
        while is_wanted:
            connection = self._pool.make_connection()
            try:
                async with asyncio.timeout(COMMAND_TIMEOUT) as limit:  # the network may be silent, too
                    await connection.connect()
                    await self._find_id(connection)
                    await self._read(connection, limit)
                    self._siblings.remove(self)  # in the turn of the last look: no reader comes after it
                    if self._nudging is not None:
                        self._nudging.cancel()  # no reader is left to tell
                    is_wanted = False
            except Exception:  # noqa: BLE001 - the hubs notice lasting faults; the loop connects again
                await asyncio.sleep(self._wait)
                self._wait = min(2 * self._wait, RETRY_MOST)
            finally:
                self._id = None
                await _disconnect(connection)

    async def _find_id(self, connection: Any) -> None:
        """Ask for the number of this connection. It cannot be asked while it waits."""
        await connection.send_packed_command(_packed((("CLIENT", "ID"),)), check_health=False)
        self._id = int(await connection.read_response())

    async def _read(self, connection: Any, limit: asyncio.Timeout) -> None:
        """Hand over entries until there has been no reader for a while."""
        loop = asyncio.get_running_loop()
        options = ("COUNT", PAGE, "BLOCK", math.ceil(self._block * 1000), "STREAMS")
        while True:
            self._changed.clear()
            self._seen = self._wanted
            places = {key: min([reader.place for reader in readers]) for key, readers in self._readers.items()}
            limit.reschedule(loop.time() + self._block + COMMAND_TIMEOUT)
            if places:
                command = ("XREAD", *options, *places, *places.values())
                await connection.send_packed_command(_packed((command,)), check_health=False)
                for key, found in await connection.read_response() or ():
                    name = _text(key)
                    for reader in tuple(self._readers.get(name, ())):
                        # A reader that came after the question may need earlier entries: the next answer has them.
                        if reader.place >= places[name]:
                            reader.take(found)
                self._wait = RETRY_FIRST
                await asyncio.sleep(0)  # the followers first: the next command costs as much as a step of theirs
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._block):
                    await self._changed.wait()
            if not self._readers:
                return

    async def aclose(self) -> None:
        for task in (self._nudging, self._task):
            if task is not None:
                await _ended(task)
        if self in self._siblings:
            self._siblings.remove(self)


@final
class _RedisReader:
    """A reader of a `RedisLog`."""

    __slots__ = ("_listener", "_watcher", "key", "place")

    def __init__(self, watcher: _Watcher, key: str, after: Cursor, listener: LogListener) -> None:
        self.key: Final = key
        self.place = after
        """The last entry that came."""
        self._listener = listener
        self._watcher = watcher

    def take(self, found: Sequence[Any]) -> None:
        """Hand over what is new in a reading, which may have begun at an earlier place for another reader."""
        entries: list[LogEntry] = []
        failure: Exception | None = None
        try:
            for place, fields in found:
                entry = _entry(place, fields)
                if entry.cursor > self.place:
                    entries.append(entry)
                    self.place = entry.cursor
        except Exception as error:  # noqa: BLE001 - the listener gets it
            failure = error
        self._listener.take(entries)
        if failure is not None:
            self.close()
            self._listener.fail(failure)

    def close(self) -> None:
        """Stop waiting."""
        self._watcher.remove(self)
