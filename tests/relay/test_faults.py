"""The faults of other relays, F1 to F16 and F20 to F22 of the catalogue: each is a test, and none of them happens here.

The faults of browsers and of server-sent events, F17 to F19 and F23 to F25, are beside the code that talks to them.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.support.redis_server import Proxy, RedisServer, needs_redis
from tests.support.relays import (
    PATIENCE,
    Seen,
    Worker,
    chunks,
    collect,
    expire_in,
    expire_lease,
    lasts,
    relays,
    until,
    words,
)
from unspool import StateError
from unspool.relay import (
    Cursor,
    Document,
    FencedError,
    GoneError,
    HeldError,
    JSONText,
    MemoryLog,
    Messages,
    RedisLog,
    Relay,
    Snapshot,
    Stalled,
    Update,
)

if TYPE_CHECKING:
    pass

MakeLog = Any


def test_f1_nothing_is_lost_between_replay_and_live(make_log: MakeLog) -> None:
    """Followers that join while entries arrive see each of them: there is one source, not a replay and a channel."""

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading):
            followers: list[asyncio.Task[Seen]] = []
            async with writing.publish("s") as out:
                for number, chunk in enumerate(chunks(60)):
                    await out.send(chunk)
                    if number % 3 == 0:
                        followers.append(asyncio.create_task(collect(reading.follow("s", wait=PATIENCE))))
                    await asyncio.sleep(0.001)
            for seen in await asyncio.gather(*followers):
                assert (seen.state.content, seen.status) == (words(60), "done")

    asyncio.run(run())


def test_f2_entries_after_an_empty_wait_are_not_lost(make_log: MakeLog) -> None:
    """A reader that waited in vain goes on behind the last entry it saw, not behind the newest one."""

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading):
            async with writing.publish("s", Document()) as out:
                await out.send([{"op": "add", "path": "", "value": []}])
                await out.flush()
                task = asyncio.create_task(collect(reading.follow("s")))
                for number in range(4):
                    await asyncio.sleep(0.15)  # longer than the check of an idle hub
                    await out.send([{"op": "add", "path": "/-", "value": number}])
            assert (await task).state == [0, 1, 2, 3]

    asyncio.run(run())


@needs_redis
def test_f3_a_lost_answer_appends_once(redis: RedisServer) -> None:
    """A proxy drops answers: every entry is in the log once, and the offsets have no gap."""

    async def run() -> None:
        proxy = Proxy(redis.port)
        await proxy.start()
        relay = Relay(RedisLog.from_url(proxy.url, prefix="f3"), linger=0)
        direct = RedisLog.from_url(redis.url, prefix="f3")
        async with relay.publish("s", JSONText()) as out:
            await out.send("[0")
            await out.flush()
            for number in range(1, 20):
                proxy.drop_answers = number % 2
                await out.send(f",{number}")
                await out.flush()
            await out.send("]")
        assert proxy.dropped >= 9
        entries = await direct.read("s", Cursor(0, 0), 100)
        assert [entry.cursor.offset for entry in entries] == list(range(1, len(entries) + 1))
        assert "".join("".join(entry.content.get("x", [])) for entry in entries) == str(list(range(20))).replace(
            " ", ""
        )
        await relay.aclose()
        await direct.aclose()
        await proxy.aclose()

    asyncio.run(run())


def test_f4_a_trimmed_cursor_gets_a_snapshot(make_log: MakeLog) -> None:
    """A cursor whose entry is gone is answered with the whole state, never with a suffix."""

    async def run() -> None:
        async with relays(make_log, 3, checkpoint=200, window=4) as (writing, reading, late):
            async with writing.publish("s", JSONText()) as out:
                await out.send('["')
                await out.flush()
                first = await anext(reading.follow("s"))
                for _ in range(60):
                    await out.send("0123456789" * 10)
                    await out.flush()
                assert writing.metrics["checkpoints"] > 1
                follower = late.follow("s", after=first.cursor)
                step = await anext(follower)
                assert isinstance(step, Snapshot)
                assert step.state.value == ["0123456789" * 600]
                await out.send('"]')
            seen = await collect(follower, Seen.of(step))
            assert seen.state.value == ["0123456789" * 600]

    asyncio.run(run())


def test_f5_a_subscriber_outrun_before_its_first_read(make_log: MakeLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that trims the log while a hub reads it page by page does not leave it with a suffix."""
    monkeypatch.setattr("unspool.relay._hub.PAGE", 16)

    async def run() -> None:
        async with relays(make_log, 2, checkpoint=2000) as (writing, reading):
            async with writing.publish("s", Document()) as out:
                await out.send([{"op": "add", "path": "", "value": []}])
                readers: list[asyncio.Task[Seen]] = []
                for number in range(400):
                    await out.send([{"op": "add", "path": "/-", "value": number}])
                    if number % 50 == 0:
                        await out.flush()
                        readers.append(asyncio.create_task(collect(reading.follow("s", Document()))))
                    await asyncio.sleep(0)
            assert writing.metrics["checkpoints"] > 1
            for seen in await asyncio.gather(*readers):
                assert seen.state == list(range(400))

    asyncio.run(run())


