"""A message while it is being written: ``(state, delta) -> state``.

A state never changes, and nothing that it shows ever does; what a delta does not touch is the same object in the next
state. Nothing that a provider sends raises an exception: what is odd is in the diagnostics, what is wrong is in
`error`. That is known at once, so that a caller may stop, but counts as a failure only at the end.

>>> from unspool.llm._deltas import Finish, TextDelta
>>> state = reduce(start(), TextDelta("Hel"))
>>> later = reduce(reduce(state, TextDelta("lo")), Finish("stop"))
>>> state.content, later.content, finish(later).is_complete
('Hel', 'Hello', True)
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from .._errors import OptionsError
from ._calls import begin_call, end_block, settle, tell
from ._config import Config
from ._deltas import (
    BlockEnd,
    Delta,
    Finish,
    Ignored,
    MessageStart,
    ProviderError,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Words,
)
from ._ending import each_call, ended, is_over, of_content, put_call
from ._faults import Fault, MessageError
from ._identity import NEW, NOBODY, clean_id, clean_index, find
from ._quirks import Quirk
from ._state import MessageState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["MessageState", "fail", "finish", "reduce", "reduce_chunk", "start", "starts_another"]


def start(config: Config | None = None) -> MessageState:
    """The state before the first delta."""
    if config is None:
        return MessageState(Config())
    if not isinstance(cast("object", config), Config):
        raise OptionsError(f"config must be a Config or None, not {type(config).__name__}")
    return MessageState(config)


def reduce(state: MessageState, delta: Delta) -> MessageState:
    """The state after one more delta; the same one if that says nothing new. After the end nothing is read."""
    if isinstance(delta, ToolCallDelta):  # these two are nearly all that comes
        return _tool_call(state, delta) if _is_read(state, delta.choice) else state
    if isinstance(delta, Words):
        return _words(state, delta) if _is_read(state, delta.choice) else state
    if not isinstance(cast("object", delta), Delta):
        raise TypeError(f"a Delta is expected, not {type(delta).__name__}")
    reducer = REDUCERS.get(type(delta))
    if reducer is None or state._is_finished or getattr(delta, "choice", state._choice) != state._choice:
        return state
    return state if state._is_followed and not isinstance(delta, MessageStart) else reducer(state, delta)


def _is_read(state: MessageState, choice: int) -> bool:
    """Whether what is said about this choice is said about this message, and it has not ended."""
    return not state._is_finished and not state._is_followed and choice == state._choice


def reduce_chunk(state: MessageState, deltas: Iterable[Delta]) -> MessageState:
    """The state after all deltas of one chunk. As `reduce` for each, but it also tells when two have one index."""
    if isinstance(deltas, list) and len(deltas) == 1:
        return reduce(state, deltas[0])
    seen: set[int] = set()
    for delta in deltas:
        before, state = state, reduce(state, delta)
        if state is not before and isinstance(delta, ToolCallDelta):
            index = clean_index(delta.index, [])
            if index in seen and not delta.counts_blocks:
                notes = state._notes.noticed([Quirk.INDEX_TWICE], state._roll.last)
                state = state._fork()
                state._notes = notes
            if index is not None:
                seen.add(index)
    return state


def finish(state: MessageState) -> MessageState:
    """The state if the stream has ended here: pure and repeatable. What is not complete by now has an error."""
    return state if state._is_finished else ended(state, None)


def fail(state: MessageState, error: MessageError) -> MessageState:
    """The state after something that ends the message at once: it is finished, and this is its error."""
    return state if state._is_finished else ended(state, error)


def starts_another(state: MessageState, delta: Delta) -> bool:
    """Whether the delta is the start of another message. An id alone does not tell: some change it on every chunk."""
    if not isinstance(delta, MessageStart) or delta.choice != state._choice:
        return False
    if delta.id is None or state._id is None or delta.id == state._id:
        return False
    return state._finish is not None or state._has_blocks


# ---- one function for each kind of delta -------------------------------------------------------------


def _start(state: MessageState, delta: MessageStart) -> MessageState:
    notes = state._notes
    if starts_another(state, delta):
        if state._finish is None:
            return fail(state, MessageError(Fault.INTERRUPTED))
        state = state._fork()
        state._notes = notes.noticed([Quirk.SECOND_MESSAGE])
        state._is_followed = True
        return state
    if delta.id is not None and state._id is not None and delta.id != state._id:
        notes = notes.noticed([Quirk.MESSAGE_ID_CHANGED])
    role, named, model = state._role or delta.role, state._id or delta.id, state._model or delta.model
    is_known = role == state._role and named == state._id and model == state._model
    if is_known and notes is state._notes and not state._is_followed:
        return state
    state = state._fork()
    state._role, state._id, state._model, state._notes, state._is_followed = role, named, model, notes, False
    return state


def _words(state: MessageState, delta: Words) -> MessageState:
    if isinstance(delta, TextDelta):
        words = state._content
    elif isinstance(delta, ReasoningDelta):
        words = state._reasoning
    else:
        words = state._refusal
    if not delta.text:
        return state
    said, added = words.say(delta.block, delta.text, delta.is_whole)
    if said is words:
        return state
    state = state._fork()
    state._has_blocks = state._has_blocks or delta.block != ()
    quirks: list[Quirk] = []
    if added is None:
        quirks.append(Quirk.TEXT_REPLACED if delta.is_whole else Quirk.TEXT_INTERLEAVED)
    if isinstance(delta, TextDelta):
        state._content = said
        _read_answer(state, added, quirks)
    elif isinstance(delta, ReasoningDelta):
        state._reasoning = said
    else:
        state._refusal = said
    if quirks:
        state._notes = state._notes.noticed(of_content(quirks))
    return state


def _read_answer(state: MessageState, added: str | None, quirks: list[Quirk]) -> None:
    """Read what the content of a new state has at its end more than before; None where that is not all that is new."""
    answer = state._answer
    if added is None:
        state._is_answer_stale = True  # to read all of it again each time takes too long; the end of the message does
    elif answer is not None and not state._is_answer_stale and not state._config.emulate_structured_output:
        state._answer = answer = answer.feed(added, quirks)
        state._content_error = answer.error(None, state._content_error)


def _tool_call(state: MessageState, delta: ToolCallDelta) -> MessageState:
    if delta.id is None and delta.name is None and not delta.arguments and not delta.is_done:
        return state
    quirks: list[Quirk] = []
    config, calls = state._config, state._calls
    index, named = clean_index(delta.index, quirks), clean_id(delta.id, quirks)
    number = find(state._roll, calls, delta, index, named, quirks)
    if number == NOBODY:
        return state
    if number == NEW:
        number = len(calls)
        before = begin_call(config)
    else:
        before = calls[number]
    call = tell(before, delta, config, named, quirks)
    known = before._arguments.text.length
    is_written = call._arguments.text.length != known
    if is_written and known > 0 and state._roll.written != number:
        quirks.append(Quirk.CALLS_INTERLEAVED)
    roll = state._roll.saw(number, index, named, is_written)
    call = settle(call, is_over(state), quirks)
    notes = state._notes.noticed(quirks, number) if quirks else state._notes
    if call is before and roll is state._roll and notes is state._notes:
        return state
    state = put_call(state, number, call, notes)
    state._roll = roll
    state._has_blocks = state._has_blocks or delta.counts_blocks
    return state


def _block_end(state: MessageState, delta: BlockEnd) -> MessageState:
    quirks: list[Quirk] = []
    index = clean_index(delta.index, [])
    number = NOBODY if index is None else state._roll.indexes.get(index, NOBODY)
    if number == NOBODY:
        return state
    before = state._calls[number]
    call = settle(end_block(before), is_over(state), quirks)
    return state if call is before else put_call(state, number, call, state._notes.noticed(quirks, number))


def _usage(state: MessageState, delta: Usage) -> MessageState:
    usage = delta.over(state._usage)
    if usage == (state._usage or Usage()):
        return state
    state = state._fork()
    state._usage = usage
    return state


def _finish(state: MessageState, delta: Finish) -> MessageState:
    if delta == state._finish:
        return state
    state = state._fork()
    state._finish = delta
    state._failure = MessageError(Fault.GENERATION, code=delta.raw) if delta.reason == "error" else None
    over = is_over(state)
    return each_call(state, lambda call, quirks: settle(call, over, quirks))


def _provider_error(state: MessageState, delta: ProviderError) -> MessageState:
    return fail(state, MessageError(Fault.PROVIDER, code=delta.code, detail=delta.message))


def _ignored(state: MessageState, delta: Ignored) -> MessageState:
    if delta.is_known:
        return state
    state = state._fork()
    state._notes = state._notes.counted(delta.kind)
    return state


REDUCERS: Final[dict[type[Delta], Callable[[MessageState, Any], MessageState]]] = {
    MessageStart: _start,
    BlockEnd: _block_end,
    Usage: _usage,
    Finish: _finish,
    ProviderError: _provider_error,
    Ignored: _ignored,
}
