"""The types of pydantic by name: each alone, as a field, and in containers, with texts that fit and others."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

import pydantic
import pytest
from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    AnyUrl,
    AnyWebsocketUrl,
    AwareDatetime,
    Base64Bytes,
    Base64Str,
    Base64UrlBytes,
    Base64UrlStr,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    DirectoryPath,
    Discriminator,
    EncodedBytes,
    EncodedStr,
    FailFast,
    Field,
    FilePath,
    FileUrl,
    FiniteFloat,
    FtpUrl,
    FutureDate,
    FutureDatetime,
    HttpUrl,
    ImportString,
    InstanceOf,
    IPvAnyAddress,
    IPvAnyInterface,
    IPvAnyNetwork,
    Json,
    JsonValue,
    NaiveDatetime,
    NegativeInt,
    NewPath,
    NonNegativeFloat,
    OnErrorOmit,
    PastDate,
    PastDatetime,
    PlainSerializer,
    PlainValidator,
    PositiveInt,
    PostgresDsn,
    PrivateAttr,
    RedisDsn,
    RootModel,
    Secret,
    SecretBytes,
    SecretStr,
    SerializeAsAny,
    SkipValidation,
    StrictBool,
    StrictBytes,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    computed_field,
    conint,
    conlist,
    constr,
    create_model,
    field_serializer,
    model_serializer,
)
from typing_extensions import TypedDict

from unspool import OptionsError
from unspool.typed import Complete, InvalidError, iter_partial, partial

T = TypeVar("T")
warnings.filterwarnings("ignore", category=DeprecationWarning, module="pydantic")


class Reversed:
    """An encoder for `EncodedStr`: the text turned round."""

    @classmethod
    def decode(cls, data: bytes) -> bytes:
        return data[::-1]

    @classmethod
    def encode(cls, value: bytes) -> bytes:
        return value[::-1]

    @classmethod
    def get_json_format(cls) -> str:
        return "reversed"


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Cell(NamedTuple):
    row: int
    code: Base64Str = ""


class Movie(TypedDict, total=False):
    code: Base64Str
    year: int


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    code: Base64Str = ""


class Dog(BaseModel):
    kind: Literal["dog"]
    size: ByteSize = ByteSize(0)


@pydantic.dataclasses.dataclass
class Parcel:
    size: ByteSize
    factor: dataclasses.InitVar[int] = 1
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self, factor: int) -> None:
        self.total = self.size * factor


class Page(BaseModel, Generic[T]):
    items: list[T]
    first: T | None = None


class Names(RootModel[list[Base64Str]]):
    pass


class Forbids(BaseModel):
    model_config = ConfigDict(extra="forbid")
    code: Base64Str


class Allows(BaseModel):
    model_config = ConfigDict(extra="allow")
    code: Base64Str
    _seen: int = PrivateAttr(default=1)


class Computes(BaseModel):
    size: ByteSize

    @computed_field  # type: ignore[prop-decorator]
    @property
    def double(self) -> int:
        return 2 * self.size


class Serializes(BaseModel):
    size: ByteSize
    tags: list[Annotated[str, PlainSerializer(lambda tag: f"<{tag}>")]] = []

    @field_serializer("size")
    def in_words(self, size: int) -> str:
        return f"{size} bytes"


class SerializesItself(BaseModel):
    size: ByteSize

    @model_serializer
    def as_size(self) -> dict[str, int]:
        return {"size": self.size}


def _kind(value: Any) -> str:
    return "text" if isinstance(value, str) else "number"


def _with_info(value: str, info: ValidationInfo) -> str:
    if value.startswith("bad"):
        raise ValueError("bad")
    return f"{info.field_name} {value}"


TYPES: dict[str, tuple[Any, list[Any]]] = {
    "ByteSize": (ByteSize, ["1 GB", "12", 5, "x", -1, None]),
    "Base64Str": (Base64Str, ["YQ==", "", "?", 1]),
    "Base64Bytes": (Base64Bytes, ["YQ==", "", "?"]),
    "Base64UrlStr": (Base64UrlStr, ["YQ==", "_-8=", "?"]),
    "Base64UrlBytes": (Base64UrlBytes, ["YQ==", "_-8="]),
    "EncodedStr": (Annotated[str, EncodedStr(encoder=Reversed)], ["abc", "", 3]),
    "EncodedBytes": (Annotated[bytes, EncodedBytes(encoder=Reversed)], ["abc", "", 3]),
    "SecretStr": (SecretStr, ["a", "", 1]),
    "SecretBytes": (SecretBytes, ["a", 1]),
    "Secret": (Secret[int], [1, "2", "x"]),
    "Json": (Json[list[int]], ["[1, 2]", "[1", '["x"]', 1]),
    "Json of anything": (Json, ["[1, 2]", "x"]),
    "ImportString": (ImportString, ["math.pi", "math", "no.such.thing", 1]),
    "FilePath": (FilePath, [__file__, "/no/such/file"]),
    "DirectoryPath": (DirectoryPath, ["/", "/no/such/folder"]),
    "NewPath": (NewPath, ["/no-such-file-anywhere", "/"]),
    "Path": (Path, ["/tmp", "", 1]),
    "PurePosixPath": (PurePosixPath, ["a/b", 1]),
    "IPv4Address": (IPv4Address, ["127.0.0.1", "1.1.1", 1]),
    "IPv6Address": (IPv6Address, ["::1", ":"]),
    "IPv4Interface": (IPv4Interface, ["10.0.0.1/24", "x"]),
    "IPv4Network": (IPv4Network, ["10.0.0.0/24", "10.0.0.1/24"]),
    "IPvAnyAddress": (IPvAnyAddress, ["127.0.0.1", "::1", "x"]),
    "IPvAnyInterface": (IPvAnyInterface, ["127.0.0.1/8", "x"]),
    "IPvAnyNetwork": (IPvAnyNetwork, ["10.0.0.0/8", "x"]),
    "UUID": (UUID, ["0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e", "x"]),
    "UUID4": (pydantic.UUID4, ["0b5fd7e2-7c65-4b0e-9d1c-2f3a4b5c6d7e", "0b5fd7e2-7c65-1b0e-9d1c-2f3a4b5c6d7e"]),
    "Decimal": (Annotated[Decimal, Field(max_digits=4, decimal_places=2)], ["12.34", 1.5, "123.456"]),
    "Fraction": (Fraction, ["1/2", 3, "x"]),
    "complex": (complex, ["1+2j", 3, "x"]),
    "timedelta": (timedelta, ["P1D", 90, "x"]),
    "time": (time, ["10:30", "25:00"]),
    "datetime": (datetime, ["2024-05-01T12:00:00Z", "now"]),
    "AwareDatetime": (AwareDatetime, ["2024-05-01T12:00:00Z", "2024-05-01T12:00:00"]),
    "NaiveDatetime": (NaiveDatetime, ["2024-05-01T12:00:00", "2024-05-01T12:00:00Z"]),
    "PastDate": (PastDate, ["2000-01-01", "2999-01-01"]),
    "FutureDate": (FutureDate, ["2999-01-01", "2000-01-01"]),
    "PastDatetime": (PastDatetime, ["2000-01-01T00:00:00", "2999-01-01T00:00:00"]),
    "FutureDatetime": (FutureDatetime, ["2999-01-01T00:00:00", "2000-01-01T00:00:00"]),
    "AnyUrl": (AnyUrl, ["http://a.b", "x:y", "?"]),
    "AnyHttpUrl": (AnyHttpUrl, ["http://a.b", "ftp://a.b"]),
    "HttpUrl": (HttpUrl, ["https://a.b/c?d=e", "ftp://a.b"]),
    "FileUrl": (FileUrl, ["file:///a", "http://a"]),
    "FtpUrl": (FtpUrl, ["ftp://a.b", "http://a.b"]),
    "AnyWebsocketUrl": (AnyWebsocketUrl, ["ws://a.b", "http://a.b"]),
    "PostgresDsn": (PostgresDsn, ["postgres://u:p@h:5432/d", "http://a.b"]),
    "RedisDsn": (RedisDsn, ["redis://h:6379/0", "http://a.b"]),
    "conint": (conint(ge=1, le=3), [1, 4, "2"]),
    "constr": (constr(pattern="^a+$"), ["aa", "b"]),
    "conlist": (conlist(int, min_length=1, max_length=2), [[1], [], [1, 2, 3]]),
    "StringConstraints": (Annotated[str, StringConstraints(to_upper=True, strip_whitespace=True)], [" a ", 1]),
    "StrictInt": (StrictInt, [1, "1", 1.0]),
    "StrictStr": (StrictStr, ["a", 1]),
    "StrictBool": (StrictBool, [True, 1]),
    "StrictFloat": (StrictFloat, [1.5, "1.5"]),
    "StrictBytes": (StrictBytes, ["a", 1]),
    "PositiveInt": (PositiveInt, [1, 0]),
    "NegativeInt": (NegativeInt, [-1, 0]),
    "NonNegativeFloat": (NonNegativeFloat, [0, -1]),
    "FiniteFloat": (FiniteFloat, [1, "inf"]),
    "frozenset": (frozenset[ByteSize], [["1kb", 1], [], ["x"]]),
    "deque": (deque[Base64Str], [["YQ=="], ["?"]]),
    "Counter": (Counter[str], [{"a": 1}, {"a": "x"}]),
    "defaultdict": (defaultdict[str, list[ByteSize]], [{"a": ["1kb"]}, {"a": ["x"]}]),
    "OrderedDict": (OrderedDict[str, Base64Str], [{"a": "YQ=="}, {"a": "?"}]),
    "Sequence": (Sequence[Base64Str], [["YQ=="], ["?"]]),
    "Mapping": (Mapping[str, Base64Str], [{"a": "YQ=="}, {"a": "?"}]),
    "Iterable": (Iterable[int], [[1, 2]]),
    "tuple": (tuple[Base64Str, int], [["YQ==", 1], ["YQ=="], ["?", 1]]),
    "tuple of any length": (tuple[Base64Str, ...], [["YQ==", "YQ=="], ["?"]]),
    "Pattern": (re.Pattern[str], ["^a", "("]),
    "Enum": (Colour, ["red", "blue"]),
    "NamedTuple": (Cell, [[1, "YQ=="], {"row": 1, "code": "YQ=="}, [1, "?"]]),
    "TypedDict": (Movie, [{"code": "YQ==", "year": 1}, {"code": "?"}]),
    "dataclass with InitVar": (Parcel, [{"size": "1kb", "factor": 2}, {"size": 1}, {"size": "x"}]),
    "generic model": (Page[Base64Str], [{"items": ["YQ=="], "first": "YQ=="}, {"items": ["?"]}]),
    "unbound generic model": (Page, [{"items": [1, "a"], "first": {}}]),
    "RootModel": (Names, [["YQ=="], ["?"]]),
    "extra forbidden": (Forbids, [{"code": "YQ=="}, {"code": "YQ==", "x": 1}]),
    "extra allowed": (Allows, [{"code": "YQ==", "x": [1]}, {"code": "?"}]),
    "computed field": (Computes, [{"size": "1kb"}, {"size": "x"}]),
    "serializers": (Serializes, [{"size": "1kb", "tags": ["a", "b"]}, {"size": "x"}]),
    "model_serializer": (SerializesItself, [{"size": "1kb"}]),
    "SerializeAsAny": (SerializeAsAny[Cat], [{"code": "YQ=="}]),
    "PlainValidator": (Annotated[str, PlainValidator(lambda value: str(value))], ["a", 1, [1]]),
    "BeforeValidator": (Annotated[int, BeforeValidator(lambda value: value or 0)], [1, "", "x"]),
    "AfterValidator": (Annotated[str, AfterValidator(str.upper)], ["a", 1]),
    "AfterValidator with info": (Annotated[str, AfterValidator(_with_info)], ["a", "bad", 1]),
    "WrapValidator": (Annotated[int, WrapValidator(lambda value, handler: handler(value) + 1)], [1, "x"]),
    "SkipValidation": (SkipValidation[int], [1, "x", [1]]),
    "FailFast": (Annotated[list[ByteSize], FailFast()], [["1kb"], ["x", "y"]]),
    "OnErrorOmit": (list[OnErrorOmit[Base64Str]], [["YQ==", "?", "YQ=="]]),
    "JsonValue": (JsonValue, [{"a": [1, "b", None]}, "a"]),
    "callable Discriminator": (
        Annotated[
            Annotated[str, Tag("text")] | Annotated[int, Tag("number")] | Annotated[Cat, Tag("cat")],
            Discriminator(_kind),
        ],
        ["a", 1, None],
    ),
    "Discriminator": (Annotated[Cat | Dog, Discriminator("kind")], [{"kind": "dog", "size": "1kb"}, {"kind": "x"}]),
    "InstanceOf in a union": (InstanceOf[Path] | int, [1, "x"]),
    "type alias of a model": (Annotated[Cat, Field(description="a cat")], [{"code": "YQ=="}]),
}
DOCUMENTS = [
    pytest.param(hint, value, id=f"{name} {value!r}") for name, (hint, values) in TYPES.items() for value in values
]
TELLS_NOTHING = ("Iterable",)  # its value is a generator, and equal only to itself


def _placed(hint: Any, value: Any) -> list[tuple[Any, str]]:
    """The type alone, as a field, with a field before it that comes later, and in containers."""
    first = create_model("First", value=(hint, ...), other=(str, ""))
    second = create_model("Second", before=(str, ""), value=(hint, ...))
    return [
        (hint, json.dumps(value)),
        (first, json.dumps({"value": value, "other": "text"})),
        (second, json.dumps({"value": value, "before": "text"})),
        (create_model("Holder", values=(list[hint], ...)), json.dumps({"values": [value, value]})),
        (dict[str, hint], json.dumps({"a": value, "b": value})),
    ]


@pytest.mark.parametrize(("hint", "value"), DOCUMENTS)
def test_every_type_in_every_place(hint: Any, value: Any) -> None:
    """The verdict and the value are pydantic's, at every cut nothing is invalid too early, and models can be dumped.

    A leaf that is shown before the end is that of the whole value.
    """
    for placed, text in _placed(hint, value):
        adapter: TypeAdapter[Any] = TypeAdapter(placed)
        try:
            expected = adapter.validate_json(text)
        except ValidationError:
            with pytest.raises(InvalidError):
                list(iter_partial(placed, text))
            continue
        partials = list(iter_partial(placed, text))
        assert isinstance(partials[-1], Complete)
        if hint is not TYPES["Iterable"][0]:
            assert repr(partials[-1].value) == repr(expected)
        for one in partials:
            if isinstance(one.value, BaseModel) and can_be_dumped(expected):
                json.loads(one.value.model_dump_json())
            if not isinstance(value, (list, dict)) and hasattr(one.value, "value") and type(value) is not str:
                assert one.value.value is None or repr(one.value.value) == repr(expected.value)


def can_be_dumped(model: BaseModel) -> bool:
    try:
        model.model_dump_json()
    except (ValueError, TypeError, AttributeError):  # pydantic says so in several ways
        return False
    return True


@pytest.mark.parametrize("name", ["ByteSize", "Base64Str", "EncodedStr", "AfterValidator with info"])
def test_a_value_with_an_info_validator_is_never_shown_before_it_is_judged(name: str) -> None:
    """Wherever the fields before it are. It is complete as soon as it was judged."""
    hint, values = TYPES[name]
    for placed, text in _placed(hint, values[0])[1:4]:
        expected = TypeAdapter(placed).validate_json(text)
        steps: Any = ("values", 0) if "values" in text else ("value",)
        seen = []
        for one in iter_partial(placed, text):
            shown = one.value.values if "values" in text else one.value.value
            shown = shown[0] if isinstance(shown, list) and shown else None if isinstance(shown, list) else shown
            final = expected.values[0] if "values" in text else expected.value
            assert shown is None or repr(shown) == repr(final)
            assert one.is_complete_at(steps) is (shown is not None)
            seen.append(shown)
        assert seen[0] is None
        assert seen[-2] is not None, "judged before the end of the object"


def test_what_no_json_can_become_is_refused() -> None:
    """As the documentation says, with the place."""
    for hint in (Callable[[], int], type[int]):
        with pytest.raises(OptionsError):
            partial(hint)


def test_color() -> None:
    """Pydantic's own colour is deprecated, and still a plain validator with `info`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydantic.color import Color

        model: Any = create_model("Painted", before=(str, ""), colour=(Color, ...), colours=(list[Color], []))
        text = '{"colour": "red", "colours": ["#fff", "blue"], "before": "x"}'
        partials = list(iter_partial(model, text))
        shown = [one.value.colour for one in partials]
        assert {repr(one) for one in shown} == {"None", repr(Color("red"))}
        assert [one.is_complete_at("$.colour") for one in partials] == [one is not None for one in shown]
        assert json.loads(partials[-2].value.model_dump_json()) == {
            "before": "x",
            "colour": "red",
            "colours": ["white", "blue"],
        }
        with pytest.raises(InvalidError):
            list(iter_partial(model, '{"colour": "no colour", "before": ""}'))
