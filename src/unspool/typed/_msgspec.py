"""msgspec's types as shapes: structs, and every other type that `msgspec.json.decode` accepts.

`msgspec.inspect` describes a type. The annotations are walked beside the description, because msgspec drops the markers
in them. msgspec's own decoder judges a leaf, from the text of the leaf; a container is put together from the values of
its children, in the way that msgspec does it. So the verdict and the value are those of `msgspec.json.decode`. The one
exception is a `Raw`: its white space and escapes are lost.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

try:
    import msgspec
    from msgspec import NODEFAULT, UNSET, inspect
except ImportError as error:
    raise ImportError("msgspec types need msgspec: pip install 'unspool[msgspec]'") from error

from .._errors import OptionsError
from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, ObjectNode, StringNode
from ._resolve import HIDDEN
from ._shape import (
    BOOLEAN,
    IGNORED,
    NO_ITEMS,
    NULL,
    NUMBER,
    STRING,
    UNWRITTEN,
    AnyShape,
    ArrayShape,
    Atomic,
    DeferredShape,
    EmptyContainers,
    Field,
    KeySearch,
    LeafShape,
    MapShape,
    NotNull,
    ObjectShape,
    Problem,
    RefShape,
    Shape,
    ShapeError,
    TupleShape,
    UnionShape,
    UnwritableError,
    WholeItems,
    Writing,
    is_exactly,
    json_text,
    message_of,
    plain_copy,
)
from ._twin import attributes_of, described, is_half, twin_of

if TYPE_CHECKING:
    from .._tree.nodes import Node
    from ._shape import Attribute

__all__ = ["shape_of"]

At: TypeAlias = tuple[str, ...]  # the place of a type inside the described type
UnionPart: TypeAlias = tuple[inspect.Type, Any, tuple[Any, ...]]  # description, annotation, markers

MAX_DEPTH: Final = 128
REFUSED: Final = (TypeError, ValueError, NameError, RuntimeError)  # what msgspec raises for a type
TOO_DEEP: Final = f"nested more than {MAX_DEPTH} deep"
COLLECTIONS: Final[dict[type, Callable[[Any], Any]]] = {
    inspect.ListType: list,
    inspect.VarTupleType: tuple,
    inspect.SetType: set,
    inspect.FrozenSetType: frozenset,
}


def shape_of(type: Any, early: bool, fills: bool) -> Shape:
    """Return the shape of a type; see `unspool.typed.from_msgspec`."""
    try:
        msgspec.json.Decoder(type)
        info = inspect.type_info(type)
    except RecursionError as error:
        raise OptionsError(f"$: {TOO_DEEP}") from error
    except REFUSED as error:
        raise OptionsError(f"{culprit(type)}: {error}") from error
    shape = MsgspecDescriber(early, fills).shape(info, type, ("$",))
    shape.writing = MsgspecWriting()
    return shape


class MsgspecDescriber:
    """Makes the shapes of one type and of its parts: one for each class, also where classes contain each other."""

    def __init__(self, early: bool, fills: bool) -> None:
        self._early = early
        self._fills = fills  # containers that have not begun are shown as empty
        self._records: dict[int, RefShape] = {}  # by the id of the description: msgspec makes one per class

    def shape(self, info: inspect.Type, hint: Any, at: At, markers: tuple[Any, ...] = ()) -> Shape:
        if len(at) > MAX_DEPTH:
            raise OptionsError(f"{''.join(at)}: {TOO_DEEP}")
        hint, own = peeled(hint)
        markers += own
        info = bare(info)
        if isinstance(info, inspect.UnionType):
            return self._union(_flat(info, hint, markers), at)
        made = self._single(info, hint, at, has(markers, WholeItems))
        if not has(markers, Atomic):
            return made
        atomic = RefShape()  # the shape itself may be shared with fields that are not atomic
        atomic.target, atomic.is_atomic, atomic.expected = made, True, made.expected
        return atomic

    def _single(self, info: inspect.Type, hint: Any, at: At, whole_items: bool) -> Shape:
        is_object = isinstance(info, inspect.DictType) or (isinstance(info, Record) and not _is_row(info))
        if whole_items and is_object:
            raise OptionsError(f"{''.join(at)}: {NO_ITEMS}")
        if type(info) in LEAVES:
            return leaf(info)
        if isinstance(info, inspect.LiteralType):
            texts: dict[str, object] = {value: value for value in info.values if isinstance(value, str)}
            return one_of(info, info.values, texts, self._early)
        if isinstance(info, inspect.EnumType):
            return self._enum(info)
        if isinstance(info, inspect.AnyType):
            return AnyShape()
        if isinstance(info, inspect.RawType):
            return DeferredShape(lambda node: msgspec.Raw(json_text(node)))
        if isinstance(info, Record):
            return self._record(info, at)
        if isinstance(info, inspect.CollectionType):
            return _collection(info, self.shape(info.item_type, arguments(hint, 1)[0], (*at, "[*]")), whole_items)
        if isinstance(info, inspect.TupleType):
            parts = zip(info.item_types, arguments(hint, len(info.item_types)), strict=True)
            places = [self.shape(one, of, (*at, f"[{index}]")) for index, (one, of) in enumerate(parts)]
            words = f"an array of {len(places)} items"
            make = _sized(tuple, len(places), len(places), words)
            fixed = TupleShape(places, None, show=tuple, make=make, expected=words)
            fixed.whole_items = whole_items
            return fixed
        if isinstance(info, inspect.DictType):
            return _map(info, self.shape(info.value_type, arguments(hint, 2)[1], (*at, "[*]")))
        name = getattr(info, "cls", type(info)).__qualname__
        raise OptionsError(f"{''.join(at)}: {name} is not a type that msgspec reads from JSON by itself")

    def _enum(self, info: inspect.EnumType) -> Shape:
        members: dict[Any, object] = {member.value: member for member in info.cls}
        # A class with a `_missing_` of its own may accept other texts.
        is_open = getattr(info.cls._missing_, "__func__", None) is not vars(enum.Enum)["_missing_"].__func__
        is_text = all(isinstance(value, str) for value in members)
        return one_of(info, [*members], members if is_text and not is_open else None, self._early)

    def _union(self, parts: list[UnionPart], at: At) -> Shape:
        for part in parts:
            if isinstance(part[0], inspect.AnyType):
                return self.shape(part[0], part[1], at, part[2])
        branches: list[Shape] = []
        structs = [part for part in parts if isinstance(part[0], inspect.StructType)]
        if len(structs) > 1:
            tagged = [cast("inspect.StructType", part[0]) for part in structs]
            branches.append(
                TaggedUnionShape(tagged, [self.shape(one, of, at, markers) for one, of, markers in structs])
            )
            parts = [part for part in parts if not isinstance(part[0], inspect.StructType)]
        # In msgspec a Raw in a union never fits.
        branches += [self.shape(*part[:2], at, part[2]) for part in parts if not isinstance(part[0], inspect.RawType)]
        words = " or ".join([branch.expected for branch in branches])
        # Only numbers and texts may have several branches per kind: msgspec allows one branch for each other kind.
        whole = inspect.UnionType(tuple([part[0] for part in parts]))
        return branches[0] if len(branches) == 1 else UnionShape(branches, by_msgspec(whole, words), expected=words)

    def _record(self, info: Record, at: At) -> Shape:
        known = self._records.get(id(info))
        if known is not None:
            return known
        ref = self._records[id(info)] = RefShape()
        cls: Any = get_origin(info.cls) or info.cls
        is_row = _is_row(info)
        extra = not is_row
        fields: dict[str, Field] = {}
        if isinstance(info, inspect.StructType):
            extra = not info.forbid_unknown_fields
            if info.tag is not None:
                tag = self.shape(inspect.LiteralType((info.tag,)), None, at)
                fields[cast("str", info.tag_field)] = Field(TAG, tag, is_required=is_row)
        ref.expected = "an array" if is_row else "an object"
        hints = field_hints(info.cls)
        for field in info.fields:
            hint = hints.get(field.name)
            inner = self.shape(field.type, hint, (*at, f".{field.name}"))
            fields[field.encode_name] = Field(field.name, inner, field.required, has(all_markers(hint), NotNull))
        try:
            show, make = builders(info, cls)
        except TypeError as error:
            raise OptionsError(f"{''.join(at)}: {cls.__name__} cannot be shown half filled: {error}") from error
        if self._fills:
            show = _filling(show, {field.name: field.shape for field in fields.values()})
        if is_row:
            ref.target = row([*fields.values()], show, make, extra)
        else:
            has_defaults = not isinstance(info, inspect.TypedDictType)
            ref.target = ObjectShape(fields, show, make, extra=IGNORED if extra else None, has_defaults=has_defaults)
        return ref.target


def _filling(show: BuildRecord, shapes: dict[str, Shape]) -> BuildRecord:
    empty = EmptyContainers(shapes)
    return lambda members: show(empty.added_to(members))


def _is_row(info: Record) -> bool:
    """Return whether the text spells the record as an array."""
    return info.array_like if isinstance(info, inspect.StructType) else isinstance(info, inspect.NamedTupleType)


class TaggedUnionShape(UnionShape):
    """Structs that a tag tells apart, under a key or as the first item of an array.

    The first of several tags counts, and the struct judges the others. So a later tag never changes the shown value.
    """

    def __init__(self, structs: list[inspect.StructType], branches: list[Shape]) -> None:
        is_row = structs[0].array_like
        self._step = 0 if is_row else cast("str", structs[0].tag_field)
        self._tag_search = KeySearch(str(self._step))
        values = [cast("str | int", struct.tag) for struct in structs]
        texts = {value: value for value in values if isinstance(value, str)}
        self._tag = LeafShape(frozenset(), "one of " + ", ".join([repr(value) for value in values]), literals=texts)
        tags: dict[tuple[str, object], Shape] = {
            (STRING if value in texts else NUMBER, value): branch
            for value, branch in zip(values, branches, strict=True)
        }
        expected = "an array" if is_row else "an object"
        super().__init__(branches, self._without_tag, tags=tags, expected=f"{expected} with a tag")

    def branch_for(self, node: Node) -> Shape | None:
        if not self.branches_for(node.kind):
            raise ShapeError.of("wrong_kind", self.expected)
        tag = self._tag_search.child(node) if isinstance(node, ObjectNode) else node.child_at(self._step)
        if tag is None:
            return None
        if isinstance(tag, StringNode) and not tag.closed:
            if self._tag.literals_from(tag.text):
                return None
        elif not isinstance(tag, ContainerNode) and (tag.kind, tag.value) in self.tags:
            self._tag_search.forget()
            return self.tags[tag.kind, tag.value]
        raise ShapeError.of("unknown_tag", self._tag.expected, Path(ROOT, self._step))

    def _without_tag(self, node: Node) -> object:
        raise ShapeError.of("missing", self._tag.expected, Path(ROOT, self._step))


def _flat(info: inspect.Type, hint: Any, markers: tuple[Any, ...]) -> list[UnionPart]:
    """Return the branches of a union, with nested unions flattened; all Literals together are one branch."""
    info = bare(info)
    if not isinstance(info, inspect.UnionType):
        return [(info, hint, markers)]
    hint, own = peeled(hint)
    inner = zip(info.types, arguments(hint, len(info.types)), strict=True)
    parts = [part for one, of in inner for part in _flat(one, of, markers + own)]
    literals = [part for part in parts if isinstance(part[0], inspect.LiteralType)]
    if len(literals) < 2:
        return parts
    values = tuple([value for part in literals for value in cast("inspect.LiteralType", part[0]).values])
    parts = [part for part in parts if not isinstance(part[0], inspect.LiteralType)]
    return [*parts, (inspect.LiteralType(values), *literals[0][1:])]


def _collection(info: inspect.CollectionType, item: Shape, whole_items: bool) -> ArrayShape:
    kind = COLLECTIONS[type(info)]
    words = worded(info, "an array")
    # An item that comes twice counts once in a set, and an open item may still become one that is there.
    is_set = kind in (set, frozenset)
    # A set of other values is shown as a list: showing runs no `__hash__` of the user's.
    is_shown_as_list = kind is list or (is_set and type(bare(info.item_type)) not in LEAVES)
    made = ArrayShape(
        item,
        show=None if is_shown_as_list else kind,
        make=_sized(kind, info.min_length, info.max_length, words),
        expected=words,
        max_items=None if is_set else info.max_length,
        whole_items=whole_items or is_set,
    )
    made.is_set = is_set
    return made


def _map(info: inspect.DictType, item: Shape) -> MapShape:
    key = bare(info.key_type)
    words = worded(info, "an object")
    is_text = isinstance(key, (inspect.StrType, inspect.AnyType))
    return MapShape(
        item,
        check_key=None if is_text and worded(key, "") == "" else key_by_msgspec(key),
        # The length is checked at the end: a key may come twice, or in two spellings, and counts once.
        make=_sized(dict, info.min_length, info.max_length, words),
        expected=words,
    )


def _sized(kind: Callable[[Any], Any], least: int | None, most: int | None, words: str) -> Callable[[Any], object]:
    def make(items: Any) -> object:
        try:
            made = kind(items)
        except Exception:  # noqa: BLE001 - of a `__hash__` or an `__eq__`
            raise ShapeError.of("unhashable", "hashable items") from None
        if len(made) < (least or 0) or (most is not None and len(made) > most):
            raise ShapeError.of("wrong_length", words)
        return made

    return make


# Annotations

UNIONS: Final = (Union, types.UnionType)
WRAPPERS: Final = (Required, NotRequired, typing.Final)


def peeled(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type inside `Annotated`, `Final`, `NotRequired`, new types and the like, and all their metadata."""
    metadata: tuple[Any, ...] = ()
    while True:
        origin = get_origin(hint)
        new_type = getattr(hint, "__supertype__", getattr(hint, "__value__", None))
        if origin is Annotated:
            metadata += hint.__metadata__
            hint = hint.__origin__
        elif origin in WRAPPERS:
            hint = get_args(hint)[0]
        elif new_type is not None:
            hint = new_type
        elif origin in UNIONS and len(arguments(hint)) == 1:
            hint = arguments(hint)[0]
        else:
            return hint, metadata


