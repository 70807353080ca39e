"""Leaves of pydantic types: strings, numbers and all that is written as one of them.

A leaf is judged by pydantic as it was written, so that the rules for JSON hold. Where the result is certain anyway
pydantic is not asked.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from ..._errors import OptionsError
from ..._quoting import quote
from ..._tree.nodes import BooleanNode, NumberNode, StringNode
from .._shape import IGNORED, NULL, STRING, DeferredShape, LeafShape, ShapeError
from .schema import FUNCTIONS, NEVER, is_plain, kinds_of_leaf, listed_values, unlisted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._tree.nodes import Node
    from .._shape import Shape
    from .part import Part
    from .schema import Schema

__all__ = ["leaf"]

WORDS: Final = {
    "str": "a string",
    "bytes": "a string",
    "bool": "a boolean",
    "int": "an integer",
    "float": "a number",
    "none": "null",
    "date": "a date",
    "time": "a time",
    "datetime": "a date and time",
    "timedelta": "a duration",
    "uuid": "a UUID",
    "url": "a URL",
    "multi-host-url": "a URL",
    "decimal": "a decimal number",
    "fraction": "a fraction",
    "complex": "a complex number",
    "json": "JSON in a string",
}
MOST_LISTED: Final = 8
SIMPLE: Final = (str, int, float, bool, type(None))


def leaf(part: Part, early: bool) -> Shape:
    """The shape of a leaf. What has to ask the user's code is not shown before it is judged."""
    schema, config, kind = part.schema, part.config, part.kind
    kinds = kinds_of_leaf(schema, config)
    if part.is_nullable:
        kinds |= {NULL}
    if part.is_lenient and (kind in NEVER or part.calls_back()):
        return IGNORED
    if kind in NEVER and not part.place.may_be_absent and not part.is_nullable:
        raise OptionsError(f"{part.place.path}: no JSON value can become one of {_class_name(schema)}")
    if kind in ("literal", "enum"):
        return _listed(part, kinds, early)
    words, make, is_lenient = WORDS.get(kind, "another value"), part.judge(), part.is_lenient
    if not part.has_effects and is_plain(schema, config):
        if kind == "str" and kinds <= {STRING, NULL}:
            return LeafShape(kinds, words, streams=True, is_lenient=is_lenient)
        if kind in _QUICK:
            return LeafShape(kinds, words, make=_QUICK[kind](make), is_lenient=is_lenient)
    if part.is_lenient and part.has_effects:
        return IGNORED
    return LeafShape(kinds, words, make=make, max_length=_max_length(part), is_lenient=is_lenient)


def _max_length(part: Part) -> int | None:
    """From where on a string can only be wrong. White space at the ends may not count."""
    schema, config = part.schema, part.config
    if part.kind != "str" or schema.get("strip_whitespace", config.get("str_strip_whitespace")):
        return None
    most: int | None = schema.get("max_length", config.get("str_max_length"))
    return most


def _listed(part: Part, kinds: frozenset[str], early: bool) -> Shape:
    """A literal or an enum. Whoever lists all of its strings lets a wrong one be told by its first characters."""
    schema = part.schema
    if part.kind == "enum" and unlisted(schema):
        return DeferredShape(part.judge(), is_lenient=part.is_lenient)
    values = listed_values(schema)
    if part.kind == "enum" and not all(isinstance(value, SIMPLE) for value in values):
        return DeferredShape(part.judge(), is_lenient=part.is_lenient)
    functions = [one["function"]["function"] for one in part.around if one["type"] in FUNCTIONS]
    has_class = any(one["type"] in ("model", "dataclass") for one in part.around)
    texts: dict[str, object] | None = None
    # Numbers may be written as text. And what a validator makes of a value is not known before it has been asked.
    if schema.get("sub_type") not in ("int", "float") and not has_class and all(map(_only_reads, functions)):
        texts = _texts(part, values)
        if not texts:
            kinds -= {STRING}
    return LeafShape(
        kinds,
        _list(values),
        make=part.judge(),
        literals=texts or None,
        early=early,
        is_lenient=part.is_lenient,
    )


def _only_reads(function: object) -> bool:
    return isinstance(function, attrgetter)  # so pydantic takes the values of an enum


def _texts(part: Part, values: list[object]) -> dict[str, object]:
    """All strings that stand for one of the values, and what pydantic makes of them."""
    judge = part.judge()
    texts: dict[str, object] = {}
    for value in values:
        if isinstance(value, str):
            try:
                texts[str(value)] = judge(StringNode(0, 0, True, str(value)))
            except ShapeError:
                continue  # pydantic does not take this one from JSON
    return texts


def _list(values: list[object]) -> str:
    if len(values) > MOST_LISTED:
        return f"one of {len(values)} values"
    return " or ".join([quote(value) if isinstance(value, str) else repr(value) for value in values])


def _class_name(schema: Schema) -> str:
    cls: Any = schema.get("cls", schema["type"])
    return str(getattr(cls, "__name__", cls))


# Where the result is certain


def _quick_int(judge: Callable[[Node], object]) -> Callable[[Node], object]:
    def make(node: Node) -> object:
        if isinstance(node, NumberNode) and type(node.number) is int:
            return node.number
        return judge(node)

    return make


def _quick_float(judge: Callable[[Node], object]) -> Callable[[Node], object]:
    def make(node: Node) -> object:
        if isinstance(node, NumberNode) and type(node.number) is float:
            return node.number
        return judge(node)

    return make


def _quick_bool(judge: Callable[[Node], object]) -> Callable[[Node], object]:
    def make(node: Node) -> object:
        return node.flag if isinstance(node, BooleanNode) else judge(node)

    return make


_QUICK: Final = {"int": _quick_int, "float": _quick_float, "bool": _quick_bool}
