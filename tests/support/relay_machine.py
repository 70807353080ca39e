"""Random histories of one stream against a plain model: writers that die and come back, a log that forgets, followers.

Each claim makes a writer. Old writers go on appending, answers are lost, entries are repeated, the lease runs out, and
the log is rolled back to a prefix, or dropped. Followers see it through the real hub. A client folds the steps on its
own, so a step that is missing, doubled or out of order shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from unspool import MISSING
from unspool.relay import (
    Cursor,
    Document,
    End,
    EndedError,
    FencedError,
    GapError,
    GoneError,
    HeldError,
    LogEntry,
    MemoryLog,
    RedisLog,
    Relay,
    Snapshot,
    Stalled,
    Update,
)

if TYPE_CHECKING:
    from unspool.relay import Follower, RelayLog

FOLD: Final = Document()
NAME: Final = "stream"
BEFORE_ALL: Final = Cursor(0, 0)


# ---- the model -----------------------------------------------------------------------------------------


class Model:
    """What a log is, in plain words: a list of entries with the state after each."""

    def __init__(self) -> None:
        self.entries: list[tuple[Cursor, str, bytes]] = []
        self.states: list[Any] = []
        self.first = 0  # entries before this one are trimmed
        self.owner: str | None = None
        self.is_live = False
        self.cancel: str | None = None
        self.keys: set[str] = set()

    @property
    def last(self) -> tuple[Cursor, str, bytes] | None:
        return self.entries[-1] if self.entries else None

    def claim(self, owner: str, force: bool) -> str:
        if self.last is None:
            return "ok"
        if self.last[1] == "e":
            return "ended"
        return "held" if self.is_live and self.owner != owner and not force else "ok"

    def append(self, at: Cursor) -> str:
        if self.last is None:
            return "gone"
        tail, kind = self.last[0], self.last[1]
        if tail.epoch != at.epoch:
            return "fenced"
        if at.offset <= tail.offset:
            return "repeated"
        if kind == "e":
            return "ended"
        return "ok" if at.offset == tail.offset + 1 else f"gap {tail.offset}"

    def add(self, cursor: Cursor, kind: str, data: bytes) -> None:
        content = json.loads(data)
        state: Any = self.states[-1] if self.states else MISSING
        if kind == "o" and content["how"] == "new":
            state = content["s"]["value"] if "s" in content else MISSING
        for operation in content.get("x", ()):
            state = operation["value"] if operation["path"] == "" else [*state, operation["value"]]
        self.entries.append((cursor, kind, data))
        self.states.append(state)
        if kind == "s":
            self.first = len(self.entries) - 1

    def rolled_back(self, count: int) -> None:
        del self.entries[count:], self.states[count:]


# ---- engines -------------------------------------------------------------------------------------------


class Driver(Protocol):
    """An engine, and what only its server can do."""

    log: RelayLog

    async def expire_lease(self) -> None: ...

    async def roll_back(self, entries: list[LogEntry]) -> None: ...

    async def evict(self) -> None: ...

    async def close(self) -> None: ...


class MemoryDriver:
    def __init__(self) -> None:
        self.log = self._log = MemoryLog()

    async def expire_lease(self) -> None:
        stream = self._log._streams.get(NAME)
        if stream is not None:
            stream.until = 0.0

    async def roll_back(self, entries: list[LogEntry]) -> None:
        stream = self._log._streams[NAME]
        self._log._total -= stream.size
        stream.entries, stream.size = entries, sum(len(entry.data) for entry in entries)
        self._log._total += stream.size
        stream.owner, stream.until, stream.cancel = None, 0.0, None
        stream.keys.clear()

    async def evict(self) -> None:
        await self.log.drop(NAME)

    async def close(self) -> None: ...


class RedisDriver:
    """A real server, or fakeredis. Each machine uses another prefix."""

    count = 0

    def __init__(self, connect: Any, block: float) -> None:
        RedisDriver.count += 1
        self.log = self._log = RedisLog(connect, prefix=f"m{RedisDriver.count}-{time.monotonic_ns()}", block=block)

    async def expire_lease(self) -> None:
        await self._log._writing(NAME, ("EVAL", EXPIRE_LEASE, 1, self._log._soft(NAME)))

    async def roll_back(self, entries: list[LogEntry]) -> None:
        words: list[Any] = []
        for entry in entries:
            more = () if entry.before is None else ("b", str(entry.before))
            added = (str(entry.cursor), "k", entry.kind, "d", entry.data, *more)
            words += [len(added), *added]
        keys = (self._log._key(NAME), self._log._soft(NAME))
        await self._log._writing(NAME, ("EVAL", ROLL_BACK, len(keys), *keys, *words))

    async def evict(self) -> None:
        await self.log.drop(NAME)

    async def close(self) -> None:
        await self.log.drop(NAME)
        await self.log.aclose()


EXPIRE_LEASE: Final = """
if redis.call('HEXISTS', KEYS[1], 'until') == 1 then redis.call('HSET', KEYS[1], 'until', '0') end
return 1
"""


# In one step: a follower that looks while it runs must not find that there is no stream.
ROLL_BACK: Final = """
redis.call('DEL', KEYS[1], KEYS[2])
local at = 1
while ARGV[at] do
    local count = tonumber(ARGV[at])
    redis.call('XADD', KEYS[1], unpack(ARGV, at + 1, at + count))
    at = at + count + 1
