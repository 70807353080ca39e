"""streams.py: iterators that deliver, then raise; and that leave nothing behind when they are left."""

from __future__ import annotations

import asyncio
import gc
from contextlib import aclosing, closing, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given

from tests.support import strategies
from tests.support.observe import fault, fold, merge, observe
from unspool import (
    MISSING,
    Code,
    Event,
    IncompleteJSONError,
    JSONSyntaxError,
    Kind,
    LimitError,
    Options,
    OptionsError,
    PatternError,
    aiter_events,
    aiter_values,
    iter_events,
    iter_values,
)
from unspool.select import compile as compile_pattern

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable

    from unspool import Fragment

T = TypeVar("T")

# Each test of what is delivered runs for both iterators: as a list of events, and the error if there was one.

Delivered = tuple[list[Event], BaseException | None]


def deliver(fragments: Iterable[Fragment], *args: Any, **kwargs: Any) -> Delivered:
    events: list[Event] = []
    try:
        events.extend(iter_events(fragments, *args, **kwargs))
    except (JSONSyntaxError, TypeError) as error:
        return events, error
    return events, None


def deliver_async(fragments: Iterable[Fragment], *args: Any, **kwargs: Any) -> Delivered:
    async def run() -> Delivered:
        events: list[Event] = []
        try:
            await collect(aiter_events(awaited(fragments), *args, **kwargs), events)
        except (JSONSyntaxError, TypeError) as error:
            return events, error
        return events, None

    return asyncio.run(run())


async def collect(stream: AsyncIterator[T], items: list[T]) -> None:
    async for item in stream:
        items.append(item)  # noqa: PERF401 - one by one: what comes before an error counts


async def awaited(items: Iterable[T]) -> AsyncGenerator[T, None]:
    for item in items:
        await asyncio.sleep(0)
        yield item


both = pytest.mark.parametrize("delivered", [deliver, deliver_async], ids=["iter", "aiter"])


def told(events: list[Event]) -> list[str]:
    return [f"{event.kind.value} {event.path}" for event in events]


@both
def test_events_of_a_document(delivered: Callable[..., Delivered]) -> None:
    """A whole text gives its events, a number that the end completes included, and no error."""
    events, error = delivered(['{"a', '": [1', ', "x', b'"]', " }"])
    assert fold(events) == [{"a": [1, "x"]}]
    assert error is None
    assert told(delivered(["1", "2"])[0]) == ["complete_number $"]


@both
@pytest.mark.parametrize(
    ("fragments", "before", "code"),
    [
        (["[1,", " 2 x", "never read"], ["start_array $", "complete_number $[0]", "complete_number $[1]"], "$"),
        (['["ab', "\n"], ["start_array $", "start_string $[0]", "partial_string $[0]"], "$[0]"),
        (["x"], [], "$"),
        (["[", b"\xff"], ["start_array $"], "$[0]"),
    ],
)
def test_deliver_then_raise(
    delivered: Callable[..., Delivered], fragments: list[Fragment], before: list[str], code: str
) -> None:
    """What came before the fault is delivered, the fault is raised behind it, and no error is an event."""
    events, error = delivered(fragments)
    assert told(events) == before
    assert isinstance(error, JSONSyntaxError)
    assert str(error.path) == code


@both
@pytest.mark.parametrize("fragments", [[], [""], ["["], ['{"a": "b', "c"], ["-"], [b'"\xc3']])
def test_the_end_too_early_is_raised(delivered: Callable[..., Delivered], fragments: list[Fragment]) -> None:
    """A text that ends too early gives its events, then an IncompleteJSONError."""
    events, error = delivered(fragments)
    assert isinstance(error, IncompleteJSONError)
    assert merge(events) == observe(fragments).events[:-1]


@both
def test_limits_are_raised(delivered: Callable[..., Delivered]) -> None:
    """Options hold, and a limit is raised as what it is."""
    events, error = delivered(["[[[", "never read"], Options(max_depth=2))
    assert told(events) == ["start_array $", "start_array $[0]"]
    assert isinstance(error, LimitError)


@both
def test_select(delivered: Callable[..., Delivered]) -> None:
    """With `select` only the values that match are delivered, with everything inside them."""
    fragments = ['{"days": [{"title": "A', '", "n": [1]}, {"tit', 'le": "B"}], "title": 0}']
    events, error = delivered(fragments, select="$.days[*].title")
    assert error is None
    assert [event.value for event in events if event.kind is Kind.COMPLETE_STRING] == ["A", "B"]
    assert {str(event.path) for event in events} == {"$.days[0].title", "$.days[1].title"}
    assert delivered(fragments, select=compile_pattern("$.days[*].title")) == (events, None)
    inside, _ = delivered(fragments, None, select="$..n")
    assert told(inside) == ["start_array $.days[0].n", "complete_number $.days[0].n[0]", "end_array $.days[0].n"]


