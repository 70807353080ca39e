"""Run the chat: two worker processes and a Redis of their own, on this machine alone.

``python examples/chat_app`` prints an address. Open it, ask something, and kill the worker that writes the answer: the
page shows its number. The answer goes on in the other worker. The Redis stops when this program ends. Without a
redis-server, everything runs in one process, and the program says so.

Needs ``pip install fastapi uvicorn "unspool[redis]"``, and Redis (``apt-get install redis-server``).
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import uvicorn

FOLDER = Path(__file__).resolve().parent
EXAMPLES = FOLDER.parent
SERVERS = ("redis-server", "valkey-server")
PATIENCE = 60.0  # seconds until a new Redis answers


@contextmanager
def own_redis(binary: str) -> Generator[str]:
    """Run a Redis in a temporary folder, on a free port of this machine. Yield its URL, and stop it at the end."""
    with tempfile.TemporaryDirectory(prefix="chat-app-") as folder:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = cast("int", found.getsockname()[1])
        options = ["--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "yes", "--logfile", "log"]
        process = subprocess.Popen([binary, "--port", str(port), *options], start_new_session=True)  # noqa: S603
        try:
            wait_for(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait()


def wait_for(port: int) -> None:
    """Wait until a server listens at a port of this machine."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def serve(port: int, redis: str | None, workers: int) -> None:
    """Serve until Ctrl-C. A worker that dies is replaced by a new one."""
    if redis is not None:
        os.environ["CHAT_REDIS"] = redis
    # The port is chosen here, so that both workers listen at the same one.
    with socket.create_server(("127.0.0.1", port)) as found:
        port = cast("int", found.getsockname()[1])
    sys.stdout.write(f"open http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    sys.path.insert(0, str(EXAMPLES))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(EXAMPLES), os.environ.get("PYTHONPATH")]))
    uvicorn.run(
        f"{FOLDER.name}.chat:app",
        host="127.0.0.1",
        port=port,
        workers=workers,
        log_level="warning",
        timeout_graceful_shutdown=1,  # streams do not end by themselves
    )


def main() -> None:
    """Read the options, and serve."""
    parser = argparse.ArgumentParser(prog="chat_app", description="A chat whose answers survive their worker.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes any that is free")
    parser.add_argument("--redis", metavar="URL", help="a Redis that runs already")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0.06, help="seconds between two chunks of an answer")
    options = parser.parse_args()
    os.environ["CHAT_PAUSE"] = str(cast("float", options.pause))
    port, redis, workers = (cast("int", options.port), cast("str | None", options.redis), cast("int", options.workers))
    binary = next(filter(None, map(shutil.which, SERVERS)), None)
    if redis is not None:
        serve(port, redis, workers)
    elif binary is not None and find_spec("redis") is not None:
        with own_redis(binary) as url:
            serve(port, url, workers)
    else:
        lacking = "redis-server" if binary is None else "the Python package redis"
        sys.stdout.write(f"{lacking} is not installed: one process, whose streams end with it\n")
        serve(port, None, 1)


if __name__ == "__main__":
    main()
