"""Requests of the page as checked data: the session to create, and the part of it to view.

Sessions come from a JSON body, or from an upload and its query string; views come from a query string. Everything here
raises `OptionsError` with a message for the user.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from ... import OptionsError, Path, PatternError, select
from ...llm._formats.registry import FORMATS
from ..viewer.inputs import InputKind
from ..viewer.recordings import SAMPLES, read_sample
from .live import Address, is_address

if TYPE_CHECKING:
    from .live import Source

__all__ = [
    "Order",
    "Query",
    "SessionOptions",
    "check_format",
    "json_object",
    "order_of",
    "query_of",
    "sample_of",
    "schema_of",
    "upload_of",
]

MAX_TITLE: Final = 200
MAX_CUT: Final = 1_000_000  # every view of a step parses the text of that step again
MAX_ROWS: Final = 500
MAX_CHARACTERS: Final = 20_000
MAX_FOLDED: Final = 5_000
MAX_DIGITS: Final = 12
MAX_WORDS: Final = 200
INPUTS: Final = ("text", "sample", "url")


# Sessions.


@dataclass(frozen=True)
class SessionOptions:
    """How to read an input; the kind and the format are auto-detected by default."""

    kind: InputKind | None = None
    format: str | None = None
    cut: int | None = None
    extract: bool = False
    schema: dict[str, Any] | bool | None = None
    repair: Literal["none", "spelling", "guess"] = "none"
    in_background: bool = False
    """Create the session at once, and read the input afterwards: the document of the session shows the progress."""


@dataclass(frozen=True)
class Order:
    """A session to create: from complete data or from a live source."""

    title: str
    options: SessionOptions
    data: bytes = b""
    source: Source | None = None


def json_object(body: bytes) -> dict[str, Any]:
    """Return the body as a JSON object."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise OptionsError("the body is not JSON") from None
    if not isinstance(value, dict):
        raise OptionsError("the body must be a JSON object")
    return cast("dict[str, Any]", value)


def order_of(body: bytes) -> Order:
    """Return the session that a JSON body describes."""
    asked = json_object(body)
    given = [name for name in INPUTS if asked.get(name) is not None]
    if len(given) != 1:
        raise OptionsError("pass exactly one of text, sample and url")
    name = given[0]
    value = asked[name]
    if not isinstance(value, str):
        raise OptionsError(f"{name} must be a string")
    options = _options(asked)
    title = asked.get("title")
    if title is not None and not isinstance(title, str):
        raise OptionsError("title must be a string")
    if name == "text":
        return Order((title or "Pasted text")[:MAX_TITLE], options, value.encode(errors="surrogatepass"))
    if name == "url":
        if not is_address(value):
            raise OptionsError("url must be an http or https address")
        return Order((title or value)[:MAX_TITLE], options, source=Address(value))
    return sample_of(value, options)


def sample_of(name: str, options: SessionOptions) -> Order:
    """Return the session of a sample. Raises `SampleError` with the available names."""
    return Order(SAMPLES.get(name, name)[:MAX_TITLE], options, read_sample(name))


def upload_of(body: bytes, query: Mapping[str, str]) -> Order:
    """Return the session that an upload describes: the body is the input."""
    asked: dict[str, Any] = {name: query[name] for name in ("kind", "format", "repair") if query.get(name)}
    cut = query.get("cut")
    if cut:
        if not cut.isascii() or not cut.isdigit() or len(cut) > 9:
            raise OptionsError(f"cut must be a whole number from 1 to {MAX_CUT:,}")
        asked["cut"] = int(cut)
    for name in ("extract", "in_background"):
        asked[name] = query.get(name, "") in ("1", "true")
    schema = query.get("schema")
    if schema:
        try:
            asked["schema"] = json.loads(schema)
        except (ValueError, RecursionError):
            raise OptionsError("schema is not JSON") from None
    return Order((query.get("title") or "Upload")[:MAX_TITLE], _options(asked), body)


def _options(asked: Mapping[str, Any]) -> SessionOptions:
    kind, wire, cut, extract = asked.get("kind"), asked.get("format"), asked.get("cut"), asked.get("extract")
    if kind is not None and kind not in list(InputKind):
        raise OptionsError(f"kind must be one of {', '.join(InputKind)}")
    check_format(wire)
    if cut is not None and (type(cut) is not int or not 1 <= cut <= MAX_CUT):
        raise OptionsError(f"cut must be a whole number from 1 to {MAX_CUT:,}")
    if extract is not None and not isinstance(extract, bool):
        raise OptionsError("extract must be true or false")
    in_background = asked.get("in_background")
    if in_background is not None and not isinstance(in_background, bool):
        raise OptionsError("in_background must be true or false")
    repair = asked.get("repair")
    if repair not in (None, "none", "spelling", "guess"):
        raise OptionsError("repair must be none, spelling or guess")
    return SessionOptions(
        None if kind is None else InputKind(kind),
        wire,
        cut,
        bool(extract),
        schema_of(asked),
        repair or "none",
        bool(in_background),
    )


