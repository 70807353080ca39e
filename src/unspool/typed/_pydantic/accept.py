"""The core schema of a type, or why there is none: pydantic is missing, or it refuses the type, and where in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

from ..._errors import OptionsError

try:
    from pydantic import VERSION, TypeAdapter
    from pydantic_core import SchemaError
except ImportError as error:
    raise ImportError("types of pydantic need pydantic: pip install 'unspool[pydantic]'") from error

if TYPE_CHECKING:
    from .schema import Schema

__all__ = ["core_schema_of"]

MAX_DEPTH: Final = 128
REFUSED: Final = (RuntimeError, TypeError, ValueError, NameError, AttributeError, SchemaError)

# Before, what the class says came before what its schema says, and aliases were looked up in another way for JSON.
if tuple(map(int, VERSION.split(".")[:2])) < (2, 14):
    raise ImportError("types of pydantic need pydantic 2.14 or later: pip install -U 'unspool[pydantic]'")


def core_schema_of(hint: Any) -> Schema:
    """Raises `OptionsError` with the path of what pydantic refuses."""
    if _is_of_version_1(hint):
        raise OptionsError("$: a model of pydantic.v1, which cannot be read part by part; make it one of pydantic 2")
    try:
        return dict(TypeAdapter(hint).core_schema)  # a copy, because it may be one that is made when it is looked at
    except REFUSED as error:
        reason = str(error).partition("\n")[0]
        raise OptionsError(f"{_culprit(hint)}: pydantic refuses the type: {reason}") from error


def _is_of_version_1(hint: Any) -> bool:
    """Pydantic takes its old models, with a warning, and asks each for all of it at once."""
    old: Any = sys.modules.get("pydantic.v1")
    if old is None:
        return False
    is_old = isinstance(hint, type) and issubclass(hint, old.BaseModel)
    return is_old or any(_is_of_version_1(part) for part in get_args(hint))


def _culprit(hint: Any) -> str:
    """The place of the innermost part that is refused by itself."""
    path = "$"
    for _ in range(MAX_DEPTH):
        refused = [(step, part) for step, part in _parts(hint) if part is not hint and _is_refused(part)]
        if not refused:
            break
        step, hint = refused[0]
        path += step
    return path


def _parts(hint: Any) -> list[tuple[str, Any]]:
    """The fields of a class that pydantic looks into, or the arguments of a generic type."""
    is_named_tuple = isinstance(getattr(hint, "_fields", None), tuple)
    if not is_named_tuple and not hasattr(hint, "__dataclass_fields__") and not hasattr(hint, "__total__"):
        return [("[*]", argument) for argument in get_args(hint)]
    try:
        return [(f".{name}", inner) for name, inner in get_type_hints(hint, include_extras=True).items()]
    except REFUSED:  # names that stand for nothing
        return []


def _is_refused(hint: Any) -> bool:
    try:
        TypeAdapter(hint)
    except REFUSED:
        return True
    return False
