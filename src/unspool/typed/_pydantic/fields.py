"""Objects with fields: models, dataclasses and typed dicts.

The fields of an object are handed on by the keys under which they came, and pydantic finds out itself which key wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .._frames import HIDDEN
from .._node_text import json_text
from .._resolve import _resolve
from .._shape import ALL_KINDS, IGNORED, AnyShape, DeferredShape, Field, ObjectShape
from .judge import Late, Made, late, made_before, wrapped
from .partial import dataclass_builder, model_builder
from .schema import ANY, KINDS, extra_behaviour, inside, is_with_info, keys_of, marks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..._tree.nodes import Node
    from .._instances import Build
    from .._shape import Shape
    from .part import Part, Place
    from .schema import Config, Schema

    Describe = Callable[[Schema, Config, Place], Shape]

__all__ = ["NeedsWholeError", "checks_default", "holds_back", "object_with_fields"]

MARKED: Final = frozenset(
    {"default", "nullable", "union", "custom-error", "function-after", "function-before", "function-wrap"}
)


class NeedsWholeError(Exception):
    """The object cannot be put together from its fields: pydantic has to see it as it was written."""


class Member(NamedTuple):
    """A field of an object."""

    name: str
    field: Schema
    keys: list[str]
    around: list[Schema]
    """What is judged with the object: the default, and validators that ask for the fields before."""
    schema: Schema
    """What is judged when the field closes."""
    is_required: bool
    is_late: bool
    """It is judged with the object altogether."""
    checks_default: bool
    holds_back: bool


def object_with_fields(part: Part, describe: Describe) -> ObjectShape:
    """The shape of a model, a dataclass or a typed dict."""
    schema = part.schema
    config: Config = schema.get("config", {}) if part.kind == "typed-dict" else part.config
    if "extras_keys_schema" in schema and not part.is_lenient:
        raise NeedsWholeError
    extra = extra_behaviour(schema, config)
    members = list(_members(part, config))
    fields: dict[str, Field] = {}
    for member in members:
        for key, field in _fields(member, part, config, extra, describe):
            if key in fields and not part.is_lenient:
                raise NeedsWholeError  # one value for two fields
            fields.setdefault(key, field)
    show = part.shown(_show(part, config, members, extra))
    assert show is not None
    make = show if part.is_lenient else _make(part, members, config, extra)
    kept = _extras(part, config, extra, describe)
    if part.is_lenient and kept is None:
        kept = IGNORED
    return ObjectShape(fields, show, make, extra=kept, is_lenient=part.is_lenient)


def _members(part: Part, config: Config) -> Iterator[Member]:
    for name, field in _named_fields(part.schema):
        if not field.get("init", True):
            continue  # whatever comes under this name is an extra key
        keys = keys_of(name, field, config)
        if keys is None:
            if part.is_lenient:
                continue
            raise NeedsWholeError
        schema: Schema = field["schema"]
        is_required: bool = schema["type"] != "default"
        if part.kind == "typed-dict":
            is_total: Any = part.schema.get("total", config.get("typed_dict_total", True))
            is_required = bool(field.get("required", is_total))
        around, inner = _split(schema)
        is_checked = checks_default(schema, config)
        is_late = part.definitions.sees_siblings(inner)
        if is_checked and (is_late or len(keys) > 1) and not part.is_lenient:
            raise NeedsWholeError
        yield Member(name, field, keys, around, inner, is_required, is_late, is_checked, holds_back(schema))


def checks_default(schema: Schema, config: Config) -> bool:
    """The default of a field is validated, too, when it is used."""
    return schema["type"] == "default" and bool(schema.get("validate_default", config.get("validate_default")))


def _named_fields(schema: Schema) -> Iterator[tuple[str, Schema]]:
    fields: Any = schema["fields"]
    if isinstance(fields, dict):
        yield from fields.items()
    else:
        yield from ((field["name"], field) for field in fields)


def _split(schema: Schema) -> tuple[list[Schema], Schema]:
    """What is judged with the object, and the rest."""
    around: list[Schema] = []
    if schema["type"] == "default" and schema.get("on_error", "raise") == "raise":
        around.append(schema)
        schema = schema["schema"]
    functions: list[Schema] = []
    inner = schema
    while inner["type"] == "function-after" and "ref" not in inner:
        functions.append(inner)
        inner = inner["schema"]
    while functions and not is_with_info(functions[-1]):
        inner = functions.pop()
    return [*around, *functions], inner


def holds_back(schema: Schema) -> bool:
    """The object is not shown before this field is. The marker may be on a branch of a union."""
    parts = [schema]
    while parts:
        part = parts.pop()
        if "NotNull" in marks_of(part):
            return True
        if part["type"] in MARKED:
            parts += inside(part)
    return False


def _fields(member: Member, part: Part, config: Config, extra: str, describe: Describe) -> Iterator[tuple[str, Field]]:
    place = part.place.below(f".{member.name}", may_be_absent=not member.is_required)
    # As it is where it can be: a schema that is made anew would be another one each time a type contains itself.
    schema = member.schema if any(map(is_with_info, member.around)) else member.field["schema"]
    shape = describe(schema, config, place)
    for index, key in enumerate(member.keys):
        # A later key is judged with the object: an earlier one may come yet, and then this one is no field at all.
        is_late = member.is_late or (index > 0 and extra != "forbid")
        if is_late and not part.is_lenient:
            judged: Shape = _late_shape(describe(schema, config, place._replace(is_lenient=True)))
        else:
            judged = shape
        is_only = len(member.keys) == 1
        yield key, Field(key, judged, member.is_required and is_only, member.holds_back and is_only)


def _late_shape(lenient: Shape) -> DeferredShape:
    def make(node: Node) -> object:
        return Late(json_text(node), _resolve(lenient, node, None).value)

    return DeferredShape(make, ALL_KINDS, shown=lenient)


def _extras(part: Part, config: Config, extra: str, describe: Describe) -> Shape | None:
    if extra == "ignore":
        return IGNORED
    if extra == "forbid":
        return None
    schema: Schema | None = part.schema.get("extras_schema")
    return AnyShape() if schema is None else describe(schema, config, part.place.below("[*]", may_be_absent=True))


# What becomes of the values


def _make(part: Part, members: list[Member], config: Config, extra: str) -> Callable[[dict[str, object]], object]:
    by_name = {member.name: member for member in members}
    hollow: Any = {
        name: _hollow(by_name[name], extra) if name in by_name else field for name, field in _named_fields(part.schema)
    }
    if not isinstance(part.schema["fields"], dict):
        hollow = list(hollow.values())
    core: Schema = {**part.schema, "fields": hollow}
    is_late = any(_may_be_late(member, extra) for member in members)
    if extra == "allow" and is_late:
        if part.kind == "dataclass-args":
            raise NeedsWholeError  # it knows no schema for extras
        # Of two keys for one field, the one that loses is an extra.
        core["extras_schema"] = late(part.schema.get("extras_schema", ANY))
    elif "extras_schema" in core:
        core["extras_schema"] = ANY
    is_strict = bool(config.get("strict"))
    as_json = any(
        member.checks_default or any(map(is_with_info, member.around)) or (is_strict and _may_be_late(member, extra))
        for member in members
    )
    assemble = part.assemble(core, as_json=as_json)
    checked = [key for member in members if member.checks_default for key in member.keys]
    if not checked:
        return assemble

    def make(values: dict[str, object]) -> object:
        return assemble({**values, **{key: Made(values[key]) for key in checked if key in values}})

    return make


def _may_be_late(member: Member, extra: str) -> bool:
    return member.is_late or (len(member.keys) > 1 and extra != "forbid")


def _hollow(member: Member, extra: str) -> Schema:
    inner = ANY
    if _may_be_late(member, extra):
        inner = late(member.schema)
    elif member.checks_default:
        inner = made_before(member.schema)
    return {**member.field, "schema": wrapped(member.around, inner)}


def _show(part: Part, config: Config, members: list[Member], extra: str) -> Callable[[dict[str, object]], object]:
    build = _builder(part, config)
    has_late = any(_may_be_late(member, extra) for member in members)
    if extra != "allow" and not has_late and all(member.keys == [member.name] for member in members):
        return build
    places = {key: (member.name, rank) for member in members for rank, key in enumerate(member.keys)}
    holding = frozenset([member.name for member in members if member.holds_back])

    def show(values: dict[str, object]) -> object:
        there: dict[str, object] = {}
        extras: dict[str, object] = {}
        ranks: dict[str, int] = {}
        for key, value in values.items():
            shown = value.shown if isinstance(value, Late) else value
            name, rank = places.get(key, (None, 0))
            if shown is HIDDEN:
                continue
            if name is None:
                extras[key] = shown
            elif rank <= ranks.get(name, rank):  # of several keys for one field the first wins
                there[name] = shown
                ranks[name] = rank
        return build(there, extras) if holding <= there.keys() else HIDDEN

    return show


def _builder(part: Part, config: Config) -> Build:
    owner = part.owner
    if part.kind == "typed-dict" or owner is None:
        return _dict
    if part.kind == "dataclass-args":
        return dataclass_builder(owner["cls"])
    return model_builder(owner["cls"], part.schema, _written(part.schema["fields"]), config)


def _dict(there: dict[str, object], extras: Mapping[str, object] | None = None) -> object:
    return {**there, **extras} if extras else there


def _written(fields: Mapping[str, Schema]) -> dict[str, Schema]:
    """How leaves are written out: as in a whole value, or null. Everything else as it stands."""
    leaves: dict[str, Schema] = {}
    for name, field in fields.items():
        schema: Schema = field["schema"]
        outermost = schema.get("serialization")
        while schema["type"] == "default":
            schema = schema["schema"]
        if schema["type"] == "nullable":
            schema = schema["schema"]
        if schema["type"] in KINDS:
            written = schema if outermost is None else {**schema, "serialization": outermost}
            leaves[name] = {"type": "nullable", "schema": written}
    return leaves
