"""What the processes of Python share: how they talk, what they write, and what their followers report.

A piece is its number and the time at which it was sent, in one line of 25 characters.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

__all__ = ["Seen", "order", "pieces", "report", "say", "told", "word"]


def order() -> dict[str, Any]:
    """Return what this process shall do."""
    found: dict[str, Any] = json.loads(sys.argv[1])
    return found


def say(**words: object) -> None:
    print(json.dumps(words), flush=True)


async def told() -> None:
    """Wait until the benchmark says that this process may go on."""
    await asyncio.to_thread(sys.stdin.readline)


def word(number: int) -> str:
    return f"w{number} "


async def pieces(first: int, count: int, rate: float) -> AsyncIterator[tuple[int, str]]:
    """Yield the pieces from `first` on, each when it is due."""
    started = time.monotonic()
    for number in range(first, count):
        await asyncio.sleep(max(started + (number - first) / rate - time.monotonic(), 0))
        yield number, f"{number:07d} {time.monotonic_ns() // 1000:016d}\n"


@dataclass
class Seen:
    """What one follower has got: when, and which text. `noticed_at` is when it learned that something is wrong.

    Nothing that it keeps is a container of its own: the garbage collector would look at 100,000 of them in the middle
    of a run. roles.mjs does the same.
    """

    asked_at: float = field(default_factory=time.monotonic)
    times: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    whole: str = ""
    ended: bool = False
    error: str | None = None
    noticed_at: float | None = None

    def notice(self) -> None:
        if self.noticed_at is None:
            self.noticed_at = time.monotonic()
            say(noticed_at=self.noticed_at)

    def fail(self, error: Exception) -> None:
        self.error = f"{type(error).__name__}: {error}"
        self.notice()


def report(seen: Sequence[Seen], cpu: float) -> None:
    """Tell what the followers have seen; the details are those of the first one."""
    one = seen[0]
    ages = [
        arrived / 1e6 - int(line[8:]) / 1e3
        for each in seen
        for arrived, text in zip(each.times, each.texts, strict=True)
        for line in text.splitlines()
    ]
    ages = sorted(ages) or [0.0]
    pauses = [(later - earlier) / 1e9 for earlier, later in pairwise(one.times)]
    say(
        p50=ages[len(ages) // 2],
        p99=ages[int(len(ages) * 0.99)],
        cpu=cpu,
        same=all(each.whole == one.whole and each.ended == one.ended for each in seen),
        numbers=[int(line[:7]) for line in one.whole.splitlines()],
        pause=max(pauses, default=0.0),
        ended=one.ended,
        error=one.error,
        asked_at=one.asked_at,
        noticed_at=one.noticed_at,
    )
