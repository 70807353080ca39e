"""How half-filled models are written out: by the serializers of the whole type, with null for what is not there yet.

The schema of a half-filled model is made of the schema of the whole one. Each part of it also accepts None. A model
inside is written out by its own serializer, because it may be half filled, too. Sets may be lists, and tuples may be
shorter. Computed fields are null: their code expects a whole model. `model_serializer` does not run, for the same
reason. A serializer of a field runs for a value that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic_core import SchemaError, SchemaSerializer, core_schema

from .schema import ANY, FUNCTIONS, Definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import BaseModel

    from .schema import Config, Schema

__all__ = ["model_serializer", "root_serializer"]

MAX_DEPTH: Final = 60
TRANSPARENT: Final = frozenset({"default", "custom-error", "missing-sentinel", "nullable"})
LIMITS: Final = ("min_length", "max_length", "fail_fast", "strict", "ref")
FIELD_KEYS: Final = ("serialization_alias", "serialization_exclude", "serialization_exclude_if")


def model_serializer(
    subclass: type[BaseModel],
    fields: Mapping[str, Schema],
    definitions: Definitions,
    config: Config,
    fill: Callable[..., Any],
    *,
    keeps_extras: bool,
) -> SchemaSerializer:
    """Return the serializer of a half-filled model. `fill` gets an instance, and writes one with None for the rest."""
    made: dict[str, Any] = {}
    for name, field in fields.items():
        inner: Any = _checked(written(field["schema"], definitions), definitions, config)
        made[name] = {**core_schema.model_field(inner), **{key: field[key] for key in FIELD_KEYS if key in field}}
    for name, computed in subclass.model_computed_fields.items():
        made[name] = core_schema.model_field(_any(), serialization_alias=computed.alias)
    inner = core_schema.model_fields_schema(made, extra_behavior="allow" if keeps_extras else "ignore")
    return _serializer(subclass, inner, definitions, config, fill)


def root_serializer(
    subclass: type[BaseModel], root: Schema, definitions: Definitions, config: Config, fill: Callable[..., Any]
) -> SchemaSerializer:
    """Return the serializer of a half-filled root model."""
    inner = _checked(written(root, definitions), definitions, config)
    return _serializer(subclass, inner, definitions, config, fill, is_root=True)


def _serializer(
    subclass: type,
    inner: Any,
    definitions: Definitions,
    config: Any,
    fill: Callable[..., Any],
    *,
    is_root: bool = False,
) -> SchemaSerializer:
    filled = core_schema.wrap_serializer_function_ser_schema(fill)
    model: Any = core_schema.model_schema(subclass, inner, root_model=is_root, config=config, serialization=filled)
    return SchemaSerializer(definitions.standalone(model), _use_prebuilt=False)  # a class inside would use its own


def _any() -> Any:
    return dict(ANY)


def _checked(schema: Schema, definitions: Definitions, config: Any) -> Schema:
    """Return the schema, or that of any value if Pydantic cannot make a serializer of it."""
    try:
        SchemaSerializer(definitions.standalone(schema), config, _use_prebuilt=False)
    except SchemaError:
        return ANY
    return schema


def written(schema: Schema, definitions: Definitions, depth: int = 0) -> Schema:
    """Return the schema that writes out a value of this one, or None, or a half-filled value."""
    made = _written(schema, definitions, depth)
    return made if made["type"] == "any" and "serialization" not in made else {"type": "nullable", "schema": made}


def _written(schema: Schema, definitions: Definitions, depth: int) -> Schema:
    if depth > MAX_DEPTH:
        return ANY
    made = _without_serialization(schema, definitions, depth + 1)
    own = schema.get("serialization")
    return made if own is None or schema["type"] == "model" else {**made, "serialization": own}


def _without_serialization(schema: Schema, definitions: Definitions, depth: int) -> Schema:
    kind = schema["type"]
    if kind in TRANSPARENT and "schema" in schema:
        return _written(schema["schema"], definitions, depth)
    if kind == "definitions":
        definitions.add(schema["definitions"])
        return _written(schema["schema"], definitions, depth)
    if kind == "json-or-python":
        return _written(schema["json_schema"], definitions, depth)
    if kind == "lax-or-strict":
        return _written(schema["strict_schema"], definitions, depth)
    if kind == "chain":
        return _written(schema["steps"][-1], definitions, depth)
    if kind in FUNCTIONS:
        return _written(schema["schema"], definitions, depth) if "schema" in schema else ANY
    if kind in ("model", "definition-ref", "named-tuple", "call", "generator"):
        return ANY
    if kind in ("union", "tagged-union"):
        return _union(schema, definitions, depth)
    return _container(schema, definitions, depth)


def _union(schema: Schema, definitions: Definitions, depth: int) -> Schema:
    choices: Any = schema["choices"]
    branches: list[Any] = [*choices.values()] if isinstance(choices, dict) else choices  # pyright: ignore[reportUnknownMemberType]
    inner: list[Any] = [
        one[0] if isinstance(one, tuple) else one for one in branches if not isinstance(one, (str, int))
    ]
    # A model among them is written out by itself, and the schema of any value would fit the others, too.
    made = sorted([_written(one, definitions, depth) for one in inner], key=lambda one: one == ANY)
    return ANY if made[0] == ANY else {"type": "union", "choices": made}


def _container(schema: Schema, definitions: Definitions, depth: int) -> Schema:
    kind = schema["type"]
    core = {key: value for key, value in schema.items() if key not in (*LIMITS, "serialization")}
    if kind == "tuple":
        core["items_schema"] = [written(one, definitions, depth) for one in schema["items_schema"]]
        if "variadic_item_index" not in schema:
            core["serialization"] = core_schema.wrap_serializer_function_ser_schema(_cut_to(len(core["items_schema"])))
        return core
    if "items_schema" in schema:
        core["items_schema"] = written(schema["items_schema"], definitions, depth)
        if kind in ("set", "frozenset"):
            return {"type": "union", "choices": [core, {"type": "list", "items_schema": core["items_schema"]}]}
    elif kind == "typed-dict":
        core["fields"] = {
            name: {**field, "schema": written(field["schema"], definitions, depth), "required": False}
            for name, field in schema["fields"].items()
        }
    elif kind == "dataclass":
        arguments = schema["schema"]
        if arguments["type"] != "dataclass-args":
            return ANY
        fields = [{**field, "schema": written(field["schema"], definitions, depth)} for field in arguments["fields"]]
        core["schema"] = {**arguments, "fields": fields}
    elif "schema" in schema:
        core["schema"] = written(schema["schema"], definitions, depth)
    for key in ("keys_schema", "values_schema"):
        if key in schema:
            core[key] = written(schema[key], definitions, depth)
    return core


def _cut_to(size: int) -> Callable[[Any, Callable[[Any], Any]], Any]:
    """Return a serializer for tuples that may be shorter than their schema."""

    def write(value: Any, inner: Callable[[Any], Any]) -> Any:
        known: tuple[Any, ...] = tuple[Any, ...](value) if isinstance(value, tuple) else ()  # pyright: ignore[reportUnknownArgumentType]
        if not isinstance(value, tuple) or len(known) >= size:
            return inner(value)
        return inner((*known, *[None] * (size - len(known))))[: len(known)]

    return write
