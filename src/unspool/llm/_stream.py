"""`MessageStream`: a source of chunks, and the states of the message in it.

Sources are iterated over or awaited. The two loops differ only in how they get the next item: `StateQueue` does the
rest for both.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast, final

from .._errors import OptionsError
from ._calls import GateStatus
from ._changes import changes
from ._config import Config
from ._deltas import Delta, Finish, Ignored
from ._diagnostics import Fault, MessageError
from ._formats.registry import deltas_for, detect
from ._message import fail, finish, reduce, reduce_chunk, start, with_format
from ._sources import ChunkDecoder, aclose_source, close_source, failure_of, items_of, refusal_of, status_of
from ._wire import StreamError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
    from types import TracebackType

    from .._options import Options
    from ._calls import Gate, ToolCall
    from ._changes import MessageEvent
    from ._message import MessageState

    OnReady = Callable[[ToolCall, Gate], object]

__all__ = ["MessageStream"]


@final
class GateWatch:
    """The gate at one path, for every call of one tool, with its last status."""

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


@final
class StateQueue:
    """Items of a source in, states of the message out. It never touches the source itself.

    Sources that are iterated over and sources that are awaited share it.
    """

    __slots__ = ("_deltas", "_gates", "_payloads", "_status", "_unread", "fault", "is_over", "states")

    def __init__(self, config: Config, format: str | None, status: int) -> None:
        self._deltas = None if format is None else deltas_for(format)
        self._payloads = ChunkDecoder()
        self._status = status  # of an HTTP response that is an error instead of a stream
        self._unread: list[bytes] = []  # the body of such a response
        self._gates: list[GateWatch] = []
        self.states = deque([start(config, format=format)])
        """The last delivered state, and the states to deliver."""
        self.is_over = False
        """There is nothing more to read."""
        self.fault: MessageError | None = None
        """The error to raise after the last state."""

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
        """End the message with the source."""
        if self._status:
            self._read(refusal_of(self._status, b"".join(self._unread)))
        try:
            chunks = self._payloads.close()
        except StreamError as error:
            return self.fail(error)
        for chunk in chunks:
            self._read(chunk)
        if self._payloads.is_done and self.states[-1].finish_reason is None:
            self._read(Finish("stop", "[DONE]"))
        self.is_over = True
        return self._add(finish(self.states[-1]))

    def fail(self, error: Exception) -> None:
        """End the message with a failure of the source."""
        self._add(fail(self.states[-1], failure_of(error)))

    def close(self) -> None:
        """End the message because the caller reads no further."""
        if not self.is_over:
            self._add(fail(self.states[-1], MessageError(Fault.CLOSED)))

    def next_state(self) -> MessageState | None:
        """Return the next state to deliver; None if there is none."""
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
            self.states[-1] = with_format(self.states[-1], name)
        self._add(reduce_chunk(self.states[-1], self._deltas(chunk)))

    def _add(self, state: MessageState) -> None:
        if state is self.states[-1]:
            return
        self.states.append(state)
        if state.is_finished and not self.is_over:  # before the source has ended
            self.is_over = True
            self.fault = state.error

    def watch(self, tool: str, path: str, callback: OnReady) -> None:
        """Watch the gate of the argument at this path, for each call of this tool."""
        self._gates.append(GateWatch(tool, path, callback))

    def settled(self, state: MessageState) -> list[tuple[OnReady, ToolCall, Gate]]:
        """Return the callbacks for the gates that this state settles, with their arguments."""
        return [(watch.callback, call, gate) for watch in self._gates for call, gate in watch.settled(state)]


@final
class MessageStream:
    """The message in a source of chunks, while it arrives.

    A source is a list or a generator of chunks (dicts or objects), a stream of a provider's own library, an HTTP
    response of httpx or requests, or bytes. Iterating yields a state for each chunk that changed something, and the
    finished state at the end. Use ``async for`` if the source must be awaited.

    >>> chunks = [{"message": {"content": "Hel"}, "done": False}, {"message": {"content": "lo"}, "done": True}]
    >>> [state.content for state in MessageStream(chunks)]
    ['Hel', 'Hello', 'Hello']
    >>> MessageStream(chunks).final().content
    'Hello'

    The states hold the errors of the model's text; only `final` raises them. A failure that ends the message at once,
    such as an error of the provider or a dropped connection, is raised by every way of reading, after the last state.
    Each is a `MessageError` with that state.

    A source is read once. The stream closes it at its end, on a failure, when a loop over it is left, and in `close`.
    """

    __slots__ = ("_is_closed", "_items", "_queue", "_source")

    def __init__(
        self,
        source: object,
        *,
        format: str | None = None,
        response_schema: object = None,
        emulate_structured_output: bool = False,
        tools: Mapping[str, object] | None = None,
        choice: int = 0,
        extract: bool = False,
        early: bool = False,
        requires_finish: bool = True,
        options: Options | None = None,
        config: Config | None = None,
    ) -> None:
        """`format` names the wire format; the default is auto-detection. The other parameters are those of `Config`."""
        if config is None:
            config = Config(
                response_schema,
                emulate_structured_output=emulate_structured_output,
                tools=tools,
                choice=choice,
                extract=extract,
                early=early,
                requires_finish=requires_finish,
                options=options,
            )
        elif response_schema is not None or tools is not None or options is not None:
            raise OptionsError("pass either config or its parameters, not both")
        self._source: Any = source
        self._items: Any = None
        self._is_closed = False
        self._queue = StateQueue(config, format, status_of(source))

    @property
    def state(self) -> MessageState:
        """The last delivered state."""
        return self._queue.states[0]

    def on_ready(self, tool: str, path: str, callback: OnReady) -> None:
        """Call the callback with the call and its gate when the argument at this path is ready, for each such call.

        The callback is also called when the argument can never become ready: the call failed, or is complete without
        it. If a call fails after its argument was ready, the callback is called again. With ``async for``, an
        awaitable result of the callback is awaited.
        """
        self._queue.watch(tool, path, callback)

    # Reading.

    def __iter__(self) -> Iterator[MessageState]:
        return self._states()

    def __aiter__(self) -> AsyncIterator[MessageState]:
        return self._astates()

    def events(self) -> Events:
        """Return the changes as events instead of states, for ``for`` or ``async for``."""
        return Events(self)

    def final(self) -> MessageState:
        """Read to the end and return the last state. Raise the `MessageError` of a failed message."""
        for _ in self._states():
            pass
        return self._final()

    async def afinal(self) -> MessageState:
        """Do the same as `final` for a source that must be awaited."""
        async for _ in self._astates():
            pass
        return self._final()

    def _final(self) -> MessageState:
        state = self.state
        if state.error is not None:
            raise state.error.raised(state)
        return state

    def _states(self) -> Generator[MessageState, None, None]:
        try:
            while (state := self._next()) is not None:
                yield state
        finally:
            self.close()

    async def _astates(self) -> AsyncGenerator[MessageState, None]:
        try:
            while (state := await self._anext()) is not None:
                yield state
        finally:
            await self.aclose()

    def _next(self) -> MessageState | None:
        queue = self._queue
        while (state := queue.next_state()) is None:
            if queue.is_over:
                self.close()
                self._raise_fault()
                return None
            if self._items is None:
                self._items = items_of(self._source, is_async=False)
            try:
                item = next(self._items)
            except StopIteration:
                queue.end()
            except Exception as error:  # noqa: BLE001 - any exception of a source is its failure
                queue.fail(error)
            else:
                queue.take(item)
        for callback, call, gate in queue.settled(state):
            callback(call, gate)
        return state

    async def _anext(self) -> MessageState | None:
        queue = self._queue
        while (state := queue.next_state()) is None:
            if queue.is_over:
                await self.aclose()
                self._raise_fault()
                return None
            if self._items is None:
                self._items = items_of(self._source, is_async=True)
            try:
                item = await self._items.__anext__()
            except StopAsyncIteration:
                queue.end()
            except Exception as error:  # noqa: BLE001 - any exception of a source is its failure
                queue.fail(error)
            else:
                queue.take(item)
        for callback, call, gate in queue.settled(state):
            waiting = callback(call, gate)
            if hasattr(waiting, "__await__"):
                await cast("Awaitable[object]", waiting)
        return state

    def _raise_fault(self) -> None:
        fault = self._queue.fault
        if fault is not None and fault.fault is not Fault.CLOSED:
            raise fault.raised(self.state)

    # Closing.

    def close(self) -> None:
        """Close the source. A message that has not ended fails, and its unread rest is lost."""
        self._queue.close()
        if not self._is_closed:
            self._is_closed = True
            close_source(self._items, self._source)

    async def aclose(self) -> None:
        """Do the same as `close` for a source that must be awaited."""
        self._queue.close()
        if not self._is_closed:
            self._is_closed = True
            await aclose_source(self._items, self._source)

    def __enter__(self) -> MessageStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> MessageStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


@final
class Events:
    """The events of a stream, in order, for ``for`` or ``async for``."""

    __slots__ = ("_stream",)

    def __init__(self, stream: MessageStream) -> None:
        self._stream = stream

    def __iter__(self) -> Generator[MessageEvent, None, None]:
        before = self._stream.state
        states = self._stream._states()
        try:
            for state in states:
                yield from changes(before, state)
                before = state
        finally:
            states.close()

    async def __aiter__(self) -> AsyncGenerator[MessageEvent, None]:
        before = self._stream.state
        states = self._stream._astates()
        try:
            async for state in states:
                for event in changes(before, state):
                    yield event
                before = state
        finally:
            await states.aclose()