def check_format(format: object) -> None:
    """Raise `OptionsError` for a value other than None and the names of formats."""
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise OptionsError(f"format must be one of {', '.join(FORMATS)}")


def schema_of(asked: Mapping[str, Any]) -> dict[str, Any] | bool | None:
    """Return the schema in a request, if there is one."""
    schema = asked.get("schema")
    if schema is not None and not isinstance(schema, (dict, bool)):
        raise OptionsError("schema must be a JSON Schema: an object")
    return cast("dict[str, Any] | bool | None", schema)


# Views.


@dataclass(frozen=True)
class Query:
    """The step and the window to view: one of `step`, `time`, `characters` and `document`, or the last step."""

    step: int | None = None
    time: float | None = None
    characters: float | None = None
    """The last step that has at most this many characters."""
    document: int | None = None
    """The step that completes the document with this number, counted from 1."""
    track: str | None = None
    start: int = 0
    count: int = 80
    follow: bool = False
    folded: tuple[int, ...] = ()
    filter: select.Pattern | None = None
    filter_problem: str | None = None
    """The error of an invalid filter. The view ignores the filter, since users type patterns character by character."""
    words: re.Pattern[str] | None = None
    """Words to search for, if the filter is not a path pattern."""
    chosen: Path | None = None
    """The path of the value that the user has selected."""
    unfolded: Mapping[str, Mapping[int, int]] = field(default_factory=dict[str, Mapping[int, int]])
    """For the waterfall: the arrays that show more items, by track and node id."""
    text_start: int | None = None
    text_count: int = MAX_CHARACTERS


def query_of(parameters: Mapping[str, str]) -> Query:
    """Return the view that a query string asks for."""
    step, time, characters = [parameters.get(name) for name in ("step", "time", "characters")]
    text_start, document, chosen = [parameters.get(name) for name in ("text_start", "document", "chosen")]
    text = parameters.get("filter", "").strip()
    is_pattern = text.startswith("$")
    pattern, problem = _filter(text) if is_pattern else (None, None)
    marks = [mark for mark in parameters.get("folded", "").split(",") if mark]
    if len(marks) > MAX_FOLDED:
        raise OptionsError(f"folded has more than {MAX_FOLDED:,} ids")
    return Query(
        step=None if step is None else _whole("step", step),
        time=None if time is None else _place("time", time),
        characters=None if characters is None else _place("characters", characters),
        document=None if document is None else _whole("document", document),
        track=parameters.get("track"),
        start=_whole("start", parameters.get("start", "0")),
        count=min(_whole("count", parameters.get("count", "80")), MAX_ROWS),
        follow=parameters.get("follow", "") in ("1", "true"),
        folded=tuple([_whole("folded", mark) for mark in marks]),
        filter=pattern,
        filter_problem=problem,
        words=re.compile(re.escape(text[:MAX_WORDS]), re.IGNORECASE) if text and not is_pattern else None,
        chosen=None if chosen is None else _path(chosen),
        unfolded=_unfolded(parameters.get("unfolded", "")),
        text_start=None if text_start is None else _whole("text_start", text_start),
        text_count=min(_whole("text_count", parameters.get("text_count", str(MAX_CHARACTERS))), MAX_CHARACTERS),
    )


def _path(text: str) -> Path | None:
    """Return the path, or None if it was clipped."""
    try:
        return Path.parse(text)
    except PatternError:
        return None


def _unfolded(text: str) -> dict[str, dict[int, int]]:
    """Return the arrays in a query: a JSON array of a track, a node id and a number of items for each."""
    try:
        value: Any = json.loads(text) if text else []
        arrays: dict[str, dict[int, int]] = {}
        for track, node, count in value[:MAX_FOLDED]:
            if type(track) is not str or type(node) is not int or type(count) is not int:
                raise TypeError
            arrays.setdefault(track, {})[node] = count
    except (ValueError, TypeError, RecursionError):
        raise OptionsError("unfolded must be a JSON array of [track, id, count]") from None
    return arrays


def _filter(text: str) -> tuple[select.Pattern | None, str | None]:
    try:
        return select.compile(text), None
    except PatternError as error:
        return None, str(error)


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        raise OptionsError(f"{name} must be a whole number from 0 up")
    return int(text)


def _place(name: str, text: str) -> float:
    try:
        place = float(text)
    except ValueError:
        place = -1.0
    if not isfinite(place) or place < 0:
        raise OptionsError(f"{name} must be a number from 0 up")
    return place
