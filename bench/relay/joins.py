"""What a page has to read that comes late, and one that comes back after a drop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .loads import orders
from .parts import ASSISTANT, BRIDGE, DURABLE, OPENAI, RESUMABLE, UNSPOOL, part, store

if TYPE_CHECKING:
    from .loads import Sizes
    from .parts import Side
    from .redis import Redis

__all__ = ["LATE", "RESUMES", "Joined", "Page", "join"]


class Page(NamedTuple):
    """A page of one side, and what it asks for."""

    title: str
    side: Side
    wire: str = ""


LATE: Final = (
    Page("unspool, wire `patch`", UNSPOOL, "patch"),
    Page("unspool, wire `vercel-ui`", UNSPOOL, "vercel-ui"),
    Page("resumable-stream", RESUMABLE),
    Page("assistant-stream", ASSISTANT),
    Page("plain bridge", BRIDGE),
    Page("durable-streams", DURABLE),
)
RESUMES: Final = (
    Page("unspool, wire `patch`, by cursor", UNSPOOL, "patch"),
    Page("resumable-stream, by characters", RESUMABLE),
    Page("assistant-stream, which has no cursor", ASSISTANT),
    Page("plain bridge, by cursor", BRIDGE),
    Page("durable-streams, by cursor", DURABLE),
    Page("openai-python, `responses.stream(starting_after=n)`", OPENAI, "stream"),
    Page("openai-python, `responses.retrieve(starting_after=n)`", OPENAI, "retrieve"),
)


class Joined(NamedTuple):
    """What a page has read until its text was complete. `before_news` are the bytes before the first new word."""

    client_bytes: int
    before_news: int
    redis_bytes: int | None
    ms: float


async def join(page: Page, redis: Redis, sizes: Sizes, *, is_resume: bool) -> Joined:
    """Open a stream of many words in a process that has not read it yet."""
    has_redis = not page.side.has_server and page.side is not OPENAI
    async with store(page.side, redis) as url:
        order = orders(sizes, url, count=sizes.words, mark=sizes.mark, wire=page.wire)
        async with part(page.side, role="write_words", **order) as writer:
            mark = (await writer.said("mark"))["mark"]
            async with part(page.side, role="join", after=mark if is_resume else "", **order) as reader:
                await reader.said("ready")
                first = (await redis.look()).from_redis
                before = (await redis.look()).from_redis
                reader.go_on()
                seen = await reader.said("bytes")
                own = before - first  # the answer to this question
                sent = (await redis.look()).from_redis - before - own
    return Joined(seen["bytes"], seen["before_news"], sent if has_redis else None, seen["ms"])
