"""A message while a model writes it: ``(state, delta) -> state``.

A message is an ordered tuple of parts; its texts and calls are folds over them. A `MessageState` is immutable, and so
is every value that it shows. Objects that a delta does not touch are the same in the next state. No input from a
provider raises an exception: `diagnostics` lists oddities and `error` holds the first error. The error is known as soon
as it is certain, so that a caller can stop early; it counts as a failure only at the end.

>>> from unspool.llm import Finish, TextDelta
>>> state = reduce(start(), TextDelta("Hel"))
>>> later = reduce(reduce(state, TextDelta("lo")), Finish("stop"))
>>> state.content, later.content, finish(later).is_complete
('Hel', 'Hello', True)

Only this module touches the fields of a state. `_changes` and `_dump` get them from `vector_of`, `new_diagnostics` and
`MessageFields`.
"""

# Compiled with mypyc.
from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, final

from .._errors import OptionsError
from .._missing import MISSING
from .._native import expect, mypyc_attr
from .._sharing import GrowingMap
from ._calls import (
    DONE,
    HIDDEN,
    NEW_CALL,
    NO_CALL,
    CallDirectory,
    ToolCall,
    apply_delta,
    arguments_in,
    begin_call,
    call_at,
    clean_id,
    clean_index,
    closed,
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
    BlockStart,
    BlockTextDelta,
    Delta,
    Finish,
    Ignored,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ProviderError,
    ReasoningDelta,
    Recount,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from ._diagnostics import Diagnostic, Fault, MessageError, Notes, Quirk, http_status
from ._dump import MessageFields, dump, load
from ._formats.registry import deltas_for
from ._parts import (
    NO_PARTS,
    SECTION_GAP,
    Citation,
    FilePart,
    OpaquePart,
    Part,
    PartVector,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    WrittenPart,
    has_text,
    merged,
    moved,
    native_in,
    text_in,
)
from ._requests.registry import writer_for
from ._requests.turn import LossError, Turn, call_results
from ._texts import NO_FOLD, NO_TEXT, TextFold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .._repairs import Repair
    from ._deltas import Block, FinishReason
    from ._requests.turn import Loss, RequestWriter
    from ._texts import JSONDocument, TextVersion

__all__ = [
    "MessageState",
    "fail",
    "finish",
    "new_diagnostics",
    "reduce",
    "reduce_chunk",
    "start",
    "starts_another",
    "vector_of",
    "with_format",
]

GOOD_ENDS: Final = frozenset({"stop", "tool_calls"})
"""The finish reasons after which open values can become complete. All others cut the message off."""

# Which reasoning goes into the next request.
REASONING: Final = ("all", "needed", "none")

NO_NUMBERS: Final = GrowingMap()
NO_NATIVE: Final[dict[str, object]] = {}
NO_PART: Final = -1
SINGLE_TEXT: Final = (None, "openai-chat", "ollama")
"""The formats in which all text of a message is one text."""
APPROVAL: Final = "mcp_approval_request"
"""The opaque part that asks the application for an approval."""
CITATIONS: Final = frozenset({"citation", "citations"})


# ---- the state ---------------------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class MessageState:
    """The known part of a message. `start` makes the first state, `reduce` the next, `finish` the last.

    A state never changes. Parts, texts and values that a delta does not touch are the same objects in the next state.
    """

    __slots__ = (
        "_answer",
        "_app_calls",
        "_blocks",
        "_choice",
        "_config",
        "_content",
        "_content_error",
        "_directory",
        "_failed",
        "_failure",
        "_finish",
        "_format",
        "_has_blocks",
        "_id",
        "_is_answer_stale",
        "_is_finished",
        "_is_followed",
        "_model",
        "_native",
        "_notes",
        "_output_at",
        "_parts",
        "_places",
        "_reasoning",
        "_refusal",
        "_repairs",
        "_role",
        "_shown",
        "_tool_calls",
        "_usage",
        "_value",
    )

    _config: Config
    _choice: int
    _format: str | None
    _role: str | None
    _id: str | None
    _model: str | None
    _native: dict[str, object]
    _parts: PartVector
    _places: GrowingMap  # the numbers of the parts by their blocks, without the calls
    _blocks: GrowingMap  # the native fields of blocks whose parts may still follow
    _content: TextFold
    _reasoning: TextFold
    _refusal: TextFold
    _answer: JSONDocument | None  # the content read as structured output; unused if that is emulated, and at the end
    _is_answer_stale: bool  # the content has changed elsewhere than at its end
    _content_error: MessageError | None
    _value: Any  # the structured output of a finished message
    _repairs: tuple[Repair, ...]  # those of the structured output of a finished message
    _directory: CallDirectory
    _shown: int  # the number of calls that are shown
    _tool_calls: tuple[ToolCall, ...] | None  # remembered when asked for
    _app_calls: int  # the number of shown calls that the application must run
    _failed: tuple[int, ...]  # the numbers of the calls with an error, in the order of the errors
    _output_at: int  # the number of the call that is the structured output
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
            self._format = before._format
            self._role = before._role
            self._id = before._id
            self._model = before._model
            self._native = before._native
            self._parts = before._parts
            self._places = before._places
            self._blocks = before._blocks
            self._content = before._content
            self._reasoning = before._reasoning
            self._refusal = before._refusal
            self._answer = before._answer
            self._is_answer_stale = before._is_answer_stale
            self._content_error = before._content_error
            self._value = before._value
            self._repairs = before._repairs
            self._directory = before._directory
            self._shown = before._shown
            self._tool_calls = before._tool_calls
            self._app_calls = before._app_calls
            self._failed = before._failed
            self._output_at = before._output_at
            self._has_blocks = before._has_blocks
            self._finish = before._finish
            self._usage = before._usage
            self._failure = before._failure
            self._notes = before._notes
            self._is_finished = before._is_finished
            self._is_followed = before._is_followed
            return
        self._choice = config.choice
        self._format = None
        self._role = None
        self._id = None
        self._model = None
        self._native = NO_NATIVE
        self._parts = NO_PARTS
        self._places = NO_NUMBERS
        self._blocks = NO_NUMBERS
        self._content = NO_FOLD
        self._reasoning = NO_FOLD
        self._refusal = NO_FOLD
        self._answer = config.answer
        self._is_answer_stale = False
        self._content_error = None
        self._value = MISSING
        self._repairs = ()
        self._directory = CallDirectory()
        self._shown = 0
        self._tool_calls = None
        self._app_calls = 0
        self._failed = ()
        self._output_at = NO_PART
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
    def format(self) -> str | None:
        """The wire format that the message came in; None if it is unknown."""
        return self._format

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
    def native(self) -> Mapping[str, Any]:
        """The provider's own fields of the message that belong to no part."""
        return MappingProxyType(dict(self._native))

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts of the message, in the order of appearance. A part that a delta does not touch stays the same."""
        return self._parts.all()

    @property
    def content(self) -> str:
        """The text of the answer so far, as it arrived: the texts of all text parts."""
        return self._joined(self._content, TextPart)

    @property
    def content_value(self) -> Any:
        """The structured output so far, of the requested type; `MISSING` while there is none."""
        if self._config.emulate_structured_output:
            output = self._output
            return MISSING if output is None else output.value
        if self._is_finished:
            return self._value
        return MISSING if self._answer is None else self._answer.value

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs of the structured output, with ``repair=...``. Each call has those of its arguments."""
        if self._config.emulate_structured_output:
            output = self._output
            return () if output is None else output.repairs
        return self._repairs if self._answer is None else self._answer.repairs

    @property
    def content_error(self) -> MessageError | None:
        """The error of the structured output. It is not an error of the message if the message calls tools.

        Before the end it is only there if nothing that follows could still be the structured output: neither a call of
        a tool, nor another block of text.
        """
        output = self._output
        if output is not None and self._content_error is None:
            return output.error
        error = self._content_error
        if error is None or self._is_finished:
            return error
        if self._config.tools or (self._has_texts and self._answer is not None and self._answer.is_prose):
            return None
        return error

    @property
    def is_content_complete(self) -> bool:
        """The structured output is whole and valid, and was not cut off. Only the end of the message decides that."""
        if not self._is_finished or self._config.answer is None or self.content_error is not None:
            return False
        return self._output is not None if self._config.emulate_structured_output else bool(self.content.strip())

    @property
    def reasoning(self) -> str:
        """The reasoning of the model, or its summary: the texts of all reasoning parts."""
        return self._joined(self._reasoning, ReasoningPart)

    @property
    def refusal(self) -> str:
        """The text in which the model declined to answer."""
        return self._joined(self._refusal, RefusalPart)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in the order of appearance."""
        calls = self._tool_calls
        if calls is None:
            shown = [part for part in self.parts if isinstance(part, ToolCall) and part.index != HIDDEN]
            calls = self._tool_calls = tuple(sorted(shown, key=_index_of))
        return calls

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of all text parts, in order."""
        return tuple([citation for part in self.parts if isinstance(part, TextPart) for citation in part.citations])

    @property
    def sources(self) -> tuple[SourcePart, ...]:
        """The sources of the answer, cited or not: each URL or id once."""
        found: dict[object, SourcePart] = {}
        for part in self.parts:
            if isinstance(part, SourcePart):
                found.setdefault(part.url or part.id or part.title, part)
            elif isinstance(part, TextPart):
                for citation in part.citations:
                    source = SourcePart(citation.url, citation.title, id=citation.source_id, native=citation.native)
                    found.setdefault(citation.url or citation.source_id or citation.title, source)
        return tuple(found.values())

    @property
    def files(self) -> tuple[FilePart, ...]:
        """The files that the model made."""
        return tuple([part for part in self.parts if isinstance(part, FilePart)])

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the model stopped, in terms common to all providers; None before that.

        It is "tool_calls" whenever the model stopped for calls that the application must run, even if the provider
        calls that a normal stop.
        """
        finish = self._finish
        if finish is None:
            return None
        return "tool_calls" if finish.reason == "stop" and self._app_calls > 0 else finish.reason

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
        is_optional = self._app_calls > 0 and not self._config.emulate_structured_output
        found = [self._failure, None if is_optional else self.content_error]
        failed = [call_at(self._parts, number) for number in self._failed]
        found += [call.error for call in sorted(failed, key=_index_of) if call.index != HIDDEN]
        return tuple([error for error in found if error is not None])

    @property
    def error(self) -> MessageError | None:
        """The first error, as soon as it is certain. Before the end it is a reason to stop, not a failure."""
        errors = self.errors
        return errors[0] if errors else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The oddities of the stream that did not prevent reading it."""
        return self._diagnostics(0)

    @property
    def is_finished(self) -> bool:
        """The message has ended, successfully or not: later deltas are ignored."""
        return self._is_finished

    @property
    def is_complete(self) -> bool:
        """The message has ended without an error, and nothing was cut off."""
        reason = self.finish_reason
        return self._is_finished and self.error is None and (reason is None or reason in GOOD_ENDS)

    # ---- the next request ----

    def as_messages(
        self,
        format: str | None = None,
        *,
        include_reasoning: str = "all",
        reasoning_as: str | None = None,
        strict: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the assistant's turn for the next request: messages, items or steps to append to the history.

        `format` is the wire format of the request; the default is the format that the message came in. In its own
        format a message goes back exactly as the provider wants it: in order, with signatures, encrypted reasoning and
        the results of the provider's own tools. In another format only neutral fields go. `lost_in` lists the rest.

        `include_reasoning` is "all", "needed" (only if the message calls tools) or "none". ``reasoning_as="text"``
        writes the reasoning into another format as ordinary text, which models tend to imitate. With `strict`, a turn
        that loses something raises `LossError`.
        """
        turn, writer = self._turn(format, include_reasoning, reasoning_as)
        written = writer.write_turn(turn)
        if strict and turn.losses:
            raise LossError(tuple(turn.losses))
        return written

    def lost_in(
        self, format: str | None = None, *, include_reasoning: str = "all", reasoning_as: str | None = None
    ) -> tuple[Loss, ...]:
        """Return everything that `as_messages` leaves out or changes in this format."""
        turn, writer = self._turn(format, include_reasoning, reasoning_as)
        writer.write_turn(turn)
        return tuple(turn.losses)

    def tool_results(self, outputs: Mapping[Any, object], format: str | None = None) -> list[dict[str, Any]]:
        """Return the results of the calls for the next request, to append after `as_messages`.

        `outputs` maps each call, its index or its id to the output of the tool: a text, or a value that is written as
        JSON. An exception as the output tells the model that the tool failed.
        """
        results = call_results(self.tool_calls, outputs)
        turn, writer = self._turn(format, "all", None)
        return writer.write_results(turn, results) if results else []

    def as_message(self) -> dict[str, Any]:
        """Return the assistant's message for the next request, in OpenAI's chat format. See `as_messages`."""
        return self.as_messages("openai-chat")[0]

    def _turn(self, format: str | None, include_reasoning: str, reasoning_as: str | None) -> tuple[Turn, RequestWriter]:
        if include_reasoning not in REASONING:
            raise OptionsError(f"include_reasoning must be {' or '.join(map(repr, REASONING))}")
        if reasoning_as not in (None, "text"):
            raise OptionsError("reasoning_as must be None or 'text'")
        written = format or self._format or "openai-chat"
        writer = writer_for(written)
        is_left_out = include_reasoning == "none" or (include_reasoning == "needed" and self._app_calls == 0)
        is_own = self._format == written
        parts: list[tuple[int, Part]] = []
        told: list[tuple[int, ReasoningPart]] = []
        for number, part in enumerate(self.parts):
            if isinstance(part, ToolCall) and part.index == HIDDEN:
                if part.name == OUTPUT:
                    parts.append((number, TextPart(part.arguments, is_complete=part.is_complete, block=(OUTPUT,))))
            elif not isinstance(part, ReasoningPart):
                parts.append((number, part))
            elif not is_left_out:
                if reasoning_as is not None and not is_own and part.text.strip():
                    told.append((number, part))
                    parts.append((number, TextPart(part.text.strip() + "\n\n", is_complete=part.is_complete)))
                else:
                    parts.append((number, part))
        if told and parts[-1][0] == told[-1][0]:  # no text follows that a blank line sets apart
            number, last = told[-1]
            parts[-1] = (number, TextPart(last.text.strip(), is_complete=last.is_complete))
        ids = _made_ids(self.tool_calls)
        reason = self.finish_reason
        turn = Turn(parts, self._format, is_own=is_own, native=self._native, ids=ids, finish_reason=reason)
        for number, reasoning in told:
            if reasoning.signature is not None:
                turn.lose(number, "signature", "text has no signature")
            if reasoning.encrypted is not None:
                turn.lose(number, "encrypted", "only its own provider can read encrypted reasoning")
        return turn, writer

    # ---- saving ----

    def dump(self) -> dict[str, Any]:
        """Return the state as plain JSON data, which does not depend on how the deltas were cut.

        The dump does not contain the types of the config.
        """
        fields = MessageFields(
            format=self._format,
            role=self._role,
            id=self._id,
            model=self._model,
            native=self._native,
            parts=self.parts,
            blocks=self._blocks,
            answer=None if self._is_finished else self._answer,
            is_answer_stale=self._is_answer_stale,
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
        state._format, state._role, state._id, state._model = fields.format, fields.role, fields.id, fields.model
        state._native, state._blocks = fields.native, fields.blocks
        for part in fields.parts:
            state._place(part)
        state._directory, state._has_blocks = fields.directory, fields.has_blocks
        state._is_answer_stale = fields.is_answer_stale
        if config.answer is not None and not config.emulate_structured_output:
            answer = state._read_again([]) if fields.answer is None else fields.answer
            state._answer = answer
            state._content_error = answer.error(None, None)
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
        return f"MessageState({state}, {len(self.content)} characters, {self._shown} calls)"

    # ---- inside ----

    @property
    def _has_texts(self) -> bool:
        """The format can send several texts, of which a later one may be the structured output."""
        return self._has_blocks or self._format not in SINGLE_TEXT

    @property
    def _output(self) -> ToolCall | None:
        """The call that is the structured output."""
        return None if self._output_at == NO_PART else call_at(self._parts, self._output_at)

    def _joined(self, fold: TextFold, kind: type[WrittenPart]) -> str:
        """Return the texts of all parts of one kind."""
        if fold.last == NO_PART:
            return ""
        before = fold.before
        if before is None:
            return "".join([part.text for part in self.parts if isinstance(part, kind)])
        last = str(text_in(cast("WrittenPart", self._parts.at(fold.last))))
        return last if before.length == 0 else str(before) + last

    def _diagnostics(self, start: int) -> tuple[Diagnostic, ...]:
        found: list[Diagnostic] = []
        for (code, number, detail), count in self._notes.since(start):
            index = HIDDEN if number is None else call_at(self._parts, number).index
            found.append(Diagnostic(code, None if index == HIDDEN else index, detail, count))
        return tuple(found)

    # The methods below change a new state, before a caller sees it.

    def _place(self, part: Part) -> None:
        """Add a part at the end."""
        number = self._parts.size
        self._parts = self._parts.append(part)
        if isinstance(part, ToolCall):
            self._count_call(None, part, number)
            return
        if isinstance(part, OpaquePart) and part.kind == APPROVAL:
            self._app_calls += 1
        if is_numbered(part.block):
            self._places = self._places.put(part.block, number)
            self._has_blocks = True
        if isinstance(part, WrittenPart):
            self._set_fold(part, self._next_fold(self._fold_of(part), number))

    def _fold_of(self, part: WrittenPart) -> TextFold:
        if isinstance(part, TextPart):
            return self._content
        return self._reasoning if isinstance(part, ReasoningPart) else self._refusal

    def _set_fold(self, part: WrittenPart, fold: TextFold) -> None:
        if isinstance(part, TextPart):
            self._content = fold
        elif isinstance(part, ReasoningPart):
            self._reasoning = fold
        else:
            self._refusal = fold

    def _next_fold(self, fold: TextFold, number: int) -> TextFold:
        """Return the fold after a part of its kind begins."""
        if fold.last == NO_PART or fold.before is None:
            return TextFold(fold.before, number)
        return TextFold(fold.before.add(str(text_in(cast("WrittenPart", self._parts.at(fold.last))))), number)

    def _count_call(self, before: ToolCall | None, call: ToolCall, number: int) -> None:
        """Keep the sums over the calls true."""
        self._tool_calls = None
        if call.index != HIDDEN and (before is None or before.index == HIDDEN):
            self._shown += 1
        was_for_app = before is not None and before.index != HIDDEN and before.kind != "server"
        self._app_calls += (call.index != HIDDEN and call.kind != "server") - was_for_app
        had_failed = before is not None and before.error is not None
        if call.error is not None and not had_failed:
            self._failed = (*self._failed, number)
        elif call.error is None and had_failed:
            self._failed = tuple([each for each in self._failed if each != number])
        if call.index == HIDDEN and call.name == OUTPUT and self._output_at == NO_PART:
            self._output_at = number

    def _read_again(self, quirks: list[Quirk]) -> JSONDocument:
        """Return the structured output in the texts of all parts."""
        blank = cast("JSONDocument", self._config.answer)
        answer = blank
        before: Part | None = None
        for part in self.parts:
            if isinstance(part, TextPart) and has_text(part):
                is_blank = answer.is_prose and self._has_texts and _is_another_text(before, part)
                answer = (blank if is_blank else answer).feed(part.text, quirks)
            before = part
        return answer


def _index_of(call: ToolCall) -> int:
    return call.index


def _made_ids(calls: tuple[ToolCall, ...]) -> dict[int, str]:
    """Return ids for the calls without one, by their index."""
    taken = {call.id for call in calls}
    made: dict[int, str] = {}
    for call in calls:
        if call.id is None:
            name = f"call_{call.index}"
            while name in taken:
                name += "_"
            made[call.index] = name
    return made


def vector_of(state: MessageState) -> PartVector:
    """Return all parts of the state, for the other modules of this package."""
    return state._parts


def new_diagnostics(before: MessageState, after: MessageState) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that `after` has and `before`, an earlier state of the same message, has not."""
    return () if after._notes is before._notes else after._diagnostics(before._notes.size)


# ---- from state to state -----------------------------------------------------------------------------


def start(config: Config | None = None, *, format: str | None = None) -> MessageState:
    """Return the state before the first delta. `format` is the wire format of the message, if it is known."""
    if config is not None and not isinstance(cast("object", config), Config):
        raise OptionsError(f"config must be a Config or None, not {type(config).__name__}")
    expect(format, (str, type(None)), "str or None")
    state = MessageState(Config() if config is None else config)
    return state if format is None else with_format(state, format)


def with_format(state: MessageState, format: str) -> MessageState:
    """Return the state of a message that comes in this wire format."""
    deltas_for(format)
    if state._format == format:
        return state
    state = state._fork()
    state._format = format
    return state


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
                if notes is not state._notes:
                    state = state._fork()
                    state._notes = notes
            if index is not None:
                seen.add(index)
    return state


def finish(state: MessageState) -> MessageState:
    """Return the state at the end of the stream, where every incomplete call has an error. Pure and repeatable."""
    expect(state, MessageState, "unspool.llm._message.MessageState")
    return state if state._is_finished else _end_message(state, None)


def fail(state: MessageState, error: MessageError) -> MessageState:
    """Return the state after a failure that ends the message at once: finished, with this error."""
    expect(state, MessageState, "unspool.llm._message.MessageState")
    return state if state._is_finished else _end_message(state, error)


def starts_another(state: MessageState, delta: Delta) -> bool:
    """Tell whether the delta starts another message. An id alone does not: some providers change it on every chunk."""
    if not isinstance(delta, MessageStart) or delta.choice != state._choice or delta.role is None:
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


def is_numbered(block: Block) -> bool:
    """Tell whether the block has a number of its own, so that later deltas can name it."""
    return len(block) > 1 or (len(block) == 1 and isinstance(block[0], int))


def _block_text(state: MessageState, delta: BlockTextDelta) -> MessageState:
    if not delta.text:
        return state
    block, section = delta.block, delta.block
    fold = state._content
    if isinstance(delta, ReasoningDelta):
        fold = state._reasoning
        if len(block) == 3:
            block = block[:1]
    elif not isinstance(delta, TextDelta):
        fold = state._refusal
    number = _find_text(state, fold, block)
    is_new = number == NO_PART
    part = _new_text_part(state, delta, block) if is_new else cast("WrittenPart", state._parts.at(number))
    before = text_in(part)
    if block is not section and isinstance(part, ReasoningPart):
        part = _section_added(part, section, delta.text, delta.is_whole)
    elif delta.is_whole:
        whole = before.become(delta.text)
        part = part.with_text(whole)
        if isinstance(part, ReasoningPart) and whole.origin is not before.origin:
            part = part.with_sections(whole, ())  # the places of the sections were those of the other text
    else:
        part = part.with_text(before.add(delta.text))
    after = text_in(part)
    if after is before:
        return state
    limit = state._config.max_parts
    if limit is not None and isinstance(part, ReasoningPart) and len(part.sections) > limit:
        return fail(state, MessageError(Fault.TOO_MANY_PARTS))
    return _begin_part(state, part) if is_new else _put_text(state, number, part, before)


def _find_text(state: MessageState, fold: TextFold, block: Block) -> int:
    """Return the number of the part of this kind that the block means; `NO_PART` if a new part begins."""
    last = fold.last
    if is_numbered(block):
        if last != NO_PART:
            known = state._parts.at(last)
            if known.block == block:
                return last
        found = state._places.get(block)
        if isinstance(found, int) and isinstance(state._parts.at(found), WrittenPart):
            part = cast("WrittenPart", state._parts.at(found))
            return found if state._fold_of(part) is fold else NO_PART
        return NO_PART
    if last == NO_PART or last != state._parts.size - 1:
        return NO_PART
    part = cast("WrittenPart", state._parts.at(last))
    return NO_PART if part.is_complete or part.block != block else last


def _new_text_part(state: MessageState, delta: BlockTextDelta, block: Block) -> WrittenPart:
    native = _native_of_block(state, block)
    if isinstance(delta, TextDelta):
        return TextPart(native=native, block=block)
    if isinstance(delta, ReasoningDelta):
        return ReasoningPart(native=native, block=block)
    return RefusalPart(native=native, block=block)


def _native_of_block(state: MessageState, block: Block) -> dict[str, object] | None:
    """Return the native fields that parts in this block start with."""
    return cast("dict[str, object] | None", state._blocks.get(block[:1])) if state._blocks.size > 0 else None


def _section_added(part: ReasoningPart, section: Block, text: str, is_whole: bool) -> ReasoningPart:
    """Return the reasoning with more text in one of its sections, or with another whole text there."""
    sections, known = part.sections, text_in(part)
    last = len(sections) - 1
    if last >= 0 and sections[last][0] == section:
        if not is_whole:
            return part.with_text(known.add(text))
        start = sections[last][1]
        before = known.since(start)
        if text == before:
            return part
        if text.startswith(before):
            return part.with_text(known.add(text[len(before) :]))
    elif section not in dict(sections):
        known = known.settled()
        gap = SECTION_GAP if sections or known.length > 0 else ""
        longer = known.add(gap + text)
        if not sections and known.length > 0:
            sections = ((part.block, 0),)  # text without a section came first
        return part.with_sections(longer, (*sections, (section, known.length + len(gap))))
    texts = dict(part.section_texts())
    whole = text if is_whole else texts[section] + text
    if whole == texts[section]:
        return part
    texts[section] = whole
    starts: list[tuple[Block, int]] = []
    place = 0
    for block, each in texts.items():
        starts.append((block, place))
        place += len(each) + len(SECTION_GAP)
    return part.with_sections(NO_TEXT.add(SECTION_GAP.join(texts.values())), tuple(starts))


def _begin_part(state: MessageState, part: Part) -> MessageState:
    """Return a new state with one more part at the end."""
    if _is_full(state):
        return fail(state, MessageError(Fault.TOO_MANY_PARTS))
    state = _settled_last(state)
    state = state._fork()
    _end_last(state)
    state._place(part)
    if isinstance(part, TextPart):
        quirks: list[Quirk] = []
        _read_answer(state, part, part.text, quirks, is_new=True)
        if quirks:
            state._notes = state._notes.with_quirks(_content_quirks(quirks))
    return state


def _is_full(state: MessageState) -> bool:
    limit = state._config.max_parts
    return limit is not None and state._parts.size >= limit


def _settled_text(state: MessageState, number: int) -> MessageState:
    """Return a state in which the text of a part has ended: half a surrogate pair that waited there stays alone."""
    if number < 0:
        return state
    part = state._parts.at(number)
    if not isinstance(part, WrittenPart) or part.is_complete:
        return state
    before = text_in(part)
    settled = before.settled()
    if settled is before:
        return state
    return _put_text(state, number, part.with_text(settled), before)


def _settled_last(state: MessageState) -> MessageState:
    """Return a state in which the text of the last part has ended, if another part ends it. See `_end_last`."""
    last = state._parts.size - 1
    if last < 0:
        return state
    part = state._parts.at(last)
    if is_numbered(part.block):
        return state
    return _settled_text(state, last)


def _end_last(state: MessageState) -> None:
    """End the last part of a new state if its format does not number blocks: another part begins."""
    last = state._parts.size - 1
    if last >= 0:
        part = state._parts.at(last)
        if isinstance(part, WrittenPart) and not part.is_complete and not is_numbered(part.block):
            state._parts = state._parts.put(last, part.ended())


def _put_text(state: MessageState, number: int, part: WrittenPart, before: TextVersion) -> MessageState:
    """Return a new state with another version of a part, whose text was `before`."""
    fold = state._fold_of(part)
    after = text_in(part)
    state = state._fork()
    state._parts = state._parts.put(number, part)
    if after is before:
        return state
    quirks: list[Quirk] = []
    added: str | None = None
    is_longer = before.length == 0 or after.origin is before.origin
    if not is_longer:
        quirks.append(Quirk.TEXT_REPLACED)
    elif number != fold.last:
        quirks.append(Quirk.TEXT_INTERLEAVED)
    else:
        added = after.since(before.length)
    if number != fold.last:
        state._set_fold(part, TextFold(None, fold.last))
    if isinstance(part, TextPart):
        _read_answer(state, part, added, quirks, is_new=False)
    if quirks:
        state._notes = state._notes.with_quirks(_content_quirks(quirks))
    return state


def _read_answer(state: MessageState, part: TextPart, added: str | None, quirks: list[Quirk], *, is_new: bool) -> None:
    """Read the text added at the end of the content of a new state; None if the content changed elsewhere."""
    answer = state._answer
    if answer is None or state._config.emulate_structured_output:
        return
    if added is None:
        state._is_answer_stale = True  # the end of the message reads it again; doing so each time would be quadratic
    elif added and not state._is_answer_stale:
        length = text_in(part).length
        is_first = is_new or length == len(added)
        if is_first and state._has_texts and answer.is_prose and _is_another_text(_before(state, part), part):
            answer = cast("JSONDocument", state._config.answer)  # the text before is not JSON; this one may be
        state._answer = answer = answer.feed(added, quirks)
        state._content_error = answer.error(None, state._content_error)


def _before(state: MessageState, part: Part) -> Part | None:
    """Return the part before this one, which is the last one or in a numbered block."""
    number = state._parts.size - 2
    return None if is_numbered(part.block) or number < 0 else state._parts.at(number)


def _is_another_text(before: Part | None, part: Part) -> bool:
    """Tell whether a text part is another text than the text before it: a call in between may just have come along."""
    return is_numbered(part.block) or not isinstance(before, ToolCall) or before.kind == "server"


def _content_quirks(quirks: list[Quirk]) -> list[Quirk]:
    """Return the quirks of a document that is the content, where the same value again is just extra text.

    The state has the repairs of the content.
    """
    repeated, repaired, extra = Quirk.ARGUMENTS_REPEATED, Quirk.ARGUMENTS_REPAIRED, Quirk.EXTRA_TEXT
    found: list[Quirk] = []
    for quirk in quirks:
        if quirk is repeated:
            found.append(extra)
        elif quirk is not repaired:
            found.append(quirk)
    return found


def _part_start(state: MessageState, delta: PartStart) -> MessageState:
    part = delta.part
    if isinstance(part, ToolCall):
        return state
    found = state._places.get(part.block) if is_numbered(part.block) else None
    if found is None and part.block and isinstance(part, WrittenPart) and not has_text(part):
        last = _find_part(state, part.block)  # a named block goes on: a signature may come alone
        if last != NO_PART:
            open_part = state._parts.at(last)
            if not open_part.is_complete:
                found = last
    if not isinstance(found, int):
        native = native_in(part)
        if native is None and is_numbered(part.block):
            shared = _native_of_block(state, part.block)
            part = part if shared is None else part.with_data("", None, shared)
        return _begin_part(state, part)
    known = state._parts.at(found)
    if type(known) is not type(part):
        if not isinstance(known, WrittenPart) or has_text(known):
            return _changed(state, found, known.with_data("", None, native_in(part)))
        return _replaced(state, found, part)
    if not isinstance(known, WrittenPart) or not isinstance(part, WrittenPart):
        return _changed(state, found, part.over(known))
    before = text_in(known)
    newer = cast("WrittenPart", part.over(known))
    text = text_in(part)
    newer = newer.with_text(before if text.length == 0 else before.become(str(text)))
    if text_in(newer) is before:
        return _changed(state, found, newer)
    return _put_text(state, found, newer, before)


def _changed(state: MessageState, number: int, part: Part) -> MessageState:
    """Return a state with another version of a part that has no other text: the same state if it is equal."""
    if part == state._parts.at(number):
        return state
    state = state._fork()
    state._parts = state._parts.put(number, part)
    return state


def _replaced(state: MessageState, number: int, part: Part) -> MessageState:
    """Return a state in which an empty part has become one of another kind."""
    parts = list(state.parts)
    known = parts[number]
    newer = part.with_data("", None, merged(native_in(known), native_in(part)))
    parts[number] = newer.ended() if known.is_complete and not newer.is_complete else newer
    state = state._fork()
    state._parts, state._places = NO_PARTS, NO_NUMBERS
    state._content, state._reasoning, state._refusal = NO_FOLD, NO_FOLD, NO_FOLD
    state._shown, state._app_calls, state._failed, state._output_at = 0, 0, (), NO_PART
    for each in parts:
        state._place(each)
    if isinstance(part, TextPart):
        _read_answer(state, part, part.text, [], is_new=True)
    return state


def _part_data(state: MessageState, delta: PartData) -> MessageState:
    number = _find_part(state, delta.block)
    if not delta.block and delta.name in CITATIONS:
        number = state._content.last
    if number == NO_PART:
        state = state._fork()
        state._notes = state._notes.with_unknown(delta.name or "part data")
        return state
    part = state._parts.at(number)
    if isinstance(part, TextPart) and delta.name == "citation":
        limit = state._config.max_parts
        if limit is not None and len(part.citations) >= limit:
            return fail(state, MessageError(Fault.TOO_MANY_PARTS))
    changed = part.with_data(delta.name, delta.value, delta.native)
    if isinstance(changed, ToolCall):
        return state if changed == part else _put_call(state, number, changed, state._notes)
    return _changed(state, number, changed)


def _find_part(state: MessageState, block: Block) -> int:
    """Return the number of the part in this block, which may be a call; `NO_PART` if there is none."""
    if not block:
        return state._parts.size - 1
    if not is_numbered(block):
        last = state._parts.size - 1
        if last < 0:
            return NO_PART
        part = state._parts.at(last)
        return last if part.block == block else NO_PART
    found = state._places.get(block)
    if isinstance(found, int):
        return found
    index = block[0]
    if len(block) > 1 or not isinstance(index, int):
        return NO_PART
    called = state._directory.at_index(index)
    return NO_PART if called == NO_CALL else called


def _block_start(state: MessageState, delta: BlockStart) -> MessageState:
    if state._blocks.get(delta.block) == delta.native:
        return state
    if state._config.max_parts is not None and state._blocks.size >= state._config.max_parts:
        return fail(state, MessageError(Fault.TOO_MANY_PARTS))
    state = state._fork()
    state._blocks = state._blocks.put(delta.block, delta.native)
    state._has_blocks = True
    return state


def _tool_call(state: MessageState, delta: ToolCallDelta) -> MessageState:
    has_fields = delta.id is not None or delta.name is not None or delta.native is not None
    if not has_fields and not delta.arguments and not delta.is_done and delta.signature is None:
        return state
    quirks: list[Quirk] = []
    config, parts, directory = state._config, state._parts, state._directory
    index, call_id = clean_index(delta.index, quirks), clean_id(delta.id, quirks)
    number = find_call(directory, parts, delta, index, call_id, quirks)
    if number == NO_CALL:
        return state
    if number == NEW_CALL:
        if _is_full(state):
            return fail(state, MessageError(Fault.TOO_MANY_PARTS))
        number = parts.size
        before = begin_call(config)
    else:
        before = call_at(parts, number)
    call = apply_delta(before, delta, config, index, call_id, quirks)
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
    block = delta.block
    if not block:
        index = clean_index(delta.index, [])
        if index is None:
            return state
        block = (index,)
    number = _find_part(state, block)
    if number == NO_PART:
        return state
    part = state._parts.at(number)
    if not isinstance(part, ToolCall):
        ended = part.ended()
        return _changed(_settled_text(state, number), number, ended)
    quirks: list[Quirk] = []
    call = settle(end_block(part), _has_stopped(state), quirks)
    return state if call is part else _put_call(state, number, call, state._notes.with_quirks(quirks, number))


def _recount(state: MessageState, delta: Recount) -> MessageState:
    """Give the known parts the numbers that the next deltas use for them."""
    ids: dict[int, object] = {}  # of the known blocks, by their numbers
    for part in state.parts:
        if part.block and isinstance(part.block[0], int):
            native = native_in(part)
            ids.setdefault(part.block[0], None if native is None else native.get("id"))
    for key, fields in state._blocks.items():
        first = cast("Block", key)[0]
        if isinstance(first, int):
            ids.setdefault(first, cast("dict[str, object]", fields).get("id"))
    if not ids or max(ids) < len(delta.ids):
        return state  # without gaps, numbers are places
    numbers = _places_of(ids, delta.ids)
    state = state._fork()
    parts: list[Part] = []
    places, blocks = NO_NUMBERS, NO_NUMBERS
    for number, part in enumerate(state.parts):
        block = _renumbered(part.block, numbers)
        if isinstance(part, ToolCall):
            parts.append(part if block == part.block else part.in_block(block))
            continue
        parts.append(part if block == part.block else moved(part, block))
        places = places.put(block, number) if is_numbered(block) else places
    for key, fields in state._blocks.items():
        blocks = blocks.put(_renumbered(cast("Block", key), numbers), fields)
    state._parts, state._places, state._blocks = PartVector.of(parts), places, blocks
    state._directory = state._directory.renumbered(numbers)
    state._tool_calls = None
    return state


def _places_of(known: dict[int, object], ids: tuple[str | None, ...]) -> dict[int, int]:
    """Return the places of the known blocks: by their ids, or else in order. Blocks without a place come last."""
    by_id: dict[object, int] = {named: place for place, named in enumerate(ids) if named}
    places: dict[int, int] = {}
    for number, named in known.items():
        if isinstance(named, str) and named in by_id:
            places[number] = by_id.pop(named)
    if len(places) < len(known) == len(ids):
        return dict(zip(sorted(known), range(len(ids)), strict=True))
    after = len(ids)
    for number in sorted(known):
        if number not in places:
            places[number] = after
            after += 1
    return places


def _renumbered(block: Block, numbers: dict[int, int]) -> Block:
    first = block[0] if block else None
    return (numbers[first], *block[1:]) if isinstance(first, int) and first in numbers else block


def _message_data(state: MessageState, delta: MessageData) -> MessageState:
    if delta.name in state._native and state._native[delta.name] == delta.value:
        return state
    state = state._fork()
    state._native = {**state._native, delta.name: delta.value}
    return state


def _usage(state: MessageState, delta: Usage) -> MessageState:
    usage = delta.over(state._usage)
    if usage == (state._usage or Usage()):
        return state
    state = state._fork()
    state._usage = usage
    return state


def _finish(state: MessageState, delta: Finish) -> MessageState:
    known = state._finish
    if delta == known:
        return state
    state = state._fork()
    if known is not None and known.reason not in GOOD_ENDS and delta.reason in GOOD_ENDS:
        state._notes = state._notes.with_quirks([Quirk.FINISH_CONTRADICTS])
        return state  # a message that was cut off stays so
    state._finish = delta
    state._failure = MessageError(Fault.GENERATION, code=delta.raw) if delta.reason == "error" else None
    if delta.reason == "other":
        state._notes = state._notes.with_quirks([Quirk.UNKNOWN_FINISH], detail=delta.raw or "")
    has_stopped = _has_stopped(state)
    return _change_calls(state, lambda call, quirks: settle(call, has_stopped, quirks))


def _provider_error(state: MessageState, delta: ProviderError) -> MessageState:
    status = http_status(delta.status)
    return fail(state, MessageError(Fault.PROVIDER, code=delta.code, detail=delta.message, status=status))


def _ignored(state: MessageState, delta: Ignored) -> MessageState:
    if delta.is_known:
        return state
    state = state._fork()
    state._notes = state._notes.with_unknown(delta.kind)
    return state


REDUCERS: Final[dict[type[Delta], Callable[[MessageState, Any], MessageState]]] = {
    MessageStart: _start,
    PartStart: _part_start,
    PartData: _part_data,
    BlockStart: _block_start,
    BlockEnd: _block_end,
    Recount: _recount,
    MessageData: _message_data,
    Usage: _usage,
    Finish: _finish,
    ProviderError: _provider_error,
    Ignored: _ignored,
}


# ---- calls -------------------------------------------------------------------------------------------


def _has_stopped(state: MessageState) -> bool:
    """Tell whether the model stopped for a reason that cuts nothing off."""
    finish = state._finish
    return finish is not None and finish.reason in GOOD_ENDS


def _change_calls(state: MessageState, change: Callable[[ToolCall, list[Quirk]], ToolCall]) -> MessageState:
    """Return the state with every call changed."""
    for number, part in enumerate(state.parts):
        if isinstance(part, ToolCall):
            quirks: list[Quirk] = []
            changed = change(part, quirks)
            if changed is not part or quirks:
                state = _put_call(state, number, changed, state._notes.with_quirks(quirks, number))
    return state


def _put_call(state: MessageState, number: int, call: ToolCall, notes: Notes) -> MessageState:
    """Return a new state with this call under this number.

    If structured output is emulated, a call is shown once it has a name other than that of the output.
    """
    parts = state._parts
    before = None if number == parts.size else call_at(parts, number)
    if call.index == HIDDEN:
        if not state._config.emulate_structured_output or _is_to_be_shown(call, state):
            call = shown_at(call, state._shown)
        elif call.name == OUTPUT and state._output_at != NO_PART and (before is None or not before.name):
            notes = notes.with_quirks([Quirk.OUTPUT_REPEATED])
    if before is None:
        state = _settled_last(state)
    state = state._fork()
    state._notes = notes
    if before is None:
        _end_last(state)
        state._place(call)
        return state
    state._parts = parts.put(number, call)
    if (
        call.index != before.index
        or call.kind != before.kind
        or call.name != before.name
        or call.error is not before.error
    ):
        state._count_call(before, call, number)
    else:
        state._tool_calls = None
    return state


def _is_to_be_shown(call: ToolCall, state: MessageState) -> bool:
    return call.name != OUTPUT and (call.name is not None or state._is_finished)


# ---- the end -----------------------------------------------------------------------------------------
#
# Complete parts stay complete. A limit of length, a filter, a refusal, a pause, an unknown reason and a broken stream
# cut the message off: open parts never become complete after that, even if their text happens to be closed, because it
# may have gone on.


def _end_message(state: MessageState, failure: MessageError | None) -> MessageState:
    """Return the state at the end of the message, which a failure may have caused."""
    for number in range(state._parts.size):
        state = _settled_text(state, number)
    cut_off = _cut_off(state, failure)
    if failure is None and state.finish_reason is None and cut_off is not None:
        failure = MessageError(Fault.UNFINISHED)
    state = state._fork()
    state._is_finished = True
    state._failure = failure or state._failure
    config = state._config
    state = _change_calls(state, lambda call, quirks: conclude(call, cut_off, config, quirks))
    state = state._fork()
    is_contradicted = _is_contradicted(state)
    _end_answer(state, cut_off)
    _end_parts(state, cut_off)
    if is_contradicted:
        state._notes = state._notes.with_quirks([Quirk.FINISH_CONTRADICTS])
    return state


def _end_parts(state: MessageState, cut_off: Fault | None) -> None:
    """End all parts of a new state, and drop what only reads more text."""
    options = state._config.options
    ended: list[Part] = []
    for part in state.parts:
        if isinstance(part, ToolCall):
            ended.append(closed(part, options))
        else:
            if isinstance(part, WrittenPart) and not part.is_complete:
                text = text_in(part).compacted()
                part = part if text is text_in(part) else part.with_text(text)
            ended.append(part if cut_off is not None or part.is_complete else part.ended())
    state._parts = PartVector.of(ended)
    state._tool_calls = None
    state._blocks = NO_NUMBERS


def _cut_off(state: MessageState, failure: MessageError | None) -> Fault | None:
    """Return why open parts cannot become complete any more; None if their text decides."""
    reason = None if state._finish is None else state._finish.reason
    is_cut = state._config.requires_finish if reason is None else reason not in GOOD_ENDS
    return Fault.TRUNCATED if failure is not None or is_cut else None


def _is_contradicted(state: MessageState) -> bool:
    """Tell whether the finish reason contradicts the calls.

    "stop" is normal in formats in which every call declares itself whole. Opaque parts may be requests to the
    application too.
    """
    reason = None if state._finish is None else state._finish.reason
    if reason not in GOOD_ENDS:
        return False
    called: list[ToolCall] = []
    for part in state.parts:
        if isinstance(part, OpaquePart) and reason == "tool_calls":
            return False
        if isinstance(part, ToolCall) and part.kind != "server":
            called.append(part)
    if reason == "tool_calls":
        return not called
    for call in called:
        arguments = arguments_in(call)
        if done_of(call) != DONE and arguments.leaves is None:
            return True
    return False


def _end_answer(state: MessageState, cut_off: Fault | None) -> None:
    """Close the structured output of a new state."""
    config, quirks = state._config, list[Quirk]()
    if config.answer is None:
        return
    is_elsewhere = state._app_calls > 0 or state._refusal.last != NO_PART
    missing = None if is_elsewhere else MessageError(cut_off or Fault.NO_ANSWER)
    if config.emulate_structured_output:
        output = state._output
        state._content_error = missing if output is None else output.error
        return
    is_stale = state._is_answer_stale or state._answer is None
    answer = state._read_again(quirks) if is_stale else cast("JSONDocument", state._answer)
    answer = answer.end(quirks, closes=cut_off is None)
    error = answer.error(None, state._content_error)
    if error is None and not state.content.strip():
        error = missing
    elif error is None and (cut_off is not None or not answer.is_valid):
        error = answer.cut_off(cut_off or Fault.INCOMPLETE, None)
    state._answer, state._is_answer_stale, state._content_error = None, False, error
    state._value = answer.value
    state._repairs = answer.repairs
    state._notes = state._notes.with_quirks(_content_quirks(quirks))
