"""Workers, followers and a Redis that are killed at random, as real processes.

    python -m tests.support.relay_chaos worker URL FOLDER ITEMS STREAMS CHECKPOINT
    python -m tests.support.relay_chaos follower URL FOLDER ITEMS STREAM NUMBER

A worker writes every stream that has no writer, from a source that can be opened at a position: the numbers from 0 up,
as JSON text. It notes each acknowledged place in a file. A follower keeps its cursor and its own state in a file, and
folds what it is shown. It writes a verdict when the stream has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.redis_server import Proxy, RedisServer
from tests.support.shared import PROJECT
from unspool import UnspoolError
from unspool.relay import Cursor, End, GoneError, JSONText, RedisLog, Relay, RelayError, Snapshot, Update

if TYPE_CHECKING:
    from asyncio.subprocess import Process

FOLD: Any = JSONText()
LEASE = 2.0
PATIENCE = 300.0


def piece(number: int, items: int) -> str:
    return ("[" if number == 0 else ",") + str(number) + ("]" if number == items - 1 else "")


def relay_to(url: str, **settings: Any) -> Relay:
    log = RedisLog.from_url(url, block=1.0, patience=5.0)
    return Relay(log, linger=0.0, lease=LEASE, idle_check=0.2, hub_idle=0.2, **settings)


# ---- a worker --------------------------------------------------------------------------------------------


async def work(url: str, folder: Path, items: int, streams: int, checkpoint: int) -> None:
    relay = relay_to(url, checkpoint=checkpoint, max_batch=2048)
    notes = os.open(folder / "notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    rng = random.Random(os.getpid())
    await asyncio.gather(*[work_on(relay, f"s{number}", items, notes, rng) for number in range(streams)])


async def work_on(relay: Relay, name: str, items: int, notes: int, rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.uniform(0.01, 0.1))
        try:
            await write(relay, name, items, notes, rng)
        except RelayError:
            continue  # held, fenced, ended, gone, or the log is away: look again


async def write(relay: Relay, name: str, items: int, notes: int, rng: random.Random) -> None:
    def note(*words: object) -> None:
        os.write(notes, (json.dumps([name, *words]) + "\n").encode())

    try:
        publisher = relay.take_over(name, FOLD)
        out = await publisher.__aenter__()
    except GoneError:
        publisher = relay.publish(name, FOLD)
        out = await publisher.__aenter__()
    error: BaseException | None = None
    try:
        start = out.position or 0
        note("took", start)
        for number in range(start, items):
            await out.send(piece(number, items), position=number + 1)
            if rng.random() < 0.2:
                await out.flush()
                note("acknowledged", number + 1, str(out.cursor))
            if rng.random() < 0.3:
                await asyncio.sleep(rng.uniform(0.0, 0.02))
    except BaseException as caught:
        error = caught
        raise
    finally:
        await publisher.__aexit__(type(error) if error else None, error, None)


# ---- a follower ------------------------------------------------------------------------------------------


async def follow(url: str, folder: Path, items: int, stream: int, number: int) -> None:
    relay = relay_to(url)
    kept = folder / f"follower-{number}"
    verdict = folder / f"verdict-{number}"
    cursor, state, shown, resumed = None, FOLD.start(), 0, 0
    if kept.exists():
        data = json.loads(kept.read_text())
        cursor, state, resumed = data["cursor"], FOLD.load(data["state"]), 1
    while True:
        try:
            async for step in relay.follow(f"s{stream}", FOLD, after=cursor, wait=PATIENCE):
                if isinstance(step, Snapshot):
                    state = step.state
                elif isinstance(step, Update):
                    last = Cursor.parse(cursor)
                    assert last is not None
                    assert step.cursor.offset == last.offset + 1, "a gap in silence"
                    if step.entry.kind == "d":
                        state = FOLD.step(state, step.entry.content["x"])
                    assert state.parser.index == step.state.parser.index
                    shown += 1
                elif isinstance(step, End):
                    last = Cursor.parse(cursor)
                    if last is not None and step.cursor.offset == last.offset + 1:
                        state = FOLD.step(state, step.entry.content.get("x", []))
                    is_right = step.state.value == list(range(items)) == state.value and step.status == "done"
                    verdict.write_text(json.dumps({"right": is_right, "status": step.status, "resumed": resumed}))
                    return
                cursor = str(step.cursor)
                temporary = kept.with_suffix(".new")
                temporary.write_text(json.dumps({"cursor": cursor, "state": FOLD.dump(state)}))
                temporary.rename(kept)
        except RelayError:
            await asyncio.sleep(0.1)  # gone for now: a worker begins again
        except (AssertionError, UnspoolError) as error:
            verdict.write_text(json.dumps({"right": False, "error": repr(error)}))
            raise


# ---- the run ---------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What a run did, and what came of it."""

    kills: dict[str, int]
    cut: int
    evictions: int
    dropped_answers: int
    verdicts: list[dict[str, Any]]
    acknowledged: int
    lost: int
    seconds: float


