"""Tool calls: their arguments, the gates of their arguments, and the rules by which deltas find their call.

A `ToolCall` is immutable: a delta about it makes a new one, or leaves it the same. The parts of this module:

    CallArguments    the arguments of one call, however they come
    Gate             whether one argument is complete, before the whole call is
    ToolCall         one call; `apply_delta`, `settle` and `conclude` make the next version of it
    CallDirectory    the known indexes and ids; `find_call` tells which call a delta is about

Other modules of this package read the inside of a call with `arguments_in` and `done_of`.
"""

# Compiled with mypyc.
from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, cast, final

from .._chunker.leaves import LeafChunker
from .._chunker.values import append_whole, copied, same
from .._errors import PatternError, Reason, SnapshotError
from .._grammar.writer import Writer
from .._missing import MISSING
from .._native import mypyc_attr
from .._path import ROOT, Path
from .._sharing import GrowingMap, appended
from .._state import create_state, finalize, parse_chunk
from .._tree.nodes import StringNode
from ..typed._shape import ArrayShape, DeferredShape, MapShape, ObjectShape, ShapeError, UnionShape, chosen
from ._deltas import Leaf, Record, Whole
from ._diagnostics import Fault, MessageError, Quirk
from ._parts import Part, merged
from ._texts import NO_TEXT, RAW_TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._events import Event
    from .._options import Options
    from .._path import Step
    from .._repairs import Repair
    from .._state import ParserState
    from .._tree.nodes import Node
    from ..typed._shape import Shape
    from ._config import Config
    from ._deltas import Block, CallKind, Index, ToolCallDelta
    from ._parts import PartVector
    from ._texts import JSONDocument, TextVersion

__all__ = [
    "HIDDEN",
    "NEW_CALL",
    "NO_CALL",
    "NO_LEAVES",
    "CallArguments",
    "CallDirectory",
    "Gate",
    "GateStatus",
    "ToolCall",
    "apply_delta",
    "arguments_in",
    "begin_call",
    "call_at",
    "clean_id",
    "clean_index",
    "closed",
    "conclude",
    "done_of",
    "end_block",
    "find_call",
    "is_over",
    "place_of",
    "plain_arguments",
    "settle",
    "shown_at",
]

MAX_WRITTEN_DEPTH: Final = 1000
"""The depth of a value that can be written as text. The parser applies the limit of the options afterwards."""

HIDDEN: Final = -1
"""The index of a call that is not shown."""

# How the provider declared a call whole.
NOT_DONE: Final = 0
DONE: Final = 1
DONE_WITH_BLOCK: Final = 2

NEW_CALL: Final = -1
"""The delta starts a call."""
NO_CALL: Final = -2
"""The delta is about no known call, and starts none."""

NO_NUMBERS: Final = GrowingMap()
NO_IDS: Final = frozenset({"", "null"})
MAX_DIGITS: Final = 9


# ---- arguments ---------------------------------------------------------------------------------------


@final
class Leaves:
    """The first `size` leaves of a list that later versions share.

    A `LeafChunker` turns leaves into text. It is not part of the state, because the leaves can build it again: the
    latest version just keeps it for the next call.
    """

    __slots__ = ("_chunkers", "_leaves", "is_closed", "size")

    def __init__(self, leaves: list[Leaf], size: int, chunkers: list[LeafChunker], is_closed: bool = False) -> None:
        self._leaves = leaves
        self._chunkers = chunkers  # one or none: popping from a list is atomic between threads
        self.size: Final = size
        self.is_closed: Final = is_closed
        """No more leaves can follow; the text of the arguments is complete."""

    def add(self, leaf: Leaf) -> tuple[Leaves, str]:
        """Add a leaf, and return the text that it adds. Raise an error if the leaf has no place there."""
        chunker = self._chunker()
        text = chunker.process(leaf.path, leaf.value, will_continue=leaf.will_continue)
        leaves = [leaf] if self.size == 0 else appended(self._leaves, self.size, leaf)
        return Leaves(leaves, self.size + 1, [chunker]), text

    def close(self) -> tuple[Leaves, str]:
        """Close the leaves, and return the text that closes all open values."""
        return Leaves(self._leaves, self.size, [], True), self._chunker().flush()

    def _chunker(self) -> LeafChunker:
        try:
            return self._chunkers.pop()
        except IndexError:
            chunker = LeafChunker()
            for leaf in self._leaves[: self.size]:
                chunker.process(leaf.path, leaf.value, will_continue=leaf.will_continue)
            return chunker

    def merged(self) -> list[Leaf]:
        """Return the leaves with all pieces of one string in one leaf, so that they do not show how they arrived."""
        merged: list[Leaf] = []
        for leaf in self._leaves[: self.size]:
            last = merged[-1] if merged else None
            if last is None or not last.will_continue or last.path != leaf.path:
                merged.append(leaf)
            else:
                text = str(last.value) + ("" if leaf.value is MISSING else str(leaf.value))
                merged[-1] = Leaf(leaf.path, text, leaf.will_continue)
        return merged


