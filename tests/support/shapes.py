"""Shapes made by hand or at random, documents for them, and a plain model of what resolving has to give.

The model looks at one tree and knows nothing of the past: for each node it asks the rules again, from the root down,
as the docstrings of `shape.py` and the documentation state them. It is slow, and it recurses. What it shares with the
library is the tree, and the functions that a shape was made with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from tests.support.strategies import Tape, spell
from unspool import Path
from unspool._tree.nodes import ContainerNode, ObjectNode
from unspool.typed import Problem
from unspool.typed._shape import (
    ALL_KINDS,
    IGNORED,
    AnyShape,
    ArrayShape,
    DeferredShape,
    Field,
    IgnoredShape,
    LeafShape,
    MapShape,
    ObjectShape,
    RefShape,
    Shape,
    ShapeError,
    TupleShape,
    UnionShape,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy

    from unspool import ParserState
    from unspool._path import Step
    from unspool._tree.nodes import Node
    from unspool.typed import Resolution

HIDDEN: Any = object()


# By hand


def leaf(kinds: str, **named: Any) -> LeafShape:
    """A leaf of these kinds: ``leaf("number null")``."""
    return LeafShape(frozenset(kinds.split()), named.pop("expected", "a leaf"), **named)


def text(**named: Any) -> LeafShape:
    """A string that streams."""
    return leaf("string", streams=True, **named)


def number(**named: Any) -> LeafShape:
    return leaf("number", **named)


def literal(*options: str, **named: Any) -> LeafShape:
    """One of these strings."""
    return leaf("string", literals={option: option for option in options}, **named)


def record(fields: dict[str, Shape | Field], **named: Any) -> ObjectShape:
    """An object with these fields, shown and made as ``("open", {...})`` and ``("whole", {...})``.

    A shape stands for an optional field; other keys are left out.
    """
    by_key = {key: field if isinstance(field, Field) else Field(key, field) for key, field in fields.items()}
    show, make = named.pop("show", as_open), named.pop("make", as_whole)
    return ObjectShape(by_key, show, make, extra=named.pop("extra", IGNORED), **named)


def required(name: str, shape: Shape, **named: Any) -> Field:
    return Field(name, shape, True, **named)


def ref(make: Callable[[RefShape], Shape]) -> Shape:
    """A shape that contains itself."""
    standing = RefShape()
    standing.target = make(standing)
    return standing.target


def as_open(values: object) -> object:
    return ("open", values)


def as_whole(values: object) -> object:
    return ("whole", values)


def refuse(*_: object) -> Any:
    """A `make` to which nothing is right."""
    raise ShapeError.of("refused", "something else")


def never(*_: object) -> Any:
    """A `make` that must not be called."""
    raise AssertionError("called")


class Calls:
    """Functions that are called once for each closed node, and remember with what."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def node(self, node: Node) -> Any:
        """For a leaf, or what is judged as a whole."""
        assert node.closed
        self.seen.append(node.id)
        return node.value

    def values(self, values: Any) -> Any:
        """For a container."""
        self.seen.append(type(values).__name__)
        return ("whole", values)


# The model


class Seen(NamedTuple):
    """What became of a node. What has problems is wrong, even if something of it is shown."""

    value: Any
    problems: tuple[Problem, ...] = ()


def model(shape: Shape, state: ParserState) -> tuple[str, Any, tuple[Problem, ...]]:
    """The name of the outcome, the value and the problems of a state."""
    seen = Seen(HIDDEN) if state.root is None else look(shape, state.root, False)
    value = None if seen.value is HIDDEN else seen.value
    if seen.problems:
        return "Invalid", value, seen.problems
    if state.is_complete:
        return "Complete", value, ()
    return "Missing" if seen.value is HIDDEN else "Partial", value, ()


def told(resolution: Resolution[Any]) -> tuple[str, Any, tuple[Problem, ...]]:
    """The same of a resolution, to compare."""
    return type(resolution).__name__, resolution.value, resolution.problems


