"""Wires: the news of a follower as server-sent events, in the protocol of a page.

    patch          our own: a snapshot, then patches, then the end; each event has an id, so that a page can resume
    vercel-ui      Vercel's AI SDK, versions 5 to 7
    vercel-ui-7    the same for version 7 only: it also replaces an unfinished message that a page has kept
    ag-ui          AG-UI 1.0
    openai-chat    OpenAI's chat completions

The last four are encoders of `unspool.llm` with a prelude: they have no cursors, so each connection begins with the
message so far. A wire belongs to one follower. The followers of one stream share the frames of the wire `patch`.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from .._errors import OptionsError
from ..llm import (
    Encoder,
    MessageStarted,
    MessageState,
    PartChanged,
    PartEnded,
    PartStarted,
    ToolArgumentsAdded,
    ToolCall,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
    changes,
    start,
)
from ..llm._changes import TextAdded
from ..llm._parts import WrittenPart
from ._hub import End, Snapshot, Stalled, Update
from ._views import view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..llm import MessageEvent, Part
    from ._hub import News
    from ._log import Cursor
    from ._views import View

__all__ = [
    "HEALING",
    "RESUMABLE",
    "EncoderWire",
    "PatchWire",
    "RelayWire",
    "catch_up",
    "encoder_for",
    "event_frame",
    "frame_of",
]

EVENT_STREAM: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
HEALING: Final = "vercel-ui-7"
RESUMABLE: Final = ("vercel-ui", HEALING)
"""The wires whose client asks, when a page opens, whether a message is still being written."""
ENCODED: Final = ("vercel-ui", HEALING, "ag-ui", "openai-chat")
FIELDS: Final = ("id", "name", "signature", "encrypted", "citations", "output", "data", "url")
"""The fields of parts that change without a text."""


class RelayWire(Protocol):
    """Makes the frames of one connection."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response."""
        ...

    @property
    def has_cursors(self) -> bool:
        """A client can resume by the id of an event."""
        ...

    def snapshot(self, cursor: Cursor, state: Any, shared: dict[str, Any], is_last: bool = False) -> bytes:
        """Return the frames that bring the client to a state. `is_last`: the end comes next.

        `shared` belongs to all followers that get this snapshot, or this entry: the first one leaves its frames there.
        """
        ...

    def resume(self, cursor: Cursor, state: Any) -> bytes:
        """Return the frames for a client that has this state already."""
        ...

    def step(self, cursor: Cursor, state: Any, items: Sequence[Any], is_end: bool, shared: dict[str, Any]) -> bytes:
        """Return the frames of one entry, which leads to a state."""
        ...

    def stalled(self) -> bytes:
        """Return the frames that tell that the stream has no writer."""
        ...

    def end(self, cursor: Cursor, end: Mapping[str, Any]) -> bytes:
        """Return the frames of the end."""
        ...

    @property
    def is_broken(self) -> bool:
        """The protocol has no word for what happened. The wire has sent an error, and the connection ends."""
        ...


def frame_of(wire: RelayWire, news: News[Any]) -> bytes:
    """Return the frames of the news of a follower."""
    match news:
        case Snapshot():
            return wire.snapshot(news.cursor, news.state, news.frames, news.is_last)
        case Update():
            return wire.step(news.cursor, news.state, news.entry.content.get("x", []), False, news.frames)
        case End():
            last = wire.step(news.cursor, news.state, news.items, True, news.frames)
            return last + wire.end(news.cursor, {"status": news.status, **news.detail})
        case Stalled():
            return wire.stalled()


def event_frame(name: str, cursor: object, data: Any) -> bytes:
    """Return one server-sent event. The data is JSON in ASCII: a text may hold half a surrogate pair."""
    written = json.dumps(data, separators=(",", ":"), default=_as_number)
    return f"event: {name}\nid: {cursor}\ndata: {written}\n\n".encode()


def _as_number(value: object) -> object:
    """Return a Decimal as the number that a browser would read; one that no browser can read, as a text."""
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} is not JSON data")
    number = float(value)
    return number if isfinite(number) else str(value)


