"""Types and fragments of text to typed values: `partial`, the adapters, and the iterators.

An adapter turns a foreign type into a shape. Each adapter imports its library on the first call, so importing
`unspool.typed` imports none of them.

The iterators feed a stage. `PartialStage` resolves the whole document after each fragment. `ItemStage` resolves each
element of an array on its own: the sink of its reader grows a tree for the open element only, and nothing else is kept.
"""

# Compiled with mypyc.
from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    ForwardRef,
    Generic,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    final,
    get_args,
    get_origin,
    overload,
)

from .._errors import JSONSyntaxError, OptionsError
from .._grammar.sink import Sink
from .._options import Options, chosen_options
from .._parser import Intake, TreeParser
from .._path import ROOT, Path
from .._streams import aiterate, iterate
from .._tree.fold import TreeFold
from ..select import START, Pattern
from ..select import compile as compile_pattern
from ._changes import Changes, ShownDocument
from ._outcome import Invalid, InvalidError, Partial
from ._resolve import (
    OMITTED,
    FoundProblem,
    LongerResult,
    invalid_with,
    is_same,
    resolve,
    resolve_tree,
    result_of,
    reviewed,
)
from ._shape import Shape

if TYPE_CHECKING:
    from .._native import i64
    from .._parser import Fragment
    from .._repairs import Repair
    from .._state import ParserState
    from .._tree.fold import OpenText
    from ._outcome import Resolution
    from ._resolve import Cache, NodeResult

