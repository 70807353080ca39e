"""What is quick loses nothing: entries that `send` posts itself, commands without a task, deltas that are joined."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.redis_server import RedisServer, needs_redis
from tests.support.relays import PATIENCE, Worker, chunks, collect, kill, relays, until, words
from unspool.relay import (
    Cursor,
    FencedError,
    HeldError,
    JSONText,
    LogError,
    MemoryLog,
    Messages,
    RedisLog,
    Relay,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from unspool.relay import Appended, LogEntry

MakeLog = Any


class Watched:
    """A log that counts the entries that were posted, and can keep their answers back."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self.posted = 0
        self.appended = 0
        self.answers = asyncio.Event()
        self.answers.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def post(self, name: str, at: Cursor, kind: str, data: bytes) -> Coroutine[Any, Any, Appended]:
        self.posted += 1
        answer = await self._log.post(name, at, kind, data)

        async def later() -> Appended:
            try:
                await self.answers.wait()
            except asyncio.CancelledError:
                answer.close()
                raise
            found: Appended = await answer
            return found

        return later()

    async def append(self, name: str, at: Cursor, kind: str, data: bytes, **options: Any) -> Appended:
        self.appended += 1
        found: Appended = await self._log.append(name, at, kind, data, **options)
        return found


async def texts(log: Any, name: str = "s") -> list[str]:
    """Return the text of each entry of a stream."""
    entries = await log.read(name, Cursor(0, 0), 1000)
    assert [entry.cursor.offset for entry in entries] == list(range(1, len(entries) + 1))
    return ["".join(entry.content.get("x", [])) for entry in entries]


# ---- entries that `send` posts -------------------------------------------------------------------------


@needs_redis
def test_an_entry_is_in_redis_before_the_event_loop_turns(redis: RedisServer) -> None:
    """With linger=0, another process sees it while this one does nothing more."""
    from redis import Redis

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="turns")
        relay = Relay(log, linger=0)
        with Redis.from_url(redis.url) as other:
            async with relay.publish("s", JSONText()) as out:
                await out.send("[")  # the server gets to know the script
                await out.flush()
                turns: list[None] = []
                asyncio.get_running_loop().call_soon(turns.append, None)
                before = other.xlen(log._key("s"))
                await out.send("1")
                for _ in range(10_000):  # it is the other process that takes this long
                    if other.xlen(log._key("s")) > before:
                        break
                assert other.xlen(log._key("s")) == before + 1
                assert turns == []
                await out.send("]")
        await relay.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


