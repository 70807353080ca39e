"""Laws 60 and 61: patches build the document, and every value completes once.

They hold for the types of support/{models,structs,schemas}.py, and for random types of pydantic with validators of
every kind (support/model_random.py), over valid, invalid and changed documents. Each text is read twice: one character
at a time (in 400 fragments if it is longer than that), and in a few fragments of random length.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given

from tests.laws.test_laws_judged import a_random, a_text, few, has_two_names
from tests.laws.test_laws_typed import EVERY, Kind, changed_texts, fragments_of, invalid_texts, seeds, valid_texts
from tests.support.strategies import cut_at
from unspool import JSONSyntaxError, create_state, parse_chunk
from unspool.patch import apply
from unspool.typed import Resolver, iter_changes, partial

if TYPE_CHECKING:
    from unspool.typed import Changes, Shape

pytestmark = pytest.mark.skipif(find_spec("pydantic") is None, reason="pydantic is not installed")


ODD = {
    "own schema",  # Pydantic cannot write its values
    "by name only",  # an extra key may be the alias of another field
}
every_type = pytest.mark.parametrize("kind", [one for one in EVERY if one.id.partition(": ")[2] not in ODD])


def resolver_of(shape: Shape) -> Resolver[Any]:
    return Resolver(shape)


def changes_of(shape: Shape, fragments: list[str]) -> list[tuple[Changes[Any], Any]]:
    """The changes of a text, each with the document after it."""
    document: Any = None
    steps: list[tuple[Changes[Any], Any]] = []
    try:
        for changes in iter_changes(resolver_of(shape), fragments, on_invalid="ignore"):
            document = apply(document, json.loads(json.dumps(changes.patch)))
            steps.append((changes, copy.deepcopy(document)))
    except JSONSyntaxError:
        pass
    return steps


def written(kind: Kind, value: Any) -> Any:
    """What the library writes for a value."""
    if kind.library == "JSON Schema":
        return value
    if kind.library == "msgspec":
        import msgspec

        return json.loads(msgspec.json.encode(value))
    from pydantic import TypeAdapter

    return json.loads(TypeAdapter(kind.case.type).dump_json(value, by_alias=True, warnings=False))


def cuttings_of(text: str, random: Random) -> list[list[str]]:
    """The fragments that a text is read in: as many as possible, and a few."""
    return [fragments_of(text, random), cut_at(text, sorted(random.choices(range(len(text) + 1), k=5)))]


@every_type
def test_law_60_patches_build_the_document(kind: Kind) -> None:
    """In the end, the document is what the library writes for the value."""
    for text in [*valid_texts(kind)[:2], *invalid_texts(kind)[:: len(seeds())][:4], *changed_texts(kind)[:3]]:
        for fragments in cuttings_of(text, Random(text)):
            steps = changes_of(kind.shape, fragments)
            if steps and steps[-1][0].is_complete:
                last, document = steps[-1]
                assert document == written(kind, last.value), text


@every_type
def test_law_60_the_cut_does_not_matter(kind: Kind) -> None:
    """After a fragment, the document is the one that the text so far has as a single fragment."""
    for text in [*valid_texts(kind)[:1], *invalid_texts(kind)[:: len(seeds())][:4], *changed_texts(kind)[:4]]:
        random = Random(text)
        for fragments in cuttings_of(text, random):
            check_cut(kind.shape, fragments, random)


def check_cut(shape: Shape, fragments: list[str], random: Random) -> None:
    """Compare the documents after up to 12 of the fragments."""
    document: Any = None
    some = set(random.sample(range(len(fragments)), min(12, len(fragments))))
    fed: list[str] = []
    stream = iter_changes(resolver_of(shape), _until_asked(fragments, fed), on_invalid="ignore")
    try:
        for changes in stream:
            document = apply(document, changes.patch)
            if len(fed) - 1 in some:
                whole = "".join(fed)
                assert document == document_of(shape, whole), (fed, fragments)
    except JSONSyntaxError:
        pass


def _until_asked(fragments: list[str], fed: list[str]) -> Any:
    for fragment in fragments:
        fed.append(fragment)
        yield fragment


def document_of(shape: Shape, text: str) -> Any:
    steps = changes_of(shape, [text])
    return steps[0][1] if steps else None


@every_type
def test_law_61_each_value_completes_once(kind: Kind) -> None:
    """A path appears before it grows or completes. It completes once, when `is_complete_at` says so, or later.

    The answers of `is_complete_at` are compared until something is invalid: lists are shown without their invalid
    items, so the places in the value are no longer those in the text.
    """
    for text in [*valid_texts(kind)[:2], *invalid_texts(kind)[:: len(seeds())][:4], *changed_texts(kind)[:3]]:
        if has_two_names(parse_chunk(create_state(), text).root):
            continue
        for fragments in cuttings_of(text, Random(text)):
            check_complete(kind.shape, fragments, text)


def check_complete(shape: Shape, fragments: list[str], text: str) -> None:
    there: set[Any] = set()
    complete: Counter[Any] = Counter()
    is_complete = False
    document: Any = None
    for changes, document in changes_of(shape, fragments):  # noqa: B007
        is_complete = changes.is_complete
        for kind, path, added in changes:
            steps = tuple(path)
            assert (kind == "appeared") is (steps not in there), (kind, path, text)
            assert complete[steps] == 0 or kind == "removed", (kind, path, text)
            if kind == "appeared":
                there.add(steps)
            elif kind == "removed":
                there -= {one for one in there if one[: len(steps)] == steps}
            elif kind == "grew":
                assert added
            elif kind == "completed":
                complete[steps] += 1
                if changes.partial.invalid is None:
                    # A value that is pending is none of the text: a computed field, or one under another name.
                    assert changes.partial.state_at(path) != "growing", (path, text)
    if is_complete:
        assert set(complete) == there == set(places(document)), text


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [path]
    keys: Any = ()
    if isinstance(document, dict):
        keys = cast("dict[str, Any]", document)
    elif isinstance(document, list):
        items: list[Any] = document  # pyright: ignore[reportUnknownVariableType]
        keys = range(len(items))
    for key in keys:
        found += places(document[key], (*path, key))
    return found


@few
@given(a_random)
def test_law_60_and_61_for_random_types(random: Random) -> None:
    """Over random types and any document: patches apply, values complete once, and the end is what pydantic writes."""
    from pydantic import TypeAdapter

    from tests.support.model_random import random_type

    hint, make = random_type(random, 3)
    resolver = partial(hint)
    for _ in range(3):
        text = a_text(random, make)
        if has_two_names(parse_chunk(create_state(), text).root):
            continue
        for fragments in cuttings_of(text, random):
            steps = changes_of(resolver.shape, fragments)
            check_complete(resolver.shape, fragments, text)
            if steps and steps[-1][0].is_complete:
                value, document = steps[-1][0].value, steps[-1][1]
                assert document == json.loads(TypeAdapter(hint).dump_json(value, by_alias=True, warnings=False)), text
            check_cut(resolver.shape, fragments, random)
