"""The objects of google-genai say what the wire says, and turns that go back are valid in its own types."""

from __future__ import annotations

import base64
import json
import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from google.genai import types
from pydantic import TypeAdapter

from tests.support import readings, shared
from tests.support.gemini_turns import SIGNED, STEPS, completed, content
from unspool.llm import MessageState, MessageStream
from unspool.llm._parts import FilePart

if TYPE_CHECKING:
    from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library calls the interface experimental
    from google.genai._gaos.types.interactions import InteractionSSEEvent, Step

RECORDINGS = readings.recordings()
KNOWN = [name for name in SIGNED if name != "unknown fields"]


def each_recording(format: str) -> pytest.MarkDecorator:
    here = [pytest.param(path, id=path.stem) for path in RECORDINGS if path.parent.name == format]
    absent = [pytest.param(None, id="recordings", marks=pytest.mark.skip(shared.NOT_HERE))]
    return pytest.mark.parametrize("recording", here or absent)


def signed(part: dict[str, Any]) -> dict[str, Any]:
    """A part with a signature that is base64, as all of Google's are."""
    names = {"thoughtSignature"} & part.keys()
    return {**part, **{name: base64.b64encode(part[name].encode()).decode() for name in names}}


def object_of(chunk: dict[str, Any]) -> types.GenerateContentResponse:
    return types.GenerateContentResponse.model_validate(chunk)


def turn_of(format: str, chunks: list[Any]) -> tuple[MessageState, list[Any]]:
    state = MessageStream(chunks, format=format).final()
    turn = state.as_messages()
    assert json.loads(json.dumps(turn)) == turn
    assert MessageState.load(json.loads(json.dumps(state.dump()))).as_messages() == turn
    return state, turn


@pytest.mark.parametrize("name", KNOWN)
def test_objects_of_generate_content(name: str) -> None:
    """Fields of the library are snake_case and bytes; native fields are as on the wire."""
    chunks = [content(signed(part), reason=None) for part in SIGNED[name]] + [content({"text": ""})]
    plain, turn = turn_of("gemini", chunks)
    state, same = turn_of("gemini", [object_of(chunk) for chunk in chunks])
    assert same == turn
    assert [part.native for part in state.parts] == [part.native for part in plain.parts]
    files = [part.data for part in state.parts if isinstance(part, FilePart)]
    assert all(isinstance(data, bytes) for data in files if data is not None)


@each_recording("gemini")
def test_objects_of_recordings(recording: Path) -> None:
    chunks = readings.payloads(recording)
    plain, turn = turn_of("gemini", chunks)
    state, same = turn_of("gemini", [object_of(chunk) for chunk in chunks])
    assert same == turn
    assert state.parts == plain.parts


def test_metadata_of_objects() -> None:
    """Grounding, times and tokens are data as on the wire, too."""
    grounding = {
        "webSearchQueries": ["x"],
        "groundingChunks": [{"retrievedContext": {"uri": "https://a", "title": "A", "documentName": "d"}}],
        "groundingSupports": [{"segment": {"endIndex": 2, "text": "Hi"}, "groundingChunkIndices": [0]}],
    }
    urls = {"urlMetadata": [{"retrievedUrl": "https://b", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}]}
    cited = {"citations": [{"uri": "https://c", "startIndex": 0}]}
    token = base64.b64encode(b"go on").decode()
    chunk = content(
        {"text": "Hi"},
        reason="STOP",
        groundingMetadata=grounding,
        urlContextMetadata=urls,
        citationMetadata=cited,
        continuationToken=token,
        avgLogprobs=-0.5,
    )
    chunk["createTime"] = "2026-01-01T00:00:00Z"
    plain, _ = turn_of("gemini", [chunk])
    state, _ = turn_of("gemini", [object_of(chunk)])
    assert state.parts == plain.parts
    assert state.citations == plain.citations
    assert {source.url for source in state.sources} == {"https://a", "https://b", "https://c"}
    times = [datetime.fromisoformat(each.native["createTime"]) for each in (state, plain)]
    assert times == [datetime(2026, 1, 1, tzinfo=UTC)] * 2
    assert {**state.native, "createTime": ""} == {**plain.native, "createTime": ""}
    assert state.native["continuationToken"] == token
    assert plain.diagnostics == state.diagnostics == ()


@pytest.mark.parametrize("name", [name for name in STEPS if name != "unknown step"])
def test_objects_of_interactions(name: str) -> None:
    """Events of the library give the same steps, and each is one that the library knows."""
    chunks, expected = STEPS[name]
    event: TypeAdapter[Any] = TypeAdapter(InteractionSSEEvent)
    events = [event.validate_python(chunk) for chunk in [*chunks, completed()]]
    _, turn = turn_of("gemini-interactions", events)
    assert turn == expected
    assert_known(turn)


@each_recording("gemini-interactions")
def test_interactions_of_recordings(recording: Path) -> None:
    chunks = readings.payloads(recording)
    event: TypeAdapter[Any] = TypeAdapter(InteractionSSEEvent)
    _, turn = turn_of("gemini-interactions", chunks)
    _, same = turn_of("gemini-interactions", [event.validate_python(chunk) for chunk in chunks])
    assert same == turn
    assert_known(turn)


def test_results_are_known_steps() -> None:
    state, _ = turn_of("gemini-interactions", [*STEPS["call"][0], completed("requires_action")])
    for output in ("a", {"a": 1}, [1], None, ValueError("no")):
        assert_known(state.tool_results({0: output}))


def assert_known(steps: list[Any]) -> None:
    known: TypeAdapter[Any] = TypeAdapter(Step)
    for step in steps:
        assert not getattr(known.validate_python(step), "is_unknown", False), step
