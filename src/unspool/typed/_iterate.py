"""Types and fragments of text to typed values: `partial`, the adapters, and the iterators.

An adapter turns a foreign type into a shape. Each adapter imports its library on the first call, so importing
`unspool.typed` imports none of them.

The iterators feed a stage. `PartialStage` resolves the whole document after each fragment. `ItemStage` resolves each
element of an array on its own: the sink of its reader grows a tree for the open element only, and nothing else is kept.
"""

# Compiled with mypyc.
from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, cast, final, overload

from .._errors import JSONSyntaxError, OptionsError
from .._grammar.sink import Sink
from .._options import Options, chosen_options
from .._parser import Intake, TreeParser
from .._path import ROOT, Path
from .._streams import aiterate, iterate
from .._tree.fold import TreeFold
from ..select import START, Pattern
from ..select import compile as compile_pattern
from ._outcome import Invalid, InvalidError, Partial
from ._resolve import FoundProblem, NodeResult, resolve, resolve_tree
from ._shape import Problem, Shape, asks_for_values

if TYPE_CHECKING:
    from .._native import i64
    from .._parser import Fragment
    from .._state import ParserState
    from ._outcome import Resolution
    from ._resolve import Cache

__all__ = [
    "Resolver",
    "aitems",
    "aiter_partial",
    "from_json_schema",
    "from_msgspec",
    "from_pydantic",
    "items",
    "iter_partial",
    "partial",
]

T = TypeVar("T")
OnInvalid: TypeAlias = Literal["raise", "defer", "ignore"]


# Types


def from_pydantic(type: Any, *, early: bool = False) -> Shape:
    """Return the shape of a Pydantic model, or of any other type that `TypeAdapter` accepts.

    With `early`, a Literal or an Enum is shown as soon as only one of its values can still come. Raises `OptionsError`
    for a type that Pydantic refuses, and for one that no JSON text can become.
    """
    from ._pydantic.shapes import shape_of

    return shape_of(type, early)


def from_msgspec(type: Any, *, early: bool = False) -> Shape:
    """Return the shape of a type that `msgspec.json.decode` accepts.

    With `early`, a Literal or an Enum is shown as soon as only one of its values can still come. Raises `OptionsError`
    for any other type, with the path of the field.
    """
    from ._msgspec import shape_of

    return shape_of(type, early)


@overload
def from_json_schema(schema: dict[str, Any], *, early: bool = ...) -> Shape: ...
@overload
def from_json_schema(schema: bool, *, early: bool = ...) -> Shape: ...
def from_json_schema(schema: object, *, early: bool = False) -> Shape:
    """Return the shape of the values that a JSON Schema accepts: plain values, as `json.loads` returns them.

    ``$schema`` names the draft: 2020-12, the default, or 7. With `early`, a string is shown before its end once only
    one of the listed values can still come. Raises `OptionsError` for a schema that is malformed, too deep, or refers
    to another document, with the place in the schema.
    """
    from ._json_schema.shapes import shape_of

    return shape_of(schema, early)


@final
class Resolver(Generic[T]):
    """Resolves states of the pure parser for one type. A resolver has no state of its own."""

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def resolve(self, state: ParserState, cache: Cache | None = None) -> tuple[Resolution[T], Cache]:
        """Resolve a state for this type, as `unspool.typed.resolve` does."""
        resolution, cache = resolve(self.shape, state, cache)
        return cast("Resolution[T]", resolution), cache


@overload
def partial(type: Resolver[T], *, early: bool = ...) -> Resolver[T]: ...
@overload
def partial(type: type[T], *, early: bool = ...) -> Resolver[T]: ...
@overload
def partial(type: Any, *, early: bool = ...) -> Resolver[Any]: ...
def partial(type: Any, *, early: bool = False) -> Resolver[Any]:
    """Return a resolver for a type: a Pydantic model, a msgspec struct, a JSON Schema, or a type for `TypeAdapter`.

    With `early`, a Literal or an Enum is shown as soon as only one of its values can still come. Raises `OptionsError`
    for a type that cannot be described, with the path of the field.
    """
    if isinstance(type, Resolver):
        return type  # pyright: ignore[reportUnknownVariableType]
    if isinstance(type, Shape):
        return Resolver(type)
    if isinstance(type, (dict, bool)):
        return Resolver(from_json_schema(cast("Any", type), early=early))
    msgspec = sys.modules.get("msgspec")
    if msgspec is not None and isinstance(type, msgspec.StructMeta):
        return Resolver(from_msgspec(type, early=early))
    return Resolver(from_pydantic(type, early=early))


# The whole document


