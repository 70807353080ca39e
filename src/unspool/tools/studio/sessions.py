"""Sessions: each is one stream as a timeline that only grows, and a stream of a relay for the clients that follow it.

`Session` works on the timeline. Its methods run in threads, so that a large document does not block other requests;
each holds the lock of the session. `Entry` and `Sessions` belong to the event loop. The relay in this process has the
document of each session, and the patches that lead to it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import threading
from codecs import BOM_UTF8
from contextlib import aclosing, contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ... import UnspoolError, create_state, parse_chunk
from ...relay import Document, MemoryLog, Relay, RelayError, RelaySettings
from ..viewer.inputs import CUT, Guess, InputDecoder, InputKind
from ..viewer.recordings import may_be_header
from ..viewer.timeline import Timeline
from ..viewer.tracks import CONTENT, DOCUMENT
from ..viewer.waterfall import layout
from .aside import aside
from .comparing import Side, comparison, summary
from .document import described, diff, drawn
from .flaws import flaws, spelled_flaw
from .judging import Judge
from .views import matching_ids, value_text, view

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from ...patch import Operation
    from ...relay import Publisher
    from ..viewer.inputs import TimedItem
    from .flaws import Flaw
    from .live import Source
    from .requests import Query, SessionOptions
    from .settings import Settings

__all__ = ["Entry", "NamedType", "NoRoomError", "Renewal", "Session", "Sessions", "compared"]

LOGGER: Final = logging.getLogger(__name__)
MAX_STEPS: Final = 100_000  # fragments that a text is cut into: each step takes memory
HEAD: Final = 256 * 1024
RECORDED_HEAD: Final = 2 * 1024 * 1024
OFFER_HEAD: Final = 64 * 1024  # characters in which JSON is looked for
MAX_BARS: Final = 5_000  # of a waterfall that the user has filtered or unfolded
BLOCK: Final = 32 * 1024
PORTION: Final = 500  # steps that are read at once
TELLING: Final = 4  # lines that show the kind of an input, however long they are
COSTS: Final = 10  # a slow waterfall is drawn less often: a tenth of the time at most
RETENTION: Final = 10.0  # seconds, in which followers learn that a session was dropped
NO_LIMIT: Final = 1 << 40  # bytes: `Settings` limits what sessions keep, and their documents are small


# One session.


class NamedType(NamedTuple):
    """The type that the command line names, for the typed values of every session."""

    name: str
    type: Any


class Renewal(NamedTuple):
    """The current document, the patch that leads to it, and the time that its waterfall took."""

    document: dict[str, Any]
    operations: list[Operation]
    cost: float


@final
class Session:
    """One stream: its timeline, its options, and the schema that the user chose."""

    def __init__(
        self, id: str, title: str, options: SessionOptions, *, is_live: bool, type: NamedType | None = None
    ) -> None:
        self.id: Final = id
        self.title: Final = title
        self.is_live = is_live
        self.problem: str | None = None
        self.timeline = Timeline(Guess(InputKind.JSON), is_timed=is_live)  # until the kind is known
        self._options = options
        self._found: Guess | None = None
        self._decoder: InputDecoder | None = None
        self._type = type
        self._judge = self._judge_of(options.schema)
        self._flaws: tuple[object, list[Flaw]] = (None, [])  # with what they are computed from
        self._read: tuple[int, int] | None = None  # the bytes read so far, and all of them, while an input is loaded
        self._offer: str | None = None  # an option that would read more of the input
        self._completions: tuple[int, list[int]] = (0, [])  # with the step up to which they are computed
        self._lock = threading.Lock()

    # Reading.

    def load(self, data: bytes) -> None:
        """Read a complete input."""
        for _ in self.portions(data):
            pass

    def portions(self, data: bytes) -> Iterator[int]:
        """Read a complete input in portions; yield the number of bytes read after each."""
        options = self._options
        cut = max(options.cut or CUT, -(-len(data) // MAX_STEPS))
        decoder = InputDecoder(options.kind, format=options.format, cut=cut, repair=options.repair)
        done = 0
        try:
            for block in _blocks(data, cut):
                with self._lock:
                    items = decoder.feed(0.0, block)
                for start in range(0, len(items), PORTION):
                    with self._lock:
                        self._add(decoder, items[start : start + PORTION])
                        self._read = done + len(block) * start // len(items), len(data)
                    yield self._read[0]
                done += len(block)
            with self._lock:
                self._add(decoder, decoder.close(0.0))
        except UnspoolError as error:
            self.problem = str(error)
        with self._lock:
            self._finish(decoder, self.timeline.duration)
            self._read = None

    @property
    def kept(self) -> int:
        """An estimate of the memory that the session takes, in bytes."""
        return self.timeline.kept

    def begin(self) -> None:
        """Begin to read a live input."""
        options = self._options
        self._decoder = InputDecoder(
            options.kind, format=options.format, cut=options.cut, is_live=True, repair=options.repair
        )

    def take(self, time: float, data: bytes) -> bool:
        """Add bytes that arrived at this time, in seconds. Return False if the input is broken: the caller stops."""
        return self._advance(time, data)

    def settle(self) -> bool:
        """Decide the kind of the input by the bytes so far, after a pause."""
        return self._advance(0.0, None)

    def _advance(self, time: float, data: bytes | None) -> bool:
        decoder = self._decoder
        assert decoder is not None
        with self._lock:
            try:
                self._add(decoder, decoder.settle() if data is None else decoder.feed(time, data))
            except UnspoolError as error:
                self.problem = str(error)
                return False
        return True

    def end(self, time: float, problem: str | None = None) -> None:
        """End the live input, with a problem if there is one."""
        decoder = self._decoder
        assert decoder is not None
        with self._lock:
            self.problem = self.problem or problem
            try:
                self._add(decoder, decoder.close(time))
            except UnspoolError as error:
                self.problem = self.problem or str(error)
            self._finish(decoder, self.timeline.duration if decoder.is_recording else time)
            self.is_live = False

    def stop(self) -> None:
        """End an input that is being loaded after what was read."""
        with self._lock:
            self.timeline.finish(self.timeline.duration, self.problem or "")
            self._read = None

    def _add(self, decoder: InputDecoder, items: Iterable[TimedItem]) -> None:
        if self._found is None and decoder.found is not None:
            self._found = decoder.found
            extract = self._options.extract
            self.timeline = Timeline(decoder.found, is_timed=decoder.is_timed, extract=extract, patches=True)
        for time, item in items:
            self.timeline.add(time, item)

    def _finish(self, decoder: InputDecoder, time: float) -> None:
        self._add(decoder, ())
        self.timeline.finish(max(time, self.timeline.duration), self.problem or "")
        self._decoder = None
        self._offer = None if self._options.extract else _offer(self.timeline)

    # Looking.

    def _judge_of(self, schema: dict[str, Any] | bool | None) -> Judge:
        """Return the judge for a schema; without one, for the type of the command line."""
        if schema is not None:
            return Judge(schema)
        return Judge() if self._type is None else Judge(self._type.type, self._type.name)

    def demand(self, schema: dict[str, Any] | bool | None) -> None:
        """Validate the text against this schema from now on. Raises `OptionsError` for an unusable schema."""
        wanted = self._judge_of(schema)
        with self._lock:
            self._judge = wanted

    def view(self, query: Query) -> dict[str, Any]:
        """Return all panels of one step. Raises `UnspoolError` for an invalid query."""
        with self._lock:
            timeline = self.timeline
            if self._completions[0] != timeline.last:
                self._completions = (timeline.last, timeline.completions())
            return view(timeline, query, self._completions[1], self._judge, self._known_flaws())

    def _known_flaws(self) -> list[Flaw]:
        timeline, judge = self.timeline, self._judge
        key = timeline.last, timeline.is_finished, id(judge)
        if self._flaws[0] != key:
            judge.advance(timeline)
            self._flaws = key, flaws(timeline, judge.violations)
        return self._flaws[1]

    def waterfall(self, query: Query) -> dict[str, Any]:
        """Return the waterfall of the fields that the filter selects, with the arrays that the user has unfolded."""
        with self._lock:
            only = None if query.words is None else matching_ids(self.timeline, query)
            found = layout(self.timeline, max_bars=MAX_BARS, select=query.filter, only=only, unfolded=query.unfolded)
            return {**drawn(found), "filter_problem": query.filter_problem}

    def value(self, query: Query) -> str:
        """Return the selected value as a whole. Raises `OptionsError` if there is none."""
        with self._lock:
            return value_text(self.timeline, query)

    def side(self, unit: str) -> Side:
        """Return this stream for a comparison in seconds or characters."""
        with self._lock:
            timeline = self.timeline
            return Side(self.id, self.title, layout(timeline, unit=unit), timeline.duration)

    def renew(self, old: dict[str, Any], *, with_waterfall: bool) -> Renewal:
        """Return the current document, and the patch from an older one; keep what is computed with the waterfall
        unless asked."""
        with self._lock:
            found, timeline = self._found, self.timeline
            document: dict[str, Any] = {
                "id": self.id,
                "title": self.title,
                "kind": None if found is None else str(found.kind),
                "format": None if found is None else found.format,
                "is_live": self.is_live,
                "problem": self.problem,
                "offer": self._offer,
                "loading": None if self._read is None else {"read": self._read[0], "size": self._read[1]},
                "schema": self._judge.is_on,
                "type": self._judge.name,
                **described(timeline),
            }
            begin = monotonic()
            if with_waterfall or "waterfall" not in old:
                waterfall = layout(timeline)
                scale = timeline.times if waterfall.axis.unit == "seconds" else timeline.sizes
                document["waterfall"] = drawn(waterfall)
                document["flaws"] = [spelled_flaw(flaw, scale) for flaw in self._known_flaws()]
                document["summary"] = summary(timeline, waterfall)
            else:
                document |= {name: old[name] for name in ("waterfall", "flaws", "summary")}
            cost = monotonic() - begin
        return Renewal(document, diff(old, document), cost)


def compared(one: Session, two: Session) -> dict[str, Any]:
    """Return the comparison of two sessions: in seconds if both have measured times."""
    is_timed = one.timeline.is_timed and two.timeline.is_timed
    unit = "seconds" if is_timed else "characters"
    return comparison(one.side(unit), two.side(unit))


def _offer(timeline: Timeline) -> str | None:
    """Return "extract" if the text is not JSON, but contains some."""
    for name, track in timeline.tracks.items():
        is_wrong = track.is_json and track.state.error is not None and track.state.root is None
        if name in (DOCUMENT, CONTENT) and not track.extract and (is_wrong or not track.is_json):
            text = track.text(track.start_at(timeline.last), track.start_at(timeline.last) + OFFER_HEAD)
            root = parse_chunk(create_state(extract=True), text).root
            if root is not None and root.kind in ("object", "array"):
                return "extract"
    return None


def _blocks(data: bytes, cut: int) -> Iterator[bytes]:
    """Yield an input in blocks of whole fragments, because the items of one block are in memory together.

    The first block contains the complete lines that show the kind of the input. That of a recording is longer, because
    those lines are inside its own.
    """
    size = max(BLOCK // cut, 1) * cut
    is_recording = may_be_header(data[:HEAD].removeprefix(BOM_UTF8))
    end = RECORDED_HEAD if is_recording else max(_end_of_head(data), HEAD)
    end += -end % cut
    yield data[:end]
    for start in range(end, len(data), size):
        yield data[start : start + size]


def _end_of_head(data: bytes) -> int:
    end = count = 0
    while count < TELLING and end < len(data):
        line = data[end : data.find(b"\n", end) + 1 or len(data)]
        end += len(line)
        count += not line.isspace() and not line.startswith(b":")
    return end


# All sessions.


class NoRoomError(Exception):
    """All sessions are in use, and their number is limited."""


@final
class Entry:
    """A session with its published document, and its tasks."""

    def __init__(self, session: Session, out: Publisher[Any], size: int, number: int) -> None:
        self.session: Final = session
        self.number: Final = number
        """The number of the session since the start of the studio."""
        self.out: Final = out
        self.document: dict[str, Any] = {}
        """The document as it was published last."""
        self.is_over = False
        """Whether the session was dropped, so that nothing is published any more."""
        self.size = size
        """The bytes passed to the session, including those that it has not parsed yet."""
        self.is_kept = False
        """Whether the session was opened on the command line; such a session is never dropped."""
        self.task: asyncio.Task[None] | None = None
        """The task that reads a live source."""
        self.renewing: Final = asyncio.Lock()
        self.viewing: Final = asyncio.Lock()


@final
class Sessions:
    """The sessions by id; the most recently used one is the last."""

    def __init__(self, settings: Settings, type: NamedType | None = None) -> None:
        self._settings = settings
        self._type = type
        self._entries: dict[str, Entry] = {}
        self._made = 0
        self._making: list[int] = []  # the bytes of each session that is being created
        self._loads = asyncio.Semaphore(settings.loads)
        self._small_loads = asyncio.Semaphore(settings.loads)
        self._ends: set[asyncio.Task[None]] = set()
        self.relay: Final = Relay(
            MemoryLog(max_stream=NO_LIMIT, max_total=NO_LIMIT),
            settings=RelaySettings(
                lease=math.inf,  # a session has one writer, which lives as long as the log
                ttl=math.inf,
                retention=RETENTION,
                linger=0,
                max_batch=NO_LIMIT,
                max_entry=NO_LIMIT,
                window=settings.log_patches,
                window_bytes=settings.log_bytes,
            ),
        )
        """The documents of the sessions, by their ids, and the clients that follow them."""

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, id: str) -> Entry | None:
        """Return the session with this id and mark it as used."""
        entry = self._entries.pop(id, None)
        if entry is not None:
            self._entries[id] = entry
        return entry

    async def load(self, title: str, data: bytes, options: SessionOptions) -> Entry:
        """Create a session for a complete input. Raises `UnspoolError` for invalid options."""
        async with self._small_loads if len(data) <= self._settings.small else self._loads:
            with self._room(len(data)):
                entry = await self._make(title, options, len(data), is_live=False)
                await aside(entry.session.load, data)
                self._make_room(len(data), entry.session.kept)
                await self._begin(entry)
        return entry

    async def load_in_background(self, title: str, data: bytes, options: SessionOptions) -> Entry:
        """Create a session at once and read its input afterwards, so that clients see the progress and can drop it."""
        with self._room(len(data)):
            entry = await self._make(title, options, len(data), is_live=False)
            await self._begin(entry)
        entry.task = asyncio.create_task(self._load(entry, data))
        return entry

    async def _load(self, entry: Entry, data: bytes) -> None:
        """Read a complete input portion by portion; a session that is dropped ends after a portion."""
        session, settings = entry.session, self._settings
        async with self._small_loads if len(data) <= settings.small else self._loads:
            portions = session.portions(data)
            published = monotonic()
            try:
                while await aside(next, portions, None) is not None:
                    if self.kept > settings.kept and len(self._entries) > 1:
                        session.problem = "the studio has no room for this input: close other streams"
                        await aside(session.stop)
                        break
                    if monotonic() - published >= settings.renewal:
                        await self.renew(entry, with_waterfall=False)
                        published = monotonic()
            except Exception:
                LOGGER.exception("an input could not be loaded")
                session.problem = "internal error; see the terminal"
                await aside(session.stop)
        await self.renew(entry, with_waterfall=True)

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The sessions in the order of their creation, each with what a list of them shows."""
        entries = sorted(self._entries.values(), key=lambda entry: entry.number)
        return [
            {"id": entry.session.id, "title": entry.session.title, "is_live": entry.session.is_live}
            for entry in entries
        ]

    async def follow(self, title: str, source: Source, options: SessionOptions) -> Entry:
        """Create a session for a live input."""
        with self._room(0):
            entry = await self._make(title, options, 0, is_live=True)
            entry.session.begin()
            await self._begin(entry)
        entry.task = asyncio.create_task(self._read(entry, source))
        return entry

    async def _make(self, title: str, options: SessionOptions, size: int, *, is_live: bool) -> Entry:
        token = secrets.token_urlsafe(16)
        session = await aside(Session, token, title, options, is_live=is_live, type=self._type)
        self._made += 1
        return Entry(session, self.relay.publish(token, Document()), size, self._made)

    @property
    def size(self) -> int:
        """The bytes of all texts, including sessions that are being created."""
        return sum([entry.size for entry in self._entries.values()]) + sum(self._making)

    @contextmanager
    def _room(self, size: int) -> Generator[None]:
        """Reserve room for one more session while it is being created."""
        self._make_room(size)
        self._making.append(size)
        try:
            yield
        finally:
            self._making.remove(size)

    @property
    def kept(self) -> int:
        """An estimate of the memory of all sessions, in bytes."""
        return sum([entry.session.kept for entry in self._entries.values()])

    def _make_room(self, size: int, kept: int = 0) -> None:
        """Drop sessions without followers, the oldest first and live ones last, until there is room for one more.

        A session that is loaded knows what it keeps, and makes room once more for that.
        """
        settings = self._settings
        idle = [entry for name, entry in self._entries.items() if not entry.is_kept and not self.relay.followers(name)]
        idle.sort(key=lambda entry: entry.session.is_live)
        while count := len(self._entries) + len(self._making) - (kept > 0):  # the first session always fits
            others = self.size - (size if kept else 0)
            if count < settings.sessions and size + others <= settings.total and kept + self.kept <= settings.kept:
                break
            if not idle:
                raise NoRoomError
            self._drop(idle.pop(0).session.id)

    def _drop(self, id: str) -> Entry | None:
        entry = self._entries.pop(id, None)
        if entry is not None:
            entry.is_over = True
            if entry.task is not None:
                entry.task.cancel()
            ending = asyncio.create_task(_end(entry))
            self._ends.add(ending)
            ending.add_done_callback(self._ends.discard)
        return entry

    async def delete(self, id: str) -> bool:
        """Stop and drop a session; return whether it existed."""
        entry = self._drop(id)
        if entry is None:
            return False
        await _stop(entry)
        return True

    async def close(self) -> None:
        """Stop and drop all sessions."""
        entries = [self._drop(name) for name in list(self._entries)]
        await asyncio.gather(*[_stop(entry) for entry in entries if entry is not None], *self._ends)

    # Publishing.

    async def _begin(self, entry: Entry) -> None:
        """Publish the first document of a session, and list the session."""
        entry.document = (await aside(entry.session.renew, {}, with_waterfall=True)).document
        # Nothing below waits for anything: the log is in this process.
        await entry.out.open()
        await entry.out.send([{"op": "add", "path": "", "value": entry.document}])
        self._entries[entry.session.id] = entry

    async def renew(self, entry: Entry, *, with_waterfall: bool) -> float:
        """Publish the changes, and return the time that the waterfall took."""
        async with entry.renewing:
            document, operations, cost = await aside(entry.session.renew, entry.document, with_waterfall=with_waterfall)
            if operations and not entry.is_over:
                entry.document = document
                await entry.out.send(operations)
        return cost

    async def _read(self, entry: Entry, source: Source) -> None:
        """Read a live source to its end while `_publish` runs."""
        session, settings = entry.session, self._settings
        publishing = asyncio.create_task(self._publish(entry))
        begin: float | None = None
        problem: str | None = None
        try:
            async with aclosing(source.arrivals(settings)) as arrivals:
                async for data in arrivals:
                    now = monotonic()
                    if data is None:
                        await aside(session.settle)
                        continue
                    begin = now if begin is None else begin
                    room = max(min(settings.body - entry.size, settings.total - self.size), 0)
                    room = room if self.kept < settings.kept else 0
                    piece = data[:room]
                    entry.size += len(piece)
                    if not await aside(session.take, now - begin, piece):
                        break
                    if now - begin > settings.patience:  # an input without pauses must show its kind, too
                        await aside(session.settle)
                    if len(data) > room:
                        problem = f"more than {entry.size:,} bytes: the rest is not read"
                        break
        except OSError as error:
            problem = str(error) or type(error).__name__
        except Exception:
            LOGGER.exception("a live session failed")
            problem = "internal error; see the terminal"
        finally:
            publishing.cancel()
            with suppress(asyncio.CancelledError):
                await publishing
        await aside(session.end, 0.0 if begin is None else monotonic() - begin, problem)
        await self.renew(entry, with_waterfall=True)

    async def _publish(self, entry: Entry) -> None:
        settings = self._settings
        next_waterfall = 0.0
        seen = -1
        while True:
            await asyncio.sleep(settings.renewal)
            now, last = monotonic(), entry.session.timeline.last
            is_due = now >= next_waterfall
            if seen == last and not is_due:
                continue
            seen = last
            cost = await self.renew(entry, with_waterfall=is_due)
            if is_due:
                next_waterfall = now + max(settings.waterfall, COSTS * cost)


async def _end(entry: Entry) -> None:
    """Wait for the live source of a dropped session, then end its stream: the page that dropped it has its answer."""
    await _stop(entry)
    with suppress(RelayError):
        await entry.out.close()


async def _stop(entry: Entry) -> None:
    """Wait until the task of a live source has ended."""
    if entry.task is not None:
        await asyncio.wait((entry.task,))
