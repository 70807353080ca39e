"""Tuples: an array with a place for each item; and named ones, which may be an object as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._shape import IGNORED, Field, ObjectShape, TupleShape
from .._unions import UnionShape
from .fields import NeedsWholeError, checks_default, holds_back
from .partial import named_tuple_builder
from .schema import ANY, keys_of, may_omit

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._shape import Shape
    from .part import Part, Place
    from .schema import Config, Schema

    Describe = Callable[[Schema, Config, Place], Shape]

__all__ = ["named_tuple", "tuple_of"]


def tuple_of(part: Part, describe: Describe, whole_items: bool) -> TupleShape:
    """A tuple. Its places are counted from the beginning, so nothing may stand behind a part of any length."""
    schema = part.schema
    items: list[Schema] = schema["items_schema"]
    variadic: int | None = schema.get("variadic_item_index")
    if variadic is not None and variadic != len(items) - 1:
        raise NeedsWholeError
    if any(may_omit(one, part.definitions) for one in items[:variadic]):
        raise NeedsWholeError
    shapes = [describe(one, part.config, part.place.below(f"[{index}]")) for index, one in enumerate(items)]
    rest = None if variadic is None else shapes.pop()
    omits = variadic is not None and may_omit(items[-1], part.definitions)
    show = part.shown(tuple)
    make = show
    if not part.is_lenient:
        make = part.assemble({**schema, "items_schema": [ANY] * len(items)})
    most: int | None = None if omits else schema.get("max_length")
    shape = TupleShape(shapes, rest, show=show, make=make, max_items=most, is_lenient=part.is_lenient)
    shape.whole_items = whole_items
    return shape


def named_tuple(part: Part, describe: Describe) -> Shape:
    """A named tuple. Its fields go by their keys where it is an object, and by their places where it is an array."""
    fields: list[Schema] = part.schema["fields"]
    names: list[str] = [field["name"] for field in fields]
    keys: list[str] = []
    for name, field in zip(names, fields, strict=True):
        those = keys_of(name, field, part.config) or []
        if not part.is_lenient and (len(those) != 1 or checks_default(field["schema"], part.config)):
            raise NeedsWholeError
        keys.append(those[0] if those else name)
    shapes = [
        describe(field["schema"], part.config, part.place.below(f".{field['name']}", may_be_absent=True))
        for field in fields
    ]
    build = named_tuple_builder(part.schema["cls"])
    name_of = dict(zip(keys, names, strict=True))
    show_object = part.shown(lambda values: build({name_of[key]: value for key, value in values.items()}))
    assert show_object is not None
    by_key = {
        key: Field(key, shape, field["schema"]["type"] != "default", holds_back(field["schema"]))
        for key, shape, field in zip(keys, shapes, fields, strict=True)
    }
    if part.is_lenient:  # where something is left out of an array, the places say nothing
        return ObjectShape(by_key, show_object, show_object, extra=IGNORED, is_lenient=True)
    make = part.assemble({**part.schema, "fields": [_hollow(field) for field in fields]})
    show_array = part.shown(lambda items: build(dict(zip(names, items, strict=False))))
    as_array = TupleShape(shapes, None, show=show_array, make=make)
    as_object = ObjectShape(by_key, show_object, make, extra=None)
    return UnionShape([as_array, as_object], part.judge(), expected="an array or an object")


def _hollow(field: Schema) -> Schema:
    schema: dict[str, Any] = field["schema"]
    return {**field, "schema": {**schema, "schema": ANY} if schema["type"] == "default" else ANY}
