"""Streams of snapshots through the chunkers, and the iterators over snapshots.

The project has streams of its own, in tests/support/snapshot_streams.py. The recordings stand beside the project; where
they are absent their tests are skipped. They prove little on their own: one schema, nothing but strings and containers.
The laws are in test_laws_chunker.py.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from tests.support import chains, snapshot_streams
from tests.support.chains import Chain, Judge, load
from unspool import (
    FragmentParser,
    Reason,
    SnapshotChunker,
    SnapshotError,
    StateError,
    TextChunker,
    achunk_snapshots,
    chunk_snapshots,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

RECORDINGS = [
    "maui-itinerary-1",
    "maui-itinerary-2",
    "maui-itinerary-4",
    "maui-itinerary-6",
    "mount-fuji-itinerary-1",
    "serengeti-itinerary-1",
]
TEXTS = ["emotional-response-2", "maui-itinerary-openai-1", "numbers-first"]

FORMS: dict[str, Callable[[str], Any]] = {"text": str, "bytes": str.encode, "parsed": json.loads}
formed = pytest.mark.parametrize("form", FORMS)
recorded = pytest.mark.parametrize("name", RECORDINGS)


def snapshots_of(folder: Path, name: str) -> list[str]:
    """The snapshots of one recording."""
    lines = (folder / "snapshots" / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    snapshots = [line for line in lines if line]
    assert len(snapshots) > 40
    return snapshots


def run(snapshots: Iterable[Any], chunker: SnapshotChunker | None = None) -> list[str]:
    return list(chunk_snapshots(snapshots, chunker=chunker))


def run_async(snapshots: Iterable[Any], chunker: SnapshotChunker | None = None) -> list[str]:
    async def collect() -> list[str]:
        return [fragment async for fragment in achunk_snapshots(awaited(snapshots), chunker=chunker)]

    return asyncio.run(collect())


async def awaited(items: Iterable[Any]) -> AsyncGenerator[Any, None]:
    for item in items:
        await asyncio.sleep(0)
        yield item


both = pytest.mark.parametrize("respooled", [run, run_async], ids=["iter", "aiter"])


# ---- the streams of the project -----------------------------------------------------------------------------


@pytest.mark.parametrize("empty", ["write", "wait"])
@pytest.mark.parametrize("name", snapshot_streams.DOCUMENTS)
@formed
def test_streams(name: str, form: str, empty: Any) -> None:
    """Law 14 for each stream: of a text that is written, and of a model that is filled."""
    snapshots = snapshot_streams.filled(name) if empty == "wait" else snapshot_streams.written(name)
    assert 40 < len(snapshots) < 400
    chunker, judge = SnapshotChunker(empty=empty), Judge(empty=empty)
    for snapshot in snapshots:
        judge.take(chunker.process(FORMS[form](snapshot)), load(snapshot))
    judge.finish(chunker.flush(), load(snapshots[-1]))
    assert load(snapshots[-1]) == load(json.dumps(snapshot_streams.DOCUMENTS[name]))
    assert judge.figures.delay <= 1
    assert judge.figures.fragments > judge.figures.steps / 3


@pytest.mark.parametrize("empty", ["write", "wait"])
@pytest.mark.parametrize("name", snapshot_streams.DOCUMENTS)
def test_streams_coarser(name: str, empty: Any) -> None:
    """The same where snapshots are missed: any stride, and the last one alone."""
    snapshots = snapshot_streams.filled(name) if empty == "wait" else snapshot_streams.written(name)
    for stride in (2, 3, 5, 13, len(snapshots)):
        chosen = [*snapshots[::stride], snapshots[-1]]
        chunker, judge = SnapshotChunker(empty=empty), Judge(empty=empty)
        for snapshot in chosen:
            judge.take(chunker.process(snapshot), load(snapshot))
            judge.take(chunker.process(json.loads(snapshot)), load(snapshot))
        judge.finish(chunker.flush(), load(chosen[-1]))


@pytest.mark.parametrize("name", snapshot_streams.DOCUMENTS)
@both
def test_streams_through_the_iterators(name: str, respooled: Any) -> None:
    """The iterators give the fragments of the chunker, the empty ones left out, and then the flush."""
    snapshots = snapshot_streams.written(name)
    chunker = SnapshotChunker()
    expected = [*[chunker.process(snapshot) for snapshot in snapshots], chunker.flush()]
    assert respooled(snapshots) == [fragment for fragment in expected if fragment]


def test_a_filled_model_needs_the_option() -> None:
    """Without it, each of the filled models contradicts what is written, and that is told."""
    for name in snapshot_streams.DOCUMENTS:
        with pytest.raises(SnapshotError):
            run(snapshot_streams.filled(name))


@pytest.mark.parametrize("name", snapshot_streams.TEXTS)
def test_texts(name: str) -> None:
    """The growing prefixes of a text give back its fragments; repeats give nothing. A string is no different."""
    fragments = snapshot_streams.TEXTS[name]
    chunker, strings, text, written = TextChunker(), SnapshotChunker(), "", ""
    for fragment in fragments:
        text += fragment
        assert chunker.process(text) == fragment
        assert chunker.process(text) == ""
        written += strings.process(json.dumps(text))
        assert json.loads(written + '"') == text
    assert chunker.flush() == ""
    assert json.loads(written + strings.flush()) == text


# ---- the recordings --------------------------------------------------------------------------------------


@recorded
@formed
def test_recordings(shared_data: Path, name: str, form: str) -> None:
    """Law 14 for each recording: viable throughout, at most one distinct snapshot late, right at the end."""
    snapshots = snapshots_of(shared_data, name)
    chunker, judge = SnapshotChunker(), Judge()
    for snapshot in snapshots:
        judge.take(chunker.process(FORMS[form](snapshot)), load(snapshot))
    judge.finish(chunker.flush(), load(snapshots[-1]))
    print(f"{name} as {form}: {judge.figures}")
    assert judge.figures.steps == len(snapshots)
    assert judge.figures.delay <= 1


@recorded
def test_recordings_coarser(shared_data: Path, name: str) -> None:
    """The same where snapshots are missed: any stride, any start, each snapshot twice, and the last one alone."""
    snapshots = snapshots_of(shared_data, name)
    for stride in (1, 2, 3, 5, 8, 13, len(snapshots)):
        for start in range(min(stride, 5)):
            chosen = [*snapshots[start::stride], snapshots[-1]]
            chunker, judge = SnapshotChunker(), Judge()
            for snapshot in chosen:
                value = load(snapshot)
                judge.take(chunker.process(snapshot), value)
                judge.take(chunker.process(json.loads(snapshot)), value)
            judge.finish(chunker.flush(), load(chosen[-1]))


@recorded
@both
def test_recordings_through_the_iterators(shared_data: Path, name: str, respooled: Any) -> None:
    """The iterators give the fragments of the chunker, the empty ones left out, and then the flush."""
    snapshots = snapshots_of(shared_data, name)
    chunker = SnapshotChunker()
    expected = [*[chunker.process(snapshot) for snapshot in snapshots], chunker.flush()]
    assert respooled(snapshots) == [fragment for fragment in expected if fragment]


@pytest.mark.parametrize("name", TEXTS)
def test_recorded_texts(shared_data: Path, name: str) -> None:
    """The growing prefixes of a recorded text give back its fragments; repeats give nothing."""
    lines = (shared_data / "snapshots" / "text" / f"{name}.txt").read_bytes().decode().split("\n")
    chunker, text, empty = TextChunker(), "", 0
    for line in lines:
        text += line
        assert chunker.process(text) == line
        assert chunker.process(text) == ""
        empty += not line
    assert chunker.flush() == ""
    assert chunker.restarts == 0
    print(f"{name}: {len(lines)} fragments, {empty} empty")
    parser = FragmentParser()
    for line in lines:
        parser.feed(line)
        assert parser.error is None


@pytest.mark.parametrize("name", TEXTS)
def test_recorded_texts_as_snapshots_of_a_string(shared_data: Path, name: str) -> None:
    """The same prefixes as snapshots that are one string: the chunkers agree on what is new."""
    lines = (shared_data / "snapshots" / "text" / f"{name}.txt").read_bytes().decode().split("\n")
    chunker, text, written = SnapshotChunker(), "", ""
    for line in lines:
        text += line
        written += chunker.process(json.dumps(text))
        assert json.loads(written + '"') == text
    assert json.loads(written + chunker.flush()) == text


# ---- the iterators ---------------------------------------------------------------------------------------------

GROWING = ['{"s":"a"}', '{"s":"a"}', '{"s":"ab","t":"","u":""}', '{"s":"ab","t":"c","u":""}']
WRITTEN = ['{"s":"a', 'b"', ',"u":"","t":"c', '"}']


@both
def test_fragments_that_are_not_empty_then_the_flush(respooled: Any) -> None:
    """What writes nothing yields nothing; the flush is the last fragment."""
    chunker = SnapshotChunker()
    assert respooled(GROWING, chunker) == respooled(GROWING) == WRITTEN
    assert chunker.is_complete


@both
@pytest.mark.parametrize(
    ("snapshots", "expected"),
    [
        ([], []),
        (["1"], ["1"]),
        (["1", "1", 1], ["1"]),
        ([None], ["null"]),
        (['""'], ['"', '"']),
        ([[], [1]], ["[", "1", "]"]),
        ([b"{}", {}, "{}"], ["{", "}"]),
        ([{"a": "", "b": ""}], ["{", '"a":"","b":""}']),
    ],
)
def test_small_streams(respooled: Any, snapshots: list[Any], expected: list[str]) -> None:
    """No snapshot, one, the same again, and all forms."""
    assert respooled(snapshots) == expected


@given(chains.chains())
def test_both_iterators_are_the_chunker(chain: Chain) -> None:
    """For any chain: the fragments of the chunker without the empty ones."""
    chunker = SnapshotChunker()
    expected = [*[chunker.process(snapshot) for snapshot in chain.inputs], chunker.flush()]
    assert run(chain.inputs) == run_async(chain.inputs) == [fragment for fragment in expected if fragment]
    assert run(iter(chain.inputs)) == run(chain.inputs)


CONTRADICTING = ['{"s":["ab"]}', '{"s":["abc"]}', '{"s":["x"]}', '{"s":["abcd"]}']


def step_by_step(snapshots: Iterable[Any], chunker: SnapshotChunker) -> tuple[list[str], SnapshotError | None]:
    """What is delivered, and what is raised behind it."""
    delivered: list[str] = []
    try:
        for fragment in chunk_snapshots(snapshots, chunker=chunker):
            delivered.append(fragment)  # noqa: PERF402 - one by one: what comes before an error counts
    except SnapshotError as error:
        return delivered, error
    return delivered, None


def step_by_step_async(snapshots: Iterable[Any], chunker: SnapshotChunker) -> tuple[list[str], SnapshotError | None]:
    async def collect() -> tuple[list[str], SnapshotError | None]:
        delivered: list[str] = []
        try:
            async for fragment in achunk_snapshots(awaited(snapshots), chunker=chunker):
                delivered.append(fragment)  # noqa: PERF401 - as above
        except SnapshotError as error:
            return delivered, error
        return delivered, None

    return asyncio.run(collect())


both_step_by_step = pytest.mark.parametrize("delivered", [step_by_step, step_by_step_async], ids=["iter", "aiter"])


@both_step_by_step
@pytest.mark.parametrize(
    ("broken", "path", "reason"),
    [
        ('{"s":["x"]}', ("s", 0), Reason.REWRITTEN),
        ('{"s":["x"', ("s", 0), Reason.NOT_JSON),
        ({"s": [float("nan")]}, ("s", 0), Reason.NOT_JSON),
        ([], (), Reason.CHANGED_KIND),
    ],
)
def test_a_refused_snapshot_ends_the_stream(delivered: Any, broken: Any, path: Any, reason: Reason) -> None:
    """What came before is delivered, then the error is raised; the chunker can still go on, and finish."""
    chunker = SnapshotChunker()
    fragments, error = delivered([*CONTRADICTING[:2], broken, CONTRADICTING[3]], chunker)
    assert fragments == ['{"s":["ab', "c"]
    assert (error.reason, error.step) == (reason, 3)
    if reason is not Reason.NOT_JSON or not isinstance(broken, str):
        assert error.path == path
    assert not chunker.is_complete
    copy = SnapshotChunker.load(chunker.dump())
    assert copy.flush() == '"]}'
    assert chunker.process(CONTRADICTING[3]) == "d"
    assert chunker.flush() == '"]}'
    assert load("".join([*fragments, "d", '"]}'])) == load(CONTRADICTING[3])


@both_step_by_step
def test_a_chunker_that_keeps_goes_on(delivered: Any) -> None:
    """With keep the stream goes to its end, and the chunker tells of the conflicts."""
    chunker = SnapshotChunker(on_conflict="keep")
    fragments, error = delivered(CONTRADICTING, chunker)
    assert error is None
    assert fragments == ['{"s":["ab', "c", "d", '"]}']
    assert [(conflict.path.steps, conflict.step) for conflict in chunker.conflicts] == [(("s", 0), 3)]


@both
def test_a_chunker_that_has_begun(respooled: Any) -> None:
    """A stream may go on with a chunker that has had snapshots already; one that is flushed is refused."""
    chunker = SnapshotChunker()
    assert chunker.process(GROWING[0]) == WRITTEN[0]
    assert respooled(GROWING[1:], chunker) == WRITTEN[1:]
    with pytest.raises(StateError):
        respooled(GROWING, chunker)


@both
def test_an_error_of_the_source_goes_through(respooled: Any) -> None:
    """What the source raises is raised, and nothing is flushed behind its back."""

    def failing() -> Iterator[str]:
        yield '{"s":"a"}'
        raise ConnectionError

    chunker = SnapshotChunker()
    with pytest.raises(ConnectionError):
        respooled(failing(), chunker)
    assert not chunker.is_complete
    assert chunker.flush() == '"}'


def test_the_source_is_closed() -> None:
    """A generator that is the source is closed with the stream: at its end, left half-way, or after an error."""
    closed: list[str] = []

    def source(name: str, snapshots: list[str]) -> Generator[str, None, None]:
        try:
            yield from snapshots
        finally:
            closed.append(name)

    assert list(chunk_snapshots(source("end", GROWING))) == WRITTEN
    chunker = SnapshotChunker()
    with closing(chunk_snapshots(source("half-way", GROWING), chunker=chunker)) as stream:
        assert next(stream) == WRITTEN[0]
        assert closed == ["end"]
    assert closed == ["end", "half-way"]
    assert chunker.flush() == '"}'
    with pytest.raises(SnapshotError):
        list(chunk_snapshots(source("error", CONTRADICTING)))
    assert closed == ["end", "half-way", "error"]
    unused = chunk_snapshots(source("unused", GROWING))
    unused.close()
    gc.collect()
    assert isinstance(unused, Generator)


def test_the_source_that_is_awaited_is_closed() -> None:
    """The same for a source that is awaited."""
    closed: list[str] = []

    async def source(name: str, snapshots: list[str]) -> AsyncGenerator[str, None]:
        try:
            for snapshot in snapshots:
                yield snapshot
        finally:
            await asyncio.sleep(0)
            closed.append(name)

    async def check() -> None:
        assert [fragment async for fragment in achunk_snapshots(source("end", GROWING))] == WRITTEN
        chunker = SnapshotChunker()
        async with aclosing(achunk_snapshots(source("half-way", GROWING), chunker=chunker)) as stream:
            assert await anext(stream) == WRITTEN[0]
            assert closed == ["end"]
        assert closed == ["end", "half-way"]
        assert chunker.flush() == '"}'
        with pytest.raises(SnapshotError):
            [fragment async for fragment in achunk_snapshots(source("error", CONTRADICTING))]
        assert closed == ["end", "half-way", "error"]

    asyncio.run(check())


def test_nothing_is_asked_of_the_source_before_it_is_needed() -> None:
    """One snapshot at a time: a fragment is there before the next snapshot is asked for."""
    asked: list[int] = []

    def source() -> Iterator[str]:
        for number, snapshot in enumerate(GROWING):
            asked.append(number)
            yield snapshot

    stream = chunk_snapshots(source())
    assert asked == []
    assert next(stream) == WRITTEN[0]
    assert asked == [0]
    assert next(stream) == WRITTEN[1]
    assert asked == [0, 1, 2]
    stream.close()
