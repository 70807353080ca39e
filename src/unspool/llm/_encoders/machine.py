"""The machine of all encoders: ``(state, event) -> (state, chunks)``, and the rules that all targets share.

    step          one event of a message, and the chunks that it makes
    EncoderState  everything that the machine remembers; immutable
    Slot          what it remembers of one part
    Target        a protocol: how parts are opened, written and closed there

The rules:

- What was sent cannot be taken back. Text that replaces other text is not sent, unless nothing of the part was sent.
- Parts share a floor in targets that have one open block at a time. A part that grows while another one has the floor
  waits, and then sends everything at once.
- A call is opened when its name is known, and its id: at the latest, its first argument gives it an id.
- The end is written at the end of the message, because usage and signatures may follow the finish reason.
- A message starts once and ends once. A failed message ends with an error.

An event costs as much as its text: the machine keeps no copy of text that it has sent.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from ..._native import mypyc_attr
from ..._sharing import GrowingMap, appended
from .._calls import HIDDEN, ToolCall, arguments_in
from .._changes import (
    ContentAdded,
    MessageFinished,
    MessageStarted,
    PartChanged,
    PartEnded,
    PartStarted,
    ReasoningAdded,
    TextAdded,
    ToolArgumentsAdded,
    UsageCounted,
)
from .._config import OUTPUT
from .._diagnostics import Fault
from .._parts import OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart, WrittenPart, text_in
from .._requests.turn import Loss
from .._texts import NO_TEXT

if TYPE_CHECKING:
    from .._changes import MessageEvent
    from .._deltas import Usage
    from .._message import MessageState
    from .._parts import Citation, Part
    from .._requests.turn import Lost
    from .._texts import TextVersion

__all__ = [
    "CALL",
    "REASONING",
    "REFUSAL",
    "TEXT",
    "WHOLE",
    "Chunk",
    "EncoderSettings",
    "EncoderState",
    "Slot",
    "Step",
    "Target",
    "ended_early",
    "step",
]

Chunk = dict[str, Any]
"""One chunk of a target, as plain data."""

# The kinds of parts.
TEXT: Final = 0
REASONING: Final = 1
REFUSAL: Final = 2
CALL: Final = 3
WHOLE: Final = 4
"""A part without text: it is written once, when it has ended."""

# How far a part has come.
NEW: Final = 0
"""Nothing of it was written."""
QUEUED: Final = 1
"""It waits for the floor."""
OPEN: Final = 2
MUTE: Final = 3
"""It is open, but other text has replaced its text: nothing more is written."""
CLOSED: Final = 4

NOBODY: Final = -1
TAKEN_BACK: Final = "what was sent cannot be taken back"
LEAF_SIZE: Final = 32
NOTHING: Final = GrowingMap()

FAILURES: Final = frozenset({
    Fault.UNFINISHED,
    Fault.GENERATION,
    Fault.INTERRUPTED,
    Fault.PROVIDER,
    Fault.TRANSPORT,
    Fault.CLOSED,
    Fault.TOO_MANY_PARTS,
})  # fmt: skip
"""The faults that end a message with an error. Others are faults of its text: the client reads that itself."""


@final
class EncoderSettings:
    """The settings of an encoder: the names that its chunks carry, and the options of the targets."""

    __slots__ = (
        "carry",
        "created",
        "id",
        "include_usage",
        "made_id",
        "model",
        "orphans",
        "reasoning_field",
        "run",
        "thread",
        "version",
    )

    def __init__(
        self,
        id: str | None,
        model: str | None,
        made_id: str,
        created: int,
        include_usage: bool,
        reasoning_field: str | None,
        carry: bool,
        orphans: str,
        thread: str,
        run: str,
        version: int,
    ) -> None:
        self.id: Final = id
        self.model: Final = model
        self.made_id: Final = made_id
        """The id of a message that has none of its own."""
        self.created: Final = created
        self.include_usage: Final = include_usage
        self.reasoning_field: Final = reasoning_field
        self.carry: Final = carry
        self.orphans: Final = orphans
        self.thread: Final = thread
        self.run: Final = run
        self.version: Final = version


@final
@mypyc_attr(free_list_len=1)
class Slot:
    """What the machine remembers of one part."""

    __slots__ = (
        "id",
        "index",
        "is_ended",
        "is_settled",
        "is_written",
        "name",
        "part",
        "pending",
        "since",
        "status",
        "type",
    )

    type: int
    status: int
    index: int  # Its number in the target
    id: str  # Its id in the target
    name: str  # The kind of a call, once it is open
    pending: TextVersion  # The text that waits for the floor, or for the name of the call
    part: Part | None  # The part, while it waits for the floor
    is_written: bool  # Some text of it was written
    is_settled: bool  # The arguments are closed, so that nothing can follow
    is_ended: bool
    since: int  # The length of the text in earlier blocks of this part

    def __init__(self, type: int, before: Slot | None = None) -> None:
        self.type = type
        if before is not None:
            self.status = before.status
            self.index = before.index
            self.id = before.id
            self.name = before.name
            self.pending = before.pending
            self.part = before.part
            self.is_written = before.is_written
            self.is_settled = before.is_settled
            self.is_ended = before.is_ended
            self.since = before.since
            return
        self.status = NEW
        self.index = NOBODY
        self.id = ""
        self.name = ""
        self.pending = NO_TEXT
        self.part = None
        self.is_written = False
        self.is_settled = False
        self.is_ended = False
        self.since = 0

    def fork(self) -> Slot:
        """Return a copy, to be changed before it is in a state."""
        return Slot(self.type, self)


@final
class SlotVector:
    """The slots of all parts. Immutable: a change copies a leaf of up to 32 slots, and the list of leaves."""

    __slots__ = ("_full", "_tail", "size")

    def __init__(self, full: tuple[tuple[Slot, ...], ...], tail: tuple[Slot, ...]) -> None:
        self._full: Final = full
        self._tail: Final = tail
        self.size: Final[int] = len(full) * LEAF_SIZE + len(tail)

    def at(self, number: int) -> Slot:
        """Return the slot with this number."""
        place = number - len(self._full) * LEAF_SIZE
        return self._tail[place] if place >= 0 else self._full[number // LEAF_SIZE][number % LEAF_SIZE]

    def append(self, slot: Slot) -> SlotVector:
        """Return the vector with one more slot."""
        tail = (*self._tail, slot)
        return SlotVector((*self._full, tail), ()) if len(tail) == LEAF_SIZE else SlotVector(self._full, tail)

    def put(self, number: int, slot: Slot) -> SlotVector:
        """Return the vector with another slot under this number."""
        full, tail = self._full, self._tail
        place = number - len(full) * LEAF_SIZE
        if place >= 0:
            return SlotVector(full, (*tail[:place], slot, *tail[place + 1 :]))
        leaf, place = number // LEAF_SIZE, number % LEAF_SIZE
        changed = (*full[leaf][:place], slot, *full[leaf][place + 1 :])
        return SlotVector((*full[:leaf], changed, *full[leaf + 1 :]), tail)


NO_SLOTS: Final = SlotVector((), ())


@final
@mypyc_attr(free_list_len=1)
class EncoderState:
    """Everything that an encoder remembers. Immutable: each step makes a new state, or leaves it the same."""

    __slots__ = (
        "app_calls",
        "count",
        "floor",
        "id",
        "ids",
        "is_ended",
        "is_failed",
        "is_started",
        "items",
        "items_size",
        "known",
        "last",
        "marks",
        "model",
        "queue",
        "queue_at",
        "queue_size",
        "rank",
        "seen_id",
        "seen_model",
        "sequence",
        "settings",
        "slots",
        "source",
        "usage",
    )

    settings: EncoderSettings
    id: str  # The id of the message in the target, once it has started
    model: str
    seen_id: str | None
    seen_model: str | None
    is_started: bool
    is_ended: bool
    is_failed: bool
    slots: SlotVector
    floor: int  # The part that has the floor
    queue: list[int]  # The parts that wait for the floor, in the order of their first text: shared by later states
    queue_at: int
    queue_size: int
    count: int  # The number of blocks or items that were opened
    app_calls: int  # The number of calls that the client must run
    sequence: int
    items: list[Any]  # Finished items, for targets that repeat them at the end: shared by later states
    items_size: int
    ids: GrowingMap  # The ids of calls in the target, by themselves and by the ids that they came with
    marks: GrowingMap  # the written fields of the parts beside their texts, so that the losses are exact
    known: GrowingMap  # The losses so far, by part and kind
    last: int  # The highest number of a part that was opened
    rank: int  # A number for the target: what was opened so far
    usage: Usage | None
    source: str | None  # the format that the message comes in, if it is known

    def __init__(self, settings: EncoderSettings, before: EncoderState | None = None) -> None:
        self.settings = settings
        if before is not None:
            self.id = before.id
            self.model = before.model
            self.seen_id = before.seen_id
            self.seen_model = before.seen_model
            self.is_started = before.is_started
            self.is_ended = before.is_ended
            self.is_failed = before.is_failed
            self.slots = before.slots
            self.floor = before.floor
            self.queue = before.queue
            self.queue_at = before.queue_at
            self.queue_size = before.queue_size
            self.count = before.count
            self.app_calls = before.app_calls
            self.sequence = before.sequence
            self.items = before.items
            self.items_size = before.items_size
            self.ids = before.ids
            self.known = before.known
            self.marks = before.marks
            self.last = before.last
            self.rank = before.rank
            self.usage = before.usage
            self.source = before.source
            return
        self.id = ""
        self.model = ""
        self.seen_id = None
        self.seen_model = None
        self.is_started = False
        self.is_ended = False
        self.is_failed = False
        self.slots = NO_SLOTS
        self.floor = NOBODY
        self.queue = []
        self.queue_at = 0
        self.queue_size = 0
        self.count = 0
        self.app_calls = 0
        self.sequence = 0
        self.items = []
        self.items_size = 0
        self.ids = NOTHING
        self.marks = NOTHING
        self.known = NOTHING
        self.last = NOBODY
        self.rank = NOBODY
        self.usage = None
        self.source = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far: things that the target has no place for."""
        return tuple([cast("Loss", loss) for _, loss in self.known.items()])


