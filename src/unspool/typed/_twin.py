"""Twins: classes for half-filled values, which look like the class of a user and are not related to it.

A subclass would show up in `__subclasses__()` of the user's class, where registries look for classes of the user's, and
its hooks would run for it. A twin has the attributes of the class, copied, and calls itself an instance of it: the
attribute `__class__` says so, and `isinstance` asks for it.
"""

from __future__ import annotations

from abc import ABCMeta
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

__all__ = ["attributes_of", "described", "is_half", "twin_of"]

OWN: Final = frozenset(  # these belong to one class, or run when a class is made, or at every look at an instance
    {
        *("__dict__", "__weakref__", "__slots__", "__module__", "__qualname__", "__doc__", "__class__"),
        *("__init_subclass__", "__pydantic_init_subclass__", "__subclasshook__", "__signature__"),
        *("__abstractmethods__", "_abc_impl", "__getattribute__"),
    }
)


def twin_of(cls: type, layout: tuple[type, ...], namespace: dict[str, Any]) -> type:
    """Return the twin of a class. `layout` are its bases, and `namespace` has the attributes that differ."""
    metaclass = type(cls)
    make: Any = ABCMeta.__new__ if issubclass(metaclass, ABCMeta) else type.__new__
    made: type = make(metaclass, f"Partial{cls.__name__}", layout, {**described(cls), **namespace})
    for name, value in attributes_of(cls, made).items():
        if name not in vars(made):
            type.__setattr__(made, name, value)  # unlike a namespace, this runs no `__set_name__`
    return made


def described(cls: type) -> dict[str, Any]:
    """Return the attributes that name a twin, and say which class it looks like."""
    return {
        "__module__": cls.__module__,
        "__qualname__": f"Partial{cls.__name__}",
        "__doc__": f"A {cls.__name__} that is still being written. Absent fields read as None.",
        "__class__": property(lambda _: cls),
    }


def attributes_of(cls: type, twin: type) -> dict[str, Any]:
    """Return the attributes of a class that its twin does not have from its own bases."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base in twin.__mro__:
            continue
        found |= {name: value for name, value in vars(base).items() if name not in OWN and not _is_of_layout(value)}
    return found


def _is_of_layout(value: object) -> bool:
    return isinstance(value, (MemberDescriptorType, GetSetDescriptorType))


def is_half(value: object) -> bool:
    """Return whether this is a half-filled instance: it claims to be one of another class."""
    return value.__class__ is not type(value)
