"""A tool call, as far as it is known. It never changes; what a delta says of it makes another one, or the same."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from .._missing import MISSING
from ._arguments import Arguments
from ._deltas import Whole
from ._faults import Fault, MessageError
from ._gates import gate_at
from ._quirks import Quirk
from ._texts import NO_TEXT

if TYPE_CHECKING:
    from .._path import Path, Step
    from ._config import Config
    from ._deltas import CallKind, ToolCallDelta
    from ._document import Document
    from ._gates import Gate

__all__ = ["ToolCall"]

HIDDEN: Final = -1
"""The index of a call that is not shown."""

# How it was said that a call is whole.
NOT_ENDED: Final = 0
ENDED: Final = 1
ENDED_WITH_ITS_BLOCK: Final = 2


@final
class ToolCall:
    """One call of a tool.

    `index` is its place among the calls of the message that are shown, whatever number it has on the wire. `kind` tells
    whether it is a function with JSON arguments, a "custom" tool that takes free text, or one that the provider runs
    itself ("server"), which is not for the application to run.

    `value` is what the arguments are worth: with a type, the typed value as it stands; without one, the plain value
    once the call is complete; `MISSING` before. `is_complete` is true once the call is whole, its arguments are valid,
    and nothing has cut it off: the time to run it. After the end of the message a call is complete or has an `error`.
    """

    __slots__ = ("_arguments", "_ended", "error", "id", "index", "is_complete", "kind", "name", "value")

    def __init__(
        self,
        index: int,
        id: str | None,
        name: str | None,
        kind: CallKind | None,
        arguments: Arguments,
        ended: int = NOT_ENDED,
        is_complete: bool = False,
        error: MessageError | None = None,
    ) -> None:
        self.index: Final = index
        self.id: Final = id
        self.name: Final = name
        self.kind: Final = kind
        self.is_complete: Final = is_complete
        self.error: Final = error
        self._arguments: Final = arguments
        self._ended: Final = ended
        document = arguments.document
        value: Any = MISSING
        if document is None:
            value = str(arguments.text) if is_complete else MISSING
        elif document.resolver is not None or is_complete:
            value = document.value
        self.value: Final = value

    @property
    def arguments(self) -> str:
        """The text of the arguments as it came. Where they did not come as text, it is as it would be written."""
        return str(self._arguments.text)

    def ready(self, path: str | Path | tuple[Step, ...]) -> Gate:
        """Whether the argument at this path is complete and valid, before the whole call is.

        A path that does not start with "$" is the name of an argument.
        """
        return gate_at(self, self._arguments.document, path)

    def __copy__(self) -> ToolCall:
        return self

    def __deepcopy__(self, memo: object) -> ToolCall:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a call cannot be pickled; the state that it is in has dump()")

    def __repr__(self) -> str:
        state = "complete" if self.is_complete else "failed" if self.error is not None else "open"
        return f"ToolCall({self.index}, {self.name!r}, {state}, value={self.value!r})"


def begin_call(config: Config) -> ToolCall:
    """A call of which nothing is known yet."""
    return ToolCall(HIDDEN, None, None, None, Arguments(NO_TEXT, config.arguments_of(None)))


def tell(call: ToolCall, delta: ToolCallDelta, config: Config, named: str | None, quirks: list[Quirk]) -> ToolCall:
    """The call after a delta that is about it; the same one if that says nothing new. `named` is its clean id."""
    is_new = call.index == HIDDEN and call.id is None and call.name is None and call._arguments.text.length == 0
    is_the_end = delta.is_done and delta.counts_blocks  # where everything is said once more
    kind = call.kind or delta.kind
    arguments = call._arguments
    if kind == "custom" and arguments.document is not None:
        arguments = arguments.typed(None)
    if call.id is not None:
        if named == call.id and not is_the_end:
            quirks.append(Quirk.ID_REPEATED)
        named = call.id
    name = call.name
    if delta.name == "":
        quirks.append(Quirk.NAME_EMPTY)
    elif delta.name is not None and name is None:
        name = delta.name
        if not is_new:
            quirks.append(Quirk.NAME_LATE)
        arguments = _named(arguments, name, kind, config, quirks)
    elif delta.name is not None and delta.name != name:
        quirks.append(Quirk.NAME_CHANGED)
    elif delta.name is not None and not is_the_end:
        quirks.append(Quirk.NAME_REPEATED)
    arguments = _argued(arguments, delta, name, kind, config, quirks)
    ended = ENDED if delta.is_done and call._ended != ENDED else call._ended
    if (
        arguments is call._arguments
        and name == call.name
        and named == call.id
        and kind == call.kind
        and ended == call._ended
    ):
        return call
    return ToolCall(
        call.index,
        named,
        name,
        kind,
        arguments,
        ended,
        call.is_complete and arguments.is_valid,
        arguments.error(place_of(call), call.error),
    )


def _named(arguments: Arguments, name: str, kind: CallKind | None, config: Config, quirks: list[Quirk]) -> Arguments:
    """The arguments, now that it is known whose they are."""
    document = arguments.document
    blank = config.arguments_of(name)
    if config.tools and name not in config.tools and kind != "server" and blank.resolver is None:
        quirks.append(Quirk.UNKNOWN_TOOL)
    if document is None or blank.resolver is None:
        return arguments
    return arguments.typed(blank if arguments.text.length == 0 else document.typed(blank.resolver))


def _argued(
    arguments: Arguments,
    delta: ToolCallDelta,
    name: str | None,
    kind: CallKind | None,
    config: Config,
    quirks: list[Quirk],
) -> Arguments:
    given = delta.arguments
    if isinstance(given, str):
        return arguments.feed(given, quirks)
    if isinstance(given, tuple):
        arguments = arguments.add_leaves(given, quirks)
    elif isinstance(given, Whole):
        blank: Document | None = None if kind == "custom" else config.arguments_of(name)
        return arguments.take_whole(given.value, delta.is_done or delta.counts_blocks, blank, quirks)
    elif delta.kind == "function" and not delta.is_done and not delta.counts_blocks and delta.index is not MISSING:
        quirks.append(Quirk.ARGUMENTS_NULL)
    return arguments


def settle(call: ToolCall, is_over: bool, quirks: list[Quirk]) -> ToolCall:
    """The call, complete if it is whole: it was said to be, or `is_over` says that nothing more will come to any.

    Without arguments it is not: whether they are yet to come, or were lost, only the end of the message tells.
    """
    if call.is_complete or call.error is not None or call.name is None or not (is_over or call._ended):
        return call
    arguments = call._arguments
    if arguments.leaves is None or call._ended == ENDED:
        arguments = arguments.end(quirks)
    is_empty = arguments.text.length == 0 and call.kind != "custom"
    is_complete = arguments.is_valid and not is_empty
    if arguments is call._arguments and not is_complete:
        return call
    return _ended(call, arguments, is_complete, arguments.error(place_of(call), None))


def conclude(call: ToolCall, cut_off: Fault | None, config: Config, quirks: list[Quirk]) -> ToolCall:
    """The call at the end of its message: complete, or with an error. `cut_off` says why it cannot be complete."""
    if call.is_complete or call.error is not None:
        return call
    arguments = call._arguments
    if cut_off is None:
        if call.name is None:
            return _ended(call, arguments, False, MessageError(Fault.NO_NAME, call=place_of(call)))
        arguments = arguments.end(quirks)
        if arguments.is_blank and call.kind != "custom":
            empty = config.arguments_of(call.name).feed("{}", [])
            arguments = arguments.typed(empty)
            return _ended(call, arguments, empty.is_valid, empty.error(place_of(call), None))
        if arguments.is_valid:
            return _ended(call, arguments, True, None)
        cut_off = Fault.INCOMPLETE
    error = arguments.error(place_of(call), None)
    document = arguments.document
    if error is None:
        error = (
            MessageError(cut_off, call=place_of(call))
            if document is None
            else document.cut_off(cut_off, place_of(call))
        )
    return _ended(call, arguments, False, error)


def _ended(call: ToolCall, arguments: Arguments, is_complete: bool, error: MessageError | None) -> ToolCall:
    return ToolCall(call.index, call.id, call.name, call.kind, arguments, call._ended, is_complete, error)


def end_block(call: ToolCall) -> ToolCall:
    """The call after the end of the block that it stands in."""
    if call._ended:
        return call
    arguments, complete = call._arguments, call.is_complete
    return ToolCall(call.index, call.id, call.name, call.kind, arguments, ENDED_WITH_ITS_BLOCK, complete, call.error)


def shown_at(call: ToolCall, index: int) -> ToolCall:
    """The call, now that it has a place among those that are shown."""
    error = None if call.error is None else call.error.about(index)
    return ToolCall(index, call.id, call.name, call.kind, call._arguments, call._ended, call.is_complete, error)


def place_of(call: ToolCall) -> int | None:
    """Its index in errors: None for a call that is not shown."""
    return None if call.index == HIDDEN else call.index
