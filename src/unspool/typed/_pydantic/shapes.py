"""Pydantic types as shapes: models, and every type that `TypeAdapter` accepts.

`PydanticDescriber` walks Pydantic's own core schema of the type, and Pydantic judges. A leaf goes to a validator of its
own when it closes. A container goes to a validator that knows the container but not its children, with the values of
the children. So every rule of the type holds, and nothing is judged twice. Some parts of a type have to see the text: a
validator that runs before, a union that tries its branches. Such a part is judged as a whole when it closes; until then
it is only shown.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._errors import OptionsError
from ..._quoting import quote
from ..._tree.nodes import BooleanNode, ContainerNode, NumberNode, StringNode
from .._resolve import HIDDEN, resolve_node, shown_value
from .._shape import (
    ALL_KINDS,
    ARRAY,
    IGNORED,
    NO_ITEMS,
    NULL,
    OBJECT,
    STRING,
    AnyShape,
    ArrayShape,
    DeferredShape,
    EmptyContainers,
    Field,
    Held,
    IgnoredShape,
    LeafShape,
    MapShape,
    ObjectShape,
    RefShape,
    ShapeError,
    TupleShape,
    UnionShape,
    Waiting,
    json_text,
    kinds_of,
)

try:
    from pydantic import VERSION
except ImportError as error:
    raise ImportError("Pydantic types need pydantic: pip install 'unspool[pydantic]'") from error

from .instances import dataclass_builder, model_builder, named_tuple_builder, root_builder
from .judge import Late, Made, as_written, held, key_as_written, late, made_before, of_parts, one_field, wrapped
from .schema import (
    ANY,
    FUNCTIONS,
    KINDS,
    MAX_DEPTH,
    NEVER,
    Config,
    Definitions,
    Schema,
    branches_of,
    calls_back,
    config_of,
    core_schema_of,
    discriminator_key,
    extra_behaviour,
    inside,
    is_class,
    is_plain,
    is_strict,
    is_with_info,
    is_wrapper,
    keys_of,
    kinds_of_leaf,
    listed_values,
    marks_of,
    may_omit,
    reads_data,
    tags_of,
    unlisted,
)
from .writing import PydanticWriting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..._tree.nodes import Node
    from .._resolve import Build
    from .._shape import Shape

    Describe = Callable[[Schema, Config, "TypePlace"], Shape]

__all__ = ["shape_of"]

# Older versions let the class win over its schema, and looked up aliases of JSON in another way.
if tuple(map(int, VERSION.split(".")[:2])) < (2, 14):
    raise ImportError("Pydantic types need pydantic 2.14 or later: pip install -U 'unspool[pydantic]'")

FIELDS: Final = frozenset({"model-fields", "dataclass-args", "typed-dict"})
# In a smart union, a string is a string before it is one of these.
SECOND_TO_TEXT: Final = frozenset({"int", "float", "bool"})
TRANSPARENT: Final = frozenset({"default", "custom-error", "missing-sentinel"})  # these leave a value as it is
MAX_WRAPPERS: Final = 1000


def shape_of(type: Any, early: bool, strict: bool | None, fills: bool) -> Shape:
    """Return the shape of a type; see `unspool.typed.from_pydantic`."""
    schema, config = core_schema_of(type), config_of(type)
    describer = PydanticDescriber(early, strict, fills)
    shape = describer.shape(schema, config, TypePlace())
    shape.may_omit = describer.may_omit(schema)
    shape.review = _review(as_written(lambda: schema, config, strict))
    shape.writing = PydanticWriting(schema, config)
    return shape


def _review(judge: Callable[[Node], object]) -> Callable[[Node], ShapeError | None]:
    def review(node: Node) -> ShapeError | None:
        try:
            judge(node)
        except ShapeError as error:
            return error
        return None

    return review


# One part of a type

EFFECTS: Final = FUNCTIONS | {"model", "dataclass"}
NOTHING: Final[Schema] = {"type": "none"}


class TypePlace(NamedTuple):
    """The place of a part inside the type."""

    path: str = "$"
    depth: int = 0
    is_lenient: bool = False
    """The part is only shown here: it is judged together with something around it."""
    may_be_absent: bool = False
    """The type is useful even if nothing fits here."""
    field: str | None = None
    """The name of the field that the part belongs to."""
    is_held: bool = False
    """Validators of the field judge the value later, so a leaf is not shown before."""

    def below(self, step: str, *, may_be_absent: bool = False, field: str | None = None) -> TypePlace:
        """Return a place inside this one."""
        if self.depth >= MAX_DEPTH:
            raise OptionsError(f"{self.path}: nested deeper than {MAX_DEPTH}")
        return TypePlace(self.path + step, self.depth + 1, self.is_lenient, may_be_absent, field or self.field)


class TypePart(NamedTuple):
    """One part of a type: a core schema, the wrappers around it (the outermost first), its config, and its place."""

    definitions: Definitions
    schema: Schema
    around: tuple[Schema, ...]
    config: Config
    place: TypePlace
    strict: bool | None
    """If it is a bool, it overrides the schema."""
    fills: bool
    """Containers that have not begun are shown as empty."""

    @property
    def kind(self) -> str:
        kind: str = self.schema["type"]
        return kind

    @property
    def is_lenient(self) -> bool:
        return self.place.is_lenient

    @property
    def is_nullable(self) -> bool:
        return any(wrapper["type"] == "nullable" for wrapper in self.around)

    @property
    def has_effects(self) -> bool:
        """Whether a wrapper makes another value of the one that the schema makes."""
        return any(wrapper["type"] in EFFECTS for wrapper in self.around)

    @property
    def owner(self) -> Schema | None:
        """The schema of the class that the fields belong to."""
        classes = [wrapper for wrapper in self.around if wrapper["type"] in ("model", "dataclass")]
        return classes[-1] if classes else None

    def below(self, step: str) -> TypePlace:
        """Return the place of an item. In a root model, the name of the field is "root"."""
        is_root = any(wrapper.get("root_model") for wrapper in self.around)
        return self.place.below(step, field="root" if is_root else None)

    def calls_back(self) -> bool:
        """Return whether judging this part may run code of the user's."""
        around = [one for one in self.around if one["type"] != "default"]  # there is a value, so no default runs
        return any(map(calls_back, around)) or any(map(calls_back, self.definitions.walk(self.schema)))

    def judge(self) -> Callable[[Node], object]:
        """Return a `make` that judges a closed node as it was written. A lenient part never runs code of the user's."""
        if self.is_lenient and self.calls_back():
            return _hidden
        core = {key: value for key, value in self.schema.items() if key != "ref"}
        asks = any(map(is_with_info, self.around)) or self.definitions.asks_for_info(core)
        field = self.place.field if asks else None
        build = lambda: self.definitions.standalone(wrapped(self.around, core))  # noqa: E731
        return as_written(build, self.config, self.strict, field)

    def assemble(self, core: Schema, *, as_json: bool = False) -> Callable[[Any], object]:
        """Return a `make` for a container of judged children: `core` has `any` in place of their schemas."""
        asks = any(map(is_with_info, self.around))
        as_json = as_json or asks
        core = {key: value for key, value in core.items() if key not in ("ref", "serialization")}
        if not as_json:
            core.pop("strict", None)
        whole = wrapped(self.around, core, strictly=as_json)
        field = self.place.field if asks else None
        return of_parts(self.definitions.standalone(whole), {}, self.strict, as_json=as_json, field=field)

    def shown(self, show: Callable[[Any], object] | None) -> Callable[[Any], object] | None:
        """Return a `show` for a half-filled container, even if it is the root of a model."""
        roots = [
            root_builder(one["cls"], one["schema"], self.definitions, one.get("config", {}))
            for one in self.around
            if one["type"] == "model" and one.get("root_model")
        ]
        if not roots:
            return show

        def show_rooted(values: Any) -> object:
            value: object = values if show is None else show(values)
            if value is HIDDEN:
                return value
            for build in reversed(roots):
                value = build(value)
            return value

        return show_rooted

    def or_null(self, shape: Shape) -> Shape:
        """Return the shape, or a union with null if the wrappers allow it."""
        return UnionShape([self.null(), shape], self.judge(), is_lenient=self.is_lenient) if self.is_nullable else shape

    def null(self) -> Shape:
        """Return the shape of null, for wrappers that allow it."""
        kinds = [wrapper["type"] for wrapper in self.around]
        outer = self._replace(schema=NOTHING, around=self.around[: kinds.index("nullable")])
        make = outer.judge() if outer.has_effects else None
        return LeafShape(frozenset({NULL}), "null", make=make, is_lenient=self.is_lenient)


