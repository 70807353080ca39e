"""`MessageStream` and `ChoiceStream`: a source of chunks, and the states of the messages in it.

Sources are iterated over or awaited. The two loops differ only in how they get the next item and in what they do with
the results of callbacks: `StateQueue` does the rest for both. A `MessageStream` follows one choice of its source, a
`ChoiceStream` all of them; they differ only in the queue and in how they present the states.
"""

from __future__ import annotations

from collections import deque
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, final

from .._errors import OptionsError
from ._calls import GateStatus
from ._changes import changed_calls, changes
from ._config import MAX_PARTS, Config
from ._deltas import Delta, Finish, Ignored, MessageData, MessageStart, ProviderError, Usage
from ._diagnostics import Fault, MessageError
from ._formats.chunks import string
from ._formats.registry import deltas_for, detect
from ._message import fail, finish, reduce_chunk, start, with_format
from ._sources import ChunkDecoder, aclose_source, close_source, failure_of, items_of, refusal_of, status_of
from ._wire import StreamError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Generator,
        Iterable,
        Iterator,
        Mapping,
    )
    from types import TracebackType
    from typing import Literal, Self

    from .._options import Options
    from ._calls import Gate, ToolCall
    from ._changes import MessageEvent
    from ._message import MessageState

    OnReady = Callable[[ToolCall, Gate], object]
    OnChoiceReady = Callable[[int, ToolCall, Gate], object]

DONE_FORMATS: Final = (None, "openai-chat")
"""The formats that may end with ``[DONE]`` alone; the others have an event for the end."""

__all__ = ["ChoiceStream", "MessageStream"]

T = TypeVar("T")

MAX_CHOICES: Final = 256
"""The number of choices that a `ChoiceStream` follows. Deltas of further choices count as unknown events."""
MAX_SHARED: Final = 100
"""The number of earlier deltas without a choice that a new choice gets to know."""

RAISED: Final = frozenset({Fault.UNFINISHED, Fault.INTERRUPTED, Fault.PROVIDER, Fault.TRANSPORT})
"""The faults that every way of reading raises after the last state."""


# ---- from items to states ----------------------------------------------------------------------------


@final
class GateWatch:
    """The gate at one path, for every call of one tool in one message, with its last status."""

    def __init__(self, tool: str, path: str, callback: Callable[..., object], guesses: bool = True) -> None:
        self._tool = tool
        self._path = path
        self._guesses = guesses
        self.callback = callback
        self._seen: dict[int, tuple[ToolCall, GateStatus]] = {}

    def settled(self, calls: Iterable[ToolCall]) -> list[tuple[ToolCall, Gate]]:
        found: list[tuple[ToolCall, Gate]] = []
        for call in calls:
            seen, status = self._seen.get(call.index, (None, GateStatus.WAITING))
            if call is seen or call.name != self._tool:
                continue
            gate = call.ready(self._path, guesses=self._guesses)
            self._seen[call.index] = call, gate.status
            if gate.is_settled and gate.status is not status:
                found.append((call, gate))
        return found


