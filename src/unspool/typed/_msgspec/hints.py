"""Annotations, as far as msgspec's descriptions leave something out: our markers, and where a refused type stands.

An annotation is walked beside the description of its type. Where the two do not go together, say in a class that
inherits from a generic one, the annotation counts as `Any`: it has no markers then, and nothing else is lost.
"""

from __future__ import annotations

import inspect
import types
import typing
from typing import Annotated, Any, Final, NotRequired, Required, TypeVar, Union, get_args, get_origin

import msgspec

__all__ = ["MAX_DEPTH", "REFUSED", "all_markers", "arguments", "culprit", "field_hints", "has", "peeled"]

MAX_DEPTH: Final = 128
REFUSED: Final = (TypeError, ValueError, NameError, RuntimeError)  # what msgspec raises for a type
UNIONS: Final = (Union, types.UnionType)
WRAPPERS: Final = (Required, NotRequired, typing.Final)


def peeled(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type inside of `Annotated`, `Final`, `NotRequired`, new types and the like, and all metadata on the way."""
    metadata: tuple[Any, ...] = ()
    while True:
        origin = get_origin(hint)
        new_type = getattr(hint, "__supertype__", getattr(hint, "__value__", None))
        if origin is Annotated:
            metadata += hint.__metadata__
            hint = hint.__origin__
        elif origin in WRAPPERS:
            hint = get_args(hint)[0]
        elif new_type is not None:
            hint = new_type
        elif origin in UNIONS and len(arguments(hint)) == 1:
            hint = arguments(hint)[0]
        else:
            return hint, metadata


def arguments(hint: Any, count: int | None = None) -> list[Any]:
    """The arguments of a peeled annotation, so many of them: `Any` for what is not said."""
    said = [argument for argument in get_args(hint) if argument is not msgspec.UnsetType and argument is not ...]
    return said if count is None else (said + [Any] * count)[:count]


def all_markers(hint: Any) -> tuple[Any, ...]:
    """Those of the annotation, and of the branches where it is a union."""
    inner, metadata = peeled(hint)
    if get_origin(inner) in UNIONS:
        for branch in arguments(inner):
            metadata += all_markers(branch)
    return metadata


def has(markers: tuple[Any, ...], marker: type) -> bool:
    """The marker is among them, as a class or as an instance."""
    return any(one is marker or isinstance(one, marker) for one in markers)


def field_hints(cls: Any) -> dict[str, Any]:
    """The annotations of the fields of a class, or of a generic one with its arguments."""
    origin = get_origin(cls) or cls
    hints = typing.get_type_hints(origin, include_extras=True)
    scope = dict(zip(getattr(origin, "__parameters__", ()), get_args(cls), strict=False))
    return {name: _bound(hint, scope) for name, hint in hints.items()} if scope else hints


def _bound(hint: Any, scope: dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return scope.get(hint, hint)
    if inspect.isclass(hint):
        return hint
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple([scope.get(one, one) for one in parameters])] if parameters else hint


def culprit(hint: Any) -> str:
    """Where a part stands that msgspec refuses, though not for one of its own parts."""
    at = "$"
    to_ask = [(at, hint)]
    seen: list[Any] = []
    while to_ask and len(seen) < MAX_DEPTH:
        at, hint = to_ask.pop(0)
        hint = peeled(hint)[0]
        if any(hint is one for one in seen):
            continue
        seen.append(hint)
        refused = [(at + step, inner) for step, inner in _parts(hint) if _is_refused(inner)]
        if not refused:
            break
        to_ask += refused
    return at


def _parts(hint: Any) -> list[tuple[str, Any]]:
    try:
        fields = field_hints(hint)
    except REFUSED:  # no class, or one with names that stand for nothing
        fields = {}
    parts = [(f".{name}", inner) for name, inner in fields.items()]
    return parts or [("" if get_origin(hint) in UNIONS else "[*]", inner) for inner in arguments(hint)]


def _is_refused(hint: Any) -> bool:
    try:
        msgspec.json.Decoder(hint)
    except REFUSED:
        return True
    return False
