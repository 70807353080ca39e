"""How a field is shown while it is being written, said in its annotation: ``Annotated[str, Atomic]``.

The class itself and an instance of it say the same. Pydantic finds the markers wherever they stand, also on the items
of a list or the branches of a union, and writes their names beside what it knows of the type; that changes nothing in
how it validates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MARKS", "Atomic", "NotNull", "WholeItems"]

MARKS: Final = "unspool"
"""Under which key of a pydantic core schema's metadata the names of its markers are."""


class Marker:
    """What the markers have in common."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Callable[[Any], Any]) -> Any:
        schema: dict[str, Any] = handler(source)
        metadata: dict[str, Any] = schema.get("metadata") or {}
        # A copy: the schema may be that of a class, and the marker is for this place only.
        return {**schema, "metadata": {**metadata, MARKS: (*metadata.get(MARKS, ()), cls.__name__)}}


class Atomic(Marker):
    """Shown only when it is complete: ``Annotated[Address, Atomic]``."""

    __slots__ = ()


class NotNull(Marker):
    """The object that has this field is not shown before the field is: ``Annotated[str, NotNull]``."""

    __slots__ = ()


class WholeItems(Marker):
    """Only finished items are shown: ``Annotated[list[Day], WholeItems]``."""

    __slots__ = ()
