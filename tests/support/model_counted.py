"""Types whose validators count their calls: what is validated once is counted once.

No two labels of a document are equal, so each validator sees each of its inputs once when the document is
validated once. That holds for unions too: a branch that is tried is tried once.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Annotated, Any, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    RootModel,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from typing_extensions import TypedDict

from .instances import (
    ANY_INDEX,
    Case,
    Gen,
    Json,
    anything,
    append,
    either,
    fields,
    keyed,
    label,
    listed,
    lose,
    nullable,
    one_of,
    put,
    row,
    word,
)

# (which validator, the label of its input) -> how many calls. Labels are unique in a document, so that each
# count of a document that is validated once is 1.
CALLS: Counter[tuple[str, str]] = Counter()


def reset_calls() -> None:
    CALLS.clear()


def label_of(value: Any) -> str:
    """By what the input of a validator is known: its own label, or for an array that of its first element, marked."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return label_of(value.get("label", ""))
    if isinstance(value, list):
        return f"[{label_of(value[0])}" if value else ""
    return label_of(getattr(value, "label", ""))


def counting(which: str) -> Callable[[Any], Any]:
    """A validator that counts its calls and changes nothing, but refuses a label that says so."""

    def count(value: Any) -> Any:
        name = label_of(value)
        if name:
            CALLS[which, name] += 1
        if name.startswith("bad"):
            raise ValueError("a bad label")
        return value

    return count


def counting_around(which: str) -> Callable[[Any, ValidatorFunctionWrapHandler], Any]:
    count = counting(which)
    return lambda value, handler: handler(count(value))


Label = Annotated[str, AfterValidator(counting("label"))]


class CountedLeaf(BaseModel):
    label: Label
    before: Annotated[str | None, BeforeValidator(counting("before"))] = Field(default="", max_length=80)
    around: Annotated[str, WrapValidator(counting_around("around"))] = ""
    instead: Annotated[str, PlainValidator(counting("instead"))] = ""
    both: Annotated[str, BeforeValidator(counting("both, before")), AfterValidator(counting("both, after"))] = ""

    @model_validator(mode="before")
    @classmethod
    def count_before(cls, value: Any) -> Any:
        return counting("model, before")(value)

    @model_validator(mode="after")
    def count_after(self) -> Self:
        counting("model, after")(self)
        return self


