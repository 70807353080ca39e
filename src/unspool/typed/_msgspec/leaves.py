"""What has no parts, judged by msgspec's own decoder, from the text that stands for it: so the verdict is msgspec's."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union

import msgspec
from msgspec import inspect

from ..._quoting import quote
from .._node_text import json_text
from .._shape import BOOLEAN, NULL, NUMBER, STRING, LeafShape, ShapeError

if TYPE_CHECKING:
    from ..._tree.nodes import Node

__all__ = ["LEAVES", "bare", "by_msgspec", "key_by_msgspec", "leaf", "one_of", "worded"]

# The type that stands for each leaf, the kinds that may fit, and what that is in words.
LEAVES: Final[dict[type, tuple[Any, frozenset[str], str]]] = {
    inspect.NoneType: (None, frozenset({NULL}), "null"),
    inspect.BoolType: (bool, frozenset({BOOLEAN}), "true or false"),
    inspect.IntType: (int, frozenset({NUMBER}), "an integer"),
    inspect.FloatType: (float, frozenset({NUMBER}), "a number"),
    inspect.StrType: (str, frozenset({STRING}), "a string"),
    inspect.BytesType: (bytes, frozenset({STRING}), "text in base 64"),
    inspect.ByteArrayType: (bytearray, frozenset({STRING}), "text in base 64"),
    inspect.MemoryViewType: (memoryview, frozenset({STRING}), "text in base 64"),
    inspect.DateTimeType: (datetime.datetime, frozenset({STRING}), "a date and time"),
    inspect.DateType: (datetime.date, frozenset({STRING}), "a date"),
    inspect.TimeType: (datetime.time, frozenset({STRING}), "a time of day"),
    inspect.TimeDeltaType: (datetime.timedelta, frozenset({STRING}), "a duration"),
    inspect.UUIDType: (uuid.UUID, frozenset({STRING}), "a UUID"),
    inspect.DecimalType: (decimal.Decimal, frozenset({STRING, NUMBER}), "a decimal number"),
}
LIMITS: Final = {
    "gt": "> {}",
    "ge": ">= {}",
    "lt": "< {}",
    "le": "<= {}",
    "multiple_of": "a multiple of {}",
    "pattern": "like {}",
    "min_length": "length >= {}",
    "max_length": "length <= {}",
    "tz": "with a time zone: {}",
}


def leaf(info: inspect.Type) -> LeafShape:
    """The shape of one of LEAVES. A plain string is shown while it is written."""
    _, kinds, words = LEAVES[type(info)]
    limits = _limits(info)
    words = worded(info, words)
    if isinstance(info, (inspect.NoneType, inspect.BoolType, inspect.StrType)) and not limits:
        return LeafShape(kinds, words, streams=isinstance(info, inspect.StrType))
    longest = info.max_length if isinstance(info, inspect.StrType) else None
    return LeafShape(kinds, words, make=by_msgspec(info, words), max_length=longest)


def one_of(info: inspect.Type, values: Sequence[object], texts: dict[str, object] | None, early: bool) -> LeafShape:
    """The shape of a Literal or Enum; `texts` are all strings that may come, where that is known."""
    kinds: dict[type, str] = {bool: BOOLEAN, int: NUMBER, str: STRING}
    words = "one of " + ", ".join([repr(value) for value in values[:9]]) + (", ..." if len(values) > 9 else "")
    may_fit = frozenset([kinds.get(type(value), NULL) for value in values])
    return LeafShape(may_fit, words, make=by_msgspec(info, words), literals=texts, early=early)


def by_msgspec(info: inspect.Type, words: str) -> Callable[[Node], object]:
    """What judges a leaf."""
    decode = msgspec.json.Decoder(_annotation(info)).decode

    def make(node: Node) -> object:
        try:
            return decode(json_text(node))
        except msgspec.DecodeError:  # which may quote the text
            raise ShapeError.of("invalid", words) from None

    return make


def key_by_msgspec(info: inspect.Type) -> Callable[[str], object]:
    """What judges a key: msgspec reads numbers, dates and the like from it."""
    by_key: Any = dict
    decode = msgspec.json.Decoder(by_key[_annotation(info), None]).decode

    def check(key: str) -> object:
        try:
            return next(iter(decode(f"{{{quote(key)}:null}}")))
        except msgspec.DecodeError:
            raise ShapeError.of("invalid_key", "another key") from None

    return check


def bare(info: inspect.Type) -> inspect.Type:
    """Without the titles and examples that it may be wrapped in."""
    while isinstance(info, inspect.Metadata):
        info = info.type
    return info


def worded(info: inspect.Type, words: str) -> str:
    """The words, and the limits that the type has beside."""
    return ", ".join([words, *[LIMITS[name].format(value) for name, value in _limits(info).items()]])


def _limits(info: inspect.Type) -> dict[str, Any]:
    limits = {name: getattr(info, name, None) for name in LIMITS}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _annotation(info: inspect.Type) -> Any:
    """The type that was described: msgspec wants it back. None, which never fits, for what is no leaf."""
    info = bare(info)
    special: Any = Literal
    if isinstance(info, inspect.LiteralType):
        return special[info.values]
    if isinstance(info, inspect.UnionType):
        special = Union
        return special[(None, *[_annotation(branch) for branch in info.types])]
    if isinstance(info, inspect.EnumType):
        return info.cls
    if isinstance(info, inspect.AnyType):
        return Any
    type_, *_ = LEAVES.get(type(info), (None,))
    limits = _limits(info)
    return Annotated[type_, msgspec.Meta(**limits)] if limits and type_ is not None else type_
