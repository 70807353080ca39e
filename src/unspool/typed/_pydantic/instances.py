"""Half-filled values: instances of a twin of the class, which shows None for absent fields.

They are made without any validation, many times per second, so making one takes a few steps only. The code of a
computed field expects a whole value, so a computed field shows None, too.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel

from .._resolve import instances_of
from .._twin import twin_of
from .writing import dataclass_serializer, model_serializer, root_serializer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .._resolve import Build
    from .schema import Config, Definitions, Schema

    RootBuild = Callable[[object], object]

__all__ = ["dataclass_builder", "model_builder", "named_tuple_builder", "root_builder"]

THERE: Final = "__unspool_there__"  # the slot for the fields that are there
# A class lives as long as its subclass does, so the keys cost nothing.
_classes: WeakValueDictionary[type, type] = WeakValueDictionary()
_new: Any = object.__new__
_set_fields: Final[Callable[[object, dict[str, object]], None]] = BaseModel.__dict__["__dict__"].__set__


class _HalfModel(BaseModel):
    """The base of half-filled models."""

    __slots__ = (THERE,)


SLOT: Final[Any] = _HalfModel.__dict__[THERE]


class _HalfTuple(tuple[object, ...]):
    """The base of half-filled named tuples."""

    __slots__ = ()


class _Derived:
    """An attribute of Pydantic's that is derived from the fields. Writes, which Pydantic does on copy, do nothing."""

    __slots__ = ("_derive",)

    def __init__(self, derive: Callable[[Any], object]) -> None:
        self._derive = derive

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self._derive(instance)

    def __set__(self, instance: Any, value: object) -> None:
        pass


# The attribute is among the fields of a class that declares the type of its extra keys, in whole instances, too.
EXTRAS: Final = frozenset({"__pydantic_extra__"})


class _FieldsSet(_Derived):
    """The names of the fields that are there. A copy may have all fields and still know which were there."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda instance: {*self._there(instance)} - EXTRAS)

    def __set__(self, instance: Any, value: object) -> None:
        SLOT.__set__(instance, value)

    def _there(self, instance: Any) -> Any:
        try:
            return SLOT.__get__(instance)
        except AttributeError:  # `getattr` would ask the `__getattr__` of the user
            return instance.__dict__


def model_builder(cls: type[BaseModel], schema: Schema, definitions: Definitions, config: Config) -> Build:
    """Return the builder for a model."""
    keeps_extras = cls.model_config.get("extra") == "allow"

    def serializer(subclass: type[BaseModel]) -> object:
        fields: Mapping[str, Schema] = schema["fields"]
        return model_serializer(subclass, fields, definitions, config, _write_filled, keeps_extras=keeps_extras)

    subclass = _subclass(cls, lambda: _partial_model(cls, serializer, keeps_extras=keeps_extras))
    return _with_extras(subclass) if keeps_extras else instances_of(subclass, _set_fields)


def _with_extras(subclass: type) -> Build:
    def build(there: dict[str, object], extras: dict[str, object] | None = None) -> object:
        instance: object = _new(subclass)
        _set_fields(instance, there)
        object.__setattr__(instance, "__pydantic_extra__", extras or {})
        return instance

    return build


def root_builder(cls: type[BaseModel], root: Schema, definitions: Definitions, config: Config) -> RootBuild:
    """Return the builder for a root model."""

    def serializer(subclass: type[BaseModel]) -> object:
        return root_serializer(subclass, root, definitions, config, _write_filled)

    build = instances_of(_subclass(cls, lambda: _partial_model(cls, serializer)), _set_fields)
    return lambda root: build({"root": root})


def dataclass_builder(cls: type, arguments: Schema, definitions: Definitions, config: Config) -> Build:
    """Return the builder for a dataclass, Pydantic's or any other. A half-filled one has no slots."""

    def serializer(subclass: type) -> object:
        return dataclass_serializer(subclass, arguments, definitions, config)

    computed: list[str] = [one["property_name"] for one in arguments.get("computed_fields", ())]
    subclass = _subclass(cls, lambda: _partial_dataclass(cls, computed, serializer))
    put: Callable[[object, str, object], None] = object.__setattr__

    def build(there: dict[str, object], extras: dict[str, object] | None = None) -> object:
        instance: object = _new(subclass)
        put(instance, "__dict__", {**there, **extras} if extras else there)
        return instance

    return build


