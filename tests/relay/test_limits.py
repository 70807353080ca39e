"""The limits of the relay, and pieces that cannot be sent: an error at once, and a stream that ends."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from tests.relay.test_sse import app_of, document_of
from tests.support.asgi import asked
from tests.support.relays import PATIENCE, chunks, collect, relays, words
from unspool import Options, OptionsError, StateError
from unspool.relay import (
    CancelError,
    Cursor,
    Document,
    End,
    EndedError,
    FullError,
    JSONText,
    MemoryLog,
    Messages,
    RedisLog,
    Relay,
    Stalled,
    Update,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.relay import LogEntry, LogReader

MakeLog = Any


@pytest.mark.parametrize("is_last", [False, True])
def test_an_entry_that_is_too_large_ends_the_stream(make_log: MakeLog, is_last: bool) -> None:
    """Also if the block ends before it is written: nobody waits for a writer that has failed."""

    async def write(relay: Relay) -> None:
        async with relay.publish("s", JSONText(), linger=3600) as out:
            await out.send('["')
            await out.flush()
            await out.send("x" * 5000)
            if not is_last:
                await out.flush()

    async def run() -> None:
        async with relays(make_log, max_entry=2000) as (relay,):
            with pytest.raises(FullError, match="max_entry=2000"):
                await write(relay)
            seen = await collect(relay.follow("s"))
            assert (seen.status, seen.steps[-1].detail) == ("error", {"error": "FullError"})
            assert seen.state.value == [""]

    asyncio.run(run())


def test_the_limits_of_the_memory() -> None:
    """Streams, bytes of one, bytes of all: `FullError` names the limit, and the stream can still end."""

    async def write(relay: Relay, name: str) -> None:
        async with relay.publish(name, Document()) as out:
            await out.send([{"op": "add", "path": "", "value": ""}])
            for _ in range(100):
                await out.send([{"op": "append", "path": "", "value": "x" * 100}])
                await out.flush()

    async def run() -> None:
        log = MemoryLog(max_streams=2, max_stream=3000, max_total=4000)
        relay = Relay(log, linger=0)
        await relay.create("a")
        await relay.create("b")
        with pytest.raises(FullError, match="max_streams=2"):
            await relay.create("c")
        for name, limit in (("a", "max_stream=3000"), ("b", "max_total=4000")):
            with pytest.raises(FullError, match=limit):
                await write(relay, name)
            assert (await relay.status(name)).status == "error"
        await relay.drop("a")
        await relay.drop("b")
        assert (len(log), log.size) == (0, 0)
        await relay.aclose()

    asyncio.run(run())


def test_the_limits_of_a_process() -> None:
    """Followers of one stream, and followed streams; who leaves makes room."""

    async def run() -> None:
        relay = Relay(max_followers=2, max_hubs=1, hub_idle=0)
        for name in "ab":
            await relay.create(name)
        first, second = relay.follow("a"), relay.follow("a")
        with pytest.raises(FullError, match="max_followers=2"):
            relay.follow("a")
        with pytest.raises(FullError, match="max_hubs=1"):
            relay.follow("b")
        await first.aclose()
        assert (await anext(relay.follow("a"))).cursor.offset == 1
        await second.aclose()
        await relay.aclose()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("fold", "piece", "error"),
    [
        (JSONText(), 5, TypeError),
        (Document(), 5, ValueError),
        (Document(), [{"op": "no"}], ValueError),
        (Document(), [{"op": "add", "path": "", "value": float("nan")}], ValueError),
        (Document(), [{"op": "add", "path": "", "value": {1, 2}}], TypeError),
    ],
)
def test_a_piece_that_cannot_be_sent(fold: Any, piece: Any, error: type[Exception]) -> None:
    """The block raises the error, and the stream ends with its name."""

    async def run() -> None:
        async with relays(MemoryLog) as (relay,):
            with pytest.raises(error) as raised:
                async with relay.publish("s", fold) as out:
                    await out.send(piece)
            seen = await collect(relay.follow("s"))
            assert (seen.status, seen.steps[-1].detail) == ("error", {"error": type(raised.value).__name__})

    asyncio.run(run())


def test_a_publisher_is_open_in_its_block_only(make_log: MakeLog) -> None:
    """Before and after it, nothing is taken; a finished stream is not begun again."""

    async def run() -> None:
        async with relays(make_log) as (relay,):
            out = relay.publish("s")
            for _ in range(2):
                with pytest.raises(StateError):
                    await out.send(chunks(1)[0])
                with pytest.raises(StateError):
                    await out.flush()
                if out.cursor.offset == 0:
                    async with out:
                        await out.send(chunks(1)[-1])
            with pytest.raises(EndedError):
                await out.__aenter__()

    asyncio.run(run())


def test_a_publisher_without_a_block(make_log: MakeLog) -> None:
    """Several tasks may send. One that waits when the publisher is closed is told, and its items are in the log."""

    async def run() -> None:
        async with relays(make_log, linger=3600) as (relay,):
            out = await relay.publish("s", JSONText()).open()
            with pytest.raises(TypeError, match="a str object"):
                await out.send(1)
            sending = [asyncio.create_task(out.send(piece)) for piece in ("[1", ", 2", "]")]
            await asyncio.gather(*sending)
            flushing = asyncio.create_task(out.flush())
            await asyncio.sleep(0)
            await out.close()
            with suppress(StateError):  # it was too late
                await flushing
            with pytest.raises(StateError, match="the publisher is not open"):
                await out.send("[")
            seen = await collect(relay.follow("s"))
            assert (seen.status, seen.state.value) == ("done", [1, 2])

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_a_lease_without_an_end() -> None:
    """In a log of this process, a writer may have no timer. It learns of a cancel request with its next entry."""

    async def run() -> None:
        async with Relay(linger=0, lease=math.inf, ttl=math.inf, idle_check=0.01) as relay:
            before = len(asyncio.all_tasks())
            out = await relay.publish("s", JSONText()).open()
            assert len(asyncio.all_tasks()) == before + 1  # it appends
            following = asyncio.create_task(collect(relay.follow("s")))
            await asyncio.sleep(0.1)
            await relay.cancel("s", "enough")
            with pytest.raises(CancelError, match="enough"):  # noqa: PT012 - the request comes with the first answer
                await out.send("[")
                await out.flush()
                await out.flush()
            with pytest.raises(CancelError, match="enough"):
                await out.close()
            seen = await following
            assert seen.status == "cancelled"
            assert not [step for step in seen.steps if isinstance(step, Stalled)]

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
    with pytest.raises(OptionsError, match="in this process"):
        Relay(RedisLog(None), lease=math.inf)  # type: ignore[arg-type]


class Pages:
    """A listener that keeps what it gets."""

    def __init__(self) -> None:
        self.pages: list[list[LogEntry]] = []

    def take(self, entries: Sequence[LogEntry]) -> None:
        self.pages.append(list(entries))

    def fail(self, error: Exception) -> None:
        raise error


def test_a_checkpoint_takes_nothing_from_a_follower() -> None:
    """The log in memory drops entries that a reader is about to read. It gets them, and no snapshot in their place."""
    late, seen = asyncio.new_event_loop(), Pages()  # another thread, whose event loop stands still

    async def run() -> None:
        async with Relay(linger=0, checkpoint=300) as relay, relay.publish("s", Document()) as out:
            await out.send([{"op": "add", "path": "", "value": ""}])
            follower = relay.follow("s")
            step = await anext(follower)

            async def read() -> LogReader:
                return relay.log.reader("s", Cursor(0, 0), seen)

            reader = await asyncio.to_thread(late.run_until_complete, read())
            for _ in range(20):
                await out.send([{"op": "append", "path": "", "value": "x" * 40}])
                await out.flush()
                while step.cursor != out.cursor:
                    step = await anext(follower)
                    assert isinstance(step, Update)
            assert step.state == out.state
            assert relay.metrics["checkpoints"] > 1
            assert relay.metrics["resyncs.trimmed"] == 0
            await asyncio.to_thread(late.run_until_complete, asyncio.sleep(0.01))
            first, kept, rest = seen.pages  # up to the first checkpoint, however many there were
            kinds = [entry.kind for entry in (*first, *kept)]
            assert kinds == ["o", *"d" * (len(kinds) - 2), "s"]
            assert rest[0].cursor.offset > kept[-1].cursor.offset + 1
            reader.close()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
    late.close()


def test_a_writer_in_another_thread() -> None:
    """The log in memory belongs to the process: its followers may have an event loop of their own."""

    async def write(relay: Relay) -> None:
        async with relay.publish("s") as out:
            for chunk in chunks(50):
                await out.send(chunk)
                await out.flush()

    async def run() -> None:
        async with relays(MemoryLog) as (relay,):
            await relay.create("s")
            thread = threading.Thread(target=lambda: asyncio.run(write(relay)))
            thread.start()
            seen = await collect(relay.follow("s", wait=PATIENCE))
            await asyncio.to_thread(thread.join)
            assert (seen.state.content, seen.status, seen.snapshots) == (words(50), "done", ["start"])

    asyncio.run(run())


class Trip(BaseModel):
    """A value that a follower gets half-filled."""

    title: str
    days: list[int]


def test_followers_get_values_of_their_type(make_log: MakeLog) -> None:
    """Typed partial values at every follower that names the type, plain ones at the others."""

    async def run() -> None:
        fold = JSONText(Trip)
        async with relays(make_log, 2) as (writing, reading):
            await writing.create("s", fold)
            typed, plain = reading.follow("s", fold), reading.follow("s")
            async with writing.publish("s", fold) as out:
                await out.send('{"title": "Fi')
                await out.flush()
                for follower in (typed, plain):
                    async for news in follower:
                        if news.cursor == out.cursor:
                            break
                    value: Any = news.state.value
                    assert (value["title"] if follower is plain else value.title) == "Fi"
                await out.send('ji", "days": [1, 2]}')
            *_, last = [news async for news in typed]
            assert isinstance(last, End)
            assert last.state.value == Trip(title="Fiji", days=[1, 2])

    asyncio.run(run())


@pytest.mark.parametrize("fold", [JSONText(options=Options(floats="decimal")), None])
def test_decimals_reach_a_page_as_numbers(fold: Any) -> None:
    """JSON has one kind of number; a browser reads it as it reads all others."""
    text = '{"a": 1.25, "b": 1e400}'
    call = {"index": 0, "id": "x", "type": "function", "function": {"name": "f", "arguments": text}}
    message = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    async def run() -> None:
        chosen = fold or Messages(options=Options(floats="decimal"))
        async with relays(MemoryLog) as (relay,), relay.publish("s", chosen) as out:
            await out.send(message if fold is None else text)
            await out.flush()
            found = out.state.value if fold else out.state.tool_calls[0].value
            assert found == {"a": Decimal("1.25"), "b": Decimal("1e400")}
            async with asked(app_of(relay), "/streams/s") as response:
                document = document_of([await response.event()])
        value = document if fold else document["parts"][0]["value"]
        assert value == {"a": 1.25, "b": "1E+400"}
        json.dumps(value, allow_nan=False)

    asyncio.run(run())


def test_a_publisher_that_is_not_open() -> None:
    """Sending says so, before and after; closing does nothing."""

    async def run() -> None:
        relay = Relay()
        out = relay.publish("s", Document(), linger=0)
        with pytest.raises(StateError, match="not open"):
            await out.send([])
        await out.close()
        await out.open()
        await out.send([{"op": "add", "path": "", "value": 1}])
        await out.close()
        await out.close()
        with pytest.raises(StateError, match="not open"):
            await out.send([])
        assert (await relay.status("s")).status == "done"
        await relay.aclose()

    asyncio.run(run())