def _hidden(node: Node) -> object:
    raise ShapeError.of("not_shown", "a complete value")


# The type


class PydanticDescriber:
    """Makes the shapes of one type and of its parts."""

    def __init__(self, early: bool, strict: bool | None, fills: bool) -> None:
        self._definitions = Definitions()
        self._early = early
        self._strict = strict
        self._fills = fills
        self._named: dict[tuple[object, ...], Shape] = {}

    def shape(
        self,
        schema: Schema,
        config: Config,
        place: TypePlace,
        around: tuple[Schema, ...] = (),
        marks: frozenset[str] = frozenset(),
    ) -> Shape:
        """Return the shape of a part of the type. `around` and `marks` are the wrappers and markers outside of it."""
        for _ in range(MAX_WRAPPERS):
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
                schema = schema["strict_schema" if is_strict(schema, config, self._strict) else "lax_schema"]
            elif is_wrapper(schema):
                around = (*around, schema)
                if kind in ("model", "dataclass"):
                    config = schema.get("config", {})
                schema = schema["schema"]
            else:
                part = TypePart(self._definitions, schema, around, config, place, self._strict, self._fills)
                return _marked(self._of_part(part, "WholeItems" in marks), marks, place)
        raise OptionsError(f"{place.path}: more than {MAX_WRAPPERS} wrappers around a value")

    def may_omit(self, schema: Schema) -> bool:
        """Return whether validation may omit a value of this schema."""
        return may_omit(schema, self._definitions)

    def _by_name(self, ref: str, place: TypePlace, around: tuple[Schema, ...], whole_items: bool) -> Shape:
        """Return the shape of a definition, the same one each time, so that a type may contain itself."""
        around = tuple([one for one in around if one["type"] not in TRANSPARENT])
        if not any(map(is_with_info, around)) and is_class(self._definitions[ref]):
            place = place._replace(field=None)
        key = (ref, place.is_lenient, place.field, place.is_held, whole_items, *map(id, around))
        named = self._named.get(key)
        if named is None:
            reference = self._named[key] = RefShape()
            reference.is_lenient = place.is_lenient
            marks = frozenset({"WholeItems"} if whole_items else ())
            try:
                named = reference.target = self.shape(self._definitions[ref], {}, place, around, marks)
            except OptionsError:
                del self._named[key]
                raise
            self._named[key] = named
        return named

    def _of_part(self, part: TypePart, whole_items: bool) -> Shape:
        kind = part.kind
        if whole_items and (kind in MAPPINGS or kind in FIELDS or kind in KINDS):
            raise OptionsError(f"{part.place.path}: {NO_ITEMS}")
        try:
            if kind in KINDS:
                return leaf(part, self._early)
            if kind == "any" and not part.has_effects:
                return AnyShape(is_atomic=part.place.is_held)
            if kind in ARRAYS:
                return part.or_null(array(part, self.shape, whole_items))
            if kind in MAPPINGS:
                return part.or_null(mapping(part, self.shape))
            if kind in FIELDS:
                return part.or_null(object_with_fields(part, self.shape))
            if kind == "named-tuple":
                return part.or_null(named_tuple(part, self.shape))
            if kind == "union":
                return self._union(part, whole_items)
            if kind == "tagged-union" and not callable(part.schema["discriminator"]):
                return self._tagged(part)
            if kind == "tuple":
                return part.or_null(tuple_of(part, self.shape, whole_items))
        except NeedsWholeError:
            pass
        return self._whole(part, whole_items)

    # Unions

    def _union(self, part: TypePart, whole_items: bool) -> Shape:
        choices: list[Schema] = [one[0] if isinstance(one, tuple) else one for one in part.schema["choices"]]
        branches = self._branches(part, choices)
        if whole_items:
            branches = self._with_whole_items(part, choices, branches)
        is_smart = part.schema.get("mode", "smart") == "smart"
        if is_smart and any(one["type"] == "str" and is_plain(one, part.config) for one in choices):
            branches = [
                _without_text(branch) if choice["type"] in SECOND_TO_TEXT else branch
                for choice, branch in zip(choices, branches, strict=True)
            ]
        if part.is_nullable:
            branches.append(part.null())
        return UnionShape(branches, part.judge(), by_literals=not part.is_lenient, is_lenient=part.is_lenient)

    def _branches(self, part: TypePart, choices: list[Schema]) -> list[Shape]:
        place = part.place._replace(may_be_absent=True)
        return [self.shape(choice, part.config, place, _without_null(part)) for choice in choices]

    def _with_whole_items(self, part: TypePart, choices: list[Schema], branches: list[Shape]) -> list[Shape]:
        """Return the branches with the marker on those that take arrays."""
        marks = frozenset({"WholeItems"})
        place = part.place._replace(may_be_absent=True)
        marked = list(branches)
        for index, choice in enumerate(choices):
            if ARRAY in kinds_of(branches[index]):
                with suppress(OptionsError):  # a validator may make a string of an array
                    marked[index] = self.shape(choice, part.config, place, _without_null(part), marks)
        if not any(ARRAY in kinds_of(branch) or isinstance(branch, RefShape) for branch in branches):
            raise OptionsError(f"{part.place.path}: {NO_ITEMS}")
        return marked

    def _tagged(self, part: TypePart) -> Shape:
        by_tag = branches_of(part.schema)
        branches = self._branches(part, list(by_tag.values()))
        shapes = dict(zip(by_tag, branches, strict=True))
        key = discriminator_key(part.schema)
        tags = {} if key is None else tags_of(part.schema, part.config, key, shapes, part.strict)
        if len(branches) == 1:
            branches *= 2  # the tag counts even if there is no choice
        if any(not self._is_object(choice) for choice in by_tag.values()):
            # A branch may accept other kinds, too, but such a value has no tag, and Pydantic refuses it.
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

    # Parts that are judged as a whole

    def _whole(self, part: TypePart, whole_items: bool) -> Shape:
        if part.is_lenient:
            return self._lenient(part, whole_items)
        if part.schema.get("on_error") == "omit":
            return DeferredShape(part.judge(), ALL_KINDS)  # an item is there once it is accepted, and not before
        # This shape only shows open values, and null is never open.
        shown = self._lenient(part._replace(around=_without_null(part)), whole_items)
        return DeferredShape(part.judge(), ALL_KINDS, shown=None if isinstance(shown, IgnoredShape) else shown)

    def _lenient(self, part: TypePart, whole_items: bool) -> Shape:
        """Return the shape that shows the part until it is judged; IGNORED if there is nothing to show."""
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
        marks = frozenset({"WholeItems"} if whole_items else ())
        return self.shape(inner, config, part.place, around, marks)