# ---- our own wire --------------------------------------------------------------------------------------


@final
class PatchWire:
    """Snapshots and patches of a view, with the cursor of each entry as the id of its event.

    Only the event "end" has the cursor of the last entry, because a client that names it has seen everything. A frame
    before that event has another id, which is not a cursor: a client that loses its connection there gets a snapshot.
    """

    def __init__(self) -> None:
        self.headers: Final[Mapping[str, str]] = EVENT_STREAM
        self.has_cursors: Final = True
        self.is_broken: Final = False
        self._view: View | None = None
        self._cursor: Cursor | None = None

    def snapshot(self, cursor: Cursor, state: Any, shared: dict[str, Any], is_last: bool = False) -> bytes:
        """Return the whole document."""
        found: tuple[bytes, View] | None = shared.get("patch")
        if found is None:
            view = view_of(state)
            place = _before_end(cursor) if is_last else cursor
            frame = event_frame("snapshot", place, {"document": view.document, "status": "open"})
            found = shared["patch"] = frame, view
        frame, self._view = found
        self._cursor = cursor
        return frame

    def resume(self, cursor: Cursor, state: Any) -> bytes:
        """Return an event with an id and without data: a page that loses this connection at once has a place."""
        self._view, self._cursor = view_of(state), cursor
        return _place_frame(cursor)

    def step(self, cursor: Cursor, state: Any, items: Sequence[Any], is_end: bool, shared: dict[str, Any]) -> bytes:
        """Return the patch of an entry. If it is empty, its id is news; that of the end comes with the end."""
        found: tuple[bytes, View] | None = shared.get("patch")
        if found is None:
            assert self._view is not None
            operations, view = self._view.after(state, items, is_end)
            place = _before_end(cursor) if is_end else cursor
            frame = event_frame("patch", place, operations) if operations else b"" if is_end else _place_frame(cursor)
            found = shared["patch"] = frame, view
        frame, self._view = found
        self._cursor = cursor
        return frame

    def stalled(self) -> bytes:
        """Return an event that pages may show. It repeats the last id."""
        return event_frame("stalled", self._cursor, {})

    def end(self, cursor: Cursor, end: Mapping[str, Any]) -> bytes:
        """Return the last event. A browser that reconnects with its id gets status 204, and stops."""
        return event_frame("end", cursor, dict(end))


def _place_frame(cursor: Cursor) -> bytes:
    return f"id: {cursor}\n\n".encode()


def _before_end(cursor: Cursor) -> str:
    return f"{cursor}~"


# ---- the protocols of others ---------------------------------------------------------------------------


def encoder_for(wire: str, name: str, created: int) -> Encoder:
    """Return the encoder of a wire. It depends on the stream alone: every process writes the same."""
    if wire not in ENCODED:
        raise OptionsError(f"wire must be 'patch' or one of {', '.join(map(repr, ENCODED))}")
    if wire == HEALING:
        return Encoder("vercel-ui", id=name, created=created, version=7)
    return Encoder(wire, id=name, created=created, thread_id=name, run_id=name)


