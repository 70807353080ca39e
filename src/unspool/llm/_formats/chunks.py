"""Reading chunks: fields of dicts and objects, and the deltas made of them.

A chunk is a dict, another mapping, or an object of a provider's library; no library is imported for it. An absent field
reads as `MISSING`, and so does a value of the wrong type. Nothing here raises.

The second half makes deltas from fields. A null makes none; a value of the wrong type becomes `Ignored`, with the name
of the field.
"""

# Compiled with mypyc.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, cast

from ..._missing import MISSING
from .._deltas import Finish, Ignored, MessageData, ProviderError, ToolCallDelta, Usage, Whole

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from .._deltas import Block, CallKind, Delta, FinishReason, Index, ReasoningDelta, RefusalDelta, TextDelta

__all__ = [
    "MAX_DEPTH",
    "block",
    "block_text",
    "call",
    "failure",
    "finish",
    "get",
    "has_just",
    "has_more",
    "index",
    "is_record",
    "items",
    "leftovers",
    "message_data",
    "names",
    "native",
    "number",
    "plain",
    "says",
    "sent",
    "string",
    "usage",
]

MAX_DEPTH: Final = 128
"""The depth of a value that `plain` copies."""

# Values that are not records although they have attributes: "abc".index is a method.
VALUES: Final = (str, bytes, bytearray, int, float, complex, list, tuple, set, frozenset, range, type)

# The kinds of values, by class.
NO_RECORD: Final = 0
MAPPING: Final = 1
OBJECT: Final = 2
KINDS: Final[dict[type, int]] = {}
MAX_KINDS: Final = 1000  # a program may create classes again and again


# ---- fields ------------------------------------------------------------------------------------------


def _kind(value: object) -> int:
    """Return the kind of a value, looked up once per class: the check for a mapping takes longer than all others."""
    of = value.__class__
    kind = KINDS.get(of)
    if kind is None:
        kind = MAPPING if issubclass(of, Mapping) else OBJECT
        if value is None or value is MISSING or isinstance(value, (*VALUES, Enum)):
            kind = NO_RECORD
        if len(KINDS) < MAX_KINDS:
            KINDS[of] = kind
    return kind


def is_record(value: object) -> bool:
    """Tell whether the value has fields."""
    if type(value) is dict:
        return True  # nearly always
    kind = _kind(value)
    return kind == MAPPING or (kind == OBJECT and hasattr(value, "__dict__"))


def get(source: object, name: str, other: str = "") -> object:
    """Return the field with this name, or else with the other one: camelCase on the wire, snake_case in libraries."""
    if type(source) is dict:  # nearly always
        fields: dict[str, object] = source  # pyright: ignore[reportUnknownVariableType] - a cast would take time
        found = fields.get(name, MISSING)
        return fields.get(other, found) if other and (found is None or found is MISSING) else found
    found = _field(source, name)
    if other and (found is None or found is MISSING):
        second = _field(source, other)
        return found if second is MISSING else second
    return found


def _field(source: object, name: str) -> object:
    kind = _kind(source)
    if kind == MAPPING:
        return cast("Mapping[str, object]", source).get(name, MISSING)
    if kind == NO_RECORD or not hasattr(source, "__dict__"):
        return MISSING
    own = vars(source)
    if name in own:
        return own[name]
    extra = getattr(source, "__pydantic_extra__", MISSING)
    if extra is MISSING:
        return cast("object", getattr(source, name, MISSING))
    # Asking a model of pydantic for an absent attribute is slow: it searches many places and raises.
    return cast("dict[str, object]", extra).get(name, MISSING) if isinstance(extra, dict) else MISSING


def names(source: object) -> list[str]:
    """Return the names of the fields that the provider sent."""
    if not is_record(source):
        return []
    if _kind(source) == MAPPING:
        return [name for name in cast("Mapping[object, object]", source) if isinstance(name, str)]
    own, extra = vars(source), getattr(source, "__pydantic_extra__", None)
    sent = getattr(source, "model_fields_set", None)  # pydantic distinguishes a null from a default
    found = [name for name in own if name in sent] if isinstance(sent, (set, frozenset)) else list(own)
    return [*found, *cast("dict[str, object]", extra)] if isinstance(extra, dict) else found


