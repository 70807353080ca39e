"""Leaves that pydantic validates: literals, enums, dates and other text with a meaning, limits, strictness.

Traps for whoever judges early: an enum that also takes values it does not list, text that is stripped
before its length counts, numbers for dates, `true` where the literal 1 is asked for.
"""

from __future__ import annotations

import enum
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import Annotated, Literal
from uuid import UUID

from pydantic import (
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    OnErrorOmit,
    SecretStr,
    Strict,
    StringConstraints,
)

from .instances import (
    Case,
    anything,
    append,
    either,
    fields,
    integer,
    listed,
    lose,
    nullable,
    number,
    one_of,
    put,
    text,
)


class Colour(enum.StrEnum):
    RED = "red"
    REDDISH = "reddish"
    GREEN = "green"
    EMPTY = ""


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10
    HIGHEST = 100


class Mixed(enum.Enum):
    ONE = 1
    WORD = "one"
    HALF = 0.5
    NOTHING = None


class Lenient(enum.Enum):
    """Takes what it does not list, too."""

    YES = "yes"
    NO = "no"

    @classmethod
    def _missing_(cls, value: object) -> Lenient | None:
        return cls.NO if isinstance(value, str) and value.lower() in {"nope", "nein", "no!"} else None


class Choices(BaseModel):
    literal: Literal["Sightseeing", "Sight", "FoodAndDining", "é", ""]
    mixed_literal: Literal["a", 1, True, None, 2] = 2
    colour: Colour = Colour.RED
    level: Level = Level.LOW
    mixed: Mixed = Mixed.ONE
    lenient: Lenient = Lenient.YES
    by_colour: dict[Colour, Literal[1, 2]] = {}


_choices = fields(
    {"literal": one_of("Sightseeing", "Sight", "FoodAndDining", "é", "")},
    {
        "mixed_literal": one_of("a", 1, True, None, 2, 1.0),
        "colour": one_of("red", "reddish", "green", ""),
        "level": one_of(1, 10, 100, "10", 1.0, True),
        "mixed": one_of(1, "one", 0.5, None),
        "lenient": one_of("yes", "no", "nope", "Nein", "no!"),
        "by_colour": one_of({}, {"red": 1}, {"reddish": 2, "red": 1, "": 2}),
    },
)

HUGE = tuple(f"option {index:04}" for index in range(1500))
Huge = Literal[HUGE]  # type: ignore[valid-type]


class UsesValues(BaseModel):
    model_config = ConfigDict(use_enum_values=True, str_strip_whitespace=True, str_max_length=8)
    colour: Colour
    name: str
    level: Level = Level.HIGH


_uses_values = fields(
    {"colour": one_of("red", "reddish"), "name": one_of("12345678", "   1234567   ", "", "é" * 8, "x" + " " * 30)},
    {"level": one_of(10, "1")},
)


class Moments(BaseModel):
    day: date
    moment: datetime | None = None
    aware: AwareDatetime | None = None
    clock: time | None = None
    span: timedelta | None = None


_moments = fields(
    {"day": one_of("2024-02-29", 0, 86400, "86400", "2024-01-01T00:00:00", -86400.0)},
    {
        "moment": nullable(one_of("2024-05-01T12:00:00Z", "2024-05-01", "2024-05-01 10:00", 0, 1.5, "1714560000")),
        "aware": nullable(one_of("2024-05-01T12:00:00+02:00", "2024-05-01T12:00:00.123456Z", 1)),
        "clock": nullable(one_of("10:30", "10:30:01.5", "10:30:00Z", 3600, 0.5)),
        "span": nullable(one_of("P1DT2H", "-PT3M", "1:02:03", "2 days 10:00", 90, 1.5)),
    },
)


class Identities(BaseModel):
    key: UUID
    amount: Decimal | None = None
    price: Annotated[Decimal, Field(max_digits=5, decimal_places=2, ge=0)] | None = None
    raw: bytes = b""
    coded: Base64Bytes = b""
    link: HttpUrl | None = None
    address: IPv4Address | None = None
    folder: PurePosixPath | None = None
    secret: SecretStr | None = None


_KEY = "0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e"
_identities = fields(
    {"key": one_of(_KEY, _KEY.upper(), _KEY.replace("-", ""), f"{{{_KEY}}}", f"urn:uuid:{_KEY}")},
    {
        "amount": nullable(one_of("1.50", 1, 2.5, "-0", "1e3", " 7 ", 10**30)),
        "price": nullable(one_of("123.45", 0, 1.5, "999.99", "0.1")),
        "raw": text,
        "coded": one_of("", "aGVsbG8=", "w6k="),
        "link": nullable(one_of("http://example.com", "https://example.com/é?q=1#x", "HTTP://example.com:80/")),
        "address": nullable(one_of("127.0.0.1", "10.0.0.255")),
        "folder": nullable(one_of("/tmp", "", "a/b/é")),
        "secret": nullable(text),
    },
)


