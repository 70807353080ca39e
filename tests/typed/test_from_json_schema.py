"""JSON Schema: what each keyword accepts, when what is wrong is known, what is shown, and what is refused."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path as FilePath
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

import unspool
from tests.support.schemas import CASES
from unspool import Options, OptionsError, Path, create_state, finalize, parse_chunk
from unspool.typed import (
    Complete,
    Invalid,
    InvalidError,
    Missing,
    Resolution,
    from_json_schema,
    items,
    iter_partial,
    resolve,
)
from unspool.typed._json_schema import problems
from unspool.typed._json_schema.judge import SchemaJudge
from unspool.typed._shape import AnyShape, LeafShape, UnionShape

if TYPE_CHECKING:
    from unspool.typed import Shape

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def steps(shape: Shape, text: str, options: Options | None = None) -> list[Resolution[object]]:
    """Return the resolution after each character, and after the end of the text."""
    states = [create_state(options)]
    for character in text:
        states.append(parse_chunk(states[-1], character))
    cache = None
    found: list[Resolution[object]] = []
    for state in [*states[1:], finalize(states[-1])]:
        resolution, cache = resolve(shape, state, cache)
        found.append(resolution)
    return found


def is_accepted(schema: Any, value: Any) -> bool:
    """The verdict on a value, which is that of jsonschema_rs, and on the way nothing was taken back."""
    text = json.dumps(value)
    found = steps(from_json_schema(schema), text)
    last = found[-1]
    accepted = isinstance(last, Complete)
    assert accepted == jsonschema_rs.validator_for(schema, offline=True).is_valid(value)
    verdicts = [resolution.invalid is not None for resolution in found]
    assert verdicts == sorted(verdicts)
    assert accepted is not verdicts[-1]
    if accepted:
        assert json.dumps(last.value) == text
    return accepted


def first_invalid(schema: Any, text: str, early: bool = False) -> tuple[str, str, str]:
    """Return the first invalid prefix, its path and its code; an empty prefix for a valid text."""
    for index, resolution in enumerate(steps(from_json_schema(schema, early=early), text)):
        if resolution.invalid is not None:
            problem = resolution.problems[0]
            return text[: index + 1], str(problem.path), problem.code
    return "", "", ""


def shown(schema: Any, text: str, early: bool = False) -> Any:
    """What is shown of an open text; ... where nothing is."""
    state = parse_chunk(create_state(), text)
    resolution, _ = resolve(from_json_schema(schema, early=early), state)
    assert resolution.invalid is None
    return ... if isinstance(resolution, Missing) else resolution.value


# Each keyword: what it accepts and what not

STRING = {"type": "string"}
INTEGER = {"type": "integer"}

ACCEPTED: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("true", True, [None, 1, "a", [{}], {"a": []}], []),
    ("false", False, [], [None, 1, "a", [], {}]),
    ("nothing said", {}, [None, 1, "a", [{}], {"a": []}], []),
    ("type", {"type": "string"}, ["", "é"], [None, 1, True, [], {}]),
    ("integer", {"type": "integer"}, [0, -3, 2.0, 1e30, 10**40], [0.5, "1", True, None]),
    ("number", {"type": "number"}, [0, 0.5, 1e-7], [True, "1"]),
    ("integer or number", {"type": ["integer", "number"]}, [1, 0.5], ["1"]),
    ("boolean is no number", {"type": "boolean"}, [True, False], [0, 1, "true"]),
    ("types", {"type": ["array", "null"]}, [None, [], [1]], [{}, 0]),
    ("enum of strings", {"enum": ["a", "ab", ""]}, ["a", "ab", ""], ["b", "abc", None, 1]),
    ("enum of numbers", {"enum": [1, 2.5]}, [1, 1.0, 2.5], [2, "1", True]),
    ("enum of booleans", {"enum": [True]}, [True], [False, 1]),
    ("enum of containers", {"enum": [[1], {"a": 1}]}, [[1], [1.0], {"a": 1}], [[], [1, 1], {"a": True}, {}]),
    ("enum without anything", {"enum": []}, [], [None, 0, ""]),
    ("const and enum", {"const": "b", "enum": ["a", "b"]}, ["b"], ["a", "c"]),
    ("two enums", {"allOf": [{"enum": ["a", "b", 1]}, {"enum": ["b", "c", 1]}]}, ["b", 1], ["a", "c", 2]),
    ("enum and length", {"enum": ["a", "bb", 3], "maxLength": 1}, ["a", 3], ["bb"]),
    ("const null", {"const": None}, [None], [False, 0, ""]),
    ("lengths", {"minLength": 2, "maxLength": 3}, ["ab", "😀😀😀", 1, None, [1]], ["a", "abcd", "😀"]),
    ("pattern", {"pattern": "^[a-c]+$"}, ["abc", 5], ["", "abd"]),
    ("bounds", {"minimum": 1, "exclusiveMaximum": 3}, [1, 2.9, "0"], [0.9, 3]),
    ("bounds beyond floats", {"maximum": 2**64}, [2**64], [2**64 + 1]),
    ("multipleOf", {"multipleOf": 0.1}, [0.3, 7], [0.35]),
    ("required", {"required": ["a", "b"]}, [{"b": 1, "a": 2}, []], [{}, {"a": 1}]),
    ("properties", {"properties": {"a": INTEGER}}, [{}, {"a": 1}, {"b": "x"}, "a"], [{"a": "1"}]),
    ("property false", {"properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
    ("required and false", {"properties": {"a": False}, "required": ["a"]}, [[]], [{}, {"a": 1}]),
    ("no more properties", {"properties": {"a": True}, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}]),
    ("additionalProperties", {"additionalProperties": INTEGER}, [{}, {"a": 1}], [{"a": 1, "b": "1"}]),
    ("no properties", {"additionalProperties": False}, [{}, []], [{"": 1}]),
    (
        "patternProperties",
        {"patternProperties": {"^n": INTEGER, "s$": STRING}, "additionalProperties": False},
        [{"n1": 1, "as": "x"}],
        [{"n1": "1"}, {"as": 1}, {"other": 1}, {"ns": 1}, {"ns": "1"}],
    ),
    (
        "a pattern beside a property",
        {"properties": {"na": {"minimum": 5}}, "patternProperties": {"^n": INTEGER}},
        [{"na": 5, "nb": 1}],
        [{"na": 5.5}, {"na": 4}, {"nb": 0.5}],
    ),
    ("propertyNames", {"propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
    ("propertyNames false", {"propertyNames": False}, [{}], [{"a": 1}]),
    (
        "propertyNames and properties",
        {"propertyNames": {"pattern": "a"}, "properties": {"b": True, "a": INTEGER}},
        [{"a": 1, "aa": "x"}],
        [{"b": 1}, {"a": "1"}, {"c": 1}],
    ),
    ("sizes of objects", {"minProperties": 1, "maxProperties": 2}, [{"a": 1}], [{}, {"a": 1, "b": 2, "c": 3}]),
    ("items", {"items": INTEGER}, [[], [1, 2], {"0": "a"}], [[1, "2"]]),
    ("items false", {"items": False}, [[]], [[1]]),
    ("prefixItems", {"prefixItems": [INTEGER, STRING]}, [[], [1], [1, "a", None]], [["a"], [1, 2]]),
    ("prefixItems and items", {"prefixItems": [INTEGER], "items": STRING}, [[1, "a", "b"]], [[1, "a", 2]]),
    ("prefixItems alone", {"prefixItems": [INTEGER], "items": False, "maxItems": 5}, [[], [1]], [[1, 2]]),
    ("sizes of arrays", {"minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]]),
    ("uniqueItems", {"uniqueItems": True}, [[1, True, "1"], [[1], [2]]], [[1, 1.0], [{"a": 1}, {"a": 1}]]),
    ("uniqueItems false", {"uniqueItems": False}, [[1, 1]], []),
    ("contains", {"contains": STRING}, [[1, "a"]], [[], [1]]),
    (
        "so many",
        {"contains": STRING, "minContains": 2, "maxContains": 3},
        [["a", 1, "b"]],
        [["a"], ["a", "b", "c", "d"]],
    ),
    ("minContains alone", {"minContains": 2}, [[], [1]], []),
    ("not", {"not": STRING}, [1, None, ["a"]], ["a"]),
    ("not at all", {"not": {}}, [], [1, "a", {}]),
    ("if then", {"if": STRING, "then": {"minLength": 2}}, ["ab", 1], ["a"]),
    ("if else", {"if": STRING, "else": {"minimum": 2}}, ["", 2, None], [1]),
    ("then alone", {"then": False, "else": False}, [1, "a"], []),
    ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
    (
        "dependentSchemas",
        {"dependentSchemas": {"a": {"maxProperties": 1}}},
        [{"a": 1}, {"b": 1, "c": 1}],
        [{"a": 1, "b": 1}],
    ),
    (
        "dependencies",
        {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
        [{"a": 1, "b": 1, "c": 1}],
        [{"a": 1}, {"b": 1}],
    ),
    ("allOf", {"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2, "x"], [0, 3]),
    (
        "allOf of objects",
        {
            "allOf": [
                {"properties": {"a": INTEGER, "c": {"minimum": 1}}, "required": ["a"]},
                {"properties": {"b": STRING, "c": {"maximum": 2}}, "required": ["b"]},
            ]
        },
        [{"a": 1, "b": "x", "c": 1}],
        [{"a": 1}, {"b": "x"}, {"a": 1, "b": "x", "c": 3}, {"a": 1, "b": "x", "c": 0}],
    ),
    (
        "allOf closed by one",
        {"allOf": [{"properties": {"a": True}, "additionalProperties": False}], "properties": {"b": True}},
        [{"a": 1}],
        [{"b": 1}],
    ),
    ("allOf with false", {"allOf": [{}, False]}, [], [1, {}]),
    ("anyOf by kind", {"anyOf": [STRING, {"type": "array", "items": INTEGER}]}, ["a", [1]], [1, ["a"], None]),
    ("anyOf of equals", {"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}, [6, 5, 2, "x"], [1]),
    (
        "anyOf and siblings",
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": INTEGER}},
        [{"a": 1}, {"b": 1}],
        [{}, {"a": "1", "b": 1}],
    ),
    ("oneOf", {"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}, [5, 2], [6, 1, "x"]),
    ("oneOf by kind", {"oneOf": [INTEGER, STRING]}, [1, "a"], [0.5, None]),
    ("oneOf of listed strings", {"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}, ["a", "c"], ["d", "", 1]),
    ("oneOf of strings listed twice", {"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ["a", "c"], ["b"]),
    (
        "oneOf of a listed string that cannot be",
        {"oneOf": [{"const": "a", "minLength": 2}, {"const": "b"}]},
        ["b"],
        ["a"],
    ),
    ("anyOf of listed strings", {"anyOf": [{"enum": ["a", "b"]}, {"enum": ["b", 1]}]}, ["a", "b", 1], ["c", 2]),
    ("no branch takes it", {"type": "string", "anyOf": [INTEGER, {"type": "null"}]}, [], ["a", 1, None]),
    (
        "three choices",
        {"allOf": [{"anyOf": [STRING, INTEGER]}, {"anyOf": [INTEGER, {"type": "null"}]}, {"oneOf": [INTEGER, STRING]}]},
        [1],
        ["a", None],
    ),
    ("unevaluatedProperties", {"properties": {"a": True}, "unevaluatedProperties": False}, [{"a": 1}], [{"b": 1}]),
    (
        "unevaluatedProperties through allOf",
        {"allOf": [{"properties": {"a": True}}, {"patternProperties": {"^x": True}}], "unevaluatedProperties": INTEGER},
        [{"a": "1", "xa": "1", "b": 1}],
        [{"b": "1"}],
    ),
    (
        "unevaluatedProperties and a choice",
        {"anyOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": INTEGER}}], "unevaluatedProperties": False},
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
        [{"c": 1}, {"a": "x", "b": 1}],
    ),
    (
        "unevaluatedProperties inside and outside",
        {"allOf": [{"unevaluatedProperties": {"minimum": 1}}], "unevaluatedProperties": False},
        [{"a": 1}],
        [{"a": 0}],
    ),
    (
        "additionalProperties evaluate all",
        {"allOf": [{"additionalProperties": INTEGER}], "unevaluatedProperties": False},
        [{"a": 1}],
        [{"a": "1"}],
    ),
    ("unevaluatedItems", {"prefixItems": [True], "unevaluatedItems": False}, [[], [1]], [[1, 2]]),
    ("unevaluatedItems of all", {"allOf": [{"items": True}], "unevaluatedItems": False}, [[1, 2]], []),
    ("unevaluatedItems and contains", {"contains": INTEGER, "unevaluatedItems": False}, [[1, 2]], [[1, "a"], []]),
    ("a remark", {"format": "date", "contentEncoding": "base64"}, ["x", 1], []),
    (
        "unknown",
        {"x-order": 1, "nullable": True, "minimun": 5, "additionalItems": False, "type": "integer"},
        [1],
        [None],
    ),
    (
        "draft 7: tuple",
        {"$schema": DRAFT_7, "items": [INTEGER], "additionalItems": STRING},
        [[], [1, "a"]],
        [["a"], [1, 2]],
    ),
    ("draft 7: no more", {"$schema": DRAFT_7, "items": [INTEGER], "additionalItems": False}, [[1]], [[1, 1]]),
    (
        "draft 7: additionalItems alone",
        {"$schema": DRAFT_7, "items": STRING, "additionalItems": False},
        [["a", "b"]],
        [[1]],
    ),
    ("draft 7: format", {"$schema": DRAFT_7, "format": "date"}, ["2024-02-29", 1], ["2023-02-29"]),
    ("draft 7: content", {"$schema": DRAFT_7, "contentMediaType": "application/json"}, ["{}"], ["{"]),
    (
        "draft 7: not yet",
        {
            "$schema": DRAFT_7,
            "prefixItems": [False],
            "minContains": 2,
            "unevaluatedItems": False,
            "dependentRequired": {"a": ["b"]},
        },
        [[1], {"a": 1}],
        [],
    ),
    (
        "draft 7: a reference is alone",
        {"$schema": DRAFT_7, "allOf": [{"$ref": "#/definitions/a", "minimum": 5}], "definitions": {"a": INTEGER}},
        [1],
        ["a"],
    ),
]


@pytest.mark.parametrize(("schema", "good", "bad"), [case[1:] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
def test_keywords(schema: Any, good: list[Any], bad: list[Any]) -> None:
    """Each keyword, alone and beside others: the right values are accepted and shown whole, the wrong ones refused."""
    assert [value for value in good if not is_accepted(schema, value)] == []
    assert [value for value in bad if is_accepted(schema, value)] == []


# References

TREE = {"type": "object", "properties": {"value": INTEGER, "next": {"$ref": "#"}}, "required": ["value"]}
LIST_7 = {
    "$schema": DRAFT_7,
    "$id": "https://example.com/list",
    "type": "array",
    "items": [{"$ref": "#item"}, {"$ref": "list#/definitions/item"}],
    "definitions": {"item": {"$id": "#item", "type": "integer"}},
}

REFERENCES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("the root", TREE, [{"value": 1, "next": {"value": 2}}], [{"value": 1, "next": {}}, {"value": 1, "next": 5}]),
    ("a definition", {"$ref": "#/$defs/a", "$defs": {"a": INTEGER}}, [1], ["a"]),
    ("the older word", {"$ref": "#/definitions/a", "definitions": {"a": INTEGER}}, [1], ["a"]),
    ("the newer word in draft 7", {"$schema": DRAFT_7, "$ref": "#/$defs/a", "$defs": {"a": INTEGER}}, [1], ["a"]),
    ("beside others", {"$ref": "#/$defs/a", "maximum": 3, "$defs": {"a": INTEGER}}, [3], [4, 0.5]),
    ("an anchor", {"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "integer"}}}, [1], ["a"]),
    ("names of draft 7", LIST_7, [[1, 2]], [["a"], [1, "a"]]),
    (
        "a schema with a name",
        {
            "$id": "https://example.com/root",
            "properties": {"a": {"$ref": "leaf"}, "b": {"$ref": "https://example.com/leaf#/$defs/inner"}},
            "$defs": {"x": {"$id": "leaf", "$ref": "#/$defs/inner", "$defs": {"inner": INTEGER}}},
        },
        [{"a": 1, "b": 1}],
        [{"a": "1"}, {"b": "1"}],
    ),
    (
        "a relative name",
        {"$id": "dir/root", "items": {"$ref": "other"}, "$defs": {"x": {"$id": "other", "type": "integer"}}},
        [[1]],
        [["a"]],
    ),
    (
        "a name instead of an address",
        {
            "$id": "urn:example:root",
            "items": {"not": {"$ref": "#/$defs/x"}},
            "$defs": {"x": {"$ref": "urn:example:root#/$defs/y"}, "y": {"type": "string"}},
        },
        [[1]],
        [["a"]],
    ),
    ("odd signs", {"$ref": "#/$defs/a~1b~0c%25%20%22", "$defs": {'a/b~c% "': INTEGER}}, [1], ["a"]),
    (
        "odd signs, at the close",
        {"not": {"$ref": "#/$defs/a~1b~0c%25%20%C3%A9"}, "$defs": {"a/b~c% é": INTEGER}},
        ["a"],
        [1],
    ),
    ("an index", {"prefixItems": [INTEGER, {"$ref": "#/prefixItems/0"}]}, [[1, 2]], [[1, "a"]]),
    (
        "where no keyword leads",
        {"$ref": "#/x/y", "x": {"y": {"items": {"$ref": "#/x/y/z"}, "z": INTEGER}}},
        [[1]],
        [["a"]],
    ),
    (
        "a chain",
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": INTEGER}},
        [1],
        ["a"],
    ),
    ("to a boolean", {"properties": {"a": {"$ref": "#/$defs/no"}}, "$defs": {"no": False}}, [{}], [{"a": 1}]),
    (
        "where no keyword leads, by a name there",
        {
            "$id": "https://example.com/a",
            "$ref": "#/$defs/x/custom",
            "$defs": {"x": {"$id": "b/c", "custom": {"$ref": "d"}}, "d": {"$id": "b/d", "type": "integer"}},
        },
        [1],
        ["a"],
    ),
    (
        "there and back",
        {
            "properties": {"a": {"$ref": "#/$defs/b"}},
            "$defs": {"b": {"required": ["c"], "properties": {"c": {"$ref": "#"}}}},
        },
        [{"a": {"c": {"a": {"c": {}}}}}],
        [{"a": {"c": {"a": {}}}}],
    ),
    (
        "judged at the close, in its place",
        {
            "$id": "https://example.com/a",
            "properties": {"x": {"$id": "b", "not": {"$ref": "#/$defs/s"}, "$defs": {"s": STRING}}},
        },
        [{"x": 1}],
        [{"x": "a"}],
    ),
    (
        "a choice that leads back",
        {
            "$defs": {
                "list": {
                    "anyOf": [{"type": "null"}, {"properties": {"next": {"$ref": "#/$defs/list"}}, "type": "object"}]
                }
            },
            "$ref": "#/$defs/list",
        },
        [None, {"next": {"next": None}}],
        [1, {"next": {"next": 1}}],
    ),
    (
        "a dynamic one with one goal",
        {"items": {"$dynamicRef": "#here"}, "$defs": {"a": {"$dynamicAnchor": "here", "type": "integer"}}},
        [[1]],
        [["a"]],
    ),
    (
        "a dynamic one with two",
        {
            "$id": "https://example.com/strings",
            "$ref": "list",
            "$defs": {
                "strings": {"$dynamicAnchor": "item", "type": "string"},
                "list": {
                    "$id": "list",
                    "items": {"$dynamicRef": "#item"},
                    "$defs": {"anything": {"$dynamicAnchor": "item"}},
                },
            },
        },
        [["a"], []],
        [[1], ["a", None]],
    ),
    (
        "the draft itself",
        {"properties": {"s": {"$ref": DRAFT_2020}}},
        [{"s": {"type": "string"}}],
        [{"s": {"type": 1}}],
    ),
    ("draft 7 itself", {"$schema": DRAFT_7, "$ref": DRAFT_7}, [{"minLength": 1}], [{"minLength": -1}]),
]


@pytest.mark.parametrize(("schema", "good", "bad"), [one[1:] for one in REFERENCES], ids=[one[0] for one in REFERENCES])
def test_references(schema: Any, good: list[Any], bad: list[Any]) -> None:
    """A reference leads to what jsonschema_rs finds there."""
    assert [value for value in good if not is_accepted(schema, value)] == []
    assert [value for value in bad if is_accepted(schema, value)] == []


@pytest.mark.parametrize("inner_first", [False, True])
def test_references_into_each_other(inner_first: bool) -> None:
    """Where no keyword leads, a place and one inside of it may be referred to in any order."""
    references = [{"$ref": "#/x"}, {"properties": {"q": {"$ref": "#/x/not/items"}}}]
    schema = {
        "allOf": references[::-1] if inner_first else references,
        "x": {"not": {"type": "array", "items": {"$ref": "#/$defs/s"}}},
        "$defs": {"s": STRING},
    }
    values = [[1], ["a"], [], {"q": 1}, {"q": "a"}]
    assert [is_accepted(schema, value) for value in values] == [True, False, False, False, True]


# Moments

CARD = {"properties": {"by": {"const": "card"}, "no": STRING}, "required": ["by"]}
CASH = {"properties": {"by": {"enum": ["cash", "coins"]}, "no": INTEGER}, "required": ["by"]}

MOMENTS: list[tuple[str, Any, str, str, str, str]] = [
    ("type", STRING, "[1]", "[", "$", "wrong_kind"),
    ("type inside", {"properties": {"a": STRING}}, '{"a":[1]}', '{"a":[', "$.a", "wrong_kind"),
    ("integer", {"items": INTEGER}, "[1.5,2]", "[1.5,", "$[0]", "wrong_kind"),
    ("an enum of one kind", {"enum": ["a", 1]}, "true", "true", "$", "wrong_kind"),
    ("enum", {"enum": ["red", "rose"]}, '"rad"', '"ra', "$", "not_one_of"),
    ("enum, too long", {"enum": ["red"]}, '"redder"', '"redd', "$", "not_one_of"),
    ("enum, too short", {"enum": ["red"]}, '"re"', '"re"', "$", "not_one_of"),
    ("const", {"const": "yes"}, '"no"', '"n', "$", "not_one_of"),
    ("enum of numbers", {"items": {"enum": [1, 2]}}, "[3,4]", "[3,", "$[0]", "enum"),
    ("const of an object", {"items": {"const": {"a": 1}}}, '[{"a":2},3]', '[{"a":2}', "$[0]", "const"),
    ("maxLength", {"maxLength": 2}, '"abcd"', '"abc', "$", "too_long"),
    ("minLength", {"items": {"minLength": 2}}, '["a",1]', '["a"', "$[0]", "minLength"),
    ("pattern", {"items": {"pattern": "^a"}}, '["bcd"]', '["bcd"', "$[0]", "pattern"),
    ("minimum", {"items": {"minimum": 2}}, "[1,2]", "[1,", "$[0]", "minimum"),
    ("additionalProperties", {"additionalProperties": False}, '{"a":"bc"}', '{"a":"', "$.a", "extra_key"),
    ("property false", {"properties": {"a": False}}, '{"a":"bc"}', '{"a":"', "$.a", "wrong_kind"),
    (
        "propertyNames",
        {"propertyNames": {"maxLength": 1}, "required": ["a"]},
        '{"ab":"c"}',
        '{"ab":"',
        "$.ab",
        "extra_key",
    ),
    ("patternProperties", {"patternProperties": {"^a": STRING}}, '{"ab":[1]}', '{"ab":[', "$.ab", "wrong_kind"),
    (
        "no pattern",
        {"patternProperties": {"^a": STRING}, "additionalProperties": False},
        '{"b":[1]}',
        '{"b":[',
        "$.b",
        "extra_key",
    ),
    ("required", {"items": {"required": ["a"]}}, '[{"b":1},2]', '[{"b":1}', "$[0].a", "missing"),
    ("maxProperties", {"maxProperties": 1}, '{"a":[],"b":[1]}', '{"a":[],"b":[', "$.b", "too_many_keys"),
    ("minProperties", {"items": {"minProperties": 1}}, "[{},1]", "[{}", "$[0]", "minProperties"),
    ("maxItems", {"maxItems": 1}, "[[],[1]]", "[[],[", "$[1]", "too_many_items"),
    ("items false", {"prefixItems": [True], "items": False}, "[[],[1]]", "[[],[", "$[1]", "too_many_items"),
    (
        "items false and more allowed",
        {"prefixItems": [True], "items": False, "maxItems": 5},
        "[[],[1]]",
        "[[],[",
        "$[1]",
        "too_many_items",
    ),
    ("minItems", {"items": {"minItems": 1}}, "[[],1]", "[[]", "$[0]", "minItems"),
    ("uniqueItems", {"uniqueItems": True}, "[1,1,2]", "[1,1,2]", "$", "uniqueItems"),
    ("contains", {"items": {"contains": STRING}}, "[[1],2]", "[[1]", "$[0]", "contains"),
    ("prefixItems", {"prefixItems": [STRING, INTEGER]}, '["a",["b"]]', '["a",[', "$[1]", "wrong_kind"),
    ("not", {"items": {"not": STRING}}, '["a",1]', '["a"', "$[0]", "not"),
    (
        "if",
        {"items": {"if": {"required": ["a"]}, "then": {"required": ["b"]}}},
        '[{"a":1},1]',
        '[{"a":1}',
        "$[0].b",
        "missing",
    ),
    (
        "beside if",
        {"properties": {"a": STRING}, "if": True, "then": {"required": ["a"]}},
        '{"a":[1]}',
        '{"a":[',
        "$.a",
        "wrong_kind",
    ),
    ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, '{"a":1}', '{"a":1}', "$.b", "missing"),
    (
        "allOf",
        {"allOf": [{"properties": {"a": STRING}}, {"required": ["b"]}]},
        '{"a":[1]}',
        '{"a":[',
        "$.a",
        "wrong_kind",
    ),
    (
        "allOf closed",
        {"allOf": [{"additionalProperties": False, "properties": {"a": {}}}]},
        '{"b":[]}',
        '{"b":[',
        "$.b",
        "extra_key",
    ),
    ("kinds of anyOf", {"anyOf": [STRING, INTEGER]}, "[1]", "[", "$", "wrong_kind"),
    (
        "inside the only branch",
        {"anyOf": [STRING, {"items": INTEGER, "type": "array"}]},
        '["a"]',
        '["',
        "$[0]",
        "wrong_kind",
    ),
    ("described strings", {"oneOf": [{"const": "red"}, {"const": "rose"}]}, '"rad"', '"ra', "$", "not_one_of"),
    (
        "inside of a choice by constant",
        {"oneOf": [CARD, CASH]},
        '{"by":"card","no":[1]}',
        '{"by":"card","no":[',
        "$.no",
        "wrong_kind",
    ),
    ("no such constant", {"oneOf": [CARD, CASH]}, '{"by":"car","no":[1]}', '{"by":"car"', "$.by", "unknown_tag"),
    ("no constant at all", {"oneOf": [CARD, CASH], "type": "object"}, '{"no":1}', '{"no":1}', "$.by", "missing"),
    (
        "a choice at the close",
        {"items": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
        "[{},1]",
        "[{}",
        "$[0]",
        "anyOf",
    ),
    (
        "unevaluatedProperties",
        {"$ref": "#/$defs/a", "unevaluatedProperties": False, "$defs": {"a": {"properties": {"b": {}}}}},
        '{"c":[1]}',
        '{"c":[',
        "$.c",
        "extra_key",
    ),
    (
        "unevaluatedItems",
        {"allOf": [{"prefixItems": [True]}], "unevaluatedItems": False},
        "[1,[2]]",
        "[1,[",
        "$[1]",
        "too_many_items",
    ),
    (
        "unevaluated by choice",
        {
            "items": {
                "anyOf": [{"properties": {"a": STRING}}, {"properties": {"b": {}}}],
                "unevaluatedProperties": False,
            }
        },
        '[{"a":1},1]',
        '[{"a":1}',
        "$[0]",
        "unevaluatedProperties",
    ),
    ("format in draft 7", {"$schema": DRAFT_7, "items": {"format": "date"}}, '["x",1]', '["x"', "$[0]", "format"),
    ("a reference", {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": STRING}}, "[[1]]", "[[", "$[0]", "wrong_kind"),
]


@pytest.mark.parametrize(
    ("schema", "text", "there", "path", "code"), [one[1:] for one in MOMENTS], ids=[one[0] for one in MOMENTS]
)
def test_moments(schema: Any, text: str, there: str, path: str, code: str) -> None:
    """Problems are known as early as the documentation says, with path and code."""
    assert first_invalid(schema, text) == (there, path, code)
    assert not jsonschema_rs.is_valid(schema, json.loads(text))


def test_problems_never_quote_the_text() -> None:
    """Problems name the expected value in the library's own words; neither the value nor a key of it appears."""
    schema = {
        "properties": {"a": {"enum": [1]}, "b": {"pattern": "^x"}, "c": {"not": {}}, "d": {"enum": ["x"]}},
        "unevaluatedProperties": {"anyOf": [{"minimum": 5}, {"multipleOf": 7}]},
    }
    for key, value in [("a", 2), ("b", "secret"), ("c", "secret"), ("d", "secret"), ("secret", 1)]:
        last = steps(from_json_schema(schema), json.dumps({key: value}))[-1]
        assert isinstance(last, Invalid)
        assert all("secret" not in problem.expected for problem in last.problems)
        assert all(problem.path == (key,) for problem in last.problems)