def _marked(shape: Shape, marks: frozenset[str], place: TypePlace) -> Shape:
    if "Atomic" not in marks:
        return shape
    reference = RefShape()  # the shape may belong to a class, and the marker is for this field only
    reference.target = shape
    reference.is_atomic = True
    reference.is_lenient = place.is_lenient
    return reference


def _without_null(part: TypePart) -> tuple[Schema, ...]:
    return tuple([one for one in part.around if one["type"] != "nullable"])


def _without_text(shape: Shape) -> Shape:
    if isinstance(shape, LeafShape):
        return LeafShape(shape.kinds - {STRING}, shape.expected, make=shape.make, is_lenient=shape.is_lenient)
    return shape


# Leaves

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
MAX_LISTED: Final = 8
SIMPLE: Final = (str, int, float, bool, type(None))


def leaf(part: TypePart, early: bool) -> Shape:
    """Return the shape of a leaf. Pydantic judges it as it was written, so that its rules for JSON hold.

    Pydantic is not asked if the value is certain anyway. A leaf that runs code of the user's is not shown before it is
    judged.
    """
    schema, config, kind = part.schema, part.config, part.kind
    kinds = kinds_of_leaf(schema, config, part.strict)
    if part.is_nullable:
        kinds |= {NULL}
    if part.is_lenient and (kind in NEVER or part.calls_back()):
        return IGNORED
    if kind in NEVER and not part.place.may_be_absent and not part.is_nullable:
        raise OptionsError(f"{part.place.path}: no JSON value can become one of {_class_name(schema)}")
    if kind in ("literal", "enum"):
        return _listed(part, kinds, early and not part.place.is_held)
    words, make, is_lenient = WORDS.get(kind, "another value"), part.judge(), part.is_lenient
    if not part.has_effects and is_plain(schema, config):
        if kind == "str" and not part.place.is_held and kinds <= {STRING, NULL}:
            return LeafShape(kinds, words, streams=True, is_lenient=is_lenient)
        if kind in _QUICK:
            return LeafShape(kinds, words, make=_QUICK[kind](make), is_lenient=is_lenient)
    if part.is_lenient and part.has_effects:
        return IGNORED
    return LeafShape(kinds, words, make=make, max_length=_max_length(part), is_lenient=is_lenient)


