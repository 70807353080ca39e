"""What a page asks for when it makes a session: read from a JSON body, or from the query string of an upload."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from ..._errors import OptionsError
from ...llm._formats.registry import FORMATS
from ..viewer.inputs import InputKind
from ..viewer.recordings import SAMPLES, read_sample
from .fetch import is_address
from .live import Address
from .session import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .live import Source

__all__ = ["Order", "check_format", "json_object", "order_of", "sample_of", "schema_of", "upload_of"]

LONGEST_TITLE: Final = 200
MOST_CUT: Final = 1_000_000  # what a step brought is read again for each view of it
INPUTS: Final = ("text", "sample", "url")


@dataclass(frozen=True)
class Order:
    """A session to make: of data that is all there, or of a source that is live."""

    title: str
    reading: Reading
    data: bytes = b""
    source: Source | None = None


def json_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object. Raises `OptionsError`."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise OptionsError("the body is not JSON") from None
    if not isinstance(value, dict):
        raise OptionsError("the body must be a JSON object")
    return cast("dict[str, Any]", value)


def order_of(body: bytes) -> Order:
    """What a JSON body asks for. Raises `OptionsError`, in words for the user."""
    asked = json_object(body)
    given = [name for name in INPUTS if asked.get(name) is not None]
    if len(given) != 1:
        raise OptionsError("one of text, sample and url is needed")
    name = given[0]
    value = asked[name]
    if not isinstance(value, str):
        raise OptionsError(f"{name} must be a string")
    reading = _reading(asked)
    title = asked.get("title")
    if title is not None and not isinstance(title, str):
        raise OptionsError("title must be a string")
    if name == "text":
        return Order((title or "Pasted text")[:LONGEST_TITLE], reading, value.encode(errors="surrogatepass"))
    if name == "url":
        if not is_address(value):
            raise OptionsError("url must be an http or https address")
        return Order((title or value)[:LONGEST_TITLE], reading, source=Address(value))
    return sample_of(value, reading)


def sample_of(name: str, reading: Reading) -> Order:
    """One of the samples that come with unspool. Raises `UnspoolError` with the names that there are."""
    return Order(SAMPLES.get(name, name)[:LONGEST_TITLE], reading, read_sample(name))


def upload_of(body: bytes, query: Mapping[str, str]) -> Order:
    """What an upload asks for: the body is the input. Raises `OptionsError`."""
    asked: dict[str, Any] = {name: query[name] for name in ("kind", "format") if query.get(name)}
    cut = query.get("cut")
    if cut:
        if not cut.isascii() or not cut.isdigit() or len(cut) > 9:
            raise OptionsError(f"cut must be a whole number from 1 to {MOST_CUT:,}")
        asked["cut"] = int(cut)
    asked["extract"] = query.get("extract", "") in ("1", "true")
    schema = query.get("schema")
    if schema:
        try:
            asked["schema"] = json.loads(schema)
        except (ValueError, RecursionError):
            raise OptionsError("schema is not JSON") from None
    return Order((query.get("title") or "Upload")[:LONGEST_TITLE], _reading(asked), body)


def _reading(asked: Mapping[str, Any]) -> Reading:
    kind, wire, cut, extract = asked.get("kind"), asked.get("format"), asked.get("cut"), asked.get("extract")
    if kind is not None and kind not in list(InputKind):
        raise OptionsError(f"kind must be one of {', '.join(InputKind)}")
    check_format(wire)
    if cut is not None and (type(cut) is not int or not 1 <= cut <= MOST_CUT):
        raise OptionsError(f"cut must be a whole number from 1 to {MOST_CUT:,}")
    if extract is not None and not isinstance(extract, bool):
        raise OptionsError("extract must be true or false")
    return Reading(None if kind is None else InputKind(kind), wire, cut, bool(extract), schema_of(asked))


def check_format(format: object) -> None:
    """Raises `OptionsError` for what is neither None nor the name of a format."""
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise OptionsError(f"format must be one of {', '.join(FORMATS)}")


def schema_of(asked: Mapping[str, Any]) -> dict[str, Any] | bool | None:
    """The schema in an object. Raises `OptionsError`."""
    schema = asked.get("schema")
    if schema is not None and not isinstance(schema, (dict, bool)):
        raise OptionsError("schema must be a JSON Schema: an object")
    return cast("dict[str, Any] | bool | None", schema)