class CountedTree(BaseModel):
    label: Label
    leaves: Annotated[list[CountedLeaf], AfterValidator(counting("leaves"))] = []
    by_name: dict[str, CountedLeaf] = {}
    pair: tuple[CountedLeaf, Label] | None = None
    children: list[CountedTree] = []

    @model_validator(mode="wrap")
    @classmethod
    def count_around(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        counting("tree, around")(value)
        return handler(value)


class CountedA(BaseModel):
    kind: Literal["a"]
    label: Label
    inner: CountedLeaf | None = None


class CountedB(BaseModel):
    kind: Literal["b"]
    label: Annotated[str, AfterValidator(counting("label of b"))]
    others: list[CountedChoice] = []


CountedChoice = Annotated[CountedA | CountedB, Field(discriminator="kind"), AfterValidator(counting("choice"))]


class PatternA(BaseModel):
    kind: Annotated[str, Field(pattern="^a$")]
    label: Label
    inner: CountedLeaf | None = None


class PatternB(BaseModel):
    kind: Annotated[str, Field(pattern="^b$")]
    label: Annotated[str, AfterValidator(counting("label of b"))]
    others: list[CountedChoice] = []


class CountedEither(BaseModel):
    """Without a discriminator and without literals both branches are tried, each once."""

    label: Label
    other: CountedLeaf | Annotated[list[CountedLeaf], AfterValidator(counting("list"))] | Label = ""
    model: PatternA | PatternB | None = None


@dataclasses.dataclass
class CountedPoint:
    label: Label
    names: list[Label] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        counting("post init")(self)


class CountedDict(TypedDict):
    label: Label
    point: Annotated[CountedPoint, AfterValidator(counting("point"))]


class CountedTuple(NamedTuple):
    label: Label
    unique: frozenset[Label] = frozenset()


V = TypeVar("V")


class CountedBox(BaseModel, Generic[V]):
    label: Label
    content: V


class CountedRoot(
    RootModel[tuple[list[CountedBox[CountedDict]], CountedBox[CountedTuple], list[CountedBox[CountedPoint]]]]
):
    pass


_leaf = fields(
    {"label": label},
    {"before": nullable(label), "around": label, "instead": label, "both": label},
    extra=anything,
)


def _tree(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _tree(random, depth + 1)  # noqa: E731
    optional: dict[str, Gen] = {
        "leaves": listed(_leaf, 1),
        "by_name": keyed(word, _leaf),
        "pair": nullable(row(_leaf, label)),
        "children": listed(inner, 0, 2 if depth < 3 else 0),
    }
    return fields({"label": label}, optional)(random)


def _choice(random: Random, depth: int = 0) -> Json:
    inner: Gen = lambda random: _choice(random, depth + 1)  # noqa: E731
    return either(
        fields({"kind": one_of("a"), "label": label}, {"inner": nullable(_leaf)}),
        fields({"kind": one_of("b"), "label": label}, {"others": listed(inner, 0, 3 if depth < 3 else 0)}),
    )(random)


_either = fields({"label": label}, {"other": either(_leaf, listed(_leaf, 1), label), "model": nullable(_choice)})
_point = fields({"label": label}, {"names": listed(label)})


def _box(of: Gen) -> Gen:
    return fields({"label": label, "content": of})


_dict = fields({"label": label, "point": _point})
_tuple = either(row(label, listed(label)), row(label))
_root = row(listed(_box(_dict)), _box(_tuple), listed(_box(_point)))
_bad = one_of("bad", "bad one")

CASES: list[Case] = [
    Case(
        "counted",
        CountedLeaf,
        _leaf,
        {
            "a label": put(_leaf, "label", bad=_bad),
            "a field": put(_leaf, "around", bad=_bad),
            "both": put(_leaf, "both", bad=_bad),
            "too long": put(_leaf, "before", bad=one_of("x" * 81)),
            "no label": lose(_leaf, "label"),
        },
        counted=True,
    ),
    Case(
        "counted tree",
        CountedTree,
        _tree,
        {
            "a leaf": put(_tree, "leaves", ANY_INDEX, "instead", bad=_bad),
            "a child's leaf": put(_tree, "children", ANY_INDEX, "pair", bad=row(put(_leaf, "both", bad=_bad), label)),
            "the tree": put(_tree, "label", bad=_bad),
        },
        counted=True,
    ),
    Case(
        "counted choice",
        CountedChoice,
        _choice,
        {
            "the chosen": put(_choice, "label", bad=_bad),
            "unknown": put(_choice, "kind", bad=one_of("c", "", None)),
            "inside": fields(
                {"kind": one_of("b"), "label": label, "others": row(_choice, put(_choice, "label", bad=_bad))}
            ),
        },
        counted=True,
    ),
    Case(
        "counted union",
        CountedEither,
        _either,
        {
            "no branch": put(_either, "other", bad=one_of({"label": "bad"}, "bad", 1, None)),
            "neither model": put(_either, "model", bad=one_of({"kind": "c", "label": "x"}, {"kind": "a"})),
        },
        counted=True,
    ),
    Case(
        "counted classes",
        CountedRoot,
        _root,
        {
            "in a typed dict": append(_root, 0, bad=_box(put(_dict, "point", "names", bad=row(label, _bad)))),
            "in a tuple": put(_root, 1, "content", bad=row(label, row(label, _bad))),
            "a point": append(_root, 2, bad=_box(put(_point, "label", bad=_bad))),
        },
        counted=True,
    ),
]
