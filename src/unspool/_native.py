"""What the compiler is told. For the interpreter, and for other type checkers, it means nothing.

mypyc turns a variable annotated `i64` into a machine integer. A class marked ``@mypyc_attr(acyclic=True)`` is never
part of a reference cycle, so the garbage collector need not look at its instances: for many small objects that
is a third of their cost.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["i64", "mypyc_attr"]

MYPY = False  # mypy, and so mypyc, takes this name for True
if MYPY:
    from mypy_extensions import i64, mypyc_attr
else:
    from collections.abc import Callable

    i64 = int
    T = TypeVar("T")

    def mypyc_attr(**_attributes: bool) -> Callable[[T], T]:
        """Leave the class as it is."""
        return lambda cls: cls
