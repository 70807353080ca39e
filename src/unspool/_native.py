"""Names for the compiler. They mean nothing to the interpreter and to other type checkers.

mypyc turns a variable annotated `i64` into a machine integer. A class marked ``@mypyc_attr(acyclic=True)`` is never
part of a reference cycle, so the garbage collector does not track its instances: for many small objects that saves a
third of their cost. With ``free_list_len=1`` a class reuses the memory of its last freed instance, which pays for
classes that are made for every fragment.
"""

from __future__ import annotations

__all__ = ["TYPE_CHECKING", "cast", "expect", "final", "i64", "mypyc_attr"]

# Importing `typing` takes longer than importing the parser, so the core takes `cast` and `final` from here. Type
# checkers recognise the name TYPE_CHECKING, and mypy also MYPY, and take them to be True.
TYPE_CHECKING = False
MYPY = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar, cast, final

    T = TypeVar("T")
else:

    def final(cls):
        """Return the class as it is."""
        return cls

    def cast(_type, value):
        """Return the value as it is."""
        return value


if MYPY:
    from mypy_extensions import i64, mypyc_attr
else:
    i64 = int

    def mypyc_attr(**_attributes: bool | int) -> Callable[[T], T]:
        """Return a decorator that leaves a class as it is."""
        return lambda cls: cls


def expect(value: object, wanted: type | tuple[type, ...], name: str) -> None:
    """Raise `TypeError` for an argument of another type, in the words of mypyc.

    A compiled function checks its arguments by itself, and a plain one does not. Public functions call this, so that
    both builds refuse the same arguments.
    """
    if not isinstance(value, wanted):
        got = "None" if value is None else type(value).__name__
        raise TypeError(f"{name} object expected; got {got}")
