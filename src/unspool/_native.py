"""Names for the compiler. They mean nothing to the interpreter and to other type checkers.

mypyc turns a variable annotated `i64` into a machine integer. A class marked ``@mypyc_attr(acyclic=True)`` is never
part of a reference cycle, so the garbage collector does not track its instances: for many small objects that saves a
third of their cost. With ``free_list_len=1`` a class reuses the memory of its last freed instance, which pays for
classes that are made once per fragment.
"""

from __future__ import annotations

__all__ = ["TYPE_CHECKING", "cast", "final", "i64", "mypyc_attr"]

# Importing `typing` takes longer than importing the parser. So the core takes these names from here; type checkers know
# the first two by their spelling alone, and take them to be True.
TYPE_CHECKING = False
MYPY = False
if MYPY:
    from typing import cast, final

    from mypy_extensions import i64, mypyc_attr
else:
    i64 = int

    def final(cls):
        """Return the class."""
        return cls

    def cast(_type, value):
        """Return the value."""
        return value

    def mypyc_attr(**_attributes):
        """Return a decorator that leaves a class as it is."""
        return final
