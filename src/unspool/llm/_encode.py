"""`Encoder`: a message in the protocol of a client, while the message arrives.

An encoder takes the events of a message and returns the chunks of its target. `encode` and `aencode` do this for a
whole source, and write server-sent events. The machine is in `_encoders`.
"""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any, Final, final

from .._errors import OptionsError, StateError
from ._changes import changes
from ._diagnostics import MessageError
from ._encoders.machine import EncoderSettings, EncoderState, ended_early, step
from ._encoders.registry import wire_for
from ._formats.registry import deltas_for
from ._message import start
from ._parts import FilePart
from ._requests.turn import LossError, base64_of
from ._stream import MessageStream
from ._wire import DONE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping, Sequence

    from ._changes import MessageEvent
    from ._message import MessageState
    from ._requests.turn import Loss

__all__ = ["AsyncEncoding", "Encoder", "Encoding", "aencode", "encode"]

Chunk = dict[str, Any]

LAST: Final = f"data: {DONE}\n\n".encode()
ORPHANS: Final = ("open", "data")
VERSIONS: Final = (5, 6, 7)
CLOSED: Final = "the stream ended before the message did"


def _base64(value: object) -> str:
    """Return bytes as base64, the only value of a chunk that JSON does not have."""
    if isinstance(value, bytes):
        return base64_of(FilePart(data=value)) or ""
    raise TypeError(f"{type(value).__name__} is not JSON")


def _null(constant: str) -> None:
    """Return what stands for a number that JSON does not have, as in JavaScript."""


_readable = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_base64).encode
_ascii = json.JSONEncoder(separators=(",", ":"), default=_base64).encode


def _as_bytes(chunk: Chunk) -> bytes:
    try:
        return _readable(chunk).encode()
    except ValueError:  # half of a surrogate pair, which must be escaped, or a number that is not finite
        return _ascii(json.loads(_ascii(chunk), parse_constant=_null)).encode()


@final
class Encoder:
    """Events of a message in, chunks of a target out.

    `target` is the name of a protocol, such as "openai-chat" or "vercel-ui"; the error for an unknown name lists all of
    them. `id` and `model` replace those of the message. The other parameters belong to single targets:

    - `include_usage`: chat completions end with the usage, as with the option of the same name in the request
    - `reasoning_field`: the field of reasoning in chat completions; None leaves reasoning out
    - `orphans`: how `vercel-ui` shows a result without a call: "open" shows an empty call, "data" a data part
    - `version`: the version of the AI SDK on the page, for `vercel-ui`. Only 7 has citations in a text
    - `thread_id` and `run_id`: the names of the run in `ag-ui`

    With `carry`, the chunks have the signatures of other providers as tagged texts, which `carried` recognises.
    `source` is the format that the message comes in; `encode` sets it itself. With `strict`, the first loss raises
    `LossError`.

    >>> from unspool.llm import ContentAdded, MessageStarted, PartStarted, TextPart
    >>> encoder = Encoder("anthropic")
    >>> [chunk["type"] for chunk in encoder.feed(MessageStarted("assistant", "msg_1", "m"))]
    ['message_start']
    >>> encoder.feed(PartStarted(0, TextPart()))
    []
    >>> [chunk["type"] for chunk in encoder.feed(ContentAdded("Hello"))]
    ['content_block_start', 'content_block_delta']
    """

    __slots__ = ("_is_strict", "_state", "_wire", "target")

    def __init__(
        self,
        target: str,
        *,
        id: str | None = None,
        model: str | None = None,
        created: int | None = None,
        include_usage: bool = False,
        reasoning_field: str | None = "reasoning_content",
        source: str | None = None,
        carry: bool = False,
        strict: bool = False,
        orphans: str = "open",
        version: int = 6,
        thread_id: str | None = None,
        run_id: str | None = None,
    ) -> None:
        self.target: Final = target
        self._wire = wire_for(target)
        if orphans not in ORPHANS:
            raise OptionsError(f"orphans must be {' or '.join(map(repr, ORPHANS))}")
        if version not in VERSIONS:
            raise OptionsError(f"version must be {' or '.join(map(str, VERSIONS))}")
        made = uuid.uuid4().hex
        settings = EncoderSettings(
            id,
            model,
            self._wire.prefix + made,
            int(time.time()) if created is None else created,
            include_usage,
            reasoning_field,
            carry,
            orphans,
            thread_id or f"thread_{made}",
            run_id or f"run_{made}",
            version,
        )
        self._is_strict = strict
        self._state = EncoderState(settings)
        if source is not None:
            self.name_source(source)

    def name_source(self, format: str | None) -> None:
        """Tell the encoder the format that the message comes in. Only `carry` needs it, before the first event."""
        if format is not None:
            deltas_for(format)
            self._state = EncoderState(self._state.settings, self._state)
            self._state.source = format

    @property
    def state(self) -> EncoderState:
        """Everything that the encoder remembers. It is immutable, so it can be kept without a copy."""
        return self._state

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far: things that the target has no place for."""
        return self._state.losses

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an HTTP response with these chunks as server-sent events."""
        return dict(self._wire.headers)

    @property
    def is_ended(self) -> bool:
        """The last chunk was returned."""
        return self._state.is_ended

    def feed(self, event: MessageEvent) -> list[Chunk]:
        """Return the chunks that an event makes."""
        return self._taken(*step(self._wire.target, self._state, event))

    def close(self) -> list[Chunk]:
        """End a message whose end was not fed: return its last chunks, which are an error."""
        return self._taken(*ended_early(self._wire.target, self._state, CLOSED))

    def _taken(self, state: EncoderState, chunks: list[Chunk]) -> list[Chunk]:
        """Go on to the next state, and return the chunks unless a strict encoder has lost something."""
        has_lost = state.known.size > self._state.known.size
        self._state = state
        if has_lost and self._is_strict:
            raise LossError(self.losses)
        return chunks

    def prelude(
        self, state: MessageState, *, kept: bool = False, history: Sequence[Mapping[str, Any]] = ()
    ) -> list[Chunk]:
        """Return the chunks for a client that joins late: they bring it to this state of the message.

        The events after this state follow with `feed`. Only a new encoder has a prelude. It depends on the state and
        the settings alone: with an `id`, `created`, `thread_id` and `run_id`, all processes write the same bytes.

        With `kept`, the client may still have an older part of this message, which the prelude replaces. `vercel-ui`
        can do that with ``version=7``. `ag-ui` sends a snapshot of all messages: `history` has those before this one.
        """
        if self._state.is_started or self._state.seen_id is not None:
            raise StateError("an encoder that has begun has no prelude; make a new one")
        if self._state.source is None:
            self.name_source(state.format)
        target, settings = self._wire.target, self._state.settings
        if kept:
            target.replacing([], settings, [])  # raises before anything is remembered
        events = changes(start(state.config, format=state.format), state)
        chunks = [chunk for event in events for chunk in self.feed(event)]
        return target.replacing(chunks, settings, [dict(message) for message in history]) if kept else chunks

    def frame(self, chunk: Chunk) -> bytes:
        """Return a chunk as a server-sent event."""
        data = b"data: " + _as_bytes(chunk) + b"\n\n"
        return b"event: " + str(chunk["type"]).encode() + b"\n" + data if self._wire.has_names else data

    def last_frame(self) -> bytes:
        """Return what follows the last event: ``[DONE]`` in targets that end with it, unless the message has failed."""
        return LAST if self._wire.is_done and self._state.is_ended and not self._state.is_failed else b""