def look(shape: Shape, node: Node, hides: bool) -> Seen:
    """What becomes of one node; `hides`: an outer shape says that it is shown only when complete."""
    hides = hides or shape.is_atomic
    try:
        if isinstance(shape, RefShape):
            return look(shape.target, node, hides)
        if isinstance(shape, UnionShape):
            branch = _branch(shape, node)
            if branch is not None:
                return look(branch, node, hides)
            return Seen(shape.make(node) if node.closed else HIDDEN)
        if node.kind not in shape.kinds:
            raise ShapeError.of("wrong_kind", shape.expected)
        if isinstance(shape, DeferredShape):
            if node.closed:
                return Seen(shape.make(node))
            return Seen(HIDDEN) if shape.shown is None else look(shape.shown, node, hides)
        if isinstance(shape, IgnoredShape):
            return Seen(HIDDEN)
        if isinstance(shape, AnyShape):
            return Seen(node.value if node.closed or not hides else HIDDEN)
        if isinstance(shape, LeafShape):
            return Seen(_leaf(shape, node, hides))
    except ShapeError as error:
        return Seen(HIDDEN) if shape.is_lenient else Seen(HIDDEN, error.problems)
    assert isinstance(node, ContainerNode)
    return _container(shape, node, hides)


def _branch(shape: UnionShape, node: Node) -> Shape | None:
    takers = [branch for branch in shape.branches if node.kind in kinds(branch)]
    if not takers:
        raise ShapeError.of("wrong_kind", shape.expected)
    if len(takers) == 1:
        return takers[0]
    if shape.discriminator is None or not isinstance(node, ObjectNode):
        return None
    there = [child for key, child in zip(node.keys, node.children, strict=True) if key == shape.discriminator]
    if not there or not (there[0].closed or isinstance(there[0], ContainerNode)):
        return None
    for (kind, value), branch in shape.tags.items():
        if kind == there[0].kind and value == there[0].value:
            return branch
    expected = f"a known {shape.discriminator!r}"
    raise ShapeError([Problem(Path.of(shape.discriminator), "unknown_tag", expected)])


def kinds(shape: Shape, seen: tuple[Shape, ...] = ()) -> frozenset[str]:
    """The kinds that may fit."""
    if any(shape is one for one in seen):
        return frozenset()
    if isinstance(shape, RefShape):
        return kinds(shape.target, (*seen, shape))
    if isinstance(shape, UnionShape):
        return frozenset().union(*[kinds(branch, (*seen, shape)) for branch in shape.branches])
    return shape.kinds


def _leaf(shape: LeafShape, node: Node, hides: bool) -> Any:
    value = node.value
    if isinstance(value, str):
        if shape.max_length is not None and len(value) > shape.max_length:
            raise ShapeError.of("too_long", shape.expected)
        if shape.literals is not None:
            possible = [one for one in shape.literals if one == value or (not node.closed and one.startswith(value))]
            if not possible:
                raise ShapeError.of("not_one_of", shape.expected)
            is_certain = node.closed or (shape.early and len(possible) == 1 and not hides)
            return shape.literals[possible[0]] if is_certain else HIDDEN
        if not node.closed:
            return value if shape.streams and not hides else HIDDEN
    return value if shape.make is None else shape.make(node)


def _container(shape: Shape, node: ContainerNode, hides: bool) -> Seen:
    steps: list[Step] = list(node.keys) if isinstance(node, ObjectNode) else list(range(len(node)))
    values: list[tuple[object, Any]] = []
    problems: list[Problem] = []
    for index, (step, child) in enumerate(zip(steps, node.children, strict=True)):
        name, seen = _child(shape, index, step, child)
        problems += [Problem(Path.of(step, *one.path.steps), one.code, one.expected) for one in seen.problems]
        is_left_out = isinstance(shape, ArrayShape) and shape.whole_items and (not child.closed or seen.problems)
        if seen.value is not HIDDEN and not is_left_out:
            values.append((name, seen.value))
        elif isinstance(shape, TupleShape) and child.closed and (seen.problems or shape.is_lenient):
            is_too_much = shape.max_items is not None and index >= shape.max_items
            if not is_too_much and not isinstance(shape.item_at(index), IgnoredShape):
                values.append((name, None))  # each place has its meaning
    if node.closed and not problems:
        try:
            return Seen(_made(shape, values))
        except ShapeError as error:
            if shape.is_lenient:
                return Seen(HIDDEN)
            problems += error.problems
    return Seen(HIDDEN if hides else _shown(shape, values), tuple(problems))