def test_f6_a_killed_writer_is_noticed_and_replaced(make_log: MakeLog) -> None:
    """When its lease is over, followers hear of it, the application is called once, and another writer goes on."""

    async def run() -> None:
        called: list[str] = []
        async with relays(make_log, 2, on_stalled=called.append) as (writing, other):
            async with Worker(writing, "s") as out:
                for number, chunk in enumerate(chunks(5)[:5]):
                    await out.send(chunk, position=number + 1)
                await out.flush()
            followers = [(other.follow("s"), Seen()) for _ in range(3)]
            for follower, seen in followers:
                seen.take(await anext(follower))
            assert called == []
            await expire_lease(writing.log, "s")
            for follower, seen in followers:
                seen.take(await anext(follower))
                assert (seen.snapshots, seen.stalls) == (["start"], 1)
            assert called == ["s"]
            async with other.take_over("s") as out:
                assert (out.position, out.state.content) == (5, words(5))
                for chunk in chunks(10, start=out.position):
                    await out.send(chunk)
            for follower, seen in followers:
                await collect(follower, seen)
                assert (seen.state.content, seen.status, seen.snapshots) == (words(10), "done", ["start"])

    asyncio.run(run())


def test_f7_the_end_is_an_entry(make_log: MakeLog) -> None:
    """A follower that comes late, or comes again, gets the end as it gets every other entry."""

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading):
            async with writing.publish("s") as out:
                for chunk in chunks(3):
                    await out.send(chunk)
            late = await collect(reading.follow("s"))
            assert (late.status, late.state.content, late.state.is_complete) == ("done", words(3), True)
            again = await collect(reading.follow("s", after=str(late.cursor)))
            assert [type(step).__name__ for step in again.steps] == ["End"]

    asyncio.run(run())


def test_f8_two_writers_never_interleave(make_log: MakeLog) -> None:
    """The second one is refused; after the lease, the first one is, and nothing of it is stored."""

    async def run() -> None:
        async with relays(make_log, 2) as (first, second):
            ready, go_on = asyncio.Event(), asyncio.Event()

            async def hang() -> None:
                async with first.publish("s", JSONText()) as slow:
                    await slow.send("[1")
                    await slow.flush()
                    cast("Any", slow)._renewing.cancel()  # this process hangs longer than its lease
                    ready.set()
                    await go_on.wait()
                    await slow.send(",666")
                    await slow.flush()

            task = asyncio.create_task(hang())
            await ready.wait()
            with pytest.raises(HeldError):
                async with second.publish("s", JSONText()):
                    pass
            await expire_lease(first.log, "s")
            async with second.take_over("s", JSONText()) as out:
                go_on.set()
                with pytest.raises(FencedError):
                    await task
                await out.send(",2]")
            assert (await collect(second.follow("s"))).state.value == [1, 2]

    asyncio.run(run())


def test_f9_a_new_attempt_does_not_collide_with_an_old_one(make_log: MakeLog) -> None:
    """Offsets go on, epochs are new, and followers of the old attempt get a snapshot of the new one."""

    async def run() -> None:
        async with relays(make_log, 2) as (first, second):
            async with Worker(first, "s") as out:
                for chunk in chunks(4)[:4]:
                    await out.send(chunk)
                await out.flush()
                old = out.cursor
            follower = second.follow("s")
            assert (await anext(follower)).state.content == words(4)
            await expire_lease(first.log, "s")
            async with second.publish("s") as out:
                assert out.cursor.offset == old.offset + 1
                assert out.cursor.epoch > old.epoch
                await out.send(chunks(2)[0])
                await out.send(chunks(2)[-1])
            steps = [step async for step in follower if not isinstance(step, Stalled)]
            assert isinstance(steps[0], Snapshot)
            assert (steps[0].reason, steps[0].state.content) == ("restart", "")
            assert steps[-1].state.content == "w0 "
            again = await collect(second.follow("s", after=old))
            assert again.snapshots == ["start"], "the cursor of the old attempt names nothing that can go on"
            assert again.state.content == "w0 "

    asyncio.run(run())