__all__ = [
    "Resolver",
    "aitems",
    "aiter_changes",
    "aiter_partial",
    "from_json_schema",
    "from_msgspec",
    "from_pydantic",
    "items",
    "iter_changes",
    "iter_partial",
    "partial",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
OnInvalid: TypeAlias = Literal["raise", "defer", "ignore"]
Empty: TypeAlias = Literal["containers"]
Repairing: TypeAlias = Literal["none", "spelling", "guess"]


class Adapter(Protocol[T_co]):
    """A `TypeAdapter` of Pydantic, for type checkers: Pydantic may not be installed."""

    def validate_json(self, data: str | bytes | bytearray, /) -> T_co:
        """Return the value of a JSON text."""
        ...


# Types


def from_pydantic(type: Any, *, early: bool = False, strict: bool | None = None, empty: Empty | None = None) -> Shape:
    """Return the shape of a Pydantic model, of any other type that `TypeAdapter` accepts, or of a `TypeAdapter`.

    With `early`, a Literal or an Enum is shown as soon as only one of its values can still come. `strict` means the
    same as in `model_validate_json`. With ``empty="containers"``, lists, dicts and other containers that have not begun
    are shown as empty instead of None. Raises `OptionsError` for a type that Pydantic refuses, and for one that no JSON
    text can become.
    """
    from ._pydantic.shapes import shape_of

    fills = _fills(empty)
    return _kept(shape_of, type, early, strict, fills)


def from_msgspec(type: Any, *, early: bool = False, empty: Empty | None = None) -> Shape:
    """Return the shape of a type that `msgspec.json.decode` accepts.

    With `early`, a Literal or an Enum is shown as soon as only one of its values can still come. With
    ``empty="containers"``, lists, dicts and other containers that have not begun are shown as empty instead of None.
    Raises `OptionsError` for any other type, with the path of the field.
    """
    from ._msgspec import shape_of

    return _kept(shape_of, type, early, _fills(empty))


MAX_KEPT_SHAPES: Final = 256
UNSEEN: Final = 1 << 30  # more problems than any library of types explains: no caller sees these problems


def _kept(make: Callable[..., Shape], hint: Any, *options: object) -> Shape:
    """Return the shape of a type, the same one each time: making one takes longer than reading a short text.

    Names in quotes mean something else in each module, so such types get a new shape. The spelling is a part of the
    key, because ``int | str`` and ``str | int`` are equal, and Pydantic tells them apart.
    """
    try:
        hash(hint)
        spelling = repr(hint)
    except (TypeError, RecursionError):
        return make(hint, *options)
    if _has_names(hint):
        return make(hint, *options)
    return _make_once(make, hint, spelling, id(getattr(hint, "__pydantic_core_schema__", None)), options)


def _has_names(hint: Any) -> bool:
    """Return whether a part of a type is a name in quotes."""
    hints: list[Any] = [hint]
    while hints:
        one = hints.pop()
        if isinstance(one, (str, ForwardRef)):
            return True
        origin = get_origin(one)
        if origin is Annotated:
            hints.append(one.__origin__)
        elif origin is not Literal:
            hints += get_args(one)
    return False


@lru_cache(maxsize=MAX_KEPT_SHAPES)
def _make_once(make: Callable[..., Shape], hint: Any, spelling: str, schema: int, options: tuple[object, ...]) -> Shape:
    return make(hint, *options)


def _fills(empty: object) -> bool:
    if empty not in (None, "containers"):
        raise OptionsError("empty must be 'containers' or None")
    return empty is not None


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

    __slots__ = ("context", "shape")

    def __init__(self, shape: Shape, context: object = None) -> None:
        self.shape = shape
        self.context = context
        """The context for the validators of the type."""

    def resolve(self, state: ParserState, cache: Cache | None = None) -> tuple[Resolution[T], Cache]:
        """Resolve a state for this type, as `unspool.typed.resolve` does."""
        resolution, cache = resolve(self.shape, state, cache, context=self.context)
        return cast("Resolution[T]", resolution), cache


@overload
def partial(
    type: type[T] | Resolver[T] | Adapter[T],
    *,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
) -> Resolver[T]: ...
@overload
def partial(
    type: Any,
    *,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
) -> Resolver[Any]: ...
def partial(
    type: Any,
    *,
    early: bool = False,
    strict: bool | None = None,
    context: object = None,
    empty: Empty | None = None,
) -> Resolver[Any]:
    """Return a resolver for a type: a Pydantic model, a msgspec struct, an attrs class, a JSON Schema, or any other
    type that `TypeAdapter` takes, such as a dataclass.

    With `early`, a Literal or an Enum is shown as soon as only one of its values can still come. `strict` and `context`
    are for Pydantic types and mean the same as in `model_validate_json`. With ``empty="containers"``, lists, dicts and
    other containers that have not begun are shown as empty instead of None. Raises `OptionsError` for a type that
    cannot be described, with the path of the field.
    """
    if isinstance(type, (Resolver, Shape)):
        if strict is not None or empty is not None:
            raise OptionsError("strict= and empty= belong to the type: pass them where the resolver or shape is made")
        if isinstance(type, Shape):
            return Resolver(type, context)
        resolver: Resolver[Any] = type  # pyright: ignore[reportUnknownVariableType]
        return resolver if context is None else Resolver(resolver.shape, context)
    msgspec = sys.modules.get("msgspec")
    is_struct = hasattr(type, "__attrs_attrs__") or (msgspec is not None and isinstance(type, msgspec.StructMeta))
    if is_struct or isinstance(type, (dict, bool)):
        if strict is not None or context is not None:
            raise OptionsError("strict= and context= are for Pydantic types only")
        if is_struct:
            return Resolver(from_msgspec(type, early=early, empty=empty))
        if empty is not None:
            raise OptionsError("empty= is for classes; a value of a JSON Schema lacks the keys that have not begun")
        return Resolver(from_json_schema(cast("Any", type), early=early))
    return Resolver(from_pydantic(type, early=early, strict=strict, empty=empty), context)


# The whole document


@overload
def iter_partial(
    type: type[T] | Resolver[T] | Adapter[T],
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> Generator[Partial[T], None, None]: ...
@overload
def iter_partial(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> Generator[Partial[Any], None, None]: ...
def iter_partial(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    on_invalid: object = "raise",
    early: bool = False,
    strict: bool | None = None,
    context: object = None,
    empty: Empty | None = None,
    extract: bool = False,
    repair: Repairing | None = None,
) -> Generator[Partial[Any], None, None]:
    """Yield the typed value so far, after each fragment that changed something visible.

    The last one is `Complete`: its value is the real one, fully validated. `InvalidError` is raised as soon as no
    continuation can be valid, so that you can stop the producer of the text. With ``on_invalid="defer"`` the values go
    on, without the invalid parts, and the error is raised at the end; with ``"ignore"`` it is not raised at all. Broken
    or incomplete text raises its `JSONSyntaxError` after the values before it. `strict` and `context` are for Pydantic
    types and mean the same as in `model_validate_json`. With ``empty="containers"``, lists, dicts and other containers
    that have not begun are shown as empty instead of None. `repair` is the option of that name: it reads broken text,
    and `repairs` of each value has the log. A new repair is a visible change.
    """
    resolver = partial(type, early=early, strict=strict, context=context, empty=empty)
    return iterate(fragments, _partial_stage(resolver, options, on_invalid, extract, repair))


@overload
def aiter_partial(
    type: type[T] | Resolver[T] | Adapter[T],
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> AsyncGenerator[Partial[T], None]: ...
@overload
def aiter_partial(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> AsyncGenerator[Partial[Any], None]: ...
def aiter_partial(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    on_invalid: object = "raise",
    early: bool = False,
    strict: bool | None = None,
    context: object = None,
    empty: Empty | None = None,
    extract: bool = False,
    repair: Repairing | None = None,
) -> AsyncGenerator[Partial[Any], None]:
    """Yield the same as `iter_partial`, from an async source."""
    resolver = partial(type, early=early, strict=strict, context=context, empty=empty)
    return aiterate(fragments, _partial_stage(resolver, options, on_invalid, extract, repair))


def _partial_stage(
    resolver: Resolver[Any], options: Options | None, on_invalid: object, extract: bool, repair: Repairing | None
) -> PartialStage:
    if on_invalid not in ("raise", "defer", "ignore"):
        raise OptionsError("on_invalid must be 'raise', 'defer' or 'ignore'")
    if chosen_options(options).multiple:
        raise OptionsError("a typed value is one document: multiple=True is for `items`")
    if repair is not None:
        options = chosen_options(options).replace(repair=repair)
    return PartialStage(resolver, TreeParser(options, extract=extract), str(on_invalid))


@final
class PartialStage:
    """The typed value after each fragment that changed something visible."""

    __slots__ = (
        "_context",
        "_fault",
        "_has_ended",
        "_on_invalid",
        "_parser",
        "_repairs",
        "_text",
        "cache",
        "last",
        "shape",
    )

    def __init__(self, resolver: Resolver[Any], parser: TreeParser, on_invalid: str) -> None:
        self.shape = resolver.shape
        self._context = resolver.context
        self._parser = parser
        self._on_invalid = on_invalid
        self.cache: Cache | None = None
        self.last: Resolution[Any] | None = None
        self._text: OpenText | None = None  # of the open string, as it was resolved last
        self._fault: JSONSyntaxError | None = None
        self._has_ended = False
        self._repairs: tuple[Repair, ...] = ()  # those that the last value had

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
        last = self.last
        parser = self._parser
        resolution = self.last = self._resolved()
        is_news = self._is_news(last, resolution)
        repairs = parser.repairs
        if repairs:
            if not is_news and repairs != self._repairs and type(last) is type(resolution):
                resolution = resolution.copied()  # a value that was handed out keeps its log
                is_news = isinstance(resolution, Partial) and not self.is_raised(resolution)
            if is_news:
                self._repairs = resolution.repairs = repairs
        return [cast("Partial[Any]", resolution)] if is_news else []

    def _resolved(self) -> Resolution[Any]:
        """Return the resolution of the text so far.

        More text in an open string costs the same at every depth, and the text of a key costs nothing.
        """
        last, cache, parser = self.last, self.cache, self._parser
        if last is not None and cache is not None:
            if parser.is_seen:
                text = parser.open_text()
                if text is self._text and parser.is_complete is last.is_complete:
                    return last
                longer = None if text is None else cache.with_longer_string(text)
                if longer is not None:
                    self._text = text
                    return longer
            cache = cache.after(last)
        resolution, self.cache = resolve_tree(self.shape, parser.glance(), parser.is_complete, cache, self._context)
        self._text = parser.open_text()
        return resolution

    @property
    def result(self) -> NodeResult:
        """The result of the last resolution."""
        return result_of(cast("Resolution[Any]", self.last)).settled

    def _is_news(self, last: Resolution[Any] | None, resolution: Resolution[Any]) -> bool:
        if resolution is last or not isinstance(resolution, Partial) or self.is_raised(resolution):
            return False
        result = result_of(resolution)
        if isinstance(result, LongerResult):
            return True
        if isinstance(last, Partial):
            before = result_of(last)
            if is_same(before.shown, result.shown):
                # Text behind a complete value may take the completeness back. Nothing visible has changed then.
                return not last.is_complete and type(last) is not type(resolution)
        return True

    def is_raised(self, resolution: Resolution[Any]) -> bool:
        return isinstance(resolution, Invalid) and self._on_invalid == "raise"

    def raise_fault(self) -> None:
        invalid = None if self.last is None else self.last.invalid
        if invalid is not None and self._on_invalid == "raise":
            raise InvalidError(invalid)
        if invalid is not None and self._has_ended and self._on_invalid == "defer":
            raise InvalidError(reviewed(invalid, self._context))
        if self._fault is not None:
            raise self._fault


# The changes


@overload
def iter_changes(
    type: type[T] | Resolver[T] | Adapter[T],
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> Generator[Changes[T], None, None]: ...
@overload
def iter_changes(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> Generator[Changes[Any], None, None]: ...
def iter_changes(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    on_invalid: object = "raise",
    early: bool = False,
    strict: bool | None = None,
    context: object = None,
    empty: Empty | None = None,
    extract: bool = False,
    repair: Repairing | None = None,
) -> Generator[Changes[Any], None, None]:
    """Yield the changes of the typed value, for each fragment that changed something.

    Each `Changes` says which paths appeared, grew or were completed, has the value so far, and has a JSON Patch for the
    document of a client. The arguments and the errors are those of `iter_partial`. `max_depth` of the options must be
    at most 200.
    """
    resolver = partial(type, early=early, strict=strict, context=context, empty=empty)
    return iterate(fragments, _change_stage(resolver, options, on_invalid, extract, repair))


@overload
def aiter_changes(
    type: type[T] | Resolver[T] | Adapter[T],
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> AsyncGenerator[Changes[T], None]: ...
@overload
def aiter_changes(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    on_invalid: OnInvalid = ...,
    early: bool = ...,
    strict: bool | None = ...,
    context: object = ...,
    empty: Empty | None = ...,
    extract: bool = ...,
    repair: Repairing | None = ...,
) -> AsyncGenerator[Changes[Any], None]: ...
def aiter_changes(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    on_invalid: object = "raise",
    early: bool = False,
    strict: bool | None = None,
    context: object = None,
    empty: Empty | None = None,
    extract: bool = False,
    repair: Repairing | None = None,
) -> AsyncGenerator[Changes[Any], None]:
    """Yield the same as `iter_changes`, from an async source."""
    resolver = partial(type, early=early, strict=strict, context=context, empty=empty)
    return aiterate(fragments, _change_stage(resolver, options, on_invalid, extract, repair))


def _change_stage(
    resolver: Resolver[Any], options: Options | None, on_invalid: object, extract: bool, repair: Repairing | None
) -> ChangeStage:
    depth = chosen_options(options).max_depth
    if depth is None or depth > MAX_WRITTEN_DEPTH:
        raise OptionsError(
            f"max_depth must be at most {MAX_WRITTEN_DEPTH} here: deeper values cannot be written as JSON"
        )
    return ChangeStage(_partial_stage(resolver, options, on_invalid, extract, repair))


MAX_WRITTEN_DEPTH: Final = 200
"""The depth of a document. Pydantic writes at most 255 levels."""


@final
class ChangeStage:
    """The changes of the typed value with each fragment."""

    __slots__ = ("_document", "_partials")

    def __init__(self, partials: PartialStage) -> None:
        self._partials = partials
        self._document = ShownDocument(partials.shape)

    def feed(self, fragment: Fragment) -> list[Changes[Any]]:
        self._partials.feed(fragment)
        return self._take()

    def close(self) -> list[Changes[Any]]:
        self._partials.close()
        return self._take()

    def _take(self) -> list[Changes[Any]]:
        stage = self._partials
        resolution, cache = stage.last, stage.cache
        if not isinstance(resolution, Partial) or cache is None or stage.is_raised(resolution):
            return []
        changes, patch = self._document.follow(stage.result, cache.root, is_complete=resolution.is_complete)
        return [Changes(resolution, changes, patch)] if changes else []

    def raise_fault(self) -> None:
        self._partials.raise_fault()


# The elements of an array


@overload
def items(
    type: type[T] | Resolver[T] | Adapter[T],
    fragments: Iterable[Fragment],
    options: Options | None = ...,
    *,
    path: str = ...,
    on_invalid: Literal["raise", "ignore"] = ...,
    strict: bool | None = ...,
    context: object = ...,
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
    strict: bool | None = ...,
    context: object = ...,
    extract: bool = ...,
) -> Generator[Any, None, None]: ...
def items(
    type: Any,
    fragments: Iterable[Fragment],
    options: Options | None = None,
    *,
    path: str = "$",
    on_invalid: object = "raise",
    strict: bool | None = None,
    context: object = None,
    extract: bool = False,
) -> Generator[Any, None, None]:
    """Yield the elements of the array at `path`, each as one whole, validated value of the type, as soon as it closes.

    An element that cannot become valid raises `InvalidError` as soon as that is certain; with ``on_invalid="ignore"``
    it is left out. Memory is bounded by the open element, whatever the length of the text. `strict` and `context` are
    for Pydantic types and mean the same as in `model_validate_json`.
    """
    resolver = partial(type, strict=strict, context=context)
    return iterate(fragments, _item_stage(resolver, options, path, on_invalid, extract))


@overload
def aitems(
    type: type[T] | Resolver[T] | Adapter[T],
    fragments: AsyncIterable[Fragment],
    options: Options | None = ...,
    *,
    path: str = ...,
    on_invalid: Literal["raise", "ignore"] = ...,
    strict: bool | None = ...,
    context: object = ...,
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
    strict: bool | None = ...,
    context: object = ...,
    extract: bool = ...,
) -> AsyncGenerator[Any, None]: ...
def aitems(
    type: Any,
    fragments: AsyncIterable[Fragment],
    options: Options | None = None,
    *,
    path: str = "$",
    on_invalid: object = "raise",
    strict: bool | None = None,
    context: object = None,
    extract: bool = False,
) -> AsyncGenerator[Any, None]:
    """Yield the same as `items`, from an async source."""
    resolver = partial(type, strict=strict, context=context)
    return aiterate(fragments, _item_stage(resolver, options, path, on_invalid, extract))


def _item_stage(
    resolver: Resolver[Any], options: Options | None, path: str, on_invalid: object, extract: bool
) -> ItemStage:
    if on_invalid not in ("raise", "ignore"):
        raise OptionsError("on_invalid must be 'raise' or 'ignore'")
    chosen = chosen_options(options)
    if chosen.on_error == "skip":
        raise OptionsError("items cannot skip broken elements: on_error='skip' is not supported")
    pattern = compile_pattern(f"{path}[:]")  # the elements of arrays, not the members of objects
    intake = Intake.create(chosen, extract)
    return ItemStage(resolver, intake, pattern, is_strict=on_invalid == "raise")


@final
class ItemStage:
    """The elements that a pattern selects, each when it has closed."""

    __slots__ = ("_fault", "_intake", "_is_strict", "_resolver", "_sink")

    def __init__(self, resolver: Resolver[Any], intake: Intake, pattern: Pattern, *, is_strict: bool) -> None:
        self._resolver = resolver
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
                if not element.is_omitted:
                    values.append(element.value)
            elif self._is_strict:
                return values
        if sink.element is not None and self._is_strict:
            self._is_valid(sink.element)
        return values

    def _is_valid(self, element: Element) -> bool:
        """Resolve an element, and report whether nothing in it is known to be wrong."""
        invalid = element.resolve(self._resolver, 0 if self._is_strict else UNSEEN)
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

    __slots__ = ("_cache", "_path", "_resolution", "first_id", "fold", "is_omitted")

    def __init__(self, path: Path, first_id: i64) -> None:
        self._path = path
        self._cache: Cache | None = None
        self.first_id: i64 = first_id
        self.fold = TreeFold()
        self._resolution: Resolution[Any] | None = None
        self.is_omitted = False  # its type leaves it out: `OnErrorOmit`, or a validator

    @property
    def value(self) -> Any:
        """The value so far."""
        return None if self._resolution is None else self._resolution.value

    def resolve(self, resolver: Resolver[Any], before: int) -> Invalid[Any] | None:
        """Resolve the element, and return its problems, if any, with paths from the root of the text.

        `before` is the number of problems that count before it.
        """
        fold = self.fold
        root = fold.glance()
        shape = resolver.shape
        resolution, self._cache = resolve_tree(shape, root, fold.has_closed, self._cache, resolver.context, before)
        self._resolution = resolution
        invalid = resolution.invalid
        self.is_omitted = invalid is not None and invalid.problems[0].code == OMITTED
        if invalid is None or self.is_omitted:
            return None
        steps = list(self._path.steps)
        found = [FoundProblem(one, None, None, None).with_path(steps) for one in invalid.problems]
        return invalid_with(self.value, found, invalid.cause, shape, root)
