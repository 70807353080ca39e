"""Pydantic's core schemas: the schema of a type, and the questions that streaming asks about one.

A core schema is a nest of dicts. Its core says what a value is: a list, the fields of a model, a leaf. Wrappers are
around the core: defaults, validators that run afterwards, the class that is made of the fields. This module answers
questions about schemas; `shapes` makes shapes of them.
"""

from __future__ import annotations

import dis
import enum
import json
import sys
from types import CodeType, MethodType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard, cast, get_args, get_type_hints

from pydantic import TypeAdapter
from pydantic._internal._config import ConfigWrapper
from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from ..._errors import OptionsError
from .._shape import BOOLEAN, LEAF_KINDS, MARKS, NULL, NUMBER, STRING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .._shape import Shape

__all__ = [
    "ANY",
    "FUNCTIONS",
    "KINDS",
    "MAX_DEPTH",
    "NEVER",
    "Config",
    "Definitions",
    "Schema",
    "branches_of",
    "calls_back",
    "config_of",
    "core_schema_of",
    "discriminator_key",
    "extra_behaviour",
    "inside",
    "is_class",
    "is_plain",
    "is_root",
    "is_strict",
    "is_with_info",
    "is_wrapper",
    "keys_of",
    "kinds_of_leaf",
    "listed_values",
    "marks_of",
    "may_omit",
    "reads_data",
    "reads_self",
    "tags_of",
    "unlisted",
]

MAX_DEPTH: Final = 128
REFUSED: Final = (RuntimeError, TypeError, ValueError, NameError, AttributeError, SchemaError)


def core_schema_of(hint: Any) -> Schema:
    """Return the core schema of a type. Raises `OptionsError` with the path of the part that Pydantic refuses.

    Names of types in quotes are looked up where the caller of the library is, as `TypeAdapter` does.
    """
    if _is_of_version_1(hint):
        raise OptionsError("$: models of pydantic.v1 are not supported; use a model of pydantic 2")
    try:
        adapter: TypeAdapter[Any] = _adapter(hint)
        return dict(adapter.core_schema)  # a copy, because Pydantic may build the schema on access
    except REFUSED as error:
        reason = str(error).partition("\n")[0]
        raise OptionsError(f"{_culprit(hint)}: pydantic refuses the type: {reason}") from error


def _adapter(hint: Any) -> Any:
    frame = sys._getframe()
    depth = 2  # as TypeAdapter counts: this frame
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("unspool."):
        frame = frame.f_back
        depth += 1
    if not isinstance(hint, TypeAdapter):
        return TypeAdapter(hint, _parent_depth=depth)
    hint.rebuild(_parent_namespace_depth=depth)  # does nothing unless its building was deferred until now
    return hint  # pyright: ignore[reportUnknownVariableType]


def config_of(hint: Any) -> Config:
    """Return the config that a `TypeAdapter` instance was made with; other types have theirs in their core schema."""
    if not isinstance(hint, TypeAdapter) or hint._config is None:
        return {}
    return dict(ConfigWrapper(hint._config).core_config(None))


def _is_of_version_1(hint: Any) -> bool:
    """Return whether a type contains a model of version 1. Pydantic accepts those, but validates each at once."""
    old: Any = sys.modules.get("pydantic.v1")
    if old is None:
        return False
    is_old = isinstance(hint, type) and issubclass(hint, old.BaseModel)
    return is_old or any(_is_of_version_1(part) for part in get_args(hint))


def _culprit(hint: Any) -> str:
    """Return the path of the innermost part that Pydantic refuses by itself."""
    path = "$"
    for _ in range(MAX_DEPTH):
        refused = [(step, part) for step, part in _parts(hint) if part is not hint and _is_refused(part)]
        if not refused:
            break
        step, hint = refused[0]
        path += step
    return path


