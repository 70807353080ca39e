"""A text and a type: never Invalid on the way to what the type accepts, and at the end its verdict (law 18).

The types are JSON Schemas, and pydantic types with the options of a call: `strict`, `context`, `empty` and `early`. The
first byte chooses the type, the second where the text is cut, the third the options. The last choices are random types
whose validators watch for half-filled values (law 59). What was complete stays complete (law 58). The patches of
`iter_changes` build the same document as those of the whole text, and no path is completed before it is (laws 60, 61).
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema_rs
from pydantic import TypeAdapter, ValidationError

from tests.laws.test_laws_judged import has_two_names, paths_of
from tests.support import models
from tests.support.model_random import WorseError, random_type
from tests.support.schemas import CASES
from tests.typed.test_calls import Counted
from unspool import Options, create_state, finalize, parse_chunk
from unspool.patch import apply
from unspool.typed import Complete, InvalidError, from_json_schema, iter_changes, iter_partial, partial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.instances import Case
    from unspool.typed import Resolver

OPTIONS = Options(duplicate_keys="error", surrogates="error")  # law 18 does not hold for keys that come twice
TYPES: list[Case] = [*CASES, *models.CASES]
UNWRITABLE = {"own schema", "by name only"}  # Pydantic cannot write the values, or writes other names
STRICT = [None, True, False]
RANDOM = 256 - len(TYPES) - 1  # the other numbers that one byte has
CONTEXTS: list[Any] = [None, {}, {"least": 2, "end": "!"}, {"most": 3}]


def decode(data: bytes) -> tuple[int, int, int, str]:
    """The number of the type, where to cut, the options, and the text."""
    choice, place, options = (*data[:3], 0, 0, 0)[:3]
    text = data[3:].decode(errors="replace")
    return choice % (len(TYPES) + 1 + RANDOM), place * len(text) // 256, options, text


def seeds() -> Iterator[bytes]:
    """Instances of each type, good and bad."""
    for number, case in enumerate(TYPES):
        random = Random(case.name)
        for make in [case.valid, *case.faults.values()]:
            head = bytes([number, random.randrange(256), random.randrange(256)])
            yield head + json.dumps(make(random), ensure_ascii=False).encode()
    for options in range(16):
        text = '{"first": 2, "others": [1, 2], "by_name": {"a": 3}, "name": "b"}'
        yield bytes([len(TYPES), 100, options]) + text.encode()
    for number in range(len(TYPES) + 1, len(TYPES) + 1 + RANDOM):
        random = Random(number)
        _, make = random_type(random, 3)
        yield bytes([number, random.randrange(256), 0]) + json.dumps(make(random)).encode()


@cache
def judge(number: int, options: int) -> tuple[Resolver[Any], Callable[[str], bool], Any]:
    """A type as the library takes it, and as its own library judges it."""
    if number < len(CASES):
        schema = CASES[number].type
        validator: Any = jsonschema_rs.validator_for(schema)
        early = bool(options & 1)
        resolver: Resolver[Any] = partial(from_json_schema(schema, early=early))
        return resolver, lambda text: bool(validator.is_valid(json.loads(text))), None
    kind: Any = Counted if number == len(TYPES) else None
    if number != len(TYPES):
        kind = TYPES[number].type if number < len(TYPES) else random_type(Random(number), 3)[0]
    strict, context = STRICT[options % 3], CONTEXTS[options // 3 % 4]
    adapter = TypeAdapter[Any](kind)

    def accepts(text: str) -> bool:
        try:
            adapter.validate_json(text, strict=strict, context=context)
        except (ValidationError, WorseError):
            return False
        return True

    def errors(text: str) -> list[Any]:
        try:
            adapter.validate_json(text, strict=strict, context=context)
        except ValidationError as error:
            return [(one["loc"], one["type"], one["msg"]) for one in error.errors(include_input=False)]
        except WorseError:
            return [((), "validator_failed", "WorseError: ")]
        return []

    resolver = partial(
        adapter if options & 128 else kind,
        strict=strict,
        context=context,
        early=bool(options & 32),
        empty="containers" if options & 64 else None,
    )
    return resolver, accepts, errors


def check(data: bytes) -> None:
    """An exception is a finding."""
    number, place, options, text = decode(data)
    resolver, accepts, errors = judge(number, options)
    state, cache, was_invalid = create_state(OPTIONS), None, False
    complete: set[tuple[Any, ...]] = set()
    rest = text[place:]
    for index, fragment in enumerate((text[:place], *rest)):
        state = parse_chunk(state, fragment)
        resolution, cache = resolver.resolve(state, cache)
        if index % (len(rest) // 16 + 1) == 0:
            assert all(resolution.is_complete_at(path) for path in complete), "what is complete stays complete"
            complete = {path for path in paths_of(state.root) if resolution.is_complete_at(path)}
            assert "pending" not in {resolution.state_at(path) for path in paths_of(state.root)}
            assert resolution.get(lambda value: value) is resolution.value
        assert resolution.invalid is not None or not was_invalid, "what is invalid stays invalid"
        was_invalid = resolution.invalid is not None
    state = finalize(state)
    if state.error is not None:
        return
    resolution, _ = resolver.resolve(state, cache)
    fresh, _ = resolver.resolve(state)
    assert type(fresh) is type(resolution)
    assert fresh.problems == resolution.problems
    verdict = accepts(text)
    assert isinstance(resolution, Complete) is verdict, "not the verdict of the judge"
    assert not (was_invalid and verdict), "invalid on the way to what is valid"
    if number >= len(TYPES) or TYPES[number].name not in UNWRITABLE:
        check_changes(resolver, text, place, bool(has_two_names(state.root)))
    if errors is None:
        assert fresh.value == resolution.value
    elif not verdict:
        check_deferred(resolver, text, errors(text))


def check_changes(resolver: Resolver[Any], text: str, place: int, has_two: bool) -> None:
    """The document is the same however the text is cut, and nothing completes before it is complete."""
    documents: list[Any] = []
    for fragments in ([text], [text[:place], *text[place : place + 40], text[place + 40 :]]):
        document: Any = None
        for changes in iter_changes(resolver, fragments, OPTIONS, on_invalid="ignore"):
            document = apply(document, json.loads(json.dumps(changes.patch)))
            if changes.partial.invalid is None and not has_two:
                early = [path for path in changes.paths("completed") if changes.partial.state_at(path) == "growing"]
                assert early == [], "completed too early"
        documents.append(document)
    assert documents[0] == documents[1], "the document depends on the cut"


def check_deferred(resolver: Resolver[Any], text: str, expected: list[Any]) -> None:
    """At the end, all problems are those that pydantic lists."""
    found: list[Any] = []
    try:
        list(iter_partial(resolver, [text], OPTIONS, on_invalid="defer"))
    except InvalidError as error:
        found = [(one.loc, one.code, one.message) for one in error.problems]
    assert found == expected, "not the problems of pydantic"
