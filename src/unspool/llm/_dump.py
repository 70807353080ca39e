"""Message states as plain JSON data, and back: never pickle, never eval.

A dump stores only what arrived: texts, leaves, names, numbers. Loading reads the texts again, which restores values,
completeness and errors, so a dump cannot be wrong about them. All stored data is checked: tampered data raises
`StateError`, or yields a state that could have existed.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Loaded data may be anything; each piece of it is checked where it is used.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_args

from .._dumps import check, flag, natural, text
from .._errors import Reason, SnapshotError, StateError, UnspoolError
from .._missing import MISSING
from .._path import Path
from .._state import ParserState
from ._calls import (
    DONE_WITH_BLOCK,
    HIDDEN,
    NO_CALL,
    CallArguments,
    CallDirectory,
    ToolCall,
    arguments_in,
    done_of,
    place_of,
)
from ._config import OUTPUT
from ._deltas import CallKind, Finish, FinishReason, Leaf, Usage
from ._diagnostics import Fault, MessageError, Notes, Quirk
from ._texts import NO_TEXT, BlockTexts, JSONDocument

if TYPE_CHECKING:
    from ._config import Config
    from ._deltas import Block

__all__ = ["MessageFields", "dump", "load"]

VERSION: Final = 1
FIELDS: Final = {
    *("version", "config", "role", "id", "model", "content", "reasoning", "refusal", "answer", "calls", "indexes"),
    *("ids", "last", "written", "has_blocks", "finish", "usage", "failure", "notes", "is_finished", "is_followed"),
}
CALL_FIELDS: Final = {"index", "id", "name", "kind", "ended", "is_complete", "text", "leaves", "is_closed", "misplaced"}


class MessageFields(NamedTuple):
    """The fields of a message state that a dump stores, or that loading derives from them."""

    role: str | None
    id: str | None
    model: str | None
    content: BlockTexts
    reasoning: BlockTexts
    refusal: BlockTexts
    answer: JSONDocument | None
    is_answer_stale: bool
    calls: tuple[ToolCall, ...]
    directory: CallDirectory
    has_blocks: bool
    finish: Finish | None
    usage: Usage | None
    failure: MessageError | None
    notes: Notes
    is_finished: bool
    is_followed: bool


def dump(fields: MessageFields, config: Config) -> dict[str, object]:
    """Return the fields as plain JSON data."""
    answer, directory = fields.answer, fields.directory
    finish, usage, failure = fields.finish, fields.usage, fields.failure
    return {
        "version": VERSION,
        "config": config.as_dict(),
        "role": fields.role,
        "id": fields.id,
        "model": fields.model,
        "content": _dump_texts(fields.content),
        "reasoning": _dump_texts(fields.reasoning),
        "refusal": _dump_texts(fields.refusal),
        # If the content changed before its end, the content no longer tells which text the parser has read.
        "answer": answer.parser.dump() if answer is not None and fields.is_answer_stale else None,
        "calls": [_dump_call(call) for call in fields.calls],
        "indexes": [list(entry) for entry in directory.indexes.items()],
        "ids": [list(entry) for entry in directory.ids.items()],
        "last": directory.last,
        "written": directory.written,
        "has_blocks": fields.has_blocks,
        "finish": None if finish is None else [finish.reason, finish.raw],
        "usage": None if usage is None else [usage.input_tokens, usage.output_tokens, usage.told_total, usage.raw],
        "failure": None if failure is None else [failure.fault.value, failure.code, failure.detail],
        "notes": [[code.value, call, detail, count] for (code, call, detail), count in fields.notes.counts.items()],
        "is_finished": fields.is_finished,
        "is_followed": fields.is_followed,
    }


def _dump_texts(texts: BlockTexts) -> list[object]:
    return [[list(block), str(text)] for block, text in zip(texts.blocks, texts.texts, strict=True)]


def _dump_call(call: ToolCall) -> dict[str, object]:
    arguments = arguments_in(call)
    leaves, misplaced = arguments.leaves, arguments.misplaced
    return {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        "kind": call.kind,
        "ended": done_of(call),
        "is_complete": call.is_complete,
        "text": str(arguments.text) if leaves is None else None,
        "leaves": None if leaves is None else [_dump_leaf(leaf) for leaf in leaves.merged()],
        "is_closed": leaves is not None and leaves.is_closed,
        "misplaced": None if misplaced is None else [list(misplaced.path), misplaced.reason.value, misplaced.step],
    }


def _dump_leaf(leaf: Leaf) -> list[object]:
    return [leaf.path, leaf.will_continue] if leaf.value is MISSING else [leaf.path, leaf.will_continue, leaf.value]


# ---- loading -----------------------------------------------------------------------------------------


def load(data: object, config: Config) -> MessageFields:
    """Return the fields of a dump. Raise `StateError` if `dump` cannot have written the data with this config."""
    try:
        return _load(data, config)
    except StateError:
        raise
    except (UnspoolError, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise StateError(f"invalid state dump: {type(error).__name__}") from None


def _load(data: Any, config: Config) -> MessageFields:
    check(isinstance(data, dict) and set(data) == FIELDS, "unexpected fields")
    check(data["version"] == VERSION, "unsupported version")
    check(data["config"] == config.as_dict(), "the message started with another config")
    content = _load_texts(data["content"])
    calls = tuple([_load_call(call, config) for call in data["calls"]])
    _check_calls(calls, config)
    return MessageFields(
        role=_optional_text(data["role"]),
        id=_optional_text(data["id"]),
        model=_optional_text(data["model"]),
        content=content,
        reasoning=_load_texts(data["reasoning"]),
        refusal=_load_texts(data["refusal"]),
        answer=_load_answer(data["answer"], str(content), config),
        is_answer_stale=data["answer"] is not None,
        calls=calls,
        directory=CallDirectory(
            {_whole(index): _call_number(call, calls) for index, call in data["indexes"]},
            {text(call_id): _call_number(call, calls) for call_id, call in data["ids"]},
            NO_CALL if data["last"] == NO_CALL else _call_number(data["last"], calls),
            NO_CALL if data["written"] == NO_CALL else _call_number(data["written"], calls),
        ),
        has_blocks=flag(data["has_blocks"]),
        finish=None if data["finish"] is None else _load_finish(*data["finish"]),
        usage=None if data["usage"] is None else _load_usage(*data["usage"]),
        failure=None if data["failure"] is None else _load_failure(*data["failure"]),
        notes=Notes({
            (Quirk(code), None if call is None else _call_number(call, calls), text(detail)): _whole(count)
            for code, call, detail, count in data["notes"]
        }),
        is_finished=flag(data["is_finished"]),
        is_followed=flag(data["is_followed"]),
    )  # fmt: skip


def _load_texts(data: Any) -> BlockTexts:
    blocks: list[Block] = []
    for block, value in data:
        check(_are_steps(block) and tuple(block) not in blocks, "invalid block of text")
        check(bool(value), "empty block of text")
        blocks.append(tuple(block))
    return BlockTexts(tuple(blocks), tuple([NO_TEXT.add(text(value)) for _, value in data]))


def _load_answer(data: Any, content: str, config: Config) -> JSONDocument | None:
    answer = config.answer
    if answer is None or config.emulate_structured_output:
        check(data is None, "unexpected answer")
        return answer
    if data is None:
        return answer.feed(content, [])
    parser = ParserState.load(data)
    check(parser.options == config.options, "the answer has other options")
    check((data["extract"] is not None) is config.extract, "the answer has other options")
    return JSONDocument(parser, answer.resolver, config.extract)


def _load_finish(reason: Any, raw: object) -> Finish:
    check(reason in get_args(FinishReason), "unknown finish reason")
    return Finish(reason, _optional_text(raw))


def _load_usage(read: object, written: object, total: object, raw: Any) -> Usage:
    check(isinstance(raw, dict) and _is_plain(raw), "the usage is not a JSON object")
    return Usage(_optional_whole(read), _optional_whole(written), _optional_whole(total), raw)


def _load_failure(fault: Any, code: object, detail: object) -> MessageError:
    return MessageError(Fault(fault), code=_optional_text(code), detail=text(detail))


def _check_calls(calls: tuple[ToolCall, ...], config: Config) -> None:
    shown = [call for call in calls if call.index != HIDDEN]
    check(sorted([call.index for call in shown]) == list(range(len(shown))), "the calls have gaps")
    hidden = {call.name for call in calls if call.index == HIDDEN}
    is_emulated = config.emulate_structured_output
    check(not hidden or (is_emulated and hidden <= {None, OUTPUT}), "a call is hidden that should be shown")
    check(not is_emulated or all(call.name != OUTPUT for call in shown), "a call is shown that should be hidden")


def _load_call(data: Any, config: Config) -> ToolCall:
    check(isinstance(data, dict) and set(data) == CALL_FIELDS, "unexpected fields of a call")
    name, kind = _optional_text(data["name"]), data["kind"]
    check(kind is None or kind in get_args(CallKind), "unknown kind of call")
    arguments = _load_arguments(data, CallArguments(NO_TEXT, None if kind == "custom" else config.arguments_of(name)))
    done = natural(data["ended"])
    check(done <= DONE_WITH_BLOCK, "unknown end of a call")
    is_complete = flag(data["is_complete"])
    if is_complete:
        arguments = arguments.end([])
        check(name is not None, "a complete call without a name")
    call = ToolCall(_whole(data["index"]), _optional_text(data["id"]), name, kind, arguments, done)
    if arguments.is_blank and kind != "custom":
        is_complete = False  # only the end of the message completes such a call; loading repeats that
    check(arguments.is_valid or not is_complete, "a complete call with invalid arguments")
    error = arguments.error(place_of(call), None)
    return ToolCall(call.index, call.id, name, kind, arguments, done, is_complete, error)


def _load_arguments(data: Any, arguments: CallArguments) -> CallArguments:
    if data["leaves"] is None:
        arguments = arguments.feed(text(data["text"]), [])
    else:
        check(data["text"] is None, "arguments with both text and leaves")
        for path, will_continue, *value in data["leaves"]:
            check(len(value) <= 1 and _is_plain(value), "a leaf is not JSON")
            leaf = Leaf(text(path), value[0] if value else MISSING, flag(will_continue))
            arguments = arguments.add_leaves((leaf,), [])
        check(arguments.misplaced is None, "a leaf is out of place")
    if flag(data["is_closed"]):
        check(arguments.leaves is not None, "closed arguments without leaves")
        arguments = arguments.end([])
    if data["misplaced"] is None:
        return arguments
    steps, reason, step = data["misplaced"]
    check(_are_steps(steps), "invalid path")
    misplaced = SnapshotError(Path.of(*steps), Reason(reason), natural(step))
    return CallArguments(arguments.text, arguments.document, arguments.leaves, misplaced)


def _are_steps(steps: Any) -> bool:
    return all(isinstance(step, str) or type(step) is int for step in steps)


def _optional_text(value: object) -> str | None:
    return None if value is None else text(value)


def _whole(number: object) -> int:
    check(type(number) is int, "expected a whole number")
    return cast("int", number)


def _optional_whole(number: object) -> int | None:
    return None if number is None else _whole(number)


def _call_number(number: object, calls: tuple[ToolCall, ...]) -> int:
    check(natural(number) < len(calls), "unknown call")
    return cast("int", number)


def _is_plain(value: object) -> bool:
    """Tell whether the value is JSON data."""
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
