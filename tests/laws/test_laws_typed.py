"""Law 18, for the types of other libraries: the library is the judge, on the whole document, of every prefix of it.

The types, what they accept and what they refuse come from support/{models,structs,schemas}.py. A library that is not
here is skipped by name.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import json
import re
from collections import Counter, deque
from enum import Enum
from functools import cache
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import settings

from tests.support import oracle
from tests.support.strategies import cut_at, one_by_one
from unspool import Options, ParserState, create_state, finalize, parse_chunk
from unspool.typed import (
    Cache,
    Complete,
    Invalid,
    InvalidError,
    Partial,
    Resolution,
    items,
    iter_partial,
    partial,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.instances import Case
    from unspool.typed import Shape

SHORT = 400
"""Documents up to this length are cut at every place."""

LIBRARIES = {
    "pydantic": ("pydantic", "models"),
    "msgspec": ("msgspec", "structs"),
    "JSON Schema": ("jsonschema_rs", "schemas"),
}


class Kind(NamedTuple):
    """One type, and who judges it."""

    library: str
    case: Case

    @property
    def shape(self) -> Shape:
        return shape_of(self.library, self.case.name, False)

    def judged(self, text: str) -> tuple[bool, Any]:
        """Whether the library accepts a text, and what it makes of it."""
        return judge_of(self.library, self.case.name)(text)


def type_of(library: str, name: str) -> Any:
    return next(case.type for case in cases_of(library) if case.name == name)


def cases_of(library: str) -> list[Case]:
    cases: list[Case] = importlib.import_module(f"tests.support.{LIBRARIES[library][1]}").CASES
    return cases


@cache
def shape_of(library: str, name: str, early: bool) -> Shape:
    """The shape of a type, made once."""
    if library == "msgspec":  # asked by name: a plain list or dict could belong to any library
        from unspool.typed import from_msgspec

        return from_msgspec(type_of(library, name), early=early)
    return partial(type_of(library, name), early=early).shape


@cache
def judge_of(library: str, name: str) -> Callable[[str], tuple[bool, Any]]:
    """What the library itself says of a whole text."""
    if library == "pydantic":
        from pydantic import TypeAdapter, ValidationError

        return _reading(TypeAdapter(type_of(library, name)).validate_json, ValidationError)
    if library == "msgspec":
        import msgspec

        return _reading(msgspec.json.Decoder(type_of(library, name)).decode, msgspec.ValidationError)
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(type_of(library, name))
    return lambda text: (bool(validator.is_valid(json.loads(text))), json.loads(text))


def _reading(read: Callable[[str], Any], error: type[Exception]) -> Callable[[str], tuple[bool, Any]]:
    def judge(text: str) -> tuple[bool, Any]:
        try:
            return True, read(text)
        except error:
            return False, None

    return judge


def _every() -> Iterator[Any]:
    for library, (module, _) in LIBRARIES.items():
        if find_spec(module) is None:
            skipped = pytest.mark.skip(reason=f"{module} is not installed")
            yield pytest.param(Kind(library, None), id=library, marks=skipped)  # type: ignore[arg-type]
            continue
        for case in cases_of(library):
            yield pytest.param(Kind(library, case), id=f"{library}: {case.name}")


EVERY = list(_every())
every_type = pytest.mark.parametrize("kind", EVERY)
counted = pytest.mark.parametrize("kind", [one for one in EVERY if one.values[0].case and one.values[0].case.counted])


# Documents


def seeds() -> range:
    """How many documents of each type are tried: more with a larger profile."""
    return range(max(3, settings().max_examples // 20))


def spelled(value: Any, random: Random) -> str:
    """JSON text in one of several styles."""
    style: dict[str, Any] = random.choice([{}, {"indent": 1}, {"separators": (",", ":")}])
    return json.dumps(value, ensure_ascii=random.random() < 0.5, **style)


def valid_texts(kind: Kind) -> list[str]:
    randoms = [Random(f"{kind.case.name} {seed}") for seed in seeds()]
    return [spelled(kind.case.valid(random), random) for random in randoms]


def invalid_texts(kind: Kind) -> list[str]:
    """Some for each fault."""
    texts: list[str] = []
    for reason, make in kind.case.faults.items():
        for seed in seeds():
            random = Random(f"{kind.case.name} {reason} {seed}")
            texts.append(spelled(make(random), random))
    return texts


JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    0.5,
    10**20,
    "",
    "a",
    "1",
    "true",
    "2024-05-01",
    [],
    {},
    [None],
    {"": 1},
]


def changed_texts(kind: Kind) -> list[str]:
    """Valid instances to which something happened, anywhere: who knows what they are then."""
    texts: list[str] = []
    for seed in seeds():
        random = Random(f"{kind.case.name} changed {seed}")
        for _ in range(4):
            root = [kind.case.valid(random)]
            for _ in range(random.randint(1, 2)):
                change(root, random)
            texts.append(spelled(root[0], random))
    return texts


def change(root: list[Any], random: Random) -> None:
    """Put something else in the place of a value, or of a key; take one away, or add one."""
    places: list[tuple[Any, Any]] = [(root, 0)]
    for container, step in places:
        inner = container[step]
        if isinstance(inner, (dict, list)):
            places += [(inner, one) for one in (inner if isinstance(inner, dict) else range(len(inner)))]
    container, step = random.choice(places)
    value = container[step]
    way = random.randrange(6)
    if way == 0 and isinstance(value, dict):
        value[random.choice(["", "a", "kind", "type", *(other for _, other in places if isinstance(other, str))])] = (
            copy.deepcopy(random.choice(JUNK))
        )
    elif way == 0 and isinstance(value, list):
        value.insert(random.randint(0, len(value)), copy.deepcopy(random.choice([*JUNK, *value])))
    elif way == 1 and container is not root:
        del container[step]
    elif way == 2:
        other, place = random.choice(places)
        container[step] = copy.deepcopy(other[place])
    elif way == 3 and isinstance(value, str):
        container[step] = random.choice([value[:-1], value + "x", value.upper(), f" {value}", value[::-1]])
    elif way == 4 and isinstance(value, (dict, list)):
        items = list(value.items()) if isinstance(value, dict) else value[::-1]
        container[step] = dict(items[::-1]) if isinstance(value, dict) else items
    else:
        container[step] = copy.deepcopy(random.choice(JUNK))


def fragments_of(text: str, random: Random) -> list[str]:
    if len(text) <= SHORT:
        return one_by_one(text)
    return cut_at(text, sorted(random.choices(range(len(text)), k=SHORT)))


def states_of(text: str) -> list[ParserState]:
    """After each fragment, and after the end. A text to which something happened may be deep."""
    states = [create_state(Options(max_depth=None))]
    for fragment in fragments_of(text, Random(text)):
        states.append(parse_chunk(states[-1], fragment))
    assert states[-1].error is None
    return [*states, finalize(states[-1])]


def stream(shape: Shape, states: list[ParserState]) -> list[Resolution[Any]]:
    """Return the resolutions of consecutive states, each from the cache of the one before."""
    resolutions: list[Resolution[Any]] = []
    cache: Cache | None = None
    for state in states:
        resolution, cache = resolve(shape, state, cache)
        resolutions.append(resolution)
    return resolutions


# Values


def parts(value: Any) -> tuple[Any, ...] | None:
    """Return the parts of a value of one of the libraries, names and values; None for a value without parts."""
    if isinstance(value, dict):
        return tuple(value.items())
    if hasattr(value, "__struct_fields__"):
        return tuple((name, getattr(value, name, None)) for name in value.__struct_fields__)
    if hasattr(value, "model_fields_set"):
        extra = value.__pydantic_extra__ or {}
        return (*value.__dict__.items(), *extra.items(), ("fields set", sorted(value.model_fields_set)))
    if dataclasses.is_dataclass(value):
        return tuple((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
    if isinstance(value, (list, tuple)):
        return tuple(enumerate(value))
    return None


def same(one: Any, other: Any) -> bool:
    """Equal in type and content, all the way down: 1 is not 1.0, NaN is NaN, and what was given is not a default."""
    if type(one) is not type(other):
        return False
    mine, others = parts(one), parts(other)
    if mine is None or others is None:
        return one == other or plainly(one) == plainly(other)
    if len(mine) != len(others):
        return False
    pairs = zip(mine, others, strict=True)
    return all(name == other_name and same(part, other_part) for (name, part), (other_name, other_part) in pairs)


def agree(kind: Kind, one: Any, other: Any) -> bool:
    return oracle.same(one, other) if kind.library == "JSON Schema" else same(one, other)


def plainly(value: Any) -> str:
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def told(resolution: Resolution[Any]) -> tuple[str, Any]:
    return type(resolution).__name__, resolution.problems


# The law


@every_type
@pytest.mark.parametrize("early", [False, True])
def test_law_18_never_invalid_on_a_prefix_of_a_valid_document(kind: Kind, early: bool) -> None:
    """A text that the library accepts in the end is never invalid before."""
    for text in valid_texts(kind):
        states = states_of(text)
        shape = shape_of(kind.library, kind.case.name, early)
        for state, resolution in zip(states, stream(shape, states), strict=True):
            assert not isinstance(resolution, Invalid), (text[: state.index], resolution.problems)


@every_type
def test_law_18_the_same_verdict_and_value_as_the_library(kind: Kind) -> None:
    """At the end a text is complete or invalid as the library says of the whole, and the value is the library's."""
    for text in [*valid_texts(kind), *invalid_texts(kind)]:
        is_valid, expected = kind.judged(text)
        resolution = stream(kind.shape, states_of(text))[-1]
        assert type(resolution) is (Complete if is_valid else Invalid), (text, resolution.problems)
        assert resolution.is_complete is is_valid
        if is_valid:
            assert agree(kind, resolution.value, expected), (text, resolution.value, expected)


