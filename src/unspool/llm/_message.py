"""A message while a model writes it: ``(state, delta) -> state``.

A `MessageState` is immutable, and so is every value that it shows. Objects that a delta does not touch are the same in
the next state. No input from a provider raises an exception: `diagnostics` lists oddities and `error` holds the first
error. The error is known at once, so that a caller can stop early; it counts as a failure only at the end.

>>> from unspool.llm import Finish, TextDelta
>>> state = reduce(start(), TextDelta("Hel"))
>>> later = reduce(reduce(state, TextDelta("lo")), Finish("stop"))
>>> state.content, later.content, finish(later).is_complete
('Hel', 'Hello', True)

Only this module touches the fields of a state. `_changes` and `_dump` get them from `texts_of`, `new_diagnostics` and
`MessageFields`.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, final

from .._errors import OptionsError
from .._missing import MISSING
from .._native import mypyc_attr
from ._calls import (
    DONE,
    HIDDEN,
    NEW_CALL,
    NO_CALL,
    CallDirectory,
    apply_delta,
    arguments_in,
    begin_call,
    clean_id,
    clean_index,
    conclude,
    done_of,
    end_block,
    find_call,
    settle,
    shown_at,
)
from ._config import OUTPUT, Config
from ._deltas import (
    BlockEnd,
    BlockTextDelta,
    Delta,
    Finish,
    Ignored,
    MessageStart,
    ProviderError,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from ._diagnostics import Diagnostic, Fault, MessageError, Notes, Quirk
from ._dump import MessageFields, dump, load
from ._texts import NO_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._calls import ToolCall
    from ._deltas import FinishReason
    from ._texts import BlockTexts, JSONDocument

__all__ = [
    "MessageState",
    "fail",
    "finish",
    "new_diagnostics",
    "reduce",
    "reduce_chunk",
    "start",
    "starts_another",
    "texts_of",
]

CUTTING: Final = frozenset({"length", "content_filter", "refusal", "error"})
"""The finish reasons after which open values stay incomplete."""


# ---- the state ---------------------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class MessageState:
    """The known part of a message. `start` makes the first state, `reduce` the next, `finish` the last.

    A state never changes. Texts, calls and values that a delta does not touch are the same objects in the next state.
    """

    __slots__ = (
        "_answer",
        "_calls",
        "_choice",
        "_config",
        "_content",
        "_content_error",
        "_directory",
        "_failure",
        "_finish",
        "_has_blocks",
        "_id",
        "_is_answer_stale",
        "_is_finished",
        "_is_followed",
        "_model",
        "_notes",
        "_reasoning",
        "_refusal",
        "_role",
        "_tool_calls",
        "_usage",
    )

    _config: Config
    _choice: int
    _role: str | None
    _id: str | None
    _model: str | None
    _content: BlockTexts
    _reasoning: BlockTexts
    _refusal: BlockTexts
    _answer: JSONDocument | None  # the content read as structured output; unused if that is emulated
    _is_answer_stale: bool  # the content has changed elsewhere than at its end
    _content_error: MessageError | None
    _calls: tuple[ToolCall, ...]  # in the order of appearance, hidden calls included
    _tool_calls: tuple[ToolCall, ...]
    _directory: CallDirectory
    _has_blocks: bool  # the format numbers the parts of a message
    _finish: Finish | None
    _usage: Usage | None
    _failure: MessageError | None
    _notes: Notes
    _is_finished: bool
    _is_followed: bool  # another message follows this one, so that the next deltas may belong to that

    def __init__(self, config: Config, before: MessageState | None = None) -> None:
        """Make the state before the first delta, or a copy of `before`."""
        self._config = config
        if before is not None:  # every delta makes a copy, so no field is set twice
            self._choice = before._choice
            self._role = before._role
            self._id = before._id
            self._model = before._model
            self._content = before._content
            self._reasoning = before._reasoning
            self._refusal = before._refusal
            self._answer = before._answer
            self._is_answer_stale = before._is_answer_stale
            self._content_error = before._content_error
            self._calls = before._calls
            self._tool_calls = before._tool_calls
            self._directory = before._directory
            self._has_blocks = before._has_blocks
            self._finish = before._finish
            self._usage = before._usage
            self._failure = before._failure
            self._notes = before._notes
            self._is_finished = before._is_finished
            self._is_followed = before._is_followed
            return
        self._choice = config.choice
        self._role = None
        self._id = None
        self._model = None
        self._content = NO_BLOCKS
        self._reasoning = NO_BLOCKS
        self._refusal = NO_BLOCKS
        self._answer = config.answer
        self._is_answer_stale = False
        self._content_error = None
        self._calls = ()
        self._tool_calls = ()
        self._directory = CallDirectory()
        self._has_blocks = False
        self._finish = None
        self._usage = None
        self._failure = None
        self._notes = Notes()
        self._is_finished = False
        self._is_followed = False

    def _fork(self) -> MessageState:
        """Return a copy, to be changed before a caller sees it."""
        return MessageState(self._config, self)

    @property
    def config(self) -> Config:
        """The config that the message started with."""
        return self._config

    @property
    def choice(self) -> int:
        """The number of the choice that the message is, where a source has several; 0 otherwise."""
        return self._choice

    @property
    def role(self) -> str | None:
        """The role of the author; None if the stream has not named it."""
        return self._role

    @property
    def id(self) -> str | None:
        """The provider's id of the message."""
        return self._id

    @property
    def model(self) -> str | None:
        """The name of the model."""
        return self._model

    @property
    def content(self) -> str:
        """The text of the answer so far, as it arrived."""
        return str(self._content)

    @property
    def content_value(self) -> Any:
        """The structured output so far, of the requested type; `MISSING` while there is none."""
        if self._config.emulate_structured_output:
            output = self._output
            return MISSING if output is None else output.value
        return MISSING if self._answer is None else self._answer.value

    @property
    def content_error(self) -> MessageError | None:
        """The error of the structured output. It is not an error of the message if the message calls tools."""
        output = self._output
        return output.error if output is not None and self._content_error is None else self._content_error

    @property
    def is_content_complete(self) -> bool:
        """The structured output is whole and valid, and was not cut off. Only the end of the message decides that."""
        if not self._is_finished or self._config.answer is None or self.content_error is not None:
            return False
        return self._output is not None if self._config.emulate_structured_output else bool(self.content.strip())

    @property
    def reasoning(self) -> str:
        """The reasoning of the model, or its summary."""
        return str(self._reasoning)

    @property
    def refusal(self) -> str:
        """The text in which the model declined to answer."""
        return str(self._refusal)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in the order of appearance."""
        return self._tool_calls

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the model stopped, in terms common to all providers; None before that."""
        return None if self._finish is None else self._finish.reason

    @property
    def raw_finish_reason(self) -> str | None:
        """Why the model stopped, in the provider's own word."""
        return None if self._finish is None else self._finish.raw

    @property
    def usage(self) -> Usage | None:
        """The tokens counted so far."""
        return self._usage

    @property
    def errors(self) -> tuple[MessageError, ...]:
        """All errors: of the message, then of its structured output, then of its calls."""
        is_optional = self._is_calling and not self._config.emulate_structured_output
        found = [self._failure, None if is_optional else self.content_error]
        found += [call.error for call in self._tool_calls]
        return tuple([error for error in found if error is not None])

    @property
    def error(self) -> MessageError | None:
        """The first error, as soon as there is one. Before the end it is a reason to stop, not a failure."""
        errors = self.errors
        return errors[0] if errors else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The oddities of the stream that did not prevent reading it."""
        found: list[Diagnostic] = []
        for (code, number, detail), count in self._notes.counts.items():
            index = HIDDEN if number is None else self._calls[number].index
            found.append(Diagnostic(code, None if index == HIDDEN else index, detail, count))
        return tuple(found)

    @property
    def is_finished(self) -> bool:
        """The message has ended, successfully or not: later deltas are ignored."""
        return self._is_finished

    @property
    def is_complete(self) -> bool:
        """The message has ended without an error, and nothing was cut off."""
        return self._is_finished and self.error is None and self.finish_reason not in CUTTING

    def as_message(self) -> dict[str, Any]:
        """Return the assistant's message for the next request, in OpenAI's shape, with the strings as they arrived.

        Calls that the provider has run itself are left out. A call without an id gets one made from its index.
        """
        sent = [call for call in self._tool_calls if call.kind != "server" and call.name is not None]
        ids = {call.id for call in sent}
        calls = [_as_message(call, ids) for call in sent]
        output = self._output
        said = [text for text in (self.content, "" if output is None else output.arguments) if text]
        content: object = "".join(said) if said or not (calls or self._refusal) else None
        if len(said) > 1:
            content = [{"type": "text", "text": text} for text in said]
        message: dict[str, object] = {"role": "assistant", "content": content}
        if self._refusal:
            message["refusal"] = self.refusal
        if calls:
            message["tool_calls"] = calls
        return message

    def dump(self) -> dict[str, Any]:
        """Return the state as plain JSON data, which does not depend on how the deltas were cut.

        The dump does not contain the types of the config.
        """
        fields = MessageFields(
            role=self._role,
            id=self._id,
            model=self._model,
            content=self._content,
            reasoning=self._reasoning,
            refusal=self._refusal,
            answer=self._answer,
            is_answer_stale=self._is_answer_stale,
            calls=self._calls,
            directory=self._directory,
            has_blocks=self._has_blocks,
            finish=self._finish,
            usage=self._usage,
            failure=self._failure,
            notes=self._notes,
            is_finished=self._is_finished,
            is_followed=self._is_followed,
        )
        return dump(fields, self._config)

    @staticmethod
    def load(data: object, config: Config | None = None) -> MessageState:
        """Return the state of a dump, from this or another process, with the config that the message started with.

        Raise `StateError` if the data is not a dump, or the dump of a state with another config.
        """
        config = Config() if config is None else config
        fields = load(data, config)
        state = MessageState(config)
        state._role, state._id, state._model = fields.role, fields.id, fields.model
        state._content, state._reasoning, state._refusal = fields.content, fields.reasoning, fields.refusal
        state._answer, state._is_answer_stale = fields.answer, fields.is_answer_stale
        if state._answer is not None and not config.emulate_structured_output:
            state._content_error = state._answer.error(None, None)
        state._calls = fields.calls
        state._tool_calls = tuple(sorted([call for call in fields.calls if call.index != HIDDEN], key=_index_of))
        state._directory, state._has_blocks = fields.directory, fields.has_blocks
        state._finish, state._usage, state._failure = fields.finish, fields.usage, fields.failure
        state._notes, state._is_followed = fields.notes, fields.is_followed
        if fields.is_finished:
            state = _end_message(state, state._failure)
            state._notes = fields.notes  # the dump has the notes of the end already
        return state

    def __copy__(self) -> MessageState:
        return self

    def __deepcopy__(self, memo: object) -> MessageState:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a message state cannot be pickled, because its config may hold types; use dump() and load()")

    def __repr__(self) -> str:
        state = "failed" if self.error is not None else "complete" if self.is_complete else "open"
        return f"MessageState({state}, {len(self.content)} characters, {len(self._tool_calls)} calls)"

    @property
    def _is_calling(self) -> bool:
        """There are calls for the application, so the content need not be the answer."""
        return any(call.kind != "server" for call in self._tool_calls)

    @property
    def _output(self) -> ToolCall | None:
        """The call that is the structured output."""
        for call in self._calls:
            if call.index == HIDDEN and call.name == OUTPUT:
                return call
        return None


def _index_of(call: ToolCall) -> int:
    return call.index


def _as_message(call: ToolCall, taken: set[str | None]) -> dict[str, object]:
    made = f"call_{call.index}"
    while made in taken:
        made += "_"
    message: dict[str, object] = {"id": call.id or made}
    if call.kind == "custom":
        return {**message, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    arguments = call.arguments if call.arguments.strip() else "{}"
    return {**message, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def texts_of(state: MessageState) -> tuple[BlockTexts, BlockTexts, BlockTexts]:
    """Return the texts of reasoning, content and refusal."""
    return state._reasoning, state._content, state._refusal


def new_diagnostics(before: MessageState, after: MessageState) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that `after` has and `before`, an earlier state of the same message, has not."""
    return () if after._notes is before._notes else after.diagnostics[len(before.diagnostics) :]