def _child(shape: Shape, index: int, step: Step, child: Node) -> tuple[object, Seen]:
    most = shape.max_items if isinstance(shape, ArrayShape) else getattr(shape, "max_keys", None)
    name: object = step
    try:
        if isinstance(shape, ArrayShape):
            below = shape.item_at(index)
        elif isinstance(shape, ObjectShape):
            field = shape.fields.get(str(step))
            if field is None:
                if shape.extra is None:
                    raise ShapeError.of("extra_key", "no such key")
                below = shape.extra
            else:
                name, below = field.name, field.shape
        else:
            assert isinstance(shape, MapShape)
            below = shape.item
            if shape.check_key is not None:
                name = shape.check_key(str(step))
        if most is not None and index >= most:
            raise ShapeError.of("too_many_items" if isinstance(shape, ArrayShape) else "too_many_keys", shape.expected)
    except ShapeError as error:
        return name, Seen(HIDDEN) if shape.is_lenient else Seen(HIDDEN, error.problems)
    return name, look(below, child, False)


def _made(shape: Shape, values: list[tuple[object, Any]]) -> Any:
    if isinstance(shape, ArrayShape):
        items = [value for _, value in values]
        return items if shape.make is None else shape.make(items)
    members: dict[Any, Any] = dict(values)
    if isinstance(shape, MapShape):
        return members if shape.make is None else shape.make(members)
    assert isinstance(shape, ObjectShape)
    absent: dict[str, str] = {}
    for key, field in shape.fields.items():
        if field.is_required and field.name not in members:
            absent.setdefault(field.name, key)
    if absent and not shape.is_lenient:
        raise ShapeError([Problem(Path.of(key), "missing", "a required key") for key in absent.values()])
    return shape.make(members)


def _shown(shape: Shape, values: list[tuple[object, Any]]) -> Any:
    if isinstance(shape, ArrayShape):
        items = [value for _, value in values]
        return items if shape.show is None else shape.show(items)
    members: dict[Any, Any] = dict(values)
    if isinstance(shape, MapShape):
        return members if shape.show is None else shape.show(members)
    assert isinstance(shape, ObjectShape)
    if any(field.holds_back and field.name not in members for field in shape.fields.values()):
        return HIDDEN
    return shape.show(members)


def missing(shape: Shape, node: Node | None) -> list[Path]:
    """The required fields that are not there yet, in the open containers, the outermost first."""
    if node is None or node.closed or not isinstance(node, ContainerNode):
        return []
    if isinstance(shape, RefShape):
        return missing(shape.target, node)
    if isinstance(shape, DeferredShape):
        return [] if shape.shown is None else missing(shape.shown, node)
    if isinstance(shape, UnionShape):
        try:
            branch = _branch(shape, node)
        except ShapeError:
            return []
        return [] if branch is None else missing(branch, node)
    if node.kind not in shape.kinds or isinstance(shape, (AnyShape, IgnoredShape)):
        return []
    paths: list[Path] = []
    keys = node.keys if isinstance(node, ObjectNode) else ()
    below: Shape | None = None
    if isinstance(shape, ObjectShape):
        there = {shape.fields[key].name for key in keys if key in shape.fields}
        absent: dict[str, str] = {}
        for key, field in shape.fields.items():
            if field.is_required and field.name not in there:
                absent.setdefault(field.name, key)
        paths += [Path.of(key) for key in absent.values()]
        if keys:
            below = shape.fields[keys[-1]].shape if keys[-1] in shape.fields else shape.extra
    elif isinstance(shape, MapShape):
        below = shape.item
    elif isinstance(shape, ArrayShape) and len(node):
        below = shape.item_at(len(node) - 1)
    if not len(node) or below is None:
        return paths
    step: Step = keys[-1] if keys else len(node) - 1
    return paths + [Path.of(step, *path.steps) for path in missing(below, node.child(len(node) - 1))]


# At random


WORDS = ["a", "ab", "abc", "b", "bad", "", "é", "😀"]
KEYS = ["a", "b", "c", "kind", "", "é"]
JUNK: list[Any] = [None, True, False, 0, 1, 7, 1.5, "", "b", "bad", "zzz", [], {}, [1], {"kind": "a"}, {"a": "x"}]


