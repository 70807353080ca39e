"""What a log keeps, how long, and for whom: in memory and in Redis (law 34). No test here waits for an expiry."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from tests.support.redis_server import RedisServer, needs_redis
from tests.support.relays import (
    PATIENCE,
    QUICK,
    Seen,
    Worker,
    chunks,
    collect,
    expire_lease,
    kill,
    lasts,
    relays,
    until,
    words,
)
from unspool import OptionsError, StateError
from unspool.relay import (
    Cursor,
    EndedError,
    FencedError,
    GapError,
    GoneError,
    HeldError,
    LogError,
    MemoryLog,
    Publisher,
    RedisLog,
    Relay,
    RelayError,
    Stalled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.relay import LogEntry

MakeLog = Any
BEFORE_ALL: Final = Cursor(0, 0)
LONG: Final = 5000.0
SHORT: Final = 1000.0
BARE: Final = b'{"v":1,"how":"new"}'


# ---- how long a stream is kept ----


@pytest.mark.parametrize(("ttl", "retention"), [(SHORT, LONG), (LONG, SHORT)])
def test_nothing_changes_the_retention_of_a_stream_that_has_ended(
    make_log: MakeLog, ttl: float, retention: float
) -> None:
    """A late cancel, a late writer and a late tool call leave it as it is."""

    async def run() -> None:
        async with relays(make_log, ttl=ttl, retention=retention) as (relay,):
            async with relay.publish("s") as out:
                await out.send(chunks(1)[0])
            await relay.cancel("s", "late")
            await relay.cancel("s", now=True)
            assert await relay.once("s", "key")
            for late in (relay.publish("s"), relay.take_over("s")):
                with pytest.raises(EndedError):
                    await late.__aenter__()
            with pytest.raises(EndedError):
                await relay.create("s")
            with pytest.raises(EndedError):
                await relay.log.renew("s", out.cursor.epoch, out.owner, lease=1, ttl=ttl)
            left = await lasts(relay.log, "s")
            assert retention - 500 < left <= retention
            assert (await relay.status("s")).cancel is None

    asyncio.run(run())


def test_a_fenced_writer_does_not_shorten_the_stream_of_another(make_log: MakeLog) -> None:
    """Its end is refused, and so is the time that a finished stream is kept."""

    async def run() -> None:
        async with (
            relays(make_log, retention=0.001, lease=SHORT) as (first,),
            relays(make_log, ttl=LONG, lease=SHORT) as (second,),
        ):
            async with Worker(first, "s") as old:
                await old.send(chunks(1)[0])
                await old.flush()
            await first.log.renew("s", old.cursor.epoch, old.owner, lease=0, ttl=LONG)
            async with second.take_over("s") as out:
                with pytest.raises(FencedError):
                    await old._finish(None, None)
                for refused in (
                    first.publish("s").__aenter__(),
                    first.log.renew("s", old.cursor.epoch, old.owner, lease=1, ttl=0.001),
                ):
                    with pytest.raises((HeldError, FencedError)):
                        await refused
                assert await lasts(second.log, "s") > LONG - 500
                await out.send(chunks(1)[-1])
            assert (await collect(second.follow("s"))).state.content == words(1)

    asyncio.run(run())


@needs_redis
def test_what_is_kept_beside_a_log_expires_with_it(redis: RedisServer) -> None:
    """Otherwise a new stream of the same name would begin with the cancel request and the tool calls of the old one."""

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="beside")
        relay = Relay(log, linger=0, ttl=LONG, retention=SHORT)

        async def left() -> tuple[int, int]:
            found = await log._reading("s", ("PTTL", log._key("s")), ("PTTL", log._soft("s")))
            return found[0], found[1]

        await relay.create("s")
        await relay.once("s", "before")
        of_log, beside = await left()
        assert 0 < beside <= of_log
        async with relay.publish("s") as out:
            await out.send(chunks(1)[0])
            of_log, beside = await left()
            assert 0 < beside <= of_log
            assert of_log > 1000 * SHORT
        await relay.once("s", "after")
        await log.ask_to_cancel("s", "late", ttl=LONG)
        of_log, beside = await left()
        assert 0 < beside <= of_log <= 1000 * SHORT
        await relay.drop("s")
        await log.ask_to_cancel("s", "nobody", ttl=LONG)
        with pytest.raises(GoneError):
            await relay.once("s", "nobody")
        assert (await log.lease("s")).cancel is None
        await relay.aclose()

    asyncio.run(run())


@needs_redis
def test_no_stream_is_stored_where_another_one_keeps_its_lease(redis: RedisServer) -> None:
    """Names of users may look like anything."""

    async def run() -> None:
        relay = Relay(RedisLog.from_url(redis.url, prefix="names"), linger=0)
        for name in ("chat-22", "chat-22:soft"):  # both are in one slot
            async with relay.publish(name) as out:
                await out.send(chunks(1)[0])
        for name in ("chat-22", "chat-22:soft"):
            assert (await collect(relay.follow(name))).state.content == words(1)
        await relay.aclose()

    asyncio.run(run())


def test_a_stream_that_was_dropped_is_not_shown_again(make_log: MakeLog) -> None:
    """A process that has shown its end looks again before it shows it to the next follower."""

    async def run() -> None:
        async with relays(make_log, hub_idle=60) as (relay,):
            for count in (1, 3):
                async with relay.publish("s") as out:
                    for chunk in chunks(count):
                        await out.send(chunk)
                for _ in range(2):
                    found = await asyncio.gather(*[collect(relay.follow("s")) for _ in range(3)])
                    assert {seen.state.content for seen in found} == {words(count)}
                assert relay.hubs == 1
                await relay.drop("s")
                with pytest.raises(GoneError):
                    await anext(relay.follow("s"))

    asyncio.run(run())


class Arrivals:
    """A listener that keeps the places of the entries that it gets."""

    def __init__(self) -> None:
        self.places: list[Cursor] = []

    def take(self, entries: Sequence[LogEntry]) -> None:
        self.places += [entry.cursor for entry in entries]

    def fail(self, error: Exception) -> None:
        raise error


@needs_redis
def test_a_new_reader_gets_each_entry_behind_its_own_place(redis: RedisServer) -> None:
    """The connection may wait already, for entries behind a later place: that answer is not for the new reader."""
    from redis import Redis

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="readers", block=PATIENCE)
        first = await log.claim("s", "a", BARE, lease=0, ttl=LONG, force=False)
        second, third = (first._replace(offset=offset) for offset in (2, 3))
        await log.append("s", second, "d", b"{}")
        known, new = Arrivals(), Arrivals()
        log.reader("s", second, known)
        with Redis(port=redis.port) as other:
            await until(lambda: any("b" in client["flags"] for client in other.client_list()))
            log.reader("s", BEFORE_ALL, new)
            # The server answers before it can hear of the new reader.
            other.xadd(log._key("s"), {"k": "d", "d": b"{}"}, id=str(third))
        await until(lambda: bool(known.places and new.places[2:]))
        assert (known.places, new.places) == ([third], [first, second, third])
        await log.aclose()

    asyncio.run(run())


@needs_redis
def test_a_connection_without_readers_leaves_no_task(redis: RedisServer) -> None:
    """Also where the server has not answered the last word about its readers, and then the log is closed."""

    class Silent:
        """Takes commands, and never answers."""

        async def ask(self, commands: object) -> asyncio.Future[Any]:
            sent.append(commands)
            return asyncio.get_running_loop().create_future()

    sent: list[object] = []

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="silent", block=0.01)
        readers = [log.reader("one", BEFORE_ALL, Arrivals())]
        (watcher,) = log._session.watchers
        await until(lambda: watcher._nudging is not None and watcher._nudging.done())
        cast("Any", watcher)._commands = Silent()
        while not sent:  # unless the reading that is under way has ended before
            readers.append(log.reader("two", BEFORE_ALL, Arrivals()))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        for reader in readers:
            reader.close()
        await until(watcher._task.done)
        await log.aclose()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_a_relay_that_is_closed_leaves_no_task(make_log: MakeLog) -> None:
    """Also where the last follower of a stream has left just before."""

    async def run() -> None:
        relay = Relay(make_log(), **{**QUICK, "hub_idle": 0.0})
        await relay.create("s")
        follower = relay.follow("s")
        await anext(follower)
        await follower.aclose()
        while relay.hubs:
            await asyncio.sleep(0)
        await relay.aclose()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


class Between:
    """A log on which something happens between the look of a writer and its claim."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def claim(self, name: str, *args: Any, **options: Any) -> Cursor:
        await self._log.drop(name)
        return await self._log.claim(name, *args, **options)


