"""The studio as users have it: the real server, on a free port of this machine, in a thread; and clients for it."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from unspool.llm import SSEDecoder
from unspool.patch import apply
from unspool.tools.studio.server import StudioServer
from unspool.tools.studio.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from unspool.llm import SSEEvent
    from unspool.tools.studio.requests import Order

__all__ = ["PATIENCE", "Answer", "Client", "Follower", "applied", "running", "until"]

PATIENCE: Final = 15.0  # seconds, on a busy machine
TICK: Final = 0.01


def until(is_so: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    end = time.monotonic() + patience
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain for: {what}")
        time.sleep(TICK)


@contextmanager
def running(settings: Settings | None = None, order: Order | None = None, **options: Any) -> Generator[StudioServer]:
    """A server that is stopped at the end, whatever happened, and is shown to stop in time."""
    server = StudioServer(settings=settings, order=order, **options)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        until(lambda: server.started, "the start of the server")
        yield server
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server does not stop"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks as the page does, unless it is told to ask otherwise. The token is that of the address, if it has one."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self.host: Final = parts.hostname
        self.port: Final = parts.port
        self.origin: Final = f"http://{parts.netloc}"
        token = parts.query.removeprefix("token=")
        self.cookie: Final = f"unspool_{self.port}={token}" if token else ""
        self.head: Final = f"Host: {parts.netloc}\r\nCookie: {self.cookie}"
        """Of a request that is written by hand."""

    def ask(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
        """One request; a body that is no bytes goes as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Cookie": self.cookie} if method in ("GET", "HEAD") else {"Cookie": self.cookie, "X-Unspool": "1"}
        if body is not None:
            sent["Content-Type"] = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def session(self, **body: Any) -> str:
        """The id of a new session."""
        answer = self.ask("POST", "/api/sessions", body)
        assert answer.status == 201, answer
        return str(answer.json["id"])

    def view(self, id: str, query: str = "") -> Any:
        answer = self.ask("GET", f"/api/sessions/{id}/view?{query}")
        assert answer.status == 200, answer
        return answer.json

    def document(self, id: str) -> Any:
        with self.follow(id) as follower:
            follower.read_until(lambda: follower.document is not None)
            return follower.document

    def follow(
        self, id: str, last: str | None = None, receive_buffer: int | None = None, headers: str = ""
    ) -> Follower:
        return Follower(self, id, last, receive_buffer, headers)


def applied(document: Any, event: SSEEvent) -> Any:
    """The document after an event of the stream."""
    match event.event:
        case "snapshot":
            return json.loads(event.data)["document"]
        case "patch":
            return apply(document, json.loads(event.data))
        case _:
            return document


@dataclass
class Follower:
    """A client of a stream, on a socket of its own: it reads only when it is told to."""

    client: Client
    id: str
    last: str | None = None
    receive_buffer: int | None = None
    headers: str = ""
    document: Any = None
    events: list[SSEEvent] = field(default_factory=list)
    status: bytes = b""
    head: bytes = b""
    is_over: bool = False
    applied: Callable[[Any, SSEEvent], Any] = applied

    def __post_init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if self.receive_buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        self._socket.settimeout(PATIENCE)
        self._socket.connect((self.client.host, self.client.port))
        resume = f"Last-Event-ID: {self.last}\r\n" if self.last is not None else ""
        # HTTP/1.0: the body comes as it is, not in chunks.
        request = f"GET /api/sessions/{self.id}/stream HTTP/1.0\r\n{self.client.head}\r\n{resume}{self.headers}\r\n"
        self._socket.sendall(request.encode())
        self._decoder = SSEDecoder(keep_unfinished=False)

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def was_reset(self) -> bool:
        """Whether the other side has ended the connection at once; nothing is read to find out."""
        poll = select.poll()
        poll.register(self._socket, 0)
        return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))

    def pump(self) -> None:
        """Take what came: blocks until something has."""
        try:
            data = self._socket.recv(256 * 1024)
        except ConnectionResetError:
            data = b""
        if not data:
            self.is_over = True
            return
        if not self.status:
            self.head += data
            if b"\r\n\r\n" not in self.head:
                return
            self.head, _, data = self.head.partition(b"\r\n\r\n")
            self.status = self.head.split(b" ")[1]
        for event in self._decoder.feed(data):
            self.events.append(event)
            self.last = event.id
            self.document = self.applied(self.document, event)

    def read_until(self, is_enough: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_enough() and not self.is_over:
            if time.monotonic() > end:
                raise TimeoutError("waited in vain for an event")
            self.pump()

    def read_to_finish(self) -> Any:
        """Read until the stream of the session has ended, and everything is known of it."""
        self.read_until(lambda: self.document is not None and self.document["is_finished"])
        return self.document

    def __iter__(self) -> Iterator[SSEEvent]:
        return iter(self.events)
