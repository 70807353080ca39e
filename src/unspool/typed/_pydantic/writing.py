"""How half-filled models are written out: by the serializers of the whole type, with null for what is not there yet.

The schema of a half-filled model is made of the schema of the whole one. Each part of it also accepts None. A model
inside is written out by its own serializer, because it may be half filled, too. Sets may be lists, and tuples may be
shorter. Computed fields are null: their code expects a whole model. `model_serializer` does not run, for the same
reason. A serializer of a field runs for a value that is there, and is whole. A serializer that reads `self`, or fails,
writes null: it may need what is not there yet.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic_core import PydanticOmit, PydanticSerializationUnexpectedValue, SchemaError, SchemaSerializer, core_schema

from .._shape import UNWRITTEN, UnwritableError, Writing, is_exactly, message_of
from .._twin import is_half
from .schema import ANY, FUNCTIONS, Definitions, inside, reads_self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from .._shape import Attribute
    from .schema import Config, Schema

__all__ = ["PydanticWriting", "dataclass_serializer", "model_serializer", "root_serializer"]

MAX_DEPTH: Final = 60
TRANSPARENT: Final = frozenset({"default", "custom-error", "missing-sentinel", "nullable"})
LIMITS: Final = ("min_length", "max_length", "fail_fast", "strict", "ref")
CLASSES: Final = frozenset({"model", "dataclass", "named-tuple"})
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
        made[name] = {**core_schema.model_field(inner), **_options(field)}
    for name, computed in subclass.model_computed_fields.items():
        made[name] = core_schema.model_field(_any(), serialization_alias=computed.alias)
    inner = core_schema.model_fields_schema(made, extra_behavior="allow" if keeps_extras else "ignore")
    return _serializer(subclass, inner, definitions, config, fill)


def dataclass_serializer(
    subclass: type, arguments: Schema, definitions: Definitions, config: Config
) -> SchemaSerializer:
    """Return the serializer of a half-filled dataclass. Its absent fields have the value None."""
    made: list[Any] = []
    for field in arguments["fields"]:
        if not field.get("init_only"):
            inner: Any = _checked(written(field["schema"], definitions), definitions, config)
            made.append({**core_schema.dataclass_field(field["name"], inner), **_options(field)})
    for computed in arguments.get("computed_fields", ()):
        alias: str | None = computed.get("alias")
        made.append(core_schema.dataclass_field(computed["property_name"], _any(), serialization_alias=alias))
    names: list[str] = [field["name"] for field in made]
    inner = core_schema.dataclass_args_schema(subclass.__name__, made)
    settings: Any = {key: value for key, value in config.items() if key != "extra_fields_behavior"}
    schema: Any = core_schema.dataclass_schema(subclass, inner, names, config=settings)
    return SchemaSerializer(definitions.standalone(schema), _use_prebuilt=False)


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


def _options(field: Schema) -> dict[str, Any]:
    return _safely_excluded({key: field[key] for key in FIELD_KEYS if key in field})


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


def _written(schema: Schema, definitions: Definitions, depth: int, *, has_others: bool = False) -> Schema:
    """Return the schema that writes out a value. With `has_others`, this is one of several that are tried."""
    if depth > MAX_DEPTH:
        return ANY
    made = _without_serialization(schema, definitions, depth + 1)
    own = schema.get("serialization")
    if own is None or schema["type"] == "model":
        return made
    if "serialization" in made:
        made = {"type": "nullable", "schema": made}
    return {**made, "serialization": _safe(own, has_others=has_others)}


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
    if kind == "definition-ref":
        return _reference(schema, definitions, depth)
    if kind in ("model", "named-tuple", "call", "generator"):
        return ANY
    if kind in ("union", "tagged-union"):
        return _union(schema, definitions, depth)
    return _container(schema, definitions, depth)


def _reference(schema: Schema, definitions: Definitions, depth: int) -> Schema:
    ref: str = schema["schema_ref"]
    if _is_plain_dataclass(definitions[ref]):
        return {"type": "union", "choices": [schema, ANY]}  # a half-filled one is written as any value
    if _class_of(definitions[ref], definitions) is not None:
        return ANY
    name = f"{ref}:half"
    if name not in definitions:
        definitions.add([{**ANY, "ref": name}])  # the type may contain itself
        made = _written(definitions[ref], definitions, depth)
        definitions.add([{"type": "nullable", "schema": made, "ref": name}])
    return {"type": "definition-ref", "schema_ref": name}


def _union(schema: Schema, definitions: Definitions, depth: int) -> Schema:
    choices: Any = schema["choices"]
    branches: list[Any] = [*choices.values()] if isinstance(choices, dict) else choices  # pyright: ignore[reportUnknownMemberType]
    inner: list[Any] = [
        one[0] if isinstance(one, tuple) else one for one in branches if not isinstance(one, (str, int))
    ]
    made = [_written(one, definitions, depth, has_others=True) for one in inner]
    choices = [one for one in made if one != ANY]
    if not choices:
        return ANY
    union: Schema = {"type": "union", "choices": [*choices, ANY]}
    # A model among them is written out by itself, and a serializer of another branch would take it, too.
    found = [_class_of(one, definitions) for one, schema in zip(inner, made, strict=True) if schema == ANY]
    classes = tuple([cls for cls in found if cls is not None])

    def write(value: object, inner: Callable[[object], object]) -> object:
        return value if isinstance(value, classes) else inner(value)

    return {**union, "serialization": core_schema.wrap_serializer_function_ser_schema(write)} if classes else union


def _class_of(schema: Schema, definitions: Definitions) -> type | None:
    for _ in range(MAX_DEPTH):
        if schema["type"] == "definition-ref":
            schema = definitions[schema["schema_ref"]]
        elif schema["type"] not in CLASSES and "schema" in schema:
            schema = schema["schema"]
        else:
            break
    cls: type | None = schema["cls"] if schema["type"] in CLASSES else None
    return cls


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
            name: _safely_excluded({**field, "schema": written(field["schema"], definitions, depth), "required": False})
            for name, field in schema["fields"].items()
        }
    elif kind == "dataclass":
        arguments = schema["schema"]
        if arguments["type"] != "dataclass-args":
            return ANY
        fields = [
            _safely_excluded({**field, "schema": written(field["schema"], definitions, depth)})
            for field in arguments["fields"]
        ]
        core["schema"] = {**arguments, "fields": fields}
    elif "schema" in schema:
        core["schema"] = written(schema["schema"], definitions, depth)
    for key in ("keys_schema", "values_schema"):
        if key in schema:
            core[key] = written(schema[key], definitions, depth)
    return core


# Code of the user's


def _safe(serialization: Schema, *, has_others: bool) -> Schema:
    """Return the serialization with a function that writes null instead of meeting a half-filled value.

    With `has_others`, others take the values that this one cannot write.
    """
    function: Any = serialization.get("function")
    if function is None or (getattr(function, "__module__", None) or "").startswith("pydantic."):
        return serialization
    is_method = bool(serialization.get("is_field_serializer"))
    needs_whole = _needs_whole(serialization)

    def write(*arguments: Any) -> Any:
        if (needs_whole and is_half(arguments[0])) or has_half(arguments[1 if is_method else 0]):
            if has_others:
                raise PydanticSerializationUnexpectedValue("half filled")
            return None
        try:
            return function(*arguments)
        except (PydanticOmit, PydanticSerializationUnexpectedValue):
            raise
        except Exception:
            if has_others:
                raise
            return None  # a text may still grow into one that it can write

    made: Schema = {**serialization, "function": write}
    if "return_schema" in made:
        made["return_schema"] = {"type": "nullable", "schema": made["return_schema"]}
    return made


def _needs_whole(serialization: Schema) -> bool:
    """Return whether a serializer may read other fields: it is a method, and reads `self`."""
    return bool(serialization.get("is_field_serializer")) and reads_self(serialization["function"])


def _safely_excluded(field: Schema) -> Schema:
    """Return the field with an `exclude_if` that leaves a value out as long as it cannot tell."""
    decide: Callable[[Any], bool] | None = field.get("serialization_exclude_if")
    if decide is None:
        return field

    def is_excluded(value: Any) -> bool:
        try:
            return has_half(value) or bool(decide(value))
        except Exception:  # noqa: BLE001
            return value is not None  # an absent field reads as None, and is null

    return {**field, "serialization_exclude_if": is_excluded}


def has_half(value: object) -> bool:
    """Return whether a value is half filled, or has a half-filled one in it."""
    values: list[object] = [value]
    while values:
        one: Any = values.pop()
        if is_half(one):
            return True
        if isinstance(one, dict):
            values += cast("dict[object, object]", one).values()
        elif isinstance(one, (list, tuple, set, frozenset, deque)):
            values += cast("Iterable[object]", one)
    return False


def _cut_to(size: int) -> Callable[[Any, Callable[[Any], Any]], Any]:
    """Return a serializer for tuples that may be shorter than their schema."""

    def write(value: Any, inner: Callable[[Any], Any]) -> Any:
        known: tuple[Any, ...] = tuple[Any, ...](value) if isinstance(value, tuple) else ()  # pyright: ignore[reportUnknownArgumentType]
        if not isinstance(value, tuple) or len(known) >= size:
            return inner(value)
        return inner((*known, *[None] * (size - len(known))))[: len(known)]

    return write


# JSON, part by part

AS_A_LIST: Final = "serialize_sequence_via_list"  # this is how Pydantic writes a Sequence
DUMPS: Final = SchemaSerializer({"type": "any"})
SIMPLE: Final = (str, int, float, bool, type(None))
UNORDERED: Final = (set, frozenset, deque)


class ClassWriting(NamedTuple):
    """How the instances of a class are written."""

    cls: Any
    keys: dict[str, str]
    """The keys of the fields, by the names of the fields."""
    by_class: frozenset[str]
    """The fields that only the serializer of the class can write: the user's code does it, or leaves them out."""
    by_self: frozenset[str]
    """Those of them whose serializers read other fields."""
    computed: tuple[str, ...]
    is_whole: bool
    """The user's code writes the whole instance."""
    never: frozenset[str]
    """The parameters of a dataclass that are not fields."""


