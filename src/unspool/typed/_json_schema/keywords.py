"""The keywords of JSON Schema: what each has to look like, and where there are schemas inside.

Also the copy of a schema that everything else works on: nobody can change it, and it is JSON of a bearable depth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from ..._errors import MAX_PATH_SHOWN, OptionsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "CHECKS",
    "DRAFTS",
    "DRAFT_7",
    "DRAFT_2020",
    "LISTED",
    "MOST_NESTED",
    "NAMED",
    "ONE",
    "copied",
    "is_texts",
    "shown",
]

MOST_NESTED: Final = 128
DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
DRAFT_2020: Final = "https://json-schema.org/draft/2020-12/schema"
DRAFTS: Final = {
    f"{scheme}://json-schema.org/{name}": draft
    for scheme in ("http", "https")
    for name, draft in (("draft-07/schema", DRAFT_7), ("draft/2020-12/schema", DRAFT_2020))
}

Steps: TypeAlias = "tuple[str | int, ...]"
Check: TypeAlias = "tuple[Callable[[object], bool], str]"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_positive(value: object) -> bool:
    return _is_number(value) and cast("float", value) > 0


def _is_size(value: object) -> bool:
    return _is_number(value) and cast("float", value) >= 0 and value == int(cast("float", value))


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def is_texts(value: object) -> bool:
    """An array of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value))


def _is_texts_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_texts, cast("dict[str, object]", value).values()))


TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def _is_type(value: object) -> bool:
    names = cast("list[object]", value if isinstance(value, list) else [value])
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_anything(value: object) -> bool:
    return True


TEXT: Final[Check] = (_is_text, "a string")
NUMBER: Final[Check] = (_is_number, "a number")
SIZE: Final[Check] = (_is_size, "a whole number, not negative")

_CHECKS: Final[dict[str, Check]] = {
    "$ref": TEXT,
    "$id": TEXT,
    "$schema": TEXT,
    "type": (_is_type, "a name of a type, or several"),
    "enum": (_is_list, "an array"),
    "const": (_is_anything, "a value"),
    "required": (is_texts, "an array of strings"),
    "pattern": TEXT,
    "format": TEXT,
    "uniqueItems": (_is_flag, "a boolean"),
    "minimum": NUMBER,
    "maximum": NUMBER,
    "exclusiveMinimum": NUMBER,
    "exclusiveMaximum": NUMBER,
    "multipleOf": (_is_positive, "a number above zero"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), SIZE),
}
CHECKS: Final[dict[str, dict[str, Check]]] = {
    DRAFT_7: {**_CHECKS, "contentEncoding": TEXT, "contentMediaType": TEXT},
    DRAFT_2020: {
        **_CHECKS,
        "$anchor": TEXT,
        "$dynamicAnchor": TEXT,
        "$dynamicRef": TEXT,
        "minContains": SIZE,
        "maxContains": SIZE,
        "dependentRequired": (_is_texts_by_name, "an object of arrays of strings"),
    },
}
"""By draft and keyword: a check and what it asks for. A keyword that is in none of these tables means nothing."""

_ONE: Final = frozenset({"additionalProperties", "propertyNames", "contains", "not", "if", "then", "else", "items"})
_LISTED: Final = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED: Final = frozenset({"properties", "patternProperties", "definitions", "dependencies"})

ONE: Final = {DRAFT_7: _ONE | {"additionalItems"}, DRAFT_2020: _ONE | {"unevaluatedItems", "unevaluatedProperties"}}
"""Keywords with one schema."""
LISTED: Final = {DRAFT_7: _LISTED, DRAFT_2020: _LISTED | {"prefixItems"}}
"""Keywords with an array of schemas; Draft 7 has such `items`, too."""
NAMED: Final = {DRAFT_7: _NAMED, DRAFT_2020: _NAMED | {"$defs", "dependentSchemas"}}
"""Keywords with schemas under names; `dependencies` has also arrays of names there."""


def shown(steps: Iterable[str | int]) -> str:
    """A place in a schema as messages show it: a JSON pointer."""
    text = "#" + "".join(["/" + escaped(step) for step in steps])
    return text if len(text) <= MAX_PATH_SHOWN else text[: MAX_PATH_SHOWN - 3] + "..."


def escaped(step: str | int) -> str:
    """A step of a JSON pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


def copied(schema: object) -> Any:
    """A copy that nobody else can change. Only what JSON can be, and not too deep, goes through."""
    root: list[object] = [None]
    to_copy: list[tuple[object, Any, str | int, Steps]] = [(schema, root, 0, ())]
    while to_copy:
        value, into, step, steps = to_copy.pop()
        # A schema in a schema stands under a keyword, and at most under a name or index there.
        if len(steps) > 2 * MOST_NESTED:
            raise OptionsError(f"{shown(steps)}: nested deeper than {MOST_NESTED} schemas can be")
        made = value
        if isinstance(value, dict):
            members = cast("dict[object, object]", value)
            made = dict.fromkeys(members)
            for name, member in members.items():
                if not isinstance(name, str):
                    raise OptionsError(f"{shown(steps)}: expected strings as keys")
                to_copy.append((member, made, name, (*steps, name)))
        elif isinstance(value, list):
            items = cast("list[object]", value)
            made = [None] * len(items)
            to_copy.extend([(item, made, at, (*steps, at)) for at, item in enumerate(items)])
        elif not _is_atom(value):
            raise OptionsError(f"{shown(steps)}: expected a JSON value")
        into[step] = made
    return root[0]


def _is_atom(value: object) -> bool:
    return value is None or isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