@final
@mypyc_attr(free_list_len=1)
class Step:
    """One step of the machine: the next state while it is made, and the chunks."""

    __slots__ = ("_is_forked", "chunks", "state")

    def __init__(self, state: EncoderState) -> None:
        self.state: EncoderState = state
        self.chunks: Final[list[Chunk]] = []
        self._is_forked: bool = False

    def changed(self) -> EncoderState:
        """Return the next state, to be changed."""
        if not self._is_forked:
            self.state = EncoderState(self.state.settings, self.state)
            self._is_forked = True
        return self.state

    def put(self, number: int, slot: Slot) -> None:
        """Remember another version of a slot."""
        state = self.changed()
        state.slots = state.slots.put(number, slot)

    def lose(self, part: int | None, what: Lost, why: str) -> None:
        """Report that the target leaves something out or changes it: once for each part and kind."""
        key = (part, what)
        if self.state.known.get(key) is None:
            state = self.changed()
            state.known = state.known.put(key, Loss(part, what, why))

    def keep(self, item: Any) -> None:
        """Keep a finished item for the end."""
        state = self.changed()
        state.items = appended(state.items, state.items_size, item) if state.items_size > 0 else [item]
        state.items_size += 1

    def mark(self, number: int, what: object) -> None:
        """Remember that something of a part was written beside its text."""
        if self.has(number, what):
            return  # the map is shared: another value under the same key would copy it
        state = self.changed()
        state.marks = state.marks.put((number, what), True)

    def has(self, number: int, what: object) -> bool:
        """Tell whether something of a part was written beside its text."""
        return self.state.marks.get((number, what)) is not None

    def new_citations(self, number: int, part: TextPart) -> list[tuple[int, Citation]]:
        """Return the citations of a part that were not written yet, with their places. Now they count as written."""
        count = self.state.marks.get((number, "citations"))
        first = count if isinstance(count, int) else 0
        if first != len(part.citations):
            state = self.changed()
            state.marks = state.marks.put((number, "citations"), len(part.citations))
        return [(at, citation) for at, citation in enumerate(part.citations) if at >= first]

    def has_citations(self, number: int, part: TextPart) -> bool:
        """Tell whether all citations of a part were written."""
        return not part.citations or self.state.marks.get((number, "citations")) == len(part.citations)

    def free_id(self, target: Target, wanted: str) -> str:
        """Return an id that no other call has, and take it: the one that is wanted, or this one with a number."""
        state = self.changed()
        found = wanted
        if state.ids.get(found) is not None:
            taken, free = 1, 2  # numbers: `taken` is never free; a binary search between them finds the first free one
            while state.ids.get(target.clean_id(f"{wanted}_{free}")) is not None:
                taken, free = free, 2 * free
            while free - taken > 1:
                middle = (taken + free) // 2
                if state.ids.get(target.clean_id(f"{wanted}_{middle}")) is None:
                    free = middle
                else:
                    taken = middle
            found = target.clean_id(f"{wanted}_{free}")
        state.ids = state.ids.put(found, True)
        return found

    def number(self) -> int:
        """Return the number of the next block or item."""
        state = self.changed()
        state.count += 1
        return state.count - 1

    def sequence(self) -> int:
        """Return the number of the next chunk."""
        state = self.changed()
        state.sequence += 1
        return state.sequence - 1