def test_all_problems_of_a_close_are_told() -> None:
    """Several things that are wrong with one value are all told, but not thousands of them."""
    schema: Any = {"if": True, "then": {"items": {"type": "string"}, "minItems": 3}}
    last = steps(from_json_schema(schema), "[1,2]")[-1]
    assert {(str(problem.path), problem.code) for problem in last.problems} == {
        ("$[0]", "type"),
        ("$[1]", "type"),
        ("$", "minItems"),
    }
    many = steps(from_json_schema(schema), json.dumps([1] * 100))[-1]
    assert len(many.problems) == 8


# What is shown

SHOWN: list[tuple[str, Any, str, Any]] = [
    ("a string grows", {"properties": {"a": STRING}}, '{"a":"bc', {"a": "bc"}),
    ("anything grows", {}, '{"a":["bc', {"a": ["bc"]}),
    ("a listed string waits", {"properties": {"a": {"enum": ["bc", "bd"]}}}, '{"a":"bc', {}),
    ("a constant waits", {"items": {"const": "bc"}}, '["b', []),
    ("a string with a pattern waits", {"properties": {"a": {"pattern": "b"}}}, '{"a":"bc', {}),
    ("a string with a length waits", {"items": {"minLength": 1}}, '["b', []),
    ("a date waits", {"items": {"format": "date"}}, '["2024', []),
    ("a format of one's own does not", {"items": {"format": "markdown"}}, '["# T', ["# T"]),
    ("a number appears when it has ended", {"items": {"minimum": 1}}, "[1,2", [1]),
    ("a nullable string grows", {"anyOf": [STRING, {"type": "null"}]}, '"a', "a"),
    ("a nullable enum waits", {"enum": ["ab", None]}, '"a', ...),
    ("a choice by constant waits for it", {"oneOf": [CARD, CASH]}, '{"no":"1', ...),
    ("and is shown then", {"oneOf": [CARD, CASH]}, '{"by":"card","no":"1', {"by": "card", "no": "1"}),
    ("a choice at the close is shown", {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"c":"d', {"c": "d"}),
    (
        "but for what a branch constrains",
        {"anyOf": [{"properties": {"a": {"enum": ["x"]}}}, {"properties": {"b": STRING}}]},
        '{"b":"c","a":"y',
        {"b": "c"},
    ),
    (
        "also where a branch of a branch does",
        {"not": {}, "anyOf": [{"anyOf": [{"items": {"pattern": "x"}}, {}]}, {"maxItems": 3}]},
        '["y',
        [],
    ),
    (
        "what if and then say does not matter",
        {"if": {"required": ["a"]}, "then": {"minProperties": 2}},
        '{"a":"b',
        {"a": "b"},
    ),
    (
        "nor what depends on a key",
        {"anyOf": [{"dependentSchemas": {"x": {"properties": {"a": {"enum": ["q"]}}}}}, {"maxProperties": 3}]},
        '{"a":"q',
        {},
    ),
    ("an object that is listed waits", {"items": {"enum": [{"a": "bcd"}]}}, '[{"a":"bc', []),
    ("also a map", {"items": {"const": {"a": 1}, "additionalProperties": INTEGER}}, '[{"a":1', []),
    ("and a record", {"items": {"const": {"a": 1}, "properties": {"a": INTEGER}}}, '[{"a":1', []),
    ("and one by patterns", {"items": {"const": {"a": 1}, "patternProperties": {"a": INTEGER}}}, '[{"a":1', []),
    ("an array that is listed waits", {"items": {"const": ["ab"]}}, '[["a', []),
    ("also one with items", {"items": {"const": ["ab"], "items": STRING}}, '[["a', []),
    ("and a tuple", {"items": {"const": ["ab"], "prefixItems": [STRING]}}, '[["a', []),
    ("also where that is one way", {"items": {"anyOf": [{"const": {"a": 1}}, {"required": ["b"]}]}}, '[{"a":1', []),
    ("and nothing else is said", {"items": {"not": {}, "anyOf": [{"const": ["a"]}, {}]}}, '[["a', []),
]


@pytest.mark.parametrize(("schema", "text", "value"), [one[1:] for one in SHOWN], ids=[one[0] for one in SHOWN])
def test_what_is_shown(schema: Any, text: str, value: Any) -> None:
    """Strings grow unless the schema limits them; the library shows nothing that it could have to withdraw."""
    assert shown(schema, text) == value


def test_a_dynamic_reference_is_shown_too() -> None:
    """A document that is judged at its end is shown until then, and what may be constrained waits."""
    schema = {
        "$id": "https://example.com/root",
        "$ref": "list",
        "$defs": {
            "item": {"$dynamicAnchor": "item", "type": "string"},
            "list": {
                "$id": "list",
                "properties": {"items": {"items": {"$dynamicRef": "#item"}}, "kind": {"enum": ["x", "y"]}},
                "$defs": {"anything": {"$dynamicAnchor": "item"}},
            },
        },
    }
    assert shown(schema, '{"items":["a","b') == {"items": ["a", "b"]}
    assert shown(schema, '{"kind":"x') == {}
    assert first_invalid(schema, '{"items":[1]}')[0] == '{"items":[1]}'


def test_early() -> None:
    """With `early` a listed string is shown as soon as no other can come, and not without."""
    schema = {"items": {"anyOf": [{"enum": ["happy", "hungry"]}, {"const": "tired"}]}}
    assert shown(schema, '["h', early=True) == []
    assert shown(schema, '["hu', early=True) == ["hungry"]
    assert shown(schema, '["t', early=True) == ["tired"]
    assert shown(schema, '["hu') == []


def test_values_are_exact() -> None:
    """Numbers are what was written: integers of any size, and decimals where the options say so."""
    shape = from_json_schema({"items": {"type": "number", "minimum": 0}})
    assert steps(shape, f"[{10**50},1.0,1]")[-1].value == [10**50, 1.0, 1]
    value: Any = steps(shape, "[0.10000000000000000001]", Options(floats="decimal"))[-1].value
    assert value == [Decimal("0.10000000000000000001")]
    whole = from_json_schema({"type": "integer"})
    assert isinstance(steps(whole, "1.0", Options(floats="decimal"))[-1], Complete)
    assert isinstance(steps(whole, "1.5", Options(floats="decimal"))[-1], Invalid)


def test_half_a_surrogate_pair_fits_no_constraint() -> None:
    """Text with lone surrogates, which only an option lets in, is invalid where it is judged, never an error."""
    options = Options(surrogates="keep")
    last = steps(from_json_schema({"pattern": "a"}), r'"a\ud83d"', options)[-1]
    assert [problem.code for problem in last.problems] == ["lone_surrogate"]
    shape = from_json_schema({"patternProperties": {"a": STRING}, "additionalProperties": INTEGER})
    assert isinstance(steps(shape, r'{"a\ud83d":"x"}', options)[-1], Invalid)


def test_unchanged_parts_are_the_same_objects() -> None:
    """Closed values are made once and stay the same objects."""
    schema = {"items": {"properties": {"a": STRING}, "minProperties": 1}}
    first, second = list(iter_partial(schema, ['[{"a":"b"},{"a":"c', 'd"}]']))
    assert first.value[0] is second.value[0]


def test_required_keys_are_missing() -> None:
    """`missing` names the required keys of what has begun, also in a branch."""
    schema = {"anyOf": [{"type": "null"}, {"type": "object", "required": ["a", "b"], "properties": {"a": STRING}}]}
    (partial, *_) = iter_partial(schema, ['{"a":"b"', ',"b":1}'])
    assert partial.missing == (Path.of("b"),)


# Once, and no more


def test_each_value_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the text is cut: one question for each closed value that has anything left to judge, none on the way."""
    asked: list[object] = []
    fits = SchemaJudge.fits

    def counting(self: SchemaJudge, value: object) -> bool:
        asked.append(value)
        return fits(self, value)

    monkeypatch.setattr(SchemaJudge, "fits", counting)
    node = {
        "type": "object",
        "properties": {"name": {"minLength": 1}, "inner": {"items": {"$ref": "#/$defs/node"}, "minItems": 0}},
        "if": {"required": ["inner"]},
        "then": {"required": ["name"]},
    }
    shape = from_json_schema({"$ref": "#/$defs/node", "$defs": {"node": node}})
    leaf = {"name": "é"}
    value = {"name": "a", "inner": [leaf, leaf, {"name": "b", "inner": [leaf]}]}
    asked.clear()
    assert isinstance(steps(shape, json.dumps(value))[-1], Complete)
    assert len([one for one in asked if isinstance(one, str)]) == 5
    assert len([one for one in asked if isinstance(one, list)]) == 2
    assert len([one for one in asked if isinstance(one, dict)]) == 5
    assert len(asked) == 12


def test_a_choice_inside_of_a_choice_is_judged_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value is judged as a whole once, with everything inside: a chain of n such values asks one question."""
    asked: list[object] = []
    fits = SchemaJudge.fits

    def counting(self: SchemaJudge, value: object) -> bool:
        asked.append(value)
        return fits(self, value)

    monkeypatch.setattr(SchemaJudge, "fits", counting)
    link = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    shape = from_json_schema({"anyOf": [{**link, "required": ["next"]}, {**link, "maxProperties": 0}]})
    depth = 60
    assert isinstance(steps(shape, '{"next":' * depth + "{}" + "}" * depth)[-1], Complete)
    assert len(asked) == 1


def test_what_needs_no_judge() -> None:
    """The kinds of all that is unconstrained are one shape, which shows the plain values of the tree."""
    shape = from_json_schema({"type": ["object", "string", "null"], "description": "anything"})
    assert isinstance(shape, AnyShape)
    assert shape.kinds == {"object", "string", "null"}
    assert isinstance(from_json_schema({"uniqueItems": False, "then": False, "minContains": 1}), AnyShape)
    listed = from_json_schema({"oneOf": [{"const": "a"}, {"const": "b", "title": "B"}]})
    assert isinstance(listed, LeafShape)
    assert listed.literals == {"a": "a", "b": "b"}


def test_branches_with_equal_constants_are_judged_at_the_close() -> None:
    """A key decides the branch only if no value of it is in two branches."""
    cash = {"properties": {"by": {"enum": ["cash", "card"]}, "no": INTEGER}, "required": ["by"]}
    schema = {"type": "object", "oneOf": [CARD, cash]}
    assert not isinstance(from_json_schema(schema), UnionShape)
    assert is_accepted(schema, {"by": "card", "no": 1})
    assert is_accepted(schema, {"by": "card", "no": "1"})
    assert not is_accepted(schema, {"by": "card"})


@pytest.mark.parametrize("tags", [("a", 1), (1, True), (0, False), (None, "null"), (1, 2)])
def test_constants_that_tell_a_branch(tags: tuple[Any, Any]) -> None:
    """Strings, small integers, booleans and null tell a branch, each by its kind: 1 is not true, but it is 1.0."""
    one, other = tags
    schema = {
        "type": "object",
        "anyOf": [
            {"properties": {"k": {"const": one}, "v": STRING}, "required": ["k"]},
            {"properties": {"k": {"const": other}, "v": INTEGER}, "required": ["k"]},
        ],
    }
    assert isinstance(from_json_schema(schema), UnionShape)
    for tag in [one, other, 1, 1.0, True, 0, False, None, "null", 3, []]:
        for value in ["x", 1]:
            is_accepted(schema, {"k": tag, "v": value})
            is_accepted(schema, {"v": value})


def test_a_constant_of_which_there_are_two_spellings() -> None:
    """A number that jsonschema_rs takes for another than Python does tells no branch."""
    branches = [{"properties": {"k": {"const": tag}, "v": {"const": at}}} for at, tag in enumerate([10**23, 5])]
    schema = {"type": "object", "oneOf": [{**branch, "required": ["k"]} for branch in branches]}
    assert is_accepted(schema, {"k": 1e23, "v": 0})
    assert is_accepted(schema, {"k": 10**23, "v": 0})
    assert not is_accepted(schema, {"k": 1e23, "v": 1})


def test_a_constant_that_may_be_absent() -> None:
    """Where the key need not be there, its absence is judged at the close."""
    schema = {
        "type": "object",
        "oneOf": [
            {"properties": {"k": {"const": "a"}, "v": STRING}},
            {"properties": {"k": {"const": "b"}}, "required": ["w"]},
        ],
    }
    assert is_accepted(schema, {"v": "x"})
    assert not is_accepted(schema, {"v": "x", "w": 1})
    assert is_accepted(schema, {"v": 1, "w": 1})
    assert not is_accepted(schema, {"k": ["a"]})
    assert first_invalid(schema, '{"k":"a","v":[1]}')[0] == '{"k":"a","v":['


# What is refused

MALFORMED: list[tuple[str, Any]] = [
    ("a JSON Schema is a dict or a boolean", 5),
    ("a JSON Schema is a dict or a boolean", None),
    ("a JSON Schema is a dict or a boolean", [{}]),
    ("#/type:", {"type": "text"}),
    ("#/type:", {"type": []}),
    ("#/type:", {"type": ["string", 1]}),
    ("#/type:", {"type": None}),
    ("#/properties/a/type:", {"properties": {"a": {"type": "int"}}}),
    ("#/properties/a:", {"properties": {"a": 1}}),
    ("#/properties:", {"properties": []}),
    ("#/required:", {"required": "a"}),
    ("#/required:", {"required": [1]}),
    ("#/enum:", {"enum": "a"}),
    ("#/minLength:", {"minLength": -1}),
    ("#/minLength:", {"minLength": 1.5}),
    ("#/maxItems:", {"maxItems": True}),
    ("#/minimum:", {"minimum": "1"}),
    ("#/multipleOf:", {"multipleOf": 0}),
    ("#/uniqueItems:", {"uniqueItems": "yes"}),
    ("#/pattern:", {"pattern": 1}),
    ("#/pattern:", {"pattern": "("}),
    ("#: Invalid URI", {"not": {"$ref": "#/$defs/é"}, "$defs": {"é": {}}}),
    ("#/items/pattern:", {"items": {"pattern": "[a"}}),
    ("#/patternProperties", {"patternProperties": {"(": True}}),
    ("#/allOf:", {"allOf": []}),
    ("#/anyOf:", {"anyOf": {}}),
    ("#/oneOf/1:", {"oneOf": [True, "a"]}),
    ("#/items:", {"items": [True]}),
    ("#/items:", {"$schema": DRAFT_7, "items": []}),
    ("#/items/1:", {"$schema": DRAFT_7, "items": [True, 1]}),
    ("#/not:", {"not": "a"}),
    ("#/dependentRequired:", {"dependentRequired": {"a": "b"}}),
    ("#/dependencies/a:", {"dependencies": {"a": 1}}),
    ("#/$defs/a~1b~0c/type:", {"$defs": {"a/b~c": {"type": 1}}}),
    ("#/$ref:", {"$ref": 1}),
    ("#/$id:", {"$id": 1}),
    ("#/$ref: the reference has no target", {"$ref": "#/$defs/a"}),
    ("#/$ref: the reference has no target", {"$ref": "#a"}),
    ("#/$ref: the reference has no target", {"$ref": "#/type/0", "type": "object"}),
    ("#/items/$ref: the reference has no target", {"items": {"$ref": "#/prefixItems/1"}, "prefixItems": [True]}),
    ("#/items/$ref: the reference has no target", {"items": {"$ref": "#/prefixItems/-1"}, "prefixItems": [True]}),
    ("#/$ref: a reference to another document", {"$ref": "https://example.com/a"}),
    ("#/$defs/a/$ref: a reference to another document", {"$defs": {"a": {"$ref": "other.json#/a"}}}),
    ("#/not/$ref: a reference to another document", {"not": {"$ref": "urn:example:a"}}),
    ("#/$schema: expected Draft", {"$schema": "http://json-schema.org/draft-04/schema#"}),
    ("#/$schema: expected Draft", {"$schema": 7}),
    ("#/items/$schema: another draft", {"items": {"$id": "a", "$schema": DRAFT_7}}),
    ("#/minimum: expected a JSON value", {"minimum": float("nan")}),
    ("#/const/0: expected a JSON value", {"const": [object()]}),
    ("#/const: expected strings as keys", {"const": {1: 2}}),
]


@pytest.mark.parametrize(("place", "schema"), MALFORMED)
def test_malformed(place: str, schema: Any) -> None:
    """A schema that cannot be used is refused when the shape is made, with the place in it."""
    with pytest.raises(OptionsError) as caught:
        from_json_schema(schema)
    assert str(caught.value).startswith(place)


def test_what_is_not_used_may_lead_nowhere() -> None:
    """A definition that nothing refers to is not followed."""
    schema: Any = {"type": "integer", "$defs": {"a": {"$ref": "#/$defs/gone"}, "b": {"pattern": "("}}}
    assert is_accepted(schema, 1)


def nested(depth: int, keyword: str) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth - 1):
        schema = {keyword: {"a": schema} if keyword == "properties" else [schema] if keyword == "allOf" else schema}
    return schema


@pytest.mark.parametrize("keyword", ["properties", "items", "allOf", "not"])
def test_depth(keyword: str) -> None:
    """Schemas may be 128 deep; deeper ones are refused with the place, whatever nests them."""
    from_json_schema(nested(128, keyword))
    for depth in (129, 5000):
        with pytest.raises(OptionsError, match=f"^#/{keyword}/.*: .*nested deeper than 128") as caught:
            from_json_schema(nested(depth, keyword))
        assert len(str(caught.value)) < 200


def test_depth_of_what_is_no_schema() -> None:
    """Constants, and what no keyword leads to, cannot be bottomless either."""
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for keyword in ("const", "x-unknown"):
        with pytest.raises(OptionsError, match=f"^#/{keyword}/0/0/.*nested deeper"):
            from_json_schema({keyword: deep})
    circle: dict[str, Any] = {}
    circle["items"] = circle
    with pytest.raises(OptionsError, match="nested deeper"):
        from_json_schema(circle)
    while isinstance(deep, list):  # by hand: freeing this many lists at once would go too deep
        deep = deep.pop()


# Large schemas


def chain(length: int, link: Any, end: Any) -> Any:
    """Definitions that each refer to the next one."""
    definitions = {f"d{at}": link(f"#/$defs/d{at + 1}", at) for at in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{length}": end}}


def test_long_chains() -> None:
    """References of references go to any length: no recursion, and no work that grows faster than they do."""
    assert is_accepted(chain(2000, lambda ref, at: {"$ref": ref}, INTEGER), 1)
    assert first_invalid(chain(2000, lambda ref, at: {"$ref": ref}, INTEGER), '"a"')[0] == '"'
    through = chain(2000, lambda ref, at: {"properties": {"a": {"$ref": ref}}}, INTEGER)
    assert first_invalid(through, '{"a":{"a":{"a":1}}}') == ("", "", "")
    wide = chain(
        2000, lambda ref, at: {"allOf": [{"$ref": ref}], "properties": {f"p{at}": STRING}}, {"required": ["a"]}
    )
    assert first_invalid(wide, '{"p999":[1]}') == ('{"p999":[', "$.p999", "wrong_kind")
    choices = chain(500, lambda ref, at: {"anyOf": [{"$ref": ref}, {"type": "null"}]}, INTEGER)
    assert is_accepted(choices, 1)
    assert not is_accepted(choices, "a")
    doubled = chain(500, lambda ref, at: {"anyOf": [{"$ref": ref}, {"$ref": ref}]}, INTEGER)
    from_json_schema(doubled)  # jsonschema_rs would try 2 ** 500 ways for a value that does not fit


def test_large_enums() -> None:
    """Very many listed strings are still looked up by their letters."""
    names = [f"name {at:06}" for at in range(100_000)]
    for schema in ({"enum": names}, {"anyOf": [{"const": name} for name in names[:5000]]}):
        assert first_invalid(schema, '"name 00499x"')[0] == '"name 00499x'
        assert first_invalid(schema, '"name 004999"') == ("", "", "")


def test_sets_of_schemas_are_bounded() -> None:
    """Schemas that combine in ever more ways are judged as a whole beyond some number, with the same verdict."""
    size = 40  # under "a" one more of the definitions holds each time, and all of them move on: 2 ** size sets
    definitions: Any = {
        f"m{at}": {"properties": {key: {"$ref": f"#/$defs/m{at + 1}"} for key in "ab"}} for at in range(1, size)
    }
    definitions["m0"] = {
        "properties": {
            "a": {"allOf": [{"$ref": "#/$defs/m0"}, {"$ref": "#/$defs/m1"}]},
            "b": {"$ref": "#/$defs/m0"},
        }
    }
    definitions[f"m{size}"] = {"type": "integer"}
    schema = {"$ref": "#/$defs/m0", "$defs": definitions}
    verdicts: set[bool] = set()
    for depth in (3, size - 1, size, size + 1):
        for end in (1, "x"):
            value: Any = end
            for at in range(depth):
                value = {"ab"[at % 2]: value}
            verdicts.add(is_accepted(schema, value))
    assert verdicts == {True, False}


def test_choices_beside_choices_are_bounded() -> None:
    """Many choices by a constant, all at once: those that are not too many are made on the way."""
    schema = {"allOf": [{"oneOf": [{"properties": {f"k{at}": {"const": tag}}} for tag in "abc"]} for at in range(9)]}
    tags = {f"k{at}": "abc"[at % 3] for at in range(9)}
    assert is_accepted(schema, tags)
    assert not is_accepted(schema, {**tags, "k8": "d"})
    assert not is_accepted(schema, {"k0": "a"})


# What is used


def test_the_schema_is_copied() -> None:
    """Later changes of the dict do not matter."""
    schema: Any = {"properties": {"a": {"not": {"type": "string"}}}, "$defs": {"b": {}}}
    kept = copy.deepcopy(schema)
    shape = from_json_schema(schema)
    assert schema == kept
    schema["properties"]["a"]["not"].clear()
    schema.clear()
    assert isinstance(steps(shape, '{"a":1}')[-1], Complete)
    assert isinstance(steps(shape, '{"a":"1"}')[-1], Invalid)


WITHOUT = """
import sys
sys.path.insert(0, {folder!r})
from unspool import create_state, parse_chunk
from unspool.typed import resolve
from unspool.typed import from_json_schema
schema = {{
    "type": "object",
    "properties": {{"a": {{"enum": ["x", None]}}, "b": {{"anyOf": [{{"type": "integer"}}, {{"$ref": "#"}}]}}}},
    "required": ["a"],
    "additionalProperties": {{"items": {{"oneOf": [{{"const": "y"}}, {{"const": "z"}}]}}, "maxItems": 3}},
}}
state = parse_chunk(create_state(), '{{"a": "x", "b": {{"a": null}}, "c": ["y"]}}')
resolution, cache = resolve(from_json_schema(schema), state)
assert resolution.is_complete, resolution
assert "jsonschema_rs" not in sys.modules
from_json_schema({{"minimum": 1}})
assert "jsonschema_rs" in sys.modules
"""


def test_nothing_is_imported_before_it_is_used() -> None:
    """Structure needs no jsonschema_rs; the first keyword that does imports it."""
    folder = str(FilePath(str(unspool.__file__)).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(folder=folder)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jsonschema_rs the error says what to install."""
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    from_json_schema({"type": "object", "properties": {"a": STRING}})
    with pytest.raises(ImportError, match=r"unspool\[jsonschema\]"):
        from_json_schema({"minimum": 1})


# Reasons


def in_an_array(d: int) -> str:
    """A number inside of many arrays."""
    return "[" * d + "1" + "]" * d


TWICE: Any = {"$defs": {"node": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/node"}}] * 2}}}


@pytest.mark.parametrize(
    ("schema", "form", "path"),
    [
        ({**TWICE, "$ref": "#/$defs/node"}, "{}", "$"),
        ({**TWICE, "oneOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}, "{}", "$"),
        ({**TWICE, "if": True, "then": {"properties": {"a": {"$ref": "#/$defs/node"}}}}, '{{"a": {}}}', "$.a"),
        ({**TWICE, "allOf": [{"type": "array"}, {"minItems": 0, "$ref": "#/$defs/node"}]}, "{}", "$"),
        (
            {
                "if": True,
                "then": {"$ref": "#/$defs/node"},
                "$defs": {"node": {"allOf": [{"items": {"$ref": "#"}}] * 2}},
            },
            '[{{"a": 1}}, {}]',
            None,
        ),
    ],
)
def test_the_reasons_of_a_recursive_union(
    monkeypatch: pytest.MonkeyPatch, schema: Any, form: str, path: str | None
) -> None:
    """The number of questions does not grow with the depth of the value, although the branches double per level."""
    asked: list[object] = []
    accepts = SchemaJudge.accepts

    def counting(self: SchemaJudge, value: object) -> bool:
        asked.append(value)
        return accepts(self, value)

    monkeypatch.setattr(SchemaJudge, "accepts", counting)
    shape = from_json_schema(schema)
    counts: list[int] = []
    for depth in (4, 17, 100):
        asked.clear()
        last = resolve(shape, parse_chunk(create_state(), form.format(in_an_array(depth))))[0]
        assert isinstance(last, Invalid) is (path is not None)
        assert [str(problem.path) for problem in last.problems] == ([] if path is None else [path])
        counts.append(len(asked))
    assert max(counts) <= 40
    assert counts[1] == counts[2]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"items": {"type": "string"}}, json.dumps([1] * 1000)),
        ({"propertyNames": {"pattern": "^x"}}, json.dumps(dict.fromkeys(map(str, range(1000))))),
        ({"required": list(map(str, range(1000)))}, "{}"),
        ({"allOf": [{"items": {"anyOf": [{"type": "string"}]}}] * 50}, json.dumps([1] * 1000)),
    ],
)
def test_reasons_are_bounded(monkeypatch: pytest.MonkeyPatch, schema: Any, text: str) -> None:
    """Few problems take few questions, however many there are."""
    asked: list[object] = []
    accepts = SchemaJudge.accepts

    def counting(self: SchemaJudge, value: object) -> bool:
        asked.append(value)
        return accepts(self, value)

    monkeypatch.setattr(SchemaJudge, "accepts", counting)
    last = steps(from_json_schema({"if": True, "then": schema}), text)[-1]
    assert 1 <= len(last.problems) <= 8
    assert len(asked) <= 60


@pytest.fixture
def explaining(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The values that explanations ask about. The verdict itself does not go through `accepts`."""
    asked: list[object] = []
    accepts = SchemaJudge.accepts

    def counting(self: SchemaJudge, value: object) -> bool:
        asked.append(value)
        return accepts(self, value)

    monkeypatch.setattr(SchemaJudge, "accepts", counting)
    return asked


ROW: Any = {"if": True, "then": {"allOf": [{"properties": {"v": {"type": "string"}}}, *[{"minProperties": 1}] * 20]}}


def rows(count: int) -> str:
    """Return an array of rows that all have the same fault."""
    return json.dumps([{"k": number, "v": number} for number in range(count)])


def test_the_first_100_problems_of_a_text_are_explained(explaining: list[object]) -> None:
    """After 100 problems, an invalid value is one problem, without a reason, and takes no questions."""
    shape = from_json_schema({"items": ROW})
    counts: list[int] = []
    for count in (100, 101, 3000):
        explaining.clear()
        last = resolve(shape, parse_chunk(create_state(), rows(count)))[0]
        explained, others = last.problems[:100], last.problems[100:]
        assert [(str(one.path), one.code) for one in explained] == [(f"$[{at}].v", "type") for at in range(100)]
        assert [(str(one.path), one.code) for one in others] == [(f"$[{at}]", "invalid") for at in range(100, count)]
        counts.append(len(explaining))
    assert 100 < counts[0] == counts[1] == counts[2] < 100 * 40


@pytest.mark.parametrize("form", ["{}", '{{"days": {}}}', '{{"days": [[], {}]}}', '[{{"v": "", "w": 1}}, {}]'])
def test_the_same_problems_are_explained_however_the_text_is_cut(form: str) -> None:
    """The number of problems before a value decides, at any depth, and not the fragments or the cache."""
    schema = {
        "anyOf": [{"type": ["object", "array"]}],
        "if": {"required": ["k"]},
        "then": ROW["then"],
        "additionalProperties": {"$ref": "#"},
        "items": {"$ref": "#"},
        "$defs": {"v": True},
    }
    schema["properties"] = {"k": True, "v": True, "w": {"type": "string"}}
    shape, text = from_json_schema(schema), form.format(rows(110))
    state = create_state()
    resolution, cache = resolve(shape, state)
    for start in range(0, len(text), 7):
        state = parse_chunk(state, text[start : start + 7])
        resolution, cache = resolve(shape, state, cache)
        if start % 70 == 0 or start + 7 >= len(text):
            assert resolution.problems == resolve(shape, state)[0].problems
    codes = [problem.code for problem in resolution.problems]
    assert codes.count("invalid") in (10, 11)
    assert "invalid" not in codes[:100]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"allOf": [{"items": {"anyOf": [{"type": "integer"}]}}] * 50, "maxItems": 3}, [1] * 900),
        (
            {"patternProperties": {f"^{at}x": False for at in range(50)}, "maxProperties": 3},
            {str(k): 1 for k in range(900)},
        ),
        ({"prefixItems": [True], "allOf": [{"items": False}]}, [1] * 900),
    ],
)
def test_the_walk_through_the_children_is_bounded(
    monkeypatch: pytest.MonkeyPatch, explaining: list[object], schema: Any, value: Any
) -> None:
    """All explanations of a text together visit a bounded number of children, the first ones the most."""
    monkeypatch.setattr(problems, "MAX_STEPS", 100)
    for count in (1, 20):
        explaining.clear()
        shape = from_json_schema({"items": {"if": True, "then": schema}})
        last = resolve(shape, parse_chunk(create_state(), json.dumps([value] * count)))[0]
        assert len(last.problems) >= count
        assert len(explaining) < 100 * (1 + count.bit_length()) + 40 * count