# ---- from state to state -----------------------------------------------------------------------------


def start(config: Config | None = None) -> MessageState:
    """Return the state before the first delta."""
    if config is None:
        return MessageState(Config())
    if not isinstance(cast("object", config), Config):
        raise OptionsError(f"config must be a Config or None, not {type(config).__name__}")
    return MessageState(config)


def reduce(state: MessageState, delta: Delta) -> MessageState:
    """Return the state after one more delta: the same state if the delta has no news, or after the end."""
    if isinstance(delta, ToolCallDelta):  # nearly all deltas are of these two kinds
        return _tool_call(state, delta) if _is_read(state, delta.choice) else state
    if isinstance(delta, BlockTextDelta):
        return _block_text(state, delta) if _is_read(state, delta.choice) else state
    if not isinstance(cast("object", delta), Delta):
        raise TypeError(f"a Delta is expected, not {type(delta).__name__}")
    reducer = REDUCERS.get(type(delta))
    if reducer is None or state._is_finished or getattr(delta, "choice", state._choice) != state._choice:
        return state
    return state if state._is_followed and not isinstance(delta, MessageStart) else reducer(state, delta)


def _is_read(state: MessageState, choice: int) -> bool:
    """Tell whether deltas of this choice belong to the message, and it has not ended."""
    return not state._is_finished and not state._is_followed and choice == state._choice


