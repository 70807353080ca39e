"""The rows about values: the partial value after each fragment, in bulk, with every state kept, for many streams.

The prefix parsers need the text so far in one piece. Their time includes one slice of the document for it, which is the
cost of appending a fragment to `bytes`. Where reading every prefix would take too long, they get an even sample, each
from the middle of its stretch of the document. Prefixes that a parser rejects do not count. The note of the reading has
both numbers.
"""

from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate
from typing import Any, Final

from .documents import SHAPES, cut, cut_ragged, file_in_a_tool_call, itinerary, table
from .doubling import doubling
from .floor import floor
from .peers import GROWING_PARSERS, PREFIX_PARSERS, Growing, Peer, streaming_json_parser_class
from .rows import (
    DOUBLING,
    FLOOR,
    KIB_PER_STREAM,
    LARGE_TO_SMALL,
    MB_PER_SECOND,
    OURS,
    US_PER_FRAGMENT,
    Contender,
    Row,
    UnavailableError,
    load,
    ours,
)
from .timing import FULL, Effort, Measure, Reading, per_fragment, seconds, throughput

__all__ = ["prefixes", "rows"]

_TOO_LONG: Final = 0.1
_ROWS_IN_1_MB: Final = 10_700
_TURNS_OF_LARGE: Final = 3


def rows(effort: Effort) -> Iterator[Row]:
    for name, size in (("0.5 KB", 500), ("2 KB", 2_000), ("10 KB", 10_000), ("100 KB", 100_000)):
        yield _after_each_fragment(f"itinerary {name}", partial(itinerary, size), effort)
    yield _after_each_fragment("50 KB string", partial(file_in_a_tool_call, 50_000), effort)
    yield _after_each_fragment("2,000 rows", partial(table, 2_000), effort)
    yield _plain_build("itinerary 10 KB", partial(itinerary, 10_000), effort)

    yield _alone("live/itinerary 100 KB", "live value, itinerary 100 KB", _live, partial(itinerary, 100_000), effort)
    yield _alone("live/2,000 rows", "live value, 2,000 rows", _live, partial(table, 2_000), effort)
    yield _alone(
        "unasked/50 KB string",
        "value not asked for, 50 KB string",
        _unasked,
        partial(file_in_a_tool_call, 50_000),
        effort,
    )
    for name, size in (("10 KB", 10_000), ("100 KB", 100_000)):
        title = f"parse_chunk, itinerary {name}"
        yield _alone(f"parse_chunk/{name}", title, _newest_state, partial(itinerary, size), effort)
    yield _alone("states/10 KB", "every state kept, itinerary 10 KB", _states, partial(itinerary, 10_000), effort)
    yield _alone("states/100 KB", "every state kept, itinerary 100 KB", _states, partial(itinerary, 100_000), effort)

    for key, title, make, shape in (
        ("unasked", "value not asked for, doubled: one long string", _unasked, SHAPES["one long string"]),
        ("live", "live value, doubled: wide array", _live, SHAPES["wide array"]),
        ("states", "every state kept, doubled: wide array", _states, SHAPES["wide array"]),
    ):
        contender = Contender(OURS, partial(_doubled, make, shape, effort))
        yield Row(f"values/doubling/{key}", title, DOUBLING, [contender], turns=1)

    yield _bulk("itinerary 1 MB", partial(itinerary, 1_000_000), effort)
    yield _bulk("2,000 rows", partial(table, 2_000), effort)
    yield Row(
        "values/large",
        "time per character of many rows, with the garbage collector on",
        LARGE_TO_SMALL,
        [
            Contender(OURS, lambda: _large(_at_once(), effort)),
            Contender("json", lambda: _large(json.loads, effort), "whole documents only"),
        ],
        turns=1,
    )
    yield _many_streams(10_000 if effort is FULL else 1_000)


# unspool, in its five ways ----------------------------------------------------------------------------------------


def _asked(**options: bool) -> Growing:
    (parser_class,) = ours("ValueParser")

    def run(fragments: Sequence[str]) -> object:
        parser = parser_class(**options)
        feed = parser.feed
        value: object = None
        for fragment in fragments:
            feed(fragment)
            value = parser.value
        return value

    return run


def _live() -> Growing:
    return _asked(live=True)


def _unasked() -> Growing:
    (parser_class,) = ours("ValueParser")

    def run(fragments: Sequence[str]) -> object:
        parser = parser_class()
        feed = parser.feed
        for fragment in fragments:
            feed(fragment)
        return parser

    return run


def _newest_state() -> Growing:
    create_state, parse_chunk = ours("create_state", "parse_chunk")

    def run(fragments: Sequence[str]) -> object:
        state = create_state()
        for fragment in fragments:
            state = parse_chunk(state, fragment)
        return state

    return run


