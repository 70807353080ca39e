"""Half-filled values: instances of a subclass that shows None for absent fields.

They are made without any validation, many times per second, so making one takes a few steps only. The subclass bypasses
the metaclass and `__init_subclass__`: no hook of the user's should run for it. It has no computed fields, because their
code expects a whole value, and it serializes itself as it is.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from pydantic import BaseModel
from pydantic_core import SchemaError, SchemaSerializer, core_schema

from .._resolve import instances_of
from .schema import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .._resolve import Build
    from .schema import Config, Schema

__all__ = ["dataclass_builder", "model_builder", "named_tuple_builder", "root_builder"]

THERE: Final = "__unspool_there__"  # the slot for the fields that are there
# A class lives as long as its subclass does, so the keys cost nothing.
_classes: WeakValueDictionary[type, type] = WeakValueDictionary()
_new: Any = object.__new__
_set_fields: Final[Callable[[object, dict[str, object]], None]] = BaseModel.__dict__["__dict__"].__set__


class _Quiet:
    """The first base of each subclass: it hides the subclass from the hooks of the user's class."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Do nothing."""


class _Derived:
    """An attribute of Pydantic's that is derived from the fields. Writes, which Pydantic does on copy, do nothing."""

    __slots__ = ("_derive",)

    def __init__(self, derive: Callable[[Any], object]) -> None:
        self._derive = derive

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self._derive(instance)

    def __set__(self, instance: Any, value: object) -> None:
        pass


class _FieldsSet(_Derived):
    """The names of the fields that are there. A copy may have all fields and still know which were there."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda instance: set(getattr(instance, THERE, instance.__dict__)))

    def __set__(self, instance: Any, value: object) -> None:
        object.__setattr__(instance, THERE, value)


def model_builder(cls: type[BaseModel], schema: Schema, leaves: Mapping[str, Schema], config: Config) -> Build:
    """Return the builder for a model. `leaves` are core schemas of fields, which serialize them."""
    if cls.model_config.get("extra") == "allow":
        subclass = _subclass(cls, lambda: _partial_model(cls, schema, leaves, config, keeps_extras=True))
        return _with_extras(subclass)
    return instances_of(_subclass(cls, lambda: _partial_model(cls, schema, leaves, config)), _set_fields)


def _with_extras(subclass: type) -> Build:
    def build(there: dict[str, object], extras: dict[str, object] | None = None) -> object:
        instance: object = _new(subclass)
        _set_fields(instance, there)
        object.__setattr__(instance, "__pydantic_extra__", extras or {})
        return instance

    return build


def root_builder(cls: type[BaseModel]) -> Callable[[object], object]:
    """Return the builder for a root model."""
    build = instances_of(_subclass(cls, lambda: _partial_model(cls, None, {}, {})), _set_fields)
    return lambda root: build({"root": root})


def dataclass_builder(cls: type) -> Build:
    """Return the builder for a dataclass, Pydantic's or any other, with or without slots."""
    fields: Any = cls
    names = [field.name for field in dataclasses.fields(fields)]
    slots = [name for name in names if isinstance(getattr(cls, name, None), MemberDescriptorType)]
    others = frozenset(names).difference(slots)
    subclass = _subclass(cls, lambda: _partial_dataclass(cls, names, others))
    put: Callable[[object, str, object], None] = object.__setattr__
    has_dict = bool(subclass.__dictoffset__)

    def build(there: dict[str, object], extras: dict[str, object] | None = None) -> object:
        instance: object = _new(subclass)
        for name in slots:
            put(instance, name, there.get(name))
        if has_dict:
            members = {name: value for name, value in there.items() if name in others}
            put(instance, "__dict__", {**members, **extras} if extras else members)
        return instance

    return build


def named_tuple_builder(cls: Any) -> Build:
    """Return the builder for a named tuple."""
    names: tuple[str, ...] = cls._fields
    subclass: Any = _subclass(cls, lambda: _make_class(cls, {"__slots__": ()}))

    def build(there: dict[str, object], extras: dict[str, object] | None = None) -> object:
        return subclass._make([there.get(name) for name in names])

    return build


def _subclass(cls: type, make: Callable[[], type]) -> type:
    """Return the subclass for a class, one for each, so that half-filled values of two resolvers can be equal."""
    subclass = _classes.get(cls)
    if subclass is None:
        subclass = _classes.setdefault(cls, make())
    return subclass


