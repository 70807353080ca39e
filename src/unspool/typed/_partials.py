"""`partial` and the iterators: a type and fragments of text, to typed values that are half filled."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, final, overload

from .._errors import OptionsError
from .._options import Options, chosen_options
from .._parser import TreeParser
from .._streams import aiterate, iterate
from ._resolve import resolve
from ._shape import Shape
from ._stages import Partials

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable

    from .._parser import Fragment
    from .._state import ParserState
    from ._outcome import Partial, Resolution
    from ._resolve import Cache

__all__ = ["Resolver", "aiter_partial", "iter_partial", "partial"]

T = TypeVar("T")
OnInvalid = Literal["raise", "defer", "ignore"]


@final
class Resolver(Generic[T]):
    """Tells what a state of the pure parser is worth for one type. It has no state of its own."""

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def resolve(self, state: ParserState, cache: Cache | None = None) -> tuple[Resolution[T], Cache]:
        """As `unspool.typed._resolve`, for this type."""
        resolution, cache = resolve(self.shape, state, cache)
        return cast("Resolution[T]", resolution), cache


@overload
def partial(type: Resolver[T], *, early: bool = ...) -> Resolver[T]: ...
@overload
def partial(type: type[T], *, early: bool = ...) -> Resolver[T]: ...
@overload
def partial(type: Any, *, early: bool = ...) -> Resolver[Any]: ...
def partial(type: Any, *, early: bool = False) -> Resolver[Any]:
    """A resolver for a type: a pydantic model or anything `TypeAdapter` takes, a msgspec struct, a JSON Schema.

    With `early`, a Literal or Enum is shown as soon as only one of its values can still come. A type that cannot be
    described raises `OptionsError`, with the path of the field.
    """
    if isinstance(type, Resolver):
        return type  # pyright: ignore[reportUnknownVariableType]
    if isinstance(type, Shape):
        return Resolver(type)
    if isinstance(type, (dict, bool)):
        from ._from_json_schema import from_json_schema

        return Resolver(from_json_schema(cast("dict[str, Any] | bool", type), early=early))
    msgspec = sys.modules.get("msgspec")
    if msgspec is not None and isinstance(type, msgspec.StructMeta):
        from ._from_msgspec import from_msgspec

        return Resolver(from_msgspec(type, early=early))
    from ._from_pydantic import from_pydantic

    return Resolver(from_pydantic(type, early=early))


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
    on_invalid: OnInvalid = "raise",
    early: bool = False,
    extract: bool = False,
) -> Generator[Partial[Any], None, None]:
    """The typed value so far, for each fragment that changed something visible.

    The last one is `Complete`: its value is the real one, fully validated. As soon as no continuation can be valid,
    `InvalidError` is raised, so that whoever produces the text can be stopped. With ``on_invalid="defer"`` the values
    go on, without what is wrong, and it is raised at the end; with ``"ignore"`` it is not raised at all. A text that
    is broken or incomplete raises its `JSONSyntaxError` after the values before it.
    """
    return iterate(fragments, _stage(type, options, on_invalid, early, extract))


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
    on_invalid: OnInvalid = "raise",
    early: bool = False,
    extract: bool = False,
) -> AsyncGenerator[Partial[Any], None]:
    """As `iter_partial`, for a source that is awaited."""
    return aiterate(fragments, _stage(type, options, on_invalid, early, extract))


def _stage(type: Any, options: Options | None, on_invalid: str, early: bool, extract: bool) -> Partials:
    if on_invalid not in ("raise", "defer", "ignore"):
        raise OptionsError("on_invalid must be 'raise', 'defer' or 'ignore'")
    if chosen_options(options).multiple:
        raise OptionsError("a typed value is one document: multiple=True is for `items`")
    return Partials(partial(type, early=early).shape, TreeParser(options, extract=extract), on_invalid)
