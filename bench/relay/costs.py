"""What a stream and its followers cost Redis: commands, bytes, memory and connections."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

from .loads import orders
from .parts import part

if TYPE_CHECKING:
    from .loads import Contender, Sizes
    from .redis import Redis

__all__ = ["MORE", "Costs", "costs", "shares"]

MORE: Final = 50
"""The further followers, in the process of the first one."""
SETTLING: Final = 0.3


class Costs(NamedTuple):
    """What the server did and held more than before."""

    commands: Counter[str]
    to_redis: float
    from_redis: float
    key_memory: float
    connection_memory: float
    connections: float

    def over(self, other: Costs, times: int) -> Costs:
        """Return the difference to another run, divided by `times`."""
        names = self.commands.keys() | other.commands.keys()
        commands = {name: (self.commands[name] - other.commands[name]) / times for name in names}
        rest = [(one - two) / times for one, two in zip(self[1:], other[1:], strict=True)]
        return Costs(Counter(commands), *rest)


async def shares(who: Contender, redis: Redis, sizes: Sizes) -> dict[str, Costs]:
    """Return what the stream costs, its first follower, and each further one in the same process."""
    await costs(who, redis, 1, sizes._replace(pieces=1))  # the server knows the scripts from now on
    alone = await costs(who, redis, 0, sizes)
    one = await costs(who, redis, 1, sizes)
    many = await costs(who, redis, 1 + MORE, sizes)
    return {"the stream": alone, "its first follower": one.over(alone, 1), "each further one": many.over(one, MORE)}


async def costs(who: Contender, redis: Redis, followers: int, sizes: Sizes) -> Costs:
    """Write and follow a stream. Look at the server before its processes start, and when the last piece is there."""
    await redis.emptied()
    first, before = await redis.look(), await redis.look()
    order = orders(sizes, redis.url, count=sizes.pieces, rate=sizes.rate, linger=who.linger, followers=followers)
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(part(who.side, role="write", **order))
        await writer.said("ready")
        if followers:
            reader = await stack.enter_async_context(part(who.side, role="follow", **order))
            await reader.said("ready")
        writer.go_on()
        await writer.said("cpu_us")
        await asyncio.sleep(SETTLING)
        after = await redis.look()
        held = await redis.key_memory(), *await redis.connections()
    return Costs(
        after.commands - before.commands,
        after.to_redis - before.to_redis - (before.to_redis - first.to_redis),
        after.from_redis - before.from_redis - (before.from_redis - first.from_redis),
        *held,
    )
