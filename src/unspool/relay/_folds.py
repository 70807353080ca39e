"""Folds: pure functions from the entries of a log to a state, and recorders, which make the entries.

    fold        items of an entry                        state
    Messages    chunks of deltas, and the wire format    MessageState
    JSONText    fragments of JSON text                   JSONTextState
    Document    JSON Patch operations                    the plain value

A publisher gives what its source yields to a recorder. The recorder knows the state at once, and collects the items for
the next entry. A follower folds the items of each entry. Both arrive at the same state (law 22), because a recorder
only joins what makes no difference.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, cast, final, overload

from .._dumps import check, flag
from .._errors import OptionsError, StateError, UnspoolError
from .._missing import MISSING
from .._options import Options, chosen_options
from .._state import ParserState, create_state, finalize, parse_chunk
from ..llm import (
    Config,
    Delta,
    MessageStart,
    MessageState,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    dump_deltas,
    fail,
    finish,
    load_deltas,
    reduce,
    reduce_chunk,
    start,
)
from ..llm._diagnostics import Fault, MessageError
from ..llm._message import new_diagnostics, with_format
from ..llm._sources import failure_of
from ..llm._stream import StateQueue
from ..patch import apply
from ..typed import partial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from ..patch import Operation
    from ..typed import Cache, Resolution, Resolver

__all__ = ["Document", "Fold", "JSONText", "JSONTextState", "Messages", "Recorder", "fold_of", "same_fold"]

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

ITEM_COST: Final = 12
"""The bytes that an item takes beside its text, roughly."""


class Recorder(Protocol[S_co]):
    """Makes the items of the next entry out of the pieces that a source yields."""

    @property
    def state(self) -> S_co:
        """The state after all pieces so far."""
        ...

    @property
    def size(self) -> int:
        """The approximate size in bytes of the items that wait for the next entry."""
        ...

    def take(self, piece: Any) -> None:
        """Add one piece of the source to the state."""
        ...

    def finish(self) -> dict[str, Any]:
        """End the source. Return the fields of the last entry that do not follow from the items."""
        ...

    def drain(self) -> list[Any]:
        """Return the items since the last call, as JSON data."""
        ...


class Fold(Protocol[S]):
    """A pure function from the items of a log to a state."""

    @property
    def name(self) -> str:
        """The name of the fold with the version of its items."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the settings that a state depends on, as plain data. Types are not among them."""
        ...

    def start(self) -> S:
        """Return the state before the first item."""
        ...

    def step(self, state: S, items: list[Any]) -> S:
        """Return the state after the items of one entry. Raise `StateError` for items that no recorder makes."""
        ...

    def end(self, state: S, content: Mapping[str, Any]) -> S:
        """Return the state after the end of the stream; `content` is that of its last entry."""
        ...

    def failure(self, error: BaseException) -> dict[str, Any]:
        """Return what the last entry says of the exception that ended the stream."""
        ...

    def has_failed(self, state: S) -> bool:
        """Tell whether a state at the end is that of a failure."""
        ...

    def dump(self, state: S) -> Any:
        """Return the state as plain JSON data."""
        ...

    def load(self, data: Any) -> S:
        """Return the state of a dump. Raise `StateError` for anything else."""
        ...

    def recorder(self, state: S) -> Recorder[S]:
        """Return a recorder that goes on from this state."""
        ...


def same_fold(fold: Fold[Any], content: Mapping[str, Any]) -> bool:
    """Tell whether the entries after a claim with this content are made for this fold."""
    return content.get("fold") == fold.name and content.get("settings") == fold.describe()


def fold_of(content: Mapping[str, Any]) -> Fold[Any]:
    """Return the fold that a claim with this content names, without types: its values are plain."""
    settings = content.get("settings")
    known = {fold.NAME: fold for fold in (Messages, JSONText, Document)}
    fold = known.get(str(content.get("fold")))
    check(fold is not None and isinstance(settings, dict), "unknown fold")
    try:
        made = cast("type[Messages | JSONText[Any] | Document]", fold)._described(cast("dict[str, Any]", settings))
    except (OptionsError, AttributeError, TypeError, KeyError, ValueError) as error:
        raise StateError(f"invalid settings of a fold: {type(error).__name__}") from None
    check(made.describe() == settings, "unknown settings of a fold")
    return cast("Fold[Any]", made)


def _told(error: BaseException) -> dict[str, Any]:
    """Return the name of an exception: its message may be confidential."""
    return {"error": type(error).__name__}