class Target:
    """A protocol. The machine calls these methods; each of them adds chunks to the step."""

    __slots__ = ()

    def shares_floor(self, type: int) -> bool:
        """Tell whether parts of this type wait for each other."""
        return True

    def repeats_text(self) -> bool:
        """Tell whether the end of a part repeats its text, so that replaced text becomes right."""
        return False

    def head(self, step: Step) -> None:
        """Begin the message."""
        raise NotImplementedError

    def open(self, step: Step, number: int, slot: Slot, part: Part | None) -> None:
        """Open a part. Set the `index` and `id` of the slot. Text in a block of its own has no `part` (None)."""
        raise NotImplementedError

    def piece(self, step: Step, number: int, slot: Slot, text: str) -> None:
        """Write a piece of text or arguments."""
        raise NotImplementedError

    def close(self, step: Step, number: int, slot: Slot, part: Part) -> None:
        """Close an open part."""
        raise NotImplementedError

    def whole(self, step: Step, number: int, part: Part) -> None:
        """Write a part that has no text, or report that it is left out."""
        raise NotImplementedError

    def opens_call(self, call: ToolCall) -> bool:
        """Tell whether this call has a place in the target. `whole` gets the others."""
        return call.kind != "server"

    def clean_id(self, id: str) -> str:
        """Return an id of a call that the target accepts."""
        return id

    def is_final(self, part: Part) -> bool:
        """Tell whether a part without text that has ended can be written. Others wait for their last change."""
        return True

    def account(self, step: Step, number: int, part: Part) -> None:
        """Report the losses of a part that has ended, or has changed after its end."""

    def end(self, step: Step, state: MessageState) -> None:
        """End the message."""
        raise NotImplementedError

    def failure(
        self, step: Step, message: str, code: str | None, status: int | None, state: MessageState | None
    ) -> None:
        """End the message with an error."""
        raise NotImplementedError

    def replacing(self, prelude: list[Chunk], settings: EncoderSettings, history: list[Any]) -> list[Chunk]:
        """Return a prelude for a client that may still have an older part of the message: this one replaces it.

        Raise `OptionsError` if the target has no words for that. In most targets an answer is always a new message.
        """
        return prelude