class StateQueue:
    """Items of a source in, states of its message out. It never touches the source itself.

    Sources that are iterated over and sources that are awaited share it.
    """

    __slots__ = (
        "_deltas",
        "_format",
        "_gates",
        "_named",
        "_payloads",
        "_status",
        "_unread",
        "_waiting",
        "_watched",
        "_watches",
        "config",
        "delivered",
        "is_over",
        "latest",
    )

    def __init__(self, config: Config, format: str | None, status: int) -> None:
        self._deltas = None if format is None else deltas_for(format)
        self._format = format
        self._named: set[int] = set()  # the choices whose id and model are known
        self._payloads = ChunkDecoder()
        self._status = status  # of an HTTP response that is an error instead of a stream
        self._unread: list[bytes] = []  # the body of such a response
        self._gates: list[tuple[str, str, Callable[..., object], bool]] = []
        self._watches: dict[int, list[GateWatch]] = {}
        self._watched: dict[int, MessageState] = {}  # the states that the watches have seen
        self._waiting: deque[MessageState] = deque()  # the states to deliver
        self.config = config
        self.latest: dict[int, MessageState] = {}
        """The last state of each choice, delivered or not."""
        self.delivered: dict[int, MessageState] = {}
        """The last delivered state of each choice."""
        self.is_over = False
        """There is nothing more to read."""
        self._start()

    def _start(self) -> None:
        first = start(self.config, format=self._format)
        self.latest[first.choice] = self.delivered[first.choice] = first

    @property
    def is_empty(self) -> bool:
        """There is nothing more to read and nothing more to deliver."""
        return self.is_over and not self._waiting

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
            return self._fail(refusal_of(self._status, b"".join(self._unread)))
        try:
            chunks = self._payloads.close()
        except StreamError as error:
            return self.fail(error)
        for chunk in chunks:
            self._read(chunk)
        self._ensure_message()
        for choice, state in list(self.latest.items()):
            if self._payloads.is_done and state.finish_reason is None and self._format in DONE_FORMATS:
                self._reduce([Finish("stop", "[DONE]", choice)])
        for choice, state in self.latest.items():
            self._add(choice, finish(state))
        self.is_over = True
        return None

    def fail(self, error: Exception) -> None:
        """End the message with a failure of the source."""
        self._fail(failure_of(error))

    def close(self) -> None:
        """End the message because the caller reads no further."""
        if not self.is_over:
            self._fail(MessageError(Fault.CLOSED))

    def failure(self) -> MessageError | None:
        """Return the error to raise after the last state."""
        for _, state in sorted(self.latest.items()):
            error = state.error
            if error is not None and error.fault in RAISED:
                return error.raised(state)
        return None

    def next_state(self) -> MessageState | None:
        """Return the next state to deliver; None if there is none."""
        if not self._waiting:
            return None
        state = self._waiting.popleft()
        self.delivered[state.choice] = state
        return state

    def _read(self, chunk: object) -> None:
        if self.is_over:
            return
        if isinstance(chunk, Delta):
            self._reduce([chunk])
            return
        if self._deltas is None:
            name = detect(chunk)
            if name is None:
                self._reduce([Ignored("chunk")])
                return
            self._deltas = deltas_for(name)
            self._format = name
            for choice, state in self.latest.items():
                self.latest[choice] = with_format(state, name)
        deltas = self._deltas(chunk)
        if self._format == "openai-chat" and not self._is_named:
            deltas = [*self._names(chunk, deltas), *deltas]
        self._reduce(deltas)

    def _reduce(self, deltas: list[Delta]) -> None:
        """Add the states after the deltas of one chunk."""
        choice = self.config.choice
        state = reduce_chunk(self.latest[choice], deltas)
        self._add(choice, state)
        self.is_over = state.is_finished

    @property
    def _is_named(self) -> bool:
        """Every message to come has its id and model."""
        return bool(self._named)

    def _names(self, chunk: object, deltas: list[Delta]) -> list[Delta]:
        """Return the starts of the messages that begin in this chunk: its reader names them only with their role."""
        found: list[Delta] = []
        named, model = string(chunk, "id") or None, string(chunk, "model") or None
        for choice in {getattr(delta, "choice", None): None for delta in deltas if not isinstance(delta, MessageData)}:
            if isinstance(choice, int) and self._is_read(choice) and choice not in self._named:
                self._named.add(choice)
                found.append(MessageStart(None, named, model, choice))
        return found if named is not None or model is not None else []

    def _is_read(self, choice: int) -> bool:
        return choice == self.config.choice

    def _ensure_message(self) -> None:
        """Make sure that there is a message to end."""

    def _fail(self, error: MessageError) -> None:
        self._ensure_message()
        for choice, state in self.latest.items():
            self._add(choice, fail(state, error))
        self.is_over = True

    def _add(self, choice: int, state: MessageState) -> None:
        if state is not self.latest[choice]:
            self.latest[choice] = state
            self._waiting.append(state)

    def watch(self, tool: str, path: str, callback: Callable[..., object], guesses: bool) -> None:
        """Watch the gate of the argument at this path, for each call of this tool."""
        self._gates.append((tool, path, callback, guesses))

    def settled(self, state: MessageState) -> list[tuple[Callable[..., object], ToolCall, Gate]]:
        """Return the callbacks for the gates that this state settles, with their arguments."""
        if not self._gates:
            return []
        before = self._watched.get(state.choice)
        self._watched[state.choice] = state
        watches = self._watches.setdefault(state.choice, [])
        if before is not None and len(watches) == len(self._gates):
            calls = changed_calls(before, state)
        else:
            calls = list(state.tool_calls)
        watches += [GateWatch(*gate) for gate in self._gates[len(watches) :]]
        return [(watch.callback, call, gate) for watch in watches for call, gate in watch.settled(calls)]


