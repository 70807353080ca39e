"""A server on this machine that replays streams of providers, and says no more than it was told to.

A `Script`, which is what a model says, is written in the chunks of a provider; `answer` puts chunks on the wire.
`Replay` serves answers, one for each request, and then stops.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, replace
from enum import Enum
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, Final, Self

from tests.support import eventstream
from tests.support.scripts import WRITERS, Call, Payload, Script

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

__all__ = ["PATIENCE", "WRITERS", "Answer", "Call", "Ending", "Payload", "Replay", "Script", "answer", "refusal"]

PATIENCE: Final = 10.0  # seconds that clients wait for a server, on a busy machine
LIFETIME: Final = 60.0  # seconds after which a server stops, whatever clients do: to import one may take long
TICK: Final = 0.02  # seconds: how often the server looks whether it is to stop
AT_ONCE: Final = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # how a socket is told to reset
PIECE: Final = 61  # bytes: events, lines and characters are cut by the wire, as they may be
UNNAMED: Final = ("openai-chat", "gemini")  # their events have no name


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
    piece: int = PIECE
    """The bytes that the wire carries at once."""

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
    if format == "bedrock-converse":
        return Answer(tuple(map(eventstream.event, payloads)), content_type=eventstream.CONTENT_TYPE)
    frames = [_event(payload, is_named=format not in UNNAMED) for payload in payloads]
    return Answer((*frames, b"data: [DONE]\n\n") if format == "openai-chat" else tuple(frames))


def _event(payload: Payload, *, is_named: bool) -> bytes:
    name = f"event: {payload.get('type') or payload['event_type']}\n" if is_named else ""
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
        self.requests: Final[list[bytes]] = []
        """What was said with it."""
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

    def __enter__(self) -> Self:
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
        self.server.requests.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
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
        for at in range(0, len(body), answer.piece):
            piece = body[at : at + answer.piece]
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
