"""Calls of the other libraries. Each one gets its input in the form that suits it best, prepared beforehand.

Event readers: `read` takes all fragments of a document, `leaves` counts the values it found on the way.
Prefix parsers take the text so far and give its value. Growing parsers take fragments and give the last value.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .rows import load, ours

__all__ = [
    "EVENT_READERS",
    "GROWING_PARSERS",
    "PREFIX_PARSERS",
    "EventReader",
    "Growing",
    "Peer",
    "streaming_json_parser_class",
    "unspool_events",
]


@dataclass(frozen=True, slots=True)
class EventReader:
    read: Callable[[Sequence[Any]], object]
    leaves: Callable[[Sequence[Any]], int]
    takes_bytes: bool = True


Prefix: TypeAlias = Callable[[bytes], object] | Callable[[str], object]
Growing: TypeAlias = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Peer:
    """`make` imports the library. The benchmarks call it late, so they can report a library that is not installed."""

    make: Callable[[], Any]
    lacks: str = ""
    pure_python: bool = False
    does_the_same: bool = True
    takes_bytes: bool = False


# Events ------------------------------------------------------------------------------------------------------------


def unspool_events() -> EventReader:
    (parser_class,) = ours("FragmentParser")

    def read(fragments: Sequence[str]) -> None:
        parser = parser_class()
        feed = parser.feed
        for fragment in fragments:
            feed(fragment)
        parser.close()

    def leaves(fragments: Sequence[str]) -> int:
        parser = parser_class()
        events = [event for fragment in fragments for event in parser.feed(fragment)] + parser.close()
        return sum(event.kind.startswith("complete_") for event in events)

    return EventReader(read, leaves, takes_bytes=False)


def _ijson(backend: str, function: str) -> EventReader:
    sendable_list = load("ijson").sendable_list
    coroutine = getattr(load(f"ijson.backends.{backend}"), function)

    def read(fragments: Sequence[bytes]) -> None:
        events = sendable_list()
        reader = coroutine(events, use_float=True)
        send, clear = reader.send, events.clear
        for fragment in fragments:
            send(fragment)
            clear()
        reader.close()

    def leaves(fragments: Sequence[bytes]) -> int:
        events = sendable_list()
        reader = coroutine(events, use_float=True)
        for fragment in fragments:
            reader.send(fragment)
        reader.close()
        return sum(event[-2] in {"string", "number", "boolean", "null"} for event in events)

    return EventReader(read, leaves)


def _json_stream() -> EventReader:
    visit = load("json_stream").visit

    def read(fragments: Sequence[bytes]) -> None:
        visit(iter(fragments), lambda value, path: None)

    def leaves(fragments: Sequence[bytes]) -> int:
        found: list[object] = []
        visit(iter(fragments), lambda value, path: found.append(value))
        return len(found)

    return EventReader(read, leaves)


_IJSON_LACKS: Final = "no partial strings; paths are text without array indices"
EVENT_READERS: Final[Mapping[str, Peer]] = {
    "ijson C": Peer(lambda: _ijson("yajl2_c", "parse_coro"), _IJSON_LACKS),
    "ijson C, no paths": Peer(
        lambda: _ijson("yajl2_c", "basic_parse_coro"), "no partial strings; no paths", does_the_same=False
    ),
    "ijson Python": Peer(lambda: _ijson("python", "parse_coro"), _IJSON_LACKS, pure_python=True),
    "json-stream": Peer(
        _json_stream, "leaves only; no partial strings; pulls its input, so the reader waits for the writer"
    ),
}


# Values ------------------------------------------------------------------------------------------------------------


def _jiter() -> Prefix:
    from_json = load("jiter").from_json
    return lambda prefix: from_json(prefix, partial_mode="trailing-strings")


def _pydantic_core() -> Prefix:
    from_json = load("pydantic_core").from_json
    return lambda prefix: from_json(prefix, allow_partial="trailing-strings")


_AGAIN: Final = "reads the whole prefix again each time"
PREFIX_PARSERS: Final[Mapping[str, Peer]] = {
    "jiter": Peer(_jiter, _AGAIN, takes_bytes=True),
    "pydantic-core": Peer(_pydantic_core, _AGAIN, takes_bytes=True),
    "partial-json-parser": Peer(lambda: load("partial_json_parser").loads, _AGAIN, pure_python=True),
    "json-repair": Peer(lambda: load("json_repair").loads, _AGAIN, pure_python=True),
    "langchain-core": Peer(lambda: load("langchain_core.utils.json").parse_partial_json, _AGAIN, pure_python=True),
}


def _jsonriver() -> Growing:
    parse = load("jsonriver").parse

    async def stream(fragments: Sequence[str]) -> AsyncIterator[str]:
        for fragment in fragments:
            yield fragment

    async def last(fragments: Sequence[str]) -> object:
        value: object = None
        async for partial in parse(stream(fragments)):
            value = partial
        return value

    def run(fragments: Sequence[str]) -> object:
        # Nothing in it waits, so it runs without an event loop, whose time would count.
        try:
            last(fragments).send(None)
        except StopIteration as end:
            return end.value
        raise AssertionError("jsonriver waited for something")

    return run


def streaming_json_parser_class() -> Any:
    # Its native accelerator (seen with 0.2.3) is used wherever it is installed. With it, an open string keeps the text
    # of its first fragment until it closes. That is less work than these rows measure, so the accelerator stays out.
    sys.modules.setdefault("streaming_json_parser_native", None)  # type: ignore[arg-type]
    return load("streaming_json_parser").StreamingJsonParser


def _streaming_json_parser() -> Growing:
    parser_class = streaming_json_parser_class()

    def run(fragments: Sequence[str]) -> object:
        feed = parser_class().feed
        value: object = None
        for fragment in fragments:
            value = feed(fragment).value
        return value

    return run


GROWING_PARSERS: Final[Mapping[str, Peer]] = {
    "streaming-json-parser": Peer(_streaming_json_parser, "values are mutated later", pure_python=True),
    "jsonriver": Peer(_jsonriver, "values are mutated later; every number a float", pure_python=True),
}
