"""Laws 57 to 59: nothing shown is taken back, complete means judged, and nothing of the user's runs too early.

They hold for the types of support/{models,structs,schemas}.py, and for random types of pydantic with validators of
every kind (support/model_random.py), over valid and invalid documents, at every cut.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.laws.test_laws_typed import (
    Kind,
    agree,
    change,
    changed_texts,
    every_type,
    family,
    invalid_texts,
    parts,
    same,
    seeds,
    spelled,
    states_of,
    stream,
    valid_texts,
)
from unspool import JSONSyntaxError, ParserState
from unspool.tree import ContainerNode, ObjectNode
from unspool.typed import Complete, InvalidError, iter_partial, partial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.tree import Node
    from unspool.typed import Resolution

pytestmark = pytest.mark.skipif(find_spec("pydantic") is None, reason="pydantic is not installed")
a_random = st.integers(min_value=0, max_value=2**32).map(Random)
few = settings(max_examples=max(10, settings().max_examples), suppress_health_check=list(HealthCheck), deadline=None)


def paths_of(root: Node | None) -> list[tuple[Any, ...]]:
    """The paths of all values in a text, without those in or beside a key that comes twice."""
    paths: list[tuple[Any, ...]] = []
    nodes: list[tuple[tuple[Any, ...], Any]] = [] if root is None else [((), root)]
    while nodes:
        path, node = nodes.pop()
        paths.append(path)
        if isinstance(node, ObjectNode):
            if len(set(node.keys)) == len(node.keys):
                nodes += [((*path, key), child) for key, child in zip(node.keys, node.children, strict=True)]
        elif isinstance(node, ContainerNode):
            nodes += [((*path, index), child) for index, child in enumerate(node.children)]
    return paths


def some(states: list[ParserState], most: int = 40) -> list[ParserState]:
    """Some of the states, evenly, and the last ones."""
    return [*states[: -2 : max(1, len(states) // most)], *states[-2:]]


def a_text(random: Random, make: Any) -> str:
    """A document, maybe with something changed in it."""
    root = [make(random)]
    for _ in range(random.randrange(3)):
        change(root, random)
    return spelled(root[0], random)


# Law 57


def leaves_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a shown value, by their place in it. A set is one leaf: its items have no places."""
    inner = parts(value)
    if inner is None:
        if value is not None:
            yield path, value
        return
    for name, part in inner:
        if name != "fields set":
            yield from leaves_of(part, (*path, name))


def taken_back(one: Any, other: Any) -> list[Any]:
    """The leaves that were shown and are gone, or are another value now. A text may grow."""
    later = dict(leaves_of(other))
    sets = [path for path, leaf in later.items() if isinstance(leaf, (set, frozenset))]
    return [
        (path, leaf, later.get(path))
        for path, leaf in leaves_of(one)
        if not isinstance(leaf, (set, frozenset)) and not any(path[: len(whole)] == whole for whole in sets)
        if path not in later
        or not (same(leaf, later[path]) or (type(leaf) is type(later[path]) is str and later[path].startswith(leaf)))
    ]


@few
@given(a_random)
def test_law_57_no_unjudged_leaf_is_shown(random: Random) -> None:
    """Over any document, a leaf that was shown stays as it is, or grows. Whole objects keep their leaves as well."""
    from tests.support.model_random import random_type

    hint, make = random_type(random, 3, with_drafts=False)
    shape = partial(hint).shape
    for _ in range(3):
        text = a_text(random, make)
        states = states_of(text)
        if has_two_names(states[-1].root):
            continue
        resolutions = stream(shape, states)
        for state, one, other in zip(states[1:], resolutions, resolutions[1:], strict=False):
            assert taken_back(one.value, other.value) == [], text[: state.index]


