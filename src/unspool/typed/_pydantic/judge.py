"""Validators for parts of a type: for a value as it was written, and for a container of values that were made before.

A container is judged by its own schema, with `any` in place of the schemas of its children. Two kinds of value do not
fit that and travel in an envelope. `Late` is a field that is judged with its object, because its validators ask for
other fields or because another key may win over it. `Made` is a value in a field of which only the default is still to
be judged. A child that its validators omit is HIDDEN, so it never reaches its container.

Pydantic's errors become problems. Its messages hold the limits of the type, which are safe to show. But some quote the
text, or repeat words of a user's validator: these are shortened or replaced, because a problem never quotes the text.
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final, final, get_args

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from ..._path import ROOT, Path
from .._resolve import HIDDEN
from .._shape import Problem, ShapeError, json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_core import ErrorDetails

    from ..._path import Step
    from ..._tree.nodes import Node
    from .schema import Config, Schema

__all__ = [
    "Late",
    "Made",
    "as_written",
    "key_as_written",
    "late",
    "made_before",
    "of_parts",
    "wrapped",
]

OMIT: Final = "Uncaught Omit"  # Pydantic's message if a validator omits a value outside of any container


@final
class Late:
    """A field that is judged with its object: its text, and the value that is shown until then."""

    __slots__ = ("shown", "text")

    def __init__(self, text: str, shown: object) -> None:
        self.text = text
        self.shown = shown


@final
class Made:
    """A value that was judged before."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def late(schema: Schema) -> Schema:
    """Return the schema for a field that may be `Late`."""
    inner: Any = schema
    made: Any = core_schema.no_info_wrap_validator_function(_judge_late, core_schema.json_schema(inner))
    return dict(made)


def _judge_late(value: object, judge: Callable[[object], object]) -> object:
    return judge(value.text) if isinstance(value, Late) else value


def made_before(schema: Schema) -> Schema:
    """Return the schema for a field that is `Made`, or the default."""
    inner: Any = schema
    made: Any = core_schema.no_info_wrap_validator_function(_judge_default, inner)
    return dict(made)


def _judge_default(value: object, judge: Callable[[object], object]) -> object:
    return value.value if isinstance(value, Made) else judge(value)


def wrapped(around: Sequence[Schema], schema: Schema, *, strictly: bool = True) -> Schema:
    """Return the schema inside its wrappers. With ``strictly=False``, it fits values that were judged before."""
    for wrapper in reversed(around):
        copy = {key: value for key, value in wrapper.items() if key != "ref"}
        if not strictly:
            copy.pop("strict", None)
            if "config" in copy:
                copy["config"] = {key: value for key, value in copy["config"].items() if key != "strict"}
        schema = {**copy, "schema": schema}
    return schema


def as_written(build: Callable[[], Schema], config: Config) -> Callable[[Node], object]:
    """Return a `make` that judges closed nodes, each as a document of its own. It builds its validator on first use."""
    validate: Callable[[str], object] | None = None

    def make(node: Node) -> object:
        nonlocal validate
        if validate is None:
            validate = _validator(build(), config).validate_json
        try:
            return validate(json_text(node))
        except ValidationError as error:
            raise shape_error(error, node) from None
        except SchemaError as error:
            return _omitted(error)

    return make


def key_as_written(schema: Schema, config: Config) -> Callable[[str], object]:
    """Return a `check_key` for an object with any keys. It judges a key as a JSON key: "1" is a strict int."""
    validate = _validator(schema, config).validate_json

    def check(key: str) -> object:
        try:
            (made,) = validate(json.dumps({key: None}))
        except ValidationError as error:
            raise ShapeError([Problem(ROOT, one.code, one.expected) for one in shape_error(error).problems]) from None
        return made

    return check


