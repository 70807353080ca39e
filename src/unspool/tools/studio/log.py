"""The patches of a session, once for all who follow it: each client is a number, that of the last patch it has.

A patch is written down as it goes over the wire. The log is bounded; who comes back too late gets the whole document.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, final

from ...llm._wire import SSEEvent, encode_sse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...patch import Operation

__all__ = ["Log", "Portion"]


class Portion(NamedTuple):
    """Some frames for a client, and the number of the last patch in them."""

    data: bytes
    last: int


@final
class Log:
    """The document of a session as it is now, and the last patches that led to it. For the event loop alone."""

    def __init__(self, document: Any, *, most_patches: int, most_bytes: int, retry: int) -> None:
        self.document = document
        self.last = 0
        """The number of the last patch."""
        self.is_over = False
        """The session is gone: nothing more will come."""
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._most_patches = most_patches
        self._most_bytes = most_bytes
        self._retry = retry
        self._whole: bytes | None = None
        self._news = asyncio.Event()

    def publish(self, operations: Sequence[Operation], document: Any) -> None:
        """One more patch, and the document that it makes."""
        if not operations:
            return
        self.last += 1
        self.document = document
        frame = self._frame(operations)
        self._frames.append(frame)
        self._size += len(frame)
        while len(self._frames) > self._most_patches or (self._size > self._most_bytes and len(self._frames) > 1):
            self._size -= len(self._frames.popleft())
        self._whole = None
        self._wake()

    def end(self) -> None:
        """The session is gone."""
        self.is_over = True
        self._wake()

    def after(self, last: int | None, most: int) -> Portion | None:
        """What comes after this patch, about `most` bytes of it; None where there is nothing yet.

        For None, and for a number that is too old or was never given, it is the whole document.
        """
        kept = len(self._frames)
        if last is None or not self.last - kept <= last <= self.last:
            return Portion(self._document(), self.last)
        if last == self.last:
            return None
        taken: list[bytes] = []
        size = 0
        for index in range(kept - (self.last - last), kept):
            frame = self._frames[index]
            if taken and size + len(frame) > most:
                break
            taken.append(frame)
            size += len(frame)
        return Portion(taken[0] if len(taken) == 1 else b"".join(taken), last + len(taken))

    async def news(self) -> None:
        """Wait until there is more, or nothing more will come."""
        if not self.is_over:
            await self._news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _document(self) -> bytes:
        """The same bytes for everybody."""
        if self._whole is None:
            self._whole = self._frame([{"op": "replace", "path": "", "value": self.document}], self._retry)
        return self._whole

    def _frame(self, operations: Sequence[Operation], retry: int | None = None) -> bytes:
        # ASCII: half of a surrogate pair may be in a text, and cannot be in a stream.
        data = json.dumps(operations, separators=(",", ":"))
        return encode_sse(SSEEvent(data, event="patch", id=str(self.last), retry=retry))