# ---- one event ---------------------------------------------------------------------------------------


def step(target: Target, state: EncoderState, event: MessageEvent) -> tuple[EncoderState, list[Chunk]]:
    """Return the state after an event, and the chunks that the event makes."""
    if state.is_ended:
        return state, []
    now = Step(state)
    if isinstance(event, TextAdded):  # nearly all events are of the first two kinds
        if not state.is_started:
            _start(target, now)
        slot = now.state.slots.at(event.part)
        if slot.status == OPEN and not event.is_whole:
            if event.text:
                if not slot.is_written:
                    slot = _written(now, event.part, slot)
                target.piece(now, event.part, slot, event.text)
        else:
            _text(target, now, event, slot)
    elif isinstance(event, ToolArgumentsAdded):
        if not state.is_started:
            _start(target, now)
        _arguments(target, now, event)
    elif isinstance(event, MessageStarted):
        _named(target, now, event)
    elif isinstance(event, UsageCounted):
        now.changed().usage = event.usage
    elif isinstance(event, MessageFinished):
        _finish(target, now, event.state)
    else:
        if not state.is_started and isinstance(event, (PartStarted, PartChanged, PartEnded)):
            _start(target, now)
        if isinstance(event, PartStarted):
            _begin(target, now, event.index, event.part)
        elif isinstance(event, PartChanged):
            _change(target, now, event.index, event.part, event.name)
        elif isinstance(event, PartEnded):
            _end(target, now, event.index, event.part)
    return now.state, now.chunks


