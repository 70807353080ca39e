"""Pydantic's core schemas: the schema of a type, and the questions that streaming asks about one.

A core schema is a nest of dicts. Its core says what a value is: a list, the fields of a model, a leaf. Wrappers are
around the core: defaults, validators that run afterwards, the class that is made of the fields. This module answers
questions about schemas; `shapes` makes shapes of them.
"""

from __future__ import annotations

import enum
import json
import sys
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard, get_args, get_type_hints

from pydantic import TypeAdapter
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
    "core_schema_of",
    "discriminator_key",
    "extra_behaviour",
    "inside",
    "is_plain",
    "is_strict",
    "is_with_info",
    "is_wrapper",
    "keys_of",
    "kinds_of_leaf",
    "listed_values",
    "marks_of",
    "may_omit",
    "tags_of",
    "unlisted",
]

MAX_DEPTH: Final = 128
REFUSED: Final = (RuntimeError, TypeError, ValueError, NameError, AttributeError, SchemaError)


def core_schema_of(hint: Any) -> Schema:
    """Raises `OptionsError` with the path of what pydantic refuses."""
    if _is_of_version_1(hint):
        raise OptionsError("$: a model of pydantic.v1, which cannot be read part by part; make it one of pydantic 2")
    try:
        return dict(TypeAdapter(hint).core_schema)  # a copy, because it may be one that is made when it is looked at
    except REFUSED as error:
        reason = str(error).partition("\n")[0]
        raise OptionsError(f"{_culprit(hint)}: pydantic refuses the type: {reason}") from error


def _is_of_version_1(hint: Any) -> bool:
    """Pydantic takes its old models, with a warning, and asks each for all of it at once."""
    old: Any = sys.modules.get("pydantic.v1")
    if old is None:
        return False
    is_old = isinstance(hint, type) and issubclass(hint, old.BaseModel)
    return is_old or any(_is_of_version_1(part) for part in get_args(hint))


def _culprit(hint: Any) -> str:
    """The place of the innermost part that is refused by itself."""
    path = "$"
    for _ in range(MAX_DEPTH):
        refused = [(step, part) for step, part in _parts(hint) if part is not hint and _is_refused(part)]
        if not refused:
            break
        step, hint = refused[0]
        path += step
    return path


