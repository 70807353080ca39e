"""The rows about messages: one tool call, whose arguments come in pieces of 2 to 6 characters, a chunk for each.

unspool reads plain dicts, as they come off the wire; the objects of OpenAI's library have a row of their own. It
turns a chunk into deltas, and each delta into an immutable state. The peers are the accumulators of the two
libraries, called as their own streams call them. They get objects of their own types, which are made beforehand and
cost them nothing.

An accumulator changes in place, and its time per chunk grows with the message. So it is restarted at places spread
over the whole message. Each restart first reads everything before that place as one long piece, which is not counted,
and then some chunks in a row, which are. The note of the reading says how many.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from .documents import cut_ragged, itinerary
from .doubling import doubling
from .peers import Peer
from .rows import DOUBLING, MICROSECONDS, OURS, US_PER_CHUNK, Contender, Row, UnavailableError, load
from .rows_typed import _as_plain, _trip
from .timing import Effort, Measure, Reading, per_fragment, seconds

__all__ = ["rows"]

_TOOL: Final = "plan_trip"
_SIZES: Final = (("10 KB", 10_000), ("100 KB", 100_000))
_PLACES: Final = 25  # where an accumulator is restarted
_IN_A_ROW: Final = 8  # chunks that it then reads
_SHORT: Final = 500  # characters: a message that every accumulator has to read as a whole, to prove that it can


def rows(effort: Effort) -> Iterator[Row]:
    for size_name, size in _SIZES:
        for wire_name, wire in (("openai-chat", _openai_dicts), ("anthropic", _anthropic_dicts)):
            yield _row(
                f"{wire_name} {size_name}",
                f"tool call without a type, {wire_name}, arguments {size_name}",
                partial(_reduced, wire_name, wire),
                {name: _PEERS[name] for name in _OF_THE_FORMAT[wire_name]},
                size,
                effort,
            )
        yield _row(
            f"typed {size_name}",
            f"tool call, value at each chunk (pydantic model), arguments {size_name}",
            partial(_reduced, "openai-chat", _openai_dicts, is_typed=True),
            {name: _PEERS[name] for name in ("openai, strict tool", "anthropic")},
            size,
            effort,
        )
    for key, title, make in (
        ("objects", "tool call without a type, objects of openai", partial(_reduced, "openai-chat", _openai_objects)),
        ("stream", "tool call without a type, MessageStream", _streamed),
        ("stream typed", "tool call, MessageStream (pydantic model)", partial(_streamed, is_typed=True)),
    ):
        yield _row(f"{key} 10 KB", f"{title}, arguments 10 KB", make, {}, 10_000, effort)
    for key, title, make in (
        ("untyped", "tool call without a type, doubled", partial(_reduced, "openai-chat", _openai_dicts)),
        (
            "typed",
            "tool call, value at each chunk, doubled",
            partial(_reduced, "openai-chat", _openai_dicts, is_typed=True),
        ),
        ("stream", "tool call, MessageStream, doubled", partial(_streamed, is_typed=True)),
    ):
        contender = Contender(OURS, partial(_doubled, make, effort))
        yield Row(f"messages/doubling/{key}", title, DOUBLING, [contender], turns=1)
    for wire_name in ("openai-chat", "anthropic"):
        contender = Contender(OURS, partial(_next_request, wire_name, effort))
        title = f"the next request, {wire_name}: as_messages of a message of 100 KB"
        yield Row(f"messages/next request {wire_name}", title, MICROSECONDS, [contender])


def _row(key: str, title: str, make: Callable[[], Ours], peers: Mapping[str, Peer], size: int, effort: Effort) -> Row:
    contenders = [Contender(OURS, partial(_measure, make, size, effort))]
    contenders += [Contender(name, partial(_sampled, peer.make, size), peer.lacks) for name, peer in peers.items()]
    return Row(f"messages/{key}", title, US_PER_CHUNK, contenders)


# The chunks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wire:
    """A message with one tool call: what comes before its arguments, a piece of them, what comes behind."""

    opening: Sequence[Any]
    piece: Callable[[str], Any]
    closing: Sequence[Any]

    def chunks(self, pieces: Sequence[str]) -> list[Any]:
        return [*self.opening, *map(self.piece, pieces), *self.closing]

    def made(self, make: Callable[[Any], Any]) -> Wire:
        """The same with other chunks, each made of one of these."""
        return Wire(
            [make(chunk) for chunk in self.opening],
            lambda piece: make(self.piece(piece)),
            [make(chunk) for chunk in self.closing],
        )


def _openai_dicts() -> Wire:
    def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {
            "id": "chatcmpl-7",
            "object": "chat.completion.chunk",
            "created": 1_760_000_000,
            "model": "gpt-5",
            "service_tier": "default",
            "system_fingerprint": "fp_7",
            "choices": [choice],
            "usage": None,
        }

    call = {"index": 0, "id": "call_7", "type": "function", "function": {"name": _TOOL, "arguments": ""}}
    return Wire(
        [chunk({"role": "assistant", "content": None, "tool_calls": [call], "refusal": None})],
        lambda piece: chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
        [chunk({}, "tool_calls")],
    )


def _openai_objects() -> Wire:
    return _openai_dicts().made(load("openai.types.chat").ChatCompletionChunk.model_validate)


def _anthropic_dicts() -> Wire:
    message: dict[str, Any] = {
        "id": "msg_7",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 400, "output_tokens": 1},
    }
    block = {"type": "tool_use", "id": "toolu_7", "name": _TOOL, "input": {}}

    def piece(text: str) -> dict[str, Any]:
        delta = {"type": "input_json_delta", "partial_json": text}
        return {"type": "content_block_delta", "index": 0, "delta": delta}

    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    return Wire(
        [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
        ],
        piece,
        [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2_500}},
            {"type": "message_stop"},
        ],
    )


def _anthropic_objects() -> Wire:
    validate = load("pydantic").TypeAdapter(load("anthropic.types").RawMessageStreamEvent).validate_python
    return _anthropic_dicts().made(validate)


# unspool ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ours:
    """`run` reads all chunks of a message, and gives its last state."""

    wire: Wire
    run: Callable[[Sequence[Any]], Any]


def _reduced(format: str, wire: Callable[[], Wire], *, is_typed: bool = False) -> Ours:
    """One state after another. Of a tool with a type, the value is asked for after each chunk."""
    llm = load("unspool.llm")
    deltas_of, reduce, start, finish = llm.deltas_for(format), llm.reduce, llm.start, llm.finish
    config = _config(is_typed)

    def run(chunks: Sequence[Any]) -> Any:
        state = start(config)
        for chunk in chunks:
            for delta in deltas_of(chunk):
                state = reduce(state, delta)
        return finish(state)

    def run_and_ask(chunks: Sequence[Any]) -> Any:
        state = start(config)
        value: object = None
        for chunk in chunks:
            for delta in deltas_of(chunk):
                state = reduce(state, delta)
            for call in state.tool_calls:
                value = call.value
        state = finish(state)
        if value is not state.tool_calls[0].value:
            raise UnavailableError("the value was not there with the last piece")
        return state

    return Ours(wire(), run_and_ask if is_typed else run)


def _streamed(*, is_typed: bool = False) -> Ours:
    """The usual way: the format is auto-detected, and each chunk gives a state."""
    stream_class, config = load("unspool.llm").MessageStream, _config(is_typed)

    def run(chunks: Sequence[Any]) -> Any:
        state: Any = None
        for state in stream_class(chunks, config=config):
            for call in state.tool_calls:
                call.value  # noqa: B018 - as those do who show it
        return state

    return Ours(_openai_dicts(), run)


def _config(is_typed: bool) -> Any:
    return load("unspool.llm").Config(tools={_TOOL: _trip() if is_typed else None})


def _measure(make: Callable[[], Ours], size: int, effort: Effort) -> Measure:
    ours, text = make(), itinerary(size)
    chunks = ours.wire.chunks(cut_ragged(text))
    _prove_state(ours.run(chunks), text)
    return per_fragment(lambda: ours.run(chunks), len(chunks), effort)


def _next_request(format: str, effort: Effort) -> Measure:
    """The turn of a finished message: half of it text, half of it the arguments of a call."""
    llm, wire = load("unspool.llm"), {"openai-chat": _openai_dicts, "anthropic": _anthropic_dicts}[format]()
    text = itinerary(50_000)
    deltas = [delta for chunk in wire.chunks(cut_ragged(text)) for delta in llm.deltas_for(format)(chunk)]
    ends = [delta for delta in deltas if isinstance(delta, llm.Finish)]
    state = llm.start(format=format)
    for delta in [*deltas[: len(deltas) - len(ends)], llm.TextDelta(text, ()), *ends]:
        state = llm.reduce(state, delta)
    state = llm.finish(state)
    (message,) = state.as_messages()
    content = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
    if text not in [block.get("text") for block in content] or not state.is_complete or state.lost_in():
        raise UnavailableError("the turn is not whole")
    return per_fragment(state.as_messages, 1, effort)


def _prove_state(state: Any, text: str) -> None:
    (call,) = state.tool_calls
    value = _as_plain(call.value) if hasattr(call.value, "model_dump") else call.value
    if not state.is_complete or state.diagnostics or not call.is_complete or call.name != _TOOL:
        raise UnavailableError("the message is not complete, or something is odd about it")
    if call.arguments != text or value != json.loads(text):
        raise UnavailableError("other arguments than were sent")


def _doubled(make: Callable[[], Ours], effort: Effort) -> Measure:
    """The chunks are made within the time: that grows with their number, and a little beside the rest."""
    ours = make()
    return doubling(itinerary, lambda pieces: ours.run(ours.wire.chunks(pieces)), effort, {4: 40_000})


# The others -------------------------------------------------------------------------------------------------------

Take: TypeAlias = Callable[[Any], object]
Answer: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Accumulator:
    """`begin` starts a message: what takes its chunks one by one, and what gives the value of the arguments."""

    wire: Wire
    begin: Callable[[], tuple[Take, Answer]]


def _openai(*, is_strict: bool) -> Accumulator:
    state_class = load("openai.lib.streaming.chat").ChatCompletionStreamState
    tool = {"type": "function", "function": {"name": _TOOL, "parameters": {"type": "object"}, "strict": is_strict}}

    def begin() -> tuple[Take, Answer]:
        state = state_class(input_tools=[tool])

        def answer() -> object:
            (choice,) = state.current_completion_snapshot.choices
            (call,) = choice.message.tool_calls
            assert choice.finish_reason == "tool_calls"
            return call.function.parsed_arguments if is_strict else json.loads(call.function.arguments)

        return state.handle_chunk, answer

    return Accumulator(_openai_objects(), begin)


def _anthropic() -> Accumulator:
    accumulate = load("anthropic.lib.streaming._messages").accumulate_event

    def begin() -> tuple[Take, Answer]:
        snapshot: Any = None
        buffers: dict[int, bytes] = {}

        def take(event: Any) -> None:
            nonlocal snapshot
            snapshot = accumulate(event=event, current_snapshot=snapshot, json_bufs=buffers)

        def answer() -> object:
            (block,) = snapshot.content
            assert snapshot.stop_reason == "tool_use"
            return block.input

        return take, answer

    return Accumulator(_anthropic_objects(), begin)


_OPENAI_LACKS: Final = (
    "makes the whole message again each time, of all the text so far; earlier messages are changed later"
)
_PEERS: Final[Mapping[str, Peer]] = {
    "openai": Peer(partial(_openai, is_strict=False), "no value of the arguments, only their text; " + _OPENAI_LACKS),
    "openai, strict tool": Peer(
        partial(_openai, is_strict=True),
        "no types: plain values, validated at the end; no open strings; reads all of the arguments again each time; "
        + _OPENAI_LACKS,
    ),
    "anthropic": Peer(
        _anthropic,
        "no types: plain values, never validated; no open strings; reads all of the arguments again each time, and "
        "keeps no text of them; earlier messages are changed later",
    ),
}
_OF_THE_FORMAT: Final[Mapping[str, Sequence[str]]] = {
    "openai-chat": ("openai", "openai, strict tool"),
    "anthropic": ("anthropic",),
}


def _sampled(make: Callable[[], Accumulator], size: int) -> Measure:
    accumulator = make()
    wire, pieces = accumulator.wire, cut_ragged(itinerary(size))
    chunks = [wire.piece(piece) for piece in pieces]
    places = [int((index + 0.5) * (len(pieces) - _IN_A_ROW) / _PLACES) for index in range(_PLACES)]

    def begun_at(place: int) -> tuple[Take, Answer]:
        take, answer = accumulator.begin()
        for chunk in (*wire.opening, wire.piece("".join(pieces[:place]))):
            take(chunk)
        return take, answer

    short = itinerary(_SHORT)
    _prove_answer(accumulator.begin(), wire.chunks(cut_ragged(short)), short)
    _prove_answer(begun_at(places[-1]), [*chunks[places[-1] :], *wire.closing], itinerary(size))

    def measure() -> Reading:
        begun = [(begun_at(place)[0], chunks[place : place + _IN_A_ROW]) for place in places]

        def read() -> None:
            for take, some in begun:
                for chunk in some:
                    take(chunk)

        read_chunks = _PLACES * _IN_A_ROW
        return Reading(seconds(read) / read_chunks * 1e6, f"{read_chunks} of {len(chunks)} chunks")

    return measure


def _prove_answer(begun: tuple[Take, Answer], chunks: Sequence[Any], text: str) -> None:
    take, answer = begun
    for chunk in chunks:
        take(chunk)
    if answer() != json.loads(text):
        raise UnavailableError("other arguments than were sent")