def reduce_chunk(state: MessageState, deltas: Iterable[Delta]) -> MessageState:
    """Return the state after all deltas of one chunk. Unlike `reduce`, it notices an index that occurs twice."""
    if isinstance(deltas, list) and len(deltas) == 1:
        return reduce(state, deltas[0])
    seen: set[int] = set()
    for delta in deltas:
        before, state = state, reduce(state, delta)
        if state is not before and isinstance(delta, ToolCallDelta):
            index = clean_index(delta.index, [])
            if index in seen and not delta.counts_blocks:
                notes = state._notes.with_quirks([Quirk.INDEX_TWICE], state._directory.last)
                state = state._fork()
                state._notes = notes
            if index is not None:
                seen.add(index)
    return state


def finish(state: MessageState) -> MessageState:
    """Return the state at the end of the stream, where every incomplete part has an error. Pure and repeatable."""
    return state if state._is_finished else _end_message(state, None)


def fail(state: MessageState, error: MessageError) -> MessageState:
    """Return the state after a failure that ends the message at once: finished, with this error."""
    return state if state._is_finished else _end_message(state, error)


def starts_another(state: MessageState, delta: Delta) -> bool:
    """Tell whether the delta starts another message. An id alone does not: some providers change it on every chunk."""
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
        state._notes = notes.with_quirks([Quirk.SECOND_MESSAGE])
        state._is_followed = True
        return state
    if delta.id is not None and state._id is not None and delta.id != state._id:
        notes = notes.with_quirks([Quirk.MESSAGE_ID_CHANGED])
    role, message_id, model = state._role or delta.role, state._id or delta.id, state._model or delta.model
    is_known = role == state._role and message_id == state._id and model == state._model
    if is_known and notes is state._notes and not state._is_followed:
        return state
    state = state._fork()
    state._role, state._id, state._model = role, message_id, model
    state._notes, state._is_followed = notes, False
    return state