def _max_length(part: TypePart) -> int | None:
    """Return the length beyond which a string can only be wrong, unless white space at its ends is stripped."""
    schema, config = part.schema, part.config
    if part.kind != "str" or schema.get("strip_whitespace", config.get("str_strip_whitespace")):
        return None
    most: int | None = schema.get("max_length", config.get("str_max_length"))
    return most


def _listed(part: TypePart, kinds: frozenset[str], early: bool) -> Shape:
    """Return the shape of a literal or an enum. If all strings are listed, the first wrong character is enough."""
    schema = part.schema
    if part.kind == "enum" and unlisted(schema):
        return DeferredShape(part.judge(), is_lenient=part.is_lenient)
    values = listed_values(schema)
    if part.kind == "enum" and not all(isinstance(value, SIMPLE) for value in values):
        return DeferredShape(part.judge(), is_lenient=part.is_lenient)
    functions = [one["function"]["function"] for one in part.around if one["type"] in FUNCTIONS]
    has_class = any(one["type"] in ("model", "dataclass") for one in part.around)
    texts: dict[str, object] | None = None
    is_listed = not has_class and all(map(_only_reads, functions))
    # Numbers may come as text, and only the validator knows the value that it makes.
    if schema.get("sub_type") not in ("int", "float") and is_listed:
        texts = _texts(part, values)
        if not texts:
            kinds -= {STRING}
    return LeafShape(
        kinds,
        _list(values),
        make=part.judge(),
        literals=texts or None,
        early=early,
        is_listed=is_listed,
        is_lenient=part.is_lenient,
    )