def test_fault_12_a_stream_that_expires_is_not_made_again_without_its_beginning() -> None:
    """F12: the stream expires just when it is taken over, or ended: it is gone, and nothing of it is left."""

    async def run() -> None:
        relay = Relay(Between(MemoryLog()), linger=0)
        for act in (relay.take_over("s").__aenter__, lambda: relay.finish("s")):
            await relay.create("s")
            with pytest.raises(GoneError):
                await act()
            with pytest.raises(GoneError):
                await relay.status("s")
        await relay.aclose()

    asyncio.run(run())


# ---- who may write ----


def test_a_created_stream_has_no_owner(make_log: MakeLog) -> None:
    """Not even the dead one that it had before."""

    async def run() -> None:
        log = make_log()
        cursor = await log.claim("s", "a", BARE, lease=SHORT, ttl=LONG, force=False)
        await log.renew("s", cursor.epoch, "a", lease=0, ttl=LONG)
        assert (await log.lease("s")).owner == "a"
        await log.claim("s", "", BARE, lease=0, ttl=LONG, force=False)
        found = await log.lease("s")
        assert (found.owner, found.left, found.cancel) == (None, 0.0, None)
        assert await lasts(log, "s") > LONG - 500
        await log.aclose()

    asyncio.run(run())


def test_law_34_each_verdict_of_an_append(make_log: MakeLog) -> None:
    """Added, there already, a gap, fenced, ended, gone: in this order of a life, and whether posted or appended."""

    async def run(is_posted: bool) -> None:
        log, name = make_log(), f"verdicts-{is_posted}"

        async def append(offset: int, epoch: int, kind: str = "d") -> str:
            data = b'{"status":"done"}' if kind == "e" else b'{"x":[]}'
            try:
                if is_posted:
                    answer = await (await log.post(name, Cursor(offset, epoch), kind, data))
                else:
                    answer = await log.append(name, Cursor(offset, epoch), kind, data)
            except GapError as error:
                return f"gap {error.tail}"
            except RelayError as error:
                return type(error).__name__
            return f"{answer.tail} {answer.cancel}"

        assert await append(1, 1) == "GoneError"
        first = await log.claim(name, "a", BARE, lease=SHORT, ttl=LONG, force=False)
        assert [await append(offset, first.epoch) for offset in (2, 3, 3, 2, 5)] == [
            *("2 None", "3 None", "3 None", "3 None", "gap 3"),
        ]
        await log.ask_to_cancel(name, "enough", ttl=LONG)
        assert [await append(offset, first.epoch) for offset in (4, 2)] == ["4 enough", "4 enough"]
        second = await log.claim(name, "b", BARE, lease=SHORT, ttl=LONG, force=True)
        assert [await append(offset, first.epoch) for offset in (3, 5, 6, 9)] == ["FencedError"] * 4
        assert await append(6, second.epoch, "s") == "6 enough"
        assert [entry.kind for entry in await log.read(name, Cursor(0, 0), 9)] == ["s"]
        assert await append(7, second.epoch, "e") == "7 enough"
        assert [
            await append(offset, second.epoch, kind) for offset, kind in ((7, "e"), (8, "d"), (8, "e"), (9, "s"))
        ] == [
            *("7 enough", "EndedError", "EndedError", "EndedError"),
        ]
        await log.drop(name)
        assert await append(8, second.epoch) == "GoneError"
        await log.aclose()

    asyncio.run(run(is_posted=False))
    asyncio.run(run(is_posted=True))