def arguments(hint: Any, count: int | None = None) -> list[Any]:
    """Return the arguments of a peeled annotation; with `count`, exactly that many, padded with `Any`.

    An annotation and the description of its type may not go together, for example in a class that inherits from a
    generic one. The annotation counts as `Any` then: it has no markers, and nothing else is lost.
    """
    given = [argument for argument in get_args(hint) if argument is not msgspec.UnsetType and argument is not ...]
    return given if count is None else (given + [Any] * count)[:count]


def all_markers(hint: Any) -> tuple[Any, ...]:
    """Return the markers of an annotation, and those of its branches if it is a union."""
    inner, metadata = peeled(hint)
    if get_origin(inner) in UNIONS:
        for branch in arguments(inner):
            metadata += all_markers(branch)
    return metadata


def has(markers: tuple[Any, ...], marker: type) -> bool:
    """Return whether the marker is among them, as a class or as an instance."""
    return any(one is marker or isinstance(one, marker) for one in markers)


def field_hints(cls: Any) -> dict[str, Any]:
    """Return the annotations of the fields of a class, or of a generic class with its arguments."""
    origin = get_origin(cls) or cls
    hints = typing.get_type_hints(origin, include_extras=True)
    scope = dict(zip(getattr(origin, "__parameters__", ()), get_args(cls), strict=False))
    return {name: _bound(hint, scope) for name, hint in hints.items()} if scope else hints


