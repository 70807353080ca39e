"""Discriminated unions: under which key the tag is, and which values of it stand for which branch."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any

from pydantic_core import SchemaValidator, ValidationError, core_schema

from .._shape import BOOLEAN, NUMBER, STRING
from .schema import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._shape import Shape
    from .schema import Config, Schema

__all__ = ["branches_of", "discriminator_key", "tags_of"]


def branches_of(schema: Schema) -> dict[Any, Schema]:
    """The branches by their tags. A tag may stand for another one."""
    choices: dict[Any, Any] = schema["choices"]
    branches: dict[Any, Schema] = {}
    for tag, choice in choices.items():
        while isinstance(choice, (str, int)):
            choice = choices[choice]
        branches[tag] = choice
    return branches


def discriminator_key(schema: Schema) -> str | None:
    """The one key that has the tag; None where there may be several, or it is not simply under a key."""
    discriminator: Any = schema["discriminator"]
    while is_list(discriminator) and len(discriminator) == 1:  # a path of one step, or a list of one path
        discriminator = discriminator[0]
    return discriminator if isinstance(discriminator, str) else None


def tags_of(schema: Schema, config: Config, key: str, shapes: Mapping[Any, Shape]) -> dict[tuple[str, object], Shape]:
    """The branches by kind and value of the tag, as pydantic itself tells them apart; none if some cannot be told."""
    order = list(shapes)
    indices: Any = {tag: _constant(index) for index, tag in enumerate(order)}
    settings: Any = config
    union: Any = core_schema.tagged_union_schema(indices, schema["discriminator"], strict=schema.get("strict"))
    asked = SchemaValidator(union, settings)
    tags: dict[tuple[str, object], Shape] = {}
    found: set[int] = set()
    for tag in order:
        for value in _spellings(tag.value if isinstance(tag, enum.Enum) else tag):
            try:
                index = asked.validate_json(json.dumps({key: value}))
            except ValidationError:
                continue
            found.add(index)
            kind = STRING if isinstance(value, str) else BOOLEAN if isinstance(value, bool) else NUMBER
            tags[kind, value] = shapes[order[index]]
    return tags if len(found) == len(order) else {}


def _constant(index: int) -> Any:
    return core_schema.no_info_plain_validator_function(lambda _: index)


def _spellings(value: object) -> list[object]:
    """What may be written for a tag, and perhaps a little more."""
    if isinstance(value, str):
        return [str(value)]
    if isinstance(value, int):
        return [int(value), str(int(value)), *([bool(value)] if value in (0, 1) else [])]
    return []