end
return 1
"""


# ---- clients -------------------------------------------------------------------------------------------


class Client:
    """A follower that keeps its own state, as a browser does, and checks each step against it."""

    def __init__(self, follower: Follower[Any], cursor: Cursor | None, state: Any) -> None:
        self.follower = follower
        self.cursor = cursor
        self.state = state
        self.ends = 0
        self.shown: dict[Cursor, Any] = {}
        self.pending: asyncio.Task[Any] | None = None

    def take(self, step: Any) -> None:
        if isinstance(step, Stalled):
            assert step.cursor == self.cursor
            return
        if isinstance(step, Snapshot):
            self.state = step.state
        elif isinstance(step, Update):
            assert self.cursor is not None
            assert step.cursor.offset == self.cursor.offset + 1, "a gap in silence"
            assert step.before == self.state
            assert step.cursor.epoch >= self.cursor.epoch
            if step.entry.kind == "d":
                self.state = FOLD.step(self.state, step.entry.content["x"])
            assert self.state == step.state
        else:
            assert isinstance(step, End)
            assert self.ends == 0
            self.ends += 1
            assert self.cursor is not None
            assert step.cursor.offset in (self.cursor.offset, self.cursor.offset + 1)
            assert step.before == self.state
            self.state = step.state
        self.cursor = step.cursor

    async def close(self) -> None:
        if self.pending is not None:
            self.pending.cancel()
            with contextlib.suppress(BaseException):
                await self.pending
        await self.follower.aclose()


# ---- the machine ---------------------------------------------------------------------------------------


class Writer:
    """One claim: its place, and everything it has sent."""

    def __init__(self, cursor: Cursor, owner: str) -> None:
        self.owner = owner
        self.epoch = cursor.epoch
        self.next = cursor.offset + 1
        self.sent: list[tuple[Cursor, str, bytes]] = []


INDEX = st.integers(0, 7)


class RelayMachine(RuleBasedStateMachine):
    """See the module."""

    make_driver: Any = MemoryDriver
    patience = 60.0

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.model = Model()
        self.writers: list[Writer] = []
        self.clients: list[Client] = []
        self.bytes_of: dict[Cursor, bytes] = {}
        self.number = 0

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 120))

    @initialize()
    def begin(self) -> None:
        async def start() -> None:
            self.driver: Driver = self.make_driver()
            self.relay = Relay(self.driver.log, idle_check=0.02, hub_idle=0.05, window=4)
            # A hub ends a cancelled stream without a writer, at a time of its own: test_relay.py has that.
            cast("Any", self.relay)._ended_as_cancelled = self.nothing

        self.run(start())
        self.claim("a", "new", force=False)
        self.follow()

    def teardown(self) -> None:
        async def stop() -> None:
            for client in self.clients:
                await client.close()
            await self.relay.aclose()
            await self.driver.close()
            left = [task for task in asyncio.all_tasks() if "AsyncFakeSocket" in str(task)]  # fakeredis leaves them
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

        if hasattr(self, "relay"):
            self.run(stop())
        self.loop.close()

    async def nothing(self, name: str, reason: str) -> bool:
        return True

    # Writers.

    @rule(
        owner=st.sampled_from("abc"),
        how=st.sampled_from(["new", "resume", "with state"]),
        force=st.booleans(),
        is_quiet=st.booleans(),
        has_lease=st.sampled_from([True, True, True, False]),
    )
    def claim(self, owner: str, how: str, force: bool, is_quiet: bool = False, has_lease: bool = True) -> None:
        """A writer claims the stream; it is refused while another one has the lease, and after the end."""
        content: dict[str, Any] = {"v": 1, "how": "resume" if how == "resume" else "new", "owner": owner}
        content |= {"fold": FOLD.name, "settings": {}}
        if self.model.last is None and how == "resume":
            return  # `take_over` looks first
        if how == "with state":
            content["s"] = {"value": [-1, self.number]}
        data = json.dumps(content).encode()
        expected = self.model.claim(owner, force)
        before = self.model.last[0] if self.model.last else BEFORE_ALL
        try:
            lease = 1000 if has_lease else 0
            cursor = self.run(self.driver.log.claim(NAME, owner, data, lease=lease, ttl=1000, force=force))
        except EndedError:
            assert expected == "ended"
        except HeldError as error:
            assert expected == "held"
            assert error.owner == self.model.owner  # noqa: PT017 - no other outcome is an error
        else:
            assert expected == "ok"
            assert cursor.offset == before.offset + 1
            assert cursor.epoch > before.epoch
            self.remember(cursor, data)
            self.model.add(cursor, "o", data)
            self.model.owner, self.model.is_live = owner if has_lease else None, has_lease
            self.writers.append(Writer(cursor, owner))
        self.settle(is_quiet)

    def remember(self, cursor: Cursor, data: bytes) -> None:
        """One offset and epoch name the same bytes forever (law 24)."""
        assert self.bytes_of.setdefault(cursor, data) == data

    @precondition(lambda self: self.writers)
    @rule(
        index=INDEX,
        kind=st.sampled_from("d" * 16 + "sse"),
        is_reply_lost=st.booleans(),
        skip=st.sampled_from([0, 0, 0, 1]),
        is_quiet=st.booleans(),
    )
    def append(self, index: int, kind: str, is_reply_lost: bool, skip: int, is_quiet: bool) -> None:
        writer = self.writers[-1 - index % len(self.writers)]
        self.number += 1
        at = Cursor(writer.next + skip, writer.epoch)
        expected = self.model.append(at)
        state = self.model.states[-1] if self.model.states else MISSING
        operation = {"op": "add", "path": "/-" if isinstance(state, list) else "", "value": self.number}
        content: dict[str, Any] = {
            "x": [operation if isinstance(state, list) else {**operation, "value": [self.number]}]
        }
        if kind == "s":
            value = {} if state is MISSING else {"value": state}
            content = {"v": 1, "fold": FOLD.name, "settings": {}, "owner": writer.owner, "s": value}
        if kind == "e":
            content["status"] = "done"
        data = json.dumps(content).encode()
        for place, sent_kind, sent in writer.sent:
            if place == at:  # the server has forgotten it: a writer never sends other bytes to the same place
                kind, data = sent_kind, sent
        if expected != "ok":  # the entry of a real writer would be another one: only its place counts
            data = self.bytes_of.get(at, data)
        self.do_append(writer, at, kind, data, expected)
        if expected == "ok":
            self.remember(at, data)
            writer.sent.append((at, kind, data))
            if not is_reply_lost:
                writer.next = at.offset + 1
        self.settle(is_quiet)

    @precondition(lambda self: any(writer.sent for writer in self.writers))
    @rule(index=INDEX, which=INDEX)
    def repeat(self, index: int, which: int) -> None:
        """A late copy of an entry arrives, or a writer that lost a reply sends it again (law 25)."""
        known = [writer for writer in self.writers if writer.sent]
        writer = known[-1 - index % len(known)]
        at, kind, data = writer.sent[-1 - which % len(writer.sent)]
        expected = self.model.append(at)
        self.do_append(writer, at, kind, data, expected)
        writer.next = max(writer.next, at.offset + 1)
        self.settle()

    def do_append(self, writer: Writer, at: Cursor, kind: str, data: bytes, expected: str) -> None:
        try:
            answer = self.run(self.driver.log.append(NAME, at, kind, data))
        except FencedError as error:
            assert expected == "fenced"
            assert self.model.last is not None
            assert error.last == self.model.last[0]  # noqa: PT017
        except GapError as error:
            assert expected == f"gap {error.tail}"  # noqa: PT017
            writer.next = error.tail + 1
        except EndedError:
            assert expected == "ended"
        except GoneError:
            assert expected == "gone"
        else:
            assert expected in ("ok", "repeated")
            if expected == "ok":
                self.model.add(at, kind, data)
            assert self.model.last is not None
            assert answer.tail == self.model.last[0].offset
            assert answer.cancel == self.model.cancel

    @precondition(lambda self: self.writers)
    @rule(index=INDEX)
    def renew(self, index: int) -> None:
        writer = self.writers[-1 - index % len(self.writers)]
        expected = self.model.append(Cursor(1 << 40, writer.epoch))
        try:
            answer = self.run(self.driver.log.renew(NAME, writer.epoch, writer.owner, lease=1000, ttl=1000))
        except FencedError:
            assert expected == "fenced"
        except EndedError:
            assert expected == "ended"
        except GoneError:
            assert expected == "gone"
        else:
            assert expected.startswith("gap")
            self.model.owner, self.model.is_live = writer.owner, True
            assert answer.cancel == self.model.cancel

    @rule()
    def expire_lease(self) -> None:
        self.run(self.driver.expire_lease())
        self.model.is_live = False

    @precondition(lambda self: self.model.entries)
    @rule(reason=st.sampled_from(["", "enough"]))
    def ask_to_cancel(self, reason: str) -> None:
        self.run(self.driver.log.ask_to_cancel(NAME, reason, ttl=1000))
        self.model.cancel = reason

    @precondition(lambda self: self.model.entries)
    @rule(key=st.sampled_from("xyz"))
    def once(self, key: str) -> None:
        assert self.run(self.driver.log.once(NAME, key, ttl=1000)) is (key not in self.model.keys)
        self.model.keys.add(key)

    # The server.

    @precondition(lambda self: len(self.model.entries) - self.model.first > 1)
    @rule(count=st.integers(1, 3), is_quiet=st.booleans())
    def roll_back(self, count: int, is_quiet: bool) -> None:
        """The server comes back without its last entries, and without the hash."""
        kept = max(len(self.model.entries) - count, self.model.first + 1)
        entries = self.run(self.driver.log.read(NAME, BEFORE_ALL, 10_000))
        self.run(self.driver.roll_back(list(entries)[: kept - self.model.first]))
        self.model.rolled_back(kept)
        self.forget_soft()
        self.settle(is_quiet)

    @precondition(lambda self: self.model.entries)
    @rule()
    def evict(self) -> None:
        self.run(self.driver.evict())
        first_epoch = self.model.entries[-1][0].epoch
        self.model = Model()
        time.sleep(0.000002)  # epochs are microseconds
        assert time.time_ns() // 1000 > first_epoch or first_epoch > 0
        for client in self.clients:
            self.run(client.close())
        self.clients.clear()
        self.run(self.forget_hubs())

    async def forget_hubs(self) -> None:
        for key, (hub, _) in list(self.relay._hubs.items()):
            del self.relay._hubs[key]
            await hub.close()

    def forget_soft(self) -> None:
        self.model.owner, self.model.is_live, self.model.cancel = None, False, None
        self.model.keys.clear()

    # Followers.

    @rule()
    def follow(self) -> None:
        if len(self.clients) < 4:
            self.clients.append(self.new_client(None, None))
            self.settle()

    @precondition(lambda self: self.clients)
    @rule(index=INDEX, is_late=st.booleans())
    def reconnect(self, index: int, is_late: bool) -> None:
        """A client goes, and another connection goes on behind its cursor, with the state that it kept."""
        client = self.clients.pop(index % len(self.clients))
        self.run(client.close())
        if is_late:
            self.run(self.forget_hubs())
            for other in self.clients:
                self.run(other.close())
            self.clients.clear()
        self.clients.append(self.new_client(client.cursor, client.state))
        self.settle()

    def new_client(self, cursor: Cursor | None, state: Any) -> Client:
        async def make() -> Follower[Any]:
            return self.relay.follow(NAME, after=cursor, wait=1000)

        return Client(self.run(make()), cursor, state)

    def settle(self, is_quiet: bool = False) -> None:
        """Every client arrives at the state of the log (laws 22 and 23), or at its end (law 29).

        If it is quiet, more happens before a client looks.
        """
        if self.model.last is None or (is_quiet and self.model.last[1] != "e"):
            return

        async def read(client: Client, until: float) -> None:
            assert self.model.last is not None
            cursor, kind, _ = self.model.last
            while not (client.cursor == cursor and (kind != "e" or client.ends)):
                if client.pending is None:
                    client.pending = asyncio.ensure_future(anext(client.follower, None))
                await asyncio.wait((client.pending,), timeout=max(until - self.loop.time(), 0.0))
                assert client.pending.done(), f"the follower hangs at {client.cursor}, the log is at {cursor}"
                step, client.pending = client.pending.result(), None
                assert step is not None, "the follower ended before the stream"
                client.take(step)
            assert client.state == self.model.states[-1]

        async def read_all() -> None:
            until = self.loop.time() + self.patience
            for client in self.clients:
                await read(client, until)

        self.run(read_all())
        if self.model.last[1] == "e":
            for client in self.clients:
                self.run(client.close())
            self.clients.clear()

    @rule(place=st.integers(0, 12))
    def look(self, place: int) -> None:
        """Reading returns what the model has (law 34)."""
        self.settle()
        model, log = self.model, self.driver.log
        after = model.entries[place][0] if place < len(model.entries) else BEFORE_ALL
        found = self.run(log.read(NAME, after, 3))
        expected = [entry for entry in model.entries[model.first :] if entry[0] > after][:3]
        assert [(entry.cursor, entry.kind, entry.data) for entry in found] == expected
        last = self.run(log.tail(NAME))
        assert (None if last is None else last.cursor) == (None if model.last is None else model.last[0])
        if place < len(model.entries):
            assert self.run(log.find(NAME, after)) is (place >= model.first)
        lease = self.run(log.lease(NAME))
        assert (lease.owner, lease.left > 0, lease.cancel) == (model.owner, model.is_live, model.cancel)