def _bound(hint: Any, scope: dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return scope.get(hint, hint)
    if isinstance(hint, type):
        return hint
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple([scope.get(one, one) for one in parameters])] if parameters else hint


def culprit(hint: Any) -> str:
    """Return the path of the innermost part that msgspec refuses for a reason of its own."""
    at = "$"
    to_ask = [(at, hint)]
    seen: list[Any] = []
    while to_ask and len(seen) < MAX_DEPTH:
        at, hint = to_ask.pop(0)
        hint = peeled(hint)[0]
        if any(hint is one for one in seen):
            continue
        seen.append(hint)
        refused = [(at + step, inner) for step, inner in _parts(hint) if _is_refused(inner)]
        if not refused:
            break
        to_ask += refused
    return at


def _parts(hint: Any) -> list[tuple[str, Any]]:
    try:
        fields = field_hints(hint)
    except REFUSED:  # not a class, or one with unknown names
        fields = {}
    parts = [(f".{name}", inner) for name, inner in fields.items()]
    return parts or [("" if get_origin(hint) in UNIONS else "[*]", inner) for inner in arguments(hint)]


def _is_refused(hint: Any) -> bool:
    try:
        msgspec.json.Decoder(hint)
    except REFUSED:
        return True
    return False


# Leaves

# For each leaf: the type, the kinds that may fit, and words for it.
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
    """Return the shape of one of LEAVES. A plain string is shown while it is open."""
    _, kinds, words = LEAVES[type(info)]
    limits = _limits(info)
    words = worded(info, words)
    if isinstance(info, (inspect.NoneType, inspect.BoolType, inspect.StrType)) and not limits:
        return LeafShape(kinds, words, streams=isinstance(info, inspect.StrType))
    longest = info.max_length if isinstance(info, inspect.StrType) else None
    return LeafShape(kinds, words, make=by_msgspec(info, words), max_length=longest)


