"""The finished elements of an array, one by one: each validated once, none of them kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .._errors import OptionsError
from .._options import UNLIMITED_OPTIONS, Options, chosen_options
from .._parser import FragmentParser
from .._streams import aiterate, iterate
from ..select import Selector
from ._partials import Resolver, partial
from ._stages import Items

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable

    from .._intake import Fragment

__all__ = ["aitems", "items"]

T = TypeVar("T")


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
    return iterate(fragments, _stage(type, options, path, on_invalid, extract))


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
    return aiterate(fragments, _stage(type, options, path, on_invalid, extract))


def _stage(type: Any, options: Options | None, path: str, on_invalid: str, extract: bool) -> Items:
    if on_invalid not in ("raise", "ignore"):
        raise OptionsError("on_invalid must be 'raise' or 'ignore'")
    if chosen_options(options).on_error == "skip":
        raise OptionsError("an element that is broken cannot be skipped: on_error='skip' is not for items")
    parser = FragmentParser(options, extract=extract)
    selector = Selector(f"{path}[:]")  # the elements of arrays, not the members of objects
    # The limits apply to the whole text; an element may be as deep as the text around it.
    of_element = UNLIMITED_OPTIONS if options is None else UNLIMITED_OPTIONS.replace(floats=options.floats)
    return Items(partial(type).shape, parser, selector, of_element, on_invalid == "raise")