@final
class ChoiceQueue(StateQueue):
    """Items of a source in, states of all its choices out.

    Deltas without a choice, such as the usage, belong to every choice, also to those that begin after them.
    """

    __slots__ = ("_shared", "_usage")

    def _start(self) -> None:
        self._shared: list[Delta] = []
        self._usage: Usage | None = None

    def _reduce(self, deltas: list[Delta]) -> None:
        has_end = False
        for choice, own in self._by_choice(deltas).items():
            state = reduce_chunk(self.latest[choice], own)
            self._add(choice, state)
            has_end = has_end or state.is_finished
        self.is_over = has_end and all(state.is_finished for state in self.latest.values())

    def _by_choice(self, deltas: list[Delta]) -> dict[int, list[Delta]]:
        """Return the deltas for each choice that they touch, and begin the new choices."""
        found: dict[int, list[Delta]] = {}
        for delta in deltas:
            choice = cast("object", getattr(delta, "choice", None))
            if type(choice) is int and choice >= 0:
                if choice not in self.latest and len(self.latest) < MAX_CHOICES:
                    found[choice] = self._begin(choice)
                if choice in self.latest:
                    found.setdefault(choice, []).append(delta)
                    continue
            shared = delta if choice is None else Ignored("choice")
            if isinstance(shared, ProviderError):
                self._ensure_message()
            for other in self.latest:
                found.setdefault(other, []).append(shared)
            self._keep(shared)
        return found

    @property
    def _is_named(self) -> bool:
        return False

    def _is_read(self, choice: int) -> bool:
        return choice >= 0

    def _begin(self, choice: int) -> list[Delta]:
        """Begin a choice. Return the earlier deltas that belong to it too."""
        self.latest[choice] = start(self.config.for_choice(choice), format=self._format)
        return [*self._shared] if self._usage is None else [self._usage, *self._shared]

    def _keep(self, delta: Delta) -> None:
        """Keep a delta for the choices that have not begun."""
        if self._shared and isinstance(self._shared[-1], ProviderError):
            return  # they begin with their end
        is_silent = isinstance(delta, Ignored) and delta.is_known
        if isinstance(delta, Usage):
            self._usage = delta.over(self._usage)
        elif isinstance(delta, ProviderError) or (len(self._shared) < MAX_SHARED and not is_silent):
            self._shared.append(delta)

    def _ensure_message(self) -> None:
        if not self.latest:
            known = self._begin(0)
            self._add(0, reduce_chunk(self.latest[0], known))


# ---- the results of callbacks ------------------------------------------------------------------------


@final
class CallbackTasks:
    """The awaitable results of callbacks, which run as tasks beside the stream."""

    __slots__ = ("_ended", "_running")

    def __init__(self) -> None:
        self._running: dict[asyncio.Future[object], None] = {}  # in the order of their start
        self._ended: deque[asyncio.Future[object]] = deque()

    async def start(self, awaitable: Awaitable[object]) -> None:
        """Start a task. Where asyncio does not run, a task cannot start on its own: await the awaitable."""
        if not _is_asyncio_running():
            await awaitable
            return
        import asyncio

        task = asyncio.ensure_future(awaitable)
        self._running[task] = None
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Future[object]) -> None:
        self._running.pop(task, None)
        self._ended.append(task)

    def raise_failure(self) -> None:
        """Raise the exception of the first task that has failed, unless a task asks. Report those of other tasks."""
        if not self._ended or self._current() in self._running:
            return
        while self._ended:
            task = self._ended.popleft()
            error = None if task.cancelled() else task.exception()
            if error is not None:
                self.report()
                raise error

    def report(self) -> None:
        """Report the exceptions of tasks to the event loop, because they cannot be raised."""
        while self._ended:
            task = self._ended.popleft()
            error = None if task.cancelled() else task.exception()
            if error is not None:
                context = {"message": "a callback of on_ready failed", "exception": error, "future": task}
                task.get_loop().call_exception_handler(context)

    def cancel(self) -> None:
        """Ask the tasks to stop, except the current one: a callback may close its own stream."""
        current = self._current()
        for task in self._running:
            if task is not current:
                task.cancel()

    async def wait(self) -> None:
        """Wait until the tasks have ended, unless a task asks. If the waiting task is cancelled, so are they."""
        while self._running and self._current() not in self._running:
            import asyncio

            await asyncio.gather(*self._running, return_exceptions=True)

    def _current(self) -> asyncio.Future[object] | None:
        if not self._running or not _is_asyncio_running():
            return None
        import asyncio

        return asyncio.current_task()


