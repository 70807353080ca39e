"""The material of the law about types: what it calls valid is accepted by each type's own judge, the rest refused."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import msgspec
import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support import models, schemas, structs
from tests.support.instances import ABSENT, Case, append, change, fields, integer, listed, lose, one_of, put
from tests.support.model_counted import CALLS, reset_calls
from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ZOO: dict[str, list[Case]] = {"pydantic": models.CASES, "msgspec": structs.CASES, "jsonschema": schemas.CASES}
EVERY = [pytest.param(kind, case, id=f"{kind}: {case.name}") for kind, cases in ZOO.items() for case in cases]
INSTANCES = 60  # of each type, valid and invalid each


def judge_of(kind: str, case: Case) -> Callable[[str], bool]:
    """Whether a text is accepted, as the owner of the type sees it."""
    if kind == "pydantic":
        adapter = TypeAdapter(case.type)
        return lambda text: not raises(ValidationError, adapter.validate_json, text)
    if kind == "msgspec":
        decoder = msgspec.json.Decoder(case.type)
        return lambda text: not raises(msgspec.ValidationError, decoder.decode, text)
    validator = jsonschema_rs.validator_for(case.type)
    return lambda text: bool(validator.is_valid(json.loads(text)))


def raises(error: type[Exception], function: Callable[[str], object], text: str) -> bool:
    try:
        function(text)
    except error:
        return True
    return False


def valid_texts(case: Case, count: int = INSTANCES) -> list[str]:
    return [json.dumps(case.valid(Random(f"{case.name} {seed}"))) for seed in range(count)]


def invalid_texts(case: Case, count: int = INSTANCES) -> Iterator[tuple[str, str]]:
    """(reason, text): each reason as often as the others."""
    for reason, make in case.faults.items():
        for seed in range(-(-count // len(case.faults))):
            yield reason, json.dumps(make(Random(f"{case.name} {reason} {seed}")))


def containers(value: Any) -> Iterator[Any]:
    """All objects and arrays in a value, itself included."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, dict | list):
            yield value
            values += value.values() if isinstance(value, dict) else value


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_valid_instances_are_accepted(kind: str, case: Case) -> None:
    """Whatever a generator of valid instances makes, the owner of the type accepts."""
    accepts = judge_of(kind, case)
    assert [text for text in valid_texts(case) if not accepts(text)] == []


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_invalid_instances_are_refused(kind: str, case: Case) -> None:
    """The library of the type refuses the text of each fault: no fault is harmless by chance."""
    accepts = judge_of(kind, case)
    assert [(reason, text) for reason, text in invalid_texts(case) if accepts(text)] == []
    assert not accepts(json.dumps(case.invalid(Random(0))))


@pytest.mark.parametrize("kind", ZOO)
def test_names_are_unique(kind: str) -> None:
    """A name is enough to find a case again, and there are as many as the law asks for."""
    counts = Counter(case.name for case in ZOO[kind])
    assert [name for name, count in counts.items() if count > 1] == []
    assert len(counts) >= {"pydantic": 30, "msgspec": 12, "jsonschema": 25}[kind]


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_a_seed_says_it_all(kind: str, case: Case) -> None:
    """The same seed gives the same instance, though what was given out before has been changed since."""
    del kind
    for make in (case.valid, *case.faults.values()):
        first = make(Random(7))
        text = json.dumps(first)
        for container in list(containers(first)):
            container.clear()
        assert json.dumps(make(Random(7))) == text


def digest() -> str:
    """What is made for a few seeds, in short."""
    whole = hashlib.sha256()
    for cases in ZOO.values():
        for case in cases:
            for text in [*valid_texts(case, 3), *(text for _, text in invalid_texts(case, 1))]:
                whole.update(text.encode())
    return whole.hexdigest()


def test_a_seed_says_it_all_in_another_process() -> None:
    """No hash of an object, and no order of a set, has a hand in it."""
    program = "from tests.typed.test_model_zoo import digest; print(digest())"
    environment = {**os.environ, "PYTHONHASHSEED": "1234", "PYTHONPATH": os.pathsep.join(["src", *sys.path])}
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == digest()


# What the material reaches


@pytest.mark.parametrize("kind", ZOO)
def test_hard_instances_are_reached(kind: str) -> None:
    """Empty containers, nulls, escapes, characters of all widths, keys in several orders, long and short texts."""
    texts = [text for case in ZOO[kind] for text in valid_texts(case)]
    whole = "\n".join(texts)
    for wanted in ("{}", "[]", "null", '""', r"\"", r"\\", r"\n", r"\u0000", r"\u00e9", r"\ud83d", r"\u2028"):
        assert wanted in whole
    assert min(map(len, texts)) < 10
    assert max(map(len, texts)) > 800