def _make_class(cls: type, namespace: dict[str, Any]) -> type:
    name = f"Partial{cls.__name__}"
    about = f"A {cls.__name__} that is still being written. Absent fields read as None."
    namespace = {"__module__": cls.__module__, "__qualname__": name, "__doc__": about, **namespace}
    metaclass = type(cls)
    make: Any = ABCMeta.__new__ if issubclass(metaclass, ABCMeta) else type.__new__
    made: type = make(metaclass, name, (_Quiet, cls), namespace)
    return made


def _partial_model(
    cls: type[BaseModel],
    schema: Schema | None,
    leaves: Mapping[str, Schema],
    config: Config,
    *,
    keeps_extras: bool = False,
) -> type:
    private = dict(cls.__private_attributes__)
    namespace: dict[str, Any] = {
        **dict.fromkeys(cls.model_fields),
        "__slots__": (THERE,),
        "__pydantic_fields_set__": _FieldsSet(),
        "__pydantic_private__": _Derived(
            lambda instance: {name: one.get_default() for name, one in private.items()} if private else None
        ),
        "__pydantic_generic_metadata__": {"origin": None, "args": (), "parameters": ()},
        "__repr_args__": _repr_args,
    }
    if not keeps_extras:
        namespace["__pydantic_extra__"] = _Derived(lambda instance: None)
    subclass = _make_class(cls, namespace)
    alone = {name: leaf for name, leaf in leaves.items() if _stands_alone(leaf)}
    type.__setattr__(subclass, "__pydantic_serializer__", _serializer(subclass, schema, alone, config, keeps_extras))
    return subclass


def _stands_alone(leaf: Any) -> bool:
    """Return whether a schema needs no definitions from outside."""
    try:
        SchemaSerializer(leaf)
    except SchemaError:
        return False
    return True


def _serializer(
    subclass: type, schema: Schema | None, leaves: Mapping[str, Schema], config: Any, keeps_extras: bool
) -> SchemaSerializer:
    inner: Any = ANY
    if schema is not None:
        fields = {name: _written_field(field, leaves.get(name, ANY)) for name, field in schema["fields"].items()}
        inner = core_schema.model_fields_schema(fields, extra_behavior="allow" if keeps_extras else "ignore")
    filled = core_schema.wrap_serializer_function_ser_schema(_write_filled)
    return SchemaSerializer(
        core_schema.model_schema(subclass, inner, root_model=schema is None, config=config, serialization=filled)
    )


def _write_filled(instance: Any, write: Callable[[object], object]) -> object:
    """Serialize an instance with None for absent fields, as they are read."""
    copy: Any = _new(type(instance))
    _set_fields(copy, {**dict.fromkeys(instance.__pydantic_fields__), **instance.__dict__})
    for name in ("__pydantic_fields_set__", "__pydantic_extra__"):
        object.__setattr__(copy, name, getattr(instance, name))
    return write(copy)


def _written_field(field: Schema, schema: Schema) -> Any:
    inner: Any = schema
    keep = ("serialization_alias", "serialization_exclude")
    made: Any = {**core_schema.model_field(inner), **{key: field[key] for key in keep if key in field}}
    return made


def _partial_dataclass(cls: type, names: list[str], without_slots: frozenset[str]) -> type:
    subclass = _make_class(cls, dict.fromkeys(without_slots) if cls.__dictoffset__ else {"__slots__": ()})
    if "__pydantic_serializer__" in dir(cls):
        any_schema: Any = ANY
        members = [core_schema.dataclass_field(name, any_schema) for name in names]
        arguments = core_schema.dataclass_args_schema(cls.__name__, members)
        serializer = SchemaSerializer(core_schema.dataclass_schema(subclass, arguments, names))
        type.__setattr__(subclass, "__pydantic_serializer__", serializer)
    return subclass


def _repr_args(self: Any) -> Iterator[tuple[str | None, object]]:
    fields: dict[str, Any] = self.__pydantic_fields__
    members: dict[str, object] = self.__dict__
    yield from ((name, members.get(name)) for name, field in fields.items() if field.repr)
    yield from (self.__pydantic_extra__ or {}).items()
