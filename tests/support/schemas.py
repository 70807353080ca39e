"""JSON Schemas, each with what it accepts and refuses: Draft 2020-12 where nothing else is said, and Draft 7.

Traps for whoever reads a schema as a type: a keyword speaks of one kind only and lets all others pass, a
whole float is an integer, `$ref` has siblings in the one draft and none in the other, text that is no
date passes where a format is a remark, and a name that no draft knows means nothing.
"""

from __future__ import annotations

from random import Random
from typing import Any

from .instances import (
    Case,
    Gen,
    Json,
    anything,
    append,
    boolean,
    change,
    either,
    fields,
    integer,
    keyed,
    listed,
    lose,
    nullable,
    number,
    one_of,
    put,
    row,
    text,
    word,
)

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def _object(properties: Schema, *required: str, **more: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), **more}


STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}

_integer = either(integer(), one_of(3.0, 10**30, -0.0))
_not_text = one_of(None, 1, 0.5, True, [], {})
_not_integer = one_of(None, "1", 0.5, True, [], {})

# Objects

_person = fields({"name": text}, {"age": _integer, "emails": listed(text)}, extra=anything)
_closed = fields({"a": _integer}, {"b": nullable(text)})
_priced = fields({"id": text}, {"more 1": integer(), "x": integer()})
_patterned = fields({}, {"s_1": text, "s_": text, "n_x": integer(), "is_n_s_": boolean, "other": boolean, "": boolean})
_named = keyed(word, anything, 0, 3)
_dependent = either(
    fields({}, {"name": text}, extra=anything),
    fields({"card": text, "address": text}, {"name": text, "phone": text}),
    fields({"phone": _integer, "name": text}),
)
_both = fields({"a": _integer, "b": text}, {"c": boolean}, extra=anything)
_inherited = fields({"id": integer(1, 9), "name": text}, {"size": integer(0, 9)})

_OBJECTS = [
    Case(
        "object",
        _object({"name": STRING, "age": INTEGER, "emails": {"type": "array", "items": STRING}}, "name"),
        _person,
        {
            "missing": lose(_person, "name"),
            "kind": one_of([], "", None, 1),
            "a property": put(_person, "age", bad=_not_integer),
            "an element": append(put(_person, "emails", bad=listed(text)), "emails", bad=_not_text),
        },
    ),
    Case(
        "no additional properties",
        _object({"a": INTEGER, "b": {"type": ["string", "null"]}}, "a", additionalProperties=False),
        _closed,
        {
            "one more": put(_closed, "c", bad=anything),
            "an empty name": put(_closed, "", bad=anything),
            "a list of types": put(_closed, "b", bad=one_of(1, [], False)),
        },
    ),
    Case(
        "typed additional properties",
        _object({"id": STRING}, "id", additionalProperties=INTEGER),
        _priced,
        {"one more": put(_priced, "y", bad=_not_integer), "a known one": put(_priced, "id", bad=_not_text)},
    ),
    Case(
        "pattern properties",
        {
            "patternProperties": {"^s_": STRING, "^n_": INTEGER, "_$": {"not": {"type": "integer"}}},
            "additionalProperties": {"type": "boolean"},
        },
        _patterned,
        {
            "a pattern": put(_patterned, "s_2", bad=_not_text),
            "two patterns": put(_patterned, "n_", bad=one_of(1, "x")),
            "no pattern": put(_patterned, "xs_", bad=one_of(1)),
            "the rest": put(_patterned, "n", bad=one_of(1, None)),
        },
    ),
    Case(
        "property names",
        {"type": "object", "propertyNames": {"pattern": "^[a-z]*$", "maxLength": 6}, "maxProperties": 3},
        _named,
        {
            "a name": put(_named, "A", bad=anything),
            "a long name": put(_named, "abcdefg", bad=anything),
            "too many": keyed(word, integer(), 4, 6),
        },
    ),
    Case(
        "sizes of objects",
        {"minProperties": 1, "maxProperties": 2},
        either(keyed(text, anything, 1, 2), one_of(1, [], "", None)),
        {"too few": one_of({}), "too many": keyed(word, anything, 3, 5)},
    ),
    Case(
        "dependent",
        _object(
            {"phone": {"type": ["string", "integer"]}},
            dependentRequired={"card": ["address"], "phone": ["name"]},
            dependentSchemas={"card": {"properties": {"phone": STRING}}},
        ),
        change(_dependent, lambda made: "phone" not in made or "name" in made),
        {
            "required by another": fields({"card": text}, {"name": text}),
            "required by another, before it": one_of({"phone": 1}, {"phone": "", "card": "", "address": ""}),
            "changed by another": one_of({"phone": 1, "name": "", "card": "", "address": ""}),
        },
    ),
    Case(
        "all of objects",
        {"allOf": [_object({"a": INTEGER}, "a"), _object({"b": STRING, "a": {"maximum": 10**31}}, "b")]},
        _both,
        {
            "the first": lose(_both, "a"),
            "the second": put(_both, "b", bad=_not_text),
            "both speak of one": put(_both, "a", bad=one_of(10**32, "1")),
        },
    ),
    Case(
        "unevaluated properties",
        {
            "$ref": "#/$defs/base",
            "$defs": {"base": _object({"id": {"type": "integer", "minimum": 1}}, "id")},
            "properties": {"name": STRING, "size": INTEGER},
            "required": ["name"],
            "unevaluatedProperties": False,
        },
        _inherited,
        {
            "one more": put(_inherited, "colour", bad=anything),
            "in the other": put(_inherited, "id", bad=one_of(0, "1")),
            "beside the reference": lose(_inherited, "name"),
        },
    ),
]

