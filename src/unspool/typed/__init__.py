"""Typed partial values: a type of yours, half filled, after each fragment.

>>> from unspool.typed import iter_partial
>>> schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
>>> [partial.value for partial in iter_partial(schema, ['{"city": "Por', 'to"}'])]
[{'city': 'Por'}, {'city': 'Porto'}]
"""

from ._items import aitems, items
from ._outcome import Complete, Invalid, InvalidError, Missing, Partial, Resolution
from ._partials import Resolver, aiter_partial, iter_partial, partial
from ._policy import Atomic, NotNull, WholeItems
from ._resolve import Cache, resolve
from ._shape import Problem, Shape

__all__ = [
    "Atomic",
    "Cache",
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
    "WholeItems",
    "aitems",
    "aiter_partial",
    "items",
    "iter_partial",
    "partial",
    "resolve",
]