class Workshop:
    """Makes shapes and documents from one tape, and counts the calls of every `make` that is no lenient one."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.calls: list[Any] = []
        self.around: list[RefShape] = []

    def shape(self, depth: int = 0, lenient: bool = False) -> Shape:
        """A shape; the deeper, the plainer."""
        pick = self.tape.pick
        kind = pick(16 if depth < 3 else 7)
        if depth == 0 and pick(4):
            kind = 7 + kind % 9
        if kind < 7:
            return self._leaf(kind, lenient)
        if kind == 14 and self.around:
            return self.around[pick(len(self.around))]
        if kind in {11, 12}:
            return self._union(depth, lenient)
        if kind == 13:
            return self._deferred(depth, lenient)
        standing = RefShape()
        self.around.append(standing)
        standing.target = self._container(kind, depth, lenient)
        self.around.pop()
        return standing if pick(2) else standing.target

    def _leaf(self, kind: int, lenient: bool) -> Shape:
        pick = self.tape.pick
        if kind == 0:
            return leaf("string", streams=True, is_lenient=lenient)
        if kind == 1:
            return leaf("number", make=self._judge("leaf", lenient), is_lenient=lenient)
        if kind == 2:
            limit = [None, 1, 2][pick(3)]
            streams = not pick(3)
            return leaf("string null", streams=streams, max_length=limit, is_lenient=lenient)
        if kind == 3:
            options = {word: ("literal", word) for word in WORDS[: 1 + pick(5)]}
            return leaf("string", literals=options, early=bool(pick(2)), is_lenient=lenient)
        if kind == 4:
            make = self._judge("leaf", lenient)
            return leaf("string number boolean", streams=bool(pick(2)), make=make, is_lenient=lenient)
        return [AnyShape(is_atomic=bool(pick(2))), AnyShape(), IGNORED][pick(3)]

    def _container(self, kind: int, depth: int, lenient: bool) -> Shape:
        pick = self.tape.pick
        named: dict[str, Any] = {"is_atomic": pick(6) == 5, "is_lenient": lenient, "expected": f"container {depth}"}
        limit = [None, None, 0, 1, 2][pick(5)]
        show, make = (None, None) if pick(3) == 2 else (as_open, self._judge("container", lenient))
        if kind == 7:
            item = self.shape(depth + 1, lenient)
            return ArrayShape(item, show=show, make=make, max_items=limit, whole_items=not pick(3), **named)
        if kind == 8:
            places = [self.shape(depth + 1, lenient) for _ in range(pick(3))]
            rest = self.shape(depth + 1, lenient) if pick(2) else None
            return TupleShape(places, rest, show=show, make=make, **named)
        if kind == 9:
            check = self._key_check(lenient) if pick(2) else None
            item = self.shape(depth + 1, lenient)
            return MapShape(item, check_key=check, show=show, make=make, max_keys=limit, **named)
        fields: dict[str, Field] = {}
        for key in KEYS[: 1 + pick(len(KEYS))]:
            name = "a" if pick(8) == 7 else f"field {key}"
            fields[key] = Field(name, self.shape(depth + 1, lenient), pick(4) == 0, pick(6) == 5)
        extra: Shape | None = [IGNORED, None, AnyShape(), text(is_lenient=lenient)][pick(4)]
        return ObjectShape(
            fields, as_open, make or self._judge("container", lenient), extra=extra, max_keys=limit, **named
        )

    def _union(self, depth: int, lenient: bool) -> Shape:
        pick = self.tape.pick
        branches = [self.shape(depth + 1, lenient) for _ in range(1 + pick(3))]
        named: dict[str, Any] = {"is_atomic": pick(6) == 5, "is_lenient": lenient}
        make = self._judge("union", lenient)
        if not pick(3):
            return UnionShape(branches, make, **named)
        objects = [self._container(10, depth, lenient) for _ in range(2)]
        tags: dict[tuple[str, object], Shape] = {("string", "a"): objects[0], ("string", ""): objects[1]}
        tags[("boolean", True)], tags[("number", 1)] = objects
        return UnionShape([*objects, *branches], make, discriminator="kind", tags=tags, **named)

    def _deferred(self, depth: int, lenient: bool) -> Shape:
        pick = self.tape.pick
        shown = self._alone(depth) if pick(3) else None
        kinds = ALL_KINDS if pick(2) else frozenset({"object", "array", "string"})
        make = self._judge("deferred", lenient)
        return DeferredShape(make, kinds, shown=shown, is_atomic=pick(6) == 5, is_lenient=lenient)

    def _alone(self, depth: int) -> Shape:
        """A lenient shape with references to nothing but itself."""
        around, self.around = self.around, []
        shape = self.shape(depth + 1, True)
        self.around = around
        return shape

    def _judge(self, what: str, lenient: bool) -> Callable[[Any], Any]:
        """A `make` that refuses now and then."""
        refuses = self.tape.pick(4) == 3

        def make(given: Any) -> Any:
            assert getattr(given, "closed", True)
            value = given if what == "container" else given.value
            if not lenient:
                self.calls.append(what)
            if refuses and (value in ("bad", 7, False, None) or (isinstance(value, (list, dict)) and len(value) == 2)):
                path = Path.of("inside") if what == "container" else Path.of()
                raise ShapeError([Problem(path, "refused", "better")])
            return (what, value)

        return make

    def _key_check(self, lenient: bool) -> Callable[[str], object]:
        def check_key(key: str) -> object:
            if not lenient:
                self.calls.append("key")
            if key == "b":
                raise ShapeError.of("bad_key", "another key")
            return ("key", key)

        return check_key

    def value(self, shape: Shape, depth: int = 0) -> Any:
        """JSON data that fits the shape, more or less."""
        pick, choose = self.tape.pick, self.tape.choose
        if pick(14) == 13 or depth > 6:
            return choose(JUNK)
        if isinstance(shape, RefShape):
            return self.value(shape.target, depth + 1)
        if isinstance(shape, UnionShape):
            value = self.value(choose(list(shape.branches)), depth + 1)
            if shape.discriminator is not None and isinstance(value, dict) and pick(6):
                items = [*value.items()]
                items.insert(pick(len(items) + 1), ("kind", choose(["a", "", True, 1, "a", "b"])))
                return dict(items)
            return value
        if isinstance(shape, DeferredShape):
            return choose(JUNK) if shape.shown is None or not pick(4) else self.value(shape.shown, depth + 1)
        if isinstance(shape, LeafShape):
            kind = choose(sorted(shape.kinds, reverse=True))
            words = WORDS if shape.literals is None else [*shape.literals, *shape.literals, "abz"]
            return {"string": choose(words), "number": pick(9), "boolean": not pick(2), "null": None}[kind]
        if isinstance(shape, ArrayShape):
            return [self.value(shape.item_at(index), depth + 1) for index in range(pick(4))]
        if isinstance(shape, MapShape):
            return {choose(KEYS): self.value(shape.item, depth + 1) for _ in range(pick(4))}
        if isinstance(shape, ObjectShape):
            keys = [key for key, field in shape.fields.items() if field.is_required or pick(3)]
            made = {key: self.value(shape.fields[key].shape, depth + 1) for key in keys}
            if pick(4) == 3:
                made["more"] = choose(JUNK)
            return made
        return choose(JUNK)


class Example:
    """A shape and a document that fits it, more or less. `calls` is what its functions were called for."""

    def __init__(self, tape: Tape, spelling: Tape | None) -> None:
        workshop = Workshop(tape)
        self.shape = workshop.shape()
        value = workshop.value(self.shape)
        self.text = spell(value, Tape(b"") if spelling is None else spelling)
        self.calls = workshop.calls

    def __repr__(self) -> str:
        return f"Example({drawn(self.shape)}, {self.text!r})"


def examples(*, plain: bool = False) -> SearchStrategy[Example]:
    """Shapes with documents. `plain` spells them as json.dumps would: above all, no key comes twice."""
    tapes = st.binary(min_size=20, max_size=160)
    return _examples(tapes, st.none() if plain else st.binary(max_size=24))


@st.composite
def _examples(draw: DrawFn, tapes: SearchStrategy[bytes], spellings: SearchStrategy[bytes | None]) -> Example:
    spelling = draw(spellings)
    return Example(Tape(draw(tapes), loop=True), None if spelling is None else Tape(spelling, loop=True))


def drawn(shape: Shape, depth: int = 0) -> str:
    """A shape in a few words, for the report of a failing example."""
    inner: list[str] = []
    if depth < 5:
        below: list[Any] = []
        if isinstance(shape, UnionShape):
            below = [*shape.branches]
        elif isinstance(shape, ObjectShape):
            inner = [f"{key}: {drawn(field.shape, depth + 1)}" for key, field in shape.fields.items()]
        elif isinstance(shape, TupleShape):
            below = [*shape.places, shape.item]
        elif isinstance(shape, (ArrayShape, MapShape)):
            below = [shape.item]
        elif isinstance(shape, RefShape):
            below = [shape.target]
        elif isinstance(shape, DeferredShape) and shape.shown is not None:
            below = [shape.shown]
        inner += [drawn(one, depth + 1) for one in below]
    plain = {
        name: value
        for name, value in vars(shape).items()
        if value not in (None, False) and isinstance(value, (bool, int, str)) and name != "expected"
    }
    said = [*inner, *[f"{name}={value!r}" for name, value in plain.items()]]
    return f"{type(shape).__name__.removesuffix('Shape')}({', '.join(said)})"