def test_law_30_many_devices_may_cancel_at_once(make_log: MakeLog) -> None:
    """Each of them succeeds, and the stream has one end, also if its writer goes on meanwhile."""

    async def run() -> None:
        async with relays(make_log, 6) as made:
            for number in range(5):
                name = f"s{number}"
                await made[0].create(name)
                worker = Worker(made[0], name)
                if number % 2:
                    await worker.__aenter__()
                await asyncio.gather(*[relay.cancel(name, "enough", now=True) for relay in made])
                found = await made[0].status(name)
                assert found.status == "cancelled"
                entries = await made[0].log.read(name, Cursor(0, 0), 99)
                assert [entry.kind for entry in entries].count("e") == 1
                await worker.__aexit__()

    asyncio.run(run())


def test_law_30_a_follower_ends_what_nobody_else_can(make_log: MakeLog) -> None:
    """The process that asked is dead, and then the writer dies, too: a process that follows the stream ends it."""

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading):
            async with Worker(writing, "s") as out:
                await out.send(chunks(1)[0])
                await out.flush()
                await writing.log.ask_to_cancel("s", "enough", ttl=LONG)
                follower = reading.follow("s")
                seen = Seen.of(await anext(follower))
            await expire_lease(writing.log, "s")
            async with asyncio.timeout(PATIENCE):
                await collect(follower, seen)
            assert (seen.status, seen.steps[-1].detail["reason"]) == ("cancelled", "enough")

    asyncio.run(run())