@given(st.lists(st.sampled_from(["send", "turn", "flush", "turns"]), min_size=1, max_size=40))
def test_posted_entries_and_batches_keep_their_order(acts: list[str]) -> None:
    """However sends, answers and flushes fall together: each piece is in the log once, in order."""

    async def run() -> None:
        log = Watched(MemoryLog())
        relay = Relay(log, linger=0)
        sent: list[str] = []
        async with relay.publish("s", JSONText()) as out:
            await out.send("[0")
            for number, act in enumerate(acts):
                if act == "send":
                    sent.append(f",{number}")
                    await out.send(sent[-1])
                elif act == "flush":
                    await out.flush()
                    assert "".join(await texts(log)) == "[0" + "".join(sent)
                for _ in range({"turn": 1, "turns": 5}.get(act, 0)):
                    await asyncio.sleep(0)
            await out.send("]")
        assert "".join(await texts(log)) == "[0" + "".join(sent) + "]"
        assert log.posted > 0
        await relay.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_what_comes_while_an_entry_is_under_way_is_one_batch(make_log: MakeLog) -> None:
    """`send` posts an entry only if no other one is under way, and never waits for an answer."""

    async def run() -> None:
        log = Watched(make_log())
        relay = Relay(log, linger=0)
        async with relay.publish("s", JSONText()) as out:
            await out.send("[0")
            await out.flush()
            log.posted = log.appended = 0
            log.answers.clear()
            for number in range(1, 20):
                await out.send(f",{number}")
                await asyncio.sleep(0)
            assert (log.posted, log.appended) == (1, 0)
            log.answers.set()
            await out.flush()
            assert (log.posted, log.appended) == (1, 1)
            await out.send("]")
        rest = "".join(f",{number}" for number in range(2, 20))
        assert await texts(log) == ["", "[0", ",1", rest, "]", ""]
        await relay.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_a_block_that_is_cancelled_while_an_entry_is_under_way_loses_nothing(make_log: MakeLog) -> None:
    """The entry is in the log once, and a successor goes on behind it."""

    async def run() -> None:
        log = Watched(make_log())
        relay = Relay(log, linger=0)

        async def write() -> None:
            async with relay.publish("s") as out:
                for number, chunk in enumerate(chunks(3)[:3]):
                    if number == 2:
                        await out.flush()
                        log.answers.clear()
                    await out.send(chunk, position=number + 1)
                await asyncio.sleep(3600)

        task = asyncio.create_task(write())
        await until(lambda: not log.answers.is_set())
        await kill(task)
        log.answers.set()
        async with relay.take_over("s") as out:
            assert (out.position, out.state.content) == (3, words(3))
            for chunk in chunks(5, start=3):
                await out.send(chunk)
        assert (await collect(relay.follow("s"))).state.content == words(5)
        await relay.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_an_entry_whose_answer_was_not_awaited_comes_before_the_end(make_log: MakeLog) -> None:
    """The task that waits for the answer is gone: the entry is given to the log again, and the end comes after it."""

    async def run() -> None:
        log = Watched(make_log())
        relay = Relay(log, linger=0)
        out: Any = relay.publish("s", JSONText())
        await out.open()
        await out.send("[1")
        await out.flush()
        log.answers.clear()
        await out.send(",2")
        await asyncio.sleep(0.01)
        await out._stop()
        log.answers.set()
        await out.send(",3]")
        await out.close()
        seen = await collect(relay.follow("s"))
        assert (seen.state.value, seen.status) == ([1, 2, 3], "done")
        assert (await texts(log))[:3] == ["", "[1", ",2"]
        await relay.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_a_fenced_writer_learns_it_from_the_entry_that_it_posts(make_log: MakeLog) -> None:
    """Nothing of it is stored, and its block ends."""

    async def run() -> None:
        async with relays(make_log, 2) as (first, second):
            with pytest.raises(FencedError):  # noqa: PT012 - the answer comes while the block waits
                async with first.publish("s", JSONText()) as out:
                    await out.send("[1")
                    await out.flush()
                    await first.log.renew("s", out.cursor.epoch, out.owner, lease=0, ttl=600)
                    other = Worker(second, "s", JSONText(), resume=True)
                    async with other:
                        await out.send(",666")
                        await asyncio.sleep(PATIENCE)
            assert "666" not in "".join(await texts(second.log))
            with pytest.raises(HeldError):
                await first.publish("s", JSONText()).open()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


# ---- commands ------------------------------------------------------------------------------------------


@needs_redis
def test_the_answers_of_many_callers_come_to_each_of_them(redis: RedisServer) -> None:
    """They share a connection. Some leave before their answer is there, and some commands are refused."""

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="callers")
        await log._writing("s", ("SET", "callers:text", "x"))

        async def echo(number: int) -> None:
            if number % 7 == 0:
                with pytest.raises(LogError):
                    await log._writing("s", ("LPUSH", "callers:text", number))
                return
            words = [str(number)] * (1 + number % 3)
            commands = [("ECHO", word) for word in words]
            asked = asyncio.create_task(log._writing("s", *commands))
            if number % 5 == 0:
                await asyncio.sleep(0)
                await kill(asked)
                return
            assert await asked == [word.encode() for word in words]

        await asyncio.gather(*[echo(number) for number in range(300)])
        assert log._session.writing._asked == type(log._session.writing._asked)()
        await log.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


@needs_redis
def test_a_server_that_is_silent_is_asked_again_on_another_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is overdue ends its connection. Once the server goes on, everything is there once."""
    from tests.support.redis_server import redis_server

    monkeypatch.setattr("unspool.relay._redis.COMMAND_TIMEOUT", 0.2)

    async def run() -> None:
        with redis_server() as server:
            relay = Relay(RedisLog.from_url(server.url, patience=PATIENCE), linger=0)
            async with relay.publish("s", JSONText()) as out:
                await out.send("[0")
                await out.flush()
                line: Any = relay.log._session.writing  # type: ignore[attr-defined]
                first = line._connection
                server.pause()
                await out.send(",1")
                await out.send(",2")
                await until(lambda: line._connection is not first)
                server.resume()
                await out.flush()
                await out.send("]")
            assert (await texts(relay.log))[1:3] == ["[0", ",1"]
            assert (await collect(relay.follow("s"))).state.value == [0, 1, 2]
            await relay.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


@needs_redis
def test_a_log_that_is_closed_answers_at_once(redis: RedisServer) -> None:
    """A caller that still waits gets an error, and does not wait for the patience of the log."""

    async def run() -> None:
        log = RedisLog.from_url(redis.url, patience=10 * PATIENCE)
        await log.tail("s")
        line = log._session.reading
        asked = asyncio.create_task(log._reading("s", ("BLPOP", "nothing", 0)))
        await until(lambda: len(line._asked) > 0)
        await log.aclose()
        with pytest.raises(LogError):
            await asked
        assert await log.tail("s") is None, "the next call connects again"
        await log.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


class Arrivals:
    """A listener that keeps the kinds of the entries that it gets."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def take(self, entries: Sequence[LogEntry]) -> None:
        self.kinds += [entry.kind for entry in entries]

    def fail(self, error: Exception) -> None:
        raise error