def _states() -> Growing:
    create_state, parse_chunk = ours("create_state", "parse_chunk")

    def run(fragments: Sequence[str]) -> object:
        state = create_state()
        states = [state]
        keep = states.append
        for fragment in fragments:
            state = parse_chunk(state, fragment)
            keep(state)
        return states[-1]

    return run


# One value after each fragment ------------------------------------------------------------------------------------


def _after_each_fragment(name: str, document: Callable[[], str], effort: Effort) -> Row:
    def growing(make: Callable[[], Growing]) -> Measure:
        return _per_fragment(make(), document(), effort)

    def again(peer: Peer) -> Measure:
        return prefixes(peer, document(), effort)

    def least() -> Measure:
        fragments = cut_ragged(document())
        return per_fragment(floor(fragments, json.loads(document())), len(fragments), effort)

    contenders = [
        Contender(OURS, partial(growing, _asked)),
        Contender(FLOOR, least, "no value, only the work that every value requires", does_the_same=False),
    ]
    contenders += [
        Contender(name, partial(growing, peer.make), peer.lacks, peer.pure_python)
        for name, peer in GROWING_PARSERS.items()
    ]
    contenders += [
        Contender(name, partial(again, peer), peer.lacks, peer.pure_python) for name, peer in PREFIX_PARSERS.items()
    ]
    return Row(f"values/{name}", f"value, {name}", US_PER_FRAGMENT, contenders)


def _plain_build(name: str, document: Callable[[], str], effort: Effort) -> Row:
    """The plain build beside the fastest peer that is written in Python."""
    peer = GROWING_PARSERS["streaming-json-parser"]
    contenders = [
        Contender(OURS, lambda: _per_fragment(_asked(), document(), effort)),
        Contender(
            "streaming-json-parser",
            lambda: _per_fragment(peer.make(), document(), effort),
            peer.lacks,
            pure_python=True,
        ),
    ]
    title = f"value, plain build beside streaming-json-parser, {name}"
    return Row(f"values/plain/{name}", title, US_PER_FRAGMENT, contenders)


def _alone(key: str, title: str, make: Callable[[], Growing], document: Callable[[], str], effort: Effort) -> Row:
    """A row without peers."""
    contender = Contender(OURS, lambda: _per_fragment(make(), document(), effort))
    return Row(f"values/{key}", title, US_PER_FRAGMENT, [contender])


def _doubled(make: Callable[[], Growing], shape: Callable[[int], str], effort: Effort) -> Measure:
    return doubling(shape, make(), effort, {4: 60_000})


def _per_fragment(run: Growing, text: str, effort: Effort) -> Measure:
    fragments = cut_ragged(text)
    _prove(_plain(run(fragments)), text)
    return per_fragment(lambda: run(fragments), len(fragments), effort)


def prefixes(peer: Peer, text: str, effort: Effort, as_plain: Callable[[Any], object] = lambda value: value) -> Measure:
    """Read the text so far again for each fragment. `as_plain` converts a result of the peer to a plain JSON value."""
    parse = peer.make()
    whole: Any = text.encode() if peer.takes_bytes else text
    _prove(as_plain(parse(whole)), text)
    fragments = cut_ragged(text)
    ends = list(accumulate(len(fragment.encode() if peer.takes_bytes else fragment) for fragment in fragments))
    cost = _cost_of_a_prefix(lambda end: _accepts(parse, whole[:end]), len(whole))
    wanted = min(len(ends), max(int(effort.sample / cost), 5))
    chosen = [ends[int((index + 0.5) * len(ends) / wanted)] for index in range(wanted)]
    accepted = [end for end in chosen if _accepts(parse, whole[:end])]
    if not accepted:
        raise UnavailableError("refuses every prefix")

    def run() -> None:
        for end in accepted:
            parse(whole[:end])

    notes = []
    if wanted < len(ends):
        notes.append(f"{wanted} of {len(ends)} prefixes")
    if len(accepted) < wanted:
        notes.append(f"refuses {wanted - len(accepted)} of {wanted} prefixes")
    return per_fragment(run, len(accepted), effort, "; ".join(notes))


def _cost_of_a_prefix(parse: Callable[[int], object], length: int) -> float:
    """Measure a prefix of half the text, after shorter ones: some parsers would take minutes."""
    cost = 1e-7
    for share in (16, 8, 4, 2):
        end = length // share
        cost = max(cost, seconds(partial(parse, end)))
        if cost > _TOO_LONG:
            raise UnavailableError(f"takes {cost:.1f} s for a prefix of {end:,} characters")
    return cost