def _is_asyncio_running() -> bool:
    import asyncio  # only a stream with an async callback needs it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# ---- streams -----------------------------------------------------------------------------------------


class SourceReader:
    """The common part of the streams: reading a source once, calling callbacks, and closing."""

    __slots__ = ("_closer", "_is_closed", "_is_reading", "_items", "_queue", "_source", "_tasks")

    def __init__(self, source: object, queue: StateQueue) -> None:
        self._source: Any = source
        self._items: Any = None
        self._closer: AsyncGenerator[None, None] | None = None  # of a source that is awaited
        self._is_closed = False
        self._is_reading = False  # a task waits for the next item
        self._queue = queue
        self._tasks = CallbackTasks()

    def __iter__(self) -> Iterator[MessageState]:
        return self._states()

    def __aiter__(self) -> AsyncIterator[MessageState]:
        return AsyncReading(self, _alone)

    def _states(self) -> Generator[MessageState, None, None]:
        try:
            while (state := self._next()) is not None:
                yield state
        finally:
            self.close()

    def _next(self) -> MessageState | None:
        queue = self._queue
        while (state := queue.next_state()) is None:
            if queue.is_over:
                self.close()
                self._raise_failure()
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
            result = self._called(callback, state, call, gate)
            if isinstance(result, CoroutineType):
                result.close()
                raise TypeError("an async callback of on_ready needs `async for`")
        return state

    async def _anext(self) -> MessageState | None:
        try:
            return await self._astep()
        except BaseException:
            await self._abandon()
            raise

    async def _astep(self) -> MessageState | None:
        queue = self._queue
        while (state := queue.next_state()) is None:
            if queue.is_over:
                await self.aclose()
                self._raise_failure()
                return None
            if self._items is None:
                self._items = items_of(self._source, is_async=True)
                self._closer = _closer_of(self._items, self._source)
                await anext(self._closer)
            self._is_reading = True
            try:
                item = await self._items.__anext__()
            except StopAsyncIteration:
                queue.end()
            except Exception as error:  # noqa: BLE001 - any exception of a source is its failure
                queue.fail(error)
            else:
                queue.take(item)
            finally:
                self._is_reading = False
        for callback, call, gate in queue.settled(state):
            result = self._called(callback, state, call, gate)
            if hasattr(result, "__await__"):
                await self._tasks.start(cast("Awaitable[object]", result))
        self._tasks.raise_failure()
        return state

    def _called(self, callback: Callable[..., object], state: MessageState, call: ToolCall, gate: Gate) -> object:
        """Return the result of a callback."""
        return callback(call, gate)

    def _raise_failure(self) -> None:
        failure = self._queue.failure()
        if failure is not None:
            raise failure

    # Closing.

    def close(self) -> None:
        """Close the source. A message that has not ended fails, and its unread rest is lost.

        A source that is awaited is closed by `aclose`, by the end of its loop, or with the stream.
        """
        if not self._queue.is_empty:
            self._tasks.cancel()
        self._queue.close()
        if not self._is_closed and self._closer is None:
            self._is_closed = True
            close_source(self._items, self._source)

    async def aclose(self) -> None:
        """Do the same as `close` for a source that must be awaited, and wait for the tasks of callbacks.

        Tasks that still run are cancelled if the stream was left before its last state. If another task waits for the
        source, that task closes it as soon as the source answers.
        """
        if not self._queue.is_empty:
            self._tasks.cancel()
        try:
            await self._aclose_source()
            await self._tasks.wait()
        except BaseException:
            await self._abandon()
            raise
        self._tasks.raise_failure()

    async def _abandon(self) -> None:
        """Close the source because of an exception, which no other one may replace."""
        self._tasks.cancel()
        try:
            await self._aclose_source()
        finally:
            await self._tasks.wait()
            self._tasks.report()

    async def _aclose_source(self) -> None:
        self._queue.close()
        if not self._is_closed and not self._is_reading:
            self._is_closed = True
            if self._closer is None:
                await aclose_source(self._items, self._source)
            else:
                await self._closer.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if error is None:
            await self.aclose()
        else:
            await self._abandon()


