"""A server with one page that follows streams of a relay, as a process of its own: it can be killed, and started again.

Run it with ``python -m tests.support.relay_pages PORT [REDIS]``. Without Redis, the streams live in the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette

PATIENCE: Final = 120.0
PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<title>A stream</title>
<link rel="icon" href="data:,">
<p id="text"></p>
<p id="status"></p>
<script type="module">
import { follow } from "/relay.js";
const name = new URLSearchParams(location.search).get("name");
const stream = (window.stream = follow(`/streams/${name}`, { silence: 60000 }));
window.seen = [];
const show = ({ document: state, status, connection }) => {
  if (window.seen.at(-1) !== connection) window.seen.push(connection);
  const parts = state?.parts ?? [];
  document.getElementById("text").textContent = parts.map((part) => part.text ?? "").join("");
  document.getElementById("status").textContent = `${status} ${connection}`;
};
stream.subscribe(show);
show(stream.view);
</script>
"""


def words(count: int) -> str:
    """The text of a stream: each piece once, in order."""
    return "".join([f"{number} " for number in range(count)])


def application(redis: str | None) -> Starlette:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route

    from unspool.llm import Config
    from unspool.relay import Messages, RedisLog, Relay
    from unspool.relay.web import SSESettings, browser_client

    relay = Relay(None if redis is None else RedisLog.from_url(redis), linger=0.005, lease=2.0, idle_check=0.5)
    settings = SSESettings(keep_alive=0.5, retry=(0.1, 0.3), wait=PATIENCE)
    tasks: set[asyncio.Task[None]] = set()
    goes_on: dict[str, asyncio.Event] = {}

    async def page(request: Request) -> Response:
        return HTMLResponse(PAGE)

    async def client(request: Request) -> Response:
        return browser_client(request)

    async def stream(request: Request) -> Response:
        return relay.sse(request.path_params["name"], request, authorize=lambda request, name: True, settings=settings)

    async def write(name: str, count: int, pause: float, hold: int) -> None:
        async with relay.publish(name, Messages(config=Config(requires_finish=False))) as out:
            for number in range(count):
                if number == hold:
                    await goes_on.setdefault(name, asyncio.Event()).wait()
                await out.send({"message": {"role": "assistant", "content": f"{number} "}, "done": False})
                await asyncio.sleep(pause)
            await out.send({"message": {"content": ""}, "done": True, "done_reason": "stop"})

    async def begin(request: Request) -> Response:
        query = request.query_params
        numbers = int(query["count"]), float(query["pause"]), int(query["hold"])
        task = asyncio.create_task(write(query["name"], *numbers))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return Response(status_code=202)

    async def go_on(request: Request) -> Response:
        goes_on.setdefault(request.query_params["name"], asyncio.Event()).set()
        return Response(status_code=202)

    return Starlette(
        routes=[
            Route("/", page),
            Route("/relay.js", client),
            Route("/streams/{name}", stream),
            Route("/begin", begin, methods=["POST"]),
            Route("/go-on", go_on, methods=["POST"]),
        ]
    )


class PageServer:
    """The server as a process."""

    def __init__(self, redis: str | None = None, port: int = 0) -> None:
        if port == 0:
            with socket.socket() as found:
                found.bind(("127.0.0.1", 0))
                port = found.getsockname()[1]
        self.port = port
        self._redis = redis
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the process, and wait until it answers."""
        words = [sys.executable, "-m", "tests.support.relay_pages", str(self.port)]
        self._process = subprocess.Popen([*words, *([self._redis] if self._redis else [])], cwd=PROJECT)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self._process.poll() is None, "the server does not start"
            time.sleep(0.02)
        raise RuntimeError("the server does not answer")

    def begin(self, name: str, count: int, pause: float, hold: int = -1) -> None:
        """Let the server write a stream; it waits before the piece with the number `hold`, so it cannot end before."""
        self._post(f"/begin?name={name}&count={count}&pause={pause}&hold={hold}")

    def go_on(self, name: str) -> None:
        """Let the writer of a stream go on."""
        self._post(f"/go-on?name={name}")

    def _post(self, path: str) -> None:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("POST", path)
        assert connection.getresponse().status == 202
        connection.close()

    def kill(self) -> None:
        """Kill it, as the system would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def page_server(redis: str | None = None) -> Iterator[PageServer]:
    """A server that is gone at the end."""
    server = PageServer(redis)
    try:
        yield server
    finally:
        server.kill()


def main() -> None:
    import uvicorn

    port, *redis = sys.argv[1:]
    app = application(redis[0] if redis else None)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