class Chaos:
    """One run."""

    def __init__(self, mode: str, seed: int, folder: Path) -> None:
        self.mode = mode
        self.rng = random.Random(seed)
        self.folder = folder
        self.items, self.streams, self.followers = 400, 2, 3
        fsync = "everysec" if mode == "torn" else "always"
        self.server = RedisServer("--appendonly", "yes", "--appendfsync", fsync, "--aof-load-truncated", "yes")
        self.proxy = Proxy(self.server.port)
        self.processes: dict[str, Process] = {}
        self.born: dict[str, float] = {}
        self.kills = {"worker": 0, "follower": 0, "redis": 0}
        self.cut = self.evictions = 0

    @property
    def url(self) -> str:
        return self.proxy.url if self.mode == "proxy" else self.server.url

    async def start(self, name: str) -> None:
        role, _, number = name.partition("-")
        self.born[name] = time.monotonic()
        # Without checkpoints every acknowledged entry stays in the log, and can be looked for.
        checkpoint = 1 << 30 if self.mode in ("always", "proxy") else 3000
        more = [self.streams, checkpoint] if role == "worker" else [int(number) % self.streams, number]
        command = [
            sys.executable,
            "-m",
            "tests.support.relay_chaos",
            role,
            self.url,
            str(self.folder),
            self.items,
            *more,
        ]
        error = (self.folder / f"{name}.err").open("ab")
        self.processes[name] = await asyncio.create_subprocess_exec(*map(str, command), cwd=PROJECT, stderr=error)
        error.close()

    async def run(self, seconds: float) -> Outcome:
        await self.proxy.start()
        names = ["worker-0", "worker-1", *[f"follower-{number}" for number in range(self.followers)]]
        started = time.monotonic()
        try:
            for name in names:
                await self.start(name)
            async with asyncio.timeout(PATIENCE):
                while not (self.folder / "notes").exists():
                    await asyncio.sleep(0.1)
            started = time.monotonic()
            while time.monotonic() - started < seconds:
                await asyncio.sleep(self.rng.uniform(0.2, 1.0))
                await self.strike(names)
            await self.finish(names)
            notes = (self.folder / "notes").read_text().splitlines()
            acknowledged, lost = await self.judge([json.loads(note) for note in notes])
        finally:
            for process in self.processes.values():
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            await self.proxy.aclose()
            self.server.close()
        verdicts = [json.loads(file.read_text()) for file in sorted(self.folder.glob("verdict-*"))]
        took = time.monotonic() - started
        return Outcome(self.kills, self.cut, self.evictions, self.proxy.dropped, verdicts, acknowledged, lost, took)

    async def strike(self, names: list[str]) -> None:
        if self.mode == "proxy" and self.rng.random() < 0.7:
            self.proxy.drop_answers += self.rng.randint(1, 3)
            return
        if self.mode == "evicted" and self.rng.random() < 0.4:
            await self.evict()
            return
        now = time.monotonic()  # a process that is only starting cannot lose anything
        victim = self.rng.choice([*[name for name in names if now - self.born[name] > 2.0], "redis"])
        if victim == "redis":
            self.kills["redis"] += 1
            self.server.kill()
            if self.mode == "torn":
                self.cut += self.server.cut_append_only_file(self.rng.randint(0, 8000))
            await asyncio.sleep(self.rng.uniform(0, 0.3))
            self.server.start()
            return
        process = self.processes[victim]
        if process.returncode is None:
            self.kills[victim.partition("-")[0]] += 1
            process.send_signal(signal.SIGKILL)
            await process.wait()
            await self.start(victim)

    async def evict(self) -> None:
        """Let a stream expire, or let the server evict what it likes."""
        self.evictions += 1
        log = RedisLog.from_url(self.server.url)
        commands: list[tuple[Any, ...]] = [("PEXPIRE", log._key("s0"), 1)]
        if self.rng.random() < 0.5:
            commands = [
                ("CONFIG", "SET", "maxmemory-policy", "allkeys-random"),
                ("CONFIG", "SET", "maxmemory", "1mb"),
                ("PING",),
                ("CONFIG", "SET", "maxmemory", "0"),
            ]
        with contextlib.suppress(RelayError):
            await log._writing("s0", *commands)
        await log.aclose()

    async def finish(self, names: list[str]) -> None:
        """Without further kills, every stream ends, and every follower sees it."""
        until = time.monotonic() + PATIENCE
        followers = [name for name in names if name.startswith("follower")]
        while time.monotonic() < until:
            for name in names:
                if self.processes[name].returncode not in (None, 0):
                    if (self.folder / name.replace("follower", "verdict")).exists():
                        return  # it has failed
                    await self.start(name)
            if all((self.folder / name.replace("follower", "verdict")).exists() for name in followers):
                return
            await asyncio.sleep(0.1)

    async def judge(self, notes: list[list[Any]]) -> tuple[int, int]:
        """Return how many entries were acknowledged, and how many of those are lost where none may be."""
        acknowledged = [note for note in notes if note[1] == "acknowledged"]
        if self.mode not in ("always", "proxy"):
            return len(acknowledged), 0
        lost = 0
        log = RedisLog.from_url(self.server.url, patience=PATIENCE)  # a slow machine is no loss
        for name, _, _, cursor in acknowledged:
            place = Cursor.parse(cursor)
            assert place is not None
            lost += not await log.find(name, place)
        await log.aclose()
        best: dict[str, int] = {}
        for name, what, position, *_ in notes:
            if what == "took":  # a successor goes on behind everything that was acknowledged before
                lost += position < best.get(name, 0)
            else:
                best[name] = max(best.get(name, 0), position)
        return len(acknowledged), lost


if __name__ == "__main__":
    role, url, folder, *numbers = sys.argv[1:]
    job = work if role == "worker" else follow
    asyncio.run(job(url, Path(folder), *map(int, numbers)))
