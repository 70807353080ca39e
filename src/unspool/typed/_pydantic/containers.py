"""Lists, sets and mappings: containers whose children are all alike."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Final

from .._shape import ArrayShape, MapShape
from .judge import key_as_written
from .schema import ANY, is_plain, may_omit

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._shape import Shape
    from .part import Part, Place
    from .schema import Config, Schema

    Describe = Callable[[Schema, Config, Place], Shape]

__all__ = ["ARRAYS", "MAPPINGS", "array", "mapping"]


def _hashed(make: Callable[[list[object]], object]) -> Callable[[list[object]], object]:
    """Half-filled values may be such as cannot be hashed; then the list itself is shown."""

    def show(items: list[object]) -> object:
        try:
            return make(items)
        except TypeError:
            return items

    return show


ARRAYS: Final[dict[str, Callable[[list[object]], object] | None]] = {
    "list": None,
    "set": _hashed(set),
    "frozenset": _hashed(frozenset),
    "deque": deque,
}
MAPPINGS: Final[dict[str, Callable[[dict[object, object]], object] | None]] = {
    "dict": None,
    "ordered-dict": OrderedDict,
}


def array(part: Part, describe: Describe, whole_items: bool) -> ArrayShape:
    """A list, a set or a deque."""
    schema = part.schema
    items: Schema = schema.get("items_schema", ANY)
    shape = describe(items, part.config, part.place.below("[*]"))
    omits = may_omit(items, part.definitions)
    show = part.shown(ARRAYS[part.kind])
    is_bare = part.kind == "list" and not part.has_effects and not {"min_length", "max_length"} & schema.keys()
    make = show if part.is_lenient or is_bare else part.assemble({**schema, "items_schema": ANY})
    # A set counts what is left of it, and what is left out counts nowhere.
    most: int | None = None if omits or part.kind != "list" else schema.get("max_length")
    expected = "an array" if most is None else f"an array of at most {most} items"
    return ArrayShape(
        shape,
        show=show,
        make=make,
        expected=expected,
        max_items=most,
        whole_items=whole_items,
        is_lenient=part.is_lenient,
    )


def mapping(part: Part, describe: Describe) -> MapShape:
    """An object with any keys."""
    schema = part.schema
    keys: Schema = schema.get("keys_schema", ANY)
    values: Schema = schema.get("values_schema", ANY)
    shape = describe(values, part.config, part.place.below("[*]"))
    has_plain_keys = keys["type"] in ("any", "str") and is_plain(keys, part.config)
    check_key: Callable[[str], object] | None = None
    if not has_plain_keys and not (part.is_lenient and any_calls_back(keys, part)):
        only_keys: Schema = {"type": "dict", "keys_schema": keys, "values_schema": ANY}
        check_key = key_as_written(part.definitions.standalone(only_keys), part.config)
    omits = may_omit(values, part.definitions)
    show = part.shown(MAPPINGS[part.kind])
    is_bare = part.kind == "dict" and not part.has_effects and not {"min_length", "max_length"} & schema.keys()
    if part.is_lenient or is_bare:
        make = show
    else:
        hollow = {**schema, "keys_schema": ANY, "values_schema": ANY}
        make = part.assemble(hollow)
    # Different keys may turn out to be one.
    most: int | None = schema.get("max_length") if has_plain_keys and not omits else None
    return MapShape(shape, check_key=check_key, show=show, make=make, max_keys=most, is_lenient=part.is_lenient)


def any_calls_back(schema: Schema, part: Part) -> bool:
    """Judging by this schema may run code of the user's."""
    return part._replace(schema=schema, around=()).calls_back()