def test_a_fault_behind_the_bound_is_a_problem_of_its_container(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the walk ends before the wrong child, the container is the problem; the verdict stays."""
    monkeypatch.setattr(problems, "MAX_STEPS", 100)
    shape = from_json_schema({"if": True, "then": {"items": {"type": "integer"}}})
    for at, path in ((40, "$[40]"), (60, "$")):
        last = resolve(shape, parse_chunk(create_state(), json.dumps([1] * at + ["a"])))[0]
        assert [str(problem.path) for problem in last.problems] == [path]


def test_ignored_elements_are_not_explained(explaining: list[object]) -> None:
    """`items` leaves invalid elements out without looking for reasons that no caller sees."""
    assert list(items(ROW, rows(50), on_invalid="ignore")) == []
    assert not explaining
    with pytest.raises(InvalidError, match=r"type: \$\[0\]\.v"):
        list(items(ROW, rows(50)))
    assert explaining


def test_reasons_are_those_of_the_library() -> None:
    """Every problem of a value that is judged as a whole is one that jsonschema-rs lists, with its path and code."""
    compared = 0
    for case in CASES:
        if "$" in json.dumps(case.type):  # references would lead elsewhere
            continue
        shape = from_json_schema({"if": True, "then": case.type})
        judge: Any = jsonschema_rs.validator_for(case.type)
        for make in case.faults.values():
            value = make(Random(case.name))
            listed = {
                (*error.instance_path, error.kind.property, "missing")
                if error.kind.name == "required"
                else (*error.instance_path, error.kind.name)
                for error in judge.iter_errors(value)
            }
            last = resolve(shape, parse_chunk(create_state(), json.dumps(value)))[0]
            if last.invalid is not None:
                assert {(*one.path.steps, one.code) for one in last.problems} <= listed, case.name
                compared += 1
    assert compared > 50


# Circles


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"$ref": "#"}, "#/$ref"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "#/$defs/a/$ref"),
        ({"allOf": [{"$ref": "#"}]}, "#/allOf/0/$ref"),
        (
            {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"minLength": 1, "$ref": "#/$defs/a"}}},
            "#/$defs/a/$ref",
        ),
        ({"$dynamicRef": "#a", "$dynamicAnchor": "a"}, "#/$dynamicRef"),
        ({"anyOf": [{"type": "string"}, {"not": {"$ref": "#"}}]}, "#/anyOf/1/not/$ref"),
        ({"dependentSchemas": {"a": {"if": {}, "else": {"$ref": "#"}}}}, "#/dependentSchemas/a/else/$ref"),
    ],
)
def test_a_reference_that_leads_back_to_itself(schema: Any, place: str) -> None:
    """A circle of references at the same place of a value is refused, with its place in the schema."""
    with pytest.raises(OptionsError) as refused:
        from_json_schema(schema)
    assert str(refused.value) == f"{place}: the reference leads back to itself and describes no value"


def test_a_reference_that_leads_into_the_value() -> None:
    """A schema may contain itself where each round goes one level deeper, also inside of choices."""
    for schema in (
        {"items": {"$ref": "#"}},
        {"allOf": [{"properties": {"a": {"$ref": "#"}}}]},
        {"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": [{"items": {"$ref": "#"}}]}}},
    ):
        from_json_schema(schema)
