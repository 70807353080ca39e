"""Many clients follow one live session, and a quarter of them never reads: the others are not affected."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.studio import PATIENCE, Client, Follower, applied

if TYPE_CHECKING:
    from collections.abc import Generator

    from unspool.llm import SSEEvent

ROOT: Final = Path(__file__).parents[2]
MIB: Final = 1024 * 1024

WRITER: Final = """
import json, sys, time
steps, rate = int(sys.argv[1]), float(sys.argv[2])
head = {f"field {number}": {"title": f"Title {number}", "n": number} for number in range(150)}
sys.stdout.write(json.dumps(head)[:-1] + ', "days": [')
begin = time.monotonic()
for number in range(steps):
    time.sleep(max(begin + number / rate - time.monotonic(), 0))
    sys.stdout.write((", " if number else "") + json.dumps({"title": f"Day {number}", "notes": "x" * 40, "n": number}))
    sys.stdout.flush()
sys.stdout.write("]}")
"""
"""A large document at once, so that those who do not read are noticed; then one step after another."""

SERVER: Final = """
import json, sys
from unspool.tools.studio.live import Command
from unspool.tools.studio.requests import Order
from unspool.tools.studio.server import StudioServer
from unspool.tools.studio.requests import SessionOptions
from unspool.tools.studio.settings import Settings
settings, words = json.loads(sys.argv[1]), json.loads(sys.argv[2])
order = Order("load", SessionOptions(), source=Command(words))
try:
    StudioServer(settings=Settings(**settings), order=order, started=lambda url: print(url, flush=True)).serve_forever()
except KeyboardInterrupt:
    pass
"""


@contextmanager
def served(settings: dict[str, Any], steps: int, rate: float) -> Generator[tuple[Client, int]]:
    """A server in its own process, so that its memory can be measured; its client, and its process id."""
    words = json.dumps([sys.executable, "-c", WRITER, str(steps), str(rate)])
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, json.dumps(settings), words], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        yield Client(process.stdout.readline().strip()), process.pid
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def resident(pid: int) -> int:
    """The memory of a process, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LookupError("the system reports no memory")


@dataclass
class Crowd:
    """All clients of one session, served from one loop: those that read, and those that do not."""

    client: Client
    session: str
    period: float
    """The seconds after which some of the reading clients disconnect and reconnect."""
    readers: list[Follower] = field(default_factory=list)
    stalled: list[Follower] = field(default_factory=list)
    ids: dict[int, list[int]] = field(default_factory=dict)
    returns: int = 0
    replaced: int = 0
    """How often someone who came back got the whole document."""
    evictions: int = 0
    first_seen: dict[int, float] = field(default_factory=dict)
    lags: list[float] = field(default_factory=list)
    """Of each patch that came to a client: how long after the first client that got it."""

    def __post_init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._known: dict[tuple[int, str], tuple[Any, Any]] = {}

    def join(self, readers: int, stalled: int) -> None:
        for number in range(readers):
            follower = self.client.follow(self.session)
            follower.applied = self._applied
            self.readers.append(follower)
            self.ids[number] = []
            self._selector.register(follower, selectors.EVENT_READ, number)
        self.stalled = [self.client.follow(self.session, receive_buffer=2048) for _ in range(stalled)]

    def run(self, patience: float, watch: Any) -> None:
        """Until everybody who reads has seen the end."""
        end = time.monotonic() + patience
        next_return = time.monotonic() + self.period
        turn = 0
        while not all(self._is_done(number) for number in range(len(self.readers))):
            now = time.monotonic()
            assert now < end, "the clients that read do not get everything"
            watch()
            for key, _ in self._selector.select(0.05):
                self._read(int(key.data))
            if now >= next_return:
                next_return, turn = now + self.period, turn + 1
                for number in range(turn % 7, len(self.readers), 7):
                    if not self._is_done(number):
                        self._leave_and_return(number)
                self._replace_evicted()
        self._replace_evicted()

    def close(self) -> None:
        for follower in [*self.readers, *self.stalled]:
            follower.close()
        self._selector.close()

    def _applied(self, document: Any, event: SSEEvent) -> Any:
        """Each event is applied once to each document, for all: this process is to be quicker than the server."""
        key = (id(document), event.data)
        if key not in self._known:
            self._known[key] = (document, applied(document, event))  # the document is kept, and so is its id
        return self._known[key][1]

    def _is_done(self, number: int) -> bool:
        document = self.readers[number].document
        return document is not None and bool(document["is_finished"])

    def _read(self, number: int) -> None:
        follower = self.readers[number]
        had = len(follower.events)
        follower.pump()
        if follower.is_over:
            info = self.client.ask("GET", "/api/info").json["streams"]
            raise AssertionError(f"client {number} was sent away: {follower.status!r}, {follower.last}, {had}, {info}")
        now = time.monotonic()
        for event in follower.events[had:]:
            assert event.id is not None
            if event.event == "snapshot":
                self.replaced += bool(self.ids[number])
            patch = int(event.id.partition("-")[0])
            self.ids[number].append(patch)
            if patch in self.first_seen and had:  # clients that have just connected are late for a reason
                self.lags.append(now - self.first_seen[patch])
            self.first_seen.setdefault(patch, now)

    def _leave_and_return(self, number: int) -> None:
        """Close the connection, whatever is on its way, and go on from the last event that came whole."""
        old = self.readers[number]
        self._selector.unregister(old)
        old.close()
        new = self.client.follow(self.session, old.last)
        new.document, new.applied = old.document, self._applied
        self.readers[number] = new
        self._selector.register(new, selectors.EVENT_READ, number)
        self.returns += 1

    def _replace_evicted(self) -> None:
        """Those that never read come again as soon as they were sent away."""
        for place, follower in enumerate(self.stalled):
            if follower.was_reset():
                self.evictions += 1
                follower.close()
                self.stalled[place] = self.client.follow(self.session, receive_buffer=2048)