def _block_text(state: MessageState, delta: BlockTextDelta) -> MessageState:
    if isinstance(delta, TextDelta):
        texts = state._content
    elif isinstance(delta, ReasoningDelta):
        texts = state._reasoning
    else:
        texts = state._refusal
    if not delta.text:
        return state
    longer, added = texts.add(delta.block, delta.text, delta.is_whole)
    if longer is texts:
        return state
    state = state._fork()
    state._has_blocks = state._has_blocks or delta.block != ()
    quirks: list[Quirk] = []
    if added is None:
        quirks.append(Quirk.TEXT_REPLACED if delta.is_whole else Quirk.TEXT_INTERLEAVED)
    if isinstance(delta, TextDelta):
        state._content = longer
        _read_answer(state, added, quirks)
    elif isinstance(delta, ReasoningDelta):
        state._reasoning = longer
    else:
        state._refusal = longer
    if quirks:
        state._notes = state._notes.with_quirks(_content_quirks(quirks))
    return state


def _read_answer(state: MessageState, added: str | None, quirks: list[Quirk]) -> None:
    """Read the text added at the end of the content of a new state; None if the content changed elsewhere."""
    answer = state._answer
    if added is None:
        state._is_answer_stale = True  # the end of the message reads it again; doing so each time would be quadratic
    elif answer is not None and not state._is_answer_stale and not state._config.emulate_structured_output:
        state._answer = answer = answer.feed(added, quirks)
        state._content_error = answer.error(None, state._content_error)


