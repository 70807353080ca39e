"""Iterators over any source of fragments or snapshots, and their async counterparts.

Each iterator yields everything parsed before an error and then raises it. If the source is a generator, the iterator
closes it when it finishes, fails, is closed, or is garbage-collected. Like every async generator, the async iterators
need `contextlib.aclosing` to be closed promptly.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing, nullcontext
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from ._chunker.snapshots import SnapshotChunker
from ._errors import JSONSyntaxError, OptionsError
from ._missing import MISSING
from ._parser import FragmentParser, ValueParser
from .select import Selector

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from ._chunker.snapshots import OnConflict, OnStall
    from ._events import Event
    from ._options import Options
    from ._parser import Fragment
    from .select import Pattern

    Closable = Generator[object, object, object]
    AsyncClosable = AsyncGenerator[object, object]

__all__ = [
    "News",
    "StreamStage",
    "achunk_snapshots",
    "aiter_events",
    "aiter_values",
    "aiterate",
    "chunk_snapshots",
    "iter_events",
    "iter_values",
    "iterate",
]

S = TypeVar("S", contravariant=True)  # the pieces of the source
T = TypeVar("T")  # the items that the iterator yields


def iter_events(
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    select: str | Pattern | None = None,
    extract: bool = False,
) -> Generator[Event, None, None]:
    """Yield the events of a text that arrives in fragments.

    With `select`, yield only the events of values that match the path pattern, and of everything inside them. With
    ``extract=True``, other text may surround the JSON.

    Invalid or incomplete text raises `JSONSyntaxError` after the events before the error. With
    ``Options(on_error="skip")``, errors that the parser skips are events; only an error that ends the parsing is
    raised.
    """
    return iterate(fragments, _Events(options, select, extract))


def aiter_events(
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    select: str | Pattern | None = None,
    extract: bool = False,
) -> AsyncGenerator[Event, None]:
    """Yield the events of an async source, like `iter_events`."""
    return aiterate(fragments, _Events(options, select, extract))


def iter_values(
    fragments: Iterable[Fragment], options: Options | None = None, *, every: bool = False, extract: bool = False
) -> Generator[Any, None, None]:
    """Yield the value so far after each fragment that changes it; with ``every=True``, after each fragment.

    Yielded values never change, and the next value shares all unchanged parts with them. If a text has several
    documents, each of them is yielded when it closes. Invalid or incomplete text raises `JSONSyntaxError` after the
    values before the error.
    """
    return iterate(fragments, _Values(options, every, extract))


def aiter_values(
    fragments: AsyncIterable[Fragment], options: Options | None = None, *, every: bool = False, extract: bool = False
) -> AsyncGenerator[Any, None]:
    """Yield the values of an async source, like `iter_values`."""
    return aiterate(fragments, _Values(options, every, extract))


def chunk_snapshots(
    snapshots: Iterable[object],
    *,
    on_conflict: OnConflict = "raise",
    patience: int = 0,
    empty: Literal["write", "wait"] = "write",
    on_stall: OnStall | None = None,
    chunker: SnapshotChunker | None = None,
) -> Generator[str, None, None]:
    """Yield the text of a document that arrives as complete snapshots, in fragments that are never empty.

    Each snapshot is JSON text or a parsed value, as for `SnapshotChunker.process`. A snapshot that contradicts the
    written text raises `SnapshotError`. The other arguments are those of `SnapshotChunker`. Or pass a `chunker`, for
    example to `flush` the document after an error.
    """
    return iterate(snapshots, _Chunks(_chosen(chunker, on_conflict, patience, empty, on_stall)))


def achunk_snapshots(
    snapshots: AsyncIterable[object],
    *,
    on_conflict: OnConflict = "raise",
    patience: int = 0,
    empty: Literal["write", "wait"] = "write",
    on_stall: OnStall | None = None,
    chunker: SnapshotChunker | None = None,
) -> AsyncGenerator[str, None]:
    """Yield the text of an async source of snapshots, like `chunk_snapshots`."""
    return aiterate(snapshots, _Chunks(_chosen(chunker, on_conflict, patience, empty, on_stall)))


def _chosen(
    chunker: SnapshotChunker | None,
    on_conflict: OnConflict,
    patience: int,
    empty: Literal["write", "wait"],
    on_stall: OnStall | None,
) -> SnapshotChunker:
    if chunker is None:
        return SnapshotChunker(on_conflict=on_conflict, patience=patience, empty=empty, on_stall=on_stall)
    if (on_conflict, patience, empty, on_stall) != ("raise", 0, "write", None):
        raise OptionsError("the chunker has its own settings: pass either a chunker or settings")
    return chunker


def iterate(source: Iterable[S], stage: StreamStage[S, T]) -> Generator[T, None, None]:
    """Feed a source to a stage, and yield its items. Close the source at the end, also after an error."""
    with closing(cast("Closable", source)) if isinstance(source, Generator) else nullcontext():
        for piece in source:
            yield from stage.feed(piece)
            stage.raise_fault()
        yield from stage.close()
        stage.raise_fault()


async def aiterate(source: AsyncIterable[S], stage: StreamStage[S, T]) -> AsyncGenerator[T, None]:
    """Feed an async source to a stage, like `iterate`."""
    async with aclosing(cast("AsyncClosable", source)) if isinstance(source, AsyncGenerator) else nullcontext():
        async for piece in source:
            for item in stage.feed(piece):
                yield item
            stage.raise_fault()
        for item in stage.close():
            yield item
        stage.raise_fault()


class StreamStage(Protocol[S, T]):
    """One step of a stream: it takes pieces of the source, and returns items and then an error to raise."""

    def feed(self, piece: S, /) -> list[T]:
        """Return the items of one piece."""
        ...

    def close(self) -> list[T]:
        """End the source, and return the last items."""
        ...

    def raise_fault(self) -> None:
        """Raise the error, if there is one. The iterator has yielded the items before it."""
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
    """The new values of a parser: the documents that closed, and the one that is open."""

    __slots__ = ("_is_closed", "_last", "_parser")

    def __init__(self, parser: ValueParser) -> None:
        self._parser = parser
        self._last: object = MISSING
        self._is_closed = False  # whether the last value was that of a closed document

    def take(self, *, every: bool = False) -> list[object]:
        """Return the values that are new since the last call; with `every`, the last value again if there are none."""
        values: list[object] = []
        for value in self._parser.finished:
            if value is not self._last or self._is_closed:  # the next document may have the same value object
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
    def __init__(self, chunker: SnapshotChunker) -> None:
        self._chunker = chunker

    def feed(self, snapshot: object) -> list[str]:
        fragment = self._chunker.process(snapshot)
        return [fragment] if fragment else []

    def close(self) -> list[str]:
        fragment = self._chunker.flush()
        return [fragment] if fragment else []

    def raise_fault(self) -> None:
        """Do nothing: the chunker has raised its error itself. A rejected snapshot adds no text."""
