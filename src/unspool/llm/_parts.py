"""What deltas are made of: how they compare and show, numbers as they came, and the three forms of arguments."""

# Compiled with mypyc.
from __future__ import annotations

from typing import ClassVar, Final, final

from .._missing import MISSING, MissingType

__all__ = ["Arguments", "Block", "Index", "Leaf", "Record", "Whole"]

Block = tuple[int | str, ...]
"""Which part of the message: its numbers on the wire, from the outside in. Empty where a format has no parts."""

Index = int | str | MissingType | None
"""A number as it came, which may be anything: a text, null, or not there (`MISSING`)."""


class Record:
    """What the types here share: they are equal by their fields, and show those that say something."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def _fields(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __repr__(self) -> str:
        shown = [
            f"{name}={value!r}"
            for name, value in zip(self.__match_args__, self._fields(), strict=True)
            if not _is_silent(name, value)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        scalars = [field for field in self._fields() if isinstance(field, (str, int, float))]
        return hash((type(self).__name__, *scalars))  # the others may hold dicts

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._fields()


def _is_silent(name: str, value: object) -> bool:
    if value is None:
        return name not in {"index", "value"}  # where a null is not the same as nothing
    return value is MISSING or value is False or value == () or (name == "choice" and not value)


@final
class Whole(Record):
    """The arguments of a call as a whole: as text, or as the plain value. Pieces may have come before."""

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value: Final = value


@final
class Leaf(Record):
    """A part of the arguments by its place: a JSONPath, and the value or the next piece of the text that stands there.

    `MISSING` where the wire names a place without a value; None is a null.
    """

    __slots__ = ("path", "value", "will_continue")
    __match_args__ = ("path", "value", "will_continue")

    def __init__(self, path: str, value: object = MISSING, will_continue: bool = False) -> None:
        self.path: Final = path
        self.value: Final = value
        self.will_continue: Final = will_continue


Arguments = str | Whole | tuple[Leaf, ...] | None
"""The next piece of the text of the arguments, all of them, some of their leaves, or nothing."""