@overload
def iter_partial(
    type: type[T] | Resolver[T],
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    extract: bool = ...,
) -> Generator[Partial[T], None, None]: ...
@overload
def iter_partial(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    extract: bool = ...,
) -> Generator[Partial[Any], None, None]: ...
def iter_partial(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    on_invalid: object = "raise",
    early: bool = False,
    extract: bool = False,
) -> Generator[Partial[Any], None, None]:
    """Yield the typed value so far, for each fragment that changed something visible.

    The last one is `Complete`: its value is the real one, fully validated. `InvalidError` is raised as soon as no
    continuation can be valid, so that you can stop the producer of the text. With ``on_invalid="defer"`` the values go
    on, without the invalid parts, and the error is raised at the end; with ``"ignore"`` it is not raised at all. Broken
    or incomplete text raises its `JSONSyntaxError` after the values before it.
    """
    return iterate(fragments, _partial_stage(type, options, on_invalid, early, extract))


@overload
def aiter_partial(
    type: type[T] | Resolver[T],
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    extract: bool = ...,
) -> AsyncGenerator[Partial[T], None]: ...
@overload
def aiter_partial(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    extract: bool = ...,
) -> AsyncGenerator[Partial[Any], None]: ...
def aiter_partial(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    on_invalid: object = "raise",
    early: bool = False,
    extract: bool = False,
) -> AsyncGenerator[Partial[Any], None]:
    """Yield the same as `iter_partial`, from an async source."""
    return aiterate(fragments, _partial_stage(type, options, on_invalid, early, extract))


def _partial_stage(type: Any, options: Options | None, on_invalid: object, early: bool, extract: bool) -> PartialStage:
    if on_invalid not in ("raise", "defer", "ignore"):
        raise OptionsError("on_invalid must be 'raise', 'defer' or 'ignore'")
    if chosen_options(options).multiple:
        raise OptionsError("a typed value is one document: multiple=True is for `items`")
    shape = partial(type, early=early).shape
    return PartialStage(shape, TreeParser(options, extract=extract), str(on_invalid))


@final
class PartialStage:
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
        # Text behind a complete value may take the completeness back. Nothing visible has changed then.
        if isinstance(last, Partial) and last.value is resolution.value:
            return [] if last.is_complete or type(last) is type(resolution) else [resolution]
        return [resolution]

    def raise_fault(self) -> None:
        invalid = None if self._last is None else self._last.invalid
        if invalid is not None and (self._on_invalid == "raise" or (self._has_ended and self._on_invalid == "defer")):
            raise InvalidError(invalid)
        if self._fault is not None:
            raise self._fault


# The elements of an array


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
    on_invalid: object = "raise",
    extract: bool = False,
) -> Generator[Any, None, None]:
    """Yield the elements of the array at `path`, each as one whole, validated value of the type, as soon as it closes.

    An element that cannot become valid raises `InvalidError` as soon as that is certain; with ``on_invalid="ignore"``
    it is left out. Memory is bounded by the open element, whatever the length of the text.
    """
    return iterate(fragments, _item_stage(type, options, path, on_invalid, extract))


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
    on_invalid: object = "raise",
    extract: bool = False,
) -> AsyncGenerator[Any, None]:
    """Yield the same as `items`, from an async source."""
    return aiterate(fragments, _item_stage(type, options, path, on_invalid, extract))


def _item_stage(type: Any, options: Options | None, path: str, on_invalid: object, extract: bool) -> ItemStage:
    if on_invalid not in ("raise", "ignore"):
        raise OptionsError("on_invalid must be 'raise' or 'ignore'")
    chosen = chosen_options(options)
    if chosen.on_error == "skip":
        raise OptionsError("items cannot skip broken elements: on_error='skip' is not supported")
    pattern = compile_pattern(f"{path}[:]")  # the elements of arrays, not the members of objects
    intake = Intake.create(chosen, extract)
    return ItemStage(partial(type).shape, intake, pattern, is_strict=on_invalid == "raise")


@final
class ItemStage:
    """The elements that a pattern selects, each when it has closed."""

    __slots__ = ("_asks_for_values", "_fault", "_intake", "_is_strict", "_shape", "_sink")

    def __init__(self, shape: Shape, intake: Intake, pattern: Pattern, *, is_strict: bool) -> None:
        self._shape = shape
        self._asks_for_values = asks_for_values(shape)
        self._intake = intake
        self._sink = ElementSink(pattern)
        self._is_strict = is_strict  # an invalid element is raised, and not left out
        self._fault: JSONSyntaxError | InvalidError | None = None

    def feed(self, fragment: Fragment) -> list[Any]:
        self._intake.feed(fragment, self._sink)
        return self._take()

    def close(self) -> list[Any]:
        self._intake.finish(self._sink)
        return self._take()

    def _take(self) -> list[Any]:
        sink = self._sink
        self._fault = sink.fault
        closed = sink.closed
        sink.closed = []
        values: list[Any] = []
        for element in closed:
            if self._is_valid(element):
                values.append(element.value)
            elif self._is_strict:
                return values
        if sink.element is not None and self._is_strict:
            self._is_valid(sink.element)
        return values

    def _is_valid(self, element: Element) -> bool:
        """Resolve an element, and report whether nothing in it is known to be wrong."""
        invalid = element.resolve(self._shape, self._asks_for_values)
        if invalid is not None and self._is_strict:
            self._fault = InvalidError(invalid)
        return invalid is None

    def raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault


