"""A server on this machine that replays streams of providers, and says no more than it was told to.

`Script` is what a model says; `chat`, `responses`, `anthropic` and `ollama` write it in the chunks of a provider, and
`answer` puts chunks on the wire. `Replay` serves answers, one for each request, and then stops.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from enum import Enum
from http.server import BaseHTTPRequestHandler
from itertools import chain, count
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

Payload = dict[str, Any]

PATIENCE: Final = 10.0  # seconds that clients wait for a server, on a busy machine
LIFETIME: Final = 60.0  # seconds after which a server stops, whatever clients do: to import one may take long
TICK: Final = 0.02  # seconds: how often the server looks whether it is to stop
AT_ONCE: Final = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # how a socket is told to reset
PIECE: Final = 61  # bytes: events, lines and characters are cut by the wire, as they may be


class Ending(Enum):
    """How the server ends a body."""

    WHOLE = "as HTTP wants it"
    DROPPED = "the connection is closed, and HTTP was not told"
    RESET = "the connection is reset"
    HELD = "nothing more is sent until the client leaves"


@dataclass(frozen=True)
class Answer:
    """A body to send, event by event or line by line, and how it ends."""

    frames: tuple[bytes, ...]
    ending: Ending = Ending.WHOLE
    status: int = 200
    content_type: str = "text/event-stream"

    def cut(self, whole: int, ending: Ending) -> Answer:
        """This many frames, half of the next one, and this ending."""
        kept, torn = self.frames[:whole], self.frames[whole]
        return replace(self, frames=(*kept, torn[: len(torn) // 2]), ending=ending)

    def hold(self, whole: int) -> Answer:
        """This many frames, and then silence."""
        return replace(self, frames=self.frames[:whole], ending=Ending.HELD)


def answer(format: str, payloads: Iterable[Payload]) -> Answer:
    """The payloads of this format on its wire."""
    if format == "ollama":
        lines = [json.dumps(payload, ensure_ascii=False).encode() + b"\n" for payload in payloads]
        return Answer(tuple(lines), content_type="application/x-ndjson")
    frames = [_event(payload, is_named=format != "openai-chat") for payload in payloads]
    return Answer((*frames, b"data: [DONE]\n\n") if format == "openai-chat" else tuple(frames))


def _event(payload: Payload, *, is_named: bool) -> bytes:
    name = f"event: {payload['type']}\n" if is_named else ""
    return f"{name}data: {json.dumps(payload, ensure_ascii=False)}\n\n".encode()


def refusal(status: int, body: bytes) -> Answer:
    """A response that has no stream."""
    return Answer((body,), status=status, content_type="application/json")


# The server.


class Replay(TCPServer):
    """Serves one answer for each request, one after another, and stops after the last: ``with Replay(answer) as it``.

    What goes wrong in it is wrong with the test: leaving it says so.
    """

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.timeout = TICK
        self.url: Final = f"http://127.0.0.1:{self.server_address[1]}"
        self.paths: Final[list[str]] = []
        """What was asked for."""
        self.left: Final = threading.Event()
        """A client has left before the end of its answer."""
        self.faults: Final[list[BaseException]] = []
        self._answers: Final = list(answers)
        self._is_stopped = False
        self._end: Final = time.monotonic() + LIFETIME
        self._thread: Final = threading.Thread(target=self._serve, daemon=True)

    def next_answer(self) -> Answer:
        return self._answers.pop(0)

    def _serve(self) -> None:
        while self._answers and self.goes_on:
            self.handle_request()

    @property
    def goes_on(self) -> bool:
        """Nobody has stopped it, and it is not too old."""
        return not self._is_stopped and time.monotonic() < self._end

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Called where an exception is handled: keep it, for whoever stops the server."""
        fault = sys.exception()
        if fault is not None:
            self.faults.append(fault)

    def __enter__(self) -> Replay:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_stopped = True
        self._thread.join(2 * PATIENCE)
        self.server_close()
        if error is None:
            assert not self._thread.is_alive()
            assert self.faults == []