def one_of(info: inspect.Type, values: Sequence[object], texts: dict[str, object] | None, early: bool) -> LeafShape:
    """Return the shape of a Literal or an Enum. `texts` are all the strings that may come, if they are known."""
    kinds: dict[type, str] = {bool: BOOLEAN, int: NUMBER, str: STRING}
    words = "one of " + ", ".join([repr(value) for value in values[:9]]) + (", ..." if len(values) > 9 else "")
    may_fit = frozenset([kinds.get(type(value), NULL) for value in values])
    return LeafShape(may_fit, words, make=by_msgspec(info, words), literals=texts, early=early)


def by_msgspec(info: inspect.Type, words: str) -> Callable[[Node], object]:
    """Return a `make` that lets msgspec judge a closed node."""
    decode = msgspec.json.Decoder(_annotation(info)).decode

    def make(node: Node) -> object:
        try:
            return decode(json_text(node))
        except Exception:  # noqa: BLE001 - its message may quote the text; a class of the user's may raise any other
            raise ShapeError.of("invalid", words) from None

    return make


def key_by_msgspec(info: inspect.Type) -> Callable[[str], object]:
    """Return a `check_key` that lets msgspec judge a key: it reads numbers, dates and the like from keys."""
    by_key: Any = dict
    decode = msgspec.json.Decoder(by_key[_annotation(info), None]).decode

    def check(key: str) -> object:
        try:
            return next(iter(decode(json.dumps({key: None}))))
        except Exception:  # noqa: BLE001
            raise ShapeError.of("invalid_key", "another key") from None

    return check


