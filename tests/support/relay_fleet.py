"""Many streams over several worker processes on one Redis, with followers, and a kill every second.

    python -m tests.support.relay_fleet worker URL FOLDER NUMBER FIRST LAST PIECES
    python -m tests.support.relay_fleet follower URL FOLDER NUMBER FIRST LAST PIECES

A worker publishes its streams, a few hundred at a time, and takes over those that its killed predecessor left. A
process of followers reads each stream of its range to the end, and writes a verdict for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.redis_server import RedisServer
from tests.support.shared import PROJECT
from unspool.relay import Document, EndedError, GoneError, RedisLog, Relay, RelayError, Update

if TYPE_CHECKING:
    from asyncio.subprocess import Process

FOLD: Any = Document()
AT_ONCE = 200
LEASE = 20.0


def relay_to(url: str) -> Relay:
    log = RedisLog.from_url(url, patience=60.0)
    return Relay(log, linger=0.0, lease=LEASE, retention=3600.0, idle_check=5.0, hub_idle=1.0)


async def ready(relay: Relay, folder: Path, name: str) -> None:
    """Say that this process is at work: a kill of one that only starts would try nothing."""
    await relay.log.tail("another")
    (folder / f"ready-{name}").write_text(str(os.getpid()))


async def work(url: str, folder: Path, number: int, first: int, last: int, pieces: int) -> None:
    relay = relay_to(url)
    await ready(relay, folder, f"worker-{number}")
    gate = asyncio.Semaphore(AT_ONCE)
    done = folder / f"done-{number}"
    finished = set(done.read_text().split()) if done.exists() else set()
    with done.open("a") as notes:

        async def one(name: str) -> None:
            async with gate:
                while True:
                    with contextlib.suppress(RelayError):
                        with contextlib.suppress(EndedError):
                            await publish(relay, name, f"worker-{number}", pieces)
                        break
                    await asyncio.sleep(0.2)
            notes.write(f"{name}\n")
            notes.flush()

        await asyncio.gather(*[one(f"s{each}") for each in range(first, last) if f"s{each}" not in finished])
    await relay.aclose()


async def publish(relay: Relay, name: str, owner: str, pieces: int) -> None:
    """Publish a stream from where it is. The owner keeps its name, so its successor need not wait for the lease."""
    try:
        publisher = relay.take_over(name, FOLD, owner=owner)
        out = await publisher.__aenter__()
    except GoneError:
        publisher = relay.publish(name, FOLD, owner=owner)
        out = await publisher.__aenter__()
    try:
        for piece in range(out.position or 0, pieces):
            path, value = ("/-", [piece, time.time()]) if piece else ("", [[0, time.time()]])
            await out.send([{"op": "add", "path": path, "value": value}], position=piece + 1)
            await asyncio.sleep(random.uniform(0.1, 0.5))
    except BaseException as error:
        await publisher.__aexit__(type(error), error, None)
        raise
    await publisher.__aexit__(None, None, None)


async def follow(url: str, folder: Path, number: int, first: int, last: int, pieces: int) -> None:
    relay = relay_to(url)
    await ready(relay, folder, f"follower-{number}")
    verdicts = folder / f"verdicts-{number}"
    known = {json.loads(line)[0] for line in verdicts.read_text().splitlines()} if verdicts.exists() else set()
    with verdicts.open("a") as notes:

        async def one(name: str) -> None:
            late: list[float] = []
            end: Any = None
            while True:
                try:
                    async for step in relay.follow(name, FOLD, wait=600):
                        end = step
                        if isinstance(step, Update) and step.entry.kind == "d":
                            late += [time.time() - operation["value"][-1] for operation in step.entry.content["x"][-1:]
                                     if isinstance(operation["value"][-1], float)]  # fmt: skip
                    break
                except RelayError:
                    await asyncio.sleep(0.5)
            numbers = [value[0] for value in end.state]
            notes.write(json.dumps([name, numbers == list(range(pieces)) and end.status == "done", late]) + "\n")
            notes.flush()

        names = [f"s{each}" for each in range(first, last)]
        await asyncio.gather(*[one(name) for name in names if name not in known])
    await relay.aclose()


class Fleet(NamedTuple):
    """What a run did, and what came of it."""

    streams: int
    right_streams: int
    followers: int
    right_followers: int
    kills: dict[str, int]
    seconds: float
    late_p50: float
    late_p99: float
    most_connections: int
    most_memory: int
    memory_of_workers: int


def number_in(info: bytes, name: str) -> int:
    """Return a number that the command INFO tells."""
    return next(int(line.partition(":")[2]) for line in info.decode().splitlines() if line.startswith(f"{name}:"))


async def run_fleet(folder: Path, streams: int, followers: int, pieces: int, seconds: float, seed: int = 0) -> Fleet:
    rng = random.Random(seed)
    server = RedisServer("--appendonly", "yes", "--appendfsync", "everysec")
    log = RedisLog.from_url(server.url, patience=60.0)
    workers, groups = 4, 5
    processes: dict[str, Process] = {}
    kills = {"worker": 0, "follower": 0}
    most_connections = most_memory = 0

    async def start(name: str) -> None:
        role, _, number = name.partition("-")
        count = int(number)
        size = streams // workers if role == "worker" else followers // groups
        spread = 0 if role == "worker" else (streams // groups - size) * count  # over all streams
        span = [count * size + spread, (count + 1) * size + spread]
        command = [sys.executable, "-m", "tests.support.relay_fleet", role, server.url, folder, count, *span, pieces]
        processes[name] = await asyncio.create_subprocess_exec(*map(str, command), cwd=PROJECT)

    def is_at_work(name: str) -> bool:
        process, mark = processes[name], folder / f"ready-{name}"
        return process.returncode is None and mark.exists() and mark.read_text() == str(process.pid)

    names = [*[f"follower-{number}" for number in range(groups)], *[f"worker-{number}" for number in range(workers)]]
    started = time.monotonic()
    first_kill: float | None = None
    try:
        for name in names:
            await start(name)
        while any(process.returncode is None for process in processes.values()):
            await asyncio.sleep(1.0)
            memory, clients = await log._writing("x", ("INFO", "memory"), ("INFO", "clients"))
            most_memory = max(most_memory, number_in(memory, "used_memory"))
            most_connections = max(most_connections, number_in(clients, "connected_clients"))
            running = [name for name in names if is_at_work(name)]
            if first_kill is None and len(running) == len(names):
                first_kill = time.monotonic()
            if first_kill is not None and time.monotonic() - first_kill < seconds and running:
                victim = rng.choice(running)
                kills[victim.partition("-")[0]] += 1
                processes[victim].kill()
                await processes[victim].wait()
                await start(victim)
            for name in names:
                if processes[name].returncode not in (None, 0):
                    await start(name)
        took = time.monotonic() - started
        reader = relay_to(server.url)
        right = 0
        for start_at in range(0, streams, 500):
            names_here = [f"s{number}" for number in range(start_at, min(start_at + 500, streams))]
            found = await asyncio.gather(*[final_state(reader, name) for name in names_here])
            right += sum([numbers == list(range(pieces)) for numbers in found])
        await reader.aclose()
    finally:
        for process in processes.values():
            if process.returncode is None:
                process.kill()
                await process.wait()
        await log.aclose()
        server.close()
    verdicts = {
        json.loads(line)[0]: json.loads(line)[1:]
        for file in folder.glob("verdicts-*")
        for line in file.read_text().splitlines()
    }
    late = sorted([each for _, times in verdicts.values() for each in times]) or [0.0]
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return Fleet(
        streams, right, followers, sum([is_right for is_right, _ in verdicts.values()]), kills, took,
        late[len(late) // 2], late[int(len(late) * 0.99)], most_connections, most_memory, children,
    )  # fmt: skip


async def final_state(relay: Relay, name: str) -> list[int]:
    numbers: list[int] = []
    async for step in relay.follow(name, FOLD):
        if step.state:
            numbers = [value[0] for value in step.state]
    return numbers


if __name__ == "__main__":
    role, url, folder, *numbers = sys.argv[1:]
    asyncio.run((work if role == "worker" else follow)(url, Path(folder), *map(int, numbers)))