class _Encoding:
    """What both kinds of encodings share."""

    def __init__(self, source: object, encoder: Encoder) -> None:
        self.stream: Final = source if isinstance(source, MessageStream) else MessageStream(source)
        """The message: `stream.state` is its last state."""
        self.encoder: Final = encoder

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an HTTP response with these chunks as server-sent events."""
        return self.encoder.headers

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far: things that the target has no place for."""
        return self.encoder.losses


@final
class Encoding(_Encoding):
    """The chunks of a target, for ``for``. Leaving the loop closes the source."""

    def __iter__(self) -> Generator[Chunk, None, None]:
        encoder = self.encoder
        try:
            for event in self.stream.events():
                if encoder.state.source is None:
                    encoder.name_source(self.stream.state.format)
                yield from encoder.feed(event)
        except MessageError:
            if not encoder.is_ended:
                raise
        finally:
            self.stream.close()
        yield from encoder.close()

    def sse(self) -> Generator[bytes, None, None]:
        """Iterate over the chunks as server-sent events."""
        frame, chunks = self.encoder.frame, self.__iter__()
        try:
            for chunk in chunks:
                yield frame(chunk)
            last = self.encoder.last_frame()
            if last:
                yield last
        finally:
            chunks.close()


@final
class AsyncEncoding(_Encoding):
    """The chunks of a target, for ``async for``. Closing its iterator closes the source."""

    async def __aiter__(self) -> AsyncGenerator[Chunk, None]:
        encoder = self.encoder
        try:
            async for event in self.stream.events():
                if encoder.state.source is None:
                    encoder.name_source(self.stream.state.format)
                for chunk in encoder.feed(event):
                    yield chunk
        except MessageError:
            if not encoder.is_ended:
                raise
        finally:
            await self.stream.aclose()
        for chunk in encoder.close():
            yield chunk

    async def asse(self) -> AsyncGenerator[bytes, None]:
        """Iterate over the chunks as server-sent events."""
        frame, chunks = self.encoder.frame, self.__aiter__()
        try:
            async for chunk in chunks:
                yield frame(chunk)
            last = self.encoder.last_frame()
            if last:
                yield last
        finally:
            await chunks.aclose()


def encode(source: object, to: str, **settings: Any) -> Encoding:
    """Encode the message of a source, while it arrives. `source` is a `MessageStream`, or anything that it takes.

    The settings are those of `Encoder`. A failure of the message becomes an error of the target.

    >>> chunks = [{"message": {"content": "Hel"}, "done": False}, {"message": {"content": "lo"}, "done": True}]
    >>> [chunk["choices"][0]["delta"] for chunk in encode(chunks, "openai-chat")]
    [{'role': 'assistant', 'content': ''}, {'content': 'Hel'}, {'content': 'lo'}, {}]
    """
    return Encoding(source, Encoder(to, **settings))


def aencode(source: object, to: str, **settings: Any) -> AsyncEncoding:
    """Do the same as `encode` for a source that must be awaited."""
    return AsyncEncoding(source, Encoder(to, **settings))
