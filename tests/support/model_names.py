"""Names and presence, as pydantic judges them: defaults, aliases, and what becomes of extra keys.

Traps for whoever looks for a field under its name: a field with several names, one that is found further
inside, an alias that is no name of the field at all, a default that is made of other fields and refused.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, computed_field
from pydantic.alias_generators import to_camel

from .instances import (
    Case,
    anything,
    boolean,
    either,
    fields,
    integer,
    listed,
    lose,
    nullable,
    one_of,
    put,
    row,
    text,
    word,
)


class Defaults(BaseModel):
    needed: int | None
    given: str = "given"
    made: list[int] = Field(default_factory=lambda: [1])
    made_of_others: str = Field(default_factory=lambda data: f"{data['given']}!", validate_default=True, max_length=12)
    nothing: None = None
    maybe: bool | None = None


_defaults = fields(
    {"needed": nullable(integer())},
    {
        "given": one_of("", "short", "give"),
        "made": listed(integer()),
        "made_of_others": one_of("", "é" * 12),
        "nothing": one_of(None),
        "maybe": nullable(boolean),
    },
    extra=anything,
)


class Renamed(BaseModel):
    one: int = Field(alias="first")
    two: int = Field(validation_alias=AliasChoices("second", "zweite", "two"))
    three: str = Field(default="none", validation_alias=AliasPath("third", 0, "name"))
    four: str = Field(default="", validation_alias=AliasChoices("fourth", AliasPath("others", "fourth")))
    five: int = Field(default=5, serialization_alias="fifth")


_renamed = either(
    fields(
        {"first": integer(), "second": integer()},
        {"zweite": text, "third": row(fields({"name": text})), "fourth": text, "five": integer()},
    ),
    fields(
        {"first": integer(), "zweite": integer()},
        {"others": fields({"fourth": text}, extra=anything), "third": one_of([], {}, [{}]), "one": text},
    ),
    fields({"first": integer(), "two": integer()}, {"others": one_of([], None, {"fifth": 1})}, extra=anything),
)


class CamelCase(BaseModel):
    """Every field goes under two names; what else comes is refused."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="forbid")
    first_name: str
    last_name: str = ""
    home_town: Annotated[str, Field(min_length=1)] | None = None


_camel = either(
    fields({"firstName": text}, {"lastName": text, "homeTown": nullable(word)}),
    fields({"first_name": text}, {"lastName": text, "home_town": nullable(word)}),
    fields({"firstName": text}, {"last_name": text}),
)


class ByNameOnly(BaseModel):
    """The alias is not for input here, and as extras are kept it is one."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=False, extra="allow")
    size: int = Field(alias="Size")


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    size: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def double(self) -> int:
        return 2 * self.size


class Allowing(BaseModel):
    """Extra keys are kept, and must be of one type."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[int]] = Field(init=False)
    name: str


class Ignoring(BaseModel):
    model_config = ConfigDict(extra="ignore")
    inner: Forbidding
    outer: Allowing | None = None


_forbidding = fields({"name": text}, {"size": integer()})
_allowing = fields({"name": text}, extra=listed(integer()))
_ignoring = fields({"inner": _forbidding}, {"outer": nullable(_allowing)}, extra=anything)
_by_name = fields({"size": integer()}, {"Size": anything}, extra=anything)
CASES: list[Case] = [
    Case(
        "defaults",
        Defaults,
        _defaults,
        {
            "nullable is still required": lose(_defaults, "needed"),
            "null for what has a default": put(_defaults, "given", bad=one_of(None)),
            "null for what is made": put(_defaults, "made", bad=one_of(None, {})),
            "the default made is too long": fields({"needed": integer(), "given": one_of("twelve chars", "a" * 50)}),
            "something for nothing": put(_defaults, "nothing", bad=one_of(0, "", False)),
            "too long": put(_defaults, "made_of_others", bad=one_of("x" * 13)),
        },
    ),
    Case(
        "renamed",
        Renamed,
        _renamed,
        {
            "by its own name": fields({"one": integer(), "second": integer()}),
            "no name of the second": fields({"first": integer()}, {"Second": integer()}),
            "the first choice counts": fields({"first": integer(), "second": text, "zweite": integer()}),
            "at the end of a path": put(_renamed, "third", bad=one_of([{"name": 1}], [{"name": None}])),
            "in the second choice": fields({"first": integer(), "two": integer(), "others": one_of({"fourth": 4})}),
            "not an alias for input": put(_renamed, "five", bad=one_of("x", None)),
        },
    ),
    Case(
        "camel case",
        CamelCase,
        _camel,
        {
            "an extra key": put(_camel, "middleName", bad=text),
            "nearly the key": put(_camel, "firstNam", bad=text),
            "a longer key": put(_camel, "last_names", bad=text),
            "no first name": fields({"lastName": text}),
            "empty": put(_camel, "homeTown", bad=one_of("", 1, [])),
        },
    ),
    Case(
        "by name only",
        ByNameOnly,
        _by_name,
        {"by alias": fields({"Size": integer()}), "kind": put(_by_name, "size", bad=one_of(None, "x"))},
    ),
    Case(
        "forbidding",
        Forbidding,
        _forbidding,
        {
            "an extra key": put(_forbidding, "colour", bad=anything),
            "an extra key that is empty": put(_forbidding, "", bad=one_of(None)),
            "computed fields are no input": put(_forbidding, "double", bad=integer()),
        },
    ),
    Case(
        "allowing",
        Allowing,
        _allowing,
        {
            "an extra value": put(_allowing, "colour", bad=one_of(["x"], None, {}, 1)),
            "no name": lose(_allowing, "name"),
        },
    ),
    Case(
        "ignoring",
        Ignoring,
        _ignoring,
        {
            "an inner key": put(_ignoring, "inner", "other", bad=anything),
            "an inner extra": put(_ignoring, "outer", bad=one_of({"name": "", "x": [1, "y"]}, {})),
            "no inner": lose(_ignoring, "inner"),
        },
    ),
]