def bare(info: inspect.Type) -> inspect.Type:
    """Return a description without the titles and examples around it."""
    while isinstance(info, inspect.Metadata):
        info = info.type
    return info


def worded(info: inspect.Type, words: str) -> str:
    """Return the words, followed by the limits of the type."""
    return ", ".join([words, *[LIMITS[name].format(value) for name, value in _limits(info).items()]])


def _limits(info: inspect.Type) -> dict[str, Any]:
    limits = {name: getattr(info, name, None) for name in LIMITS}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _annotation(info: inspect.Type) -> Any:
    """Return the described type, for a decoder of its own; None, which never fits, for anything but a leaf."""
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


# Records

Members: TypeAlias = dict[str, object]
BuildRecord: TypeAlias = Callable[[Members], object]
Record: TypeAlias = inspect.StructType | inspect.DataclassType | inspect.TypedDictType | inspect.NamedTupleType

TAG: Final = ""  # the name of a tag among the values of the fields; no field has this name


def builders(info: Record, cls: Any) -> tuple[BuildRecord, BuildRecord]:
    """Return two functions: one makes a half-filled value, the other a whole one.

    Both get the values of the fields that are there, by name. A half-filled value is an instance of a subclass that
    shows None for absent fields; a TypedDict just has no such key.
    """
    if isinstance(info, inspect.StructType):
        return _half_struct(cls), _whole_struct(cls)
    if isinstance(info, inspect.DataclassType):
        return _half_dataclass(info, cls), _whole_dataclass(info, cls)
    if isinstance(info, inspect.NamedTupleType):
        nones = dict.fromkeys(cls._fields, cast("object", None))
        return _named_tuple(_subclass(cls), nones), _named_tuple(cls, nones | cls._field_defaults)
    return dict, dict