class PydanticWriting(Writing):
    """How the values of a Pydantic type are written: as `TypeAdapter.dump_python` does with ``mode="json"``."""

    def __init__(self, schema: Schema, config: Config) -> None:
        self._schema = schema
        self._config = config
        self._serializer: SchemaSerializer | None = None
        self.is_whole = _has_serializer(schema) or _changes_json(config)

    def whole(self, value: Any) -> Any:
        if is_exactly(value, float) and not isfinite(value):
            return None  # as in `model_dump_json`
        if is_exactly(value, *SIMPLE):
            return value
        if self.is_whole:
            if self._serializer is None:
                schema: Any = self._schema
                config: Any = self._config
                self._serializer = SchemaSerializer(schema, config)
            return _dumped(self._serializer, value)
        if is_exactly(value, list, tuple):
            return [self.whole(item) for item in value]
        if is_exactly(value, dict):
            return {self.map_key(key): self.whole(item) for key, item in value.items()}
        if not is_half(value):
            return _dumped(DUMPS, value)
        there = self.members(value)
        if there is None:
            return _dumped(DUMPS, value)
        if _is_root(value):
            return self.whole(value.root)
        written = [(self.member(value, name, inner), inner) for name, inner in there.items()]
        return {
            pair[0]: self.whole(inner) if pair[1] is UNWRITTEN else pair[1]
            for pair, inner in written
            if pair is not None
        }

    def unwrapped(self, value: Any) -> Any:
        while _is_root(value) and not _class_writing(value.__class__).is_whole:
            value = value.root
        return value

    def is_written_whole(self, value: object) -> bool:
        if is_exactly(value, list, dict):
            return False
        if isinstance(value, UNORDERED):
            return True
        if isinstance(value, tuple):
            return not is_exactly(value, tuple)  # pyright: ignore[reportUnknownArgumentType]
        if _is_root(value):
            root: Any = value
            return _class_writing(root.__class__).is_whole or self.is_written_whole(root.root)
        return _class_writing(value.__class__).is_whole

    def open_key(self, holder: object, attribute: Attribute) -> str | None:
        if isinstance(attribute, tuple):
            return attribute[0]
        holder = _unrooted(holder)
        if isinstance(holder, dict):
            return attribute
        writing = _class_writing(holder.__class__)
        return None if attribute in writing.by_class | writing.never else writing.keys.get(attribute, attribute)

    def member(self, holder: Any, attribute: Attribute, value: object) -> tuple[str, Any] | None:
        if isinstance(attribute, tuple):
            return attribute[0], UNWRITTEN
        holder = _unrooted(holder)
        if isinstance(holder, dict):
            return attribute, UNWRITTEN
        writing = _class_writing(holder.__class__)
        if attribute in writing.never:
            return None
        if attribute not in writing.by_class:
            return writing.keys.get(attribute, attribute), UNWRITTEN
        # A half-filled dataclass has no serializers of its fields.
        has_none = not issubclass(writing.cls, BaseModel) or attribute in writing.by_self or has_half(value)
        if is_half(holder) and has_none:
            return None
        cls: Any = type(holder)  # pyright: ignore[reportUnknownVariableType]
        written = _dumped(cls.__pydantic_serializer__, holder, include={attribute})
        return next(iter(written.items()), None)

    def members(self, value: Any) -> dict[Attribute, Any] | None:
        if is_exactly(value, dict):
            return {self.map_key(key): item for key, item in value.items()}
        cls = value.__class__
        if isinstance(value, BaseModel):
            names = value.__pydantic_fields_set__ if is_half(value) else cls.__pydantic_fields__
            there: dict[Attribute, Any] = {name: value.__dict__[name] for name in names if name in value.__dict__}
            there |= {(key,): item for key, item in (value.__pydantic_extra__ or {}).items()}
            if not is_half(value):
                there |= dict.fromkeys(_class_writing(cls).computed)
            return there
        if not dataclasses.is_dataclass(cls):
            return None
        if not is_half(value):
            whole: dict[Attribute, Any] = {field.name: getattr(value, field.name) for field in dataclasses.fields(cls)}
            whole |= dict.fromkeys(_class_writing(value.__class__).computed)
            return whole
        fields = cls.__dataclass_fields__
        return {name if name in fields else (name,): item for name, item in value.__dict__.items()}

    def map_key(self, name: object) -> str:
        return name if type(name) is str else str(next(iter(_dumped(DUMPS, {name: None}))))