def sent(source: object) -> Collection[str] | None:
    """Return the names of the fields that the provider sent, if the chunk tells them cheaply; None otherwise."""
    if type(source) is dict:
        return cast("dict[str, object]", source)
    fields = getattr(source, "__pydantic_fields_set__", None)
    if type(fields) is not set:
        return None
    extra = getattr(source, "__pydantic_extra__", None)
    known = cast("set[str]", fields)
    return {*known, *cast("dict[str, object]", extra)} if extra else known


def says(value: object) -> bool:
    """Tell whether the value carries information: it is neither null nor empty."""
    if value is None or value is MISSING:
        return False
    if isinstance(value, (str, list, tuple, dict)):
        return len(cast("Sequence[object]", value)) > 0
    return not is_record(value) or bool(names(value))


def string(source: object, name: str, other: str = "") -> str | None:
    """Return the text of a field. A member of an enum reads as its text, or else as its name."""
    value = get(source, name, other)
    return value if type(value) is str else _text(value)


def _text(value: object) -> str | None:
    if value is None or value is MISSING:
        return None
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)  # a subclass may override __str__ and hash
    return str(value.name) if isinstance(value, Enum) else None


def number(source: object, name: str, other: str = "") -> int | None:
    """Return the whole number in a field."""
    value = get(source, name, other)
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def index(source: object, name: str) -> Index:
    """Return the index in a field as it arrived, even as a string or a null."""
    value = get(source, name)
    if type(value) is int:
        return value
    if value is None:
        return None if name in names(source) else MISSING  # in an object, None may be the default of an absent field
    found = number(source, name)
    if found is not None:
        return found
    text = _text(value)
    return MISSING if text is None else text


def items(source: object, name: str, other: str = "") -> list[object]:
    """Return the items in a field. A single value counts as a list of one."""
    value = get(source, name, other)
    if type(value) is list:
        return cast("list[object]", value)  # nearly always
    if value is None or value is MISSING:
        return []
    found = _sequence(value)
    return [value] if found is None else list(found)


def _sequence(value: object) -> Sequence[object] | None:
    if type(value) is list:
        return cast("list[object]", value)  # nearly always, and the check for a Sequence is slow
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return cast("Sequence[object]", value)
    return None


def plain(value: object, keeps_bytes: bool = True) -> object:
    """Return a copy in plain JSON data; `MISSING` if it is nested too deeply, or contains itself.

    The fields of an object get the names that they have on the wire. Bytes stay bytes unless `keeps_bytes` is false.
    """
    root: list[Any] = [None]
    waiting: list[tuple[object, int, Any, str | int]] = [(value, 0, root, 0)]
    while waiting:
        inner, depth, parent, key = waiting.pop()
        if depth > MAX_DEPTH:
            return MISSING
        sequence = _sequence(inner)
        copy: Any
        if sequence is not None:
            copy = [None] * len(sequence)
            waiting.extend([(item, depth + 1, copy, at) for at, item in enumerate(sequence)])
        elif is_record(inner):
            fields = _wire_names(inner)
            copy = dict.fromkeys(fields.values())
            waiting.extend([(get(inner, name), depth + 1, copy, known) for name, known in fields.items()])
        else:
            copy = _scalar(inner, keeps_bytes)
        parent[key] = copy
    return cast("object", root[0])


def _scalar(value: object, keeps_bytes: bool) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if keeps_bytes and isinstance(value, (bytes, bytearray)):
        return bytes(value)
    text = _text(value)
    return repr(value) if text is None else text


def _wire_names(source: object) -> dict[str, str]:
    """Return the names of the fields, each with its name on the wire: a model of pydantic has `from_` for "from"."""
    found = names(source)
    models: object = None if _kind(source) == MAPPING else getattr(type(source), "model_fields", None)
    if not isinstance(models, dict):
        return {name: name for name in found}
    declared = cast("dict[str, object]", models)
    aliases = {name: _alias(declared.get(name)) or name for name in found}
    return aliases if len(set(aliases.values())) == len(aliases) else {name: name for name in found}


def _alias(field: object) -> str | None:
    for name in ("serialization_alias", "alias"):
        alias = getattr(field, name, None)
        if isinstance(alias, str):
            return alias
    return None


def native(source: object, left_out: Collection[str] = ()) -> dict[str, object]:
    """Return the fields of a record in plain data, without those named here: a block without the fields that grow."""
    copies = {known: plain(get(source, name)) for name, known in _wire_names(source).items() if known not in left_out}
    return {name: copy for name, copy in copies.items() if copy is not MISSING}


# ---- deltas ------------------------------------------------------------------------------------------