def ended_early(target: Target, state: EncoderState, message: str) -> tuple[EncoderState, list[Chunk]]:
    """Return the state after a source that ended without the end of its message, and the last chunks."""
    if state.is_ended:
        return state, []
    now = Step(state)
    if not state.is_started:
        _start(target, now)
    changed = now.changed()
    changed.is_ended = changed.is_failed = True
    target.failure(now, message, None, None, None)
    return now.state, now.chunks


# ---- the beginning and the end -----------------------------------------------------------------------


def _named(target: Target, now: Step, event: MessageStarted) -> None:
    """Begin the message once its id and its model are known."""
    state = now.changed()
    if state.is_started:
        settings = state.settings
        if settings.id is None and event.id is not None and event.id != state.id:
            now.lose(None, "id_changed", "the id of the message came too late")
        if settings.model is None and event.model is not None and event.model != state.model:
            now.lose(None, "id_changed", "the name of the model came too late")
        return
    state.seen_id, state.seen_model = event.id, event.model
    if event.id is not None and event.model is not None:
        _start(target, now)


def _start(target: Target, now: Step) -> None:
    state = now.changed()
    settings = state.settings
    state.is_started = True
    state.id = settings.id or state.seen_id or settings.made_id
    state.model = settings.model or state.seen_model or ""
    target.head(now)


def _finish(target: Target, now: Step, message: MessageState) -> None:
    if not now.state.is_started:
        _start(target, now)
    parts = message.parts
    for number in range(now.state.slots.size):
        slot = now.state.slots.at(number)
        if slot.status != CLOSED:
            _end(target, now, number, parts[number], is_last=True)
    _pass_floor(target, now)
    state = now.changed()
    state.is_ended = True
    if message.usage is not None:
        state.usage = message.usage
    error = message.error
    if error is None or error.fault not in FAILURES:
        target.end(now, message)
        return
    state.is_failed = True
    target.failure(now, error.detail or str(error), error.code, error.status, message)


# ---- parts -------------------------------------------------------------------------------------------


def _type_of(part: Part) -> int:
    if isinstance(part, ToolCall):
        return CALL
    if not isinstance(part, WrittenPart):
        return WHOLE
    if isinstance(part, TextPart):
        return TEXT
    return REASONING if isinstance(part, ReasoningPart) else REFUSAL


def _type_of_text(event: TextAdded) -> int:
    if isinstance(event, ContentAdded):
        return TEXT
    return REASONING if isinstance(event, ReasoningAdded) else REFUSAL


def _begin(target: Target, now: Step, number: int, part: Part) -> None:
    state = now.changed()
    state.slots = state.slots.append(Slot(_type_of(part)))
    if isinstance(part, ToolCall):
        _try_call(target, now, number, part)


def _written(now: Step, number: int, slot: Slot) -> Slot:
    """Remember that some text of a part was written."""
    slot = slot.fork()
    slot.is_written = True
    now.put(number, slot)
    return slot