def test_f10_places_are_unique_within_a_millisecond(make_log: MakeLog) -> None:
    """Many entries within one millisecond have places of their own."""

    async def run() -> None:
        log = make_log()
        cursor = await log.claim("s", "a", b'{"v":1,"how":"new"}', lease=600, ttl=600, force=False)
        places = [Cursor(cursor.offset + number, cursor.epoch) for number in range(1, 200)]
        await asyncio.gather(*[log.append("s", place, "d", b'{"x":[]}') for place in places])
        assert [entry.cursor for entry in await log.read("s", Cursor(0, 0), 500)] == [cursor, *places]
        await log.aclose()

    asyncio.run(run())


@pytest.mark.parametrize(
    "after", ["-1", "", "0", "$", "x-y", "1", "99999999999999999999-1", "2-1", "1-2-3", " 1-1", None]
)
def test_f11_an_invalid_cursor_is_no_cursor(after: str | None) -> None:
    """It raises nothing, and it does not show the stream from its beginning: the client gets one snapshot."""

    async def run() -> None:
        async with relays(MemoryLog) as (relay,):
            async with relay.publish("s") as out:
                for chunk in chunks(5):
                    await out.send(chunk)
            seen = await collect(relay.follow("s", after=after))
            assert [type(step).__name__ for step in seen.steps] == ["Snapshot", "End"]

    asyncio.run(run())


def test_f12_a_quiet_writer_keeps_its_stream(make_log: MakeLog) -> None:
    """The lease renews the time to live: a stream that is quiet for longer than that keeps its beginning."""

    async def run() -> None:
        async with relays(make_log, 2, lease=0.3, ttl=1000) as (writing, reading):
            async with writing.publish("s") as out:
                await out.send(chunks(2)[0])
                await out.flush()
                for _ in range(2):
                    await expire_in(writing.log, "s", 500)
                    async with asyncio.timeout(PATIENCE):
                        while await lasts(writing.log, "s") < 900:
                            await asyncio.sleep(0.01)
                for chunk in chunks(2, start=1):
                    await out.send(chunk)
            assert (await collect(reading.follow("s"))).state.content == words(2)

    asyncio.run(run())


def test_f12_a_stream_without_a_writer_expires(make_log: MakeLog) -> None:
    """Its keys do not stay forever, nor do those of a finished stream; a late writer finds nothing headless."""

    async def run() -> None:
        async with relays(make_log, 2, ttl=1000, retention=200) as (writing, reading):

            async def hang() -> None:
                async with writing.publish("dead") as out:
                    await out.send(chunks(2)[0])
                    await out.flush()
                    cast("Any", out)._renewing.cancel()
                    assert 0 < await lasts(writing.log, "dead") <= 1000
                    await expire_in(writing.log, "dead", 0)
                    cast("Any", out)._renewed -= 10_000  # it was away for longer than its lease
                    with pytest.raises(GoneError):
                        await anext(reading.follow("dead"))
                    await out.send(chunks(2)[1])
                    await out.flush()

            with pytest.raises(GoneError):
                await hang()
            with pytest.raises(GoneError):
                await anext(reading.follow("dead"))
            async with writing.publish("done") as out:
                await out.send(chunks(1)[0])
            assert 0 < await lasts(writing.log, "done") <= 200
            await expire_in(writing.log, "done", 0)
            with pytest.raises(GoneError):
                await anext(reading.follow("done"))

    asyncio.run(run())


def test_f13_an_evicted_stream_is_noticed(make_log: MakeLog) -> None:
    """A living writer puts the whole state back; without a writer, followers hear that the stream is gone."""

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading):
            follower = reading.follow("s", wait=PATIENCE)
            async with writing.publish("s") as out:
                for chunk in chunks(6)[:3]:
                    await out.send(chunk)
                await out.flush()
                assert (await anext(follower)).cursor.offset >= 1
                await writing.log.drop("s")
                for chunk in chunks(6, start=3):
                    await out.send(chunk)
                    await out.flush()
                seen = Seen()
                task = asyncio.create_task(collect(reading.follow("s", wait=PATIENCE), seen))
            assert writing.metrics["reclaims"] == 1
            assert (await task).state.content == words(6)
            dead = reading.follow("dead", wait=PATIENCE)
            async with Worker(writing, "dead") as out:
                await out.send(chunks(2)[0])
                seen = Seen.of(await anext(dead))
            await writing.log.drop("dead")
            with pytest.raises(GoneError):
                await collect(dead, seen)

    asyncio.run(run())