def row(fields: list[Field], show: BuildRecord, make: BuildRecord, extra: bool) -> TupleShape:
    """Return the shape of a record that the text spells as an array, without the names of the fields."""
    names = [field.name for field in fields]
    least = max([index + 1 for index, field in enumerate(fields) if field.is_required], default=0)
    held = max([index + 1 for index, field in enumerate(fields) if field.holds_back], default=0)
    words = f"an array of at least {least} items" if extra else f"an array of {least} to {len(fields)} items"

    def show_items(items: list[object]) -> object:
        return HIDDEN if len(items) < held else show(dict(zip(names, items, strict=False)))

    def make_items(items: list[object]) -> object:
        if len(items) < least:
            raise ShapeError.of("too_short", words)
        return make(dict(zip(names, items, strict=False)))

    places = [field.shape for field in fields]
    shape = TupleShape(places, IGNORED if extra else None, show=show_items, make=make_items, expected=words)
    shape.may_hide = held > 0
    return shape


def _whole_struct(cls: Any) -> BuildRecord:
    def make(members: Members) -> object:
        members.pop(TAG, None)
        try:
            return cls(**members)
        except Exception as error:  # noqa: BLE001 - raised by __post_init__ or a default factory
            raise _refused(cls, error) from None

    return make


STRUCT_OPTIONS: Final = (
    *("tag", "tag_field", "frozen", "eq", "order", "array_like", "gc", "weakref", "dict"),
    *("repr_omit_defaults", "forbid_unknown_fields"),
)


def _half_struct(cls: Any) -> BuildRecord:
    config = cls.__struct_config__
    names = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
    body: dict[str, Any] = {name: msgspec.field(default=None, name=key) for name, key in names}
    body |= {
        "__annotations__": dict.fromkeys(cls.__struct_fields__, Any),
        "__post_init__": _nothing,
    }
    options = {name: getattr(config, name) for name in STRUCT_OPTIONS}
    options |= {"dict": True, "gc": True}  # for the names of the fields that are null
    body |= described(cls)
    half = type(cls)(f"Partial{cls.__name__}", (msgspec.Struct,), body, kw_only=True, **options)
    for name, value in attributes_of(cls, half).items():
        if name not in vars(half) and not name.startswith(("__struct", "__match_args__")):
            type.__setattr__(half, name, value)

    def show(members: Members) -> object:
        members.pop(TAG, None)
        made = half(**members)
        nulls = _nulls(members)
        if nulls:
            made.__dict__[NULLS] = nulls
        return made

    return show


NULLS: Final = "__unspool_nulls__"  # in a half-filled record: the names of the fields that are null, and not absent


def _nulls(members: Members) -> frozenset[str]:
    return frozenset([name for name, value in members.items() if value is None])


def _known_nulls(half: object) -> frozenset[str]:
    """Return the names of the fields that are null. No `__getattr__` of the user's runs."""
    try:
        nulls: frozenset[str] = object.__getattribute__(half, NULLS)
    except AttributeError:
        return frozenset()
    return nulls


def _nothing(_: object) -> None:
    """Do nothing: the ``__post_init__`` of half-filled structs."""


def _whole_dataclass(info: inspect.DataclassType, cls: Any) -> BuildRecord:
    new, put = _allocator(cls), object.__setattr__
    # The description does not tell attrs classes from dataclasses.
    before = getattr(cls, "__attrs_pre_init__", None)
    validated = [field for field in getattr(cls, "__attrs_attrs__", ()) if field.validator is not None]
    is_attrs = not hasattr(cls, "__dataclass_fields__")
    after = getattr(cls, "__attrs_post_init__" if is_attrs else "__post_init__", None)

    def make(members: Members) -> object:
        try:
            made = new(cls)
            if before is not None:
                before(made)
            for field in info.fields:
                put(made, field.name, members[field.name] if field.name in members else _default(field))
            for field in validated:
                field.validator(made, field, getattr(made, field.name))
            if after is not None:
                after(made)
        except Exception as error:  # noqa: BLE001
            raise _refused(cls, error) from None
        return made

    return make