def test_law_30_a_stream_without_followers_ends_too(make_log: MakeLog) -> None:
    """The writer dies before it hears of the request: the process that asked ends the stream after the lease."""

    async def run() -> None:
        async with relays(make_log, 2, lease=0.5) as (writing, asking):
            async with Worker(writing, "s"):
                pass
            await asking.cancel("s", "enough")
            async with asyncio.timeout(PATIENCE):
                while (await asking.status("s")).status == "open":
                    await asyncio.sleep(0.02)
            assert (await asking.status("s")).status == "cancelled"

    asyncio.run(run())


def test_any_text_is_a_reason_and_a_key(make_log: MakeLog) -> None:
    """The id of a call comes from a model: it may hold half a surrogate pair. What is no text is refused at once."""

    async def run() -> None:
        async with relays(make_log, lease=SHORT) as (relay,):
            await relay.create("s")
            for key in ("\ud800", "ä\0\n", ""):
                assert await relay.once("s", key)
                assert not await relay.once("s", key)
            wrong: Any
            for wrong in (None, 1, b"x"):
                for refused in (relay.once("s", wrong), relay.cancel("s", wrong), relay.finish("s", reason=wrong)):
                    with pytest.raises(OptionsError):
                        await refused
            async with Worker(relay, "s"):
                await relay.cancel("s", "half \ud83d")
                assert (await relay.status("s")).cancel == "half \ud83d"
            await relay.cancel("s", "half \ud83d", now=True)
            seen = await collect(relay.follow("s"))
            assert (seen.status, seen.steps[-1].detail["reason"]) == ("cancelled", "half \ud83d")

    asyncio.run(run())


# ---- the dead ----


def test_law_31_a_writer_that_dies_twice_is_noticed_twice() -> None:
    """A writer that was late comes back without an entry. Later it dies: the application is called again."""

    async def run() -> None:
        now = 0.0
        called: list[str] = []
        log = MemoryLog(clock=lambda: now)
        relay = Relay(log, linger=0, lease=10, ttl=LONG, idle_check=0.01, on_stalled=called.append)
        async with Worker(relay, "s") as out:
            await out.send(chunks(1)[0])
            await out.flush()
        seen = Seen()
        reading = asyncio.create_task(collect(relay.follow("s"), seen))

        def has_been_told(times: int) -> bool:
            return (len(called), seen.stalls) == (times, times)

        def sees_a_writer() -> bool:
            ((hub, _),) = relay._hubs.values()
            return hub._stall is None

        for turn in (1, 2):
            now += 20
            await until(partial(has_been_told, turn))
            await log.renew("s", out.cursor.epoch, out.owner, lease=10, ttl=LONG)
            await until(sees_a_writer)
            late = relay.follow("s")
            assert not isinstance(await anext(late), Stalled)
            assert len(late._waiting) == 0, "a new follower does not hear that the writer is dead"
            await late.aclose()
        await kill(reading)
        await relay.aclose()

    asyncio.run(run())


