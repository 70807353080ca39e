"""Message states and deltas as plain JSON data, and back: never pickle, never eval.

A dump stores only what arrived: texts, leaves, names, numbers. Loading reads the texts again, which restores values,
completeness and errors, so a dump cannot be wrong about them. All stored data is checked: tampered data raises
`StateError`, or yields a state that could have existed.

Deltas have a compact form, for logs and wires: a version, and then each delta as a list of a letter and its fields.
Fields with their default value are left out at the end, and a delta that is only text of the answer is a string::

    [1, "Hel", "lo", ["r", "Why", [0]], ["c", 0, "call_1", "search", ""], ["f", "tool_calls"]]
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Loaded data may be anything; each piece of it is checked where it is used.

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_args

from .._dumps import check, flag, natural, text
from .._errors import Reason, SnapshotError, StateError, UnspoolError
from .._missing import MISSING
from .._path import Path
from .._sharing import GrowingMap
from .._state import ParserState
from ._calls import (
    DONE_WITH_BLOCK,
    HIDDEN,
    NO_CALL,
    NO_LEAVES,
    CallArguments,
    CallDirectory,
    ToolCall,
    arguments_in,
    done_of,
    place_of,
)
from ._config import OUTPUT, Config
from ._deltas import (
    BlockEnd,
    BlockStart,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    Ignored,
    Leaf,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ProviderError,
    ReasoningDelta,
    Recount,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from ._diagnostics import Fault, MessageError, Notes, Quirk
from ._formats.registry import FORMATS
from ._parts import (
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    SourcePart,
    TextPart,
    ToolResultPart,
    native_in,
    text_in,
)
from ._texts import JSONDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._deltas import Block
    from ._parts import Part

__all__ = ["MessageFields", "dump", "dump_deltas", "load", "load_deltas"]

VERSION: Final = 2
MAX_DATA_DEPTH: Final = 400  # of native data: the functions here and `json` recurse over it
FIRST_VERSION: Final = 1
FIELDS: Final = {
    *("version", "config", "format", "role", "id", "model", "native", "parts", "blocks", "answer", "indexes", "ids"),
    *("last", "written", "has_blocks", "finish", "usage", "failure", "notes", "is_finished", "is_followed"),
}
PART_FIELDS: Final = {"type", "id", "is_complete", "native", "block"}
CALL_FIELDS: Final = {
    *("index", "name", "kind", "signature", "ended", "text", "leaves", "is_closed", "misplaced"),
}
CITATION_FIELDS: Final = ("url", "title", "cited_text", "start", "end", "source_id", "native")
BYTES: Final = "$bytes"
"""The only key of an object that holds bytes as base64. A provider's own object with this key alone is in a list."""

OTHER_FIELDS: Final = {
    "tool_result": ("call_id", "name", "output", "is_error"),
    "file": ("media_type", "data", "url", "file_id", "name", "transcript"),
    "source": ("url", "title", "media_type", "text"),
}


class MessageFields(NamedTuple):
    """The fields of a message state that a dump stores, or that loading derives from them."""

    format: str | None
    role: str | None
    id: str | None
    model: str | None
    native: dict[str, object]
    parts: tuple[Part, ...]
    blocks: GrowingMap
    answer: JSONDocument | None
    is_answer_stale: bool
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
        "format": fields.format,
        "role": fields.role,
        "id": fields.id,
        "model": fields.model,
        "native": _dump_data(fields.native),
        "parts": [_dump_part(part) for part in fields.parts],
        "blocks": [[list(cast("Block", block)), _dump_data(native)] for block, native in fields.blocks.items()],
        # If the content changed before its end, the content no longer tells which text the parser has read.
        "answer": answer.parser.dump() if answer is not None and fields.is_answer_stale else None,
        "indexes": [list(entry) for entry in directory.indexes.items()],
        "ids": [list(entry) for entry in directory.ids.items()],
        "last": directory.last,
        "written": directory.written,
        "has_blocks": fields.has_blocks,
        "finish": None if finish is None else [finish.reason, finish.raw],
        "usage": None if usage is None else [usage.input_tokens, usage.output_tokens, usage.told_total, usage.raw],
        "failure": None if failure is None else [failure.fault.value, failure.code, failure.detail, failure.status],
        "notes": [[code.value, call, detail, count] for (code, call, detail), count in fields.notes.since(0)],
        "is_finished": fields.is_finished,
        "is_followed": fields.is_followed,
    }


