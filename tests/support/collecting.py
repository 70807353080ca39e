"""What iterators and their async twins deliver, and sources of fragments that tell how they were treated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from unspool import UnspoolError

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator


class Seen:
    """What an iterator yielded, and the error that it raised behind it, if any."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.error: UnspoolError | None = None


def collected(make: Callable[[Iterable[Any]], Iterable[Any]], fragments: Iterable[Any]) -> Seen:
    """What the iterator that is made of the fragments delivers."""
    seen = Seen()
    try:
        for one in make(fragments):
            seen.values.append(one)
    except UnspoolError as error:
        seen.error = error
    return seen


def awaited(make: Callable[[AsyncIterable[Any]], AsyncIterable[Any]], fragments: Iterable[Any]) -> Seen:
    """The same, for an iterator whose source is awaited."""

    async def source() -> AsyncIterator[Any]:
        for fragment in fragments:
            await asyncio.sleep(0)
            yield fragment

    async def run() -> Seen:
        seen = Seen()
        try:
            async for one in make(source()):
                seen.values.append(one)
        except UnspoolError as error:
            seen.error = error
        return seen

    return asyncio.run(run())


class Source:
    """Fragments that tell how far they were asked for, and whether they were let go."""

    def __init__(self, *fragments: str) -> None:
        self.fragments = fragments
        self.asked = 0
        self.is_closed = False

    def plain(self) -> Iterator[str]:
        try:
            for fragment in self.fragments:
                self.asked += 1
                yield fragment
        finally:
            self.is_closed = True

    async def awaited(self) -> AsyncIterator[str]:
        try:
            for fragment in self.fragments:
                self.asked += 1
                yield fragment
        finally:
            self.is_closed = True
