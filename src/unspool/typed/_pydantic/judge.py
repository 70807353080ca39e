"""Validators for parts of a type: for a value as it was written, and for a container of values that were made before.

A container is judged by its own schema, with `any` in place of the schemas of its children. Three kinds of value do not
fit that and travel in an envelope. `Late` is the text of a field whose validators ask for other fields. `Held` is a
value of which only the outermost validators ask for other fields. `Made` is a value in a field of which only the
default is still to be judged. A child that its validators omit is HIDDEN, so it never reaches its container.

A validator with `info` learns the name of its field. So a part that has such a validator is judged as the one field of
an object.

Pydantic's errors become problems. Its messages hold the limits of the type, which are safe to show. But some quote the
text: these are shortened or replaced in `expected`, and kept in `message`. The messages of validators are words of the
user's own and are repeated as they are.
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final, final, get_args

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from ..._path import ROOT, Path
from .._resolve import CONTEXT, HIDDEN
from .._shape import Held, Problem, ShapeError, json_text, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..._path import Step
    from ..._tree.nodes import Node
    from .schema import Config, Schema

__all__ = [
    "Late",
    "Made",
    "as_written",
    "held",
    "key_as_written",
    "late",
    "made_before",
    "of_parts",
    "one_field",
    "wrapped",
]

OMIT: Final = "Uncaught Omit"  # Pydantic's message if a validator omits a value outside of any container


@final
class Late:
    """The text of a field that is judged with its object, or once the fields before it are there."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


