"""Iterators over any source of fragments or snapshots, and their async twins.

They deliver what came before a fault, then raise it. Where the source is a generator, it is closed together with
the iterator: when that is exhausted, closed, or no longer held by anyone. An async one is closed in time only by
`aclosing`, as every async generator.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ._chunker.snapshots import SnapshotChunker
from ._errors import JSONSyntaxError
from ._missing import MISSING
from ._parser import FragmentParser, ValueParser
from .select import Selector

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from ._events import Event
    from ._options import Options
    from ._parser import Fragment
    from .select import Pattern

    Closable = Generator[object, object, object]
    AsyncClosable = AsyncGenerator[object, object]

__all__ = [
    "News",
    "Stage",
    "achunk_snapshots",
    "aiter_events",
    "aiter_values",
    "aiterate",
    "chunk_snapshots",
    "iter_events",
    "iter_values",
    "iterate",
]

S = TypeVar("S", contravariant=True)  # what comes in
T = TypeVar("T")  # what goes out


def iter_events(
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    select: str | Pattern | None = None,
    extract: bool = False,
) -> Generator[Event, None, None]:
    """The events of a text that comes in fragments.

    With `select`, only the events of the values that match the path pattern, with everything inside them. With
    `extract`, the JSON may stand in other text.

    A text that is broken or incomplete raises its `JSONSyntaxError` after the events before it. With
    ``Options(on_error="skip")`` an error after which reading goes on is an event; only the last one is raised.
    """
    return iterate(fragments, _Events(options, select, extract))


def aiter_events(
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    select: str | Pattern | None = None,
    extract: bool = False,
) -> AsyncGenerator[Event, None]:
    """As `iter_events`, for a source that is awaited."""
    return aiterate(fragments, _Events(options, select, extract))


def iter_values(
    fragments: Iterable[Fragment], options: Options | None = None, *, every: bool = False, extract: bool = False
) -> Generator[Any, None, None]:
    """The value so far, for each fragment that changed something visible; with `every`, for each fragment.

    What was yielded never changes, and shares with the next value whatever did not change. Where one text has several
    documents, each is yielded when it closes. A text that is broken or incomplete raises its `JSONSyntaxError` after
    the values before it.
    """
    return iterate(fragments, _Values(options, every, extract))


def aiter_values(
    fragments: AsyncIterable[Fragment], options: Options | None = None, *, every: bool = False, extract: bool = False
) -> AsyncGenerator[Any, None]:
    """As `iter_values`, for a source that is awaited."""
    return aiterate(fragments, _Values(options, every, extract))


def chunk_snapshots(
    snapshots: Iterable[object], *, chunker: SnapshotChunker | None = None
) -> Generator[str, None, None]:
    """The text of a document that comes as complete snapshots, in fragments that are never empty.

    Each snapshot is JSON text or a parsed value, as for `SnapshotChunker.process`. A snapshot that cannot follow what
    is written raises its `SnapshotError`; hand in a `chunker` of your own to choose what is done about it, or to
    `flush` what was written before.
    """
    return iterate(snapshots, _Chunks(chunker))


def achunk_snapshots(
    snapshots: AsyncIterable[object], *, chunker: SnapshotChunker | None = None
) -> AsyncGenerator[str, None]:
    """As `chunk_snapshots`, for a source that is awaited."""
    return aiterate(snapshots, _Chunks(chunker))


def iterate(source: Iterable[S], stage: Stage[S, T]) -> Generator[T, None, None]:
    """What a stage makes of a source. It closes the source when it ends, however it ends."""
    with closing(cast("Closable", source)) if isinstance(source, Generator) else nullcontext():
        for piece in source:
            yield from stage.feed(piece)
            stage.raise_fault()
        yield from stage.close()
        stage.raise_fault()


async def aiterate(source: AsyncIterable[S], stage: Stage[S, T]) -> AsyncGenerator[T, None]:
    """As `iterate`, for a source that is awaited."""
    async with aclosing(cast("AsyncClosable", source)) if isinstance(source, AsyncGenerator) else nullcontext():
        async for piece in source:
            for item in stage.feed(piece):
                yield item
            stage.raise_fault()
        for item in stage.close():
            yield item
        stage.raise_fault()


class Stage(Protocol[S, T]):
    """A piece of the source in, what is to be delivered out, and the fault to raise behind it."""

    def feed(self, piece: S, /) -> list[T]:
        """What one piece brings."""
        ...

    def close(self) -> list[T]:
        """What the end brings."""
        ...

    def raise_fault(self) -> None:
        """Raise what is wrong, if anything is: called after what came before it was delivered."""
        ...


class _Events:
    def __init__(self, options: Options | None, select: str | Pattern | None, extract: bool) -> None:
        self._parser = FragmentParser(options, extract=extract)
        self._selector = None if select is None else Selector(select)
        self._fault: JSONSyntaxError | None = None

    def feed(self, fragment: Fragment) -> list[Event]:
        return self._take(self._parser.feed(fragment))

    def close(self) -> list[Event]:
        return self._take(self._parser.close())

    def _take(self, events: list[Event]) -> list[Event]:
        if self._parser.is_stopped and events:
            last = events.pop().value
            assert isinstance(last, JSONSyntaxError)
            self._fault = last
        if self._selector is not None:
            return [event for event in events if self._selector.selects(event)]
        return events

    def raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault


class News:
    """What a parser shows that it did not show before: the documents that closed, and the one that is open."""

    __slots__ = ("_is_closed", "_last", "_parser")

    def __init__(self, parser: ValueParser) -> None:
        self._parser = parser
        self._last: object = MISSING
        self._is_closed = False  # the document of the last one

    def take(self, *, every: bool = False) -> list[object]:
        """The news since the last call; with `every`, what is shown still, where there are none."""
        values: list[object] = []
        for value in self._parser.finished:
            if value is not self._last or self._is_closed:  # the next document may have the very same value
                values.append(value)
            self._last, self._is_closed = value, True
        if self._parser.value is not self._last:
            self._last, self._is_closed = self._parser.value, self._parser.is_complete
            values.append(self._last)
        return values or [self._last] if every else values


class _Values:
    def __init__(self, options: Options | None, every: bool, extract: bool) -> None:
        self._parser = ValueParser(options, extract=extract)
        self._news = News(self._parser)
        self._every = every
        self._fault: JSONSyntaxError | None = None

    def feed(self, fragment: Fragment) -> list[object]:
        try:
            self._parser.feed(fragment)
        except JSONSyntaxError as error:
            self._fault = error
        return self._news.take(every=self._every)

    def close(self) -> list[object]:
        try:
            self._parser.close()
        except JSONSyntaxError as error:
            self._fault = error
        return self._news.take()

    def raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault


class _Chunks:
    def __init__(self, chunker: SnapshotChunker | None) -> None:
        self._chunker = SnapshotChunker() if chunker is None else chunker

    def feed(self, snapshot: object) -> list[str]:
        fragment = self._chunker.process(snapshot)
        return [fragment] if fragment else []

    def close(self) -> list[str]:
        fragment = self._chunker.flush()
        return [fragment] if fragment else []

    def raise_fault(self) -> None:
        """The chunker has raised it: a snapshot that is refused adds nothing that could be delivered first."""
