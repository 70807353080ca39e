"""Random pydantic types with validators of every kind, and documents for them.

Every piece of code that a type brings along watches its input: it raises `RanOnHalfFilledError`, which no library
catches, if it meets a value that is still being written. A text that begins with "bad" is refused by each validator of
its own, and "worse" makes it raise an exception that is no verdict.
"""

from __future__ import annotations

import dataclasses
from datetime import date
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    AliasChoices,
    Base64Str,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WrapValidator,
    computed_field,
    create_model,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from .instances import fields, integer, keyed, listed, number, one_of, row, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from .instances import Gen


class RanOnHalfFilledError(BaseException):
    """Code of a user's ran on a value that is still being written."""


class WorseError(Exception):
    """An exception that is no verdict of a validator."""


def watched(value: Any) -> Any:
    """Return the value, unless something in it is half filled."""
    parts: list[Any] = [value]
    while parts:
        part = parts.pop()
        if type(part).__name__.startswith("Partial"):
            raise RanOnHalfFilledError(repr(part))
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, (list, tuple, set, frozenset)):
            parts += part
        elif isinstance(part, BaseModel):
            parts += vars(part).values()
    return value


def judged(value: Any) -> Any:
    """A validator: accepts all but the bad."""
    watched(value)
    if isinstance(value, str) and value.startswith("bad"):
        raise ValueError("a bad text")
    if isinstance(value, str) and value.startswith("worse"):
        raise WorseError
    return value


class Watched(BaseModel):
    """A base class whose methods never meet a half-filled instance."""

    def __hash__(self) -> int:
        watched(self)
        return hash(repr(self))

    def __eq__(self, other: object) -> bool:
        watched([self, other])
        return super().__eq__(other)

    def __setattr__(self, name: str, value: Any) -> None:
        watched(self)
        super().__setattr__(name, value)

    def model_post_init(self, context: Any, /) -> None:
        watched(self)

    def __bool__(self) -> bool:
        watched(self)
        return True

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        if cls.__name__.startswith("Partial"):
            raise RanOnHalfFilledError(cls.__name__)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def summary(self) -> str:
        watched(self)
        return f"{len(self.__dict__)} fields"


# Leaves: texts that a validator accepts, and more that it does not


def _words(random: Random) -> str:
    return random.choice(["", "a", "walk", "bad", "badly", "worse", *[text(random) for _ in range(4)]])


def _loud(value: str) -> str:
    return str(judged(value)).upper()


def _named(value: str, info: ValidationInfo) -> str:
    return f"{info.field_name}: {judged(value)}"


def _named_after_all(value: str, handler: Callable[[Any], str], info: ValidationInfo) -> str:
    return f"{info.field_name}, {judged(handler(judged(value)))}"


def _stripped(value: Any) -> Any:
    return judged(value).strip() if isinstance(value, str) else watched(value)


def _plain(value: Any, info: ValidationInfo) -> str:
    return f"{info.mode} {judged(value)}"


LEAVES: list[tuple[Any, Gen]] = [
    (str, text),
    (int, integer()),
    (float, number),
    (bool, one_of(True, False)),
    (date, one_of("2024-02-29", "2024-13-01", 0)),
    (Literal["walk", "food", 3], one_of("walk", "food", 3, "wa")),
    (Annotated[int, Field(ge=0)], integer(-1, 9)),
    (Annotated[str, Field(max_length=4)], _words),
    (Base64Str, one_of("YQ==", "", "aGVsbG8=", "?")),
    (ByteSize, one_of("1 GB", 12, "3kb", "x")),
    (Annotated[str, AfterValidator(_loud)], _words),
    (Annotated[str, AfterValidator(_named)], _words),
    (Annotated[str, BeforeValidator(_stripped)], _words),
    (Annotated[str, WrapValidator(_named_after_all)], _words),
    (Annotated[str, PlainValidator(_plain)], _words),
    (str | None, one_of(None, "a", "walk")),
    (Annotated[str, AfterValidator(_named)] | int, one_of("a", 3, "bad")),
]
_numbers = count()
# Types that are made at run time, which type checkers cannot follow.
_LIST: Any = list
_DICT: Any = dict
_TUPLE: Any = tuple
_SETS: list[Any] = [set, frozenset]
_LITERAL: Any = Literal
_ANNOTATED: Any = Annotated
_TYPED_DICT: Any = TypedDict
_NAMED_TUPLE: Any = NamedTuple