def _parts(hint: Any) -> list[tuple[str, Any]]:
    """The fields of a class that pydantic looks into, or the arguments of a generic type."""
    is_named_tuple = isinstance(getattr(hint, "_fields", None), tuple)
    if not is_named_tuple and not hasattr(hint, "__dataclass_fields__") and not hasattr(hint, "__total__"):
        return [("[*]", argument) for argument in get_args(hint)]
    try:
        return [(f".{name}", inner) for name, inner in get_type_hints(hint, include_extras=True).items()]
    except REFUSED:  # names that stand for nothing
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
SILENT: Final = frozenset(  # these say nothing about reading, or are no schemas though they may look like one
    {"serialization", "metadata", "default", "function", "config", "computed_fields", "expected", "members", "cls"}
)
FUNCTIONS: Final = frozenset({"function-after", "function-before", "function-wrap", "function-plain"})
CLASSES: Final = frozenset({"model", "dataclass", "typed-dict"})  # with fields that see those before them
ONE_VALUE: Final = FUNCTIONS | {  # all that may stand between a place in a container and the value there
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
    """The schemas of one type that others refer to by name."""

    def __init__(self) -> None:
        self._by_ref: dict[str, Schema] = {}

    def add(self, schemas: list[Schema]) -> None:
        """Each has a name of its own."""
        self._by_ref.update((one["ref"], one) for one in schemas)

    def __getitem__(self, ref: str) -> Schema:
        return self._by_ref[ref]

    def standalone(self, schema: Schema) -> Any:
        """The schema with all the definitions it needs, and no others."""
        if not self._by_ref:
            return schema
        refs = {part["schema_ref"] for part in self.walk(schema) if part["type"] == "definition-ref"}
        needed: Any = [one for ref, one in self._by_ref.items() if ref in refs]
        made: Any = schema
        return core_schema.definitions_schema(made, needed) if refs else schema

    def walk(self, schema: Schema, through: frozenset[str] | None = None) -> Iterator[Schema]:
        """The schema and all inside it, each once, through references; or only through such kinds of schema."""
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

    def sees_siblings(self, schema: Schema) -> bool:
        """What validates this part of a field asks for the fields before it.

        A class inside has fields of its own, and what is around it by its own doing (`model_validator`) is judged with
        it: pydantic hands those the fields of the outer class, by accident of where the class is used.
        """
        parts, seen = [schema], {id(schema)}
        while parts:
            part = parts.pop()
            if is_class(part):
                continue
            if is_with_info(part) or part.get("default_factory_takes_data"):
                return True
            for one in [self[part["schema_ref"]]] if part["type"] == "definition-ref" else inside(part):
                if id(one) not in seen:
                    seen.add(id(one))
                    parts.append(one)
        return False


def is_class(schema: Schema) -> bool:
    """A class with fields, and its own validators: these stand inside of what has its name."""
    has_name = "ref" in schema
    while has_name and schema["type"] in FUNCTIONS and "schema" in schema:
        schema = schema["schema"]
    return schema["type"] in CLASSES


def inside(schema: Schema) -> Iterator[Schema]:
    """The schemas that stand directly in this one. The fields of a class count as schemas."""
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
                yield inner if "type" in inner else inner.get("schema", ANY)  # what has no type is a parameter


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """So that type checkers do not ask of what."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """The same for lists, and tuples that are used like lists."""
    return isinstance(value, (list, tuple))


def is_wrapper(schema: Schema) -> bool:
    """What the schema says, it says of the value that the one inside makes: nobody looks at the input before that."""
    kind = schema["type"]
    if kind == "default":
        return bool(schema.get("on_error", "raise") == "raise")
    if kind == "model":
        return not schema.get("custom_init")  # an __init__ of the user's wants to see the input
    if kind == "missing-sentinel":
        return "schema" in schema
    return kind in {"nullable", "function-after", "custom-error", "dataclass"}


def is_with_info(schema: Schema) -> bool:
    """A validator that also gets to know where it stands, and the fields before it."""
    return schema["type"] in FUNCTIONS and schema["function"]["type"] == "with-info"


def marks_of(schema: Schema) -> frozenset[str]:
    """The names of our markers on this very schema."""
    metadata: dict[str, Any] = schema.get("metadata") or {}
    return frozenset(metadata.get(MARKS, ()))


def calls_back(schema: Schema) -> bool:
    """Validating may run code of the user's. Of pydantic's own functions some count as the user's, too."""
    kind = schema["type"]
    if kind == "default":
        return "default_factory" in schema
    if kind in ("model", "dataclass"):
        return bool(schema.get("custom_init") or schema.get("post_init"))
    if kind == "tagged-union":
        return callable(schema["discriminator"])
    return kind in FUNCTIONS or kind == "call" or (kind == "enum" and unlisted(schema))


def may_omit(schema: Schema, definitions: Definitions) -> bool:
    """An element of this schema may turn out not to be one: validators can say so, and `OnErrorOmit`."""
    return any(
        part["type"] in FUNCTIONS or part.get("on_error") == "omit" for part in definitions.walk(schema, ONE_VALUE)
    )


def is_strict(schema: Schema, config: Config) -> bool:
    """Nothing is taken for something else here."""
    return bool(schema.get("strict", config.get("strict", False)))


def is_plain(schema: Schema, config: Config) -> bool:
    """A leaf without any limits."""
    if not schema.keys() <= DESCRIPTION:
        return False
    if schema["type"] == "float":
        return config.get("allow_inf_nan", True) is True
    return schema["type"] != "str" or UNPLAIN_STRINGS.isdisjoint(config)


def kinds_of_leaf(schema: Schema, config: Config) -> frozenset[str]:
    """The kinds of JSON value that may become this leaf: none is left out, one too many does no harm."""
    kind = schema["type"]
    if kind == "str" and schema.get("coerce_numbers_to_str", config.get("coerce_numbers_to_str")):
        return NUMBERS
    if is_strict(schema, config) and kind in STRICT_KINDS:
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
    """The values of a literal or an enum, as they are in the text."""
    values: list[Any] = schema["expected"] if schema["type"] == "literal" else schema["members"]
    return [value.value if isinstance(value, enum.Enum) else value for value in values]


def unlisted(schema: Schema) -> bool:
    """An enum that takes more than it lists."""
    missing: Any = schema["cls"]._missing_
    return "missing" in schema or missing.__func__ is not enum.Enum.__dict__["_missing_"].__func__


def keys_of(name: str, field: Schema, config: Config) -> list[str] | None:
    """The keys under which a field may come, the one that wins first; None where it is looked for further inside."""
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
    """What becomes of keys that are no fields: "ignore", "allow" or "forbid"."""
    behaviour: str = schema.get("extra_behavior") or config.get("extra_fields_behavior") or "ignore"
    return behaviour


# Tags of discriminated unions


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