NO_LEAVES: Final = Leaves([], 0, [])


@final
@mypyc_attr(free_list_len=1)
class CallArguments:
    """The arguments of one call: text in pieces, a whole value, or leaves by path. Immutable.

    They are always kept as text: the text that arrived, or else the text that the writer makes. There is no `document`
    for free text, nor after the end of the message.
    """

    __slots__ = ("_repairs", "document", "is_encoded", "leaves", "misplaced", "options", "text")

    def __init__(
        self,
        text: TextVersion,
        document: JSONDocument | None,
        leaves: Leaves | None = None,
        misplaced: SnapshotError | None = None,
        options: Options | None = None,
        is_encoded: bool = False,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        self.text: Final = text
        self.document: Final = document
        self.leaves: Final = leaves
        self.misplaced: Final = misplaced
        """Why the arguments cannot be assembled: a leaf without a place, or a value that JSON does not have."""
        self.options: Final = options
        """The options that read the text, in the arguments of a finished message: those keep no document."""
        self.is_encoded: Final = is_encoded
        """A string holds the arguments, in a finished message."""
        self._repairs: Final = repairs  # in a finished message

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs of the text."""
        return self._repairs if self.document is None else self.document.repairs

    @staticmethod
    def begin(document: JSONDocument | None) -> CallArguments:
        """Return arguments without any text yet."""
        if document is None:
            return CallArguments(NO_TEXT, None)
        options = document.parser.options
        return CallArguments(NO_TEXT if options.surrogates == "replace" else RAW_TEXT, document)

    def feed(self, piece: str, quirks: list[Quirk]) -> CallArguments:
        """Add a piece of text."""
        if not piece:
            return self
        if self.leaves is not None:
            quirks.append(Quirk.ARGUMENTS_MIXED)
            return self
        return self._append(piece, quirks, None)

    def _append(self, piece: str, quirks: list[Quirk], leaves: Leaves | None) -> CallArguments:
        document = self.document
        before = self.text
        text = before.add(piece)
        if document is not None and text.length > before.length:
            is_whole = piece.isascii() and not before.half
            document = document.feed(piece if is_whole else text.since(before.length), quirks)
        return CallArguments(text, document, leaves, self.misplaced)

    def add_leaves(self, leaves: tuple[Leaf, ...], quirks: list[Quirk]) -> CallArguments:
        """Add leaves."""
        if self.text.length > 0 and self.leaves is None:
            quirks.append(Quirk.ARGUMENTS_MIXED)
            return self
        arguments = self
        for leaf in leaves:
            known = arguments.leaves or NO_LEAVES
            if arguments.misplaced is not None or known.is_closed:
                quirks.append(Quirk.EXTRA_TEXT)
                break
            try:
                known, text = known.add(leaf)
            except (SnapshotError, PatternError) as error:
                return arguments._misplace(error, known)
            arguments = arguments._append(text, quirks, known)
        return arguments

    def take_whole(
        self, value: object, is_usual: bool, blank: JSONDocument | None, quirks: list[Quirk]
    ) -> CallArguments:
        """Take all arguments at once, as text or as a value. They replace different arguments that came before."""
        if isinstance(value, str):
            text = value
        else:
            if not is_usual:
                quirks.append(Quirk.ARGUMENTS_AS_OBJECT)
            try:
                text = _written(value)
            except SnapshotError as error:
                return self._misplace(error, self.leaves)
        if self.text.length == 0 or not text:
            return self.feed(text, quirks)
        known = str(self.text)
        if text != known and self.leaves is None and text.startswith(known):
            return self.feed(text[len(known) :], quirks)
        fresh = CallArguments.begin(blank).feed(text, [])
        if text == known or self._is_same(fresh):
            if not is_usual:
                quirks.append(Quirk.ARGUMENTS_REPEATED)
            return self
        quirks.append(Quirk.ARGUMENTS_REPLACED)
        return fresh

    def _misplace(self, error: SnapshotError | PatternError, leaves: Leaves | None) -> CallArguments:
        if isinstance(error, PatternError):  # the path of the leaf is invalid
            error = SnapshotError(ROOT, Reason.OUT_OF_ORDER, 1 if leaves is None else leaves.size + 1)
        return CallArguments(self.text, self.document, leaves, error.with_traceback(None))

    def _is_same(self, other: CallArguments) -> bool:
        if self.document is None or other.document is None:
            return False
        mine, others = self.document.parser.result, other.document.parser.result
        return mine is not MISSING and same(mine, others)

    def end(self, quirks: list[Quirk], *, closes: bool = True) -> CallArguments:
        """End the arguments: close the values that leaves have opened, and complete a number.

        With `closes`, the end of the text may be repaired.
        """
        arguments = self.settled(quirks)
        if self.leaves is not None and not self.leaves.is_closed and self.misplaced is None:
            leaves, text = self.leaves.close()
            arguments = self._append(text, quirks, leaves)
        document = None if arguments.document is None else arguments.document.end(quirks, closes=closes)
        return arguments if document is arguments.document else arguments.typed(document)

    def settled(self, quirks: list[Quirk]) -> CallArguments:
        """Return the arguments with the half of a pair that waits, if there is one: it stays alone."""
        before, document = self.text, self.document
        text = before.settled()
        if text is before:
            return self
        if document is not None:
            document = document.feed(text.since(before.length), quirks)
        return CallArguments(text, document, self.leaves, self.misplaced)

    def typed(self, document: JSONDocument | None) -> CallArguments:
        """Return the same text with another document."""
        return CallArguments(self.text, document, self.leaves, self.misplaced)

    @property
    def is_blank(self) -> bool:
        """The text is empty or white space."""
        return self.misplaced is None and not str(self.text).strip()

    @property
    def is_valid(self) -> bool:
        """The arguments are whole and fit the type of the tool."""
        return self.misplaced is None and (self.document is None or self.document.is_valid)

    def error(self, call: int | None, known: MessageError | None) -> MessageError | None:
        """Return the error of the arguments: the known error if it is still the same."""
        if self.misplaced is not None:
            if known is not None and known.reason is self.misplaced:
                return known
            return MessageError(Fault.MISPLACED, call=call, reason=self.misplaced)
        return None if self.document is None else self.document.error(call, known)


def _written(value: object) -> str:
    """Return a plain value as JSON text. Raise `SnapshotError` for a value that JSON does not have."""
    events: list[Event] = []
    append_whole(events, ROOT, copied(value, MAX_WRITTEN_DEPTH, 1))
    return Writer().write(events)


# ---- calls -------------------------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class ToolCall(Part):
    """One call of a tool.

    `index` is its place among the calls of the message that are shown, whatever its number on the wire. `kind` is
    "function" for JSON arguments, "custom" for a tool that takes free text, "builtin" for a tool that the provider
    defines and the application runs, and "server" for a tool that the provider runs itself: the application does not
    run those. `signature` goes back to the provider with the call.

    `value` is the value of the arguments: with a type, the typed value so far; without a type, the plain value once
    its text is complete, and `MISSING` before. `is_complete` becomes true when the call is whole, its arguments are
    valid, and nothing has cut it off: run the call then. After the end of the message a call is complete or has an
    `error`.
    """

    __slots__ = ("_arguments", "_done", "error", "index", "kind", "name", "signature", "value")
    __match_args__ = (
        *("index", "name", "arguments", "kind", "signature"),
        *("id", "is_complete", "native", "block"),
    )
    type: ClassVar[str] = "tool_call"

    def __init__(
        self,
        index: int,
        id: str | None,
        name: str | None,
        kind: CallKind | None,
        arguments: CallArguments,
        done: int = NOT_DONE,
        is_complete: bool = False,
        error: MessageError | None = None,
        signature: str | None = None,
        native: Mapping[str, object] | None = None,
        block: Block = (),
        closed_value: Any = MISSING,
    ) -> None:
        super().__init__(id, is_complete, native, block)
        self.index: Final = index
        self.name: Final = name
        self.kind: Final = kind
        self.error: Final = error
        self.signature: Final = signature
        self._arguments: Final = arguments
        self._done: Final = done
        document = arguments.document
        value: Any = closed_value
        if document is None:
            if arguments.options is None and is_complete:
                value = str(arguments.text)
        elif document.resolver is not None or document.parser.is_complete:
            value = document.value
        self.value: Final = value

    @property
    def arguments(self) -> str:
        """The text of the arguments as it arrived. Arguments that did not arrive as text are written as JSON."""
        return str(self._arguments.text)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The changes that made the arguments readable, with ``repair=...``. Positions are those in `arguments`."""
        return self._arguments.repairs

    @property
    def has_guesses(self) -> bool:
        """A repair of the arguments is a guess: ask before you run a call that changes anything."""
        return any(repair.is_guess for repair in self.repairs)

    def ready(self, path: str | Path | tuple[Step, ...], *, guesses: bool = True) -> Gate:
        """Tell whether the argument at this path is complete and valid, before the whole call is.

        A path that does not start with "$" is the name of an argument. With ``guesses=False``, an argument is not ready
        if a repair of the call is a guess: the status is "guessed". A guess may still come after the argument, so wait
        for "$", the whole call, before you act on it.
        """
        gate = _gate_of(self, path)
        if not guesses and gate.is_ready and self.has_guesses:
            return Gate(GateStatus.GUESSED, gate.value)
        return gate

    def ended(self, is_complete: bool = True) -> ToolCall:
        """Return the call: its arguments decide when it is complete."""
        return self

    def over(self, older: Part) -> ToolCall:
        """Return the call: deltas of their own change it."""
        return self

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> ToolCall:
        """Return the call with another signature, and with more native fields."""
        signature = value if name == "signature" and isinstance(value, str) else self.signature
        return self._with(
            self._arguments, self._done, self.is_complete, self.error, signature, merged(self._native, native)
        )

    def _with(
        self,
        arguments: CallArguments,
        done: int,
        is_complete: bool,
        error: MessageError | None,
        signature: str | None,
        native: Mapping[str, object] | None,
    ) -> ToolCall:
        return ToolCall(
            self.index,
            self.id,
            self.name,
            self.kind,
            arguments,
            done,
            is_complete,
            error,
            signature,
            native,
            self.block,
            self.value,
        )

    def in_block(self, block: Block) -> ToolCall:
        """Return the call in another block."""
        named = (self.index, self.id, self.name, self.kind)
        state = (self._arguments, self._done, self.is_complete, self.error)
        return ToolCall(*named, *state, self.signature, self._native, block, self.value)

    def __copy__(self) -> ToolCall:
        return self

    def __deepcopy__(self, memo: object) -> ToolCall:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a call cannot be pickled; use dump() of its message state")

    def __repr__(self) -> str:
        state = "complete" if self.is_complete else "failed" if self.error is not None else "open"
        return f"ToolCall({self.index}, {self.name!r}, {state}, value={self.value!r})"


def arguments_in(call: ToolCall) -> CallArguments:
    """Return the arguments with their document and leaves, for the other modules of this package."""
    return call._arguments


def done_of(call: ToolCall) -> int:
    """Return how the provider declared the call whole, for the other modules of this package."""
    return call._done


def place_of(call: ToolCall) -> int | None:
    """Return the index of the call for errors: None for a call that is not shown."""
    return None if call.index == HIDDEN else call.index


def is_over(call: ToolCall) -> bool:
    """Tell whether the call has ended. A call that fails has not: other arguments may still replace the broken ones."""
    return call.is_complete or call._done != NOT_DONE


def closed(call: ToolCall, options: Options) -> ToolCall:
    """Return the call of a finished message: its value and its text, without what reads more text."""
    arguments = call._arguments
    text = arguments.text.compacted()
    if arguments.document is None:
        if text is arguments.text:
            return call
        kept = CallArguments(
            text,
            None,
            arguments.leaves,
            arguments.misplaced,
            arguments.options,
            arguments.is_encoded,
            arguments.repairs,
        )
    else:
        is_encoded = arguments.document.encoded is not None
        kept = CallArguments(text, None, None, arguments.misplaced, options, is_encoded, arguments.repairs)
    return call._with(kept, call._done, call.is_complete, call.error, call.signature, call._native)


def plain_arguments(call: ToolCall) -> object:
    """Return the arguments of a call as a plain value: `MISSING` if their text is not whole."""
    document = call._arguments.document
    if document is not None and call.arguments.strip():
        return document.parser.result if document.is_closed else MISSING
    return _read_again(call).result


def _read_again(call: ToolCall) -> ParserState:
    """Read the text of a call whose message has finished, and which has no document any more."""
    arguments = call._arguments
    text = call.arguments if call.arguments.strip() else "{}"
    whole = finalize(parse_chunk(create_state(arguments.options), text))
    if arguments.is_encoded and isinstance(whole.result, str):
        return finalize(parse_chunk(create_state(arguments.options), whole.result))
    return whole


def begin_call(config: Config) -> ToolCall:
    """Return a call before the first delta about it."""
    return ToolCall(HIDDEN, None, None, None, CallArguments.begin(config.arguments_of(None)))


def apply_delta(
    call: ToolCall, delta: ToolCallDelta, config: Config, index: int | None, call_id: str | None, quirks: list[Quirk]
) -> ToolCall:
    """Return the call after a delta about it: the same call without news. `index` and `call_id` are clean."""
    is_new = call.index == HIDDEN and call.id is None and call.name is None and call._arguments.text.length == 0
    is_the_end = delta.is_done and delta.counts_blocks  # such formats repeat everything at the end
    kind = call.kind or delta.kind
    arguments = call._arguments
    if kind == "custom" and arguments.document is not None:
        arguments = arguments.typed(None)
    if call.id is not None:
        if call_id == call.id and not is_the_end:
            quirks.append(Quirk.ID_REPEATED)
        call_id = call.id
    name = call.name
    if delta.name == "":
        quirks.append(Quirk.NAME_EMPTY)
    elif delta.name is not None and name is None:
        name = delta.name
        if not is_new:
            quirks.append(Quirk.NAME_LATE)
        arguments = _with_type(arguments, name, kind, config, quirks)
    elif delta.name is not None and delta.name != name:
        quirks.append(Quirk.NAME_CHANGED)
    elif delta.name is not None and not is_the_end:
        quirks.append(Quirk.NAME_REPEATED)
    arguments = _with_more(arguments, delta, name, kind, config, quirks)
    done = DONE if delta.is_done and call._done != DONE else call._done
    signature = call.signature if delta.signature is None else delta.signature
    native = call._native if delta.native is None else merged(call._native, delta.native)
    block = (index,) if index is not None and not call.block else call.block
    is_same = arguments is call._arguments and done == call._done and block == call.block
    is_same = is_same and signature == call.signature and native == call._native
    if is_same and name == call.name and call_id == call.id and kind == call.kind:
        return call
    is_complete = call.is_complete and arguments.is_valid
    if call.is_complete and not is_complete and done == NOT_DONE:
        done = DONE_WITH_BLOCK  # the call has ended before; other arguments came too late
    error = arguments.error(place_of(call), call.error)
    return ToolCall(call.index, call_id, name, kind, arguments, done, is_complete, error, signature, native, block)


def _with_type(
    arguments: CallArguments, name: str, kind: CallKind | None, config: Config, quirks: list[Quirk]
) -> CallArguments:
    """Give the arguments the type of the tool, whose name is now known."""
    document = arguments.document
    blank = config.arguments_of(name)
    if config.tools and name not in config.tools and kind != "server" and blank.resolver is None:
        quirks.append(Quirk.UNKNOWN_TOOL)
    if document is None or blank.resolver is None:
        return arguments
    if arguments.text.length == 0:
        return arguments.typed(blank)
    if blank.unwraps and isinstance(document.parser.root, StringNode):
        return arguments.typed(blank.feed(str(arguments.text), quirks))
    return arguments.typed(document.typed(blank.resolver))


def _with_more(
    arguments: CallArguments,
    delta: ToolCallDelta,
    name: str | None,
    kind: CallKind | None,
    config: Config,
    quirks: list[Quirk],
) -> CallArguments:
    """Add the arguments of a delta."""
    given = delta.arguments
    if isinstance(given, str):
        return arguments.feed(given, quirks)
    if isinstance(given, tuple):
        arguments = arguments.add_leaves(given, quirks)
    elif isinstance(given, Whole):
        blank: JSONDocument | None = None if kind == "custom" else config.arguments_of(name)
        return arguments.take_whole(given.value, delta.is_done or delta.counts_blocks, blank, quirks)
    elif delta.kind == "function" and not delta.is_done and not delta.counts_blocks and delta.index is not MISSING:
        quirks.append(Quirk.ARGUMENTS_NULL)
    return arguments


def settle(call: ToolCall, has_stopped: bool, quirks: list[Quirk]) -> ToolCall:
    """Complete the call if it is whole: the provider declared it whole, or the model has stopped.

    A call without arguments stays open until the end of the message: the arguments may still come, or were lost. The
    providers end a block that was cut off like every other block.
    """
    if call.is_complete or call.error is not None or call.name is None or not (has_stopped or call._done):
        return call
    arguments = call._arguments
    if arguments.leaves is None or call._done == DONE:
        arguments = arguments.end(quirks, closes=has_stopped)  # a block that was cut off ends, too
    is_empty = arguments.text.length == 0 and call.kind != "custom"
    is_complete = arguments.is_valid and not is_empty
    if arguments is call._arguments and not is_complete:
        return call
    return _with_outcome(call, arguments, is_complete, arguments.error(place_of(call), None))


def conclude(call: ToolCall, cut_off: Fault | None, config: Config, quirks: list[Quirk]) -> ToolCall:
    """Return the call at the end of its message: complete, or with an error.

    With `cut_off`, an open call cannot become complete any more: that is its fault.
    """
    if call.is_complete or call.error is not None:
        return call
    arguments, place = call._arguments.settled(quirks), place_of(call)
    if arguments is not call._arguments:
        fault = arguments.error(place, None)
        if fault is not None:
            return _with_outcome(call, arguments, False, fault)
    if cut_off is None:
        if call.name is None:
            return _with_outcome(call, arguments, False, MessageError(Fault.NO_NAME, call=place))
        arguments = arguments.end(quirks)
        if arguments.is_blank and call.kind != "custom":
            empty = config.arguments_of(call.name).feed("{}", [])
            return _with_outcome(call, arguments.typed(empty), empty.is_valid, empty.error(place, None))
        if arguments.is_valid:
            return _with_outcome(call, arguments, True, None)
        cut_off = Fault.INCOMPLETE
    error = arguments.error(place, None)
    document = arguments.document
    if error is None:
        error = MessageError(cut_off, call=place) if document is None else document.cut_off(cut_off, place)
    return _with_outcome(call, arguments, False, error)


def _with_outcome(call: ToolCall, arguments: CallArguments, is_complete: bool, error: MessageError | None) -> ToolCall:
    return call._with(arguments, call._done, is_complete, error, call.signature, call._native)


def end_block(call: ToolCall) -> ToolCall:
    """Return the call after the end of its block."""
    if call._done:
        return call
    return call._with(call._arguments, DONE_WITH_BLOCK, call.is_complete, call.error, call.signature, call._native)


def shown_at(call: ToolCall, index: int) -> ToolCall:
    """Return the call with this place among the shown calls."""
    error = None if call.error is None else call.error.about(index)
    return ToolCall(
        index,
        call.id,
        call.name,
        call.kind,
        call._arguments,
        call._done,
        call.is_complete,
        error,
        call.signature,
        call._native,
        call.block,
    )


# ---- gates -------------------------------------------------------------------------------------------


class GateStatus(StrEnum):
    """The status of a gate."""

    WAITING = "waiting"
    """The argument is absent or incomplete, and may still come."""
    READY = "ready"
    """The argument is complete and valid."""
    ABSENT = "absent"
    """The argument is absent and cannot come any more."""
    GUESSED = "guessed"
    """The argument is complete and valid, and a repair of the call is a guess, which the caller did not want."""
    FAILED = "failed"
    """The call has failed, whatever the argument is: it was broken, invalid or cut off."""


@final
class Gate(Record):
    """The status of one argument, its `value` if it is ready or guessed, and the `error` of the call if that failed.

    The value is the plain one, as the model wrote it, even if the tool has a type: the type has accepted it.
    """

    __slots__ = ("error", "status", "value")
    __match_args__ = ("status", "value", "error")

    def __init__(
        self, status: GateStatus = GateStatus.WAITING, value: Any = MISSING, error: MessageError | None = None
    ) -> None:
        self.status: Final = status
        self.value: Final = value
        self.error: Final = error

    @property
    def is_ready(self) -> bool:
        """The argument is complete and valid, and the call has not failed."""
        return self.status is GateStatus.READY

    @property
    def is_settled(self) -> bool:
        """The gate waits no longer. An incomplete call may still fail."""
        return self.status is not GateStatus.WAITING


WAITING: Final = Gate()
ABSENT: Final = Gate(GateStatus.ABSENT)


def _gate_of(call: ToolCall, path: str | Path | tuple[Step, ...]) -> Gate:
    if isinstance(path, str):
        path = Path.parse(path) if path.startswith("$") else (path,)
    steps = tuple(path)
    if call.error is not None:
        return Gate(GateStatus.FAILED, error=call.error)
    if call.name is None and not call.is_complete:  # the tool decides which arguments are valid
        return WAITING
    document, options = call._arguments.document, call._arguments.options
    if document is None and options is not None:  # the message has finished: all values are closed
        whole = _read_again(call)
        return WAITING if whole.root is None else _gate_at(whole.root, None, steps)
    if document is None:  # free text has no values inside
        return Gate(GateStatus.READY, call.value) if call.is_complete and not steps else _absent(call.is_complete)
    root = document.parser.root
    if root is None:
        return WAITING
    resolver = document.resolver
    return _gate_at(root, None if resolver is None else resolver.shape, steps)


def _absent(is_final: bool) -> Gate:
    return ABSENT if is_final else WAITING


def _gate_at(node: Node, shape: Shape | None, steps: tuple[Step, ...]) -> Gate:
    """Walk down the tree, and down its type where there is one."""
    for step in steps:
        if shape is not None:
            try:
                shape, _ = chosen(shape, node)
            except ShapeError:
                return WAITING
            if isinstance(shape, (UnionShape, DeferredShape)) and not node.closed:
                return WAITING  # such a value is validated as a whole, with all values inside it
        child = node.child_at(step)
        if child is None:
            return _absent(node.closed)
        node, shape = child, _shape_at(shape, step)
    return Gate(GateStatus.READY, node.value) if node.closed else WAITING


def _shape_at(shape: Shape | None, step: Step) -> Shape | None:
    """Return the type of the value at a step; None if it has no type of its own."""
    if isinstance(shape, ArrayShape):
        return shape.item_at(cast("int", step))
    if isinstance(shape, MapShape):
        return shape.item
    if not isinstance(shape, ObjectShape):
        return None
    field = shape.field(cast("str", step))
    return None if field is None else field.shape


# ---- which call a delta is about ---------------------------------------------------------------------
#
# All deltas so far decide, because no single field can be trusted:
#
#     index     may be missing, null, a string, start at 1, or be used again for another call
#     id        may be missing, empty, on every delta, or come late
#     name      may be missing, empty, on every delta, or come late
#
# A known id decides. Then a known index decides, with two exceptions: another id starts another call if it comes with a
# name or if the call under that index is over; a name without an id starts another call in the latter case. Without
# both, the delta continues the last call, unless a name starts another one.


@final
@mypyc_attr(free_list_len=1)
class CallDirectory:
    """The indexes and ids of the calls. Calls are known by the numbers of their parts. Immutable."""

    __slots__ = ("ids", "indexes", "last", "written")

    def __init__(
        self,
        indexes: GrowingMap = NO_NUMBERS,
        ids: GrowingMap = NO_NUMBERS,
        last: int = NO_CALL,
        written: int = NO_CALL,
    ) -> None:
        self.indexes: Final = indexes
        self.ids: Final = ids
        self.last: Final = last
        """The call of the last delta."""
        self.written: Final = written
        """The call whose arguments grew last."""

    def after_delta(self, call: int, index: int | None, id: str | None, is_written: bool) -> CallDirectory:
        """Return the directory after a delta about this call: the same one if the delta has no news."""
        indexes, ids = self.indexes, self.ids
        if index is not None and self.at_index(index) != call:
            indexes = indexes.put(index, call)
        if id is not None and ids.get(id) is None:
            ids = ids.put(id, call)
        written = call if is_written else self.written
        if indexes is self.indexes and ids is self.ids and call == self.last and written == self.written:
            return self
        return CallDirectory(indexes, ids, call, written)

    def renumbered(self, numbers: dict[int, int]) -> CallDirectory:
        """Return the directory with other indexes."""
        indexes = NO_NUMBERS
        for index, call in self.indexes.items():
            indexes = indexes.put(numbers.get(index, index) if isinstance(index, int) else index, call)
        return CallDirectory(indexes, self.ids, self.last, self.written)

    def at_index(self, index: int) -> int:
        """Return the call with this index, or `NO_CALL`."""
        found = self.indexes.get(index)
        return found if isinstance(found, int) else NO_CALL

    def with_id(self, id: str) -> int:
        """Return the call with this id, or `NO_CALL`."""
        found = self.ids.get(id)
        return found if isinstance(found, int) else NO_CALL


def clean_index(index: Index, quirks: list[Quirk]) -> int | None:
    """Return an index as a number; None if it cannot be one."""
    if index is None:
        quirks.append(Quirk.INDEX_NULL)
        return None
    if isinstance(index, str):
        quirks.append(Quirk.INDEX_AS_TEXT)
        digits = index.strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS else None
    return index if isinstance(index, int) else None


def clean_id(id: str | None, quirks: list[Quirk]) -> str | None:
    """Return an id; None if it identifies nothing."""
    if id is not None and id in NO_IDS:
        quirks.append(Quirk.ID_EMPTY)
        return None
    return id


def call_at(parts: PartVector, number: int) -> ToolCall:
    """Return the call that is the part with this number."""
    return cast("ToolCall", parts.at(number))


def find_call(
    directory: CallDirectory,
    parts: PartVector,
    delta: ToolCallDelta,
    index: int | None,
    id: str | None,
    quirks: list[Quirk],
) -> int:
    """Return the number of the call that the delta is about, `NEW_CALL` or `NO_CALL`. `index` and `id` are clean."""
    _notice_no_index(delta, quirks)
    under = NO_CALL if index is None else directory.at_index(index)
    if id is not None:
        known = directory.with_id(id)
        if known != NO_CALL:
            block = call_at(parts, known).block
            if index is not None and under == NO_CALL and block:
                quirks.append(Quirk.INDEX_CHANGED)
            return known
    if under != NO_CALL:
        call = call_at(parts, under)
        if not _starts_under(call, delta, id):
            if id is not None and call.id is not None:
                quirks.append(Quirk.ID_CHANGED)
            return under
        quirks.append(Quirk.INDEX_REUSED)
        return NEW_CALL
    last = directory.last
    if last >= 0 and _continues(call_at(parts, last), delta, id, index is not None):
        return last
    if id is None and not delta.name and not _has_arguments(delta):
        return NO_CALL
    if index is not None and index > 0 and last < 0 and not delta.counts_blocks:
        quirks.append(Quirk.INDEX_FROM_ONE)
    return NEW_CALL


def _notice_no_index(delta: ToolCallDelta, quirks: list[Quirk]) -> None:
    """Note a missing index. Only formats that send text have indexes, not those with whole values or leaves."""
    if delta.index is MISSING:
        given = delta.arguments
        if isinstance(given, str) or (isinstance(given, Whole) and not delta.is_done):
            quirks.append(Quirk.NO_INDEX)


def _has_arguments(delta: ToolCallDelta) -> bool:
    given = delta.arguments
    return given is not None and given != "" and given != ()


def _starts_under(call: ToolCall, delta: ToolCallDelta, id: str | None) -> bool:
    """Tell whether the delta starts another call under the index of this one."""
    if id is not None and call.id is not None:  # it is another id
        if delta.counts_blocks and delta.is_done:
            return False  # an end starts nothing
        return bool(delta.name) or _is_over(call)  # some providers make up an id for every delta of a call
    if not delta.name or delta.counts_blocks or not _is_over(call):
        return False
    if delta.name != call.name:
        return call.name is not None
    return _has_arguments(delta) and (delta.is_done or not _repeats_arguments(call, delta))


def _continues(call: ToolCall, delta: ToolCallDelta, id: str | None, has_index: bool) -> bool:
    """Tell whether the delta continues the last call, if neither index nor id is known."""
    if has_index and call.block:
        return False
    if id is not None and call.id is not None:
        return False
    if not delta.name:
        return not (has_index and _is_over(call)) if id is None else not _is_over(call)
    if _is_over(call):
        return False
    # Only formats that send text repeat the name on every delta.
    return call.name is None or (delta.name == call.name and isinstance(delta.arguments, str))


def _is_over(call: ToolCall) -> bool:
    """Tell whether nothing can follow in the call: it was declared whole, or its arguments are closed."""
    if call._done or call.is_complete:
        return True
    document = call._arguments.document
    return document is not None and document.is_closed


def _repeats_arguments(call: ToolCall, delta: ToolCallDelta) -> bool:
    """Tell whether the delta has the arguments of the call again."""
    given = delta.arguments.value if isinstance(delta.arguments, Whole) else delta.arguments
    if isinstance(given, str):
        return given.strip() == call.arguments.strip()
    document = call._arguments.document
    return document is not None and same(document.parser.result, given)
