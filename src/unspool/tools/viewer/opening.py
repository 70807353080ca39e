"""From bytes to timed items: what an input is is found out first, and a recording is taken out of its wrapping.

An input that is watched while it comes has the times at which it came, a recording those that were noted down. A plain
file has none: its steps come at a steady rate, so that it can be played like the others.
"""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from typing import TYPE_CHECKING, Final, NamedTuple, final

from ..._errors import UnspoolError
from .inputs import Guess, InputKind, guess, unpacker_for
from .recordings import Arrival, RecordingError, RecordingReader, may_be_header
from .timeline import Timeline

if TYPE_CHECKING:
    from ...llm._config import Config
    from .inputs import Item, Unpacker

__all__ = ["CUT", "ENOUGH", "STEADY_RATE", "EncodingError", "Opening", "TimedItem"]

STEADY_RATE: Final = 50.0  # steps a second, where nobody has measured
ENOUGH: Final = 64 * 1024  # bytes: who has not shown by then what it is is JSON
FEW: Final = 64  # bytes: an event stream shows itself by then
CUT: Final = 12  # characters of a fragment, about what a model sends
ZEROS: Final = {"x0x0": "UTF-16", "0x0x": "UTF-16", "x0": "UTF-16", "0x": "UTF-16", "x000": "UTF-32", "000x": "UTF-32"}


class EncodingError(UnspoolError, ValueError):
    """An input in another encoding than UTF-8. Raised before anything of it is read."""

    def __init__(self, encoding: str) -> None:
        super().__init__(encoding)
        self.encoding = encoding

    def __str__(self) -> str:
        return f"this looks like {self.encoding}; unspool reads UTF-8"


class TimedItem(NamedTuple):
    """An item, and the time in seconds at which it came."""

    time: float
    item: Item