def _parts(hint: Any) -> list[tuple[str, Any]]:
    """Return the fields of a class that Pydantic looks into, or the arguments of a generic type."""
    is_named_tuple = isinstance(getattr(hint, "_fields", None), tuple)
    if not is_named_tuple and not hasattr(hint, "__dataclass_fields__") and not hasattr(hint, "__total__"):
        return [("[*]", argument) for argument in get_args(hint)]
    try:
        return [(f".{name}", inner) for name, inner in get_type_hints(hint, include_extras=True).items()]
    except REFUSED:  # unknown names
        return []


def _is_refused(hint: Any) -> bool:
    try:
        TypeAdapter(hint)
    except REFUSED:
        return True
    return False


# Questions

Schema: TypeAlias = dict[str, Any]
Config: TypeAlias = dict[str, Any]

ANY: Final[Schema] = {"type": "any"}
SILENT: Final = frozenset(  # these do not matter for validation, or only look like schemas
    {"serialization", "metadata", "default", "function", "config", "computed_fields", "expected", "members", "cls"}
)
FUNCTIONS: Final = frozenset({"function-after", "function-before", "function-wrap", "function-plain"})
CLASSES: Final = frozenset({"model", "dataclass", "typed-dict"})  # their validators can see the fields before
ONE_VALUE: Final = FUNCTIONS | {  # the kinds between an item of a container and its value
    *("default", "nullable", "union", "tagged-union", "custom-error", "model", "dataclass"),
    *("json-or-python", "lax-or-strict", "chain", "missing-sentinel", "definition-ref"),
}
NEVER: Final = frozenset({"is-instance", "is-subclass", "callable", "missing-sentinel", "ellipsis", "invalid"})
NUMBERS: Final = frozenset({STRING, NUMBER, BOOLEAN})  # "12", 12.0 and true are numbers
KINDS: Final[dict[str, frozenset[str]]] = {
    "str": frozenset({STRING}),
    "bytes": frozenset({STRING}),
    "uuid": frozenset({STRING}),
    "url": frozenset({STRING}),
    "multi-host-url": frozenset({STRING}),
    "json": frozenset({STRING}),
    "none": frozenset({NULL}),
    "bool": NUMBERS,
    "int": NUMBERS,
    "float": NUMBERS,
    "decimal": NUMBERS,
    "fraction": NUMBERS,
    "complex": NUMBERS,
    "date": NUMBERS,
    "time": NUMBERS,
    "datetime": NUMBERS,
    "timedelta": NUMBERS,
    "literal": LEAF_KINDS,
    "enum": LEAF_KINDS,
    **dict.fromkeys(NEVER, frozenset[str]()),
}
STRICT_KINDS: Final = {
    "bool": frozenset({BOOLEAN}),
    "int": frozenset({NUMBER}),
    "float": frozenset({NUMBER}),
}
UNPLAIN_STRINGS: Final = frozenset(
    {"str_max_length", "str_min_length", "str_strip_whitespace", "str_to_lower", "str_to_upper"}
)
DESCRIPTION: Final = frozenset({"type", "ref", "metadata", "serialization", "strict"})


