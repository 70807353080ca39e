"""One process of unspool. Its order is a JSON object; see `write`, `follow` and `join`.

Texts are sent as chunks of Ollama, which has the least around them.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from starlette.requests import Request

import unspool.relay.web  # noqa: F401 - a server has it before the first page comes
from unspool.relay import End, HeldError, MemoryLog, Messages, RedisLog, Relay, Stalled, Update

from .process import Seen, order, pieces, report, say, told, word

FOLD: Final = Messages(format="ollama")


def chunk(text: str, *, is_last: bool = False) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "done": is_last}


# ---- writing ---------------------------------------------------------------------------------------------------


async def write(relay: Relay, order: dict[str, Any]) -> None:
    """Write `count` pieces at `rate` per second, or take over from a writer that has died."""
    name, count = order["name"], order["count"]
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
            cpu, first = time.process_time(), out.position or 0
            async for number, text in pieces(first, count, order["rate"]):
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


class Follower:
    """Keeps what one follower is shown. The texts are looked at when the run is over."""

    def __init__(self) -> None:
        self.joined = asyncio.Event()
        self.steps: list[Update[Any]] = []  # of all followers, the same objects
        self.last: Any = None
        self.seen = Seen()

    async def follow(self, relay: Relay, name: str) -> None:
        try:
            async for step in relay.follow(name, FOLD, wait=30):
                now = time.monotonic_ns()
                if isinstance(step, Update):
                    self.seen.times.append(now)
                    self.steps.append(step)
                elif isinstance(step, Stalled):
                    self.seen.notice()
                self.seen.ended = isinstance(step, End)
                self.last = step.state
                self.joined.set()
        except Exception as error:
            self.seen.fail(error)
            self.joined.set()


def seen_by(followers: list[Follower]) -> list[Seen]:
    """Return what they have got, as texts."""
    texts: dict[int, str] = {}  # the text of one step, which all followers of this process share
    for each in followers:
        for step in each.steps:
            if id(step) not in texts:
                texts[id(step)] = (step.state.content or "")[len(step.before.content or "") :]
            each.seen.texts.append(texts[id(step)])
        each.seen.whole = each.last.content or "" if each.last is not None else ""
    return [each.seen for each in followers]


async def follow(relay: Relay, order: dict[str, Any]) -> None:
    """Follow with `followers` readers until all have seen the end, or `patience` is over."""
    followers = [Follower() for _ in range(order["followers"])]
    tasks = [asyncio.create_task(each.follow(relay, order["name"])) for each in followers]
    await asyncio.gather(*[each.joined.wait() for each in followers])
    say(ready=True)
    cpu = time.process_time()
    await asyncio.wait(tasks, timeout=order["patience"])
    cpu = time.process_time() - cpu
    report(seen_by(followers), cpu)
    await told()


async def both(relay: Relay, order: dict[str, Any]) -> None:
    """Write and follow in this process, for the log in memory."""
    followers = [Follower() for _ in range(order["followers"])]
    async with relay.publish(order["name"], FOLD) as out:
        tasks = [asyncio.create_task(each.follow(relay, order["name"])) for each in followers]
        await asyncio.gather(*[each.joined.wait() for each in followers])
        say(ready=True)
        await told()
        cpu = time.process_time()
        async for _, text in pieces(0, order["count"], order["rate"]):
            await out.send(chunk(text))
        await out.send(chunk("", is_last=True))
    await asyncio.wait(tasks, timeout=order["patience"])
    cpu = time.process_time() - cpu
    report(seen_by(followers), cpu)
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
    say(ms=took * 1000, bytes=len(body), before_news=body.find(word(order["mark"]).encode()))
    await told()
    task.cancel()


ROLES: Final = {"write": write, "write_words": write_words, "follow": follow, "both": both, "join": join}


async def main() -> None:
    orders = order()
    log = MemoryLog() if orders["url"] is None else RedisLog.from_url(orders["url"])
    lease = orders["lease"]
    relay = Relay(log, linger=orders.get("linger", 0.02), lease=lease, idle_check=lease / 3, max_followers=10_000)
    await ROLES[orders["role"]](relay, orders)
    await relay.aclose()


if __name__ == "__main__":
    asyncio.run(main())