def _content_quirks(quirks: list[Quirk]) -> list[Quirk]:
    """Return the quirks of a document that is the content, where the same value again is just extra text."""
    return [Quirk.EXTRA_TEXT if quirk is Quirk.ARGUMENTS_REPEATED else quirk for quirk in quirks]


def _tool_call(state: MessageState, delta: ToolCallDelta) -> MessageState:
    if delta.id is None and delta.name is None and not delta.arguments and not delta.is_done:
        return state
    quirks: list[Quirk] = []
    config, calls, directory = state._config, state._calls, state._directory
    index, call_id = clean_index(delta.index, quirks), clean_id(delta.id, quirks)
    number = find_call(directory, calls, delta, index, call_id, quirks)
    if number == NO_CALL:
        return state
    if number == NEW_CALL:
        number = len(calls)
        before = begin_call(config)
    else:
        before = calls[number]
    call = apply_delta(before, delta, config, call_id, quirks)
    known = arguments_in(before).text.length
    is_written = arguments_in(call).text.length != known
    if is_written and known > 0 and directory.written != number:
        quirks.append(Quirk.CALLS_INTERLEAVED)
    directory = directory.after_delta(number, index, call_id, is_written)
    call = settle(call, _has_stopped(state), quirks)
    notes = state._notes.with_quirks(quirks, number) if quirks else state._notes
    if call is before and directory is state._directory and notes is state._notes:
        return state
    state = _put_call(state, number, call, notes)
    state._directory = directory
    state._has_blocks = state._has_blocks or delta.counts_blocks
    return state


def _block_end(state: MessageState, delta: BlockEnd) -> MessageState:
    quirks: list[Quirk] = []
    index = clean_index(delta.index, [])
    number = NO_CALL if index is None else state._directory.indexes.get(index, NO_CALL)
    if number == NO_CALL:
        return state
    before = state._calls[number]
    call = settle(end_block(before), _has_stopped(state), quirks)
    return state if call is before else _put_call(state, number, call, state._notes.with_quirks(quirks, number))


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
    has_stopped = _has_stopped(state)
    return _change_calls(state, lambda call, quirks: settle(call, has_stopped, quirks))


def _provider_error(state: MessageState, delta: ProviderError) -> MessageState:
    return fail(state, MessageError(Fault.PROVIDER, code=delta.code, detail=delta.message))


def _ignored(state: MessageState, delta: Ignored) -> MessageState:
    if delta.is_known:
        return state
    state = state._fork()
    state._notes = state._notes.with_unknown(delta.kind)
    return state