class Definitions:
    """The named schemas of one type."""

    def __init__(self) -> None:
        self._by_ref: dict[str, Schema] = {}

    def add(self, schemas: list[Schema]) -> None:
        """Add schemas, each with a name of its own."""
        self._by_ref.update((one["ref"], one) for one in schemas)

    def __getitem__(self, ref: str) -> Schema:
        return self._by_ref[ref]

    def __contains__(self, ref: str) -> bool:
        return ref in self._by_ref

    def standalone(self, schema: Schema) -> Any:
        """Return the schema with the definitions that it needs, and no others."""
        if not self._by_ref:
            return schema
        refs = {part["schema_ref"] for part in self.walk(schema) if part["type"] == "definition-ref"}
        needed: Any = [one for ref, one in self._by_ref.items() if ref in refs]
        made: Any = schema
        return core_schema.definitions_schema(made, needed) if refs else schema

    def walk(self, schema: Schema, through: frozenset[str] | None = None) -> Iterator[Schema]:
        """Yield the schema and all schemas inside it, each once, through references.

        With `through`, only look inside these kinds of schema.
        """
        parts, seen = [schema], {id(schema)}
        while parts:
            part = parts.pop()
            yield part
            if part["type"] == "definition-ref":
                below = [self[part["schema_ref"]]]
            else:
                below = list(inside(part)) if through is None or part["type"] in through else []
            for one in below:
                if id(one) not in seen:
                    seen.add(id(one))
                    parts.append(one)

    def asks_for_info(self, schema: Schema) -> bool:
        """Return whether a validator of this part of a field gets the name of the field."""
        parts, seen = [schema], {id(schema)}
        while parts:
            part = parts.pop()
            if is_with_info(part):
                return True
            if is_class(part):
                continue
            for one in [self[part["schema_ref"]]] if part["type"] == "definition-ref" else inside(part):
                if id(one) not in seen:
                    seen.add(id(one))
                    parts.append(one)
        return False

    def sees_siblings(self, schema: Schema) -> bool:
        """Return whether a validator of this part of a field may ask for the fields before it.

        A class inside has fields of its own, and its own validators (`model_validator`) are judged with it: Pydantic
        hands them the fields of the outer class only because of the place where the class is used. But a root model has
        no other fields, so its validators are meant to see those of the outer class.
        """
        parts, seen = [schema], {id(schema)}
        while parts:
            part = parts.pop()
            if is_class(part) and not is_root(part):
                continue
            if reads_data(part) or part.get("default_factory_takes_data"):
                return True
            if "keys_schema" in part and any(map(is_with_info, self.walk(part["keys_schema"]))):
                return True  # a key is judged on its own, and has no place for the name of the field
            for one in [self[part["schema_ref"]]] if part["type"] == "definition-ref" else inside(part):
                if id(one) not in seen:
                    seen.add(id(one))
                    parts.append(one)
        return False


def is_class(schema: Schema) -> bool:
    """Return whether this is a class with fields, maybe inside its own validators, which carry its name then."""
    return _class_inside(schema)["type"] in CLASSES


def is_root(schema: Schema) -> bool:
    """Return whether this is a root model, maybe inside its own validators."""
    return bool(_class_inside(schema).get("root_model"))


def _class_inside(schema: Schema) -> Schema:
    has_name = "ref" in schema
    while has_name and schema["type"] in FUNCTIONS and "schema" in schema:
        schema = schema["schema"]
    return schema


def inside(schema: Schema) -> Iterator[Schema]:
    """Yield the schemas directly inside this one. The fields of a class count as schemas."""
    for key, value in schema.items():
        if key in SILENT:
            continue
        if is_list(value):
            parts = value
        else:
            parts = list(value.values()) if is_dict(value) and key in ("fields", "choices") else [value]
        for part in parts:
            inner = part[0] if is_list(part) else part  # a branch of a union may come with a label
            if is_dict(inner):
                yield inner if "type" in inner else inner.get("schema", ANY)  # a parameter has no type


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """Return whether this is a dict, in a form that type checkers accept."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether this is a list, or a tuple that is used like one."""
    return isinstance(value, (list, tuple))


def is_wrapper(schema: Schema) -> bool:
    """Return whether the schema only works on the value of the schema inside, and never looks at the input."""
    kind = schema["type"]
    if kind == "default":
        return bool(schema.get("on_error", "raise") == "raise")
    if kind == "model":
        return not schema.get("custom_init")  # an __init__ of the user's sees the input
    if kind == "missing-sentinel":
        return "schema" in schema
    return kind in {"nullable", "function-after", "custom-error", "dataclass"}


def is_with_info(schema: Schema) -> bool:
    """Return whether this is a validator that also gets the field name and the fields before it."""
    return schema["type"] in FUNCTIONS and schema["function"]["type"] == "with-info"


