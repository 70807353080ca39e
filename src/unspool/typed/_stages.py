"""What the iterators over typed values do with each fragment: `Partials` for `iter_partial`, `Items` for `items`."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from .._errors import JSONSyntaxError
from .._grammar.writer import Writer
from .._path import Path
from .._state import create_state, finalize, parse_chunk
from ._frames import Found, Outcome
from ._outcome import Invalid, InvalidError, Partial
from ._resolve import resolve, resolve_tree
from ._shape import Problem
from ._unions import asks_for_values

if TYPE_CHECKING:
    from .._events import Event
    from .._options import Options
    from .._parser import Fragment, FragmentParser, TreeParser
    from .._state import ParserState
    from ..select import Selector
    from ._outcome import Resolution
    from ._resolve import Cache
    from ._shape import Shape

__all__ = ["Items", "Partials"]


@final
class Partials:
    """The typed value after each fragment that changed something visible."""

    __slots__ = ("_asks_for_values", "_cache", "_fault", "_has_ended", "_last", "_on_invalid", "_parser", "_shape")

    def __init__(self, shape: Shape, parser: TreeParser, on_invalid: str) -> None:
        self._shape = shape
        self._asks_for_values = asks_for_values(shape)
        self._parser = parser
        self._on_invalid = on_invalid
        self._cache: Cache | None = None
        self._last: Resolution[Any] | None = None
        self._fault: JSONSyntaxError | None = None
        self._has_ended = False

    def feed(self, fragment: Fragment) -> list[Partial[Any]]:
        try:
            self._parser.feed(fragment)
        except JSONSyntaxError as error:
            self._fault = error
        return self._take()

    def close(self) -> list[Partial[Any]]:
        self._has_ended = True
        try:
            self._parser.close()
        except JSONSyntaxError as error:
            self._fault = error
        return self._take()

    def _take(self) -> list[Partial[Any]]:
        last = self._last
        parser = self._parser
        root = parser.glance(with_values=self._asks_for_values)
        self._last, self._cache = resolve_tree(self._shape, root, parser.is_complete, self._cache)
        resolution = self._last
        if resolution is last or not isinstance(resolution, Partial):
            return []
        if isinstance(resolution, Invalid) and self._on_invalid == "raise":
            return []
        # A complete value that is no longer complete, because of what stands behind it, is nothing new to see.
        if isinstance(last, Partial) and last.value is resolution.value:
            return [] if last.is_complete or type(last) is type(resolution) else [resolution]
        return [resolution]

    def raise_fault(self) -> None:
        invalid = None if self._last is None else self._last.invalid
        if invalid is not None and (self._on_invalid == "raise" or (self._has_ended and self._on_invalid == "defer")):
            raise InvalidError(invalid)
        if self._fault is not None:
            raise self._fault


@final
class Items:
    """The elements that the selector selects, each when it is whole.

    The text around is read as events, so nothing of it is kept. The events of one element are written out again and
    read as a document of its own, by these options: that is what shapes want to see.
    """

    __slots__ = ("_element", "_fault", "_is_strict", "_options", "_parser", "_selector", "_shape")

    def __init__(
        self, shape: Shape, parser: FragmentParser, selector: Selector, options: Options, is_strict: bool
    ) -> None:
        self._shape = shape
        self._parser = parser
        self._selector = selector
        self._options = options
        self._is_strict = is_strict  # what is invalid is raised, and not left out
        self._element: _Element | None = None
        self._fault: JSONSyntaxError | InvalidError | None = None

    def feed(self, fragment: Fragment) -> list[Any]:
        return self._take(self._parser.feed(fragment))

    def close(self) -> list[Any]:
        return self._take(self._parser.close())

    def _take(self, events: list[Event]) -> list[Any]:
        found: list[Any] = []
        if self._parser.is_stopped and events:
            last = events.pop().value
            assert isinstance(last, JSONSyntaxError)
            self._fault = last
        for event in events:
            if not self._selector.selects(event):
                continue
            if self._element is None:
                self._element = _Element(event.path, self._shape, self._options)
            self._element.add(event)
            if self._element.is_whole:
                self._settle(self._element, found)
                self._element = None
            if isinstance(self._fault, InvalidError):
                return found
        if self._element is not None and self._is_strict:
            self._judge(self._element)
        return found

    def _settle(self, element: _Element, found: list[Any]) -> None:
        if self._judge(element):
            found.append(element.value)

    def _judge(self, element: _Element) -> bool:
        """The element is not known to be wrong."""
        invalid = element.resolve()
        if invalid is not None and self._is_strict:
            self._fault = InvalidError(invalid)
        return invalid is None

    def raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault


@final
class _Element:
    """One element: its text is read as a document of its own."""

    __slots__ = ("_cache", "_path", "_pieces", "_shape", "_state", "_writer", "value")

    def __init__(self, path: Path, shape: Shape, options: Options) -> None:
        self._path = path
        self._shape = shape
        self._writer = Writer()
        self._pieces: list[str] = []
        self._state: ParserState = create_state(options)
        self._cache: Cache | None = None
        self.value: Any = None

    @property
    def is_whole(self) -> bool:
        return self._writer.is_complete

    def add(self, event: Event) -> None:
        self._pieces.append(self._writer.write_one(event))

    def resolve(self) -> Invalid[Any] | None:
        """Read what was added; what is wrong with it, in terms of the whole text."""
        self._state = parse_chunk(self._state, "".join(self._pieces))
        self._pieces = []
        if self.is_whole:
            self._state = finalize(self._state)
        resolution, self._cache = resolve(self._shape, self._state, self._cache)
        self.value = resolution.value
        if resolution.invalid is None:
            return None
        found = [
            Found(Problem(Path.of(*self._path.steps, *one.path.steps), one.code, one.expected), None, None)
            for one in resolution.problems
        ]
        outcome = Outcome(self.value, tuple(found), is_broken=True)
        return Invalid(self.value, outcome, self._shape, self._state.root)