def has_two_names(root: Any) -> bool:
    """Whether a key comes twice, or a field under two of its names."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ContainerNode):
            nodes += node.children
        if isinstance(node, ObjectNode):
            names = [key[2:] if key[:2] in ("a_", "b_") else key for key in node.keys]
            if len(set(names)) != len(names):
                return True
    return False


@every_type
def test_law_57_what_is_complete_stays_as_it_is(kind: Kind) -> None:
    """In a valid document, the value at a path that is complete is the value of the whole document."""
    for text in valid_texts(kind)[:3]:
        states = some(states_of(text))
        if has_two_names(states[-1].root):
            continue
        resolutions = stream(kind.shape, states)
        last = resolutions[-1]
        assert isinstance(last, Complete)
        for state, resolution in zip(states, resolutions, strict=True):
            for path in paths_of(state.root):
                if resolution.is_complete_at(path):
                    shown, final = at(resolution.value, path), at(last.value, path)
                    if shown is not UNKNOWN and final is not UNKNOWN:
                        assert agree(kind, shown, final) or same(shown, final), (text[: state.index], path)


UNKNOWN = object()


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """The part of a value at a path of the text, as far as the names are those of the text."""
    for step in path:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
        elif hasattr(value, "model_fields_set") and step in value.model_fields_set and step in value.__dict__:
            value = value.__dict__[step]
        else:
            return UNKNOWN
        if value is None:
            return UNKNOWN
    return value


# Law 58


def check_complete_stays(states: list[ParserState], resolutions: list[Resolution[Any]]) -> None:
    """No answer of `is_complete_at` is taken back."""
    complete: set[tuple[Any, ...]] = set()
    for state, resolution in zip(states, resolutions, strict=True):
        for path in complete:
            assert resolution.is_complete_at(path), (path, state.index, resolution.problems)
        complete |= {path for path in paths_of(state.root) if resolution.is_complete_at(path)}
        complete = {path for path in complete if path in set(paths_of(state.root))}


@every_type
def test_law_58_complete_is_never_taken_back(kind: Kind) -> None:
    """Over valid, invalid and changed documents of all libraries."""
    texts = [*valid_texts(kind)[:1], *invalid_texts(kind)[:: len(seeds())], *changed_texts(kind)[:6]]
    for text in texts:
        try:
            states = some(states_of(text), 20)
            resolutions = stream(kind.shape, states)
        except (TypeError, AttributeError):
            continue
        check_complete_stays(states, resolutions)


@few
@given(a_random)
def test_law_58_complete_means_judged_for_random_types(random: Random) -> None:
    """Everything is complete in the end if the document is valid, and no answer is taken back in any document."""
    from tests.support.model_random import random_type

    hint, make = random_type(random, 3)
    shape = partial(hint).shape
    for _ in range(3):
        states = some(states_of(a_text(random, make)), 60)
        resolutions = stream(shape, states)
        check_complete_stays(states, resolutions)
        if isinstance(resolutions[-1], Complete):
            assert all(resolutions[-1].is_complete_at(path) for path in paths_of(states[-1].root))


# Law 59


@few
@given(a_random)
def test_law_59_nothing_of_the_user_runs_on_half_filled_instances(random: Random) -> None:
    """No method, validator or computed field meets a half-filled instance, and no foreign exception comes out.

    The types raise `RanOnHalfFilledError`, and their validators raise other exceptions. At the end, the verdict and the
    value are pydantic's.
    """
    from pydantic import TypeAdapter, ValidationError

    from tests.support.model_random import Watched, WorseError, random_type

    hint, make = random_type(random, 3)
    resolver = partial(hint)
    for _ in range(3):
        text = a_text(random, make)
        last = None
        try:
            for one in iter_partial(resolver, text):
                last = one
                repr(one.value)
                if isinstance(one.value, Watched) and not one.is_complete:
                    json.loads(one.value.model_dump_json(warnings=False))  # a validator may return any type
        except (InvalidError, JSONSyntaxError) as error:
            failure: object = error
        else:
            failure = None
        try:
            expected = TypeAdapter(hint).validate_json(text)
        except (ValidationError, WorseError, AttributeError, TypeError):
            assert failure is not None, text
        else:
            if not has_two_names(states_of(text)[-1].root):
                assert failure is None, (text, failure)
                assert last is not None
                assert same(last.value, expected), (text, last.value, expected)


@few
@given(a_random)
def test_law_59_no_class_lists_a_half_filled_one(random: Random) -> None:
    """Half-filled values are instances of their classes, and no class knows of them."""
    from tests.support.model_random import random_type

    hint, make = random_type(random, 3)
    resolver = partial(hint)
    seen: set[type] = set()
    text = spelled(make(random), random)
    for one in iter_partial(resolver, text, on_invalid="ignore"):
        values: list[Any] = [one.value]
        while values:
            value = values.pop()
            values += [part for _, part in parts(value) or ()]
            found = family(value)
            if found is not None:
                assert isinstance(value, found)
                seen.update(found.__mro__[:-1])
    for cls in seen:
        known: list[type] = type.__subclasses__(cls)
        names = [one.__name__ for one in known]
        assert not [name for name in names if name.startswith("PartialRandom")]