@both
def test_select_delivers_faults(delivered: Callable[..., Delivered]) -> None:
    """A fault is raised wherever it is; with recovery, errors are delivered wherever they are."""
    events, error = delivered(['{"a": 1, "b": x'], select="$.a")
    assert told(events) == ["complete_number $.a"]
    assert isinstance(error, JSONSyntaxError)
    events, error = delivered(['{"a": 1, "b": x, "a": 2}'], Options(on_error="skip"), select="$.a")
    assert told(events) == ["complete_number $.a", "error $.b", "complete_number $.a"]
    assert error is None


@pytest.mark.parametrize("make", [iter_events, aiter_events, iter_values, aiter_values])
def test_options_are_refused_at_once(make: Callable[..., object]) -> None:
    """What is no `Options` is refused by the call, not by the first step."""
    with pytest.raises(OptionsError, match="options must be Options or None, not int"):
        make([], options=5)


@pytest.mark.parametrize("make", [iter_events, aiter_events])
def test_wrong_arguments_are_refused_at_once(make: Callable[..., object]) -> None:
    """A pattern that cannot be compiled is refused by the call, not by the first step."""
    with pytest.raises(PatternError):
        make([], select="$[?@.a]")
    with pytest.raises(OptionsError):
        make([], Options(max_depth=-1))


@both
def test_recovery(delivered: Callable[..., Delivered]) -> None:
    """With on_error="skip" an error after which reading goes on is an event; the one that ends it is raised."""
    skip = Options(on_error="skip")
    events, error = delivered(["[x,", "1, y", "]"], skip)
    assert told(events) == ["start_array $", "error $[0]", "complete_number $[0]", "error $[1]", "end_array $"]
    assert error is None
    events, error = delivered(["[x,", "1, y"], skip)
    assert told(events) == ["start_array $", "error $[0]", "complete_number $[0]", "error $[1]"]
    assert isinstance(error, IncompleteJSONError)
    events, error = delivered(["[x,[["], Options(on_error="skip", max_depth=2))
    assert told(events) == ["start_array $", "error $[0]", "start_array $[0]"]
    assert isinstance(error, LimitError)