HARMLESS: Final = frozenset({"field_name", "context", "config", "mode"})  # what a validator may read in its `info`
UNCLEAR: Final = frozenset({"locals", "vars", "eval", "exec", "_getframe"})


def reads_data(schema: Schema) -> bool:
    """Return whether this is a validator that may ask for the fields before its own: it may read ``info.data``.

    The bytecode tells. The answer is yes unless each use of `info` reads another attribute of it.
    """
    if not is_with_info(schema):
        return False
    return not _only_reads(HARMLESS, schema["function"]["function"], 2 if schema["type"] == "function-wrap" else 1)


def reads_self(function: object) -> bool:
    """Return whether a method of a class may use its `self`."""
    return "__class__" in getattr(getattr(function, "__code__", None), "co_freevars", ()) or not _only_reads(
        frozenset(), function, 0
    )


def _only_reads(attributes: frozenset[str], function: Any, index: int) -> bool:
    """Return whether a function uses this parameter for nothing but these attributes of it."""
    if isinstance(function, MethodType):
        function, index = function.__func__, index + 1
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or UNCLEAR & {*code.co_names} or index >= code.co_argcount:
        return False
    name = code.co_varnames[index]
    if name in code.co_cellvars:
        return False
    instructions = list(dis.get_instructions(code))
    for at, instruction in enumerate(instructions):
        used: Any = instruction.argval
        names = cast("tuple[object, ...]", used if isinstance(used, tuple) else (used,))
        if "FAST" not in instruction.opname or name not in names:
            continue
        following = instructions[at + 1]
        is_last = instruction.opname.startswith("LOAD_FAST") and name not in names[:-1]  # it may load two values
        if not is_last or following.opname != "LOAD_ATTR" or following.argval not in attributes:
            return False
    return True


def marks_of(schema: Schema) -> frozenset[str]:
    """Return the names of the markers on this schema itself."""
    metadata: dict[str, Any] = schema.get("metadata") or {}
    return frozenset(metadata.get(MARKS, ()))


def calls_back(schema: Schema) -> bool:
    """Return whether validating may run code of the user's. Some of Pydantic's own functions count as such, too."""
    kind = schema["type"]
    if kind == "default":
        return "default_factory" in schema
    if kind in ("model", "dataclass"):
        return bool(schema.get("custom_init") or schema.get("post_init"))
    if kind == "tagged-union":
        return callable(schema["discriminator"])
    return kind in FUNCTIONS or kind == "call" or (kind == "enum" and unlisted(schema))


def may_omit(schema: Schema, definitions: Definitions) -> bool:
    """Return whether validation may omit an item of this schema: validators can do so, and `OnErrorOmit`."""
    return any(
        part["type"] in FUNCTIONS or part.get("on_error") == "omit" for part in definitions.walk(schema, ONE_VALUE)
    )


def is_strict(schema: Schema, config: Config, strict: bool | None) -> bool:
    """Return whether the schema is strict, and converts nothing. A bool in `strict` overrides the schema."""
    return bool(schema.get("strict", config.get("strict", False))) if strict is None else strict


def is_plain(schema: Schema, config: Config) -> bool:
    """Return whether this is a leaf without any limits."""
    if not schema.keys() <= DESCRIPTION:
        return False
    if schema["type"] == "float":
        return config.get("allow_inf_nan", True) is True
    return schema["type"] != "str" or UNPLAIN_STRINGS.isdisjoint(config)


