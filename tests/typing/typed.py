"""What a type checker sees of the typed values. It is checked with the rest, and never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator
from typing import Any, Literal, assert_type

from pydantic import TypeAdapter

from unspool import ParserState, Path
from unspool.typed import (
    Cache,
    Changes,
    Complete,
    Invalid,
    Missing,
    Partial,
    Problem,
    Resolution,
    Resolver,
    aitems,
    aiter_changes,
    aiter_partial,
    items,
    iter_changes,
    iter_partial,
    partial,
)


class Stop:
    name: str


class Trip:
    city: str
    stops: list[Stop]


def a_class(fragments: list[str], awaited: AsyncIterable[bytes]) -> None:
    """A class is the type of the values."""
    assert_type(partial(Trip), Resolver[Trip])
    assert_type(partial(Trip, early=True), Resolver[Trip])
    assert_type(iter_partial(Trip, fragments), Generator[Partial[Trip], None, None])
    assert_type(aiter_partial(Trip, awaited), AsyncGenerator[Partial[Trip], None])
    assert_type(items(Trip, fragments, path="$.rows"), Generator[Trip, None, None])
    assert_type(aitems(Trip, awaited), AsyncGenerator[Trip, None])


def options_of_a_call(fragments: list[str], awaited: AsyncIterable[bytes]) -> None:
    """The options of a call keep the type of the values."""
    assert_type(partial(Trip, strict=True, context={"a": 1}, empty="containers"), Resolver[Trip])
    assert_type(
        iter_partial(Trip, fragments, strict=True, context=[1], empty="containers"),
        Generator[Partial[Trip], None, None],
    )
    assert_type(aiter_partial(Trip, awaited, strict=None, empty="containers"), AsyncGenerator[Partial[Trip], None])
    assert_type(items(Trip, fragments, strict=False, context=object()), Generator[Trip, None, None])
    assert_type(aitems(Trip, awaited, strict=False, context=object()), AsyncGenerator[Trip, None])


def an_adapter(adapter: TypeAdapter[list[Trip]], fragments: list[str]) -> None:
    """An adapter knows its type."""
    assert_type(partial(adapter), Resolver[list[Trip]])
    assert_type(iter_partial(adapter, fragments), Generator[Partial[list[Trip]], None, None])
    assert_type(items(adapter, fragments), Generator[list[Trip], None, None])


def a_generic_class(fragments: list[str]) -> None:
    assert_type(partial(list[Trip]), Resolver[list[Trip]])
    assert_type(iter_partial(dict[str, int], fragments), Generator[Partial[dict[str, int]], None, None])


def a_resolver(resolver: Resolver[Trip], state: ParserState, fragments: list[str], awaited: AsyncIterable[str]) -> None:
    """It knows its type."""
    assert_type(partial(resolver), Resolver[Trip])
    assert_type(iter_partial(resolver, fragments), Generator[Partial[Trip], None, None])
    assert_type(aiter_partial(resolver, awaited), AsyncGenerator[Partial[Trip], None])
    assert_type(items(resolver, fragments), Generator[Trip, None, None])
    assert_type(resolver.resolve(state), tuple[Resolution[Trip], Cache])


def a_schema(schema: dict[str, Any], fragments: list[str], awaited: AsyncIterable[str]) -> None:
    """Of a JSON Schema, or of a union, a type checker knows nothing."""
    assert_type(partial(schema), Resolver[Any])
    assert_type(partial(int | str), Resolver[Any])
    assert_type(iter_partial(schema, fragments), Generator[Partial[Any], None, None])
    assert_type(aiter_partial(schema, awaited), AsyncGenerator[Partial[Any], None])
    assert_type(items(schema, fragments), Generator[Any, None, None])
    assert_type(aitems(schema, awaited), AsyncGenerator[Any, None])


def an_outcome(resolution: Resolution[Trip], seen: Partial[Trip]) -> None:
    """The value has the type, half filled or not."""
    assert_type(seen.value, Trip)
    assert_type(seen.value.city, str)
    assert_type(seen.is_complete, bool)
    assert_type(seen.missing, tuple[Path, ...])
    assert_type(seen.problems, tuple[Problem, ...])
    assert_type(seen.invalid, Invalid[Trip] | None)
    assert_type(seen.is_complete_at("$.city"), bool)
    if seen.invalid is not None:
        assert_type(seen.invalid.path, Path)
    assert_type(resolution.value, Trip)


def a_part_that_may_be_missing(seen: Partial[Trip], changes: Changes[Trip]) -> None:
    """`get` has the type of the part, or None. A wrong name is an error before the code runs."""
    assert_type(seen.get(lambda trip: trip.city), str | None)
    assert_type(seen.get(lambda trip: trip.stops[-1].name), str | None)
    assert_type(changes.partial.get(lambda trip: trip.stops), list[Stop] | None)
    assert_type(seen.state_at("city"), Literal["pending", "growing", "complete"])
    seen.get(lambda trip: trip.country)  # type: ignore[attr-defined]


def the_changes(fragments: list[str], awaited: AsyncIterable[str], adapter: TypeAdapter[list[Trip]]) -> None:
    """Changes know the type of the value."""
    assert_type(iter_changes(Trip, fragments), Generator[Changes[Trip], None, None])
    assert_type(iter_changes(adapter, fragments), Generator[Changes[list[Trip]], None, None])
    assert_type(iter_changes(int | str, fragments, strict=True), Generator[Changes[Any], None, None])
    assert_type(aiter_changes(partial(Trip), awaited), AsyncGenerator[Changes[Trip], None])
    for changes in iter_changes(Trip, fragments):
        assert_type(changes.value, Trip)
        assert_type(changes.partial, Partial[Trip])
        assert_type(changes.patch, list[dict[str, Any]])
        assert_type([change.path for change in changes], list[Path])
        assert_type([change.text for change in changes], list[str])


def outcomes(complete: Complete[Trip], invalid: Invalid[Trip], missing: Missing[Trip]) -> None:
    """The kinds of outcome: two of them are partials as well."""
    partials: list[Partial[Trip]] = [complete, invalid]
    everything: list[Resolution[Trip]] = [*partials, missing]
    assert_type([one.value for one in everything], list[Trip])


def wrong_arguments(fragments: list[str], awaited: AsyncIterable[str]) -> None:
    """What is not possible is seen before it runs: an ignore that is not needed fails the check."""
    iter_partial(Trip, fragments, on_invalid="never")  # type: ignore[call-overload]
    items(Trip, fragments, on_invalid="defer")  # type: ignore[call-overload]
    iter_partial(Trip, awaited)  # type: ignore[call-overload]
    aiter_partial(Trip, fragments)  # type: ignore[call-overload]
    items(Trip, [1])  # type: ignore[list-item]
    partial(Trip, empty="lists")  # type: ignore[call-overload]
