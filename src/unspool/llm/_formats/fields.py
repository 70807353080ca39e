"""Reading a field of a chunk, whatever it is made of: a dict, or an object of somebody's library.

No library is imported for it. What is not there is `MISSING`; a value of the wrong type reads as if it were not there,
and nothing here raises.
"""

# Compiled with mypyc.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, cast

from ..._missing import MISSING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["MOST_DEPTH", "get", "is_record", "items", "names", "number", "plain", "says", "string"]

MOST_DEPTH: Final = 128

# Never a chunk, though they have attributes: "abc".index is a method.
VALUES: Final = (str, bytes, bytearray, int, float, complex, list, tuple, set, frozenset, range, type)


# What a value is made of, by its class.
NO_RECORD: Final = 0
MAPPING: Final = 1
OBJECT: Final = 2
KINDS: Final[dict[type, int]] = {}
MOST_KINDS: Final = 1000  # so that classes which are made again and again are not all kept


def _kind(value: object) -> int:
    """What the value is made of. Asked once for each class: whether that is a mapping takes longer than the rest."""
    of = value.__class__
    kind = KINDS.get(of)
    if kind is None:
        kind = MAPPING if issubclass(of, Mapping) else OBJECT
        if value is None or value is MISSING or isinstance(value, (*VALUES, Enum)):
            kind = NO_RECORD
        if len(KINDS) < MOST_KINDS:
            KINDS[of] = kind
    return kind


def is_record(value: object) -> bool:
    """Whether the value is something with fields."""
    if type(value) is dict:
        return True  # nearly always
    kind = _kind(value)
    return kind == MAPPING or (kind == OBJECT and hasattr(value, "__dict__"))


def get(source: object, name: str, other: str = "") -> object:
    """The field with this name, or else with the other one: camelCase on the wire is snake_case in libraries."""
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
    # A model of pydantic would look for the name in many places first, and then make an exception.
    return cast("dict[str, object]", extra).get(name, MISSING) if isinstance(extra, dict) else MISSING


def names(source: object) -> list[str]:
    """The names of the fields that came."""
    if not is_record(source):
        return []
    if _kind(source) == MAPPING:
        return [name for name in cast("Mapping[object, object]", source) if isinstance(name, str)]
    own, extra = vars(source), getattr(source, "__pydantic_extra__", None)
    came = getattr(source, "model_fields_set", None)  # pydantic tells a null from a default
    found = [name for name in own if name in came] if isinstance(came, (set, frozenset)) else list(own)
    return [*found, *cast("dict[str, object]", extra)] if isinstance(extra, dict) else found


def says(value: object) -> bool:
    """Whether the value is anything but a null or empty."""
    if value is None or value is MISSING:
        return False
    if isinstance(value, (str, list, tuple, dict)):
        return len(cast("Sequence[object]", value)) > 0
    return not is_record(value) or bool(names(value))


def string(source: object, name: str, other: str = "") -> str | None:
    """The text under this name. A member of an enum is its text, or else its name."""
    return _text(get(source, name, other))


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)  # a subclass may have its own __str__ and hash
    if value is None or value is MISSING:
        return None
    return str(value.name) if isinstance(value, Enum) else None


def number(source: object, name: str, other: str = "") -> int | None:
    """The whole number under this name."""
    value = get(source, name, other)
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def items(source: object, name: str, other: str = "") -> Sequence[object]:
    """The items under this name. One thing where many are expected counts as a list of one."""
    value = get(source, name, other)
    if value is None or value is MISSING:
        return ()
    found = _sequence(value)
    return (value,) if found is None else found


def _sequence(value: object) -> Sequence[object] | None:
    if type(value) is list:
        return cast("list[object]", value)  # nearly always; to ask for a Sequence takes longer than the rest
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return cast("Sequence[object]", value)
    return None


def plain(value: object) -> object:
    """A copy in plain JSON data; `MISSING` if it is nested too deep, or in itself."""
    root: list[Any] = [None]
    waiting: list[tuple[object, int, Any, str | int]] = [(value, 0, root, 0)]
    while waiting:
        inner, depth, parent, key = waiting.pop()
        if depth > MOST_DEPTH:
            return MISSING
        sequence = _sequence(inner)
        copy: Any
        if sequence is not None:
            copy = [None] * len(sequence)
            waiting.extend([(item, depth + 1, copy, at) for at, item in enumerate(sequence)])
        elif is_record(inner):
            copy = dict.fromkeys(names(inner))
            waiting.extend([(get(inner, name), depth + 1, copy, name) for name in names(inner)])
        else:
            copy = _scalar(inner)
        parent[key] = copy
    return cast("object", root[0])


def _scalar(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = _text(value)
    return repr(value) if text is None else text
