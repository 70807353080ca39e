"""The state of a message as plain JSON data, and back: never pickle, never eval.

Stored is what came: texts, leaves, names, numbers. What can be derived from that is derived again when it is loaded,
by reading it again: values, what is complete and what is wrong. So it cannot be wrong in a dump. What is stored is
checked: data that was tampered with is a `StateError`, or a state that could have been.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# What is loaded may be anything; each piece of it is checked where it is taken.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

from .._errors import Reason, SnapshotError, StateError, UnspoolError
from .._missing import MISSING
from .._path import Path
from .._state import ParserState
from ._arguments import Arguments
from ._calls import ENDED_WITH_ITS_BLOCK, HIDDEN, NOT_ENDED, ToolCall, place_of
from ._config import OUTPUT
from ._deltas import CallKind, Finish, FinishReason, Usage
from ._document import Document
from ._ending import ended
from ._faults import Fault, MessageError
from ._identity import NOBODY, Roll
from ._parts import Leaf
from ._quirks import Notes, Quirk
from ._texts import NO_TEXT, Words

if TYPE_CHECKING:
    from ._config import Config
    from ._parts import Block
    from ._state import MessageState

__all__ = ["dump", "restore"]

VERSION: Final = 1
FIELDS: Final = {
    *("version", "config", "role", "id", "model", "content", "reasoning", "refusal", "answer", "calls", "indexes"),
    *("ids", "last", "written", "has_blocks", "finish", "usage", "failure", "notes", "is_finished", "is_followed"),
}
CALL_FIELDS: Final = {"index", "id", "name", "kind", "ended", "is_complete", "text", "leaves", "is_closed", "misplaced"}

T = TypeVar("T")


def dump(state: MessageState) -> dict[str, object]:
    """What there is to know, as plain JSON data."""
    roll, finish, usage, failure = state._roll, state._finish, state._usage, state._failure
    return {
        "version": VERSION,
        "config": state._config.as_dict(),
        "role": state._role,
        "id": state._id,
        "model": state._model,
        "content": _words(state._content),
        "reasoning": _words(state._reasoning),
        "refusal": _words(state._refusal),
        # Where the content changed before its end, what was read of it before that cannot be told from it.
        "answer": state._answer.parser.dump() if state._answer is not None and state._is_answer_stale else None,
        "calls": [_call(call) for call in state._calls],
        "indexes": [list(entry) for entry in roll.indexes.items()],
        "ids": [list(entry) for entry in roll.ids.items()],
        "last": roll.last,
        "written": roll.written,
        "has_blocks": state._has_blocks,
        "finish": None if finish is None else [finish.reason, finish.raw],
        "usage": None if usage is None else [usage.input_tokens, usage.output_tokens, usage.told_total, usage.raw],
        "failure": None if failure is None else [failure.fault.value, failure.code, failure.detail],
        "notes": [[code.value, number, detail, count] for (code, number, detail), count in state._notes.counts.items()],
        "is_finished": state._is_finished,
        "is_followed": state._is_followed,
    }


def _words(words: Words) -> list[object]:
    return [[list(block), str(text)] for block, text in zip(words.blocks, words.texts, strict=True)]


def _call(call: ToolCall) -> dict[str, object]:
    arguments = call._arguments
    leaves, misplaced = arguments.leaves, arguments.misplaced
    return {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        "kind": call.kind,
        "ended": call._ended,
        "is_complete": call.is_complete,
        "text": str(arguments.text) if leaves is None else None,
        "leaves": None if leaves is None else [_leaf(leaf) for leaf in leaves.merged()],
        "is_closed": leaves is not None and leaves.is_closed,
        "misplaced": None if misplaced is None else [list(misplaced.path), misplaced.reason.value, misplaced.step],
    }


def _leaf(leaf: Leaf) -> list[object]:
    return [leaf.path, leaf.will_continue] if leaf.value is MISSING else [leaf.path, leaf.will_continue, leaf.value]


# ---- and back ----------------------------------------------------------------------------------------


def restore(state: MessageState, data: object) -> MessageState:
    """What `dump` wrote, put into a new state. Raises `StateError` if it cannot have been written so."""
    try:
        return _restore(state, data)
    except StateError:
        raise
    except (UnspoolError, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise StateError(f"this is no dump of a message: {type(error).__name__}") from None


def _restore(state: MessageState, data: Any) -> MessageState:
    _check(isinstance(data, dict) and set(data) == FIELDS, "its fields")
    _check(data["version"] == VERSION, "its version")
    config = state._config
    _check(data["config"] == config.as_dict(), "its config")
    state._role, state._id, state._model = _name(data["role"]), _name(data["id"]), _name(data["model"])
    state._content, state._reasoning = _load_words(data["content"]), _load_words(data["reasoning"])
    state._refusal = _load_words(data["refusal"])
    state._has_blocks, state._is_followed = _flag(data["has_blocks"]), _flag(data["is_followed"])
    if data["finish"] is not None:
        reason, raw = data["finish"]
        _check(reason in get_args(FinishReason), "its finish reason")
        state._finish = Finish(reason, _name(raw))
    if data["usage"] is not None:
        read, written, total, raw = data["usage"]
        _check(isinstance(raw, dict) and _is_plain(raw), "its usage")
        state._usage = Usage(_count(read), _count(written), _count(total), raw)
    if data["failure"] is not None:
        fault, code, detail = data["failure"]
        state._failure = MessageError(Fault(fault), code=_name(code), detail=_text(detail))
    _load_answer(state, data["answer"])
    calls = tuple([_load_call(call, config) for call in data["calls"]])
    shown = sorted([call for call in calls if call.index != HIDDEN], key=lambda call: call.index)
    _check([call.index for call in shown] == list(range(len(shown))), "its calls")
    hidden = [call.name for call in calls if call.index == HIDDEN]
    _check(not hidden or (config.emulate_structured_output and set(hidden) <= {None, OUTPUT}), "its calls")
    _check(not config.emulate_structured_output or all(call.name != OUTPUT for call in shown), "its calls")
    state._calls, state._tool_calls = calls, tuple(shown)
    state._roll = Roll(
        {_whole(index): _number(call, calls) for index, call in data["indexes"]},
        {_text(name): _number(call, calls) for name, call in data["ids"]},
        NOBODY if data["last"] == NOBODY else _number(data["last"], calls),
        NOBODY if data["written"] == NOBODY else _number(data["written"], calls),
    )
    state._notes = Notes({
        (Quirk(code), None if call is None else _number(call, calls), _text(detail)): _whole(count)
        for code, call, detail, count in data["notes"]
    })  # fmt: skip
    if not _flag(data["is_finished"]):
        return state
    notes = state._notes
    state = ended(state, state._failure)
    state._notes = notes  # the end was noticed before
    return state


def _load_words(data: Any) -> Words:
    blocks: list[Block] = []
    for block, _ in data:
        _check(all(isinstance(part, str) or type(part) is int for part in block), "its text")
        _check(tuple(block) not in blocks, "its text")
        blocks.append(tuple(block))
    _check(all(text for _, text in data), "its text")
    return Words(tuple(blocks), tuple([NO_TEXT.add(_text(text)) for _, text in data]))


def _load_answer(state: MessageState, data: Any) -> None:
    answer, config = state._answer, state._config
    if answer is None or config.emulate_structured_output:
        _check(data is None, "its answer")
    elif data is None:
        state._answer = answer = answer.feed(state.content, [])
        state._content_error = answer.error(None, None)
    else:
        parser = ParserState.load(data)
        _check(parser.options == config.options and (data["extract"] is not None) is config.extract, "its answer")
        state._answer = answer = Document(parser, answer.resolver, config.extract)
        state._content_error = answer.error(None, None)
        state._is_answer_stale = True


def _load_call(data: Any, config: Config) -> ToolCall:
    _check(isinstance(data, dict) and set(data) == CALL_FIELDS, "its calls")
    name, kind = _name(data["name"]), data["kind"]
    _check(kind is None or kind in get_args(CallKind), "its calls")
    arguments = Arguments(NO_TEXT, None if kind == "custom" else config.arguments_of(name))
    if data["leaves"] is None:
        arguments = arguments.feed(_text(data["text"]), [])
    else:
        _check(data["text"] is None, "its arguments")
        for path, will_continue, *value in data["leaves"]:
            _check(len(value) <= 1 and _is_plain(value), "its arguments")
            leaf = Leaf(_text(path), value[0] if value else MISSING, _flag(will_continue))
            arguments = arguments.add_leaves((leaf,), [])
        _check(arguments.misplaced is None, "its arguments")
    if _flag(data["is_closed"]):
        _check(arguments.leaves is not None, "its arguments")
        arguments = arguments.end([])
    if data["misplaced"] is not None:
        steps, reason, step = data["misplaced"]
        _check(all(isinstance(part, str) or type(part) is int for part in steps), "its arguments")
        misplaced = SnapshotError(Path.of(*steps), Reason(reason), _whole(step))
        arguments = Arguments(arguments.text, arguments.document, arguments.leaves, misplaced)
    ended = _whole(data["ended"])
    _check(NOT_ENDED <= ended <= ENDED_WITH_ITS_BLOCK, "its calls")
    is_complete = _flag(data["is_complete"])
    if is_complete:
        arguments = arguments.end([])
        _check(name is not None, "its calls")
    call = ToolCall(_whole(data["index"]), _name(data["id"]), name, kind, arguments, ended)
    if arguments.is_blank and kind != "custom":
        is_complete = False  # only the end of the message makes it so, and does it again
    _check(arguments.is_valid or not is_complete, "its calls")
    error = arguments.error(place_of(call), None)
    return ToolCall(call.index, call.id, name, kind, arguments, ended, is_complete, error)


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise StateError(f"this is no dump of a message: {what} cannot be right")


def _text(text: object) -> str:
    _check(isinstance(text, str), "a text")
    return cast("str", text)


def _name(text: object) -> str | None:
    return None if text is None else _text(text)


def _flag(flag: object) -> bool:
    _check(isinstance(flag, bool), "a flag")
    return cast("bool", flag)


def _whole(number: object) -> int:
    _check(type(number) is int, "a number")
    return cast("int", number)


def _count(number: object) -> int | None:
    return None if number is None else _whole(number)


def _number(number: object, calls: tuple[ToolCall, ...]) -> int:
    """The number of a call."""
    _check(0 <= _whole(number) < len(calls), "a number")
    return cast("int", number)


def _is_plain(value: object) -> bool:
    """Whether this is JSON data."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            if not all(isinstance(key, str) for key in inner):
                return False
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
        elif inner is not None and not isinstance(inner, (str, int, float)):
            return False
    return True
