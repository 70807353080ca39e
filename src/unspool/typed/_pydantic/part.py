"""One part of a type: what a value is, the wrappers around that, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._errors import OptionsError
from .._frames import HIDDEN
from .._shape import NULL, LeafShape, ShapeError
from .._unions import UnionShape
from .judge import as_written, of_parts, wrapped
from .partial import root_builder
from .schema import FUNCTIONS, calls_back, is_with_info

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._tree.nodes import Node
    from .._shape import Shape
    from .schema import Config, Definitions, Schema

__all__ = ["MAX_DEPTH", "Part", "Place"]

MAX_DEPTH: Final = 128
EFFECTS: Final = FUNCTIONS | {"model", "dataclass"}
NOTHING: Final[Schema] = {"type": "none"}


class Place(NamedTuple):
    """Where a part stands."""

    path: str = "$"
    depth: int = 0
    is_lenient: bool = False
    """Only to be shown: it is judged with something around it."""
    may_be_absent: bool = False
    """The type is of use even if nothing fits here."""

    def below(self, step: str, *, may_be_absent: bool = False) -> Place:
        """A place inside."""
        if self.depth >= MAX_DEPTH:
            raise OptionsError(f"{self.path}: nested deeper than {MAX_DEPTH}")
        return Place(self.path + step, self.depth + 1, self.is_lenient, may_be_absent)


class Part(NamedTuple):
    """A core schema, what stands around it (the outermost first), the config that holds for it, and its place."""

    definitions: Definitions
    schema: Schema
    around: tuple[Schema, ...]
    config: Config
    place: Place

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
        """The value is not the one that its schema makes: something is made of that."""
        return any(wrapper["type"] in EFFECTS for wrapper in self.around)

    @property
    def owner(self) -> Schema | None:
        """The class that is made of the fields."""
        classes = [wrapper for wrapper in self.around if wrapper["type"] in ("model", "dataclass")]
        return classes[-1] if classes else None

    def calls_back(self) -> bool:
        """Judging this part may run code of the user's."""
        around = [one for one in self.around if one["type"] != "default"]  # nobody asks for one where a value is
        return any(map(calls_back, around)) or any(map(calls_back, self.definitions.walk(self.schema)))

    def judge(self) -> Callable[[Node], object]:
        """Judges a closed node as it was written. Of what is only shown, nothing that would run the user's code."""
        if self.is_lenient and self.calls_back():
            return _hidden
        core = {key: value for key, value in self.schema.items() if key != "ref"}
        return as_written(lambda: self.definitions.standalone(wrapped(self.around, core)), self.config)

    def assemble(self, core: Schema, *, as_json: bool = False) -> Callable[[Any], object]:
        """Makes the value of those of its children: `core` has `any` for what they are."""
        as_json = as_json or any(map(is_with_info, self.around))
        core = {key: value for key, value in core.items() if key not in ("ref", "serialization")}
        if not as_json:
            core.pop("strict", None)
        whole = wrapped(self.around, core, strictly=as_json)
        return of_parts(self.definitions.standalone(whole), {}, as_json=as_json)

    def shown(self, show: Callable[[Any], object] | None) -> Callable[[Any], object] | None:
        """Shows a half-filled container, also where it is the root of a model."""
        roots = [root_builder(one["cls"]) for one in self.around if one["type"] == "model" and one.get("root_model")]
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
        """The shape, and null where the wrappers allow it."""
        return UnionShape([self.null(), shape], self.judge(), is_lenient=self.is_lenient) if self.is_nullable else shape

    def null(self) -> Shape:
        """What becomes of null, where the wrappers allow it."""
        kinds = [wrapper["type"] for wrapper in self.around]
        outer = self._replace(schema=NOTHING, around=self.around[: kinds.index("nullable")])
        make = outer.judge() if outer.has_effects else None
        return LeafShape(frozenset({NULL}), "null", make=make, is_lenient=self.is_lenient)


def _hidden(node: Node) -> object:
    raise ShapeError.of("not_shown", "a complete value")