def _dumped(serializer: Any, value: object, **options: Any) -> Any:
    try:
        return serializer.to_python(value, mode="json", by_alias=True, warnings=False, **options)
    except Exception as error:  # serializers may raise anything
        raise UnwritableError(message_of(error)) from error


def _parameters(cls: Any) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the fields of a dataclass, and of the parameters that are not fields."""
    names: dict[str, Any] = getattr(cls, "__dataclass_fields__", {})
    fields = frozenset([field.name for field in dataclasses.fields(cls)] if names else ())
    return fields, frozenset(names) - fields


def _is_root(value: object) -> bool:
    return isinstance(value, BaseModel) and bool(value.__class__.__pydantic_root_model__)


def _unrooted(value: Any) -> Any:
    while _is_root(value):
        value = value.root
    return value


_class_writings: WeakKeyDictionary[type, ClassWriting] = WeakKeyDictionary()


def _class_writing(cls: type) -> ClassWriting:
    known = _class_writings.get(cls)
    if known is None:
        known = _class_writings[cls] = _made_class_writing(cls)
    return known


def _made_class_writing(cls: Any) -> ClassWriting:
    fields: dict[str, Any] = getattr(cls, "__pydantic_fields__", {})
    _, never = _parameters(cls)
    if not fields:
        return ClassWriting(cls, {}, frozenset(), frozenset(), (), is_whole=False, never=never)
    schema = cls.__pydantic_core_schema__
    decorators = cls.__pydantic_decorators__
    computed = tuple(decorators.computed_fields)
    keys = {name: field.serialization_alias for name, field in fields.items() if field.serialization_alias}
    by_class = {name for name, field in fields.items() if field.exclude or getattr(field, "exclude_if", None)}
    by_class |= {name for one in decorators.field_serializers.values() for name in one.info.fields}
    known = _definitions(schema)
    schemas = list(_field_schemas(schema, cls))
    by_class |= {name for name, inner in schemas if _has_serializer(inner, known)}
    by_self = frozenset([name for name, inner in schemas if _needs_whole(inner.get("serialization") or {})])
    config: Any = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}
    if "*" in by_class or _changes_json(config):
        by_class = set(fields)
    is_whole = bool(decorators.model_serializers)
    by_class |= {*computed}
    return ClassWriting(cls, keys, frozenset(by_class), by_self, computed, is_whole=is_whole, never=never)


def _field_schemas(schema: Schema, cls: type) -> Iterator[tuple[str, Schema]]:
    """Yield the fields of a class: its schema may be inside validators, and among the definitions."""
    parts = [schema]
    while parts:
        part = parts.pop()
        if part["type"] == "definitions":
            parts += part["definitions"]
        if part["type"] in ("model", "dataclass") and part["cls"] is not cls:
            continue
        if part["type"] == "model-fields":
            yield from ((name, field["schema"]) for name, field in part["fields"].items())
        elif part["type"] == "dataclass-args":
            yield from ((field["name"], field["schema"]) for field in part["fields"])
        elif "schema" in part:
            parts.append(part["schema"])


def _has_serializer(schema: Schema, definitions: Mapping[str, Schema] | None = None) -> bool:
    """Return whether a serializer of its own writes this part, or one in it.

    Classes inside have theirs, except for plain dataclasses.
    """
    known: dict[str, Schema] = dict(definitions or {})
    parts, seen = [schema], {id(schema)}
    while parts:
        part = parts.pop()
        written = part.get("serialization")
        has_own = part["type"] in ("model", "dataclass") and not _is_plain_dataclass(part)
        if written is not None and getattr(written.get("function"), "__name__", "") != AS_A_LIST:
            return not has_own
        if has_own:
            continue
        if _has_names_of_its_own(part):
            return True
        if part["type"] == "definitions":
            known |= _definitions(part)
            found = [part["schema"]]
        elif part["type"] == "definition-ref":
            found = [known[part["schema_ref"]]] if part["schema_ref"] in known else []
        else:
            found = [*inside(part)]
        for inner in found:
            if id(inner) not in seen:
                seen.add(id(inner))
                parts.append(inner)
    return False


def _has_names_of_its_own(schema: Schema) -> bool:
    """Return whether a typed dict or a dataclass has other keys than its fields. Its values do not say which."""
    if schema["type"] not in ("typed-dict", "dataclass-args"):
        return False
    found: Any = schema["fields"]
    fields: list[Schema] = [*found.values()] if isinstance(found, dict) else found  # pyright: ignore[reportUnknownMemberType]
    return any(field.get(key) for field in fields for key in FIELD_KEYS) or _changes_json(schema.get("config", {}))


def _is_plain_dataclass(schema: Schema) -> bool:
    """Return whether this is a dataclass of the standard library, for whose class Pydantic keeps no serializer."""
    return schema["type"] == "dataclass" and not hasattr(schema["cls"], "__pydantic_serializer__")


def _definitions(schema: Schema) -> dict[str, Schema]:
    return {one["ref"]: one for one in schema["definitions"]} if schema["type"] == "definitions" else {}


def _changes_json(config: Mapping[str, Any]) -> bool:
    return any(key.startswith("ser_json_") or key in ("json_encoders", "val_json_bytes") for key in config)
