"""`MessageState`: all that is known of a message after some deltas."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, final

from .._missing import MISSING
from ._calls import HIDDEN
from ._config import OUTPUT, Config
from ._dumps import dump, restore
from ._ending import CUTTING
from ._identity import Roll
from ._quirks import Diagnostic, Notes
from ._texts import NO_WORDS

if TYPE_CHECKING:
    from ._calls import ToolCall
    from ._deltas import Finish, FinishReason, Usage
    from ._document import Document
    from ._faults import MessageError
    from ._texts import Words

__all__ = ["MessageState"]


@final
class MessageState:
    """A message as far as it is known. `start` makes the first state, `reduce` the next, `finish` the last.

    It never changes. What a delta does not touch is the very same object in the next state: texts, calls, values.
    """

    __slots__ = (
        "_answer",
        "_calls",
        "_choice",
        "_config",
        "_content",
        "_content_error",
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
        "_roll",
        "_tool_calls",
        "_usage",
    )

    _config: Config
    _choice: int
    _role: str | None
    _id: str | None
    _model: str | None
    _content: Words
    _reasoning: Words
    _refusal: Words
    _answer: Document | None  # the content read as structured output; unused where that is emulated
    _is_answer_stale: bool  # the content has changed elsewhere than at its end
    _content_error: MessageError | None
    _calls: tuple[ToolCall, ...]  # in the order of appearance, those that are not shown too
    _tool_calls: tuple[ToolCall, ...]
    _roll: Roll
    _has_blocks: bool  # the format numbers the parts of a message
    _finish: Finish | None
    _usage: Usage | None
    _failure: MessageError | None
    _notes: Notes
    _is_finished: bool
    _is_followed: bool  # another message came behind this one, and what comes now may be of that

    def __init__(self, config: Config, before: MessageState | None = None) -> None:
        """The state before the first delta, or one like `before`."""
        self._config = config
        if before is not None:  # one for each delta, so nothing is set twice
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
            self._roll = before._roll
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
        self._content = NO_WORDS
        self._reasoning = NO_WORDS
        self._refusal = NO_WORDS
        self._answer = config.answer
        self._is_answer_stale = False
        self._content_error = None
        self._calls = ()
        self._tool_calls = ()
        self._roll = Roll()
        self._has_blocks = False
        self._finish = None
        self._usage = None
        self._failure = None
        self._notes = Notes()
        self._is_finished = False
        self._is_followed = False

    def _fork(self) -> MessageState:  # pyright: ignore[reportUnusedFunction]
        """A state like this one, for those who change it before anybody else sees it."""
        return MessageState(self._config, self)

    @property
    def config(self) -> Config:
        """What the message is read as."""
        return self._config

    @property
    def role(self) -> str | None:
        """Who speaks; None if that was not said."""
        return self._role

    @property
    def id(self) -> str | None:
        """The id that the provider gave to the message."""
        return self._id

    @property
    def model(self) -> str | None:
        """The model that writes."""
        return self._model

    @property
    def content(self) -> str:
        """The text of the answer so far, as it came."""
        return str(self._content)

    @property
    def content_value(self) -> Any:
        """The structured output as it stands, of the type that was asked for; `MISSING` while there is none."""
        if self._config.emulate_structured_output:
            output = self._output
            return MISSING if output is None else output.value
        return MISSING if self._answer is None else self._answer.value

    @property
    def content_error(self) -> MessageError | None:
        """What is wrong with the structured output. Where the message calls tools, that is no error of the message."""
        output = self._output
        return output.error if output is not None and self._content_error is None else self._content_error

    @property
    def is_content_complete(self) -> bool:
        """The structured output is whole and valid, and was not cut off. That is known at the end of the message."""
        if not self._is_finished or self._config.answer is None or self.content_error is not None:
            return False
        return self._output is not None if self._config.emulate_structured_output else bool(self.content.strip())

    @property
    def reasoning(self) -> str:
        """What the model thought, or said that it thought."""
        return str(self._reasoning)

    @property
    def refusal(self) -> str:
        """The words in which the model declined to answer."""
        return str(self._refusal)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools, in the order in which they appeared."""
        return self._tool_calls

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the model stopped, in the words of all providers; None while it has not."""
        return None if self._finish is None else self._finish.reason

    @property
    def raw_finish_reason(self) -> str | None:
        """Why the model stopped, in the words of this provider."""
        return None if self._finish is None else self._finish.raw

    @property
    def usage(self) -> Usage | None:
        """The tokens counted so far."""
        return self._usage

    @property
    def errors(self) -> tuple[MessageError, ...]:
        """All that is wrong: with the message, then with its structured output, then with its calls."""
        is_optional = self._is_calling and not self._config.emulate_structured_output
        found = [self._failure, None if is_optional else self.content_error]
        found += [call.error for call in self._tool_calls]
        return tuple([error for error in found if error is not None])

    @property
    def error(self) -> MessageError | None:
        """The first of the errors, as soon as there is one. Before the end it is a reason to stop, not a failure."""
        errors = self.errors
        return errors[0] if errors else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was odd, and was read all the same."""
        found: list[Diagnostic] = []
        for (code, number, detail), count in self._notes.counts.items():
            index = HIDDEN if number is None else self._calls[number].index
            found.append(Diagnostic(code, None if index == HIDDEN else index, detail, count))
        return tuple(found)

    @property
    def is_finished(self) -> bool:
        """The message has ended, well or not: nothing more is read."""
        return self._is_finished

    @property
    def is_complete(self) -> bool:
        """The message has ended well: nothing is wrong, and nothing was cut off."""
        return self._is_finished and self.error is None and self.finish_reason not in CUTTING

    def as_message(self) -> dict[str, Any]:
        """The assistant's message to send back in the next request, in OpenAI's shape, with the strings as they came.

        Calls that the provider has run itself have no place in it. A call without an id gets one made of its index.
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
        """The state as plain JSON data, the same however the deltas were cut. Types are no part of it."""
        return dump(self)

    @staticmethod
    def load(data: object, config: Config | None = None) -> MessageState:
        """The state that was dumped, in this or another process, with the config that it was started with.

        Raises `StateError` if the data is not a dump, or one of a state with another config.
        """
        return restore(MessageState(Config() if config is None else config), data)

    def __copy__(self) -> MessageState:
        return self

    def __deepcopy__(self, memo: object) -> MessageState:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a message state cannot be pickled, for its config may hold types; dump() and load() do it")

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


def _as_message(call: ToolCall, taken: set[str | None]) -> dict[str, object]:
    made = f"call_{call.index}"
    while made in taken:
        made += "_"
    message: dict[str, object] = {"id": call.id or made}
    if call.kind == "custom":
        return {**message, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    arguments = call.arguments if call.arguments.strip() else "{}"
    return {**message, "type": "function", "function": {"name": call.name, "arguments": arguments}}
