"""What has been read of a source of chunks, without the source: items in, the states that are to be delivered out.

That is the same for sources that are iterated over and for those that are awaited, so it stands here once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, final

from ._deltas import Delta, Finish, Ignored
from ._faults import Fault, MessageError
from ._formats.registry import deltas_for, detect
from ._gates import GateStatus
from ._message import fail, finish, reduce, reduce_chunk, start
from ._sources import ChunkDecoder, failure_of, refusal_of
from ._wire import StreamError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._calls import ToolCall
    from ._config import Config
    from ._gates import Gate
    from ._message import MessageState

    OnReady = Callable[[ToolCall, Gate], object]

__all__ = ["Reading"]


@final
class Reading:
    """What has been read of a source, without the source: items in, the states that are to be delivered out."""

    __slots__ = ("_deltas", "_gates", "_payloads", "_status", "_unread", "fault", "is_over", "states")

    def __init__(self, config: Config, format: str | None, status: int) -> None:
        self._deltas = None if format is None else deltas_for(format)
        self._payloads = ChunkDecoder()
        self._status = status  # of a response that has no stream
        self._unread: list[bytes] = []  # the body of such a response
        self._gates: list[_Watch] = []
        self.states = deque([start(config)])
        """The last one that was delivered, and those that are to be."""
        self.is_over = False
        """Nothing more is to be read."""
        self.fault: MessageError | None = None
        """What is to be raised behind the last state."""

    def take(self, item: object) -> None:
        """Read an item."""
        if self._status:
            self._unread.append(item if isinstance(item, bytes) else str(item).encode())
            return None
        try:
            chunks = self._payloads.feed(item)
        except StreamError as error:
            return self.fail(error)
        for chunk in chunks:
            self._read(chunk)
        return None

    def end(self) -> None:
        """The source has ended."""
        if self._status:
            self._read(refusal_of(self._status, b"".join(self._unread)))
        try:
            chunks = self._payloads.close()
        except StreamError as error:
            return self.fail(error)
        for chunk in chunks:
            self._read(chunk)
        if self._payloads.is_done and self.states[-1].finish_reason is None:
            self._read(Finish("other", "[DONE]"))
        self.is_over = True
        return self._add(finish(self.states[-1]))

    def fail(self, error: Exception) -> None:
        """The source has failed."""
        self._add(fail(self.states[-1], failure_of(error)))

    def close(self) -> None:
        """Nobody wants to read on."""
        if not self.is_over:
            self._add(fail(self.states[-1], MessageError(Fault.CLOSED)))

    def next_state(self) -> MessageState | None:
        """The next state to deliver, if there is one."""
        if len(self.states) == 1:
            return None
        self.states.popleft()
        return self.states[0]

    def _read(self, chunk: object) -> None:
        if self.is_over:
            return
        if isinstance(chunk, Delta):
            self._add(reduce(self.states[-1], chunk))
            return
        if self._deltas is None:
            name = detect(chunk)
            if name is None:
                self._add(reduce(self.states[-1], Ignored("chunk")))
                return
            self._deltas = deltas_for(name)
        self._add(reduce_chunk(self.states[-1], self._deltas(chunk)))

    def _add(self, state: MessageState) -> None:
        if state is self.states[-1]:
            return
        self.states.append(state)
        if state.is_finished and not self.is_over:  # before the source has ended
            self.is_over = True
            self.fault = state.error

    # Gates.

    def watch(self, tool: str, path: str, callback: OnReady) -> None:
        """Call back when the argument at this path is settled, for each call of this tool."""
        self._gates.append(_Watch(tool, path, callback))

    def settled(self, state: MessageState) -> list[tuple[OnReady, ToolCall, Gate]]:
        """Whom to call back about this state."""
        return [(watch.callback, call, gate) for watch in self._gates for call, gate in watch.settled(state)]


class _Watch:
    """A gate of every call of one tool, and what it said last."""

    def __init__(self, tool: str, path: str, callback: OnReady) -> None:
        self._tool = tool
        self._path = path
        self.callback = callback
        self._seen: dict[int, tuple[ToolCall, GateStatus]] = {}

    def settled(self, state: MessageState) -> list[tuple[ToolCall, Gate]]:
        found: list[tuple[ToolCall, Gate]] = []
        for call in state.tool_calls:
            seen, status = self._seen.get(call.index, (None, GateStatus.WAITING))
            if call is seen or call.name != self._tool:
                continue
            gate = call.ready(self._path)
            self._seen[call.index] = call, gate.status
            if gate.is_settled and gate.status is not status:
                found.append((call, gate))
        return found
