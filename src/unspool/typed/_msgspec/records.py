"""How a struct, a dataclass, a TypedDict or a NamedTuple is put together, half filled and whole, as msgspec does it.

Each gets the values of its fields by name: those that are there. Half filled it is an instance of a subclass made for
the purpose, in which what is not there is None; a TypedDict just has no such key.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec
from msgspec import NODEFAULT, UNSET, inspect

from .._frames import HIDDEN
from .._shape import IGNORED, ShapeError, TupleShape

if TYPE_CHECKING:
    from .._shape import Field

__all__ = ["TAG", "Build", "Record", "builders", "row"]

Members: TypeAlias = dict[str, object]
Build: TypeAlias = Callable[[Members], object]
Record: TypeAlias = inspect.StructType | inspect.DataclassType | inspect.TypedDictType | inspect.NamedTupleType

TAG: Final = ""  # the name that a tag goes by; no field has it


def builders(info: Record, cls: Any) -> tuple[Build, Build]:
    """What makes a half-filled value, and what makes a whole one."""
    if isinstance(info, inspect.StructType):
        return _half_struct(cls), _whole_struct(cls)
    if isinstance(info, inspect.DataclassType):
        return _half_dataclass(info, cls), _whole_dataclass(info, cls)
    if isinstance(info, inspect.NamedTupleType):
        nones = dict.fromkeys(cls._fields, cast("object", None))
        return _named_tuple(_subclass(cls), nones), _named_tuple(cls, nones | cls._field_defaults)
    return dict, dict


def row(fields: list[Field], show: Build, make: Build, extra: bool) -> TupleShape:
    """A record that is written as an array, without the names of its fields."""
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
    return TupleShape(places, IGNORED if extra else None, show=show_items, make=make_items, expected=words)


def _whole_struct(cls: Any) -> Build:
    def make(members: Members) -> object:
        members.pop(TAG, None)
        try:
            return cls(**members)
        except (TypeError, ValueError):  # of __post_init__: whatever it says may quote the text
            raise _refused(cls) from None

    return make


def _half_struct(cls: Any) -> Build:
    config = cls.__struct_config__
    names = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
    body: dict[str, Any] = {name: msgspec.field(default=None, name=key) for name, key in names}
    body |= {
        "__annotations__": dict.fromkeys(cls.__struct_fields__, Any),
        "__module__": cls.__module__,
        "__post_init__": _nothing,
    }
    name = f"Partial{cls.__name__}"
    half = type(cls)(name, (cls,), body, kw_only=True, tag=config.tag, tag_field=config.tag_field)

    def show(members: Members) -> object:
        members.pop(TAG, None)
        return half(**members)

    return show


def _nothing(_: object) -> None:
    """The ``__post_init__`` of what is half filled."""


def _whole_dataclass(info: inspect.DataclassType, cls: Any) -> Build:
    new, put = _allocator(cls), object.__setattr__
    # Of attrs, which the description does not tell from dataclasses.
    before = getattr(cls, "__attrs_pre_init__", None)
    validated = [field for field in getattr(cls, "__attrs_attrs__", ()) if field.validator is not None]
    is_attrs = not hasattr(cls, "__dataclass_fields__")
    after = getattr(cls, "__attrs_post_init__" if is_attrs else "__post_init__", None)

    def make(members: Members) -> object:
        made = new(cls)
        if before is not None:
            before(made)
        for field in info.fields:
            put(made, field.name, members[field.name] if field.name in members else _default(field))
        try:
            for field in validated:
                field.validator(made, field, getattr(made, field.name))
            if after is not None:
                after(made)
        except (TypeError, ValueError):
            raise _refused(cls) from None
        return made

    return make


def _half_dataclass(info: inspect.DataclassType, cls: Any) -> Build:
    half = _subclass(cls)
    new, put = _allocator(cls), object.__setattr__
    names = [field.name for field in info.fields]

    def show(members: Members) -> object:
        made = new(half)
        for name in names:
            put(made, name, members.get(name))
        return made

    return show


def _named_tuple(cls: Any, defaults: Members) -> Build:
    allocate: Callable[[Any, Iterable[object]], object] = cast("Any", tuple).__new__
    return lambda members: allocate(cls, (defaults | members).values())


def _subclass(cls: Any) -> Any:
    return types.new_class(f"Partial{cls.__name__}", (cls,), exec_body=lambda body: body.update(__slots__=()))


def _allocator(cls: Any) -> Callable[[Any], object]:
    """What makes an empty instance without a call of the class's own ``__new__`` and ``__init__``."""
    builtin = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    allocate: Callable[[Any], object] = builtin.__new__
    return allocate


def _default(field: inspect.Field) -> object:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return UNSET if field.default is NODEFAULT else field.default


def _refused(cls: Any) -> ShapeError:
    return ShapeError.of("post_init", f"what {cls.__name__} accepts")