class Texts(BaseModel):
    short: Annotated[str, Field(max_length=5)]
    long: Annotated[str, Field(min_length=3)] = "long"
    code: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d+$")] = "AB-1"
    stripped: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=3)] = "abc"
    lower: Annotated[str, StringConstraints(to_lower=True, max_length=4)] = ""
    exact: Annotated[bytes, Field(min_length=2, max_length=2)] = b"ab"


_texts = fields(
    {"short": one_of("", "12345", "😀😀😀😀😀", "e\u0301e\u0301e", '"""""')},
    {
        "long": one_of("abc", "x" * 30, "日本語"),
        "code": one_of("AB-1", "XY-0123456789"),
        "stripped": one_of("a", "abc     ", "\n \t abc \n", "  é  "),
        "lower": one_of("ABCD", "İ", ""),
        "exact": one_of("ab", "é"),
    },
)


class Numbers(BaseModel):
    positive: Annotated[int, Field(gt=0)]
    ranged: Annotated[float, Field(ge=-1, lt=1)] = 0
    even: Annotated[int, Field(multiple_of=2, le=100)] = 0
    quarter: Annotated[float, Field(multiple_of=0.25)] = 0.25
    finite: Annotated[float, Field(allow_inf_nan=False)] = 0
    many: list[Annotated[int, Field(ge=0, le=9)]] = []


_numbers = fields(
    {"positive": one_of(1, 7, 10**30, "5", 2.0, True)},
    {
        "ranged": one_of(-1, 0.999, "0.5", 0, -1.0),
        "even": one_of(0, -4, 100, "98"),
        "quarter": one_of(0.5, 1, -2.75, "0.25"),
        "finite": number,
        "many": listed(integer(0, 9)),
    },
)


class Exactly(BaseModel):
    """Nothing is coerced but what JSON has no kind of its own for."""

    model_config = ConfigDict(strict=True)
    size: int
    share: float = 0.0
    flag: bool = False
    day: date | None = None
    level: Level = Level.LOW
    pair: tuple[int, str] = (1, "")
    unique: set[int] = set()
    key: UUID | None = None
    amount: Decimal | None = None
    loose: Annotated[int, Strict(False)] = 0
    by_number: dict[int, bool] = {}


_exactly = fields(
    {"size": integer()},
    {
        "share": one_of(0.5, 1, -3),
        "flag": one_of(True, False),
        "day": nullable(one_of("2024-02-29", "0")),
        "level": one_of(1, 10),
        "pair": one_of([1, ""], [-1, "é"]),
        "unique": listed(integer(0, 3)),
        "key": nullable(one_of(_KEY)),
        "amount": nullable(one_of("1.5", 1, 2.5)),
        "loose": one_of(1, "2", 3.0, True),
        "by_number": one_of({}, {"1": True}, {"-1": False}),
    },
)


class PartlyStrict(BaseModel):
    exact: Annotated[int, Field(strict=True)]
    loose: int = 0
    exact_items: list[Annotated[bool, Strict()]] = []


_partly = fields(
    {"exact": integer()}, {"loose": one_of("1", 1, True), "exact_items": listed(one_of(True, False))}, extra=anything
)


class Coerced(BaseModel):
    """Everything that is not an array or an object may come as another kind of leaf."""

    model_config = ConfigDict(coerce_numbers_to_str=True, val_json_bytes="base64")
    name: str
    code: Annotated[str, Field(max_length=3)] = ""
    raw: bytes = b""
    numbers: list[OnErrorOmit[int]] = []


_coerced = fields(
    {"name": either(text, number, integer())},
    {
        "code": one_of("abc", 12, 0, 1.5),
        "raw": one_of("", "aGVsbG8="),
        "numbers": listed(either(integer(), anything)),
    },
)

