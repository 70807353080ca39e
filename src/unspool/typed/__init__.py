"""Typed partial values: a partially filled value of your own type after each fragment.

>>> from unspool.typed import iter_partial
>>> schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
>>> [partial.value for partial in iter_partial(schema, ['{"city": "Por', 'to"}'])]
[{'city': 'Por'}, {'city': 'Porto'}]
"""

from ._changes import Changes, ValueChange
from ._iterate import (
    Resolver,
    aitems,
    aiter_changes,
    aiter_partial,
    from_json_schema,
    from_msgspec,
    from_pydantic,
    items,
    iter_changes,
    iter_partial,
    partial,
)
from ._outcome import Complete, Invalid, InvalidError, Missing, Partial, Resolution
from ._resolve import Cache, resolve
from ._shape import Atomic, NotNull, Problem, Shape, WholeItems

__all__ = [
    "Atomic",
    "Cache",
    "Changes",
    "Complete",
    "Invalid",
    "InvalidError",
    "Missing",
    "NotNull",
    "Partial",
    "Problem",
    "Resolution",
    "Resolver",
    "Shape",
    "ValueChange",
    "WholeItems",
    "aitems",
    "aiter_changes",
    "aiter_partial",
    "from_json_schema",
    "from_msgspec",
    "from_pydantic",
    "items",
    "iter_changes",
    "iter_partial",
    "partial",
    "resolve",
]

InvalidError.__module__ = __name__  # tracebacks show the name that users import