REDUCERS: Final[dict[type[Delta], Callable[[MessageState, Any], MessageState]]] = {
    MessageStart: _start,
    BlockEnd: _block_end,
    Usage: _usage,
    Finish: _finish,
    ProviderError: _provider_error,
    Ignored: _ignored,
}


# ---- calls -------------------------------------------------------------------------------------------


def _has_stopped(state: MessageState) -> bool:
    """Tell whether the model stopped for a reason that cuts nothing off."""
    finish = state._finish
    return finish is not None and finish.reason not in CUTTING


def _change_calls(state: MessageState, change: Callable[[ToolCall, list[Quirk]], ToolCall]) -> MessageState:
    """Return the state with every call changed."""
    for number, call in enumerate(state._calls):
        quirks: list[Quirk] = []
        changed = change(call, quirks)
        if changed is not call or quirks:
            state = _put_call(state, number, changed, state._notes.with_quirks(quirks, number))
    return state


def _put_call(state: MessageState, number: int, call: ToolCall, notes: Notes) -> MessageState:
    """Return a new state with this call under this number.

    If structured output is emulated, a call is shown once it has a name other than that of the output.
    """
    calls, shown = state._calls, state._tool_calls
    is_none_hidden = shown is calls  # one tuple is enough while no call is hidden
    if call.index == HIDDEN:
        if not state._config.emulate_structured_output or _is_to_be_shown(call, state):
            call = shown_at(call, len(shown))
            shown = (*shown, call)
        elif call.name == OUTPUT and state._output is not None and (number == len(calls) or not calls[number].name):
            notes = notes.with_quirks([Quirk.OUTPUT_REPEATED])
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
    """Return the calls with one of them replaced."""
    if len(calls) == 1:
        return (call,)  # nearly always, and for every piece of the arguments
    return (*calls[:at], call, *calls[at + 1 :])


def _is_to_be_shown(call: ToolCall, state: MessageState) -> bool:
    return call.name != OUTPUT and (call.name is not None or state._is_finished)


# ---- the end -----------------------------------------------------------------------------------------
#
# Complete parts stay complete. A limit of length, a filter, a refusal and a broken stream cut the message off: open
# parts never become complete after that, even if their text happens to be closed, because it may have gone on.


def _end_message(state: MessageState, failure: MessageError | None) -> MessageState:
    """Return the state at the end of the message, which a failure may have caused."""
    cut_off = _cut_off(state, failure)
    if failure is None and state.finish_reason is None and cut_off is not None:
        failure = MessageError(Fault.UNFINISHED)
    state = state._fork()
    state._is_finished = True
    state._failure = failure or state._failure
    config = state._config
    state = _change_calls(state, lambda call, quirks: conclude(call, cut_off, config, quirks))
    state = state._fork()
    _end_answer(state, cut_off)
    if _is_contradicted(state):
        state._notes = state._notes.with_quirks([Quirk.FINISH_CONTRADICTS])
    return state


def _cut_off(state: MessageState, failure: MessageError | None) -> Fault | None:
    """Return why open parts cannot become complete any more; None if their text decides."""
    is_lost = state.finish_reason is None and state._config.requires_finish
    return Fault.TRUNCATED if failure is not None or is_lost or state.finish_reason in CUTTING else None


def _is_contradicted(state: MessageState) -> bool:
    """Tell whether the finish reason contradicts the calls.

    "stop" is normal in formats in which every call declares itself whole.
    """
    called = [call for call in state._calls if call.kind != "server"]
    if state.finish_reason == "tool_calls":
        return not called
    is_declared = [done_of(call) == DONE or arguments_in(call).leaves is not None for call in called]
    return state.finish_reason == "stop" and not all(is_declared)


def _end_answer(state: MessageState, cut_off: Fault | None) -> None:
    """Close the structured output of a new state."""
    config, quirks = state._config, list[Quirk]()
    blank = config.answer
    if blank is None:
        return
    is_elsewhere = state._is_calling or bool(state._refusal)
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
    state._notes = state._notes.with_quirks(_content_quirks(quirks))