def _only_reads(function: object) -> bool:
    return isinstance(function, attrgetter)  # this is how Pydantic reads the values of an enum


def _texts(part: TypePart, values: list[object]) -> dict[str, object]:
    """Return all strings that mean one of the values, with the values that Pydantic makes of them."""
    judge = part.judge()
    texts: dict[str, object] = {}
    for value in values:
        if isinstance(value, str):
            try:
                texts[str(value)] = judge(StringNode(0, 0, True, str(value)))
            except ShapeError:
                continue  # Pydantic does not accept this one in JSON
    return texts


def _list(values: list[object]) -> str:
    if len(values) > MAX_LISTED:
        return f"one of {len(values)} values"
    return " or ".join([quote(value) if isinstance(value, str) else repr(value) for value in values])


def _class_name(schema: Schema) -> str:
    cls: Any = schema.get("cls", schema["type"])
    return str(getattr(cls, "__name__", cls))


# Leaves with a certain value


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


# Lists, sets and mappings


ARRAYS: Final[dict[str, Callable[[list[object]], object] | None]] = {
    "list": None,
    "set": set,
    "frozenset": frozenset,
    "deque": deque,
}
MAPPINGS: Final[dict[str, Callable[[dict[object, object]], object] | None]] = {
    "dict": None,
    "ordered-dict": OrderedDict,
}


def array(part: TypePart, describe: Describe, whole_items: bool) -> ArrayShape:
    """Return the shape of a list, a set or a deque."""
    schema = part.schema
    items: Schema = schema.get("items_schema", ANY)
    shape = describe(items, part.config, part.below("[*]"))
    omits = may_omit(items, part.definitions)
    is_set = part.kind in ("set", "frozenset")
    show = part.shown(None if is_set and not _is_hashed_by_python(items) else ARRAYS[part.kind])
    is_bare = part.kind == "list" and not part.has_effects and not {"min_length", "max_length"} & schema.keys()
    make = show if part.is_lenient or is_bare else part.assemble({**schema, "items_schema": ANY})
    # Equal items count once in a set, and omitted items do not count at all.
    most: int | None = None if omits or part.kind != "list" else schema.get("max_length")
    expected = "an array" if most is None else f"an array of at most {most} items"
    made = ArrayShape(
        shape,
        show=show,
        make=make,
        expected=expected,
        max_items=most,
        whole_items=whole_items,
        is_lenient=part.is_lenient,
    )
    made.is_set = is_set
    return made


def _is_hashed_by_python(schema: Schema) -> bool:
    """Return whether an item is a value of a built-in type, so that a set of them runs no code of the user's."""
    while schema["type"] in ("nullable", "default"):
        schema = schema["schema"]
    kind = schema["type"]
    if kind == "enum":
        return all(_definer(schema["cls"], name).__module__ in ("builtins", "enum") for name in ("__hash__", "__eq__"))
    if kind == "literal":
        return all(type(value) in SIMPLE for value in schema["expected"])
    return kind in KINDS and kind not in NEVER and kind != "json"


def _definer(cls: type, name: str) -> type:
    """Return the class that defines a method of another class."""
    return next(base for base in cls.__mro__ if name in vars(base))


def mapping(part: TypePart, describe: Describe) -> MapShape:
    """Return the shape of an object with any keys."""
    schema = part.schema
    keys: Schema = schema.get("keys_schema", ANY)
    values: Schema = schema.get("values_schema", ANY)
    if not part.is_lenient and part.below("").field and any(map(is_with_info, part.definitions.walk(keys))):
        raise NeedsWholeError  # a key is judged on its own, and has no place for the name of the field
    shape = describe(values, part.config, part.below("[*]"))
    has_plain_keys = keys["type"] in ("any", "str") and is_plain(keys, part.config)
    check_key: Callable[[str], object] | None = None
    if not has_plain_keys and not (part.is_lenient and any_calls_back(keys, part)):
        only_keys: Schema = {"type": "dict", "keys_schema": keys, "values_schema": ANY}
        check_key = key_as_written(part.definitions.standalone(only_keys), part.config, part.strict)
    omits = may_omit(values, part.definitions)
    show = part.shown(MAPPINGS[part.kind])
    is_bare = part.kind == "dict" and not part.has_effects and not {"min_length", "max_length"} & schema.keys()
    if part.is_lenient or is_bare:
        make = show
    else:
        hollow = {**schema, "keys_schema": ANY, "values_schema": ANY}
        make = part.assemble(hollow)
    # Two spellings may become one key.
    most: int | None = schema.get("max_length") if has_plain_keys and not omits else None
    return MapShape(shape, check_key=check_key, show=show, make=make, max_keys=most, is_lenient=part.is_lenient)


