"""msgspec's types as shapes: structs, and whatever else `msgspec.json.decode` takes.

`msgspec.inspect` says what a type is made of; the annotations are walked beside it for the markers, of which it knows
nothing. A leaf is judged by msgspec's own decoder, from the text of the leaf; a container is put together from what
became of its parts, in the way that msgspec does it. So the verdict and the value are those of `msgspec.json.decode`,
but for the spelling of a `Raw`, whose blanks and escapes nobody kept.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, get_origin

try:
    import msgspec
    from msgspec import inspect
except ImportError as error:
    raise ImportError("types of msgspec need msgspec: install unspool[msgspec]") from error

from .._errors import OptionsError
from .._path import ROOT, Path
from .._tree.nodes import ContainerNode, ObjectNode, StringNode
from ._msgspec.hints import MAX_DEPTH, REFUSED, all_markers, arguments, culprit, field_hints, has, peeled
from ._msgspec.leaves import LEAVES, bare, by_msgspec, key_by_msgspec, leaf, one_of, worded
from ._msgspec.records import TAG, Record, builders, row
from ._node_text import json_text
from ._policy import Atomic, NotNull, WholeItems
from ._shape import (
    IGNORED,
    NUMBER,
    STRING,
    AnyShape,
    ArrayShape,
    DeferredShape,
    Field,
    LeafShape,
    MapShape,
    ObjectShape,
    RefShape,
    Shape,
    ShapeError,
    TupleShape,
)
from ._unions import UnionShape

if TYPE_CHECKING:
    from .._tree.nodes import Node

__all__ = ["from_msgspec"]

At: TypeAlias = tuple[str, ...]  # where a type stands in the type that is described
Part: TypeAlias = tuple[inspect.Type, Any, tuple[Any, ...]]  # of a union: description, annotation, markers

TOO_DEEP: Final = f"nested more than {MAX_DEPTH} deep"
COLLECTIONS: Final[dict[type, Callable[[Any], Any]]] = {
    inspect.ListType: list,
    inspect.VarTupleType: tuple,
    inspect.SetType: set,
    inspect.FrozenSetType: frozenset,
}


def from_msgspec(type: Any, *, early: bool = False) -> Shape:
    """The shape of a type that `msgspec.json.decode` takes; `OptionsError`, with the field's path, for any other.

    With `early`, a Literal or Enum is shown as soon as only one of its values can still come.
    """
    try:
        msgspec.json.Decoder(type)
        info = inspect.type_info(type)
    except RecursionError as error:
        raise OptionsError(f"$: {TOO_DEEP}") from error
    except REFUSED as error:
        raise OptionsError(f"{culprit(type)}: {error}") from error
    return _Describer(early).shape(info, type, ("$",))


class _Describer:
    """Makes the shapes of one type and of all in it: one for each class, also where classes contain each other."""

    def __init__(self, early: bool) -> None:
        self._early = early
        self._records: dict[int, RefShape] = {}  # by the id of the description: msgspec makes one for each class

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
        atomic = RefShape()  # the shape itself may be shared with places where it is not atomic
        atomic.target, atomic.is_atomic, atomic.expected = made, True, made.expected
        return atomic

    def _single(self, info: inspect.Type, hint: Any, at: At, whole_items: bool) -> Shape:
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
        raise OptionsError(f"{''.join(at)}: {name} is no type that msgspec reads from JSON by itself")

    def _enum(self, info: inspect.EnumType) -> Shape:
        members: dict[Any, object] = {member.value: member for member in info.cls}
        # A class that says what other texts stand for is asked when there is one.
        is_open = getattr(info.cls._missing_, "__func__", None) is not vars(enum.Enum)["_missing_"].__func__
        is_text = all(isinstance(value, str) for value in members)
        return one_of(info, [*members], members if is_text and not is_open else None, self._early)

    def _union(self, parts: list[Part], at: At) -> Shape:
        for part in parts:
            if isinstance(part[0], inspect.AnyType):
                return self.shape(part[0], part[1], at, part[2])
        branches: list[Shape] = []
        structs = [part for part in parts if isinstance(part[0], inspect.StructType)]
        if len(structs) > 1:
            tagged = [cast("inspect.StructType", part[0]) for part in structs]
            branches.append(_Tagged(tagged, [self.shape(one, of, at, markers) for one, of, markers in structs]))
            parts = [part for part in parts if not isinstance(part[0], inspect.StructType)]
        # For msgspec a Raw in a union never fits.
        branches += [self.shape(*part[:2], at, part[2]) for part in parts if not isinstance(part[0], inspect.RawType)]
        words = " or ".join([branch.expected for branch in branches])
        # Where several take one kind, they are numbers or texts: of other kinds msgspec allows one, but for tags.
        whole = inspect.UnionType(tuple([part[0] for part in parts]))
        return branches[0] if len(branches) == 1 else UnionShape(branches, by_msgspec(whole, words), expected=words)

    def _record(self, info: Record, at: At) -> Shape:
        known = self._records.get(id(info))
        if known is not None:
            return known
        ref = self._records[id(info)] = RefShape()
        cls: Any = get_origin(info.cls) or info.cls
        is_row = isinstance(info, inspect.NamedTupleType)
        extra = not is_row
        fields: dict[str, Field] = {}
        if isinstance(info, inspect.StructType):
            is_row, extra = info.array_like, not info.forbid_unknown_fields
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
        if is_row:
            ref.target = row([*fields.values()], show, make, extra)
        else:
            ref.target = ObjectShape(fields, show, make, extra=IGNORED if extra else None)
        return ref.target


class _Tagged(UnionShape):
    """Structs that a tag tells apart, under a key or in the first place of an array.

    Of several tags the first one counts, and the struct judges the others: so what was shown stays what it is.
    """

    def __init__(self, structs: list[inspect.StructType], branches: list[Shape]) -> None:
        is_row = structs[0].array_like
        self._step = 0 if is_row else cast("str", structs[0].tag_field)
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
        tag = node.child_at(self._step)
        if tag is not None and isinstance(node, ObjectNode):
            tag = node.child(node.keys.index(cast("str", self._step)))
        if tag is None:
            return None
        if isinstance(tag, StringNode) and not tag.closed:
            if self._tag.literals_from(tag.text):
                return None
        elif not isinstance(tag, ContainerNode) and (tag.kind, tag.value) in self.tags:
            return self.tags[tag.kind, tag.value]
        raise ShapeError.of("unknown_tag", self._tag.expected, Path(ROOT, self._step))

    def _without_tag(self, node: Node) -> object:
        raise ShapeError.of("missing", self._tag.expected, Path(ROOT, self._step))


def _flat(info: inspect.Type, hint: Any, markers: tuple[Any, ...]) -> list[Part]:
    """The branches of a union, through unions in it; all Literals together are one."""
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
    # What comes twice counts once in a set, and what is half written has no place in one.
    is_set = kind in (set, frozenset)

    def show(items: list[object]) -> object:
        try:
            return kind(items)
        except TypeError:  # unhashable: refused at the end
            return kind(())

    return ArrayShape(
        item,
        show=None if kind is list else show,
        make=_sized(kind, info.min_length, info.max_length, words),
        expected=words,
        max_items=None if is_set else info.max_length,
        whole_items=whole_items or is_set,
    )


def _map(info: inspect.DictType, item: Shape) -> MapShape:
    key = bare(info.key_type)
    words = worded(info, "an object")
    is_text = isinstance(key, (inspect.StrType, inspect.AnyType))
    return MapShape(
        item,
        check_key=None if is_text and worded(key, "") == "" else key_by_msgspec(key),
        # Judged at the end: a key may come twice, or be spelled in two ways, and counts once.
        make=_sized(dict, info.min_length, info.max_length, words),
        expected=words,
    )


def _sized(kind: Callable[[Any], Any], least: int | None, most: int | None, words: str) -> Callable[[Any], object]:
    def make(items: Any) -> object:
        try:
            made = kind(items)
        except TypeError:
            raise ShapeError.of("unhashable", "items that a set can have") from None
        if len(made) < (least or 0) or (most is not None and len(made) > most):
            raise ShapeError.of("wrong_length", words)
        return made

    return make