def kinds_of_leaf(schema: Schema, config: Config, strict: bool | None) -> frozenset[str]:
    """Return the kinds of JSON value that may become this leaf: all of them; one too many does no harm."""
    kind = schema["type"]
    if kind == "str" and schema.get("coerce_numbers_to_str", config.get("coerce_numbers_to_str")):
        return NUMBERS
    if is_strict(schema, config, strict) and kind in STRICT_KINDS:
        return STRICT_KINDS[kind]
    if kind == "literal":
        kinds: set[str] = set()
        for value in schema["expected"]:
            if type(value) is str:
                kinds.add(STRING)
            elif value is None:
                kinds.add(NULL)
            elif type(value) in (int, bool):
                kinds |= {NUMBER, BOOLEAN}  # 1.0 and true are the literal 1
            else:
                return LEAF_KINDS
        return frozenset(kinds)
    if kind == "enum" and schema.get("sub_type") == "str":
        return KINDS["str"]
    return KINDS[kind]


def listed_values(schema: Schema) -> list[object]:
    """Return the values of a literal or an enum, as they are in the text."""
    values: list[Any] = schema["expected"] if schema["type"] == "literal" else schema["members"]
    return [value.value if isinstance(value, enum.Enum) else value for value in values]


def unlisted(schema: Schema) -> bool:
    """Return whether an enum accepts more values than it lists."""
    missing: Any = schema["cls"]._missing_
    return "missing" in schema or missing.__func__ is not enum.Enum.__dict__["_missing_"].__func__


def keys_of(name: str, field: Schema, config: Config) -> list[str] | None:
    """Return the keys of a field, the winning one first; None if a path leads further inside."""
    alias = field.get("validation_alias")
    if alias is None:
        return [name]
    keys: list[str] = []
    if config.get("validate_by_alias", True):
        paths: list[Any] = [[alias]] if isinstance(alias, str) else alias if isinstance(alias[0], list) else [alias]
        if any(len(path) != 1 or not isinstance(path[0], str) for path in paths):
            return None
        keys += [path[0] for path in paths]
    if config.get("validate_by_name", config.get("populate_by_name", False)):
        keys.append(name)
    return list(dict.fromkeys(keys))


def extra_behaviour(schema: Schema, config: Config) -> str:
    """Return the rule for extra keys: "ignore", "allow" or "forbid"."""
    behaviour: str = schema.get("extra_behavior") or config.get("extra_fields_behavior") or "ignore"
    return behaviour


# Tags of discriminated unions


def branches_of(schema: Schema) -> dict[Any, Schema]:
    """Return the branches by their tags. A tag may be an alias of another one."""
    choices: dict[Any, Any] = schema["choices"]
    branches: dict[Any, Schema] = {}
    for tag, choice in choices.items():
        while isinstance(choice, (str, int)):
            choice = choices[choice]
        branches[tag] = choice
    return branches


def discriminator_key(schema: Schema) -> str | None:
    """Return the one key of the tag; None if there are several, or a path leads to the tag."""
    discriminator: Any = schema["discriminator"]
    while is_list(discriminator) and len(discriminator) == 1:  # a path of one step, or a list of one path
        discriminator = discriminator[0]
    return discriminator if isinstance(discriminator, str) else None


def tags_of(
    schema: Schema, config: Config, key: str, shapes: Mapping[Any, Shape], strict: bool | None
) -> dict[tuple[str, object], Shape]:
    """Return the branches by kind and value of the tag, as Pydantic itself decides; none if a branch has no tag."""
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
                index = asked.validate_json(json.dumps({key: value}), strict=strict)
            except ValidationError:
                continue
            found.add(index)
            kind = STRING if isinstance(value, str) else BOOLEAN if isinstance(value, bool) else NUMBER
            tags[kind, value] = shapes[order[index]]
    return tags if len(found) == len(order) else {}


def _constant(index: int) -> Any:
    return core_schema.no_info_plain_validator_function(lambda _: index)


def _spellings(value: object) -> list[object]:
    """Return the values that the text may have for a tag, and maybe a few more."""
    if isinstance(value, str):
        return [str(value)]
    if isinstance(value, int):
        return [int(value), str(int(value)), *([bool(value)] if value in (0, 1) else [])]
    return []