def named_tuple_builder(cls: Any) -> Build:
    """Return the builder for a named tuple."""
    names: tuple[str, ...] = cls._fields
    subclass = _subclass(cls, lambda: twin_of(cls, (_HalfTuple,), {"__slots__": (), "__repr__": _tuple_repr}))
    make: Any = cast("Any", tuple).__new__

    def build(there: dict[str, object], extras: dict[str, object] | None = None) -> object:
        made: object = make(subclass, [there.get(name) for name in names])
        return made

    return build


def _subclass(cls: type, make: Callable[[], type]) -> type:
    """Return the subclass for a class, one for each, so that half-filled values of two resolvers can be equal."""
    subclass = _classes.get(cls)
    if subclass is None:
        subclass = _classes.setdefault(cls, make())
    return subclass


class _Serializer:
    """The serializer of a half-filled model or dataclass, made when someone asks for it."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[Any], object]) -> None:
        self._make = make

    def __get__(self, instance: object, owner: type) -> object:
        made = self._make(owner)
        type.__setattr__(owner, "__pydantic_serializer__", made)
        return made


def _partial_model(
    cls: type[BaseModel], serializer: Callable[[type[BaseModel]], object], *, keeps_extras: bool = False
) -> type:
    private = dict(cls.__private_attributes__)
    namespace: dict[str, Any] = {
        **dict.fromkeys(cls.model_computed_fields),
        **dict.fromkeys(cls.model_fields),
        "__slots__": (),
        "__pydantic_fields_set__": _FieldsSet(),
        "__pydantic_private__": _Derived(
            lambda instance: {name: one.get_default() for name, one in private.items()} if private else None
        ),
        "__pydantic_generic_metadata__": {"origin": None, "args": (), "parameters": ()},
        "__pydantic_serializer__": _Serializer(serializer),
        "__repr_args__": _repr_args,
        "__repr_name__": _repr_name,
    }
    if not keeps_extras:
        namespace["__pydantic_extra__"] = _Derived(lambda instance: None)
    return twin_of(cls, (_HalfModel,), namespace)


def _write_filled(instance: Any, write: Callable[[object], object]) -> object:
    """Serialize an instance with None for absent fields, as they are read."""
    copy: Any = _new(type(instance))
    cls = cast("Any", type(instance))
    absent: dict[str, None] = dict.fromkeys([*instance.__pydantic_fields__, *cls.model_computed_fields])
    _set_fields(copy, {**absent, **instance.__dict__})
    for name in ("__pydantic_fields_set__", "__pydantic_extra__"):
        object.__setattr__(copy, name, getattr(instance, name))
    return write(copy)


def _partial_dataclass(cls: Any, computed: list[str], serializer: Callable[[type], object]) -> type:
    namespace: dict[str, Any] = dict.fromkeys([*computed, *(field.name for field in dataclasses.fields(cls))])
    namespace["__pydantic_serializer__"] = _Serializer(serializer)
    if cls.__dataclass_params__.repr:
        namespace["__repr__"] = _dataclass_repr
    return twin_of(cls, (), namespace)


def _dataclass_repr(self: Any) -> str:
    members = [f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr]
    return f"{type(self).__name__}({', '.join(members)})"


def _tuple_repr(self: Any) -> str:
    members = [f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)]
    return f"{type(self).__name__}({', '.join(members)})"


def _repr_name(self: Any) -> str:
    return type(self).__name__


def _repr_args(self: Any) -> Iterator[tuple[str | None, object]]:
    fields: dict[str, Any] = self.__pydantic_fields__
    members: dict[str, object] = self.__dict__
    yield from ((name, members.get(name)) for name, field in fields.items() if field.repr)
    yield from (self.__pydantic_extra__ or {}).items()
