"""The laws of the relay, 22 to 34, numbered as in docs/laws.md."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from tests.support.message_deltas import every_delta, many_deltas
from tests.support.redis_server import needs_redis, redis_server
from tests.support.relay_machine import MemoryDriver, RedisDriver, RelayMachine
from tests.support.relays import PATIENCE, QUICK, Seen, Worker, chunks, collect, until
from unspool import StateError
from unspool.llm import dump_deltas, load_deltas
from unspool.relay import (
    CancelError,
    Cursor,
    Document,
    EndedError,
    JSONText,
    MemoryLog,
    Messages,
    RedisLog,
    Relay,
    RelayError,
    Snapshot,
    Stalled,
)

if TYPE_CHECKING:
    from unspool.llm import Delta

STEPS = 30


def check_machine(make_driver: Any, steps: int = STEPS, **changes: Any) -> None:
    class Machine(RelayMachine):
        pass

    Machine.make_driver = staticmethod(make_driver)
    run_state_machine_as_test(Machine, settings=settings(stateful_step_count=steps, deadline=None, **changes))


def test_law_22_to_25_and_34_in_memory() -> None:
    """Any history of writers, servers and followers has the outcomes of the model, and every client ends right."""
    check_machine(MemoryDriver)


def test_law_34_engines_agree_on_fakeredis() -> None:
    """The scripts in fakeredis have the same outcomes."""
    fakeredis = pytest.importorskip("fakeredis")

    def make_driver() -> RedisDriver:
        server = fakeredis.FakeServer()  # it belongs to one event loop
        return RedisDriver(lambda **_: fakeredis.FakeAsyncRedis(server=server, protocol=2), 0.01)

    check_machine(make_driver, max_examples=max(cast("Any", settings.default).max_examples // 5, 4))


@needs_redis
def test_law_34_engines_agree_on_redis() -> None:
    """A real server has the same outcomes."""
    with redis_server() as server:
        from redis.asyncio import Redis

        few = max(cast("Any", settings.default).max_examples // 3, 4)
        check_machine(
            lambda: RedisDriver(lambda **options: Redis.from_url(server.url, **options), 0.5), max_examples=few
        )


# ---- deltas as JSON ----


@given(st.lists(every_delta, max_size=8))
def test_law_22_deltas_go_through_json(deltas: list[Delta]) -> None:
    """What `dump_deltas` writes is JSON, and `load_deltas` restores it; cut off or changed data is refused."""
    data = json.loads(json.dumps(dump_deltas(deltas)))
    assert load_deltas(data) == deltas
    for wrong in (data[1:], [2, *data[1:]], [*data, ["?"]], [*data, []], [*data, 1], [*data, ["t"]], {"v": 1}, None):
        with pytest.raises(StateError):
            load_deltas(wrong)


@given(many_deltas, st.lists(st.integers(0, 3), min_size=25, max_size=25))
def test_law_22_followers_have_the_state_of_the_publisher(deltas: list[Delta], flushes: list[int]) -> None:
    """However the chunks are batched and joined, the fold of the entries is the state of the publisher."""
    fold = Messages()
    recorder = fold.recorder(fold.start())
    state = fold.start()
    for delta, flush in zip(deltas, flushes, strict=False):
        recorder.take(delta)
        if flush == 0:
            state = fold.step(state, json.loads(json.dumps(recorder.drain())))
            assert state.dump() == recorder.state.dump()
    told = recorder.finish()
    state = fold.step(state, recorder.drain())
    failed = {"status": "error" if fold.has_failed(recorder.state) else "done", **told}
    assert fold.end(state, failed).dump() == recorder.state.dump()


# ---- takeover, crash, checkpoints ----


@given(st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_law_26_takeover(first: int, second: int, has_checkpoints: bool) -> None:
    """Kill the writer anywhere, twice: with a source that can be opened at a position, every item is there once."""
    source = chunks(12)

    async def run() -> None:
        log = MemoryLog()
        relay = Relay(log, linger=0, checkpoint=1 if has_checkpoints else 1 << 30)
        for turn, kill_at in enumerate((first, second, None)):
            worker = Worker(relay, "s", resume=turn > 0)
            async with worker as out:
                start = out.position or 0
                for number in range(start, len(source) if kill_at is None else min(start + kill_at, len(source))):
                    await out.send(source[number], position=number + 1)
                    if number % 2:
                        await out.flush()
                if kill_at is None:
                    await out._finish(None, None)
            log._streams["s"].until = 0
        uninterrupted = Messages()
        state = uninterrupted.end(reduce_all(uninterrupted, source), {"status": "done"})
        seen = await collect(relay.follow("s"))
        assert seen.state.dump() == state.dump()
        await relay.aclose()

    asyncio.run(run())


def reduce_all(fold: Messages, source: list[Any]) -> Any:
    recorder = fold.recorder(fold.start())
    for chunk in source:
        recorder.take(chunk)
    return recorder.state


@needs_redis
def test_law_27_an_acknowledged_entry_survives_kill_9() -> None:
    """With ``appendfsync always``, everything that `flush` waited for is there after the server was killed."""

    async def run() -> None:
        with redis_server("--appendonly", "yes", "--appendfsync", "always") as server:
            relay = Relay(RedisLog.from_url(server.url, patience=20), linger=0)
            acknowledged = 0
            async with relay.publish("s", Document()) as out:
                await out.send([{"op": "add", "path": "", "value": []}])
                for turn in range(3):
                    for number in range(10 * turn, 10 * turn + 10):
                        await out.send([{"op": "add", "path": "/-", "value": number}])
                    await out.flush()
                    acknowledged = out.cursor.offset
                    server.kill()
                    server.start()
                    entries = await relay.log.read("s", Cursor(0, 0), 100)
                    assert entries[-1].cursor.offset >= acknowledged
            assert relay.metrics["reclaims"] == relay.metrics["gaps"] == 0
            assert (await collect(relay.follow("s"))).state == list(range(30))
            await relay.aclose()

    asyncio.run(run())


@given(st.integers(0, 2), st.integers(10, 60))
def test_law_28_a_checkpoint_is_what_it_replaces(kind: int, count: int) -> None:
    """With and without checkpoints followers end equal; a checkpoint is the fold of what was before it."""
    folds: list[Any] = [Messages(), JSONText(), Document()]
    pieces: list[list[Any]] = [
        chunks(count),
        ["[", *[f'"{number}",' for number in range(count)], "0]"],
        [[{"op": "add", "path": "", "value": []}], *[[{"op": "add", "path": "/-", "value": n}] for n in range(count)]],
    ]
    fold = folds[kind]

    async def run(checkpoint: int) -> Any:
        relay = Relay(linger=0, checkpoint=checkpoint)
        watching: asyncio.Task[Seen] = asyncio.create_task(collect(relay.follow("s", wait=PATIENCE)))
        async with relay.publish("s", fold) as out:
            for piece in pieces[kind]:
                await out.send(piece)
                await out.flush()
                last = await relay.log.tail("s")
                if last is not None and last.kind == "s":
                    assert fold.dump(fold.load(last.content["s"])) == fold.dump(out.state)
        seen = await watching
        late = await collect(relay.follow("s"))
        assert fold.dump(late.state) == fold.dump(seen.state) == fold.dump(out.state)
        await relay.aclose()
        return fold.dump(out.state), relay.metrics["checkpoints"]

    (plain, none), (with_checkpoints, some) = asyncio.run(run(1 << 30)), asyncio.run(run(64))
    assert (none, plain) == (0, with_checkpoints)
    assert some > 0


def test_law_28_checkpoints_cost_a_constant_factor() -> None:
    """What is written is at most a constant times the payload, and the log stays short."""

    async def run(count: int) -> tuple[float, int]:
        log = MemoryLog()
        relay = Relay(log, linger=0, checkpoint=2000)
        async with relay.publish("s", JSONText()) as out:
            await out.send('["')
            for _ in range(count):
                await out.send("0123456789" * 10)
                await out.flush()
            await out.send('"]')
        return relay.metrics["append_bytes"] / (100 * count), log.size

    small, large = asyncio.run(run(100)), asyncio.run(run(400))
    assert large[0] < 2.5
    assert large[0] < 1.5 * small[0]
    assert large[1] < 4 * 40_000


# ---- the end, cancelling, the dead ----


def test_law_29_one_end() -> None:
    """Every way to end a stream leaves one end, its last entry; each follower sees it once, and so do late ones."""

    async def run(how: str) -> None:
        log = MemoryLog()
        relay = Relay(log, **QUICK)
        follower = asyncio.create_task(collect(relay.follow("s", wait=PATIENCE)))
        with contextlib.suppress(RelayError, KeyError):
            async with relay.publish("s") as out:
                await out.send(chunks(1)[0])
                await out.flush()
                if how == "error":
                    raise KeyError(how)
                if how == "cancelled":
                    await relay.cancel("s", now=True)
                    await relay.cancel("s")
                if how == "lost":
                    await relay.finish("s", force=True)
                if how != "done":
                    await out.send(chunks(1)[0])
                    await out.flush()
                await out.send(chunks(1)[-1])
        for ending in (relay.finish("s"), log.claim("s", "x", b"{}", lease=1, ttl=1, force=True)):
            with pytest.raises(EndedError):
                await ending
        assert [entry.kind for entry in await log.read("s", Cursor(0, 0), 99)].count("e") == 1
        last = await log.tail("s")
        assert last is not None
        assert last.kind == "e"
        for seen in (await follower, await collect(relay.follow("s"))):
            assert seen.status == how
        await relay.aclose()

    for how in ("done", "error", "cancelled", "lost"):
        asyncio.run(run(how))


def test_law_30_cancel() -> None:
    """A cancelled stream ends within a lease, whether its writer lives, is silent, or is dead."""

    async def run(writer: str) -> None:
        relay = Relay(MemoryLog(), **{**QUICK, "lease": 0.3})
        other = Relay(relay.log, **{**QUICK, "lease": 0.3})
        follower = asyncio.create_task(collect(other.follow("s", wait=PATIENCE)))
        leaver = other.follow("s", wait=PATIENCE)

        async def write() -> None:
            async with relay.publish("s") as out:
                await out.send(chunks(1)[0])
                while writer == "busy":
                    await out.send(chunks(1)[0])
                    await asyncio.sleep(0.01)
                await asyncio.sleep(3600)

        async def die() -> None:
            async with Worker(relay, "s") as out:
                await out.send(chunks(1)[0])
                await out.flush()

        task = asyncio.create_task(die() if writer == "dead" else write())
        await anext(leaver)
        await leaver.aclose()  # a follower that leaves cancels nothing
        await asyncio.sleep(0.05)
        assert (await other.status("s")).status == "open"
        if writer == "dead":
            await task
        async with asyncio.timeout(PATIENCE):
            await other.cancel("s", "enough")
            if writer != "dead":
                with pytest.raises(CancelError, match="enough"):
                    await task
            seen = await follower
        assert (seen.status, seen.steps[-1].detail["reason"]) == ("cancelled", "enough")
        with pytest.raises(EndedError):
            async with relay.publish("s"):
                pass
        for each in (relay, other):
            await each.aclose()

    for writer in ("busy", "silent", "dead"):
        asyncio.run(run(writer))


def test_law_31_the_dead_are_noticed() -> None:
    """Each follower is told within a lease and a check, and then the stream can be claimed."""

    async def run() -> None:
        relay = Relay(MemoryLog(), **{**QUICK, "lease": 0.3})
        async with Worker(relay, "s") as out:
            await out.send(chunks(1)[0])
            await out.flush()
        followers = [relay.follow("s") for _ in range(5)]
        async with asyncio.timeout(PATIENCE):
            for follower in followers:
                while not isinstance(await anext(follower), Stalled):
                    pass
        async with relay.take_over("s") as out:
            await out.send(chunks(1)[-1])
        for follower in followers:
            assert (await collect(follower, Seen.of(Snapshot(out.cursor._replace(offset=2), None, "start")))).status
        await relay.aclose()

    asyncio.run(run())


def test_law_32_followers_cost_the_writer_nothing() -> None:
    """One follower or 300, quick or asleep: the log does the same work, and what is kept is the window."""

    async def run(count: int) -> tuple[int, int]:
        log = MemoryLog()
        calls = 0
        read = log._read

        def counted(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            return read(*args)

        cast("Any", log)._read = counted
        relay = Relay(log, window=16, **{**QUICK, "idle_check": PATIENCE})
        async with relay.publish("s") as out:
            followers = [relay.follow("s") for _ in range(count)]
            for follower in followers:
                await anext(follower)
            for chunk in chunks(200):
                await out.send(chunk)
                await out.flush()
                await asyncio.sleep(0)
            ((hub, _),) = relay._hubs.values()
            await until(lambda: hub._replay.cursor == out.cursor)
            kept = len(hub._window._steps)
        for follower in followers:
            step = await anext(follower)
            assert isinstance(step, Snapshot)
            assert step.reason == "behind"
        await relay.aclose()
        return calls, kept

    few, many = asyncio.run(run(1)), asyncio.run(run(300))
    assert many[0] <= 1.5 * few[0] + 20
    assert few[1] == many[1] == 16
