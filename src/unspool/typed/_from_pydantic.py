"""Shapes of pydantic types: models, and all that `TypeAdapter` takes.

Pydantic's own core schema of the type is walked, and judging is left to pydantic: a leaf is handed to a validator of
its own when it closes, a container to one that knows the container but not what is in it, with the values that were
made of its children. So whatever the type says holds, and nothing is judged twice. Where a part of the type wants to
see what was written (a validator that runs before, a union that tries its branches) that part is judged as a whole
when it closes, and until then it is only shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._errors import OptionsError
from ._pydantic.accept import core_schema_of
from ._pydantic.containers import ARRAYS, MAPPINGS, array, mapping
from ._pydantic.fields import NeedsWholeError, object_with_fields
from ._pydantic.leaves import leaf
from ._pydantic.part import MAX_DEPTH, Part, Place
from ._pydantic.schema import FUNCTIONS, KINDS, Definitions, is_plain, is_strict, is_wrapper, marks_of
from ._pydantic.tags import branches_of, discriminator_key, tags_of
from ._pydantic.tuples import named_tuple, tuple_of
from ._shape import ALL_KINDS, IGNORED, OBJECT, STRING, AnyShape, DeferredShape, IgnoredShape, LeafShape, RefShape
from ._unions import UnionShape

if TYPE_CHECKING:
    from ._pydantic.schema import Config, Schema
    from ._shape import Shape

__all__ = ["from_pydantic"]

FIELDS: Final = frozenset({"model-fields", "dataclass-args", "typed-dict"})
# What only looks at text if nothing else takes it: a string is a string before it is a number.
SECOND_TO_TEXT: Final = frozenset({"int", "float", "bool"})
TRANSPARENT: Final = frozenset({"default", "custom-error", "missing-sentinel"})  # a value passes them as it is
MOST_WRAPPERS: Final = 1000


def from_pydantic(type: Any, *, early: bool = False) -> Shape:
    """The shape of a pydantic model, or of anything else that `TypeAdapter` takes.

    With `early`, a Literal or Enum is shown as soon as only one of its values can still come. A type that pydantic
    refuses, or that no JSON text can become, raises `OptionsError`.
    """
    return _Describer(early).shape(core_schema_of(type), {}, Place())


class _Describer:
    def __init__(self, early: bool) -> None:
        self._definitions = Definitions()
        self._early = early
        self._named: dict[tuple[object, ...], Shape] = {}

    def shape(
        self,
        schema: Schema,
        config: Config,
        place: Place,
        around: tuple[Schema, ...] = (),
        marks: frozenset[str] = frozenset(),
    ) -> Shape:
        """The shape of a part of the type; `around` and `marks` are what stands around it elsewhere."""
        for _ in range(MOST_WRAPPERS):
            marks |= marks_of(schema)
            kind = schema["type"]
            if kind == "definition-ref":
                named = self._by_name(schema["schema_ref"], place, around, "WholeItems" in marks)
                return _marked(named, marks, place)
            if kind == "definitions":
                self._definitions.add(schema["definitions"])
                schema = schema["schema"]
            elif kind == "json-or-python":
                schema = schema["json_schema"]
            elif kind == "lax-or-strict":
                schema = schema["strict_schema" if is_strict(schema, config) else "lax_schema"]
            elif is_wrapper(schema):
                around = (*around, schema)
                if kind in ("model", "dataclass"):
                    config = schema.get("config", {})
                schema = schema["schema"]
            else:
                part = Part(self._definitions, schema, around, config, place)
                return _marked(self._of_part(part, "WholeItems" in marks), marks, place)
        raise OptionsError(f"{place.path}: more than {MOST_WRAPPERS} wrappers around a value")

    def _by_name(self, ref: str, place: Place, around: tuple[Schema, ...], whole_items: bool) -> Shape:
        """What a name stands for, each time the same: so a type may contain itself."""
        around = tuple([one for one in around if one["type"] not in TRANSPARENT])
        key = (ref, place.is_lenient, whole_items, *map(id, around))
        named = self._named.get(key)
        if named is None:
            reference = self._named[key] = RefShape()
            reference.is_lenient = place.is_lenient
            marks = frozenset({"WholeItems"} if whole_items else ())
            named = reference.target = self.shape(self._definitions[ref], {}, place, around, marks)
            self._named[key] = named
        return named

    def _of_part(self, part: Part, whole_items: bool) -> Shape:
        kind = part.kind
        try:
            if kind in KINDS:
                return leaf(part, self._early)
            if kind == "any" and not part.has_effects:
                return AnyShape()
            if kind in ARRAYS:
                return part.or_null(array(part, self.shape, whole_items))
            if kind in MAPPINGS:
                return part.or_null(mapping(part, self.shape))
            if kind in FIELDS:
                return part.or_null(object_with_fields(part, self.shape))
            if kind == "named-tuple":
                return part.or_null(named_tuple(part, self.shape))
            if kind == "union":
                return self._union(part)
            if kind == "tagged-union" and not callable(part.schema["discriminator"]):
                return self._tagged(part)
            if kind == "tuple":
                return part.or_null(tuple_of(part, self.shape, whole_items))
        except NeedsWholeError:
            pass
        return self._whole(part)

    # Unions

    def _union(self, part: Part) -> Shape:
        choices: list[Schema] = [one[0] if isinstance(one, tuple) else one for one in part.schema["choices"]]
        branches = self._branches(part, choices)
        is_smart = part.schema.get("mode", "smart") == "smart"
        if is_smart and any(one["type"] == "str" and is_plain(one, part.config) for one in choices):
            branches = [
                _without_text(branch) if choice["type"] in SECOND_TO_TEXT else branch
                for choice, branch in zip(choices, branches, strict=True)
            ]
        if part.is_nullable:
            branches.append(part.null())
        return UnionShape(branches, part.judge(), is_lenient=part.is_lenient)

    def _branches(self, part: Part, choices: list[Schema]) -> list[Shape]:
        place = part.place._replace(may_be_absent=True)
        return [self.shape(choice, part.config, place, _without_null(part)) for choice in choices]

    def _tagged(self, part: Part) -> Shape:
        by_tag = branches_of(part.schema)
        branches = self._branches(part, list(by_tag.values()))
        shapes = dict(zip(by_tag, branches, strict=True))
        key = discriminator_key(part.schema)
        tags = {} if key is None else tags_of(part.schema, part.config, key, shapes)
        if len(branches) == 1:
            branches *= 2  # the tag counts even if there is no choice
        if any(not self._is_object(choice) for choice in by_tag.values()):
            # A branch that takes other kinds, too, is not asked: there would be no tag.
            other = ALL_KINDS - {OBJECT}
            branches.append(LeafShape(other, "an object", make=part.judge(), is_lenient=part.is_lenient))
        if part.is_nullable:
            branches.append(part.null())
        return UnionShape(
            branches,
            part.judge(),
            discriminator=key if tags else None,
            tags=tags,
            expected="an object",
            is_lenient=part.is_lenient,
        )

    def _is_object(self, schema: Schema) -> bool:
        for _ in range(MAX_DEPTH):
            if schema["type"] == "definition-ref":
                schema = self._definitions[schema["schema_ref"]]
            elif is_wrapper(schema) and schema["type"] != "nullable":
                schema = schema["schema"]
            else:
                break
        return schema["type"] in FIELDS

    # What wants to see what was written

    def _whole(self, part: Part) -> Shape:
        if part.is_lenient:
            return self._lenient(part)
        # Only what is open is shown so, and null never is.
        shown = self._lenient(part._replace(around=_without_null(part)))
        return DeferredShape(part.judge(), ALL_KINDS, shown=None if isinstance(shown, IgnoredShape) else shown)

    def _lenient(self, part: Part) -> Shape:
        """How it is shown until it is judged, as far as that can be told."""
        part = part._replace(place=part.place._replace(is_lenient=True))
        schema, kind = part.schema, part.kind
        if kind == "tagged-union":
            branches = self._branches(part, list(branches_of(schema).values()))
            return UnionShape(branches, part.judge(), is_lenient=True)
        if kind in FIELDS:
            return object_with_fields(part, self.shape)
        if kind == "named-tuple":
            return named_tuple(part, self.shape)
        inner: Schema | None = schema["steps"][0] if kind == "chain" else schema.get("schema")
        if inner is None or kind == "function-plain":
            return IGNORED
        config: Config = schema.get("config", {}) if kind == "model" else part.config
        around = (*part.around, schema) if kind in FUNCTIONS or kind == "model" else part.around
        return self.shape(inner, config, part.place, around)


def _marked(shape: Shape, marks: frozenset[str], place: Place) -> Shape:
    if "Atomic" not in marks:
        return shape
    reference = RefShape()  # the shape may be that of a class, and the marker is for this place only
    reference.target = shape
    reference.is_atomic = True
    reference.is_lenient = place.is_lenient
    return reference


def _without_null(part: Part) -> tuple[Schema, ...]:
    return tuple([one for one in part.around if one["type"] != "nullable"])


def _without_text(shape: Shape) -> Shape:
    if isinstance(shape, LeafShape):
        return LeafShape(shape.kinds - {STRING}, shape.expected, make=shape.make, is_lenient=shape.is_lenient)
    return shape