def _text(target: Target, now: Step, event: TextAdded, slot: Slot) -> None:
    """Take text of a part that is not open, or text that replaces the text before."""
    number, text, is_whole = event.part, event.text, event.is_whole
    if not text and not is_whole:
        return
    if slot.status == MUTE:
        return
    slot = slot.fork()
    if is_whole and (slot.status == OPEN or slot.since > 0):
        if slot.status != OPEN or slot.since > 0 or not target.repeats_text():
            now.lose(number, "replaced", TAKEN_BACK)
        if slot.status == OPEN:
            slot.status = MUTE
            now.put(number, slot)
        return
    if slot.status == CLOSED:  # the provider writes into a block that has ended
        if slot.since > 0:
            now.lose(number, "order", "text of the part came later than its end")
        slot.status, slot.is_ended, slot.is_written = NEW, False, False
    slot.pending = NO_TEXT.add(text) if is_whole else slot.pending.add(text)
    if slot.status == NEW:  # an empty part may have become one of another kind
        slot.type = _type_of_text(event)
    part = slot.part
    if isinstance(part, WrittenPart):  # it has ended and waits for the floor
        slot.part = part.with_text((NO_TEXT if is_whole else text_in(part)).add(text))
    now.put(number, slot)
    if slot.status == NEW and slot.pending.length > 0:
        _ask_floor(target, now, number, slot, None)


def _arguments(target: Target, now: Step, event: ToolArgumentsAdded) -> None:
    call, number, text = event.call, event.part, event.text
    slot = now.state.slots.at(number)
    if slot.status == OPEN and not event.is_whole:
        if text:
            is_settled = _is_settled(call)
            if is_settled or not slot.is_written:
                slot = slot.fork()
                slot.is_written, slot.is_settled = True, is_settled
                slot.part = call if is_settled else None
                now.put(number, slot)
            target.piece(now, number, slot, text)
    elif slot.status == OPEN or slot.status == CLOSED:
        if slot.index == NOBODY:
            return  # the call has no place in the target
        if slot.status == CLOSED or not target.repeats_text():
            now.lose(number, "replaced", TAKEN_BACK)
        if slot.status == OPEN:
            slot = slot.fork()
            slot.status, slot.is_settled = MUTE, False
            now.put(number, slot)
    elif slot.status != MUTE:
        slot = slot.fork()
        slot.pending = NO_TEXT.add(text) if event.is_whole else slot.pending.add(text)
        slot.is_settled = _is_settled(call)
        slot.part = call if slot.is_settled or slot.status == QUEUED else None
        now.put(number, slot)
        _try_call(target, now, number, call)


def _is_settled(call: ToolCall) -> bool:
    """Tell whether the arguments are closed, so that nothing can follow."""
    document = arguments_in(call).document
    if document is None:
        return False
    parser = document.parser
    return parser.is_complete


def _try_call(target: Target, now: Step, number: int, call: ToolCall) -> None:
    """Open a call if enough is known about it."""
    slot = now.state.slots.at(number)
    if slot.status != NEW or slot.type != CALL or call.index == HIDDEN:
        return
    if call.name is None or call.kind is None or not target.opens_call(call):
        return
    if call.id is None and slot.pending.length == 0:
        return
    _ask_floor(target, now, number, slot, call)


def _change(target: Target, now: Step, number: int, part: Part, name: str) -> None:
    slot = now.state.slots.at(number)
    if name == "type" and slot.status != OPEN and slot.status != MUTE:
        slot = slot.fork()
        slot.type = _type_of(part)
        if slot.status == CLOSED:
            if slot.is_written:
                now.lose(number, "replaced", TAKEN_BACK)
            slot.status, slot.is_ended = NEW, False
        now.put(number, slot)
    if isinstance(part, ToolCall):
        _try_call(target, now, number, part)
        slot = now.state.slots.at(number)
        is_named = slot.status >= OPEN and name == "id" and part.id is not None
        if is_named and now.state.ids.get(("from", part.id)) != slot.id:
            now.lose(number, "id_changed", "the id of the call came too late")
    if slot.status == NEW and slot.is_ended:
        _end(target, now, number, part)
    elif slot.status == QUEUED:
        slot = now.state.slots.at(number).fork()
        slot.part = part
        now.put(number, slot)
    elif slot.status == CLOSED:
        is_other = name != "native" or isinstance(part, (OpaquePart, SourcePart))
        if slot.type == WHOLE and slot.is_written and is_other and not target.repeats_text():
            now.lose(number, "replaced", TAKEN_BACK)
        target.account(now, number, part)