@final
class EncoderWire:
    """A message in the protocol of another client."""

    def __init__(self, encoder: Callable[[], Encoder], *, heals: bool = False) -> None:
        self.has_cursors: Final = False
        self._make: Final = encoder
        self._encoder = encoder()
        self.headers: Final[Mapping[str, str]] = {**self._encoder.headers, **EVENT_STREAM}
        self._heals: Final = heals
        self._state: MessageState | None = None
        self.is_broken = False

    def snapshot(
        self, cursor: Cursor, state: Any, shared: dict[str, Any] | None = None, is_last: bool = False
    ) -> bytes:
        """Return the message so far; for a client that has some of it, the rest."""
        if not isinstance(state, MessageState):
            raise OptionsError("this wire shows messages only; other streams have the wire 'patch'")
        before, self._state = self._state, state
        events = None if before is None else catch_up(before, state)
        if events is not None:
            return self._feed(events)
        if before is not None and not self._heals:  # a writer has started over: what was sent cannot be taken back
            self.is_broken = True
            return self._frames(self._encoder.close())
        self._encoder = self._make()
        return self._frames(self._encoder.prelude(state, kept=self._heals))

    def resume(self, cursor: Cursor, state: Any) -> bytes:
        """Do the same as `snapshot`: these clients cannot resume."""
        return self.snapshot(cursor, state)

    def step(
        self, cursor: Cursor, state: Any, items: Sequence[Any], is_end: bool, shared: dict[str, Any] | None = None
    ) -> bytes:
        """Return the chunks of an entry."""
        assert self._state is not None
        before, self._state = self._state, state
        return self._feed(changes(before, state))

    def stalled(self) -> bytes:
        """Return a comment: these protocols have no word for it."""
        return b": the stream has no writer\n\n"

    def end(self, cursor: Cursor, end: Mapping[str, Any]) -> bytes:
        """Return the last chunks. A message without an end of its own ends with an error."""
        chunks = [] if self._encoder.is_ended else self._encoder.close()
        return self._frames(chunks) + self._encoder.last_frame()

    def _feed(self, events: list[MessageEvent]) -> bytes:
        return self._frames([chunk for event in events for chunk in self._encoder.feed(event)])

    def _frames(self, chunks: list[dict[str, Any]]) -> bytes:
        return b"".join(map(self._encoder.frame, chunks))


def catch_up(before: MessageState, after: MessageState) -> list[MessageEvent] | None:
    """Return the events between two states of one message that share nothing, such as a state and a later checkpoint.

    None if the second state does not go on from the first one.
    """
    known = before.parts
    if len(after.parts) < len(known) or before.is_finished:
        return None
    if not all(map(_goes_on, known, after.parts)):
        return None
    parts = {id(part): number for number, part in enumerate(after.parts)}
    head: list[MessageEvent] = []
    tail: list[MessageEvent] = []
    found: list[list[MessageEvent]] = [[] for _ in after.parts]
    for event in changes(start(after.config, format=after.format), after):
        number = _place(event, parts)
        if number is not None:
            found[number].append(event)
        elif isinstance(event, MessageStarted):
            head.append(event)
        else:
            tail.append(event)
    if (before.role, before.id, before.model) == (after.role, after.id, after.model):
        head = []
    for number, old in enumerate(known):
        found[number] = _rest(number, old, after.parts[number], found[number])
    return [*head, *[event for events in found for event in events], *tail]


def _rest(number: int, old: Part, part: Part, events: list[MessageEvent]) -> list[MessageEvent]:
    """Return what the events of a part add to an older version of it."""
    rest: list[MessageEvent] = []
    known = _text(old)
    for event in events:
        if isinstance(event, TextAdded):
            if len(event.text) > len(known):
                rest.append(type(event)(event.text[len(known) :], False, number))
        elif isinstance(event, ToolArgumentsAdded):
            if len(event.text) > len(known):
                rest.append(ToolArgumentsAdded(event.call, event.text[len(known) :], False, number))
        elif isinstance(event, (ToolCallCompleted, ToolCallFailed)) and not _has_ended(old):
            rest.append(event)
    names = [name for name in FIELDS if getattr(old, name, None) != getattr(part, name, None)]
    rest += [PartChanged(number, part, name) for name in names]
    return rest if _has_ended(old) else rest + [event for event in events if isinstance(event, PartEnded)]


def _has_ended(part: Part) -> bool:
    return part.is_complete or (isinstance(part, ToolCall) and part.error is not None)


def _goes_on(old: Part, part: Part) -> bool:
    return type(old) is type(part) and _text(part).startswith(_text(old))


def _text(part: Part) -> str:
    return part.text if isinstance(part, WrittenPart) else part.arguments if isinstance(part, ToolCall) else ""


def _place(event: MessageEvent, parts: dict[int, int]) -> int | None:
    """Return the number of the part that an event is about."""
    if isinstance(event, (PartStarted, PartEnded)):
        return event.index
    if isinstance(event, (TextAdded, ToolArgumentsAdded)):
        return event.part
    if isinstance(event, (ToolCallStarted, ToolCallCompleted, ToolCallFailed)):
        return parts[id(event.call)]
    return None
