"""`MISSING`: the value of a document of which nothing is known yet."""

# Compiled with mypyc.
from __future__ import annotations

from ._native import TYPE_CHECKING, final

if TYPE_CHECKING:
    from typing import Final

__all__ = ["MISSING", "MissingType"]


@final
class MissingType:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"  # copying and pickling keep the one instance


MISSING: Final = MissingType()
"""No value yet. It is falsy, and equal only to itself."""