async def _closer_of(items: object, source: object) -> AsyncGenerator[None, None]:
    """Close the source when this generator is closed.

    The event loop closes it after the destruction of a stream that was left without `aclose`. No other object can be
    reading the source by then.
    """
    try:
        yield
    finally:
        await aclose_source(items, source)


@final
class MessageStream(SourceReader):
    """The message in a source of chunks, while it arrives.

    A source is a list or a generator of chunks (dicts or objects), a stream of a provider's own library, an HTTP
    response of httpx or requests, or bytes. Iterating yields a state for each chunk that changed something, and the
    finished state at the end. Use ``async for`` for an asynchronous source.

    >>> chunks = [{"message": {"content": "Hel"}, "done": False}, {"message": {"content": "lo"}, "done": True}]
    >>> [state.content for state in MessageStream(chunks)]
    ['Hel', 'Hello', 'Hello']
    >>> MessageStream(chunks).final().content
    'Hello'

    The states hold the errors of the model's text; only `final` raises them. Every way of reading raises a failure that
    ends the message: an error of the provider, a dropped connection, a source that ends without a finish reason. The
    `MessageError` follows the last state, and has that state.

    A source is read once. The stream closes it at its end, on a failure, and in `close` or `aclose`. Leaving a ``for``
    loop closes it too. Python does not notify an async iterator when its loop is left. So with ``async for``, use
    ``async with MessageStream(...) as stream``, which closes the source at the end of the block.
    """

    __slots__ = ()

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
        max_parts: int | None = MAX_PARTS,
        options: Options | None = None,
        repair: Literal["none", "spelling", "guess"] | None = None,
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
                max_parts=max_parts,
                options=options,
                repair=repair,
            )
        else:
            _check_alone(response_schema, tools, options, repair)
        super().__init__(source, StateQueue(config, format, status_of(source)))

    @property
    def state(self) -> MessageState:
        """The last delivered state."""
        return self._queue.delivered[self._queue.config.choice]

    def on_ready(self, tool: str, path: str, callback: OnReady, *, guesses: bool = True) -> None:
        """Call the callback with the call and its gate when the argument at this path is ready, for each such call.

        The callback is also called when the argument can never become ready: the call failed, or is complete without
        it. If a call fails after its argument was ready, the callback is called again. `guesses` has the same meaning
        as in `ToolCall.ready`.

        With ``async for``, an awaitable result of the callback runs as a task of asyncio, and does not hold up the
        stream. The loop ends when all tasks have ended. The next read after a task has failed raises its exception.
        Leaving the stream before its last state cancels the tasks, and `aclose` waits for them.
        """
        self._queue.watch(tool, path, callback, guesses)

    def events(self) -> Events[MessageEvent]:
        """Return the changes as events instead of states, for ``for`` or ``async for``."""
        return Events(self, _events_of)

    def final(self) -> MessageState:
        """Read to the end and return the last state. Raise the `MessageError` of a failed message."""
        for _ in self._states():
            pass
        return self._final()

    async def afinal(self) -> MessageState:
        """Do the same as `final` for a source that must be awaited."""
        while await self._anext() is not None:
            pass
        return self._final()

    def _final(self) -> MessageState:
        return _unfailed(self.state)