@pytest.mark.parametrize(("kind", "name", "optional"), [("pydantic", "trip", "tags"), ("msgspec", "struct", "nick")])
def test_objects_vary(kind: str, name: str, optional: str) -> None:
    """The order of keys, which of the optional ones are there, and what is there beside them."""
    (case,) = (case for case in ZOO[kind] if case.name == name)
    orders = {tuple(json.loads(text)) for text in valid_texts(case)}
    assert len(orders) > len({frozenset(order) for order in orders}) > 5
    assert {optional in order for order in orders} == {True, False}
    assert any("é" in order for order in orders)


def kinds_of_schema(schema: Any) -> Iterator[str]:
    """The names of all the parts a core schema is made of."""
    parts: list[Any] = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            if isinstance(part.get("type"), str):
                yield part["type"]
            # What belongs to writing says nothing about reading, and no metadata or default is a schema.
            parts += [value for key, value in part.items() if key not in {"serialization", "metadata", "default"}]
        elif isinstance(part, list | tuple):
            parts += part


def test_all_kinds_of_pydantic_types_are_reached() -> None:
    """Each part of the types in the documentation is in some case."""
    met = {kind for case in models.CASES for kind in kinds_of_schema(TypeAdapter(case.type).core_schema)}
    wanted = """
        any none bool int float decimal str bytes date time datetime timedelta uuid url literal enum
        list tuple set frozenset deque dict nullable default union tagged-union definitions definition-ref
        model model-fields model-field dataclass dataclass-args dataclass-field typed-dict typed-dict-field named-tuple
        function-before function-after function-wrap function-plain computed-field lax-or-strict json-or-python chain
    """
    assert set(wanted.split()) - met == set()


def test_all_keywords_of_schemas_are_reached() -> None:
    """Each supported keyword is in some schema, and one unknown keyword, too."""
    met = {key for case in schemas.CASES for part in containers(case.type) if isinstance(part, dict) for key in part}
    wanted = """
        $schema $id $ref $defs $anchor definitions type enum const properties required additionalProperties
        patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas dependencies
        unevaluatedProperties items prefixItems additionalItems minItems maxItems uniqueItems contains minContains
        maxContains minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
        allOf anyOf oneOf not if then else nullable minimun
    """
    assert set(wanted.split()) - met == set()


# Counting


@pytest.mark.parametrize("case", [case for case in models.CASES if case.counted], ids=str)
def test_what_is_validated_once_is_counted_once(case: Case) -> None:
    """Pydantic itself calls each validator once per input, so further calls would be the library's."""
    adapter = TypeAdapter(case.type)
    most = 0
    for text in valid_texts(case):
        reset_calls()
        adapter.validate_json(text)
        assert set(CALLS.values()) <= {1}
        most = max(most, len(CALLS))
        adapter.validate_json(text)
        assert set(CALLS.values()) <= {2}
    assert most >= 5


@pytest.mark.parametrize("case", [case for case in structs.CASES if case.counted], ids=str)
def test_what_is_made_once_is_counted_once(case: Case) -> None:
    """The same for msgspec, which calls what is there to be called after an instance is made."""
    decoder = msgspec.json.Decoder(case.type)
    most = 0
    for text in valid_texts(case):
        structs.MADE.clear()
        decoder.decode(text)
        assert set(structs.MADE.values()) == {1}
        assert len(structs.MADE) == text.count('"label"')
        most = max(most, len(structs.MADE))
    assert most >= 5


# The tools


def test_a_place_is_spoiled_and_nothing_else() -> None:
    """Replaced, lost and appended members are in their places; the order of the rest stays."""
    base = one_of({"a": [1, 2], "b": {"c": 3}, "d": 4})
    assert put(base, "a", 1, bad=one_of("x"))(Random(0)) == {"a": [1, "x"], "b": {"c": 3}, "d": 4}
    assert list(put(base, "b", bad=one_of("x"))(Random(0))) == ["a", "b", "d"]
    assert append(base, "a", bad=one_of("x"))(Random(0))["a"] == [1, 2, "x"]
    assert lose(base, "b", "c")(Random(0)) == {"a": [1, 2], "b": {}, "d": 4}
    assert change(base, lambda made: made.pop("d"))(Random(0)) == {"a": [1, 2], "b": {"c": 3}}
    added = [list(put(base, "new", bad=one_of(ABSENT))(Random(seed))).index("new") for seed in range(40)]
    assert set(added) == {0, 1, 2, 3}


def test_a_place_that_is_never_there_is_told() -> None:
    """A fault that cannot be made is an error of the material, not an instance without a fault."""
    empty = fields({"a": listed(integer(), 0, 0)})
    for make in (lose(empty, "b"), put(empty, "a", 0, bad=integer()), append(empty, "b", bad=integer())):
        with pytest.raises(LookupError, match="no instance"):
            make(Random(0))