# ---- messages ----------------------------------------------------------------------------------------


@final
class Messages:
    """The fold of one message of a language model. The parameters are those of `unspool.llm.MessageStream`.

    Publishers send chunks of any format, as dicts or as objects of an SDK. The state is a `MessageState`.
    """

    NAME: Final = "messages/1"

    def __init__(
        self,
        *,
        format: str | None = None,
        response_schema: object = None,
        emulate_structured_output: bool = False,
        tools: Mapping[str, object] | None = None,
        choice: int = 0,
        extract: bool = False,
        early: bool = False,
        requires_finish: bool = True,
        options: Options | None = None,
        repair: Literal["none", "spelling", "guess"] | None = None,
        config: Config | None = None,
    ) -> None:
        if config is None:
            config = Config(
                response_schema,
                emulate_structured_output=emulate_structured_output,
                tools=tools,
                choice=choice,
                extract=extract,
                early=early,
                requires_finish=requires_finish,
                options=options,
                repair=repair,
            )
        elif response_schema is not None or tools is not None or options is not None or repair is not None:
            raise OptionsError("pass either config or its parameters, not both")
        start(config, format=format)
        self.config: Final = config
        self._format: Final = format

    @staticmethod
    def _described(settings: dict[str, Any]) -> Messages:
        known = dict(settings)
        tools = {str(name): True if flag(is_typed) else None for name, is_typed in known.pop("tools").items()}
        schema = True if flag(known.pop("structured")) else None
        is_emulated = flag(known.pop("emulated"))
        options = Options(**known.pop("options"))
        config = Config(schema, emulate_structured_output=is_emulated, tools=tools, options=options, **known)
        return Messages(config=config)

    @property
    def name(self) -> str:
        """The name of the fold with the version of its items."""
        return self.NAME

    def describe(self) -> dict[str, Any]:
        """Return the settings that a state depends on, as plain data."""
        return self.config.as_dict()

    def start(self) -> MessageState:
        """Return the state before the first chunk."""
        return start(self.config)

    def step(self, state: MessageState, items: list[Any]) -> MessageState:
        """Return the state after the items of one entry."""
        try:
            for item in items:
                if isinstance(item, dict):
                    state = with_format(state, cast("dict[str, Any]", item)["format"])
                else:
                    state = reduce_chunk(state, load_deltas(item))
        except StateError:
            raise
        except (UnspoolError, LookupError, TypeError, ValueError) as error:
            raise StateError(f"invalid items of a message: {type(error).__name__}") from None
        return state

    def end(self, state: MessageState, content: Mapping[str, Any]) -> MessageState:
        """Return the finished message."""
        status, told = content["status"], content.get("failure")
        if told is None:
            if status in {"done", "error"}:  # an error of the message itself follows from its deltas
                return finish(state)
            return fail(state, MessageError(Fault.CLOSED if status == "cancelled" else Fault.TRANSPORT))
        check(isinstance(told, list), "invalid failure")
        items = cast("list[Any]", told)
        check(len(items) == 4, "invalid failure")
        fault, code, detail, http = items
        is_right = isinstance(fault, str) and fault in set(Fault) and isinstance(detail, str)
        check(is_right and (code is None or isinstance(code, str)), "invalid failure")
        check(http is None or type(http) is int, "invalid failure")
        return fail(state, MessageError(Fault(fault), code=code, detail=detail, status=http))

    def failure(self, error: BaseException) -> dict[str, Any]:
        """Return what the last entry says of the exception that ended the stream."""
        if not isinstance(error, Exception):
            return _told(error)
        return {**_told(error), "failure": _told_failure(error)}

    def has_failed(self, state: MessageState) -> bool:
        """Tell whether the message has ended with an error."""
        return state.error is not None

    def dump(self, state: MessageState) -> Any:
        """Return the state as plain JSON data."""
        return state.dump()

    def load(self, data: Any) -> MessageState:
        """Return the state of a dump."""
        return MessageState.load(data, self.config)

    def recorder(self, state: MessageState) -> Recorder[MessageState]:
        """Return a recorder that goes on from this state."""
        return _MessageRecorder(self.config, state, self._format)