def _accepts(parse: Callable[[Any], object], prefix: str | bytes) -> bool:
    try:
        parse(prefix)
    except Exception:
        return False
    return True


def _plain(result: Any) -> object:
    """Return the value of a parser or a state, outside of the measured time."""
    return result.value if hasattr(result, "value") else result


def _prove(value: object, text: str) -> None:
    if value != json.loads(text):
        raise UnavailableError("another value than the text has")


# Bulk -------------------------------------------------------------------------------------------------------------


def _bulk(name: str, document: Callable[[], str], effort: Effort) -> Row:
    def measure(parse: Callable[[Any], object], given: str | bytes) -> Measure:
        _prove(parse(given), document())
        return throughput(lambda: parse(given), document(), effort)

    lacks = "whole documents only"
    contenders = [
        Contender(OURS, lambda: measure(_at_once(), document())),
        Contender("orjson", lambda: measure(load("orjson").loads, document().encode()), lacks),
        Contender("jiter", lambda: measure(load("jiter").from_json, document().encode()), lacks),
        Contender("json", lambda: measure(json.loads, document()), lacks),
    ]
    return Row(f"values/bulk/{name}", f"value in bulk (one fragment), {name}", MB_PER_SECOND, contenders)


def _at_once() -> Callable[[Any], object]:
    (parser_class,) = ours("ValueParser")

    def parse(text: str) -> object:
        parser = parser_class()
        parser.feed(text)
        return parser.close()

    return parse


def _large(parse: Callable[[str], object], effort: Effort) -> Measure:
    """Compare the time per character of a large and a small document. The collector runs, as it does for users."""

    def measure() -> Reading:
        texts = [table(int(rows * effort.scale)) for rows in (_ROWS_IN_1_MB, 15 * _ROWS_IN_1_MB)]
        costs = [math.inf, math.inf]
        for _ in range(_TURNS_OF_LARGE):
            for index, text in enumerate(texts):
                once = seconds(lambda text=text: parse(text), with_collector=True)  # type: ignore[misc]
                costs[index] = min(costs[index], once / len(text))
        small, large = costs
        return Reading(large / small, f"{small * 1e9:.1f} and {large * 1e9:.1f} ns per character")

    return measure


# Many streams at once ---------------------------------------------------------------------------------------------


class _Sink:
    """A target for the events of ijson that drops them."""

    def send(self, event: object) -> None:
        pass


def _many_streams(streams: int) -> Row:
    """Memory of a half-read stream beyond its value. Stream k has read k fragments, so the mean covers every stage."""
    fragments = cut(itinerary(500), 4)

    def measure(
        make: Callable[[], Any],
        feed: str,
        given: Sequence[Any],
        read: Callable[[Any], object],
        drop: Callable[[Any], object] = id,
    ) -> Reading:
        reads = [index % len(fragments) + 1 for index in range(streams)]
        tracemalloc.start()
        try:
            parsers = [make() for _ in range(streams)]
            for turn, fragment in enumerate(given):
                for parser, last in zip(parsers, reads, strict=True):
                    if turn < last:
                        getattr(parser, feed)(fragment)
            values = [read(parser) for parser in parsers]
            total = tracemalloc.get_traced_memory()[0]
            texts = [json.dumps(value) for value in values]
            before = tracemalloc.get_traced_memory()[0]
            plain = [json.loads(text) for text in texts]
            of_values = tracemalloc.get_traced_memory()[0] - before
            assert len(plain) == len(values)
        finally:
            tracemalloc.stop()
        for parser in parsers:
            drop(parser)
        return Reading((total - of_values) / streams / 1024, f"{streams} streams")

    def mine() -> Measure:
        (parser_class,) = ours("ValueParser")
        return lambda: measure(parser_class, "feed", fragments, lambda parser: parser.value)

    def ijson() -> Measure:
        coroutine = load("ijson.backends.python").parse_coro
        given = [fragment.encode() for fragment in fragments]

        def drop(reader: Any) -> None:
            with suppress(load("ijson").JSONError):  # else it is printed when the reader is collected
                reader.close()

        return lambda: measure(lambda: coroutine(_Sink()), "send", given, lambda reader: None, drop)

    def streaming_json_parser() -> Measure:
        parser_class = streaming_json_parser_class()
        return lambda: measure(parser_class, "feed", fragments, lambda parser: parser.poll().value)

    contenders = [
        Contender(OURS, mine),
        Contender("ijson Python", ijson, "no value", pure_python=True, does_the_same=False),
        Contender("streaming-json-parser", streaming_json_parser, "values are mutated later", pure_python=True),
    ]
    return Row("values/streams", "memory beyond the values, 10,000 streams", KIB_PER_STREAM, contenders, turns=1)