def crowded(clients: int, seconds: float, stall: float, period: float, most_growth: int) -> dict[str, Any]:
    """Let the clients follow for some seconds, check all promises, and return the figures."""
    settings = {"stall": stall, "send_buffer": 8192, "slice": 4096, "strangers": clients}  # all connect at once
    with served(settings, steps=int(seconds * 20), rate=20.0) as (client, pid):
        session = client.ask("GET", "/api/info").json["live"]
        crowd = Crowd(client, session, period)
        before = resident(pid)
        peak = 0

        def watch() -> None:
            nonlocal peak
            peak = max(peak, resident(pid))

        try:
            crowd.join(clients - clients // 4, clients // 4)
            crowd.run(seconds + PATIENCE, watch)
            # Everyone who reads has every patch once, in order, and the same document: the one that a newcomer gets.
            final = client.document(session)
            patches = sorted({patch for ids in crowd.ids.values() for patch in ids[1:]})  # the first is a snapshot
            for number, reader in enumerate(crowd.readers):
                ids = crowd.ids[number]
                assert ids[1:] == [patch for patch in patches if patch > ids[0]], f"client {number} missed something"
                assert reader.document == final
            assert final["tracks"][0]["is_complete"]
            assert not crowd.replaced
            told = client.ask("GET", "/api/info").json["streams"]["evicted"]
        finally:
            crowd.close()
        after = resident(pid)
    assert crowd.returns
    assert crowd.evictions >= clients // 4
    assert told >= clients // 4, "not everyone that does not read was sent away"
    assert peak - before < most_growth
    counts = Counter(len(ids) for ids in crowd.ids.values())
    return {
        "clients": clients,
        "seconds": seconds,
        "steps": final["last"],
        "patches": max(counts),
        "patches delivered": sum(size * count for size, count in counts.items()),
        "returns": crowd.returns,
        "evicted": told,
        "seen as evicted": crowd.evictions,
        "RSS before, peak, after in MiB": [round(size / MIB, 1) for size in (before, peak, after)],
        "lag in ms: median, 99 of 100, most": [round(1000 * lag) for lag in _spread(crowd.lags)],
    }


def _spread(values: list[float]) -> tuple[float, float, float]:
    values = sorted(values)
    return values[len(values) // 2], values[len(values) * 99 // 100], values[-1]


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")  # noqa: PTH110


@needs_proc
def test_a_crowd_of_whom_a_quarter_never_reads() -> None:
    """40 for a few seconds: all that read get every patch once, also over several connections; memory stays."""
    crowded(clients=40, seconds=3.0, stall=0.5, period=0.5, most_growth=32 * MIB)


@needs_proc
@pytest.mark.long
def test_a_large_crowd_for_a_minute() -> None:
    """200 for a minute, with the patience that users have."""
    print(json.dumps(crowded(clients=200, seconds=60.0, stall=10.0, period=3.0, most_growth=64 * MIB), indent=1))
