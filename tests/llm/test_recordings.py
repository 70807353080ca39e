"""Real streams: every chunk is known for what it is, and all deltas together say what a plain reading says."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import readings, shared
from tests.support.readings import Call, Reading
from tests.support.standins import as_model, as_object
from unspool import MISSING, Path
from unspool.llm._deltas import (
    BlockEnd,
    BlockStart,
    Delta,
    Finish,
    Ignored,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ProviderError,
    ReasoningDelta,
    Recount,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from unspool.llm._formats.registry import FORMATS, deltas_for, detect
from unspool.llm._parts import ReasoningPart, RefusalPart, TextPart, WrittenPart

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path as FilePath

RECORDINGS = readings.recordings()
HERE = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in RECORDINGS]
NOT_HERE = [pytest.param(None, id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]
each_recording = pytest.mark.parametrize("recording", HERE or NOT_HERE)

DELTA_OF: dict[type[WrittenPart], type[Delta]] = {
    TextPart: TextDelta,
    ReasoningPart: ReasoningDelta,
    RefusalPart: RefusalDelta,
}


class Message:
    """A plain fold of deltas: what belongs together is put together, nothing is judged."""

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.words: dict[type[Delta], dict[Any, str]] = {TextDelta: {}, ReasoningDelta: {}, RefusalDelta: {}}
        self.calls: list[list[ToolCallDelta]] = []
        self.places: dict[Any, list[ToolCallDelta]] = {}
        self.ended: list[Any] = []
        self.finish: Finish | None = None
        self.usage: Usage | None = None

    def add(self, delta: Delta) -> None:
        match delta:
            case TextDelta() | ReasoningDelta() | RefusalDelta():
                blocks = self.words[type(delta)]
                blocks[delta.block] = delta.text if delta.is_whole else blocks.get(delta.block, "") + delta.text
            case ToolCallDelta():
                self.call(delta).append(delta)
            case BlockEnd(index):
                self.ended.append(index)
            case Usage():
                self.usage = delta.over(self.usage)
            case Finish():
                self.finish = delta
            case PartStart(WrittenPart() as part):
                blocks = self.words[DELTA_OF[type(part)]]
                known = blocks.get(part.block, "")
                blocks[part.block] = part.text if part.block and part.text else known + part.text
            case Recount(ids):
                self.recount(len(ids))
            case _:
                assert isinstance(delta, MessageStart | Ignored | PartStart | PartData | BlockStart | MessageData)

    def recount(self, size: int) -> None:
        """Number everything by its place, if there are numbers that cannot be places."""
        known = sorted({block[0] for blocks in self.words.values() for block in blocks} | set(self.places))
        if known and known[-1] >= size:
            assert len(known) == size
            for kind, blocks in self.words.items():
                self.words[kind] = {(known.index(at), *more): text for (at, *more), text in blocks.items()}
            self.places = {known.index(at): call for at, call in self.places.items()}

    @property
    def has_begun(self) -> bool:
        """It has content or an end: an id that changes before is just another id."""
        return bool(self.calls or self.finish or any(self.words.values()))

    def call(self, delta: ToolCallDelta) -> list[ToolCallDelta]:
        """The deltas of the same call: by its index, or else the last one until another has a name."""
        if delta.index is not MISSING:
            if delta.index not in self.places:
                self.calls.append(self.places.setdefault(delta.index, []))
            return self.places[delta.index]
        if delta.name is not None:
            self.calls.append([])
        return self.calls[-1]

    def reading(self) -> Reading:
        usage = Usage() if self.usage is None else self.usage
        text, reasoning, refusal = ["".join(blocks.values()) for blocks in self.words.values()]
        return Reading(
            text,
            reasoning,
            refusal,
            [put_together(call) for call in self.calls],
            None if self.finish is None else self.finish.raw,
            None if self.finish is None else self.finish.reason,
            (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        )


def put_together(call: list[ToolCallDelta]) -> Call:
    kind = next(delta.kind for delta in call if delta.kind)
    ids, names = [delta.id for delta in call if delta.id], [delta.name for delta in call if delta.name]
    id_and_name = ids[0] if ids else None, names[0]
    text: str | None = None
    value: Any = {}
    for delta in call:
        match delta.arguments:
            case str(piece):
                text = (text or "") + piece
            case Whole(str(whole)):
                text = whole
            case Whole(whole):
                value = copy.deepcopy(whole)
            case tuple(leaves):
                for leaf in leaves:
                    put(value, list(Path.parse(leaf.path)), leaf.value)
    if text is not None:
        return readings.called(kind, *id_and_name, text)
    return Call(kind, *id_and_name, value, None)


def put(value: Any, steps: list[str | int], new: Any) -> None:
    """Set the value at the end of these steps; a text is added to the text that is there."""
    for at, step in enumerate(steps):
        is_last = at + 1 == len(steps)
        empty: Any = ("" if isinstance(new, str) else None) if is_last else [] if isinstance(steps[at + 1], int) else {}
        if isinstance(value, list):
            value.extend([empty] * (step == len(value)))
        else:
            value.setdefault(step, empty)
        if is_last:
            value[step] = value[step] + new if isinstance(new, str) else new
        else:
            value = value[step]


def fold(deltas: Iterable[Delta]) -> list[Message]:
    """The messages that the deltas make: one that starts with another id is another one."""
    messages: list[Message] = []
    for delta in deltas:
        if isinstance(delta, MessageData) and not messages:
            continue  # Azure reports on the prompt before the message begins
        last = messages[-1] if messages else None
        is_other = isinstance(delta, MessageStart) and delta.id is not None and last is not None and delta.id != last.id
        if last is None or (is_other and last.has_begun):
            messages.append(Message(delta.id if isinstance(delta, MessageStart) else None))
        messages[-1].add(delta)
    return messages


@each_recording
def test_every_chunk_is_detected(recording: FilePath) -> None:
    """Each chunk is claimed by its own format and by no other, as a dict and as an object."""
    for chunk in readings.payloads(recording):
        assert detect(chunk) == recording.parent.name
        assert [name for name, wire in FORMATS.items() if wire.is_chunk(chunk)] == [recording.parent.name]
        assert detect(as_object(chunk)) == detect(as_model(chunk)) == recording.parent.name


@each_recording
def test_deltas_say_what_a_plain_reading_says(recording: FilePath) -> None:
    """Text, reasoning, refusal, calls with their arguments, finish and usage are those of the non-streaming reading."""
    chunks = readings.payloads(recording)
    deltas = deltas_for(recording.parent.name)
    found = [message.reading() for message in fold([delta for chunk in chunks for delta in deltas(chunk)])]
    assert found == readings.read(recording.parent.name, chunks)


@each_recording
def test_objects_say_the_same_as_dicts(recording: FilePath) -> None:
    """A chunk whose fields are attributes gives the same deltas."""
    deltas = deltas_for(recording.parent.name)
    for chunk in readings.payloads(recording):
        assert deltas(as_object(chunk)) == deltas(as_model(chunk)) == deltas(chunk)


@each_recording
def test_nothing_is_unknown(recording: FilePath) -> None:
    """What is left out of a message is left out on purpose; no chunk fails, and none is changed."""
    deltas = deltas_for(recording.parent.name)
    for chunk in readings.payloads(recording):
        before = json.dumps(chunk)
        for delta in deltas(chunk):
            assert not isinstance(delta, ProviderError)
            assert not isinstance(delta, Ignored) or delta.is_known, delta
        assert json.dumps(chunk) == before


@each_recording
def test_calls_that_end_are_done(recording: FilePath) -> None:
    """Every call of a finished message is told to be whole, and no other. Only chat completions never tell."""
    tells = recording.parent.name != "openai-chat"
    deltas = deltas_for(recording.parent.name)
    for message in fold([delta for chunk in readings.payloads(recording) for delta in deltas(chunk)]):
        for call in message.calls:
            is_done = call[-1].is_done or (call[0].counts_blocks and call[0].index in message.ended)
            assert is_done == (tells and message.finish is not None)


def test_the_recordings_show_what_they_should() -> None:
    """The recordings that are here have all of what the tests above are about."""
    if not RECORDINGS:
        pytest.skip(shared.NOT_HERE)
    seen: Counter[str] = Counter()
    for recording in RECORDINGS:
        for message in readings.read(recording.parent.name, readings.payloads(recording)):
            seen.update(call.kind for call in message.calls)
            seen.update(name for name in ("text", "reasoning", "finish", "reason") if getattr(message, name))
            seen["messages"] += 1
            seen["broken arguments"] += sum(isinstance(call.arguments, str) for call in message.calls)
    assert {recording.parent.name for recording in RECORDINGS} == set(FORMATS) - {"ollama"}
    assert len(RECORDINGS) == 65
    assert seen["finish"] == seen["reason"]
    assert min(seen[kind] for kind in ("function", "custom", "server", "text", "reasoning")) > 0