@final
class ChoiceStream(SourceReader):
    """All choices in a source of chunks, while they arrive: the answers to a request with ``n`` greater than 1.

    The source is read once, so a generator or the response of a provider will do. Iterating yields a state for each
    choice that a chunk changed; its `choice` tells which one it is. A choice appears with its first chunk.

    >>> chunks = [
    ...     {"choices": [{"index": 1, "delta": {"content": "Salut"}}]},
    ...     {"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]},
    ...     {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]},
    ... ]
    >>> [(state.choice, state.content) for state in ChoiceStream(chunks) if not state.is_finished]
    [(1, 'Salut'), (0, 'Hello'), (1, 'Salut')]
    >>> [state.content for state in ChoiceStream(chunks).final()]
    ['Hello', 'Salut']

    Errors, closing and ``async for`` are those of `MessageStream`. A failure of the source ends all choices. A source
    without any choice has the choice 0, which has failed.
    """

    __slots__ = ()

    def __init__(
        self,
        source: object,
        *,
        format: str | None = None,
        response_schema: object = None,
        emulate_structured_output: bool = False,
        tools: Mapping[str, object] | None = None,
        extract: bool = False,
        early: bool = False,
        requires_finish: bool = True,
        max_parts: int | None = MAX_PARTS,
        options: Options | None = None,
        repair: Literal["none", "spelling", "guess"] | None = None,
        config: Config | None = None,
    ) -> None:
        """The parameters are those of `MessageStream`. The stream ignores the `choice` of a config."""
        if config is None:
            config = Config(
                response_schema,
                emulate_structured_output=emulate_structured_output,
                tools=tools,
                extract=extract,
                early=early,
                requires_finish=requires_finish,
                max_parts=max_parts,
                options=options,
                repair=repair,
            )
        else:
            _check_alone(response_schema, tools, options, repair)
            start(config)  # rejects other objects
        super().__init__(source, ChoiceQueue(config, format, status_of(source)))

    @property
    def states(self) -> dict[int, MessageState]:
        """The last delivered state of each choice, in the order of their numbers."""
        return dict(sorted(self._queue.delivered.items()))

    def on_ready(self, tool: str, path: str, callback: OnChoiceReady, *, guesses: bool = True) -> None:
        """Do the same as `MessageStream.on_ready`. The callback gets the number of the choice first."""
        self._queue.watch(tool, path, callback, guesses)

    def events(self) -> Events[tuple[int, MessageEvent]]:
        """Return the changes as pairs of a choice and an event, for ``for`` or ``async for``."""
        return Events(self, _choice_events_of)

    def final(self) -> tuple[MessageState, ...]:
        """Read to the end and return the last states, in the order of the choices.

        Raise the `MessageError` of the first choice that failed; `states` has the others.
        """
        for _ in self._states():
            pass
        return self._final()

    async def afinal(self) -> tuple[MessageState, ...]:
        """Do the same as `final` for a source that must be awaited."""
        while await self._anext() is not None:
            pass
        return self._final()

    def _final(self) -> tuple[MessageState, ...]:
        return tuple([_unfailed(state) for state in self.states.values()])

    def _called(self, callback: Callable[..., object], state: MessageState, call: ToolCall, gate: Gate) -> object:
        return callback(state.choice, call, gate)


def _check_alone(response_schema: object, tools: object, options: object, repair: object) -> None:
    if response_schema is not None or tools is not None or options is not None or repair is not None:
        raise OptionsError("pass either config or its parameters, not both")


def _unfailed(state: MessageState) -> MessageState:
    """Return the last state of a message, or raise its error."""
    if state.error is not None:
        raise state.error.raised(state)
    return state


# ---- states and events -------------------------------------------------------------------------------


@final
class AsyncReading(Generic[T]):
    """An async iterator over a stream. Leaving a loop over it does not change the stream, nor does its destruction."""

    __slots__ = ("_items", "_stream", "_view")

    def __init__(self, stream: SourceReader, view: Callable[[MessageState], Iterable[T]]) -> None:
        self._stream = stream
        self._view = view
        self._items: deque[T] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            state = await self._stream._anext()
            if state is None:
                raise StopAsyncIteration
            self._items.extend(self._view(state))
        return self._items.popleft()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


@final
class Events(Generic[T]):
    """The events of a stream, in order, for ``for`` or ``async for``."""

    __slots__ = ("_make", "_stream")

    def __init__(self, stream: SourceReader, make: Callable[[MessageState, MessageState], Iterable[T]]) -> None:
        self._stream = stream
        self._make = make

    def __iter__(self) -> Generator[T, None, None]:
        view = self._view()
        states = self._stream._states()
        try:
            for state in states:
                yield from view(state)
        finally:
            states.close()

    def __aiter__(self) -> AsyncReading[T]:
        return AsyncReading(self._stream, self._view())

    def _view(self) -> Callable[[MessageState], Iterable[T]]:
        """Return a function from a state to its events since the state before."""
        seen = dict(self._stream._queue.delivered)
        make = self._make

        def view(state: MessageState) -> Iterable[T]:
            before = seen.get(state.choice)
            seen[state.choice] = state
            return make(start(state.config) if before is None else before, state)

        return view


def _alone(state: MessageState) -> tuple[MessageState]:
    return (state,)


def _events_of(before: MessageState, state: MessageState) -> list[MessageEvent]:
    return changes(before, state)


def _choice_events_of(before: MessageState, state: MessageState) -> list[tuple[int, MessageEvent]]:
    return [(state.choice, event) for event in changes(before, state)]
