"""The value before there is any."""

# Compiled with mypyc.
from __future__ import annotations

from typing import Final, final

__all__ = ["MISSING", "Missing"]


@final
class Missing:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"  # there is one, also after copying and pickling


MISSING: Final = Missing()
"""No value yet. It is false, and nothing but itself is equal to it."""
