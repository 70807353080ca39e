"""`MISSING`: the value of a document of which nothing is known yet."""

# Compiled with mypyc.
from __future__ import annotations

from ._native import TYPE_CHECKING, final

if TYPE_CHECKING:
    from typing import Final, Never, NoReturn

__all__ = ["MISSING", "MissingType"]


NO_ITEMS: Final = (
    "MISSING has no items: there is no value yet. A message has a content_value only with a response_schema: pass "
    "response_schema=True for JSON of any shape"
)


@final
class MissingType:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __getitem__(self, key: Never) -> NoReturn:  # type checkers reject every key
        raise TypeError(NO_ITEMS)

    def __reduce__(self) -> str:
        return "MISSING"  # copying and pickling keep the one instance


MISSING: Final = MissingType()
"""No value yet. It is falsy, and equal only to itself."""