# Arrays

_row = either(row(text, _integer), row(text, _integer, boolean, boolean), row(text), one_of([]))
_fixed = row(text, _integer)
_few = listed(integer(), 1, 3)
_unique = either(one_of([], [1, "1", True, None], [{"a": 1}, {"a": 2}], [[1], [2]], [0, False]), listed(word, 0, 1))
_containing = change(listed(anything), lambda made: made.insert(len(made) // 2, 7))
_counted = either(one_of(["x", "x"], [1, "x", None, "x", "x"]), one_of(["x", "y", "x"]))

_ARRAYS = [
    Case(
        "prefix items",
        {"type": "array", "prefixItems": [STRING, INTEGER], "items": {"type": "boolean"}},
        _row,
        {
            "the first": one_of([1], [None, 1], [["a"]]),
            "the second": one_of(["a", "b"], ["", None]),
            "the rest": append(row(text, _integer), bad=one_of(1, "true", None)),
        },
    ),
    Case(
        "a tuple",
        {"prefixItems": [STRING, INTEGER], "items": False, "minItems": 2, "type": "array"},
        _fixed,
        {"too long": append(_fixed, bad=anything), "too short": either(row(text), one_of([])), "no array": one_of({})},
    ),
    Case(
        "a tuple in draft 7",
        {"$schema": DRAFT_7, "type": "array", "items": [STRING, INTEGER], "additionalItems": {"type": "boolean"}},
        _row,
        {"the second": one_of(["a", "b"]), "the rest": append(row(text, _integer), bad=one_of(1, "true", None))},
    ),
    Case(
        "no additional items in draft 7",
        {"$schema": DRAFT_7, "type": "array", "items": [STRING, INTEGER], "additionalItems": False},
        either(_fixed, row(text), one_of([])),
        {"too long": append(_fixed, bad=anything), "an element": one_of([1], ["a", 0.5])},
    ),
    Case(
        "sizes of arrays",
        {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3},
        _few,
        {
            "too many": listed(integer(), 4, 8),
            "too few": one_of([]),
            "an element": append(listed(number, 0, 2), bad=text),
        },
    ),
    Case(
        "unique items",
        {"type": "array", "uniqueItems": True},
        _unique,
        {
            "the same": one_of([1, 2, 1], ["a", "a"], [None, None], [[], []]),
            "equal numbers": one_of([1, 1.0], [0, -0.0]),
            "equal objects": one_of([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]),
        },
    ),
    Case(
        "contains",
        {"type": "array", "contains": {"const": 7}},
        _containing,
        {"none": listed(text), "nearly": one_of([70, "7", [7], 7.5], [])},
    ),
    Case(
        "contains so many",
        {"type": "array", "contains": {"const": "x"}, "minContains": 2, "maxContains": 3},
        _counted,
        {"too few": one_of(["x"], [], ["y", "x"]), "too many": one_of(["x"] * 4, [1, "x", "x", 2, "x", "x"])},
    ),
]

# Leaves

_texts = change(text, lambda made: 1 <= len(made) <= 20)
_numbers = either(one_of(0, 9.99, 1.5, 3, 0.01), integer(0, 9))

_LEAVES = [
    Case(
        "lengths",
        {"type": "string", "minLength": 1, "maxLength": 20},
        _texts,
        {"too long": one_of("x" * 21, "😀" * 21), "too short": one_of(""), "kind": _not_text},
    ),
    Case(
        "keywords of one kind",
        {"maxLength": 2, "maximum": 5, "maxItems": 1, "maxProperties": 1},
        one_of("ab", "😀😀", 5, -1e9, [], [None], {}, {"a": [1, 2, 3]}, None, True),
        {
            "text": one_of("abc"),
            "number": one_of(5.1, 10**30),
            "array": one_of([1, 2]),
            "object": one_of({"a": 1, "b": 2}),
        },
    ),
    Case(
        "pattern",
        {"type": "object", "additionalProperties": {"type": "string", "pattern": r"^\d{2,4}-[a-z]+"}},
        keyed(text, one_of("12-a", "1234-abc!", "99-zZ")),
        {"not so": put(keyed(text, one_of("12-a")), "b", bad=one_of("1-a", "12345-a", "12-", "", "12-A", None))},
    ),
    Case(
        "a pattern anywhere",
        {"type": "string", "pattern": "b+c"},
        one_of("bc", "aabbbcxx", "é bc"),
        {"nowhere": one_of("", "b", "c", "bxc", "ac")},
    ),
    Case(
        "bounds",
        {"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 0.01},
        _numbers,
        {
            "too small": one_of(-0.01, -5),
            "too big": one_of(10, 1e9),
            "between": one_of(0.005, 1.001),
            "kind": one_of("1"),
        },
    ),
    Case(
        "integers",
        {"type": "array", "items": {"type": "integer", "exclusiveMinimum": 0, "maximum": 100, "multipleOf": 5}},
        listed(one_of(5, 100, 15.0)),
        {
            "an element": append(listed(one_of(5)), bad=one_of(0, 101, 7, 5.5, "5", None)),
            "kind": one_of({}, "", 5),
        },
    ),
    Case(
        "a format is a remark",
        _object({"day": {"type": "string", "format": "date"}, "other": {"format": "no such format"}}, "day"),
        fields({"day": either(one_of("2024-02-29"), text)}, {"other": anything}),
        {"kind": one_of({"day": 20240229}, {"day": None}, {})},
    ),
    Case(
        "a format in draft 7",
        {"$schema": DRAFT_7, "type": "array", "items": {"type": "string", "format": "date"}},
        listed(one_of("2024-02-29", "1999-12-31")),
        {
            "no date": append(
                listed(one_of("2024-02-29")), bad=one_of("2023-02-29", "2024-02", "", "2024-02-29T00:00:00Z")
            )
        },
    ),
    Case(
        "enum",
        {"enum": ["red", "reddish", 1, None, True, {"a": [1]}, [], ""]},
        one_of("red", "reddish", 1, 1.0, None, True, {"a": [1]}, {"a": [1.0]}, [], ""),
        {
            "a shared prefix": one_of("re", "redd", "reddishy"),
            "another kind": one_of(False, 0, "1", "null", {}, [None]),
            "inside": one_of({"a": [1, 2]}, {"a": []}, {"a": [1], "b": 1}, {"a": [True]}),
        },
    ),
    Case(
        "const",
        _object({"kind": {"const": "event"}, "at": {"const": [1, {"x": None}]}}, "kind"),
        fields({"kind": one_of("event")}, {"at": one_of([1, {"x": None}], [1.0, {"x": None}])}, extra=anything),
        {
            "a prefix": one_of({"kind": "even"}, {"kind": "events"}),
            "inside": one_of({"kind": "event", "at": [1, {"x": 0}]}, {"kind": "event", "at": [1]}),
            "missing": one_of({}),
        },
    ),
    Case(
        "types",
        {"type": ["integer", "boolean", "array"], "items": {"type": ["null", "string"]}},
        either(_integer, boolean, listed(nullable(text))),
        {"kind": either(one_of(None, 0.5, {}), text), "an element": one_of([1], ["a", False], [[]])},
    ),
]


# References and combinations


def _tree(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _tree(random, depth + 1)  # noqa: E731
    return fields({"value": _integer}, {"children": listed(inner, 0, 3 if depth < 3 else 0)}, extra=anything)(random)


def _node(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _node(random, depth + 1)  # noqa: E731
    return either(text, *([fields({"left": inner, "right": inner})] if depth < 4 else []))(random)


def _strange(random: Random) -> Json:
    return fields({"a/b": _integer, "m~n": text}, {"100%": boolean})(random)


_payment = either(
    fields({"kind": one_of("card"), "number": text}, extra=anything),
    fields({"kind": one_of("cash", "coins"), "amount": number}, {"currency": text}),
    fields({"kind": one_of("none")}),
)
_conditional = either(
    fields({"country": one_of("NL"), "code": one_of("1234 AB", "9999 ZZ")}),
    fields({"country": one_of("US"), "code": one_of("12345")}),
    fields({"code": one_of("12345")}),
    fields({}, {"country": one_of("NL")}),
)
_mixed = either(text, _integer, listed(text), fields({"text": text}, extra=anything))
_old = fields({"a": _integer}, {"b": text, "c": listed(_integer)})

_COMBINED = [
    Case(
        "a reference to itself",
        _object({"value": INTEGER, "children": {"type": "array", "items": {"$ref": "#"}}}, "value"),
        _tree,
        {
            "a child": append(
                put(_tree, "children", bad=listed(_tree)), "children", bad=one_of({}, None, {"value": ""})
            ),
            "a grandchild": put(
                _tree, "children", bad=one_of([{"value": 1, "children": [{"value": 2, "children": 3}]}])
            ),
        },
    ),
    Case(
        "definitions",
        {
            "$schema": DRAFT_2020,
            "$id": "https://example.com/node",
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {"anyOf": [{"$ref": "#leaf"}, {"$ref": "#/$defs/fork"}]},
                "leaf": {"$anchor": "leaf", "type": "string"},
                "fork": _object(
                    {"left": {"$ref": "node"}, "right": {"$ref": "#/$defs/node"}},
                    *("left", "right"),
                    additionalProperties=False,
                ),
            },
        },
        _node,
        {
            "no leaf": one_of(1, None, []),
            "half a fork": one_of({"left": ""}, {"left": {"left": "", "right": {"right": ""}}, "right": ""}),
            "one more": one_of({"left": "", "right": "", "middle": ""}),
        },
    ),
    Case(
        "a chain of references with strange names",
        {
            "properties": {
                "a/b": {"$ref": "#/$defs/a~1b"},
                "m~n": {"$ref": "#/$defs/m~0n"},
                "100%": {"$ref": "#/$defs/100%25"},
            },
            "required": ["a/b"],
            "type": "object",
            "$defs": {
                "a/b": {"$ref": "#/$defs/next"},
                "next": {"$ref": "#/$defs/last"},
                "last": INTEGER,
                "m~n": STRING,
                "100%": {"type": "boolean"},
            },
        },
        _strange,
        {
            "a slash": put(_strange, "a/b", bad=_not_integer),
            "a tilde": put(_strange, "m~n", bad=_not_text),
            "a percent sign": put(_strange, "100%", bad=one_of(1, "true")),
        },
    ),
    Case(
        "a reference without siblings in draft 7",
        {
            "$schema": DRAFT_7,
            "definitions": {"size": {"$id": "#size", "type": "integer"}},
            **_object(
                {
                    "a": {"$ref": "#/definitions/size", "maximum": 0},
                    "b": STRING,
                    "c": {"type": "array", "items": {"$ref": "#size"}},
                },
                "a",
            ),
            "dependencies": {"b": {"required": ["c"]}, "c": ["a"]},
        },
        change(_old, lambda made: "b" not in made or "c" in made),
        {
            "the reference": put(_old, "a", bad=_not_integer),
            "an element": put(_old, "c", bad=one_of([1, ""], [None])),
            "a dependency": one_of({"a": 1, "b": ""}),
        },
    ),
    Case(
        "one of by a constant",
        {
            "oneOf": [
                _object({"kind": {"const": "card"}, "number": STRING}, "kind", "number"),
                _object({"kind": {"enum": ["cash", "coins"]}, "amount": {"type": "number"}}, "kind", "amount"),
                _object({"kind": {"const": "none"}}, "kind", additionalProperties=False),
            ]
        },
        _payment,
        {
            "unknown": put(_payment, "kind", bad=one_of("car", "cards", "", None)),
            "another branch": one_of({"kind": "card", "amount": 1}, {"amount": "1", "kind": "coins"}),
            "no kind": lose(_payment, "kind"),
            "one more": one_of({"kind": "none", "x": 1}),
        },
    ),
    Case(
        "exactly one of",
        {
            "oneOf": [
                {"type": "integer", "multipleOf": 3},
                {"type": "number", "multipleOf": 5},
                {"type": "string", "maxLength": 2},
                {"type": "string", "pattern": "^a"},
            ]
        },
        one_of(3, 9.0, 5, 10.0, "bb", "", "abc"),
        {"two": one_of(15, 0, -30.0, "a", "ab"), "none": one_of(1, 0.5, "bcd", None, [], {})},
    ),
    Case(
        "any of",
        {
            "anyOf": [
                STRING,
                {"type": "integer"},
                {"type": "array", "items": STRING},
                _object({"text": STRING}, "text"),
            ]
        },
        _mixed,
        {
            "no branch": one_of(None, 0.5, True),
            "inside of the only branch": one_of(["a", 1], [None], {}, {"text": 1}, {"Text": ""}),
        },
    ),
    Case(
        "if then else",
        _object(
            {"country": STRING, "code": STRING},
            **{
                "if": {"properties": {"country": {"const": "NL"}}, "required": ["country"]},
                "then": {"properties": {"code": {"pattern": "^[0-9]{4} [A-Z]{2}$"}}},
                "else": {"properties": {"code": {"pattern": "^[0-9]{5}$"}}, "required": ["code"]},
            },
        ),
        change(_conditional, lambda made: "country" in made or "code" in made),
        {
            "then": one_of({"country": "NL", "code": "12345"}, {"code": "", "country": "NL"}),
            "else": one_of({"country": "N", "code": "1234 AB"}, {"code": "1234 AB"}, {"country": "US"}, {}),
        },
    ),
    Case(
        "not",
        {
            "not": {
                "anyOf": [
                    {"type": "null"},
                    {"type": "string", "pattern": "^no"},
                    {"type": "object", "required": ["no"]},
                ]
            }
        },
        one_of("", "n", "yes", 0, [], {}, [None], {"n": 1}),
        {"null": one_of(None), "text": one_of("no", "nothing"), "object": one_of({"no": 1}, {"a": [], "no": None})},
    ),
    Case(
        "booleans as schemas",
        {"properties": {"any": True, "never": False}, "items": True, "type": ["object", "array"]},
        either(listed(anything), fields({}, {"any": anything, "other": anything})),
        {"never": one_of({"never": None}, {"any": 1, "never": []}), "kind": one_of("", None, 0)},
    ),
    Case(
        "unknown keywords",
        _object(
            {"a": {"type": "integer", "minimun": 5, "nullable": True, "x-order": 1}},
            "a",
            title="T",
            description="D",
            default={},
            examples=[1],
            deprecated=True,
            readOnly=True,
            discriminator={"propertyName": "kind"},
            additionalItems=False,
            **{"$comment": "nothing"},
        ),
        fields({"a": _integer}, extra=anything),
        {"null": one_of({"a": None}), "missing": one_of({}), "kind": one_of({"a": "1"}, [])},
    ),
    Case(
        "all together",
        {
            "allOf": [
                {"$ref": "#/$defs/named"},
                {"anyOf": [{"required": ["x"]}, {"required": ["y"]}]},
                {"if": {"required": ["y"]}, "then": {"properties": {"x": {"type": "null"}}}},
            ],
            "properties": {"x": {"type": ["integer", "null"]}, "y": {"type": "array", "contains": STRING}},
            "$defs": {"named": _object({"name": {"type": "string", "minLength": 1}}, "name")},
        },
        either(
            fields({"name": word, "x": nullable(integer())}),
            fields({"name": word, "y": listed(text, 1)}, {"x": one_of(None)}),
        ),
        {
            "neither": one_of({"name": "a"}, {"name": "a", "z": 1}),
            "both": one_of({"x": 1, "name": "a", "y": ["b"]}),
            "not so named": one_of({"x": 1}, {"x": 1, "name": ""}),
            "contains none": one_of({"name": "a", "y": []}, {"y": [1, None], "name": "a"}),
        },
    ),
]

CASES: list[Case] = [*_OBJECTS, *_ARRAYS, *_LEAVES, *_COMBINED]