@final
class ElementSink(Sink):
    """A sink that grows a tree for the open element and forgets everything around it.

    Each element gets a fold of its own, with ids and paths as in a document of its own.
    """

    __slots__ = ("_container", "_pattern", "_states", "closed", "element", "fault")

    def __init__(self, pattern: Pattern) -> None:
        self.keeps_raw = True
        self._pattern = pattern
        self._states: list[int] = []  # of the pattern, for each open container around the elements
        self._container: Path = ROOT  # the path of the innermost of those
        self.element: Element | None = None  # the open one
        self.closed: list[Element] = []  # those that closed since the list was last taken
        self.fault: JSONSyntaxError | None = None

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        element = self.element
        if element is None:
            states = self._states_at(key, index)
            if states & self._pattern.accepted == 0:
                if self._states:
                    self._container = Path(self._container, index if key is None else key)
                self._states.append(states)
                return
            element = self._open_element(index, node_id)
        element.fold.start_container(is_object, key, index, node_id - element.first_id, offset)

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        element = self.element
        if element is not None:
            element.fold.end_container(is_object, node_id - element.first_id, offset)
            self._close_element(element)
            return
        self._states.pop()
        parent = self._container.parent
        if parent is not None:
            self._container = parent

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        element = self._element_at(key, index, node_id)
        if element is not None:
            element.fold.start_string(key, index, node_id - element.first_id, offset)

    def grow_string(self, text: str, offset: i64) -> None:
        element = self.element
        if element is not None:
            element.fold.grow_string(text, offset)

    def end_string(self, offset: i64) -> None:
        element = self.element
        if element is not None:
            element.fold.end_string(offset)
            self._close_element(element)

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        element = self._element_at(key, index, node_id)
        if element is not None:
            element.fold.whole_string(key, index, text, node_id - element.first_id, start, end)
            self._close_element(element)

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        element = self._element_at(key, index, node_id)
        if element is not None:
            element.fold.number(key, index, value, raw, node_id - element.first_id, offset)
            self._close_element(element)

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        element = self._element_at(key, index, node_id)
        if element is not None:
            element.fold.literal(key, index, value, node_id - element.first_id, offset)
            self._close_element(element)

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        self.fault = error

    def _states_at(self, key: str | None, index: i64) -> int:
        """Return the states of the pattern for a value in the innermost container."""
        if not self._states:
            return START
        return self._pattern.advance(self._states[-1], index if key is None else key)

    def _element_at(self, key: str | None, index: i64, node_id: i64) -> Element | None:
        """Return the element that a new leaf belongs to; None outside of elements."""
        element = self.element
        if element is None and self._states_at(key, index) & self._pattern.accepted != 0:
            element = self._open_element(index, node_id)
        return element

    def _open_element(self, index: i64, node_id: i64) -> Element:
        self.element = Element(Path(self._container, index), node_id)
        return self.element

    def _close_element(self, element: Element) -> None:
        if element.fold.has_closed:
            self.closed.append(element)
            self.element = None


@final
class Element:
    """One element of an array: its place in the text, the tree of it, and the typed value."""

    __slots__ = ("_cache", "_path", "first_id", "fold", "value")

    def __init__(self, path: Path, first_id: i64) -> None:
        self._path = path
        self._cache: Cache | None = None
        self.first_id: i64 = first_id
        self.fold = TreeFold()
        self.value: Any = None

    def resolve(self, shape: Shape, with_values: bool) -> Invalid[Any] | None:
        """Resolve the element, and return its problems, if any, with paths from the root of the text."""
        fold = self.fold
        root = fold.glance(with_values)
        resolution, self._cache = resolve_tree(shape, root, fold.has_closed, self._cache)
        self.value = resolution.value
        if resolution.invalid is None:
            return None
        found = [
            FoundProblem(Problem(Path.of(*self._path.steps, *one.path.steps), one.code, one.expected), None, None)
            for one in resolution.problems
        ]
        return Invalid(self.value, NodeResult(self.value, tuple(found), is_broken=True), shape, root)