class _Handler(BaseHTTPRequestHandler):
    """One request. Each has a connection of its own, so that what is done to the connection is done to the answer."""

    server: Replay
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def do_POST(self) -> None:
        self.server.paths.append(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.server.next_answer()
        try:
            self._send(answer)
        except ConnectionError:  # the client need not want to read it all
            self.server.left.set()
        self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        body = b"".join(answer.frames)
        for at in range(0, len(body), PIECE):
            piece = body[at : at + PIECE]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if answer.ending is Ending.WHOLE:
            self.wfile.write(b"0\r\n\r\n")
        elif answer.ending is Ending.RESET:
            time.sleep(TICK)  # what was sent is to be read first: a reset takes it away
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            socket.close(self.connection.detach())  # the server would say goodbye first
        elif answer.ending is Ending.HELD:
            self._wait()

    def _wait(self) -> None:
        while self.server.goes_on:
            is_readable, _, _ = select.select([self.connection], [], [], TICK)
            if is_readable and self.connection.recv(1) == b"":
                self.server.left.set()
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


# What a model says.


@dataclass(frozen=True)
class Call:
    """A call of a tool, its arguments in pieces."""

    id: str
    name: str
    pieces: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Script:
    """Text in pieces, then calls. It counts eleven tokens in, five out."""

    pieces: tuple[str, ...] = ()
    calls: tuple[Call, ...] = field(default=())

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def write(self, format: str) -> list[Payload]:
        """The payloads of this format."""
        return list(WRITERS[format](self))


def chat(script: Script) -> Iterator[Payload]:
    """Chat completions of OpenAI."""

    def chunk(choices: list[Payload], **more: Any) -> Payload:
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}

    def choice(delta: Payload, reason: str | None = None) -> Payload:
        return chunk([{"index": 0, "delta": delta, "finish_reason": reason}])

    yield choice({"role": "assistant", "content": ""})
    for piece in script.pieces:
        yield choice({"content": piece})
    for index, call in enumerate(script.calls):
        function = {"name": call.name, "arguments": ""}
        yield choice({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in call.pieces:
            yield choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield choice({}, "tool_calls" if script.calls else "stop")
    yield chunk([], usage={"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16})


def responses(script: Script) -> Iterator[Payload]:
    """The Responses API of OpenAI."""
    numbers = count()

    def event(kind: str, **more: Any) -> Payload:
        return {"type": f"response.{kind}", "sequence_number": next(numbers), **more}

    def response(status: str, output: list[Payload], **more: Any) -> Payload:
        fixed = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "tools": [], "tool_choice": "auto"}
        return {**fixed, "parallel_tool_calls": True, "status": status, "output": output, **more}

    output: list[Payload] = []
    yield event("created", response=response("in_progress", []))
    if script.pieces:
        message = {"id": "m1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        yield event("output_item.added", output_index=0, item=message)
        place = {"item_id": "m1", "output_index": 0, "content_index": 0}
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("content_part.added", **place, part=part)
        for piece in script.pieces:
            yield event("output_text.delta", **place, delta=piece, logprobs=[])
        part = {**part, "text": script.text}
        yield event("output_text.done", **place, text=script.text, logprobs=[])
        yield event("content_part.done", **place, part=part)
        output.append({**message, "status": "completed", "content": [part]})
        yield event("output_item.done", output_index=0, item=output[-1])
    for index, call in enumerate(script.calls, len(output)):
        place = {"item_id": f"f{index}", "output_index": index}
        item = {"id": f"f{index}", "type": "function_call", "call_id": call.id, "name": call.name, "arguments": ""}
        yield event("output_item.added", output_index=index, item={**item, "status": "in_progress"})
        for piece in call.pieces:
            yield event("function_call_arguments.delta", **place, delta=piece)
        yield event("function_call_arguments.done", **place, arguments=call.arguments)
        output.append({**item, "status": "completed", "arguments": call.arguments})
        yield event("output_item.done", output_index=index, item=output[-1])
    usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
    yield event("completed", response=response("completed", output, usage=usage))


def anthropic(script: Script) -> Iterator[Payload]:
    """The Messages API of Anthropic."""

    def block(index: int, start: Payload, deltas: Iterable[Payload]) -> Iterator[Payload]:
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    message = {"id": "a1", "type": "message", "role": "assistant", "model": "m", "content": []}
    no_stop = {"stop_reason": None, "stop_sequence": None}
    yield {
        "type": "message_start",
        "message": {**message, **no_stop, "usage": {"input_tokens": 11, "output_tokens": 1}},
    }
    yield {"type": "ping"}
    blocks: list[tuple[Payload, list[Payload]]] = []
    if script.pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in script.pieces]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call in script.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *call.pieces)]
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas))
    yield from chain.from_iterable(block(index, *both) for index, both in enumerate(blocks))
    stop = {"stop_reason": "tool_use" if script.calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def ollama(script: Script) -> Iterator[Payload]:
    """The chat of Ollama. Calls come whole."""

    def line(message: Payload, **more: Any) -> Payload:
        return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False, **more}

    for piece in script.pieces:
        yield line({"content": piece})
    for call in script.calls:
        function = {"name": call.name, "arguments": json.loads(call.arguments)}
        yield line({"tool_calls": [{"id": call.id, "function": function}]})
    yield line({}, done=True, done_reason="stop", prompt_eval_count=11, eval_count=5)


WRITERS: Final = {"openai-chat": chat, "openai-responses": responses, "anthropic": anthropic, "ollama": ollama}