def _end(target: Target, now: Step, number: int, part: Part, *, is_last: bool = False) -> None:
    slot = now.state.slots.at(number)
    if slot.status == CLOSED:
        target.account(now, number, part)
        return
    if isinstance(part, ToolCall):
        if part.index == HIDDEN:
            _end_hidden(target, now, number, slot, part)
            return
        if slot.status == NEW and part.name is not None and target.opens_call(part):
            slot = slot.fork()
            slot.type = CALL
            now.put(number, slot)
            _ask_floor(target, now, number, slot, part)
            slot = now.state.slots.at(number)
    if slot.status == NEW:
        if not is_last and not target.is_final(part):
            slot = slot.fork()
            slot.is_ended = True
            now.put(number, slot)
            return
        if target.shares_floor(slot.type) and not _is_free(target, now):
            _wait(now, number, slot, part, True)
            return
        _write_whole(target, now, number, slot, part)
    elif slot.status == QUEUED or (_may_have_no_arguments(part) and not slot.is_written and not is_last):
        slot = slot.fork()
        slot.part, slot.is_ended = part, True
        now.put(number, slot)
    else:
        _close(target, now, number, slot, part)
        _pass_floor(target, now)


def _may_have_no_arguments(part: Part) -> bool:
    """Tell whether a call has ended without arguments. Only the end of the message tells whether it was cut off.

    Until then the call stays open, unless its result or another part shows that nothing is missing.
    """
    return isinstance(part, ToolCall) and not part.is_complete and part.error is None and not part.arguments.strip()


def _settle(target: Target, now: Step, number: int) -> None:
    """Close a call that has ended without arguments: nothing is missing."""
    slot = now.state.slots.at(number)
    part = slot.part
    if slot.status == OPEN and slot.is_ended and part is not None:
        slot = slot.fork()
        slot.is_settled = True
        _close(target, now, number, slot, part)


def _write_whole(target: Target, now: Step, number: int, slot: Slot, part: Part) -> None:
    """Write a part that has no text."""
    if isinstance(part, ToolCall) and part.name is None:
        now.lose(number, "incomplete_call", "the call has no name")
        _close_slot(now, number, slot, part)
        return
    if isinstance(part, ToolResultPart) and part.call_id is not None:
        caller = now.state.ids.get(("part", part.call_id))
        if isinstance(caller, int):
            _settle(target, now, caller)
    before = len(now.chunks)
    target.whole(now, number, part)
    if len(now.chunks) > before:
        _keep_order(now, number)
        slot = _written(now, number, slot)
    _close_slot(now, number, slot, part)
    target.account(now, number, part)


def _keep_order(now: Step, number: int) -> None:
    """Report a part that comes later than it should."""
    state = now.changed()
    if number < state.last:
        now.lose(number, "order", "a part of the message came later than another one")
    else:
        state.last = number


def _end_hidden(target: Target, now: Step, number: int, slot: Slot, call: ToolCall) -> None:
    """Write structured output that came through a tool that does not exist: as the text that it stands for."""
    if call.name == OUTPUT and call.arguments and slot.status == NEW:
        slot = slot.fork()
        slot.type = TEXT
        slot.pending = NO_TEXT.add(call.arguments)
        now.put(number, slot)
        _ask_floor(target, now, number, slot, TextPart(call.arguments, is_complete=call.is_complete))
        slot = now.state.slots.at(number)
        shown = TextPart(call.arguments, is_complete=call.is_complete)
        if slot.status == QUEUED:
            slot = slot.fork()
            slot.part, slot.is_ended = shown, True
            now.put(number, slot)
        else:
            _close(target, now, number, slot, shown)
            _pass_floor(target, now)


# ---- the floor ---------------------------------------------------------------------------------------