@given(strategies.cut(strategies.broken_documents()), strategies.dialects())
def test_they_deliver_what_a_parser_tells(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """Whatever the text, both iterators deliver the events of a parser, and raise what it tells last."""
    seen = observe([cut[0]], **dialect)
    for events, error in (deliver(cut[1], Options(**dialect)), deliver_async(cut[1], Options(**dialect))):
        if isinstance(error, JSONSyntaxError):
            assert merge(events) == seen.events[:-1]
            assert fault(error) == seen.error
        else:
            assert merge(events) == seen.events


@both
def test_a_wrong_type_is_raised(delivered: Callable[..., Delivered]) -> None:
    """A source that gives something else than text or bytes is met with a TypeError."""
    events, error = delivered(["[1,", None])
    assert told(events) == ["start_array $", "complete_number $[0]"]
    assert isinstance(error, TypeError)


# Sources


class Source:
    """A source of fragments that knows what was done to it; `fail` is what it raises at its end."""

    def __init__(self, *fragments: Fragment, fail: Exception | None = None) -> None:
        self.fragments = fragments
        self.fail = fail
        self.given = 0
        self.is_closed = False

    def generate(self) -> Generator[Fragment, None, None]:
        try:
            for fragment in self.fragments:
                self.given += 1
                yield fragment
            if self.fail is not None:
                raise self.fail
        finally:
            self.is_closed = True

    async def agenerate(self) -> AsyncGenerator[Fragment, None]:
        try:
            for fragment in self.fragments:
                await asyncio.sleep(0)
                self.given += 1
                yield fragment
            if self.fail is not None:
                raise self.fail
        finally:
            await asyncio.sleep(0)  # closing may take its time
            self.is_closed = True


@pytest.mark.parametrize("kind", [list, tuple, iter, "".join, dict.fromkeys], ids=lambda kind: str(kind.__name__))
def test_any_iterable_is_a_source(kind: Callable[[list[str]], Iterable[Fragment]]) -> None:
    """A list, a tuple, an iterator, even a str (of its characters): whatever gives fragments is a source."""
    assert fold(iter_events(kind(["[1", "]"]))) == [[1]]


class Clock:
    """An async source that is no generator: it has nothing but the protocol."""

    def __init__(self, *fragments: Fragment) -> None:
        self.fragments = iter(fragments)

    def __aiter__(self) -> AsyncIterator[Fragment]:
        return self

    async def __anext__(self) -> Fragment:
        await asyncio.sleep(0)
        try:
            return next(self.fragments)
        except StopIteration:
            raise StopAsyncIteration from None


def test_any_async_iterable_is_a_source() -> None:
    """Whatever can be awaited for fragments is a source."""

    async def run() -> list[Event]:
        return [event async for event in aiter_events(Clock("[1", "]"))]

    assert fold(asyncio.run(run())) == [[1]]


def test_a_source_is_asked_for_no_more_than_needed() -> None:
    """The next fragment is asked for when all events of the last one were taken; after a fault, none is."""
    source = Source("[1, 2, 3", ", 4", " x", "never read")
    events = iter_events(source.generate())
    for wanted, count in [(Kind.START_ARRAY, 1), (1, 1), (2, 1), (3, 2), (4, 3)]:
        event = next(events)
        assert (event.kind if event.value is None else event.value, source.given) == (wanted, count)
    with pytest.raises(JSONSyntaxError):
        next(events)
    assert (source.given, source.is_closed) == (3, True)
    with pytest.raises(StopIteration):
        next(events)


@pytest.mark.parametrize("leave", ["close", "delete", "break", "raise"])
def test_leaving_half_way_closes_the_source(leave: str) -> None:
    """However an iterator is left, a generator that is its source is closed with it, at once."""
    source = Source("[1,", "2,", "3")
    events: Any = iter_events(source.generate())
    next(events)
    if leave == "close":
        events.close()
    elif leave == "delete":
        del events
    elif leave == "break":
        for _ in events:
            break
        events = None
    else:
        with pytest.raises(KeyError), closing(events):
            raise KeyError
    assert source.is_closed
    assert source.given == 1


@pytest.mark.parametrize("leave", ["aclose", "aclosing", "break", "raise"])
def test_leaving_an_async_iterator_half_way_closes_the_source(leave: str) -> None:
    """The same for an async generator; one that is merely dropped is closed by the event loop."""
    source = Source("[1,", "2,", "3")

    async def run() -> None:
        events: Any = aiter_events(source.agenerate())
        await anext(events)
        if leave == "aclose":
            await events.aclose()
        elif leave == "aclosing":
            async with aclosing(events):
                await anext(events)
        elif leave == "break":
            async for _ in events:
                break
            del events
            for _ in range(10):
                await asyncio.sleep(0)
        else:
            with pytest.raises(KeyError):
                async with aclosing(events):
                    raise KeyError
        assert source.is_closed

    asyncio.run(run())
    assert source.given == 1


@pytest.mark.parametrize("fragments", [["[1", "]"], ["[1", "x"], ["[1"]], ids=["whole", "broken", "incomplete"])
def test_the_source_is_closed_at_the_end(fragments: list[str]) -> None:
    """When the text ends, is broken or incomplete, the source is closed before the caller hears of it."""
    source = Source(*fragments)
    deliver(source.generate())
    assert source.is_closed
    asource = Source(*fragments)

    async def run() -> None:
        with suppress(JSONSyntaxError):
            await collect(aiter_events(asource.agenerate()), [])
        assert asource.is_closed

    asyncio.run(run())


def test_errors_of_the_source_pass_through() -> None:
    """What a source raises is raised, after the events before it, and as it was."""
    failure = ConnectionError("gone")
    events: list[Event] = []
    with pytest.raises(ConnectionError) as raised:
        events.extend(iter_events(Source('["ab', fail=failure).generate()))
    assert raised.value is failure
    assert told(events) == ["start_array $", "start_string $[0]", "partial_string $[0]"]


def test_errors_of_an_async_source_pass_through() -> None:
    """The same for a source that is awaited."""
    failure = ConnectionError("gone")
    source = Source('["ab', fail=failure)
    events: list[Event] = []

    async def run() -> None:
        await collect(aiter_events(source.agenerate()), events)

    with pytest.raises(ConnectionError) as raised:
        asyncio.run(run())
    assert raised.value is failure
    assert told(events) == ["start_array $", "start_string $[0]", "partial_string $[0]"]
    assert source.is_closed


def test_cancellation() -> None:
    """A task that is cancelled while it waits for a fragment ends there, and closes the source on its way."""
    events: list[Event] = []
    closed: list[str] = []

    async def stalls() -> AsyncGenerator[str, None]:
        try:
            yield "[1,"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            closed.append("source")

    async def run() -> None:
        task = asyncio.create_task(collect(aiter_events(stalls()), events))
        while len(events) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert closed == ["source"]

    asyncio.run(run())
    assert told(events) == ["start_array $", "complete_number $[0]"]


def test_two_streams_at_once() -> None:
    """Streams that are read in turns know nothing of each other."""
    first, second = iter_events(['["a', 'b"]']), iter_events([b"[1", b", 2]"])
    mixed = [event for pair in zip(first, second, strict=False) for event in pair]
    assert told(mixed[::2])[:3] == ["start_array $", "start_string $[0]", "partial_string $[0]"]
    assert told(mixed[1::2])[:3] == ["start_array $", "complete_number $[0]", "complete_number $[1]"]


def test_a_stream_that_never_started_leaves_nothing() -> None:
    """Iterators that are made and dropped, or closed before their first step, are no trouble."""
    source = Source("[1]")
    events: Any = iter_events(source.generate())
    events.close()
    aevents: Any = aiter_events(source.agenerate())
    del events, aevents
    gc.collect()
    assert source.given == 0


# Values


def grown(fragments: Iterable[Fragment], *args: Any, **kwargs: Any) -> tuple[list[object], BaseException | None]:
    values: list[object] = []
    try:
        values.extend(iter_values(fragments, *args, **kwargs))
    except JSONSyntaxError as error:
        return values, error
    return values, None


def grown_async(fragments: Iterable[Fragment], *args: Any, **kwargs: Any) -> tuple[list[object], BaseException | None]:
    values: list[object] = []

    async def run() -> BaseException | None:
        try:
            await collect(aiter_values(awaited(fragments), *args, **kwargs), values)
        except JSONSyntaxError as error:
            return error
        return None

    return values, asyncio.run(run())


both_ways = pytest.mark.parametrize("values_of", [grown, grown_async], ids=["iter", "aiter"])


@both_ways
@pytest.mark.parametrize(
    ("fragments", "values"),
    [
        ([" ", '{"a', '": "x', 'y"', "}"], [{}, {"a": "x"}, {"a": "xy"}]),
        (["[1", "2", ", ", "3]"], [[], [12], [12, 3]]),
        (["1", "2"], [12]),
        (['{"a": [1], "a"', ': "'], [{"a": [1]}, {"a": ""}]),
        (["nul", "l"], [None]),
    ],
)
def test_values_that_changed(values_of: Callable[..., Any], fragments: list[Fragment], values: list[object]) -> None:
    """A value is delivered for each fragment that changed something visible, and for no other."""
    assert values_of(fragments)[0] == values


@both_ways
def test_every_value(values_of: Callable[..., Any]) -> None:
    """With `every` there is one for each fragment, the same object where nothing changed."""
    values, error = values_of([" ", "[", "1", "]", " "], every=True)
    assert values[1:] == [[], [], [1], [1]]
    assert values[0] is MISSING
    assert values[1] is values[2]
    assert values[3] is values[4]
    assert error is None


@both_ways
def test_values_stay_and_share(values_of: Callable[..., Any]) -> None:
    """What was delivered does not change, and what did not change is the same object in the next value."""
    (first, second, third), error = values_of(['{"days": [{"n": 1}', ', {"n": ', '2}], "end": true}'])
    assert first == {"days": [{"n": 1}]}
    assert second == {"days": [{"n": 1}, {}]}
    assert third == {"days": [{"n": 1}, {"n": 2}], "end": True}
    assert first["days"][0] is second["days"][0] is third["days"][0]
    assert error is None


@both_ways
@pytest.mark.parametrize(
    ("fragments", "values", "code"),
    [
        (["[1, ", "2, x"], [[1], [1, 2]], Code.UNEXPECTED_CHARACTER),
        (['["a', "b\n"], [["a"], ["ab"]], Code.CONTROL_CHARACTER),
        (["[1, "], [[1]], Code.INCOMPLETE),
        ([], [], Code.INCOMPLETE),
        (["x"], [], Code.UNEXPECTED_CHARACTER),
    ],
)
def test_values_before_a_fault(
    values_of: Callable[..., Any], fragments: list[Fragment], values: list[object], code: Code
) -> None:
    """What was known before a fault is delivered, then the fault is raised."""
    delivered, error = values_of(fragments)
    assert delivered == values
    assert error.code is code


@both_ways
def test_values_of_several_documents(values_of: Callable[..., Any]) -> None:
    """Each document of a text is delivered when it closes, also if it is the same as the one before."""
    several = Options(multiple=True)
    assert values_of(['1 1 [2]\n[2]"a" "b', 'c"'], several) == ([1, 1, [2], [2], "a", "b", "bc"], None)
    assert values_of(["", " \n"], several) == ([], None)


@both_ways
def test_values_with_recovery(values_of: Callable[..., Any]) -> None:
    """With on_error="skip" what is broken is left out, and only an error that ends the text is raised."""
    skip = Options(on_error="skip")
    assert values_of(["[1, x", ", 2]"], skip) == ([[1], [1, 2]], None)
    assert isinstance(values_of(["[1, x"], skip)[1], IncompleteJSONError)