@final
class Opening:
    """Bytes in, cut anywhere; timed items out. No file and no clock: whoever reads tells the time.

    `kind` and `format` are found out unless they are given. With `cut`, JSON text is handed on in fragments of so many
    bytes, whatever it came in. Without `snapshots`, lines are NDJSON, and left as they are. `found` is None as long as
    nobody can tell what this is.
    """

    __slots__ = (
        "_clock",
        "_config",
        "_cut",
        "_format",
        "_head",
        "_held",
        "_is_live",
        "_is_wrapped",
        "_kind",
        "_recording",
        "_snapshots",
        "_unpacker",
        "found",
    )

    def __init__(
        self,
        kind: InputKind | None = None,
        *,
        format: str | None = None,
        cut: int | None = None,
        is_live: bool = False,
        config: Config | None = None,
        snapshots: bool = True,
    ) -> None:
        self.found: Guess | None = None
        self._is_wrapped = kind is InputKind.RECORDING
        self._kind = None if self._is_wrapped else kind
        self._format = format
        self._cut = cut
        self._is_live = is_live
        self._config = config
        self._snapshots = snapshots
        self._head: list[Arrival] = []  # what came as long as it does not tell what it is
        self._held = 0  # how many bytes that is
        self._recording: RecordingReader | None = None
        self._unpacker: Unpacker | None = None
        self._clock = 0.0

    @property
    def is_timed(self) -> bool:
        """Whether the times are measured ones."""
        return self._is_live or self._recording is not None

    @property
    def is_recording(self) -> bool:
        """Whether it is a recording, which brings times of its own."""
        return self._recording is not None

    def feed(self, time: float, data: bytes) -> list[TimedItem]:
        """What these bytes bring. The time only counts for what is live."""
        return self._arrive([Arrival(time, data)])

    def settle(self) -> list[TimedItem]:
        """Nobody can wait any longer: what came so far decides what this is."""
        is_blank = not any(arrival.data.strip() for arrival in self._head)  # nothing to show, so nothing to decide
        return [] if is_blank else self._decide(is_all=True)

    def close(self, time: float) -> list[TimedItem]:
        """What the end brings."""
        items: list[TimedItem] = []
        if self._recording is None and self._unpacker is None:
            items += self._decide(is_all=True)  # it may be a recording, after all
        if self._recording is not None:
            items += self._unwrapped(self._recording.close())
        if self._unpacker is None:
            items += self._decide(is_all=True)
        assert self._unpacker is not None
        end = time if self._is_live and self._recording is None else self._clock
        return items + [TimedItem(end, item) for item in self._unpacker.close()]

    def timeline(self, *, extract: bool = False, patches: bool = False) -> Timeline:
        """An empty timeline for what was found; also for nothing at all."""
        found = self.found or Guess(InputKind.JSON)
        return Timeline(found, is_timed=self.is_timed, extract=extract, patches=patches)

    def _arrive(self, arrivals: list[Arrival]) -> list[TimedItem]:
        if self._recording is None:
            return self._unwrapped(arrivals)
        try:
            items = self._unwrapped(self._recording.feed(b"".join([arrival.data for arrival in arrivals])))
        except RecordingError:
            if not self._head:
                raise
            items = []
        # What came before a fault is delivered first; the fault is raised by the next call.
        return items if self._recording.fault is None else items + self.settle()

    def _unwrapped(self, arrivals: list[Arrival]) -> list[TimedItem]:
        if self._unpacker is not None:
            return self._unpack(arrivals)
        self._head += arrivals
        size = self._held = self._held + sum([len(arrival.data) for arrival in arrivals])
        if size >= ENOUGH:
            return self._decide(is_all=True)
        # Behind the first few bytes only the end of a line can tell more.
        is_news = size <= FEW or any(b"\n" in arrival.data or b"\r" in arrival.data for arrival in arrivals)
        return self._decide(is_all=False) if size and is_news else []

    def _decide(self, *, is_all: bool) -> list[TimedItem]:
        head = b"".join([arrival.data for arrival in self._head])
        found = guess(head, is_all=is_all)
        if found is None and self._kind is not None and self._kind is not InputKind.SSE and not may_be_header(head):
            found = Guess(self._kind, self._format)  # nothing to wait for
        if found is None:
            return []
        encoding = _other_encoding(head)
        if encoding is not None:
            self.found = found
            raise EncodingError(encoding)
        held, self._head, self._held = self._head, [], 0
        if self._recording is None and (found.kind is InputKind.RECORDING or self._is_wrapped):
            self._recording = RecordingReader()
            return self._arrive(held)
        if self._kind is not None:
            found = Guess(self._kind, found.format)
        if found.kind is InputKind.SNAPSHOTS and not self._snapshots:
            found = Guess(InputKind.NDJSON)
        if self._format is not None:
            kind = found.kind if found.kind is InputKind.SSE else InputKind.CHUNKS
            found = Guess(kind, self._format)
        self.found = found
        leaves_lines = found.kind is InputKind.NDJSON and not self._snapshots
        self._unpacker = unpacker_for(Guess(InputKind.JSON) if leaves_lines else found, self._config)
        if held and held[0].data.startswith(BOM_UTF8):  # RFC 8259, section 8.1: it may be ignored
            held[0] = held[0]._replace(data=held[0].data.removeprefix(BOM_UTF8))
        return self._unpack(held)

    def _unpack(self, arrivals: list[Arrival]) -> list[TimedItem]:
        assert self._unpacker is not None
        assert self.found is not None
        items: list[TimedItem] = []
        is_text = self.found.kind in (InputKind.JSON, InputKind.NDJSON)
        for arrival in arrivals:
            pieces = _cut(arrival.data, self._cut) if self._cut and is_text else [arrival.data]
            for item in [item for piece in pieces for item in self._unpacker.feed(piece)]:
                self._clock = arrival.time if self.is_timed else self._clock + 1 / STEADY_RATE
                items.append(TimedItem(self._clock, item))
        return items


def _other_encoding(head: bytes) -> str | None:
    """The encoding of an input that begins with these bytes, if it is not UTF-8.

    By its mark, or by the zeros around the first characters, which are ASCII in all that is read here (RFC 4627,
    section 3). No text in UTF-8 begins so.
    """
    if head.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return "UTF-32"
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "UTF-16"
    return ZEROS.get("".join(["x" if byte else "0" for byte in head[:4]]))


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