def random_type(random: Random, depth: int = 2, *, with_drafts: bool = True) -> tuple[Any, Gen]:
    """Return a type and a generator of documents, most of which fit.

    Without `with_drafts`, no validator has to see an object or an array as it was written.
    """
    if depth <= 0 or random.random() < 0.2:
        return random.choice(LEAVES)
    kind = random.randrange(10)
    if kind < 4:
        return random_model(random, depth, with_drafts=with_drafts)
    if kind == 9:
        return _tagged(random, depth, with_drafts)
    hint, make = random_type(random, depth - 1, with_drafts=with_drafts)
    if kind == 4:
        return _ANNOTATED[_LIST[hint], AfterValidator(watched)], listed(make)
    if kind == 5:
        return _LIST[hint], listed(make)
    if kind == 6:
        return _DICT[str, hint], keyed(text, make)
    if kind == 7:
        other, make_other = random_type(random, depth - 1, with_drafts=with_drafts)
        return _TUPLE[hint, other], row(make, make_other)
    model, make = random_model(random, depth - 1, with_drafts=with_drafts)
    return random.choice(_SETS)[model], listed(make)


def random_model(random: Random, depth: int, *, with_drafts: bool = True, tag: str | None = None) -> tuple[Any, Gen]:
    """Return a class with fields, and a generator of documents."""
    name = f"Random{next(_numbers)}"
    members: dict[str, tuple[Any, Gen]] = {
        f"field_{index}": random_type(random, depth - 1, with_drafts=with_drafts)
        for index in range(random.randint(1, 4))
    }
    if tag is None and random.random() < 0.2:
        return _other_class(random, name, members)
    definitions: dict[str, Any] = {}
    required: dict[str, Gen] = {}
    optional: dict[str, Gen] = {}
    extra: Any = random.choice(["ignore", "ignore", "allow", "forbid"])
    for field, (hint, make) in members.items():
        key, alias = field, None
        if random.random() < 0.3:
            alias = random.choice([f"a_{field}", AliasChoices(f"a_{field}", f"b_{field}")])
            key = random.choice([f"a_{field}", f"a_{field}" if isinstance(alias, str) else f"b_{field}"])
        options: dict[str, Any] = {} if alias is None else {"validation_alias": alias}
        if random.random() < 0.3:
            options["default"] = None
            optional[key] = make
        else:
            required[key] = make
        definitions[field] = (hint | None if "default" in options else hint, Field(**options))
    validators: dict[str, Any] = {}
    names = list(members)
    if random.random() < 0.4:
        validators["reads"] = field_validator(names[-1])(_reading(names[0]))
    if random.random() < 0.3:
        validators["all"] = model_validator(mode="after")(lambda self: watched(self))
    if with_drafts and random.random() < 0.2:
        validators["before"] = model_validator(mode="before")(lambda value: watched(value))
    if with_drafts and random.random() < 0.2:
        around: Any = lambda value, handler: watched(handler(watched(value)))  # noqa: E731
        validators["around"] = model_validator(mode="wrap")(around)
    if tag is not None:
        definitions = {"kind": (_LITERAL[tag], ...), **definitions}
        required = {"kind": one_of(tag), **required}
    base = create_model("Base", __base__=Watched, __config__=None)
    base.model_config = ConfigDict(extra=extra, populate_by_name=random.random() < 0.5)
    made = create_model(name, __base__=base, __validators__=validators, **definitions)
    return made, fields(required, optional)


def _reading(other: str) -> Any:
    """A validator that asks for another field, and refuses a value that equals it."""

    def check(cls: Any, value: Any, info: ValidationInfo) -> Any:
        watched(info.data)
        if isinstance(value, str) and value and info.data.get(other) == value and info.field_name != other:
            raise ValueError("the same")
        return value if not isinstance(value, str) else f"!{value}"

    return classmethod(check)


def _other_class(random: Random, name: str, members: dict[str, tuple[Any, Gen]]) -> tuple[Any, Gen]:
    hints = {field: hint for field, (hint, _) in members.items()}
    makes = {field: make for field, (_, make) in members.items()}
    kind = random.randrange(3)
    if kind == 0:
        made: Any = dataclasses.make_dataclass(name, list(hints.items()), slots=random.random() < 0.5)
    elif kind == 1:
        made = _TYPED_DICT(name, hints)
    else:
        made = _NAMED_TUPLE(name, list(hints.items()))
    return made, fields(makes)


def _tagged(random: Random, depth: int, with_drafts: bool) -> tuple[Any, Gen]:
    one, make = random_model(random, depth - 1, with_drafts=with_drafts, tag="one")
    two, make_two = random_model(random, depth - 1, with_drafts=with_drafts, tag="two")
    hint = _ANNOTATED[one | two, Field(discriminator="kind")]
    return hint, lambda random: random.choice([make, make_two])(random)
