"""Sessions: each is one stream as a timeline that only grows, and a log of patches for the clients that follow it.

`Session` works on the timeline. Its methods run in threads, so that a large document does not block other requests;
each holds the lock of the session. `Log`, `Entry` and `Sessions` belong to the event loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
from codecs import BOM_UTF8
from collections import deque
from contextlib import aclosing, contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ... import UnspoolError
from ...llm import SSEEvent, encode_sse
from ..viewer.inputs import CUT, Guess, InputDecoder, InputKind
from ..viewer.recordings import may_be_header
from ..viewer.timeline import Timeline
from .document import described, diff, drawn
from .views import SchemaView, view

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ...patch import Operation
    from ..viewer.inputs import TimedItem
    from .requests import Query, SessionOptions
    from .settings import Settings
    from .sources import Source

__all__ = ["Entry", "FullError", "Log", "Portion", "Renewal", "Session", "Sessions"]

LOGGER: Final = logging.getLogger(__name__)
MAX_STEPS: Final = 100_000  # fragments that a text is cut into: each step takes memory
HEAD: Final = 256 * 1024
BLOCK: Final = 32 * 1024
TELLING: Final = 4  # lines that show the kind of an input, however long they are
COSTS: Final = 10  # a slow waterfall is drawn less often: a tenth of the time at most


# One session.


class Renewal(NamedTuple):
    """The document as it is now, what leads to it, and how long its waterfall took."""

    document: dict[str, Any]
    operations: list[Operation]
    cost: float


@final
class Session:
    """A timeline, what is known beside it, and what was asked for."""

    def __init__(self, id: str, title: str, options: SessionOptions, *, is_live: bool) -> None:
        self.id: Final = id
        self.title: Final = title
        self.is_live = is_live
        self.problem: str | None = None
        self.timeline = Timeline(Guess(InputKind.JSON), is_timed=is_live)  # until it is known what this is
        self._options = options
        self._found: Guess | None = None
        self._decoder: InputDecoder | None = None
        self._schema = SchemaView(options.schema)
        self._completions: tuple[int, list[int]] = (0, [])  # the last step that is in it
        self._lock = threading.Lock()

    # Reading.

    def load(self, data: bytes) -> None:
        """Read an input that is all there."""
        options = self._options
        cut = max(options.cut or CUT, -(-len(data) // MAX_STEPS))
        decoder = InputDecoder(options.kind, format=options.format, cut=cut)
        with self._lock:
            try:
                for block in _blocks(data, cut):
                    self._add(decoder, decoder.feed(0.0, block))
                self._add(decoder, decoder.close(0.0))
            except UnspoolError as error:
                self.problem = str(error)
            self._finish(decoder, self.timeline.duration)

    def begin(self) -> None:
        """From now on, an input comes while it is read."""
        options = self._options
        self._decoder = InputDecoder(options.kind, format=options.format, cut=options.cut, is_live=True)

    def take(self, time: float, data: bytes) -> bool:
        """What came at this time, in seconds. False: it is broken, and no more of it is to be read."""
        return self._advance(time, data)

    def settle(self) -> bool:
        """Nothing came for a while: what there is decides what this is."""
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
        """Nothing more comes, well or with a problem."""
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

    # Looking.

    def demand(self, schema: dict[str, Any] | bool | None) -> None:
        """Show what the text is worth for this schema from now on. Raises `OptionsError` where that cannot be."""
        wanted = SchemaView(schema)
        with self._lock:
            self._schema = wanted

    def view(self, query: Query) -> dict[str, Any]:
        """All panels of one step. Raises `UnspoolError` for what cannot be shown."""
        with self._lock:
            timeline = self.timeline
            if self._completions[0] != timeline.last:
                self._completions = (timeline.last, timeline.completions())
            return view(timeline, query, self._completions[1], self._schema)

    def renew(self, old: dict[str, Any], *, with_waterfall: bool) -> Renewal:
        """The document as it is now, compared with an older one, whose waterfall stays unless it is to be renewed."""
        with self._lock:
            found = self._found
            document: dict[str, Any] = {
                "id": self.id,
                "title": self.title,
                "kind": None if found is None else str(found.kind),
                "format": None if found is None else found.format,
                "is_live": self.is_live,
                "problem": self.problem,
                "schema": self._schema.is_on,
                **described(self.timeline),
            }
            begin = monotonic()
            if with_waterfall or "waterfall" not in old:
                document["waterfall"] = drawn(self.timeline)
            else:
                document["waterfall"] = old["waterfall"]
            cost = monotonic() - begin
        return Renewal(document, diff(old, document), cost)


def _blocks(data: bytes, cut: int) -> Iterator[bytes]:
    """An input in blocks, of whole fragments each: what one of them brings is there all at once, and may be large.

    The first tells what the input is, so it has the lines whole that do. Those of a recording are inside of its own.
    """
    size = max(BLOCK // cut, 1) * cut
    is_recording = may_be_header(data[:HEAD].removeprefix(BOM_UTF8))
    end = len(data) if is_recording else max(_end_of_head(data), HEAD)
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


# Its patches.


class Portion(NamedTuple):
    """Some frames for a client, and the number of the last patch in them."""

    data: bytes
    last: int


@final
class Log:
    """The document of a session as it is now, and the last patches that led to it. For the event loop alone."""

    def __init__(self, document: Any, *, most_patches: int, most_bytes: int, retry: int) -> None:
        self.document = document
        self.last = 0
        """The number of the last patch."""
        self.is_over = False
        """The session is gone: nothing more will come."""
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._most_patches = most_patches
        self._most_bytes = most_bytes
        self._retry = retry
        self._whole: bytes | None = None
        self._news = asyncio.Event()

    def publish(self, operations: Sequence[Operation], document: Any) -> None:
        """One more patch, and the document that it makes."""
        if not operations:
            return
        self.last += 1
        self.document = document
        frame = self._frame(operations)
        self._frames.append(frame)
        self._size += len(frame)
        while len(self._frames) > self._most_patches or (self._size > self._most_bytes and len(self._frames) > 1):
            self._size -= len(self._frames.popleft())
        self._whole = None
        self._wake()

    def end(self) -> None:
        """The session is gone."""
        self.is_over = True
        self._wake()

    def after(self, last: int | None, most: int) -> Portion | None:
        """What comes after this patch, about `most` bytes of it; None where there is nothing yet.

        For None, and for a number that is too old or was never given, it is the whole document.
        """
        kept = len(self._frames)
        if last is None or not self.last - kept <= last <= self.last:
            return Portion(self._document(), self.last)
        if last == self.last:
            return None
        taken: list[bytes] = []
        size = 0
        for index in range(kept - (self.last - last), kept):
            frame = self._frames[index]
            if taken and size + len(frame) > most:
                break
            taken.append(frame)
            size += len(frame)
        return Portion(taken[0] if len(taken) == 1 else b"".join(taken), last + len(taken))

    async def news(self) -> None:
        """Wait until there is more, or nothing more will come."""
        if not self.is_over:
            await self._news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _document(self) -> bytes:
        """The same bytes for everybody."""
        if self._whole is None:
            self._whole = self._frame([{"op": "replace", "path": "", "value": self.document}], self._retry)
        return self._whole

    def _frame(self, operations: Sequence[Operation], retry: int | None = None) -> bytes:
        # ASCII: half of a surrogate pair may be in a text, and cannot be in a stream.
        data = json.dumps(operations, separators=(",", ":"))
        return encode_sse(SSEEvent(data, event="patch", id=str(self.last), retry=retry))


# All sessions.


class FullError(Exception):
    """Every session that there may be is in use."""


@final
class Entry:
    """A session, and what the event loop knows of it."""

    def __init__(self, session: Session, log: Log, size: int) -> None:
        self.session: Final = session
        self.log: Final = log
        self.size = size
        """Of the text, in bytes: what was handed to the session, also while that works on it."""
        self.followers = 0
        self.is_kept = False
        """It was asked for on the command line, and is not dropped."""
        self.task: asyncio.Task[None] | None = None
        """What reads a live one."""
        self.renewing: Final = asyncio.Lock()
        self.viewing: Final = asyncio.Lock()

    @property
    def may_go(self) -> bool:
        """Nobody follows it."""
        return not self.followers and not self.is_kept


@final
class Sessions:
    """The sessions by id, the one that was asked for last at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._entries: dict[str, Entry] = {}
        self._making: list[int] = []  # the bytes of each that is no entry yet
        self._loads = asyncio.Semaphore(settings.loads)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, id: str) -> Entry | None:
        """The session with this id, which counts as used now."""
        entry = self._entries.pop(id, None)
        if entry is not None:
            self._entries[id] = entry
        return entry

    async def load(self, title: str, data: bytes, options: SessionOptions) -> Entry:
        """A session for an input that is all there. Raises `UnspoolError` for options that cannot be."""
        async with self._loads:
            with self._room(len(data)):
                entry = await self._make(title, options, len(data), is_live=False)
                await asyncio.to_thread(entry.session.load, data)
                await self.renew(entry, with_waterfall=True, is_first=True)
                self._entries[entry.session.id] = entry
        return entry

    async def follow(self, title: str, source: Source, options: SessionOptions) -> Entry:
        """A session for an input that is read while it comes."""
        with self._room(0):
            entry = await self._make(title, options, 0, is_live=True)
            entry.session.begin()
            await self.renew(entry, with_waterfall=True, is_first=True)
            self._entries[entry.session.id] = entry
        entry.task = asyncio.create_task(self._read(entry, source))
        return entry

    async def _make(self, title: str, options: SessionOptions, size: int, *, is_live: bool) -> Entry:
        settings = self._settings
        token = secrets.token_urlsafe(16)
        session = await asyncio.to_thread(Session, token, title, options, is_live=is_live)
        log = Log({}, most_patches=settings.log_patches, most_bytes=settings.log_bytes, retry=settings.retry)
        return Entry(session, log, size)

    @property
    def size(self) -> int:
        """Of all texts, in bytes, those of sessions that are being made among them."""
        return sum([entry.size for entry in self._entries.values()]) + sum(self._making)

    @contextmanager
    def _room(self, size: int) -> Generator[None]:
        """Room for one more, that nobody else takes while it is made."""
        self._make_room(size)
        self._making.append(size)
        try:
            yield
        finally:
            self._making.remove(size)

    def _make_room(self, size: int) -> None:
        """Drop those that nobody follows, the oldest first and live ones last, until there is room for one more."""
        settings = self._settings
        idle = [entry for entry in self._entries.values() if entry.may_go]
        idle.sort(key=lambda entry: entry.session.is_live)
        while count := len(self._entries) + len(self._making):  # a first one is always taken, whatever its size
            if count < settings.sessions and size + self.size <= settings.total:
                break
            if not idle:
                raise FullError
            self._drop(idle.pop(0).session.id)

    def _drop(self, id: str) -> Entry | None:
        entry = self._entries.pop(id, None)
        if entry is not None:
            entry.log.end()
            if entry.task is not None:
                entry.task.cancel()
        return entry

    async def delete(self, id: str) -> bool:
        """Forget a session; what reads it is stopped first. Whether there was one."""
        entry = self._drop(id)
        if entry is None:
            return False
        await _stop(entry)
        return True

    async def close(self) -> None:
        """Forget all."""
        entries = [self._drop(name) for name in list(self._entries)]
        await asyncio.gather(*[_stop(entry) for entry in entries if entry is not None])

    # Publishing.

    async def renew(self, entry: Entry, *, with_waterfall: bool, is_first: bool = False) -> float:
        """Publish what has changed; how long the waterfall took."""
        async with entry.renewing:
            old: dict[str, Any] = entry.log.document
            document, operations, cost = await asyncio.to_thread(
                entry.session.renew, old, with_waterfall=with_waterfall
            )
            if is_first:
                entry.log.document = document
            else:
                entry.log.publish(operations, document)
        return cost

    async def _read(self, entry: Entry, source: Source) -> None:
        """Take what comes, and publish it from time to time."""
        session, settings = entry.session, self._settings
        publishing = asyncio.create_task(self._publish(entry))
        begin: float | None = None
        problem: str | None = None
        try:
            async with aclosing(source.arrivals(settings)) as arrivals:
                async for data in arrivals:
                    now = monotonic()
                    if data is None:
                        await asyncio.to_thread(session.settle)
                        continue
                    begin = now if begin is None else begin
                    room = max(min(settings.body - entry.size, settings.total - self.size), 0)
                    piece = data[:room]
                    entry.size += len(piece)
                    if not await asyncio.to_thread(session.take, now - begin, piece):
                        break
                    if now - begin > settings.patience:  # what never pauses must show what it is, too
                        await asyncio.to_thread(session.settle)
                    if len(data) > room:
                        problem = f"more than {entry.size:,} bytes: the rest is not read"
                        break
        except OSError as error:
            problem = str(error) or type(error).__name__
        except Exception:
            LOGGER.exception("a live session broke")
            problem = "something went wrong here; the terminal has more"
        finally:
            publishing.cancel()
            with suppress(asyncio.CancelledError):
                await publishing
        await asyncio.to_thread(session.end, 0.0 if begin is None else monotonic() - begin, problem)
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


async def _stop(entry: Entry) -> None:
    """Wait until nothing is read any more."""
    if entry.task is not None:
        with suppress(asyncio.CancelledError):
            await entry.task