def any_calls_back(schema: Schema, part: TypePart) -> bool:
    """Return whether judging by this schema may run code of the user's."""
    return part._replace(schema=schema, around=()).calls_back()


# Tuples


def tuple_of(part: TypePart, describe: Describe, whole_items: bool) -> TupleShape:
    """Return the shape of a tuple. Items are counted from the start, so the variadic part has to come last."""
    schema = part.schema
    items: list[Schema] = schema["items_schema"]
    variadic: int | None = schema.get("variadic_item_index")
    if variadic is not None and variadic != len(items) - 1:
        raise NeedsWholeError
    if any(may_omit(one, part.definitions) for one in items[:variadic]):
        raise NeedsWholeError
    shapes = [describe(one, part.config, part.below(f"[{index}]")) for index, one in enumerate(items)]
    rest = None if variadic is None else shapes.pop()
    omits = variadic is not None and may_omit(items[-1], part.definitions)
    show = part.shown(tuple)
    make = show
    if not part.is_lenient:
        make = part.assemble({**schema, "items_schema": [ANY] * len(items)})
    most: int | None = None if omits else schema.get("max_length")
    shape = TupleShape(shapes, rest, show=show, make=make, max_items=most, is_lenient=part.is_lenient)
    shape.whole_items = whole_items
    return shape


def named_tuple(part: TypePart, describe: Describe) -> Shape:
    """Return the shape of a named tuple: an object with keys, or an array with an item per field."""
    fields: list[Schema] = part.schema["fields"]
    names: list[str] = [field["name"] for field in fields]
    keys: list[str] = []
    for name, field in zip(names, fields, strict=True):
        those = keys_of(name, field, part.config) or []
        if not part.is_lenient and (len(those) != 1 or checks_default(field["schema"], part.config)):
            raise NeedsWholeError
        keys.append(those[0] if those else name)
    # A validator gets the name of the field, and the fields of the class around the named tuple, if there is one.
    if part.place.field is None and any(part.definitions.sees_siblings(field["schema"]) for field in fields):
        raise NeedsWholeError
    places = [part.place.below(f".{name}", may_be_absent=True, field=name) for name in names]
    shapes = [describe(field["schema"], part.config, place) for field, place in zip(fields, places, strict=True)]
    build = _filling(part, named_tuple_builder(part.schema["cls"]), dict(zip(names, shapes, strict=True)))
    name_of = dict(zip(keys, names, strict=True))
    show_object = part.shown(lambda values: build({name_of[key]: value for key, value in values.items()}))
    assert show_object is not None
    by_key = {
        key: Field(key, shape, field["schema"]["type"] != "default", holds_back(field["schema"]))
        for key, shape, field in zip(keys, shapes, fields, strict=True)
    }
    if part.is_lenient:  # an index says nothing once a hidden item is left out
        return ObjectShape(by_key, show_object, show_object, extra=IGNORED, is_lenient=True)
    make = part.assemble({**part.schema, "fields": [_hollow_item(field) for field in fields]})
    show_array = part.shown(lambda items: build(dict(zip(names, items, strict=False))))
    as_array = TupleShape(shapes, None, show=show_array, make=make)
    as_object = ObjectShape(by_key, show_object, make, extra=None)
    return UnionShape([as_array, as_object], part.judge(), expected="an array or an object")


def _hollow_item(field: Schema) -> Schema:
    schema: dict[str, Any] = field["schema"]
    return {**field, "schema": {**schema, "schema": ANY} if schema["type"] == "default" else ANY}


# Objects with fields

MARKED: Final = frozenset(
    {"default", "nullable", "union", "custom-error", "function-after", "function-before", "function-wrap"}
)


class NeedsWholeError(Exception):
    """The value cannot be put together from its parts: Pydantic has to see it as it was written."""


class Member(NamedTuple):
    """A field of an object."""

    name: str
    field: Schema
    keys: list[str]
    default: list[Schema]
    """The wrapper with the default, which is judged with the object."""
    functions: list[Schema]
    """The outermost validators, if one of them asks for the fields before. They run once those are there."""
    schema: Schema
    """The rest, which is judged when the field closes."""
    is_required: bool
    is_late: bool
    """A validator further inside asks for the fields before, so the rest waits for those, too."""
    checks_default: bool
    holds_back: bool