def _half_dataclass(info: inspect.DataclassType, cls: Any) -> BuildRecord:
    half = _subclass(cls)
    new, put = _allocator(cls), object.__setattr__
    names = [field.name for field in info.fields]

    def show(members: Members) -> object:
        made = new(half)
        for name in names:
            put(made, name, members.get(name))
        nulls = _nulls(members)
        if nulls:
            put(made, NULLS, nulls)
        return made

    return show


def _named_tuple(cls: Any, defaults: Members) -> BuildRecord:
    allocate: Callable[[Any, Iterable[object]], object] = cast("Any", tuple).__new__
    return lambda members: allocate(cls, (defaults | members).values())


def _subclass(cls: Any) -> Any:
    builtin = _builtin(cls)
    return twin_of(cls, () if builtin is object else (builtin,), {"__slots__": ()} if builtin is tuple else {})


def _builtin(cls: Any) -> Any:
    return next(base for base in cls.__mro__ if base.__module__ == "builtins")


def _allocator(cls: Any) -> Callable[[Any], object]:
    """Return a function that makes empty instances and calls neither ``__new__`` nor ``__init__`` of the class."""
    allocate: Callable[[Any], object] = _builtin(cls).__new__
    return allocate


def _default(field: inspect.Field) -> object:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return UNSET if field.default is NODEFAULT else field.default


def _refused(cls: Any, error: Exception) -> ShapeError:
    problem = Problem(ROOT, "post_init", f"what {cls.__name__} accepts", message_of(error), is_by_validator=True)
    return ShapeError([problem], {0: error})


# JSON, part by part


class MsgspecWriting(Writing):
    """How the values of a type are written: as `msgspec.to_builtins` does."""

    def whole(self, value: Any) -> Any:
        if is_exactly(value, list, tuple):
            return [self.whole(item) for item in value]
        if is_exactly(value, dict):
            return {self.map_key(key): self.whole(item) for key, item in value.items()}
        if not is_half(value):
            return self._plain(value)
        return {
            pair[0]: self.whole(inner)
            for name, inner in (self.members(value) or {}).items()
            if (pair := self.member(value, name, inner)) is not None
        }

    def is_written_whole(self, value: object) -> bool:
        if isinstance(value, msgspec.Struct):
            return value.__struct_config__.array_like
        return isinstance(value, (set, frozenset)) or (isinstance(value, tuple) and not is_exactly(value, tuple))  # pyright: ignore[reportUnknownArgumentType]

    def open_key(self, holder: Any, attribute: Attribute) -> str | None:
        name = attribute if isinstance(attribute, str) else attribute[0]
        if not isinstance(holder, msgspec.Struct):
            return name
        if name == TAG:
            return holder.__struct_config__.tag_field
        places = {known: at for at, known in enumerate(holder.__struct_fields__)}
        return holder.__struct_encode_fields__[places[name]] if name in places else name

    def member(self, holder: object, attribute: Attribute, value: object) -> tuple[str, Any] | None:
        key = self.open_key(holder, attribute)
        return None if key is None or value is msgspec.UNSET else (key, UNWRITTEN)

    def members(self, value: Any) -> dict[Attribute, Any] | None:
        if is_exactly(value, dict):
            return {self.map_key(key): item for key, item in value.items()}
        half = is_half(value)
        names: list[str] = [field.name for field in getattr(type(value), "__attrs_attrs__", ())]  # pyright: ignore[reportUnknownArgumentType]
        there: dict[Attribute, Any] = {}
        if isinstance(value, msgspec.Struct):
            names = [*value.__struct_fields__]
            there = {} if value.__struct_config__.tag is None else {TAG: value.__struct_config__.tag}
        elif dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
        elif not names:
            return None
        nulls = _known_nulls(value) if half else frozenset[str]()
        known = [(name, getattr(value, name)) for name in names]
        return there | {name: item for name, item in known if item is not None or not half or name in nulls}

    def map_key(self, name: object) -> str:
        return name if type(name) is str else str(next(iter(self._plain({name: None}))))

    def _plain(self, value: object) -> Any:
        try:
            return plain_copy(msgspec.to_builtins(value, str_keys=True))
        except (TypeError, ValueError, OverflowError) as error:
            raise UnwritableError(message_of(error)) from error