@final
class Made:
    """A value that was judged before."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def late(schema: Schema) -> Schema:
    """Return the schema for a field that may be `Late`, or was judged before."""
    inner: Any = schema
    made: Any = core_schema.no_info_wrap_validator_function(_judge_late, core_schema.json_schema(inner))
    return dict(made)


def _judge_late(value: object, judge: Callable[[object], object]) -> object:
    if isinstance(value, Held):
        value = value.value
    return judge(value.text) if isinstance(value, Late) else value


def held(functions: Sequence[Schema]) -> Schema:
    """Return the schema for a field that may be `Held`: these validators are still to run then."""
    inner: Any = wrapped(functions, {"type": "any"})
    made: Any = core_schema.no_info_wrap_validator_function(_judge_held, inner)
    return dict(made)


def _judge_held(value: object, judge: Callable[[object], object]) -> object:
    return judge(value.value) if isinstance(value, Held) else value


def made_before(schema: Schema) -> Schema:
    """Return the schema for a field that is `Made`, or the default."""
    inner: Any = schema
    made: Any = core_schema.no_info_wrap_validator_function(_judge_default, inner)
    return dict(made)


def _judge_default(value: object, judge: Callable[[object], object]) -> object:
    if not isinstance(value, Made):
        return judge(value)
    return value.value.value if isinstance(value.value, Held) else value.value


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


def as_written(
    build: Callable[[], Schema], config: Config, strict: bool | None, field: str | None = None
) -> Callable[[Node], object]:
    """Return a `make` that judges closed nodes, each as a document of its own. It builds its validator on first use.

    As in Pydantic, `strict` overrides the type if it is a bool. With `field`, each node is judged as the one field
    of an object.
    """
    validate: Callable[..., object] | None = None
    key = None if field is None else json.dumps(field)

    def make(node: Node) -> object:
        nonlocal validate
        if validate is None:
            validate = _validator(_as_field(build(), field), config).validate_json
        text = json_text(node)
        try:
            if key is None:
                return validate(text, strict=strict, context=CONTEXT.get())
            made: Any = validate(f"{{{key}:{text}}}", strict=strict, context=CONTEXT.get())
            return made[0].get(field, HIDDEN)  # a validator may omit the value
        except ValidationError as error:
            raise shape_error(error, node, 0 if key is None else 1) from None
        except Exception as error:  # noqa: BLE001
            return _omitted(error)

    return make


def _as_field(schema: Schema, field: str | None) -> Any:
    if field is None:
        return schema
    inner: Any = schema
    definitions: Any = None
    if schema["type"] == "definitions":
        inner, definitions = schema["schema"], schema["definitions"]
    fields: Any = core_schema.model_fields_schema({field: core_schema.model_field(inner)})
    return fields if definitions is None else core_schema.definitions_schema(fields, definitions)


def key_as_written(schema: Schema, config: Config, strict: bool | None) -> Callable[[str], object]:
    """Return a `check_key` for an object with any keys. It judges a key as a JSON key: "1" is a strict int."""
    validate = _validator(schema, config).validate_json

    def check(key: str) -> object:
        try:
            (made,) = validate(json.dumps({key: None}), strict=strict, context=CONTEXT.get())
            hash(made)
        except ValidationError as error:
            refused = shape_error(error)
            raise ShapeError([one._replace(path=ROOT, loc=()) for one in refused.problems], refused.causes) from None
        except Exception as error:  # noqa: BLE001
            raise failed(error) from None
        return made

    return check


def of_parts(
    schema: Schema, config: Config, strict: bool | None, *, as_json: bool, field: str | None
) -> Callable[[Any], object]:
    """Return a `make` for a container of judged values. With `as_json`, its validators see JSON mode.

    With `field`, the container is judged as the one field of an object.
    """
    if not as_json:
        validate: Callable[..., object] = _validator(schema, config).validate_python
        strict = None  # the values were judged, and are no longer those of the text
    else:
        validate = _json_mode_validator(_as_field(schema, field), config)

    def make(values: object) -> object:
        try:
            if field is None:
                return validate(values, strict=strict, context=CONTEXT.get())
            made: Any = validate({field: values}, strict=strict, context=CONTEXT.get())
            return made[0].get(field, HIDDEN)  # a validator may omit the value
        except ValidationError as error:
            raise shape_error(error, None, 0 if field is None else 1) from None
        except Exception as error:  # noqa: BLE001
            return _omitted(error)

    return make


def one_field(
    before: Mapping[str, Sequence[str]], name: str, schema: Any, config: Config, strict: bool | None
) -> Callable[[Held, dict[str, object]], object]:
    """Return a function that judges one field whose validators ask for the fields before it.

    The function gets the value of the field and all values by their keys. `before` has the keys of each field before.
    """
    any_schema: Any = {"type": "any"}
    definitions: Any = None
    if schema["type"] == "definitions":
        schema, definitions = schema["schema"], schema["definitions"]
    fields: Any = core_schema.model_fields_schema(
        {**{other: core_schema.model_field(any_schema) for other in before}, name: core_schema.model_field(schema)}
    )
    settings = {key: value for key, value in config.items() if key != "extra_fields_behavior"}
    whole: Any = fields if definitions is None else core_schema.definitions_schema(fields, definitions)
    validate = _json_mode_validator(whole, settings)

    def judge(value: Held, values: dict[str, object]) -> object:
        there = {other: next(values[key] for key in keys if key in values) for other, keys in before.items()}
        try:
            made: Any = validate({**there, name: value}, strict=strict, context=CONTEXT.get())
            return made[0].get(name, HIDDEN)
        except ValidationError as error:
            raise shape_error(error, value.node, 1) from None
        except Exception as error:  # noqa: BLE001
            return _omitted(error)

    return judge


def _json_mode_validator(schema: Schema, config: Config) -> Callable[..., object]:
    """Return a function that validates Python values in JSON mode.

    `validate_json` only accepts text. But the first link of a chain can take null and return any value.
    """
    inner: Any = schema
    chain: Any = core_schema.chain_schema([core_schema.no_info_plain_validator_function(_take), inner])
    validate_json = _validator(chain, config).validate_json

    def validate(values: object, *, strict: bool | None, context: Any) -> object:
        _handed.values = values
        return validate_json(b"null", strict=strict, context=context)

    return validate


_handed = threading.local()


def _take(_: object) -> object:
    values: object = _handed.values
    _handed.values = None
    return values


def _validator(schema: Any, config: Any) -> SchemaValidator:
    # Without the flag, a class inside would be judged by its own validator instead of this schema.
    return SchemaValidator(schema, config, _use_prebuilt=False)


def _omitted(error: Exception) -> object:
    """Return HIDDEN if a validator omits the value. Any other exception of its code makes the value invalid."""
    if isinstance(error, SchemaError) and OMIT in str(error):
        return HIDDEN
    raise failed(error) from None


# Problems


def failed(error: Exception) -> ShapeError:
    """Return the problem of a value whose validator raised an exception that is not a verdict."""
    if isinstance(error, MemoryError):
        raise error
    words = f"{type(error).__name__}: {message_of(error)}"
    problem = Problem(ROOT, "validator_failed", "a value that its validator can handle", words, is_by_validator=True)
    return ShapeError([problem], {0: error})


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
RAISED: Final = frozenset({"value_error", "assertion_error"})
ABSENT: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})
OPENING = re.compile(r"^\w+(?: input| items)? should (?:be )?")


def shape_error(error: ValidationError, node: Node | None = None, depth: int = 0) -> ShapeError:
    """Return Pydantic's errors as problems; with `node`, the value was judged as it was written.

    If the value was judged inside something else, the first `depth` steps of the locations lead to it.
    """
    details = error.errors(include_url=False, include_input=False)
    causes: dict[int, BaseException] = {}
    problems: list[Problem] = []
    for number, one in enumerate(details):
        code, loc = one["type"], one["loc"][depth:]
        is_by_validator = code in RAISED or code not in KNOWN
        problems.append(
            Problem(_path(code, loc, node), code, expected(code, one["msg"]), one["msg"], loc, is_by_validator)
        )
        cause: object = one.get("ctx", {}).get("error")
        if isinstance(cause, BaseException):
            causes[number] = cause
    return ShapeError(problems, causes)


def expected(code: str, message: str) -> str:
    """Return the words for the expected value."""
    words = WORDS.get(code)
    if words is not None:
        return words
    if code not in KNOWN:
        return "what its validator accepts"  # an error type of the user's
    if code in REASONED:
        message = message.split(", ", 1)[0]
    message = OPENING.sub("", message)
    return message if len(message) <= MAX_EXPECTED_LENGTH else message[: MAX_EXPECTED_LENGTH - 3] + "..."


def _path(code: str, location: tuple[Step, ...], node: Node | None) -> Path:
    """Return the path of an error. Pydantic's locations also name branches and functions, which the text has not."""
    path = ROOT
    if node is None:
        # The children were judged before, so a problem is at most one step away.
        return Path(path, location[0]) if location else path
    missing: Step | None = None
    for step in location:
        child = node.child_at(step)
        missing = step if child is None else None
        if child is not None:
            path, node = Path(path, step), child
    return path if missing is None or code not in ABSENT else Path(path, missing)
