"""The finished elements of an array, one by one: each validated once, none of them kept.

The text around is read as events, so nothing of it is kept either. The events of one element are written out again and
read as a document of its own, which is what shapes want to see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ..core.options import Options, chosen_options
from ..core.writer import Writer
from ..errors import JSONSyntaxError, OptionsError
from ..handles import FragmentParser
from ..parsing import create_state, finalize, parse_chunk
from ..path import Path
from ..select import Selector
from ..streams import aiterate, iterate
from .frames import Found, Outcome
from .outcome import Invalid, InvalidError
from .partials import Resolver, partial
from .shape import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable

    from ..events import Event
    from ..intake import Fragment
    from ..parsing import ParserState
    from .resolve import Cache

__all__ = ["aitems", "items"]

T = TypeVar("T")

# Of an element: it was read within the limits once, and an element may be as deep as the text around it.
UNLIMITED = Options(max_depth=None, max_chars=None, max_string=None, max_key=None, max_number=None, surrogates="keep")


@overload
def items(
    type: type[T] | Resolver[T],
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    path: str = ...,
    on_invalid: Literal["raise", "ignore"] = ...,
    extract: bool = ...,
) -> Generator[T, None, None]: ...
@overload
def items(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    path: str = ...,
    on_invalid: Literal["raise", "ignore"] = ...,
    extract: bool = ...,
) -> Generator[Any, None, None]: ...
def items(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    path: str = "$",
    on_invalid: Literal["raise", "ignore"] = "raise",
    extract: bool = False,
) -> Generator[Any, None, None]:
    """The elements of the array at `path`, each as one whole, validated value of the type, as soon as it is finished.

    An element that cannot become one raises `InvalidError` as soon as that is certain; with ``on_invalid="ignore"`` it
    is left out. The memory is that of one element, whatever the length of the text.
    """
    return iterate(fragments, _Items(type, options, path, on_invalid, extract))


@overload
def aitems(
    type: type[T] | Resolver[T],
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    path: str = ...,
    on_invalid: Literal["raise", "ignore"] = ...,
    extract: bool = ...,
) -> AsyncGenerator[T, None]: ...
@overload
def aitems(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    path: str = ...,
    on_invalid: Literal["raise", "ignore"] = ...,
    extract: bool = ...,
) -> AsyncGenerator[Any, None]: ...
def aitems(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    path: str = "$",
    on_invalid: Literal["raise", "ignore"] = "raise",
    extract: bool = False,
) -> AsyncGenerator[Any, None]:
    """As `items`, for a source that is awaited."""
    return aiterate(fragments, _Items(type, options, path, on_invalid, extract))


class _Items:
    def __init__(
        self, type: Any, options: Options | None, path: str, on_invalid: Literal["raise", "ignore"], extract: bool
    ) -> None:
        if on_invalid not in ("raise", "ignore"):
            raise OptionsError("on_invalid must be 'raise' or 'ignore'")
        if chosen_options(options).on_error == "skip":
            raise OptionsError("an element that is broken cannot be skipped: on_error='skip' is not for items")
        self._parser = FragmentParser(options, extract=extract)
        self._selector = Selector(f"{path}[:]")  # the elements of arrays, not the members of objects
        self._resolver = partial(type)
        self._options = UNLIMITED if options is None else UNLIMITED.replace(floats=options.floats)
        self._is_strict = on_invalid == "raise"
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
                self._element = _Element(event.path, self._resolver, self._options)
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


class _Element:
    """One element: its text is read as a document of its own."""

    def __init__(self, path: Path, resolver: Resolver[Any], options: Options) -> None:
        self._path = path
        self._resolver = resolver
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
        resolution, self._cache = self._resolver.resolve(self._state, self._cache)
        self.value = resolution.value
        if resolution.invalid is None:
            return None
        found = [
            Found(Problem(Path.of(*self._path.steps, *one.path.steps), one.code, one.expected), None, None)
            for one in resolution.problems
        ]
        outcome = Outcome(self.value, tuple(found), None, True)
        return Invalid(self.value, outcome, self._resolver.shape, self._state.root)