class Away:
    """A log that cannot be reached for a while."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.is_away = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def find(self, name: str, cursor: Cursor) -> bool:
        if self.is_away:
            raise LogError(name)
        return await self._log.find(name, cursor)


def test_law_31_a_writer_that_dies_in_an_outage_of_the_log_is_noticed() -> None:
    """Followers are told in the outage. Afterwards the application is called, so that another writer goes on."""

    async def run() -> None:
        now = 0.0
        called: list[str] = []
        log = Away(MemoryLog(clock=lambda: now))
        settings: dict[str, Any] = {"linger": 0, "lease": 0.05, "ttl": LONG, "idle_check": 0.01}
        relay = Relay(log, on_stalled=called.append, **settings)
        async with Worker(relay, "s") as out:
            await out.send(chunks(1)[0])
            await out.flush()
        seen = Seen()
        reading = asyncio.create_task(collect(relay.follow("s"), seen))
        await until(lambda: bool(seen.steps))
        log.is_away = True
        await until(lambda: seen.stalls == 1)
        assert called == []
        now += 10
        log.is_away = False
        await until(lambda: bool(called))
        assert (called, seen.stalls) == (["s"], 1)
        async with relay.take_over("s") as out:
            await out.send(chunks(1)[-1])
        await reading
        assert (seen.status, seen.state.content) == ("done", words(1))
        await relay.aclose()

    asyncio.run(run())


# ---- what other programs write ----

FOREIGN: Final[list[dict[str, Any]]] = [
    {"k": "e"},
    {"x": "1"},
    {"k": "o"},
    {"k": b"\xff", "d": b"\xff"},
    {"d": "{}", "k": "o"},
    {"k": "e", "d": "junk"},
    {"k": "e", "d": '{"status":[]}'},
    {"k": "e", "d": '{"status":{}}'},
    {"k": "o", "d": "1"},
    {"k": "o", "d": '{"v":1}', "b": "x"},
    {"k": "o", "d": '{"v":1,"how":[],"fold":[],"settings":[]}'},
    {"k": "o", "d": '{"v":1,"how":"new","fold":"messages/1","settings":{"tools":[]}}'},
    {"k": "s", "d": '{"v":1,"s":1,"fold":"document/1","settings":{}}'},
]


@needs_redis
def test_foreign_data_in_redis_raises_the_errors_of_the_relay(redis: RedisServer) -> None:
    """Whatever is stored under the keys of a stream: `StateError`, or an error that names the stream."""

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="foreign")
        key, soft = log._key("s"), log._soft("s")
        setups: list[tuple[tuple[Any, ...], ...]] = [
            *[(("XADD", key, "1-1", *sum(fields.items(), ())),) for fields in FOREIGN],
            (("SET", key, "text"),),
            (("XADD", key, "1-1", "k", "o", "d", BARE, "b", "0-0"), ("SET", soft, "text")),
            (("XADD", key, "99999999999999999-1", "k", "o", "d", BARE),),
            (("XADD", key, "1-18446744073709551615", "k", "o", "d", BARE),),
            *[
                (("XADD", key, "1-1", "k", "o", "d", BARE, "b", "0-0"), ("HSET", soft, "until", wrong))
                for wrong in ("x", "nan", "inf", "")
            ],
        ]
        relay = Relay(log, linger=0, hub_idle=0)

        async def opened(publisher: Publisher[Any]) -> None:
            await publisher.__aenter__()
            await publisher._stop()

        calls: list[Any] = [
            lambda: relay.status("s"),
            lambda: relay.create("s"),
            lambda: relay.cancel("s"),
            lambda: relay.cancel("s", now=True),
            lambda: relay.finish("s"),
            lambda: relay.once("s", "k"),
            lambda: anext(relay.follow("s")),
            lambda: opened(relay.publish("s")),
            lambda: opened(relay.take_over("s")),
            lambda: log.append("s", Cursor(2, 1), "d", b"{}"),
            lambda: log.renew("s", 1, "o", lease=1, ttl=1),
        ]
        for setup in setups:
            for call in calls:
                await log._writing("s", ("DEL", key, soft), *setup)
                with contextlib.suppress(RelayError, StateError):
                    await call()
        await relay.aclose()

    asyncio.run(run())