@final
class _DeltaQueue(StateQueue):
    """The queue of a stream of chunks, which also keeps the deltas."""

    __slots__ = ("failed", "kept")

    def __init__(self, config: Config, state: MessageState, format: str | None) -> None:
        super().__init__(config, state.format or format, 0)
        self.failed: MessageError | None = None
        self.kept: list[tuple[list[Delta], bool]] = []
        """The deltas of each chunk, and whether they may be joined with others: the message noticed nothing odd."""
        if state is not self.latest[config.choice]:
            self.latest[config.choice] = state
            if state.id is not None:
                self._named.add(config.choice)
            if format is not None and state.format is None:
                self.latest[config.choice] = with_format(state, format)

    def _reduce(self, deltas: list[Delta]) -> None:
        choice = self.config.choice
        before = self.latest[choice]
        super()._reduce(deltas)
        state = self.latest[choice]
        self._waiting.clear()
        if state is not before:
            is_known = len(deltas) > 1 and isinstance(deltas[0], MessageStart) and reduce(before, deltas[0]) is before
            # Some providers repeat the role, the id and the model in every chunk.
            self.kept.append((deltas[1:] if is_known else deltas, not new_diagnostics(before, state)))

    def _fail(self, error: MessageError) -> None:
        self.failed = error
        super()._fail(error)


@final
class _MessageRecorder:
    """The recorder of a message: the chunks become deltas."""

    def __init__(self, config: Config, state: MessageState, format: str | None) -> None:
        self._queue = _DeltaQueue(config, state, format)
        self._choice: Final = config.choice
        self._format = state.format  # what the entries so far have said
        self._sized = 0
        self.size = 0

    @property
    def state(self) -> MessageState:
        """The message after all pieces so far."""
        return self._queue.latest[self._choice]

    def take(self, piece: Any) -> None:
        """Add one chunk to the message; a piece of text or bytes may hold several, or a part of one."""
        if self._queue.is_over:
            return
        self._queue.take(piece)
        self._measure()

    def finish(self) -> dict[str, Any]:
        """End the source. The finished message is the state from now on."""
        if not self._queue.is_over:
            self._queue.end()
        self._measure()
        failed = self._queue.failed
        return {} if failed is None else {"failure": _told_failure(failed)}

    def drain(self) -> list[Any]:
        """Return the items since the last call: the chunks, with the neighbours joined that only add text."""
        items: list[Any] = []
        if self.state.format is not None and self.state.format != self._format:
            self._format = self.state.format
            items.append({"format": self._format})
        kept, self._queue.kept = self._queue.kept, []
        self._sized = self.size = 0
        open_text: list[Delta] = []
        for deltas, is_plain in kept:
            if is_plain and len(deltas) == 1 and open_text and _goes_on(open_text[0], deltas[0]):
                open_text.append(deltas[0])
                continue
            if open_text:
                items.append(dump_deltas([_joined(open_text)]))
                open_text = []
            if is_plain and len(deltas) == 1:
                open_text = [deltas[0]]
            else:
                items.append(dump_deltas(deltas))
        if open_text:
            items.append(dump_deltas([_joined(open_text)]))
        return items

    def _measure(self) -> None:
        kept = self._queue.kept
        for deltas, _ in kept[self._sized :]:
            self.size += sum([_size_of(delta) for delta in deltas])
        self._sized = len(kept)


def _told_failure(error: Exception) -> list[Any]:
    found = error if isinstance(error, MessageError) else failure_of(error)
    return [found.fault.value, found.code, found.detail, found.status]


def _size_of(delta: Delta) -> int:
    if isinstance(delta, (TextDelta, ReasoningDelta, RefusalDelta)):
        return len(delta.text) + ITEM_COST
    if (
        isinstance(delta, ToolCallDelta)
        and delta.native is None
        and (delta.arguments is None or isinstance(delta.arguments, str))
    ):
        return len(delta.arguments or "") + 2 * ITEM_COST
    return len(json.dumps(dump_deltas([delta])))


def _goes_on(first: Delta, delta: Delta) -> bool:
    """Tell whether the delta only adds text where the first one put its own."""
    if type(first) is not type(delta):
        return False
    if isinstance(first, (TextDelta, ReasoningDelta, RefusalDelta)):
        assert isinstance(delta, (TextDelta, ReasoningDelta, RefusalDelta))
        is_same = first.block == delta.block and first.choice == delta.choice
        return is_same and not first.is_whole and not delta.is_whole
    if not isinstance(first, ToolCallDelta) or not isinstance(delta, ToolCallDelta):
        return False
    has_text = type(first.arguments) is str and type(delta.arguments) is str and not first.is_done
    is_same = type(first.index) is int and first.index == delta.index and first.choice == delta.choice
    is_bare = delta.id is None and delta.name is None and delta.kind is None and not delta.is_done
    has_no_data = delta.signature is None and delta.native is None
    return has_text and is_same and is_bare and has_no_data and first.counts_blocks == delta.counts_blocks


