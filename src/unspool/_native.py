"""Names for the compiler. They mean nothing to the interpreter and to other type checkers.

mypyc turns a variable annotated `i64` into a machine integer. A class marked ``@mypyc_attr(acyclic=True)`` is never
part of a reference cycle, so the garbage collector does not track its instances: for many small objects that saves a
third of their cost. With ``free_list_len=1`` a class reuses the memory of its last freed instance, which pays for
classes that are made once per fragment.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["i64", "mypyc_attr"]

MYPY = False  # mypy, and so mypyc, takes this name to be True
if MYPY:
    from mypy_extensions import i64, mypyc_attr
else:
    from collections.abc import Callable

    i64 = int
    T = TypeVar("T")

    def mypyc_attr(**_attributes: bool | int) -> Callable[[T], T]:
        """Leave the class as it is."""
        return lambda cls: cls