def object_with_fields(part: TypePart, describe: Describe) -> ObjectShape:
    """Return the shape of a model, a dataclass or a typed dict.

    The values go to Pydantic under the keys of the text.
    """
    schema = part.schema
    config: Config = schema.get("config", {}) if part.kind == "typed-dict" else part.config
    if "extras_keys_schema" in schema and not part.is_lenient:
        raise NeedsWholeError
    extra = extra_behaviour(schema, config)
    members = list(_members(part, config))
    fields: dict[str, Field] = {}
    for member in members:
        for key, field in _fields(member, part, config, describe):
            if key in fields and not part.is_lenient:
                raise NeedsWholeError  # one value for two fields
            fields.setdefault(key, field)
    waiting = {} if part.is_lenient else _waiting(part, members, config, extra)
    shapes = {member.name: fields[member.keys[0]].shape for member in members if member.keys}
    show = part.shown(_show(part, config, members, extra, shapes, has_held=bool(waiting)))
    assert show is not None
    make = show if part.is_lenient else _make(part, members, config)
    kept = _extras(part, config, extra, describe)
    if part.is_lenient and kept is None:
        kept = IGNORED
    several = [member.keys for member in members if member.is_required and len(member.keys) > 1]
    made = ObjectShape(
        fields,
        show,
        make,
        extra=kept,
        required=several,
        waiting=waiting,
        attributes={key: member.name for member in members for key in member.keys if key != member.name},
        has_defaults=part.kind != "typed-dict",
        is_lenient=part.is_lenient,
    )
    # `_show` hides the object, too: it knows which of several keys leads to a field, and which values are held.
    has_ranks = bool(waiting) or any(len(member.keys) > 1 for member in members)
    made.may_hide = has_ranks and any(member.holds_back for member in members)
    return made


def _members(part: TypePart, config: Config) -> Iterator[Member]:
    for name, field in _named_fields(part.schema):
        if not field.get("init", True):
            continue  # this name is an extra key
        keys = keys_of(name, field, config)
        if keys is None:
            if part.is_lenient:
                continue
            raise NeedsWholeError
        schema: Schema = field["schema"]
        is_required: bool = schema["type"] != "default"
        if part.kind == "typed-dict":
            is_total: Any = part.schema.get("total", config.get("typed_dict_total", True))
            is_required = bool(field.get("required", is_total))
        default, functions, inner = _split(schema)
        is_checked = checks_default(schema, config)
        is_late = part.definitions.sees_siblings(inner)
        if is_late:
            functions, inner = [], default[0]["schema"] if default else schema
        if is_checked and (is_late or len(keys) > 1) and not part.is_lenient:
            raise NeedsWholeError
        held = holds_back(schema)
        yield Member(name, field, keys, default, functions, inner, is_required, is_late, is_checked, held)


def checks_default(schema: Schema, config: Config) -> bool:
    """Return whether the default of a field is validated when it is used."""
    return schema["type"] == "default" and bool(schema.get("validate_default", config.get("validate_default")))


def _named_fields(schema: Schema) -> Iterator[tuple[str, Schema]]:
    fields: Any = schema["fields"]
    if isinstance(fields, dict):
        yield from fields.items()
    else:
        yield from ((field["name"], field) for field in fields)


def _split(schema: Schema) -> tuple[list[Schema], list[Schema], Schema]:
    """Split a schema into its default, the outermost validators that ask for other fields, and the rest."""
    default: list[Schema] = []
    if schema["type"] == "default" and schema.get("on_error", "raise") == "raise":
        default.append(schema)
        schema = schema["schema"]
    functions: list[Schema] = []
    inner = schema
    while inner["type"] == "function-after" and "ref" not in inner:
        functions.append(inner)
        inner = inner["schema"]
    while functions and not reads_data(functions[-1]):
        inner = functions.pop()
    return default, functions, inner


def holds_back(schema: Schema) -> bool:
    """Return whether the object is hidden until this field is shown. The marker may be on a branch of a union."""
    parts = [schema]
    while parts:
        part = parts.pop()
        if "NotNull" in marks_of(part):
            return True
        if part["type"] in MARKED:
            parts += inside(part)
    return False


def _fields(member: Member, part: TypePart, config: Config, describe: Describe) -> Iterator[tuple[str, Field]]:
    place = part.place.below(f".{member.name}", may_be_absent=not member.is_required, field=member.name)
    # The original schema if possible: a new one would differ each time a type contains itself.
    schema: Schema = member.field["schema"]
    if part.is_lenient:
        shape = describe(schema, config, place)
    elif member.is_late:
        shape = _late_shape(describe(schema, config, place._replace(is_lenient=True, is_held=True)))
    elif member.functions:
        shape = describe(member.schema, config, place._replace(is_held=True))
    else:
        shape = describe(schema, config, place)
    is_only = len(member.keys) == 1
    for key in member.keys:
        yield key, Field(key, shape, member.is_required and is_only, member.holds_back and is_only)


def _late_shape(lenient: Shape) -> DeferredShape:
    def make(node: Node) -> object:
        # A leaf is not shown before it is judged, but a container was shown before, and stays.
        is_shown = isinstance(node, ContainerNode)
        shown = shown_value(resolve_node(lenient, node, None).shown) if is_shown else HIDDEN
        return Held(node, Late(json_text(node)), shown, is_valid=True)

    return DeferredShape(make, ALL_KINDS, shown=lenient)