def _joined(deltas: list[Delta]) -> Delta:
    first = deltas[0]
    if len(deltas) == 1:
        return first
    if isinstance(first, ToolCallDelta):
        written = "".join([str(cast("ToolCallDelta", delta).arguments) for delta in deltas])
        return ToolCallDelta(
            first.index, first.id, first.name, written, first.kind, False, first.counts_blocks, first.choice,
            first.signature, first.native,
        )  # fmt: skip
    assert isinstance(first, (TextDelta, ReasoningDelta, RefusalDelta))
    text = "".join([cast("TextDelta", delta).text for delta in deltas])
    return type(first)(text, first.block, False, first.choice)


# ---- JSON text ---------------------------------------------------------------------------------------


@final
class JSONTextState(Generic[S]):
    """JSON text so far: the state of the pure parser, and the value of the type, if the fold has one."""

    __slots__ = ("_cache", "parser", "resolution")

    def __init__(self, parser: ParserState, resolution: Resolution[S] | None, cache: Cache | None) -> None:
        self.parser: Final = parser
        self.resolution: Final = resolution
        """The outcome for the type; None without a type."""
        self._cache: Final = cache

    @property
    def value(self) -> S | Any:
        """The value so far, a half-filled instance if there is a type; `MISSING` before the value begins."""
        return self.parser.value if self.resolution is None else self.resolution.value

    @property
    def error(self) -> UnspoolError | None:
        """The error of the text."""
        return self.parser.error

    @property
    def is_complete(self) -> bool:
        """The text is complete and valid, and fits the type."""
        is_whole = self.parser.is_complete and self.parser.error is None
        return is_whole and (self.resolution is None or self.resolution.is_complete)

    def __repr__(self) -> str:
        return f"JSONTextState({self.parser!r})"


@final
class JSONText(Generic[S]):
    """The fold of one JSON text. Publishers send fragments of the text, cut anywhere.

    `type` is any type that `unspool.typed.partial` accepts; every follower that passes it gets values of the type.
    """

    NAME: Final = "json/1"

    @overload
    def __init__(
        self: JSONText[Any], type: None = ..., *, options: Options | None = ..., extract: bool = ...
    ) -> None: ...
    @overload
    def __init__(self, type: type[S] | Resolver[S], *, options: Options | None = ..., extract: bool = ...) -> None: ...
    @overload
    def __init__(self: JSONText[Any], type: Any, *, options: Options | None = ..., extract: bool = ...) -> None: ...
    def __init__(self, type: Any = None, *, options: Options | None = None, extract: bool = False) -> None:
        self._resolver: Resolver[S] | None = None if type is None else partial(type)
        self._blank: Final = create_state(chosen_options(options), extract=extract)
        self._extract: Final = extract

    @staticmethod
    def _described(settings: dict[str, Any]) -> JSONText[Any]:
        return JSONText(options=Options(**settings["options"]), extract=flag(settings["extract"]))

    @property
    def name(self) -> str:
        """The name of the fold with the version of its items."""
        return self.NAME

    def describe(self) -> dict[str, Any]:
        """Return the settings that a state depends on, as plain data."""
        return {"options": self._blank.options.as_dict(), "extract": self._extract}

    def start(self) -> JSONTextState[S]:
        """Return the state before any text."""
        return self._resolved(self._blank, None)

    def step(self, state: JSONTextState[S], items: list[Any]) -> JSONTextState[S]:
        """Return the state after the fragments of one entry."""
        check(all(isinstance(item, str) for item in items), "a fragment that is not a text")
        return self._read(state, "".join(items))

    def end(self, state: JSONTextState[S], content: Mapping[str, Any]) -> JSONTextState[S]:
        """Return the state if the text ends here."""
        return self._resolved(finalize(state.parser), state)

    def failure(self, error: BaseException) -> dict[str, Any]:
        """Return what the last entry says of the exception that ended the stream."""
        return _told(error)

    def has_failed(self, state: JSONTextState[S]) -> bool:
        """Tell whether the text has ended with an error."""
        return state.error is not None

    def dump(self, state: JSONTextState[S]) -> Any:
        """Return the state as plain JSON data."""
        return state.parser.dump()

    def load(self, data: Any) -> JSONTextState[S]:
        """Return the state of a dump."""
        parser = ParserState.load(data)
        check(parser.options == self._blank.options, "the text was read with other options")
        return self._resolved(parser, None)

    def recorder(self, state: JSONTextState[S]) -> Recorder[JSONTextState[S]]:
        """Return a recorder that goes on from this state."""
        return _PieceRecorder(self, state)

    def _read(self, state: JSONTextState[S], text: str) -> JSONTextState[S]:
        parser = parse_chunk(state.parser, text)
        return state if parser is state.parser else self._resolved(parser, state)

    def _resolved(self, parser: ParserState, known: JSONTextState[S] | None) -> JSONTextState[S]:
        if self._resolver is None:
            return JSONTextState(parser, None, None)
        return JSONTextState(parser, *self._resolver.resolve(parser, None if known is None else known._cache))


