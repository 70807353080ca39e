"""Half-filled instances, of which a stream makes many: an object of a class and the dict of its attributes, no more."""

# Compiled with mypyc.
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Build", "instances_of"]

Build: TypeAlias = Callable[..., object]
"""Makes a half-filled value of the fields that are there, by name, and the extra keys, if these are kept."""


def instances_of(cls: type, set_dict: Callable[[object, dict[str, object]], None]) -> Build:
    """Makes instances of a class that keeps no extra keys. Nothing of the class is called."""
    new: Any = object.__new__  # from here it is quicker

    def build(there: dict[str, object], extras: Mapping[str, object] | None = None) -> object:
        instance: object = new(cls)
        set_dict(instance, there)
        return instance

    return build