@every_type
def test_law_18_whatever_happens_to_a_document(kind: Kind) -> None:
    """For random texts, too, the verdict and the value are the library's, and no valid text was invalid before."""
    for text in changed_texts(kind):
        try:
            is_valid, expected = kind.judged(text)
        except (TypeError, AttributeError):  # a validator raised something else: that does not count as a verdict
            continue
        states = states_of(text)
        resolutions = stream(kind.shape, states)
        verdicts = [isinstance(one, Invalid) for one in resolutions]
        if is_valid:
            assert not any(verdicts), (text, states[verdicts.index(True)].index, resolutions[-1].problems)
            assert isinstance(resolutions[-1], Complete)
            assert agree(kind, resolutions[-1].value, expected), (text, resolutions[-1].value, expected)
        else:
            assert verdicts[-1], (text, resolutions[-1])
            assert verdicts == sorted(verdicts), text


@every_type
def test_law_18_what_is_invalid_stays_invalid(kind: Kind) -> None:
    """And what is wrong has a place in the text: a value that is there, or one that is not there yet or too much."""
    for text in invalid_texts(kind):
        states = states_of(text)
        resolutions = stream(kind.shape, states)
        verdicts = [isinstance(one, Invalid) for one in resolutions]
        assert verdicts == sorted(verdicts), text
        for state, resolution in zip(states, resolutions, strict=True):
            for problem in resolution.problems:
                around = problem.path.steps[:-1]
                assert state.root is not None
                assert state.root.at(around) is not None, (text[: state.index], problem)
                assert problem.code
                assert problem.expected