def of_parts(schema: Schema, config: Config, *, as_json: bool) -> Callable[[Any], object]:
    """Return a `make` for a container of judged values. With `as_json`, its validators see JSON mode."""
    if not as_json:
        validate: Callable[[object], object] = _validator(schema, config).validate_python
    else:
        validate = _json_mode_validator(schema, config)

    def make(values: object) -> object:
        try:
            return validate(values)
        except ValidationError as error:
            raise shape_error(error) from None
        except SchemaError as error:
            return _omitted(error)

    return make


def _json_mode_validator(schema: Schema, config: Config) -> Callable[[object], object]:
    """Return a function that validates Python values in JSON mode.

    `validate_json` only accepts text. But the first link of a chain can take null and return any value.
    """
    inner: Any = schema
    chain: Any = core_schema.chain_schema([core_schema.no_info_plain_validator_function(_take), inner])
    validate_json = _validator(chain, config).validate_json

    def validate(values: object) -> object:
        _handed.values = values
        return validate_json(b"null")

    return validate


_handed = threading.local()


def _take(_: object) -> object:
    values: object = _handed.values
    _handed.values = None
    return values


def _validator(schema: Any, config: Any) -> SchemaValidator:
    # Without the flag, a class inside would be judged by its own validator instead of this schema.
    return SchemaValidator(schema, config, _use_prebuilt=False)


def _omitted(error: SchemaError) -> object:
    if OMIT in str(error):
        return HIDDEN
    raise error


# Problems

MAX_EXPECTED_LENGTH: Final = 200
KNOWN: Final[frozenset[str]] = frozenset(get_args(core_schema.ErrorType))
# These messages end with a reason that may quote the text.
REASONED: Final = frozenset(
    {
        "date_parsing",
        "date_from_datetime_parsing",
        "datetime_parsing",
        "datetime_from_date_parsing",
        "time_parsing",
        "time_delta_parsing",
        "url_parsing",
        "url_syntax_violation",
        "uuid_parsing",
        "too_long",
        "too_short",
    }
)
WORDS: Final = {
    "missing": "a required key",
    "missing_argument": "a required item",
    "missing_keyword_only_argument": "a required key",
    "extra_forbidden": "no such key",
    "unexpected_keyword_argument": "no such key",
    "unexpected_positional_argument": "no such item",
    "union_tag_invalid": "a known tag",
    "union_tag_not_found": "a tag that tells which it is",
    "json_invalid": "text that is JSON",
    "bytes_invalid_encoding": "text that encodes bytes",
    "value_error": "what its validator accepts",
    "assertion_error": "what its validator accepts",
    "get_attribute_error": "an object",
    "iteration_error": "an array",
    "mapping_type": "an object",
    "timezone_offset": "another time zone",
}
ABSENT: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})
OPENING = re.compile(r"^\w+(?: input| items)? should (?:be )?")


def shape_error(error: ValidationError, node: Node | None = None) -> ShapeError:
    """Return Pydantic's errors as problems; with `node`, the value was judged as it was written."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return ShapeError([Problem(_path(one, node), one["type"], expected(one["type"], one["msg"])) for one in details])


def expected(code: str, message: str) -> str:
    """Return the words for the expected value."""
    words = WORDS.get(code)
    if words is not None:
        return words
    if code not in KNOWN:
        return "what its validator accepts"  # an error type of the user's; its message may quote the text
    if code in REASONED:
        message = message.split(", ", 1)[0]
    message = OPENING.sub("", message)
    return message if len(message) <= MAX_EXPECTED_LENGTH else message[: MAX_EXPECTED_LENGTH - 3] + "..."


def _path(one: ErrorDetails, node: Node | None) -> Path:
    """Return the path of an error. Pydantic's locations also name branches and functions, which the text has not."""
    path = ROOT
    if node is None:
        # The children were judged before, so a problem is at most one step away.
        return Path(path, one["loc"][0]) if one["loc"] else path
    missing: Step | None = None
    for step in one["loc"]:
        child = node.child_at(step)
        missing = step if child is None else None
        if child is not None:
            path, node = Path(path, step), child
    return path if missing is None or one["type"] not in ABSENT else Path(path, missing)