# ---- documents ---------------------------------------------------------------------------------------


@final
class Document:
    """The fold of a plain JSON value that changes by JSON Patch. Publishers send lists of operations.

    The operations are those of RFC 6902, and ``append``; see `unspool.patch`. The state is the value, and `MISSING`
    before an operation adds it at ``""``.
    """

    NAME: Final = "document/1"

    @staticmethod
    def _described(settings: dict[str, Any]) -> Document:
        return Document()

    @property
    def name(self) -> str:
        """The name of the fold with the version of its items."""
        return self.NAME

    def describe(self) -> dict[str, Any]:
        """Return the settings that a state depends on: none."""
        return {}

    def start(self) -> Any:
        """Return the state before any operation."""
        return MISSING

    def step(self, state: Any, items: list[Any]) -> Any:
        """Return the value after the operations of one entry."""
        try:
            return apply(state, items)
        except StateError:
            raise
        except (UnspoolError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise StateError(f"a patch that does not fit the document: {type(error).__name__}") from None

    def end(self, state: Any, content: Mapping[str, Any]) -> Any:
        """Return the value: the end does not change it."""
        return state

    def failure(self, error: BaseException) -> dict[str, Any]:
        """Return what the last entry says of the exception that ended the stream."""
        return _told(error)

    def has_failed(self, state: Any) -> bool:
        """Return False: a document cannot fail."""
        return False

    def dump(self, state: Any) -> Any:
        """Return the value in an object, which is empty before there is a value."""
        return {} if state is MISSING else {"value": state}

    def load(self, data: Any) -> Any:
        """Return the value of a dump."""
        check(isinstance(data, dict) and set(cast("dict[str, Any]", data)) <= {"value"}, "not the dump of a document")
        return cast("dict[str, Any]", data).get("value", MISSING)

    def recorder(self, state: Any) -> Recorder[Any]:
        """Return a recorder that goes on from this value."""
        return _OperationRecorder(state)


@final
class _PieceRecorder(Generic[S]):
    """The recorder of JSON text."""

    def __init__(self, fold: JSONText[S], state: JSONTextState[S]) -> None:
        self._fold = fold
        self._pieces: list[str] = []
        self.state = state
        self.size = 0

    def take(self, piece: Any) -> None:
        """Add a fragment of the text."""
        if not isinstance(piece, str):
            raise TypeError(f"a str object expected; got {type(piece).__name__}")
        if piece:
            self.state = self._fold._read(self.state, piece)
            self._pieces.append(piece)
            self.size += len(piece)

    def finish(self) -> dict[str, Any]:
        """End the text."""
        self.state = self._fold.end(self.state, {})
        return {}

    def drain(self) -> list[Any]:
        """Return the text since the last call as one fragment."""
        pieces, self._pieces, self.size = self._pieces, [], 0
        return ["".join(pieces)] if pieces else []


@final
class _OperationRecorder:
    """The recorder of a document."""

    def __init__(self, state: Any) -> None:
        self._operations: list[Operation] = []
        self.state = state
        self.size = 0

    def take(self, piece: Any) -> None:
        """Apply a list of operations."""
        # The caller may go on changing its own. JSON has neither NaN nor infinities: no page could read them.
        operations: list[Operation] = json.loads(json.dumps(piece, allow_nan=False))
        self.state = apply(self.state, operations)
        self._operations += operations
        self.size += len(json.dumps(operations))

    def finish(self) -> dict[str, Any]:
        """Do nothing: the end does not change a document."""
        return {}

    def drain(self) -> list[Any]:
        """Return the operations since the last call."""
        operations, self._operations, self.size = self._operations, [], 0
        return operations