@needs_redis
def test_a_reader_that_comes_while_its_connection_closes_gets_another_one(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without readers is closed after a while, and takes no new ones from then on."""
    closing, may_close = asyncio.Event(), asyncio.Event()

    async def disconnect(connection: Any) -> None:
        closing.set()
        await may_close.wait()
        await connection.disconnect(nowait=True)

    async def run() -> None:
        log = RedisLog.from_url(redis.url, prefix="closing", block=0.05)
        first = log.reader("s", Cursor(0, 0), Arrivals())
        await until(lambda: log.connections == 1)
        first.close()
        monkeypatch.setattr("unspool.relay._redis._disconnect", disconnect)
        await closing.wait()
        seen = Arrivals()
        log.reader("s", Cursor(0, 0), seen)
        await log.claim("s", "a", b'{"v":1,"how":"new"}', lease=60, ttl=60, force=False)
        await until(lambda: seen.kinds == ["o"])
        may_close.set()
        await log.aclose()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


# ---- what a late reader reads --------------------------------------------------------------------------

PIECES = st.lists(st.tuples(st.sampled_from(["a", "\ud83d", "\ude00", "{", '"', ""]), st.booleans()), max_size=20)


@given(PIECES, st.lists(st.booleans(), min_size=20, max_size=20), st.sampled_from(["assistant", "model", None]))
def test_chunks_that_repeat_their_role_are_joined(
    pieces: list[tuple[str, bool]], flushes: list[bool], role: str | None
) -> None:
    """They fold to the state of the publisher, wherever the entries end."""
    fold = Messages(format="ollama")
    recorder, state = fold.recorder(fold.start()), fold.start()
    for (text, is_odd), flush in zip(pieces, flushes, strict=False):
        name = "tool" if is_odd and text == "a" else role
        recorder.take({"message": {"role": name, "content": text}, "done": False})
        if flush:
            state = fold.step(state, json.loads(json.dumps(recorder.drain())))
            assert state.dump() == recorder.state.dump()
    state = fold.step(state, recorder.drain())
    assert state.dump() == recorder.state.dump()


def test_words_that_come_with_their_role_are_one_item() -> None:
    """A late reader folds one text, and not one for each chunk."""
    fold = Messages(format="ollama")
    recorder = fold.recorder(fold.start())
    for word in ("one ", "two ", "three ", "four"):
        recorder.take({"message": {"role": "assistant", "content": word}, "done": False})
    _, first, rest = recorder.drain()
    assert (len(first), rest) == (3, [1, "two three four"])


def test_law_28_a_late_reader_reads_few_entries() -> None:
    """However small the entries are: each one counts with what it costs to read, not only with its data."""

    async def run(checkpoint: int) -> int:
        log = MemoryLog()
        async with Relay(log, linger=0, checkpoint=checkpoint) as relay:
            async with relay.publish("s", JSONText()) as out:
                await out.send("[1")
                for _ in range(1000):
                    await out.send("1")
                    await out.flush()
                longest = len(log._streams["s"].entries)
                await out.send("]")
            assert relay.metrics["checkpoints"] > 0
            assert relay.metrics["append_bytes"] < 1000 * (len('{"x":["1"]}') + 64)
        return longest

    for checkpoint in (4_000, 16_000):
        assert asyncio.run(run(checkpoint)) <= checkpoint // 64 + 1


@pytest.mark.parametrize("count", range(7))
def test_a_late_follower_begins_with_everything(make_log: MakeLog, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """However many pages the log has, its first snapshot is the state of the last entry."""
    monkeypatch.setattr("unspool.relay._hub.PAGE", 3)

    async def run() -> None:
        async with relays(make_log, 2) as (writing, reading), writing.publish("s", JSONText()) as out:
            for number in range(count):
                await out.send(f"[{number}," if number == 0 else f"{number},")
                await out.flush()
            first = await anext(reading.follow("s"))
            assert first.cursor == out.cursor
            assert (first.state.value or []) == list(range(count))

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
