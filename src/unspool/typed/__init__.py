"""Typed partial values: a type of yours, half filled, after each fragment.

>>> from unspool.typed import iter_partial
>>> schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
>>> [partial.value for partial in iter_partial(schema, ['{"city": "Por', 'to"}'])]
[{'city': 'Por'}, {'city': 'Porto'}]
"""

from .items import aitems, items
from .outcome import Complete, Invalid, InvalidError, Missing, Partial, Resolution
from .partials import Resolver, aiter_partial, iter_partial, partial
from .policy import Atomic, NotNull, WholeItems
from .resolve import Cache, resolve
from .shape import Problem, Shape

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