def block_text(
    kind: type[TextDelta | ReasoningDelta | RefusalDelta],
    source: object,
    name: str,
    block: Block = (),
    is_whole: bool = False,
    choice: int = 0,
) -> list[Delta]:
    """Make a delta of this kind from the text of a field."""
    value = get(source, name)
    if value is None or value is MISSING:
        return []
    text = _text(value)
    if text is None:
        return [Ignored(name)] if says(value) else []
    return [kind(text, block, is_whole, choice)] if text else []


def call(
    source: object,
    name: str,
    *,
    index: Index = MISSING,
    id: str | None = None,
    tool: str | None = None,
    kind: CallKind | None = None,
    is_whole: bool = False,
    is_done: bool = False,
    counts_blocks: bool = False,
    choice: int = 0,
    signature: str | None = None,
    native: dict[str, object] | None = None,
) -> list[Delta]:
    """Make the delta of a tool call. The field holds its arguments: a piece of text, or all of them as an object."""
    value = get(source, name)
    text = value if type(value) is str else _text(value)
    arguments: str | Whole | None = None
    if text is not None:
        arguments = Whole(text) if is_whole else text
    else:
        copy = plain(value, keeps_bytes=False)
        if isinstance(copy, (dict, list)):
            arguments = Whole(cast("object", copy))
    found: list[Delta] = [
        ToolCallDelta(index, id, tool, arguments, kind, is_done, counts_blocks, choice, signature, native)
    ]
    if arguments is None and says(value):
        found.append(Ignored(name))
    return found


def block(source: object, *names: str) -> Block:
    """Return the block with the numbers in these fields, without absent ones."""
    return tuple([found for name in names if (found := number(source, name)) is not None])


def finish(
    source: object, name: str, reasons: Mapping[str, FinishReason], choice: int = 0, other: str = ""
) -> list[Delta]:
    """Make a `Finish` from the reason in a field. An empty reason makes none."""
    value = get(source, name, other)
    if value is None or value is MISSING:
        return []
    raw = _text(value)
    if raw is None:
        return [Ignored(name)] if says(value) else []
    return [Finish(reasons.get(raw.lower(), "other"), raw, choice)] if raw else []


def usage(
    source: object,
    read: int | None,
    written: int | None,
    total: int | None = None,
    input_names: tuple[str, ...] = (),
) -> list[Delta]:
    """Make a `Usage` if there is any count."""
    if read is None and written is None and total is None:
        return []
    raw = plain(source, keeps_bytes=False)
    fields = cast("dict[str, object]", raw) if isinstance(raw, dict) else None
    return [Usage(read, written, total, fields, input_names)]


def failure(error: object, code: str | None = None) -> list[Delta]:
    """Make a `ProviderError` from a text, or from an object with a message and a code of some name."""
    if not says(error):
        return []
    message = _text(error)
    if message is None and not is_record(error):
        return [Ignored("error")]
    for name in ("code", "type", "status"):
        if code is None:
            status = number(error, name)
            code = (string(error, name) or None) if status is None else str(status)
    status = number(error, "status_code") or number(error, "status")
    if status is not None and code == str(status):
        status = None  # the code says it already
    return [ProviderError(message or string(error, "message") or "", code, plain(error, keeps_bytes=False), status)]


def leftovers(source: object, read: Collection[str], known: Collection[str]) -> list[Delta]:
    """Make an `Ignored` for each field that was not read and carries information."""
    return [Ignored(name, name in known) for name in names(source) if name not in read and says(get(source, name))]


def has_just(source: object, size: int, one: str, other: str) -> bool:
    """Tell whether a dict has this number of fields, among them these two. The caller has read all others."""
    if type(source) is not dict:
        return False
    fields = cast("dict[str, object]", source)
    return len(fields) == size and one in fields and other in fields


def has_more(source: object, expected: frozenset[str]) -> bool:
    """Tell whether a record may have other fields than the expected ones.

    This check is for deltas that come with every few characters: look at the fields themselves only if it says yes.
    """
    if type(source) is dict:
        return not expected.issuperset(cast("dict[str, object]", source))
    extra: object = getattr(source, "__pydantic_extra__", MISSING)
    return extra is MISSING or bool(extra)


def message_data(source: object, read: Collection[str]) -> list[Delta]:
    """Make a `MessageData` for each field that was not read. A null makes none."""
    found: list[Delta] = []
    for name, value in native(source, read).items():
        if value is not None:
            found.append(MessageData(name, value))
    return found
