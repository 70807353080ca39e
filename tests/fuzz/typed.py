"""A text and a schema: never Invalid on the way to what the schema accepts, and at the end its verdict (law 18).

The first byte chooses the schema, the second where the text is cut.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from tests.support.schemas import CASES
from unspool import Options, create_state, finalize, parse_chunk
from unspool.typed import Complete, from_json_schema, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.typed import Shape

OPTIONS = Options(duplicate_keys="error", surrogates="error")  # law 18 does not hold for keys that come twice
JUDGES: list[tuple[Shape, Any]] = [
    (from_json_schema(case.type), jsonschema_rs.validator_for(case.type)) for case in CASES
]


def decode(data: bytes) -> tuple[int, int, str]:
    """The number of the schema, where to cut, and the text."""
    choice, place = (*data[:2], 0, 0)[:2]
    text = data[2:].decode(errors="replace")
    return choice % len(CASES), place * len(text) // 256, text


def seeds() -> Iterator[bytes]:
    """Instances of each schema, good and bad."""
    for number, case in enumerate(CASES):
        random = Random(case.name)
        for make in [case.valid, *case.faults.values()]:
            yield bytes([number, random.randrange(256)]) + json.dumps(make(random), ensure_ascii=False).encode()


def check(data: bytes) -> None:
    """An exception is a finding."""
    number, place, text = decode(data)
    shape, judge = JUDGES[number]
    state, cache, was_invalid = create_state(OPTIONS), None, False
    for fragment in (text[:place], *text[place:]):
        state = parse_chunk(state, fragment)
        resolution, cache = resolve(shape, state, cache)
        assert resolution.invalid is not None or not was_invalid, "what is invalid stays invalid"
        was_invalid = resolution.invalid is not None
    state = finalize(state)
    if state.error is not None:
        return
    resolution, _ = resolve(shape, state, cache)
    fresh, _ = resolve(shape, state)
    assert (type(fresh), fresh.value, fresh.problems) == (type(resolution), resolution.value, resolution.problems)
    verdict = judge.is_valid(json.loads(text))
    assert isinstance(resolution, Complete) is verdict, "not the verdict of the judge"
    assert not (was_invalid and verdict), "invalid on the way to what is valid"