@every_type
def test_law_18_cached_equals_fresh(kind: Kind) -> None:
    """From the cache of the state before, of a much older one, or from none: the outcome is the same."""
    for text in [*valid_texts(kind)[:3], *invalid_texts(kind)[:: len(seeds())]]:
        states = states_of(text)
        caches: list[Cache | None] = [None]
        step = max(1, len(states) // 60)
        for place, state in enumerate(states):
            cached, newest = resolve(kind.shape, state, caches[-1])
            caches.append(newest)
            if place % step == 0 or place == len(states) - 1:
                for older in (None, caches[len(caches) // 2]):
                    fresh, _ = resolve(kind.shape, state, older)
                    assert told(cached) == told(fresh), text[: state.index]
                    assert same(cached.value, fresh.value), (text[: state.index], cached.value, fresh.value)


def family(value: Any) -> type | None:
    """The class that a value belongs to, half filled or whole; None for what has no fields."""
    if isinstance(value, (dict, list, tuple)) or parts(value) is None:
        return None
    found: type = value.__class__  # a half-filled value says so
    return found


def remade(one: Any, other: Any, path: str = "$") -> Iterator[str]:
    """Where an instance that was whole is another object now, though what is around it has not closed meanwhile."""
    if one is other or (family(one) is None and type(one) is not type(other)):
        return
    if family(one) is type(one):
        yield f"{path}: {type(one).__name__} was made again"
    elif type(one) is type(other):
        later = dict(parts(other) or ())
        for name, part in parts(one) or ():
            yield from remade(part, later.get(name), f"{path}.{name}")


@every_type
def test_law_18_what_did_not_change_is_the_same_object(kind: Kind) -> None:
    """Once an instance is whole it is one object, in every later value of the containers that are open around it."""
    for text in valid_texts(kind):
        states = states_of(text)
        resolutions = stream(kind.shape, states)
        for state, one, other in zip(states[1:], resolutions, resolutions[1:], strict=False):
            assert list(remade(one.value, other.value)) == [], text[: state.index]


def flips(one: Any, other: Any, path: str = "$") -> Iterator[str]:
    """Where a value that was shown has turned into one of another class, or has lost what it had."""
    mine, others = family(one), family(other)
    if mine is not None and others is not None and mine is not others:
        yield f"{path}: {mine.__name__} became {others.__name__}"
    elif type(one) is type(other) or (mine is not None and mine is others):
        later = dict(parts(other) or ())
        for name, part in parts(one) or ():
            if name == "fields set" or part is None:
                continue
            if name not in later:
                yield f"{path}: {name!r} is gone"
            else:
                yield from flips(part, later[name], f"{path}.{name}")


@every_type
def test_law_18_a_shown_branch_never_flips(kind: Kind) -> None:
    """A value never changes its class once it is shown, and nothing that was shown goes away."""
    for text in valid_texts(kind):
        states = states_of(text)
        resolutions = stream(kind.shape, states)
        for state, one, other in zip(states[1:], resolutions, resolutions[1:], strict=False):
            assert list(flips(one.value, other.value)) == [], text[: state.index]


def calls_of(kind: Kind) -> Counter[Any]:
    """What the types of this library count their calls with."""
    module = {"pydantic": "model_counted", "msgspec": "structs"}[kind.library]
    counter = {"pydantic": "CALLS", "msgspec": "MADE"}[kind.library]
    found: Counter[Any] = getattr(importlib.import_module(f"tests.support.{module}"), counter)
    return found


@counted
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_law_18_every_closed_node_is_validated_once(kind: Kind, size: int) -> None:
    """Over a stream, each validator is called once for each of its inputs, and for the same ones as for the whole."""
    calls, most = calls_of(kind), 0
    for text in valid_texts(kind):
        calls.clear()
        assert kind.judged(text)[0]
        expected = dict(calls)
        calls.clear()
        states = [create_state()]
        for start in range(0, len(text), size):
            states.append(parse_chunk(states[-1], text[start : start + size]))
        states += [parse_chunk(states[-1], " "), finalize(states[-1])]
        assert stream(kind.shape, states)[-1].is_complete
        assert dict(calls) == expected
        assert set(calls.values()) <= {1}
        most = max(most, len(calls))
    assert most > 1


@counted
def test_law_18_nothing_is_validated_again_when_something_is_wrong(kind: Kind) -> None:
    """No validator sees an input twice, whatever is invalid, and however often the outcome is asked for."""
    calls = calls_of(kind)
    for text in invalid_texts(kind):
        calls.clear()
        states = states_of(text)
        stream(kind.shape, [*states[:-1], *[parse_chunk(states[-2], " " * count) for count in range(3)], states[-1]])
        assert set(calls.values()) <= {1}, text


# Through the iterators


@every_type
def test_law_18_the_iterator_gives_what_the_states_give(kind: Kind) -> None:
    """The last value is the library's, those before it are those of the pure parser, and what is invalid is raised."""
    for text in valid_texts(kind):
        fragments = fragments_of(text, Random(text))
        partials = list(iter_partial(kind.shape, fragments))
        assert [one.is_complete for one in partials] == [False] * (len(partials) - 1) + [True]
        assert agree(kind, partials[-1].value, kind.judged(text)[1])
        shown = [one for one in stream(kind.shape, states_of(text)) if isinstance(one, Partial)]
        news = [one for one, before in zip(shown, [None, *shown], strict=False) if is_news(one, before)]
        assert [told(one) for one in partials] == [told(one) for one in news]
        assert all(same(one.value, other.value) for one, other in zip(partials, news, strict=True))
    for text in invalid_texts(kind):
        with pytest.raises(InvalidError):
            list(iter_partial(kind.shape, fragments_of(text, Random(text))))


@every_type
def test_law_18_it_does_not_matter_when_a_value_is_asked_for(kind: Kind) -> None:
    """A value that is read late, or after later ones, is the one that was there, with the same parts."""
    for text in valid_texts(kind):
        chance = Random(text)
        fragments = fragments_of(text, chance)
        at_once = [[one.value, one.problems, one.missing] for one in iter_partial(kind.shape, fragments)]
        partials: list[Partial[Any]] = []
        early: dict[int, object] = {}
        for number, one in enumerate(iter_partial(kind.shape, fragments)):
            partials.append(one)
            for known in (number, chance.randrange(number + 1)):
                if chance.random() < 0.4:
                    early[known] = partials[known].value
        for number in chance.sample(range(len(partials)), len(partials)):
            one = partials[number]
            assert same(one.value, at_once[number][0])
            assert [one.problems, one.missing] == at_once[number][1:]
            assert one.value is early.get(number, one.value)
        assert_same_parts([one.value for one in partials], [value for value, _, _ in at_once])


def assert_same_parts(values: list[object], others: list[object]) -> None:
    """Two runs show the same parts again in the same places."""
    for before, after, other_before, other_after in zip(values, values[1:], others, others[1:], strict=False):
        shared = {id(part) for part in parts_of(before)} & {id(part) for part in parts_of(after)}
        other_shared = {id(part) for part in parts_of(other_before)} & {id(part) for part in parts_of(other_after)}
        assert len(shared) == len(other_shared)


def parts_of(value: object) -> list[object]:
    """The containers and instances in a value, which are new objects when anything in them changes."""
    inner: list[object] = []
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        inner = list(value)
    elif hasattr(value, "__dict__") and not isinstance(value, (Enum, type)):
        inner = list(vars(value).values())
    parts = [part for one in inner for part in parts_of(one)]
    return [value, *parts] if inner else parts


def is_news(one: Partial[Any], before: Partial[Any] | None) -> bool:
    return before is None or one.value is not before.value or type(one) is not type(before)


@every_type
def test_law_18_elements_are_what_the_library_makes_of_them(kind: Kind) -> None:
    """Each element of an array as the library reads it alone; the first that it refuses is raised at its place."""
    valid, invalid = valid_texts(kind), invalid_texts(kind)
    whole = f'{{"rows": [{",".join(valid)}]}}'
    found = list(items(kind.shape, fragments_of(whole, Random(whole)), path="$.rows"))
    assert len(found) == len(valid)
    assert all(agree(kind, one, kind.judged(text)[1]) for one, text in zip(found, valid, strict=True))
    broken = f"[{valid[0]},{invalid[0]},{valid[1]}]"
    assert len(list(items(kind.shape, [broken], on_invalid="ignore"))) == 2
    with pytest.raises(InvalidError) as caught:
        list(items(kind.shape, [broken]))
    assert caught.value.path.steps[:1] == (1,)


# How early


@pytest.mark.parametrize("library", LIBRARIES)
def test_law_18_how_early_invalid_comes(library: str) -> None:
    """For each type, what share of an invalid document was read when it was known to be invalid (shown by -s, -rP).

    The last character is the latest that is possible; for one type in two it is much earlier.
    """
    pytest.importorskip(LIBRARIES[library][0])
    means: dict[str, float] = {}
    for kind in [one.values[0] for one in EVERY if one.values[0].library == library]:
        shares = [share_read(kind, text) for text in invalid_texts(kind)]
        means[kind.case.name] = sum(shares) / len(shares)
    print(f"\n{library}: share of an invalid document that was read when it was known to be invalid, mean of each type")
    for name, mean in sorted(means.items(), key=lambda item: item[1]):
        print(f"{mean:7.1%}  {name}")
    overall = sum(means.values()) / len(means)
    print(f"{overall:7.1%}  all {len(means)} types")
    assert max(means.values()) <= 1
    assert overall < 0.9


def share_read(kind: Kind, text: str) -> float:
    states = states_of(text)
    for state, resolution in zip(states, stream(kind.shape, states), strict=True):
        if isinstance(resolution, Invalid):
            return state.index / len(text)
    raise AssertionError(f"never invalid: {text}")
