"""How a message ends: what is complete by then, and what is wrong with the rest.

What counts as complete is never taken back. What was cut off, by a limit of length, a filter, a refusal or a broken
stream, is never complete, even if its text happens to be closed: nobody has said that it was meant to end there.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ._calls import ENDED, HIDDEN, conclude, shown_at
from ._config import OUTPUT
from ._faults import Fault, MessageError
from ._quirks import Quirk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._calls import ToolCall
    from ._quirks import Notes
    from ._state import MessageState

__all__ = ["CUTTING", "each_call", "ended", "is_over", "of_content", "put_call"]

CUTTING: Final = frozenset({"length", "content_filter", "refusal", "error"})
"""The reasons to finish after which nothing becomes complete any more."""


def is_over(state: MessageState) -> bool:
    """It was said why the model stopped, and that is no reason to think that something is missing."""
    finish = state._finish
    return finish is not None and finish.reason not in CUTTING


def ended(state: MessageState, failure: MessageError | None) -> MessageState:
    """The state at the end of the message, which may have come because of a failure."""
    cut_off = _cut_off(state, failure)
    if failure is None and state.finish_reason is None and cut_off is not None:
        failure = MessageError(Fault.UNFINISHED)
    state = state._fork()
    state._is_finished = True
    state._failure = failure or state._failure
    config = state._config
    state = each_call(state, lambda call, quirks: conclude(call, cut_off, config, quirks))
    state = state._fork()
    _end_answer(state, cut_off)
    if _is_contradicted(state):
        state._notes = state._notes.noticed([Quirk.FINISH_CONTRADICTS])
    return state


def _cut_off(state: MessageState, failure: MessageError | None) -> Fault | None:
    """Why what is not complete by now never will be; None if that is for its text to tell."""
    is_lost = state.finish_reason is None and state._config.requires_finish
    return Fault.TRUNCATED if failure is not None or is_lost or state.finish_reason in CUTTING else None


def _is_contradicted(state: MessageState) -> bool:
    """The finish reason does not go with the calls. Formats in which every call says that it is whole mean it so."""
    called = [call for call in state._calls if call.kind != "server"]
    if state.finish_reason == "tool_calls":
        return not called
    is_told = [call._ended == ENDED or call._arguments.leaves is not None for call in called]
    return state.finish_reason == "stop" and not all(is_told)


def _end_answer(state: MessageState, cut_off: Fault | None) -> None:
    """Close the structured output of a new state."""
    config, quirks = state._config, list[Quirk]()
    blank = config.answer
    if blank is None:
        return
    is_elsewhere = any(call.kind != "server" for call in state.tool_calls) or bool(state._refusal)
    missing = None if is_elsewhere else MessageError(cut_off or Fault.NO_ANSWER)
    if config.emulate_structured_output:
        output = state._output
        state._content_error = missing if output is None else output.error
        return
    content = state.content
    answer = blank.feed(content, quirks) if state._is_answer_stale or state._answer is None else state._answer
    answer = answer.end(quirks)
    error = answer.error(None, state._content_error)
    if error is None and not content.strip():
        error = missing
    elif error is None and (cut_off is not None or not answer.is_valid):
        error = answer.cut_off(cut_off or Fault.INCOMPLETE, None)
    state._answer, state._is_answer_stale, state._content_error = answer, False, error
    state._notes = state._notes.noticed(of_content(quirks))


def of_content(quirks: list[Quirk]) -> list[Quirk]:
    """The quirks of a document that is the content: the same value once more is extra text there, like any other."""
    return [Quirk.EXTRA_TEXT if quirk is Quirk.ARGUMENTS_REPEATED else quirk for quirk in quirks]


def each_call(state: MessageState, change: Callable[[ToolCall, list[Quirk]], ToolCall]) -> MessageState:
    """The state with every call changed like this."""
    for number, call in enumerate(state._calls):
        quirks: list[Quirk] = []
        changed = change(call, quirks)
        if changed is not call or quirks:
            state = put_call(state, number, changed, state._notes.noticed(quirks, number))
    return state


def put_call(state: MessageState, number: int, call: ToolCall, notes: Notes) -> MessageState:
    """A state with this as the call with this number.

    Where structured output is emulated, a call is shown once it has a name that is not that of the output.
    """
    calls, shown = state._calls, state._tool_calls
    is_none_hidden = shown is calls  # as long as that is so, one tuple is enough
    if call.index == HIDDEN:
        if not state._config.emulate_structured_output or _is_to_be_shown(call, state):
            call = shown_at(call, len(shown))
            shown = (*shown, call)
        elif call.name == OUTPUT and state._output is not None and (number == len(calls) or not calls[number].name):
            notes = notes.noticed([Quirk.OUTPUT_REPEATED])
    elif call is not shown[call.index]:
        shown = _with(shown, call.index, call)
    if is_none_hidden and call.index != HIDDEN:
        calls = shown
    elif number == len(calls):
        calls = (*calls, call)
    elif call is not calls[number]:
        calls = _with(calls, number, call)
    state = state._fork()
    state._calls = calls
    state._tool_calls = shown
    state._notes = notes
    return state


def _with(calls: tuple[ToolCall, ...], at: int, call: ToolCall) -> tuple[ToolCall, ...]:
    """The calls with this one in the place of another."""
    if len(calls) == 1:
        return (call,)  # nearly always, and for every piece of its arguments
    return (*calls[:at], call, *calls[at + 1 :])


def _is_to_be_shown(call: ToolCall, state: MessageState) -> bool:
    return call.name != OUTPUT and (call.name is not None or state._is_finished)
