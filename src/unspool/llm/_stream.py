"""`MessageStream`: a source of chunks, and the states of the message that they make.

A source is iterated over, or awaited: two loops that differ in how they get the next item, and in nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, final

from .._errors import OptionsError
from ._changes import changes
from ._config import Config
from ._faults import Fault
from ._reading import Reading
from ._sources import aclose_source, close_source, items_of, status_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator, Mapping
    from types import TracebackType

    from .._options import Options
    from ._changes import MessageEvent
    from ._message import MessageState
    from ._reading import OnReady

__all__ = ["MessageStream"]


@final
class MessageStream:
    """The message that a source of chunks makes, while it comes.

    The source is whatever has chunks: a list or a generator of them, dicts or objects; a stream of a provider's own
    library; an HTTP response of httpx or requests; bytes. Iterating gives a state for each chunk that
    changed something, and last the finished one. With ``async for`` the source is awaited.

    >>> chunks = [{"message": {"content": "Hel"}, "done": False}, {"message": {"content": "lo"}, "done": True}]
    >>> [state.content for state in MessageStream(chunks)]
    ['Hel', 'Hello', 'Hello']
    >>> MessageStream(chunks).final().content
    'Hello'

    What is wrong with what the model wrote is in the states, and raised by `final` alone. What ends the message at
    once is raised by whoever reads, after the last state: an error of the provider, a connection that dropped. Each is
    a `MessageError` with that state.

    A source is read once. It is closed when it has ended or failed, when a loop over it is left, and by `close`.
    """

    __slots__ = ("_is_closed", "_items", "_reading", "_source")

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
        """`format` names the wire format; without it, the first chunk tells. The others are those of `Config`."""
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
            raise OptionsError("a config and what goes into one cannot both be given")
        self._source: Any = source
        self._items: Any = None
        self._is_closed = False
        self._reading = Reading(config, format, status_of(source))

    @property
    def state(self) -> MessageState:
        """The last state that was delivered."""
        return self._reading.states[0]

    def on_ready(self, tool: str, path: str, callback: OnReady) -> None:
        """Call back with the call and its gate when the argument at this path is ready, for each call of the tool.

        Also when it is clear that it never will be: the call failed, or is complete without it. A call may fail after
        its argument was ready: then there is a second time. With ``async for``, what the callback returns is awaited.
        """
        self._reading.watch(tool, path, callback)

    # Reading.

    def __iter__(self) -> Iterator[MessageState]:
        return self._states()

    def __aiter__(self) -> AsyncIterator[MessageState]:
        return self._astates()

    def events(self) -> Events:
        """What changes, event by event, instead of states: to be iterated over, or awaited."""
        return Events(self)

    def final(self) -> MessageState:
        """Read to the end: the last state. Raises the `MessageError` of a message that failed."""
        for _ in self._states():
            pass
        return self._final()

    async def afinal(self) -> MessageState:
        """As `final`, for a source that is awaited."""
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
        reading = self._reading
        while (state := reading.next_state()) is None:
            if reading.is_over:
                self.close()
                self._raise_fault()
                return None
            if self._items is None:
                self._items = items_of(self._source, is_async=False)
            try:
                item = next(self._items)
            except StopIteration:
                reading.end()
            except Exception as error:  # noqa: BLE001 - whatever a source raises, it has failed
                reading.fail(error)
            else:
                reading.take(item)
        for callback, call, gate in reading.settled(state):
            callback(call, gate)
        return state

    async def _anext(self) -> MessageState | None:
        reading = self._reading
        while (state := reading.next_state()) is None:
            if reading.is_over:
                await self.aclose()
                self._raise_fault()
                return None
            if self._items is None:
                self._items = items_of(self._source, is_async=True)
            try:
                item = await self._items.__anext__()
            except StopAsyncIteration:
                reading.end()
            except Exception as error:  # noqa: BLE001 - whatever a source raises, it has failed
                reading.fail(error)
            else:
                reading.take(item)
        for callback, call, gate in reading.settled(state):
            waiting = callback(call, gate)
            if hasattr(waiting, "__await__"):
                await cast("Awaitable[object]", waiting)
        return state

    def _raise_fault(self) -> None:
        fault = self._reading.fault
        if fault is not None and fault.fault is not Fault.CLOSED:
            raise fault.raised(self.state)

    # Closing.

    def close(self) -> None:
        """Close the source. What was not read is lost, and the message with it, unless it had ended."""
        self._reading.close()
        if not self._is_closed:
            self._is_closed = True
            close_source(self._items, self._source)

    async def aclose(self) -> None:
        """As `close`, for a source that is awaited."""
        self._reading.close()
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
    """The events of a stream, in order: to be iterated over, or awaited."""

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