@needs_redis
def test_f14_waiting_is_longer_than_the_timeout_of_a_socket(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The waiting connection has no timeout of redis-py, so a quiet stream costs no reconnection."""
    monkeypatch.setattr("unspool.relay._redis.COMMAND_TIMEOUT", 0.3)

    async def run() -> None:
        proxy = Proxy(redis.port)
        await proxy.start()
        relay = Relay(RedisLog.from_url(proxy.url, prefix="f14", block=0.5), linger=0, idle_check=5)
        async with relay.publish("s") as out:
            await out.send(chunks(2)[0])
            follower = relay.follow("s", wait=PATIENCE)
            assert (await anext(follower)).state.content in ("", "w0 ")
            before = -1
            for _ in range(30):  # a slow machine may lose a connection, but not in each second
                before = proxy.connections
                await asyncio.sleep(1.0)
                if proxy.connections == before:
                    break
            assert proxy.connections == before
            await out.send(chunks(2)[1])
            await out.flush()
            async for step in follower:
                if step.state.content == words(2):
                    break
        await relay.aclose()
        await proxy.aclose()

    asyncio.run(run())


@needs_redis
def test_f15_a_waiting_reader_does_not_delay_writers(redis: RedisServer) -> None:
    """Appends do not wait behind a blocked reading: they have a connection of their own."""

    async def run() -> None:
        relay = Relay(RedisLog.from_url(redis.url, prefix="f15", block=5), linger=0)
        waiting = asyncio.create_task(collect(relay.follow("other", wait=PATIENCE)))
        async with relay.publish("s") as out:
            await out.send(chunks(1)[0])
            await out.flush()
            started = time.perf_counter()
            for chunk in chunks(50)[:50]:
                await out.send(chunk)
                await out.flush()
            assert time.perf_counter() - started < 100  # each of them would wait for 5 s
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await relay.aclose()

    asyncio.run(run())


@needs_redis
def test_f16_connections_do_not_grow_with_followers(redis: RedisServer) -> None:
    """500 followers of 10 streams share three connections: writing, reading, waiting."""

    async def run() -> None:
        proxy = Proxy(redis.port)
        await proxy.start()
        relay = Relay(RedisLog.from_url(proxy.url, prefix="f16", block=5), linger=0)
        tasks = [asyncio.create_task(collect(relay.follow(f"s{each % 10}", wait=PATIENCE))) for each in range(500)]
        await asyncio.sleep(0.1)

        async def publish(name: str) -> None:
            async with relay.publish(name) as out:
                for chunk in chunks(5):
                    await out.send(chunk)

        await asyncio.gather(*[publish(f"s{each}") for each in range(10)])
        for seen in await asyncio.gather(*tasks):
            assert (seen.state.content, seen.status) == (words(5), "done")
        assert proxy.connections <= 3
        await relay.aclose()
        await proxy.aclose()

    asyncio.run(run())


def test_f20_a_stream_that_has_not_begun_can_be_followed(make_log: MakeLog) -> None:
    """A created stream has a follower's first snapshot at once, and `wait` covers one that is not created yet."""

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading):
            await writing.create("made")
            follower = reading.follow("made")
            first = await anext(follower)
            assert isinstance(first, Snapshot)
            assert first.state.content == ""
            waiting = asyncio.create_task(collect(reading.follow("unmade", wait=PATIENCE)))
            with pytest.raises(GoneError):
                await anext(reading.follow("never", wait=0.1))
            await asyncio.sleep(0.2)
            for name in ("made", "unmade"):
                async with writing.publish(name) as out:
                    for chunk in chunks(3):
                        await out.send(chunk)
            steps = [step async for step in follower]
            assert all(isinstance(step, Update) for step in steps[:-1]), "no snapshot: the fold had not begun"
            assert steps[-1].state.content == words(3)
            assert (await waiting).state.content == words(3)

    asyncio.run(run())


