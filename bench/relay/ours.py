"""One process of unspool. Its order is a JSON object; see `write`, `follow` and `join`.

A piece of a message is its number and the time at which it was sent, in 25 characters. It is sent as a chunk of Ollama,
which has the least around the text.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any, Final

from starlette.requests import Request

import unspool.relay.web  # noqa: F401 - a server has it before the first page comes
from unspool.relay import End, HeldError, MemoryLog, Messages, RedisLog, Relay, Stalled, Update

FOLD: Final = Messages(format="ollama")
PIECE: Final = 25


def say(**words: object) -> None:
    print(json.dumps(words), flush=True)


async def told() -> None:
    await asyncio.to_thread(sys.stdin.readline)


def chunk(text: str, *, is_last: bool = False) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "done": is_last}


def word(number: int) -> str:
    return f"w{number} "


# ---- writing ---------------------------------------------------------------------------------------------------


async def write(relay: Relay, order: dict[str, Any]) -> None:
    """Write `count` pieces at `rate` per second, or take over from a writer that has died."""
    name, count, rate = order["name"], order["count"], order["rate"]
    is_successor = order.get("resume", False)
    publisher = relay.take_over(name, FOLD) if is_successor else relay.publish(name, FOLD)
    if is_successor:  # it takes over when it is told to
        say(ready=True)
        await told()
    try:
        async with publisher as out:
            if not is_successor:
                say(ready=True)
                await told()
            cpu, started = time.process_time(), time.monotonic()
            first = out.position or 0
            for number in range(first, count):
                await asyncio.sleep(max(started + (number - first) / rate - time.monotonic(), 0))
                text = f"{number:07d} {time.monotonic_ns() // 1000:016d}\n"
                await out.send(chunk(text), position=number + 1)
            await out.flush()
            say(cpu_us=(time.process_time() - cpu) * 1e6 / (count - first))
            await told()
            await out.send(chunk("", is_last=True))
    except HeldError:
        say(refused=True)
        return
    say(ended=True)
    await told()


async def write_words(relay: Relay, order: dict[str, Any]) -> None:
    """Write `count` words as fast as possible, and stay. Tell the cursor after `mark` words."""
    async with relay.publish(order["name"], FOLD) as out:
        mark = ""
        for number in range(order["count"]):
            if number == order["mark"]:
                await out.flush()
                mark = str(out.cursor)
            await out.send(chunk(word(number)))
            await asyncio.sleep(0)
            if number % 10 == 9:
                await out.flush()  # a few words per entry, as linger collects them from a fast model
        await out.flush()
        say(mark=mark)
        await told()


# ---- following -------------------------------------------------------------------------------------------------


class Seen:
    """What one follower has got. The texts are looked at when the run is over.

    Nothing that it keeps is an object of its own for the garbage collector: the collector would look at 100,000 of
    them in the middle of the run. resumable.mjs does the same.
    """

    def __init__(self) -> None:
        self.joined = asyncio.Event()
        self.times: list[int] = []
        self.steps: list[Update[Any]] = []  # of all followers, the same objects
        self.last: Any = None
        self.stalled_at: float | None = None
        self.ended = False

    async def follow(self, relay: Relay, name: str) -> None:
        async for step in relay.follow(name, FOLD, wait=30):
            now = time.monotonic_ns()
            if isinstance(step, Update):
                self.times.append(now)
                self.steps.append(step)
            elif isinstance(step, Stalled) and self.stalled_at is None:
                self.stalled_at = now / 1e9
                say(stalled_at=self.stalled_at)
            self.ended = isinstance(step, End)
            self.last = step.state
            self.joined.set()

    def verdict(self) -> dict[str, Any]:
        text = self.last.content or "" if self.last is not None else ""
        numbers = [int(line[:7]) for line in text.splitlines()]
        return {"numbers": numbers, "ended": self.ended, "stalled_at": self.stalled_at}


def latencies(seen: list[Seen]) -> list[float]:
    """Return the age of each piece when it arrived, in ms."""
    texts: dict[int, list[int]] = {}  # the times in one step, which all followers of this process share
    found: list[float] = []
    for one in seen:
        for arrived, step in zip(one.times, one.steps, strict=True):
            if id(step) not in texts:
                text = (step.state.content or "")[len(step.before.content or "") :]
                texts[id(step)] = [int(line[8:]) for line in text.splitlines()]
            found += [arrived / 1e6 - sent / 1e3 for sent in texts[id(step)]]
    return found


async def follow(relay: Relay, order: dict[str, Any]) -> None:
    """Follow with `followers` readers until all have seen the end, or `patience` is over."""
    seen = [Seen() for _ in range(order["followers"])]
    tasks = [asyncio.create_task(one.follow(relay, order["name"])) for one in seen]
    await asyncio.gather(*[one.joined.wait() for one in seen])
    say(ready=True)
    cpu = time.process_time()
    await asyncio.wait(tasks, timeout=order["patience"])
    report(seen, time.process_time() - cpu)
    await told()


def report(seen: list[Seen], cpu: float) -> None:
    ages = sorted(latencies(seen)) or [0.0]
    verdicts = [one.verdict() for one in seen[:1]]
    is_same = all(one.verdict() == verdicts[0] for one in seen)
    say(p50=ages[len(ages) // 2], p99=ages[int(len(ages) * 0.99)], cpu=cpu, same=is_same, **verdicts[0])


async def both(relay: Relay, order: dict[str, Any]) -> None:
    """Write and follow in this process, for the log in memory."""
    name, count, rate = order["name"], order["count"], order["rate"]
    seen = [Seen() for _ in range(order["followers"])]
    async with relay.publish(name, FOLD) as out:
        tasks = [asyncio.create_task(one.follow(relay, name)) for one in seen]
        await asyncio.gather(*[one.joined.wait() for one in seen])
        say(ready=True)
        await told()
        cpu, started = time.process_time(), time.monotonic()
        for number in range(count):
            await asyncio.sleep(max(started + number / rate - time.monotonic(), 0))
            await out.send(chunk(f"{number:07d} {time.monotonic_ns() // 1000:016d}\n"))
        await out.send(chunk("", is_last=True))
    if tasks:
        await asyncio.wait(tasks, timeout=order["patience"])
        report(seen, time.process_time() - cpu)
    await told()


async def join(relay: Relay, order: dict[str, Any]) -> None:
    """Ask for the stream as a page does, and tell when the last word is there, and how many bytes that took."""
    await relay.log.tail("another")  # the connection is there, as it is in a server
    say(ready=True)
    await told()
    body = bytearray()
    complete = asyncio.Event()
    started, took = time.perf_counter(), 0.0
    last = word(order["count"] - 1).encode()

    async def send(message: Any) -> None:
        nonlocal took
        body.extend(message.get("body", b""))
        if last in body and not complete.is_set():
            took = time.perf_counter() - started
            complete.set()

    async def receive() -> Any:
        await asyncio.Event().wait()

    headers = [(b"last-event-id", order["after"].encode())] if order["after"] else []
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    response = relay.sse(order["name"], Request(scope), authorize=lambda *_: True, wire=order["wire"])
    task = asyncio.create_task(response(scope, receive, send))
    async with asyncio.timeout(30):
        await complete.wait()
    say(ms=took * 1000, bytes=len(body))
    await told()
    task.cancel()


ROLES: Final = {
    "write": write,
    "write_words": write_words,
    "follow": follow,
    "both": both,
    "join": join,
}


async def main() -> None:
    order = json.loads(sys.argv[1])
    log = MemoryLog() if order["url"] is None else RedisLog.from_url(order["url"])
    relay = Relay(log, linger=order.get("linger", 0.02), max_followers=10_000)
    await ROLES[order["role"]](relay, order)
    await relay.aclose()


if __name__ == "__main__":
    asyncio.run(main())
