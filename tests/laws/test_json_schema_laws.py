"""Law 18 for JSON Schema: known schemas with random instances, and schemas that are random themselves.

The judge is jsonschema_rs on the whole document: never Invalid on a prefix of what it accepts, at the end its verdict,
cached equal to fresh, and what is shown only grows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import schemas
from unspool import create_state, finalize, parse_chunk
from unspool.typed import Complete, Missing, from_json_schema, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.instances import Case
    from unspool.typed import Resolution, Shape

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
SHARES: dict[str, list[float]] = defaultdict(list)


def told(resolution: Resolution[object]) -> tuple[object, ...]:
    return type(resolution), resolution.value, resolution.problems


def check(shape: Shape, is_valid: bool, value: Any, *, ascii_only: bool = True, early: bool = False) -> float:
    """The law for one instance, cut at each character. Gives the share of the text at which it was known to be wrong.

    With `early`, a listed string is shown before its end, and may be wrong in the end: then it is gone.
    """
    text = json.dumps(value, ensure_ascii=ascii_only)
    state, cache, wrong_at, before = create_state(), None, None, None
    resolution: Resolution[object]
    for at, character in enumerate(text):
        state = parse_chunk(state, character)
        resolution, cache = resolve(shape, state, cache)
        if resolution.invalid is not None:
            wrong_at = at + 1 if wrong_at is None else wrong_at
        else:
            assert wrong_at is None, text[: at + 1]
            if not isinstance(resolution, Missing):
                assert early or before is None or grew(before[0], resolution.value), text[: at + 1]
                before = [resolution.value]
        if at % 7 == 0:
            assert told(resolve(shape, state)[0]) == told(resolution)
    state = finalize(state)
    resolution, cache = resolve(shape, state, cache)
    assert told(resolve(shape, state)[0]) == told(resolution)
    assert isinstance(resolution, Complete) is is_valid, (text, resolution)
    if is_valid:
        assert wrong_at is None, text[:wrong_at]
        assert json.dumps(resolution.value) == json.dumps(value)
        return 1.0
    assert resolution.invalid is not None
    return 1.0 if wrong_at is None else wrong_at / len(text)


def grew(before: Any, after: Any) -> bool:
    """Shown values stay: strings and arrays may grow, and objects may get more keys."""
    if isinstance(before, str) and isinstance(after, str):
        return after.startswith(before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) <= len(after) and all(map(grew, before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and grew(value, after[key]) for key, value in before.items())
    return type(before) is type(after) and bool(before == after)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("case", schemas.CASES, ids=str)
def test_law_18_known_schemas(case: Case, early: bool) -> None:
    """Law 18, for random valid and invalid instances of each of the schemas."""
    shape = from_json_schema(case.type, early=early)
    judge = jsonschema_rs.validator_for(case.type)
    for seed in range(25):
        random = Random(f"{case.name} {seed}")
        value = case.valid(random)
        assert judge.is_valid(value)
        check(shape, True, value, ascii_only=random.random() < 0.5)
        for fault in case.faults.values():
            value = fault(random)
            assert not judge.is_valid(value)
            share = check(shape, False, value, ascii_only=random.random() < 0.5, early=early)
            SHARES[case.name].append(share)


def test_how_early_invalid_came(capsys: pytest.CaptureFixture[str]) -> None:
    """For what is wrong: the share of the document that had been read when it was known. Never more than all of it."""
    if not SHARES:
        pytest.skip("no instances were judged in this process")
    with capsys.disabled():
        print("\n\nInvalid came after this share of the document (mean over random faults):")
        for name, shares in sorted(SHARES.items(), key=lambda item: sum(item[1]) / len(item[1])):
            print(f"  {sum(shares) / len(shares):4.0%}  {name}")
        every = [share for shares in SHARES.values() for share in shares]
        print(f"  {sum(every) / len(every):4.0%}  all, {len(every)} documents")
    assert all(0 < share <= 1 for shares in SHARES.values() for share in shares)


# Random schemas

NAMES = ["a", "b", "c", "ab"]
VALUES: list[list[Any]] = [["a", "b", "ab", "abc", "", "aab"], [0, 1, 2, 1.0, 0.5, -1], [True, False], [None], ["a", 1]]
LEAVES: list[Any] = [
    *(True, False, {}, {"type": "string"}, {"type": "integer"}, {"type": "object"}, {"type": ["string", "null"]}),
    *({"const": "a"}, {"const": "ab"}, {"const": 1}, {"enum": ["a", "ab", None]}, {"enum": [1, True, {"a": 1}, [1]]}),
]
SMALL: dict[str, list[dict[str, Any]]] = {
    "type": [{"type": one} for one in ("object", "array", "string", "integer", "number")]
    + [{"type": ["object", "null"]}, {"type": ["string", "array", "object"]}, {"type": ["integer", "boolean"]}],
    "bounds": [{"minimum": 1}, {"maximum": 2}, {"exclusiveMinimum": 0}, {"multipleOf": 0.5}],
    "text": [{"minLength": 1}, {"maxLength": 2}, {"pattern": "^a"}, {"format": "date"}],
    "sizes": [{"minItems": 1}, {"maxItems": 2}, {"minProperties": 1}, {"maxProperties": 2}, {"uniqueItems": True}],
    "required": [{"required": ["a"]}, {"required": ["b", "c"]}],
    "listed": [{"enum": ["a", "b", 1]}, {"const": {"a": 1}}, {"enum": [None, "abc", "ab", 0]}],
}
ONE = ["items", "additionalProperties", "propertyNames", "not", "contains", "if", "then", "else"]
ONLY_2020 = ["unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "prefixItems"]
ONLY_7 = ["items of places", "additionalItems"]
MANY = ["properties", "patternProperties", "allOf", "anyOf", "oneOf", "by constant", "nullable", "$ref", "dependencies"]


def random_value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(7 if depth < 3 else 5)
    if kind == 5:
        return [random_value(random, depth + 1) for _ in range(random.randrange(4))]
    if kind == 6:
        return {name: random_value(random, depth + 1) for name in random.sample(NAMES, random.randrange(4))}
    return random.choice(VALUES[kind])


def random_schema(random: Random, depth: int, draft: int, references: list[str]) -> Any:
    if depth == 0 or random.random() < 0.1:
        return random.choice([*LEAVES, {"$ref": random.choice(references)}])
    keywords = [*SMALL, *ONE, *MANY, *MANY, *(ONLY_7 if draft == 7 else ONLY_2020)]

    def inner() -> Any:
        return random_schema(random, depth - 1, draft, references)

    schema: dict[str, Any] = {}
    for keyword in random.sample(keywords, random.randint(1, 5)):
        if keyword in SMALL:
            schema.update(random.choice(SMALL[keyword]))
        elif keyword == "properties":
            schema[keyword] = {name: inner() for name in random.sample(NAMES, 2)}
        elif keyword == "patternProperties":
            schema[keyword] = {pattern: inner() for pattern in random.sample(["^a", "b$", "c", "."], 2)}
        elif keyword == "dependentSchemas" or keyword == "dependencies":
            schema[keyword] = {"a": inner() if random.random() < 0.7 or keyword == "dependentSchemas" else ["b"]}
        elif keyword in {"allOf", "anyOf", "oneOf", "prefixItems"}:
            schema[keyword] = [inner() for _ in range(random.randint(1, 3))]
        elif keyword == "items of places":
            schema["items"] = [inner(), inner()]
        elif keyword == "nullable":
            schema["anyOf"] = [inner(), {"type": "null"}]
        elif keyword == "$ref":
            schema["$ref"] = random.choice(references)
        elif keyword == "by constant":
            schema[random.choice(["anyOf", "oneOf"])] = random_branches(random, inner)
        else:
            schema[keyword] = random.choice([inner(), False]) if keyword in ONE[:2] else inner()
    return schema


def random_branches(random: Random, inner: Callable[[], Any]) -> list[Any]:
    """A choice that the value of some key decides, or nearly: constants may be equal, the key may be absent."""
    key, other = random.sample(NAMES, 2)
    tags = random.choices(["a", "b", "ab", 1, True, None], k=3)
    branches: list[Any] = []
    for tag in tags:
        branch: dict[str, Any] = {"properties": {key: {"const": tag}, other: inner()}}
        if random.random() < 0.7:
            branch["required"] = [key]
        if random.random() < 0.7:
            branch["type"] = "object"
        branches.append(branch)
    return branches


def random_document(random: Random) -> dict[str, Any]:
    draft = random.choice([7, 2020])
    where = "definitions" if draft == 7 or random.random() < 0.3 else "$defs"
    references = ["#", *[f"#/{where}/d{at}" for at in range(3)]]
    schema = random_schema(random, 3, draft, references)
    document = schema if isinstance(schema, dict) else {"allOf": [schema]}
    document = {**document, where: {f"d{at}": random_schema(random, 2, draft, references) for at in range(3)}}
    return {"$schema": DRAFT_7, **document} if draft == 7 else document


def is_endless(document: dict[str, Any]) -> bool:
    """A reference leads back to itself without passing a property or an item: no validator has to bear that."""

    def target(reference: str) -> Any:
        place: Any = document
        for step in reference.split("/")[1:]:
            place = place[step]
        return place

    def beside(schema: dict[str, Any]) -> list[Any]:
        found = [target(schema["$ref"])] if "$ref" in schema else []
        for keyword in ("allOf", "anyOf", "oneOf"):
            found += schema.get(keyword, [])
        found += [schema[keyword] for keyword in ("not", "if", "then", "else") if keyword in schema]
        for keyword in ("dependentSchemas", "dependencies"):
            found += schema.get(keyword, {}).values()
        return [one for one in found if isinstance(one, dict)]

    def leads_back(schema: dict[str, Any], around: tuple[int, ...], done: set[int]) -> bool:
        if id(schema) in around:
            return True
        if id(schema) in done:
            return False
        done.add(id(schema))
        return any(leads_back(one, (*around, id(schema)), done) for one in beside(schema))

    def everywhere(value: Any) -> list[dict[str, Any]]:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        own = [value] if isinstance(value, dict) else []
        return own + [one for item in inner for one in everywhere(item)]

    return any(leads_back(schema, (), set()) for schema in everywhere(document))


@given(st.integers(0, 2**32))
def test_law_18_random_schemas(seed: int) -> None:
    """Law 18, for schemas that combine all keywords at random."""
    judged = 0
    for part in range(200):
        random = Random(f"{seed} {part}")
        document = random_document(random)
        if is_endless(document):
            continue
        judge = jsonschema_rs.validator_for(document, offline=True)
        shape = from_json_schema(document)
        for _ in range(6):
            value = random_value(random)
            check(shape, judge.is_valid(value), value)
        judged += 1
        if judged == 5:
            break
    assert judged == 5


def test_random_schemas_reach_all_verdicts() -> None:
    """The random schemas are worth trying: a good part of the values fits, a good part does not, also at once."""
    accepted = refused = at_once = 0
    for seed in range(300):
        random = Random(seed)
        document = random_document(random)
        if is_endless(document):
            continue
        judge, shape = jsonschema_rs.validator_for(document, offline=True), from_json_schema(document)
        for _ in range(4):
            value = random_value(random)
            if judge.is_valid(value):
                accepted += 1
            else:
                refused += 1
                at_once += check(shape, False, value) < 0.5
    assert min(accepted, refused) > 250
    assert at_once > 100