def test_f21_a_slow_follower_loses_nothing(make_log: MakeLog) -> None:
    """It falls behind the window, gets a snapshot, and ends with the same state; the others do not notice."""

    async def run() -> None:
        async with relays(make_log, 2, window=8) as (writing, reading):
            await writing.create("s")
            seen_quick, seen_slow = Seen(), Seen()
            quick = asyncio.create_task(collect(reading.follow("s"), seen_quick))
            slow = reading.follow("s")
            async with writing.publish("s") as out:

                def quick_is_there() -> bool:
                    return bool(seen_quick.cursor == out.cursor)

                for number, chunk in enumerate(chunks(100)):
                    await out.send(chunk)
                    await out.flush()
                    await until(quick_is_there)
                    if number % 20 == 0:
                        seen_slow.take(await anext(slow))
            await quick
            await collect(slow, seen_slow)
            assert seen_quick.snapshots == ["start"]
            assert "behind" in seen_slow.snapshots
            assert seen_quick.state.dump() == seen_slow.state.dump()
            assert len(seen_slow.steps) < len(seen_quick.steps)

    asyncio.run(run())


def test_f22_an_entry_is_whole() -> None:
    """A follower may go on behind any step: no piece of the source is spread over two entries."""

    async def run() -> None:
        async with relays(MemoryLog, max_batch=64, max_entry=4096) as (relay,):
            async with relay.publish("s", linger=0.01) as out:
                for chunk in chunks(120):
                    await out.send(chunk)
            whole = await collect(relay.follow("s"))
            entries = await relay.log.read("s", Cursor(0, 0), 1000)
            assert len(entries) > 3
            relay.metrics.counts["resyncs.start"] = 0
            for entry in entries[1:-1]:
                seen = Seen()
                seen.cursor = entry.cursor
                await collect(relay.follow("s", after=str(entry.cursor)), seen)
                assert seen.snapshots == []
                assert seen.state.dump() == whole.state.dump()

    asyncio.run(run())


# ---- and two that the catalogue does not have ----


def test_a_log_that_was_rolled_back_and_written_again() -> None:
    """An old writer fills the place of a forgotten claim, and a new one claims behind it: a follower of the forgotten
    entry must not go on there, although the next offset and a larger epoch look right."""

    async def run() -> None:
        log = MemoryLog()
        new = b'{"v":1,"fold":"document/1","settings":{},"owner":"a","how":"new"}'
        resume = b'{"v":1,"fold":"document/1","settings":{},"owner":"b","how":"resume"}'
        first = await log.claim("s", "a", new, lease=9, ttl=9, force=False)
        await log.append("s", Cursor(2, first.epoch), "d", b'{"x":[{"op":"add","path":"","value":[1]}]}')
        forgotten = await log.claim("s", "b", resume, lease=9, ttl=9, force=True)
        relay = Relay(log, idle_check=1)
        follower = relay.follow("s")
        assert (await anext(follower)).cursor == forgotten
        stream = log._streams["s"]
        stream.entries.pop()
        await log.append("s", Cursor(3, first.epoch), "d", b'{"x":[{"op":"add","path":"/-","value":2}]}')
        last = await log.claim("s", "c", resume, lease=9, ttl=9, force=True)
        await log.append("s", Cursor(5, last.epoch), "d", b'{"x":[{"op":"add","path":"/-","value":3}]}')
        step = await anext(follower)
        assert isinstance(step, Snapshot)
        assert step.state == [1, 2, 3]
        await relay.aclose()

    asyncio.run(run())


def test_data_of_a_log_is_not_trusted() -> None:
    """Foreign entries raise `StateError` at the follower, and nothing else."""

    async def run(data: bytes, kind: str) -> None:
        log = MemoryLog()
        new = b'{"v":1,"fold":"messages/1","settings":%s,"owner":"a","how":"new"}'
        relay = Relay(log, idle_check=0.05)
        settings = json.dumps(Messages().describe()).encode()
        first = await log.claim("s", "a", new % settings, lease=9, ttl=9, force=False)
        await log.append("s", Cursor(2, first.epoch), kind, data)
        with pytest.raises(StateError):
            async for _ in relay.follow("s"):
                pass
        await relay.aclose()

    for data, kind in [
        (b"", "d"), (b"[]", "d"), (b"{}", "d"), (b'{"x":1}', "d"), (b'{"x":[1]}', "d"), (b'{"x":[[]]}', "d"),
        (b'{"x":[[2,"a"]]}', "d"), (b'{"x":[{"format":"no"}]}', "d"), (b'{"x":[{}]}', "d"), (b'{"x":[[1,["t"]]]}', "d"),
        (b"[" * 100_000, "d"), (b'{"status":"odd"}', "e"), (b'{"status":"error","failure":[1]}', "e"),
        (b'{"status":"error","failure":["x",null,"",null]}', "e"), (b'{"v":1}', "z"), (b"{}", "s"), (b'{"s":{}}', "s"),
    ]:  # fmt: skip
        asyncio.run(run(data, kind))