CASES: list[Case] = [
    Case(
        "choices",
        Choices,
        _choices,
        {
            "a prefix of one": put(_choices, "literal", bad=one_of("Sights", "F", "Sightseein")),
            "longer than one": put(_choices, "literal", bad=one_of("Sightseeing!", "éé", " ")),
            "another case": put(_choices, "literal", bad=one_of("sightseeing", "SIGHT")),
            "a number as text": put(_choices, "mixed_literal", bad=one_of("1", "None", "true")),
            "false is not 1": put(_choices, "mixed_literal", bad=one_of(False, 0, 3, [])),
            "a shared prefix": put(_choices, "colour", bad=one_of("redd", "greenish", "re", "blue", None)),
            "an unknown level": put(_choices, "level", bad=one_of(2, 1000, "1000", "LOW", None)),
            "of no kind": put(_choices, "mixed", bad=one_of("half", 2, [], "1", False)),
            "not that lenient": put(_choices, "lenient", bad=one_of("nop", "yes!", "ne", 0)),
            "a key": put(_choices, "by_colour", bad=one_of({"red": 1, "blue": 1}, {"redd": 2}, {"red": 3})),
        },
    ),
    Case(
        "huge literal",
        Huge,
        one_of(*HUGE),
        {"beyond the last": one_of("option 1500", "option", "option 00001"), "another": one_of("", "Option 0001")},
    ),
    Case(
        "enum values",
        UsesValues,
        _uses_values,
        {
            "too long": put(_uses_values, "name", bad=one_of("123456789", " 123456789 ")),
            "stripped too late": put(_uses_values, "colour", bad=one_of(" red", "blue ")),
        },
    ),
    Case(
        "moments",
        Moments,
        _moments,
        {
            "no such day": put(_moments, "day", bad=one_of("2023-02-29", "2024-13-01", "2024-05", "yesterday")),
            "not midnight": put(_moments, "day", bad=one_of(1, "2024-01-01T00:00:01", 0.5)),
            "no moment": put(_moments, "moment", bad=one_of("2024-05-01T25:00", "now", "", [], {})),
            "naive": put(_moments, "aware", bad=one_of("2024-05-01T12:00:00", "2024-05-01")),
            "no time": put(_moments, "clock", bad=one_of("25:00", "10:61", 86400, -1)),
            "no span": put(_moments, "span", bad=one_of("P", "a day", "", True)),
        },
    ),
    Case(
        "identities",
        Identities,
        _identities,
        {
            "a short key": put(_identities, "key", bad=one_of(_KEY[:-1], _KEY + "0", _KEY.replace("-", ":"), 1)),
            "no decimal": put(_identities, "amount", bad=one_of("1,5", "", "NaN", True, "0x1")),
            "too many digits": put(_identities, "price", bad=one_of("1234.56", "0.123", 123456, -1)),
            "not text": put(_identities, "raw", bad=one_of(1, None, [])),
            "no base 64": put(_identities, "coded", bad=one_of("a", "abc", 1)),
            "another scheme": put(_identities, "link", bad=one_of("ftp://example.com", "example.com", "http://", "")),
            "no address": put(_identities, "address", bad=one_of("127.0.0.256", "127.0.0", "::1")),
            "no path": put(_identities, "folder", bad=one_of(1, [])),
            "no secret": put(_identities, "secret", bad=one_of(1, [""])),
        },
    ),
    Case(
        "texts",
        Texts,
        _texts,
        {
            "too long": put(_texts, "short", bad=one_of("123456", "😀" * 6, "e\u0301" * 3)),
            "too short": put(_texts, "long", bad=one_of("", "ab", "😀")),
            "another pattern": put(_texts, "code", bad=one_of("AB-", "ab-1", "AB-1x", "", "ABC-1")),
            "nothing left": put(_texts, "stripped", bad=one_of("", "   ", "\n")),
            "too much left": put(_texts, "stripped", bad=one_of("abcd", " a  b ")),
            "too long in any case": put(_texts, "lower", bad=one_of("abcde", "ABCDE")),
            "bytes, not characters": put(_texts, "exact", bad=one_of("😀", "a", "éé")),
        },
    ),
    Case(
        "numbers",
        Numbers,
        _numbers,
        {
            "not positive": put(_numbers, "positive", bad=one_of(0, -1, "0", False)),
            "out of range": put(_numbers, "ranged", bad=one_of(1, -1.0001, "nan", 5)),
            "odd": put(_numbers, "even", bad=one_of(1, 102, "3")),
            "no quarter": put(_numbers, "quarter", bad=one_of(0.3, 1e-3)),
            "infinite": put(_numbers, "finite", bad=one_of("inf", "nan", "-Infinity")),
            "one of many": append(_numbers, "many", bad=one_of(10, -1, 0.5)),
        },
    ),
    Case(
        "strict",
        Exactly,
        _exactly,
        {
            "text for a number": put(_exactly, "size", bad=one_of("1", 1.0, True, None)),
            "text for a float": put(_exactly, "share", bad=one_of("0.5", True)),
            "a number for a flag": put(_exactly, "flag", bad=one_of(1, "true")),
            "a number for a day": put(_exactly, "day", bad=one_of(0, "2024-01-01T00:00:00")),
            "text for a level": put(_exactly, "level", bad=one_of("1", 2)),
            "inside a pair": put(_exactly, "pair", bad=one_of(["1", ""], [1, 2])),
            "inside a set": put(_exactly, "unique", bad=one_of([1, "2"], [True])),
            "true is no decimal": put(_exactly, "amount", bad=one_of(True, "x")),
            "a key that is no number": put(_exactly, "by_number", bad=one_of({"x": True}, {"1": 1})),
            "missing": lose(_exactly, "size"),
        },
    ),
    Case(
        "partly strict",
        PartlyStrict,
        _partly,
        {
            "the strict one": put(_partly, "exact", bad=one_of("1", 1.0, True)),
            "a strict item": append(put(_partly, "exact_items", bad=one_of([])), "exact_items", bad=one_of(1, "yes")),
            "the loose one": put(_partly, "loose", bad=one_of("x", 1.5, None)),
        },
    ),
    Case(
        "coerced",
        Coerced,
        _coerced,
        {
            "no leaf": put(_coerced, "name", bad=one_of(True, None, [], {})),
            "too long as text": put(_coerced, "code", bad=one_of(1234, "abcd", -0.5)),
            "no base 64": put(_coerced, "raw", bad=one_of("?", "a", 1)),
            "no list": put(_coerced, "numbers", bad=one_of(None, 1, {})),
        },
    ),
]
