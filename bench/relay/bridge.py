"""One process of a plain bridge, as applications write them by hand: a Redis Stream, and a waiting reader per follower.

Each piece is an entry that Redis numbers (``XADD *``), the last `keep` entries stay, and each follower waits in an
``XREAD BLOCK`` on a connection of its own. A cursor is the id of an entry. If the entries after it are gone, the
follower is told that there is a gap. redis-py sends a command again if its connection breaks, as it does by default
when it is not made from a URL.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

from .process import Seen, order, pieces, report, say, told, word

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

START: Final = "0-0"
BLOCK_MS: Final = 15_000
EXPIRY: Final = 3_600


class GapError(Exception):
    """The entries after the cursor are gone."""


class Bridge:
    def __init__(self, orders: dict[str, Any]) -> None:
        self._url: str = orders["url"]
        self._key: str = f"bridge:{orders['name']}"
        self._keep: int = orders["keep"]
        self._client: Any = connection(self._url)

    async def add(self, **fields: str) -> str:
        """Add an entry, and return its id."""
        async with self._client.pipeline(transaction=True) as commands:
            commands.xadd(self._key, fields, maxlen=self._keep, approximate=False)
            commands.expire(self._key, EXPIRY)
            answers = await commands.execute()
        return str(answers[0])

    async def read(self, after: str = "", joined: asyncio.Event | None = None) -> AsyncGenerator[tuple[str, str], None]:
        """Yield the id and the text of each entry after the cursor, until the end."""
        async with connection(self._url, socket_timeout=None) as reader:
            async with reader.pipeline(transaction=True) as commands:
                commands.xrange(self._key, count=1)
                commands.xread({self._key: after or START})
                oldest, answer = await commands.execute()
            if joined is not None:
                joined.set()
            if after and oldest and number(oldest[0][0]) > number(after):
                raise GapError("the entries after this cursor are gone")
            at = after or START
            while True:
                for _, entries in answer:
                    for at, fields in entries:
                        if "end" in fields:
                            return
                        yield at, fields["text"]
                answer = await reader.xread({self._key: at}, block=BLOCK_MS)

    async def aclose(self) -> None:
        await self._client.aclose()


def connection(url: str, **options: Any) -> Any:
    retry = Retry(ExponentialWithJitterBackoff(base=0.1, cap=2), retries=10)
    return Redis.from_url(url, decode_responses=True, protocol=2, retry=retry, **options)


def number(entry: str) -> tuple[int, ...]:
    return tuple(int(part) for part in entry.split("-"))


async def write(bridge: Bridge, order: dict[str, Any]) -> None:
    """Write `count` pieces at `rate` per second. Nothing keeps a second writer out."""
    say(ready=True)
    await told()
    cpu = time.process_time()
    async for _, text in pieces(0, order["count"], order["rate"]):
        await bridge.add(text=text)
    say(cpu_us=(time.process_time() - cpu) * 1e6 / order["count"])
    await told()
    await bridge.add(end="done")
    say(ended=True)
    await told()


async def write_words(bridge: Bridge, order: dict[str, Any]) -> None:
    """Write `count` words as fast as possible, and stay. Tell the cursor after `mark` words."""
    mark = at = ""
    for each in range(order["count"]):
        mark = at if each == order["mark"] else mark
        at = await bridge.add(text=word(each))
    say(mark=mark)
    await told()


async def follow(bridge: Bridge, order: dict[str, Any]) -> None:
    """Follow with `followers` readers until all have seen the end, or `patience` is over."""
    seen = [Seen() for _ in range(order["followers"])]
    joined = [asyncio.Event() for _ in seen]

    async def listen(one: Seen, joined: asyncio.Event) -> None:
        try:
            async for _, text in bridge.read(joined=joined):
                one.times.append(time.monotonic_ns())
                one.texts.append(text)
            one.ended = True
        except Exception as error:
            one.fail(error)
            joined.set()

    tasks = [asyncio.create_task(listen(*each)) for each in zip(seen, joined, strict=True)]
    await asyncio.gather(*[each.wait() for each in joined])
    say(ready=True)
    cpu = time.process_time()
    await asyncio.wait(tasks, timeout=order["patience"])
    cpu = time.process_time() - cpu
    for one in seen:
        one.whole = "".join(one.texts)
    report(seen, cpu)
    await told()


async def join(bridge: Bridge, order: dict[str, Any]) -> None:
    """Read the stream as a page does that gets each entry as an event with its id."""
    say(ready=True)
    await told()
    started = time.perf_counter()
    body = ""
    async with aclosing(bridge.read(order["after"])) as entries:
        async for at, text in entries:
            event = json.dumps({"type": "text-delta", "id": "t0", "delta": text}, separators=(",", ":"))
            body += f"id: {at}\ndata: {event}\n\n"
            if text == word(order["count"] - 1):
                break
    took = time.perf_counter() - started
    say(ms=took * 1000, bytes=len(body), before_news=body.find(word(order["mark"])))
    await told()


ROLES: Final = {"write": write, "write_words": write_words, "follow": follow, "join": join}


async def main() -> None:
    orders = order()
    bridge = Bridge(orders)
    await ROLES[orders["role"]](bridge, orders)
    await bridge.aclose()


if __name__ == "__main__":
    asyncio.run(main())