def _dump_data(value: object) -> Any:
    """Return a copy of native data in plain JSON data."""
    if isinstance(value, (bytes, bytearray)):
        return {BYTES: base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        copied = {name: _dump_data(inner) for name, inner in value.items()}
        return {BYTES: [copied[BYTES]]} if set(copied) == {BYTES} else copied
    if isinstance(value, (list, tuple)):
        return [_dump_data(inner) for inner in value]
    return value


def _dump_part(part: Part) -> dict[str, object]:
    native = native_in(part)
    fields: dict[str, object] = {
        "type": part.type,
        "id": part.id,
        "is_complete": part.is_complete,
        "native": None if native is None else _dump_data(native),
        "block": list(part.block),
    }
    if isinstance(part, ToolCall):
        fields |= _dump_call(part)
    elif isinstance(part, TextPart):
        fields |= {"text": text_in(part).dumped, "citations": [_dump_citation(each) for each in part.citations]}
    elif isinstance(part, ReasoningPart):
        fields |= {
            "text": text_in(part).dumped,
            "signature": part.signature,
            "encrypted": _dump_data(part.encrypted),
            "is_summary": part.is_summary,
            "sections": [[list(block), at] for block, at in part.sections],
        }
    elif isinstance(part, RefusalPart):
        fields |= {"text": text_in(part).dumped}
    elif isinstance(part, OpaquePart):
        fields |= {"kind": part.kind}
    else:
        names = OTHER_FIELDS[part.type]
        fields |= {name: _dump_data(getattr(part, name)) for name in names}
    return fields


def _dump_citation(citation: Citation) -> list[object]:
    return [_dump_data(getattr(citation, name)) for name in CITATION_FIELDS]


def _dump_call(call: ToolCall) -> dict[str, object]:
    arguments = arguments_in(call)
    leaves, misplaced = arguments.leaves, arguments.misplaced
    return {
        "index": call.index,
        "name": call.name,
        "kind": call.kind,
        "signature": call.signature,
        "ended": done_of(call),
        "text": arguments.text.dumped if leaves is None else None,
        "leaves": None if leaves is None else [_dump_leaf(leaf) for leaf in leaves.merged()],
        "is_closed": _is_closed(arguments),
        "misplaced": None if misplaced is None else [list(misplaced.path), misplaced.reason.value, misplaced.step],
    }


def _is_closed(arguments: CallArguments) -> bool:
    """Tell whether the arguments have ended, where their text does not tell: leaves, a number, a repaired end."""
    leaves, document = arguments.leaves, arguments.document
    if leaves is not None:
        return leaves.is_closed
    return document is not None and document.is_ended


def _dump_leaf(leaf: Leaf) -> list[object]:
    return [leaf.path, leaf.will_continue] if leaf.value is MISSING else [leaf.path, leaf.will_continue, leaf.value]


# ---- loading -----------------------------------------------------------------------------------------


def load(data: object, config: Config) -> MessageFields:
    """Return the fields of a dump. Raise `StateError` if `dump` cannot have written the data with this config."""
    try:
        return _load(data, config)
    except StateError:
        raise
    except (UnspoolError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise StateError(f"invalid state dump: {type(error).__name__}") from None


def _load(data: Any, config: Config) -> MessageFields:
    check(isinstance(data, dict), "unexpected fields")
    if data.get("version") == FIRST_VERSION:
        data = _upgraded(data, config)
    check(set(data) == FIELDS, "unexpected fields")
    check(data["version"] == VERSION, "unsupported version")
    check(data["config"] == config.as_dict(), "the message started with another config")
    parts = tuple([_load_part(part, config) for part in data["parts"]])
    _check_calls([part for part in parts if isinstance(part, ToolCall)], config)
    blocks = GrowingMap()
    for block, native in data["blocks"]:
        blocks = blocks.put(_load_block(block), _load_record(native))
    indexes, ids = GrowingMap(), GrowingMap()
    for index, number in data["indexes"]:
        indexes = indexes.put(_whole(index), _call_number(number, parts))
    for call_id, number in data["ids"]:
        ids = ids.put(text(call_id), _call_number(number, parts))
    return MessageFields(
        format=_load_format(data["format"]),
        role=_optional_text(data["role"]),
        id=_optional_text(data["id"]),
        model=_optional_text(data["model"]),
        native=_load_record(data["native"]),
        parts=parts,
        blocks=blocks,
        answer=_load_answer(data["answer"], config),
        is_answer_stale=data["answer"] is not None,
        directory=CallDirectory(
            indexes,
            ids,
            NO_CALL if data["last"] == NO_CALL else _call_number(data["last"], parts),
            NO_CALL if data["written"] == NO_CALL else _call_number(data["written"], parts),
        ),
        has_blocks=flag(data["has_blocks"]),
        finish=None if data["finish"] is None else _load_finish(*data["finish"]),
        usage=None if data["usage"] is None else _load_usage(*data["usage"]),
        failure=None if data["failure"] is None else _load_failure(*data["failure"]),
        notes=Notes.of({
            (Quirk(code), None if call is None else _call_number(call, parts), text(detail)): _whole(count)
            for code, call, detail, count in data["notes"]
        }),
        is_finished=flag(data["is_finished"]),
        is_followed=flag(data["is_followed"]),
    )  # fmt: skip


def _load_format(name: object) -> str | None:
    check(name is None or name in FORMATS, "unknown format")
    return cast("str | None", name)


def _load_block(block: Any) -> Block:
    check(isinstance(block, list) and _are_steps(block), "invalid block")
    return tuple(block)


def _load_data(value: Any, depth: int = 0) -> Any:
    """Return native data: plain JSON data, with bytes where the dump marks them."""
    check(depth <= MAX_DATA_DEPTH, "native fields are nested too deeply")
    if isinstance(value, dict):
        if set(value) == {BYTES}:
            held = value[BYTES]
            if isinstance(held, list):
                check(len(held) == 1, "invalid bytes")
                return {BYTES: _load_data(held[0], depth + 1)}
            return base64.b64decode(text(held), validate=True)
        return {text(name): _load_data(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [_load_data(inner, depth + 1) for inner in value]
    check(value is None or isinstance(value, (str, int, float)), "a native field is not JSON")
    return value


def _load_record(value: Any) -> dict[str, object]:
    loaded = _load_data(value)
    check(isinstance(loaded, dict), "native fields are not an object")
    return cast("dict[str, object]", loaded)


def _load_part(data: Any, config: Config) -> Part:
    check(isinstance(data, dict) and set(data) >= PART_FIELDS, "unexpected fields of a part")
    kind, named, is_complete = text(data["type"]), _optional_text(data["id"]), flag(data["is_complete"])
    native = None if data["native"] is None else _load_record(data["native"])
    block = _load_block(data["block"])
    own = {name: data[name] for name in data if name not in PART_FIELDS}
    if kind == "tool_call":
        check(set(own) == CALL_FIELDS, "unexpected fields of a call")
        return _load_call(own, named, is_complete, native, block, config)
    if kind == "text":
        check(set(own) == {"text", "citations"}, "unexpected fields of a text")
        citations = tuple([_load_citation(each) for each in own["citations"]])
        return TextPart(text(own["text"]), citations, named, is_complete, native, block)
    if kind == "reasoning":
        check(
            set(own) == {"text", "signature", "encrypted", "is_summary", "sections"}, "unexpected fields of reasoning"
        )
        encrypted = _load_data(own["encrypted"])
        check(encrypted is None or isinstance(encrypted, (str, bytes)), "invalid encrypted reasoning")
        written = text(own["text"])
        sections = tuple([(_load_block(each), natural(at)) for each, at in own["sections"]])
        places = [at for _, at in sections]
        check(places == sorted(places) and (not places or places[-1] <= len(written)), "invalid sections")
        signature, is_summary = _optional_text(own["signature"]), flag(own["is_summary"])
        return ReasoningPart(written, signature, encrypted, is_summary, named, is_complete, native, block, sections)
    if kind == "refusal":
        check(set(own) == {"text"}, "unexpected fields of a refusal")
        return RefusalPart(text(own["text"]), named, is_complete, native, block)
    if kind == "opaque":
        check(set(own) == {"kind"}, "unexpected fields of an opaque part")
        return OpaquePart(text(own["kind"]), named, is_complete, native, block)
    return _load_other(kind, own, named, is_complete, native, block)


def _load_other(
    kind: str, own: dict[str, Any], id: str | None, is_complete: bool, native: dict[str, object] | None, block: Block
) -> Part:
    check(kind in OTHER_FIELDS and set(own) == set(OTHER_FIELDS[kind]), "unexpected fields of a part")
    texts = {name: _optional_text(value) for name, value in own.items() if name not in {"output", "is_error", "data"}}
    if kind == "tool_result":
        output, is_error = _load_data(own["output"]), flag(own["is_error"])
        return ToolResultPart(texts["call_id"], texts["name"], output, is_error, id, is_complete, native, block)
    if kind == "source":
        url, title, media_type, quoted = texts["url"], texts["title"], texts["media_type"], texts["text"]
        return SourcePart(url, title, media_type, quoted, id, is_complete, native, block)
    data = _load_data(own["data"])
    check(data is None or isinstance(data, (str, bytes)), "invalid data of a file")
    media_type, url, file_id, name = texts["media_type"], texts["url"], texts["file_id"], texts["name"]
    transcript = text(own["transcript"])
    return FilePart(media_type, data, url, file_id, name, transcript, id, is_complete, native, block)


def _load_citation(data: Any) -> Citation:
    url, title, cited_text, start, end, source_id, native = data
    return Citation(
        _optional_text(url),
        _optional_text(title),
        _optional_text(cited_text),
        _optional_whole(start),
        _optional_whole(end),
        _optional_text(source_id),
        None if native is None else _load_record(native),
    )


def _upgraded(data: dict[str, Any], config: Config) -> dict[str, Any]:
    """Return a dump of the first version in the form of this one: its texts and calls become parts."""
    known: dict[str, Any] = {**data, "version": VERSION, "format": None, "native": {}, "blocks": []}
    check(isinstance(data.get("config"), dict), "unexpected fields")
    known["config"] = {**data["config"], "max_parts": config.max_parts}
    parts: list[dict[str, Any]] = []
    common = {"id": None, "is_complete": False, "native": None}
    reasoning: dict[str, Any] = {"signature": None, "encrypted": None, "is_summary": False, "sections": []}
    own: dict[str, dict[str, Any]] = {"reasoning": reasoning, "text": {"citations": []}, "refusal": {}}
    for field, kind in (("reasoning", "reasoning"), ("content", "text"), ("refusal", "refusal")):
        for block, written in known.pop(field):
            parts.append({**common, **own[kind], "type": kind, "block": block, "text": written})
    shift = len(parts)
    added: dict[str, Any] = {"type": "tool_call", "native": None, "block": [], "signature": None}
    parts += [{**call, **added} for call in known.pop("calls")]
    known["parts"] = parts
    if known["failure"] is not None:
        known["failure"] = [*known["failure"], None]
    for field in ("indexes", "ids"):
        known[field] = [[name, natural(number) + shift] for name, number in known[field]]
    for field in ("last", "written"):
        known[field] = known[field] if known[field] == NO_CALL else natural(known[field]) + shift
    for index, number in known["indexes"]:
        check(number < len(parts), "unknown call")
        parts[number]["block"] = [index]
    known["notes"] = [
        [code, None if call is None else natural(call) + shift, detail, count]
        for code, call, detail, count in known["notes"]
    ]
    return known


def _load_answer(data: Any, config: Config) -> JSONDocument | None:
    answer = config.answer
    if answer is None or config.emulate_structured_output:
        check(data is None, "unexpected answer")
        return answer
    if data is None:
        return None
    parser = ParserState.load(data)
    check(parser.options == config.options, "the answer has other options")
    check((data["extract"] is not None) is config.extract, "the answer has other options")
    return JSONDocument(parser, answer.resolver, config.extract, fed=parser.index)


def _load_finish(reason: Any, raw: object) -> Finish:
    check(reason in get_args(FinishReason), "unknown finish reason")
    return Finish(reason, _optional_text(raw))


def _load_usage(read: object, written: object, total: object, raw: Any) -> Usage:
    check(isinstance(raw, dict) and _is_plain(raw), "the usage is not a JSON object")
    return Usage(_optional_whole(read), _optional_whole(written), _optional_whole(total), raw)


def _load_failure(fault: Any, code: object, detail: object, status: object) -> MessageError:
    return MessageError(Fault(fault), code=_optional_text(code), detail=text(detail), status=_optional_whole(status))


def _check_calls(calls: list[ToolCall], config: Config) -> None:
    shown = [call for call in calls if call.index != HIDDEN]
    check(sorted([call.index for call in shown]) == list(range(len(shown))), "the calls have gaps")
    hidden = {call.name for call in calls if call.index == HIDDEN}
    is_emulated = config.emulate_structured_output
    check(not hidden or (is_emulated and hidden <= {None, OUTPUT}), "a call is hidden that should be shown")
    check(not is_emulated or all(call.name != OUTPUT for call in shown), "a call is shown that should be hidden")


def _load_call(
    data: dict[str, Any],
    id: str | None,
    is_complete: bool,
    native: dict[str, object] | None,
    block: Block,
    config: Config,
) -> ToolCall:
    name, kind = _optional_text(data["name"]), data["kind"]
    check(kind is None or kind in get_args(CallKind), "unknown kind of call")
    arguments = _load_arguments(data, CallArguments.begin(None if kind == "custom" else config.arguments_of(name)))
    done = natural(data["ended"])
    check(done <= DONE_WITH_BLOCK, "unknown end of a call")
    signature, index = _optional_text(data["signature"]), _whole(data["index"])
    if is_complete:
        arguments = arguments.end([])
        check(name is not None, "a complete call without a name")
    call = ToolCall(index, id, name, kind, arguments, done, False, None, signature, native, block)
    if arguments.is_blank and kind != "custom":
        is_complete = False  # only the end of the message completes such a call; loading repeats that
    check(arguments.is_valid or not is_complete, "a complete call with invalid arguments")
    error = arguments.error(place_of(call), None)
    return ToolCall(index, id, name, kind, arguments, done, is_complete, error, signature, native, block)


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
        if not data["leaves"]:
            check(data["misplaced"] is not None, "no leaves at all")
            arguments = CallArguments(arguments.text, arguments.document, NO_LEAVES)
    if flag(data["is_closed"]):
        arguments = arguments.end([])
        check(_is_closed(arguments), "closed arguments that are incomplete")
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


def _call_number(number: object, parts: tuple[Part, ...]) -> int:
    check(natural(number) < len(parts) and isinstance(parts[cast("int", number)], ToolCall), "unknown call")
    return cast("int", number)


def _is_plain(value: object) -> bool:
    """Tell whether the value is JSON data, and not nested too deeply to be written as text again."""
    waiting = [(value, 0)]
    while waiting:
        inner, depth = waiting.pop()
        if depth > MAX_DATA_DEPTH:
            return False
        if isinstance(inner, dict):
            if not all(isinstance(key, str) for key in inner):
                return False
            waiting.extend([(child, depth + 1) for child in inner.values()])
        elif isinstance(inner, list):
            waiting.extend([(child, depth + 1) for child in inner])
        elif inner is not None and not isinstance(inner, (str, int, float)):
            return False
    return True


# ---- deltas ------------------------------------------------------------------------------------------

DELTAS_VERSION: Final = 1
NO_INDEX: Final[list[object]] = []
"""An index that the wire did not have: null is an index of its own."""

DELTA_CODES: Final[dict[str, type[Delta]]] = {
    "m": MessageStart,
    "t": TextDelta,
    "r": ReasoningDelta,
    "n": RefusalDelta,
    "c": ToolCallDelta,
    "p": PartStart,
    "d": PartData,
    "b": BlockStart,
    "z": BlockEnd,
    "o": Recount,
    "k": MessageData,
    "u": Usage,
    "f": Finish,
    "x": ProviderError,
    "i": Ignored,
}
CODES: Final = {kind: code for code, kind in DELTA_CODES.items()}

DEFAULTS: Final[dict[str, object]] = {
    "block": (),
    "is_whole": False,
    "choice": 0,
    "index": MISSING,
    "is_done": False,
    "counts_blocks": False,
    "input_names": (),
    "is_known": False,
}
"""The default values of the fields that have another one than None."""
REQUIRED: Final = {
    *(("t", "text"), ("r", "text"), ("n", "text"), ("p", "part"), ("d", "name"), ("b", "block"), ("b", "native")),
    *(("o", "ids"), ("k", "name"), ("k", "value"), ("f", "reason"), ("x", "message"), ("i", "kind")),
}
"""The fields without a default value, by the letter of the delta."""
BOUND: Final = Config()
"""The config that parts of a delta are loaded with: they hold no calls, so it does not matter."""


def dump_deltas(deltas: Iterable[Delta]) -> list[Any]:
    """Return deltas as compact JSON data. `load_deltas` restores them.

    >>> from unspool.llm import Finish, TextDelta
    >>> dump_deltas([TextDelta("Hel"), TextDelta("lo", (2,)), Finish("stop", "end_turn")])
    [1, 'Hel', ['t', 'lo', [2]], ['f', 'stop', 'end_turn']]
    """
    return [DELTAS_VERSION, *[_dump_delta(delta) for delta in deltas]]


def load_deltas(data: object) -> list[Delta]:
    """Return the deltas that `dump_deltas` wrote. Raise `StateError` for anything else."""
    if type(data) is list and len(data) == 2 and type(data[0]) is int and type(data[1]) is str:  # the most common ones
        check(data[0] == DELTAS_VERSION, "unsupported version of deltas")
        return [TextDelta(data[1])]
    try:
        check(isinstance(data, list) and len(data) > 0, "deltas must be a list")
        version, *items = cast("list[Any]", data)
        check(type(version) is int and version == DELTAS_VERSION, "unsupported version of deltas")
        return [_load_delta(item) for item in items]
    except StateError:
        raise
    except (UnspoolError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise StateError(f"invalid deltas: {type(error).__name__}") from None


def _dump_delta(delta: Delta) -> object:
    kind = type(delta)
    if isinstance(delta, TextDelta) and not delta.block and not delta.is_whole and delta.choice == 0:
        return delta.text
    fields: list[object] = [CODES[kind]]
    size = 1
    for name in kind.__match_args__:
        value = getattr(delta, name)
        is_default = value is None if name not in DEFAULTS else value is DEFAULTS[name] or value == DEFAULTS[name]
        if name == "raw" and kind is Usage:
            is_default = not value
        dumper = DUMPERS.get(name)
        fields.append(None if is_default and dumper is None else value if dumper is None else dumper(value))
        if not is_default or (fields[0], name) in REQUIRED:
            size = len(fields)
    return fields[:size]


def _load_delta(data: Any) -> Delta:
    if isinstance(data, str):
        return TextDelta(data)
    check(isinstance(data, list) and len(data) > 0, "invalid delta")
    code, *values = data
    kind = DELTA_CODES.get(code) if isinstance(code, str) else None
    check(kind is not None, "unknown delta")
    names = cast("type[Delta]", kind).__match_args__
    check(len(values) <= len(names), "a delta with too many fields")
    check(all((code, name) not in REQUIRED for name in names[len(values) :]), "a delta with too few fields")
    fields: dict[str, Any] = {}
    for name, value in zip(names, values, strict=False):
        if value is None and (name in DEFAULTS or name == "raw") and name != "index":
            continue  # a default between other fields
        fields[name] = LOADERS.get(name, _load_scalar)(value)
    _check_delta(code, fields)
    return cast("Callable[..., Delta]", kind)(**fields)


def _dump_index(index: object) -> object:
    return NO_INDEX if index is MISSING else index


def _load_index(data: Any) -> Any:
    if data == NO_INDEX:
        return MISSING
    check(data is None or (isinstance(data, (int, str)) and not isinstance(data, bool)), "invalid index")
    return data


def _dump_arguments(arguments: object) -> object:
    if isinstance(arguments, Whole):
        return {"whole": _dump_data(arguments.value)}
    if isinstance(arguments, tuple):
        return [_dump_leaf(leaf) for leaf in cast("tuple[Leaf, ...]", arguments)]
    return arguments


def _load_arguments_of_delta(data: Any) -> Any:
    if isinstance(data, dict):
        check(set(data) == {"whole"}, "invalid arguments")
        return Whole(_load_data(data["whole"]))
    if isinstance(data, list):
        leaves: list[Leaf] = []
        for path, will_continue, *value in data:
            check(len(value) <= 1 and _is_plain(value), "a leaf is not JSON")
            leaves.append(Leaf(text(path), value[0] if value else MISSING, flag(will_continue)))
        return tuple(leaves)
    return _optional_text(data)


def _dump_value(value: object) -> object:
    """Return the value of a field of a part: citations and tuples are marked."""
    if isinstance(value, Citation):
        return {"citation": _dump_citation(value)}
    if isinstance(value, tuple):
        return {"tuple": [_dump_value(item) for item in cast("tuple[object, ...]", value)]}
    return {"data": _dump_data(value)}


def _load_value(data: Any) -> Any:
    check(isinstance(data, dict) and len(data) == 1, "invalid value of a field")
    ((mark, value),) = data.items()
    if mark == "citation":
        return _load_citation(value)
    if mark == "tuple":
        return tuple([_load_value(item) for item in value])
    check(mark == "data", "invalid value of a field")
    return _load_data(value)


def _load_part_of_delta(data: Any) -> Part:
    part = _load_part(data, BOUND)
    check(not isinstance(part, ToolCall), "a call is not a part of a delta")
    return part


def _load_optional_record(data: Any) -> dict[str, object] | None:
    return None if data is None else _load_record(data)


def _load_texts(data: Any) -> tuple[str | None, ...]:
    check(isinstance(data, list), "expected a list")
    return tuple([_optional_text(item) for item in data])


def _load_scalar(data: Any) -> Any:
    check(data is None or isinstance(data, (str, int)), "expected a text, a number or a flag")
    return data


DUMPERS: Final[dict[str, Callable[[Any], object]]] = {
    "block": list,
    "index": _dump_index,
    "arguments": _dump_arguments,
    "native": _dump_data,
    "raw": _dump_data,
    "value": _dump_value,
    "part": _dump_part,
    "ids": list,
    "input_names": list,
}
LOADERS: Final[dict[str, Callable[[Any], Any]]] = {
    "block": _load_block,
    "index": _load_index,
    "arguments": _load_arguments_of_delta,
    "native": _load_optional_record,
    "raw": _load_data,
    "value": _load_value,
    "part": _load_part_of_delta,
    "ids": _load_texts,
    "input_names": _load_texts,
}
FLAGS: Final = {"is_whole", "is_done", "counts_blocks", "is_known"}
COUNTS: Final = {"choice", "input_tokens", "output_tokens", "told_total", "status"}


def _check_delta(code: str, fields: dict[str, Any]) -> None:
    """Refuse fields of a type that the reducer does not expect."""
    for name, value in fields.items():
        if name in FLAGS:
            flag(value)
        elif name in COUNTS:
            check(value is None or type(value) is int, "expected a whole number")
        elif name not in LOADERS:
            check(
                isinstance(value, str) if (code, name) in REQUIRED else value is None or isinstance(value, str),
                "expected a text",
            )
    if code == "f":
        check(fields["reason"] in get_args(FinishReason), "unknown finish reason")
    if code == "c":
        kind = fields.get("kind")
        check(kind is None or kind in get_args(CallKind), "unknown kind of call")
    if code == "u":
        check(isinstance(fields.get("raw", {}), dict), "the usage is not an object")
        check(None not in fields.get("input_names", ()), "expected a text")
    if code == "b":
        check(fields["native"] is not None, "a block without native fields")
