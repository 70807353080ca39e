"""What a provider sends, one chunk a line or as server-sent events: no bytes make it raise, or say two things.

The first byte chooses the wire format, the second where the bytes are cut.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.chunks import EXAMPLES
from tests.support.messages import seen
from unspool.llm import (
    ChoiceStream,
    Config,
    MessageState,
    MessageStream,
    SSEDecoder,
    changes,
    deltas_for,
    finish,
    reduce_chunk,
    start,
)
from unspool.llm._formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_NAMES = sorted(FORMATS)
TOOLS: dict[str, Any] = {
    "weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
}
CONFIGS = [Config(), Config({"type": "object"}, tools=TOOLS), Config(extract=True, tools=TOOLS)]


def decode(data: bytes) -> tuple[str, Config, int, bytes]:
    """The format, what is expected, where to cut, and the bytes."""
    choice, place = (*data[:2], 0, 0)[:2]
    body = data[2:]
    config = CONFIGS[choice // len(FORMAT_NAMES) % len(CONFIGS)]
    return FORMAT_NAMES[choice % len(FORMAT_NAMES)], config, place * len(body) // 256, body


def seeds() -> Iterator[bytes]:
    """The chunks of the tests, a few in each."""
    for number, name in enumerate(FORMAT_NAMES):
        lines = [json.dumps(chunk, default=bytes.decode).encode() for chunk, _ in EXAMPLES[name].values()]
        for at in range(0, len(lines), 6):
            yield bytes([number, 128]) + b"\n".join(lines[at : at + 6])
            yield bytes([number, 64]) + b"".join([b"data: " + line + b"\n\n" for line in lines[at : at + 6]])


def check(data: bytes) -> None:
    """An exception is a finding."""
    name, config, place, body = decode(data)
    state = before = start(config)
    for line in body.split(b"\n"):
        try:
            chunk = json.loads(line)
        except (ValueError, RecursionError):
            continue
        before, state = state, reduce_chunk(state, deltas_for(name)(chunk))
        changes(before, state)
        state.as_message()
        again = MessageState.load(json.loads(json.dumps(state.dump())), config)
        assert seen(again) == seen(state), "loaded, it says something else"
    last = finish(state)
    assert finish(last) is last, "what is finished is finished"

    ways = [list(read(config, name, pieces)) for pieces in ([body], [body[:place], body[place:]])]
    assert [seen(one) for one in ways[0][-1:]] == [seen(one) for one in ways[1][-1:]], "cut, it says something else"
    for number, state in read_choices(config, name, body).items():
        alone = list(read(config.for_choice(number), name, [body]))
        assert alone[-1].content == state.content, "alone, a choice says something else"
    whole, cut = SSEDecoder(), SSEDecoder()
    told = whole.feed(body) + whole.close()
    assert cut.feed(body[:place]) + cut.feed(body[place:]) + cut.close() == told, "cut, the events differ"


def read(config: Config, name: str, pieces: list[bytes]) -> Iterator[MessageState]:
    """The states of a stream, and no error of a provider."""
    stream = MessageStream(iter([piece for piece in pieces if piece]), format=name, config=config)
    yield from without_message_error(stream)


def read_choices(config: Config, name: str, body: bytes) -> dict[int, MessageState]:
    """The last states of all choices."""
    stream = ChoiceStream(iter([body] if body else []), format=name, config=config)
    for state in without_message_error(stream):
        assert stream.states[state.choice] is state, "a state has another choice"
    return stream.states


def without_message_error(stream: MessageStream | ChoiceStream) -> Iterator[MessageState]:
    """The states of a stream; no other exception may end it."""
    try:
        yield from stream
    except Exception as error:
        if type(error).__name__ != "MessageError":
            raise
