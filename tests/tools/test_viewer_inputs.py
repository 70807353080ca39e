"""viewer/inputs.py: the kind of an input is detected by its start, and its items do not depend on how it is cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import CALLED, INPUTS, SNAPSHOTS, TRIP, recorded, sse, timeline_of
from unspool import FragmentParser
from unspool.llm import Config
from unspool.tools.viewer.inputs import ENOUGH, Guess, InputDecoder, InputKind, guess
from unspool.tools.viewer.recordings import HEADER, RecordingError
from unspool.tools.viewer.tracks import Item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool.tools.viewer.inputs import TimedItem

EXACT = {InputKind.CHUNKS, InputKind.SSE, InputKind.SNAPSHOTS}  # whose items do not depend on the cutting


def opened(pieces: Iterable[bytes], kind: InputKind | None = None, **options: Any) -> tuple[Guess, list[TimedItem]]:
    opening = InputDecoder(kind, **options)
    items = [item for piece in pieces for item in opening.feed(0.0, piece)] + opening.close(0.0)
    assert opening.found is not None
    return opening.found, items


def texts(items: Iterable[TimedItem]) -> dict[str, str]:
    """The text of each track."""
    found: dict[str, list[bytes]] = {}
    for _, item in items:
        for piece in item.pieces:
            if piece.restarts:
                found[piece.track] = []
            fragment = piece.fragment if isinstance(piece.fragment, bytes) else piece.fragment.encode()
            found.setdefault(piece.track, []).append(fragment)
    return {track: b"".join(pieces).decode() for track, pieces in found.items()}


def shape(item: Item) -> tuple[object, ...]:
    """The part of an item that is the same for every cutting."""
    message = None if item.message is None else item.message.dump()
    return item.pieces, item.raw, item.open, item.waiting, item.problem, message


# ---- what it is --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INPUTS)
def test_each_kind_is_found(name: str) -> None:
    """All of an input tells what it is; so does all of it behind a byte order mark and blanks."""
    data, found = INPUTS[name]
    assert guess(data, is_all=True) == found
    assert guess(b"\xef\xbb\xbf \r\n\t" + data, is_all=True) == found


@pytest.mark.parametrize("name", INPUTS)
def test_a_certain_answer_stays(name: str) -> None:
    """While the head grows byte by byte there is no answer, and then the right one: never another one before."""
    data, found = INPUTS[name]
    answers = [guess(data[:size], is_all=False) for size in range(len(data) + 1)]
    told = [answer for answer in answers if answer is not None]
    assert set(told) <= {found}
    assert answers[len(answers) - len(told) :] == told, "an answer is not taken back"


HEADS = st.one_of(
    strategies.documents(small=True).map(str.encode),
    st.lists(
        st.sampled_from(['{"a":1}', '{"a":1,"b":"x"}', '{"a":2}', "{", "[1]", '"x"', "12", "", " ", "data: 1"])
    ).map(lambda lines: "\n".join(lines).encode()),
    st.lists(st.sampled_from(["data: x", "event: y", "", ": note", "id: 3", 'data: {"type":"ping"}', "\r"])).map(
        lambda lines: "\n".join(lines).encode()
    ),
    st.sampled_from(list(INPUTS.values())).map(lambda sample: sample.data),
    st.binary(max_size=40),
)


@given(HEADS, st.binary(max_size=30))
def test_an_answer_on_a_head_is_that_on_a_longer_one(head: bytes, more: bytes) -> None:
    """A guess about a head is the guess about every longer head."""
    known: Guess | None = None
    data = head + more
    for size in range(len(data) + 1):
        answer = guess(data[:size], is_all=False)
        assert known is None or answer == known
        known = answer
    assert guess(data, is_all=True) is not None


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"", None),
        (b" \n", None),
        (b"d", None),
        (b"dat", None),
        (b"date", InputKind.JSON),
        (b"[", InputKind.JSON),
        (b'"', InputKind.JSON),
        (b"<html>", InputKind.JSON),
        (b"{", None),
        (b"{\n", InputKind.JSON),
        (b'{"a": 1}', None),
        (b'{"a": 1}\n', None),
        (b'{"a": 1}\n{"a": 2}\n', InputKind.NDJSON),
        (b'{"a": 1}\nHope this helps!\n', InputKind.NDJSON),
        (b'{"a": "x"}\n{"a": "xy"}\n', None),
        (b'{"a": "x"}\n{"a": "xy"}\n{"a": "xyz"}\n', InputKind.SNAPSHOTS),
        (b'{"a": "x"}\n{"a": "xy"}\n{"a": "z"}\n', InputKind.NDJSON),
        (b'{"a": 1}\n{"a": 1}\n{"a": 1}\n', InputKind.NDJSON),
        (b": keep-alive\n\n", None),
        (b"data:\n\ndata: 1\n\n", InputKind.SSE),
        (HEADER.encode(), InputKind.RECORDING),
    ],
)
def test_what_a_head_tells(head: bytes, found: InputKind | None) -> None:
    """Lines that have ended tell; half a line tells nothing, unless it can be only one thing."""
    answer = guess(head, is_all=False)
    assert (None if answer is None else answer.kind) == found


# ---- what it brings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, sample in INPUTS.items() if sample.found.kind in EXACT])
@given(data=st.data())
@settings(max_examples=15)
def test_the_cutting_of_bytes_is_not_observable(name: str, data: st.DataObject) -> None:
    """Chunks, events and snapshots are the same items, however their bytes are cut."""
    whole = opened([INPUTS[name].data])
    cut = opened(data.draw(strategies.byte_cuttings(INPUTS[name].data)))
    assert cut[0] == whole[0]
    assert [shape(item) for _, item in cut[1]] == [shape(item) for _, item in whole[1]]


@pytest.mark.parametrize("name", INPUTS)
def test_one_byte_at_a_time(name: str) -> None:
    """Every input means the same one byte at a time: the same kind, the same texts, the same message at the end."""
    whole = opened([INPUTS[name].data])
    cut = opened(strategies.one_by_one(INPUTS[name].data))
    assert cut[0] == whole[0]
    assert texts(cut[1]) == texts(whole[1])
    if whole[1][-1].item.message is not None:
        assert shape(cut[1][-1].item) == shape(whole[1][-1].item)


def test_what_the_inputs_say() -> None:
    """Each brings the text that it should."""
    trip = json.dumps(TRIP, ensure_ascii=False)
    assert texts(opened([INPUTS["json"].data])[1]) == {"json": trip}
    assert json.loads(texts(opened([INPUTS["chat, structured"].data])[1])["content"]) == TRIP
    for name in ("chat", "sse of chat", "anthropic", "recording of chat"):
        found = texts(opened([INPUTS[name].data])[1])
        assert (found["content"], json.loads(found["call 0"])) == ("Let me look.", CALLED)
    assert json.loads(texts(opened([INPUTS["snapshots"].data])[1])["json"]) == SNAPSHOTS[-1]
    assert json.loads(texts(opened([INPUTS["sse of text"].data])[1])["json"]) == {"title": "Trip", "days": [1, 2]}


def test_times_of_a_recording() -> None:
    """A recording has its own times, whenever it is read; it ends at its last time."""
    for is_live in (False, True):
        opening = InputDecoder(is_live=is_live)
        items = [*opening.feed(100.0, INPUTS["recording of json"].data), *opening.close(200.0)]
        assert [time for time, _ in items] == [0.0, 0.1, 0.2]
    opening = InputDecoder(is_live=True)
    items = [*opening.feed(0.0, INPUTS["recording of chat"].data), *opening.close(200.0)]
    assert items[-1].time == items[-2].time < 10


def test_times_of_what_is_live() -> None:
    """A live input has the times of its arrival, also for bytes that were buffered to detect its kind."""
    opening = InputDecoder(is_live=True)
    items = [*opening.feed(1.0, b'{"a"'), *opening.feed(2.0, b": [\n"), *opening.feed(3.0, b"1]}"), *opening.close(4.0)]
    assert [(time, item.pieces[0].fragment) for time, item in items] == [(1.0, b'{"a"'), (2.0, b": [\n"), (3.0, b"1]}")]


def test_settling() -> None:
    """`settle` decides by the bytes so far; later calls do nothing."""
    opening = InputDecoder(is_live=True)
    assert opening.feed(0.0, b'{"a": "b') == []
    assert [item.pieces[0].fragment for _, item in opening.settle()] == [b'{"a": "b']
    assert opening.settle() == []
    assert opening.found == Guess(InputKind.JSON)


def test_enough_is_enough() -> None:
    """A line that does not end does not hold everything back."""
    opening = InputDecoder()
    line = b'{"a": "' + b"x" * ENOUGH
    assert opening.feed(0.0, line[:-100]) == []
    assert len(opening.feed(0.0, line[-100:])) == 2


@pytest.mark.parametrize("kind", [InputKind.JSON, InputKind.NDJSON, InputKind.SNAPSHOTS, InputKind.CHUNKS])
def test_what_is_given_is_not_waited_for(kind: InputKind) -> None:
    """A given kind is used at once, unless the input may be a recording."""
    opening = InputDecoder(kind)
    opening.feed(0.0, b'{"unspool_recor')
    assert opening.found is None
    opening.feed(0.0, b"t")
    assert opening.found == Guess(kind)


def test_a_given_kind_holds() -> None:
    """What is given counts more than what it looks like."""
    assert opened([INPUTS["snapshots"].data], InputKind.NDJSON)[0].kind is InputKind.NDJSON
    assert opened([INPUTS["ndjson"].data], InputKind.SNAPSHOTS)[0].kind is InputKind.SNAPSHOTS
    assert opened([INPUTS["snapshots"].data], snapshots=False)[0] == Guess(InputKind.NDJSON)
    assert opened([b'{"x": 1}\n'], format="ollama")[0] == Guess(InputKind.CHUNKS, "ollama")
    assert opened([sse(["x"])], format="ollama")[0] == Guess(InputKind.SSE, "ollama")


def test_a_recording_that_is_none() -> None:
    """An input that is not a recording is an error if the kind says so."""
    with pytest.raises(RecordingError, match="begins with its header"):
        opened([INPUTS["json"].data], InputKind.RECORDING)


def test_a_broken_recording() -> None:
    """Items before an invalid line are delivered first."""
    data = recorded(b'{"a": [1, 2]}', 4)
    lines = data.split(b"\n")
    opening = InputDecoder()
    broken = b"\n".join([*lines[:3], b'{"t": "soon", "text": "x"}', *lines[3:]])
    items = opening.feed(0.0, broken)
    assert texts(items) == {"json": '{"a": [1'}
    with pytest.raises(RecordingError, match="line 4 of the recording: its time"):
        opening.close(0.0)


@pytest.mark.parametrize("data", [HEADER.encode(), HEADER.strip().encode(), b"", b"\n", b"data: [DONE]", b": x"])
def test_inputs_with_nothing_in_them(data: bytes) -> None:
    """They bring nothing, and nothing goes wrong."""
    for pieces in ([data], strategies.one_by_one(data)):
        assert texts(opened(pieces)[1]) in ({}, {"json": "\n"})


def test_problems_are_told_with_their_item() -> None:
    """Invalid chunks and impossible snapshots are reported with their places; the others are read."""
    chunks = INPUTS["chat"].data.split(b"\n")
    _, items = opened([b"\n".join([chunks[0], b"oops", *chunks[1:]])])
    assert [item.problem for _, item in items if item.problem] == ["a chunk that is not JSON: line 2"]
    assert texts(items)["content"] == "Let me look."
    _, items = opened([INPUTS["snapshots"].data + b'{"title": "Other"}\n'])
    assert [bool(item.problem) for _, item in items] == [False] * 4 + [True, False]


def test_the_config_reaches_the_message() -> None:
    """With the types of the tools, their arguments are judged."""
    config = Config(tools={"trip": {"type": "object", "properties": {"days": {"type": "string"}}}})
    _, items = opened([INPUTS["chat"].data], config=config)
    message = items[-1].item.message
    assert message is not None
    assert message.tool_calls[0].error is not None


@given(strategies.documents(small=True), st.integers(1, 9))
@settings(max_examples=30)
def test_cutting_text(text: str, size: int) -> None:
    """With `cut`, JSON comes in fragments of `cut` bytes; joined, they are the document."""
    found, items = opened([text.encode()], InputKind.JSON, cut=size)
    assert found.kind is InputKind.JSON
    parser, whole = FragmentParser(), FragmentParser()
    for _, item in items:
        assert len(item.pieces[0].fragment) <= size
        parser.feed(item.pieces[0].fragment)
    whole.feed(text)
    assert (parser.close(), parser.is_complete) == (whole.close(), True)


@pytest.mark.parametrize("name", INPUTS)
def test_each_has_a_timeline(name: str) -> None:
    """All of them can be looked at from step to step."""
    timeline = timeline_of(INPUTS[name].data)
    assert timeline.is_finished
    assert timeline.last > 0
    assert timeline.notes == []