def _waiting(part: TypePart, members: list[Member], config: Config, extra: str) -> dict[str, Waiting]:
    """Return the keys whose values are not final when they close."""
    waiting: dict[str, Waiting] = {}
    before: dict[str, list[str]] = {}
    names = [name for name, _ in _named_fields(part.schema)]
    for member in members:
        judge: Callable[[Held, dict[str, object]], object] | None = None
        needs: tuple[tuple[str, ...], ...] | None = None
        if member.is_late or member.functions:
            schema = late(member.schema) if member.is_late else held(member.functions)
            judge = one_field(before, member.name, part.definitions.standalone(schema), config, part.strict)
            # A field before it that no key leads to has a default, which only the whole object knows.
            if not member.checks_default and names[: len(before)] == list(before):
                needs = tuple(map(tuple, before.values()))
        for index, key in enumerate(member.keys):
            winners = () if extra == "forbid" else tuple(member.keys[:index])
            if winners or judge is not None:
                waiting[key] = Waiting(winners, needs, judge)
        before = {**before, member.name: member.keys}
    return waiting


def _extras(part: TypePart, config: Config, extra: str, describe: Describe) -> Shape | None:
    if extra == "ignore":
        return IGNORED
    if extra == "forbid":
        return None
    schema: Schema | None = part.schema.get("extras_schema")
    return AnyShape() if schema is None else describe(schema, config, part.place.below("[*]", may_be_absent=True))


# The value of an object


def _make(part: TypePart, members: list[Member], config: Config) -> Callable[[dict[str, object]], object]:
    by_name = {member.name: member for member in members}
    hollow: Any = {
        name: _hollow(by_name[name]) if name in by_name else field for name, field in _named_fields(part.schema)
    }
    if not isinstance(part.schema["fields"], dict):
        hollow = list(hollow.values())
    core: Schema = {**part.schema, "fields": hollow}
    if "extras_schema" in core:
        core["extras_schema"] = ANY
    as_json = any(member.checks_default or member.functions or member.is_late for member in members)
    assemble = part.assemble(core, as_json=as_json)
    checked = [key for member in members if member.checks_default for key in member.keys]
    if not checked:
        return assemble

    def make(values: dict[str, object]) -> object:
        return assemble({**values, **{key: Made(values[key]) for key in checked if key in values}})

    return make


def _hollow(member: Member) -> Schema:
    inner = ANY
    if member.is_late:
        inner = late(member.schema)
    elif member.checks_default:
        inner = wrapped(member.functions, made_before(member.schema))
    elif member.functions:
        inner = held(member.functions)
    return {**member.field, "schema": wrapped(member.default, inner)}


def _show(
    part: TypePart,
    config: Config,
    members: list[Member],
    extra: str,
    shapes: Mapping[str, Shape],
    *,
    has_held: bool,
) -> Callable[[dict[str, object]], object]:
    build = _filling(part, _builder(part, config), shapes)
    if extra != "allow" and not has_held and all(member.keys == [member.name] for member in members):
        return build
    places = [(key, member.name, rank) for member in members for rank, key in enumerate(member.keys)]
    holding = frozenset([member.name for member in members if member.holds_back])

    def show(values: dict[str, object]) -> object:
        there: dict[str, object] = {}
        ranks: dict[str, int] = {}
        extras = values  # a dict of our own: what is left of it are the extra keys, of which there may be many
        for key, name, rank in places:
            if key not in extras:
                continue
            value = extras.pop(key)
            shown = value.shown if isinstance(value, Held) else value
            if shown is not HIDDEN and rank <= ranks.get(name, rank):  # the first of several keys for one field wins
                there[name] = shown
                ranks[name] = rank
        return build(there, extras) if holding <= there.keys() else HIDDEN

    return show


def _filling(part: TypePart, build: Build, shapes: Mapping[str, Shape]) -> Build:
    """Return the builder, which also shows containers that have not begun, if that is wanted."""
    if not part.fills:
        return build
    empty = EmptyContainers(shapes)
    is_model = part.kind == "model-fields"

    def build_filled(there: dict[str, object], extras: Mapping[str, object] | None = None) -> object:
        instance = build(empty.added_to(there), extras)
        if is_model:
            object.__setattr__(instance, "__pydantic_fields_set__", set(there))
        return instance

    return build_filled


def _builder(part: TypePart, config: Config) -> Build:
    owner = part.owner
    if part.kind == "typed-dict" or owner is None:
        return _dict
    if part.kind == "dataclass-args":
        return dataclass_builder(owner["cls"], part.schema, part.definitions, config)
    return model_builder(owner["cls"], part.schema, part.definitions, config)


def _dict(there: dict[str, object], extras: Mapping[str, object] | None = None) -> object:
    return {**there, **extras} if extras else there