def _ask_floor(target: Target, now: Step, number: int, slot: Slot, part: Part | None) -> None:
    """Open a part, or let it wait for the floor."""
    if target.shares_floor(slot.type) and not _is_free(target, now):
        _wait(now, number, slot, part, False)
        return
    _open(target, now, number, slot, part)


def _is_free(target: Target, now: Step) -> bool:
    """Tell whether the floor is free. A call whose arguments are closed leaves it."""
    holder = now.state.floor
    if holder == NOBODY:
        return True
    _settle(target, now, holder)
    slot = now.state.slots.at(holder)
    part = slot.part
    if slot.status == CLOSED:
        _pass_floor(target, now)
        return now.state.floor == NOBODY
    if not slot.is_settled or part is None:
        return False
    _close(target, now, holder, slot, part)
    _pass_floor(target, now)
    return now.state.floor == NOBODY


def _wait(now: Step, number: int, slot: Slot, part: Part | None, is_ended: bool) -> None:
    state = now.changed()
    if slot.status != QUEUED:
        size = state.queue_size
        state.queue = appended(state.queue, size, number) if size > 0 else [number]
        state.queue_size = size + 1
    slot = slot.fork()
    slot.status, slot.part, slot.is_ended = QUEUED, part, is_ended
    state.slots = state.slots.put(number, slot)


def _open(target: Target, now: Step, number: int, slot: Slot, part: Part | None) -> None:
    slot = slot.fork()
    state = now.changed()
    pending = slot.pending
    if isinstance(part, ToolCall):
        slot.id = _call_id(target, now, number, part)
        slot.name = part.kind or "function"
        if slot.name != "server":
            state.app_calls += 1
    _keep_order(now, number)
    if target.shares_floor(slot.type):
        state.floor = number
    slot.status, slot.pending, slot.index = OPEN, NO_TEXT, 0
    if not slot.is_settled:
        slot.part = None
    target.open(now, number, slot, part)
    slot.is_written = pending.length > 0
    now.put(number, slot)
    if pending.length > 0:
        target.piece(now, number, slot, str(pending))


def _call_id(target: Target, now: Step, number: int, call: ToolCall) -> str:
    """Return the id of a call in the target, which no other call has."""
    found = now.free_id(target, f"call_{call.index}" if call.id is None else target.clean_id(call.id))
    state = now.changed()
    if call.id is not None:
        state.ids = state.ids.put(("from", call.id), found).put(("part", call.id), number)
        if found != call.id:
            now.lose(number, "id_changed", "the id has characters or a length that the target does not accept")
    return found


def _close(target: Target, now: Step, number: int, slot: Slot, part: Part) -> None:
    """Close an open part."""
    target.close(now, number, slot, part)
    _close_slot(now, number, slot, part)
    state = now.changed()
    if state.floor == number:
        state.floor = NOBODY
    target.account(now, number, part)


def _close_slot(now: Step, number: int, slot: Slot, part: Part) -> None:
    slot = slot.fork()
    slot.status, slot.part, slot.pending, slot.is_ended = CLOSED, None, NO_TEXT, True
    if isinstance(part, WrittenPart):
        slot.since = text_in(part).length
    now.put(number, slot)


def _pass_floor(target: Target, now: Step) -> None:
    """Give the floor to the parts that wait for it."""
    while now.state.floor == NOBODY and now.state.queue_at < now.state.queue_size:
        state = now.changed()
        number = state.queue[state.queue_at]
        state.queue_at += 1
        slot = state.slots.at(number)
        part = slot.part
        is_whole = slot.pending.length == 0
        if isinstance(part, ToolCall):
            is_whole = part.name is None or not target.opens_call(part)
        if slot.is_ended and part is not None and is_whole:
            _write_whole(target, now, number, slot, part)
            continue
        _open(target, now, number, slot, part)
        if slot.is_ended and part is not None:
            slot = now.state.slots.at(number)
            if _may_have_no_arguments(part) and not slot.is_written:
                slot = slot.fork()
                slot.is_settled = True
            _close(target, now, number, slot, part)
